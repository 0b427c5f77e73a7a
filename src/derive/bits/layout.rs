//! The store of each relation, and the tables of the statics.
//!
//! A relation over finite domains is dense bit rows: one row per value of all columns but the last.
//! Inputs are functions with inverse rows. Relations that do not fit (integers, too many columns or rows) are sorted
//! lists of tuples. Deliberately absent: the choice of join orders.

use std::ops::Range;
use std::sync::Arc;

use foldhash::HashMap;
use smallvec::SmallVec;

use crate::rules::{Column, Input, Program, RelId, Type};

use super::super::budget::{BIT_ROWS, TABLE_BYTES};
use super::super::rows::Tuple;
use super::code::{MAX_KEYS, Space, StoreId};
use super::error::PlanError;
use super::lists::{KnownRows, Sparse, TableKey};
use super::word::Word;

/// Dense relations with more rows than this are kept as lists of tuples.
const MAX_ROWS: usize = 1 << 15;

/// A number for each column.
pub(super) type Sizes = SmallVec<[u32; 4]>;

/// Rows of a relation or of an index.
#[derive(Debug, Clone)]
pub(super) struct Dense {
    pub(super) space: Space,
    pub(super) base: u32,
    /// For each key column, the number of rows from one of its values to the next.
    pub(super) strides: Sizes,
    /// For a relation, the sizes of all columns; for a table of statics, those of its keys.
    pub(super) sizes: Sizes,
    /// Number of rows.
    pub(super) rows: u32,
    /// The row of first-column values that have a non-empty row (for two columns and more).
    pub(super) support: Option<u32>,
}

impl Dense {
    /// A table of statics.
    fn table(base: usize, rows: usize, sizes: Sizes) -> Self {
        Self {
            space: Space::Static,
            base: base as u32,
            strides: strides(&sizes),
            sizes,
            rows: rows as u32,
            support: None,
        }
    }

    /// All its rows.
    pub(super) fn range(&self) -> Range<usize> {
        self.base as usize..(self.base + self.rows) as usize
    }

    /// Number of rows of a block, which has one value of the first column.
    pub(super) fn stride(&self) -> u32 {
        self.strides.first().map_or(1, |it| *it)
    }

    /// The rows of a block.
    pub(super) fn block(&self, first: usize) -> Range<usize> {
        let stride = self.stride() as usize;
        let start = self.base as usize + first * stride;
        start..start + stride
    }
}

/// How a relation is stored.
#[derive(Debug, Clone)]
pub(super) enum Store {
    // Not placed yet.
    Nowhere,
    // Known at load, perhaps empty; tables are made as plans ask for them.
    Static,
    // `rel(entity, value)`: values by entity, and the row of the entities that have one; for finite values also inverse rows.
    Key { fun: u32, present: u32, inverse: Option<u32>, entities: u32 },
    // `rel(value)` of the game.
    Game { fun: u32 },
    Dense(Dense),
    Sparse(StoreId),
}

/// The shared tables of statics.
#[derive(Debug, Clone, Default)]
pub(super) struct Statics<W> {
    pub(super) rows: Vec<W>,
    pub(super) funs: Vec<i64>,
    pub(super) sparse: Vec<Sparse>,
}

/// Marks a function without a value.
pub(super) const NONE: i64 = i64::MIN;

/// Identifies a table of a static's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct RowsOf {
    rel: RelId,
    /// The column of the bits.
    target: usize,
    /// The columns that select the row, one bit each.
    mask: u32,
}

/// All stores of a program, growing while plans are made.
#[derive(Debug, Default)]
pub(super) struct Layout<W> {
    pub(super) stores: Vec<Store>,
    /// The tuples of statics, by relation.
    pub(super) known: Vec<Option<Arc<KnownRows>>>,
    pub(super) statics: Statics<W>,
    pub(super) kept_rows: u32,
    pub(super) kept_funs: u32,
    pub(super) frame_rows: u32,
    /// Column orders of each sparse store: the declared order comes first, but statics have only those that
    /// plans use.
    pub(super) orders: Vec<Vec<Vec<u8>>>,
    /// Whether a sparse store is a static, kept in `statics.sparse`.
    pub(super) list_is_static: Vec<bool>,
    /// The tables of statics' rows that plans have requested.
    static_rows: HashMap<RowsOf, Dense>,
    /// Number of rows of all these tables, filled or not.
    planned_rows: usize,
    unfilled: Vec<(RowsOf, Dense)>,
    static_funs: HashMap<RelId, Dense>,
    static_sparse: HashMap<RelId, StoreId>,
    /// Inverse rows of maintained relations, from the last column to the first, by relation.
    pub(super) indexes: HashMap<RelId, u32>,
    /// Bytes of the orders of statics.
    pub(super) order_bytes: usize,
}

