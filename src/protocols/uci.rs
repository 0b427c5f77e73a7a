//! The Universal Chess Interface, with the variant options that Fairy-Stockfish introduced.
//!
//! Commands: `uci isready ucinewgame setoption position go stop ponderhit d quit`. `go` searches within the budget of the
//! level. Clocks and `movetime` replace the time of that budget; `depth` and `nodes` can only make it smaller, and take
//! its time away, so that the same `go` has the same answer; so does `mate`, which looks for a win in so many moves. The
//! moves of `searchmoves` end at the next parameter of `go`. `go perft N` counts.
//!
//! The reader of the lines can end a search ([`Uci::ending`]). `go infinite` and `go ponder` search until `stop` comes, or
//! until `ponderhit` has come and the time of that `go` is over, and only then is there a `bestmove`.
//!
//! If a variant cannot be played, there is an error, also for every `position` and `go` until another variant is chosen.
//! If a position cannot be set up, there is an error, also for every `go` until the next position. After the error for a
//! `go` there is a `bestmove (none)`, since the client waits for a `bestmove`.

use std::path::Path;
use std::time::Duration;

use super::table::LONGEST_LESSONS;
use super::{Ending, EngineGame, Flow, Interrupt, TableError, Thought, Wanted};
use crate::opponent::{Budget, Level, Score};
use crate::presets::{Catalogue, plural};

/// Options that graphical interfaces set unconditionally, which have no meaning here.
const IGNORED: &[&str] =
    &["hash", "threads", "multipv", "ponder", "uci_analysemode", "uci_showwdl", "clear hash"];

/// The answer to `go` where there is no move.
const NONE: &str = "bestmove (none)";

/// The time of a search that only the reader of the lines ends.
const ENDLESS: Duration = Duration::from_secs(1 << 32);

/// The answer to `isready`.
const READY: &str = "readyok";

/// The parameters of `go`, each of which ends the moves of `searchmoves`.
const PARAMETERS: &[&str] = &[
    "searchmoves",
    "ponder",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "depth",
    "nodes",
    "mate",
    "movetime",
    "infinite",
];

/// A UCI session.
#[derive(Debug)]
pub struct Uci {
    table: EngineGame,
    /// The requested variant.
    variant: String,
    /// Whether the shuffled form of the variant is played (`UCI_Chess960`).
    is_shuffled: bool,
    /// Why the variant cannot be played.
    refused: Option<String>,
    /// Why the last position could not be set up.
    misplaced: Option<String>,
    /// The line `bestmove` of a `go infinite` or `go ponder`, until the client asks for it by `stop` or `ponderhit`.
    waiting: Option<String>,
    level: Level,
    /// Ends the search for the answer to the next line.
    interrupt: Interrupt,
}

impl Uci {
    /// A session that begins with the default game.
    ///
    /// # Errors
    /// The catalogue has no game of the default name.
    pub fn new(catalogue: Catalogue, default: &str) -> Result<Self, TableError> {
        let table = EngineGame::new(catalogue, default)?;
        let variant = table.variant().to_owned();
        Ok(Self {
            table,
            variant,
            is_shuffled: false,
            refused: None,
            misplaced: None,
            waiting: None,
            level: Level::HIGHEST,
            interrupt: Interrupt::default(),
        })
    }

    /// How a line ends the search that is under way; `None` if it does not.
    pub fn ending(line: &str) -> Option<Ending> {
        match line.split_whitespace().next()? {
            "stop" | "quit" => Some(Ending::AnswerNow),
            "ponderhit" => Some(Ending::AnswerInTime),
            _ => None,
        }
    }

    /// Whether a line begins a search.
    pub fn is_search(line: &str) -> bool {
        let mut words = line.split_whitespace();
        words.next() == Some("go") && words.next() != Some("perft")
    }

