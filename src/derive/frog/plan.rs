//! Every rule as a chain of steps for datafrog: the order of literals, the lookup columns of each, and the
//! variables that are still needed after it.
//!
//! An intermediate row is a pair `(key, rest)`: the values that the next step looks up by, and all
//! others that it, a later step or the head needs. Nothing here touches a row of data.

use std::collections::{BTreeSet, HashMap};

use crate::rules::{
    Aggregate, Arith, Atom, Expr, Fold, Literal, Op, Program, RelId, Rule, RuleId, Term, VarId,
    term_vars,
};

use crate::derive::rows::Tuple;

/// A rule that cannot be run, since some literal never gets the values that it needs. The checks at load
/// refuse such rules.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stuck {
    pub(super) rule: RuleId,
}

/// A relation as datafrog joins it: keyed on some columns, with some others as values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Access {
    pub(super) rel: RelId,
    key: Vec<usize>,
    value: Vec<usize>,
    /// Columns that must hold a constant.
    constant: Vec<(usize, i64)>,
    /// Columns that must agree, since they have the same variable.
    equal: Vec<(usize, usize)>,
}

impl Access {
    /// The entry for a row, if it has the wanted form.
    pub(super) fn entry(&self, row: &[i64]) -> Option<(Tuple, Tuple)> {
        let fits = self.constant.iter().all(|&(at, raw)| row[at] == raw)
            && self.equal.iter().all(|&(a, b)| row[a] == row[b]);
        let part = |columns: &[usize]| columns.iter().map(|&at| row[at]).collect();
        fits.then(|| (part(&self.key), part(&self.value)))
    }
}

/// The number of an [`Access`] in [`Plans`].
pub(super) type AccessId = usize;

/// The source of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Key(usize),
    Rest(usize),
    /// A value that the step itself has found.
    New(usize),
    Const(i64),
}

impl Slot {
    pub(super) fn get(self, key: &[i64], rest: &[i64], new: &[i64]) -> i64 {
        match self {
            Self::Key(at) => key[at],
            Self::Rest(at) => rest[at],
            Self::New(at) => new[at],
            Self::Const(raw) => raw,
        }
    }
}

/// How the pair for the next step is made.
#[derive(Debug, Clone, Default)]
pub(super) struct Emit {
    key: Vec<Slot>,
    rest: Vec<Slot>,
}

impl Emit {
    pub(super) fn pair(&self, key: &[i64], rest: &[i64], new: &[i64]) -> (Tuple, Tuple) {
        let part = |slots: &[Slot]| slots.iter().map(|it| it.get(key, rest, new)).collect();
        (part(&self.key), part(&self.rest))
    }
}

/// An expression over slots.
#[derive(Debug, Clone)]
pub(super) enum Calc {
    Slot(Slot),
    Binary(Arith, Box<Calc>, Box<Calc>),
}

impl Calc {
    pub(super) fn value(&self, key: &[i64], rest: &[i64]) -> Option<i64> {
        match self {
            Self::Slot(slot) => Some(slot.get(key, rest, &[])),
            Self::Binary(op, lhs, rhs) => op.apply(lhs.value(key, rest)?, rhs.value(key, rest)?),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Join with a finished relation.
    Join(AccessId),
    /// Join with a relation of the stratum that is being computed.
    Recursive(AccessId),
    /// Keep pairs that have no match in a finished relation.
    Without(AccessId),
    Test(Op, Calc, Calc),
    Bind(Calc),
    Fold(Box<Group>),
}

/// An aggregate: the chain of its body starts from the distinct keys and yields, by key, the
/// distinct values of its local variables.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) fold: Fold,
    pub(super) chain: Chain,
    /// Over `(key, locals)`.
    pub(super) exprs: Vec<Calc>,
    /// Results that must equal a value: the result's place, and where the value is.
    pub(super) equal: Vec<(usize, Slot)>,
}

/// The body of a rule or aggregate, ready to run.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    /// From the start row (as key) to the first pair.
    pub(super) start: Emit,
    pub(super) steps: Vec<(Step, Emit)>,
    /// Finished relations that must have rows for there to be a result.
    pub(super) needs: Vec<RelId>,
}

