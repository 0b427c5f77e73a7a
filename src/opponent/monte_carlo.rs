//! Looking ahead by samples: a tree that grows where actions look promising (PUCT with AMAF), for games that
//! alpha-beta does not see far enough in.
//!
//! What a new position promises is sampled: where pieces are not captured, by playing at random to the end, since what
//! stands where says little there; else by playing out captures ([`Search::score`] without depth). What an action did
//! elsewhere in the tree counts until it was tried often enough here. Wins and losses that are certain are proven up the
//! tree and not sampled again. All values are those of the side that asks, as in `search`: probabilities of winning.
//! Deliberately absent: threads; positions that are reached in different ways and yet are one.

use std::cmp::Ordering;

use foldhash::{HashMap, HashMapExt};

use super::knowledge::{standing, winner};
use super::search::{DECIDED, INFINITE, Search, told};
use super::{Chance, Choice, Score};
use crate::moves::{Move, legal_moves};

/// Maximum number of actions that are remembered in the tree.
const REMEMBERED: usize = 1 << 20;
/// Maximum number of actions of a sample that is played at random; what follows is valued by what stands where.
const LONGEST: usize = 300;
/// Part of the prior that all actions of a position share alike, and how slowly the rest falls from likely ones to
/// others.
const ALIKE: f32 = 0.25;
const FALL: f32 = 10.0;

/// How values are found and weighed.
#[derive(Debug, Clone, Copy)]
struct Manner {
    /// Positions are valued by games that are played at random.
    at_random: bool,
    /// How much actions count that were seldom tried.
    curiosity: f32,
    /// As many visits outweigh what the same action did elsewhere.
    elsewhere: f32,
    /// How much of a value is the best that follows, not the average.
    best: f32,
}

const AT_RANDOM: Manner = Manner { at_random: true, curiosity: 0.3, elsewhere: 100.0, best: 0.0 };
const BY_CAPTURES: Manner = Manner { at_random: false, curiosity: 0.4, elsewhere: 0.0, best: 0.5 };

pub(super) struct Tree<'g> {
    search: Search<'g>,
    manner: Manner,
    nodes: Vec<Node>,
    /// How many actions all nodes have.
    size: usize,
    /// What actions did, wherever they were taken: by others, and by the side that asks.
    seen: [HashMap<Move, Sum>; 2],
    chance: Chance,
}

/// A position of the tree.
struct Node {
    is_own: bool,
    key: u64,
    /// What it was worth at first sight.
    here: f32,
    /// Unknown until it is come by again.
    edges: Option<Vec<Edge>>,
}

