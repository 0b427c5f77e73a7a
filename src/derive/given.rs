//! Rows that are given to the evaluators: those of a relation before the action under way, and those of
//! trials, which are found by playing actions out.
//!
//! Evaluators read both like other rows. Rows from before the action are given when a batch reads them, and dropped
//! when the action is over. The rows of a trial are computed when something that depends on them is read, and
//! are valid until a fact changes; nothing that is played out for a trial may depend on it, which is checked
//! when rules are compiled. Programs without either have no extra cost.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::rules::{Event, Given, Program, RelId, Role, relations_of, with_consequences};

use super::rows::Tuple;

/// The rows of a relation, ascending, shared.
pub(super) type SharedRows = Arc<Vec<Tuple>>;

/// The relations of a program whose rows are given, and what depends on them; computed once.
#[derive(Debug, Default)]
pub(super) struct GivenRelations {
    /// The relations whose rows are given.
    pub(super) rels: Vec<RelId>,
    /// For each relation of the program, the trials that it depends on, one bit each. Empty without trials.
    reads: Vec<u64>,
    /// By action and by event, the relations that it may read as they were before it: the numbers among `rels` of
    /// those that have the rows, and the original relations. Both lists are empty if no reaction looks back.
    of_actions: Vec<Vec<(usize, RelId)>>,
    of_events: Vec<Vec<(usize, RelId)>>,
}

/// The given rows of one world.
#[derive(Debug, Clone, Default)]
pub(super) struct GivenRows {
    pub(super) rows: Vec<SharedRows>,
    /// The replaced rows, by number, for rollback.
    pub(super) journal: Vec<(usize, SharedRows)>,
    /// The trials whose rows are up to date with the facts, one bit each.
    pub(super) fresh: u64,
}

/// A state of the given rows to return to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GivenMark {
    pub(super) journal: usize,
    pub(super) fresh: u64,
}

/// Relations as they were before an action, by number.
pub(super) type Before = Vec<(usize, SharedRows)>;

impl GivenRelations {
    pub(super) fn of(program: &Program) -> Self {
        let given = |it: &RelId| matches!(program.relation(*it).role, Role::Given(_));
        let all = (0..program.relations.len() as u16).map(RelId);
        let rels: Vec<RelId> = all.filter(given).collect();
        if rels.is_empty() {
            return Self::default();
        }
        let reads = if program.trials.is_empty() { Vec::new() } else { trials_read(program) };
        let mut relations = Self { rels, reads, ..Self::default() };
        let looks_back = |it: &RelId| relations.original(program, *it).is_some();
        if relations.rels.iter().any(looks_back) {
            let of = |event| relations.asked_for(program, event);
            let actions = program.actions.iter().map(|it| of(Event::Action(it.id))).collect();
            let events = program.events.iter().map(|it| of(Event::Raised(it.id))).collect();
            (relations.of_actions, relations.of_events) = (actions, events);
        }
        relations
    }

    /// If this relation has the rows of another from before the action: its number, and that other relation.
    fn original(&self, program: &Program, rel: RelId) -> Option<(usize, RelId)> {
        let Role::Given(Given::Before(of)) = program.relation(rel).role else { return None };
        Some((self.number(rel)?, of))
    }

    pub(super) fn number(&self, rel: RelId) -> Option<usize> {
        self.rels.iter().position(|it| *it == rel)
    }

    /// What an action or event, or its consequences, may read of the state before it.
    fn asked_for(&self, program: &Program, event: Event) -> Vec<(usize, RelId)> {
        let own = program.reactions_to(event).collect();
        let all = with_consequences(program, own, |_| true).into_iter();
        let read = all.flat_map(|it| relations_of(&it.body));
        let asked: BTreeSet<_> = read.filter_map(|it| self.original(program, it)).collect();
        asked.into_iter().collect()
    }

    /// Whether reactions read rows from before their action.
    pub(super) fn looks_back(&self) -> bool {
        !self.of_actions.is_empty()
    }

    /// What [`Self::asked_for`] has found for an action or event.
    pub(super) fn read_by(&self, event: Event) -> &[(usize, RelId)] {
        let read = match event {
            Event::Action(id) => self.of_actions.get(usize::from(id.0)),
            Event::Raised(id) => self.of_events.get(usize::from(id.0)),
            Event::Any => None,
        };
        read.map_or(&[], Vec::as_slice)
    }

    /// The trials that a relation depends on.
    #[inline]
    pub(super) fn trials(&self, rel: RelId) -> u64 {
        self.reads.get(usize::from(rel.0)).copied().unwrap_or_default()
    }
}

/// For each relation the trials that it depends on.
fn trials_read(program: &Program) -> Vec<u64> {
    let mut reads = vec![0; program.relations.len()];
    for (at, trial) in program.trials.iter().enumerate() {
        reads[usize::from(trial.rel.0)] = 1 << at;
    }
    for stratum in &program.strata {
        let rules = stratum.relations.iter().flat_map(|&it| &program.relation(it).rules);
        let read = rules.flat_map(|&it| relations_of(&program.rule(it).body));
        let all = read.fold(0, |all, it| all | reads[usize::from(it.0)]);
        for rel in &stratum.relations {
            reads[usize::from(rel.0)] |= all;
        }
    }
    reads
}

impl GivenRows {
    pub(super) fn of(relations: &GivenRelations) -> Self {
        Self { rows: vec![SharedRows::default(); relations.rels.len()], ..Self::default() }
    }

    /// Marks the rows of trials as out of date, since facts have changed.
    #[inline]
    pub(super) fn invalidate_trials(&mut self) {
        self.fresh = 0;
    }

    pub(super) fn mark(&self) -> GivenMark {
        GivenMark { journal: self.journal.len(), fresh: self.fresh }
    }

    pub(super) fn commit(&mut self) {
        self.journal.clear();
    }

    /// The given rows, by relation.
    pub(super) fn all<'h>(
        &'h self,
        relations: &'h GivenRelations,
    ) -> impl Iterator<Item = (RelId, &'h SharedRows)> + 'h {
        relations.rels.iter().copied().zip(&self.rows)
    }
}
