//! A window on the file that is being read. The file is read in pieces, and what has been consumed is
//! dropped, so that memory is bounded by the size limit of one game.

use std::io::{self, BufRead, Read};

/// Maximum number of bytes that are decoded at a time; a longer line is decoded in pieces.
const PIECE: usize = 64 * 1024;

/// The window: decoded text around the reading position.
#[derive(Debug, Clone)]
pub(super) struct Window<R> {
    from: R,
    text: String,
    /// The offset of the reading position in `text`.
    at: usize,
    /// Number of bytes of text that have been dropped.
    gone: usize,
    line: usize,
    column: usize,
    /// Bytes of a character that the last piece has cut in two.
    cut: Vec<u8>,
    ended: bool,
    failed: Option<String>,
    /// Number of bytes examined; one that is examined twice counts twice.
    examined: u64,
}

impl<R: BufRead> Window<R> {
    pub(super) fn new(from: R) -> Self {
        let mut window = Self {
            from,
            text: String::new(),
            at: 0,
            gone: 0,
            line: 1,
            column: 1,
            cut: Vec::new(),
            ended: false,
            failed: None,
            examined: 0,
        };
        window.ensure(1);
        if window.text.starts_with('\u{FEFF}') {
            window.text.drain(..'\u{FEFF}'.len_utf8());
        }
        window
    }

    /// The text in the window from the reading position on.
    pub(super) fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Whether `rest` reaches to the end of the file, or to where the file cannot be read.
    pub(super) fn is_whole(&self) -> bool {
        self.ended
    }

    /// Why the file could not be read to its end; returned once.
    pub(super) fn failure(&mut self) -> Option<String> {
        self.failed.take()
    }

    /// The line and the column of the reading position, from 1.
    pub(super) fn place(&self) -> (usize, usize) {
        (self.line, self.column)
    }

    /// Number of bytes examined so far, the cost of reading; one that is examined twice counts twice.
    pub(super) fn examined(&self) -> u64 {
        self.examined
    }

    /// Counts bytes of `rest` that the reader has examined without consuming them.
    pub(super) fn count(&mut self, bytes: usize) {
        self.examined += bytes as u64;
    }

    /// Number of bytes of text consumed.
    pub(super) fn passed(&self) -> usize {
        self.gone + self.at
    }

    /// Consumes bytes of `rest`.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.count(bytes);
        let passed = &self.text[self.at..self.at + bytes];
        match passed.rfind('\n') {
            Some(last) => {
                self.line += passed.matches('\n').count();
                self.column = 1 + passed[last + 1..].chars().count();
            }
            None => self.column += passed.chars().count(),
        }
        self.at += bytes;
    }

    /// Extends the window to that many bytes from the reading position on, if the file has them.
    pub(super) fn ensure(&mut self, bytes: usize) {
        while self.text.len() - self.at < bytes && self.more(bytes) {}
    }

    /// Doubles the window, so that scanning it again and again costs no more than a constant factor. It reads no
    /// further line, or piece of one, from a piece beyond `limit` on. False if the window reaches to the end of the
    /// file already.
    pub(super) fn more(&mut self, limit: usize) -> bool {
        if self.ended {
            return false;
        }
        self.text.drain(..self.at);
        self.gone += self.at;
        self.at = 0;
        let known = self.text.len();
        let wanted = (2 * known).clamp(PIECE, limit.max(PIECE) + PIECE);
        while self.text.len() < wanted && !self.ended {
            if let Err(why) = self.read() {
                self.failed = Some(why.to_string());
                self.ended = true;
            }
        }
        self.count(self.text.len() - known);
        true
    }

    /// Reads a line, or a piece of a long one: UTF-8, or else Latin-1.
    fn read(&mut self) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.cut);
        let room = (PIECE - bytes.len()) as u64;
        let count = Read::take(&mut self.from, room).read_until(b'\n', &mut bytes)?;
        self.ended = count == 0;
        match std::str::from_utf8(&bytes) {
            Ok(text) => self.text.push_str(text),
            Err(why) if why.error_len().is_none() && !self.ended => {
                self.cut = bytes.split_off(why.valid_up_to());
                self.text.push_str(&String::from_utf8_lossy(&bytes));
            }
            Err(_) => self.text.extend(bytes.iter().copied().map(char::from)),
        }
        Ok(())
    }
}
