//! Facts of a position that its FEN does not state.
//!
//! A FEN states what its usual fields and those that the rules declare can express. All other state (how tired
//! a piece is, which shield is gone) is lost, and other actions may be legal without it, so a note says so where a
//! FEN is shown or exported. To find what is lost, the game is set up again from its FEN and compared: presets need not
//! declare anything.
//!
//! Deliberately absent: what every FEN leaves out, which is the history (how often a position has occurred, and what files
//! declare as history) and how a game was ended.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::facts::{AttrId, EntityId, GAME, NEXT_ENTITY, Value};
use crate::game::Game;
use crate::moves::About;
use crate::rules::Role;

use super::ruleset::Ruleset;

/// The owner or the value of a fact, independent of entity ids, which differ between games.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum StableValue {
    Game,
    /// The piece on a square.
    On(i64),
    /// An entity without a square, such as an activation.
    Elsewhere,
    Value(i64),
}

impl Ruleset {
    /// The names of the attributes that the FEN of a game does not state, and whose facts differ between it and a
    /// game set up from that FEN. None are found if the game runs under other rules than these, or if nothing can
    /// be set up from its FEN.
    pub fn unsaid(&self, game: &mut Game) -> Vec<String> {
        let attrs = self.unstated_attributes(game);
        if !Arc::ptr_eq(self.plan(), game.plan()) || !self.may_be_unsaid(game, &attrs) {
            return Vec::new();
        }
        let fen = game.fen();
        let Ok(again) = self.start(Some(&fen)) else { return Vec::new() };
        let differs = |it: &AttrId| rows(game, *it) != rows(&again, *it);
        let name = |it: AttrId| self.program().schema.attribute(it).name.clone();
        attrs.into_iter().filter(differs).map(name).collect()
    }

    /// The names of the attributes whose facts differ between a game and one set up from its FEN, and that
    /// `unsaid` does not list: the FEN should state them. Ignored are history, how the game was ended, and what a
    /// FEN states only if it makes a difference.
    pub fn misread(&self, game: &mut Game, again: &Game) -> Vec<String> {
        let unsaid = self.unsaid(game);
        let contract = self.contract();
        let ignored = contract.recurrence().chain(contract.notation.conditional_facts());
        let ignored =
            ignored.map(|it| it.attr).chain(self.contract().ends()).chain(self.of_history());
        let ignored: Vec<AttrId> = ignored.chain([NEXT_ENTITY]).collect();
        let schema = &self.program().schema;
        // A fact with the default value, or with 0 where there is no default, counts as none, except for squares.
        let stated = |game: &Game, attr: AttrId| {
            let usual = schema.attribute(attr).default.unwrap_or(0);
            let is_usual = |it: &(StableValue, StableValue)| it.1 == StableValue::Value(usual);
            let mut rows = rows(game, attr);
            rows.retain(|it| contract.at.attr == attr || !is_usual(it));
            rows
        };
        let differs = |it: &AttrId| stated(game, *it) != stated(again, *it);
        let differing = schema.attribute_ids().filter(|it| !ignored.contains(it) && differs(it));
        let names = differing.map(|it| schema.attribute(it).name.clone());
        names.filter(|it| !unsaid.contains(it)).collect()
    }

    /// What [`Ruleset::unsaid`] finds, as a sentence; `None` if the FEN states everything.
    pub fn unsaid_note(&self, game: &mut Game) -> Option<String> {
        let mut unsaid = self.unsaid(game);
        let place = &self.program().schema.attribute(self.contract().at.attr).name;
        let shares_squares = unsaid.contains(place);
        unsaid.retain(|it| it != place);
        let names = unsaid.join(", ");
        let others = "pieces that share a square with another";
        let (what, so) = match (names.is_empty(), shares_squares) {
            (true, false) => return None,
            (false, false) => (names, "has them as at the start"),
            (true, true) => (others.to_owned(), "lacks them"),
            (false, true) => {
                let what = format!("{names}, and {others}");
                (what, "lacks these, and has the rest as at the start")
            }
        };
        Some(format!(
            "the FEN leaves out {what}: a game that is set up from it {so}; a save has all"
        ))
    }

