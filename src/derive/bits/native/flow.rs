//! Control flow: splits instructions into stretches that become one function each, and finds the targets of jumps.

use std::collections::BTreeSet;

use super::super::compile::{Compiled, Mode};
use super::super::machine::{Inst, Machine};

/// Every instruction at which something begins that is run from outside: what derives a relation, a
/// block or a tuple, tells of a change, solves a reaction, and the bodies of those that are run by
/// calls from within.
pub(super) fn starts<W>(c: &Compiled<W>) -> BTreeSet<u32> {
    let mut starts = BTreeSet::new();
    let known = |it: &u32| *it != u32::MAX;
    starts.extend(c.derive.iter().copied().filter(known));
    starts.extend(c.maintained.iter().filter_map(|it| it.again));
    starts.extend(c.schedules.iter().flatten().map(|it| it.start));
    starts.extend(c.readers.iter().flat_map(|it| it.once.into_iter().chain(it.each)));
    starts.extend(c.batches.iter().flatten().map(|it| it.pc));
    debug_assert_eq!(c.modes.len(), c.derive.len());
    debug_assert!(c.modes.iter().zip(&c.derive).all(|(mode, start)| known(start)
        || matches!(mode, Mode::Given | Mode::General { .. })));
    let mut open: Vec<u32> = starts.iter().copied().collect();
    while let Some(start) = open.pop() {
        for body in targets(&c.machine, start).1 {
            if starts.insert(body) {
                open.push(body);
            }
        }
    }
    starts
}

/// Where jumps of a stretch end, and the bodies that it runs by calls.
pub(super) fn targets(machine: &Machine, start: u32) -> (BTreeSet<usize>, BTreeSet<u32>) {
    let mut found = (BTreeSet::new(), BTreeSet::new());
    walk(machine, start as usize, &mut found);
    found
}

fn walk(machine: &Machine, start: usize, found: &mut (BTreeSet<usize>, BTreeSet<u32>)) {
    let mut pc = start;
    loop {
        let mut inst = machine.insts[pc];
        if let Some(skip) = inst.skip_mut() {
            found.0.insert(pc + usize::from(*skip));
        }
        match inst {
            Inst::Next { back, .. } => {
                found.0.insert(pc - usize::from(back));
            }
            Inst::Enter { entry } => {
                let len = machine.entries[entry as usize].len as usize;
                found.0.insert(pc + len);
            }
            Inst::Sub { body, .. } => {
                walk(machine, pc + 1, found);
                pc += usize::from(body);
                found.0.insert(pc + 1);
            }
            Inst::Fold { body, .. }
            | Inst::Fix { body, .. }
            | Inst::FixFrame { body, .. }
            | Inst::Scan { body, .. } => {
                found.1.insert(pc as u32 + 1);
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
            | Inst::Fix { body, .. }
            | Inst::FixFrame { body, .. }
            | Inst::Scan { body, .. } => usize::from(body),
            Inst::Halt => return pc,
            _ => 0,
        } + 1;
    }
}
