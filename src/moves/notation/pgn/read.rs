//! The games of a file, one after the other.
//!
//! The file is read through a window, so it may be of any length. No byte is examined more than a fixed
//! number of times, whatever the file contains: it may be hostile.

use std::collections::HashSet;
use std::io::BufRead;

use super::token::{BareNumbers, Token, tag_name, token};
use super::window::Window;
use super::{DEEPEST, FirstMove, LIMIT, PgnError, PgnFault, PgnGame, PgnMove};

/// Number of bytes that the window has from the beginning of a word on, if the file has them; for a longer word it grows.
const AHEAD: usize = 1024;
/// If a word ends closer than this to the end of the window, it might go on in the file.
const MARGIN: usize = 16;

/// An iterator over the games of a PGN file, in UTF-8, with or without a byte order mark; a line that is not
/// UTF-8 is read as Latin-1. A malformed game is an error; the next call goes on with the game after it.
#[derive(Debug, Clone)]
pub struct PgnReader<R> {
    window: Window<R>,
    /// Number of line ends since the last word, without those of lines that begin with `%`.
    line_ends: usize,
    /// The offset up to which the end of the present comment was sought in vain.
    unclosed: usize,
    /// The offset at which the game began.
    start: usize,
    /// The number of the game, from 1.
    game: usize,
}

impl<'b> PgnReader<&'b [u8]> {
    /// Reads a file that is in memory.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self::over(bytes)
    }
}

impl<R: BufRead> PgnReader<R> {
    /// Reads a file piece by piece: memory is bounded by the size limit of one game.
    pub fn over(file: R) -> Self {
        Self { window: Window::new(file), line_ends: 0, unclosed: 0, start: 0, game: 0 }
    }

    /// Number of bytes examined so far; one that is examined twice counts twice. It stays proportional to the
    /// bytes read, even in a hostile file.
    pub fn bytes_examined(&self) -> u64 {
        self.window.examined()
    }

    /// Skips white space and lines that begin with `%`.
    fn skip(&mut self) {
        loop {
            self.window.ensure(AHEAD);
            let rest = self.window.rest();
            let blank = rest.len() - rest.trim_start().len();
            self.line_ends += rest[..blank].matches('\n').count();
            let is_all_blank = blank == rest.len();
            self.window.advance(blank);
            if is_all_blank && !self.window.is_whole() {
                continue;
            }
            self.window.ensure(AHEAD);
            let starts_line = self.window.place().1 == 1;
            if !(starts_line && self.window.rest().starts_with('%')) {
                return;
            }
            // Of the line ends before and after this line only one counts, as if the line were not there.
            self.line_ends = self.line_ends.saturating_sub(1);
            self.pass_line();
        }
    }

    /// Goes to the end of the line.
    fn pass_line(&mut self) {
        loop {
            let rest = self.window.rest();
            let end = rest.find('\n');
            let bytes = end.unwrap_or(rest.len());
            self.window.advance(bytes);
            if end.is_some() || !self.window.grow(AHEAD) {
                return;
            }
        }
    }

    fn is_at_end(&self) -> bool {
        self.window.is_whole() && self.window.rest().is_empty()
    }

    /// Reads one game.
    fn read(&mut self) -> Result<PgnGame, Failure> {
        let mut game = Building::default();
        game.done.line = self.window.place().0;
        self.start = self.window.passed();
        loop {
            self.skip();
            if self.is_at_end() || self.is_at_next(&game) {
                break;
            }
            if self.take_word(&mut game)? {
                return Ok(game.finished());
            }
        }
        match game.outer.first() {
            Some(outer) => Err(game.failure(PgnFault::OpenVariation, outer.place)),
            None => Ok(game.finished()),
        }
    }

    /// Reads a word and adds it to the game; true if it ends the game.
    fn take_word(&mut self, game: &mut Building) -> Result<bool, Failure> {
        let place = self.window.place();
        if self.window.passed() - self.start > LIMIT {
            return Err(game.failure(PgnFault::TooLong, place));
        }
        if self.window.rest().starts_with('{') {
            self.find_close(game, place)?;
        }
        // The window might end within the word: then it is read again with a larger window.
        let (token, end) = loop {
            let rest = self.window.rest();
            let mut after = rest;
            let token = token(&mut after, game.bare());
            let (known, read) = (rest.len(), rest.len() - after.len());
            if after.len() >= MARGIN || self.window.is_whole() {
                break (token, read);
            }
            if known > LIMIT {
                return Err(game.failure(PgnFault::TooLong, place));
            }
            self.window.count(read);
            self.window.grow(LIMIT);
        };
        let token = match token {
            Ok(token) => token,
            Err(fault) => {
                self.window.advance(end);
                return Err(game.failure(fault, self.window.place()));
            }
        };
        let mut taken = game.take(token, place);
        if let Err(failure) = &mut taken {
            failure.at_next_game = failure.at_next_game && self.line_ends > 0;
        } else {
            self.window.advance(end);
            self.line_ends = 0;
        }
        taken
    }

