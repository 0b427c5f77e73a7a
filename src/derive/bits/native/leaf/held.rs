//! Rows of a block that are held in values instead of memory while the block is derived.
//!
//! The block has few rows, so a sweep over them is no loop: the code computes each row, and a mask leaves out those
//! whose keys are not among the members. Memory has the old rows until the new ones are known to differ. Deliberately
//! absent: blocks whose rules read what they derive other than by a chase, which are derived in memory.

use cranelift_codegen::ir::{InstBuilder, types::I64};

use super::super::super::code::Space;
use super::super::super::compile::{Compiled, Maintained};
use super::super::super::machine::{Inst, Near, Noted, Place, Sweep, SweepTerm};
use super::super::super::planner::GIVEN;
use super::super::super::word::Word;
use super::super::chase::Ways;
use super::super::flow;
use super::super::lower::Lower;
use super::super::rows::{Row, RowVars};

/// Maximum number of rows that are held.
const HELD: u32 = 8;

/// The rows of the block that is being derived, and how its relation is kept.
pub(super) struct Held {
    kept: Maintained,
    rows: Vec<RowVars>,
}

/// Whether a place with this base may be in the relation: the base of a place is a row of its own relation.
fn may_be_of<W: Word>(kept: &Maintained, base: u32) -> bool {
    let rows = kept.base..kept.base + kept.stride * W::WIDTH as u32;
    base == kept.support || rows.contains(&base)
}

/// Whether the place is the first row of the block that is being derived.
fn is_first_row(at: Place, kept: &Maintained) -> bool {
    let strides = at.strides.map(u32::from);
    let is_second_unused = strides[1] == 0;
    at.base == kept.base && strides[0] == kept.stride && at.keys[0] == GIVEN[0] && is_second_unused
}

impl<W: Word> Lower<'_, '_, W> {
    /// Begins to hold the rows of a block, if all code that derives it supports that. Returns whether they are held.
    pub(super) fn hold(&mut self, kept: &Maintained) -> bool {
        if !can_be_held(self.compiled, self.ways, kept) {
            return false;
        }
        let rows = (0..kept.stride).map(|_| self.zeroed_row()).collect();
        self.leaf().held = Some(Held { kept: *kept, rows });
        true
    }

    /// Stops holding the rows, and returns them.
    pub(super) fn release_rows(&mut self) -> Vec<Row> {
        let rows = self.leaf().held.take().map(|it| it.rows).unwrap_or_default();
        rows.iter().map(|it| self.values(it)).collect()
    }

    /// Lowers an instruction if it is about the held rows. Returns whether it is.
    pub(super) fn of_held(&mut self, inst: Inst, pc: usize) -> bool {
        let Some(Held { kept, .. }) = self.leaf().held else { return false };
        match inst {
            Inst::GrowK1 { base, .. } if base != kept.base => return false,
            Inst::GrowK { at, .. } if !is_first_row(at, &kept) => return false,
            Inst::GrowK1 { skip, .. } | Inst::GrowK { skip, .. } => {
                self.some(pc, skip);
                let acc = self.acc();
                self.grow_held(0, &acc);
            }
            // The support is set when the rows are stored (`derive_block`).
            Inst::NoteK { base, .. } if base == kept.support => {}
            Inst::Sweep { sweep, slot } => {
                let sweep = &self.compiled.machine.sweeps[sweep as usize];
                if sweep.frame || !is_first_row(sweep.row, &kept) {
                    return false;
                }
                let members = self.saved(slot);
                self.sweep_held(sweep, &members);
            }
            Inst::Chase { chase } => self.chase_held(chase),
            _ => return false,
        }
        true
    }

    fn grow_held(&mut self, at: usize, by: &Row) {
        let Some(row) = self.leaf().held.as_ref().map(|it| it.rows[at].clone()) else { return };
        let old = self.values(&row);
        let new = self.either(&old, by);
        self.set(&row, &new);
    }

    /// Sweeps into the first row, in a loop over the members; or without a loop, into the rows whose keys are members.
    fn sweep_held(&mut self, sweep: &Sweep, members: &Row) {
        let fixed = self.acc();
        if sweep.stride == 0 {
            let sides = self.sides(sweep.terms, members);
            let all = self.union_of(members, |it, member| it.found(&sides, member, &fixed));
            return self.grow_held(0, &all);
        }
        let n = self.leaf().held.as_ref().map_or(0, |it| it.kept.stride);
        // Rows of all keys are loaded, so all have to be in range, not only those of members.
        let none = self.b.ins().iconst(I64, 0);
        let mut keys = Row::from_elem(none, Self::WORDS);
        keys[0] = self.b.ins().iconst(I64, (1i64 << n) - 1);
        let sides = self.sides(sweep.terms, &keys);
        for at in 0..n {
            let member = self.b.ins().iconst(I64, i64::from(at));
            let found = self.found(&sides, member, &fixed);
            let is_member = self.b.ins().ushr_imm_u(members[0], i64::from(at));
            let is_member = self.b.ins().band_imm_s(is_member, 1);
            let mask = self.b.ins().ineg(is_member);
            let found: Row = found.iter().map(|it| self.b.ins().band(*it, mask)).collect();
            self.grow_held(at as usize, &found);
        }
    }

