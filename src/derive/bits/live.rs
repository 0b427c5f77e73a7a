//! Keeps the rows of one session true to its facts.
//!
//! Inputs follow every write at once. Maintained relations note what a write may have changed and
//! catch up at the next read; everything they overwrite is journaled. Relations derived on demand
//! live in frames, one per mark, so that a rollback finds the older ones untouched.

use std::ops::ControlFlow;

use crate::facts::Change;
use crate::rules::{Input, RelId, Role};

use super::super::rows::Tuple;
use super::super::transaction::Output;
use super::code::Space;
use super::compile::{Compiled, DeltaKind, Mode, refill};
use super::general;
use super::layout::{Dense, NONE, Store, size};
use super::run::State;
use super::word::Word;

/// How much room for tuples to be checked a session keeps for the next change.
const MAX_IDLE_SUSPECTS: usize = 16;

/// What it costs to check a tuple, loops in the rules aside.
const CHECK_STEPS: i64 = 8;

/// Where the engine was when a mark was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::derive) struct EngineMark {
    journal: usize,
    depth: usize,
}

/// The rows of one session and what is known of their state.
#[derive(Debug, Clone)]
pub(super) struct Live<W> {
    pub(super) s: State<W>,
    journal: Vec<(u32, W)>,
    depth: usize,
    /// Which relations of the frame are derived, by depth: a bit each.
    derived: Vec<Vec<u64>>,
    pending: bool,
    /// Relations all of whose tuples are to be checked: a bit each.
    unchecked: Vec<bool>,
    scratch: Vec<W>,
    /// What was derived anew of kept relations, blocks and tuples; listed only when asked for.
    pub(super) log: Option<Vec<(RelId, Tuple)>>,
}

impl<W: Word> Live<W> {
    pub(super) fn new(c: &Compiled<W>) -> Self {
        let s = State::new(c);
        let flags = c.program.relations.len().div_ceil(64);
        let mut engine = Self {
            s,
            journal: Vec::new(),
            depth: 0,
            derived: vec![vec![0; flags]],
            pending: false,
            unchecked: vec![false; c.program.relations.len()],
            scratch: Vec::new(),
            log: None,
        };
        engine.suspect_unprompted(c);
        engine
    }

    /// What may hold without any fact: no change of a fact would have it looked at.
    fn suspect_unprompted(&mut self, c: &Compiled<W>) {
        for &rel in &c.unprompted {
            let Store::Dense(dense) = &c.stores[usize::from(rel.0)] else { continue };
            match &c.modes[usize::from(rel.0)] {
                Mode::Block { .. } => {
                    self.s.dirty[usize::from(rel.0)] = W::first(dense.sizes[0] as usize);
                }
                Mode::Tuple { .. } => self.unchecked[usize::from(rel.0)] = true,
                _ => {}
            }
        }
        self.pending = true;
    }

    #[inline]
    fn flag(&self, rel: RelId) -> bool {
        self.derived[self.depth][usize::from(rel.0) / 64] >> (rel.0 % 64) & 1 == 1
    }

    #[inline]
    fn set_flag(&mut self, rel: RelId) {
        self.derived[self.depth][usize::from(rel.0) / 64] |= 1 << (rel.0 % 64);
    }

    // --- inputs ---------------------------------------------------------------------------------

    /// Writes one input's value into its store.
    pub(super) fn write_input(
        &mut self,
        c: &Compiled<W>,
        rel: RelId,
        entity: i64,
        old: Option<i64>,
        new: Option<i64>,
    ) {
        match c.stores[usize::from(rel.0)] {
            Store::Key { fun, present, inverse, entities } => {
                if entity >= i64::from(entities) {
                    return;
                }
                let who = W::one(entity as usize);
                self.s.funs[fun as usize + entity as usize] = new.unwrap_or(NONE);
                if let Some(inverse) = inverse {
                    if let Some(old) = old {
                        let row = &mut self.s.rows[inverse as usize + old as usize];
                        *row = row.and_not(who);
                    }
                    if let Some(new) = new {
                        let row = &mut self.s.rows[inverse as usize + new as usize];
                        *row = row.or(who);
                    }
                }
                let row = &mut self.s.rows[present as usize];
                *row = if new.is_some() { row.or(who) } else { row.and_not(who) };
            }
            Store::Game { fun } if entity == 0 => {
                self.s.funs[fun as usize] = new.unwrap_or(NONE);
            }
            Store::Dense(ref dense) => {
                let member = if dense.sizes.is_empty() { 0 } else { entity };
                if dense.sizes.is_empty() && entity != 0 {
                    return;
                }
                let row = &mut self.s.rows[dense.base as usize];
                let one = W::one(member as usize);
                *row = if new == Some(1) { row.or(one) } else { row.and_not(one) };
            }
            _ => {}
        }
    }

