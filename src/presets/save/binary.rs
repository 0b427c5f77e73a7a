//! Saves as bytes: a head with length and hash, then the content as postcard writes it, every text
//! and every part of a proof once.

use std::fmt;
use std::marker::PhantomData;

use data_encoding::HEXLOWER;
use serde::de::{DeserializeOwned, Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::tree::{Forest, MemoryBudget, Node, Numbered, TreeReader, UnpackError};
use super::{
    Doubt, Ended, LAST_WITHOUT_SWITCHES, RestoreError, RuleFile, Save, SavedMove, SavedSwitch,
    VERSION,
};
use crate::facts::{SavedFact, SavedOwner, SavedValue};

pub(super) const MAGIC: &[u8] = b"RULEMATE";
/// Magic, version, length of the content, hash of the content.
const HEAD: usize = MAGIC.len() + 4 + 4 + 32;

/// Maximum number of elements of a list. A list begins with its length, and one byte of the file can become
/// an element of some forty bytes in memory.
const LONGEST: usize = 1 << 20;

/// Reads a list that is not too long.
fn list<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Vec<T>, D::Error> {
    struct List<T>(PhantomData<T>);
    impl<'de, T: DeserializeOwned> Visitor<'de> for List<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a list of at most {LONGEST}")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Vec<T>, A::Error> {
            if from.size_hint().is_some_and(|it| it > LONGEST) {
                return Err(A::Error::custom("a list is too long"));
            }
            // Grows with the actual elements, not with the stated length.
            let mut all = Vec::new();
            while let Some(it) = from.next_element()? {
                all.push(it);
            }
            Ok(all)
        }
    }
    from.deserialize_seq(List(PhantomData))
}

#[derive(Serialize, Deserialize)]
enum Packed {
    Int(i64),
    Bool(bool),
    Name(u32),
    Entity(u32),
}

/// If this bit of a fact's `entity` is set, the others are the number of a text: the name of the member that the fact
/// is about.
const NAMED: u32 = 1 << 31;

#[derive(Serialize, Deserialize)]
struct Fact {
    entity: u32,
    attribute: u32,
    value: Packed,
}

#[derive(Serialize, Deserialize)]
struct Rule {
    path: u32,
    blake3: [u8; 32],
    text: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Move {
    uci: u32,
    san: u32,
    side: u32,
    action: u32,
    goes_on: bool,
    facts: [u8; 8],
    position: [u8; 8],
    proof: u32,
}

#[derive(Serialize, Deserialize)]
struct Switch {
    after: u32,
    #[serde(deserialize_with = "list")]
    presets: Vec<u32>,
    facts: [u8; 8],
}

#[derive(Serialize, Deserialize)]
struct Content {
    #[serde(deserialize_with = "list")]
    texts: Vec<String>,
    #[serde(deserialize_with = "list")]
    shapes: Vec<Vec<u32>>,
    #[serde(deserialize_with = "list")]
    nodes: Vec<Node>,
    game: u32,
    #[serde(deserialize_with = "list")]
    presets: Vec<u32>,
    #[serde(deserialize_with = "list")]
    rules: Vec<Rule>,
    #[serde(deserialize_with = "list")]
    attributes: Vec<u32>,
    fen: Option<u32>,
    #[serde(deserialize_with = "list")]
    start: Vec<Fact>,
    #[serde(deserialize_with = "list")]
    moves: Vec<Move>,
    ended: Option<Ended>,
    #[serde(deserialize_with = "list")]
    facts: Vec<Fact>,
    result: Option<u32>,
}

/// A save in a version of the format: each version appends its new parts.
pub(super) fn write(save: &Save, version: u32) -> Vec<u8> {
    let packed = pack(save);
    // Plain data can always be serialised.
    let content = match version > LAST_WITHOUT_SWITCHES {
        true => postcard::to_stdvec(&packed),
        false => postcard::to_stdvec(&packed.0),
    };
    let content = content.unwrap_or_default();
    let mut bytes = MAGIC.to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend((content.len() as u32).to_le_bytes());
    bytes.extend(blake3::hash(&content).as_bytes());
    bytes.extend(content);
    bytes
}

/// The tables of a save that is being packed.
#[derive(Default)]
struct Packer {
    texts: Numbered<String>,
    forest: Forest,
}

impl Packer {
    fn text(&mut self, text: &str) -> u32 {
        self.texts.number(text.to_owned())
    }

