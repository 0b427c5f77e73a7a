//! The terminal: standard output with or without colour, progress on standard error, and errors
//! that say cause and fix.
//!
//! Colour is used only where standard output is a terminal and `NO_COLOR` is not set. Progress bars
//! are drawn only where standard error is a terminal, so pipes and logs stay clean.

use std::fmt::{self, Display};
use std::io::{self, IsTerminal, Read, StdoutLock, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

/// Standard output of a command, buffered; [`Out::flush`] is called once at the end.
pub(crate) struct Out {
    out: io::BufWriter<StdoutLock<'static>>,
    paint: bool,
}

/// What a stretch of text is, for colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    Good,
    Bad,
    Dim,
    Strong,
}

impl Out {
    pub(crate) fn stdout() -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
        let paint = !no_color && io::stdout().is_terminal();
        Self { out: io::BufWriter::new(io::stdout().lock()), paint }
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
        let code = match ink {
            Ink::Good => "32",
            Ink::Bad => "31",
            Ink::Dim => "2",
            Ink::Strong => "1",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// One line.
    pub(crate) fn line(&mut self, text: impl Display) -> io::Result<()> {
        writeln!(self.out, "{text}")
    }

    /// A JSON value over several lines.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(value)?;
        Ok(self.line(text)?)
    }

    /// A JSON value on one line, for commands that print one object per item.
    pub(crate) fn json_line(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let text = serde_json::to_string(value)?;
        Ok(self.line(text)?)
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

/// A progress bar of `steps` steps, unseen unless standard error is a terminal.
pub(crate) fn progress(steps: u64, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} {elapsed} {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_prefix(what);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// An error of the user's making: what is wrong, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub(crate) struct Trouble {
    cause: String,
    fix: String,
}

/// Builds a [`Trouble`].
pub(crate) fn trouble(cause: impl Display, fix: impl Display) -> anyhow::Error {
    Trouble { cause: cause.to_string(), fix: fix.to_string() }.into()
}

/// Says what to do about an error of a layer below.
pub(crate) trait OrFix<T> {
    fn or_fix(self, fix: impl Display) -> anyhow::Result<T>;
}

impl<T, E: Display> OrFix<T> for Result<T, E> {
    fn or_fix(self, fix: impl Display) -> anyhow::Result<T> {
        self.map_err(|cause| trouble(cause, fix))
    }
}

/// Reads a file; `-` is standard input.
pub(crate) fn read_bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).context("standard input")?;
        return Ok(bytes);
    }
    std::fs::read(path).map_err(|why| {
        trouble(format!("{}: {why}", path.display()), "name a file that can be read")
    })
}

/// Reads a text file; `-` is standard input.
pub(crate) fn read_text(path: &Path) -> anyhow::Result<String> {
    String::from_utf8(read_bytes(path)?)
        .map_err(|why| trouble(format!("{}: {why}", path.display()), "save the file as UTF-8"))
}

/// Whether an error only says that nobody reads our output any more.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|it| {
        it.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// Prints what somebody should know, though nothing is wrong with what was asked.
pub(crate) fn warn(text: impl Display) {
    let _ = writeln!(io::stderr(), "warning: {text}");
}

/// Prints an error: the chain of causes in a line, the fix in the next.
pub(crate) fn report(error: &anyhow::Error) {
    let mut text = format!("error: {}", Chain(error));
    if let Some(it) = error.chain().find_map(|it| it.downcast_ref::<Trouble>()) {
        text.push_str(&format!("\n  help: {}", it.fix));
    }
    // Nothing is left to be done if standard error is gone too.
    let _ = writeln!(io::stderr(), "{text}");
}

struct Chain<'a>(&'a anyhow::Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, cause) in self.0.chain().enumerate() {
            let sep = if at == 0 { "" } else { ": " };
            write!(f, "{sep}{cause}")?;
        }
        Ok(())
    }
}
