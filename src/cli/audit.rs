//! `rulemate audit`: saves and games played again under both evaluators, and proofs checked.
//!
//! Prints a line for each game once its file is audited, and a table at the end. With `--proof`, an explanation that
//! `explain --json` printed is given to the checker of proofs, which knows facts and rules and no evaluator. Where a
//! proof supposes that the side to move has no legal action, its actions are played out to see whether that is so.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::args::{AuditArgs, DEFAULT_GAME, RulesArgs};
use super::evidence::Evidence;
use super::output::{
    Ink, Out, no_game_in, open_games, progress, read_bytes, read_text, trouble, trouble_with,
};
use super::setup::{self, Library, refusal};
use super::{Verdict, for_each_file};
use crate::audit::{self, Tally};
use crate::facts::json::parse;
use crate::moves::notation::PgnGame;
use crate::presets::save::{Difference, RestoreError, RulesFrom, Save};
use crate::presets::{Catalogue, Ruleset, past_of};
use crate::proof::{Checker, Report};
use crate::rules::plural;
use crate::rules::tree::{Finding, Goal, Outcome, Proof};

/// Stands for the name of the game where a file cannot be read that far.
const UNKNOWN: &str = "?";

/// The result of auditing one game, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Audited {
    name: String,
    game: String,
    plies: usize,
    positions: usize,
    rows: usize,
    proofs: usize,
    seconds: f64,
    /// The first difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    differs: Option<String>,
    /// The proof or refutation that belongs to that difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
}

pub(crate) fn run(args: &AuditArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    match &args.proof {
        Some(path) => check_proof(path, &args.rules, out),
        None => audit_files(args, out),
    }
}

fn audit_files(args: &AuditArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut library = Library::new(&args.rules)?;
    let mut all: Vec<Audited> = Vec::new();
    let verdict = for_each_file(&args.files, out, |path, out| {
        let (audited, is_whole) = match is_pgn(path) {
            true => audit_pgn(path, args, &mut library)?,
            false => (vec![audit_save(path, args, library.catalogue())?], true),
        };
        let mut verdict = if is_whole { Verdict::Fine } else { Verdict::Unreadable };
        for it in audited {
            verdict = verdict.max(Verdict::of(it.differs.is_some()));
            print(&it, args.json, out)?;
            all.push(it);
        }
        Ok(verdict)
    })?;
    if !args.json && !all.is_empty() {
        table(&all, out)?;
    }
    Ok(verdict)
}

fn is_pgn(path: &Path) -> bool {
    path.extension().is_some_and(|it| it.eq_ignore_ascii_case("pgn"))
}

fn audit_save(path: &Path, args: &AuditArgs, catalogue: &Catalogue) -> anyhow::Result<Audited> {
    let bytes = read_bytes(path)?;
    let bar = progress(0, "audit");
    let from = if args.rules_from_save { RulesFrom::Save } else { RulesFrom::Here };
    let mut tally = Tally::default();
    let mut game = UNKNOWN.to_owned();
    let game_of_version_1 = args.game.as_deref().unwrap_or(DEFAULT_GAME);
    let found = Save::read(&bytes, game_of_version_1).and_then(|(save, doubt)| {
        game.clone_from(&save.game);
        audit::read_save(&save, catalogue, from, &mut |it| {
            tally = *it;
            bar.set_position(it.plies as u64);
        })?;
        doubt.map_or(Ok(()), |it| Err(it.into()))
    });
    bar.finish_and_clear();
    let name = path.display().to_string();
    match found {
        Ok(()) => Ok(Audited::of(name, &game, (tally, None))),
        Err(RestoreError::Differs(it)) => Ok(Audited::of(name, &game, (tally, Some(*it)))),
        // A file that is not a save at all cannot be audited; a damaged one is a difference.
        Err(why @ RestoreError::Alien { .. }) => {
            Err(trouble_with(path, why, "audit reads saves (.json, .bin) and games (.pgn)"))
        }
        Err(why) => {
            let why = Difference::new("the file", refusal(&why).to_string());
            Ok(Audited::of(name, &game, (tally, Some(why))))
        }
    }
}