    /// Extends the window to the end of a comment, and `MARGIN` beyond it.
    fn find_close(&mut self, game: &Building, place: (usize, usize)) -> Result<(), Failure> {
        loop {
            let (rest, passed) = (self.window.rest(), self.window.passed());
            let available = rest.len();
            // The examined bytes end between two characters, so `rest` can be cut there.
            let known = self.unclosed.saturating_sub(passed).clamp(1, available);
            if let Some(close) = rest.get(known..).and_then(|it| it.find('}')) {
                self.window.count(close);
                self.window.ensure(known + close + 1 + MARGIN);
                return Ok(());
            }
            self.window.count(available - known);
            self.unclosed = passed + available;
            if available > LIMIT {
                return Err(game.failure(PgnFault::TooLong, place));
            }
            if !self.window.grow(LIMIT) {
                return Err(game.failure(PgnFault::OpenComment, place));
            }
        }
    }

    /// Whether the next game begins here although this one has no result: with a tag after moves, or with a tag that the
    /// game has already, after a blank line.
    fn is_at_next(&self, game: &Building) -> bool {
        let Some(rest) = self.window.rest().strip_prefix('[') else { return false };
        if !game.outer.is_empty() {
            return false;
        }
        let name = tag_name(rest.trim_start());
        game.in_moves || (self.line_ends > 1 && game.names.contains(&name.to_lowercase()))
    }

    /// Goes to the next line that looks like a tag, past the tags of the game that failed.
    fn recover(&mut self, failure: &Failure) {
        if failure.at_next_game {
            return;
        }
        let mut in_tags = failure.in_tags;
        loop {
            self.pass_line();
            self.window.ensure(AHEAD);
            let Some(rest) = self.window.rest().strip_prefix('\n') else { return };
            let line = rest.lines().next().unwrap_or_default();
            let (is_tag, is_blank, length) =
                (looks_like_tag(line), line.trim().is_empty(), line.len());
            self.window.count(length);
            self.window.advance(1);
            if is_tag && !in_tags {
                return;
            }
            in_tags = in_tags && (is_tag || is_blank);
        }
    }
}

impl<R: BufRead> Iterator for PgnReader<R> {
    type Item = Result<PgnGame, PgnError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.skip();
        if self.is_at_end() {
            // The games read before the failure have been returned already.
            let reason = self.window.take_failure()?;
            let (line, column) = self.window.place();
            let fault = PgnFault::Unreadable { reason };
            return Some(Err(PgnError { game: self.game + 1, line, column, fault }));
        }
        self.game += 1;
        self.line_ends = 0;
        Some(self.read().map_err(|failure| {
            self.recover(&failure);
            let (line, column) = failure.place;
            PgnError { game: self.game, line, column, fault: failure.fault }
        }))
    }
}

/// Whether a line begins with `[Name "`, perhaps indented.
fn looks_like_tag(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix('[') else {
        return false;
    };
    let rest = rest.trim_start();
    let name = tag_name(rest);
    !name.is_empty() && rest[name.len()..].trim_start().starts_with('"')
}

/// Why a game could not be read, and where reading goes on.
struct Failure {
    fault: PgnFault,
    place: (usize, usize),
    /// Whether the game had no moves yet, so that the tags that follow are still those of this game.
    in_tags: bool,
    /// Whether the next word is the first of the next game, so that nothing has to be skipped.
    at_next_game: bool,
}

/// A game that is being read.
#[derive(Default)]
struct Building {
    done: PgnGame,
    /// The names of its tags, in lower case.
    names: HashSet<String>,
    /// The line being read: of the game, or of the innermost open variation.
    line: Line,
    /// The lines around that line, the game's own first, each with the place where the variation in it begins.
    outer: Vec<Outer>,
    in_moves: bool,
    /// Whether dots follow the first move number of the game; `None` before there is one.
    has_dots: Option<bool>,
}

/// Moves that follow each other.
#[derive(Default)]
struct Line {
    moves: Vec<PgnMove>,
    /// Comments before the first move.
    comments: Vec<String>,
    /// The number and the side of the move that comes next.
    next: FirstMove,
    /// Whether the number of the next move has been read.
    is_numbered: bool,
    /// The number and the side of the last move.
    last: FirstMove,
}

