//! The files of random games: relations of any kind, many of them kept, actions, reactions and two
//! presets, with all that does not compile left out.
//!
//! Deliberately absent: playing them (`random_games`).

use std::fmt::Write;
use std::sync::Arc;

use rulemate::internals::rules::{Program, Source, compile};

use crate::random_rules::{Choices, Draft, Style, constant, rule, variables, without_singles};

/// What all programs of a game declare. Reactions to what never happens ask how every input was before an
/// action, so that the programs have one schema, whatever single ones ask.
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
.input shade(d: D, k: K) of D attr shade
.input lit(d: D) of D attr lit
.input score(side: Side, n: Int) of Side attr score = 0
.input spark(e: E, d: D) key attr spark until turn
.input among(activation: E, d: D) list attr among = b+c
.input rush(side: Side) of Side attr rush until turn
.input trail(d: D) of D attr trail until action
.input dusk() game attr dusk until action
.static edge(from: D, to: D) open
.static step(by: K, from: D, to: D) key open
.static ahead(from: D, to: D) key open
.static cost(from: D, n: Int) open
.decl untenable(side: Side) open "{side} may not leave it so"
.event hit(e: E, n: Int) "{e} is hit by {n}"
.event gone(e: E) "{e} is gone"
.event never() "it never happens"
on never() when was at(_, _), was size(_, _), was kind(_, _), was friend(_, _), was side(_, _), was mark(_), was now(_), was night() do note "never".
on never() when was turn(_), was shade(_, _), was lit(_), was score(_, _), was spark(_, _), was rush(_), was trail(_), was dusk() do note "never".
"#;

