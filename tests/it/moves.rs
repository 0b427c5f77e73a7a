//! What a program must say for moves to be read, and what decides legality.

use rulemate::internals::derive::explain::Limits;
use rulemate::internals::moves::{
    Contract, Fault, LegalityMode, is_legal, is_over, is_pseudo, legal_moves, legal_moves_by,
    pseudo_moves,
};
use rulemate::internals::presets::Catalogue;
use rulemate::internals::rules::{Source, compile, embedded_sources};

use crate::setup::{Table, program};

#[test]
fn every_missing_relation_is_named() {
    let sources = embedded_sources(&["rules/core/board.dl"]);
    let board = compile(sources).unwrap_or_else(|it| panic!("{it}"));
    let error = Contract::resolve(&board).expect_err("no pieces");
    let missing: Vec<String> = error
        .faults
        .iter()
        .filter_map(|it| match it {
            Fault::Missing { relation } => Some(relation.to_string()),
            _ => None,
        })
        .collect();
    for name in ["at", "kind", "turn", "letter", "terminal", "untenable"] {
        assert!(missing.iter().any(|it| it == name), "{name} of {missing:?}");
    }
    assert!(error.to_string().contains("there is no relation at; "), "{error}");
}

#[test]
fn a_relation_of_another_shape_is_described() {
    let text = ".domain Square grid 8 8\n.domain Entity entities 8\n\
        .input at(piece: Entity) flag attr there\n";
    let source = Source { path: "other.dl".into(), text: text.into() };
    let other = compile(vec![source]).unwrap_or_else(|it| panic!("{it}"));
    let error = Contract::resolve(&other).expect_err("at has no square");
    let expected = "at is a flag of entities (Entity), \
        not an attribute of entities (Entity, Square)";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn a_board_of_too_many_points_is_refused_in_words() {
    for (points, is_refused) in [(255, false), (256, true)] {
        let names: Vec<String> = (0..points).map(|it| format!("p{it}")).collect();
        let text = format!(
            ".domain Square {{ {} }}\n.domain Entity entities 8\n\
             .input at(piece: Entity, square: Square) key attr position\n",
            names.join(", ")
        );
        let source = Source { path: "points.dl".into(), text: text.into() };
        let program = compile(vec![source]).unwrap_or_else(|it| panic!("{it}"));
        let error = Contract::resolve(&program).expect_err("no kinds").to_string();
        let expected = "the board is one of 256 points, not one of at most 255 points";
        assert_eq!(error.contains(expected), is_refused, "{error}");
    }
}

#[test]
fn the_core_rules_fit_under_every_game() {
    for game in ["antichess", "chess", "chess960", "coregal", "giveaway", "knightmate"] {
        let found = Contract::resolve(&program(game));
        assert_eq!(found.map(|it| (it.board.files, it.board.ranks)), Ok((8, 8)), "{game}");
    }
}

#[test]
fn nothing_is_legal_after_the_end() {
    let mut table = Table::of("chess");
    table.load("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1");
    let (world, contract) = (&mut table.world, &table.contract);
    assert!(is_over(world, contract));
    assert_eq!(legal_moves(world, contract), []);
    let tries = pseudo_moves(world);
    assert!(!tries.is_empty());
    for mv in tries {
        assert!(is_pseudo(world, &mv) && !is_legal(world, contract, &mv));
    }
}

#[test]
fn only_rows_are_tries() {
    let mut table = Table::of("chess");
    table.load("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1");
    let (world, contract) = (&mut table.world, &table.contract);
    for mode in [LegalityMode::Rules, LegalityMode::Simulate] {
        for mv in legal_moves_by(world, contract, mode) {
            let mut nowhere = mv.clone();
            nowhere.args[1] = 63;
            assert!(is_pseudo(world, &mv) && is_legal(world, contract, &mv));
            assert!(!is_pseudo(world, &nowhere) && !is_legal(world, contract, &nowhere));
        }
    }
}

#[test]
fn rules_and_simulation_agree_on_pins_checks_and_passing() {
    let fens = [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1",
        "4k3/8/8/8/1b6/8/3N4/R3K2R w KQ - 0 1",
        "3rk2r/8/8/8/8/8/3n4/R3K2R w KQk - 0 1",
    ];
    for game in ["chess", "coregal", "knightmate-classic"] {
        let mut table = Table::of(game);
        for fen in fens {
            table.load(fen);
            let (world, contract) = (&mut table.world, &table.contract);
            let by_rules = legal_moves_by(world, contract, LegalityMode::Rules);
            let by_play = legal_moves_by(world, contract, LegalityMode::Simulate);
            assert_eq!(by_rules, by_play, "{game} {fen}");
            let tries = pseudo_moves(world);
            for mv in tries {
                let declared = is_legal(world, contract, &mv);
                assert_eq!(declared, by_rules.contains(&mv), "{game} {fen}");
            }
        }
    }
}

/// A text that does not name its piece is refused for what keeps that piece back, and one that is no action's for its form.
#[test]
fn texts_without_a_piece_are_refused_for_the_cause() {
    let text = r#"% hurdles.dl — one runner a side, which jumps two squares at most.
.meta game "hurdles"
.meta board "6x2"
.meta start "r5/R5 w 1"
.domain Kind += { runner }
letter('runner, "r").
.action jump(piece: Entity, to: Square) legality rules uci "{to}" san "{to}" "{piece} jumps to {to}"
jump(p, t) :- own(p), at(p, s), rank(s, r), rank(t, r), file(s, f), file(t, g), g > f, g <= f + 2.
movable() :- jump(_, _).
on jump(p, t) do set at(p, t).
"#;
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    catalogue.add(Source { path: "hurdles.dl".into(), text: text.into() }).expect("a game");
    let rules = catalogue.load::<&str>("hurdles", &[]).expect("it loads");
    let mut game = rules.start(None).expect("it starts");
    let explained = game.explain_move("e1", Limits::default()).expect("an action");
    let cause = "e1 is not legal: not g <= f + 2";
    assert!(explained.summary.starts_with(cause), "{}", explained.summary);
    assert!(game.tree(&explained.finding).contains("the white runner on a1 jumps to e1"));
    let found = game.find_move("jump").expect_err("no square").to_string();
    assert!(found.starts_with("jump: malformed at byte 0, expected a square"), "{found}");
    assert!(game.find_move("c1").is_ok());
}

const BETS: &str = r#"% bets.dl — what a kind is worth.
.meta preset "bets"
.meta name "Bets"
.meta description "Kinds may be bet on"
.domain Preset += { bets }
.action bet(kind: Kind, n: Int) legality rules uci "{kind}!{n}" san "{kind}!{n}" "{kind} is bet on with {n}"
bet('queen, 12) :- active('bets, _).
bet('queen, 1) :- active('bets, _).
bet('rook, -3) :- active('bets, _).
"#;

/// Actions of other files are read as their text says: members of domains and numbers, too.
#[test]
fn actions_are_read_by_members_and_numbers() {
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    let source = Source { path: "rules/presets/bets.dl".into(), text: BETS.into() };
    catalogue.add(source).expect("it compiles");
    let rules = catalogue.load("chess", &["bets"]).expect("it loads");
    let mut game = rules.start(None).expect("it starts");
    let mut args = |text: &str| game.find_move(text).map(|it| it.args[1]);
    assert_eq!(args("queen!12"), Ok(12));
    assert_eq!(args("queen!1"), Ok(1));
    assert_eq!(args("rook!-3"), Ok(-3));
    for (text, wrong) in [
        ("queen!", "malformed at byte 6, expected a number"),
        ("queen!-", "malformed at byte 7"),
        ("queen!x", "malformed at byte 7"),
        ("quee!1", "malformed at byte 0"),
        ("!1", "malformed at byte 0"),
        ("e2e9", "malformed at byte 2, expected a square"),
        ("queen!123", "not legal here"),
        ("rook!3", "not legal here"),
    ] {
        let found = args(text).expect_err("no such bet").to_string();
        assert!(found.starts_with(&format!("{text}: {wrong}")), "{found}");
    }
}
