//! Saves the words that functions of leaves overwrite, and restores them.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};

use super::super::super::word::Word;
use super::super::call::{Context, SAVED_BYTES};
use super::super::lower::{Lower, WORD};
use super::super::rows::Row;

impl<W: Word> Lower<'_, '_, W> {
    /// Loads the place of the next saved word from the context.
    pub(super) fn load_undo_top(&mut self) {
        let top = self.shared(Context::UNDO);
        self.set_top(top);
    }

    /// Stores the place of the next saved word in the context, for other functions.
    pub(super) fn store_undo_top(&mut self) {
        let top = self.top();
        self.share(Context::UNDO, top);
    }

    /// The place of the next saved word.
    fn top(&mut self) -> Value {
        let top = self.leaf().top;
        self.b.use_var(top)
    }

    fn set_top(&mut self, place: Value) {
        let top = self.leaf().top;
        self.b.def_var(top, place);
    }

    /// Emits code that bails out unless there is room to save that many words.
    pub(super) fn ensure_undo_room(&mut self, words: u32) {
        let (top, end) = (self.top(), self.shared(Context::UNDO_END));
        let above = self.b.ins().iadd_imm_s(top, i64::from(words) * SAVED_BYTES);
        let enough = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, above, end);
        let bail = self.leaf().bail;
        self.unless(enough, bail);
    }

    /// Saves the old value of a word.
    pub(super) fn save(&mut self, address: Value, old: Value) {
        let top = self.put_saved(address, old);
        let above = self.b.ins().iadd_imm_s(top, SAVED_BYTES);
        self.set_top(above);
    }

    /// Saves the old values of those words of a row that differ. Every word is stored at the next place, which
    /// advances only if the word differs; else the next word is stored over it. A jump instead would be hard to predict.
    pub(super) fn save_row(&mut self, address: Value, old: &Row, differ: &Row) {
        for (at, (&word, &differs)) in (0i64..).zip(old.iter().zip(differ)) {
            let address = self.b.ins().iadd_imm_s(address, at * i64::from(WORD));
            let top = self.put_saved(address, word);
            let above = self.b.ins().iadd_imm_s(top, SAVED_BYTES);
            let above = self.b.ins().select(differs, above, top);
            self.set_top(above);
        }
    }

    /// Stores a word with its address at the next place, which it returns. The caller lets the place advance.
    fn put_saved(&mut self, address: Value, old: Value) -> Value {
        let top = self.top();
        self.store_number(top, 0, address);
        self.store_number(top, WORD, old);
        top
    }

    /// Restores all words that were saved from `UNDO_START` on, the last one first: a word may have been saved
    /// several times.
    pub(super) fn take_back(&mut self) {
        let start = self.shared(Context::UNDO_START);
        let [body, end] = std::array::from_fn(|_| self.b.create_block());
        let at = self.top();
        let more = self.b.ins().icmp(IntCC::UnsignedGreaterThan, at, start);
        self.b.ins().brif(more, body, &[], end, &[]);
        self.b.switch_to_block(body);
        let at = self.top();
        let at = self.b.ins().iadd_imm_s(at, -SAVED_BYTES);
        self.set_top(at);
        let (address, old) = (self.load_number(at, 0), self.load_number(at, WORD));
        self.store_number(address, 0, old);
        let more = self.b.ins().icmp(IntCC::UnsignedGreaterThan, at, start);
        self.b.ins().brif(more, body, &[], end, &[]);
        self.b.switch_to_block(end);
    }
}
