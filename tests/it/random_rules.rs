//! Small random programs: datafrog, the bit evaluator and a naive fixpoint over the solver must
//! derive the same rows, and every row must have a proof that nothing in it contradicts. `RULEMATE_FULL=1` makes a
//! hundred times as many.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

use proptest::prelude::*;
use rulemate::internals::derive::explain::{self, Ground, Limits, Premise, Proof};
use rulemate::internals::derive::{Backend, Rows, Tuple, World, solve};
use rulemate::internals::facts::{AttrId, EntityId, Value};
use rulemate::internals::proof::Checker;
use rulemate::internals::rules::{Literal, Program, RelId, Role, Rule, Source, Term, compile};

use crate::fixture::world;

/// A stream of choices from one seed, so that a failure is told by a number.
pub(crate) struct Choices(pub(crate) u64);

impl Choices {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }

    pub(crate) fn one_in(&mut self, odds: usize) -> bool {
        self.below(odds) == 0
    }

    pub(crate) fn pick<'s>(&mut self, from: &[&'s str]) -> &'s str {
        from[self.below(from.len())]
    }
}

const DECLARED: &str = "
.domain D { a, b, c, d, e }
.domain E entities 16
.input at(e: E, d: D) key attr at
.input size(e: E, n: Int) key attr size
.input mark(e: E) flag attr mark
.input among(activation: E, d: D) list attr among = a+c
.input now(d: D) game attr now
.input night() game attr night
.static edge(from: D, to: D) open
.static cost(from: D, n: Int) open
";

/// Relations by the type of their columns: `d` for D, `e` for E, `n` for numbers.
const GIVEN: [(&str, &str); 8] = [
    ("among", "ed"),
    ("at", "ed"),
    ("size", "en"),
    ("mark", "e"),
    ("now", "d"),
    ("night", ""),
    ("edge", "dd"),
    ("cost", "dn"),
];
const SHAPES: [&str; 9] = ["d", "e", "dd", "ed", "en", "", "dn", "ded", "eed"];

/// A program whose relation `pN` uses those before it in any way, and itself without negation.
fn text(choices: &mut Choices) -> String {
    let mut text = DECLARED.to_string();
    for _ in 0..3 + choices.below(6) {
        let (a, b) =
            (choices.pick(&["a", "b", "c", "d"]), choices.pick(&["a", "b", "c", "d", "e"]));
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
        let _ = writeln!(text, ".decl {name}({}) open \"as it comes\"", columns.join(", "));
        if shape.len() > 1 && choices.one_in(3) {
            let _ = writeln!(text, "{}", simple_rule(choices, (&name, shape), &known));
        } else {
            for _ in 0..1 + choices.below(3) {
                let style = Style { recursive: !shape.contains('n'), aggregates: true };
                let _ = writeln!(text, "{}", rule(choices, (&name, shape), &known, style));
            }
        }
        known.push((name, shape));
    }
    text
}

/// A rule in the making: variables are handed out by type, and those used once become `_`.
pub(crate) struct Draft<'c> {
    pub(crate) choices: &'c mut Choices,
    /// Variables that positive atoms bind.
    pub(crate) bound: Vec<(char, String)>,
    pub(crate) body: Vec<String>,
}

/// What a random rule may have.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    pub(crate) recursive: bool,
    pub(crate) aggregates: bool,
}

/// The types of columns: `d`, `e` and `n` as above; `k` and `s` are small domains of programs that
/// have more.
const TYPES: [char; 5] = ['d', 'e', 'n', 'k', 's'];

pub(crate) fn variables(ty: char) -> &'static [&'static str] {
    match ty {
        'd' => &["x", "y", "z"],
        'e' => &["u", "v", "w"],
        'k' => &["i", "j", "h"],
        's' => &["p", "q", "r"],
        _ => &["n", "m", "k"],
    }
}

pub(crate) fn constant(choices: &mut Choices, ty: char) -> String {
    match ty {
        'd' => format!("'{}", choices.pick(&["a", "b", "c"])),
        'k' => format!("'{}", choices.pick(&["up", "down", "left"])),
        's' => format!("'{}", choices.pick(&["white", "black"])),
        _ => choices.below(4).to_string(),
    }
}

