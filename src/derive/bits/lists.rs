//! Lists of tuples, sorted by their columns in several orders, and read by prefix.
//!
//! Tuples are sorted as numbers where the differences between them fit 64 bits: comparing the thousands of tuples of
//! statics column by column took a third of the time that loading a program takes. Deliberately absent: the purpose of
//! the tuples, and which orders are needed.

use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::super::rows::{Tuple, two_of_a_key};
use super::word::Word;

/// Tuples in ascending order, with their values in one flat list.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    arity: usize,
    len: usize,
    values: Vec<i64>,
}

impl Sorted {
    fn tuple(&self, at: usize) -> &[i64] {
        &self.values[at * self.arity..(at + 1) * self.arity]
    }

    #[cfg(feature = "native")]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[cfg(feature = "native")]
    pub(super) fn tuples(&self) -> impl Iterator<Item = &[i64]> {
        (0..self.len).map(|at| self.tuple(at))
    }

    /// The first tuple in the range for which `holds` is false, given that it is true for all before (binary
    /// search).
    fn partition_point(
        &self,
        mut low: usize,
        mut high: usize,
        holds: impl Fn(&[i64]) -> bool,
    ) -> usize {
        while low < high {
            let middle = low.midpoint(high);
            match holds(self.tuple(middle)) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    /// The tuples that begin with the prefix: their number, and their values.
    pub(super) fn range(&self, prefix: &[i64]) -> (usize, &[i64]) {
        if prefix.is_empty() {
            return (self.len, &self.values);
        }
        let has = |it: &[i64]| &it[..prefix.len()] == prefix;
        let start = self.partition_point(0, self.len, |it| &it[..prefix.len()] < prefix);
        // There are usually few: the end is searched from here, in doubling steps.
        let (mut low, mut step) = (start, 1);
        while low + step <= self.len && has(self.tuple(low + step - 1)) {
            low += step;
            step *= 2;
        }
        let end = self.partition_point(low, (low + step).min(self.len), has);
        (end - start, &self.values[start * self.arity..end * self.arity])
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.values.capacity() * size_of::<i64>()
    }
}

/// A list of tuples, with a copy for each of its column orders, made on first use.
#[derive(Debug, Clone, Default)]
pub(super) struct Sparse {
    /// Empty for statics, which are stored elsewhere and whose copies are all made.
    pub(super) tuples: Vec<Tuple>,
    pub(super) sorted: Vec<OnceLock<Arc<Sorted>>>,
}

impl Sparse {
    /// Replaces the tuples, to be read in a number of orders. Returns the old buffer, emptied.
    pub(super) fn fill(&mut self, mut tuples: Vec<Tuple>, orders: usize) -> Vec<Tuple> {
        sort(&mut tuples);
        self.sorted.clear();
        self.sorted.resize_with(orders, OnceLock::new);
        let mut before = std::mem::replace(&mut self.tuples, tuples);
        before.clear();
        if before.capacity() > IDLE { Vec::new() } else { before }
    }

    /// The copy in an order, by its number and columns; `None` if the list was never filled.
    pub(super) fn sorted(&self, at: usize, order: &[u8]) -> Option<&Arc<Sorted>> {
        let copy = self.sorted.get(at)?;
        Some(copy.get_or_init(|| Arc::new(reordered(&self.tuples, order))))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let copies = self.sorted.iter().filter_map(OnceLock::get);
        self.tuples.capacity() * size_of::<Tuple>()
            + copies.map(|it| it.heap_bytes()).sum::<usize>()
    }
}

/// Maximum capacity, in tuples, that an emptied list keeps.
const IDLE: usize = 256;

/// Maximum number of a static's orders that programs share, and of its tables.
const SHARED: usize = 16;
/// Maximum size in bytes of all of a static's shared orders, and of all its shared tables.
const SHARED_BYTES: usize = 1 << 19;

/// The rows of a static, ascending, with the copies that programs have made of them; shared by programs.
#[derive(Debug, Default)]
pub(super) struct KnownRows {
    /// Made from the rows on demand.
    tuples: OnceLock<Vec<Tuple>>,
    len: usize,
    /// The bit rows, if they were computed as such.
    rows: Option<Rows>,
    orders: Mutex<Vec<(Vec<u8>, Arc<Sorted>)>>,
    tables: Mutex<Vec<Table>>,
}

/// Bit rows of some width.
type AnyRows = Arc<dyn Any + Send + Sync>;

/// Bit rows towards the last column, a row for each value of the others.
#[derive(Debug)]
struct Rows {
    table: AnyRows,
    /// Bytes of the table.
    bytes: usize,
    /// The sizes of all columns; at least one.
    sizes: Vec<u32>,
    /// Whether no row has two members.
    is_function: bool,
    tuples: fn(&Rows) -> Vec<Tuple>,
}

/// A table of bit rows that programs share.
#[derive(Debug)]
struct Table {
    key: TableKey,
    rows: AnyRows,
    bytes: usize,
}

/// Identifies a table of bit rows of a static.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TableKey {
    /// The column of the bits.
    pub(super) target: usize,
    /// The columns that select the row, one bit each.
    pub(super) mask: u32,
    /// Number of rows.
    pub(super) rows: usize,
}

impl KnownRows {
    pub(super) fn new(tuples: Vec<Tuple>) -> Self {
        Self { len: tuples.len(), tuples: tuples.into(), ..Self::default() }
    }

