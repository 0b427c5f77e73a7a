//! From a checked program to plans: what is empty, what is known at load, what is maintained, what
//! is derived on demand.
//!
//! * A relation without clauses is empty; literals on it fall away before planning.
//! * A relation that depends on statics alone is computed here, once.
//! * A relation that an action needs, and that does not depend on a fact of the game itself that
//!   reactions change (the side to move, a counter), is maintained: by block if its first column is an entity, else by
//!   tuple.
//! * Everything else is derived on demand, from scratch.

mod deltas;
mod modes;
mod reactions;
mod settle;
mod solve;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use super::super::schedule::Schedule;
use crate::rules::{Effect, Input, Literal, Program, RelId, Role, Rule, Term, Type, relations_of};

use super::super::budget::{BIT_ROWS, SESSION_BYTES};
use super::super::rows::Tuple;
use super::assemble::Assembler;
use super::code::{Address, Op, Reg, RowSource, Space, StoreId};
use super::fuel::Fuel;
use super::general::{self};
use super::inline::Rules;
use super::layout::{Layout, Statics, Store, size};
use super::leaves::LeafPlan;
use super::lists::{Fixed, Sparse};
use super::machine::{Demanded, Inst, Machine, Turn};
use super::memo::Memo;
use super::native::Native;
use super::planner::{Code, PlanError, Planner};
use super::word::Word;

/// How the rows of a relation are computed.
#[derive(Debug, Clone)]
pub(super) enum Mode {
    /// An input, a static, or empty: nothing to do.
    Given,
    /// Cleared and derived when asked for.
    Scratch { rules: Vec<u32> },
    /// Derived with its whole stratum by the semi-naive fixpoint of `general.rs`.
    General { stratum: usize },
    /// Maintained: a block (all rows of one value of the first column) is derived again when it may have
    /// changed. `fixes` are its recursive rules: each runs until it adds nothing to a row by itself.
    Block { rules: Vec<(Reg, u32)>, fixes: Vec<(Reg, u32)> },
    /// Maintained: a tuple is checked again when it may have changed.
    Tuple { checks: Vec<(Vec<Reg>, u32)> },
}

/// What a changed tuple of one relation means for another, maintained one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Delta {
    pub(super) consumer: RelId,
    pub(super) what: DeltaKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum DeltaKind {
    /// The consumer's block is the value of this column, if these kept rows have it: what else the
    /// rule asks of the block. Should they get it later, they tell so themselves.
    Block { col: usize, guards: Vec<u32> },
    /// Run the plan with the tuple in these registers; `last`: the last column matters.
    Run { regs: Vec<Reg>, pc: u32, last: bool },
}

/// All that a relation needs, itself included, as one stretch.
#[derive(Debug, Clone)]
pub(super) struct OnDemand {
    pub(super) start: u32,
    /// The others: a bit each.
    pub(super) before: Vec<u64>,
}

/// A maintained relation as it is kept up to date.
#[derive(Debug, Clone, Copy)]
pub(super) struct Maintained {
    pub(super) rel: RelId,
    pub(super) by_block: bool,
    pub(super) base: u32,
    /// Rows of a block.
    pub(super) stride: u32,
    pub(super) support: u32,
    pub(super) index: Option<u32>,
    pub(super) derive: u32,
    /// Where the stretch begins of all its recursive rules, if a block has several: each may give
    /// the others new rows to start from, so they run until nothing is new.
    pub(super) again: Option<u32>,
    /// Where the stretch begins that finds what may hold without any fact, if it is kept by tuple.
    pub(super) candidates: Option<u32>,
}

/// Maintained rows that a block must be in to be of concern.
pub(super) type Guards = SmallVec<[u32; 2]>;

/// Whom a relation tells of a tuple that comes or goes.
#[derive(Debug, Clone, Default)]
pub(super) struct Readers {
    /// Consumers whose block is the first column, with guards.
    pub(super) blocks: Vec<(Turn, Guards)>,
    /// The same for another column.
    pub(super) others: Vec<(Turn, usize, Guards)>,
    /// Plans that need not know the last column, and those that do.
    pub(super) once: Option<u32>,
    pub(super) each: Option<u32>,
}

impl Readers {
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.is_by_block()
    }

    /// No reader wants to know the tuples that changed, beyond the first column.
    pub(super) fn is_by_block(&self) -> bool {
        self.others.is_empty() && self.once.is_none() && self.each.is_none()
    }
}

