//! Composes programs: the rule files that a game with its activations needs, compiled once per set.
//!
//! Files come in the order of the activations, since that is the order in which presets react. Some text is generated:
//! the sides that a game declares, that its squares are hexagons, and rules that the core of an older save lacks.
//!
//! Deliberately absent: which activations go together, and which programs are cached (`programs`).

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::derive::{Backend, Plan, PlanError, World};
use crate::facts::nearest;
use crate::moves::notation::check_letters;
use crate::moves::{Contract, split};
use crate::rules::{Diagnostics, Meta, Program, Source, compile_sharing};

use super::activation::Request;
use super::catalogue::Catalogue;
use super::entry::GameEntry;
use super::error::{LoadError, SetFault};
use super::programs::{Composed, GENERATED_PATH};
use super::scopes::Scopes;
use super::sides;
use super::templates::Template;

impl Catalogue {
    /// Bytes of all programs that were compiled by this catalogue and its copies, and that are in use or
    /// cached.
    #[doc(hidden)]
    pub fn program_bytes(&self) -> usize {
        self.composers.programs().bytes()
    }

    /// The program of a game with these activations.
    pub(super) fn compose(
        &self,
        game: &GameEntry,
        requests: &[&Request],
    ) -> Result<Composed, LoadError> {
        let numbers = self.files(game, requests)?;
        let files: Vec<&Source> = numbers.iter().map(|&it| &self.sources[it]).collect();
        let known = self.composers.programs().find(&files, &self.externals);
        if let Some(composed) = known {
            return Ok(composed);
        }
        let texts = self.with_generated(&numbers)?;
        let mut program = compile_sharing(texts, &self.composers.reader)
            .map_err(|it| self.explain_faults(game, requests, it))?;
        split(&mut program);
        let program = Arc::new(program);
        self.externals.check(&program)?;
        let contract = Arc::new(Contract::resolve(&program)?);
        let plan = Plan::compile_sharing(Arc::clone(&program), &self.composers.memo)
            .map_err(|it| for_players(game, requests, it))?;
        let plan = Arc::new(plan.with_calls(self.externals.clone()));
        let mut world = World::new(Arc::clone(&plan), Backend::Bits);
        check_letters(&mut world, &contract)?;
        let scopes = Arc::new(Scopes::of(&program, &mut world));
        let composed = Composed { plan, contract, scopes };
        let mut programs = self.composers.programs();
        // Another thread may have been faster.
        if let Some(known) = programs.find(&files, &self.externals) {
            return Ok(known);
        }
        programs.keep(&composed, &self.externals)?;
        tracing::debug!(bytes = composed.plan.heap_bytes(), all = programs.bytes(), "compiled");
        Ok(composed)
    }

    /// The program of a game with activations given as texts.
    pub(super) fn program_of(
        &self,
        game: &GameEntry,
        activations: &[String],
    ) -> Result<Arc<Program>, LoadError> {
        let requests = self.requests(activations)?;
        let composed = self.compose(game, &requests.iter().collect::<Vec<_>>())?;
        Ok(Arc::clone(composed.plan.program()))
    }

    /// All rule text of a game with these activations, generated text included.
    pub(super) fn texts(
        &self,
        game: &GameEntry,
        requests: &[&Request],
    ) -> Result<Vec<Source>, LoadError> {
        self.with_generated(&self.files(game, requests)?)
    }

    /// The text of some files, with the generated text that they need.
    fn with_generated(&self, files: &[usize]) -> Result<Vec<Source>, LoadError> {
        let mut sources: Vec<Source> = files.iter().map(|&it| self.sources[it].clone()).collect();
        let hexagonal = self.shape_of(files)? == Shape::Hexagons;
        sources.extend(self.sides_of(files)?);
        sources.extend(generated(&sources, hexagonal));
        Ok(sources)
    }

    /// The core, the family, modules, presets in the order of their activation, the layout, the game's own rules.
    fn files(&self, game: &GameEntry, requests: &[&Request]) -> Result<Vec<usize>, LoadError> {
        let mut files = self.core.clone();
        files.extend(self.family_files(game)?);
        if requests.iter().any(|it| it.turns.is_some()) {
            files.extend(self.module_files("durations"));
        }
        for request in requests {
            self.add_preset(&request.preset, game, &mut files)?;
        }
        // Required presets that are not requested are reported later; their rules are included all the same.
        let mut next: Vec<&str> = requests.iter().map(|it| it.preset.as_str()).collect();
        while let Some(name) = next.pop() {
            for required in &self.find_preset(name)?.requires {
                if self.add_preset(required, game, &mut files)? {
                    next.push(required);
                }
            }
        }
        for preset in self.presets().iter().filter(|it| files.contains(&it.source)) {
            self.check_family(&preset.family, game, || format!("preset {}", preset.preset))?;
        }
        if let Some(name) = &game.layout {
            let missing = || LoadError::Layout { game: game.name.clone(), layout: name.clone() };
            let layout = self.layout_of(game).ok_or_else(missing)?;
            self.check_family(&layout.family, game, || format!("layout {name}"))?;
            files.push(layout.source);
        }
        files.push(game.source);
        if self.shape_of(&files)? == Shape::Points {
            files.retain(|it| !self.core.contains(it) || !has_squares(&self.sources[*it]));
            files.extend(self.module_files("graph"));
        }
        // Declared sides replace the file of the core.
        let declares_sides = |it: &usize| self.metas_of(*it, "sides").next().is_some();
        if files.iter().any(|it| !self.core.contains(it) && declares_sides(it)) {
            files.retain(|it| !self.core.contains(it) || !declares_sides(it));
        }
        let files = self.with_included(&files)?;
        self.check_excluded(game, &files)?;
        Ok(files)
    }

