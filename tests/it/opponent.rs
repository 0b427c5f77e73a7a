//! The opponent plays games of every sort by their rules alone: it takes wins that are there, beats a mover that
//! takes any action, keeps to its budget, and leaves the game as it is.

use std::time::Duration;

use rulemate::internals::derive::Allowance;
use rulemate::internals::game::{Game, Stop};
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::internals::rules::Source;
use rulemate::opponent::{Budget, Knowledge, Lessons, Level, Method, Opponent, Score};

use crate::cli::rulemate_reading;
use crate::fixture::is_full;
use crate::random_rules::Choices;

const BOTH: [Method; 2] = [Method::AlphaBeta, Method::MonteCarlo];

/// Rules that come from outside: runners hop across, one action at a time, and the side that begins wins.
const OWN: &str = "relay";
/// Rules that come from outside, by which either side can win.
const BREACH: &str = "breach";

fn rules(name: &str) -> Ruleset {
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    let breach = include_str!("../data/breach/breach.dl");
    for (path, text) in [("mine/relay.dl", crate::tried::RELAY), ("mine/breach.dl", breach)] {
        let source = Source { path: path.into(), text: text.into() };
        catalogue.add(source).expect("metadata that makes sense");
    }
    catalogue.load::<&str>(name, &[]).unwrap_or_else(|it| panic!("{name}: {it}"))
}

