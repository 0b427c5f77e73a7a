//! `rulemate check`: reports all mistakes in rule files.
//!
//! A file is checked with what it builds on. A game is loaded with its presets. A preset, or a part of one, is put on
//! top of the default game, or the first that fits, with the presets that it requires. A module is checked as part of
//! the files that include it. Any other file must fit every game of its family, or every game if it names no family.
//! All given files are loaded together, so a game may use a preset next to it; one at the path of an embedded file
//! replaces it. A file that does not build on the rules of this package is checked alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::Verdict;
use super::args::{CheckArgs, DEFAULT_GAME};
use super::output::{Out, report, trouble_with};
use super::setup;
use super::watch::run_on_changes;
use crate::derive::Plan;
use crate::facts::{meant, nearest};
use crate::game::drawing;
use crate::moves::played_out;
use crate::opponent::unread_features;
use crate::presets::{
    Catalogue, CatalogueError, GameEntry, LoadError, Ruleset, at_its_place, load_with_included,
    unknown_keys,
};
use crate::rules::{
    Diagnostics, Input, Meta, Program, Relation, Role, Source, Span, compile, metas, plural,
};

/// A file as `--json` prints it.
#[derive(Debug, Serialize)]
struct Answer {
    file: String,
    ok: bool,
    diagnostics: serde_json::Value,
    /// Notes on correct code that costs more than necessary, and on what a file with mistakes should be part of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// A file without mistakes.
#[derive(Default)]
pub(crate) struct CheckedFile {
    /// The program of the file with what it builds on; of several games, the one with most rules. `None` if there
    /// was no game to check it with.
    pub(crate) program: Option<Arc<Program>>,
    pub(crate) notes: Vec<String>,
}

impl CheckedFile {
    /// Adds the result of checking the file with another game.
    fn join(&mut self, other: Self) {
        let rules = |it: &Option<Arc<Program>>| it.as_ref().map_or(0, |it| it.rules.len());
        if rules(&other.program) > rules(&self.program) {
            self.program = other.program;
        }
        let new = other.notes.into_iter().filter(|it| !self.notes.contains(it));
        let new: Vec<String> = new.collect();
        self.notes.extend(new);
    }
}

/// What is wrong with a file.
pub(crate) enum Fault {
    Rules(Box<Diagnostics>),
    /// A fault without a place in the rules: in the metadata of the file, or in a game that it is part of.
    Other(String),
}

pub(crate) fn run(args: &CheckArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let watched = [&args.files[..], &args.rules.rules].concat();
    run_on_changes(args.watch, &watched, out, |out| run_once(args, out))
}

fn run_once(args: &CheckArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::Fine;
    let (mut files, mut included) = (Vec::new(), Vec::new());
    for path in &args.files {
        match load_with_included(path) {
            Ok((sources, _)) if sources.is_empty() => {
                report(&trouble_with(
                    path,
                    "no rule file in it",
                    "name a folder that has some (.dl)",
                ));
                verdict = Verdict::Unreadable;
            }
            Ok((sources, more)) => {
                files.extend(sources.into_iter().map(|it| (it.path.clone(), at_its_place(it))));
                included.extend(more);
            }
            Err(why) => {
                report(&trouble_with(path, why, "name a rule file (.dl), or a folder of them"));
                verdict = Verdict::Unreadable;
            }
        }
    }
    let mut catalogue = setup::catalogue(&args.rules)?;
    for source in included {
        // If a file cannot be added, the check of the files that include it reports it as missing.
        let _ = catalogue.add(source);
    }
    let clashes: Vec<Option<CatalogueError>> =
        files.iter().map(|(_, source)| catalogue.add(source.clone()).err()).collect();
    let mut shown = BTreeMap::new();
    for ((file, source), clash) in files.iter().zip(clashes) {
        let checked = match clash {
            Some(clash) => Err(fault(source, clash.to_string())),
            None => check(&catalogue, source, &mut || true),
        };
        verdict = verdict.max(Verdict::of(checked.is_err()));
        let mut advice = Vec::new();
        if let Err(Fault::Rules(_)) = checked {
            advice = unknown_keys(source);
            advice.extend(narrower(&catalogue, source));
        }
        match args.json {
            true => print_json(file, checked, advice, out)?,
            false => print(file, checked, advice, &mut shown, out)?,
        }
    }
    Ok(verdict)
}

/// Asked before a further program is made to check a file with: whether to go on.
pub(crate) type GoOn<'g> = &'g mut dyn FnMut() -> bool;

/// The result for the file together with what it builds on.
pub(crate) fn check(
    catalogue: &Catalogue,
    source: &Source,
    go_on: GoOn<'_>,
) -> Result<CheckedFile, Fault> {
    let mut together = fit(catalogue, source, source, go_on);
    if let Ok(fine) = &mut together {
        fine.notes.extend(unknown_keys(source));
    }
    if let Err(Fault::Other(why)) = together {
        return Err(fault(source, why));
    }
    let Err(Fault::Rules(found)) = &together else { return together };
    // A file that says what it builds on is not checked alone, even if it has fewer mistakes then.
    if metas(source).iter().any(|it| matches!(it.key.as_str(), "family" | "game")) {
        return together;
    }
    match compile(vec![source.clone()]).map(Arc::new) {
        Ok(program) => {
            Plan::compile(Arc::clone(&program)).map_err(|it| Fault::Other(it.to_string()))?;
            Ok(CheckedFile { program: Some(program), notes: unknown_keys(source) })
        }
        // Where more names are unknown alone than together with the rules of this package, the file builds on these.
        Err(alone) if count(&alone) < count(found) && unknown(&alone) <= unknown(found) => {
            Err(Fault::Rules(Box::new(alone)))
        }
        Err(_) => together,
    }
}

/// A fault without a place in the rules. A line of the file that cannot be read, or means nothing, may be the reason.
pub(crate) fn fault(source: &Source, mut why: String) -> Fault {
    let unread = compile(vec![source.clone()]).err().and_then(Diagnostics::unread);
    if let Some(found) = unread {
        return Fault::Rules(Box::new(found.with_note(why)));
    }
    let path = &source.path;
    why.extend(unknown_keys(source).iter().map(|note| format!("\n{path}: note: {note}")));
    Fault::Other(why)
}

/// Advice for a file that fits only some games, but must fit all, since it does not say what it is part of.
fn narrower(catalogue: &Catalogue, source: &Source) -> Option<String> {
    let says = ["game", "family", "layout", "preset", "part", "module"];
    if metas(source).iter().any(|it| says.contains(&it.key.as_str())) {
        return None;
    }
    let games = catalogue.games();
    let fits = |it: &GameEntry| catalogue.load::<&str>(&it.name, &[]).is_ok();
    let unfit = games.iter().find(|it| !fits(it))?;
    let fits_family =
        |family: &str| games.iter().filter(|it| it.family.as_deref() == Some(family)).all(fits);
    let default = games.iter().find(|it| it.name == DEFAULT_GAME && fits(it));
    // A file that fits the default game is taken to be meant for that game's family.
    let meant = default.map_or(games, std::slice::from_ref);
    let mut families: Vec<&str> = meant.iter().filter_map(|it| it.family.as_deref()).collect();
    families.dedup();
    let line = match families.into_iter().find(|it| fits_family(it)) {
        Some(family) => format!(".meta family \"{family}\""),
        None => default.map(|_| ".meta preset \"NAME\"".to_owned())?,
    };
    Some(format!(
        "a file of no game, family or preset must fit every game, and this one does not fit {}; put `{line}` on top",
        unfit.name
    ))
}

/// Checks a module as a part of the files that include it, since it may use their names.
fn fit_module(
    catalogue: &Catalogue,
    source: &Source,
    module: &str,
    metas: &[Meta],
    go_on: GoOn<'_>,
) -> Result<CheckedFile, Fault> {
    let includers = catalogue.includers(&source.path);
    if includers.is_empty() {
        return fit_alone(catalogue, source, module, metas, go_on);
    }
    let mut fine = CheckedFile::default();
    for includer in includers {
        if fine.program.is_some() && !go_on() {
            break;
        }
        fine.join(fit(catalogue, includer, source, go_on)?);
    }
    Ok(fine)
}

/// Checks a module that no other file includes as part of a preset that only includes it.
fn fit_alone(
    catalogue: &Catalogue,
    source: &Source,
    module: &str,
    metas: &[Meta],
    go_on: GoOn<'_>,
) -> Result<CheckedFile, Fault> {
    let (folder, file) = match source.path.rsplit_once('/') {
        Some((folder, file)) => (format!("{folder}/"), file),
        None => (String::new(), source.path.as_str()),
    };
    let preset = format!("includes-{module}");
    let family = named(metas, "family");
    let family = family.map(|it| format!(".meta family \"{it}\"\n")).unwrap_or_default();
    let text = format!(
        ".meta preset \"{preset}\"\n{family}.meta include \"{file}\"\n.domain Preset += {{ {preset} }}\n"
    );
    let includes = Source { path: format!("{folder}{preset}.dl"), text: text.into() };
    let mut catalogue = catalogue.clone();
    catalogue.add(includes.clone()).map_err(|it| Fault::Other(it.to_string()))?;
    fit(&catalogue, &includes, source, go_on)
}

/// Compiles the games that a file must fit: `source` is the file asked about, or one that includes it. Notes about
/// any other file than the one asked about are left to the check of that file.
fn fit(
    catalogue: &Catalogue,
    source: &Source,
    asked: &Source,
    go_on: GoOn<'_>,
) -> Result<CheckedFile, Fault> {
    let metas = metas(source);
    if let Some(module) = named(&metas, "module") {
        return fit_module(catalogue, source, module, &metas, go_on);
    }
    let family = named(&metas, "family");
    let Target { games, presets, is_for_all } = target(catalogue, &metas);
    let is_without_games = games.is_empty();
    let mut fine = CheckedFile::default();
    for game in games {
        if fine.program.is_some() && !go_on() {
            break;
        }
        let is_one_of_many = is_for_all && game != DEFAULT_GAME;
        let loaded = match catalogue.load(game, &presets) {
            Ok(loaded) => loaded,
            // A file for several games need not fit the letters of each.
            Err(LoadError::Letter(why)) if is_one_of_many => {
                fine.notes.push(format!("the game {game} does not load with it: {why}"));
                continue;
            }
            Err(why) => {
                let many = family.filter(|_| is_one_of_many).map(|family| (game, family));
                return Err(unfit(why, asked, many));
            }
        };
        let mut notes = start(&loaded, source, &metas)?;
        if source.path != asked.path {
            notes.clear();
        }
        notes.extend(notes_on(catalogue, &loaded, asked));
        let program = Some(Arc::clone(loaded.program()));
        fine.join(CheckedFile { program, notes });
    }
    let layout = named(&metas, "layout").filter(|_| named(&metas, "game").is_none());
    let of_layout = |it: &GameEntry| it.layout.as_deref() == layout;
    if let Some(layout) = layout.filter(|_| !catalogue.games().iter().any(of_layout)) {
        fine.notes.push(format!("its start was not checked: no game has the layout {layout}"));
    }
    if fine.program.is_none() {
        let why = match is_without_games {
            true => no_game(catalogue, family),
            false => "no game loads with it".to_owned(),
        };
        fine.notes.push(format!("nothing was checked: {why}"));
    }
    Ok(fine)
}

/// The fault of a file with which a game does not load. `many` has the game and its family if the file has to go with
/// every game of that family.
fn unfit(why: LoadError, asked: &Source, many: Option<(&str, &str)>) -> Fault {
    match (why, many) {
        (LoadError::Rules(found), None) => Fault::Rules(found),
        (LoadError::Rules(found), Some((game, family))) => {
            let note = format!(
                "that is so with the game {game}: a file that is no game, preset or part of one has to go \
                 with every game of the family {family}"
            );
            Fault::Rules(Box::new(found.with_note(note)))
        }
        (LoadError::Plan(why), _) => Fault::Other(why.to_string()),
        (LoadError::TooMuch { why, .. }, _) => Fault::Other(why.to_string()),
        (other, _) => {
            let (why, path) = (other.to_string(), &asked.path);
            let is_placed = why.starts_with(path.as_str());
            Fault::Other(if is_placed { why } else { format!("{path}: {why}") })
        }
    }
}

/// Why there is no game to check a file with.
fn no_game(catalogue: &Catalogue, family: Option<&str>) -> String {
    let Some(family) = family else { return "there is no game".to_owned() };
    // The file itself may be all that there is of the family.
    let others = catalogue.families().into_iter().filter(|it| *it != family);
    let near = nearest(family, others).map(|it| format!("; did you mean {it}?"));
    format!("there is no game of the family {family}{}", near.unwrap_or_default())
}

/// The games that a file must fit, and the presets that are put on top of them.
struct Target<'c> {
    games: Vec<&'c str>,
    presets: Vec<String>,
    /// Whether these are all games (of the file's family, if it names one), the default game first: its rules are those
    /// that the author is likeliest to know.
    is_for_all: bool,
}

