//! Trees of JSON as a table in which equal parts are stored once.
//!
//! The proofs of a game repeat the same steps (the rook is on a1, a rook slides north), so the table is much
//! smaller than the text.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::facts::json::DEPTH;

/// Maximum size in memory of a part of a tree without its texts, in bytes.
const PART: usize = 64;

/// Why a packed tree cannot be unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnpackError {
    /// It refers to a part or text that the table does not have, or to a part that does not come before; or an object
    /// has more or fewer values than keys.
    Absent,
    /// A proof is nested too deep.
    Deep,
    /// It would take more memory than a file of this size may.
    Large,
}

/// The memory that unpacking may take. A short table can stand for a tree that is too large for memory, so
/// parts are counted before they are made.
#[derive(Debug)]
pub(super) struct MemoryBudget {
    left: usize,
}

impl MemoryBudget {
    /// Maximum number of bytes in memory for each byte of a file. The proofs of real games need some hundred.
    const RATE: usize = 1 << 10;
    /// Bytes that even the smallest file may take.
    const MIN: usize = 1 << 26;
    /// Bytes that even the largest file may take at most.
    const MAX: usize = 1 << 29;

    pub(super) fn of(file: usize) -> Self {
        Self { left: file.saturating_mul(Self::RATE).clamp(Self::MIN, Self::MAX) }
    }

    pub(super) fn take(&mut self, bytes: usize) -> Result<(), UnpackError> {
        self.left = self.left.checked_sub(bytes).ok_or(UnpackError::Large)?;
        Ok(())
    }

    /// A copy of a text of a table, if there is memory left for it.
    pub(super) fn text(&mut self, texts: &[String], number: u32) -> Result<String, UnpackError> {
        let text = texts.get(number as usize).ok_or(UnpackError::Absent)?;
        self.take(PART + text.len())?;
        Ok(text.clone())
    }
}

/// A part of a tree; texts and parts by number.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Int(i64),
    Text(u32),
    Array(Vec<u32>),
    /// The number of the shape (the keys), and the values.
    Object(u32, Vec<u32>),
}

/// Values numbered in the order in which they first occur.
#[derive(Debug)]
pub(super) struct Numbered<T> {
    pub(super) all: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { all: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbered<T> {
    pub(super) fn number(&mut self, it: T) -> u32 {
        let next = self.all.len() as u32;
        let number = *self.numbers.entry(it.clone()).or_insert(next);
        if number == next {
            self.all.push(it);
        }
        number
    }
}

/// A table that trees are added to.
#[derive(Debug, Default)]
pub(super) struct Forest {
    pub(super) nodes: Numbered<Node>,
    pub(super) shapes: Numbered<Vec<u32>>,
}

impl Forest {
    /// Adds a tree and returns its number.
    pub(super) fn add(&mut self, texts: &mut Numbered<String>, value: &Value) -> u32 {
        let node = match value {
            Value::Null => Node::Null,
            Value::Bool(it) => Node::Bool(*it),
            // Proofs have only integers.
            Value::Number(it) => Node::Int(it.as_i64().unwrap_or_default()),
            Value::String(it) => Node::Text(texts.number(it.clone())),
            Value::Array(all) => Node::Array(all.iter().map(|it| self.add(texts, it)).collect()),
            Value::Object(all) => {
                let keys = all.keys().map(|it| texts.number(it.clone())).collect();
                let shape = self.shapes.number(keys);
                Node::Object(shape, all.values().map(|it| self.add(texts, it)).collect())
            }
        };
        self.nodes.number(node)
    }
}

/// A table that trees are read from.
#[derive(Debug)]
pub(super) struct TreeReader<'t> {
    pub(super) texts: &'t [String],
    pub(super) nodes: &'t [Node],
    pub(super) shapes: &'t [Vec<u32>],
}

impl TreeReader<'_> {
    /// The tree of a number.
    ///
    /// # Errors
    /// The table has no such tree, or it is too deep or too large.
    pub(super) fn tree(
        &self,
        number: u32,
        allowed: &mut MemoryBudget,
    ) -> Result<Value, UnpackError> {
        self.part(number, DEPTH, allowed)
    }

    /// Unpacks a part that is nested at most `levels` deep.
    fn part(
        &self,
        number: u32,
        levels: usize,
        allowed: &mut MemoryBudget,
    ) -> Result<Value, UnpackError> {
        allowed.take(PART)?;
        let node = self.nodes.get(number as usize).ok_or(UnpackError::Absent)?;
        let mut inner = |it: &u32| match levels.checked_sub(1) {
            // Parts precede the nodes that contain them.
            Some(levels) if *it < number => self.part(*it, levels, allowed),
            Some(_) => Err(UnpackError::Absent),
            None => Err(UnpackError::Deep),
        };
        Ok(match node {
            Node::Null => Value::Null,
            Node::Bool(it) => Value::Bool(*it),
            Node::Int(it) => Value::from(*it),
            Node::Text(it) => Value::String(allowed.text(self.texts, *it)?),
            Node::Array(all) => Value::Array(all.iter().map(inner).collect::<Result<_, _>>()?),
            Node::Object(shape, all) => {
                let values = all.iter().map(&mut inner).collect::<Result<Vec<Value>, _>>()?;
                let keys = self.shapes.get(*shape as usize).ok_or(UnpackError::Absent)?;
                if keys.len() != values.len() {
                    return Err(UnpackError::Absent);
                }
                let mut object = Map::new();
                for (key, value) in keys.iter().zip(values) {
                    object.insert(allowed.text(self.texts, *key)?, value);
                }
                Value::Object(object)
            }
        })
    }
}
