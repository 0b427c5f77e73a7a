//! The terminal: standard output with or without colour, progress on standard error, and errors with cause
//! and fix.
//!
//! Colour is used only where standard output is a terminal and `NO_COLOR` is unset or empty. Progress bars
//! are drawn only where standard error is a terminal, so pipes and logs stay clean.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use serde::Serialize;

use crate::facts::{escaped, printable};
use crate::moves::notation::{PgnError, PgnReader};

/// Standard output of a command, buffered. [`Out::flush`] is called at the end, and by commands that go on for long or
/// wait for an answer.
pub(crate) struct Out {
    out: io::BufWriter<io::Stdout>,
    paint: bool,
}

/// The meaning of a piece of text, for its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    Good,
    Bad,
    Dim,
    Strong,
}

/// The escape codes that [`Out::ink`] writes: one for each [`Ink`], in their order, and [`RESET`].
const CODES: [&str; 5] = ["\x1b[32m", "\x1b[31m", "\x1b[2m", "\x1b[1m", RESET];
/// The escape code that [`Out::ink`] writes behind a text.
const RESET: &str = "\x1b[0m";

impl Out {
    pub(crate) fn stdout() -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
        let paint = !no_color && io::stdout().is_terminal();
        Self { out: io::BufWriter::new(io::stdout()), paint }
    }

    /// Whether colour may be used.
    pub(crate) fn paints(&self) -> bool {
        self.paint
    }

    /// The text in a colour, or as it is.
    pub(crate) fn ink(&self, ink: Ink, text: impl Display) -> String {
        if !self.paint {
            return text.to_string();
        }
        format!("{}{text}{RESET}", CODES[ink as usize])
    }

    /// As [`Out::text`], with a line end.
    pub(crate) fn line(&mut self, text: impl Display) -> anyhow::Result<()> {
        self.text(text)?;
        Ok(self.out.write_all(b"\n")?)
    }

    /// Text without a line end. Since it may come from a file, a tag or a rule, invisible characters are escaped, among
    /// them those that control a terminal; the codes that [`Out::ink`] writes are not.
    pub(crate) fn text(&mut self, text: impl Display) -> anyhow::Result<()> {
        let text = text.to_string();
        let mut rest = text.as_str();
        while let Some((before, code, after)) = self.next_code(rest) {
            self.out.write_all(printable(before).as_bytes())?;
            self.out.write_all(code.as_bytes())?;
            rest = after;
        }
        Ok(self.out.write_all(printable(rest).as_bytes())?)
    }

    /// Text that was escaped already and may have colours of its own, with a line end.
    pub(crate) fn painted(&mut self, text: &str) -> anyhow::Result<()> {
        Ok(writeln!(self.out, "{text}")?)
    }

    /// Splits a text at the first of our own colour codes.
    fn next_code<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str, &'t str)> {
        let codes = if self.paint { CODES.as_slice() } else { &[] };
        let found = text.match_indices('\x1b').find_map(|(at, _)| {
            codes.iter().find(|it| text[at..].starts_with(**it)).map(|it| (at, it.len()))
        });
        found.map(|(at, length)| (&text[..at], &text[at..at + length], &text[at + length..]))
    }

    /// A JSON value over several lines.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(value)?;
        self.painted(&escaped(&text))
    }

    /// A JSON value on one line, for commands that print one object per item.
    pub(crate) fn json_line(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let text = serde_json::to_string(value)?;
        self.painted(&escaped(&text))
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A progress bar of `steps` steps, hidden unless standard error is a terminal.
pub(crate) fn progress(steps: u64, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} {elapsed} {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_prefix(what);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A clock on standard error that counts up to a number of seconds, until it is dropped; hidden unless standard error
/// is a terminal.
pub(crate) fn waiting(seconds: u64, what: &'static str) -> ProgressBar {
    let bar = progress(seconds, what);
    let style = ProgressStyle::with_template("{prefix} {spinner} {elapsed} of {len} s");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.with_finish(ProgressFinish::AndClear)
}

/// The games of a PGN file (`-` is standard input) as they are read, with a progress bar for the file.
pub(crate) fn open_games(
    path: &Path,
    what: &'static str,
) -> anyhow::Result<(PgnReader<impl BufRead + use<>>, ProgressBar)> {
    let bar = progress(0, what);
    let style = ProgressStyle::with_template("{prefix} {bar:30} {bytes}/{total_bytes} {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let (from, size) = open(path).map_err(|why| unreadable(path, why))?;
    match size {
        Some(size) => bar.set_length(size),
        None => bar.unset_length(),
    }
    Ok((PgnReader::over(BufReader::new(bar.wrap_read(from))), bar))
}

/// Opens a file, and says how large it is; `-` is standard input, whose size is not known.
fn open(path: &Path) -> io::Result<(Box<dyn Read>, Option<u64>)> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(io::stdin()), None));
    }
    let file = File::open(path)?;
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok((Box::new(file), Some(about.len())))
}

