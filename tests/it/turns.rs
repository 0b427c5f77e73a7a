//! Turns of several actions: written with commas, read back, listed whole, played all or not at all.
//! The rules are those of chess, but each side moves twice.

use std::sync::Arc;

use rulemate::internals::derive::explain::Limits;
use rulemate::internals::game::{Game, PlayError};
use rulemate::internals::moves::notation::{MoveFault, PgnGame, PgnMove, PgnReader, listing};
use rulemate::internals::moves::{action_texts, parse_turn, turns};
use rulemate::internals::presets::Catalogue;
use rulemate::internals::rules::{EMBEDDED, Source};
use rulemate::internals::server::Board;
use rulemate::internals::server::core::Rules;

const TWICE: &str = "turn_goes_on() :- half_moves(0).\nmid_turn() :- half_moves(n), n > 0.\n";

/// Chess in which a turn is two moves.
fn twice() -> Game {
    let source = |&(path, it): &(&str, &str)| Source { path: path.into(), text: it.into() };
    let mut sources: Vec<Source> = EMBEDDED.iter().map(source).collect();
    sources.push(Source { path: "twice.dl".into(), text: TWICE.into() });
    let catalogue = Catalogue::new(sources).unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load("chess", &[""; 0]).unwrap_or_else(|it| panic!("{it}"));
    rules.start(None).unwrap_or_else(|it| panic!("{it}"))
}

#[test]
fn whole_turns_are_listed_and_read_back() {
    let mut game = twice();
    let contract = game.contract().clone();
    let world = game.world_mut();
    let before = world.facts().hash();
    let found = turns(world, &contract, 10_000);
    assert!(found.complete);
    let mut expected = 0;
    for (_, mv) in listing(world, &contract) {
        let mark = world.mark();
        world.fire(mv.action, &mv.args).expect("nothing refuses it");
        expected += listing(world, &contract).len();
        world.rollback(mark);
    }
    assert_eq!((found.turns.len(), world.facts().hash()), (expected, before));
    for (text, actions) in found.turns.iter().step_by(17) {
        assert_eq!(actions.len(), 2, "{text}");
        assert_eq!(parse_turn(world, &contract, text).as_ref(), Ok(actions));
        assert_eq!(&action_texts(world, actions).join(","), text);
    }
    let few = turns(world, &contract, 30);
    assert_eq!((few.turns.len(), few.complete), (30, false));
    assert_eq!(few.turns[..], found.turns[..30]);
}

#[test]
fn a_turn_is_played_whole_or_not_at_all() {
    let mut game = twice();
    game.play_text("e2e4,d2d4").expect("two moves of white");
    game.play_text("d5, Nc6").expect("in SAN, with a space");
    let sides: Vec<(i64, bool)> =
        game.history().iter().map(|it| (it.side, it.turn_goes_on)).collect();
    assert_eq!(sides, [(0, true), (0, false), (1, true), (1, false)]);
    let before = (game.hash(), game.history().len());
    for (text, wanted) in [
        ("exd5,d5c6,a2a3", "a2a3: the turn is over before it"),
        ("e4d5,e4d5", "e4d5: there is no such piece"),
        ("e4d5,e1e3", "e1e3: not legal here"),
        ("e4d5,", "an empty text: malformed at byte 0"),
    ] {
        let refusal = game.play_text(text).expect_err(text);
        let PlayError::Text(error) = &refusal else { panic!("{text}: {refusal}") };
        assert!(error.to_string().starts_with(wanted), "{text}: {error}");
        assert_eq!((game.hash(), game.history().len()), before, "{text}");
    }
    // One action at a time comes to the same.
    let mut slow = twice();
    for text in ["e2e4", "d2d4", "d7d5", "b8c6"] {
        slow.play_text(text).unwrap_or_else(|it| panic!("{it}"));
    }
    assert_eq!(slow.fen(), game.fen());
}

