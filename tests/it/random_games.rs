//! Small random programs that are played: actions that make relations kept, reactions that write,
//! spawn, remove, raise and refuse, presets that come and go, and simulated actions. After every step
//! the bit evaluator, datafrog, the naive fixpoint and the checker of proofs must say the same.
//!
//! A failure names its seed; the program, the facts and the steps follow from it alone.
//! `RULEMATE_RANDOM_SECONDS=3600` goes on with new seeds for an hour, `RULEMATE_RANDOM_SEED` says
//! where to begin. Deliberately absent: programs about boards and pieces (`agreement`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rulemate::internals::derive::explain::{self, Case, Limits};
use rulemate::internals::derive::{Backend, Memo, Plan, Tuple, World, WorldMark, collect};
use rulemate::internals::facts::{AttrId, EntityId, GAME, Value};
use rulemate::internals::proof::Checker;
use rulemate::internals::rules::{Literal, Program, RelId, Role, RuleId};

use crate::agreement::Reference;
use crate::random_files::Files;
use crate::random_rules::{Choices, check_proof, naive};
use crate::reactions::{fire_alike, with_facts_of};

/// A game under way.
struct Walk {
    seed: u64,
    files: Files,
    choices: Choices,
    /// Which presets are active, a bit each.
    with: usize,
    plans: [Option<Arc<Plan>>; 4],
    reference: Reference,
    world: World,
    marks: Vec<WorldMark>,
}

impl Walk {
    /// None if chance has written nothing that compiles.
    fn new(seed: u64) -> Option<Self> {
        let files = Files::of(&mut Choices(seed));
        let mut choices = Choices(seed ^ 1);
        let width = [0, 0, 0, 128, 256][choices.below(5)];
        let plan = |with: usize| {
            let plan = Plan::compile_wide(files.program(with)?, width, &Memo::default());
            let told = |it| panic!("seed {seed}, presets {with}: {it} in\n{}", files.text());
            Some(Arc::new(plan.unwrap_or_else(told)))
        };
        let plans = [0, 1, 2, 3].map(plan);
        let first = plans[0].clone()?;
        let reference = Reference::of(first.program());
        let mut world = World::new(first, Backend::Bits);
        populate(&mut choices, &mut world);
        Some(Self { seed, files, choices, with: 0, plans, reference, world, marks: Vec::new() })
    }

    fn program(&self) -> Arc<Program> {
        Arc::clone(self.world.program())
    }

