//! A memo of statics' rows across programs, so that a new set of presets need not compute the whole board
//! again.
//!
//! The key of a stratum of statics is everything that its rows, and the steps to compute them, depend on: its
//! rules with their `.plan`, the sizes of their domains, and the rows that they read. The whole key is compared, not
//! just a hash. Its cost is stored, too, and charged again, so that a program runs out of its budget at the
//! same place whatever was compiled before. Deliberately absent: names and places, on which rows do not
//! depend.

use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashMap;

use crate::rules::{Atom, Expr, Literal, Program, RelId, Term, VarId};

use super::layout::size;
use super::lists::KnownRows;

/// Maximum number of stored tuples, where a word of a key counts as one, too. Beyond it all are dropped. A stratum that
/// is larger by itself is not stored.
const TUPLES: usize = 1 << 18;
/// Maximum number of bytes of the stored tuples and their copies. Beyond it all are dropped.
const BYTES: usize = 1 << 26;

/// The key of a stratum of statics.
pub(super) type Key = Vec<i64>;

/// The rows of a stratum.
#[derive(Debug)]
pub(super) struct Solved {
    /// The id of the first relation's rows; the next relation's is one more. The keys of other strata contain the ids of
    /// the rows that they read.
    pub(super) first_id: i64,
    pub(super) rows: Vec<Arc<KnownRows>>,
    /// The steps taken, in order: the number of a rule within the stratum, and how many it took.
    pub(super) spent: Vec<(usize, i64)>,
}

/// Rows of statics by what they depend on. Copies share them.
#[derive(Debug, Clone, Default)]
pub struct Memo(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    strata: HashMap<Key, Arc<Solved>>,
    tuples: usize,
    /// Never assigned twice, even for rows that were dropped.
    next_id: i64,
}

impl Memo {
    /// Drops everything if there are too many bytes. They grow after [`Memo::keep`], too: rows keep the tables and sorted
    /// copies that programs make of them.
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

    /// Stores the rows of a stratum, which ascend.
    pub(super) fn keep(
        &self,
        key: Key,
        rows: Vec<KnownRows>,
        spent: Vec<(usize, i64)>,
    ) -> Arc<Solved> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first_id = known.next_id;
        known.next_id += rows.len() as i64;
        let size = key.len() + rows.iter().map(|it| it.len()).sum::<usize>();
        let rows = rows.into_iter().map(Arc::new).collect();
        let solved = Arc::new(Solved { first_id, rows, spent });
        if size > TUPLES {
            return solved;
        }
        if known.tuples + size > TUPLES {
            known.strata.clear();
            known.tuples = 0;
        }
        // If two programs stored rows at the same time, either will do.
        if known.strata.insert(key, Arc::clone(&solved)).is_none() {
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
    /// The ids of the rows of known relations.
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

    /// For rows, only the sizes of types matter.
    pub(super) fn types(&mut self, types: impl ExactSizeIterator<Item = crate::rules::Type>) {
        self.number(types.len());
        for ty in types {
            self.key.push(size(self.program, ty).map_or(-1, |it| it as i64));
        }
    }

    pub(super) fn vars(&mut self, vars: &[VarId]) {
        self.number(vars.len());
        self.key.extend(vars.iter().map(|it| i64::from(it.0)));
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
                    self.vars(&aggregate.locals);
                }
            }
        }
    }

    fn atom(&mut self, atom: &Atom) {
        let id = self.ids[usize::from(atom.rel.0)];
        // Whether it is a function affects how it is read, and so the cost.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::Plan;
    use crate::rules::{Source, compile};

    fn stored(memo: &Memo) -> usize {
        memo.0.lock().expect("no other thread").strata.len()
    }

    #[test]
    fn rules_with_another_plan_are_computed_anew() {
        let memo = Memo::default();
        let stored_with = |plan: &str| {
            let text = format!(
                ".domain Square grid 5 5\n\
                 .static near(a: Square, b: Square)\n\
                 near(a, b) :- rank(a, r), rank(b, r).{plan}\n"
            );
            let source = Source { path: "near.dl".into(), text: text.into() };
            let program = compile(vec![source]).unwrap_or_else(|it| panic!("{it}"));
            Plan::compile_sharing(Arc::new(program), &memo).expect("a plan");
            stored(&memo)
        };
        let first = stored_with("");
        assert_eq!(stored_with(""), first);
        assert_eq!(stored_with("\n.plan b"), first + 1, "its cost may be another");
        assert_eq!(stored_with("\n.plan b"), first + 1);
    }

    #[test]
    fn what_is_too_large_leaves_the_rest_stored() {
        let memo = Memo::default();
        memo.keep(vec![1], vec![KnownRows::new(Vec::new())], Vec::new());
        memo.keep(vec![0; TUPLES + 1], Vec::new(), Vec::new());
        assert_eq!(stored(&memo), 1);
        assert!(memo.find(&[1]).is_some());
    }
}