    /// The files of the module of that name.
    fn module_files(&self, name: &str) -> impl Iterator<Item = usize> {
        self.modules.iter().filter(move |it| it.0 == name).map(|it| it.1)
    }

    /// Adds the files of a preset for a game, unless they are there. Returns whether they were missing.
    fn add_preset(
        &self,
        name: &str,
        game: &GameEntry,
        files: &mut Vec<usize>,
    ) -> Result<bool, LoadError> {
        let source = self.find_preset(name)?.source;
        if files.contains(&source) {
            return Ok(false);
        }
        files.push(source);
        files.extend(self.parts_for(name, game.family.as_deref()));
        Ok(true)
    }

    /// The last line of a key in these files, and its file.
    fn last_of(&self, files: &[usize], key: &str) -> Option<(&Source, &Meta)> {
        let declared = |&it: &usize| Some((&self.sources[it], self.metas_of(it, key).next_back()?));
        files.iter().rev().find_map(declared)
    }

    /// The rules for the sides that the last of these files declares, unless that file has the rules itself.
    fn sides_of(&self, files: &[usize]) -> Result<Option<Source>, LoadError> {
        let Some((source, meta)) = self.last_of(files, "sides") else { return Ok(None) };
        sides::generated(source, meta)
    }

    /// The shape that `.meta board` declares. The last declaration counts.
    fn shape_of(&self, files: &[usize]) -> Result<Shape, LoadError> {
        let Some((source, meta)) = self.last_of(files, "board") else { return Ok(Shape::Squares) };
        match meta.value.split_once(' ').map_or(meta.value.as_str(), |it| it.0) {
            "graph" | "none" => Ok(Shape::Points),
            "hex" => Ok(Shape::Hexagons),
            _ if meta.value.contains(' ') => Err(LoadError::Shape {
                place: format!("{}:{}", source.path, meta.span.line),
                shape: meta.value.clone(),
            }),
            _ => Ok(Shape::Squares),
        }
    }

    /// Checks the presets that the game, its layout and modules exclude, for any sides: `.meta incompatible` as in
    /// presets. The message names the game or preset that players know, not the module.
    fn check_excluded(&self, game: &GameEntry, files: &[usize]) -> Result<(), LoadError> {
        let is_preset = |at: usize| self.presets().iter().any(|it| it.source == at);
        for &at in files.iter().filter(|it| !is_preset(**it)) {
            let declared = self.metas_of(at, "incompatible");
            for (preset, reason) in declared.filter_map(|it| it.value.split_once(": ")) {
                if self.preset_named(preset).is_some_and(|it| files.contains(&it.source)) {
                    let second = self.includer_of(at, game, files).unwrap_or(&game.name);
                    let (first, second) = (preset.to_owned(), second.to_owned());
                    let reason = reason.to_owned();
                    let fault = SetFault::Incompatible { first, second, reason };
                    return Err(LoadError::Set(fault.into()));
                }
            }
        }
        Ok(())
    }