#[test]
fn turns_go_through_pgn() {
    let mut game = twice();
    let texts = ["e4,d4", "d5,Nc6", "exd5,dxc6", "bxc6,Qxd4"];
    let moves = texts.iter().map(|it| PgnMove { text: (*it).into(), ..PgnMove::default() });
    let pgn = PgnGame { moves: moves.collect(), ..PgnGame::default() }.to_pgn();
    assert!(pgn.contains("1. e4,d4 d5,Nc6 2. exd5,dxc6 bxc6,Qxd4 *"), "{pgn}");
    let read = PgnReader::new(pgn.as_bytes()).next().expect("a game").expect("well-formed");
    for mv in &read.moves {
        game.play_text(&mv.text).unwrap_or_else(|it| panic!("{}: {it}", mv.text));
    }
    assert_eq!(game.history().len(), 8);
    let contract = game.contract().clone();
    let fault = parse_turn(game.world_mut(), &contract, "Qxd4,Qxd4");
    assert!(!matches!(fault.expect_err("only one queen").reason, MoveFault::Over));
}

/// A turn under way that the search does not come to is refused for that, not as none of this game.
#[test]
fn turns_that_are_not_found_within_limits_are_refused_for_that() {
    let rules = |(board, start): (&str, &str), steps: usize| {
        let text = format!(
            ".meta game \"strolls\"\n.meta board \"{board}\"\n.meta start \"{start}\"\n\
             .meta fen \"turn {{begun}}:{{gone}}\"\n.domain Kind += {{ runner }}\nletter('runner, \"r\").\n\
             .input steps(n: Int) game attr steps = 0 \"{{n}} steps\"\n\
             .action stroll(piece: Entity, to: Square) legality rules uci \"{{at(piece)}}{{to}}\" \"{{piece}} strolls to {{to}}\"\n\
             stroll(p, t) :- own(p), at(p, s), step(_, s, t), !occupied(t).\nmovable() :- stroll(_, _).\n\
             turn_goes_on() :- steps(n), n < {}.\non stroll(p, t) do set at(p, t).\n\
             on stroll(_, _) in after when steps(n) do set steps((n + 1) % {steps}).\n\
             .decl begun() text \"on\" \"a turn is under way\"\nbegun() :- steps(n), n > 0.\n\
             .decl gone(n: Int, square: Square) text \"{{n}}{{square}}\" \"after {{n}} steps at {{square}}\"\n\
             gone(n, s) :- steps(n), own(p), at(p, s).\n",
            steps - 1
        );
        let mut catalogue = Catalogue::embedded().expect("the catalogue");
        let source = Source { path: "mine/strolls.dl".into(), text: text.into() };
        catalogue.add(source).expect("metadata that makes sense");
        catalogue.load::<&str>("strolls", &[]).unwrap_or_else(|it| panic!("{it}"))
    };
    let (wide, narrow) = (("4x4", "R3/4/4/4 w 1"), ("1x2", "R/1 w 1"));
    let limits = Some("expected a turn that is found within the limits of a search");
    for (board, steps, done, expected) in [
        (wide, 12, "on:1a3", None),
        (wide, 12, "on:1b3", limits),
        (wide, 3, "on:1b3", None),
        (wide, 3, "on:1c2", Some("expected actions that a turn may begin with here")),
        (narrow, 40, "on:31a1", None),
        (narrow, 40, "on:35a1", limits),
    ] {
        let started = rules(board, steps).start(Some(&format!("{} {done}", board.1)));
        let refused = started.err().map(|it| it.to_string());
        let is_so = match (&refused, expected) {
            (Some(refused), Some(expected)) => {
                let place = format!("byte {}: ", board.1.len() + 1);
                refused.contains(&place) && refused.contains(expected)
            }
            (refused, expected) => refused.is_none() && expected.is_none(),
        };
        assert!(is_so, "{done}: {refused:?}");
    }
}

