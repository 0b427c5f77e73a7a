//! The checked program: rule text after names, types and strata are resolved.
//!
//! This is the contract between the front end (`syntax`, `check`, `stratify`) and everything that
//! runs, explains or documents rules. It is plain data: every name is resolved to an index, every
//! constant to a raw value, every expression in an atom or a head to a variable of its own.
//!
//! Raw values are `i64`: an integer, a member's index in its domain, an entity's id, a text's index
//! in [`Program::texts`].

use std::collections::HashMap;
use std::sync::Arc;

use crate::facts::{AttrId, AttrType, DomainId, Schema};

pub use super::action::{Action, Legality, Template, TemplatePart, Unlisted};
pub use super::column::{Column, Type};
pub use super::ids::{ActionId, EventId, RelId, RuleId, StageId, TrialId, VarId};
pub use super::input::{Input, Until};
pub use super::operator::{Arith, Fold, Op};
pub use super::source::{Source, Span};

/// The separator between a preset or game and a private name of it.
pub(super) const SEPARATOR: &str = "::";

/// A whole checked program.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The facts that `forget` retracts and `inherit` copies: for each preset, by its raw value, the attributes
    /// that it states about entities other than its activations.
    pub stated: Vec<(i64, AttrId)>,
    /// The facts that `forget` takes back to the start, too, unless another preset that brings them is active: for each
    /// preset, by its raw value, the attributes of modules that presets alone bring.
    pub of_modules: Vec<(i64, AttrId)>,
    /// For each source the presets that bring it, by their raw values; `None` if it is there without any.
    pub brought: Vec<Option<Vec<i64>>>,
    pub sources: Vec<Source>,
    /// For each source the number of the file that owns its reactions: the main file of its preset, or the source
    /// itself if it is a module that others include. `None` for all others.
    pub owners: Vec<Option<u16>>,
    /// Domains and attributes; shared with the sessions that run under the program.
    pub schema: Arc<Schema>,
    pub relations: Vec<Relation>,
    pub rules: Vec<Rule>,
    /// Relations grouped so that each depends, through negation and aggregates, only on earlier
    /// strata. Only statics and derived relations are in one. Static strata come first. Relations of one
    /// stratum are mutually recursive (or a single relation).
    pub strata: Vec<Stratum>,
    pub actions: Vec<Action>,
    /// `.decl ... text "..."`: the templates for rows of a relation as text.
    pub row_texts: HashMap<RelId, Template>,
    /// In text order.
    pub reactions: Vec<Reaction>,
    /// The stages that reactions run in, first to last; at least one.
    pub stages: Vec<Stage>,
    /// The events that rules declare, and those of trials, which no rule can name.
    pub events: Vec<DeclaredEvent>,
    /// `.repetition rel, ...`: the relations whose rows together identify a position.
    pub repetition: Vec<RelId>,
    /// `.input ... lasting`: the attributes whose facts persist when the game is rewound.
    pub lasting: Vec<AttrId>,
    /// `.input ... until turn` and `until action`: the attributes whose facts expire.
    pub expiry: Expiry,
    /// The attributes that reactions read by `was`; each has an input of its own, which no rule can name.
    pub was: Vec<Was>,
    /// `.trial NAME(...) of ACTION`: relations whose rows are found by playing actions out.
    pub trials: Vec<TrialRelation>,
    /// `.meta key "value"` lines, in text order.
    pub meta: Vec<Meta>,
    /// The texts that rules mention.
    pub texts: Vec<String>,
    /// The relations that rules can name, by full name: all but the hidden ones ([`Program::is_hidden`]).
    pub relation_names: HashMap<String, RelId>,
    /// For each source the preset or game that it belongs to, if that has private names.
    pub scopes: Vec<Option<String>>,
    /// Earlier names of relations, each with the one of today.
    pub renames: Vec<(String, String)>,
    /// For members of domains that declare one, their name in sentences: `ne "north-east"`.
    pub words: HashMap<(DomainId, i64), String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    pub key: String,
    pub value: String,
    pub span: Span,
}

/// An attribute that reactions read by `was`, and the hidden one that has its facts from before the action under way.
/// The hidden one has facts only while an action or event is carried out whose reactions read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Was {
    pub of: AttrId,
    pub before: AttrId,
}

