//! Saved games in both forms, and what the server keeps of a game.

use rulemate::internals::game::GameSnapshot;
use rulemate::internals::presets::save::{Form, Save};

use super::rules;

/// JSON: a save, a list of facts, or what the server keeps.
pub(crate) fn json(input: &[u8]) {
    read(input);
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(mut game) = rules(0).resume_text(text) {
        game.listing();
        game.fen();
    }
    let kept = serde_json::from_str::<GameSnapshot>(text).ok();
    if let Some(mut game) = kept.and_then(|it| rules(0).restore_snapshot(&it)) {
        game.view();
        game.takeback();
    }
}

/// Bytes: as they are, and behind a head that fits them, since chance finds no hash.
pub(crate) fn binary(input: &[u8]) {
    read(input);
    let (version, content) = input.split_first().unwrap_or((&0, &[]));
    let mut bytes = b"RULEMATE".to_vec();
    bytes.extend(u32::from(*version).to_le_bytes());
    bytes.extend((content.len() as u32).to_le_bytes());
    bytes.extend(blake3::hash(content).as_bytes());
    bytes.extend(content);
    read(&bytes);
}

/// What is read without doubt is written as it was.
fn read(bytes: &[u8]) {
    let Ok((save, doubt)) = Save::read(bytes, "chess") else { return };
    for form in [Form::Json, Form::Binary] {
        let written = save.write(form);
        if doubt.is_none() {
            let again = Save::read(&written, "chess");
            assert!(again.is_ok(), "{:?} of what was read", again.err());
        }
    }
}
