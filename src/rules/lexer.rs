//! Rule text as tokens, each with its place.
//!
//! `%` opens a comment, and is also the remainder operator. The lexer takes it for a comment; the parser,
//! which knows when an operand of an expression has just ended, calls [`Tokens::remainder_follows`], which
//! reads the rest of the line again.
//!
//! Deliberately absent: keywords. Words like `key`, `on` or `count` mean something only where the
//! parser expects them, so that relations may carry any name.

use logos::Logos;

use super::diagnostic::Diagnostic;
use super::mistake;
use super::source::Span;

#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"%[^\n]*", allow_greedy = true))]
pub(super) enum Kind {
    #[regex(r"\.[A-Za-z_][A-Za-z0-9_]*")]
    Directive,
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Ident,
    #[regex(r"'[A-Za-z0-9_]+(-[A-Za-z0-9_]+)*")]
    Quoted,
    #[regex(r"[0-9]+")]
    Int,
    #[regex(r#""[^"\n]*""#)]
    Text,
    #[regex(r#""[^"\n]*"#)]
    OpenText,
    #[token(":-")]
    If,
    #[token("+=")]
    Extend,
    #[token("!=")]
    Ne,
    #[token("<=")]
    Le,
    #[token(">=")]
    Ge,
    #[token("=")]
    Eq,
    #[token("<")]
    Lt,
    #[token(">")]
    Gt,
    #[token("!")]
    Not,
    #[token(".")]
    Dot,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    /// Joins the words next to it to a [`Kind::Path`]; alone it is a mistake.
    #[token("::")]
    Joint,
    /// `bank::gold`: a name that belongs to a preset or game, in full. Made by [`joined`] only.
    Path,
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    /// The remainder operator; made by [`Tokens::remainder_follows`] only.
    Percent,
    /// A run of text that is not a token; it has been reported.
    Bad,
    End,
}

/// A token and its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// Whether it is the first token on its line.
    pub(super) first: bool,
    /// Whether it begins in the first column of its line.
    pub(super) flush: bool,
}

impl Token {
    /// Whether it has the form of a name that is declared somewhere, `hp` or `bank::gold`, or of a variable.
    pub(super) fn is_name(self) -> bool {
        matches!(self.kind, Kind::Ident | Kind::Path)
    }
}

/// The tokens of one source that have not been taken.
#[derive(Debug)]
pub(super) struct Tokens<'t> {
    text: &'t str,
    source: u16,
    /// In reverse: the next token is the last.
    stack: Vec<Token>,
    end: Token,
    /// The token that was taken last.
    last: Token,
    /// The last line on which `%` was read as the remainder.
    remainder_line: Option<u32>,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(source: u16, text: &'t str, found: &mut Vec<Diagnostic>) -> Self {
        let mut stack = lex(source, text, 0..text.len(), 1, found);
        let at = text.trim_end().len() as u32;
        let line = text[..at as usize].bytes().filter(|&b| b == b'\n').count() as u32 + 1;
        let span = Span { source, start: at, end: at, line };
        let end = Token { kind: Kind::End, span, first: true, flush: true };
        let last = Token { span: Span { source, start: 0, end: 0, line: 1 }, ..end };
        stack.reverse();
        Self { text, source, stack, end, last, remainder_line: None }
    }

    pub(super) fn peek(&self) -> Token {
        self.stack.last().copied().unwrap_or(self.end)
    }

    /// The token after the next one.
    pub(super) fn second(&self) -> Token {
        self.stack.len().checked_sub(2).map_or(self.end, |at| self.stack[at])
    }

    pub(super) fn next(&mut self) -> Token {
        self.last = self.stack.pop().unwrap_or(self.end);
        self.last
    }

    pub(super) fn remainder_line(&self) -> Option<u32> {
        self.remainder_line
    }

    pub(super) fn last(&self) -> Token {
        self.last
    }

    pub(super) fn text_of(&self, span: Span) -> &'t str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Whether the operand that was just taken is followed, on its line, by `%` and another
    /// operand. If so, the `%` becomes the next token, and the text that the lexer skipped as a comment is
    /// read as rule text.
    pub(super) fn remainder_follows(&mut self, found: &mut Vec<Diagnostic>) -> bool {
        if self.peek().kind == Kind::Percent {
            return true;
        }
        let line = self.last.span.line;
        let from = self.last.span.end as usize;
        let rest = self.text.get(from..).unwrap_or("");
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let Some(operand) = rest[blanks..].strip_prefix('%') else {
            return false;
        };
        let operand = &operand[..operand.find('\n').unwrap_or(operand.len())];
        if !starts_with_operand(operand) {
            return false;
        }
        let at = from + blanks;
        let until = at + 1 + comment_start(operand);
        let mut again = lex(self.source, self.text, at + 1..until, line, found);
        self.remainder_line = Some(line);
        again.iter_mut().for_each(|it| it.first = false);
        again.reverse();
        self.stack.append(&mut again);
        let span = Span { source: self.source, start: at as u32, end: at as u32 + 1, line };
        self.stack.push(Token { kind: Kind::Percent, span, first: false, flush: false });
        true
    }
}

