//! The model that the checker of proofs computes by itself: in what order its joins go, and what it
//! says of relations that are too large for it.

use rulemate::internals::derive::explain::Finding;
use rulemate::internals::facts::{EntityId, Session};
use rulemate::internals::proof::Checker;
use rulemate::internals::rules::Program;
use serde_json::json;

use crate::fixture::{program, rel};

/// The numbers from 0 to 1023.
const NUMBERS: &str = "
.domain Thing entities 4
.input at(thing: Thing, n: Int) key attr at
.static digit(n: Int) open
digit(0). digit(1). digit(2). digit(3).
.static low(n: Int) open
low(a * 4 + b) :- digit(a), digit(b).
.static node(n: Int) open
node(a * 64 + b * 4 + c) :- low(a), low(b), digit(c).
";

/// One thing, on 1.
fn one_thing(program: &Program) -> Session {
    let mut facts = Session::new(program.schema.clone());
    let at = program.schema.attribute_named("at").expect("declared");
    facts.set_raw(EntityId(1), at, Some(1));
    facts
}

/// A join goes by what is known: any other order than from row to row takes some thousand million steps.
#[test]
fn joins_follow_what_is_known() {
    let text = format!(
        "{NUMBERS}.static edge(n: Int, m: Int) open\nedge(n * 32 + a, n * 32 + a + 1) :- node(n), some(a).\n\
         .static some(n: Int) open\nsome(a * 4 + b) :- digit(a), low(b), b < 4.\n\
         some(16 + a * 4 + b) :- digit(a), low(b), b < 4.\n\
         .decl path(n: Int, m: Int) open\npath(a, d) :- at(_, _), edge(a, b), edge(c, d), edge(b, c).\n"
    );
    let program = program(&text);
    let mut checker = Checker::new(&program, &one_thing(&program));
    let wanted: Vec<Vec<i64>> = (0..32766).map(|it| vec![it, it + 3]).collect();
    assert_eq!(checker.rows(rel(&program, "path")), wanted);
}

/// A rule with more solutions than can be held leaves its relation undecided, however few the rows are
/// that they come to.
#[test]
fn what_is_not_computed_to_its_end_denies_nothing() {
    // The last quarter of sixteen million solutions has another row.
    let text = format!(
        "{NUMBERS}.decl seen(n: Int) open\n\
         seen(a / 3) :- at(_, _), digit(a), digit(b), node(c), node(d), a + b + c + d >= 0.\n"
    );
    let program = program(&text);
    let mut checker = Checker::new(&program, &one_thing(&program));
    let one = json!({ "raw": 1, "name": "1" });
    let denied = json!({ "goal": { "relation": "seen", "args": [one] }, "lack": "deeper" });
    let finding: Finding = serde_json::from_value(json!({ "refuted": [denied] })).unwrap();
    let fault = checker.finding(&finding).expect_err("it holds").to_string();
    assert_eq!(fault, "seen: it has too many rows to be computed");
}

/// What is too large to be computed proves and denies nothing.
#[test]
fn a_relation_that_is_too_large_decides_nothing() {
    // 2^20 rows are the most.
    for (rule, fits) in
        [("pair(n, m) :- at(_, _), node(n), node(m).", true), ("pair(n, 1024) :- at(_, n).", false)]
    {
        let both = "pair(n, m) :- at(_, _), node(n), node(m).";
        let text = format!("{NUMBERS}.decl pair(n: Int, m: Int) open\n{both}\n{rule}\n");
        let program = program(&text);
        let mut checker = Checker::new(&program, &one_thing(&program));
        let one = json!({ "raw": 1, "name": "1" });
        let proof = json!({ "relation": "pair", "tuple": [one, one], "ground": "deeper" });
        let finding: Finding = serde_json::from_value(json!({ "proved": [proof] })).unwrap();
        let fault = checker.finding(&finding).err().map(|it| it.to_string());
        let reason = "pair: it has too many rows to be computed";
        assert_eq!(fault.as_deref(), (!fits).then_some(reason), "{rule}");
    }
}
