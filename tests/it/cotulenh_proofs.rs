//! CoTuLenh, proved on many positions: moves that rules call safe are those that are safe once played, the incremental
//! evaluator is datafrog after every action, and games come back from saves, FEN and PGN.
//!
//! Short by default; `RULEMATE_FULL=1` plays as much as the issue asks for. `RULEMATE_VECTORS` names a folder with more
//! of the vectors than this repository has.

use rulemate::internals::audit::{self, ReferenceEvaluator};
use rulemate::internals::game::Game;
use rulemate::internals::moves::notation::{PgnGame, PgnMove, PgnReader};
use rulemate::internals::moves::{
    LegalityMode, Move, legal_moves, legal_moves_by, perft, perft_by,
};
use rulemate::internals::presets::save::{Content, Form, RulesFrom, Save};
use rulemate::internals::presets::{Catalogue, Ruleset};

use crate::fixture::is_full;
use crate::random_rules::Choices;

fn rules() -> (Catalogue, Ruleset) {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load::<&str>("cotulenh", &[]).expect("it loads");
    (catalogue, rules)
}

fn start(rules: &Ruleset, fen: Option<&str>) -> Game {
    rules.start(fen).unwrap_or_else(|it| panic!("{fen:?}: {it}"))
}

/// A random action. Captures and steps out of stacks are rare, so they are chosen where there are some.
fn random(game: &mut Game, choices: &mut Choices) -> Option<Move> {
    let moves = game.legal_moves();
    let signs = ["x", ">", "_", "@", "&"];
    let texts = game.listing();
    let rare = |it: &&(String, Move)| signs.iter().any(|sign| it.0.contains(sign));
    let steps: Vec<&Move> = texts.iter().filter(rare).map(|it| &it.1).collect();
    if moves.is_empty() {
        return None;
    }
    Some(match steps.is_empty() || choices.one_in(2) {
        true => moves[choices.below(moves.len())].clone(),
        false => steps[choices.below(steps.len())].clone(),
    })
}

fn play(game: &mut Game, mv: &Move) {
    let played = game.play(mv).map(|_| ());
    played.unwrap_or_else(|it| panic!("{}: {it}", game.fen()));
}

/// All FENs of whole positions in a JSON value.
fn fens(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str() {
                    Some(fen)
                        if (key == "fen" || key == "start") && fen.split(' ').count() == 6 =>
                    {
                        found.push(fen.to_owned());
                    }
                    _ => fens(value, found),
                }
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|it| fens(it, found)),
        _ => {}
    }
}

/// Moves of whole stacks, first steps out of them, and ends of deployments that rules call safe are those that are safe
/// once they are played. Steps of a commander's own stack, and later ones, are not asked to be safe.
#[test]
#[expect(clippy::print_stdout, reason = "figures of a long run")]
fn the_filter_of_safe_moves_agrees_with_playing_them_out() {
    let (_, rules) = rules();
    let agreed = |game: &mut Game| -> usize {
        let contract = game.contract().clone();
        let all = legal_moves(game.world_mut(), &contract);
        let played = legal_moves_by(game.world_mut(), &contract, LegalityMode::Simulate);
        let program = game.program().clone();
        let begins = program.relation_named("begins").expect("it is declared");
        let mut of = |moves: &[Move]| -> Vec<Move> {
            let mut looked_at =
                |it: &&Move| match &*program.relation(program.action(it.action).rel).name {
                    "move" => true,
                    "deploy" => game.world_mut().contains(begins, &it.args),
                    _ => false,
                };
            moves.iter().filter(|it| looked_at(it)).cloned().collect()
        };
        let (ours, theirs) = (of(&all), of(&played));
        assert_eq!(ours, theirs, "{}", game.fen());
        let ends = |it: &&Move| program.relation(program.action(it.action).rel).name == "commit";
        let (ours, theirs) = (all.iter().find(ends), played.iter().find(ends));
        assert_eq!(ours, theirs, "{}", game.fen());
        all.len()
    };
    let folder = std::env::var("RULEMATE_VECTORS");
    let folder = folder.unwrap_or_else(|_| "tests/data/vectors/cotulenh".into());
    let mut positions = Vec::new();
    for name in ["positions", "sessions", "perft", "playouts", "histories", "san_cases"] {
        let path = format!("{folder}/{name}.json");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|it| panic!("{path}: {it}"));
        fens(&serde_json::from_str(&text).expect("JSON"), &mut positions);
    }
    positions.sort();
    positions.dedup();
    let step = if is_full() { 1 } else { 9 };
    let of_vectors = positions.iter().step_by(step).filter(|fen| {
        // Some have lists of what is refused.
        rules.start(Some(fen)).is_ok_and(|mut it| agreed(&mut it) < usize::MAX)
    });
    let of_vectors = of_vectors.count();
    let wanted = if is_full() { 20_000 } else { 150 };
    let (mut random_ones, mut seed) = (0, 0);
    while random_ones < wanted {
        let mut choices = Choices(seed);
        let mut game = start(&rules, None);
        for _ in 0..300.min(wanted - random_ones) {
            agreed(&mut game);
            random_ones += 1;
            let Some(mv) = random(&mut game, &mut choices).filter(|_| game.result().is_none())
            else {
                break;
            };
            play(&mut game, &mv);
        }
        seed += 1;
    }
    println!("{of_vectors} positions of the vectors and {random_ones} more, 0 differences");
}

