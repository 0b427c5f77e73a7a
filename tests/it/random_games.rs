//! Small random programs that are played: actions that make relations kept, reactions that write,
//! spawn, remove, raise and refuse, presets that come and go, and simulated actions. After every step
//! the bit evaluator, datafrog, the naive fixpoint and the checker of proofs must say the same.
//!
//! A failure names its seed; the program, the facts and the steps follow from it alone.
//! `RULEMATE_RANDOM_SECONDS=3600` goes on with new seeds for an hour, `RULEMATE_RANDOM_SEED` says
//! where to begin. Deliberately absent: programs about boards and pieces (`agreement`).

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rulemate::derive::explain::{self, Case, Limits};
use rulemate::derive::{Backend, Plan, Tuple, World, WorldMark, collect};
use rulemate::facts::{AttrId, EntityId, GAME, Value};
use rulemate::proof::Checker;
use rulemate::rules::{Program, RelId, Role, Source, compile};

use crate::agreement::Referee;
use crate::random_rules::{Choices, Draft, Style, check_proof, naive, rule, without_singles};
use crate::reactions::{fire_alike, with_facts_of};

const DECLARED: &str = r#"
.domain D { a, b, c, d, e, f, g }
.domain K { up, down, left }
.domain E entities 8
.domain Side { white, black }
.stages before, apply, after default apply
.input at(e: E, d: D) key attr at
.input size(e: E, n: Int) key attr size
.input kind(e: E, k: K) key attr kind
.input friend(e: E, other: E) key attr friend
.input side(e: E, side: Side) key attr side
.input mark(e: E) flag attr mark
.input now(d: D) game attr now
.input night() game attr night
.input turn(side: Side) game attr turn = white
.static edge(from: D, to: D) open
.static step(by: K, from: D, to: D) key open
.static ahead(from: D, to: D) key open
.static cost(from: D, n: Int) open
.decl untenable(side: Side) open "{side} may not leave it so"
.event hit(e: E, n: Int) "{e} is hit by {n}"
.event gone(e: E) "{e} is gone"
"#;

/// Relations by the type of their columns, those first that may be kept.
const KEPT: [(&str, &str); 10] = [
    ("at", "ed"),
    ("kind", "ek"),
    ("friend", "ee"),
    ("side", "es"),
    ("mark", "e"),
    ("size", "en"),
    ("edge", "dd"),
    ("step", "kdd"),
    ("ahead", "dd"),
    ("cost", "dn"),
];
const OF_THE_GAME: [(&str, &str); 3] = [("now", "d"), ("night", ""), ("turn", "s")];
const SHAPES: [&str; 14] =
    ["ed", "ekd", "edd", "ed", "ekd", "ee", "ek", "ede", "e", "d", "dd", "en", "es", ""];