    /// One step of the game, and what it was.
    fn step(&mut self) -> &'static str {
        match self.choices.below(20) {
            0..7 => self.act(),
            7 | 8 => self.simulate(),
            9 => self.explain_a_trial(),
            10 | 11 => {
                self.marks.push(self.world.mark());
                "a mark"
            }
            12 | 13 if !self.marks.is_empty() => {
                let at = self.choices.below(self.marks.len());
                self.world.rollback(self.marks[at]);
                self.marks.truncate(at);
                "a rollback"
            }
            14 => {
                self.settle();
                "a commit"
            }
            15 => self.switch(),
            16 => self.rest(),
            _ => self.write(),
        }
    }

    fn settle(&mut self) {
        self.world.commit();
        self.marks.clear();
    }

    /// A row of an action, in most cases one that may be tried.
    fn candidate(&mut self) -> (rulemate::internals::rules::ActionId, Tuple) {
        let program = self.program();
        let action = &program.actions[self.choices.below(program.actions.len())];
        let rows = self.world.tuples(action.candidates());
        if !rows.is_empty() && !self.choices.one_in(8) {
            let mut args = rows[self.choices.below(rows.len())].clone();
            if !action.unlisted.is_empty() && self.choices.one_in(2) {
                args.push(self.choices.below(3) as i64);
                args.push(self.choices.below(4) as i64);
                args = Tuple::from_slice(action.shortest(&args));
            }
            return (action.id, args);
        }
        let columns = program.relation(action.rel).columns.len();
        let args = (0..columns).map(|_| 1 + self.choices.below(6) as i64).collect();
        (action.id, args)
    }

    fn act(&mut self) -> &'static str {
        let (action, args) = self.candidate();
        let _ = fire_alike(&mut self.world, action, &args);
        "an action"
    }

    /// Plays every try out and takes it back, under both evaluators.
    fn simulate(&mut self) -> &'static str {
        let program = self.program();
        let untenable = program.relation_named("untenable").expect("declared");
        let action = &program.actions[self.choices.below(program.actions.len())];
        let mut twin = crate::reactions::twin(&self.world);
        for args in self.world.tuples(action.candidates()).iter().take(6) {
            // As far as it is played out to see whether it is legal, and perhaps on to the end.
            let goes_on = self.choices.one_in(2);
            let [bits, frog] = [&mut self.world, &mut twin].map(|world| {
                let mark = world.mark();
                let mut sides = Vec::new();
                let done = world.play_out(action.id, args, &mut |world| {
                    sides.push(world.tuples(untenable));
                    goes_on
                });
                let after = world.facts().hash();
                world.rollback(mark);
                (sides, done, after)
            });
            assert_eq!(bits, frog, "seed {}: {args:?} in\n{}", self.seed, self.files.text());
        }
        "simulation"
    }

    /// What an action would do, told and checked.
    fn explain_a_trial(&mut self) -> &'static str {
        let program = self.program();
        let (action, args) = self.candidate();
        let untenable = program.relation_named("untenable").expect("declared");
        let turn = program.schema.attribute_named("turn").expect("declared");
        let Some(mover) = self.world.facts().get_raw(GAME, turn) else { return "nothing" };
        let case = Case { action, args: &args, because: None, untenable, mover };
        if let Ok(Some(trial)) = explain::try_out(&mut self.world, case, Limits::default()) {
            let checked = Checker::new(&program, self.world.facts()).trial(&trial);
            let text = self.files.text();
            assert!(checked.is_ok(), "seed {}: {checked:?}, {trial:?} in\n{text}", self.seed);
        }
        "a trial"
    }

    /// Presets come or go: other rules for the same facts.
    fn switch(&mut self) -> &'static str {
        let with = self.choices.below(4);
        if let Some(plan) = self.plans[with].clone() {
            self.settle();
            self.world = with_facts_of(&self.world, &plan, Backend::Bits);
            self.reference = Reference::of(plan.program());
            self.with = with;
        }
        "a change of presets"
    }

    fn rest(&mut self) -> &'static str {
        match self.choices.below(4) {
            0 => {
                self.settle();
                self.world.unload();
                self.world.reload();
            }
            1 => self.world.forget_rows(),
            2 => self.world = self.world.clone(),
            _ => {
                self.world.plan().make_native();
            }
        }
        "a rest"
    }

    fn write(&mut self) -> &'static str {
        let entity = EntityId(1 + self.choices.below(7) as u32);
        if self.choices.one_in(8) {
            self.world.remove(entity);
            return "a removal";
        }
        let schema = Arc::clone(self.world.facts().schema());
        let attrs = [
            "at", "kind", "friend", "side", "mark", "size", "now", "night", "turn", "shade", "lit",
            "score", "spark", "rush", "trail", "dusk", "among.a", "among.f",
        ];
        let name = self.choices.pick(&attrs);
        let attr = schema.attribute_named(name).expect("declared");
        let value = match name {
            "mark" | "night" | "side" | "turn" | "lit" | "rush" | "trail" | "dusk" | "among.a"
            | "among.f" => self.choices.below(2),
            "kind" | "shade" => self.choices.below(3),
            "friend" => 1 + self.choices.below(6),
            _ => self.choices.below(5),
        };
        let of_game = matches!(name, "now" | "night" | "turn" | "dusk");
        let value = (!self.choices.one_in(4)).then_some(value as i64);
        let owner = match schema.owners(attr) {
            Some(domain) => EntityId(self.choices.below(domain.size()) as u32),
            None if of_game => GAME,
            None => entity,
        };
        self.world.set_raw(owner, attr, value);
        "a write"
    }

    /// Rows by every way of asking, in an order of chance.
    fn compare(&mut self, step: usize, after: &str) {
        let expected = self.reference.rows(&self.world);
        let (reference, choices) = (&self.reference, &mut self.choices);
        let difference = match choices.one_in(3) {
            true => reference.other_difference(&mut self.world, &expected, choices),
            false => reference.difference(&mut self.world, &expected, choices),
        };
        if let Some(difference) = difference {
            panic!(
                "seed {}, step {step}, after {after}, presets {}: {difference} in\n{}",
                self.seed,
                self.with,
                self.files.text()
            );
        }
    }

    /// The fixpoint by trying, the model of the checker, and proofs.
    fn compare_with_the_slow(&mut self, step: usize) {
        let program = self.program();
        let mut twin = crate::reactions::twin(&self.world);
        let sets = naive(&program, &mut twin);
        let mut checker = Checker::new(&program, self.world.facts());
        let told = |what: &str| {
            let (seed, text) = (self.seed, self.files.text());
            format!("{what}, seed {seed}, step {step}, presets {} in\n{text}", self.with)
        };
        let rows = self.world.materialised();
        for action in &program.actions {
            let candidates = action.candidates();
            let [tried, listed] = [candidates, action.rel].map(|it| &sets.rows[usize::from(it.0)]);
            assert!(listed.is_subset(tried), "{}", told("more than the tries"));
        }
        for (at, relation) in program.relations.iter().enumerate() {
            let rel = RelId(at as u16);
            let all = vec![None; relation.columns.len()];
            let found = collect(&rows, rel, &all);
            let expected: Vec<Tuple> = sets.rows[at].iter().cloned().collect();
            assert_eq!(found, expected, "{}: bits, {}", relation.name, told("naive"));
            let model: Vec<Tuple> = checker.rows(rel).into_iter().map(Tuple::from_vec).collect();
            assert_eq!(model, expected, "{}: the model, {}", relation.name, told("naive"));
            if !matches!(relation.role, Role::Derived | Role::Given(_)) || found.is_empty() {
                continue;
            }
            let row = &found[self.choices.below(found.len())];
            let proof = explain::why(&rows, rel, row).expect("a row that holds");
            check_proof(&rows, &proof, &mut Vec::new());
            let checked = checker.proof(&proof);
            assert!(checked.is_ok(), "{checked:?}, {}", told("a proof"));
            let absent: Vec<Option<i64>> =
                row.iter().map(|it| self.choices.one_in(2).then_some((it - 1).max(0))).collect();
            if let Some(it) = explain::why_not(&rows, rel, &absent) {
                let checked = checker.refutation(&it);
                assert!(checked.is_ok(), "{checked:?}, {}", told("a refutation"));
            }
        }
    }
}

