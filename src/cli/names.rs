//! Names for the terminal: sides, and moves with their numbers.

use crate::facts::GAME;
use crate::game::Game;
use crate::rules::Type;

/// The name of a side.
pub(crate) fn side(game: &Game, side: i64) -> String {
    game.program().value_name(Type::Domain(game.contract().sides), side)
}

/// A move about to be played with its number: `3. Nf3`, or `3... Nf6` for any side but the first.
pub(crate) fn numbered(game: &Game, text: &str) -> String {
    let counted = game.contract().fullmove.and_then(|it| game.facts().get_raw(GAME, it.attr));
    let number = counted.unwrap_or(1);
    let dots = if game.side() == Some(0) { "." } else { "..." };
    format!("{number}{dots} {text}")
}
