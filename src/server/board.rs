//! Adapts a game of the engine to the interface of the core.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::core::{Effect, Outcome, Played, Refused, Rules, TIMEOUT};
use crate::game::{EndError, Game, GameResult, GameSnapshot, PlayError, ReportEvent};
use crate::moves::{BETWEEN, action_texts, parse_turn};
use crate::presets::{Catalogue, Ruleset, preset_of};

/// A game with its rules, and the catalogue that other presets come from. Its facts are those after the last action, as
/// in a game that was just loaded: that players ended the game, by resigning for example, is in the log alone.
#[derive(Debug)]
pub struct Board {
    game: Game,
    catalogue: Arc<Catalogue>,
    rules: Ruleset,
}

impl Board {
    pub fn new(game: Game, catalogue: Arc<Catalogue>, rules: Ruleset) -> Self {
        Self { game, catalogue, rules }
    }

    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Restores a board from a snapshot; `None` if these rules cannot.
    pub fn from_snapshot(text: &str, catalogue: Arc<Catalogue>, rules: &Ruleset) -> Option<Self> {
        let kept: GameSnapshot = serde_json::from_str(text).ok()?;
        let game = rules.restore_snapshot(&kept)?;
        Some(Self::new(game, catalogue, rules.clone()))
    }

    /// The names of the attributes that the FEN of the position does not state.
    pub fn unsaid(&mut self) -> Vec<String> {
        self.rules.unsaid(&mut self.game)
    }

    /// As [`Board::unsaid`] for an earlier position of the game, at which other presets may have been active.
    pub fn unsaid_of(&self, past: &mut Game) -> Vec<String> {
        match self.other_rules(past) {
            Some(rules) => rules.unsaid(past),
            None => self.rules.unsaid(past),
        }
    }

    /// The rules of a position of the game, if they differ from those of the board.
    fn other_rules(&self, game: &Game) -> Option<Ruleset> {
        match self.rules.governs(game) {
            true => None,
            false => self.catalogue.load_exactly(&self.rules, game.rule_names()).ok(),
        }
    }

    /// The title of a game.
    pub fn title_of(&self, game: &str) -> String {
        let known = self.catalogue.games().iter().find(|it| it.name == game);
        known.map_or_else(|| game.to_owned(), |it| it.title.clone())
    }

    /// The titles of the presets of activations, by preset.
    pub fn names_of(&self, activations: &[String]) -> BTreeMap<String, String> {
        let is_active = |preset: &str| activations.iter().any(|it| preset_of(it) == preset);
        let active = self.catalogue.presets().iter().filter(|it| is_active(&it.preset));
        active.map(|it| (it.preset.clone(), it.name.clone())).collect()
    }

    /// The game, for questions and views. A caller that changes something must restore it.
    pub fn game_mut(&mut self) -> &mut Game {
        &mut self.game
    }
}

impl Rules for Board {
    fn sides(&self) -> usize {
        self.game.sides().len()
    }

    fn side(&self) -> usize {
        number(self.game.side()).unwrap_or_default()
    }

    fn play(&mut self, text: &str) -> Result<Played, Refused> {
        let before = self.game.history().len();
        match self.game.play_text(text) {
            Ok(_) => {}
            // The action is legal but cannot be played: explaining why it is legal would not help.
            Err(error @ (PlayError::Refused(_) | PlayError::Limit(_))) => {
                return Err(Refused::plain(error.to_string()));
            }
            Err(error) => return Err(self.why_not(text, &error)),
        }
        let played = self.game.history().len() - before;
        if played > 1 {
            self.take_back(played);
            let sentence = format!("{text} is several actions: send them one by one");
            return Err(Refused::plain(sentence));
        }
        self.played().ok_or_else(|| Refused::plain("nothing was played"))
    }

    fn actions(&mut self, turn: &str) -> Vec<String> {
        let contract = self.game.contract().clone();
        let world = self.game.world_mut();
        match parse_turn(world, &contract, turn) {
            Ok(actions) => action_texts(world, &actions),
            // The fault shows when the parts between the commas are played.
            Err(_) => turn.split(BETWEEN).map(str::to_owned).collect(),
        }
    }

