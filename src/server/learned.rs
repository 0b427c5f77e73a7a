//! What the computer learns about games, and the engine that it uses.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::library::RulesKey;
use super::lock::lock;
use crate::game::{Allowance, Game};
use crate::moves::action_texts;
use crate::opponent::{Knowledge, Lessons, Level, Opponent};
use crate::presets::Ruleset;

/// Maximum number of rule sets whose lessons stay in memory.
const REMEMBERED: usize = 32;

/// The lessons about a game before its first action here.
const LESSONS: Lessons =
    Lessons { actions: 200_000, longest: 200, time: Some(Duration::from_secs(2)) };

/// Knowledge about games, by rule set; the oldest is dropped first.
#[derive(Debug, Default)]
pub(super) struct Learned(Mutex<VecDeque<(RulesKey, Arc<Knowledge>)>>);

impl Learned {
    /// The knowledge about a game, learned if need be, always from its usual start position.
    pub(super) fn of(&self, rules: RulesKey, ruleset: &Ruleset, game: &Game) -> Arc<Knowledge> {
        if let Some((_, known)) = lock(&self.0).iter().find(|it| it.0 == rules) {
            return Arc::clone(known);
        }
        let start = ruleset.start(None).unwrap_or_else(|_| game.clone());
        let knowledge = Arc::new(Knowledge::learn(&start, LESSONS, 1));
        // Knowledge that was cut short by the budget is not kept.
        if Allowance::exhausted().is_some() {
            return knowledge;
        }
        let mut all = lock(&self.0);
        if all.len() >= REMEMBERED {
            all.pop_front();
        }
        all.push_back((rules, Arc::clone(&knowledge)));
        knowledge
    }
}

/// Finds the computer's action: its text, and the number of actions before it; `None` if the game is over.
pub type Engine = fn(Game, &Knowledge, Level) -> Option<(String, usize)>;

/// The default engine: `opponent`.
pub(super) fn think(
    mut game: Game,
    knowledge: &Knowledge,
    level: Level,
) -> Option<(String, usize)> {
    game.reload();
    let mut opponent = Opponent::new(knowledge.clone(), level, game.hash());
    let choice = opponent.choose(&game, level.budget(), &crate::game::Stop::default())?;
    let text = action_texts(game.world_mut(), &[choice.action]).pop()?;
    Some((text, game.history().len()))
}
