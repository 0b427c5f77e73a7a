//! Allowances: one budget for all the work that a request causes in rules, over all worlds.
//!
//! Each query, event, trial, move text, explanation and load has a full budget of its own (`budget`). An
//! [`Allowance`] limits their sum: while one is open on a thread, all evaluators on that thread draw from it,
//! and when it is used up all of them run out. It belongs to the thread, not to a world, since one request
//! may read many worlds and compile rules. An allowance that is opened within another draws from the outer
//! one, and the [`Stop`] of the outer one alone ends it.
//!
//! Another thread can end it with a [`Stop`], which evaluators check after each slice of steps.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::budget::{REQUEST_STEPS, Resource};

/// Number of steps that are taken out of the allowance at a time. After each slice the [`Stop`] is checked.
const SLICE: i64 = 1 << 14;

thread_local! {
    /// The rest of the current slice; below 0 if there are no more.
    static SLICE_LEFT: Cell<i64> = const { Cell::new(i64::MAX) };
    static OPEN: RefCell<Option<Open>> = const { RefCell::new(None) };
}

/// The open allowance of a thread.
#[derive(Debug)]
struct Open {
    /// The rest beyond the current slice.
    left: i64,
    stop: Option<Stop>,
    out: Option<Resource>,
}

/// A handle to stop the work under an allowance from another thread.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Stops it: running rules end as if their time were up.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// An open allowance, until it is dropped. See the module's head.
#[derive(Debug)]
#[must_use = "an allowance is closed when this is dropped"]
pub struct Allowance {
    /// Whether it is the outermost one.
    opened: bool,
    /// Keeps it on its thread.
    thread: PhantomData<*const ()>,
}

impl Allowance {
    /// Opens the allowance of one request, unless there is one on this thread already.
    pub fn open() -> Self {
        Self::of(REQUEST_STEPS, None)
    }

    /// The allowance of work that counts as many requests, such as replaying a game. It may be stopped from another
    /// thread.
    pub fn of_many(requests: u64, stop: Stop) -> Self {
        Self::of(REQUEST_STEPS.saturating_mul(requests.max(1)), Some(stop))
    }

    /// An allowance of that many steps, unless there is one on this thread already.
    pub fn of(steps: u64, stop: Option<Stop>) -> Self {
        let opened = OPEN.with_borrow_mut(|open| {
            if open.is_some() {
                return false;
            }
            let left = i64::try_from(steps).unwrap_or(i64::MAX);
            *open = Some(Open { left, stop, out: None });
            true
        });
        if opened {
            SLICE_LEFT.set(0);
        }
        Self { opened, thread: PhantomData }
    }

    /// Takes steps out of the open allowance, as rules do that run.
    #[cfg(test)]
    pub fn spend(steps: i64) {
        take(steps);
    }

    /// The resource of the open allowance that ran out.
    pub fn exhausted() -> Option<Resource> {
        OPEN.with_borrow(|it| it.as_ref().and_then(|it| it.out))
    }
}

impl Drop for Allowance {
    fn drop(&mut self) {
        if self.opened {
            OPEN.set(None);
            SLICE_LEFT.set(i64::MAX);
        }
    }
}

/// Takes steps out of the open allowance, if there is one. False if it is used up.
#[inline]
pub(super) fn take(steps: i64) -> bool {
    let left = SLICE_LEFT.get() - steps;
    SLICE_LEFT.set(left);
    left >= 0 || next_slice()
}

/// The part of `steps` that may still be taken.
pub(super) fn left_of(steps: u64) -> u64 {
    if !take(0) {
        return 0;
    }
    let beyond = OPEN.with_borrow(|it| it.as_ref().map_or(i64::MAX, |it| it.left));
    let left = SLICE_LEFT.get().saturating_add(beyond);
    steps.min(u64::try_from(left).unwrap_or_default())
}

/// Does work whose result is shared, without charging the request that happens to need it first.
pub(super) fn aside<T>(work: impl FnOnce() -> T) -> T {
    struct Aside(Option<Open>, i64);
    impl Drop for Aside {
        fn drop(&mut self) {
            OPEN.set(self.0.take());
            SLICE_LEFT.set(self.1);
        }
    }
    let _aside = Aside(OPEN.take(), SLICE_LEFT.replace(i64::MAX));
    work()
}

#[cold]
fn next_slice() -> bool {
    OPEN.with_borrow_mut(|open| {
        let Some(open) = open else {
            SLICE_LEFT.set(i64::MAX);
            return true;
        };
        if open.out.is_none() && open.stop.as_ref().is_some_and(Stop::is_stopped) {
            open.out = Some(Resource::Time);
        }
        let owed = -SLICE_LEFT.get();
        if open.out.is_none() && owed > open.left {
            open.out = Some(Resource::Steps);
        }
        if open.out.is_some() {
            SLICE_LEFT.set(-1);
            return false;
        }
        let taken = owed.saturating_add(SLICE).min(open.left);
        open.left -= taken;
        SLICE_LEFT.set(taken - owed);
        true
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_open_on_a_thread_draws_from_one_allowance() {
        assert!(take(i64::MAX / 2), "without an allowance there is no end");
        let outer = Allowance::of(100_000, None);
        assert!(take(60_000));
        assert!(aside(|| take(1 << 40)));
        let inner = Allowance::open();
        assert_eq!(left_of(1 << 40), 40_000);
        assert!(!take(50_000));
        drop(inner);
        assert_eq!((take(1), Allowance::exhausted()), (false, Some(Resource::Steps)));
        assert_eq!(left_of(10), 0);
        drop(outer);
        assert_eq!((take(1), Allowance::exhausted()), (true, None));
    }

    #[test]
    fn a_stop_is_seen_within_a_slice() {
        let stop = Stop::default();
        let allowance = Allowance::of_many(1, stop.clone());
        assert!(take(1));
        stop.stop();
        let taken = (0..=SLICE).take_while(|_| take(1)).count();
        assert!(taken as i64 <= SLICE);
        assert_eq!(Allowance::exhausted(), Some(Resource::Time));
        drop(allowance);
        assert!(take(1));
    }
}
