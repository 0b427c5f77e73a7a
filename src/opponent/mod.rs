//! An opponent that plays any rules: it looks ahead through the actions of a game and its results, and learns
//! what pieces are worth from games that it plays with itself.
//!
//! It knows of a game what the rules say: the legal actions, the side to move, the winner. What a position is
//! worth comes from [`Knowledge`], which is the same code for all games. Deliberately absent: openings, tables of
//! endings, anything written for one game; threads and clocks, which the caller has ([`Stop`], [`Budget`]).

mod knowledge;
mod monte_carlo;
mod search;

use std::time::Duration;

use crate::derive::{Allowance, Stop};
use crate::game::Game;
use crate::moves::Move;

pub use knowledge::{Knowledge, Lessons, unread_features};
use monte_carlo::Tree;
use search::Search;

/// How much may be thought about one action. Whichever ends first ends the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Maximum number of positions looked at.
    pub nodes: u64,
    /// Maximum number of actions looked ahead, captures and the like beyond them aside.
    pub depth: u32,
    pub time: Option<Duration>,
}

/// How what follows is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Everything to a depth.
    AlphaBeta,
    /// Samples of what looks promising: where a turn has very many ways, or pieces are not captured.
    MonteCarlo,
}

/// How well the opponent plays, from 1 for beginners to 8 for all that it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(u8);

impl Level {
    pub const LOWEST: Self = Self(1);
    pub const HIGHEST: Self = Self(8);

    /// The level of that number, if there is one.
    pub fn new(number: u8) -> Option<Self> {
        (Self::LOWEST.0..=Self::HIGHEST.0).contains(&number).then_some(Self(number))
    }

    pub fn number(self) -> u8 {
        self.0
    }

    /// What a level may think about one action. Time is bounded at all levels, so that no player waits for long.
    pub fn budget(self) -> Budget {
        let (nodes, depth, millis) = match self.0 {
            1 => (200, 1, 500),
            2 => (400, 1, 500),
            3 => (1_000, 2, 1_000),
            4 => (3_000, 3, 1_000),
            5 => (8_000, 4, 1_500),
            6 => (20_000, 5, 2_000),
            7 => (60_000, 9, 3_000),
            _ => (u64::MAX, 64, 5_000),
        };
        Budget { nodes, depth, time: Some(Duration::from_millis(millis)) }
    }

    /// By how much the opponent misjudges each action, in hundredths of the unit of scores: what makes it a
    /// beginner.
    fn error(self) -> i32 {
        match self.0 {
            1 => 120,
            2 => 50,
            3 => 15,
            _ => 0,
        }
    }
}

/// What the opponent thinks of a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The action that it would take.
    pub action: Move,
    pub score: Score,
    /// How many actions it looked ahead.
    pub depth: u32,
    /// How many positions it looked at.
    pub nodes: u64,
    /// What it expects to follow, the action first.
    pub line: Vec<Move>,
}

/// How a position looks for the side to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Score {
    /// In hundredths of a unit that is the same in one game only: what the logistic function takes to a
    /// probability of winning.
    Hundredths(i32),
    /// It wins after so many actions.
    Wins(u32),
    /// It loses after so many actions.
    Loses(u32),
}

/// A player of one game.
#[derive(Debug, Clone)]
pub struct Opponent {
    knowledge: Knowledge,
    level: Level,
    seed: u64,
    /// Always the same one, if any.
    method: Option<Method>,
}

impl Opponent {
    /// The seed decides between actions that look alike, and what a beginner misjudges.
    pub fn new(knowledge: Knowledge, level: Level, seed: u64) -> Self {
        Self { knowledge, level, seed, method: None }
    }

    /// The same opponent, which looks ahead by one method whatever the game is.
    #[must_use]
    pub fn by(self, method: Method) -> Self {
        Self { method: Some(method), ..self }
    }

    /// The same opponent with another seed.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// How it looks ahead in what it knows.
    pub fn method(&self, budget: Budget) -> Method {
        let is_bounded = budget.nodes < u64::MAX || budget.time.is_some();
        match self.method {
            _ if !is_bounded || self.level.error() > 0 => Method::AlphaBeta,
            Some(method) => method,
            None if self.knowledge.is_quiet() || self.knowledge.branching() >= MANY => {
                Method::MonteCarlo
            }
            None => Method::AlphaBeta,
        }
    }

