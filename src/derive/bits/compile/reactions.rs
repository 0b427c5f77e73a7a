//! Plans of reactions: bodies and effects.

use crate::rules::{Effect, Expr, Input, Literal, Reaction, RelId, Type, relations_of};

use super::super::code::{EffectCode, ExprId, ReactionCode, Reg};
use super::super::error::PlanError;
use super::super::planner::{Goal, lit};
use super::super::word::Word;
use super::unfold::Body;
use super::{Compiler, ReactionPlan, input_of};

impl<'p, W: Word> Compiler<'p, W> {
    /// The plan of each reaction; `None` for those whose body asks for a row of a relation that is known to be empty.
    pub(super) fn plan_reactions(&mut self) -> Result<Vec<Option<ReactionPlan>>, PlanError> {
        let reactions = self.program.reactions.iter().enumerate();
        reactions.map(|(at, it)| self.plan_reaction(at, it)).collect()
    }

    fn plan_reaction(
        &mut self,
        at: usize,
        reaction: &'p Reaction,
    ) -> Result<Option<ReactionPlan>, PlanError> {
        let body: Vec<&Literal> = reaction.body.iter().collect();
        let Some(body) = self.prune_body(&body) else { return Ok(None) };
        let types: Vec<Type> = reaction.vars.iter().map(|it| it.ty).collect();
        // Reactions are numbered on after the rules.
        let owner = (self.program.rules.len() + at) as u32;
        self.planner.begin(&types, owner)?;
        let named = reaction.named();
        let mut effects = Vec::new();
        for (number, effect) in reaction.effects.iter().enumerate() {
            effects.push(self.effect(number, effect)?);
        }
        let code = self.planner.code.effects.len() as u32;
        let regs = named.iter().map(|it| it.0 as Reg).collect();
        self.planner.code.effects.push(ReactionCode { reaction: at, named: regs, effects });
        let goal = Goal::React { reaction: code, named };
        let columns = self.program.event_columns(reaction.event);
        let (mut plans, mut relations) = (Vec::new(), Vec::new());
        for Body { types, literals } in self.unfolded(reaction, &body) {
            let pc = self.planner.begin(&types, owner)?;
            plans.push((self.bind_tuple(&reaction.params, columns)?, pc));
            self.plan(literals.iter().map(lit).collect(), &goal)?;
            relations.extend(relations_of(&literals));
        }
        // `link` sets `pc`, and replaces `needs` by all relations that the ones here need on demand.
        Ok(Some(ReactionPlan { plans, pc: 0, code, needs: relations }))
    }

    /// A body without the literals that hold because a relation is known to be empty; `None` if one fails
    /// for that reason.
    fn prune_body(&self, body: &[&'p Literal]) -> Option<Vec<&'p Literal>> {
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

    fn effect(&mut self, number: usize, effect: &Effect) -> Result<EffectCode, PlanError> {
        let (game, truth) = (Expr::Const(0), Expr::Const(1));
        Ok(match effect {
            // The checker refuses effects on lists.
            Effect::Set { rel, args } => match input_of(self.program, *rel) {
                Input::Key(_) => self.write(*rel, &args[0], Some(&args[1]))?,
                Input::Flag(_) => self.write(*rel, &args[0], Some(&truth))?,
                Input::Game(_) => self.write(*rel, &game, Some(&args[0]))?,
                Input::GameFlag(_) | Input::List(..) => self.write(*rel, &game, Some(&truth))?,
            },
            Effect::Retract { rel, key } => match input_of(self.program, *rel) {
                Input::Key(_) | Input::Flag(_) => self.write(*rel, &key[0], None)?,
                Input::Game(_) | Input::GameFlag(_) | Input::List(..) => {
                    self.write(*rel, &game, None)?
                }
            },
            Effect::Remove { entity } => EffectCode::Remove { entity: self.planner.expr(entity)? },
            Effect::Spawn { var } => EffectCode::Spawn { reg: var.0 as Reg },
            Effect::Raise { event, args } => {
                EffectCode::Raise { event: *event, args: self.exprs(args)? }
            }
            Effect::Emit { event, args } => {
                EffectCode::Emit { event: *event, args: self.exprs(args)? }
            }
            Effect::Stop => EffectCode::Stop,
            Effect::Pass { args } => EffectCode::Pass { args: self.exprs(args)? },
            Effect::Rewind { turns } => EffectCode::Rewind { turns: self.planner.expr(turns)? },
            Effect::Forget { .. }
            | Effect::Inherit { .. }
            | Effect::Veto { .. }
            | Effect::Note { .. }
            | Effect::Call { .. } => EffectCode::Rarer { effect: number },
        })
    }

    fn write(
        &mut self,
        rel: RelId,
        entity: &Expr,
        value: Option<&Expr>,
    ) -> Result<EffectCode, PlanError> {
        let attr = input_of(self.program, rel).attr();
        let entity = self.planner.expr(entity)?;
        let value = value.map(|it| self.planner.expr(it)).transpose()?;
        Ok(EffectCode::Write { attr, entity, value })
    }

    fn exprs(&mut self, exprs: &[Expr]) -> Result<Vec<ExprId>, PlanError> {
        exprs.iter().map(|it| self.planner.expr(it)).collect()
    }
}