    /// The answer to a line that need not wait until the search under way has ended.
    pub fn at_once(line: &str) -> Option<&'static str> {
        (line.trim() == "isready").then_some(READY)
    }

    /// Sets what ends later searches.
    pub fn ended_by(&mut self, interrupt: Interrupt) {
        self.interrupt = interrupt;
    }

    /// Answers one line.
    pub fn line(&mut self, line: &str, out: &mut dyn FnMut(&str)) -> Flow {
        let mut words = line.split_whitespace();
        match words.next() {
            None => (),
            Some("uci") => self.identify(out),
            Some("isready") => self.prepare(out),
            Some("ucinewgame") => self.position(&[], out),
            Some("setoption") => self.set_option(words.collect(), out),
            Some("position") => self.position(&words.collect::<Vec<_>>(), out),
            Some("go") => self.go(&words.collect::<Vec<_>>(), out),
            Some("stop" | "ponderhit") => {
                if let Some(best) = self.waiting.take() {
                    out(&best);
                }
            }
            Some("d") => self.draw(out),
            Some("debug" | "register") => (),
            Some("quit") => return Flow::Quit,
            Some(other) => error(out, &format!("unknown command {other}")),
        }
        Flow::GoesOn
    }

    fn prepare(&mut self, out: &mut dyn FnMut(&str)) {
        if let Err(why) = self.table.prepare(&self.interrupt) {
            error(out, &why.to_string());
        }
        out(READY);
    }

    fn identify(&self, out: &mut dyn FnMut(&str)) {
        out(concat!("id name Rulemate ", env!("CARGO_PKG_VERSION")));
        out("id author the Rulemate team");
        let variants: Vec<&str> = self.table.variants().collect();
        let variants = variants.join(" var ");
        let variant = self.table.variant();
        out(&format!("option name UCI_Variant type combo default {variant} var {variants}"));
        out("option name UCI_Chess960 type check default false");
        out("option name VariantPath type string default <empty>");
        out("option name Letters type combo default client var client var plain");
        let (low, high) = (Level::LOWEST.number(), Level::HIGHEST.number());
        out(&format!("option name Skill Level type spin default {high} min {low} max {high}"));
        out(&format!("option name Learn Seconds type spin default 0 min 0 max {LONGEST_LESSONS}"));
        out("option name Hash type spin default 16 min 1 max 1024");
        out("option name Threads type spin default 1 min 1 max 1");
        out("option name MultiPV type spin default 1 min 1 max 1");
        out("option name Ponder type check default false");
        out("option name UCI_AnalyseMode type check default false");
        out("uciok");
    }

    fn set_option(&mut self, words: Vec<&str>, out: &mut dyn FnMut(&str)) {
        let Some(at) = words.iter().position(|it| *it == "name") else {
            return error(out, "expected setoption name NAME [value VALUE]");
        };
        let value_at = words.iter().position(|it| *it == "value").unwrap_or(words.len());
        let name = words.get(at + 1..value_at).unwrap_or_default().join(" ").to_lowercase();
        let value = words.get(value_at + 1..).unwrap_or_default().join(" ");
        match name.as_str() {
            "uci_variant" => {
                self.variant = value;
                self.choose(out);
            }
            "uci_chess960" => {
                self.is_shuffled = value == "true";
                self.choose(out);
            }
            "skill level" => match value.parse().ok().and_then(Level::new) {
                Some(level) => self.level = level,
                None => error(out, "the skill level is a number from 1 to 8"),
            },
            "letters" if matches!(value.as_str(), "client" | "plain") => {
                self.table.write_plainly(value == "plain");
            }
            "letters" => error(out, "the letters of pieces are client or plain"),
            "learn seconds" => {
                if let Err(why) = self.table.learn_for(&value) {
                    error(out, &why.to_string());
                }
            }
            "variantpath" if value.is_empty() || value == "<empty>" => (),
            "variantpath" => self.load_rules(&value, out),
            name if IGNORED.contains(&name) => (),
            _ => error(out, &format!("there is no option {name}")),
        }
    }

    /// Sets up the requested variant, or records why that failed.
    fn choose(&mut self, out: &mut dyn FnMut(&str)) {
        self.misplaced = None;
        let chosen = self.table.choose_as(&self.variant, self.is_shuffled);
        self.refused = chosen.err().map(|why| why.to_string());
        if let Some(why) = &self.refused {
            return error(out, why);
        }
        let (files, ranks) = self.table.size();
        let (variant, start, pocket) =
            (self.table.variant(), self.table.start_fen(), self.table.pocket());
        out(&format!(
            "info string variant {variant} files {files} ranks {ranks} pocket {pocket} template fairy startpos {start}"
        ));
    }

    fn load_rules(&mut self, path: &str, out: &mut dyn FnMut(&str)) {
        match self.table.add_rules(Path::new(path)) {
            Ok(count) => {
                out(&format!("info string {} read from {path}", plural(count, "rule file")))
            }
            Err(why) => error(out, &why.to_string()),
        }
    }

    fn position(&mut self, words: &[&str], out: &mut dyn FnMut(&str)) {
        if let Some(why) = &self.refused {
            return error(out, why);
        }
        let moves_at = words.iter().position(|it| *it == "moves").unwrap_or(words.len());
        let (place, moves) = words.split_at(moves_at);
        let fen = match place {
            [] | ["startpos"] => None,
            ["fen", fen @ ..] => Some(fen.join(" ")),
            ["startpos", other, ..] => {
                return self.misplace(&format!("expected moves after startpos, not {other}"), out);
            }
            [other, ..] => {
                return self.misplace(&format!("expected startpos or fen, not {other}"), out);
            }
        };
        let moves = moves.iter().skip(1).copied();
        match self.table.set_up(fen.as_deref(), moves) {
            Ok(()) => {
                self.misplaced = None;
                for warning in self.table.warnings() {
                    out(&format!("info string {warning}"));
                }
            }
            Err(why) => self.misplace(&why.to_string(), out),
        }
    }

    /// Records why a position could not be set up: a later `go` would search another one.
    fn misplace(&mut self, why: &str, out: &mut dyn FnMut(&str)) {
        error(out, why);
        self.misplaced = Some(why.to_owned());
    }

    fn go(&mut self, words: &[&str], out: &mut dyn FnMut(&str)) {
        if words.first() != Some(&"perft") {
            // An earlier search that was never stopped gets no answer: it may be about another position.
            self.waiting = None;
        }
        let fault = self.refused.as_ref().or(self.misplaced.as_ref()).cloned();
        match (words, fault) {
            (["perft", ..], Some(why)) => error(out, &why),
            (["perft", rest @ ..], None) => {
                self.perft(rest.first().copied().unwrap_or_default(), out);
            }
            (words, None) if words.contains(&"infinite") || words.contains(&"ponder") => {
                let wanted = self.wanted(words);
                self.waiting = Some(self.search_on(wanted, words.contains(&"ponder"), out));
            }
            (words, None) => {
                let wanted = self.wanted(words);
                let best = self.search(&wanted, out);
                out(&best);
            }
            (_, Some(why)) => {
                error(out, &why);
                out(NONE);
            }
        }
    }

    fn wanted(&self, words: &[&str]) -> Wanted {
        let moves = words.iter().skip_while(|it| **it != "searchmoves").skip(1);
        let moves = moves.take_while(|it| !PARAMETERS.contains(it));
        Wanted {
            only: moves.map(|it| (*it).to_owned()).collect(),
            turns: natural(words, "mate").map(|it| u32::try_from(it).unwrap_or(u32::MAX)),
            ..Wanted::within(self.budget(words))
        }
    }

    /// The budget, from the parameters of `go`. A clock below zero counts as empty.
    fn budget(&self, words: &[&str]) -> Budget {
        let clock_at = |name: &str| signed(words, name).map(|it| u64::try_from(it).unwrap_or(0));
        let number = |name: &str| natural(words, name);
        let (clock, increment) = match self.table.side() {
            0 => (clock_at("wtime"), number("winc")),
            _ => (clock_at("btime"), number("binc")),
        };
        let own = self.level.budget();
        let of_clock = clock.map(|it| think_for(it, increment.unwrap_or(0), number("movestogo")));
        let time = number("movetime").or(of_clock).map(Duration::from_millis);
        let (nodes, depth) = (number("nodes"), number("depth"));
        let is_counted = nodes.is_some() || depth.is_some() || number("mate").is_some();
        Budget {
            nodes: nodes.unwrap_or(u64::MAX).min(own.nodes),
            depth: depth.and_then(|it| u32::try_from(it).ok()).unwrap_or(u32::MAX).min(own.depth),
            time: if is_counted { time } else { time.or(own.time) },
        }
    }

    fn perft(&mut self, depth: &str, out: &mut dyn FnMut(&str)) {
        let Some(depth) = depth.parse::<u32>().ok().filter(|it| *it > 0) else {
            return error(out, "go perft takes the number of half-moves, at least 1");
        };
        let rows = match self.table.divide(depth) {
            Ok(rows) => rows,
            Err(why) => return error(out, &why.to_string()),
        };
        for (text, nodes) in &rows {
            out(&format!("{text}: {nodes}"));
        }
        let nodes: u64 = rows.iter().map(|it| it.1).sum();
        out("");
        out(&format!("Nodes searched: {nodes}"));
    }

    /// [`Uci::search`] until the reader of the lines ends it, or the depth or the nodes of the budget are reached.
    fn search_on(&mut self, wanted: Wanted, ponders: bool, out: &mut dyn FnMut(&str)) -> String {
        if ponders && let Some(time) = wanted.budget.time.or(self.level.budget().time) {
            self.interrupt.set_time(time);
        }
        let budget = Budget { time: Some(ENDLESS), ..wanted.budget };
        self.search(&Wanted { budget, ..wanted }, out)
    }

    /// Searches, tells the client what the search finds, and returns the line with the best move.
    fn search(&mut self, wanted: &Wanted, out: &mut dyn FnMut(&str)) -> String {
        let mut told = String::new();
        let mut tell = |it: &Thought| {
            let info = info(it);
            if info != told {
                out(&info);
                told = info;
            }
        };
        let (level, interrupt) = (self.level, &self.interrupt);
        match self.table.think_of(wanted, level, interrupt, &mut |it| tell(&it)) {
            Ok(Some(thought)) => {
                tell(&thought);
                let reply = thought.reply.map(|it| format!(" ponder {it}")).unwrap_or_default();
                format!("bestmove {}{reply}", thought.text)
            }
            Ok(None) => NONE.to_owned(),
            Err(why) => {
                error(out, &why.to_string());
                NONE.to_owned()
            }
        }
    }

    fn draw(&mut self, out: &mut dyn FnMut(&str)) {
        for line in board(&self.table.cells()) {
            out(&line);
        }
        let fen = self.table.fen();
        out("");
        out(&format!("Fen: {fen}"));
        if let Some(note) = self.table.unsaid() {
            out(&format!("info string {note}"));
        }
        if let Some(result) = self.table.result() {
            out(&format!("Result: {result}"));
        }
    }
}

