//! Watched relations: what a commit adds and removes is the difference of the whole lists, whatever
//! was tried and taken back on the way, and the same from both evaluators.

use std::collections::BTreeSet;
use std::sync::Arc;

use rulemate::internals::derive::{Backend, RowChanges, Tuple, World};
use rulemate::internals::facts::{GAME, Value};
use rulemate::internals::game::Game;
use rulemate::internals::moves::legal_moves;
use rulemate::internals::presets::Catalogue;
use rulemate::internals::rules::RelId;

use crate::fixture::rel;
use crate::random_rules::Choices;

const WATCHED: [&str; 4] = ["attacks", "move", "in_check", "at"];

/// The same as lists: what is in the one and not in the other, both ways.
fn difference(rel: RelId, before: &[Tuple], after: &[Tuple]) -> Option<RowChanges> {
    let only = |these: &[Tuple], others: &[Tuple]| -> Vec<Tuple> {
        these.iter().filter(|it| !others.contains(it)).cloned().collect()
    };
    let (added, removed) = (only(after, before), only(before, after));
    (!added.is_empty() || !removed.is_empty()).then_some(RowChanges { rel, added, removed })
}

fn whole(world: &mut World, rels: &[RelId]) -> Vec<Vec<Tuple>> {
    rels.iter().map(|&it| world.tuples(it)).collect()
}

