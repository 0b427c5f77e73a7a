//! From trees to a checked program: names, types, safety of variables, desugaring.
//!
//! All sources are checked together, and one mistake does not hide the others, except a few that can be found only in
//! programs without mistakes (actions that are not pseudo-legal, say). Names that could not be read or declared are
//! remembered as broken, and no further mistakes are reported about them.
//! Deliberately absent: the order in which a body is evaluated; planners choose it.

mod action;
mod brought;
mod declare;
mod domains;
mod effect;
mod likeness;
mod lower;
mod names;
mod reaction;
mod renamed;
mod rule;
mod safety;
mod stages;
mod template;
mod trial;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::{HashMap, HashSet, HashSetExt};
use smallvec::SmallVec;

use super::ast::{File, Item, Name};
use super::diagnostic::{Diagnostic, Diagnostics};
use super::imply::Implications;
use super::limits::{self, LimitError};
use super::mistake;
use super::program::{
    Action, DeclaredEvent, EventId, Expiry, Legality, Meta, Program, Reaction, RelId, Relation,
    Role, Rule, Source, Span, Stage, StageId, Stratum, Template, TrialRelation, Type, Was,
};
use super::reader::{Reader, Reading};
use super::source::included;
use super::stratify;
use crate::facts::{AttrId, DomainId, Suggester};
use domains::{Domains, PRESETS};
use names::{NameTable, Scopes};

/// Checks rule files and makes one program of them. Text order goes from file to file, as they are given.
///
/// # Errors
/// All mistakes that were found, of all files.
pub fn compile(sources: Vec<Source>) -> Result<Program, Diagnostics> {
    compile_sharing(sources, &Reader::default())
}

/// The same, sharing files that were parsed for other programs.
///
/// # Errors
/// As for [`compile`].
pub fn compile_sharing(sources: Vec<Source>, reader: &Reader) -> Result<Program, Diagnostics> {
    let mut found = Vec::new();
    match check(&sources, reader, &mut found) {
        Some(program) if found.is_empty() => {
            let brought = brought::brought(&program, &sources);
            let of_modules = brought::of_modules(&program, &brought);
            Ok(Program { sources, brought, of_modules, ..program })
        }
        _ => Err(Diagnostics::new(sources, found)),
    }
}

fn check(sources: &[Source], reader: &Reader, found: &mut Vec<Diagnostic>) -> Option<Program> {
    if sources.len() > limits::FILES {
        let span = Span { line: 1, ..Span::default() };
        found.push(mistake::limit(LimitError::Files(sources.len()), span));
        return None;
    }
    let mut readings = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        let at = at as u16;
        if source.text.len() > limits::FILE_BYTES {
            let span = Span { source: at, start: 0, end: 0, line: 1 };
            found.push(mistake::limit(LimitError::FileBytes(source.text.len()), span));
        } else {
            readings.push(reader.read(at, &source.text, found));
        }
    }
    if readings.len() < sources.len() {
        return None;
    }
    let files: Vec<&File<'_>> = readings.iter().map(Reading::file).collect();
    let mut checker = Checker::new(&files, owners(&files, sources));
    checker.declare(&files);
    checker.conclude(&files);
    let program = checker.finish(found);
    renamed::note_renames(found, sources, &program);
    keep_limit(found);
    Some(program)
}

/// Where a program declares more than it may, all other mistakes may be about names that are missing for that reason.
fn keep_limit(found: &mut Vec<Diagnostic>) {
    let exceeds = |it: &Diagnostic| limits::OF_NAMES.contains(&it.code);
    if let Some(at) = found.iter().position(exceeds) {
        *found = vec![found.swap_remove(at)];
    }
}

/// Types of columns; `None` where the declaration names no known type.
type Types = SmallVec<[Option<Type>; limits::COLUMNS]>;

/// A relation, or an event or action in the form of one, as it is checked.
struct Info<'t> {
    relation: Relation,
    types: Types,
    name: Name<'t>,
}

