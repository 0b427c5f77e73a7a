//! Texts of actions tell them apart: no two legal actions of a position share one, in UCI or in SAN, in
//! any game and under any preset; and what the suffixes and the `x` of SAN say.

use rulemate::internals::moves::legal_moves;
use rulemate::internals::moves::notation::{
    listing, parse_san, parse_uci, san_listing, to_san, to_uci,
};
use rulemate::internals::presets::Catalogue;
use rulemate::internals::rules::Source;

use crate::random_rules::Choices;
use crate::setup::Table;

/// Castling rights of kings off the e file, and of two rooks on one side of a king.
const CASTLING: [&str; 8] = [
    "3k4/8/8/8/8/8/8/R2K3R w KQ - 0 1",
    "1k6/8/8/8/8/8/8/RK5R w KQ - 0 1",
    "5k2/8/8/8/8/8/8/R4K1R w KQ - 0 1",
    "2k5/8/8/8/8/8/8/R1K4R w KQ - 0 1",
    "6k1/8/8/8/8/8/8/R5KR w KQ - 0 1",
    "r2k3r/8/8/8/8/8/8/4K3 b kq - 0 1",
    "4k3/8/8/8/8/8/8/1RR1K3 w BC - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
];

/// The texts of a position: each of one action, and read as that action.
fn told_apart(name: &str, table: &mut Table) {
    let (world, contract) = (&mut table.world, &table.contract);
    let rows = listing(world, contract);
    let shared = rows.windows(2).find(|it| it[0].0 == it[1].0);
    assert_eq!(shared, None, "{name}: {rows:?}");
    // Reading lists the position again: a few will do.
    let few = |len: usize| 1 + len / 6;
    for (text, mv) in rows.clone().into_iter().step_by(few(rows.len())) {
        assert_eq!(parse_uci(world, contract, &text), Ok(mv), "{name}: {text}");
    }
    let rows = san_listing(world, contract);
    let bare = |it: &str| it.trim_end_matches(['+', '#']).to_owned();
    let shared = rows.windows(2).find(|it| bare(&it[0].0) == bare(&it[1].0));
    assert_eq!(shared, None, "{name}: {rows:?}");
    for (text, mv) in rows.clone().into_iter().step_by(few(rows.len())) {
        assert_eq!(parse_san(world, contract, &text), Ok(mv), "{name}: {text}");
    }
}

fn walk(name: &str, table: &mut Table, choices: &mut Choices, plies: usize) {
    for ply in 0..plies {
        if ply % 6 == 0 {
            told_apart(name, table);
        }
        let moves = legal_moves(&mut table.world, &table.contract);
        if moves.is_empty() {
            break;
        }
        table.play(&moves[choices.below(moves.len())]);
    }
    told_apart(name, table);
}

#[test]
fn no_two_actions_share_a_text() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let plies = if crate::fixture::is_full() { 200 } else { 30 };
    for (at, entry) in catalogue.games().iter().enumerate() {
        walk(&entry.name, &mut Table::of(&entry.name), &mut Choices(at as u64), plies);
    }
    let mut loaded = 0;
    for (at, preset) in catalogue.presets().iter().enumerate() {
        let activations = catalogue.with_required(&[preset.preset.as_str()]);
        let Ok(rules) = catalogue.load("chess", &activations) else { continue };
        loaded += 1;
        for fen in [None].into_iter().chain(CASTLING.map(Some)) {
            let name = format!("{} {fen:?}", preset.preset);
            let Ok(mut game) = rules.start(fen) else { continue };
            let world = game.world_mut().clone();
            let mut table = Table { world, contract: rules.contract().clone() };
            let plies = if fen.is_some() { 2 } else { plies };
            walk(&name, &mut table, &mut Choices(at as u64), plies);
        }
    }
    assert!(loaded > 20, "{loaded} presets");
}

