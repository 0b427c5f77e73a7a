//! `rulemate profile`: finds the rules that a game spends its time on.
//!
//! A game is played three times: to warm up, to measure the whole time, and to count the evaluator's instructions by
//! rule. The time of a rule is estimated as its share of the instructions: each takes about the same time, and reading a
//! clock between two would take longer than they do.

use std::time::Instant;

use anyhow::Context;
use serde::Serialize;

use super::Verdict;
use super::args::{PositionArgs, ProfileArgs};
use super::output::{Out, no_game_in, open_games, trouble, unreadable_game};
use super::setup;
use crate::facts::nearest;
use crate::game::Game;
use crate::moves::played_out;
use crate::presets::switched;
use crate::rules::{Program, Role, Span, plural};

/// Plies of a random game.
const PLIES: usize = 40;

/// The cost of one rule or reaction.
#[derive(Debug, Serialize)]
struct Line {
    place: String,
    /// The relation that the rule concludes; `reaction` for reactions.
    relation: String,
    /// Instructions that the evaluator ran for it.
    operations: u64,
    /// Its share of the operations of all rules and reactions.
    share: f64,
    /// Estimated by share.
    micros: f64,
}

/// A profile, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Profile {
    plies: usize,
    /// Instructions that the evaluator ran.
    operations: u64,
    micros: f64,
    rules: Vec<Line>,
    /// Why actions are played out to see whether they are legal, and how rules can declare that this is not
    /// needed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

pub(crate) fn run(args: &ProfileArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    if let Some(of) = &args.plan {
        let game = setup::open(&args.position)?.game;
        plan(&game, of)?.into_iter().try_for_each(|it| out.line(it))?;
        return Ok(Verdict::Fine);
    }
    let (game, moves) = subject(args)?;
    // A first run to warm up: statics, memory.
    play(&mut game.clone(), &moves)?;
    let started = Instant::now();
    play(&mut game.clone(), &moves)?;
    let micros = started.elapsed().as_secs_f64() * 1e6;
    let mut counting = game.clone();
    counting.world_mut().count_operations(true);
    play(&mut counting, &moves)?;
    let counts = counting.world().operations();
    let notes = played_out(game.program(), game.contract().untenable);
    let notes = notes.into_iter().map(|it| it.1).collect();
    let profile = profile(game.program(), &counts, moves.len(), micros, notes);
    if args.json {
        out.json(&profile)?
    } else {
        print(&profile, args.top, out)?
    }
    Ok(Verdict::Fine)
}

/// The plans of a relation, or of the rule at a place: lines of `World::plan_text`, which has a line for each relation,
/// below it the places of its rules, two spaces in, and below each place its instructions.
fn plan(game: &Game, of: &str) -> anyhow::Result<Vec<String>> {
    let text = game.world().plan_text();
    let (mut found, mut head, mut is_relation, mut is_rule) = (Vec::new(), "", false, false);
    for line in text.lines() {
        let place = line.strip_prefix("  ").filter(|it| !it.starts_with(' '));
        if let Some(place) = place {
            is_rule = place == of || place.ends_with(&format!("/{of}"));
        } else if !line.starts_with(' ') {
            (head, is_rule) = (line, false);
            is_relation = line.split_once(": ").is_some_and(|it| it.0 == of);
        }
        if is_rule && place.is_some() && !is_relation {
            found.push(head.to_owned());
        }
        if is_relation || is_rule {
            found.push(line.to_owned());
        }
    }
    if !found.is_empty() {
        return Ok(found);
    }
    let names = text.lines().filter_map(|it| Some(it.split_once(": ")?.0));
    let near = nearest(of, names.filter(|it| !it.starts_with(' ')));
    let program = game.program();
    let role = program.relation_named(of).map(|it| &program.relation(it).role);
    let fix = match (role, near) {
        (Some(Role::Derived), _) => "its rows are known before the game begins",
        (Some(_), _) => "only derived relations have plans",
        (None, Some(near)) => &format!("did you mean {near}?"),
        (None, None) => "name a derived relation, or a rule by FILE:LINE",
    };
    Err(trouble(format!("there is no plan of {of}"), fix))
}

