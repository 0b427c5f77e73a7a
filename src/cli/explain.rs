//! `rulemate explain`: proofs and refutations of moves and facts, down to rule file and line.
//!
//! The exit code is the answer: `Findings` means that the statement in question does not hold.

use serde::Serialize;
use serde_json::json;

use super::Verdict;
use super::args::{ExplainArgs, PositionArgs};
use super::evidence::Evidence;
use super::output::{Out, trouble};
use super::setup::{self, Library, Opened};
use super::svg;
use crate::derive::explain::Limits;
use crate::game::{Because, Explanation, Finding, Game, PlayError, QuestionError};
use crate::moves::BETWEEN;
use crate::presets::Catalogue;

/// An explanation with all that is needed to check it.
#[derive(Debug, Serialize)]
struct Printed<'a> {
    #[serde(flatten)]
    explanation: &'a Explanation,
    /// The trial as lines of text: stages, what reactions read, what they did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<Because>,
    position: Evidence,
}

/// What forbids an activation, and its place in a rule file.
#[derive(Serialize)]
struct Conflict {
    reason: String,
    place: Option<String>,
}

pub(crate) fn run(args: &ExplainArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    if let Some(preset) = &args.activate {
        return activate(args, preset, out);
    }
    let mut opened = setup::open(&args.position)?;
    let limits = match args.depth {
        Some(depth) => Limits { proof: depth, refutation: depth, ..Limits::default() },
        None => Limits::default(),
    };
    let explained = ask(args, &mut opened.game, limits).map_err(|it| question_error(&it))?;
    opened.game.check()?;
    if args.json {
        let lines = match &explained.finding {
            it @ (Finding::Tried(_) | Finding::Turned(_)) => opened.game.finding_lines(it),
            _ => Vec::new(),
        };
        let position = Evidence::of(&mut opened);
        out.json(&Printed { explanation: &explained, lines, position })?;
    } else if args.svg {
        out.line(svg::draw(&mut opened.game, &explained.finding))?;
    } else {
        out.line(&explained.summary)?;
        out.text(opened.game.tree(&explained.finding))?;
    }
    Ok(Verdict::of(explained.holds == args.why_not.is_some()))
}

fn ask(args: &ExplainArgs, game: &mut Game, limits: Limits) -> Result<Explanation, QuestionError> {
    let ExplainArgs { legal, why_not, fact, effects, turn, .. } = args;
    if *turn {
        return game.explain_turn(legal.as_deref(), limits);
    }
    if let Some(text) = legal.as_ref().or(why_not.as_ref()) {
        return of_last(game, text, |it, text| it.explain_move(text, limits));
    }
    if let Some(text) = effects {
        return of_last(game, text, |it, text| it.explain_effects(text, limits));
    }
    match fact {
        Some(text) => game.explain_fact(text, limits),
        None => game.explain_result(limits),
    }
}

/// Asks about the last action of a text. The game goes on after the actions before it: the explanation is printed with
/// the names, the facts and the board of that position.
pub(crate) fn of_last(
    game: &mut Game,
    text: &str,
    ask: impl FnOnce(&mut Game, &str) -> Result<Explanation, QuestionError>,
) -> Result<Explanation, QuestionError> {
    let mut last = text;
    if let Some((later, text)) = game.before_last_action(text)? {
        (*game, last) = (later, text);
    }
    ask(game, last)
}

/// Whether a preset can be activated in addition to those that are active, or an active one with other options.
fn activate(args: &ExplainArgs, preset: &str, out: &mut Out) -> anyhow::Result<Verdict> {
    let PositionArgs { game, from } = &args.position;
    let mut library = Library::new(&from.rules)?;
    let Opened { mut game, rules, .. } = setup::open_with(&mut library, game.as_deref(), from)?;
    let catalogue = library.catalogue();
    let wanted = Catalogue::active_with(&game, preset);
    let error = catalogue.set_active(&rules, &mut game, &wanted).err();
    let summary = match &error {
        None => format!("{preset} can be activated here"),
        Some(error) => format!("{preset} cannot be activated here: {error}"),
    };
    let faults = error.iter().flat_map(|it| &it.faults);
    let against: Vec<Conflict> = faults
        .map(|it| Conflict { reason: it.to_string(), place: catalogue.place_of(it) })
        .collect();
    let holds = error.is_none();
    if args.json {
        out.json(&json!({
            "question": preset, "holds": holds, "summary": summary, "against": against,
        }))?;
        return Ok(Verdict::of(!holds));
    }
    out.line(&summary)?;
    for Conflict { reason, place } in &against {
        let place = place.as_ref().map(|it| format!(" [{it}]")).unwrap_or_default();
        out.line(format_args!("  {reason}{place}"))?;
    }
    Ok(Verdict::of(!holds))
}

/// The error for a question that cannot be asked, with its fix.
pub(crate) fn question_error(why: &QuestionError) -> anyhow::Error {
    trouble(why, why.help())
}

/// Plays the move that a text means. If that move is not legal, the error has its refutation.
pub(crate) fn play_text(game: &mut Game, text: &str) -> Result<(), PlayError> {
    let played = game.play_text(text).map(|_| ());
    let Err(PlayError::Text(error)) = &played else { return played };
    // In a text of several actions, the action that fails may be meant for a later position.
    if text.contains(BETWEEN) {
        return played;
    }
    let mut refusals: Vec<_> =
        error.candidates().iter().filter_map(|it| game.play(it).err()).collect();
    if refusals.is_empty() {
        return played;
    }
    // Of several candidates, one with a declared refusal says most.
    let has_objection =
        |it: &PlayError| matches!(it, PlayError::Illegal(illegal) if illegal.objection.is_some());
    let at = refusals.iter().position(has_objection).unwrap_or(0);
    Err(refusals.swap_remove(at))
}
