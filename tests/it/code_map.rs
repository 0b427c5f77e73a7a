//! The code map in `docs/architecture.md`: the tree on disk, each file with what its head says. `UPDATE_DOCS=1`
//! writes it anew; what folders of rules are for is written by hand and stays.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::tidy::{files, folders, read, root, shown};

const DOCUMENT: &str = "docs/architecture.md";
/// The column at which a line says what a file is for.
const COLUMN: usize = 27;
/// Maximum length of what is said.
const LONGEST: usize = 80;

#[test]
fn the_code_map_is_the_tree_on_disk() {
    let path = root().join(DOCUMENT);
    let text = read(&path);
    let start = text.find("## Code map").expect("a code map");
    let open = start + text[start..].find("```text\n").expect("a fenced block") + 8;
    let end = open + text[open..].find("```").expect("its end");
    let by_hand = folders_said(&text[open..end]);
    let written = format!("{}{}{}", &text[..open], map(&by_hand), &text[end..]);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &written).expect("writable");
    }
    let stale = written.lines().zip(text.lines()).find(|(new, old)| new != old);
    assert!(written == read(&path), "{DOCUMENT} is stale: run with UPDATE_DOCS=1: {stale:?}");
    let silent: Vec<String> = folders(&root().join("rules"))
        .into_iter()
        .map(|it| format!("rules/{it}/"))
        .filter(|it| by_hand.get(it).is_none_or(String::is_empty))
        .collect();
    assert!(silent.is_empty(), "say in {DOCUMENT} what these folders are for: {silent:?}");
}

/// What the map says of folders, by path.
fn folders_said(block: &str) -> BTreeMap<String, String> {
    let mut way: Vec<&str> = Vec::new();
    let mut said = BTreeMap::new();
    for line in block.lines().filter(|it| !it.trim().is_empty()) {
        let depth = (line.len() - line.trim_start().len()) / 2;
        let (name, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        way.truncate(depth);
        if name.ends_with('/') {
            way.push(name);
            said.insert(way.concat(), rest.trim().to_owned());
        }
    }
    said
}

/// The whole block: a folder's files come before its folders, `mod.rs`, `lib.rs` and `main.rs` first.
fn map(by_hand: &BTreeMap<String, String>) -> String {
    let mut lines = String::new();
    for (dir, ext) in [
        ("rules", "rs"),
        ("src", "rs"),
        ("tests/it", "rs"),
        ("benches", "rs"),
        ("examples", "rs"),
        ("docs", "md"),
    ] {
        folder(&root().join(dir), ext, 0, dir, by_hand, &mut lines);
    }
    lines
}

fn folder(
    dir: &Path,
    ext: &str,
    depth: usize,
    name: &str,
    by_hand: &BTreeMap<String, String>,
    lines: &mut String,
) {
    let path = format!("{}/", shown(dir));
    let said = by_hand.get(&path).map_or("", String::as_str);
    line(lines, depth, &format!("{name}/"), said);
    // The pages about presets are one line: a test holds them to the presets that there are.
    if path == "docs/presets/" {
        return;
    }
    let mut own = files(dir, ext);
    own.retain(|it| it.parent() == Some(dir));
    let of = |it: &Path| it.file_name().and_then(|it| it.to_str()).unwrap_or_default().to_owned();
    own.sort_by_key(|it| (!matches!(&*of(it), "mod.rs" | "lib.rs" | "main.rs"), of(it)));
    for file in own {
        line(lines, depth + 1, &of(&file), &summary(&read(&file)));
    }
    let mut below = folders(dir);
    below.sort();
    for name in below {
        let is_said = by_hand.contains_key(&format!("{path}{name}/"));
        if is_said || path == "rules/" || !files(&dir.join(&name), ext).is_empty() {
            folder(&dir.join(&name), ext, depth + 1, &name, by_hand, lines);
        }
    }
}

fn line(lines: &mut String, depth: usize, name: &str, said: &str) {
    let name = format!("{}{name}", "  ".repeat(depth));
    let line = format!("{name:COLUMN$}{said}");
    lines.push_str(line.trim_end());
    lines.push('\n');
}

/// The first sentence of a file's head, as far as a line has room for it.
fn summary(text: &str) -> String {
    let head: Vec<&str> = match text.starts_with("//!") {
        true => text.lines().map_while(|it| it.strip_prefix("//!")).map(str::trim).collect(),
        false => text.lines().map(|it| it.trim_start_matches('#').trim()).collect(),
    };
    let paragraph: Vec<&str> = head.into_iter().take_while(|it| !it.is_empty()).collect();
    let whole = paragraph.join(" ").replace(['`', '[', ']'], "");
    let sentence = whole.split(". ").next().unwrap_or_default().trim_end_matches('.');
    if sentence.len() <= LONGEST {
        return sentence.to_owned();
    }
    let cut = sentence.char_indices().map(|it| it.0).take_while(|it| *it <= LONGEST - 4).last();
    let cut = &sentence[..cut.unwrap_or_default()];
    format!("{} ...", cut.rsplit_once(' ').map_or(cut, |it| it.0))
}