impl<W> Statics<W> {
    /// Bytes of the tables.
    pub(super) fn heap_bytes(&self) -> usize {
        let orders = self.sparse.iter().flat_map(|it| &it.sorted).filter_map(|it| it.get());
        self.rows.capacity() * size_of::<W>()
            + self.funs.capacity() * size_of::<i64>()
            + orders.map(|it| it.heap_bytes()).sum::<usize>()
    }
}

impl<W: Word> Layout<W> {
    pub(super) fn new(program: &Program) -> Self {
        Self {
            stores: vec![Store::Nowhere; program.relations.len()],
            known: vec![None; program.relations.len()],
            ..Self::default()
        }
    }

    /// Gives an input its store.
    pub(super) fn place_input(&mut self, program: &Program, rel: RelId, input: Input) {
        let columns = &program.relation(rel).columns;
        let store = match input {
            Input::Key(_) => {
                let entities = size(program, columns[0].ty).unwrap_or(0) as u32;
                let fun = take(&mut self.kept_funs, entities);
                let present = take(&mut self.kept_rows, 1);
                let values = size(program, columns[1].ty);
                let inverse = values.map(|it| take(&mut self.kept_rows, it as u32));
                Store::Key { fun, present, inverse, entities }
            }
            Input::Game(_) => Store::Game { fun: take(&mut self.kept_funs, 1) },
            Input::Flag(_) | Input::GameFlag(_) | Input::List(..) => {
                self.dense(program, rel, Space::Maintained).map_or(Store::Nowhere, Store::Dense)
            }
        };
        self.stores[usize::from(rel.0)] = store;
    }

    /// Gives a derived relation its store: rows if they fit, else a list of tuples.
    pub(super) fn place_derived(&mut self, program: &Program, rel: RelId, space: Space) {
        let store = match self.dense(program, rel, space) {
            Some(dense) => Store::Dense(dense),
            None => Store::Sparse(self.new_sparse(program.relation(rel).columns.len(), false)),
        };
        self.stores[usize::from(rel.0)] = store;
    }

    /// A new list of tuples; its first order is the columns as declared.
    pub(super) fn new_sparse(&mut self, arity: usize, is_static: bool) -> StoreId {
        self.orders.push(vec![(0..arity as u8).collect()]);
        self.list_is_static.push(is_static);
        self.statics.sparse.push(Sparse::default());
        (self.orders.len() - 1) as StoreId
    }

    /// The number of an order of a list of tuples, added if it is new.
    pub(super) fn order(&mut self, store: StoreId, order: Vec<u8>) -> u32 {
        let at = store as usize;
        if let Some(known) = self.orders[at].iter().position(|it| *it == order) {
            return known as u32;
        }
        if let Some((&rel, _)) = self.static_sparse.iter().find(|it| *it.1 == store) {
            self.add_order(rel, store, &order);
        }
        self.orders[at].push(order);
        (self.orders[at].len() - 1) as u32
    }

    /// Rows for a relation, if its columns are finite, and columns and rows are not too many.
    pub(super) fn dense(&mut self, program: &Program, rel: RelId, space: Space) -> Option<Dense> {
        let sizes = sizes(program, &program.relation(rel).columns)?;
        let keys = &sizes[..sizes.len().saturating_sub(1)];
        let rows = rows_by(keys)?;
        let next = match space {
            Space::Static => return None,
            Space::Maintained => &mut self.kept_rows,
            Space::Frame => &mut self.frame_rows,
        };
        let support = (!keys.is_empty()).then(|| take(next, 1));
        let base = take(next, rows as u32);
        Some(Dense { space, base, strides: strides(keys), sizes, rows: rows as u32, support })
    }

