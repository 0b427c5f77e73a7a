//! The changes of one step, in compact form: a game has one for every action that was played, and rarely
//! needs the facts of an earlier moment.
//!
//! Deliberately absent: the facts that did not change. The changes, and a [`Snapshot`] of the moment before them,
//! give all facts.
//!
//! [`Snapshot`]: super::snapshot::Snapshot

use super::schema::{AttrId, EntityId};
use super::session::{Change, Mark, Session};

/// Stands for a missing fact in a [`Narrow`]; all other values of 32 bits stand for themselves.
const NONE: i32 = i32::MIN;

/// The changes of a step, in canonical order, and the hash of all facts after it.
#[derive(Debug, Clone)]
pub struct Delta {
    changes: Changes,
    hash: u64,
}

/// All changes of a step are narrow, or all are wide. Nearly all steps have narrow ones: ids that fit 16 bits, and
/// values that fit 32.
#[derive(Debug, Clone)]
enum Changes {
    Narrow(Box<[Narrow]>),
    Wide(Box<[Change]>),
}

#[derive(Debug, Clone, Copy)]
struct Narrow {
    entity: u16,
    attr: u16,
    old: i32,
    new: i32,
}

impl Delta {
    /// The net changes of a session since a mark.
    pub fn since(session: &Session, mark: Mark) -> Self {
        let mut all = session.changes_since(mark).to_vec();
        // In canonical order, the writes of one fact in time order.
        all.sort_by_key(|it| (it.entity, it.attr));
        let mut changes: Vec<Change> = Vec::with_capacity(all.len());
        for change in all {
            match changes.last_mut() {
                Some(it) if (it.entity, it.attr) == (change.entity, change.attr) => {
                    it.new = change.new;
                }
                _ => changes.push(change),
            }
        }
        changes.retain(|it| it.old != it.new);
        let narrow: Option<Box<[Narrow]>> = changes.iter().map(Narrow::new).collect();
        let changes = narrow.map_or_else(|| Changes::Wide(changes.into()), Changes::Narrow);
        Self { changes, hash: session.hash() }
    }

    /// The changes, by entity, then by attribute.
    pub fn changes(&self) -> impl Iterator<Item = Change> + '_ {
        let (narrow, wide): (&[Narrow], &[Change]) = match &self.changes {
            Changes::Narrow(it) => (it, &[]),
            Changes::Wide(it) => (&[], it),
        };
        narrow.iter().map(|it| it.change()).chain(wide.iter().copied())
    }

    /// How one fact changed, if it did.
    pub fn of(&self, entity: EntityId, attr: AttrId) -> Option<Change> {
        self.changes().find(|it| (it.entity, it.attr) == (entity, attr))
    }

    /// The hash of all facts after the step.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Bytes held by this delta alone.
    pub fn heap_bytes(&self) -> usize {
        match &self.changes {
            Changes::Narrow(it) => size_of_val(&**it),
            Changes::Wide(it) => size_of_val(&**it),
        }
    }
}

impl Narrow {
    fn new(change: &Change) -> Option<Self> {
        let value = |raw: Option<i64>| match raw {
            None => Some(NONE),
            Some(raw) => i32::try_from(raw).ok().filter(|&it| it != NONE),
        };
        Some(Self {
            entity: u16::try_from(change.entity.0).ok()?,
            attr: change.attr.0,
            old: value(change.old)?,
            new: value(change.new)?,
        })
    }

    fn change(&self) -> Change {
        let value = |raw: i32| (raw != NONE).then_some(i64::from(raw));
        Change {
            entity: EntityId(u32::from(self.entity)),
            attr: AttrId(self.attr),
            old: value(self.old),
            new: value(self.new),
        }
    }
}
