//! The mistakes that rule text can contain: one constructor for each kind, with its stable code.
//!
//! `E0xx` syntax, `E1xx` declarations, `E2xx` names and types, `E3xx` variables, `E4xx` aggregates,
//! `E5xx` the program as a whole, `E6xx` reactions, `L0xx` limits. Codes are never reused.
//! Deliberately absent: finding the mistakes, and showing them.

use super::ast::{InputKind, Name};
use super::diagnostic::Diagnostic;
use super::limits::LimitError;
use crate::facts::nearest;
use super::program::{Relation, Span};

type It = Diagnostic;

fn did_you_mean(near: Option<&str>) -> Option<String> {
    near.map(|it| format!("did you mean `{it}`?"))
}

fn with_help(diagnostic: It, help: Option<String>) -> It {
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

fn plural(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

pub(super) fn limit(error: LimitError, span: Span) -> It {
    It::new(error.code(), error.to_string(), span, "this is too much")
}

// --- syntax ----------------------------------------------------------------------------------------

pub(super) fn strange_text(span: Span, text: &str) -> It {
    let found = text
        .get(span.start as usize..span.end as usize)
        .unwrap_or("");
    let it = It::new(
        "E001",
        "this is not rule text",
        span,
        "not a word, number or sign",
    );
    if found.starts_with('\'') {
        return it.help("a constant is an apostrophe and a name, without a closing one: `'white`");
    }
    it
}

pub(super) fn open_text(span: Span) -> It {
    It::new(
        "E002",
        "a text does not end",
        span,
        "no closing `\"` on this line",
    )
}

pub(super) fn expected(what: &str, found: &str, span: Span) -> It {
    It::new(
        "E003",
        format!("expected {what}, found `{found}`"),
        span,
        "not expected here",
    )
}

pub(super) fn ends_early(what: &str, last: Span) -> It {
    It::new("E004", format!("expected {what}"), last, "after this")
}

pub(super) fn unknown_directive(found: &str, known: &[&str], span: Span) -> It {
    let near = nearest(found, known.iter().copied());
    let it = It::new(
        "E005",
        format!("there is no directive `{found}`"),
        span,
        "unknown",
    );
    match near {
        Some(near) => it.help(format!("did you mean `{near}`?")),
        None => it.help(format!("directives are {}", known.join(", "))),
    }
}

pub(super) fn unknown_option(found: &str, known: &[&str], span: Span) -> It {
    let near = nearest(found, known.iter().copied());
    let it = It::new(
        "E006",
        format!("`{found}` means nothing here"),
        span,
        "unknown",
    );
    match near {
        Some(near) => it.help(format!("did you mean `{near}`?")),
        None => it.help(format!("here may stand: {}", known.join(", "))),
    }
}

pub(super) fn number_too_large(digits: &str, span: Span) -> It {
    let message = format!("the number {digits} is too large");
    It::new("E007", message, span, "numbers have 64 bits")
}

pub(super) fn quoted_member(found: &str, span: Span) -> It {
    let bare = found.trim_start_matches('\'');
    It::new(
        "E008",
        "members are listed without an apostrophe",
        span,
        "quoted",
    )
    .help(format!("write `{bare}`"))
}

pub(super) fn negated_head(span: Span) -> It {
    It::new(
        "E009",
        "a rule cannot conclude that something is not so",
        span,
        "negated conclusion",
    )
    .help("what no rule concludes is false; remove the `!`, or the rule")
}

pub(super) fn second_if(span: Span) -> It {
    It::new("E010", "a second `:-` in one rule", span, "unexpected")
        .help("the rule before may lack its period")
}

pub(super) fn no_parentheses(name: &str, span: Span) -> It {
    It::new(
        "E011",
        format!("`{name}` stands alone"),
        span,
        "neither an atom nor a comparison",
    )
    .help(format!(
        "a relation is written with parentheses, also without columns: `{name}()`"
    ))
}

pub(super) fn negated_expression(span: Span) -> It {
    It::new("E012", "`!` negates atoms only", span, "not before an atom")
        .help("write `a != b` for a comparison, and a relation of its own for anything larger")
}

pub(super) fn call_in_expression(name: &str, span: Span) -> It {
    It::new(
        "E013",
        format!("`{name}(...)` is not a value"),
        span,
        "an atom inside an expression",
    )
    .help(format!(
        "name its value first: `{name}(..., v)`, then use `v`"
    ))
}

pub(super) fn unknown_fold(name: &str, span: Span) -> It {
    let near = nearest(name, ["count", "sum", "min", "max"]);
    let it = It::new(
        "E014",
        format!("there is no aggregate `{name}`"),
        span,
        "unknown",
    );
    with_help(
        it,
        did_you_mean(near).or(Some("aggregates are count, sum, min and max".into())),
    )
}

pub(super) fn unknown_effect(name: &str, span: Span) -> It {
    let near = nearest(name, ["set", "retract", "remove"]);
    let it = It::new(
        "E015",
        format!("there is no effect `{name}`"),
        span,
        "unknown",
    );
    with_help(
        it,
        did_you_mean(near).or(Some("effects are set, retract and remove".into())),
    )
}

// --- declarations ----------------------------------------------------------------------------------

pub(super) fn domain_twice(name: Name<'_>, old: Option<Span>) -> It {
    let message = format!("the domain `{}` is declared twice", name.text);
    let it = It::new("E101", message, name.span, "again here");
    match old {
        Some(old) => it.and(old, "first here").help(format!(
            "to add members write `.domain {} += {{ ... }}`",
            name.text
        )),
        None => it.note(format!("`{}` is built in", name.text)),
    }
}

pub(super) fn second_of_shape(name: Name<'_>, old: &str, span: Option<Span>) -> It {
    let message = format!(
        "`{}` is of a sort that a program has once, and `{old}` is it",
        name.text
    );
    let it = It::new("E102", message, name.span, "second one")
        .note("a program has one board (`grid`) and one set of entities (`entities`)");
    match span {
        Some(span) => it.and(span, "first one"),
        None => it,
    }
}

pub(super) fn not_extensible(name: Name<'_>, old: Option<Span>) -> It {
    let message = format!("`{}` cannot be extended", name.text);
    let it = It::new(
        "E103",
        message,
        name.span,
        "not a domain with listed members",
    );
    match old {
        Some(old) => it.and(old, "declared here"),
        None => it.note(format!("`{}` is built in", name.text)),
    }
}

pub(super) fn member_twice(name: Name<'_>, old: Span) -> It {
    let message = format!("`{}` is listed twice", name.text);
    It::new("E104", message, name.span, "again here").and(old, "first here")
}

pub(super) fn relation_twice(name: Name<'_>, old: Span, builtin: bool) -> It {
    let message = format!("the relation `{}` is declared twice", name.text);
    let it = It::new("E105", message, name.span, "again here");
    if builtin {
        it.and(old, "every board has it")
            .help("choose another name")
    } else {
        it.and(old, "first here").help(
            "rules for it may stand in several files if it is declared `open`; declare it once",
        )
    }
}

pub(super) fn column_twice(name: Name<'_>) -> It {
    let message = format!("two columns are called `{}`", name.text);
    It::new("E106", message, name.span, "taken")
}

pub(super) fn key_without_columns(name: Name<'_>) -> It {
    let message = format!(
        "`{}` has no columns, so none of them can depend on the others",
        name.text
    );
    It::new("E107", message, name.span, "`key` needs a column").help("remove `key`")
}

pub(super) fn input_shape(name: Name<'_>, kind: InputKind, columns: usize) -> It {
    let (word, shape) = match kind {
        InputKind::Key => ("key", "(Entity, Value)"),
        InputKind::Flag => ("flag", "(Entity)"),
        InputKind::Game => ("game", "(Value), or () for a truth value"),
    };
    let message = format!("an input with `{word}` has the columns {shape}");
    It::new(
        "E108",
        message,
        name.span,
        format!("has {}", plural(columns, "column")),
    )
}

pub(super) fn input_without_entity(name: Name<'_>, found: &str, span: Span) -> It {
    let message = format!(
        "the first column of the input `{}` is not an entity",
        name.text
    );
    It::new("E109", message, span, format!("this is {found}"))
        .help("attributes belong to entities: use the domain declared with `entities`, or `game`")
}

pub(super) fn attribute_clash(name: Name<'_>, old: Span) -> It {
    let message = format!(
        "the attribute `{}` is declared twice with different types",
        name.text
    );
    It::new("E110", message, name.span, "another type here").and(old, "first here")
}

pub(super) fn default_clash(name: &str, span: Span, old: Span) -> It {
    let message = format!("the attribute `{name}` has two defaults");
    It::new("E111", message, span, "another one here").and(old, "first here")
}

pub(super) fn reserved_attribute(name: Name<'_>) -> It {
    let message = format!("the attribute `{}` belongs to the engine", name.text);
    It::new("E112", message, name.span, "reserved")
}

pub(super) fn default_type(span: Span, wanted: &str) -> It {
    let it = It::new(
        "E113",
        format!("a default of type {wanted} cannot be this"),
        span,
        "wrong type",
    );
    match wanted {
        "Int" => it.help("write a number"),
        _ => it.help(format!("write the name of a member of {wanted}")),
    }
}

pub(super) fn text_outside_static(name: Name<'_>, span: Span) -> It {
    let message = format!(
        "`{}` has a text column, but only statics may have one",
        name.text
    );
    It::new("E114", message, span, "a text").help("list a domain of names, or declare it `.static`")
}

pub(super) fn no_sentence(name: Name<'_>) -> It {
    let message = format!("`{}` has no sentence", name.text);
    It::new("E115", message, name.span, "what does it mean?").help(
        "end the declaration with a sentence in double quotes, `\"{piece} attacks {to}\"`: proofs \
         and documents are written with it",
    )
}

pub(super) fn stray_brace(what: &str, span: Span) -> It {
    let message = format!("a brace of the {what} has no partner");
    It::new("E116", message, span, "alone")
}

pub(super) fn unknown_column(name: &str, span: Span, columns: &[&str]) -> It {
    let near = nearest(name, columns.iter().copied());
    let it = It::new(
        "E117",
        format!("there is no column `{name}`"),
        span,
        "unknown",
    );
    let known = match columns {
        [] => "the relation has no columns".to_string(),
        _ => format!("columns are {}", columns.join(", ")),
    };
    with_help(it, did_you_mean(near).or(Some(known)))
}

pub(super) fn tries_columns(
    name: Name<'_>,
    found: &str,
    wanted: &str,
    action: Span,
    old: Span,
) -> It {
    let message = format!(
        "`{}` has the columns {found}, its action has {wanted}",
        name.text
    );
    It::new("E118", message, name.span, "does not fit")
        .and(old, "declared here")
        .and(action, "the action")
}

pub(super) fn template_parentheses(span: Span) -> It {
    It::new(
        "E119",
        "parentheses in the template do not match",
        span,
        "here",
    )
    .help("a piece is `{column}` or `{relation(column)}`")
}

pub(super) fn template_arity(name: Name<'_>, columns: usize, old: Span) -> It {
    let message = format!(
        "`{}` cannot be looked up: it has {}",
        name.text,
        plural(columns, "column")
    );
    It::new("E120", message, name.span, "two are needed: key and value").and(old, "declared here")
}

pub(super) fn template_type(
    span: Span,
    wanted: &str,
    found: &str,
    lookup: Name<'_>,
    old: Span,
) -> It {
    let message = format!("`{}` is looked up by {wanted}, not by {found}", lookup.text);
    It::new("E121", message, span, format!("this is {found}")).and(old, "declared here")
}

pub(super) fn static_repetition(name: Name<'_>, old: Span) -> It {
    let message = format!("`{}` is static: it cannot tell positions apart", name.text);
    It::new("E122", message, name.span, "static").and(old, "declared here")
}

pub(super) fn repetition_twice(name: Name<'_>) -> It {
    let message = format!("`{}` is already part of the repetition key", name.text);
    It::new("E123", message, name.span, "again here")
}

// --- names and types -------------------------------------------------------------------------------

pub(super) fn unknown_relation(name: Name<'_>, near: Option<&Relation>) -> It {
    let message = format!("there is no relation `{}`", name.text);
    let it = It::new("E201", message, name.span, "unknown");
    match near {
        Some(near) => it
            .and(near.span, "this one?")
            .help(format!("did you mean `{}`?", near.name)),
        None => it.help("declare it with `.decl`, `.static` or `.input`"),
    }
}

pub(super) fn unknown_domain(name: Name<'_>, near: Option<&str>) -> It {
    let it = It::new(
        "E202",
        format!("there is no domain `{}`", name.text),
        name.span,
        "unknown",
    );
    let help = did_you_mean(near).unwrap_or("declare it with `.domain`".into());
    it.help(help)
}

pub(super) fn unknown_member(
    name: &str,
    domain: &str,
    span: Span,
    near: Option<&str>,
    elsewhere: Option<&str>,
    declared: Option<Span>,
) -> It {
    let it = It::new(
        "E203",
        format!("{domain} has no member `{name}`"),
        span,
        "unknown",
    );
    let it = match declared {
        Some(declared) => it.and(declared, format!("{domain} is declared here")),
        None => it,
    };
    let it = match elsewhere {
        Some(elsewhere) => it.note(format!("{elsewhere} has a member of that name")),
        None => it,
    };
    with_help(it, near.map(|it| format!("did you mean `'{it}`?")))
}

pub(super) fn entity_constant(name: &str, span: Span) -> It {
    let message = format!("`'{name}` cannot be an entity: rules do not know entities by name");
    It::new("E204", message, span, "an entity is needed").help("say which one by its facts")
}

pub(super) fn arity(
    name: Name<'_>,
    wanted: usize,
    found: usize,
    span: Span,
    relation: &Relation,
) -> It {
    let message = format!(
        "`{}` has {}, but {} given",
        name.text,
        plural(wanted, "column"),
        if found == 1 {
            "1 argument is".to_string()
        } else {
            format!("{found} arguments are")
        }
    );
    let columns: Vec<&str> = relation.columns.iter().map(|it| it.name.as_str()).collect();
    It::new("E205", message, span, "wrong number of arguments")
        .and(relation.span, "declared here")
        .help(format!("write `{}({})`", name.text, columns.join(", ")))
}

pub(super) fn type_clash(name: &str, new: &str, span: Span, old: &str, old_span: Span) -> It {
    It::new(
        "E206",
        format!("`{name}` is used as {old} and as {new}"),
        span,
        format!("{new} here"),
    )
    .and(old_span, format!("{old} here"))
}

pub(super) fn wrong_type(span: Span, wanted: &str, found: &str) -> It {
    let it = It::new(
        "E207",
        format!("{wanted} is needed here, not {found}"),
        span,
        "wrong type",
    );
    match (wanted, found) {
        ("Int", "a constant of a domain") => it.help("write a number, without an apostrophe"),
        ("Text", _) => it.help("write a text in double quotes"),
        (_, "a text") => it.help("a constant is written with an apostrophe: `'white`"),
        _ => it,
    }
}

pub(super) fn compare_types(span: Span, lhs: Span, left: &str, rhs: Span, right: &str) -> It {
    It::new(
        "E208",
        format!("{left} is compared with {right}"),
        span,
        "never equal",
    )
    .and(lhs, left)
    .and(rhs, right)
}

pub(super) fn unknown_type(span: Span, operand: Span) -> It {
    It::new(
        "E209",
        "it is not known what is compared here",
        span,
        "no atom gives it a type",
    )
    .and(operand, "of what domain?")
    .help("use the variable in an atom of the same rule")
}

pub(super) fn ordered_texts(span: Span) -> It {
    It::new("E210", "texts have no order", span, "compared by order").help("use `=` or `!=`")
}

pub(super) fn wildcard_in_head(span: Span) -> It {
    It::new("E211", "`_` cannot be concluded", span, "which value?")
}

pub(super) fn wildcard_in_expression(span: Span) -> It {
    It::new(
        "E212",
        "`_` has no value",
        span,
        "only arguments of atoms may be `_`",
    )
}

// --- variables -------------------------------------------------------------------------------------

fn member_help(member: Option<&str>) -> Option<String> {
    member.map(|it| format!("did you mean the constant `'{it}`?"))
}

pub(super) fn single_use(name: &str, span: Span, member: Option<&str>) -> It {
    let it = It::new(
        "E301",
        format!("`{name}` occurs once in this rule"),
        span,
        "only here",
    );
    it.help(member_help(member).unwrap_or("write `_` if any value will do".into()))
}

pub(super) fn unbound_in_head(name: &str, span: Span, member: Option<&str>) -> It {
    let message = format!("no atom of the body says what `{name}` is");
    let it = It::new("E302", message, span, "concluded, but not bound");
    it.help(member_help(member).unwrap_or("use it in a positive atom of the body".into()))
}

pub(super) fn unbound(name: &str, span: Span, member: Option<&str>, reaction: bool) -> It {
    let message = format!("`{name}` has no value where it is needed");
    let it = It::new(
        "E303",
        message,
        span,
        "not bound by any positive atom or `=`",
    );
    let it = if reaction {
        it.note("parameters of the action are bound from the start")
    } else {
        it
    };
    it.help(member_help(member).unwrap_or(
        "negated atoms, comparisons and aggregates only test values; bind it in a positive atom".into(),
    ))
}

pub(super) fn unbound_in_effect(name: &str, span: Span, member: Option<&str>) -> It {
    let message = format!("nothing says what `{name}` is");
    let it = It::new("E304", message, span, "used in an effect, but not bound");
    it.help(member_help(member).unwrap_or("bind it in the event or after `when`".into()))
}

// --- aggregates ------------------------------------------------------------------------------------

pub(super) fn aggregate_inside(span: Span) -> It {
    It::new(
        "E401",
        "an aggregate must be one whole side of a comparison",
        span,
        "inside something",
    )
    .help("give its result a name first: `n = count { ... }`, then use `n`")
}

pub(super) fn nested_aggregate(span: Span) -> It {
    It::new("E402", "an aggregate inside an aggregate", span, "nested")
        .help("make the inner one a relation of its own")
}

pub(super) fn result_count(span: Span, lhs: Span, left: usize, rhs: Span, right: usize) -> It {
    It::new(
        "E403",
        "the two sides do not have the same number of values",
        span,
        "compared here",
    )
    .and(lhs, plural(left, "value"))
    .and(rhs, plural(right, "value"))
}

pub(super) fn tuple_without_fold(span: Span) -> It {
    It::new(
        "E404",
        "several values can only be compared with `min` or `max`",
        span,
        "no aggregate",
    )
    .help("compare them one by one")
}

pub(super) fn ordered_results(span: Span) -> It {
    It::new(
        "E405",
        "several results can only be compared by `=`",
        span,
        "several values",
    )
    .help("name the results: `(a, b) = min { ... }`, then compare them")
}

// --- the program as a whole ------------------------------------------------------------------------

pub(super) fn input_in_head(name: Name<'_>, old: Span) -> It {
    let message = format!(
        "`{}` is an input: facts come from the game, not from rules",
        name.text
    );
    It::new("E501", message, name.span, "concluded here")
        .and(old, "declared here")
        .help(format!(
            "change it by a reaction: `on ... do set {}(...)`",
            name.text
        ))
}

pub(super) fn builtin_in_head(name: Name<'_>, old: Span) -> It {
    let message = format!("`{}` comes with the board and cannot be changed", name.text);
    It::new("E502", message, name.span, "concluded here").and(old, "the board")
}

pub(super) fn closed_relation(name: Name<'_>, old: Span) -> It {
    let message = format!("`{}` is not open to other files", name.text);
    It::new("E503", message, name.span, "concluded in another file")
        .and(old, "declared here")
        .help("declare it `open`, or conclude an open relation instead")
}

pub(super) fn static_depends(head: Name<'_>, name: Name<'_>, old: Span) -> It {
    let message = format!(
        "the static `{}` depends on `{}`, which changes during the game",
        head.text, name.text
    );
    It::new("E504", message, name.span, "changes")
        .and(old, "declared here")
        .help(format!("declare `{}` with `.decl`", head.text))
}

pub(super) fn no_clauses(name: Name<'_>) -> It {
    let message = format!("no rule concludes `{}`", name.text);
    It::new("E505", message, name.span, "always empty")
        .help("add a rule, or declare it `open` if other files may add rules")
}

pub(super) fn negative_cycle(from: &str, steps: &[(&str, bool, Span)]) -> It {
    let mut cycle = from.to_string();
    for (name, negative, _) in steps {
        cycle.push_str(if *negative { " -> not " } else { " -> " });
        cycle.push_str(name);
    }
    let message = format!("`{from}` depends on its own absence: {cycle}");
    let first = steps.first().map(|it| it.2).unwrap_or_default();
    let mut it = It::new(
        "E506",
        message,
        first,
        format!("`{from}` needs all of this to be known"),
    );
    let mut reader = steps.first().map_or(from, |it| it.0);
    for (name, _, span) in steps.iter().skip(1) {
        it = it.and(*span, format!("`{reader}` reads `{name}`"));
        reader = name;
    }
    it.note("what is negated, counted or folded must be computed first")
}

// --- reactions -------------------------------------------------------------------------------------

pub(super) fn not_an_action(name: Name<'_>, old: Span) -> It {
    It::new(
        "E601",
        format!("`{}` is not an action", name.text),
        name.span,
        "cannot be taken",
    )
    .and(old, "declared here")
    .help("declare it with `.action`, or write `on any when ...`")
}

pub(super) fn expression_in_event(span: Span) -> It {
    It::new(
        "E602",
        "an event has variables, constants and `_` only",
        span,
        "an expression",
    )
    .help("name the column, and compare it after `when`")
}

pub(super) fn effect_on_derived(word: &str, name: Name<'_>, old: Span) -> It {
    let message = format!(
        "`{}` follows from rules: `{word}` cannot change it",
        name.text
    );
    It::new("E603", message, name.span, "not an input")
        .and(old, "declared here")
        .help("change the input that it follows from")
}

pub(super) fn effect_arity(
    word: &str,
    name: Name<'_>,
    (wanted, found): (usize, usize),
    span: Span,
    relation: &Relation,
) -> It {
    let columns: Vec<&str> = relation
        .columns
        .iter()
        .take(wanted)
        .map(|it| it.name.as_str())
        .collect();
    let message = format!(
        "`{word} {}` takes {}, not {found}",
        name.text,
        plural(wanted, "argument")
    );
    It::new("E604", message, span, "wrong number of arguments")
        .and(relation.span, "declared here")
        .help(format!(
            "write `{word} {}({})`",
            name.text,
            columns.join(", ")
        ))
}

pub(super) fn no_entities(span: Span) -> It {
    It::new(
        "E605",
        "there is no domain of entities to remove from",
        span,
        "not an entity",
    )
    .help("declare one: `.domain Entity entities 64`")
}