/// A reaction's plan: the registers of its parameters, and the relations it reads on demand.
#[derive(Debug, Clone)]
pub(super) struct ReactionPlan {
    pub(super) params: Vec<Reg>,
    pub(super) pc: u32,
    /// Its effects, by number in the code.
    pub(super) code: u32,
    pub(super) needs: Vec<RelId>,
}

/// A program compiled for rows of one width.
#[derive(Debug)]
pub(super) struct Compiled<W> {
    pub(super) program: Arc<Program>,
    pub(super) code: Code,
    pub(super) statics: Statics<W>,
    pub(super) known: Vec<Option<Arc<Fixed>>>,
    pub(super) stores: Vec<Store>,
    pub(super) modes: Vec<Mode>,
    pub(super) readers: Vec<Readers>,
    pub(super) machine: Machine,
    /// Where the stretch begins that derives a relation, or a block, or checks a tuple of it.
    pub(super) derive: Vec<u32>,
    /// Where the stretch begins that derives all that a relation needs, itself included.
    pub(super) schedules: Vec<Option<OnDemand>>,
    /// Maintained relations by their turn, each after those that it reads.
    pub(super) maintained: Vec<Maintained>,
    /// Those of them that may hold without any fact.
    pub(super) unprompted: Vec<Turn>,
    /// For each relation, what must be derived on demand before it is read, itself included.
    pub(super) needs: Vec<Vec<RelId>>,
    pub(super) inputs: Vec<Vec<(RelId, u16)>>,
    /// By batch of the schedule.
    pub(super) batches: Vec<Vec<ReactionPlan>>,
    pub(super) general: Vec<general::Fixpoint>,
    pub(super) indexes: Vec<Option<u32>>,
    /// What the planner expected, by relation.
    pub(super) estimates: Vec<f64>,
    pub(super) orders: Vec<Vec<Vec<u8>>>,
    pub(super) list_is_static: Vec<bool>,
    /// Relations kept as lists: a bit each.
    pub(super) list_relations: Vec<u64>,
    pub(super) kept_rows: usize,
    pub(super) kept_funs: usize,
    pub(super) frame_rows: usize,
    /// The instructions as machine code, once a session was busy enough to ask for it.
    pub(super) native: OnceLock<Option<Native>>,
    /// Machine code for counting leaves, once that was asked for.
    pub(super) leaf_plan: OnceLock<LeafPlan>,
}

/// Operation counts of reactions follow those of rules.
pub(super) fn reaction_owner(program: &Program, reaction: usize) -> u32 {
    (program.rules.len() + reaction) as u32
}

