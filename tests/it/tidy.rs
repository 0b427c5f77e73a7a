//! Checks on the source itself: the shape drawn in docs/architecture.md, the house rules that no
//! lint knows, and the licences of what we depend on.
//!
//! Each test names every offender at once and says what to do about it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The layers from the bottom up, each with the layers it may import.
const LAYERS: &[(&str, &[&str])] = &[
    ("facts", &[]),
    ("rules", &["facts"]),
    ("derive", &["facts", "rules"]),
    ("moves", &["facts", "rules", "derive"]),
    ("game", &["facts", "rules", "derive", "moves"]),
    ("opponent", &["facts", "rules", "derive", "moves", "game"]),
    ("presets", &["facts", "rules", "derive", "moves", "game"]),
    ("server", &["moves", "game", "opponent", "presets"]),
    ("protocols", &["moves", "game", "opponent", "presets"]),
    ("proof", &["facts", "rules"]),
    ("audit", &["facts", "rules", "derive", "moves", "game", "presets", "proof"]),
    ("testing", &["facts", "rules", "derive", "moves", "game", "presets"]),
    (
        "cli",
        &[
            "facts",
            "rules",
            "derive",
            "moves",
            "game",
            "opponent",
            "presets",
            "server",
            "protocols",
            "proof",
            "audit",
        ],
    ),
];

/// The layers that must not know any game or preset by name.
const NAMELESS: &[&str] = &["facts", "rules", "derive", "moves", "game", "opponent", "proof"];

