//! Alpha-beta search over the actions of a game, with iterative deepening until the budget is spent.
//!
//! All scores are those of the root's side, so that turns of several actions and games of several sides need
//! no special code: that side takes the best action for itself, every other side the worst for the root's side. Whether
//! an action captures is guessed from its arguments (they name an enemy piece, or the square of one); such actions are
//! searched first, and beyond the depth (quiescence).

use std::cmp::Reverse;
use std::time::Instant;

use foldhash::{HashMap, HashMapExt};

use super::knowledge::{
    Feature, Standing, features, index_of, is_repetition_drawn, is_threatened, mover, standing,
    winner, winner_at_once, winner_if_stuck,
};
use super::last_piece::LastPiece;
use super::{Budget, Chance, Choice, Knowledge, Score};
use crate::derive::{Stop, World};
use crate::facts::EntityId;
use crate::game::{Game, Place, position_key, state_recurrence};
use crate::moves::{Contract, Move, is_legal, legal_moves, may_stop};
use crate::rules::{Program, Type};

/// The score of a win, less what it takes: one for each action, and [`TURN`] for each turn that is over by then.
const WIN: i32 = 10_000_000;
/// More than the number of actions that any search looks ahead.
const TURN: i32 = 1_000;
/// Scores beyond this are wins or losses.
pub(super) const DECIDED: i32 = WIN - 1_000 * TURN;
/// Above all scores.
pub(super) const INFINITE: i32 = 2 * WIN;
/// The score of an action that is legal but cannot be taken.
const UNTAKEN: i32 = -WIN - 1;
/// Maximum depth of the quiescence search.
const MAX_QUIESCENCE: i32 = 6;
/// Maximum number of entries of the transposition table.
const MAX_KNOWN: usize = 1 << 20;
/// Maximum value of a piece in the order of actions.
const MAX_WORTH: i32 = 10_000;
/// The rate of a capture in the order of actions, before the values of its pieces: above that of any other action.
const CAPTURE: i32 = 10 * MAX_WORTH;
/// Minimum number of positions that are examined, even if there is no time.
const MIN_NODES: u64 = 8;

pub(super) struct Search<'g> {
    pub(super) world: World,
    pub(super) contract: &'g Contract,
    program: &'g Program,
    features: Vec<Feature>,
    pub(super) knowledge: &'g Knowledge,
    /// The last piece of a side at the root, if it tells more of a position than the knowledge.
    last_piece: Option<LastPiece>,
    pub(super) budget: Budget,
    stop: Stop,
    started: Instant,
    /// The root's side.
    pub(super) side: usize,
    /// The number of turns that were over at the root.
    turn: i64,
    pub(super) nodes: u64,
    /// Whether the search has to end: its budget or that of the rules is spent, or it was stopped.
    pub(super) is_out: bool,
    /// The positions since the game began, including the current line of the search.
    pub(super) path: Vec<Place>,
    known: HashMap<u64, Known>,
    /// The history heuristic: how often an action was the best, deep searches counting more.
    history: HashMap<Move, i32>,
    /// Whether positions have keys, which the rules may not declare.
    has_keys: bool,
    /// Only scores above this are sought.
    floor: i32,
    /// Whether the depth cut off a line that might go on to such a score.
    is_cut: bool,
}

/// An entry of the transposition table.
#[derive(Debug, Clone)]
struct Known {
    depth: i32,
    score: i32,
    bound: Bound,
    best: Move,
}

impl Known {
    /// The score, if it holds for a search to this depth within a window.
    fn score(&self, depth: i32, window: Window) -> Option<i32> {
        let holds = match self.bound {
            Bound::Exact => true,
            Bound::AtLeast => self.score >= window.beta,
            Bound::AtMost => self.score <= window.alpha,
        };
        (holds && self.depth >= depth && self.score.abs() < DECIDED).then_some(self.score)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Exact,
    AtLeast,
    AtMost,
}

/// The scores that matter to a search: the root's side is sure of `alpha` elsewhere, the others can hold it to `beta`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    alpha: i32,
    beta: i32,
}

impl Window {
    /// All scores.
    pub(super) const WHOLE: Self = Self { alpha: -INFINITE, beta: INFINITE };

    /// Takes account of a score that the side to move can have.
    fn narrow(&mut self, is_own: bool, score: i32) {
        match is_own {
            true => self.alpha = self.alpha.max(score),
            false => self.beta = self.beta.min(score),
        }
    }