/// For each file the number of the file that owns its reactions, which form batches of their own. The main file of a
/// preset owns itself and the preset's parts. A module that others include owns itself, since several
/// presets may include it. All other files have no owner.
fn owners(files: &[&File<'_>], sources: &[Source]) -> Vec<Option<u16>> {
    let presets: Vec<Option<&str>> = files.iter().map(|it| it.meta("preset")).collect();
    let mut shared = HashSet::new();
    for (file, source) in files.iter().zip(sources) {
        for item in &file.items {
            if let Item::Meta { key, value, .. } = item
                && key.text == "include"
                && let Some(paths) = included(&source.path, value.text)
            {
                shared.extend(paths);
            }
        }
    }
    let owner = |(at, file): (usize, &&File<'_>)| {
        if shared.contains(&sources[at].path) && file.meta("module").is_some() {
            return Some(at as u16);
        }
        let part = file.meta("part");
        let whole = part.and_then(|it| presets.iter().position(|of| *of == Some(it)));
        whole.or_else(|| presets[at].map(|_| at)).map(|it| it as u16)
    };
    files.iter().enumerate().map(owner).collect()
}

/// A program while it is checked: what is declared and concluded so far, and the mistakes.
#[derive(Default)]
struct Checker<'t> {
    found: Vec<Diagnostic>,
    suggester: Suggester,
    /// Names that could not be read or declared.
    broken: BTreeSet<&'t str>,
    domains: Domains<'t>,
    relations: Vec<Info<'t>>,
    scopes: Rc<Scopes<'t>>,
    relation_ids: NameTable<'t, RelId>,
    rules: Vec<Rule>,
    actions: Vec<Action>,
    action_of: HashMap<RelId, usize>,
    row_texts: HashMap<RelId, Template>,
    /// Actions with unlisted arguments (`given`), which are further columns here: so reactions see them.
    whole: HashMap<RelId, Info<'t>>,
    reactions: Vec<Reaction>,
    events: Vec<Info<'t>>,
    event_ids: NameTable<'t, EventId>,
    /// In the order in which they run.
    stages: Vec<Stage>,
    /// The number of each stage in the order of declarations, which `stage_at` translates to its id.
    stage_ids: NameTable<'t, usize>,
    stage_at: Vec<StageId>,
    default_stage: StageId,
    trials: Vec<TrialRelation>,
    /// See [`owners`].
    owners: Vec<Option<u16>>,
    /// As the files list them: several may list the same relation.
    repetition: Vec<(RelId, Span)>,
    lasting: Vec<AttrId>,
    expiry: Expiry,
    was: Vec<Was>,
    /// For each relation that reactions read by `was`, the one that has its rows from before the action.
    before: HashMap<RelId, RelId>,
    meta: Vec<Meta>,
    texts: Vec<String>,
    text_ids: HashMap<&'t str, i64>,
    /// Relations that some clause concludes, even a broken one.
    concluded: HashSet<RelId>,
}

impl<'t> Checker<'t> {
    fn new(files: &[&File<'t>], owners: Vec<Option<u16>>) -> Self {
        let scopes = Rc::new(Scopes::of(files));
        Self {
            broken: files.iter().flat_map(|it| it.broken.iter().copied()).collect(),
            domains: Domains::new(Rc::clone(&scopes)),
            scopes,
            owners,
            ..Self::default()
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    fn exceeds(&mut self, limit: LimitError, span: Span) {
        self.report(mistake::limit(limit, span));
    }

    /// The value of a result. A mistake is reported.
    fn ok_or_report<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|it| self.report(it)).ok()
    }

    /// The member of a domain, or a report that there is none. A domain of which some members could not be read may have
    /// it.
    fn find_member(&mut self, id: DomainId, name: &str, span: Span) -> Option<i64> {
        let found = self.domains.member(id, name, span);
        if found.as_ref().is_err_and(|it| it.code == "E203")
            && self.is_broken(self.domains.name(id))
        {
            return None;
        }
        self.ok_or_report(found)
    }

    /// Whether a declaration of that name, or of its last part, was abandoned.
    fn is_broken(&self, name: &str) -> bool {
        let short = name.rsplit_once("::").map_or(name, |it| it.1);
        self.broken.contains(name) || self.broken.contains(short)
    }

    /// The type of that name, or a report that there is none.
    fn find_type(&mut self, name: Name<'t>) -> Option<Type> {
        let found = self.domains.ty(name);
        if found.is_err() && self.broken.contains(name.text) {
            return None;
        }
        self.ok_or_report(found)
    }

    fn relation(&self, id: RelId) -> &Relation {
        &self.relations[usize::from(id.0)].relation
    }

    fn info(&self, id: RelId) -> &Info<'t> {
        &self.relations[usize::from(id.0)]
    }

