//! Runs chains of steps on datafrog, one stratum at a time.
//!
//! Every step of a rule is a datafrog variable of pairs; a stratum is one `Iteration`, so datafrog makes
//! recursion semi-naive. Negation is `Variable::from_antijoin` against a finished relation, never
//! `Relation::from_antijoin`, which in 2.0.1 is always empty.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, OnceLock};

use datafrog::{Iteration, Relation, Variable};

use super::plan::{Access, AccessId, Chain, Emit, Group, Plans, Step};
use crate::derive::allowance::{self, Allowance};
use crate::derive::budget::{QUERY, REFERENCE_SHARE, REFERENCE_STEPS, ROWS, Resource};
use crate::derive::rows::Tuple;
use crate::rules::{Fold, Op, Program, RelId, RuleId, Stratum};

pub(super) type Pair = (Tuple, Tuple);
/// Sorted distinct rows.
pub(super) type Tuples = Arc<Vec<Tuple>>;

/// A relation in the order of an access, made on first use: with values for joins, only keys for subtraction.
#[derive(Default, Clone)]
pub(super) struct Index {
    pairs: OnceLock<Arc<Relation<Pair>>>,
    keys: OnceLock<Arc<Relation<Tuple>>>,
}

/// The rest of the budget, and which rules spent it. A step is a row that is passed on.
#[derive(Debug, Clone)]
pub(super) struct StepBudget {
    left: Cell<u64>,
    /// What has run out.
    out: Cell<Option<Resource>>,
    /// The number of the rule that pays.
    owner: Cell<usize>,
    /// By rule.
    spent: RefCell<Vec<u64>>,
}

impl StepBudget {
    pub(super) fn new(program: &Program) -> Self {
        let budget = Self {
            left: Cell::new(REFERENCE_STEPS),
            out: Cell::new(None),
            owner: Cell::new(0),
            spent: RefCell::new(vec![0; program.rules.len()]),
        };
        budget.pay(QUERY);
        budget
    }

    /// Takes steps out of the request's allowance.
    fn pay(&self, steps: i64) {
        if !allowance::take(steps) {
            self.run_out(Allowance::exhausted().unwrap_or(Resource::Steps));
        }
    }

    /// Notes that a resource ran out. The first one is reported.
    pub(super) fn run_out(&self, resource: Resource) {
        self.out.set(self.out.get().or(Some(resource)));
    }

    /// Takes steps out of the budget. False if there is not enough left; then no more work should be done.
    fn spend(&self, steps: u64) -> bool {
        if let Some(spent) = self.spent.borrow_mut().get_mut(self.owner.get()) {
            *spent += steps;
        }
        match self.left.get().checked_sub(steps) {
            Some(left) if self.out.get().is_none() => {
                let share = self.left.get() / REFERENCE_SHARE - left / REFERENCE_SHARE;
                self.left.set(left);
                self.pay(share as i64);
            }
            _ => self.run_out(Resource::Steps),
        }
        !self.is_out()
    }

    fn is_out(&self) -> bool {
        self.out.get().is_some()
    }

    /// The resource that ran out, and the rule that spent most.
    pub(super) fn exhausted(&self) -> Option<(Resource, usize)> {
        let spent = self.spent.borrow();
        let most = spent.iter().max().copied().unwrap_or_default();
        let rule = spent.iter().position(|it| *it == most).unwrap_or_default();
        self.out.get().map(|it| (it, rule))
    }
}

/// The cost of a rule in each round of a fixpoint, besides its rows.
const ROUND: u64 = 8;
/// The results of a join that cannot have more of them than this are estimated, not counted.
const SMALL: usize = 1 << 18;

