//! Ability chess: vectors of scenarios, random games and lists; abilities as presets of chess.

use rulemate::internals::game::{Game, position_key};
use rulemate::internals::presets::Catalogue;

use crate::cli::rulemate;
use crate::fixture::{is_full, texts};

const FOLDER: &str = "tests/data/vectors/abilities";

/// Scenarios, random games, lists of requests and counts of their sequences, of the model of the rules.
#[test]
fn vectors_pass() {
    let long = is_full().then_some(("legal-long", 1));
    for (name, rows) in [("scenarios", 191), ("random", 100), ("legal", 17)].into_iter().chain(long)
    {
        let path = format!("{FOLDER}/{name}.rules002.json");
        let ran = rulemate(&["verify", &path]);
        assert_eq!(ran.out, format!("{path}: {rows} passed, 0 failed, 0 skipped\n"), "{}", ran.err);
    }
}

/// What `ability-chess-audit` plays otherwise than the audited program is named beside the vectors, each with the
/// conflict that says why, and is no more than a twentieth of the requests.
#[test]
#[expect(clippy::print_stdout, reason = "figures of a long run")]
fn what_the_audited_program_plays_otherwise_is_named() {
    let read = |name: &str| -> serde_json::Value {
        let text =
            std::fs::read_to_string(format!("{FOLDER}/{name}.audit.json")).expect("it is there");
        serde_json::from_str(&text).expect("JSON")
    };
    let named = read("differences");
    let named = named["differences"].as_array().expect("a list");
    for (name, odds) in [("scenarios", 20), ("random", 20)] {
        let path = format!("{FOLDER}/{name}.audit.json");
        let ran = rulemate(&["verify", &path]);
        let ids: Vec<&str> = named
            .iter()
            .filter(|it| it["file"] == name && it["conflict"].is_string())
            .filter_map(|it| it["id"].as_str())
            .collect();
        let mut found: Vec<&str> = Vec::new();
        let (mut right, mut all) = (0, 0);
        let scripts = read(name);
        for script in scripts["scenarios"].as_array().expect("a list") {
            let (id, steps) = (script["id"].as_str().expect("an id"), script["steps"].as_array());
            let steps = steps.map_or(0, Vec::len);
            all += steps;
            let mut failures = ran.out.split("failed ").skip(1);
            match failures.find(|it| it.starts_with(&format!("{id} "))) {
                None => right += steps,
                Some(failure) => {
                    found.push(id);
                    let number = failure.split_once("(").and_then(|it| it.1.split_once(". {"));
                    right +=
                        number.and_then(|it| it.0.parse::<usize>().ok()).map_or(0, |it| it - 1);
                }
            }
        }
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, sorted, "{}{}", ran.out, ran.err);
        assert!((all - right) * odds <= all, "{name}: {right} of {all} requests");
        println!("{name}: {right} of {all} requests as the audited program");
    }
}

/// A rook that turns off to capture leaves the line to its king: what slides through enemies attacks it then.
#[test]
fn a_free_corner_that_leaves_the_king_attacked_is_refused() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load::<&str>("ability-chess", &[]).expect("it loads");
    let fen = "4r2k/8/4p3/8/8/8/R7/4K3 w - - 0 1 umbral-step=-,e8:true mist-shroud=-,a2:true";
    let mut game = rules.start(Some(fen)).expect("a position");
    let whole = "a2a6,a6e6,e6e7";
    let why = game.play_text(whole).map(|_| ()).expect_err("its second action is refused");
    assert_eq!(game.code_of(whole, &why).as_deref(), Some("king_safety"));
    game.play_text("a2a6").expect("it slides on");
    let before = game.hash();
    let code = code_of(&mut game, "a6e6");
    assert_eq!((code.as_deref(), game.hash()), (Some("king_safety"), before));
    assert_eq!(game.result(), None);
}

/// The note that closes a turn is what the list of requests says: no request and no check is stalemate.
#[test]
fn a_turn_that_leaves_no_request_is_noted_as_stalemate() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load::<&str>("ability-chess", &[]).expect("it loads");
    let fen = "4r2k/8/3pp3/3P4/8/3r1r2/8/1n2K3 b - - 0 1 umbral-step=-,e8:true";
    let mut game = rules.start(Some(fen)).expect("a position");
    let record = game.play_text("b1c3").expect("a leap");
    assert_eq!(record.notes().last().map(|it| &**it), Some("stalemate"));
    assert!(game.listing().is_empty());
    assert_eq!(game.result().map(|it| it.reason.clone()).as_deref(), Some("stalemate"));
}

