//! CoTuLenh: what the reference program lists and counts, with its known mistakes mended; squares that hold
//! several pieces in FEN; deployments.

use rulemate::internals::game::Game;
use rulemate::internals::moves::notation::{PgnReader, parse_san, to_san};
use rulemate::internals::moves::perft;
use rulemate::internals::presets::Catalogue;
use rulemate::internals::rules::Source;

use crate::cli::rulemate;
use crate::fixture::texts;

const FOLDER: &str = "tests/data/vectors/cotulenh";

/// Rows that are believed wrong are told in a file beside the vectors, and counted apart.
#[test]
fn vectors_pass() {
    let full = crate::fixture::is_full();
    let most = if full { "5000000" } else { "60000" };
    let corrections = format!("{FOLDER}/corrections.json");
    for (name, least, corrected) in [
        ("positions", 50, "1 corrected (O16 1), "),
        ("sessions", 40, ""),
        ("perft", 35, "5 corrected (O01 3, O08 2), "),
        ("playouts", 300, "1 corrected (O01 1), "),
        ("histories", 5, "1 corrected (O01 1), "),
        ("fen_cases", 75, ""),
        ("san_cases", 73, "1 corrected (O12 1), "),
    ] {
        let path = format!("{FOLDER}/{name}.json");
        let ran = rulemate(&["verify", "--corrections", &corrections, "--max-nodes", most, &path]);
        let line = &ran.out;
        let counts = line.strip_prefix(&format!("{path}: ")).expect("the counts");
        let (passed, rest) = counts.split_once(" passed, ").expect("a number");
        assert!(passed.parse::<usize>().is_ok_and(|it| it >= least), "{line}{}", ran.err);
        assert!(rest.starts_with(&format!("{corrected}0 failed, ")), "{line}{}", ran.err);
    }
}

/// The program's own lists, mistakes included, come of the game that has its mistakes.
#[test]
fn the_mistakes_of_the_reference_program_come_back() {
    let corrections = format!("{FOLDER}/corrections.json");
    let oracle = ["verify", "--recorded", "--game", "cotulenh-oracle", "--corrections"];
    for name in ["positions", "sessions", "playouts", "histories", "fen_cases", "san_cases"] {
        let path = format!("{FOLDER}/{name}.json");
        let ran = rulemate(&[&oracle[..], &[&corrections, &path]].concat());
        assert!(ran.out.ends_with(" 0 failed, 0 skipped\n"), "{}{}", ran.out, ran.err);
    }
}

fn started(fen: Option<&str>) -> Result<Game, String> {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load::<&str>("cotulenh", &[]).expect("it loads");
    rules.start(fen).map_err(|it| it.to_string())
}

#[test]
fn positions_that_are_none_are_refused_with_the_reason() {
    for (board, why) in [
        ("6c4/11/11/11/11/11/11/4(Ti)6/11/11/11/5C5", "e5: pieces of both sides stand there"),
        ("6c4/11/11/11/11/11/11/4(IM)6/11/11/11/5C5", "e5: no carrier carries what stands there"),
        // Four infantries add up to a tank, but are none.
        (
            "6c4/11/11/11/11/11/11/4(FIIII)6/11/11/11/5C5",
            "e5: no carrier carries what stands there",
        ),
        (
            "6c4/11/11/11/11/11/11/5N5/11/11/11/5C5",
            "f5: what stands there may not stand on such ground",
        ),
        ("6c4/11/11/11/11/11/11/11/11/11/4C6/5C5", "e2: a second commander stands there"),
        ("6c4/11/11/11/11/11/11/4(TI6/11/11/11/5C5", "found '6', expected a piece"),
        ("6c4/11/11/11/11/11/11/4++T6/11/11/11/5C5", "expected a piece"),
    ] {
        let refused =
            started(Some(&format!("{board} r - - 0 1"))).map(|_| ()).expect_err("it is refused");
        assert!(refused.contains(why), "{refused}");
    }
}

