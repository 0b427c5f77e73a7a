//! Named games and stackable presets, as rule files declare them.
//!
//! [`Catalogue`] lists them by reading only the `.meta` lines of rule files; [`Ruleset`] is one
//! game with its presets, compiled and ready to start. Names of games and presets are data
//! from `rules/`: neither this layer nor those below it have any in their code.

mod activation;
mod catalogue;
mod combine;
mod compose;
mod definitions;
mod describe;
mod diagram;
mod entry;
mod error;
mod external;
mod include;
mod keys;
mod load;
mod metadata;
mod modifier;
mod numbered;
mod option_facts;
mod past;
mod programs;
mod register;
mod ruleset;
pub mod save;
mod scopes;
mod sides;
mod switch;
mod templates;
mod unsaid;

#[cfg(any(feature = "bin", feature = "server"))]
pub(crate) use activation::preset_of;
pub use activation::{Activation, ActivationError, OptionEntry, OptionType, Request};
pub use catalogue::{Catalogue, at_its_place};
pub use definitions::{DefinitionError, DefinitionFault};
pub use describe::Particulars;
pub use diagram::Diagram;
#[cfg(feature = "bin")]
pub(crate) use diagram::fen_row;
pub use entry::{GameEntry, LayoutEntry, PresetEntry};
pub use error::{AddError, CatalogueError, LoadError, SetError, SetFault};
pub use external::{Opinion, Point, Preset};
pub use include::load_with_included;
pub use keys::unknown_keys;
pub use modifier::{
    Filter, Hook, Modifier, ModifierError, Primitive, Relation, Target, TargetWord, Trigger,
};
pub use numbered::{Numbered, PlaceError};
#[cfg(feature = "server")]
pub(crate) use past::switch_comment;
pub use past::{Past, switch_place};
#[cfg(any(feature = "bin", feature = "server"))]
pub(crate) use past::{past_of, switched};
pub use ruleset::{Ruleset, StartError};
pub use sides::SIDES;

pub use crate::derive::Moment;
#[cfg(feature = "server")]
pub(crate) use crate::facts::article;
pub use crate::facts::is_printable;
#[cfg(feature = "server")]
pub(crate) use crate::facts::json::plain as plain_json_error;
pub use crate::rules::Source;
pub(crate) use crate::rules::plural;
