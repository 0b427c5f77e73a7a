//! Links all plans into one compiled program: rows get their final addresses, plans become stretches of instructions,
//! and each relation gets its readers.
//!
//! Deliberately absent: planning (the other parts of `compile`), and the instructions (`assemble`).

use std::sync::{Arc, OnceLock};

use foldhash::{HashMap, HashMapExt};

use super::super::assemble::Assembler;
use super::super::code::{Address, LoopEmit, Op, Reg, RowSource, Space};
use super::super::error::PlanError;
use super::super::layout::{Layout, Store};
use super::super::machine::{Demanded, KeptId};
use super::super::planner::Code;
use super::super::word::Word;
use super::{
    Compiled, Compiler, Delta, DeltaKind, Maintained, Mode, OnDemand, ReactionPlan, Readers,
};
use crate::derive::budget::{BIT_ROWS, SESSION_BYTES};
use crate::derive::schedule::Schedule;
use crate::rules::{Dependencies, Program, RelId, Role};

impl<W: Word> Compiler<'_, W> {
    /// The compiled program. Beside the plans of relations it gets those that belong to none: of reactions, and of
    /// tuples that may hold without any fact.
    pub(super) fn link(
        self,
        schedule: &Schedule,
        depends: &Dependencies,
        mut reactions: Vec<Option<ReactionPlan>>,
        candidates: &[(RelId, Vec<u32>)],
    ) -> Result<Compiled<W>, PlanError> {
        let (needs, unprompted) = (self.needs(), self.unprompted());
        let Self { program, planner, modes, deltas, maintained, mut general, .. } = self;
        let mut layout = planner.layout;
        within_limits(&layout, program)?;
        layout.check_orders()?;
        let mut code = planner.code;
        layout.fill_tables(program, code.static_rows());
        shift_frames(&mut code, &mut layout);
        let kept_ids = kept_ids(program, &maintained);
        let mut assembler = Assembler::new(program, &code, &kept_ids);
        let derive = assemble_modes(&mut assembler, &modes, &layout.stores)?;
        let recursive = assemble_rounds(&mut assembler, &modes)?;
        let schedules = schedules(&mut assembler, &modes, &layout.stores, &derive, &needs);
        let readers = deltas
            .iter()
            .map(|it| readers(&mut assembler, it, &kept_ids))
            .collect::<Result<_, _>>()?;
        for fixpoint in &mut general {
            fixpoint.assemble(&mut assembler)?;
        }
        for plan in reactions.iter_mut().flatten() {
            plan.pc = assembler.given(plan.plans.iter().map(of_tuple))?;
        }
        let mut starts: HashMap<RelId, u32> = HashMap::new();
        for (rel, plans) in candidates {
            starts.insert(*rel, assembler.stretch(plans)?);
        }
        let batches = by_batch(schedule, reactions, &needs);
        let machine = assembler.machine;
        let kept = |&rel: &RelId| {
            let at = usize::from(rel.0);
            let Store::Dense(dense) = &layout.stores[at] else { return None };
            Some(Maintained {
                rel,
                by_block: matches!(modes[at], Mode::Block { .. }),
                base: dense.base,
                stride: dense.stride(),
                support: dense.support.unwrap_or(dense.base),
                index: layout.indexes.get(&rel).copied(),
                derive: derive[at],
                recursive: recursive[at],
                candidates: starts.get(&rel).copied(),
            })
        };
        let maintained = maintained.iter().filter_map(kept).collect();
        let indexes = (0..program.relations.len())
            .map(|it| layout.indexes.get(&RelId(it as u16)).copied())
            .collect();
        Ok(Compiled {
            inputs: inputs(program),
            list_relations: list_relations(&layout.stores),
            affected: affected(program, depends),
            code,
            statics: layout.statics,
            known: layout.known,
            stores: layout.stores,
            modes,
            readers,
            machine,
            derive,
            schedules,
            maintained,
            unprompted,
            needs,
            batches,
            general,
            indexes,
            estimates: planner.estimates,
            orders: layout.orders,
            list_is_static: layout.list_is_static,
            kept_rows: layout.kept_rows as usize,
            kept_funs: layout.kept_funs as usize,
            frame_rows: layout.frame_rows as usize,
            native: OnceLock::new(),
            program: Arc::clone(program),
        })
    }
}

