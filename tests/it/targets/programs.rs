//! Random programs, held against each other by all evaluators and the checker of proofs.

/// The input is the seed of a program and of what happens to it: rules over facts that change, or a game with
/// actions, reactions and presets that come and go.
pub(crate) fn programs(input: &[u8]) {
    let mut seed = [0; 8];
    for (at, byte) in input.iter().enumerate() {
        // Longer inputs are seeds, too: no two bytes of one are lost on the same place.
        seed[at % 8] ^= byte.rotate_left((at / 8) as u32);
    }
    let seed = u64::from_le_bytes(seed);
    match seed % 2 {
        0 => crate::random_rules::compare(seed),
        _ => drop(crate::random_games::play(seed)),
    }
}
