//! The checker of proofs: every proof and every refutation that explain finds passes it, over random
//! positions of all games, and none does with one thing changed.
//!
//! `RULEMATE_FULL=1` looks at a thousand positions instead of one a game.

use rulemate::internals::derive::Rows;
use rulemate::internals::derive::explain::{Finding, Limits, Outcome, why, why_not};
use rulemate::internals::facts::Session;
use rulemate::internals::game::{Game, decide};
use rulemate::internals::moves::{is_over, is_played_out, legal_moves, pseudo_moves};
use rulemate::internals::presets::Catalogue;
use rulemate::internals::proof::{Checker, Fault, Report};
use rulemate::internals::rules::{Program, RelId, Role};
use serde_json::{Value, json};

use crate::fixture::is_full;
use crate::random_rules::Choices;

/// An explanation as the checker reads it.
#[derive(Debug, Clone, PartialEq)]
struct Said(Value);

impl Said {
    fn of(finding: &Finding) -> Self {
        Self(json!(finding))
    }

    fn check(&self, checker: &mut Checker) -> Result<Report, Option<Fault>> {
        let finding: Finding = serde_json::from_value(self.0.clone()).map_err(|_| None)?;
        // What is said of nothing says nothing.
        let empty = match &finding {
            Finding::Proved(all) => all.is_empty(),
            Finding::Refuted(all) => all.is_empty(),
            Finding::Tried(_) | Finding::Turned(_) => false,
            Finding::Unfounded => true,
        };
        if empty { Err(None) } else { checker.finding(&finding).map_err(Some) }
    }
}

/// Proves a row, or refutes a pattern.
fn explain(rows: &dyn Rows, rel: RelId, pattern: &[Option<i64>]) -> Said {
    let row: Option<Vec<i64>> = pattern.iter().copied().collect();
    if let Some(proof) = row.and_then(|it| why(rows, rel, &it)) {
        return Said::of(&Finding::Proved(vec![proof]));
    }
    Said::of(&match why_not(rows, rel, pattern) {
        Some(it) => Finding::Refuted(vec![it]),
        None => {
            let first = rulemate::internals::derive::collect(rows, rel, pattern).remove(0);
            Finding::Proved(vec![why(rows, rel, &first).expect("it holds")])
        }
    })
}

/// Every move of a position explained, be it legal or not.
fn moves_explained(name: &str, game: &mut Game) -> Vec<Said> {
    let contract = game.contract().clone();
    let world = game.world_mut();
    let legal = legal_moves(world, &contract);
    let mut moves = legal.clone();
    if !is_over(world, &contract) {
        moves.extend(pseudo_moves(world).into_iter().filter(|it| !legal.contains(it)));
    }
    let said = moves.iter().enumerate().map(|(at, mv)| {
        let (holds, finding) = decide(world, &contract, mv, Limits::default()).expect("cheap");
        assert_eq!(holds, at < legal.len(), "{name}: {mv:?}");
        match &finding {
            Finding::Proved(_) => assert!(holds && !is_played_out(world, &contract, mv)),
            Finding::Refuted(_) => assert!(!holds, "{name}: {mv:?}"),
            Finding::Tried(it) => {
                assert_eq!(holds, matches!(it.outcome, Outcome::Tenable { .. }));
                assert!(is_played_out(world, &contract, mv));
            }
            Finding::Turned(_) | Finding::Unfounded => {
                panic!("{name}: nothing is said of {mv:?}")
            }
        }
        Said::of(&finding)
    });
    said.collect()
}

/// Every move of a position explained, and some other rows.
fn explanations(name: &str, game: &mut Game, choices: &mut Choices) -> Vec<Said> {
    let mut said = moves_explained(name, game);
    let program = game.program().clone();
    let rows = game.world_mut().materialised();
    for _ in 0..8 {
        let rel = RelId(choices.below(program.relations.len()) as u16);
        // What the engine adds has no name that a question or a proof could go by.
        if program.is_hidden(rel) {
            continue;
        }
        said.push(explain(&rows, rel, &random_pattern(&program, rel, choices)));
    }
    said
}

fn random_pattern(program: &Program, rel: RelId, choices: &mut Choices) -> Vec<Option<i64>> {
    let columns = program.relation(rel).columns.iter();
    let value = |ty| match ty {
        rulemate::internals::rules::Type::Domain(id) => program.schema.domain(id).size(),
        _ => 3,
    };
    columns
        .map(|it| {
            let size = value(it.ty).min(24);
            (size > 0 && choices.one_in(2)).then(|| choices.below(size) as i64)
        })
        .collect()
}

/// Positions of every game, some plies from the start.
fn positions(mut f: impl FnMut(&str, &mut Game, &mut Choices)) {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    for (at, entry) in catalogue.games().iter().enumerate() {
        let rules = catalogue.load::<&str>(&entry.name, &[]).expect("it loads");
        for round in 0..if is_full() { 22 } else { 1 } {
            let mut choices = Choices(at as u64 * 1000 + round);
            let mut game = rules.start(None).expect("it starts");
            for _ in 0..choices.below(40) {
                let moves = game.legal_moves();
                if moves.is_empty() {
                    break;
                }
                game.play(&moves[choices.below(moves.len())]).expect("it is legal");
            }
            f(&entry.name, &mut game, &mut choices);
        }
    }
}

fn refused(said: &Said, checker: &mut Checker) -> bool {
    said.check(checker).is_err()
}

/// The paths of everything in a tree that can be changed.
fn places(value: &Value, path: &mut Vec<String>, found: &mut Vec<String>) {
    match value {
        Value::Array(all) => {
            if !all.is_empty() {
                found.push(pointer(path));
            }
            for (at, it) in all.iter().enumerate() {
                path.push(at.to_string());
                places(it, path, found);
                path.pop();
            }
        }
        Value::Object(all) => {
            for (key, it) in all {
                path.push(key.clone());
                places(it, path, found);
                path.pop();
            }
        }
        _ => found.push(pointer(path)),
    }
}