    /// Whether a relation is known at load.
    pub(super) fn is_known(&self, rel: RelId) -> bool {
        self.known[usize::from(rel.0)].is_some()
    }

    /// Sets the rows of a relation that is known at load. The tuples ascend.
    pub(super) fn set_known(&mut self, rel: RelId, rows: Arc<KnownRows>) {
        self.known[usize::from(rel.0)] = Some(rows);
        self.stores[usize::from(rel.0)] = Store::Static;
    }

    /// Number of tuples of a known relation.
    pub(super) fn known_len(&self, rel: RelId) -> usize {
        self.known[usize::from(rel.0)].as_deref().map_or(0, KnownRows::len)
    }

    /// Drops the tables that plans have requested so far, but not the known rows.
    pub(super) fn drop_tables(&mut self) {
        self.statics = Statics::default();
        self.orders.clear();
        self.list_is_static.clear();
        self.static_rows.clear();
        self.planned_rows = 0;
        self.unfilled.clear();
        self.static_funs.clear();
        self.static_sparse.clear();
        self.order_bytes = 0;
    }

    /// A table of a static's rows: their bits are the values of `target`, the columns in the mask select the row, and the
    /// others are projected away. `None` if a column is not finite, or the table would have too many keys or rows.
    pub(super) fn static_rows(
        &mut self,
        program: &Program,
        rel: RelId,
        target: usize,
        mask: u32,
    ) -> Option<Dense> {
        let table = RowsOf { rel, target, mask };
        if let Some(known) = self.static_rows.get(&table) {
            return Some(known.clone());
        }
        let columns = &program.relation(rel).columns;
        size(program, columns[target].ty)?;
        let kept: Vec<usize> = (0..columns.len()).filter(|it| mask >> it & 1 == 1).collect();
        let sizes = sizes(program, kept.iter().map(|&it| &columns[it]))?;
        let rows = rows_by(&sizes)?;
        let base = self.planned_rows;
        if (base + rows) * size_of::<W>() > TABLE_BYTES {
            return None;
        }
        self.planned_rows += rows;
        let dense = Dense::table(base, rows, sizes);
        self.static_rows.insert(table, dense.clone());
        self.unfilled.push((table, dense.clone()));
        Some(dense)
    }

    /// Fills the tables with these rows, which instructions read. Plans request many more tables than they use.
    pub(super) fn fill_tables(&mut self, program: &Program, read: impl Iterator<Item = u32>) {
        // Zeroed memory that nothing writes takes no time, unlike growing with each plan.
        let mut all = vec![W::default(); self.planned_rows];
        all[..self.statics.rows.len()].copy_from_slice(&self.statics.rows);
        self.statics.rows = all;
        let unfilled = std::mem::take(&mut self.unfilled);
        let mut is_read = vec![false; unfilled.len()];
        for base in read {
            // Their bases ascend.
            if let Some(at) = unfilled.partition_point(|it| it.1.base <= base).checked_sub(1) {
                is_read[at] = true;
            }
        }
        for ((table, dense), _) in unfilled.iter().zip(is_read).filter(|it| it.1) {
            self.fill(program, *table, dense);
        }
    }

    /// Fills a table with the tuples of its static.
    fn fill(&mut self, program: &Program, RowsOf { rel, target, mask }: RowsOf, dense: &Dense) {
        let Some(known) = &self.known[usize::from(rel.0)] else { return };
        let rows = dense.rows as usize;
        let columns = &program.relation(rel).columns;
        let strides = &dense.strides;
        let kept: Vec<usize> = (0..columns.len()).filter(|it| mask >> it & 1 == 1).collect();
        let part = |tuple: &[i64], at: usize| tuple[kept[at]] as usize * strides[at] as usize;
        let make = || match (known.rows(), kept.len()) {
            (Some(all), _) => {
                let by = |it| kept.iter().position(|at| *at == it).map_or(0, |at| strides[at]);
                let by: Sizes = (0..columns.len()).map(by).collect();
                let sizes = sizes(program, columns).unwrap_or_default();
                regrouped(rows, &all, &sizes, target, &by)
            }
            (_, 1) => bits(rows, known.tuples(), target, |it| part(it, 0)),
            (_, 2) => bits(rows, known.tuples(), target, |it| part(it, 0) + part(it, 1)),
            (_, n) => bits(rows, known.tuples(), target, |it| (0..n).map(|at| part(it, at)).sum()),
        };
        let table = known.table(TableKey { target, mask, rows }, make);
        let base = dense.base as usize;
        self.statics.rows[base..base + rows].copy_from_slice(&table);
    }