#[test]
#[expect(clippy::print_stdout, reason = "figures of a long run")]
fn the_incremental_evaluator_is_datafrog_after_every_action() {
    let (_, rules) = rules();
    let (games, actions) = if is_full() { (20, 250) } else { (2, 12) };
    let (mut compared, mut rows) = (0, 0);
    for seed in 0..games {
        let mut choices = Choices(1000 + seed);
        let mut game = start(&rules, None);
        let mut reference = ReferenceEvaluator::new(&game);
        for _ in 0..actions {
            let Some(mv) = random(&mut game, &mut choices).filter(|_| game.result().is_none())
            else {
                break;
            };
            reference.take(&mv);
            play(&mut game, &mv);
            reference.follow(&game).unwrap_or_else(|it| panic!("{}: {it}", game.fen()));
            let same = reference.compare(&mut game);
            rows += same.unwrap_or_else(|it| panic!("{}: {it}", game.fen()));
            compared += 1;
        }
    }
    println!("{games} playouts, {compared} actions, {rows} rows, 0 differences");
}

/// The game as PGN: a turn is one word, or its actions with commas between them.
fn as_pgn(turns: Vec<String>) -> String {
    let sides = ["Red".to_owned(), "Blue".to_owned()];
    let mut pgn = PgnGame { sides, ..PgnGame::default() };
    let turns = turns.into_iter().map(|text| PgnMove { text, ..PgnMove::default() });
    pgn.moves.extend(turns);
    pgn.to_pgn()
}

/// A stack that its rank tells from another is a move, not a variation and half a number.
#[test]
fn stacks_with_a_rank_are_read_back() {
    let (_, rules) = rules();
    let text =
        "1. Aj1 M&h9 2. I&c4 A&d8 3. F&b2 M>g9,T>&g9 4. (NI)cb4 M>g8,T>&g8 5. (NF)2a3 Se10 *";
    let read = PgnReader::new(text.as_bytes()).next().expect("a game").expect("it is well-formed");
    let mut game = start(&rules, None);
    for turn in &read.moves {
        game.play_text(&turn.text).unwrap_or_else(|it| panic!("{}: {it}", turn.text));
    }
    assert_eq!((read.moves.len(), game.last_turn().as_deref()), (10, None));
    assert!(game.fen().contains("/(NF)2A2S4/"), "{}", game.fen());
}