    /// Bit rows towards the last column, and the sizes of all columns.
    pub(super) fn of_rows<W: Word>(table: Vec<W>, sizes: &[u32]) -> Self {
        if sizes.is_empty() {
            let holds = table.iter().any(|it| !it.is_empty());
            return Self::new(holds.then(Tuple::new).into_iter().collect());
        }
        let counts = || table.iter().map(|it| it.count() as usize);
        let (len, is_function) = (counts().sum(), counts().all(|it| it < 2));
        let bytes = table.len() * size_of::<W>();
        let (table, sizes) = (Arc::new(table), sizes.to_vec());
        let rows = Rows { table, bytes, sizes, is_function, tuples: tuples_of::<W> };
        Self { len, rows: Some(rows), ..Self::default() }
    }

    /// The bit rows towards the last column, if it was computed as rows of this width.
    pub(super) fn rows<W: Word>(&self) -> Option<Arc<Vec<W>>> {
        Arc::clone(&self.rows.as_ref()?.table).downcast().ok()
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn tuples(&self) -> &[Tuple] {
        self.tuples.get_or_init(|| self.rows.as_ref().map_or_else(Vec::new, |it| (it.tuples)(it)))
    }

    /// Bytes on the heap, including what programs share.
    pub(super) fn heap_bytes(&self) -> usize {
        let tuples = self.tuples.get().map_or(0, |it| it.capacity() * size_of::<Tuple>());
        let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        tuples
            + self.rows.as_ref().map_or(0, |it| it.bytes)
            + orders.iter().map(|it| it.1.heap_bytes()).sum::<usize>()
            + tables.iter().map(|it| it.bytes).sum::<usize>()
    }

    /// Two tuples that differ only in their last column, if there are such.
    pub(super) fn two_of_a_key(&self) -> Option<[&Tuple; 2]> {
        match &self.rows {
            Some(rows) if rows.is_function => None,
            _ => two_of_a_key(self.tuples()),
        }
    }

    /// The rows of a table, made on first use.
    pub(super) fn table<W: Send + Sync + 'static>(
        &self,
        key: TableKey,
        make: impl FnOnce() -> Vec<W>,
    ) -> Arc<Vec<W>> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        for known in tables.iter().filter(|it| it.key == key) {
            if let Ok(rows) = Arc::clone(&known.rows).downcast::<Vec<W>>() {
                return rows;
            }
        }
        let rows = Arc::new(make());
        let bytes = rows.len() * size_of::<W>();
        let shared = tables.iter().map(|it| it.bytes).sum::<usize>();
        if tables.len() < SHARED && shared + bytes <= SHARED_BYTES {
            tables.push(Table { key, rows: Arc::clone(&rows) as AnyRows, bytes });
        }
        rows
    }

    /// A copy of the rows with their columns in another order.
    pub(super) fn in_order(&self, order: &[u8]) -> Arc<Sorted> {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = orders.iter().find(|it| it.0 == order) {
            return Arc::clone(known);
        }
        let sorted = Arc::new(reordered(self.tuples(), order));
        let shared = orders.iter().map(|it| it.1.heap_bytes()).sum::<usize>();
        if orders.len() < SHARED && shared + sorted.heap_bytes() <= SHARED_BYTES {
            orders.push((order.to_vec(), Arc::clone(&sorted)));
        }
        sorted
    }
}

/// The tuples of rows, ascending.
fn tuples_of<W: Word>(rows: &Rows) -> Vec<Tuple> {
    let Some(table) = rows.table.downcast_ref::<Vec<W>>() else { return Vec::new() };
    let mut tuples = Vec::with_capacity(table.iter().map(|it| it.count() as usize).sum());
    let last = rows.sizes.len() - 1;
    let mut tuple = Tuple::from_elem(0, rows.sizes.len());
    for &row in table {
        let mut row = row;
        while let Some(member) = row.pop() {
            tuple[last] = member as i64;
            tuples.push(copied(&tuple));
        }
        count_up(&mut tuple[..last], &rows.sizes);
    }
    tuples
}

/// Increments the values of columns of these sizes, the last one first.
fn count_up(values: &mut [i64], sizes: &[u32]) {
    for (value, &size) in values.iter_mut().zip(sizes).rev() {
        *value += 1;
        if *value < i64::from(size) {
            return;
        }
        *value = 0;
    }
}

/// Copies a tuple, a short one without a loop.
fn copied(tuple: &Tuple) -> Tuple {
    match *tuple.as_slice() {
        [a] => Tuple::from_buf_and_len([a, 0, 0, 0], 1),
        [a, b] => Tuple::from_buf_and_len([a, b, 0, 0], 2),
        [a, b, c] => Tuple::from_buf_and_len([a, b, c, 0], 3),
        [a, b, c, d] => Tuple::from_buf([a, b, c, d]),
        _ => tuple.clone(),
    }
}

