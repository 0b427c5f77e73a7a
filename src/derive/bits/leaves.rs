//! Counts leaves: the number of legal actions after other actions, without taking these.
//!
//! Machine code does all of it (`native`), in the frame that a write would open. Above the last ply it leaves
//! its writes in the rows, which are then those of the next position, until that is counted; no fact changes.
//! Deliberately absent: a fallback, since the caller can take the action.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use smallvec::{SmallVec, smallvec};

use super::super::leaves::Leaves;
use super::super::rows::Tuple;
use super::compile::Compiled;
use super::layout::{Dense, Store};
use super::live::Live;
use super::native::{ActionCode, Args, LeafCode, LeafRoom, Ply};
use super::planner::GIVEN;
use super::word::Word;
use crate::rules::{ActionId, RelId};

/// Number of actions after which code that gives up on most of them is no longer used.
const LEAF_TRIES: u32 = 1 << 10;

/// Number of actions above the last ply after which their code is judged in the same way.
const STEP_TRIES: u32 = 1 << 6;

/// Code for plies above the last is no longer used if it gives up on more than one action in this many: the work below
/// such an action is wasted.
const STEP_ONE_IN: u32 = 8;

/// The code for the parameters of the first request, if it can be made. Requests with others have none.
#[derive(Debug)]
pub(super) struct LeafPlan {
    leaves: Arc<Leaves>,
    code: Option<LeafCode>,
    /// The code of plies above the last, once it is needed.
    above: OnceLock<Option<LeafCode>>,
}

/// A request, with its code.
#[derive(Clone, Copy)]
struct Asked<'a> {
    leaves: &'a Leaves,
    last: &'a LeafCode,
    above: Option<&'a LeafCode>,
}

impl<W: Word> Compiled<W> {
    /// The code that counts the requested leaves at a depth. `None` if rules do not run as machine code yet, if it
    /// cannot be made, or if the first request was for other leaves.
    fn leaf_code<'a>(&'a self, leaves: &'a Arc<Leaves>, depth: u32) -> Option<Asked<'a>> {
        let native = self.native.get()?.as_ref()?;
        let plan = self.leaf_plan.get_or_init(|| {
            let code = LeafCode::compile(self, native, leaves, Ply::Last);
            LeafPlan { leaves: Arc::clone(leaves), code, above: OnceLock::new() }
        });
        if !Arc::ptr_eq(&plan.leaves, leaves) && plan.leaves != *leaves {
            return None;
        }
        let above = || LeafCode::compile(self, native, leaves, Ply::Above);
        let last = plan.code.as_ref()?;
        match depth {
            ..=2 => Some(Asked { leaves, last, above: None }),
            _ => Some(Asked { leaves, last, above: Some(plan.above.get_or_init(above).as_ref()?) }),
        }
    }
}

impl<W: Word> Live<W> {
    /// The count of leaves at a depth, without those below actions that must be taken to count them: these actions are
    /// added to `rest`. `None` if all actions must be taken.
    pub(super) fn leaves_below(
        &mut self,
        c: &Compiled<W>,
        leaves: &Arc<Leaves>,
        depth: u32,
        rest: &mut Vec<(ActionId, Tuple)>,
    ) -> Option<u64> {
        let gives_up = self.leaf_tries.gives_up(LEAF_TRIES, 2)
            || depth > 2 && self.step_tries.gives_up(STEP_TRIES, STEP_ONE_IN);
        if gives_up || self.s.counts.is_some() || self.log.is_some() {
            return None;
        }
        let asked = c.leaf_code(leaves, depth)?;
        // Room for all frames at once, since rows may not move while words of them are saved.
        self.make_room(c, self.depth + depth as usize);
        let mut room = self.room.take().unwrap_or_else(|| Box::new(LeafRoom::new()));
        for code in [Some(asked.last), asked.above].into_iter().flatten() {
            room.make_room(code.suspect_words());
        }
        let count = self.below(c, asked, &mut room, depth, rest);
        self.room = Some(room);
        count
    }

    /// The count below a position that is not over, as in [`Live::leaves_below`].
    fn below(
        &mut self,
        c: &Compiled<W>,
        asked: Asked<'_>,
        room: &mut LeafRoom,
        depth: u32,
        rest: &mut Vec<(ActionId, Tuple)>,
    ) -> Option<u64> {
        if asked.leaves.odd.iter().any(|it| self.has_rows(c, *it)) {
            return None;
        }
        let mut count = 0;
        for &(action, rel) in &asked.leaves.counted {
            if self.has_rows(c, rel)
                && let Store::Dense(dense) = &c.stores[usize::from(rel.0)]
            {
                count += self.below_action(c, asked, room, depth, (action, dense), rest);
            }
        }
        Some(count)
    }

