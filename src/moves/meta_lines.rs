//! The lines `.meta fen "..."` and `.meta san "..."` of a program, by which files declare notation. The form of the lines
//! `.meta fault "..."` is here, too.

use crate::facts::nearest;
use crate::rules::Program;

/// The words of the lines, by key: those that stand alone, and those that something follows.
const WORDS: &[(&str, &[&str], &[&str])] = &[
    (
        "fen",
        &["pocket", "shredder", "strict"],
        &["counters", "dashes", "mark", "passed", "prefix", "stack", "turn", "unmoved", "wall"],
    ),
    ("san", &["unmarked"], &["hold", "turn"]),
    ("fault", &[], &["over", "piece", "text"]),
];

/// What is wrong with the form of such a line, which declares nothing then. `None` also for lines with other keys.
pub fn unknown_notation(key: &str, value: &str) -> Option<String> {
    let (_, alone, followed) = WORDS.iter().find(|it| it.0 == key)?;
    let (word, rest) = value.split_once(' ').unwrap_or((value, ""));
    if alone.contains(&word) {
        return (!rest.is_empty()).then(|| format!("nothing is expected after {word}"));
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
    let known = || alone.iter().chain(*followed).copied();
    let meant = nearest(word, known()).map(|it| format!("; did you mean {it}?"));
    let known: Vec<&str> = known().collect();
    let field = if key == "fen" { "KEY=RELATION, or begins with one of " } else { "" };
    let all = || format!("; such a line is {field}{}", known.join(", "));
    Some(format!("there is no word {word}{}", meant.unwrap_or_else(all)))
}

/// The values of the lines `.meta fen "..."`.
pub(super) fn fen_lines(program: &Program) -> impl Iterator<Item = &str> {
    fen_lines_by_file(program).map(|it| it.0)
}

/// The same values, each with the number of the file that it stands in.
pub(super) fn fen_lines_by_file(program: &Program) -> impl Iterator<Item = (&str, u16)> {
    let all = program.meta.iter().filter(|it| it.key == "fen");
    all.map(|it| (it.value.as_str(), it.span.source))
}

/// The rest of those values that begin with a word and a blank, each with the number of its file.
pub(super) fn fen_lines_of<'p>(
    program: &'p Program,
    word: &'static str,
) -> impl Iterator<Item = (&'p str, u16)> {
    let rest = move |it: &'p str| it.strip_prefix(word)?.strip_prefix(' ');
    fen_lines_by_file(program).filter_map(move |(line, file)| Some((rest(line)?, file)))
}

/// The values of the lines `.meta san "..."`.
pub(super) fn san_lines(program: &Program) -> impl Iterator<Item = &str> {
    program.meta.iter().filter(|it| it.key == "san").map(|it| it.value.as_str())
}

/// The full name of a relation that a file names, perhaps by an earlier name; a name that no relation has stays as it is.
pub(super) fn called(program: &Program, file: u16, name: &str) -> String {
    let rel = program.relation_in(file, name).or_else(|| program.relation_known(name));
    rel.map_or_else(|| name.to_owned(), |it| program.relation(it).name.clone())
}