    /// The attributes that the FEN of this game does not state, apart from those that every FEN leaves out on
    /// purpose: history, how the game was ended, and the number of the next entity.
    fn unstated_attributes(&self, game: &Game) -> Vec<AttrId> {
        let contract = self.contract();
        let mut stated = vec![contract.kind, contract.color, contract.turn];
        if contract.stack.is_some() || !is_crowded(game, contract.at.attr) {
            stated.push(contract.at);
        }
        stated.extend(contract.fullmove);
        stated.extend(contract.recurrence());
        stated.extend(contract.notation.stated_facts());
        stated.extend(contract.marks.iter().map(|it| it.input));
        stated.extend(contract.counters.map(|it| it.input));
        stated.extend(contract.walls.map(|it| it.input));
        for field in &contract.fields {
            // Fields of pieces name squares, which pieces in hand do not have.
            if field.about != About::Pieces || !contract.has_pocket() {
                stated.push(field.input);
            }
        }
        let mut known: Vec<AttrId> = stated.iter().map(|it| it.attr).collect();
        known.extend(self.contract().ends());
        known.extend(self.of_history());
        known.push(NEXT_ENTITY);
        self.program().schema.attribute_ids().filter(|it| !known.contains(it)).collect()
    }

    /// The attributes that files declare as history (`.meta history "RELATION"`), which a game that is set up
    /// does not have.
    fn of_history(&self) -> impl Iterator<Item = AttrId> + '_ {
        let program = self.program();
        let lines = program.meta.iter().filter(|it| it.key == "history");
        lines.filter_map(|it| {
            let rel = program.relation_in(it.span.source, &it.value)?;
            match program.relation(rel).role {
                Role::Input(input) => Some(input.attr()),
                _ => None,
            }
        })
    }

    /// Whether any of these attributes may have facts besides the game's settings: a cheap test, since most
    /// games have nothing that a FEN leaves out.
    fn may_be_unsaid(&self, game: &Game, attrs: &[AttrId]) -> bool {
        let (facts, at) = (game.facts(), self.contract().at.attr);
        let of_active = self.activations().iter().flat_map(|it| &it.facts);
        let settings: Vec<(AttrId, i64)> =
            of_active.chain(&self.facts).filter_map(|it| Some((it.0, raw(&it.1)?))).collect();
        let schema = &self.program().schema;
        let order = schema.attribute_named("order");
        attrs.iter().any(|&attr| {
            let default = schema.attribute(attr).default;
            // Facts of members of a domain, such as squares.
            if let Some(domain) = schema.owners(attr) {
                let mut members = (0..domain.size() as u32).map(EntityId);
                return members.any(|it| facts.get_raw(it, attr) != default);
            }
            let is_set = |raw: i64| settings.contains(&(attr, raw));
            let stated = facts.get_raw(GAME, attr);
            let of_game = stated.is_some_and(|it| stated != default && !is_set(it));
            let of_things = facts.entities_with(attr).filter(|it| *it != GAME).any(|it| {
                let stands = facts.contains(it, at);
                stands || Some(attr) != order && !facts.get_raw(it, attr).is_some_and(is_set)
            });
            of_game || of_things
        })
    }
}

/// Whether two pieces share a square, where a FEN without stacks can write only one.
fn is_crowded(game: &Game, at: AttrId) -> bool {
    let facts = game.facts();
    let mut squares = BTreeSet::new();
    facts.entities_with(at).any(|it| facts.get_raw(it, at).is_some_and(|it| !squares.insert(it)))
}

/// A value in raw form, unless it is a text.
fn raw(value: &Value) -> Option<i64> {
    match value {
        Value::Int(it) => Some(*it),
        Value::Bool(it) => Some(i64::from(*it)),
        Value::Entity(it) => Some(i64::from(it.0)),
        Value::Member(it) => Some(i64::from(*it)),
        Value::Text(_) => None,
    }
}

/// The facts of an attribute, independent of entity ids.
fn rows(game: &Game, attr: AttrId) -> Vec<(StableValue, StableValue)> {
    let (facts, at) = (game.facts(), game.contract().at.attr);
    let thing = |entity: EntityId| match facts.get_raw(entity, at) {
        _ if entity == GAME => StableValue::Game,
        Some(square) => StableValue::On(square),
        None => StableValue::Elsewhere,
    };
    let schema = facts.schema();
    let refers = schema.is_entity(schema.attribute(attr).ty);
    let of_members = schema.is_of_members(attr);
    let row = |entity: EntityId| {
        let raw = facts.get_raw(entity, attr)?;
        let value = match u32::try_from(raw) {
            Ok(id) if refers => thing(EntityId(id)),
            _ => StableValue::Value(raw),
        };
        let owner = match of_members {
            true => StableValue::Value(i64::from(entity.0)),
            false => thing(entity),
        };
        Some((owner, value))
    };
    let mut rows: Vec<_> = facts.entities_with(attr).filter_map(row).collect();
    rows.sort_unstable();
    rows
}
