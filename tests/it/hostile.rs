//! Rule text that asks for too much: it ends in time, with an error that names the rule to blame,
//! whichever evaluator runs it, and a world that ran out can be taken back.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use rulemate::internals::derive::{
    Allowance, Backend, Exhausted, Plan, PlanError, Refusal, Resource, Stop, World,
};
use rulemate::internals::facts::{GAME, Value};
use rulemate::internals::moves::notation::parse_uci;
use rulemate::internals::rules::{Program, RelId, Source, compile};

use crate::damage::{damaged, damages};
use crate::rules::corpus;
use crate::setup::{Table, effort, sources};

/// The last words of the `% ends:` line, and the files.
fn hostile() -> Vec<(String, Vec<String>, Arc<Program>)> {
    let case = |(name, sources): (String, Vec<Source>)| {
        let text = sources[0].text.clone();
        let ends = text.lines().find_map(|it| it.strip_prefix("% ends: ")).expect("how it ends");
        let program = compile(sources).unwrap_or_else(|it| panic!("{name}: {it}"));
        (name, ends.split(' ').map(String::from).collect(), Arc::new(program))
    };
    corpus("hostile").into_iter().map(case).collect()
}

/// What reading everything comes to.
fn read_all(world: &mut World) -> Result<(), Exhausted> {
    for rel in 0..world.program().relations.len() {
        world.any(RelId(rel as u16));
        world.check()?;
    }
    Ok(())
}

fn blames(name: &str, error: &Exhausted, lines: &[String]) {
    let fits = |line: &String| error.place.ends_with(&format!(":{line}"));
    assert!(lines.iter().any(fits), "{name}: {error}");
    assert!(error.to_string().contains(&error.text) && !error.text.is_empty(), "{error}");
}

#[test]
fn every_program_ends_and_names_the_rule() {
    for (name, ends, program) in hostile() {
        let (kind, lines) = (ends[0].as_str(), &ends[1..]);
        let plan = match (Plan::compile(Arc::clone(&program)), kind) {
            (Err(PlanError::Exhausted(error)), "load") => {
                blames(&name, &error, lines);
                continue;
            }
            (Err(PlanError::NotFunctional { place, .. }), "key") => {
                assert!(place.ends_with(&format!(":{}", lines[0])), "{name}: {place}");
                continue;
            }
            (Ok(plan), "query" | "referee" | "well") => Arc::new(plan),
            (other, _) => panic!("{name}: {:?}", other.map(|_| "a plan")),
        };
        for backend in [Backend::Bits, Backend::Frog] {
            let mut world = World::new(Arc::clone(&plan), backend);
            populate(&mut world);
            match (read_all(&mut world), kind) {
                (Ok(()), "well") => {}
                // What is hard for the one may be easy for the other.
                (Ok(()), "referee") if backend == Backend::Bits => {}
                (Err(error), "query" | "referee") => blames(&name, &error, lines),
                (other, _) => panic!("{name} {backend:?}: {other:?}"),
            }
        }
    }
}

/// The referee's own statics run out as well.
#[test]
fn the_referee_loads_within_limits() {
    use rulemate::internals::derive::{Frog, Statics};
    use rulemate::internals::facts::Session;
    for (name, ends, program) in hostile() {
        if ends[0] == "load" {
            let facts = Session::new(Arc::clone(&program.schema));
            let rows = Frog::over(&Arc::new(Statics::later(&program)), &facts, &[]);
            for rel in 0..program.relations.len() {
                rows.rows(RelId(rel as u16));
            }
            blames(&name, &rows.check().expect_err(&name), &ends[1..]);
        }
    }
}

/// All the entities there may be, each with every attribute's default.
fn populate(world: &mut World) {
    let schema = Arc::clone(&world.program().schema);
    let attributes: Vec<_> = schema.attributes().iter().map(|it| it.name.clone()).collect();
    if !attributes.iter().any(|it| it == "n") {
        return;
    }
    for _ in 1..128 {
        let entity = world.create();
        let attr = schema.attribute_named("n").expect("it is there");
        world.insert(entity, attr, Value::Int(7)).expect("an integer");
    }
}

/// The rules count to a number that is a fact.
const FUSE: &str = r#"
.input top(n: Int) game attr top = 10
.decl n(x: Int) "{x} is counted"
n(0) :- top(_).
n(x + 1) :- n(x), top(t), x < t.
"#;

