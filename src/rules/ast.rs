//! The syntax tree of rule text, with unresolved names and with places.
//!
//! Deliberately absent: types, and everything that depends on more than one clause.

use super::action::Legality;
use super::input::Until;
use super::operator::{Arith, Fold, Op};
use super::source::Span;

/// A word, or a text without its quotes, and its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name<'t> {
    pub(super) text: &'t str,
    pub(super) span: Span,
}

impl<'t> Name<'t> {
    /// A part of its text, from one byte to another.
    pub(super) fn part(self, from: usize, to: usize) -> Self {
        let Span { start, .. } = self.span;
        let span = Span { start: start + from as u32, end: start + to as u32, ..self.span };
        Self { text: &self.text[from..to], span }
    }
}

/// One source's items, and the names of items that could not be read.
#[derive(Debug, Default)]
pub(super) struct File<'t> {
    pub(super) items: Vec<Item<'t>>,
    /// Names whose declarations or clauses were abandoned: no further mistakes are reported about them.
    pub(super) broken: Vec<&'t str>,
}

impl<'t> File<'t> {
    /// The value of its first `.meta` line of a key.
    pub(super) fn meta(&self, wanted: &str) -> Option<&'t str> {
        self.items.iter().find_map(|it| match it {
            Item::Meta { key, value, .. } if key.text == wanted => Some(value.text),
            _ => None,
        })
    }
}

/// An earlier name of a relation, and the present one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Alias<'t> {
    pub(super) old: Name<'t>,
    pub(super) new: Name<'t>,
}

