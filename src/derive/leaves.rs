//! What a count of leaves asks for: see `World::leaves_below`.

use std::ops::Range;

use crate::rules::{ActionId, RelId};

/// The rows that are counted after each action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaves {
    /// If this has rows, there are none.
    pub(super) over: RelId,
    /// The actions whose rows are leaves, with their relations.
    pub(super) counted: Vec<(ActionId, RelId)>,
    /// If one of these has rows, they are no count.
    pub(super) odd: Vec<RelId>,
    /// By action, the batches that it takes, if leaves after it can be counted without taking it.
    pub(super) batches: Vec<Option<Range<usize>>>,
    /// By event, whether nothing reacts to it.
    pub(super) unheard: Vec<bool>,
}
