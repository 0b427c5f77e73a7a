//! The targets of `tests/it/targets`, compiled for the fuzzer together with the helpers that they use.
#![allow(dead_code, unused_imports, reason = "most of the helpers are for tests, which are not here")]

#[path = "../../tests/it/agreement.rs"]
mod agreement;
#[path = "../../tests/it/fixture.rs"]
mod fixture;
#[path = "../../tests/it/random_files.rs"]
mod random_files;
#[path = "../../tests/it/random_games.rs"]
mod random_games;
#[path = "../../tests/it/random_rules.rs"]
mod random_rules;
#[path = "../../tests/it/reactions.rs"]
mod reactions;
mod server;
#[path = "../../tests/it/targets/mod.rs"]
mod targets;

/// What `agreement` asks of the tests of rule text, which no target does.
mod rules {
    pub(crate) fn corpus(_folder: &str) -> Vec<(String, Vec<rulemate::internals::rules::Source>)> {
        Vec::new()
    }
}

/// Runs a target by its name.
pub fn run(target: &str, input: &[u8]) {
    if let Some((_, run)) = targets::TARGETS.iter().find(|it| it.0 == target) {
        run(input);
    }
}