fn target<'c>(catalogue: &'c Catalogue, metas: &'c [Meta]) -> Target<'c> {
    let on = |game: Option<&'c str>, presets| Target {
        games: game.into_iter().collect(),
        presets,
        is_for_all: false,
    };
    if let Some(game) = named(metas, "game") {
        return on(Some(game), Vec::new());
    }
    if let Some(preset) = named(metas, "preset") {
        let entry = catalogue.presets().iter().find(|it| it.preset == preset);
        let game = entry.map_or(DEFAULT_GAME, |it| catalogue.game_for(it, DEFAULT_GAME));
        return on(Some(game), catalogue.with_required(&[preset]));
    }
    let family = named(metas, "family");
    let fits = |it: &&GameEntry| family.is_none() || it.family.as_deref() == family;
    let all = catalogue.games().iter().filter(fits).map(|it| it.name.as_str());
    let (mut games, others): (Vec<&str>, Vec<&str>) = all.partition(|it| *it == DEFAULT_GAME);
    games.extend(others);
    match named(metas, "part") {
        Some(preset) => on(games.first().copied(), catalogue.with_required(&[preset])),
        None => Target { games, presets: Vec::new(), is_for_all: true },
    }
}

/// The value of the first `.meta` line of a key.
fn named<'m>(metas: &'m [Meta], key: &str) -> Option<&'m str> {
    metas.iter().find(|it| it.key == key).map(|it| it.value.as_str())
}

