//! The checked program: what rule text means after names, types and strata are settled.
//!
//! This is the contract between the front end (`syntax`, `check`, `stratify`) and everything that
//! runs, explains or documents rules. It is plain data: every name is resolved to an index, every
//! constant to a raw value, every nested expression to a variable of its own.
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

/// What stands between a preset or game and the name of its own.
pub(super) const SEPARATOR: &str = "::";

/// A whole checked program.
#[derive(Debug, Clone)]
pub struct Program {
    /// What `forget` takes back and `inherit` hands on: presets, by number, with the attributes that they state of
    /// others than their activations.
    pub stated: Vec<(i64, AttrId)>,
    pub sources: Vec<Source>,
    /// For each source the number of the preset's file that it belongs to, if it is a preset's.
    pub owners: Vec<Option<u16>>,
    /// Domains and attributes; shared with the sessions that run under the program.
    pub schema: Arc<Schema>,
    pub relations: Vec<Relation>,
    pub rules: Vec<Rule>,
    /// Relations grouped so that each depends, through negation and aggregates, only on earlier
    /// strata. Inputs are in none. Static strata come first. Relations of one stratum are mutually
    /// recursive (or a single relation).
    pub strata: Vec<Stratum>,
    pub actions: Vec<Action>,
    /// `.decl ... text "..."`: how rows of a relation are written, where they are texts.
    pub row_texts: HashMap<RelId, Template>,
    /// In text order.
    pub reactions: Vec<Reaction>,
    /// The stages that reactions run in, first to last; at least one.
    pub stages: Vec<Stage>,
    /// The events that reactions may raise and react to.
    pub events: Vec<DeclaredEvent>,
    /// `.repetition rel, ...`: the relations whose rows together say when two positions are the same.
    pub repetition: Vec<RelId>,
    /// `.input ... lasting`: the attributes that a rewind of the game leaves as they are.
    pub lasting: Vec<AttrId>,
    /// `.input ... until turn` and `until action`: the attributes whose facts expire.
    pub expiry: Expiry,
    /// What reactions ask for by `was`; each has an input of its own, which no rule can name.
    pub was: Vec<Was>,
    /// `.trial NAME(...) of ACTION`: relations whose rows are found by playing actions out.
    pub trials: Vec<Tried>,
    /// `.meta key "value"` lines, in text order.
    pub meta: Vec<Meta>,
    /// The texts that rules mention.
    pub texts: Vec<String>,
    /// The relations by what they are called in the program, but for those that the engine itself adds.
    pub relation_names: HashMap<String, RelId>,
    /// For each source the preset or game that it belongs to, if that has names of its own.
    pub scopes: Vec<Option<String>>,
    /// What sentences call members of domains that have words for it: `ne "north-east"`.
    pub words: HashMap<(DomainId, i64), String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    pub key: String,
    pub value: String,
    pub span: Span,
}

/// An attribute as it was before the action under way. While an action or event happens whose reactions ask
/// for it, its facts are those that the attribute had when it began; at all other times there are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Was {
    pub of: AttrId,
    pub before: AttrId,
}

/// The attributes whose facts expire.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expiry {
    /// The attribute that says whose turn it is, if some facts go with the turn.
    pub turn: Option<AttrId>,
    pub until_turn: Vec<AttrId>,
    pub until_action: Vec<AttrId>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Relation {
    pub name: String,
    pub columns: Vec<Column>,
    pub role: Role,
    /// `key`: the last column is a function of the others.
    pub functional: bool,
    /// Other files may add clauses.
    pub open: bool,
    /// The sentence, with `{column}` placeholders: `"{p} attacks {t}"`. Empty if none was given.
    pub sentence: String,
    /// `else "..."`: what it means that there is no such row. Empty if none was given.
    pub denial: String,
    pub span: Span,
    /// The rules that conclude this relation, in text order.
    pub rules: Vec<RuleId>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    Input(Input),
    /// Depends on nothing but other statics: computed once, at load.
    Static,
    /// A static that the loader itself provides (`file`, `rank` of a grid domain), as tuples.
    Builtin(Vec<Vec<i64>>),
    Derived,
    /// Neither facts nor rules say it: the engine hands its rows over.
    Given(Given),
}