/// The attributes whose facts expire.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expiry {
    /// The attribute of the side to move, if some facts expire with the turn.
    pub turn: Option<AttrId>,
    pub until_turn: Vec<AttrId>,
    pub until_action: Vec<AttrId>,
}

impl Expiry {
    /// Whether the facts of an attribute expire.
    pub(super) fn takes_back(&self, attr: AttrId) -> bool {
        self.until_turn.contains(&attr) || self.until_action.contains(&attr)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Relation {
    pub name: String,
    pub columns: Vec<Column>,
    pub role: Role,
    /// Whether the last column is a function of the others (`key`).
    pub functional: bool,
    /// Whether other files may add clauses.
    pub open: bool,
    /// The sentence, with `{column}` placeholders: `"{p} attacks {t}"`. Empty if none was given.
    pub sentence: String,
    /// `else "..."`: the sentence for the absence of a row. Empty if none was given.
    pub denial: String,
    pub span: Span,
    /// The rules that conclude this relation, in text order.
    pub rules: Vec<RuleId>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    Input(Input),
    /// Depends only on other statics: computed once, at load.
    Static,
    /// A static that the loader itself provides (`file`, `rank` of a grid domain), as tuples.
    Builtin(Vec<Vec<i64>>),
    Derived,
    /// Follows neither from facts nor from rules: the engine gives its rows.
    Given(Given),
}

/// The kinds of relations whose rows the engine gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// `was R(...)` of a derived relation: its rows before the action or event under way. There are none at
    /// other times. No rule can name it.
    Before(RelId),
    /// Found by playing actions out.
    Trial(TrialId),
}

/// `.trial NAME(...) of ACTION from REL where BODY`: its rows are the arguments of pseudo-legal actions
/// (which are rows of `from`) that can be played out, and after which the body holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialRelation {
    pub id: TrialId,
    pub rel: RelId,
    pub action: ActionId,
    pub from: Option<RelId>,
    /// An event that no rule can name, with a reaction that has the body: it fires if the body holds.
    pub event: EventId,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    pub id: RuleId,
    pub head: RelId,
    /// Variables and constants; never a wildcard.
    pub args: Vec<Term>,
    pub body: Vec<Literal>,
    pub vars: Vec<Var>,
    /// Its sentence for players, with its variables in braces.
    pub because: Option<Box<str>>,
    /// The variables that its `.plan` binds first, in that order.
    pub order: Vec<VarId>,
    pub span: Span,
}

/// A variable of one rule. Names that the front end generates for nested expressions start with `_`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Var {
    pub name: String,
    pub ty: Type,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Term {
    Var(VarId),
    /// A raw value of the column's type.
    Const(i64),
    /// `_`, in atoms of bodies and in parameters of reactions: some value. Under negation: no value at all.
    Wild,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    Atom(Atom),
    Compare(Compare),
    Aggregate(Aggregate),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Atom {
    pub rel: RelId,
    pub args: Vec<Term>,
    /// Whether it is negated. Every variable of a negated atom is bound by the rest of the body.
    pub negated: bool,
    pub span: Span,
}

/// `lhs op rhs`. With `=` and a lone unbound variable on one side it binds that variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Compare {
    pub op: Op,
    pub lhs: Expr,
    pub rhs: Expr,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    Var(VarId),
    Const(i64),
    Binary(Arith, Box<Expr>, Box<Expr>),
}

impl Literal {
    /// Puts terms in place of all variables, those of aggregates included.
    ///
    /// # Panics
    /// `term` returns a wildcard for a variable of an expression, or a constant or wildcard for a local variable
    /// of an aggregate.
    pub fn substitute(&mut self, term: &mut dyn FnMut(VarId) -> Term) {
        match self {
            Self::Atom(atom) => atom.args.iter_mut().for_each(|it| it.substitute(term)),
            Self::Compare(it) => {
                it.lhs.substitute(term);
                it.rhs.substitute(term);
            }
            Self::Aggregate(fold) => {
                fold.exprs.iter_mut().for_each(|it| it.substitute(term));
                fold.body.iter_mut().for_each(|it| it.substitute(term));
                fold.results.iter_mut().for_each(|it| it.substitute(term));
                for local in &mut fold.locals {
                    *local = term(*local).var().expect("a variable for a local variable");
                }
            }
        }
    }
}

