//! The general semi-naive fixpoint: any recursion, tuple lists instead of rows.
//!
//! Used for statics at load, for mutual recursion, and for recursion that leaves its row. Slow and
//! complete.

use std::collections::HashSet;

use crate::rules::RelId;

use super::super::budget::{ROWS, Resource};
use super::super::rows::Tuple;
use super::assemble::Assembler;
use super::code::StoreId;
use super::compile::{Compiled, refill};
use super::planner::PlanError;
use super::run::State;
use super::word::Word;

/// One relation of the stratum: all its tuples, and those of the last round.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) rel: RelId,
    pub(super) full: StoreId,
    pub(super) delta: StoreId,
}

/// One plan of a rule. `first`: it reads nothing of the stratum and runs once.
#[derive(Debug, Clone)]
pub(super) struct Variant {
    pub(super) pc: u32,
    pub(super) first: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Fixpoint {
    pub(super) relations: Vec<Member>,
    pub(super) variants: Vec<Variant>,
}

impl Fixpoint {
    /// Lowers the plans: from now on they are places in the machine.
    pub(super) fn assemble(&mut self, assembler: &mut Assembler<'_>) -> Result<(), PlanError> {
        for variant in &mut self.variants {
            variant.pc = assembler.stretch(&[variant.pc])?;
        }
        Ok(())
    }
}

/// Computes the stratum; the results are the `full` lists.
pub(super) fn run<W: Word>(c: &Compiled<W>, state: &mut State<W>, fixpoint: &Fixpoint) {
    let mut known: Vec<HashSet<Tuple>> = vec![HashSet::new(); fixpoint.relations.len()];
    for member in &fixpoint.relations {
        state.lists[member.full as usize] = Default::default();
        state.lists[member.delta as usize] = Default::default();
    }
    let mut first = true;
    let mut blame = 0;
    loop {
        for variant in fixpoint.variants.iter().filter(|it| it.first == first) {
            let owner = c.machine.owner[variant.pc as usize];
            if state.fuel.spend(1, owner) {
                state.exec(c, variant.pc);
                blame = owner;
            }
        }
        first = false;
        let mut grown = false;
        for (member, known) in fixpoint.relations.iter().zip(&mut known) {
            let mut new = std::mem::take(&mut state.fresh[member.full as usize]);
            new.retain(|it| known.insert(it.clone()));
            grown |= !new.is_empty();
            // Other orders of the full list are needed only where a rule reads it whole.
            let full = &mut state.lists[member.full as usize];
            if c.reads_list(member.full) {
                let all: Vec<Tuple> = known.iter().cloned().collect();
                state.fuel.spend(all.len() as i64 / 16, blame);
                refill(c, member.full, full, all);
            }
            refill(c, member.delta, &mut state.lists[member.delta as usize], new);
        }
        if known.iter().map(HashSet::len).sum::<usize>() > ROWS {
            state.fuel.run_out(Resource::Rows, blame);
        }
        if !grown || state.fuel.is_out() {
            break;
        }
    }
    for (member, known) in fixpoint.relations.iter().zip(known) {
        refill(c, member.full, &mut state.lists[member.full as usize], known.into_iter().collect());
    }
}
