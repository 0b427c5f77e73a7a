//! Reactions: what taking an action changes.
//!
//! Deliberately absent: applying them.

use std::collections::BTreeSet;

use super::super::ast::{self, Expr as Tree, ExprKind, Name};
use super::super::mistake;
use super::super::program::{
    Effect, Event, Expr, Input, Literal, Reaction, RelId, Role, Term, VarId,
};
use super::Checker;
use super::rule::{Body, OUTER, Use};
use super::safety::expr_vars;
use crate::facts::nearest;

impl<'t> Checker<'t> {
    pub(super) fn reaction(&mut self, reaction: &ast::Reaction<'t>) {
        let action = match &reaction.event {
            Some(atom) => self.event(atom.name),
            None => None,
        };
        let mut body = Body::new(self);
        let lowered = body.lower_reaction(reaction, action.map(|it| it.1));
        let vars = body.into_vars();
        let event = match (&reaction.event, action) {
            (None, _) => Event::Any,
            (Some(_), Some((event, _))) => event,
            (Some(_), None) => return,
        };
        let Some((params, body, effects)) = lowered else {
            return;
        };
        self.reactions.push(Reaction { event, params, body, effects, vars, span: reaction.span });
    }

    fn event(&mut self, name: Name<'t>) -> Option<(Event, RelId)> {
        let Some(&id) = self.relation_ids.get(name.text) else {
            if !self.broken.contains(name.text) {
                let actions = self.action_of.keys().map(|&it| self.info(it).name.text);
                let actions: BTreeSet<&str> = actions.collect();
                self.report(mistake::unknown_action(name, nearest(name.text, actions)));
            }
            return None;
        };
        if let Some(&at) = self.action_of.get(&id) {
            return Some((Event::Action(self.actions[at].id), id));
        }
        let report = mistake::not_an_action(name, self.relation(id).span);
        self.report(report);
        None
    }
}

type Lowered = (Vec<Term>, Vec<Literal>, Vec<Effect>);

