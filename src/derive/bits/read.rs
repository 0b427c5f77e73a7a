//! Reading the rows of a session: tuples out of bits, for queries, proofs and counts.
//!
//! Deliberately absent: bringing rows up to date (`live.rs`).

use std::ops::ControlFlow;

use crate::rules::RelId;

use super::super::rows::{Pattern, Tuple, Visit, fits};
use super::code::Space;
use super::compile::Compiled;
use super::layout::{Dense, NONE, Store, size};
use super::live::Live;
use super::word::Word;

impl<W: Word> Live<W> {
    pub(super) fn row(&self, dense: &Dense, at: usize) -> W {
        let frame = if dense.space == Space::Frame { self.s.frame } else { 0 };
        self.s.rows[frame + at]
    }

    /// Calls `f` with the tuples of a relation stored as rows that match, ascending.
    pub(super) fn dense_tuples(
        &self,
        dense: &Dense,
        pattern: Pattern<'_>,
        f: Visit<'_>,
    ) -> ControlFlow<()> {
        let Some((last, keys)) = pattern.split_last() else {
            return if self.row(dense, dense.base as usize).has(0) {
                f(&[])
            } else {
                ControlFlow::Continue(())
            };
        };
        let mut tuple = Tuple::new();
        self.walk(dense, keys, *last, 0, &mut tuple, f)
    }

    /// Calls `f` with the tuples that match and begin with the keys in `tuple`, ascending. `row` is the first row of these
    /// keys, counted from the relation's first one.
    fn walk(
        &self,
        dense: &Dense,
        keys: &[Option<i64>],
        last: Option<i64>,
        row: usize,
        tuple: &mut Tuple,
        f: Visit<'_>,
    ) -> ControlFlow<()> {
        let at = tuple.len();
        if at == keys.len() {
            let members = self.row(dense, dense.base as usize + row);
            return emit_members(members, last, tuple, f);
        }
        let size = dense.sizes[at] as usize;
        let mut values = match (keys[at], at, dense.support) {
            (Some(key), ..) if (0..size as i64).contains(&key) => W::one(key as usize),
            (Some(_), ..) => W::default(),
            (None, 0, Some(support)) => self.row(dense, support as usize),
            (None, ..) => W::first(size),
        };
        while let Some(value) = values.pop() {
            tuple.push(value as i64);
            let below = row + value * dense.strides[at] as usize;
            self.walk(dense, keys, last, below, tuple, f)?;
            tuple.pop();
        }
        ControlFlow::Continue(())
    }

    /// Calls `f` with the tuples of an input stored as a function that match, ascending.
    pub(super) fn function_tuples(
        &self,
        c: &Compiled<W>,
        rel: RelId,
        pattern: Pattern<'_>,
        f: Visit<'_>,
    ) -> ControlFlow<()> {
        match c.stores[usize::from(rel.0)] {
            Store::Key { fun, present, inverse, entities } => {
                let mut members = self.s.rows[present as usize];
                match (pattern[0], pattern[1], inverse) {
                    (Some(entity), ..) if (0..i64::from(entities)).contains(&entity) => {
                        members = members.and(W::one(entity as usize));
                    }
                    (Some(_), ..) => return ControlFlow::Continue(()),
                    (None, Some(value), Some(inverse)) => {
                        let ty = c.program.relation(rel).columns[1].ty;
                        let size = size(&c.program, ty).unwrap_or(0);
                        if !(0..size as i64).contains(&value) {
                            return ControlFlow::Continue(());
                        }
                        members = self.s.rows[inverse as usize + value as usize];
                    }
                    _ => {}
                }
                while let Some(entity) = members.pop() {
                    let row = [entity as i64, self.s.funs[fun as usize + entity]];
                    if fits(pattern, &row) {
                        f(&row)?;
                    }
                }
            }
            Store::Game { fun } => {
                let value = self.s.funs[fun as usize];
                if value != NONE && fits(pattern, &[value]) {
                    f(&[value])?;
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Whether there is any tuple.
    pub(super) fn any(&self, dense: &Dense) -> bool {
        !self.row(dense, dense.support.unwrap_or(dense.base) as usize).is_empty()
    }

    pub(super) fn count(&self, dense: &Dense) -> u64 {
        let Some(support) = dense.support else {
            return u64::from(self.row(dense, dense.base as usize).count());
        };
        let mut firsts = self.row(dense, support as usize);
        let frame = if dense.space == Space::Frame { self.s.frame } else { 0 };
        let rows = &self.s.rows[frame..];
        let mut count = 0;
        while let Some(first) = firsts.pop() {
            count += rows[dense.block(first)].iter().map(|it| u64::from(it.count())).sum::<u64>();
        }
        count
    }
}

/// Calls `f` with the tuples of one row: the keys in `tuple`, with each member, or only the wanted one.
fn emit_members<W: Word>(
    mut members: W,
    last: Option<i64>,
    tuple: &mut Tuple,
    f: Visit<'_>,
) -> ControlFlow<()> {
    if let Some(wanted) = last {
        members = match usize::try_from(wanted) {
            Ok(wanted) if wanted < W::WIDTH => members.and(W::one(wanted)),
            _ => W::default(),
        };
    }
    while let Some(member) = members.pop() {
        tuple.push(member as i64);
        f(tuple)?;
        tuple.pop();
    }
    ControlFlow::Continue(())
}
