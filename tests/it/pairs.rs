//! Presets in pairs: every two that go together load, and are played at random.
//!
//! After each half-move every relation has the rows that datafrog derives from scratch, and taking the
//! moves back restores the hash. Each pair is played with one pair of scopes, drawn by its number;
//! `RULEMATE_FULL=1` plays all nine, and four times as long.

use rulemate::game::Game;
use rulemate::presets::{Catalogue, LoadError};

use crate::agreement::Referee;
use crate::random_rules::Choices;

const SCOPES: [&str; 3] = ["white", "black", "both"];

/// Pairs with an odd number start from here, where everything meets; the others from the start.
const BUSY: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

fn play(pair: &[String], seed: u64, plies: u32) -> Option<Result<u32, String>> {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = match catalogue.load("chess", &with_required(&catalogue, pair)) {
        Ok(rules) => rules,
        Err(LoadError::Set(_)) => return None,
        Err(other) => return Some(Err(other.to_string())),
    };
    let mut game = match rules.start((seed % 2 == 1).then_some(BUSY)) {
        Ok(game) => game,
        Err(why) => return Some(Err(why.to_string())),
    };
    let referee = Referee::of(rules.program());
    let mut choices = Choices(seed);
    Some(walk(&mut game, &referee, &mut choices, plies))
}

/// The pair, after what it requires of presets that are not in it.
fn with_required(catalogue: &Catalogue, pair: &[String]) -> Vec<String> {
    let is = |text: &String, name: &str| text.split(':').next() == Some(name);
    let mut all: Vec<String> = Vec::new();
    for preset in catalogue.presets().iter().filter(|it| pair.iter().any(|by| is(by, &it.preset))) {
        for required in &preset.requires {
            if !pair.iter().chain(&all).any(|it| is(it, required)) {
                all.push(required.clone());
            }
        }
    }
    all.extend_from_slice(pair);
    all
}

fn walk(
    game: &mut Game,
    referee: &Referee,
    choices: &mut Choices,
    plies: u32,
) -> Result<u32, String> {
    let mut hashes = vec![game.hash()];
    for _ in 0..plies {
        if game.result().is_some() {
            break;
        }
        let moves = game.legal_moves();
        if moves.is_empty() {
            return Err(format!("no move and no result at {}", game.fen()));
        }
        let mv = &moves[choices.below(moves.len())];
        let played = game.play(mv).map(|_| ()).map_err(|it| it.to_string());
        played.map_err(|it| format!("{}: {it}", game.fen()))?;
        hashes.push(game.hash());
        let expected = referee.rows(game.world_mut());
        if let Some(difference) = referee.difference(game.world_mut(), &expected, choices) {
            return Err(format!("{}: {difference}", game.fen()));
        }
    }
    let played = hashes.len() as u32 - 1;
    while let Some(hash) = hashes.pop() {
        if game.hash() != hash {
            return Err(format!("taking back changes facts at {}", game.fen()));
        }
        if !hashes.is_empty() {
            game.takeback();
        }
    }
    Ok(played)
}

#[test]
fn pairs_of_presets_are_playable() {
    let full = std::env::var_os("RULEMATE_FULL").is_some();
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let names: Vec<&str> = catalogue.presets().iter().map(|it| it.preset.as_str()).collect();
    let (mut seed, mut played, mut refused) = (0, 0, 0);
    let mut faults = Vec::new();
    for (at, one) in names.iter().enumerate() {
        for other in &names[at + 1..] {
            seed += 1;
            let drawn = Choices(seed).below(9);
            for pair in (0..9).filter(|it| full || *it == drawn) {
                let pair = [
                    format!("{one}:{}", SCOPES[pair / 3]),
                    format!("{other}:{}", SCOPES[pair % 3]),
                ];
                match play(&pair, seed, if full { 40 } else { 10 }) {
                    None => refused += 1,
                    Some(Ok(_)) => played += 1,
                    Some(Err(why)) => faults.push(format!("{} {}: {why}", pair[0], pair[1])),
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(played > refused * 10, "{played} pairs played, {refused} refused");
}