/// A stack is taken apart step by step: the FEN states what is open, and the turn passes with the last step.
#[test]
fn a_deployment_goes_step_by_step() {
    let fen = "6c4/11/11/11/11/11/11/4(FTI)6/11/11/11/2C8 r - - 0 1";
    let mut game = started(Some(fen)).expect("it starts");
    game.play_text("Fe5>g7").expect("the aircraft leaves");
    let open = game.fen();
    assert_eq!(open, format!("{fen} e5:(TI):F>g7..."));
    let mut again = started(Some(&open)).expect("an open deployment is read");
    assert_eq!(again.fen(), open);
    assert_eq!(texts(&mut game), texts(&mut again));
    // The tank rides with the aircraft after all.
    game.play_text("Te5>&g7").expect("the tank joins it");
    assert!(game.play_text("Te5>e6").is_err(), "it has acted");
    assert_eq!(game.fen(), format!("{fen} e5:I:(FT)>g7..."));
    assert_eq!(started(Some(&game.fen())).expect("it is read").hash(), game.hash());
    game.play_text("commit").expect("the infantry stays");
    assert_eq!(game.fen(), "6c4/11/11/11/11/6(FT)4/11/4I6/11/11/11/2C8 b - - 1 1");
}

/// What shoots an aircraft down is named, those it meets first before the others; so is a commander aboard.
#[test]
fn refused_flights_tell_what_would_be_met_and_lost() {
    for (fen, refused, why) in [
        (
            "6c4/11/11/4g6/11/4g6/11/4F6/11/11/11/2C8 r - - 0 1",
            "Fe5e9",
            "the blue anti-air on e7 defends its way, and the blue anti-air on e9 shoots it down on e8",
        ),
        (
            "6c4/11/11/4F6/11/4g6/11/4g6/11/11/11/2C8 r - - 0 1",
            "Fe9e5",
            "the blue anti-air on e7 defends its way, and the blue anti-air on e5 shoots it down on e6",
        ),
        (
            "6c4/11/11/11/11/4g6/11/4F6/11/11/11/2C8 r - - 0 1",
            "Fe5e9",
            "it is shot down where it leaves the zone of the blue anti-air on e7, on e9",
        ),
        (
            "6c4/11/11/11/4g6/11/11/4(FC)6/11/11/11/11 r - - 0 1",
            "(FC)e5@e8",
            "the commander that it carries would be lost with it",
        ),
    ] {
        let mut game = started(Some(fen)).expect("it starts");
        let said = game.why_move(refused).unwrap_or_else(|it| panic!("{refused}: {it}"));
        assert!(said.summary.contains(why), "{refused}: {}", said.summary);
        game.play_text(refused).map(|_| ()).expect_err(refused);
        assert_eq!(game.fen(), fen);
    }
}

/// A piece that has acted steps no more, and a deployment is not ended where something is left on ground that it may not
/// stand on, or the commander in danger: refused with the reason, nothing changed, the deployment still open.
#[test]
fn deployments_that_cannot_end_so_stay_open() {
    for (fen, step, refused, why, way_out) in [
        (
            "6c4/11/11/11/11/11/11/11/11/11/(NFT)10/5C5 r - - 0 1",
            "Na2>a3",
            "commit",
            "the deployment from a2 cannot be ended: what is left there may not stand on such ground",
            "Fa2>&a3",
        ),
        (
            "6c4/11/11/11/11/11/11/11/11/11/(NFT)10/5C5 r - - 0 1",
            "Na2>a3",
            "Na3>a4",
            "the red navy on a3 cannot step out to a4: it has made its step of this deployment",
            "Ta2>&a3",
        ),
        (
            "6c4/11/11/11/11/3t7/11/4(TC)6/11/11/11/11 r - - 0 1",
            "Ce5>d5",
            "commit",
            "the deployment from e5 cannot be ended: the commander would be in danger",
            "+Te5>&d5",
        ),
        (
            "6c4/11/11/11/11/11/11/4(FTI)6/11/11/11/2C8 r - - 0 1",
            "Fe5>g7",
            "Cc1c2",
            "is being taken apart",
            "commit",
        ),
    ] {
        let mut game = started(Some(fen)).expect("it starts");
        game.play_text(step).unwrap_or_else(|it| panic!("{step}: {it}"));
        let before = (game.fen(), game.hash(), game.history().len(), game.listing());
        assert!(before.0.contains(':') && game.result().is_none());
        game.play_text(refused).map(|_| ()).expect_err(refused);
        let said = game.why_move(refused).unwrap_or_else(|it| panic!("{refused}: {it}"));
        assert!(said.summary.contains(why), "{refused}: {}", said.summary);
        assert_eq!((game.fen(), game.hash(), game.history().len(), game.listing()), before);
        game.play_text(way_out).unwrap_or_else(|it| panic!("{way_out}: {it}"));
        // Undone, it is open as before; and with all steps undone it has not begun.
        game.takeback();
        assert_eq!((game.fen(), game.hash(), game.history().len(), game.listing()), before);
        game.takeback();
        assert_eq!(game.fen(), fen);
    }
}

