//! Repetition keys: a hash of the rows by which the rules tell positions apart.
//!
//! `.repetition` lists the relations; two positions are the same when these have the same rows. The key should
//! not depend on how a position came about, so rules list relations about squares and sides rather than about
//! entities, whose ids depend on it, and of counters only those that decide what may follow (half-moves of the turn,
//! checks that are left).

use crate::derive::World;
use crate::facts::{Chance, GAME};
use crate::moves::Contract;

/// A position that a game has been in, as repetitions are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its [`position_key`].
    pub key: u64,
    /// The side to move.
    pub mover: Option<i64>,
    /// The number of turns since the start.
    pub turn: i64,
    /// How often it occurred: once, except for the entry that stands for the time before the start.
    pub times: i64,
}

/// States how often the position on the board has occurred, this time included, and how many turns ago it first did.
/// `earlier` are the positions that led to it, oldest first. Returns whether it had occurred before.
pub fn state_recurrence(
    world: &mut World,
    contract: &Contract,
    here: Place,
    earlier: &[Place],
) -> bool {
    let same = earlier.iter().filter(|it| it.key == here.key);
    let count = same.clone().fold(1_i64, |count, it| count.saturating_add(it.times));
    let since = same.map(|it| here.turn.saturating_sub(it.turn)).next().unwrap_or(0);
    let Contract { occurrences, since_first, .. } = contract;
    for (fact, value) in [(occurrences, count), (since_first, since)] {
        if let Some(fact) = fact {
            world.set_raw(GAME, fact.attr, Some(value));
        }
    }
    count > 1
}

/// The repetition key of the position on the board.
pub fn position_key(world: &mut World) -> u64 {
    let program = world.program().clone();
    let mut key = 0u64;
    for (place, &rel) in program.repetition.iter().enumerate() {
        let seed = Chance(place as u64 + 1).next();
        world.for_each(rel, &mut |row| {
            key = key
                .wrapping_add(row.iter().fold(seed, |hash, &raw| Chance(hash ^ raw as u64).next()));
        });
    }
    key
}