impl Draft<'_> {
    pub(crate) fn bound(&mut self, ty: char) -> Option<String> {
        let known: Vec<String> =
            self.bound.iter().filter(|it| it.0 == ty).map(|it| it.1.clone()).collect();
        (!known.is_empty()).then(|| known[self.choices.below(known.len())].clone())
    }

    /// A positive atom, which binds; `local` marks the variables of an aggregate.
    pub(crate) fn positive(&mut self, name: &str, shape: &str, local: &str) -> String {
        let mut args = Vec::new();
        for ty in shape.chars() {
            let kind = self.choices.below(8);
            args.push(match (kind, self.bound(ty)) {
                (0, _) if ty != 'e' => constant(self.choices, ty),
                (1, _) => "_".into(),
                (2, Some(known)) if ty == 'n' => format!("{known} + 1"),
                (3 | 4, Some(known)) => known,
                _ => {
                    let var = format!("{}{local}", self.choices.pick(variables(ty)));
                    if local.is_empty() {
                        self.bound.push((ty, var.clone()));
                    }
                    var
                }
            });
        }
        format!("{name}({})", args.join(", "))
    }

    pub(crate) fn negative(&mut self, name: &str, shape: &str) -> String {
        let mut args = Vec::new();
        for ty in shape.chars() {
            let wild = self.choices.one_in(3);
            args.push(self.bound(ty).filter(|_| !wild).unwrap_or_else(|| "_".into()));
        }
        format!("!{name}({})", args.join(", "))
    }

    pub(crate) fn comparison(&mut self) -> Option<String> {
        let op = self.choices.pick(&["=", "!=", "<", ">=", "<=", ">"]);
        let arith = self.choices.pick(&["+", "-", "*", "/", "%"]);
        match self.choices.below(3) {
            0 => {
                let op = self.choices.pick(&["=", "!="]);
                Some(format!("{} {op} {}", self.bound('d')?, self.bound('d')?))
            }
            1 => Some(format!("{} {op} {} {arith} 2", self.bound('n')?, self.bound('n')?)),
            _ => {
                let text = format!("{} {arith} {}", self.bound('n')?, self.bound('n')?);
                self.bound.push(('n', "s".into()));
                Some(format!("s = {text}"))
            }
        }
    }

    fn aggregate(&mut self, known: &[(String, &str)]) -> Option<String> {
        let mut inner = Vec::new();
        for _ in 0..1 + self.choices.below(2) {
            let (name, shape) = &known[self.choices.below(known.len())];
            inner.push(self.positive(name, shape, "0"));
        }
        let inner = inner.join(", ");
        let has = |var: &str| inner.contains(var);
        let number = ["n0", "m0", "k0"].into_iter().find(|it| has(it));
        let other = ["x0", "u0", "y0", "v0"].into_iter().find(|it| has(it));
        let fold = match (self.choices.below(4), number, other) {
            (0, Some(n), _) => format!("t = sum {{ {n} * 2 : {inner} }}"),
            (1, Some(n), Some(x)) => format!("(t, _) = min {{ {n}, {x} : {inner} }}"),
            (2, Some(n), _) => format!("t = max {{ {n} : {inner} }}"),
            (_, Some(n), _) => format!("t = count {{ {inner}, {n} > 0 }}"),
            (_, None, _) => format!("t = count {{ {inner} }}"),
        };
        if self.choices.one_in(2) {
            return Some(fold.replacen("t =", &format!("{} <=", self.choices.below(3)), 1))
                .filter(|it| !it.starts_with('('))
                .or(Some(fold));
        }
        self.bound.push(('n', "t".into()));
        Some(fold)
    }

    /// Perhaps an order in which variables are to be looked for.
    fn plan(&mut self) -> String {
        let mut names: Vec<&str> = self.bound.iter().map(|it| it.1.as_str()).collect();
        names.dedup();
        if names.is_empty() || !self.choices.one_in(4) {
            return String::new();
        }
        let first = self.choices.below(names.len());
        let second = self.choices.below(names.len());
        format!(" .plan {}, {}", names[first], names[second])
    }
}