/// Relations by the type of their columns, those first that may be kept.
const KEPT: [(&str, &str); 17] = [
    ("at", "ed"),
    ("kind", "ek"),
    ("friend", "ee"),
    ("side", "es"),
    ("mark", "e"),
    ("size", "en"),
    ("shade", "dk"),
    ("lit", "d"),
    ("score", "sn"),
    ("spark", "ed"),
    ("rush", "s"),
    ("trail", "d"),
    ("edge", "dd"),
    ("step", "kdd"),
    ("ahead", "dd"),
    ("cost", "dn"),
    ("among", "ed"),
];
const OF_THE_GAME: [(&str, &str); 4] = [("now", "d"), ("night", ""), ("turn", "s"), ("dusk", "")];
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
        if calm && (shape.starts_with('d') || self.choices.one_in(4)) {
            text.extend(twice(self.choices, (name, shape), known));
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
        let mut until = || match self.choices.below(4) {
            0 => "until before",
            1 => "until apply",
            _ => "",
        };
        let (first, second) = (until(), until());
        let declared = ".decl try_act(e: E, d: D) \"as it comes\"\n\
             .domain Why { never, later }\n\
             .decl refused(e: E, d: D, why: Why) \"{e} does not act on {d}: {why}\"\n\
             .action act(e: E, d: D) pseudo_legal try_act refusals refused legality rules UNTIL1 \"{e} acts on {d}\"\n\
             refused(u, x, 'later) :- at(u, x), !mark(u).\nrefused(u, x, 'never) :- at(u, _), now(x), !lit(x).\n\
             .action poke(e: E) given how: K = 'up given times: Int = 1 legality simulate UNTIL2 \"{e} is poked\"\n.action touch(d: D) \"{d} is touched\"\n\
             .decl may_act(e: E, d: D) open \"as it comes\"\n\
             poke(u) :- mark(u).\ntouch(x) :- now(x).\ntry_act(u, x) :- mark(u), at(u, x).\n";
        text.push_str(&declared.replace("UNTIL1", first).replace("UNTIL2", second));
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

    /// Relations whose rows are found by playing out: rules and reactions from here on may ask for them, where
    /// that is no circle.
    fn trials(&mut self, text: &mut String) {
        let count = if self.choices.one_in(4) { 1 + self.choices.below(2) } else { 0 };
        for number in 0..count {
            let name = format!("t{number}");
            let (head, shape) = match self.choices.below(3) {
                0 => ("(e: E) of poke", "e"),
                _ => ("(e: E, d: D) of act", "ed"),
            };
            let from = if shape == "ed" && self.choices.one_in(3) { " from may_act" } else { "" };
            let asks = match self.choices.below(6) {
                0 => "",
                1 => " where was turn(p), !untenable(p)",
                2 => " where at(e, x), was at(e, y), x != y",
                3 => " where n = count { mark(_) }, n > 1",
                4 => " where !mark(e), was size(e, n), n > 0",
                _ => " where size(e, n), now(x), cost(x, m), m < n",
            };
            let _ = writeln!(text, ".trial {name}{head}{from}{asks} \"as it comes\"");
            self.known.push((name, shape));
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
        const EVENTS: [(&str, &[(char, &str)]); 8] = [
            ("act", &[('e', "u"), ('d', "x")]),
            ("act", &[('e', "u"), ('d', "x")]),
            ("poke", &[('e', "u")]),
            ("poke", &[('e', "u"), ('k', "i"), ('n', "n")]),
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
            // In some cases as it was before the action.
            let looks_back = can_look_back(&name) && draft.choices.one_in(4);
            let literal = literal.map(|it| match looks_back && it.contains(&format!("{name}(")) {
                true => it.replacen(&name, &format!("was {name}"), 1),
                false => it,
            });
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

/// Facts, and what follows from them; what never changes has no before.
fn can_look_back(name: &str) -> bool {
    DECLARED.contains(&format!(".input {name}(")) || name.starts_with('p')
}

/// Kept by block, if it is kept: all rows of an entity.
fn is_block(shape: &str) -> bool {
    shape.starts_with('e') && shape.len() >= 2 && !shape.ends_with(['n', 's'])
}

pub(crate) fn draft<'c>(choices: &'c mut Choices, bound: &[(char, &str)]) -> Draft<'c> {
    let bound = bound.iter().map(|&(ty, name)| (ty, name.to_string())).collect();
    Draft { choices, bound, body: Vec::new() }
}

fn negative(draft: &mut Draft<'_>, known: &Known) -> String {
    let (name, shape) = known[draft.choices.below(known.len())].clone();
    draft.negative(&name, shape)
}

/// A rule that reads a relation of entities twice, as `p(x, y) :- r(u, x), r(v, y), edge(x, y)` does: one change may
/// take both tuples away. None if there is no such relation that rules conclude.
fn twice(choices: &mut Choices, (name, shape): (&str, &str), known: &Known) -> Option<String> {
    let read = |it: &&(String, &str)| it.0.starts_with('p') && is_block(it.1);
    let of_entities: Vec<&(String, &str)> = known.iter().filter(read).collect();
    let (read, of) = of_entities.get(choices.below(of_entities.len().max(1)))?;
    let mut draft = draft(choices, &[]);
    let mut last = Vec::new();
    for (entity, place) in [("u", 0), ("v", 1)] {
        let mut args = vec![entity.to_string()];
        for ty in of[1..].chars() {
            let var = variables(ty)[place].to_string();
            draft.bound.push((ty, var.clone()));
            args.push(var);
        }
        draft.bound.push(('e', entity.to_string()));
        last.push(args[args.len() - 1].clone());
        draft.body.push(format!("{read}({})", args.join(", ")));
    }
    let [x, y] = [&last[0], &last[1]];
    let joins: &[&str] = match of.chars().last() {
        Some('d') => &["edge(X, Y)", "ahead(X, Y)", "step(_, X, Y)", "X != Y"],
        _ => &["X != Y"],
    };
    draft.body.push(draft.choices.pick(joins).replace('X', x).replace('Y', y));
    if draft.choices.one_in(2) {
        draft.body.push("side(u, p), side(v, p)".into());
    }
    let args: Vec<String> = shape
        .chars()
        .map(|ty| draft.bound(ty).unwrap_or_else(|| constant(draft.choices, ty)))
        .collect();
    let rule = format!("{name}({}) :- {}.", args.join(", "), draft.body.join(", "));
    Some(without_singles(&rule) + "\n")
}

/// A recursive rule that stays in its row: only the last column differs.
pub(crate) fn in_its_row(
    choices: &mut Choices,
    (name, shape): (&str, &str),
    known: &Known,
) -> String {
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
            keys.push(constant(draft.choices, ty));
        } else {
            draft.bound.push((ty, key.to_string()));
            keys.push(key.to_string());
        }
    }
    let keys = keys.join(", ");
    draft.body.push(format!("{name}({keys}, {from})"));
    let leads: Vec<&(String, &str)> = known.iter().filter(|it| it.1.contains(last)).collect();
    let ways: Vec<&(String, &str)> = leads
        .iter()
        .copied()
        .filter(|it| matches!(it.0.as_str(), "edge" | "step" | "ahead"))
        .collect();
    let (lead, of) = match last == 'd' && !draft.choices.one_in(3) {
        true => ways[draft.choices.below(ways.len())],
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
    if draft.choices.one_in(3) {
        // What is in the way there, whoever's it is: such a change names no block.
        let in_the_way = |it: &&(String, &str)| it.1.starts_with('e') && it.1[1..].contains(last);
        let blockers: Vec<&(String, &str)> = known.iter().filter(in_the_way).collect();
        let (blocker, of) = blockers[draft.choices.below(blockers.len())];
        let place = if draft.choices.one_in(4) { from } else { to };
        let args: Vec<&str> = of
            .chars()
            .enumerate()
            .map(|(at, ty)| if at > 0 && ty == last { place } else { "_" })
            .collect();
        draft.body.push(format!("!{blocker}({})", args.join(", ")));
    }
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
        _ => constant(draft.choices, ty),
    };
    let number = |draft: &mut Draft<'_>| {
        let by = draft.choices.pick(&["+ 1", "- 1", "* 2", "/ 0"]);
        let n = member(draft, 'n');
        if draft.choices.one_in(2) { n } else { format!("{n} {by}") }
    };
    let raised = matches!(event, "hit" | "gone");
    Some(match draft.choices.below(28) {
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
        20 => format!("set shade({}, {})", member(draft, 'd'), member(draft, 'k')),
        21 => format!("retract shade({})", draft.bound('d')?),
        22 => draft.choices.pick(&["set lit('b)", "retract lit('b)", "set trail('c)"]).into(),
        23 => format!("set score({}, {})", member(draft, 's'), number(draft)),
        24 => format!("set spark({}, {})", draft.bound('e')?, member(draft, 'd')),
        25 => format!("set rush({})", member(draft, 's')),
        26 => format!("set trail({}), set dusk()", member(draft, 'd')),
        _ => "note \"noted\"".into(),
    })
}

/// The programs of one game: with neither preset, with one of them, and with both.
pub(crate) struct Files {
    base: String,
    presets: [String; 2],
}

impl Files {
    pub(crate) fn of(choices: &mut Choices) -> Self {
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
        making.trials(&mut base);
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

    pub(crate) fn program(&self, with: usize) -> Option<Arc<Program>> {
        compile(self.sources(with)).ok().map(Arc::new)
    }

    pub(crate) fn text(&self) -> String {
        format!("{}\n{}\n{}", self.base, self.presets[0], self.presets[1])
    }
}
