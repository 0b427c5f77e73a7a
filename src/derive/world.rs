//! A session of facts together with everything that follows from them.
//!
//! All layers above read derived rows and write facts through [`World`]. It keeps the evaluator in
//! step with the facts: whatever is written, rolled back or committed, the rows read next are those
//! of the facts as they are now. Which evaluator answers is a matter of [`Backend`]; both must give
//! the same rows.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::facts::{AttrId, EntityId, FactError, Mark, Session, Value};
use crate::rules::{ActionId, Program, RelId};

/// One row of a relation, in raw values.
pub type Tuple = SmallVec<[i64; 4]>;
