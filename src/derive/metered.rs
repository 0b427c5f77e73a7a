//! Rows read on a budget. Explanations, questions and the reactions of the reference evaluator search rows, and rule
//! text may be untrusted: once the budget is used up, no further rows are found, and [`Metered::check`] gives an error.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use super::allowance::{self, Allowance};
use super::budget::{Exhausted, Resource};
use super::rows::{Pattern, Rows, Visit};
use crate::rules::{Program, RelId};

/// Rows that are read on a budget.
pub(super) struct Metered<'r> {
    rows: &'r dyn Rows,
    /// The initial budget.
    steps: u64,
    /// What is left of it.
    left: Cell<u64>,
    /// The reader that is charged for reads, and what was left when it began to read. Readers are numbered: the rules
    /// first, then the reactions, and last all that is read for neither.
    reader: Cell<(usize, u64)>,
    /// Steps taken, by reader.
    spent: RefCell<Vec<u64>>,
}

impl<'r> Metered<'r> {
    /// Reads these rows on a budget of steps (lookups, and rows found), or on the rest of the request's budget if
    /// that is less.
    pub(super) fn new(rows: &'r dyn Rows, steps: u64) -> Self {
        let program = rows.program();
        let steps = allowance::left_of(steps);
        // The last reader stands for what is read neither for a rule nor for a reaction.
        let readers = program.rules.len() + program.reactions.len() + 1;
        let spent = RefCell::new(vec![0; readers]);
        Self { rows, steps, left: Cell::new(steps), reader: Cell::new((readers - 1, steps)), spent }
    }

    /// From now on, reads are charged to this reader: a rule's number, or the number of rules plus a reaction's.
    pub(super) fn read_for(&self, reader: usize) {
        let (before, since) = self.reader.replace((reader, self.left.get()));
        if let Some(spent) = self.spent.borrow_mut().get_mut(before) {
            *spent += since - self.left.get();
        }
    }

    /// Checks that no row was kept back.
    ///
    /// # Errors
    /// The budget ran out; the error names the rule or reaction that spent most of it.
    pub(super) fn check(&self) -> Result<(), Exhausted> {
        if self.left.get() > 0 {
            return Ok(());
        }
        self.read_for(self.reader.get().0);
        let spent = self.spent.borrow();
        let most = (0..spent.len()).max_by_key(|&it| spent[it]).unwrap_or_default();
        let resource = Allowance::exhausted().unwrap_or(Resource::Steps);
        Err(Exhausted::new(self.program(), resource, most))
    }

    /// Takes one step. False if that uses the budget up: what the last step would read is kept back.
    fn step(&self) -> bool {
        let left = self.left.get().saturating_sub(1);
        self.left.set(left);
        left > 0
    }
}

impl Drop for Metered<'_> {
    fn drop(&mut self) {
        allowance::take(i64::try_from(self.steps - self.left.get()).unwrap_or(i64::MAX));
    }
}

impl Rows for Metered<'_> {
    fn program(&self) -> &Program {
        self.rows.program()
    }

    fn contains(&self, rel: RelId, tuple: &[i64]) -> bool {
        self.step() && self.rows.contains(rel, tuple)
    }

    fn for_each(&self, rel: RelId, pattern: Pattern<'_>, f: Visit<'_>) -> ControlFlow<()> {
        let mut flow = ControlFlow::Continue(());
        if self.step() {
            let _ = self.rows.for_each(rel, pattern, &mut |row| {
                if !self.step() {
                    return ControlFlow::Break(());
                }
                flow = f(row);
                flow
            });
        }
        flow
    }
}
