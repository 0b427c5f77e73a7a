//! The functions that write attributes: each writes a value to the rows, and notifies the maintained relations.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types::I64};

use super::super::super::compile::{Guards, Readers};
use super::super::super::layout::{NONE, Store};
use super::super::super::machine::KeptId;
use super::super::super::word::Word;
use super::super::lower::{Lower, WORD, keyless};
use super::super::rows::Row;
use crate::derive::bits::code::Space;
use crate::facts::AttrId;
use crate::rules::{Input, RelId, Role};

/// Maximum number of words that writing an attribute saves for each input that reads it: the value, one word in each of two
/// rows of the inverse, and one in the row of entities that have a value.
const SAVES: u32 = 4;

/// The readers to be notified.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Notified {
    All,
    /// Those that depend on the value: the others were notified when the old value was removed.
    OfValue,
    /// All but those whose block is the first column: they are notified of the whole block.
    ExceptOfBlocks,
}

impl<W: Word> Lower<'_, '_, W> {
    /// Fills the function that writes an attribute. Parameters: entity and new value, which may be [`NONE`].
    pub(super) fn change(&mut self, attr: AttrId) {
        let [_, entity, new] = self.params();
        let inputs = &self.compiled.inputs[usize::from(attr.0)];
        self.ensure_undo_room(SAVES * inputs.len() as u32);
        for &(rel, member) in inputs {
            debug_assert_eq!(member, 0, "lists are not written here");
            let Role::Input(input) = self.compiled.program.relation(rel).role else { continue };
            let next = self.b.create_block();
            match (&self.compiled.stores[usize::from(rel.0)], input) {
                (&Store::Key { fun, present, inverse, entities }, _) => {
                    let inside = self.b.ins().icmp_imm_u(
                        IntCC::UnsignedLessThan,
                        entity,
                        i64::from(entities),
                    );
                    self.unless(inside, next);
                    self.write_value(rel, fun, Some((present, inverse)), [entity, new]);
                }
                (&Store::Game { fun }, _) => {
                    self.leave_if(entity, next);
                    self.write_value(rel, fun, None, [entity, new]);
                }
                (Store::Dense(dense), Input::Flag(_)) => {
                    self.write_flag(rel, dense.base, entity, new, &[entity]);
                }
                (Store::Dense(dense), Input::GameFlag(_)) => {
                    self.leave_if(entity, next);
                    self.write_flag(rel, dense.base, entity, new, &[]);
                }
                _ => {}
            }
            self.b.ins().jump(next, &[]);
            self.b.switch_to_block(next);
        }
        self.end(Self::store_undo_top);
    }

    /// Writes the value of an entity, or of the game if there are no `rows`: the row of entities that have a value, and the
    /// first row of the inverse, if there is one.
    fn write_value(
        &mut self,
        rel: RelId,
        fun: u32,
        rows: Option<(u32, Option<u32>)>,
        [entity, new]: [Value; 2],
    ) {
        let offset = self.b.ins().ishl_imm_u(entity, 3);
        let first = self.b.ins().iadd_imm_s(self.funs, i64::from(fun) * i64::from(WORD));
        let address = self.b.ins().iadd(first, offset);
        let old = self.load_number(address, 0);
        let differs = self.b.ins().icmp(IntCC::NotEqual, old, new);
        self.when(differs, |it| {
            let had = it.b.ins().icmp_imm_s(IntCC::NotEqual, old, NONE);
            let has = it.b.ins().icmp_imm_s(IntCC::NotEqual, new, NONE);
            let tuple = |value: Value| match rows {
                Some(_) => vec![entity, value],
                None => vec![value],
            };
            it.when(had, |it| {
                it.notify(rel, &tuple(old), Notified::All);
                if let Some((_, Some(inverse))) = rows {
                    it.flip(inverse, old, entity);
                }
            });
            it.save(address, old);
            it.store_number(address, 0, new);
            it.when(has, |it| {
                if let Some((_, Some(inverse))) = rows {
                    it.flip(inverse, new, entity);
                }
            });
            if let Some((present, _)) = rows {
                let flips = it.b.ins().icmp(IntCC::NotEqual, had, has);
                let zero = it.b.ins().iconst(I64, 0);
                it.when(flips, |it| it.flip(present, zero, entity));
            }
            it.when(has, |it| {
                // As in the interpreter: those that do not depend on the value were notified when the old one
                // was removed. Of the game all are notified: the value is all of its tuple.
                if rows.is_none() {
                    return it.notify(rel, &tuple(new), Notified::All);
                }
                let [notified, anew, next] = std::array::from_fn(|_| it.b.create_block());
                it.b.ins().brif(had, notified, &[], anew, &[]);
                it.b.switch_to_block(notified);
                it.notify(rel, &tuple(new), Notified::OfValue);
                it.b.ins().jump(next, &[]);
                it.b.switch_to_block(anew);
                it.notify(rel, &tuple(new), Notified::All);
                it.b.ins().jump(next, &[]);
                it.b.switch_to_block(next);
            });
        });
    }

