//! `rulemate test`: random games by the rules of a file, with figures about them.
//!
//! Each game is played to its end, or to a number of actions. Each position but the last must be restored by its FEN,
//! except for attributes that no FEN of the game states, and no two of its legal actions may have the same text unless
//! their `rank` says which is meant. Then the game is played again from its save, under both evaluators, and each proof
//! is checked.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Verdict;
use super::args::{DEFAULT_GAME, RulesArgs, TestArgs};
use super::output::{OrFix, Out, progress, trouble};
use super::setup::{self, Library};
use super::verify::lacking;
use super::watch::run_on_changes;
use crate::audit;
use crate::game::Game;
use crate::moves::Move;
use crate::presets::save::{Content, Form, RulesFrom, Save};
use crate::presets::{Catalogue, Ruleset};
use crate::rules::{load_path, metas, plural};

/// Maximum number of actions that the text of a fault names from one list.
const MAX_NAMED: usize = 5;

/// The least number, the mean and the greatest.
type Spread = (usize, f64, usize);

/// Figures about the random games by one set of rules.
#[derive(Debug, Default, Serialize)]
struct Figures {
    game: String,
    presets: Vec<String>,
    games: u64,
    /// Actions of a game.
    length: Spread,
    /// Legal actions of a position.
    branching: Spread,
    /// Number of games by result; `unfinished` for those that were cut off.
    results: BTreeMap<String, u64>,
    /// Number of positions that were restored by their FEN.
    fens: usize,
    /// The attributes that FENs leave out, each with the number of these positions.
    left_out: BTreeMap<String, u64>,
    /// Number of positions on which both evaluators agreed, and of proofs that the checker accepted.
    positions: usize,
    proofs: usize,
    /// The first mistake of each game that had one.
    faults: Vec<String>,
}

pub(crate) fn run(args: &TestArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let watched = [&args.files[..], &args.rules.rules].concat();
    run_on_changes(args.watch, &watched, out, |out| run_once(args, out))
}

fn run_once(args: &TestArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let rules = RulesArgs { rules: [&args.rules.rules[..], &args.files].concat() };
    let mut library = Library::new(&rules)?;
    let mut verdict = Verdict::Fine;
    for (game, presets) in subjects(library.catalogue(), args)? {
        let loaded = library.load(&game, &presets)?;
        let figures = play_all(library.catalogue(), &loaded, game, presets, args)?;
        verdict = verdict.max(Verdict::of(!figures.faults.is_empty()));
        print(&figures, args.json, out)?;
        out.flush()?;
    }
    Ok(verdict)
}

/// The games to play, each with its presets: the games of the files, unless `--game` names one, and for each preset of
/// the files the named game, or else one that it fits. If this gives none, the named game alone.
fn subjects(catalogue: &Catalogue, args: &TestArgs) -> anyhow::Result<Vec<(String, Vec<String>)>> {
    let mut sources = Vec::new();
    for path in &args.files {
        sources.extend(load_path(path).or_fix("name a rule file (.dl), or a folder of them")?);
    }
    let mut all = Vec::new();
    for source in &sources {
        for meta in metas(source) {
            match (meta.key.as_str(), &args.game) {
                ("game", None) => all.push((meta.value, args.presets.clone())),
                ("preset", game) => {
                    let entry = catalogue.presets().iter().find(|it| it.preset == meta.value);
                    let fitting =
                        entry.map_or(DEFAULT_GAME, |it| catalogue.game_for(it, DEFAULT_GAME));
                    let game = game.clone().unwrap_or(fitting.into());
                    let mut presets = args.presets.clone();
                    presets.push(meta.value);
                    all.push((game, catalogue.with_required(&presets)));
                }
                _ => {}
            }
        }
    }
    if all.is_empty() {
        let game = args.game.clone().ok_or_else(|| {
            trouble("these files have neither a game nor a preset", "name a game: --game chess")
        })?;
        all.push((game, args.presets.clone()));
    }
    Ok(all)
}