    /// The count below all rows of an action.
    fn below_action(
        &mut self,
        c: &Compiled<W>,
        asked: Asked<'_>,
        room: &mut LeafRoom,
        depth: u32,
        (action, dense): (ActionId, &Dense),
        rest: &mut Vec<(ActionId, Tuple)>,
    ) -> u64 {
        let batches = asked.leaves.batches[usize::from(action.0)].clone();
        if let Some(batch) = batches.and_then(|mut it| it.next()) {
            self.ready_batch(c, batch);
        }
        let columns = dense.sizes.len();
        if columns == 0 {
            rest.push((action, Tuple::new()));
            return 0;
        }
        let code = if depth > 2 { asked.above } else { Some(asked.last) };
        let code = code.and_then(|it| it.action(usize::from(action.0)));
        let start = self.leaf_rows.len();
        let mut rows = std::mem::take(&mut self.leaf_rows);
        let all: SmallVec<[Option<i64>; 4]> = smallvec![None; columns];
        let _ = self.dense_tuples(dense, &all, &mut |row| {
            rows.extend_from_slice(row);
            ControlFlow::Continue(())
        });
        self.leaf_rows = rows;
        let end = self.leaf_rows.len();
        let arguments = c.program.action(action).columns.len();
        let code = code.filter(|_| arguments <= GIVEN.len());
        // Unlisted arguments have their defaults.
        let mut args = [0; GIVEN.len()];
        if code.is_some() {
            let row = args;
            args[..arguments].copy_from_slice(&c.program.action(action).whole(&row[..columns]));
        }
        let mut count = 0;
        for at in (start..end).step_by(columns) {
            let row = &self.leaf_rows[at..at + columns];
            let found = match code {
                None => None,
                Some(code) => {
                    args[..columns].copy_from_slice(row);
                    if depth > 2 {
                        self.below_step(c, asked, room, depth, (code, &args))
                    } else {
                        self.leaves_after(c, room, code, &args)
                    }
                }
            };
            match found {
                Some(found) => count += found,
                None => {
                    rest.push((action, Tuple::from_slice(&self.leaf_rows[at..at + columns])));
                }
            }
        }
        self.leaf_rows.truncate(start);
        count
    }

    fn has_rows(&mut self, c: &Compiled<W>, rel: RelId) -> bool {
        self.make_ready(c, rel);
        let Store::Dense(dense) = &c.stores[usize::from(rel.0)] else { return false };
        self.any(dense)
    }

    /// The count of leaves after an action; `None` if the action must be taken for it. The relations that
    /// its first reactions read must have been derived.
    fn leaves_after(
        &mut self,
        c: &Compiled<W>,
        room: &mut LeafRoom,
        code: ActionCode,
        args: &Args,
    ) -> Option<u64> {
        self.s.fuel.refill();
        if self.s.fuel.is_out() {
            return None;
        }
        let before = self.s.frame;
        self.s.frame = (self.depth + 1) * c.frame_rows;
        let count = code.count(&mut self.s, c, room, args, before);
        self.s.frame = before;
        self.leaf_tries.note(count.is_some());
        if count.is_none() {
            self.s.dirty.fill(W::default());
        }
        count
    }

    /// The count below a position after an action; `None` if this action, or one below it, must be taken
    /// for it.
    fn below_step(
        &mut self,
        c: &Compiled<W>,
        asked: Asked<'_>,
        room: &mut LeafRoom,
        depth: u32,
        (code, args): (ActionCode, &Args),
    ) -> Option<u64> {
        let take_back = asked.above?.take_back()?;
        self.s.fuel.refill();
        if self.s.fuel.is_out() {
            return None;
        }
        let (marked, depth_before, before, top) =
            (self.marked, self.depth, self.s.frame, room.top());
        self.open_frame(c);
        let mut count = None;
        if code.take(&mut self.s, c, room, args, before) {
            let mut rest = Vec::new();
            count = match self.has_rows(c, asked.leaves.over) {
                true => Some(0),
                false => self.below(c, asked, room, depth - 1, &mut rest),
            };
            count = count.filter(|_| rest.is_empty() && !self.s.fuel.is_out());
            take_back.run(&mut self.s, c, room, top);
        } else {
            self.s.dirty.fill(W::default());
        }
        self.go_to_frame(c, depth_before);
        self.marked = marked;
        self.step_tries.note(count.is_some());
        count
    }
}