    /// Whether no score is left that matters.
    fn is_closed(self) -> bool {
        self.alpha >= self.beta
    }

    /// What a score that was found within the window is.
    fn bound_of(self, score: i32) -> Bound {
        match score {
            it if it <= self.alpha => Bound::AtMost,
            it if it >= self.beta => Bound::AtLeast,
            _ => Bound::Exact,
        }
    }
}

impl<'g> Search<'g> {
    pub(super) fn new(
        game: &'g Game,
        knowledge: &'g Knowledge,
        budget: Budget,
        stop: Stop,
    ) -> Self {
        // What follows takes time, too, where a side has a last piece.
        let started = Instant::now();
        let (contract, program) = (game.contract(), &**game.program());
        let path = game.passed(game.side());
        let (mut world, features) = (game.world().clone(), features(program, contract));
        let pieces = standing(&mut world, contract, &features);
        Self {
            last_piece: LastPiece::of(&mut world, contract, knowledge, &pieces),
            world,
            contract,
            program,
            features,
            knowledge,
            budget,
            stop,
            started,
            side: game.side().and_then(|it| usize::try_from(it).ok()).unwrap_or_default(),
            turn: path.last().map_or(0, |it| it.turn),
            nodes: 0,
            is_out: false,
            path,
            known: HashMap::new(),
            history: HashMap::new(),
            has_keys: !program.repetition.is_empty(),
            floor: -INFINITE,
            is_cut: false,
        }
    }

    /// The best action among these, or of all if there are none, when the random error of the level is added to the
    /// scores. Tells the best one of each depth. With a number of turns, a win within them is sought, until it is certain
    /// that there is none.
    pub(super) fn choose(
        &mut self,
        among: &[Move],
        turns: Option<u32>,
        error: i32,
        seed: u64,
        tell: &mut dyn FnMut(&Choice),
    ) -> Option<Choice> {
        let mut chance = Chance(seed);
        let standing = self.standing();
        let mut moves = self.shuffled(among, &standing, &mut chance);
        // A win in one action is seen before the budget is spent on answers to other actions.
        let glances = self.glance(&moves);
        if let Some(choice) = self.instant_win(&moves, &glances) {
            tell(&choice);
            return Some(choice);
        }
        let mut best = Choice::unjudged(moves.first()?.clone());
        let enough = turns.map_or(DECIDED, |it| self.above_wins_after(it));
        for depth in 1..=self.budget.depth.max(1) {
            // Once the answers to each action are known, only such a win is sought.
            if turns.is_some() && depth > 2 {
                (self.floor, self.is_cut) = (enough, false);
            }
            // Errors may raise an action above a better one, if that is better by twice the error at most.
            let mut scores = self.root(&moves, depth as i32, Some(2 * error));
            if depth == 1 {
                self.add_unsearched(&moves, &standing, &glances, &mut scores);
            }
            if scores.iter().all(|it| *it <= self.floor) {
                if self.is_out || !self.is_cut {
                    break;
                }
                continue;
            }
            let misjudged = |(at, score): (usize, &i32)| {
                (score.saturating_add(noise(&mut chance, error)), Reverse(at))
            };
            let judged = scores.iter().enumerate().map(misjudged);
            let Some((_, Reverse(first))) = judged.max() else { break };
            // What was not searched is better than what loses.
            let mut unsearched = moves.iter().skip(scores.len());
            if scores[first] < -DECIDED
                && let Some(next) = unsearched.find(|it| self.after(it, |_| ()).is_some())
            {
                best = Choice { action: next.clone(), line: vec![next.clone()], ..best };
                break;
            }
            best = self.choice(&moves[first], scores[first], depth);
            tell(&best);
            let is_forced = moves.len() == 1 && among.is_empty() && turns.is_none();
            let is_decided = scores[first] > enough || scores[first] < -DECIDED;
            if self.is_out || is_decided || is_forced {
                break;
            }
            // Actions that were not searched stay behind the others.
            scores.resize(moves.len(), -INFINITE);
            moves = best_first(scores.into_iter().zip(moves).collect());
        }
        best.nodes = self.nodes;
        Some(best)
    }

    fn choice(&mut self, action: &Move, score: i32, depth: u32) -> Choice {
        Choice {
            action: action.clone(),
            score: score_for_callers(score),
            turns: self.turns_of(score),
            depth,
            nodes: self.nodes,
            line: self.line(action, depth),
        }
    }

