//! Rules: their text, and the checked program.
//!
//! This layer turns rule files into a [`Program`]. It must not know how rules run, nor chess.

mod action;
mod action_syntax;
mod ast;
mod body_syntax;
mod check;
mod column;
mod depends;
mod diagnostic;
mod document;
mod expression;
mod ids;
mod imply;
mod input;
mod lexer;
pub mod limits;
mod meta;
mod mistake;
mod operator;
mod program;
mod reader;
mod source;
mod stated;
mod stratify;
mod syntax;
pub mod tree;
mod variables;

pub use check::{compile, compile_sharing};
pub use depends::{Attributes, Dependencies, relations_of, with_consequences, writes};
pub use diagnostic::{Diagnostic, Diagnostics, Label, Place};
pub use document::{attribute_name, kind, meaning, signature};
pub use limits::LimitError;
pub use meta::{InputHead, inputs, metas};
pub(crate) use mistake::plural;
pub use program::{
    Action, ActionId, Aggregate, Arith, Atom, Column, Compare, DeclaredEvent, Effect, Event,
    EventId, Expiry, Expr, Fold, Given, Input, Legality, Literal, Message, MessagePart, Meta, Op,
    Program, Reaction, RelId, Relation, Role, Rule, RuleId, Source, Span, Stage, StageId, Stratum,
    Template, TemplatePart, Term, TrialId, TrialRelation, Type, Unlisted, Until, Var, VarId, Was,
};
pub use reader::Reader;
pub(crate) use source::template;
pub use source::{
    EMBEDDED, embedded_folder, embedded_sources, included, load_folder, load_path, with_line_feeds,
};
pub use variables::term_vars;