    fn input_tuple(&self, c: &Compiled<W>, rel: RelId, entity: i64, value: i64) -> Option<Tuple> {
        let Role::Input(input) = c.program.relation(rel).role else { return None };
        match input {
            Input::Key(_) => Some([entity, value].into_iter().collect()),
            Input::Game(_) => (entity == 0).then(|| [value].into_iter().collect()),
            Input::Flag(_) => (value == 1).then(|| [entity].into_iter().collect()),
            Input::GameFlag(_) => (entity == 0 && value == 1).then(Tuple::new),
        }
    }

    // --- maintained relations -------------------------------------------------------------------

    /// Brings every maintained relation up to date.
    fn catch_up(&mut self, c: &Compiled<W>) {
        if !self.pending {
            return;
        }
        self.pending = false;
        self.s.fuel.refill();
        for &rel in &c.maintained {
            if self.s.fuel.is_out() {
                return;
            }
            match &c.modes[usize::from(rel.0)] {
                Mode::Block { rules, fixes } => {
                    let mut blocks = std::mem::take(&mut self.s.dirty[usize::from(rel.0)]);
                    while let Some(block) = blocks.pop() {
                        if let Some(log) = &mut self.log {
                            log.push((rel, [block as i64].into_iter().collect()));
                        }
                        self.derive_block(c, rel, block, rules, fixes);
                    }
                }
                Mode::Tuple { checks } => {
                    if std::mem::take(&mut self.unchecked[usize::from(rel.0)]) {
                        self.check_all(c, rel, checks);
                    }
                    let mut suspects = std::mem::take(&mut self.s.suspects[usize::from(rel.0)]);
                    for tuple in &suspects {
                        if let Some(log) = &mut self.log {
                            log.push((rel, tuple.clone()));
                        }
                        self.check_tuple(c, rel, tuple, checks);
                    }
                    suspects.clear();
                    suspects.shrink_to(MAX_IDLE_SUSPECTS);
                    self.s.suspects[usize::from(rel.0)] = suspects;
                }
                _ => {}
            }
        }
    }

    /// Checks every tuple that the relation could have.
    fn check_all(&mut self, c: &Compiled<W>, rel: RelId, checks: &[(Vec<u8>, u32)]) {
        let Store::Dense(dense) = &c.stores[usize::from(rel.0)] else { return };
        let last = i64::from(dense.sizes.last().copied().unwrap_or(1));
        for row in 0..dense.rows as usize {
            let keys = keys_of(dense, row);
            for member in 0..last {
                let mut tuple = keys.clone();
                if !dense.sizes.is_empty() {
                    tuple.push(member);
                }
                self.check_tuple(c, rel, &tuple, checks);
            }
        }
    }

    fn derive_block(
        &mut self,
        c: &Compiled<W>,
        rel: RelId,
        block: usize,
        rules: &[(u8, u32)],
        fixes: &[(u8, u32)],
    ) {
        let Store::Dense(dense) = &c.stores[usize::from(rel.0)] else { return };
        let stride = dense.strides[0] as usize;
        let start = dense.base as usize + block * stride;
        self.scratch.clear();
        self.scratch.extend_from_slice(&self.s.rows[start..start + stride]);
        self.s.rows[start..start + stride].fill(W::default());
        let one = W::one(block);
        let support = dense.support.map(|it| it as usize);
        let had = support.map(|it| self.s.rows[it]);
        if let Some(at) = support {
            self.s.rows[at] = self.s.rows[at].and_not(one);
        }
        for (reg, pc) in rules.iter().chain(fixes) {
            self.s.regs[usize::from(*reg)] = block as i64;
            self.s.exec(c, *pc as usize);
        }
        let mut changed = false;
        for at in 0..stride {
            let old = self.scratch[at];
            if old != self.s.rows[start + at] {
                self.journal.push(((start + at) as u32, old));
                changed = true;
            }
        }
        if let (Some(at), Some(had)) = (support, had)
            && self.s.rows[at] != had
        {
            self.journal.push((at as u32, had));
        }
        if changed {
            self.block_changed(c, rel, block, dense, start, stride);
        }
    }

