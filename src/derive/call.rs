//! Code that reactions call: its arguments, and what it may do.
//!
//! `call bite(p, n)` hands a [`Moment`] and the name `bite` to the code that is registered for the preset. Its effects
//! are those of reactions, written to the same journal: a veto, or an aborted transaction, takes them back
//! with everything else. So the code may not keep state other than facts, or undo and saves would miss it.
//! Deliberately absent: the registry of code (`presets`).

#![warn(missing_docs)]

use std::fmt;
use std::sync::Arc;

use super::output::{Flow, Raised};
use super::refusal::{CallFault, Refusal};
use super::rows::Tuple;
use super::trace::{Done, Said};
use crate::facts::{AttrId, AttrType, BOOL, EntityId, FactError, NEXT_ENTITY, Session, Value};
use crate::rules::{Column, Effect, Event, EventId, Program, RelId, Type};

/// The code that answers the calls of a program's reactions.
pub trait Calls: fmt::Debug + Send + Sync {
    /// Answers a call from the rules of a preset. Returns false if it is not known here.
    fn call(&self, preset: &str, name: &str, moment: &mut Moment<'_>) -> bool;
}

/// The facts and rows that called code reads, and the writes that it may ask for.
pub(super) trait CallState {
    fn facts(&self) -> &Session;
    /// All rows of a relation, ascending.
    fn tuples(&mut self, rel: RelId) -> Vec<Tuple>;
    /// Checks a value and writes it.
    ///
    /// # Errors
    /// A value of the wrong type or outside its domain is refused and nothing changes.
    fn set(&mut self, entity: EntityId, attr: AttrId, value: &Value) -> Result<(), FactError>;
    fn retract(&mut self, entity: EntityId, attr: AttrId);
    /// Retracts every fact of an entity.
    fn remove(&mut self, entity: EntityId);
    /// A new entity; `None` if there is no room for one.
    fn spawn(&mut self) -> Option<EntityId>;
}

/// A call from a batch of reactions.
pub(super) struct Call<'c> {
    /// The event that the reaction reacted to, with its current arguments.
    pub(super) event: Event,
    pub(super) args: &'c Tuple,
    /// The reaction, and the number of its effect that calls.
    pub(super) by: usize,
    pub(super) effect: usize,
    /// The values of the variables that the call names.
    pub(super) values: &'c Tuple,
}

impl Call<'_> {
    /// Runs the code. Returns what it did besides changing facts.
    pub(super) fn run(
        &self,
        program: &Arc<Program>,
        calls: Option<&Arc<dyn Calls>>,
        state: &mut dyn CallState,
        flow: &mut Flow,
    ) -> Result<Vec<Done>, Refusal> {
        let reaction = &program.reactions[self.by];
        let Some(Effect::Call { name, args }) = reaction.effects.get(self.effect) else {
            return Ok(Vec::new());
        };
        let place = || program.place(reaction.span);
        let refused =
            |fault: CallFault| Refusal::Call { place: place(), name: name.clone(), fault };
        let called = Done::Called { name: name.clone(), args: self.values.clone() };
        let mut arguments = Vec::new();
        for (var, &raw) in args.iter().zip(self.values) {
            let var = &reaction.vars[usize::from(var.0)];
            arguments.push(Argument { name: &var.name, ty: var.ty, raw });
        }
        for (column, &raw) in program.event_columns(self.event).iter().zip(self.args) {
            arguments.push(Argument { name: &column.name, ty: column.ty, raw });
        }
        let mut moment = Moment {
            program,
            state,
            flow,
            event: self.event,
            args: self.args,
            arguments,
            by: self.by,
            done: vec![called],
            veto: None,
            fault: None,
        };
        let owner = reaction.owner.and_then(|it| program.preset_of(it)).unwrap_or_default();
        let known = calls.is_some_and(|it| it.call(owner, name, &mut moment));
        match (known, moment.fault, moment.veto) {
            (false, ..) => Err(refused(CallFault::Unregistered)),
            (true, Some(fault), _) => Err(refused(fault)),
            (true, None, Some(reason)) => {
                Err(Refusal::Veto { said: Said::plain(place(), &reason) })
            }
            (true, None, None) => Ok(moment.done),
        }
    }
}

