//! Damage for texts and JSON that were well-formed: what parsers and checkers have to notice or survive.

use proptest::prelude::*;
use serde_json::{Value, json};

/// Cuts, doubles, swaps and strange characters.
#[derive(Debug, Clone)]
pub(crate) enum Damage {
    Cut(usize),
    Double(usize),
    Swap(usize),
    Insert(usize, char),
}

pub(crate) fn damage() -> impl Strategy<Value = Damage> {
    let strange = prop_oneof![
        proptest::sample::select(
            " \t\n\r/-[]{}()\"\\$%;.*+#=0189aehxKQkqé½\u{0}\u{1F600}".chars().collect::<Vec<_>>()
        ),
        any::<char>(),
    ];
    prop_oneof![
        any::<usize>().prop_map(Damage::Cut),
        any::<usize>().prop_map(Damage::Double),
        any::<usize>().prop_map(Damage::Swap),
        (any::<usize>(), strange).prop_map(|(at, it)| Damage::Insert(at, it)),
    ]
}

pub(crate) fn damaged(text: &str, damages: &[Damage]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for damage in damages {
        let length = chars.len();
        match *damage {
            Damage::Insert(at, letter) => chars.insert(at % (length + 1), letter),
            _ if length < 2 => {}
            Damage::Cut(at) => {
                chars.remove(at % length);
            }
            Damage::Double(at) => chars.insert(at % length, chars[at % length]),
            Damage::Swap(at) => chars.swap(at % length, (at + 1) % length),
        }
    }
    chars.into_iter().collect()
}

pub(crate) fn damages() -> impl Strategy<Value = Vec<Damage>> {
    proptest::collection::vec(damage(), 1..6)
}

/// The pointers to everything in a value that is no list and no object.
pub(crate) fn leaves(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(n, it)| leaves(it, format!("{at}/{n}"), found));
        }
        Value::Object(all) => {
            all.iter().for_each(|(key, it)| leaves(it, format!("{at}/{key}"), found));
        }
        _ => found.push(at),
    }
}

/// Another value of the same kind.
pub(crate) fn altered(value: &Value) -> Value {
    match value {
        Value::Null => json!("x"),
        Value::Bool(it) => json!(!it),
        Value::Number(it) => json!(it.as_i64().unwrap_or(0) + 1),
        Value::String(it) => json!(format!("{it}x")),
        other => other.clone(),
    }
}
