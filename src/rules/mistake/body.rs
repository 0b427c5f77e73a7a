//! `E2xx` names and types, `E3xx` variables, `E4xx` aggregates. Also `E142`: a name that a preset keeps for itself.
//!
//! Deliberately absent: mistakes of declarations (`declaration`), and of the program as a whole (`whole`).

use super::super::ast::Name;
use super::super::program::{Relation, Span};
use super::{Diagnostic, did_you_mean, plural};

pub(crate) fn unknown_relation(name: Name<'_>, near: Option<(&str, Option<Span>)>) -> Diagnostic {
    let message = format!("there is no relation `{}`", name.text);
    let it = Diagnostic::new("E201", message, name.span, "unknown");
    match near {
        Some((near, Some(span))) => {
            it.and(span, "this one?").help(format!("did you mean `{near}`?"))
        }
        Some((near, None)) => it.help(format!("did you mean `{near}`?")),
        None => it.help(match name.text.split_once("::") {
            Some((of, _)) => format!(
                "where `.meta requires \"{of}\"` stands, the names that {of} exports are known"
            ),
            None => "declare it with `.decl`, `.static` or `.input`".to_owned(),
        }),
    }
}

pub(crate) fn kept_name(name: Name<'_>, of: &str, declared: Span) -> Diagnostic {
    let message = format!("`{}` belongs to {of}, which keeps it for itself", name.text);
    let short = name.text.rsplit("::").next().unwrap_or_default();
    Diagnostic::new("E142", message, name.span, "not to be used here")
        .and(declared, "declared here")
        .help(format!("`.export {short}` in a file of {of} lets others use it"))
}

pub(crate) fn unknown_domain(name: Name<'_>, near: Option<&str>) -> Diagnostic {
    let message = format!("there is no domain `{}`", name.text);
    let it = Diagnostic::new("E202", message, name.span, "unknown");
    let help = did_you_mean(near).unwrap_or("declare it with `.domain`".into());
    it.help(help)
}

/// A name that no member of a domain has.
pub(crate) struct UnknownMember<'m> {
    pub(crate) name: &'m str,
    pub(crate) domain: &'m str,
    pub(crate) span: Span,
    /// The most similar name of a member.
    pub(crate) near: Option<&'m str>,
    /// Another domain, with a member of that name.
    pub(crate) elsewhere: Option<&'m str>,
    /// If the domain is a board.
    pub(crate) last_square: Option<String>,
    /// If the domain is not built in.
    pub(crate) declared: Option<Span>,
}

pub(crate) fn unknown_member(member: UnknownMember<'_>) -> Diagnostic {
    let UnknownMember { name, domain, span, near, elsewhere, last_square, declared } = member;
    let mut it =
        Diagnostic::new("E203", format!("{domain} has no member `{name}`"), span, "unknown");
    let is_new = declared.is_some() && elsewhere.is_none() && last_square.is_none();
    if let Some(declared) = declared {
        it = it.and(declared, format!("{domain} is declared here"));
    }
    it.notes.extend(last_square.map(|last| format!("squares go from `'a1` to `'{last}`")));
    it.notes.extend(elsewhere.map(|other| format!("{other} has a member of that name")));
    it.help = match near {
        Some(near) => Some(format!("did you mean `'{near}`?")),
        None => is_new.then(|| format!("`.domain {domain} += {{ {name} }}` adds it")),
    };
    it
}

pub(crate) fn entity_constant(name: &str, span: Span) -> Diagnostic {
    let message = format!("`'{name}` cannot be an entity: rules do not know entities by name");
    Diagnostic::new("E204", message, span, "an entity is needed").help("say which one by its facts")
}

pub(crate) fn arity(
    name: Name<'_>,
    wanted: usize,
    found: usize,
    span: Span,
    relation: &Relation,
) -> Diagnostic {
    let message = format!(
        "`{}` has {}, but {} given",
        name.text,
        plural(wanted, "column"),
        if found == 1 { "1 argument is".to_string() } else { format!("{found} arguments are") }
    );
    let columns: Vec<&str> = relation.columns.iter().map(|it| it.name.as_str()).collect();
    Diagnostic::new("E205", message, span, "wrong number of arguments")
        .and(relation.span, "declared here")
        .help(format!("write `{}({})`", name.text, columns.join(", ")))
}

pub(crate) fn type_clash(
    name: &str,
    new: &str,
    span: Span,
    old: &str,
    old_span: Span,
) -> Diagnostic {
    let message = format!("`{name}` is used as {old} and as {new}");
    Diagnostic::new("E206", message, span, format!("{new} here"))
        .and(old_span, format!("{old} here"))
}

pub(crate) fn wrong_type(span: Span, wanted: &str, found: &str) -> Diagnostic {
    let message = format!("{wanted} is needed here, not {found}");
    let it = Diagnostic::new("E207", message, span, "wrong type");
    match (wanted, found) {
        ("Int", "a constant of a domain") => it.help("write a number, without an apostrophe"),
        ("Int", "a text") => it.help("write a number, without quotes"),
        ("Text", _) => it.help("write a text in double quotes"),
        (_, "a text") => it.help("a constant is written with an apostrophe: `'white`"),
        _ => it,
    }
}

pub(crate) fn compare_types(lhs: Span, left: &str, rhs: Span, right: &str) -> Diagnostic {
    Diagnostic::new("E208", format!("{left} is compared with {right}"), lhs, left).and(rhs, right)
}

pub(crate) fn unknown_type(span: Span) -> Diagnostic {
    let message = "it is not known what is compared here";
    Diagnostic::new("E209", message, span, "no atom gives it a type")
        .help("use the variable in an atom of the same rule")
}

