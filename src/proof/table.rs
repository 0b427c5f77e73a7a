//! The rows of one relation, with indexes by sets of columns, made on demand.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use smallvec::SmallVec;

/// One row, in raw values.
pub(super) type Row = SmallVec<[i64; 4]>;

/// The positions of rows, by their values in some columns.
pub(super) type Index = HashMap<Row, Vec<u32>>;

/// The rows of a relation, each once, in insertion order.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    rows: Vec<Row>,
    known: HashSet<Row>,
    /// By set of columns: bit 0 is the first column.
    indexes: RefCell<HashMap<u32, Rc<Index>>>,
}

/// The values of a row in a set of columns.
fn key(row: &[i64], columns: u32) -> Row {
    row.iter().enumerate().filter(|(at, _)| columns >> at & 1 == 1).map(|(_, &it)| it).collect()
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn contains(&self, row: &[i64]) -> bool {
        self.known.contains(row)
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Adds a row. Returns whether it is new.
    pub(super) fn insert(&mut self, row: Row) -> bool {
        if !self.known.insert(row.clone()) {
            return false;
        }
        let at = self.rows.len() as u32;
        for (&columns, index) in self.indexes.get_mut() {
            Rc::make_mut(index).entry(key(&row, columns)).or_default().push(at);
        }
        self.rows.push(row);
        true
    }

    /// The index by a set of columns, made on first use.
    pub(super) fn index(&self, columns: u32) -> Rc<Index> {
        let mut indexes = self.indexes.borrow_mut();
        let index = indexes.entry(columns).or_insert_with(|| {
            let mut index = Index::new();
            for (at, row) in self.rows.iter().enumerate() {
                index.entry(key(row, columns)).or_default().push(at as u32);
            }
            Rc::new(index)
        });
        Rc::clone(index)
    }

    /// Average number of rows with the same values in a set of columns, rounded down.
    pub(super) fn rows_per_key(&self, columns: u32) -> usize {
        match columns {
            0 => self.len(),
            _ => self.len() / self.index(columns).len().max(1),
        }
    }

    /// Whether a row matches the pattern (`None` = anything).
    pub(super) fn matches(&self, pattern: &[Option<i64>]) -> bool {
        let key: Row = pattern.iter().flatten().copied().collect();
        match columns(pattern) {
            0 => !self.rows.is_empty(),
            _ if key.len() == pattern.len() => self.contains(&key),
            columns => self.index(columns).contains_key(&key),
        }
    }

    /// The first row that matches the pattern.
    pub(super) fn first(&self, pattern: &[Option<i64>]) -> Option<&Row> {
        let fits = |row: &&Row| {
            row.iter().zip(pattern).all(|(it, wanted)| wanted.is_none_or(|wanted| wanted == *it))
        };
        self.rows.iter().find(fits)
    }
}

/// The columns of a pattern that have values.
fn columns(pattern: &[Option<i64>]) -> u32 {
    pattern.iter().enumerate().filter(|(_, it)| it.is_some()).fold(0, |set, (at, _)| set | 1 << at)
}
