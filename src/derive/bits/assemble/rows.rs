//! Lowers addresses and ANDs of rows.
//!
//! `fails` collects the places of instructions that jump if nothing is left; `land` fills in where to.

use super::super::code::{Address, Reg, RowSource, RowTerm, Rows, Space, Support};
use super::super::machine::{Inst, Near, Place};
use super::super::planner::SPARE;
use super::{Assembler, add};

impl Assembler<'_> {
    /// The base and the key of an address with one key of stride 1, or without keys: then the key is the register that
    /// is always 0. `None` for other addresses.
    pub(super) fn one_key(&self, address: &Address) -> Option<(u32, Reg)> {
        match (address.n, address.strides[0]) {
            (0, _) => Some((address.base, self.zero)),
            (1, 1) => Some((address.base, self.alias(address.regs[0]))),
            _ => None,
        }
    }

    /// An address as a place. A place has two keys at most: of an address with more, an instruction sums up all but the
    /// first, each times its stride, in the register [`SPARE`].
    pub(super) fn place(&mut self, address: Address) -> Place {
        if address.n > 2 {
            let mut address = address;
            address.regs = address.regs.map(|it| self.alias(it));
            let at = add(&mut self.machine.addresses, address);
            self.push(Inst::SumKeys { reg: SPARE, address: at });
            let keys = [address.regs[0], SPARE];
            return Place { base: address.base, strides: [address.strides[0] as u16, 1], keys };
        }
        self.two_keys(address)
    }

    /// An address of at most two keys as a place. A stride is at most the number of rows of a table, so it fits.
    pub(super) fn two_keys(&self, address: Address) -> Place {
        let mut place = Place { base: address.base, strides: [0; 2], keys: [self.zero; 2] };
        for key in 0..usize::from(address.n).min(2) {
            place.strides[key] = address.strides[key] as u16;
            place.keys[key] = self.alias(address.regs[key]);
        }
        place
    }

    /// Loads the AND of all these rows into the accumulator. Where [`Self::fail_early`] can make it, it fails as soon as
    /// nothing is left; otherwise [`Self::test_some`] has to test what is left.
    pub(super) fn and_some(&mut self, lists: &[Rows], fails: &mut Vec<usize>) {
        let start = self.machine.insts.len();
        self.and(lists);
        self.fail_early(start, fails);
    }

    /// Makes the instructions from `start` on that narrow the accumulator fail as soon as nothing is left. Only for rows
    /// with a single key of stride 1 are there instructions that can.
    pub(super) fn fail_early(&mut self, start: usize, fails: &mut Vec<usize>) {
        for at in start..self.machine.insts.len() {
            if let Some(failing) = failing(self.machine.insts[at]) {
                self.machine.insts[at] = failing;
                fails.push(at);
            }
        }
    }

    /// Tests that the accumulator has members, unless the last narrowing has tested that.
    pub(super) fn test_some(&mut self, fails: &mut Vec<usize>) {
        if fails.last().is_none_or(|&it| it + 1 != self.machine.insts.len()) {
            fails.push(self.push(Inst::TestSome { skip: 0 }));
        }
    }

    /// The AND of all these rows in the accumulator.
    pub(super) fn and(&mut self, lists: &[Rows]) {
        let code = self.code;
        let terms = lists.iter().flat_map(|it| &code.rows[it.range()]);
        self.and_terms(&terms.collect::<Vec<_>>());
    }

    pub(super) fn and_terms(&mut self, terms: &[&RowTerm]) {
        let (positive, negated): (Vec<&RowTerm>, Vec<&RowTerm>) =
            terms.iter().partition(|it| !it.negated);
        if positive.is_empty() {
            // All members: more than any row has.
            self.push(Inst::LoadFirst { n: u16::MAX });
        }
        for (at, term) in positive.iter().enumerate() {
            self.term(term, at == 0);
        }
        for term in negated {
            self.term(term, false);
        }
    }

    /// Narrows the accumulator to a row, or loads it if it is the `first` one.
    fn term(&mut self, term: &RowTerm, first: bool) {
        let negated = term.negated;
        let inst = match term.row {
            // All members of a domain are the first bits of a row.
            RowSource::All(n) if first => Inst::LoadFirst { n },
            RowSource::All(n) => Inst::AndFirst { n },
            RowSource::Only(key) if first => Inst::LoadOne { key: self.alias(key) },
            RowSource::Only(key) if negated => Inst::DropOne { key: self.alias(key) },
            RowSource::Only(key) => Inst::AndOne { key: self.alias(key) },
            RowSource::At(address) => {
                let at = match self.one_key(&address) {
                    Some((base, key)) => Place { base, strides: [1, 0], keys: [key, self.zero] },
                    None => self.place(address),
                };
                narrowing(address.space, at, first, negated)
            }
        };
        self.push(inst);
    }

    /// Adds the AND of rows to the head's row, and the row's first key to the support: the first keys of rows that are not
    /// empty.
    pub(super) fn emit_row(
        &mut self,
        row: Address,
        support: Option<Support>,
        rows: [Rows; 2],
        fails: &mut Vec<usize>,
    ) {
        self.and_some(&rows, fails);
        if let Some((base, key)) = self.one_key(&row)
            && let Some(Support { base: support, first, .. }) = support
        {
            let (bit, skip) = (self.alias(first), 0);
            fails.push(self.push(match row.space {
                Space::Frame => Inst::GrowF1 { base, key, support, bit, skip },
                _ => Inst::GrowK1 { base, key, support, bit, skip },
            }));
            return;
        }
        let at = self.place(row);
        let grow = match row.space {
            Space::Frame => Inst::GrowF { at, skip: 0 },
            _ => Inst::GrowK { at, skip: 0 },
        };
        fails.push(self.push(grow));
        self.note(support);
    }
}

/// The narrowing by a place that needs but one key, of stride 1, as an instruction that fails if nothing is left.
fn failing(inst: Inst) -> Option<Inst> {
    let near = |at: Place| {
        (at.strides == [1, 0]).then_some(Near { base: at.base, key: at.keys[0], skip: 0 })
    };
    match inst {
        Inst::LoadS(at) => near(at).map(Inst::LoadS1),
        Inst::LoadK(at) => near(at).map(Inst::LoadK1),
        Inst::LoadF(at) => near(at).map(Inst::LoadF1),
        Inst::AndS(at) => near(at).map(Inst::AndS1),
        Inst::AndK(at) => near(at).map(Inst::AndK1),
        Inst::AndF(at) => near(at).map(Inst::AndF1),
        Inst::DropS(at) => near(at).map(Inst::DropS1),
        Inst::DropK(at) => near(at).map(Inst::DropK1),
        Inst::DropF(at) => near(at).map(Inst::DropF1),
        _ => None,
    }
}

/// The instruction that loads a row or narrows to it. The capital at the end of its name is the space, see [`Inst`].
fn narrowing(space: Space, at: Place, first: bool, negated: bool) -> Inst {
    match (space, first, negated) {
        (Space::Static, true, _) => Inst::LoadS(at),
        (Space::Maintained, true, _) => Inst::LoadK(at),
        (Space::Frame, true, _) => Inst::LoadF(at),
        (Space::Static, _, false) => Inst::AndS(at),
        (Space::Maintained, _, false) => Inst::AndK(at),
        (Space::Frame, _, false) => Inst::AndF(at),
        (Space::Static, _, true) => Inst::DropS(at),
        (Space::Maintained, _, true) => Inst::DropK(at),
        (Space::Frame, _, true) => Inst::DropF(at),
    }
}
