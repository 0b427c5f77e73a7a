//! Monte Carlo tree search (PUCT with AMAF), for games in which alpha-beta cannot search deep enough.
//!
//! In games without captures a new position is valued by a random rollout to the end, since the placement of
//! pieces says little there; in others by a search of captures ([`Search::score`] without depth). The results
//! of an action wherever it was taken, in rollouts too (AMAF), count the less the more often it was tried here.
//! Certain wins and losses are proven up the tree and not sampled again. All values are probabilities that the root's
//! side wins, as scores in `search` are scores of that side. [`Search::spend`] counts a position, and is true once the
//! search has to end; [`Search::has_run_out`] tells the same without counting. Deliberately absent: threads;
//! transpositions.

use std::cmp::Ordering;

use foldhash::{HashMap, HashMapExt};

use super::knowledge::{is_repetition_drawn, logistic, winner};
use super::search::{DECIDED, INFINITE, Search, Window, score_for_callers};
use super::{Chance, Choice, Score};
use crate::game::Place;
use crate::moves::{Move, legal_moves};

/// Maximum number of actions in the tree, beyond which no positions are added, and in each table of AMAF.
const MAX_ACTIONS: usize = 1 << 20;
/// Maximum number of actions of a rollout; the position after them is evaluated statically.
const MAX_ROLLOUT: usize = 300;
/// The part of the prior that is equal for all actions of a position.
const UNIFORM: f32 = 0.25;
/// The rest of the prior falls with the rank of an action as `1 / (rank + FALL)`.
const FALL: f32 = 10.0;
/// The number of AMAF samples that weigh as much as what is known of an action before it is tried: the static evaluation
/// after it, or the value of the position before it.
const PRIOR_SAMPLES: f32 = 3.0;
/// Maximum depth of the tree.
const MAX_DEPTH: u32 = 200;
/// Neither side is better off.
const EVEN: f32 = 0.5;
/// Number of positions after which a choice is first told.
const FIRST_TOLD: u64 = 512;

/// The parameters of the search.
#[derive(Debug, Clone, Copy)]
struct SearchParams {
    /// Whether positions are valued by random rollouts.
    at_random: bool,
    /// The exploration constant of PUCT.
    exploration: f32,
    /// How slowly the weight of AMAF values decreases with visits: `sqrt(amaf / (amaf + visits))`.
    amaf: f32,
    /// The share that [`Edge::best`] has in the value of an action; the rest is the average of its visits.
    best: f32,
}

const AT_RANDOM: SearchParams =
    SearchParams { at_random: true, exploration: 0.3, amaf: 100.0, best: 0.0 };
const BY_CAPTURES: SearchParams =
    SearchParams { at_random: false, exploration: 0.4, amaf: 0.0, best: 0.5 };

pub(super) struct Tree<'g> {
    search: Search<'g>,
    params: SearchParams,
    nodes: Vec<Node>,
    /// The number of edges of all nodes.
    size: usize,
    /// The results of actions wherever they were taken (AMAF): by other sides, and by the root's side.
    amaf: [HashMap<Move, Sum>; 2],
    chance: Chance,
}

/// A position of the tree.
struct Node {
    is_own: bool,
    /// Its entry in the path.
    place: Place,
    /// Its value when it was first reached.
    here: f32,
    /// `None` until it is reached again and expanded.
    edges: Option<Vec<Edge>>,
}

/// An action of a position.
struct Edge {
    mv: Move,
    prior: f32,
    /// The static evaluation of the position after it, which only actions of the root have.
    evaluation: Option<f32>,
    sum: Sum,
    /// Its minimax value in the tree so far: every side takes what is best for it.
    best: f32,
    after: After,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum After {
    /// It is not in the tree: the action was not tried, or there was no room, or, with rollouts, it is at the maximum
    /// depth.
    Absent,
    At(usize),
    /// The score is proven.
    Proven(i32),
    /// It is not searched: a repetition, or the maximum depth in games without rollouts.
    Fixed(f32),
}

/// A sum of values, with their number.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    visits: f32,
    total: f32,
}

