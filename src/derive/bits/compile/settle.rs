//! What is empty or known at load, and the general fixpoints.

use crate::rules::{Literal, RelId, Role};

use super::super::super::budget::{Exhausted, ROWS, Resource};
use super::super::super::rows::{Tuple, two_of_a_key};
use super::super::assemble::Assembler;
use super::super::code::StoreId;
use super::super::general::{self, Variant};
use super::super::layout::Store;
use super::super::planner::{FREE_LOOPS, Goal, Lit, PlanError, lit};
use super::super::run::State;
use super::super::word::Word;
use super::{Compiled, Compiler, LiveRule, ground_fact, relations_of};

impl<'p, W: Word> Compiler<'p, W> {
    /// Drops what can never hold, and computes what statics alone decide.
    pub(super) fn prune_and_settle(&mut self) -> Result<(), PlanError> {
        for (at, relation) in self.program.relations.iter().enumerate() {
            if let Role::Builtin(tuples) = &relation.role {
                let tuples = tuples.iter().map(|it| it.iter().copied().collect()).collect();
                self.settle(RelId(at as u16), tuples)?;
            }
        }
        for stratum in &self.program.strata {
            let mut known = true;
            for &rel in &stratum.relations {
                let live = self.live_rules(rel, &stratum.relations);
                known &= live.iter().all(|it| self.reads_known(&it.body, &stratum.relations));
                self.live[usize::from(rel.0)] = live;
            }
            if known {
                let found = self.solve_static(&stratum.relations)?;
                for (&rel, tuples) in stratum.relations.iter().zip(found) {
                    self.settle(rel, tuples)?;
                }
            } else {
                // Not empty, whatever it will be.
                for &rel in &stratum.relations {
                    self.planner.layout.stores[usize::from(rel.0)] = Store::Sparse(StoreId::MAX);
                }
            }
        }
        Ok(())
    }

    pub(super) fn settle(&mut self, rel: RelId, tuples: Vec<Tuple>) -> Result<(), PlanError> {
        self.planner.layout.set_known(rel, tuples);
        let tuples = self.planner.layout.known_tuples(rel);
        self.planner.estimates[usize::from(rel.0)] = tuples.len() as f64;
        self.static_rows += tuples.len();
        let relation = self.program.relation(rel);
        if self.static_rows > ROWS {
            let owner = relation.rules.first().map_or(usize::MAX, |it| usize::from(it.0));
            return Err(Exhausted::new(self.program, Resource::Rows, owner).into());
        }
        match two_of_a_key(tuples) {
            Some([first, second]) if relation.functional => Err(PlanError::NotFunctional {
                place: self.program.place(relation.span),
                relation: relation.name.clone(),
                first: self.program.tuple_name(rel, first),
                second: self.program.tuple_name(rel, second),
            }),
            _ => Ok(()),
        }
    }

    pub(super) fn is_empty(&self, rel: RelId) -> bool {
        self.known(rel) && self.planner.layout.known_tuples(rel).is_empty()
    }