pub(super) fn compile<W: Word>(
    program: Arc<Program>,
    schedule: &Schedule,
    memo: Memo,
) -> Result<Compiled<W>, PlanError> {
    memo.trim();
    let shared = program.as_ref();
    let rules = super::inline::inlined(shared);
    let mut compiler = Compiler {
        program: shared,
        rules: &rules,
        planner: Planner::<W>::new(shared),
        modes: vec![Mode::Given; shared.relations.len()],
        live: vec![Vec::new(); shared.relations.len()],
        volatile: vec![false; shared.relations.len()],
        hot: BTreeSet::new(),
        deltas: vec![Vec::new(); shared.relations.len()],
        maintained: Vec::new(),
        general: Vec::new(),
        memo,
        ids: vec![0; shared.relations.len()],
        static_rows: 0,
        fuel: Fuel::new(),
    };
    compiler.inputs();
    compiler.prune_and_settle()?;
    compiler.fuel.pay(0);
    compiler.place();
    compiler.plan_relations()?;
    compiler.plan_deltas()?;
    let reactions = compiler.plan_reactions()?;
    let needs = compiler.needs();
    let unprompted = compiler.unprompted();
    let candidates = compiler.plan_candidates()?;
    let Compiler { planner, modes, deltas, maintained, mut general, .. } = compiler;
    let mut layout = planner.layout;
    let rows = layout.kept_rows as usize + layout.frame_rows as usize;
    if rows > BIT_ROWS {
        let what = format!("its relations need {rows} rows of bits; a session has {BIT_ROWS}");
        return Err(PlanError::TooLarge { place: "the program".into(), what });
    }
    let bytes = rows * size_of::<W>();
    if bytes > SESSION_BYTES {
        let what = format!("its relations need {bytes} bytes; a session has {SESSION_BYTES}");
        return Err(PlanError::TooLarge { place: "the program".into(), what });
    }
    layout.check_orders()?;
    let mut code = planner.code;
    layout.fill_tables(&program, code.static_rows());
    shift_frames(&mut code, &mut layout);
    let mut turns = vec![Turn::MAX; program.relations.len()];
    for (turn, rel) in (0..).zip(&maintained) {
        turns[usize::from(rel.0)] = turn;
    }
    let mut assembler = Assembler::new(&code, &turns);
    let derive = assemble_modes(&mut assembler, &modes, &layout.stores)?;
    let again = assemble_rounds(&mut assembler, &modes)?;
    let schedules = schedules(&mut assembler, &modes, &layout.stores, &derive, &needs);
    let readers =
        deltas.iter().map(|it| readers(&mut assembler, it, &turns)).collect::<Result<_, _>>()?;
    for fixpoint in &mut general {
        fixpoint.assemble(&mut assembler)?;
    }
    let mut reactions = reactions;
    for plan in reactions.iter_mut().flatten() {
        plan.pc = assembler.given(&[(plan.params.as_slice(), plan.pc)])?;
    }
    let mut starts: HashMap<RelId, u32> = HashMap::new();
    for (rel, plans) in &candidates {
        starts.insert(*rel, assembler.stretch(plans)?);
    }
    let batches = attach_needs(schedule, reactions, &needs);
    let machine = assembler.machine;
    let kept = |rel: &RelId| {
        let at = usize::from(rel.0);
        let Store::Dense(dense) = &layout.stores[at] else { return None };
        Some(Maintained {
            rel: *rel,
            by_block: matches!(modes[at], Mode::Block { .. }),
            base: dense.base,
            stride: dense.strides.first().map_or(1, |it| *it),
            support: dense.support.unwrap_or(dense.base),
            index: layout.indexes.get(rel).copied(),
            derive: derive[at],
            again: again[at],
            candidates: starts.get(rel).copied(),
        })
    };
    let maintained = maintained.iter().filter_map(kept).collect();
    let mut inputs = vec![Vec::new(); program.schema.attributes().len()];
    for (at, relation) in program.relations.iter().enumerate() {
        if let Role::Input(input) = &relation.role {
            for (member, attr) in (0..).zip(input.attrs()) {
                inputs[usize::from(attr.0)].push((RelId(at as u16), member));
            }
        }
    }
    let indexes = (0..program.relations.len())
        .map(|it| layout.indexes.get(&RelId(it as u16)).copied())
        .collect();
    let mut list_relations = vec![0; program.relations.len().div_ceil(64)];
    for (at, store) in layout.stores.iter().enumerate() {
        if matches!(store, Store::Sparse(_)) {
            list_relations[at / 64] |= 1u64 << (at % 64);
        }
    }
    Ok(Compiled {
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
        inputs,
        batches,
        general,
        indexes,
        estimates: planner.estimates,
        orders: layout.orders,
        list_is_static: layout.sparse_static,
        list_relations,
        kept_rows: layout.kept_rows as usize,
        kept_funs: layout.kept_funs as usize,
        frame_rows: layout.frame_rows as usize,
        native: OnceLock::new(),
        leaf_plan: OnceLock::new(),
        program,
    })
}

impl<W> Compiled<W> {
    /// Bytes that the program takes, with what it may share with others.
    pub(super) fn heap_bytes(&self) -> usize {
        let known: usize = self.known.iter().flatten().map(|it| it.heap_bytes()).sum();
        let code = self.machine.insts.capacity() * (size_of::<Inst>() + size_of::<u32>())
            + self.code.ops.capacity() * (size_of::<Op>() + size_of::<u32>());
        self.statics.heap_bytes() + known + code
    }
}

struct Compiler<'p, W> {
    program: &'p Program,
    /// Its rules, as they are planned.
    rules: &'p Rules<'p>,
    planner: Planner<'p, W>,
    modes: Vec<Mode>,
    /// For each relation, the rules that can fire, with the literals that can fail.
    live: Vec<Vec<LiveRule<'p>>>,
    /// Depends on a fact of the game, an aggregate, or something that is not maintained.
    volatile: Vec<bool>,
    hot: BTreeSet<RelId>,
    deltas: Vec<Vec<Delta>>,
    maintained: Vec<RelId>,
    general: Vec<general::Fixpoint>,
    /// Statics that other programs have computed already.
    memo: Memo,
    /// For each relation that is known, what its rows are called there.
    ids: Vec<i64>,
    /// Rows of all statics so far.
    static_rows: usize,
    /// What is left for computing statics.
    fuel: Fuel,
}

#[derive(Debug, Clone)]
struct LiveRule<'p> {
    rule: &'p Rule,
    body: Vec<&'p Literal>,
}

