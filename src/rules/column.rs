//! Columns of relations, actions and events, and their types.

use crate::facts::DomainId;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    Domain(DomainId),
    Int,
    /// A text constant. Only statics have such columns.
    Text,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The column's name in the declaration (`p` in `.decl attacks(p: Entity, t: Square)`). Where none is given, its
    /// type's name in lower case, with a number if another column has that name.
    pub name: String,
    pub ty: Type,
}
