//! Compiles a checked program to plans: relations are empty, known at load, maintained, or derived on demand.
//!
//! * A relation without clauses is empty; its literals are removed before planning.
//! * A relation that depends only on statics is computed here, once.
//! * A relation over finite columns that an action needs is maintained if it depends neither on an aggregate nor on a
//!   fact of the game itself that reactions change (the side to move, a counter): by block if its first column is an
//!   entity, else by tuple.
//! * Everything else is derived on demand, from scratch.
//!
//! The steps: `settle` finds what is empty and computes what is known (`solve`), `modes` decides how each other relation
//! is kept and plans its rules, `deltas` plans the consequences of changed tuples, `reactions` those of
//! actions, and `link` makes one program of all plans (`compiled`).

mod compiled;
mod deltas;
mod link;
mod modes;
mod reactions;
mod settle;
mod solve;
mod unfold;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::schedule::Schedule;
use super::code::StoreId;
use super::error::PlanError;
use super::fuel::Fuel;
use super::general::Fixpoint;
use super::layout::{Store, size};
use super::machine::KeptId;
use super::memo::Memo;
use super::planner::{Lit, Planner, lit, weights};
use super::word::Word;
use crate::rules::{
    Column, Dependencies, Effect, Input, Literal, Program, RelId, Role, Rule, Term, Type,
    relations_of,
};
#[cfg(feature = "native")]
pub(super) use compiled::Guards;
pub(super) use compiled::{Compiled, Maintained, Mode, ReactionPlan, Readers};
use compiled::{Delta, DeltaKind, OnDemand};

pub(super) fn compile<W: Word>(
    program: &Arc<Program>,
    schedule: &Schedule,
    depends: &Dependencies,
    memo: &Memo,
) -> Result<Compiled<W>, PlanError> {
    memo.trim();
    let rules = super::inline::inlined(program);
    let relations = program.relations.len();
    let mut compiler = Compiler {
        program,
        rules: &rules,
        planner: Planner::<W>::new(program),
        modes: vec![Mode::Given; relations],
        live: vec![Vec::new(); relations],
        volatile: vec![false; relations],
        of_actions: BTreeSet::new(),
        deltas: vec![Vec::new(); relations],
        maintained: Vec::new(),
        general: Vec::new(),
        memo,
        ids: vec![0; relations],
        static_rows: 0,
        fuel: Fuel::new(),
    };
    compiler.place_inputs();
    compiler.prune_and_settle()?;
    compiler.fuel.pay(0);
    compiler.place_derived();
    compiler.plan_relations()?;
    compiler.planner.code.relations_end = compiler.planner.code.ops.len();
    compiler.plan_deltas()?;
    let reactions = compiler.plan_reactions()?;
    let candidates = compiler.plan_candidates()?;
    compiler.link(schedule, depends, reactions, &candidates)
}

struct Compiler<'p, W> {
    program: &'p Arc<Program>,
    /// Its rules, after inlining.
    rules: &'p [Cow<'p, Rule>],
    planner: Planner<'p, W>,
    modes: Vec<Mode>,
    /// For each relation, the rules that can fire, with the literals that can fail.
    live: Vec<Vec<LiveRule<'p>>>,
    /// By relation, whether maintained relations may not read it: an input of the game that reactions change, rows that
    /// the engine gives, and all that is derived on demand.
    volatile: Vec<bool>,
    /// The relations that the rows of actions depend on.
    of_actions: BTreeSet<RelId>,
    deltas: Vec<Vec<Delta>>,
    maintained: Vec<RelId>,
    general: Vec<Fixpoint>,
    /// Statics that other programs have computed already.
    memo: &'p Memo,
    /// For each known relation, the id of its rows in the memo.
    ids: Vec<i64>,
    /// Number of rows of all statics so far.
    static_rows: usize,
    /// The budget left for computing statics.
    fuel: Fuel,
}

/// A rule that can fire, with the literals of its body that can fail.
#[derive(Debug, Clone)]
struct LiveRule<'p> {
    rule: &'p Rule,
    body: Vec<&'p Literal>,
}

impl<'p> LiveRule<'p> {
    fn literals(&self) -> Vec<Lit<'p>> {
        self.body.iter().map(|it| lit(it)).collect()
    }

    /// The relations that it reads.
    fn reads(&self) -> Vec<RelId> {
        relations_of(self.body.iter().copied())
    }
}

impl<'p, W: Word> Compiler<'p, W> {
    /// Starts a plan of the rule. Returns where it begins.
    fn begin(&mut self, live: &LiveRule<'_>) -> Result<u32, PlanError> {
        let types: Vec<Type> = live.rule.vars.iter().map(|it| it.ty).collect();
        let pc = self.planner.begin(&types, u32::from(live.rule.id.0))?;
        self.planner.order.extend(&live.rule.order);
        Ok(pc)
    }