/// Computes strata, and holds the relations that are finished so far.
pub(super) struct Runner<'p> {
    pub(super) program: &'p Program,
    pub(super) plans: &'p Plans,
    /// By relation.
    pub(super) tables: &'p [OnceLock<Tuples>],
    /// By access.
    pub(super) indexes: &'p [Index],
    /// By access: those of statics, if the statics are finished.
    pub(super) fixed: Option<&'p [Index]>,
    pub(super) budget: &'p StepBudget,
}

impl Runner<'_> {
    /// Computes the relations of a stratum from those of earlier ones, unless that has been done.
    pub(super) fn stratum(&self, stratum: &Stratum) {
        if self.budget.is_out() || stratum.relations.iter().all(|it| self.is_finished(*it)) {
            return;
        }
        let mut iteration = Iteration::new();
        let heads: Vec<(RelId, Variable<Tuple>)> =
            stratum.relations.iter().map(|&it| (it, iteration.variable(""))).collect();
        let mut feeds: Vec<Feed<'_>> = Vec::new();
        let mut runs: Vec<(RuleId, Run<'_>, Variable<Tuple>)> = Vec::new();
        for (rel, head) in &heads {
            for rule in &self.program.relation(*rel).rules {
                let chain = &self.plans.chains[usize::from(rule.0)];
                if chain.needs.iter().any(|it| self.table(*it).is_empty()) {
                    continue;
                }
                self.add_feeds(chain, &heads, &mut feeds, &mut iteration);
                let run = Run::new(chain, &mut iteration);
                run.start([Tuple::new()]);
                runs.push((*rule, run, head.clone()));
            }
        }
        while iteration.changed() {
            feeds.iter().for_each(Feed::step);
            for (rule, run, head) in &runs {
                self.budget.owner.set(usize::from(rule.0));
                if !self.budget.spend(ROUND) {
                    break;
                }
                run.step(self, &feeds);
                head.from_map(run.end(), |(row, _)| row.clone());
            }
            let rows = |head: &Variable<Tuple>| {
                let stable = head.stable.borrow().iter().map(|it| it.len()).sum::<usize>();
                stable + head.recent.borrow().len()
            };
            if heads.iter().map(|(_, head)| rows(head)).sum::<usize>() > ROWS {
                self.budget.run_out(Resource::Rows);
            }
            if self.budget.is_out() {
                return; // the stratum is not finished: its rows are not kept
            }
        }
        for (rel, head) in heads {
            self.tables[usize::from(rel.0)].get_or_init(|| Arc::new(head.complete().elements));
        }
    }

    fn is_finished(&self, rel: RelId) -> bool {
        self.tables[usize::from(rel.0)].get().is_some()
    }

    fn add_feeds<'a>(
        &'a self,
        chain: &Chain,
        heads: &[(RelId, Variable<Tuple>)],
        feeds: &mut Vec<Feed<'a>>,
        iteration: &mut Iteration,
    ) {
        for (step, _) in &chain.steps {
            let Step::Recursive(id) = *step else { continue };
            let access = &self.plans.accesses[id];
            let head = heads.iter().find(|(rel, _)| *rel == access.rel);
            if let Some((_, head)) = head
                && feeds.iter().all(|it| it.id != id)
            {
                let entries = iteration.variable("");
                feeds.push(Feed { id, access, source: head.clone(), entries });
            }
        }
    }

    fn table(&self, rel: RelId) -> &[Tuple] {
        self.tables[usize::from(rel.0)].get().map_or(&[], |it| it)
    }

    fn index(&self, id: AccessId) -> &Index {
        match self.fixed {
            Some(fixed) if self.program.relation(self.plans.accesses[id].rel).is_static() => {
                &fixed[id]
            }
            _ => &self.indexes[id],
        }
    }

    fn pairs(&self, id: AccessId) -> &Relation<Pair> {
        self.index(id).pairs.get_or_init(|| Arc::new(self.entries(id).collect()))
    }

    fn keys(&self, id: AccessId) -> &Relation<Tuple> {
        self.index(id).keys.get_or_init(|| Arc::new(self.entries(id).map(|it| it.0).collect()))
    }

    fn entries(&self, id: AccessId) -> impl Iterator<Item = Pair> {
        let access = &self.plans.accesses[id];
        self.table(access.rel).iter().filter_map(|it| access.entry(it))
    }

    /// The rows of a body whose relations are all finished, for the given start rows.
    fn chain(&self, chain: &Chain, start: impl IntoIterator<Item = Tuple>) -> Relation<Pair> {
        if chain.needs.iter().any(|it| self.table(*it).is_empty()) {
            return Vec::new().into();
        }
        let mut iteration = Iteration::new();
        let run = Run::new(chain, &mut iteration);
        run.start(start);
        while iteration.changed() && !self.budget.is_out() {
            run.step(self, &[]);
        }
        if self.budget.is_out() {
            return Vec::new().into();
        }
        run.end().clone().complete()
    }

    /// The results of an aggregate for each of the sorted distinct keys that has any.
    fn groups(&self, group: &Group, keys: Vec<Tuple>) -> Vec<Pair> {
        let members = self.chain(&group.chain, keys.iter().cloned());
        let mut rest = &members[..];
        let mut results = Vec::new();
        for key in keys {
            let (mine, others) = rest.split_at(rest.iter().take_while(|it| it.0 == key).count());
            rest = others;
            if let Some(result) = fold(group, &key, mine) {
                results.push((key, result));
            }
        }
        results
    }
}