impl Sum {
    fn add(&mut self, value: f32) {
        self.visits += 1.0;
        self.total += value;
    }

    fn mean(self) -> f32 {
        self.total / self.visits.max(1.0)
    }
}

/// The result of a visit: a sample, the minimax value so far, and the score if it is proven.
#[derive(Debug, Clone, Copy)]
struct Found {
    value: f32,
    best: f32,
    proven: Option<i32>,
}

impl Found {
    fn sampled(value: f32) -> Self {
        Self { value, best: value, proven: None }
    }

    fn proven(score: i32) -> Self {
        Self { proven: Some(score), ..Self::sampled(chance_of(score)) }
    }
}

impl<'g> Tree<'g> {
    pub(super) fn new(search: Search<'g>, seed: u64) -> Self {
        let params = if search.knowledge.is_quiet() { AT_RANDOM } else { BY_CAPTURES };
        let amaf = [HashMap::new(), HashMap::new()];
        Self { search, params, nodes: Vec::new(), size: 0, amaf, chance: Chance(seed) }
    }

    /// The best action. Tells the best one so far each time that the number of positions has doubled.
    pub(super) fn choose(&mut self, tell: &mut dyn FnMut(&Choice)) -> Option<Choice> {
        let mut next = FIRST_TOLD;
        self.grow(|tree| {
            if tree.search.nodes >= next {
                next = tree.search.nodes * 2;
                tree.choice().iter().for_each(&mut *tell);
            }
        });
        self.choice()
    }

    /// All actions with their scores, best first.
    pub(super) fn judge(&mut self) -> Vec<(Move, Score)> {
        self.grow(|_| ());
        let for_callers = |(mv, score)| (mv, score_for_callers(score));
        self.judged().into_iter().map(for_callers).collect()
    }

    /// Visits positions until the budget is spent or the result is proven.
    fn grow(&mut self, mut after_visit: impl FnMut(&Self)) {
        let (is_own, place) = (self.search.is_own_turn(), self.search.here());
        let here = self.evaluation();
        self.nodes.push(Node { is_own, place, here, edges: None });
        loop {
            let found = self.visit(0, 1);
            if found.proven.is_some() || self.edges(0).len() <= 1 || self.search.spend() {
                break;
            }
            after_visit(self);
        }
    }

    /// The best action so far.
    fn choice(&self) -> Option<Choice> {
        let (action, score) = self.judged().into_iter().next()?;
        let line = self.line();
        Some(Choice {
            action,
            score: score_for_callers(score),
            turns: self.search.turns_of(score),
            depth: line.len() as u32,
            nodes: self.search.nodes,
            line,
        })
    }

    /// All actions with their scores so far, best first.
    fn judged(&self) -> Vec<(Move, i32)> {
        let is_own = self.nodes.first().is_some_and(|it| it.is_own);
        let mut judged: Vec<&Edge> = self.edges(0).iter().collect();
        judged.sort_by(|a, b| self.compared(b, a, is_own));
        let score = |it: &Edge| match it.after {
            After::Proven(score) => score,
            _ => hundredths(self.value(0, it)),
        };
        judged.into_iter().map(|it| (it.mv.clone(), score(it))).collect()
    }

