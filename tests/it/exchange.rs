//! Parts of proofs exchanged for parts of others: whole premises, subtrees, bindings, rules and
//! quotations, of every kind of step. Each part is true by itself, so only a checker that holds every
//! part against the place where it stands can refuse it.
//!
//! What may stand in a place is decided here by names alone: a premise may be another row only where
//! the rule says `_`. `RULEMATE_FULL=1` tries forty times as many exchanges.

use std::collections::BTreeMap;

use rulemate::internals::derive::explain::{Finding, Limits, why};
use rulemate::internals::game::{Game, decide};
use rulemate::internals::moves::{legal_moves, pseudo_moves};
use rulemate::internals::presets::Catalogue;
use rulemate::internals::proof::Checker;
use rulemate::internals::rules::tree::Quote;
use rulemate::internals::rules::{Literal, Program, RelId, Role, Rule, Term};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::random_rules::Choices;

/// The kinds of parts that a finding is made of, by what they look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Proof,
    Ground,
    Premise,
    Premises,
    Quote,
    Bindings,
    Binding,
    Datum,
    Tuple,
    Goal,
    Refutation,
    Lack,
    Attempt,
    Attempts,
    Blocked,
    Comparison,
    Tally,
    Step,
    Steps,
    Effect,
    Effects,
}

/// What stands directly around a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    /// The finding itself.
    Finding,
    /// The literal of that number of a rule that proves something.
    Literal(usize),
    /// An attempt of a refutation.
    Attempt,
    /// A trial: what happens, or what is proved of it.
    Trial,
}

/// A part and where it stands.
#[derive(Debug, Clone)]
struct Part {
    pointer: String,
    sort: Sort,
    /// The rule around it, by number.
    rule: Option<usize>,
    holder: Holder,
    /// The row or goal that the part is about or stands for.
    claim: Value,
    /// Somewhere within the bindings of an attempt, which may say less or take another way.
    is_choice: bool,
}

#[derive(Clone)]
struct Around {
    rule: Option<usize>,
    holder: Holder,
    claim: Value,
    is_choice: bool,
}

fn sort_of(value: &Value, key: &str) -> Option<Sort> {
    match value {
        Value::Array(_) => Some(match key {
            "premises" => Sort::Premises,
            "bindings" => Sort::Bindings,
            "tuple" => Sort::Tuple,
            "steps" => Sort::Steps,
            "effects" => Sort::Effects,
            "rules" => Sort::Attempts,
            _ => return None,
        }),
        Value::Object(all) => {
            let has = |names: &[&str]| names.iter().all(|it| all.contains_key(*it));
            Some(match () {
                () if has(&["relation", "tuple", "ground"]) => Sort::Proof,
                () if has(&["rule", "place", "text"]) => Sort::Quote,
                () if has(&["relation", "args"]) => Sort::Goal,
                () if has(&["goal", "lack"]) => Sort::Refutation,
                () if has(&["matched", "total", "blocked"]) => Sort::Attempt,
                () if has(&["text", "lhs", "op", "rhs"]) => Sort::Comparison,
                () if has(&["text", "members", "value"]) => Sort::Tally,
                () if has(&["var", "value"]) => Sort::Binding,
                () if has(&["raw", "name"]) => Sort::Datum,
                () if has(&["event", "depth", "reaction"]) => Sort::Step,
                () => return by_key(key),
            })
        }
        Value::String(_) => by_key(key),
        _ => None,
    }
}

fn by_key(key: &str) -> Option<Sort> {
    match key {
        "ground" => Some(Sort::Ground),
        "lack" => Some(Sort::Lack),
        "blocked" => Some(Sort::Blocked),
        _ => None,
    }
}

fn parts(value: &Value, pointer: &str, key: &str, around: &Around, found: &mut Vec<Part>) {
    let mut around = around.clone();
    let mut sort = sort_of(value, key);
    if key == "premise" {
        sort = Some(Sort::Premise);
    } else if key == "effect" {
        sort = Some(Sort::Effect);
    }
    match sort {
        Some(Sort::Proof) => around.claim = json!([value["relation"], value["tuple"]]),
        Some(Sort::Refutation) => around.claim = value["goal"].clone(),
        Some(Sort::Premise) => {
            let row = |proof: &Value| json!([proof["relation"], proof["tuple"]]);
            around.claim = value.get("holds").map_or(Value::Null, row);
        }
        _ => {}
    }
    if let Some(sort) = sort {
        let Around { rule, holder, claim, is_choice } = around.clone();
        found.push(Part { pointer: pointer.to_owned(), sort, rule, holder, claim, is_choice });
    }
    let number = |it: &Value| it["rule"]["rule"].as_u64().map(|it| it as usize);
    if value.get("premises").is_some() {
        around.rule = number(value);
    } else if sort == Some(Sort::Attempt) {
        (around.rule, around.holder) = (number(value), Holder::Attempt);
    } else if matches!(sort, Some(Sort::Steps | Sort::Step)) || value.get("tried").is_some() {
        around.holder = Holder::Trial;
    }
    match value {
        Value::Array(all) => {
            for (at, it) in all.iter().enumerate() {
                let mut around = around.clone();
                let key = match key {
                    "premises" => {
                        around.holder = Holder::Literal(at);
                        "premise"
                    }
                    "effects" => "effect",
                    _ => "",
                };
                parts(it, &format!("{pointer}/{at}"), key, &around, found);
            }
        }
        Value::Object(all) => {
            for (key, it) in all {
                let mut around = around.clone();
                around.is_choice |= key == "bindings" && sort == Some(Sort::Attempt);
                parts(it, &format!("{pointer}/{key}"), key, &around, found);
            }
        }
        _ => {}
    }
}

