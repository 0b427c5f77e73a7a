//! Emits the function that updates the maintained relations, one by one, in the order of their numbers. Nothing here
//! derives, stores or reports: the methods emit the code that will.
//!
//! Beside its rows, a maintained relation has its support, the row of the blocks that have any member, and perhaps an
//! index: for each value of the last column, the row of the blocks that have it.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types::I64};
use cranelift_frontend::Variable;

use super::super::super::code::Space;
use super::super::super::compile::Maintained;
use super::super::super::layout::{Dense, Store};
use super::super::super::live::keys_of;
use super::super::super::machine::{Demanded, KeptId};
use super::super::super::word::Word;
use super::super::call::Context;
use super::super::lower::{Lower, WORD, keyless};
use super::super::rows::Row;
use super::changes::Notified;

/// A block whose rows have changed.
struct Changed {
    block: Value,
    /// The address of its first row.
    first: Value,
    old: Vec<Row>,
    new: Vec<Row>,
    /// The address of the support, and what it was before.
    support: Value,
    old_support: Row,
}

impl<W: Word> Lower<'_, '_, W> {
    /// Fills the function that updates these relations.
    pub(super) fn catch_up(&mut self, kept_ids: &[KeptId]) {
        for &kept_id in kept_ids {
            let kept = &self.compiled.maintained[usize::from(kept_id)];
            match kept.by_block {
                true => self.catch_up_blocks(kept, kept_id),
                false => self.catch_up_tuples(kept, kept_id),
            }
        }
        self.end(Self::store_undo_top);
    }

    fn catch_up_blocks(&mut self, kept: &Maintained, kept_id: KeptId) {
        let address = self.dirty(kept_id);
        let blocks = self.load_row(address);
        let some = self.any(&blocks);
        self.when(some, |it| {
            it.empty_row(address);
            it.members(&blocks, |it, block| it.derive_block(kept, block));
        });
    }

    /// Emits code that derives a block anew and, if its rows have changed, stores and reports them.
    fn derive_block(&mut self, kept: &Maintained, block: Value) {
        // The words that may be overwritten: those of the block's rows and of the support, and one word of the index for
        // each value that changes.
        let index_words = if kept.index.is_some() { W::WIDTH as u32 } else { 0 };
        self.ensure_undo_room((kept.stride + 1) * Self::WORDS as u32 + index_words);
        let first = self.block_row(Space::Maintained, kept.base, kept.stride, block);
        let support = self.row_at(Space::Maintained, keyless(kept.support));
        let old_support = self.load_row(support);
        let one = self.one_of(block);
        let without = self.without(&old_support, &one);
        let is_held = self.hold(kept);
        // Rows that are held are stored only once they are known to differ; others are derived in memory.
        let [old, new] = if is_held {
            let old = self.rows_in_block(first, kept.stride);
            self.set_given(&[block]);
            self.run(kept.derive);
            [old, self.release_rows()]
        } else {
            let old = (0..kept.stride).map(|at| self.take_row(first, at)).collect();
            self.store_row(support, &without);
            self.set_given(&[block]);
            self.run(kept.derive);
            if let Some(recursive) = kept.recursive {
                self.fixpoint(kept, first, block, recursive);
            }
            [old, self.rows_in_block(first, kept.stride)]
        };
        let (differ, changed) = self.changes(&old, &new);
        self.when(changed, |it| {
            for (at, (old, differ)) in (0..).zip(old.iter().zip(&differ)) {
                let address = it.row_in_block(first, at);
                it.save_row(address, old, differ);
            }
            if is_held {
                it.put_rows(first, &new);
                let all = it.union(&new);
                let some = it.any(&all);
                let own = it.only_if(some, &one);
                let new_support = it.either(&without, &own);
                it.store_row(support, &new_support);
            }
            it.block_changed(kept, &Changed { block, first, old, new, support, old_support });
        });
    }

    /// Emits code that saves what was written over of the support and the index, and notifies the readers. Removed tuples
    /// are reported while all that is stored of the relation is as it was, the index included, as in the interpreter.
    fn block_changed(&mut self, kept: &Maintained, changed: &Changed) {
        let Changed { block, first, support, .. } = *changed;
        let Changed { old, new, old_support, .. } = changed;
        let new_support = self.load_row(support);
        let differ = self.differ(old_support, &new_support);
        self.save_row(support, old_support, &differ);
        let need_block_only = self.compiled.readers[usize::from(kept.rel.0)].need_block_only();
        if !need_block_only {
            self.put_rows(first, old);
            self.store_row(support, old_support);
            self.notify_of_rows(kept, block, old, new);
            self.put_rows(first, new);
            self.store_row(support, &new_support);
        }
        if let Some(index) = kept.index {
            let (old, new) = (self.union(old), self.union(new));
            let differ = self.differ(&old, &new);
            self.members(&differ, |it, value| it.flip(index, value, block));
        }
        let one = self.one_of(block);
        self.notify_of_blocks(kept.rel, &one);
        if !need_block_only {
            self.notify_of_rows(kept, block, new, old);
        }
    }