/// A piece in hand that can be dropped is a request, too.
#[test]
fn a_turn_that_leaves_a_drop_is_not_noted_as_stalemate() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load("ability-chess", &["crazyhouse"]).expect("it loads");
    for (hand, note) in [("[P]", "turn:white"), ("[]", "stalemate")] {
        let fen = format!("7k/8/8/8/8/8/4q3/7K{hand} b - - 0 1");
        let mut game = rules.start(Some(&fen)).expect("a position");
        let record = game.play_text("e2f2").expect("a move");
        assert_eq!(record.notes().last().map(|it| &**it), Some(note));
        assert_eq!(game.listing().is_empty(), note == "stalemate");
    }
}

/// The code by which a text is refused.
fn code_of(game: &mut Game, text: &str) -> Option<String> {
    let why = game.find_move(text).err()?;
    game.code_of(text, &why)
}

/// A draft under way, and a game in which a loss has taken turns back, are told whole by a FEN.
#[test]
fn drafts_and_rewound_games_come_back_from_a_fen() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load("ability-chess", &["loadout-draft"]).expect("it loads");
    let mut game = rules.start(None).expect("the start");
    for text in ["b1+tailwind", "b8+do-over", "b1~air", "b8+do-over", "done", "g8+stalwart"] {
        game.play_text(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        let fen = game.fen();
        let mut again = rules.start(Some(&fen)).unwrap_or_else(|why| panic!("{fen}: {why}"));
        assert_eq!((again.fen(), texts(&mut again)), (fen, texts(&mut game)), "{text}");
    }
    let rules = catalogue.load::<&str>("ability-chess", &[]).expect("it loads");
    let fen = "6k1/p7/8/8/8/8/8/RN5K w - - 0 1 do-over=-,a7:2 schrodingers-laugh=-,b1:true";
    let mut game = rules.start(Some(fen)).expect("a position");
    let mut rewound = 0;
    // Both captures of the pawn are taken back with the three requests before them, the third is not.
    let line = "b1c3 end g8h8 a1a7 b1c3 c3b5 end g8h8 a1a7 g8h8 a1a7";
    for text in line.split(' ') {
        let played = game.play_text(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        rewound += usize::from(played.rewound_to().is_some());
        let fen = game.fen();
        let mut again = rules.start(Some(&fen)).unwrap_or_else(|why| panic!("{fen}: {why}"));
        assert_eq!((again.fen(), texts(&mut again)), (fen, texts(&mut game)), "{text}");
    }
    assert_eq!(rewound, 2);
}

/// A FEN says what pieces have: presets that are activated on its position give what it leaves out, and no more.
#[test]
fn what_a_position_states_presets_do_not_change() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let load = |preset: &str| catalogue.load("chess", &[preset]).expect("it loads");
    for seed in 1..4 {
        let rules = load(&format!("loadout-drawn:both:seed={seed}"));
        let mut game = rules.start(None).expect("the start");
        game.play_text("g1f3").unwrap_or_else(|why| panic!("{seed}: {why}"));
        let fen = game.fen();
        let mut again = rules.start(Some(&fen)).unwrap_or_else(|why| panic!("{fen}: {why}"));
        assert_eq!((again.fen(), texts(&mut again)), (fen, texts(&mut game)));
    }
    for (preset, given, read) in [
        ("scorch:white", "", " scorch=true,e8:-"),
        ("scorch:white", " scorch=-,e2:true", " scorch=-,e2:true"),
        ("piece-hp", "", " hp=2"),
        ("piece-hp", " hp=-,e2:1", " hp=-,e2:1"),
    ] {
        let fen = format!("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1{given}");
        let found =
            load(preset).start(Some(&fen)).unwrap_or_else(|why| panic!("{fen}: {why}")).fen();
        assert!(found.ends_with(read), "{preset}, {fen}: {found}");
    }
}

