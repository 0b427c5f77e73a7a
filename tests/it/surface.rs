//! The public surface: the modules of the crate and the names in each, which keep their meaning from version to version.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::{code, files, read, root, shown};

/// Every public module, where its text is, and its names. A name that is new is an event; one that goes breaks other
/// programs.
const MODULES: &[(&str, &str, &str)] = &[
    (
        "hosting",
        "hosting.rs",
        "Challenges Config Engine Host Journal Library Limits NameError Names Rate StoreError Web open router",
    ),
    (
        "opponent",
        "opponent/mod.rs",
        "Budget Choice Knowledge Lessons Level Method Opponent Score Stop",
    ),
    (
        "prelude",
        "prelude.rs",
        "Action Catalogue Content EntityId Error Explanation Fact Form GAME Game GameResult IllegalMove Limits Moment \
         Opinion PlayError Point Preset Record RulesFrom Ruleset Save Source Value",
    ),
    (
        "testing",
        "testing/mod.rs",
        "Piece Reachable Recomputed Session assert_derives assert_not_derives reachable",
    ),
    (
        "types",
        "types.rs",
        "ActionReport ActionView Activation ActivationError AddError ArgumentView AttrId Because CatalogueError \
         ContractError DefinitionError DefinitionFault Diagnostic Diagnostics Diagram Difference Doubt \
         EndError Ended Exhausted FactError FenError FieldView Finding GameEntry HeldFact JsonError \
         KindView Label LayoutEntry LetterFault LoadError MakeError MarkedSquares MoveError MoveFault Numbered \
         Objection Oddity OptionEntry OptionType Particulars PieceView Place PlaceError PlanError PointView \
         PresetEntry QuestionError Refusal ReportEffect ReportEvent ReportFact ReportStep Resource \
         RestoreError Restored RowChange RuleFile SaveError SavedMove SavedOwner SavedSwitch SavedValue \
         SetError SetFault Span StartError SvgElement SwitchError Trait View Warning Watch Zone",
    ),
];

#[test]
fn the_crate_has_these_modules() {
    let text = read(&root().join("src/lib.rs"));
    let public: BTreeSet<&str> = text
        .lines()
        .filter_map(|it| it.strip_prefix("pub ")?.strip_prefix("mod "))
        .map(|it| it.trim_end_matches([';', '{', ' ']))
        .collect();
    let listed = MODULES.iter().map(|it| it.0).chain(["internals"]).collect();
    assert_eq!(public, listed, "src/lib.rs and tests/it/surface.rs differ");
    let hidden = "#[doc(hidden)]\n#[cfg(not(front_door))]\npub mod internals {";
    assert!(text.contains(hidden), "the documentation must not show the layers");
}

#[test]
fn modules_have_these_names() {
    let found: BTreeMap<&str, BTreeSet<String>> =
        MODULES.iter().map(|(module, path, _)| (*module, names(path))).collect();
    let split = |it: &str| it.split_whitespace().map(str::to_owned).collect();
    let listed = MODULES.iter().map(|it| (it.0, split(it.2))).collect();
    assert_eq!(found, listed, "the crate and tests/it/surface.rs differ");
}

/// What a file declares as public or exports again, and its exported macros; what the documentation hides aside.
fn names(path: &str) -> BTreeSet<String> {
    let hidden = "#[doc(hidden)]\npub use ";
    let text = read(&root().join("src").join(path)).replace(hidden, "use ");
    let mut names = BTreeSet::new();
    for used in code(&text).split("pub use ").skip(1) {
        let used = used.split(';').next().expect("a statement");
        let list = match used.split_once('{') {
            Some((_, list)) => list.trim_end_matches('}'),
            None => used.rsplit("::").next().expect("a path"),
        };
        let words = list.split(',').map(|it| it.rsplit(" as ").next().unwrap_or(it).trim());
        names.extend(words.filter(|it| !it.is_empty()).map(str::to_owned));
    }
    let ident = |text: &str| {
        text.split(|it: char| !(it.is_alphanumeric() || it == '_')).next().map(str::to_owned)
    };
    for line in text.lines() {
        let rest = line
            .strip_prefix("macro_rules! ")
            .or_else(|| line.strip_prefix("pub ")?.split_once(' ').map(|it| it.1));
        names.extend(rest.filter(|_| !line.starts_with("pub use ")).and_then(ident));
    }
    // The macro that writes the kinds of `Error` stays inside.
    names.remove("boxed");
    names
}

/// Documentation that leads to what the documentation hides leads nowhere.
#[test]
fn docs_of_names_refer_to_nothing_hidden() {
    let names: BTreeSet<&str> = MODULES.iter().flat_map(|it| it.2.split_whitespace()).collect();
    let blocks: Vec<(String, DocBlock)> = files(&root().join("src"), "rs")
        .iter()
        .flat_map(|path| doc_blocks(&read(path)).into_iter().map(|it| (shown(path), it)))
        .collect();
    let methods = |hidden: bool| -> BTreeSet<&str> {
        blocks.iter().filter(|it| it.1.hidden == hidden).filter_map(|it| it.1.method()).collect()
    };
    let (visible, hidden) = (methods(false), methods(true));
    let mut wrong = Vec::new();
    for (path, block) in blocks.iter().filter(|it| !it.1.hidden) {
        let is_name = block.declared().is_some_and(|it| names.contains(it));
        if is_name && block.docs.contains("module's head") {
            wrong.push(format!("{path}: {}: the head of a private module", block.item));
        }
        for link in block.docs.split("[`").skip(1).filter_map(|it| it.split("`]").next()) {
            let Some((owner, method)) = link.split_once("::") else { continue };
            if names.contains(owner) && hidden.contains(method) && !visible.contains(method) {
                wrong.push(format!("{path}: {}: {link}", block.item));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// The documentation of a public item.
struct DocBlock {
    docs: String,
    hidden: bool,
    item: String,
}

impl DocBlock {
    /// The name of the type that it declares.
    fn declared(&self) -> Option<&str> {
        let words = ["pub struct ", "pub enum ", "pub trait "];
        let rest = words.iter().find_map(|it| self.item.strip_prefix(it))?;
        rest.split(|it: char| !it.is_alphanumeric()).next()
    }

    fn method(&self) -> Option<&str> {
        self.item
            .strip_prefix("pub fn ")?
            .split(|it: char| !(it.is_alphanumeric() || it == '_'))
            .next()
    }
}

/// The documented public items of a file: functions, types and fields.
fn doc_blocks(text: &str) -> Vec<DocBlock> {
    let (mut blocks, mut docs, mut hidden) = (Vec::new(), String::new(), false);
    for line in text.lines().map(str::trim) {
        if let Some(doc) = line.strip_prefix("///") {
            docs.push_str(doc);
            docs.push('\n');
        } else if line.starts_with("#[") {
            hidden |= line.contains("doc(hidden)");
        } else {
            if line.starts_with("pub ") {
                blocks.push(DocBlock { docs: docs.clone(), hidden, item: line.into() });
            }
            docs.clear();
            hidden = false;
        }
    }
    blocks
}