#[derive(Debug)]
pub(super) enum Item<'t> {
    Domain(DomainDecl<'t>),
    Relation(RelationDecl<'t>),
    /// `.repetition wall, archer`: relations whose rows together tell when positions are the same.
    Repetition(Vec<Name<'t>>),
    /// `.export hp, shield`: names of a preset that others may use.
    Export(Vec<Name<'t>>),
    /// `.alias danger = attacked`.
    Alias(Alias<'t>),
    Meta {
        key: Name<'t>,
        value: Name<'t>,
        span: Span,
    },
    Stages(StagesDecl<'t>),
    Stage(StageDecl<'t>),
    /// `.event`: declared like a derived relation.
    Event(RelationDecl<'t>),
    Trial(Box<TrialDecl<'t>>),
    /// `.action NAME += PARTS`: more parts of an action.
    More(Box<MoreDecl<'t>>),
    Clause(Clause<'t>),
    Reaction(Reaction<'t>),
}

/// `.trial free(piece: Piece) of hop from loose where was turn(c), !untenable(c) "{piece} is free"`
#[derive(Debug)]
pub(super) struct TrialDecl<'t> {
    pub(super) relation: RelationDecl<'t>,
    pub(super) action: Name<'t>,
    /// The relation whose rows are played out; without it, all pseudo-legal ones.
    pub(super) from: Option<Name<'t>>,
    /// What stands behind `where`, as a reaction whose body it is. The reaction's arguments are the trial's columns: those
    /// that the body does not name are `_`.
    pub(super) condition: Reaction<'t>,
    pub(super) span: Span,
}

/// `.stages before, apply, after default apply`
#[derive(Debug)]
pub(super) struct StagesDecl<'t> {
    pub(super) names: Vec<Name<'t>>,
    pub(super) default: Option<Name<'t>>,
    pub(super) span: Span,
}

/// `.stage shield after absorb before wound`
#[derive(Debug)]
pub(super) struct StageDecl<'t> {
    pub(super) name: Name<'t>,
    pub(super) after: Name<'t>,
    pub(super) before: Option<Name<'t>>,
}

#[derive(Debug)]
pub(super) struct DomainDecl<'t> {
    pub(super) name: Name<'t>,
    pub(super) shape: Shape<'t>,
}

/// `ne "north-east"`: a member, and its name in sentences.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member<'t> {
    pub(super) name: Name<'t>,
    pub(super) words: Option<Name<'t>>,
}

#[derive(Debug)]
pub(super) enum Shape<'t> {
    Members(Vec<Member<'t>>),
    Extend(Vec<Member<'t>>),
    Grid(Number, Number),
    Entities(Number),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    pub(super) value: i64,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) struct RelationDecl<'t> {
    pub(super) name: Name<'t>,
    pub(super) columns: Vec<ColumnDecl<'t>>,
    pub(super) kind: RelationKind<'t>,
    pub(super) sentence: Option<Name<'t>>,
    /// `else "..."`: the sentence for the absence of a row.
    pub(super) denial: Option<Name<'t>>,
}

#[derive(Debug)]
pub(super) struct ColumnDecl<'t> {
    pub(super) name: Option<Name<'t>>,
    pub(super) ty: Name<'t>,
}

#[derive(Debug)]
pub(super) enum RelationKind<'t> {
    Input(InputDecl<'t>),
    Static {
        key: bool,
        open: bool,
    },
    /// With `text "..."`: the template for its rows as text.
    Derived {
        key: bool,
        open: bool,
        text: Option<Name<'t>>,
    },
    Action(ActionDecl<'t>),
}

/// `.action move += refusals move_refused`: further parts of an action that another file declares.
#[derive(Debug)]
pub(super) struct MoreDecl<'t> {
    pub(super) name: Name<'t>,
    pub(super) decl: ActionDecl<'t>,
}

#[derive(Debug)]
pub(super) struct InputDecl<'t> {
    pub(super) kind: InputKind,
    /// `of Side`: the domain whose members have the facts.
    pub(super) of: Option<Name<'t>>,
    pub(super) attr: Name<'t>,
    /// Whether its facts persist when the game is rewound.
    pub(super) lasting: bool,
    /// `until turn`, `until action`: when its facts expire, and the place of that declaration.
    pub(super) until: Option<(Until, Span)>,
    pub(super) default: Option<DefaultValue<'t>>,
    /// The default of a list, `= d4+e4`: its members after the first.
    pub(super) more: Vec<Name<'t>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputKind {
    Key,
    Flag,
    Game,
    /// `of DOMAIN`: facts of its members, `key` or `flag` by the number of columns.
    Of,
    /// `list`: an option that is several members of a domain.
    List,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum DefaultValue<'t> {
    Number(Number),
    Member(Name<'t>),
}

#[derive(Debug, Default, Clone)]
pub(super) struct ActionDecl<'t> {
    /// `as ACTION`: it also counts as that action.
    pub(super) like: Option<Name<'t>>,
    /// `rank N`: of several actions that a text means, the one of the lowest rank is taken.
    pub(super) rank: Option<Number>,
    /// `pseudo_legal REL`: the relation of its pseudo-legal rows.
    pub(super) pseudo_legal: Option<Name<'t>>,
    /// `simulates REL`: the relation of those rows that are played out even if legality is by rules.
    pub(super) simulates: Option<Name<'t>>,
    /// `refusals REL`: the relation of the reasons why rows are not legal.
    pub(super) refusals: Option<Name<'t>>,
    /// `legality simulate`, with the word: how it is decided whether its rows are legal.
    pub(super) legality: Option<(Legality, Name<'t>)>,
    /// `until STAGE`: what later stages write does not count when it is played out.
    pub(super) until: Option<Name<'t>>,
    /// Arguments that are not columns of its relation.
    pub(super) given: Vec<GivenDecl<'t>>,
    pub(super) uci: Option<Name<'t>>,
    pub(super) san: Option<Name<'t>>,
    /// `also "..."`: templates of further texts that are read, but never written.
    pub(super) also: Vec<Name<'t>>,
}

/// `given promotion: Kind = 'queen from promotable`: an argument with its default, and the relation of the values that it
/// may have.
#[derive(Debug, Clone)]
pub(super) struct GivenDecl<'t> {
    pub(super) name: Name<'t>,
    pub(super) ty: Name<'t>,
    pub(super) default: DefaultValue<'t>,
    pub(super) from: Option<Name<'t>>,
}

#[derive(Debug)]
pub(super) struct Clause<'t> {
    pub(super) head: Atom<'t>,
    pub(super) body: Vec<Literal<'t>>,
    /// `because "..."`: the rule's sentence for players, with its variables in braces.
    pub(super) because: Option<Name<'t>>,
    /// `.plan p, d`: the variables to bind first.
    pub(super) plan: Vec<Name<'t>>,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) struct Atom<'t> {
    pub(super) name: Name<'t>,
    /// The place of `was`, as in `was kind(p, k)`: the atom means what was so before the action.
    pub(super) was: Option<Span>,
    pub(super) args: Vec<Expr<'t>>,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) enum Literal<'t> {
    Atom { atom: Atom<'t>, negated: bool },
    Compare(Compare<'t>),
}

#[derive(Debug)]
pub(super) struct Compare<'t> {
    pub(super) lhs: Expr<'t>,
    pub(super) op: Op,
    pub(super) rhs: Expr<'t>,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) struct Expr<'t> {
    pub(super) kind: ExprKind<'t>,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) enum ExprKind<'t> {
    Var(&'t str),
    Wild,
    /// `'white`, without the apostrophe.
    Const(&'t str),
    Int(i64),
    Text(&'t str),
    Binary(Arith, Box<Expr<'t>>, Box<Expr<'t>>),
    /// `(r, s)`, the results of a fold.
    Tuple(Vec<Expr<'t>>),
    Aggregate(Box<Aggregate<'t>>),
}

#[derive(Debug)]
pub(super) struct Aggregate<'t> {
    pub(super) fold: Fold,
    pub(super) exprs: Vec<Expr<'t>>,
    pub(super) body: Vec<Literal<'t>>,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) struct Reaction<'t> {
    /// `None`: `on any`.
    pub(super) event: Option<Atom<'t>>,
    pub(super) stage: Option<Name<'t>>,
    pub(super) body: Vec<Literal<'t>>,
    pub(super) effects: Vec<Effect<'t>>,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) enum Effect<'t> {
    Set(Atom<'t>),
    Retract(Atom<'t>),
    Remove(Expr<'t>),
    /// `forget x of p`: removes the facts that preset `x` states of `p`; of everything, without `of`.
    Forget {
        preset: Name<'t>,
        /// An entity, or a member of a domain.
        of: Option<Name<'t>>,
    },
    /// `inherit p from o`.
    Inherit {
        to: Name<'t>,
        from: Name<'t>,
    },
    Spawn(Name<'t>),
    /// An event, which reactions react to.
    Raise(Atom<'t>),
    Stop(Span),
    /// The event that is reacted to, with new arguments for later batches.
    Pass(Atom<'t>),
    Veto(Name<'t>),
    /// An event that is only shown.
    Emit(Atom<'t>),
    Note(Name<'t>),
    Rewind(Expr<'t>),
    /// `call bite(p, n)`: a name and the variables passed to it.
    Call {
        name: Name<'t>,
        args: Vec<Name<'t>>,
    },
}

/// The names of variables of a body.
pub(super) fn names_of<'t>(body: &[Literal<'t>], names: &mut Vec<&'t str>) {
    for literal in body {
        match literal {
            Literal::Atom { atom, .. } => atom.args.iter().for_each(|it| names_in(it, names)),
            Literal::Compare(Compare { lhs, rhs, .. }) => {
                [lhs, rhs].iter().for_each(|it| names_in(it, names))
            }
        }
    }
}

fn names_in<'t>(expr: &Expr<'t>, names: &mut Vec<&'t str>) {
    match &expr.kind {
        ExprKind::Var(name) => names.push(name),
        ExprKind::Binary(_, lhs, rhs) => {
            names_in(lhs, names);
            names_in(rhs, names);
        }
        ExprKind::Tuple(all) => all.iter().for_each(|it| names_in(it, names)),
        ExprKind::Aggregate(it) => {
            it.exprs.iter().for_each(|it| names_in(it, names));
            names_of(&it.body, names);
        }
        ExprKind::Wild | ExprKind::Const(_) | ExprKind::Int(_) | ExprKind::Text(_) => {}
    }
}