impl Term {
    fn substitute(&mut self, term: &mut dyn FnMut(VarId) -> Self) {
        if let Self::Var(var) = self {
            *self = term(*var);
        }
    }
}

impl Expr {
    fn substitute(&mut self, term: &mut dyn FnMut(VarId) -> Term) {
        match self {
            Self::Const(_) => {}
            Self::Var(var) => {
                *self = match term(*var) {
                    Term::Var(var) => Self::Var(var),
                    Term::Const(value) => Self::Const(value),
                    Term::Wild => unreachable!("a wildcard has no value"),
                };
            }
            Self::Binary(_, lhs, rhs) => {
                lhs.substitute(term);
                rhs.substitute(term);
            }
        }
    }
}

/// `result = fold { exprs : body }`.
///
/// Variables of `body` that also occur outside the aggregate are bound before it is computed (it
/// counts within one group); all others are local. The body's distinct solutions, as assignments
/// of its *named* local variables, are folded; `_` does not multiply solutions.
/// An aggregate has no value if an expression has none for some solution, or a sum overflows.
/// `count` has no expression, `sum` one, `min` and `max` one or more, compared left to right, with as
/// many results. `min` and `max` of nothing fail; `count` and `sum` of nothing are 0.
/// An unbound variable among the results is bound, others are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    pub fold: Fold,
    pub exprs: Vec<Expr>,
    pub body: Vec<Literal>,
    /// Variables and constants; never a wildcard.
    pub results: Vec<Term>,
    /// The variables of `body` that do not occur outside the aggregate. Those made for nested expressions
    /// are among them: being functions of the named ones, they do not multiply solutions.
    pub locals: Vec<VarId>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stratum {
    pub relations: Vec<RelId>,
    /// Whether a relation of this stratum depends on one of the same stratum.
    pub recursive: bool,
    /// Whether all its relations are statics.
    pub is_static: bool,
}

/// A stage of the order in which reactions run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    pub name: String,
    /// Where it was declared first.
    pub span: Span,
}

/// `.event damage(target: Entity, amount: Int) "..."`: an event that reactions raise or emit, or that the
/// host raises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredEvent {
    pub id: EventId,
    pub name: String,
    pub columns: Vec<Column>,
    pub sentence: String,
    pub span: Span,
}

