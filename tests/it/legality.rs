//! Two ways to decide the safety of royal pieces give the same moves: derived by the rules, and
//! seen by playing every try out. On the positions of the public vectors and in random games.

use std::path::Path;

use rulemate::internals::derive::explain::Limits;
use rulemate::internals::game::Game;
use rulemate::internals::moves::{Decision, LegalityMode, Move, legal_moves_by};
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::internals::rules::Source;

use crate::random_rules::Choices;

fn load(game: &str) -> Ruleset {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    catalogue.load::<&str>(game, &[]).unwrap_or_else(|it| panic!("{game}: {it}"))
}

/// The moves of the position, if both ways agree.
fn agreed(game: &mut Game) -> Vec<Move> {
    agreed_by(game, LegalityMode::Rules)
}

/// The moves of the position as the mode has them, if they are those that playing all tries out leaves.
fn agreed_by(game: &mut Game, mode: LegalityMode) -> Vec<Move> {
    let contract = game.contract().clone();
    let world = game.world_mut();
    let [ruled, simulated] =
        [mode, LegalityMode::Simulate].map(|mode| legal_moves_by(world, &contract, mode));
    if ruled != simulated {
        let only = |game: &mut Game, these: &[Move], those: &[Move]| {
            let moves: Vec<_> = these.iter().filter(|it| !those.contains(it)).collect();
            let texts: Vec<String> = moves
                .iter()
                .map(|it| rulemate::internals::moves::notation::to_uci(game.world_mut(), it))
                .collect();
            texts.join(" ")
        };
        let by_rules = only(game, &ruled, &simulated);
        let by_simulation = only(game, &simulated, &ruled);
        panic!("{}: only by rules {by_rules}, only by simulation {by_simulation}", game.fen());
    }
    ruled
}

#[test]
fn both_ways_agree_on_the_vectors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/vectors/presets");
    let entries = std::fs::read_dir(folder).unwrap_or_else(|it| panic!("{it}"));
    let mut positions = 0;
    for path in entries.filter_map(|it| Some(it.ok()?.path())) {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|it| panic!("{it}"));
        let vectors: serde_json::Value =
            serde_json::from_str(&text).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
        let rules = load(vectors["variant"].as_str().unwrap_or_default());
        for row in vectors["legal_moves"].as_array().into_iter().flatten() {
            let fen = row["fen"].as_str();
            let mut game = rules.start(fen).unwrap_or_else(|it| panic!("{fen:?}: {it}"));
            let moves = agreed(&mut game);
            assert_eq!(row["moves"].as_array().map(Vec::len), Some(moves.len()), "{fen:?}");
            positions += 1;
        }
    }
    assert!(positions >= 3600, "{positions}");
}

/// Plays actions at random, from the start again where there is none, and once in `restart` times.
fn walk(
    start: &Game,
    mut choices: Choices,
    plies: usize,
    restart: usize,
    listed: impl Fn(&mut Game) -> Vec<Move>,
) {
    let mut game = start.clone();
    for _ in 0..plies {
        let moves = listed(&mut game);
        if moves.is_empty() || choices.one_in(restart) {
            game = start.clone();
            continue;
        }
        let mv = &moves[choices.below(moves.len())];
        let world = game.world_mut();
        world.fire(mv.action, &mv.args).unwrap_or_else(|it| panic!("{it}"));
        world.commit();
    }
}

#[test]
fn both_ways_agree_in_random_games() {
    let plies = if crate::fixture::is_full() { 20_000 } else { 300 };
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let mut games: Vec<&str> = catalogue.games().iter().map(|it| it.name.as_str()).collect();
    games.extend(["chess960:position=0", "chess960:position=959"]);
    let mut compared = 0;
    for (seed, name) in (1..).zip(games) {
        let rules = load(name);
        let start = rules.start(None).unwrap_or_else(|it| panic!("{name}: {it}"));
        // Where rules alone cannot tell, there is nothing to compare: simulation decides.
        if rules.contract().decisions.iter().any(|it| *it != Decision::Rules) {
            continue;
        }
        compared += 1;
        walk(&start, Choices(seed), plies, 250, agreed);
    }
    assert!(compared >= 25, "only {compared} games are decided by rules");
}

/// Rules say of most moves of xiangqi, janggi and manchu that they are safe, and of the others that they are to be played
/// out.
#[test]
fn moves_that_games_do_not_play_out_are_safe() {
    for (seed, name) in (7..).zip(["xiangqi", "janggi", "seirawan", "manchu"]) {
        let rules = load(name);
        let is_left = |it: &Decision| matches!(it, Decision::Except(_));
        let decisions = &rules.contract().decisions;
        assert!(name == "seirawan" || decisions.iter().any(is_left), "{name}");
        let start = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
        walk(&start, Choices(seed), 600, 150, |it| agreed_by(it, LegalityMode::Declared));
    }
}

/// Sentences call a piece what the game calls its kind, also if another file declares the kind.
#[test]
fn a_piece_is_called_what_its_game_calls_the_kind() {
    let rules = load("nightrider");
    let fen = "4r2k/8/8/8/8/4N3/8/4K3 w - - 0 1";
    let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"));
    let explained = game.explain_move("e3f5", Limits::default()).expect("a move");
    let expected = "e3f5 is not legal: the white nightrider on e3 is pinned";
    assert!(explained.summary.starts_with(expected), "{}", explained.summary);
}

