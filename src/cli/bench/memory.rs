//! The memory of one live game: by its own accounting, and by the growth of the process over many games.

use std::hint::black_box;

use serde::Serialize;

use super::meter;
use crate::cli::setup::{self, Library};
use crate::game::Game;

#[derive(Debug, Serialize)]
pub(super) struct Figures {
    games: usize,
    plies: usize,
    /// Bytes of a game by its own accounting: facts, derived rows, history.
    facts: usize,
    derived: usize,
    history: usize,
    /// Bytes that the process grew by per game, where the system reports them.
    resident: Option<u64>,
}

pub(super) fn run(library: &mut Library, quick: bool) -> anyhow::Result<Figures> {
    let games = if quick { 50 } else { 500 };
    let rules = library.load("chess", &[])?;
    let game = || -> anyhow::Result<Game> {
        let mut game = setup::start(&rules, None)?;
        super::play_on(&mut game, super::PLIES)?;
        Ok(game)
    };
    // The first game allocates the memory that all games share.
    let first = game()?;
    let before = meter::resident_bytes();
    let all = (0..games).map(|_| game()).collect::<anyhow::Result<Vec<Game>>>()?;
    let after = meter::resident_bytes();
    let grown = before.zip(after).map(|(before, after)| after.saturating_sub(before));
    black_box(&all);
    let memory = first.memory();
    Ok(Figures {
        games,
        plies: first.history().len(),
        facts: memory.facts,
        derived: memory.derived,
        history: memory.history,
        resident: grown.map(|it| it / games as u64),
    })
}

pub(super) fn lines(row: &Figures) -> Vec<String> {
    let Figures { games, plies, facts, derived, history, resident } = row;
    let [facts, derived, history] = [facts, derived, history].map(|it| *it as f64 / 1024.0);
    let own = format!(
        "after {plies} half-moves: facts {facts:.1}, derived rows {derived:.1}, history {history:.1}"
    );
    let growth = resident.map(|it| {
        let kilo = it as f64 / 1024.0;
        format!("growth of the process over {games} games: {kilo:.1} a game")
    });
    [own].into_iter().chain(growth).collect()
}
