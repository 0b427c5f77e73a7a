//! `rulemate profile`: finds the rules that a game spends its time on.
//!
//! A game is played three times: to warm up, to measure the whole time, and to count the evaluator's instructions by
//! rule. Where presets come or go on the way, the counts of all its programs are added, rule by rule. The time of a rule
//! is estimated as its share of the instructions: each takes about the same time, and reading a clock between two would
//! take longer than they do.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use serde::Serialize;

use super::Verdict;
use super::args::{PositionArgs, ProfileArgs};
use super::output::{Out, no_game_in, open_games, trouble, unreadable_game};
use super::setup::{self, Library, Opened};
use crate::facts::nearest;
use crate::game::Game;
use crate::moves::played_out;
use crate::presets::{Past, Ruleset, past_of};
use crate::rules::{Role, Rule, plural};

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
    if let Some(wanted) = &args.plan {
        let game = setup::open(&args.position)?.game;
        plan(&game, wanted)?.into_iter().try_for_each(|it| out.line(it))?;
        return Ok(Verdict::Fine);
    }
    let subject = subject(args)?;
    // A first run to warm up: statics, memory.
    subject.play(None)?;
    let started = Instant::now();
    subject.play(None)?;
    let micros = started.elapsed().as_secs_f64() * 1e6;
    let mut costs = Costs::default();
    subject.play(Some(&mut costs))?;
    let profile = costs.profile(subject.plies(), micros);
    if args.json {
        out.json(&profile)?
    } else {
        print(&profile, args.top, out)?
    }
    Ok(Verdict::Fine)
}

/// The plans of a relation, or of the rule at a place, as `World::plan_text` has them: a line for each relation, below it
/// the places of its rules, indented by two spaces, and below each place its instructions.
fn plan(game: &Game, wanted: &str) -> anyhow::Result<Vec<String>> {
    let text = game.world().plan_text();
    let lines: Vec<&str> = text.lines().collect();
    let is_meant = |place: &str| place == wanted || place.ends_with(&format!("/{wanted}"));
    let mut found: Vec<&str> = Vec::new();
    for relation in lines.chunk_by(|_, next| next.starts_with(' ')) {
        let [head, rules @ ..] = relation else { continue };
        if head.split_once(": ").is_some_and(|it| it.0 == wanted) {
            found.extend(relation);
            continue;
        }
        for rule in rules.chunk_by(|_, next| place_in(next).is_none()) {
            if place_in(rule[0]).is_some_and(is_meant) {
                found.push(head);
                found.extend(rule);
            }
        }
    }
    if !found.is_empty() {
        return Ok(found.into_iter().map(str::to_owned).collect());
    }
    let names = text.lines().filter_map(|it| Some(it.split_once(": ")?.0));
    let near = nearest(wanted, names.filter(|it| !it.starts_with(' ')));
    let program = game.program();
    let role = program.relation_named(wanted).map(|it| &program.relation(it).role);
    let fix = match (role, near) {
        (Some(Role::Derived), _) => "its rows are known before the game begins",
        (Some(_), _) => "only derived relations have plans",
        (None, Some(near)) => &format!("did you mean {near}?"),
        (None, None) => "name a derived relation, or a rule by FILE:LINE",
    };
    Err(trouble(format!("there is no plan of {wanted}"), fix))
}

/// The place of a rule, if this line of `World::plan_text` is one.
fn place_in(line: &str) -> Option<&str> {
    line.strip_prefix("  ").filter(|it| !it.starts_with(' '))
}

/// A game to profile: its first position, and what is played from there.
struct Subject {
    library: Library,
    /// The rules of the first position.
    rules: Arc<Ruleset>,
    game: Game,
    past: Vec<Past>,
}

impl Subject {
    fn plies(&self) -> usize {
        self.past.iter().filter(|it| matches!(it, Past::Turn(_))).count()
    }

    /// Plays the game, listing the legal actions at every ply as a host would, and adds up the costs if they are wanted.
    fn play(&self, mut costs: Option<&mut Costs>) -> anyhow::Result<()> {
        let mut game = self.game.clone();
        game.world_mut().count_operations(costs.is_some());
        for next in &self.past {
            match next {
                Past::Turn(text) => {
                    let _ = game.legal_moves();
                    let at = game.history().len() - self.game.history().len();
                    setup::play_one(&mut game, at, text)?;
                }
                Past::Presets(presets) => {
                    if let Some(costs) = &mut costs {
                        costs.add(&game);
                    }
                    self.library.set_active(&self.rules, &mut game, presets)?;
                    game.world_mut().count_operations(costs.is_some());
                }
            }
        }
        let _ = game.legal_moves();
        if let Some(costs) = &mut costs {
            costs.add(&game);
        }
        Ok(())
    }
}

/// The requested game, and what is to be played.
fn subject(args: &ProfileArgs) -> anyhow::Result<Subject> {
    let PositionArgs { game: name, from } = &args.position;
    let mut library = Library::new(&from.rules)?;
    let text = from.moves.as_deref().unwrap_or_default();
    let Some(path) = &args.pgn else {
        let Opened { game, rules, .. } = setup::open_unmoved(&mut library, name.as_deref(), from)?;
        let mut moves = setup::moves_of(&mut game.clone(), text)?;
        if moves.is_empty() {
            moves = random_moves(&mut game.clone())?;
        }
        let past = moves.into_iter().map(Past::Turn).collect();
        return Ok(Subject { library, rules, game, past });
    };
    let (mut games, bar) = open_games(path, "profile")?;
    let first = games.next().ok_or_else(|| no_game_in(path))?;
    bar.finish_and_clear();
    let recorded = || -> anyhow::Result<_> {
        let pgn = first.map_err(|it| unreadable_game(&it))?;
        let name = setup::variant(name.as_deref(), &pgn);
        let (game, rules) = setup::start_recorded(&mut library, name, &from.presets, &pgn)?;
        let game = setup::with_warnings(game);
        let subject = Subject { library, rules, game, past: past_of(&pgn) };
        // What cannot be played is told here, with the place of the game.
        subject.play(None).map(|()| subject)
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

/// What rules and reactions cost, in all programs of a game together.
#[derive(Default)]
struct Costs {
    /// Instructions by place and concluded relation.
    operations: BTreeMap<(String, String), u64>,
    notes: Vec<String>,
}

impl Costs {
    /// Adds what was counted in the world of a game.
    fn add(&mut self, game: &Game) {
        let program = game.program();
        let concluded = |it: &Rule| (it.span, program.relation(it.head).name.clone());
        let rules = program.rules.iter().map(concluded);
        let reactions = program.reactions.iter().map(|it| (it.span, "reaction".to_owned()));
        for ((span, relation), count) in rules.chain(reactions).zip(game.world().operations()) {
            if count > 0 {
                *self.operations.entry((program.place(span), relation)).or_default() += count;
            }
        }
        for (_, note) in played_out(program, game.contract().untenable) {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    fn profile(self, plies: usize, micros: f64) -> Profile {
        let operations: u64 = self.operations.values().sum();
        let line = |((place, relation), count): ((String, String), u64)| {
            let share = count as f64 / operations.max(1) as f64;
            Line { place, relation, operations: count, share, micros: micros * share }
        };
        let mut rules: Vec<Line> = self.operations.into_iter().map(line).collect();
        rules.sort_by(|a, b| b.operations.cmp(&a.operations).then(a.place.cmp(&b.place)));
        Profile { plies, operations, micros, rules, notes: self.notes }
    }
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
