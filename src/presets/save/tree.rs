//! Trees of JSON as a table: whatever stands in several places is there once.
//!
//! The proofs of a game say the same things again and again (the rook is on a1, a rook slides
//! north), so a table is a small part of the text.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// More parts than this are not read: a table can stand for a tree that fits no memory.
const MAX_PARTS: usize = 1 << 22;

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

/// Things that are numbered in the order in which they first occur.
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
            // Proofs have whole numbers only.
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
pub(super) struct Reader<'t> {
    pub(super) texts: &'t [String],
    pub(super) nodes: &'t [Node],
    pub(super) shapes: &'t [Vec<u32>],
    parts: usize,
}

impl<'t> Reader<'t> {
    pub(super) fn new(texts: &'t [String], nodes: &'t [Node], shapes: &'t [Vec<u32>]) -> Self {
        Self { texts, nodes, shapes, parts: 0 }
    }

    /// The tree of a number; `None` if the table has no such tree, or it is too large.
    pub(super) fn tree(&mut self, number: u32) -> Option<Value> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return None;
        }
        // A part comes before what it is a part of, so this ends.
        let node = self.nodes.get(number as usize)?;
        let mut part = |it: &u32| if *it < number { self.tree(*it) } else { None };
        Some(match node {
            Node::Null => Value::Null,
            Node::Bool(it) => Value::Bool(*it),
            Node::Int(it) => Value::from(*it),
            Node::Text(it) => Value::String(self.texts.get(*it as usize)?.clone()),
            Node::Array(all) => Value::Array(all.iter().map(part).collect::<Option<_>>()?),
            Node::Object(shape, all) => {
                let values: Vec<Value> = all.iter().map(&mut part).collect::<Option<_>>()?;
                let keys = self.shapes.get(*shape as usize)?;
                if keys.len() != values.len() {
                    return None;
                }
                let mut object = Map::new();
                for (key, value) in keys.iter().zip(values) {
                    object.insert(self.texts.get(*key as usize)?.clone(), value);
                }
                Value::Object(object)
            }
        })
    }
}