    /// Emits the loop that runs the recursive rules of a block until none of them adds anything.
    fn fixpoint(&mut self, kept: &Maintained, first: Value, block: Value, recursive: u32) {
        let [head, next] = std::array::from_fn(|_| self.b.create_block());
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        let before = self.rows_in_block(first, kept.stride);
        self.set_given(&[block]);
        self.run(recursive);
        let after = self.rows_in_block(first, kept.stride);
        let (_, some) = self.changes(&before, &after);
        self.b.ins().brif(some, head, &[], next, &[]);
        self.b.switch_to_block(next);
    }

    /// Emits code that notifies readers of the tuples of a block that are in `rows` and not in `others`.
    fn notify_of_rows(&mut self, kept: &Maintained, block: Value, rows: &[Row], others: &[Row]) {
        let Store::Dense(dense) = &self.compiled.stores[usize::from(kept.rel.0)] else { return };
        for (at, (row, other)) in rows.iter().zip(others).enumerate() {
            let only = self.without(row, other);
            // The keys of this row in the first block; the code puts the block's number in place of the first key.
            let keys = keys_of(dense, at);
            self.members(&only, |it, member| {
                let mut tuple = vec![block];
                tuple.extend(keys.iter().skip(1).map(|key| it.b.ins().iconst(I64, *key)));
                tuple.push(member);
                it.notify(kept.rel, &tuple, Notified::ExceptOfBlocks);
            });
        }
    }

    fn catch_up_tuples(&mut self, kept: &Maintained, kept_id: KeptId) {
        let Some(&(start, arity)) = self.leaf().shared.suspects.get(&kept_id) else { return };
        let Store::Dense(dense) = &self.compiled.stores[usize::from(kept.rel.0)] else { return };
        // From the word `start` on: the number of suspects, then the values of each.
        let all = self.shared(Context::SUSPECTS);
        let n = self.load_number(all, start * WORD);
        self.when(n, |it| {
            let zero = it.b.ins().iconst(I64, 0);
            it.store_number(all, start * WORD, zero);
            let at = it.zeroed();
            let [body, end] = std::array::from_fn(|_| it.b.create_block());
            it.b.ins().jump(body, &[]);
            it.b.switch_to_block(body);
            let now = it.b.use_var(at);
            let next = it.b.ins().iadd_imm_s(now, 1);
            it.b.def_var(at, next);
            let offset = it.b.ins().imul_imm_s(now, arity as i64 * i64::from(WORD));
            let place = it.b.ins().iadd(all, offset);
            let tuple: Vec<Value> = (0..arity as i32)
                .map(|column| it.load_number(place, (start + 1 + column) * WORD))
                .collect();
            it.check_tuple(kept, dense, &tuple);
            let more = it.b.ins().icmp(IntCC::SignedLessThan, next, n);
            it.b.ins().brif(more, body, &[], end, &[]);
            it.b.switch_to_block(end);
        });
    }

    /// Emits code that derives whether a tuple holds and, if that has changed, stores and reports it.
    fn check_tuple(&mut self, kept: &Maintained, dense: &Dense, tuple: &[Value]) {
        // One word may be overwritten in the tuple's row, one in the support and one in the index.
        self.ensure_undo_room(3);
        self.set_given(tuple);
        let holds: Variable = self.b.declare_var(I64);
        let [halted, found, next] = std::array::from_fn(|_| self.b.create_block());
        self.inline(kept.derive, [halted, found]);
        for (exit, value) in [(halted, 0), (found, 1)] {
            self.b.switch_to_block(exit);
            let value = self.b.ins().iconst(I64, value);
            self.b.def_var(holds, value);
            self.b.ins().jump(next, &[]);
        }
        self.b.switch_to_block(next);
        let holds = self.b.use_var(holds);
        let zero = self.b.ins().iconst(I64, 0);
        let (keys, last) = match tuple.split_last() {
            Some((last, keys)) => (keys, *last),
            None => (&[][..], zero),
        };
        let mut number = self.b.ins().iconst(I64, i64::from(dense.base));
        for (&key, &stride) in keys.iter().zip(&dense.strides) {
            let part = self.b.ins().imul_imm_s(key, i64::from(stride));
            number = self.b.ins().iadd(number, part);
        }
        let row = self.row_of(Space::Maintained, number);
        let (address, bit) = self.word_with(row, last);
        let old = self.load_word(address, 0);
        let held_before = self.b.ins().band(old, bit);
        let held_before = self.b.ins().icmp_imm_s(IntCC::NotEqual, held_before, 0);
        let held_before = self.b.ins().uextend(I64, held_before);
        let differs = self.b.ins().icmp(IntCC::NotEqual, held_before, holds);
        let new = self.b.ins().bxor(old, bit);
        self.when(differs, |it| {
            it.when(held_before, |it| it.notify(kept.rel, tuple, Notified::All));
            it.save(address, old);
            it.store_word(address, 0, new);
            if let (Some(support), [block, ..]) = (dense.support, tuple) {
                it.update_block(kept, support, *block, last);
            }
            it.when(holds, |it| it.notify(kept.rel, tuple, Notified::All));
        });
    }

