//! The command line: one binary, one file per command, exit codes for scripts.
//!
//! [`run`] is all that `main` calls. Every command is a function from its arguments and an output
//! to a `Verdict`; this file alone maps verdicts and errors to exit codes. Nothing here knows the
//! rules of any game.

mod args;
mod audit;
pub mod bench;
mod board;
mod check;
mod evidence;
mod explain;
mod facts;
mod lists;
mod lsp;
mod manual;
#[cfg(feature = "server")]
mod moderate;
mod moves;
mod names;
mod new;
mod output;
mod page;
mod perft;
mod play;
mod profile;
mod protocol;
mod query;
mod referee;
mod saves;
#[cfg(feature = "server")]
mod serve;
#[cfg(feature = "server")]
mod server_args;
mod setup;
mod svg;
mod test;
mod verify;
mod watch;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command, PresetsArgs};
use output::Out;

/// How a command ended, if not by an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    Fine,
    /// The command ran and found something: an illegal move, a failed row, a rule error.
    Findings,
    /// Some of the input could not be read, which was reported; the rest was processed.
    Unreadable,
}

impl Verdict {
    /// Findings if there are any.
    pub(crate) fn of(findings: bool) -> Self {
        if findings { Self::Findings } else { Self::Fine }
    }
}

/// Does a command's work on each file. A file that cannot be read is reported, and the others still follow.
///
/// # Errors
/// The output is no longer read.
fn for_each_file(
    files: &[PathBuf],
    out: &mut Out,
    mut work: impl FnMut(&Path, &mut Out) -> anyhow::Result<Verdict>,
) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::Fine;
    for file in files {
        let ended = work(file, out);
        out.flush()?;
        verdict = verdict.max(match ended {
            Ok(ended) => ended,
            Err(error) if output::is_broken_pipe(&error) => return Err(error),
            Err(error) => {
                output::report(&error);
                Verdict::Unreadable
            }
        });
    }
    Ok(verdict)
}

/// Exit code of wrong usage and of input that cannot be read.
const USAGE: u8 = 2;

/// Runs the command that the process was started with.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let mut out = Out::stdout();
    let ended = dispatch(&cli.command, &mut out).and_then(|verdict| {
        out.flush()?;
        Ok(verdict)
    });
    match ended {
        Ok(Verdict::Fine) => ExitCode::SUCCESS,
        Ok(Verdict::Findings) => ExitCode::FAILURE,
        Ok(Verdict::Unreadable) => ExitCode::from(USAGE),
        // The reader of our output has closed the pipe.
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Output from before the error is still printed.
            let _ = out.flush();
            output::report(&error);
            ExitCode::from(USAGE)
        }
    }
}

fn dispatch(command: &Command, out: &mut Out) -> anyhow::Result<Verdict> {
    match command {
        Command::Games(args) => lists::games(args, out),
        Command::Presets(args) => presets(args, out),
        Command::Layouts(args) => lists::layouts(args, out),
        Command::Play(args) => play::run(args, out),
        Command::Moves(args) => moves::run(args, out),
        Command::Perft(args) => perft::run(args, out),
        Command::Referee(args) => referee::run(args, out),
        Command::Explain(args) => explain::run(args, out),
        Command::Save(args) => saves::save(args, out),
        Command::Load(args) => saves::load(args, out),
        Command::Diff(args) => saves::diff(args, out),
        Command::Audit(args) => audit::run(args, out),
        Command::Query(args) => query::run(args, out),
        Command::Facts(args) => facts::run(args, out),
        Command::Profile(args) => profile::run(args, out),
        Command::Check(args) => check::run(args, out),
        Command::New(args) => new::run(args, out),
        Command::Test(args) => test::run(args, out),
        Command::Verify(args) => verify::run(args, out),
        Command::Bench(args) => bench::run(args, out),
        Command::Uci(args) => protocol::uci(args, out),
        Command::Xboard(args) => protocol::xboard(args, out),
        Command::Lsp => lsp::run(),
        #[cfg(feature = "server")]
        Command::Serve(args) => serve::run(args, out),
        #[cfg(feature = "server")]
        Command::Backup(args) => serve::backup(args, out),
        #[cfg(feature = "server")]
        Command::Doctor(args) => serve::doctor(args, out),
        #[cfg(feature = "server")]
        Command::Moderate(args) => moderate::moderate(args, out),
        #[cfg(feature = "server")]
        Command::Prune(args) => moderate::prune(args, out),
        Command::Completions(args) => manual::completions(args, out),
        Command::Man(args) => manual::man(args, out),
    }
}

fn presets(args: &PresetsArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    match &args.pages {
        Some(dir) => page::write_all(dir, &args.list.rules, out),
        None => lists::presets(&args.list, out),
    }
}

/// This user's folder for Rulemate (XDG base directories): in the folder that a variable names, or else in the home
/// folder. An empty variable counts as unset.
fn user_folder(variable: &str, in_home: &str) -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let folder = set(variable).or_else(|| Some(set("HOME")?.join(in_home)));
    folder.map(|it| it.join("rulemate"))
}

/// The grammar of the command line, for documents and completions.
pub fn grammar() -> clap::Command {
    Cli::command()
}