/// A seed draws the same loadouts for both sides, the same ones each time; what a FEN gives twice, or what is not to
/// be had, is refused.
#[test]
fn loadouts_are_drawn_by_a_seed_and_clashes_are_refused() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let fen = |seed: u32| {
        let preset = format!("loadout-drawn:both:seed={seed},abilities=2");
        let rules = catalogue.load("ability-chess", &[preset.as_str()]).expect("it loads");
        rules.start(None).expect("the start").fen()
    };
    let first = fen(7);
    assert_eq!(first, fen(7));
    assert_ne!(first, fen(8));
    let mut told = 0;
    for field in first.split(' ').filter_map(|it| it.split_once("=-,")) {
        let squares: Vec<&str> = field.1.split(',').collect();
        for it in &squares {
            let (square, value) = it.split_once(':').expect("a square");
            let (file, rank) = square.split_at(1);
            let other = 9 - rank.parse::<u32>().expect("a rank");
            assert!(squares.contains(&&*format!("{file}{other}:{value}")), "{} {it}", field.0);
            told += 1;
        }
    }
    assert!(told > 20, "{told}: {first}");
    let rules = catalogue.load::<&str>("ability-chess", &[]).expect("it loads");
    let bare = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    for field in [
        "element=-,b1:air,b1:fire",
        "tailwind=-,b1:true,b1:true",
        "windy=-,b1:true",
        "element=-,b1:wood",
        "do-over=-,b1:many",
    ] {
        let why = rules.start(Some(&format!("{bare} {field}"))).map(|_| ()).expect_err(field);
        assert!(why.to_string().contains("expected"), "{field}: {why}");
    }
}

/// What a preset has drawn ends with it; what another preset gives the same pieces stays.
#[test]
fn drawn_loadouts_end_with_their_preset() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let presets = ["loadout-drawn:black:seed=3,turns=1", "scorch:black"];
    let rules = catalogue.load("chess", &presets).expect("it loads");
    let mut game = rules.start(None).expect("the start");
    let fields = |game: &mut Game| {
        let fen = game.fen();
        let named = fen.split(' ').filter_map(|it| it.split_once('=')).map(|it| it.0.to_owned());
        named.collect::<Vec<_>>()
    };
    game.play_text("e4").expect("legal");
    let drawn = game.fen();
    let given = fields(&mut game);
    assert!(
        ["drew", "element", "scorch"].iter().all(|it| given.iter().any(|has| has == it)),
        "{drawn}"
    );
    assert_eq!(rules.start(Some(&drawn)).expect("it is read").fen(), drawn);
    game.play_text("e5").expect("legal");
    assert_eq!(fields(&mut game), ["scorch"], "{}", game.fen());
    assert_eq!(game.fen().matches("true").count(), 16, "{}", game.fen());
    game.takeback().expect("an action");
    assert_eq!(game.fen(), drawn);
}

/// A piece that is dropped has drawn nothing, and draws nothing when its position is read.
#[test]
fn what_comes_after_the_draw_draws_nothing() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load("crazyhouse", &["loadout-drawn"]).expect("it loads");
    let bare = "4k3/8/8/8/8/8/8/4K3[R] w - - 0 1";
    let mut game = rules.start(Some(bare)).expect("it starts");
    game.play_text("R@f2").expect("legal");
    let fen = game.fen();
    assert!(fen.ends_with("drew=27,f2:-"), "{fen}");
    assert_eq!(rules.start(Some(&fen)).expect("it is read").fen(), fen);
}

/// A pawn alone does not capture a stalwart king, so it gives no check, whether kings may be left attacked or not.
#[test]
fn a_king_is_in_check_by_those_that_can_capture_it() {
    let catalogue = Catalogue::embedded().expect("our own metadata");
    for (presets, san) in
        [(&["stalwart"][..], "d2"), (&["stalwart", "piece-hp"], "d2"), (&["piece-hp"], "d2+")]
    {
        let rules = catalogue.load("chess", presets).unwrap_or_else(|it| panic!("{it}"));
        let mut game = rules.start(Some("4k3/8/8/8/8/3p4/8/4K3 b - - 0 1")).expect("it starts");
        assert_eq!(&*game.play_text("d2").expect("legal").san, san, "{presets:?}");
    }
}