    /// The choice of an action that wins at once, if there is one.
    fn instant_win(&self, moves: &[Move], glances: &[Option<i32>]) -> Option<Choice> {
        let win = glances.iter().position(|it| it.is_some_and(|it| it > DECIDED))?;
        let choice = Choice::unjudged(moves[win].clone());
        Some(Choice { score: Score::Wins(1), turns: 1, depth: 1, nodes: self.nodes, ..choice })
    }

    /// The legal actions among these, or all if there are none: likely ones first, equally likely ones in random order.
    fn shuffled(
        &mut self,
        among: &[Move],
        standing: &[Standing],
        chance: &mut Chance,
    ) -> Vec<Move> {
        let mut moves = legal_moves(&mut self.world, self.contract);
        if !among.is_empty() {
            moves.retain(|it| among.contains(it));
        }
        for at in (1..moves.len()).rev() {
            moves.swap(at, chance.below(at + 1));
        }
        self.ordered(moves, standing, None, false)
    }

    /// The actions with their scores, best first, as deep as the budget allows; without those that it does not allow to
    /// judge.
    pub(super) fn judge(&mut self) -> Vec<(Move, Score)> {
        let standing = self.standing();
        let moves = self.sorted();
        let glances = self.glance(&moves);
        let mut judged = Vec::new();
        for depth in 1..=self.budget.depth.max(1) {
            let mut scores = self.root(&moves, depth as i32, None);
            if depth == 1 {
                self.add_unsearched(&moves, &standing, &glances, &mut scores);
                scores.resize(moves.len(), UNTAKEN);
            }
            if scores.len() < moves.len() {
                break;
            }
            judged = moves.iter().cloned().zip(scores).collect();
            if self.is_out {
                break;
            }
        }
        judged.retain(|it| it.1 != UNTAKEN);
        judged.sort_by_key(|it| Reverse(it.1));
        judged.into_iter().map(|(mv, score)| (mv, score_for_callers(score))).collect()
    }

    /// Adds scores of the actions that the budget did not allow to search, unless all of them seem to capture: an
    /// action that does not counts as it looks, a capture as the worst, since its worth shows only in the answers.
    fn add_unsearched(
        &self,
        moves: &[Move],
        standing: &[Standing],
        glances: &[Option<i32>],
        scores: &mut Vec<i32>,
    ) {
        let victims = Victims::of(self, standing);
        let is_quiet = |it: &Move| victims.taken_by(self, it).is_none();
        let unsearched = moves.iter().zip(glances).skip(scores.len());
        let looks = unsearched.map(|(it, glance)| glance.filter(|_| is_quiet(it)));
        let looks: Vec<Option<i32>> = looks.collect();
        if looks.iter().any(Option::is_some) {
            scores.extend(looks.iter().map(|it| it.unwrap_or(UNTAKEN)));
        }
    }

    /// The static evaluation after each action, or its score if that ends the game; `None` for those that the budget
    /// does not allow.
    fn glance(&mut self, moves: &[Move]) -> Vec<Option<i32>> {
        let look = |it: &mut Self| {
            if it.spend() {
                return None;
            }
            let (place, _) = it.recur();
            let score = match winner_at_once(&mut it.world, it.contract) {
                Some(winner) => it.ended(winner, it.taken(1, place)),
                None => it.evaluation(),
            };
            (!it.has_run_out()).then_some(score)
        };
        let glance = |it| {
            let found = if self.is_out { None } else { self.after(it, look) };
            found.unwrap_or((!self.is_out).then_some(UNTAKEN))
        };
        moves.iter().map(glance).collect()
    }

    /// The scores of the first actions, as far as the budget allows. With a margin, the score of an action that is
    /// worse than the best one before it by more than that is only a bound.
    fn root(&mut self, moves: &[Move], depth: i32, margin: Option<i32>) -> Vec<i32> {
        let mut scores = Vec::new();
        let mut best = -INFINITE;
        for mv in moves {
            let alpha = margin.map_or(-INFINITE, |it| (best - it).max(self.floor));
            let window = Window { alpha, ..Window::WHOLE };
            let score = self.after(mv, |it| it.score(depth - 1, 1, window));
            // An interrupted score is meaningless.
            if self.is_out {
                break;
            }
            scores.push(score.unwrap_or(UNTAKEN));
            best = best.max(score.unwrap_or(UNTAKEN));
        }
        scores
    }

