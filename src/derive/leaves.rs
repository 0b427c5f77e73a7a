//! What a count of leaves asks for: see [`World::leaves_after`].

use std::ops::Range;
use std::sync::Arc;

use super::world::{Engine, World};
use crate::rules::{ActionId, Event, RelId};

/// The rows that are counted after an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaves {
    /// If this has rows, there are none.
    pub(super) over: RelId,
    /// The relations whose rows are leaves.
    pub(super) counted: Vec<RelId>,
    /// If one of these has rows, they are no count.
    pub(super) odd: Vec<RelId>,
    /// By action, the batches that it takes, if they do no more than write facts.
    pub(super) batches: Vec<Option<Range<usize>>>,
}

impl World {
    /// What to ask [`World::leaves_after`] for: the rows of these relations, none where `over` has rows, and no answer where
    /// a relation of `odd` has.
    pub fn leaves(&self, over: RelId, counted: Vec<RelId>, odd: Vec<RelId>) -> Leaves {
        let program = self.program();
        let lasts = program.expiry.until_action.is_empty() && program.expiry.until_turn.is_empty();
        let schedule = &self.plan().schedule;
        let of = |event: Event| {
            let batches = schedule.of(event);
            let plain = schedule.batches[batches.clone()].iter().all(|it| it.plain);
            (plain && lasts && program.trials.is_empty()).then_some(batches)
        };
        let batches = program.actions.iter().map(|it| of(Event::Action(it.id))).collect();
        Leaves { over, counted, odd, batches }
    }

    /// The number of leaves after an action, which is not taken. `None` if it must be taken for that: the reference
    /// evaluator has no other way, nor have programs before they are machine code, nor some actions.
    pub fn leaves_after(
        &mut self,
        leaves: &Arc<Leaves>,
        action: ActionId,
        args: &[i64],
    ) -> Option<u64> {
        let args = &*self.plan.program().action(action).whole(args);
        match &mut self.engine {
            Engine::Bits(it) => it.leaves_after(leaves, action, args),
            Engine::Frog(_) => None,
        }
    }
}