/// Castling and a step of the king to one square: castling is written as king takes rook, and read as
/// king to its destination where nothing else is meant by that.
#[test]
fn castling_off_the_e_file() {
    let mut table = Table::of("chess");
    for fen in CASTLING {
        table.load(fen);
        told_apart(fen, &mut table);
    }
    table.load(CASTLING[0]);
    let read = |table: &mut Table, text: &str| {
        let (world, contract) = (&mut table.world, &table.contract);
        let mv = parse_uci(world, contract, text).unwrap_or_else(|it| panic!("{it}"));
        (to_uci(world, &mv), to_san(world, contract, &mv))
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(read(&mut table, "d1c1"), pair("d1c1", "Kc1"));
    assert_eq!(read(&mut table, "d1a1"), pair("d1a1", "O-O-O+"));
    // No step of the king leads to g1, so both texts of castling are read.
    assert_eq!(read(&mut table, "d1g1"), pair("d1g1", "O-O"));
    assert_eq!(read(&mut table, "d1h1"), pair("d1g1", "O-O"));
}

/// Two leaps of a knight that castles may end where castling brings it.
#[test]
fn castling_of_a_knight_that_leaps_twice() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue
        .load("knightmate", &["knights-leap-twice:white"])
        .unwrap_or_else(|it| panic!("{it}"));
    for (fen, castled) in [
        ("r3n2r/8/8/8/8/8/8/R3N2R w KQkq - 0 1", "e1h1"),
        ("r3n2r/8/8/8/8/8/8/R3N2R b KQkq - 0 1", "e8g8"),
    ] {
        let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"));
        let world = game.world_mut().clone();
        let mut table = Table { world, contract: rules.contract().clone() };
        told_apart(fen, &mut table);
        let mv = parse_san(&mut table.world, &table.contract, "O-O");
        let mv = mv.unwrap_or_else(|it| panic!("{fen}: {it}"));
        assert_eq!(to_uci(&mut table.world, &mv), castled);
    }
}

fn san_of(game: &str, presets: &[&str], fen: &str, uci: &str) -> String {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load(game, presets).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"));
    let contract = rules.contract().clone();
    let world = game.world_mut();
    let mv = parse_uci(world, &contract, uci).unwrap_or_else(|it| panic!("{it}"));
    let san = to_san(world, &contract, &mv);
    for text in [san.as_str(), san.trim_end_matches(['+', '#']), uci] {
        assert_eq!(parse_san(world, &contract, text).as_ref(), Ok(&mv), "{text}");
    }
    san
}

/// A king that sweeps along its rank might go by itself wherever castling brings it.
#[test]
fn castling_of_a_king_that_sweeps() {
    let mut catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let text = ".meta preset \"swift-king\"\n.domain Preset += { swift-king }\n\
                slides('king, d) :- straight(d).\n";
    let source = Source { path: "rules/presets/swift-king.dl".into(), text: text.into() };
    catalogue.add(source).unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load("chess", &["swift-king"]).unwrap_or_else(|it| panic!("{it}"));
    let mut written = 0;
    // The other king bears on nothing that matters.
    for fen in [
        "8/1k6/8/8/8/8/8/R3K2R w KQ - 0 1",
        "8/1k6/8/8/8/8/8/R2K3R w KQ - 0 1",
        "8/1k6/8/8/8/8/8/R4K1R w KQ - 0 1",
        "8/1k6/8/8/8/8/8/R1K4R w KQ - 0 1",
        "8/1k6/8/8/8/8/8/R5KR w KQ - 0 1",
        "r3k2r/8/8/8/8/8/1K6/8 b kq - 0 1",
    ] {
        let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"));
        let world = game.world_mut().clone();
        let mut table = Table { world, contract: rules.contract().clone() };
        told_apart(fen, &mut table);
        let rows = san_listing(&mut table.world, &table.contract);
        written += rows.iter().filter(|it| it.0.starts_with("O-O")).count();
    }
    assert_eq!(written, 12, "ways to castle");
}

#[test]
fn a_capture_in_passing_is_written_as_one() {
    let fen = "4k3/8/8/5pP1/8/8/8/4K3 w - f6 0 1";
    for preset in ["piece-hp", "piece-shield", "king-heals", "berserker"] {
        let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
        let all = catalogue.with_required(&[preset]);
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        assert_eq!(san_of("chess", &all, fen, "g5f6"), "gxf6", "{preset}");
        assert_eq!(san_of("chess", &all, fen, "g5g6"), "g6", "{preset}");
    }
}

