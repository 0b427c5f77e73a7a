//! Parses JSON from outside, with limits on its depth (enough for the deepest proof) and on its size in memory.
//! Both are checked before parsing.

use serde::de::DeserializeOwned;

/// Maximum number of levels of brackets. It is enough for the deepest explanation: 20 levels of a refutation and 96 of a
/// proof, each of which takes five.
pub(crate) const DEPTH: usize = 640;

/// Maximum size in memory, in bytes, estimated before parsing. Little text may take much of it: two bytes (`0,`) become
/// [`VALUE`] bytes, and the five of an object (`{"":`) more than [`OBJECT`].
const MEMORY: usize = 1 << 29;
/// The size of a value, or of a name with its value, in bytes.
const VALUE: usize = 64;
/// The further sizes of a list and an object: each reserves room for several elements at once.
const LIST: usize = 128;
const OBJECT: usize = 640;

/// Why a text is not the expected JSON, with the place, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct JsonError {
    /// The line.
    pub line: usize,
    /// The byte of the line.
    pub column: usize,
    /// The mistake.
    pub message: String,
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        let text = error.to_string();
        let (line, column) = (error.line(), error.column());
        // The place has fields of its own; what precedes it may quote such words from the text.
        let place = format!(" at line {line} column {column}");
        let message = plain(text.strip_suffix(&place).unwrap_or(&text));
        // Before the first byte of a line, serde_json's column is 0.
        Self { line: line.max(1), column: column.max(1), message }
    }
}

/// A message of `serde_json` without the name of the type that was expected, which says nothing to the author of the text.
pub(crate) fn plain(message: &str) -> String {
    let Some((before, after)) = message.rsplit_once("expected struct ") else {
        return message.to_owned();
    };
    let place = after.trim_start_matches(|it: char| it.is_ascii_alphanumeric());
    // A list in place of an object is called too short.
    let counted = place.strip_prefix(" with ").and_then(|it| it.split_once(" element"));
    let place = counted.map_or(place, |it| it.1.trim_start_matches('s'));
    match place.is_empty() || place.starts_with(" at line ") {
        true => format!("{before}expected an object{place}"),
        false => message.to_owned(),
    }
}

/// Parses a text.
///
/// # Errors
/// It is not JSON, has another structure, nests brackets too deep, or takes too much memory.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, JsonError> {
    if let Some(error) = too_much(text) {
        return Err(error);
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let value = T::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// The first bracket that is nested too deep, or the first value for which there is no memory left.
fn too_much(text: &str) -> Option<JsonError> {
    let (mut depth, mut line, mut start) = (0usize, 1, 0);
    let mut memory = 0;
    let (mut in_text, mut escaped) = (false, false);
    // Whether a value, or a name with one, comes next.
    let mut is_awaited = true;
    for (at, byte) in text.bytes().enumerate() {
        if is_awaited && !byte.is_ascii_whitespace() && !matches!(byte, b']' | b'}') {
            is_awaited = false;
            memory += VALUE;
        }
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'\n' => (line, start) = (line + 1, at + 1),
            b'[' | b'{' if !in_text => {
                is_awaited = true;
                depth += 1;
                memory += if byte == b'[' { LIST } else { OBJECT };
            }
            b',' if !in_text => is_awaited = true,
            b']' | b'}' if !in_text => (is_awaited, depth) = (false, depth.saturating_sub(1)),
            _ => {}
        }
        let message = if memory > MEMORY {
            format!("this is more JSON than fits into {} MB of memory", MEMORY >> 20)
        } else if depth > DEPTH {
            format!("brackets are nested more than {DEPTH} deep")
        } else {
            continue;
        };
        return Some(JsonError { line, column: at + 1 - start, message });
    }
    None
}
