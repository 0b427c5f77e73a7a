//! What a count of leaves asks for: see [`World::leaves_below`].

use std::ops::Range;
use std::sync::Arc;

use super::rows::Tuple;
use super::world::World;
use crate::rules::{ActionId, Event, RelId};

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

impl World {
    /// What to ask [`World::leaves_below`] for: the rows of these relations, none where `over` has rows, and no
    /// answer where a relation of `odd` has.
    pub fn leaves(&self, over: RelId, counted: Vec<(ActionId, RelId)>, odd: Vec<RelId>) -> Leaves {
        let program = self.program();
        let lasts = program.expiry.until_action.is_empty() && program.expiry.until_turn.is_empty();
        let schedule = &self.plan().schedule;
        let of = |event: Event| {
            let batches = schedule.of(event);
            let looks_back = schedule.batches[batches.clone()].iter().any(|it| it.looks_back);
            (!looks_back && lasts && program.trials.is_empty()).then_some(batches)
        };
        let batches = program.actions.iter().map(|it| of(Event::Action(it.id))).collect();
        let events = program.events.iter();
        let unheard = events.map(|it| schedule.of(Event::Raised(it.id)).is_empty()).collect();
        Leaves { over, counted, odd, batches, unheard }
    }

    /// The number of leaves so many plies below a position that is not over (two or more), no action of which is
    /// taken. The actions that have to be taken for it are added to the list and not counted. `None` if that is all of
    /// them: the reference evaluator has no other way, nor have programs before they are machine code, nor
    /// positions with rows of `odd`.
    pub fn leaves_below(
        &mut self,
        leaves: &Arc<Leaves>,
        depth: u32,
        rest: &mut Vec<(ActionId, Tuple)>,
    ) -> Option<u64> {
        self.evaluator.leaves_below(leaves, depth, rest)
    }
}
