//! Checks reactions to actions and events.
//!
//! Deliberately absent: running them; their effects (`effect`).

use std::collections::BTreeSet;

use super::super::ast::{self, ExprKind, Name};
use super::super::limits::{self, LimitError};
use super::super::mistake;
use super::super::program::{
    Effect, Event, EventId, Given, Input, Literal, Reaction, RelId, Relation, Role, Span, Term,
    Type, VarId, Was,
};
use super::super::variables::term_vars;
use super::rule::{Body, OUTER, Subject, Use};
use super::{Checker, Info};

/// What a reaction reacts to; `None` for `on any`, and for a name that is not declared.
type Trigger = Option<(Event, Subject)>;

impl<'t> Checker<'t> {
    pub(super) fn reaction(&mut self, reaction: &ast::Reaction<'t>) {
        let trigger = reaction.event.as_ref().and_then(|it| self.trigger(it));
        let stage = match reaction.stage {
            Some(name) => self.find_stage(name),
            None => Some(self.default_stage),
        };
        let mut body = Body::new(self);
        let lowered = body.lower_reaction(reaction, trigger);
        let vars = body.into_vars();
        let event = match (&reaction.event, trigger) {
            (None, _) => Event::Any,
            (Some(_), Some((event, _))) => event,
            (Some(_), None) => return,
        };
        let (Some((mut params, body, effects)), Some(stage)) = (lowered, stage) else {
            return;
        };
        if let Event::Action(id) = event {
            params.resize(self.actions[usize::from(id.0)].columns.len(), Term::Wild);
        }
        let span = reaction.span;
        let owner = self.owners.get(usize::from(span.source)).copied().flatten();
        self.reactions.push(Reaction { event, stage, owner, params, body, effects, vars, span });
    }

    fn trigger(&mut self, atom: &ast::Atom<'t>) -> Trigger {
        let name = atom.name;
        let relation = self.relation_ids.find(&self.scopes, name);
        let event = self.event_ids.find(&self.scopes, name);
        if let Some((id, away)) = event
            && relation.is_none_or(|it| away <= it.1)
        {
            return Some((Event::Raised(id), Subject::Event(id)));
        }
        let Some((id, _)) = relation else {
            if !self.broken.contains(name.text) {
                let near = self.nearest_of(name, || {
                    let names = self.relation_ids.visible(&self.scopes, name.span).into_iter();
                    let is_action = |it: &&'t str| {
                        let id = self.known(Name { text: it, ..name });
                        id.is_some_and(|it| self.action_of.contains_key(&it))
                    };
                    let events = self.event_ids.visible(&self.scopes, name.span);
                    names.filter(is_action).chain(events).collect()
                });
                self.report(mistake::unknown_action(name, near));
            }
            return None;
        };
        if let Some(&at) = self.action_of.get(&id) {
            let action = &self.actions[at];
            // Reactions need not name unlisted arguments.
            let subject = match !action.unlisted.is_empty() && atom.args.len() > action.listed() {
                true => Subject::Whole(id),
                false => Subject::Relation(id),
            };
            return Some((Event::Action(action.id), subject));
        }
        let report = mistake::not_an_action(name, self.relation(id).span);
        self.report(report);
        None
    }

    /// The event that an effect raises, passes on or shows.
    pub(super) fn find_event(&mut self, name: Name<'t>) -> Option<EventId> {
        let found = self.event_ids.get(&self.scopes, name);
        if found.is_none() && !self.broken.contains(name.text) {
            let action = self.known(name).filter(|it| self.action_of.contains_key(it));
            if let Some(action) = action {
                let report = mistake::action_as_event(name, self.relation(action).span);
                self.report(report);
                return None;
            }
            let events = || self.event_ids.visible(&self.scopes, name.span).into_iter().collect();
            let near = self.nearest_of(name, events);
            self.report(mistake::unknown_event(name, near));
        }
        found
    }

    /// The relation that stands for another one as it was before the action.
    pub(super) fn before(&mut self, rel: RelId) -> Option<RelId> {
        if let Some(&known) = self.before.get(&rel) {
            return Some(known);
        }
        let Role::Input(input) = self.relation(rel).role else {
            // The rows of a derived relation or a trial are recorded as an action begins.
            return self.add_before(rel, Role::Given(Given::Before(rel)));
        };
        if matches!(input, Input::List(..)) {
            // A list is an option of an activation, which no effect writes: it was the same before the action.
            return Some(rel);
        }
        let domain = match (input, self.info(rel).types.first()) {
            (Input::Key(_) | Input::Flag(_), Some(Some(Type::Domain(id)))) => Some(*id),
            _ => None,
        };
        let of = input.attr();
        let before = self.domains.add_before(of, domain);
        let before = self.ok_or_report(before)?;
        let role = Role::Input(match input {
            Input::Key(_) => Input::Key(before),
            Input::Flag(_) => Input::Flag(before),
            Input::Game(_) => Input::Game(before),
            Input::GameFlag(_) | Input::List(..) => Input::GameFlag(before),
        });
        let id = self.add_before(rel, role)?;
        if !self.was.iter().any(|it| it.before == before) {
            self.was.push(Was { of, before });
        }
        Some(id)
    }

    /// Adds a relation that stands for another one as it was before the action.
    fn add_before(&mut self, rel: RelId, role: Role) -> Option<RelId> {
        let info = self.info(rel);
        let (name, types) = (info.name, info.types.clone());
        if self.relations.len() == limits::RELATIONS {
            self.exceeds(LimitError::Relations(limits::RELATIONS + 1), name.span);
            return None;
        }
        let relation = Relation {
            name: format!("was {}", self.relation(rel).name),
            role,
            open: false,
            sentence: String::new(),
            denial: String::new(),
            rules: Vec::new(),
            ..self.relation(rel).clone()
        };
        let id = RelId(self.relations.len() as u16);
        self.relations.push(Info { relation, types, name });
        self.before.insert(rel, id);
        Some(id)
    }

    /// The known name that is most similar. Names are gathered only if there are guesses left.
    pub(super) fn nearest_of(
        &self,
        name: Name<'t>,
        known: impl Fn() -> BTreeSet<&'t str>,
    ) -> Option<&'t str> {
        let known = if self.suggester.is_spent() { BTreeSet::new() } else { known() };
        self.suggester.nearest(name.text, known)
    }
}