    fn names(&mut self, all: &[String]) -> Vec<u32> {
        all.iter().map(|it| self.text(it)).collect()
    }

    fn fact(&mut self, fact: &SavedFact) -> Fact {
        Fact {
            entity: match &fact.entity {
                SavedOwner::Entity(id) => *id,
                SavedOwner::Member(name) => NAMED | self.text(name),
            },
            attribute: self.text(&fact.attribute),
            value: match &fact.value {
                SavedValue::Int(it) => Packed::Int(*it),
                SavedValue::Bool(it) => Packed::Bool(*it),
                SavedValue::Name(it) => Packed::Name(self.text(it)),
                SavedValue::Entity { entity } => Packed::Entity(*entity),
            },
        }
    }

    fn action(&mut self, action: &SavedMove) -> Move {
        Move {
            uci: self.text(&action.uci),
            san: self.text(&action.san),
            side: self.text(&action.side),
            action: self.text(&action.action),
            goes_on: action.goes_on,
            facts: unhex(&action.facts).unwrap_or_default(),
            position: unhex(&action.position).unwrap_or_default(),
            proof: self.forest.add(&mut self.texts, &action.proof),
        }
    }
}

/// The order of the steps is part of the format: texts are numbered as they first occur.
fn pack(save: &Save) -> (Content, Vec<Switch>) {
    let mut packer = Packer::default();
    let game = packer.text(&save.game);
    let presets = packer.names(&save.presets);
    let attributes = packer.names(&save.attributes);
    let rule = |it: &RuleFile| Rule {
        path: packer.text(&it.path),
        blake3: unhex(&it.blake3).unwrap_or_default(),
        text: it.text.clone(),
    };
    let rules = save.rules.iter().map(rule).collect();
    let fen = save.fen.as_ref().map(|it| packer.text(it));
    let result = save.result.as_ref().map(|it| packer.text(it));
    let start = save.start.iter().map(|it| packer.fact(it)).collect();
    let facts = save.facts.iter().map(|it| packer.fact(it)).collect();
    let moves = save.moves.iter().map(|it| packer.action(it)).collect();
    let switch = |it: &SavedSwitch| Switch {
        after: it.after,
        presets: packer.names(&it.presets),
        facts: unhex(&it.facts).unwrap_or_default(),
    };
    let switches = save.switches.iter().map(switch).collect();
    let content = Content {
        game,
        presets,
        rules,
        attributes,
        fen,
        start,
        moves,
        ended: save.ended.clone(),
        facts,
        result,
        texts: packer.texts.all,
        shapes: packer.forest.shapes.all,
        nodes: packer.forest.nodes.all,
    };
    (content, switches)
}

pub(super) fn read(bytes: &[u8]) -> Result<(Save, Option<Doubt>), RestoreError> {
    let truncated = |expected| RestoreError::Truncated { found: bytes.len(), expected };
    if bytes.len() < HEAD {
        return Err(truncated(HEAD));
    }
    let word = |at: usize| bytes[at..].first_chunk().map_or(0, |it| u32::from_le_bytes(*it));
    let version = word(MAGIC.len());
    if !(LAST_WITHOUT_SWITCHES..=VERSION).contains(&version) {
        return Err(RestoreError::Version { found: version });
    }
    let (hash, content) = bytes[MAGIC.len() + 8..].split_at(32);
    let expected = HEAD + word(MAGIC.len() + 4) as usize;
    if bytes.len() < expected {
        return Err(truncated(expected));
    }
    let intact = blake3::hash(content).as_bytes()[..] == *hash;
    let here = |reason: &str| RestoreError::Binary { at: HEAD, reason: reason.into() };
    let read = match version > LAST_WITHOUT_SWITCHES {
        true => postcard::take_from_bytes::<(Content, Vec<Switch>)>(content),
        false => postcard::take_from_bytes::<Content>(content).map(|it| ((it.0, Vec::new()), it.1)),
    };
    let ((content, switches), rest) =
        read.map_err(|why| here(&format!("the content cannot be read ({why})")))?;
    if !rest.is_empty() || bytes.len() != expected {
        let at = bytes.len() - rest.len();
        return Err(RestoreError::Binary { at, reason: "something follows the content".into() });
    }
    let allowed = MemoryBudget::of(bytes.len());
    let save = unpack(version, &content, &switches, allowed).map_err(|it| match it {
        UnpackError::Absent => here("the content refers to what is not in it"),
        UnpackError::Deep => here("a proof is nested too deep"),
        UnpackError::Large => here("the content takes more memory than a file of this size may"),
    })?;
    let doubt = match intact {
        true if write(&save, version) == bytes => None,
        true => Some(Doubt::Form { place: "the content".into() }),
        false => Some(Doubt::Checksum),
    };
    Ok((save, doubt))
}

/// What a save is unpacked from, within a budget.
struct Unpacker<'c> {
    trees: TreeReader<'c>,
    allowed: MemoryBudget,
}

