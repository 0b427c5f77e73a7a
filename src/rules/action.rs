//! Actions of a checked program: what is listed of them, what may be given beside it, and how they are written.
//!
//! Deliberately absent: which of them are legal, which rows say.

use std::borrow::Cow;

use super::column::Column;
use super::ids::{ActionId, RelId, StageId};
use super::source::Span;

/// A kind of action that a player may take. Its relation holds the legal ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    pub id: ActionId,
    pub rel: RelId,
    /// `as ACTION`: it is such an action as well. Reactions to that one are reactions to it.
    pub like: Option<ActionId>,
    /// `rank N`: of several actions that a text means, those of a lower rank come first.
    pub rank: i64,
    /// `tries REL`: the relation (same columns) of pseudo-legal actions: legal but for the safety of
    /// royal pieces; what simulation starts from. `None`: the action's own relation.
    pub pseudo_legal: Option<RelId>,
    /// `simulates REL`: rows of this relation (same columns) are decided by playing them out, also
    /// where `legality` is by rules.
    pub simulates: Option<RelId>,
    /// `refusals REL`: why such an action is not legal, as the rules say it. The relation has the action's
    /// columns and one more, the reason, which is a member of a domain; of several the first counts.
    pub refusals: Option<RelId>,
    /// How the engine decides safety for this kind: derived by the rules, or by playing it out.
    pub legality: Legality,
    /// `until STAGE`: playing it out ends after this stage of its reactions. What later stages write cannot make
    /// it illegal; that they refuse it can.
    pub until: Option<StageId>,
    /// `given NAME: TYPE = DEFAULT from REL`: arguments beyond the relation's columns. They are not on any list of
    /// actions; they may be given when one is taken.
    pub unlisted: Vec<Unlisted>,
    /// The columns of the relation, then those of the arguments that are not listed: what reactions see.
    pub columns: Vec<Column>,
    /// How the action is written in UCI, for example `{at(piece)}{to}{letter(promotion)}`.
    pub uci: Template,
    /// How it is written in SAN; `None` for the usual piece-and-square form.
    pub san: Option<Template>,
    /// `also "..."`: other texts that mean it, which are read and never written.
    pub also: Vec<Template>,
    pub span: Span,
}

impl Action {
    /// The relation of its pseudo-legal rows.
    pub fn candidates(&self) -> RelId {
        self.pseudo_legal.unwrap_or(self.rel)
    }

    /// The columns of the relation.
    pub fn listed(&self) -> usize {
        self.columns.len() - self.unlisted.len()
    }

    /// The row of the relation that an action is, without the arguments that are not listed.
    pub fn row<'a>(&self, args: &'a [i64]) -> &'a [i64] {
        args.get(..self.listed()).unwrap_or(args)
    }

    /// The values of the arguments that are not listed; nothing if all of them are the defaults.
    pub fn given<'a>(&self, args: &'a [i64]) -> &'a [i64] {
        args.get(self.listed()..).unwrap_or_default()
    }

    /// All arguments: those that are not given are the defaults.
    pub fn whole<'a>(&self, args: &'a [i64]) -> Cow<'a, [i64]> {
        if args.len() >= self.columns.len() {
            return Cow::Borrowed(args);
        }
        let missing = self.columns.len() - args.len();
        let defaults = self.unlisted.iter().map(|it| it.default);
        let rest = defaults.skip(self.unlisted.len().saturating_sub(missing));
        Cow::Owned(args.iter().copied().chain(rest).collect())
    }

    /// The arguments without those that are not listed, if these are the defaults.
    pub fn shortest<'a>(&self, args: &'a [i64]) -> &'a [i64] {
        let defaults = self.unlisted.iter().map(|it| it.default);
        if self.given(args).iter().copied().eq(defaults) { self.row(args) } else { args }
    }
}

/// An argument of an action that is no column of its relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlisted {
    pub column: Column,
    /// What it is unless it is given.
    pub default: i64,
    /// The values that may be given beside it: the last column of a relation, which has that column alone, or
    /// the columns of the action before it. `None`: all of its type.
    pub from: Option<RelId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Legality {
    /// Its own relation says all.
    Rules,
    /// It is legal where playing it out leaves royal pieces safe.
    Simulate,
    /// It is never legal: only trials play it out.
    Never,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(pub Vec<TemplatePart>);

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplatePart {
    Text(String),
    /// `{to}`: the member name (or text, or number) of the action's column with that index.
    Column(usize),
    /// `{at(piece)}`, `{at(partner(rook))}`: a functional relation looked up with the inner
    /// piece's value as its only key.
    Lookup(RelId, Box<TemplatePart>),
    /// `{manner(piece, to)}`: the same with the values of several columns as its keys.
    Row(RelId, Vec<usize>),
    /// `{at(piece) among kind(piece), to}`, in SAN: as much of the square as tells the action from the other
    /// legal ones that have the same values there; nothing if there are none.
    Among(Box<TemplatePart>, Vec<TemplatePart>),
    /// `[...]`: left out where it says nothing: a look-up in it finds no value, or all that it tells of arguments
    /// that are not listed is their defaults.
    Optional(Vec<TemplatePart>),
}
