//! Ability chess: vectors of scenarios, random games and lists; abilities as presets of chess.

use crate::cli::rulemate;

const FOLDER: &str = "tests/data/vectors/abilities";

/// Scenarios, random games, lists of requests and counts of their sequences, of the model of the rules.
#[test]
fn vectors_pass() {
    for (name, rows) in [("scenarios", 191), ("random", 100), ("legal", 17)] {
        let path = format!("{FOLDER}/{name}.rules002.json");
        let ran = rulemate(&["verify", &path]);
        assert_eq!(ran.out, format!("{path}: {rows} passed, 0 failed, 0 skipped\n"), "{}", ran.err);
    }
}
