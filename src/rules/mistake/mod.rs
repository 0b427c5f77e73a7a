//! The mistakes that rule text can contain: constructors, each with the stable code of its kind.
//!
//! `E0xx` syntax, `E1xx` declarations, `E2xx` names and types, `E3xx` variables, `E4xx` aggregates,
//! `E5xx` the program as a whole, `E6xx` reactions, `L0xx` limits. Variants of one kind share a code. A code that is no
//! longer in use is never given to another kind.
//! Deliberately absent: finding the mistakes, and showing them.

mod body;
mod declaration;
mod syntax;
mod whole;

pub(super) use body::*;
pub(super) use declaration::*;
pub(super) use syntax::*;
pub(super) use whole::*;

use super::diagnostic::Diagnostic;
use super::limits::LimitError;
use super::source::Span;

fn did_you_mean(near: Option<&str>) -> Option<String> {
    near.map(|it| format!("did you mean `{it}`?"))
}

/// A number with its noun: `1 column`, `2 columns`, `3 plies`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    match (count, noun.strip_suffix("ly")) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}lies"),
        (_, None) => format!("{count} {noun}s"),
    }
}

pub(super) fn limit(error: LimitError, span: Span) -> Diagnostic {
    let label = match error {
        // These have a minimum, too.
        LimitError::Board | LimitError::Entities => "out of range",
        _ => "this is too much",
    };
    Diagnostic::new(error.code(), error.to_string(), span, label)
}
