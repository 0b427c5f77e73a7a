//! Turns the solutions of a reaction's body into its effects.
//!
//! Loops find solutions in any order, some of them twice. So solutions are sorted by the values of the variables that
//! the reaction names, and those with the same values are one. Deliberately absent: applying the effects.

use super::super::output::{Other, Output};
use super::super::rows::Tuple;
use super::super::trace::Said;
use super::code::{EffectCode, ExprId, ReactionCode};
use super::compile::{Compiled, ReactionPlan};
use super::run::State;
use super::word::Word;
use crate::rules::{Effect, VarId};

impl<W: Word> State<W> {
    /// The effects of a reaction, for each of its solutions.
    pub(super) fn effects(
        &mut self,
        c: &Compiled<W>,
        plan: &ReactionPlan,
        outputs: &mut Vec<Output>,
    ) {
        let solved = std::mem::take(&mut self.solved);
        if solved == 0 {
            return;
        }
        let code = &c.code.effects[plan.code as usize];
        let width = code.named.len();
        let values = std::mem::take(&mut self.solutions);
        if solved == 1 || width == 0 {
            self.solution(c, code, &values[..width], outputs);
        } else {
            let mut rows: Vec<&[i64]> = values.chunks_exact(width).collect();
            rows.sort_unstable();
            rows.dedup();
            for row in rows {
                self.solution(c, code, row, outputs);
            }
        }
        self.solutions = values;
        self.solutions.clear();
    }

    fn solution(
        &mut self,
        c: &Compiled<W>,
        code: &ReactionCode,
        values: &[i64],
        outputs: &mut Vec<Output>,
    ) {
        for (&reg, &value) in code.named.iter().zip(values) {
            self.regs[usize::from(reg)] = value;
        }
        if self.traced {
            let values = values.iter().copied().collect();
            let solution = Other::Solution { reaction: code.reaction, values };
            outputs.push(Output::Other(Box::new(solution)));
        }
        for effect in &code.effects {
            outputs.extend(self.output(c, code, effect));
        }
    }

    /// An effect with its values; `None` if its arithmetic has no value.
    #[inline]
    fn output(
        &mut self,
        c: &Compiled<W>,
        code: &ReactionCode,
        effect: &EffectCode,
    ) -> Option<Output> {
        match effect {
            EffectCode::Write { attr, entity, value } => {
                let entity = self.value_of(c, *entity)?;
                let value = match value {
                    Some(it) => Some(self.value_of(c, *it)?),
                    None => None,
                };
                Some(Output::Write { attr: *attr, entity, value })
            }
            EffectCode::Remove { entity } => {
                self.value_of(c, *entity).map(|entity| Output::Remove { entity })
            }
            other => self.other(c, code, other).map(|it| Output::Other(Box::new(it))),
        }
    }

    #[inline(never)]
    fn other(
        &mut self,
        c: &Compiled<W>,
        code: &ReactionCode,
        effect: &EffectCode,
    ) -> Option<Other> {
        Some(match effect {
            EffectCode::Write { .. } | EffectCode::Remove { .. } => return None,
            EffectCode::Spawn { reg } => {
                let entity = self.ids.give_raw();
                self.regs[usize::from(*reg)] = entity;
                Other::Spawn { entity }
            }
            EffectCode::Raise { event, args } => {
                let args = self.exprs(c, args)?;
                Other::Raise { reaction: code.reaction, event: *event, args }
            }
            EffectCode::Stop => Other::Stop,
            EffectCode::Pass { args } => Other::Pass { args: self.exprs(c, args)? },
            EffectCode::Emit { event, args } => {
                Other::Emit { event: *event, args: self.exprs(c, args)? }
            }
            EffectCode::Rarer { effect } => self.rarer(c, code.reaction, *effect)?,
            EffectCode::Rewind { turns } => Other::Rewind { turns: self.value_of(c, *turns)? },
        })
    }

    /// The value of an effect's expression. It is not lowered to instructions, but read from the registers,
    /// where the solution has put its variables.
    #[inline]
    fn value_of(&self, c: &Compiled<W>, expr: ExprId) -> Option<i64> {
        self.expr(&c.code.exprs, expr)
    }

    fn exprs(&self, c: &Compiled<W>, args: &[ExprId]) -> Option<Tuple> {
        args.iter().map(|it| self.value_of(c, *it)).collect()
    }

    /// A veto, a note or another of the rarer effects.
    fn rarer(&self, c: &Compiled<W>, at: usize, effect: usize) -> Option<Other> {
        let reaction = &c.program.reactions[at];
        let value = |var: VarId| self.reg(var.0 as u8);
        let say = |parts| Said::new(&c.program, reaction, parts, value);
        match &reaction.effects[effect] {
            Effect::Veto { message } => Some(Other::Veto { said: say(&message.0) }),
            Effect::Note { message } => Some(Other::Note { said: say(&message.0) }),
            Effect::Forget { preset, of } => {
                let of = of.map(|it| (reaction.vars[usize::from(it.0)].ty, value(it)));
                Some(Other::Forget { preset: value(*preset), of })
            }
            Effect::Inherit { to, from } => {
                Some(Other::Inherit { to: value(*to), from: value(*from) })
            }
            Effect::Call { args, .. } => {
                let args = args.iter().map(|it| value(*it)).collect();
                Some(Other::Call { reaction: at, effect, args })
            }
            _ => None,
        }
    }
}
