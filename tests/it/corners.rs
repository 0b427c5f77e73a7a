//! Corners of rule text and of the evaluators that few programs come to: shapes of rules, limits and what they
//! count, values that no column has. Most of these tests were written because a mutant had got away
//! (`docs/testing.md`).

use std::sync::Arc;

use rulemate::internals::derive::explain::{
    Blocked, Lack, Limits, Refutation, why, why_not_within,
};
use rulemate::internals::derive::{
    Backend, CallFault, Calls, Moment, Plan, Refusal, Resource, World,
};
use rulemate::internals::facts::{EntityId, GAME};
use rulemate::internals::presets::Catalogue;
use rulemate::internals::rules::Dependencies;

use crate::fixture::{START, chess, position, program, rel, rows, world};
use crate::random_rules::Choices;
use crate::reactions::twin;
use crate::rules::{failing, named, one};

/// Facts of the attribute `at` come and go; at each step the relations have the referee's rows.
fn follows(text: &str, names: &[&str]) {
    let program = program(text);
    let at = program.schema.attribute_named("at").unwrap_or_else(|| panic!("at"));
    let size = program.schema.domain_named("D").map_or(0, |it| program.schema.domain(it).size());
    for seed in 0..4 {
        let mut world = world(&program, Backend::Bits);
        let mut choices = Choices(seed);
        let mut marks = Vec::new();
        let mut seen = 0;
        for step in 0..40 {
            if choices.one_in(4) {
                marks.push(world.mark());
            } else if choices.one_in(4)
                && let Some(mark) = marks.pop()
            {
                world.rollback(mark);
            }
            let entity = EntityId(1 + choices.below(6) as u32);
            let place = (!choices.one_in(4)).then(|| choices.below(size) as i64);
            world.set_raw(entity, at, place);
            let mut twin = twin(&world);
            for name in names {
                let [found, expected] = [&mut world, &mut twin].map(|it| rows(it, name));
                assert_eq!(found, expected, "{name}, seed {seed}, step {step}");
                seen += found.len();
            }
        }
        assert!(seen > 100, "{seen}");
    }
}

/// Squares in a ring, and things on them.
const RING: &str = r#"
.domain D { a, b, c, d, e, f, g, h }
.domain E entities 8
.input at(e: E, d: D) key attr at
.static ahead(from: D, to: D) key
ahead('a, 'b). ahead('b, 'c). ahead('c, 'd). ahead('d, 'e).
ahead('e, 'f). ahead('f, 'g). ahead('g, 'h). ahead('h, 'a).
.action go(e: E, d: D) "{e} goes to {d}"
"#;

/// A body that is read in place of its head has a variable twice: whoever asks for any value asks for one.
#[test]
fn a_wildcard_is_one_value_wherever_a_body_has_it() {
    let text = "
.decl pair(e: E, f: E, d: D)
pair(e, f, d) :- at(e, c), at(f, d), c != d.
.decl same(e: E, d: D)
same(e, d) :- pair(e, e, d).
.decl seen(d: D)
seen(d) :- same(_, d).
go(e, d) :- at(e, d).
";
    follows(&format!("{RING}{text}"), &["pair", "same", "seen", "go"]);
}

/// A slider may take two steps at a time: each of them counts.
#[test]
fn a_row_may_be_followed_by_several_functions() {
    let text = "
.decl slides(e: E, d: D)
slides(e, d) :- at(e, d).
slides(e, x) :- slides(e, y), ahead(y, z), ahead(z, x).
go(e, d) :- slides(e, d).
";
    follows(&format!("{RING}{text}"), &["slides", "go"]);
}

