//! Incremental maintenance: brings the rows of one session up to date after its facts change.
//!
//! Inputs follow every write at once. Maintained relations note what a write may have changed and
//! catch up at the next read; everything they overwrite is journaled. Relations derived on demand
//! live in frames (`frames.rs`).

use std::ops::ControlFlow;

use crate::facts::Change;
use crate::rules::{Input, RelId, Role};

use super::super::budget::{LIST_ROWS, Resource};
use super::super::evaluator::EvaluatorMark;
use super::super::output::Output;
use super::super::rows::Tuple;
use super::compile::{Compiled, Maintained, Mode, Readers};
use super::general;
use super::layout::{Dense, NONE, Store};
use super::machine::KeptId;
use super::native::Counting;
use super::planner::GIVEN;
use super::run::State;
use super::word::Word;

/// Maximum capacity for tuples to be checked that a session keeps between changes, for each maintained relation.
const MAX_IDLE_SUSPECTS: usize = 16;

/// The cost of checking a tuple, without loops in the rules.
const CHECK_STEPS: i64 = 8;

/// The rows of one session and their state.
#[derive(Debug, Clone)]
pub(super) struct Live<W> {
    pub(super) s: State<W>,
    /// Rows that were written over, by number, with what they were.
    pub(super) journal: Vec<(u32, W)>,
    /// The number of the current frame.
    pub(super) depth: usize,
    /// Whether the current frame belongs to a mark, so that a write opens another.
    pub(super) marked: bool,
    /// Number of marks set so far.
    pub(super) marks: u32,
    /// Whether nothing of the current frame is marked as derived; false if that is not known.
    pub(super) clean: bool,
    /// Whether any maintained relation may be out of date.
    pending: bool,
    /// By [`KeptId`], whether the candidates of a maintained relation have not been checked yet.
    unchecked: Vec<bool>,
    /// The old rows of the block that is being derived.
    scratch: Vec<W>,
    pub(super) counting: Counting,
    /// The blocks and tuples of maintained relations that were derived again; recorded only on request.
    pub(super) log: Option<Vec<(RelId, Tuple)>>,
}

impl<W: Word> Live<W> {
    pub(super) fn new(c: &Compiled<W>) -> Self {
        let s = State::new(c);
        let mut live = Self {
            s,
            journal: Vec::new(),
            depth: 0,
            marked: false,
            marks: 0,
            clean: true,
            pending: false,
            unchecked: vec![false; c.maintained.len()],
            scratch: Vec::new(),
            counting: Counting::default(),
            log: None,
        };
        live.suspect_unprompted(c);
        live
    }

    /// Marks tuples that may hold without any fact, since no change of a fact would cause a check of them.
    fn suspect_unprompted(&mut self, c: &Compiled<W>) {
        for &kept_id in &c.unprompted {
            let kept = &c.maintained[usize::from(kept_id)];
            let Store::Dense(dense) = &c.stores[usize::from(kept.rel.0)] else { continue };
            if kept.by_block {
                self.s.mark_dirty(kept_id, W::first(dense.sizes[0] as usize));
            } else {
                self.unchecked[usize::from(kept_id)] = true;
                self.s.mark_due(kept_id);
            }
        }
        self.pending = true;
    }

    /// Whether a relation is derived in the current frame.
    #[inline]
    fn is_derived(&self, rel: RelId) -> bool {
        self.s.ready[self.s.ready_at + usize::from(rel.0) / 64] >> (rel.0 % 64) & 1 == 1
    }

    #[inline]
    fn note_derived(&mut self, c: &Compiled<W>, rel: RelId) {
        let (word, bit) = (usize::from(rel.0) / 64, 1 << (rel.0 % 64));
        // A relation has one list, which no longer belongs to the frames below.
        let list = c.list_relations[word] & bit;
        for depth in 0..self.depth {
            self.s.ready[depth * c.flags() + word] &= !list;
        }
        self.s.ready[self.s.ready_at + word] |= bit;
    }

    // --- inputs ---------------------------------------------------------------------------------

