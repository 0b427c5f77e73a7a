//! Control flow: splits instructions into stretches that become one function each, and finds the targets of jumps.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::super::code::Reg;
use super::super::compile::{Compiled, Mode, Readers};
use super::super::machine::{Inst, Machine};

/// The instructions where functions begin: of stretches that derive a relation, a block or a tuple, report a change or
/// solve a reaction, and of bodies that these run by calls. The values say whether a stretch is closed, see [`is_closed`].
pub(super) fn starts<W>(c: &Compiled<W>) -> BTreeMap<u32, bool> {
    let mut starts = BTreeSet::new();
    let known = |it: &u32| *it != u32::MAX;
    starts.extend(c.derive.iter().copied().filter(known));
    starts.extend(c.maintained.iter().filter_map(|it| it.recursive));
    starts.extend(c.schedules.iter().flatten().map(|it| it.start));
    starts.extend(c.readers.iter().flat_map(Readers::stretches));
    starts.extend(c.batches.iter().flatten().map(|it| it.pc));
    debug_assert_eq!(c.modes.len(), c.derive.len());
    debug_assert!(c.modes.iter().zip(&c.derive).all(|(mode, start)| known(start)
        || matches!(mode, Mode::Given | Mode::General { .. })));
    let mut open: Vec<u32> = starts.iter().copied().collect();
    let mut closed: BTreeMap<u32, bool> =
        starts.into_iter().map(|it| (it, is_closed(&c.machine, it))).collect();
    while let Some(start) = open.pop() {
        for body in targets(&c.machine, start).bodies {
            if closed.insert(body, false).is_none() {
                open.push(body);
            }
        }
    }
    closed
}

/// Whether only the code of the stretch uses its registers: the interpreter runs none of its instructions that read or
/// set registers.
fn is_closed(machine: &Machine, start: u32) -> bool {
    let is_called = |it: &Inst| match it {
        Inst::Scan { .. } | Inst::TestScan { .. } | Inst::CompareExpr { .. } | Inst::Let { .. } => {
            true
        }
        _ => it.needs_interpreter(),
    };
    !machine.insts[start as usize..=end(machine, start)].iter().any(is_called)
}

/// The instructions that a stretch goes to other than from the one before.
#[derive(Default)]
pub(super) struct Targets {
    pub(super) jumps: BTreeSet<usize>,
    /// The bodies that it runs by calls.
    bodies: BTreeSet<u32>,
}

pub(super) fn targets(machine: &Machine, start: u32) -> Targets {
    let mut found = Targets::default();
    walk(machine, start as usize, &mut found);
    found
}

fn walk(machine: &Machine, start: usize, found: &mut Targets) {
    let mut pc = start;
    loop {
        let mut inst = machine.insts[pc];
        if let Some(skip) = inst.skip_mut() {
            found.jumps.insert(pc + usize::from(*skip));
        }
        match inst {
            Inst::Next { back, .. } => {
                found.jumps.insert(pc - usize::from(back));
            }
            Inst::Enter { entry } => {
                let len = machine.entries[entry as usize].len as usize;
                found.jumps.insert(pc + len);
            }
            Inst::Sub { body, .. } => {
                walk(machine, pc + 1, found);
                pc += usize::from(body);
                found.jumps.insert(pc + 1);
            }
            Inst::Fold { body, .. }
            | Inst::FixK { body, .. }
            | Inst::FixF { body, .. }
            | Inst::Scan { body, .. } => {
                found.bodies.insert(pc as u32 + 1);
                pc += usize::from(body);
            }
            Inst::Halt => return,
            _ => {}
        }
        pc += 1;
    }
}

/// The last instruction of a stretch.
pub(super) fn end(machine: &Machine, start: u32) -> usize {
    let mut pc = start as usize;
    loop {
        pc += match machine.insts[pc] {
            Inst::Sub { body, .. }
            | Inst::Fold { body, .. }
            | Inst::FixK { body, .. }
            | Inst::FixF { body, .. }
            | Inst::Scan { body, .. } => usize::from(body),
            Inst::Halt => return pc,
            _ => 0,
        } + 1;
    }
}

/// The registers that a stretch sets to members of rows only.
pub(super) fn members(machine: &Machine, start: u32) -> HashSet<Reg> {
    let (mut members, mut others) = (HashSet::new(), HashSet::new());
    for inst in &machine.insts[start as usize..=end(machine, start)] {
        match *inst {
            Inst::Loop { reg, .. } | Inst::Next { reg, .. } => {
                members.insert(reg);
            }
            Inst::Scan { scan, .. } => {
                others.extend(machine.registers(machine.scans[scan as usize].free))
            }
            Inst::Fold { results, .. } => others.extend(machine.list(results)),
            Inst::Args { regs } => others.extend(machine.list(regs)),
            Inst::Chase { chase } => {
                let it = machine.chases[chase as usize];
                others.extend([it.middle, it.member]);
            }
            Inst::Count { reg }
            | Inst::FetchK1 { reg, .. }
            | Inst::FetchK { reg, .. }
            | Inst::FetchS { reg, .. }
            | Inst::Let { reg, .. }
            | Inst::Value { reg, .. }
            | Inst::SumKeys { reg, .. }
            | Inst::FixK { reg, .. }
            | Inst::FixF { reg, .. } => {
                others.insert(reg);
            }
            _ => {}
        }
    }
    members.retain(|it| !others.contains(it));
    members
}