/// What comes next may depend on more than the place.
#[test]
fn a_row_may_be_followed_by_a_function_of_several_columns() {
    let text = "
.domain Way { left, right }
.domain Gait { walk, run }
.static onward(from: D, way: Way, gait: Gait, to: D) key
onward(x, 'right, 'walk, y) :- ahead(x, y).
onward(y, 'left, 'walk, x) :- ahead(x, y).
onward(x, 'right, 'run, z) :- ahead(x, y), ahead(y, z), x != 'a.
onward(z, 'left, 'run, x) :- ahead(x, y), ahead(y, z), x != 'a.
.decl slides(e: E, way: Way, gait: Gait, d: D)
slides(e, w, g, d) :- at(e, d), onward(_, w, g, _).
slides(e, w, g, x) :- slides(e, w, g, y), onward(y, w, g, x), !at(_, x).
go(e, d) :- slides(e, 'left, 'run, d).
go(e, d) :- slides(e, 'right, 'walk, d), slides(e, 'left, 'walk, d).
";
    follows(&format!("{RING}{text}"), &["slides", "go"]);
}

/// The first column of kept rows, found by their last one.
#[test]
fn kept_rows_are_found_by_their_last_column() {
    let text = "
.decl seen(x: D, y: D, z: D)
seen(x, y, z) :- ahead(x, y), ahead(y, z), !at(_, y).
.decl alarm(x: D, e: E)
alarm(x, e) :- at(e, z), seen(x, _, z), at(_, x).
go(e, d) :- alarm(d, e).
";
    follows(&format!("{RING}{text}"), &["seen", "alarm", "go"]);
}

/// Reactions to events of more columns than a call has places: each is handed its own.
#[test]
fn wide_events_come_in_different_orders() {
    let text = "
.domain E entities 4
.input life(e: E, n: Int) key attr life
.action poke(e: E) \"{e} is poked\"
poke(e) :- life(e, _).
.event one(a: Int, b: Int, c: Int, d: Int, e: E) \"one\"
.event two(e: E, a: Int, b: Int, c: Int, d: Int, f: Int) \"two\"
on poke(e) when life(e, n) do raise one(n, n + 1, n + 2, n + 3, e).
on one(a, b, c, d, e) when life(e, n), n = a, d > c do set life(e, a + 10 * b), raise two(e, d, c, b, a, n).
on two(e, a, b, c, d, f) when life(e, n), f < n, a > d do set life(e, n + a * 1000 + b * 100 + c * 10 + d).
on two(_, d, _, _, a, f) when a < d do note \"{f}\".
";
    let program = program(text);
    let mut world = world(&program, Backend::Bits);
    let thing = world.create();
    let life = program.schema.attribute_named("life").unwrap_or_else(|| panic!("life"));
    world.set_raw(thing, life, Some(1));
    world.commit();
    let action = program.actions[0].id;
    let trace = crate::reactions::fire_alike(&mut world, action, &[i64::from(thing.0)]);
    trace.unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(world.facts().get_raw(thing, life), Some(21 + 4000 + 300 + 20 + 1));
}

/// A pattern may ask for a value that the column cannot have, one beyond its last one among them.
#[test]
fn values_that_no_column_has_match_nothing() {
    let program = chess();
    for backend in [Backend::Bits, Backend::Frog] {
        let mut world = world(&program, backend);
        position(&mut world, START);
        let mut compared = 0;
        for name in ["attacks", "at", "kind", "move", "pseudo_legal_move", "in_check", "step"] {
            let Some(relation) = program.relation_named(name) else { continue };
            let columns = program.relation(relation).columns.len();
            for column in 0..columns {
                for value in [-1, 64, 65, 128, 256, 1 << 32, i64::MAX, i64::MIN] {
                    let mut pattern = vec![None; columns];
                    pattern[column] = Some(value);
                    let found = world.matching(relation, &pattern);
                    assert_eq!(found.len(), 0, "{backend:?} {name} {pattern:?}");
                    compared += 1;
                }
            }
        }
        assert!(compared > 60, "{compared}");
    }
    let text = "
.decl slides(e: E, d: D)
slides(e, d) :- at(e, d).
slides(e, x) :- slides(e, y), ahead(y, x).
.decl near(d: D, e: E)
near(x, e) :- at(e, d), ahead(d, x), !at(_, x).
go(e, d) :- near(d, e), slides(e, d).
";
    let program = self::program(&format!("{RING}{text}"));
    let at = program.schema.attribute_named("at").unwrap_or_else(|| panic!("at"));
    let mut world = world(&program, Backend::Bits);
    world.set_raw(EntityId(0), at, Some(7));
    world.set_raw(EntityId(1), at, Some(5));
    for name in ["slides", "near", "go"] {
        let relation = rel(&program, name);
        assert!(!world.matching(relation, &[None, Some(0)]).is_empty(), "{name}");
        for pattern in [[Some(64), None], [None, Some(64)], [Some(8), None], [None, Some(8)]] {
            assert_eq!(world.matching(relation, &pattern).len(), 0, "{name} {pattern:?}");
        }
    }
}