    /// Takes an action, calls `look`, and takes it back; `None` if it cannot be taken, or if the budget of the rules ran
    /// out in it: then the search has to end.
    pub(super) fn after<T>(&mut self, mv: &Move, look: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let mark = self.world.mark();
        let taken = self.world.fire(mv.action, &mv.args).is_ok();
        let found = taken.then(|| look(self));
        if !taken {
            // It may be the rules that have run out.
            self.has_run_out();
        }
        self.world.rollback(mark);
        found
    }

    /// The score of the position on the board, searched to a depth by alpha-beta.
    pub(super) fn score(&mut self, depth: i32, ply: i32, mut window: Window) -> i32 {
        if self.spend() {
            return 0;
        }
        let (place, recurs) = self.recur();
        if let Some(score) = self.score_without_search(ply, place, recurs) {
            return score;
        }
        let known = if self.has_keys { self.known.get(&place.key) } else { None };
        if let Some(score) = known.and_then(|it| it.score(depth, window)) {
            return score;
        }
        let first = known.map(|it| it.best.clone());
        let is_own = self.is_own(place.mover);
        let standing = self.standing();
        let here = self.value(&standing);
        let is_quiet = depth <= 0 && !is_threatened(&mut self.world, self.contract);
        self.is_cut |= is_quiet || depth <= -MAX_QUIESCENCE;
        if depth <= -MAX_QUIESCENCE {
            return here;
        }
        let stands = self.stand_pat(is_own, is_quiet.then_some(here));
        if let Some(score) = stands {
            window.narrow(is_own, score);
            if window.is_closed() {
                return score;
            }
        }
        let moves = legal_moves(&mut self.world, self.contract);
        // If rows are missing, having no action means nothing.
        if self.has_run_out() {
            return 0;
        }
        if moves.is_empty() {
            return self.stuck(self.taken(ply, place));
        }
        let moves = self.ordered(moves, &standing, first.as_ref(), is_quiet);
        self.path.push(place);
        let found = self.best_of(moves, depth, ply, is_own, window);
        self.path.pop();
        match (found, stands) {
            (None, stands) => stands.unwrap_or(here),
            (Some((score, _)), Some(stands)) if is_own => score.max(stands),
            (Some((score, _)), Some(stands)) => score.min(stands),
            (Some((score, best)), None) => {
                if !self.is_out {
                    let bound = window.bound_of(score);
                    window.narrow(is_own, score);
                    let found = Known { depth, score, bound, best };
                    self.remember(place.key, found, window.is_closed());
                }
                score
            }
        }
    }

    /// The best of these actions for the side to move, with its score, searched to a depth; `None` if none of them can be
    /// taken, or the search had to end before.
    fn best_of(
        &mut self,
        moves: Vec<Move>,
        depth: i32,
        ply: i32,
        is_own: bool,
        mut window: Window,
    ) -> Option<(i32, Move)> {
        let mut best: Option<(i32, Move)> = None;
        for mv in moves {
            let found = self.after(&mv, |it| it.score(depth - 1, ply + 1, window));
            if self.is_out {
                break;
            }
            let Some(score) = found else { continue };
            if best.as_ref().is_none_or(|it| if is_own { score > it.0 } else { score < it.0 }) {
                best = Some((score, mv));
            }
            window.narrow(is_own, score);
            if window.is_closed() {
                break;
            }
        }
        best
    }

    /// The score of a position where no action has to be searched, since the game is over or drawn by repetition, or a win
    /// is too far off. Meaningless if the search has to end.
    fn score_without_search(&mut self, ply: i32, place: Place, recurs: bool) -> Option<i32> {
        let ended = winner(&mut self.world, self.contract);
        if self.has_run_out() {
            return Some(0);
        }
        let taken = self.taken(ply, place);
        if let Some(winner) = ended {
            return Some(self.ended(winner, taken));
        }
        let is_drawn = recurs && is_repetition_drawn(&mut self.world, self.contract);
        (is_drawn || WIN - taken <= self.floor).then_some(0)
    }

    /// The score that the side to move has for certain: `here`, where it need not capture, or that of a draw which it may
    /// claim.
    fn stand_pat(&mut self, is_own: bool, here: Option<i32>) -> Option<i32> {
        let may_claim = self.world.any(self.contract.claim);
        let scores = here.into_iter().chain(may_claim.then_some(0));
        if is_own { scores.max() } else { scores.min() }
    }

    /// Enters a position into the transposition table, if there is room, and an action that cut the search off into the
    /// history.
    fn remember(&mut self, key: u64, found: Known, cut_off: bool) {
        let has_room = self.known.len() < MAX_KNOWN || self.known.contains_key(&key);
        if !self.has_keys || !has_room {
            return;
        }
        if cut_off {
            let often = self.history.entry(found.best.clone()).or_default();
            *often = (*often + found.depth * found.depth).min(CAPTURE - MAX_WORTH);
        }
        self.known.insert(key, found);
    }