    /// Follows a function from the rows that are held, see [`Lower::chase`].
    fn chase_held(&mut self, number: u32) {
        let ways = self.ways;
        let Some(way) = ways.of_chase(number) else { return };
        let passable = self.acc();
        let blocked: Row = passable.iter().map(|it| self.b.ins().bnot(*it)).collect();
        let rows = self.leaf().held.as_ref().map(|it| it.rows.clone()).unwrap_or_default();
        for (middle, rest) in rows.iter().enumerate() {
            let row = self.values(rest);
            let reached = self.reached_from(way, middle, &row, &blocked);
            self.set(rest, &reached);
        }
    }
}

/// Whether a block can be derived this way: each instruction either cannot be about its rows, or is supported
/// here.
fn can_be_held<W: Word>(c: &Compiled<W>, ways: &Ways<W>, kept: &Maintained) -> bool {
    if kept.stride > HELD || kept.recursive.is_some() {
        return false;
    }
    let (start, end) = (kept.derive as usize, flow::end(&c.machine, kept.derive));
    c.machine.insts[start..=end].iter().all(|inst| fits(c, ways, kept, *inst))
}

/// Whether an instruction is supported here, or cannot be about the rows of the block.
fn fits<W: Word>(c: &Compiled<W>, ways: &Ways<W>, kept: &Maintained, inst: Inst) -> bool {
    let is_given = |key| key == GIVEN[0];
    match inst {
        Inst::Halt
        | Inst::LoadFirst { .. }
        | Inst::AndFirst { .. }
        | Inst::LoadOne { .. }
        | Inst::AndOne { .. }
        | Inst::DropOne { .. }
        | Inst::LoadS1(_)
        | Inst::AndS1(_)
        | Inst::DropS1(_)
        | Inst::LoadS(_)
        | Inst::AndS(_)
        | Inst::DropS(_)
        | Inst::InS { .. }
        | Inst::HasS { .. }
        | Inst::FetchS { .. }
        | Inst::FetchK1 { .. }
        | Inst::FetchK { .. }
        | Inst::SumKeys { .. }
        | Inst::Save { .. }
        | Inst::TestSome { .. }
        | Inst::TestNone { .. }
        | Inst::Loop { .. }
        | Inst::Next { .. } => true,
        Inst::LoadK1(Near { base, .. })
        | Inst::AndK1(Near { base, .. })
        | Inst::DropK1(Near { base, .. })
        | Inst::InK1 { base, .. } => !may_be_of::<W>(kept, base),
        Inst::LoadK(at) | Inst::AndK(at) | Inst::DropK(at) => !may_be_of::<W>(kept, at.base),
        Inst::GrowK1 { base, key, support, bit, .. } => {
            kept.stride == 1
                && base == kept.base
                && support == kept.support
                && is_given(key)
                && is_given(bit)
        }
        Inst::GrowK { at, .. } => is_first_row(at, kept),
        Inst::NoteK { base, bit } => base == kept.support && is_given(bit),
        Inst::Sweep { sweep, .. } => {
            let sweep = &c.machine.sweeps[sweep as usize];
            let is_of_block = |it: &SweepTerm| {
                it.space == Space::Maintained && may_be_of::<W>(kept, it.place.base)
            };
            let notes = match sweep.support {
                None => true,
                Some((row, Noted::Register(bit))) => row == kept.support && is_given(bit),
                Some((_, Noted::Members)) => false,
            };
            // With two keys the sweep could be over the second alone: rows of its terms end before those of the block.
            let has_one_key = c.program.relation(kept.rel).columns.len() == 3;
            let is_along = sweep.stride == 1 && has_one_key || sweep.stride == 0;
            sweep.tests.is_none()
                && !sweep.frame
                && !sweep.terms.iter().any(is_of_block)
                && notes
                && is_along
                && is_first_row(sweep.row, kept)
        }
        Inst::Chase { chase } => {
            let it = &c.machine.chases[chase as usize];
            !it.frame
                && it.stride == 1
                && u32::from(it.size) == kept.stride
                && is_first_row(it.row, kept)
                && ways.of_chase(chase).is_some()
        }
        _ => false,
    }
}
