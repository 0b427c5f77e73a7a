//! A game as a file ([`Save`]), in two equivalent forms: JSON, and a compact binary.
//!
//! Each form is canonical: there is one way to write a save, so a file in any other was altered. Only lists of facts,
//! saves of version 1, may be written in any way. Deliberately absent: reading and writing files; checking proofs (that
//! is for audits).

#![warn(missing_docs)]

mod binary;
mod json;
mod make;
mod restore;
mod tree;

use std::collections::HashSet;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::error::LoadError;
use super::ruleset::StartError;
use crate::facts::json::JsonError;
use crate::facts::{Document, SaveError, SavedFact, SavedValue};
use crate::rules::Source;

pub use make::{Content, MakeError};
pub use restore::{Difference, Next, Restored, RulesFrom, Step};

/// The version of the format that is written. Version 1 was only a list of facts, version 2 had no changes of presets.
pub const VERSION: u32 = 3;
/// The last version without switches, which are changes of presets in the middle of a game.
const LAST_WITHOUT_SWITCHES: u32 = 2;

/// A rule file of the program that a game is played under.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleFile {
    /// Where it is found: `rules/chess/attack.dl`.
    pub path: String,
    /// The hash of its text, in hexadecimal.
    #[serde(deserialize_with = "hash::<_, 32>")]
    pub blake3: String,
    /// The text, where rules are embedded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<String>,
}

impl RuleFile {
    fn of(source: &Source, embed: bool) -> Self {
        let text = embed.then(|| source.text.to_string());
        Self { path: source.path.clone(), blake3: source.hash(), text }
    }
}

/// One action that was played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedMove {
    /// Its text in UCI.
    pub uci: String,
    /// Its text in SAN.
    pub san: String,
    /// The name of the side that took it: `white`.
    pub side: String,
    /// The row of the action, `move(#21, e4)`.
    pub action: String,
    /// Whether the same side goes on with its turn.
    pub goes_on: bool,
    /// The hash of all facts after it.
    #[serde(deserialize_with = "hash::<_, 8>")]
    pub facts: String,
    /// The key of the position after it, for repetitions.
    #[serde(deserialize_with = "hash::<_, 8>")]
    pub position: String,
    /// Why it was legal, as the checker of proofs reads it: a proof; a list of proofs, if unlisted arguments have other
    /// values than their defaults (that of the action's row, then one for each such argument); or `{"tried": ...}` for
    /// what was decided by playing it out.
    pub proof: Value,
}

/// A change of presets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedSwitch {
    /// Number of moves before it.
    pub after: u32,
    /// All activations after it, in full.
    pub presets: Vec<String>,
    /// The hash of all facts after it.
    #[serde(deserialize_with = "hash::<_, 8>")]
    pub facts: String,
}

/// Reads a hash of `N` bytes in hexadecimal, with small letters: the binary form has no place for anything else.
fn hash<'de, D: Deserializer<'de>, const N: usize>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    match binary::unhex::<N>(&text) {
        Some(_) => Ok(text),
        None => {
            Err(D::Error::custom(format!("{text:?} is not {N} bytes in lower-case hexadecimal")))
        }
    }
}

/// How a game ended, if not by its position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The side that resigned.
    Resigned(String),
    /// The reason for which a draw was claimed.
    Claimed(String),
    /// The side that ran out of time.
    Flagged(String),
}

/// A game as a file: its start, its moves, its current facts, and the rules that it was played under.
///
/// It lists facts in canonical order, the activations at the start and each change of them, the hash of each rule file,
/// and each move with its proof and the hash of the facts after it. There are two equivalent forms, JSON and a compact
/// binary ([`Form`]). In each there is one way to write a save: a file that differs from it was altered ([`Doubt`]).
/// [`Save::restore`] plays the game again and compares; it does not check the proofs, which `rulemate audit` does.
#[derive(Debug, Clone, PartialEq)]
pub struct Save {
    /// The version of the file that was read.
    pub version: u32,
    /// The game's name; for a save of version 1, the one that the reader was given.
    pub game: String,
    /// The activations of the rules at the start, in full, the game's own first. Those that ended before the first move
    /// are among them. Version 1 has only the names of presets.
    pub presets: Vec<String>,
    /// The rule files at the start, then those that switches added.
    pub rules: Vec<RuleFile>,
    /// The names of all attributes of these rules; of version 1, those of the facts.
    pub attributes: Vec<String>,
    /// The first position as FEN, if that is complete.
    pub fen: Option<String>,
    /// The facts of the first position.
    pub start: Vec<SavedFact>,
    /// All actions that were played.
    pub moves: Vec<SavedMove>,
    /// The changes of presets, in order.
    pub switches: Vec<SavedSwitch>,
    /// How it ended, if not by its position.
    pub ended: Option<Ended>,
    /// The facts as they are now.
    pub facts: Vec<SavedFact>,
    /// The result in words, if there is one.
    pub result: Option<String>,
}

