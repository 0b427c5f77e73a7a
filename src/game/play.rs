//! A game that can be played: every action is one transaction over the facts.
//!
//! Rules decide whether an action is legal, what it changes, whose turn follows and how the game ends. They cannot see
//! the history, which is kept here: how often a position has occurred is counted, and stated as a fact.

use std::collections::HashSet;
use std::sync::Arc;

use crate::derive::{Allowance, Done, Exhausted, Plan, Refusal, Step, Trace, World};
use crate::facts::{AttrId, Delta, EntityId, GAME, Mark, Session, Snapshot, to_json};
use crate::moves::notation::{SanDraft, Warning, cells, listing, to_uci, write_fen, write_turn};
use crate::moves::{
    AttrInput, BETWEEN, Contract, Move, is_legal, legal_moves, parse_either, parse_turn, value_name,
};
use crate::rules::{Program, Type};

use super::record::{Extra, GameResult, Record, Switch};
use super::refusal::{IllegalMove, PlayError, RULE_SETS, SWITCHES, SwitchError};
use super::repetition::{Place, position_key, state_recurrence};

/// One game.
#[derive(Debug, Clone)]
pub struct Game {
    pub(super) world: World,
    pub(super) contract: Arc<Contract>,
    warnings: Vec<Warning>,
    start: Snapshot,
    start_key: u64,
    /// The position that the first turn began from, if the game starts in the middle of it.
    first_turn_start: Option<Box<Snapshot>>,
    history: Vec<Record>,
    /// The sets of rules so far, in the order of their first use.
    rule_sets: Vec<RuleSet>,
    /// The names of the first set of rules, as the caller gave them.
    first_names: Arc<[String]>,
    /// The index of the set of rules in force.
    rule_set: usize,
    /// Changes of the rules since the last action.
    switches: Vec<Switch>,
    /// The result of the position on the board.
    pub(super) result: Option<GameResult>,
}

/// Number of the last positions that are kept whole; earlier ones are computed again from the changes.
const AT_HAND: usize = 4;
/// Number of actions by which the memory of the history grows at a time.
const GROWTH: usize = 16;

/// A set of rules that the game was or is played by.
#[derive(Debug, Clone)]
struct RuleSet {
    plan: Arc<Plan>,
    contract: Arc<Contract>,
}

impl Game {
    /// The game with the position that its first turn began from, if it starts in the middle of that turn.
    #[must_use]
    #[doc(hidden)]
    pub fn with_turn_start(mut self, start: Option<Snapshot>) -> Self {
        self.first_turn_start = start.map(Box::new);
        self
    }

    /// Whether the game starts in the middle of a turn.
    pub(super) fn starts_in_a_turn(&self) -> bool {
        self.first_turn_start.is_some()
    }

    /// The position that the turn under way began from; or if the rules have no text for a later part of the turn, the
    /// last position without a text. `None` if it is not known, or if the rules were changed since.
    fn turn_start(&mut self) -> Option<Snapshot> {
        let contract = Arc::clone(&self.contract);
        for at in self.line().collect::<Vec<_>>() {
            if !self.switches_before(at + 1).is_empty() {
                return None;
            }
            let before = self.position_before(at);
            if self.read_at(&before, |world| write_turn(world, &contract)).is_none() {
                return Some(before);
            }
        }
        self.first_turn_start.as_deref().cloned()
    }

    /// Reads something from these facts instead of those of the position on the board.
    fn read_at<T>(&mut self, facts: &Snapshot, read: impl FnOnce(&mut World) -> T) -> T {
        self.world.taking_back(|world| {
            set_facts(world, facts);
            read(world)
        })
    }

    /// A game that starts from the facts as they are.
    #[doc(hidden)]
    pub fn from_facts(mut world: World, contract: Arc<Contract>) -> Self {
        let _allowance = Allowance::open();
        world.commit();
        let start = (Snapshot::new(world.facts()), position_key(&mut world));
        Self::from_parts(world, contract, start, Vec::new())
    }

