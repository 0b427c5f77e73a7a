//! Counting leaves: what can be done after an action, which is not taken.
//!
//! Machine code does all of it (`native`), in the frame that a write would open. Deliberately absent: another way,
//! since the caller can take the action.

use std::ops::ControlFlow;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::super::leaves::Leaves;
use super::super::rows::Tuple;
use super::compile::Compiled;
use super::layout::{Dense, Store};
use super::live::Live;
use super::native::{LeafCode, LeafRoom};
use super::planner::GIVEN;
use super::word::Word;
use crate::rules::{ActionId, RelId};

/// After so many actions, code that gives up on most of them is not asked any more.
const LEAF_TRIES: u32 = 1 << 10;

/// The code for what was first asked for, if there can be any.
#[derive(Debug)]
pub(super) struct LeafPlan {
    leaves: Arc<Leaves>,
    code: Option<LeafCode>,
}

impl<W: Word> Compiled<W> {
    /// The code that counts what is asked for, where rules run as machine code already.
    fn leaf_code(&self, leaves: &Arc<Leaves>) -> Option<&LeafCode> {
        let native = self.native.get()?.as_ref()?;
        let plan = self.leaf_plan.get_or_init(|| {
            let code = LeafCode::compile(self, native, leaves);
            LeafPlan { leaves: Arc::clone(leaves), code }
        });
        let is_it = Arc::ptr_eq(&plan.leaves, leaves) || plan.leaves == *leaves;
        plan.code.as_ref().filter(|_| is_it)
    }
}

impl<W: Word> Live<W> {
    /// The count of all leaves below; actions that must be taken for it are added to the rest.
    pub(super) fn leaves_below(
        &mut self,
        c: &Compiled<W>,
        leaves: &Arc<Leaves>,
        rest: &mut Vec<(ActionId, Tuple)>,
    ) -> Option<u64> {
        let [tried, given_up] = self.leaf_tries;
        let in_vain = tried >= LEAF_TRIES && given_up > tried / 2;
        if in_vain || self.s.counts.is_some() || self.log.is_some() {
            return None;
        }
        let code = c.leaf_code(leaves)?;
        if leaves.odd.iter().any(|it| self.has_rows(c, *it)) {
            return None;
        }
        let mut count = 0;
        for &(action, rel) in &leaves.counted {
            if self.has_rows(c, rel)
                && let Store::Dense(dense) = &c.stores[usize::from(rel.0)]
            {
                count += self.leaves_of(c, (leaves, code), action, dense, rest);
            }
        }
        Some(count)
    }

    /// The count of the leaves below all rows of an action.
    fn leaves_of(
        &mut self,
        c: &Compiled<W>,
        (leaves, code): (&Leaves, &LeafCode),
        action: ActionId,
        dense: &Dense,
        rest: &mut Vec<(ActionId, Tuple)>,
    ) -> u64 {
        let batches = leaves.batches[usize::from(action.0)].clone();
        if let Some(batch) = batches.and_then(|mut it| it.next()) {
            self.ready_batch(c, batch);
        }
        let columns = dense.sizes.len();
        if columns == 0 {
            rest.push((action, Tuple::new()));
            return 0;
        }
        let mut rows = std::mem::take(&mut self.leaf_rows);
        rows.clear();
        let all: SmallVec<[Option<i64>; 4]> = smallvec![None; columns];
        let _ = self.dense_tuples(dense, &all, &mut |row| {
            rows.extend_from_slice(row);
            ControlFlow::Continue(())
        });
        let declared = c.program.action(action);
        let mut count = 0;
        for row in rows.chunks_exact(columns) {
            match self.leaves_after(c, code, action, &declared.whole(row)) {
                Some(found) => count += found,
                None => rest.push((action, Tuple::from_slice(row))),
            }
        }
        self.leaf_rows = rows;
        count
    }

    fn has_rows(&mut self, c: &Compiled<W>, rel: RelId) -> bool {
        self.make_ready(c, rel);
        let Store::Dense(dense) = &c.stores[usize::from(rel.0)] else { return false };
        self.any(dense)
    }

    /// The count after an action; `None` if the action must be taken for it. What its reactions read is derived.
    fn leaves_after(
        &mut self,
        c: &Compiled<W>,
        code: &LeafCode,
        action: ActionId,
        args: &[i64],
    ) -> Option<u64> {
        let after = code.action(usize::from(action.0)).filter(|_| args.len() <= GIVEN.len())?;
        self.s.fuel.refill();
        if self.s.fuel.is_out() {
            return None;
        }
        let before = self.s.frame;
        self.s.frame = (self.depth + 1) * c.frame_rows;
        self.make_room(c, self.depth + 1);
        let mut room =
            self.room.take().unwrap_or_else(|| Box::new(LeafRoom::new(code.suspect_words())));
        let count = after.run(&mut self.s, c, &mut room, args, before);
        self.room = Some(room);
        self.s.frame = before;
        self.leaf_tries[0] = self.leaf_tries[0].saturating_add(1);
        if count.is_none() {
            self.leaf_tries[1] = self.leaf_tries[1].saturating_add(1);
            self.s.dirty.fill(W::default());
        }
        count
    }
}
