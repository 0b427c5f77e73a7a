//! What programs that use this crate need, in one line: `use rulemate::prelude::*`.
//!
//! The names here keep their meaning from version to version. Deliberately absent: what their methods take and give
//! besides ([`types`](crate::types)).

pub use crate::derive::explain::Limits;
pub use crate::facts::{EntityId, GAME, SavedFact as Fact, Value};
pub use crate::game::{Explanation, Game, GameResult, IllegalMove, PlayError, Record};
pub use crate::moves::Move as Action;
pub use crate::presets::save::{Content, Form, RulesFrom, Save};
pub use crate::presets::{Catalogue, Moment, Opinion, Point, Preset, Ruleset, Source};

use crate::game::{EndError, Exhausted, QuestionError};
use crate::presets::save::{MakeError, RestoreError};
use crate::presets::{AddError, CatalogueError, LoadError, SetError, StartError};

/// Whatever can go wrong between loading rules and reading a save, for programs that only pass it on.
///
/// The message names the cause and the fix; match on the kind to tell them apart.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Rule files whose metadata makes no sense together.
    #[error("{0}")]
    Catalogue(Box<CatalogueError>),
    /// Rule files that cannot be read, or do not go with those that are there.
    #[error("{0}")]
    Add(Box<AddError>),
    /// A game that cannot be made of its rules and presets: mistakes in rule text among them.
    #[error("{0}")]
    Load(Box<LoadError>),
    /// A position from which the game cannot start.
    #[error("{0}")]
    Start(Box<StartError>),
    /// A move that is not legal, cannot be read, or comes after the end.
    #[error("{0}")]
    Play(Box<PlayError>),
    /// A game that cannot be ended so.
    #[error("{0}")]
    End(Box<EndError>),
    /// Presets that cannot be changed so in the middle of a game.
    #[error("{0}")]
    Presets(Box<SetError>),
    /// A question that names something unknown.
    #[error("{0}")]
    Question(Box<QuestionError>),
    /// Rules that exceed the budget of an evaluator.
    #[error("{0}")]
    Exhausted(Box<Exhausted>),
    /// A game that cannot be saved.
    #[error("{0}")]
    Save(Box<MakeError>),
    /// A save that is damaged, or of other rules.
    #[error("{0}")]
    Restore(Box<RestoreError>),
}

/// Causes are boxed, so that a `Result` with an [`Error`] stays small.
macro_rules! boxed {
    ($($variant:ident($cause:ty)),* $(,)?) => {
        $(impl From<$cause> for Error {
            fn from(cause: $cause) -> Self {
                Self::$variant(Box::new(cause))
            }
        })*
    };
}

boxed!(
    Catalogue(CatalogueError),
    Add(AddError),
    Load(LoadError),
    Start(StartError),
    Play(PlayError),
    End(EndError),
    Presets(SetError),
    Question(QuestionError),
    Exhausted(Exhausted),
    Save(MakeError),
    Restore(RestoreError),
);