    /// The position on the board as the path has it.
    pub(super) fn here(&mut self) -> Place {
        let key = position_key(&mut self.world);
        let mover = self.contract.mover(self.world.facts());
        let last = self.path.last();
        let turn = last.map_or(0, |it| it.turn + i64::from(it.mover != mover));
        Place { key, mover, turn, times: 1 }
    }

    /// States, as the game does, how often the position on the board has occurred and how many turns ago it first did.
    /// Returns also whether it has occurred before.
    pub(super) fn recur(&mut self) -> (Place, bool) {
        let here = self.here();
        (here, state_recurrence(&mut self.world, self.contract, here, &self.path))
    }

    /// Counts a position. Returns whether the search has to end.
    pub(super) fn spend(&mut self) -> bool {
        self.nodes += 1;
        if self.nodes > self.budget.nodes || self.world.has_run_out() {
            self.is_out = true;
        } else if self.nodes >= MIN_NODES {
            let is_late = self.budget.time.is_some_and(|it| self.started.elapsed() >= it);
            self.is_out |= is_late || self.stop.is_stopped();
        }
        self.is_out
    }

    /// Whether the search has to end, for one because the rules have exceeded their budget: then what was just read is
    /// meaningless.
    pub(super) fn has_run_out(&mut self) -> bool {
        self.is_out |= self.world.has_run_out();
        self.is_out
    }

    /// Whether that is the root's side.
    pub(super) fn is_own(&self, mover: Option<i64>) -> bool {
        mover == i64::try_from(self.side).ok()
    }

    pub(super) fn is_own_turn(&self) -> bool {
        self.is_own(self.contract.mover(self.world.facts()))
    }

    /// What it takes to come to a position, by which scores of wins and losses differ.
    pub(super) fn taken(&self, actions: i32, place: Place) -> i32 {
        let turns = place.turn.saturating_sub(self.turn);
        actions + TURN * turns.clamp(0, actions.into()) as i32
    }

    /// The score where the game is over, from what it takes to come there.
    pub(super) fn ended(&self, winner: Option<usize>, taken: i32) -> i32 {
        match winner {
            None => 0,
            Some(it) if it == self.side => WIN - taken,
            Some(_) => taken - WIN,
        }
    }

    /// The score that only wins within so many turns of the root's side exceed.
    fn above_wins_after(&self, turns: u32) -> i32 {
        let sides = self.program.schema.domain(self.contract.sides).size().max(1);
        let over = i32::try_from(u64::from(turns) * sides as u64).unwrap_or(i32::MAX);
        (WIN.saturating_sub(over.saturating_mul(TURN))).max(DECIDED)
    }

    /// The number of turns of the root's side in the actions that the score of a win or a loss stands for.
    pub(super) fn turns_of(&self, score: i32) -> u32 {
        let over = ((WIN - score.abs()) / TURN) as u32;
        let sides = self.program.schema.domain(self.contract.sides).size().max(1) as u32;
        match score {
            it if it > DECIDED => over / sides + 1,
            it if it < -DECIDED => over.div_ceil(sides).max(1),
            _ => 0,
        }
    }

    /// The score where the side to move has no action, from what it takes to come there.
    pub(super) fn stuck(&mut self, taken: i32) -> i32 {
        if !may_stop(&mut self.world, self.contract) {
            // The side cannot finish its turn and would have to take it back, so the turn scores as a loss.
            return if self.is_own_turn() { taken - WIN } else { WIN - taken };
        }
        let winner = winner_if_stuck(&mut self.world, self.contract);
        self.ended(winner, taken)
    }

    /// The pieces and features by which the position on the board is valued.
    pub(super) fn standing(&mut self) -> Vec<Standing> {
        standing(&mut self.world, self.contract, &self.features)
    }

    /// The static evaluation of the position on the board.
    pub(super) fn evaluation(&mut self) -> i32 {
        let standing = self.standing();
        self.value(&standing)
    }

    /// The static evaluation of a position with these pieces and features.
    fn value(&self, standing: &[Standing]) -> i32 {
        let lead = self.knowledge.score(standing, self.side);
        match &self.last_piece {
            Some(last) if last.side == self.side => lead - last.worth(standing),
            Some(last) => lead + last.worth(standing),
            None => lead,
        }
    }

