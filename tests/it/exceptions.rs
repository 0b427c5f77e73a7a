//! What a preset withdraws of what its family says, for the side that it is active for: by exceptions that the
//! family declares, not by a copy of its files.

use rulemate::internals::facts::{GAME, Value};
use rulemate::internals::game::Game;
use rulemate::internals::moves::notation::listing;
use rulemate::internals::presets::Catalogue;
use rulemate::internals::rules::Source;

use crate::switch::is_as_derived_afresh;

fn started(rules: &str, presets: &[&str], fen: Option<&str>) -> Game {
    let rules = catalogue(rules).load("chess", presets).unwrap_or_else(|it| panic!("{it}"));
    rules.start(fen).expect("it starts")
}

fn catalogue(rules: &str) -> Catalogue {
    let mut catalogue = Catalogue::embedded().expect("our own metadata");
    let text = format!(
        ".meta preset \"other\"\n.meta family \"chess\"\n.domain Preset += {{ other }}\n{rules}\n"
    );
    let source = Source { path: "mine/other.dl".into(), text: text.into() };
    catalogue.add(source).expect("metadata that makes sense");
    catalogue
}

/// The legal moves of the piece on a square, by their texts.
fn moves_from(game: &mut Game, square: &str) -> String {
    let contract = game.contract().clone();
    let listed = listing(game.world_mut(), &contract).into_iter();
    let texts: Vec<String> = listed.map(|it| it.0).filter(|it| it.starts_with(square)).collect();
    texts.join(" ")
}

/// With the preset on from the start, and with the preset coming and going in the middle of a game: the moves from two
/// squares, a white and a black piece on them, are as said.
fn withdraws(rules: &str, fen: &str, usual: [&str; 2], other: [&str; 2]) {
    let catalogue = catalogue(rules);
    let of_both = |game: &mut Game, squares: [&str; 2]| -> [String; 2] {
        let turn = game.contract().turn.attr;
        [0, 1].map(|side| {
            game.world_mut().insert(GAME, turn, Value::Member(side)).expect("a side");
            moves_from(game, squares[usize::from(side)])
        })
    };
    let squares = usual.map(|it| it.get(..2).expect("a square"));
    for presets in [vec![], vec!["other"], vec!["other:white"], vec!["other:black"]] {
        let mut rules = catalogue.load::<&str>("chess", &[]).unwrap_or_else(|it| panic!("{it}"));
        let mut game = rules.start(Some(fen)).expect("it starts");
        for now in [&presets[..], &[]] {
            rules =
                catalogue.set_active(&rules, &mut game, now).unwrap_or_else(|it| panic!("{it}"));
            is_as_derived_afresh(&mut game);
            let is_on = |side| now.iter().any(|it| *it == "other" || it.ends_with(side));
            let expected = [(0, "white"), (1, "black")]
                .map(|(at, it)| if is_on(it) { other[at] } else { usual[at] });
            assert_eq!(of_both(&mut game, squares), expected, "{now:?}");
        }
    }
}

fn moves(game: &mut Game) -> usize {
    game.legal_moves().len()
}

#[test]
fn pawns_of_one_side_do_not_take_two_steps() {
    let rules = "single_step(p) :- active('other, c), color(p, c).";
    for (preset, white, black) in
        [("other", 12, 12), ("other:white", 12, 20), ("other:black", 20, 12)]
    {
        let mut game = started(rules, &[preset], None);
        assert_eq!(moves(&mut game), white, "{preset}");
        game.play_text("a2a3").expect("a step");
        assert_eq!(moves(&mut game), black, "{preset}");
    }
}

#[test]
fn fifty_moves_are_no_reason_where_a_preset_says_so() {
    let fen = Some("4k3/8/8/8/8/8/8/R3K3 w - - 100 80");
    let mut usual = started("", &["other"], fen);
    usual.claim_draw(Some("fifty_moves")).expect("the clock is at 100");
    let mut other = started("fifty_opinion() :- active('other, _).", &["other"], fen);
    other.claim_draw(Some("fifty_moves")).expect_err("that is withdrawn");
}