    /// Descends to a new position, and backs its value up.
    fn visit(&mut self, at: usize, ply: i32) -> Found {
        if self.nodes[at].edges.is_none()
            && let Some(score) = self.expand(at, ply)
        {
            return Found::proven(score);
        }
        let here = Found::sampled(self.nodes[at].here);
        let Some(chosen) = self.select(at).filter(|_| !self.search.is_out) else { return here };
        let edge = &self.edges(at)[chosen];
        let (mv, after) = (edge.mv.clone(), edge.after);
        let found = match after {
            After::Proven(score) => Some(Found::proven(score)),
            After::Fixed(value) => Some(Found::sampled(value)),
            After::Absent | After::At(_) => self.follow(at, chosen, ply),
        };
        let Some(edges) = &mut self.nodes[at].edges else { return here };
        if self.search.is_out {
            return found.unwrap_or(here);
        }
        let Some(found) = found else {
            // It is legal but cannot be taken.
            edges.remove(chosen);
            return here;
        };
        let edge = &mut edges[chosen];
        edge.sum.add(found.value);
        edge.best = found.best;
        if let Some(score) = found.proven {
            edge.after = After::Proven(score);
        }
        let is_own = self.nodes[at].is_own;
        self.note(is_own, mv, found.value);
        let all = self.edges(at).iter().map(|it| it.best);
        let best = if is_own { all.fold(0.0, f32::max) } else { all.fold(1.0, f32::min) };
        let proven = found.proven.and_then(|_| self.proven(at));
        Found { value: found.value, best, proven }
    }

    /// The result of a visit below an action; `None` if it cannot be taken, or if the budget of the rules ran out in it.
    fn follow(&mut self, at: usize, chosen: usize, ply: i32) -> Option<Found> {
        let edge = &self.edges(at)[chosen];
        let (mv, after) = (edge.mv.clone(), edge.after);
        // The root is in the path from the start.
        let before = self.search.path.len();
        self.search.path.extend((at > 0).then_some(self.nodes[at].place));
        let mark = self.search.world.mark();
        let taken = self.search.world.fire(mv.action, &mv.args).is_ok();
        let found = taken.then(|| match after {
            After::At(next) => self.visit(next, ply + 1),
            _ => self.enter(at, chosen, ply),
        });
        if !taken {
            // It may be the rules that have run out.
            self.search.has_run_out();
        }
        self.search.world.rollback(mark);
        self.search.path.truncate(before);
        found
    }

    /// Values the position after an action, which is not in the tree, and adds it unless it is a repetition or at the
    /// maximum depth, or there is no room.
    fn enter(&mut self, at: usize, chosen: usize, ply: i32) -> Found {
        if self.search.spend() {
            return Found::sampled(EVEN);
        }
        let (place, recurs) = self.search.recur();
        let ended = winner(&mut self.search.world, self.search.contract);
        if self.search.has_run_out() {
            return Found::sampled(EVEN);
        }
        if let Some(winner) = ended {
            return Found::proven(self.search.ended(winner, self.search.taken(ply, place)));
        }
        let is_repetition =
            recurs && is_repetition_drawn(&mut self.search.world, self.search.contract);
        let value = match is_repetition {
            true => EVEN,
            false if self.params.at_random => self.rollout(),
            false => chance_of(self.search.score(0, ply, Window::WHOLE)),
        };
        let is_last = ply >= self.search.budget.depth.min(MAX_DEPTH) as i32;
        let after = if is_repetition || (is_last && !self.params.at_random) {
            After::Fixed(value)
        } else if is_last || self.size >= MAX_ACTIONS || self.search.is_out {
            After::Absent
        } else {
            let is_own = self.search.is_own(place.mover);
            self.nodes.push(Node { is_own, place, here: value, edges: None });
            After::At(self.nodes.len() - 1)
        };
        if let Some(edges) = &mut self.nodes[at].edges {
            edges[chosen].after = after;
        }
        Found::sampled(value)
    }

    /// Plays at random from here to the end, or up to a limit, and notes the value for each action that was taken.
    fn rollout(&mut self) -> f32 {
        let mark = self.search.world.mark();
        let (mut taken, mut value) = (Vec::new(), None);
        while value.is_none() && taken.len() < MAX_ROLLOUT {
            let moves = legal_moves(&mut self.search.world, self.search.contract);
            if self.search.has_run_out() {
                break;
            }
            // How many actions it took does not matter here: sooner and later wins have the same chance.
            if moves.is_empty() {
                value = Some(chance_of(self.search.stuck(1)));
                break;
            }
            let is_own = self.search.is_own_turn();
            let mv = moves[self.chance.below(moves.len())].clone();
            if self.search.world.fire(mv.action, &mv.args).is_err() || self.search.spend() {
                break;
            }
            taken.push((is_own, mv));
            let ended = winner(&mut self.search.world, self.search.contract);
            value = ended.map(|it| chance_of(self.search.ended(it, 1)));
        }
        let value = value.unwrap_or_else(|| self.evaluation());
        self.search.world.rollback(mark);
        for (is_own, mv) in taken {
            self.note(is_own, mv, value);
        }
        value
    }

