//! Golden games: start positions, moves, and what must be so after them, written by hand from the
//! rules of each preset. Data in `tests/data/golden/presets`, one file a preset.
//!
//! Lines of a file; a blank line begins the next game:
//! `game NAME`, `preset ACTIVATION`, `fen FEN` set up; `moves UCI ...` plays; `is ROW` and `no ROW`
//! ask for a row, pieces by their squares and `_` for anything; `position FEN` is the whole position;
//! `count N` legal moves, of which `legal UCI ...` are some and `illegal UCI ...` none;
//! `result OUTCOME by REASON`, `result none`, `note TEXT`, `refused UCI: REASON`.

use std::path::Path;
use std::sync::Arc;

use rulemate::internals::derive::Backend;
use rulemate::internals::facts::Shape;
use rulemate::internals::game::Game;
use rulemate::internals::moves::notation::listing;
use rulemate::internals::presets::Catalogue;
use rulemate::internals::rules::{Program, Type};

use crate::reactions::fire_alike;

struct Scene {
    game: String,
    presets: Vec<String>,
    fen: Option<String>,
    /// Made when the first line after the set-up asks for it.
    play: Option<Game>,
}

impl Scene {
    fn game(&mut self) -> &mut Game {
        let (name, presets, fen) = (&self.game, &self.presets, &self.fen);
        self.play.get_or_insert_with(|| {
            let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
            let rules = catalogue.load(name, presets).unwrap_or_else(|it| panic!("{it}"));
            let started = rules.start_on(Backend::Bits, fen.as_deref());
            started.unwrap_or_else(|it| panic!("{it}"))
        })
    }

    fn uci(&mut self) -> Vec<String> {
        self.game().listing().into_iter().map(|it| it.0).collect()
    }

    fn line(&mut self, word: &str, rest: &str) -> Result<(), String> {
        match word {
            "game" => self.game = rest.into(),
            "preset" => self.presets.push(rest.into()),
            "fen" => self.fen = Some(rest.into()),
            "moves" => rest.split(' ').try_for_each(|it| play(self.game(), it))?,
            "is" | "no" => {
                let game = self.game();
                if holds(game, rest)? != (word == "is") {
                    return Err(format!("in {}", game.fen()));
                }
            }
            "legal" | "illegal" => {
                let listed = self.uci();
                for uci in rest.split(' ') {
                    if listed.contains(&uci.to_string()) != (word == "legal") {
                        return Err(format!("{uci} in {}", listed.join(" ")));
                    }
                }
            }
            "position" => {
                let found = self.game().fen();
                if found != rest {
                    return Err(format!("found {found}"));
                }
            }
            "count" => {
                let listed = self.uci();
                if listed.len().to_string() != rest {
                    return Err(format!("{}: {}", listed.len(), listed.join(" ")));
                }
            }
            "result" => {
                let result = self.game().result();
                let found =
                    result.map_or("none".into(), |it| format!("{} by {}", it.outcome, it.reason));
                if found != rest {
                    return Err(format!("the result is {found}"));
                }
            }
            "note" => {
                let history = self.game().history();
                let notes = history.last().map_or(&[][..], |it| it.notes());
                if !notes.iter().any(|it| **it == *rest) {
                    return Err(format!("the notes are {notes:?}"));
                }
            }
            "refused" => {
                let (uci, reason) = rest.split_once(": ").ok_or("UCI: REASON")?;
                match self.game().play_text(uci) {
                    Ok(_) => return Err(format!("{uci} is legal")),
                    Err(it) if it.to_string().contains(reason) => {}
                    Err(it) => return Err(it.to_string()),
                }
            }
            _ => return Err("no such line".into()),
        }
        Ok(())
    }
}

/// Plays a move, on both evaluators.
fn play(game: &mut Game, uci: &str) -> Result<(), String> {
    let contract = game.contract().clone();
    let world = game.world_mut();
    if let Some((_, mv)) = listing(world, &contract).into_iter().find(|it| it.0 == uci) {
        let mark = world.mark();
        fire_alike(world, mv.action, &mv.args).map_err(|it| it.to_string())?;
        world.rollback(mark);
    }
    game.play_text(uci).map(|_| ()).map_err(|it| it.to_string())
}

/// Whether a row like `hp(d5, 1)` is there.
fn holds(game: &mut Game, text: &str) -> Result<bool, String> {
    let (name, args) = text.strip_suffix(')').and_then(|it| it.split_once('(')).ok_or("ROW")?;
    let program = Arc::clone(game.program());
    let rel = program.relation_named(name).ok_or("no such relation")?;
    let columns = &program.relation(rel).columns;
    let args: Vec<&str> = args.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
    if args.len() != columns.len() {
        return Err(format!("{} columns", columns.len()));
    }
    let mut pattern = Vec::new();
    for (arg, column) in args.iter().zip(columns) {
        pattern.push(match *arg {
            "_" => None,
            _ => match raw(game, &program, column.ty, arg)? {
                Some(raw) => Some(raw),
                // The square is empty.
                None => return Ok(false),
            },
        });
    }
    Ok(!game.world_mut().matching(rel, &pattern).is_empty())
}

fn raw(game: &mut Game, program: &Program, ty: Type, text: &str) -> Result<Option<i64>, String> {
    let Type::Domain(id) = ty else {
        return text.parse().map(Some).map_err(|_| format!("{text} is no number"));
    };
    let domain = program.schema.domain(id);
    if !matches!(domain.shape, Shape::Entities { .. }) {
        return domain.member(text).map(Some).ok_or(format!("no {text} in {}", domain.name));
    }
    let contract = game.contract().clone();
    let squares = program.schema.domain(contract.board.domain);
    let square = squares.member(text).ok_or(format!("no square {text}"))?;
    let there = game.world_mut().matching(contract.at.rel, &[None, Some(square)]);
    Ok(there.first().map(|it| it[0]))
}

#[test]
fn golden_games_of_presets() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/presets");
    let entries = std::fs::read_dir(folder).unwrap_or_else(|it| panic!("{it}"));
    let mut paths: Vec<_> = entries.filter_map(|it| Some(it.ok()?.path())).collect();
    paths.sort();
    let mut wrong = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|it| panic!("{it}"));
        let mut scene: Option<Scene> = None;
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            if line.is_empty() {
                scene = None;
            } else if !line.starts_with('#') {
                let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
                let scene = scene.get_or_insert_with(|| Scene {
                    game: "chess".into(),
                    presets: Vec::new(),
                    fen: None,
                    play: None,
                });
                if let Err(fault) = scene.line(word, rest) {
                    wrong.push(format!("{}:{number}: {line}\n    {fault}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
