//! Bit rows: sets of up to 64, 128 or 256 members of a domain in one value.

use std::fmt::Debug;

/// A set of small numbers with the operations for joins.
///
/// Members are below [`Word::WIDTH`]. `has` and `one` do not check that: they take a number modulo the width.
pub(super) trait Word: Copy + Debug + Default + PartialEq + Send + Sync + 'static {
    /// Maximum number of members of a row.
    const WIDTH: usize;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn and_not(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    /// All ones or all zeros.
    fn splat(ones: bool) -> Self;
    fn is_empty(self) -> bool;
    fn count(self) -> u32;
    fn has(self, member: usize) -> bool;
    fn one(member: usize) -> Self;
    /// Removes and returns the lowest member.
    fn pop(&mut self) -> Option<usize>;
    /// The set of the numbers below `n`; all that fit if `n` is larger than the width.
    fn first(n: usize) -> Self;
}

impl Word for u64 {
    const WIDTH: usize = 64;
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        self & !other
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }
    #[inline(always)]
    fn splat(ones: bool) -> Self {
        u64::from(ones).wrapping_neg()
    }
    #[inline(always)]
    fn is_empty(self) -> bool {
        self == 0
    }
    #[inline(always)]
    fn count(self) -> u32 {
        self.count_ones()
    }
    #[inline(always)]
    fn has(self, member: usize) -> bool {
        self >> (member & 63) & 1 == 1
    }
    #[inline(always)]
    fn one(member: usize) -> Self {
        1 << (member & 63)
    }
    #[inline(always)]
    fn pop(&mut self) -> Option<usize> {
        if *self == 0 {
            return None;
        }
        let lowest = self.trailing_zeros() as usize;
        *self &= *self - 1;
        Some(lowest)
    }
    #[inline(always)]
    fn first(n: usize) -> Self {
        if n >= 64 { u64::MAX } else { (1 << n) - 1 }
    }
}

/// A row of `N` machine words, the lowest members first: machine code relies on that.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(transparent)]
pub(super) struct Wide<const N: usize>([u64; N]);

impl<const N: usize> Default for Wide<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> Wide<N> {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|at| f(self.0[at], other.0[at])))
    }
}

impl<const N: usize> Word for Wide<N> {
    const WIDTH: usize = 64 * N;
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }
    #[inline(always)]
    fn splat(ones: bool) -> Self {
        Self([u64::splat(ones); N])
    }
    #[inline(always)]
    fn is_empty(self) -> bool {
        self.0.iter().all(|&it| it == 0)
    }
    #[inline(always)]
    fn count(self) -> u32 {
        self.0.iter().map(|it| it.count_ones()).sum()
    }
    #[inline(always)]
    fn has(self, member: usize) -> bool {
        self.0[member / 64 % N] >> (member % 64) & 1 == 1
    }
    #[inline(always)]
    fn one(member: usize) -> Self {
        let mut row = Self::default();
        row.0[member / 64 % N] = 1 << (member % 64);
        row
    }
    #[inline(always)]
    fn pop(&mut self) -> Option<usize> {
        for (at, word) in self.0.iter_mut().enumerate() {
            if let Some(lowest) = word.pop() {
                return Some(at * 64 + lowest);
            }
        }
        None
    }
    #[inline(always)]
    fn first(n: usize) -> Self {
        Self(std::array::from_fn(|at| u64::first(n.saturating_sub(64 * at))))
    }
}
