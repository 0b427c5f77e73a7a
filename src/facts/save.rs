//! Facts as JSON: the canonical list with one fact per line, and reading it back.
//!
//! Such a list was the first version of saves, so it is called a save here; what later versions have beside facts is
//! for the layer that loads them, and so is which rule files a save needs. Attributes and members are written by name,
//! so facts survive a change of the order in which rule files declare these. Reading has two steps: a [`Document`] is
//! text with a known structure (its names can be examined before any schema exists), and [`Document::facts`] checks
//! it against a schema.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize as DeriveDeserialize, Serialize};

use super::json::JsonError;
use super::nearest::{meant, nearest};
use super::schema::{AttrId, AttrType, BOOL, Domain, EntityId, GAME, NEXT_ENTITY, Schema};
use super::session::{Fact, FactError, Session, type_name};
use super::value::Value;

/// The version of saves that are lists of facts.
const VERSION: u32 = 1;

/// A parsed save: names are not looked up yet.
#[derive(Debug, Clone, PartialEq, DeriveDeserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub version: u32,
    pub facts: Vec<SavedFact>,
}

/// One fact by the names that the rules give, as saves have it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, DeriveDeserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SavedFact {
    /// The owner of the fact.
    pub entity: SavedOwner,
    /// The name of the attribute: `position`.
    pub attribute: String,
    /// The attribute's value.
    pub value: SavedValue,
}

/// The owner of a fact, in JSON: the number of an entity, or the name of a member (`"white"`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum SavedOwner {
    /// An entity, by its number.
    Entity(u32),
    /// A member of a domain, by its name.
    Member(String),
}

/// A value in JSON: `3`, `true`, `"e4"` (a member of a domain), `{"entity": 3}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum SavedValue {
    /// A number.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A member of a domain.
    Name(String),
    /// Another entity.
    Entity {
        /// Its number.
        entity: u32,
    },
}

/// Why a save cannot be read. Facts are counted from 1, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SaveError {
    #[error("line {line}, column {column}: {message}")]
    Syntax { line: usize, column: usize, message: String },
    #[error("a list of facts has version {VERSION}, but this has version {found}")]
    Version { found: u32 },
    #[error("fact {index}: there is no attribute {name}{}", meant(.near))]
    Attribute { index: usize, name: String, near: Option<String> },
    #[error("fact {index}: {domain} has no member {name}{}", meant(.near))]
    Member { index: usize, domain: String, name: String, near: Option<String> },
    #[error(
        "fact {index}: {attr} has facts about members of {domain}: `entity` has to be the name of one, not a number"
    )]
    Owner { index: usize, attr: String, domain: String },
    #[error(
        "fact {index}: {attr} has facts about entities: `entity` has to be the number of one, not {name:?}"
    )]
    NoOwner { index: usize, attr: String, name: String },
    #[error("fact {index}: {source}")]
    Fact { index: usize, source: FactError },
    #[error("fact {index}: {owner} has two values of {attr}")]
    Twice { index: usize, owner: String, attr: String },
    #[error(
        "the entity counter is {found}: it must be above every entity with facts, the last of which is \
         {highest}, and {cap} at most"
    )]
    Counter { found: i64, highest: u32, cap: u32 },
    #[error("fact {index}: only entity 0 has the attribute next_entity")]
    StrayCounter { index: usize },
    #[error("the entity counter is missing: entity 0 needs the attribute next_entity")]
    NoCounter,
}

/// The facts of a session as JSON: canonical order, one fact per line, so equal facts give equal bytes.
pub fn to_json(session: &Session) -> String {
    let mut text = format!("{{\"version\":{VERSION},\"facts\":[");
    for (at, fact) in session.all_facts().iter().enumerate() {
        let line = serde_json::to_string(&saved(session.schema(), fact)).unwrap_or_default();
        let _ = write!(text, "{}\n{line}", if at == 0 { "" } else { "," });
    }
    text.push_str("\n]}\n");
    text
}

/// A fact as saves have it: by name.
pub fn saved(schema: &Schema, fact: &Fact) -> SavedFact {
    let attribute = schema.attribute(fact.attr);
    let value = match &fact.value {
        Value::Int(it) => SavedValue::Int(*it),
        Value::Bool(it) => SavedValue::Bool(*it),
        Value::Text(it) => SavedValue::Name(it.to_string()),
        Value::Entity(it) => SavedValue::Entity { entity: it.0 },
        Value::Member(it) => SavedValue::Name(match attribute.ty {
            AttrType::Member(domain) => schema.domain(domain).member_name(i64::from(*it)),
            _ => it.to_string(),
        }),
    };
    SavedFact {
        entity: owner(schema, fact.attr, fact.entity),
        attribute: attribute.name.clone(),
        value,
    }
}

/// The owner of a fact of an attribute, by name.
pub fn owner(schema: &Schema, attr: AttrId, entity: EntityId) -> SavedOwner {
    match schema.owners(attr) {
        Some(domain) => SavedOwner::Member(domain.member_name(i64::from(entity.0))),
        None => SavedOwner::Entity(entity.0),
    }
}

