//! Counting leaves without taking the last action before them, and the parameters of such a count.
//!
//! Deliberately absent: how they are counted (`bits/native/leaf`).

use std::ops::Range;
use std::sync::Arc;

use super::rows::Tuple;
use super::schedule::Batch;
use super::world::World;
use crate::facts::{AttrId, NextIds};
use crate::rules::{ActionId, Event, EventId, RelId, Role, relations_of};

/// The parameters of [`World::leaves_below`].
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
    /// The attributes of the game whose facts are cleared as an action begins. The first of its `batches` does not read
    /// them.
    pub(super) cleared: Vec<AttrId>,
    /// By event, whether nothing happens if it is raised.
    pub(super) idle: Vec<bool>,
}

impl World {
    /// The parameters for [`World::leaves_below`], which counts the rows of the relations in `counted`. It counts none if
    /// `over` has rows, and gives no answer if a relation in `odd` has.
    pub fn leaves(&self, over: RelId, counted: Vec<(ActionId, RelId)>, odd: Vec<RelId>) -> Leaves {
        let (program, schedule) = (self.program(), &self.plan().schedule);
        let cleared = program.expiry.until_action.clone();
        let is_supported = program.trials.is_empty()
            && program.expiry.until_turn.is_empty()
            && cleared.iter().all(|it| program.is_of_the_game(*it));
        let is_given = |it: RelId| matches!(program.relation(it).role, Role::Given(_));
        let reads_given = |it: &Batch| {
            let bodies = it.reactions.iter().map(|&it| &program.reactions[it].body);
            bodies.flat_map(relations_of).any(is_given)
        };
        let batches_of = |action: ActionId| {
            let range = schedule.of(Event::Action(action));
            let batches = &schedule.batches[range.clone()];
            let is_counted = is_supported
                && !batches.iter().any(|it| it.looks_back && reads_given(it))
                && !batches.first()?.reads_until_action;
            is_counted.then_some(range)
        };
        let is_idle = |event: EventId| {
            let batches = &schedule.batches[schedule.of(Event::Raised(event))];
            batches.iter().flat_map(|it| &it.reactions).all(|&it| program.does_nothing(it))
        };
        let batches = program.actions.iter().map(|it| batches_of(it.id)).collect();
        let idle = program.events.iter().map(|it| is_idle(it.id)).collect();
        Leaves { over, counted, odd, batches, cleared, idle }
    }

    /// The number of leaves `depth` plies (two or more) below a position that is not over, without taking an action.
    /// Actions that have to be taken to count below them are added to `rest`, and their leaves are not counted; among them
    /// are those that create more entities than there are `next_ids`. `None` if every action has to be taken: under the
    /// reference evaluator, before a program has machine code, and in positions with rows of `odd`.
    pub fn leaves_below(
        &mut self,
        leaves: &Arc<Leaves>,
        depth: u32,
        next_ids: NextIds,
        rest: &mut Vec<(ActionId, Tuple)>,
    ) -> Option<u64> {
        self.evaluator.leaves_below(leaves, depth, next_ids, rest)
    }
}