    /// Updates the index of a changed block and tells its readers.
    fn block_changed(
        &mut self,
        c: &Compiled<W>,
        rel: RelId,
        block: usize,
        dense: &Dense,
        start: usize,
        stride: usize,
    ) {
        if let Some(index) = c.indexes[usize::from(rel.0)] {
            let all = |rows: &[W]| rows.iter().fold(W::default(), |all, it| all.or(*it));
            let old = all(&self.scratch);
            let new = all(&self.s.rows[start..start + stride]);
            let mut differ = old.xor(new);
            while let Some(value) = differ.pop() {
                let at = index as usize + value;
                let row = self.s.rows[at];
                self.journal.push((at as u32, row));
                self.s.rows[at] = row.xor(W::one(block));
            }
        }
        let mut by_tuple = false;
        for delta in &c.deltas[usize::from(rel.0)] {
            match delta.what {
                DeltaKind::Block(0) => {
                    let slot = &mut self.s.dirty[usize::from(delta.consumer.0)];
                    *slot = slot.or(W::one(block));
                }
                _ => by_tuple = true,
            }
        }
        if by_tuple {
            self.spread_block(c, rel, block, dense, start, stride);
        }
    }

    /// Tuples that went are told with the old rows in place, tuples that came with the new ones.
    fn spread_block(
        &mut self,
        c: &Compiled<W>,
        rel: RelId,
        block: usize,
        dense: &Dense,
        start: usize,
        stride: usize,
    ) {
        let new: Vec<W> = self.s.rows[start..start + stride].to_vec();
        let old: Vec<W> = self.scratch.clone();
        self.s.rows[start..start + stride].copy_from_slice(&old);
        for (gone, rows, other) in [(true, &old, &new), (false, &new, &old)] {
            if !gone {
                self.s.rows[start..start + stride].copy_from_slice(&new);
            }
            for at in 0..stride {
                let mut members = rows[at].and_not(other[at]);
                while let Some(member) = members.pop() {
                    let mut tuple = keys_of(dense, block * stride + at);
                    tuple.push(member as i64);
                    spread(c, &mut self.s, rel, &tuple);
                }
            }
        }
    }

    fn check_tuple(
        &mut self,
        c: &Compiled<W>,
        rel: RelId,
        tuple: &Tuple,
        checks: &[(Vec<u8>, u32)],
    ) {
        let Store::Dense(dense) = &c.stores[usize::from(rel.0)] else { return };
        let blame = checks.first().map_or(0, |it| c.code.owner[it.1 as usize]);
        if !self.s.fuel.spend(CHECK_STEPS, blame) {
            return;
        }
        let holds = checks.iter().any(|(regs, pc)| {
            for (reg, value) in regs.iter().zip(tuple) {
                self.s.regs[usize::from(*reg)] = *value;
            }
            self.s.exec(c, *pc as usize)
        });
        let (row, last) = row_of(dense, tuple);
        let old = self.s.rows[row];
        if old.has(last) == holds {
            return;
        }
        if !holds {
            spread(c, &mut self.s, rel, tuple);
        }
        self.journal.push((row as u32, old));
        self.s.rows[row] = old.xor(W::one(last));
        if let Some(support) = dense.support {
            self.update_support(dense, support as usize, tuple[0] as usize);
        }
        if let Some(index) = c.indexes[usize::from(rel.0)] {
            self.update_index(dense, index as usize, tuple[0] as usize, last);
        }
        if holds {
            spread(c, &mut self.s, rel, tuple);
        }
    }

    fn update_support(&mut self, dense: &Dense, support: usize, first: usize) {
        let stride = dense.strides[0] as usize;
        let start = dense.base as usize + first * stride;
        let any = self.s.rows[start..start + stride].iter().any(|it| !it.is_empty());
        self.keep_bit(support, first, any);
    }

    fn update_index(&mut self, dense: &Dense, index: usize, first: usize, last: usize) {
        let stride = dense.strides.first().map_or(1, |it| *it as usize);
        let start = dense.base as usize + first * stride;
        let any = self.s.rows[start..start + stride].iter().any(|it| it.has(last));
        self.keep_bit(index + last, first, any);
    }