impl SavedOwner {
    /// The entity, or the number of the member; `None` if the attribute has no facts of such an owner.
    #[doc(hidden)]
    pub fn id(&self, schema: &Schema, attr: AttrId) -> Option<EntityId> {
        match (self, schema.owners(attr)) {
            (Self::Entity(it), None) => Some(EntityId(*it)),
            (Self::Member(it), Some(domain)) => {
                domain.member(it).and_then(|it| u32::try_from(it).ok()).map(EntityId)
            }
            (Self::Entity(_), Some(_)) | (Self::Member(_), None) => None,
        }
    }
}

impl SavedFact {
    /// The fact under a schema; `None` if the schema does not know a name in it, or the attribute has no facts of
    /// such an owner. Numbers, truth values and entities are not checked against the attribute's type.
    #[doc(hidden)]
    pub fn fact(&self, schema: &Schema) -> Option<Fact> {
        read_fact(schema, 1, self).ok()
    }
}

impl Document {
    /// A save of these facts.
    pub fn new(facts: Vec<SavedFact>) -> Self {
        Self { version: VERSION, facts }
    }

    /// Reads the structure of a save.
    ///
    /// # Errors
    /// The text is not JSON, or has another structure or version.
    pub fn parse(text: &str) -> Result<Self, SaveError> {
        /// Read first, so that a save of another version is refused for its version.
        #[derive(DeriveDeserialize)]
        struct Head {
            version: u32,
        }
        let head: Head = serde_json::from_str(text).map_err(syntax)?;
        if head.version != VERSION {
            return Err(SaveError::Version { found: head.version });
        }
        serde_json::from_str(text).map_err(syntax)
    }

    /// The values of an attribute in all facts, as written: they tell a loader which rules the save needs.
    pub fn values_of<'a>(&'a self, attribute: &'a str) -> impl Iterator<Item = &'a SavedValue> {
        self.facts.iter().filter(move |it| it.attribute == attribute).map(|it| &it.value)
    }

    /// The facts under a schema, in the order of the text.
    ///
    /// # Errors
    /// The first fact that the schema does not allow, or that gives an attribute a second value; or else the entity
    /// counter, if it is missing or out of range.
    pub fn facts(&self, schema: &Arc<Schema>) -> Result<Vec<Fact>, SaveError> {
        self.read(schema).map(|it| it.0)
    }

    /// A session with these facts.
    ///
    /// # Errors
    /// As [`Document::facts`].
    pub fn session(&self, schema: &Arc<Schema>) -> Result<Session, SaveError> {
        self.read(schema).map(|it| it.1)
    }

    fn read(&self, schema: &Arc<Schema>) -> Result<(Vec<Fact>, Session), SaveError> {
        let mut seen = HashSet::new();
        let mut session = Session::new(Arc::clone(schema));
        let mut facts = Vec::with_capacity(self.facts.len());
        for (at, saved) in self.facts.iter().enumerate() {
            let fact = read_fact(schema, at + 1, saved)?;
            if !seen.insert((fact.entity, fact.attr)) {
                let owner = match &saved.entity {
                    SavedOwner::Entity(it) => format!("entity {it}"),
                    SavedOwner::Member(name) => name.clone(),
                };
                let attr = saved.attribute.clone();
                return Err(SaveError::Twice { index: at + 1, owner, attr });
            }
            session
                .insert(fact.entity, fact.attr, fact.value.clone())
                .map_err(|source| SaveError::Fact { index: at + 1, source })?;
            facts.push(fact);
        }
        check_counter(schema, &facts)?;
        session.commit();
        Ok((facts, session))
    }
}

fn syntax(error: serde_json::Error) -> SaveError {
    let JsonError { line, column, message } = error.into();
    SaveError::Syntax { line, column, message }
}

fn read_fact(schema: &Schema, index: usize, saved: &SavedFact) -> Result<Fact, SaveError> {
    let Some(attr) = schema.attribute_named(&saved.attribute) else {
        let name = saved.attribute.clone();
        let names = schema.attributes().iter().map(|it| it.name.as_str());
        // Hidden attributes have names, too, but no save can use them.
        let near = nearest(&name, names.filter(|it| schema.attribute_named(it).is_some()));
        return Err(SaveError::Attribute { index, near: near.map(String::from), name });
    };
    let entity = entity_of(schema, index, attr, saved)?;
    if attr == NEXT_ENTITY && entity != GAME {
        return Err(SaveError::StrayCounter { index });
    }
    let value = match (&saved.value, schema.attribute(attr).ty) {
        (SavedValue::Int(it), _) => Value::Int(*it),
        (SavedValue::Bool(it), _) => Value::Bool(*it),
        (SavedValue::Entity { entity }, _) => Value::Entity(EntityId(*entity)),
        (SavedValue::Name(name), ty) => Value::Member(member(schema, index, attr, ty, name)?),
    };
    Ok(Fact { entity, attr, value })
}

