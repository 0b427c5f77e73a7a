//! Errors of rule files: when they are added to a catalogue, when games are loaded from it, and when the presets of a
//! game are changed.

#![warn(missing_docs)]

use crate::derive::{Exhausted, PlanError, Refusal};
use crate::facts::{FactError, meant};
use crate::game::SwitchError;
use crate::moves::ContractError;
use crate::moves::notation::LetterFault;
use crate::rules::Diagnostics;

use super::activation::{ActivationError, joined};
use super::definitions::DefinitionError;
use super::numbered::PlaceError;

/// What is wrong with a rule file as a part of a catalogue: its metadata, or a name that is taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}: {fault}")]
pub struct CatalogueError {
    /// The file.
    pub path: String,
    /// Its line, counted from 1.
    pub line: u32,
    /// The mistake.
    pub fault: String,
}

/// Why rule files cannot be added.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum AddError {
    #[error("{path} cannot be read: {why}")]
    Read { path: String, why: std::io::Error },
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
}

/// Why a game cannot be loaded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum LoadError {
    #[error("there is no game {name}{}", meant(.near))]
    Game { name: String, near: Option<String> },
    #[error("game {game} has the layout {layout}, which does not exist")]
    Layout { game: String, layout: String },
    #[error("{what} is made for the family {family}, which does not exist{}", meant(.near))]
    NoFamily { what: String, family: String, near: Option<String> },
    #[error("{what} is made for games of the family {family}, and {game} {}", of_family(.of))]
    Family { what: String, family: String, game: String, of: Option<String> },
    #[error(
        "{what} speaks of {relation}, which the family {family} has, and {game} {}: `.meta family \
         \"{family}\"` names the family that rules are made for, `.decl` declares a relation of their own",
        of_family(.of)
    )]
    Foreign { what: String, relation: String, family: String, game: String, of: Option<String> },
    #[error(
        "{place}: there is no board {shape:?}: write FILESxRANKS, \"hex SIDE\" for hexagons, \"graph\" \
         for points that the rules name, or \"none\""
    )]
    Shape { place: String, shape: String },
    #[error(
        "{what} speaks of {relation}, which boards of files and ranks have, and {game} has none"
    )]
    NeedsSquares { what: String, relation: String, game: String },
    #[error("{place}: {fault}")]
    Sides { place: String, fault: String },
    #[error("{0}")]
    Drawing(String),
    #[error("{place}: {name:?} cannot be included: {fault}")]
    Include { place: String, name: String, fault: String },
    #[error(transparent)]
    Letter(#[from] LetterFault),
    #[error("{text:?} is no game: expected NAME[:OPTION=VALUE], but {fault}")]
    GameOption { text: String, fault: String },
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error(transparent)]
    Activation(#[from] ActivationError),
    #[error("{place}: game {game} states {stated}, but {fault}")]
    Fact { place: String, game: String, stated: String, fault: String },
    #[error("{place}: game {game} uses {activation}, but {why}")]
    Use { place: String, game: String, activation: String, why: Box<ActivationError> },
    #[error(transparent)]
    Rules(Box<Diagnostics>),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(
        "{game} with {presets} takes more computing than is allowed: leave a preset out, or choose a game with a smaller \
         board ({why})"
    )]
    TooMuch { game: String, presets: String, why: Exhausted },
    #[error("{game} with {presets} has too many rules: leave a preset out ({why})")]
    TooLarge { game: String, presets: String, why: String },
    #[error(transparent)]
    Contract(#[from] ContractError),
    #[error(transparent)]
    Definitions(#[from] DefinitionError),
    #[error(transparent)]
    Set(#[from] SetError),
    #[error(
        "with the requested rules, all rules in use would take {} MB, more than the maximum: wait until a game has ended",
        bytes >> 20
    )]
    Full { bytes: usize },
    #[error("{place} calls {name}, but {}", no_code(.preset))]
    Code { place: String, name: String, preset: String },
}

fn of_family(of: &Option<String>) -> String {
    match of {
        Some(family) => format!("is of the family {family}"),
        None => "is of no family".into(),
    }
}

/// Why code cannot be called for a preset; its name is empty for a file that belongs to none.
fn no_code(preset: &str) -> String {
    match preset {
        "" => "only files of presets can call code".into(),
        preset => format!("no code is registered for preset {preset}"),
    }
}

/// One reason why a set of activations is not possible.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SetFault {
    #[error(transparent)]
    Activation(#[from] ActivationError),
    #[error("{first} and {second} are the same preset, twice for one side")]
    Twice { first: String, second: String },
    #[error("{first} and {second} are incompatible: {reason}")]
    Incompatible { first: String, second: String, reason: String },
    #[error("{activation} requires {preset} for a side that it applies to")]
    Requires { activation: String, preset: String },
    #[error("the rules of {game} need preset {presets}: leave it active")]
    Own { game: String, presets: String },
    #[error("the rules do not go together: {0}")]
    Rules(Box<LoadError>),
    #[error(
        "a fact of the game says {attribute} = {value}, and the new rules have no {value} there: a preset that \
         brings it has to be active"
    )]
    Unknown { attribute: String, value: String },
    #[error(
        "a fact of the game says {attribute} of {owner}, and the new rules have no {owner} there: a preset \
         that brings it has to be active"
    )]
    UnknownOwner { attribute: String, owner: String },
    #[error(transparent)]
    Fact(#[from] FactError),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Switch(#[from] SwitchError),
}

/// Why activations were refused: every reason. Nothing has changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", joined(.faults))]
pub struct SetError {
    /// Every reason.
    pub faults: Vec<SetFault>,
}

impl From<SetFault> for SetError {
    fn from(fault: SetFault) -> Self {
        Self { faults: vec![fault] }
    }
}
