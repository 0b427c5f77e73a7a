//! One game with its presets, compiled: the part that all its played games share.

#![warn(missing_docs)]

use std::sync::Arc;

use crate::derive::{Allowance, Backend, Exhausted, Plan, Refusal, World};
use crate::facts::{
    AttrId, Document, EntityId, FactError, NEXT_ENTITY, SaveError, Snapshot, Value,
};
use crate::game::{Game, GameSnapshot};
use crate::moves::Contract;
use crate::moves::notation::{FenError, Warning, misplaced, read_fen, read_turn, split_turn};
use crate::rules::Program;

#[cfg(feature = "server")]
use super::activation::Request;
use super::activation::{Activation, state_new_options, state_of_game};
use super::entry::GameEntry;
use super::programs::Composed;

/// A game that can be started, any number of times.
#[derive(Debug, Clone)]
pub struct Ruleset {
    game: GameEntry,
    start: String,
    activations: Vec<Activation>,
    pub(super) facts: Vec<(AttrId, Value)>,
    contract: Arc<Contract>,
    plan: Arc<Plan>,
}

/// Why a game cannot start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StartError {
    #[error(transparent)]
    Fen(#[from] FenError),
    #[error(transparent)]
    Save(#[from] SaveError),
    #[error("the facts are no position of this game: {0}")]
    Misplaced(String),
    #[error(transparent)]
    Fact(#[from] FactError),
    #[error(transparent)]
    Limit(#[from] Exhausted),
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// Raises an event about an activation, if the rules declare it. What follows from it is final.
pub(super) fn announce(world: &mut World, event: &str, about: EntityId) -> Result<(), Refusal> {
    if let Some(event) = world.program().event_named(event) {
        world.raise(event, &[i64::from(about.0)])?;
        world.commit_keeping_room();
    }
    Ok(())
}

impl Ruleset {
    /// A game under the program that its activations need, and with its facts as that program numbers them.
    pub(super) fn new(
        game: &GameEntry,
        start: String,
        activations: Vec<Activation>,
        facts: Vec<(AttrId, Value)>,
        composed: &Composed,
    ) -> Self {
        let (contract, plan) = (Arc::clone(&composed.contract), Arc::clone(&composed.plan));
        Self { game: game.clone(), start, activations, facts, contract, plan }
    }

    /// The game, as its file describes it.
    pub fn game(&self) -> &GameEntry {
        &self.game
    }

    /// The position that games start from if no other is given.
    pub fn start_fen(&self) -> &str {
        &self.start
    }

    /// The start position, if it is a numbered one that was chosen and is not the game's default.
    #[cfg(feature = "server")]
    pub(crate) fn chosen_start(&self) -> Option<&str> {
        let is_chosen = self.game.numbered.is_some() && self.start != self.game.start;
        is_chosen.then_some(self.start.as_str())
    }

    /// The activations, the game's own first.
    pub fn activations(&self) -> &[Activation] {
        &self.activations
    }

    /// What is active beyond the game's own activations, or in place of one: each in short and in full. The order is
    /// that of the short texts, so it is the same for all spellings of one set.
    #[cfg(feature = "server")]
    pub(crate) fn added(&self) -> Vec<(String, String)> {
        let program = self.program();
        let own = self.game.uses.iter().filter_map(|it| Request::parse(it).ok());
        let own: Vec<Activation> =
            own.filter_map(|it| Activation::resolve(program, &it).ok()).collect();
        let others = self.activations.iter().filter(|it| !own.contains(it));
        let mut all: Vec<_> = others.map(|it| (it.in_short(program), it.to_string())).collect();
        all.sort_unstable();
        all
    }

    /// The names of the sides, in their order.
    pub fn sides(&self) -> Vec<String> {
        self.program().schema.domain(self.contract.sides).member_names().collect()
    }

    /// The names of these rules: their activations, in full.
    fn names(&self) -> Arc<[String]> {
        Activation::texts(&self.activations).into()
    }

    /// Whether a position is played by these rules: their activations may have ended by themselves since.
    #[cfg(any(feature = "bin", feature = "server"))]
    pub(crate) fn governs(&self, game: &Game) -> bool {
        self.names() == *game.rule_names()
    }

    /// The compiled rules, for other worlds under them.
    #[doc(hidden)]
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The checked rules.
    #[doc(hidden)]
    pub fn program(&self) -> &Arc<Program> {
        self.plan.program()
    }

    /// The relations that the layer of moves reads by name.
    #[doc(hidden)]
    pub fn contract(&self) -> &Contract {
        &self.contract
    }

    /// A new game, from a position or from the game's own start.
    ///
    /// # Errors
    /// The text is not a FEN for these rules, there are more activations than entities, the rules refuse an activation
    /// or an action of the turn under way, or a limit of evaluation is reached.
    pub fn start(&self, fen: Option<&str>) -> Result<Game, StartError> {
        self.start_on(Backend::Bits, fen)
    }

    /// A new game on a given evaluator.
    ///
    /// # Errors
    /// As [`Ruleset::start`].
    #[doc(hidden)]
    pub fn start_on(&self, backend: Backend, fen: Option<&str>) -> Result<Game, StartError> {
        let _allowance = Allowance::open();
        let mut world = World::new(Arc::clone(&self.plan), backend);
        state_of_game(&mut world, &self.facts)?;
        let mut active = Vec::new();
        for (activation, number) in self.activations.iter().zip(1..) {
            active.push(activation.state(&mut world, number)?);
        }
        let (fen, is_usual) = (fen.unwrap_or(&self.start), fen.is_none());
        let contract = &self.contract;
        let (position, turn) = split_turn(contract, fen);
        let setup = read_fen(&mut world, contract, position)?;
        for entity in active {
            announce(&mut world, "activated", entity)?;
        }
        setup.restate(&mut world);
        let mut before = None;
        if let Some(turn) = turn {
            world.commit();
            before = Some(Snapshot::new(world.facts()));
            for mv in read_turn(&mut world, contract, turn, position.len() + 1)? {
                world.fire(mv.action, &mv.args)?;
            }
        }
        let game = Game::from_facts(world, Arc::clone(&self.contract));
        let mut game = checked(game.with_turn_start(before).with_rule_names(self.names()))?;
        setup.warnings.into_iter().for_each(|it| game.warn(it));
        let added = self.activations.iter().skip(self.game.uses.len());
        let added: Vec<&str> = added.map(|it| &*it.preset).collect();
        if is_usual
            && !added.is_empty()
            && let Some(result) = game.result().cloned()
        {
            let (name, added) = (&self.game.name, added.join(" and "));
            game.warn(Warning::Over(format!("{name} with {added} is over as it begins: {result}")));
        }
        Ok(game)
    }

    /// A game that goes on from facts, activations included. Its history is unknown, so repetitions are
    /// counted from here on.
    ///
    /// # Errors
    /// These rules do not know a fact, the facts are no position of this game, or a limit of evaluation is reached.
    #[doc(hidden)]
    pub fn resume(&self, document: &Document, backend: Backend) -> Result<Game, StartError> {
        let mut game = self.resume_older(document, None, backend)?;
        let contract = game.contract().clone();
        match misplaced(game.world_mut(), &contract) {
            Some(found) => Err(StartError::Misplaced(found)),
            None => Ok(game),
        }
    }

    /// [`Ruleset::resume`] for facts that were written when the rules had only the attributes `known` (`None`: all that
    /// they have now): later attributes of the game and of activations get their defaults. Whether the facts are a
    /// position of this game is not checked.
    ///
    /// # Errors
    /// These rules do not know a fact, or a limit of evaluation is reached.
    #[doc(hidden)]
    pub fn resume_older(
        &self,
        document: &Document,
        known: Option<&[String]>,
        backend: Backend,
    ) -> Result<Game, StartError> {
        let _allowance = Allowance::open();
        let schema = Arc::clone(&self.program().schema);
        let facts = document.facts(&schema)?;
        let is_known =
            |attr: AttrId| known.is_none_or(|known| known.contains(&schema.attribute(attr).name));
        let mut world = World::new(Arc::clone(&self.plan), backend);
        // A new world has the game's defaults. Attributes that were known then have only the values that the facts state.
        for fact in world.facts().all_facts() {
            if fact.attr != NEXT_ENTITY && is_known(fact.attr) {
                world.retract(fact.entity, fact.attr);
            }
        }
        for fact in facts {
            world.insert(fact.entity, fact.attr, fact.value)?;
        }
        if known.is_some() {
            state_new_options(&mut world, &is_known)?;
        }
        let game = Game::from_facts(world, Arc::clone(&self.contract));
        checked(game.with_rule_names(self.names()))
    }

    /// A game from a snapshot that was made under these rules. `None` if it cannot be restored.
    #[doc(hidden)]
    pub fn restore_snapshot(&self, kept: &GameSnapshot) -> Option<Game> {
        let _allowance = Allowance::open();
        let world = World::new(Arc::clone(&self.plan), Backend::Bits);
        let game = Game::from_snapshot(world, Arc::clone(&self.contract), kept)?;
        let mut game = game.with_rule_names(self.names());
        game.check().is_ok().then_some(game)
    }

    /// A game that goes on from the text of [`Game::to_json`], activations included. Its history is unknown, so
    /// repetitions are counted from here on. A [`Save`](super::save::Save) has the history, too.
    ///
    /// # Errors
    /// The text is no list of facts, these rules do not know a fact of it, the facts are no position of this game, or a limit of
    /// evaluation is reached.
    pub fn resume_text(&self, text: &str) -> Result<Game, StartError> {
        self.resume(&Document::parse(text)?, Backend::Bits)
    }
}

/// The game, if its first position could be evaluated.
fn checked(mut game: Game) -> Result<Game, StartError> {
    game.check()?;
    Ok(game)
}
