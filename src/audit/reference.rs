//! The second evaluation: a separate world under the reference evaluator, one action behind the game.

use std::sync::Arc;

use crate::derive::explain::{Finding, why, why_not};
use crate::derive::{Backend, Tuple, World, collect};
use crate::facts::{AttrId, GAME, NEXT_ENTITY, Session, saved};
use crate::game::{Game, go_back};
use crate::moves::Move;
use crate::presets::save::Difference;
use crate::presets::{Catalogue, Ruleset, SetError};
use crate::proof::Checker;
use crate::rules::{RelId, Role};

/// See the module's head.
#[derive(Debug)]
pub struct ReferenceEvaluator {
    world: World,
    checker: Option<Checker>,
    /// Relations that depend on the facts.
    live: Vec<RelId>,
    ahead: Option<Ahead>,
}

/// A change that was made here and is not yet compared with the game.
#[derive(Debug)]
enum Ahead {
    /// An action was taken, which may rewind the game.
    Taken { rewinds: bool },
    /// Presets were switched.
    Switched,
}

impl ReferenceEvaluator {
    /// The reference evaluator of a game, at the position on its board.
    pub fn new(game: &Game) -> Self {
        let mut world = World::new(game.plan().clone(), Backend::Frog);
        copy(game.facts(), &mut world);
        Self::over(world)
    }

    fn over(world: World) -> Self {
        let program = world.program();
        let live = (0..program.relations.len() as u16).map(RelId);
        let changes = |it: &RelId| {
            matches!(program.relation(*it).role, Role::Input(_) | Role::Derived | Role::Given(_))
        };
        let live = live.filter(changes);
        Self { live: live.collect(), world, checker: None, ahead: None }
    }

    /// The checker of proofs, about these facts.
    pub fn checker(&mut self, facts: &Session) -> &mut Checker {
        let program = self.world.program();
        let checker = self.checker.get_or_insert_with(|| Checker::new(program, facts));
        checker.change(facts);
        checker
    }

    /// Takes an action that the game is about to take.
    pub fn take(&mut self, mv: &Move) {
        let rewinds = match self.world.fire_traced(mv.action, &mv.args) {
            Ok(trace) => trace.rewind().is_some(),
            // If the reference evaluator refuses an action of the game, its facts stay unchanged, which the
            // comparison finds.
            Err(refusal) => {
                tracing::debug!(%refusal, "the reference evaluator refused");
                false
            }
        };
        self.ahead = Some(Ahead::Taken { rewinds });
    }

    /// Switches presets, as the game is about to do.
    ///
    /// # Errors
    /// Every reason why they cannot be active.
    pub fn switch(
        &mut self,
        game: &Game,
        catalogue: &Catalogue,
        rules: &Ruleset,
        presets: &[String],
    ) -> Result<(), SetError> {
        let mut own = Game::from_facts(self.world.clone(), Arc::clone(game.contract()));
        catalogue.set_active(rules, &mut own, presets)?;
        *self = Self::over(own.world().clone());
        self.ahead = Some(Ahead::Switched);
        Ok(())
    }

    /// Compares the facts after the last action with those of the game, and goes on from the game's, which include what
    /// no action states: how often a position has occurred, and how the players ended the game.
    ///
    /// # Errors
    /// The first fact that differs.
    pub fn follow(&mut self, game: &Game) -> Result<(), Difference> {
        if let Some(ahead) = self.ahead.take() {
            if let Ahead::Taken { rewinds } = ahead {
                let last = game.history().last();
                let rewound_to = last.and_then(|it| it.rewound_to());
                if rewinds != rewound_to.is_some() {
                    let what = "the evaluators do not agree whether the game goes back";
                    return Err(Difference::new("", what));
                }
                if let Some(plies) = rewound_to {
                    go_back(&mut self.world, &game.position_before(plies));
                }
            }
            let history = game.contract().recurrence();
            let stated = game.contract().ends().chain(history.map(|it| it.attr));
            compare_facts(game.facts(), self.world.facts(), &stated.collect::<Vec<_>>())?;
        }
        copy(game.facts(), &mut self.world);
        self.world.commit();
        Ok(())
    }