/// Knights may stay where they are: a move that the family does not know, safe as all others have to be.
#[test]
fn a_preset_adds_moves_of_its_own_to_those_that_are_tried() {
    let rules = "pseudo_legal_move(p, t) :- active('other, c), turn(c), own(p), kind(p, 'knight), at(p, s), step('n, s, u), step('n, u, t), !occupied(t).\n\
                 move(p, t) :- active('other, c), turn(c), own(p), kind(p, 'knight), pseudo_legal_move(p, t), !in_check().\n\
                 played_move(p, t) :- active('other, c), turn(c), pseudo_legal_move(p, t), kind(p, 'knight).";
    let mut game = started(rules, &["other:white"], None);
    assert_eq!(moves(&mut game), 22);
    game.play_text("b1b3").expect("two squares ahead");
    assert_eq!(moves(&mut game), 20);
    // What is pinned does not go there.
    let mut pinned = started(rules, &["other"], Some("4k3/8/8/8/8/8/r2NK3/8 w - - 0 1"));
    pinned.play_text("d2d4").expect_err("the king would stand attacked");
}

/// What a preset makes another action is no promotion either, where the capture is played out.
#[test]
fn what_is_another_action_is_no_promotion() {
    let rules = "odd_attacker(p) :- active('other, c), color(p, c).\n\
                 otherwise(p, t) :- active('other, c), own(p), color(p, c), goes(p, t), foe_square(t).";
    withdraws(
        rules,
        "1n2k3/P7/8/8/8/8/p7/1N2K3 w - - 0 1",
        [
            "a7a8b a7a8n a7a8q a7a8r a7b8b a7b8n a7b8q a7b8r",
            "a2a1b a2a1n a2a1q a2a1r a2b1b a2b1n a2b1q a2b1r",
        ],
        ["a7a8b a7a8n a7a8q a7a8r", "a2a1b a2a1n a2a1q a2a1r"],
    );
}

/// The start and the end of a pawn's way, and that it goes as pawns do: of one side, in the middle of a game.
#[test]
fn what_pawns_do_is_withdrawn_for_a_side_while_the_game_is_on() {
    let fen = "4k3/P7/8/5p2/2P5/8/p7/4K3 w - - 0 1";
    withdraws(
        "odd_last_rank(c) :- active('other, c).",
        fen,
        ["a7a8b a7a8n a7a8q a7a8r", "a2a1b a2a1n a2a1q a2a1r"],
        ["a7a8", "a2a1"],
    );
    withdraws(
        "odd_last_rank(c) :- active('other, c).\n\
         goal(c, t) :- active('other, c), opponent(c, _), rank(t, 5), c = 'white.\n\
         goal(c, t) :- active('other, c), opponent(c, _), rank(t, 4), c = 'black.",
        fen,
        ["c4c5", "f5f4"],
        ["c4c5b c4c5n c4c5q c4c5r", "f5f4b f5f4n f5f4q f5f4r"],
    );
    withdraws(
        "not_pawn_like(p) :- color(p, c), active('other, c), kind(p, 'pawn).",
        fen,
        ["c4c5", "f5f4"],
        ["c4b5 c4d5", "f5e4 f5g4"],
    );
    withdraws(
        "double_step(p) :- color(p, c), active('other, c).",
        fen,
        ["c4c5", "f5f4"],
        ["c4c5 c4c6", "f5f3 f5f4"],
    );
    let fen = "4k3/5p2/8/8/8/8/2P5/4K3 w - - 0 1";
    withdraws(
        "single_step(p) :- color(p, c), active('other, c).",
        fen,
        ["c2c3 c2c4", "f7f5 f7f6"],
        ["c2c3", "f7f6"],
    );
    // Knights that march: they keep the way in which they capture.
    let fen = "4k3/5n2/8/8/8/8/2N5/4K3 w - - 0 1";
    withdraws(
        "pawn_like(p) :- color(p, c), active('other, c), kind(p, 'knight).",
        fen,
        ["c2a1 c2a3 c2b4 c2d4 c2e3", "f7d6 f7d8 f7e5 f7g5 f7h6 f7h8"],
        ["c2c3 c2c4", "f7f5 f7f6"],
    );
}
