//! Names that cannot be guessed: ids of games and studies, tokens, codes that people copy by hand. What they
//! give access to is decided elsewhere.

use data_encoding::HEXLOWER;

use super::problem::Problem;

/// The alphabet of ids and codes: no letters that are easily confused.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// The number of letters of an id.
pub(super) const ID_LETTERS: usize = 15;

/// Bytes as letters, five bits of each.
pub(super) fn spelled(bytes: &[u8]) -> String {
    bytes.iter().map(|it| char::from(LETTERS[usize::from(it % 32)])).collect()
}

/// 75 random bits, five a letter, as a link can hold them and a person can copy them.
pub(super) fn new_id() -> Result<String, Problem> {
    Ok(spelled(&random::<ID_LETTERS>()?))
}

/// A secret of 256 random bits, in hexadecimal.
pub(super) fn new_token() -> Result<String, Problem> {
    Ok(HEXLOWER.encode(&random::<32>()?))
}

/// A random number below `count`; each is as likely as the others.
pub(super) fn random_below(count: usize) -> Result<usize, Problem> {
    Ok((u64::from_le_bytes(random()?) % count.max(1) as u64) as usize)
}

/// 64 bits of a text's hash, in hexadecimal: part of a key where the text itself may be long or have any characters.
pub(super) fn short_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

fn random<const N: usize>() -> Result<[u8; N], Problem> {
    let mut bytes = [0; N];
    let filled = getrandom::fill(&mut bytes);
    filled.map(|()| bytes).map_err(|error| {
        tracing::error!(%error, "no random numbers");
        Problem::internal()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_four_is_drawn_equally_often() {
        let mut drawn = [0_i32; 4];
        (0..4_000).for_each(|_| drawn[random_below(4).expect("random numbers")] += 1);
        // Five standard deviations; the last letter of a token would give 750 and 1,250.
        assert!(drawn.iter().all(|it| (it - 1_000).abs() < 140), "{drawn:?}");
    }
}
