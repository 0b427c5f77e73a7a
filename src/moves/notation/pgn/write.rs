//! A game in export format.

use super::token::reads_back;
use super::{FirstMove, PgnGame, PgnMove, PgnResult};

/// The first of the tags that every game has, in their order, with the value that means "not known". The tags of the
/// sides and the result follow.
const ROSTER: [(&str, &str); 4] =
    [("Event", "?"), ("Site", "?"), ("Date", "????.??.??"), ("Round", "?")];

/// The tags for the game and its start position; they follow the tags that every game has.
const SETUP: [&str; 3] = ["Variant", "SetUp", "FEN"];

/// Lines must be shorter than this.
const WIDTH: usize = 80;

pub(super) fn write(game: &PgnGame) -> String {
    let mut text = String::new();
    let result = game.result.unwrap_or(PgnResult::Unknown).to_string();
    for (name, unknown) in ROSTER {
        push_tag(&mut text, name, game.tag(name).unwrap_or(unknown));
    }
    for name in &game.sides {
        push_tag(&mut text, name, game.tag(name).unwrap_or("?"));
    }
    push_tag(&mut text, "Result", &result);
    for name in SETUP {
        if let Some(value) = game.tag(name) {
            push_tag(&mut text, name, value);
        }
    }
    for (name, value) in &game.tags {
        let sides = game.sides.iter().map(String::as_str);
        let mut is_written =
            ROSTER.iter().map(|it| it.0).chain(SETUP).chain(sides).chain(["Result"]);
        if !is_written.any(|it| it.eq_ignore_ascii_case(name)) {
            push_tag(&mut text, name, value);
        }
    }
    text.push('\n');
    let mut lines = Lines { text, column: 0 };
    for word in words(game) {
        lines.push(&word);
    }
    lines.push(&result);
    lines.text.push('\n');
    lines.text
}

fn push_tag(text: &mut String, name: &str, value: &str) {
    let value: String = value.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    text.push_str(&format!("[{name} {}]\n", quoted(&value)));
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A move, in quotes if it would be read as something else.
fn move_word(text: &str) -> String {
    let is_plain = text.is_empty() || reads_back(text);
    if is_plain { text.to_owned() } else { quoted(&text.replace(['\r', '\n'], " ")) }
}

/// The words of the movetext: numbers, moves, glyphs, comments, variations in parentheses.
fn words(game: &PgnGame) -> Vec<String> {
    let mut words = comment_words(&game.comments);
    push_line(&mut words, &game.moves, game.first);
    words
}

/// Adds the words of consecutive moves; `at` is the number of the first.
fn push_line(words: &mut Vec<String>, moves: &[PgnMove], mut at: FirstMove) {
    let mut needs_number = true;
    for mv in moves {
        match (at.by_second, needs_number) {
            (false, _) => words.push(format!("{}.", at.number)),
            (true, true) => words.push(format!("{}...", at.number)),
            (true, false) => {}
        }
        words.push(move_word(&mv.text));
        words.extend(mv.nags.iter().map(|it| format!("${it}")));
        words.extend(comment_words(&mv.comments));
        for variation in mv.variations.iter().filter(|it| !it.is_empty()) {
            let begin = words.len();
            push_line(words, variation, at);
            words[begin].insert(0, '(');
            if let Some(last) = words.last_mut() {
                last.push(')');
            }
        }
        needs_number = !mv.comments.is_empty() || !mv.variations.is_empty();
        at = at.after();
    }
}

/// Comments in braces, word by word; a brace within is written as a parenthesis.
fn comment_words(comments: &[String]) -> Vec<String> {
    let mut words = Vec::new();
    for comment in comments {
        let inner = comment.replace('{', "(").replace('}', ")");
        let text = format!("{{{}}}", inner.split_whitespace().collect::<Vec<_>>().join(" "));
        words.extend(text.split(' ').map(str::to_owned));
    }
    words
}

/// A text that is wrapped between words.
struct Lines {
    text: String,
    /// Number of characters in the last line.
    column: usize,
}

impl Lines {
    fn push(&mut self, word: &str) {
        let length = word.chars().count();
        if self.column == 0 {
            self.column = length;
        } else if self.column + 1 + length < WIDTH {
            self.text.push(' ');
            self.column += 1 + length;
        } else {
            self.text.push('\n');
            self.column = length;
        }
        self.text.push_str(word);
    }
}
