//! Chooses the ids of new entities, from the facts alone, so that all evaluators choose the same.
//!
//! The number of ids is limited, since every relation over entities has a bit for each, so those of removed
//! entities are reused. An id is free when no fact mentions it, neither as its entity nor as its value: an
//! entity whose facts are all gone still counts while another fact points to it. New entities take the free
//! ids from the counter on; when there are none left, the lowest. The rule depends on facts alone, so games
//! that go on from equal lists of facts assign the same ids. Within one action no id is assigned twice: what
//! was mentioned at any moment of it stays taken.

use std::ops::Range;

use super::schema::{EntityId, GAME, NEXT_ENTITY};
use super::session::{Mark, Session};

/// The first ids that new entities will get, as far as they are consecutive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NextIds {
    pub ids: Range<u32>,
    /// Whether new entities still get these ids after other entities are removed.
    pub is_lasting: bool,
}

/// The free ids, in the order in which they are assigned; see the module's head. The default has none: it is for
/// actions that create no entity.
#[derive(Debug, Clone, Default)]
pub struct Ids {
    /// A bit for each id, set if it is taken. The bits after the last id, which fill up the last word, are set.
    taken: Vec<u64>,
    /// The number of ids, and so the first id that is out of range.
    cap: usize,
    /// Ids from here on are assigned first.
    counter: usize,
}

impl Ids {
    /// The ids that no fact of a session mentions.
    pub(super) fn of(session: &Session) -> Self {
        let cap = session.schema().entity_cap() as usize;
        let mut ids = Self { taken: vec![0; cap.div_ceil(64)], cap, counter: 0 };
        if let Some(last) = ids.taken.last_mut().filter(|_| !cap.is_multiple_of(64)) {
            *last = u64::MAX << (cap % 64);
        }
        ids.take(i64::from(GAME.0));
        ids.take_mentioned(session);
        ids
    }

    /// Marks the ids that facts mention now as taken, and reads the counter.
    fn take_mentioned(&mut self, session: &Session) {
        let schema = session.schema();
        for attr in schema.attribute_ids() {
            if !schema.is_of_members(attr) {
                let words = self.taken.iter_mut().zip(session.present(attr));
                words.for_each(|(taken, it)| *taken |= it);
            }
            if schema.is_entity(schema.attribute(attr).ty) {
                for entity in session.entities_with(attr) {
                    session.get_raw(entity, attr).into_iter().for_each(|it| self.take(it));
                }
            }
        }
        let counter = session.get_raw(GAME, NEXT_ENTITY).unwrap_or(1);
        self.counter = usize::try_from(counter).unwrap_or(0);
    }

    /// Takes further ids: those that facts mention now, or have mentioned since `since`. Reads the counter anew.
    pub fn follow(&mut self, session: &Session, since: Mark) {
        let schema = session.schema();
        self.take_mentioned(session);
        for change in session.changes_since(since) {
            if !schema.is_of_members(change.attr) {
                self.take(i64::from(change.entity.0));
            }
            if schema.is_entity(schema.attribute(change.attr).ty) {
                [change.old, change.new].into_iter().flatten().for_each(|it| self.take(it));
            }
        }
    }

    fn take(&mut self, raw: i64) {
        let Ok(id) = usize::try_from(raw) else { return };
        if let Some(word) = self.taken.get_mut(id / 64) {
            *word |= 1 << (id % 64);
        }
    }

    /// Whether an id may not be assigned.
    pub fn is_taken(&self, id: EntityId) -> bool {
        let id = id.0 as usize;
        self.taken.get(id / 64).is_none_or(|it| it >> (id % 64) & 1 == 1)
    }

    /// The highest taken id, at least [`GAME`].
    pub fn highest_taken(&self) -> EntityId {
        (0..self.cap as u32).rev().map(EntityId).find(|it| self.is_taken(*it)).unwrap_or(GAME)
    }

    /// Number of free ids.
    pub fn left(&self) -> u32 {
        self.taken.iter().map(|it| it.count_zeros()).sum()
    }

    /// The next id, which is taken from now on; `None` if there is no room for another entity.
    pub fn give(&mut self) -> Option<EntityId> {
        let id = self.first()?;
        self.take(i64::from(id.0));
        Some(id)
    }

    /// The ids that will be assigned next, as far as they are consecutive, and no more than `most`.
    pub fn next(&self, most: u32) -> NextIds {
        let Some(first) = self.first() else { return NextIds::default() };
        let mut end = first.0;
        while end - first.0 < most && !self.is_taken(EntityId(end)) {
            end += 1;
        }
        NextIds { ids: first.0..end, is_lasting: first.0 as usize == self.counter }
    }

    /// The free id that is assigned first.
    fn first(&self) -> Option<EntityId> {
        self.first_free(self.counter).or_else(|| self.first_free(0))
    }

    /// The lowest free id that is not below `from`.
    fn first_free(&self, from: usize) -> Option<EntityId> {
        let free = |at: usize| {
            let taken = self.taken[at] | if at == from / 64 { (1 << (from % 64)) - 1 } else { 0 };
            (taken != u64::MAX).then(|| EntityId((at * 64) as u32 + taken.trailing_ones()))
        };
        (from / 64..self.taken.len()).find_map(free)
    }

    /// The next id in raw form; if there is none, the first one out of range, with which no entity can be created.
    pub fn give_raw(&mut self) -> i64 {
        self.give().map_or(self.cap as i64, |it| i64::from(it.0))
    }
}

impl Session {
    /// The ids that new entities may have.
    pub fn ids(&self) -> Ids {
        Ids::of(self)
    }

    /// Number of further entities that there can be: the ids that no fact mentions.
    pub fn room(&self) -> u32 {
        self.ids().left()
    }

    /// Creates an entity, which has no facts yet; see [`Ids`] for its id. State a fact of it before
    /// the next is created: ids that no fact mentions are free. Where users decide how many are created, check
    /// [`Session::room`] first: without room this returns an id out of range.
    pub fn create(&mut self) -> EntityId {
        match self.ids().give() {
            Some(id) => {
                self.advance_counter_past(id);
                id
            }
            None => EntityId(self.schema().entity_cap()),
        }
    }
}
