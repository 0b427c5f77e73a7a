//! `rulemate save`, `load` and `diff`: games as files.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use serde_json::json;

use super::Verdict;
use super::args::{DiffArgs, LoadArgs, SaveArgs};
use super::board::{self, Symbols};
use super::names;
use super::output::{Out, read_bytes, trouble, trouble_with};
use super::setup::{self, Opened, refusal, restore};
use crate::game::Game;
use crate::presets::save::{Content, Doubt, Form, Restored, RulesFrom, Save};
use crate::presets::{Activation, Catalogue, Ruleset};
use crate::rules::plural;

/// The form of a save, by the name of its file.
fn form(path: &Path) -> Form {
    match path.extension().is_some_and(|it| it.eq_ignore_ascii_case("bin")) {
        true => Form::Binary,
        false => Form::Json,
    }
}

pub(crate) fn save(args: &SaveArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let Opened { game, rules, .. } = setup::open(&args.position)?;
    write(&game, &rules, Content { rules: args.embed_rules }, &args.file, out)?;
    Ok(Verdict::Fine)
}

/// Writes the save of a game to a file, or to the output.
pub(crate) fn write(
    game: &Game,
    rules: &Ruleset,
    content: Content,
    file: &Path,
    out: &mut Out,
) -> anyhow::Result<()> {
    let save = Save::of(game, rules, content)
        .map_err(|it| trouble(it, "this is a mistake of Rulemate's own: please report it"))?;
    let bytes = save.write(form(file));
    if file.as_os_str() == "-" {
        return Ok(out.write_all(&bytes)?);
    }
    std::fs::write(file, &bytes)
        .map_err(|why| trouble_with(file, why, "name a file that can be written"))?;
    let (facts, plies) = (plural(save.facts.len(), "fact"), plural(save.moves.len(), "ply"));
    out.line(format_args!("{}: {facts}, {plies}, {} bytes", file.display(), bytes.len()))
}

/// The state of a loaded save, as `--json` prints it.
#[derive(Serialize)]
struct State {
    game: String,
    /// The presets that are active at the end.
    presets: Vec<String>,
    fen: String,
    /// The attributes that would be different in a game set up from the FEN, which does not state them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fen_leaves_out: Vec<String>,
    side: Option<String>,
    plies: usize,
    /// Whether the save was made under other rules, or does not say under which (version 1).
    migrated: bool,
    result: Option<String>,
    moves: Vec<String>,
    switches: Vec<SwitchState>,
    /// Always false: loading replays the moves, but only an audit checks the proofs.
    proofs_checked: bool,
}

/// A change of presets in the middle of a game, as `--json` prints it.
#[derive(Serialize)]
struct SwitchState {
    /// How many moves were played before the change.
    after: usize,
    presets: Vec<String>,
}

impl SwitchState {
    fn of(game: &Game) -> Vec<Self> {
        let switches_after = |after| {
            let switches = game.switches_before(after).iter();
            switches.map(move |it| Self { after, presets: it.names.to_vec() })
        };
        (0..=game.history().len()).flat_map(switches_after).collect()
    }
}

pub(crate) fn load(args: &LoadArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let bytes = read_bytes(&args.file)?;
    let catalogue = setup::catalogue(&args.rules)?;
    let from = match (args.rules_from_save, args.migrate) {
        (true, _) => RulesFrom::Save,
        (false, true) => RulesFrom::Changed,
        (false, false) => RulesFrom::Here,
    };
    let Restored { mut game, rules, migrated } = restore(&bytes, &args.game, &catalogue, from)
        .with_context(|| args.file.display().to_string())?;
    let side = game.side().map(|it| names::side(&game, it));
    let state = State {
        game: rules.game().name.clone(),
        presets: Activation::texts(&Catalogue::active(&game)),
        fen: game.fen(),
        fen_leaves_out: rules.unsaid(&mut game),
        side,
        plies: game.history().len(),
        migrated,
        result: game.result().map(ToString::to_string),
        moves: game.history().iter().map(|it| it.san.to_string()).collect(),
        switches: SwitchState::of(&game),
        proofs_checked: false,
    };
    if args.json {
        out.json(&state)?;
        return Ok(Verdict::Fine);
    }
    let symbols = if args.ascii { Symbols::Ascii } else { Symbols::Unicode };
    out.line(board::of(&mut game, symbols))?;
    print(&state, out)?;
    Ok(Verdict::Fine)
}

/// The names, or `none`.
pub(crate) fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn print(state: &State, out: &mut Out) -> anyhow::Result<()> {
    out.line(format_args!("game: {}", state.game))?;
    if !state.presets.is_empty() {
        out.line(format_args!("presets: {}", state.presets.join(", ")))?;
    }
    out.line(format_args!("fen: {}", state.fen))?;
    if !state.fen_leaves_out.is_empty() {
        out.line(format_args!("the fen leaves out: {}", state.fen_leaves_out.join(", ")))?;
    }
    match (&state.result, &state.side) {
        (Some(result), _) => out.line(format_args!("over: {result}"))?,
        (None, Some(side)) => out.line(format_args!("to move: {side}"))?,
        (None, None) => {}
    }
    match state.moves.as_slice() {
        [] => out.line("plies: 0")?,
        moves => out.line(format_args!("plies: {} ({})", moves.len(), moves.join(" ")))?,
    }
    for SwitchState { after, presets } in &state.switches {
        out.line(format_args!("presets from ply {} on: {}", after + 1, listed(presets)))?;
    }
    if state.migrated {
        out.line("brought up to date: the save was made under other rules, or does not say which")?;
    }
    if state.plies > 0 {
        out.line("the proofs were not checked: `rulemate audit` checks them")?;
    }
    Ok(())
}

pub(crate) fn diff(args: &DiffArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let read = |path: &Path| -> anyhow::Result<Save> {
        let bytes = read_bytes(path)?;
        let undoubted = |(save, doubt): (Save, Option<Doubt>)| match doubt {
            None => Ok(save),
            Some(doubt) => Err(doubt.into()),
        };
        // The name of the game that a save of version 1 is taken to be of does not matter: only facts are compared.
        let read = Save::read(&bytes, "").and_then(undoubted);
        read.map_err(|it| refusal(&it)).with_context(|| path.display().to_string())
    };
    let (added, removed) = read(&args.from)?.difference(&read(&args.to)?);
    let found = !added.is_empty() || !removed.is_empty();
    if args.json {
        out.json(&json!({ "added": added, "removed": removed }))?;
        return Ok(Verdict::of(found));
    }
    for fact in &removed {
        out.line(format_args!("- {fact}"))?;
    }
    for fact in &added {
        out.line(format_args!("+ {fact}"))?;
    }
    Ok(Verdict::of(found))
}
