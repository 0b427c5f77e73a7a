//! `docs/relations.md` is what the declarations of the rule files say.
//!
//! Deliberately absent: the rules themselves, which are best read where they are.

use std::fmt::Write;
use std::path::Path;

use rulemate::internals::facts::{BOOL, Shape};
use rulemate::internals::rules::{
    Action, Input, Legality, Program, Relation, Role, Template, TemplatePart, Type, attribute_name,
    embedded_folder, kind, meaning, signature,
};

use crate::rules::{APART, apart, compiled, game_sources, package};

/// `UPDATE_DOCS=1` writes the document anew.
#[test]
fn the_document_of_relations_is_current() {
    let mut written = document(&compiled(package()));
    for family in ["draughts", "stones", "walkers"] {
        let mut sources = embedded_folder("rules/core");
        sources.extend(embedded_folder(&format!("rules/{family}")));
        let all = document(&compiled(sources));
        let own = format!("rules/{family}/");
        for section in all.split("\n## ").filter(|it| it.starts_with(&own)) {
            written += &format!("\n## {section}");
        }
    }
    for sources in [game_sources("xiangqihouse"), apart()] {
        let all = document(&compiled(sources));
        let is_apart = |it: &&str| APART.iter().any(|path| it.starts_with(path));
        for section in all.split("\n## ").filter(is_apart) {
            written += &format!("\n## {section}");
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/relations.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &written).expect("writable");
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == written, "docs/relations.md is stale: run the tests with UPDATE_DOCS=1");
}

/// The declarations of a program, as Markdown: per file its relations with columns and sentences, then
/// domains, actions and the attributes that distinguish positions.
pub(crate) fn document(program: &Program) -> String {
    let mut out = String::new();
    out.push_str("# Relations\n\n");
    out.push_str("Written from the declarations in the rule files; do not edit by hand.\n");
    out.push_str("`docs/rules.md` explains the language.\n\n");
    out.push_str("* **input**: facts of the game; reactions change them\n");
    out.push_str("* **static**: computed once, when the rules are loaded\n");
    out.push_str("* **board**: comes with the board's domain\n");
    out.push_str("* **derived**: follows from the facts at every moment\n");
    out.push_str("* **action**: derived, and each row is something a player may do\n");
    out.push_str("* **trial**: its rows are found by playing the action out and taking it back\n");
    out.push_str(
        "* *open*: other files may add rules; *key*: the last column follows from the others\n",
    );
    for (at, source) in program.sources.iter().enumerate() {
        let declared: Vec<&Relation> =
            program.nameable().filter(|it| usize::from(it.span.source) == at).collect();
        if !declared.is_empty() {
            write_file(&mut out, program, &source.path, &source.text, &declared);
        }
    }
    write_domains(&mut out, program);
    write_attributes(&mut out, program);
    write_actions(&mut out, program);
    out
}

fn write_file(out: &mut String, program: &Program, path: &str, text: &str, list: &[&Relation]) {
    let _ = write!(out, "\n## {path}\n\n");
    if let Some(about) = head(text) {
        let about = about.split_once('—').map_or(&*about, |it| it.1);
        let _ = write!(out, "{}\n\n", sentence_case(about.trim()));
    }
    out.push_str("| relation | kind | meaning |\n|---|---|---|\n");
    for relation in list {
        let signature = signature(program, &relation.name, &relation.columns);
        let kind = kind(program, relation);
        let _ = writeln!(out, "| `{signature}` | {kind} | {} |", meaning(&relation.sentence));
    }
}

/// The comment that a file begins with, up to the first line that ends with a sentence.
fn head(text: &str) -> Option<String> {
    let mut lines = text.lines().map_while(|it| it.strip_prefix('%')).map(str::trim);
    let mut head = lines.next()?.to_owned();
    for line in lines.take_while(|it| !it.is_empty()) {
        if head.ends_with('.') {
            break;
        }
        head = format!("{head} {line}");
    }
    Some(head)
}

fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|it| it.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn write_domains(out: &mut String, program: &Program) {
    out.push_str("\n## Domains\n\n| domain | members |\n|---|---|\n");
    for domain in program.schema.domains() {
        let members = match &domain.shape {
            Shape::Members(names) => names.join(", "),
            Shape::Grid { files, ranks } => format!("a board of {files} files and {ranks} ranks"),
            Shape::Entities { cap } => format!("entities, at most {cap}"),
        };
        let _ = writeln!(out, "| `{}` | {members} |", domain.name);
    }
}

fn write_attributes(out: &mut String, program: &Program) {
    out.push_str("\n## Attributes\n\n| attribute | read by | default |\n|---|---|---|\n");
    for relation in program.nameable() {
        let Role::Input(input) = relation.role else {
            continue;
        };
        let attribute = program.schema.attribute(input.attr());
        let ty = match input {
            Input::Key(_) | Input::Game(_) => relation.columns.last().map(|it| it.ty),
            Input::Flag(_) | Input::GameFlag(_) => Some(Type::Domain(BOOL)),
            Input::List(..) => None,
        };
        let default = match (attribute.default, ty) {
            (Some(raw), Some(ty)) => program.value_name(ty, raw),
            _ => list_default(program, relation, input),
        };
        let name = attribute_name(program, input);
        let _ = writeln!(out, "| `{name}` | `{}` | {default} |", relation.name);
    }
}

/// The default members of a list: `d4+e4`.
fn list_default(program: &Program, relation: &Relation, input: Input) -> String {
    let (Input::List(..), Some(column)) = (input, relation.columns.last()) else {
        return String::new();
    };
    let usual = (0..).zip(input.attrs());
    let usual = usual.filter(|it| program.schema.attribute(it.1).default == Some(1));
    usual.map(|it| program.value_name(column.ty, it.0)).collect::<Vec<_>>().join("+")
}

fn write_actions(out: &mut String, program: &Program) {
    out.push_str(
        "\n## Actions\n\n| action | in UCI | safety | pseudo-legal |\n|---|---|---|---|\n",
    );
    for action in &program.actions {
        let legality = match action.legality {
            Legality::Rules => "by rules",
            Legality::Simulate => "by simulation",
            Legality::Never => "never legal: for trials",
        };
        let pseudo_legal = action.pseudo_legal.map(|it| format!("`{}`", program.relation(it).name));
        let _ = writeln!(
            out,
            "| `{}` | `{}` | {legality} | {} |",
            program.relation(action.rel).name,
            template(program, action, &action.uci),
            pseudo_legal.unwrap_or_default(),
        );
    }
    if !program.repetition.is_empty() {
        let names: Vec<String> = program
            .repetition
            .iter()
            .map(|&it| format!("`{}`", program.relation(it).name))
            .collect();
        let _ =
            write!(out, "\nTwo positions are the same if they agree in {}.\n", names.join(", "));
    }
}

fn template(program: &Program, action: &Action, template: &Template) -> String {
    template
        .0
        .iter()
        .map(|it| match it {
            TemplatePart::Text(text) => text.clone(),
            TemplatePart::Optional(all) => {
                format!("[{}]", self::template(program, action, &Template(all.clone())))
            }
            part => format!("{{{}}}", template_part(program, action, part)),
        })
        .collect()
}

fn template_part(program: &Program, action: &Action, part: &TemplatePart) -> String {
    match part {
        TemplatePart::Text(text) => text.clone(),
        TemplatePart::Optional(_) => String::new(),
        TemplatePart::Column(at) => action.columns[*at].name.clone(),
        TemplatePart::Lookup(rel, inner) => {
            format!("{}({})", program.relation(*rel).name, template_part(program, action, inner))
        }
        TemplatePart::Row(rel, columns) => {
            let names: Vec<&str> =
                columns.iter().map(|it| action.columns[*it].name.as_str()).collect();
            format!("{}({})", program.relation(*rel).name, names.join(", "))
        }
        TemplatePart::Among(inner, keys) => {
            let of = |it| template_part(program, action, it);
            let keys: Vec<String> = keys.iter().map(of).collect();
            format!("{} among {}", of(inner), keys.join(", "))
        }
    }
}
