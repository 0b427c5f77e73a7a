//! Named games and stackable presets, as rule files say them.
//!
//! [`Catalogue`] knows what there is, from the `.meta` lines of rule files alone; [`Ruleset`] is one
//! game with its presets, compiled and ready to start. Every name of a game or a preset is data
//! from `rules/`: this layer must not know any of them either.

mod activation;
mod catalogue;
mod constraints;
mod numbered;
mod ruleset;
pub mod save;

pub use activation::{Activation, ActivationError, Request};
pub use catalogue::{
    AddError, Catalogue, CatalogueError, GameEntry, LayoutEntry, LoadError, PresetEntry,
    at_its_place,
};
pub use numbered::{Numbered, PlaceError};
pub use ruleset::{Ruleset, StartError};

pub use crate::rules::Source;
