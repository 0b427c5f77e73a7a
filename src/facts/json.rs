//! JSON from strangers: as deep as our own trees go, but no deeper.

use serde::de::DeserializeOwned;

/// Levels of brackets in a text that is read. A proof level takes five.
const DEPTH: usize = 640;

/// Why a text is not the JSON that was asked for, with its place, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct JsonError {
    pub line: usize,
    pub column: usize,
    pub message: String,
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or_default().to_string();
        Self { line: error.line(), column: error.column(), message }
    }
}

/// Reads a text.
///
/// # Errors
/// No JSON, another structure, or brackets nested too deep.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, JsonError> {
    if let Some((line, column)) = too_deep(text) {
        let message = format!("brackets are nested more than {DEPTH} deep");
        return Err(JsonError { line, column, message });
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let value = T::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// The place of the first bracket that is nested too deep.
fn too_deep(text: &str) -> Option<(usize, usize)> {
    let (mut depth, mut line, mut start) = (0usize, 1, 0);
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
                    return Some((line, at + 1 - start));
                }
            }
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}
