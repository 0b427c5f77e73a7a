//! What the types of the prelude take and give, by name: errors to match on, entries of the catalogue, views of a
//! position, explanations line by line.
//!
//! Programs that only pass these on need none of the names. Deliberately absent: the layers of the engine.

pub use crate::derive::explain::Finding;
pub use crate::derive::{PlanError, Refusal};
pub use crate::facts::json::JsonError;
pub use crate::facts::{AttrId, FactError, SaveError, SavedOwner, SavedValue};
pub use crate::game::drawing::SvgElement;
pub use crate::game::{
    ActionReport, ActionView, ArgumentView, Because, EndError, Exhausted, FieldView, HeldFact,
    KindView, MarkedSquares, Objection, PieceView, PointView, QuestionError, ReportEffect,
    ReportEvent, ReportFact, ReportStep, Resource, RowChange, SwitchError, Trait, View, Watch,
    Zone,
};
pub use crate::moves::ContractError;
pub use crate::moves::notation::{FenError, LetterFault, MoveError, MoveFault, Oddity, Warning};
pub use crate::presets::save::{
    Difference, Doubt, Ended, MakeError, RestoreError, Restored, RuleFile, SavedMove, SavedSwitch,
};
pub use crate::presets::{
    Activation, ActivationError, AddError, CatalogueError, DefinitionError, DefinitionFault,
    Diagram, GameEntry, LayoutEntry, LoadError, Numbered, OptionEntry, OptionType, Particulars,
    PlaceError, PresetEntry, SetError, SetFault, StartError,
};
pub use crate::rules::{Diagnostic, Diagnostics, Label, Place, Span};
