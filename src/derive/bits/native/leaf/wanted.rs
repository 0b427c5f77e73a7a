//! Determines what a count of leaves and the plies above it read, and whether code can be made for it.

use super::super::super::code::EffectCode;
use super::super::super::compile::{Compiled, Mode, ReactionPlan};
use super::super::super::layout::Store;
use super::super::super::machine::{Inst, KeptId};
use super::super::super::planner::owner_place;
use super::super::super::word::Word;
use super::super::flow;
use super::after::{spawned, written};
use super::mirrors::repeated;
use super::scans::Tables;
use super::{Ply, UNROLLED};
use crate::derive::leaves::Leaves;
use crate::facts::{AttrId, NEXT_ENTITY};
use crate::rules::{Input, RelId, Role, relations_of};

/// What the functions of one ply have to do.
pub(super) struct Wanted {
    /// The attributes whose writes matter.
    pub(super) attrs: Vec<AttrId>,
    /// The relations that are kept up to date, in their order.
    pub(super) kept_ids: Vec<KeptId>,
    /// By reaction, as numbered in the code, whether a solution of it does more than write facts and create entities.
    /// Actions with such a solution are taken.
    pub(super) does_more: Vec<bool>,
    /// By reaction, whether it has to be solved: it writes something that is read, creates entities, or does more.
    pub(super) matters: Vec<bool>,
}

impl Wanted {
    /// What the functions of a ply have to do; `Err` says why code cannot be made for it.
    pub(super) fn of<W: Word>(
        c: &Compiled<W>,
        leaves: &Leaves,
        ply: Ply,
        tables: &Tables,
    ) -> Result<Self, String> {
        let straight = |start: u32| check_straight(c, tables, start);
        let does_more = does_more(c, leaves);
        let reads = reads(c, leaves, ply, &does_more);
        let mut kept_ids = Vec::new();
        for (kept_id, kept) in (0..).zip(&c.maintained) {
            if !reads[usize::from(kept.rel.0)] {
                continue;
            }
            if kept.stride > UNROLLED {
                return Err(format!("{} has blocks of too many rows", name(c, kept.rel)));
            }
            kept.recursive.map_or(Ok(()), straight)?;
            straight(kept.derive)?;
            kept_ids.push(kept_id);
        }
        for (rel, is_read) in (0..).map(RelId).zip(&reads) {
            if *is_read {
                check_mode(c, rel)?;
            }
        }
        let attrs = attrs(c, leaves, &reads, &does_more)?;
        for &attr in &attrs {
            for &(rel, _) in &c.inputs[usize::from(attr.0)] {
                c.readers[usize::from(rel.0)].stretches().try_for_each(straight)?;
            }
        }
        for &kept_id in &kept_ids {
            let rel = c.maintained[usize::from(kept_id)].rel;
            c.readers[usize::from(rel.0)].stretches().try_for_each(straight)?;
        }
        asked_for(leaves).try_for_each(|it| check_store(c, it))?;
        let codes = 0..c.code.effects.len() as u32;
        let matters = codes.map(|it| matters(c, it, &does_more, &reads)).collect();
        Ok(Self { attrs, kept_ids, does_more, matters })
    }
}

fn name<W>(c: &Compiled<W>, rel: RelId) -> &str {
    &c.program.relation(rel).name
}

/// Checks that code can derive a relation, or need not.
fn check_mode<W>(c: &Compiled<W>, rel: RelId) -> Result<(), String> {
    let at = usize::from(rel.0);
    match (&c.modes[at], &c.stores[at]) {
        (Mode::Given | Mode::Block { .. } | Mode::Tuple { .. }, _) => {}
        // Lists of the session are empty here: code that would add a tuple to one gives up instead, as it does where it
        // comes to an instruction that only the interpreter carries out.
        (Mode::OnDemand { .. }, Store::Dense(_) | Store::Sparse(_)) => {}
        _ => return Err(format!("{} is derived by a fixpoint", name(c, rel))),
    }
    match c.program.relation(rel).role {
        Role::Given(_) => Err(format!("{} is given by the engine", name(c, rel))),
        _ => Ok(()),
    }
}

/// Checks that a relation can be counted: it is stored as rows, or known to be empty.
fn check_store<W>(c: &Compiled<W>, rel: RelId) -> Result<(), String> {
    let is_empty = || c.known[usize::from(rel.0)].as_deref().is_none_or(|it| it.len() == 0);
    match c.stores[usize::from(rel.0)] {
        Store::Dense(_) => Ok(()),
        Store::Static if is_empty() => Ok(()),
        _ => Err(format!("{} is not kept as rows", name(c, rel))),
    }
}

/// See [`Wanted::does_more`].
fn does_more<W>(c: &Compiled<W>, leaves: &Leaves) -> Vec<bool> {
    // No entity that code creates is noted in the counter of ids.
    let reads_ids = !c.inputs[usize::from(NEXT_ENTITY.0)].is_empty();
    let is_more = |it: &EffectCode| match it {
        EffectCode::Spawn { .. } => reads_ids,
        EffectCode::Raise { event, .. } => !leaves.idle[usize::from(event.0)],
        EffectCode::Write { .. } | EffectCode::Remove { .. } => false,
        _ => true,
    };
    c.code.effects.iter().map(|it| it.effects.iter().any(is_more)).collect()
}

