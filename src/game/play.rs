//! A game that can be played: every action is one transaction over the facts.
//!
//! Whether an action is legal, what it changes, whose turn follows and how the game ends is all
//! said by rules. What is done here is what rules cannot see: the history. It counts how often a
//! position has stood and states that as a fact.

use std::sync::Arc;

use crate::derive::{Plan, World};
use crate::facts::{AttrId, GAME, Session, Snapshot, to_json};
use crate::moves::notation::{
    FenError, MoveFault, Setup, Warning, listing, parse_san, parse_uci, read_fen, to_san, to_uci,
    write_fen,
};
use crate::moves::{Contract, Move, is_legal, legal_moves};
use crate::rules::Program;

use super::key::key;
use super::record::{GameResult, Record};
use super::refusal::{EndError, IllegalMove, PlayError};
use super::terms::Terms;

/// One game.
#[derive(Debug, Clone)]
pub struct Game {
    world: World,
    terms: Arc<Terms>,
    warnings: Vec<Warning>,
    start: Snapshot,
    start_key: u64,
    history: Vec<Record>,
    /// The result of the position on the board.
    result: Option<GameResult>,
}

impl Game {
    /// A game from a position. The world has what else the game needs (its activations).
    ///
    /// # Errors
    /// The text is no FEN for these rules.
    pub fn from_fen(mut world: World, terms: Arc<Terms>, fen: &str) -> Result<Self, FenError> {
        let Setup { warnings } = read_fen(&mut world, &terms.moves, fen)?;
        Ok(Self::from_world(world, terms, warnings))
    }

    /// A game that goes on from the facts as they are.
    pub fn from_facts(world: World, terms: Arc<Terms>) -> Self {
        Self::from_world(world, terms, Vec::new())
    }

    fn from_world(mut world: World, terms: Arc<Terms>, warnings: Vec<Warning>) -> Self {
        world.commit();
        let start = Snapshot::new(world.facts());
        let start_key = key(&mut world);
        let result = GameResult::read(&mut world, &terms);
        Self { world, terms, warnings, start, start_key, history: Vec::new(), result }
    }

