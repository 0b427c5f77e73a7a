//! Arithmetic at its limits: both evaluators and the solver take the same calculations for
//! impossible, in rules, comparisons and aggregates.

use std::ops::ControlFlow;
use std::sync::Arc;

use proptest::prelude::*;
use rulemate::internals::derive::{Backend, Plan, Rows, Tuple, World, solve};
use rulemate::internals::facts::{FactError, Value};
use rulemate::internals::rules::{Program, RelId, Source, compile};

use crate::fixture::{program, rel, rows};

const TEXT: &str = r#"
.domain Thing entities 16
.domain Group { a, b }
.input size(thing: Thing, n: Int) key attr size
.input other(thing: Thing, n: Int) key attr other
.input group(thing: Thing, group: Group) key attr group
.decl plus(thing: Thing, n: Int) "sum"
plus(t, n) :- size(t, x), other(t, y), n = x + y.
.decl minus(thing: Thing, n: Int) "difference"
minus(t, x - y) :- size(t, x), other(t, y).
.decl times(thing: Thing, n: Int) "product"
times(t, n) :- size(t, x), other(t, y), n = x * y.
.decl ratio(thing: Thing, n: Int, rest: Int) "quotient and rest"
ratio(t, x / y, x % y) :- size(t, x), other(t, y).
.decl less(thing: Thing) "less"
less(t) :- size(t, x), other(t, y), x * y < x - y.
.decl unequal(thing: Thing) "unequal"
unequal(t) :- size(t, x), other(t, y), x + y != x * y.
.decl back(thing: Thing) "whole"
back(t) :- size(t, x), other(t, y), !plus(t, x + y).
.static kind(group: Group)
kind('a). kind('b).
.decl total(group: Group, n: Int) "sum of sizes"
total(g, n) :- kind(g), n = sum { x : group(t, g), size(t, x) }.
.decl product(group: Group, n: Int) "sum of products"
product(g, n) :- kind(g), n = sum { x * y : group(t, g), size(t, x), other(t, y) }.
.decl quotient(group: Group, n: Int) "least quotient"
quotient(g, n) :- kind(g), n = min { x / y : group(t, g), size(t, x), other(t, y) }.
.decl most(group: Group, n: Int, m: Int) "greatest of both"
most(g, n, m) :- kind(g), (n, m) = max { x + y, x - y : group(t, g), size(t, x), other(t, y) }.
.decl counted(group: Group, n: Int) "how many have a sum"
counted(g, n) :- kind(g), n = count { group(t, g), size(t, x), other(t, y), z = x + y, z != 5 }.
.decl beyond(group: Group) "the total is more than one size twice"
beyond(g) :- kind(g), size(_, x), sum { y : group(t, g), other(t, y) } > x * 2.
"#;

fn extreme() -> impl Strategy<Value = i64> {
    let far =
        [0, 1, -1, 2, i64::MAX, i64::MAX - 1, i64::MIN + 1, i64::MIN + 2, 1 << 32, -(1 << 62)];
    prop_oneof![4 => prop::sample::select(far.to_vec()), 1 => -9i64..9]
}

fn filled(plan: &Arc<Plan>, backend: Backend, things: &[(i64, i64, bool)]) -> World {
    let mut world = World::new(Arc::clone(plan), backend);
    let schema = Arc::clone(&world.program().schema);
    let attr = |name: &str| schema.attribute_named(name).expect("it is declared");
    for &(size, other, group) in things {
        let thing = world.create();
        world.insert(thing, attr("size"), Value::Int(size)).expect("an integer");
        world.insert(thing, attr("other"), Value::Int(other)).expect("an integer");
        world.insert(thing, attr("group"), Value::Member(group.into())).expect("a member");
    }
    world
}

