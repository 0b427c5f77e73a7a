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
        for reader in self.maintained.clone() {
            for live in self.live[usize::from(reader.0)].clone() {
                for at in 0..live.body.len() {
                    if let Literal::Atom(atom) = live.body[at]
                        && !self.known(atom.rel)
                    {
                        self.plan_delta(reader, &live, at, atom)?;
                    }
                }
            }
        }
        self.planner.may_index = false;
        Ok(())
    }

    /// For relations that are updated by tuple: plans that find in statics the tuples that may hold without any
    /// fact, so that no write leads to them.
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

    /// Plans which rows of `reader` a change of the atom at place `at` of a rule's body may affect.
    fn plan_delta(
        &mut self,
        reader: RelId,
        live: &LiveRule<'p>,
        at: usize,
        atom: &'p Atom,
    ) -> Result<(), PlanError> {
        if atom.rel == reader {
            return Ok(()); // only blocks are recursive, and a change within a block stays in it
        }
        let block = self.is_block(reader).then(|| live.rule.args[0]);
        if let Some(block) = block
            && let Some(col) = atom.args.iter().position(|it| *it == block)
        {
            let what = DeltaKind::Block { col, guards: self.guards(live, at, block) };
            self.deltas[usize::from(atom.rel.0)].push(Delta { reader, what });
            return Ok(());
        }
        let pc = self.begin(live)?;
        let regs = self.bind_tuple(&atom.args, &self.program.relation(atom.rel).columns)?;
        let goal = match block {
            Some(block) => Goal::Dirty { relation: reader, block },
            None => Goal::Suspect { relation: reader, args: &live.rule.args },
        };
        let body = self.delta_body(live, at, block);
        let last = needs_last(atom, &goal, &body);
        self.plan(body, &goal)?;
        let what = DeltaKind::Run { regs, pc, last };
        self.deltas[usize::from(atom.rel.0)].push(Delta { reader, what });
        Ok(())
    }

    /// The literals that find the tuples or blocks that a change may affect. A superset is enough: no literal if the
    /// change names them, one atom if that gives all blocks as a row, else what is left without negated atoms.
    fn delta_body(&self, live: &LiveRule<'p>, at: usize, block: Option<Term>) -> Vec<Lit<'p>> {
        let wanted: Vec<Term> = block.map_or_else(|| live.rule.args.clone(), |it| vec![it]);
        if wanted.iter().all(|it| self.planner.is_ready(*it)) {
            return Vec::new();
        }
        let positive = |it: &usize| {
            *it != at && matches!(live.body[*it], Literal::Atom(atom) if !atom.negated)
        };
        if let Some(block) = block {
            for it in (0..live.body.len()).filter(positive) {
                if let Literal::Atom(atom) = live.body[it]
                    && self.is_row_of_blocks(atom, block)
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
            .partition(|it| is_atom_of(live.body[*it], live.rule.head));
        let mut used = others;
        let mut bound = bound_by(live, at, &used);
        if wanted.iter().any(|it| matches!(it, Term::Var(var) if !bound.contains(var))) {
            // The change may affect the blocks that have rows for the recursive atom. A block that has none yet
            // is derived again when it gets one.
            used.extend(own);
            bound = bound_by(live, at, &used);
        }
        let settled = |it: &usize| match live.body[*it] {
            Literal::Compare(compare) => vars_of(&Lit::Compare(compare)).is_subset(&bound),
            _ => used.contains(it),
        };
        (0..live.body.len()).filter(settled).map(|it| lit(live.body[it])).collect()
    }

    /// Whether an index has a row of blocks for an atom: its first column is the block, its last one is bound.
    fn is_row_of_blocks(&self, atom: &Atom, block: Term) -> bool {
        let store = &self.planner.layout.stores[usize::from(atom.rel.0)];
        atom.args.len() >= 2
            && atom.args.first() == Some(&block)
            && atom.args.last().is_some_and(|it| self.planner.is_ready(*it))
            && (self.maintained.contains(&atom.rel)
                || matches!(store, Store::Key { inverse: Some(_), .. }))
    }

    /// The rows that must contain a block for the rule to conclude anything about it: of attributes and maintained
    /// relations, except those of the changed one and of the rule's own.
    fn guards(&self, live: &LiveRule<'p>, at: usize, block: Term) -> Vec<u32> {
        let is_left_out = |rel| rel == live.rule.head || is_atom_of(live.body[at], rel);
        let mut guards = Vec::new();
        for literal in &live.body {
            let Literal::Atom(atom) = literal else { continue };
            if atom.negated || is_left_out(atom.rel) || atom.args.first() != Some(&block) {
                continue;
            }
            let row = match &self.planner.layout.stores[usize::from(atom.rel.0)] {
                Store::Key { present, .. } => Some(*present),
                Store::Dense(dense) if dense.space == Space::Maintained => match atom.args.len() {
                    1 => Some(dense.base),
                    _ => dense.support,
                },
                _ => None,
            };
            guards.extend(row);
        }
        guards.sort_unstable();
        guards.dedup();
        guards
    }
}

/// The variables that are bound once the changed atom and these literals are, through `=` as well.
fn bound_by(live: &LiveRule<'_>, at: usize, used: &[usize]) -> BTreeSet<VarId> {
    let mut bound: BTreeSet<VarId> =
        used.iter().chain([&at]).flat_map(|it| vars_of(&lit(live.body[*it]))).collect();
    loop {
        let before = bound.len();
        for literal in &live.body {
            let Literal::Compare(compare) = literal else { continue };
            let mut open = vars_of(&Lit::Compare(compare));
            open.retain(|it| !bound.contains(it));
            if open.len() == 1 && open.iter().all(|it| compare.side_for(*it).is_some()) {
                bound.extend(open);
            }
        }
        if bound.len() == before {
            return bound;
        }
    }
}

/// Whether what follows from a changed tuple may depend on its last column.
fn needs_last(atom: &Atom, goal: &Goal<'_>, body: &[Lit<'_>]) -> bool {
    let Some(Term::Var(last)) = atom.args.last() else { return true };
    let twice = atom.args[..atom.args.len() - 1].contains(&Term::Var(*last));
    let wanted = match goal {
        Goal::Suspect { args, .. } => args.contains(&Term::Var(*last)),
        Goal::Dirty { block, .. } => *block == Term::Var(*last),
        _ => true,
    };
    let read = |lit: &Lit<'_>| {
        vars_of(lit).contains(last)
            || matches!(lit, Lit::Atom { atom: other, .. } if other.rel == atom.rel)
    };
    twice || wanted || body.iter().any(read)
}
