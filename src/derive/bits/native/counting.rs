//! Counts leaves: the number of legal actions after other actions, without taking these.
//!
//! Machine code does all of it (`leaf`), in the frame that a write would open. Above the last ply it leaves
//! its writes in the rows, which are then those of the next position, until that is counted; no fact changes.
//! Deliberately absent: a fallback, since the caller can take the action.

use std::ops::{ControlFlow, Range};
use std::sync::{Arc, OnceLock};

use smallvec::{SmallVec, smallvec};

use super::super::compile::Compiled;
use super::super::layout::{Dense, Store};
use super::super::live::Live;
use super::super::planner::GIVEN;
use super::super::word::Word;
use super::call::{ActionCode, Args, LeafRoom};
use super::leaf::mirrors::Mirrors;
use super::leaf::{LeafCode, Ply};
use crate::derive::leaves::Leaves;
use crate::derive::rows::Tuple;
use crate::facts::NextIds;
use crate::rules::{ActionId, RelId};

/// What a session keeps for counting leaves.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Counting {
    /// The memory, once leaves are counted.
    room: Option<Box<LeafRoom>>,
    /// The arguments of the actions whose leaves are being counted, those of the plies above first.
    rows: Vec<i64>,
    /// Calls of the code of the last ply, and of that of the plies above.
    last: Tries,
    above: Tries,
}

impl Counting {
    pub(in super::super) fn heap_bytes(&self) -> usize {
        self.room.as_ref().map_or(0, |it| it.heap_bytes())
    }
}

/// Number of calls of code, and how often it gave up.
#[derive(Debug, Clone, Copy, Default)]
struct Tries {
    all: u32,
    given_up: u32,
}

impl Tries {
    fn note(&mut self, done: bool) {
        self.all = self.all.saturating_add(1);
        self.given_up = self.given_up.saturating_add(u32::from(!done));
    }

    /// Whether there were `first` calls, and the code gave up on more than one in `one_in`.
    fn gives_up(self, first: u32, one_in: u32) -> bool {
        self.all >= first && self.given_up > self.all / one_in
    }
}

/// The depth of the last ply: the actions after each action are the leaves.
const LAST: u32 = 2;

/// Number of actions after which the code of the last ply is judged.
const LAST_TRIES: u32 = 1 << 10;

/// Then it is no longer used if it gave up on more than one action in this many.
const LAST_ONE_IN: u32 = 2;

/// Number of actions after which the code of plies above the last is judged: there are fewer of them.
const ABOVE_TRIES: u32 = 1 << 6;

/// Then it is no longer used if it gave up on more than one in this many: the work below each was wasted.
const ABOVE_ONE_IN: u32 = 8;

/// The code for the parameters of the first request, if it can be made. Requests with others have none.
#[derive(Debug)]
pub(super) struct LeafPlan {
    leaves: Arc<Leaves>,
    /// The relations that have the state from before an action.
    mirrors: Mirrors,
    code: Option<LeafCode>,
    /// The code of plies above the last, once it is needed.
    above: OnceLock<Option<LeafCode>>,
}

/// Actions that must be taken to count below them.
type Rest = Vec<(ActionId, Tuple)>;

impl<W: Word> Compiled<W> {
    /// What counts the requested leaves at a depth: the relations from before an action, the code of the last ply, and that
    /// of those above it if there are any. `None` if rules do not run as machine code yet, if it cannot be made, or if the
    /// first request was for other leaves.
    fn leaf_code(
        &self,
        leaves: &Arc<Leaves>,
        depth: u32,
    ) -> Option<(&Mirrors, &LeafCode, Option<&LeafCode>)> {
        let native = self.native.get()?.as_ref()?;
        let plan = native.leaf_plan.get_or_init(|| {
            let code = LeafCode::compile(self, native, leaves, Ply::Last);
            let mirrors = Mirrors::of(self, leaves);
            LeafPlan { leaves: Arc::clone(leaves), mirrors, code, above: OnceLock::new() }
        });
        if !Arc::ptr_eq(&plan.leaves, leaves) && plan.leaves != *leaves {
            return None;
        }
        let above = || LeafCode::compile(self, native, leaves, Ply::Above);
        let last = plan.code.as_ref()?;
        match depth {
            ..=LAST => Some((&plan.mirrors, last, None)),
            _ => Some((&plan.mirrors, last, Some(plan.above.get_or_init(above).as_ref()?))),
        }
    }
}