    /// Finds the actions of a position, which is `ply - 1` actions below the root. Returns its score, if it
    /// is proven.
    fn expand(&mut self, at: usize, ply: i32) -> Option<i32> {
        let (is_own, is_root) = (self.nodes[at].is_own, at == 0);
        let moves = self.search.sorted();
        if self.search.has_run_out() {
            return None;
        }
        if moves.is_empty() {
            let taken = self.search.taken(ply - 1, self.nodes[at].place);
            return Some(self.search.stuck(taken));
        }
        let mut edges = Vec::with_capacity(moves.len());
        let mut proven = None;
        for (rank, mv) in moves.into_iter().enumerate() {
            // All actions of the root are evaluated, so that an immediate win is never missed.
            let (evaluation, score) = if is_root { self.look(&mv, ply) } else { (None, None) };
            if is_root && evaluation.is_none() {
                continue;
            }
            // With a little noise, actions of close ranks are not always tried in the same order.
            let prior = (1.0 + self.chance.below(100) as f32 / 1_000.0) / (rank as f32 + FALL);
            let best = evaluation.unwrap_or(self.nodes[at].here);
            let after = score.map_or(After::Absent, After::Proven);
            edges.push(Edge { mv, prior, evaluation, sum: Sum::default(), best, after });
            proven = score.filter(|it| if is_own { *it > DECIDED } else { *it < -DECIDED });
            if proven.is_some() {
                break;
            }
        }
        let (total, count) = (edges.iter().map(|it| it.prior).sum::<f32>(), edges.len() as f32);
        for it in &mut edges {
            it.prior = it.prior / total * (1.0 - UNIFORM) + UNIFORM / count;
        }
        self.size += edges.len();
        self.nodes[at].edges = Some(edges);
        proven
    }

    /// The static evaluation of the position after an action, and its score if the game is over there; `None`
    /// for both if the action cannot be taken.
    fn look(&mut self, mv: &Move, ply: i32) -> (Option<f32>, Option<i32>) {
        let looked = self.search.after(mv, |search| {
            let evaluation = chance_of(search.evaluation());
            if search.is_out || search.spend() {
                return (evaluation, None);
            }
            let (place, _) = search.recur();
            let ended = winner(&mut search.world, search.contract);
            let is_known = !search.has_run_out();
            let taken = search.taken(ply, place);
            (evaluation, ended.filter(|_| is_known).map(|winner| search.ended(winner, taken)))
        });
        looked.map_or((None, None), |(evaluation, score)| (Some(evaluation), score))
    }

    /// The action that is tried next, by PUCT.
    fn select(&self, at: usize) -> Option<usize> {
        let is_own = self.nodes[at].is_own;
        let sign = if is_own { 1 } else { -1 };
        let edges = self.edges(at);
        let visits: f32 = edges.iter().map(|it| it.sum.visits).sum();
        let exploration = self.params.exploration * (visits + 1.0).sqrt();
        let rated = |it: &Edge| {
            let value = self.value(at, it);
            let own = if is_own { value } else { 1.0 - value };
            // A proven loss is not tried.
            let is_lost = matches!(it.after, After::Proven(score) if sign * score < -DECIDED);
            own + exploration * it.prior / (1.0 + it.sum.visits)
                - if is_lost { INFINITE as f32 } else { 0.0 }
        };
        let all = edges.iter().map(rated).enumerate();
        all.max_by(|a, b| a.1.total_cmp(&b.1)).map(|it| it.0)
    }