/// A sign that a save was modified after it was written, although it can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Doubt {
    #[error("the file was altered: {place} is not in the form that saves are written in")]
    Form { place: String },
    #[error("the file was altered: its checksum is not that of its content")]
    Checksum,
}

/// Why a save is refused. Nothing was loaded.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RestoreError {
    #[error("not a save of Rulemate: {reason}")]
    Alien { reason: String },
    #[error(transparent)]
    Syntax(#[from] JsonError),
    #[error("the file ends at byte {found}, but should end at byte {expected}")]
    Truncated { found: usize, expected: usize },
    #[error("byte {at}: {reason}")]
    Binary { at: usize, reason: String },
    #[error("the save has version {found}; this program reads versions 1 to {VERSION}")]
    Version { found: u32 },
    #[error(transparent)]
    Doubt(#[from] Doubt),
    #[error("rules have changed since the save was made: {}", files.join(", "))]
    Rules {
        files: Vec<String>,
        /// Whether the save has the texts of its rules.
        embedded: bool,
    },
    #[error(
        "the save is of a game with the preset {preset}, whose code belongs to another program: it is \
         not registered here"
    )]
    Code { preset: String },
    #[error("the save has no rule texts")]
    NotEmbedded,
    #[error("rule files of the save: {0}")]
    Embedded(String),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Facts(#[from] SaveError),
    #[error(transparent)]
    Differs(Box<Difference>),
}

/// The form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Text, one fact a line.
    Json,
    /// The same in fewer bytes.
    Binary,
}

impl Save {
    /// Reads a file of either form, with the doubt about it if there is one. A list of facts (version 1) is
    /// read as one of the given game.
    ///
    /// # Errors
    /// It is not a save, or truncated or malformed, or of a version that this program does not read.
    pub fn read(bytes: &[u8], game: &str) -> Result<(Self, Option<Doubt>), RestoreError> {
        if bytes.starts_with(binary::MAGIC) {
            return binary::read(bytes);
        }
        let text = std::str::from_utf8(bytes).map_err(|why| RestoreError::Alien {
            reason: format!(
                "it is not in the binary form, and byte {} is not text",
                why.valid_up_to()
            ),
        })?;
        if !text.trim_start().starts_with('{') {
            let reason = "line 1 begins neither like JSON nor like the binary form".into();
            return Err(RestoreError::Alien { reason });
        }
        json::read(text, game)
    }

    /// The file, in the current version.
    pub fn write(&self, form: Form) -> Vec<u8> {
        match form {
            Form::Json => json::write(self, VERSION).into_bytes(),
            Form::Binary => binary::write(self, VERSION),
        }
    }

    /// A save of version 1, which has only facts.
    fn of_facts(document: Document, game: &str) -> Self {
        let name = |it: &SavedValue| match it {
            SavedValue::Name(name) => Some(name.clone()),
            _ => None,
        };
        let presets = document.values_of("preset").filter_map(name).collect();
        let mut attributes: Vec<String> =
            document.facts.iter().map(|it| it.attribute.clone()).collect();
        attributes.sort();
        attributes.dedup();
        Self {
            version: 1,
            game: game.to_string(),
            presets,
            rules: Vec::new(),
            attributes,
            fen: None,
            start: document.facts.clone(),
            moves: Vec::new(),
            switches: Vec::new(),
            ended: None,
            facts: document.facts,
            result: None,
        }
    }

    /// From the current facts of this save to those of the other: what was added, and what was removed.
    pub fn difference(&self, other: &Self) -> (Vec<SavedFact>, Vec<SavedFact>) {
        let beyond = |of: &Self, known: &Self| {
            let known: HashSet<&SavedFact> = known.facts.iter().collect();
            of.facts.iter().filter(|it| !known.contains(it)).cloned().collect()
        };
        (beyond(other, self), beyond(self, other))
    }
}
