//! Ability chess: vectors of scenarios, random games and lists; abilities as presets of chess.

use rulemate::audit;
use rulemate::moves::{LegalityMode, Move, decided_by_rules, legal_moves_by};
use rulemate::presets::Catalogue;
use rulemate::presets::save::{Content, Form, RulesFrom, Save};

use crate::cli::rulemate;
use crate::fixture::{is_full, texts};
use crate::random_rules::Choices;

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

/// The abilities, as fields of a FEN.
const ABILITIES: [&str; 25] = [
    "bastion",
    "belligerent",
    "blaze-rush",
    "block-piece",
    "chain-kill",
    "do-over",
    "double-kill",
    "flood-wake",
    "gale-lift",
    "indomitable",
    "mist-shroud",
    "overload",
    "poisonous-meat",
    "quantum-kill",
    "quantum-step",
    "radiant-vision",
    "resurrection",
    "scatter-shot",
    "schrodingers-laugh",
    "scorch",
    "side-step",
    "stalwart",
    "tailwind",
    "temporal-lock",
    "umbral-step",
];
const ELEMENTS: [&str; 7] = ["light", "shadow", "fire", "water", "earth", "air", "lightning"];

/// A position with pieces and loadouts at random, as a FEN.
fn random_fen(chance: &mut Choices) -> String {
    let mut board = [[None; 8]; 8];
    let mut squares = Vec::new();
    let mut put = |letter: &'static str, file: usize, rank: usize| {
        if board[rank][file].is_none() {
            board[rank][file] = Some(letter);
            squares.push(format!("{}{}", char::from(b'a' + file as u8), rank + 1));
        }
    };
    let may_castle = chance.one_in(4);
    if may_castle {
        for (letter, file, rank) in [("K", 4, 0), ("R", 0, 0), ("R", 7, 0)] {
            put(letter, file, rank);
        }
        for (letter, file, rank) in [("k", 4, 7), ("r", 0, 7), ("r", 7, 7)] {
            put(letter, file, rank);
        }
    } else {
        put("K", chance.below(8), chance.below(8));
        put("k", chance.below(8), chance.below(8));
    }
    for _ in 0..4 + chance.below(10) {
        let (file, rank) = (chance.below(8), chance.below(8));
        put(chance.pick(&["Q", "R", "B", "N", "P", "q", "r", "b", "n", "p"]), file, rank);
    }
    let rank = |cells: &[Option<&str>; 8]| -> String {
        let cells: String = cells.iter().map(|it| it.unwrap_or("1")).collect();
        // The longest runs first.
        (2..=8).rev().fold(cells, |text, run| text.replace(&"1".repeat(run), &run.to_string()))
    };
    let ranks: Vec<String> = board.iter().rev().map(rank).collect();
    let turn = chance.pick(&["w", "b"]);
    let rights = if may_castle { "KQkq" } else { "-" };
    let mut fields = vec![ranks.join("/"), turn.into(), format!("{rights} - 0 1")];
    let mut field = |name: &str, odds: usize, value: &mut dyn FnMut(&mut Choices) -> String| {
        let mut told = Vec::new();
        for square in &squares {
            if chance.one_in(odds) {
                told.push(format!("{square}:{}", value(chance)));
            }
        }
        if !told.is_empty() {
            fields.push(format!("{name}=-,{}", told.join(",")));
        }
    };
    for ability in ABILITIES {
        field(ability, 4, &mut |chance| match ability {
            "do-over" => (1 + chance.below(3)).to_string(),
            _ => "true".into(),
        });
    }
    field("element", 2, &mut |chance| chance.pick(&ELEMENTS).to_owned());
    // What a side has as a whole, which counts for what its pieces slide through.
    for side in ["white", "black"] {
        if chance.one_in(3) {
            let ability = chance.pick(&["gale-lift", "umbral-step", "flood-wake", "bastion"]);
            let told = format!("side-{ability}=-,{side}:true");
            if !fields.iter().any(|it| it.starts_with(&format!("side-{ability}="))) {
                fields.push(told);
            }
        }
        if chance.one_in(4) && !fields.iter().any(|it| it.starts_with("side-element=")) {
            fields.push(format!("side-element=-,{side}:{}", chance.pick(&ELEMENTS)));
        }
    }
    fields.join(" ")
}