impl LiveRule<'_> {
    fn types(&self) -> Vec<Type> {
        self.rule.vars.iter().map(|it| it.ty).collect()
    }
}

impl<'p, W: Word> Compiler<'p, W> {
    /// Starts the plan of a rule.
    fn begin(&mut self, live: &LiveRule<'_>) {
        self.planner.begin(&live.types(), u32::from(live.rule.id.0));
        self.planner.order.extend(&live.rule.order);
    }

    fn inputs(&mut self) {
        for (at, relation) in self.program.relations.iter().enumerate() {
            if let Role::Given(_) = relation.role {
                // Not empty, whatever it will be.
                self.planner.layout.stores[at] = Store::Sparse(StoreId::MAX);
                self.planner.estimates[at] = 8.0;
                self.volatile[at] = true;
            }
            if let Role::Input(input) = relation.role {
                let rel = RelId(at as u16);
                self.planner.layout.place_input(self.program, rel, input);
                let of_game = matches!(input, Input::Game(_) | Input::GameFlag(_));
                self.volatile[at] = of_game && self.is_written(rel);
                self.planner.estimates[at] = match input {
                    Input::Key(attr) | Input::Flag(attr)
                        if self.program.schema.owners(attr).is_some() =>
                    {
                        let owners = size(self.program, relation.columns[0].ty).unwrap_or_default();
                        (owners as f64).min(8.0)
                    }
                    Input::Key(_) => match size(self.program, relation.columns[1].ty) {
                        Some(values) if values < 4 => 32.0,
                        _ => 30.0,
                    },
                    Input::Flag(_) => 3.0,
                    Input::List(..) => 8.0,
                    Input::Game(_) | Input::GameFlag(_) => 1.0,
                };
            }
        }
    }

    /// Whether some reaction changes the input: what none does is as good as constant.
    fn is_written(&self, input: RelId) -> bool {
        self.program.reactions.iter().flat_map(|it| &it.effects).any(|effect| match effect {
            Effect::Set { rel, .. } | Effect::Retract { rel, .. } => *rel == input,
            Effect::Forget { .. } => {
                let attr = input_of(self.program, input).attr();
                self.program.stated.iter().any(|it| it.1 == attr)
            }
            _ => false,
        })
    }

    /// Maintained relations with a rule that asks for no fact.
    fn unprompted(&self) -> Vec<Turn> {
        let free = |rel: &RelId| self.live[usize::from(rel.0)].iter().any(|it| self.is_free(it));
        (0..).zip(&self.maintained).filter(|(_, rel)| free(rel)).map(|(turn, _)| turn).collect()
    }

    /// Whether the rule asks for no fact.
    fn is_free(&self, live: &LiveRule<'_>) -> bool {
        !live.body.iter().any(|it| match it {
            Literal::Atom(atom) => !atom.negated && !self.known(atom.rel),
            _ => false,
        })
    }

