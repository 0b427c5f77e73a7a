//! Tests of preset combinations: compatible pairs (and some triples) are loaded and played at random.
//!
//! What must hold:
//!
//! * The rules load and derive.
//! * After each half-move the incremental evaluator has the rows that the reference evaluator derives from the facts, and
//!   an action writes the same facts under both.
//! * Every legal move can be taken and taken back.
//! * Playing everything out finds no other moves, but for those whose safety the rules leave to the rest of the turn, and
//!   in turns during which presets were switched.
//! * A save restores the same game.
//! * Taking everything back restores the first hash.
//!
//! In every third game one preset is switched off and on again, under both evaluators, and that is saved and taken back
//! like moves. The moves played depend only on the number of the combination. Deliberately absent: whether the moves are
//! correct (vectors and golden games test that).

use std::collections::BTreeMap;

use crate::facts::Chance;
use crate::game::Game;
use crate::moves::{Decision, LegalityMode, Move, goes_on, is_played_out, legal_moves_by};
use crate::presets::save::{Content, Form, RulesFrom, Save};
use crate::presets::{Activation, Catalogue, GameEntry, LoadError, PresetEntry, Ruleset};

use super::ReferenceEvaluator;

/// The main game for combinations; then comes the first game of each other family.
const GAME: &str = "chess";
/// Odd-numbered combinations on that game start from this busy position; others from the start.
const BUSY: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

/// The seed for drawing pairs.
const PAIRS_SEED: u64 = 16;
/// Approximate number of drawn pairs per family whose presets have files of their own.
const DRAWN_ALONE: usize = 40;
/// Approximate number of drawn pairs per family with a preset that shares files.
const DRAWN_SHARING: usize = 4;
/// The seed for drawing triples.
const TRIPLES_SEED: u64 = 3;

/// Some presets with their scopes, and how to test them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Combination {
    pub game: String,
    /// Activations: `PRESET:SCOPE`.
    pub presets: Vec<String>,
    /// Decides the start and all moves.
    pub seed: u64,
    /// Half-moves, at most.
    pub plies: u32,
}

/// The result of a combination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Played(Played),
    /// The catalogue does not accept it, for this reason.
    Refused(String),
    /// A check failed.
    Failed(String),
}

/// Numbers of what was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Played {
    pub plies: u64,
    /// Changes of what is active.
    pub switches: u64,
    /// Legal moves that were taken and taken back.
    pub moves: u64,
    /// Rows that both evaluators gave.
    pub rows: u64,
}

impl std::ops::AddAssign for Played {
    fn add_assign(&mut self, other: Self) {
        self.plies += other.plies;
        self.switches += other.switches;
        self.moves += other.moves;
        self.rows += other.rows;
    }
}

/// Combinations to be played, and the number that they were drawn from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sample {
    pub combinations: Vec<Combination>,
    /// Number of all pairs or triples, not counting scopes.
    pub of: usize,
    /// The seed of the draw. `None` if nothing was drawn.
    pub seed: Option<u64>,
}

/// All pairs of presets on chess, and on each other family those that fit it, under all pairs of scopes with
/// 40 half-moves each.
///
/// Unless `full`, a pair is played under one random pair of scopes. Pairs that are declared to go together
/// (`.meta compatible`) are always played, with few half-moves; of the others a random sample is played, a
/// smaller one of those with presets that share files, which are many and similar.
pub fn pairs(catalogue: &Catalogue, full: bool) -> Sample {
    pairs_among(catalogue, full, |_| true)
}

/// The same for those presets that fit the games of every family.
pub fn shared_pairs(catalogue: &Catalogue, full: bool) -> Sample {
    pairs_among(catalogue, full, |it| it.family.is_none())
}

fn pairs_among(catalogue: &Catalogue, full: bool, among: fn(&PresetEntry) -> bool) -> Sample {
    let mut sample = Sample { seed: (!full).then_some(PAIRS_SEED), ..Sample::default() };
    let mut seed = 0;
    for game in games(catalogue) {
        let scopes = scopes(catalogue, game);
        let sets = scopes.len() * scopes.len();
        for pair in pairs_on(catalogue, game, among) {
            seed += 1;
            sample.of += 1;
            let is_drawn = || Chance(PAIRS_SEED + seed).below(pair.total) < pair.wanted;
            if !full && !pair.is_declared && !is_drawn() {
                continue;
            }
            let plies = match (full, pair.is_declared) {
                (true, _) => 40,
                (false, true) => 3,
                (false, false) => 10,
            };
            let drawn = Chance(seed).below(sets);
            for number in (0..sets).filter(|it| full || *it == drawn) {
                let (first, second) =
                    (&scopes[number / scopes.len()], &scopes[number % scopes.len()]);
                let presets =
                    vec![format!("{}:{first}", pair.one), format!("{}:{second}", pair.other)];
                let seed = if full { seed * sets as u64 + number as u64 } else { seed };
                let game = game.name.clone();
                sample.combinations.push(Combination { game, presets, seed, plies });
            }
        }
    }
    sample
}