impl<'t> Body<'_, 't> {
    fn lower_reaction(
        &mut self,
        reaction: &ast::Reaction<'t>,
        action: Option<RelId>,
    ) -> Option<Lowered> {
        let no_args: &[Tree<'t>] = &[];
        let args = reaction.event.as_ref().map_or(no_args, |it| it.args.as_slice());
        self.note_outer(args, &reaction.body);
        for effect in &reaction.effects {
            match effect {
                ast::Effect::Set(atom) | ast::Effect::Retract(atom) => {
                    atom.args.iter().for_each(|it| self.note_expr(it));
                }
                ast::Effect::Remove(expr) => self.note_expr(expr),
            }
        }
        if let Some(event) = &reaction.event {
            self.collect_atom(event, action, Use::Param, OUTER);
        }
        self.collect_body(&reaction.body);
        let rels: Vec<Option<RelId>> =
            reaction.effects.iter().map(|it| self.collect_effect(it)).collect();
        if self.too_large {
            return None;
        }
        self.check_single_uses();
        let params = match (&reaction.event, action) {
            (Some(event), Some(rel)) => self.params(event, rel),
            (Some(_), None) => None,
            (None, _) => Some(Vec::new()),
        };
        let body = self.lower_body(&reaction.body, OUTER);
        let effects: Vec<Option<Effect>> =
            reaction.effects.iter().zip(rels).map(|(it, rel)| self.lower_effect(it, rel)).collect();
        let effects = effects.into_iter().collect::<Option<Vec<Effect>>>()?;
        let params = params?;
        if self.poisoned {
            return None;
        }
        self.check_reaction(&params, &body, &effects).then_some((params, body, effects))
    }

    fn params(&mut self, event: &ast::Atom<'t>, rel: RelId) -> Option<Vec<Term>> {
        for arg in &event.args {
            if matches!(
                arg.kind,
                ExprKind::Binary(..) | ExprKind::Tuple(_) | ExprKind::Aggregate(_)
            ) {
                self.cx.report(mistake::expression_in_event(arg.span));
                return None;
            }
        }
        self.terms(event, rel, OUTER, true, &mut Vec::new())
    }

    /// Notes an effect's variables. Returns the input relation that it writes.
    fn collect_effect(&mut self, effect: &ast::Effect<'t>) -> Option<RelId> {
        let (atom, word) = match effect {
            ast::Effect::Set(atom) => (atom, "set"),
            ast::Effect::Retract(atom) => (atom, "retract"),
            ast::Effect::Remove(expr) => {
                let ty = self.cx.domains.entities();
                self.collect_expr(expr, ty, Use::Effect, OUTER, false);
                return None;
            }
        };
        let rel = self.cx.find(atom.name);
        let types = match rel {
            Some(rel) => {
                let declared = self.cx.relation(rel).span;
                let Role::Input(input) = self.cx.relation(rel).role else {
                    self.cx.report(mistake::effect_on_derived(word, atom.name, declared));
                    self.poisoned = true;
                    self.collect_atom(atom, None, Use::Effect, OUTER);
                    return None;
                };
                let mut types = self.cx.info(rel).types.clone();
                if word == "retract" {
                    types.truncate(usize::from(matches!(input, Input::Key(_) | Input::Flag(_))));
                }
                if types.len() != atom.args.len() {
                    let relation = self.cx.relation(rel);
                    let counts = (types.len(), atom.args.len());
                    let report =
                        mistake::effect_arity(word, atom.name, counts, atom.span, relation);
                    self.cx.report(report);
                    self.poisoned = true;
                    types.clear();
                }
                types
            }
            None => {
                self.poisoned = true;
                Vec::new()
            }
        };
        for (at, arg) in atom.args.iter().enumerate() {
            self.collect_expr(arg, types.get(at).copied().flatten(), Use::Effect, OUTER, false);
        }
        rel
    }

    fn lower_effect(&mut self, effect: &ast::Effect<'t>, rel: Option<RelId>) -> Option<Effect> {
        match effect {
            ast::Effect::Set(atom) => {
                let args = self.effect_args(atom, rel?)?;
                Some(Effect::Set { rel: rel?, args })
            }
            ast::Effect::Retract(atom) => {
                let key = self.effect_args(atom, rel?)?;
                Some(Effect::Retract { rel: rel?, key })
            }
            ast::Effect::Remove(expr) => {
                let Some(ty) = self.cx.domains.entities() else {
                    self.cx.report(mistake::no_entities(expr.span));
                    return None;
                };
                Some(Effect::Remove { entity: self.lower_expr(expr, ty, OUTER)? })
            }
        }
    }

    fn effect_args(&mut self, atom: &ast::Atom<'t>, rel: RelId) -> Option<Vec<Expr>> {
        let types = self.cx.info(rel).types.clone();
        let mut args = Vec::new();
        for (arg, ty) in atom.args.iter().zip(types) {
            args.push(ty.and_then(|ty| self.lower_expr(arg, ty, OUTER)));
        }
        args.into_iter().collect()
    }

    fn check_reaction(&mut self, params: &[Term], body: &[Literal], effects: &[Effect]) -> bool {
        let given: Vec<VarId> = params
            .iter()
            .filter_map(|it| match it {
                Term::Var(id) => Some(*id),
                Term::Const(_) | Term::Wild => None,
            })
            .collect();
        let mut needed = Vec::new();
        for effect in effects {
            match effect {
                Effect::Set { args, .. } => args.iter().for_each(|it| expr_vars(it, &mut needed)),
                Effect::Retract { key, .. } => key.iter().for_each(|it| expr_vars(it, &mut needed)),
                Effect::Remove { entity } => expr_vars(entity, &mut needed),
            }
        }
        let head: Vec<Term> = needed.into_iter().map(Term::Var).collect();
        self.check_bound(body, &given, &head)
    }
}
