//! The parameters of a count of leaves: see `World::leaves_below`.

use std::ops::Range;

use crate::facts::AttrId;
use crate::rules::{ActionId, RelId};

/// What is counted after each action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaves {
    /// If this has rows, there are no leaves.
    pub(super) over: RelId,
    /// The actions whose rows are leaves, with their relations.
    pub(super) counted: Vec<(ActionId, RelId)>,
    /// The relations of rows that are played out to see whether they are legal. While one of them has rows, the number
    /// of rows in `counted` is not that of leaves.
    pub(super) odd: Vec<RelId>,
    /// By action, its batches of reactions; `None` if leaves after the action are counted only by taking it.
    pub(super) batches: Vec<Option<Range<usize>>>,
    /// The attributes whose facts are cleared as an action begins. The first of its `batches` does not read
    /// them.
    pub(super) cleared: Vec<AttrId>,
    /// By event, whether nothing happens if it is raised.
    pub(super) idle: Vec<bool>,
}