    fn keep_bit(&mut self, at: usize, bit: usize, on: bool) {
        let old = self.s.rows[at];
        if old.has(bit) != on {
            self.journal.push((at as u32, old));
            self.s.rows[at] = old.xor(W::one(bit));
        }
    }

    // --- on demand ------------------------------------------------------------------------------

    /// Makes a relation readable.
    pub(super) fn make_ready(&mut self, c: &Compiled<W>, rel: RelId) {
        self.catch_up(c);
        if c.needs[usize::from(rel.0)].is_empty() || self.flag(rel) {
            return;
        }
        self.s.fuel.refill();
        for &need in &c.needs[usize::from(rel.0)] {
            if !self.flag(need) {
                self.derive(c, need);
            }
        }
    }

    fn derive(&mut self, c: &Compiled<W>, rel: RelId) {
        match &c.modes[usize::from(rel.0)] {
            Mode::Scratch { rules } => {
                self.clear(c, rel);
                for &pc in rules {
                    self.s.exec(c, pc as usize);
                }
                if let Store::Sparse(store) = c.stores[usize::from(rel.0)] {
                    let new = std::mem::take(&mut self.s.fresh[store as usize]);
                    refill(c, store, &mut self.s.lists[store as usize], new);
                }
                self.set_flag(rel);
            }
            Mode::General { stratum } => {
                let fixpoint = &c.general[*stratum];
                general::run(c, &mut self.s, fixpoint);
                for member in &fixpoint.relations {
                    self.clear(c, member.rel);
                    self.take_list(c, member.rel, member.full);
                    self.set_flag(member.rel);
                }
            }
            _ => {}
        }
    }

    /// Moves the result of a fixpoint into the relation's own store.
    fn take_list(&mut self, c: &Compiled<W>, rel: RelId, list: u32) {
        let tuples = self.s.lists[list as usize].tuples.clone();
        match &c.stores[usize::from(rel.0)] {
            Store::Dense(dense) => {
                for tuple in &tuples {
                    let (row, last) = row_of(dense, tuple);
                    let at = self.s.frame + row;
                    self.s.rows[at] = self.s.rows[at].or(W::one(last));
                    if let Some(support) = dense.support {
                        let at = self.s.frame + support as usize;
                        self.s.rows[at] = self.s.rows[at].or(W::one(tuple[0] as usize));
                    }
                }
            }
            Store::Sparse(store) => refill(c, *store, &mut self.s.lists[*store as usize], tuples),
            _ => {}
        }
    }

    /// Empties a relation's rows in the current frame: only those that its support names.
    fn clear(&mut self, c: &Compiled<W>, rel: RelId) {
        let Store::Dense(dense) = &c.stores[usize::from(rel.0)] else { return };
        let base = self.s.frame + dense.base as usize;
        let Some(support) = dense.support else {
            self.s.rows[base] = W::default();
            return;
        };
        let at = self.s.frame + support as usize;
        let mut used = std::mem::take(&mut self.s.rows[at]);
        let stride = dense.strides[0] as usize;
        while let Some(first) = used.pop() {
            let start = base + first * stride;
            self.s.rows[start..start + stride].fill(W::default());
        }
    }

    pub(super) fn row(&self, dense: &Dense, at: usize) -> W {
        let frame = if dense.space == Space::Frame { self.s.frame } else { 0 };
        self.s.rows[frame + at]
    }

