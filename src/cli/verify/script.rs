//! Requests to a game with the expected answers, as vector files have them.

use serde::Deserialize;
use serde_json::{Map, Value};

/// A position, and the questions about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Script {
    pub(super) name: String,
    pub(super) position: Position,
    pub(super) questions: Questions,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Questions {
    /// The expected state of the first position, then requests with the result and the state after each.
    Steps { initial: Option<Map<String, Value>>, steps: Vec<Step> },
    /// After some requests exactly these are legal.
    Legal { requests: Vec<Map<String, Value>>, legal: Vec<Map<String, Value>> },
    /// The number of sequences of one request, of two, and so on.
    Sequences(Vec<u64>),
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Position {
    pub(super) pieces: Vec<Piece>,
    pub(super) turn: String,
    pub(super) castling: String,
    pub(super) ep: String,
    /// All other keys, each with facts by side.
    #[serde(flatten)]
    pub(super) sides: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Piece {
    pub(super) sq: String,
    pub(super) color: String,
    #[serde(rename = "type")]
    pub(super) letter: String,
    /// All other keys.
    #[serde(flatten)]
    pub(super) facts: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Step {
    pub(super) request: Map<String, Value>,
    pub(super) result: String,
    pub(super) reason: Option<String>,
    #[serde(default)]
    pub(super) notes: Vec<String>,
    pub(super) after: Map<String, Value>,
    pub(super) legal_count: Option<usize>,
}
