//! From a save to a game: the moves are played again, and everything that the save says is held
//! against what comes of them.
//!
//! The first thing that differs is named, checksums aside: whoever alters a fact can also make a
//! checksum fit.

use std::fmt;

use super::make::{action_name, facts, saved_move};
use super::{Ended, RestoreError, RuleFile, Save, SavedMove};
use crate::derive::Backend;
use crate::facts::{Document, SavedFact};
use crate::game::Game;
use crate::moves::{Move, legal_moves};
use crate::presets::compose::rule_files;
use crate::presets::external::FOLDER;
use crate::presets::{Catalogue, Ruleset, StartError};
use crate::rules::Source;

/// Which rules a save is restored under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RulesFrom {
    /// The rules at hand, which must be those of the save.
    Here,
    /// The rules at hand, whether they have changed or not. What the save says of attributes that
    /// it does not know is their default; the moves must still be legal.
    Changed,
    /// The texts in the save.
    Save,
}

/// A position on the way, and the move that follows it.
#[derive(Debug)]
pub struct Step<'s> {
    pub game: &'s mut Game,
    /// Moves played before it.
    pub ply: usize,
    /// `None` at the end.
    pub next: Option<(&'s SavedMove, Move)>,
}

/// The first thing in a save that is not so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// `the start`, `move 3 (g1f3)`, `the end`.
    pub at: String,
    pub what: String,
    /// A proof or a refutation that belongs to it, as text.
    pub proof: Option<String>,
}

impl std::error::Error for Difference {}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.what)
    }
}

impl Difference {
    pub fn new(at: impl Into<String>, what: impl Into<String>) -> Self {
        Self { at: at.into(), what: what.into(), proof: None }
    }
}

impl From<Difference> for RestoreError {
    fn from(it: Difference) -> Self {
        Self::Differs(Box::new(it))
    }
}

/// A game as it was saved.
#[derive(Debug)]
pub struct Restored {
    pub game: Game,
    pub rules: Ruleset,
    /// The save is older than the rules, and was brought up to date.
    pub migrated: bool,
}

