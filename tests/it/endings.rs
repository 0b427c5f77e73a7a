//! The opponent in endings: it drives a last piece to where it is mated, and knows the draws that can be claimed.

use rulemate::internals::game::{Game, Stop};
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::opponent::{Budget, Choice, Knowledge, Lessons, Level, Opponent, Score};

fn chess() -> (Ruleset, Knowledge) {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load::<&str>("chess", &[]).expect("chess");
    let lessons = Lessons { actions: 40_000, longest: 300, time: None };
    let knowledge = Knowledge::learn(&rules.start(None).expect("it starts"), lessons, 1);
    (rules, knowledge)
}

fn chosen(knowledge: &Knowledge, game: &Game, nodes: u64, depth: u32) -> Choice {
    let mut opponent = Opponent::new(knowledge.clone(), Level::HIGHEST, game.hash());
    let choice = opponent.choose(game, Budget { nodes, depth, time: None }, &Stop::default());
    choice.expect("the game goes on")
}

/// The mate is further off than any search sees.
#[test]
fn a_lone_king_is_mated() {
    let (rules, knowledge) = chess();
    for fen in [
        "3K4/8/8/8/7k/8/8/6R1 w - - 0 1",
        "1K6/8/8/8/8/4k3/8/1R6 w - - 0 1",
        "8/8/5k2/K7/8/8/8/3Q4 w - - 0 1",
    ] {
        let mut game = rules.start(Some(fen)).expect("a position");
        for _ in 0..60 {
            if game.result().is_some() {
                break;
            }
            let nodes = if game.side() == Some(0) { 10_000 } else { 1_000 };
            let action = chosen(&knowledge, &game, nodes, 64).action;
            game.play(&action).expect("it is legal");
        }
        let winner = game.result().and_then(|it| it.winner);
        assert_eq!(winner, Some(0), "{fen}: {}", game.fen());
    }
}

/// After fifty moves the side that is worse claims a draw, unless a pawn moves before.
#[test]
fn a_draw_that_can_be_claimed_is_one() {
    let (rules, knowledge) = chess();
    let score = |fen: &str| {
        let game = rules.start(Some(fen)).expect("a position");
        chosen(&knowledge, &game, u64::MAX, 4).score
    };
    assert_eq!(score("7k/8/8/8/8/8/8/2Q1K3 w - - 98 60"), Score::Hundredths(0));
    for fen in ["7k/8/8/8/8/8/P7/2Q1K3 w - - 98 60", "7k/8/8/8/8/8/8/2Q1K3 w - - 90 60"] {
        assert!(matches!(score(fen), Score::Hundredths(50..)), "{fen}: {:?}", score(fen));
    }
}
