//! The Chess Engine Communication Protocol, version 2, as xboard speaks it.
//!
//! One game at a time. When it is our turn we search to the depth `sd` and for the time `st`, or if `st` is not set
//! within our clock (`time`); the reader of the lines can end the search ([`Xboard::ending`]). After `post`, we tell
//! what the search finds. Games that xboard does not know are described to it by `setup`. Turns of several actions do
//! not fit this protocol: each of our actions is sent as a `move`, but clients expect one a turn.

use std::time::{Duration, Instant};

use super::table::LONGEST_LESSONS;
use super::uci::think_for;
use super::{Ending, EngineGame, Flow, Interrupt, TableError, Thought, Wanted};
use crate::moves::notation::PgnResult;
use crate::opponent::{Budget, Level, Score};
use crate::presets::Catalogue;

/// xboard's names for games, where they differ: theirs, ours.
const NAMES: &[(&str, &str)] = &[("normal", "chess"), ("fischerandom", "chess960")];

/// Games for which no `setup` is sent, since xboard has their boards and pieces. The list need not be complete.
const NATIVE: &[&str] =
    &["normal", "fischerandom", "knightmate", "suicide", "giveaway", "berolina", "extinction"];

/// Commands that are ignored, `?` where no search is under way. Unknown ones get an error.
const IGNORED: &[&str] = &[
    "xboard", "accepted", "rejected", "random", "otim", "hard", "easy", "cores", "memory",
    "computer", "name", "rating", "ics", "option", "draw", ".", "bk", "hint", "hover", "lift",
    "put", "?", "egtpath", "exit", "white", "black", "nps", "pause", "resume",
];

/// An xboard session.
#[derive(Debug)]
pub struct Xboard {
    table: EngineGame,
    /// The game that `new` sets up.
    default: String,
    /// The side that we play; `None` in force mode.
    own: Option<i64>,
    /// Whether the result was sent.
    is_claimed: bool,
    /// The time that an action may take (`st`).
    each: Option<Duration>,
    /// Maximum number of actions to look ahead (`sd`).
    depth: Option<u32>,
    /// The time left on our clock, in hundredths of a second.
    left: Option<u64>,
    /// Whether the client wants to see what a search finds (`post`).
    posts: bool,
    /// Ends the search for the answer to the next line.
    interrupt: Interrupt,
}

impl Xboard {
    /// A session that begins with the default game.
    ///
    /// # Errors
    /// The catalogue has no game of the default name.
    pub fn new(catalogue: Catalogue, default: &str) -> Result<Self, TableError> {
        let table = EngineGame::new(catalogue, default)?;
        let default = default.to_owned();
        Ok(Self {
            table,
            default,
            own: None,
            is_claimed: false,
            each: None,
            depth: None,
            left: None,
            posts: false,
            interrupt: Interrupt::default(),
        })
    }

    /// How a line ends the search that is under way; `None` if it does not.
    pub fn ending(line: &str) -> Option<Ending> {
        match line.split_whitespace().next()? {
            "?" | "quit" => Some(Ending::AnswerNow),
            // After these we must not move: our position would no longer be the client's.
            "force" | "new" | "result" => Some(Ending::Abandon),
            _ => None,
        }
    }

    /// Sets what ends later searches.
    pub fn ended_by(&mut self, interrupt: Interrupt) {
        self.interrupt = interrupt;
    }

