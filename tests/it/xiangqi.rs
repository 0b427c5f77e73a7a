//! Xiangqi and its kin, beyond the vectors of Fairy-Stockfish: what a repeated position comes to. Results are those of
//! pyffish 0.0.90 (`is_optional_game_end`).

use rulemate::internals::game::{Game, Stop};
use rulemate::internals::presets::Catalogue;
use rulemate::opponent::{Budget, Knowledge, Lessons, Level, Opponent, Score};

use crate::fixture::{play, start};

/// A chariot that attacks a cannon as both go to and fro on the first two files.
const ROOK: &str = "5k3/9/9/c8/9/9/9/9/1R7/3K5 w - - 0 1";
const CHASE: &str = "b2a2 a7b7 a2b2 b7a7";
const GENERAL: &str = "b2a2 f10f9 a2b2 f9f10";

fn ended(game: &Game) -> String {
    game.result().map_or_else(|| "-".into(), ToString::to_string)
}

#[test]
fn perpetual_check_and_perpetual_chase_lose() {
    let draw = "draw by threefold repetition";
    let checked = "black wins by perpetual check";
    let chased = "black wins by perpetual chase";
    for (name, fen, cycle, result) in [
        ("xiangqi", "4k4/9/R8/9/9/9/9/9/9/3K5 w - - 0 1", "a8b8 e10e9 b8a8 e9e10", draw),
        ("xiangqi", "3k5/9/R8/9/9/9/9/9/9/4K4 w - - 0 1", "a8a10 d10d9 a10a8 d9d10", draw),
        ("xiangqi", "4k4/R8/9/9/9/9/9/9/9/3K5 w - - 0 1", "a9a10 e10e9 a10a9 e9e10", checked),
        ("manchu", "4k4/R8/9/9/9/9/9/9/9/3K5 w - - 0 1", "a9a10 e10e9 a10a9 e9e10", checked),
        ("minixiangqi", "3k3/R6/7/7/7/7/2K4 w - - 0 1", "a6a7 d7d6 a7a6 d6d7", checked),
        ("xiangqi", ROOK, CHASE, chased),
        ("manchu", ROOK, CHASE, draw),
        ("crowdedxiangqi", "5k3/9/c8/1R7/3K5 w - - 0 1", "b2a2 a3b3 a2b2 b3a3", chased),
        // A chariot protects the cannon, and then it is nailed to the file of its general.
        ("xiangqi", "5k3/9/9/c7r/9/9/9/9/1R7/3K5 w - - 0 1", CHASE, draw),
        ("xiangqi", "5k3/9/9/9/9/c4r3/9/9/1R7/3K1R3 w - - 0 1", "b2a2 a5b5 a2b2 b5a5", chased),
        // A cannon attacks a chariot, which protection does not help; a chariot attacks one, and each could capture the other.
        ("xiangqi", "5k3/9/9/r7r/9/9/pp7/9/1C7/3K5 w - - 0 1", CHASE, chased),
        ("xiangqi", "5k3/9/9/r8/9/9/9/9/1R7/3K5 w - - 0 1", CHASE, draw),
        // Two pieces are attacked by turns; a soldier that has not crossed the river may be.
        ("xiangqi", "5k3/9/1c7/c8/9/9/9/9/1R7/3K5 w - - 0 1", GENERAL, draw),
        ("xiangqi", "5k3/9/9/p8/9/9/9/9/1R7/3K5 w - - 0 1", GENERAL, draw),
    ] {
        let mut game = start(name, Some(fen));
        for _ in 0..2 {
            assert_eq!(ended(&game), "-", "{name} {fen} {cycle}");
            play(&mut game, cycle);
        }
        assert_eq!(ended(&game), result, "{name} {fen} {cycle}");
    }
}

/// A search knows what was chased before its first position.
#[test]
fn a_search_knows_of_a_chase() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load::<&str>("xiangqi", &[]).expect("it loads");
    let lessons = Lessons { actions: 300, longest: 100, time: None };
    let knowledge = Knowledge::learn(&rules.start(None).expect("it starts"), lessons, 1);
    let protected = "5k3/9/9/c7r/9/9/9/9/1R7/3K5 w - - 0 1";
    for (fen, score) in [(ROOK, Score::Wins(1)), (protected, Score::Hundredths(0))] {
        let mut game = rules.start(Some(fen)).expect("a position");
        play(&mut game, &format!("{CHASE} b2a2 a7b7 a2b2"));
        let last = vec![game.find_move("b7a7").expect("it is legal")];
        let mut opponent = Opponent::new(knowledge.clone(), Level::HIGHEST, 1).among(last);
        let budget = Budget { nodes: 200, depth: 1, time: None };
        let choice = opponent.choose(&game, budget, &Stop::default()).expect("an action");
        assert_eq!(choice.score, score, "{fen}");
    }
}