fn parts_of(said: &Value) -> Vec<Part> {
    let around =
        Around { rule: None, holder: Holder::Finding, claim: Value::Null, is_choice: false };
    let mut found = Vec::new();
    parts(said, "", "", &around, &mut found);
    found
}

/// What is to be expected of an exchange.
#[derive(Debug, PartialEq, Eq)]
enum Expected {
    Refused,
    Accepted,
    /// The part may be right there, too: it says less, or takes another way to the same.
    Either,
}

struct Exchange<'p> {
    program: &'p Program,
    said: &'p Value,
}

impl Exchange<'_> {
    fn expected(&self, part: &Part, new: &Value) -> Expected {
        if part.is_choice {
            return Expected::Either;
        }
        let is_trial = self.said.get("tried").is_some();
        match part.sort {
            Sort::Proof | Sort::Premise => {
                let proof = if part.sort == Sort::Proof { new } else { &new["holds"] };
                if proof.is_null() {
                    return Expected::Refused;
                }
                self.row(part, &json!([proof["relation"], proof["tuple"]]), is_trial)
            }
            // The row of a proof without premises may be another one where nothing asks for more.
            Sort::Tuple | Sort::Datum if self.is_loose(part) => Expected::Either,
            // Another way to the same row is one, too; the same goal may be refuted otherwise.
            Sort::Ground | Sort::Lack => Expected::Either,
            Sort::Refutation if *new.get("goal").unwrap_or(&Value::Null) == part.claim => {
                Expected::Either
            }
            Sort::Refutation | Sort::Goal if self.may_be_missing(part, new) => Expected::Either,
            Sort::Refutation | Sort::Goal if part.holder == Holder::Finding => Expected::Either,
            Sort::Attempt if new["rule"] == self.at(part)["rule"] => Expected::Either,
            // All attempts at the same goal; bindings left out; see `Attempt`.
            Sort::Attempts => Expected::Either,
            Sort::Blocked if self.may_block(part, new) => Expected::Either,
            Sort::Comparison | Sort::Tally if part.holder == Holder::Attempt => {
                match new["text"] == self.at(part)["text"] || !self.may_be_said(part, new) {
                    true => Expected::Refused,
                    false => Expected::Either,
                }
            }
            _ => Expected::Refused,
        }
    }

    fn at(&self, part: &Part) -> &Value {
        self.said.pointer(&part.pointer).expect("a place")
    }

    fn rule(&self, part: &Part) -> Option<&Rule> {
        self.program.rules.get(part.rule?)
    }

    /// Another true row in the place of one.
    fn row(&self, part: &Part, claim: &Value, is_trial: bool) -> Expected {
        let good = if is_trial { Expected::Either } else { Expected::Accepted };
        if *claim == part.claim {
            return good;
        }
        match (part.holder, self.rule(part)) {
            (Holder::Finding, _) => good,
            (Holder::Literal(at), Some(rule)) => match &rule.body[at] {
                Literal::Atom(atom) if agree(&atom.args, &part.claim, claim) => good,
                _ => Expected::Refused,
            },
            (Holder::Attempt, Some(rule)) => {
                let denies = |it: &Literal| match it {
                    Literal::Atom(atom) => {
                        let same = self.program.relation(atom.rel).name == claim[0];
                        let other = part.claim[0] != claim[0];
                        atom.negated && same && (other || agree(&atom.args, &part.claim, claim))
                    }
                    _ => false,
                };
                let twice = rule.body.iter().filter(|it| self.is_of(it, true, &claim[0])).count();
                match rule.body.iter().any(denies) || twice > 1 {
                    true => Expected::Either,
                    false => Expected::Refused,
                }
            }
            _ => Expected::Refused,
        }
    }

    fn is_of(&self, literal: &Literal, negated: bool, relation: &Value) -> bool {
        match literal {
            Literal::Atom(it) => {
                it.negated == negated && self.program.relation(it.rel).name == *relation
            }
            _ => false,
        }
    }

    /// Whether a tuple, or a value of one, stands where the rule says `_`, or at the top.
    fn is_loose(&self, part: &Part) -> bool {
        let mut names = part.pointer.rsplit('/');
        if names.next() != Some("tuple") && names.next() != Some("tuple") {
            return false;
        }
        let (Holder::Literal(at), Some(rule)) = (part.holder, self.rule(part)) else {
            return part.holder != Holder::Trial;
        };
        match &rule.body[at] {
            Literal::Atom(atom) => atom.args.contains(&Term::Wild),
            _ => false,
        }
    }

    /// Whether another goal might be one that the rule of an attempt asks for.
    fn may_be_missing(&self, part: &Part, new: &Value) -> bool {
        let goal = new.get("goal").unwrap_or(new);
        let (Holder::Attempt, Some(rule)) = (part.holder, self.rule(part)) else { return false };
        let asks = rule.body.iter().filter(|it| self.is_of(it, false, &goal["relation"])).count();
        let same = goal["relation"] == part.claim["relation"];
        asks > usize::from(same)
    }

    /// Whether what blocks another attempt might block this one.
    fn may_block(&self, part: &Part, new: &Value) -> bool {
        let Some(rule) = self.rule(part) else { return false };
        let relation = |it: &Value| it["goal"].get("relation").or(it.get("relation")).cloned();
        let of = |kind: &str, negated: bool| {
            let Some(name) = new.get(kind).and_then(relation) else { return false };
            rule.body.iter().any(|it| self.is_of(it, negated, &name))
        };
        let said = new.get("compare").or(new.get("aggregate"));
        of("missing", false)
            || of("apart", false)
            || of("present", true)
            || said.is_some_and(|it| self.is_said(rule, it))
    }

    fn may_be_said(&self, part: &Part, new: &Value) -> bool {
        self.rule(part).is_some_and(|it| self.is_said(it, new))
    }

    fn is_said(&self, rule: &Rule, stated: &Value) -> bool {
        rule.body.iter().any(|it| match it {
            Literal::Compare(it) => self.program.quote(it.span) == stated["text"],
            Literal::Aggregate(it) => self.program.quote(it.span) == stated["text"],
            Literal::Atom(_) => false,
        })
    }
}