/// What the rules conclude from the finished rows, by the solver.
fn concluded(rows: &dyn Rows, program: &Program, rel: RelId) -> Vec<Tuple> {
    let mut found = Vec::new();
    for &id in &program.relation(rel).rules {
        let rule = program.rule(id);
        let mut bindings = vec![None; rule.vars.len()];
        let _ = solve(rows, &rule.body, &mut bindings, &mut |solution| {
            let value = |it: &_| match *it {
                rulemate::internals::rules::Term::Var(var) => solution[usize::from(var.0)],
                rulemate::internals::rules::Term::Const(raw) => Some(raw),
                rulemate::internals::rules::Term::Wild => None,
            };
            found.extend(rule.args.iter().map(value).collect::<Option<Tuple>>());
            ControlFlow::Continue(())
        });
    }
    found.sort_unstable();
    found.dedup();
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn extreme_numbers_are_the_same_to_all(
        things in prop::collection::vec((extreme(), extreme(), any::<bool>()), 0..7),
    ) {
        let program = program(TEXT);
        let plan = Arc::new(Plan::compile(Arc::clone(&program)).expect("it can be run"));
        let mut bits = filled(&plan, Backend::Bits, &things);
        let mut frog = filled(&plan, Backend::Frog, &things);
        for (at, relation) in program.relations.iter().enumerate() {
            let rel = RelId(at as u16);
            let expected = frog.tuples(rel);
            prop_assert_eq!(&bits.tuples(rel), &expected, "{} of {:?}", relation.name, things);
            if !relation.rules.is_empty() {
                let found = concluded(&bits.materialised(), &program, rel);
                prop_assert_eq!(found, expected, "{} of {:?}", relation.name, things);
            }
        }
    }
}

#[test]
fn a_sum_may_pass_the_limit_on_its_way() {
    let program = program(TEXT);
    let plan = Arc::new(Plan::compile(Arc::clone(&program)).expect("it can be run"));
    type Case<'a> = (&'a [(i64, i64, bool)], &'a [&'a str]);
    let cases: [Case<'_>; 3] = [
        (
            &[(i64::MAX, 0, false), (i64::MAX, 1, false), (-i64::MAX, 0, false)],
            &["total(a, 9223372036854775807)", "total(b, 0)"],
        ),
        (&[(i64::MAX, 0, false), (1, 0, false)], &["total(b, 0)"]),
        (&[(-i64::MAX, 0, false), (-1, 0, false)], &["total(b, 0)"]),
    ];
    for (things, expected) in cases {
        for backend in [Backend::Bits, Backend::Frog] {
            assert_eq!(rows(&mut filled(&plan, backend, things), "total"), expected);
        }
    }
}

/// One division by zero spoils the aggregate, as it would spoil a rule.
#[test]
fn an_aggregate_of_what_has_no_value_has_none() {
    let program = program(TEXT);
    let plan = Arc::new(Plan::compile(Arc::clone(&program)).expect("it can be run"));
    for backend in [Backend::Bits, Backend::Frog] {
        let mut world = filled(&plan, backend, &[(8, 2, false), (9, 3, true), (1, 0, true)]);
        assert_eq!(rows(&mut world, "quotient"), ["quotient(a, 4)"]);
        assert_eq!(world.count(rel(&program, "ratio")), 2);
    }
}

#[test]
fn the_least_integer_is_no_value() {
    let program = program(TEXT);
    let plan = Arc::new(Plan::compile(Arc::clone(&program)).expect("it can be run"));
    let mut world = World::new(plan, Backend::Bits);
    let size = program.schema.attribute_named("size").expect("it is declared");
    let thing = world.create();
    let refused = world.insert(thing, size, Value::Int(i64::MIN));
    assert_eq!(refused, Err(FactError::Range { attr: "size".into() }));
    let text = ".static n(n: Int)\nn(-9223372036854775808).\n";
    let source = Source { path: "n.dl".into(), text: text.into() };
    let report = compile(vec![source]).expect_err("the number is too small").to_string();
    assert!(report.contains("E007"), "{report}");
}
