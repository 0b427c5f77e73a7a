//! The tokens of PGN, one at a time.
//!
//! A number is the number of a move if dots or a letter follow it (`2Nf3`). Any other number is the number of a move if
//! that number is due there, or if the first number of the game has no dots either; else it is a move, as in games
//! whose actions are numbers or numbered squares. In quotes anything is a move.

use std::borrow::Cow;

use winnow::Parser;
use winnow::combinator::{alt, delimited, opt, peek, preceded};
use winnow::error::EmptyError;
use winnow::token::{any, one_of, take_till, take_while};

use super::super::chess::{begins_with_zeros, comment_on_passing};
use super::{PgnFault, PgnResult};

type Parsed<T> = Result<T, EmptyError>;

/// A token of a game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Tag(&'a str, String),
    Comment(&'a str),
    Nag(u8),
    /// `12...`: the number, and how many dots follow it.
    Number(u32, usize),
    Move(Cow<'a, str>),
    Result(PgnResult),
    OpenVariation,
    CloseVariation,
    /// Dots and `e.p.`, which are redundant, and the end of the text.
    Nothing,
}

/// Which numbers without dots count as move numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum BareNumbers {
    #[default]
    All,
    /// Only the number that is due here, if any.
    Due(Option<u32>),
}

/// Reads one token. The input does not start with white space.
///
/// # Errors
/// The input is left at the place of the fault.
pub(super) fn token<'a>(input: &mut &'a str, bare: BareNumbers) -> Result<Token<'a>, PgnFault> {
    let Some(first) = input.chars().next() else {
        return Ok(Token::Nothing);
    };
    match first {
        '[' => tag(input),
        '{' => attempt(comment, input).map(Token::Comment).ok_or(PgnFault::OpenComment),
        ';' => Ok(Token::Comment(line_comment(input))),
        '$' => attempt(nag, input).map(Token::Nag).ok_or(PgnFault::Nag),
        '(' if stack_length(input) > 0 => word(input, first, bare),
        '"' => quoted(input),
        '(' => Ok(skip(input, Token::OpenVariation)),
        ')' => Ok(skip(input, Token::CloseVariation)),
        '}' | ']' => Err(PgnFault::StrayClose { found: first }),
        '!' | '?' => attempt(glyph, input).map(Token::Nag).ok_or(PgnFault::Nag),
        '.' => {
            *input = input.trim_start_matches('.');
            Ok(Token::Nothing)
        }
        _ => word(input, first, bare),
    }
}

/// Whether a text, without quotes, is read as a move with this text in a game whose move numbers have dots.
pub(super) fn reads_back(text: &str) -> bool {
    let mut rest = text;
    let read = token(&mut rest, BareNumbers::Due(None));
    rest.is_empty() && matches!(read, Ok(Token::Move(it)) if it == text)
}

/// A text in quotes, on one line.
fn quoted<'a>(input: &mut &'a str) -> Result<Token<'a>, PgnFault> {
    let mut rest = &input[1..];
    let text = value(&mut rest);
    match rest.strip_prefix('"') {
        Some(rest) if !text.is_empty() => {
            *input = rest;
            Ok(Token::Move(text.into()))
        }
        _ => Err(PgnFault::Unexpected { found: '"' }),
    }
}

fn word<'a>(input: &mut &'a str, first: char, bare: BareNumbers) -> Result<Token<'a>, PgnFault> {
    if let Some(result) = attempt(result, input) {
        return Ok(Token::Result(result));
    }
    if let Some(length) = comment_on_passing(input) {
        *input = &input[length..];
        return Ok(Token::Nothing);
    }
    if let Some(pass) = attempt(pass, input) {
        return Ok(Token::Move(pass.into()));
    }
    let is_zeros = begins_with_zeros(input);
    if first.is_ascii_digit() && !is_zeros && !is_move(input, bare) {
        let numbered = attempt(number, input);
        return numbered.map(|it| Token::Number(it.0, it.1)).ok_or(PgnFault::Number);
    }
    // A piece's letter may have a sign before it: `+R`.
    let is_signed = first.is_ascii_punctuation()
        && !".-=%<>".contains(first)
        && input[1..].starts_with(|it: char| it.is_ascii_uppercase());
    // A drop may have no letter of a piece: `@e4`.
    let is_drop = first == '@' && input[1..].starts_with(|it: char| it.is_ascii_lowercase());
    if first.is_alphabetic()
        || first.is_ascii_digit()
        || first == '('
        || is_signed
        || is_drop
        || input.starts_with("--")
    {
        let symbol = attempt(symbol, input).map(|it| Token::Move(it.into()));
        return symbol.ok_or(PgnFault::Unexpected { found: first });
    }
    Err(PgnFault::Unexpected { found: first })
}