/// The first side loses wherever it hops to; a leap begins a turn that has no end.
const MIRE: &str = r#"
.meta game "mire"
.meta title "Mire"
.meta board "8x1"
.meta start "R6r w 1"
.meta fen "mired=mired"
.domain Kind += { runner }
.domain Reason += { home }
letter('runner, "r").
.static onward(side: Side, dir: Dir) "{side} runs {dir}"
onward('white, 'e). onward('black, 'w).
.input mired(piece: Entity) flag attr mired "{piece} is stuck in the mire"
.action hop(piece: Entity, to: Square) uci "{at(piece)}{to}" san "{at(piece)}{to}" "{piece} hops to {to}"
hop(p, t) :- own(p), color(p, c), onward(c, d), at(p, s), step(d, s, t), !occupied(t), !mired(_).
on hop(p, t) do set at(p, t).
.action leap(piece: Entity, to: Square) uci "{at(piece)}{to}" san "{at(piece)}{to}" "{piece} leaps into the mire on {to}"
leap(p, t) :- own(p), color(p, 'white), at(p, s), step('e, s, u), step('e, u, t), !occupied(t), !mired(_).
on leap(p, t) do set at(p, t), set mired(p).
.decl unfinished() "somebody is stuck in the mire"
unfinished() :- mired(_).
turn_goes_on() :- mired(_).
movable() :- hop(_, _).
terminal(o, 'home) :- color(p, 'black), at(p, 'g1), wins('black, o).
"#;

/// A turn that may not stop and has no way on is worse than a loss that takes longer.
#[test]
fn no_turn_is_begun_that_cannot_be_ended() {
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    let source = Source { path: "mine/mire.dl".into(), text: MIRE.into() };
    catalogue.add(source).expect("metadata that makes sense");
    let rules = catalogue.load::<&str>("mire", &[]).unwrap_or_else(|it| panic!("{it}"));
    let start = rules.start(None).expect("it starts");
    let mut mired = start.clone();
    mired.play_text("a1c1").expect("a leap");
    assert!(mired.result().is_none() && mired.legal_moves().is_empty());
    for method in [Method::AlphaBeta, Method::MonteCarlo] {
        let knowledge = Knowledge::learn(&start, lessons(), 1);
        let mut opponent = Opponent::new(knowledge, Level::HIGHEST, 1).by(method);
        let choice = opponent.choose(&start, budget(400, 8), &Stop::default());
        let choice = choice.expect("an action");
        assert_eq!(choice.score, Score::Loses(2), "{method:?}");
        let first = start.clone().play(&choice.action).map(|it| it.uci.clone());
        assert_eq!(first.as_deref(), Ok("a1b1"), "{method:?}");
    }
}

fn lessons() -> Lessons {
    let actions = if is_full() { 300_000 } else { 30_000 };
    Lessons { actions, longest: 300, time: None }
}

fn budget(nodes: u64, depth: u32) -> Budget {
    Budget { nodes, depth, time: None }
}

/// The outcome of a game of the opponent, as that side, against random actions: 2 for a win, 1 for a draw.
fn against_random(rules: &Ruleset, opponent: &mut Opponent, side: i64, seed: u64) -> u32 {
    let mut choices = Choices(seed);
    let mut game = rules.start(None).expect("it starts");
    for _ in 0..300 {
        if game.result().is_some() {
            break;
        }
        let mv = if game.side() == Some(side) {
            let most = if is_full() { budget(3_000, 6) } else { budget(400, 3) };
            let choice = opponent.choose(&game, most, &Stop::default());
            choice.expect("the game goes on").action
        } else {
            let moves = game.legal_moves();
            moves[choices.below(moves.len())].clone()
        };
        game.play(&mv).unwrap_or_else(|it| panic!("{it}"));
    }
    match game.result().map(|it| it.winner) {
        Some(Some(winner)) if winner == side => 2,
        Some(Some(_)) => 0,
        _ => 1,
    }
}

/// Of forty games each of fourteen games at least 39 are won, draws as halves; in CI form, five of six of six games.
#[test]
#[expect(clippy::print_stderr, reason = "figures of a long run")]
fn the_opponent_beats_a_random_mover() {
    let (names, games): (&[&str], u64) = if is_full() {
        let all = &[
            "chess",
            "antichess",
            "atomic",
            "crazyhouse",
            "knightmate",
            "3check",
            "racingkings",
            "connect-four",
            "hex",
            "othello",
            "checkers",
            "duck",
            BREACH,
            OWN,
        ];
        (all, 40)
    } else {
        (&["chess", "antichess", "connect-four", "noughts-and-crosses", BREACH, OWN], 6)
    };
    let mut below = Vec::new();
    for name in names {
        let rules = rules(name);
        let start = rules.start(None).expect("it starts");
        let knowledge = Knowledge::learn(&start, lessons(), 1);
        let mut opponent = Opponent::new(knowledge, Level::HIGHEST, 7);
        let halves: u32 = (0..games)
            .map(|it| against_random(&rules, &mut opponent, (it % 2) as i64, 1_000 + it))
            .sum();
        // Here only one of the sides can win.
        let least = if *name == OWN { games as u32 } else { 2 * games as u32 - 2 };
        eprintln!("{name}: {} of {games}", f64::from(halves) / 2.0);
        if halves < least {
            below.push(format!("{name}: {halves} halves in {games} games"));
        }
    }
    assert_eq!(below, Vec::<String>::new());
}

/// Positions of random games in which some action wins at once.
fn wins_in_one(rules: &Ruleset, wanted: usize) -> Vec<Game> {
    let mut choices = Choices(3);
    let mut found = Vec::new();
    for _ in 0..400 {
        let mut game = rules.start(None).expect("it starts");
        for _ in 0..80 {
            if game.result().is_some() || found.len() >= wanted {
                break;
            }
            let moves = game.legal_moves();
            let side = game.side();
            let wins = moves.iter().any(|mv| {
                let mut after = game.clone();
                after.play(mv).is_ok_and(|_| true)
                    && after.result().is_some_and(|it| it.winner.is_some() && it.winner == side)
            });
            if wins {
                found.push(game.clone());
            }
            game.play(&moves[choices.below(moves.len())].clone()).expect("legal");
        }
        if found.len() >= wanted {
            break;
        }
    }
    found
}

/// By both methods, in some games; `forced` has the long run, over ten games and wins in two.
#[test]
fn the_opponent_takes_a_win_that_is_there() {
    let wanted = 3;
    for name in ["atomic", "racingkings", "connect-four", "checkers"] {
        let rules = rules(name);
        let start = rules.start(None).expect("it starts");
        let knowledge =
            Knowledge::learn(&start, Lessons { actions: 500, longest: 100, time: None }, 1);
        let positions = wins_in_one(&rules, wanted);
        assert_eq!(positions.len(), wanted, "{name}: random games come to such positions");
        for (game, method) in positions.iter().flat_map(|it| BOTH.map(|by| (it, by))) {
            let mut opponent = Opponent::new(knowledge.clone(), Level::HIGHEST, 7).by(method);
            let choice =
                opponent.choose(game, budget(20_000, 3), &Stop::default()).expect("it goes on");
            assert_eq!(choice.score, Score::Wins(1), "{name}: {}", game.clone().fen());
            let (mut after, side) = (game.clone(), game.side());
            after.play(&choice.action).expect("legal");
            assert_eq!(after.result().and_then(|it| it.winner), side, "{name}");
        }
    }
}

fn short_lesson_of_chess() -> (Ruleset, Knowledge) {
    let rules = rules("chess");
    let start = rules.start(None).expect("chess");
    let lessons = Lessons { actions: 500, longest: 100, time: None };
    let knowledge = Knowledge::learn(&start, lessons, 1);
    (rules, knowledge)
}

/// Even where all that it may look at is spent on answers to captures.
#[test]
fn a_mate_in_one_is_seen_at_every_level() {
    let (rules, knowledge) = short_lesson_of_chess();
    for (fen, mate) in [
        ("2b2k1r/3P1pp1/7b/p6p/1PP4n/N3B1PP/4KP1Q/2r2BNR w - - 1 39", "d7d8q"),
        ("rnbkqb2/1n1p3r/pp3p1p/4pNPP/P1p5/1P1PB3/2PQP1PR/1R2KBN1 w - - 0 24", "e3b6"),
        ("1rb1k1nr/3p1pq1/Rp5p/3B1K2/3b1pQ1/7N/2P4P/2B2R2 b - - 1 32", "g7e5"),
        ("2qr1bn1/p7/b4ppr/Pp2p1Np/RPk1pBP1/5P1P/2P1n2K/1Q1R4 w - - 2 41", "b1b3"),
    ] {
        let game = rules.start(Some(fen)).expect("a position");
        for (level, seed) in (1..=4).flat_map(|it| [(it, 1), (it, 2), (it, 3)]) {
            let level = Level::new(level).expect("a level");
            let mut opponent = Opponent::new(knowledge.clone(), level, seed);
            let most = Budget { time: None, ..level.budget() };
            let choice = opponent.choose(&game, most, &Stop::default()).expect("an action");
            assert_eq!(choice.score, Score::Wins(1), "{level:?}: {fen}");
            let mut after = game.clone();
            let played = after.play(&choice.action).map(|it| it.uci.clone());
            assert_eq!(played.as_deref(), Ok(mate), "{level:?}");
        }
    }
}

/// From level 2 on, the answer to an action is seen: here a knight on h2 has no square left to go to.
#[test]
fn a_loss_in_one_is_seen_from_level_two_on() {
    let rules = rules("joust");
    let knowledge = Knowledge::learn(&rules.start(None).expect("joust"), lessons(), 1);
    let fen = "8/5*2/3*4/1n2*1*1/2**2*1/2*1**1*/1*3*2/3*1N2 w 8";
    let game = rules.start(Some(fen)).expect("a position");
    for (level, seed) in (2..=4).flat_map(|it| (0..10).map(move |seed| (it, seed))) {
        let level = Level::new(level).expect("a level");
        let mut opponent = Opponent::new(knowledge.clone(), level, seed);
        let most = Budget { time: None, ..level.budget() };
        let choice = opponent.choose(&game, most, &Stop::default()).expect("an action");
        let mut after = game.clone();
        let played = after.play(&choice.action).map(|it| it.uci.clone());
        assert_ne!(played.as_deref(), Ok("f1h2"), "{level:?}, seed {seed}");
    }
}

/// The rook that takes the knight is mated on d1. A budget that ends before another action is looked at as deep lets no one
/// take it all the same.
#[test]
fn what_loses_is_not_taken_for_lack_of_time() {
    let (rules, knowledge) = short_lesson_of_chess();
    let game = rules.start(Some("n7/5pkp/6p1/8/3r4/8/5PPP/R5K1 w - - 0 1")).expect("a position");
    for nodes in (20..300).step_by(5) {
        let mut opponent = Opponent::new(knowledge.clone(), Level::HIGHEST, 1);
        let choice = opponent.choose(&game, budget(nodes, 2), &Stop::default()).expect("an action");
        assert!(!matches!(choice.score, Score::Loses(_)), "{nodes}: {choice:?}");
    }
}

/// Likely actions are looked at first, also where the budget is too small for all.
#[test]
fn a_piece_that_hangs_is_taken_by_who_may_look_at_little() {
    let (rules, knowledge) = short_lesson_of_chess();
    let hangs = "rnb1kbnr/pppp1ppp/8/4p1q1/4P3/3P4/PPP2PPP/RNBQKBNR w KQkq - 1 3";
    let game = rules.start(Some(hangs)).expect("a position");
    for seed in 0..10 {
        let mut opponent = Opponent::new(knowledge.clone(), Level::HIGHEST, seed);
        let choice = opponent.choose(&game, budget(60, 1), &Stop::default()).expect("an action");
        let mut after = game.clone();
        let played = after.play(&choice.action).map(|it| it.uci.clone());
        assert_eq!(played.as_deref(), Ok("c1g5"), "{choice:?}");
    }
}

/// What a capture is worth shows in the answers: without them, hints do not begin with a queen that is given for a pawn.
#[test]
fn hints_on_a_small_budget_give_nothing_away() {
    let (rules, knowledge) = short_lesson_of_chess();
    let queen = "rnbqkbnr/ppp2ppp/3p4/4p2Q/4P3/8/PPPP1PPP/RNB1KBNR w KQkq - 0 3";
    let mut game = rules.start(Some(queen)).expect("a position");
    let captures = ["h5e5", "h5f7", "h5h7"].map(|it| game.find_move(it).expect("it is legal"));
    for nodes in (40..100).step_by(6) {
        let mut opponent = Opponent::new(knowledge.clone(), Level::HIGHEST, 1);
        let judged = opponent.judge(&game, budget(nodes, 2), &Stop::default());
        assert!(!judged.is_empty() && !captures.contains(&judged[0].0), "{nodes}: {judged:?}");
    }
}

#[test]
fn a_mate_in_two_is_seen_and_told() {
    let rules = rules("chess");
    let knowledge = Knowledge::learn(&rules.start(None).expect("chess"), lessons(), 1);
    for (fen, first) in [
        ("r2qkb1r/pp2nppp/3p4/2pNN1B1/2BnP3/3P4/PPP2PPP/R2bK2R w KQkq - 1 0", "d5f6"),
        ("6k1/5ppp/8/8/8/8/8/K2RR3 w - - 0 1", "d1d8"),
    ] {
        let game = rules.start(Some(fen)).expect("a position");
        let mut opponent = Opponent::new(knowledge.clone(), Level::HIGHEST, 7);
        let choice =
            opponent.choose(&game, budget(200_000, 4), &Stop::default()).expect("it goes on");
        assert!(matches!(choice.score, Score::Wins(1 | 3)), "{fen}: {choice:?}");
        // Who samples looks for such a win first, to play as to judge.
        let mut sampler = opponent.clone().by(Method::MonteCarlo);
        let chosen = sampler.choose(&game, budget(200_000, 4), &Stop::default());
        let judged = sampler.judge(&game, budget(200_000, 4), &Stop::default());
        assert_eq!(chosen.map(|it| it.score), Some(choice.score), "{fen}");
        assert_eq!(judged.first().map(|it| it.1), Some(choice.score), "{fen}: {judged:?}");
        let mut world = game.world().clone();
        let texts = rulemate::internals::moves::action_texts(&mut world, &choice.line);
        assert!(texts[0] == first || choice.score == Score::Wins(1), "{fen}: {texts:?}");
    }
}

/// Where fewer pieces win, games teach that pieces are worth less than nothing.
#[test]
fn what_pieces_are_worth_is_learned_from_games() {
    let worth = |name: &str| {
        let rules = rules(name);
        let start = rules.start(None).expect("it starts");
        let knowledge = Knowledge::learn(&start, lessons(), 1);
        let kinds = rules.program().schema.domain(rules.contract().kinds);
        let of = |kind: &str| knowledge.worth_of(kinds.member(kind).expect("a kind") as usize);
        (of("pawn"), of("knight"), of("queen"), knowledge.games())
    };
    let (pawn, knight, queen, _) = worth("chess");
    assert!(0 < pawn && pawn < knight && knight < queen, "{pawn} {knight} {queen}");
    let (_, knight, queen, games) = worth("antichess");
    assert!(games > 5 && knight < 0 && queen < 0, "{knight} {queen} after {games} games");
}

/// Where actions are played out, no rule says that a side has none left: a mate teaches all the same.
#[test]
fn mates_that_are_found_by_playing_out_teach() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules =
        catalogue.load("chess", &["atomic", "queen-splits"]).expect("rules without a mistake");
    let game = rules.start(Some("7k/8/8/8/8/8/R7/KQ4R1 w - - 0 1")).expect("a position");
    let lessons = Lessons { actions: 4_000, longest: 100, time: None };
    let games = Knowledge::learn(&game, lessons, 1).games();
    assert!(games > 5, "{games}");
}

/// Who loses wants positions to come again where that is a draw, and only there.
#[test]
fn a_position_that_comes_again_is_a_draw_where_rules_say_so() {
    for (name, is_drawn) in [("chess", true), ("ability-chess", false)] {
        let rules = rules(name);
        let start = rules.start(None).expect("it starts");
        let lessons = Lessons { actions: 500, longest: 100, time: None };
        let knowledge = Knowledge::learn(&start, lessons, 1);
        let mut game = rules.start(Some("7k/8/8/8/8/8/8/Q3K3 b - - 0 1")).expect("a position");
        for text in ["h8g8", "a1b1", "g8h8", "b1a1"] {
            game.play_text(text).unwrap_or_else(|it| panic!("{name}: {it}"));
        }
        let mut opponent = Opponent::new(knowledge, Level::HIGHEST, 7);
        let choice = opponent.choose(&game, budget(2_000, 1), &Stop::default());
        let score = choice.expect("the game goes on").score;
        match is_drawn {
            true => assert_eq!(score, Score::Hundredths(0), "{name}"),
            false => assert!(matches!(score, Score::Hundredths(..-50)), "{name}: {score:?}"),
        }
    }
}

/// Rules may say who wins by a position that comes again. Who gives check for ever in shogi has lost.
#[test]
fn a_position_that_comes_again_is_won_or_lost_where_rules_say_so() {
    let rook = "4k4/9/9/9/9/9/9/9/R3K4[] w - - 0 1";
    let checks = "a1a9 e9e8 a9a8 e8e9 ".to_owned() + &"a8a9 e9e8 a9a8 e8e9 ".repeat(2);
    let draws = "a3b3 b1c1 b3a3 c1b1 a3b3 b1c1 b3a3";
    for (name, fen, played, last, score) in [
        ("knights-halma", None, "c3b5 f6g4 b5c3", "g4f6", Score::Wins(1)),
        ("shogi", Some(rook), &*checks, "a8a9", Score::Loses(1)),
        ("armageddon", Some("6k1/8/8/8/8/q7/8/1R5K b - - 0 1"), draws, "c1b1", Score::Loses(1)),
    ] {
        let rules = rules(name);
        let lessons = Lessons { actions: 500, longest: 100, time: None };
        let knowledge = Knowledge::learn(&rules.start(None).expect("it starts"), lessons, 1);
        let mut game = rules.start(fen).expect("a position");
        for text in played.split_whitespace() {
            game.play_text(text).unwrap_or_else(|it| panic!("{name}: {text}: {it}"));
        }
        let opponent = Opponent::new(knowledge, Level::HIGHEST, 7);
        for method in BOTH {
            let mut opponent = opponent.clone().by(method);
            let choice = opponent.choose(&game, budget(1_000, 3), &Stop::default());
            let taken =
                game.clone().play(&choice.expect("an action").action).map(|it| it.uci.clone());
            assert_eq!(taken.as_deref() == Ok(last), score == Score::Wins(1), "{name}: {taken:?}");
        }
        let repeats = vec![game.find_move(last).expect("it is legal")];
        let choice = opponent.among(repeats).choose(&game, budget(1_000, 3), &Stop::default());
        assert_eq!(choice.map(|it| it.score), Some(score), "{name}");
    }
}

/// A search that is ended while rules are read tells nothing that it has read since.
#[test]
fn what_is_read_after_the_end_is_not_told() {
    let (rules, knowledge) = short_lesson_of_chess();
    let start = rules.start(None).expect("chess");
    let mut longest = 0;
    for steps in (5..=24).map(|it| it * it * 8_000) {
        let mut opponent = Opponent::new(knowledge.clone(), Level::HIGHEST, 1);
        let choice = {
            let _allowance = Allowance::of(steps, None);
            opponent.choose(&start, budget(u64::MAX, 6), &Stop::default())
        };
        let Some(choice) = choice else { continue };
        assert!(matches!(choice.score, Score::Hundredths(_)), "{steps}: {choice:?}");
        let mut game = start.clone();
        for mv in &choice.line {
            game.play(mv).unwrap_or_else(|it| panic!("{steps}: {it}: {:?}", choice.line));
        }
        longest = longest.max(choice.line.len());
    }
    assert!(longest > 2, "{longest}");
}

/// What is told during a search: each depth, and where it samples, from time to time.
#[test]
fn a_search_tells_what_it_has_found_so_far() {
    for (name, method) in [("chess", Method::AlphaBeta), ("connect-four", Method::MonteCarlo)] {
        let start = rules(name).start(None).expect("it starts");
        let lessons = Lessons { actions: 500, longest: 100, time: None };
        let knowledge = Knowledge::learn(&start, lessons, 1);
        let mut opponent = Opponent::new(knowledge, Level::HIGHEST, 7).by(method);
        let mut told = Vec::new();
        let stop = Stop::default();
        let choice = opponent
            .choose_and_tell(&start, budget(6_000, 3), &stop, &mut |it| told.push(it.clone()));
        let choice = choice.expect("an action");
        assert!(told.len() >= 3 && told.is_sorted_by_key(|it| it.nodes), "{name}: {told:?}");
        let legal = |it: &rulemate::opponent::Choice| it.line.first() == Some(&it.action);
        assert!(told.iter().all(legal), "{name}: {told:?}");
        if method == Method::AlphaBeta {
            assert_eq!(told.iter().map(|it| it.depth).collect::<Vec<_>>(), [1, 2, 3], "{name}");
            assert_eq!(told.last().map(|it| &it.action), Some(&choice.action), "{name}");
        }
    }
}

/// A stone does not put down others: an action whose square has the number of a stone is not the stone's.
#[test]
fn a_stone_that_can_do_nothing_is_worth_nothing_before_any_game() {
    let text = r#"
.meta game "sown"
.meta title "Sown"
.meta family "stones"
.meta board "8x1"
.meta start "O6o w 1"
free(t) :- file(t, _), !occupied(t).
"#;
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    catalogue
        .add(Source { path: "mine/sown.dl".into(), text: text.into() })
        .expect("metadata that makes sense");
    let rules = catalogue.load::<&str>("sown", &[]).unwrap_or_else(|it| panic!("{it}"));
    let start = rules.start(None).expect("it starts");
    let lessons = Lessons { actions: 0, longest: 100, time: None };
    let knowledge = Knowledge::learn(&start, lessons, 1);
    let kinds = rules.program().schema.domain(rules.contract().kinds);
    let stone = kinds.member("stone").expect("a kind") as usize;
    assert_eq!(knowledge.worth_of(stone), 0);
}

/// Where the first capture wins, each game has one: it is not sampled as games are that hardly have any.
#[test]
fn a_capture_that_ends_the_game_is_one() {
    let method = |name: &str| {
        let start = rules(name).start(None).expect("it starts");
        let lessons = Lessons { actions: 6_000, longest: 100, time: None };
        let knowledge = Knowledge::learn(&start, lessons, 1);
        assert!(knowledge.games() > 0, "{name}");
        Opponent::new(knowledge, Level::HIGHEST, 1).method(budget(400, 3))
    };
    assert_eq!(method("capture-to-win"), Method::AlphaBeta);
    assert_eq!(method("connect-four"), Method::MonteCarlo);
}

/// What relations that rules call features are worth is learned from games: in Othello it is good to have many directions in
/// which stones turn, where checks win it is bad to lack some, and where captures must be made it is good to offer some.
#[test]
fn features_are_learned_from_games() {
    let othello = rules("othello");
    let knowledge = Knowledge::learn(&othello.start(None).expect("it starts"), lessons(), 1);
    assert!(knowledge.worth_of_feature(0) > 0, "{}", knowledge.worth_of_feature(0));
    let checks = rules("3check");
    let knowledge = Knowledge::learn(&checks.start(None).expect("it starts"), lessons(), 1);
    assert!(knowledge.worth_of_feature(0) < 0, "{}", knowledge.worth_of_feature(0));

    let text = r#"
.meta preset "pressure"
.meta description "The opponent is told which pieces are attacked"
.meta feature "pressed"
.meta feature "pressing"
.domain Preset += { pressure }
.decl pressed(side: Side, square: Square) "{side} attacks a piece on {square}"
pressed(c, t) :- attacks(q, t), color(q, c), at(p, t), color(p, e), c != e.
"#;
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    catalogue
        .add(Source { path: "mine/pressure.dl".into(), text: text.into() })
        .expect("metadata that makes sense");
    let rules = catalogue.load("antichess", &["pressure"]).expect("rules without a mistake");
    let unread = rulemate::opponent::unread_features(rules.program(), rules.contract());
    assert_eq!(unread.iter().map(|it| it.value.as_str()).collect::<Vec<_>>(), ["pressing"]);
    let game = rules.start(None).expect("it starts");
    let knowledge = Knowledge::learn(&game, lessons(), 1);
    assert!(knowledge.worth_of_feature(0) > 0, "{}", knowledge.worth_of_feature(0));
    let plain = catalogue.load::<&str>("antichess", &[]).expect("antichess");
    assert!(knowledge.fits(&game) && !knowledge.fits(&plain.start(None).expect("it starts")));
}

/// More lessons are more rounds, each guided by what those before it taught, of more games.
#[test]
fn long_lessons_have_more_games() {
    let start = rules("connect-four").start(None).expect("it starts");
    let of = |actions| {
        let lessons = Lessons { actions, longest: 300, time: None };
        Knowledge::learn(&start, lessons, 1)
    };
    let (short, long) = (of(30_000), of(500_000));
    assert!(long.games() > 5 * short.games(), "{} {}", short.games(), long.games());
    let timed = Knowledge::learn(&start, Lessons::of(Duration::from_millis(200)), 1);
    assert!(timed.games() > 0);
}

#[test]
fn a_search_keeps_to_its_budget_and_changes_nothing() {
    let rules = rules("chess");
    let start = rules.start(None).expect("chess");
    let knowledge = Knowledge::learn(&start, Lessons { actions: 300, longest: 100, time: None }, 1);
    let mut opponent = Opponent::new(knowledge.clone(), Level::HIGHEST, 7);
    let before = start.hash();
    let choice = opponent.choose(&start, budget(100, 64), &Stop::default()).expect("an action");
    assert!(choice.nodes <= 101, "{}", choice.nodes);
    let stopped = Stop::default();
    stopped.stop();
    let choice = opponent.choose(&start, budget(u64::MAX, 64), &stopped).expect("an action");
    assert!(choice.nodes < 100, "{}", choice.nodes);
    assert_eq!(start.hash(), before);
    // Hints have all actions, the best first.
    let judged = opponent.judge(&start, budget(2_000, 2), &Stop::default());
    assert_eq!(judged.len(), 20);
    // The same seed plays the same.
    let game = |seed| {
        let mut game = rules.start(None).expect("chess");
        let mut opponent = Opponent::new(knowledge.clone(), Level::LOWEST, seed);
        for _ in 0..6 {
            let mv =
                opponent.choose(&game, budget(200, 1), &Stop::default()).expect("goes on").action;
            game.play(&mv).expect("legal");
        }
        game.hash()
    };
    assert_eq!(game(5), game(5));
    assert!((6..12).any(|it| game(it) != game(5)), "beginners differ");
    let over = rules.start(Some("7k/5KQ1/8/8/8/8/8/8 b - - 0 1")).expect("mate");
    assert!(opponent.choose(&over, budget(10, 1), &Stop::default()).is_none());
}

#[test]
fn protocols_and_the_terminal_play_what_the_opponent_thinks() {
    let mate = "position fen 6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1\ngo depth 2\nquit\n";
    let said = rulemate_reading(&["uci"], mate).out;
    assert!(said.contains("score mate 1") && said.contains("bestmove d1d8"), "{said}");
    let skill =
        "setoption name Skill Level value 9\nsetoption name Skill Level value 2\ngo\nquit\n";
    let said = rulemate_reading(&["uci"], skill).out;
    assert!(said.contains("number from 1 to 8") && said.contains("bestmove "), "{said}");
    let lessons = "setoption name Learn Seconds value 4000\nsetoption name Learn Seconds value 1\n\
                   isready\ngo depth 1\nquit\n";
    let said = rulemate_reading(&["uci"], lessons).out;
    assert!(
        said.contains("for 0 to 3600 seconds, not \"4000\"") && said.contains("readyok\n"),
        "{said}"
    );
    assert!(said.contains("bestmove "), "{said}");
    let lessons = "option Learn Seconds=4000\noption Learn Seconds=ten\noption Learn Seconds=1\nping 7\n\
                   sd 1\ngo\nquit\n";
    let said = rulemate_reading(&["xboard"], lessons).out;
    for refused in ["4000", "ten"] {
        let error =
            format!("Error (a game is learned for 0 to 3600 seconds, not {refused:?}): option");
        assert!(said.contains(&error), "{said}");
    }
    assert!(said.contains("pong 7") && said.contains("move "), "{said}");
    let board = "new\nsetboard 6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1\nsd 2\ngo\nquit\n";
    let said = rulemate_reading(&["xboard"], board).out;
    assert!(said.contains("move d1d8") && said.contains("1-0"), "{said}");
    let args = [
        "play",
        "connect-four",
        "--computer",
        "both",
        "--level",
        "1",
        "--seed",
        "3",
        "--learn",
        "1",
    ];
    let said = rulemate_reading(&args, "").out;
    assert!(said.contains("by the computer") && said.contains(" by "), "{said}");
    let wrong = rulemate_reading(&["play", "chess", "--computer", "red"], "");
    assert!(wrong.code != 0 && wrong.err.contains("white, black"), "{}", wrong.err);
}

/// How an opponent looks ahead follows from what its games were like, not from what they are called.
#[test]
fn games_are_sampled_where_pieces_stay_and_where_turns_have_very_many_ways() {
    for (name, method) in [
        ("chess", Method::AlphaBeta),
        ("checkers", Method::AlphaBeta),
        ("crazyhouse", Method::AlphaBeta),
        ("nine-mens-morris", Method::AlphaBeta),
        ("connect-four", Method::MonteCarlo),
        ("hex", Method::MonteCarlo),
        ("duck", Method::MonteCarlo),
    ] {
        let start = rules(name).start(None).expect("it starts");
        let knowledge =
            Knowledge::learn(&start, Lessons { actions: 4_000, longest: 300, time: None }, 1);
        let known = (knowledge.branching(), knowledge.games());
        let opponent = Opponent::new(knowledge.clone(), Level::HIGHEST, 7);
        assert_eq!(opponent.method(budget(1_000, 9)), method, "{name}: {known:?}");
        // Samples have no end of their own, and beginners look one or two actions ahead.
        assert_eq!(opponent.method(budget(u64::MAX, 9)), Method::AlphaBeta, "{name}");
        let beginner = Opponent::new(knowledge, Level::LOWEST, 7);
        assert_eq!(beginner.method(budget(200, 1)), Method::AlphaBeta, "{name}");
    }
}

/// Whatever the game: samples end with the budget, follow from the seed, and leave the game as it is.
#[test]
fn samples_keep_to_their_budget_in_any_game() {
    let names =
        ["chess", "cotulenh", "double-move", "monster", "minishogi", "nim", "hex", "othello", OWN];
    for name in names {
        let rules = rules(name);
        let mut game = rules.start(None).expect("it starts");
        // Of one game all is known, of the next nothing.
        let actions = if name.len() % 2 == 0 { 1_500 } else { 0 };
        let knowledge = Knowledge::learn(&game, Lessons { actions, longest: 100, time: None }, 1);
        let mut choices = Choices(9);
        for round in 0..6 {
            if game.result().is_some() || game.legal_moves().is_empty() {
                break;
            }
            let before = game.hash();
            let thought = |nodes: u64, depth: u32| {
                let opponent = Opponent::new(knowledge.clone(), Level::HIGHEST, round);
                opponent.by(Method::MonteCarlo).choose(
                    &game,
                    budget(nodes, depth),
                    &Stop::default(),
                )
            };
            let choice = thought(400, 5).expect("the game goes on");
            assert_eq!(Some(&choice), thought(400, 5).as_ref(), "{name}");
            assert!(
                choice.nodes <= 402 && choice.line.first() == Some(&choice.action),
                "{name}: {choice:?}"
            );
            for (nodes, depth) in [(0, 0), (1, 1), (10, 64)] {
                assert!(thought(nodes, depth).is_some_and(|it| it.nodes <= nodes + 2), "{name}");
            }
            let stop = Stop::default();
            stop.stop();
            let mut opponent =
                Opponent::new(knowledge.clone(), Level::HIGHEST, 1).by(Method::MonteCarlo);
            let endless = Budget {
                time: Some(std::time::Duration::from_secs(3_600)),
                ..budget(u64::MAX, 64)
            };
            let _ = opponent.choose(&game, endless, &stop);
            let judged = opponent.judge(&game, budget(300, 4), &Stop::default());
            assert!(!judged.is_empty() && judged.len() <= game.legal_moves().len(), "{name}");
            assert_eq!(game.hash(), before, "{name}");
            for _ in 0..=choices.below(9) {
                let moves = game.legal_moves();
                if moves.is_empty() || game.result().is_some() {
                    break;
                }
                let mv = if choices.one_in(2) {
                    &moves[choices.below(moves.len())]
                } else {
                    &choice.action
                };
                let _ = game.play(mv);
            }
        }
    }
}

/// A search may be stopped, or run out of steps, at any time: that says nothing of the action that is just being taken,
/// nor of those after it. Once there are enough steps to list all actions, no number of steps lists fewer.
#[test]
fn no_action_is_dropped_because_the_steps_end_while_it_is_taken() {
    let start = rules("othello").start(None).expect("it starts");
    let all = start.clone().legal_moves().len();
    let knowledge = Knowledge::learn(&start, Lessons { actions: 0, longest: 1, time: None }, 1);
    for method in BOTH {
        let judged = |steps: u64| {
            let _allowance = Allowance::of(steps, None);
            let mut opponent = Opponent::new(knowledge.clone(), Level::HIGHEST, 1).by(method);
            opponent.judge(&start, budget(400, 64), &Stop::default()).len()
        };
        let mut enough = 1 << 10;
        while judged(enough) != all {
            enough *= 2;
        }
        for steps in (enough..2 * enough).step_by(enough as usize / 128) {
            assert_eq!(judged(steps), all, "{method:?}, {steps} steps");
        }
    }
}

#[test]
fn a_search_that_is_stopped_at_once_still_has_an_action() {
    let stop = Stop::default();
    stop.stop();
    for game in ["chess", "hex", "othello", "cotulenh"] {
        let rules = Catalogue::embedded().expect("the catalogue").load::<&str>(game, &[]);
        let mut start = rules.expect("a game").start(None).expect("it starts");
        let knowledge =
            Knowledge::learn(&start, Lessons { actions: 200, longest: 50, time: None }, 1);
        for method in [Method::AlphaBeta, Method::MonteCarlo] {
            let mut opponent = Opponent::new(knowledge.clone(), Level::HIGHEST, 1).by(method);
            let choice = opponent.choose(&start, budget(4, 8), &stop).expect("an action");
            assert_eq!(choice.line.first(), Some(&choice.action), "{game}");
            assert!(start.legal_moves().contains(&choice.action), "{game}");
        }
    }
}