/// Random games, stopped anywhere, in the middle of a deployment among others: FEN, PGN and saves come back, and the
/// audit of the save finds nothing.
#[test]
#[expect(clippy::print_stdout, reason = "figures of a long run")]
fn random_games_come_back_from_fen_pgn_and_saves() {
    let (catalogue, rules) = rules();
    let games = if is_full() { 100 } else { 5 };
    let (mut under_way, mut words, mut joined, mut audited) = (0, 0, 0, 0);
    for seed in 0..games {
        let mut choices = Choices(seed);
        let mut game = start(&rules, None);
        let mut turns: Vec<String> = Vec::new();
        let (mut goes_on, mut is_joined) = (false, false);
        let most = 15 + choices.below(if is_full() { 85 } else { 25 });
        // Every other game stops in the middle of a deployment, if it comes to one.
        for number in 0..2 * most {
            let is_open = game.fen().contains(':');
            if number >= most && (is_open || seed % 2 == 0) {
                break;
            }
            let Some(mv) = random(&mut game, &mut choices).filter(|_| game.result().is_none())
            else {
                break;
            };
            play(&mut game, &mv);
            let record = game.history().last().expect("it was played");
            match turns.last_mut().filter(|_| goes_on) {
                Some(turn) => *turn = format!("{turn},{}", record.san),
                None => turns.push(record.san.to_string()),
            }
            is_joined = goes_on || (is_joined && record.turn_goes_on);
            goes_on = record.turn_goes_on;
            if !goes_on && let Some(word) = game.last_turn() {
                words += 1;
                is_joined = false;
                *turns.last_mut().expect("a turn") = word;
            }
            joined += usize::from(!goes_on && is_joined);
            let fen = game.fen();
            let mut again = start(&rules, Some(&fen));
            assert_eq!(again.fen(), fen);
            assert_eq!(rules.unsaid(&mut game), [""; 0], "{fen}");
        }
        under_way += usize::from(game.fen().contains(':'));
        let text = as_pgn(turns);
        assert!(text.contains("[Red \"?\"]") && text.contains("[Blue \"?\"]"), "{text}");
        let read =
            PgnReader::new(text.as_bytes()).next().expect("a game").expect("it is well-formed");
        let mut again = start(&rules, None);
        for turn in &read.moves {
            again.play_text(&turn.text).unwrap_or_else(|it| panic!("{}: {it}\n{text}", turn.text));
        }
        assert_eq!(again.hash(), game.hash(), "{text}");
        let save = Save::of(&game, &rules, Content::default()).expect("it replays");
        for form in [Form::Json, Form::Binary] {
            let bytes = save.write(form);
            let (read, doubt) = Save::read(&bytes, "").expect("it can be read");
            assert_eq!((&read, doubt), (&save, None));
            let restored = read.restore(&catalogue, RulesFrom::Here).expect("it loads");
            assert_eq!(
                (restored.game.hash(), restored.game.history().len()),
                (game.hash(), game.history().len())
            );
        }
        let bytes = save.write(Form::Binary);
        let found = audit::save(&bytes, "cotulenh", &catalogue, RulesFrom::Here, &mut |_| {});
        audited += found.unwrap_or_else(|it| panic!("{it}")).positions;
    }
    assert!(under_way > 0 && words > 0);
    println!(
        "{games} games, {under_way} in the middle of a deployment, {audited} positions audited; turns: {words} as one \
         word, {joined} as actions"
    );
}

/// Counting the last actions and taking them comes to the same.
#[test]
fn counted_leaves_are_those_that_can_be_taken() {
    let (_, rules) = rules();
    let mut cases = vec![
        (None, 2, 13_460),
        (Some("11/10c/11/11/11/11/4h6/11/2H8/11/(NFT)2i5C1/11 r - - 0 1"), 3, 11_341),
    ];
    cases.extend(is_full().then_some((None, 3, 1_578_799)));
    for (fen, depth, nodes) in cases {
        let mut game = start(&rules, fen);
        let contract = game.contract().clone();
        assert_eq!(perft(game.world_mut(), &contract, depth), nodes);
        let played = perft_by(game.world_mut(), &contract, depth, LegalityMode::Declared);
        assert_eq!(played, nodes);
    }
    if is_full() {
        // Every leaf was taken once, in most of an hour.
        let mut game = start(&rules, None);
        let contract = game.contract().clone();
        assert_eq!(perft(game.world_mut(), &contract, 4), 183_653_322);
    }
}
