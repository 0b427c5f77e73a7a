//! A save of a game: its history replayed, each move with its proof.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Ended, RuleFile, Save, SavedMove, SavedSwitch, VERSION};
use crate::derive::Exhausted;
use crate::derive::explain::{Finding, Limits};
use crate::facts::{GAME, SavedFact, saved};
use crate::game::{Game, PlayError, Record, SwitchError, decide};
use crate::moves::{AttrInput, Move};
use crate::presets::Ruleset;
use crate::presets::programs::rule_files;
use crate::rules::{Program, Source, Type};

/// The optional contents of a save.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Content {
    /// Whether to include the texts of the rule files.
    pub rules: bool,
}

/// Why a game cannot be saved.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum MakeError {
    /// A move of the history cannot be played again.
    #[error(transparent)]
    Play(#[from] PlayError),
    #[error(transparent)]
    Limit(#[from] Exhausted),
    #[error(transparent)]
    Switch(#[from] SwitchError),
}

impl Save {
    /// The save of a game: its history is played again, changes of presets included. `rules` only say which game it is:
    /// they may be from before a change.
    ///
    /// # Errors
    /// A move cannot be played again, or proved.
    pub fn of(game: &Game, rules: &Ruleset, content: Content) -> Result<Self, MakeError> {
        let mut replay = game.restarted();
        let start = facts(&replay);
        // Those that ended by themselves before the first move are among them: their rules are in force.
        let presets = replay.rule_names().to_vec();
        let fen = start_as_fen(&mut replay, rules, &start);
        let (mut moves, mut switches) = (Vec::new(), Vec::new());
        for (ply, record) in game.history().iter().enumerate() {
            switches.extend(switch(game, &mut replay, ply)?);
            let proof = proof(&mut replay, &record.mv)?;
            let record = replay.play(&record.mv)?.clone();
            moves.push(saved_move(&replay, &record, proof));
        }
        switches.extend(switch(game, &mut replay, moves.len())?);
        let rule = |it: &Source| RuleFile::of(it, content.rules);
        Ok(Self {
            version: VERSION,
            game: rules.game().name.clone(),
            presets,
            rules: files(game.programs()).into_iter().map(rule).collect(),
            attributes: attributes(game.programs()),
            fen,
            start,
            moves,
            switches,
            ended: ended(game),
            facts: facts(game),
            result: game.result().map(ToString::to_string),
        })
    }
}

/// The first position as FEN, if reading it gives the same facts.
fn start_as_fen(game: &mut Game, rules: &Ruleset, start: &[SavedFact]) -> Option<String> {
    let fen = game.fen();
    let again = rules.start(Some(&fen)).ok()?;
    (Arc::ptr_eq(again.plan(), game.plan()) && facts(&again) == start).then_some(fen)
}

/// Makes the switches before an action in a replay, and returns them as they are saved.
fn switch(game: &Game, replay: &mut Game, ply: usize) -> Result<Vec<SavedSwitch>, MakeError> {
    let mut saved = Vec::new();
    for switch in game.switches_before(ply) {
        let (world, contract) = game.after_switch(switch);
        replay.switch(world, contract, Arc::clone(&switch.names))?;
        let (after, presets) = (ply as u32, switch.names.to_vec());
        saved.push(SavedSwitch { after, presets, facts: hash(switch.facts.hash()) });
    }
    Ok(saved)
}

/// The rule files of programs, each once.
pub(super) fn files<'p>(programs: impl Iterator<Item = &'p Arc<Program>>) -> Vec<&'p Source> {
    let mut seen = HashSet::new();
    programs.flat_map(|it| rule_files(it)).filter(|it| seen.insert(&it.path)).collect()
}

/// The names of the attributes of programs, each once.
pub(super) fn attributes<'p>(programs: impl Iterator<Item = &'p Arc<Program>>) -> Vec<String> {
    let mut seen = HashSet::new();
    let of_games = |program: &'p Arc<Program>| {
        let all = program.schema.attribute_ids().filter(|it| !program.is_before(*it));
        all.map(|it| &program.schema.attribute(it).name)
    };
    programs.flat_map(of_games).filter(|it| seen.insert(*it)).cloned().collect()
}

/// A hash in the format of saves.
pub(super) fn hash(it: u64) -> String {
    format!("{:016x}", it.swap_bytes())
}

/// The facts of a game in canonical order, by name.
pub(super) fn facts(game: &Game) -> Vec<SavedFact> {
    let schema = game.facts().schema();
    game.facts().all_facts().iter().map(|it| saved(schema, it)).collect()
}

/// The saved form of a move that has just been played.
pub(super) fn saved_move(game: &Game, record: &Record, proof: Value) -> SavedMove {
    let program = game.program();
    SavedMove {
        uci: record.uci.to_string(),
        san: record.san.to_string(),
        side: program.value_name(Type::Domain(game.contract().sides), record.side),
        action: action_name(program, &record.mv),
        goes_on: record.turn_goes_on,
        facts: hash(record.hash()),
        position: hash(record.key),
        proof,
    }
}

/// `move(#21, e4)`.
pub(super) fn action_name(program: &Program, mv: &Move) -> String {
    program.action_name(mv.action, &mv.args)
}

/// Why a move is legal now: its proof, or the trial that decided it. Refutations of denied literals are left out, since
/// the checker decides these literals by itself.
fn proof(game: &mut Game, mv: &Move) -> Result<Value, Exhausted> {
    let contract = game.contract().clone();
    Ok(match decide(game.world_mut(), &contract, mv, Limits::default())?.1 {
        // One proof stands alone; with several, the others are for unlisted arguments.
        Finding::Proved(all) if all.len() == 1 => in_order(&json!(all[0])),
        Finding::Proved(all) => in_order(&json!(all)),
        other => in_order(&json!(other)),
    })
}

/// A tree without refutations, keys in alphabetical order whatever order `serde_json` keeps them in.
fn in_order(value: &Value) -> Value {
    match value {
        Value::Array(all) => all.iter().map(in_order).collect(),
        Value::Object(all) => {
            let mut keys: Vec<&String> = all.keys().collect();
            keys.sort();
            let mut object = Map::new();
            for key in keys {
                let part = if key == "refutation" { Value::Null } else { in_order(&all[key]) };
                object.insert(key.clone(), part);
            }
            Value::Object(object)
        }
        other => other.clone(),
    }
}

/// The ending that was stated after the last move and the switches that followed it.
fn ended(game: &Game) -> Option<Ended> {
    let last = game.position_before(game.history().len());
    let stated = |input: Option<AttrInput>| {
        let attr = input?.attr;
        let value = game.facts().get(GAME, attr)?;
        let is_new = last.get_raw(GAME, attr) != game.facts().get_raw(GAME, attr);
        is_new.then(|| value.words(game.facts().schema(), attr))
    };
    let resigned = stated(game.contract().resigned).map(Ended::Resigned);
    let claimed = || stated(game.contract().claimed).map(Ended::Claimed);
    let flagged = || stated(game.contract().flagged).map(Ended::Flagged);
    resigned.or_else(claimed).or_else(flagged)
}