type Visit<'v> = &'v mut dyn FnMut(Step<'_>) -> Result<(), Difference>;

impl Save {
    /// The game, history included.
    ///
    /// # Errors
    /// Rules that have changed, or the first thing that is not what comes of the moves.
    pub fn restore(
        &self,
        catalogue: &Catalogue,
        from: RulesFrom,
    ) -> Result<Restored, RestoreError> {
        self.restore_visiting(catalogue, from, &mut |_| Ok(()))
    }

    /// [`Save::restore`], with a visit of every position on the way.
    ///
    /// # Errors
    /// As [`Save::restore`]; also what a visit finds.
    pub fn restore_visiting(
        &self,
        catalogue: &Catalogue,
        from: RulesFrom,
        visit: Visit<'_>,
    ) -> Result<Restored, RestoreError> {
        let own;
        let catalogue = match from {
            RulesFrom::Here | RulesFrom::Changed => catalogue,
            RulesFrom::Save => {
                own = self.catalogue()?.with_code_of(catalogue);
                &own
            }
        };
        self.check_code(catalogue)?;
        let rules = catalogue.load(&self.game, &self.presets)?;
        let changed = self.changed_rules(&rules);
        if from != RulesFrom::Changed && self.version > 1 && !changed.is_empty() {
            let embedded = self.rules.iter().all(|it| it.text.is_some());
            return Err(RestoreError::Rules { files: changed, embedded });
        }
        let strict = self.version > 1 && changed.is_empty();
        let replay = Replay { save: self, rules: &rules, strict };
        let game = replay.run(visit)?;
        Ok(Restored { game, rules, migrated: !strict })
    }

    /// The rule files of the save as a catalogue of their own.
    fn catalogue(&self) -> Result<Catalogue, RestoreError> {
        let source = |it: &RuleFile| {
            let text = it.text.clone().ok_or(RestoreError::NotEmbedded)?;
            let source = Source { path: it.path.clone(), text };
            match source.hash() == it.blake3 {
                true => Ok(source),
                false => {
                    Err(RestoreError::Embedded(format!("{} is not what its hash says", it.path)))
                }
            }
        };
        if self.rules.is_empty() {
            return Err(RestoreError::NotEmbedded);
        }
        let sources = self.rules.iter().map(source).collect::<Result<Vec<_>, _>>()?;
        Catalogue::part(sources).map_err(|it| RestoreError::Embedded(it.to_string()))
    }

    /// Whether the code that the save's presets call is here.
    fn check_code(&self, catalogue: &Catalogue) -> Result<(), RestoreError> {
        let ids = self.rules.iter().filter_map(|it| it.path.strip_prefix(FOLDER));
        let mut ids = ids.filter_map(|it| it.strip_suffix(".dl"));
        match ids.find(|it| !catalogue.externals.has(it)) {
            Some(preset) => Err(RestoreError::Code { preset: preset.to_string() }),
            None => Ok(()),
        }
    }

    /// The files whose text is not that of the save, or that only one side has.
    fn changed_rules(&self, rules: &Ruleset) -> Vec<String> {
        let now: Vec<(&str, String)> =
            rule_files(rules.program()).map(|it| (it.path.as_str(), it.hash())).collect();
        let then: Vec<(&str, String)> =
            self.rules.iter().map(|it| (it.path.as_str(), it.blake3.clone())).collect();
        let mut changed: Vec<String> = Vec::new();
        let differs = |it: &&(&str, String), other: &[(&str, String)]| !other.contains(it);
        let gone = then.iter().filter(|it| differs(it, &now));
        let new = now.iter().filter(|it| differs(it, &then));
        for (path, _) in gone.chain(new) {
            if changed.iter().all(|it| it != path) {
                changed.push((*path).to_string());
            }
        }
        if changed.is_empty() && now != then {
            changed.push("the order of the files".into());
        }
        changed
    }
}

/// A save on its way to a game.
struct Replay<'s> {
    save: &'s Save,
    rules: &'s Ruleset,
    /// The rules are those of the save, so everything that it says must come out.
    strict: bool,
}