type Known = Vec<(String, &'static str)>;

fn owned(all: &[(&str, &'static str)]) -> Known {
    all.iter().map(|&(name, shape)| (name.to_string(), shape)).collect()
}

/// What the files of a game are made of.
struct Making<'c> {
    choices: &'c mut Choices,
    /// All relations so far, and those of them that may be kept.
    known: Known,
    calm: Known,
}

impl Making<'_> {
    fn statics(&mut self, text: &mut String) {
        const MEMBERS: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];
        for _ in 0..4 + self.choices.below(6) {
            let (from, to) = (self.choices.pick(&MEMBERS), self.choices.pick(&MEMBERS));
            let _ = writeln!(text, "edge('{from}, '{to}).");
            let _ = writeln!(text, "cost('{to}, {}).", self.choices.below(4));
        }
        for from in MEMBERS {
            for by in ["up", "down", "left"] {
                if !self.choices.one_in(4) {
                    let _ =
                        writeln!(text, "step('{by}, '{from}, '{}).", self.choices.pick(&MEMBERS));
                }
            }
            if !self.choices.one_in(3) {
                let _ = writeln!(text, "ahead('{from}, '{}).", self.choices.pick(&MEMBERS));
            }
        }
    }

    /// A relation and its rules: in most cases one that may be kept.
    fn relation(&mut self, number: usize, text: &mut String) {
        let shape = SHAPES[self.choices.below(SHAPES.len())];
        let name = format!("p{number}");
        let column = |(at, it): (usize, char)| match it {
            'd' => format!("c{at}: D"),
            'e' => format!("c{at}: E"),
            'k' => format!("c{at}: K"),
            's' => format!("c{at}: Side"),
            _ => format!("c{at}: Int"),
        };
        let columns: Vec<String> = shape.chars().enumerate().map(column).collect();
        let _ = writeln!(text, ".decl {name}({}) open \"as it comes\"", columns.join(", "));
        let calm = !self.choices.one_in(5);
        self.rules(&name, shape, calm, text);
        if calm {
            self.calm.push((name.clone(), shape));
        }
        self.known.push((name, shape));
    }

    fn rules(&mut self, name: &str, shape: &'static str, calm: bool, text: &mut String) {
        let known = if calm { &self.calm } else { &self.known };
        let in_row = is_block(shape) && !self.choices.one_in(3);
        let style = Style { recursive: !in_row && !shape.contains('n'), aggregates: !calm };
        for _ in 0..1 + self.choices.below(3) {
            let _ = writeln!(text, "{}", rule(self.choices, (name, shape), known, style));
        }
        if in_row {
            // Something to go on from, in most cases.
            let start = match shape {
                "ed" => "(u, x) :- at(u, x).",
                "ekd" => "(u, i, x) :- at(u, x), step(i, _, x).",
                "edd" => "(u, y, x) :- at(u, x), ahead(_, y).",
                "ee" => "(u, v) :- friend(u, v).",
                _ => "",
            };
            if !start.is_empty() && !self.choices.one_in(4) {
                let _ = writeln!(text, "{name}{start}");
            }
            for _ in 0..1 + self.choices.below(3) {
                let _ = writeln!(text, "{}", in_its_row(self.choices, (name, shape), known));
            }
        }
    }

    /// Actions that read nearly all relations: what they need is kept.
    fn actions(&mut self, text: &mut String) {
        text.push_str(
            ".decl try_act(e: E, d: D) \"as it comes\"\n\
             .action act(e: E, d: D) tries try_act legality rules \"{e} acts on {d}\"\n\
             .action poke(e: E) \"{e} is poked\"\n.action touch(d: D) \"{d} is touched\"\n\
             .decl may_act(e: E, d: D) open \"as it comes\"\n\
             poke(u) :- mark(u).\ntouch(x) :- now(x).\ntry_act(u, x) :- mark(u), at(u, x).\n",
        );
        let style = Style { recursive: false, aggregates: false };
        let mut ways = vec!["try_act(u, x)".to_string(), "may_act(u, x)".to_string()];
        for _ in 0..2 {
            let way = rule(self.choices, ("try_act", "ed"), &self.calm, style);
            let _ = writeln!(text, "{way}");
            // What follows from the same conditions is among the tries, too.
            let act = way.replacen("try_act", "act", 1);
            match self.choices.below(3) {
                0 => ways.push(act),
                1 => ways.push(way.replacen("try_act", "may_act", 1)),
                _ => {}
            }
        }
        for way in ways {
            let mut draft = draft(self.choices, &[('e', "u"), ('d', "x")]);
            if way.contains(":-") {
                let _ = writeln!(text, "{way}");
                continue;
            }
            draft.body.push(way);
            if draft.choices.one_in(2) {
                let it = negative(&mut draft, &self.known);
                draft.body.push(it);
            }
            let _ = writeln!(text, "act(u, x) :- {}.", draft.body.join(", "));
        }
        // Chance rarely writes one that the tries are shown to contain.
        let _ = writeln!(text, "{}", rule(self.choices, ("act", "ed"), &self.known, style));
        for (name, shape) in self.known.clone() {
            if !name.starts_with('p') || self.choices.one_in(4) {
                continue;
            }
            let wild = |from: usize| vec!["_"; shape.len().saturating_sub(from)].join(", ");
            let rest = if shape.len() > 1 { format!(", {}", wild(1)) } else { String::new() };
            let _ = match shape.chars().next() {
                Some('e') => writeln!(text, "poke(u) :- {name}(u{rest})."),
                Some('d') => writeln!(text, "touch(x) :- {name}(x{rest})."),
                _ => writeln!(text, "touch('a) :- {name}({}).", wild(0)),
            };
        }
    }

    fn untenable(&mut self, text: &mut String) {
        for _ in 0..self.choices.below(3) {
            let style = Style { recursive: false, aggregates: true };
            let _ =
                writeln!(text, "{}", rule(self.choices, ("untenable", "s"), &self.known, style));
        }
    }

    fn reaction(&mut self) -> String {
        const EVENTS: [(&str, &[(char, &str)]); 7] = [
            ("act", &[('e', "u"), ('d', "x")]),
            ("act", &[('e', "u"), ('d', "x")]),
            ("poke", &[('e', "u")]),
            ("touch", &[('d', "x")]),
            ("any", &[]),
            ("hit", &[('e', "u"), ('n', "n")]),
            ("gone", &[('e', "u")]),
        ];
        let (event, params) = EVENTS[self.choices.below(EVENTS.len())];
        let raised = matches!(event, "hit" | "gone");
        let mut draft = draft(self.choices, params);
        for _ in 0..draft.choices.below(4) {
            let (name, shape) = self.known[draft.choices.below(self.known.len())].clone();
            let literal = match draft.choices.below(6) {
                0..3 => Some(draft.positive(&name, shape, "")),
                3 | 4 => Some(draft.negative(&name, shape)),
                _ => draft.comparison(),
            };
            draft.body.extend(literal);
        }
        if raised && event == "hit" {
            draft.body.push("n > 0".into());
        }
        let mut effects = Vec::new();
        for _ in 0..1 + draft.choices.below(3) {
            effects.extend(effect(&mut draft, event));
        }
        if effects.is_empty() {
            effects.push("set night()".into());
        }
        if draft.bound.iter().any(|it| it.1 == "s") {
            draft.body.push("s != 3".into());
        }
        let params: Vec<&str> = params.iter().map(|it| it.1).collect();
        let event = match event {
            "any" => event.to_string(),
            _ => format!("{event}({})", params.join(", ")),
        };
        let stage = ["", " in before", " in after"][draft.choices.below(3)];
        let body = match draft.body.is_empty() {
            true => String::new(),
            false => format!(" when {}", draft.body.join(", ")),
        };
        without_singles(&format!("on {event}{stage}{body} do {}.", effects.join(", ")))
    }

    /// The file of a preset: rules of open relations, and reactions of its own.
    fn preset(&mut self, name: &str) -> String {
        let mut text = format!(".meta preset \"{name}\"\n");
        for _ in 0..1 + self.choices.below(4) {
            let (of, shape) = self.known[self.choices.below(self.known.len())].clone();
            if of.starts_with('p') {
                let calm = self.calm.iter().any(|it| it.0 == of) && !self.choices.one_in(4);
                // Not of those that come after it: that would be a cycle.
                let (known, all) = (self.known.clone(), self.calm.clone());
                let before = |it: &(String, &str)| !it.0.starts_with('p') || it.0 < of;
                self.known.retain(before);
                self.calm.retain(before);
                self.rules(&of, shape, calm, &mut text);
                (self.known, self.calm) = (known, all);
            }
        }
        for _ in 0..1 + self.choices.below(3) {
            let _ = writeln!(text, "{}", self.reaction());
        }
        self.untenable(&mut text);
        text
    }
}

