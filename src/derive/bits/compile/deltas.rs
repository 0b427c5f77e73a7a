//! Delta plans: which rows of a maintained relation a change of another relation may affect.

use std::collections::BTreeSet;

use crate::rules::{Atom, Literal, RelId, Term, VarId};

use super::super::code::Space;
use super::super::error::PlanError;
use super::super::layout::Store;
use super::super::planner::{Goal, Lit, lit, vars_of};
use super::super::word::Word;
use super::{Compiler, Delta, DeltaKind, LiveRule, is_atom_of};

impl<'p, W: Word> Compiler<'p, W> {
    /// Plans what a change of any relation that a maintained one reads may affect there.
    pub(super) fn plan_deltas(&mut self) -> Result<(), PlanError> {
        self.planner.may_index = true;
        for consumer in self.maintained.clone() {
            for live in self.live[usize::from(consumer.0)].clone() {
                for at in 0..live.body.len() {
                    if let Literal::Atom(atom) = live.body[at]
                        && !self.known(atom.rel)
                    {
                        self.plan_delta(consumer, &live, at, atom)?;
                    }
                }
            }
        }
        self.planner.may_index = false;
        Ok(())
    }

    /// Plans for the tuples that maintained relations updated by tuple may have without any fact, found from
    /// statics.
    pub(super) fn plan_candidates(&mut self) -> Result<Vec<(RelId, Vec<u32>)>, PlanError> {
        let mut candidates = Vec::new();
        for relation in self.maintained.clone() {
            if self.is_block(relation) {
                continue;
            }
            let mut plans = Vec::new();
            for live in self.live[usize::from(relation.0)].clone() {
                if !self.is_free(&live) {
                    continue;
                }
                plans.push(self.begin(&live)?);
                // Negated atoms only narrow what is checked.
                let is_kept = |it: &&&Literal| !matches!(it, Literal::Atom(atom) if atom.negated);
                let body = live.body.iter().filter(is_kept).map(|it| lit(it)).collect();
                let goal = Goal::Suspect { relation, args: &live.rule.args };
                self.plan(body, &goal)?;
            }
            if !plans.is_empty() {
                candidates.push((relation, plans));
            }
        }
        Ok(candidates)
    }

    /// Plans which rows of `consumer` a change of the atom at place `at` of a rule's body may affect.
    fn plan_delta(
        &mut self,
        consumer: RelId,
        live: &LiveRule<'p>,
        at: usize,
        atom: &'p Atom,
    ) -> Result<(), PlanError> {
        let block = self.is_block(consumer).then(|| live.rule.args[0]);
        if atom.rel == consumer {
            return Ok(()); // a change within a block stays in it
        }
        if let Some(block) = block
            && let Some(col) = atom.args.iter().position(|it| *it == block)
        {
            let what = DeltaKind::Block { col, guards: self.guards(live, at, block) };
            self.deltas[usize::from(atom.rel.0)].push(Delta { consumer, what });
            return Ok(());
        }
        let pc = self.begin(live)?;
        let regs = self.bind_tuple(&atom.args, &self.program.relation(atom.rel).columns)?;
        let goal = match block {
            Some(block) => Goal::Dirty { relation: consumer, block },
            None => Goal::Suspect { relation: consumer, args: &live.rule.args },
        };
        let body = self.delta_body(consumer, live, at, block);
        let last = self.needs_last(atom, &goal, &body);
        self.plan(body, &goal)?;
        let what = DeltaKind::Run { regs, pc, last };
        self.deltas[usize::from(atom.rel.0)].push(Delta { consumer, what });
        Ok(())
    }

