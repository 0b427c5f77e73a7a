//! The current facts of one game: one value per entity and attribute, in dense columns with a
//! journal.
//!
//! Every write is journaled, so [`Session::rollback`] restores any earlier [`Mark`] exactly, ids of
//! created entities and the hash included. Values are stored raw (`i64`: the integer, the member's
//! index, the entity's id). [`Value`] is their typed form for callers: `insert`
//! checks what it is given, `set_raw` trusts it.
//! Deliberately absent: derived facts, and the meaning of attributes.

use std::collections::BTreeMap;
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

/// A point in the journal to return to. It is valid until the next [`Session::commit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    at: u32,
    /// The number of commits before it; a mark of an earlier epoch is no longer valid.
    epoch: u32,
    hash: u64,
}

/// One fact, as lists of facts and saves have it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The entity that has the fact.
    pub entity: EntityId,
    /// The attribute.
    pub attr: AttrId,
    /// The attribute's value.
    pub value: Value,
}

/// Why a fact was refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum FactError {
    #[error("attribute {attr} takes {expected}, not {found}")]
    Type { attr: String, expected: String, found: String },
    #[error("{domain} has no member number {index}")]
    Member { domain: String, index: i64 },
    /// The least integer stands for a missing value in evaluators.
    #[error("attribute {attr} takes every integer of 64 bits but the least")]
    Range { attr: String },
    #[error("there is no entity {entity}: ids end before {cap}")]
    Entity { entity: u32, cap: u32 },
    #[error(
        "attribute {attr} has facts about members of {domain}, which has no member number {index}"
    )]
    Owner { attr: String, domain: String, index: u32 },
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
        let present = self.present.iter().enumerate().filter(|(_, it)| **it != 0);
        present.flat_map(|(at, &word)| bits(word).map(move |it| EntityId(at as u32 * 64 + it)))
    }

    fn heap_bytes(&self) -> usize {
        self.values.capacity() * size_of::<i64>() + self.present.capacity() * size_of::<u64>()
    }
}

/// The numbers of the bits that are set, lowest first.
fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lowest = (word != 0).then(|| word.trailing_zeros());
        word &= word.wrapping_sub(1);
        lowest
    })
}

/// Maximum capacity of the journal after a commit; a search needs more meanwhile.
const JOURNAL_KEPT: usize = 32;

/// The facts of one game, and the journal of what was written.
#[derive(Debug, Clone)]
pub struct Session {
    schema: Arc<Schema>,
    columns: Vec<Column>,
    journal: Vec<Change>,
    epoch: u32,
    hash: u64,
}

impl Session {
    /// A session without facts except the entity counter, which is one past [`GAME`]. Defaults
    /// are written by the code that sets a game up.
    pub fn new(schema: Arc<Schema>) -> Self {
        let columns = vec![Column::default(); schema.attributes().len()];
        let mut session = Self { schema, columns, journal: Vec::new(), epoch: 0, hash: 0 };
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
    /// The attribute cannot have facts about the entity ([`Session::check_owner`]) or cannot have the value
    /// ([`Session::to_raw`]). Nothing changes.
    pub fn insert(
        &mut self,
        entity: EntityId,
        attr: AttrId,
        value: Value,
    ) -> Result<Option<Value>, FactError> {
        self.check_owner(entity, attr)?;
        let raw = self.to_raw(attr, &value)?;
        Ok(self.set_raw(entity, attr, Some(raw)).map(|old| Value::of(&self.schema, attr, old)))
    }

    /// Retracts a fact and returns its value, if there was one.
    pub fn retract(&mut self, entity: EntityId, attr: AttrId) -> Option<Value> {
        let old = self.set_raw(entity, attr, None)?;
        Some(Value::of(&self.schema, attr, old))
    }

    pub fn get(&self, entity: EntityId, attr: AttrId) -> Option<Value> {
        self.get_raw(entity, attr).map(|raw| Value::of(&self.schema, attr, raw))
    }

    pub fn contains(&self, entity: EntityId, attr: AttrId) -> bool {
        self.get_raw(entity, attr).is_some()
    }

    /// Every fact in canonical order: by entity or member, then by attribute.
    pub fn all_facts(&self) -> Vec<Fact> {
        let last = self.columns.iter().map(|it| it.values.len()).max().unwrap_or(0) as u32;
        let mut facts = Vec::new();
        for entity in (0..last).map(EntityId) {
            for attr in self.schema.attribute_ids() {
                if let Some(value) = self.get(entity, attr) {
                    facts.push(Fact { entity, attr, value });
                }
            }
        }
        facts
    }

    /// Moves the counter past the id of a new entity, one of [`Session::ids`], if it is not past it yet.
    pub fn advance_counter_past(&mut self, id: EntityId) {
        let next = i64::from(id.0) + 1;
        if self.get_raw(GAME, NEXT_ENTITY).is_none_or(|it| it < next) {
            self.set_raw(GAME, NEXT_ENTITY, Some(next));
        }
    }

    /// Retracts every fact of an entity. Its id is free once no other fact points to it.
    pub fn remove(&mut self, entity: EntityId) {
        for attr in self.schema.attribute_ids().filter(|it| *it != NEXT_ENTITY) {
            if !self.schema.is_of_members(attr) {
                self.set_raw(entity, attr, None);
            }
        }
    }

    /// Retracts every fact of some attributes.
    pub fn clear(&mut self, attrs: &[AttrId]) {
        for &attr in attrs {
            let owners = self.columns[usize::from(attr.0)].values.len() as u32;
            for owner in (0..owners).map(EntityId) {
                self.set_raw(owner, attr, None);
            }
        }
    }

    /// The entities that have the attribute, lowest id first.
    pub fn entities_with(&self, attr: AttrId) -> impl Iterator<Item = EntityId> + '_ {
        self.columns[usize::from(attr.0)].entities()
    }

