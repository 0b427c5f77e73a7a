//! The public helpers for tests of others: set-up, assertions, what was computed again.

use proptest::prelude::*;
use rulemate::testing::{Session, reachable};
use rulemate::{assert_derives, assert_not_derives};

#[test]
fn assertions_say_why() {
    let mut session = Session::new("chess");
    assert_derives!(session, "attacks(?p, c3), kind(?p, knight)");
    assert_not_derives!(session, "attacks(?p, e4)");
    let why = session.expect("attacks(a1, a3)", true).expect_err("a2 is in the way");
    assert!(why.starts_with("attacks(a1, a3) is not derived:\nnot: "), "{why}");
    let why = session.expect("attacks(b1, c3)", false).expect_err("it does");
    assert!(why.contains("the white knight on b1 attacks c3 [rules/chess/"), "{why}");
    assert_eq!(
        session.proof("kind(b1, knight)"),
        "the white knight on b1 is a knight [fact]\nthe white knight on b1 stands on b1 [fact]\n"
    );
}

/// Proofs as snapshots.
#[test]
fn proofs_are_text_for_snapshots() {
    let mut session = Session::new("chess");
    insta::assert_snapshot!(session.proof("attacks(g1, f3), color(g1, white)").lines().next().unwrap_or_default()
        .split(" [").next().unwrap_or_default(), @"the white knight on g1 attacks f3");
    insta::assert_snapshot!(session.proof("kind(b1, knight)"), @r"
    the white knight on b1 is a knight [fact]
    the white knight on b1 stands on b1 [fact]
    ");
}

#[test]
fn boards_are_set_up_by_name() {
    let mut session = Session::new("chess");
    session.clear_board().place("white king", "e1").place("black queen", "e3");
    session.place("black king", "e8").place("white rook", "e3");
    assert_eq!(session.piece_at("e3").map(|it| it.to_string()).as_deref(), Some("white rook"));
    assert_eq!(session.game().fen(), "4k3/8/8/8/8/4R3/8/4K3 w - - 0 1");
    session.to_move("black");
    assert_derives!(session, "check(e3, e8)");
    session.play("Kd8");
    assert_eq!(session.game().history().len(), 1);
}

/// A rook's move derives the other wing's slides not again.
#[test]
fn changes_stay_local() {
    let mut session = Session::at("chess", "r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1");
    let work = session.recomputed(|it| {
        it.play("h1h4");
    });
    let moved = work.of("slide");
    assert!(moved.contains(&"the white rook on h1"), "{moved:?}");
    assert!(!moved.iter().any(|it| it.contains("rook on a")), "{moved:?}");
    let far = session.recomputed(|_| {});
    assert!(far.parts.is_empty(), "{far:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn reachable_positions_have_their_history(mut session in reachable("chess", 12)) {
        let mut game = session.game().clone();
        while game.takeback().is_some() {}
        let start = session.rules().start(None).expect("it starts");
        prop_assert_eq!(game.hash(), start.hash());
    }
}
