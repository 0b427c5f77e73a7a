//! Imports within a folder go one way: its files form no circles, but for those that are listed. Deliberately absent: files
//! that import each other across folders, and the layers (`tidy`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::tidy::{code, files, folders, heads, read, root, shown};

/// The circles that there are, each with its folder. One that is cut leaves the list.
const CIRCLES: &[(&str, &[&str])] =
    &[("src/derive/bits/native", &["chase", "lower", "registers", "rows"])];

#[test]
fn files_of_a_folder_import_one_way() {
    let mut found = Vec::new();
    for layer in folders(&root().join("src")) {
        circles_below(&root().join("src").join(layer), &mut found);
    }
    found.sort();
    let listed = CIRCLES.iter().map(|(folder, names)| {
        (folder.to_string(), names.iter().map(ToString::to_string).collect())
    });
    assert_eq!(found, listed.collect::<Vec<(String, Vec<String>)>>());
}

fn circles_below(folder: &Path, found: &mut Vec<(String, Vec<String>)>) {
    for circle in circles(&imports_within(folder)) {
        found.push((shown(folder), circle));
    }
    for inner in folders(folder) {
        circles_below(&folder.join(inner), found);
    }
}

/// What each file of a folder imports of the others. The folder's own `mod.rs` stands above them all.
fn imports_within(folder: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let module = shown(folder).replacen("src/", "crate::", 1).replace('/', "::") + "::";
    let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in files(folder, "rs").iter().filter(|it| it.parent() == Some(folder)) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = read(path);
        let text = code(text.split("#[cfg(test)]\nmod ").next().unwrap_or_default());
        let used = heads(&text, "super::").into_iter().chain(heads(&text, &module));
        imports.insert(name, used.collect());
    }
    imports.remove("mod");
    let names: BTreeSet<String> = imports.keys().cloned().collect();
    for (name, used) in &mut imports {
        used.retain(|it| it != name && names.contains(it));
    }
    imports
}

/// The groups of names that reach each other.
fn circles(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<String>> =
        imports.keys().map(|it| (it, reach(imports, it))).collect();
    let mut groups = BTreeSet::new();
    for (name, reached_of) in &reached {
        if reached_of.contains(*name) {
            let back = |it: &&String| reached[it].contains(*name);
            groups.insert(reached_of.iter().filter(back).cloned().collect());
        }
    }
    groups.into_iter().collect()
}

/// What can be come to from a name.
fn reach(imports: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(name) = open.pop() {
        for next in &imports[&name] {
            if reached.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    reached
}

#[test]
fn circles_are_found() {
    let imports = |pairs: &[(&str, &[&str])]| {
        let owned = |it: &[&str]| it.iter().map(ToString::to_string).collect();
        pairs.iter().map(|(name, used)| (name.to_string(), owned(used))).collect()
    };
    let found = imports(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"]), ("d", &["a"])]);
    assert_eq!(circles(&found), [["b", "c"]]);
    // `super` is the name of no file.
    let found = heads("use super::{a::X, b}; super::super::c::y(); super::d()", "super::");
    assert_eq!(found, ["a", "b", "super", "d"]);
}
