//! Plans of reactions: bodies and effects.

use std::collections::BTreeSet;

use crate::rules::{Effect, Event, Expr, Input, Literal, Type};

use super::super::code::EffectCode;
use super::super::planner::{Goal, PlanError, expr_vars, lit};
use super::super::word::Word;
use super::{Compiler, ReactionPlan, input_of, reaction_owner, relations_of};

impl<'p, W: Word> Compiler<'p, W> {
    pub(super) fn plan_reactions(&mut self) -> Result<Vec<(usize, ReactionPlan)>, PlanError> {
        let mut plans = Vec::new();
        for (at, reaction) in self.program.reactions.iter().enumerate() {
            let types: Vec<Type> = reaction.vars.iter().map(|it| it.ty).collect();
            self.planner.begin(&types, reaction_owner(self.program, at));
            let pc = self.planner.code.ops.len() as u32;
            let params = match reaction.event {
                Event::Action(id) => {
                    let rel = self.program.action(id).rel;
                    self.bind_tuple(&reaction.params, rel)?
                }
                Event::Any => Vec::new(),
            };
            let body: Vec<&Literal> = reaction.body.iter().collect();
            let Some(body) = self.prune_body(&body) else { continue };
            let mut needs = BTreeSet::new();
            let mut effects = Vec::new();
            for effect in &reaction.effects {
                let (code, exprs) = self.effect(effect)?;
                effects.push(code);
                for expr in exprs {
                    expr_vars(&expr, &mut needs);
                }
            }
            let number = self.planner.code.effects.len() as u32;
            self.planner.code.effects.push(effects);
            let goal = Goal::React { reaction: number, needs: needs.into_iter().collect() };
            let body_plan = self.planner.plan(body.iter().map(|it| lit(it)).collect(), &goal);
            body_plan.map_err(|it| it.at(self.program.place(reaction.span)))?;
            plans.push((at, ReactionPlan { params, pc, needs: relations_of(&body) }));
        }
        Ok(plans)
    }

    pub(super) fn prune_body(&self, body: &[&'p Literal]) -> Option<Vec<&'p Literal>> {
        let mut kept = Vec::new();
        for literal in body {
            match literal {
                Literal::Atom(atom) if self.is_empty(atom.rel) && !atom.negated => return None,
                Literal::Atom(atom) if self.is_empty(atom.rel) => {}
                other => kept.push(*other),
            }
        }
        Some(kept)
    }

    pub(super) fn effect(&mut self, effect: &Effect) -> Result<(EffectCode, Vec<Expr>), PlanError> {
        let game = Expr::Const(0);
        let truth = Expr::Const(1);
        let (entity, value, rel) = match effect {
            Effect::Remove { entity } => {
                let code = EffectCode::Remove { entity: self.planner.expr(entity)? };
                return Ok((code, vec![entity.clone()]));
            }
            Effect::Set { rel, args } => match input_of(self.program, *rel) {
                Input::Key(_) => (args[0].clone(), Some(args[1].clone()), *rel),
                Input::Flag(_) => (args[0].clone(), Some(truth), *rel),
                Input::Game(_) => (game, Some(args[0].clone()), *rel),
                Input::GameFlag(_) => (game, Some(truth), *rel),
            },
            Effect::Retract { rel, key } => match input_of(self.program, *rel) {
                Input::Key(_) | Input::Flag(_) => (key[0].clone(), None, *rel),
                Input::Game(_) | Input::GameFlag(_) => (game, None, *rel),
            },
        };
        let attr = input_of(self.program, rel).attr();
        let entity_id = self.planner.expr(&entity)?;
        let code = match &value {
            Some(value) => {
                EffectCode::Set { attr, entity: entity_id, value: self.planner.expr(value)? }
            }
            None => EffectCode::Retract { attr, entity: entity_id },
        };
        Ok((code, std::iter::once(entity).chain(value).collect()))
    }
}