/// Notes on what costs more than necessary in a file, and on its lines that do nothing.
fn notes_on(catalogue: &Catalogue, loaded: &Ruleset, asked: &Source) -> Vec<String> {
    let (program, contract) = (loaded.program(), loaded.contract());
    let is_asked = |source: u16| program.sources[usize::from(source)].path == asked.path;
    let played_out = played_out(program, contract.untenable).into_iter();
    let mut notes: Vec<String> = played_out.filter(|it| is_asked(it.0)).map(|it| it.1).collect();
    let mut note = |span: Span, text: String| {
        if is_asked(span.source) {
            notes.push(format!("line {}: {text}", span.line));
        }
    };
    for meta in unread_features(program, contract) {
        note(meta.span, format!("`.meta feature` names no relation of sides: {}", meta.value));
    }
    for (meta, expected) in drawing::unread(program, contract) {
        let Meta { key, value, span } = meta;
        note(*span, format!("`.meta {key} \"{value}\"` draws nothing: expected {expected}"));
    }
    for relation in program.relations.iter().filter(|it| has_idle_default(program, it)) {
        let text = format!("`{}` has a default, but pieces start without it", relation.name);
        note(relation.span, text);
    }
    notes.extend(notes_on_options(catalogue, program, asked));
    notes
}

