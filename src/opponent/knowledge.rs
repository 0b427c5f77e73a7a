//! The evaluation of positions, learned from games that are played with only the rules.
//!
//! The features of a position are the number of pieces of each kind and the squares that they are on, and the
//! rows of relations that rules declare as features (`.meta feature`), each of which belongs to a side like a
//! piece. A logistic regression over games finds which of them go with winning. The first games are random. Then come
//! rounds of games whose sides mostly take what looks best one action ahead, by the knowledge from the rounds before.
//! The prior of a kind is its mobility (the average number of actions of a piece), so that a few games are enough; in
//! games that are won by having fewer pieces, the regression reverses its sign. Deliberately absent: any kind, square
//! or game by name.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::derive::{Allowance, World};
use crate::facts::{AttrId, EntityId, GAME};
use crate::game::Game;
use crate::moves::{
    Contract, LegalityMode, Move, deciding, is_stuck, legal_moves, may_stop, pseudo_moves,
};
use crate::rules::{Meta, Program, RelId, Type};

use super::Chance;

/// The limits of learning before the first move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lessons {
    /// Maximum number of actions of all games together, including those that are examined but not taken.
    pub actions: usize,
    /// Maximum number of actions of one game.
    pub longest: usize,
    /// Time limit for learning; with it, results are not reproducible.
    pub time: Option<Duration>,
}

impl Lessons {
    /// As many games as fit into a time, each with the usual limit of its actions.
    pub fn of(time: Duration) -> Self {
        Self { actions: usize::MAX, time: Some(time), ..Self::default() }
    }
}

impl Default for Lessons {
    fn default() -> Self {
        Self { actions: 300_000, longest: 300, time: Some(Duration::from_secs(3)) }
    }
}

/// The values of pieces, by kind, side and square.
#[derive(Debug, Clone, PartialEq)]
pub struct Knowledge {
    kinds: usize,
    squares: usize,
    sides: usize,
    /// By kind, then by feature.
    worth: Vec<f32>,
    /// By side, kind and square, added to the kind's value.
    place: Vec<f32>,
    /// Number of games with a winner that it was learned from.
    games: usize,
    /// Number of ways to take a turn, the geometric mean over random games.
    branching: f32,
    /// The share of actions of random games after which there are fewer pieces on the board; 1 if there were no actions.
    captures: f32,
    /// Whether a side to move was ever threatened.
    has_threats: bool,
}

/// A piece of a position: its side, its kind, and its square if it has one. A row of a feature is treated as a piece
/// without a square; its kind is a number after those of the kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) side: usize,
    pub(super) kind: usize,
    pub(super) square: Option<usize>,
}

/// A relation whose rows are counted for the side that one of its columns names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Feature {
    rel: RelId,
    side: usize,
}

/// A position of a game, for the regression.
struct Sample {
    standing: Vec<Standing>,
    winner: usize,
}

/// The value in the regression that is a score of 100.
const UNIT: f32 = 0.6;
/// The prior value of a piece that has one action.
const PRIOR: f32 = 0.25;
/// A piece with twice as many actions is worth a little less than twice as much.
const POWER: f32 = 0.85;
/// A game is quiet if its share of captures is below this.
const QUIET: f32 = 0.01;
/// Number of random squares on which a piece is tried alone.
const TRIED_SQUARES: usize = 12;
/// Maximum number of actions of the random games.
const MAX_RANDOM: usize = 100_000;
/// Maximum time for the random games.
const MAX_RANDOM_TIME: Duration = Duration::from_secs(1);
/// Number of occurrences of a position at which every rule of repetition applies.
const OFTEN: i64 = 1_000;
/// Maximum number of positions that are kept for the regression: the newest.
const MAX_SAMPLES: usize = 40_000;
/// Number of passes of the regression over all samples.
const PASSES: usize = 6;
/// Number of positions that the prior counts for.
const PRIOR_SAMPLES: f32 = 4.0;

impl Knowledge {
    /// Whether it was learned from a game with the same numbers of kinds, squares, sides and features.
    pub fn fits(&self, game: &Game) -> bool {
        let (program, contract) = (game.program(), game.contract());
        sizes(program, contract) == [self.kinds, self.squares, self.sides]
            && self.kinds + features(program, contract).len() == self.worth.len()
    }