#[test]
fn a_rollback_heals_a_world_that_ran_out() {
    let source = Source { path: "fuse.dl".into(), text: FUSE.into() };
    let program = Arc::new(compile(vec![source]).expect("it compiles"));
    let plan = Arc::new(Plan::compile(Arc::clone(&program)).expect("it can be run"));
    let n = program.relation_named("n").expect("it is there");
    let top = program.schema.attribute_named("top").expect("it is there");
    for backend in [Backend::Bits, Backend::Frog] {
        let mut world = World::new(Arc::clone(&plan), backend);
        assert_eq!(world.count(n), 11);
        let mark = world.mark();
        world.set_raw(GAME, top, Some(1 << 40));
        let _ = world.count(n);
        let error = world.check().expect_err("it counts for ever");
        assert_eq!(error.place, "fuse.dl:5");
        world.rollback(mark);
        assert!(world.check().is_err(), "what was read is still wrong");
        world.forget_rows();
        assert_eq!((world.count(n), world.check()), (11, Ok(())));
        world.set_raw(GAME, top, Some(5));
        assert_eq!((world.count(n), world.check()), (6, Ok(())));
        world.set_raw(GAME, top, Some(1 << 40));
        let _ = world.count(n);
        world.set_raw(GAME, top, Some(5));
        assert!(world.check().is_err(), "{backend:?}: a write heals nothing");
    }
}