/// Notes on `.meta` lines of a preset's file that are about options or presets that there are not.
fn notes_on_options(catalogue: &Catalogue, program: &Program, asked: &Source) -> Vec<String> {
    let metas = metas(asked);
    let preset = metas.iter().find(|it| matches!(it.key.as_str(), "preset" | "part"));
    let options = preset.map(|it| catalogue.options_of(program, &it.value)).unwrap_or_default();
    let names: Vec<&str> = options.iter().map(|it| it.name.as_str()).collect();
    let presets: Vec<&str> = catalogue.presets().iter().map(|it| it.preset.as_str()).collect();
    let note = |it: &Meta| {
        let Meta { key, value, span } = it;
        let (name, does, form) = match key.as_str() {
            "option" => (value.split_once(": ").map_or("", |it| it.0), "describes", "what it sets"),
            "range" => (value.split(':').next()?.trim(), "bounds", "LEAST..MOST"),
            "compatible" if !presets.contains(&value.as_str()) => {
                let near = meant(&nearest(value, presets.iter().copied()).map(String::from));
                return Some(format!(
                    "line {}: `.meta compatible \"{value}\"` names no preset{near}",
                    span.line
                ));
            }
            _ => return None,
        };
        let expected = match names.is_empty() {
            _ if preset.is_none() || names.contains(&name) => return None,
            true => "the preset has none; an option is an input about the activation, `attr \"PRESET.OPTION\"`".to_owned(),
            false => format!("expected `NAME: {form}`, where NAME is one of {}", names.join(", ")),
        };
        Some(format!("line {}: `.meta {key} \"{value}\"` {does} no option: {expected}", span.line))
    };
    metas.iter().filter_map(note).collect()
}

