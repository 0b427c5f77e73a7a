//! Presets in pairs and in threes: those that go together load, and are played at random.
//!
//! What must be so of each is said in `audit::combine`, which `rulemate verify --pairs` runs, too. Here the pairs
//! that rules say go together and some more that are drawn are played with one pair of scopes, drawn by the number
//! of the pair; `RULEMATE_FULL=1` plays all pairs with all nine, and longer.

use std::collections::BTreeSet;

use rulemate::internals::audit::combine::{
    Combination, Outcome, Played, pairs, shared_pairs, triples,
};
use rulemate::internals::presets::Catalogue;

/// Plays all of them; how many were played, and how many the registry refused.
fn play(catalogue: &Catalogue, all: &[Combination]) -> (usize, usize) {
    let (mut played, mut refused, mut sum) = (0, 0, Played::default());
    let mut faults = Vec::new();
    for it in all {
        match it.play(catalogue) {
            Outcome::Played(found) => {
                played += 1;
                sum += found;
            }
            Outcome::Refused(_) => refused += 1,
            Outcome::Failed(why) => faults.push(format!("{it}: {why}")),
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(sum.plies > 5 * played as u64 && sum.switches > played as u64 / 3, "{sum:?}");
    (played, refused)
}

#[test]
#[expect(clippy::print_stdout, reason = "figures of a long run")]
fn pairs_of_presets_are_playable() {
    let full = crate::fixture::is_full();
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let mut sample = pairs(&catalogue, full);
    if !full {
        // The others are played by `rulemate verify --pairs`.
        let every_third = sample.combinations.into_iter().step_by(3);
        sample.combinations = every_third.collect();
    }
    let (played, refused) = play(&catalogue, &sample.combinations);
    let drawn = sample.combinations.len();
    println!("{drawn} of {} pairs, drawn by the seed {:?}", sample.of, sample.seed);
    assert!(full || drawn < sample.of, "{drawn} of {}", sample.of);
    assert!(played > refused * 10, "{played} pairs played, {refused} refused");
    let of_a_family = |game: &str| {
        let game = catalogue.games().iter().find(|it| it.name == game);
        game.and_then(|it| it.family.clone())
    };
    let families: BTreeSet<_> =
        sample.combinations.iter().map(|it| of_a_family(&it.game)).collect();
    assert!(families.len() >= 3, "pairs are played on each family: {families:?}");
}

/// In these games a commander steps out of its own stack into danger, from where it goes on: CoTuLenh asks whether it
/// is safe when the deployment is committed.
#[test]
fn moves_whose_safety_is_left_to_the_rest_of_the_turn_are_no_faults() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let all = shared_pairs(&catalogue, true).combinations;
    for presets in [["double-move:both", "piece-shield:red"], ["piece-shield:both", "stamina:red"]]
    {
        let is_it = |it: &&Combination| it.game == "cotulenh-oracle" && it.presets == presets;
        let outcome = all.iter().find(is_it).map(|it| it.play(&catalogue));
        assert!(matches!(outcome, Some(Outcome::Played(_))), "{presets:?}: {outcome:?}");
    }
}

/// A draft moves no piece, so a royal piece that the first position leaves attacked is no reason against it.
#[test]
fn drafting_is_legal_while_a_royal_piece_stands_attacked() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let all = pairs(&catalogue, true).combinations;
    let is_it = |it: &&Combination| it.presets == ["loadout-draft:both", "knightmate-rules:both"];
    let outcome = all.iter().find(is_it).map(|it| it.play(&catalogue));
    assert!(matches!(outcome, Some(Outcome::Played(_))), "{outcome:?}");
}

/// The legal actions of a position of a game with presets, as UCI has them.
fn listed(catalogue: &Catalogue, game: &str, presets: &[&str], fen: &str) -> Vec<String> {
    let rules = catalogue.load(game, presets).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{fen}: {it}"));
    game.listing().into_iter().map(|it| it.0).collect()
}

/// A pawn that promotes on the way between an enemy and the king may capture what stops a piece that slides through enemies.
#[test]
fn a_capture_that_promotes_uncovers_no_king() {
    const BOARD: &str =
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 slow=0";
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    for (lift, is_legal) in [("gale-lift=-,e7:true", false), ("gale-lift=-", true)] {
        let fen = format!("{BOARD} {lift}");
        let moves = listed(&catalogue, "chess", &["gale-lift:black", "makruk"], &fen);
        assert!(moves.contains(&"e5g6".to_owned()), "{moves:?}");
        assert_eq!(moves.contains(&"d5e6m".to_owned()), is_legal, "{lift}: {moves:?}");
    }
}

