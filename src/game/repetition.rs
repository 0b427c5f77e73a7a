//! Repetition keys: a hash of the rows by which the rules tell positions apart.
//!
//! `.repetition` lists the relations; two positions are the same when these have the same rows. The key should
//! not depend on how a position came about, so rules list relations about squares and sides rather than about
//! entities, whose ids depend on it, and of counters only those that decide what may follow (half-moves of the turn,
//! checks that are left).

use crate::derive::World;
use crate::facts::Chance;

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
