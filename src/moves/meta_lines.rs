//! The lines `.meta fen "..."` and `.meta san "..."` of a program, by which files declare notation; and the form of
//! these lines and of `.meta fault "..."`.

use crate::facts::nearest;
use crate::rules::{Program, Span};

/// By key, the words that stand alone in such a line, and the words that something follows.
const WORDS: &[(&str, &[&str], &[&str])] = &[
    (
        "fen",
        &["pocket", "shredder", "strict"],
        &[
            "counted", "counters", "dashes", "limit", "mark", "passed", "prefix", "stack", "turn",
            "unmoved", "wall",
        ],
    ),
    ("san", &["unmarked"], &["hold", "turn"]),
    ("fault", &[], &["over", "piece", "text"]),
];

/// What is wrong with the form of a line `.meta KEY "VALUE"`. `None` if nothing is, or if the key is not one of `WORDS`.
pub fn form_fault(key: &str, value: &str) -> Option<String> {
    let (_, alone, followed) = WORDS.iter().find(|it| it.0 == key)?;
    let (word, rest) = value.split_once(' ').unwrap_or((value, ""));
    if alone.contains(&word) {
        return (value != word).then(|| format!("nothing is expected after {word}"));
    }
    if followed.contains(&word) {
        let is_signed = matches!(word, "mark" | "prefix" | "wall");
        let expected = if is_signed { "SIGN=RELATION" } else { "something" };
        let is_there = !rest.is_empty() && (!is_signed || rest.contains('='));
        return (!is_there).then(|| format!("{expected} is expected after {word}"));
    }
    if key == "fen" && rest.is_empty() && word.contains('=') {
        let is_nameless = word.trim_start_matches('?').starts_with('=');
        return is_nameless.then(|| "a KEY is expected before `=`".to_owned());
    }
    let known: Vec<&str> = alone.iter().chain(*followed).copied().collect();
    let meant = nearest(word, known.iter().copied()).map(|it| format!("; did you mean {it}?"));
    let field = if key == "fen" { "KEY=RELATION, or begins with one of " } else { "" };
    let all = || format!("; such a line is {field}{}", known.join(", "));
    Some(format!("there is no word {word}{}", meant.unwrap_or_else(all)))
}

/// The values of the lines `.meta fen "..."`.
pub(super) fn fen_lines(program: &Program) -> impl Iterator<Item = &str> {
    placed_fen_lines(program).map(|it| it.0)
}

/// The values of the lines `.meta fen "..."`, each with its place.
pub(super) fn placed_fen_lines(program: &Program) -> impl Iterator<Item = (&str, Span)> {
    let all = program.meta.iter().filter(|it| it.key == "fen");
    all.map(|it| (it.value.as_str(), it.span))
}

/// What follows `WORD ` in the values of the lines `.meta fen "WORD ..."`, each with its place.
pub(super) fn fen_lines_of<'p>(
    program: &'p Program,
    word: &'static str,
) -> impl Iterator<Item = (&'p str, Span)> {
    let rest = move |it: &'p str| it.strip_prefix(word)?.strip_prefix(' ');
    placed_fen_lines(program).filter_map(move |(line, at)| Some((rest(line)?, at)))
}

/// The values of the lines `.meta san "..."`.
pub(super) fn san_lines(program: &Program) -> impl Iterator<Item = &str> {
    program.meta.iter().filter(|it| it.key == "san").map(|it| it.value.as_str())
}

/// The full name of a relation that a line names, perhaps by an earlier name; a name that no relation has stays as it is.
pub(super) fn full_name(program: &Program, line: Span, name: &str) -> String {
    let rel = program.relation_in(line.source, name).or_else(|| program.relation_known(name));
    rel.map_or_else(|| name.to_owned(), |it| program.relation(it).name.clone())
}
