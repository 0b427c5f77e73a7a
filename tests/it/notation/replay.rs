//! Real games, replayed.

use rulemate::internals::moves::is_over;
use rulemate::internals::moves::notation::{
    MoveFault, PgnGame, PgnMove, PgnReader, PgnResult, parse_san, to_san,
};
use rulemate::internals::presets::Catalogue;

use crate::random_rules::Choices;
use crate::setup::Table;

fn games(bytes: &[u8]) -> Vec<PgnGame> {
    PgnReader::new(bytes).map(|it| it.expect("a game")).collect()
}

/// Plays a game's moves. Each must be legal, and be written as the file has it once both texts are
/// `trimmed`.
fn replay(game: &str, pgn: &PgnGame, trimmed: fn(&str) -> &str) -> Table {
    let mut table = Table::of(game);
    if let Some(fen) = pgn.tag("FEN") {
        assert_eq!(table.load(fen).warnings, [], "{fen}");
    }
    for mv in &pgn.moves {
        let (world, contract) = (&mut table.world, &table.contract);
        let meant = parse_san(world, contract, &mv.text);
        let meant = meant.unwrap_or_else(|error| panic!("line {}: {error}", mv.line));
        let written = to_san(world, contract, &meant);
        assert_eq!(trimmed(&written), trimmed(&mv.text), "line {}", mv.line);
        table.play(&meant);
    }
    table
}

fn without_suffix(text: &str) -> &str {
    text.trim_end_matches(['+', '#'])
}

#[test]
fn games_of_chess() {
    let kasparov = games(include_bytes!("../../data/games/kasparov-deep-blue-1997.pgn"));
    assert_eq!(kasparov.len(), 6);
    for game in &kasparov {
        let plies = game.tag("PlyCount").and_then(|it| it.parse().ok());
        assert_eq!(Some(game.moves.len()), plies);
        assert_eq!(game.tag("Result"), game.result.map(|it| it.to_string()).as_deref());
        replay("chess", game, |it| it);
    }
}

#[test]
fn a_game_that_ends_in_mate() {
    let game = &games(include_bytes!("../../data/games/molinari-bordais-1979.pgn"))[0];
    let mut table = replay("chess", game, |it| it);
    let (world, contract) = (&mut table.world, &table.contract);
    assert!(is_over(world, contract));
    let outcome = world.tuples(contract.over)[0][0];
    let winner = world.matching(contract.wins, &[None, Some(outcome)])[0][0];
    let result = if winner == 0 { PgnResult::FirstWins } else { PgnResult::SecondWins };
    assert_eq!(Some(result), game.result);
    let error = parse_san(world, contract, "Ke2").expect_err("the game is over");
    assert_eq!(error.reason, MoveFault::Over);
}

#[test]
fn games_of_other_variants() {
    let antichess = games(include_bytes!("../../data/games/antichess-programfox.pgn"));
    assert_eq!(antichess.len(), 2);
    for game in &antichess {
        replay("antichess", game, without_suffix);
    }
    let shuffled = games(include_bytes!("../../data/games/cutechess-fischerrandom.pgn"));
    assert_eq!(shuffled.len(), 4);
    for game in &shuffled {
        assert_eq!(game.tag("variant"), Some("fischerandom"));
        replay("chess960", game, |it| it);
    }
}

/// The games of `tests/data/numbers`: moves are numbers, and texts that PGN has for results or understands in part.
#[test]
fn games_whose_moves_are_numbers() {
    let mut catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    catalogue.add_path("tests/data/numbers".as_ref()).unwrap_or_else(|it| panic!("{it}"));
    for name in ["count", "words"] {
        let rules = catalogue.load::<&str>(name, &[]).unwrap_or_else(|it| panic!("{it}"));
        let mut plies = 0;
        for seed in 0..100 {
            let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
            let mut choices = Choices(seed);
            let mut pgn = PgnGame::default();
            pgn.first.by_second = seed % 3 == 0;
            while game.result().is_none() {
                let moves = game.legal_moves();
                let mv = &moves[choices.below(moves.len())];
                let text = game.play(mv).unwrap_or_else(|it| panic!("{it}")).uci.to_string();
                let comments = if choices.below(9) == 0 { vec!["7. 8".into()] } else { Vec::new() };
                pgn.moves.push(PgnMove { text, comments, ..PgnMove::default() });
            }
            plies += pgn.moves.len();
            let text = pgn.to_pgn();
            let read = games(text.as_bytes()).remove(0);
            let mut again = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
            for (mv, written) in read.moves.iter().zip(&pgn.moves) {
                assert_eq!((&mv.text, &mv.comments), (&written.text, &written.comments), "{text}");
                again.play_text(&mv.text).unwrap_or_else(|it| panic!("{}: {it}\n{text}", mv.text));
            }
            assert_eq!((read.moves.len(), again.fen()), (pgn.moves.len(), game.fen()), "{text}");
        }
        assert!(plies > 500, "{name}: {plies}");
    }
}