impl Replay<'_> {
    fn run(&self, visit: Visit<'_>) -> Result<Game, RestoreError> {
        let mut game = self.start()?;
        for (ply, saved) in self.save.moves.iter().enumerate() {
            let at = format!("move {} ({})", ply + 1, saved.uci);
            let mv = self.find(&mut game, saved).map_err(|it| Difference::new(&at, it))?;
            visit(Step { game: &mut game, ply, next: Some((saved, mv.clone())) })?;
            let played = game.play(&mv).cloned();
            let record = played.map_err(|it| Difference::new(&at, it.to_string()))?;
            if self.strict {
                let now = saved_move(&game, &record, saved.proof.clone());
                compare_moves(saved, &now).map_err(|it| Difference::new(&at, it))?;
            }
        }
        self.end(&mut game)?;
        visit(Step { game: &mut game, ply: self.save.moves.len(), next: None })?;
        Ok(game)
    }

    fn start(&self) -> Result<Game, RestoreError> {
        let Save { fen, start, version, attributes, .. } = self.save;
        if let Some(fen) = fen {
            let game = self.rules.start(Some(fen))?;
            if self.strict {
                compare_facts(start, &facts(&game))
                    .map_err(|it| Difference::new("the start", it))?;
            }
            return Ok(game);
        }
        let document = Document { version: 1, facts: start.clone() };
        let known = (*version < super::VERSION || !self.strict).then_some(attributes.as_slice());
        let game =
            self.rules.resume_older(&document, known, Backend::Bits).map_err(|it| match it {
                StartError::Save(it) => RestoreError::Facts(it),
                other => RestoreError::Start(other),
            })?;
        if self.strict {
            compare_facts(start, &facts(&game)).map_err(|it| Difference::new("the start", it))?;
        }
        Ok(game)
    }

    /// The legal move that a save means.
    fn find(&self, game: &mut Game, saved: &SavedMove) -> Result<Move, String> {
        let program = game.program().clone();
        if game.result().is_none() {
            let contract = game.contract().clone();
            let moves = legal_moves(game.world_mut(), &contract);
            let meant = |it: &&Move| action_name(&program, it) == saved.action;
            if let Some(it) = moves.iter().find(meant) {
                return Ok(it.clone());
            }
        }
        match (self.strict, game.find_move(&saved.uci)) {
            (false, Ok(mv)) => Ok(mv),
            (true, Ok(_)) => Err(format!("{} is no legal action here", saved.action)),
            (_, Err(why)) => Err(why.to_string()),
        }
    }

    fn end(&self, game: &mut Game) -> Result<(), RestoreError> {
        let at = "the end";
        let fault = |it: String| Difference::new(at, it);
        let sides = game.contract().sides;
        let ended = match &self.save.ended {
            None => Ok(()),
            Some(Ended::Claimed(reason)) => game.claim_draw(Some(reason)).map(|_| ()),
            Some(Ended::Resigned(side)) => {
                let raw = game.program().schema.domain(sides).member(side);
                let raw = raw.ok_or_else(|| fault(format!("there is no side {side}")))?;
                game.resign(raw).map(|_| ())
            }
        };
        ended.map_err(|it| fault(it.to_string()))?;
        if !self.strict {
            return Ok(());
        }
        compare_facts(&self.save.facts, &facts(game)).map_err(fault)?;
        let result = game.result().map(ToString::to_string);
        if self.save.result != result {
            let word = |it: &Option<String>| it.clone().unwrap_or_else(|| "none".into());
            let (saved, now) = (word(&self.save.result), word(&result));
            return Err(
                fault(format!("the save has the result {saved}, the rules give {now}")).into()
            );
        }
        let names = self.rules.program().schema.attributes().iter().map(|it| &it.name);
        if !names.eq(&self.save.attributes) {
            return Err(fault("the list of attributes is not that of the rules".into()).into());
        }
        let presets = self.rules.activations().iter().map(ToString::to_string);
        if !presets.eq(self.save.presets.iter().cloned())
            || self.save.game != self.rules.game().name
        {
            return Err(fault("the game and its presets are named otherwise".into()).into());
        }
        Ok(())
    }
}

/// The first field in which a saved move is not what was played.
fn compare_moves(saved: &SavedMove, now: &SavedMove) -> Result<(), String> {
    let yes = |it: bool| if it { "goes on" } else { "ends" }.to_string();
    let fields = [
        ("the action", &saved.action, &now.action),
        ("the move in UCI", &saved.uci, &now.uci),
        ("the move in SAN", &saved.san, &now.san),
        ("the side", &saved.side, &now.side),
        ("the turn", &yes(saved.goes_on), &yes(now.goes_on)),
        ("the hash of the facts after it", &saved.facts, &now.facts),
        ("the key of the position after it", &saved.position, &now.position),
    ];
    match fields.into_iter().find(|(_, saved, now)| saved != now) {
        None => Ok(()),
        Some((what, saved, now)) => Err(format!("{what} is {saved} in the save, but {now}")),
    }
}

/// The first fact of which only one side knows.
fn compare_facts(saved: &[SavedFact], now: &[SavedFact]) -> Result<(), String> {
    let same = saved.iter().zip(now).take_while(|(a, b)| a == b).count();
    match (saved.get(same), now.get(same)) {
        (None, None) => Ok(()),
        (Some(a), Some(b)) if (a.entity, &a.attribute) == (b.entity, &b.attribute) => {
            Err(format!("the save says `{a}`, the game `{b}`"))
        }
        (Some(a), _) if !now.contains(a) => Err(format!("the save says `{a}`, the game does not")),
        (_, Some(b)) if !saved.contains(b) => {
            Err(format!("the game says `{b}`, the save does not"))
        }
        (Some(a), _) | (_, Some(a)) => Err(format!("`{a}` is not in its place in the save")),
    }
}
