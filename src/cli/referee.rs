//! `rulemate referee`: replays games from PGN and judges every move and the result.
//!
//! Prints a line per game, with explanations indented below it. A game is refused at the first move that the rules do not
//! allow, with the refutation down to rule file and line. A result that the board contradicts is a finding too; a result
//! that the board does not decide (a resignation, an agreed draw) is reported as such.

use std::path::Path;

use serde::Serialize;

use super::args::RefereeArgs;
use super::explain::play_text;
use super::names;
use super::output::{Ink, Out, no_game_in, open_games};
use super::setup::{self, Library};
use super::{Verdict, for_each_file};
use crate::game::{Finding, Game, PlayError};
use crate::moves::notation::{MoveError, PgnError, PgnGame, PgnMove, PgnResult};
use crate::presets::Ruleset;

/// The result of one game.
#[derive(Debug, Serialize)]
struct GameOutcome {
    file: String,
    /// The number of the game in its file, from 1.
    number: usize,
    variant: String,
    /// The parts that had to be left out of the first position.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(flatten)]
    ruling: Ruling,
}

#[derive(Debug, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
enum Ruling {
    /// Every move is legal.
    Ok {
        result: String,
        note: String,
        /// Whether the board contradicts the file's result, or the file contradicts itself.
        contradicted: bool,
    },
    Refused {
        /// `3. Nf3`
        at: String,
        line: usize,
        column: usize,
        reason: String,
        finding: Finding,
        /// The finding as indented text.
        #[serde(skip)]
        tree: String,
    },
    /// The game could not be set up or read.
    Unreadable { reason: String },
}

pub(crate) fn run(args: &RefereeArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut library = Library::new(&args.rules)?;
    for_each_file(&args.files, out, |path, out| judge_file(&mut library, args, path, out))
}

fn judge_file(
    library: &mut Library,
    args: &RefereeArgs,
    path: &Path,
    out: &mut Out,
) -> anyhow::Result<Verdict> {
    let (games, bar) = open_games(path, "referee")?;
    let mut verdict = Verdict::Fine;
    let mut count = 0;
    for game in games {
        if matches!(&game, Err(it) if it.fault.is_of_the_file()) {
            verdict = Verdict::Unreadable;
        }
        count += 1;
        let judged = judge(library, args.game.as_deref(), path, count, game);
        let fine = matches!(judged.ruling, Ruling::Ok { contradicted: false, .. });
        verdict = verdict.max(Verdict::of(!fine));
        bar.suspend(|| print(&judged, args.json, out).and_then(|()| Ok(out.flush()?)))?;
    }
    bar.finish_and_clear();
    if count == 0 { Err(no_game_in(path)) } else { Ok(verdict) }
}

fn print(judged: &GameOutcome, json: bool, out: &mut Out) -> anyhow::Result<()> {
    if json {
        return out.json_line(judged);
    }
    let head = format!("{}#{}", judged.file, judged.number);
    match &judged.ruling {
        Ruling::Ok { result, note, contradicted } => {
            let ok = out.ink(Ink::Good, "ok");
            out.line(format_args!("{head} {ok} {result}"))?;
            let note = out.ink(if *contradicted { Ink::Bad } else { Ink::Dim }, note);
            out.line(format_args!("  {note}"))?;
        }
        Ruling::Refused { at, reason, tree, .. } => {
            let refused = out.ink(Ink::Bad, "refused");
            out.line(format_args!("{head} {refused} at move {at}: {reason}"))?;
            for line in tree.lines() {
                out.line(format_args!("  {line}"))?;
            }
        }
        Ruling::Unreadable { reason } => {
            let refused = out.ink(Ink::Bad, "refused");
            out.line(format_args!("{head} {refused}: {reason}"))?;
        }
    }
    for warning in &judged.warnings {
        out.line(format_args!("  in the first position: {warning}"))?;
    }
    Ok(())
}

