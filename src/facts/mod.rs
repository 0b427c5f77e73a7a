//! Facts: what is true in one game, and the schema that declares what may be a fact.
//!
//! This layer must not know rules or chess. Everything above reads and writes facts through
//! [`Session`].

mod article;
mod chance;
mod delta;
mod ids;
pub mod json;
mod nearest;
mod printable;
mod save;
mod schema;
mod session;
mod snapshot;
mod value;

pub(crate) use article::{article, filled, push_word, with_plurals};
pub(crate) use chance::Chance;
pub use delta::Delta;
pub use ids::{Ids, NextIds};
pub(crate) use nearest::{Suggester, meant, nearest};
pub(crate) use printable::masked;
pub use printable::{escaped, is_printable, printable};
pub use save::{Document, SaveError, SavedFact, SavedOwner, SavedValue, owner, saved, to_json};
pub use schema::{
    AttrId, AttrType, Attribute, AttributeClash, BOOL, Domain, DomainId, EntityId, GAME,
    NEXT_ENTITY, Schema, Shape,
};
pub use session::{Change, Fact, FactError, Mark, Session};
pub use snapshot::Snapshot;
pub use value::Value;
