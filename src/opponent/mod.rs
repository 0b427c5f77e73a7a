//! An opponent that plays any rules: it searches the actions of a game and their results, and learns the
//! values of pieces by self-play.
//!
//! It knows only what the rules give: the legal actions, the side to move, the winner. Positions are
//! evaluated by [`Knowledge`], which is the same code for all games. Deliberately absent: opening books,
//! endgame tables, anything written for one game; threads and clocks, which belong to the caller ([`Stop`],
//! [`Budget`]).

mod knowledge;
mod last_piece;
mod monte_carlo;
mod search;

use std::time::Duration;

use crate::derive::Allowance;
use crate::facts::Chance;
use crate::game::Game;
use crate::moves::Move;

pub use crate::derive::Stop;
#[doc(hidden)]
pub use knowledge::unread_features;
pub use knowledge::{Knowledge, Lessons};
use monte_carlo::Tree;
use search::Search;

/// The limits of the search for one action. Whichever is reached first ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Number of positions examined after which the search ends.
    pub nodes: u64,
    /// Maximum search depth in actions, without the extension by captures.
    pub depth: u32,
    /// After this time the search ends. Without it, seed and position determine the result. The first long search by
    /// some rules makes machine code for them (feature `native`), which may take longer than the time that is left.
    pub time: Option<Duration>,
}

/// The search method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Full-width search to a depth.
    AlphaBeta,
    /// Sampling: for games in which there are very many ways to take a turn, or pieces are hardly ever captured.
    MonteCarlo,
}

/// The playing strength, from 1 for beginners to 8 for full strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(u8);

impl Level {
    /// For beginners.
    pub const LOWEST: Self = Self(1);
    /// Full strength.
    pub const HIGHEST: Self = Self(8);

    /// The level of that number, if there is one.
    pub fn new(number: u8) -> Option<Self> {
        (Self::LOWEST.0..=Self::HIGHEST.0).contains(&number).then_some(Self(number))
    }

    /// From 1 to 8.
    pub fn number(self) -> u8 {
        self.0
    }

    /// The budget of a level for one action. Time is bounded at all levels, so that no player waits for long.
    pub fn budget(self) -> Budget {
        let (nodes, depth, millis) = match self.0 {
            1 => (200, 1, 500),
            2 => (400, 2, 500),
            3 => (1_000, 2, 1_000),
            4 => (3_000, 3, 1_000),
            5 => (8_000, 4, 1_500),
            6 => (20_000, 5, 2_000),
            7 => (60_000, 9, 3_000),
            _ => (u64::MAX, 64, 5_000),
        };
        Budget { nodes, depth, time: Some(Duration::from_millis(millis)) }
    }

    /// The random error in the score of each action, in hundredths, which makes low levels weak.
    fn error(self) -> i32 {
        match self.0 {
            1 => 120,
            2 => 50,
            3 => 15,
            _ => 0,
        }
    }
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The action that it would take.
    pub action: Move,
    /// How the position looks for the side to move, if it takes the action.
    pub score: Score,
    /// The number of turns of the side to move until it wins or loses, the present one included; 0 if the score is neither.
    pub turns: u32,
    /// The search depth, in actions.
    pub depth: u32,
    /// Number of positions examined.
    pub nodes: u64,
    /// The principal variation, beginning with the action.
    pub line: Vec<Move>,
}

impl Choice {
    fn unjudged(action: Move) -> Self {
        let line = vec![action.clone()];
        Self { action, score: Score::Hundredths(0), turns: 0, depth: 0, nodes: 0, line }
    }
}

/// The score of a position for the side to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Score {
    /// In hundredths of a unit that differs between games; the logistic function turns it into a probability
    /// of winning.
    Hundredths(i32),
    /// It wins after this many actions.
    Wins(u32),
    /// It loses after this many actions.
    Loses(u32),
}

/// A player of one game.
#[derive(Debug, Clone)]
pub struct Opponent {
    knowledge: Knowledge,
    level: Level,
    seed: u64,
    /// The fixed method, if there is one.
    method: Option<Method>,
    /// The only actions that it may take; if there are none, it may take any.
    among: Vec<Move>,
    /// The number of its turns within which it looks for a win.
    turns: Option<u32>,
}

impl Opponent {
    /// The seed decides between equally good actions, and determines the errors of low levels.
    pub fn new(knowledge: Knowledge, level: Level, seed: u64) -> Self {
        Self { knowledge, level, seed, method: None, among: Vec::new(), turns: None }
    }

    /// The same opponent with a fixed search method for all games. Low levels, and searches without a limit of nodes or
    /// time, use alpha-beta all the same.
    #[must_use]
    pub fn by(self, method: Method) -> Self {
        Self { method: Some(method), ..self }
    }

    /// The same opponent with another seed.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The same opponent, which takes one of these actions, found by alpha-beta; any action if there are none.
    #[must_use]
    pub fn among(self, actions: Vec<Move>) -> Self {
        Self { among: actions, ..self }
    }

    /// The same opponent, which looks for a win within so many of its turns, by alpha-beta, until the budget is spent or
    /// it is certain that there is none.
    #[must_use]
    pub fn winning_within(self, turns: u32) -> Self {
        Self { turns: Some(turns), ..self }
    }