/// The value of an aggregate for one key; `None` if it has none.
fn fold(group: &Group, key: &Tuple, members: &[Pair]) -> Option<Tuple> {
    let values = |(_, locals): &Pair| -> Option<Tuple> {
        group.exprs.iter().map(|it| it.value(key, locals)).collect()
    };
    match group.fold {
        Fold::Count => Some([members.len() as i64].as_slice().into()),
        Fold::Sum => {
            let mut sum: i128 = 0;
            for member in members {
                sum += i128::from(values(member)?[0]);
            }
            let sum = i64::try_from(sum).ok().filter(|it| *it > i64::MIN)?;
            Some([sum].as_slice().into())
        }
        Fold::Min => members.iter().map(values).collect::<Option<Vec<_>>>()?.into_iter().min(),
        Fold::Max => members.iter().map(values).collect::<Option<Vec<_>>>()?.into_iter().max(),
    }
}

/// Brings the new rows of a relation that is being computed into the order of an access.
struct Feed<'a> {
    id: AccessId,
    access: &'a Access,
    source: Variable<Tuple>,
    entries: Variable<Pair>,
}

impl Feed<'_> {
    fn step(&self) {
        let recent = self.source.recent.borrow();
        self.entries.insert(recent.iter().filter_map(|it| self.access.entry(it)).collect());
    }
}

/// A chain with its variables: one before each step, and one for the results.
struct Run<'p> {
    chain: &'p Chain,
    stages: Vec<Variable<Pair>>,
}

impl<'p> Run<'p> {
    fn new(chain: &'p Chain, iteration: &mut Iteration) -> Self {
        let stages = (0..=chain.steps.len()).map(|_| iteration.variable("")).collect();
        Self { chain, stages }
    }

    fn start(&self, rows: impl IntoIterator<Item = Tuple>) {
        let pairs = rows.into_iter().map(|it| self.chain.start.pair(&it, &[], &[]));
        self.stages[0].insert(pairs.collect());
    }

    fn end(&self) -> &Variable<Pair> {
        &self.stages[self.chain.steps.len()]
    }

    fn step(&self, runner: &Runner<'_>, feeds: &[Feed<'_>]) {
        for ((step, emit), stage) in self.chain.steps.iter().zip(self.stages.windows(2)) {
            advance(step, emit, &stage[0], &stage[1], runner, feeds);
        }
    }
}