/// The entity that a fact is about, or the number of the member.
fn entity_of(
    schema: &Schema,
    index: usize,
    attr: AttrId,
    saved: &SavedFact,
) -> Result<EntityId, SaveError> {
    let attr_name = saved.attribute.clone();
    match (&saved.entity, schema.owners(attr)) {
        (SavedOwner::Entity(it), None) => Ok(EntityId(*it)),
        (SavedOwner::Member(it), Some(domain)) => {
            saved.entity.id(schema, attr).ok_or_else(|| no_member(domain, index, it))
        }
        (SavedOwner::Member(it), None) => {
            Err(SaveError::NoOwner { index, attr: attr_name, name: it.clone() })
        }
        (SavedOwner::Entity(_), Some(domain)) => {
            Err(SaveError::Owner { index, attr: attr_name, domain: domain.name.clone() })
        }
    }
}

fn member(
    schema: &Schema,
    index: usize,
    attr: AttrId,
    ty: AttrType,
    name: &str,
) -> Result<u16, SaveError> {
    let domain = match ty {
        AttrType::Member(id) if id != BOOL && !schema.is_entity(ty) => schema.domain(id),
        _ => {
            let attr = schema.attribute(attr).name.clone();
            let (expected, found) = (type_name(schema, ty), format!("{name:?}"));
            return Err(SaveError::Fact {
                index,
                source: FactError::Type { attr, expected, found },
            });
        }
    };
    match domain.member(name) {
        Some(it) => Ok(it as u16),
        None => Err(no_member(domain, index, name)),
    }
}

fn no_member(domain: &Domain, index: usize, name: &str) -> SaveError {
    let names: Vec<String> = domain.member_names().collect();
    let near = nearest(name, names.iter().map(String::as_str)).map(String::from);
    SaveError::Member { index, domain: domain.name.clone(), name: name.into(), near }
}

fn check_counter(schema: &Schema, facts: &[Fact]) -> Result<(), SaveError> {
    let cap = schema.entity_cap();
    let of_entities = facts.iter().filter(|it| !schema.is_of_members(it.attr));
    let highest = of_entities.map(|it| it.entity.0).max().unwrap_or(0);
    let counter = facts.iter().find(|it| it.attr == NEXT_ENTITY && it.entity == GAME);
    match counter.map(|it| &it.value) {
        Some(&Value::Int(it)) if it > i64::from(highest) && it <= i64::from(cap) => Ok(()),
        Some(&Value::Int(found)) => Err(SaveError::Counter { found, highest, cap }),
        _ => Err(SaveError::NoCounter),
    }
}

/// `#5 position e4`, as differences of saves list it.
impl std::fmt::Display for SavedFact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ", self.entity, self.attribute)?;
        match &self.value {
            SavedValue::Int(it) => write!(f, "{it}"),
            SavedValue::Bool(it) => write!(f, "{it}"),
            SavedValue::Name(it) => f.write_str(it),
            SavedValue::Entity { entity } => write!(f, "#{entity}"),
        }
    }
}

/// `game`, `#5`, `white`.
impl std::fmt::Display for SavedOwner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Entity(0) => f.write_str("game"),
            Self::Entity(it) => write!(f, "#{it}"),
            Self::Member(name) => f.write_str(name),
        }
    }
}

impl<'de> Deserialize<'de> for SavedOwner {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OwnerVisitor)
    }
}

struct OwnerVisitor;

impl Visitor<'_> for OwnerVisitor {
    type Value = SavedOwner;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the number of an entity, or the name of a member")
    }

    fn visit_u64<E: serde::de::Error>(self, it: u64) -> Result<SavedOwner, E> {
        let beyond = |_| E::custom(format!("there is no entity {it}"));
        u32::try_from(it).map(SavedOwner::Entity).map_err(beyond)
    }

    fn visit_str<E>(self, it: &str) -> Result<SavedOwner, E> {
        Ok(SavedOwner::Member(it.into()))
    }
}

impl<'de> Deserialize<'de> for SavedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = SavedValue;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an integer, true or false, a name, or {\"entity\": number}")
    }

    fn visit_i64<E>(self, it: i64) -> Result<SavedValue, E> {
        Ok(SavedValue::Int(it))
    }

    fn visit_u64<E: serde::de::Error>(self, it: u64) -> Result<SavedValue, E> {
        i64::try_from(it).map(SavedValue::Int).map_err(|_| E::custom("the integer is too large"))
    }

    fn visit_bool<E>(self, it: bool) -> Result<SavedValue, E> {
        Ok(SavedValue::Bool(it))
    }

    fn visit_str<E>(self, it: &str) -> Result<SavedValue, E> {
        Ok(SavedValue::Name(it.into()))
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<SavedValue, M::Error> {
        let entry: Option<(String, u32)> = map.next_entry()?;
        match entry {
            Some((key, entity)) if key == "entity" && map.next_key::<String>()?.is_none() => {
                Ok(SavedValue::Entity { entity })
            }
            _ => Err(M::Error::custom("a reference has one field, entity")),
        }
    }
}