/// A request at random, of whatever piece.
fn random_request(chance: &mut Choices) -> String {
    let square = |chance: &mut Choices| {
        format!("{}{}", char::from(b'a' + chance.below(8) as u8), 1 + chance.below(8))
    };
    let (from, to) = (square(chance), square(chance));
    let kind = chance.pick(&["", "", "?", "push:", "dash:", "ss:", "qs:"]);
    let facing = if chance.one_in(4) { "/ne" } else { "" };
    if chance.one_in(20) { "end".into() } else { format!("{kind}{from}{to}{facing}") }
}

/// A listed request is taken, and now and then each of the list; whatever else is asked for is refused by a name and
/// changes nothing.
#[test]
#[expect(clippy::print_stdout, reason = "figures of a long run")]
fn what_is_listed_is_taken_and_all_else_is_refused_with_a_code() {
    let (games, requests) = if is_full() { (1000, 40) } else { (40, 8) };
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load::<&str>("ability-chess", &[]).expect("it loads");
    let (mut taken, mut refused, mut rewound, mut castled) = (0, 0, 0, 0);
    for seed in 0..games {
        let mut chance = Choices(seed);
        let fen = random_fen(&mut chance);
        let Ok(mut game) = rules.start(Some(&fen)) else { panic!("{fen}") };
        for _ in 0..requests {
            let listed = game.listing();
            let at = game.fen();
            let looked_at = if chance.one_in(16) { &listed[..] } else { &[] };
            for (text, mv) in looked_at {
                let record =
                    game.play(mv).unwrap_or_else(|why| panic!("seed {seed}: {text}: {why} {at}"));
                rewound += usize::from(record.rewound_to().is_some());
                castled += usize::from(record.notes().iter().any(|it| it.starts_with("castle")));
                taken += 1;
                game.takeback();
            }
            assert_eq!(game.fen(), at, "seed {seed}");
            for _ in 0..3 {
                let text = random_request(&mut chance);
                let before = game.hash();
                match game.find_move(&text) {
                    Ok(mv) => {
                        let is_it =
                            |it: &Move| it.action == mv.action && mv.args.starts_with(&it.args);
                        assert!(listed.iter().any(|it| is_it(&it.1)), "seed {seed}: {text} {at}");
                    }
                    Err(why) => {
                        let code = game.code_of(&why);
                        assert!(code.is_some(), "seed {seed}: {text}: {why} {at}");
                        refused += 1;
                    }
                }
                assert_eq!(game.hash(), before, "seed {seed}: {text}");
            }
            if listed.is_empty() {
                break;
            }
            let (text, mv) = &listed[chance.below(listed.len())];
            game.play(mv).unwrap_or_else(|why| panic!("seed {seed}: {text}: {why} {at}"));
            taken += 1;
        }
    }
    println!(
        "{taken} requests taken, {rewound} took turns back, {castled} castled; {refused} refused"
    );
    assert!(taken > 1000 && refused > 500, "{taken} {refused}");
    assert!(rewound > 0, "no request of {taken} took turns back");
}