impl<W: Word> Live<W> {
    /// The count of leaves at a depth, without those below actions that must be taken to count them: these actions are
    /// added to `rest`. `None` if all actions must be taken.
    pub(in super::super) fn leaves_below(
        &mut self,
        c: &Compiled<W>,
        leaves: &Arc<Leaves>,
        depth: u32,
        NextIds { ids, is_lasting }: NextIds,
        rest: &mut Rest,
    ) -> Option<u64> {
        let Counting { last, above, .. } = &self.counting;
        let gives_up = last.gives_up(LAST_TRIES, LAST_ONE_IN)
            || depth > LAST && above.gives_up(ABOVE_TRIES, ABOVE_ONE_IN);
        if gives_up || self.s.counts.is_some() || self.log.is_some() {
            return None;
        }
        let (mirrors, last, above) = c.leaf_code(leaves, depth)?;
        // Room for all frames at once, since rows may not move while words of them are saved.
        self.make_room(c, self.depth + depth as usize);
        let mut room = self.counting.room.take().unwrap_or_else(|| Box::new(LeafRoom::new()));
        for code in [Some(last), above].into_iter().flatten() {
            room.make_room(code.shared.suspect_words);
        }
        room.next_ids = ids;
        let mut count = Count { live: self, c, leaves, mirrors, last, above, is_lasting, room };
        let found = count.below(depth, rest);
        let Count { room, .. } = count;
        mirrors.clear(&mut self.s);
        self.counting.room = Some(room);
        found
    }
}

/// A count under way.
struct Count<'a, W> {
    live: &'a mut Live<W>,
    c: &'a Compiled<W>,
    leaves: &'a Leaves,
    mirrors: &'a Mirrors,
    last: &'a LeafCode,
    above: Option<&'a LeafCode>,
    /// As in [`NextIds`].
    is_lasting: bool,
    room: Box<LeafRoom>,
}

