//! Answers rows about games with several actions a turn: the outcome of each action, the positions in which a turn can
//! end, a whole turn as it was played.

use std::collections::BTreeSet;

use super::super::setup;
use super::game::{COMMIT, with_clock_at_zero};
use super::question::{Turn, uci_and_san};
use super::{Fault, differs, lacking};
use crate::derive::World;
use crate::game::Game;
use crate::moves::notation::{listing, san_listing, to_uci, write_fen};
use crate::moves::{Contract, Move, is_over};
use crate::presets::Ruleset;

/// Maximum number of actions that are followed in a turn.
const MAX_ACTIONS: usize = 32;

/// The result of playing a turn.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Played {
    legal: usize,
    /// `None` if only the legal actions before the turn are counted.
    after: Option<After>,
}

/// The position after a turn.
#[derive(Debug, PartialEq, Eq)]
struct After {
    fen: String,
    in_check: bool,
    /// The actions that are legal now.
    texts: Vec<String>,
}

/// The actions after those of a path, each with its outcome.
///
/// # Errors
/// An action of the path is not legal.
pub(super) fn outcomes(
    world: &mut World,
    contract: &Contract,
    path: &[String],
    only: Option<&str>,
    deep: bool,
) -> Result<Vec<(String, String)>, String> {
    world.taking_back(|world| {
        path.iter().try_for_each(|it| take(world, contract, it))?;
        let moves = listing(world, contract);
        let kept = moves.into_iter().filter(|it| is_from(&it.0, only));
        Ok(kept.map(|(text, mv)| (text, outcome_of(world, contract, &mv, deep))).collect())
    })
}

/// Whether an action is a step from a square, by its text, or ends the turn.
fn is_from(text: &str, square: Option<&str>) -> bool {
    square.is_none_or(|it| text == COMMIT || text.contains(&format!("{it}>")))
}

fn take(world: &mut World, contract: &Contract, text: &str) -> Result<(), String> {
    let moves = listing(world, contract);
    let found = moves.iter().find(|it| is_written(&it.0, text));
    let (_, mv) = found.ok_or_else(|| format!("{text} is not legal"))?;
    world.fire(mv.action, &mv.args).map_err(|why| why.to_string())
}

/// Whether an action's text matches, where `?` matches any sign or none.
fn is_written(text: &str, pattern: &str) -> bool {
    match pattern.split_once('?') {
        None => text == pattern,
        Some((head, tail)) => ["", "x", "_", "@", "&"].iter().any(|sign| {
            text.len() == head.len() + sign.len() + tail.len()
                && text == format!("{head}{sign}{tail}")
        }),
    }
}

/// The outcome of an action, as `Ask::Outcomes` has it.
fn outcome_of(world: &mut World, contract: &Contract, mv: &Move, deep: bool) -> String {
    let mover = contract.mover(world.facts());
    world.taking_back(|world| match world.fire(mv.action, &mv.args) {
        Err(why) => why.to_string(),
        Ok(()) if contract.mover(world.facts()) != mover => write_fen(world, contract),
        Ok(()) if !deep => String::new(),
        Ok(()) => {
            let fen = write_fen(world, contract);
            let board = fen.split(' ').next().unwrap_or_default().to_owned();
            match end_turn(world, contract) {
                Some(end) => format!("{board} {COMMIT} {end}"),
                None => board,
            }
        }
    })
}

/// The FEN after the turn has ended here, if it can.
fn end_turn(world: &mut World, contract: &Contract) -> Option<String> {
    world.taking_back(|world| {
        take(world, contract, COMMIT).ok().map(|()| write_fen(world, contract))
    })
}

/// The positions in which turns that begin with a step from a square can end, sorted.
pub(super) fn endings(world: &mut World, contract: &Contract, only: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    end_all(world, contract, only, &mut found, &mut seen);
    found.into_iter().collect()
}

fn end_all(
    world: &mut World,
    contract: &Contract,
    only: &str,
    found: &mut BTreeSet<String>,
    seen: &mut BTreeSet<u64>,
) {
    let mover = contract.mover(world.facts());
    for (text, mv) in listing(world, contract) {
        if !is_from(&text, Some(only)) {
            continue;
        }
        world.taking_back(|world| {
            if world.fire(mv.action, &mv.args).is_err() {
                return;
            }
            if contract.mover(world.facts()) != mover {
                found.insert(with_clock_at_zero(&write_fen(world, contract)));
            } else if seen.insert(world.facts().hash()) {
                end_all(world, contract, only, found, seen);
            }
        });
    }
}

/// Plays a turn.
///
/// # Errors
/// One of its actions is not legal.
pub(super) fn play(game: &mut Game, turn: &Turn) -> Result<Played, String> {
    let contract = game.contract().clone();
    let world = game.world_mut();
    let legal = listing(world, &contract).len();
    if turn.after.is_none() {
        return Ok(Played { legal, after: None });
    }
    let mover = contract.mover(world.facts());
    world.taking_back(|world| {
        turn.steps.iter().try_for_each(|it| take(world, &contract, it))?;
        // In the recorded game the turn may have ended by itself where by our rules it goes on, since these judge an
        // earlier step differently.
        if contract.mover(world.facts()) == mover {
            let _ = take(world, &contract, COMMIT);
        }
        let fen = write_fen(world, &contract);
        let in_check = contract.notation.in_check.is_some_and(|it| world.any(it));
        let moves = if is_over(world, &contract) { Vec::new() } else { listing(world, &contract) };
        let texts = moves.into_iter().map(|it| it.0).collect();
        Ok(Played { legal, after: Some(After { fen, in_check, texts }) })
    })
}

