//! The facts of one moment: a persistent map that shares structure with earlier and later snapshots.
//!
//! A game keeps its first snapshot, those after its last few actions, and one for each change of its rules; of
//! every action it keeps the changes ([`Delta`]), from which the others are made. A search uses the journal of
//! [`Session`] instead. Facts are ordered by entity, then attribute. Values that fit 32 bits (nearly all) are kept
//! in a map of their own, which halves the memory that one more snapshot takes. Deliberately absent: single writes. A
//! snapshot is made of a session, or of an earlier snapshot and the changes of the next action.

use std::sync::Arc;

use im::OrdMap;

use super::delta::Delta;
use super::schema::{AttrId, EntityId, Schema};
use super::session::{Change, Fact, Session};
use super::value::Value;

/// The facts of one moment. Cloning is cheap and shares everything.
#[derive(Clone)]
pub struct Snapshot {
    schema: Arc<Schema>,
    narrow: OrdMap<Key, i32>,
    /// Values that need more than 32 bits; `None` if there are none.
    wide: Option<Arc<OrdMap<Key, i64>>>,
    hash: u64,
    own_bytes: u32,
}

/// Entity and attribute in one word, in canonical order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u32);

impl Key {
    fn new(entity: EntityId, attr: AttrId) -> Self {
        Self(entity.0 << 16 | u32::from(attr.0))
    }

    fn parts(self) -> (EntityId, AttrId) {
        (EntityId(self.0 >> 16), AttrId(self.0 as u16))
    }
}

/// Allocated bytes of a copied inner node and a copied leaf of the map (measured).
const BRANCH_BYTES: usize = 256;
const LEAF_BYTES: usize = 176;
/// Facts in a leaf, on average.
const LEAF_FACTS: usize = 11;

impl Snapshot {
    /// The facts of a session as they are now.
    pub fn new(session: &Session) -> Self {
        let mut snapshot = Self {
            schema: Arc::clone(session.schema()),
            narrow: OrdMap::new(),
            wide: None,
            hash: session.hash(),
            own_bytes: 0,
        };
        for (entity, attr, raw) in session.iter_raw() {
            snapshot.set(Key::new(entity, attr), Some(raw));
        }
        let leaves = snapshot.len() / LEAF_FACTS + 1;
        snapshot.own_bytes = (leaves * LEAF_BYTES + BRANCH_BYTES) as u32;
        snapshot
    }

    /// Applies the changes of the next step: the facts are then those of the moment after it.
    pub fn follow(&mut self, delta: &Delta) {
        for change in delta.changes() {
            self.set(Key::new(change.entity, change.attr), change.new);
        }
        self.hash = delta.hash();
        let mut entities: Vec<EntityId> = delta.changes().map(|it| it.entity).collect();
        entities.dedup();
        self.own_bytes = match entities.len() {
            0 => 0,
            it => (it * LEAF_BYTES + BRANCH_BYTES) as u32,
        };
    }

    fn set(&mut self, key: Key, raw: Option<i64>) {
        let narrow = raw.and_then(|it| i32::try_from(it).ok());
        if let Some(value) = narrow {
            self.narrow.insert(key, value);
        } else {
            self.narrow.remove(&key);
        }
        match raw {
            Some(value) if narrow.is_none() => {
                Arc::make_mut(self.wide.get_or_insert_default()).insert(key, value);
            }
            _ => self.clear_wide(key),
        }
    }

    fn clear_wide(&mut self, key: Key) {
        let Some(wide) = self.wide.as_mut().filter(|it| it.contains_key(&key)) else { return };
        Arc::make_mut(wide).remove(&key);
        self.wide = self.wide.take().filter(|it| !it.is_empty());
    }

    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    pub fn get(&self, entity: EntityId, attr: AttrId) -> Option<Value> {
        self.get_raw(entity, attr).map(|raw| Value::of(&self.schema, attr, raw))
    }

    pub fn get_raw(&self, entity: EntityId, attr: AttrId) -> Option<i64> {
        let key = Key::new(entity, attr);
        let wide = || self.wide.as_ref()?.get(&key).copied();
        self.narrow.get(&key).map(|&it| i64::from(it)).or_else(wide)
    }

    /// The number of facts.
    fn len(&self) -> usize {
        self.narrow.len() + self.wide.as_ref().map_or(0, |it| it.len())
    }

    /// The session's hash at the time.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Every fact in canonical order.
    pub fn all_facts(&self) -> Vec<Fact> {
        self.iter_raw()
            .map(|(entity, attr, raw)| Fact {
                entity,
                attr,
                value: Value::of(&self.schema, attr, raw),
            })
            .collect()
    }

    /// Every fact in canonical order, in raw values.
    pub fn iter_raw(&self) -> impl Iterator<Item = (EntityId, AttrId, i64)> + '_ {
        let mut narrow = self.narrow.iter().map(|(&key, &raw)| (key, i64::from(raw))).peekable();
        let wide = self.wide.iter().flat_map(|it| it.iter());
        let mut wide = wide.map(|(&key, &raw)| (key, raw)).peekable();
        std::iter::from_fn(move || {
            let from_wide = match (narrow.peek(), wide.peek()) {
                (Some((a, _)), Some((b, _))) => b < a,
                (None, _) => true,
                (_, None) => false,
            };
            let (key, raw) = if from_wide { wide.next()? } else { narrow.next()? };
            let (entity, attr) = key.parts();
            Some((entity, attr, raw))
        })
    }

    /// Bytes that this snapshot does not share with the one before it. The map does not report them, so they are
    /// estimated; `rulemate bench` shows the estimates of a game beside the growth of the process.
    pub fn own_bytes(&self) -> usize {
        self.own_bytes as usize
    }
}

impl Session {
    /// The writes that would turn the facts into those of a snapshot of this session or of a clone
    /// of it.
    pub fn changes_to(&self, snapshot: &Snapshot) -> Vec<Change> {
        debug_assert!(Arc::ptr_eq(self.schema(), snapshot.schema()), "snapshot of another schema");
        let mut changes = Vec::new();
        for (entity, attr, raw) in self.iter_raw() {
            if snapshot.get_raw(entity, attr).is_none() {
                changes.push(Change { entity, attr, old: Some(raw), new: None });
            }
        }
        for (entity, attr, raw) in snapshot.iter_raw() {
            let old = self.get_raw(entity, attr);
            if old != Some(raw) {
                changes.push(Change { entity, attr, old, new: Some(raw) });
            }
        }
        changes
    }
}

/// Equal facts.
impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.all_facts() == other.all_facts()
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Snapshot({} facts, {:016x})", self.len(), self.hash)
    }
}
