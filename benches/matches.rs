//! Matches of the opponent, in any games: against random actions, between its two methods, between long lessons and
//! short ones, against Fairy-Stockfish.
//! `cargo bench --bench matches -- random chess hex --games 40`
//! `cargo bench --bench matches -- methods hex duck --games 40 --nodes 6000` (or `--millis 40`)
//! `cargo bench --bench matches -- lessons chess --seconds 180 --against 3 --games 100 --nodes 3000`
//! `cargo bench --bench matches -- fairy chess atomic --games 20 --nodes 60000`
//!
//! Sides change from game to game. Matches between methods, and between lessons, begin with four random actions; each
//! opening is played twice. A longer search judges a game that has not ended after `--plies` actions; it counts as drawn
//! if neither side is ahead by a unit. Fairy-Stockfish has skill -10 and 1,000 nodes.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use rulemate::internals::game::{Game, Stop};
use rulemate::internals::moves::Move;
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::internals::protocols::{EngineGame, Interrupt, Wanted};
use rulemate::opponent::{Budget, Knowledge, Lessons, Level, Method, Opponent, Score};

type Failure = Box<dyn Error>;

/// Where Debian puts it; `FAIRY` in the environment names another.
const FAIRY: &str = "/usr/games/fairy-stockfish";
/// Actions at random before a match between methods.
const OPENING: usize = 4;
/// The score, in hundredths, beyond which a side counts as the winner of a game that is not over.
const AHEAD: i32 = 100;
const JUDGE: Budget = Budget { nodes: 200_000, depth: 8, time: None };

#[derive(Debug, Clone)]
struct Options {
    what: String,
    games: u64,
    budget: Budget,
    plies: usize,
    lessons: Lessons,
    /// The lessons of the other side, in a match between lessons.
    against: Lessons,
    names: Vec<String>,
    /// Rule files of one's own.
    rules: Option<String>,
}

impl Options {
    fn read() -> Self {
        let args: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
        let named = |name: &str| args.windows(2).find(|it| it[0] == name).map(|it| it[1].clone());
        let number = |name: &str| named(name).and_then(|it| it.parse::<u64>().ok());
        let plain = args.iter().take_while(|it| !it.starts_with("--"));
        let (what, names) = match plain.cloned().collect::<Vec<_>>().split_first() {
            Some((what, names)) => (what.clone(), names.to_vec()),
            // Without arguments (as in `cargo test`) a small match shows that all of it works.
            None => ("random".to_owned(), vec!["connect-four".to_owned()]),
        };
        let millis = number("--millis");
        let nodes = number("--nodes").unwrap_or(if millis.is_some() { u64::MAX } else { 3_000 });
        let budget = Budget { nodes, depth: 64, time: millis.map(Duration::from_millis) };
        let seconds = |name| number(name).map(Duration::from_secs);
        let lessons = |time: Option<Duration>| {
            let actions = number("--learn").unwrap_or(100_000) as usize;
            Lessons { actions: time.map_or(actions, |_| usize::MAX), longest: 300, time }
        };
        Self {
            what,
            games: number("--games").unwrap_or(2),
            budget,
            plies: number("--plies").unwrap_or(300) as usize,
            lessons: lessons(seconds("--seconds")),
            against: lessons(seconds("--against")),
            names,
            rules: named("--rules"),
        }
    }
}

/// Won, drawn and lost games, and those of them that were judged.
#[derive(Debug, Default)]
struct Tally {
    won: u32,
    drawn: u32,
    lost: u32,
    judged: u32,
}

impl Tally {
    /// Adds a game: `ahead` is positive if the side that is counted has won, negative if it has lost.
    fn add(&mut self, ahead: i32) {
        match ahead.signum() {
            1 => self.won += 1,
            0 => self.drawn += 1,
            _ => self.lost += 1,
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { won, drawn, lost, judged } = self;
        let points = f64::from(*won) + f64::from(*drawn) / 2.0;
        let judged = if *judged > 0 { format!(", {judged} judged") } else { String::new() };
        write!(f, "+{won} ={drawn} -{lost}, {points} of {}{judged}", won + drawn + lost)
    }
}

fn main() -> Result<(), Failure> {
    let options = Options::read();
    let mut catalogue = Catalogue::embedded()?;
    if let Some(path) = &options.rules {
        catalogue.add_path(Path::new(path))?;
    }
    for name in &options.names {
        if options.what == "fairy" {
            println!("{name}: {}", against_fairy(&catalogue, name, &options)?);
            continue;
        }
        let rules = catalogue.load::<&str>(name, &[])?;
        let knowledge = Knowledge::learn(&rules.start(None)?, options.lessons, 1);
        let method = Opponent::new(knowledge.clone(), Level::HIGHEST, 1).method(options.budget);
        print!("{name}: {:.0} ways a turn, {method:?}; ", knowledge.branching());
        let player = |knowledge: &Knowledge| Opponent::new(knowledge.clone(), Level::HIGHEST, 1);
        match options.what.as_str() {
            "random" => println!("{}", against_random(&rules, &knowledge, &options)?),
            "lessons" => {
                let other = Knowledge::learn(&rules.start(None)?, options.against, 1);
                let players = [&knowledge, &other].map(player);
                let tally = between(&rules, &knowledge, &players, &options)?;
                let games = [knowledge.games(), other.games()];
                println!("{} games with a winner against {}: {tally}", games[0], games[1]);
            }
            _ => {
                let methods = [Method::MonteCarlo, Method::AlphaBeta];
                let players = methods.map(|it| player(&knowledge).by(it));
                let tally = between(&rules, &knowledge, &players, &options)?;
                println!("Monte Carlo against alpha-beta {tally}");
            }
        }
    }
    Ok(())
}

fn against_random(
    rules: &Ruleset,
    knowledge: &Knowledge,
    options: &Options,
) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    let mut random = fastrand::Rng::with_seed(1);
    for round in 0..options.games {
        let own = (round % 2) as i64;
        let mut opponent = Opponent::new(knowledge.clone(), Level::HIGHEST, round);
        let mut game = rules.start(None)?;
        for _ in 0..options.plies {
            let thought = match game.side() == Some(own) {
                true => {
                    opponent.choose(&game, options.budget, &Stop::default()).map(|it| it.action)
                }
                false => random.choice(game.legal_moves()),
            };
            let Some(mv) = thought.filter(|_| game.result().is_none()) else { break };
            game.play(&mv)?;
        }
        tally.add(ahead(&game, own).unwrap_or_default());
    }
    Ok(tally)
}

