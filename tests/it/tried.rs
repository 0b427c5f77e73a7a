//! Trials: relations whose rows are found by playing actions out; and what relations that follow from rules
//! were before an action. Both evaluators, the checker of proofs, saves and audits agree.

use std::sync::Arc;

use rulemate::internals::audit;
use rulemate::internals::derive::explain::{Ground, Lack, Limits, Premise, Proof, why, why_not};
use rulemate::internals::derive::{Backend, World};
use rulemate::internals::facts::GAME;
use rulemate::internals::game::Game;
use rulemate::internals::moves::perft;
use rulemate::internals::presets::save::{Content, Form, RulesFrom, Save};
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::internals::proof::Checker;
use rulemate::internals::rules::{Program, Source, compile};

use crate::fixture::{member, program, rel, rows, set, world};
use crate::reactions::{fire_alike, twin};

/// Things that step along places, and fall into the water on c. A step goes on where another one would not fall.
const STEPS: &str = r#"
.domain Side { white, black }
.domain Place { a, b, c, d, e }
.domain Thing entities 8
.stages first, main, settle, last default main
.input turn(side: Side) game attr turn = white "it is {side}'s turn"
.input at(thing: Thing, place: Place) key attr at "{thing} is on {place}"
.input side(thing: Thing, side: Side) key attr side "{thing} belongs to {side}"
.input again(thing: Thing) flag attr again "{thing} may step again"
.input wet(n: Int) game attr wet "{n} things got wet"
.input last_reach(thing: Thing, n: Int) key attr reach "{thing} could reach {n} places before"
.static next(place: Place, to: Place) "{to} is next to {place}"
next('a, 'b). next('b, 'c). next('c, 'd). next('d, 'e). next('a, 'c). next('b, 'd).
.event splash(thing: Thing) "{thing} falls into the water"
.decl taken(place: Place) "{place} is taken"
taken(x) :- at(_, x).
.decl may(thing: Thing, to: Place) "{thing} may try {to}"
may(p, y) :- turn(s), side(p, s), at(p, x), next(x, y), !taken(y).
.decl reach(thing: Thing, n: Int) key "{thing} reaches {n} places"
reach(p, n) :- at(p, x), n = count { next(x, y), !taken(y) }.
.decl untenable(side: Side) "{side} may not leave it so"
untenable(s) :- side(p, s), at(p, 'c).
.action step(thing: Thing, to: Place) pseudo_legal may legality simulate until main "{thing} steps to {to}"
step(p, y) :- may(p, y).
.trial dry(thing: Thing, to: Place) of step where was turn(s), !untenable(s) "{thing} would keep dry on {to}"
.static close(place: Place, to: Place) "{to} is close to {place}"
close('a, 'b). close('b, 'c). close('c, 'd). close('d, 'e).
.decl steady(thing: Thing, to: Place) "{thing} steps on by one"
steady(p, y) :- may(p, y), at(p, x), close(x, y).
.trial short(thing: Thing, to: Place) of step from steady "{thing} could take the short step to {to}"
.trial moves_on(thing: Thing, to: Place) of step where dry(thing, _), n = count { at(_, x), x > to }, n < 2 "{thing} goes on after {to}"
.decl stays(thing: Thing) "{thing} cannot keep dry"
stays(p) :- at(p, _), !dry(p, _).
on step(p, y) do set at(p, y).
on step(p, y) when next(y, _), y = 'c do raise splash(p).
on splash(_) when wet(n) do set wet(n + 1).
on step(p, _) in settle when dry(p, _) do set again(p).
on step(p, _) in settle when stays(p) do retract again(p).
on step(p, _) in settle when stays(p), turn('white) do set turn('black).
on step(p, _) in settle when stays(p), turn('black) do set turn('white).
on step(p, _) in last when was reach(p, n), !reach(p, n) do set last_reach(p, n).
on step(p, y) in last when was may(p, z), y != z, !was taken(z) do note "{p} could have gone to {z}".
"#;

fn steps(places: [&str; 3]) -> World {
    let program = program(STEPS);
    let mut world = world(&program, Backend::Bits);
    for (place, side) in places.iter().zip(["white", "black", "white"]) {
        let thing = world.create();
        set(&mut world, thing, "at", "Place", place);
        set(&mut world, thing, "side", "Side", side);
    }
    let wet = program.schema.attribute_named("wet").expect("declared");
    world.set_raw(GAME, wet, Some(0));
    set(&mut world, GAME, "turn", "Side", "white");
    world.commit();
    world
}

const ASKED: [&str; 5] = ["dry", "short", "moves_on", "stays", "may"];

/// What the trials hold of: the bit evaluator, datafrog and the checker agree.
fn asked(world: &mut World) -> Vec<String> {
    let mut all = Vec::new();
    let mut other = twin(world);
    let program = Arc::clone(world.program());
    let mut checker = Checker::new(&program, world.facts());
    for name in ASKED {
        let found = rows(world, name);
        assert_eq!(found, rows(&mut other, name), "datafrog: {name}");
        let model: Vec<String> = checker
            .rows(rel(&program, name))
            .iter()
            .map(|it| program.tuple_name(rel(&program, name), it))
            .collect();
        assert_eq!(found, model, "the checker: {name}");
        all.extend(found.into_iter().filter(|_| name != "may"));
    }
    all
}

fn step(world: &mut World, thing: i64, place: &str) -> Vec<String> {
    let program = Arc::clone(world.program());
    let to = member(&program, "Place", place);
    let trace = fire_alike(world, program.actions[0].id, &[thing, to]).expect("it happens");
    let noted = |it: &rulemate::internals::derive::Done| match it {
        rulemate::internals::derive::Done::Noted { said } => Some(said.to_string()),
        _ => None,
    };
    trace.done().filter_map(|it| noted(it.1)).collect()
}

#[test]
fn trials_hold_of_what_survives_being_played_out() {
    let mut world = steps(["a", "e", "b"]);
    // b is taken, and c is in the water, where it can go on from.
    assert_eq!(
        asked(&mut world),
        [
            "dry(#3, d)",
            "short(#3, c)",
            "moves_on(#1, c)",
            "moves_on(#3, c)",
            "stays(#1)",
            "stays(#2)"
        ]
    );
    let (mark, before) = (world.mark(), world.facts().hash());
    assert_eq!(step(&mut world, 3, "d"), ["#3 could have gone to c"]);
    // No dry step is left of it, so the turn has passed. Of black nothing may step.
    assert_eq!(asked(&mut world), ["stays(#1)", "stays(#2)", "stays(#3)"]);
    assert_eq!(rows(&mut world, "turn"), ["turn(black)"]);
    world.rollback(mark);
    assert_eq!(world.facts().hash(), before);
    assert_eq!(rows(&mut world, "dry"), ["dry(#3, d)"]);
    // A write that no action makes is seen at once, and so is its being taken back.
    let mark = world.mark();
    let at = world.program().schema.attribute_named("at").expect("declared");
    world.set_raw(rulemate::internals::facts::EntityId(3), at, None);
    assert_eq!(asked(&mut world)[..3], ["dry(#1, b)", "short(#1, b)", "moves_on(#1, b)"]);
    assert_eq!(step(&mut world, 1, "b"), ["#1 could have gone to c"]);
    assert_eq!(rows(&mut world, "again"), ["again(#1)"], "from b it is not far to d");
    assert_eq!(rows(&mut world, "turn"), ["turn(white)"]);
    world.rollback(mark);
    assert_eq!(rows(&mut world, "dry"), ["dry(#3, d)"]);
    world.unload();
    assert_eq!(rows(&mut world, "dry"), ["dry(#3, d)"]);
    world.reload();
    assert_eq!(asked(&mut world)[0], "dry(#3, d)");
    assert_eq!(rows(&mut world, "wet"), ["wet(0)"], "nothing that was tried has happened");
}

#[test]
fn what_followed_before_the_action_can_be_asked_for() {
    let mut world = steps(["a", "e", "b"]);
    step(&mut world, 3, "d");
    // From b two places were to be reached; from d the only one is taken.
    assert_eq!(rows(&mut world, "last_reach"), ["last_reach(#3, 2)"]);
    let mut world = steps(["c", "e", "a"]);
    // Into the water and out of it: what was before is that of each action.
    assert_eq!(rows(&mut world, "dry"), ["dry(#1, d)"]);
    assert_eq!(step(&mut world, 3, "b"), Vec::<String>::new());
    assert_eq!(
        rows(&mut world, "turn"),
        ["turn(black)"],
        "a thing of its side stands in the water"
    );
    assert_eq!(rows(&mut world, "last_reach"), Vec::<String>::new(), "as many as before");
}

fn tried_in(proof: &Proof) -> bool {
    match &proof.ground {
        Ground::Tried => true,
        Ground::Rule { premises, .. } => premises.iter().any(|it| match it {
            Premise::Holds(it) => tried_in(it),
            _ => false,
        }),
        _ => false,
    }
}

#[test]
fn proofs_rest_on_what_was_played_out() {
    let mut world = steps(["a", "e", "b"]);
    let program = Arc::clone(world.program());
    let [dry, stays] = ["dry", "stays"].map(|it| rel(&program, it));
    let d = member(&program, "Place", "d");
    let facts = world.facts().clone();
    let check = || Checker::new(&program, &facts);
    let rows = world.materialised();
    let proof = why(&rows, dry, &[3, d]).expect("it holds");
    assert!(tried_in(&proof));
    assert!(check().proof(&proof).is_ok());
    let mut forged = proof.clone();
    forged.tuple[0].raw = 1;
    forged.tuple[0].name = "#1".into();
    assert!(check().proof(&forged).is_err());
    assert!(check().proof(&Proof { ground: Ground::Static, ..proof }).is_err());
    let refuted = why_not(&rows, dry, &[Some(1), None]).expect("it does not hold");
    assert_eq!(refuted.lack, Lack::Tried);
    assert!(check().refutation(&refuted).is_ok());
    let mut forged = refuted;
    forged.goal.args[0] = None;
    assert!(check().refutation(&forged).is_err());
    let proof = why(&rows, stays, &[1]).expect("it holds");
    assert!(check().proof(&proof).is_ok());
}

fn mistakes(more: &str) -> Vec<(String, String)> {
    let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
    match compile(vec![source("steps.dl", STEPS), source("more.dl", more)]) {
        Ok(_) => Vec::new(),
        Err(found) => {
            found.list().iter().map(|it| (it.code.to_string(), it.message.clone())).collect()
        }
    }
}

#[test]
fn nothing_that_is_played_out_asks_what_comes_of_it() {
    let circle = |name: &str, what: &str| {
        let text = format!("the trial `{name}` depends on itself: {what}");
        ("E508".to_string(), text)
    };
    assert_eq!(mistakes("on step(p, _) in last when dry(p, _) do note \"it is dry\"."), []);
    // In the stages that are played out, in what they raise, and in what decides which may be tried.
    assert_eq!(
        mistakes("on step(p, _) in first when stays(p) do note \"it stays\"."),
        [circle("dry", "playing out `step` asks for `dry`")]
    );
    assert_eq!(
        mistakes("on splash(p) in last when short(p, _) do note \"never\"."),
        [circle("short", "playing out `step` asks for `short`")]
    );
    assert_eq!(
        mistakes("on step(p, _) in last when was moves_on(p, _) do note \"it was so\"."),
        [
            circle("dry", "playing out `step` asks for what `moves_on` was"),
            circle("moves_on", "playing out `step` asks for what `moves_on` was")
        ]
    );
    assert_eq!(
        mistakes(
            ".trial first_of(t: Thing, p: Place) of step where second_of(t, _) \"{t}, {p}\"\n\
                  .trial second_of(t: Thing, p: Place) of step where !first_of(t, p) \"{t}, {p}\""
        ),
        [
            circle("first_of", "its condition asks for `second_of`"),
            circle("second_of", "its condition asks for `first_of`")
        ]
    );
    assert_eq!(
        mistakes(
            ".trial odd(t: Thing, p: Place) of step from listed \"{t}, {p}\"\n\
                  .decl listed(t: Thing, p: Place) \"{t}, {p}\"\n\
                  listed(t, p) :- may(t, p), !odd(t, p)."
        ),
        [circle("odd", "which rows of `step` are played out depends on `odd`")]
    );
    let codes = |text: &str| -> Vec<String> { mistakes(text).into_iter().map(|it| it.0).collect() };
    assert_eq!(codes("dry(p, x) :- at(p, x)."), ["E501"]);
    assert_eq!(codes(".trial odd(t: Thing, p: Place) of may \"{t}, {p}\""), ["E132"]);
    assert_eq!(codes(".trial odd(t: Thing) of step \"{t}\""), ["E133"]);
    assert_eq!(codes(".trial odd(t: Thing, p: Place) of step from at2 \"{t}, {p}\""), ["E201"]);
    assert_eq!(codes(".trial odd(t: Thing, p: Place) of step from taken \"{t}, {p}\""), ["E118"]);
    assert_eq!(
        codes(".meta preset \"biter\"\non step(p, _) in first do call bite(p)."),
        ["E509", "E509", "E509"]
    );
    assert_eq!(codes("on step(_, x) in last when was next(x, _) do note \"n\"."), ["E616"]);
}

/// Runners hop on as long as a hop is free and leaves them dry: the turn ends by itself.
pub(crate) const RELAY: &str = r#"
.meta game "relay"
.meta title "Relay"
.meta board "8x1"
.meta start "R6r w 1"
.domain Kind += { runner }
.domain Reason += { held }
letter('runner, "r").
.static onward(side: Side, dir: Dir) "{side} runs {dir}"
onward('white, 'e). onward('black, 'w).
.static swamp(square: Square) "{square} is swamp"
swamp('c1). swamp('e1).
.decl try_hop(piece: Entity, to: Square) "{piece} could hop to {to}"
try_hop(p, t) :- own(p), color(p, c), onward(c, d), at(p, s), step(d, s, t), !occupied(t).
try_hop(p, t) :- own(p), color(p, c), onward(c, d), at(p, s), step(d, s, u), step(d, u, t), !occupied(t).
.action hop(piece: Entity, to: Square) pseudo_legal try_hop legality simulate until apply uci "{at(piece)}{to}" san "{at(piece)}{to}" "{piece} hops to {to}"
hop(p, t) :- try_hop(p, t).
on hop(p, t) do set at(p, t).
untenable(c) :- color(p, c), at(p, s), swamp(s).
.trial free_hop(piece: Entity, to: Square) of hop where was turn(c), !untenable(c) "{piece} is free to hop on to {to}"
turn_goes_on() :- free_hop(_, _).
movable() :- free_hop(_, _).
no_action_result(o, 'held) :- turn(c), opponent(c, x), wins(x, o).
"#;

fn relay() -> (Catalogue, Ruleset) {
    game_of_ones_own("relay", RELAY)
}

fn game_of_ones_own(name: &str, text: &str) -> (Catalogue, Ruleset) {
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    let source = Source { path: format!("mine/{name}.dl"), text: text.into() };
    catalogue.add(source).expect("metadata that makes sense");
    let rules = catalogue.load::<&str>(name, &[]).unwrap_or_else(|it| panic!("{it}"));
    (catalogue, rules)
}

/// No reaction after the stage that is tried can ever fire, so that the batches of the event come right after those
/// of the only action.
const SPLASH: &str = r#"
.meta game "splash"
.meta title "Splash"
.meta board "8x1"
.meta start "R6r w 1"
.stage extra after describe
.domain Kind += { runner }
.domain Reason += { held }
letter('runner, "r").
.static onward(side: Side, dir: Dir) "{side} runs {dir}"
onward('white, 'e). onward('black, 'w).
.input wet(piece: Entity) flag attr wet "{piece} is wet"
.decl never() open "it is never so"
.decl try_hop(piece: Entity, to: Square) "{piece} could hop to {to}"
try_hop(p, t) :- own(p), color(p, c), onward(c, d), at(p, s), step(d, s, t), !occupied(t).
.action hop(piece: Entity, to: Square) pseudo_legal try_hop legality simulate until describe uci "{at(piece)}{to}" san "{at(piece)}{to}" "{piece} hops to {to}"
hop(p, t) :- try_hop(p, t).
on hop(p, t) do set at(p, t), raise capture(p, p, t).
on capture(p, _, _) in before do set wet(p), stop.
on hop(p, _) in extra when never() do retract wet(p).
untenable(c) :- color(p, c), wet(p).
"#;

#[test]
fn an_action_is_tried_with_the_events_that_it_raises_if_nothing_can_come_later() {
    let (_, rules) = game_of_ones_own("splash", SPLASH);
    let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
    assert!(game.listing().is_empty());
    let explained = game.explain_move("a1b1", Limits::default()).expect("a move");
    assert!(!explained.holds, "{}", explained.summary);
}

fn side(game: &mut Game) -> String {
    rows(game.world_mut(), "turn").remove(0)
}

#[test]
fn a_turn_ends_by_itself_when_no_further_request_is_legal() {
    let (catalogue, rules) = relay();
    let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
    for (text, next, free) in [
        ("a1b1", "turn(white)", &["b1d1"][..]),
        ("b1d1", "turn(white)", &["d1f1"]),
        // g1 is free, and then nothing: h1 is taken.
        ("d1f1", "turn(white)", &["f1g1"]),
        ("f1g1", "turn(black)", &["h1f1"]),
        ("h1f1", "turn(black)", &["f1d1"]),
    ] {
        game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
        assert_eq!(side(&mut game), next, "{text}");
        let texts: Vec<String> = game.listing().into_iter().map(|it| it.0).collect();
        assert_eq!(texts, free, "{text}");
        let contract = game.contract().clone();
        assert_eq!(perft(game.world_mut(), &contract, 1), free.len() as u64);
    }
    // A position that is set up knows what is free without any action.
    let mut other = rules.start(Some(&game.fen())).expect("a position");
    assert_eq!(rows(other.world_mut(), "free_hop").len(), 1);
    let explained = game.explain_move("f1d1", Limits::default()).expect("a move");
    assert!(explained.holds, "{}", explained.summary);
    let save = Save::of(&game, &rules, Content { rules: true }).expect("a save");
    for form in [Form::Json, Form::Binary] {
        let bytes = save.write(form);
        assert_eq!(Save::read(&bytes, "").expect("it is read").0, save);
        let tally = audit::save(&bytes, "", &catalogue, RulesFrom::Here, &mut |_| {});
        assert_eq!(tally.unwrap_or_else(|it| panic!("{it}")).plies, 5);
    }
    for _ in 0..5 {
        game.takeback().expect("it is taken back");
    }
    assert_eq!(game.listing().len(), 1);
}

/// The trials of a program are not among the names that rule files may use otherwise.
#[test]
fn trials_are_documented_beside_other_relations() {
    let program: Arc<Program> = program(STEPS);
    let text = crate::relations::document(&program);
    assert!(
        text.contains("| `dry(thing: Thing, to: Place)` | trial of `step` | *thing* would"),
        "{text}"
    );
    assert!(!text.contains("was "), "{text}");
}