/// The arguments of code that a reaction calls, and what it may do. Names are those of the rules.
///
/// An invalid request (a name that the rules do not have, a value of another type, a row of another width) refuses the
/// whole action with a message; the code need not check.
pub struct Moment<'w> {
    program: &'w Arc<Program>,
    state: &'w mut dyn CallState,
    flow: &'w mut Flow,
    event: Event,
    args: &'w Tuple,
    /// The variables of the call, then the columns of the event.
    arguments: Vec<Argument<'w>>,
    by: usize,
    done: Vec<Done>,
    veto: Option<String>,
    fault: Option<CallFault>,
}

#[derive(Debug)]
struct Argument<'w> {
    name: &'w str,
    ty: Type,
    raw: i64,
}

impl fmt::Debug for Moment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Moment");
        text.field("event", &self.event()).field("arguments", &self.arguments).finish()
    }
}

/// The event and its arguments.
impl Moment<'_> {
    /// The action or event under way: `move`, `damage`.
    pub fn event(&self) -> &str {
        self.program.event_name(self.event)
    }

    fn argument(&mut self, name: &str) -> Option<(Type, i64)> {
        let found = self.arguments.iter().find(|it| it.name == name).map(|it| (it.ty, it.raw));
        self.known(found, "argument", name)
    }

    /// Whether the call or its event has an argument of that name.
    pub fn has_arg(&self, name: &str) -> bool {
        self.arguments.iter().any(|it| it.name == name)
    }

    /// The number in an argument: a variable of the call, or a column of the event.
    pub fn int(&mut self, name: &str) -> i64 {
        match self.argument(name) {
            Some((Type::Int, raw)) => raw,
            Some(_) => self.wrong(name, "number", 0),
            None => 0,
        }
    }

    /// The entity in an argument.
    pub fn entity(&mut self, name: &str) -> EntityId {
        match self.argument(name) {
            Some((ty, raw)) if self.program.is_entity(ty) => EntityId(raw as u32),
            Some(_) => self.wrong(name, "entity", EntityId(0)),
            None => EntityId(0),
        }
    }

    /// The value of an argument by name: `knight`, `e4`, `3`.
    pub fn word(&mut self, name: &str) -> String {
        self.argument(name).map(|(ty, raw)| self.program.value_name(ty, raw)).unwrap_or_default()
    }
}

/// Reading facts and rows. An attribute that members of a domain have (`of Side`) takes the number of the member as the
/// entity: `EntityId(0)` is the first side. [`Moment::rows`] has their names.
impl Moment<'_> {
    /// A fact of an entity.
    pub fn get(&mut self, entity: EntityId, attribute: &str) -> Option<Value> {
        let attr = self.attribute(attribute)?;
        self.state.facts().get(entity, attr)
    }

    /// A numeric fact of an entity.
    pub fn get_int(&mut self, entity: EntityId, attribute: &str) -> Option<i64> {
        match self.get(entity, attribute)? {
            Value::Int(it) => Some(it),
            _ => self.wrong(attribute, "number", None),
        }
    }

    /// A fact of an entity by name, as rows have it: `white`, `e4`, `#3`.
    pub fn get_word(&mut self, entity: EntityId, attribute: &str) -> Option<String> {
        let attr = self.attribute(attribute)?;
        let value = self.state.facts().get(entity, attr)?;
        Some(value.words(&self.program.schema, attr))
    }

    /// The current rows of a relation, by name: `[["#3", "e4"], ...]`.
    pub fn rows(&mut self, relation: &str) -> Vec<Vec<String>> {
        let Some(rel) = self.relation(relation) else { return Vec::new() };
        let columns = &self.program.relation(rel).columns;
        let word = |(column, &raw): (&Column, &i64)| self.program.value_name(column.ty, raw);
        let rows = self.state.tuples(rel);
        rows.iter().map(|row| columns.iter().zip(row).map(word).collect()).collect()
    }

    /// The entities in the first column of a relation: `entities("at")` are all pieces on the board.
    pub fn entities(&mut self, relation: &str) -> Vec<EntityId> {
        let Some(rel) = self.relation(relation) else { return Vec::new() };
        let first = self.program.relation(rel).columns.first();
        if !first.is_some_and(|it| self.program.is_entity(it.ty)) {
            return self.wrong(relation, "relation of entities", Vec::new());
        }
        let rows = self.state.tuples(rel);
        let first = rows.iter().filter_map(|row| u32::try_from(*row.first()?).ok());
        let mut found: Vec<EntityId> = first.map(EntityId).collect();
        found.dedup();
        found
    }

    /// Whether a row holds. In it `_` stands for any value, and `#3` for entity 3.
    pub fn holds(&mut self, relation: &str, row: &[&str]) -> bool {
        let Some(rel) = self.relation(relation) else { return false };
        if self.program.relation(rel).columns.len() != row.len() {
            return self.wrong(relation, "relation of so many columns", false);
        }
        let is = |found: &Vec<String>| row.iter().zip(found).all(|(a, b)| *a == "_" || a == b);
        self.rows(relation).iter().any(is)
    }
}

