//! Counting leaves: what can be done after an action, which is not taken.
//!
//! Machine code does all of it (`native`), in the frame that a write would open. Deliberately absent: another way,
//! since the caller can take the action.

use std::sync::Arc;

use super::super::leaves::Leaves;
use super::compile::Compiled;
use super::live::Live;
use super::native::{LeafCode, LeafRoom};
use super::planner::GIVEN;
use super::word::Word;
use crate::rules::ActionId;

/// The code for what was first asked for, if there can be any.
#[derive(Debug)]
pub(super) struct LeafPlan {
    leaves: Arc<Leaves>,
    code: Option<LeafCode>,
}

impl<W: Word> Compiled<W> {
    /// The code that counts what is asked for, where rules run as machine code already.
    fn leaf_code(&self, leaves: &Arc<Leaves>) -> Option<&LeafCode> {
        self.native.get()?.as_ref()?;
        let plan = self.leaf_plan.get_or_init(|| {
            let code = LeafCode::compile(self, leaves);
            LeafPlan { leaves: Arc::clone(leaves), code }
        });
        let is_it = Arc::ptr_eq(&plan.leaves, leaves) || plan.leaves == *leaves;
        plan.code.as_ref().filter(|_| is_it)
    }
}

impl<W: Word> Live<W> {
    /// The count after an action; `None` if the action must be taken for it.
    pub(super) fn leaves_after(
        &mut self,
        c: &Compiled<W>,
        leaves: &Arc<Leaves>,
        action: ActionId,
        args: &[i64],
    ) -> Option<u64> {
        let watched = self.s.counts.is_some() || self.log.is_some();
        if watched || args.len() > GIVEN.len() {
            return None;
        }
        let code = c.leaf_code(leaves)?;
        let after = code.action(usize::from(action.0))?;
        let first = leaves.batches[usize::from(action.0)].clone()?.next();
        self.catch_up(c);
        if let Some(batch) = first {
            self.ready_batch(c, batch);
        }
        self.s.fuel.refill();
        if self.s.fuel.is_out() {
            return None;
        }
        let before = self.s.frame;
        self.s.frame = (self.depth + 1) * c.frame_rows;
        let rows = c.kept_rows + self.s.frame + c.frame_rows;
        if self.s.rows.len() < rows {
            self.s.rows.resize(rows, W::default());
        }
        let mut room =
            self.room.take().unwrap_or_else(|| Box::new(LeafRoom::new(code.suspect_words())));
        let count = after.run(&mut self.s, c, &mut room, args, before);
        self.room = Some(room);
        self.s.frame = before;
        if count.is_none() {
            self.s.dirty.fill(W::default());
        }
        count
    }
}