    /// Compares all rows and returns how many there are.
    ///
    /// # Errors
    /// The first row that only one evaluator has, with its proof; or the rules exceed a budget, so that rows are
    /// missing.
    pub fn compare(&mut self, game: &mut Game) -> Result<usize, Difference> {
        let mut count = 0;
        let mut differs = None;
        {
            let (mine, theirs) = (self.world.materialised(), game.world_mut().materialised());
            for &rel in &self.live {
                let all = vec![None; mine.program().relation(rel).columns.len()];
                let (wanted, found) = (collect(&mine, rel, &all), collect(&theirs, rel, &all));
                count += wanted.len();
                if let Some(row) = first_difference(&wanted, &found) {
                    differs = Some((rel, row));
                    break;
                }
            }
        }
        if let Err(limit) = game.check().and_then(|()| self.world.check()) {
            return Err(Difference::new("", limit.to_string()));
        }
        match differs {
            None => Ok(count),
            Some((rel, row)) => Err(self.describe(game, rel, &row)),
        }
    }

    fn describe(&mut self, game: &mut Game, rel: RelId, row: &[i64]) -> Difference {
        let mine = self.world.contains(rel, row);
        let (has, lacks) = match mine {
            true => ("datafrog", "the bit evaluator"),
            false => ("the bit evaluator", "datafrog"),
        };
        let (proof, refutation) = {
            let (mine_rows, theirs) = (self.world.materialised(), game.world_mut().materialised());
            let goal: Vec<Option<i64>> = row.iter().copied().map(Some).collect();
            match mine {
                true => (why(&mine_rows, rel, row), why_not(&theirs, rel, &goal)),
                false => (why(&theirs, rel, row), why_not(&mine_rows, rel, &goal)),
            }
        };
        let proof = proof.map(|it| game.tree(&Finding::Proved(vec![it])));
        let refutation = refutation.map(|it| game.tree(&Finding::Refuted(vec![it])));
        let name = self.world.program().tuple_name(rel, row);
        let what = format!("{has} derives {name}, and {lacks} does not");
        let both = [proof, refutation].into_iter().flatten().collect::<String>();
        Difference { at: String::new(), what, proof: Some(both) }
    }
}

/// A row that is in one list and not in the other.
fn first_difference(a: &[Tuple], b: &[Tuple]) -> Option<Tuple> {
    if a == b {
        return None;
    }
    let missing = a.iter().find(|it| b.binary_search(it).is_err());
    missing.or_else(|| b.iter().find(|it| a.binary_search(it).is_err())).cloned()
}

/// Writes the facts of a session of the same schema into a world.
fn copy(facts: &Session, world: &mut World) {
    for (entity, attr, _) in facts.iter_raw().chain(world.facts().clone().iter_raw()) {
        world.set_raw(entity, attr, facts.get_raw(entity, attr));
    }
}

/// The first fact that differs, except the counter of entities and the game's attributes `ignored`.
fn compare_facts(game: &Session, mine: &Session, ignored: &[AttrId]) -> Result<(), Difference> {
    let is_ignored = |attr: AttrId| attr == NEXT_ENTITY || ignored.contains(&attr);
    let list = |session: &Session| {
        let facts =
            session.all_facts().into_iter().filter(|it| it.entity != GAME || !is_ignored(it.attr));
        facts.collect::<Vec<_>>()
    };
    let (game_facts, my_facts) = (list(game), list(mine));
    let (ours, theirs) = ((&game_facts, "the bit evaluator"), (&my_facts, "datafrog"));
    for ((facts, here), (others, there)) in [(ours, theirs), (theirs, ours)] {
        if let Some(it) = facts.iter().find(|it| !others.contains(it)) {
            let fact = saved(game.schema(), it);
            let what = format!("`{fact}` is a fact under {here}, and not under {there}");
            return Err(Difference::new("", what));
        }
    }
    Ok(())
}