    /// Gives each input its store and an estimate.
    fn place_inputs(&mut self) {
        for (at, relation) in self.program.relations.iter().enumerate() {
            if let Role::Given(_) = relation.role {
                self.planner.layout.stores[at] = Store::Sparse(StoreId::MAX);
                self.planner.estimates[at] = weights::GIVEN;
                self.volatile[at] = true;
            }
            if let Role::Input(input) = relation.role {
                let rel = RelId(at as u16);
                self.planner.layout.place_input(self.program, rel, input);
                let of_game = matches!(input, Input::Game(_) | Input::GameFlag(_));
                self.volatile[at] = of_game && self.is_written(rel);
                self.planner.estimates[at] = self.expected(input, &relation.columns);
            }
        }
    }

    /// Expected number of tuples of an input.
    fn expected(&self, input: Input, columns: &[Column]) -> f64 {
        let size = |column: usize| size(self.program, columns[column].ty);
        match input {
            Input::Key(attr) | Input::Flag(attr) if self.program.schema.owners(attr).is_some() => {
                let owners = size(0).unwrap_or_default();
                (owners as f64).min(weights::MOST_MEMBERS_STATED)
            }
            Input::Key(_) if size(1).is_some_and(|it| it < 4) => weights::FEW_VALUES,
            Input::Key(_) => weights::VALUES,
            Input::Flag(_) => weights::FLAGS,
            Input::List(..) => weights::LISTED,
            Input::Game(_) | Input::GameFlag(_) => 1.0,
        }
    }

    /// Whether some reaction changes the input; otherwise it is as good as constant.
    fn is_written(&self, input: RelId) -> bool {
        self.program.reactions.iter().flat_map(|it| &it.effects).any(|effect| match effect {
            Effect::Set { rel, .. } | Effect::Retract { rel, .. } => *rel == input,
            Effect::Forget { .. } => {
                let attr = input_of(self.program, input).attr();
                self.program.forgettable().any(|it| it == attr)
            }
            _ => false,
        })
    }

    /// Maintained relations with a rule that depends on no fact.
    fn unprompted(&self) -> Vec<KeptId> {
        let free = |rel: &RelId| self.live[usize::from(rel.0)].iter().any(|it| self.is_free(it));
        let numbered = (0..).zip(&self.maintained);
        numbered.filter(|(_, rel)| free(rel)).map(|(kept_id, _)| kept_id).collect()
    }

    /// Whether the rule depends on no fact.
    fn is_free(&self, live: &LiveRule<'_>) -> bool {
        !live.body.iter().any(|it| match it {
            Literal::Atom(atom) => !atom.negated && !self.known(atom.rel),
            _ => false,
        })
    }

    /// For each relation, what must be derived on demand before it is read, in order.
    fn needs(&self) -> Vec<Vec<RelId>> {
        let strata = &self.program.strata;
        let order: Vec<RelId> = strata.iter().flat_map(|it| &it.relations).copied().collect();
        // A set has one bit for each place in that order, so that it is read in order.
        let words = order.len().div_ceil(64);
        let mut needs: Vec<Vec<u64>> = vec![Vec::new(); self.program.relations.len()];
        let mut at = 0;
        for stratum in strata {
            let mut all = vec![0; words];
            for &rel in &stratum.relations {
                if self.is_on_demand(rel) {
                    all[at / 64] |= 1 << (at % 64);
                    for read in self.live[usize::from(rel.0)].iter().flat_map(LiveRule::reads) {
                        let theirs = &needs[usize::from(read.0)];
                        all.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine |= theirs);
                    }
                }
                at += 1;
            }
            for &rel in &stratum.relations {
                needs[usize::from(rel.0)].clone_from(&all);
            }
        }
        let members = |set: &Vec<u64>| {
            let places = (0..).step_by(64).zip(set).flat_map(|(first, &word)| {
                let mut word = word;
                std::iter::from_fn(move || word.pop().map(|it: usize| first + it))
            });
            places.map(|it: usize| order[it]).collect()
        };
        needs.iter().map(members).collect()
    }

    /// Whether a relation is derived on demand: it is neither given nor maintained.
    fn is_on_demand(&self, rel: RelId) -> bool {
        let mode = &self.modes[usize::from(rel.0)];
        !matches!(mode, Mode::Given | Mode::Block { .. } | Mode::Tuple { .. })
    }
}

fn input_of(program: &Program, rel: RelId) -> Input {
    match program.relation(rel).role {
        Role::Input(input) => input,
        _ => unreachable!("the checker lets effects change inputs only"),
    }
}

fn is_atom_of(literal: &Literal, rel: RelId) -> bool {
    matches!(literal, Literal::Atom(atom) if atom.rel == rel)
}

/// Whether there is one recursive atom, positive, that differs from the head only in its last column.
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
