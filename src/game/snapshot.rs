//! Snapshots of games: the first position, and what each action changed since. A game is restored from
//! one without playing a move, so that a host can evict games and reload them cheaply.
//!
//! A snapshot has no derived rows: they are derived again when needed. It is trusted if the program has the same names
//! and the facts hash to the stored value; otherwise the caller replays the moves. The caller must make sure that the rules
//! are the same.
//!
//! Deliberately absent: games whose rules were changed on the way, whose rules have attributes of texts, or which start
//! in the middle of a turn. They have no snapshot, and are replayed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::derive::World;
use crate::facts::{
    Change, Delta, Fact, SavedFact, SavedOwner, SavedValue, Session, Snapshot, Value, owner, saved,
};
use crate::moves::{Contract, Move};
use crate::rules::{ActionId, Program};

use super::play::{self, Game};
use super::record::{Extra, Record};

/// The version of the format; others are not read.
const FORM: u32 = 1;

/// A fact: owner, attribute, value.
type Row = (SavedOwner, String, SavedValue);
/// A change: owner, attribute, the new value if there is one.
type Changed = (SavedOwner, String, Option<SavedValue>);

/// A snapshot of a game. See the module's head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GameSnapshot {
    form: u32,
    /// The fingerprint of the program: a hash of its names.
    program: String,
    start: Vec<Row>,
    start_key: u64,
    moves: Vec<SavedMove>,
    /// The hash of the facts at the end.
    hash: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedMove {
    action: u16,
    args: Vec<i64>,
    uci: String,
    san: String,
    side: i64,
    turn_goes_on: bool,
    key: u64,
    changes: Vec<Changed>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    rewound_to: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    notes: Vec<String>,
}

impl GameSnapshot {
    /// The first position and the records of what was played, if the facts hash to the stored value.
    fn history(&self, program: &Program) -> Option<(Snapshot, Vec<Record>)> {
        let mut session = Session::new(Arc::clone(&program.schema));
        for (entity, attribute, value) in &self.start {
            write(&mut session, entity, attribute, Some(value))?;
        }
        session.commit();
        let start = Snapshot::new(&session);
        let mut history: Vec<Record> = Vec::with_capacity(self.moves.len());
        for played in &self.moves {
            // A rewind brings back a position before the action itself.
            if played.rewound_to.is_some_and(|it| it > history.len()) {
                return None;
            }
            let since = session.mark();
            for (entity, attribute, value) in &played.changes {
                write(&mut session, entity, attribute, value.as_ref())?;
            }
            let delta = Delta::since(&session, since);
            session.commit();
            history.push(played.record(delta, program)?);
        }
        (session.hash() == self.hash).then_some((start, history))
    }
}

impl Game {
    /// A snapshot of the game, if it can have one. It does not tell how players or clocks ended the game after the last
    /// action.
    #[doc(hidden)]
    pub fn snapshot(&self) -> Option<GameSnapshot> {
        let schema = self.facts().schema();
        if self.has_changed_rules() || self.starts_in_a_turn() {
            return None;
        }
        let start = self.start().all_facts().iter().map(|it| row(saved(schema, it))).collect();
        let moves = self.history().iter().map(|it| saved_move(self.start(), it)).collect();
        let program = fingerprint(self.program());
        let (start_key, hash) =
            (self.start_key(), self.history().last().map_or(self.start().hash(), Record::hash));
        Some(GameSnapshot { form: FORM, program, start, start_key, moves, hash })
    }

    /// Drops what follows from the facts until [`Game::reload`]: see [`World::unload`].
    #[doc(hidden)]
    pub fn unload(&mut self) {
        self.world_mut().unload();
    }

    /// Derives again what [`Game::unload`] dropped.
    #[doc(hidden)]
    pub fn reload(&mut self) {
        self.world_mut().reload();
    }

    /// The game of a snapshot, in a new world of its rules. `None` if the snapshot was made under a program with other
    /// names, or is damaged.
    #[doc(hidden)]
    pub fn from_snapshot(
        mut world: World,
        contract: Arc<Contract>,
        kept: &GameSnapshot,
    ) -> Option<Self> {
        if kept.form != FORM || kept.program != fingerprint(world.program()) {
            return None;
        }
        let (start, history) = kept.history(world.program())?;
        let mut last = start.clone();
        history.iter().for_each(|it| last.follow(&it.delta));
        play::write(&mut world, &last);
        Some(Self::from_parts(world, contract, (start, kept.start_key), history))
    }
}

impl SavedMove {
    fn record(&self, delta: Delta, program: &Program) -> Option<Record> {
        let action = ActionId(self.action);
        program.actions.get(usize::from(self.action))?;
        let notes = self.notes.iter().map(|it| it.as_str().into()).collect();
        let extra = Extra { rewound_to: self.rewound_to, notes, ..Extra::default() };
        Some(Record {
            mv: Move { action, args: self.args.iter().copied().collect() },
            uci: self.uci.as_str().into(),
            san: self.san.as_str().into(),
            side: self.side,
            turn_goes_on: self.turn_goes_on,
            key: self.key,
            delta,
            snapshot: None,
            rule_set: 0,
            extra: extra.boxed(),
        })
    }
}

fn saved_move(start: &Snapshot, record: &Record) -> SavedMove {
    let schema = start.schema();
    let change = |it: Change| {
        let value = it.new.map(|raw| {
            let value = Value::of(schema, it.attr, raw);
            saved(schema, &Fact { entity: it.entity, attr: it.attr, value }).value
        });
        (owner(schema, it.attr, it.entity), schema.attribute(it.attr).name.clone(), value)
    };
    SavedMove {
        action: record.mv.action.0,
        args: record.mv.args.to_vec(),
        uci: record.uci.to_string(),
        san: record.san.to_string(),
        side: record.side,
        turn_goes_on: record.turn_goes_on,
        key: record.key,
        changes: record.delta.changes().map(change).collect(),
        rewound_to: record.rewound_to(),
        notes: record.notes().iter().map(ToString::to_string).collect(),
    }
}

fn row(fact: SavedFact) -> Row {
    (fact.entity, fact.attribute, fact.value)
}

/// Writes a value, or takes it back, by names. `None` if the schema does not know them or does not allow the value.
fn write(
    session: &mut Session,
    owner: &SavedOwner,
    name: &str,
    value: Option<&SavedValue>,
) -> Option<()> {
    let schema = Arc::clone(session.schema());
    match value {
        None => {
            let attr = schema.attribute_named(name)?;
            session.retract(owner.id(&schema, attr)?, attr);
        }
        Some(value) => {
            let (attribute, value) = (name.to_owned(), value.clone());
            let fact = SavedFact { entity: owner.clone(), attribute, value }.fact(&schema)?;
            session.insert(fact.entity, fact.attr, fact.value).ok()?;
        }
    }
    Some(())
}

/// A hash of all names that snapshots depend on: of attributes, domains and their members, and actions.
fn fingerprint(program: &Program) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut add = |text: &str| {
        hasher.update(text.as_bytes());
        hasher.update(b"\n");
    };
    for attribute in program.schema.attributes() {
        add(&attribute.name);
    }
    for domain in program.schema.domains() {
        add(&domain.name);
        domain.member_names().for_each(|it| add(&it));
    }
    for action in &program.actions {
        add(&program.relation(action.rel).name);
    }
    hasher.finalize().to_hex().to_string()
}
