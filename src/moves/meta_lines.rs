//! The lines `.meta fen "..."` and `.meta san "..."` of a program, by which files declare notation.

use crate::rules::Program;

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
