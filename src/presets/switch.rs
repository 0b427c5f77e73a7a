//! Changes of presets in the middle of a game, each all or nothing.
//!
//! First, each preset that is switched off is notified, in the order of activation, and reactions take back what it has
//! stated, except about sides that it still applies to. Then the facts move to the program that the new set needs. Last,
//! those that are switched on are notified, in the order of the requests. Everything happens on a copy of the game's world.
//!
//! Deliberately absent: when activations end by themselves, which rules decide. The program then stays as it is until the
//! next change.

use std::sync::Arc;

use crate::derive::{Allowance, Tuple, World};
use crate::facts::{AttrId, AttrType, EntityId, GAME, NEXT_ENTITY, Session, Value, owner};
use crate::game::Game;

#[cfg(feature = "bin")]
use super::activation::scope_of;
use super::activation::{Activation, Request};
use super::catalogue::Catalogue;
use super::combine;
use super::entry::GameEntry;
use super::error::{LoadError, SetError, SetFault};
use super::ruleset::{Ruleset, announce};

/// The event that is raised when an activation goes on with other options.
const ALTERED: &str = "altered";

impl Catalogue {
    /// Replaces all activations of a game, its own included, and returns its rules from then on, which are of this
    /// catalogue. `rules` only say which game it is: they may be from another catalogue, or from before other changes.
    ///
    /// # Errors
    /// This catalogue has no game of that name, or every reason why these activations are not possible. Nothing has
    /// changed.
    pub fn set_active<T: AsRef<str>>(
        &self,
        rules: &Ruleset,
        game: &mut Game,
        requests: &[T],
    ) -> Result<Ruleset, SetError> {
        let _allowance = Allowance::open();
        let requests = self.read_all(requests)?;
        let refs: Vec<&Request> = requests.iter().collect();
        let of_rules = |it: LoadError| SetError::from(SetFault::Rules(Box::new(it)));
        // Rules of another catalogue (a save's own, or one with other files) number files in another way.
        let entry = self.find_game(&rules.game().name).map_err(of_rules)?;
        let composed = self.compose(entry, &refs).map_err(|it| self.unfit(entry, &refs, it))?;
        let program = composed.plan.program();
        let (mut wanted, mut faults) = (Vec::new(), Vec::new());
        for request in &requests {
            match Activation::resolve(program, request) {
                Ok(activation) => wanted.push(activation),
                Err(fault) => faults.push(fault.into()),
            }
        }
        faults.extend(combine::check(self, &composed.scopes, &wanted));
        let facts = self.game_facts(program, entry).map_err(of_rules)?;
        if !faults.is_empty() {
            return Err(SetError { faults });
        }
        let mut world = game.world().clone();
        let known = drop_others(&mut world, &requests, &wanted)?;
        give_back_ids(&mut world);
        if !Arc::ptr_eq(world.plan(), &composed.plan) {
            world = migrated(&world, World::new(Arc::clone(&composed.plan), world.backend()))?;
        }
        for ((activation, known), number) in wanted.iter().zip(known).zip(1..) {
            begin(&mut world, activation, known, number)?;
        }
        let names = Activation::texts(&wanted).into();
        game.switch(world, Arc::clone(&composed.contract), names).map_err(SetFault::from)?;
        Ok(Ruleset::new(entry, rules.start_fen().to_owned(), wanted, facts, &composed))
    }

    /// The current activations of a game, in order.
    pub fn active(game: &Game) -> Vec<Activation> {
        let active = Activation::of_facts(game.program(), game.facts());
        active.into_iter().map(|it| it.1).collect()
    }

    /// The current activations of a game as requests, with one more: in the place of that of the same preset and scope,
    /// so that its options are replaced, or behind all.
    #[cfg(feature = "bin")]
    pub(crate) fn active_with(game: &Game, request: &str) -> Vec<String> {
        let active = Self::active(game);
        let mut texts = Activation::texts(&active);
        let asked = Request::parse(request).ok();
        let scope = asked.as_ref().and_then(|it| scope_of(&game.program().schema, it));
        let is_same = |it: &Activation| {
            asked.as_ref().is_some_and(|asked| asked.preset == it.preset)
                && scope.as_ref() == Some(&it.scope)
        };
        match active.iter().position(is_same) {
            Some(at) => texts[at] = request.to_owned(),
            None => texts.push(request.to_owned()),
        }
        texts
    }

