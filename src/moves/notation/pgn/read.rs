//! The games of a file, one after the other.

use super::token::{Token, token};
use super::{FirstMove, PgnError, PgnFault, PgnGame, PgnMove};

/// An iterator over the games of a PGN file. A malformed game is an error; the next call goes on
/// with the game after it.
#[derive(Debug, Clone)]
pub struct PgnReader {
    text: String,
    /// Where each line begins.
    lines: Vec<usize>,
    at: usize,
    game: usize,
}

impl PgnReader {
    /// Reads bytes as UTF-8, with or without a byte order mark, or else as Latin-1.
    pub fn new(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => bytes.iter().copied().map(char::from).collect(),
        };
        let ends = text.bytes().enumerate().filter(|it| it.1 == b'\n').map(|it| it.0 + 1);
        let lines = std::iter::once(0).chain(ends).collect();
        Self { text, lines, at: 0, game: 0 }
    }

    /// The 1-based line and column of an offset.
    fn place(&self, offset: usize) -> (usize, usize) {
        let line = self.lines.partition_point(|&it| it <= offset);
        let start = self.lines.get(line.wrapping_sub(1)).copied().unwrap_or_default();
        let column = self.text.get(start..offset).map_or(0, |it| it.chars().count());
        (line, column + 1)
    }

    /// Passes white space and lines that begin with `%`.
    fn skip(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            let starts_line = self.lines.binary_search(&self.at).is_ok();
            if !(starts_line && self.text[self.at..].starts_with('%')) {
                return;
            }
            let rest = &self.text[self.at..];
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    fn read(&mut self) -> Result<PgnGame, Failure> {
        let mut game = Building::default();
        game.done.line = self.place(self.at).0;
        loop {
            self.skip();
            if self.is_at_end() || self.is_at_next(&game) {
                break;
            }
            let start = self.at;
            let mut rest = &self.text[start..];
            let token = token(&mut rest);
            let end = self.text.len() - rest.len();
            let token = token.map_err(|fault| game.failure(fault, end))?;
            let place = self.place(start);
            let is_over = game.take(token, start, place)?;
            self.at = end;
            if is_over {
                return Ok(game.done);
            }
        }
        match game.variations.first() {
            Some(&open) => Err(game.failure(PgnFault::OpenVariation, open)),
            None => Ok(game.done),
        }
    }

    /// A tag after moves begins the next game, although this one was never ended; so does a tag
    /// that is known already, after a blank line.
    fn is_at_next(&self, game: &Building) -> bool {
        let rest = &self.text[self.at..];
        if !rest.starts_with('[') || !game.variations.is_empty() {
            return false;
        }
        let name: &str = rest[1..].split_whitespace().next().unwrap_or_default();
        let before = self.text[..self.at].trim_end_matches([' ', '\t', '\r']);
        let after_blank = before
            .strip_suffix('\n')
            .is_some_and(|it| it.trim_end_matches([' ', '\t', '\r']).ends_with('\n'));
        game.in_moves || (after_blank && game.done.tag(name).is_some())
    }

    /// Goes to the next line that looks like a tag, past the tags of the game that failed.
    fn recover(&mut self, failure: &Failure) {
        let line = self.lines.partition_point(|&it| it <= failure.offset);
        let mut in_tags = failure.in_tags;
        for &start in self.lines.get(line..).unwrap_or_default() {
            let text = self.text[start..].lines().next().unwrap_or_default();
            let is_tag = looks_like_tag(text);
            if is_tag && !in_tags {
                self.at = start;
                return;
            }
            in_tags = in_tags && (is_tag || text.trim().is_empty());
        }
        self.at = self.text.len();
    }
}

impl Iterator for PgnReader {
    type Item = Result<PgnGame, PgnError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.skip();
        if self.is_at_end() {
            return None;
        }
        self.game += 1;
        Some(self.read().map_err(|failure| {
            let (line, column) = self.place(failure.offset);
            self.recover(&failure);
            PgnError { game: self.game, line, column, fault: failure.fault }
        }))
    }
}

/// `[Name "`, perhaps indented.
fn looks_like_tag(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix('[') else {
        return false;
    };
    let rest = rest.trim_start();
    let name = rest.find(|it: char| !(it.is_alphanumeric() || it == '_')).unwrap_or(rest.len());
    name > 0 && rest[name..].trim_start().starts_with('"')
}

struct Failure {
    fault: PgnFault,
    offset: usize,
    in_tags: bool,
}

/// A game while its tokens come in.
#[derive(Default)]
struct Building {
    done: PgnGame,
    /// Where the open variations begin.
    variations: Vec<usize>,
    in_moves: bool,
}

impl Building {
    fn failure(&self, fault: PgnFault, offset: usize) -> Failure {
        Failure { fault, offset, in_tags: !self.in_moves }
    }

    /// Adds a token; true if it ends the game.
    fn take(
        &mut self,
        token: Token<'_>,
        start: usize,
        (line, column): (usize, usize),
    ) -> Result<bool, Failure> {
        if !matches!(token, Token::Tag(..) | Token::Comment(_)) {
            self.in_moves = true;
        }
        if !self.variations.is_empty() {
            self.skip_in_variation(&token, start)?;
            return Ok(false);
        }
        match token {
            Token::Tag(name, value) => {
                if self.done.tag(name).is_some() {
                    let fault = PgnFault::RepeatedTag { name: name.into() };
                    return Err(self.failure(fault, start));
                }
                self.done.tags.push((name.into(), value));
            }
            Token::Comment(text) => self.comments().push(one_line(text)),
            Token::Nag(nag) => {
                if let Some(mv) = self.done.moves.last_mut() {
                    mv.nags.push(nag);
                }
            }
            Token::Number(number, dots) => {
                if self.done.moves.is_empty() {
                    self.done.first = FirstMove { number, by_second: dots >= 2 };
                }
            }
            Token::Move(text) => {
                let text = text.into();
                self.done.moves.push(PgnMove { text, line, column, ..PgnMove::default() });
            }
            Token::Result(result) => {
                self.done.result = Some(result);
                return Ok(true);
            }
            Token::OpenVariation => self.variations.push(start),
            Token::CloseVariation => {
                return Err(self.failure(PgnFault::StrayClose { found: ')' }, start));
            }
            Token::Nothing => {}
        }
        Ok(false)
    }

    fn skip_in_variation(&mut self, token: &Token<'_>, start: usize) -> Result<(), Failure> {
        match token {
            Token::OpenVariation => self.variations.push(start),
            Token::CloseVariation => {
                self.variations.pop();
            }
            Token::Tag(..) => {
                let open = self.variations.first().copied().unwrap_or(start);
                return Err(self.failure(PgnFault::OpenVariation, open));
            }
            _ => {}
        }
        Ok(())
    }

    fn comments(&mut self) -> &mut Vec<String> {
        match self.done.moves.last_mut() {
            Some(mv) => &mut mv.comments,
            None => &mut self.done.comments,
        }
    }
}

/// A comment is broken into lines anywhere: only its words are kept.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