    /// A game whose history is known already, in a world with the facts after it.
    pub(super) fn from_parts(
        mut world: World,
        contract: Arc<Contract>,
        (start, start_key): (Snapshot, u64),
        history: Vec<Record>,
    ) -> Self {
        let result = GameResult::read(&mut world, &contract);
        let rule_sets =
            vec![RuleSet { plan: Arc::clone(world.plan()), contract: Arc::clone(&contract) }];
        Self {
            world,
            contract,
            warnings: Vec::new(),
            start,
            start_key,
            first_turn_start: None,
            history,
            rule_sets,
            first_names: Arc::default(),
            rule_set: 0,
            switches: Vec::new(),
            result,
        }
    }

    /// The game with the names of the rules that it starts under.
    #[must_use]
    #[doc(hidden)]
    pub fn with_rule_names(mut self, names: Arc<[String]>) -> Self {
        self.first_names = names;
        self
    }

    /// The names of the rules in force: those of the last change of rules, or else of the start. Presets among them may
    /// have ended by themselves since.
    #[doc(hidden)]
    pub fn rule_names(&self) -> &Arc<[String]> {
        self.switches_so_far().next_back().map_or(&self.first_names, |it| &it.names)
    }

    /// Whether the rules were changed during the game.
    pub(super) fn has_changed_rules(&self) -> bool {
        self.switches_so_far().next().is_some()
    }

    pub(super) fn start_key(&self) -> u64 {
        self.start_key
    }

    /// Parts of the position that the setup had to leave out, and what is odd about the start.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Adds a warning about the start.
    #[doc(hidden)]
    pub fn warn(&mut self, warning: Warning) {
        self.warnings.push(warning);
    }

    /// The checked rules.
    #[doc(hidden)]
    pub fn program(&self) -> &Arc<Program> {
        self.world.program()
    }

    /// The compiled rules, for other worlds under them.
    #[doc(hidden)]
    pub fn plan(&self) -> &Arc<Plan> {
        self.world.plan()
    }

    /// The relations that the layer of moves reads by name.
    #[doc(hidden)]
    pub fn contract(&self) -> &Arc<Contract> {
        &self.contract
    }

    /// The facts as they are now.
    #[doc(hidden)]
    pub fn facts(&self) -> &Session {
        self.world.facts()
    }

    /// The facts with what follows from them, for questions. A caller that writes must take that back.
    #[doc(hidden)]
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// The facts with what follows from them.
    #[doc(hidden)]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Goes on under other rules, in a world of the new rules with the facts to go on from. Earlier positions are
    /// kept with the rules of their time. `names` are returned by [`Game::rule_names`].
    ///
    /// # Errors
    /// The game has changed its rules too often or had too many sets of rules, or the new rules exceed a budget in this
    /// position. Nothing has changed.
    #[doc(hidden)]
    pub fn switch(
        &mut self,
        mut world: World,
        contract: Arc<Contract>,
        names: Arc<[String]>,
    ) -> Result<(), SwitchError> {
        let _allowance = Allowance::open();
        if self.switches_so_far().count() >= SWITCHES {
            return Err(SwitchError::TooOften);
        }
        let plan = Arc::clone(world.plan());
        // A game that switches back and forth between two sets of rules keeps two.
        let known = self.rule_sets.iter().position(|it| Arc::ptr_eq(&it.plan, &plan));
        if known.is_none() && self.rule_sets.len() >= RULE_SETS {
            return Err(SwitchError::TooMany);
        }
        world.commit();
        let result = GameResult::read(&mut world, &contract);
        world.take_over_watches(&self.world);
        world.check()?;
        self.world = world;
        self.contract = Arc::clone(&contract);
        self.result = result;
        self.rule_set = known.unwrap_or(self.rule_sets.len());
        if known.is_none() {
            self.rule_sets.push(RuleSet { plan, contract });
        }
        let (facts, rule_set) = (Snapshot::new(self.world.facts()), self.rule_set as u32);
        self.switches.push(Switch { names, facts, rule_set });
        Ok(())
    }

