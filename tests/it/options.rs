//! `docs/fairy-options.md`, which says for each option of Fairy-Stockfish's `variants.ini` how a rule file says it.
//!
//! The code of a row makes a game together with the head that the document shows. Trees and ends of
//! `tests/data/fairy-options.json` are those of pyffish 0.0.90 for a variant with the option, which inherits from chess, or from
//! crazyhouse, atomic, suicide or bughouse where the row uses such a preset; `before` is what the row takes for granted.

use std::collections::{BTreeMap, BTreeSet};

use rulemate::internals::moves::{perft, perft_of_turns};
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::internals::rules::Source;
use serde::Deserialize;

const DOCUMENT: &str = include_str!("../../docs/fairy-options.md");

#[derive(Deserialize)]
struct Case {
    /// The first option of a row, or of several that go together: `A + B`.
    option: String,
    #[serde(default)]
    before: String,
    /// A move of the oracle's is a turn of several actions.
    #[serde(default)]
    turns: bool,
    /// Position, depth, nodes.
    #[serde(default)]
    perft: Vec<(String, u32, u64)>,
    /// Position and winner, or `draw`.
    #[serde(default)]
    ends: Vec<(String, String)>,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("../data/fairy-options.json")).expect("cases")
}

/// What stands between backquotes.
fn spans(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The first option of each row, and what its rule file says.
fn rows() -> Vec<(&'static str, &'static str)> {
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let [options, _, says] = cells[..] else { panic!("three cells: {line}") };
        (spans(options)[0], says)
    };
    DOCUMENT.lines().filter(|it| it.starts_with("| `")).map(row).collect()
}

/// Directives, reactions, and rules or facts with their period.
fn is_code(span: &str) -> bool {
    let is_clause = span.ends_with('.') && span.contains('(');
    is_clause || span.starts_with('.') || span.starts_with("on ")
}

/// The code of each row that has some, by its first option.
fn codes() -> BTreeMap<&'static str, String> {
    let code =
        |says| spans(says).into_iter().filter(|it| is_code(it)).collect::<Vec<_>>().join("\n");
    rows()
        .into_iter()
        .map(|(option, says)| (option, code(says)))
        .filter(|it| !it.1.is_empty())
        .collect()
}

fn game(catalogue: &Catalogue, option: &str, rules: &str) -> Ruleset {
    let has_start = [".meta layout", ".meta start"].iter().any(|it| rules.contains(it));
    let head = if has_start { ".meta family \"chess\"" } else { ".meta layout \"orthodox\"" };
    let text = format!(".meta game \"mine\"\n.meta title \"Mine\"\n{head}\n{rules}\n");
    let mut catalogue = catalogue.clone();
    let source = Source { path: "mine/mine.dl".into(), text: text.into() };
    catalogue.add(source).unwrap_or_else(|it| panic!("{option}: {it}"));
    catalogue.load::<&str>("mine", &[]).unwrap_or_else(|it| panic!("{option}: {it}"))
}

/// What the game of a case does otherwise than the oracle.
fn differences(rules: &Ruleset, case: &Case) -> Vec<String> {
    let mut found = Vec::new();
    let start = |fen: &str| {
        rules.start(Some(fen)).unwrap_or_else(|it| panic!("{} {fen}: {it}", case.option))
    };
    for (fen, depth, nodes) in &case.perft {
        let mut game = start(fen);
        let contract = game.contract().clone();
        let counted = match case.turns {
            true => perft_of_turns(game.world_mut(), &contract, *depth).expect("turns end"),
            false => perft(game.world_mut(), &contract, *depth),
        };
        if counted != *nodes {
            found.push(format!("{} {fen}, depth {depth}: {counted}, not {nodes}", case.option));
        }
    }
    for (fen, expected) in &case.ends {
        let game = start(fen);
        let sides = game.program().schema.domain(game.contract().sides);
        let winner = game.result().map(|it| match it.winner {
            Some(side) => sides.member_name(side),
            None => "draw".into(),
        });
        if winner.as_ref() != Some(expected) {
            found.push(format!("{} {fen}: {winner:?}, not {expected}", case.option));
        }
    }
    found
}

#[test]
fn each_row_says_what_the_option_says() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let codes = codes();
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    for case in cases() {
        let mut rules = case.before.clone();
        for option in case.option.split(" + ") {
            rules.push('\n');
            rules.push_str(codes.get(option).unwrap_or_else(|| panic!("no row: {option}")));
            seen.insert(option.to_owned());
        }
        found.extend(differences(&game(&catalogue, &case.option, &rules), &case));
    }
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
    let missing: Vec<&&str> = codes.keys().filter(|it| !seen.contains(**it)).collect();
    assert!(missing.is_empty(), "rows without a case: {missing:?}");
}

#[test]
fn files_and_layouts_that_rows_name_are_there() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let has_file =
        |name: &str| catalogue.sources().iter().any(|it| it.path.rsplit('/').next() == Some(name));
    let has_layout = |name: &str| catalogue.layouts().iter().any(|it| it.name == name);
    for (option, says) in rows() {
        let parts: Vec<&str> = says.split('`').collect();
        for pair in parts.chunks(2).filter(|it| it.len() == 2) {
            let (before, span) = (pair[0], pair[1]);
            assert!(!before.ends_with("the layout ") || has_layout(span), "{option}: {span}");
            let is_file = span.ends_with(".dl") && !span.contains(' ');
            assert!(!is_file || has_file(span), "{option}: {span}");
        }
    }
}