/// Both evaluators and the checker of proofs agree after each request, and games come back from their saves and FENs.
#[test]
#[expect(clippy::print_stdout, reason = "figures of a long run")]
fn evaluators_agree_after_each_request() {
    let (games, requests) = if is_full() { (1000, 40) } else { (6, 8) };
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load::<&str>("ability-chess", &[]).expect("it loads");
    let (mut all, mut rewound) = (audit::Tally::default(), 0);
    for seed in 0..games {
        let mut chance = Choices(20_000 + seed);
        let fen = random_fen(&mut chance);
        let Ok(mut game) = rules.start(Some(&fen)) else { panic!("{fen}") };
        for _ in 0..requests {
            let listed = game.listing();
            if listed.is_empty() {
                break;
            }
            let (text, mv) = listed[chance.below(listed.len())].clone();
            let at = game.fen();
            let record =
                game.play(&mv).unwrap_or_else(|why| panic!("seed {seed}: {text}: {why} {at}"));
            rewound += usize::from(record.rewound_to().is_some());
            let fen = game.fen();
            let again = rules.start(Some(&fen)).map(|mut it| (it.fen(), texts(&mut it)));
            assert_eq!(again.ok(), Some((fen, texts(&mut game))), "seed {seed}: {text} {at}");
        }
        let save = Save::of(&game, &rules, Content::default()).expect("a save");
        let bytes = save.write(Form::Json);
        all += audit::save(&bytes, "", &catalogue, RulesFrom::Here, &mut |_| {})
            .unwrap_or_else(|it| panic!("seed {seed}: {it}"));
        if (seed + 1) % 50 == 0 || seed + 1 == games {
            let audit::Tally { plies, positions, rows, proofs, .. } = all;
            println!(
                "{} games, {plies} requests, {rewound} took turns back, {positions} positions, \
                 {rows} rows, {proofs} proofs: 0 differences",
                seed + 1
            );
        }
    }
    assert!(all.plies > 20, "{all:?}");
    assert!(rewound > 0 || games < 200, "no game of {games} was rewound");
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

/// The code by which a text is refused.
fn code_of(game: &mut rulemate::game::Game, text: &str) -> Option<String> {
    let why = game.find_move(text).err()?;
    game.code_of(&why)
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

/// Without abilities it is chess: as many sequences of requests, where each piece that a pawn becomes counts.
#[test]
fn without_abilities_it_is_chess() {
    let bound = if is_full() { 60_000 } else { 300 };
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load::<&str>("ability-chess", &[]).expect("it loads");
    let text = std::fs::read_to_string("tests/data/perft/tricky.perft").expect("the list");
    let (mut game, mut counted) = (None, 0);
    for line in text.lines() {
        if let Some(fen) = line.strip_prefix("epd ") {
            game = rules.start(Some(&format!("{fen} 0 1"))).ok();
        }
        let Some(row) = line.strip_prefix("perft ") else { continue };
        let numbers: Vec<u64> = row.split(' ').filter_map(|it| it.parse().ok()).collect();
        let [depth, nodes] = numbers[..] else { panic!("{line}") };
        let Some(game) = game.as_mut().filter(|_| nodes <= bound) else { continue };
        assert_eq!(leaves(game, depth), nodes, "{} {line}", game.fen());
        counted += nodes;
    }
    assert!(counted > 1000, "{counted}");
    // The public vectors of chess: counts, and lists of moves, where a promotion is listed once.
    let text = std::fs::read_to_string("tests/data/vectors/presets/chess.public.json");
    let vectors: serde_json::Value =
        serde_json::from_str(&text.expect("it is there")).expect("JSON");
    let all = |key: &str| vectors[key].as_array().expect("rows").clone();
    let text = |it: &serde_json::Value| it.as_str().expect("a text").to_owned();
    let start =
        |row: &serde_json::Value| rules.start(Some(&text(&row["fen"]))).expect("a position");
    let mut rows = 0;
    for row in all("perft") {
        let (depth, nodes) = (row["depth"].as_u64(), row["nodes"].as_u64());
        let (Some(depth), Some(nodes)) = (depth, nodes) else { panic!("{row}") };
        if nodes <= bound {
            assert_eq!(leaves(&mut start(&row), depth), nodes, "{row}");
            rows += 1;
        }
    }
    let lists = all("legal_moves");
    let every = if bound > 1000 { 1 } else { 10 };
    for row in lists.iter().step_by(every) {
        let mut game = start(row);
        let mut found = Vec::new();
        for listed in texts(&mut game) {
            // A promotion shows when it is played: it is noted, and read with any letter.
            let notes =
                game.play_text(&format!("{listed}n")).expect("it is listed").notes().to_vec();
            game.takeback();
            match notes.iter().any(|it| it.starts_with("promotion:")) {
                true => found.extend(["b", "n", "q", "r"].map(|it| format!("{listed}{it}"))),
                false => found.push(listed),
            }
        }
        let mut expected: Vec<String> =
            row["moves"].as_array().expect("moves").iter().map(text).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{row}");
        rows += 1;
    }
    assert!(rows > 15, "{rows}");
}

fn leaves(game: &mut rulemate::game::Game, depth: u64) -> u64 {
    if depth == 0 {
        return 1;
    }
    if game.result().is_some() {
        return 0;
    }
    let mut count = 0;
    for (text, _) in game.listing() {
        let promoted = format!("{text}n");
        game.play_text(&promoted).unwrap_or_else(|why| panic!("{promoted}: {why}"));
        let noted = game
            .history()
            .last()
            .is_some_and(|it| it.notes().iter().any(|it| it.starts_with("promotion:")));
        count += leaves(game, depth - 1);
        game.takeback();
        let others: &[&str] = if noted { &["q", "r", "b"] } else { &[] };
        for letter in others {
            game.play_text(&format!("{text}{letter}"))
                .unwrap_or_else(|why| panic!("{text}: {why}"));
            count += leaves(game, depth - 1);
            game.takeback();
        }
    }
    count
}

/// What rules decide of the safety of kings is what playing out shows; and the note that closes a turn is what the
/// list of requests is.
#[test]
#[expect(clippy::print_stdout, reason = "figures of a long run")]
fn safety_by_rules_is_safety_by_playing_out() {
    let positions = if is_full() { 100_000 } else { 60 };
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load::<&str>("ability-chess", &[]).expect("it loads");
    let (mut seen, mut seed, mut mates) = (0, 10_000, 0);
    let mut known = [0, 0];
    while seen < positions {
        seed += 1;
        let mut chance = Choices(seed);
        let fen = random_fen(&mut chance);
        let mut game = rules.start(Some(&fen)).unwrap_or_else(|why| panic!("{fen}: {why}"));
        for _ in 0..12 {
            let listed = game.listing();
            seen += 1;
            if listed.is_empty() {
                break;
            }
            let contract = game.contract().clone();
            let some = decided_by_rules(game.world_mut(), &contract);
            known = [known[0] + some[0], known[1] + some[1]];
            let mut simulated = legal_moves_by(game.world_mut(), &contract, LegalityMode::Simulate);
            let mut moves: Vec<_> = listed.iter().map(|it| it.1.clone()).collect();
            moves.sort();
            simulated.sort();
            assert_eq!(moves, simulated, "seed {seed}: {}", game.fen());
            let (text, mv) = listed[chance.below(listed.len())].clone();
            let record = game.play(&mv).unwrap_or_else(|why| panic!("seed {seed}: {text}: {why}"));
            let (notes, goes_on) = (record.notes().to_vec(), record.turn_goes_on);
            let is_rewound = record.rewound_to().is_some();
            if goes_on || is_rewound {
                continue;
            }
            let last = notes.last().map(|it| &**it).unwrap_or_default();
            let reason = game.result().map(|it| it.reason.clone());
            let is_closed = matches!(last, "checkmate" | "stalemate");
            mates += usize::from(is_closed);
            assert_eq!(is_closed.then(|| last.to_owned()), reason, "seed {seed}: {}", game.fen());
            assert_eq!(game.listing().is_empty(), is_closed, "seed {seed}: {}", game.fen());
        }
    }
    let [decided, all] = known;
    println!(
        "{seen} positions, {mates} mates and stalemates; {decided} of {all} requests by rules"
    );
    assert!(decided * 4 > all, "{decided} of {all}");
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
fn ability_game(presets: &[&str], fen: Option<&str>) -> rulemate::game::Game {
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
    let drafting = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let asked: [(&[&str], &str, &str, Option<&str>); 20] = [
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
    ];
    for (presets, fen, text, code) in asked {
        let mut game = ability_game(presets, Some(fen));
        let before = game.hash();
        let found = game.find_move(text).err();
        let told = found.as_ref().and_then(|why| game.code_of(why));
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
    assert_eq!(game.code_of(&why).as_deref(), Some("game_over"));
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
    let claims = |game: &mut rulemate::game::Game| game.claim_draw(None).is_ok();
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
            rulemate::game::position_key(ability_game(&[], Some(&fen)).world_mut())
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
        ("slow=0,white:7", "slowed by less than no step, or by more than two"),
        ("steps=2", "no piece has begun the turn"),
        ("acting=false,b1:true steps=-2", "less than no step is left"),
        ("acting=false,b1:true,c1:true", "two pieces are that of the turn"),
    ] {
        let why = rules.start(Some(&format!("{bare} {field}"))).map(|_| ()).expect_err(field);
        assert!(why.to_string().contains(reason), "{field}: {why}");
    }
    // In a file of facts, an ability of entity 0 belongs to what is no piece.
    let facts = rules.start(None).expect("the start").to_json();
    let mut facts: serde_json::Value = serde_json::from_str(&facts).expect("JSON");
    let rows = facts["facts"].as_array_mut().expect("facts");
    rows.push(serde_json::json!({ "entity": 0, "attribute": "tailwind", "value": true }));
    let why = rules.resume_text(&facts.to_string()).map(|_| ()).expect_err("of no piece");
    assert!(why.to_string().contains("belongs to what is no piece"), "{why}");
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
        assert!(told.contains("as the white queen on d1 has 1 steps in a turn"), "{told}");
    }
}