/// So it may castle, but not over a square or to one that the same piece attacks.
#[test]
fn a_king_castles_out_of_attacks_that_cannot_capture_it() {
    for (presets, board, castles) in [
        (&["stalwart"][..], "4k3/8/8/8/8/6b1/8/R3K3", true),
        (&[], "4k3/8/8/8/8/6b1/8/R3K3", false),
        // Two of them are a check.
        (&["stalwart"], "4k3/8/8/b7/8/6b1/8/R3K3", false),
        (&["stalwart"], "4k3/8/8/6b1/8/8/8/R3K3", false),
    ] {
        let mut game = ability_game(presets, Some(&format!("{board} w Q - 0 1")));
        assert_eq!(game.play_text("e1c1").is_ok(), castles, "{presets:?}, {board}");
    }
}

/// Why a piece may go on, why a turn ended, why a piece was removed, why a capture is refused, what a budget is.
#[test]
fn questions_about_a_turn_are_answered() {
    let earth = "6k1/8/8/8/p7/8/8/R6K w - - 0 1 schrodingers-laugh=-,a1:true bastion=-,a1:true element=-,a1:earth";
    let double = "7k/8/2n1p3/3r4/8/8/8/3Q3K w - - 0 1 double-kill=-,d1:true";
    let stalwart = "6k1/8/8/3r4/8/2N5/8/7K w - - 0 1 stalwart=-,d5:true";
    let tailwind = "6k1/8/8/8/8/8/8/RN5K w - - 0 1 tailwind=-,b1:true temporal-lock=-,b1:true schrodingers-laugh=-,b1:true element=-,b1:air slow=0,white:1";
    let asked = [
        (earth, ["--turn", "a1a3"], "white keeps the turn after a1a3"),
        (earth, ["--turn", "a1a4"], "the turn passes after a1a4: the turn is ended by Bastion"),
        (
            double,
            ["--effects", "d1d5"],
            "an ability of the white queen on d1 strikes the black knight on c6",
        ),
        (
            stalwart,
            ["--why-not", "c3d5"],
            "the white knight on c3 does not go to d5: the piece there is stalwart",
        ),
        (
            tailwind,
            ["--fact", "budget(b1, 3)"],
            " = 2 (tailwind) - 1 (tailwind, temporal-lock) + 2 (schrodingers-laugh) = 3",
        ),
    ];
    for (fen, question, answer) in asked {
        let ran = rulemate(&[
            "explain",
            "--game",
            "ability-chess",
            "--fen",
            fen,
            question[0],
            question[1],
        ]);
        assert!(ran.out.contains(answer), "{question:?}: {}{}", ran.out, ran.err);
    }
}

/// A game of ability chess with some presets.
fn ability_game(presets: &[&str], fen: Option<&str>) -> Game {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load("ability-chess", presets).expect("it loads");
    rules.start(fen).unwrap_or_else(|why| panic!("{fen:?}: {why}"))
}

/// Where special moves finish a turn, a side step leaves a quantum step and the end, and the other way round.
#[test]
fn only_the_other_special_move_follows_one_where_they_finish_a_turn() {
    let fen = "6k1/8/8/8/3R4/8/8/7K w - - 0 1 schrodingers-laugh=-,d4:true side-step=-,d4:true \
               quantum-step=-,d4:true flood-wake=-,d4:true blaze-rush=-,d4:true element=-,d4:water";
    for (first, other) in [("ss:", "qs:"), ("qs:", "ss:")] {
        for strict in [false, true] {
            let preset = format!("ability-readings:special_moves_finish={strict}");
            let mut game = ability_game(&[&preset], Some(fen));
            game.play_text("d4d5").expect("a segment");
            game.play_text(&format!("{first}d5e5")).expect("a special move");
            for text in ["e5e7", "push:e5e6", "?e5e7"] {
                let code = code_of(&mut game, text);
                assert_eq!(code.as_deref(), strict.then_some("illegal"), "{first} {text}");
            }
            let kinds: std::collections::BTreeSet<String> =
                texts(&mut game).iter().map(|it| it[..it.len().min(3)].to_owned()).collect();
            assert_eq!(kinds.iter().eq(["end", other].iter()), strict, "{kinds:?}");
            game.play_text(&format!("{other}e5e6")).expect("the other special move");
        }
    }
}