/// Whether a relation reads facts of pieces that have a default. It is never used: only facts of the game, of members and
/// of activations (whose names begin with that of the preset and a period) start with one.
fn has_idle_default(program: &Program, relation: &Relation) -> bool {
    let Role::Input(Input::Key(attr) | Input::Flag(attr)) = relation.role else { return false };
    let attribute = program.schema.attribute(attr);
    let is_of_pieces = program.schema.owners(attr).is_none() && !attribute.name.contains('.');
    is_of_pieces && attribute.default.is_some()
}

/// Sets up the start position of a file that is a game or a layout. Returns notes on parts that had to be left out.
fn start(loaded: &Ruleset, source: &Source, metas: &[Meta]) -> Result<Vec<String>, Fault> {
    let meta = |key| metas.iter().find(|it| it.key == key);
    let game = loaded.game();
    let own = meta("game").filter(|it| it.value == game.name);
    let layout = meta("layout").map(|it| it.value.as_str());
    let is_declared =
        |it: &&Meta| own.is_some() || layout == game.layout.as_deref() && game.start == it.value;
    let start = meta("start").filter(is_declared);
    let Some(meta_line) = start.or(own) else { return Ok(Vec::new()) };
    let fault = |line: u32, why: String| Fault::Other(format!("{}:{line}: {why}", source.path));
    let mut set_up = loaded.start(None).map_err(|why| {
        fault(meta_line.span.line, format!("the game cannot start like that: {why}"))
    })?;
    if let Some(own) = own {
        if loaded.program().actions.is_empty() {
            let why = "no side can do anything in this game: it has no `.action`, and no `.meta family` or preset that \
                       brings one";
            return Err(fault(own.span.line, why.into()));
        }
        if set_up.listing().is_empty() && set_up.result().is_none() {
            let why = "at the start there is neither an action that can be taken nor a result";
            return Err(fault(meta_line.span.line, why.into()));
        }
    }
    // Warnings about the start of a layout are reported for the layout.
    let warnings = set_up.warnings().iter().filter(|_| start.is_some());
    Ok(warnings.map(|it| format!("line {}: {it}", meta_line.span.line)).collect())
}

fn count(found: &Diagnostics) -> usize {
    found.list().len() + found.dropped()
}

/// The number of relations and domains that are used but not declared.
fn unknown(found: &Diagnostics) -> usize {
    found.list().iter().filter(|it| matches!(it.code, "E201" | "E202")).count()
}

fn print_json(
    file: &str,
    checked: Result<CheckedFile, Fault>,
    advice: Vec<String>,
    out: &mut Out,
) -> anyhow::Result<()> {
    let ok = checked.is_ok();
    let (diagnostics, notes) = match checked {
        Ok(fine) => (serde_json::json!([]), fine.notes),
        Err(Fault::Rules(found)) => (found.to_json(), advice),
        Err(Fault::Other(it)) => (serde_json::json!([{ "message": it }]), Vec::new()),
    };
    out.json_line(&Answer { file: file.to_owned(), ok, diagnostics, notes })
}

/// Prints the result for a file. All files that build on a file with mistakes have the same ones, so `shown` has each
/// text that was printed, with the file for which it was.
fn print<'f>(
    file: &'f str,
    checked: Result<CheckedFile, Fault>,
    advice: Vec<String>,
    shown: &mut BTreeMap<String, &'f str>,
    out: &mut Out,
) -> anyhow::Result<()> {
    match checked {
        Ok(CheckedFile { program, notes }) => {
            let rules = program.map_or(0, |it| it.rules.len());
            let rules = plural(rules, "rule");
            out.line(format_args!("{file}: ok ({rules} with what it builds on)"))?;
            for note in notes {
                out.line(format_args!("{file}: note: {note}"))?;
            }
        }
        Err(Fault::Rules(found)) => {
            let text = found.render(out.paints());
            let first = shown.get(&text).copied();
            if first.is_none() {
                out.painted(text.trim_end())?;
                shown.insert(text, file);
            }
            for note in advice {
                out.line(format_args!("{file}: note: {note}"))?;
            }
            let same = first.map(|it| format!(", the same as for {it}")).unwrap_or_default();
            out.line(format_args!("{file}: {} found{same}", count(&found)))?;
        }
        Err(Fault::Other(message)) => {
            out.line(message)?;
            out.line(format_args!("{file}: 1 found"))?;
        }
    }
    Ok(())
}
