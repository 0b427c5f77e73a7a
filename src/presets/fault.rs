//! Why rule files are no catalogue, cannot be added to one, or make no game.

use crate::derive::PlanError;
use crate::moves::ContractError;
use crate::moves::notation::LetterFault;
use crate::rules::Diagnostics;

use super::activation::{ActivationError, meant};
use super::combine::SetError;
use super::definitions::DefinitionError;
use super::numbered::PlaceError;

/// Metadata that makes no catalogue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}: {fault}")]
pub struct CatalogueError {
    pub path: String,
    pub line: u32,
    pub fault: String,
}

/// Why rule files cannot be added.
#[derive(Debug, thiserror::Error)]
pub enum AddError {
    #[error("{path} cannot be read: {why}")]
    Read { path: String, why: std::io::Error },
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
}

/// Why a game cannot be loaded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LoadError {
    #[error("there is no game {name}{}", meant(.near))]
    Game { name: String, near: Option<String> },
    #[error("game {game} has the layout {layout}, which there is not")]
    Layout { game: String, layout: String },
    #[error("{what} is made for the family {family}, which there is not{}", meant(.near))]
    NoFamily { what: String, family: String, near: Option<String> },
    #[error("{what} is made for games of the family {family}, and {game} {}", of_family(.of))]
    Family { what: String, family: String, game: String, of: Option<String> },
    #[error(
        "{what} speaks of {relation}, which the family {family} has, and {game} {}: `.meta family \
         \"{family}\"` names the family that rules are made for",
        of_family(.of)
    )]
    Foreign { what: String, relation: String, family: String, game: String, of: Option<String> },
    #[error(
        "{place}: there are no boards of {shape:?}: write FILESxRANKS, \"hex SIDE\" for hexagons, \"graph\" \
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
    #[error("game {game} states {attribute}={value}, but {fault}")]
    Fact { game: String, attribute: String, value: String, fault: String },
    #[error(transparent)]
    Rules(Box<Diagnostics>),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Contract(#[from] ContractError),
    #[error(transparent)]
    Definitions(#[from] DefinitionError),
    #[error(transparent)]
    Set(#[from] SetError),
    #[error(
        "the rules in use take {} MB already, which is the maximum: wait until a game has ended",
        bytes >> 20
    )]
    Full { bytes: usize },
    #[error("{place} calls {name}, but no code is registered for preset {preset}")]
    Code { place: String, name: String, preset: String },
}

fn of_family(of: &Option<String>) -> String {
    match of {
        Some(family) => format!("is of the family {family}"),
        None => "is of no family".into(),
    }
}