/// A facing allows nothing that another preset forbids, and a king that turns only after the segment is guarded by the
/// facing that it has as it arrives.
#[test]
fn facings_allow_no_more_and_no_less() {
    let of = |game: &mut Game, from: &str| -> Vec<String> {
        texts(game).into_iter().filter(|it| it.starts_with(from)).collect()
    };
    let fen = "4k3/8/8/n7/8/8/8/R3K3 w - - 0 1 block-piece=-,a1:true";
    let mut game = ability_game(&["knight-immunity"], Some(fen));
    assert_eq!((of(&mut game, "a1a4").len(), of(&mut game, "a1a5")), (8, Vec::new()));
    assert_eq!(of(&mut ability_game(&[], Some(fen)), "a1a5").len(), 8);
    let late = "ability-readings:both:facing_set=after-first-segment,shield_lifetime=forever";
    for (facing, ways) in [("n", 8), ("s", 0)] {
        let fen =
            format!("3r3k/8/8/8/8/8/8/4K3 w - - 0 1 block-piece=-,e1:true facing=-,e1:{facing}");
        let mut game = ability_game(&[late], Some(&fen));
        assert_eq!(of(&mut game, "e1d1").len(), ways, "{facing}");
        assert_eq!(
            of(&mut ability_game(&[], Some(&fen)), "e1d1"),
            ["e1d1/n", "e1d1/ne", "e1d1/nw"]
        );
    }
}

/// Refusals have the codes of the specification, in its order: the safety of the king before a shield, also where a
/// facing is named and where a pawn is captured in passing; a facing that means nothing is not looked at.
#[test]
fn refusals_are_told_by_code_in_their_order() {
    let pinned = "r5k1/8/8/8/8/R2r4/8/K7 w - - 0 1 block-piece=-,d3:true,a3:true facing=-,d3:w";
    let bare = "r5k1/8/8/8/8/R2r4/8/K7 w - - 0 1 block-piece=-,a3:true";
    let open = "6k1/8/8/8/8/R2r4/8/K7 w - - 0 1 block-piece=-,d3:true,a3:true facing=-,d3:w";
    let passing = "8/8/8/K2pP2r/8/8/8/6k1 w - d6 0 1 block-piece=-,d5:true facing=-,d5:e";
    let guarded = "8/8/8/K2pP3/8/8/8/6k1 w - d6 0 1 block-piece=-,d5:true facing=-,d5:e";
    let facing = "8/8/8/K2pP2r/8/8/8/6k1 w - d6 0 1 block-piece=-,e5:true";
    let plain = "6k1/8/8/8/8/p7/8/RN5K w - - 0 1 side-step=-,a1:true quantum-step=-,b1:true";
    let pinned_plain = "r5k1/8/8/8/8/R7/8/K7 w - - 0 1";
    let castling = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1 block-piece=-,e1:true";
    let drafting = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let asked: [(&[&str], &str, &str, Option<&str>); 21] = [
        (&[], pinned, "a3d3/n", Some("king_safety")),
        (&[], bare, "a3d3/n", Some("king_safety")),
        (&[], open, "a3d3/n", Some("shield")),
        (&[], open, "a3d3", Some("direction_required")),
        (&[], passing, "e5d6", Some("king_safety")),
        (&[], guarded, "e5d6", Some("shield")),
        (&[], facing, "e5d6/n", Some("king_safety")),
        (&[], facing, "?e5d6/n", Some("king_safety")),
        (&[], plain, "a1a2/n", None),
        (&[], plain, "?a1a2/n", None),
        (&[], plain, "a1a4/n", Some("illegal")),
        (&[], pinned_plain, "a3b3/n", Some("king_safety")),
        (&[], plain, "?a1b1", Some("friendly")),
        (&[], plain, "?b1a1", Some("friendly")),
        (&["loadout-draft"], drafting, "b1c3", Some("not_begun")),
        (&["loadout-draft"], drafting, "?b1c3", Some("not_begun")),
        (&[], plain, "c4c5", Some("no_piece")),
        (&[], plain, "zz:a1a2", Some("illegal")),
        (&[], plain, "a1a9", Some("illegal")),
        (&[], plain, "end", Some("no_turn")),
        (&[], castling, "e1h1", Some("illegal")),
    ];
    for (presets, fen, text, code) in asked {
        let mut game = ability_game(presets, Some(fen));
        let before = game.hash();
        let found = game.find_move(text).err();
        let told = found.as_ref().and_then(|why| game.code_of(text, why));
        assert_eq!(told.as_deref(), code, "{text} {fen} {found:?}");
        assert_eq!((found.is_none(), game.hash()), (code.is_none(), before), "{text} {fen}");
        if code.is_some() {
            assert_eq!(game.why_move(text).ok().and_then(|it| it.code).as_deref(), code, "{text}");
        }
    }
}