/// What each round looks at is counted once, not once for each row that there is.
#[test]
fn a_fixpoint_of_many_rounds_is_within_the_budget() {
    let text = "
.input top(n: Int) game attr top = 3000
.decl reached(n: Int)
reached(0) :- top(_).
reached(n) :- reached(m), n = m + 1, reached(0), top(t), n <= t.
.decl both(n: Int)
both(0) :- top(_).
both(n) :- both(m), both(k), k = m - m, n = m + 1, top(t), n <= t.
";
    let program = program(text);
    let mut world = world(&program, Backend::Bits);
    for name in ["reached", "both"] {
        assert_eq!(world.count(rel(&program, name)), 3001, "{name}");
        world.check().unwrap_or_else(|it| panic!("{name}: {it}"));
    }
}

/// A list may have as many rows as the limit says, and not one more, whichever evaluator makes it.
#[test]
fn a_list_has_the_same_limit_in_both_evaluators() {
    let numbers: String = (0..1024).map(|it| format!("v({it}). ")).collect();
    let text = format!(
        ".static v(n: Int)\n{numbers}\n.input top(n: Int) game attr top = 512\n\
         .decl pair(a: Int, b: Int)\npair(a, b) :- top(t), v(a), a < t, v(b).\n"
    );
    for (more, fits) in [("", true), ("pair(-1, t) :- top(t).\n", false)] {
        let program = program(&format!("{text}{more}"));
        for backend in [Backend::Bits, Backend::Frog] {
            let mut world = world(&program, backend);
            let rows = world.count(rel(&program, "pair"));
            match (world.check(), fits) {
                (Ok(()), true) => assert_eq!(rows, 1 << 19, "{backend:?}"),
                (Err(error), false) => assert_eq!(error.resource, Resource::Rows, "{backend:?}"),
                (other, _) => panic!("{backend:?}, {more:?}: {other:?}"),
            }
        }
    }
}

/// Each list is within its limit; together they are not.
#[test]
fn all_lists_of_a_session_have_a_limit_together() {
    let numbers: String = (0..720).map(|it| format!("v({it}). ")).collect();
    let mut text =
        format!(".static v(n: Int)\n{numbers}\n.input top(n: Int) game attr top = 720\n");
    for at in 0..5 {
        text +=
            &format!(".decl r{at}(a: Int, b: Int)\nr{at}(a, b) :- top(t), v(a), v(b), b < t.\n");
    }
    let program = program(&text);
    let mut world = world(&program, Backend::Bits);
    let mut held = 0;
    let ran_out = (0..5).find_map(|at| {
        held += world.count(rel(&program, &format!("r{at}")));
        world.check().err()
    });
    let error = ran_out.unwrap_or_else(|| panic!("{held} rows are held"));
    assert_eq!(error.resource, Resource::Rows, "{error}");
}

