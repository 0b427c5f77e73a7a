//! The current facts of one game: one value per entity and attribute, in dense columns with a
//! journal.
//!
//! Every write is journaled, so [`Session::rollback`] restores any earlier [`Mark`] exactly, ids of
//! created entities and the hash included. Values are stored raw (`i64`: the integer, the member's
//! index, the entity's id, the text's number); [`Value`] is the typed form at the border.
//! Deliberately absent: derived facts, and any idea of what an attribute means.

use std::sync::Arc;

use super::schema::{AttrId, AttrType, BOOL, EntityId, GAME, NEXT_ENTITY, Schema};
use super::value::Value;

/// One journaled write, in raw values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    pub entity: EntityId,
    pub attr: AttrId,
    pub old: Option<i64>,
    pub new: Option<i64>,
}

/// A point in the journal to return to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(usize);

/// One fact, as lists of facts and saves have it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    pub entity: EntityId,
    pub attr: AttrId,
    pub value: Value,
}

/// Why a fact was refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FactError {
    #[error("attribute {attr} takes {expected}, not {found}")]
    Type {
        attr: String,
        expected: String,
        found: String,
    },
    #[error("{domain} has no member number {index}")]
    Member { domain: String, index: i64 },
}

#[derive(Debug, Clone, Default)]
struct Column {
    present: Vec<u64>,
    values: Vec<i64>,
}

impl Column {
    #[inline]
    fn get(&self, entity: EntityId) -> Option<i64> {
        let at = entity.0 as usize;
        let word = self.present.get(at / 64)?;
        (word >> (at % 64) & 1 == 1).then(|| self.values[at])
    }

    #[inline]
    fn set(&mut self, entity: EntityId, value: Option<i64>) {
        let at = entity.0 as usize;
        match value {
            Some(value) => {
                if at >= self.values.len() {
                    self.values.resize(at + 1, 0);
                    self.present.resize(at / 64 + 1, 0);
                }
                self.values[at] = value;
                self.present[at / 64] |= 1 << (at % 64);
            }
            None => {
                if let Some(word) = self.present.get_mut(at / 64) {
                    *word &= !(1 << (at % 64));
                }
            }
        }
    }

    fn entities(&self) -> impl Iterator<Item = EntityId> + '_ {
        (0..self.values.len() as u32)
            .map(EntityId)
            .filter(|&it| self.get(it).is_some())
    }
}

/// The facts of one game. See the module's head.
#[derive(Debug, Clone)]
pub struct Session {
    schema: Arc<Schema>,
    columns: Vec<Column>,
    texts: Vec<Arc<str>>,
    journal: Vec<Change>,
    hash: u64,
}

impl Session {
    /// A session with no facts but the entity counter (one past [`GAME`]) and the defaults of
    /// nothing: defaults are given by [`Session::create`] and by whoever sets a game up.
    pub fn new(schema: Arc<Schema>) -> Self {
        let columns = vec![Column::default(); schema.attributes().len()];
        let mut session = Self {
            schema,
            columns,
            texts: Vec::new(),
            journal: Vec::new(),
            hash: 0,
        };
        session.set_raw(GAME, NEXT_ENTITY, Some(1));
        session.commit();
        session
    }

    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Inserts or replaces the one value of an entity's attribute and returns the old one.
    ///
    /// # Errors
    /// A value of the wrong type or outside its domain is refused and nothing changes.
    pub fn insert(
        &mut self,
        entity: EntityId,
        attr: AttrId,
        value: Value,
    ) -> Result<Option<Value>, FactError> {
        let raw = self.to_raw(attr, &value)?;
        Ok(self
            .set_raw(entity, attr, Some(raw))
            .map(|old| self.to_value(attr, old)))
    }

    /// Takes a fact back and returns its value, if there was one.
    pub fn retract(&mut self, entity: EntityId, attr: AttrId) -> Option<Value> {
        let old = self.set_raw(entity, attr, None)?;
        Some(self.to_value(attr, old))
    }

    pub fn get(&self, entity: EntityId, attr: AttrId) -> Option<Value> {
        self.get_raw(entity, attr)
            .map(|raw| self.to_value(attr, raw))
    }

    pub fn contains(&self, entity: EntityId, attr: AttrId) -> bool {
        self.get_raw(entity, attr).is_some()
    }

    /// Every fact in canonical order: by entity, then by attribute.
    pub fn all_facts(&self) -> Vec<Fact> {
        let last = self
            .columns
            .iter()
            .map(|it| it.values.len())
            .max()
            .unwrap_or(0) as u32;
        let mut facts = Vec::new();
        for entity in (0..last).map(EntityId) {
            for attr in (0..self.columns.len() as u16).map(AttrId) {
                if let Some(value) = self.get(entity, attr) {
                    facts.push(Fact {
                        entity,
                        attr,
                        value,
                    });
                }
            }
        }
        facts
    }

    /// Creates an entity. Its id is the counter's value; undo gives it back.
    pub fn create(&mut self) -> EntityId {
        let id = self.get_raw(GAME, NEXT_ENTITY).unwrap_or(1);
        self.set_raw(GAME, NEXT_ENTITY, Some(id + 1));
        EntityId(id as u32)
    }

    /// Retracts every fact of an entity.
    pub fn remove(&mut self, entity: EntityId) {
        for attr in (0..self.columns.len() as u16).map(AttrId) {
            self.set_raw(entity, attr, None);
        }
    }