/// Whether two parts are of one relation, rule, variable or event.
fn are_alike(a: &Value, b: &Value) -> bool {
    let kind = |it: &Value| -> Option<Value> {
        let paths = ["/relation", "/holds/relation", "/goal/relation", "/rule/rule", "/var"];
        let paths = paths.iter().chain(&["/reaction/rule", "/missing/goal/relation", "/text"]);
        paths.filter_map(|path| it.pointer(path)).next().cloned()
    };
    kind(a).is_some_and(|it| kind(b) == Some(it))
}

/// Whether two rows of one relation differ only where the atom says `_`.
fn agree(args: &[Term], old: &Value, new: &Value) -> bool {
    old[0] == new[0]
        && args.iter().enumerate().all(|(at, it)| *it == Term::Wild || old[1][at] == new[1][at])
}

fn is_accepted(said: &Value, checker: &mut Checker) -> bool {
    Finding::deserialize(said).is_ok_and(|it| checker.finding(&it).is_ok())
}

/// All that explain says of a position: its moves, legal or not, and rows of all relations.
fn findings(game: &mut Game, choices: &mut Choices) -> Vec<Value> {
    let contract = game.contract().clone();
    let world = game.world_mut();
    let mut moves = legal_moves(world, &contract);
    moves.extend(
        pseudo_moves(world).into_iter().filter(|it| !moves.contains(it)).collect::<Vec<_>>(),
    );
    let mut said = Vec::new();
    for _ in 0..6.min(moves.len()) {
        let mv = &moves[choices.below(moves.len())];
        let (_, finding) = decide(world, &contract, mv, Limits::default()).expect("cheap");
        said.push(json!(finding));
    }
    let listed = game.listing();
    for _ in 0..3.min(listed.len()) {
        let (text, _) = &listed[choices.below(listed.len())];
        said.push(json!(game.explain_effects(text, Limits::default()).expect("a move").finding));
    }
    let program = game.program().clone();
    let rows = game.world_mut().materialised();
    for (at, relation) in program.relations.iter().enumerate() {
        let rel = RelId(at as u16);
        // What counts is rare: all of it is asked for.
        let counts = relation.rules.iter().any(|&it| {
            let body = &program.rule(it).body;
            body.iter().any(|it| matches!(it, Literal::Aggregate(_)))
        });
        if relation.role != Role::Derived || !(counts || choices.one_in(4)) {
            continue;
        }
        let all =
            rulemate::internals::derive::collect(&rows, rel, &vec![None; relation.columns.len()]);
        if !all.is_empty()
            && let Some(proof) = why(&rows, rel, &all[choices.below(all.len())])
        {
            said.push(json!(Finding::Proved(vec![proof])));
        }
    }
    said
}

