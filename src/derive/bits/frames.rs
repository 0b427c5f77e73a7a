//! Frames: where the rows live that are derived on demand.
//!
//! The first write after a mark opens a frame, so that a rollback finds the older ones untouched. Until
//! then what is derived belongs to both states, which have the same facts. Deliberately absent: the rows
//! that are kept from change to change, and what a rollback does to them (`live`).

use super::super::evaluator::EvaluatorMark;
use super::compile::Compiled;
use super::live::Live;
use super::word::Word;

/// A session that sets so many marks is busy: its program is worth the time to make machine code.
const BUSY: u32 = 1 << 14;

/// Entries of the journal that a session has room for between actions.
const JOURNAL: usize = 1024;

impl<W: Word> Live<W> {
    /// Facts are about to change.
    #[inline]
    pub(super) fn spoil(&mut self, c: &Compiled<W>) {
        if self.marked { self.open_frame(c) } else { self.clear_flags(c) }
    }

    /// A new frame, in which nothing is derived yet.
    pub(super) fn open_frame(&mut self, c: &Compiled<W>) {
        self.marked = false;
        self.depth += 1;
        self.s.frame = self.depth * c.frame_rows;
        self.s.ready_at = self.depth * c.flags();
        let flags = self.s.ready_at + c.flags();
        if self.s.ready.len() < flags {
            self.s.ready.resize(flags, 0);
        }
        self.make_room(c, self.depth);
        self.clean = false;
        self.clear_flags(c);
    }

    /// There are rows for the frame of that depth.
    #[inline]
    pub(super) fn make_room(&mut self, c: &Compiled<W>, depth: usize) {
        let rows = c.kept_rows + (depth + 1) * c.frame_rows;
        if self.s.rows.len() < rows {
            self.s.rows.reserve_exact(rows - self.s.rows.len());
            self.s.rows.resize(rows, W::default());
        }
    }

    /// Nothing that is derived on demand is true any longer.
    #[inline]
    pub(super) fn clear_flags(&mut self, c: &Compiled<W>) {
        if !self.clean {
            for word in &mut self.s.ready[self.s.ready_at..][..c.flags()] {
                *word = 0;
            }
            self.clean = true;
        }
    }

    pub(super) fn mark(&mut self, c: &Compiled<W>) -> EvaluatorMark {
        self.catch_up(c);
        self.marks = self.marks.saturating_add(1);
        if self.marks == BUSY {
            c.make_native();
        }
        let (journal, depth) = (self.journal.len(), self.depth);
        EvaluatorMark { journal, depth, marked: std::mem::replace(&mut self.marked, true) }
    }

    /// Returns to the frame of that depth.
    #[inline]
    pub(super) fn close_frames(&mut self, c: &Compiled<W>, depth: usize) {
        self.depth = depth;
        self.s.frame = depth * c.frame_rows;
        self.s.ready_at = depth * c.flags();
        self.clean = false;
        // Lists have no frames: those derived before the mark were overwritten.
        let ready = &mut self.s.ready[self.s.ready_at..][..c.flags()];
        for (flags, lists) in ready.iter_mut().zip(&c.list_relations) {
            *flags &= !lists;
        }
    }

    /// What was written is here to stay.
    pub(super) fn commit(&mut self, c: &Compiled<W>) {
        self.journal.clear();
        self.journal.shrink_to(JOURNAL);
        self.marked = false;
        if self.depth > 0 {
            self.depth = 0;
            self.s.frame = 0;
            self.s.ready_at = 0;
            self.clean = false;
            self.clear_flags(c);
        }
        // Between actions a session holds one frame: others would cost memory for as long as it lives.
        self.s.ready.truncate(c.flags());
        self.s.rows.truncate(c.kept_rows + c.frame_rows);
        self.s.rows.shrink_to_fit();
    }
}