/// `on EVENT in STAGE when BODY do EFFECTS`.
///
/// The reactions to an event run by stages, and in a stage by owners: first those without an owner, then those of each
/// preset or included module. The reactions of one owner in one stage are a batch: their bodies are solved on the facts
/// at the beginning of the batch; the effects are then applied in text order, so of two `set`s of one fact
/// the later one counts. The solutions of a body are distinguished by the variables that the parameters and
/// effects name, and ordered by their ascending values.
#[derive(Debug, Clone, PartialEq)]
pub struct Reaction {
    pub event: Event,
    pub stage: StageId,
    /// The owner of the source that it is in, see [`Program::owners`].
    pub owner: Option<u16>,
    /// One per column of the action or event (none for [`Event::Any`]).
    pub params: Vec<Term>,
    pub body: Vec<Literal>,
    pub effects: Vec<Effect>,
    pub vars: Vec<Var>,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event {
    Action(ActionId),
    /// `on any`: every action.
    Any,
    /// A declared event.
    Raised(EventId),
}

impl Event {
    /// Whether what reacts to this event reacts to the other one, too. Every action is an [`Event::Any`].
    pub fn includes(self, event: Self) -> bool {
        self == event || self == Self::Any && matches!(event, Self::Action(_))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// `set at(p, t)`: the input's fact gets the value in the last argument (a flag: true).
    Set { rel: RelId, args: Vec<Expr> },
    /// `retract at(p)`, `retract ep()`: the input's fact is retracted; key columns only.
    Retract { rel: RelId, key: Vec<Expr> },
    /// `remove p`: every fact of the entity is retracted.
    Remove { entity: Expr },
    /// `forget x`: every fact that a preset states is retracted; `forget x of p`: those of one entity or
    /// member of a domain.
    Forget { preset: VarId, of: Option<VarId> },
    /// `inherit p from o`: `p` gets the facts that presets state of `o`, except where it has a fact of its own.
    Inherit { to: VarId, from: VarId },
    /// `spawn x`: the variable is a new entity for the effects after it.
    Spawn { var: VarId },
    /// `raise damage(q, 1)`: the event happens when the batch has been applied.
    Raise { event: EventId, args: Vec<Expr> },
    /// `stop`: later batches of this event do not run.
    Stop,
    /// `pass damage(q, n - 1)`: later batches of this event see these arguments.
    Pass { args: Vec<Expr> },
    /// `veto "..."`: the action does not happen; nothing has changed.
    Veto { message: Message },
    /// `emit flash(s, 500)`: an event for displays of the game, to which nothing reacts.
    Emit { event: EventId, args: Vec<Expr> },
    /// `note "..."`: a line in the record of the action.
    Note { message: Message },
    /// `rewind 2`: nothing happens after this batch, and the game goes back that many whole turns.
    Rewind { turns: Expr },
    /// `call bite(p, n)`: calls code that the host has registered for the preset.
    Call { name: String, args: Vec<VarId> },
}

/// A text with the values of variables in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message(pub Vec<MessagePart>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessagePart {
    Text(String),
    Value(VarId),
}

impl Relation {
    /// Whether its rows are the same in every state: they are computed once, at load.
    pub fn is_static(&self) -> bool {
        matches!(self.role, Role::Static | Role::Builtin(_))
    }
}

impl Rule {
    /// The type of the values that a comparison of the rule compares.
    pub fn compared(&self, compare: &Compare) -> Type {
        let lone = |expr: &Expr| match expr {
            Expr::Var(var) => self.vars.get(usize::from(var.0)).map(|it| it.ty),
            Expr::Const(_) | Expr::Binary(..) => None,
        };
        lone(&compare.lhs).or_else(|| lone(&compare.rhs)).unwrap_or(Type::Int)
    }
}

impl Reaction {
    /// Whether its body has an atom of a relation, negated or not, outside of aggregates.
    pub fn has_atom_of(&self, rel: RelId) -> bool {
        self.body.iter().any(|it| matches!(it, Literal::Atom(atom) if atom.rel == rel))
    }

    /// The variables that distinguish the solutions of the body, ascending: those of parameters and those
    /// that effects need, without the ones that effects create.
    pub fn named(&self) -> Vec<VarId> {
        let mut vars: Vec<VarId> = self.effects.iter().flat_map(Effect::needs).collect();
        vars.extend(self.params.iter().filter_map(Term::var));
        vars.retain(|it| !self.effects.contains(&Effect::Spawn { var: *it }));
        vars.sort_unstable();
        vars.dedup();
        vars
    }
}

impl Program {
    pub fn relation(&self, id: RelId) -> &Relation {
        &self.relations[usize::from(id.0)]
    }

    pub fn relation_named(&self, name: &str) -> Option<RelId> {
        self.relation_names.get(name).copied()
    }

    /// The relations of that name: the shared one, and private ones of presets and of the game.
    pub fn relations_called(&self, name: &str) -> impl Iterator<Item = RelId> {
        self.relations_named_like(move |it| it == name)
    }

    /// The relations whose names fit, without the preset or game that they are private to.
    pub fn relations_named_like(&self, fits: impl Fn(&str) -> bool) -> impl Iterator<Item = RelId> {
        let is_it = move |it: &Relation| it.name.rsplit(SEPARATOR).next().is_some_and(&fits);
        let all = (0..).map(RelId).zip(&self.relations);
        all.filter(move |it| is_it(it.1) && !self.is_hidden(it.0)).map(|it| it.0)
    }

    /// The relations that rules can name: those that files declare, and `file` and `rank` of the board.
    pub fn nameable(&self) -> impl Iterator<Item = &Relation> {
        let all = (0..).map(RelId).zip(&self.relations);
        all.filter(|it| !self.is_hidden(it.0)).map(|it| it.1)
    }