    /// The rules that an action was played by.
    pub(super) fn rules_of(&self, record: &Record) -> (&Program, &Contract) {
        let rule_set = &self.rule_sets[record.rule_set as usize];
        (rule_set.plan.program(), &rule_set.contract)
    }

    /// The facts after that many actions, or after all if there are fewer.
    #[doc(hidden)]
    pub fn position(&self, plies: usize) -> Snapshot {
        let played = self.history.get(..plies).unwrap_or(&self.history);
        let is_known = |it: &Record| it.snapshot.is_some() || !it.switches().is_empty();
        let (from, known) = match played.iter().rposition(is_known) {
            None => (0, &self.start),
            Some(at) => match (&played[at].snapshot, played[at].switches().last()) {
                (Some(after), _) => (at + 1, &**after),
                (None, before) => (at, before.map_or(&self.start, |it| &it.facts)),
            },
        };
        let mut position = known.clone();
        played[from..].iter().for_each(|it| position.follow(&it.delta));
        position
    }

    /// The facts that an action started from, or will start from: if the rules were changed right before it, the facts
    /// after that change.
    #[doc(hidden)]
    pub fn position_before(&self, action: usize) -> Snapshot {
        let switched = self.switches_before(action).last();
        switched.map_or_else(|| self.position(action), |it| it.facts.clone())
    }

    /// The changes of the rules right before an action; before the next action, those since the last action.
    #[doc(hidden)]
    pub fn switches_before(&self, action: usize) -> &[Switch] {
        self.history.get(action).map_or(&self.switches, Record::switches)
    }

    /// All changes of the rules that were not taken back, oldest first.
    fn switches_so_far(&self) -> impl DoubleEndedIterator<Item = &Switch> {
        self.history.iter().flat_map(Record::switches).chain(&self.switches)
    }

    /// The facts right after a change of rules of this game, in a world of the new rules, with their contract.
    #[doc(hidden)]
    pub fn after_switch(&self, switch: &Switch) -> (World, Arc<Contract>) {
        let RuleSet { plan, contract } = self.rule_sets[switch.rule_set as usize].clone();
        let mut world = World::new(plan, self.world.backend());
        write(&mut world, &switch.facts);
        (world, contract)
    }

    /// The programs that the game was played by, in the order of their first use. A program that was compiled again
    /// occurs twice; a program whose change was taken back does not occur.
    #[doc(hidden)]
    pub fn programs(&self) -> impl Iterator<Item = &Arc<Program>> {
        let mut used = vec![0];
        for switch in self.switches_so_far() {
            if !used.contains(&(switch.rule_set as usize)) {
                used.push(switch.rule_set as usize);
            }
        }
        used.into_iter().map(|it| self.rule_sets[it].plan.program())
    }

    /// The side to move.
    pub fn side(&self) -> Option<i64> {
        self.contract.mover(self.world.facts())
    }

    /// The hash of all facts.
    pub fn hash(&self) -> u64 {
        self.world.facts().hash()
    }

    /// The position as FEN, in the style of the game. In the middle of a turn, if the rules have a text for it, this is
    /// the position that the turn began from, then the actions taken since.
    pub fn fen(&mut self) -> String {
        let _allowance = Allowance::open();
        let contract = Arc::clone(&self.contract);
        let write = |world: &mut World| write_fen(world, &contract);
        let Some(done) = write_turn(&mut self.world, &contract) else {
            return write(&mut self.world);
        };
        let Some(start) = self.turn_start() else { return write(&mut self.world) };
        let position = self.read_at(&start, write);
        format!("{position} {done}")
    }

    /// The board in FEN order, last rank first: for each square the letter of the piece there.
    pub fn cells(&mut self) -> Vec<Vec<Option<String>>> {
        cells(&mut self.world, &self.contract)
    }