impl Chain {
    /// Calls `f` with every access, those of aggregates included.
    fn for_each_access(&self, f: &mut dyn FnMut(AccessId)) {
        for (step, _) in &self.steps {
            match step {
                Step::Join(it) | Step::Recursive(it) | Step::Without(it) => f(*it),
                Step::Fold(group) => group.chain.for_each_access(f),
                Step::Test(..) | Step::Bind(_) => {}
            }
        }
    }
}

/// All rules of a program as chains.
#[derive(Debug)]
pub(super) struct Plans {
    pub(super) accesses: Vec<Access>,
    /// By rule.
    pub(super) chains: Vec<Chain>,
    /// By relation: its stratum, if it depends on the facts and follows from rules.
    strata: Vec<Option<usize>>,
    /// By stratum: the strata that it reads.
    reads: Vec<BTreeSet<usize>>,
}

impl Plans {
    pub(super) fn new(program: &Program) -> Result<Self, Stuck> {
        let mut planner = Planner { program, accesses: Vec::new(), known: HashMap::new() };
        let chains = program.rules.iter().map(|it| planner.rule(it)).collect::<Result<_, _>>()?;
        let mut plans = Self {
            accesses: planner.accesses,
            chains,
            strata: vec![None; program.relations.len()],
            reads: vec![BTreeSet::new(); program.strata.len()],
        };
        plans.find_reads(program);
        Ok(plans)
    }

    fn find_reads(&mut self, program: &Program) {
        let Self { accesses, chains, strata, reads } = self;
        for (at, stratum) in program.strata.iter().enumerate().filter(|it| !it.1.is_static) {
            for rel in &stratum.relations {
                strata[usize::from(rel.0)] = Some(at);
            }
            for rule in stratum.relations.iter().flat_map(|it| &program.relation(*it).rules) {
                chains[usize::from(rule.0)].for_each_access(&mut |it| {
                    reads[at].extend(strata[usize::from(accesses[it].rel.0)]);
                });
            }
            reads[at].remove(&at);
        }
    }

    /// The stratum of a relation and those that it depends on, in the order of computation, without statics.
    pub(super) fn strata_of(&self, rel: RelId) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open: Vec<usize> = self.strata[usize::from(rel.0)].into_iter().collect();
        while let Some(at) = open.pop() {
            if found.insert(at) {
                open.extend(&self.reads[at]);
            }
        }
        found
    }
}

struct Planner<'p> {
    program: &'p Program,
    accesses: Vec<Access>,
    known: HashMap<Access, AccessId>,
}

/// A step before its slots are known: variables instead of places.
struct Draft<'p> {
    literal: &'p Literal,
    key: Vec<VarId>,
    /// Variables that the step reads besides its key.
    reads: Vec<VarId>,
    new: Vec<VarId>,
}

/// The pair that a step passes on, or that a chain yields.
#[derive(Clone, Copy)]
struct Target<'a> {
    key: &'a [Term],
    rest: &'a [VarId],
}

/// The places of variables in the pair before a step, and among the values that the step finds.
struct Layout<'a> {
    key: &'a [VarId],
    rest: &'a [VarId],
    new: &'a [VarId],
}