    /// The relation of that name, or a report that there is none.
    fn find(&mut self, name: Name<'t>) -> Option<RelId> {
        if let Some(id) = self.known(name) {
            return Some(id);
        }
        if !self.broken.contains(name.text) {
            let report = match self.relation_ids.private_owner(&self.scopes, name) {
                Some((of, id)) => mistake::kept_name(name, of, self.relation(id).span),
                None => {
                    let near = self.nearest_of(name, || {
                        let names = self.relation_ids.visible(&self.scopes, name.span);
                        names.into_iter().chain(self.broken.iter().copied()).collect()
                    });
                    let span = |it| self.known(Name { text: it, ..name });
                    // For `preset::name`, which the preset does not have: a shared relation may be called `name`.
                    let short = name.text.rsplit_once("::").map(|it| it.1);
                    let near = short.filter(|it| span(*it).is_some()).or(near);
                    let near = near.map(|it| (it, span(it).map(|it| self.relation(it).span)));
                    mistake::unknown_relation(name, near)
                }
            };
            self.report(report);
        }
        None
    }

    /// The relation that a name means at its place.
    fn known(&self, name: Name<'_>) -> Option<RelId> {
        self.relation_ids.get(&self.scopes, name)
    }

    /// Checks that everything named by `.export` exists.
    fn check_exports(&mut self) {
        let scopes = Rc::clone(&self.scopes);
        for &(scope, name) in scopes.exports() {
            let is_there = self.relation_ids.declares(scope, name.text)
                || self.event_ids.declares(scope, name.text)
                || self.domains.declares(scope, name.text)
                || self.stage_ids.declares(scope, name.text)
                || self.broken.contains(name.text);
            if !is_there {
                let near = self.nearest_of(name, || {
                    let relations = self.relation_ids.of(scope).chain(self.event_ids.of(scope));
                    relations
                        .chain(self.domains.of(scope))
                        .chain(self.stage_ids.of(scope))
                        .collect()
                });
                self.report(mistake::unknown_export(name, near));
            }
        }
    }

    /// The number of a text.
    fn text(&mut self, text: &'t str) -> i64 {
        let next = self.texts.len() as i64;
        *self.text_ids.entry(text).or_insert_with(|| {
            self.texts.push(text.to_string());
            next
        })
    }

    fn type_name(&self, ty: Type) -> &str {
        self.domains.type_name(ty)
    }

