//! Carries out an action by the letter of the rules: stage by stage, owner by owner, each reaction's body
//! solved on a model of the facts at the beginning of its batch.
//!
//! It belongs to the checker and shares nothing with the evaluators; the stated steps of an action are
//! compared with it one by one.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::join::{Bindings, bind, value};
use super::model::Model;
use super::table::Row;
use crate::facts::{AttrId, Change, EntityId, GAME, NEXT_ENTITY, Session, push_word, with_plurals};
use crate::rules::limits;
use crate::rules::tree::{Binding, Datum, Effect, Quote, Reacted};
use crate::rules::{
    self, Event, EventId, Expr, Input, MessagePart, Program, Reaction, RelId, Role, StageId,
    TrialRelation, Type, VarId,
};

/// Why an action fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// The last step vetoes it.
    Refused,
    /// It is endless, or there is no room for an entity that it makes.
    Endless,
    /// It calls code, whose effects are not in the rules.
    Code,
}

/// An action that is being taken.
pub(super) struct Transaction<'m> {
    program: Arc<Program>,
    model: &'m mut Model,
    facts: Session,
    /// Whether the model is out of date.
    stale: bool,
    /// The facts that expired as it began.
    pub(super) expired: Vec<Effect>,
    /// The steps so far.
    pub(super) steps: Vec<Reacted>,
    depth: usize,
    events: usize,
    rewinds: bool,
    /// Ids that a fact has mentioned since the action began, and those that were assigned.
    known: BTreeSet<i64>,
    /// The number of steps after which the batch begins that is watched, if something fires in it.
    pub(super) watch: Option<usize>,
    /// The facts when that batch began, and its reactions that fired.
    pub(super) watched: Option<(Session, Vec<usize>)>,
    /// The facts and the number of steps at the end of the stages that are played out, if the action goes on
    /// after them.
    pub(super) decided: Option<(Session, usize)>,
    /// Whether to stop after the stages that are played out, and keep their facts.
    only_tries: bool,
}

/// What a batch decides beside facts: the events that it raises, and for the event that it reacts to, whether it
/// stops and what its arguments are for later batches.
#[derive(Default)]
struct Flow {
    raised: VecDeque<(EventId, Row)>,
    stop: bool,
    pass: Option<Row>,
}

/// One solution of a reaction.
struct Solution {
    reaction: usize,
    values: Row,
    bindings: Bindings,
}

impl<'m> Transaction<'m> {
    /// An action from the facts of a model, which has the facts after it in the end.
    pub(super) fn new(program: &Arc<Program>, model: &'m mut Model) -> Self {
        let facts = model.facts().clone();
        Self {
            program: Arc::clone(program),
            model,
            known: mentioned_ids(&facts),
            facts,
            stale: false,
            expired: Vec::new(),
            steps: Vec::new(),
            depth: 0,
            events: 0,
            rewinds: false,
            watch: None,
            watched: None,
            decided: None,
            only_tries: false,
        }
    }

    /// Carries out an action or event. If that fails, the facts are meaningless.
    pub(super) fn run(&mut self, event: Event, args: &[i64]) -> Result<(), Failure> {
        let mut args = match event {
            Event::Action(id) => Row::from_slice(&self.program.action(id).whole(args)),
            Event::Any | Event::Raised(_) => Row::from_slice(args),
        };
        if self.depth == 0 {
            self.remember();
        }
        if matches!(event, Event::Action(_)) {
            let program = Arc::clone(&self.program);
            self.expired = self.expire(&program.expiry.until_action);
        }
        let until = self.until(event);
        for batch in batches(&self.program, event) {
            let is_late =
                |it: &usize| until.is_some_and(|late| self.program.reactions[*it].stage > late);
            if self.decided.is_none() && batch.iter().any(is_late) {
                self.decided = Some((self.facts.clone(), self.steps.len()));
                if self.only_tries {
                    break;
                }
            }
            let mut flow = Flow::default();
            let solutions = self.solutions(&batch, &args);
            if self.watch == Some(self.steps.len()) && !solutions.is_empty() {
                let reacted = solutions.iter().map(|it| it.reaction).collect();
                self.watched = Some((self.facts.clone(), reacted));
                self.watch = None;
            }
            for solution in solutions {
                self.react(event, &args, solution, &mut flow)?;
            }
            for (raised, args) in flow.raised {
                if !self.rewinds {
                    self.raise(raised, &args)?;
                }
            }
            if flow.stop || self.rewinds {
                break;
            }
            args = flow.pass.unwrap_or(args);
        }
        if self.depth == 0 && !self.only_tries {
            let program = Arc::clone(&self.program);
            for it in &program.was {
                self.expire(&[it.before]);
            }
            self.refresh();
            self.model.set_origin(None);
        }
        Ok(())
    }