impl Unpacker<'_> {
    fn text(&mut self, number: u32) -> Result<String, UnpackError> {
        self.allowed.text(self.trees.texts, number)
    }

    fn optional(&mut self, number: Option<u32>) -> Result<Option<String>, UnpackError> {
        number.map(|it| self.text(it)).transpose()
    }

    fn names(&mut self, numbers: &[u32]) -> Result<Vec<String>, UnpackError> {
        numbers.iter().map(|it| self.text(*it)).collect()
    }

    fn facts(&mut self, all: &[Fact]) -> Result<Vec<SavedFact>, UnpackError> {
        all.iter().map(|it| self.fact(it)).collect()
    }

    fn fact(&mut self, fact: &Fact) -> Result<SavedFact, UnpackError> {
        let value = match &fact.value {
            Packed::Int(it) => SavedValue::Int(*it),
            Packed::Bool(it) => SavedValue::Bool(*it),
            Packed::Name(it) => SavedValue::Name(self.text(*it)?),
            Packed::Entity(it) => SavedValue::Entity { entity: *it },
        };
        let entity = match fact.entity & NAMED {
            0 => SavedOwner::Entity(fact.entity),
            _ => SavedOwner::Member(self.text(fact.entity & !NAMED)?),
        };
        Ok(SavedFact { entity, attribute: self.text(fact.attribute)?, value })
    }

    fn rule(&mut self, rule: &Rule) -> Result<RuleFile, UnpackError> {
        self.allowed.take(rule.text.as_ref().map_or(0, String::len))?;
        let (path, text) = (self.text(rule.path)?, rule.text.clone());
        Ok(RuleFile { path, blake3: HEXLOWER.encode(&rule.blake3), text })
    }

    fn action(&mut self, action: &Move) -> Result<SavedMove, UnpackError> {
        Ok(SavedMove {
            uci: self.text(action.uci)?,
            san: self.text(action.san)?,
            side: self.text(action.side)?,
            action: self.text(action.action)?,
            goes_on: action.goes_on,
            facts: HEXLOWER.encode(&action.facts),
            position: HEXLOWER.encode(&action.position),
            proof: self.trees.tree(action.proof, &mut self.allowed)?,
        })
    }

    fn switch(&mut self, switch: &Switch) -> Result<SavedSwitch, UnpackError> {
        let (after, presets) = (switch.after, self.names(&switch.presets)?);
        Ok(SavedSwitch { after, presets, facts: HEXLOWER.encode(&switch.facts) })
    }
}

fn unpack(
    version: u32,
    content: &Content,
    switches: &[Switch],
    allowed: MemoryBudget,
) -> Result<Save, UnpackError> {
    let Content { texts, nodes, shapes, .. } = content;
    let mut from = Unpacker { trees: TreeReader { texts, nodes, shapes }, allowed };
    Ok(Save {
        version,
        game: from.text(content.game)?,
        presets: from.names(&content.presets)?,
        rules: content.rules.iter().map(|it| from.rule(it)).collect::<Result<_, _>>()?,
        attributes: from.names(&content.attributes)?,
        fen: from.optional(content.fen)?,
        start: from.facts(&content.start)?,
        moves: content.moves.iter().map(|it| from.action(it)).collect::<Result<_, _>>()?,
        switches: switches.iter().map(|it| from.switch(it)).collect::<Result<_, _>>()?,
        ended: content.ended.clone(),
        facts: from.facts(&content.facts)?,
        result: from.optional(content.result)?,
    })
}

/// The bytes that a text has in hexadecimal; `None` if it is not hexadecimal of that length.
pub(super) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok()
}