    /// A bit for each entity, by id, which is set if it has the attribute. Words at the end may be missing.
    pub(super) fn present(&self, attr: AttrId) -> &[u64] {
        &self.columns[usize::from(attr.0)].present
    }

    #[inline]
    pub fn get_raw(&self, entity: EntityId, attr: AttrId) -> Option<i64> {
        self.columns[usize::from(attr.0)].get(entity)
    }

    /// Writes a raw value that the caller knows to be of the attribute's type; `None` retracts.
    /// Returns the old value. A write of the value that is already there is not journaled.
    #[inline]
    pub fn set_raw(&mut self, entity: EntityId, attr: AttrId, new: Option<i64>) -> Option<i64> {
        let column = &mut self.columns[usize::from(attr.0)];
        let old = column.get(entity);
        if old != new {
            column.set(entity, new);
            self.journal.push(Change { entity, attr, old, new });
            let hash = |raw: Option<i64>| raw.map_or(0, |it| fact_hash(entity, attr, it));
            self.hash ^= hash(old) ^ hash(new);
        }
        old
    }

    /// The current point of the journal.
    pub fn mark(&self) -> Mark {
        Mark { at: self.journal.len() as u32, epoch: self.epoch, hash: self.hash }
    }

    /// The writes since a mark, oldest first.
    pub fn changes_since(&self, mark: Mark) -> &[Change] {
        debug_assert_eq!(mark.epoch, self.epoch, "the mark ended with a commit");
        self.journal.get(mark.at as usize..).unwrap_or_default()
    }

    /// The facts of an attribute as they were at a mark, lowest entity first.
    pub fn raw_at(&self, mark: Mark, attr: AttrId) -> BTreeMap<EntityId, i64> {
        let now = self.entities_with(attr);
        let mut then: BTreeMap<EntityId, i64> =
            now.filter_map(|it| Some((it, self.get_raw(it, attr)?))).collect();
        for change in self.changes_since(mark).iter().rev().filter(|it| it.attr == attr) {
            match change.old {
                Some(old) => then.insert(change.entity, old),
                None => then.remove(&change.entity),
            };
        }
        then
    }

    /// Takes back every write after the mark.
    pub fn rollback(&mut self, mark: Mark) {
        debug_assert_eq!(mark.epoch, self.epoch, "the mark ended with a commit");
        while self.journal.len() > mark.at as usize {
            let Some(change) = self.journal.pop() else { break };
            self.columns[usize::from(change.attr.0)].set(change.entity, change.old);
        }
        self.hash = mark.hash;
    }