/// Kept by block, if it is kept: all rows of an entity.
fn is_block(shape: &str) -> bool {
    shape.starts_with('e') && shape.len() >= 2 && !shape.ends_with(['n', 's'])
}

fn draft<'c>(choices: &'c mut Choices, bound: &[(char, &str)]) -> Draft<'c> {
    let bound = bound.iter().map(|&(ty, name)| (ty, name.to_string())).collect();
    Draft { choices, bound, body: Vec::new() }
}

fn negative(draft: &mut Draft<'_>, known: &Known) -> String {
    let (name, shape) = known[draft.choices.below(known.len())].clone();
    draft.negative(&name, shape)
}

/// A recursive rule that stays in its row: only the last column differs.
fn in_its_row(choices: &mut Choices, (name, shape): (&str, &str), known: &Known) -> String {
    let types: Vec<char> = shape.chars().collect();
    let last = types[types.len() - 1];
    let (from, to) = match last {
        'd' => ("y", "x"),
        'e' => ("v", "w"),
        _ => ("j", "h"),
    };
    let mut draft = draft(choices, &[('e', "u"), (last, from)]);
    let mut keys = vec!["u".to_string()];
    for &ty in &types[1..types.len() - 1] {
        let key = if ty == 'd' { "z" } else { "i" };
        if draft.choices.one_in(6) {
            keys.push(crate::random_rules::constant(draft.choices, ty));
        } else {
            draft.bound.push((ty, key.to_string()));
            keys.push(key.to_string());
        }
    }
    let keys = keys.join(", ");
    draft.body.push(format!("{name}({keys}, {from})"));
    let leads: Vec<&(String, &str)> = known.iter().filter(|it| it.1.contains(last)).collect();
    let ways =
        [("edge".to_string(), "dd"), ("step".to_string(), "kdd"), ("ahead".to_string(), "dd")];
    let (lead, of) = match last == 'd' && !draft.choices.one_in(3) {
        true => &ways[draft.choices.below(ways.len())],
        false => leads[draft.choices.below(leads.len())],
    };
    let ends: Vec<usize> =
        of.chars().enumerate().filter(|it| it.1 == last).map(|it| it.0).collect();
    let end = if draft.choices.one_in(4) { ends[0] } else { ends[ends.len() - 1] };
    let mut args = Vec::new();
    for (at, ty) in of.chars().enumerate() {
        args.push(match draft.bound(ty) {
            _ if at == end => to.to_string(),
            Some(_) if ty == last && !draft.choices.one_in(4) => from.to_string(),
            Some(known) if !draft.choices.one_in(4) => known,
            _ => "_".to_string(),
        });
    }
    draft.body.push(format!("{lead}({})", args.join(", ")));
    draft.bound.push((last, to.to_string()));
    for _ in 0..draft.choices.below(3) {
        if draft.choices.one_in(2) {
            continue;
        }
        let (other, of) = known[draft.choices.below(known.len())].clone();
        let it = match draft.choices.one_in(3) {
            true => draft.positive(&other, of, ""),
            false => draft.negative(&other, of),
        };
        draft.body.push(it);
    }
    without_singles(&format!("{name}({keys}, {to}) :- {}.", draft.body.join(", ")))
}

