//! A cache of compiled programs, which a catalogue shares with all its copies.
//!
//! A program is a megabyte or more, so the cache is limited in bytes. A program that was evicted is still found while a
//! game uses it: the same files are one program, however many games there are.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::derive::{Memo, Plan};
use crate::moves::Contract;
use crate::rules::{Program, Reader, Source};

use super::error::LoadError;
use super::external::Externals;
use super::scopes::Scopes;
use super::sides;

/// Maximum size of the cache of compiled programs, in bytes.
const CACHED: usize = 96 << 20;

/// Maximum size of all programs together, in bytes, including those that are in use and not cached.
const IN_USE: usize = 512 << 20;

/// A program with everything that is computed from it alone.
#[derive(Debug, Clone)]
pub(super) struct Composed {
    pub(super) plan: Arc<Plan>,
    pub(super) contract: Arc<Contract>,
    pub(super) scopes: Arc<Scopes>,
}

/// A program that was compiled.
#[derive(Debug)]
struct CachedProgram {
    plan: Weak<Plan>,
    contract: Arc<Contract>,
    scopes: Arc<Scopes>,
    /// The code that it calls.
    externals: Arc<Externals>,
    bytes: usize,
    /// The number of the request that used it last.
    last_used: u64,
    /// The program itself as long as it is cached.
    cached: Option<Arc<Plan>>,
}

#[derive(Debug, Default)]
pub(super) struct Programs {
    entries: Vec<CachedProgram>,
    /// The number of requests so far.
    requests: u64,
}

impl Programs {
    /// The program of these files, if it is known.
    pub(super) fn find(
        &mut self,
        files: &[&Source],
        externals: &Arc<Externals>,
    ) -> Option<Composed> {
        let same = |a: &Source, b: &Source| {
            a.path == b.path && (Arc::ptr_eq(&a.text, &b.text) || a.text == b.text)
        };
        let (entry, plan) = self.entries.iter_mut().find_map(|entry| {
            let plan = entry.plan.upgrade().filter(|_| Arc::ptr_eq(&entry.externals, externals))?;
            let theirs: Vec<&Source> = rule_files(plan.program()).collect();
            let is_it = theirs.len() == files.len()
                && files.iter().zip(theirs).all(|(mine, theirs)| same(mine, theirs));
            is_it.then_some((entry, plan))
        })?;
        self.requests += 1;
        entry.last_used = self.requests;
        entry.cached = Some(Arc::clone(&plan));
        let (contract, scopes) = (Arc::clone(&entry.contract), Arc::clone(&entry.scopes));
        self.evict();
        Some(Composed { plan, contract, scopes })
    }

    /// Adds a program, if there is room for it.
    pub(super) fn keep(
        &mut self,
        composed: &Composed,
        externals: &Arc<Externals>,
    ) -> Result<(), LoadError> {
        self.requests += 1;
        let entry = CachedProgram {
            plan: Arc::downgrade(&composed.plan),
            contract: Arc::clone(&composed.contract),
            scopes: Arc::clone(&composed.scopes),
            externals: Arc::clone(externals),
            bytes: composed.plan.heap_bytes(),
            last_used: self.requests,
            cached: Some(Arc::clone(&composed.plan)),
        };
        self.entries.push(entry);
        self.evict();
        self.entries.retain(|it| it.plan.strong_count() > 0);
        let bytes = self.bytes();
        if bytes > IN_USE {
            self.entries.pop();
            return Err(LoadError::Full { bytes });
        }
        Ok(())
    }

    /// Evicts the least recently used programs, until the rest is small enough.
    fn evict(&mut self) {
        let mut cached: usize =
            self.entries.iter().filter(|it| it.cached.is_some()).map(|it| it.bytes).sum();
        while cached > CACHED {
            let in_cache = self.entries.iter_mut().filter(|it| it.cached.is_some());
            let Some(oldest) = in_cache.min_by_key(|it| it.last_used) else { return };
            oldest.cached = None;
            cached -= oldest.bytes;
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let alive = self.entries.iter().filter(|it| it.plan.strong_count() > 0);
        alive.map(|it| it.bytes).sum()
    }
}

/// Compiled programs, and their common parts: parsed files, and rows of statics. Copies of a catalogue share
/// all of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Composers {
    programs: Arc<Mutex<Programs>>,
    pub(super) memo: Memo,
    pub(super) reader: Reader,
}

impl Composers {
    pub(super) fn programs(&self) -> std::sync::MutexGuard<'_, Programs> {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The path of generated text, that about sides aside.
pub(super) const GENERATED_PATH: &str = "added to the core";

/// The rule files of a program, in their order.
pub(super) fn rule_files(program: &Program) -> impl Iterator<Item = &Source> {
    program
        .sources
        .iter()
        .filter(|it| it.path != GENERATED_PATH && it.path != sides::GENERATED_PATH)
}
