//! The context of a printed explanation, so that it can be checked by itself: the game, the facts, and the
//! hashes of the rules.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::output::trouble;
use super::setup::{Library, Opened};
use crate::facts::{Document, SavedFact, Session, saved};
use crate::rules::Program;

/// A rule file and the hash of its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RuleHash {
    pub(crate) path: String,
    pub(crate) blake3: String,
}

/// What an explanation rests on: a game and its presets, the hashes of their rules, and the facts. The `fen` is for
/// readers: a check reads the facts alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Evidence {
    pub(crate) game: String,
    pub(crate) presets: Vec<String>,
    pub(crate) fen: String,
    pub(crate) rules: Vec<RuleHash>,
    pub(crate) facts: Vec<SavedFact>,
}

impl Evidence {
    pub(crate) fn of(opened: &mut Opened) -> Self {
        let Opened { game, name, presets, .. } = opened;
        let program = game.program();
        let rule =
            |it: &crate::rules::Source| RuleHash { path: it.path.clone(), blake3: it.hash() };
        let rules = program.sources.iter().map(rule).collect();
        let schema = game.facts().schema();
        let facts = game.facts().all_facts().iter().map(|it| saved(schema, it)).collect();
        Self { game: name.clone(), presets: presets.clone(), fen: game.fen(), rules, facts }
    }

    /// The program and the facts, if the current rules are those that were used.
    pub(crate) fn restore(self, library: &mut Library) -> anyhow::Result<(Arc<Program>, Session)> {
        let rules = library.load(&self.game, &self.presets)?;
        let program = Arc::clone(rules.program());
        let fits = |(source, stated): (&crate::rules::Source, &RuleHash)| {
            source.path == stated.path && source.hash() == stated.blake3
        };
        let as_many = program.sources.len() == self.rules.len();
        if !as_many || !program.sources.iter().zip(&self.rules).all(fits) {
            let now: Vec<String> = program.sources.iter().map(|it| it.hash()).collect();
            let changed = self.rules.iter().find(|it| !now.contains(&it.blake3));
            // With no such file there are others beside these, or they have another order or other paths.
            let path = changed.map_or("the list of rule files", |it| it.path.as_str());
            return Err(trouble(
                format!("{path} has changed since the explanation was printed"),
                "explain again under the rules as they are",
            ));
        }
        let document = Document::new(self.facts);
        let session = document.session(&program.schema);
        let fix = "explain again: these facts are not as they were printed";
        Ok((program, session.map_err(|it| trouble(it, fix))?))
    }
}
