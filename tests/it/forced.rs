//! Wins in one and in two turns, found by trying everything at the ends of random games: the opponent's first action
//! keeps them. What it may think is counted in positions, not in seconds.

use rulemate::internals::game::{Game, Stop};
use rulemate::internals::moves::Move;
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::opponent::{Budget, Knowledge, Lessons, Level, Opponent};

use crate::fixture::is_full;
use crate::random_rules::Choices;

/// Games that are unlike each other, in which wins are looked for.
const TEN_GAMES: [&str; 10] = [
    "chess",
    "antichess",
    "atomic",
    "crazyhouse",
    "knightmate",
    "3check",
    "kingofthehill",
    "racingkings",
    "connect-four",
    "checkers",
];

/// Positions that the opponent may look at; in a release build about a second of chess.
const NODES: u64 = 30_000;
/// The maximum number of plies of a random game, and how many of its last ones are looked at.
const PLIES: usize = 300;
const BACK: usize = 8;

/// Whether the side to move can win by force in so many of its turns, by an action that is named.
fn forced(game: &mut Game, side: i64, turns: u32) -> Option<Move> {
    let moves = game.legal_moves();
    moves.into_iter().find(|mv| {
        if game.play(mv).is_err() {
            return false;
        }
        let wins = keeps(game, side, turns);
        game.takeback();
        wins
    })
}

/// Whether a side that had so many turns for it still wins, an action of its turn later.
fn keeps(game: &mut Game, side: i64, turns: u32) -> bool {
    if let Some(result) = game.result() {
        return result.winner == Some(side);
    }
    // Its turn may go on.
    if game.side() == Some(side) {
        return forced(game, side, turns).is_some();
    }
    all_lose(game, side, turns - 1)
}

/// Whether all that the others can do leads to a win of `side` in so many of its turns.
fn all_lose(game: &mut Game, side: i64, turns: u32) -> bool {
    let replies = game.legal_moves();
    !replies.is_empty()
        && replies.iter().all(|reply| {
            if game.play(reply).is_err() {
                return true;
            }
            let lost = match game.result() {
                Some(result) => result.winner == Some(side),
                // Some games are won by what the others have to do, which belongs to the turn before.
                None if turns == 0 => false,
                None if game.side() == Some(side) => forced(game, side, turns).is_some(),
                None => all_lose(game, side, turns),
            };
            game.takeback();
            lost
        })
}

/// Positions in which the side to move wins in one turn, and in two and not in one: so many of each, from the ends of
/// random games that a side has won. Of one game there is one position of a kind: others would be alike.
fn drawn(rules: &Ruleset, wanted: usize, games: usize) -> [Vec<Game>; 2] {
    let mut choices = Choices(11);
    let mut found = [Vec::new(), Vec::new()];
    for _ in 0..games {
        if found.iter().all(|it| it.len() >= wanted) {
            break;
        }
        let mut game = rules.start(None).expect("it starts");
        for _ in 0..PLIES {
            if game.result().is_some() {
                break;
            }
            let moves = game.legal_moves();
            if game.play(&moves[choices.below(moves.len())].clone()).is_err() {
                break;
            }
        }
        let Some(winner) = game.result().and_then(|it| it.winner) else { continue };
        let mut missing = [0, 1].map(|it: usize| found[it].len() < wanted);
        for _ in 0..BACK {
            if game.takeback().is_none() || missing == [false; 2] {
                break;
            }
            if game.side() != Some(winner) {
                continue;
            }
            let turns = match forced(&mut game, winner, 1) {
                Some(_) => 1,
                None if missing[1] && forced(&mut game, winner, 2).is_some() => 2,
                None => continue,
            };
            if std::mem::take(&mut missing[turns - 1]) {
                found[turns - 1].push(game.clone());
            }
        }
    }
    found
}

/// 95 of 100 wins that there are, in one turn or two, are kept: 50 positions a game over ten games. In CI form some
/// positions of three games.
#[test]
#[expect(clippy::print_stderr, reason = "figures of a long run")]
fn the_opponent_keeps_a_win_in_one_turn_or_two() {
    let (names, wanted, games): (&[&str], usize, usize) = match is_full() {
        true => (&TEN_GAMES, 25, 20_000),
        false => (&["atomic", "antichess", "connect-four"], 3, 500),
    };
    let (mut kept, mut all) = (0, 0);
    for name in names {
        let rules = Catalogue::embedded().expect("the catalogue").load::<&str>(name, &[]);
        let rules = rules.unwrap_or_else(|it| panic!("{name}: {it}"));
        let start = rules.start(None).expect("it starts");
        let lessons = Lessons { actions: 3_000, longest: 200, time: None };
        let knowledge = Knowledge::learn(&start, lessons, 1);
        let found = drawn(&rules, wanted, games);
        let mut told = Vec::new();
        for (at, games) in found.iter().enumerate() {
            let turns = at as u32 + 1;
            let mut good = 0;
            for game in games {
                let mut opponent = Opponent::new(knowledge.clone(), Level::HIGHEST, 7);
                let budget = Budget { nodes: NODES, depth: 8, time: None };
                let choice = opponent.choose(game, budget, &Stop::default()).expect("it goes on");
                let (mut after, side) = (game.clone(), game.side().expect("it goes on"));
                after.play(&choice.action).expect("legal");
                match keeps(&mut after, side, turns) {
                    true => good += 1,
                    false => eprintln!("{name}: missed in {turns}: {}", game.clone().fen()),
                }
            }
            told.push(format!("{good} of {} in {turns}", games.len()));
            assert_eq!(games.len(), wanted, "{name}: random games have wins in {turns}");
            (kept, all) = (kept + good, all + games.len());
        }
        eprintln!("{name}: {}", told.join(", "));
    }
    assert!(kept * 20 >= all * 19, "{kept} of {all}");
}