/// The number after a word of `go`.
fn signed(words: &[&str], name: &str) -> Option<i64> {
    let at = words.iter().position(|it| *it == name)?;
    words.get(at + 1)?.parse().ok()
}

/// [`signed`], if it is not below zero.
fn natural(words: &[&str], name: &str) -> Option<u64> {
    signed(words, name).and_then(|it| u64::try_from(it).ok())
}

/// The line that tells what a search has found.
fn info(thought: &Thought) -> String {
    let score = match thought.score {
        Score::Hundredths(points) => format!("cp {points}"),
        Score::Wins(_) => format!("mate {}", thought.turns),
        Score::Loses(_) => format!("mate -{}", thought.turns),
    };
    format!(
        "info depth {} score {score} nodes {} pv {}",
        thought.depth,
        thought.nodes,
        thought.line.join(" ")
    )
}

/// The time that one action may take, from the time left on a clock; all in milliseconds.
pub(super) fn think_for(left: u64, increment: u64, actions_to_go: Option<u64>) -> u64 {
    let share = left / actions_to_go.unwrap_or(30).clamp(1, 30);
    // The last 50 milliseconds are for lines on their way.
    share.saturating_add(increment.saturating_mul(4) / 5).min(left.saturating_sub(50)).max(1)
}

fn error(out: &mut dyn FnMut(&str), text: &str) {
    for line in text.lines() {
        out(&format!("info string error {line}"));
    }
}