    /// Learns a game from its position by self-play. Reproducible from the seed, if time is not limited.
    pub fn learn(game: &Game, lessons: Lessons, seed: u64) -> Self {
        let mut knowledge = Self::nothing(game);
        let mut sample_games = SampleGames::new(game, lessons.longest, seed);
        let alone = sample_games.alone(&mut game.world().clone(), knowledge.squares);
        // At most a third of the actions and of the time goes to random games. What is learned from them guides the
        // first round.
        let began = Instant::now();
        let mut spent = MAX_RANDOM.min(lessons.actions / 3);
        let time = lessons.time.map(|it| (it / 3).min(MAX_RANDOM_TIME));
        knowledge.games += sample_games.play_games(game, None, spent, time);
        knowledge.branching = sample_games.branching();
        knowledge.captures = sample_games.share_of_captures();
        knowledge.fit(&sample_games, &alone);
        // Each round is twice as long as all before it.
        while spent < lessons.actions && Allowance::exhausted().is_none() {
            let round = (spent * 2).min(lessons.actions - spent).max(1);
            let elapsed = began.elapsed();
            let time = lessons.time.map(|it| it.saturating_sub(elapsed).min(elapsed * 2));
            if time.is_some_and(|it| it.is_zero()) {
                break;
            }
            knowledge.games += sample_games.play_games(game, Some(&knowledge), round, time);
            knowledge.fit(&sample_games, &alone);
            spent += round;
        }
        knowledge.has_threats = sample_games.has_threats;
        knowledge
    }

    /// What is known of a game before any lesson.
    fn nothing(game: &Game) -> Self {
        let [kinds, squares, sides] = sizes(game.program(), game.contract());
        Self {
            kinds,
            squares,
            sides,
            worth: Vec::new(),
            place: Vec::new(),
            games: 0,
            branching: 0.0,
            captures: 1.0,
            has_threats: false,
        }
    }

    /// Number of ways in which a side can take its turn, the geometric mean over random games.
    pub fn branching(&self) -> f32 {
        self.branching
    }

    /// Whether pieces mostly stay on the board: hardly any action of random games captures, yet some games
    /// have winners.
    pub(super) fn is_quiet(&self) -> bool {
        self.captures < QUIET && self.games > 0
    }

    /// Whether a side to move was ever threatened.
    pub(super) fn has_threats(&self) -> bool {
        self.has_threats
    }

    /// Number of games with a winner that it was learned from.
    pub fn games(&self) -> usize {
        self.games
    }

    /// What a row of a feature is worth, on the same scale as [`Knowledge::worth_of`]. Features are numbered as the
    /// rules name them.
    pub fn worth_of_feature(&self, feature: usize) -> i32 {
        self.worth_of(self.kinds + feature)
    }

    /// What a piece of a kind is worth, on the scale of [`super::Score::Hundredths`].
    pub fn worth_of(&self, kind: usize) -> i32 {
        (self.worth.get(kind).copied().unwrap_or_default() / UNIT * 100.0) as i32
    }

    /// The score of a position for a side: its pieces against the average of the other sides.
    pub(super) fn score(&self, standing: &[Standing], side: usize) -> i32 {
        (self.lead(standing, side) / UNIT * 100.0) as i32
    }

    /// The value of a side's pieces, less the average of the other sides.
    fn lead(&self, standing: &[Standing], side: usize) -> f32 {
        let others = self.others();
        let signed = |it: &Standing| {
            let value = self.value(it);
            if it.side == side { value } else { -value / others }
        };
        standing.iter().map(signed).sum()
    }

    /// The number of other sides.
    fn others(&self) -> f32 {
        self.sides.saturating_sub(1).max(1) as f32
    }

    fn value(&self, it: &Standing) -> f32 {
        let worth = self.worth.get(it.kind).copied().unwrap_or_default();
        let at = it.square.and_then(|square| self.at(it, square));
        worth + at.map_or(0.0, |at| self.place[at])
    }

    /// The index of a piece in the table of squares; `None` if there was no such side, kind or square when the game was
    /// learned.
    fn at(&self, it: &Standing, square: usize) -> Option<usize> {
        let is_known = it.side < self.sides && it.kind < self.kinds && square < self.squares;
        is_known.then(|| (it.side * self.kinds + it.kind) * self.squares + square)
    }