    /// The legal actions of the position on the board, likely ones first.
    pub(super) fn sorted(&mut self) -> Vec<Move> {
        let moves = legal_moves(&mut self.world, self.contract);
        let standing = self.standing();
        self.ordered(moves, &standing, None, false)
    }

    /// Orders actions, `first` and then likely ones first; drops those that seem to capture nothing if `only_captures`.
    fn ordered(
        &self,
        moves: Vec<Move>,
        standing: &[Standing],
        first: Option<&Move>,
        only_captures: bool,
    ) -> Vec<Move> {
        let victims = Victims::of(self, standing);
        let mut rated = Vec::new();
        for mv in moves {
            let capture = victims.taken_by(self, &mv);
            if only_captures && capture.is_none() {
                continue;
            }
            let often = || self.history.get(&mv).copied().unwrap_or_default();
            let rate = match first == Some(&mv) {
                true => i32::MAX,
                false => capture.map_or_else(often, |it| CAPTURE + it),
            };
            rated.push((rate, mv));
        }
        best_first(rated)
    }

    /// The value of a kind of piece, for the order of actions.
    fn worth_of(&self, kind: usize) -> i32 {
        self.knowledge.worth_of(kind).abs().min(MAX_WORTH)
    }

    /// The principal variation after an action, from the transposition table.
    fn line(&mut self, first: &Move, depth: u32) -> Vec<Move> {
        let mark = self.world.mark();
        let mut line = vec![first.clone()];
        let mut mv = first.clone();
        while line.len() < depth as usize && self.has_keys {
            if self.world.fire(mv.action, &mv.args).is_err() {
                break;
            }
            let key = position_key(&mut self.world);
            let next = self.known.get(&key).map(|it| it.best.clone());
            let Some(next) = next.filter(|it| is_legal(&mut self.world, self.contract, it)) else {
                break;
            };
            // If rows are missing, the action may not be legal.
            if self.world.has_run_out() {
                break;
            }
            line.push(next.clone());
            mv = next;
        }
        self.world.rollback(mark);
        line
    }
}

/// The values of the pieces of other sides, which could be captured, by square.
struct Victims {
    by_square: HashMap<i64, i32>,
    mover: Option<usize>,
}

impl Victims {
    fn of(search: &Search<'_>, standing: &[Standing]) -> Self {
        let mover = mover(&search.world, search.contract);
        let foes = standing.iter().filter(|it| Some(it.side) != mover);
        let at = |it: &Standing| Some((it.square? as i64, search.worth_of(it.kind)));
        Self { by_square: foes.filter_map(at).collect(), mover }
    }

    /// The value of what an action seems to capture, less a little for the capturing piece; `None` if it
    /// seems to capture nothing.
    fn taken_by(&self, search: &Search<'_>, mv: &Move) -> Option<i32> {
        let columns = &search.program.action(mv.action).columns;
        let number =
            |piece: i64, attr| index_of(&search.world, EntityId(u32::try_from(piece).ok()?), attr);
        let (mut taken, mut with) = (None::<i32>, 0);
        for (column, &value) in columns.iter().zip(&mv.args) {
            if column.ty == Type::Domain(search.contract.board.domain) {
                taken = taken.max(self.by_square.get(&value).copied());
            } else if search.program.is_entity(column.ty) {
                let Some(kind) = number(value, search.contract.kind.attr) else { continue };
                let worth = search.worth_of(kind);
                match number(value, search.contract.color.attr) {
                    side if side.is_some() && side != self.mover => taken = taken.max(Some(worth)),
                    _ => with = worth,
                }
            }
        }
        taken.map(|it| it * 10 - with)
    }
}

/// Actions by falling rates, those of equal rates in their order.
fn best_first(mut rated: Vec<(i32, Move)>) -> Vec<Move> {
    rated.sort_by_key(|it| Reverse(it.0));
    rated.into_iter().map(|it| it.1).collect()
}

/// A random number from `-size` to `size`, small ones more often.
fn noise(chance: &mut Chance, size: i32) -> i32 {
    let width = size.unsigned_abs() as usize + 1;
    chance.below(width) as i32 - chance.below(width) as i32
}

/// Converts an internal score for callers.
pub(super) fn score_for_callers(score: i32) -> Score {
    match score {
        it if it > DECIDED => Score::Wins(((WIN - it) % TURN) as u32),
        it if it < -DECIDED => Score::Loses(((WIN + it).max(0) % TURN) as u32),
        it => Score::Hundredths(it),
    }
}