    /// Writes one input's value into its store.
    pub(super) fn write_input(
        &mut self,
        c: &Compiled<W>,
        rel: RelId,
        [entity, member]: [i64; 2],
        old: Option<i64>,
        new: Option<i64>,
    ) {
        match c.stores[usize::from(rel.0)] {
            Store::Key { fun, present, inverse, entities } => {
                if entity >= i64::from(entities) {
                    return;
                }
                let one = W::one(entity as usize);
                self.s.funs[fun as usize + entity as usize] = new.unwrap_or(NONE);
                if let Some(inverse) = inverse {
                    if let Some(old) = old {
                        put(&mut self.s.rows[inverse as usize + old as usize], one, false);
                    }
                    if let Some(new) = new {
                        put(&mut self.s.rows[inverse as usize + new as usize], one, true);
                    }
                }
                put(&mut self.s.rows[present as usize], one, new.is_some());
            }
            Store::Game { fun } if entity == 0 => {
                self.s.funs[fun as usize] = new.unwrap_or(NONE);
            }
            Store::Dense(ref dense) if dense.sizes.len() == 2 => {
                let index = c.indexes[usize::from(rel.0)];
                self.write_list(dense, index, [entity as usize, member as usize], new == Some(1));
            }
            Store::Dense(ref dense) => {
                let member = if dense.sizes.is_empty() { 0 } else { entity };
                if dense.sizes.is_empty() && entity != 0 {
                    return;
                }
                let one = W::one(member as usize);
                put(&mut self.s.rows[dense.base as usize], one, new == Some(1));
            }
            _ => {}
        }
    }

    /// Adds a member to a list of an entity, or removes it.
    fn write_list(
        &mut self,
        dense: &Dense,
        index: Option<u32>,
        [entity, member]: [usize; 2],
        comes: bool,
    ) {
        if entity >= dense.sizes[0] as usize {
            return;
        }
        let row = &mut self.s.rows[dense.base as usize + entity];
        put(row, W::one(member), comes);
        let is_empty = row.is_empty();
        if let Some(support) = dense.support {
            put(&mut self.s.rows[support as usize], W::one(entity), !is_empty);
        }
        if let Some(index) = index {
            put(&mut self.s.rows[index as usize + member], W::one(entity), comes);
        }
    }

    /// Sets the rows of a given relation. Its readers are derived on demand.
    pub(super) fn take_rows(&mut self, c: &Compiled<W>, rel: RelId, rows: &[Tuple]) {
        if self.marked {
            self.open_frame(c)
        } else {
            self.clear_flags(c)
        }
        match &c.stores[usize::from(rel.0)] {
            Store::Dense(dense) => {
                self.s.rows[dense.range()].fill(W::default());
                if let Some(support) = dense.support {
                    self.s.rows[support as usize] = W::default();
                }
                self.add_tuples(dense, 0, rows);
            }
            Store::Sparse(store) => {
                self.s.refill(c, *store, rows.to_vec());
            }
            Store::Nowhere | Store::Static | Store::Key { .. } | Store::Game { .. } => {}
        }
    }

    /// Adds tuples to the rows of a relation, which are counted from `frame`.
    fn add_tuples(&mut self, dense: &Dense, frame: usize, tuples: &[Tuple]) {
        for tuple in tuples {
            let (row, last) = row_of(dense, tuple);
            put(&mut self.s.rows[frame + row], W::one(last), true);
            if let (Some(support), Some(&first)) = (dense.support, tuple.first()) {
                put(&mut self.s.rows[frame + support as usize], W::one(first as usize), true);
            }
        }
    }

    // --- maintained relations -------------------------------------------------------------------

    /// Brings every maintained relation up to date.
    #[inline]
    pub(super) fn catch_up(&mut self, c: &Compiled<W>) {
        if self.pending {
            self.pending = false;
            self.catch_up_all(c);
        }
    }

    fn catch_up_all(&mut self, c: &Compiled<W>) {
        self.s.fuel.refill();
        // Updating a relation can only make later ones due.
        for word in 0..self.s.due.len() {
            while let Some(bit) = self.s.due[word].pop() {
                let kept_id = word * 64 + bit;
                let kept = &c.maintained[kept_id];
                if self.s.fuel.is_out() {
                    return;
                }
                if kept.by_block {
                    self.catch_up_blocks(c, kept, kept_id);
                } else {
                    self.catch_up_tuples(c, kept, kept_id);
                }
            }
        }
    }