/// A pair of presets. Of all such pairs on a game, about `wanted` out of `total` are drawn.
struct Pair<'c> {
    one: &'c str,
    other: &'c str,
    /// Whether it is declared that they go together.
    is_declared: bool,
    wanted: usize,
    total: usize,
}

/// All pairs of presets that fit a game: first those whose presets have files of their own.
fn pairs_on<'c>(
    catalogue: &'c Catalogue,
    game: &GameEntry,
    among: fn(&PresetEntry) -> bool,
) -> Vec<Pair<'c>> {
    let (alone, sharing) = names(catalogue, game, among);
    let compatible: BTreeMap<&str, Vec<String>> =
        sharing.iter().map(|it| (*it, catalogue.compatible(it))).collect();
    let pair = |one, other, wanted, total| {
        let declared = compatible.get(one);
        let is_declared = declared.is_some_and(|it| it.iter().any(|it| it == other));
        Pair { one, other, is_declared, wanted, total }
    };
    let own_files = two_of(&alone);
    let mut shared_files = Vec::new();
    for one in &sharing {
        shared_files.extend(alone.iter().map(|other| (*one, *other)));
    }
    let shared_total = shared_files.len() + sharing.len() * sharing.len() / 2;
    shared_files.extend(two_of(&sharing));
    let own_total = own_files.len();
    let own_files = own_files.into_iter().map(|(a, b)| pair(a, b, DRAWN_ALONE, own_total));
    let shared_files =
        shared_files.into_iter().map(|(a, b)| pair(a, b, DRAWN_SHARING, shared_total));
    own_files.chain(shared_files).collect()
}

/// All pairs of two different names.
fn two_of<'n>(names: &[&'n str]) -> Vec<(&'n str, &'n str)> {
    let mut pairs = Vec::new();
    for (at, one) in names.iter().enumerate() {
        pairs.extend(names[at + 1..].iter().map(|other| (*one, *other)));
    }
    pairs
}

/// The scopes of presets in a game: each side, and `both`. A game that does not load has no sides here; playing it
/// tells why.
fn scopes(catalogue: &Catalogue, game: &GameEntry) -> Vec<String> {
    let sides = catalogue.load::<&str>(&game.name, &[]).map(|it| it.sides()).unwrap_or_default();
    sides.into_iter().chain(["both".to_owned()]).collect()
}

/// A game of each family, the usual one first.
fn games(catalogue: &Catalogue) -> Vec<&GameEntry> {
    let first = catalogue.games().iter().filter(|it| it.name == GAME);
    let mut found: Vec<&GameEntry> = Vec::new();
    for game in first.chain(catalogue.games()) {
        if found.iter().all(|it| it.family != game.family) {
            found.push(game);
        }
    }
    found
}

/// The presets that fit the family of a game: those with files of their own, and those that share files with
/// others.
fn names<'c>(
    catalogue: &'c Catalogue,
    game: &GameEntry,
    among: fn(&PresetEntry) -> bool,
) -> (Vec<&'c str>, Vec<&'c str>) {
    let fits = |it: &&PresetEntry| among(it) && (it.family.is_none() || it.family == game.family);
    let fitting: Vec<&PresetEntry> = catalogue.presets().iter().filter(fits).collect();
    let (sharing, alone): (Vec<&PresetEntry>, _) =
        fitting.into_iter().partition(|it| !it.includes.is_empty());
    let name = |it: &'c PresetEntry| it.preset.as_str();
    (alone.into_iter().map(name).collect(), sharing.into_iter().map(name).collect())
}

/// This number of sets of three presets on chess, drawn at random with their scopes.
pub fn triples(catalogue: &Catalogue, count: usize) -> Sample {
    let Some(game) = games(catalogue).into_iter().next() else { return Sample::default() };
    let (alone, sharing) = names(catalogue, game, |_| true);
    let (names, scopes) = ([alone, sharing].concat(), scopes(catalogue, game));
    let mut chance = Chance(TRIPLES_SEED);
    let draw = |seed: u64| {
        let mut left = names.clone();
        let mut one = || {
            let name = left.remove(chance.below(left.len()));
            format!("{name}:{}", scopes[chance.below(scopes.len())])
        };
        Combination { game: GAME.into(), presets: vec![one(), one(), one()], seed, plies: 20 }
    };
    if names.len() < 3 {
        return Sample::default();
    }
    let of = names.len() * (names.len() - 1) * (names.len() - 2) / 6;
    Sample { combinations: (1..=count as u64).map(draw).collect(), of, seed: Some(TRIPLES_SEED) }
}

