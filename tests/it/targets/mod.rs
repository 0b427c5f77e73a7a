//! What is fuzzed: one function for each kind of text that comes from outside. The fuzzer in `fuzz/` runs
//! them on what it makes up, `replay` on the corpora that are kept. A target panics when something is
//! wrong; to refuse the input is never wrong.

mod games;
mod programs;
mod protocols;
mod replay;
mod saves;
mod texts;

use std::sync::OnceLock;

use rulemate::internals::presets::{Catalogue, Ruleset};

/// A target: its name is that of its folders in `fuzz/`.
pub(crate) type Target = (&'static str, fn(&[u8]));

pub(crate) const TARGETS: &[Target] = &[
    ("rules", texts::rules),
    ("fen", games::fen),
    ("pgn", texts::pgn),
    ("san", games::san),
    ("save-json", saves::json),
    ("save-binary", saves::binary),
    ("uci", protocols::uci),
    ("xboard", protocols::xboard),
    #[cfg(feature = "server")]
    ("http", crate::server::wire::requests),
    #[cfg(feature = "server")]
    ("socket", crate::server::wire::frames),
    ("programs", programs::programs),
];

/// Games that differ in what their texts look like. An input chooses by its first byte, so new ones come
/// last.
const GAMES: &[&str] = &[
    "chess",
    "chess960",
    "knightmate",
    "double-move",
    "antichess",
    "piece-hp",
    "coregal",
    "berolina",
];

fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(|| Catalogue::embedded().unwrap_or_else(|it| panic!("{it}")))
}

/// The game that a byte chooses.
fn rules(choice: u8) -> &'static Ruleset {
    static ALL: OnceLock<Vec<Ruleset>> = OnceLock::new();
    let load = |name: &&str| {
        catalogue().load::<&str>(name, &[]).unwrap_or_else(|it| panic!("{name}: {it}"))
    };
    let all = ALL.get_or_init(|| GAMES.iter().map(load).collect());
    &all[usize::from(choice) % all.len()]
}

/// The first byte, and the rest as text.
fn choice_and_text(input: &[u8]) -> (u8, String) {
    let (choice, rest) = input.split_first().unwrap_or((&0, &[]));
    (*choice, String::from_utf8_lossy(rest).into_owned())
}