/// Runs a parser. If it fails, the input is left as it was.
fn attempt<'a, T>(
    mut parser: impl FnMut(&mut &'a str) -> Parsed<T>,
    input: &mut &'a str,
) -> Option<T> {
    let start = *input;
    let parsed = parser(input).ok();
    if parsed.is_none() {
        *input = start;
    }
    parsed
}

fn skip<'a>(input: &mut &'a str, token: Token<'a>) -> Token<'a> {
    *input = &input[1..];
    token
}

fn comment<'a>(input: &mut &'a str) -> Parsed<&'a str> {
    delimited('{', take_till(0.., '}'), '}').parse_next(input)
}

/// A comment from `;` to the end of the line.
fn line_comment<'a>(input: &mut &'a str) -> &'a str {
    let end = input.find(['\r', '\n']).unwrap_or(input.len());
    let (comment, rest) = input.split_at(end);
    *input = rest;
    &comment[1..]
}

fn nag(input: &mut &str) -> Parsed<u8> {
    preceded('$', take_while(1.., '0'..='9')).parse_to().parse_next(input)
}

fn glyph(input: &mut &str) -> Parsed<u8> {
    let marks: &str = take_while(1.., ['!', '?']).parse_next(input)?;
    Ok(match marks {
        "!" => 1,
        "?" => 2,
        _ if marks.starts_with("!!") => 3,
        _ if marks.starts_with("??") => 4,
        _ if marks.starts_with("!?") => 5,
        _ => 6,
    })
}

/// A number of nine digits at most, and how many dots follow it.
fn number(input: &mut &str) -> Parsed<(u32, usize)> {
    let digits = take_while(1..=9, '0'..='9').parse_to();
    let (number, dots): (u32, &str) = (digits, take_while(0.., '.')).parse_next(input)?;
    // A tenth digit is too many; after dots a move may begin with a digit: `4.0-0`.
    match dots.is_empty() && input.starts_with(|it: char| it.is_ascii_digit()) {
        true => Err(EmptyError),
        false => Ok((number, dots.len())),
    }
}

/// Whether a word that begins with a digit is a move, and not the number of a move.
fn is_move(text: &str, bare: BareNumbers) -> bool {
    let BareNumbers::Due(due) = bare else { return false };
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    // `2Nf3` is a number and a move.
    if text[end..].starts_with(|it: char| it == '.' || it.is_alphabetic()) {
        return false;
    }
    let mut rest = text;
    let word = attempt(symbol, &mut rest).unwrap_or(text);
    due.is_none_or(|it| word != it.to_string())
}

/// `0000`, the null move of UCI.
fn pass<'a>(input: &mut &'a str) -> Parsed<&'a str> {
    let pass = "0000".parse_next(input)?;
    match input.starts_with(|it: char| it.is_alphanumeric() || it == '.') {
        true => Err(EmptyError),
        false => Ok(pass),
    }
}

/// Reads a text that is a result and nothing else.
pub(super) fn result_alone(mut text: &str) -> Option<PgnResult> {
    attempt(result, &mut text).filter(|_| text.is_empty())
}

fn result(input: &mut &str) -> Parsed<PgnResult> {
    let result = alt((
        "1-0".value(PgnResult::FirstWins),
        "0-1".value(PgnResult::SecondWins),
        "1/2-1/2".value(PgnResult::Draw),
        "½-½".value(PgnResult::Draw),
        "1/2".value(PgnResult::Draw),
        "*".value(PgnResult::Unknown),
    ))
    .parse_next(input)?;
    let next: Option<char> = opt(peek(any)).parse_next(input)?;
    match next.is_some_and(|it| it.is_alphanumeric() || matches!(it, '-' | '/')) {
        true => Err(EmptyError),
        false => Ok(result),
    }
}

