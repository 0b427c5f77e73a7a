//! The public surface: the names of `rulemate::prelude`, which keep their meaning from version to version.

use std::collections::BTreeSet;

use crate::tidy::{read, root};

/// What `use rulemate::prelude::*` brings. A name that is new is an event; one that goes breaks other programs.
const NAMES: &[&str] = &[
    "Action",
    "Catalogue",
    "Content",
    "EntityId",
    "Error",
    "Explanation",
    "Fact",
    "Form",
    "GAME",
    "Game",
    "GameResult",
    "IllegalMove",
    "Limits",
    "Moment",
    "Opinion",
    "PlayError",
    "Point",
    "Preset",
    "Record",
    "RulesFrom",
    "Ruleset",
    "Save",
    "Source",
    "Value",
];

#[test]
fn the_prelude_has_these_names() {
    let text = read(&root().join("src/prelude.rs"));
    let mut names = BTreeSet::from(["Error"]);
    assert!(text.contains("pub enum Error"));
    for line in text.split("pub use ").skip(1) {
        let used = line.split(';').next().expect("a statement");
        let list = match used.split_once('{') {
            Some((_, list)) => list.trim_end_matches('}'),
            None => used.rsplit("::").next().expect("a path"),
        };
        names.extend(list.split(',').map(|it| it.rsplit(" as ").next().unwrap_or(it).trim()));
    }
    let expected: BTreeSet<&str> = NAMES.iter().copied().collect();
    assert_eq!(names, expected, "rulemate::prelude and tests/it/surface.rs differ");
}
