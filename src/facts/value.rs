//! The typed form of a fact's value, as callers and saves see it.

use std::sync::Arc;

use super::schema::EntityId;

/// A value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    Int(i64),
    Bool(bool),
    Text(Arc<str>),
    Entity(EntityId),
    /// A member of the attribute's domain, by index.
    Member(u16),
}

impl Value {
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
