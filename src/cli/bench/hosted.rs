//! The cost of one move of chess for a host: listing the legal moves, playing one, computing the result and
//! the view.
//!
//! The same game is played again with fewer of these steps, which gives the cost of each step. Requests, stores and
//! sockets are measured by `benches/load`.

use anyhow::ensure;
use serde::Serialize;

use super::meter::Meter;
use crate::cli::output::Out;
use crate::cli::setup::{self, Library};
use crate::moves::Move;
use crate::presets::Ruleset;

/// Microseconds of CPU time for one move.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    pub(crate) moves: usize,
    pub(crate) whole: f64,
    pub(crate) play: f64,
    pub(crate) list: f64,
    pub(crate) view: f64,
}

pub(crate) fn run(library: &mut Library, quick: bool) -> anyhow::Result<Figures> {
    let rules = library.load("chess", &[])?;
    let moves = super::play_on(&mut setup::start(&rules, None)?, super::PLIES)?;
    let rounds = if quick { 20 } else { 200 };
    let time = |list, view| replay(&rules, &moves, rounds, [list, view]);
    let (play, listed, viewed, whole) =
        (time(false, false)?, time(true, false)?, time(false, true)?, time(true, true)?);
    Ok(Figures { moves: moves.len(), whole, play, list: listed - play, view: viewed - play })
}

/// Microseconds that a move takes, with these steps or without.
fn replay(
    rules: &Ruleset,
    moves: &[Move],
    rounds: usize,
    [list, view]: [bool; 2],
) -> anyhow::Result<f64> {
    let mut seconds = 0.0;
    for _ in 0..rounds {
        let mut game = setup::start(rules, None)?;
        let meter = Meter::own();
        let mut steps = 0;
        for mv in moves {
            ensure!(!list || !game.listing().is_empty(), "a position of the game has no move");
            game.play(mv)?;
            steps += usize::from(game.result().is_none());
            ensure!(!view || !game.view().pieces.is_empty(), "a position has no piece");
        }
        seconds += meter.elapsed().as_secs_f64();
        ensure!(steps + 1 >= moves.len(), "the game ended before its end");
    }
    Ok(seconds * 1e6 / (rounds * moves.len()) as f64)
}

pub(crate) fn print(row: &Figures, out: &mut Out) -> anyhow::Result<()> {
    let Figures { moves, whole, play, list, view } = row;
    out.line(format_args!(
        "{moves} moves: {whole:.1}; to play and ask for the result {play:.1}, to list {list:.1}, to view {view:.1}"
    ))
}
