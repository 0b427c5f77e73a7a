//! What rules can say beyond facts of pieces: facts of sides and squares, and facts that go by themselves
//! when the turn passes or the next action begins; refusals with a name; turns that may not stop; what
//! was before an action. Both evaluators, the checker, saves and audits agree.

use rulemate::internals::audit;
use rulemate::internals::derive::explain::{Case, Limits, Trial, try_out};
use rulemate::internals::derive::{Backend, Query, World};
use rulemate::internals::facts::{EntityId, GAME};
use rulemate::internals::game::{Game, PlayError};
use rulemate::internals::moves::notation::listing;
use rulemate::internals::moves::{Decision, perft, perft_within_turn, turns};
use rulemate::internals::presets::save::{Content, Doubt, Form, RulesFrom, Save};
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::internals::proof::Checker;
use rulemate::internals::rules::Source;
use serde_json::{Value, json};

use crate::fixture::{member, program, rel, rows, set, texts, world};
use crate::reactions::fire_alike;

/// A preset with facts of every sort: of sides, of squares, until the turn passes, until the next action.
const TOLLS: &str = r#"
.meta preset "tolls"
.meta name "Tolls"
.meta description "Moves are counted, and squares remember who trod on them"
.domain Preset += { tolls }
.input toll(side: Side, n: Int) of Side attr "tolls.paid" = 0 "{side} has paid {n} tolls"
.input trodden(square: Square, by: Entity) of Square attr "tolls.trodden" "{by} has trodden on {square}"
.input worn(square: Square) of Square attr "tolls.worn" "{square} is worn"
.input moving(side: Side) of Side attr "tolls.moving" until turn "{side} is moving"
.input fresh(piece: Entity) flag attr "tolls.fresh" until action "{piece} has just moved"
.decl leads(side: Side) "{side} has paid more tolls"
leads(c) :- toll(c, n), opponent(c, o), toll(o, m), n > m.
on move(p, t) in before when color(p, c), active('tolls, c), toll(c, n) do set toll(c, n + 1), set moving(c), set fresh(p).
on move(p, t) in before when color(p, c), active('tolls, c), trodden(t, _) do set worn(t).
on move(p, t) in apply when color(p, c), active('tolls, c) do set trodden(t, p).
"#;

fn catalogue(text: &str) -> Catalogue {
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    let source = Source { path: "mine/preset.dl".into(), text: text.into() };
    catalogue.add(source).expect("metadata that makes sense");
    catalogue
}

fn start(catalogue: &Catalogue, presets: &[&str]) -> (Ruleset, Game) {
    let rules = catalogue.load("chess", presets).unwrap_or_else(|it| panic!("{it}"));
    let game = rules.start(None).expect("it starts");
    (rules, game)
}

fn play(game: &mut Game, moves: &str) {
    for text in moves.split(' ') {
        game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
    }
}

/// The facts of the preset, by name.
fn tolls(game: &Game) -> Vec<String> {
    let schema = game.facts().schema();
    let words = game.facts().all_facts();
    let words = words.iter().map(|it| rulemate::internals::facts::saved(schema, it).to_string());
    words.filter(|it| it.contains("tolls.")).collect()
}

#[test]
fn facts_of_sides_and_squares_are_those_of_the_game() {
    let catalogue = catalogue(TOLLS);
    let (rules, mut game) = start(&catalogue, &["tolls"]);
    assert_eq!(tolls(&game), ["white tolls.paid 0", "black tolls.paid 0"]);
    play(&mut game, "e2e4 d7d5 e4d5");
    assert_eq!(
        tolls(&game),
        [
            "white tolls.paid 2",
            "black tolls.paid 1",
            "#14 tolls.fresh true",
            "e4 tolls.trodden #14",
            "d5 tolls.trodden #14",
            "d5 tolls.worn true",
        ]
    );
    assert_eq!(rows(game.world_mut(), "leads"), ["tolls::leads(white)"]);
    let view = serde_json::to_value(game.view()).expect("a view");
    assert_eq!(view["facts_of"]["tolls.paid"], json!({ "white": "2", "black": "1" }));
    assert_eq!(view["facts_of"]["tolls.worn"], json!({ "d5": "true" }));
    let unsaid = rules.unsaid(&mut game);
    assert_eq!(unsaid, ["tolls.paid", "tolls.trodden", "tolls.worn", "tolls.fresh"]);
    let told = serde_json::to_value(game.report(2)).expect("what is told");
    let paid = json!({ "entity": "white", "attribute": "tolls.paid", "was": "1", "is": "2" });
    assert!(told["facts"].as_array().expect("facts").contains(&paid), "{told}");
    let gone = json!([{ "entity": 12, "attribute": "tolls.fresh", "was": "true" }]);
    assert_eq!(told["expired"][0]["attribute"], gone[0]["attribute"], "{told}");
    let before = tolls(&game.branch(2).expect("the game two plies in"));
    game.takeback();
    assert_eq!(tolls(&game), before);
    assert_eq!(before[..2], ["white tolls.paid 1", "black tolls.paid 1"]);
}

#[test]
fn saves_name_the_side_and_the_square() {
    let catalogue = catalogue(TOLLS);
    let (rules, mut game) = start(&catalogue, &["tolls"]);
    play(&mut game, "e2e4 d7d5 e4d5 d8d5 b1c3 d5e5 f1e2");
    let content = Content { rules: true };
    let save = Save::of(&game, &rules, content).expect("a save");
    let text = String::from_utf8(save.write(Form::Json)).expect("a text");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let facts = value["facts"].as_array().expect("facts");
    let paid = json!({ "entity": "black", "attribute": "tolls.paid", "value": 3 });
    let worn = json!({ "entity": "d5", "attribute": "tolls.worn", "value": true });
    assert!(facts.contains(&paid) && facts.contains(&worn), "{text}");
    for form in [Form::Json, Form::Binary] {
        let bytes = save.write(form);
        let (read, doubt) = Save::read(&bytes, "").expect("it is read");
        assert_eq!((&read, doubt), (&save, None));
        let tally = audit::save(&bytes, "", &catalogue, RulesFrom::Here, &mut |_| {});
        assert_eq!(tally.unwrap_or_else(|it| panic!("{it}")).plies, 7);
    }
    // Another side's name is another fact: the game that is played again does not say it.
    let forged = text.replacen(
        "{\"entity\":\"black\",\"attribute\":\"tolls.paid\",\"value\":3}",
        "{\"entity\":\"black\",\"attribute\":\"tolls.paid\",\"value\":4}",
        1,
    );
    if forged != text {
        let read = Save::read(forged.as_bytes(), "");
        assert!(!matches!(read, Ok((_, None::<Doubt>))), "the checksum tells");
    }
    let kept = game.snapshot().expect("it can be kept");
    let kept: Value = serde_json::to_value(&kept).expect("JSON");
    let kept = serde_json::from_value(kept).expect("what was kept");
    let again = rules.restore_snapshot(&kept).expect("it comes back");
    assert_eq!((again.hash(), tolls(&again)), (game.hash(), tolls(&game)));
    let document = rulemate::internals::facts::Document::parse(&game.to_json()).expect("facts");
    let resumed = rules.resume(&document, Backend::Frog).expect("it goes on");
    assert_eq!(tolls(&resumed), tolls(&game));
}

#[test]
fn a_list_of_facts_says_which_side_or_square_is_wrong() {
    let (rules, game) = start(&catalogue(TOLLS), &["tolls"]);
    let text = game.to_json();
    for (from, to, wanted) in [
        (
            "{\"entity\":\"white\",",
            "{\"entity\":\"whit\",",
            "Side has no member whit; did you mean white?",
        ),
        (
            "{\"entity\":\"white\",",
            "{\"entity\":0,",
            "tolls.paid has facts about members of Side: `entity` has to be the name of one, not a number",
        ),
        (
            "{\"entity\":0,\"attribute\":\"turn\"",
            "{\"entity\":\"white\",\"attribute\":\"turn\"",
            "turn has facts about entities: `entity` has to be the number of one, not \"white\"",
        ),
    ] {
        let broken = text.replacen(from, to, 1);
        assert_ne!(broken, text, "{from}");
        let fault = rules.resume_text(&broken).map(|_| ()).expect_err(to).to_string();
        assert!(fault.ends_with(wanted), "{fault}");
    }
}

#[test]
fn what_a_preset_says_of_sides_and_squares_leaves_with_it() {
    let catalogue = catalogue(TOLLS);
    let (mut rules, mut game) = start(&catalogue, &["tolls"]);
    play(&mut game, "e2e4 d7d5");
    for (presets, moves, wanted) in [
        (
            &["tolls:white"][..],
            "",
            &["white tolls.paid 1", "e4 tolls.trodden #14", "d5 tolls.trodden #21"][..],
        ),
        (&[], "b1c3 b8c6", &[]),
        (&["tolls"], "", &["white tolls.paid 0", "black tolls.paid 0"]),
    ] {
        rules = catalogue.set_active(&rules, &mut game, presets).expect("they change");
        if !moves.is_empty() {
            play(&mut game, moves);
        }
        let facts: Vec<String> =
            tolls(&game).into_iter().filter(|it| !it.contains("fresh")).collect();
        assert_eq!(facts, wanted, "{presets:?}");
    }
    let save = Save::of(&game, &rules, Content::default()).expect("a save");
    let bytes = save.write(Form::Binary);
    let tally = audit::save(&bytes, "", &catalogue, RulesFrom::Here, &mut |_| {});
    assert!(tally.is_ok(), "{:?}", tally.err());
}

const LAMPS: &str = r#"
.domain Side { white, black }
.domain Place { a, b, c, d }
.domain Thing entities 8
.stages first, main, pass, last default main
.input turn(side: Side) game attr turn = white "it is {side}'s turn"
.input at(thing: Thing, place: Place) key attr at "{thing} is on {place}"
.input lamp(place: Place, n: Int) of Place attr lamp "the lamp of {place} has {n}"
.input lit(place: Place) of Place attr lit until turn "{place} is lit"
.input haste(side: Side) of Side attr haste until turn "{side} is in haste"
.input glow(place: Place) of Place attr glow until action "{place} glows"
.input hush() game attr hush until action "there is a hush"
.decl may(thing: Thing, place: Place)
may(p, x) :- at(p, y), lamp(x, _), x != y.
.decl untenable(side: Side)
untenable(s) :- turn(s), lit('d).
.action go(thing: Thing, place: Place) pseudo_legal may legality simulate "{thing} goes to {place}"
go(p, x) :- may(p, x).
.action wait(thing: Thing) legality rules "{thing} waits"
wait(p) :- at(p, _).
on go(p, x) in first when glow(x) do note "it glows".
on go(p, x) do set at(p, x), set lit(x), set glow(x), set hush().
on go(p, x) when lamp(x, n) do set lamp(x, n + 1).
on go(_, x) in pass when turn('white), x != 'c do set turn('black).
on go(_, x) in pass when turn('black), x != 'c do set turn('white).
on go(_, x) in last when !lit(x) do set haste('white).
on wait(p) when at(p, x), hush() do set lit(x), note "never: the hush is over".
on wait(p) when at(p, x), !hush() do set lit(x), set glow('a).
"#;

/// One thing on a, and lamps everywhere.
fn lamps() -> World {
    let program = program(LAMPS);
    let mut world = world(&program, Backend::Bits);
    let thing = world.create();
    set(&mut world, thing, "at", "Place", "a");
    let lamp = program.schema.attribute_named("lamp").expect("declared");
    (0..4).for_each(|it| {
        world.set_raw(EntityId(it), lamp, Some(0));
    });
    set(&mut world, GAME, "turn", "Side", "white");
    world.commit();
    world
}

fn act(world: &mut World, action: &str, args: &[i64]) {
    let found = rel(world.program(), action);
    let action = world.program().actions.iter().find(|it| it.rel == found).expect("an action").id;
    fire_alike(world, action, args).expect("it happens");
}

/// The rows of all that goes by itself.
fn passing(world: &mut World) -> Vec<String> {
    ["lit", "haste", "glow", "hush"].iter().flat_map(|it| rows(world, it)).collect()
}

#[test]
fn some_facts_go_with_the_turn_and_some_with_the_next_action() {
    let mut world = lamps();
    let place = |name: &str| member(&program(LAMPS), "Place", name);
    let start = world.mark();
    act(&mut world, "go", &[1, place("c")]);
    // The turn has not passed: what lasts so long is there.
    assert_eq!(passing(&mut world), ["lit(c)", "glow(c)", "hush()"]);
    let mark = world.mark();
    act(&mut world, "wait", &[1]);
    assert_eq!(passing(&mut world), ["lit(c)", "glow(a)"]);
    world.rollback(mark);
    assert_eq!(passing(&mut world), ["lit(c)", "glow(c)", "hush()"]);
    act(&mut world, "go", &[1, place("b")]);
    // It passes in a stage before the last one, which sees that nothing is lit any more.
    assert_eq!(passing(&mut world), ["haste(white)", "glow(b)", "hush()"]);
    assert_eq!(rows(&mut world, "lamp"), ["lamp(a, 0)", "lamp(b, 1)", "lamp(c, 1)", "lamp(d, 0)"]);
    world.rollback(start);
    assert!(passing(&mut world).is_empty());
}

#[test]
fn the_checker_lets_go_of_the_same_facts() {
    let mut world = lamps();
    let program = world.program().clone();
    let place = |name: &str| member(&program, "Place", name);
    act(&mut world, "go", &[1, place("c")]);
    world.commit();
    let go = rel(&program, "go");
    let action = program.actions.iter().find(|it| it.rel == go).expect("an action").id;
    let untenable = rel(&program, "untenable");
    let args = [1, place("b")];
    let case = Case { action, args: &args, because: None, untenable, mover: 0 };
    let trial =
        try_out(&mut world, case, Limits::default()).expect("cheap").expect("it may be tried");
    let honest = json!(trial);
    let names = |all: &Value| -> Vec<String> {
        let all = all.as_array().expect("effects").iter();
        all.map(|it| it["changed"]["attribute"].as_str().unwrap_or("-").to_owned()).collect()
    };
    assert_eq!(names(&honest["expired"]), ["glow", "hush"]);
    let flip = honest["steps"].as_array().expect("steps").iter().find_map(|it| {
        let names = names(&it["effects"]);
        names.contains(&"turn".to_owned()).then_some(names)
    });
    // The step that passes the turn is what lets go of the rest.
    assert_eq!(flip.expect("the turn passes"), ["turn", "lit", "lit"]);
    let check = |it: &Value| {
        let trial: Trial = serde_json::from_value(it.clone()).expect("well-formed");
        Checker::new(&program, world.facts()).trial(&trial).map(|_| ()).map_err(|it| it.to_string())
    };
    assert_eq!(check(&honest), Ok(()));
    for place in ["/expired", "/steps/2/effects"] {
        let mut forged = honest.clone();
        let all = forged.pointer_mut(place).and_then(Value::as_array_mut).expect("effects");
        all.pop();
        assert!(check(&forged).is_err(), "{place} of {honest}");
    }
    let summary = trial.summary(rulemate::internals::derive::explain::View {
        program: &program,
        names: &|ty, raw| program.value_name(ty, raw),
    });
    let changed = summary.last().is_some_and(|it| it.starts_with("changed facts: 11,"));
    assert!(changed, "{summary:?}");
}

#[test]
fn what_goes_by_itself_is_played_out_where_safety_depends_on_it() {
    let text = |says: &str| {
        format!(
            ".meta preset \"veils\"\n.meta family \"chess\"\n.meta name \"Veils\"\n.meta description \"Veiled sides\"\n{says}\
             .domain Preset += {{ veils }}\n\
             .input veil(side: Side) of Side attr \"veils.veil\" until turn \"{{side}} is veiled\"\n\
             untenable(c) :- active('veils, c), veil(c), at(p, 'e5), color(p, c).\n"
        )
    };
    // Said in the preset's own file, or in a part of it.
    let (head, said) = text("")
        .split_once(".input")
        .map(|(head, said)| {
            (head.to_owned(), format!(".meta part \"veils\"\n.meta family \"chess\"\n.input{said}"))
        })
        .expect("an input");
    let mut in_part = catalogue(&head);
    let part = Source { path: "veils.chess.dl".into(), text: said.into() };
    in_part.add(part).unwrap_or_else(|it| panic!("{it}"));
    let trusted = text(".meta legality \"rules\"\n");
    for (catalogue, wanted) in [
        (catalogue(&text("")), Decision::Simulation),
        (in_part, Decision::Simulation),
        (catalogue(&trusted), Decision::Rules),
    ] {
        let (_, game) = start(&catalogue, &["veils"]);
        let is = |it: &Decision| match (it, wanted) {
            (Decision::Simulation, Decision::Simulation) => true,
            (it, Decision::Rules) => *it != Decision::Simulation,
            _ => false,
        };
        assert!(game.contract().decisions.iter().all(is), "{:?}", game.contract().decisions);
    }
}

/// A game with refusals that have a name: runners take one or two steps along a line of squares, and have to
/// go on where there is mud.
const MUD: &str = r#"
.meta game "mud"
.meta title "Mud"
.meta board "8x1"
.meta start "R6r w 1"
.domain Kind += { runner }
.domain Reason += { arrived, held }
.domain Refusal { blocked "there is no way", too_far "it is too far", too_long }
letter('runner, "r").
.static onward(side: Side, dir: Dir) "{side} runs {dir}"
onward('white, 'e). onward('black, 'w).
.static mud(square: Square) "there is mud on {square}"
mud('c1). mud('d1).
.static away(from: Square, to: Square, n: Int) "{to} is {n} away from {from}"
away(s, t, n) :- file(s, f), file(t, g), n = g - f.
away(s, t, n) :- file(s, f), file(t, g), n = f - g.

.action run(piece: Entity, to: Square) refusals run_refused legality rules uci "{at(piece)}{to}" san "{at(piece)}{to}" "{piece} runs to {to}"
run(p, t) :- own(p), color(p, c), onward(c, d), at(p, s), step(d, s, t), !occupied(t).
run(p, t) :- own(p), color(p, c), onward(c, d), at(p, s), step(d, s, u), step(d, u, t), !occupied(t).
.decl run_refused(piece: Entity, to: Square, why: Refusal) "{piece} cannot run to {to}: {why}"
run_refused(p, t, 'blocked) :- own(p), occupied(t).
run_refused(p, t, 'too_far) :- own(p), at(p, s), away(s, t, n), n > 2.
run_refused(p, t, 'too_long) :- own(p), at(p, s), away(s, t, n), n > 2.
on run(p, t) do set at(p, t).

.decl in_mud() "a runner of the side to move stands in the mud"
in_mud() :- own(p), at(p, s), mud(s).
turn_goes_on() :- in_mud().
.decl unfinished() "a turn may not stop in the mud"
unfinished() :- in_mud().
movable() :- run(_, _).
finish(o, 'arrived) :- color(p, c), at(p, s), onward(c, d), edge(d, s), wins(c, o).
no_action_result(o, 'held) :- !in_mud(), turn(c), opponent(c, x), wins(x, o).
"#;

fn mud(fen: &str) -> Game {
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    let source = Source { path: "mine/mud.dl".into(), text: MUD.into() };
    catalogue.add(source).expect("metadata that makes sense");
    let rules = catalogue.load::<&str>("mud", &[]).unwrap_or_else(|it| panic!("{it}"));
    rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"))
}

/// The number of sequences of so many turns, counted below each first action.
fn in_turns(game: &mut Game, depth: u32) -> u64 {
    let contract = game.contract().clone();
    let world = game.world_mut();
    let mover = contract.mover(world.facts());
    let mut nodes = 0;
    for (_, mv) in listing(world, &contract) {
        let mark = world.mark();
        world.fire(mv.action, &mv.args).expect("nothing refuses it");
        nodes += perft_within_turn(world, &contract, mover, depth).expect("turns end");
        world.rollback(mark);
    }
    nodes
}

#[test]
fn rules_give_a_refusal_its_name_and_its_sentence() {
    let mut game = mud("R1r4r w 1");
    let before = game.hash();
    for (text, code, sentence) in [
        ("a1c1", "blocked", "the white runner on a1 cannot run to c1: there is no way"),
        // Of several reasons the first counts, in the order of their declaration.
        ("a1h1", "blocked", "the white runner on a1 cannot run to h1: there is no way"),
        ("a1g1", "too_far", "the white runner on a1 cannot run to g1: it is too far"),
    ] {
        let explained = game.why_move(text).expect("a move");
        assert!(!explained.holds);
        assert_eq!(explained.code.as_deref(), Some(code), "{text}");
        assert_eq!(explained.summary, format!("{text} is not legal: {sentence}"));
        let error = game.play_text(text).map(|_| ()).expect_err("it is refused");
        let PlayError::Text(error) = error else { panic!("{error}") };
        let mv = error.candidate().expect("a move that was meant").clone();
        let PlayError::Illegal(refusal) = game.play(&mv).map(|_| ()).expect_err("it is refused")
        else {
            panic!("it is illegal")
        };
        assert_eq!(refusal.to_string(), format!("{text} is not legal: {sentence}"));
        let objection = refusal.objection.expect("rules have a name for it");
        assert_eq!((objection.code.as_str(), objection.sentence.as_str()), (code, sentence));
        let checked = Checker::new(game.program(), game.facts()).proof(&objection.proof);
        assert!(checked.is_ok(), "{checked:?}");
    }
    // What no rule has a name for is refused as ever, and what is legal has no name.
    let backwards = game.why_move("a1a1").expect("a move");
    assert_eq!((backwards.holds, backwards.code.as_deref()), (false, Some("blocked")));
    let legal = game.why_move("a1b1").expect("a move");
    assert_eq!((legal.holds, legal.code), (true, None));
    assert_eq!(game.hash(), before, "nothing has changed");
}

#[test]
fn a_turn_that_may_not_stop_is_no_turn() {
    // From c1 the runner has to go on, and cannot: the squares behind the mud are taken.
    for (fen, actions, whole) in [
        ("R3rr2 w 1", &["a1b1", "a1c1"][..], &["a1b1"][..]),
        ("R7 w 1", &["a1b1", "a1c1"], &["a1b1", "a1c1,c1d1,d1e1", "a1c1,c1d1,d1f1", "a1c1,c1e1"]),
    ] {
        let mut game = mud(fen);
        assert_eq!(game.result(), None, "{fen}");
        assert_eq!(texts(&mut game), actions, "{fen}");
        let contract = game.contract().clone();
        let found = turns(game.world_mut(), &contract, 100);
        assert!(found.complete, "{fen}");
        let texts: Vec<String> = found.turns.iter().map(|it| it.0.clone()).collect();
        assert_eq!(texts, whole, "{fen}");
        assert_eq!(perft(game.world_mut(), &contract, 1), actions.len() as u64, "{fen}");
        let before = game.hash();
        assert_eq!(in_turns(&mut game, 1), whole.len() as u64, "{fen}");
        // Two turns: below each first one, as many as are listed there.
        let mut sum = 0;
        for (text, _) in &found.turns {
            game.play_text(text).expect("a turn");
            sum += match game.result() {
                None => turns(game.world_mut(), &contract, 100).turns.len() as u64,
                Some(_) => 0,
            };
            for _ in text.split(',') {
                game.takeback();
            }
        }
        assert_eq!(in_turns(&mut game, 2), sum, "{fen}");
        assert_eq!(game.hash(), before);
    }
    // Nothing but the mud is left: no turn can be finished, so the side to move is stuck.
    let stuck = mud("RR2rr2 w 1");
    assert_eq!(stuck.result().map(ToString::to_string).as_deref(), Some("black wins by held"));
    // In the middle of such a turn the game is not over: it can be taken back.
    let mut game = mud("R3rr2 w 1");
    game.play_text("a1c1").expect("it is legal");
    assert_eq!(game.result(), None);
    game.takeback().expect("it is taken back");
    game.play_text("a1b1").expect("it is legal");
}

const BEFORE: &str = r#"
.domain Side { white, black }
.domain Place { a, b, c, d }
.domain Kind { pawn, queen }
.domain Thing entities 8
.stages first, main, last default main
.input turn(side: Side) game attr turn = white "it is {side}'s turn"
.input at(thing: Thing, place: Place) key attr at "{thing} is on {place}"
.input kind(thing: Thing, kind: Kind) key attr kind "{thing} is a {kind}"
.input marked(thing: Thing) flag attr marked "{thing} is marked"
.input noon() game attr noon until action "it is noon"
.input lamp(place: Place, n: Int) of Place attr lamp "the lamp of {place} has {n}"
.input grave(place: Place, kind: Kind) of Place attr grave "a {kind} fell on {place}"
.input tally(n: Int) game attr tally "the tally is {n}"
.event died(thing: Thing) "{thing} dies"
.decl untenable(side: Side)
untenable(s) :- turn(s), tally(99).
.action take(thing: Thing, victim: Thing) legality simulate "{thing} takes {victim}"
take(p, q) :- at(p, _), at(q, _), p != q.
on take(p, q) in first when at(q, x) do set at(p, x), set kind(p, 'queen), set marked(p), raise died(q).
on take(p, _) in first when was at(p, x), lamp(x, n) do set lamp(x, n + 1).
on take(_, _) when turn('white) do set turn('black), set noon().
on take(_, _) when turn('black) do set turn('white).
on take(p, _) in last when was at(p, x), was kind(p, k), was turn(s) do note "{s}: {p} was a {k} on {x}".
on take(p, _) in last when !was marked(p), n = count { was at(r, _) } do set tally(n).
on take(_, _) in last when was noon(), !noon() do note "noon is over".
on take(_, _) in last when was lamp(x, n), lamp(x, m), m > n do note "{x} had {n}".
on died(q) in first do remove q.
on died(q) in last when was kind(q, k), was at(q, x), !kind(q, _) do set grave(x, k).
"#;

#[test]
fn reactions_see_what_was_before_the_action() {
    let program = program(BEFORE);
    let mut world = world(&program, Backend::Bits);
    for (place, kind) in [("a", "pawn"), ("b", "queen"), ("c", "pawn")] {
        let thing = world.create();
        set(&mut world, thing, "at", "Place", place);
        set(&mut world, thing, "kind", "Kind", kind);
    }
    let lamp = program.schema.attribute_named("lamp").expect("declared");
    world.set_raw(EntityId(0), lamp, Some(0));
    world.commit();
    let take = program.actions[0].id;
    let untenable = rel(&program, "untenable");
    let case = Case { action: take, args: &[1, 2], because: None, untenable, mover: 0 };
    let trial =
        try_out(&mut world, case, Limits::default()).expect("cheap").expect("it may be tried");
    let checked = Checker::new(&program, world.facts()).trial(&trial);
    assert!(checked.is_ok(), "{checked:?}");
    let mut forged = trial.clone();
    let last = forged.steps.len() - 1;
    forged.steps.remove(last);
    assert!(Checker::new(&program, world.facts()).trial(&forged).is_err());
    let notes = |trace: &rulemate::internals::derive::Trace| -> Vec<String> {
        let noted = |it: &rulemate::internals::derive::Done| match it {
            rulemate::internals::derive::Done::Noted { said } => Some(said.to_string()),
            _ => None,
        };
        trace.done().filter_map(|it| noted(it.1)).collect()
    };
    let start = world.mark();
    let before = world.facts().hash();
    let trace = fire_alike(&mut world, take, &[1, 2]).expect("it happens");
    assert_eq!(notes(&trace), ["white: #1 was a pawn on a", "a had 0"]);
    assert_eq!(rows(&mut world, "grave"), ["grave(b, queen)"]);
    assert_eq!(rows(&mut world, "tally"), ["tally(3)"]);
    let trace = fire_alike(&mut world, take, &[1, 3]).expect("it happens");
    // Before this one the piece was what the one before has made of it, and it was noon.
    assert_eq!(notes(&trace), ["black: #1 was a queen on b", "noon is over"]);
    assert_eq!(rows(&mut world, "grave"), ["grave(b, queen)", "grave(c, pawn)"]);
    assert_eq!(rows(&mut world, "tally"), ["tally(3)"], "it was marked");
    // Nothing of it is left among the facts.
    let schema = std::sync::Arc::clone(world.facts().schema());
    let names: Vec<String> = world
        .facts()
        .all_facts()
        .iter()
        .map(|it| schema.attribute(it.attr).name.clone())
        .filter(|it| it.starts_with("was"))
        .collect();
    assert!(names.is_empty(), "{names:?}");
    world.rollback(start);
    assert_eq!(world.facts().hash(), before);
}

#[test]
fn games_whose_reactions_look_back_are_saved_and_audited() {
    let text = r#"
.meta preset "graves"
.meta family "chess"
.meta name "Graves"
.meta description "Squares remember what fell on them"
.domain Preset += { graves }
.input grave(square: Square, kind: Kind) of Square attr "graves.grave" "a {kind} fell on {square}"
on move(_, t) in after when active('graves, _), was at(q, t), was kind(q, k) do set grave(t, k), note "a {k} fell on {t}".
"#;
    let catalogue = catalogue(text);
    let (rules, mut game) = start(&catalogue, &["graves"]);
    play(&mut game, "e2e4 d7d5 e4d5 d8d5 b1c3");
    let graves = |game: &mut Game| rows(game.world_mut(), "grave");
    assert_eq!(graves(&mut game), ["graves::grave(d5, pawn)"]);
    play(&mut game, "g8f6 c3d5");
    assert_eq!(graves(&mut game), ["graves::grave(d5, queen)"]);
    assert_eq!(game.history()[6].notes(), ["a queen fell on d5".into()]);
    // What rule files declare can be asked for beside what the engine remembers.
    let query = Query::compile(game.program(), "grave(t, 'queen)", None);
    let query = query.unwrap_or_else(|it| panic!("{it}"));
    let answer = query.answer(&game.world_mut().materialised()).expect("a small question");
    assert_eq!(answer.rows.len(), 1, "{:?}", answer.rows);
    let save = Save::of(&game, &rules, Content::default()).expect("a save");
    assert!(save.attributes.iter().all(|it| !it.starts_with("was")), "{:?}", save.attributes);
    let bytes = save.write(Form::Binary);
    let tally = audit::save(&bytes, "", &catalogue, RulesFrom::Here, &mut |_| {});
    assert_eq!(tally.unwrap_or_else(|it| panic!("{it}")).plies, 7);
    game.takeback();
    assert_eq!(graves(&mut game), ["graves::grave(d5, pawn)"]);
}

/// A game of runners that are tired after each run, and lose their footing on the brink. PART is where playing
/// a run out ends; the last line is a preset's or none.
const BRINK: &str = r#"
.meta game "brink"
.meta title "Brink"
.meta board "5x1"
.meta start "R4 w 1"
.domain Kind += { runner }
.domain Reason += { arrived, held }
letter('runner, "r").
.input tired(piece: Entity) flag attr tired "{piece} is tired"
.input far() game attr far "a runner has run far"
.decl try_run(piece: Entity, to: Square) "{piece} could run to {to}"
try_run(p, t) :- own(p), at(p, s), file(s, f), file(t, g), g > f.
.action run(piece: Entity, to: Square) pseudo_legal try_run legality simulate PART uci "{at(piece)}{to}" san "{to}" "{piece} runs to {to}"
run(p, t) :- try_run(p, t).
on run(p, t) do set at(p, t).
on run(p, t) in after when file(t, n), n > 1 do set tired(p).
on run(_, t) in after when file(t, 3) do set far(), note "that is far".
on run(_, t) in describe when far(), file(t, 3) do veto "not as far as that".
untenable(c) :- color(p, c), tired(p), !edge('w, 'b1).
untenable(c) :- color(p, c), at(p, s), edge('e, s).
movable() :- try_run(_, _).
finish(o, 'arrived) :- flagged(c), wins(c, o).
no_action_result(o, 'held) :- turn(c), opponent(c, x), wins(x, o).
"#;

fn brink(part: &str) -> (Catalogue, Ruleset, Game) {
    let catalogue = catalogue(&BRINK.replace("PART", part));
    let rules = catalogue.load::<&str>("brink", &[]).unwrap_or_else(|it| panic!("{it}"));
    let game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
    (catalogue, rules, game)
}

#[test]
fn what_comes_after_the_stage_that_is_tried_cannot_make_an_action_illegal() {
    // Played out to its end, every run is untenable: it makes tired.
    let (_, _, mut whole) = brink("");
    assert!(texts(&mut whole).is_empty());
    // Up to where they have arrived, only the brink is; and c1 is refused, however late that is.
    let (catalogue, rules, mut game) = brink("until apply");
    assert_eq!(texts(&mut game), ["a1b1", "a1d1"]);
    let contract = game.contract().clone();
    assert_eq!(perft(game.world_mut(), &contract, 1), 2);
    let tried = |game: &mut Game, text: &str| {
        let explained = game.explain_move(text, Limits::default()).expect("a move");
        match explained.finding {
            rulemate::internals::derive::explain::Finding::Tried(it) => (explained.summary, *it),
            other => panic!("{other:?}"),
        }
    };
    for (text, summary) in [
        ("a1b1", "a1b1 is legal"),
        ("a1e1", "a1e1 is not legal: after it "),
        ("a1c1", "a1c1 is not legal: not as far as that"),
    ] {
        let (told, trial) = tried(&mut game, text);
        assert!(told.starts_with(summary), "{told}");
        assert_eq!(trial.decided, Some(1), "{text}");
        assert!(trial.steps.len() > 1, "{text}: {trial:?}");
        let check = |it: &Trial| Checker::new(game.program(), game.facts()).trial(it).map(|_| ());
        assert_eq!(check(&trial), Ok(()), "{text}");
        for wrong in [None, Some(0), Some(2)] {
            assert!(
                check(&Trial { decided: wrong, ..trial.clone() }).is_err(),
                "{text}: {wrong:?}"
            );
        }
    }
    let (told, trial) = tried(&mut game, "a1c1");
    assert!(told.contains("not as far as that"), "{told}");
    // It is not enough that the stage that is tried is tenable, if a later one refuses.
    let (_, other) = tried(&mut game, "a1b1");
    let forged = Trial { outcome: other.outcome, ..trial };
    assert!(Checker::new(game.program(), game.facts()).trial(&forged).is_err());
    // What is played is the whole of it.
    play(&mut game, "a1b1");
    assert_eq!(rows(game.world_mut(), "tired").len(), 1);
    let save = Save::of(&game, &rules, Content::default()).expect("a save");
    let bytes = save.write(Form::Binary);
    let tally = audit::save(&bytes, "", &catalogue, RulesFrom::Here, &mut |_| {});
    assert_eq!(tally.unwrap_or_else(|it| panic!("{it}")).plies, 1);
}

#[test]
fn a_preset_that_writes_later_than_what_is_tried_has_nothing_played_out() {
    let text = |stage: &str| {
        format!(
            ".meta preset \"limps\"\n.meta name \"Limps\"\n.meta description \"Runners limp\"\n\
             .domain Preset += {{ limps }}\n\
             on run(p, _) in {stage} when active('limps, _) do set tired(p).\n"
        )
    };
    let game = BRINK
        .replace("legality simulate PART", "legality rules until apply")
        .replace("untenable(c) :- color(p, c), at", "untenable(c) :- color(p, c), at(p, 'e1), at")
        .replace(
            "on run(_, t) in describe when far(), file(t, 3) do veto \"not as far as that\".\n",
            "",
        );
    for (stage, wanted) in [("after", Decision::Rules), ("apply", Decision::Simulation)] {
        let mut catalogue = catalogue(&game);
        let source = Source { path: "mine/limps.dl".into(), text: text(stage).into() };
        catalogue.add(source).unwrap_or_else(|it| panic!("{it}"));
        let rules = catalogue.load("brink", &["limps"]).unwrap_or_else(|it| panic!("{it}"));
        let game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
        assert_eq!(game.contract().decisions, [wanted], "{stage}");
    }
}