/// Writing facts, and other effects.
impl Moment<'_> {
    /// States a fact, replacing the old one.
    pub fn set(&mut self, entity: EntityId, attribute: &str, value: impl Into<Value>) {
        let Some(attr) = self.writable(attribute) else { return };
        if let Err(why) = self.state.set(entity, attr, &value.into()) {
            self.failed(CallFault::Fact(why.to_string()));
        }
    }

    /// States a fact whose value is a member's name: a side, a square, a kind.
    pub fn set_word(&mut self, entity: EntityId, attribute: &str, word: &str) {
        let Some(attr) = self.attribute(attribute) else { return };
        let AttrType::Member(id) = self.program.schema.attribute(attr).ty else {
            return self.wrong(attribute, "word", ());
        };
        let member = self.program.schema.domain(id).member(word);
        match member.and_then(|it| u16::try_from(it).ok()) {
            Some(it) => self.set(entity, attribute, Value::Member(it)),
            None => self.unknown("member", word),
        }
    }

    /// Retracts a fact.
    pub fn retract(&mut self, entity: EntityId, attribute: &str) {
        if let Some(attr) = self.writable(attribute) {
            self.state.retract(entity, attr);
        }
    }

    /// Retracts everything about an entity.
    pub fn remove(&mut self, entity: EntityId) {
        self.state.remove(entity);
    }

    /// A new entity; `None` if there is no room, which refuses the action.
    pub fn spawn(&mut self) -> Option<EntityId> {
        let Some(entity) = self.state.spawn() else {
            self.failed(CallFault::Fact("there is no room for another entity".into()));
            return None;
        };
        self.done.push(Done::Spawned(entity));
        Some(entity)
    }

    /// Raises an event, which is handled after the batch.
    pub fn raise(&mut self, event: &str, args: &[Value]) {
        let Some((event, args)) = self.event_row(event, args) else { return };
        self.flow.raised.push_back(Raised { event, args: args.clone(), by: self.by });
        self.done.push(Done::Raised { event, args });
    }

    /// Shows an event to displays.
    pub fn emit(&mut self, event: &str, args: &[Value]) {
        if let Some((event, args)) = self.event_row(event, args) {
            self.done.push(Done::Emitted { event, args });
        }
    }

    /// Stops the event after this batch.
    pub fn stop(&mut self) {
        if self.needs_event("stop") {
            self.flow.stop = true;
            self.done.push(Done::Stopped);
        }
    }

    /// Passes the event on to later batches with another number in that column.
    pub fn pass(&mut self, column: &str, value: i64) {
        if !self.needs_event("pass") {
            return;
        }
        let columns = self.program.event_columns(self.event);
        let Some(at) = columns.iter().position(|it| it.name == column && it.ty == Type::Int) else {
            return self.unknown("number column", column);
        };
        let Some(value) = self.in_range(&columns[at], value) else { return };
        let mut args = self.flow.pass.take().unwrap_or_else(|| self.args.clone());
        args[at] = value;
        self.flow.pass = Some(args.clone());
        self.done.push(Done::Passed { args });
    }

    /// Refuses the action, for this reason.
    pub fn veto(&mut self, reason: &str) {
        self.veto.get_or_insert_with(|| reason.into());
    }

    /// Adds a line to the record of the action.
    pub fn note(&mut self, text: &str) {
        let place = self.program.place(self.program.reactions[self.by].span);
        self.done.push(Done::Noted { said: Said::plain(place, text) });
    }
}

