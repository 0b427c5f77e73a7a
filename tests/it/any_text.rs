//! No text can crash the front end: hostile, damaged or random, it gets a program or mistakes at their places.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;
use rulemate::internals::rules::{Diagnostics, Source, compile, limits};

use crate::rules::{compiled, corpus, game_sources};
use crate::setup::effort;

/// Every span lies within its text, on character borders, and everything can be shown.
fn assert_well_placed(found: &Diagnostics) {
    assert!(!found.list().is_empty());
    for diagnostic in found.list() {
        for label in &diagnostic.labels {
            let text = &found.sources()[usize::from(label.span.source)].text;
            let (start, end) = (label.span.start as usize, label.span.end as usize);
            assert!(text.get(start..end).is_some(), "{diagnostic:?}");
            assert_eq!(found.place(label).line, label.span.line as usize, "{diagnostic:?}");
        }
    }
    assert!(!found.render(false).is_empty());
    assert!(found.to_json().is_array());
}

fn survive(sources: Vec<Source>) {
    if let Err(found) = compile(sources) {
        assert_well_placed(&found);
    }
}

#[test]
fn hostile_text_meets_a_limit_not_the_stack() {
    let fill = |text: &str| text.repeat(limits::FILE_BYTES / text.len());
    let head = ".domain N { a }\n.static p(n: Int) \"{n}\"\n";
    let half = |text: &str| head.to_string() + &text.repeat(30_000 / text.len());
    let texts = [
        fill("("),
        fill("p("),
        fill("{"),
        fill("!"),
        fill("-"),
        fill("\""),
        fill("'"),
        fill(".decl "),
        fill("p(x) :- p(x)"),
        fill("p(x) :- q(x).\n"),
        fill("on on "),
        fill("\u{1F600}"),
        half("p(1"),
        half("p((((("),
        head.to_string() + "p(x) :- x = " + &"-".repeat(30_000) + "1.",
        head.to_string() + "p(x) :- x = " + &"1+".repeat(15_000) + "1.",
        head.to_string() + "p(x) :- x = " + &"1%1%".repeat(7_000) + "1.",
        head.to_string() + "p(" + &"x%1,".repeat(7_000) + "x).",
        head.to_string() + "p(x) :- " + &"count { p(x), ".repeat(2_000) + "p(x).",
        head.to_string() + "p(x) :- " + &"x = y, y = x, ".repeat(3_000) + "p(x).",
        head.to_string() + "p(x) :- " + &"p(x + 1), ".repeat(4_000) + "p(x).",
        head.to_string()
            + "p(x0) :- "
            + &(0..4_000).rev().map(|it| format!("x{it} = x{}, ", it + 1)).collect::<String>()
            + "p(x4000).",
        head.to_string() + ".action go(n: Int) uci \"{" + &"p(".repeat(9_000) + "}\" \"{n}\"",
        head.to_string()
            + ".action go(n: Int) uci \"{"
            + &"p(".repeat(9_000)
            + "n"
            + &")".repeat(9_000)
            + "}\" \"{n}\"",
        ".domain N { ".to_string() + &"m, ".repeat(20_000) + "}",
    ];
    for text in texts {
        let start = effort();
        let shown: String = text.chars().take(60).collect();
        survive(vec![Source { path: "hostile.dl".into(), text: text.into() }]);
        let took = effort() - start;
        assert!(took < Duration::from_secs(10), "{shown}... takes {took:?}");
    }
}