/// A refutation that leaves a binding out says less, and may still be right.
fn says_less(place: &str) -> bool {
    place.contains("/rules/") && place.ends_with("/bindings")
}

fn pointer(path: &[String]) -> String {
    path.iter().map(|it| format!("/{it}")).collect()
}

/// Changes what stands at a place: another number or text, one part less.
fn alter(value: &mut Value, choices: &mut Choices) {
    *value = match &value {
        Value::Number(it) => {
            json!(it.as_i64().unwrap_or(0) + if choices.one_in(2) { 1 } else { -1 })
        }
        Value::String(it) if choices.one_in(2) && it.len() > 1 => json!(it[1..].to_string()),
        Value::String(it) => json!(format!("{it}'")),
        Value::Array(all) => {
            let mut all = all.clone();
            all.remove(choices.below(all.len()));
            json!(all)
        }
        _ => json!(7),
    };
}

#[test]
fn what_explain_finds_passes_and_nothing_else() {
    let (mut seen, mut explained) = (0, 0);
    positions(|name, game, choices| {
        let said = explanations(name, game, choices);
        (seen, explained) = (seen + 1, explained + said.len());
        let mut checker = Checker::new(game.program(), game.facts());
        for (at, it) in said.iter().enumerate() {
            let report = it.check(&mut checker);
            assert!(report.is_ok(), "{name} {}: {report:?}\n{it:?}", game.fen());
            if !choices.one_in(if is_full() { 1 } else { 4 }) || at > 64 {
                continue;
            }
            let mut wrong = it.clone();
            let mut found = Vec::new();
            places(&wrong.0, &mut Vec::new(), &mut found);
            let place = &found[choices.below(found.len())];
            let Some(part) = wrong.0.pointer_mut(place) else { continue };
            if says_less(place) {
                continue;
            }
            alter(part, choices);
            assert!(wrong == *it || refused(&wrong, &mut checker), "{name}: {place} of {wrong:?}");
        }
    });
    let enough = if is_full() { 1000 } else { 20 };
    assert!(seen >= enough && explained > 10 * seen, "{seen} positions, {explained} explanations");
}

/// A chess game, the checker of its position, and a proof in it with denials and facts.
fn pawn_move() -> (Game, Said) {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let rules = catalogue.load::<&str>("chess", &[]).expect("it loads");
    let mut game = rules.start(None).expect("it starts");
    let mv = game.find_move("e2e4").expect("it is legal");
    let rel = game.program().action(mv.action).rel;
    let pattern: Vec<Option<i64>> = mv.args.iter().copied().map(Some).collect();
    let said = explain(&game.world_mut().materialised(), rel, &pattern);
    (game, said)
}

#[test]
fn every_place_of_a_proof_is_checked() {
    let (game, said) = pawn_move();
    let mut checker = Checker::new(game.program(), game.facts());
    let report = said.check(&mut checker).unwrap_or_else(|it| panic!("{it:?}"));
    assert!(report.steps > 20 && report.absent > 3, "{report:?}");
    let mut found = Vec::new();
    places(&said.0, &mut Vec::new(), &mut found);
    let mut choices = Choices(5);
    for place in found.into_iter().filter(|it| !says_less(it)) {
        let mut wrong = said.clone();
        alter(wrong.0.pointer_mut(&place).expect("a place"), &mut choices);
        assert!(refused(&wrong, &mut checker), "{place}");
    }
}

#[test]
fn a_proof_holds_for_its_facts_only() {
    let (game, said) = pawn_move();
    let mut checker = Checker::new(game.program(), game.facts());
    let moved = |entity: u32, attr: &str| -> Session {
        let mut facts = game.facts().clone();
        let attr = facts.schema().attribute_named(attr).expect("declared");
        facts.retract(rulemate::internals::facts::EntityId(entity), attr);
        facts
    };
    let tuple = &said.0["proved"][0]["tuple"];
    let pawn = tuple[0]["raw"].as_u64().expect("an entity") as u32;
    checker.change(&moved(pawn, "position"));
    assert!(refused(&said, &mut checker));
    checker.change(&moved(0, "turn"));
    assert!(refused(&said, &mut checker));
    checker.change(game.facts());
    assert!(!refused(&said, &mut checker));
    // What is denied is looked up in the facts, not in the tree.
    let mut facts = game.facts().clone();
    let at = facts.schema().attribute_named("position").expect("declared");
    let knight = tuple[1]["raw"].as_i64().expect("a square") - 8;
    let blocker = facts.entities_with(at).next().expect("a piece");
    facts.set_raw(blocker, at, Some(knight));
    checker.change(&facts);
    let fault = said.check(&mut checker).expect_err("e3 is taken").expect("it can be read");
    assert!(fault.to_string().contains("after all"), "{fault}");
}

#[test]
fn the_model_agrees_with_the_referee() {
    positions(|name, game, _| {
        let program = game.program().clone();
        let mut checker = Checker::new(&program, game.facts());
        let rows = game.world_mut().materialised();
        for (at, relation) in program.relations.iter().enumerate() {
            if relation.role == Role::Derived {
                let all = vec![None; relation.columns.len()];
                let found = checker.rows(RelId(at as u16));
                let wanted = rulemate::internals::derive::collect(&rows, RelId(at as u16), &all);
                assert_eq!(found.len(), wanted.len(), "{name}: {}", relation.name);
                assert!(wanted.iter().all(|it| found.iter().any(|row| row[..] == it[..])));
            }
        }
    });
}