/// What the rows of a relation are that is handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// `was R(...)` of a derived relation: its rows before the action or event under way. There are none at
    /// other times. No rule can name it.
    Before(RelId),
    /// Found by playing actions out.
    Trial(TrialId),
}

/// `.trial NAME(...) of ACTION from REL where BODY`: holds of the arguments of those actions that may be tried
/// (and are rows of `from`) that can be taken, as far as they are played out, and after which the body holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    pub id: TrialId,
    pub rel: RelId,
    pub action: ActionId,
    pub from: Option<RelId>,
    /// An event that no rule can name, with a reaction that has the body: it reacts where the body holds.
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
    /// What it says to players, with its variables in braces.
    pub because: Option<Box<str>>,
    /// The variables that its `.plan` has looked for first, in that order.
    pub order: Vec<VarId>,
    pub span: Span,
}

/// A variable of one rule. Names that the front end made for nested expressions start with `_`.
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
    /// `_`, in body atoms only: some value. Under negation: no value at all.
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
    /// Every variable of a negated atom is bound by the rest of the body.
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

/// `result = fold { exprs : body }`.
///
/// Variables of `body` that also occur outside the aggregate are bound before it is computed (it
/// counts within one group); all others are local. The body's distinct solutions, as assignments
/// of its *named* local variables, are folded; `_` does not multiply solutions.
/// An aggregate has no value if an expr has none for some solution, or a sum is no integer.
/// `count` has no exprs; `sum` one; `min` and `max` one or more, compared left to right, with as
/// many results. `min` and `max` of nothing fail; `count` and `sum` of nothing are 0.
/// An unbound variable among the results is bound, others are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    pub fold: Fold,
    pub exprs: Vec<Expr>,
    pub body: Vec<Literal>,
    /// Variables and constants; never a wildcard.
    pub results: Vec<Term>,
    /// The variables that occur in `body` only. Those made for nested expressions are among them:
    /// being functions of the named ones, they do not multiply solutions.
    pub locals: Vec<VarId>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stratum {
    pub relations: Vec<RelId>,
    /// A relation of this stratum depends on a relation of this stratum.
    pub recursive: bool,
    /// All its relations are statics.
    pub is_static: bool,
}

/// A stage of the order in which reactions run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    pub name: String,
    /// Where it was declared first.
    pub span: Span,
}