/// What joins a step went with it from the start: the carrier was no last guard then, and what is heroic since it attacked the
/// other commander in between is not.
#[test]
fn what_joins_a_step_makes_no_heroes_that_it_would_not_have_made_at_once() {
    let tank = "4c5h/4i6/11/11/11/11/11/11/11/6(TC)4/11/11 r - - 0 1";
    // The anti-air keeps the aircraft from the commander on g5 until it is captured.
    let aircraft = "10h/10h/11/11/11/11/3g7/2(NF)3c4/11/11/11/8H1C r - - 0 1";
    let ship = "2c7h/2i8/11/11/11/2(NC)8/11/11/11/11/11/11 r - - 0 1";
    for (fen, actions, board) in [
        (tank, "Tg3>g4,commit", "4c5h/4i6/11/11/11/11/11/11/6+T4/6C4/11/11"),
        (tank, "Tg3>g4,Cg3>&g4", "4c5h/4i6/11/11/11/11/11/11/6(TC)4/11/11/11"),
        // The other way round the tank was alone.
        (tank, "Cg3>g4,+Tg3>&g4", "4c5h/4i6/11/11/11/11/11/11/6(+TC)4/11/11/11"),
        // What attacks the other commander is a hero all the same.
        (ship, "Nc7>c8,Cc7>&c8", "2c7h/2i8/11/11/2(NC)8/11/11/11/11/11/11/11"),
        (ship, "Nc7>c9,Cc7>&c9", "2c7h/2i8/11/2(+NC)8/11/11/11/11/11/11/11/11"),
        (aircraft, "Nc5>xd6,commit", "10h/10h/11/11/11/11/3N7/2+F3c4/11/11/11/8H1C"),
        (aircraft, "Nc5>xd6,+Fc5>&d6", "10h/10h/11/11/11/11/3(NF)7/6c4/11/11/11/8H1C"),
    ] {
        let mut game = started(Some(fen)).expect("it starts");
        game.play_text(actions).unwrap_or_else(|it| panic!("{actions}: {it}"));
        let clock = u8::from(!actions.contains('x'));
        assert_eq!(game.fen(), format!("{board} b - - {clock} 1"), "{actions}");
    }
}

/// A whole deployment has a word, which is read as what it was made of; recombination rewrites it.
#[test]
fn whole_turns_have_words() {
    let fen = "6c4/11/11/11/11/11/11/4(FTI)6/11/11/11/2C8 r - - 0 1";
    for (actions, word, lan) in [
        ("Fe5>g7,commit", "(TI)<F>g7", "e5:(TI):F>g7"),
        ("Fe5>g7,Te5>&g7,commit", "I<(FT)>g7", "e5:I:(FT)>g7"),
        ("Ie5>e6,commit", "(FT)<I>e6", "e5:(FT):I>e6"),
        ("Fe5>g7,Te5>e6,Ie5>d5", "F>g7,T>e6,I>d5", "e5::F>g7,T>e6,I>d5"),
    ] {
        let mut game = started(Some(fen)).expect("it starts");
        game.play_text(actions).unwrap_or_else(|it| panic!("{actions}: {it}"));
        assert_eq!(game.last_turn().as_deref(), Some(word));
        for text in [word, lan] {
            let mut again = started(Some(fen)).expect("it starts");
            again.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
            assert_eq!((again.fen(), again.hash()), (game.fen(), game.hash()), "{text}");
            let pgn = format!("1. {text} Cg12h12 2. Cc1d1 (2. {text}) *\n");
            let read = PgnReader::new(pgn.as_bytes()).next().expect("a game").expect("well-formed");
            assert_eq!(read.moves[0].text, text);
            assert_eq!(read.moves.len(), 3);
        }
    }
    let mut game = started(Some(fen)).expect("it starts");
    for text in ["T<F>g7", "I<F>g7", "(TI)<F>k12", "e4:(TI):F>g7", "(TI)<", "<F>g7"] {
        game.play_text(text).map(|_| ()).expect_err(text);
    }
    assert!(game.history().is_empty());
    // An open turn has none, and in the middle of it none is read.
    game.play_text("Fe5>g7").expect("it is legal");
    assert_eq!(game.last_turn(), None);
    game.play_text("(TI)<F>g7").map(|_| ()).expect_err("the turn is under way");
    // Where two stacks have the same word, the other form says which; a move of a whole stack has none.
    let fen = "6c4/11/11/11/11/11/11/4(TI)1(TI)4/11/11/11/2C8 r - - 0 1";
    let mut game = started(Some(fen)).expect("it starts");
    game.play_text("Ie5>f5,commit").expect("it is legal");
    assert_eq!(game.last_turn().as_deref(), Some("e5:T:I>f5"));
    let mut again = started(Some(fen)).expect("it starts");
    again.play_text("T<I>f5").map(|_| ()).expect_err("it may mean two turns");
    again.play_text("(TI)e5e6").expect("it is legal");
    assert_eq!(again.last_turn(), None);
}

