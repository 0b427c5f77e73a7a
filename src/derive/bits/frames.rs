//! Frames: the memory of rows that are derived on demand.
//!
//! The first write after a mark opens a frame, so that a rollback finds the older ones untouched. Until then derived rows
//! belong to both states, which have the same facts. Within a frame a write invalidates what depends on its attribute, and
//! nothing else. Lists have no frames: a relation has one list, which belongs to the frame that derived it, and to frames
//! above it for as long as nothing that the relation depends on is written. Deliberately absent: the rows that are kept
//! from change to change, and what a rollback does to them (`live`).

use super::super::evaluator::EvaluatorMark;
use super::BitPlan;
use super::compile::Compiled;
use super::live::Live;
use super::word::Word;
use crate::facts::AttrId;

/// A session that sets this many marks is busy: making machine code for its program pays off.
const BUSY: u32 = 1 << 14;

/// Capacity of the journal that a session keeps between actions.
const JOURNAL: usize = 1024;

impl<W: Word> Live<W> {
    /// Invalidates what depends on an attribute that is about to change.
    #[inline]
    pub(super) fn invalidate(&mut self, c: &Compiled<W>, attr: AttrId) {
        let affected = &c.affected[usize::from(attr.0)];
        if self.marked {
            let below = self.s.ready_at;
            self.open_frame(c);
            // Lists have no frames: those that do not depend on the attribute are still derived.
            for (at, affected) in affected.iter().enumerate() {
                let lists = self.s.ready[below + at] & c.list_relations[at];
                self.s.ready[self.s.ready_at + at] = lists & !affected;
            }
            self.clean = false;
        } else if !self.clean {
            for (flags, affected) in self.s.ready[self.s.ready_at..].iter_mut().zip(affected) {
                *flags &= !affected;
            }
        }
    }

    /// A new frame, in which nothing is derived yet.
    pub(super) fn open_frame(&mut self, c: &Compiled<W>) {
        self.marked = false;
        self.go_to_frame(c, self.depth + 1);
        let flags = self.s.ready_at + c.flags();
        if self.s.ready.len() < flags {
            self.s.ready.resize(flags, 0);
        }
        self.make_room(c, self.depth);
        self.clear_flags(c);
    }

    /// Makes room for the rows of the frame of that depth.
    #[inline]
    pub(super) fn make_room(&mut self, c: &Compiled<W>, depth: usize) {
        let rows = c.kept_rows + (depth + 1) * c.frame_rows;
        if self.s.rows.len() < rows {
            self.s.rows.reserve_exact(rows - self.s.rows.len());
            self.s.rows.resize(rows, W::default());
        }
    }

    /// Marks everything derived on demand as out of date.
    #[inline]
    pub(super) fn clear_flags(&mut self, c: &Compiled<W>) {
        if !self.clean {
            self.s.ready[self.s.ready_at..][..c.flags()].fill(0);
            self.clean = true;
        }
    }

    /// Sets a mark, for [`Live::rollback`].
    pub(super) fn mark(&mut self, c: &Compiled<W>) -> EvaluatorMark {
        self.catch_up(c);
        self.marks = self.marks.saturating_add(1);
        if self.marks == BUSY {
            c.make_native();
        }
        let (journal, depth) = (self.journal.len(), self.depth);
        EvaluatorMark { journal, depth, marked: std::mem::replace(&mut self.marked, true) }
    }

    /// Makes the frame of that depth the current one.
    #[inline]
    pub(super) fn go_to_frame(&mut self, c: &Compiled<W>, depth: usize) {
        self.depth = depth;
        self.s.frame = depth * c.frame_rows;
        self.s.ready_at = depth * c.flags();
        self.clean = false;
    }

    /// Makes writes final.
    pub(super) fn commit(&mut self, c: &Compiled<W>) {
        self.journal.clear();
        self.journal.shrink_to(JOURNAL);
        self.marked = false;
        if self.depth > 0 {
            self.go_to_frame(c, 0);
            self.clear_flags(c);
        }
    }

    /// Frees the memory of all frames but the first. Between actions a session holds one: others would cost memory
    /// for as long as it lives.
    pub(super) fn trim(&mut self, c: &Compiled<W>) {
        self.s.ready.truncate(c.flags());
        self.s.rows.truncate(c.kept_rows + c.frame_rows);
        self.s.rows.shrink_to_fit();
    }
}
