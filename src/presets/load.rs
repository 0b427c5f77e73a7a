//! Loads a game with activations: compiles its program and checks that all of it goes together.

#![warn(missing_docs)]

use crate::derive::Allowance;
#[cfg(any(feature = "bin", feature = "server"))]
use crate::derive::Backend;
#[cfg(any(feature = "bin", feature = "server"))]
use crate::facts::Document;
use crate::facts::{AttrId, Value};
#[cfg(any(feature = "bin", feature = "server"))]
use crate::game::Game;
use crate::game::drawing;
use crate::rules::Program;

use super::activation::{Activation, ActivationError, Request, pairs};
use super::catalogue::Catalogue;
use super::combine;
use super::entry::GameEntry;
use super::error::{LoadError, SetError};
use super::option_facts::value;
use super::ruleset::Ruleset;
#[cfg(any(feature = "bin", feature = "server"))]
use super::ruleset::StartError;

impl Catalogue {
    /// Compiles a game, given as `NAME[:OPTION=VALUE]`, with further activations. An activation of a preset
    /// that the game itself uses for the same scope replaces the game's.
    ///
    /// # Errors
    /// An unknown name, a start position that the game does not have, a wrong activation, activations that do not go
    /// together, rules that do not compile together, or any wrong preset in the catalogue, in use or not.
    pub fn load<T: AsRef<str>>(&self, game: &str, extra: &[T]) -> Result<Ruleset, LoadError> {
        let _span = tracing::debug_span!("load", game).entered();
        let _allowance = Allowance::open();
        let (game, number) = self.game_and_number(game)?;
        let own: Vec<Request> = self.of_uses(game, &game.uses, |it| self.request(it))?;
        let extra = self.requests(extra)?;
        self.definitions()?;
        let requests: Vec<&Request> = own.iter().chain(&extra).collect();
        let composed = self.compose(game, &requests)?;
        let program = composed.plan.program();
        drawing::inspect(program).map_err(LoadError::Drawing)?;
        let own = self.of_uses(game, &own, |it| Activation::resolve(program, it))?;
        let activations = activations(program, own, &extra)?;
        let faults = combine::check(self, &composed.scopes, &activations);
        if !faults.is_empty() {
            return Err(SetError { faults }.into());
        }
        let start = match &game.numbered {
            Some(it) => it.start(number.unwrap_or(it.default))?,
            None => game.start.clone(),
        };
        let facts = self.game_facts(program, game)?;
        Ok(Ruleset::new(game, start, activations, facts, &composed))
    }

    /// Does something with each `.meta use` of a game, or with what was made of it.
    fn of_uses<A, B>(
        &self,
        game: &GameEntry,
        all: &[A],
        each: impl Fn(&A) -> Result<B, ActivationError>,
    ) -> Result<Vec<B>, LoadError> {
        let fault = |at: usize, why| LoadError::Use {
            place: self.place_of_line(game, "use", at),
            game: game.name.clone(),
            activation: game.uses[at].clone(),
            why: Box::new(why),
        };
        all.iter().enumerate().map(|(at, it)| each(it).map_err(|why| fault(at, why))).collect()
    }

    /// The place of a game's `.meta` line, by its number among those of its key.
    fn place_of_line(&self, game: &GameEntry, key: &str, at: usize) -> String {
        let line = self.metas_of(game.source, key).nth(at).map_or(1, |it| it.span.line);
        format!("{}:{line}", self.path_of(game))
    }

    /// The rules of a game with exactly these activations: the game's own are among them only if they are named. This
    /// loads again what a game was played by ([`Game::rule_names`]).
    ///
    /// # Errors
    /// A wrong activation, or rules that do not compile together. Whether the activations go together is not checked.
    ///
    /// [`Game::rule_names`]: crate::game::Game::rule_names
    pub(crate) fn load_exactly(
        &self,
        rules: &Ruleset,
        activations: &[String],
    ) -> Result<Ruleset, LoadError> {
        let _allowance = Allowance::open();
        let requests = self.requests(activations)?;
        let game = self.find_game(&rules.game().name)?;
        let composed = self.compose(game, &requests.iter().collect::<Vec<_>>())?;
        let program = composed.plan.program();
        let resolved = requests.iter().map(|it| Activation::resolve(program, it));
        let activations = resolved.collect::<Result<Vec<_>, _>>()?;
        let facts = self.game_facts(program, game)?;
        Ok(Ruleset::new(game, rules.start_fen().to_owned(), activations, facts, &composed))
    }

