//! The budget of one session's evaluator: how many steps are left, and which rules spent them.
//!
//! Counting by rule would have a cost at every step. So the budget is spent in slices, and the rule that uses
//! up a slice is charged with all of it: a sample, but a reproducible one.

use super::super::allowance::{self, Allowance};
use super::super::budget::{QUERY, Resource, STEPS};

const SLICE: i64 = 1 << 14;
const SLICES: u32 = (STEPS / SLICE as u64) as u32;

/// The rest of the budget.
#[derive(Debug, Clone)]
pub(super) struct Fuel {
    pub(super) left: i64,
    slices: u32,
    /// Slices used up, by owner (rules, then reactions).
    spent: Vec<u32>,
    out: Option<Resource>,
}

impl Fuel {
    pub(super) fn new() -> Self {
        Self { left: SLICE, slices: SLICES, spent: Vec::new(), out: None }
    }

    /// Restores the full budget for the next query, unless the last one or the request's allowance is used up.
    #[inline]
    pub(super) fn refill(&mut self) {
        if self.out.is_none() {
            if !self.pay(QUERY) {
                self.end();
                return;
            }
            self.left = SLICE;
            self.slices = SLICES;
            self.spent.clear();
        }
    }

    /// Charges the request for what was taken of the current slice, and for `more` steps. False if its allowance is
    /// used up.
    #[inline]
    pub(super) fn pay(&self, more: i64) -> bool {
        allowance::take(SLICE - self.left + more)
    }

    /// Stops all work because the request's allowance is used up.
    #[cold]
    fn end(&mut self) {
        self.left = -1;
        self.out = Allowance::exhausted().or(Some(Resource::Steps));
    }

    /// Restores the full budget in any case.
    pub(super) fn restart(&mut self) {
        *self = Self::new();
    }

    /// Steps taken out of the budget so far, while there are some left.
    pub(super) fn used(&self) -> i64 {
        i64::from(SLICES - self.slices) * SLICE + SLICE - self.left
    }

    /// Takes steps out of the budget; false if it is used up.
    #[inline(always)]
    pub(super) fn spend(&mut self, steps: i64, owner: u32) -> bool {
        self.left -= steps;
        self.left >= 0 || self.next_slice(owner)
    }

    #[cold]
    fn next_slice(&mut self, owner: u32) -> bool {
        let owner = owner as usize;
        while self.left < 0 && self.out.is_none() {
            if self.spent.len() <= owner {
                self.spent.resize(owner + 1, 0);
            }
            self.spent[owner] += 1;
            self.slices -= 1;
            self.left += SLICE;
            if self.slices == 0 {
                self.run_out(Resource::Steps, owner as u32);
            } else if !allowance::take(SLICE) {
                self.end();
            }
        }
        self.out.is_none()
    }

    /// Stops all work until the rows are derived from scratch.
    #[cold]
    pub(super) fn run_out(&mut self, resource: Resource, owner: u32) {
        if resource == Resource::Rows {
            // The rule that is adding rows is blamed, whatever the steps were spent on.
            self.spent = vec![0; owner as usize + 1];
            self.spent[owner as usize] = 1;
        }
        self.left = -1;
        self.out = Some(resource);
    }

    #[inline]
    pub(super) fn is_out(&self) -> bool {
        self.out.is_some()
    }

    /// The resource that ran out, and the owner that spent most, the first of equal ones.
    pub(super) fn exhausted(&self) -> Option<(Resource, usize)> {
        let most = self.spent.iter().max().copied().unwrap_or_default();
        let owner = self.spent.iter().position(|it| *it == most);
        // Many small queries: none of them is to blame.
        self.out.map(|it| (it, owner.unwrap_or(usize::MAX)))
    }
}