    /// Whether an action can be played out, and a trial's condition holds then. The model's facts are meaningless
    /// afterwards.
    pub(super) fn survives(mut self, trial: &TrialRelation, args: &[i64]) -> bool {
        self.only_tries = true;
        if self.run(Event::Action(trial.action), args).is_err() {
            return false;
        }
        let program = Arc::clone(&self.program);
        let asks = batches(&program, Event::Raised(trial.event));
        asks.iter().any(|it| !self.solutions(it, args).is_empty())
    }

    /// The last stage that is played out (`until`), if the action declares one.
    fn until(&self, event: Event) -> Option<StageId> {
        match event {
            Event::Action(id) => self.program.action(id).until,
            Event::Any | Event::Raised(_) => None,
        }
    }

    /// Records what reactions may read from before the action.
    fn remember(&mut self) {
        let program = Arc::clone(&self.program);
        // If this action is played out in the middle of another one, what held before that one is forgotten.
        for it in &program.was {
            self.expire(&[it.before]);
        }
        self.model.set_origin(Some(&self.facts));
        for it in &program.was {
            let owners: Vec<EntityId> = self.facts.entities_with(it.of).collect();
            for owner in owners {
                let raw = self.facts.get_raw(owner, it.of);
                self.facts.set_raw(owner, it.before, raw);
                self.stale = true;
            }
        }
    }

    fn raise(&mut self, event: EventId, args: &[i64]) -> Result<(), Failure> {
        self.events += 1;
        self.depth += 1;
        if self.events > limits::RAISED || self.depth > limits::RAISED_DEEP {
            return Err(Failure::Endless);
        }
        self.run(Event::Raised(event), args)?;
        self.depth -= 1;
        Ok(())
    }

    /// Brings the model up to date with the facts.
    fn refresh(&mut self) {
        if std::mem::take(&mut self.stale) {
            self.model.change(&self.facts);
        }
    }

    /// The solutions of the reactions of a batch, in their order.
    fn solutions(&mut self, batch: &[usize], args: &[i64]) -> Vec<Solution> {
        self.refresh();
        let program = Arc::clone(&self.program);
        let mut all = Vec::new();
        for &at in batch {
            let reaction = &program.reactions[at];
            let Some(given) = bindings_of(reaction, args) else { continue };
            let named = reaction.named();
            let mut found = BTreeSet::new();
            self.model.solutions(&reaction.body, &given, &mut |solution| {
                let raw = |it: &VarId| solution[usize::from(it.0)].unwrap_or_default();
                found.insert(named.iter().map(raw).collect::<Row>());
            });
            for values in found {
                let mut bindings: Bindings = vec![None; reaction.vars.len()];
                for (var, raw) in named.iter().zip(&values) {
                    bindings[usize::from(var.0)] = Some(*raw);
                }
                all.push(Solution { reaction: at, values, bindings });
            }
        }
        self.number_new_entities(&mut all);
        all
    }

    /// Numbers the entities that a batch creates, when it begins: by ids that no fact has mentioned during the action,
    /// from the counter on, then the lowest.
    fn number_new_entities(&mut self, all: &mut [Solution]) {
        let program = Arc::clone(&self.program);
        for it in all {
            for effect in &program.reactions[it.reaction].effects {
                if let rules::Effect::Spawn { var } = effect {
                    it.bindings[usize::from(var.0)] = Some(self.free_id());
                }
            }
        }
    }

    /// The id of the next new entity; one past the last if there is no room.
    fn free_id(&mut self) -> i64 {
        let cap = i64::from(self.facts.schema().entity_cap());
        let counter = self.facts.get_raw(GAME, NEXT_ENTITY).unwrap_or(1).max(1);
        let mut candidates = (counter..cap).chain(1..counter.min(cap));
        let free = candidates.find(|it| !self.known.contains(it));
        self.known.extend(free);
        free.unwrap_or(cap)
    }