/// One effect, or several that belong together.
fn effect(draft: &mut Draft<'_>, event: &str) -> Option<String> {
    let member = |draft: &mut Draft<'_>, ty: char| match draft.bound(ty) {
        Some(known) if !draft.choices.one_in(4) => known,
        _ => crate::random_rules::constant(draft.choices, ty),
    };
    let number = |draft: &mut Draft<'_>| {
        let by = draft.choices.pick(&["+ 1", "- 1", "* 2", "/ 0"]);
        let n = member(draft, 'n');
        if draft.choices.one_in(2) { n } else { format!("{n} {by}") }
    };
    let raised = matches!(event, "hit" | "gone");
    Some(match draft.choices.below(20) {
        0..3 => format!("set at({}, {})", draft.bound('e')?, member(draft, 'd')),
        3 => format!("retract at({})", draft.bound('e')?),
        4 => format!("set mark({})", draft.bound('e')?),
        5 => format!("retract mark({})", draft.bound('e')?),
        6 => format!("set size({}, {})", draft.bound('e')?, number(draft)),
        7 => format!("set kind({}, {})", draft.bound('e')?, member(draft, 'k')),
        8 => draft.choices.pick(&["retract now()", "set night()", "retract night()"]).into(),
        9 => format!("set now({})", member(draft, 'd')),
        10 | 11 => format!("set turn({})", member(draft, 's')),
        12 if draft.choices.one_in(2) => format!("remove {}", draft.bound('e')?),
        13 => {
            let (at, side) = (member(draft, 'd'), member(draft, 's'));
            format!("spawn new, set at(new, {at}), set side(new, {side}), set size(new, 2)")
        }
        14 if !raised || draft.choices.one_in(3) => {
            let by = if event == "hit" { "n - 1".into() } else { number(draft) };
            format!("raise hit({}, {by})", draft.bound('e')?)
        }
        15 if !raised || draft.choices.one_in(3) => format!("raise gone({})", draft.bound('e')?),
        16 if raised => match event {
            "hit" if draft.choices.one_in(2) => format!("pass hit(u, {})", number(draft)),
            _ => "stop".into(),
        },
        16 if draft.body.len() > 1 => "veto \"not so\"".into(),
        17 => format!("emit hit({}, {})", draft.bound('e')?, number(draft)),
        18 => format!("set friend({}, {})", draft.bound('e')?, draft.bound('e')?),
        19 => format!("set side({}, {})", draft.bound('e')?, member(draft, 's')),
        _ => "note \"noted\"".into(),
    })
}

