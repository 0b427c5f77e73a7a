//! The context of a printed explanation, so that a checker needs nothing else: the game, the facts, and the hashes of
//! the rules.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::output::{OrFix, trouble};
use super::setup::{Library, Opened};
use crate::derive::Backend;
use crate::facts::{Document, SavedFact, Session, saved};
use crate::moves::is_stuck;
use crate::presets::Ruleset;
use crate::rules::Source;

/// The fix where facts are not those of a position of the game.
const ALTERED: &str = "the list of facts was altered";

/// A rule file and the hash of its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RuleHash {
    pub(crate) path: String,
    pub(crate) blake3: String,
}

/// What an explanation rests on: a game, the activations that its rules were loaded for, the hashes of the rules, and
/// the facts. `presets` and `fen` are for readers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Evidence {
    pub(crate) game: String,
    pub(crate) presets: Vec<String>,
    /// The activations in full, also those that have ended by themselves since; the game's own are among them unless
    /// they were switched off. `None` in explanations of earlier versions: their rules are those of the game with
    /// `presets`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) activations: Option<Vec<String>>,
    pub(crate) fen: String,
    pub(crate) rules: Vec<RuleHash>,
    pub(crate) facts: Vec<SavedFact>,
}

impl Evidence {
    pub(crate) fn of(opened: &mut Opened) -> Self {
        let Opened { game, name, presets, .. } = opened;
        let program = game.program();
        let rule = |it: &Source| RuleHash { path: it.path.clone(), blake3: it.hash() };
        let rules = program.sources.iter().map(rule).collect();
        let schema = game.facts().schema();
        let facts = game.facts().all_facts().iter().map(|it| saved(schema, it)).collect();
        let activations = Some(game.rule_names().to_vec());
        let (name, presets) = (name.clone(), presets.clone());
        Self { game: name, presets, activations, fen: game.fen(), rules, facts }
    }

    /// The rules and the facts, if the current rules are those that were used.
    pub(crate) fn restore(&self, library: &mut Library) -> anyhow::Result<(Arc<Ruleset>, Session)> {
        let rules = match &self.activations {
            None => library.load(&self.game, &self.presets)?,
            Some(activations) => {
                let game = library.load(&self.game, &[])?;
                Arc::new(library.load_exactly(&game, activations)?)
            }
        };
        let program = rules.program();
        let fits = |(source, stated): (&Source, &RuleHash)| {
            source.path == stated.path && source.hash() == stated.blake3
        };
        let has_same_count = program.sources.len() == self.rules.len();
        if !has_same_count || !program.sources.iter().zip(&self.rules).all(fits) {
            let now: Vec<String> = program.sources.iter().map(|it| it.hash()).collect();
            let changed = self.rules.iter().find(|it| !now.contains(&it.blake3));
            // If all texts are still there, files were added, renamed or put into another order.
            let path = changed.map_or("the list of rule files", |it| it.path.as_str());
            return Err(trouble(
                format!("{path} has changed since the explanation was printed"),
                "explain again under the rules as they are",
            ));
        }
        let session = Document::new(self.facts.clone()).session(&program.schema);
        Ok((rules, session.or_fix(ALTERED)?))
    }

    /// Whether the side to move has no legal action. Finds out by playing actions out.
    pub(crate) fn is_stuck(&self, rules: &Ruleset) -> anyhow::Result<bool> {
        let document = Document::new(self.facts.clone());
        let mut game = rules.resume(&document, Backend::Bits).or_fix(ALTERED)?;
        let contract = game.contract().clone();
        let is_stuck = is_stuck(game.world_mut(), &contract);
        game.check()?;
        Ok(is_stuck)
    }
}