    /// The regression: first the weight and sign of mobility, then each kind and square by itself.
    fn fit(&mut self, sample_games: &SampleGames<'_>, alone: &[Option<f32>]) {
        let among_others = |&(actions, seen): &(u64, u64)| match seen {
            0 => 0.0,
            _ => actions as f32 / seen as f32,
        };
        let mobility = sample_games.actions_of.iter().map(among_others).zip(alone);
        let mean = mobility.map(|(among, alone)| (among + alone.unwrap_or(among)) / 2.0);
        self.worth = mean.map(|it| it.powf(POWER) * PRIOR).collect();
        self.place = vec![0.0; self.sides * self.kinds * self.squares];
        let Some(factor) = self.prior_factor(sample_games) else { return };
        self.worth.iter_mut().for_each(|it| *it *= factor);
        let prior = self.worth.clone();
        let (mut rate, mut chance) = (0.05_f32, Chance(1));
        for _ in 0..PASSES {
            for _ in 0..sample_games.samples.len() {
                let sample = &sample_games.samples[chance.below(sample_games.samples.len())];
                self.step(sample, &prior, rate);
            }
            rate *= 0.8;
        }
        // A few games say little about single kinds, and less about single squares.
        let games = self.games as f32;
        let (of_kinds, of_places) = (games / (games + 40.0), games / (games + 200.0));
        for (worth, prior) in self.worth.iter_mut().zip(&prior) {
            *worth = prior + (*worth - prior) * of_kinds;
        }
        self.place.iter_mut().for_each(|it| *it *= of_places);
    }

    /// The factor by which the prior goes best with winning, negative where fewer pieces win; `None` if no game had a
    /// winner.
    fn prior_factor(&self, sample_games: &SampleGames<'_>) -> Option<f32> {
        if sample_games.samples.is_empty() {
            return None;
        }
        // A few games say little, so the prior counts as some positions that agree with it.
        let mut scale = 1.0_f32;
        for _ in 0..20 {
            let (mut slope, mut curve) = (0.0, 0.0);
            for it in &sample_games.samples {
                let difference = self.lead(&it.standing, it.winner);
                let expected = logistic(scale * difference);
                slope += (1.0 - expected) * difference;
                curve += expected * (1.0 - expected) * difference * difference;
            }
            slope += PRIOR_SAMPLES * (1.0 - scale);
            scale += (slope / (curve + PRIOR_SAMPLES)).clamp(-1.0, 1.0);
        }
        Some(scale.clamp(-2.0, 2.0))
    }

    /// One step of gradient descent.
    fn step(&mut self, sample: &Sample, prior: &[f32], rate: f32) {
        let others = self.others();
        let missing = 1.0 - logistic(self.lead(&sample.standing, sample.winner));
        for piece in &sample.standing {
            let share = if piece.side == sample.winner { 1.0 } else { -1.0 / others };
            let push = rate * missing * share;
            // Kinds are drawn towards their priors. Many squares share the evidence of a few games, so they are
            // drawn towards zero, and ten times as strongly.
            let (worth, prior) = (&mut self.worth[piece.kind], prior[piece.kind]);
            *worth += 0.05 * push + rate * 0.002 * (prior - *worth);
            if let Some(at) = piece.square.and_then(|square| self.at(piece, square)) {
                self.place[at] += 0.1 * push - rate * 0.02 * self.place[at];
            }
        }
    }
}

/// The numbers of kinds, squares and sides.
pub(super) fn sizes(program: &Program, contract: &Contract) -> [usize; 3] {
    let domains = [contract.kinds, contract.board.domain, contract.sides];
    domains.map(|it| program.schema.domain(it).size())
}

/// The probability of winning that a value of the regression stands for.
pub(super) fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// The games to learn from.
struct SampleGames<'g> {
    contract: &'g Contract,
    program: &'g Program,
    chance: Chance,
    samples: VecDeque<Sample>,
    features: Vec<Feature>,
    /// By kind, then by feature (which has no actions), summed over positions: the actions of the side to move by its
    /// pieces, and the number of these pieces.
    actions_of: Vec<(u64, u64)>,
    longest: usize,
    /// The sum of the logarithms of the numbers of actions to choose from, and the number of turns.
    turns: (f32, u32),
    /// The number of actions after which there were fewer pieces on the board, and the number of all actions.
    captures: (u64, u64),
    /// Whether a side to move was ever threatened.
    has_threats: bool,
}