/// The programs of one game: with neither preset, with one of them, and with both.
struct Files {
    base: String,
    presets: [String; 2],
}

impl Files {
    fn of(choices: &mut Choices) -> Self {
        let mut calm = owned(&KEPT);
        calm.retain(|it| it.1 != "en" || !choices.one_in(2));
        let mut known = owned(&KEPT);
        known.extend(owned(&OF_THE_GAME));
        let mut making = Making { choices, known, calm };
        let mut base = DECLARED.to_string();
        making.statics(&mut base);
        for number in 0..3 + making.choices.below(4) {
            making.relation(number, &mut base);
        }
        making.actions(&mut base);
        making.untenable(&mut base);
        for _ in 0..3 + making.choices.below(4) {
            let _ = writeln!(base, "{}", making.reaction());
        }
        let presets = ["first", "second"].map(|it| making.preset(it));
        let mut files = Self { base: String::new(), presets: [String::new(), String::new()] };
        files.keep_what_compiles(&base, &presets);
        files
    }

    /// Line by line: most of what chance writes binds nothing, or is a cycle.
    fn keep_what_compiles(&mut self, base: &str, presets: &[String; 2]) {
        let is_clause = |it: &str| it.contains(":-") || it.starts_with("on ");
        let all = |text: &str| text.lines().map(|it| format!("{it}\n")).collect::<Vec<_>>();
        let lines = all(base);
        self.base = lines.iter().filter(|it| !is_clause(it)).map(String::as_str).collect();
        // Declared relations need some rule: these are never refused.
        for line in lines.iter().filter(|it| is_clause(it)) {
            let before = self.base.len();
            self.base.push_str(line);
            if !self.only_lacks_rules(0) {
                self.base.truncate(before);
            }
        }
        for (at, with) in [(0, [1, 1]), (1, [2, 3])] {
            for line in all(&presets[at]) {
                let before = self.presets[at].len();
                self.presets[at].push_str(&line);
                if is_clause(&line) && !with.iter().all(|&it| self.only_lacks_rules(it)) {
                    self.presets[at].truncate(before);
                }
            }
        }
    }

    fn sources(&self, with: usize) -> Vec<Source> {
        let mut sources = vec![Source { path: "game.dl".into(), text: self.base.as_str().into() }];
        for (at, text) in self.presets.iter().enumerate() {
            if with >> at & 1 == 1 {
                let path = format!("preset{at}.dl");
                sources.push(Source { path, text: text.as_str().into() });
            }
        }
        sources
    }

    /// Nothing is wrong but that some relation has no rule yet.
    fn only_lacks_rules(&self, with: usize) -> bool {
        match compile(self.sources(with)) {
            Ok(_) => true,
            Err(found) => found.list().iter().all(|it| it.code == "E505"),
        }
    }

    fn program(&self, with: usize) -> Option<Arc<Program>> {
        compile(self.sources(with)).ok().map(Arc::new)
    }

    fn text(&self) -> String {
        format!("{}\n{}\n{}", self.base, self.presets[0], self.presets[1])
    }
}

