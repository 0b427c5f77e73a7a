//! Solves a stratum of statics: its tuples come from the memo; or from its rules, if all of these are ground; or from
//! naive evaluation on bit rows; or from the general fixpoint, semi-naive evaluation on lists.
//!
//! Naive evaluation runs all recursive rules in each round, on all tuples found so far. That repeats work, but boards
//! take few rounds, and a round consists of ANDs of bit rows where lists would have to be built and sorted. Longer
//! recursion, and integers, are left to the general fixpoint. Deliberately absent: which statics there are (`settle`),
//! and the keys of the memo (`memo`).

use std::sync::Arc;

use crate::rules::RelId;

use super::super::super::budget::ROWS;
use super::super::assemble::Assembler;
use super::super::code::Space;
use super::super::error::PlanError;
use super::super::general::{self, Spent};
use super::super::layout::{Dense, Store};
use super::super::lists::KnownRows;
use super::super::machine::Machine;
use super::super::memo::Solved;
use super::super::planner::{FREE_LOOPS, Goal, weights};
use super::super::run::State;
use super::super::word::Word;
use super::{Compiled, Compiler, is_row_local};

/// Maximum number of rounds with bit rows.
const ROUNDS: usize = 32;
/// Number of steps of all rounds so far beyond which no further round with bit rows begins.
const STEPS: i64 = 1 << 19;
/// Maximum number of bit rows of one relation.
const MAX_BIT_ROWS: u32 = 1 << 13;

/// A rule of a stratum that is solved with bit rows.
struct RowPlan {
    /// The instruction where it begins.
    start: u32,
    /// Whether it runs in every round: it reads relations of the stratum, and a single run may not be enough.
    again: bool,
    /// Whether a run repeats it on each bit row until it adds nothing more to that row.
    in_row: bool,
}

impl<'p, W: Word> Compiler<'p, W> {
    /// The tuples of a stratum that depends only on statics.
    pub(super) fn solve_static(&mut self, relations: &[RelId]) -> Result<Arc<Solved>, PlanError> {
        let key = self.key_of(relations);
        let rules = || relations.iter().flat_map(|it| &self.live[usize::from(it.0)]);
        let owners: Vec<u32> = rules().map(|it| u32::from(it.rule.id.0)).collect();
        if let Some(solved) = self.memo.find(&key) {
            for &(nth, steps) in &solved.spent {
                self.fuel.spend(steps, owners[nth]);
            }
            self.check_fuel()?;
            return Ok(solved);
        }
        let mut spent = Spent::new();
        let rows = match self.ground(relations) {
            Some(tuples) => tuples.into_iter().map(KnownRows::new).collect(),
            None => match self.solve_by_rows(relations, &mut spent)? {
                Some(rows) => rows,
                None => self.solve_by_lists(relations, &mut spent)?,
            },
        };
        let by_rule = |(owner, steps)| Some((owners.iter().position(|it| *it == owner)?, steps));
        Ok(self.memo.keep(key, rows, spent.into_iter().filter_map(by_rule).collect()))
    }

    /// `None` if the stratum does not fit bit rows, or takes too long with them.
    fn solve_by_rows(
        &mut self,
        relations: &[RelId],
        spent: &mut Spent,
    ) -> Result<Option<Vec<KnownRows>>, PlanError> {
        self.start_plans();
        let before = self.planner.layout.kept_rows;
        let places = self.place_rows(relations);
        let found = match &places {
            Some(places) => self.run_rows(relations, places, spent),
            None => Ok(None),
        };
        self.planner.layout.kept_rows = before;
        for &rel in relations {
            self.planner.layout.stores[usize::from(rel.0)] = Store::Nowhere;
        }
        found
    }

    /// Places bit rows for each relation. `None` if one of them has a column of integers, or too many columns, bit rows
    /// or bits.
    fn place_rows(&mut self, relations: &[RelId]) -> Option<Vec<Dense>> {
        let mut places = Vec::new();
        for &rel in relations {
            let dense = self.planner.layout.dense(self.program, rel, Space::Maintained)?;
            let bits = dense.sizes.last().map_or(1, |it| *it as usize);
            if dense.rows > MAX_BIT_ROWS || dense.rows as usize * bits > ROWS {
                return None;
            }
            // The rules of the stratum read it while it grows.
            self.planner.layout.stores[usize::from(rel.0)] = Store::Dense(dense.clone());
            self.planner.estimates[usize::from(rel.0)] = weights::RECURSIVE;
            places.push(dense);
        }
        Some(places)
    }