    /// Carries out the effects of a solution, and records the step.
    fn react(
        &mut self,
        event: Event,
        args: &[i64],
        solution: Solution,
        flow: &mut Flow,
    ) -> Result<(), Failure> {
        let program = Arc::clone(&self.program);
        let reaction = &program.reactions[solution.reaction];
        let named = reaction.named();
        let bindings = named.iter().zip(&solution.values).map(|(var, &raw)| {
            let var = &reaction.vars[usize::from(var.0)];
            let value = Datum::of(&program, var.ty, raw);
            Binding { var: var.name.clone(), value }
        });
        self.steps.push(Reacted {
            event: program.event_name(event).to_owned(),
            args: Datum::row(&program, program.event_columns(event), args),
            depth: self.depth,
            reaction: Quote::of(&program, solution.reaction, reaction.span),
            bindings: bindings.collect(),
            effects: Vec::new(),
        });
        for effect in &reaction.effects {
            self.effect(event, reaction, effect, &solution.bindings, flow)?;
        }
        Ok(())
    }

    fn note(&mut self, effect: Effect) {
        if let Some(step) = self.steps.last_mut() {
            step.effects.push(effect);
        }
    }

    /// Carries out one effect, unless its arithmetic has no value.
    fn effect(
        &mut self,
        event: Event,
        reaction: &Reaction,
        effect: &rules::Effect,
        bindings: &Bindings,
        flow: &mut Flow,
    ) -> Result<(), Failure> {
        use rules::Effect as E;
        match effect {
            E::Set { rel, args } => {
                if let (Some(input), Some(args)) = (self.input(*rel), values(args, bindings)) {
                    let raw = match input {
                        Input::Key(_) | Input::Game(_) => args.last().copied(),
                        Input::Flag(_) | Input::GameFlag(_) | Input::List(..) => Some(1),
                    };
                    self.write(input, &args, raw);
                }
            }
            E::Retract { rel, key } => {
                if let (Some(input), Some(key)) = (self.input(*rel), values(key, bindings)) {
                    self.write(input, &key, None);
                }
            }
            E::Remove { entity } => {
                if let Some(entity) = value(entity, bindings) {
                    self.change(|facts| facts.remove(EntityId(entity as u32)));
                }
            }
            E::Forget { preset, of } => {
                let vars = &reaction.vars;
                let of = of.map(|it| (vars[usize::from(it.0)].ty, bindings[usize::from(it.0)]));
                if let Some(preset) = bindings[usize::from(preset.0)] {
                    self.forget(preset, of);
                }
            }
            E::Inherit { to, from } => {
                let bound = |it: &VarId| bindings[usize::from(it.0)].map(|it| EntityId(it as u32));
                if let (Some(to), Some(from)) = (bound(to), bound(from)) {
                    self.inherit(to, from);
                }
            }
            E::Spawn { var } => self.spawn(bindings[usize::from(var.0)].unwrap_or_default())?,
            E::Raise { event, args } => {
                if let Some(raw) = values(args, bindings) {
                    let (name, args) = self.named(*event, &raw);
                    self.note(Effect::Raised { event: name, args });
                    flow.raised.push_back((*event, raw));
                }
            }
            E::Pass { args } => {
                if let Some(raw) = values(args, bindings) {
                    let args = Datum::row(&self.program, self.program.event_columns(event), &raw);
                    self.note(Effect::Passed { args });
                    flow.pass = Some(raw);
                }
            }
            E::Emit { event, args } => {
                if let Some(raw) = values(args, bindings) {
                    let (event, args) = self.named(*event, &raw);
                    self.note(Effect::Emitted { event, args });
                }
            }
            E::Stop => {
                self.note(Effect::Stopped);
                flow.stop = true;
            }
            E::Veto { message } => {
                let said = message_text(&self.program, reaction, &message.0, bindings);
                self.note(Effect::Vetoed { said });
                return Err(Failure::Refused);
            }
            E::Note { message } => {
                let said = message_text(&self.program, reaction, &message.0, bindings);
                self.note(Effect::Noted { said });
            }
            E::Call { .. } => return Err(Failure::Code),
            E::Rewind { turns } => {
                if let Some(turns) = value(turns, bindings) {
                    self.note(Effect::Rewound { turns });
                    self.rewinds = true;
                }
            }
        }
        Ok(())
    }