    pub(super) fn live_rules(&self, rel: RelId, own: &[RelId]) -> Vec<LiveRule<'p>> {
        let mut live = Vec::new();
        for &id in &self.program.relation(rel).rules {
            let rule = self.program.rule(id);
            let mut body = Vec::new();
            let mut can_fire = true;
            for literal in &rule.body {
                match literal {
                    Literal::Atom(atom) if !own.contains(&atom.rel) && self.is_empty(atom.rel) => {
                        can_fire &= atom.negated;
                    }
                    Literal::Atom(atom) if atom.args.is_empty() && self.known(atom.rel) => {
                        can_fire &= !atom.negated;
                    }
                    other => body.push(other),
                }
            }
            if can_fire {
                live.push(LiveRule { rule, body });
            }
        }
        live
    }

    pub(super) fn known(&self, rel: RelId) -> bool {
        self.planner.layout.is_known(rel)
    }

    pub(super) fn reads_known(&self, body: &[&Literal], own: &[RelId]) -> bool {
        relations_of(body).iter().all(|it| own.contains(it) || self.known(*it))
    }

    /// Computes a stratum that depends on statics alone.
    pub(super) fn solve_static(
        &mut self,
        relations: &[RelId],
    ) -> Result<Vec<Vec<Tuple>>, PlanError> {
        let ground: Option<Vec<Vec<Tuple>>> = relations
            .iter()
            .map(|rel| self.live[usize::from(rel.0)].iter().map(ground_fact).collect())
            .collect();
        if let Some(facts) = ground {
            return Ok(facts);
        }
        let mut fixpoint = self.plan_fixpoint(relations)?;
        let mut assembler = Assembler::new(&self.planner.code, &[]);
        fixpoint.assemble(&mut assembler)?;
        let machine = assembler.machine;
        let layout = &mut self.planner.layout;
        // Lent to the machine for the run, not copied: there are many such strata.
        let mut probe = Compiled::bare(self.program);
        probe.machine = machine;
        probe.code = std::mem::take(&mut self.planner.code);
        probe.statics = std::mem::take(&mut layout.statics);
        probe.orders = std::mem::take(&mut layout.orders);
        probe.list_is_static = std::mem::take(&mut layout.sparse_static);
        let mut state = State::new(&probe);
        std::mem::swap(&mut state.fuel, &mut self.fuel);
        general::run(&probe, &mut state, &fixpoint);
        std::mem::swap(&mut state.fuel, &mut self.fuel);
        layout.statics = probe.statics;
        layout.orders = probe.orders;
        layout.sparse_static = probe.list_is_static;
        self.planner.code = probe.code;
        if let Some((resource, owner)) = self.fuel.exhausted() {
            return Err(Exhausted::new(self.program, resource, owner).into());
        }
        Ok(fixpoint
            .relations
            .iter()
            .map(|it| std::mem::take(&mut state.lists[it.full as usize].tuples))
            .collect())
    }

    /// Plans the semi-naive fixpoint of a stratum: every rule once, then once per recursive atom
    /// with that atom reading only what is new.
    pub(super) fn plan_fixpoint(
        &mut self,
        relations: &[RelId],
    ) -> Result<general::Fixpoint, PlanError> {
        let stores: Vec<general::Member> = relations
            .iter()
            .map(|&rel| {
                let arity = self.program.relation(rel).columns.len();
                general::Member {
                    rel,
                    full: self.planner.layout.new_sparse(arity, false),
                    delta: self.planner.layout.new_sparse(arity, false),
                }
            })
            .collect();
        let mut variants = Vec::new();
        for member in &stores {
            for live in self.live[usize::from(member.rel.0)].clone() {
                let recursive: Vec<usize> = (0..live.body.len())
                    .filter(|&it| {
                        matches!(live.body[it], Literal::Atom(atom) if relations.contains(&atom.rel))
                    })
                    .collect();
                let new_ones: Vec<Option<usize>> = if recursive.is_empty() {
                    vec![None]
                } else {
                    recursive.iter().map(|&it| Some(it)).collect()
                };
                for new in new_ones {
                    self.planner.begin(&live.types(), u32::from(live.rule.id.0));
                    self.planner.loops = FREE_LOOPS; // over the rounds
                    let body = (0..live.body.len())
                        .map(|at| match live.body[at] {
                            Literal::Atom(atom) => {
                                let store = stores
                                    .iter()
                                    .find(|it| it.rel == atom.rel)
                                    .map(|it| if new == Some(at) { it.delta } else { it.full });
                                Lit::Atom { atom: atom.clone(), store }
                            }
                            other => lit(other),
                        })
                        .collect();
                    let pc = self.planner.code.ops.len() as u32;
                    let goal = Goal::Tuple { store: member.full, args: &live.rule.args };
                    self.plan(body, &goal, live.rule.id)?;
                    variants.push(Variant { pc, first: new.is_none() });
                }
            }
        }
        Ok(general::Fixpoint { relations: stores, variants })
    }
}