/// Rules count an action that has to be played out as one. If all of them turn out illegal, the game ends as it does without
/// any action.
#[test]
fn a_side_whose_actions_are_all_refused_when_played_out_has_none() {
    const FEN: &str = "1r2kbnr/p1p2pp1/b2pp1N1/1p6/Nn5p/PP3P1P/2PP1qP1/B1RQKB1R w K - 3 20 hp=2,c2:1,a3:1,b4:1,h4:1,g7:1";
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let presets = ["piece-hp", "atomic", "poisoned-squares"];
    let rules = catalogue.load("chess", &presets).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(Some(FEN)).unwrap_or_else(|it| panic!("{it}"));
    assert!(game.listing().is_empty());
    let result = game.result().map(|it| (&*it.outcome, &*it.reason));
    assert_eq!(result, Some(("draw", "stalemate")));
}

/// Beside presets that it does not foresee, `atomic` plays actions out, and sees where the king ends only.
#[test]
fn a_king_in_check_does_not_castle_where_castling_is_played_out() {
    const CHECK: &str = "r1n1k3/p1bpqp2/8/3P1p2/1P6/P7/2P2P1P/R3KB2 w Qq - 1 12";
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    for presets in [&["atomic"][..], &["atomic", "berolina-pawns:black"]] {
        let moves = listed(&catalogue, "chess", presets, CHECK);
        assert!(moves.contains(&"e1d1".to_owned()), "{moves:?}");
        assert!(!moves.contains(&"e1c1".to_owned()), "{presets:?}: {moves:?}");
    }
}

/// Drops are decided by rules that know chess: beside presets that judge the safety of kings otherwise, they are played.
#[test]
fn drops_are_played_out_beside_presets_that_judge_safety_otherwise() {
    const UMBRAL: &str = "r1bk1b1r/1p1B1pp1/2pp1Q2/p3p1Pp/2Pqn2P/4PP2/PP1NK3/R1B3NR[p] b - - 1 16 slow=0 umbral-step=-,f6:true";
    const STALWART: &str =
        "2r2k2/2pp1Qbr/1n1BbnpP/p7/4PPb1/2P5/1P4pP/1RN1K2R[Np] b K - 0 16 slow=0 stalwart=true";
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let atomic = "rnb2k1r/2pp1ppp/7n/p7/1P1p2P1/N3q2P/PBPKP3/RQ4NR[P] w - - 1 15";
    for (presets, fen, legal, illegal) in [
        (["atomic:white", "crazyhouse"], atomic, "d2e1", "P@f2"),
        (["umbral-step:white", "crazyhouse"], UMBRAL, "d8c7", "P@e7"),
        (["stalwart", "crazyhouse"], STALWART, "P@e7", "P@e5"),
        (["cannon", "crazyhouse"], "4c3/8/8/8/8/8/8/4K2k[P] w - - 0 1", "P@d4", "P@e4"),
        (["cannon", "crazyhouse"], "4c3/8/4p3/8/8/8/8/4K2k[P] w - - 0 1", "P@e4", "P@d4"),
        (["racing-kings", "crazyhouse"], "8/8/8/7k/8/8/8/K7[R] w - - 0 1", "R@g2", "R@h2"),
    ] {
        let moves = listed(&catalogue, "chess", &presets, fen);
        assert!(moves.contains(&legal.to_owned()), "{presets:?} {legal}: {moves:?}");
        assert!(!moves.contains(&illegal.to_owned()), "{presets:?} {illegal}: {moves:?}");
    }
}

