//! The `.meta` lines of a file, read without compiling it.
//!
//! What a file is for is known before it is used, so a catalogue of many files costs little.
//! Deliberately absent: which keys mean something; that is for the layer that reads them.

use super::ast::Item;
use super::limits;
use super::program::{Meta, Source};
use super::syntax;

/// The `.meta` lines of a source, in text order. Mistakes are left for [`compile`](super::compile)
/// to report; spans are as if the source were the only one.
pub fn metas(source: &Source) -> Vec<Meta> {
    if !source.text.contains(".meta") || source.text.len() > limits::FILE_BYTES {
        return Vec::new();
    }
    let file = syntax::parse(0, &source.text, &mut Vec::new());
    let meta = |it| match it {
        Item::Meta { key, value, span } => {
            Some(Meta { key: key.text.to_string(), value: value.text.to_string(), span })
        }
        _ => None,
    };
    file.items.into_iter().filter_map(meta).collect()
}