    fn catch_up_blocks(&mut self, c: &Compiled<W>, kept: &Maintained, kept_id: usize) {
        let mut blocks = std::mem::take(&mut self.s.dirty[kept_id]);
        while let Some(block) = blocks.pop() {
            if let Some(log) = &mut self.log {
                log.push((kept.rel, [block as i64].into_iter().collect()));
            }
            if kept.stride == 1 {
                self.derive_row(c, kept, block);
            } else {
                self.derive_block(c, kept, block);
            }
        }
    }

    fn catch_up_tuples(&mut self, c: &Compiled<W>, kept: &Maintained, kept_id: usize) {
        let Store::Dense(dense) = &c.stores[usize::from(kept.rel.0)] else { return };
        if std::mem::take(&mut self.unchecked[kept_id])
            && let Some(candidates) = kept.candidates
        {
            self.s.exec(c, candidates);
        }
        let mut suspects = std::mem::take(&mut self.s.suspects[kept_id]);
        for tuple in &suspects {
            let tuple = &tuple[..dense.sizes.len()];
            if let Some(log) = &mut self.log {
                log.push((kept.rel, Tuple::from_slice(tuple)));
            }
            self.check_tuple(c, kept.rel, dense, tuple);
        }
        suspects.clear();
        suspects.shrink_to(MAX_IDLE_SUSPECTS);
        self.s.suspects[kept_id] = suspects;
    }

    /// Derives a block that is one row.
    #[inline]
    fn derive_row(&mut self, c: &Compiled<W>, kept: &Maintained, block: usize) {
        let (at, support) = (kept.base as usize + block, kept.support as usize);
        let old = std::mem::take(&mut self.s.rows[at]);
        let old_support = self.s.rows[support];
        self.s.rows[support] = old_support.and_not(W::one(block));
        self.exec_block(c, kept, block);
        let new = self.s.rows[at];
        if new == old {
            return; // and the support is the old one, too
        }
        self.journal.push((at as u32, old));
        if self.s.rows[support] != old_support {
            self.journal.push((kept.support, old_support));
        }
        self.block_changed(c, kept, block, old_support, &[old]);
    }

    /// Derives a block of several rows.
    fn derive_block(&mut self, c: &Compiled<W>, kept: &Maintained, block: usize) {
        let stride = kept.stride as usize;
        let start = kept.base as usize + block * stride;
        self.scratch.clear();
        self.scratch.extend_from_slice(&self.s.rows[start..start + stride]);
        self.s.rows[start..start + stride].fill(W::default());
        let support = kept.support as usize;
        let old_support = self.s.rows[support];
        self.s.rows[support] = old_support.and_not(W::one(block));
        self.exec_block(c, kept, block);
        let mut changed = false;
        let rows = &self.s.rows[start..start + stride];
        for (at, (&was, &is)) in self.scratch.iter().zip(rows).enumerate() {
            if was != is {
                self.journal.push(((start + at) as u32, was));
                changed = true;
            }
        }
        if self.s.rows[support] != old_support {
            self.journal.push((kept.support, old_support));
        }
        if changed {
            let old = std::mem::take(&mut self.scratch);
            self.block_changed(c, kept, block, old_support, &old);
            self.scratch = old;
        }
    }

    /// Runs the rules of a block, which has been emptied.
    #[inline]
    fn exec_block(&mut self, c: &Compiled<W>, kept: &Maintained, block: usize) {
        self.s.regs[usize::from(GIVEN[0])] = block as i64;
        self.s.exec(c, kept.derive);
        if let Some(recursive) = kept.recursive {
            self.repeat(c, kept, block, recursive);
        }
    }

    /// Runs the recursive rules of a block until none adds anything. They read only this block.
    #[inline(never)]
    fn repeat(&mut self, c: &Compiled<W>, kept: &Maintained, block: usize, recursive: u32) {
        let start = kept.base as usize + block * kept.stride as usize;
        let rows = start..start + kept.stride as usize;
        let owner = c.machine.owner[recursive as usize];
        let members = |s: &State<W>| s.rows[rows.clone()].iter().map(|it| it.count()).sum::<u32>();
        let mut known = members(&self.s);
        while known > 0 && self.s.fuel.spend(i64::from(known), owner) {
            self.s.regs[usize::from(GIVEN[0])] = block as i64;
            self.s.exec(c, recursive);
            let now = members(&self.s);
            if now == known {
                return;
            }
            known = now;
        }
    }

