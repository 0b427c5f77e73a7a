//! The order in which reactions run: batches by stage and owner, and which of them may be merged.
//!
//! Deliberately absent: running them (`transaction`).

use std::ops::Range;

use super::given::GivenRelations;
use crate::rules::{
    ActionId, Attributes, Dependencies, Effect, Event, Program, relations_of, writes,
};

/// Reactions whose bodies are solved on the same facts, in the order in which their effects are applied.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Batch {
    /// Indexes into the program's reactions.
    pub(super) reactions: Vec<usize>,
    /// Whether it reads only the current state, and its effects are only writes of facts.
    pub(super) plain: bool,
    /// Whether it creates entities.
    pub(super) spawns: bool,
    /// Whether it reads the state from before the action.
    pub(super) looks_back: bool,
    /// Whether it reads attributes whose facts last until an action.
    pub(super) reads_until_action: bool,
    /// The trials that it depends on, one bit each.
    pub(super) trials: u64,
}

impl Batch {
    fn new(
        program: &Program,
        given: &GivenRelations,
        depends: &Dependencies,
        reactions: Vec<usize>,
    ) -> Self {
        let mut until_action = Attributes::default();
        program.expiry.until_action.iter().for_each(|it| until_action.insert(*it));
        let effects = || reactions.iter().flat_map(|&it| &program.reactions[it].effects);
        let bodies = || reactions.iter().map(|&it| &program.reactions[it].body);
        let looks_back = bodies().any(|it| program.reads_before(it));
        let read = bodies().flat_map(relations_of);
        Self {
            plain: effects().all(is_plain) && !looks_back,
            spawns: effects().any(is_spawn),
            looks_back,
            reads_until_action: bodies().any(|it| depends.reads_of(it).intersects(&until_action)),
            trials: read.fold(0, |all, it| all | given.trials(it)),
            reactions,
        }
    }
}

/// The batches of every action and event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Schedule {
    pub(super) batches: Vec<Batch>,
    actions: Vec<Range<usize>>,
    /// By action: the first batch after those that are played out. It may be one past the action's last
    /// batch, if merging has left no later one; `usize::MAX` if all reactions are played out.
    cuts: Vec<usize>,
    events: Vec<Range<usize>>,
}

impl Schedule {
    /// The batches as the language defines them.
    pub(super) fn unmerged(
        program: &Program,
        given: &GivenRelations,
        depends: &Dependencies,
    ) -> Self {
        Self::build(program, given, depends, |batches| batches)
    }

    /// The same with fewer batches: reactions that can never do anything are left out, and consecutive
    /// batches are merged if the later one reads nothing that the earlier one writes, and creates no entity.
    pub(super) fn merged(
        program: &Program,
        given: &GivenRelations,
        depends: &Dependencies,
    ) -> Self {
        Self::build(program, given, depends, |batches| merge(program, depends, batches))
    }

    fn build(
        program: &Program,
        given: &GivenRelations,
        depends: &Dependencies,
        shape: impl Fn(Vec<Vec<usize>>) -> Vec<Vec<usize>>,
    ) -> Self {
        let mut schedule = Self {
            batches: Vec::new(),
            actions: Vec::new(),
            cuts: vec![usize::MAX; program.actions.len()],
            events: Vec::new(),
        };
        let mut add = |event: Event| {
            let start = schedule.batches.len();
            let (tried, later) = parted(program, event);
            let (tried, goes_on) = (shape(tried), !later.is_empty());
            let later = shape(later);
            if let (Event::Action(id), true) = (event, goes_on) {
                schedule.cuts[usize::from(id.0)] = start + tried.len();
            }
            let all = tried.into_iter().chain(later);
            schedule.batches.extend(all.map(|it| Batch::new(program, given, depends, it)));
            start..schedule.batches.len()
        };
        let actions = program.actions.iter().map(|it| add(Event::Action(it.id))).collect();
        let events = program.events.iter().map(|it| add(Event::Raised(it.id))).collect();
        Self { actions, events, ..schedule }
    }

    /// The first batch after those that are played out; `usize::MAX` if all are.
    pub(super) fn cut(&self, action: ActionId) -> usize {
        self.cuts[usize::from(action.0)]
    }

    /// The batches of an action or event, in their order.
    pub(super) fn of(&self, event: Event) -> Range<usize> {
        match event {
            Event::Action(id) => self.actions[usize::from(id.0)].clone(),
            Event::Raised(id) => self.events[usize::from(id.0)].clone(),
            Event::Any => 0..0,
        }
    }
}

fn is_plain(effect: &Effect) -> bool {
    matches!(effect, Effect::Set { .. } | Effect::Retract { .. } | Effect::Remove { .. })
}

fn is_spawn(effect: &Effect) -> bool {
    matches!(effect, Effect::Spawn { .. })
}

/// The batches of an action or event: by stage, then by owner. In each the reactions are in text order.
fn batches(program: &Program, event: Event) -> Vec<Vec<usize>> {
    let all = program.reactions.iter().enumerate().filter(|(_, it)| it.event.includes(event));
    let mut keyed: Vec<_> = all.map(|(at, it)| ((it.stage, it.owner), at)).collect();
    keyed.sort();
    let groups = keyed.chunk_by(|a, b| a.0 == b.0);
    groups.map(|it| it.iter().map(|it| it.1).collect()).collect()
}

/// The batches of an action that are played out, and those of later stages.
fn parted(program: &Program, event: Event) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
    let all = batches(program, event);
    let until = match event {
        Event::Action(id) => program.action(id).until,
        Event::Any | Event::Raised(_) => None,
    };
    let Some(until) = until else { return (all, Vec::new()) };
    let stage = |it: &Vec<usize>| it.first().map(|&it| program.reactions[it].stage);
    all.into_iter().partition(|it| stage(it) <= Some(until))
}

fn merge(program: &Program, depends: &Dependencies, batches: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut merged: Vec<Vec<usize>> = Vec::new();
    let mut written = Attributes::default();
    // Whether the next reactions may join the last batch.
    let mut open = false;
    for batch in batches {
        let can_act = |it: &usize| depends.can_hold(&program.reactions[*it].body);
        let batch: Vec<usize> = batch.into_iter().filter(can_act).collect();
        if batch.is_empty() {
            continue;
        }
        let reactions = || batch.iter().map(|&it| &program.reactions[it]);
        let reads_written = reactions().any(|it| depends.reads_of(&it.body).intersects(&written));
        // Called code may read anything. A new entity's id must not have been mentioned by a fact since the
        // action began, so all earlier writes matter.
        let is_call = |it: &Effect| matches!(it, Effect::Call { .. });
        let sees_all =
            reactions().any(|it| it.effects.iter().any(|it| is_call(it) || is_spawn(it)));
        if !open || reads_written || sees_all {
            merged.push(Vec::new());
            written = Attributes::default();
        }
        reactions().for_each(|it| written.extend(&writes(program, it)));
        // Later reactions are another batch where events are to be handled before them, or they may be left out (`stop`,
        // `rewind`) or get other arguments (`pass`).
        let ends = |it: &Effect| {
            use Effect::{Pass, Raise, Rewind, Stop};
            is_call(it) || matches!(it, Raise { .. } | Stop | Pass { .. } | Rewind { .. })
        };
        open = !reactions().any(|it| it.effects.iter().any(ends));
        if let Some(last) = merged.last_mut() {
            last.extend(batch);
        }
    }
    merged
}