/// A list with which the text of a turn begins grows at any place, as lists do.
#[test]
fn lists_that_begin_the_text_of_a_turn_are_read_back() {
    let text = ".meta game \"tours\"\n.meta board \"4x4\"\n.meta start \"R3/4/4/4 w 1\"\n\
        .meta fen \"turn {passed,}:{gone}\"\n.domain Kind += { runner }\nletter('runner, \"r\").\n\
        .input steps(n: Int) game attr steps = 0 \"{n} steps\"\n\
        .input been(square: Square) of Square attr been \"{square} was passed\"\n\
        .action stroll(piece: Entity, to: Square) legality rules uci \"{at(piece)}{to}\" \"{piece} strolls to {to}\"\n\
        stroll(p, t) :- own(p), at(p, s), step(_, s, t), !occupied(t).\nmovable() :- stroll(_, _).\n\
        turn_goes_on() :- steps(n), n < 3.\non stroll(p, t) do set at(p, t), set been(t).\n\
        on stroll(_, _) in after when steps(n) do set steps((n + 1) % 4).\n\
        .decl gone(n: Int, square: Square) text \"{n}{square}\" \"after {n} steps at {square}\"\n\
        gone(n, s) :- steps(n), own(p), at(p, s).\n\
        .decl passed(square: Square) text \"{square}\" \"{square} was passed in this turn\"\n\
        passed(s) :- been(s), steps(n), n > 0.\n";
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    let source = Source { path: "mine/tours.dl".into(), text: text.into() };
    catalogue.add(source).expect("metadata that makes sense");
    let rules = catalogue.load::<&str>("tours", &[]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).expect("it starts");
    for text in ["a4b4", "b4a3"] {
        game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
    }
    let fen = game.fen();
    assert_eq!(fen, "R3/4/4/4 w 1 a3,b4:2a3");
    let mut again = rules.start(Some(&fen)).unwrap_or_else(|it| panic!("{it}"));
    assert_eq!((again.fen(), again.hash()), (fen, game.hash()));
}

/// An action whose text has a comma of its own, in a turn of two actions, whose texts have commas between them.
#[test]
fn commas_within_texts_and_between_them_are_told_apart() {
    let text = ".meta game \"pairs\"\n.meta board \"4x1\"\n.meta start \"R1R1 w 1\"\n.domain Kind += { runner }\n\
                letter('runner, \"r\").\n\
                .action run(piece: Entity, to: Square) legality rules uci \"{at(piece)},{to}\" \"{piece} runs to {to}\"\n\
                run(p, t) :- own(p), at(p, s), step('e, s, t), !occupied(t).\nmovable() :- run(_, _).\n\
                on run(p, t) do set at(p, t).\n";
    let text = format!("{text}{TWICE}");
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    let source = Source { path: "mine/pairs.dl".into(), text: text.into() };
    catalogue.add(source).expect("metadata that makes sense");
    let rules = catalogue.load::<&str>("pairs", &[]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).expect("it starts");
    let mut legal = |text: &str| game.explain_move(text, Limits::default()).map(|it| it.holds);
    assert_eq!(legal("a1,b1").ok(), Some(true));
    assert_eq!(legal("a1,b1,c1,d1").ok(), Some(true));
    assert_eq!(legal("a1,b1,b1,c1").ok(), Some(false));
    assert!(legal("c1,b1,c1,d1").is_err());
    // A server takes one action at a time, and whole turns of games that were played elsewhere.
    let mut board = Board::new(game, Arc::new(catalogue), rules);
    assert_eq!(board.actions("a1,b1,c1,d1"), ["a1,b1", "c1,d1"]);
    let refused = board.play("a1,b1,c1,d1").expect_err("two actions");
    assert!(refused.sentence.contains("one by one"), "{}", refused.sentence);
    assert!(board.game().history().is_empty());
    board.play("a1,b1").unwrap_or_else(|it| panic!("{}", it.sentence));
    assert_eq!(board.game().history().len(), 1);
}