/// Checks the size of a session.
///
/// # Errors
/// Its rows are too many, or take too many bytes.
fn within_limits<W>(layout: &Layout<W>, program: &Program) -> Result<(), PlanError> {
    let rows = layout.kept_rows as usize + layout.frame_rows as usize;
    let bytes = rows * size_of::<W>();
    for (needed, of, most) in [(rows, "rows of bits", BIT_ROWS), (bytes, "bytes", SESSION_BYTES)] {
        if needed > most {
            let widest = program.schema.domains().iter().max_by_key(|it| it.size());
            let widest = widest.map(|it| format!("{} has {} members", it.name, it.size()));
            let what = format!(
                "its relations need {needed} {of}, and {most} are the most: take fewer relations, or fewer members of the \
                 largest domain ({}), for each of which a row has a bit",
                widest.unwrap_or_default()
            );
            return Err(PlanError::TooLarge { place: "the program".into(), what });
        }
    }
    Ok(())
}

/// The number of each maintained relation; others have none.
fn kept_ids(program: &Program, maintained: &[RelId]) -> Vec<KeptId> {
    let mut kept_ids = vec![KeptId::MAX; program.relations.len()];
    for (kept_id, rel) in (0..).zip(maintained) {
        kept_ids[usize::from(rel.0)] = kept_id;
    }
    kept_ids
}

/// Frames come after the kept rows, whose number is known only now.
fn shift_frames<W>(code: &mut Code, layout: &mut Layout<W>) {
    let by = layout.kept_rows;
    let shift = |address: &mut Address| {
        if address.space == Space::Frame {
            address.base += by;
        }
    };
    for op in &mut code.ops {
        match op {
            Op::TestBit { row, .. } | Op::Fix { row, .. } | Op::Chase { row, .. } => shift(row),
            Op::EmitRow { row, support, .. }
            | Op::EmitBit { row, support, .. }
            | Op::LoopEmit(LoopEmit { row, support, .. }) => {
                shift(row);
                if let Some(support) = support
                    && support.space == Space::Frame
                {
                    support.base += by;
                }
            }
            _ => {}
        }
    }
    for term in &mut code.rows {
        if let RowSource::At(address) = &mut term.row {
            shift(address);
        }
    }
    for store in &mut layout.stores {
        if let Store::Dense(dense) = store
            && dense.space == Space::Frame
        {
            dense.base += by;
            dense.support = dense.support.map(|it| it + by);
        }
    }
}

/// By relation, the stretch of all its rules; `u32::MAX` for those that are given or derived by a fixpoint.
fn assemble_modes(
    assembler: &mut Assembler<'_>,
    modes: &[Mode],
    stores: &[Store],
) -> Result<Vec<u32>, PlanError> {
    let stretch = |(at, mode): (usize, &Mode)| match mode {
        Mode::Given | Mode::General { .. } => Ok(u32::MAX),
        Mode::OnDemand { rules } => match entry(at, &stores[at]) {
            Some(entry) => assembler.relation(entry, rules),
            None => assembler.stretch(rules),
        },
        Mode::Block { rules, fixes } => assembler.given(rules.iter().chain(fixes).map(of_block)),
        Mode::Tuple { checks } => assembler.given(checks.iter().map(of_tuple)),
    };
    modes.iter().enumerate().map(stretch).collect()
}

/// By relation, the stretch of its recursive rules alone, if it is kept by block and has several of them.
fn assemble_rounds(
    assembler: &mut Assembler<'_>,
    modes: &[Mode],
) -> Result<Vec<Option<u32>>, PlanError> {
    let stretch = |mode: &Mode| match mode {
        Mode::Block { fixes, .. } if fixes.len() > 1 => {
            assembler.given(fixes.iter().map(of_block)).map(Some)
        }
        _ => Ok(None),
    };
    modes.iter().map(stretch).collect()
}

/// A plan about one block: the register that takes it, and where the plan begins.
fn of_block((reg, pc): &(Reg, u32)) -> (&[Reg], u32) {
    (std::slice::from_ref(reg), *pc)
}

/// A plan about one tuple, in the same way.
fn of_tuple((regs, pc): &(Vec<Reg>, u32)) -> (&[Reg], u32) {
    (regs, *pc)
}

/// The entry of a relation derived on demand, if it is stored as rows.
fn entry(at: usize, store: &Store) -> Option<Demanded> {
    let Store::Dense(dense) = store else { return None };
    let (base, stride, support) = (dense.base, dense.stride(), dense.support);
    Some(Demanded { rel: at as u16, base, stride, support, len: 0 })
}

/// Minimum number of relations derived in one stretch, the one that is read included; fewer are derived one by one.
const MIN_SCHEDULED: usize = 4;