/// What was done of a turn is read if it can be done, and refused with the text otherwise.
#[test]
fn turns_under_way_that_cannot_be_are_refused() {
    let start = "6c4/11/11/11/11/11/11/4(FTI)6/11/11/11/2C8 r - - 0 1";
    for done in
        ["e5:(TI):F>k12...", "e4:(TI):F>g7...", "e5:T:F>g7...", "e5:(TI):F>g7", "e5::", "x:y:z"]
    {
        let refused =
            started(Some(&format!("{start} {done}"))).map(|_| ()).expect_err("it is refused");
        let place = format!("turn under way of the FEN, byte {}: ", start.len() + 1);
        assert!(refused.contains(done) && refused.contains(&place), "{refused}");
        assert!(refused.contains("expected actions that a turn may begin with"), "{refused}");
    }
}

/// Text of moves tells as much of the square as tells the pieces of a kind apart, neither more nor less.
#[test]
fn pieces_of_a_kind_are_told_apart() {
    let fen = "2c8/4+T6/4+T6/4I6/4T6/11/11/11/11/11/10I/8C2 r - - 0 1";
    for text in ["+Te12", "T8&e9", "Te8&e9", "+Te10&e9", "+T10&e9"] {
        let mut game = started(Some(fen)).expect("it starts");
        game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
    }
    let mut game = started(Some(fen)).expect("it starts");
    for text in ["+Te&e9", "Te&e9", "+T1&e9", "+T&e9", "+T11e12"] {
        game.play_text(text).map(|_| ()).expect_err(text);
    }
    // Each legal action has a text of its own, which means it.
    let moves = game.legal_moves();
    let contract = game.contract().clone();
    for mv in moves {
        let san = to_san(game.world_mut(), &contract, &mv);
        assert_eq!(parse_san(game.world_mut(), &contract, &san), Ok(mv), "{san}");
    }
}

#[test]
fn trees_have_the_sizes_that_are_known() {
    let mut game = started(None).expect("it starts");
    let contract = game.contract().clone();
    assert_eq!(perft(game.world_mut(), &contract, 2), 13460);
    let stack = "11/10c/11/11/11/11/4h6/11/2H8/11/(NFT)2i5C1/11 r - - 0 1";
    let mut game = started(Some(stack)).expect("it starts");
    assert_eq!(perft(game.world_mut(), &contract, 3), 11341);
}

const READINGS: &str = "other-readings:both:headquarter=true,carried_defence=true,duels=true,\
                        last_guard=true,late_parry=true,landing=false";

fn with(presets: &[&str], fen: &str) -> Game {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load("cotulenh", presets).unwrap_or_else(|it| panic!("{it}"));
    rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"))
}

/// The texts of the legal actions that have a sign in them.
fn listed(game: &mut Game, sign: &str) -> Vec<String> {
    texts(game).into_iter().filter(|it| it.contains(sign)).collect()
}

