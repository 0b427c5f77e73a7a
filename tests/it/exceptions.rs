//! What a preset withdraws of what its family says, for the side that it is active for: by exceptions that the
//! family declares, not by a copy of its files.

use rulemate::game::Game;
use rulemate::presets::Catalogue;
use rulemate::rules::Source;

fn started(rules: &str, presets: &[&str], fen: Option<&str>) -> Game {
    let mut catalogue = Catalogue::embedded().expect("our own metadata");
    let text = format!(
        ".meta preset \"other\"\n.meta family \"chess\"\n.domain Preset += {{ other }}\n{rules}\n"
    );
    let source = Source { path: "mine/other.dl".into(), text: text.into() };
    catalogue.add(source).expect("metadata that makes sense");
    let rules = catalogue.load("chess", presets).unwrap_or_else(|it| panic!("{it}"));
    rules.start(fen).expect("it starts")
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
    let rules = "try_move(p, t) :- active('other, c), turn(c), own(p), kind(p, 'knight), at(p, s), step('n, s, u), step('n, u, t), !occupied(t).\n\
                 move(p, t) :- active('other, c), turn(c), own(p), kind(p, 'knight), try_move(p, t), !in_check().\n\
                 played_move(p, t) :- active('other, c), turn(c), try_move(p, t), kind(p, 'knight).";
    let mut game = started(rules, &["other:white"], None);
    assert_eq!(moves(&mut game), 22);
    game.play_text("b1b3").expect("two squares ahead");
    assert_eq!(moves(&mut game), 20);
    // What is pinned does not go there.
    let mut pinned = started(rules, &["other"], Some("4k3/8/8/8/8/8/r2NK3/8 w - - 0 1"));
    pinned.play_text("d2d4").expect_err("the king would stand attacked");
}