impl Moment<'_> {
    /// The file that calls: names are those of its preset.
    fn file(&self) -> u16 {
        self.program.reactions[self.by].span.source
    }

    fn attribute(&mut self, name: &str) -> Option<AttrId> {
        let found = self.program.attribute_in(self.file(), name);
        self.known(found, "attribute", name)
    }

    /// The attribute of that name. The call fails if there is none, or if the engine alone writes it.
    fn writable(&mut self, name: &str) -> Option<AttrId> {
        let attr = self.attribute(name)?;
        if attr == NEXT_ENTITY {
            self.failed(CallFault::Fact(format!("{name} is counted by the engine: only read it")));
            return None;
        }
        Some(attr)
    }

    fn relation(&mut self, name: &str) -> Option<RelId> {
        let found = self.program.relation_in(self.file(), name);
        self.known(found, "relation", name)
    }

    /// The arguments of an event as raw values.
    fn event_row(&mut self, name: &str, args: &[Value]) -> Option<(EventId, Tuple)> {
        let found = self.program.event_in(self.file(), name);
        let event = self.known(found, "event", name)?;
        let columns = &self.program.event(event).columns;
        let raws = columns.iter().zip(args).map(|(it, arg)| raw(self.program, it.ty, arg));
        let row = raws.collect::<Option<Tuple>>().filter(|_| columns.len() == args.len());
        let Some(row) = row else { return self.wrong(name, "event of such arguments", None) };
        for (column, (arg, &raw)) in columns.iter().zip(args.iter().zip(&row)) {
            if let Value::Entity(entity) = arg
                && let Err(why) = self.state.facts().check_entity(*entity)
            {
                self.failed(CallFault::Fact(why.to_string()));
                return None;
            }
            self.in_range(column, raw)?;
        }
        Some((event, row))
    }

    /// The number. The call fails if it is the least one, which stands for a missing value in evaluators.
    fn in_range(&mut self, column: &Column, number: i64) -> Option<i64> {
        if column.ty == Type::Int && number == i64::MIN {
            let name = &column.name;
            let fault = format!("column {name} takes every integer of 64 bits but the least");
            self.failed(CallFault::Fact(fault));
            return None;
        }
        Some(number)
    }

    /// Whether the code reacts to a raised event. The call fails if it reacts to an action.
    fn needs_event(&mut self, word: &'static str) -> bool {
        let raised = matches!(self.event, Event::Raised(_));
        if !raised {
            self.failed(CallFault::Outside { word });
        }
        raised
    }

    /// Returns what was found by a name. The call fails if nothing was.
    fn known<T>(&mut self, found: Option<T>, what: &'static str, name: &str) -> Option<T> {
        if found.is_none() {
            self.unknown(what, name);
        }
        found
    }

    fn unknown(&mut self, what: &'static str, name: &str) {
        self.failed(CallFault::Unknown { what, name: name.into() });
    }

    fn wrong<T>(&mut self, name: &str, wanted: &'static str, instead: T) -> T {
        self.failed(CallFault::Type { name: name.into(), wanted });
        instead
    }

    /// Notes a fault. The first one is reported.
    fn failed(&mut self, fault: CallFault) {
        self.fault.get_or_insert(fault);
    }
}

/// The raw form of a value, if it has the type.
fn raw(program: &Program, ty: Type, value: &Value) -> Option<i64> {
    match (ty, value) {
        (Type::Int, Value::Int(it)) => Some(*it),
        (ty, Value::Entity(it)) => program.is_entity(ty).then_some(i64::from(it.0)),
        (Type::Domain(id), Value::Member(it)) => {
            (usize::from(*it) < program.schema.domain(id).size()).then_some(i64::from(*it))
        }
        (Type::Domain(id), Value::Text(it)) => program.schema.domain(id).member(it),
        (Type::Domain(BOOL), Value::Bool(it)) => Some(i64::from(*it)),
        _ => None,
    }
}
