//! Leaves counted by machine code, against leaves counted after each action was taken; `RULEMATE_FULL=1` walks further.

use std::sync::Arc;

use rulemate::internals::derive::World;
use rulemate::internals::facts::{GAME, NEXT_ENTITY};
use rulemate::internals::moves::{Contract, legal_moves, perft};
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::internals::rules::{RelId, Source};

use crate::agreement::{CROSSFIRE, chess_with};
use crate::random_rules::Choices;
use crate::setup::Table;

/// The leaves so many plies on, by taking each action and counting what can be done after the last but one.
fn taken(world: &mut World, contract: &Contract, depth: u32) -> u64 {
    if depth == 1 {
        return perft(world, contract, 1);
    }
    let mut count = 0;
    for mv in legal_moves(world, contract) {
        let mark = world.mark();
        world.fire(mv.action, &mv.args).unwrap_or_else(|it| panic!("{it}"));
        count += taken(world, contract, depth - 1);
        world.rollback(mark);
    }
    count
}

/// What is kept from change to change is what follows from the facts alone.
fn rows_are_true(world: &mut World, place: &str) {
    let mut scratch = world.clone();
    scratch.forget_rows();
    for rel in (0..world.program().relations.len() as u16).map(RelId) {
        assert_eq!(world.tuples(rel), scratch.tuples(rel), "{place}");
    }
}

/// Counts along a random game, which begins again when it ends.
fn walk(game: &str, mut table: Table, plies: u32) {
    table.world.plan().make_native();
    let start = table.world.clone();
    let mut choices = Choices(game.len() as u64);
    for ply in 0..plies {
        let (world, contract) = (&mut table.world, &table.contract);
        let moves = legal_moves(world, contract);
        if moves.is_empty() {
            table.world = start.clone();
            continue;
        }
        let place = format!("{game}, ply {ply}");
        let expected = taken(world, contract, 2);
        // Twice: the second time the rows are those that the first has left.
        for _ in 0..2 {
            assert_eq!(perft(world, contract, 2), expected, "{place}");
        }
        assert_eq!(world.check(), Ok(()), "{place}");
        // A ply above the last is taken by code as well.
        if choices.one_in(16) {
            let expected = taken(world, contract, 3);
            assert_eq!(perft(world, contract, 3), expected, "{place}, three plies");
        }
        if choices.one_in(8) {
            rows_are_true(world, &place);
        }
        let mv = moves[choices.below(moves.len())].clone();
        table.play(&mv);
    }
}

fn walks(games: &[&str]) {
    let plies = if crate::fixture::is_full() { 1000 } else { 40 };
    games.iter().for_each(|it| walk(it, Table::of(it), plies));
}

/// The first position under rules of a test.
fn started(rules: &Ruleset) -> Table {
    let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
    Table { world: game.world_mut().clone(), contract: rules.contract().clone() }
}

#[test]
fn in_chess_and_its_kin() {
    walks(&["chess", "knightmate", "coregal", "3check", "kingofthehill", "horde"]);
}

#[test]
fn where_captures_are_compulsory() {
    walks(&["antichess", "suicide"]);
}

#[test]
fn where_more_happens_than_a_move() {
    walks(&["atomic", "crazyhouse", "duck", "piece-hp", "explosive-rook"]);
}

#[test]
fn on_other_boards() {
    walks(&["gardner", "capablanca", "xiangqi", "minishogi", "shogi", "makruk", "barrel"]);
    walks(&["janggi", "seirawan"]);
    walks(&["shatranj", "grand", "omicron", "manchu", "torishogi", "kyotoshogi", "sittuyin"]);
}

#[test]
fn where_there_is_no_chess() {
    walks(&["othello", "connect-four", "hex", "nim", "checkers"]);
}

/// Captured pieces come into hand as new entities. Once the counter of ids has reached its end, these have the ids of
/// entities that are gone.
#[test]
fn where_ids_come_again() {
    for game in ["minishogi", "crazyhouse"] {
        let mut table = Table::of(game);
        let cap = i64::from(table.world.facts().schema().entity_cap());
        table.world.set_raw(GAME, NEXT_ENTITY, Some(cap - 1));
        walk(game, table, 40);
    }
}

/// A rule that reads a relation twice, both of whose tuples go at once.
#[test]
fn where_tuples_go_together() {
    let rules = chess_with("crossfire", CROSSFIRE);
    walk("crossfire", started(&rules), 40);
}