fn populate(choices: &mut Choices, world: &mut World) {
    let schema = Arc::clone(world.facts().schema());
    let attr = |name: &str| -> AttrId { schema.attribute_named(name).expect("declared") };
    for _ in 0..4 {
        let entity = world.create();
        let mut write = |world: &mut World, name: &str, value: Value| {
            if !choices.one_in(5) {
                world.insert(entity, attr(name), value).expect("of its type");
            }
        };
        write(world, "at", Value::Member(entity.0 as u16 % 5));
        write(world, "kind", Value::Member(entity.0 as u16 % 3));
        write(world, "side", Value::Member(entity.0 as u16 % 2));
        write(world, "size", Value::Int(i64::from(entity.0)));
        write(world, "mark", Value::Bool(entity.0.is_multiple_of(2)));
        write(world, "friend", Value::Entity(EntityId(1)));
    }
    for at in 0..4 {
        world.set_raw(EntityId(at), attr("shade"), Some(choices.below(3) as i64));
        world.set_raw(EntityId(at), attr("lit"), Some(choices.below(2) as i64));
        world.set_raw(EntityId(1 + at), attr("spark"), Some(choices.below(5) as i64));
    }
    world.set_raw(GAME, attr("now"), Some(choices.below(5) as i64));
    world.commit();
}

/// Whether there was a game to play.
pub(crate) fn play(seed: u64) -> bool {
    let Some(mut walk) = Walk::new(seed) else { return false };
    for step in 0..24 {
        let after = walk.step();
        if walk.world.check().is_err() {
            return true;
        }
        walk.compare(step, after);
        if step % 6 == 5 {
            walk.compare_with_the_slow(step);
        }
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn evaluators_agree_on_random_games(seed in any::<u64>()) {
        play(seed);
    }
}

/// What it takes for the comparison to mean something.
#[test]
fn random_games_are_not_trivial() {
    let (mut games, mut kept, mut rounds, mut reactions, mut fired) = (0, 0, 0, 0, 0);
    for seed in 0..40 {
        let Some(mut walk) = Walk::new(seed) else { continue };
        games += 1;
        let program = walk.program();
        reactions += program.reactions.len();
        walk.world.log_recomputation(true);
        walk.world.forget_rows();
        walk.compare(0, "the start");
        let log = walk.world.recomputed();
        kept += log.iter().map(|it| it.0).collect::<std::collections::BTreeSet<_>>().len();
        for _ in 0..24 {
            let before = walk.world.facts().hash();
            fired += usize::from(walk.step() == "an action" && before != walk.world.facts().hash());
            walk.compare(0, "a step");
        }
        rounds += program
            .relations
            .iter()
            .filter(|relation| {
                let is_local = |it: &&RuleId| {
                    let rule = program.rule(**it);
                    rule.body
                        .iter()
                        .any(|it| matches!(it, Literal::Atom(atom) if atom.rel == rule.head))
                };
                relation.rules.iter().filter(is_local).count() > 1
            })
            .count();
    }
    let figures = [games, kept, rounds, reactions, fired];
    assert!(games > 36 && kept > 40 && rounds > 20 && reactions > 80 && fired > 60, "{figures:?}");
}

/// Games in which evaluators once differed: which entities have a member of a list was not kept.
#[test]
fn games_of_before_agree() {
    play(9_853_630_558_211_801_707);
}

#[test]
fn random_games_for_a_long_time() {
    for_a_long_time("games", |seed| {
        play(seed);
    });
}

/// As long as is asked for: nothing, if nothing is.
pub(crate) fn for_a_long_time(what: &str, play: impl Fn(u64)) {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let Some(seconds) = number("RULEMATE_RANDOM_SECONDS") else { return };
    let first = number("RULEMATE_RANDOM_SEED").unwrap_or_default();
    let (begun, mut seed) = (Instant::now(), first);
    while begun.elapsed() < Duration::from_secs(seconds) {
        let named = Named { what, seed };
        play(seed);
        drop(named);
        seed += 1;
    }
    show(&format!("random {what} from seed {first} up to {seed} agree"));
}

/// Tells the seed of what has failed, whichever assertion it was.
struct Named<'a> {
    what: &'a str,
    seed: u64,
}

impl Drop for Named<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            show(&format!("random {} failed with seed {}", self.what, self.seed));
        }
    }
}

#[expect(clippy::print_stderr, reason = "figures for whoever asked for them")]
fn show(text: &str) {
    eprintln!("{text}");
}