/// A drop leaves no royal piece attacked: not the one that is dropped, not one of two that one piece attacks, and not one
/// that is attacked from two sides; and it waits while the duck is to be placed.
#[test]
fn drops_leave_no_royal_piece_attacked() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rows: [(&str, &[&str], &str, &str, &str); 12] = [
        // A knight that leaps twice is parried on the square between alone.
        (
            "crazyhouse",
            &["knights-leap-twice"],
            "4k3/8/8/8/8/8/8/4K1n1[N] w - - 0 1",
            "N@f3",
            "N@b1",
        ),
        ("crazyhouse", &["coregal"], "8/5K2/8/3b4/8/2k5/8/8[QR] w - - 0 1", "R@e6", "Q@e6"),
        ("crazyhouse", &["coregal"], "8/8/qR1k4/8/8/8/8/4K3[n] b - - 0 1", "a6b6", "N@c6"),
        ("crazyhouse", &["wrap-board"], "4k3/8/8/8/8/8/8/K2r4[R] w - - 0 1", "a1a2", "R@b1"),
        ("crazyhouse", &["duck"], "4k3/8/8/8/8/8/8/4K3[R] w - - 0 1 hm=1", "d4d4", "R@d4"),
        ("minishogi", &["duck"], "4k/5/5/5/K4[R] w - - 0 1 hm=1", "c3c3", "R@c3"),
        ("minishogi", &["atomic"], "k4/5/5/5/r3K[G] w - - 0 1", "G@d1", "G@c3"),
        // A horse is kept from leaping.
        ("xiangqi", &["crazyhouse"], "4k4/9/9/9/9/9/9/3n5/9/4K4[R] w - - 0 1", "R@d2", "R@e2"),
        // A cannon of janggi is given nothing to jump over, and generals do not go on facing each other.
        ("janggi", &["crazyhouse"], "3k5/4c4/9/9/9/9/9/9/4K4/9[R] w - - 0 1", "R@d5", "R@e5"),
        ("janggi", &["crazyhouse"], "4k4/9/9/9/9/9/9/9/4K4/9[R] w - - 0 1", "R@e5", "R@d5"),
        // What is gated would be what a cannon jumps over.
        ("seirawan", &["cannon"], "2k5/8/8/8/8/8/8/c2NK3[E] w D - 0 1", "d1b2", "d1b2e"),
        // The captured king comes into hand, but the own king is gone.
        ("crazyhouse", &["atomic"], "8/8/8/8/8/8/8/R2kK3[] w - - 0 1", "a1c1", "a1d1"),
    ];
    for (game, presets, fen, legal, illegal) in rows {
        let moves = listed(&catalogue, game, presets, fen);
        assert!(moves.contains(&legal.to_owned()), "{presets:?} {legal}: {moves:?}");
        assert!(!moves.contains(&illegal.to_owned()), "{presets:?} {illegal}: {moves:?}");
    }
}

/// Suicide chess has no royal pieces: kings run for the hill. An explosion that takes the last pieces of both sides is won
/// by the side that caused it, unless the game says otherwise.
#[test]
fn suicide_chess_goes_with_hills_and_explosions() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    for [game, fen, text, outcome, reason] in [
        ["giveaway", "7n/8/8/8/8/4K3/8/8 w - - 0 1", "e3e4", "white_wins", "king_of_the_hill"],
        [
            "atomic-giveaway-hill",
            "7n/8/8/8/8/4K3/8/8 w - - 0 1",
            "e3e4",
            "white_wins",
            "king_of_the_hill",
        ],
        ["atomic-giveaway", "8/8/8/8/8/8/8/Rr6 w - - 0 1", "a1b1", "white_wins", "no_piece_left"],
        ["atomic-giveaway", "8/8/8/8/8/8/8/Rr6 b - - 0 1", "b1a1", "black_wins", "no_piece_left"],
        ["antiatomic", "8/8/8/8/8/8/8/Rr6 w - - 0 1", "a1b1", "black_wins", "no_piece_left"],
        ["antiatomic", "8/8/8/8/8/8/8/Rr6 b - - 0 1", "b1a1", "white_wins", "no_piece_left"],
    ] {
        let hill: &[&str] = if game == "giveaway" { &["king-of-the-hill"] } else { &[] };
        let rules = catalogue.load(game, hill).unwrap_or_else(|it| panic!("{it}"));
        let mut played = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"));
        played.play_text(text).unwrap_or_else(|it| panic!("{game} {text}: {it}"));
        let result = played.result().map(|it| (&*it.outcome, &*it.reason));
        assert_eq!(result, Some((outcome, reason)), "{game} {fen} {text}");
    }
}