/// A rule about one of its own, over those that are known.
pub(crate) fn rule(
    choices: &mut Choices,
    (name, shape): (&str, &str),
    known: &[(String, &str)],
    style: Style,
) -> String {
    let mut draft = Draft { choices, bound: Vec::new(), body: Vec::new() };
    for _ in 0..1 + draft.choices.below(3) {
        let (other, of) = &known[draft.choices.below(known.len())];
        let recursive = draft.choices.one_in(3) && style.recursive;
        let atom = match recursive {
            true => draft.positive(name, shape, ""),
            false => draft.positive(other, of, ""),
        };
        draft.body.push(atom);
    }
    for _ in 0..draft.choices.below(3) {
        let (other, of) = &known[draft.choices.below(known.len())];
        let literal = match draft.choices.below(3) {
            0 => Some(draft.negative(other, of)),
            1 => draft.comparison(),
            _ if style.aggregates => draft.aggregate(known),
            _ => Some(draft.negative(other, of)),
        };
        let at = draft.choices.below(draft.body.len() + 1);
        draft.body.extend(literal);
        let last = draft.body.len() - 1;
        draft.body.swap(at.min(last), last);
    }
    let mut args = Vec::new();
    for ty in shape.chars() {
        if ty == 'e' && draft.bound('e').is_none() {
            draft.body.push("size(u, _)".into());
            draft.bound.push(('e', "u".into()));
        }
        args.push(draft.bound(ty).unwrap_or_else(|| constant(draft.choices, ty)));
    }
    for made in ["s", "t"] {
        let whole = format!("{} {}", args.join(" "), draft.body.join(" "));
        if whole.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| *it == made).count() == 1
        {
            draft.body.push(format!("{made} != 3"));
        }
    }
    let plan = draft.plan();
    let rule = format!("{name}({}) :- {}.{plan}", args.join(", "), draft.body.join(", "));
    without_singles(&rule)
}

/// A rule whose body is atoms over the variables of its head: one that the fast evaluator reads in place of the
/// relation, if there is no other.
fn simple_rule(
    choices: &mut Choices,
    (name, shape): (&str, &str),
    known: &[(String, &str)],
) -> String {
    let mut head: Vec<(char, &str)> = Vec::new();
    for ty in shape.chars() {
        let before = head.iter().filter(|it| it.0 == ty).count();
        head.push((ty, variables(ty)[before]));
    }
    let fits = |it: &&(String, &str)| it.1.chars().all(|it| shape.contains(it));
    let fitting: Vec<&(String, &str)> = known.iter().filter(fits).collect();
    let mut body = Vec::new();
    let is_open = |it: &(char, &str), body: &[String]| !body.iter().any(|atom| has(atom, it.1));
    // Not endlessly: what binds nothing is refused, and left out.
    for _ in 0..8 {
        if !head.iter().any(|it| is_open(it, &body)) {
            break;
        }
        let (other, of) = fitting[choices.below(fitting.len())];
        let mut arg = |ty: char| {
            let of_type: Vec<&str> = head.iter().filter(|it| it.0 == ty).map(|it| it.1).collect();
            of_type[choices.below(of_type.len())]
        };
        let args: Vec<&str> = of.chars().map(&mut arg).collect();
        body.push(format!("{other}({})", args.join(", ")));
    }
    let args: Vec<&str> = head.iter().map(|it| it.1).collect();
    format!("{name}({}) :- {}.", args.join(", "), body.join(", "))
}

/// Whether an atom has a variable.
fn has(atom: &str, var: &str) -> bool {
    atom.split(|it: char| !it.is_ascii_alphanumeric()).any(|it| it == var)
}

/// Writes `_` for variables that occur once.
pub(crate) fn without_singles(rule: &str) -> String {
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '\'';
    let words = || rule.split(|it| !is_word(it));
    let mut text = rule.to_string();
    for ty in TYPES {
        for var in variables(ty).iter().flat_map(|it| [it.to_string(), format!("{it}0")]) {
            if words().filter(|it| *it == var).count() == 1 {
                for (before, after) in [("(", ","), ("(", ")"), (" ", ","), (" ", ")")] {
                    let (old, new) = (format!("{before}{var}{after}"), format!("{before}_{after}"));
                    text = text.replace(&old, &new);
                }
            }
        }
    }
    text
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
    let write = |world: &mut World, entity: EntityId, attr: &str, value: Value| {
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
        for list in ["among.b", "among.c"] {
            write(world, entity, list, Value::Bool(choices.one_in(2)));
        }
    }
    write(world, EntityId(0), "now", Value::Member(choices.below(5) as u16));
    write(world, EntityId(0), "night", Value::Bool(choices.one_in(2)));
}

