//! Reads vector files as rows: `.json` files of kind `preset-vectors`, and `.perft` files. Those of kinds `GAME-...`
//! are read in `game.rs` and `requests.rs`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::cli::output::{read_text, trouble, trouble_with};
use crate::moves::{BETWEEN, read_perft_list};
use crate::presets::Catalogue;

use super::corrections::{Corrections, differing};
use super::question::{Ask, Malformed, Row, Suite, Trust, uci_and_san};
use super::{game, requests};

/// How a vector file is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'r> {
    pub(super) trust: Trust,
    /// The game that `--game` gives.
    pub(super) game: Option<&'r str>,
    pub(super) catalogue: &'r Catalogue,
    pub(super) corrections: &'r Corrections,
}

impl Reading<'_> {
    /// The name of the game whose rules answer a suite. That of `--game` replaces the file's only if the suite is
    /// `of_any_game`.
    pub(super) fn game_of(&self, suite: &Suite) -> Option<String> {
        // Some games imitate the program that made the file, where it deviates from the usual rules.
        let imitation = suite.oracle.as_ref().and_then(|oracle| {
            let found = self.catalogue.games().iter().find(|it| it.oracles.contains(oracle));
            found.map(|it| it.name.as_str())
        });
        let named = imitation.or(suite.game.as_deref());
        let game = if suite.of_any_game { self.game.or(named) } else { named.or(self.game) };
        game.map(str::to_owned)
    }
}

/// Reads a vector file by its ending, and applies the corrections.
///
/// # Errors
/// The file has an unknown ending, cannot be read or is malformed, or a correction does not fit it.
pub(super) fn read(path: &Path, reading: Reading<'_>) -> anyhow::Result<Suite> {
    let text = read_text(path)?;
    let malformed = |why: Malformed| {
        let fix = "see tests/data/vectors and tests/data/perft for files that are well-formed";
        trouble(format!("{}:{}: {}", path.display(), why.line, why.reason), fix)
    };
    match path.extension().and_then(|it| it.to_str()) {
        Some("json") => {
            let kind = kind_of(&text).map_err(malformed)?;
            let suite = parse_json(&kind, &text, reading.trust).map_err(malformed)?;
            corrected(path, (&kind, &text), suite, reading)
        }
        Some("perft") => parse_perft(&text).map_err(malformed),
        _ => Err(trouble_with(path, "not a vector file", "name a .json or a .perft file")),
    }
}

/// The suite of a file after corrections, with the rows that they have changed and their conflicts.
fn corrected(
    path: &Path,
    (kind, text): (&str, &str),
    suite: Suite,
    reading: Reading<'_>,
) -> anyhow::Result<Suite> {
    let Reading { trust, catalogue, corrections, .. } = reading;
    let game = reading.game_of(&suite).and_then(|it| catalogue.find_game(&it).ok());
    let Some(game) = game else { return Ok(suite) };
    let all = corrections.conflicts(kind, game);
    if all.is_empty() {
        return Ok(suite);
    }
    let read = |except: Option<&str>| -> anyhow::Result<Suite> {
        let text = corrections.applied(path, text, (kind, game), except)?;
        parse_json(kind, &text, trust).map_err(|why| {
            // Leaves out the place, which is one in the corrected text, not in the file.
            let reason = why.reason.rsplit_once(" at line ").map_or(&*why.reason, |it| it.0);
            let fix = "give `expected` a value that this field can have in such a file";
            trouble(format!("{}, after corrections: {reason}", path.display()), fix)
        })
    };
    let mut suite = read(None)?;
    for conflict in all {
        let others = read(Some(conflict))?.rows;
        for row in differing(&suite.rows, &others) {
            suite.corrected.entry(row).or_default().insert(conflict.to_owned());
        }
    }
    Ok(suite)
}

#[derive(Debug, Deserialize)]
struct Kind {
    kind: String,
}

#[derive(Debug, Deserialize)]
struct PresetVectors {
    variant: String,
    oracle: Option<String>,
    #[serde(default)]
    perft: Vec<PerftRow>,
    #[serde(default)]
    legal_moves: Vec<MovesRow>,
    #[serde(default)]
    san: Vec<SanRow>,
    #[serde(default)]
    ends: Vec<EndRow>,
}

#[derive(Debug, Deserialize)]
struct PerftRow {
    fen: String,
    depth: u32,
    nodes: u64,
}

