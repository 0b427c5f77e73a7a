//! Repetition keys: a hash of the rows by which the rules tell positions apart.
//!
//! `.repetition` lists the relations; two positions are the same when these have the same rows. The key should
//! not depend on how a position came about, so rules list relations about squares and sides rather than about
//! entities, whose ids depend on it, and of counters only those that decide what may follow (half-moves of the turn,
//! checks that are left).

use crate::derive::World;

/// The repetition key of the position on the board.
pub fn position_key(world: &mut World) -> u64 {
    let program = world.program().clone();
    let mut key = 0u64;
    for (place, &rel) in program.repetition.iter().enumerate() {
        let seed = mix(place as u64 + 1);
        world.for_each(rel, &mut |row| {
            key = key.wrapping_add(row.iter().fold(seed, |hash, &raw| mix(hash ^ raw as u64)));
        });
    }
    key
}

/// Spreads 64 bits (the finaliser of SplitMix64, after its increment).
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
