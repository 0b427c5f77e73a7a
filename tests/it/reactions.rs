//! Reactions: both evaluators run the same transactions, step by step; what is refused leaves no
//! mark; limits are errors with names.
//!
//! Deliberately absent: what single presets do (`golden`).

use std::sync::Arc;

use rulemate::internals::derive::{Backend, Plan, Refusal, Trace, World};
use rulemate::internals::facts::{EntityId, GAME, NEXT_ENTITY};
use rulemate::internals::moves::{LegalityMode, Move, legal_moves, legal_moves_by};
use rulemate::internals::presets::Catalogue;
use rulemate::internals::rules::{ActionId, Program};

use crate::fixture::{program, world};
use crate::random_rules::Choices;

/// A world of the referee's with the same facts.
pub(crate) fn twin(world: &World) -> World {
    with_facts_of(world, world.plan(), Backend::Frog)
}

/// A world of another plan, of the same schema, with the same facts.
pub(crate) fn with_facts_of(world: &World, plan: &Arc<Plan>, backend: Backend) -> World {
    let mut twin = World::new(Arc::clone(plan), backend);
    let schema = Arc::clone(world.facts().schema());
    for at in 0..schema.attributes().len() as u16 {
        let attr = rulemate::internals::facts::AttrId(at);
        for entity in (0..schema.entity_cap()).map(EntityId) {
            twin.set_raw(entity, attr, world.facts().get_raw(entity, attr));
        }
    }
    twin.set_raw(GAME, NEXT_ENTITY, world.facts().get_raw(GAME, NEXT_ENTITY));
    twin.commit();
    twin
}

/// Takes an action on both evaluators, traced and untraced: facts, steps and refusals are the same,
/// and a refusal changes nothing.
pub(crate) fn fire_alike(
    world: &mut World,
    action: ActionId,
    args: &[i64],
) -> Result<Trace, Refusal> {
    let before = world.facts().hash();
    let mut other = twin(world);
    let mark = world.mark();
    let plain = world.fire(action, args);
    let after = world.facts().hash();
    world.rollback(mark);
    assert_eq!(world.facts().hash(), before, "rolled back");
    let traced = world.fire_traced(action, args);
    assert_eq!(plain.is_ok(), traced.is_ok());
    assert_eq!(world.facts().hash(), after, "traced and untraced");
    let expected = other.fire_traced(action, args);
    assert_eq!(traced, expected);
    assert_eq!(world.facts().hash(), other.facts().hash(), "the referee has the same facts");
    if traced.is_err() {
        assert_eq!(after, before, "a refusal changes nothing");
    }
    traced
}

const HEAD: &str = r#"
.domain Thing entities 6
.input life(thing: Thing, points: Int) key attr life "{thing} has {points}"
.action poke(thing: Thing) "{thing} is poked"
poke(t) :- life(t, _).
.event hurt(thing: Thing, points: Int) "{thing} loses {points}"
"#;

fn one(text: &str) -> (Arc<Program>, World) {
    let program = program(&format!("{HEAD}{text}"));
    let mut world = world(&program, Backend::Bits);
    let thing = world.create();
    let life = program.schema.attribute_named("life").unwrap_or_else(|| panic!("life"));
    world.set_raw(thing, life, Some(5));
    world.commit();
    (program, world)
}

fn refusal(text: &str) -> String {
    let (program, mut world) = one(text);
    match fire_alike(&mut world, program.actions[0].id, &[1]) {
        Ok(trace) => panic!("{trace:?}"),
        Err(refusal) => refusal.to_string(),
    }
}