    /// Retracts the facts of a preset, only those of one owner if it is given.
    fn forget(&mut self, preset: i64, of: Option<(Type, Option<i64>)>) {
        let program = Arc::clone(&self.program);
        for (_, attr) in program.stated.iter().filter(|it| it.0 == preset) {
            let owners = program.schema.attribute(*attr).of;
            let is_of = |ty| match (ty, owners) {
                (Type::Domain(of), Some(owners)) => of == owners,
                (ty, None) => program.is_entity(ty),
                _ => false,
            };
            let goes = |it: &EntityId| match of {
                None => true,
                Some((ty, raw)) => is_of(ty) && raw == Some(i64::from(it.0)),
            };
            let gone: Vec<EntityId> = self.facts.entities_with(*attr).filter(goes).collect();
            for entity in gone {
                self.change(|facts| {
                    facts.set_raw(entity, *attr, None);
                });
            }
        }
        if of.is_none() {
            self.forget_modules(preset);
        }
    }

    /// Takes the facts of modules back to the start that no active preset but this one brings.
    fn forget_modules(&mut self, preset: i64) {
        let program = Arc::clone(&self.program);
        let named = program.schema.attribute_named("preset");
        let active = |facts: &Session, it: i64| {
            named.is_some_and(|attr| {
                facts.entities_with(attr).any(|of| facts.get_raw(of, attr) == Some(it))
            })
        };
        for (_, attr) in program.of_modules.iter().filter(|it| it.0 == preset) {
            let mut others = program.of_modules.iter().filter(|it| it.0 != preset && it.1 == *attr);
            if others.any(|it| active(&self.facts, it.0)) {
                continue;
            }
            let attribute = program.schema.attribute(*attr);
            let owners: Vec<EntityId> = self.facts.entities_with(*attr).collect();
            for owner in owners {
                let has_start = attribute.of.is_some() || owner == GAME;
                let start = attribute.default.filter(|_| has_start);
                self.change(|facts| {
                    facts.set_raw(owner, *attr, start);
                });
            }
        }
    }

    /// Copies the facts of presets from one entity to another.
    fn inherit(&mut self, to: EntityId, from: EntityId) {
        let program = Arc::clone(&self.program);
        for (_, attr) in &program.stated {
            let is_free = program.schema.attribute(*attr).of.is_none()
                && self.facts.get_raw(to, *attr).is_none();
            if let Some(raw) = self.facts.get_raw(from, *attr).filter(|_| is_free) {
                self.change(|facts| {
                    facts.set_raw(to, *attr, Some(raw));
                });
            }
        }
    }

    fn input(&self, rel: RelId) -> Option<Input> {
        match self.program.relation(rel).role {
            Role::Input(input) => Some(input),
            Role::Static | Role::Builtin(_) | Role::Derived | Role::Given(_) => None,
        }
    }

    fn spawn(&mut self, id: i64) -> Result<(), Failure> {
        if id >= i64::from(self.facts.schema().entity_cap()) {
            return Err(Failure::Endless);
        }
        self.note(Effect::Spawned { entity: id as u32 });
        let counter = self.facts.get_raw(GAME, NEXT_ENTITY).unwrap_or(1);
        self.change(|facts| {
            facts.set_raw(GAME, NEXT_ENTITY, Some(counter.max(id + 1)));
        });
        Ok(())
    }

    /// An event and its arguments, by name.
    fn named(&self, event: EventId, args: &[i64]) -> (String, Vec<Datum>) {
        let declared = self.program.event(event);
        (declared.name.clone(), Datum::row(&self.program, &declared.columns, args))
    }

    fn write(&mut self, input: Input, key: &[i64], raw: Option<i64>) {
        let entity = match (input, key.first()) {
            (Input::Key(_) | Input::Flag(_), Some(&it)) => EntityId(it as u32),
            (Input::Game(_) | Input::GameFlag(_), _) => GAME,
            (Input::Key(_) | Input::Flag(_), None) | (Input::List(..), _) => return,
        };
        let is_turn = self.program.expiry.turn == Some(input.attr());
        let passes = is_turn && self.facts.get_raw(entity, input.attr()) != raw;
        self.change(|facts| {
            facts.set_raw(entity, input.attr(), raw);
        });
        if passes {
            let program = Arc::clone(&self.program);
            let expired = self.expire(&program.expiry.until_turn);
            expired.into_iter().for_each(|it| self.note(it));
        }
    }

