//! `rulemate new`: writes a small rule file (for a family, two) that can be played at once, as a starting point.
//!
//! The files come from `rules/templates`, with the name filled in. Existing files are not overwritten.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Verdict;
use super::args::{DEFAULT_GAME, NewArgs, NewKind};
use super::output::{Out, read_text, trouble, trouble_with};
use crate::presets::{Catalogue, Modifier};
use crate::rules;

#[derive(Debug, Serialize)]
struct Answer {
    files: Vec<PathBuf>,
    next: Vec<String>,
}

pub(crate) fn run(args: &NewArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let name = &args.name;
    check_name(name)?;
    if let Some(what) = name_in_use(args.kind, name)? {
        let fix = "choose another name";
        return Err(trouble(format!("there is a {what} already"), fix));
    }
    let files = files(args)?;
    if let Some((path, _)) = files.iter().find(|it| it.0.exists()) {
        let fix = "choose another name, or another folder with --into";
        return Err(trouble(format!("{} is there already", path.display()), fix));
    }
    for (path, text) in &files {
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text)).map_err(
            |why| trouble_with(path, why, "name a folder that can be written: --into DIR"),
        )?;
    }
    let next = next(args, &files[0].0);
    let files: Vec<PathBuf> = files.into_iter().map(|it| it.0).collect();
    if args.json {
        out.json(&Answer { files, next })?;
        return Ok(Verdict::Fine);
    }
    for path in &files {
        out.line(format_args!("wrote {}", path.display()))?;
    }
    out.line("try:")?;
    for command in next {
        out.line(format_args!("  {command}"))?;
    }
    Ok(Verdict::Fine)
}

/// The files to write, with their texts.
fn files(args: &NewArgs) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let name = &args.name;
    if let Some(from) = &args.from {
        let path = args.into.join(format!("{name}.dl"));
        return Ok(vec![(path, from_description(args.kind, name, from)?)]);
    }
    let (folder, templates) = match args.kind {
        NewKind::Game => (args.into.clone(), vec![("game", "")]),
        NewKind::Preset => (args.into.clone(), vec![("preset", "")]),
        NewKind::Piece => (args.into.clone(), vec![("piece", "")]),
        NewKind::Family => (args.into.join(name), vec![("family", ""), ("family-game", "-race")]),
    };
    let file = |(template, suffix): (&str, &str)| {
        (folder.join(format!("{name}{suffix}.dl")), fill_in(rules::template(template), name))
    };
    Ok(templates.into_iter().map(file).collect())
}

/// The rules of the preset that a JSON file describes (see [`Modifier`]).
fn from_description(kind: NewKind, name: &str, from: &Path) -> anyhow::Result<String> {
    if kind != NewKind::Preset {
        let fix = "leave out --from, or write: rulemate new preset NAME --from FILE";
        return Err(trouble("only a preset can be written from a description", fix));
    }
    let wrong =
        |why| trouble_with(from, why, "docs/first-preset.md has an example of a description");
    let mut modifier = Modifier::from_json(&read_text(from)?).map_err(wrong)?;
    name.clone_into(&mut modifier.id);
    Ok(modifier.to_rules().map_err(wrong)?.text.to_string())
}

/// Checks that the name can be that of a file, and of something in rules.
fn check_name(name: &str) -> anyhow::Result<()> {
    let fits = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
    let starts = name.starts_with(|it: char| it.is_ascii_lowercase());
    let hyphens_join = !name.ends_with('-') && !name.contains("--");
    if starts && name.len() <= 48 && name.chars().all(fits) && hyphens_join {
        return Ok(());
    }
    let fix = "use up to 48 lower-case letters and digits, with single hyphens between them; begin with a letter: royal-duck";
    Err(trouble(format!("rules cannot have the name {name:?}"), fix))
}

/// What is embedded under the name already, such as `preset coregal`: two of the same name do not load together. Of
/// pieces, only those of chess are compared.
fn name_in_use(kind: NewKind, name: &str) -> anyhow::Result<Option<String>> {
    let catalogue = Catalogue::embedded()?;
    let is_piece = || -> anyhow::Result<bool> {
        let rules = catalogue.load::<&str>(DEFAULT_GAME, &[])?;
        let schema = &rules.program().schema;
        let kinds = schema.domain_named("Kind");
        Ok(kinds.is_some_and(|it| schema.domain(it).member(name).is_some()))
    };
    let taken = |what: &str| Ok(Some(format!("{what} {name}")));
    let game = match kind {
        NewKind::Preset if catalogue.find_preset(name).is_ok() => return taken("preset"),
        NewKind::Piece if is_piece()? => return taken("piece"),
        NewKind::Family if catalogue.families().contains(name) => return taken("family"),
        NewKind::Preset => return Ok(None),
        NewKind::Game => name.to_owned(),
        NewKind::Piece => format!("{name}-chess"),
        NewKind::Family => format!("{name}-race"),
    };
    Ok(catalogue.find_game(&game).is_ok().then(|| format!("game {game}")))
}

/// A template with the name, the title and the letter of the piece filled in. The letter is the first of the name, or
/// `x` if a piece of chess has that one.
fn fill_in(text: &str, name: &str) -> String {
    let first = name.chars().next().unwrap_or('x');
    let letter = if "pnbrqk".contains(first) { 'x' } else { first };
    let mut title = name.replace('-', " ");
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let pairs = [
        ("{name}", name.to_owned()),
        ("{title}", title),
        ("{letter}", letter.to_string()),
        ("{LETTER}", letter.to_ascii_uppercase().to_string()),
    ];
    pairs.iter().fold(text.to_owned(), |text, (mark, value)| text.replace(mark, value))
}

/// The commands to try next.
fn next(args: &NewArgs, file: &Path) -> Vec<String> {
    let (name, path) = (&args.name, quoted(file));
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = quoted(folder);
    let play = match args.kind {
        NewKind::Game => format!("rulemate play {name} --rules {path} --random black"),
        NewKind::Preset => {
            format!("rulemate play chess --preset {name} --rules {path} --random black")
        }
        NewKind::Piece => format!("rulemate play {name}-chess --rules {path} --random black"),
        NewKind::Family => format!("rulemate play {name}-race --rules {folder} --random black"),
    };
    let tested = if args.kind == NewKind::Family { folder } else { path };
    vec![format!("rulemate check {tested}"), play, format!("rulemate test {tested}")]
}

/// A path as a word of a command, in quotes if a shell gives a meaning to its characters.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |it: char| it.is_alphanumeric() || "/._-+,:@".contains(it);
    match path.chars().all(|it| is_plain(it) || it == std::path::MAIN_SEPARATOR) {
        true => path,
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}