pub(crate) fn ordered_texts(span: Span) -> Diagnostic {
    Diagnostic::new("E210", "texts have no order", span, "compared by order")
        .help("use `=` or `!=`")
}

/// The least or greatest of texts.
pub(crate) fn folded_texts(span: Span) -> Diagnostic {
    Diagnostic::new("E210", "texts have no order", span, "compared by order")
        .help("`min` and `max` take numbers and members of domains")
}

pub(crate) fn wildcard_in_head(span: Span) -> Diagnostic {
    Diagnostic::new("E211", "`_` cannot be concluded", span, "which value?")
}

pub(crate) fn wildcard_in_expression(span: Span) -> Diagnostic {
    Diagnostic::new("E212", "`_` has no value", span, "only arguments of atoms may be `_`")
}

/// Adds when `=` binds a variable.
pub(crate) fn with_rule_of_equals(it: Diagnostic) -> Diagnostic {
    it.note("`=` gives a variable a value only if one side is that variable alone, and all of the other side is known")
}

fn member_help(member: Option<&str>) -> Option<String> {
    member.map(|it| format!("did you mean the constant `'{it}`?"))
}

pub(crate) fn single_use(name: &str, span: Span, member: Option<&str>) -> Diagnostic {
    let it =
        Diagnostic::new("E301", format!("`{name}` occurs once in this rule"), span, "only here");
    it.help(member_help(member).unwrap_or("write `_` if any value will do".into()))
}

pub(crate) fn unbound_in_head(name: &str, span: Span, member: Option<&str>) -> Diagnostic {
    let message = format!("no atom of the body says what `{name}` is");
    let help = "use it in a positive atom of the body, outside aggregates";
    Diagnostic::new("E302", message, span, "concluded, but not bound")
        .help(member_help(member).unwrap_or(help.into()))
}

/// A variable of a body that needs a value, and nothing binds.
pub(crate) struct Unbound<'m> {
    pub(crate) name: &'m str,
    pub(crate) span: Span,
    /// A member of a domain that may be meant.
    pub(crate) member: Option<&'m str>,
    /// Whether parameters of an action or event are bound.
    pub(crate) has_params: bool,
    pub(crate) is_operand: bool,
    pub(crate) is_negated: bool,
}

pub(crate) fn unbound(variable: Unbound<'_>) -> Diagnostic {
    let Unbound { name, span, member, has_params, is_operand, is_negated } = variable;
    let message = format!("`{name}` has no value where it is needed");
    let mut it = Diagnostic::new("E303", message, span, "not bound by any positive atom or `=`");
    if is_operand {
        it = with_rule_of_equals(it);
    }
    if has_params {
        it = it.note("parameters of the action or event are bound from the start");
    }
    let help = match is_negated && name.starts_with('_') {
        true => "if any value will do, write `_` alone: under `!` it means no value at all",
        false => {
            "negated atoms, other comparisons and the insides of aggregates only test values; bind it in a positive atom"
        }
    };
    it.help(member_help(member).unwrap_or(help.into()))
}

pub(crate) fn unbound_in_effect(name: &str, span: Span, member: Option<&str>) -> Diagnostic {
    let message = format!("nothing says what `{name}` is");
    let it = Diagnostic::new("E304", message, span, "used in an effect, but not bound");
    it.help(member_help(member).unwrap_or("bind it in the event or after `when`".into()))
}

/// A variable that `because` or `.plan` names, and the body does not bind.
pub(crate) fn unbound_in(place: &str, name: &str, span: Span, member: Option<&str>) -> Diagnostic {
    let message = format!("nothing says what `{name}` is");
    let it = Diagnostic::new("E304", message, span, format!("named in `{place}`, but not bound"));
    it.help(member_help(member).unwrap_or("name variables that the rule's body binds".into()))
}

pub(crate) fn aggregate_inside(span: Span) -> Diagnostic {
    let message = "an aggregate must be one whole side of a comparison";
    Diagnostic::new("E401", message, span, "part of something else")
        .help("give its result a name first: `n = count { ... }`, then use `n`")
}

pub(crate) fn tuple_inside(span: Span) -> Diagnostic {
    let message = "several values in parentheses must be one whole side of a comparison";
    Diagnostic::new("E401", message, span, "part of something else")
        .help("they stand for the results of an aggregate: `(a, b) = min { ... }`")
}

pub(crate) fn nested_aggregate(span: Span) -> Diagnostic {
    Diagnostic::new("E402", "an aggregate inside an aggregate", span, "nested")
        .help("make the inner one a relation of its own")
}

pub(crate) fn result_count(lhs: Span, left: usize, rhs: Span, right: usize) -> Diagnostic {
    let message = "the two sides do not have the same number of values";
    Diagnostic::new("E403", message, lhs, plural(left, "value")).and(rhs, plural(right, "value"))
}

pub(crate) fn tuple_without_fold(span: Span) -> Diagnostic {
    let message = "several values at once can only be compared with the results of `min` or `max`";
    Diagnostic::new("E404", message, span, "neither side is an aggregate")
        .help("compare them one by one")
}

pub(crate) fn ordered_results(span: Span) -> Diagnostic {
    Diagnostic::new("E405", "several results can only be compared by `=`", span, "several values")
        .help("name the results: `(a, b) = min { ... }`, then compare them")
}

/// Two aggregates with several results each.
pub(crate) fn compared_results(span: Span) -> Diagnostic {
    let message = "several results cannot be compared with those of another aggregate";
    Diagnostic::new("E405", message, span, "several values on both sides")
        .help("name the results of both: `(a, b) = min { ... }`, then compare them")
}