/// After the end every request is refused because of it, also where that had to be seen.
#[test]
fn what_is_asked_for_after_mate_is_refused_as_over() {
    let fen = "7k/4Q3/6K1/8/8/8/8/8 w - - 0 1";
    let mut game = ability_game(&[], Some(fen));
    game.play_text("e7g7").expect("mate");
    let answer = game.why_move("h8g7").expect("an answer");
    assert_eq!(answer.code.as_deref(), Some("game_over"));
    assert!(answer.summary.contains("the game is over"), "{}", answer.summary);
    let why = game.play_text("h8g7").map(|_| ()).expect_err("it is over");
    assert_eq!(game.code_of("h8g7", &why).as_deref(), Some("game_over"));
}

/// Positions within a turn are not the one that it began with, nor are two that differ in tokens, facings, copies or
/// in which of two pieces has an ability.
#[test]
fn what_a_turn_has_had_tells_positions_apart() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load("chess", &["schrodingers-laugh:white"]).expect("it loads");
    let mut game = rules.start(None).expect("the start");
    for text in "b1c3 c3b1 end g8f6 b1c3 c3b1 end f6g8".split(' ') {
        game.play_text(text).unwrap_or_else(|why| panic!("{text}: {why}"));
    }
    // The start came twice: now, and before the first move.
    let claims = |game: &mut Game| game.claim_draw(None).is_ok();
    assert!(!claims(&mut game.clone()));
    for text in "b1c3 c3b1 end g8f6 b1c3 c3b1 end".split(' ') {
        game.play_text(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert!(!claims(&mut game.clone()), "{text}");
    }
    game.play_text("f6g8").expect("the knight goes home");
    assert!(claims(&mut game));
    let keys = |fields: [&str; 2]| {
        let key = |field: &str| {
            let fen = format!("6k1/8/8/8/8/8/8/RR5K w - - 0 1 {field}");
            position_key(ability_game(&[], Some(&fen)).world_mut())
        };
        fields.map(key)
    };
    for fields in [
        ["slow=0,white:1", "slow=0"],
        ["do-over=-,a1:2", "do-over=-,a1:1"],
        ["block-piece=-,a1:true facing=-,a1:n", "block-piece=-,a1:true facing=-,a1:e"],
        ["tailwind=-,a1:true", "tailwind=-,b1:true"],
        ["element=-,a1:air", "element=-,b1:air"],
    ] {
        let [one, other] = keys(fields);
        assert_ne!(one, other, "{fields:?}");
    }
}