    /// Checks all clauses, reactions and trials, in text order; then relations without rules, exports and aliases.
    fn conclude(&mut self, files: &[&File<'t>]) {
        let (mut rules, mut facts) = (0, 0);
        for item in files.iter().flat_map(|it| &it.items) {
            let (count, span) = match item {
                Item::Clause(it) => {
                    self.clause(it);
                    (if it.body.is_empty() { &mut facts } else { &mut rules }, it.span)
                }
                Item::Reaction(it) => {
                    self.reaction(it);
                    (&mut rules, it.span)
                }
                Item::Trial(it) => {
                    self.trial_body(it);
                    (&mut rules, it.span)
                }
                _ => continue,
            };
            *count += 1;
            if rules > limits::RULES {
                return self.exceeds(LimitError::Rules(rules), span);
            }
            if facts > limits::FACTS {
                return self.exceeds(LimitError::Facts(facts), span);
            }
        }
        self.copy_reactions(rules);
        self.check_concluded();
        self.check_exports();
        self.check_aliases();
    }

    /// Reports relations that nothing can ever conclude, unless other files may add clauses.
    fn check_concluded(&mut self) {
        let empty = |(id, info): &(RelId, &Info<'t>)| {
            matches!(info.relation.role, Role::Static | Role::Derived)
                && !self.concluded.contains(id)
                && !info.relation.open
                && !self.broken.contains(info.name.text)
        };
        let empty = (0..).map(RelId).zip(&self.relations).filter(empty);
        self.found.extend(empty.map(|it| mistake::no_clauses(it.1.name)));
    }

    /// The program, and the last mistakes: those that only a whole program shows.
    fn finish(mut self, found: &mut Vec<Diagnostic>) -> Program {
        let relations = &mut self.relations;
        for rule in &self.rules {
            relations[usize::from(rule.head.0)].relation.rules.push(rule.id);
        }
        let relations: Vec<Relation> =
            std::mem::take(relations).into_iter().map(|it| it.relation).collect();
        let strata = stratify::stratify(&relations, &self.rules, &mut self.found);
        if found.is_empty() && self.found.is_empty() {
            let implications = Implications::new(&relations, &self.rules, &strata);
            self.found = beyond_pseudo_legal(&self.actions, &relations, &self.rules, &implications);
            self.found.extend(never_legal(&self.actions, &relations, &self.rules));
        }
        let mut last = std::mem::take(&mut self.found);
        let program = self.into_program(relations, strata);
        // Relations without rules (E505) cannot hide a cycle.
        if found.is_empty() && last.iter().all(|it| it.code == "E505") {
            last.extend(trial::dependency_mistakes(&program));
        }
        found.append(&mut last);
        program
    }

    /// The program of all that was declared and concluded, without its sources.
    fn into_program(self, relations: Vec<Relation>, strata: Vec<Stratum>) -> Program {
        let renames = self.renames();
        let own = self.domains.own_attributes();
        let mut seen = HashSet::new();
        let repetition = self.repetition.iter().map(|it| it.0).filter(|it| seen.insert(*it));
        let mut program = Program {
            owners: self.owners,
            words: self.domains.words(),
            schema: Arc::new(self.domains.into_schema()),
            scopes: self.scopes.by_file(),
            renames,
            relations,
            rules: self.rules,
            strata,
            actions: self.actions,
            row_texts: self.row_texts.into_iter().collect(),
            reactions: self.reactions,
            stages: self.stages,
            events: self.events.into_iter().zip(0..).map(declared).collect(),
            repetition: repetition.collect(),
            lasting: self.lasting,
            expiry: self.expiry,
            was: self.was,
            trials: self.trials,
            meta: self.meta,
            texts: self.texts,
            ..Program::default()
        };
        program.stated = stated(&program, &own);
        let named = (0..).map(RelId).zip(&program.relations);
        let named = named.filter(|it| !program.is_hidden(it.0));
        program.relation_names = named.map(|(id, it)| (it.name.clone(), id)).collect();
        program
    }
}

/// For each preset (its raw value) the attributes that it states about entities other than its activation: those that
/// only its files declare. `own` are the attributes that no shared file declares.
fn stated(program: &Program, own: &[AttrId]) -> Vec<(i64, AttrId)> {
    let schema = &program.schema;
    let Some(presets) = schema.domain_named(PRESETS).map(|it| schema.domain(it)) else {
        return Vec::new();
    };
    let mut stated = Vec::new();
    for relation in &program.relations {
        let Role::Input(input) = relation.role else { continue };
        let is_option = relation.columns.first().is_some_and(|it| it.name == "activation");
        if is_option || !own.contains(&input.attr()) {
            continue;
        }
        let preset = program.preset_of(relation.span.source).and_then(|it| presets.member(it));
        stated.extend(preset.map(|it| (it, input.attr())));
    }
    stated.dedup();
    stated
}

/// Mistakes of rules that may conclude an action that is not pseudo-legal. Such an action would be legal while rules
/// decide, and disappear as soon as actions of its kind are played out.
fn beyond_pseudo_legal(
    actions: &[Action],
    relations: &[Relation],
    rules: &[Rule],
    implications: &Implications<'_>,
) -> Vec<Diagnostic> {
    let mut reports = Vec::new();
    for action in actions.iter().filter(|it| it.legality != Legality::Never) {
        let Some(pseudo_legal) = action.pseudo_legal.filter(|it| *it != action.rel) else {
            continue;
        };
        let relation = &relations[usize::from(action.rel.0)];
        for rule in relation.rules.iter().map(|it| &rules[usize::from(it.0)]) {
            if !implications.concludes_only(rule, pseudo_legal) {
                let pseudo_legal = &relations[usize::from(pseudo_legal.0)];
                reports.push(mistake::beyond_pseudo_legal(relation, pseudo_legal, rule.span));
            }
        }
    }
    reports
}

/// Mistakes of actions with `legality never`, which only trials play out: no `pseudo_legal` says when, or rules
/// conclude them, though these have no effect.
fn never_legal(actions: &[Action], relations: &[Relation], rules: &[Rule]) -> Vec<Diagnostic> {
    let mut reports = Vec::new();
    for action in actions.iter().filter(|it| it.legality == Legality::Never) {
        let relation = &relations[usize::from(action.rel.0)];
        if action.pseudo_legal.is_none_or(|it| it == action.rel) {
            reports.push(mistake::never_played_out(relation));
        }
        let own = relation.rules.iter().map(|it| &rules[usize::from(it.0)]);
        reports.extend(own.map(|it| mistake::never_legal(relation, it.span)));
    }
    reports
}

fn declared((info, id): (Info<'_>, u16)) -> DeclaredEvent {
    let Relation { name, columns, sentence, span, .. } = info.relation;
    DeclaredEvent { id: EventId(id), name, columns, sentence, span }
}
