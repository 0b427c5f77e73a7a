//! Games that begin with pieces in hand and games without kings, beyond the vectors of Fairy-Stockfish: rights that come
//! with a drop, options of `crazyhouse`, and turns of two actions.

use rulemate::internals::game::Game;
use rulemate::internals::presets::Catalogue;

fn start(game: &str, presets: &[&str], fen: Option<&str>) -> Game {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load(game, presets).unwrap_or_else(|it| panic!("{game}: {it}"));
    rules.start(fen).unwrap_or_else(|it| panic!("{game}: {it}"))
}

fn play(game: &mut Game, moves: &str) {
    for mv in moves.split(' ') {
        game.play_text(mv).unwrap_or_else(|it| panic!("{mv}: {it}"));
    }
}

fn legal(game: &mut Game) -> Vec<String> {
    game.listing().into_iter().map(|it| it.0).collect()
}

/// Kings and rooks that are put where they stand in chess may castle, in whichever order they come.
#[test]
fn kings_and_rooks_placed_at_home_may_castle() {
    for (moves, rights) in [
        ("K@e1 K@d8 R@h1 R@h8 R@a1 R@a8", "KQ"),
        ("R@h1 K@e8 R@a1 R@a8 K@e1", "KQq"),
        ("R@b1 R@g8 K@e1 K@e8 R@h1", "K"),
        ("N@b1", "-"),
    ] {
        let mut game = start("placement", &[], None);
        play(&mut game, moves);
        assert_eq!(game.fen().split(' ').nth(2), Some(rights), "{moves}");
    }
}

#[test]
fn options_of_crazyhouse_keep_promoted_pawns_and_put_pawns_on_the_first_rank() {
    for (preset, hand, on_first) in [
        ("crazyhouse", "[Rp]", false),
        ("crazyhouse:both:keep_promoted=true", "[Rq]", false),
        ("crazyhouse:both:keep_promoted=true,first_rank=true", "[Rq]", true),
        ("crazyhouse:white:first_rank=true", "[R]", true),
    ] {
        let mut game = start("chess", &[preset], Some("3rk3/2P5/8/8/8/8/8/4K3[] w - - 0 1"));
        play(&mut game, "c7d8q e8d8");
        assert!(game.fen().contains(hand), "{preset}: {}", game.fen());
        let mut game = start("chess", &[preset], Some("4k3/8/8/8/8/8/8/4K3[P] w - - 0 1"));
        let listed = legal(&mut game);
        assert_eq!(listed.contains(&"P@a1".into()), on_first, "{preset}: {listed:?}");
        assert!(!listed.contains(&"P@a8".into()), "{preset}");
    }
}

/// A FEN tells which man is to take a square away, and a step is no turn if no square could be taken away after it.
#[test]
fn turns_of_isolation_have_two_actions() {
    let mut game = start("isolation", &[], None);
    play(&mut game, "c1b1");
    let between = game.fen();
    assert_eq!(between, "3p2/6/6/6/6/6/6/1P4 w 1 hm=1 arrow=b1");
    let mut again = start("isolation", &[], Some(&between));
    assert_eq!(again.warnings(), []);
    assert_eq!(legal(&mut again), legal(&mut game));
    play(&mut game, "b1a1");
    assert_eq!(game.fen(), "3p2/6/6/6/6/6/6/*P4 b 1");
    let last = "**1p***/*******/*******/*******/***P***/*******/***1*** b 23";
    let over = start("isolation7x7", &[], Some(last));
    assert_eq!(over.result().map(|it| it.outcome.clone()).as_deref(), Some("white_wins"));
    // A man that is too tired to move still takes a square away.
    let mut tired = start("isolation", &["stamina"], None);
    play(&mut tired, "c1b1 b1a1 d8d7 d7a8");
    assert!(tired.result().is_none());
}