/// Nothing is drawn but by stalemate, unless an option says so: by repetition, and by what cannot mate and has no
/// ability.
#[test]
fn draws_are_an_option() {
    let shuffle = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8";
    for (presets, claims) in [
        (&[][..], false),
        (&["ability-draws"], true),
        (&["ability-draws:both:repetition=false"], false),
    ] {
        let mut game = ability_game(presets, None);
        for text in shuffle.split(' ') {
            game.play_text(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        }
        assert_eq!(game.claim_draw(None).is_ok(), claims, "{presets:?}");
    }
    let bare = "7k/8/8/8/8/8/8/1B5K w - - 0 1";
    for (presets, fen, reason) in [
        (&[][..], bare.to_owned(), None),
        (&["ability-draws"], bare.to_owned(), Some("insufficient_material")),
        (&["ability-draws"], format!("{bare} tailwind=-,b1:true"), None),
        (&["ability-draws:both:material=false"], bare.to_owned(), None),
    ] {
        let game = ability_game(presets, Some(&fen));
        assert_eq!(game.result().map(|it| &*it.reason), reason, "{presets:?} {fen}");
    }
}

/// A rewind goes back to the first move at most: what was drafted before it stays.
#[test]
fn a_rewind_does_not_reach_into_the_draft() {
    let mut game = ability_game(&["loadout-draft"], None);
    let draft = "b1+tailwind a7+do-over b1~air a7+do-over c1+tailwind a7+do-over done done";
    for text in draft.split(' ') {
        game.play_text(text).unwrap_or_else(|why| panic!("{text}: {why}"));
    }
    let (drafted, fen) = (texts(&mut game), game.fen());
    assert!(fen.contains("do-over=-,a7:3"), "{fen}");
    // Three copies ask for four turns: all there are go back, the one under way and the two before it.
    for text in ["g1f3", "g8f6", "b1c3", "c3b5", "b5a7"] {
        game.play_text(text).unwrap_or_else(|why| panic!("{text}: {why}"));
    }
    let notes = game.history().last().map(|it| it.notes().to_vec()).expect("a record");
    assert_eq!(notes.iter().map(|it| &**it).collect::<Vec<_>>(), ["do_over:3"]);
    assert_eq!(game.fen(), fen.replace("a7:3", "a7:2"));
    assert_eq!(texts(&mut game), drafted);
    assert_eq!(code_of(&mut game, "b1+scorch").as_deref(), Some("no_draft"));
}

/// What no position has is refused with its reason: in a FEN, in a file of facts, as an option.
#[test]
fn loadouts_that_cannot_be_are_refused_with_their_reason() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load::<&str>("ability-chess", &[]).expect("it loads");
    let bare = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    for (field, reason) in [
        ("do-over=-,b1:-1", "less than no copy of Do-Over"),
        ("tailwind=-,e4:true", "expected a square that a piece stands on"),
        ("slow=0,white:7", "slowed by fewer than 0 steps, or by more than 2"),
        ("steps=2", "no piece has begun the turn"),
        ("acting=false,b1:true steps=-2", "less than no step is left"),
        ("acting=false,b1:true,c1:true", "two pieces are that of the turn"),
    ] {
        let why = rules.start(Some(&format!("{bare} {field}"))).map(|_| ()).expect_err(field);
        assert!(why.to_string().contains(reason), "{field}: {why}");
    }
    // In a file of facts, an ability of entity 0 belongs to something that is not a piece.
    let facts = rules.start(None).expect("the start").to_json();
    let mut facts: serde_json::Value = serde_json::from_str(&facts).expect("JSON");
    let rows = facts["facts"].as_array_mut().expect("facts");
    rows.push(serde_json::json!({ "entity": 0, "attribute": "tailwind", "value": true }));
    let why = rules.resume_text(&facts.to_string()).map(|_| ()).expect_err("of no piece");
    assert!(why.to_string().contains("belongs to something that is not a piece"), "{why}");
    for option in [
        "ability-readings:both:bishop_rank=7",
        "ability-readings:both:pivot_surcharge=5",
        "loadout-drawn:both:seed=99999999999",
        "loadout-drawn:both:abilities=9",
    ] {
        let why = catalogue.load("ability-chess", &[option]).map(|_| ()).expect_err(option);
        assert!(why.to_string().contains("a number from"), "{option}: {why}");
    }
}

/// What is played out is told with the stage of each reaction and with what it read, as text and as JSON.
#[test]
fn effects_are_told_with_their_stages_and_what_was_read() {
    let fen = "7k/8/2n1p3/3r4/8/8/8/3Q3K w - - 0 1 double-kill=-,d1:true";
    let ask = |more: &[&str]| {
        let mut args = vec!["explain", "--game", "ability-chess", "--fen", fen];
        args.extend(more);
        rulemate(&args).out
    };
    for told in [
        ask(&["--effects", "d1d5"]),
        ask(&["--turn", "d1d5"]),
        ask(&["--effects", "d1d5", "--json"]),
    ] {
        for stage in ["QueryPathingFlags", "ComputeStepBudget", "QueryMoves", "QueryCapture"] {
            assert!(told.contains(&format!(", in On{stage}")), "{stage}: {told}");
        }
        assert!(told.contains("as the white queen on d1 has 1 step in a turn"), "{told}");
    }
}