    /// The value of an action, as far as is known.
    fn value(&self, at: usize, edge: &Edge) -> f32 {
        if let After::Proven(score) = edge.after {
            return chance_of(score);
        }
        let node = &self.nodes[at];
        let elsewhere = self.amaf[usize::from(node.is_own)].get(&edge.mv).copied();
        let elsewhere = elsewhere.filter(|it| it.visits > 0.0);
        let visits = edge.sum.visits;
        if visits == 0.0 {
            let first = edge.evaluation.unwrap_or(node.here);
            let weight = elsewhere.map_or(0.0, |it| it.visits / (it.visits + PRIOR_SAMPLES));
            return first * (1.0 - weight) + weight * elsewhere.map_or(0.0, Sum::mean);
        }
        let mean = edge.sum.mean() * (1.0 - self.params.best) + self.params.best * edge.best;
        let weight = (self.params.amaf / (self.params.amaf + visits)).sqrt();
        elsewhere.map_or(mean, |it| mean * (1.0 - weight) + weight * it.mean())
    }

    /// Adds the result of an action to the AMAF table.
    fn note(&mut self, is_own: bool, mv: Move, value: f32) {
        let seen = &mut self.amaf[usize::from(is_own)];
        if seen.len() < MAX_ACTIONS || seen.contains_key(&mv) {
            seen.entry(mv).or_default().add(value);
        }
    }

    /// The score of a position, if those of its actions prove it.
    fn proven(&self, at: usize) -> Option<i32> {
        let sign = if self.nodes[at].is_own { 1 } else { -1 };
        let scores = self.edges(at).iter().map(|it| match it.after {
            After::Proven(score) => Some(sign * score),
            _ => None,
        });
        let best = scores.clone().flatten().max()?;
        (best > DECIDED || scores.clone().all(|it| it.is_some())).then_some(sign * best)
    }

    fn edges(&self, at: usize) -> &[Edge] {
        self.nodes[at].edges.as_deref().unwrap_or_default()
    }

    /// Which of two actions is better for a side: proven wins, the soonest first, then those tried most
    /// often (of these, those with the better static evaluation), then proven losses, the latest first.
    fn compared(&self, a: &Edge, b: &Edge, is_own: bool) -> Ordering {
        let sign = if is_own { 1 } else { -1 };
        let certain = |it: &Edge| match it.after {
            After::Proven(score) if score.abs() > DECIDED => sign * score,
            _ => 0,
        };
        let evaluation = |it: &Edge| sign as f32 * it.evaluation.unwrap_or_default();
        certain(a)
            .cmp(&certain(b))
            .then(a.sum.visits.total_cmp(&b.sum.visits))
            .then(evaluation(a).total_cmp(&evaluation(b)))
    }

    /// The principal variation.
    fn line(&self) -> Vec<Move> {
        let (mut line, mut at) = (Vec::new(), 0);
        loop {
            let is_own = self.nodes[at].is_own;
            // Of equal ones the first, as in the list that `judge` makes: `max_by` takes the last, so they are reversed.
            let all = self.edges(at).iter().rev();
            let Some(best) = all.max_by(|a, b| self.compared(a, b, is_own)) else { return line };
            let is_tried = best.sum.visits > 0.0 || matches!(best.after, After::Proven(_));
            if !line.is_empty() && !is_tried {
                return line;
            }
            line.push(best.mv.clone());
            let After::At(next) = best.after else { return line };
            at = next;
        }
    }

    /// The static evaluation: the probability that the root's side wins, by its pieces, their squares, and features.
    fn evaluation(&mut self) -> f32 {
        chance_of(self.search.evaluation())
    }
}

/// The probability of winning for a score.
fn chance_of(score: i32) -> f32 {
    logistic(score as f32 / 100.0)
}

/// The score for a probability of winning.
fn hundredths(value: f32) -> i32 {
    let value = value.clamp(0.001, 0.999);
    ((value / (1.0 - value)).ln() * 100.0) as i32
}
