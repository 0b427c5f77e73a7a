//! Games written by hand: a start, moves, and what must hold after each. For rules that no other
//! program plays.
//!
//! A file of `tests/data/golden/*.json` has a list `games`. A game has
//! * `name`: what it shows;
//! * `game`, and `presets` as `--preset` takes them (may be left out), `start` (a FEN; may be left out);
//! * `expect`: what holds before the first move (may be left out);
//! * `moves`: steps with `move` (UCI) and `expect`, or with `refused` (UCI): not legal here.
//!
//! What can be expected:
//! * `fen`: the whole FEN;
//! * `legal`, `illegal`: moves in UCI, some of all;
//! * `moves`: how many there are;
//! * `holds`, `fails`: rows such as `attacks(e4, d5)`, a square standing for the piece on it, `_` for
//!   anything;
//! * `result`: as in `white wins by checkmate`, or `null` while the game goes on.
//!
//! Every game is also played with the referee, and taken back to its start.

use std::collections::BTreeSet;
use std::path::Path;

use rulemate::derive::{Backend, Tuple};
use rulemate::facts::Shape;
use rulemate::game::Game;
use rulemate::presets::Catalogue;
use rulemate::rules::Type;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    games: Vec<Golden>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Golden {
    name: String,
    game: String,
    #[serde(default)]
    presets: Vec<String>,
    start: Option<String>,
    #[serde(default)]
    expect: Expect,
    #[serde(default)]
    moves: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    #[serde(rename = "move")]
    played: Option<String>,
    refused: Option<String>,
    #[serde(default)]
    expect: Expect,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    fen: Option<String>,
    #[serde(default)]
    legal: Vec<String>,
    #[serde(default)]
    illegal: Vec<String>,
    moves: Option<usize>,
    #[serde(default)]
    holds: Vec<String>,
    #[serde(default)]
    fails: Vec<String>,
    /// `Some(None)` for `null`.
    #[serde(default, deserialize_with = "given")]
    result: Option<Option<String>>,
}

fn given<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(from).map(Some)
}

impl Expect {
    fn check(&self, game: &mut Game) -> Result<(), String> {
        if let Some(fen) = self.fen.as_ref().filter(|it| **it != game.fen()) {
            return Err(format!("found {}, expected {fen}", game.fen()));
        }
        let legal: BTreeSet<String> = game.listing().into_iter().map(|it| it.0).collect();
        if let Some(text) = self.legal.iter().find(|it| !legal.contains(*it)) {
            return Err(format!("{text} is not legal, only {legal:?}"));
        }
        if let Some(text) = self.illegal.iter().find(|it| legal.contains(*it)) {
            return Err(format!("{text} is legal"));
        }
        if self.moves.is_some_and(|it| it != legal.len()) {
            return Err(format!("{} moves: {legal:?}", legal.len()));
        }
        for text in &self.holds {
            if !holds(game, text)? {
                return Err(format!("{text} does not hold"));
            }
        }
        for text in &self.fails {
            if holds(game, text)? {
                return Err(format!("{text} holds"));
            }
        }
        let result = game.result().map(ToString::to_string);
        match &self.result {
            Some(expected) if *expected != result => Err(format!("the result is {result:?}")),
            _ => Ok(()),
        }
    }
}

/// Whether some row fits `relation(argument, ...)`.
fn holds(game: &mut Game, text: &str) -> Result<bool, String> {
    let program = game.program().clone();
    let (name, args) = text
        .strip_suffix(')')
        .and_then(|it| it.split_once('('))
        .ok_or_else(|| format!("{text:?} is no row"))?;
    let args: Vec<&str> = args.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
    let rel = program.relation_named(name).ok_or_else(|| format!("there is no relation {name}"))?;
    let columns = &program.relation(rel).columns;
    if columns.len() != args.len() {
        return Err(format!("{name} has {} columns", columns.len()));
    }
    let at = program.relation_named("at").ok_or("there are no pieces")?;
    let mut wanted: Vec<Option<i64>> = Vec::new();
    for (arg, column) in args.iter().zip(columns) {
        wanted.push(match column.ty {
            _ if *arg == "_" => None,
            Type::Int => Some(arg.parse().map_err(|_| format!("{arg} is no number"))?),
            Type::Text => return Err(format!("{name} has texts")),
            Type::Domain(id) => {
                let domain = program.schema.domain(id);
                let entity = matches!(domain.shape, Shape::Entities { .. });
                let Type::Domain(board) = program.relation(at).columns[1].ty else {
                    return Err("pieces stand on no square".into());
                };
                let named = if entity { program.schema.domain(board) } else { domain };
                let member = named.member(arg).ok_or_else(|| format!("{arg} is unknown"))?;
                if !entity {
                    Some(member)
                } else {
                    let on: Vec<Tuple> = game.world_mut().matching(at, &[None, Some(member)]);
                    match on.first() {
                        Some(row) => Some(row[0]),
                        None => return Ok(false),
                    }
                }
            }
        });
    }
    Ok(!game.world_mut().matching(rel, &wanted).is_empty())
}

fn play(golden: &Golden, backend: Backend) -> Result<(), String> {
    let catalogue = Catalogue::embedded().map_err(|it| it.to_string())?;
    let rules = catalogue.load(&golden.game, &golden.presets).map_err(|it| it.to_string())?;
    let game = rules.start_on(backend, golden.start.as_deref());
    let mut game = game.map_err(|it| it.to_string())?;
    let start = game.hash();
    golden.expect.check(&mut game).map_err(|it| format!("at the start: {it}"))?;
    for (number, step) in (1..).zip(&golden.moves) {
        let fault = |why: String| format!("step {number}: {why}");
        if let Some(text) = &step.refused {
            let before = game.hash();
            if game.play_text(text).is_ok() {
                return Err(fault(format!("{text} is legal")));
            }
            if game.hash() != before {
                return Err(fault(format!("{text} was refused and changed facts")));
            }
        }
        if let Some(text) = &step.played {
            game.play_text(text).map_err(|it| fault(it.to_string()))?;
        }
        step.expect.check(&mut game).map_err(fault)?;
    }
    while !game.history().is_empty() {
        game.takeback();
    }
    if game.hash() == start { Ok(()) } else { Err("taking all back changes facts".into()) }
}

#[test]
fn games_written_by_hand() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut faults = Vec::new();
    let mut games = 0;
    for path in entries.map(|it| it.expect("an entry").path()) {
        if path.extension().is_none_or(|it| it != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("readable");
        let file: File =
            serde_json::from_str(&text).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
        for golden in &file.games {
            games += 1;
            for backend in [Backend::Bits, Backend::Frog] {
                if let Err(why) = play(golden, backend) {
                    let file = path.file_name().unwrap_or_default().to_string_lossy();
                    faults.push(format!("{file}, {}, {backend:?}: {why}", golden.name));
                }
            }
        }
    }
    assert!(games >= 12, "{games}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