/// Lists of at most this many tuples are sorted without packing.
const FEW: usize = 16;

/// Sorts tuples ascending and removes duplicates.
pub(super) fn sort(tuples: &mut Vec<Tuple>) {
    if tuples.is_sorted_by(|a, b| a < b) {
        return;
    }
    match Pack::of(tuples) {
        Some(pack) => {
            let columns: Vec<u8> = (0..pack.columns.len() as u8).collect();
            let mut keys: Vec<u64> = tuples.iter().map(|it| pack.key(it, &columns)).collect();
            keys.sort_unstable();
            keys.dedup();
            tuples.truncate(keys.len());
            for (tuple, key) in tuples.iter_mut().zip(keys) {
                pack.unpack(key, &columns, tuple);
            }
        }
        None => {
            tuples.sort_unstable();
            tuples.dedup();
        }
    }
}

/// Ascending tuples with their columns in another order, sorted by that.
fn reordered(tuples: &[Tuple], order: &[u8]) -> Sorted {
    let (arity, len) = (order.len(), tuples.len());
    if order.iter().enumerate().all(|(at, column)| at == usize::from(*column)) {
        let mut values = Vec::with_capacity(arity * len);
        tuples.iter().for_each(|it| values.extend_from_slice(&it[..arity]));
        return Sorted { arity, len, values };
    }
    let mut values = vec![0; arity * len];
    let rows = values.chunks_exact_mut(arity.max(1));
    if let Some(pack) = Pack::of(tuples) {
        let mut keys: Vec<u64> = tuples.iter().map(|it| pack.key(it, order)).collect();
        keys.sort_unstable();
        rows.zip(keys).for_each(|(row, key)| pack.unpack(key, order, row));
        return Sorted { arity, len, values };
    }
    let key = |it: &Tuple| -> Tuple { order.iter().map(|&at| it[usize::from(at)]).collect() };
    let mut moved: Vec<&Tuple> = tuples.iter().collect();
    moved.sort_by_cached_key(|it| key(it));
    for (row, tuple) in rows.zip(moved) {
        for (value, &at) in row.iter_mut().zip(order) {
            *value = tuple[usize::from(at)];
        }
    }
    Sorted { arity, len, values }
}

/// How tuples are packed into numbers: for each column its least value, and the bits for the range above it.
struct Pack {
    columns: Vec<(i64, u32)>,
}

impl Pack {
    /// `None` if the tuples are few, or their values too far apart.
    fn of(tuples: &[Tuple]) -> Option<Self> {
        let first = tuples.first().filter(|_| tuples.len() > FEW)?;
        let mut ranges: Vec<(i64, i64)> = first.iter().map(|&it| (it, it)).collect();
        for tuple in tuples.iter().map(Tuple::as_slice) {
            for (range, &value) in ranges.iter_mut().zip(tuple) {
                *range = (range.0.min(value), range.1.max(value));
            }
        }
        let bits = |(least, most): (i64, i64)| (least, 64 - most.abs_diff(least).leading_zeros());
        let columns: Vec<(i64, u32)> = ranges.into_iter().map(bits).collect();
        // A shift by 64 bits would overflow.
        let fits = columns.iter().map(|it| it.1).sum::<u32>() < 64;
        fits.then_some(Self { columns })
    }

    fn key(&self, tuple: &[i64], order: &[u8]) -> u64 {
        order.iter().fold(0, |key, &at| {
            let (least, bits) = self.columns[usize::from(at)];
            key << bits | tuple[usize::from(at)].abs_diff(least)
        })
    }

    /// The values of a key, in its column order.
    fn unpack(&self, mut key: u64, order: &[u8], tuple: &mut [i64]) {
        for (value, &at) in tuple.iter_mut().zip(order).rev() {
            let (least, bits) = self.columns[usize::from(at)];
            *value = least.wrapping_add_unsigned(key & ((1 << bits) - 1));
            key >>= bits;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuples(rows: &[[i64; 3]]) -> Vec<Tuple> {
        rows.iter().map(|it| Tuple::from_slice(it)).collect()
    }

    #[test]
    fn numbers_sort_as_tuples_do() {
        let mut seed = 7_i64;
        let mut rows = Vec::new();
        for _ in 0..500 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            rows.push([seed >> 60, (seed >> 33) % 5, (seed >> 20) % 64]);
        }
        for far in [None, Some([i64::MAX, 0, 0]), Some([0, i64::MIN + 1, 9])] {
            let mut packed = tuples(&rows);
            packed.extend(far.map(|it| Tuple::from_slice(&it)));
            let mut plain = packed.clone();
            sort(&mut packed);
            plain.sort_unstable();
            plain.dedup();
            assert_eq!(packed, plain);
            let mut moved: Vec<Tuple> =
                plain.iter().map(|it| [it[2], it[0], it[1]].into_iter().collect()).collect();
            moved.sort_unstable();
            let sorted = reordered(&plain, &[2, 0, 1]);
            assert_eq!((sorted.arity, sorted.len), (3, moved.len()));
            assert_eq!(sorted.values, moved.concat());
        }
    }
}