/// Whether a text begins with an operand and with what can follow an operand in an expression: a sign, or after a
/// number the end of the line. In prose, words are followed by other words.
fn starts_with_operand(text: &str) -> bool {
    let text = text.trim_start();
    let text = text.strip_prefix('-').unwrap_or(text);
    if text.starts_with('(') {
        return true;
    }
    let is_of_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let rest = text.trim_start_matches(is_of_word);
    let word = &text[..text.len() - rest.len()];
    let rest = rest.trim_start();
    match rest.is_empty() {
        true => word.parse::<u64>().is_ok(),
        false => !word.is_empty() && rest.starts_with(|it| "=!<>+-*/%),.:}".contains(it)),
    }
}

/// The offset of the next `%` outside quotes, or the end.
fn comment_start(line: &str) -> usize {
    let mut quoted = false;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'%' if !quoted => return at,
            _ => {}
        }
    }
    line.len()
}

/// The tokens of a part of a text. Text that is not a token is reported, once for each run.
fn lex(
    source: u16,
    text: &str,
    range: std::ops::Range<usize>,
    first_line: u32,
    found: &mut Vec<Diagnostic>,
) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut line = first_line;
    let mut line_start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    // The offset up to which line ends were counted.
    let mut counted = range.start;
    for (kind, place) in Kind::lexer(&text[range.clone()]).spanned() {
        let (start, end) = (range.start + place.start, range.start + place.end);
        for (at, _) in text[counted..start].match_indices('\n') {
            line += 1;
            line_start = counted + at + 1;
        }
        counted = start;
        let span = Span { source, start: start as u32, end: end as u32, line };
        let Ok(kind) = kind else {
            push_bad(&mut tokens, span);
            continue;
        };
        let token = Token {
            kind,
            span,
            first: tokens.last().is_none_or(|it| it.span.line != line),
            flush: line_start == start,
        };
        match kind {
            Kind::OpenText => {
                found.push(mistake::open_text(span));
                tokens.push(Token { kind: Kind::Text, ..token });
            }
            Kind::Directive if tokens.last().is_some_and(|it| it.span.end == span.start) => {
                tokens.extend(split_directive(token));
            }
            _ => tokens.push(token),
        }
    }
    let bad = tokens.iter().filter(|it| it.kind == Kind::Bad);
    found.extend(bad.map(|it| mistake::strange_text(it.span, text)));
    if tokens.iter().any(|it| it.kind == Kind::Joint) { joined(tokens) } else { tokens }
}

/// Adds text that is not a token: to the run of such text that it continues, or as a new run.
fn push_bad(tokens: &mut Vec<Token>, span: Span) {
    match tokens.last_mut() {
        Some(run) if run.kind == Kind::Bad && run.span.end == span.start => run.span.end = span.end,
        _ => tokens.push(Token { kind: Kind::Bad, span, first: false, flush: false }),
    }
}

/// Full names as one token: the words and hyphens before `::`, and the word after it.
fn joined(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    for token in tokens {
        let touches = |it: Option<&Token>| it.is_some_and(|it| it.span.end == token.span.start);
        let after = out.last().is_some_and(|it| it.kind == Kind::Joint) && touches(out.last());
        if token.kind != Kind::Ident || !after {
            out.push(token);
            continue;
        }
        let mut from = out.len() - 1;
        while let Some(before) = from.checked_sub(1) {
            let is_part = matches!(out[before].kind, Kind::Ident | Kind::Int | Kind::Minus);
            if !is_part || out[before].span.end != out[from].span.start {
                break;
            }
            from = before;
        }
        let first = out[from];
        if !matches!(first.kind, Kind::Ident | Kind::Int) {
            out.push(token);
            continue;
        }
        out.truncate(from);
        let span = Span { end: token.span.end, ..first.span };
        out.push(Token { kind: Kind::Path, span, ..first });
    }
    out
}

/// `a(x).b(y)`: a period right after something ends a clause, whatever follows.
fn split_directive(token: Token) -> [Token; 2] {
    let Span { source, start, end, line } = token.span;
    let dot = Span { source, start, end: start + 1, line };
    let name = Span { source, start: start + 1, end, line };
    [
        Token { kind: Kind::Dot, span: dot, first: false, flush: false },
        Token { kind: Kind::Ident, span: name, first: false, flush: false },
    ]
}