    /// Makes all writes final: earlier marks are no longer valid.
    pub fn commit(&mut self) {
        self.journal.clear();
        self.journal.shrink_to(JOURNAL_KEPT);
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// A 64-bit hash of all facts, kept up to date by every write: equal facts under one schema have equal
    /// hashes, independent of the history.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Bytes held by this session, the shared schema excluded.
    pub fn heap_bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(Column::heap_bytes).sum();
        columns
            + self.columns.capacity() * size_of::<Column>()
            + self.journal.capacity() * size_of::<Change>()
    }

    /// Every fact in raw values, attribute by attribute.
    pub fn iter_raw(&self) -> impl Iterator<Item = (EntityId, AttrId, i64)> + '_ {
        self.columns.iter().enumerate().flat_map(|(at, column)| {
            let fact = move |entity| Some((entity, AttrId(at as u16), column.get(entity)?));
            column.entities().filter_map(fact)
        })
    }

    /// Checks that facts may be about the entity.
    ///
    /// # Errors
    /// The id is not below the schema's cap.
    pub fn check_entity(&self, entity: EntityId) -> Result<(), FactError> {
        let cap = self.schema.entity_cap();
        if entity.0 < cap { Ok(()) } else { Err(FactError::Entity { entity: entity.0, cap }) }
    }

    /// Checks that an attribute may have a fact about the entity, or about the member of that number.
    ///
    /// # Errors
    /// The id is not below the schema's cap, or there is no such member.
    pub fn check_owner(&self, entity: EntityId, attr: AttrId) -> Result<(), FactError> {
        match self.schema.owners(attr) {
            None => self.check_entity(entity),
            Some(domain) if (entity.0 as usize) < domain.size() => Ok(()),
            Some(domain) => Err(FactError::Owner {
                attr: self.schema.attribute(attr).name.clone(),
                domain: domain.name.clone(),
                index: entity.0,
            }),
        }
    }

    /// The raw form of a value for an attribute.
    ///
    /// # Errors
    /// The value has another type, or is the least integer, or is not a member of the attribute's domain, or not
    /// an entity that facts may be about.
    pub fn to_raw(&self, attr: AttrId, value: &Value) -> Result<i64, FactError> {
        let schema = &self.schema;
        let declared = schema.attribute(attr);
        match (declared.ty, value) {
            (AttrType::Int, Value::Int(i64::MIN)) => {
                Err(FactError::Range { attr: declared.name.clone() })
            }
            (AttrType::Int, Value::Int(it)) => Ok(*it),
            (ty, Value::Entity(it)) if schema.is_entity(ty) => {
                self.check_entity(*it)?;
                Ok(i64::from(it.0))
            }
            (AttrType::Member(BOOL), Value::Bool(it)) => Ok(i64::from(*it)),
            (AttrType::Member(domain), Value::Member(index)) => {
                let domain = schema.domain(domain);
                if usize::from(*index) < domain.size() {
                    Ok(i64::from(*index))
                } else {
                    let index = i64::from(*index);
                    Err(FactError::Member { domain: domain.name.clone(), index })
                }
            }
            (ty, other) => Err(FactError::Type {
                attr: declared.name.clone(),
                expected: type_name(schema, ty),
                found: other.type_name().into(),
            }),
        }
    }
}

/// The name of a type for error messages.
pub(super) fn type_name(schema: &Schema, ty: AttrType) -> String {
    match ty {
        AttrType::Int => "an integer".into(),
        AttrType::Member(BOOL) => "true or false".into(),
        AttrType::Member(domain) if !schema.is_entity(ty) => {
            format!("a member of {}", schema.domain(domain).name)
        }
        _ => "an entity".into(),
    }
}

/// Mixes one fact into 64 well-spread bits: its place (entity and attribute) and its value, both spread, are multiplied
/// to 128 bits, and the halves of these are combined by exclusive or (the step of wyhash).
#[inline]
fn fact_hash(entity: EntityId, attr: AttrId, value: i64) -> u64 {
    let place = (u64::from(entity.0) << 16 | u64::from(attr.0)).wrapping_add(1);
    let one = place.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let two = (value as u64).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ 0x94D0_49BB_1331_11EB;
    let product = u128::from(one ^ 0xA076_1D64_78BD_642F) * u128::from(two ^ one.rotate_left(32));
    (product >> 64) as u64 ^ product as u64
}