/// What a reaction asks about the time before its action: pieces, an attribute of the game that lasts until an action, and
/// whether there was one. It decides what can be done next.
const LOOKS_BACK: &str = r#"
.meta preset "mires"
.meta family "chess"
.meta name "Mires"
.meta description "Where a knight has captured, and where one came from while a square was a mire, pieces do not go next"
.domain Preset += { mires }
.input mire(square: Square) game attr mire until action "{square} is a mire"
.meta history "mire"
.input was_white() game attr was_white "white has moved"
.meta history "was_white"
on move(_, t) in leave when active('mires, c), was at(q, t), was kind(q, k), k != 'pawn, was color(q, c) do set mire(t).
on move(p, t) in leave when active('mires, c), was kind(p, 'knight), was at(p, s), was color(p, c), !was at(_, t), !was mire(_) do set mire(s).
on move(p, t) in leave when active('mires, c), was kind(p, 'pawn), was at(p, s), was color(p, c), was mire(_) do set mire(s).
on move(_, _) in leave when was turn('white), !was was_white() do set was_white().
on move(_, _) in leave when was turn('black), was was_white() do retract was_white().
forbidden(p, t) :- active('mires, _), color(p, _), goes(p, t), mire(t).
forbidden(p, t) :- active('mires, _), was_white(), kind(p, 'pawn), goes(p, t), mire(s), step('e, s, t).
"#;

#[test]
fn where_reactions_look_back() {
    let rules = chess_with("mires", LOOKS_BACK);
    walk("mires", started(&rules), 80);
    walks(&["snailtrail", "joust", "chak", "seirawan", "kalah"]);
}

/// What an event states expires with the turn, though no action writes it.
const EXPIRES: &str = r#"
.meta game "jam"
.meta title "Jam"
.meta family "stones"
.meta board "7x6"
.meta start "ooooooo/7/7/7/7/OOOOOOO w 1"
.input tired(piece: Entity) flag attr tired until turn "{piece} is tired"
.event tires(piece: Entity) "{piece} tires"
.action slide(piece: Entity, to: Square) legality rules uci "{at(piece)}{to}" san "{at(piece)}{to}" "{piece} slides to {to}"
slide(p, t) :- turn(c), color(p, c), !tired(p), at(p, s), step('n, s, t), !occupied(t).
slide(p, t) :- turn(c), color(p, c), !tired(p), at(p, s), step('s, s, t), !occupied(t).
movable() :- slide(_, _).
on slide(p, t) do set at(p, t).
on slide(p, t) in after when file(t, 1), at(q, s), file(s, 2) do raise tires(q).
on tires(q) do set tired(q).
free(t) :- rank(t, 9).
"#;

#[test]
fn where_facts_last_until_the_turn_passes() {
    let mut catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let source = Source { path: "jam/jam.dl".into(), text: EXPIRES.into() };
    catalogue.add(source).unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load::<&str>("jam", &[]).unwrap_or_else(|it| panic!("{it}"));
    let Table { mut world, contract } = started(&rules);
    world.plan().make_native();
    for depth in 3..=6 {
        let expected = taken(&mut world, &contract, depth);
        assert_eq!(perft(&mut world, &contract, depth), expected, "{depth} plies");
    }
}

/// Janggi notes for one action that the generals faced each other before it.
#[test]
fn where_facts_last_until_an_action() {
    let start = "3a1a3/4k4/9/p8/9/9/P8/9/4K4/3A1A2R w - - 0 1";
    walk("janggi", Table::at("janggi", start), 40);
}

/// An action without arguments is a leaf, and has leaves below it, like any other.
#[test]
fn where_a_side_passes() {
    let start = "oOO5/8/8/oOO5/8/8/oOO5/8 w 1";
    let mut table = Table::at("othello", start);
    table.world.plan().make_native();
    let (world, contract) = (&mut table.world, &table.contract);
    for (depth, leaves) in [(1, 1), (2, 3), (3, 3), (4, 6), (5, 6)] {
        assert_eq!(taken(world, contract, depth), leaves, "{start}, {depth} plies");
        assert_eq!(perft(world, contract, depth), leaves, "{start}, {depth} plies");
    }
}

/// Whether all leaves so many plies below the start are counted by code.
fn is_code(game: &str, depth: u32) -> bool {
    let mut table = Table::of(game);
    table.world.plan().make_native();
    let actions = &table.world.program().actions;
    let counted = actions.iter().map(|it| (it.id, it.rel)).collect();
    let leaves = Arc::new(table.world.leaves(table.contract.over, counted, Vec::new()));
    let mut rest = Vec::new();
    let next_ids = table.world.facts().ids().next(8);
    table.world.leaves_below(&leaves, depth, next_ids, &mut rest).is_some() && rest.is_empty()
}

/// Nothing that is counted says whether code counted it.
#[test]
#[cfg(all(feature = "native", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn code_is_made_for_games_that_rules_decide() {
    for game in ["chess", "knightmate", "3check", "kingofthehill", "crazyhouse"] {
        assert!(is_code(game, 2), "{game}");
    }
    for game in ["chess", "knightmate", "3check", "kingofthehill"] {
        assert!(is_code(game, 3), "{game}, with a ply above the last");
    }
    for game in ["minishogi", "gorogoro", "crazyhouse"] {
        assert!(is_code(game, 4), "{game}, with captures that come into hand");
    }
    for game in ["snailtrail", "joust", "kyotoshogi"] {
        assert!(is_code(game, 3), "{game}, where reactions look back");
    }
    for game in ["xiangqi", "supply"] {
        assert!(is_code(game, 3), "{game}, where what nothing counted reads is noted");
    }
}