/// As python-chess 1.11 writes it: `#` if either side has won with the move, whatever by; no suffix
/// for a draw.
#[test]
fn what_decides_the_game_is_marked() {
    let cases = [
        ("antichess", "8/8/8/8/8/1p6/P7/8 b - - 0 1", "b3a2", "bxa2#"),
        ("antichess", "8/8/8/p7/8/P7/8/8 w - - 0 1", "a3a4", "a4#"),
        ("antichess", "8/8/8/3p4/4P3/8/8/7n w - - 0 1", "e4d5", "exd5"),
        ("extinction", "rnbqkbnr/ppp1pppp/8/8/8/8/PPP1PPPP/RNBQKBNR w KQkq - 0 1", "d1d8", "Qxd8#"),
        ("capture-to-win", "4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "e4d5", "exd5#"),
        ("chess", "7k/5Q2/8/6K1/8/8/8/8 w - - 0 1", "g5g6", "Kg6"),
        ("chess", "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", "a1a8", "Ra8#"),
    ];
    for (game, fen, uci, san) in cases {
        assert_eq!(san_of(game, &[], fen, uci), san, "{game} {fen}");
    }
}

/// Within a turn of several actions `+` is about the other side's royal pieces.
#[test]
fn checks_within_a_turn() {
    let turn = ["double-move:check=turn"];
    // White leaves its king attacked for a half-move; the game takes the first half-move.
    let fen = "4r1k1/8/8/8/8/8/4N3/4K3 w - - 0 1";
    assert_eq!(san_of("chess", &turn, fen, "e2c3"), "Nc3");
    let half_move = ["double-move"];
    let fen = "4k3/8/8/8/8/8/8/R3K3 w - - 0 1";
    assert_eq!(san_of("chess", &half_move, fen, "a1a8"), "Ra8+");
    assert_eq!(san_of("chess", &half_move, fen, "a1a7"), "Ra7");
    // A check given with a first half-move wins where the turn is judged as a whole.
    assert_eq!(san_of("chess", &turn, fen, "a1a8"), "Ra8#");
}

/// Runners walk or run to a square. The gait is looked up by two columns.
const GAITS: &str = r#"
.meta game "gaits"
.meta title "Gaits"
.meta board "5x1"
.meta start "RRR2 w 1"
.domain Kind += { runner }
.domain Gait { walk, run }
letter('runner, "r").
.decl gait(piece: Entity, to: Square, how: Gait) key "{piece} would {how} to {to}"
gait(p, t, 'walk) :- at(p, s), file(s, f), file(t, g), g = f + 1.
gait(p, t, 'run) :- at(p, s), file(s, f), file(t, g), g > f + 1.
.action go(piece: Entity, to: Square) legality rules uci "{at(piece)}{to}" also "{gait(piece, to)}:{to}"
    san "{gait(piece, to)}{at(piece) among gait(piece, to), to}-{to}" "{piece} goes to {to}"
go(p, t) :- own(p), gait(p, t, _), !occupied(t).
on go(p, t) do set at(p, t).
"#;

#[test]
fn a_square_is_told_apart_by_a_row() {
    let mut catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let source = Source { path: "mine/gaits.dl".into(), text: GAITS.into() };
    catalogue.add(source).unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load::<&str>("gaits", &[]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
    let rows = san_listing(game.world_mut(), rules.contract());
    let mut texts: Vec<&str> = rows.iter().map(|it| it.0.as_str()).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["runa-d1", "runa-e1", "runb-d1", "runb-e1", "runc-e1", "walk-d1"]);
    // It is read, too: one of the three runners walks to d1, and none to e1.
    let walk = game.find_move("walk:d1").unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(to_uci(game.world_mut(), &walk), "c1d1");
    assert!(game.find_move("walk:e1").is_err());
}