    /// Retracts every fact of attributes that expire, and returns these effects.
    fn expire(&mut self, attrs: &[AttrId]) -> Vec<Effect> {
        let mut gone = Vec::new();
        for &attr in attrs {
            let owners: Vec<EntityId> = self.facts.entities_with(attr).collect();
            for entity in owners {
                let old = self.facts.set_raw(entity, attr, None);
                let change = Change { entity, attr, old, new: None };
                gone.push(Effect::changed(&self.program, change));
                self.stale = true;
            }
        }
        gone
    }

    /// Changes the facts, and records each change.
    fn change(&mut self, change: impl FnOnce(&mut Session)) {
        let since = self.facts.mark();
        change(&mut self.facts);
        let changes = self.facts.changes_since(since).to_vec();
        for it in changes {
            let refers = is_reference(&self.facts, it.attr);
            let values = [it.old, it.new].into_iter().flatten().filter(|_| refers);
            let of_entity = self.facts.schema().owners(it.attr).is_none();
            self.known.extend(values.chain(of_entity.then_some(i64::from(it.entity.0))));
            self.note(Effect::changed(&self.program, it));
            self.stale = true;
        }
    }
}

impl Model {
    /// The rows of a trial: each action that may be tried is played out, on a model of its own.
    pub(super) fn tried(&mut self, trial: &TrialRelation) -> Vec<Row> {
        let program = Arc::clone(&self.program);
        let action = program.action(trial.action);
        let mut now = self.with_facts(self.facts());
        let candidates = now.table(action.candidates());
        let from = trial.from.map(|it| now.table(it));
        let mut rows = Vec::new();
        for row in candidates.rows() {
            if from.as_ref().is_some_and(|it| !it.contains(row)) {
                continue;
            }
            let mut then = now.with_facts(self.facts());
            if Transaction::new(&program, &mut then).survives(trial, row) {
                rows.push(row.clone());
            }
            self.too_large = self.too_large.or(then.too_large);
        }
        self.too_large = self.too_large.or(now.too_large);
        rows
    }
}

/// Every id that facts mention, as entity or as value.
fn mentioned_ids(facts: &Session) -> BTreeSet<i64> {
    let refers = |attr| is_reference(facts, attr);
    let of_fact = |(entity, attr, raw): (EntityId, AttrId, i64)| {
        let owner = Some(i64::from(entity.0)).filter(|_| facts.schema().owners(attr).is_none());
        [owner, Some(raw).filter(|_| refers(attr))]
    };
    facts.iter_raw().flat_map(of_fact).flatten().collect()
}

/// Whether the values of the attribute are entities.
fn is_reference(facts: &Session, attr: AttrId) -> bool {
    let schema = facts.schema();
    schema.is_entity(schema.attribute(attr).ty)
}

/// The reactions to an event: by stage, in a stage by owner, then in text order.
fn batches(program: &Program, event: Event) -> Vec<Vec<usize>> {
    let is_action = matches!(event, Event::Action(_));
    let mut all: Vec<usize> = (0..program.reactions.len())
        .filter(|&at| {
            let to = program.reactions[at].event;
            to == event || (is_action && to == Event::Any)
        })
        .collect();
    let key = |at: &usize| (program.reactions[*at].stage, program.reactions[*at].owner);
    all.sort_by_key(key);
    all.chunk_by(|a, b| key(a) == key(b)).map(<[usize]>::to_vec).collect()
}

/// The values that an event's arguments give to variables; `None` if the reaction does not match the event.
fn bindings_of(reaction: &Reaction, args: &[i64]) -> Option<Bindings> {
    let mut bindings: Bindings = vec![None; reaction.vars.len()];
    let values = args.iter().copied().map(Some);
    let matches = reaction.event == Event::Any || bind(&reaction.params, values, &mut bindings);
    matches.then_some(bindings)
}

fn values(exprs: &[Expr], bindings: &Bindings) -> Option<Row> {
    exprs.iter().map(|it| value(it, bindings)).collect()
}

fn message_text(
    program: &Program,
    reaction: &Reaction,
    parts: &[MessagePart],
    bindings: &Bindings,
) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            MessagePart::Text(it) => text.push_str(it),
            MessagePart::Value(var) => {
                let raw = bindings[usize::from(var.0)].unwrap_or_default();
                let ty = reaction.vars[usize::from(var.0)].ty;
                push_word(&mut text, &program.value_name(ty, raw));
            }
        }
    }
    with_plurals(text)
}
