//! Rows of statics that programs have in common, so that a set of presets that was never compiled
//! before does not compute the whole board again.
//!
//! A stratum of statics is known by all that its rows, and the steps to compute them, depend on: its
//! rules as they are planned, the sizes of their domains, and which rows they read. That is the whole
//! key, compared word by word: nothing is hashed away. What it cost is remembered, too, and paid for
//! again, so that a program runs out of its budget at the same place whatever was compiled before.
//! Deliberately absent: names and places, which are no matter for rows.

use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashMap;

use crate::rules::{Atom, Expr, Literal, Program, RelId, Term};

use super::layout::size;
use super::lists::Fixed;

/// When so many tuples are remembered (a word of a key counts as one, too), all are forgotten; and
/// when they take so many bytes.
const TUPLES: usize = 1 << 18;
const BYTES: usize = 1 << 26;

/// What a stratum of statics is known by.
pub(super) type Key = Vec<i64>;

/// The rows of a stratum.
#[derive(Debug)]
pub(super) struct Solved {
    /// Names the rows in the keys of strata that read them, one relation after the other.
    pub(super) first_id: i64,
    pub(super) rows: Vec<Arc<Fixed>>,
    /// Steps that it took, in their order, with the rule: numbered through the rules of the stratum.
    pub(super) spent: Vec<(usize, i64)>,
}

/// Rows of statics by what they depend on. Copies share them.
#[derive(Debug, Clone, Default)]
pub struct Memo(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    strata: HashMap<Key, Arc<Solved>>,
    tuples: usize,
    /// Never given twice, also not to rows that were forgotten.
    next_id: i64,
}

impl Memo {
    /// Forgets all if it has come to take too much: programs make tables of the rows, which are kept
    /// with them.
    pub(super) fn trim(&self) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = known.strata.values().flat_map(|it| &it.rows);
        if rows.map(|it| it.heap_bytes()).sum::<usize>() > BYTES {
            known.strata.clear();
            known.tuples = 0;
        }
    }

    pub(super) fn find(&self, key: &[i64]) -> Option<Arc<Solved>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.strata.get(key).cloned()
    }

    /// Remembers rows, which ascend.
    pub(super) fn keep(&self, key: Key, rows: Vec<Fixed>, spent: Vec<(usize, i64)>) -> Arc<Solved> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first_id = known.next_id;
        known.next_id += rows.len() as i64;
        let size = key.len() + rows.iter().map(|it| it.len()).sum::<usize>();
        let rows = rows.into_iter().map(Arc::new).collect();
        let solved = Arc::new(Solved { first_id, rows, spent });
        if known.tuples + size > TUPLES {
            known.strata.clear();
            known.tuples = 0;
        }
        // Of two programs that came at the same time, the later one's rows are as good.
        if size <= TUPLES && known.strata.insert(key, Arc::clone(&solved)).is_none() {
            known.tuples += size;
        }
        solved
    }
}

/// Writes a key. Every list is preceded by its length, and every choice by its number.
pub(super) struct Writer<'a> {
    pub(super) program: &'a Program,
    /// The relations of the stratum.
    pub(super) own: &'a [RelId],
    /// What names the rows of relations that are known.
    pub(super) ids: &'a [i64],
    pub(super) key: Key,
}

impl Writer<'_> {
    pub(super) fn number(&mut self, number: usize) {
        self.key.push(number as i64);
    }

    /// A relation of the stratum: its columns.
    pub(super) fn relation(&mut self, rel: RelId) {
        let columns = &self.program.relation(rel).columns;
        self.types(columns.iter().map(|it| it.ty));
    }

    /// Types are to rows what their sizes are.
    pub(super) fn types(&mut self, types: impl ExactSizeIterator<Item = crate::rules::Type>) {
        self.number(types.len());
        for ty in types {
            self.key.push(size(self.program, ty).map_or(-1, |it| it as i64));
        }
    }

    pub(super) fn terms(&mut self, terms: &[Term]) {
        self.number(terms.len());
        for term in terms {
            let (kind, value) = match *term {
                Term::Var(var) => (0, i64::from(var.0)),
                Term::Const(value) => (1, value),
                Term::Wild => (2, 0),
            };
            self.key.extend([kind, value]);
        }
    }

    pub(super) fn literals<'l>(&mut self, body: impl ExactSizeIterator<Item = &'l Literal>) {
        self.number(body.len());
        for literal in body {
            match literal {
                Literal::Atom(atom) => self.atom(atom),
                Literal::Compare(compare) => {
                    self.key.extend([1, compare.op as i64]);
                    self.expr(&compare.lhs);
                    self.expr(&compare.rhs);
                }
                Literal::Aggregate(aggregate) => {
                    self.key.extend([2, aggregate.fold as i64]);
                    self.number(aggregate.exprs.len());
                    aggregate.exprs.iter().for_each(|it| self.expr(it));
                    self.literals(aggregate.body.iter());
                    self.terms(&aggregate.results);
                    self.number(aggregate.locals.len());
                    self.key.extend(aggregate.locals.iter().map(|it| i64::from(it.0)));
                }
            }
        }
    }

    fn atom(&mut self, atom: &Atom) {
        let id = self.ids[usize::from(atom.rel.0)];
        // Whether it is a function decides how it is read, and so what that costs.
        let is_function = self.program.relation(atom.rel).functional;
        let (kind, which) = match self.own.iter().position(|it| *it == atom.rel) {
            Some(at) => (0, at as i64),
            None => (1, id),
        };
        self.key.extend([0, i64::from(atom.negated), i64::from(is_function), kind, which]);
        self.terms(&atom.args);
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Var(var) => self.key.extend([0, i64::from(var.0)]),
            Expr::Const(value) => self.key.extend([1, *value]),
            Expr::Binary(op, lhs, rhs) => {
                self.key.extend([2, *op as i64]);
                self.expr(lhs);
                self.expr(rhs);
            }
        }
    }
}