#[test]
fn other_readings_are_options() {
    // A tank takes a headquarter alone, an artillery both.
    let fen = "11/11/11/11/11/4A6/4(hc)6/11/4T6/11/10I/5C5 r - - 0 1";
    assert_eq!(listed(&mut with(&[], fen), "e6"), ["Ae7xe6", "Te4xe6"]);
    let mut game = with(&[READINGS], fen);
    assert_eq!(listed(&mut game, "e6"), ["Ae7xe6", "Te4_e6"]);
    game.play_text("Te4_e6").expect("the headquarter falls");
    assert!(game.fen().starts_with("11/11/11/11/11/4+A6/4c6/11/4+T6/11"), "{}", game.fen());
    // What is carried defends.
    let fen = "6c4/11/11/11/11/4(eg)6/11/11/4F6/11/11/5C5 r - - 0 1";
    assert_eq!(listed(&mut with(&[], fen), "e7"), ["Fe4_e7", "Fe4xe7"]);
    assert_eq!(listed(&mut with(&[READINGS], fen), "e7"), ["Fe4@e7"]);
    // An aircraft is lost for the defender alone.
    let fen = "6c4/11/11/11/4ti5/4g6/11/11/4F6/11/11/5C5 r - - 0 1";
    assert_eq!(listed(&mut with(&[], fen), "@"), ["Fe4@e7", "Fe4@e8"]);
    assert_eq!(listed(&mut with(&[READINGS], fen), "@"), ["Fe4@e7"]);
    // The last piece becomes heroic although it carries the commander.
    let fen = "6c4/11/11/11/4ti5/4g6/11/11/4(TC)6/11/11/11 r - - 0 1";
    for (presets, last) in [(&[][..], "3(TC)7"), (&[READINGS], "3(+TC)7")] {
        let mut game = with(presets, fen);
        game.play_text("(TC)e4d4").expect("it is legal");
        assert!(game.fen().contains(last), "{}", game.fen());
    }
    // Two steps parry what one cannot.
    let text = std::fs::read_to_string(format!("{FOLDER}/positions.json")).expect("the vectors");
    let vectors: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let all = vectors["positions"].as_array().expect("a list");
    for position in all.iter().filter(|it| it["flags"]["O10"].is_object()) {
        let fen = position["fen"].as_str().expect("a FEN");
        let late = position["flags"]["O10"]["first_steps_excluded_but_completable"].as_array();
        let late = late.expect("a list").len();
        let steps = |presets: &[&str]| listed(&mut with(presets, fen), ">").len();
        assert!(late > 0 && steps(&[READINGS]) >= steps(&[]) + late, "{fen}");
    }
}

#[test]
fn lost_arms_decide_where_that_is_agreed() {
    let fen = "6c4/11/1n9/11/3i7/5g5/11/N10/4T6/4A6/4I1f4/4F5C r - - 0 1";
    let mut game = with(&["lost-arms"], fen);
    assert!(game.result().is_none(), "{:?}", game.result());
    game.play_text("Te4e5").expect("it is legal");
    game.play_text("Fg2xe2").expect("it is legal");
    game.play_text("Fe1xe2").expect("it is legal");
    let result = game.result().expect("an arm is lost").to_string();
    assert!(result.contains("air_force_destroyed") || result.contains("air force"), "{result}");
    // A FEN states what was lost, and the game is over where it is read.
    assert!(game.fen().ends_with(" lost=-,blue:2"), "{}", game.fen());
    let again = with(&["lost-arms"], &game.fen());
    assert_eq!(again.result(), game.result());
}