/// Beside other presets a move that lets the generals face each other is played out, and refused for that reason.
#[test]
fn a_move_is_refused_because_the_generals_would_face_each_other() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let fen = "4k4/9/9/9/4R4/9/9/9/9/4K4 w - - 0 1";
    for (presets, reason) in [
        (&["piece-shield"][..], "after it the generals face each other"),
        (&[], "the white rook on e6 is all that stands between the generals"),
    ] {
        let rules = catalogue.load("xiangqi", presets).unwrap_or_else(|it| panic!("{it}"));
        let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"));
        let explained = game.explain_move("e6d6", Limits::default()).expect("a move");
        let expected = format!("e6d6 is not legal: {reason}");
        assert!(explained.summary.starts_with(&expected), "{}", explained.summary);
    }
}

/// A pawn that becomes a royal queen on a8 may end a cannon's attack on that square by leaving its line, or begin it.
#[test]
fn a_pawn_becomes_royal_only_where_no_cannon_captures() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load("coregal", &["cannon"]).unwrap_or_else(|it| panic!("{it}"));
    for (fen, is_safe) in [
        ("7k/P7/8/8/8/8/8/c3K3 w - - 0 1", true),
        ("7k/P7/8/8/N7/8/8/c3K3 w - - 0 1", false),
        ("7k/P7/N7/8/N7/8/8/c3K3 w - - 0 1", true),
        ("1r5k/P7/8/8/8/8/8/c3K3 w - - 0 1", false),
    ] {
        let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{fen}: {it}"));
        agreed(&mut game);
        assert_eq!(game.find_move("a7a8q").is_ok(), is_safe, "{fen}");
    }
}

/// A preset by which a pawn on e2 vanishes when a bishop of its side moves, so that what it shields is
/// attacked. The reaction and what the file says of safety, if anything, are put in.
fn betrayal(reaction: &str, said: &str) -> Game {
    let head = ".meta preset \"betrayal\"\n.meta name \"Betrayal\"\n.meta description \"Pawns vanish\"\n\
                .domain Preset += { betrayal }\n";
    let text = format!("% betrayal\n{head}{reaction}\n{said}\n");
    let mut catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let source = Source { path: "betrayal.dl".into(), text: text.into() };
    catalogue.add(source).unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load("chess", &["betrayal"]).unwrap_or_else(|it| panic!("{it}"));
    let fen = Some("4r1k1/8/8/8/8/8/4P3/2B1K3 w - - 0 1");
    rules.start(fen).unwrap_or_else(|it| panic!("{it}"))
}

/// The moves of the bishop, and how `move` is decided.
fn bishop_moves(game: &mut Game) -> (Vec<String>, Decision) {
    let contract = game.contract().clone();
    let program = game.program().clone();
    let action = program.actions.iter().find(|it| program.relation(it.rel).name == "move");
    let id = action.unwrap_or_else(|| panic!("chess has moves")).id;
    let listed = game.listing().into_iter().map(|it| it.0);
    let moves = listed.filter(|it| it.starts_with("c1")).collect();
    (moves, contract.decisions[usize::from(id.0)])
}

const VANISHES: &str = "on move(p, _) when active('betrayal, c), color(p, c), kind(p, 'bishop), \
                        at(q, 'e2), color(q, c) do remove q.";
/// The same, an event later, and in another stage.
const VANISHES_LATER: &str = "on any in after when active('betrayal, c), !own_bishop_home(c), at(q, 'e2), color(q, c) do raise vanished(q).\n\
     .event vanished(piece: Entity) \"{piece} vanishes\"\n\
     on vanished(q) do remove q.\n\
     .decl own_bishop_home(side: Side) \"a bishop of {side} stands on c1\"\n\
     own_bishop_home(c) :- color(p, c), kind(p, 'bishop), at(p, 'c1).";

#[test]
fn a_preset_that_says_nothing_of_safety_has_its_actions_played_out() {
    for (reaction, in_part) in [(VANISHES, true), (VANISHES_LATER, false)] {
        let mut game = betrayal(reaction, "");
        let (moves, decision) = bishop_moves(&mut game);
        // That it is about bishops can be read off the first (`split`).
        assert_eq!(matches!(decision, Decision::Except(_)), in_part, "{reaction}");
        assert_eq!(decision == Decision::Simulation, !in_part, "{reaction}");
        // On e3 the bishop shields the king itself; anywhere else the king stands in the open.
        assert_eq!(moves, ["c1e3"], "{reaction}");
        let hash = game.hash();
        assert!(game.play_text("c1b2").is_err(), "{reaction}");
        assert_eq!(game.hash(), hash);
        assert!(game.play_text("c1e3").is_ok(), "{reaction}");
    }
}

#[test]
fn a_preset_that_speaks_of_safety_is_believed() {
    // The rules are right all the same, says the file; here they are not.
    let mut game = betrayal(VANISHES, ".meta legality \"rules\"");
    let (moves, decision) = bishop_moves(&mut game);
    assert_eq!((moves.len(), decision), (7, Decision::Rules));
    // It says which moves are concerned.
    let rows = "played_move(p, t) :- active('betrayal, c), own(p), color(p, c), kind(p, 'bishop), pseudo_legal_move(p, t).";
    let mut game = betrayal(VANISHES, rows);
    let (moves, decision) = bishop_moves(&mut game);
    assert!(matches!(decision, Decision::Except(_)), "{decision:?}");
    assert_eq!(moves, ["c1e3"]);
}
