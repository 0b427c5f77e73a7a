//! What is true: the facts of one game, and the schema that says what may be a fact.
//!
//! This layer must not know rules or chess. Everything above reads and writes facts through
//! [`Session`].

mod schema;
mod session;
mod value;

pub use schema::{
    AttrId, AttrType, Attribute, AttributeClash, BOOL, Domain, DomainId, EntityId, GAME,
    NEXT_ENTITY, Schema, Shape,
};
pub use session::{Change, Fact, FactError, Mark, Session};
pub use value::Value;
