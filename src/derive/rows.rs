//! Read access to all rows, for the solver, queries, proofs and audits.
//!
//! Nothing is derived here: an implementation of [`Rows`] has every relation computed already, or computes it when
//! it is first read, as the reference evaluator does.

use std::ops::ControlFlow;

use smallvec::SmallVec;

use crate::rules::{Program, RelId};

/// One row of a relation, in raw values.
pub type Tuple = SmallVec<[i64; 4]>;

/// What a row has to have: in each column a value, or anything (`None`).
pub(super) type Pattern<'p> = &'p [Option<i64>];

/// What is called with each row, until it breaks.
pub(super) type Visit<'f> = &'f mut dyn FnMut(&[i64]) -> ControlFlow<()>;

/// Every relation of a program, inputs and statics included, as rows.
pub trait Rows {
    fn program(&self) -> &Program;

    fn contains(&self, rel: RelId, tuple: &[i64]) -> bool;

    /// Calls `f` with every row that matches the pattern, in ascending order, until it breaks.
    fn for_each(&self, rel: RelId, pattern: Pattern<'_>, f: Visit<'_>) -> ControlFlow<()>;
}

impl<R: Rows + ?Sized> Rows for &R {
    fn program(&self) -> &Program {
        (**self).program()
    }

    fn contains(&self, rel: RelId, tuple: &[i64]) -> bool {
        (**self).contains(rel, tuple)
    }

    fn for_each(&self, rel: RelId, pattern: Pattern<'_>, f: Visit<'_>) -> ControlFlow<()> {
        (**self).for_each(rel, pattern, f)
    }
}

/// Whether a row matches a pattern.
pub(super) fn fits(pattern: Pattern<'_>, row: &[i64]) -> bool {
    pattern.iter().zip(row).all(|(wanted, it)| wanted.is_none_or(|wanted| wanted == *it))
}

/// The first two of the ascending rows that differ in their last column only.
pub(super) fn two_of_a_key(rows: &[Tuple]) -> Option<[&Tuple; 2]> {
    let have_one_key = |[a, b]: &[&Tuple; 2]| {
        let keys = a.len().saturating_sub(1);
        a[..keys] == b[..keys] && a != b
    };
    rows.windows(2).map(|it| [&it[0], &it[1]]).find(have_one_key)
}

/// The first row that matches a pattern.
pub(super) fn first(rows: &dyn Rows, rel: RelId, pattern: Pattern<'_>) -> Option<Tuple> {
    let mut found = None;
    let _ = rows.for_each(rel, pattern, &mut |row| {
        found = Some(Tuple::from_slice(row));
        ControlFlow::Break(())
    });
    found
}

/// The rows that match a pattern, ascending.
pub fn collect(rows: &dyn Rows, rel: RelId, pattern: Pattern<'_>) -> Vec<Tuple> {
    let mut found = Vec::new();
    let _ = rows.for_each(rel, pattern, &mut |row| {
        found.push(Tuple::from_slice(row));
        ControlFlow::Continue(())
    });
    found
}