    /// A game that goes on from facts, and its rules: those of the activations that the facts state. `rules` say which
    /// game it is, and are its rules if it cannot be played without presets that the facts do not have.
    ///
    /// # Errors
    /// As [`Ruleset::resume`].
    #[cfg(any(feature = "bin", feature = "server"))]
    pub(crate) fn resume(
        &self,
        rules: &Ruleset,
        facts: &Document,
    ) -> Result<(Ruleset, Game), StartError> {
        let game = rules.resume(facts, Backend::Bits)?;
        let active = Self::active(&game);
        if active != rules.activations()
            && let Ok(exact) = self.load_exactly(rules, &Activation::texts(&active))
            && let Ok(game) = exact.resume(facts, Backend::Bits)
        {
            return Ok((exact, game));
        }
        Ok((rules.clone(), game))
    }

    /// [`Catalogue::resume`] for the text of [`Game::to_json`].
    ///
    /// # Errors
    /// As [`Ruleset::resume_text`].
    #[cfg(feature = "server")]
    pub(crate) fn resume_text(
        &self,
        rules: &Ruleset,
        text: &str,
    ) -> Result<(Ruleset, Game), StartError> {
        self.resume(rules, &Document::parse(text)?)
    }

    /// The facts that a game's file states, as a program numbers them.
    pub(super) fn game_facts(
        &self,
        program: &Program,
        game: &GameEntry,
    ) -> Result<Vec<(AttrId, Value)>, LoadError> {
        let schema = &program.schema;
        let mut facts = Vec::new();
        for (at, (name, text)) in game.facts.iter().enumerate() {
            let fault = |fault| LoadError::Fact {
                place: self.place_of_line(game, "fact", at),
                game: game.name.clone(),
                stated: format!("{name}={text}"),
                fault,
            };
            let attr = schema.attribute_named(name);
            let attr = attr.ok_or_else(|| fault("there is no such attribute".to_string()))?;
            let value = value(schema, attr, text).map_err(|it| fault(format!("it takes {it}")))?;
            facts.push((attr, value));
        }
        Ok(facts)
    }

    fn game_and_number(&self, text: &str) -> Result<(&GameEntry, Option<u32>), LoadError> {
        let Some((name, options)) = text.split_once(':') else {
            return Ok((self.find_game(text)?, None));
        };
        let game = self.find_game(name)?;
        let fault = |fault: String| LoadError::GameOption { text: text.into(), fault };
        let mut number = None;
        for (option, value) in pairs(options).map_err(fault)? {
            match &game.numbered {
                Some(it) if it.option == option => {
                    let last = it.count().saturating_sub(1);
                    let wrong = |_| {
                        fault(format!("{option} takes a number from 0 to {last}, not {value:?}"))
                    };
                    number = Some(value.parse().map_err(wrong)?);
                }
                Some(it) => {
                    let known = &it.option;
                    return Err(fault(format!("there is no option {option}, only {known}")));
                }
                None => return Err(fault(format!("the game has no option {option}"))),
            }
        }
        Ok((game, number))
    }
}

/// The game's own activations, some replaced by extra ones for the same preset and scope, then the other
/// extra ones.
fn activations(
    program: &Program,
    own: Vec<Activation>,
    extra: &[Request],
) -> Result<Vec<Activation>, ActivationError> {
    let mut active = own;
    let mut settled: Vec<usize> = Vec::new();
    for request in extra {
        let activation = Activation::resolve(program, request)?;
        let same = |it: &Activation| it.preset == activation.preset && it.scope == activation.scope;
        let at = active.iter().position(same).unwrap_or(active.len());
        if settled.contains(&at) {
            let Activation { preset, scope, .. } = activation;
            return Err(ActivationError::Twice { preset, scope });
        }
        settled.push(at);
        match active.get_mut(at) {
            Some(place) => *place = activation,
            None => active.push(activation),
        }
    }
    Ok(active)
}
