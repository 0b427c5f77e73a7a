//! Restores a game from a save: plays its moves again, and compares everything in the save with the result.
//!
//! The first difference is reported. Checksums are not relied on: an edited file can have one that fits.

use std::collections::HashSet;
use std::sync::Arc;

use super::make::{action_name, attributes, facts, files, hash, saved_move};
use super::{Ended, LAST_WITHOUT_SWITCHES, RestoreError, RuleFile, Save, SavedMove, SavedSwitch};
use crate::derive::Backend;
use crate::facts::{Document, SavedFact, SavedValue};
use crate::game::Game;
use crate::moves::{Move, legal_moves};
use crate::presets::activation::preset_of;
use crate::presets::external::FOLDER;
use crate::presets::option_facts::members_of;
use crate::presets::{Activation, Catalogue, Ruleset, StartError, switch_place};
use crate::rules::{Input, Program, Role, Source};

/// The rules that a save is restored under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RulesFrom {
    /// The current rules, which must be those of the save, unless it is of version 1 and does not name its rules.
    Here,
    /// The current rules, whether they have changed or not. Attributes that the save does not know have their
    /// defaults; the moves must still be legal.
    Changed,
    /// The texts in the save.
    Save,
}

/// A position of the replay, and what follows it.
#[derive(Debug)]
pub struct Step<'s> {
    /// The game at that position.
    pub game: &'s mut Game,
    /// Moves played before it.
    pub ply: usize,
    /// The continuation.
    pub next: Next<'s>,
}

/// The continuation of a position.
#[derive(Debug)]
pub enum Next<'s> {
    /// A move, as saved and as it is played.
    Move(&'s SavedMove, Move),
    /// Other presets, and the rules until then.
    Switch {
        /// The presets from then on.
        to: &'s SavedSwitch,
        /// The catalogue that they come from.
        catalogue: &'s Catalogue,
        /// The rules until then.
        rules: &'s Ruleset,
    },
    /// Nothing.
    End,
}

/// The first difference between a save and its replay.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {what}")]
pub struct Difference {
    /// `the start`, `move 3 (g1f3)`, `the change of presets after move 3`, `the end`.
    pub at: String,
    /// The difference, as a sentence.
    pub what: String,
    /// A proof or a refutation that belongs to it, as text.
    pub proof: Option<String>,
}

impl Difference {
    /// A difference without a proof.
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
    /// The game at its last position.
    pub game: Game,
    /// The rules that it goes on under.
    pub rules: Ruleset,
    /// Whether the save was made under other rules, or does not say under which (version 1), so that its facts and
    /// moves were adapted to the current ones.
    pub migrated: bool,
}

