//! Saves as bytes: a head with length and hash, then the content as postcard writes it, every text
//! and every part of a proof once.

use serde::{Deserialize, Serialize};

use super::tree::{Forest, Node, Numbered, Reader};
use super::{
    Doubt, Ended, RestoreError, RuleFile, Save, SavedMove, SavedSwitch, UNSWITCHED, VERSION,
};
use crate::facts::{SavedFact, SavedValue};

pub(super) const MAGIC: &[u8] = b"RULEMATE";
/// Magic, version, length of the content, hash of the content.
const HEAD: usize = MAGIC.len() + 4 + 4 + 32;

#[derive(Serialize, Deserialize)]
enum Packed {
    Int(i64),
    Bool(bool),
    Name(u32),
    Entity(u32),
}

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
    presets: Vec<u32>,
    facts: [u8; 8],
}

#[derive(Serialize, Deserialize)]
struct Content {
    texts: Vec<String>,
    shapes: Vec<Vec<u32>>,
    nodes: Vec<Node>,
    game: u32,
    presets: Vec<u32>,
    rules: Vec<Rule>,
    attributes: Vec<u32>,
    fen: Option<u32>,
    start: Vec<Fact>,
    moves: Vec<Move>,
    ended: Option<Ended>,
    facts: Vec<Fact>,
    result: Option<u32>,
}

/// A save as a version of the format has it: what is new in one follows what there was.
pub(super) fn write(save: &Save, version: u32) -> Vec<u8> {
    let packed = pack(save);
    // Plain data has a form.
    let content = match version > UNSWITCHED {
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
        entity: it.entity,
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
    if !(UNSWITCHED..=VERSION).contains(&version) {
        return Err(RestoreError::Version { found: version });
    }
    let (hash, content) = bytes[MAGIC.len() + 8..].split_at(32);
    let expected = HEAD + word(MAGIC.len() + 4) as usize;
    if bytes.len() < expected {
        return Err(truncated(expected));
    }
    let intact = blake3::hash(content).as_bytes()[..] == *hash;
    let here = |reason: &str| RestoreError::Binary { at: HEAD, reason: reason.into() };
    let read = match version > UNSWITCHED {
        true => postcard::take_from_bytes::<(Content, Vec<Switch>)>(content),
        false => postcard::take_from_bytes::<Content>(content).map(|it| ((it.0, Vec::new()), it.1)),
    };
    let ((content, switches), rest) =
        read.map_err(|why| here(&format!("the content cannot be read ({why})")))?;
    if !rest.is_empty() || bytes.len() != expected {
        let at = bytes.len() - rest.len();
        return Err(RestoreError::Binary { at, reason: "something follows the content".into() });
    }
    let save = unpack(version, content, &switches)
        .ok_or_else(|| here("the content refers to what is not in it"))?;
    let doubt = match intact {
        true if write(&save, version) == bytes => None,
        true => Some(Doubt::Form { place: "the content".into() }),
        false => Some(Doubt::Checksum),
    };
    Ok((save, doubt))
}

fn unpack(version: u32, content: Content, switches: &[Switch]) -> Option<Save> {
    let texts = &content.texts;
    let text = |it: u32| texts.get(it as usize).cloned();
    let fact = |it: &Fact| {
        let value = match &it.value {
            Packed::Int(it) => SavedValue::Int(*it),
            Packed::Bool(it) => SavedValue::Bool(*it),
            Packed::Name(it) => SavedValue::Name(text(*it)?),
            Packed::Entity(it) => SavedValue::Entity { entity: *it },
        };
        Some(SavedFact { entity: it.entity, attribute: text(it.attribute)?, value })
    };
    let rule = |it: &Rule| {
        Some(RuleFile { path: text(it.path)?, blake3: hex(&it.blake3), text: it.text.clone() })
    };
    let optional = |it: Option<u32>| match it {
        None => Some(None),
        Some(it) => text(it).map(Some),
    };
    let mut trees = Reader::new(texts, &content.nodes, &content.shapes);
    let mut moves = Vec::with_capacity(content.moves.len());
    for it in &content.moves {
        moves.push(SavedMove {
            uci: text(it.uci)?,
            san: text(it.san)?,
            side: text(it.side)?,
            action: text(it.action)?,
            goes_on: it.goes_on,
            facts: hex(&it.facts),
            position: hex(&it.position),
            proof: trees.tree(it.proof)?,
        });
    }
    let all = |them: &[u32]| them.iter().map(|it| text(*it)).collect::<Option<Vec<_>>>();
    let switch = |it: &Switch| {
        let (after, presets, facts) = (it.after, all(&it.presets)?, hex(&it.facts));
        Some(SavedSwitch { after, presets, facts })
    };
    Some(Save {
        version,
        game: text(content.game)?,
        presets: all(&content.presets)?,
        rules: content.rules.iter().map(rule).collect::<Option<_>>()?,
        attributes: all(&content.attributes)?,
        fen: optional(content.fen)?,
        start: content.start.iter().map(fact).collect::<Option<_>>()?,
        moves,
        switches: switches.iter().map(switch).collect::<Option<_>>()?,
        ended: content.ended.clone(),
        facts: content.facts.iter().map(fact).collect::<Option<_>>()?,
        result: optional(content.result)?,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

/// `None` if the text is no hexadecimal of that length.
fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}