    /// The facts as JSON, without what was played before: not a save.
    pub fn to_json(&self) -> String {
        to_json(self.world.facts())
    }

    /// The first position.
    #[doc(hidden)]
    pub fn start(&self) -> &Snapshot {
        &self.start
    }

    /// The actions played, oldest first.
    pub fn history(&self) -> &[Record] {
        &self.history
    }

    pub(super) fn history_capacity(&self) -> usize {
        self.history.capacity()
    }

    /// How the game ended, if it has.
    pub fn result(&self) -> Option<&GameResult> {
        self.result.as_ref()
    }

    /// The legal moves; none after the end of the game, even if it ended by a draw by counter, repetition or material.
    pub fn legal_moves(&mut self) -> Vec<Move> {
        let _allowance = Allowance::open();
        match self.result {
            Some(_) => Vec::new(),
            None => legal_moves(&mut self.world, &self.contract),
        }
    }

    /// The legal moves with their UCI text, sorted by text.
    pub fn listing(&mut self) -> Vec<(String, Move)> {
        let _allowance = Allowance::open();
        match self.result {
            Some(_) => Vec::new(),
            None => listing(&mut self.world, &self.contract),
        }
    }

    /// The legal move that a text means, in UCI or SAN.
    ///
    /// # Errors
    /// The game is over, or the text means no legal move, or several, or the rules exceed a budget.
    pub fn find_move(&mut self, text: &str) -> Result<Move, PlayError> {
        let _allowance = Allowance::open();
        self.refuse_if_over()?;
        let (world, contract) = (&mut self.world, &self.contract);
        let found = parse_either(world, contract, text);
        // If rows are missing, it is not known whether there is such a move.
        self.check()?;
        Ok(found?)
    }

    /// Plays the move that a text means, or the actions of one turn, with commas between them or as one word if the
    /// rules have words for turns: all or none. The record is that of the last.
    ///
    /// # Errors
    /// As [`Game::find_move`] and [`Game::play`]. Nothing has changed.
    pub fn play_text(&mut self, text: &str) -> Result<&Record, PlayError> {
        let _allowance = Allowance::open();
        let actions = self.find_turn(text)?;
        let before = self.history.len();
        for mv in &actions {
            if let Err(refusal) = self.play(mv) {
                while self.history.len() > before {
                    self.takeback();
                }
                return Err(refusal);
            }
        }
        Ok(&self.history[self.history.len() - 1])
    }

    /// The actions that a text means, a single one or those of a turn, as [`Game::play_text`] reads it.
    ///
    /// # Errors
    /// As [`Game::find_move`].
    pub(crate) fn find_turn(&mut self, text: &str) -> Result<Vec<Move>, PlayError> {
        let _allowance = Allowance::open();
        if !text.contains(BETWEEN) {
            let found = self.find_move(text);
            if found.is_ok() || self.contract.turn_words.is_none() {
                return found.map(|it| vec![it]);
            }
        }
        self.refuse_if_over()?;
        let actions = parse_turn(&mut self.world, &self.contract, text);
        self.check()?;
        Ok(actions?)
    }

    /// Plays a move: all that it changes, or nothing.
    ///
    /// # Errors
    /// The game is over, or the move is not legal, or its reactions cannot be carried out, or the rules exceed a budget.
    /// Nothing has changed.
    pub fn play(&mut self, mv: &Move) -> Result<&Record, PlayError> {
        let _allowance = Allowance::open();
        self.refuse_if_over()?;
        self.check()?;
        let uci = to_uci(&mut self.world, mv);
        let span = tracing::debug_span!("play", ply = self.history.len() + 1, %uci);
        let _entered = span.enter();
        let legal = is_legal(&mut self.world, &self.contract, mv);
        self.check()?;
        if !legal {
            let refusal = IllegalMove::new(&mut self.world, &self.contract, mv, uci)?;
            tracing::debug!(reasons = ?refusal.reasons, "refused");
            return Err(Box::new(refusal).into());
        }
        let san = SanDraft::of(&mut self.world, &self.contract, mv);
        let record = match self.check() {
            Ok(()) => self.transact(mv, uci, san),
            Err(limit) => Err(limit.into()),
        };
        let record = record.map_err(|it| self.refused(it))?;
        tracing::debug!(changes = record.delta.changes().count(), "committed");
        self.result = GameResult::read(&mut self.world, &self.contract);
        if let Some(result) = &self.result {
            tracing::debug!(%result, "over");
        }
        self.remember(record);
        if let Err(limit) = self.check() {
            self.takeback();
            // Taking it back evaluates rules as well; rows are read afresh from here on.
            self.world.forget_rows();
            return Err(limit.into());
        }
        Ok(&self.history[self.history.len() - 1])
    }