    /// Updates the index of a changed block and notifies its readers, given the old support and the block's old rows.
    /// Removed tuples are reported while everything stored of the relation is as it was, the index included: a rule may
    /// read the relation twice, and both tuples may be gone. Added tuples are reported last.
    #[inline]
    fn block_changed(
        &mut self,
        c: &Compiled<W>,
        kept: &Maintained,
        block: usize,
        old_support: W,
        old: &[W],
    ) {
        if c.readers[usize::from(kept.rel.0)].need_block_only() {
            return self.tell_of_block(c, kept, block, old);
        }
        let (start, support) = (kept.base as usize + block * old.len(), kept.support as usize);
        let rows = start..start + old.len();
        let new: Vec<W> = self.s.rows[rows.clone()].to_vec();
        self.s.rows[rows.clone()].copy_from_slice(old);
        let new_support = std::mem::replace(&mut self.s.rows[support], old_support);
        self.tell_of_rows(c, kept, block, [old, &new]);
        self.s.rows[rows].copy_from_slice(&new);
        self.s.rows[support] = new_support;
        self.tell_of_block(c, kept, block, old);
        self.tell_of_rows(c, kept, block, [&new, old]);
    }

    /// Updates the index of a changed block, and notifies the readers of whole blocks.
    #[inline]
    fn tell_of_block(&mut self, c: &Compiled<W>, kept: &Maintained, block: usize, old: &[W]) {
        let one = W::one(block);
        if let Some(index) = kept.index {
            let start = kept.base as usize + block * old.len();
            let union = |rows: &[W]| rows.iter().fold(W::default(), |all, it| all.or(*it));
            let mut differ = union(old).xor(union(&self.s.rows[start..start + old.len()]));
            while let Some(value) = differ.pop() {
                let at = index as usize + value;
                let row = self.s.rows[at];
                self.journal.push((at as u32, row));
                self.s.rows[at] = row.xor(one);
            }
        }
        tell_blocks(&mut self.s, &c.readers[usize::from(kept.rel.0)], block);
    }

    /// Notifies the readers of tuples that are in the first rows of a block but not in the second.
    fn tell_of_rows(&mut self, c: &Compiled<W>, kept: &Maintained, block: usize, rows: [&[W]; 2]) {
        let Store::Dense(dense) = &c.stores[usize::from(kept.rel.0)] else { return };
        for (at, (&row, &other)) in rows[0].iter().zip(rows[1]).enumerate() {
            let mut members = row.and_not(other);
            while let Some(member) = members.pop() {
                let mut tuple = keys_of(dense, block * rows[0].len() + at);
                tuple.push(member as i64);
                tell(c, &mut self.s, kept.rel, &tuple);
            }
        }
    }

    /// Checks whether a tuple holds. If that has changed, stores and reports it.
    fn check_tuple(&mut self, c: &Compiled<W>, rel: RelId, dense: &Dense, tuple: &[i64]) {
        let derive = c.derive[usize::from(rel.0)];
        if !self.s.fuel.spend(CHECK_STEPS, c.machine.owner[derive as usize]) {
            return;
        }
        give(&mut self.s, tuple);
        let holds = self.s.exec(c, derive);
        let (row, last) = row_of(dense, tuple);
        let old = self.s.rows[row];
        if old.has(last) == holds {
            return;
        }
        if !holds {
            tell(c, &mut self.s, rel, tuple);
        }
        self.journal.push((row as u32, old));
        self.s.rows[row] = old.xor(W::one(last));
        let first = tuple[0] as usize;
        if let Some(support) = dense.support {
            let any = self.s.rows[dense.block(first)].iter().any(|it| !it.is_empty());
            self.write_bit(support as usize, first, any);
        }
        if let Some(index) = c.indexes[usize::from(rel.0)] {
            let any = self.s.rows[dense.block(first)].iter().any(|it| it.has(last));
            self.write_bit(index as usize + last, first, any);
        }
        if holds {
            tell(c, &mut self.s, rel, tuple);
        }
    }