    /// Writes whether a row of flags has the member; `tuple` is what its readers are notified of.
    fn write_flag(&mut self, rel: RelId, base: u32, member: Value, new: Value, tuple: &[Value]) {
        let address = self.row_at(Space::Maintained, keyless(base));
        let (address, within) = self.word_with(address, member);
        let old = self.load_word(address, 0);
        let bit = self.b.ins().band(old, within);
        let had = self.b.ins().icmp_imm_s(IntCC::NotEqual, bit, 0);
        let will = self.b.ins().icmp_imm_s(IntCC::Equal, new, 1);
        let differs = self.b.ins().icmp(IntCC::NotEqual, had, will);
        let word = self.b.ins().bxor(old, within);
        self.when(differs, |it| {
            it.when(had, |it| it.notify(rel, tuple, Notified::All));
            it.save(address, old);
            it.store_word(address, 0, word);
            it.when(will, |it| it.notify(rel, tuple, Notified::All));
        });
    }

    /// Adds a member to the row of a value, or removes it.
    pub(super) fn flip(&mut self, base: u32, value: Value, member: Value) {
        let index = self.b.ins().iadd_imm_s(value, i64::from(base));
        let address = self.row_of(Space::Maintained, index);
        let (address, within) = self.word_with(address, member);
        let old = self.load_word(address, 0);
        self.save(address, old);
        let new = self.b.ins().bxor(old, within);
        self.store_word(address, 0, new);
    }

    /// Notifies the readers of a relation that a tuple is added or removed.
    pub(super) fn notify(&mut self, rel: RelId, tuple: &[Value], notified: Notified) {
        let readers: &Readers = &self.compiled.readers[usize::from(rel.0)];
        if let (Some(&first), Notified::All) = (tuple.first(), notified) {
            let block = self.one_of(first);
            self.notify_of_blocks(rel, &block);
        }
        for (kept_id, column, guards) in &readers.others {
            let block = self.one_of(tuple[*column]);
            self.dirty_if(*kept_id, &block, guards);
        }
        let once = readers.once.filter(|_| notified != Notified::OfValue);
        for start in once.into_iter().chain(readers.each) {
            self.set_given(tuple);
            self.run(start);
        }
    }

    /// Notifies the readers whose block is the first column that these blocks of a relation have changed.
    pub(super) fn notify_of_blocks(&mut self, rel: RelId, blocks: &Row) {
        let readers: &Readers = &self.compiled.readers[usize::from(rel.0)];
        readers.blocks.iter().for_each(|(kept_id, guards)| self.dirty_if(*kept_id, blocks, guards));
    }

    /// Marks as perhaps changed those of these blocks that all guards contain; `kept_id` is their relation.
    fn dirty_if(&mut self, kept_id: KeptId, blocks: &Row, guards: &Guards) {
        if !self.leaf().shared.kept[usize::from(kept_id)] {
            return;
        }
        let mut blocks = blocks.clone();
        for &guard in guards {
            let row = self.row_at(Space::Maintained, keyless(guard));
            let row = self.load_row(row);
            blocks = self.both(&blocks, &row);
        }
        self.note_dirty(kept_id, &blocks);
    }
}