fn play_all(
    catalogue: &Catalogue,
    rules: &Ruleset,
    game: String,
    presets: Vec<String>,
    args: &TestArgs,
) -> anyhow::Result<Figures> {
    let mut random = fastrand::Rng::with_seed(args.seed);
    let mut found = Figures { game, presets, games: args.games, ..Figures::default() };
    let (mut lengths, mut seen) = (Vec::new(), Seen::default());
    let bar = progress(args.games, "games");
    let mut number = 0;
    loop {
        // If the first game has no position to test, no other has one.
        let has_positions = number == 0 || !seen.widths.is_empty();
        let lacks_positions = seen.widths.len() < args.positions && has_positions;
        if number >= args.games && (!lacks_positions || !found.faults.is_empty()) {
            break;
        }
        number += 1;
        let mut game = setup::start(rules, None)?;
        let ended = play_one(rules, &mut game, &mut random, args.plies, &mut seen);
        let place = |fault: String| {
            format!("game {number}, after {}: {fault}", plural(game.history().len(), "action"))
        };
        match ended {
            Err(fault) => found.faults.push(place(fault)),
            Ok(result) => {
                *found.results.entry(result).or_default() += 1;
                lengths.push(game.history().len());
                match replay(catalogue, rules, &game) {
                    Ok((positions, proofs)) => {
                        found.positions += positions;
                        found.proofs += proofs;
                    }
                    Err(fault) => found.faults.push(place(fault)),
                }
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    (found.games, found.fens, found.left_out) = (number, seen.widths.len(), seen.left_out);
    (found.length, found.branching) = (spread(&lengths), spread(&seen.widths));
    Ok(found)
}

/// The positions of all games so far.
#[derive(Default)]
struct Seen {
    /// The number of legal actions of each.
    widths: Vec<usize>,
    /// The attributes that FENs leave out, each with the number of positions.
    left_out: BTreeMap<String, u64>,
}

impl Seen {
    /// Tests a position. Returns its legal actions, or what is wrong with it.
    fn test_position(
        &mut self,
        rules: &Ruleset,
        game: &mut Game,
    ) -> Result<Vec<(String, Move)>, String> {
        let moves = game.listing();
        game.check().map_err(|it| it.to_string())?;
        for name in reads_back(rules, game, &moves)? {
            *self.left_out.entry(name).or_default() += 1;
        }
        if let Some(text) = said_twice(game, &moves) {
            return Err(format!(
                "two legal actions are written {text}, so only one of them can be named: tell them apart in the \
                 `uci` of their declaration, or say by `rank` which is meant: {}",
                game.fen()
            ));
        }
        self.widths.push(moves.len());
        Ok(moves)
    }
}

/// Maximum number of restarts of a turn that could not be finished.
const RESTARTS: usize = 100;

/// Plays a random game. Returns how it ended, or what went wrong.
fn play_one(
    rules: &Ruleset,
    game: &mut Game,
    random: &mut fastrand::Rng,
    plies: usize,
    seen: &mut Seen,
) -> Result<String, String> {
    // The ply at which the turn began, its side, and how often it has been taken back.
    let (mut began, mut mover, mut restarts) = (0, None, 0);
    while game.history().len() < plies {
        if mover != game.side() {
            (began, mover, restarts) = (game.history().len(), game.side(), 0);
        }
        if let Some(result) = game.result() {
            if game.history().is_empty() {
                return Err(format!("the game is over as it begins: {result}"));
            }
            return Ok(result.to_string());
        }
        let moves = seen.test_position(rules, game)?;
        if moves.is_empty() {
            let may_be_unfinished = !game.contract().unfinished.is_empty();
            if !may_be_unfinished || game.history().len() == began || restarts == RESTARTS {
                let fen = game.fen();
                return Err(format!("there is neither an action nor a result: {fen}"));
            }
            // A turn that cannot be finished does not count: it is taken back.
            while game.history().len() > began && game.takeback().is_some() {}
            restarts += 1;
            continue;
        }
        let (text, mv) = &moves[random.usize(..moves.len())];
        game.play(mv).map_err(|it| format!("{text} is listed, but {it}"))?;
    }
    Ok(game.result().map_or("unfinished".into(), |it| it.to_string()))
}

/// A text that two actions of the same rank have, so that it does not say which of them is meant.
fn said_twice<'t>(game: &Game, moves: &'t [(String, Move)]) -> Option<&'t str> {
    let program = game.world().program();
    let said = |(text, mv): &'t (String, Move)| (text.as_str(), program.action(mv.action).rank);
    let mut said: Vec<(&str, i64)> = moves.iter().map(said).collect();
    said.sort_unstable();
    said.windows(2).find(|it| it[0] == it[1]).map(|it| it[0].0)
}

/// Sets the position up again from its FEN. The FEN must be the same again, and so must the facts, except for
/// attributes that it is known to leave out; if there are none, the legal actions, too. Returns the names of these
/// attributes.
fn reads_back(
    rules: &Ruleset,
    game: &mut Game,
    moves: &[(String, Move)],
) -> Result<Vec<String>, String> {
    let fen = game.fen();
    let mut again = rules.start(Some(&fen)).map_err(|it| format!("its FEN {fen}: {it}"))?;
    if again.fen() != fen {
        return Err(format!("the FEN {fen} comes back as {}", again.fen()));
    }
    let misread = rules.misread(game, &again);
    if !misread.is_empty() {
        return Err(format!(
            "other facts when it is set up from its FEN {fen}: {}",
            misread.join(", ")
        ));
    }
    let unsaid = rules.unsaid(game);
    let texts = |it: &[(String, Move)]| it.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
    let (played, set_up) = (texts(moves), texts(&again.listing()));
    if played == set_up || !unsaid.is_empty() {
        return Ok(unsaid);
    }
    let only = |of: &[String], others: &[String]| {
        let mut only = lacking(of, others);
        only.truncate(MAX_NAMED);
        if only.is_empty() { "none".to_owned() } else { only.join(", ") }
    };
    Err(format!(
        "other actions are legal when it is set up from its FEN {fen}: only in the game: {}; only when set up: {}",
        only(&played, &set_up),
        only(&set_up, &played)
    ))
}

/// Plays a game again from its save under both evaluators. Returns the number of positions and of proofs.
fn replay(catalogue: &Catalogue, rules: &Ruleset, game: &Game) -> Result<(usize, usize), String> {
    let save = Save::of(game, rules, Content::default()).map_err(|it| it.to_string())?;
    let audited =
        |form| audit::save(&save.write(form), "", catalogue, RulesFrom::Here, &mut |_| {});
    let tally = audited(Form::Binary).map_err(|it| it.to_string())?;
    // JSON is the same save, read by other code.
    let (read, doubt) = Save::read(&save.write(Form::Json), "").map_err(|it| it.to_string())?;
    match doubt.is_none() && read.facts == save.facts {
        true => Ok((tally.positions, tally.proofs)),
        false => Err("its save as JSON is read as another one".into()),
    }
}

fn spread(all: &[usize]) -> Spread {
    let (least, most) = (all.iter().min(), all.iter().max());
    let mean = all.iter().sum::<usize>() as f64 / all.len().max(1) as f64;
    (least.copied().unwrap_or(0), (mean * 10.0).round() / 10.0, most.copied().unwrap_or(0))
}

fn print(found: &Figures, json: bool, out: &mut Out) -> anyhow::Result<()> {
    if json {
        return out.json_line(found);
    }
    let with: String = found.presets.iter().map(|it| format!(" + {it}")).collect();
    let games = plural(found.games as usize, "random game");
    out.line(format_args!("{}{with}: {games}", found.game))?;
    for (what, (least, mean, most)) in
        [("actions a game", found.length), ("legal actions", found.branching)]
    {
        out.line(format_args!("  {what:<15} {least} to {most}, mean {mean}"))?;
    }
    for (result, count) in &found.results {
        out.line(format_args!("  {count:>5} x {result}"))?;
    }
    let (positions, proofs) = (plural(found.positions, "position"), plural(found.proofs, "proof"));
    let come = if found.fens == 1 { "comes back from its" } else { "come back from their" };
    let hold = if found.proofs == 1 { "holds" } else { "hold" };
    out.line(format_args!("  {} {come} FEN", plural(found.fens, "position")))?;
    for (name, count) in &found.left_out {
        out.line(format_args!("  {count:>5} of them without {name}, which their FEN leaves out"))?;
    }
    out.line(format_args!("  both evaluators agree on {positions}; {proofs} {hold}"))?;
    for fault in &found.faults {
        out.line(format_args!("  fault: {fault}"))?;
    }
    Ok(())
}