/// Copies of a list in other orders are counted with it.
#[test]
fn what_lists_take_is_counted() {
    let numbers: String = (0..200).map(|it| format!("v({it}). ")).collect();
    let bytes = |more: &str| {
        let text = format!(
            ".static v(n: Int)\n{numbers}\n.input top(n: Int) game attr top = 200\n\
             .decl r(a: Int, b: Int)\nr(a, b) :- top(t), v(a), v(b), b < t.\n\
             .decl first(b: Int)\nfirst(b) :- top(t), a = t - 1, r(a, b).\n{more}"
        );
        let program = program(&text);
        let mut world = world(&program, Backend::Bits);
        for name in ["first", "second"] {
            if let Some(rel) = program.relation_named(name) {
                assert_eq!(world.count(rel), 200);
            }
        }
        world.row_bytes()
    };
    let one = bytes("");
    let two = bytes(".decl second(a: Int)\nsecond(a) :- top(t), b = t - 1, r(a, b).\n");
    assert!(one >= 40_000 * 3 * 8, "{one}");
    assert!(two >= one + 40_000 * 2 * 8, "{one} {two}");
}

/// Statics of three columns of 150 values, thirty tables of rows: some are made, the rest is lists.
#[test]
fn tables_of_statics_have_a_limit_together() {
    let members: Vec<String> = (0..150).map(|it| format!("m{it}")).collect();
    let mut text = format!(
        ".domain D {{ {} }}\n.domain E entities 8\n.input at(e: E, d: D) key attr at\n\
         .input here(d: D) game attr here\n.input there(d: D) game attr there\n\
         .action go(e: E, d: D) \"{{e}} goes to {{d}}\"\n",
        members.join(", ")
    );
    for at in 0..60 {
        text += &format!(
            ".static t{at}(x: D, y: D, z: D)\nt{at}('m0, 'm{at}, 'm{at}). t{at}('m1, 'm2, 'm{at}). t{at}('m1, 'm2, 'm3).\n\
             go(e, z) :- at(e, _), here(x), there(y), t{at}(x, y, z).\n"
        );
    }
    let program = program(&text);
    let plan = Plan::compile(Arc::clone(&program)).unwrap_or_else(|it| panic!("{it}"));
    assert!(plan.heap_bytes() < 32 << 20, "{} bytes", plan.heap_bytes());
    let mut world = World::new(Arc::new(plan), Backend::Bits);
    for (entity, name, place) in [(EntityId(1), "at", 5), (GAME, "here", 1), (GAME, "there", 2)] {
        let attr = program.schema.attribute_named(name).unwrap_or_else(|| panic!("{name}"));
        world.set_raw(entity, attr, Some(place));
    }
    let mut twin = twin(&world);
    assert_eq!(rows(&mut world, "go"), rows(&mut twin, "go"));
    assert!(world.count(rel(&program, "go")) > 50);
}

/// What was written while nothing was derived any more is there once all is derived anew, and what was
/// taken away is gone.
#[test]
fn rows_are_forgotten_with_what_they_came_from() {
    let text = "
.input top(n: Int) game attr top = 10
.decl n(x: Int)
n(0) :- top(_).
n(x + 1) :- n(x), top(t), x < t.
.decl near(d: D, e: E)
near(x, e) :- at(e, d), ahead(d, x), !at(_, x).
.decl slides(e: E, d: D)
slides(e, d) :- at(e, d).
slides(e, x) :- slides(e, y), ahead(y, x), !at(_, x).
go(e, d) :- near(d, e), slides(e, d).
";
    let program = program(&format!("{RING}{text}"));
    let mut world = world(&program, Backend::Bits);
    let attr =
        |name: &str| program.schema.attribute_named(name).unwrap_or_else(|| panic!("{name}"));
    let (at, top) = (attr("at"), attr("top"));
    let names = ["near", "slides", "go"];
    for (entity, place) in [(1, 0), (2, 3), (3, 6)] {
        world.set_raw(EntityId(entity), at, Some(place));
    }
    names.iter().for_each(|it| assert!(!rows(&mut world, it).is_empty()));
    world.set_raw(GAME, top, Some(1 << 40));
    let _ = world.count(rel(&program, "n"));
    world.check().expect_err("it counts for ever");
    world.set_raw(EntityId(1), at, Some(4));
    world.set_raw(EntityId(2), at, None);
    names.iter().for_each(|it| drop(rows(&mut world, it)));
    world.set_raw(GAME, top, Some(5));
    world.forget_rows();
    world.check().unwrap_or_else(|it| panic!("{it}"));
    let mut twin = twin(&world);
    for name in names {
        assert_eq!(rows(&mut world, name), rows(&mut twin, name), "{name}");
    }
}

