//! `E5xx` the program as a whole, `E6xx` reactions.
//!
//! Deliberately absent: mistakes within one clause.

use super::super::ast::Name;
use super::super::program::{Relation, Span};
use super::{Diagnostic, did_you_mean, plural};

pub(crate) fn input_in_head(name: Name<'_>, old: Span) -> Diagnostic {
    let message = format!("`{}` is an input: facts come from the game, not from rules", name.text);
    Diagnostic::new("E501", message, name.span, "concluded here")
        .and(old, "declared here")
        .help(format!("change it by a reaction: `on ... do set {}(...)`", name.text))
}

pub(crate) fn trial_in_head(name: Name<'_>, old: Span) -> Diagnostic {
    let message = format!("`{}` is a trial: its rows are found by playing actions out", name.text);
    Diagnostic::new("E501", message, name.span, "concluded here")
        .and(old, "declared here")
        .help("conclude another relation, which asks for it")
}

pub(crate) fn builtin_in_head(name: Name<'_>, old: Span) -> Diagnostic {
    let message = format!("`{}` comes with the board and cannot be changed", name.text);
    Diagnostic::new("E502", message, name.span, "concluded here").and(old, "the board")
}

pub(crate) fn closed_relation(name: Name<'_>, old: Span) -> Diagnostic {
    let message = format!("`{}` is not open to other files", name.text);
    Diagnostic::new("E503", message, name.span, "concluded in another file")
        .and(old, "declared here")
        .help("declare it `open`, or conclude an open relation instead")
}

pub(crate) fn static_depends(head: Name<'_>, name: Name<'_>, old: Span) -> Diagnostic {
    let message = format!(
        "the static `{}` depends on `{}`, which changes during the game",
        head.text, name.text
    );
    Diagnostic::new("E504", message, name.span, "changes")
        .and(old, "declared here")
        .help(format!("declare `{}` with `.decl`", head.text))
}

pub(crate) fn no_clauses(name: Name<'_>) -> Diagnostic {
    let message = format!("no rule concludes `{}`", name.text);
    Diagnostic::new("E505", message, name.span, "always empty")
        .help("add a rule, or declare it `open` if other files may add rules")
}

/// How a step of a cycle reads the next relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    Plainly,
    Negated,
    Folded,
}

pub(crate) fn negative_cycle(from: &str, steps: &[(&str, Reads, Span)]) -> Diagnostic {
    let mut cycle = from.to_string();
    for (name, reads, _) in steps {
        cycle.push_str(match reads {
            Reads::Plainly => " -> ",
            Reads::Negated => " -> not ",
            Reads::Folded => " -> all of ",
        });
        cycle.push_str(name);
    }
    let message = format!("`{from}` must be known before it can be computed: {cycle}");
    let mut reader = from;
    let mut places = steps.iter().map(|(name, reads, span)| {
        let verb = match reads {
            Reads::Plainly => "reads",
            Reads::Negated => "needs the absence of",
            Reads::Folded => "needs all of",
        };
        let text = format!("`{reader}` {verb} `{name}`");
        reader = name;
        (*span, text)
    });
    let (span, text) = places.next().unwrap_or_default();
    let it = places
        .fold(Diagnostic::new("E506", message, span, text), |it, (span, text)| it.and(span, text));
    it.note("what is negated, counted or folded must be computed first")
}

pub(crate) fn beyond_pseudo_legal(
    action: &Relation,
    pseudo_legal: &Relation,
    rule: Span,
) -> Diagnostic {
    let (action_name, name) = (&action.name, &pseudo_legal.name);
    let message = format!(
        "this rule may conclude a `{action_name}` that is not pseudo-legal: `{name}` does not have it"
    );
    let args: Vec<&str> = pseudo_legal.columns.iter().map(|it| it.name.as_str()).collect();
    Diagnostic::new("E507", message, rule, "nothing here says that it is pseudo-legal")
        .and(action.span, "the action")
        .and(pseudo_legal.span, "the pseudo-legal ones")
        .note("only pseudo-legal actions are played out: any other would be lost from the list")
        .help(format!(
            "ask for `{name}({})` with the arguments of the head, and have `{name}` \
             conclude them; or declare an action of your own",
            args.join(", ")
        ))
}