/// What was tried, by kind of part: refused, accepted rightly, and left undecided.
type Counts = BTreeMap<Sort, [usize; 3]>;

fn exchange(
    name: &str,
    game: &mut Game,
    choices: &mut Choices,
    rounds: usize,
    counts: &mut Counts,
) {
    let said = findings(game, choices);
    let mut checker = Checker::new(game.program(), game.facts());
    let program = game.program().clone();
    // What a trial says may be so of other facts only: those after the action.
    let mut donors: BTreeMap<Sort, Vec<(&Value, bool)>> = BTreeMap::new();
    let all: Vec<Vec<Part>> = said.iter().map(parts_of).collect();
    for (said, parts) in said.iter().zip(&all) {
        for part in parts {
            let value = said.pointer(&part.pointer).expect("a place");
            donors.entry(part.sort).or_default().push((value, said.get("tried").is_some()));
        }
    }
    let numbered = program.rules.iter().enumerate();
    let quotes: Vec<Value> =
        numbered.map(|(at, rule)| json!(Quote::of(&program, at, rule.span))).collect();
    donors.entry(Sort::Quote).or_default().extend(quotes.iter().map(|it| (it, false)));
    let mut by_sort: BTreeMap<Sort, Vec<(usize, usize)>> = BTreeMap::new();
    for (which, parts) in all.iter().enumerate() {
        for (at, part) in parts.iter().enumerate() {
            by_sort.entry(part.sort).or_default().push((which, at));
        }
    }
    for (sort, places) in &by_sort {
        for _ in 0..rounds {
            let (which, at) = places[choices.below(places.len())];
            let (said, part) = (&said[which], &all[which][at]);
            let old = said.pointer(&part.pointer).expect("a place");
            let mut of_sort: Vec<_> = donors[sort].iter().filter(|it| it.0 != old).collect();
            // What looks most alike is most easily taken for the other.
            if choices.one_in(2) && of_sort.iter().any(|it| are_alike(it.0, old)) {
                of_sort.retain(|it| are_alike(it.0, old));
            }
            if of_sort.is_empty() {
                continue;
            }
            let &(new, of_trial) = of_sort[choices.below(of_sort.len())];
            let mut wrong = said.clone();
            let place = wrong.pointer_mut(&part.pointer).expect("a place");
            *place = new.clone();
            let expected = match (Exchange { program: &program, said }).expected(part, new) {
                Expected::Accepted if of_trial => Expected::Either,
                it => it,
            };
            let accepted = is_accepted(&wrong, &mut checker);
            let count = match expected {
                Expected::Refused => 0,
                Expected::Accepted => 1,
                Expected::Either => 2,
            };
            counts.entry(*sort).or_default()[count] += 1;
            assert!(
                expected == Expected::Either || accepted == (expected == Expected::Accepted),
                "{name} {}: {} with another {sort:?} was {}: {new}\nin {said}",
                game.fen(),
                part.pointer,
                if accepted { "accepted" } else { "refused" },
            );
        }
    }
}

#[test]
fn no_part_of_a_proof_stands_for_another() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let full = crate::fixture::is_full();
    let mut counts = Counts::new();
    for (at, entry) in catalogue.games().iter().enumerate() {
        let rules = catalogue.load::<&str>(&entry.name, &[]).expect("it loads");
        let mut choices = Choices(at as u64 * 77 + 5);
        let mut game = rules.start(None).expect("it starts");
        for _ in 0..6 + choices.below(30) {
            let moves = game.legal_moves();
            if moves.is_empty() {
                break;
            }
            game.play(&moves[choices.below(moves.len())]).expect("it is legal");
        }
        exchange(&entry.name, &mut game, &mut choices, if full { 200 } else { 5 }, &mut counts);
    }
    // Every kind of part was exchanged, and it was known what had to come of it.
    for sort in [
        Sort::Proof,
        Sort::Premise,
        Sort::Premises,
        Sort::Quote,
        Sort::Bindings,
        Sort::Binding,
        Sort::Datum,
        Sort::Tuple,
        Sort::Goal,
        Sort::Refutation,
        Sort::Attempt,
        Sort::Blocked,
        Sort::Comparison,
        Sort::Tally,
        Sort::Step,
        Sort::Steps,
        Sort::Effect,
        Sort::Effects,
    ] {
        let refused = counts.get(&sort).map_or(0, |it| it[0]);
        assert!(refused >= 5, "{sort:?} was exchanged too rarely: {counts:?}");
    }
    assert!(counts[&Sort::Premise][1] + counts[&Sort::Proof][1] >= 5, "{counts:?}");
}
