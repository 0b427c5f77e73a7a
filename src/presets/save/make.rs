//! A save of a game: its history replayed, each move with its proof.

use serde_json::{Map, Value, json};

use super::{Ended, RuleFile, Save, SavedMove, VERSION};
use crate::derive::Exhausted;
use crate::derive::explain::{Finding, Limits};
use crate::facts::{AttrId, GAME, SavedFact, Schema, saved};
use crate::game::{Game, PlayError, Record, decide};
use crate::moves::Move;
use crate::presets::Ruleset;
use crate::presets::compose::rule_files;
use crate::rules::{Program, Type};

/// What a save shall have beside the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Content {
    /// The texts of the rule files.
    pub rules: bool,
}

/// Why a game cannot be saved.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MakeError {
    #[error(
        "the presets were changed after {plies} plies: a save has one set of presets for all moves"
    )]
    Switched { plies: usize },
    /// A move of the history cannot be played again.
    #[error(transparent)]
    Play(#[from] PlayError),
    #[error(transparent)]
    Limit(#[from] Exhausted),
}

impl Save {
    /// The save of a game under its rules.
    ///
    /// # Errors
    /// Playing the history again does not lead to the position on the board: the presets were changed
    /// in between.
    pub fn of(game: &Game, rules: &Ruleset, content: Content) -> Result<Self, MakeError> {
        if let Some(plies) = game.switched_at() {
            return Err(MakeError::Switched { plies });
        }
        let program = game.program();
        let mut replay = game.branch(0).unwrap_or_else(|| game.clone());
        let start = facts(&replay);
        let fen = replay.fen();
        let again = rules.start(Some(&fen)).ok().map(|it| facts(&it));
        let fen = (again.as_ref() == Some(&start)).then_some(fen);
        let mut moves = Vec::new();
        for record in game.history() {
            let proof = proof(&mut replay, &record.mv)?;
            let record = replay.play(&record.mv)?.clone();
            moves.push(saved_move(&replay, &record, proof));
        }
        Ok(Self {
            version: VERSION,
            game: rules.game().name.clone(),
            presets: rules.activations().iter().map(ToString::to_string).collect(),
            rules: rule_files(program).map(|it| RuleFile::of(it, content.rules)).collect(),
            attributes: program.schema.attributes().iter().map(|it| it.name.clone()).collect(),
            fen,
            start,
            moves,
            ended: ended(game),
            facts: facts(game),
            result: game.result().map(ToString::to_string),
        })
    }
}

/// The facts of a game in canonical order, by name.
pub(super) fn facts(game: &Game) -> Vec<SavedFact> {
    let schema = game.facts().schema();
    game.facts().all_facts().iter().map(|it| saved(schema, it)).collect()
}

/// What is saved of a move that has just been played.
pub(super) fn saved_move(game: &Game, record: &Record, proof: Value) -> SavedMove {
    let program = game.program();
    SavedMove {
        uci: record.uci.to_string(),
        san: record.san.to_string(),
        side: program.value_name(Type::Domain(game.contract().sides), record.side),
        action: action_name(program, &record.mv),
        goes_on: record.turn_goes_on,
        facts: format!("{:016x}", record.hash().swap_bytes()),
        position: format!("{:016x}", record.key.swap_bytes()),
        proof,
    }
}

/// `move(#21, e4)`.
pub(super) fn action_name(program: &Program, mv: &Move) -> String {
    program.tuple_name(program.action(mv.action).rel, &mv.args)
}

/// Why a move is legal now: its proof, or the trial that decided it. The refutations of what they deny
/// are left out: a checker decides these by itself.
fn proof(game: &mut Game, mv: &Move) -> Result<Value, Exhausted> {
    let contract = game.contract().clone();
    Ok(match decide(game.world_mut(), &contract, mv, Limits::default())?.1 {
        Finding::Proved(all) => all.first().map_or(Value::Null, |it| in_order(&json!(it))),
        other => in_order(&json!(other)),
    })
}

/// A tree without refutations, keys in alphabetical order.
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

/// What was stated after the last move.
fn ended(game: &Game) -> Option<Ended> {
    let last = game.position(game.history().len());
    let stated = |attr: Option<AttrId>| {
        let raw = game.facts().get_raw(GAME, attr?)?;
        (last.get_raw(GAME, attr?) != Some(raw)).then(|| word(game.facts().schema(), attr?, raw))?
    };
    let resigned = stated(game.terms().resigned).map(Ended::Resigned);
    resigned.or_else(|| stated(game.terms().claimed).map(Ended::Claimed))
}

fn word(schema: &Schema, attr: AttrId, raw: i64) -> Option<String> {
    match schema.attribute(attr).ty {
        crate::facts::AttrType::Member(id) => Some(schema.domain(id).member_name(raw)),
        _ => None,
    }
}