/// Rows in sets, for the naive fixpoint.
pub(crate) struct Sets<'p> {
    program: &'p Program,
    pub(crate) rows: Vec<BTreeSet<Tuple>>,
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
pub(crate) fn naive<'p>(program: &'p Program, world: &mut World) -> Sets<'p> {
    let mut sets = Sets { program, rows: vec![BTreeSet::new(); program.relations.len()] };
    for (at, relation) in program.relations.iter().enumerate() {
        sets.rows[at] = match &relation.role {
            Role::Input(_) | Role::Given(_) => world.tuples(RelId(at as u16)).into_iter().collect(),
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
pub(crate) fn check_proof<'t>(
    rows: &dyn Rows,
    proof: &'t Proof,
    above: &mut Vec<(&'t str, Vec<i64>)>,
) {
    let tuple: Vec<i64> = proof.tuple.iter().map(|it| it.raw).collect();
    let rel = rows.program().relation_named(&proof.relation).expect("a relation");
    assert!(rows.contains(rel, &tuple));
    let row = (proof.relation.as_str(), tuple);
    assert!(!above.contains(&row), "{row:?} rests on itself");
    above.push(row);
    match &proof.ground {
        Ground::Deeper => panic!("a proof that is cut off"),
        Ground::Fact { .. } | Ground::Static | Ground::Tried => {}
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

/// The height of the lowest proof of every derived row: rounds until none gets lower.
fn heights(program: &Program, rows: &dyn Rows) -> BTreeMap<(RelId, Tuple), usize> {
    let mut heights: BTreeMap<(RelId, Tuple), usize> = BTreeMap::new();
    loop {
        let mut lower = false;
        for rule in &program.rules {
            if program.relation(rule.head).role != Role::Derived {
                continue;
            }
            let mut bindings = vec![None; rule.vars.len()];
            let _ = solve(rows, &rule.body, &mut bindings, &mut |solution| {
                let value = |it: &Term| match *it {
                    Term::Var(var) => solution[usize::from(var.0)],
                    Term::Const(raw) => Some(raw),
                    Term::Wild => None,
                };
                let mut height = Some(1);
                for literal in &rule.body {
                    let Literal::Atom(atom) = literal else { continue };
                    if !atom.negated && program.relation(atom.rel).role == Role::Derived {
                        let pattern: Vec<Option<i64>> = atom.args.iter().map(value).collect();
                        let found = rulemate::internals::derive::collect(rows, atom.rel, &pattern);
                        let known = found.into_iter().filter_map(|it| heights.get(&(atom.rel, it)));
                        height = height.zip(known.min()).map(|(a, &b)| a.max(b + 1));
                    }
                }
                let head: Option<Tuple> = rule.args.iter().map(value).collect();
                if let Some((height, head)) = height.zip(head) {
                    let known = heights.entry((rule.head, head)).or_insert(usize::MAX);
                    lower |= height < *known;
                    *known = height.min(*known);
                }
                ControlFlow::Continue(())
            });
        }
        if !lower {
            return heights;
        }
    }
}

fn height(proof: &Proof) -> usize {
    let Ground::Rule { premises, .. } = &proof.ground else { return 0 };
    let below = premises.iter().map(|it| if let Premise::Holds(it) = it { height(it) } else { 0 });
    1 + below.max().unwrap_or(0)
}

fn agree(seed: u64) {
    // With less, a proof need not be of minimal height.
    let limits = Limits { alternatives: usize::MAX, tries: usize::MAX, ..Limits::default() };
    let (program, text) = checked(&text(&mut Choices(seed)));
    let mut frog = world(&program, Backend::Frog);
    facts(&mut Choices(seed ^ 1), &mut frog);
    let mut bits = world(&program, Backend::Bits);
    facts(&mut Choices(seed ^ 1), &mut bits);
    let sets = naive(&program, &mut frog);
    let mut checker = Checker::new(&program, &frog.facts().clone());
    let materialised = frog.materialised();
    let lowest = heights(&program, &materialised);
    for (at, relation) in program.relations.iter().enumerate() {
        let rel = RelId(at as u16);
        let all = vec![None; relation.columns.len()];
        let rows = rulemate::internals::derive::collect(&materialised, rel, &all);
        let expected: Vec<Tuple> = sets.rows[at].iter().cloned().collect();
        assert_eq!(rows, expected, "frog, seed {seed}, {} in\n{text}", relation.name);
        assert_eq!(bits.tuples(rel), expected, "bits, seed {seed}, {} in\n{text}", relation.name);
        for row in rows.iter().take(8) {
            let proof = explain::why_within(&materialised, rel, row, limits);
            let proof = proof.expect("few steps").expect("a row that holds");
            check_proof(&materialised, &proof, &mut Vec::new());
            let checked = checker.proof(&proof);
            assert!(checked.is_ok(), "seed {seed}: {checked:?} in\n{text}");
            // The proof of a static that was asked for is not among them.
            if let Some(&least) = lowest.get(&(rel, row.clone())) {
                let name = &relation.name;
                assert_eq!(height(&proof), least, "seed {seed}, {row:?} of {name} in\n{text}");
            }
            assert_eq!(
                explain::why_not(
                    &materialised,
                    rel,
                    &row.iter().map(|&it| Some(it)).collect::<Vec<_>>()
                ),
                None
            );
        }
        let absent = vec![Some(1); all.len()];
        let holds = materialised.contains(rel, &vec![1; all.len()]);
        let refutation = explain::why_not(&materialised, rel, &absent);
        assert_eq!(refutation.is_none(), holds);
        if let Some(it) = refutation {
            let checked = checker.refutation(&it);
            assert!(checked.is_ok(), "seed {seed}: {checked:?} in\n{text}");
        }
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

/// Random writes, marks and rollbacks: the incremental evaluator stays in step with the referee.
fn stay_in_step(seed: u64) {
    let (program, text) = checked(&text(&mut Choices(seed)));
    let mut worlds = [world(&program, Backend::Bits), world(&program, Backend::Frog)];
    worlds.iter_mut().for_each(|it| facts(&mut Choices(seed ^ 1), it));
    let attrs: Vec<AttrId> = ["at", "size", "mark", "among.a", "among.d", "now", "night"]
        .iter()
        .filter_map(|it| program.schema.attribute_named(it))
        .collect();
    let mut choices = Choices(seed ^ 2);
    let mut marks = Vec::new();
    for step in 0..12 {
        match choices.below(10) {
            0 | 1 => marks.push(worlds.each_mut().map(World::mark)),
            2 | 3 if !marks.is_empty() => {
                marks.truncate(choices.below(marks.len()) + 1);
                for (world, mark) in worlds.iter_mut().zip(marks.pop().into_iter().flatten()) {
                    world.rollback(mark);
                }
            }
            4 => {
                marks.clear();
                worlds.iter_mut().for_each(World::commit);
            }
            5 => {
                let entity = EntityId(1 + choices.below(6) as u32);
                worlds.iter_mut().for_each(|it| it.remove(entity));
            }
            _ => {
                let attr = attrs[choices.below(attrs.len())];
                let limit = match program.schema.attribute(attr).name.as_str() {
                    "mark" | "among.a" | "among.d" | "night" => 2,
                    _ => 5,
                };
                let entity = EntityId(if attrs.iter().position(|it| *it == attr) > Some(4) {
                    0
                } else {
                    1 + choices.below(7) as u32
                });
                let value = (!choices.one_in(4)).then(|| choices.below(limit) as i64);
                worlds.iter_mut().for_each(|it| {
                    it.set_raw(entity, attr, value);
                });
            }
        }
        // Not after every write, and not every relation: evaluators may be lazy.
        for (at, relation) in program.relations.iter().enumerate() {
            let rel = RelId(at as u16);
            if step == 11 || choices.one_in(2) {
                let [bits, frog] = worlds.each_mut().map(|it| it.tuples(rel));
                assert_eq!(bits, frog, "seed {seed}, step {step}, {} in\n{text}", relation.name);
            }
        }
    }
}

/// All that is compared for one seed, for the fuzzer.
pub(crate) fn compare(seed: u64) {
    agree(seed);
    stay_in_step(seed);
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(if crate::fixture::is_full() { 50_000 } else { 500 })
    })]

    #[test]
    fn evaluators_agree_on_random_programs(seed in any::<u64>()) {
        agree(seed);
    }

    #[test]
    fn evaluators_stay_in_step_on_random_programs(seed in any::<u64>()) {
        stay_in_step(seed);
    }
}