/// An action of a position.
struct Edge {
    mv: Move,
    prior: f32,
    /// What the position after it is worth at first sight, if it was looked at.
    first: Option<f32>,
    sum: Sum,
    /// The best that follows.
    best: f32,
    after: After,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum After {
    Unseen,
    At(usize),
    /// The score is certain.
    Proven(i32),
    /// It is not looked into: a position that came before, or as deep as it goes.
    Fixed(f32),
}

/// Values that were found, and how many.
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

/// What a visit found: a sample, the best that follows, and the score if it is certain.
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
        let manner = if search.knowledge.is_quiet() { AT_RANDOM } else { BY_CAPTURES };
        let seen = [HashMap::new(), HashMap::new()];
        Self { search, manner, nodes: Vec::new(), size: 0, seen, chance: Chance(seed) }
    }

    pub(super) fn choose(&mut self) -> Option<Choice> {
        let (action, score) = self.judge().into_iter().next()?;
        let line = self.line();
        Some(Choice { action, score, depth: line.len() as u32, nodes: self.search.nodes, line })
    }

    /// All actions with their scores, best first.
    pub(super) fn judge(&mut self) -> Vec<(Move, Score)> {
        let (is_own, key) = (self.search.is_own_turn(), self.search.key());
        let here = self.at_first_sight();
        self.nodes.push(Node { is_own, key, here, edges: None });
        loop {
            let found = self.visit(0, 1);
            if found.proven.is_some() || self.edges(0).len() <= 1 || self.search.is_spent() {
                break;
            }
        }
        let mut judged: Vec<&Edge> = self.edges(0).iter().collect();
        judged.sort_by(|a, b| self.compared(b, a, is_own));
        let score = |it: &Edge| match it.after {
            After::Proven(score) => told(score),
            _ => Score::Hundredths(hundredths(self.value(0, it))),
        };
        judged.into_iter().map(|it| (it.mv.clone(), score(it))).collect()
    }

    /// Goes down the tree to a position that is new, and takes what it is worth back up.
    fn visit(&mut self, at: usize, ply: i32) -> Found {
        if self.nodes[at].edges.is_none()
            && let Some(score) = self.grow(at, ply)
        {
            return Found::proven(score);
        }
        let here = Found::sampled(self.nodes[at].here);
        let Some(chosen) = self.chosen(at).filter(|_| !self.search.is_out) else { return here };
        let edge = &self.edges(at)[chosen];
        let (mv, after) = (edge.mv.clone(), edge.after);
        let found = match after {
            After::Proven(score) => Some(Found::proven(score)),
            After::Fixed(value) => Some(Found::sampled(value)),
            After::Unseen | After::At(_) => self.follow(at, chosen, ply),
        };
        let Some(edges) = &mut self.nodes[at].edges else { return here };
        let Some(found) = found else {
            // It is legal and cannot be taken.
            edges.remove(chosen);
            return here;
        };
        if self.search.is_out {
            return found;
        }
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

    /// What is found after an action; none if it cannot be taken.
    fn follow(&mut self, at: usize, chosen: usize, ply: i32) -> Option<Found> {
        let edge = &self.edges(at)[chosen];
        let (mv, after) = (edge.mv.clone(), edge.after);
        self.search.path.push(self.nodes[at].key);
        let mark = self.search.world.mark();
        let taken = self.search.world.fire(mv.action, &mv.args).is_ok();
        let found = taken.then(|| match after {
            After::At(next) => self.visit(next, ply + 1),
            _ => self.enter(at, chosen, ply),
        });
        self.search.world.rollback(mark);
        self.search.path.pop();
        found
    }

    /// What a position promises that is looked at for the first time: it becomes a part of the tree.
    fn enter(&mut self, at: usize, chosen: usize, ply: i32) -> Found {
        if self.search.is_spent() {
            return Found::sampled(EVEN);
        }
        let ended = winner(&mut self.search.world, self.search.contract);
        if self.search.has_run_out() {
            return Found::sampled(EVEN);
        }
        if let Some(winner) = ended {
            return Found::proven(self.search.ended(winner, ply));
        }
        let key = self.search.key();
        let comes_again = self.search.repeats && self.search.path.contains(&key);
        let value = match comes_again {
            true => EVEN,
            false if self.manner.at_random => self.sampled(),
            false => chance_of(self.search.score(0, ply, -INFINITE, INFINITE)),
        };
        let is_last = ply >= self.search.budget.depth.min(DEEPEST) as i32;
        let after = if comes_again || (is_last && !self.manner.at_random) {
            After::Fixed(value)
        } else if is_last || self.size >= REMEMBERED || self.search.is_out {
            After::Unseen
        } else {
            let is_own = self.search.is_own_turn();
            self.nodes.push(Node { is_own, key, here: value, edges: None });
            After::At(self.nodes.len() - 1)
        };
        if let Some(edges) = &mut self.nodes[at].edges {
            edges[chosen].after = after;
        }
        Found::sampled(value)
    }

    /// How a game ends that is played at random from here.
    fn sampled(&mut self) -> f32 {
        let mark = self.search.world.mark();
        let (mut taken, mut value) = (Vec::new(), None);
        while value.is_none() && taken.len() < LONGEST {
            let moves = legal_moves(&mut self.search.world, self.search.contract);
            if self.search.has_run_out() {
                break;
            }
            if moves.is_empty() {
                value = Some(chance_of(self.search.stuck(1)));
                break;
            }
            let is_own = self.search.is_own_turn();
            let mv = moves[self.chance.below(moves.len())].clone();
            if self.search.world.fire(mv.action, &mv.args).is_err() || self.search.is_spent() {
                break;
            }
            taken.push((is_own, mv));
            let ended = winner(&mut self.search.world, self.search.contract);
            value = ended.map(|it| chance_of(self.search.ended(it, 1)));
        }
        let value = value.unwrap_or_else(|| self.at_first_sight());
        self.search.world.rollback(mark);
        for (is_own, mv) in taken {
            self.note(is_own, mv, value);
        }
        value
    }

    /// Finds the actions of a position that so many actions less one lead to; its score, if it is certain.
    fn grow(&mut self, at: usize, ply: i32) -> Option<i32> {
        let (is_own, is_root) = (self.nodes[at].is_own, at == 0);
        let moves = self.search.sorted(None);
        if self.search.has_run_out() {
            return None;
        }
        if moves.is_empty() {
            return Some(self.search.stuck(ply - 1));
        }
        let mut edges = Vec::with_capacity(moves.len());
        let mut proven = None;
        for (rank, mv) in moves.into_iter().enumerate() {
            // A win at once is found whatever else is: all first actions are looked at.
            let (first, score) = if is_root { self.look(&mv, ply) } else { (None, None) };
            if is_root && first.is_none() {
                continue;
            }
            // Actions that look alike are tried in another order each time.
            let prior = (1.0 + self.chance.below(100) as f32 / 1_000.0) / (rank as f32 + FALL);
            let best = first.unwrap_or(self.nodes[at].here);
            let after = score.map_or(After::Unseen, After::Proven);
            edges.push(Edge { mv, prior, first, sum: Sum::default(), best, after });
            proven = score.filter(|it| if is_own { *it > DECIDED } else { *it < -DECIDED });
            if proven.is_some() {
                break;
            }
        }
        let (total, count) = (edges.iter().map(|it| it.prior).sum::<f32>(), edges.len() as f32);
        for it in &mut edges {
            it.prior = it.prior / total * (1.0 - ALIKE) + ALIKE / count;
        }
        self.size += edges.len();
        self.nodes[at].edges = Some(edges);
        proven
    }

    /// What the position after an action is worth at first sight, and its score if the game is over there; nothing, if
    /// the action cannot be taken.
    fn look(&mut self, mv: &Move, ply: i32) -> (Option<f32>, Option<i32>) {
        let mark = self.search.world.mark();
        let taken = self.search.world.fire(mv.action, &mv.args).is_ok();
        let first = taken.then(|| self.at_first_sight());
        let mut score = None;
        if taken && !self.search.is_out && !self.search.is_spent() {
            let ended = winner(&mut self.search.world, self.search.contract);
            let is_known = !self.search.has_run_out();
            score = ended.filter(|_| is_known).map(|it| self.search.ended(it, ply));
        }
        self.search.world.rollback(mark);
        (first, score)
    }

    /// The action that is tried next.
    fn chosen(&self, at: usize) -> Option<usize> {
        let is_own = self.nodes[at].is_own;
        let edges = self.edges(at);
        let visits: f32 = edges.iter().map(|it| it.sum.visits).sum();
        let curiosity = self.manner.curiosity * (visits + 1.0).sqrt();
        let rated = |it: &Edge| {
            let value = self.value(at, it);
            let own = if is_own { value } else { 1.0 - value };
            // A certain loss is not tried.
            let lost = matches!(it.after, After::Proven(_)) && own < 0.01;
            own + curiosity * it.prior / (1.0 + it.sum.visits)
                - if lost { INFINITE as f32 } else { 0.0 }
        };
        let all = edges.iter().map(rated).enumerate();
        all.max_by(|a, b| a.1.total_cmp(&b.1)).map(|it| it.0)
    }

    /// What an action is worth, as far as is known.
    fn value(&self, at: usize, edge: &Edge) -> f32 {
        if let After::Proven(score) = edge.after {
            return chance_of(score);
        }
        let node = &self.nodes[at];
        let elsewhere = self.seen[usize::from(node.is_own)].get(&edge.mv).copied();
        let elsewhere = elsewhere.filter(|it| it.visits > 0.0);
        let visits = edge.sum.visits;
        if visits == 0.0 {
            let first = edge.first.unwrap_or(node.here);
            let weight = elsewhere.map_or(0.0, |it| it.visits / (it.visits + FEW));
            return first * (1.0 - weight) + weight * elsewhere.map_or(0.0, Sum::mean);
        }
        let mean = edge.sum.mean() * (1.0 - self.manner.best) + self.manner.best * edge.best;
        let weight = (self.manner.elsewhere / (self.manner.elsewhere + visits)).sqrt();
        elsewhere.map_or(mean, |it| mean * (1.0 - weight) + weight * it.mean())
    }

    /// Takes down what an action did.
    fn note(&mut self, is_own: bool, mv: Move, value: f32) {
        let seen = &mut self.seen[usize::from(is_own)];
        if seen.len() < REMEMBERED || seen.contains_key(&mv) {
            seen.entry(mv).or_default().add(value);
        }
    }

    /// What is certain of a position by what is certain of its actions.
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

    /// Which of two actions is the better one for a side: certain wins, the soonest first, then those that were tried
    /// most, then certain losses, the latest first.
    fn compared(&self, a: &Edge, b: &Edge, is_own: bool) -> Ordering {
        let sign = if is_own { 1 } else { -1 };
        let certain = |it: &Edge| match it.after {
            After::Proven(score) if score.abs() > DECIDED => sign * score,
            _ => 0,
        };
        let first = |it: &Edge| sign as f32 * it.first.unwrap_or_default();
        certain(a)
            .cmp(&certain(b))
            .then(a.sum.visits.total_cmp(&b.sum.visits))
            .then(first(a).total_cmp(&first(b)))
    }

    /// What is expected to follow, the best action first.
    fn line(&self) -> Vec<Move> {
        let (mut line, mut at) = (Vec::new(), 0);
        loop {
            let is_own = self.nodes[at].is_own;
            // Of equal ones the first, as in the list of all.
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

    /// How likely the side that asks wins, by what stands where.
    fn at_first_sight(&self) -> f32 {
        let standing = standing(&self.search.world, self.search.contract);
        let side = usize::try_from(self.search.side).unwrap_or_default();
        chance_of(self.search.knowledge.score(&standing, side))
    }
}

/// Neither side is better off.
const EVEN: f32 = 0.5;
/// As many samples of an action elsewhere count like what its position is worth at first sight.
const FEW: f32 = 3.0;
/// Maximum number of actions in a row of the tree.
const DEEPEST: u32 = 200;

/// How likely the side that asks wins, by a score.
fn chance_of(score: i32) -> f32 {
    1.0 / (1.0 + (-(score as f32) / 100.0).exp())
}

/// The score that means such a probability.
fn hundredths(value: f32) -> i32 {
    let value = value.clamp(0.001, 0.999);
    ((value / (1.0 - value)).ln() * 100.0) as i32
}
