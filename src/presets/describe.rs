//! The details of a preset, read from its checked rules, for lists and pages: its options, scopes and attributes, the
//! relations that it adds to, and what it reacts to.
//!
//! Deliberately absent: its effect in a game, and everything that needs plans.

use std::collections::HashSet;

use super::activation::{OptionEntry, Request, scope_names};
use super::catalogue::Catalogue;
use super::entry::PresetEntry;
use super::error::LoadError;
use crate::rules::{Event, Input, Program, Reaction, Relation, Role, compile};

/// The details of a preset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Particulars {
    /// Its options.
    pub options: Vec<OptionEntry>,
    /// The scopes that it can be active for.
    pub scopes: Vec<String>,
    /// The attributes that its files declare, its options aside: of pieces, of the game, of sides and the like.
    pub attributes: Vec<String>,
    /// The relations of other files that it adds clauses to.
    pub adds_to: Vec<String>,
    /// The actions and events that it reacts to, each with the stage: `any action in after`, `damage in wound`.
    pub reacts_to: Vec<String>,
}

impl Catalogue {
    /// The details of a preset, as part of a game.
    ///
    /// # Errors
    /// There is no such game, or the preset's rules do not compile with those of the game.
    pub fn particulars(&self, game: &str, preset: &PresetEntry) -> Result<Particulars, LoadError> {
        let all = self.with_required(&[&preset.preset]);
        let requests = self.requests(&all)?;
        let requests: Vec<&Request> = requests.iter().collect();
        let sources = self.texts(self.find_game(game)?, &requests)?;
        let program = compile(sources).map_err(|it| LoadError::Rules(Box::new(it)))?;
        Ok(self.read_particulars(&program, preset))
    }

    fn read_particulars(&self, program: &Program, preset: &PresetEntry) -> Particulars {
        let own = |source: u16| program.preset_of(source) == Some(&preset.preset);
        let options = self.options_of(program, &preset.preset);
        let is_option = |name: &str| {
            let name = name.strip_prefix(&preset.preset).and_then(|it| it.strip_prefix('.'));
            name.is_some_and(|it| options.iter().any(|known| known.name == it))
        };
        let attribute = |relation: &Relation| {
            let Role::Input(input) = relation.role else { return None };
            let name = &program.schema.attribute(input.attr()).name;
            let is_list = matches!(input, Input::List(..));
            let is_hidden = is_list || program.is_before(input.attr()) || is_option(name);
            (!is_hidden).then(|| name.clone())
        };
        let event = |reaction: &Reaction| {
            let event = match reaction.event {
                Event::Any => "any action",
                other => program.event_name(other),
            };
            format!("{event} in {}", program.stage(reaction.stage).name)
        };
        let relations = program.relations.iter().filter(|it| own(it.span.source));
        let attributes = each_once(relations.filter_map(attribute));
        let rules = program.rules.iter().filter(|it| own(it.span.source));
        let heads = rules.map(|it| program.relation(it.head));
        let others = heads.filter(|it| !own(it.span.source));
        let reactions = program.reactions.iter().filter(|it| own(it.span.source));
        Particulars {
            scopes: scope_names(program),
            attributes,
            adds_to: each_once(others.map(|it| it.name.clone())),
            reacts_to: each_once(reactions.map(event)),
            options,
        }
    }
}

/// The texts in order, without repetitions.
fn each_once(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    texts.filter(|it| seen.insert(it.clone())).collect()
}