impl<W: Word> Count<'_, W> {
    /// The count below a position that is not over, as in [`Live::leaves_below`].
    fn below(&mut self, depth: u32, rest: &mut Rest) -> Option<u64> {
        let (c, leaves) = (self.c, self.leaves);
        if leaves.odd.iter().any(|it| self.has_rows(*it)) {
            return None;
        }
        if depth <= LAST {
            self.mirrors.copy(&mut self.live.s);
        }
        let mut count = 0;
        for &(action, rel) in &leaves.counted {
            if self.has_rows(rel)
                && let Store::Dense(dense) = &c.stores[usize::from(rel.0)]
            {
                count += self.below_action(depth, action, dense, rest);
            }
        }
        Some(count)
    }

    /// The count below all rows of an action.
    fn below_action(
        &mut self,
        depth: u32,
        action: ActionId,
        dense: &Dense,
        rest: &mut Rest,
    ) -> u64 {
        let batches = self.leaves.batches[usize::from(action.0)].clone();
        if let Some(batch) = batches.and_then(|mut it| it.next()) {
            self.live.ready_batch(self.c, batch);
        }
        let columns = dense.sizes.len();
        if columns == 0 {
            rest.push((action, Tuple::new()));
            return 0;
        }
        let code = if depth > LAST { self.above } else { Some(self.last) };
        let code = code.and_then(|it| it.actions[usize::from(action.0)]);
        let Range { start, end } = self.push_rows(dense);
        let declared = self.c.program.action(action);
        let arguments = declared.columns.len();
        let code = code.filter(|_| arguments <= GIVEN.len());
        let mut args = [0; GIVEN.len()];
        if code.is_some() {
            // Unlisted arguments have their defaults.
            args[..arguments].copy_from_slice(&declared.whole(&[0; GIVEN.len()][..columns]));
        }
        let mut count = 0;
        for at in (start..end).step_by(columns) {
            let found = code.and_then(|code| {
                args[..columns].copy_from_slice(&self.live.counting.rows[at..at + columns]);
                match depth {
                    ..=LAST => self.leaves_after(code, &args),
                    _ => self.below_step(depth, code, &args),
                }
            });
            match found {
                Some(found) => count += found,
                None => {
                    let row = &self.live.counting.rows[at..at + columns];
                    rest.push((action, Tuple::from_slice(row)));
                }
            }
        }
        self.live.counting.rows.truncate(start);
        count
    }

    /// Adds the rows of a relation to those that are being counted below. Returns where their values are.
    fn push_rows(&mut self, dense: &Dense) -> Range<usize> {
        let mut rows = std::mem::take(&mut self.live.counting.rows);
        let start = rows.len();
        let all: SmallVec<[Option<i64>; 4]> = smallvec![None; dense.sizes.len()];
        let _ = self.live.dense_tuples(dense, &all, &mut |row| {
            rows.extend_from_slice(row);
            ControlFlow::Continue(())
        });
        let range = start..rows.len();
        self.live.counting.rows = rows;
        range
    }

    fn has_rows(&mut self, rel: RelId) -> bool {
        self.live.make_ready(self.c, rel);
        let Store::Dense(dense) = &self.c.stores[usize::from(rel.0)] else { return false };
        self.live.any(dense)
    }

    /// The count of leaves after an action; `None` if the action must be taken for it. The relations that
    /// its first reactions read must have been derived.
    fn leaves_after(&mut self, code: ActionCode, args: &Args) -> Option<u64> {
        let Self { live, c, room, .. } = self;
        live.s.fuel.refill();
        if live.s.fuel.is_out() {
            return None;
        }
        let before = live.s.frame;
        live.s.frame = (live.depth + 1) * c.frame_rows;
        let count = code.count(&mut live.s, c, room, args, before);
        live.s.frame = before;
        live.counting.last.note(count.is_some());
        if count.is_none() {
            live.s.dirty.fill(W::default());
        }
        count
    }

    /// The count below an action above the last ply; `None` if this action, or one below it, must be taken for it.
    fn below_step(&mut self, depth: u32, code: ActionCode, args: &Args) -> Option<u64> {
        let take_back = self.above?.take_back?;
        self.live.s.fuel.refill();
        if self.live.s.fuel.is_out() {
            return None;
        }
        let Live { marked, depth: depth_before, .. } = *self.live;
        let (before, top) = (self.live.s.frame, self.room.top());
        let next_ids = self.room.next_ids.clone();
        self.live.open_frame(self.c);
        // An action below the one before has left its own.
        self.mirrors.copy(&mut self.live.s);
        let mut count = None;
        if code.take(&mut self.live.s, self.c, &mut self.room, args, before) {
            if !self.is_lasting {
                self.room.next_ids = 0..0;
            }
            let mut rest = Rest::new();
            count = match self.has_rows(self.leaves.over) {
                true => Some(0),
                false => self.below(depth - 1, &mut rest),
            };
            count = count.filter(|_| rest.is_empty() && !self.live.s.fuel.is_out());
            take_back.run(&mut self.live.s, self.c, &mut self.room, top);
            self.room.next_ids = next_ids;
        } else {
            self.live.s.dirty.fill(W::default());
        }
        self.live.go_to_frame(self.c, depth_before);
        self.live.marked = marked;
        self.live.counting.above.note(count.is_some());
        count
    }
}