pub(crate) fn never_played_out(action: &Relation) -> Diagnostic {
    let message =
        format!("`{}` is never legal, and nothing says when trials play it out", action.name);
    Diagnostic::new("E510", message, action.span, "without `pseudo_legal`")
        .help("name the relation whose rows trials play out: `pseudo_legal REL`")
}

pub(crate) fn never_legal(action: &Relation, rule: Span) -> Diagnostic {
    let message = format!("a rule of `{}`, which is never legal", action.name);
    Diagnostic::new("E510", message, rule, "it would have no effect")
        .and(action.span, "the action")
        .help("have the relation after `pseudo_legal` conclude it, or declare another `legality`")
}

pub(crate) fn not_an_action(name: Name<'_>, old: Span) -> Diagnostic {
    let message = format!("`{}` is not an action", name.text);
    Diagnostic::new("E601", message, name.span, "cannot be taken")
        .and(old, "declared here")
        .help("declare it with `.action` or `.event`, or write `on any when ...`")
}

pub(crate) fn unknown_action(name: Name<'_>, near: Option<&str>) -> Diagnostic {
    let message = format!("there is no action or event `{}`", name.text);
    let help = match name.text {
        "any" => "write `on any` without parentheses: it goes with every action".to_owned(),
        _ => did_you_mean(near).unwrap_or("declare it with `.action` or `.event`".into()),
    };
    Diagnostic::new("E606", message, name.span, "unknown").help(help)
}

pub(crate) fn expression_in_event(span: Span) -> Diagnostic {
    Diagnostic::new("E602", "an event has variables, constants and `_` only", span, "an expression")
        .help("name the column, and compare it after `when`")
}

pub(crate) fn was_outside_reaction(span: Span) -> Diagnostic {
    Diagnostic::new("E615", "`was` is for reactions only", span, "before which action?").help(
        "rules are about the facts as they are; a reaction can note what was in an input of its own",
    )
}

pub(crate) fn was_of_static(name: Name<'_>, old: Span) -> Diagnostic {
    let message = format!("`{}` never changes: it was what it is", name.text);
    Diagnostic::new("E616", message, name.span, "the same before and after")
        .and(old, "declared here")
        .help("leave out `was`")
}

pub(crate) fn effect_on_derived(word: &str, name: Name<'_>, old: Span) -> Diagnostic {
    let message = format!("`{}` follows from rules: `{word}` cannot change it", name.text);
    Diagnostic::new("E603", message, name.span, "not an input")
        .and(old, "declared here")
        .help("change the input that it follows from")
}

pub(crate) fn effect_on_list(word: &str, name: Name<'_>, old: Span) -> Diagnostic {
    let message = format!("`{word}` cannot change `{}`: a list stays as it was chosen", name.text);
    Diagnostic::new("E617", message, name.span, "an option")
        .and(old, "declared here")
        .help("declare what changes in a game as an input of its own")
}

pub(crate) fn effect_arity(
    word: &str,
    name: Name<'_>,
    (wanted, found): (usize, usize),
    span: Span,
    relation: &Relation,
) -> Diagnostic {
    let columns: Vec<&str> =
        relation.columns.iter().take(wanted).map(|it| it.name.as_str()).collect();
    let message =
        format!("`{word} {}` takes {}, not {found}", name.text, plural(wanted, "argument"));
    Diagnostic::new("E604", message, span, "wrong number of arguments")
        .and(relation.span, "declared here")
        .help(format!("write `{word} {}({})`", name.text, columns.join(", ")))
}

pub(crate) fn no_entities(span: Span) -> Diagnostic {
    Diagnostic::new("E605", "there is no domain of entities", span, "not an entity")
        .help("declare one: `.domain Entity entities 64`")
}

pub(crate) fn outside_event(word: &str, span: Span) -> Diagnostic {
    let message = format!("`{word}` goes with an event that was raised");
    Diagnostic::new("E607", message, span, "an action")
        .help("an action cannot be stopped half-way: `veto` refuses it")
}

pub(crate) fn pass_of_other(name: Name<'_>, event: &str) -> Diagnostic {
    let message = format!("`pass` hands on `{event}`, not `{}`", name.text);
    Diagnostic::new("E608", message, name.span, "another event")
        .help(format!("write `pass {event}(...)`, or `raise {}(...)`", name.text))
}

