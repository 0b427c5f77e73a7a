//! Finds what is empty or known at load, and plans the general fixpoint.

use std::sync::Arc;

use crate::rules::{Literal, RelId, Role, Rule, Term};

use super::super::super::budget::{Exhausted, Resource, STATIC_ROWS};
use super::super::super::rows::Tuple;
use super::super::code::StoreId;
use super::super::error::PlanError;
use super::super::general::{Fixpoint, MAX_POSSIBLE, Member, Variant};
use super::super::layout::{Sizes, Store, sizes};
use super::super::lists::{self, KnownRows};
use super::super::memo::{Key, Solved, Writer};
use super::super::planner::{Code, FREE_LOOPS, Goal, Lit};
use super::super::word::Word;
use super::{Compiler, LiveRule, is_atom_of};

impl<'p, W: Word> Compiler<'p, W> {
    /// Drops what can never hold, and computes relations that depend only on statics.
    pub(super) fn prune_and_settle(&mut self) -> Result<(), PlanError> {
        for (at, relation) in self.program.relations.iter().enumerate() {
            if let Role::Builtin(tuples) = &relation.role {
                let mut key = self.key_of(&[RelId(at as u16)]);
                key.extend(tuples.iter().flatten());
                let solved = self.memo.find(&key).unwrap_or_else(|| {
                    let mut tuples = tuples.iter().map(|it| it.iter().copied().collect()).collect();
                    lists::sort(&mut tuples);
                    self.memo.keep(key, vec![KnownRows::new(tuples)], Vec::new())
                });
                self.settle(&[RelId(at as u16)], &solved)?;
            }
        }
        for stratum in &self.program.strata {
            let mut known = true;
            for &rel in &stratum.relations {
                let live = self.live_rules(rel, &stratum.relations);
                let is_known = |it: &RelId| stratum.relations.contains(it) || self.known(*it);
                known &= live.iter().all(|it| it.reads().iter().all(is_known));
                self.live[usize::from(rel.0)] = live;
            }
            if known {
                let solved = self.solve_static(&stratum.relations)?;
                self.settle(&stratum.relations, &solved)?;
            } else {
                // They may have rows, which are not known yet.
                for &rel in &stratum.relations {
                    self.planner.layout.stores[usize::from(rel.0)] = Store::Sparse(StoreId::MAX);
                }
            }
        }
        self.start_plans();
        Ok(())
    }

    /// Plans from here on share nothing with earlier ones: the cost of a stratum of statics must not depend
    /// on whether earlier ones were computed or found in the memo.
    pub(super) fn start_plans(&mut self) {
        self.planner.code = Code::new();
        self.planner.layout.drop_tables();
    }

    /// Records the rows of relations that are computed at load.
    fn settle(&mut self, relations: &[RelId], solved: &Solved) -> Result<(), PlanError> {
        for ((&rel, rows), id) in relations.iter().zip(&solved.rows).zip(solved.first_id..) {
            self.ids[usize::from(rel.0)] = id;
            self.settle_one(rel, Arc::clone(rows))?;
        }
        Ok(())
    }

    /// Records the rows of one relation, and checks the number of all of them, and its key.
    fn settle_one(&mut self, rel: RelId, rows: Arc<KnownRows>) -> Result<(), PlanError> {
        self.planner.layout.set_known(rel, Arc::clone(&rows));
        self.planner.estimates[usize::from(rel.0)] = rows.len() as f64;
        self.static_rows += rows.len();
        let relation = self.program.relation(rel);
        if self.static_rows > STATIC_ROWS {
            let owner = relation.rules.first().map_or(usize::MAX, |it| usize::from(it.0));
            return Err(Exhausted::new(self.program, Resource::Rows, owner).into());
        }
        if relation.functional
            && let Some([first, second]) = rows.two_of_a_key()
        {
            // The last rule that may have either row: what was added to the others.
            let has = |rule: &Rule, row: &[i64]| {
                let differs =
                    |it: (&Term, &i64)| matches!(it.0, Term::Const(value) if value != it.1);
                !rule.args.iter().zip(row).any(differs)
            };
            let rules = relation.rules.iter().map(|it| &self.rules[usize::from(it.0)]);
            let last = rules.filter(|it| has(it, first) || has(it, second)).map(|it| it.span);
            let last = last.max_by_key(|it| (it.source, it.start));
            return Err(PlanError::NotFunctional {
                place: self.program.place(last.unwrap_or(relation.span)),
                relation: relation.name.clone(),
                first: self.program.tuple_name(rel, first),
                second: self.program.tuple_name(rel, second),
            });
        }
        Ok(())
    }

    pub(super) fn is_empty(&self, rel: RelId) -> bool {
        self.known(rel) && self.planner.layout.known_len(rel) == 0
    }