    /// The values of a functional static by its other columns. `None` for the reasons of [`Self::static_rows`].
    pub(super) fn static_fun(&mut self, program: &Program, rel: RelId) -> Option<Dense> {
        if let Some(known) = self.static_funs.get(&rel) {
            return Some(known.clone());
        }
        let columns = &program.relation(rel).columns;
        let keys = &columns[..columns.len().checked_sub(1)?];
        let sizes = sizes(program, keys)?;
        let rows = rows_by(&sizes)?;
        let base = self.statics.funs.len();
        if base + rows > BIT_ROWS {
            return None;
        }
        let dense = Dense::table(base, rows, sizes);
        let known = self.known[usize::from(rel.0)].as_deref();
        if let Some(table) = known.and_then(KnownRows::rows::<W>) {
            let value = |mut row: W| row.pop().map_or(NONE, |it| it as i64);
            self.statics.funs.extend(table.iter().copied().map(value));
        } else {
            self.statics.funs.resize(base + rows, NONE);
            for tuple in known.map_or(&[][..], KnownRows::tuples) {
                let at: usize = tuple
                    .iter()
                    .zip(&dense.strides)
                    .map(|(&it, &by)| it as usize * by as usize)
                    .sum();
                self.statics.funs[base + at] = tuple[keys.len()];
            }
        }
        self.static_funs.insert(rel, dense.clone());
        Some(dense)
    }

    /// A static as a list of tuples.
    pub(super) fn static_list(&mut self, program: &Program, rel: RelId) -> StoreId {
        if let Some(&known) = self.static_sparse.get(&rel) {
            return known;
        }
        let id = self.new_sparse(program.relation(rel).columns.len(), true);
        self.orders[id as usize].clear(); // none until a plan asks for it
        self.static_sparse.insert(rel, id);
        id
    }

    /// Checks that all copies of statics in other orders were made.
    ///
    /// # Errors
    /// They would have taken too much memory.
    pub(super) fn check_orders(&self) -> Result<(), PlanError> {
        if self.order_bytes <= TABLE_BYTES {
            return Ok(());
        }
        let bytes = self.order_bytes;
        let what = format!("its statics need {bytes} bytes; a program has {TABLE_BYTES}");
        Err(PlanError::TooLarge { place: "the program".into(), what })
    }

    /// Adds a copy of a static in another order to the list of its tuples.
    fn add_order(&mut self, rel: RelId, store: StoreId, order: &[u8]) {
        if let Some(rows) = &self.known[usize::from(rel.0)] {
            self.order_bytes += rows.len() * order.len() * size_of::<i64>();
            // No copy is made for a program that will be refused for its size.
            let sorted = match self.order_bytes > TABLE_BYTES {
                true => Arc::default(),
                false => rows.in_order(order),
            };
            self.statics.sparse[store as usize].sorted.push(sorted.into());
        }
    }

    /// Inverse rows of a maintained relation, from the last column to the first: the blocks that have the
    /// value. Kept up to date once requested.
    pub(super) fn index(&mut self, program: &Program, rel: RelId) -> Option<u32> {
        if let Some(&known) = self.indexes.get(&rel) {
            return Some(known);
        }
        let values = size(program, program.relation(rel).columns.last()?.ty)? as u32;
        let base = take(&mut self.kept_rows, values);
        self.indexes.insert(rel, base);
        Some(base)
    }
}

/// The number of rows of a table by keys of these sizes; `None` if there are too many keys or rows.
fn rows_by(sizes: &[u32]) -> Option<usize> {
    let rows: usize = sizes.iter().map(|&it| it as usize).product();
    (sizes.len() <= MAX_KEYS && rows <= MAX_ROWS).then_some(rows)
}