impl<'g> SampleGames<'g> {
    fn new(game: &'g Game, longest: usize, seed: u64) -> Self {
        let (program, contract) = (game.program(), game.contract());
        let features = features(program, contract);
        let [kinds, ..] = sizes(program, contract);
        Self {
            contract,
            program,
            chance: Chance(seed),
            samples: VecDeque::new(),
            actions_of: vec![(0, 0); kinds + features.len()],
            features,
            longest,
            turns: (0.0, 0),
            captures: (0, 0),
            has_threats: false,
        }
    }

    /// As [`Knowledge::branching`].
    fn branching(&self) -> f32 {
        let (sum, turns) = self.turns;
        (sum / turns.max(1) as f32).exp()
    }

    /// The share of actions after which there were fewer pieces on the board; 1 if there were no actions.
    fn share_of_captures(&self) -> f32 {
        match self.captures {
            (_, 0) => 1.0,
            (captures, all) => captures as f32 / all as f32,
        }
    }

    /// Plays games up to a number of actions, or for a time. Returns the number of games with a winner.
    fn play_games(
        &mut self,
        game: &Game,
        guide: Option<&Knowledge>,
        mut left: usize,
        time: Option<Duration>,
    ) -> usize {
        let until = time.map(|it| Instant::now() + it);
        let mut games = 0;
        while left > 0 && until.is_none_or(|it| Instant::now() < it) {
            let mut world = game.world().clone();
            let (taken, won) = self.play(&mut world, guide, left, until);
            games += usize::from(won);
            left = left.saturating_sub(taken.max(1));
            if world.has_run_out() {
                break;
            }
        }
        games
    }

    /// Plays a game to its end or to the limit. Returns its number of actions, including those that were only
    /// examined, and whether a side won.
    fn play(
        &mut self,
        world: &mut World,
        guide: Option<&Knowledge>,
        left: usize,
        until: Option<Instant>,
    ) -> (usize, bool) {
        let mut positions = Vec::new();
        let (mut taken, mut mover, mut count) = (0, None, None);
        for _ in 0..self.longest {
            if taken >= left || until.is_some_and(|it| Instant::now() >= it) {
                break;
            }
            taken += 1;
            let standing = standing(world, self.contract, &self.features);
            let here = on_board(&standing);
            if let Some(before) = count.replace(here) {
                self.captures.0 += u64::from(here < before);
                self.captures.1 += 1;
            }
            if let Some(winner) = winner(world, self.contract) {
                return (taken, self.keep(positions, winner));
            }
            let moves = legal_moves(world, self.contract);
            if world.has_run_out() {
                return (taken, false);
            }
            if moves.is_empty() {
                // Where actions are played out, no rule ends a game for want of actions.
                let is_over = may_stop(world, self.contract);
                let winner = if is_over { winner_if_stuck(world, self.contract) } else { None };
                return (taken, self.keep(positions, winner));
            }
            let before = std::mem::replace(&mut mover, self.contract.mover(world.facts()));
            self.turns.0 += (moves.len() as f32).ln();
            self.turns.1 += u32::from(mover != before);
            if self.chance.below(4) == 0 {
                self.has_threats = self.has_threats || is_threatened(world, self.contract);
                self.count_actions(world, &moves, &standing);
                positions.push(standing);
            }
            let mut mv = &moves[self.chance.below(moves.len())];
            if let Some(guide) = guide.filter(|_| self.chance.below(4) != 0) {
                taken += moves.len();
                mv = self.best(world, guide, &moves).map_or(mv, |it| &moves[it]);
            }
            if world.fire(mv.action, &mv.args).is_err() {
                return (taken, false);
            }
            world.commit();
        }
        (taken, false)
    }

    /// Keeps the positions of a game for the regression, if a side has won it. Returns whether one has.
    fn keep(&mut self, positions: Vec<Vec<Standing>>, winner: Option<usize>) -> bool {
        let Some(winner) = winner else { return false };
        self.samples.extend(positions.into_iter().map(|standing| Sample { standing, winner }));
        let surplus = self.samples.len().saturating_sub(MAX_SAMPLES);
        self.samples.drain(..surplus);
        true
    }