/// Plans in words name every derived relation and how it is kept.
#[test]
fn plans_are_told_in_words() {
    let text = "
.decl slides(e: E, d: D)
slides(e, d) :- at(e, d).
slides(e, x) :- slides(e, y), ahead(y, x).
.decl near(d: D, e: E)
near(x, e) :- at(e, d), ahead(d, x), !at(_, x).
.decl many(n: Int)
many(n) :- n = count { at(_, _) }.
.decl path(x: D, y: D)
path(x, y) :- at(_, x), ahead(x, y), many(_).
path(x, z) :- path(x, y), path(y, z).
go(e, d) :- near(d, e), slides(e, d), path(_, d).
";
    let program = program(&format!("{RING}{text}"));
    let told = world(&program, Backend::Bits).plan_text();
    for (name, how) in [
        ("slides", "kept by block"),
        ("near", "kept by tuple"),
        ("many", "on demand"),
        ("path", "fixpoint"),
    ] {
        let line = told.lines().find(|it| it.starts_with(&format!("{name}:")));
        assert!(line.is_some_and(|it| it.contains(how)), "{name} {how}:\n{told}");
    }
    assert!(told.contains("  test.dl:"), "{told}");
}

/// The plan of the last rule is told without that of the changes which concern it.
#[test]
fn the_plan_of_a_rule_ends_with_it() {
    let text = "
.domain D { a, b, c }
.domain E entities 8
.input at(e: E, d: D) key attr at
.action go(d: D) \"a piece goes to {d}\"
go(d) :- at(_, d).
";
    let told = world(&program(text), Backend::Bits).plan_text();
    assert!(told.contains("go: kept by tuple\n") && told.contains("Found"), "{told}");
    assert!(!told.contains("Suspect"), "{told}");
}

/// Of two derivations that are equally high the first in the text is told.
#[test]
fn the_first_of_equal_derivations_is_told() {
    let text = "
.domain E entities 4
.input old(e: E) flag attr old
.input wise(e: E) flag attr wise
.decl elder(e: E) \"{e} is an elder\"
elder(e) :- old(e).
.decl sage(e: E) \"{e} is a sage\"
sage(e) :- wise(e).
.decl asked(e: E) \"{e} is asked\"
asked(e) :- elder(e).
asked(e) :- sage(e).
";
    let program = program(text);
    let mut world = world(&program, Backend::Bits);
    for name in ["old", "wise"] {
        let attr = program.schema.attribute_named(name).unwrap_or_else(|| panic!("{name}"));
        world.set_raw(EntityId(1), attr, Some(1));
    }
    let rows = world.materialised();
    let proof = why(&rows, rel(&program, "asked"), &[1]).unwrap_or_else(|| panic!("it holds"));
    let text = serde_json::to_string(&proof).unwrap_or_else(|it| panic!("{it}"));
    assert!(text.contains("test.dl:10") && !text.contains("test.dl:11"), "{text}");
}

fn levels(refutation: &Refutation) -> usize {
    let Lack::Rules(attempts) = &refutation.lack else { return 0 };
    let below = attempts.iter().map(|it| match &it.blocked {
        Blocked::Missing(it) => levels(it),
        _ => 0,
    });
    1 + below.max().unwrap_or(0)
}

#[test]
fn a_refutation_has_so_many_levels() {
    let mut text = String::from(
        ".domain E entities 4\n.input at(e: E) flag attr at\n.decl r0(e: E)\nr0(e) :- at(e).\n",
    );
    for it in 1..30 {
        text += &format!(".decl r{it}(e: E)\nr{it}(e) :- r{}(e).\n", it - 1);
    }
    let program = program(&text);
    let mut world = world(&program, Backend::Bits);
    let rows = world.materialised();
    for refutation in [1, 2, 7, 20] {
        let limits = Limits { refutation, ..Limits::default() };
        let told = why_not_within(&rows, rel(&program, "r29"), &[Some(1)], limits);
        let told = told.unwrap_or_else(|it| panic!("{it}")).unwrap_or_else(|| panic!("it holds"));
        assert_eq!(levels(&told), refutation);
    }
}

