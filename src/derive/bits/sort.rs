//! Sorting many tuples: as numbers, where what differs between them fits 64 bits.
//!
//! Statics are thousands of tuples, and comparing tuples column by column was a third of a load.
//! Deliberately absent: what the tuples are for.

use super::super::rows::Tuple;
use super::layout::Sorted;

/// So few tuples are compared as they are.
const FEW: usize = 16;

/// Sorts tuples ascending and leaves each once.
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

/// The ascending tuples with their columns in another order, ascending in that one.
pub(super) fn reordered(tuples: &[Tuple], order: &[u8]) -> Sorted {
    let (arity, len) = (order.len(), tuples.len());
    let mut values = vec![0; arity * len];
    let rows = values.chunks_exact_mut(arity.max(1));
    if let Some(pack) = Pack::of(tuples).filter(|_| !order.is_sorted()) {
        let mut keys: Vec<u64> = tuples.iter().map(|it| pack.key(it, order)).collect();
        keys.sort_unstable();
        rows.zip(keys).for_each(|(row, key)| pack.unpack(key, order, row));
        return Sorted { arity, len, values };
    }
    let mut moved: Vec<&Tuple> = tuples.iter().collect();
    if !order.is_sorted() {
        let key = |it: &Tuple| -> Tuple { order.iter().map(|&at| it[usize::from(at)]).collect() };
        moved.sort_by_cached_key(|it| key(it));
    }
    for (row, tuple) in rows.zip(moved) {
        for (value, &at) in row.iter_mut().zip(order) {
            *value = tuple[usize::from(at)];
        }
    }
    Sorted { arity, len, values }
}

/// How tuples are written as numbers: for each column its least value and the bits of the others
/// above it.
struct Pack {
    columns: Vec<(i64, u32)>,
}

impl Pack {
    /// None if the tuples are few, or their values too far apart.
    fn of(tuples: &[Tuple]) -> Option<Self> {
        let first = tuples.first().filter(|_| tuples.len() > FEW)?;
        let mut ranges: Vec<(i64, i64)> = first.iter().map(|&it| (it, it)).collect();
        for tuple in tuples {
            for (range, &value) in ranges.iter_mut().zip(tuple) {
                *range = (range.0.min(value), range.1.max(value));
            }
        }
        let bits = |(least, most): (i64, i64)| (least, 64 - most.abs_diff(least).leading_zeros());
        let columns: Vec<(i64, u32)> = ranges.into_iter().map(bits).collect();
        // A shift by all 64 bits is none that a number can make.
        let fits = columns.iter().map(|it| it.1).sum::<u32>() < 64;
        fits.then_some(Self { columns })
    }

    fn key(&self, tuple: &[i64], order: &[u8]) -> u64 {
        order.iter().fold(0, |key, &at| {
            let (least, bits) = self.columns[usize::from(at)];
            key << bits | tuple[usize::from(at)].abs_diff(least)
        })
    }

    /// The values of a key, in the order in which it has them.
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