impl Layout<'_> {
    fn slot(&self, var: VarId) -> Option<Slot> {
        let at = |vars: &[VarId]| vars.iter().position(|it| *it == var);
        at(self.key)
            .map(Slot::Key)
            .or_else(|| at(self.rest).map(Slot::Rest))
            .or_else(|| at(self.new).map(Slot::New))
    }

    fn term(&self, term: Term) -> Option<Slot> {
        match term {
            Term::Var(var) => self.slot(var),
            Term::Const(raw) => Some(Slot::Const(raw)),
            Term::Wild => None,
        }
    }

    fn calc(&self, expr: &Expr) -> Option<Calc> {
        Some(match expr {
            Expr::Var(var) => Calc::Slot(self.slot(*var)?),
            Expr::Const(raw) => Calc::Slot(Slot::Const(*raw)),
            Expr::Binary(op, lhs, rhs) => {
                Calc::Binary(*op, Box::new(self.calc(lhs)?), Box::new(self.calc(rhs)?))
            }
        })
    }

    fn emit(&self, target: Target<'_>) -> Option<Emit> {
        let key = target.key.iter().map(|&it| self.term(it)).collect::<Option<_>>()?;
        let rest = target.rest.iter().map(|&it| self.slot(it)).collect::<Option<_>>()?;
        Some(Emit { key, rest })
    }
}

impl<'p> Planner<'p> {
    fn rule(&mut self, rule: &'p Rule) -> Result<Chain, Stuck> {
        let recursive = self
            .program
            .strata
            .iter()
            .find(|it| it.recursive && it.relations.contains(&rule.head))
            .map_or(&[][..], |it| &it.relations[..]);
        let goal = Target { key: &rule.args, rest: &[] };
        self.chain(&rule.body, &[], goal, recursive).ok_or(Stuck { rule: rule.id })
    }

    /// The chain of a body that starts with the variables of `start` bound and yields `goal`.
    fn chain(
        &mut self,
        body: &'p [Literal],
        start: &[VarId],
        goal: Target<'_>,
        recursive: &[RelId],
    ) -> Option<Chain> {
        let drafts = order(self.program, body, start, goal)?;
        let mut rests = later_needs(&drafts, goal);
        let mut known: BTreeSet<VarId> = start.iter().copied().collect();
        for (draft, rest) in drafts.iter().zip(&mut rests) {
            rest.retain(|it| known.contains(it) && !draft.key.contains(it));
            known.extend(&draft.new);
        }
        let keys: Vec<Vec<Term>> = drafts.iter().map(|it| terms(&it.key)).collect();
        // What must be passed to the step of that number; the last step yields the goal.
        let target = |at: usize| match keys.get(at) {
            Some(key) => Target { key, rest: &rests[at] },
            None => goal,
        };
        let start = Layout { key: start, rest: &[], new: &[] }.emit(target(0))?;
        let mut chain = Chain { start, steps: Vec::new(), needs: Vec::new() };
        for (at, draft) in drafts.iter().enumerate() {
            let layout = Layout { key: &draft.key, rest: &rests[at], new: &draft.new };
            let emit = layout.emit(target(at + 1))?;
            let step = self.step(draft, &layout, recursive, &mut chain.needs)?;
            chain.steps.push((step, emit));
        }
        Some(chain)
    }

    fn step(
        &mut self,
        draft: &Draft<'p>,
        layout: &Layout<'_>,
        recursive: &[RelId],
        needs: &mut Vec<RelId>,
    ) -> Option<Step> {
        Some(match draft.literal {
            Literal::Atom(atom) => {
                let access = self.access(atom, &draft.key);
                if atom.negated {
                    Step::Without(access)
                } else if recursive.contains(&atom.rel) {
                    Step::Recursive(access)
                } else {
                    needs.push(atom.rel);
                    Step::Join(access)
                }
            }
            Literal::Compare(compare) => match draft.new.first() {
                Some(var) if compare.lhs == Expr::Var(*var) => {
                    Step::Bind(layout.calc(&compare.rhs)?)
                }
                Some(_) => Step::Bind(layout.calc(&compare.lhs)?),
                None => {
                    let (lhs, rhs) = (layout.calc(&compare.lhs)?, layout.calc(&compare.rhs)?);
                    Step::Test(compare.op, lhs, rhs)
                }
            },
            Literal::Aggregate(it) => Step::Fold(Box::new(self.group(it, draft, layout)?)),
        })
    }