/// Passes a number on under some name.
#[derive(Debug)]
struct Pass(&'static str);

impl Calls for Pass {
    fn call(&self, _: &str, _: &str, moment: &mut Moment<'_>) -> bool {
        moment.pass(self.0, 3);
        true
    }
}

#[test]
fn code_passes_on_numbers_under_the_names_of_number_columns() {
    let text = "
.stages before, apply default apply
.domain E entities 4
.input life(e: E, n: Int) key attr life
.action poke(e: E) \"{e} is poked\"
poke(e) :- life(e, _).
.event hurt(e: E, least: Int, n: Int) \"{e} loses {n}\"
on poke(e) do raise hurt(e, 0, 1).
on hurt(e, _, _) in before do call lessen(e).
on hurt(e, a, n) when life(e, m) do set life(e, m - n - a * 100).
";
    let program = program(text);
    for (name, expected) in [("n", Ok(7)), ("least", Ok(-291)), ("e", Err("e")), ("m", Err("m"))] {
        let plan = Plan::compile(Arc::clone(&program)).unwrap_or_else(|it| panic!("{it}"));
        let plan = plan.with_calls(Arc::new(Pass(name)));
        let mut world = World::new(Arc::new(plan), Backend::Bits);
        let thing = world.create();
        let life = program.schema.attribute_named("life").unwrap_or_else(|| panic!("life"));
        world.set_raw(thing, life, Some(10));
        world.commit();
        match (world.fire(program.actions[0].id, &[i64::from(thing.0)]), expected) {
            (Ok(()), Ok(left)) => {
                assert_eq!(world.facts().get_raw(thing, life), Some(left), "{name}")
            }
            (
                Err(Refusal::Call { fault: CallFault::Unknown { what, name }, .. }),
                Err(expected),
            ) => {
                assert_eq!((what, name.as_str()), ("number column", expected));
            }
            (other, _) => panic!("{name}: {other:?}"),
        }
    }
}

/// What a preset's reactions did is kept with the action, if all they did was to change facts, too; what
/// the game alone does is told by the facts.
#[test]
fn actions_remember_what_presets_did() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let played = |presets: &[&str]| {
        let rules = catalogue.load("chess", presets).unwrap_or_else(|it| panic!("{it}"));
        let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
        game.play_text("e4").unwrap_or_else(|it| panic!("{it}"));
        let told = game.report(0).unwrap_or_else(|| panic!("an action"));
        told.steps.iter().filter_map(|it| it.preset.clone()).collect::<Vec<_>>()
    };
    assert!(played(&["stamina"]).iter().any(|it| it == "stamina"));
    assert!(played(&[]).is_empty());
}

// --- rule text ------------------------------------------------------------------------------------

/// An unlisted argument with a mistake does not stand for the next one.
#[test]
fn arguments_that_a_template_lacks_are_named_beside_other_mistakes() {
    let text = ".domain E entities 4\n.domain Node { a, b }\n\
        .input at(e: E, node: Node) key attr at \"{e} is on {node}\"\n\
        .action go(e: E) given x: Nope = 'a given y: Node = 'a uci \"{e}\" legality rules \"{e} goes\"\n\
        go(e) :- at(e, _).\n";
    let found = failing(text).to_string();
    assert!(found.contains("there is no domain `Nope`"), "{found}");
    assert!(found.contains("the text of the action does not tell `y`"), "{found}");
}

/// A column without a name has that of its type, unless another column is declared with it.
#[test]
fn columns_have_names_of_their_own() {
    let text = ".domain Node { a, b }\n.input at(node: Node) game attr at\n\
        .decl pair(Node, node: Node, Node) \"from {node2} to {node} and {node3}\"\n\
        pair(x, y, x) :- at(x), at(y).\n";
    let program = program(text);
    let columns = &program.relation(rel(&program, "pair")).columns;
    let names: Vec<&str> = columns.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["node2", "node", "node3"]);
}