/// Audits the games of a file. Also returns whether the file could be read to its end.
fn audit_pgn(
    path: &Path,
    args: &AuditArgs,
    library: &mut Library,
) -> anyhow::Result<(Vec<Audited>, bool)> {
    let (games, bar) = open_games(path, "audit")?;
    let (mut all, mut is_whole) = (Vec::new(), true);
    for (at, game) in games.enumerate() {
        let name = format!("{}#{}", path.display(), at + 1);
        let (variant, found) = match game {
            Err(why) => {
                is_whole &= !why.fault.is_of_the_file();
                let place = format!("line {}, column {}", why.line, why.column);
                let why = Difference::new(place, why.fault.to_string());
                (UNKNOWN.into(), (Tally::default(), Some(why)))
            }
            Ok(pgn) => {
                let variant = setup::variant(args.game.as_deref(), &pgn).to_owned();
                let found = replay(&pgn, &variant, library);
                (variant, found)
            }
        };
        all.push(Audited::of(name, &variant, found));
    }
    bar.finish_and_clear();
    if all.is_empty() {
        return Err(no_game_in(path));
    }
    Ok((all, is_whole))
}

/// What was audited, and the first difference, at which the audit ends.
type Found = (Tally, Option<Difference>);

fn replay(pgn: &PgnGame, variant: &str, library: &mut Library) -> Found {
    let mut tally = Tally::default();
    let (game, rules) = match setup::start_recorded(library, variant, &[], pgn) {
        Ok(started) => started,
        Err(why) => return (tally, Some(Difference::new("the start", why.to_string()))),
    };
    let (mut game, catalogue_and_rules) =
        (setup::with_warnings(game), (library.catalogue(), &*rules));
    let audited = audit::past(&mut game, catalogue_and_rules, &past_of(pgn), &mut |it| tally = *it);
    (tally, audited.err())
}

impl Audited {
    fn of(name: String, game: &str, (tally, differs): Found) -> Self {
        Self {
            name,
            game: game.to_string(),
            plies: tally.plies,
            positions: tally.positions,
            rows: tally.rows,
            proofs: tally.proofs,
            seconds: tally.time.as_secs_f64(),
            differs: differs.as_ref().map(ToString::to_string),
            proof: differs.and_then(|it| it.proof),
        }
    }
}

fn print(audited: &Audited, json: bool, out: &mut Out) -> anyhow::Result<()> {
    if json {
        return out.json_line(audited);
    }
    match &audited.differs {
        None => {
            let ok = out.ink(Ink::Good, "ok");
            out.line(format_args!("{} {ok} {}", audited.name, plural(audited.plies, "ply")))?;
        }
        Some(what) => {
            let differs = out.ink(Ink::Bad, "differs");
            out.line(format_args!("{} {differs} at {what}", audited.name))?;
            for line in audited.proof.iter().flat_map(|it| it.lines()) {
                out.line(format_args!("  {line}"))?;
            }
        }
    }
    Ok(())
}

fn table(all: &[Audited], out: &mut Out) -> anyhow::Result<()> {
    let sum = |f: &dyn Fn(&Audited) -> usize| all.iter().map(f).sum::<usize>();
    let seconds: f64 = all.iter().map(|it| it.seconds).sum();
    let plies = sum(&|it| it.plies);
    let rows = [
        ("games", all.len()),
        ("with a difference", sum(&|it| usize::from(it.differs.is_some()))),
        ("plies", plies),
        ("positions compared", sum(&|it| it.positions)),
        ("rows compared", sum(&|it| it.rows)),
        ("proofs checked", sum(&|it| it.proofs)),
        ("plies a second", (plies as f64 / seconds.max(1e-9)) as usize),
    ];
    out.line("")?;
    for (name, value) in rows {
        out.line(format_args!("{name:<20}{value:>12}"))?;
    }
    Ok(())
}

/// What `explain --json` prints as the question whether the game is over.
const OF_RESULT: &str = "result";
/// What it prints as the question whether the side to move keeps the turn after every action. (That after one action is
/// `turn after MOVE`.)
const OF_ALL_TURNS: &str = "turn";

/// What `explain --json` prints, as far as a check needs it.
#[derive(Debug, Deserialize)]
struct Answer {
    question: String,
    holds: bool,
    finding: Finding,
    position: Option<Evidence>,
}

fn check_proof(path: &Path, rules: &RulesArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let text = read_text(path)?;
    let fix = "pipe in what `rulemate explain --json` prints";
    let answer: Answer = parse(&text).map_err(|why| trouble_with(path, why, fix))?;
    let position = answer.position.as_ref().ok_or_else(|| {
        trouble(
            "the explanation lacks the position that it is about",
            "explain it again with --json",
        )
    })?;
    let question = &answer.question;
    match check_answer(&answer, position, &mut Library::new(rules)?)? {
        Ok(report) => {
            let ok = out.ink(Ink::Good, "ok");
            out.line(format_args!("{question}: {ok}, {}", goals_of(&answer.finding)))?;
            print_report(report, out)?;
            Ok(Verdict::Fine)
        }
        Err(why) => {
            let wrong = out.ink(Ink::Bad, "wrong");
            out.line(format_args!("{question}: {wrong}: {why}"))?;
            Ok(Verdict::Findings)
        }
    }
}

