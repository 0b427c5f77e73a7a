//! Parses JSON from outside, with limits on its depth (that of our own trees) and on the number of values.
//! Both are checked before parsing.

use serde::de::DeserializeOwned;

/// Maximum number of levels of brackets. A level of a proof takes five.
pub(crate) const DEPTH: usize = 640;

/// Maximum number of values: two bytes of text can become forty of memory.
const VALUES: usize = 1 << 23;

/// Why a text is not the expected JSON, with its place, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct JsonError {
    /// The line.
    pub line: usize,
    /// The place in the line.
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
        let message = text.strip_suffix(&place).unwrap_or(&text).to_owned();
        Self { line, column, message }
    }
}

/// Parses a text.
///
/// # Errors
/// It is not JSON, has another structure, nests brackets too deep, or has too many values.
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

/// The first bracket that is nested too deep, or the first value that is one too many.
fn too_much(text: &str) -> Option<JsonError> {
    let (mut depth, mut line, mut start) = (0usize, 1, 0);
    let mut values = 0;
    let (mut in_text, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'\n' => (line, start) = (line + 1, at + 1),
            b'[' | b'{' if !in_text => {
                depth += 1;
                if depth > DEPTH {
                    let message = format!("brackets are nested more than {DEPTH} deep");
                    return Some(JsonError { line, column: at + 1 - start, message });
                }
            }
            // What follows it is a value, or a name with one.
            b',' if !in_text => {
                values += 1;
                if values > VALUES {
                    let message = format!("there are more than {VALUES} values");
                    return Some(JsonError { line, column: at + 1 - start, message });
                }
            }
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}