    /// Answers one line.
    pub fn line(&mut self, line: &str, out: &mut dyn FnMut(&str)) -> Flow {
        let (command, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let rest = rest.trim();
        match command {
            "" => (),
            "quit" => return Flow::Quit,
            "protover" => self.features(out),
            "ping" => self.prepare(rest, out),
            "new" => self.new_game(out),
            "variant" => self.variant(rest, out),
            "setboard" => self.set_board(rest, out),
            "force" | "result" => self.own = None,
            "go" => {
                self.own = Some(self.table.side());
                self.answer(out);
            }
            "playother" => self.own = Some(1 - self.table.side()),
            "st" => {
                self.each = rest.parse().ok().and_then(|it| Duration::try_from_secs_f64(it).ok())
            }
            // Replaces `st`. Its clock is not needed: `time` tells the time that is left.
            "level" => self.each = None,
            "sd" => self.depth = rest.parse().ok(),
            // A clock below zero, of a side that is late, counts as empty.
            "time" => {
                let left = rest.parse::<i64>().ok();
                self.left = left.map(|it| u64::try_from(it).unwrap_or(0));
            }
            "post" | "nopost" => self.posts = command == "post",
            "usermove" => self.user_move(rest, out),
            "option" if rest == "Letters=client" => self.table.write_plainly(false),
            "option" if rest == "Letters=plain" => self.table.write_plainly(true),
            "option" if rest.starts_with("Learn Seconds=") => {
                let (_, seconds) = rest.split_once('=').unwrap_or_default();
                if let Err(why) = self.table.learn_for(seconds.trim()) {
                    out(&format!("Error ({}): {line}", one_line(&why)));
                }
            }
            "undo" => self.take_back(1),
            "remove" => self.take_back(2),
            it if IGNORED.contains(&it) => (),
            _ => out(&format!("Error (unknown command): {line}")),
        }
        Flow::GoesOn
    }

    fn prepare(&mut self, number: &str, out: &mut dyn FnMut(&str)) {
        if let Err(why) = self.table.prepare(&self.interrupt) {
            out(&format!("tellusererror {}", one_line(&why)));
        }
        out(&format!("pong {number}"));
    }

    fn features(&self, out: &mut dyn FnMut(&str)) {
        let variants: Vec<&str> = self.table.variants().map(theirs).collect();
        let version = env!("CARGO_PKG_VERSION");
        out(&format!(
            "feature setboard=1 usermove=1 ping=1 time=1 colors=0 sigint=0 sigterm=0 san=0 reuse=1 \
             analyze=0 option=\"Learn Seconds -spin 0 0 {LONGEST_LESSONS}\" option=\"Letters -combo *client /// plain\" myname=\"Rulemate {version}\" \
             variants=\"{}\"",
            variants.join(",")
        ));
        out("feature done=1");
    }

    fn new_game(&mut self, out: &mut dyn FnMut(&str)) {
        let default = self.default.clone();
        // The protocol says that `sd` holds until `new`. The clock was that of the last game.
        (self.depth, self.left) = (None, None);
        if self.choose(&default, out) {
            self.own = Some(1);
        }
    }

    fn variant(&mut self, name: &str, out: &mut dyn FnMut(&str)) {
        let ours = NAMES.iter().find(|it| it.0 == name).map_or(name, |it| it.1);
        if !self.choose(ours, out) || NATIVE.contains(&name) {
            return;
        }
        let (files, ranks) = self.table.size();
        let (start, pocket) = (self.table.start_fen(), self.table.pocket());
        out(&format!(
            "setup (PNBRQ................Kpnbrq................k) {files}x{ranks}+{pocket}_fairy {start}"
        ));
        for piece in self.table.pieces() {
            out(&format!("piece {piece}"));
        }
    }

    /// Sets up another game. Returns whether that succeeded; if not, the client was told why.
    fn choose(&mut self, name: &str, out: &mut dyn FnMut(&str)) -> bool {
        self.is_claimed = false;
        match self.table.choose(name) {
            Ok(()) => true,
            Err(why) => {
                self.own = None;
                out(&format!("Error (variant not supported): {name}: {}", one_line(&why)));
                false
            }
        }
    }

    fn set_board(&mut self, fen: &str, out: &mut dyn FnMut(&str)) {
        self.is_claimed = false;
        if let Err(why) = self.table.set_up(Some(fen), std::iter::empty()) {
            return out(&format!("tellusererror Illegal position: {}", one_line(&why)));
        }
        for warning in self.table.warnings() {
            out(&format!("telluser {warning}"));
        }
    }

    fn user_move(&mut self, text: &str, out: &mut dyn FnMut(&str)) {
        if let Err(why) = self.table.play(text) {
            // The error begins with the text, which this line has at its end.
            let why = one_line(&why);
            let reason = why.strip_prefix(text).unwrap_or(&why).trim_start_matches([':', ' ']);
            return out(&format!("Illegal move ({reason}): {text}"));
        }
        self.claim(out);
        self.answer(out);
    }

    fn take_back(&mut self, plies: u32) {
        self.is_claimed = false;
        for _ in 0..plies {
            self.table.take_back();
        }
    }

    fn budget(&self) -> Budget {
        let own = Level::HIGHEST.budget();
        let of_clock = self.left.map(|it| think_for(it.saturating_mul(10), 0, None));
        let time = self.each.or(of_clock.map(Duration::from_millis));
        Budget {
            depth: self.depth.map_or(own.depth, |it| it.clamp(1, own.depth)),
            // A search to a depth has no time of its own.
            time: if self.depth.is_some() { time } else { time.or(own.time) },
            ..own
        }
    }

    /// Plays our moves while it is our turn.
    fn answer(&mut self, out: &mut dyn FnMut(&str)) {
        while self.own == Some(self.table.side()) {
            let (level, wanted) = (Level::HIGHEST, Wanted::within(self.budget()));
            let (posts, began) = (self.posts, Instant::now());
            let thought = self.table.think_of(&wanted, level, &self.interrupt, &mut |it| {
                if posts {
                    out(&thinking(&it, began.elapsed()));
                }
            });
            let text = match thought {
                _ if self.interrupt.is_abandoned() => return,
                Ok(Some(thought)) => thought.text,
                Ok(None) => return self.claim(out),
                Err(why) => return out(&format!("tellusererror {}", one_line(&why))),
            };
            if let Err(why) = self.table.play(&text) {
                return out(&format!("tellusererror {}", one_line(&why)));
            }
            let castling = self.table.last_move().map(|it| it.1).filter(|it| it.starts_with('O'));
            let shown = match castling {
                Some(san) if self.table.castles_by_rook() => {
                    san.trim_end_matches(['+', '#']).into()
                }
                _ => text,
            };
            out(&format!("move {shown}"));
            self.claim(out);
        }
    }

    /// Sends the result of a finished game once, such as `1-0 {checkmate}`.
    fn claim(&mut self, out: &mut dyn FnMut(&str)) {
        let Some(result) = self.table.result().filter(|_| !self.is_claimed) else { return };
        let score = PgnResult::of(result.winner.map(|it| it == 0));
        out(&format!("{score} {{{}}}", result.reason.replace('_', " ")));
        self.is_claimed = true;
    }
}

/// The line that tells what a search has found: depth, score, hundredths of a second, nodes and principal variation.
/// The protocol writes a mate in N moves as 100000 + N.
fn thinking(thought: &Thought, time: Duration) -> String {
    let score = match thought.score {
        Score::Hundredths(points) => i64::from(points),
        Score::Wins(_) => 100_000 + i64::from(thought.turns),
        Score::Loses(_) => -100_000 - i64::from(thought.turns),
    };
    format!(
        "{} {score} {} {} {}",
        thought.depth,
        time.as_millis() / 10,
        thought.nodes,
        thought.line.join(" ")
    )
}

/// xboard's name for a game.
fn theirs(ours: &str) -> &str {
    NAMES.iter().find(|it| it.1 == ours).map_or(ours, |it| it.0)
}

/// The first line of an error, since each command of the protocol is one line.
fn one_line(why: &TableError) -> String {
    why.to_string().lines().next().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_last_as_long_as_the_protocol_says() {
        let catalogue = Catalogue::embedded().expect("the catalogue");
        let mut xboard = Xboard::new(catalogue, "chess").expect("chess");
        let own = Level::HIGHEST.budget();
        let mut after = |lines: &[&str]| {
            for line in lines {
                xboard.line(line, &mut |said| panic!("{line}: {said}"));
            }
            let budget = xboard.budget();
            (budget.depth, budget.time)
        };
        let seconds = |it| Some(Duration::from_secs(it));
        assert_eq!(after(&["force", "st 5", "sd 1", "time 6000"]), (1, seconds(5)));
        assert_eq!(after(&["st 0.25"]), (1, Some(Duration::from_millis(250))));
        assert_eq!(after(&["level 40 5 0"]), (1, seconds(2)), "a thirtieth of the clock");
        assert_eq!(after(&["new"]), (own.depth, own.time));
    }
}
