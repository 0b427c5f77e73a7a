//! The cost of one move of chess for a host: listing the legal moves, playing one, computing the result and
//! the view.
//!
//! The same game is played again with fewer of these steps, which gives the cost of each step. Requests, stores and
//! sockets are measured by `benches/load`.

use anyhow::ensure;
use serde::Serialize;

use super::meter::Meter;
use crate::cli::setup::{self, Library};
use crate::moves::Move;
use crate::presets::Ruleset;

/// Microseconds of CPU time for one move.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    moves: usize,
    whole: f64,
    play: f64,
    list: f64,
    view: f64,
}

pub(super) fn run(library: &mut Library, quick: bool) -> anyhow::Result<Figures> {
    let rules = library.load("chess", &[])?;
    let moves = super::play_on(&mut setup::start(&rules, None)?, super::PLIES)?;
    let rounds = if quick { 20 } else { 200 };
    let time = |lists, views| replay(&rules, &moves, rounds, Steps { lists, views });
    let play = time(false, false)?;
    let list = time(true, false)? - play;
    let view = time(false, true)? - play;
    Ok(Figures { moves: moves.len(), whole: time(true, true)?, play, list, view })
}

/// The steps that are taken at each move, beside playing it.
#[derive(Clone, Copy)]
struct Steps {
    lists: bool,
    views: bool,
}

/// Microseconds that a move takes.
fn replay(rules: &Ruleset, moves: &[Move], rounds: usize, steps: Steps) -> anyhow::Result<f64> {
    let mut seconds = 0.0;
    for _ in 0..rounds {
        let mut game = setup::start(rules, None)?;
        let meter = Meter::own();
        let mut plies = 0;
        for mv in moves {
            let is_listed = !steps.lists || !game.listing().is_empty();
            ensure!(is_listed, "a position of the game has no move");
            game.play(mv)?;
            plies += usize::from(game.result().is_none());
            let is_viewed = !steps.views || !game.view().pieces.is_empty();
            ensure!(is_viewed, "a position has no piece");
        }
        seconds += meter.elapsed().as_secs_f64();
        ensure!(plies + 1 >= moves.len(), "the game ended before its end");
    }
    Ok(seconds * 1e6 / (rounds * moves.len()) as f64)
}

pub(super) fn lines(Figures { moves, whole, play, list, view }: &Figures) -> Vec<String> {
    vec![format!(
        "{moves} moves: {whole:.1}; to play and ask for the result {play:.1}, to list {list:.1}, to view {view:.1}"
    )]
}