/// A side that never had an arm has not lost it; the last piece of one is lost in whatever way it goes.
#[test]
fn arms_that_were_never_there_are_not_lost() {
    let mut game = with(&["lost-arms"], "6c4/11/11/11/11/11/11/11/11/4i6/4f6/4F5C r - - 0 1");
    assert!(game.result().is_none(), "{:?}", game.result());
    game.play_text("Ck1k2").expect("it is legal");
    game.play_text("Ie3d3").expect("it is legal");
    assert!(game.result().is_none(), "{:?}", game.result());
    // The last guard has become heroic.
    game.play_text("+Fe1xe2").expect("it is legal");
    let result = game.result().expect("the last aircraft of blue is gone").to_string();
    assert!(result.starts_with("red wins"), "{result}");
    // An aircraft that is lost with its target is lost all the same.
    let fen = "6c4/11/11/11/4ti5/4g6/11/11/4F6/11/11/5C5 r - - 0 1";
    let mut game = with(&["lost-arms"], fen);
    game.play_text("Fe4@e7").expect("it is legal");
    let result = game.result().expect("the last aircraft of red is gone").to_string();
    assert!(result.starts_with("blue wins"), "{result}");
}

#[test]
fn the_board_as_text_has_terrain_stacks_and_zones() {
    let ran = rulemate(&[
        "play",
        "cotulenh",
        "--ascii",
        "--fen",
        "6c4/11/11/11/11/11/11/4(FTI)6/11/11/1N9/2C8 r - - 0 1",
    ]);
    let has = |line: &str| ran.out.lines().any(|it| it.starts_with(line));
    assert!(has(" 5  ~     ~     =     .     (FTI) ."), "{}{}", ran.out, ran.err);
    assert!(has(" 2  ~'    N'    ='    ."), "{}", ran.out);
    assert!(has("    ~     ~     ~"), "{}", ran.out);
}

/// A square that holds several pieces where no file says so: what the FEN leaves out is told.
#[test]
fn crowded_squares_are_not_lost_silently() {
    let text = ".meta game \"pile\"\n.meta board \"3x1\"\n.meta start \"RR1 w 1\"\n.domain Kind += { runner }\n\
                letter('runner, \"r\").\n\
                .action run(piece: Entity, to: Square) legality rules uci \"{at(piece)}{to}\" \"{piece} runs to {to}\"\n\
                run(p, t) :- own(p), at(p, s), step('e, s, t).\nmovable() :- run(_, _).\n\
                on run(p, t) do set at(p, t).\n";
    let load = |text: &str| {
        let mut catalogue = Catalogue::embedded().expect("the catalogue");
        let source = Source { path: "mine/pile.dl".into(), text: text.into() };
        catalogue.add(source).expect("metadata that makes sense");
        catalogue.load::<&str>("pile", &[]).unwrap_or_else(|it| panic!("{it}"))
    };
    let rules = load(text);
    let mut game = rules.start(None).expect("it starts");
    assert!(rules.unsaid(&mut game).is_empty());
    game.play_text("a1b1").expect("onto another");
    assert_eq!(rules.unsaid(&mut game), ["position"]);
    assert_eq!(
        rules.unsaid_note(&mut game).as_deref(),
        Some(
            "the FEN leaves out pieces that share a square with another: a game that is set up from it lacks them; a save \
             has all"
        )
    );
    let rules = load(&format!(
        "{text}.meta fen \"stack place\"\n.static place(kind: Kind, n: Int)\nplace('runner, 1).\n"
    ));
    let mut game = rules.start(None).expect("it starts");
    game.play_text("a1b1").expect("onto another");
    assert_eq!(game.fen(), "1(RR)1 b 1");
    assert!(rules.unsaid(&mut game).is_empty());
    // A turn under way that would be written so that it cannot be told from a field is refused at once.
    for (template, told, is_good) in [
        ("{begun}", "on", false),
        ("a={begun}:", "on", false),
        ("{begun}:", "on", true),
        ("{begun}:", "o n", false),
        ("{begun}:", "on={n}", false),
    ] {
        let mut catalogue = Catalogue::embedded().expect("the catalogue");
        let text = format!(
            "{text}.decl begun(n: Int) text \"{told}\" \"{{n}} half-moves of a turn were made\"\n\
             begun(n) :- half_moves(n), n > 0.\n.meta fen \"turn {template}\"\n"
        );
        let source = Source { path: "mine/pile.dl".into(), text: text.into() };
        catalogue.add(source).expect("metadata that makes sense");
        match catalogue.load::<&str>("pile", &[]) {
            Ok(_) => assert!(is_good, "{template}, {told}"),
            Err(why) => {
                let why = why.to_string();
                assert!(!is_good && why.contains(template) && why.contains("write a `:`"), "{why}");
            }
        }
    }
}