    /// The search method that it would use.
    pub fn method(&self, budget: Budget) -> Method {
        let is_bounded = budget.nodes < u64::MAX || budget.time.is_some();
        match self.method {
            _ if !is_bounded || self.level.error() > 0 => Method::AlphaBeta,
            _ if !self.among.is_empty() || self.turns.is_some() => Method::AlphaBeta,
            Some(method) => method,
            None if self.knowledge.is_quiet() || self.knowledge.branching() >= MANY_TURNS => {
                Method::MonteCarlo
            }
            None => Method::AlphaBeta,
        }
    }

    /// The action that the opponent takes as the side to move; `None` if the game is over.
    ///
    /// The game is not changed, and its history counts: repeated positions are draws if the rules say so. An
    /// opponent that is stopped answers with the best action that it has found, or with the first legal one.
    pub fn choose(&mut self, game: &Game, budget: Budget, stop: &Stop) -> Option<Choice> {
        self.choose_and_tell(game, budget, stop, &mut |_| ())
    }

    /// [`Opponent::choose`], which tells its choice so far: after each depth, or when it samples, each time that the
    /// number of examined positions has doubled.
    pub fn choose_and_tell(
        &mut self,
        game: &Game,
        budget: Budget,
        stop: &Stop,
        tell: &mut dyn FnMut(&Choice),
    ) -> Option<Choice> {
        self.seed = self.seed.wrapping_add(1);
        if game.result().is_some() {
            return None;
        }
        // A search that is stopped at once, or whose rules take too long, may not have judged a single action.
        let first = || game.clone().legal_moves().into_iter().next().map(Choice::unjudged);
        self.searched(game, budget, stop, tell).or_else(first)
    }

    /// The choice of a search; `None` if the budget does not suffice for one.
    fn searched(
        &self,
        game: &Game,
        budget: Budget,
        stop: &Stop,
        tell: &mut dyn FnMut(&Choice),
    ) -> Option<Choice> {
        // The steps of evaluating rules are bounded for a search as for a request.
        let _allowance = Allowance::of_many(budget.nodes.min(MAX_REQUESTS), stop.clone());
        match self.method(budget) {
            Method::AlphaBeta => {
                let (error, mut search) = (self.level.error(), self.search(game, budget, stop));
                search.choose(&self.among, self.turns, error, self.seed, tell)
            }
            Method::MonteCarlo => {
                let (found, left) = self.forced(game, budget, stop);
                if let Some(win) = found.as_ref().filter(|it| wins(it).is_some()) {
                    return Some(win.clone());
                }
                let used = found.as_ref().map_or(0, |it| it.nodes);
                let with_used = |it: &Choice| Choice { nodes: it.nodes + used, ..it.clone() };
                let mut tree = Tree::new(self.search(game, left, stop), self.seed);
                let sampled = tree.choose(&mut |it| tell(&with_used(it)));
                sampled.as_ref().map(with_used).or(found)
            }
        }
    }

    fn search<'g>(&'g self, game: &'g Game, budget: Budget, stop: &Stop) -> Search<'g> {
        Search::new(game, &self.knowledge, budget, stop.clone())
    }

    /// The result of alpha-beta with a part of the budget, and the rest of the budget. Sampling may miss a win that is
    /// a few actions away.
    fn forced(&self, game: &Game, budget: Budget, stop: &Stop) -> (Option<Choice>, Budget) {
        let nodes = budget.nodes / FORCED_SHARE;
        let time = budget.time.map(|it| (it / FORCED_SHARE as u32).min(MAX_FORCED_TIME));
        let part = Budget { nodes, time, ..budget };
        let found = match nodes {
            0 => None,
            _ => self.search(game, part, stop).choose(&[], None, 0, self.seed, &mut |_| ()),
        };
        let used = found.as_ref().map_or(0, |it| it.nodes);
        let left = Budget {
            nodes: budget.nodes.saturating_sub(used),
            time: budget.time.zip(time).map(|(all, part)| all.saturating_sub(part)),
            ..budget
        };
        (found, left)
    }

    /// The score of each action that the budget allows to judge, best first, for hints and analysis.
    pub fn judge(&mut self, game: &Game, budget: Budget, stop: &Stop) -> Vec<(Move, Score)> {
        if game.result().is_some() {
            return Vec::new();
        }
        let _allowance = Allowance::of_many(budget.nodes.min(MAX_REQUESTS), stop.clone());
        match self.method(budget) {
            Method::AlphaBeta => self.search(game, budget, stop).judge(),
            Method::MonteCarlo => {
                let (found, left) = self.forced(game, budget, stop);
                let mut judged = Tree::new(self.search(game, left, stop), self.seed).judge();
                if let Some((actions, win)) = found.and_then(|it| Some((wins(&it)?, it))) {
                    // The forced win precedes all actions that do not win as soon.
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

    /// How well it plays.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Replaces the knowledge, after a change of rules.
    pub fn learn(&mut self, knowledge: Knowledge) {
        self.knowledge = knowledge;
    }
}

/// Number of actions after which a choice wins, if it does.
fn wins(choice: &Choice) -> Option<u32> {
    match choice.score {
        Score::Wins(actions) => Some(actions),
        _ => None,
    }
}

/// The fraction (1/n) of a sampling budget that is spent on finding a forced win.
const FORCED_SHARE: u64 = 8;
/// Maximum time for that.
const MAX_FORCED_TIME: Duration = Duration::from_secs(5);

/// Average number of possible turns from which on there are too many for alpha-beta.
const MANY_TURNS: f32 = 1_000.0;

/// Maximum budget of a search for evaluating rules, as a number of requests.
const MAX_REQUESTS: u64 = 4_096;
