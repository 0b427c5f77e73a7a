//! Positions as FEN: piece placement, side, what the game's family adds (`chess`), the number of the move,
//! and what else a game declares.
//!
//! **What rules declare**, each a line `.meta fen "..."`:
//!
//! * `KEY=RELATION`: a further field. For an attribute of the game it is `KEY=VALUE` (with `?KEY` left out where the
//!   value is that of the start); for one of pieces `KEY=VALUE,SQUARE:VALUE`, the value of all pieces on the board
//!   and then those that differ, by square; for one of a domain's members (sides, squares) the same with their
//!   names. `-` is no value.
//! * `pocket`: pieces without a square are in hand, and follow the board in brackets, `[NQp]`.
//! * `mark SIGN=RELATION`: a flag of pieces, as a sign after their letter, `Q~`. `prefix SIGN=RELATION`: before it.
//! * `stack RELATION`: a square may hold several pieces, `(FTI)`, in the order of the numbers that the relation
//!   gives to kinds.
//! * `wall SIGN=RELATION`: squares that are taken out of the board.
//! * `counters RELATION`: a number of each side, see `counters`.
//! * `dashes N`: N fields after the side to move are always a dash.
//! * `turn ...`: the text of a turn under way, see `turn`.
//! * `strict`: the text must be exactly as it would be written.
//! * `shredder`, `unmoved RELATION`, `passed RELATION`, `limit RELATION`, `counted RELATION`: what is in the fields of
//!   chess, see `chess`.
//!
//! The fields of the family and the number of the move need no such line: they are there if the rules have their
//! relations.
//!
//! **Policy for impossible positions.** A position is loaded if its facts can be stated: no royal
//! piece, eleven of a kind, any piece on any rank are all fine. What cannot be a fact is dropped with
//! a [`Warning`]: a castling right with no rook or no castling piece on the home rank, an en passant
//! square that no piece has just passed. The side that is not to move may be in check; that is a warning too.
//! Text that is not FEN is a [`FenError`], and then nothing has changed; so is a position with rows of a
//! relation `misplaced`, with the sentence of the first row.

mod counters;
pub(super) mod parts;
mod place;
mod points;
mod read;
mod stack;
mod turn;
mod write;

use crate::derive::World;
use crate::facts::{AttrId, EntityId};

use self::parts::FenRules;
use super::super::contract::Contract;
use super::read_letters::letters_of;

pub use parts::{FenError, FenField, NamedField};
pub use place::{Warning, misplaced};
pub use stack::pieces_by_square;
pub(in super::super) use turn::rows_as_text;
pub use turn::{read_turn, split_turn, write_turn};
pub use write::{cells, write_fen};

/// The result of reading a FEN, with its warnings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setup {
    pub warnings: Vec<Warning>,
    /// The facts that further fields of the text state; without a value where the text says that there is none.
    stated: Vec<(EntityId, AttrId, Option<i64>)>,
}

impl Setup {
    /// States again what the further fields of the text state. Presets that were activated on the position meanwhile gave
    /// pieces and sides the values of the start of a game, but the values of the text count.
    pub fn restate(&self, world: &mut World) {
        for &(entity, attr, value) in &self.stated {
            world.set_raw(entity, attr, value);
        }
    }
}

/// Replaces the pieces, and the facts of the game, of sides and of squares that a FEN has, by those of the text. Facts
/// that the text leaves out get their values of the start, and so do those about repetitions.
///
/// All other facts stay, such as those of activations. Writes are journaled and not committed.
///
/// # Errors
/// The text is no FEN for these rules; nothing has changed.
pub fn read_fen(world: &mut World, contract: &Contract, text: &str) -> Result<Setup, FenError> {
    let letters = letters_of(world, contract);
    let program = world.program().clone();
    let position =
        read::position(FenRules { program: &program, contract, letters: &letters }, text)?;
    let mark = world.mark();
    let placed = place::place(world, contract, &position).and_then(|setup| {
        if contract.is_strict {
            verify_form(world, contract, text)?;
        }
        Ok(setup)
    });
    if placed.is_err() {
        world.rollback(mark);
    }
    placed
}

/// Checks that a text is exactly what is written for the position that was read from it. Further fields, `key=...`,
/// may be missing: positions may have been written before a preset that adds them.
fn verify_form(world: &mut World, contract: &Contract, text: &str) -> Result<(), FenError> {
    let text = text.trim_end_matches(['\r', '\n']);
    let is_stated = |word: &&str| match word.split_once('=') {
        Some((key, _)) => text.contains(&format!(" {key}=")),
        None => true,
    };
    let written = write_fen(world, contract);
    let written = written.split(' ').filter(is_stated).collect::<Vec<_>>().join(" ");
    if written == text {
        return Ok(());
    }
    let offset = written.bytes().zip(text.bytes()).take_while(|it| it.0 == it.1).count();
    let found = match text.get(offset..).and_then(|it| it.chars().next()) {
        Some(it) => format!("{it:?}"),
        None => "the end".into(),
    };
    let expected = format!("the form in which this game writes it: {written}");
    Err(FenError { field: FenField::Form, offset, found, expected })
}
