//! Reachable positions as a strategy of `proptest`: some random moves from the start.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};

use super::Session;
use crate::presets::{Catalogue, Ruleset};

/// Reachable positions of a game, as sessions with their history.
pub type Reachable = proptest::strategy::BoxedStrategy<Session>;

/// Positions at most that many plies from the start of a game. A failing one is shrunk to fewer and
/// earlier moves.
///
/// # Panics
/// There is no such game.
pub fn reachable(game: &str, plies: usize) -> Reachable {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load::<&str>(game, &[]).unwrap_or_else(|it| panic!("{it}"));
    let rules = Arc::new(rules);
    vec(any::<u16>(), 0..=plies).prop_map(move |choices| played(&rules, &choices)).boxed()
}

/// A game in which each number chose a move, as long as there was one.
fn played(rules: &Arc<Ruleset>, choices: &[u16]) -> Session {
    let mut session = Session::under(Arc::clone(rules), None);
    for &choice in choices {
        let moves = session.game().legal_moves();
        let Some(mv) = moves.get(usize::from(choice) % moves.len().max(1)) else { break };
        if let Err(why) = session.game().play(mv) {
            panic!("a legal move was refused: {why}");
        }
    }
    session
}