    /// The index of the action after which the position looks best for the side that takes it.
    fn best(&mut self, world: &mut World, guide: &Knowledge, moves: &[Move]) -> Option<usize> {
        let mover = mover(world, self.contract)?;
        let mut best = None;
        for (at, mv) in moves.iter().enumerate() {
            let mark = world.mark();
            let score = match world.fire(mv.action, &mv.args) {
                Ok(()) => match winner_at_once(world, self.contract) {
                    Some(Some(winner)) if winner == mover => i32::MAX,
                    Some(Some(_)) => i32::MIN,
                    _ => guide.score(&standing(world, self.contract, &self.features), mover),
                },
                Err(_) => i32::MIN,
            };
            world.rollback(mark);
            // A random one of equally good actions.
            let rated = (score, self.chance.next());
            if best.is_none_or(|(known, _)| rated > known) {
                best = Some((rated, at));
            }
        }
        best.map(|it| it.1)
    }

    /// Average number of actions of a piece alone on the board, by kind: others would block those of long range.
    fn alone(&mut self, world: &mut World, squares: usize) -> Vec<Option<f32>> {
        let (kind_of, at) = (self.contract.kind.attr, self.contract.at.attr);
        let pieces: Vec<EntityId> = world.facts().entities_with(at).collect();
        let mut found = vec![None; self.actions_of.len()];
        for &piece in &pieces {
            let Some(kind) = index_of(world, piece, kind_of) else { continue };
            if found.get(kind) != Some(&None) || squares == 0 {
                continue;
            }
            let own = |it: &&Move| actor(self.program, it) == Some(piece);
            let actions: usize = alone(world, self.contract, piece, |world| {
                let tried = (0..TRIED_SQUARES).map(|_| {
                    let square = self.chance.below(squares) as i64;
                    world.set_raw(piece, at, Some(square));
                    pseudo_moves(world).iter().filter(own).count()
                });
                tried.sum()
            });
            found[kind] = Some(actions as f32 / TRIED_SQUARES as f32);
        }
        found
    }

    /// Counts the actions of the pieces of the side to move.
    fn count_actions(&mut self, world: &World, moves: &[Move], standing: &[Standing]) {
        let Some(mover) = mover(world, self.contract) else { return };
        for it in standing.iter().filter(|it| it.side == mover) {
            self.actions_of[it.kind].1 += 1;
        }
        for mv in moves {
            let kind =
                actor(self.program, mv).and_then(|it| index_of(world, it, self.contract.kind.attr));
            if let Some(kind) = kind.filter(|it| *it < self.actions_of.len()) {
                self.actions_of[kind].0 += 1;
            }
        }
    }
}

/// The piece that takes an action: the first one among its arguments.
pub(super) fn actor(program: &Program, mv: &Move) -> Option<EntityId> {
    let columns = &program.action(mv.action).columns;
    let mut args = columns.iter().zip(&mv.args);
    let piece = args.find(|it| program.is_entity(it.0.ty))?.1;
    u32::try_from(*piece).ok().map(EntityId)
}

/// Looks at a piece without the others, when it is its side's turn. Nothing has changed afterwards.
pub(super) fn alone<T>(
    world: &mut World,
    contract: &Contract,
    piece: EntityId,
    look: impl FnOnce(&mut World) -> T,
) -> T {
    let pieces: Vec<EntityId> = world.facts().entities_with(contract.at.attr).collect();
    world.taking_back(|world| {
        pieces.iter().filter(|it| **it != piece).for_each(|it| world.remove(*it));
        let side = world.facts().get_raw(piece, contract.color.attr);
        world.set_raw(GAME, contract.turn.attr, side);
        look(world)
    })
}

/// The side to move, as an index.
pub(super) fn mover(world: &World, contract: &Contract) -> Option<usize> {
    contract.mover(world.facts()).and_then(|it| usize::try_from(it).ok())
}

/// The side that has won a game that is over; `None` for a draw.
type Winner = Option<usize>;

/// The end of a game; `None` if it is not over.
pub(super) fn winner(world: &mut World, contract: &Contract) -> Option<Winner> {
    if !world.any(contract.result) {
        return None;
    }
    let decides = deciding(world, contract);
    let outcome = outcome(world, decides)?;
    Some(winner_of(world, contract, outcome))
}