type Visit<'v> = &'v mut dyn FnMut(Step<'_>) -> Result<(), Difference>;

impl Save {
    /// The game, history included.
    ///
    /// # Errors
    /// The rules have changed or cannot be loaded, or the replay differs from the save: the first difference.
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
    #[doc(hidden)]
    pub fn restore_visiting(
        &self,
        catalogue: &Catalogue,
        from: RulesFrom,
        visit: Visit<'_>,
    ) -> Result<Restored, RestoreError> {
        let own;
        let catalogue = match from {
            RulesFrom::Here | RulesFrom::Changed => {
                // Even texts that are not used must fit their hashes: readers of the file believe them.
                for file in self.rules.iter().filter(|it| it.text.is_some()) {
                    file.source()?;
                }
                catalogue
            }
            RulesFrom::Save => {
                own = self.own_catalogue(catalogue)?;
                &own
            }
        };
        self.check_code(catalogue)?;
        let rules = self.rules_of_start(catalogue)?;
        let programs = self.programs(catalogue, &rules)?;
        let changed = self.changed_rules(&programs);
        if from != RulesFrom::Changed && self.version > 1 && !changed.is_empty() {
            let embedded = self.rules.iter().all(|it| it.text.is_some());
            return Err(RestoreError::Rules { files: changed, embedded });
        }
        let strict = self.version > 1 && changed.is_empty();
        let mut replay = Replay { save: self, catalogue, rules, programs, strict };
        let game = replay.run(visit)?;
        Ok(Restored { game, rules: replay.rules, migrated: !strict })
    }

    /// The rules of the first position. A game that went on from facts may lack presets of its own.
    fn rules_of_start(&self, catalogue: &Catalogue) -> Result<Ruleset, RestoreError> {
        let rules = catalogue.load(&self.game, &self.presets)?;
        let is_there = |it: &Activation| self.presets.iter().any(|of| preset_of(of) == it.preset);
        if self.version <= LAST_WITHOUT_SWITCHES || rules.activations().iter().all(is_there) {
            return Ok(rules);
        }
        Ok(catalogue.load_exactly(&rules, &self.presets)?)
    }

    /// The programs that the game was played by: that of the start, then that of each switch.
    fn programs(
        &self,
        catalogue: &Catalogue,
        rules: &Ruleset,
    ) -> Result<Vec<Arc<Program>>, RestoreError> {
        let mut programs = vec![Arc::clone(rules.program())];
        for switch in &self.switches {
            let program = catalogue.program_of(rules.game(), &switch.presets);
            programs.push(program.map_err(|it| Difference::new(switch.place(), it.to_string()))?);
        }
        Ok(programs)
    }

    /// The rule files of the save as a catalogue of their own, with the code that is registered with another one.
    pub(crate) fn own_catalogue(&self, registered: &Catalogue) -> Result<Catalogue, RestoreError> {
        if self.rules.is_empty() {
            return Err(RestoreError::NotEmbedded);
        }
        let sources = self.rules.iter().map(RuleFile::source).collect::<Result<Vec<_>, _>>()?;
        let own = Catalogue::part(sources).map_err(|it| RestoreError::Embedded(it.to_string()))?;
        Ok(own.with_code_of(registered))
    }

    /// Checks that the code that the save's presets call is registered.
    fn check_code(&self, catalogue: &Catalogue) -> Result<(), RestoreError> {
        let ids = self.rules.iter().filter_map(|it| it.path.strip_prefix(FOLDER));
        let mut ids = ids.filter_map(|it| it.strip_suffix(".dl"));
        match ids.find(|it| !catalogue.externals.has(it)) {
            Some(preset) => Err(RestoreError::Code { preset: preset.to_string() }),
            None => Ok(()),
        }
    }

    /// The files that differ between these programs and the save, or that only one of the two has.
    fn changed_rules(&self, programs: &[Arc<Program>]) -> Vec<String> {
        let now: Vec<(&str, String)> =
            files(programs.iter()).into_iter().map(|it| (it.path.as_str(), it.hash())).collect();
        let then: Vec<(&str, String)> =
            self.rules.iter().map(|it| (it.path.as_str(), it.blake3.clone())).collect();
        let (in_now, in_then): (HashSet<_>, HashSet<_>) =
            (now.iter().collect(), then.iter().collect());
        let gone = then.iter().filter(|it| !in_now.contains(it));
        let new = now.iter().filter(|it| !in_then.contains(it));
        let mut told = HashSet::new();
        let paths = gone.chain(new).map(|it| it.0).filter(|it| told.insert(*it));
        let mut changed: Vec<String> = paths.map(str::to_owned).collect();
        if changed.is_empty() && now != then {
            changed.push("the order of the files".into());
        }
        changed
    }
}

impl RuleFile {
    /// The file, if its text is there and has the file's hash.
    fn source(&self) -> Result<Source, RestoreError> {
        let text = self.text.as_deref().ok_or(RestoreError::NotEmbedded)?;
        let source = Source { path: self.path.clone(), text: text.into() };
        match source.hash() == self.blake3 {
            true => Ok(source),
            false => Err(RestoreError::Embedded(format!(
                "the text of {} does not match its hash",
                self.path
            ))),
        }
    }
}

impl SavedSwitch {
    /// Where it stands, in words.
    pub fn place(&self) -> String {
        switch_place(self.after as usize)
    }
}

/// A save that is being replayed.
struct Replay<'s> {
    save: &'s Save,
    catalogue: &'s Catalogue,
    /// The rules of the position on the board.
    rules: Ruleset,
    /// The programs of all positions.
    programs: Vec<Arc<Program>>,
    /// Whether the rules are those of the save, so that everything in it must be reproduced.
    strict: bool,
}