    /// The game or the first preset that includes a module.
    fn includer_of<'s>(
        &'s self,
        module: usize,
        game: &'s GameEntry,
        files: &[usize],
    ) -> Option<&'s str> {
        if self.is_or_includes(game.source, module) {
            return Some(&game.name);
        }
        let mut presets =
            files.iter().filter_map(|it| self.presets().iter().find(|of| of.source == *it));
        presets.find(|it| self.is_or_includes(it.source, module)).map(|it| it.preset.as_str())
    }

    /// The names of all families.
    pub fn families(&self) -> BTreeSet<&str> {
        self.families.iter().map(|it| it.0.as_str()).collect()
    }

    /// Checks that something made for a family, or for none, fits a game.
    fn check_family(
        &self,
        family: &Option<String>,
        game: &GameEntry,
        what: impl FnOnce() -> String,
    ) -> Result<(), LoadError> {
        let Some(family) = family.clone().filter(|it| Some(it) != game.family.as_ref()) else {
            return Ok(());
        };
        if !self.families().contains(family.as_str()) {
            let near = nearest(&family, self.families()).map(String::from);
            return Err(LoadError::NoFamily { what: what(), family, near });
        }
        let (game, of) = (game.name.clone(), game.family.clone());
        Err(LoadError::Family { what: what(), family, game, of })
    }

    /// The files of a game's family.
    fn family_files(&self, game: &GameEntry) -> Result<Vec<usize>, LoadError> {
        let Some(family) = &game.family else { return Ok(Vec::new()) };
        let of_it = self.families.iter().filter(|it| it.0 == *family);
        let files: Vec<usize> = of_it.map(|it| it.1).collect();
        if files.is_empty() {
            let near = nearest(family, self.families());
            let (what, near) = (format!("game {}", game.name), near.map(String::from));
            return Err(LoadError::NoFamily { what, family: family.clone(), near });
        }
        Ok(files)
    }

    /// What is wrong with rules that do not compile. If a game, layout, preset or file for all games uses relations that
    /// only another family has, the error is one sentence about that.
    fn explain_faults(
        &self,
        game: &GameEntry,
        requests: &[&Request],
        found: Diagnostics,
    ) -> LoadError {
        if let (Some(why), [_, _, ..]) = (found.limit(), requests) {
            let presets: Vec<&str> = requests.iter().map(|it| it.preset.as_str()).collect();
            let (game, presets) = (game.name.clone(), presets.join(" and "));
            return LoadError::TooLarge { game, presets, why: why.to_owned() };
        }
        if found.has_unread() {
            return LoadError::Rules(Box::new(found));
        }
        let presets = requests.iter().filter_map(|it| self.preset_named(&it.preset));
        let presets = presets.map(|it| (format!("preset {}", it.preset), it.source));
        let layout = self.layout_of(game).map(|it| (format!("layout {}", it.name), it.source));
        let own = (format!("game {}", game.name), game.source);
        let for_all = self.core.iter().map(|it| (self.sources[*it].path.clone(), *it));
        for (what, source) in presets.chain(layout).chain([own]).chain(for_all) {
            let Source { path, text } = &self.sources[source];
            // A name that is much like one of the file's own is a slip.
            let is_slip = |it: &&str| nearest(it, declared(text)).is_some();
            let mut unknown = found.unknown_relations(path).filter(|it| !is_slip(it));
            if let Some(fault) = unknown.find_map(|it| self.elsewhere(&what, it, game)) {
                return fault;
            }
        }
        LoadError::Rules(Box::new(found))
    }

    /// What is wrong with a relation that the rules of a game do not have, if boards of squares or another family have it.
    fn elsewhere(&self, what: &str, relation: &str, game: &GameEntry) -> Option<LoadError> {
        let declares = |file: usize| declared(&self.sources[file].text).any(|it| it == relation);
        let (what, relation) = (what.to_owned(), relation.to_owned());
        let (name, of) = (game.name.clone(), game.family.clone());
        if self.core.iter().any(|&it| has_squares(&self.sources[it]) && declares(it)) {
            return Some(LoadError::NeedsSquares { what, relation, game: name });
        }
        let foreign = |it: &&(String, usize)| Some(&it.0) != of.as_ref() && declares(it.1);
        let family = self.families.iter().find(foreign)?.0.clone();
        Some(LoadError::Foreign { what, relation, family, game: name, of })
    }
}

/// The text that is added to a program: that its squares are hexagons, and, for the core of an older save, the rules
/// that retract what presets state with their last activation, and copy it to pieces that come from others.
fn generated(sources: &[Source], hexagonal: bool) -> Option<Source> {
    let has = |text: &str| sources.iter().any(|it| it.text.contains(text));
    let is_older = has(".event deactivated(") && has(".decl outlives(") && !has(" do forget ");
    let template = Template::named("added");
    let parts = [("hexagons", hexagonal), ("leaving", is_older)];
    let added = parts.iter().filter(|it| it.1).map(|it| template.part(it.0));
    let text = added.collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then(|| Source { path: GENERATED_PATH.into(), text: text.into() })
}

/// The relations, actions and events that a rule file declares.
fn declared(text: &str) -> impl Iterator<Item = &str> {
    let heads = [".decl", ".static", ".input", ".action", ".event"];
    text.lines().filter_map(move |line| {
        let mut words = line.split([' ', '(']).filter(|it| !it.is_empty());
        words.next().filter(|it| heads.contains(it)).and(words.next())
    })
}

/// The shape of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Squares,
    /// `.meta board "hex 11"`.
    Hexagons,
    /// `.meta board "graph"`, or `"none"`.
    Points,
}

/// Whether a file declares the board of files and ranks.
fn has_squares(source: &Source) -> bool {
    source.text.contains(".domain Square grid ")
}

/// The error of a plan, for players: if rules exceed a budget only together with presets, the combination is at fault
/// and not their text.
fn for_players(game: &GameEntry, requests: &[&Request], fault: PlanError) -> LoadError {
    match fault {
        PlanError::Exhausted(why) if !requests.is_empty() => {
            let presets: Vec<&str> = requests.iter().map(|it| it.preset.as_str()).collect();
            LoadError::TooMuch { game: game.name.clone(), presets: presets.join(" and "), why }
        }
        other => other.into(),
    }
}
