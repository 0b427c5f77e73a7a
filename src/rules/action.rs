//! Actions of a checked program: their listed and unlisted arguments, and their notation.
//!
//! Deliberately absent: whether an action is legal (`moves`).

use std::borrow::Cow;

use super::column::Column;
use super::ids::{ActionId, RelId, StageId};
use super::source::Span;

/// A kind of action that a player may take. The rows of its relation are the actions that are legal by the rules; some
/// of them may have to be played out as well (`legality`).
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    pub id: ActionId,
    pub rel: RelId,
    /// `as ACTION`: it also counts as that action, whose reactions react to it, too.
    pub like: Option<ActionId>,
    /// `rank N`: if a text means several legal actions, the one of the lowest rank is taken.
    pub rank: i64,
    /// `pseudo_legal REL`: the relation (same columns) of pseudo-legal actions: legal except for the safety of royal
    /// pieces; playing out starts from these. `None`: the action's own relation.
    pub pseudo_legal: Option<RelId>,
    /// `simulates REL`: rows of this relation (same columns) are decided by playing them out, even if
    /// `legality` is by rules.
    pub simulates: Option<RelId>,
    /// `refusals REL`: the declared reasons why an action is not legal. The relation has the action's
    /// columns and one more, the reason, which is a member of a domain. Of several reasons the first in the
    /// domain's order counts.
    pub refusals: Option<RelId>,
    pub legality: Legality,
    /// `until STAGE`: playing it out ends after this stage of its reactions. What later stages write cannot
    /// make it illegal, but their vetoes can.
    pub until: Option<StageId>,
    /// `given NAME: TYPE = DEFAULT from REL`: arguments beyond the relation's columns. They are not listed
    /// with the actions, but may be given when one is taken.
    pub unlisted: Vec<Unlisted>,
    /// The columns of the relation, then the unlisted arguments, as reactions see them.
    pub columns: Vec<Column>,
    /// How the action is written in UCI, for example `{at(piece)}{to}{letter(promotion)}`.
    pub uci: Template,
    /// How it is written in SAN; `None` for the usual piece-and-square form.
    pub san: Option<Template>,
    /// `also "..."`: other texts that mean it, which are read but never written.
    pub also: Vec<Template>,
    pub span: Span,
}

impl Action {
    /// The relation of its pseudo-legal rows.
    pub fn candidates(&self) -> RelId {
        self.pseudo_legal.unwrap_or(self.rel)
    }

    /// The number of arguments that are columns of the relation.
    pub fn listed(&self) -> usize {
        self.columns.len() - self.unlisted.len()
    }

    /// The arguments without the unlisted ones: the row of the relation.
    pub fn row<'a>(&self, args: &'a [i64]) -> &'a [i64] {
        args.get(..self.listed()).unwrap_or(args)
    }

    /// The values of the unlisted arguments; empty if they are left out, as [`shortest`](Self::shortest) leaves out
    /// defaults.
    pub fn given<'a>(&self, args: &'a [i64]) -> &'a [i64] {
        args.get(self.listed()..).unwrap_or_default()
    }

    /// All arguments, with defaults for those that are not given.
    pub fn whole<'a>(&self, args: &'a [i64]) -> Cow<'a, [i64]> {
        if args.len() >= self.columns.len() {
            return Cow::Borrowed(args);
        }
        let defaults = self.unlisted.iter().map(|it| it.default);
        Cow::Owned(args.iter().copied().chain(defaults.skip(self.given(args).len())).collect())
    }

    /// The arguments, without the unlisted ones if these are the defaults.
    pub fn shortest<'a>(&self, args: &'a [i64]) -> &'a [i64] {
        let defaults = self.unlisted.iter().map(|it| it.default);
        if self.given(args).iter().copied().eq(defaults) { self.row(args) } else { args }
    }
}

/// An argument of an action that is not a column of its relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlisted {
    pub column: Column,
    pub default: i64,
    /// The relation whose last column has the values that may be given beside the default. It has no other
    /// columns, or those of the action's relation before the last one. `None`: all values of the type.
    pub from: Option<RelId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Legality {
    /// The relation has the legal actions.
    Rules,
    /// A row of the relation is legal if playing it out leaves royal pieces safe.
    Simulate,
    /// No such action is legal; only trials play them out.
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
    /// part's value as its only key.
    Lookup(RelId, Box<TemplatePart>),
    /// `{manner(piece, to)}`: the same with the values of several columns as its keys.
    Row(RelId, Vec<usize>),
    /// `{at(piece) among kind(piece), to}`, in SAN: the part of the square that disambiguates the action
    /// among the legal ones with the same values of `kind(piece), to`; nothing if there are no others.
    Among(Box<TemplatePart>, Vec<TemplatePart>),
    /// `[...]`: left out if a look-up in it finds no value, or if it has unlisted arguments and all of them are the
    /// defaults.
    Optional(Vec<TemplatePart>),
}

impl TemplatePart {
    /// Whether the part writes the value of a column, or one that is looked up with it. Keys of `among` are not written.
    pub fn mentions(&self, column: usize) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Column(at) => *at == column,
            Self::Row(_, columns) => columns.contains(&column),
            Self::Lookup(_, inner) | Self::Among(inner, _) => inner.mentions(column),
            Self::Optional(all) => all.iter().any(|it| it.mentions(column)),
        }
    }

    /// Whether the column can be read back from the part's text: not from a row, which has several keys.
    pub fn tells(&self, column: usize) -> bool {
        match self {
            Self::Row(..) => false,
            Self::Lookup(_, inner) | Self::Among(inner, _) => inner.tells(column),
            Self::Optional(all) => all.iter().any(|it| it.tells(column)),
            part => part.mentions(column),
        }
    }
}