/// A game under way.
struct Walk {
    seed: u64,
    files: Files,
    choices: Choices,
    /// Which presets are active, a bit each.
    with: usize,
    plans: [Option<Arc<Plan>>; 4],
    referee: Referee,
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
            let plan = Plan::compile_wide(files.program(with)?, width);
            let told = |it| panic!("seed {seed}, presets {with}: {it} in\n{}", files.text());
            Some(Arc::new(plan.unwrap_or_else(told)))
        };
        let plans = [0, 1, 2, 3].map(plan);
        let first = plans[0].clone()?;
        let referee = Referee::of(first.program());
        let mut world = World::new(first, Backend::Bits);
        populate(&mut choices, &mut world);
        Some(Self { seed, files, choices, with: 0, plans, referee, world, marks: Vec::new() })
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
    fn candidate(&mut self) -> (rulemate::rules::ActionId, Tuple) {
        let program = self.program();
        let action = &program.actions[self.choices.below(program.actions.len())];
        let rows = self.world.tuples(action.tries.unwrap_or(action.rel));
        if !rows.is_empty() && !self.choices.one_in(8) {
            return (action.id, rows[self.choices.below(rows.len())].clone());
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
        for args in self.world.tuples(action.tries.unwrap_or(action.rel)).iter().take(6) {
            let [bits, frog] = [&mut self.world, &mut twin].map(|world| {
                let mark = world.mark();
                let done = world.fire(action.id, args);
                let sides = done.map(|()| world.tuples(untenable));
                world.rollback(mark);
                sides
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
            self.referee = Referee::of(plan.program());
            self.with = with;
        }
        "a change of presets"
    }

    fn rest(&mut self) -> &'static str {
        match self.choices.below(4) {
            0 => {
                self.settle();
                self.world.rest();
                self.world.wake();
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
        let attrs = ["at", "kind", "friend", "side", "mark", "size", "now", "night", "turn"];
        let name = self.choices.pick(&attrs);
        let attr = schema.attribute_named(name).expect("declared");
        let value = match name {
            "mark" | "night" | "side" | "turn" => self.choices.below(2),
            "kind" => self.choices.below(3),
            "friend" => 1 + self.choices.below(6),
            _ => self.choices.below(5),
        };
        let of_game = matches!(name, "now" | "night" | "turn");
        let value = (!self.choices.one_in(4)).then_some(value as i64);
        self.world.set_raw(if of_game { GAME } else { entity }, attr, value);
        "a write"
    }

    /// Rows by every way of asking, in an order of chance.
    fn compare(&mut self, step: usize, after: &str) {
        let expected = self.referee.rows(&self.world);
        let (referee, choices) = (&self.referee, &mut self.choices);
        let difference = match choices.one_in(3) {
            true => referee.other_difference(&mut self.world, &expected, choices),
            false => referee.difference(&mut self.world, &expected, choices),
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
            let tries = action.tries.unwrap_or(action.rel);
            let [tried, listed] = [tries, action.rel].map(|it| &sets.rows[usize::from(it.0)]);
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
            if relation.role != Role::Derived || found.is_empty() {
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
        write(world, "mark", Value::Bool(entity.0 % 2 == 0));
        write(world, "friend", Value::Entity(EntityId(1)));
    }
    world.set_raw(GAME, attr("now"), Some(choices.below(5) as i64));
    world.commit();
}

/// Whether there was a game to play.
fn play(seed: u64) -> bool {
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
                let is_local = |it: &&rulemate::rules::RuleId| {
                    let rule = program.rule(**it);
                    rule.body.iter().any(|it| {
                        matches!(it, rulemate::rules::Literal::Atom(atom) if atom.rel == rule.head)
                    })
                };
                relation.rules.iter().filter(is_local).count() > 1
            })
            .count();
    }
    let figures = [games, kept, rounds, reactions, fired];
    assert!(games > 36 && kept > 40 && rounds > 20 && reactions > 80 && fired > 60, "{figures:?}");
}

/// As long as is asked for: nothing, if nothing is.
#[test]
fn random_games_for_a_long_time() {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let Some(seconds) = number("RULEMATE_RANDOM_SECONDS") else { return };
    let (begun, mut seed) = (Instant::now(), number("RULEMATE_RANDOM_SEED").unwrap_or_default());
    while begun.elapsed() < Duration::from_secs(seconds) {
        play(seed);
        seed += 1;
    }
    show(&format!("random games up to seed {seed} agree"));
}

#[expect(clippy::print_stderr, reason = "figures for whoever asked for them")]
fn show(text: &str) {
    eprintln!("{text}");
}