fn random_play(backend: Backend, seed: u64, plies: usize) -> Vec<Vec<RowChanges>> {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load("chess", &[""; 0]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start_on(backend, None).unwrap_or_else(|it| panic!("{it}"));
    let mut world = game.world_mut().clone();
    let mut rels: Vec<RelId> = WATCHED.iter().map(|it| rel(rules.program(), it)).collect();
    rels.sort_unstable();
    for &rel in &rels {
        world.watch(rel);
    }
    let mut choices = Choices(seed);
    let mut told = Vec::new();
    for _ in 0..plies {
        let moves = legal_moves(&mut world, rules.contract());
        if moves.is_empty() {
            break;
        }
        let before = whole(&mut world, &rels);
        if choices.one_in(3) {
            let tried = &moves[choices.below(moves.len())];
            let mark = world.mark();
            world.fire(tried.action, &tried.args).expect("nothing refuses it");
            let _ = whole(&mut world, &rels);
            world.rollback(mark);
        }
        let mv = &moves[choices.below(moves.len())];
        world.fire(mv.action, &mv.args).expect("nothing refuses it");
        world.commit();
        let after = whole(&mut world, &rels);
        let expected: Vec<RowChanges> = (rels.iter().zip(before.iter().zip(&after)))
            .filter_map(|(&rel, (before, after))| difference(rel, before, after))
            .collect();
        assert_eq!(world.changes(), expected);
        assert!(!expected.is_empty());
        told.push(expected);
    }
    told
}

#[test]
fn changes_are_the_difference_of_the_lists() {
    for seed in [3, 8] {
        assert!(random_play(Backend::Bits, seed, 60).len() > 20);
        let bits = random_play(Backend::Bits, seed, 12);
        assert_eq!(bits, random_play(Backend::Frog, seed, 12));
    }
}

#[test]
fn what_is_taken_back_and_what_nobody_watches_is_not_told() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load("chess", &[""; 0]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
    let world = game.world_mut();
    let clock = rel(rules.program(), "clock");
    let attr = rules.program().schema.attribute_named("halfmove_clock").expect("it is there");
    let set = |world: &mut World, n: i64| world.insert(GAME, attr, Value::Int(n)).map(drop);
    let (first, second) = (world.watch(clock), world.watch(clock));
    let mark = world.mark();
    set(world, 7).expect("a number");
    world.rollback(mark);
    world.commit();
    assert_eq!(world.changes(), []);
    // Given back twice, it ends no watch of others.
    world.unwatch(first);
    world.unwatch(first);
    set(world, 9).expect("a number");
    world.commit();
    let row = |n: i64| vec![Tuple::from_slice(&[n])];
    assert_eq!(world.changes(), [RowChanges { rel: clock, added: row(9), removed: row(0) }]);
    world.commit();
    assert_eq!(world.changes(), []);
    world.unwatch(second);
    set(world, 3).expect("a number");
    world.commit();
    assert_eq!(world.changes(), []);
}

/// The rows of a relation, as its changes tell them: each comes before it goes.
fn follow(game: &Game, rows: &mut BTreeSet<String>) {
    for change in game.changes() {
        let was_new = if change.holds { rows.insert(change.row) } else { rows.remove(&change.row) };
        assert!(was_new, "told twice");
    }
}

/// The rows of a relation in words; none if the rules do not have it.
fn rows(game: &mut Game, relation: &str) -> BTreeSet<String> {
    let program = Arc::clone(game.program());
    let Some(rel) = program.relation_named(relation) else { return BTreeSet::new() };
    game.world_mut().tuples(rel).iter().map(|it| program.tuple_name(rel, it)).collect()
}

/// The actions that a question names are played on a copy.
#[test]
fn a_question_is_no_change() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load("chess", &[""; 0]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
    game.watch("attacks").unwrap_or_else(|it| panic!("{it}"));
    game.play_text("e2e4").unwrap_or_else(|it| panic!("{it}"));
    let told = game.changes();
    assert!(!told.is_empty());
    let answer = game.why_move("e7e5,g1f3").unwrap_or_else(|it| panic!("{it}"));
    assert!(answer.holds);
    assert_eq!(game.changes(), told);
}

/// Other presets are other programs, with other numbers for relations and kinds.
#[test]
fn a_watch_outlasts_presets_that_come_and_go() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let mut rules = catalogue.load("chess", &[""; 0]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
    let hp = catalogue.load("chess", &["piece-hp"]).unwrap_or_else(|it| panic!("{it}"));
    let mut with_hp = hp.start(None).unwrap_or_else(|it| panic!("{it}"));
    let watched = ["at", "move", "kind"];
    let watches = watched.map(|it| game.watch(it).unwrap_or_else(|it| panic!("{it}")));
    let hits = with_hp.watch("hp").unwrap_or_else(|it| panic!("{it}"));
    let mut known: BTreeSet<String> = watched.iter().flat_map(|it| rows(&mut game, it)).collect();
    let mut known_hp = rows(&mut with_hp, "hp");
    let mut is_told = |game: &mut Game| {
        follow(game, &mut known);
        assert_eq!(known, watched.iter().flat_map(|it| rows(game, it)).collect());
    };
    for step in
        ["e2e4", "+griffon", "d7d5", "+piece-hp berolina-pawns", "e4f5", "<", "<", "<", "e2e3", "+"]
    {
        match step.strip_prefix('+') {
            Some(set) => {
                let set: Vec<&str> = set.split_whitespace().collect();
                let set = catalogue.set_active(&rules, &mut game, &set);
                rules = set.unwrap_or_else(|it| panic!("{step}: {it}"));
            }
            None if step == "<" => drop(game.takeback()),
            None => drop(game.play_text(step).unwrap_or_else(|it| panic!("{step}: {it}"))),
        }
        is_told(&mut game);
    }
    watches.into_iter().for_each(|it| game.unwatch(it));
    assert_eq!(game.changes(), []);
    // A relation that goes with its preset comes back with it.
    for set in [&[][..], &["griffon"], &["piece-hp"]] {
        catalogue.set_active(&hp, &mut with_hp, set).unwrap_or_else(|it| panic!("{it}"));
        follow(&with_hp, &mut known_hp);
        assert_eq!(known_hp, rows(&mut with_hp, "hp"));
        assert_eq!(known_hp.is_empty(), set != ["piece-hp"]);
    }
    with_hp.unwatch(hits);
    assert_eq!(with_hp.changes(), []);
}

/// Also of what a change of presets added and removed, while other watches go on.
#[test]
fn a_watch_that_has_ended_tells_nothing() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load("chess", &["piece-hp"]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
    let hits = game.watch("hp").unwrap_or_else(|it| panic!("{it}"));
    catalogue.set_active(&rules, &mut game, &[""; 0]).unwrap_or_else(|it| panic!("{it}"));
    assert!(!game.changes().is_empty());
    game.watch("color").unwrap_or_else(|it| panic!("{it}"));
    game.unwatch(hits);
    assert_eq!(game.changes(), []);
}