/// The text of the duck's way begins with the square of a piece that was dropped, too.
#[test]
fn the_duck_follows_a_drop_as_it_follows_a_move() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load("crazyhouse", &["duck"]).unwrap_or_else(|it| panic!("{it}"));
    let fen = "4k3/8/8/8/8/8/8/4K3[R] w - - 0 1";
    let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"));
    for text in ["R@a3", "a3b1"] {
        game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
    }
    assert_eq!(game.fen(), "4k3/8/8/8/8/R7/8/1*2K3[] b - - 1 1");
}

/// Presets that react to captures and promotions react to those of a game with hands, too, and what is captured comes
/// into hand once.
#[test]
fn captures_and_promotions_of_a_game_with_hands_are_those_of_chess() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let start = "rbsgk/4p/5/P4/KGSBR[] w - - 0 1";
    let beside = "4k/1s3/1p3/1R3/K4[] w - - 0 1";
    for (preset, fen, text, result) in [
        ("atomic", beside, "b2b3", "4k/5/5/5/K4[P] b - - 0 1"),
        ("atomic", "1p2k/1s3/5/1R3/K4[] w - - 0 1", "b2b4", "1p2k/5/5/5/K4[S] b - - 0 1"),
        ("atomic", "1p2k/1R3/5/5/K4[] w - - 0 1", "b4b5+", "4k/5/5/5/K4[P] b - - 0 1"),
        ("crazyhouse", beside, "b2b3", "4k/1s3/1R3/5/K4[P] b - - 0 1"),
        ("crazyhouse", start, "e1e3", "rbsgk/4p/4R/P4/KGSB1[] b - - 1 1"),
    ] {
        let rules = catalogue.load("minishogi", &[preset]).expect("it loads");
        let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{fen}: {it}"));
        game.play_text(text).unwrap_or_else(|it| panic!("{preset}: {text}: {it}"));
        assert_eq!(game.fen(), result, "{preset}: {text}");
    }
    for (preset, fen, text, result) in [
        ("first-promotion-wins", "4k/R4/5/5/K4[] w - - 0 1", "a4a5+", "white wins"),
        ("capture-to-win", "1p2k/1R3/5/5/K4[] w - - 0 1", "b4b5+", "white wins"),
    ] {
        let rules = catalogue.load("minishogi", &[preset]).expect("it loads");
        let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{fen}: {it}"));
        game.play_text(text).unwrap_or_else(|it| panic!("{preset}: {text}: {it}"));
        let told = game.result().map(ToString::to_string).unwrap_or_default();
        assert!(told.starts_with(result), "{preset}: {told}");
    }
}

/// Kings side by side are in no check under `atomic`, whatever attacks them; but squares behind a king are not sheltered by
/// it when it castles.
#[test]
fn kings_side_by_side_are_in_no_check() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    for presets in [&["atomic"][..], &["atomic", "three-check"]] {
        let rules = catalogue.load("chess", presets).unwrap_or_else(|it| panic!("{it}"));
        let fen = "r7/8/8/8/8/8/3k4/4K3 b - - 0 1";
        let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"));
        game.play_text("a8e8").unwrap_or_else(|it| panic!("{it}"));
        assert_eq!(game.history().last().map(|it| &*it.san), Some("Re8"), "{presets:?}");
        assert!(!game.fen().contains("3+2"), "{}", game.fen());
        let game = rules.start(Some("8/8/8/8/8/8/6kp/6rK w - - 0 1"));
        let result = game.ok().and_then(|it| it.result().map(ToString::to_string));
        assert_eq!(result.as_deref(), Some("draw by stalemate"), "{presets:?}");
        for (fen, legal) in [
            ("8/8/8/8/8/8/3k4/3qK2R w K - 0 1", false),
            ("8/8/8/8/8/8/3k4/2q1K2R w K - 0 1", false),
            ("8/8/8/8/8/8/3k4/b3K2R w K - 0 1", true),
        ] {
            let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"));
            let moves: Vec<String> = game.listing().into_iter().map(|it| it.0).collect();
            assert_eq!(moves.contains(&"e1g1".to_owned()), legal, "{presets:?} {fen}: {moves:?}");
        }
    }
}

#[test]
fn threes_of_presets_are_playable() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let (played, _) = play(&catalogue, &triples(&catalogue, 12).combinations);
    assert!(played > 8, "{played} played");
}
