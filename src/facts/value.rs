//! The typed form of a fact's value, as callers see it; saves have members by name.

#![warn(missing_docs)]

use std::sync::Arc;

use super::schema::{AttrId, AttrType, BOOL, EntityId, Schema};

/// A value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// A number.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// The name of a member, as an argument of an event. No attribute has such values.
    Text(Arc<str>),
    /// An entity.
    Entity(EntityId),
    /// A member of a domain, by index.
    Member(u16),
}

impl From<i64> for Value {
    fn from(it: i64) -> Self {
        Self::Int(it)
    }
}

impl From<bool> for Value {
    fn from(it: bool) -> Self {
        Self::Bool(it)
    }
}

impl From<EntityId> for Value {
    fn from(it: EntityId) -> Self {
        Self::Entity(it)
    }
}

/// The name of a member, as an argument of an event. A fact takes the name of a member only by `Moment::set_word`.
impl From<&str> for Value {
    fn from(it: &str) -> Self {
        Self::Text(it.into())
    }
}

impl Value {
    /// The typed form of a raw value of an attribute.
    pub fn of(schema: &Schema, attr: AttrId, raw: i64) -> Self {
        match schema.attribute(attr).ty {
            AttrType::Int => Self::Int(raw),
            AttrType::Member(BOOL) => Self::Bool(raw != 0),
            ty if schema.is_entity(ty) => Self::Entity(EntityId(raw as u32)),
            _ => Self::Member(raw as u16),
        }
    }

    /// The value of an attribute in words, a member by its name.
    pub fn words(&self, schema: &Schema, attr: AttrId) -> String {
        match (self, schema.attribute(attr).ty) {
            (Self::Member(it), AttrType::Member(id)) => {
                schema.domain(id).member_name(i64::from(*it))
            }
            (Self::Member(it), _) => it.to_string(),
            (Self::Int(it), _) => it.to_string(),
            (Self::Bool(it), _) => it.to_string(),
            (Self::Text(it), _) => it.to_string(),
            (Self::Entity(it), _) => format!("#{}", it.0),
        }
    }

    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Int(_) => "an integer",
            Self::Bool(_) => "a truth value",
            Self::Text(_) => "a text",
            Self::Entity(_) => "an entity",
            Self::Member(_) => "a member of a domain",
        }
    }
}
