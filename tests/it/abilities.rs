//! Ability chess: vectors of scenarios, random games and lists; abilities as presets of chess.

use rulemate::audit::{self, Referee};
use rulemate::game::PlayError;
use rulemate::moves::{LegalityMode, Move, legal_moves_by};
use rulemate::presets::Catalogue;
use rulemate::presets::save::{Content, Form, RulesFrom, Save};

use crate::cli::rulemate;
use crate::random_rules::Choices;

const FOLDER: &str = "tests/data/vectors/abilities";

/// Scenarios, random games, lists of requests and counts of their sequences, of the model of the rules.
#[test]
fn vectors_pass() {
    let full = std::env::var_os("RULEMATE_FULL").is_some();
    let long = full.then_some(("legal-long", 1));
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
    let pieces = ["K", "k"].into_iter().chain((0..4 + chance.below(10)).map(|_| ""));
    for piece in pieces.collect::<Vec<_>>() {
        let (file, rank) = (chance.below(8), chance.below(8));
        let letter = if piece.is_empty() {
            chance.pick(&["Q", "R", "B", "N", "P", "q", "r", "b", "n", "p"])
        } else {
            piece
        };
        if board[rank][file].is_none() {
            board[rank][file] = Some(letter);
            squares.push(format!("{}{}", char::from(b'a' + file as u8), rank + 1));
        }
    }
    let rank = |cells: &[Option<&str>; 8]| -> String {
        let cells: String = cells.iter().map(|it| it.unwrap_or("1")).collect();
        // The longest runs first.
        (2..=8).rev().fold(cells, |text, run| text.replace(&"1".repeat(run), &run.to_string()))
    };
    let ranks: Vec<String> = board.iter().rev().map(rank).collect();
    let turn = chance.pick(&["w", "b"]);
    let mut fields = vec![ranks.join("/"), turn.into(), "- - 0 1".into()];
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

/// Whatever is listed is taken; whatever else is asked for is refused by a name and changes nothing; both evaluators
/// and the checker of proofs agree on all of it, and games come back from their saves and FENs.
#[test]
fn what_is_listed_is_taken_and_all_else_is_refused_with_a_code() {
    let games = if std::env::var_os("RULEMATE_FULL").is_some() { 1000 } else { 6 };
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load::<&str>("ability-chess", &[]).expect("it loads");
    let (mut taken, mut refused, mut rewound) = (0, 0, 0);
    for seed in 0..games {
        let mut chance = Choices(seed);
        let fen = random_fen(&mut chance);
        let Ok(mut game) = rules.start(Some(&fen)) else { panic!("{fen}") };
        let mut referee = Referee::new(&game);
        for _ in 0..if games > 6 { 40 } else { 8 } {
            let listed = game.listing();
            if listed.is_empty() {
                break;
            }
            let contract = game.contract().clone();
            let simulated = legal_moves_by(game.world_mut(), &contract, LegalityMode::Simulate);
            let mut moves: Vec<_> = listed.iter().map(|it| it.1.clone()).collect();
            moves.sort();
            let mut sorted = simulated;
            sorted.sort();
            assert_eq!(moves, sorted, "seed {seed}: {}", game.fen());
            for _ in 0..30 {
                let text = random_request(&mut chance);
                let before = game.hash();
                match game.find_move(&text) {
                    Ok(mv) => {
                        let is_it =
                            |it: &Move| it.action == mv.action && mv.args.starts_with(&it.args);
                        assert!(moves.iter().any(is_it), "seed {seed}: {text} {}", game.fen());
                    }
                    Err(why) => {
                        let PlayError::Text(why) = why else {
                            panic!("seed {seed}: {text}: {why}")
                        };
                        let coded = why.candidates().to_vec().iter().any(|mv| {
                            let played = game.play(mv).map(|_| ());
                            matches!(played, Err(PlayError::Illegal(it)) if it.objection.is_some())
                        });
                        assert!(
                            coded || why.candidates().is_empty(),
                            "seed {seed}: {text}: {why} {}",
                            game.fen()
                        );
                        refused += 1;
                    }
                }
                assert_eq!(game.hash(), before, "seed {seed}: {text}");
            }
            let (text, mv) = listed[chance.below(listed.len())].clone();
            let at = game.fen();
            referee.take(&mv);
            let record =
                game.play(&mv).unwrap_or_else(|why| panic!("seed {seed}: {text}: {why} {at}"));
            rewound += usize::from(record.rewound_to().is_some());
            taken += 1;
            let rows = referee.follow(&game).and_then(|()| referee.compare(&mut game));
            rows.unwrap_or_else(|it| panic!("seed {seed}: {text}: {} {at}", it.what));
        }
        let fen = game.fen();
        let again = rules.start(Some(&fen)).map(|mut it| it.fen());
        assert_eq!(again.ok().as_deref(), Some(&*fen), "seed {seed}");
        let save = Save::of(&game, &rules, Content::default()).expect("a save");
        let bytes = save.write(Form::Json);
        audit::save(&bytes, "", &catalogue, RulesFrom::Here, &mut |_| {})
            .unwrap_or_else(|it| panic!("seed {seed}: {it}"));
    }
    assert!(taken > 20 && refused > 100, "{taken} {refused} {rewound}");
}