/// Whether the side to move must answer a threat to what it must keep.
pub(super) fn is_threatened(world: &mut World, contract: &Contract) -> bool {
    let Some(mover) = contract.mover(world.facts()) else { return false };
    contract.exposed.is_some_and(|it| world.contains(it, &[mover]))
}

/// Whether a position that has occurred often ends the game without a winner: found by trying, since any rule may
/// decide it.
pub(super) fn is_repetition_drawn(world: &mut World, contract: &Contract) -> bool {
    let Some(occurrences) = contract.occurrences else { return false };
    if world.program().repetition.is_empty() {
        return false;
    }
    let mark = world.mark();
    world.set_raw(GAME, occurrences.attr, Some(OFTEN));
    let ended = winner(world, contract);
    world.rollback(mark);
    ended == Some(None)
}

/// The end of a game, as [`winner`]. Where actions are played out, no rule says that a side has no action: for a
/// threatened side that is tried.
pub(super) fn winner_at_once(world: &mut World, contract: &Contract) -> Option<Winner> {
    winner(world, contract).or_else(|| {
        let is_mate = !LegalityMode::Declared.is_by_rules(contract)
            && is_threatened(world, contract)
            && may_stop(world, contract)
            && is_stuck(world, contract);
        is_mate.then(|| winner_if_stuck(world, contract))
    })
}

/// The winner where the side to move has no action.
pub(super) fn winner_if_stuck(world: &mut World, contract: &Contract) -> Winner {
    let outcome = outcome(world, contract.stuck?)?;
    winner_of(world, contract, outcome)
}

/// The outcome that the first row of a relation begins with.
fn outcome(world: &mut World, rel: RelId) -> Option<i64> {
    world.tuples(rel).first()?.first().copied()
}

/// The winner by an outcome.
fn winner_of(world: &mut World, contract: &Contract, outcome: i64) -> Winner {
    let rows = world.matching(contract.wins, &[None, Some(outcome)]);
    rows.first().and_then(|it| usize::try_from(*it.first()?).ok())
}

/// The relations that rules call features.
pub(super) fn features(program: &Program, contract: &Contract) -> Vec<Feature> {
    called_features(program).filter_map(|it| feature(program, contract, it)).collect()
}

/// The lines `.meta feature "RELATION"` that name no relation with a column of sides: they are of no use.
pub fn unread_features<'p>(program: &'p Program, contract: &Contract) -> Vec<&'p Meta> {
    called_features(program).filter(|it| feature(program, contract, it).is_none()).collect()
}

fn called_features(program: &Program) -> impl Iterator<Item = &Meta> {
    program.meta.iter().filter(|it| it.key == "feature")
}

fn feature(program: &Program, contract: &Contract, called: &Meta) -> Option<Feature> {
    let rel = program.relation_in(called.span.source, &called.value)?;
    let mut columns = program.relation(rel).columns.iter();
    let side = columns.position(|it| it.ty == Type::Domain(contract.sides))?;
    Some(Feature { rel, side })
}

/// Where the pieces stand that belong to a side, and what features each side has.
pub(super) fn standing(
    world: &mut World,
    contract: &Contract,
    features: &[Feature],
) -> Vec<Standing> {
    let mut found = Vec::new();
    let kinds = world.program().schema.domain(contract.kinds).size();
    for (at, feature) in features.iter().enumerate() {
        for row in world.tuples(feature.rel) {
            if let Ok(side) = usize::try_from(row[feature.side]) {
                found.push(Standing { side, kind: kinds + at, square: None });
            }
        }
    }
    let index = |entity, attr| index_of(world, entity, attr);
    let of = |entity| {
        let (side, kind) =
            (index(entity, contract.color.attr)?, index(entity, contract.kind.attr)?);
        Some(Standing { side, kind, square: index(entity, contract.at.attr) })
    };
    found.extend(world.facts().entities_with(contract.kind.attr).filter_map(of));
    found
}

fn on_board(standing: &[Standing]) -> usize {
    standing.iter().filter(|it| it.square.is_some()).count()
}

/// The value of an entity's attribute, as an index.
pub(super) fn index_of(world: &World, entity: EntityId, attr: AttrId) -> Option<usize> {
    world.facts().get_raw(entity, attr).and_then(|it| usize::try_from(it).ok())
}
