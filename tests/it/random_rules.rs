//! Small random programs: datafrog, the bit evaluator and a naive fixpoint over the solver must
//! derive the same rows, and every row must have a proof that nothing in it contradicts.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

use proptest::prelude::*;
use rulemate::derive::explain::{self, Ground, Premise, Proof};
use rulemate::derive::{Backend, Rows, Tuple, World, solve};
use rulemate::facts::{EntityId, Value};
use rulemate::rules::{Program, RelId, Role, Rule, Source, Term, compile};

use crate::fixture::world;

/// A stream of choices from one seed, so that a failure is told by a number.
struct Choices(u64);

impl Choices {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }

    fn one_in(&mut self, odds: usize) -> bool {
        self.below(odds) == 0
    }

    fn pick<'s>(&mut self, from: &[&'s str]) -> &'s str {
        from[self.below(from.len())]
    }
}

const DECLARED: &str = "
.domain D { a, b, c, d, e }
.domain E entities 16
.input at(e: E, d: D) key attr at
.input size(e: E, n: Int) key attr size
.input mark(e: E) flag attr mark
.input now(d: D) game attr now
.input night() game attr night
.static edge(from: D, to: D) open
.static cost(from: D, n: Int) open
";

/// Relations by the type of their columns: `d` for D, `e` for E, `n` for numbers.
const GIVEN: [(&str, &str); 7] = [
    ("at", "ed"),
    ("size", "en"),
    ("mark", "e"),
    ("now", "d"),
    ("night", ""),
    ("edge", "dd"),
    ("cost", "dn"),
];
const SHAPES: [&str; 7] = ["d", "e", "dd", "ed", "en", "", "dn"];

/// A program whose relation `pN` uses those before it in any way, and itself without negation.
fn text(choices: &mut Choices) -> String {
    let mut text = DECLARED.to_string();
    for _ in 0..3 + choices.below(6) {
        let (a, b) = (choices.pick(&["a", "b", "c", "d"]), choices.pick(&["a", "b", "c", "d", "e"]));
        let _ = writeln!(text, "edge('{a}, '{b}).");
        let _ = writeln!(text, "cost('{b}, {}).", choices.below(4));
    }
    let mut known: Vec<(String, &str)> =
        GIVEN.iter().map(|&(name, shape)| (name.to_string(), shape)).collect();
    for number in 0..5 {
        let shape = SHAPES[choices.below(SHAPES.len())];
        let name = format!("p{number}");
        let columns: Vec<String> = shape
            .chars()
            .enumerate()
            .map(|(at, it)| match it {
                'd' => format!("c{at}: D"),
                'e' => format!("c{at}: E"),
                _ => format!("c{at}: Int"),
            })
            .collect();
        let _ = writeln!(text, ".decl {name}({}) \"as it comes\"", columns.join(", "));
        for _ in 0..1 + choices.below(3) {
            rule(choices, &name, shape, &known, &mut text);
        }
        known.push((name, shape));
    }
    text
}

fn term(choices: &mut Choices, ty: char, wild: bool) -> String {
    if wild && choices.one_in(5) {
        return "_".into();
    }
    match (ty, choices.below(6)) {
        ('d', 0) => format!("'{}", choices.pick(&["a", "b", "c"])),
        ('d', _) => choices.pick(&["x", "y", "z"]).into(),
        ('e', _) => choices.pick(&["u", "v"]).into(),
        (_, 0) => choices.below(4).to_string(),
        (_, 1) => choices.pick(&["n + 1", "m - n", "n * 2"]).into(),
        _ => choices.pick(&["n", "m"]).into(),
    }
}

fn atom(choices: &mut Choices, name: &str, shape: &str, wild: bool) -> String {
    let args: Vec<String> = shape.chars().map(|it| term(choices, it, wild)).collect();
    format!("{name}({})", args.join(", "))
}