type Lowered = (Vec<Term>, Vec<Literal>, Vec<Effect>);

impl<'t> Body<'_, 't> {
    /// Lowers a reaction; or the condition of a trial, which is a reaction to the trial's own event.
    pub(super) fn lower_reaction(
        &mut self,
        reaction: &ast::Reaction<'t>,
        trigger: Trigger,
    ) -> Option<Lowered> {
        let args = reaction.event.as_ref().map_or(&[][..], |it| &it.args);
        self.is_reaction = true;
        self.note_outer(args, &reaction.body);
        reaction.effects.iter().for_each(|it| self.note_effect(it));
        if let Some(event) = &reaction.event {
            self.collect_atom(event, trigger.map(|it| it.1), Use::Param, OUTER);
        }
        self.collect_body(&reaction.body);
        let event = trigger.map_or(Event::Any, |it| it.0);
        let subjects: Vec<Option<Subject>> =
            reaction.effects.iter().map(|it| self.collect_effect(it, event)).collect();
        if self.too_large {
            return None;
        }
        self.check_single_uses();
        let params = match (&reaction.event, trigger) {
            (Some(event), Some((_, subject))) => self.params(event, subject),
            (Some(_), None) => None,
            (None, _) => Some(Vec::new()),
        };
        let body = self.lower_body(&reaction.body, OUTER);
        let effects = reaction.effects.iter().zip(subjects);
        let effects: Vec<Option<Effect>> =
            effects.map(|(it, subject)| self.lower_effect(it, subject)).collect();
        let effects = effects.into_iter().collect::<Option<Vec<Effect>>>()?;
        let params = params?;
        if self.unresolved {
            return None;
        }
        self.check_reaction(reaction, &params, &body, &effects).then_some((params, body, effects))
    }

    fn params(&mut self, event: &ast::Atom<'t>, subject: Subject) -> Option<Vec<Term>> {
        for arg in &event.args {
            if matches!(
                arg.kind,
                ExprKind::Binary(..) | ExprKind::Tuple(_) | ExprKind::Aggregate(_)
            ) {
                self.cx.report(mistake::expression_in_event(arg.span));
                return None;
            }
        }
        self.terms(event, subject, OUTER, &mut Vec::new())
    }

    /// Checks that every variable has a value where it is needed, and that no variable of a `spawn` has one before it.
    fn check_reaction(
        &mut self,
        reaction: &ast::Reaction<'t>,
        params: &[Term],
        body: &[Literal],
        effects: &[Effect],
    ) -> bool {
        let mut given: Vec<VarId> = term_vars(params).collect();
        let spawns: Vec<_> = reaction.effects.iter().filter_map(spawn_place).collect();
        let spawned = |effect: &Effect| match effect {
            Effect::Spawn { var } => Some(*var),
            _ => None,
        };
        let all: Vec<VarId> = effects.iter().filter_map(spawned).collect();
        given.extend(&all);
        let needed: Vec<VarId> = effects.iter().flat_map(Effect::needs).collect();
        let head: Vec<Term> = needed.into_iter().map(Term::Var).collect();
        let mut safe = self.check_bound(body, &given, &head);
        let mut there: Vec<VarId> = Vec::new();
        for (effect, tree) in effects.iter().zip(&reaction.effects) {
            for var in effect.needs() {
                if all.contains(&var) && !there.contains(&var) {
                    let name = self.info(var).name.clone();
                    self.cx.report(mistake::before_its_spawn(&name, tree.span()));
                    safe = false;
                }
            }
            let (Some(var), ast::Effect::Spawn(name)) = (spawned(effect), tree) else { continue };
            // Of several that spawn the same variable, only the first is right.
            let is_new =
                self.info(var).uses.iter().all(|it| it.1 == Use::Effect || spawns.contains(&it.0));
            if !is_new || there.contains(&var) {
                self.cx.report(mistake::spawn_of_bound(*name));
                safe = false;
            }
            there.push(var);
        }
        safe
    }
}

/// The place of the variable that an effect spawns.
fn spawn_place(effect: &ast::Effect<'_>) -> Option<Span> {
    match effect {
        ast::Effect::Spawn(name) => Some(name.span),
        _ => None,
    }
}