impl std::fmt::Display for Combination {
    /// The game, unless it is the usual one, and its presets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.game != GAME {
            write!(f, "{} with ", self.game)?;
        }
        f.write_str(&self.presets.join(" "))
    }
}

impl Combination {
    /// Plays it, with all checks.
    pub fn play(&self, catalogue: &Catalogue) -> Outcome {
        let rules = match catalogue.load(&self.game, &catalogue.with_required(&self.presets)) {
            Ok(rules) => rules,
            Err(LoadError::Set(why)) => return Outcome::Refused(why.to_string()),
            // The preset's rules name squares, and the game has none.
            Err(why @ LoadError::NeedsSquares { .. }) => return Outcome::Refused(why.to_string()),
            Err(other) => return Outcome::Failed(other.to_string()),
        };
        let is_busy = self.game == GAME && self.seed % 2 == 1;
        let mut game = match rules.start(is_busy.then_some(BUSY)) {
            Ok(game) => game,
            Err(why) => return Outcome::Failed(why.to_string()),
        };
        let chance = Chance(self.seed);
        let mut walk = Walk { catalogue, rules, chance, played: Played::default(), switched_at: 0 };
        // Every third game, independent of the scopes.
        let walked = match (self.seed + self.seed / 9) % 3 {
            0 => walk.run_switching(&mut game, self.plies),
            _ => walk.run(&mut game, self.plies),
        };
        let Walk { rules, played, .. } = walk;
        let walked = walked.map_err(|it| format!("{it}, at {}", game.fen()));
        let whole = walked.and_then(|()| {
            reads_back(catalogue, &rules, &game, self.seed)?;
            taken_back(&mut game)?;
            Ok(played)
        });
        whole.map_or_else(Outcome::Failed, Outcome::Played)
    }
}

/// A game at random.
struct Walk<'c> {
    catalogue: &'c Catalogue,
    rules: Ruleset,
    chance: Chance,
    played: Played,
    /// Number of actions before the last change of presets.
    switched_at: usize,
}

impl Walk<'_> {
    /// A third with all presets, a third without the last, and a third with all again.
    fn run_switching(&mut self, game: &mut Game, plies: u32) -> Result<(), String> {
        let all = Activation::texts(&Catalogue::active(game));
        let fewer = &all[..all.len().saturating_sub(1)];
        self.run(game, plies / 3)?;
        self.switch(game, fewer)?;
        self.run(game, plies / 3)?;
        self.switch(game, &all)?;
        self.run(game, plies - plies / 3 * 2)
    }

    /// Switches presets, in the same way under both evaluators. A refusal changes nothing.
    fn switch(&mut self, game: &mut Game, presets: &[String]) -> Result<(), String> {
        let before = game.hash();
        let mut reference = ReferenceEvaluator::new(game);
        let theirs = reference.switch(game, self.catalogue, &self.rules, presets);
        match (self.catalogue.set_active(&self.rules, game, presets), theirs) {
            (Ok(rules), Ok(())) => {
                self.rules = rules;
                self.played.switches += 1;
                self.switched_at = game.history().len();
                self.compare(game, &mut reference).map_err(|it| format!("switched: {it}"))
            }
            (Err(mine), Err(theirs)) if mine == theirs && game.hash() == before => Ok(()),
            (mine, theirs) => Err(format!(
                "switching to {presets:?}: {:?}, and under datafrog {:?}",
                mine.err(),
                theirs.err()
            )),
        }
    }

    fn run(&mut self, game: &mut Game, plies: u32) -> Result<(), String> {
        let mut reference = ReferenceEvaluator::new(game);
        self.compare(game, &mut reference)?;
        for _ in 0..plies {
            if game.result().is_some() {
                break;
            }
            let moves = game.legal_moves();
            if moves.is_empty() {
                // A turn may lead where it cannot be finished; then a player has to take something back.
                if game.history().last().is_some_and(|it| it.turn_goes_on) {
                    break;
                }
                return Err("there is no move and no result".into());
            }
            // Presets that come during a turn may attack royal pieces. Rules still let the turn end.
            if self.switched_at <= game.history().len() - game.actions_under_way() {
                self.check_played_out(game, &moves)?;
            }
            for mv in &moves {
                play_and_undo(game, mv)?;
                self.played.moves += 1;
            }
            let mv = &moves[self.chance.below(moves.len())];
            reference.take(mv);
            let played = game.play(mv).map(|it| it.uci.to_string());
            let uci = played.map_err(|it| format!("a legal move cannot be played: {it}"))?;
            self.played.plies += 1;
            self.compare(game, &mut reference).map_err(|it| format!("after {uci}: {it}"))?;
        }
        match game.world_mut().broken_key() {
            Some((rel, _)) => Err(format!("{} breaks its key", game.program().relation(rel).name)),
            None => Ok(()),
        }
    }

    /// Checks that playing everything out for safety gives the same moves, but for those that the rules check later.
    fn check_played_out(&self, game: &mut Game, moves: &[Move]) -> Result<(), String> {
        let contract = game.contract().clone();
        let program = game.program().clone();
        let simulated = legal_moves_by(game.world_mut(), &contract, LegalityMode::Simulate);
        let name = |it: &Move| program.action_name(it.action, &it.args);
        let is_unsafe = |it: &&Move| !simulated.contains(it);
        if let Some(it) = moves.iter().filter(is_unsafe).find(|it| !is_checked_later(game, it)) {
            return Err(format!("{} is legal, and is not when it is played out", name(it)));
        }
        match simulated.iter().find(|it| !moves.contains(it)) {
            Some(it) => Err(format!("{} is not legal, and is when it is played out", name(it))),
            None => Ok(()),
        }
    }

    fn compare(
        &mut self,
        game: &mut Game,
        reference: &mut ReferenceEvaluator,
    ) -> Result<(), String> {
        let rows = reference.follow(game).and_then(|()| reference.compare(game));
        self.played.rows += rows.map_err(|it| it.what)? as u64;
        game.check().map_err(|it| it.to_string())
    }
}

