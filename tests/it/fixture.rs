//! Helpers of many tests: programs from text, chess positions as facts by hand, and games by name.

use std::sync::Arc;

use rulemate::internals::derive::{Backend, Plan, World};
use rulemate::internals::facts::{EntityId, GAME, Value};
use rulemate::internals::game::Game;
use rulemate::internals::presets::Catalogue;
use rulemate::internals::rules::{
    Program, RelId, Source, compile, embedded_folder, embedded_sources, included,
};

/// A program of one file. Declarations whose sentence a test does not care for get one.
pub(crate) fn program(text: &str) -> Arc<Program> {
    let line = |line: &str| match line.starts_with(".decl") && !line.contains('"') {
        true => format!("{line} \"of no interest\"\n"),
        false => format!("{line}\n"),
    };
    let text: String = text.lines().map(line).collect();
    let source = Source { path: "test.dl".into(), text: text.into() };
    Arc::new(compile(vec![source]).unwrap_or_else(|it| panic!("{it}")))
}

pub(crate) fn world(program: &Arc<Program>, backend: Backend) -> World {
    let plan = Plan::compile(Arc::clone(program)).unwrap_or_else(|it| panic!("{it}"));
    World::new(Arc::new(plan), backend)
}

/// The rows of a relation, as text.
pub(crate) fn rows(world: &mut World, name: &str) -> Vec<String> {
    let program = Arc::clone(world.program());
    let rel = rel(&program, name);
    world.tuples(rel).iter().map(|it| program.tuple_name(rel, it)).collect()
}

/// The program of orthodox chess.
pub(crate) fn chess() -> Arc<Program> {
    let mut sources = embedded_folder("rules/core");
    sources.extend(embedded_folder("rules/chess"));
    sources.extend(embedded_sources(&["rules/games/chess.dl"]));
    Arc::new(compile(sources).unwrap_or_else(|it| panic!("{it}")))
}

pub(crate) fn rel(program: &Program, name: &str) -> RelId {
    program.relation_meant(name).unwrap_or_else(|| panic!("no relation {name}"))
}

/// A member of a domain by its name, as a raw value.
pub(crate) fn member(program: &Program, domain: &str, name: &str) -> i64 {
    let id = program.schema.domain_named(domain).unwrap_or_else(|| panic!("no domain {domain}"));
    let member = program.schema.domain(id).member(name);
    member.unwrap_or_else(|| panic!("no {name} in {domain}"))
}

/// Sets an attribute to the member of a domain.
pub(crate) fn set(world: &mut World, entity: EntityId, attr: &str, domain: &str, name: &str) {
    let raw = member(world.program(), domain, name);
    let attr = world.program().schema.attribute_named(attr).unwrap_or_else(|| panic!("no {attr}"));
    world.insert(entity, attr, Value::Member(raw as u16)).unwrap_or_else(|it| panic!("{it}"));
}

/// A chess position: placement, side, castling rights (`KQkq`) and en passant square of a FEN.
pub(crate) fn position(world: &mut World, fen: &str) {
    let fields: Vec<&str> = fen.split(' ').collect();
    let program = Arc::clone(world.program());
    let attr =
        |name: &str| program.schema.attribute_named(name).unwrap_or_else(|| panic!("{name}"));
    let mut pieces = Vec::new();
    for (row, line) in fields[0].split('/').enumerate() {
        let mut file = 0;
        for letter in line.chars() {
            if let Some(gap) = letter.to_digit(10) {
                file += gap as usize;
                continue;
            }
            let square = format!("{}{}", char::from(b'a' + file as u8), 8 - row);
            let kind = match letter.to_ascii_lowercase() {
                'p' => "pawn",
                'n' => "knight",
                'b' => "bishop",
                'r' => "rook",
                'q' => "queen",
                _ => "king",
            };
            let side = if letter.is_ascii_uppercase() { "white" } else { "black" };
            let piece = world.create();
            set(world, piece, "position", "Square", &square);
            set(world, piece, "kind", "Kind", kind);
            set(world, piece, "color", "Side", side);
            pieces.push((piece, square));
            file += 1;
        }
    }
    let on = |square: &str| pieces.iter().find(|it| it.1 == square).map(|it| it.0);
    for right in fields[2].chars().filter(|it| *it != '-') {
        let rank = if right.is_ascii_uppercase() { 1 } else { 8 };
        let file = if right.eq_ignore_ascii_case(&'k') { 'h' } else { 'a' };
        let (Some(rook), Some(king)) = (on(&format!("{file}{rank}")), on(&format!("e{rank}")))
        else {
            panic!("no such right");
        };
        world
            .insert(rook, attr("castles_with"), Value::Entity(king))
            .unwrap_or_else(|it| panic!("{it}"));
    }
    let side = if fields[1] == "w" { "white" } else { "black" };
    set(world, GAME, "turn", "Side", side);
    if fields[3] != "-" {
        set(world, GAME, "en_passant", "Square", fields[3]);
    }
    world.commit();
}

pub(crate) const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
pub(crate) const KIWIPETE: &str =
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -";

/// A game of the package, at its own start or that of a FEN.
pub(crate) fn start(name: &str, fen: Option<&str>) -> Game {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load::<&str>(name, &[]).unwrap_or_else(|it| panic!("{name}: {it}"));
    rules.start(fen).unwrap_or_else(|it| panic!("{name}: {it}"))
}

/// Plays moves with spaces between them.
pub(crate) fn play(game: &mut Game, moves: &str) {
    for text in moves.split(' ') {
        game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
    }
}

/// The moves of a position as texts. Which entities they are about may differ in a game that was read from a FEN.
pub(crate) fn texts(game: &mut Game) -> Vec<String> {
    game.listing().into_iter().map(|it| it.0).collect()
}

/// Whether the long forms of tests are wanted, which take minutes to hours: by hand, not on each change.
pub(crate) fn is_full() -> bool {
    std::env::var_os("RULEMATE_FULL").is_some()
}

/// The files, and those that they include, and so on.
pub(crate) fn with_included(mut sources: Vec<Source>) -> Vec<Source> {
    let mut at = 0;
    while at < sources.len() {
        let file = sources[at].clone();
        let named = file.text.lines().filter_map(|it| it.strip_prefix(".meta include \""));
        let found = named.flat_map(|it| included(&file.path, it.trim_end_matches('"')));
        for path in found.flatten() {
            if sources.iter().all(|it| it.path != path) {
                sources.extend(embedded_sources(&[&path]));
            }
        }
        at += 1;
    }
    sources
}