    /// The error to report: an exhausted budget, if there is one, instead of what followed from it.
    fn refused(&mut self, error: PlayError) -> PlayError {
        match (self.check(), error) {
            (_, PlayError::Refused(Refusal::Limit(limit))) => (*limit).into(),
            (Err(limit), _) => limit.into(),
            (Ok(()), other) => other,
        }
    }

    /// Adds a record to the history, and drops the snapshot that is no longer at hand.
    fn remember(&mut self, record: Record) {
        if let Some(old) = self.history.len().checked_sub(AT_HAND) {
            self.history[old].snapshot = None;
        }
        if self.history.len() == self.history.capacity() {
            self.history.reserve_exact(GROWTH);
        }
        self.history.push(record);
    }

    /// Checks that what was read of this game so far is complete.
    ///
    /// # Errors
    /// Its rules have exceeded a budget; what was read since the last check may be wrong.
    pub fn check(&mut self) -> Result<(), Exhausted> {
        let checked = self.world.check();
        if checked.is_err() {
            self.world.forget_rows();
        }
        checked
    }

    fn refuse_if_over(&self) -> Result<(), PlayError> {
        match &self.result {
            Some(result) => Err(PlayError::Over { result: result.clone() }),
            None => Ok(()),
        }
    }

    /// Takes the action and commits. The move is known to be legal.
    fn transact(&mut self, mv: &Move, uci: String, san: SanDraft) -> Result<Record, PlayError> {
        let side = self.side();
        let since = self.world.facts().mark();
        let trace = self.world.fire_traced(mv.action, &mv.args)?;
        let san = san.after(&mut self.world, &self.contract);
        let notes = self.notes(&trace, since);
        let rewound_to = trace.rewind().map(|turns| self.rewind(turns));
        let key = position_key(&mut self.world);
        let turn_goes_on = rewound_to.is_none() && side == self.side();
        let earlier = self.passed(side);
        let turn = earlier.last().map_or(0, |it| it.turn) + i64::from(!turn_goes_on);
        let here = Place { key, mover: self.side(), turn, times: 1 };
        state_recurrence(&mut self.world, &self.contract, here, &earlier);
        let delta = Delta::since(self.world.facts(), since);
        let mut snapshot = self.position_before(self.history.len());
        snapshot.follow(&delta);
        self.world.commit();
        let is_plain = trace.is_plain(self.world.program());
        let trace = (!is_plain).then(|| Arc::new(trace));
        let switches = std::mem::take(&mut self.switches);
        let extra = Extra { switches, rewound_to, notes, trace };
        Ok(Record {
            mv: mv.clone(),
            uci: uci.into(),
            san: san.into(),
            side: side.unwrap_or_default(),
            turn_goes_on,
            key,
            delta,
            snapshot: Some(Box::new(snapshot)),
            rule_set: self.rule_set as u32,
            extra: extra.boxed(),
        })
    }