#[test]
fn large_programs_meet_their_limits() {
    let source = |at: usize, text: String| Source { path: format!("{at}.dl"), text: text.into() };
    let code_of = |sources: Vec<Source>| {
        let found = compile(sources).expect_err("over the limit");
        assert_well_placed(&found);
        found.list().iter().map(|it| it.code).collect::<BTreeSet<_>>()
    };
    let many =
        |count: usize, line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
    let p = ".static p(n: Int) open \"{n}\"\n";

    let files = (0..=limits::FILES).map(|it| source(it, String::new())).collect();
    assert!(code_of(files).contains("L001"));

    let long = "%".repeat(limits::FILE_BYTES + 1);
    assert!(code_of(vec![source(0, long)]).contains("L002"));

    let rules = p.to_string() + &many(limits::RULES + 1, &|_| "p(n) :- p(n).\n".into());
    assert!(code_of(vec![source(0, rules)]).contains("L003"));

    let facts = p.to_string() + &many(limits::FACTS + 1, &|_| "p(1).\n".into());
    assert!(facts.len() > limits::FILE_BYTES / 2);
    let (one, two) = facts.split_at(facts.len() / 2 / 6 * 6 - 3);
    let (one, two) = match one.rfind('\n') {
        Some(at) => (one[..=at].to_string(), one[at + 1..].to_string() + two),
        None => (one.to_string(), two.to_string()),
    };
    assert!(code_of(vec![source(0, one), source(1, two)]).contains("L004"));

    let relations = many(limits::RELATIONS + 1, &|it| format!(".static r{it}(n: Int) open\n"));
    assert!(code_of(vec![source(0, relations)]).contains("L005"));

    let domains = |n| many(n, &|it| format!(".domain D{it} {{ a }}\n"));
    compiled(vec![source(0, domains(limits::DOMAINS))]);
    let domains = domains(limits::DOMAINS + 1);
    assert!(code_of(vec![source(0, domains)]).contains("L006"));

    // Facts are no rules where reactions are copied, either; the copies count.
    let rest = ".domain Thing entities 8\n\
        .input life(thing: Thing, n: Int) key attr life \"{thing} has {n}\"\n\
        .action rest(thing: Thing) \"{thing} rests\"\nrest(t) :- life(t, _).\n\
        .action doze(thing: Thing) as rest \"{thing} dozes\"\ndoze(t) :- life(t, _).\n";
    let facts = many(limits::RULES + 1, &|it| format!("p({it}).\n"));
    compiled(vec![source(0, rest.to_string() + p + "on rest(t) do remove t.\n" + &facts)]);
    let reactions = many(limits::RULES / 2, &|_| "on rest(t) do remove t.\n".into());
    assert!(code_of(vec![source(0, rest.to_string() + &reactions)]).contains("L003"));

    let links = limits::RULES.min(limits::RELATIONS - 2);
    let chain = many(limits::RELATIONS - 1, &|it| format!(".static r{it}(n: Int) open\n"))
        + &many(links, &|it| format!("r{it}(n) :- r{}(n).\n", it + 1));
    compiled(vec![source(0, chain)]);
}

const WORDS: &[&str] = &[
    ".domain",
    ".input",
    ".static",
    ".decl",
    ".action",
    ".repetition",
    ".meta",
    "(",
    ")",
    "{",
    "}",
    ",",
    ".",
    ":-",
    ":",
    "=",
    "!=",
    "<",
    "+=",
    "!",
    "+",
    "-",
    "*",
    "/",
    "%",
    "% x = 1",
    "\n",
    " ",
    "_",
    "x",
    "y",
    "n",
    "p",
    "q",
    "Side",
    "Int",
    "Text",
    "grid",
    "entities",
    "key",
    "open",
    "game",
    "flag",
    "attr",
    "tries",
    "uci",
    "san",
    "on",
    "any",
    "when",
    "do",
    "set",
    "retract",
    "remove",
    "count",
    "sum",
    "min",
    "max",
    "'white",
    "'",
    "\"",
    "\"{x}\"",
    "\"{p(x)}\"",
    "1",
    "8",
    "99999999999999999999",
    "é",
    "p(x)",
    "p(x) :- q(x).",
    "(x, y)",
    "\u{0}",
];

fn soup() -> impl Strategy<Value = String> {
    let word = prop::sample::select(WORDS);
    prop::collection::vec((word, prop::bool::ANY), 0..80).prop_map(|words| {
        words.iter().map(|(word, gap)| format!("{word}{}", if *gap { " " } else { "" })).collect()
    })
}

/// Where and how a text is damaged, in parts of its length.
fn damage() -> impl Strategy<Value = Vec<(f64, f64, Option<usize>)>> {
    let word = prop::option::of(0..WORDS.len());
    prop::collection::vec((0.0..1.0f64, 0.0..0.01f64, word), 1..6)
}

fn damaged(text: &str, damage: &[(f64, f64, Option<usize>)]) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for &(at, length, word) in damage {
        let from = (letters.len() as f64 * at) as usize;
        let to = (from + (letters.len() as f64 * length) as usize).min(letters.len());
        letters.splice(from..to, word.map_or("", |it| WORDS[it]).chars());
    }
    letters.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn any_text_gets_an_answer(text in "\\PC{0,200}") {
        survive(vec![Source { path: "any.dl".into(), text: text.into() }]);
    }

    #[test]
    fn any_words_get_an_answer(text in soup()) {
        survive(vec![Source { path: "soup.dl".into(), text: text.into() }]);
    }

    #[test]
    fn damaged_rules_get_an_answer(which in 0..8usize, damage in damage()) {
        let mut sources = game_sources("antichess");
        let at = which % sources.len();
        sources[at].text = damaged(&sources[at].text, &damage).into();
        survive(sources);
    }

    #[test]
    fn damaged_examples_get_an_answer(which in 0..1000usize, damage in damage()) {
        let corpus = corpus(if which % 3 == 0 { "fail" } else { "ok" });
        let (_, mut sources) = corpus[which % corpus.len()].clone();
        sources[0].text = damaged(&sources[0].text, &damage).into();
        survive(sources);
    }
}