/// Reserves the next places, that many. Returns the first.
fn take(next: &mut u32, places: u32) -> u32 {
    let first = *next;
    *next += places;
    first
}

/// Rows with a bit for one column of each tuple, in the row that its other columns select.
fn bits<W: Word>(
    rows: usize,
    tuples: &[Tuple],
    target: usize,
    row: impl Fn(&[i64]) -> usize,
) -> Vec<W> {
    let mut table = vec![W::default(); rows];
    for tuple in tuples.iter().map(Tuple::as_slice) {
        let row = &mut table[row(tuple)];
        *row = row.or(W::one(tuple[target] as usize));
    }
    table
}

/// The rows that [`bits`] makes, made from rows towards the last column. `sizes` are those of all columns; `by` is the
/// stride of each in the table, 0 if it is projected away.
fn regrouped<W: Word>(rows: usize, all: &[W], sizes: &[u32], target: usize, by: &[u32]) -> Vec<W> {
    let mut table = vec![W::default(); rows];
    let last = sizes.len() - 1;
    // The values of the keys, incremented with the rows, and the row of the table for them.
    let (mut keys, mut to) = (Sizes::from_elem(0, last), 0);
    for &row in all {
        if target == last {
            table[to] = table[to].or(row);
        } else if !row.is_empty() {
            let bit = W::one(keys[target] as usize);
            let mut members = if by[last] == 0 { W::one(0) } else { row };
            while let Some(member) = members.pop() {
                let to = &mut table[to + member * by[last] as usize];
                *to = to.or(bit);
            }
        }
        for (at, key) in keys.iter_mut().enumerate().rev() {
            *key += 1;
            to += by[at] as usize;
            if *key < sizes[at] {
                break;
            }
            to -= by[at] as usize * std::mem::take(key) as usize;
        }
    }
    table
}

/// The number of members of a finite type.
pub(super) fn size(program: &Program, ty: Type) -> Option<usize> {
    match ty {
        Type::Domain(id) => Some(program.schema.domain(id).size()),
        Type::Int | Type::Text => None,
    }
}

/// The sizes of columns; `None` if one is not finite.
pub(super) fn sizes<'c>(
    program: &Program,
    columns: impl IntoIterator<Item = &'c Column>,
) -> Option<Sizes> {
    columns.into_iter().map(|it| Some(size(program, it.ty)? as u32)).collect()
}

/// For each column, the number of rows from one of its values to the next; 1 for the last.
fn strides(sizes: &[u32]) -> Sizes {
    let mut strides = Sizes::from_elem(1, sizes.len());
    for at in (0..sizes.len().saturating_sub(1)).rev() {
        strides[at] = strides[at + 1] * sizes[at + 1];
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_tuples_make_the_same_tables() {
        let sizes = [3, 5, 2, 7];
        let mut seed = 1_u64;
        let mut all = Vec::new();
        for _ in 0..3 * 5 * 2 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Many rows are empty, as they are on boards.
            all.push(if seed >> 62 == 0 { 0 } else { seed >> 40 & seed >> 20 & 0x7f });
        }
        let known = KnownRows::of_rows(all.clone(), &sizes);
        assert_eq!(known.tuples().len(), known.len());
        assert!(known.len() > 20 && known.tuples().is_sorted());
        for target in 0..4 {
            for mask in (0..16).filter(|it| it >> target & 1 == 0) {
                let kept: Vec<usize> = (0..4).filter(|it| mask >> it & 1 == 1).collect();
                let kept_sizes: Vec<u32> = kept.iter().map(|&it| sizes[it]).collect();
                let strides = strides(&kept_sizes);
                let rows = kept_sizes.iter().product::<u32>() as usize;
                let mut by = [0; 4];
                kept.iter().zip(&strides).for_each(|(&it, &stride)| by[it] = stride);
                let part = |it: &[i64], at: usize| it[at] as usize * by[at] as usize;
                let row = |it: &[i64]| (0..4).map(|at| part(it, at)).sum();
                let expected: Vec<u64> = bits(rows, known.tuples(), target, row);
                let found = regrouped(rows, &all, &sizes, target, &by);
                assert_eq!(found, expected, "towards {target} by {mask:b}");
            }
        }
    }
}
