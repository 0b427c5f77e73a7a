//! What ability chess is held to over many random positions: lists against requests, rules against playing out, both
//! evaluators against each other, and chess where nothing has an ability. Short by default, long where all is tried.

use std::collections::HashSet;

use rulemate::internals::audit;
use rulemate::internals::derive::World;
use rulemate::internals::facts::EntityId;
use rulemate::internals::game::{Game, position_key};
use rulemate::internals::moves::{
    Contract, LegalityMode, Move, argument_variants, is_played_out, legal_moves, legal_moves_by,
    pseudo_moves,
};
use rulemate::internals::presets::Catalogue;
use rulemate::internals::presets::save::{Content, Form, RulesFrom, Save};

use crate::fixture::{is_full, texts};
use crate::random_rules::Choices;

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
                        let code = game.code_of(&text, &why);
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
        if (seed + 1) % 50 == 0 {
            println!("{} loadouts, {taken} requests taken, {refused} refused", seed + 1);
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

/// Without abilities it is chess: as many sequences of requests, where each piece that a pawn becomes counts.
#[test]
#[expect(clippy::print_stdout, reason = "figures of a long run")]
fn without_abilities_it_is_chess() {
    let bound = if is_full() { 5_000_000 } else { 300 };
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
        assert_eq!(sequences(game, depth), nodes, "{} {line}", game.fen());
        counted += nodes;
        println!("{counted} sequences counted: 0 differences");
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
            assert_eq!(sequences(&mut start(&row), depth), nodes, "{row}");
            (rows, counted) = (rows + 1, counted + nodes);
            println!("{counted} sequences counted in {rows} rows of vectors: 0 differences");
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

/// The number of sequences of requests, where those count apart that differ in what a pawn becomes.
fn sequences(game: &mut Game, depth: u64) -> u64 {
    let contract = game.contract().clone();
    leaves(game.world_mut(), &contract, depth)
}

fn leaves(world: &mut World, contract: &Contract, depth: u64) -> u64 {
    let program = world.program().clone();
    let mut count = 0;
    for mv in legal_moves(world, contract) {
        // For other pieces, and on other ranks, it makes no difference what is given.
        let rank = mv.arg(&program, "to").map(|it| it / 8);
        let ways = match matches!(rank, Some(0 | 7)) && may_be_crowned(world, &mv) {
            true => argument_variants(world, &mv),
            false if depth == 1 => {
                count += 1;
                continue;
            }
            false => vec![mv],
        };
        let mut seen = HashSet::new();
        for way in ways {
            let mark = world.mark();
            world.fire(way.action, &way.args).unwrap_or_else(|it| panic!("{it}"));
            if seen.insert(position_key(world)) {
                count += if depth == 1 { 1 } else { leaves(world, contract, depth - 1) };
            }
            world.rollback(mark);
        }
    }
    count
}

/// Whether what moves is a pawn; any move whose piece is not told may be one.
fn may_be_crowned(world: &World, mv: &Move) -> bool {
    let program = world.program();
    let told = || {
        let piece = u32::try_from(mv.arg(program, "piece")?).ok()?;
        let kind =
            world.facts().get_raw(EntityId(piece), program.schema.attribute_named("kind")?)?;
        let kinds = program.schema.domain(program.schema.domain_named("Kind")?);
        Some(kinds.member_name(kind) == "pawn")
    };
    told().unwrap_or(true)
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
    let (mut decided, mut all) = (0, 0);
    while seen < positions {
        seed += 1;
        let mut chance = Choices(seed);
        let fen = random_fen(&mut chance);
        let mut game = rules.start(Some(&fen)).unwrap_or_else(|why| panic!("{fen}: {why}"));
        for _ in 0..12 {
            let listed = game.listing();
            seen += 1;
            if seen % 5_000 == 0 {
                println!("{seen} positions, {mates} mates and stalemates: 0 differences");
            }
            if listed.is_empty() {
                break;
            }
            let contract = game.contract().clone();
            let world = game.world_mut();
            let requests = pseudo_moves(world);
            let by_rules = requests.iter().filter(|it| !is_played_out(world, &contract, it));
            decided += by_rules.count();
            all += requests.len();
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
    println!(
        "{seen} positions, {mates} mates and stalemates; {decided} of {all} requests by rules"
    );
    assert!(decided * 4 > all, "{decided} of {all}");
}