    /// The notes of the rules on an action, with the names that pieces had before it. If a rewind takes the action
    /// back, only the notes of the reaction that rewinds are left.
    fn notes(&self, trace: &Trace, since: Mark) -> Vec<Box<str>> {
        let (program, contract) = (self.world.program(), &self.contract);
        if !trace.done().any(|it| matches!(it.1, Done::Noted { .. })) {
            return Vec::new();
        }
        let (now, delta) = (self.facts(), Delta::since(self.facts(), since));
        let names = |ty: Type, raw: i64| {
            let get = |entity, attr| match delta.of(entity, attr) {
                Some(change) => change.old,
                None => now.get_raw(entity, attr),
            };
            value_name(program, &get, contract, ty, raw)
        };
        let note = |done: &Done| match done {
            Done::Noted { said } => Some(said.render(&names).into()),
            _ => None,
        };
        let rewinds = |it: &Step| it.done.iter().any(|it| matches!(it, Done::Rewound { .. }));
        let is_rewound = trace.rewind().is_some();
        let left = trace.done().filter(|it| !is_rewound || rewinds(it.0));
        left.filter_map(|it| note(it.1)).collect()
    }

    /// Takes back that many whole turns, the first of which is the turn under way; facts that persist stay. It goes back
    /// no further than to the start, or to the last change of the rules. Returns how many actions had been taken then.
    fn rewind(&mut self, turns: i64) -> usize {
        let (mut to, mut left) = (self.history.len(), turns);
        for at in self.line_by_these_rules() {
            if left <= 0 {
                break;
            }
            // The action under way is not in the history yet; the one before it is of the same turn if that went on.
            left -= i64::from(!self.history[at].turn_goes_on);
            to = if left > 0 { at } else { at + 1 };
        }
        let position = self.position_before(to);
        go_back(&mut self.world, &position);
        to
    }