    /// The rest of the body, to find the tuples that a change may affect; a superset is enough, so literals
    /// that only narrow it are left out.
    fn delta_body(
        &self,
        consumer: RelId,
        live: &LiveRule<'p>,
        at: usize,
        block: Option<Term>,
    ) -> Vec<Lit<'p>> {
        let bound = |term: &Term| self.planner.is_ready(*term);
        let heads: Vec<Term> = block.map_or_else(|| live.rule.args.clone(), |it| vec![it]);
        if heads.iter().all(bound) {
            return Vec::new();
        }
        let positive = |it: &usize| {
            *it != at && matches!(live.body[*it], Literal::Atom(atom) if !atom.negated)
        };
        // One literal that joins the change to the block is enough, if it is a row.
        if let Some(block) = block {
            for it in (0..live.body.len()).filter(positive) {
                if let Literal::Atom(atom) = live.body[it]
                    && self.joins(atom, block, consumer)
                {
                    let mut atom = atom.clone();
                    let last = atom.args.len() - 1;
                    atom.args[1..last].fill(Term::Wild);
                    return vec![Lit::Atom { atom, store: None }];
                }
            }
        }
        let (own, others): (Vec<usize>, Vec<usize>) = (0..live.body.len())
            .filter(positive)
            .partition(|it| is_atom_of(live.body[*it], consumer));
        let mut used = others;
        let mut known = self.bound_by(live, at, &used);
        if heads.iter().any(|it| matches!(it, Term::Var(var) if !known.contains(var))) {
            // Only the block's own rows show which blocks the change may affect: those that have such rows
            // now. Others are derived again when something gives them such rows.
            used.extend(own);
            known = self.bound_by(live, at, &used);
        }
        let settled = |it: &usize| match live.body[*it] {
            Literal::Compare(compare) => vars_of(&Lit::Compare(compare)).is_subset(&known),
            _ => used.contains(it),
        };
        (0..live.body.len()).filter(settled).map(|it| lit(live.body[it])).collect()
    }

    /// Whether an atom has a row of blocks for its last column, which is bound.
    fn joins(&self, atom: &Atom, block: Term, consumer: RelId) -> bool {
        let store = &self.planner.layout.stores[usize::from(atom.rel.0)];
        atom.args.len() >= 2
            && atom.args.first() == Some(&block)
            && atom.args.last().is_some_and(|it| self.planner.is_ready(*it))
            && (atom.rel == consumer
                || self.maintained.contains(&atom.rel)
                || matches!(store, Store::Key { inverse: Some(_), .. }))
    }

    /// The variables that are bound once the changed atom and these literals are, through `=` as well.
    fn bound_by(&self, live: &LiveRule<'p>, at: usize, used: &[usize]) -> BTreeSet<VarId> {
        let mut known: BTreeSet<VarId> =
            used.iter().chain([&at]).flat_map(|it| vars_of(&lit(live.body[*it]))).collect();
        loop {
            let before = known.len();
            for literal in &live.body {
                let Literal::Compare(compare) = literal else { continue };
                let mut open = vars_of(&Lit::Compare(compare));
                open.retain(|it| !known.contains(it));
                if open.len() == 1 && open.iter().all(|it| compare.side_for(*it).is_some()) {
                    known.extend(open);
                }
            }
            if known.len() == before {
                return known;
            }
        }
    }

    /// The maintained rows that must contain a block for the rule to conclude anything about it, except those
    /// of the changed atom.
    fn guards(&self, live: &LiveRule<'p>, at: usize, block: Term) -> Vec<u32> {
        let mut guards = Vec::new();
        for (other, literal) in live.body.iter().enumerate() {
            let Literal::Atom(atom) = literal else { continue };
            if other == at || atom.negated || atom.args.first() != Some(&block) {
                continue;
            }
            let own = matches!(live.body[at], Literal::Atom(it) if it.rel == atom.rel);
            let row = match &self.planner.layout.stores[usize::from(atom.rel.0)] {
                Store::Key { present, .. } => Some(*present),
                Store::Dense(dense) if dense.space == Space::Maintained => match atom.args.len() {
                    1 => Some(dense.base),
                    _ => dense.support,
                },
                _ => None,
            };
            guards.extend(row.filter(|_| !own && atom.rel != live.rule.head));
        }
        guards.sort_unstable();
        guards.dedup();
        guards
    }

    /// Whether what follows from a changed tuple depends on its last column.
    fn needs_last(&self, atom: &Atom, goal: &Goal<'_>, body: &[Lit<'p>]) -> bool {
        let Some(Term::Var(last)) = atom.args.last() else { return true };
        let twice = atom.args[..atom.args.len() - 1].contains(&Term::Var(*last));
        let wanted = match goal {
            Goal::Suspect { args, .. } => args.contains(&Term::Var(*last)),
            Goal::Dirty { block, .. } => *block == Term::Var(*last),
            _ => true,
        };
        let read = |lit: &Lit<'p>| {
            vars_of(lit).contains(last)
                || matches!(lit, Lit::Atom { atom: other, .. } if other.rel == atom.rel)
                || matches!(lit, Lit::Aggregate(_))
        };
        twice || wanted || body.iter().any(read)
    }
}