/// Whether the rules leave it to the rest of the turn that a move is safe: its action says which rows are played out
/// (`simulates`), this one is none of them, and the turn goes on after it.
fn is_checked_later(game: &mut Game, mv: &Move) -> bool {
    let contract = game.contract().clone();
    let world = game.world_mut();
    let is_except = matches!(contract.decisions[usize::from(mv.action.0)], Decision::Except(_));
    if !is_except || is_played_out(world, &contract, mv) {
        return false;
    }
    let mover = contract.mover(world.facts());
    world.taking_back(|world| {
        world.fire(mv.action, &mv.args).is_ok() && goes_on(world, &contract, mover)
    })
}

fn play_and_undo(game: &mut Game, mv: &Move) -> Result<(), String> {
    let before = game.hash();
    let program = game.program().clone();
    let name = || program.action_name(mv.action, &mv.args);
    let world = game.world_mut();
    let taken = world.taking_back(|world| world.fire(mv.action, &mv.args));
    taken.map_err(|it| format!("{} is legal, and refused: {it}", name()))?;
    match game.hash() == before {
        true => Ok(()),
        false => Err(format!("{} leaves a trace when it is taken back", name())),
    }
}

/// Checks that saving the game, loading it and saving it again gives the same save.
fn reads_back(
    catalogue: &Catalogue,
    rules: &Ruleset,
    game: &Game,
    seed: u64,
) -> Result<(), String> {
    let form = if seed % 4 < 2 { Form::Binary } else { Form::Json };
    let save = |game: &Game, rules: &Ruleset| Save::of(game, rules, Content::default());
    let bytes = save(game, rules).map_err(|it| format!("no save: {it}"))?.write(form);
    let (read, doubt) = Save::read(&bytes, GAME).map_err(|it| format!("the save: {it}"))?;
    if let Some(doubt) = doubt {
        return Err(format!("the save: {doubt}"));
    }
    let restored = read.restore(catalogue, RulesFrom::Here);
    let restored = restored.map_err(|it| format!("the save does not load: {it}"))?;
    let again = save(&restored.game, &restored.rules).map_err(|it| format!("no save: {it}"))?;
    match restored.game.hash() == game.hash() && again.write(form) == bytes {
        true => Ok(()),
        false => Err("the save restores another game".into()),
    }
}

/// Takes every action back, and checks that each gives the hash before it.
fn taken_back(game: &mut Game) -> Result<(), String> {
    while let Some(record) = game.takeback() {
        let before = game.position_before(game.history().len()).hash();
        if game.hash() != before {
            return Err(format!("taking {} back changes facts, at {}", record.uci, game.fen()));
        }
    }
    Ok(())
}