    fn group(
        &mut self,
        aggregate: &'p Aggregate,
        draft: &Draft<'p>,
        outer: &Layout<'_>,
    ) -> Option<Group> {
        let mut seen = BTreeSet::new();
        aggregate.body.iter().for_each(|it| it.collect_vars(&mut seen));
        let mut locals = aggregate.locals.clone();
        locals.retain(|it| seen.contains(it));
        let key = terms(&draft.key);
        let goal = Target { key: &key, rest: &locals };
        let chain = self.chain(&aggregate.body, &draft.key, goal, &[])?;
        let inner = Layout { key: &draft.key, rest: &locals, new: &[] };
        let exprs = aggregate.exprs.iter().map(|it| inner.calc(it)).collect::<Option<_>>()?;
        let mut equal = Vec::new();
        for (at, &result) in aggregate.results.iter().enumerate() {
            let slot = outer.term(result)?;
            if slot != Slot::New(at) {
                equal.push((at, slot));
            }
        }
        Some(Group { fold: aggregate.fold, chain, exprs, equal })
    }

    /// The access of an atom whose variables in `bound` are known.
    fn access(&mut self, atom: &Atom, bound: &[VarId]) -> AccessId {
        let mut access = Access {
            rel: atom.rel,
            key: Vec::new(),
            value: Vec::new(),
            constant: Vec::new(),
            equal: Vec::new(),
        };
        for (at, &arg) in atom.args.iter().enumerate() {
            match arg {
                Term::Wild => {}
                Term::Const(raw) => access.constant.push((at, raw)),
                Term::Var(_) => match atom.args[..at].iter().position(|it| *it == arg) {
                    Some(before) => access.equal.push((before, at)),
                    None if matches!(arg, Term::Var(var) if bound.contains(&var)) => {
                        access.key.push(at);
                    }
                    None => access.value.push(at),
                },
            }
        }
        let accesses = &mut self.accesses;
        *self.known.entry(access).or_insert_with_key(|access| {
            accesses.push(access.clone());
            accesses.len() - 1
        })
    }
}

fn terms(vars: &[VarId]) -> Vec<Term> {
    vars.iter().map(|&it| Term::Var(it)).collect()
}

/// For each step, the variables that it, a later one or the goal reads, besides the step's own key.
fn later_needs(drafts: &[Draft<'_>], goal: Target<'_>) -> Vec<Vec<VarId>> {
    let mut needed: BTreeSet<VarId> = goal.rest.iter().copied().collect();
    needed.extend(term_vars(goal.key));
    let mut rests = Vec::new();
    for draft in drafts.iter().rev() {
        needed.extend(&draft.reads);
        rests.push(needed.iter().copied().collect());
        needed.extend(&draft.key);
    }
    rests.reverse();
    rests
}

/// A literal with, for an aggregate, the variables that it shares with the rest of the rule.
struct Part<'p> {
    literal: &'p Literal,
    groups: Vec<VarId>,
}

impl Part<'_> {
    /// The variables visible outside the literal, each once.
    fn vars(&self) -> Vec<VarId> {
        let mut vars = self.groups.clone();
        match self.literal {
            Literal::Aggregate(it) => vars.extend(term_vars(&it.results)),
            other => other.collect_vars(&mut vars),
        }
        let mut seen = BTreeSet::new();
        vars.retain(|it| seen.insert(*it));
        vars
    }

    fn open(&self, bound: &BTreeSet<VarId>) -> Vec<VarId> {
        self.vars().into_iter().filter(|it| !bound.contains(it)).collect()
    }

    fn known(&self, bound: &BTreeSet<VarId>) -> Vec<VarId> {
        self.vars().into_iter().filter(|it| bound.contains(it)).collect()
    }
}