fn rule(
    choices: &mut Choices,
    name: &str,
    shape: &str,
    known: &[(String, &str)],
    text: &mut String,
) {
    let mut body = Vec::new();
    for _ in 0..1 + choices.below(4) {
        let (other, of) = &known[choices.below(known.len())];
        let recursive = choices.one_in(4) && !shape.contains('n');
        body.push(match choices.below(9) {
            0 => format!("!{}", atom(choices, other, of, true)),
            1 => {
                let op = choices.pick(&["=", "!=", "<", ">="]);
                format!("{} {op} {}", term(choices, 'n', false), term(choices, 'n', false))
            }
            2 => format!("x {} y", choices.pick(&["=", "!="])),
            3 => {
                let fold = choices.pick(&["count {", "sum { n : ", "min { n, x : ", "max { n : "]);
                let result = match fold {
                    "min { n, x : " => "(k, w)".into(),
                    _ => term(choices, 'n', false),
                };
                let inner = atom(choices, other, of, true);
                let (more, of) = &known[choices.below(known.len())];
                format!("{result} = {fold} {inner}, {} }}", atom(choices, more, of, true))
            }
            _ if recursive => atom(choices, name, shape, true),
            _ => atom(choices, other, of, true),
        });
    }
    let _ = writeln!(text, "{} :- {}.", atom(choices, name, shape, false), body.join(", "));
}

/// The text without the rules that the checks refuse; most of what chance writes binds nothing.
fn checked(text: &str) -> (Arc<Program>, String) {
    let mut kept = String::new();
    for line in text.lines() {
        let tried = format!("{kept}{line}\n");
        if !line.contains(":-") || compiled(&tried).is_some() {
            kept = tried;
        }
    }
    // What nothing uses may be a mistake, too: then there is nothing to compare.
    let program = compiled(&kept).or_else(|| compiled(DECLARED));
    (program.unwrap_or_else(|| panic!("the declarations alone compile")), kept)
}

fn compiled(text: &str) -> Option<Arc<Program>> {
    compile(vec![Source { path: "random.dl".into(), text: text.into() }]).ok().map(Arc::new)
}

fn facts(choices: &mut Choices, world: &mut World) {
    let schema = Arc::clone(&world.program().schema);
    let mut write = |world: &mut World, entity: EntityId, attr: &str, value: Value| {
        if let Some(attr) = schema.attribute_named(attr) {
            world.insert(entity, attr, value).unwrap_or_else(|it| panic!("{it}"));
        }
    };
    for _ in 0..5 {
        let entity = world.create();
        if !choices.one_in(5) {
            write(world, entity, "at", Value::Member(choices.below(5) as u16));
        }
        write(world, entity, "size", Value::Int(choices.below(4) as i64));
        write(world, entity, "mark", Value::Bool(choices.one_in(2)));
    }
    write(world, EntityId(0), "now", Value::Member(choices.below(5) as u16));
    write(world, EntityId(0), "night", Value::Bool(choices.one_in(2)));
}

/// Rows in sets, for the naive fixpoint.
struct Sets<'p> {
    program: &'p Program,
    rows: Vec<BTreeSet<Tuple>>,
}

impl Rows for Sets<'_> {
    fn program(&self) -> &Program {
        self.program
    }

    fn contains(&self, rel: RelId, tuple: &[i64]) -> bool {
        self.rows[usize::from(rel.0)].contains(tuple)
    }

    fn for_each(
        &self,
        rel: RelId,
        pattern: &[Option<i64>],
        f: &mut dyn FnMut(&[i64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let fits = |row: &&Tuple| {
            row.iter().zip(pattern).all(|(it, want)| want.is_none_or(|want| want == *it))
        };
        self.rows[usize::from(rel.0)].iter().filter(fits).try_for_each(|row| f(row))
    }
}

/// Every stratum by trying all its rules until nothing is new.
fn naive<'p>(program: &'p Program, world: &mut World) -> Sets<'p> {
    let mut sets = Sets { program, rows: vec![BTreeSet::new(); program.relations.len()] };
    for (at, relation) in program.relations.iter().enumerate() {
        sets.rows[at] = match &relation.role {
            Role::Input(_) => world.tuples(RelId(at as u16)).into_iter().collect(),
            Role::Builtin(rows) => rows.iter().map(|it| Tuple::from_slice(it)).collect(),
            Role::Static | Role::Derived => BTreeSet::new(),
        };
    }
    for stratum in &program.strata {
        loop {
            let mut new = Vec::new();
            for &rel in &stratum.relations {
                for &rule in &program.relation(rel).rules {
                    new.extend(heads(&sets, program.rule(rule)).into_iter().map(|it| (rel, it)));
                }
            }
            let mut grown = false;
            for (rel, row) in new {
                grown |= sets.rows[usize::from(rel.0)].insert(row);
            }
            if !grown {
                break;
            }
        }
    }
    sets
}