    /// For each relation, what must be derived on demand before it is read, in order.
    pub(super) fn needs(&self) -> Vec<Vec<RelId>> {
        let order: Vec<RelId> =
            self.program.strata.iter().flat_map(|it| it.relations.iter().copied()).collect();
        let mut needs: Vec<BTreeSet<RelId>> = vec![BTreeSet::new(); self.program.relations.len()];
        for stratum in &self.program.strata {
            let mut all = BTreeSet::new();
            for &rel in &stratum.relations {
                if matches!(
                    self.modes[usize::from(rel.0)],
                    Mode::Given | Mode::Block { .. } | Mode::Tuple { .. }
                ) {
                    continue;
                }
                all.insert(rel);
                for live in &self.live[usize::from(rel.0)] {
                    for read in relations_of(live.body.iter().copied()) {
                        all.extend(needs[usize::from(read.0)].iter().copied());
                    }
                }
            }
            for &rel in &stratum.relations {
                needs[usize::from(rel.0)] = all.clone();
            }
        }
        needs
            .into_iter()
            .map(|all| order.iter().copied().filter(|it| all.contains(it)).collect())
            .collect()
    }
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
            | Op::LoopEmit { row, support, .. } => {
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
        match &mut term.row {
            RowSource::At(address) => shift(address),
            RowSource::Next { space: Space::Frame, base, .. } => *base += by,
            _ => {}
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

/// The stretch of every relation: all its rules.
fn assemble_modes(
    assembler: &mut Assembler<'_>,
    modes: &[Mode],
    stores: &[Store],
) -> Result<Vec<u32>, PlanError> {
    let stretch = |(at, mode): (usize, &Mode)| match mode {
        Mode::Given | Mode::General { .. } => Ok(u32::MAX),
        Mode::Scratch { rules } => match entry(at, &stores[at]) {
            Some(entry) => assembler.relation(entry, rules),
            None => assembler.stretch(rules),
        },
        Mode::Block { rules, fixes } => {
            let plans: Vec<(&[Reg], u32)> = rules.iter().chain(fixes).map(of_block).collect();
            assembler.given(&plans)
        }
        Mode::Tuple { checks } => {
            let plans: Vec<(&[Reg], u32)> =
                checks.iter().map(|(regs, pc)| (regs.as_slice(), *pc)).collect();
            assembler.given(&plans)
        }
    };
    modes.iter().enumerate().map(stretch).collect()
}

/// The stretch of every relation kept by block with several recursive rules: those rules.
fn assemble_rounds(
    assembler: &mut Assembler<'_>,
    modes: &[Mode],
) -> Result<Vec<Option<u32>>, PlanError> {
    let stretch = |mode: &Mode| match mode {
        Mode::Block { fixes, .. } if fixes.len() > 1 => {
            let plans: Vec<(&[Reg], u32)> = fixes.iter().map(of_block).collect();
            assembler.given(&plans).map(Some)
        }
        _ => Ok(None),
    };
    modes.iter().map(stretch).collect()
}

/// A plan about one block: the register that takes it, and where the plan begins.
fn of_block((reg, pc): &(Reg, u32)) -> (&[Reg], u32) {
    (std::slice::from_ref(reg), *pc)
}

/// Where a relation derived on demand begins, if it is rows.
fn entry(at: usize, store: &Store) -> Option<Demanded> {
    let Store::Dense(dense) = store else { return None };
    let stride = dense.strides.first().map_or(1, |it| *it);
    Some(Demanded { rel: at as u16, base: dense.base, stride, support: dense.support, len: 0 })
}

/// Relations that need fewer others are derived one by one.
const SCHEDULED: usize = 4;

/// For relations that need many others: all of them as one stretch, if all are rows.
fn schedules<'n>(
    assembler: &mut Assembler<'_>,
    modes: &[Mode],
    stores: &[Store],
    derive: &[u32],
    needs: &'n [Vec<RelId>],
) -> Vec<Option<OnDemand>> {
    let start = |rel: &RelId| {
        let at = usize::from(rel.0);
        let is_rows = matches!((&modes[at], &stores[at]), (Mode::Scratch { .. }, Store::Dense(_)));
        is_rows.then_some(derive[at])
    };
    let mut known: HashMap<&'n [RelId], u32> = HashMap::new();
    let mut schedule = |at: usize, all: &'n [RelId]| {
        let starts: Vec<u32> = all.iter().map(start).collect::<Option<_>>()?;
        let start = match known.get(all) {
            Some(&start) => start,
            None => assembler.chain(&starts),
        };
        known.insert(all, start);
        let mut before = vec![0; needs.len().div_ceil(64)];
        for rel in all.iter().filter(|it| usize::from(it.0) != at) {
            before[usize::from(rel.0) / 64] |= 1 << (rel.0 % 64);
        }
        Some(OnDemand { start, before })
    };
    let mut schedules = Vec::new();
    for (at, all) in needs.iter().enumerate() {
        schedules.push(if all.len() >= SCHEDULED { schedule(at, all) } else { None });
    }
    schedules
}

fn readers(
    assembler: &mut Assembler<'_>,
    deltas: &[Delta],
    turns: &[Turn],
) -> Result<Readers, PlanError> {
    let mut readers = Readers::default();
    let mut once: Vec<(&[Reg], u32)> = Vec::new();
    let mut each: Vec<(&[Reg], u32)> = Vec::new();
    for (at, delta) in deltas.iter().enumerate() {
        if deltas[..at].contains(delta) {
            continue;
        }
        let turn = turns[usize::from(delta.consumer.0)];
        match &delta.what {
            DeltaKind::Block { col: 0, guards } => {
                readers.blocks.push((turn, guards.iter().copied().collect()));
            }
            DeltaKind::Block { col, guards } => {
                readers.others.push((turn, *col, guards.iter().copied().collect()));
            }
            DeltaKind::Run { regs, pc, last: false } => once.push((regs, *pc)),
            DeltaKind::Run { regs, pc, last: true } => each.push((regs, *pc)),
        }
    }
    if !once.is_empty() {
        readers.once = Some(assembler.given(&once)?);
    }
    if !each.is_empty() {
        readers.each = Some(assembler.given(&each)?);
    }
    Ok(readers)
}

/// Reactions by batch, with what they read on demand.
fn attach_needs(
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

impl<W: Word> Compiled<W> {
    /// Nothing compiled yet: for running the plans of statics.
    pub(super) fn bare(program: &Program) -> Self {
        let empty = Program {
            stated: Vec::new(),
            sources: Vec::new(),
            owners: Vec::new(),
            schema: Arc::clone(&program.schema),
            relations: Vec::new(),
            rules: Vec::new(),
            strata: Vec::new(),
            actions: Vec::new(),
            row_texts: Default::default(),
            reactions: Vec::new(),
            stages: Vec::new(),
            events: Vec::new(),
            repetition: Vec::new(),
            lasting: Vec::new(),
            expiry: Default::default(),
            was: Vec::new(),
            trials: Vec::new(),
            meta: Vec::new(),
            words: Default::default(),
            texts: Vec::new(),
            relation_names: Default::default(),
            scopes: Vec::new(),
        };
        Self {
            program: Arc::new(empty),
            code: Code::default(),
            statics: Statics::default(),
            known: Vec::new(),
            stores: Vec::new(),
            modes: Vec::new(),
            readers: Vec::new(),
            machine: Machine::default(),
            derive: Vec::new(),
            schedules: Vec::new(),
            maintained: Vec::new(),
            unprompted: Vec::new(),
            needs: Vec::new(),
            inputs: Vec::new(),
            batches: Vec::new(),
            general: Vec::new(),
            indexes: Vec::new(),
            estimates: Vec::new(),
            orders: Vec::new(),
            list_is_static: Vec::new(),
            list_relations: Vec::new(),
            kept_rows: 0,
            kept_funs: 0,
            frame_rows: 0,
            native: OnceLock::new(),
            leaf_plan: OnceLock::new(),
        }
    }

    /// Words of bits that say which relations of a frame are derived.
    #[inline]
    pub(super) fn flags(&self) -> usize {
        self.stores.len().div_ceil(64)
    }

    /// Makes machine code, where that can be, if there is none yet. Whether there is some.
    pub(super) fn make_native(&self) -> bool {
        self.native.get_or_init(|| Native::compile(self)).is_some()
    }

    /// Whether some plan reads the list.
    pub(super) fn reads_list(&self, store: StoreId) -> bool {
        self.code.ops.iter().any(|op| {
            matches!(op, Op::Scan { store: it, .. } | Op::TestScan { store: it, .. } if *it == store)
        })
    }
}

fn input_of(program: &Program, rel: RelId) -> Input {
    match program.relation(rel).role {
        Role::Input(input) => input,
        _ => unreachable!("the checker lets effects change inputs only"),
    }
}

fn ground_fact(live: &LiveRule<'_>) -> Option<Tuple> {
    if !live.body.is_empty() {
        return None;
    }
    live.rule
        .args
        .iter()
        .map(|it| if let Term::Const(value) = it { Some(*value) } else { None })
        .collect()
}

fn reads(literal: &Literal, rel: RelId) -> bool {
    matches!(literal, Literal::Atom(atom) if atom.rel == rel)
}

fn uses(address: &super::code::Address, reg: Reg) -> bool {
    address.regs[..usize::from(address.n)].contains(&reg)
}

/// One recursive atom, positive, that differs from the head in its last column only.
fn is_row_local(rel: RelId, live: &LiveRule<'_>) -> bool {
    let mut recursive = live.body.iter().filter_map(|it| match it {
        Literal::Atom(atom) if atom.rel == rel => Some(atom),
        _ => None,
    });
    let Some(atom) = recursive.next() else { return true };
    let Some(keys) = atom.args.len().checked_sub(1) else { return false };
    recursive.next().is_none()
        && !atom.negated
        && atom.args[..keys] == live.rule.args[..keys]
        && matches!(atom.args[keys], Term::Var(var) if !live.rule.args.contains(&Term::Var(var))
            && !atom.args[..keys].contains(&Term::Var(var)))
}

/// Lists are refilled by this: the orders of each. The answer is room for the next tuples.
pub(super) fn refill<W>(
    compiled: &Compiled<W>,
    store: StoreId,
    list: &mut Sparse,
    tuples: Vec<Tuple>,
) -> Vec<Tuple> {
    list.fill(tuples, compiled.orders[store as usize].len())
}