/// The FEN in the middle of a turn, after these actions.
///
/// # Errors
/// An action is not legal, or reading the FEN does not give the same position.
pub(super) fn under_way(
    rules: &Ruleset,
    game: &mut Game,
    path: &[String],
) -> Result<String, String> {
    for text in path {
        game.play_text(text).map_err(|why| why.to_string())?;
    }
    let fen = game.fen();
    let mut again =
        setup::start(rules, Some(&fen)).map_err(|why| format!("{fen} is not read back: {why}"))?;
    if again.hash() != game.hash() || again.listing() != game.listing() || again.fen() != fen {
        return Err(format!("{fen} is read back as another position"));
    }
    Ok(fen)
}

/// The first fault of a turn.
pub(super) fn judge(turn: &Turn, found: Played) -> Option<Fault> {
    let number = |what, expected: Option<usize>, found: usize| {
        differs(what, expected?.to_string(), found.to_string())
    };
    let before = number("legal actions", turn.legal, found.legal);
    let (Some(after), None) = (found.after, &before) else { return before };
    let missing = lacking(&turn.with, &after.texts);
    let extra: Vec<String> =
        turn.without.iter().filter(|it| after.texts.contains(it)).cloned().collect();
    let lists =
        (!missing.is_empty() || !extra.is_empty()).then_some(Fault::Moves { missing, extra });
    differs("FEN", turn.after.clone().unwrap_or_default(), after.fen)
        .or_else(|| differs("in check", turn.in_check?.to_string(), after.in_check.to_string()))
        .or_else(|| number("legal actions after it", turn.legal_after, after.texts.len()))
        .or(lists)
}

/// The fault of the outcomes of actions, if they differ.
pub(super) fn compare(
    expected: &[(String, Option<String>)],
    found: Vec<(String, String)>,
) -> Option<Fault> {
    let fits = |(text, after): &(String, Option<String>), (other, fen): &(String, String)| {
        text == other && after.as_ref().is_none_or(|it| it == fen)
    };
    let missing = expected.iter().filter(|it| !found.iter().any(|other| fits(it, other)));
    let extra = found.iter().filter(|it| !expected.iter().any(|other| fits(other, it)));
    let missing: Vec<String> = missing
        .map(|(text, after)| format!("{text} {}", after.as_deref().unwrap_or_default()))
        .collect();
    let extra: Vec<String> = extra.map(|(text, after)| format!("{text} {after}")).collect();
    let equal = missing.is_empty() && extra.is_empty() && expected.len() == found.len();
    (!equal).then_some(Fault::Moves { missing, extra })
}

/// The state of the game, as `Ask::Standing` has it; `won` if the side to move has won.
pub(super) fn standing(game: &mut Game) -> String {
    let Some(result) = game.result() else { return "none".into() };
    let Some(winner) = result.winner else { return "draw".into() };
    let mover = game.contract().mover(game.facts());
    match Some(winner) == mover {
        true => "won".into(),
        false => format!("not {}", game.fen().split(' ').nth(1).unwrap_or_default()),
    }
}

/// The texts of all whole turns, sorted; with the SAN of their actions if `in_san`.
pub(super) fn listed(world: &mut World, contract: &Contract, in_san: bool) -> Vec<String> {
    let mut found = Vec::new();
    if !is_over(world, contract) {
        go_on(world, contract, in_san, &[], &mut found);
    }
    let text = |turn: &Vec<(String, String)>| -> String {
        let join =
            |of: fn(&(String, String)) -> &str| turn.iter().map(of).collect::<Vec<_>>().join(",");
        let uci = join(|it| it.0.as_str());
        if in_san { uci_and_san(&uci, &join(|it| it.1.as_str())) } else { uci }
    };
    let mut texts: Vec<String> = found.iter().map(text).collect();
    texts.sort();
    texts
}

/// Collects every turn that begins with the actions taken so far.
fn go_on(
    world: &mut World,
    contract: &Contract,
    in_san: bool,
    taken: &[(String, String)],
    found: &mut Vec<Vec<(String, String)>>,
) {
    let mover = contract.mover(world.facts());
    let moves: Vec<(String, Move)> = match in_san {
        true => san_listing(world, contract),
        false => listing(world, contract),
    };
    if moves.is_empty() && !taken.is_empty() {
        found.push(taken.to_vec());
    }
    for (text, mv) in moves {
        let mut turn = taken.to_vec();
        turn.push((to_uci(world, &mv), text));
        world.taking_back(|world| {
            if world.fire(mv.action, &mv.args).is_err() {
                return;
            }
            let goes_on = contract.mover(world.facts()) == mover && !is_over(world, contract);
            if goes_on && turn.len() < MAX_ACTIONS {
                go_on(world, contract, in_san, &turn, found);
            } else {
                found.push(turn);
            }
        });
    }
}