fn judge(
    library: &mut Library,
    name: Option<&str>,
    path: &Path,
    number: usize,
    read: Result<PgnGame, PgnError>,
) -> GameOutcome {
    let file = path.display().to_string();
    let judged = |variant: &str, warnings: Vec<String>, ruling| GameOutcome {
        file,
        number,
        variant: variant.to_owned(),
        warnings,
        ruling,
    };
    let pgn = match read {
        Ok(pgn) => pgn,
        Err(why) => {
            let ruling = Ruling::Unreadable { reason: why.within_game() };
            return judged(name.unwrap_or("?"), Vec::new(), ruling);
        }
    };
    let variant = setup::variant(name, &pgn);
    match setup::start_recorded(library, variant, &[], &pgn) {
        Ok((mut game, rules)) => {
            let warnings = game.warnings().iter().map(ToString::to_string).collect();
            let ruling = replay(&mut game, &pgn, library, &rules);
            let unreadable = |why: anyhow::Error| Ruling::Unreadable { reason: why.to_string() };
            judged(variant, warnings, ruling.unwrap_or_else(unreadable))
        }
        Err(why) => judged(variant, Vec::new(), Ruling::Unreadable { reason: why.to_string() }),
    }
}

/// Plays the moves, and changes presets as comments say.
///
/// # Errors
/// The presets of a comment cannot be activated.
fn replay(
    game: &mut Game,
    pgn: &PgnGame,
    library: &Library,
    rules: &Ruleset,
) -> anyhow::Result<Ruling> {
    library.switch(rules, game, &pgn.comments)?;
    for mv in &pgn.moves {
        let at = names::numbered(game, &mv.text);
        if let Err(refusal) = play_text(game, &mv.text) {
            return Ok(refused(game, mv, at, refusal));
        }
        library.switch(rules, game, &mv.comments)?;
    }
    Ok(conclude(game, pgn))
}

fn refused(game: &mut Game, mv: &PgnMove, at: String, refusal: PlayError) -> Ruling {
    let (reason, finding) = match refusal {
        PlayError::Illegal(it) => (it.reasons.join("; "), it.finding),
        PlayError::Text(MoveError { reason, .. }) => (reason.to_string(), Finding::Unfounded),
        other @ (PlayError::Over { .. } | PlayError::Refused(_) | PlayError::Limit(_)) => {
            (other.to_string(), Finding::Unfounded)
        }
    };
    let tree = game.tree(&finding);
    Ruling::Refused { at, line: mv.line, column: mv.column, reason, finding, tree }
}

/// Compares the result that the file gives with the board's own.
fn conclude(game: &mut Game, pgn: &PgnGame) -> Ruling {
    // The tag `Result` may write the result in another way than the end of the movetext does.
    let plain = |it: &str| PgnResult::parse(it).map_or_else(|| it.to_owned(), |it| it.to_string());
    let tag = pgn.tag("Result").map(plain).filter(|it| !matches!(it.as_str(), "*" | "?" | ""));
    let marker = pgn.result.map(|it| it.to_string()).filter(|it| it != "*");
    let stated = marker.clone().or(tag.clone());
    let claims = game.claims();
    let score = |winner: Option<i64>| PgnResult::of(winner.map(|it| it == 0)).to_string();
    let board = game.result().map(|it| (score(it.winner), it.reason.replace('_', " ")));
    let (result, mut note, mut contradicted) = match (stated, board) {
        (Some(stated), Some((board, reason))) if stated == board => {
            (stated, format!("by {reason}"), false)
        }
        (Some(stated), Some((board, reason))) => {
            let note = format!("the file says {stated}, the board says {board} by {reason}");
            (board, note, true)
        }
        (None, Some((board, reason))) => {
            let note = format!("the file gives no result, the board says {board} by {reason}");
            (board, note, false)
        }
        (Some(stated), None) => {
            let note = unfinished(&stated, &claims);
            (stated, note, false)
        }
        (None, None) => ("*".to_owned(), "unfinished: the position is not over".to_owned(), false),
    };
    if let (Some(tag), Some(marker)) = (tag, marker)
        && tag != marker
    {
        note.push_str(&format!("; the Result tag says {tag}, the last word {marker}"));
        contradicted = true;
    }
    Ruling::Ok { result, note, contradicted }
}

/// How a game may have ended with a stated result that the board does not decide.
fn unfinished(stated: &str, claims: &[String]) -> String {
    let how = match (stated, claims) {
        ("1/2-1/2", []) => "by agreement".to_owned(),
        ("1/2-1/2", claims) => {
            format!("by claim ({}) or agreement", claims.join(", ").replace('_', " "))
        }
        _ if PgnResult::parse(stated).is_none() => format!("{stated} is no result"),
        _ => "by resignation, time or adjudication".to_owned(),
    };
    format!("{how}: the position is not over")
}