    fn take_back(&mut self, actions: usize) {
        for _ in 0..actions {
            self.game.takeback();
        }
        // Changes of presets are taken back with the actions after them.
        if let Some(rules) = self.other_rules(&self.game) {
            self.rules = rules;
        }
    }

    fn snapshot(&self) -> Option<String> {
        serde_json::to_string(&self.game.snapshot()?).ok()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.game.result().map(outcome)
    }

    fn resign(&mut self, side: usize) -> Result<Outcome, Refused> {
        self.game.result_of_resigning(raw(side)).map(|it| outcome(&it)).map_err(refused)
    }

    fn flag(&mut self, side: usize) -> Result<Outcome, Refused> {
        match self.game.result_of_flag(raw(side)) {
            // Uploaded rules, which do not know about time.
            Err(EndError::Unknown) => {
                self.resign(side).map(|it| Outcome { reason: TIMEOUT.into(), ..it })
            }
            answer => answer.map(|it| outcome(&it)).map_err(refused),
        }
    }

    fn sits_out(&mut self, side: usize) -> bool {
        self.game.sits_out(raw(side))
    }

    fn claim(&mut self) -> Result<Outcome, Refused> {
        self.game.result_of_claim(None).map(|it| outcome(&it)).map_err(refused)
    }

    fn check_presets(&self, presets: &[String]) -> Result<(), Refused> {
        let mut copy = self.game.clone();
        let set = self.catalogue.set_active(&self.rules, &mut copy, presets);
        set.map_err(|it| Refused::plain(it.to_string()))?;
        match copy.result() {
            Some(result) if self.outcome().is_none() && copy.history().is_empty() => {
                let sentence = format!("with these presets the game would be over now: {result}");
                Err(Refused::plain(sentence))
            }
            _ => Ok(()),
        }
    }

    fn activate(&mut self, presets: &[String]) -> Result<(), Refused> {
        let set = self.catalogue.set_active(&self.rules, &mut self.game, presets);
        self.rules = set.map_err(|it| Refused::plain(it.to_string()))?;
        Ok(())
    }
}

impl Board {
    /// The refutation of an action that is not legal.
    fn why_not(&mut self, text: &str, error: &PlayError) -> Refused {
        match self.game.why_move(text) {
            Ok(answer) if !answer.holds => Refused {
                reason: answer.code,
                sentence: answer.summary,
                because: answer.lines.iter().map(|it| indented(it.depth, &it.text)).collect(),
            },
            // The text does not have the form of a move, or the action is legal, but the game is over.
            _ => Refused {
                reason: self.game.code_of(text, error),
                ..Refused::plain(error.to_string())
            },
        }
    }

    /// The last action.
    fn played(&self) -> Option<Played> {
        let record = self.game.history().last()?;
        Some(Played {
            uci: record.uci.to_string(),
            san: record.san.to_string(),
            side: number(Some(record.side)).unwrap_or_default(),
            turn_goes_on: record.turn_goes_on,
            turn: self.game.last_turn(),
            notes: record.notes().iter().map(ToString::to_string).collect(),
            effects: self.effects(),
        })
    }

    /// The effects of the last action that clients show.
    fn effects(&self) -> Vec<Effect> {
        let action = self.game.history().len().checked_sub(1).and_then(|it| self.game.report(it));
        let emitted = action.map(|it| it.emitted).unwrap_or_default();
        let effect =
            |it: ReportEvent| Effect { name: it.name, args: it.args.into_iter().collect() };
        emitted.into_iter().map(effect).collect()
    }
}

/// A side as the rules number it; -1 is none of them.
fn raw(side: usize) -> i64 {
    i64::try_from(side).unwrap_or(-1)
}

fn number(side: Option<i64>) -> Option<usize> {
    side.and_then(|it| usize::try_from(it).ok())
}

fn indented(depth: usize, text: &str) -> String {
    format!("{:indent$}{text}", "", indent = 2 * depth)
}

fn outcome(result: &GameResult) -> Outcome {
    Outcome {
        outcome: result.outcome.clone(),
        reason: result.reason.clone(),
        winner: number(result.winner),
    }
}

fn refused(error: EndError) -> Refused {
    Refused::plain(error.to_string())
}