/// A line in which a variation is open.
struct Outer {
    line: Line,
    place: (usize, usize),
}

impl Building {
    /// Which numbers without dots count as move numbers.
    fn bare(&self) -> BareNumbers {
        let is_due = !self.line.is_numbered && !self.line.next.by_second;
        match self.has_dots {
            Some(true) => BareNumbers::Due(is_due.then_some(self.line.next.number)),
            _ => BareNumbers::All,
        }
    }

    fn failure(&self, fault: PgnFault, place: (usize, usize)) -> Failure {
        Failure { fault, place, in_tags: !self.in_moves, at_next_game: false }
    }

    /// Adds a token; true if it ends the game.
    fn take(&mut self, token: Token<'_>, place: (usize, usize)) -> Result<bool, Failure> {
        if !matches!(token, Token::Tag(..) | Token::Comment(_)) {
            self.in_moves = true;
        }
        match token {
            Token::Tag(name, value) => self.take_tag(name, value, place)?,
            Token::Comment(text) => self.comments().push(one_line(text)),
            Token::Nag(nag) => {
                if let Some(mv) = self.line.moves.last_mut() {
                    mv.nags.push(nag);
                }
            }
            Token::Number(number, dots) => {
                self.has_dots.get_or_insert(dots > 0);
                self.line.is_numbered = true;
                self.line.next = FirstMove { number, by_second: dots >= 2 };
                if self.outer.is_empty() && self.line.moves.is_empty() {
                    self.done.first = self.line.next;
                }
            }
            Token::Move(text) => {
                self.line.is_numbered = false;
                self.line.last = self.line.next;
                self.line.next = self.line.next.after();
                let (text, (line, column)) = (text.into_owned(), place);
                self.line.moves.push(PgnMove { text, line, column, ..PgnMove::default() });
            }
            // A variation may have a result of its own; the game goes on.
            Token::Result(_) if !self.outer.is_empty() => {}
            Token::Result(result) => {
                self.done.result = Some(result);
                return Ok(true);
            }
            Token::OpenVariation => self.open_variation(place)?,
            Token::CloseVariation => self.close_variation(place)?,
            Token::Nothing => {}
        }
        Ok(false)
    }

    fn open_variation(&mut self, place: (usize, usize)) -> Result<(), Failure> {
        if self.outer.len() >= DEEPEST {
            return Err(self.failure(PgnFault::DeepVariation, place));
        }
        // A variation replaces the last move.
        let inner = Line { next: self.line.last, ..Line::default() };
        let line = std::mem::replace(&mut self.line, inner);
        self.outer.push(Outer { line, place });
        Ok(())
    }

    fn close_variation(&mut self, place: (usize, usize)) -> Result<(), Failure> {
        let Some(Outer { line, .. }) = self.outer.pop() else {
            return Err(self.failure(PgnFault::StrayClose { found: ')' }, place));
        };
        let inner = std::mem::replace(&mut self.line, line).whole();
        // A variation before any move is skipped.
        if let Some(mv) = self.line.moves.last_mut().filter(|_| !inner.is_empty()) {
            mv.variations.push(inner);
        }
        Ok(())
    }

    fn take_tag(
        &mut self,
        name: &str,
        value: String,
        place: (usize, usize),
    ) -> Result<(), Failure> {
        if let Some(outer) = self.outer.first() {
            let failure = self.failure(PgnFault::OpenVariation, outer.place);
            return Err(Failure { at_next_game: true, ..failure });
        }
        if !self.names.insert(name.to_lowercase()) {
            return Err(self.failure(PgnFault::RepeatedTag { name: name.into() }, place));
        }
        self.done.tags.push((name.into(), value));
        Ok(())
    }

    /// The list to which a comment here belongs.
    fn comments(&mut self) -> &mut Vec<String> {
        match self.line.moves.last_mut() {
            Some(mv) => &mut mv.comments,
            None => &mut self.line.comments,
        }
    }

    fn finished(self) -> PgnGame {
        PgnGame { comments: self.line.comments, moves: self.line.moves, ..self.done }
    }
}

impl Line {
    /// The moves of a variation; comments before the first move are attached to it.
    fn whole(mut self) -> Vec<PgnMove> {
        if let Some(first) = self.moves.first_mut() {
            first.comments.splice(0..0, self.comments);
        }
        self.moves
    }
}

/// The words of a comment, which may be wrapped anywhere, on one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