    /// Writes a bit of a row, and the journal.
    fn write_bit(&mut self, at: usize, bit: usize, on: bool) {
        let old = self.s.rows[at];
        if old.has(bit) != on {
            self.journal.push((at as u32, old));
            self.s.rows[at] = old.xor(W::one(bit));
        }
    }

    // --- on demand ------------------------------------------------------------------------------

    /// Makes a relation readable.
    pub(super) fn make_ready(&mut self, c: &Compiled<W>, rel: RelId) {
        if matches!(c.stores[usize::from(rel.0)], Store::Static) {
            return; // whatever the facts are
        }
        self.catch_up(c);
        if c.needs[usize::from(rel.0)].is_empty() || self.is_derived(rel) {
            return;
        }
        self.s.fuel.refill();
        self.clean = false;
        if let Some(schedule) = &c.schedules[usize::from(rel.0)] {
            let ready = &self.s.ready[self.s.ready_at..];
            let alone = schedule.before.iter().zip(ready).all(|(want, is)| want & !is == 0);
            let start = if alone { c.derive[usize::from(rel.0)] } else { schedule.start };
            self.s.exec(c, start);
            return;
        }
        for &need in &c.needs[usize::from(rel.0)] {
            if !self.is_derived(need) {
                self.derive(c, need);
            }
        }
    }

    fn derive(&mut self, c: &Compiled<W>, rel: RelId) {
        self.clean = false;
        match &c.modes[usize::from(rel.0)] {
            Mode::OnDemand { .. } => {
                self.s.exec(c, c.derive[usize::from(rel.0)]);
                // A relation stored as rows was emptied and marked as derived by its first instruction, and no list has
                // grown.
                let Store::Sparse(store) = c.stores[usize::from(rel.0)] else { return };
                let new = std::mem::take(&mut self.s.fresh[store as usize]);
                self.s.fresh[store as usize] = self.s.refill(c, store, new);
                self.note_derived(c, rel);
            }
            Mode::General { stratum } => {
                let fixpoint = &c.general[*stratum];
                general::run(c, &mut self.s, fixpoint);
                for member in &fixpoint.relations {
                    if let Store::Dense(dense) = &c.stores[usize::from(member.rel.0)] {
                        self.s.clear(dense.base, dense.stride(), dense.support);
                    }
                    self.take_list(c, member.rel, member.full);
                    self.note_derived(c, member.rel);
                }
            }
            _ => return,
        }
        let tuples = self.s.lists.iter().map(|it| it.tuples.len()).sum::<usize>();
        if tuples > LIST_ROWS && !self.s.fuel.is_out() {
            let owner = c.program.relation(rel).rules.last().map_or(0, |it| u32::from(it.0));
            self.s.fuel.run_out(Resource::Rows, owner);
        }
    }

    /// Copies the result of a fixpoint into the relation's own store.
    fn take_list(&mut self, c: &Compiled<W>, rel: RelId, list: u32) {
        let tuples = self.s.lists[list as usize].tuples.clone();
        match &c.stores[usize::from(rel.0)] {
            Store::Dense(dense) => self.add_tuples(dense, self.s.frame, &tuples),
            Store::Sparse(store) => {
                self.s.refill(c, *store, tuples);
            }
            _ => {}
        }
    }

    // --- changes, marks, answers ----------------------------------------------------------------

    /// Writes a change of a fact to the inputs that read it, and notifies their readers.
    pub(super) fn change(&mut self, c: &Compiled<W>, change: Change) {
        let entity = i64::from(change.entity.0);
        self.invalidate(c, change.attr);
        for &(rel, member) in &c.inputs[usize::from(change.attr.0)] {
            let readers = &c.readers[usize::from(rel.0)];
            let at = [entity, i64::from(member)];
            if readers.is_empty() {
                self.write_input(c, rel, at, change.old, change.new);
                continue;
            }
            self.pending = true;
            let Role::Input(input) = c.program.relation(rel).role else { continue };
            let moved = matches!(input, Input::Key(_)) && change.old.is_some();
            if let Some(old) = change.old {
                self.tell_input(c, rel, input, [entity, old, at[1]], false);
            }
            self.write_input(c, rel, at, change.old, change.new);
            if let Some(new) = change.new {
                self.tell_input(c, rel, input, [entity, new, at[1]], moved);
            }
        }
    }