fn parts<'p>(body: &'p [Literal], start: &[VarId], goal: Target<'_>) -> Vec<Part<'p>> {
    let mut around = [start, goal.rest].concat();
    around.extend(term_vars(goal.key));
    let part = |(at, literal): (usize, &'p Literal)| {
        let Literal::Aggregate(it) = literal else { return Part { literal, groups: Vec::new() } };
        let beside = body.iter().enumerate().filter(|(other, _)| *other != at);
        let mut outside: BTreeSet<VarId> = around.iter().copied().collect();
        beside.for_each(|(_, it)| it.collect_vars(&mut outside));
        outside.extend(term_vars(&it.results));
        Part { literal, groups: it.shared_vars().intersection(&outside).copied().collect() }
    };
    body.iter().enumerate().map(part).collect()
}

/// Sorts the literals of a body in join order.
fn order<'p>(
    program: &Program,
    body: &'p [Literal],
    start: &[VarId],
    goal: Target<'_>,
) -> Option<Vec<Draft<'p>>> {
    let mut bound: BTreeSet<VarId> = start.iter().copied().collect();
    let mut rest = parts(body, start, goal);
    let mut drafts = Vec::new();
    while !rest.is_empty() {
        let (at, _) = rest
            .iter()
            .enumerate()
            .filter_map(|(at, it)| Some((at, urgency(program, it, &bound)?)))
            .min_by_key(|&(_, urgency)| urgency)?;
        let draft = draft(&rest.remove(at), &bound);
        bound.extend(&draft.new);
        drafts.push(draft);
    }
    Some(drafts)
}

/// The rank of a literal in join order, lower ones first; `None` if it must wait. First come comparisons, negated atoms
/// and atoms without new variables; then relations with a key of which all columns but one are known; then aggregates,
/// joins by a variable or a constant, and other joins, each by the number of new variables.
fn urgency(program: &Program, part: &Part<'_>, bound: &BTreeSet<VarId>) -> Option<(u8, usize)> {
    let open = part.open(bound);
    match part.literal {
        Literal::Compare(compare) => {
            let binds =
                compare.op == Op::Eq && open.len() == 1 && compare.side_for(open[0]).is_some();
            (open.is_empty() || binds).then_some((0, 0))
        }
        Literal::Aggregate(_) => part.groups.iter().all(|it| bound.contains(it)).then_some((3, 0)),
        Literal::Atom(atom) if atom.negated => open.is_empty().then_some((0, 1)),
        Literal::Atom(atom) => {
            let used = atom.args.iter().filter(|it| match it {
                Term::Var(var) => bound.contains(var),
                Term::Const(_) => true,
                Term::Wild => false,
            });
            let used = used.count();
            let lookup = program.relation(atom.rel).functional && used + 1 == atom.args.len();
            Some(match (open.len(), used) {
                (0, _) => (1, 0),
                (1, _) if lookup => (2, 0),
                (open, 0) => (5, open),
                (open, _) => (4, open),
            })
        }
    }
}

fn draft<'p>(part: &Part<'p>, bound: &BTreeSet<VarId>) -> Draft<'p> {
    let Part { literal, groups } = part;
    let new = part.open(bound);
    match literal {
        Literal::Atom(_) => Draft { literal, key: part.known(bound), reads: Vec::new(), new },
        Literal::Compare(_) => Draft { literal, key: Vec::new(), reads: part.known(bound), new },
        Literal::Aggregate(aggregate) => {
            let mut reads: Vec<VarId> = term_vars(&aggregate.results).collect();
            reads.retain(|it| bound.contains(it) && !groups.contains(it));
            // One variable for each result, so that both have the same place. A result that is bound already or a constant
            // has a variable that occurs in no rule.
            let new = aggregate.results.iter().enumerate().map(|(at, it)| match it {
                Term::Var(var) if !bound.contains(var) => *var,
                _ => VarId(u16::MAX - at as u16),
            });
            Draft { literal, key: groups.clone(), reads, new: new.collect() }
        }
    }
}