impl Replay<'_> {
    fn run(&mut self, visit: Visit<'_>) -> Result<Game, RestoreError> {
        let save = self.save;
        let mut game = self.start()?;
        let mut switches = save.switches.iter().peekable();
        for ply in 0..=save.moves.len() {
            while let Some(to) = switches.next_if(|it| it.after as usize == ply) {
                let next = Next::Switch { to, catalogue: self.catalogue, rules: &self.rules };
                visit(Step { game: &mut game, ply, next })?;
                self.switch(&mut game, to).map_err(|it| Difference::new(to.place(), it))?;
            }
            if let Some(saved) = save.moves.get(ply) {
                self.play(&mut game, ply, saved, visit)?;
            }
        }
        if let Some(it) = switches.next() {
            return Err(Difference::new(it.place(), "it is not in its place").into());
        }
        self.end(&mut game)?;
        visit(Step { game: &mut game, ply: save.moves.len(), next: Next::End })?;
        Ok(game)
    }

    fn play(
        &self,
        game: &mut Game,
        ply: usize,
        saved: &SavedMove,
        visit: Visit<'_>,
    ) -> Result<(), Difference> {
        let fault = |it: String| Difference::new(format!("move {} ({})", ply + 1, saved.uci), it);
        let mv = self.find(game, saved).map_err(fault)?;
        visit(Step { game, ply, next: Next::Move(saved, mv.clone()) })?;
        let record = game.play(&mv).cloned().map_err(|it| fault(it.to_string()))?;
        if !self.strict {
            return Ok(());
        }
        compare_moves(saved, &saved_move(game, &record, saved.proof.clone())).map_err(fault)
    }

    /// Switches to other presets.
    fn switch(&mut self, game: &mut Game, to: &SavedSwitch) -> Result<(), String> {
        let rules = self.catalogue.set_active(&self.rules, game, &to.presets);
        self.rules = rules.map_err(|it| it.to_string())?;
        if !self.strict {
            return Ok(());
        }
        let now = Activation::texts(self.rules.activations());
        compare_presets(&to.presets, &now)?;
        compare("the hash of the facts after it", &to.facts, &hash(game.hash()))
    }

    fn start(&self) -> Result<Game, RestoreError> {
        let Save { fen, start, attributes, .. } = self.save;
        let game = if let Some(fen) = fen {
            self.rules.start(Some(fen))?
        } else {
            let mut document = Document::new(start.clone());
            let mut attributes = attributes.clone();
            if !self.strict {
                let names = document.facts.iter_mut().map(|it| &mut it.attribute);
                names.chain(&mut attributes).for_each(|it| self.rename(it));
                self.list_members(&mut document.facts, &mut attributes);
            }
            let known = (!self.strict).then_some(attributes.as_slice());
            self.rules.resume_older(&document, known, Backend::Bits).map_err(|it| match it {
                StartError::Save(it) => RestoreError::Facts(it),
                other => RestoreError::Start(other),
            })?
        };
        if self.strict {
            let fault = |it: String| Difference::new("the start", it);
            compare_facts(start, &facts(&game)).map_err(fault)?;
            compare("the name of the game", &self.save.game, &self.rules.game().name)
                .map_err(fault)?;
            let presets = Activation::texts(self.rules.activations());
            compare_presets(&self.save.presets, &presets).map_err(fault)?;
        }
        Ok(game)
    }

    /// Replaces list options of older saves, one number with a bit for each member (the 64th in the sign), by one fact
    /// per member.
    fn list_members(&self, facts: &mut Vec<SavedFact>, attributes: &mut Vec<String>) {
        let program = self.rules.program();
        let name = |attr| program.schema.attribute(attr).name.clone();
        for relation in &program.relations {
            let Role::Input(list @ Input::List(first, _)) = relation.role else { continue };
            let Some(base) = name(first).rsplit_once('.').map(|it| it.0.to_owned()) else {
                continue;
            };
            let Some(at) = attributes.iter().position(|it| *it == base) else { continue };
            attributes.remove(at);
            attributes.extend(list.attrs().map(name));
            let old: Vec<SavedFact> = facts.extract_if(.., |it| it.attribute == base).collect();
            for fact in old {
                let SavedValue::Int(number) = fact.value else { continue };
                let chosen = members_of(number).filter_map(|it| list.attrs().nth(usize::from(it)));
                facts.extend(chosen.map(|attr| SavedFact {
                    attribute: name(attr),
                    value: SavedValue::Bool(true),
                    ..fact.clone()
                }));
            }
        }
    }

    /// Renames an attribute that used to be shared and now belongs to one preset.
    fn rename(&self, name: &mut String) {
        let schema = &self.rules.program().schema;
        if schema.attribute_named(name).is_some() {
            return;
        }
        let is_it = |it: &&str| it.rsplit_once("::").is_some_and(|it| it.1 == name);
        let mut all = schema.attributes().iter().map(|it| it.name.as_str()).filter(is_it);
        if let (Some(full), None) = (all.next(), all.next()) {
            full.clone_into(name);
        }
    }

    /// The legal move that a save means. Other rules may give pieces other ids; so under them the move's text decides,
    /// and its action only if the text means no legal move.
    fn find(&self, game: &mut Game, saved: &SavedMove) -> Result<Move, String> {
        if !self.strict {
            let found = game.find_move(&saved.uci);
            return found.or_else(|why| listed(game, saved).ok_or_else(|| why.to_string()));
        }
        if let Some(mv) = listed(game, saved) {
            return Ok(mv);
        }
        match game.find_move(&saved.uci) {
            // It has unlisted arguments.
            Ok(mv) if action_name(game.program(), &mv) == saved.action => Ok(mv),
            Ok(_) => Err(format!("{} is no legal action here", saved.action)),
            Err(why) => Err(why.to_string()),
        }
    }

    fn end(&self, game: &mut Game) -> Result<(), RestoreError> {
        let fault = |it: String| Difference::new("the end", it);
        let sides = game.contract().sides;
        let side = |game: &Game, name: &String| {
            let raw = game.program().schema.domain(sides).member(name);
            raw.ok_or_else(|| fault(format!("there is no side {name}")))
        };
        let ended = match &self.save.ended {
            None => Ok(()),
            Some(Ended::Claimed(reason)) => game.claim_draw(Some(reason)).map(|_| ()),
            Some(Ended::Resigned(name)) => game.resign(side(game, name)?).map(|_| ()),
            Some(Ended::Flagged(name)) => game.flag(side(game, name)?).map(|_| ()),
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
        if attributes(self.programs.iter()) != self.save.attributes {
            return Err(fault("the list of attributes is not that of the rules".into()).into());
        }
        Ok(())
    }
}

