//! A window on the file that is being read. The file is read in pieces, and consumed text is dropped, so that memory
//! is bounded by the size limit of one game.

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
    /// The first bytes of a character whose other bytes are in the next piece.
    cut: Vec<u8>,
    /// Whether the text reaches to the end of the file, or to where it cannot be read.
    is_whole: bool,
    /// Why the file cannot be read to its end, until that has been reported.
    failure: Option<String>,
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
            is_whole: false,
            failure: None,
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
        self.is_whole
    }

    /// Why the file could not be read to its end; returned once.
    pub(super) fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
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
        while self.text.len() - self.at < bytes && self.grow(bytes) {}
    }

    /// Doubles the window, but stops once it is a piece longer than `limit`. Thanks to the doubling, scanning the window
    /// anew each time costs only a constant factor. False if the window reaches to the end of the file already.
    pub(super) fn grow(&mut self, limit: usize) -> bool {
        if self.is_whole {
            return false;
        }
        self.text.drain(..self.at);
        self.gone += self.at;
        self.at = 0;
        let known = self.text.len();
        let wanted = (2 * known).clamp(PIECE, limit.max(PIECE) + PIECE);
        while self.text.len() < wanted && !self.is_whole {
            if let Err(why) = self.read() {
                self.failure = Some(why.to_string());
                self.is_whole = true;
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
        self.is_whole = count == 0;
        let begins = self.gone == 0 && self.text.is_empty();
        if begins && (bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF])) {
            return Err(io::Error::other("it is UTF-16 (save it as UTF-8)"));
        }
        match std::str::from_utf8(&bytes) {
            Ok(text) => self.text.push_str(text),
            Err(why) if why.error_len().is_none() && !self.is_whole => {
                self.cut = bytes.split_off(why.valid_up_to());
                self.text.push_str(&String::from_utf8_lossy(&bytes));
            }
            Err(_) => self.text.extend(bytes.iter().copied().map(char::from)),
        }
        Ok(())
    }
}
