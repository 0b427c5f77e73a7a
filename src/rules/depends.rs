//! Dependencies: which attributes rules read, which ones reactions write, and which relations are always empty.
//!
//! All answers err on the safe side: fewer attributes may really be read and written, and more relations may be
//! empty. Deliberately absent: the order of evaluation (`stratify`), and how rules run.

use std::collections::BTreeSet;

use super::program::{
    Effect, Event, EventId, Given, Input, Literal, Program, Reaction, RelId, Role, Rule,
};
use crate::facts::AttrId;

/// A set of attributes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attributes(Vec<u64>);

impl Attributes {
    pub fn insert(&mut self, attr: AttrId) {
        let at = usize::from(attr.0);
        if self.0.len() <= at / 64 {
            self.0.resize(at / 64 + 1, 0);
        }
        self.0[at / 64] |= 1 << (at % 64);
    }

    pub fn extend(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine |= theirs;
        }
    }

    pub fn contains(&self, attr: AttrId) -> bool {
        let word = self.0.get(usize::from(attr.0) / 64);
        word.is_some_and(|it| it >> (attr.0 % 64) & 1 == 1)
    }

    pub fn intersects(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }
}

/// The dependencies of a program's relations.
#[derive(Debug, Clone)]
pub struct Dependencies {
    reads: Vec<Attributes>,
    empty: Vec<bool>,
}

impl Dependencies {
    pub fn of(program: &Program) -> Self {
        let inputs = program.relations.iter().map(|it| {
            let mut reads = Attributes::default();
            match it.role {
                Role::Input(input) => input.attrs().for_each(|it| reads.insert(it)),
                // An action that is played out may read any attribute.
                Role::Given(Given::Trial(_)) => reads = everything(program),
                _ => {}
            }
            reads
        });
        let concluded = |role: &Role| matches!(role, Role::Static | Role::Derived);
        let mut dependencies = Self {
            reads: inputs.collect(),
            empty: program.relations.iter().map(|it| concluded(&it.role)).collect(),
        };
        for stratum in &program.strata {
            dependencies.add_stratum(program, &stratum.relations);
        }
        dependencies
    }

    /// Finds which relations of a stratum are always empty, then what its relations read. Earlier strata are known.
    fn add_stratum(&mut self, program: &Program, relations: &[RelId]) {
        let rules = relations.iter().flat_map(|&it| &program.relation(it).rules);
        let rules: Vec<&Rule> = rules.map(|&it| program.rule(it)).collect();
        let mut grows = true;
        while grows {
            grows = false;
            for rule in &rules {
                let head = usize::from(rule.head.0);
                if self.empty[head] && self.can_hold(&rule.body) {
                    self.empty[head] = false;
                    // In a stratum of one relation, no other one can hold because of this one.
                    grows = relations.len() > 1;
                }
            }
        }
        let mut reads = Attributes::default();
        for rule in rules.into_iter().filter(|it| self.can_hold(&it.body)) {
            self.add_reads(&rule.body, &mut reads);
        }
        for rel in relations {
            self.reads[usize::from(rel.0)].extend(&reads);
        }
    }

    /// Whether the relation is always empty: it follows from rules, and none of them can ever hold.
    pub fn is_empty(&self, rel: RelId) -> bool {
        self.empty[usize::from(rel.0)]
    }

    /// Whether a body may have a solution; false if it asserts a relation that is always empty.
    pub fn can_hold(&self, body: &[Literal]) -> bool {
        !body.iter().any(|literal| {
            matches!(literal, Literal::Atom(atom) if !atom.negated && self.is_empty(atom.rel))
        })
    }

    /// The attributes that a relation's rows may depend on.
    pub fn reads(&self, rel: RelId) -> &Attributes {
        &self.reads[usize::from(rel.0)]
    }

    /// The attributes that a body's solutions may depend on.
    pub fn reads_of(&self, body: &[Literal]) -> Attributes {
        let mut reads = Attributes::default();
        self.add_reads(body, &mut reads);
        reads
    }

    fn add_reads(&self, body: &[Literal], reads: &mut Attributes) {
        for literal in body {
            match literal {
                Literal::Atom(atom) => reads.extend(self.reads(atom.rel)),
                Literal::Compare(_) => {}
                Literal::Aggregate(it) => self.add_reads(&it.body, reads),
            }
        }
    }
}

/// The relations that a body reads, in aggregates as well.
pub fn relations_of<'l>(body: impl IntoIterator<Item = &'l Literal>) -> Vec<RelId> {
    let mut found = Vec::new();
    for literal in body {
        match literal {
            Literal::Atom(atom) => found.push(atom.rel),
            Literal::Compare(_) => {}
            Literal::Aggregate(it) => found.extend(relations_of(&it.body)),
        }
    }
    found
}

/// The attributes that a reaction itself may write; reactions to the events that it raises may write others.
pub fn writes(program: &Program, reaction: &Reaction) -> Attributes {
    let mut writes = Attributes::default();
    for effect in &reaction.effects {
        match effect {
            Effect::Set { rel, .. } | Effect::Retract { rel, .. } => {
                if let Role::Input(input) = program.relation(*rel).role {
                    writes.insert(input.attr());
                    if Some(input.attr()) == program.expiry.turn {
                        program.expiry.until_turn.iter().for_each(|&it| writes.insert(it));
                    }
                }
            }
            Effect::Forget { .. } => program.forgettable().for_each(|it| writes.insert(it)),
            Effect::Inherit { .. } => {
                program.stated.iter().for_each(|&(_, attr)| writes.insert(attr));
            }
            Effect::Remove { .. } => writes.extend(&of_entities(program)),
            Effect::Call { .. } => writes.extend(&everything(program)),
            _ => {}
        }
    }
    writes
}

/// All attributes: those that called code may write, and trials may read.
fn everything(program: &Program) -> Attributes {
    let mut attributes = Attributes::default();
    program.schema.attribute_ids().for_each(|it| attributes.insert(it));
    attributes
}

/// The attributes of facts about entities, all of which `remove` retracts.
fn of_entities(program: &Program) -> Attributes {
    let mut attributes = Attributes::default();
    for relation in &program.relations {
        if let Role::Input(input) = relation.role
            && matches!(input, Input::Key(_) | Input::Flag(_) | Input::List(..))
            && program.schema.owners(input.attr()).is_none()
        {
            input.attrs().for_each(|it| attributes.insert(it));
        }
    }
    attributes
}

/// The events that a reaction, or the code that it calls, may raise.
fn raises(program: &Program, reaction: &Reaction) -> Vec<EventId> {
    if reaction.effects.iter().any(|it| matches!(it, Effect::Call { .. })) {
        // Code raises events by name; the events of trials have no name.
        let named = |it: &EventId| !program.trials.iter().any(|trial| trial.event == *it);
        return program.events.iter().map(|it| it.id).filter(named).collect();
    }
    let raised = reaction.effects.iter().filter_map(|effect| match effect {
        Effect::Raise { event, .. } => Some(*event),
        _ => None,
    });
    raised.collect()
}

/// These reactions, and those that may run because of events that they raise, directly or not.
pub fn with_consequences<'p>(
    program: &'p Program,
    mut found: Vec<&'p Reaction>,
    may_run: impl Fn(&Reaction) -> bool,
) -> Vec<&'p Reaction> {
    let (mut known, mut next) = (BTreeSet::new(), 0);
    while let Some(&reaction) = found.get(next) {
        next += 1;
        for event in raises(program, reaction).into_iter().map(Event::Raised) {
            if known.insert(event) {
                found.extend(program.reactions_to(event).filter(|it| may_run(it)));
            }
        }
    }
    found
}
