//! Why moves are refused, in the sentences that players are told: questions over 28 games in
//! `tests/data/golden/why.txt`, which a person can judge by reading it. `UPDATE_EXPECT=1` writes the answers anew.
//!
//! `game NAME` and `fen FEN` set up; `? MOVE` asks, and the line below it is the answer.

use rulemate::internals::game::Game;
use rulemate::internals::presets::{Catalogue, Ruleset};

/// The questions and their answers.
const FILE: &str = "tests/data/golden/why.txt";

#[test]
fn players_are_told_why_in_three_sentences_at_most() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|it| panic!("{path:?}: {it}"));
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let (mut rules, mut game): (Option<Ruleset>, Option<Game>) = (None, None);
    let (mut written, mut wrong) = (String::new(), Vec::new());
    let (mut games, mut questions) = (Vec::new(), 0);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("game ") {
            let loaded = catalogue.load::<&str>(name, &[]).unwrap_or_else(|it| panic!("{it}"));
            game = loaded.start(None).ok();
            rules = Some(loaded);
            games.push(name.to_owned());
        } else if let (Some(fen), Some(rules)) = (line.strip_prefix("fen "), &rules) {
            game = Some(rules.start(Some(fen)).unwrap_or_else(|it| panic!("{fen}: {it}")));
        } else if line.starts_with("  ") {
            continue;
        }
        written.push_str(line);
        written.push('\n');
        let (Some(question), Some(game)) = (line.strip_prefix("? "), &mut game) else { continue };
        let answer = game.why_move(question).unwrap_or_else(|it| panic!("{question}: {it}"));
        questions += 1;
        let told = answer.sentences.join(" ");
        written.push_str(&format!("  {told}\n"));
        let is_plain =
            !["not:", "Not.", "!=", "[", "_", "#", ": "].iter().any(|it| told.contains(it));
        let is_short = (2..=3).contains(&answer.sentences.len());
        if answer.holds || !is_plain || !is_short {
            wrong.push(format!("{question}: {told}"));
        }
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &written).unwrap_or_else(|it| panic!("{path:?}: {it}"));
    }
    let first = text.lines().zip(written.lines()).find(|(one, other)| one != other);
    assert!(written == text, "stale: run with UPDATE_EXPECT=1; first {first:?}");
    assert_eq!(wrong, Vec::<String>::new());
    assert!(questions >= 200, "{questions} questions");
    assert!(games.len() >= 12, "{games:?}");
}