/// Checks an answer about a position. The inner error is what is wrong with the answer.
fn check_answer(
    answer: &Answer,
    position: &Evidence,
    library: &mut Library,
) -> anyhow::Result<Result<Report, String>> {
    let (rules, facts) = position.restore(library)?;
    let mut checker = Checker::new(rules.program(), &facts);
    let report = match checker.finding(&answer.finding) {
        Ok(report) => report,
        Err(why) => return Ok(Err(why.to_string())),
    };
    if !supports(answer, &rules) {
        return Ok(Err("the answer is not what is proved".to_owned()));
    }
    if supposes_no_action(answer, &rules) && !position.is_stuck(&rules)? {
        return Ok(Err("the side to move has a legal action".to_owned()));
    }
    Ok(Ok(report))
}

/// Prints what a check of a proof consisted of.
fn print_report(report: Report, out: &mut Out) -> anyhow::Result<()> {
    let Report { steps, absent, comparisons, aggregates, effects, open, code } = report;
    let counts = [
        (steps, "step"),
        (absent, "denial"),
        (comparisons, "comparison"),
        (aggregates, "aggregate"),
        (effects, "effect"),
    ];
    let counts = counts.map(|(count, noun)| plural(count, noun)).join(", ");
    out.line(format_args!("  {counts}"))?;
    if open > 0 {
        let rows = plural(open, "row");
        out.line(format_args!(
            "  not proved in the tree, which ends at its depth, but derived anew: {rows}"
        ))?;
    }
    if code > 0 {
        let trials = plural(code, "trial");
        out.line(format_args!(
            "  not checked from the call of code on, since what code does is not in the rules: {trials}"
        ))?;
    }
    Ok(())
}

/// Whether a row of the relation says why a move is not legal: because the move is refused (`refusals`), or because the
/// game is over, be it that the side to move has no legal action (`stuck`) or not (`over`).
fn denies_moves(rules: &Ruleset, relation: &str) -> bool {
    let (program, contract) = (rules.program(), rules.contract());
    let ends = [Some(contract.over), contract.stuck].into_iter().flatten();
    let refusals = program.actions.iter().filter_map(|it| it.refusals);
    ends.chain(refusals).any(|it| program.relation(it).name == relation)
}

/// Whether the proof shows less than the answer says: the answer is that the game is over, or that a move is not legal,
/// and the proof is one of the result that the game would have if the side to move had no action.
fn supposes_no_action(answer: &Answer, rules: &Ruleset) -> bool {
    let Finding::Proved(all) = &answer.finding else { return false };
    let is_about_end = !answer.holds || answer.question == OF_RESULT;
    let stuck = rules.contract().stuck.map(|it| &rules.program().relation(it).name);
    is_about_end && all.first().is_some_and(|it| Some(&it.relation) == stuck)
}

/// Whether the finding supports the answer, or, for a question about all actions, at least fits it.
fn supports(answer: &Answer, rules: &Ruleset) -> bool {
    match &answer.finding {
        // For a move that is not legal, the proof is of what forbids it.
        Finding::Proved(all) => {
            all.first().is_some_and(|it| answer.holds || denies_moves(rules, &it.relation))
        }
        Finding::Refuted(all) => !all.is_empty() && !answer.holds,
        // For a question about all actions, the finding is about one of them. If the answer is no, this one may still
        // keep the turn: another passes it.
        Finding::Turned(it) => {
            it.keeps() == answer.holds || it.keeps() && answer.question == OF_ALL_TURNS
        }
        Finding::Tried(it) => answer.holds == matches!(it.outcome, Outcome::Tenable { .. }),
        Finding::Unfounded => !answer.holds,
    }
}

/// What a finding shows: the rows that it proves or refutes, or the action that it plays out.
fn goals_of(finding: &Finding) -> String {
    let (what, goals): (&str, Vec<String>) = match finding {
        Finding::Proved(all) => {
            let row = |it: &Proof| Goal::of(&it.relation, &it.tuple).to_string();
            ("proved", all.iter().map(row).collect())
        }
        Finding::Refuted(all) => ("refuted", all.iter().map(|it| it.goal.to_string()).collect()),
        Finding::Tried(it) => ("tried", vec![it.action.to_string()]),
        Finding::Turned(it) => {
            ("tried", vec![format!("{} and whose turn follows", it.trial.action)])
        }
        Finding::Unfounded => ("nothing to check", Vec::new()),
    };
    format!("{what} {}", goals.join(", ")).trim_end().to_owned()
}