    /// What the set-up had to leave out.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    pub fn program(&self) -> &Arc<Program> {
        self.world.program()
    }

    /// The compiled rules, for other worlds under them.
    pub fn plan(&self) -> &Arc<Plan> {
        self.world.plan()
    }

    pub fn terms(&self) -> &Arc<Terms> {
        &self.terms
    }

    pub fn contract(&self) -> &Contract {
        &self.terms.moves
    }

    pub fn facts(&self) -> &Session {
        self.world.facts()
    }

    /// The facts with what follows from them, for questions. Whoever writes takes it back.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// The side to move.
    pub fn side(&self) -> Option<i64> {
        self.terms.moves.mover(self.world.facts())
    }

    /// The hash of all facts.
    pub fn hash(&self) -> u64 {
        self.world.facts().hash()
    }

    /// The position as FEN, in the style of the game.
    pub fn fen(&mut self) -> String {
        write_fen(&mut self.world, &self.terms.moves, self.terms.style)
    }

    /// The facts as a save. What was played before is not in it.
    pub fn to_json(&self) -> String {
        to_json(self.world.facts())
    }

    /// The first position.
    pub fn start(&self) -> &Snapshot {
        &self.start
    }

    /// What was played, oldest first.
    pub fn history(&self) -> &[Record] {
        &self.history
    }

    pub(super) fn history_capacity(&self) -> usize {
        self.history.capacity()
    }

    pub(super) fn derived_bytes(&self) -> usize {
        self.world.row_bytes()
    }

    /// How the game ended, if it has.
    pub fn result(&self) -> Option<&GameResult> {
        self.result.as_ref()
    }

    /// The legal moves; none after the end of the game, draws by counter, repetition and material
    /// included. (Counting trees ignores these draws: that is `moves::legal_moves` over the world.)
    pub fn legal_moves(&mut self) -> Vec<Move> {
        match self.result {
            Some(_) => Vec::new(),
            None => legal_moves(&mut self.world, &self.terms.moves),
        }
    }

    /// The legal moves with their UCI text, sorted by text.
    pub fn listing(&mut self) -> Vec<(String, Move)> {
        match self.result {
            Some(_) => Vec::new(),
            None => listing(&mut self.world, &self.terms.moves),
        }
    }

    /// The legal move that a text means, in UCI or SAN.
    ///
    /// # Errors
    /// The game is over, or the text means no legal move, or several.
    pub fn find_move(&mut self, text: &str) -> Result<Move, PlayError> {
        self.refuse_if_over()?;
        let (world, contract) = (&mut self.world, &self.terms.moves);
        let uci = match parse_uci(world, contract, text) {
            Ok(mv) => return Ok(mv),
            Err(error) => error,
        };
        let san = match parse_san(world, contract, text) {
            Ok(mv) => return Ok(mv),
            Err(error) => error,
        };
        // The error of the form that the text has.
        let is_uci = !matches!(uci.reason, MoveFault::Malformed { .. });
        Err(if is_uci { uci } else { san }.into())
    }

    /// Plays the move that a text means.
    ///
    /// # Errors
    /// As [`Game::find_move`]. Nothing has changed.
    pub fn play_text(&mut self, text: &str) -> Result<&Record, PlayError> {
        let mv = self.find_move(text)?;
        self.play(&mv)
    }

    /// Plays a move: all that it changes, or nothing.
    ///
    /// # Errors
    /// The game is over, or the move is not legal. Nothing has changed.
    pub fn play(&mut self, mv: &Move) -> Result<&Record, PlayError> {
        self.refuse_if_over()?;
        let uci = to_uci(&mut self.world, mv);
        let span = tracing::debug_span!("play", ply = self.history.len() + 1, %uci);
        let _entered = span.enter();
        if !is_legal(&mut self.world, &self.terms.moves, mv) {
            let refusal = IllegalMove::new(&mut self.world, &self.terms.moves, mv, uci);
            tracing::debug!(reasons = ?refusal.reasons, "refused");
            return Err(Box::new(refusal).into());
        }
        let san = to_san(&mut self.world, &self.terms.moves, mv);
        let record = self.transact(mv, uci, san);
        tracing::debug!(facts = record.snapshot.len(), "committed");
        self.result = GameResult::read(&mut self.world, &self.terms);
        if let Some(result) = &self.result {
            tracing::debug!(%result, "over");
        }
        self.history.push(record);
        Ok(&self.history[self.history.len() - 1])
    }

    fn refuse_if_over(&self) -> Result<(), PlayError> {
        match &self.result {
            Some(result) => Err(PlayError::Over { result: result.clone() }),
            None => Ok(()),
        }
    }

    /// Takes the action and commits. The move is known to be legal.
    fn transact(&mut self, mv: &Move, uci: String, san: String) -> Record {
        let side = self.side();
        let since = self.world.facts().mark();
        self.world.fire(mv.action, &mv.args);
        let key = key(&mut self.world);
        self.count_occurrences(key);
        let previous = self.history.last().map_or(&self.start, |it| &it.snapshot);
        let snapshot = previous.next(self.world.facts(), since);
        self.world.commit();
        Record {
            mv: mv.clone(),
            uci: uci.into(),
            san: san.into(),
            side: side.unwrap_or_default(),
            turn_goes_on: side == self.side(),
            key,
            snapshot,
        }
    }

    /// States how often the position on the board has stood, this time included.
    fn count_occurrences(&mut self, key: u64) {
        let Some(occurrences) = self.terms.moves.occurrences else { return };
        let earlier = self.history.iter().filter(|it| it.key == key).count() as i64;
        // A game that goes on from a save may start from a position that has stood before.
        let at_start = self.start.get_raw(GAME, occurrences.attr).unwrap_or(1);
        let count = 1 + earlier + if self.start_key == key { at_start } else { 0 };
        self.world.set_raw(GAME, occurrences.attr, Some(count));
    }

    /// Takes the last action back, with whatever was stated after it (a resignation, a claim).
    pub fn takeback(&mut self) -> Option<Record> {
        let record = self.history.pop()?;
        let snapshot = self.history.last().map_or(&self.start, |it| &it.snapshot).clone();
        self.go_to(&snapshot);
        Some(record)
    }

    /// A game of its own that goes on from the position after the first `plies` actions.
    pub fn branch(&self, plies: usize) -> Option<Self> {
        if plies > self.history.len() {
            return None;
        }
        let mut branch = self.clone();
        branch.history.truncate(plies);
        let snapshot = branch.history.last().map_or(&branch.start, |it| &it.snapshot).clone();
        branch.go_to(&snapshot);
        Some(branch)
    }

    fn go_to(&mut self, snapshot: &Snapshot) {
        for change in self.world.facts().changes_to(snapshot) {
            self.world.set_raw(change.entity, change.attr, change.new);
        }
        self.world.commit();
        self.result = GameResult::read(&mut self.world, &self.terms);
    }

    /// A side gives up. What follows from it is for the rules.
    ///
    /// # Errors
    /// The game is over, there is no such side, or the rules know nothing of resigning.
    pub fn resign(&mut self, side: i64) -> Result<&GameResult, EndError> {
        let sides = self.program().schema.domain(self.terms.moves.sides).size() as i64;
        if !(0..sides).contains(&side) {
            return Err(EndError::Side { side });
        }
        self.end(self.terms.resigned, side)
    }

    /// The reasons for which a draw can be claimed now; none after the end.
    pub fn claims(&mut self) -> Vec<String> {
        if self.result.is_some() {
            return Vec::new();
        }
        let rows = self.claim_rows();
        rows.into_iter().map(|(_, name)| name).collect()
    }

    /// Claims a draw, for any reason or for the one named.
    ///
    /// # Errors
    /// The game is over, or there is no such claim.
    pub fn claim_draw(&mut self, reason: Option<&str>) -> Result<&GameResult, EndError> {
        let rows = self.claim_rows();
        let fits = |it: &&(i64, String)| reason.is_none_or(|wanted| wanted == it.1);
        let Some(&(reason, _)) = rows.iter().find(fits) else {
            let offered = rows.into_iter().map(|(_, name)| name).collect();
            return Err(EndError::NoClaim { offered });
        };
        self.end(self.terms.claimed, reason)
    }

    fn claim_rows(&mut self) -> Vec<(i64, String)> {
        let claim = self.terms.moves.claim;
        let rows = self.world.tuples(claim);
        let program = self.world.program();
        let columns = &program.relation(claim).columns;
        rows.iter()
            .filter_map(|row| {
                Some((*row.first()?, program.value_name(columns.first()?.ty, row[0])))
            })
            .collect()
    }

    /// States what ends the game, and takes it back if the rules do not end it then.
    fn end(&mut self, attr: Option<AttrId>, raw: i64) -> Result<&GameResult, EndError> {
        if let Some(result) = &self.result {
            return Err(EndError::Over { result: result.clone() });
        }
        let attr = attr.ok_or(EndError::Unknown)?;
        let mark = self.world.mark();
        self.world.set_raw(GAME, attr, Some(raw));
        let Some(result) = GameResult::read(&mut self.world, &self.terms) else {
            self.world.rollback(mark);
            return Err(EndError::Unknown);
        };
        self.world.commit();
        Ok(self.result.insert(result))
    }
}