pub(crate) fn unknown_event(name: Name<'_>, near: Option<&str>) -> Diagnostic {
    let help = did_you_mean(near).unwrap_or("declare it with `.event`".into());
    Diagnostic::new("E609", format!("there is no event `{}`", name.text), name.span, "unknown")
        .help(help)
}

pub(crate) fn action_as_event(name: Name<'_>, action: Span) -> Diagnostic {
    let message =
        format!("`{}` is an action, and only events are raised, passed on or shown", name.text);
    Diagnostic::new("E609", message, name.span, "no event")
        .and(action, "declared here")
        .help("declare an event with `.event`, and have reactions to it do what is to happen")
}

pub(crate) fn unknown_stage(name: Name<'_>, near: Option<&str>) -> Diagnostic {
    let help = did_you_mean(near).unwrap_or("declare it: `.stage NAME after STAGE`".into());
    Diagnostic::new("E610", format!("there is no stage `{}`", name.text), name.span, "unknown")
        .help(help)
}

pub(crate) fn stage_cycle(cycle: &[&str], span: Span) -> Diagnostic {
    let message = format!("the stages have no order: {}", cycle.join(" before "));
    Diagnostic::new("E611", message, span, "closes the cycle")
}

pub(crate) fn stage_twice(name: Name<'_>, old: Span) -> Diagnostic {
    let message = format!("the stage `{}` is listed twice", name.text);
    Diagnostic::new("E612", message, name.span, "again here").and(old, "first here")
}

pub(crate) fn stages_twice(span: Span, old: Span) -> Diagnostic {
    Diagnostic::new("E612", "the stages are listed twice", span, "again here")
        .and(old, "listed here")
        .help("add one with `.stage NAME after STAGE before STAGE`")
}

pub(crate) fn spawn_of_bound(name: Name<'_>) -> Diagnostic {
    let message = format!("`{}` has a value already", name.text);
    Diagnostic::new("E613", message, name.span, "not a new entity")
        .help("`spawn` takes a variable that stands in no parameter, condition or earlier effect")
}

pub(crate) fn before_its_spawn(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new("E614", format!("`{name}` is not there yet"), span, "used before `spawn`")
        .help("effects happen in text order: move `spawn` before this one")
}

/// The part of a trial that asks for a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asking {
    /// The relation of the rows that are played out.
    Candidates,
    /// A reaction that is run when they are played out.
    Reaction,
    /// A reaction, by `was`.
    Before,
    Condition,
}

/// A trial that depends on itself.
pub(crate) fn trial_of_itself(
    name: &str,
    action: &str,
    other: &str,
    asking: Asking,
    trial: Span,
    place: Span,
) -> Diagnostic {
    let (what, help) = match asking {
        Asking::Candidates => (
            format!("which rows of `{action}` are played out depends on `{other}`"),
            "what comes of it cannot decide what is played out: let those rows ask for something else",
        ),
        Asking::Reaction => (
            format!("playing out `{action}` asks for `{other}`"),
            "what is played out cannot ask what comes of it: let the action end it before that stage by \
             `until STAGE`, or ask in a later one",
        ),
        Asking::Before => (
            format!("playing out `{action}` asks for what `{other}` was"),
            "what `was` asks for is found as the action begins, whatever stage asks for it: ask without `was`",
        ),
        Asking::Condition => (
            format!("its condition asks for `{other}`"),
            "a condition cannot ask for what depends on it: leave that out",
        ),
    };
    let message = format!("the trial `{name}` depends on itself: {what}");
    let it = Diagnostic::new("E508", message, trial, "found by playing it out").help(help);
    // Its condition and its `from` have no places of their own.
    if place == trial { it } else { it.and(place, "asked for here") }
}

pub(crate) fn trial_calls(name: &str, action: &str, trial: Span, place: Span) -> Diagnostic {
    let message = format!("the trial `{name}` plays out `{action}`, and that calls code");
    Diagnostic::new("E509", message, trial, "found by playing it out")
        .and(place, "calls code here")
        .help("what code does is not in the rules: let the action end what is played out before that stage by `until STAGE`")
}