    /// Presets that contradict each other on how a piece moves: the first one wins. One line for each pair of
    /// presets, however many pieces are affected.
    pub fn conflicts(game: &mut Game) -> Vec<String> {
        let program = Arc::clone(game.program());
        let Some(rel) = program.relation_named("override_conflict") else { return Vec::new() };
        let columns = &program.relation(rel).columns;
        let name = |at: usize, raw: i64| {
            columns.get(at).map(|it| program.value_name(it.ty, raw)).unwrap_or_default()
        };
        let line = |row: &Tuple| match row.as_slice() {
            &[first, second] => {
                let (first, second) = (name(0, first), name(1, second));
                format!("{first} and {second} say how one piece moves: {first} goes before")
            }
            _ => String::new(),
        };
        game.world_mut().tuples(rel).iter().map(line).collect()
    }

    /// Why a game has no rules with these presets alone: perhaps its own ones have to be among them.
    fn unfit(&self, game: &GameEntry, requests: &[&Request], fault: LoadError) -> SetFault {
        let own = self.requests(&game.uses).unwrap_or_default();
        let is_left_out = |it: &&Request| requests.iter().all(|other| other.preset != it.preset);
        let left_out: Vec<&Request> = own.iter().filter(is_left_out).collect();
        let all = [requests, &left_out[..]].concat();
        if left_out.is_empty() || self.compose(game, &all).is_err() {
            return SetFault::Rules(Box::new(fault));
        }
        let names: Vec<&str> = left_out.iter().map(|it| it.preset.as_str()).collect();
        SetFault::Own { game: game.name.clone(), presets: names.join(" and ") }
    }

    /// The requests, or what is wrong with any of them.
    fn read_all<T: AsRef<str>>(&self, texts: &[T]) -> Result<Vec<Request>, SetError> {
        let (mut requests, mut faults) = (Vec::new(), Vec::new());
        for text in texts {
            match self.request(text.as_ref()) {
                Ok(read) => requests.push(read),
                Err(fault) => faults.push(SetFault::from(fault)),
            }
        }
        if faults.is_empty() { Ok(requests) } else { Err(SetError { faults }) }
    }
}

/// What there is of a requested activation before it is stated under the new rules.
enum Known {
    Nothing,
    /// An entity that states it already, since its preset goes on with another scope.
    Heir(EntityId),
    /// The activation itself, and whether it had other options.
    Same {
        entity: EntityId,
        is_altered: bool,
    },
}

/// States an activation, and announces it, or that it has other options.
fn begin(
    world: &mut World,
    activation: &Activation,
    known: Known,
    number: usize,
) -> Result<(), SetFault> {
    let entity = match known {
        Known::Same { entity, is_altered } => {
            return restate(world, activation, entity, number, is_altered);
        }
        Known::Heir(entity) => {
            activation.restate(world, entity, number)?;
            entity
        }
        Known::Nothing => activation.state(world, number)?,
    };
    for event in ["activated", "joined"] {
        announce(world, event, entity)?;
    }
    Ok(())
}

/// States an activation that goes on anew, and announces other options.
fn restate(
    world: &mut World,
    activation: &Activation,
    entity: EntityId,
    number: usize,
    is_altered: bool,
) -> Result<(), SetFault> {
    let altered = world.program().event_named(ALTERED).filter(|_| is_altered);
    let Some(altered) = altered else { return Ok(activation.restate(world, entity, number)?) };
    let mut stated = Ok(());
    let mut state = |world: &mut World| stated = activation.restate(world, entity, number);
    world.raise_after(&mut state, altered, &[i64::from(entity.0)])?;
    world.commit_keeping_room();
    Ok(stated?)
}