    /// The entities that have the attribute, lowest id first.
    pub fn entities_with(&self, attr: AttrId) -> impl Iterator<Item = EntityId> + '_ {
        self.columns[usize::from(attr.0)].entities()
    }

    #[inline]
    pub fn get_raw(&self, entity: EntityId, attr: AttrId) -> Option<i64> {
        self.columns[usize::from(attr.0)].get(entity)
    }

    /// Writes a raw value that the caller knows to be of the attribute's type; `None` retracts.
    /// Returns the old value. A write of the value that is already there is not journaled.
    #[inline]
    pub fn set_raw(&mut self, entity: EntityId, attr: AttrId, new: Option<i64>) -> Option<i64> {
        let old = self.columns[usize::from(attr.0)].get(entity);
        if old != new {
            self.journal.push(Change {
                entity,
                attr,
                old,
                new,
            });
            self.write(entity, attr, old, new);
        }
        old
    }

    #[inline]
    fn write(&mut self, entity: EntityId, attr: AttrId, old: Option<i64>, new: Option<i64>) {
        if let Some(old) = old {
            self.hash ^= fact_hash(entity, attr, old);
        }
        if let Some(new) = new {
            self.hash ^= fact_hash(entity, attr, new);
        }
        self.columns[usize::from(attr.0)].set(entity, new);
    }

    /// The current point of the journal.
    pub fn mark(&self) -> Mark {
        Mark(self.journal.len())
    }

    /// The writes since a mark, oldest first.
    pub fn changes_since(&self, mark: Mark) -> &[Change] {
        &self.journal[mark.0..]
    }

    /// Takes back the newest write after the mark and returns it; `None` when the mark is reached.
    #[inline]
    pub fn undo_one(&mut self, mark: Mark) -> Option<Change> {
        if self.journal.len() <= mark.0 {
            return None;
        }
        let change = self.journal.pop()?;
        self.write(change.entity, change.attr, change.new, change.old);
        Some(change)
    }

    /// Takes back every write after the mark.
    pub fn rollback(&mut self, mark: Mark) {
        while self.undo_one(mark).is_some() {}
    }

    /// Makes all writes final: earlier marks are no longer valid.
    pub fn commit(&mut self) {
        self.journal.clear();
    }

    /// A 64-bit hash of all facts, kept up to date by every write; equal facts, equal hash.
    /// Texts count by their number in this session, so compare hashes within one session only.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Bytes held by this session, the shared schema excluded.
    pub fn heap_bytes(&self) -> usize {
        let columns: usize = self
            .columns
            .iter()
            .map(|it| (it.values.capacity() + it.present.capacity()) * 8)
            .sum();
        columns
            + self.columns.capacity() * size_of::<Column>()
            + self.journal.capacity() * size_of::<Change>()
            + self.texts.iter().map(|it| it.len() + 32).sum::<usize>()
    }

    /// The raw form of a value for an attribute.
    ///
    /// # Errors
    /// The value is of another type, or no member of the attribute's domain.
    pub fn to_raw(&mut self, attr: AttrId, value: &Value) -> Result<i64, FactError> {
        let schema = Arc::clone(&self.schema);
        let declared = schema.attribute(attr);
        match (declared.ty, value) {
            (AttrType::Int, Value::Int(it)) => Ok(*it),
            (AttrType::Text, Value::Text(it)) => Ok(self.intern(it)),
            (AttrType::Entity, Value::Entity(it)) => Ok(i64::from(it.0)),
            (AttrType::Member(BOOL), Value::Bool(it)) => Ok(i64::from(*it)),
            (AttrType::Member(domain), Value::Member(index)) => {
                let domain = schema.domain(domain);
                if usize::from(*index) < domain.size() {
                    Ok(i64::from(*index))
                } else {
                    let index = i64::from(*index);
                    Err(FactError::Member {
                        domain: domain.name.clone(),
                        index,
                    })
                }
            }
            (ty, other) => Err(FactError::Type {
                attr: declared.name.clone(),
                expected: type_name(&schema, ty),
                found: other.type_name().into(),
            }),
        }
    }

    /// The typed form of a raw value of an attribute.
    pub fn to_value(&self, attr: AttrId, raw: i64) -> Value {
        match self.schema.attribute(attr).ty {
            AttrType::Int => Value::Int(raw),
            AttrType::Text => Value::Text(Arc::clone(&self.texts[raw as usize])),
            AttrType::Entity => Value::Entity(EntityId(raw as u32)),
            AttrType::Member(BOOL) => Value::Bool(raw != 0),
            AttrType::Member(_) => Value::Member(raw as u16),
        }
    }

    fn intern(&mut self, text: &Arc<str>) -> i64 {
        if let Some(known) = self.texts.iter().position(|it| it == text) {
            return known as i64;
        }
        self.texts.push(Arc::clone(text));
        (self.texts.len() - 1) as i64
    }
}

fn type_name(schema: &Schema, ty: AttrType) -> String {
    match ty {
        AttrType::Int => "an integer".into(),
        AttrType::Text => "a text".into(),
        AttrType::Entity => "an entity".into(),
        AttrType::Member(domain) => format!("a member of {}", schema.domain(domain).name),
    }
}

/// Mixes one fact into 64 well-spread bits (the finaliser of SplitMix64 over the three parts).
#[inline]
fn fact_hash(entity: EntityId, attr: AttrId, value: i64) -> u64 {
    let key = (u64::from(entity.0) << 40) ^ (u64::from(attr.0) << 24);
    let mut z = (value as u64)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(key)
        .wrapping_add(1);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