    /// The actions that led to the position on the board, newest first, without those that were rewound.
    fn line(&self) -> impl Iterator<Item = usize> + '_ {
        let mut at = self.history.len();
        std::iter::from_fn(move || {
            while let Some(before) = at.checked_sub(1) {
                match self.history[before].rewound_to() {
                    Some(to) => at = to,
                    None => {
                        at = before;
                        return Some(before);
                    }
                }
            }
            None
        })
    }

    /// The positions of the line so far, oldest first; in the last of them `side` is to move. The first entry stands for
    /// the time before the start, of which the start may tell.
    pub(crate) fn passed(&self, side: Option<i64>) -> Vec<Place> {
        let mut line: Vec<&Record> = self.line().map(|at| &self.history[at]).collect();
        line.reverse();
        let mut movers = line.iter().map(|it| Some(it.side)).chain([side]);
        let mut place =
            Place { key: self.start_key, mover: movers.next().flatten(), turn: 0, times: 1 };
        let mut passed = vec![self.before_start(place), place];
        for (record, mover) in line.iter().zip(movers) {
            let turn = place.turn + i64::from(!record.turn_goes_on);
            place = Place { key: record.key, mover, turn, times: 1 };
            passed.push(place);
        }
        passed
    }

    /// A game that goes on from a save may start from a position that has occurred before.
    fn before_start(&self, start: Place) -> Place {
        let Contract { occurrences, since_first, .. } = &*self.rule_sets[0].contract;
        let stated = |it: &Option<AttrInput>| it.and_then(|it| self.start.get_raw(GAME, it.attr));
        let (times, since) = (stated(occurrences).unwrap_or(1), stated(since_first).unwrap_or(0));
        // A save may state any number.
        Place { turn: 0_i64.saturating_sub(since), times: times.saturating_sub(1), ..start }
    }

    /// The actions of [`Self::line`] since the rules were last changed: a rewind takes back no earlier ones.
    fn line_by_these_rules(&self) -> Vec<usize> {
        // Rewound actions are searched, too: the rules may have been changed before one that is no longer in the line.
        let switched = |at: &usize| !self.switches_before(*at).is_empty();
        let since = (0..=self.history.len()).rev().find(switched).unwrap_or(0);
        self.line().take_while(|it| *it >= since).collect()
    }

    /// Takes the last action back, with all that came after it (a resignation, a claim, a change of the rules).
    pub fn takeback(&mut self) -> Option<Record> {
        let record = self.history.pop()?;
        let was_switched = !self.switches.is_empty();
        self.switches = record.switches().to_vec();
        if was_switched || !self.unplay(&record) {
            self.go_to_last();
        }
        Some(record)
    }

    /// Takes back the changes of an action. False if that does not restore the position before it, since something else
    /// was stated after the action.
    fn unplay(&mut self, record: &Record) -> bool {
        let switched = self.switches.last().map(|it| it.facts.hash());
        let before = switched.or_else(|| self.history.last().map(Record::hash));
        for change in record.delta.changes() {
            self.world.set_raw(change.entity, change.attr, change.old);
        }
        if self.hash() != before.unwrap_or_else(|| self.start.hash()) {
            return false;
        }
        self.world.commit();
        self.result = self.result_before();
        true
    }

    /// A copy of the game that goes on from the position after the first `plies` actions; `None` if there are fewer.
    /// What came between that position and the next action, such as a change of presets, is left out.
    pub fn branch(&self, plies: usize) -> Option<Self> {
        if plies > self.history.len() {
            return None;
        }
        // What was stated after the last action, such as a resignation, belongs to the position after it.
        Some(if plies < self.history.len() { self.truncated(plies) } else { self.clone() })
    }

    /// A new game from the first position, under the rules of that time.
    pub fn restarted(&self) -> Self {
        self.truncated(0)
    }

    /// A copy of the game right after that many actions, without all that followed.
    fn truncated(&self, plies: usize) -> Self {
        let mut game = self.clone();
        game.history.truncate(plies);
        game.switches.clear();
        game.go_to_last();
        game
    }

    /// Restores the position that the next action is to start from, with the rules of that time.
    fn go_to_last(&mut self) {
        let last = || self.history.last().map_or(0, |it| it.rule_set);
        let rule_set = self.switches.last().map_or_else(last, |it| it.rule_set) as usize;
        let snapshot = self.position_before(self.history.len());
        if rule_set == self.rule_set {
            write(&mut self.world, &snapshot);
        } else {
            self.rule_set = rule_set;
            let RuleSet { plan, contract } = self.rule_sets[rule_set].clone();
            let mut world = World::new(plan, self.world.backend());
            write(&mut world, &snapshot);
            world.take_over_watches(&self.world);
            self.world = world;
            self.contract = contract;
        }
        self.result = self.result_before();
    }

    /// The result of a position from which the game went on: `None`, unless the game was over there and went on
    /// because its rules were changed. `None` also if finding it exceeds a budget.
    fn result_before(&mut self) -> Option<GameResult> {
        let result = GameResult::read(&mut self.world, &self.contract);
        result.filter(|_| !self.world.has_run_out())
    }
}

/// Sets a world's facts to those of an earlier position. Facts that persist stay if their entities existed then; entities
/// that were made later are removed, and their ids freed.
pub fn go_back(world: &mut World, earlier: &Snapshot) {
    let lasting = world.program().lasting.clone();
    let of_entities = |it: &(EntityId, AttrId, i64)| earlier.schema().owners(it.1).is_none();
    let known: HashSet<EntityId> = earlier.iter_raw().filter(of_entities).map(|it| it.0).collect();
    for change in world.facts().changes_to(earlier) {
        let of_members = world.program().schema.owners(change.attr).is_some();
        let was_there = of_members || known.contains(&change.entity);
        if !lasting.contains(&change.attr) || !was_there {
            world.set_raw(change.entity, change.attr, change.new);
        }
    }
}

/// Sets a world's facts to those of a snapshot, for good.
pub(super) fn write(world: &mut World, snapshot: &Snapshot) {
    set_facts(world, snapshot);
    world.commit();
}

fn set_facts(world: &mut World, snapshot: &Snapshot) {
    for change in world.facts().changes_to(snapshot) {
        world.set_raw(change.entity, change.attr, change.new);
    }
}
