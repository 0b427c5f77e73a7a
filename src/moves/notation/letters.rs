//! The letters of the kinds of piece, read from the rules once per text.

use crate::derive::World;

use super::super::contract::Contract;

/// The letters of the kinds of piece, as the rules give them.
pub(super) struct Letters(Vec<(i64, char)>);

impl Letters {
    pub(super) fn of(world: &mut World, contract: &Contract) -> Self {
        let rows = world.tuples(contract.letter);
        let texts = &world.program().texts;
        let letter = |raw: i64| texts.get(usize::try_from(raw).ok()?)?.chars().next();
        Self(rows.iter().filter_map(|row| Some((row[0], letter(row[1])?))).collect())
    }

    /// The kind and the side (0 for upper case) of a letter on a board.
    pub(super) fn piece(&self, letter: char) -> Option<(i64, i64)> {
        match self.exact(letter) {
            Some(kind) => Some((kind, 1)),
            None => self.exact(letter.to_ascii_lowercase()).map(|kind| (kind, 0)),
        }
    }

    /// The kind that a letter of either case means.
    pub(super) fn kind(&self, letter: char) -> Option<i64> {
        self.piece(letter).map(|it| it.0)
    }

    fn exact(&self, letter: char) -> Option<i64> {
        self.0.iter().find(|it| it.1 == letter).map(|it| it.0)
    }

    /// The letter of a kind as the side (0 for upper case) writes it.
    pub(super) fn letter(&self, kind: i64, side: i64) -> Option<char> {
        let letter = self.0.iter().find(|it| it.0 == kind)?.1;
        Some(if side == 0 { letter.to_ascii_uppercase() } else { letter })
    }

    /// All letters, for messages.
    pub(super) fn all(&self) -> String {
        self.0.iter().map(|it| it.1).collect()
    }
}