/// The error for a file that cannot be read.
fn unreadable(path: &Path, why: io::Error) -> anyhow::Error {
    trouble_with(path, why, "name a file that can be read")
}

/// A user error: what is wrong, and how to fix it.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub(crate) struct UserError {
    cause: String,
    fix: String,
}

/// Builds a [`UserError`].
pub(crate) fn trouble(cause: impl Display, fix: impl Display) -> anyhow::Error {
    UserError { cause: cause.to_string(), fix: fix.to_string() }.into()
}

/// [`trouble`] with a file.
pub(crate) fn trouble_with(path: &Path, why: impl Display, fix: impl Display) -> anyhow::Error {
    trouble(format!("{}: {why}", path.display()), fix)
}

/// The error for a PGN file without games.
pub(crate) fn no_game_in(path: &Path) -> anyhow::Error {
    trouble_with(path, "no game in it", "name a PGN file")
}

/// The error for a game of a PGN file that cannot be read.
pub(crate) fn unreadable_game(why: &PgnError) -> anyhow::Error {
    trouble(why.within_game(), "`rulemate referee` says more about a file")
}

/// Adds a fix to an error of a lower layer.
pub(crate) trait OrFix<T> {
    fn or_fix(self, fix: impl Display) -> anyhow::Result<T>;
}

impl<T, E: Display> OrFix<T> for Result<T, E> {
    fn or_fix(self, fix: impl Display) -> anyhow::Result<T> {
        self.map_err(|cause| trouble(cause, fix))
    }
}

/// Maximum size of a file that is read as a whole, in bytes.
const MAX_WHOLE: u64 = 256 << 20;

/// Reads a file of at most [`MAX_WHOLE`] bytes; `-` is standard input.
pub(crate) fn read_bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    let (from, size) = open(path).map_err(|why| unreadable(path, why))?;
    let size = size.unwrap_or(0);
    let mut bytes = Vec::new();
    if size <= MAX_WHOLE {
        // The size of a device is 0, but it may be without end.
        let read = from.take(MAX_WHOLE + 1).read_to_end(&mut bytes);
        read.map_err(|why| unreadable(path, why))?;
    }
    if size.max(bytes.len() as u64) > MAX_WHOLE {
        let limit = MAX_WHOLE >> 20;
        let why = format!("a file that is read as a whole may have {limit} MB, this one has more");
        let fix = "a save takes less in its binary form: `rulemate save FILE.bin`";
        return Err(trouble_with(path, why, fix));
    }
    Ok(bytes)
}

/// Reads a text file; `-` is standard input.
pub(crate) fn read_text(path: &Path) -> anyhow::Result<String> {
    String::from_utf8(read_bytes(path)?)
        .map_err(|why| trouble_with(path, why, "save the file as UTF-8"))
}

/// Whether the cause of an error is that the reader of our output has closed the pipe.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|it| {
        it.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// Prints a warning on standard error.
pub(crate) fn warn(text: impl Display) {
    say(format_args!("warning: {text}"));
}

/// Prints a message on standard error. A failure is ignored: there is no other place to report it.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(io::stderr(), "{}", printable(&text.to_string()));
}

/// Prints an error: the chain of causes with colons between them, and the fix on a line of its own.
pub(crate) fn report(error: &anyhow::Error) {
    let mut text = format!("error: {error:#}");
    if let Some(it) = error.chain().find_map(|it| it.downcast_ref::<UserError>()) {
        text.push_str(&format!("\n  help: {}", it.fix));
    }
    say(text);
}