/// An event writes what a count is worked out from again. None of the queries takes much.
const TICKS: &str = r#"
.domain Side { white, black }
.input seed(n: Int) game attr seed = 0
.decl c(x: Int) "{x} is counted"
c(x) :- seed(x).
c(x + 1) :- c(x), seed(n), x < n + 1000.
.event tick(k: Side) "a tick"
.decl try_go(to: Side) "it may be tried"
.action go(to: Side) pseudo_legal try_go uci "{to}" "it goes"
try_go('white) :- seed(_).
go(t) :- try_go(t).
on go(t) do raise tick(t).
on tick(_) when seed(n), c(n + 1000) do set seed(n + 1).
"#;

#[test]
fn events_and_actions_share_what_a_request_may_take() {
    let source = Source { path: "ticks.dl".into(), text: TICKS.into() };
    let program = compile(vec![source]).unwrap_or_else(|it| panic!("{it}"));
    let plan = Arc::new(Plan::compile(Arc::new(program)).expect("it can be run"));
    let seed = plan.program().schema.attribute_named("seed").expect("it is there");
    let go = plan.program().actions[0].id;
    for backend in [Backend::Bits, Backend::Frog] {
        let mut world = World::new(Arc::clone(&plan), backend);
        // Each by itself takes little.
        for at in 0..4 {
            world.fire(go, &[0]).unwrap_or_else(|it| panic!("{backend:?}: {it}"));
            assert_eq!(world.facts().get_raw(GAME, seed), Some(at + 1));
        }
        let before = world.facts().hash();
        let allowance = Allowance::of(1 << 16, None);
        let mut fired = (0..400).map(|_| {
            let before = world.facts().hash();
            (world.fire(go, &[0]), before == world.facts().hash())
        });
        let refused = fired.find(|it| it.0.is_err());
        match refused {
            Some((Err(Refusal::Limit(limit)), true)) => {
                assert_eq!(limit.resource, Resource::Steps, "{backend:?}: {limit}");
            }
            other => panic!("{backend:?}: {other:?}"),
        }
        assert!(world.check().is_err(), "{backend:?}");
        drop(allowance);
        world.forget_rows();
        assert!(world.facts().hash() != before, "some of them were done");
        assert_eq!(world.fire(go, &[0]), Ok(()), "{backend:?}: the next request has its own");
    }
}

#[test]
fn an_allowance_that_is_stopped_ends_whatever_runs() {
    let source = Source { path: "ticks.dl".into(), text: TICKS.into() };
    let program = Arc::new(compile(vec![source]).unwrap_or_else(|it| panic!("{it}")));
    let stop = Stop::default();
    stop.stop();
    let _allowance = Allowance::of_many(1, stop);
    match Plan::compile(program) {
        Err(PlanError::Exhausted(limit)) => {
            assert_eq!(limit.resource, Resource::Time);
            assert!(limit.to_string().contains("takes too long"), "{limit}");
        }
        other => panic!("{:?}", other.map(|_| "a plan")),
    }
}

/// What a rule with many loops is made of.
const DEEP: &str = r#"
.domain Side { white, black }
.input seed(n: Int) game attr seed = 0
.static shade(shade: Side) "{shade} is there"
shade('white).
shade('black).
.decl five(a: Side, b: Side, c: Side, d: Side, e: Side) "{a}, {b}, {c}, {d}, {e}"
five(a, b, c, d, e) :- seed(_), shade(a), shade(b), shade(c), shade(d), shade(e).
.decl deep() "there are many loops"
"#;

#[test]
fn a_rule_with_too_many_loops_is_named() {
    // 64 variables occur in an atom and in a comparison, five more in several atoms.
    let var = |at: usize| at.min(64 + (at.saturating_sub(64) / 2).min(4));
    let vars: Vec<String> = (0..75).map(|at| format!("v{}", var(at))).collect();
    let atoms = vars.chunks(5).map(|it| format!("five({})", it.join(", ")));
    let differ = (0..32).map(|it| format!("v{it} != v{}", it + 32));
    let body: Vec<String> = atoms.chain(differ).collect();
    let text = format!("{DEEP}deep() :- {}.\n", body.join(", "));
    let line = text.lines().count();
    let source = Source { path: "deep.dl".into(), text: text.into() };
    let program = compile(vec![source]).unwrap_or_else(|it| panic!("{it}"));
    match Plan::compile(Arc::new(program)) {
        Err(error @ PlanError::TooLarge { .. }) => assert_eq!(
            error.to_string(),
            format!("deep.dl:{line}: more than 64 loops within each other")
        ),
        other => panic!("{:?}", other.map(|_| "a plan")),
    }
}

#[test]
fn a_rule_with_too_many_variables_is_named() {
    // 128 variables of atoms, four of which are added to each of 32 sums.
    let vars: Vec<String> = (0..128).map(|it| format!("v{it}")).collect();
    let atoms = vars.chunks(8).map(|it| format!("eight({})", it.join(", ")));
    let sums = vars.chunks(4).enumerate().map(|(at, it)| match at {
        0 => format!("sum0 = {}", it.join(" + ")),
        _ => format!("sum{at} = sum{} + {}", at - 1, it.join(" + ")),
    });
    let body: Vec<String> = atoms.chain(sums).collect();
    let columns: Vec<String> = (0..8).map(|it| format!("n{it}: Int")).collect();
    let text = format!(
        ".decl eight({}) \"eight numbers\"\neight(0, 0, 0, 0, 0, 0, 0, 0).\n\
        .decl total(n: Int) \"{{n}} in all\"\ntotal(sum31) :- {}.\n",
        columns.join(", "),
        body.join(", ")
    );
    let line = text.lines().count();
    let source = Source { path: "wide.dl".into(), text: text.into() };
    let program = compile(vec![source]).unwrap_or_else(|it| panic!("{it}"));
    let error = Plan::compile(Arc::new(program)).err().map(|it| it.to_string());
    let what = "more than 155 variables and wildcards";
    assert_eq!(error, Some(format!("wide.dl:{line}: {what}")));
}

#[test]
fn a_reaction_may_ask_a_relation_with_many_wildcards() {
    // Each body is within the limits; with the rule read in place of the relation, the reaction's would not be.
    let eights = |n: usize| vec!["eight(_, _, _, _, _, _, _, _)"; n].join(", ");
    let columns: Vec<String> = (0..8).map(|it| format!("n{it}: Int")).collect();
    let text = format!(
        ".domain Thing entities 8\n\
        .input life(thing: Thing, n: Int) key attr life \"{{thing}} has {{n}}\"\n\
        .input tally(n: Int) game attr tally = 0\n\
        .decl eight({}) \"eight numbers\"\neight(0, 0, 0, 0, 0, 0, 0, 0).\n\
        .decl worn(thing: Thing) \"{{thing}} is worn\"\n\
        worn(t) :- life(t, n), tally(n), {}.\n\
        .action rest(thing: Thing) \"{{thing}} rests\"\nrest(t) :- life(t, _).\n\
        on rest(t) when worn(t), {} do set life(t, 1), set tally(1).\n",
        columns.join(", "),
        eights(13),
        eights(9)
    );
    let source = Source { path: "worn.dl".into(), text: text.into() };
    let program = compile(vec![source]).unwrap_or_else(|it| panic!("{it}"));
    Plan::compile(Arc::new(program)).unwrap_or_else(|it| panic!("{it}"));
}

#[test]
fn a_reaction_with_too_many_constants_is_named() {
    let effects = |line: i64| {
        let sets: Vec<String> =
            (0..30).map(|it| format!("set life(t, {})", 100 * line + it)).collect();
        format!("on rest(t) do {}.\n", sets.join(", "))
    };
    let text = ".domain Thing entities 8\n\
        .input life(thing: Thing, n: Int) key attr life \"{thing} has {n}\"\n\
        .action rest(thing: Thing) \"{thing} rests\"\nrest(t) :- life(t, _).\n"
        .to_string()
        + &(1..=4).map(effects).collect::<String>();
    let line = text.lines().count();
    let source = Source { path: "many.dl".into(), text: text.into() };
    let program = compile(vec![source]).unwrap_or_else(|it| panic!("{it}"));
    let error = Plan::compile(Arc::new(program)).err().map(|it| it.to_string());
    let what = "more than 96 different constants in the rules of the program";
    assert_eq!(error, Some(format!("many.dl:{line}: {what}")));
}

/// More actions than may be listed.
const CROWD: &str = r#"
.domain Many grid 16 16
.input seed(n: Int) game attr seed = 0
.decl try_go(from: Many, to: Many) "it may be tried"
.action go(from: Many, to: Many) pseudo_legal try_go uci "{from}{to}" "it goes"
try_go(s, t) :- file(s, _), file(t, _), seed(_).
go(s, t) :- try_go(s, t).
"#;

#[test]
fn actions_are_listed_up_to_a_number() {
    let source = Source { path: "crowd.dl".into(), text: CROWD.into() };
    let program = compile(vec![source]).unwrap_or_else(|it| panic!("{it}"));
    let plan = Arc::new(Plan::compile(Arc::new(program)).expect("it can be run"));
    let go = plan.program().actions[0].rel;
    for backend in [Backend::Bits, Backend::Frog] {
        let mut world = World::new(Arc::clone(&plan), backend);
        assert_eq!(world.count(go), 1 << 16, "counting them is another matter");
        assert_eq!((world.check(), world.listed(go).len()), (Ok(()), 0));
        let limit = world.check().expect_err("there are too many");
        let place = (limit.resource, limit.place.as_str());
        assert_eq!(place, (Resource::Actions, "crowd.dl:5"), "{limit}");
        assert!(limit.to_string().contains("16384"), "{limit}");
    }
}

/// Texts of moves may be as hostile as rules.
#[test]
fn texts_that_may_mean_very_much_are_read_in_time() {
    let words: Vec<String> = (1..=30).map(|it| "a".repeat(it)).collect();
    let text = format!(
        r#"
.domain Word {{ {} }}
.decl spoken() open "something is said"
.action say(a: Word, b: Word, c: Word, d: Word, e: Word, f: Word, g: Word, h: Word) legality rules uci "say{{a}}{{b}}{{c}}{{d}}{{e}}{{f}}{{g}}{{h}}" "eight words are said"
say(a, b, c, d, e, f, g, h) :- spoken(), a = 'a, b = 'a, c = 'a, d = 'a, e = 'a, f = 'a, g = 'a, h = 'a.
.action crowd(a: Entity, b: Entity, c: Entity, d: Entity, e: Entity, f: Entity) legality rules uci "crowd{{letter(kind(a))}}{{letter(kind(b))}}{{letter(kind(c))}}{{letter(kind(d))}}{{letter(kind(e))}}{{letter(kind(f))}}" "six pieces crowd"
crowd(a, b, c, d, e, f) :- at(a, s), at(b, s), at(c, s), at(d, s), at(e, s), at(f, s), a != b.
"#,
        words.join(", ")
    );
    let mut rules = sources("chess");
    rules.push(Source { path: "texts.dl".into(), text: text.into() });
    let mut table = Table::under(compile(rules).unwrap_or_else(|it| panic!("{it}")));
    let begun = effort();
    for text in [format!("say{}!", "a".repeat(60)), "crowdpppppp".into(), "e2e5".into()] {
        let read = parse_uci(&mut table.world, &table.contract, &text);
        assert!(read.is_err(), "{text}: {read:?}");
    }
    assert!(effort().saturating_sub(begun) < Duration::from_secs(20));
    assert!(parse_uci(&mut table.world, &table.contract, "e2e4").is_ok());
}

#[test]
fn a_derived_key_that_is_broken_is_found_when_asked_for() {
    let text = r#"
.domain Side { white, black }
.domain Thing entities 8
.input at(thing: Thing, n: Int) key attr n
.decl place(side: Side, n: Int) key "{side} is at {n}"
place('white, n) :- at(_, n).
"#;
    let source = Source { path: "key.dl".into(), text: text.into() };
    let program = Arc::new(compile(vec![source]).expect("it compiles"));
    let plan = Arc::new(Plan::compile(Arc::clone(&program)).expect("it can be run"));
    let n = program.schema.attribute_named("n").expect("it is there");
    for backend in [Backend::Bits, Backend::Frog] {
        let mut world = World::new(Arc::clone(&plan), backend);
        for (value, broken) in [(3, false), (3, false), (5, true)] {
            let thing = world.create();
            world.insert(thing, n, Value::Int(value)).expect("a number");
            let found = world.broken_key().map(|(rel, _)| program.relation(rel).name.clone());
            assert_eq!(found.as_deref(), broken.then_some("place"));
        }
    }
}

/// What still compiles runs within the limits, and alike on both evaluators.
fn runs_or_runs_out(sources: Vec<Source>) -> Result<(), TestCaseError> {
    let Ok(program) = compile(sources) else { return Ok(()) };
    let Ok(plan) = Plan::compile(Arc::new(program)) else { return Ok(()) };
    let plan = Arc::new(plan);
    let mut bits = World::new(Arc::clone(&plan), Backend::Bits);
    let mut frog = World::new(Arc::clone(&plan), Backend::Frog);
    if read_all(&mut bits).is_ok() && read_all(&mut frog).is_ok() {
        for rel in (0..plan.program().relations.len() as u16).map(RelId) {
            prop_assert_eq!(bits.tuples(rel), frog.tuples(rel));
        }
    }
    Ok(())
}

#[test]
fn damaged_programs_run_or_run_out() {
    let corpus = corpus("ok");
    let config = ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() };
    proptest!(config, |(which in 0..corpus.len(), damages in damages())| {
        let (_, mut sources) = corpus[which].clone();
        sources[0].text = damaged(&sources[0].text, &damages[..damages.len().min(2)]).into();
        runs_or_runs_out(sources)?;
    });
}

/// Programs that lack one character, whichever.
#[test]
fn programs_without_one_character_run_or_run_out() {
    for (name, sources) in corpus("ok") {
        let text = sources[0].text.clone();
        for (at, lacking) in text.char_indices() {
            let mut sources = sources.clone();
            sources[0].text = [&text[..at], &text[at + lacking.len_utf8()..]].concat().into();
            runs_or_runs_out(sources).unwrap_or_else(|it| panic!("{name}, cut at {at}: {it}"));
        }
    }
}

/// Every mistake is shown with its line, and here all have one line, as long as a file.
#[test]
fn mistakes_are_shown_in_a_bounded_text() {
    let text: String = (0..4_000).map(|at| format!("wrong{at}(). ")).collect();
    let length = text.len();
    let found = compile(vec![Source { path: "line.dl".into(), text: text.into() }]);
    let shown = found.expect_err("nothing is declared").render(false);
    assert!(shown.len() < 300_000 + 4 * length, "{} bytes", shown.len());
    assert!(shown.ends_with(" more\n"), "{}", &shown[shown.len() - 200..]);
}

/// Names as long as a file, none of which is another: comparing two of them letter by letter takes 10^9
/// steps, and here are thousands of pairs.
#[test]
fn spelling_help_costs_no_more_than_the_text() {
    let name = |letter: char, at: usize| format!("{letter}{at}{}", "x".repeat(30_000));
    let file = |at: usize| {
        let text = format!(".decl {}() \"s\"\n{}().\n", name('a', at), name('b', at));
        Source { path: format!("{at}.dl"), text: text.into() }
    };
    let found = compile((0..60).map(file).collect()).expect_err("60 names that nothing declares");
    assert!(found.list().iter().any(|it| it.message.contains("b1")));
    assert!(
        found
            .list()
            .iter()
            .all(|it| it.help.as_ref().is_none_or(|it| !it.contains("did you mean")))
    );
}