    pub(super) fn dense_tuples(
        &self,
        dense: &Dense,
        pattern: &[Option<i64>],
        f: &mut dyn FnMut(&[i64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some((last, keys)) = pattern.split_last() else {
            return if self.row(dense, dense.base as usize).has(0) {
                f(&[])
            } else {
                ControlFlow::Continue(())
            };
        };
        let mut tuple = Tuple::new();
        self.walk(dense, keys, *last, 0, &mut tuple, f)
    }

    /// All rows below the keys that are chosen so far, in the order of their keys.
    fn walk(
        &self,
        dense: &Dense,
        keys: &[Option<i64>],
        last: Option<i64>,
        row: usize,
        tuple: &mut Tuple,
        f: &mut dyn FnMut(&[i64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let at = tuple.len();
        if at == keys.len() {
            let members = self.row(dense, dense.base as usize + row);
            return emit_members(members, last, tuple, f);
        }
        let size = dense.sizes[at] as usize;
        let mut values = match (keys[at], at, dense.support) {
            (Some(key), ..) if (0..size as i64).contains(&key) => W::one(key as usize),
            (Some(_), ..) => W::default(),
            (None, 0, Some(support)) => self.row(dense, support as usize),
            (None, ..) => W::first(size),
        };
        while let Some(value) = values.pop() {
            tuple.push(value as i64);
            let below = row + value * dense.strides[at] as usize;
            self.walk(dense, keys, last, below, tuple, f)?;
            tuple.pop();
        }
        ControlFlow::Continue(())
    }

    pub(super) fn function_tuples(
        &self,
        c: &Compiled<W>,
        rel: RelId,
        pattern: &[Option<i64>],
        f: &mut dyn FnMut(&[i64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let fits = |tuple: &[i64]| {
            pattern.iter().zip(tuple).all(|(want, is)| want.is_none_or(|it| it == *is))
        };
        match c.stores[usize::from(rel.0)] {
            Store::Key { fun, present, inverse, entities } => {
                let mut members = self.s.rows[present as usize];
                let values = inverse.map(|it| (it, c.program.relation(rel)));
                match (pattern[0], pattern[1], values) {
                    (Some(entity), ..) if (0..i64::from(entities)).contains(&entity) => {
                        members = members.and(W::one(entity as usize));
                    }
                    (Some(_), ..) => return ControlFlow::Continue(()),
                    (None, Some(value), Some((inverse, relation))) => {
                        let size = size(&c.program, relation.columns[1].ty).unwrap_or(0);
                        if !(0..size as i64).contains(&value) {
                            return ControlFlow::Continue(());
                        }
                        members = self.s.rows[inverse as usize + value as usize];
                    }
                    _ => {}
                }
                while let Some(entity) = members.pop() {
                    let row = [entity as i64, self.s.funs[fun as usize + entity]];
                    if fits(&row) {
                        f(&row)?;
                    }
                }
            }
            Store::Game { fun } => {
                let value = self.s.funs[fun as usize];
                if value != NONE && fits(&[value]) {
                    f(&[value])?;
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    // --- changes, marks, answers ----------------------------------------------------------------

    pub(super) fn change(&mut self, c: &Compiled<W>, change: Change) {
        let entity = i64::from(change.entity.0);
        self.derived[self.depth].fill(0);
        for &rel in &c.inputs[usize::from(change.attr.0)] {
            let watched = !c.deltas[usize::from(rel.0)].is_empty();
            if watched
                && let Some(old) = change.old.and_then(|it| self.input_tuple(c, rel, entity, it))
            {
                spread(c, &mut self.s, rel, &old);
            }
            self.write_input(c, rel, entity, change.old, change.new);
            if watched
                && let Some(new) = change.new.and_then(|it| self.input_tuple(c, rel, entity, it))
            {
                spread(c, &mut self.s, rel, &new);
            }
            self.pending |= watched;
        }
    }

    pub(super) fn mark(&mut self, c: &Compiled<W>) -> EngineMark {
        self.catch_up(c);
        let mark = EngineMark { journal: self.journal.len(), depth: self.depth };
        self.depth += 1;
        self.s.frame = self.depth * c.frame_rows;
        if self.derived.len() == self.depth {
            let flags = self.derived[0].len();
            self.derived.push(vec![0; flags]);
            self.s.rows.resize(c.kept_rows + (self.depth + 1) * c.frame_rows, W::default());
        } else {
            self.derived[self.depth].fill(0);
        }
        mark
    }

    pub(super) fn rollback(&mut self, c: &Compiled<W>, mark: EngineMark) {
        while self.journal.len() > mark.journal {
            let Some((at, old)) = self.journal.pop() else { break };
            self.s.rows[at as usize] = old;
        }
        if self.pending {
            for &rel in &c.maintained {
                self.s.dirty[usize::from(rel.0)] = W::default();
                self.s.suspects[usize::from(rel.0)].clear();
                self.unchecked[usize::from(rel.0)] = false;
            }
            self.pending = false;
        }
        self.depth = mark.depth;
        self.s.frame = self.depth * c.frame_rows;
        // Lists have no frames: those derived before the mark were overwritten.
        for (flags, lists) in self.derived[self.depth].iter_mut().zip(&c.list_relations) {
            *flags &= !lists;
        }
        if self.s.fuel.is_out() {
            self.forget(c);
        }
    }

    pub(super) fn commit(&mut self, c: &Compiled<W>) {
        self.journal.clear();
        if self.depth > 0 {
            self.depth = 0;
            self.s.frame = 0;
            self.derived[0].fill(0);
            self.derived.truncate(1);
            self.s.rows.truncate(c.kept_rows + c.frame_rows);
        }
    }

    /// Empties every maintained relation and has each input's tuples looked at as if they were new.
    pub(super) fn forget(&mut self, c: &Compiled<W>) {
        self.s.fuel.restart();
        for &rel in &c.maintained {
            let Store::Dense(dense) = &c.stores[usize::from(rel.0)] else { continue };
            let base = dense.base as usize;
            self.wipe(base..base + dense.rows as usize);
            if let Some(support) = dense.support {
                self.wipe(support as usize..support as usize + 1);
            }
            if let (Some(index), Some(values)) = (c.indexes[usize::from(rel.0)], dense.sizes.last())
            {
                self.wipe(index as usize..(index + values) as usize);
            }
        }
        self.suspect_unprompted(c);
        for &rel in c.inputs.iter().flatten() {
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
                spread(c, &mut self.s, rel, &tuple);
            }
        }
        self.derived[self.depth].fill(0);
    }

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
        for reaction in &c.batches[batch] {
            for &need in &reaction.needs {
                if !self.flag(need) {
                    self.derive(c, need);
                }
            }
            for (reg, value) in reaction.params.iter().zip(args) {
                self.s.regs[usize::from(*reg)] = *value;
            }
            self.s.exec(c, reaction.pc as usize);
            self.s.effects(c, reaction, outputs);
        }
    }

    pub(super) fn count(&self, dense: &Dense) -> u64 {
        let Some(support) = dense.support else {
            return u64::from(self.row(dense, dense.base as usize).count());
        };
        let mut firsts = self.row(dense, support as usize);
        let frame = if dense.space == Space::Frame { self.s.frame } else { 0 };
        let stride = dense.strides[0] as usize;
        let mut n = 0;
        while let Some(first) = firsts.pop() {
            let start = frame + dense.base as usize + first * stride;
            n += self.s.rows[start..start + stride]
                .iter()
                .map(|it| u64::from(it.count()))
                .sum::<u64>();
        }
        n
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let rows = self.s.rows.capacity() + self.scratch.capacity();
        let lists: usize = self
            .s
            .lists
            .iter()
            .map(|it| (it.tuples.len() + it.sorted.iter().map(Vec::len).sum::<usize>()) * 48)
            .sum();
        rows * size_of::<W>()
            + self.s.funs.capacity() * 8
            + self.journal.capacity() * size_of::<(u32, W)>()
            + self.s.suspects.iter().map(|it| it.capacity() * size_of::<Tuple>()).sum::<usize>()
            + self.s.regs.len() * 8
            + self.derived.iter().map(|it| it.len() * 8).sum::<usize>()
            + lists
    }
}

/// Tells the readers of a relation that a tuple comes or goes.
fn spread<W: Word>(c: &Compiled<W>, s: &mut State<W>, rel: RelId, tuple: &[i64]) {
    for delta in &c.deltas[usize::from(rel.0)] {
        match &delta.what {
            DeltaKind::Block(col) => {
                let slot = &mut s.dirty[usize::from(delta.consumer.0)];
                *slot = slot.or(W::one(tuple[*col] as usize));
            }
            DeltaKind::Run { regs, pc } => {
                for (reg, value) in regs.iter().zip(tuple) {
                    s.regs[usize::from(*reg)] = *value;
                }
                if s.fuel.spend(1, c.code.owner[*pc as usize]) {
                    s.exec(c, *pc as usize);
                }
            }
        }
    }
}

/// The tuples of one row: the keys, and each member or the one that is wanted.
fn emit_members<W: Word>(
    mut members: W,
    last: Option<i64>,
    tuple: &mut Tuple,
    f: &mut dyn FnMut(&[i64]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if let Some(wanted) = last {
        members = match usize::try_from(wanted) {
            Ok(wanted) if wanted < W::WIDTH => members.and(W::one(wanted)),
            _ => W::default(),
        };
    }
    while let Some(member) = members.pop() {
        tuple.push(member as i64);
        f(tuple)?;
        tuple.pop();
    }
    ControlFlow::Continue(())
}

/// The key values of a row by its number.
fn keys_of(dense: &Dense, mut at: usize) -> Tuple {
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