    /// The rules of a relation that can fire as far as is known, without the literals that are known to hold. `own`: the
    /// relations of its stratum.
    fn live_rules(&self, rel: RelId, own: &[RelId]) -> Vec<LiveRule<'p>> {
        let mut live = Vec::new();
        for &id in &self.program.relation(rel).rules {
            let rule: &'p Rule = &self.rules[usize::from(id.0)];
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

    /// The key of everything that the rows of the stratum depend on.
    pub(super) fn key_of(&self, relations: &[RelId]) -> Key {
        let (program, ids, key) = (self.program, self.ids.as_slice(), vec![W::WIDTH as i64]);
        let mut writer = Writer { program, own: relations, ids, key };
        writer.number(relations.len());
        for &rel in relations {
            writer.relation(rel);
            let rules = &self.live[usize::from(rel.0)];
            writer.number(rules.len());
            for live in rules {
                writer.types(live.rule.vars.iter().map(|it| it.ty));
                writer.terms(&live.rule.args);
                writer.literals(live.body.iter().copied());
                writer.vars(&live.rule.order);
            }
        }
        writer.key
    }

    /// The tuples of a stratum whose rules are all ground: without a body, and with constants only.
    pub(super) fn ground(&self, relations: &[RelId]) -> Option<Vec<Vec<Tuple>>> {
        let constant = |it: &Term| if let Term::Const(raw) = it { Some(*raw) } else { None };
        let fact = |live: &LiveRule<'_>| -> Option<Tuple> {
            if !live.body.is_empty() {
                return None;
            }
            live.rule.args.iter().map(constant).collect()
        };
        let facts = |rel: &RelId| -> Option<Vec<Tuple>> {
            let mut facts =
                self.live[usize::from(rel.0)].iter().map(fact).collect::<Option<_>>()?;
            lists::sort(&mut facts);
            Some(facts)
        };
        relations.iter().map(facts).collect()
    }

    /// Checks that the budget for computing statics is not used up.
    pub(super) fn check_fuel(&self) -> Result<(), PlanError> {
        match self.fuel.exhausted() {
            Some((resource, owner)) => Err(Exhausted::new(self.program, resource, owner).into()),
            None => Ok(()),
        }
    }

    /// Plans the semi-naive fixpoint of a stratum: a rule that reads nothing of the stratum once, for the first
    /// round; any other once for each atom that does, with that atom reading only the tuples of the last round.
    pub(super) fn plan_fixpoint(&mut self, relations: &[RelId]) -> Result<Fixpoint, PlanError> {
        let members: Vec<Member> = relations.iter().map(|it| self.member(*it)).collect();
        let mut variants = Vec::new();
        for member in &members {
            for live in self.live[usize::from(member.rel.0)].clone() {
                let mut is_recursive = false;
                for (at, literal) in live.body.iter().enumerate() {
                    if members.iter().any(|it| is_atom_of(literal, it.rel)) {
                        is_recursive = true;
                        variants.push(self.variant(&members, member.full, &live, Some(at))?);
                    }
                }
                if !is_recursive {
                    variants.push(self.variant(&members, member.full, &live, None)?);
                }
            }
        }
        Ok(Fixpoint { relations: members, variants })
    }

    /// Gives a relation of a fixpoint its lists.
    fn member(&mut self, rel: RelId) -> Member {
        let columns = &self.program.relation(rel).columns;
        let is_small = |sizes: &Sizes| {
            let tuples = sizes.iter().try_fold(1_usize, |all, &it| all.checked_mul(it as usize));
            tuples.is_some_and(|it| it <= MAX_POSSIBLE)
        };
        Member {
            rel,
            full: self.planner.layout.new_sparse(columns.len(), false),
            delta: self.planner.layout.new_sparse(columns.len(), false),
            sizes: sizes(self.program, columns).filter(is_small),
        }
    }

    /// Plans a rule that adds to the list `full`. The atom at place `delta` of its body reads the tuples of the last round.
    fn variant(
        &mut self,
        members: &[Member],
        full: StoreId,
        live: &LiveRule<'p>,
        delta: Option<usize>,
    ) -> Result<Variant, PlanError> {
        let pc = self.begin(live)?;
        self.planner.loops = FREE_LOOPS; // it runs once a round, so every loop is charged
        let mut body = live.literals();
        for (at, lit) in body.iter_mut().enumerate() {
            if let Lit::Atom { atom, store } = lit
                && let Some(member) = members.iter().find(|it| it.rel == atom.rel)
            {
                *store = Some(if delta == Some(at) { member.delta } else { member.full });
            }
        }
        self.plan(body, &Goal::Tuple { store: full, args: &live.rule.args })?;
        Ok(Variant { pc, runs_once: delta.is_none() })
    }
}