/// `.event damage(target: Entity, amount: Int) "..."`: something that reactions or the host raise.
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
/// What happens at an event goes by stages, and in a stage by owners: first the files without an
/// owner, then each file that is a preset's. The reactions of one owner in one stage are a batch:
/// their bodies are solved on the facts as they are when the batch begins; its effects are then
/// applied in text order, so of two `set`s of one fact the later stands. A body's solutions differ
/// in the variables that the parameters and effects name, and go by their ascending values.
#[derive(Debug, Clone, PartialEq)]
pub struct Reaction {
    pub event: Event,
    pub stage: StageId,
    /// The source of the preset that it belongs to; `None` for core and game.
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

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// `set at(p, t)`: the input's fact gets the value in the last argument (a flag: true).
    Set { rel: RelId, args: Vec<Expr> },
    /// `retract at(p)`, `retract ep()`: the input's fact goes; key columns only.
    Retract { rel: RelId, key: Vec<Expr> },
    /// `remove p`: every fact of the entity goes.
    Remove { entity: Expr },
    /// `forget x`: every fact goes that a preset states; `forget x of p`: those about one entity or member of a domain.
    Forget { preset: VarId, of: Option<VarId> },
    /// `inherit p from o`: an entity has what presets state of another, unless it has something there itself.
    Inherit { to: VarId, from: VarId },
    /// `spawn x`: the variable is a new entity for the effects after it.
    Spawn { var: VarId },
    /// `raise damage(q, 1)`: the event happens when the batch has been applied.
    Raise { event: EventId, args: Vec<Expr> },
    /// `stop`: the batches of this event that follow do not run.
    Stop,
    /// `pass damage(q, n - 1)`: the batches of this event that follow see these arguments.
    Pass { args: Vec<Expr> },
    /// `veto "..."`: the action does not happen; nothing has changed.
    Veto { message: Message },
    /// `emit flash(s, 500)`: for displays of the game; no reaction sees it.
    Emit { event: EventId, args: Vec<Expr> },
    /// `note "..."`: a line in the record of the action.
    Note { message: Message },
    /// `rewind 2`: when all is done, the game goes back so many whole turns.
    Rewind { turns: Expr },
    /// `call bite(p, n)`: code that the host has registered for the preset does the rest.
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
    /// The type of what a comparison of the rule compares.
    pub fn compared(&self, compare: &Compare) -> Type {
        let lone = |expr: &Expr| match expr {
            Expr::Var(var) => self.vars.get(usize::from(var.0)).map(|it| it.ty),
            Expr::Const(_) | Expr::Binary(..) => None,
        };
        lone(&compare.lhs).or_else(|| lone(&compare.rhs)).unwrap_or(Type::Int)
    }
}

impl Reaction {
    /// Whether its body asks for rows of a relation, or for their absence.
    pub fn asks_for(&self, rel: RelId) -> bool {
        self.body.iter().any(|it| matches!(it, Literal::Atom(atom) if atom.rel == rel))
    }

    /// The variables that distinguish the solutions of the body, ascending: those of parameters and
    /// those that effects need, without the ones that effects make.
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

    /// The relations of that name: the one of all files, and those that presets have for themselves.
    pub fn relations_called(&self, name: &str) -> impl Iterator<Item = RelId> {
        let is_it = move |it: &Relation| it.name.rsplit(SEPARATOR).next() == Some(name);
        (0..).map(RelId).zip(&self.relations).filter(move |it| is_it(it.1)).map(|it| it.0)
    }

    /// The relations that rule files declare, and not those that the engine itself adds.
    pub fn declared(&self) -> impl Iterator<Item = &Relation> {
        let all = (0..).map(RelId).zip(&self.relations);
        all.filter(|it| !self.is_hidden(it.0)).map(|it| it.1)
    }

    /// What a name of a file is called in the program, if it is one of the file's own preset or game.
    fn own_name(&self, source: u16, name: &str) -> Option<String> {
        let scope = self.scopes.get(usize::from(source))?.as_ref()?;
        Some(format!("{scope}{SEPARATOR}{name}"))
    }