#[test]
fn layers_import_downward() {
    let mut wrong = Vec::new();
    for (layer, allowed) in LAYERS {
        for path in files(&root().join("src").join(layer), "rs") {
            for used in imports(&read(&path)) {
                if used != *layer && !allowed.contains(&used.as_str()) {
                    wrong.push(format!("{}: {layer} may not import {used}", shown(&path)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn every_layer_is_in_the_table() {
    let known: BTreeSet<&str> = LAYERS.iter().map(|(name, _)| *name).collect();
    let unknown: Vec<String> = folders(&root().join("src"))
        .into_iter()
        .filter(|it| !known.contains(it.as_str()))
        .collect();
    assert!(unknown.is_empty(), "give these layers a line in LAYERS: {unknown:?}");
}

/// The first path segment after every `crate::`, in `use` trees too.
fn imports(text: &str) -> BTreeSet<String> {
    let mut res: BTreeSet<String> = heads(&code(text), "crate::").into_iter().collect();
    res.remove("");
    res
}

/// A text without its comments, in one line.
pub(crate) fn code(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap()).collect();
    lines.join(" ")
}

/// The names that stand right behind a path, in `use` trees too.
pub(crate) fn heads(code: &str, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices(path) {
        // A longer path ends in it.
        if code[..at].ends_with([':', '_']) || code[..at].ends_with(char::is_alphanumeric) {
            continue;
        }
        let rest = &code[at + path.len()..];
        match rest.starts_with('{') {
            true => found.extend(heads_of_tree(rest)),
            false => found.push(ident(rest)),
        }
    }
    found
}

/// The first segments of the paths in a braced `use` tree.
fn heads_of_tree(tree: &str) -> Vec<String> {
    let mut depth = 0;
    let mut res = Vec::new();
    for (at, c) in tree.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => (),
        }
        if depth == 0 {
            break;
        }
        if depth == 1 && (c == '{' || c == ',') {
            res.push(ident(tree[at + 1..].trim_start()));
        }
    }
    res
}

fn ident(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn imports_are_found_in_trees_and_over_lines() {
    let text = "use crate::{\n  facts::{Session, Fact},\n  rules,\n};\nuse crate::game::Game; // crate::no";
    let found: Vec<String> = imports(text).into_iter().collect();
    assert_eq!(found, ["facts", "game", "rules"]);
}

#[test]
fn every_rule_file_is_embedded() {
    let dir = root().join("rules");
    let on_disk: BTreeSet<String> =
        files(&dir, "dl").iter().map(|path| shown(path).replace('\\', "/")).collect();
    let embedded: BTreeSet<String> =
        rulemate::internals::rules::EMBEDDED.iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(on_disk, embedded, "rules/ and the embedded list differ");
}

#[test]
fn lower_layers_name_no_game_and_no_preset() {
    let mut wrong = Vec::new();
    for path in NAMELESS.iter().flat_map(|layer| files(&root().join("src").join(layer), "rs")) {
        // A module of Rust's library is not the game of that name.
        let text = read(&path).to_lowercase().replace("std::sync::atomic", "");
        for name in names_of_games_and_presets() {
            if words(&text).any(|it| it == name || it == name.replace('-', "_")) {
                wrong.push(format!("{}: {name}", shown(&path)));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "say it in rules/ or in src/presets instead:\n{}\n",
        wrong.join("\n")
    );
}

/// The one folder below `presets` that has words of chess for structure.
const OF_CHESS: &str = "src/moves/notation/chess/";

/// Parts of words that only chess has a use for.
const CHESS_STEMS: &[&str] = &["castl", "passant", "promot", "royal", "checkmate", "stalemate"];

/// Words of chess; a word is a name's part between underscores or capitals.
const CHESS_WORDS: &[&str] = &["king", "kings", "pawn", "pawns", "rook", "rooks"];

/// Lines that the list of words would hit, each with what it is there for.
const NOT_CHESS: &[(&str, &str, &str)] = &[
    ("src/game/play.rs", "check", "`Game::check` asks whether the budget of steps ran out"),
    ("src/game/play.rs", "checked", "what it answers; and `checked_sub` of the standard library"),
    ("src/game/end.rs", "check", "the same method, called"),
    ("src/game/view.rs", "checks", "clients of the JSON know the field by this name"),
    (
        "src/moves/notation/read_letters.rs",
        "check_letters",
        "it looks whether letters can be read back",
    ),
    ("src/moves/notation/mod.rs", "check_letters", "the same, handed on"),
    ("src/", "UTF-8", "the encoding of texts"),
];

#[test]
fn words_of_chess_stand_in_one_folder() {
    let mut wrong = Vec::new();
    for path in NAMELESS.iter().flat_map(|layer| files(&root().join("src").join(layer), "rs")) {
        let name = shown(&path);
        if name.starts_with(OF_CHESS) {
            continue;
        }
        let is_about_play = name.starts_with("src/moves/") || name.starts_with("src/game/");
        for (at, line) in read(&path).lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let is_excused = |word: &str| {
                let fits = |it: &&(&str, &str, &str)| {
                    name.starts_with(it.0) && code.contains(it.1) && it.1.contains(word)
                };
                NOT_CHESS.iter().any(|it| fits(&it))
            };
            let found = chess_words(code, is_about_play);
            let found: Vec<String> = found.into_iter().filter(|it| !is_excused(it)).collect();
            if !found.is_empty() {
                wrong.push(format!("{name}:{}: {}: {}", at + 1, found.join(", "), line.trim()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "say it in rules/, move it to {OF_CHESS}, or excuse it in NOT_CHESS:\n{}\n",
        wrong.join("\n")
    );
}

/// The words of a line that only chess has. `check` is a word of chess in the layers that play; below them
/// rules are checked, so there only the phrases are (`in_check`, `gives_check`, the relation `"check"`). An 8
/// is the width of a board unless it is a declared constant, which has a name, or room in a small vector.
fn chess_words(code: &str, is_about_play: bool) -> Vec<String> {
    let lower = code.to_lowercase();
    let mut found: Vec<String> =
        CHESS_STEMS.iter().filter(|it| lower.contains(**it)).map(|it| (*it).to_owned()).collect();
    let mut parts: Vec<String> = Vec::new();
    for name in code.split(|it: char| !(it.is_alphanumeric() || it == '_')) {
        let mut part = String::new();
        for letter in name.chars() {
            if (letter == '_' || letter.is_uppercase()) && !part.is_empty() {
                parts.push(std::mem::take(&mut part));
            }
            part.extend(letter.to_lowercase().filter(|it| *it != '_'));
        }
        parts.push(part);
    }
    found.extend(parts.iter().filter(|it| CHESS_WORDS.contains(&it.as_str())).cloned());
    if is_about_play {
        found.extend(parts.iter().filter(|it| it.starts_with("check")).cloned());
    } else {
        let phrases = ["in_check", "incheck", "gives_check", "\"check\""];
        found.extend(phrases.iter().filter(|it| lower.contains(**it)).map(|it| (*it).to_owned()));
    }
    let is_named = code.contains("const ") || code.contains("SmallVec<[");
    let numbers = code.split(|it: char| !(it.is_alphanumeric() || "_.".contains(it)));
    found.extend(numbers.filter(|it| *it == "8" && !is_named).map(str::to_owned));
    found
}

#[test]
fn words_of_chess_are_found_in_names_and_phrases() {
    let found = |code: &str| chess_words(code, true).join(" ");
    assert_eq!(found("let castling_rook = contract.castling?;"), "castl rook");
    assert_eq!(found("FenField::EnPassant => isKingSide(striking)"), "passant king");
    assert_eq!(found("if checked { rank == 8 } else { rank < 88 }"), "checked 8");
    assert_eq!(found("const COLUMNS: usize = 8;"), "");
    assert_eq!(chess_words("self.check(rule)", false), Vec::<String>::new());
    assert_eq!(chess_words("program.relation_named(\"in_check\")", false), ["in_check"]);
}

/// The names that `rules/` gives to games and presets, `chess` itself aside.
fn names_of_games_and_presets() -> BTreeSet<String> {
    let mut res = BTreeSet::new();
    for path in files(&root().join("rules"), "dl") {
        for line in read(&path).lines() {
            let mut parts = line.split_whitespace();
            if parts.next() == Some(".meta") && matches!(parts.next(), Some("game" | "preset")) {
                res.extend(line.split('"').nth(1).map(str::to_owned));
            }
        }
    }
    res.remove("chess");
    // Games whose names are words of Rust, of FEN and of every game, too.
    for name in ["active", "loop", "placement", "capture", "weak"] {
        res.remove(name);
    }
    res
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
}

#[test]
fn files_open_by_saying_what_they_are_for() {
    let wrong: Vec<String> = rust_files()
        .iter()
        .filter(|path| !read(path).starts_with("//! "))
        .map(|path| shown(path))
        .collect();
    assert!(wrong.is_empty(), "begin with `//!`: {wrong:#?}");
    let wrong: Vec<String> = files(&root().join("rules"), "dl")
        .iter()
        .filter(|path| !read(path).starts_with("% "))
        .map(|path| shown(path))
        .collect();
    assert!(wrong.is_empty(), "begin with `%`: {wrong:#?}");
}

#[test]
fn files_stay_short() {
    let wrong: Vec<String> = rust_files()
        .iter()
        .map(|path| (shown(path), read(path).lines().count()))
        .filter(|(_, lines)| *lines > 800)
        .map(|(path, lines)| format!("{path}: {lines} lines"))
        .collect();
    assert!(wrong.is_empty(), "over 800 lines, split by purpose: {wrong:#?}");
}

#[test]
fn nothing_is_left_undone() {
    // Written in two halves, so that this file does not find itself.
    let marks = [["FIX", "ME"], ["TO", "DO"], ["XX", "X"], ["to", "do!"], ["unimpl", "emented!"]];
    let marks: Vec<String> =
        marks.iter().map(|it| it.concat()).chain(["#[ign".to_owned() + "ore"]).collect();
    let mut wrong = Vec::new();
    for path in rust_files() {
        for (at, line) in read(&path).lines().enumerate() {
            // What a machine may lack is told as ignored, and `.ci/run` runs it where it is there.
            let is_told = line.starts_with(&(marks[5].clone() + " = \"needs PostgreSQL: "));
            if marks.iter().any(|mark| line.contains(mark.as_str())) && !is_told {
                wrong.push(format!("{}:{}: {}", shown(&path), at + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn input_cannot_reach_a_panic_in_the_command_line() {
    let calls = [".unwrap()", ".expect(", "panic!(", "unreachable!("];
    let mut wrong = Vec::new();
    for layer in ["cli", "server", "protocols"] {
        for path in files(&root().join("src").join(layer), "rs") {
            let text = read(&path);
            let code = text.split("#[cfg(test)]").next().unwrap();
            for (at, line) in code.lines().enumerate() {
                if calls.iter().any(|call| line.contains(call)) {
                    wrong.push(format!("{}:{}: {}", shown(&path), at + 1, line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// What the table of limits says, with where the source has the number.
const LIMITS: &[(&str, &str, &str, &str)] = &[
    ("sides", "2 to {}", "src/presets/sides.rs", "SIDES"),
    ("the board", "{} by {} squares", "src/rules/limits.rs", "BOARD_SIDE"),
    ("entities", "{} at a time", "src/rules/limits.rs", "ENTITIES"),
    ("files", "{}, of", "src/rules/limits.rs", "FILES"),
    ("rules and reactions", "{}", "src/rules/limits.rs", "RULES"),
    ("facts", "{}", "src/rules/limits.rs", "FACTS"),
    ("relations", "{}, of", "src/rules/limits.rs", "RELATIONS"),
    ("relations", "of {} columns", "src/rules/limits.rs", "COLUMNS"),
    ("attributes", "{};", "src/rules/limits.rs", "ATTRIBUTES"),
    ("domains", "{}, of", "src/rules/limits.rs", "DOMAINS"),
    ("domains", "of {} members", "src/rules/limits.rs", "MEMBERS"),
    ("stages", "{}", "src/rules/limits.rs", "STAGES"),
    ("trials", "{}", "src/rules/limits.rs", "TRIALS"),
    ("events", "{} declared", "src/rules/limits.rs", "EVENTS"),
    ("events", "{} in one action", "src/rules/limits.rs", "RAISED"),
    ("events", "{} deep", "src/rules/limits.rs", "RAISED_DEEP"),
    ("atoms in a body", "{}", "src/rules/limits.rs", "BODY_ATOMS"),
    ("comparisons in a body", "{}", "src/rules/limits.rs", "BODY_COMPARISONS"),
    ("effects of a reaction", "{}", "src/rules/limits.rs", "EFFECTS"),
    ("operators and nested", "{}", "src/rules/limits.rs", "DEPTH"),
    ("variables of a rule", "{}", "src/derive/bits/planner/mod.rs", "MAX_VARS"),
    ("changes of presets", "{},", "src/game/refusal.rs", "SWITCHES"),
    ("changes of presets", "by {} sets", "src/game/refusal.rs", "RULE_SETS"),
];

#[test]
fn the_table_of_limits_says_what_the_source_says() {
    let text = read(&root().join("docs/rules.md"));
    let table = text.split("\n## Limits").nth(1).expect("a section on limits");
    let mut wrong = Vec::new();
    for (row, says, path, name) in LIMITS {
        let line = table.lines().find(|it| it.starts_with(&format!("| {row}")));
        let source = read(&root().join(path));
        let constant = source.split(&format!("const {name}: usize = ")).nth(1);
        let number = constant.and_then(|it| it.split(';').next()).unwrap_or("none");
        let says = says.replace("{}", number);
        // A row that begins with a number has no more digits after it.
        let is_said = line.is_some_and(|it| {
            let cell = it.split('|').nth(2).unwrap_or_default();
            format!("{cell} ").contains(&format!(" {says}")) || cell.trim() == says
        });
        if !is_said {
            wrong.push(format!("{name} is {number} in {path}, docs/rules.md says {line:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn every_dependency_says_why_it_is_there() {
    let text = read(&root().join("docs/architecture.md"));
    let section = text.split("## Dependencies").nth(1).expect("a section on dependencies");
    let missing: Vec<String> =
        dependencies().into_iter().filter(|name| !section.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/architecture.md, Dependencies, lacks {missing:?}");
}

#[test]
fn the_readme_names_every_command_and_no_other() {
    let readme = read(&root().join("README.md"));
    let grammar = rulemate::internals::cli::grammar();
    let commands: BTreeSet<&str> = grammar.get_subcommands().map(|it| it.get_name()).collect();
    let mut named = BTreeSet::new();
    for part in readme.split("`rulemate ").skip(1).chain(readme.split("$ rulemate ").skip(1)) {
        named.insert(part.split([' ', '`', '\n']).next().unwrap());
    }
    named.remove("COMMAND");
    assert_eq!(named, commands, "README.md names other commands than there are");
}

/// The names in the dependency tables of Cargo.toml.
fn dependencies() -> Vec<String> {
    let mut inside = false;
    let mut res = Vec::new();
    for line in read(&root().join("Cargo.toml")).lines() {
        if line.starts_with('[') {
            inside = line.contains("dependencies]");
        } else if inside && let Some((name, _)) = line.split_once('=') {
            res.push(name.trim().to_owned());
        }
    }
    res
}

#[test]
fn licences_are_allowed_and_nothing_banned_comes_in() {
    let packages = packages();
    let (licences, banned) = (licences(), banned());
    assert!(licences.len() > 10 && banned.len() > 5, "{licences:?} {banned:?}");
    let mut wrong = Vec::new();
    for package in &packages {
        let name = package["name"].as_str().unwrap();
        let licence = package["license"].as_str().unwrap_or("none stated");
        if !allowed(licence, &licences) {
            wrong.push(format!("{name}: licence {licence}"));
        }
        if let Some((_, why)) = banned.iter().find(|(it, _)| *it == name) {
            wrong.push(format!("{name}: {why}"));
        }
    }
    assert!(packages.len() > 20, "cargo metadata gave {} packages", packages.len());
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// Licences that may be linked, as `deny.toml` lists them for `cargo deny`.
fn licences() -> Vec<String> {
    let text = read(&root().join("deny.toml"));
    let list = text.split("\nallow = [").nth(1).and_then(|it| it.split("\n]").next());
    let quoted = list.expect("a list of licences").lines().filter_map(|it| it.split('"').nth(1));
    quoted.map(str::to_owned).collect()
}

/// Crates that must not come in by any road, with the reason, as `deny.toml` lists them.
fn banned() -> Vec<(String, String)> {
    let text = read(&root().join("deny.toml"));
    let crates = text.lines().filter(|it| it.trim_start().starts_with("{ crate = "));
    let quoted = crates.map(|it| it.split('"').collect::<Vec<_>>());
    quoted.map(|it| (it[1].to_owned(), it[3].to_owned())).collect()
}

/// Every package that is built on this machine, from `cargo metadata` without network.
fn packages() -> Vec<serde_json::Value> {
    let rustc = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let version = String::from_utf8(rustc.stdout).unwrap();
    let host = version.lines().find_map(|it| it.strip_prefix("host: ")).expect("a host line");
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--locked", "--format-version", "1"])
        .args(["--filter-platform", host])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    text["packages"].as_array().unwrap().clone()
}

/// Whether an SPDX expression can be met with allowed licences: one of each `OR`, all of each `AND`.
fn allowed(expression: &str, licences: &[String]) -> bool {
    let flat = expression.replace('/', " OR ").replace(['(', ')'], "");
    // A plus stands for later versions of the same licence.
    let listed = |one: &str| licences.iter().any(|it| it == one.trim().trim_end_matches('+'));
    flat.split(" AND ").all(|all| all.split(" OR ").any(listed))
}

#[test]
fn licence_expressions_are_read() {
    let allowed = |it: &str| allowed(it, &licences());
    assert!(allowed("MIT OR Apache-2.0"));
    assert!(allowed("(MIT OR GPL-3.0) AND Unicode-3.0"));
    assert!(!allowed("GPL-3.0-or-later"));
    assert!(!allowed("MIT AND GPL-3.0"));
}

fn rust_files() -> Vec<PathBuf> {
    let dirs = ["src", "tests/it", "benches"];
    dirs.iter().flat_map(|dir| files(&root().join(dir), "rs")).collect()
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The path from the project's root, as messages show it.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// The files with an extension under a folder, at any depth, sorted. None if there is no folder.
pub(crate) fn files(dir: &Path, ext: &str) -> Vec<PathBuf> {
    let mut res = Vec::new();
    let Ok(entries) = fs::read_dir(dir) else { return res };
    for path in entries.map(|it| it.unwrap().path()) {
        if path.is_dir() {
            res.extend(files(&path, ext));
        } else if path.extension().is_some_and(|it| it == ext) {
            res.push(path);
        }
    }
    res.sort();
    res
}

/// The names of the folders directly in a folder.
pub(crate) fn folders(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let paths = entries.map(|it| it.unwrap().path()).filter(|it| it.is_dir());
    paths.filter_map(|it| Some(it.file_name()?.to_str()?.to_owned())).collect()
}
