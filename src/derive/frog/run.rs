//! Runs chains of steps on datafrog, one stratum at a time.
//!
//! Every step of a rule is a datafrog variable of pairs; a stratum is one `Iteration`, so recursion
//! is semi-naive by datafrog's own doing. Negation is `Variable::from_antijoin` against a finished
//! relation, never `Relation::from_antijoin`, which in 2.0.1 is always empty.

use std::sync::{Arc, OnceLock};

use datafrog::{Iteration, Relation, Variable};

use super::plan::{Access, AccessId, Chain, Emit, Group, Plans, Step, is_static};
use crate::derive::rows::Tuple;
use crate::rules::{Fold, Op, Program, RelId, Stratum};

pub(super) type Pair = (Tuple, Tuple);
/// Sorted distinct rows.
pub(super) type Table = Arc<Vec<Tuple>>;

/// A relation in the order of an access, made when first asked for: with values to join, keys alone
/// to subtract.
#[derive(Default, Clone)]
pub(super) struct Index {
    pairs: OnceLock<Arc<Relation<Pair>>>,
    keys: OnceLock<Arc<Relation<Tuple>>>,
}

/// The relations that are finished so far.
pub(super) struct Runner<'p> {
    pub(super) program: &'p Program,
    pub(super) plans: &'p Plans,
    /// By relation.
    pub(super) tables: Vec<Table>,
    /// By access.
    pub(super) indexes: Vec<Index>,
    /// By access: those of statics, where the statics are finished.
    pub(super) fixed: Option<&'p [Index]>,
}

impl Runner<'_> {
    /// Computes the relations of a stratum from those of earlier ones.
    pub(super) fn stratum(&mut self, stratum: &Stratum) {
        let mut iteration = Iteration::new();
        let heads: Vec<(RelId, Variable<Tuple>)> =
            stratum.relations.iter().map(|&it| (it, iteration.variable(""))).collect();
        let mut feeds: Vec<Feed<'_>> = Vec::new();
        let mut runs: Vec<(Run<'_>, Variable<Tuple>)> = Vec::new();
        for (rel, head) in &heads {
            for rule in &self.program.relation(*rel).rules {
                let chain = &self.plans.chains[usize::from(rule.0)];
                if chain.needs.iter().any(|it| self.table(*it).is_empty()) {
                    continue;
                }
                self.add_feeds(chain, &heads, &mut feeds, &mut iteration);
                let run = Run::new(chain, &mut iteration);
                run.start([Tuple::new()]);
                runs.push((run, head.clone()));
            }
        }
        while iteration.changed() {
            feeds.iter().for_each(Feed::step);
            for (run, head) in &runs {
                run.step(self, &feeds);
                head.from_map(run.end(), |(row, _)| row.clone());
            }
        }
        for (rel, head) in heads {
            self.tables[usize::from(rel.0)] = Arc::new(head.complete().elements);
        }
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

    fn table(&self, rel: RelId) -> &Table {
        &self.tables[usize::from(rel.0)]
    }

    fn index(&self, id: AccessId) -> &Index {
        match self.fixed {
            Some(fixed) if is_static(self.program, self.plans.accesses[id].rel) => &fixed[id],
            _ => &self.indexes[id],
        }
    }

    fn pairs(&self, id: AccessId) -> &Relation<Pair> {
        self.index(id).pairs.get_or_init(|| {
            let access = &self.plans.accesses[id];
            let rows = self.table(access.rel).iter();
            Arc::new(rows.filter_map(|it| access.entry(it)).collect())
        })
    }

    fn keys(&self, id: AccessId) -> &Relation<Tuple> {
        self.index(id).keys.get_or_init(|| {
            let access = &self.plans.accesses[id];
            let rows = self.table(access.rel).iter();
            Arc::new(rows.filter_map(|it| Some(access.entry(it)?.0)).collect())
        })
    }

    /// The rows of a body whose relations are all finished, for the given start rows.
    fn chain(&self, chain: &Chain, start: impl IntoIterator<Item = Tuple>) -> Relation<Pair> {
        if chain.needs.iter().any(|it| self.table(*it).is_empty()) {
            return Vec::new().into();
        }
        let mut iteration = Iteration::new();
        let run = Run::new(chain, &mut iteration);
        run.start(start);
        while iteration.changed() {
            run.step(self, &[]);
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
            let mut sum: i64 = 0;
            for member in members {
                sum = sum.checked_add(values(member)?[0])?;
            }
            Some([sum].as_slice().into())
        }
        Fold::Min => members.iter().map(values).collect::<Option<Vec<_>>>()?.into_iter().min(),
        Fold::Max => members.iter().map(values).collect::<Option<Vec<_>>>()?.into_iter().max(),
    }
}

/// Brings the new rows of a relation in the making into the order of an access.
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

/// Sends what is new before a step through it.
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
            if let Some(feed) = feeds.iter().find(|it| it.id == *id) {
                to.from_join(from, &feed.entries, |key, rest, new| emit.pair(key, rest, new));
            }
        }
        _ if idle => {}
        Step::Join(id) => {
            to.from_join(from, runner.pairs(*id), |key, rest, new| emit.pair(key, rest, new));
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