    /// What something that is called so in the program is called in a file; none if it is another preset's own.
    pub fn name_in<'n>(&self, source: u16, full: &'n str) -> Option<&'n str> {
        let Some((of, name)) = full.rsplit_once(SEPARATOR) else { return Some(full) };
        let scope = self.scopes.get(usize::from(source))?.as_ref()?;
        (scope == of).then_some(name)
    }

    /// The relation that a name means in a file.
    pub fn relation_in(&self, source: u16, name: &str) -> Option<RelId> {
        let own = self.own_name(source, name).and_then(|it| self.relation_named(&it));
        own.or_else(|| self.relation_named(name))
    }

    /// The event that a name means in a file.
    pub fn event_in(&self, source: u16, name: &str) -> Option<EventId> {
        let own = self.own_name(source, name).and_then(|it| self.event_named(&it));
        own.or_else(|| self.event_named(name))
    }

    /// The domain that a name means in a file.
    pub fn domain_in(&self, source: u16, name: &str) -> Option<DomainId> {
        let own = self.own_name(source, name).and_then(|it| self.schema.domain_named(&it));
        own.or_else(|| self.schema.domain_named(name))
    }

    /// The attribute that a name means in a file.
    pub fn attribute_in(&self, source: u16, name: &str) -> Option<AttrId> {
        let own = self.own_name(source, name).and_then(|it| self.schema.attribute_named(&it));
        own.or_else(|| self.schema.attribute_named(name))
    }

    /// The relation that is meant by a name from outside of all files: a preset's own relation may go
    /// without the preset's name if no other is called so.
    pub fn relation_meant(&self, name: &str) -> Option<RelId> {
        self.relation_named(name).or_else(|| match self.full_names(name).as_slice() {
            [only] => self.relation_named(only),
            _ => None,
        })
    }

    /// The relations that presets have for themselves under a name, by their full names.
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

    /// What an event is called in rules: the action's or the event's name, or `any`.
    pub fn event_name(&self, event: Event) -> &str {
        match event {
            Event::Action(id) => &self.relation(self.action(id).rel).name,
            Event::Raised(id) => &self.event(id).name,
            Event::Any => "any",
        }
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

    /// What sentences call a value, if its domain has words for it.
    pub fn word(&self, ty: Type, raw: i64) -> Option<&str> {
        match ty {
            Type::Domain(id) => self.words.get(&(id, raw)).map(String::as_str),
            Type::Int | Type::Text => None,
        }
    }

    /// The value of a fact in words.
    pub fn fact_value_name(&self, attr: AttrId, raw: i64) -> String {
        match self.schema.attribute(attr).ty {
            AttrType::Member(id) => self.schema.domain(id).member_name(raw),
            AttrType::Int | AttrType::Text | AttrType::Entity => raw.to_string(),
        }
    }

    /// Whether a body asks how something was before the action.
    pub fn asks_for_before(&self, body: &[Literal]) -> bool {
        body.iter().any(|literal| match literal {
            Literal::Atom(atom) => self.is_hidden(atom.rel),
            Literal::Compare(_) => false,
            Literal::Aggregate(aggregate) => self.asks_for_before(&aggregate.body),
        })
    }

    /// The preset that a file, by its number, is or is a part of.
    pub fn preset_of(&self, source: u16) -> Option<&str> {
        let mut of_file = self.meta.iter().filter(|it| it.span.source == source);
        of_file.find(|it| matches!(it.key.as_str(), "preset" | "part")).map(|it| it.value.as_str())
    }

    /// Whether a relation is one that no rule can name, since it holds what was before an action.
    pub fn is_hidden(&self, rel: RelId) -> bool {
        match self.relation(rel).role {
            Role::Input(input) => self.is_before(input.attr()),
            Role::Given(Given::Before(_)) => true,
            Role::Static | Role::Builtin(_) | Role::Derived | Role::Given(Given::Trial(_)) => false,
        }
    }

    /// Whether an attribute is one that holds what was before an action.
    pub fn is_before(&self, attr: AttrId) -> bool {
        self.was.iter().any(|it| it.before == attr)
    }

    /// `attacks(#3, e4)`.
    pub fn tuple_name(&self, rel: RelId, tuple: &[i64]) -> String {
        let relation = self.relation(rel);
        self.row_name(&relation.name, &relation.columns, tuple)
    }

    /// `move(#21, e4)`, with the arguments that are not listed where they are given.
    pub fn action_name(&self, action: ActionId, args: &[i64]) -> String {
        let action = self.action(action);
        self.row_name(&self.relation(action.rel).name, &action.columns, args)
    }

    fn row_name(&self, name: &str, columns: &[Column], row: &[i64]) -> String {
        let args = columns.iter().zip(row).map(|(column, &raw)| self.value_name(column.ty, raw));
        format!("{name}({})", args.collect::<Vec<String>>().join(", "))
    }
}