#[test]
fn a_veto_says_why() {
    let text = refusal(r#"on poke(t) when life(t, n), n > 3 do veto "{t} still has {n}"."#);
    assert_eq!(text, "#1 still has 5");
}

/// What a file adds to an action as `given` has its default in actions that are as it and do not know of it.
#[test]
fn what_is_given_to_an_action_has_its_default_in_those_as_it() {
    let (program, mut world) = one(r#"
.input force(thing: Thing, points: Int) key attr force "{thing} was poked with a force of {points}"
.input bruised(thing: Thing) flag attr bruised "{thing} is bruised"
.action prod(thing: Thing) as poke "{thing} is prodded"
prod(t) :- life(t, _).
.action poke += given with: Int = 3 uci "{thing}[*{with}]"
on poke(t, n) do set force(t, n).
on poke(t, 3) when life(t, n) do set life(t, n - 1).
on poke(t, 9) do set bruised(t).
"#);
    let attrs = ["life", "force", "bruised"].map(|it| program.schema.attribute_named(it));
    let [poke, prod] = [&program.actions[0], &program.actions[1]];
    for (action, args, after) in [
        (prod, &[1][..], [Some(4), Some(3), None]),
        (poke, &[1, 9], [Some(4), Some(9), Some(1)]),
        (prod, &[1], [Some(3), Some(3), Some(1)]),
    ] {
        fire_alike(&mut world, action.id, args).expect("nothing refuses it");
        let now = attrs.map(|it| world.facts().get_raw(EntityId(1), it.expect("declared")));
        assert_eq!(now, after);
    }
}

/// Things with lives and friends, and rules about them that reactions ask for.
const FRIENDS: &str = r#"
.stages early, late default late
.domain Mood { calm, cross, wild }
.input friend(thing: Thing, other: Thing) key attr friend "{other} is the friend of {thing}"
.input mood(thing: Thing, mood: Mood) key attr mood "{thing} is {mood}"
.input score(thing: Thing, points: Int) key attr score "{thing} has scored {points}"
.decl temper(thing: Thing, mood: Mood) "{thing} would be {mood}"
temper(t, 'calm) :- life(t, n), n > 3.
temper(t, 'cross) :- life(t, n), n <= 3, friend(t, _).
.decl helpers(thing: Thing, number: Int) "{number} calm things are friends of {thing}"
helpers(t, n) :- life(t, _), n = count { friend(o, t), temper(o, 'calm) }.
.decl standing(thing: Thing, mood: Mood, number: Int) "{thing} is {mood} with {number} helpers"
standing(t, m, n) :- temper(t, m), helpers(t, n).
.decl total(points: Int) "all scores come to {points}"
total(n) :- n = sum { p : score(t, p) }.
.decl lives(points: Int) "all lives come to {points}"
lives(n) :- n = sum { p : life(t, p) }.
on poke(t) in early when standing(t, m, n), lives(l) do set mood(t, m), set score(t, n * 10 + l).
on poke(t) in early when temper(t, 'cross), !temper(t, 'calm), friend(t, o), standing(o, m, _) do set mood(o, m).
on poke(t) in late when total(n), lives(l), helpers(t, h) do set life(t, n * 100 + l * 10 + h).
on poke(t) in late when friend(t, o), temper(o, 'calm) do raise hurt(o, 1).
on hurt(t, p) when life(t, n), total(s) do set life(t, n - p), set score(t, s).
"#;

/// What a reaction asks of its own arguments is read from the rules, and what no write concerns is derived once: neither
/// makes a difference to what comes of it, in a branch that is taken back either.
#[test]
fn reactions_read_the_rules_of_what_they_ask_for() {
    let (program, mut world) = one(FRIENDS);
    let attr =
        |name: &str| program.schema.attribute_named(name).unwrap_or_else(|| panic!("{name}"));
    let [life, friend, mood, score] = ["life", "friend", "mood", "score"].map(attr);
    let mut things = vec![EntityId(1)];
    for lives in [2, 3] {
        let thing = world.create();
        world.set_raw(thing, life, Some(lives));
        things.push(thing);
    }
    world.set_raw(things[0], friend, Some(i64::from(things[2].0)));
    world.set_raw(things[1], friend, Some(i64::from(things[0].0)));
    world.commit();
    let mark = world.mark();
    let poke = |world: &mut World, thing: usize| {
        let args = [i64::from(things[thing - 1].0)];
        fire_alike(world, program.actions[0].id, &args).expect("nothing refuses it");
    };
    poke(&mut world, 2);
    let of = |it: EntityId| [life, mood, score].map(|at| world.facts().get_raw(it, at));
    // The second is cross, without helpers, of 10 lives; its friend is calm, and loses one.
    assert_eq!(of(things[1]), [Some(1100), Some(1), Some(10)]);
    assert_eq!(of(things[0]), [Some(4), Some(0), Some(10)]);
    let others = [1, 3, 2, 2, 1, 3, 3, 1];
    others.iter().for_each(|it| poke(&mut world, *it));
    let after = world.facts().hash();
    world.rollback(mark);
    [2].iter().chain(&others).for_each(|it| poke(&mut world, *it));
    assert_eq!(world.facts().hash(), after, "taken back and taken again");
}

#[test]
fn events_may_have_more_columns_than_a_call_has_places() {
    let columns =
        |letter: char| -> Vec<String> { (0..8).map(|it| format!("{letter}{it}")).collect() };
    let event = |name: &str, letter: char| {
        let typed: Vec<String> = columns(letter).iter().map(|it| format!("{it}: Int")).collect();
        format!(".event {name}({}) \"it is wide\"\n", typed.join(", "))
    };
    let text = format!(
        "{}{}on poke(t) when life(t, n) do raise wide(n, 2, 3, 4, 5, 6, 7, 8).\n\
         on wide({}) when life(t, n), n < w7, w0 = n do set life(t, w7 - w6 + w1), raise broad({}).\n\
         on broad({}) when life(t, n), n = b1 + 1 do set life(t, b0 * 100 + b7).\n",
        event("wide", 'w'),
        event("broad", 'b'),
        columns('w').join(", "),
        columns('w').join(", "),
        columns('b').join(", "),
    );
    let (program, mut world) = one(&text);
    fire_alike(&mut world, program.actions[0].id, &[1]).unwrap_or_else(|it| panic!("{it}"));
    let life = program.schema.attribute_named("life").unwrap_or_else(|| panic!("life"));
    assert_eq!(world.facts().get_raw(EntityId(1), life), Some(508));
}

#[test]
fn a_cycle_of_events_is_named() {
    let text = refusal(
        "on poke(t) do raise hurt(t, 1).\n.event ache(thing: Thing) \"{thing} aches\"\n\
         on hurt(t, _) do raise ache(t).\non ache(t) do raise hurt(t, 1).",
    );
    assert_eq!(
        text,
        "events raise events more than 32 deep: \
         hurt (test.dl:10) -> ache (test.dl:9) -> hurt (test.dl:10)"
    );
}

#[test]
fn events_and_entities_run_out() {
    let text = refusal(
        "on poke(t) do raise hurt(t, 4).\n\
         on hurt(t, n) when n > 0 do raise hurt(t, n - 1), raise hurt(t, n - 1), raise hurt(t, n - 1), \
         raise hurt(t, n - 1), raise hurt(t, n - 1), raise hurt(t, n - 1).",
    );
    assert_eq!(text, "more than 1024 events are raised; the last is raised at test.dl:8");
    let text =
        refusal("on poke(_) do spawn a, spawn b, spawn c, spawn d, spawn e, set life(e, 1).");
    assert_eq!(text, "there is no room for another entity: 6 are the most");
}

#[test]
fn undo_gives_a_spawned_entity_its_id_again() {
    let (program, mut world) = one("on poke(t) when life(t, n) do spawn x, set life(x, n + 1).");
    let action = program.actions[0].id;
    for _ in 0..2 {
        let mark = world.mark();
        let before = world.facts().hash();
        fire_alike(&mut world, action, &[1]).unwrap_or_else(|it| panic!("{it}"));
        let life = program.schema.attribute_named("life").unwrap_or_else(|| panic!("life"));
        assert_eq!(world.facts().get_raw(EntityId(2), life), Some(6));
        world.rollback(mark);
        assert_eq!(world.facts().hash(), before);
    }
}

/// Where nothing in between can be seen, a program of many stages runs as fast as one of one.
#[test]
fn chess_is_one_batch() {
    let plan = Plan::compile(crate::fixture::chess()).unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(plan.batches(), vec![1; 4]);
}

// --- games -----------------------------------------------------------------------------------------

/// Every action on the list can be taken, both evaluators do the same, playing everything out finds
/// the same moves, and undo restores the hash.
#[test]
fn random_games_with_presets_that_react() {
    let plies = if crate::fixture::is_full() { 200 } else { 16 };
    let sets: [&[&str]; 5] = [
        &["piece-hp"],
        &["piece-shield"],
        &["piece-shield:white", "piece-hp:black"],
        &["piece-shield", "double-move"],
        &["piece-hp:both:turns=6", "piece-shield", "wrap-board"],
    ];
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    for (seed, set) in (1..).zip(sets) {
        let rules = catalogue.load("chess", set).unwrap_or_else(|it| panic!("{it}"));
        let fen = "r1bqkb1r/ppp2ppp/2n2n2/3pp3/3PP3/2N2N2/PPP2PPP/R1BQKB1R w KQkq - 0 1";
        let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"));
        let contract = rules.contract();
        let mut choices = Choices(seed);
        for ply in 0..plies {
            let world = game.world_mut();
            let moves = legal_moves(world, contract);
            let simulated = legal_moves_by(world, contract, LegalityMode::Simulate);
            assert_eq!(moves, simulated, "{set:?}, ply {ply}");
            if moves.is_empty() {
                break;
            }
            let captures = |it: &&Move| {
                it.arg(world.program(), "to").is_some_and(|to| {
                    world
                        .facts()
                        .entities_with(contract.at.attr)
                        .any(|piece| world.facts().get_raw(piece, contract.at.attr) == Some(to))
                })
            };
            let hits: Vec<&Move> = moves.iter().filter(captures).collect();
            let mv = match hits.as_slice() {
                [] => moves[choices.below(moves.len())].clone(),
                hits => hits[choices.below(hits.len())].clone(),
            };
            for other in moves.iter().step_by(5) {
                let mark = world.mark();
                let before = world.facts().hash();
                world.fire(other.action, &other.args).unwrap_or_else(|it| panic!("{it}"));
                world.rollback(mark);
                assert_eq!(world.facts().hash(), before);
            }
            fire_alike(world, mv.action, &mv.args).unwrap_or_else(|it| panic!("{it}"));
            world.commit();
        }
    }
}