/// The legal move whose action has the saved name, ids included.
fn listed(game: &mut Game, saved: &SavedMove) -> Option<Move> {
    if game.result().is_some() {
        return None;
    }
    let (program, contract) = (game.program().clone(), game.contract().clone());
    let moves = legal_moves(game.world_mut(), &contract);
    moves.iter().find(|it| action_name(&program, it) == saved.action).cloned()
}

/// Checks that something is in the game as it is in the save.
fn compare(what: &str, saved: &str, now: &str) -> Result<(), String> {
    match saved == now {
        true => Ok(()),
        false => Err(format!("{what} is {saved} in the save, but {now} in the game")),
    }
}

/// Checks that a save has the presets that the game has, each written in full.
fn compare_presets(saved: &[String], now: &[String]) -> Result<(), String> {
    if saved == now {
        return Ok(());
    }
    let list = |all: &[String]| if all.is_empty() { "none".to_owned() } else { all.join(", ") };
    Err(format!("the presets are {} in the save, but {} in the game", list(saved), list(now)))
}

/// The first field in which a saved move is not what was played.
fn compare_moves(saved: &SavedMove, now: &SavedMove) -> Result<(), String> {
    let next = |goes_on: bool| if goes_on { "the same" } else { "the next" }.to_string();
    let fields = [
        ("the action", &saved.action, &now.action),
        ("the move in UCI", &saved.uci, &now.uci),
        ("the move in SAN", &saved.san, &now.san),
        ("the side", &saved.side, &now.side),
        ("the side to move after it", &next(saved.goes_on), &next(now.goes_on)),
        ("the hash of the facts after it", &saved.facts, &now.facts),
        ("the key of the position after it", &saved.position, &now.position),
    ];
    fields.into_iter().try_for_each(|(what, saved, now)| compare(what, saved, now))
}

/// The first fact that only one of the two has.
fn compare_facts(saved: &[SavedFact], now: &[SavedFact]) -> Result<(), String> {
    let same = saved.iter().zip(now).take_while(|(a, b)| a == b).count();
    match (saved.get(same), now.get(same)) {
        (None, None) => Ok(()),
        (Some(a), Some(b)) if (&a.entity, &a.attribute) == (&b.entity, &b.attribute) => {
            Err(format!("the save says `{a}`, the game `{b}`"))
        }
        (Some(a), _) if !now.contains(a) => Err(format!("the save says `{a}`, the game does not")),
        (_, Some(b)) if !saved.contains(b) => {
            Err(format!("the game says `{b}`, the save does not"))
        }
        (Some(a), _) | (_, Some(a)) => Err(format!("`{a}` is not in its place in the save")),
    }
}