/// The board in the usual `+---+` form.
fn board(ranks: &[Vec<Option<String>>]) -> Vec<String> {
    let files = ranks.iter().map(Vec::len).max().unwrap_or_default();
    let texts = ranks.iter().flatten().flatten();
    let width = texts.map(|it| it.chars().count()).max().unwrap_or(1).max(1);
    let rule = format!(" +{}", format!("{}+", "-".repeat(width + 2)).repeat(files));
    let mut lines = vec![rule.clone()];
    for (at, rank) in ranks.iter().enumerate() {
        let cell = |it: &Option<String>| format!("{:width$}", it.as_deref().unwrap_or_default());
        let cells: Vec<String> = rank.iter().map(cell).collect();
        lines.push(format!(" | {} |{}", cells.join(" | "), ranks.len() - at));
        lines.push(rule.clone());
    }
    let letters = ('a'..='z').take(files).map(|it| format!("{it:width$}"));
    let letters = letters.collect::<Vec<_>>().join("   ");
    lines.push(format!("   {}", letters.trim_end()));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_ran_out_leaves_no_time_to_think() {
        let uci = Uci::new(Catalogue::embedded().expect("the catalogue"), "chess").expect("chess");
        let millis = |words: &[&str]| uci.budget(words).time.map(|it| it.as_millis());
        assert_eq!(millis(&["wtime", "-50", "btime", "100"]), Some(1));
        assert_eq!(millis(&["wtime", "3000", "btime", "100"]), Some(100));
        assert_eq!(millis(&["movetime", "-1"]), Some(5_000));
    }
}