/// The number of results of a join of sorted pairs. If there cannot be many, an estimate that may be too low: one for
/// each pair of the shorter side.
fn matches(left: &[Pair], right: &[Pair]) -> u64 {
    if left.len() * right.len() <= SMALL {
        return left.len().min(right.len()) as u64;
    }
    let partners = left.chunk_by(|a, b| a.0 == b.0).map(|group| {
        let first = right.partition_point(|it| it.0 < group[0].0);
        let end = first + right[first..].partition_point(|it| it.0 == group[0].0);
        (group.len() * (end - first)) as u64
    });
    partners.sum()
}

/// Pays for a join of two relations that are being computed: new rows on either side with all of the other. False if
/// there is not enough left.
fn pay_for_join(runner: &Runner<'_>, from: &Variable<Pair>, entries: &Variable<Pair>) -> bool {
    let (left, right) = (from.recent.borrow(), entries.recent.borrow());
    let older_left = from.stable.borrow();
    let older_right = entries.stable.borrow();
    let new_left = older_right.iter().map(|it| matches(&left, it)).sum::<u64>();
    let new_right = older_left.iter().map(|it| matches(it, &right)).sum::<u64>();
    runner.budget.spend(new_left + new_right + matches(&left, &right))
}

/// Takes a step for the pairs that are new in `from`, and adds the results to `to`.
fn advance(
    step: &Step,
    emit: &Emit,
    from: &Variable<Pair>,
    to: &Variable<Pair>,
    runner: &Runner<'_>,
    feeds: &[Feed<'_>],
) {
    let idle = from.recent.borrow().is_empty();
    match step {
        Step::Recursive(id) => {
            if let Some(feed) = feeds.iter().find(|it| it.id == *id)
                && pay_for_join(runner, from, &feed.entries)
            {
                to.from_join(from, &feed.entries, |key, rest, new| emit.pair(key, rest, new));
            }
        }
        _ if idle || !runner.budget.spend(from.recent.borrow().len() as u64) => {}
        Step::Join(id) => {
            let results = matches(&from.recent.borrow(), runner.pairs(*id));
            if runner.budget.spend(results) {
                to.from_join(from, runner.pairs(*id), |key, rest, new| emit.pair(key, rest, new));
            }
        }
        Step::Without(id) => {
            to.from_antijoin(from, runner.keys(*id), |key, rest| emit.pair(key, rest, &[]));
        }
        Step::Test(op, lhs, rhs) => {
            let holds = |key: &[i64], rest: &[i64]| {
                let sides = lhs.value(key, rest).zip(rhs.value(key, rest));
                sides.is_some_and(|(lhs, rhs)| Op::holds(*op, lhs, rhs))
            };
            let recent = from.recent.borrow();
            let kept = recent.iter().filter(|(key, rest)| holds(key, rest));
            to.insert(kept.map(|(key, rest)| emit.pair(key, rest, &[])).collect());
        }
        Step::Bind(calc) => {
            let recent = from.recent.borrow();
            let pairs = recent.iter().filter_map(|(key, rest)| {
                let new = calc.value(key, rest)?;
                Some(emit.pair(key, rest, &[new]))
            });
            to.insert(pairs.collect());
        }
        Step::Fold(group) => {
            let recent = from.recent.borrow();
            let mut keys: Vec<Tuple> = recent.iter().map(|(key, _)| key.clone()).collect();
            keys.dedup();
            let results: Relation<Pair> = runner.groups(group, keys).into();
            let fits = |key: &[i64], rest: &[i64], new: &[i64]| {
                group.equal.iter().all(|(at, slot)| slot.get(key, rest, new) == new[*at])
            };
            let mut pairs = Vec::new();
            for (key, rest) in recent.iter() {
                if let Ok(at) = results.binary_search_by(|it| it.0.cmp(key))
                    && fits(key, rest, &results[at].1)
                {
                    pairs.push(emit.pair(key, rest, &results[at].1));
                }
            }
            to.insert(pairs.into());
        }
    }
}