    fn run_rows(
        &mut self,
        relations: &[RelId],
        places: &[Dense],
        spent: &mut Spent,
    ) -> Result<Option<Vec<KnownRows>>, PlanError> {
        let mut plans = Vec::new();
        for (rel, dense) in relations.iter().zip(places) {
            for live in self.live[usize::from(rel.0)].clone() {
                let reads = live.reads();
                let again = reads.iter().any(|it| relations.contains(it));
                let start = self.begin(&live)?;
                self.planner.loops = FREE_LOOPS; // it runs once a round, so every loop is charged
                let in_row = reads.contains(rel) && is_row_local(*rel, &live);
                if in_row {
                    self.plan_fix(*rel, &live)?;
                } else {
                    let goal = Goal::Rows { dense: dense.clone(), args: &live.rule.args };
                    self.plan(live.literals(), &goal)?;
                }
                plans.push(RowPlan { start, again, in_row });
            }
        }
        // Rules that read relations of the stratum come last. If there is but one, and a run of it completes each bit
        // row, no further round is needed.
        plans.sort_by_key(|it| it.again);
        if let [others @ .., only] = plans.as_mut_slice()
            && !others.iter().any(|it| it.again)
        {
            only.again &= !only.in_row;
        }
        let mut assembler = Assembler::new(self.program, &self.planner.code, &[]);
        for plan in &mut plans {
            plan.start = assembler.stretch(&[plan.start])?;
        }
        let machine = assembler.machine;
        self.lend(machine, |c, state| {
            let done = rounds(c, state, &plans, spent);
            done.then(|| places.iter().map(|it| known_rows(state, it)).collect())
        })
    }

    fn solve_by_lists(
        &mut self,
        relations: &[RelId],
        spent: &mut Spent,
    ) -> Result<Vec<KnownRows>, PlanError> {
        self.start_plans();
        let mut fixpoint = self.plan_fixpoint(relations)?;
        let mut assembler = Assembler::new(self.program, &self.planner.code, &[]);
        fixpoint.assemble(&mut assembler)?;
        let machine = assembler.machine;
        let rows = self.lend(machine, |c, state| general::solve(c, state, &fixpoint, spent))?;
        Ok(rows.into_iter().map(KnownRows::new).collect())
    }

    /// Lends everything compiled so far to a machine that runs plans of statics, and takes it back.
    fn lend<R>(
        &mut self,
        machine: Machine,
        run: impl FnOnce(&Compiled<W>, &mut State<W>) -> R,
    ) -> Result<R, PlanError> {
        let layout = &mut self.planner.layout;
        layout.check_orders()?;
        layout.fill_tables(self.program, self.planner.code.static_rows());
        let mut lent = Compiled::bare(self.program);
        lent.machine = machine;
        lent.kept_rows = layout.kept_rows as usize;
        lent.code = std::mem::take(&mut self.planner.code);
        lent.statics = std::mem::take(&mut layout.statics);
        lent.orders = std::mem::take(&mut layout.orders);
        lent.list_is_static = std::mem::take(&mut layout.list_is_static);
        let mut state = State::new(&lent);
        std::mem::swap(&mut state.fuel, &mut self.fuel);
        let result = run(&lent, &mut state);
        std::mem::swap(&mut state.fuel, &mut self.fuel);
        layout.statics = lent.statics;
        layout.orders = lent.orders;
        layout.list_is_static = lent.list_is_static;
        self.planner.code = lent.code;
        self.check_fuel()?;
        Ok(result)
    }
}

/// Runs the plans until nothing is new: all in the first round, then those that run again. False if that takes too many
/// rounds or steps. True as well if the fuel runs out, which the caller must check.
fn rounds<W: Word>(
    c: &Compiled<W>,
    state: &mut State<W>,
    plans: &[RowPlan],
    spent: &mut Spent,
) -> bool {
    let begun = state.fuel.used();
    let is_recursive = plans.iter().any(|it| it.again);
    for round in 0..ROUNDS {
        let before = if is_recursive { state.rows.clone() } else { Vec::new() };
        for &RowPlan { start, .. } in plans.iter().filter(|it| round == 0 || it.again) {
            let owner = c.machine.owner[start as usize];
            let used = state.fuel.used();
            if state.fuel.spend(1, owner) {
                state.exec(c, start);
            }
            spent.push((owner, state.fuel.used() - used));
        }
        if !is_recursive || state.fuel.is_out() || state.rows == before {
            return true;
        }
        if state.fuel.used() - begun > STEPS {
            return false;
        }
    }
    false
}

/// The tuples of a relation, from its bit rows.
fn known_rows<W: Word>(state: &State<W>, dense: &Dense) -> KnownRows {
    KnownRows::of_rows(state.rows[dense.range()].to_vec(), &dense.sizes)
}
