//! Trials of a small program with every kind of effect: the checker takes each action anew, stops where
//! the evaluators do, and refuses a trial that rests on something else than it should.

use rulemate::internals::derive::explain::{Case, Limits, Outcome, Trial, try_out, why};
use rulemate::internals::derive::{Backend, World};
use rulemate::internals::facts::{EntityId, GAME, NEXT_ENTITY};
use rulemate::internals::proof::{Checker, Report};
use serde_json::{Value, json};

use crate::fixture::{member, program, rel, set, world};

const DEEDS: &str = r#"
.domain Side { white, black }
.domain Place { a, b, c, d }
.domain Thing entities 8
.stages first, main, last default main
.input turn(side: Side) game attr turn = white
.input at(thing: Thing, place: Place) key attr at
.input owner(thing: Thing, of: Thing) key attr owner
.input tired(thing: Thing) flag attr tired
.input purse(n: Int) game attr purse
.static less(n: Int) open
.decl may(thing: Thing, place: Place) open
may(p, 'b) :- at(p, 'a).
may(p, 'c) :- at(p, 'a).
may(p, 'd) :- at(p, 'a).
.decl doubted(thing: Thing, place: Place) open
doubted(p, x) :- may(p, x), x != 'c.
.decl also(thing: Thing, place: Place) open
also(p, x) :- may(p, x).
.decl untenable(side: Side) open
untenable(s) :- turn(s), at(_, 'd).
.decl cornered(side: Side) open
cornered(s) :- turn(s), at(_, 'd).
.event hit(thing: Thing, n: Int) "it happens"
.event shown(thing: Thing) "it happens"
.event again(n: Int) "it happens"
.event tick(n: Int) "it happens"
.action go(thing: Thing, place: Place) pseudo_legal may simulates doubted legality rules "{thing} goes"
go(p, x) :- may(p, x).
.action recur(thing: Thing) legality rules "it recurs"
recur(p) :- at(p, _).
.action burst(thing: Thing) legality rules "it bursts"
burst(p) :- at(p, _).
.action make(thing: Thing) legality rules "it makes"
make(p) :- at(p, _).
on go(p, x) do set at(p, x), raise hit(p, 2), emit shown(p).
on go(p, 'c) in first when tired(p) do veto "{p} is tired".
on hit(p, n) in first when purse(m) do pass hit(p, n + m).
on hit(p, n) do set purse(n), note "{p} has {n}".
on hit(_, 3) do stop.
on hit(p, _) in last when !at(p, 'd) do retract tired(p), remove p.
on recur(_) when purse(n) do raise again(n).
on again(n) when n > 1 do raise again(n - 1).
on burst(_) when purse(n), less(m), m < n do raise tick(m).
on make(p) do spawn x, set at(x, 'b), set owner(x, p).
"#;

/// One thing on a, in the turn of white, with so much in the purse.
fn deeds(purse: i64) -> World {
    let rows: String = (0..1100).map(|it| format!("less({it}).\n")).collect();
    let program = program(&format!("{DEEDS}{rows}"));
    let mut world = world(&program, Backend::Bits);
    let thing = world.create();
    set(&mut world, thing, "at", "Place", "a");
    set(&mut world, GAME, "turn", "Side", "white");
    let attr = program.schema.attribute_named("purse").expect("declared");
    world.set_raw(GAME, attr, Some(purse));
    world.commit();
    world
}

fn tried(world: &mut World, action: &str, args: &[i64]) -> Trial {
    let program = world.program().clone();
    let found = rel(&program, action);
    let action = program.actions.iter().find(|it| it.rel == found).expect("an action");
    let untenable = rel(&program, "untenable");
    let because = action.simulates;
    let case = Case { action: action.id, args, because, untenable, mover: 0 };
    try_out(world, case, Limits::default()).expect("cheap").expect("it may be tried")
}

fn checked(world: &World, trial: &Value) -> Result<Report, String> {
    let trial: Trial = serde_json::from_value(trial.clone()).expect("well-formed");
    Checker::new(world.program(), world.facts()).trial(&trial).map_err(|it| it.to_string())
}

/// A trial passes, and does not once something else stands in one place.
fn forge_trial(world: &World, honest: &Value, place: &str, new: Value, reason: &str) {
    checked(world, honest).unwrap_or_else(|it| panic!("{it}: {honest}"));
    let mut forged = honest.clone();
    *forged.pointer_mut(place).unwrap_or_else(|| panic!("no {place} in {honest}")) = new.clone();
    let fault = checked(world, &forged).expect_err("it is forged");
    assert_eq!(fault, reason, "{place} is {new} in {honest}");
}

fn proof(world: &mut World, name: &str, row: &[i64]) -> Value {
    let rel = rel(world.program(), name);
    json!(why(&world.materialised(), rel, row).expect("it holds"))
}

#[test]
fn every_kind_of_effect_is_taken_anew() {
    let mut world = deeds(4);
    let b = member(world.program(), "Place", "b");
    let trial = json!(tried(&mut world, "go", &[1, b]));
    let report = checked(&world, &trial).expect("it is so");
    let kinds = |step: &Value| -> Vec<String> {
        let all = step["effects"].as_array().expect("effects").iter();
        all.map(|it| it.as_object().map_or(it.to_string(), |it| it.keys().cloned().collect()))
            .collect()
    };
    let steps: Vec<_> = trial["steps"].as_array().expect("steps").iter().map(kinds).collect();
    let gone = ["changed"].as_slice();
    assert_eq!(
        steps,
        [&["changed", "raised", "emitted"], ["passed"].as_slice(), &["changed", "noted"], gone]
    );
    // Four steps, what is tried and why with two rows each, and what is denied.
    assert_eq!((report.effects, report.absent, report.steps), (7, 3, 11));
    // What is passed on is what later stages see.
    assert_eq!(trial["steps"][2]["args"][1]["raw"], 6);
    for (place, new) in [
        ("/steps/1/effects/0/passed/args/1", json!({ "raw": 7, "name": "7" })),
        ("/steps/2/effects/1/noted/said", json!("#1 has 7")),
        ("/steps/0/effects/2/emitted/event", json!("hit")),
        ("/steps/0/effects/1/raised/args/1", json!({ "raw": 3, "name": "3" })),
        ("/steps/0/depth", json!(1)),
    ] {
        let step = place.as_bytes()[7] - b'0';
        let rule =
            trial["steps"][usize::from(step)]["reaction"]["place"].as_str().expect("a place");
        let reason = format!("go: step {} ({rule}) is not what happens", step + 1);
        forge_trial(&world, &trial, place, new, &reason);
    }
    // With one in the purse, the event ends before the last stage.
    let mut world = deeds(1);
    let trial = tried(&mut world, "go", &[1, b]);
    assert_eq!(trial.steps.len(), 4);
    assert!(checked(&world, &json!(trial)).is_ok());
}

#[test]
fn trials_rest_on_what_is_proved_of_them() {
    let mut world = deeds(4);
    let place = |it: &str| member(world.program(), "Place", it);
    let (b, c, d) = (place("b"), place("c"), place("d"));
    let trial = json!(tried(&mut world, "go", &[1, b]));
    let tries = "go: what is proved is not that it is pseudo-legal";
    let (row, other) = (proof(&mut world, "also", &[1, b]), proof(&mut world, "may", &[1, c]));
    forge_trial(&world, &trial, "/tried", row, tries);
    forge_trial(&world, &trial, "/tried", other, tries);
    let because = "go: what is proved is not why it is played out";
    let (row, other) = (proof(&mut world, "may", &[1, b]), proof(&mut world, "doubted", &[1, d]));
    forge_trial(&world, &trial, "/because", row, because);
    forge_trial(&world, &trial, "/because", other, because);
    // What may not be: of the mover, and by that relation.
    let asked = "go: this row does not decide it";
    let black = json!([{ "raw": 1, "name": "black" }]);
    forge_trial(&world, &trial, "/outcome/tenable/goal/args", black, asked);
    forge_trial(&world, &trial, "/outcome/tenable/goal/relation", json!("cornered"), asked);
    let goal = trial["outcome"]["tenable"]["goal"].clone();
    let refutation = trial["outcome"]["tenable"]["refutation"].clone();
    assert_eq!(refutation["goal"], goal);
    let mut other = refutation.clone();
    other["goal"]["relation"] = json!("cornered");
    let reason = "go: the refutation is of another goal";
    forge_trial(&world, &trial, "/outcome/tenable/refutation", other, reason);
    forge_trial(&world, &trial, "/outcome", json!("refused"), "go: the action happens");
    let untenable = json!(tried(&mut world, "go", &[1, d]));
    assert!(untenable["outcome"].get("untenable").is_some(), "{untenable}");
    let mut cornered = untenable["outcome"]["untenable"].clone();
    let left = json!({ "tenable": { "goal": goal, "refutation": null } });
    forge_trial(
        &world,
        &untenable,
        "/outcome",
        left,
        "go: the mover may not leave the position as it is then",
    );
    cornered["relation"] = json!("turn");
    cornered["ground"] = json!({ "fact": { "entity": 0, "attribute": "turn" } });
    forge_trial(&world, &untenable, "/outcome/untenable", cornered, asked);
}

/// The checker stops where the evaluators do, at each of the limits.
#[test]
fn events_end_at_the_same_number() {
    for (action, purse, ends) in [
        ("recur", 31, true),
        ("recur", 32, true),
        ("recur", 33, false),
        ("burst", 1023, true),
        ("burst", 1024, true),
        ("burst", 1025, false),
    ] {
        let mut world = deeds(purse);
        let trial = tried(&mut world, action, &[1]);
        assert_eq!(matches!(trial.outcome, Outcome::Tenable { .. }), ends, "{action} {purse}");
        let checked = checked(&world, &json!(trial));
        assert!(checked.is_ok(), "{action} {purse}: {checked:?}");
    }
}

/// An id that a fact has as its value is not given to another entity.
#[test]
fn new_entities_have_ids_that_no_fact_mentions() {
    for (owner, id) in [(None, 2), (Some(2), 3), (Some(3), 2)] {
        let mut world = deeds(1);
        let attr = world.program().schema.attribute_named("owner").expect("declared");
        world.set_raw(GAME, NEXT_ENTITY, Some(8));
        world.set_raw(EntityId(1), attr, owner);
        world.commit();
        let trial = tried(&mut world, "make", &[1]);
        assert_eq!(json!(trial)["steps"][0]["effects"][0], json!({ "spawned": { "entity": id } }));
        let checked = checked(&world, &json!(trial));
        assert!(checked.is_ok(), "{owner:?}: {checked:?}");
    }
}