    /// What a name means in a file: something of the file's own preset or game, or else something that all share.
    fn meant_in<T>(&self, source: u16, name: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        let scope = self.scopes.get(usize::from(source)).and_then(Option::as_ref);
        let own = scope.and_then(|it| find(&format!("{it}{SEPARATOR}{name}")));
        own.or_else(|| find(name))
    }

    /// The name in a file for a full name of the program; `None` if it is private to another preset or game.
    pub fn name_in<'n>(&self, source: u16, full: &'n str) -> Option<&'n str> {
        let Some((of, name)) = full.rsplit_once(SEPARATOR) else { return Some(full) };
        let scope = self.scopes.get(usize::from(source))?.as_ref()?;
        (scope == of).then_some(name)
    }

    /// The relation that a name means in a file.
    pub fn relation_in(&self, source: u16, name: &str) -> Option<RelId> {
        self.meant_in(source, name, |it| self.relation_named(it))
    }

    /// The event that a name means in a file.
    pub fn event_in(&self, source: u16, name: &str) -> Option<EventId> {
        self.meant_in(source, name, |it| self.event_named(it))
    }

    /// The domain that a name means in a file.
    pub fn domain_in(&self, source: u16, name: &str) -> Option<DomainId> {
        self.meant_in(source, name, |it| self.schema.domain_named(it))
    }

    /// The attribute that a name means in a file.
    pub fn attribute_in(&self, source: u16, name: &str) -> Option<AttrId> {
        self.meant_in(source, name, |it| self.schema.attribute_named(it))
    }

    /// The relation that a name means outside all files, as in a query: the one of this full name, or else the only
    /// private one of this name, or the one that had it earlier.
    pub fn relation_meant(&self, name: &str) -> Option<RelId> {
        self.relation_named(name).or_else(|| match self.full_names(name).as_slice() {
            [only] => self.relation_named(only),
            _ => self.relation_named(self.renamed(name)?),
        })
    }

    /// The relation of that full name, or the one that had it earlier.
    pub fn relation_known(&self, name: &str) -> Option<RelId> {
        self.relation_named(name).or_else(|| self.relation_named(self.renamed(name)?))
    }

    /// The present name of the relation that had this name earlier.
    pub fn renamed(&self, old: &str) -> Option<&str> {
        self.renames.iter().find(|it| it.0 == old).map(|it| it.1.as_str())
    }

    /// The full names of the private relations of that name.
    pub fn full_names(&self, name: &str) -> Vec<&str> {
        let is_it = |it: &&str| it.rsplit_once(SEPARATOR).is_some_and(|it| it.1 == name);
        let mut all: Vec<&str> = self.relation_names.keys().map(|it| &**it).filter(is_it).collect();
        all.sort_unstable();
        all
    }

    pub fn rule(&self, id: RuleId) -> &Rule {
        &self.rules[usize::from(id.0)]
    }

    pub fn action(&self, id: ActionId) -> &Action {
        &self.actions[usize::from(id.0)]
    }

    pub fn event(&self, id: EventId) -> &DeclaredEvent {
        &self.events[usize::from(id.0)]
    }

    pub fn event_named(&self, name: &str) -> Option<EventId> {
        self.events.iter().find(|it| it.name == name).map(|it| it.id)
    }

    pub fn stage(&self, id: StageId) -> &Stage {
        &self.stages[usize::from(id.0)]
    }

    /// The name of an event in rules: the action's or the event's name, or `any`.
    pub fn event_name(&self, event: Event) -> &str {
        match event {
            Event::Action(id) => &self.relation(self.action(id).rel).name,
            Event::Raised(id) => &self.event(id).name,
            Event::Any => "any",
        }
    }

    /// The reactions to an action or event, in text order.
    pub fn reactions_to(&self, event: Event) -> impl Iterator<Item = &Reaction> {
        self.reactions.iter().filter(move |it| it.event.includes(event))
    }

    /// The columns of an event's arguments.
    pub fn event_columns(&self, event: Event) -> &[Column] {
        match event {
            Event::Action(id) => &self.action(id).columns,
            Event::Raised(id) => &self.event(id).columns,
            Event::Any => &[],
        }
    }

    /// `rules/chess/attack.dl:12`, for proofs and diagnostics.
    pub fn place(&self, span: Span) -> String {
        format!("{}:{}", self.sources[usize::from(span.source)].path, span.line)
    }

    /// The source text of a span, white space folded.
    pub fn quote(&self, span: Span) -> String {
        let source = self.sources.get(usize::from(span.source));
        let text = source.and_then(|it| it.text.get(span.start as usize..span.end as usize));
        text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether all facts of an attribute are about the game.
    pub fn is_of_the_game(&self, attr: AttrId) -> bool {
        self.relations.iter().all(|it| match it.role {
            Role::Input(it) if it.attrs().any(|it| it == attr) => {
                matches!(it, Input::Game(_) | Input::GameFlag(_))
            }
            _ => true,
        })
    }

    /// Whether values of a type are entities.
    pub fn is_entity(&self, ty: Type) -> bool {
        matches!(ty, Type::Domain(id) if self.schema.is_entity(AttrType::Member(id)))
    }

    /// A raw value in words, by its type: `e4`, `knight`, `#12`, `-3`, a text as it is.
    pub fn value_name(&self, ty: Type, raw: i64) -> String {
        let mut name = String::new();
        self.push_value_name(ty, raw, &mut name);
        name
    }

    /// Adds a raw value in words to a text.
    pub fn push_value_name(&self, ty: Type, raw: i64, text: &mut String) {
        match ty {
            Type::Domain(id) => self.schema.domain(id).push_member_name(raw, text),
            Type::Int => text.push_str(&raw.to_string()),
            Type::Text => text.push_str(self.texts.get(raw as usize).map_or("", String::as_str)),
        }
    }

    /// The name of a value in sentences, if its domain declares one.
    pub fn word(&self, ty: Type, raw: i64) -> Option<&str> {
        match ty {
            Type::Domain(id) => self.words.get(&(id, raw)).map(String::as_str),
            Type::Int | Type::Text => None,
        }
    }

    /// The value of a fact: a member by its name, everything else as a number.
    pub fn fact_value_name(&self, attr: AttrId, raw: i64) -> String {
        match self.schema.attribute(attr).ty {
            AttrType::Member(id) => self.schema.domain(id).member_name(raw),
            AttrType::Int | AttrType::Entity => raw.to_string(),
        }
    }

    /// Whether a body reads state from before the action (`was`).
    pub fn reads_before(&self, body: &[Literal]) -> bool {
        body.iter().any(|literal| match literal {
            Literal::Atom(atom) => self.is_hidden(atom.rel),
            Literal::Compare(_) => false,
            Literal::Aggregate(aggregate) => self.reads_before(&aggregate.body),
        })
    }

    /// The preset that a file, by its number, belongs to.
    pub fn preset_of(&self, source: u16) -> Option<&str> {
        let mut of_file = self.meta.iter().filter(|it| it.span.source == source);
        of_file.find(|it| matches!(it.key.as_str(), "preset" | "part")).map(|it| it.value.as_str())
    }

    /// Whether a relation cannot be named by rules, since it has the state from before an action.
    pub fn is_hidden(&self, rel: RelId) -> bool {
        match self.relation(rel).role {
            Role::Input(input) => self.is_before(input.attr()),
            Role::Given(Given::Before(_)) => true,
            Role::Static | Role::Builtin(_) | Role::Derived | Role::Given(Given::Trial(_)) => false,
        }
    }

    /// Whether an attribute has the state from before an action.
    pub fn is_before(&self, attr: AttrId) -> bool {
        self.was.iter().any(|it| it.before == attr)
    }

    /// `attacks(#3, e4)`.
    pub fn tuple_name(&self, rel: RelId, tuple: &[i64]) -> String {
        let relation = self.relation(rel);
        self.row_name(&relation.name, &relation.columns, tuple)
    }

    /// `move(#21, e4)`, with unlisted arguments if they are given.
    pub fn action_name(&self, action: ActionId, args: &[i64]) -> String {
        let action = self.action(action);
        self.row_name(&self.relation(action.rel).name, &action.columns, args)
    }

    fn row_name(&self, name: &str, columns: &[Column], row: &[i64]) -> String {
        let args = columns.iter().zip(row).map(|(column, &raw)| self.value_name(column.ty, raw));
        format!("{name}({})", args.collect::<Vec<String>>().join(", "))
    }
}