/// The relations that are counted or tested.
fn asked_for(leaves: &Leaves) -> impl Iterator<Item = RelId> {
    let counted = leaves.counted.iter().map(|it| it.1);
    counted.chain(leaves.odd.iter().copied()).chain([leaves.over])
}

/// By relation, whether the count depends on it, or a reaction after the first batch whose writes matter; above the last
/// ply, also whether such a reaction of the first batch does, since actions follow.
fn reads<W: Word>(c: &Compiled<W>, leaves: &Leaves, ply: Ply, does_more: &[bool]) -> Vec<bool> {
    let skipped = match ply {
        Ply::Last => 1,
        Ply::Above => 0,
    };
    let batches = leaves.batches.iter().flatten();
    let mut rest: Vec<&ReactionPlan> =
        batches.flat_map(|it| c.batches[it.clone()].iter().skip(skipped).flatten()).collect();
    let mut reads = vec![false; c.program.relations.len()];
    asked_for(leaves).for_each(|it| add_read(c, it, &mut reads));
    // What a reaction reads may be what another one writes.
    loop {
        let (matter, others): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|it| matters(c, it.code, does_more, &reads));
        if matter.is_empty() {
            return reads;
        }
        for plan in matter {
            let reaction = c.code.effects[plan.code as usize].reaction;
            let read = relations_of(&c.program.reactions[reaction].body);
            read.into_iter().for_each(|it| add_read(c, it, &mut reads));
        }
        rest = others;
    }
}

/// See [`Wanted::matters`]; `code` is the reaction's number in the code.
fn matters<W: Word>(c: &Compiled<W>, code: u32, does_more: &[bool], reads: &[bool]) -> bool {
    does_more[code as usize]
        || spawned(&c.code.effects[code as usize]).next().is_some()
        || written(c, code).is_none_or(|it| it.iter().any(|it| is_read(c, *it, reads)))
}

/// Whether an input of an attribute is read.
fn is_read<W>(c: &Compiled<W>, attr: AttrId, reads: &[bool]) -> bool {
    c.inputs[usize::from(attr.0)].iter().any(|it| reads[usize::from(it.0.0)])
}

/// Adds a relation, and all that it depends on, to those that are read.
fn add_read<W: Word>(c: &Compiled<W>, rel: RelId, reads: &mut [bool]) {
    let mut open = vec![rel];
    while let Some(rel) = open.pop() {
        if !std::mem::replace(&mut reads[usize::from(rel.0)], true) {
            for &rule in &c.program.relation(rel).rules {
                open.extend(relations_of(&c.program.rule(rule).body));
            }
            open.extend(repeated(c, rel));
        }
    }
}

/// The attributes that actions write or clear and whose inputs are read.
fn attrs<W: Word>(
    c: &Compiled<W>,
    leaves: &Leaves,
    reads: &[bool],
    does_more: &[bool],
) -> Result<Vec<AttrId>, String> {
    let mut found: Vec<AttrId> = leaves.cleared.clone();
    let all = || c.program.schema.attribute_ids().collect::<Vec<_>>();
    for batches in leaves.batches.iter().flatten() {
        for plan in c.batches[batches.clone()].iter().flatten() {
            if !does_more[plan.code as usize] {
                found.extend(written(c, plan.code).unwrap_or_else(all));
            }
        }
    }
    found.sort_unstable_by_key(|it| it.0);
    found.dedup();
    // What was so before an action is copied, not written.
    found.retain(|it| is_read(c, *it, reads) && !c.program.is_before(*it));
    let expiry = &c.program.expiry;
    let attribute = |it: AttrId| &c.program.schema.attribute(it).name;
    // Anything may have stated them, not the counted actions alone.
    if let Some(attr) = expiry.until_turn.iter().find(|it| is_read(c, **it, reads)) {
        return Err(format!("facts of {} expire with the turn", attribute(*attr)));
    }
    for attr in &found {
        if expiry.until_action.contains(attr) && !c.program.is_of_the_game(*attr) {
            return Err(format!("facts of {} expire, of every entity", attribute(*attr)));
        }
        for &(rel, _) in &c.inputs[usize::from(attr.0)] {
            if let Role::Input(Input::List(..)) = c.program.relation(rel).role {
                return Err(format!("{} is a list of values", name(c, rel)));
            }
        }
    }
    Ok(found)
}

/// Checks that code can be made for a stretch that runs for most actions: it has no instruction that only the
/// interpreter carries out.
fn check_straight<W: Word>(c: &Compiled<W>, tables: &Tables, start: u32) -> Result<(), String> {
    let (start, end) = (start as usize, flow::end(&c.machine, start));
    let is_interpreted = |inst: &Inst| match inst {
        Inst::Scan { scan, .. } | Inst::TestScan { scan, .. } => !tables.knows(*scan),
        _ => inst.needs_interpreter(),
    };
    let Some(at) = (start..end).find(|it| is_interpreted(&c.machine.insts[*it])) else {
        return Ok(());
    };
    let inst = c.machine.insts[at];
    let place = owner_place(&c.program, c.machine.owner[at]);
    Err(format!("{place}: only the interpreter carries out {inst:?}"))
}