/// A king that stands in the way of a bishop, which leaps past it, may not go where the bishop leaps to.
#[test]
fn a_king_of_paradigm_chess_minds_whose_way_it_opens() {
    // From d4 a bishop leaps over d5 to c6 and e6, and over e4 to f5.
    let mut game = start("paradigm", &[], Some("7k/8/8/8/3bK3/8/8/8 w - - 0 1"));
    let listed = legal(&mut game);
    assert!(!listed.contains(&"e4f5".into()) && !listed.contains(&"e4f3".into()), "{listed:?}");
    assert!(listed.contains(&"e4f4".into()) && listed.contains(&"e4d4".into()), "{listed:?}");
    let why = game.explain_move("e4f5", Default::default()).expect("a move");
    assert!(why.summary.contains("stands in the way of"), "{}", why.summary);
}

/// Refusals of drops name the reason that a player sees, and are about the piece in hand, not about one on the board.
#[test]
fn drops_are_refused_in_words_of_the_game() {
    let hand = "4k3/8/8/8/8/8/4P3/4K3[P] w - - 0 1";
    let shogi = "lnsgkgsnl/1r5b1/pppp1pppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL[P] w 0 1";
    let birds = "2k4/7/7/7/2S4/2S4/2K4[S] w 0 1";
    for (game, fen, moves, text, reason) in [
        ("placement", None, "B@b1 K@e8", "B@d1", "the other bishop stands on a square of the same"),
        ("placement", None, "B@b1 K@e8", "N@e4", "e4 is not on the first rank of white"),
        ("placement", None, "B@b1 K@e8", "a2a3", "all pieces are put down before one moves"),
        ("sittuyin", None, "K@e1 K@e8", "R@a2", "a rook of white is not put on a2"),
        ("crazyhouse", Some(hand), "", "P@d1", "pawns are not dropped on the first rank"),
        ("crazyhouse", Some(hand), "", "P@d8", "pawns are not dropped on the last rank"),
        ("crazyhouse", None, "", "P@e4", "the white pawn on a2 is not in hand"),
        ("shogi", Some(shogi), "", "P@e5", "the white pawn on e3 stands on that file already"),
        ("torishogi", Some(birds), "", "S@c4", "and the white swallow on c3 stand on that file"),
    ] {
        let mut game = start(game, &[], fen);
        if !moves.is_empty() {
            play(&mut game, moves);
        }
        let why = game.explain_move(text, Default::default()).expect("a move").summary;
        assert!(why.contains(reason), "{text}: {why}");
    }
}

/// A host with two boards plays two games of bughouse: what is captured on one goes to the hand of the partner on the other,
/// in whose FEN the host writes it.
#[test]
fn what_is_captured_on_one_board_of_bughouse_is_dropped_on_the_other() {
    let count = |fen: &str, letter: char| fen.chars().filter(|it| *it == letter).count();
    let mut one = start("bughouse", &[], None);
    play(&mut one, "e2e4 d7d5");
    let before = one.fen();
    play(&mut one, "e4d5");
    let after = one.fen();
    assert!(after.contains("[]"), "{after}");
    let is_captured = |it: &char| count(&before, *it) > count(&after, *it);
    let captured: String = "pnbrqPNBRQ".chars().filter(is_captured).collect();
    assert_eq!(captured, "p");
    let mut two = start("bughouse", &[], None);
    play(&mut two, "g1f3");
    let given = two.fen().replace("[]", &format!("[{captured}]"));
    let mut two = start("bughouse", &[], Some(&given));
    play(&mut two, "P@e4");
    assert!(two.fen().starts_with("rnbqkbnr/pppppppp/8/8/4p3/5N2/PPPPPPPP/RNBQKB1R[]"));
}

/// In koedem a king in hand is dropped before anything else is done.
#[test]
fn a_king_in_hand_is_dropped_first_in_koedem() {
    let fen = "r3k2r/8/8/3pP3/8/8/8/R3K2R[KNkn] w KQkq d6 0 1";
    let mut game = start("koedem", &[], Some(fen));
    let listed = legal(&mut game);
    assert!(listed.iter().all(|it| it.starts_with("K@")), "{listed:?}");
    let why = game.explain_move("N@c3", Default::default()).expect("a move");
    assert!(why.summary.contains("has to be dropped first"), "{}", why.summary);
    play(&mut game, "K@e2 K@e7");
    assert!(legal(&mut game).contains(&"N@c3".into()));
}