/// By relation, one stretch for all that it needs on demand, if these are many relations and all are stored as rows.
fn schedules<'n>(
    assembler: &mut Assembler<'_>,
    modes: &[Mode],
    stores: &[Store],
    derive: &[u32],
    needs: &'n [Vec<RelId>],
) -> Vec<Option<OnDemand>> {
    let start = |rel: &RelId| {
        let at = usize::from(rel.0);
        let is_rows = matches!((&modes[at], &stores[at]), (Mode::OnDemand { .. }, Store::Dense(_)));
        is_rows.then_some(derive[at])
    };
    let mut known: HashMap<&'n [RelId], u32> = HashMap::new();
    let mut schedule = |at: usize, all: &'n [RelId]| {
        let starts: Vec<u32> = all.iter().map(start).collect::<Option<_>>()?;
        let start = *known.entry(all).or_insert_with(|| assembler.chain(&starts));
        let others = all.iter().map(|it| usize::from(it.0)).filter(|it| *it != at);
        Some(OnDemand { start, before: bits(needs.len(), others) })
    };
    let numbered = needs.iter().enumerate();
    numbered.map(|(at, all)| (all.len() >= MIN_SCHEDULED).then(|| schedule(at, all))?).collect()
}

/// The readers of a relation, from the deltas; their plans become stretches.
fn readers(
    assembler: &mut Assembler<'_>,
    deltas: &[Delta],
    kept_ids: &[KeptId],
) -> Result<Readers, PlanError> {
    let mut readers = Readers::default();
    let mut once: Vec<(&[Reg], u32)> = Vec::new();
    let mut each: Vec<(&[Reg], u32)> = Vec::new();
    for (at, delta) in deltas.iter().enumerate() {
        if deltas[..at].contains(delta) {
            continue;
        }
        let kept_id = kept_ids[usize::from(delta.reader.0)];
        match &delta.what {
            DeltaKind::Block { col: 0, guards } => {
                readers.blocks.push((kept_id, guards.iter().copied().collect()));
            }
            DeltaKind::Block { col, guards } => {
                readers.others.push((kept_id, *col, guards.iter().copied().collect()));
            }
            DeltaKind::Run { regs, pc, last: false } => once.push((regs, *pc)),
            DeltaKind::Run { regs, pc, last: true } => each.push((regs, *pc)),
        }
    }
    if !once.is_empty() {
        readers.once = Some(assembler.given(once)?);
    }
    if !each.is_empty() {
        readers.each = Some(assembler.given(each)?);
    }
    Ok(readers)
}

/// Reactions by batch, each with all that must be derived on demand before it is solved.
fn by_batch(
    schedule: &Schedule,
    mut plans: Vec<Option<ReactionPlan>>,
    needs: &[Vec<RelId>],
) -> Vec<Vec<ReactionPlan>> {
    for plan in plans.iter_mut().flatten() {
        let mut all = Vec::new();
        for rel in &plan.needs {
            for need in &needs[usize::from(rel.0)] {
                if !all.contains(need) {
                    all.push(*need);
                }
            }
        }
        plan.needs = all;
    }
    let batches = schedule.batches.iter().map(|it| it.reactions.iter());
    batches.map(|it| it.filter_map(|&at| plans[at].clone()).collect()).collect()
}

/// By attribute, the inputs that read it, each with the place of the attribute among those that the input reads.
fn inputs(program: &Program) -> Vec<Vec<(RelId, u16)>> {
    let mut inputs = vec![Vec::new(); program.schema.attributes().len()];
    for (at, relation) in program.relations.iter().enumerate() {
        if let Role::Input(input) = &relation.role {
            for (member, attr) in (0..).zip(input.attrs()) {
                inputs[usize::from(attr.0)].push((RelId(at as u16), member));
            }
        }
    }
    inputs
}

/// By attribute, the relations whose rows may depend on it, one bit each.
fn affected(program: &Program, depends: &Dependencies) -> Vec<Vec<u64>> {
    let n = program.relations.len();
    let of = |attr| bits(n, (0..n).filter(|&it| depends.reads(RelId(it as u16)).contains(attr)));
    program.schema.attribute_ids().map(of).collect()
}

/// The relations that are stored as lists, one bit each.
fn list_relations(stores: &[Store]) -> Vec<u64> {
    let n = stores.len();
    bits(n, (0..n).filter(|&it| matches!(stores[it], Store::Sparse(_))))
}

/// A set of numbers below `n`, one bit each.
fn bits(n: usize, numbers: impl Iterator<Item = usize>) -> Vec<u64> {
    let mut bits = vec![0; n.div_ceil(64)];
    numbers.for_each(|it| bits[it / 64] |= 1 << (it % 64));
    bits
}
