//! Allowances: one budget for all the work that a request causes in rules, in whichever world.
//!
//! Queries, events, trials, texts of moves, explanations and loads have budgets of their own
//! (`budget`), each with a full one. An [`Allowance`] is what they may take together: while one is open
//! on a thread, all evaluators that run on that thread draw from it, and when it is used up all of them
//! run out. It is a matter of the thread, not of a world, since one request may look at many worlds and
//! compile the rules of others. An allowance that is opened within another draws from that one.
//!
//! Another thread ends it with a [`Stop`]: evaluators look whenever they have taken a slice of steps.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::budget::{REQUEST_STEPS, Resource};

/// Number of steps that are taken out of the allowance at a time. After each slice the [`Stop`] is examined.
const SLICE: i64 = 1 << 14;

thread_local! {
    /// What is left of the slice at hand; below 0 when there is no other.
    static SLICE_LEFT: Cell<i64> = const { Cell::new(i64::MAX) };
    static OPEN: RefCell<Option<Open>> = const { RefCell::new(None) };
}

/// The allowance that is open on a thread.
#[derive(Debug)]
struct Open {
    /// What is left beyond the slice at hand.
    left: i64,
    stop: Option<Stop>,
    out: Option<Resource>,
}

/// Ends what an allowance pays for, from another thread.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends it: rules that are running stop, as when their time is up.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was ended.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What is open until it is dropped. See the module's head.
#[derive(Debug)]
#[must_use = "an allowance is closed when this is dropped"]
pub struct Allowance {
    /// It is the outermost one.
    opened: bool,
    /// It belongs to its thread.
    thread: PhantomData<*const ()>,
}

impl Allowance {
    /// Opens the allowance of one request, unless there is one on this thread already.
    pub fn open() -> Self {
        Self::of(REQUEST_STEPS, None)
    }

    /// [`Allowance::open`], for a request that may be ended from another thread.
    pub fn stopped_by(stop: Stop) -> Self {
        Self::of(REQUEST_STEPS, Some(stop))
    }

    /// [`Allowance::stopped_by`], for what is many requests in one: a game that is played again.
    pub fn of_many(requests: u64, stop: Stop) -> Self {
        Self::of(REQUEST_STEPS.saturating_mul(requests.max(1)), Some(stop))
    }

    /// An allowance of so many steps, unless there is one on this thread already.
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

    /// Takes steps out of the allowance that is open, for work that no rule does. False if it is used
    /// up.
    pub fn spend(steps: u64) -> bool {
        take(i64::try_from(steps).unwrap_or(i64::MAX))
    }

    /// What ran out of the allowance that is open.
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

/// Takes steps out of the allowance that is open, if there is one. False if it is used up.
#[inline]
pub(super) fn take(steps: i64) -> bool {
    let left = SLICE_LEFT.get() - steps;
    SLICE_LEFT.set(left);
    left >= 0 || next_slice()
}

/// How many of so many steps may still be taken.
pub(super) fn left_of(steps: u64) -> u64 {
    if !take(0) {
        return 0;
    }
    let beyond = OPEN.with_borrow(|it| it.as_ref().map_or(i64::MAX, |it| it.left));
    let left = SLICE_LEFT.get().saturating_add(beyond);
    steps.min(u64::try_from(left).unwrap_or_default())
}

/// Does work whose result is shared: the request that happens to need it first does not pay for it.
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
        let allowance = Allowance::stopped_by(stop.clone());
        assert!(take(1));
        stop.stop();
        let taken = (0..=SLICE).take_while(|_| take(1)).count();
        assert!(taken as i64 <= SLICE);
        assert_eq!(Allowance::exhausted(), Some(Resource::Time));
        drop(allowance);
        assert!(take(1));
    }
}
