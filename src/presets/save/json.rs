//! Saves as JSON: one fact per line, one move per line, and at the end the hash of all before it.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::{
    Doubt, Ended, LAST_WITHOUT_SWITCHES, RestoreError, RuleFile, Save, SavedMove, SavedSwitch,
    VERSION,
};
use crate::facts::json::{JsonError, parse};
use crate::facts::{Document, SavedFact};

#[derive(Deserialize)]
struct Head {
    version: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Start {
    fen: Option<String>,
    facts: Vec<SavedFact>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "version")]
    _version: u32,
    game: String,
    presets: Vec<String>,
    rules: Vec<RuleFile>,
    attributes: Vec<String>,
    start: Start,
    moves: Vec<SavedMove>,
    #[serde(default)]
    switches: Vec<SavedSwitch>,
    ended: Option<Ended>,
    facts: Vec<SavedFact>,
    result: Option<String>,
    #[serde(rename = "checksum")]
    _checksum: String,
}

/// Reads a save, with the doubt that it raises, if any. A save of version 1 does not name its game: it is of `game`.
pub(super) fn read(text: &str, game: &str) -> Result<(Save, Option<Doubt>), RestoreError> {
    let head: Head = parse(text).map_err(not_a_save)?;
    match head.version {
        1 => {
            let document = Document::parse(text)?;
            return Ok((Save::of_facts(document, game), None));
        }
        LAST_WITHOUT_SWITCHES..=VERSION => {}
        found => return Err(RestoreError::Version { found }),
    }
    let file: File = parse(text)?;
    let save = Save {
        version: head.version,
        game: file.game,
        presets: file.presets,
        rules: file.rules,
        attributes: file.attributes,
        fen: file.start.fen,
        start: file.start.facts,
        moves: file.moves,
        switches: file.switches,
        ended: file.ended,
        facts: file.facts,
        result: file.result,
    };
    let doubt = doubt(text, &write(&save, head.version));
    Ok((save, doubt))
}

/// An object without the version is not a save; everything else is a mistake in the text.
fn not_a_save(why: JsonError) -> RestoreError {
    match why.message.starts_with("missing field `version`") {
        true => RestoreError::Alien { reason: "the JSON has no version".into() },
        false => RestoreError::Syntax(why),
    }
}

/// The first line that is not as it would be written.
fn doubt(text: &str, wanted: &str) -> Option<Doubt> {
    if text == wanted {
        return None;
    }
    // With their ends, which may differ as well.
    let lines = text.split_inclusive('\n').zip(wanted.split_inclusive('\n'));
    let same = lines.take_while(|(a, b)| a == b).count();
    let is_last = text.lines().count() == same + 1;
    match (text.lines().nth(same), wanted.lines().nth(same)) {
        (Some(a), Some(b)) if is_last && a != b && b.starts_with(CHECKSUM) => Some(Doubt::Checksum),
        _ => Some(Doubt::Form { place: format!("line {}", same + 1) }),
    }
}

const CHECKSUM: &str = "\"checksum\":";

/// A save in a version of the format.
pub(super) fn write(save: &Save, version: u32) -> String {
    let mut text = format!("{{\"version\":{version},\n");
    field(&mut text, "game", &save.game);
    field(&mut text, "presets", &save.presets);
    lines(&mut text, "rules", &save.rules, ",\n");
    field(&mut text, "attributes", &save.attributes);
    let _ = write!(text, "\"start\":{{\"fen\":{},", to_json(&save.fen));
    lines(&mut text, "facts", &save.start, "},\n");
    lines(&mut text, "moves", &save.moves, ",\n");
    if version > LAST_WITHOUT_SWITCHES {
        lines(&mut text, "switches", &save.switches, ",\n");
    }
    field(&mut text, "ended", &save.ended);
    lines(&mut text, "facts", &save.facts, ",\n");
    field(&mut text, "result", &save.result);
    let hash = blake3::hash(text.as_bytes()).to_hex();
    let _ = writeln!(text, "{CHECKSUM}\"{hash}\"}}");
    text
}

/// A value as JSON.
fn to_json(value: &impl Serialize) -> String {
    // Plain data can always be serialised.
    serde_json::to_string(value).unwrap_or_default()
}

fn field(text: &mut String, name: &str, value: &impl Serialize) {
    let _ = writeln!(text, "\"{name}\":{},", to_json(value));
}

fn lines<T: Serialize>(text: &mut String, name: &str, values: &[T], end: &str) {
    let all: Vec<String> = values.iter().map(to_json).collect();
    let _ = match all.is_empty() {
        true => write!(text, "\"{name}\":[]{end}"),
        false => write!(text, "\"{name}\":[\n{}\n]{end}", all.join(",\n")),
    };
}