    /// The action that the opponent takes as the side to move; none if the game is over.
    ///
    /// The game is not changed, and its history is known: positions that come again are draws where the rules
    /// say so. An opponent that is stopped answers with the best action that it has found.
    pub fn choose(&mut self, game: &Game, budget: Budget, stop: &Stop) -> Option<Choice> {
        self.seed = self.seed.wrapping_add(1);
        if game.result().is_some() {
            return None;
        }
        // What rules without end may take is bounded for a search as for a request.
        let _paid = Allowance::of_many(budget.nodes.min(REQUESTS), stop.clone());
        match self.method(budget) {
            Method::AlphaBeta => {
                self.search(game, budget, stop).choose(self.level.error(), self.seed)
            }
            Method::MonteCarlo => {
                let (found, left) = self.forced(game, budget, stop);
                if let Some(win) = found.as_ref().filter(|it| wins(it).is_some()) {
                    return Some(win.clone());
                }
                let used = found.map_or(0, |it| it.nodes);
                let choice = Tree::new(self.search(game, left, stop), self.seed).choose()?;
                Some(Choice { nodes: choice.nodes + used, ..choice })
            }
        }
    }

    fn search<'g>(&'g self, game: &'g Game, budget: Budget, stop: &Stop) -> Search<'g> {
        Search::new(game, &self.knowledge, budget, stop.clone())
    }

    /// What alpha-beta finds with a part of the budget, and what is left of it: samples may pass by a win that is a few
    /// actions away.
    fn forced(&self, game: &Game, budget: Budget, stop: &Stop) -> (Option<Choice>, Budget) {
        let (nodes, time) = (budget.nodes / FORCED, budget.time.map(|it| it / FORCED as u32));
        let part = Budget { nodes, time, ..budget };
        let found = match nodes {
            0 => None,
            _ => self.search(game, part, stop).choose(0, self.seed),
        };
        let used = found.as_ref().map_or(0, |it| it.nodes);
        let left = Budget {
            nodes: budget.nodes.saturating_sub(used),
            time: budget.time.zip(time).map(|(all, part)| all.saturating_sub(part)),
            ..budget
        };
        (found, left)
    }

    /// What the opponent thinks of each action, best first: hints, and analysis.
    pub fn judge(&mut self, game: &Game, budget: Budget, stop: &Stop) -> Vec<(Move, Score)> {
        if game.result().is_some() {
            return Vec::new();
        }
        let _paid = Allowance::of_many(budget.nodes.min(REQUESTS), stop.clone());
        match self.method(budget) {
            Method::AlphaBeta => self.search(game, budget, stop).judge(),
            Method::MonteCarlo => {
                let (found, left) = self.forced(game, budget, stop);
                let mut judged = Tree::new(self.search(game, left, stop), self.seed).judge();
                if let Some((actions, win)) = found.and_then(|it| Some((wins(&it)?, it))) {
                    // The win comes before all that do not win as soon.
                    judged.retain(|it| it.0 != win.action);
                    let sooner =
                        |it: &&(Move, Score)| matches!(it.1, Score::Wins(n) if n <= actions);
                    let place = judged.iter().take_while(sooner).count();
                    judged.insert(place, (win.action, win.score));
                }
                judged
            }
        }
    }

    pub fn level(&self) -> Level {
        self.level
    }

    /// The game has other rules from here on.
    pub fn learn(&mut self, knowledge: Knowledge) {
        self.knowledge = knowledge;
    }
}

/// After how many actions a choice wins, if it does.
fn wins(choice: &Choice) -> Option<u32> {
    match choice.score {
        Score::Wins(actions) => Some(actions),
        _ => None,
    }
}

/// The part of the budget of samples that looks for a win by force.
const FORCED: u64 = 8;

/// Average number of turns in a position from which on there are too many for alpha-beta.
const MANY: f32 = 1_000.0;

/// Maximum number of requests whose steps a search may take together.
const REQUESTS: u64 = 4_096;

/// Numbers that look random: SplitMix64.
#[derive(Debug, Clone)]
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Below `end`, which is above 0.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}
