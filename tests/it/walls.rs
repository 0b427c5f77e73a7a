//! Squares that are taken out of the board while a game is on, in rules, in FEN and in what is drawn: two games
//! of Fairy-Stockfish's, whose counts, lists, SAN and ends are those of its vectors.

use rulemate::internals::moves::{LegalityMode, legal_moves_by};
use rulemate::internals::presets::Catalogue;
use rulemate::internals::rules::Source;

use crate::cli::rulemate;
use crate::fixture::is_full;

const FOLDER: &str = "tests/data/walls";

fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    catalogue.add_path(FOLDER.as_ref()).expect("rule files");
    catalogue
}

#[test]
fn games_with_walls_are_those_of_their_vectors() {
    for (name, rows) in [("joust", JOUST), ("snailtrail", SNAILTRAIL)] {
        let file = format!("{FOLDER}/{name}.public.json");
        let mut args = vec!["verify", "--rules", FOLDER, &file];
        if !is_full() {
            args.extend(["--max-nodes", "20000"]);
        }
        let ran = rulemate(&args);
        assert!(ran.out.contains("0 failed"), "{} {}", ran.out, ran.err);
        let passed: usize = ran
            .out
            .split(": ")
            .last()
            .and_then(|it| it.split(' ').next()?.parse().ok())
            .expect("a number");
        assert!(passed >= rows, "{}", ran.out);
    }
}

/// How many rows have to pass, at least.
const JOUST: usize = 40;
const SNAILTRAIL: usize = 40;

/// A square that is gone is so in the FEN, on what is drawn, and in explanations; and comes back from the FEN.
#[test]
fn walls_are_told_and_read_back() {
    let rules = catalogue().load::<&str>("walled-joust", &[]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).expect("it starts");
    for text in ["d4c6,c6d4", "Nd3,e5"] {
        game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
    }
    let fen = "8/8/2N5/4*3/3*4/3n4/8/8 w - - 2 2";
    assert_eq!(game.fen(), fen);
    let mut again = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(again.fen(), fen);
    let of = |game: &rulemate::internals::game::Game| {
        let facts = game.facts().all_facts();
        let attr = game.program().schema.attribute_named("wall").expect("an attribute");
        facts.into_iter().filter(|it| it.attr == attr).collect::<Vec<_>>()
    };
    assert_eq!(of(&game), of(&again));
    // A position without walls takes those of before away.
    assert_eq!(rules.unsaid(&mut game), Vec::<String>::new());
    let why = again.play_text("c6e5").expect_err("that square is gone").to_string();
    assert!(why.contains("c6e5"), "{why}");
}

/// In games of chess nothing goes onto walls or through them, whoever includes the module.
#[test]
fn pieces_of_chess_stop_before_walls() {
    let text = ".meta preset \"ruin\"\n.meta family \"chess\"\n.meta include \"chess-walls.dl\"\n\
                .domain Preset += { ruin }\n\
                on move(p, _) in before when active('ruin, c), color(p, c), kind(p, 'pawn), at(p, s) do set wall(s).\n";
    let mut catalogue = catalogue();
    catalogue.add(Source { path: "ruin.dl".into(), text: text.into() }).expect("a preset");
    let rules = catalogue.load("chess", &["ruin"]).unwrap_or_else(|it| panic!("{it}"));
    // A rook beside a wall, a bishop whose way ends before one, a pawn whose second step is one, a knight.
    let fen = "4k3/8/8/8/4*2p/8/2B1P2P/K3R1N* w - - 0 1";
    let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"));
    let texts: Vec<String> = game.listing().into_iter().map(|it| it.0).collect();
    for (mv, is_legal) in [
        ("c2d3", true),
        ("c2e4", false),
        ("e2e3", true),
        ("e2e4", false),
        ("g1h3", true),
        ("h2h3", true),
    ] {
        assert_eq!(texts.iter().any(|it| it == mv), is_legal, "{mv}: {texts:?}");
    }
    let why = game.why_move("c2e4").expect("a move");
    assert!(!why.holds && why.summary.contains("e4 is taken out of the board"), "{why:?}");
    // A wall shields the king as a piece does.
    game.play_text("e2e3").unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(game.fen(), "4k3/8/8/8/4*2p/4P3/2B1*2P/K3R1N* b - - 0 1");
    let world = game.world_mut();
    let contract = rules.contract();
    let [declared, simulated] = [LegalityMode::Declared, LegalityMode::Simulate]
        .map(|it| legal_moves_by(world, contract, it));
    assert_eq!(declared, simulated);
}

#[test]
fn walls_that_cannot_be_told_are_refused() {
    let refused = |from: &str, to: &str| {
        let text = std::fs::read_to_string(format!("{FOLDER}/joust.dl")).expect("a file");
        assert!(text.contains(from), "{from}");
        let text = text.replace("\"walled-joust\"", "\"mine\"").replace(from, to);
        let mut catalogue = catalogue();
        catalogue.add(Source { path: "mine.dl".into(), text: text.into() }).expect("a game");
        catalogue.load::<&str>("mine", &[]).map(|_| ()).expect_err("it is refused").to_string()
    };
    let why = refused("letter('knight, \"n\")", "letter('knight, \"*\")");
    assert!(why.contains("marks walls"), "{why}");
    let why = refused(".meta fen \"dashes 2\"", ".meta fen \"counters wall\"");
    assert!(why.contains("wall") && why.contains("Int"), "{why}");
    let why = refused(".meta fen \"dashes 2\"", ".meta fen \"dashes 9\"");
    assert!(why.ends_with("the number of dashes is \"9\", not a number up to 8"), "{why}");
}