/// A move: anything up to a space or another special character; `(Q)` right after it and the signs of check
/// after that belong to it, and so do the pieces of a stack, `(FT)e5xe7`, anywhere in it.
fn symbol<'a>(input: &mut &'a str) -> Parsed<&'a str> {
    let text = *input;
    let mut length = 0;
    loop {
        let rest = &text[length..];
        let is_ordinary = |it: char| !it.is_whitespace() && !"{}()[];$!?*\"".contains(it);
        let step = match rest.chars().next() {
            Some(it) if is_ordinary(it) => it.len_utf8(),
            Some('*') if is_drop_sign(&text[..length], rest) => 1,
            _ => stack_length(rest),
        };
        if step == 0 {
            break;
        }
        length += step;
    }
    if length == 0 {
        return Err(EmptyError);
    }
    *input = &text[length..];
    let becomes = ('(', one_of('A'..='Z'), ')', take_while(0.., ['+', '#']));
    let after: &str = opt(becomes).take().parse_next(input)?;
    Ok(&text[..length + after.len()])
}

/// Whether the `*` at the beginning of `rest` is a part of the move, with a capital before it and a digit after it, as in
/// the drop `P*43`. Otherwise it is a result.
fn is_drop_sign(before: &str, rest: &str) -> bool {
    let is_piece = before.ends_with(|it: char| it.is_ascii_uppercase());
    is_piece && rest[1..].starts_with(|it: char| it.is_ascii_digit())
}

/// Maximum number of characters of a stack, its parentheses included.
const MAX_STACK: usize = 32;

/// The length of the stack that a text begins with, 0 if there is none. A stack is two or more capitals in parentheses,
/// each perhaps with a `+` before it, and the move goes on right after it: `(+TI)e5`. (A variation has lower-case letters
/// within, or nothing right after it.)
fn stack_length(text: &str) -> usize {
    let close = text.bytes().take(MAX_STACK).position(|it| it == b')');
    let Some(close) = close.filter(|_| text.starts_with('(')) else { return 0 };
    let inside = &text[1..close];
    let pieces = inside.bytes().filter(u8::is_ascii_uppercase).count();
    let is_stack = pieces > 1 && inside.bytes().all(|it| it.is_ascii_uppercase() || it == b'+');
    // A rank may disambiguate it: `(NF)2a3`; but `(NF)2. a3` is a variation before a move number.
    let rest = text[close + 1..].trim_start_matches(|it: char| it.is_ascii_digit());
    let goes_on = rest.starts_with(|it: char| it.is_ascii_lowercase() || "x_@&><:".contains(it));
    if is_stack && goes_on { close + 1 } else { 0 }
}

fn tag<'a>(input: &mut &'a str) -> Result<Token<'a>, PgnFault> {
    let fault = |expected| PgnFault::Tag { expected };
    let expect = |input: &mut &'a str, mark: char, expected| -> Result<(), PgnFault> {
        *input = input.strip_prefix(mark).ok_or(fault(expected))?;
        Ok(())
    };
    expect(input, '[', "[")?;
    space(input);
    let name = tag_name(input);
    if name.is_empty() {
        return Err(fault("a name"));
    }
    *input = &input[name.len()..];
    space(input);
    expect(input, '"', "a value in quotes")?;
    let text = *input;
    let mut value = value(input);
    if !closes(input)
        && let Some(line) = text.split(['\r', '\n']).next()
        && let Some((end, _)) = line.match_indices('"').find(|it| closes(&line[it.0..]))
    {
        (value, *input) = (text[..end].to_owned(), &text[end..]);
    }
    expect(input, '"', "the value's closing quote on the same line")?;
    space(input);
    expect(input, ']', "]")?;
    Ok(Token::Tag(name, value))
}

/// The name of a tag that a text begins with; empty if there is none.
pub(super) fn tag_name(text: &str) -> &str {
    let end = text.find(|it: char| !(it.is_alphanumeric() || it == '_'));
    &text[..end.unwrap_or(text.len())]
}

/// Whether a tag ends here. Some programs, python-chess among them, write quotes within a value without escapes.
fn closes(text: &str) -> bool {
    text.strip_prefix('"').is_some_and(|it| it.trim_start().starts_with(']'))
}

fn space(input: &mut &str) {
    *input = input.trim_start();
}

/// Reads a tag's value or a move in quotes, up to the closing quote or the end of the line; `\"` and `\\` are escapes.
fn value(input: &mut &str) -> String {
    let mut value = String::new();
    let mut chars = input.char_indices();
    let mut end = input.len();
    while let Some((at, letter)) = chars.next() {
        match letter {
            '"' | '\r' | '\n' => {
                end = at;
                break;
            }
            '\\' => match chars.as_str().chars().next() {
                Some(escaped @ ('"' | '\\')) => {
                    value.push(escaped);
                    chars.next();
                }
                _ => value.push('\\'),
            },
            _ => value.push(letter),
        }
    }
    *input = &input[end..];
    value
}
