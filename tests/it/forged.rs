//! Proofs that are true in every part and false in one place: a row of another relation, a goal that
//! no literal asks for, a value left out. Each is put together by hand from what explain says of a
//! small program, so that what is wrong with it is known, and is refused for that reason.

use rulemate::internals::derive::explain::{Finding, why, why_not};
use rulemate::internals::derive::{Backend, World};
use rulemate::internals::facts::{EntityId, GAME, Value as Fact};
use rulemate::internals::proof::{Checker, Report};
use rulemate::internals::rules::RelId;
use serde_json::{Value, json};

use crate::fixture::{member, program, rel, set, world};

const PLACES: &str = r#"
.domain Place { a, b, c, d }
.domain Thing entities 8
.input at(thing: Thing, place: Place) key attr at
.input weight(thing: Thing, n: Int) key attr weight
.input tired(thing: Thing) flag attr tired
.input night() game attr night
.input hour(n: Int) game attr hour
.static road(from: Place, to: Place) open
road('a, 'b). road('b, 'c). road('c, 'd).
.static street(from: Place, to: Place) open
street('a, 'b). street('a, 'c). street('b, 'c).
.static tram(from: Place, to: Place) key
tram('b, 'd). tram('d, 'b).
.static trail(from: Place, to: Place) open
trail(x, z) :- road(x, y), road(y, z).
.decl walk(from: Place, to: Place) open
walk(x, y) :- at(_, x), road(x, y).
walk(x, z) :- walk(x, y), road(y, z).
.decl ride(from: Place, to: Place) open
ride(x, y) :- at(_, x), street(x, y).
ride(x, z) :- ride(x, y), tram(y, z).
.decl heavy(thing: Thing) open
heavy(p) :- weight(p, n), n > 4.
.decl awake(thing: Thing) open
awake(p) :- at(p, _), !tired(p), !walk('b, 'a), night().
.decl load(n: Int) open
load(n) :- hour(_), n = sum { w : weight(p, w) }.
.decl few(n: Int) open
few(n) :- hour(h), n = count { at(p, x) }, n < h.
.decl fewer(n: Int) open
fewer(n) :- n < h, n = count { at(p, x) }, hour(h).
.decl ring() open
ring() :- road(_, _), walk(y, y).
.decl same(from: Place, to: Place) open
same(x, y) :- at(p, x), at(q, y), p != q, z = x, z = y.
.decl next(n: Int, m: Int) open
next(n, m) :- weight(_, n), m = k + 1, k = n.
.decl safe(place: Place) open
safe('d) :- night().
safe('b) :- weight(p, 3), tired(p).
.decl idle(place: Place) open
idle(x) :- road(x, y), !at(_, x), !at(_, y), !ride(x, y).
"#;

/// Two things: a light one on a, and a heavy one that is tired on c, in the night at seven.
fn places() -> World {
    let program = program(PLACES);
    let mut world = world(&program, Backend::Bits);
    let (light, heavy) = (world.create(), world.create());
    set(&mut world, light, "at", "Place", "a");
    set(&mut world, heavy, "at", "Place", "c");
    for (entity, attr, value) in [
        (light, "weight", Fact::Int(3)),
        (heavy, "weight", Fact::Int(5)),
        (heavy, "tired", Fact::Bool(true)),
        (GAME, "night", Fact::Bool(true)),
        (GAME, "hour", Fact::Int(7)),
    ] {
        let attr = program.schema.attribute_named(attr).expect("declared");
        world.insert(entity, attr, value).expect("of its type");
    }
    world.commit();
    world
}

/// What is found out about `walk a _`: letters are places, numbers numbers or things.
struct Said {
    world: World,
}

impl Said {
    fn pattern(&self, args: &str) -> Vec<Option<i64>> {
        let value = |it: &str| match it {
            "_" => None,
            it => Some(it.parse().unwrap_or_else(|_| member(self.world.program(), "Place", it))),
        };
        args.split_whitespace().map(value).collect()
    }

    fn proof(&mut self, row: &str) -> Value {
        let (name, args) = row.split_once(' ').unwrap_or((row, ""));
        let args: Option<Vec<i64>> = self.pattern(args).into_iter().collect();
        let rel = rel(self.world.program(), name);
        json!(why(&self.world.materialised(), rel, &args.expect("a row")).expect("it holds"))
    }

    fn refutation(&mut self, goal: &str) -> Value {
        let (name, args) = goal.split_once(' ').unwrap_or((goal, ""));
        let (args, rel) = (self.pattern(args), rel(self.world.program(), name));
        json!(why_not(&self.world.materialised(), rel, &args).expect("it does not hold"))
    }

    fn goal(&mut self, goal: &str) -> Value {
        let mut made = self.refutation(goal);
        made["goal"].take()
    }

    /// Why a finding is refused; empty if it is not.
    fn fault(&self, finding: &Value) -> String {
        let finding: Finding = serde_json::from_value(finding.clone()).expect("well-formed");
        let mut checker = Checker::new(self.world.program(), self.world.facts());
        checker.finding(&finding).err().map(|it| it.to_string()).unwrap_or_default()
    }

    /// Puts something else in one place, which is to be refused for a reason.
    fn forge(&self, honest: &Value, place: &str, new: Value, reason: &str) {
        let honest = match honest.get("tuple") {
            Some(_) => json!({ "proved": [honest] }),
            None => json!({ "refuted": [honest] }),
        };
        assert_eq!(self.fault(&honest), "");
        let mut forged = honest.clone();
        let top = if honest.get("proved").is_some() { "/proved/0" } else { "/refuted/0" };
        let part = forged.pointer_mut(&format!("{top}{place}"));
        *part.unwrap_or_else(|| panic!("no {place} in {honest}")) = new.clone();
        assert_eq!(self.fault(&forged), reason, "{place} is {new} in {honest}");
    }
}

fn said() -> Said {
    Said { world: places() }
}

#[test]
fn premises_are_what_the_rule_asks_for() {
    let mut said = said();
    let walk = said.proof("walk a d");
    let premise = "/ground/rule/premises/0/holds";
    for (row, text) in [("walk a b", "walk(a, b)"), ("ride a c", "ride(a, c)")] {
        let other = said.proof(row);
        let reason = format!("walk(a, d), premise 1: {text} is not what the rule asks for");
        said.forge(&walk, premise, other, &reason);
    }
    let second = "/ground/rule/premises/1";
    let denied = said.refutation("road a d");
    let denied = json!({ "absent": { "goal": denied["goal"], "refutation": denied } });
    let kind = "the premise is of another kind than the rule's literal";
    said.forge(&walk, second, denied, &format!("walk(a, d), premise 2: {kind}"));
    let deeper = "/ground/rule/premises/0/holds/ground/rule/premises/1/holds";
    let road = said.proof("road c d");
    let reason = "walk(a, c), premise 2: road(c, d) is not what the rule asks for";
    said.forge(&walk, deeper, road, reason);
    let awake = said.proof("awake 1");
    let tired = said.proof("tired 2");
    let reason = format!("awake(#1), premise 2: {kind}");
    said.forge(&awake, "/ground/rule/premises/1", json!({ "holds": tired }), &reason);
}

#[test]
fn what_is_left_open_holds_all_the_same() {
    let mut said = said();
    let walk = said.proof("walk a d");
    said.forge(
        &walk,
        "/ground",
        json!("static"),
        "walk(a, d): a row of this relation is not proved in this way",
    );
    let mut open = walk.clone();
    open["ground"] = json!("deeper");
    let back = json!([{ "raw": 3, "name": "d" }, { "raw": 0, "name": "a" }]);
    said.forge(&open, "/tuple", back.clone(), "walk(d, a): it does not hold");
    let mut road = said.proof("road c d");
    road["ground"] = json!("static");
    said.forge(&road, "/tuple", back, "road(d, a): it does not hold");
    said.forge(
        &road,
        "/ground",
        json!("deeper"),
        "road(c, d): a row of this relation is not proved in this way",
    );
    let at = said.proof("at 2 c");
    said.forge(
        &at,
        "/ground",
        json!("static"),
        "at(#2, c): a row of this relation is not proved in this way",
    );
}

#[test]
fn facts_are_read_where_they_stand() {
    let mut said = said();
    for (row, shown, attr, entity, other) in [
        ("at 2 c", "at(#2, c)", "at", 2, 1),
        ("tired 2", "tired(#2)", "tired", 2, 1),
        ("night", "night()", "night", 0, 1),
        ("hour 7", "hour(7)", "hour", 0, 1),
    ] {
        let fact = said.proof(row);
        assert_eq!(fact["ground"], json!({ "fact": { "entity": entity, "attribute": attr } }));
        let reason = format!("{shown}: the facts do not say so of entity {other}");
        said.forge(&fact, "/ground/fact/entity", json!(other), &reason);
        let reason = format!("{shown}: it is read from {attr}, not weight");
        said.forge(&fact, "/ground/fact/attribute", json!("weight"), &reason);
    }
    let at = said.proof("at 2 c");
    let elsewhere = json!({ "raw": 0, "name": "a" });
    said.forge(&at, "/tuple/1", elsewhere, "at(#2, a): the facts do not say so of entity 2");
    let thing = json!({ "raw": 1, "name": "#1" });
    said.forge(&at, "/tuple/0", thing.clone(), "at(#1, c): the facts do not say so of entity 2");
    let tired = said.proof("tired 2");
    said.forge(&tired, "/tuple/0", thing, "tired(#1): the facts do not say so of entity 2");
    let hour = said.proof("hour 7");
    let eight = json!({ "raw": 8, "name": "8" });
    said.forge(&hour, "/tuple/0", eight, "hour(8): the facts do not say so of entity 0");
    let called = json!({ "raw": 7, "name": "8" });
    said.forge(&hour, "/tuple/0", called, "hour: 7 is not called 8");
    said.forge(&hour, "/relation", json!("hours"), "hours: there is no such relation");
    said.forge(&hour, "/tuple", json!([]), "hour: the relation has 1 columns, not 0");
}

#[test]
fn rules_are_quoted_as_they_stand() {
    let mut said = said();
    let walk = said.proof("walk a b");
    let longer = said.proof("walk a c");
    let quote = &walk["ground"]["rule"]["rule"];
    let place = |number: &Value| {
        let mut it = quote.clone();
        it["rule"] = number.clone();
        it
    };
    let (mine, other) = (&quote["rule"], &longer["ground"]["rule"]["rule"]["rule"]);
    assert_ne!(mine, other);
    let at = "/ground/rule/rule";
    let (here, there) =
        (quote["place"].as_str().unwrap(), &longer["ground"]["rule"]["rule"]["place"]);
    let reason = format!("walk(a, b): the rule stands at {}, not {here}", there.as_str().unwrap());
    said.forge(&walk, at, place(other), &reason);
    said.forge(&walk, at, place(&json!(999)), "walk(a, b): there is no rule number 999");
    let reason = format!("walk(a, b): {here} has another text");
    said.forge(&walk, "/ground/rule/rule/text", json!("walk(x, y)."), &reason);
    let ride = said.proof("ride a b")["ground"]["rule"]["rule"].take();
    said.forge(&walk, at, ride, "walk(a, b): its rule concludes ride");
    let wanted = "walk(a, b): the rule has 2 premises, not 1";
    let one = json!([walk["ground"]["rule"]["premises"][0]]);
    said.forge(&walk, "/ground/rule/premises", one, wanted);
    let bindings = &walk["ground"]["rule"]["bindings"];
    let swapped = json!([bindings[1], bindings[0]]);
    said.forge(&walk, "/ground/rule/bindings", swapped, "walk(a, b): x has no value");
    let twice = json!([bindings[0], bindings[1], bindings[1]]);
    let reason = "walk(a, b): y is no variable of the rule, or out of order";
    said.forge(&walk, "/ground/rule/bindings", twice, reason);
    let elsewhere = json!({ "raw": 2, "name": "c" });
    let reason = "walk(a, b): the rule concludes another row with these bindings";
    said.forge(&walk, "/ground/rule/bindings/1/value", elsewhere, reason);
}

#[test]
fn denials_are_of_what_the_rule_denies() {
    let mut said = said();
    let awake = said.proof("awake 1");
    let walk = said.refutation("walk b a");
    let denied = "/ground/rule/premises/1/absent";
    let reason = "awake(#1), premise 2: the refutation is of another goal";
    said.forge(&awake, &format!("{denied}/refutation"), walk, reason);
    let reason = "awake(#1), premise 3: the rule denies something else";
    for goal in ["walk c a", "ride b a"] {
        let goal = said.goal(goal);
        let absent = json!({ "goal": goal, "refutation": null });
        said.forge(&awake, "/ground/rule/premises/2/absent", absent, reason);
    }
    let reason = "awake(#1), premise 2: the rule denies something else";
    let goal = json!({ "relation": "tired", "args": [{ "raw": 2, "name": "#2" }] });
    said.forge(&awake, denied, json!({ "goal": goal, "refutation": null }), reason);
    let mut bare = awake.clone();
    bare["ground"]["rule"]["premises"][1]["absent"]["refutation"] = json!(null);
    assert_eq!(said.fault(&json!({ "proved": [bare] })), "");
}

#[test]
fn comparisons_and_aggregates_come_to_what_they_say() {
    let mut said = said();
    let heavy = said.proof("heavy 2");
    let compare = |part: &str| format!("/ground/rule/premises/1/compare/{part}");
    let six = json!({ "raw": 6, "name": "6" });
    let side = "heavy(#2), premise 2: a side of n > 4 has another value";
    said.forge(&heavy, &compare("lhs"), six.clone(), side);
    said.forge(&heavy, &compare("rhs"), six.clone(), side);
    said.forge(&heavy, &compare("rhs"), json!(null), side);
    let named = json!({ "raw": 4, "name": "four" });
    said.forge(&heavy, &compare("rhs"), named, "heavy(#2), premise 2: 4 is not called four");
    said.forge(
        &heavy,
        &compare("op"),
        json!(">="),
        "heavy(#2), premise 2: n > 4 is not in the rule",
    );
    let reason = "heavy(#2), premise 2: 4 < n is not in the rule";
    said.forge(&heavy, &compare("text"), json!("4 < n"), reason);

    let load = said.proof("load 8");
    let tally = |part: &str| format!("/ground/rule/premises/1/aggregate/{part}");
    let text = "sum { w : weight(p, w) }";
    let members = &load["ground"]["rule"]["premises"][1]["aggregate"]["members"];
    assert_eq!(members.as_array().unwrap().len(), 2);
    let reason = format!("load(8), premise 2: {text} has other members");
    said.forge(&load, &tally("members"), json!([members[0]]), &reason);
    said.forge(&load, &tally("members/0/1/value"), six, &reason);
    let turned = json!([members[1], members[0]]);
    let mut otherwise = load.clone();
    *otherwise.pointer_mut(&tally("members")).unwrap() = turned;
    assert_eq!(said.fault(&json!({ "proved": [otherwise] })), "", "members have no order");
    let reason = format!("load(8), premise 2: {text} comes to something else");
    said.forge(&load, &tally("value"), json!([9]), &reason);
    said.forge(&load, &tally("value"), json!(null), &reason);
    let reason = "load(8), premise 2: sum { w } is not in the rule";
    said.forge(&load, &tally("text"), json!("sum { w }"), reason);
    // The rule concludes what the aggregate comes to, and no other number.
    let mut nine = load.clone();
    let at = json!({ "raw": 9, "name": "9" });
    nine["tuple"][0] = at.clone();
    nine["ground"]["rule"]["bindings"][0]["value"] = at;
    let reason = format!("load(9), premise 2: {text} has another value");
    assert_eq!(said.fault(&json!({ "proved": [nine] })), reason);
}

#[test]
fn attempts_are_at_the_goal() {
    let mut said = said();
    let walk = said.refutation("walk d a");
    let fault = |rule: usize, reason: &str| format!("not walk, rule {rule}: {reason}");
    let rules = walk["lack"]["rules"].clone();
    let swapped = json!([rules[1], rules[0]]);
    said.forge(&walk, "/lack/rules", swapped, &fault(1, "the rules are not in their order"));
    let one = json!([rules[0]]);
    said.forge(&walk, "/lack/rules", one, "not walk: the relation has 2 rules");
    said.forge(&walk, "/lack/rules/1/total", json!(3), &fault(2, "the rule has 2 literals"));
    let not_failing = &rules[0]["matched"];
    let number =
        fault(1, &format!("the number of literals that do not fail is {not_failing}, not 1"));
    said.forge(&walk, "/lack/rules/0/matched", json!(1), &number);
    let goal = fault(1, "the bindings are not those of the goal");
    said.forge(&walk, "/lack/rules/0/bindings", json!([rules[0]["bindings"][0]]), &goal);
    let elsewhere = json!({ "raw": 1, "name": "b" });
    said.forge(&walk, "/lack/rules/0/bindings/0/value", elsewhere, &goal);
    let head = fault(1, "the rule could conclude the goal");
    said.forge(&walk, "/lack/rules/0/blocked", json!("head"), &head);
    said.forge(&walk, "/lack", json!("circular"), "not walk: no goal above it is the same");
    said.forge(
        &walk,
        "/lack",
        json!({ "fact": { "instead": null } }),
        "not walk: a goal of this relation is not refuted in this way",
    );
    // A goal that is another relation's, or another one of this relation.
    for goal in ["street d a", "road _ a", "at _ b"] {
        let other = said.refutation(goal);
        let name = goal.split(' ').next().unwrap();
        let reason = fault(1, &format!("{name}: no literal asks for it"));
        said.forge(&walk, "/lack/rules/0/blocked/missing", other, &reason);
    }
    let ride = said.refutation("ride a a");
    let other = said.proof("walk a b")["tuple"].take();
    said.forge(&ride, "/goal/args", other, "not ride: there is such a row");
}

#[test]
fn circles_close() {
    let mut said = said();
    let ride = said.refutation("ride c b");
    let inner = "/lack/rules/1/blocked/missing";
    let innermost = format!("{inner}/lack/rules/1/blocked/missing");
    assert_eq!(ride.pointer(&format!("{innermost}/lack")), Some(&json!("circular")), "{ride}");
    assert_eq!(ride.pointer(&format!("{innermost}/goal")), Some(&ride["goal"]));
    // The same relation with another goal is no circle.
    let reason = "not ride, rule 2: not ride: no goal above it is the same";
    said.forge(&ride, &format!("{inner}/lack"), json!("circular"), reason);
}

#[test]
fn what_stands_instead_is_told() {
    let mut said = said();
    let reason = |it: &str| format!("not {it}: what is there instead is stated wrongly");
    let (b, c) = (json!({ "raw": 1, "name": "b" }), json!({ "raw": 2, "name": "c" }));
    let at = said.refutation("at 1 b");
    said.forge(&at, "/lack/fact/instead", json!(null), &reason("at"));
    said.forge(&at, "/lack/fact/instead", c.clone(), &reason("at"));
    let called = json!({ "raw": 0, "name": "b" });
    said.forge(&at, "/lack/fact/instead", called, "not at: 0 is not called b");
    let nowhere = said.refutation("at _ b");
    said.forge(&nowhere, "/lack/fact/instead", c.clone(), &reason("at"));
    let tram = said.refutation("tram b c");
    assert_eq!(tram["lack"]["static"]["instead"]["name"], "d");
    said.forge(&tram, "/lack/static/instead", json!(null), &reason("tram"));
    let missing = said.refutation("tram a c");
    assert_eq!(missing["lack"]["static"]["instead"], json!(null));
    said.forge(&missing, "/lack/static/instead", b.clone(), &reason("tram"));
    // Several roads may lead from one place: none of them stands instead of another.
    let road = said.refutation("road a c");
    said.forge(&road, "/lack/static/instead", b, &reason("road"));
}

#[test]
fn what_blocks_a_rule_is_in_the_rule() {
    let mut said = said();
    let awake = said.refutation("awake 2");
    let blocked = "/lack/rules/0/blocked";
    let denies = |rule: &str, it: &str| format!("not {rule}, rule 1: {it}: no literal denies it");
    for row in ["night", "at 2 c", "walk a b", "heavy 2"] {
        let other = said.proof(row);
        let name = row.split(' ').next().unwrap();
        said.forge(&awake, blocked, json!({ "present": other }), &denies("awake", name));
    }
    // With `y` open, a thing on c says nothing against `!at(_, y)`.
    let idle = said.refutation("idle a");
    let mut open = idle["lack"]["rules"][0].clone();
    open["bindings"] = json!([open["bindings"][0]]);
    open["matched"] = json!(3);
    let here = json!({ "present": said.proof("at 1 a") });
    open["blocked"] = here;
    let mut honest = idle.clone();
    honest["lack"]["rules"][0] = open;
    let there = json!({ "present": said.proof("at 2 c") });
    said.forge(&honest, blocked, there, &denies("idle", "at"));

    let ring = said.refutation("ring");
    assert!(ring.pointer(&format!("{blocked}/apart")).is_some(), "{ring}");
    let lacks = |it: &str| format!("not ring, rule 1: {it}: no literal lacks a row in this way");
    let road = json!({ "apart": { "relation": "road", "args": [null, null] } });
    said.forge(&ring, blocked, road, &lacks("road"));
    let d = json!({ "raw": 3, "name": "d" });
    let walk = json!({ "apart": { "relation": "walk", "args": [null, d] } });
    said.forge(&ring, blocked, walk, &lacks("walk"));
    let ride = json!({ "apart": { "relation": "ride", "args": [null, null] } });
    said.forge(&ring, blocked, ride, &lacks("ride"));
    // No row lets a thing be on d: it is not so that two variables cannot have one value.
    let walk = said.refutation("walk d a");
    let nothing = walk.pointer(&format!("{blocked}/missing/goal")).expect("a goal").clone();
    let name = nothing["relation"].as_str().expect("a name").to_owned();
    let reason = format!("not walk, rule 1: {name}: no literal lacks a row in this way");
    said.forge(&walk, blocked, json!({ "apart": nothing }), &reason);
}

#[test]
fn what_fails_is_computed_anew() {
    let mut said = said();
    let blocked = |part: &str| format!("/lack/rules/0/blocked/{part}");
    let heavy = said.refutation("heavy 1");
    let reason = |it: &str| format!("not heavy, rule 1: {it}");
    let six = json!({ "raw": 6, "name": "6" });
    let side = reason("a side of n > 4 has another value");
    said.forge(&heavy, &blocked("compare/lhs"), six.clone(), &side);
    said.forge(
        &heavy,
        &blocked("compare/text"),
        json!("n > 5"),
        &reason("n > 5 is not in the rule"),
    );
    // A rule that could go on: what is compared is not known yet.
    let mut open = heavy["lack"]["rules"][0].clone();
    open["bindings"] = json!([open["bindings"][0]]);
    open["matched"] = json!(2);
    open["blocked"]["compare"]["lhs"] = json!(null);
    let undecided = reason("n > 4 cannot be decided with these bindings");
    said.forge(&heavy, "/lack/rules/0", open, &undecided);

    let load = said.refutation("load 7");
    let text = "sum { w : weight(p, w) }";
    let reason = |it: &str| format!("not load, rule 1: {text} {it}");
    said.forge(&load, &blocked("aggregate/value"), json!([7]), &reason("comes to something else"));
    let one = json!([load.pointer(&blocked("aggregate/members/0"))]);
    said.forge(&load, &blocked("aggregate/members"), one, &reason("has other members"));
    let other = json!("sum { w }");
    let unsaid = "not load, rule 1: sum { w } is not in the rule";
    said.forge(&load, &blocked("aggregate/text"), other, unsaid);
}

#[test]
fn reports_count_each_step_once() {
    let mut said = said();
    let mut sum = Report::default();
    let mut all = Vec::new();
    // Rows that are proved and goals that are refuted; denials; comparisons; aggregates.
    for (proof, wanted) in [
        ("walk a d", [7, 0, 0, 0]),
        ("awake 1", [6, 5, 0, 0]),
        ("heavy 2", [2, 0, 1, 0]),
        ("load 8", [2, 0, 0, 1]),
        ("few 2", [2, 0, 1, 1]),
    ] {
        let proof = said.proof(proof);
        let finding: Finding = serde_json::from_value(json!({ "proved": [proof] })).unwrap();
        let mut checker = Checker::new(said.world.program(), said.world.facts());
        let it = checker.finding(&finding).unwrap();
        assert_eq!([it.steps, it.absent, it.comparisons, it.aggregates], wanted, "{proof}");
        sum += it;
        all.push(proof);
    }
    let finding: Finding = serde_json::from_value(json!({ "proved": all })).unwrap();
    let mut checker = Checker::new(said.world.program(), said.world.facts());
    assert_eq!(checker.finding(&finding).unwrap(), sum);
    let walk = said.refutation("walk d a");
    let finding: Finding = serde_json::from_value(json!({ "refuted": [walk, walk] })).unwrap();
    let it = checker.finding(&finding).unwrap();
    assert_eq!([it.steps, it.absent], [6, 6], "each refutes three goals");
    // What is left out for its depth is counted, too.
    let mut proof = said.proof("walk a d");
    proof["ground"]["rule"]["premises"][0]["holds"]["ground"] = json!("deeper");
    let finding: Finding = serde_json::from_value(json!({ "proved": [proof] })).unwrap();
    assert_eq!(checker.finding(&finding).unwrap().open, 1);
    let mut ride = said.refutation("ride c b");
    *ride.pointer_mut("/lack/rules/1/blocked/missing/lack").unwrap() = json!("deeper");
    let finding: Finding = serde_json::from_value(json!({ "refuted": [ride] })).unwrap();
    assert_eq!(checker.finding(&finding).unwrap().open, 1);
}

#[test]
fn reports_add_up() {
    let report = |n| Report {
        steps: n,
        absent: n + 1,
        comparisons: n + 2,
        aggregates: n + 3,
        effects: n + 4,
        open: n + 5,
        code: n + 6,
    };
    let mut sum = report(3);
    sum += report(20);
    let wanted = Report { steps: 23, absent: 25, comparisons: 27, aggregates: 29, ..sum };
    assert_eq!(sum, Report { effects: 31, open: 33, code: 35, ..wanted });
}

#[test]
fn a_rule_of_other_rows_only_is_no_attempt() {
    let mut said = said();
    let safe = said.refutation("safe a");
    assert_eq!(safe["lack"]["rules"][0]["blocked"], json!("head"));
    let reason = "not safe, rule 1: a rule that cannot conclude the goal has no bindings and no literals that match";
    said.forge(&safe, "/lack/rules/0/matched", json!(1), reason);
    let fails = said.refutation("safe b");
    let reason = "not safe, rule 2: the rule could conclude the goal";
    said.forge(&fails, "/lack/rules/1/blocked", json!("head"), reason);
}

#[test]
fn a_flag_that_is_false_is_no_fact() {
    let mut said = said();
    let (night, tired) = (said.proof("night"), said.proof("tired 2"));
    let schema = said.world.program().schema.clone();
    for (proof, entity, attr, shown) in
        [(night, GAME, "night", "night()"), (tired, EntityId(2), "tired", "tired(#2)")]
    {
        let finding = json!({ "proved": [proof] });
        assert_eq!(said.fault(&finding), "");
        let attr = schema.attribute_named(attr).expect("declared");
        for raw in [Some(0), None] {
            said.world.set_raw(entity, attr, raw);
            let reason = format!("{shown}: the facts do not say so of entity {}", entity.0);
            assert_eq!(said.fault(&finding), reason, "{raw:?}");
        }
    }
}

/// The model computes what the evaluators do where a sum leaves the numbers that there are.
#[test]
fn sums_end_where_numbers_do() {
    let mut said = said();
    let load = rel(said.world.program(), "load");
    let weight = said.world.program().schema.attribute_named("weight").expect("declared");
    for (other, sum) in [(0, Some(-i64::MAX)), (-1, None), (-2, None), (1, Some(1 - i64::MAX))] {
        said.world.set_raw(EntityId(1), weight, Some(-i64::MAX));
        said.world.set_raw(EntityId(2), weight, Some(other));
        said.world.commit();
        let mut checker = Checker::new(said.world.program(), said.world.facts());
        let wanted: Vec<Vec<i64>> = sum.into_iter().map(|it| vec![it]).collect();
        assert_eq!(checker.rows(load), wanted);
        assert_eq!(said.world.tuples(load).len(), wanted.len());
    }
}

/// Every relation has the rows that the evaluators derive.
#[test]
fn the_model_has_the_same_rows() {
    let mut said = said();
    let program = said.world.program().clone();
    let mut checker = Checker::new(&program, said.world.facts());
    for at in 0..program.relations.len() {
        let rel = RelId(at as u16);
        let mut wanted: Vec<Vec<i64>> =
            said.world.tuples(rel).iter().map(|it| it.to_vec()).collect();
        wanted.sort_unstable();
        assert_eq!(checker.rows(rel), wanted, "{}", program.relation(rel).name);
    }
}
