//! What follows, as text and as a checked program.
//!
//! This layer turns rule files into a [`Program`]. It must not know how rules run, nor chess.

mod program;

pub use program::{
    Action, ActionId, Aggregate, Arith, Atom, Column, Compare, Effect, Event, Expr, Fold, Input,
    Legality, Literal, Meta, Op, Piece, Program, Reaction, RelId, Relation, Role, Rule, RuleId,
    Source, Span, Stratum, Template, Term, Type, Var, VarId,
};