/// What follows from a mistake is no mistake of its own.
#[test]
fn what_a_broken_declaration_would_have_declared_is_not_missed() {
    let text = ".domain Node { a, b\n.domain Node += { c }\n.domain Edge += { d }\n";
    let found = failing(text);
    let lines: Vec<String> =
        found.to_json().as_array().into_iter().flatten().map(|it| it["line"].to_string()).collect();
    assert_eq!(lines.iter().filter(|it| *it == "2").count(), 0, "{found}");
    assert_eq!(lines.iter().filter(|it| *it == "3").count(), 1, "{found}");
}

/// However many comparisons lie between a variable and what has a type.
#[test]
fn types_are_carried_along_comparisons() {
    let text = ".domain Node { a, b }\n.input at(node: Node) game attr at\n.decl p() open \"p\"\n\
         p() :- d = c, c = b, b = x, x = z, at(x), d != z.\n\
         p() :- at(x), x = z, b = x, c = b, d = c, d != z.\n\
         p() :- e = d, d = c, c = b, b = x, at(x), e != 'a.\n";
    assert_eq!(one(text).rules.len(), 3);
}

/// Text ends where its last word does; a line begins after the one before it.
#[test]
fn what_ends_too_soon_is_shown_at_its_end() {
    let found = failing(".decl p() open \"p\"\n\n\np() :- p()\n\n");
    let first = &found.to_json()[0];
    assert_eq!((&first["line"], &first["column"]), (&4.into(), &10.into()), "{found}");
    let found =
        failing(".decl p() open \"p\"\np() :- q(,\n.decl r( \"r\"\n.static s() open\ns().\n");
    let lines: Vec<String> =
        found.to_json().as_array().into_iter().flatten().map(|it| it["line"].to_string()).collect();
    assert_eq!(lines, ["2", "3"], "{found}");
}

/// A period ends a clause, whatever stands right behind it; a per cent sign within quotes is one.
#[test]
fn clauses_may_stand_close_together() {
    let text = ".static v(n: Int) open\n.static named(n: Int, text: Text) open\n\
         v(4).v(5).named(4, \"50 % off\").named(5, \"full\").\n\
         .decl even(n: Int) open \"{n}\"\neven(n) :- v(n), 0 = n % 2, named(n, \"50 % off\"). % the rest\n";
    let program = one(text);
    let mut world = world(&Arc::new(program), Backend::Bits);
    assert_eq!(rows(&mut world, "even"), ["even(4)"]);
}

/// `any` stands alone; whatever else a reaction reacts to has its columns.
#[test]
fn only_any_action_needs_no_columns() {
    let head = ".domain Thing entities 4\n.input life(thing: Thing, n: Int) key attr life\n\
        .action poke(thing: Thing) \"{thing}\"\npoke(t) :- life(t, _).\n";
    assert_eq!(one(&format!("{head}on any do note \"x\".\n")).reactions.len(), 1);
    let found = failing(&format!("{head}on poke do note \"x\".\n"));
    assert_eq!(found.to_json()[0]["line"], 5, "{found}");
}

/// What is read in two ways is read.
#[test]
fn attributes_are_joined() {
    let program = one(
        ".domain Thing entities 4\n.input a(thing: Thing) flag attr a\n.input b(thing: Thing) flag attr b\n\
         .decl one(thing: Thing) open \"1\"\none(t) :- a(t).\n.decl two(thing: Thing) open \"2\"\ntwo(t) :- a(t), !b(t).\n\
         .decl both(thing: Thing) open \"3\"\nboth(t) :- one(t), two(t).\n",
    );
    let depends = Dependencies::of(&program);
    let reads = |name: &str| depends.reads(named(&program, name));
    for name in ["one", "two"] {
        assert!(reads("both").intersects(reads(name)), "{name}");
        let mut twice = reads(name).clone();
        twice.extend(reads(name));
        assert!(twice.intersects(reads(name)), "{name}");
    }
}