/// Ends the activations that are no longer requested. Returns what there is of each requested one.
fn drop_others(
    world: &mut World,
    requests: &[Request],
    wanted: &[Activation],
) -> Result<Vec<Known>, SetFault> {
    let active = Activation::of_facts(world.program(), world.facts());
    let same = |a: &Activation, b: &Activation| a.preset == b.preset && a.scope == b.scope;
    let mut known = Vec::new();
    for (request, activation) in requests.iter().zip(wanted) {
        known.push(match active.iter().find(|it| same(&it.1, activation)) {
            Some((entity, before)) => {
                let is_altered = before.options != activation.options;
                Known::Same { entity: *entity, is_altered }
            }
            None if active.iter().any(|it| it.1.preset == activation.preset) => {
                heir(world, request, known.len() + 1)?
            }
            None => Known::Nothing,
        });
    }
    for (entity, activation) in &active {
        if !wanted.iter().any(|it| same(it, activation)) {
            announce(world, "deactivated", *entity)?;
            // Rules may leave removing the entity to this code.
            world.remove(*entity);
        }
    }
    Ok(known)
}

/// States an activation before another one of its preset ends, so that the facts about sides that both apply to stay.
fn heir(world: &mut World, request: &Request, number: usize) -> Result<Known, SetFault> {
    let program = Arc::clone(world.program());
    // The changes of presets in older saves were made without that.
    if program.event_named(ALTERED).is_none() {
        return Ok(Known::Nothing);
    }
    let Ok(activation) = Activation::resolve(&program, request) else { return Ok(Known::Nothing) };
    let entity = activation.state(world, number)?;
    world.commit_keeping_room();
    Ok(Known::Heir(entity))
}

/// Frees ids above the last known entity: otherwise a game that often switches presets would run out of ids.
fn give_back_ids(world: &mut World) {
    let last = world.facts().ids().highest_taken();
    world.set_raw(GAME, NEXT_ENTITY, Some(i64::from(last.0) + 1));
}

/// Copies the facts of one world to another, whose program may number attributes and members differently.
/// Attributes that the other program does not have are dropped.
fn migrated(from: &World, mut to: World) -> Result<World, SetFault> {
    let (old, new) = (Arc::clone(from.facts().schema()), Arc::clone(to.facts().schema()));
    // A fact that the game has retracted must not come back as a default.
    for fact in to.facts().all_facts() {
        let name = &new.attribute(fact.attr).name;
        let owner = owner(&new, fact.attr, fact.entity);
        let stated = |attr| owner.id(&old, attr).is_some_and(|it| from.facts().contains(it, attr));
        if fact.attr != NEXT_ENTITY && old.attribute_named(name).is_some_and(|it| !stated(it)) {
            to.retract(fact.entity, fact.attr);
        }
    }
    for fact in from.facts().all_facts() {
        let Some(attr) = new.attribute_named(&old.attribute(fact.attr).name) else { continue };
        let owner = owner(&old, fact.attr, fact.entity);
        let unknown = || SetFault::UnknownOwner {
            attribute: new.attribute(attr).name.clone(),
            owner: owner.to_string(),
        };
        let entity = owner.id(&new, attr).ok_or_else(unknown)?;
        let value = translated(from.facts(), to.facts(), fact.attr, attr, fact.value)?;
        to.insert(entity, attr, value)?;
    }
    to.commit();
    Ok(to)
}

/// A value as another schema numbers it: members are found by their names.
fn translated(
    from: &Session,
    to: &Session,
    old: AttrId,
    new: AttrId,
    value: Value,
) -> Result<Value, SetFault> {
    let Value::Member(index) = value else { return Ok(value) };
    let (old_ty, new_ty) = (from.schema().attribute(old).ty, to.schema().attribute(new).ty);
    let (AttrType::Member(old_domain), AttrType::Member(new_domain)) = (old_ty, new_ty) else {
        return Ok(value);
    };
    let name = from.schema().domain(old_domain).member_name(i64::from(index));
    let found = to.schema().domain(new_domain).member(&name);
    let unknown = || SetFault::Unknown {
        attribute: to.schema().attribute(new).name.clone(),
        value: name.clone(),
    };
    let index = found.and_then(|it| u16::try_from(it).ok()).ok_or_else(unknown)?;
    Ok(Value::Member(index))
}