    /// Notifies the readers of an input of a tuple that is added or removed. If `moved`, only its value is new: readers
    /// that do not depend on the value have been notified already.
    fn tell_input(
        &mut self,
        c: &Compiled<W>,
        rel: RelId,
        input: Input,
        [entity, value, member]: [i64; 3],
        moved: bool,
    ) {
        let (both, listed) = ([entity, value], [entity, member]);
        let tuple = match input {
            Input::Key(_) => &both[..],
            Input::Game(_) if entity == 0 => &both[1..],
            Input::Flag(_) if value == 1 => &both[..1],
            Input::List(..) if value == 1 => &listed[..],
            Input::GameFlag(_) if entity == 0 && value == 1 => &[],
            _ => return,
        };
        if !moved {
            tell(c, &mut self.s, rel, tuple);
            return;
        }
        let readers = &c.readers[usize::from(rel.0)];
        tell_others(&mut self.s, readers, tuple);
        if let Some(pc) = readers.each {
            give(&mut self.s, tuple);
            self.s.exec(c, pc);
        }
    }

    pub(super) fn rollback(&mut self, c: &Compiled<W>, mark: EvaluatorMark) {
        while self.journal.len() > mark.journal {
            let Some((at, old)) = self.journal.pop() else { break };
            self.s.rows[at as usize] = old;
        }
        if self.pending {
            self.forget_what_is_due();
        }
        self.marked = mark.marked;
        if self.depth != mark.depth {
            self.go_to_frame(c, mark.depth);
        }
        if self.s.fuel.is_out() {
            self.forget(c);
        }
    }

    /// Forgets which maintained rows may have changed.
    fn forget_what_is_due(&mut self) {
        for word in 0..self.s.due.len() {
            while let Some(bit) = self.s.due[word].pop() {
                let kept_id = word * 64 + bit;
                self.s.dirty[kept_id] = W::default();
                self.s.suspects[kept_id].clear();
                self.unchecked[kept_id] = false;
            }
        }
        self.pending = false;
    }

    /// Empties every maintained relation and treats all input tuples as new. What is derived on demand is out of date, and
    /// the budget is full again.
    pub(super) fn forget(&mut self, c: &Compiled<W>) {
        self.s.fuel.restart();
        for &Maintained { rel, .. } in &c.maintained {
            let Store::Dense(dense) = &c.stores[usize::from(rel.0)] else { continue };
            self.wipe(dense.range());
            if let Some(support) = dense.support {
                self.wipe(support as usize..support as usize + 1);
            }
            if let (Some(index), Some(values)) = (c.indexes[usize::from(rel.0)], dense.sizes.last())
            {
                self.wipe(index as usize..(index + values) as usize);
            }
        }
        self.suspect_unprompted(c);
        for &(rel, _) in c.inputs.iter().flatten().filter(|it| it.1 == 0) {
            let mut tuples = Vec::new();
            let all = vec![None; c.program.relation(rel).columns.len()];
            let mut keep = |tuple: &[i64]| {
                tuples.push(Tuple::from_slice(tuple));
                ControlFlow::Continue(())
            };
            let _ = match &c.stores[usize::from(rel.0)] {
                Store::Dense(dense) => self.dense_tuples(dense, &all, &mut keep),
                _ => self.function_tuples(c, rel, &all, &mut keep),
            };
            for tuple in tuples {
                tell(c, &mut self.s, rel, &tuple);
            }
        }
        self.clear_flags(c);
    }

    /// Empties maintained rows, and writes the journal.
    fn wipe(&mut self, rows: std::ops::Range<usize>) {
        for at in rows {
            let old = std::mem::take(&mut self.s.rows[at]);
            if !old.is_empty() {
                self.journal.push((at as u32, old));
            }
        }
    }

