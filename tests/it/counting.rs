//! The counts of makruk, ouk and ASEAN chess: when they begin, what begins them anew, and that they end games.
//!
//! The rows are those of pyffish 0.0.90 (`get_fen`, `is_optional_game_end`).

use std::sync::Arc;

use rulemate::internals::game::Game;
use rulemate::internals::presets::Catalogue;
use rulemate::internals::presets::save::{Content, Form, RulesFrom, Save};

use crate::fixture::{play, start};

/// Game, FEN, moves, the FEN after them, and whether the count has ended the game.
const ROWS: &str = include_str!("../data/vectors/fairy/counts.tsv");
const GAMES: [&str; 7] =
    ["makruk", "makpong", "ai-wok", "cambodian", "karouk", "asean", "sittuyin"];

fn ended(game: &Game) -> String {
    game.result().map_or_else(|| "-".into(), ToString::to_string)
}

#[test]
fn counts_are_those_of_fairy_stockfish() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let mut seen = 0;
    for name in GAMES {
        let rules = catalogue.load::<&str>(name, &[]).unwrap_or_else(|it| panic!("{name}: {it}"));
        for row in ROWS.lines() {
            let columns: Vec<&str> = row.split('\t').collect();
            let [of, fen, moves, after, end] = columns[..] else { panic!("{row}") };
            if of != name {
                continue;
            }
            seen += 1;
            let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{row}: {it}"));
            play(&mut game, moves);
            assert_eq!(game.fen(), after, "{row}");
            let expected = if end == "draw" { "draw by counting" } else { "-" };
            assert_eq!(ended(&game), expected, "{row}");
        }
    }
    assert_eq!(seen, ROWS.lines().count());
}

#[test]
fn a_count_goes_on_after_a_save() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load::<&str>("makruk", &[]).expect("it loads");
    let mut game = rules.start(Some("8/4k3/8/8/1R6/4K3/8/8 w - 32 30 20")).expect("it starts");
    play(&mut game, "b4b5 e7d7");
    game.takeback();
    play(&mut game, "e7e6");
    let save = Save::of(&game, &rules, Content::default()).expect("it replays");
    let (read, doubt) = Save::read(&save.write(Form::Binary), "").expect("it can be read");
    assert_eq!(doubt, None);
    let mut restored = read.restore(&catalogue, RulesFrom::Here).expect("it loads").game;
    let mut later = Game::from_facts(game.world().clone(), Arc::clone(game.contract()));
    for game in [&mut restored, &mut later] {
        assert_eq!(game.fen(), "8/8/4k3/1R6/8/4K3/8/8 w - 32 32 21");
        assert_eq!(ended(game), "-");
        play(game, "b5a5");
        assert_eq!(ended(game), "draw by counting");
    }
}

#[test]
fn mate_comes_before_the_end_of_a_count() {
    let mut game = start("makruk", Some("7k/R7/8/8/8/8/8/1R2K3 w - 16 16 40"));
    play(&mut game, "b1b8");
    assert_eq!(ended(&game), "white wins by checkmate");
}

/// Where there are pawns, makruk may go on for ever; ASEAN chess has the rules of chess about many moves, too.
#[test]
fn makruk_has_no_fifty_moves() {
    let fen = "4k3/8/8/p7/P7/8/8/R3K3 w - - 149 90";
    for (name, end) in [("makruk", "-"), ("asean", "draw by seventy five moves")] {
        let mut game = start(name, Some(fen));
        assert_eq!(game.claims().is_empty(), name == "makruk", "{name}");
        play(&mut game, "a1b1");
        assert_eq!(ended(&game), end, "{name}");
    }
}