    /// Emits code that updates the support and the index after a change of one tuple: whether the block has any member,
    /// and whether it has this one.
    fn update_block(&mut self, kept: &Maintained, support: u32, block: Value, member: Value) {
        let start = self.block_row(Space::Maintained, kept.base, kept.stride, block);
        let rows = self.rows_in_block(start, kept.stride);
        let all = self.union(&rows);
        let any = self.any(&all);
        let address = self.row_at(Space::Maintained, keyless(support));
        self.put_bit(address, block, any);
        if let Some(index) = kept.index {
            let one = self.one_of(member);
            let has = self.both(&all, &one);
            let has = self.any(&has);
            let row = self.b.ins().iadd_imm_s(member, i64::from(index));
            let address = self.row_of(Space::Maintained, row);
            self.put_bit(address, block, has);
        }
    }

    /// Emits code that adds a member to the row at an address if `on` is not 0, and removes it otherwise.
    fn put_bit(&mut self, address: Value, member: Value, on: Value) {
        let (address, bit) = self.word_with(address, member);
        let old = self.load_word(address, 0);
        let with = self.b.ins().bor(old, bit);
        let without = self.b.ins().band_not(old, bit);
        let new = self.b.ins().select(on, with, without);
        self.save(address, old);
        self.store_word(address, 0, new);
    }

    // --- rows of a block ------------------------------------------------------------------------

    /// The address of the first row of a block. The code checks that its first and last rows are in range.
    pub(super) fn block_row(
        &mut self,
        space: Space,
        base: u32,
        stride: u32,
        block: Value,
    ) -> Value {
        let first = self.b.ins().imul_imm_s(block, i64::from(stride));
        let first = self.b.ins().iadd_imm_s(first, i64::from(base));
        if stride > 1 {
            let last = self.b.ins().iadd_imm_s(first, i64::from(stride) - 1);
            self.row_of(space, last); // for its check
        }
        self.row_of(space, first)
    }

    /// The address of a row by its place in the block whose first row is given.
    pub(super) fn row_in_block(&mut self, first: Value, at: u32) -> Value {
        self.b.ins().iadd_imm_s(first, i64::from(at) << Self::ROW_SHIFT)
    }

    fn rows_in_block(&mut self, first: Value, stride: u32) -> Vec<Row> {
        let row = |at| {
            let address = self.row_in_block(first, at);
            self.load_row(address)
        };
        (0..stride).map(row).collect()
    }

    /// The bits in which the rows of a block differ, and a value that is not 0 if there are any.
    fn changes(&mut self, old: &[Row], new: &[Row]) -> (Vec<Row>, Value) {
        let differ: Vec<Row> = old.iter().zip(new).map(|(a, b)| self.differ(a, b)).collect();
        let all = self.union(&differ);
        let changed = self.any(&all);
        (differ, changed)
    }

    /// Loads a row of a block and leaves it empty.
    fn take_row(&mut self, first: Value, at: u32) -> Row {
        let address = self.row_in_block(first, at);
        let row = self.load_row(address);
        self.empty_row(address);
        row
    }

    fn put_rows(&mut self, first: Value, rows: &[Row]) {
        for (at, row) in (0..).zip(rows) {
            let address = self.row_in_block(first, at);
            self.store_row(address, row);
        }
    }

    fn union(&mut self, rows: &[Row]) -> Row {
        let mut all = rows[0].clone();
        for row in &rows[1..] {
            all = self.either(&all, row);
        }
        all
    }

    /// Emits code that empties the blocks in use of a relation that is derived on demand.
    pub(in super::super) fn empty_blocks(&mut self, entry: &Demanded, used: &Row) {
        self.members(used, |it, member| {
            let first = it.block_row(Space::Frame, entry.base, entry.stride, member);
            for at in 0..entry.stride {
                let address = it.row_in_block(first, at);
                it.empty_row(address);
            }
        });
    }
}