    pub(super) fn react(
        &mut self,
        c: &Compiled<W>,
        batch: usize,
        args: &[i64],
        outputs: &mut Vec<Output>,
    ) {
        self.catch_up(c);
        self.s.fuel.refill();
        self.ready_batch(c, batch);
        let plans = &c.batches[batch];
        give(&mut self.s, args);
        if args.len() > GIVEN.len() {
            self.s.args = Tuple::from_slice(args);
        }
        for plan in plans {
            self.s.exec(c, plan.pc);
            self.s.effects(c, plan, outputs);
        }
    }

    /// Derives the relations that the reactions of a batch read.
    pub(super) fn ready_batch(&mut self, c: &Compiled<W>, batch: usize) {
        for need in c.batches[batch].iter().flat_map(|it| &it.needs) {
            if !self.is_derived(*need) {
                self.derive(c, *need);
            }
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let rows = self.s.rows.capacity() + self.scratch.capacity();
        let lists: usize = self.s.lists.iter().map(|it| it.heap_bytes()).sum();
        rows * size_of::<W>()
            + self.s.funs.capacity() * size_of::<i64>()
            + self.journal.capacity() * size_of::<(u32, W)>()
            + self
                .s
                .suspects
                .iter()
                .map(|it| it.capacity() * size_of::<[i64; GIVEN.len()]>())
                .sum::<usize>()
            + self.s.regs.len() * size_of::<i64>()
            + self.s.ready.capacity() * size_of::<u64>()
            + self.counting.heap_bytes()
            + lists
    }
}

/// Notifies the readers of a relation that a tuple is added or removed.
fn tell<W: Word>(c: &Compiled<W>, s: &mut State<W>, rel: RelId, tuple: &[i64]) {
    let readers = &c.readers[usize::from(rel.0)];
    if let Some(&first) = tuple.first() {
        tell_blocks(s, readers, first as usize);
    }
    tell_others(s, readers, tuple);
    for pc in readers.once.iter().chain(&readers.each) {
        give(s, tuple);
        if s.fuel.spend(1, c.machine.owner[*pc as usize]) {
            s.exec(c, *pc);
        }
    }
}

/// Notifies readers whose block is the first column.
#[inline]
fn tell_blocks<W: Word>(s: &mut State<W>, readers: &Readers, block: usize) {
    let one = W::one(block);
    for (kept_id, guards) in &readers.blocks {
        mark_dirty(s, *kept_id, one, guards);
    }
}

/// Notifies readers whose block is another column.
fn tell_others<W: Word>(s: &mut State<W>, readers: &Readers, tuple: &[i64]) {
    for (kept_id, col, guards) in &readers.others {
        mark_dirty(s, *kept_id, W::one(tuple[*col] as usize), guards);
    }
}

/// Notes that a block of a relation may have changed, if all guards contain it.
#[inline]
fn mark_dirty<W: Word>(s: &mut State<W>, kept_id: KeptId, block: W, guards: &[u32]) {
    let block = guards.iter().fold(block, |block, it| block.and(s.rows[*it as usize]));
    if !block.is_empty() {
        s.mark_dirty(kept_id, block);
    }
}

/// Adds members to a row, or removes them.
#[inline(always)]
fn put<W: Word>(row: &mut W, members: W, comes: bool) {
    *row = if comes { row.or(members) } else { row.and_not(members) };
}

/// Puts a tuple in the registers where plans expect it.
#[inline]
fn give<W: Word>(s: &mut State<W>, tuple: &[i64]) {
    for (reg, &value) in GIVEN.into_iter().zip(tuple) {
        s.regs[usize::from(reg)] = value;
    }
}

/// The key values of a row by its number, counted from the relation's first.
pub(super) fn keys_of(dense: &Dense, mut at: usize) -> Tuple {
    dense
        .strides
        .iter()
        .map(|&stride| {
            let key = at / stride as usize;
            at %= stride as usize;
            key as i64
        })
        .collect()
}

/// The row's index and the bit of a tuple.
pub(super) fn row_of(dense: &Dense, tuple: &[i64]) -> (usize, usize) {
    let Some((last, keys)) = tuple.split_last() else { return (dense.base as usize, 0) };
    let at: usize =
        keys.iter().zip(&dense.strides).map(|(&key, &by)| key as usize * by as usize).sum();
    (dense.base as usize + at, *last as usize)
}
