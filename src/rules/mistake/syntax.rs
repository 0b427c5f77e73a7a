//! `E0xx`: text that cannot be read.
//!
//! Deliberately absent: what is wrong with the meaning of names (`declaration`, `body`).

use super::super::source::Span;
use super::{Diagnostic, did_you_mean};
use crate::facts::nearest;

pub(crate) fn strange_text(span: Span, text: &str) -> Diagnostic {
    let found = text.get(span.start as usize..span.end as usize).unwrap_or("");
    let first = found.chars().next();
    // What is not seen, or looks like another sign, is told by its number.
    let number = first.filter(|it| !it.is_ascii_graphic());
    let number = number.map(|it| format!(" (U+{:04X})", u32::from(it))).unwrap_or_default();
    let label = format!("not a word, number or sign{number}");
    let it = Diagnostic::new("E001", "this is not rule text", span, label);
    match first {
        Some('\u{2018}' | '\u{2019}' | '\u{201c}' | '\u{201d}') => {
            it.help("constants and texts have straight quotes: `'white`, `\"White\"`")
        }
        Some('\'') => {
            it.help("a constant begins with an apostrophe and ends without one: `'white`")
        }
        Some(';') => it
            .help("literals and effects have `,` between them; what else may hold is another rule"),
        _ => it,
    }
}

pub(crate) fn open_text(span: Span) -> Diagnostic {
    Diagnostic::new("E002", "a text does not end", span, "no closing `\"` on this line")
}

pub(crate) fn expected(what: &str, found: &str, span: Span) -> Diagnostic {
    Diagnostic::new("E003", format!("expected {what}, found `{found}`"), span, "not expected here")
}

pub(crate) fn ends_early(what: &str, last: Span) -> Diagnostic {
    Diagnostic::new("E004", format!("expected {what}"), last, "after this")
}

pub(crate) fn unknown_directive(found: &str, known: &[&str], span: Span) -> Diagnostic {
    let near = nearest(found, known.iter().copied());
    let it = Diagnostic::new("E005", format!("there is no directive `{found}`"), span, "unknown");
    it.help(did_you_mean(near).unwrap_or(format!("directives are {}", known.join(", "))))
}

pub(crate) fn unknown_option(found: &str, known: &[&str], span: Span) -> Diagnostic {
    // `tries` is the earlier word for `pseudo_legal`.
    let known: Vec<&str> = known.iter().copied().filter(|it| *it != "tries").collect();
    let near = nearest(found, known.iter().copied());
    let it = Diagnostic::new("E006", format!("`{found}` means nothing here"), span, "unknown");
    it.help(did_you_mean(near).unwrap_or(format!("possible here: {}", known.join(", "))))
}

pub(crate) fn number_out_of_range(number: &str, span: Span) -> Diagnostic {
    let message = format!("the number {number} is out of range");
    let label = format!("numbers go from -{0} to {0}", i64::MAX);
    Diagnostic::new("E007", message, span, label)
}

pub(crate) fn quoted_member(found: &str, span: Span) -> Diagnostic {
    let bare = found.trim_start_matches('\'');
    Diagnostic::new("E008", "members are listed without an apostrophe", span, "quoted")
        .help(format!("write `{bare}`"))
}

pub(crate) fn negated_head(span: Span) -> Diagnostic {
    let message = "a rule cannot conclude that something is not so";
    Diagnostic::new("E009", message, span, "negated conclusion")
        .help("what no rule concludes is false; remove the `!`, or the rule")
}

pub(crate) fn second_if(span: Span) -> Diagnostic {
    Diagnostic::new("E010", "a second `:-` in one rule", span, "unexpected")
        .help("a rule has one `:-`; the rule before may end with `,` instead of `.`")
}

pub(crate) fn no_parentheses(name: &str, span: Span) -> Diagnostic {
    let message = format!("`{name}` lacks its parentheses");
    Diagnostic::new("E011", message, span, "no `(` after this")
        .help(format!("write `{name}(...)`, or `{name}()` if nothing stands between them"))
}

pub(crate) fn negated_expression(span: Span) -> Diagnostic {
    Diagnostic::new("E012", "`!` negates atoms only", span, "not before an atom")
        .help("write `a != b` for a comparison, and a relation of its own for anything larger")
}

pub(crate) fn spelt_negation(span: Span) -> Diagnostic {
    Diagnostic::new("E012", "`!` negates an atom", span, "means nothing here")
        .help("write `!` in its place, right before the atom")
}

pub(crate) fn call_in_expression(name: &str, span: Span) -> Diagnostic {
    let message = format!("`{name}(...)` is not a value");
    let help = match name {
        "count" => "an aggregate has braces: `count { body }`".to_owned(),
        "sum" | "min" | "max" => format!("an aggregate has braces: `{name} {{ e : body }}`"),
        _ => format!("name its value first: `{name}(..., v)`, then use `v`"),
    };
    Diagnostic::new("E013", message, span, "an atom inside an expression").help(help)
}

pub(crate) fn unknown_fold(name: &str, span: Span) -> Diagnostic {
    let near = nearest(name, ["count", "sum", "min", "max"]);
    let it = Diagnostic::new("E014", format!("there is no aggregate `{name}`"), span, "unknown");
    it.help(did_you_mean(near).unwrap_or("aggregates are count, sum, min and max".into()))
}

pub(crate) fn unknown_effect(name: &str, known: &[&str], span: Span) -> Diagnostic {
    let near = nearest(name, known.iter().copied());
    let it = Diagnostic::new("E015", format!("there is no effect `{name}`"), span, "unknown");
    it.help(did_you_mean(near).unwrap_or(format!("effects are {}", known.join(", "))))
}

pub(crate) fn stray_plan(span: Span) -> Diagnostic {
    let it =
        Diagnostic::new("E016", "`.plan` must follow a rule", span, "no rule right before this");
    it.help(
        "put it behind the rule whose variables it names: `a(x, y) :- b(x), c(x, y). .plan x, y`",
    )
}

/// `of` is `action`, `relation` or `trial`.
pub(crate) fn part_twice(of: &str, part: &str, span: Span, first: Span) -> Diagnostic {
    let message = format!("the {of} has `{part}` twice");
    let help = match of {
        "action" => "an action has each part once, except `given` and `also`: leave one out",
        _ => "leave one out",
    };
    Diagnostic::new("E017", message, span, "again here").and(first, "first here").help(help)
}

/// Adds that a `%` on this line was not read as a comment, which the author may have meant.
pub(crate) fn after_remainder(it: Diagnostic) -> Diagnostic {
    it.note("a `%` right after a value is the remainder; put the comment on a line of its own")
}