/// A match between two players, counted for the first; `knowledge` judges games that do not end.
fn between(
    rules: &Ruleset,
    knowledge: &Knowledge,
    players: &[Opponent; 2],
    options: &Options,
) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    let mut random = fastrand::Rng::with_seed(77);
    let mut opening: Vec<Move> = Vec::new();
    for round in 0..options.games {
        let mut game = rules.start(None)?;
        if round % 2 == 0 {
            opening.clear();
        }
        for at in 0..OPENING {
            if opening.len() == at {
                opening.extend(random.choice(game.legal_moves()));
            }
            if let Some(mv) = opening.get(at) {
                game.play(mv)?;
            }
        }
        let first = (round % 2) as i64;
        let mut players = players.clone().map(|it| it.seeded(round * 7 + 1));
        for _ in 0..options.plies {
            let player = &mut players[usize::from(game.side() != Some(first))];
            let choice = player.choose(&game, options.budget, &Stop::default());
            let Some(choice) = choice.filter(|_| game.result().is_none()) else { break };
            game.play(&choice.action)?;
        }
        let ahead = ahead(&game, first).unwrap_or_else(|| {
            tally.judged += 1;
            judged(&game, knowledge, first)
        });
        tally.add(ahead);
    }
    Ok(tally)
}

/// Whether a side has won, if the game is over.
fn ahead(game: &Game, side: i64) -> Option<i32> {
    let winner = game.result()?.winner;
    Some(winner.map_or(0, |it| if it == side { 1 } else { -1 }))
}

/// Which side a longer search likes, if it does not think that they are even.
fn judged(game: &Game, knowledge: &Knowledge, side: i64) -> i32 {
    let mut judge = Opponent::new(knowledge.clone(), Level::HIGHEST, 1).by(Method::AlphaBeta);
    let score = match judge.choose(game, JUDGE, &Stop::default()).map(|it| it.score) {
        Some(Score::Wins(_)) => 1,
        Some(Score::Loses(_)) => -1,
        Some(Score::Hundredths(it)) if it.abs() > AHEAD => it.signum(),
        _ => 0,
    };
    if game.side() == Some(side) { score } else { -score }
}

/// An engine that speaks UCI.
struct Engine {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Engine {
    fn start(variant: &str) -> Result<Self, Failure> {
        let program = std::env::var("FAIRY").unwrap_or_else(|_| FAIRY.to_owned());
        let mut command = Command::new(&program);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut engine = Self { child, input, output };
        engine.tell("uci")?;
        let mut is_known = false;
        loop {
            let line = engine.line()?;
            // It would play chess instead, and not say so.
            let names = line.strip_prefix("option name UCI_Variant ").unwrap_or_default();
            is_known |= names.split_whitespace().any(|it| it == variant);
            if line.starts_with("uciok") {
                break;
            }
        }
        if !is_known {
            return Err(format!("{program} does not know {variant}").into());
        }
        engine.tell(&format!(
            "setoption name UCI_Variant value {variant}\nsetoption name Skill Level value -10"
        ))?;
        Ok(engine)
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        match self.output.read_line(&mut line)? {
            0 => Err("the engine has gone".into()),
            _ => Ok(line),
        }
    }

    fn tell(&mut self, text: &str) -> Result<(), Failure> {
        writeln!(self.input, "{text}")?;
        Ok(self.input.flush()?)
    }

    /// The move that it takes after these.
    fn answer(&mut self, moves: &[String]) -> Result<String, Failure> {
        self.tell(&format!("position startpos moves {}\ngo nodes 1000", moves.join(" ")))?;
        loop {
            if let Some(best) = self.line()?.strip_prefix("bestmove ") {
                return Ok(best.split_whitespace().next().unwrap_or_default().to_owned());
            }
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn against_fairy(catalogue: &Catalogue, name: &str, options: &Options) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    let mut table = EngineGame::new(catalogue.clone(), name)?;
    let mut engine = Engine::start(name)?;
    for round in 0..options.games {
        let own = (round % 2) as i64;
        table.choose(name)?;
        engine.tell("ucinewgame")?;
        let mut moves: Vec<String> = Vec::new();
        while table.result().is_none() && moves.len() < options.plies {
            let text = match table.side() == own {
                true => {
                    let (level, interrupt) = (Level::HIGHEST, Interrupt::default());
                    let wanted = Wanted::within(options.budget);
                    let found = table.think_of(&wanted, level, &interrupt, &mut |_| ());
                    found?.map(|it| it.text)
                }
                false => Some(engine.answer(&moves)?),
            };
            let Some(text) = text else { break };
            table.play(&text)?;
            moves.push(text);
        }
        let winner = table.result().and_then(|it| it.winner);
        tally.add(winner.map_or(0, |it| if it == own { 1 } else { -1 }));
    }
    Ok(tally)
}
