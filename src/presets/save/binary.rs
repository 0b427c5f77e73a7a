//! Saves as bytes: a head with length and hash, then the content as postcard writes it, every text
//! and every part of a proof once.

use std::fmt;
use std::marker::PhantomData;

use data_encoding::HEXLOWER;
use serde::de::{DeserializeOwned, Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::tree::{Forest, MemoryBudget, Node, Numbered, TreeReader, UnpackError};
use super::{
    Doubt, Ended, RestoreError, RuleFile, Save, SavedMove, SavedSwitch, VERSION, WITHOUT_SWITCHES,
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
    let content = match version > WITHOUT_SWITCHES {
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

fn pack(save: &Save) -> (Content, Vec<Switch>) {
    let mut texts = Numbered::default();
    let mut forest = Forest::default();
    let mut text = |it: &String| texts.number(it.clone());
    let game = text(&save.game);
    let presets = save.presets.iter().map(&mut text).collect();
    let attributes = save.attributes.iter().map(&mut text).collect();
    let rule = |it: &RuleFile| Rule {
        path: text(&it.path),
        blake3: unhex(&it.blake3).unwrap_or_default(),
        text: it.text.clone(),
    };
    let rules = save.rules.iter().map(rule).collect();
    let fen = save.fen.as_ref().map(&mut text);
    let result = save.result.as_ref().map(&mut text);
    let fact = |it: &SavedFact, texts: &mut Numbered<String>| Fact {
        entity: match &it.entity {
            SavedOwner::Entity(it) => *it,
            SavedOwner::Member(name) => NAMED | texts.number(name.clone()),
        },
        attribute: texts.number(it.attribute.clone()),
        value: match &it.value {
            SavedValue::Int(it) => Packed::Int(*it),
            SavedValue::Bool(it) => Packed::Bool(*it),
            SavedValue::Name(it) => Packed::Name(texts.number(it.clone())),
            SavedValue::Entity { entity } => Packed::Entity(*entity),
        },
    };
    let start = save.start.iter().map(|it| fact(it, &mut texts)).collect();
    let facts = save.facts.iter().map(|it| fact(it, &mut texts)).collect();
    let mut moves = Vec::with_capacity(save.moves.len());
    for it in &save.moves {
        let mut text = |it: &String| texts.number(it.clone());
        let (uci, san, side) = (text(&it.uci), text(&it.san), text(&it.side));
        moves.push(Move {
            uci,
            san,
            side,
            action: text(&it.action),
            goes_on: it.goes_on,
            facts: unhex(&it.facts).unwrap_or_default(),
            position: unhex(&it.position).unwrap_or_default(),
            proof: forest.add(&mut texts, &it.proof),
        });
    }
    let switch = |it: &SavedSwitch| Switch {
        after: it.after,
        presets: it.presets.iter().map(|it| texts.number(it.clone())).collect(),
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
        texts: texts.all,
        shapes: forest.shapes.all,
        nodes: forest.nodes.all,
    };
    (content, switches)
}

pub(super) fn read(bytes: &[u8]) -> Result<(Save, Option<Doubt>), RestoreError> {
    let truncated = |expected| RestoreError::Truncated { found: bytes.len(), expected };
    if bytes.len() < HEAD {
        return Err(truncated(HEAD));
    }
    let word = |at: usize| {
        bytes[at..at + 4].iter().rev().fold(0u32, |word, &it| word << 8 | u32::from(it))
    };
    let version = word(MAGIC.len());
    if !(WITHOUT_SWITCHES..=VERSION).contains(&version) {
        return Err(RestoreError::Version { found: version });
    }
    let (hash, content) = bytes[MAGIC.len() + 8..].split_at(32);
    let expected = HEAD + word(MAGIC.len() + 4) as usize;
    if bytes.len() < expected {
        return Err(truncated(expected));
    }
    let intact = blake3::hash(content).as_bytes()[..] == *hash;
    let here = |reason: &str| RestoreError::Binary { at: HEAD, reason: reason.into() };
    let read = match version > WITHOUT_SWITCHES {
        true => postcard::take_from_bytes::<(Content, Vec<Switch>)>(content),
        false => postcard::take_from_bytes::<Content>(content).map(|it| ((it.0, Vec::new()), it.1)),
    };
    let ((content, switches), rest) =
        read.map_err(|why| here(&format!("the content cannot be read ({why})")))?;
    if !rest.is_empty() || bytes.len() != expected {
        let at = bytes.len() - rest.len();
        return Err(RestoreError::Binary { at, reason: "something follows the content".into() });
    }
    let mut allowed = MemoryBudget::of(bytes.len());
    let save = unpack(version, content, &switches, &mut allowed).map_err(|it| match it {
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

fn unpack(
    version: u32,
    content: Content,
    switches: &[Switch],
    allowed: &mut MemoryBudget,
) -> Result<Save, UnpackError> {
    let texts = &content.texts;
    let fact = |it: &Fact, allowed: &mut MemoryBudget| {
        let value = match &it.value {
            Packed::Int(it) => SavedValue::Int(*it),
            Packed::Bool(it) => SavedValue::Bool(*it),
            Packed::Name(it) => SavedValue::Name(allowed.text(texts, *it)?),
            Packed::Entity(it) => SavedValue::Entity { entity: *it },
        };
        let entity = match it.entity & NAMED {
            0 => SavedOwner::Entity(it.entity),
            _ => SavedOwner::Member(allowed.text(texts, it.entity & !NAMED)?),
        };
        Ok(SavedFact { entity, attribute: allowed.text(texts, it.attribute)?, value })
    };
    let facts = |all: &[Fact], allowed: &mut MemoryBudget| {
        all.iter().map(|it| fact(it, allowed)).collect::<Result<Vec<SavedFact>, _>>()
    };
    let rule = |it: &Rule, allowed: &mut MemoryBudget| {
        allowed.take(it.text.as_ref().map_or(0, String::len))?;
        let path = allowed.text(texts, it.path)?;
        Ok(RuleFile { path, blake3: HEXLOWER.encode(&it.blake3), text: it.text.clone() })
    };
    let optional = |it: Option<u32>, allowed: &mut MemoryBudget| {
        it.map(|it| allowed.text(texts, it)).transpose()
    };
    let names = |them: &[u32], allowed: &mut MemoryBudget| {
        them.iter().map(|it| allowed.text(texts, *it)).collect::<Result<Vec<_>, _>>()
    };
    let trees = TreeReader::new(texts, &content.nodes, &content.shapes);
    let mut moves = Vec::new();
    for it in &content.moves {
        moves.push(SavedMove {
            uci: allowed.text(texts, it.uci)?,
            san: allowed.text(texts, it.san)?,
            side: allowed.text(texts, it.side)?,
            action: allowed.text(texts, it.action)?,
            goes_on: it.goes_on,
            facts: HEXLOWER.encode(&it.facts),
            position: HEXLOWER.encode(&it.position),
            proof: trees.tree(it.proof, allowed)?,
        });
    }
    let switch = |it: &Switch, allowed: &mut MemoryBudget| {
        let (after, presets) = (it.after, names(&it.presets, allowed)?);
        Ok(SavedSwitch { after, presets, facts: HEXLOWER.encode(&it.facts) })
    };
    Ok(Save {
        version,
        game: allowed.text(texts, content.game)?,
        presets: names(&content.presets, allowed)?,
        rules: content.rules.iter().map(|it| rule(it, allowed)).collect::<Result<_, _>>()?,
        attributes: names(&content.attributes, allowed)?,
        fen: optional(content.fen, allowed)?,
        start: facts(&content.start, allowed)?,
        moves,
        switches: switches.iter().map(|it| switch(it, allowed)).collect::<Result<_, _>>()?,
        ended: content.ended.clone(),
        facts: facts(&content.facts, allowed)?,
        result: optional(content.result, allowed)?,
    })
}

/// `None` if the text is not hexadecimal of that length.
pub(super) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok()
}