fn heads(rows: &dyn Rows, rule: &Rule) -> BTreeSet<Tuple> {
    let mut found = BTreeSet::new();
    let mut solutions = BTreeSet::new();
    let mut bindings = vec![None; rule.vars.len()];
    let _ = solve(rows, &rule.body, &mut bindings, &mut |solution| {
        assert!(solutions.insert(solution.to_vec()), "a solution came twice");
        let head = rule.args.iter().map(|it| match it {
            Term::Var(var) => solution[usize::from(var.0)],
            Term::Const(raw) => Some(*raw),
            Term::Wild => None,
        });
        found.insert(head.collect::<Option<Tuple>>().expect("the head is bound"));
        ControlFlow::Continue(())
    });
    assert!(bindings.iter().all(Option::is_none));
    found
}

/// Nothing in a proof rests on itself, and its leaves are rows.
fn check_proof<'t>(rows: &dyn Rows, proof: &'t Proof, above: &mut Vec<(&'t str, Vec<i64>)>) {
    let tuple: Vec<i64> = proof.tuple.iter().map(|it| it.raw).collect();
    let rel = rows.program().relation_named(&proof.relation).expect("a relation");
    assert!(rows.contains(rel, &tuple));
    let row = (proof.relation.as_str(), tuple);
    assert!(!above.contains(&row), "{row:?} rests on itself");
    above.push(row);
    match &proof.ground {
        Ground::Deeper => panic!("a proof that is cut off"),
        Ground::Fact { .. } | Ground::Static => {}
        Ground::Rule { premises, .. } => {
            for premise in premises {
                if let Premise::Holds(it) = premise {
                    check_proof(rows, it, above);
                }
            }
        }
    }
    above.pop();
}

fn agree(seed: u64) {
    let (program, text) = checked(&text(&mut Choices(seed)));
    let mut frog = world(&program, Backend::Frog);
    facts(&mut Choices(seed ^ 1), &mut frog);
    let sets = naive(&program, &mut frog);
    let materialised = frog.materialised();
    for (at, relation) in program.relations.iter().enumerate() {
        let rel = RelId(at as u16);
        let all = vec![None; relation.columns.len()];
        let rows = rulemate::derive::collect(&materialised, rel, &all);
        let expected: Vec<Tuple> = sets.rows[at].iter().cloned().collect();
        assert_eq!(rows, expected, "seed {seed}, {} in\n{text}", relation.name);
        for row in rows.iter().take(8) {
            let proof = explain::why(&materialised, rel, row).expect("a row that holds");
            check_proof(&materialised, &proof, &mut Vec::new());
            assert_eq!(explain::why_not(&materialised, rel, &row.iter().map(|&it| Some(it)).collect::<Vec<_>>()), None);
        }
        let absent = vec![Some(1); all.len()];
        let holds = materialised.contains(rel, &vec![1; all.len()]);
        assert_eq!(explain::why_not(&materialised, rel, &absent).is_none(), holds);
    }
}

/// What it takes for the comparison to mean something.
#[test]
fn random_programs_are_not_trivial() {
    let (mut rules, mut rows, mut recursive) = (0, 0, 0);
    for seed in 0..50 {
        let (program, _) = checked(&text(&mut Choices(seed)));
        let mut frog = world(&program, Backend::Frog);
        facts(&mut Choices(seed ^ 1), &mut frog);
        rules += program.rules.iter().filter(|it| !it.body.is_empty()).count();
        recursive += program.strata.iter().filter(|it| it.recursive).count();
        let derived = |at: &usize| program.relations[*at].role == Role::Derived;
        let ids = (0..program.relations.len()).filter(derived);
        rows += ids.map(|at| frog.count(RelId(at as u16))).sum::<u64>();
    }
    assert!(rules > 150 && rows > 300 && recursive > 5, "{rules} {rows} {recursive}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn evaluators_agree_on_random_programs(seed in any::<u64>()) {
        agree(seed);
    }
}