/// The requested game, and the moves to play.
fn subject(args: &ProfileArgs) -> anyhow::Result<(Game, Vec<String>)> {
    let PositionArgs { game: name, from } = &args.position;
    let mut library = setup::Library::new(&from.rules)?;
    let text = from.moves.as_deref().unwrap_or_default();
    let Some(path) = &args.pgn else {
        let game = setup::open_unmoved(&mut library, name.as_deref(), from)?.game;
        let mut moves = setup::moves_of(&mut game.clone(), text)?;
        if moves.is_empty() {
            moves = random_moves(&mut game.clone())?;
        }
        return Ok((game, moves));
    };
    let (mut games, bar) = open_games(path, "profile")?;
    let first = games.next().ok_or_else(|| no_game_in(path))?;
    bar.finish_and_clear();
    let recorded = || -> anyhow::Result<_> {
        let pgn = first.map_err(|it| unreadable_game(&it))?;
        let name = setup::variant(name.as_deref(), &pgn);
        if pgn.moves.iter().any(|it| switched(&it.comments).next().is_some()) {
            let cause = "presets come or go in the middle of the game, and a profile is of one set of rules";
            return Err(trouble(cause, "profile a later position: `--save FILE`"));
        }
        let (mut game, rules) = setup::start_recorded(&mut library, name, &from.presets, &pgn)?;
        library.switch(&rules, &mut game, &pgn.comments)?;
        let moves: Vec<String> = pgn.moves.into_iter().map(|it| it.text).collect();
        let mut trial = game.clone();
        moves.iter().enumerate().try_for_each(|(at, it)| setup::play_one(&mut trial, at, it))?;
        Ok((setup::with_warnings(game), moves))
    };
    recorded().with_context(|| format!("{}#1", path.display()))
}

/// Random moves from a fixed seed.
fn random_moves(game: &mut Game) -> anyhow::Result<Vec<String>> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut moves = Vec::new();
    for _ in 0..PLIES {
        let legal = game.legal_moves();
        let Some(mv) = legal.get(random.usize(..legal.len().max(1))) else { break };
        moves.push(game.play(mv)?.uci.to_string());
    }
    Ok(moves)
}

/// Plays the moves, listing the legal ones at every ply as a host would.
fn play(game: &mut Game, moves: &[String]) -> anyhow::Result<()> {
    for text in moves {
        let _ = game.legal_moves();
        game.play_text(text)?;
    }
    let _ = game.legal_moves();
    Ok(())
}

/// The profile from the number of instructions of each rule, then of each reaction.
fn profile(
    program: &Program,
    counts: &[u64],
    plies: usize,
    micros: f64,
    notes: Vec<String>,
) -> Profile {
    let operations: u64 = counts.iter().sum();
    let rules = program.rules.iter().map(|it| (it.span, program.relation(it.head).name.as_str()));
    let reactions = program.reactions.iter().map(|it| (it.span, "reaction"));
    let line = |((span, relation), &count): ((Span, &str), &u64)| {
        let share = count as f64 / operations.max(1) as f64;
        Line {
            place: program.place(span),
            relation: relation.to_owned(),
            operations: count,
            share,
            micros: micros * share,
        }
    };
    let mut lines: Vec<Line> =
        rules.chain(reactions).zip(counts).filter(|it| *it.1 > 0).map(line).collect();
    lines.sort_by(|a, b| b.operations.cmp(&a.operations).then(a.place.cmp(&b.place)));
    Profile { plies, operations, micros, rules: lines, notes }
}

fn print(profile: &Profile, top: usize, out: &mut Out) -> anyhow::Result<()> {
    let Profile { plies, operations, micros, rules, notes } = profile;
    let plies = plural(*plies, "ply");
    out.line(format_args!("{plies}, {operations} operations, {:.1} ms", micros / 1e3))?;
    out.line(format_args!("{:>12}  {:>6}  {:>9}  rule", "operations", "share", "time"))?;
    for Line { place, relation, operations, share, micros } in rules.iter().take(top) {
        let share = share * 100.0;
        out.line(format_args!(
            "{operations:>12}  {share:>5.1}%  {micros:>6.0} us  {relation} [{place}]"
        ))?;
    }
    if rules.len() > top {
        out.line(format_args!("and {} more (--top {})", rules.len() - top, rules.len()))?;
    }
    notes.iter().try_for_each(|it| out.line(format_args!("note: {it}")))
}
