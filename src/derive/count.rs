//! Counting leaves without taking the last action before them.
//!
//! Deliberately absent: how they are counted (`bits/native/leaf`).

use std::sync::Arc;

use super::leaves::Leaves;
use super::rows::Tuple;
use super::schedule::Batch;
use super::world::World;
use crate::facts::NextIds;
use crate::rules::{ActionId, Event, EventId, RelId, Role, relations_of};

impl World {
    /// The parameters for [`World::leaves_below`], which counts the rows of the relations in `counted`. It counts none if
    /// `over` has rows, and gives no answer if a relation in `odd` has.
    pub fn leaves(&self, over: RelId, counted: Vec<(ActionId, RelId)>, odd: Vec<RelId>) -> Leaves {
        let (program, schedule) = (self.program(), &self.plan().schedule);
        let cleared = program.expiry.until_action.clone();
        let is_given = |it: RelId| matches!(program.relation(it).role, Role::Given(_));
        let reads_given = |it: &Batch| {
            let bodies = it.reactions.iter().map(|&it| &program.reactions[it].body);
            bodies.flat_map(relations_of).any(is_given)
        };
        let batches_of = |action: ActionId| {
            let range = schedule.of(Event::Action(action));
            let batches = &schedule.batches[range.clone()];
            let is_counted = program.trials.is_empty()
                && !batches.iter().any(reads_given)
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