#[derive(Debug, Deserialize)]
struct MovesRow {
    fen: String,
    moves: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct SanRow {
    fen: String,
    /// By the text in UCI.
    san: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
struct EndRow {
    fen: String,
    result: String,
}

fn kind_of(text: &str) -> Result<String, Malformed> {
    let Kind { kind } = serde_json::from_str(text)?;
    Ok(kind)
}

fn parse_json(kind: &str, text: &str, trust: Trust) -> Result<Suite, Malformed> {
    if let Some(suite) = requests::parse(kind, text) {
        return suite;
    }
    if let Some(suite) = game::parse(kind, text, trust) {
        return suite;
    }
    if kind != "preset-vectors" {
        let line = 1 + text.lines().position(|it| it.contains("\"kind\"")).unwrap_or(0);
        let reason = format!(
            "unknown kind `{kind}`; known are `preset-vectors` and those that begin with a game, as `GAME-perft` does"
        );
        return Err(Malformed { line, reason });
    }
    let file: PresetVectors = serde_json::from_str(text)?;
    // If the program that made the file counts a whole turn as one move, commas join the actions of the turn. Nothing
    // else in the file tells, so a file without a turn of several actions is taken to count actions.
    let has_comma = |it: &String| it.contains(BETWEEN);
    let in_turns = file.legal_moves.iter().any(|it| it.moves.iter().any(has_comma))
        || file.san.iter().any(|it| it.san.keys().any(has_comma));
    let perft = file.perft.into_iter().map(|PerftRow { fen, depth, nodes }| {
        let ask = if in_turns { Ask::Turns { depth, nodes } } else { Ask::Perft { depth, nodes } };
        Row { fen, ask }
    });
    let moves = file.legal_moves.into_iter().map(|mut it| {
        it.moves.sort();
        let ask = if in_turns { Ask::TurnsListed(it.moves) } else { Ask::Moves(it.moves) };
        Row { fen: it.fen, ask }
    });
    let san = file.san.into_iter().map(|it| {
        let mut texts: Vec<String> = it.san.iter().map(|it| uci_and_san(it.0, it.1)).collect();
        texts.sort();
        let ask = if in_turns { Ask::TurnsInSan(texts) } else { Ask::San(texts) };
        Row { fen: it.fen, ask }
    });
    let ends = file.ends.into_iter().map(|it| Row { fen: it.fen, ask: Ask::End(it.result) });
    let rows = perft.chain(moves).chain(san).chain(ends).collect();
    let oracle = file.oracle.map(|it| format!("{it} {}", file.variant));
    let game = Some(file.variant);
    Ok(Suite { game, oracle, rows, ..Suite::default() })
}

fn parse_perft(text: &str) -> Result<Suite, Malformed> {
    let records = read_perft_list(text).map_err(|why| {
        let reason = format!("found {:?}, expected {}", why.found, why.expected);
        Malformed { line: why.line, reason }
    })?;
    let row =
        |fen: &str, (depth, nodes)| Row { fen: fen.to_owned(), ask: Ask::Perft { depth, nodes } };
    let rows = records.iter().flat_map(|it| it.counts.iter().map(|count| row(&it.epd, *count)));
    Ok(Suite { of_any_game: true, rows: rows.collect(), ..Suite::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_json(text: &str) -> Result<Suite, Malformed> {
        parse_json(&kind_of(text)?, text, Trust::Corrected)
    }

    #[test]
    fn perft_lines_are_read() {
        let suite = parse_perft(PERFT).unwrap();
        let asks: Vec<_> = suite.rows.iter().map(|it| it.ask.clone()).collect();
        assert_eq!(asks, [Ask::Perft { depth: 1, nodes: 20 }, Ask::Perft { depth: 2, nodes: 400 }]);
        assert_eq!(suite.rows[1].fen, "8/8 w - -");
    }

    #[test]
    fn malformed_lines_are_named() {
        let check = |text: &str, line, part: &str| {
            let why = parse_perft(text).unwrap_err();
            assert_eq!(why.line, line);
            assert!(why.reason.contains(part), "{}", why.reason);
        };
        check("perft 1 20", 1, "an epd line first");
        check("epd x\n\nperft one 20", 3, "a depth and a number of nodes");
        check("epd x\npreft 1 2", 2, "preft 1 2");
    }

    #[test]
    fn malformed_json_has_line_and_reason() {
        let why = of_json("{\n\"kind\": \"preset-vectors\",\n\"variant\": 3}").unwrap_err();
        assert_eq!(why.line, 3);
        let why = of_json("{\n\"kind\": \"poem\"}").unwrap_err();
        assert_eq!((why.line, why.reason.contains("poem")), (2, true));
        for gap in ["", "\n"] {
            let text = format!("{{\"kind\": \"g-fen_cases\", \"cases\": [{gap}{{\"fen\": 1}}]}}");
            let why = of_json(&text).unwrap_err();
            assert_eq!((why.line, why.reason.contains("row 1")), (1 + gap.len(), true));
        }
    }

    const JSON: &str = "{\n \"kind\": \"preset-vectors\", \"variant\": \"chess\",\n \"perft\": \
        [{\"fen\": \"8/8 w - -\", \"depth\": 1, \"nodes\": 20}],\n \"legal_moves\": \
        [{\"fen\": \"8/8 w - -\", \"moves\": [\"a1a2\"]}]}";
    const PERFT: &str = "# x\nid a\nepd 8/8 w - -\nperft 1 20\nperft 2 400\n";

    /// Cuts a piece out and puts a letter in.
    fn damaged(text: &str, cut: std::ops::Range<usize>, letter: char) -> String {
        let kept = text.chars().enumerate().filter(|(at, _)| !cut.contains(at));
        let mut letters: Vec<char> = kept.map(|it| it.1).collect();
        letters.insert(cut.start.min(letters.len()), letter);
        letters.into_iter().collect()
    }

    proptest::proptest! {
        #[test]
        fn damaged_vectors_are_read_or_refused_with_a_line(
            at in 0..210usize,
            length in 0..4usize,
            letter in proptest::prelude::any::<char>(),
            digit in proptest::prelude::any::<bool>(),
        ) {
            let letter = if digit { '9' } else { letter };
            for (text, read) in [(JSON, of_json as fn(&str) -> _), (PERFT, parse_perft)] {
                let text = damaged(text, at..at + length, letter);
                match read(&text) {
                    Ok(suite) => proptest::prop_assert!(suite.rows.len() <= 2),
                    Err(why) => {
                        proptest::prop_assert!((1..=text.lines().count().max(1)).contains(&why.line));
                        proptest::prop_assert!(!why.reason.is_empty());
                    }
                }
            }
        }
    }
}
