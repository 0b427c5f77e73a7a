//! Checks the effects of reactions: names and types.
//!
//! Deliberately absent: the reaction around them (`reaction`).

use super::super::ast::{self, Atom, Name};
use super::super::mistake;
use super::super::program::{
    Effect, Event, Expr, Input, Message, MessagePart, Role, Span, Term, Type,
};
use super::rule::{Body, OUTER, Subject, Use};

impl ast::Effect<'_> {
    /// The place of the effect, or of its argument.
    pub(super) fn span(&self) -> Span {
        match self {
            Self::Set(atom)
            | Self::Retract(atom)
            | Self::Raise(atom)
            | Self::Pass(atom)
            | Self::Emit(atom) => atom.span,
            Self::Remove(expr) | Self::Rewind(expr) => expr.span,
            Self::Spawn(name)
            | Self::Veto(name)
            | Self::Note(name)
            | Self::Forget { preset: name, .. }
            | Self::Inherit { to: name, .. } => name.span,
            Self::Stop(span) => *span,
            Self::Call { name, .. } => name.span,
        }
    }
}

impl<'t> Body<'_, 't> {
    /// Notes the variables of an effect as variables of the reaction.
    pub(super) fn note_effect(&mut self, effect: &ast::Effect<'t>) {
        use ast::Effect as E;
        match effect {
            E::Set(atom) | E::Retract(atom) | E::Raise(atom) | E::Pass(atom) | E::Emit(atom) => {
                atom.args.iter().for_each(|it| self.note_expr(it));
            }
            E::Remove(expr) | E::Rewind(expr) => self.note_expr(expr),
            E::Spawn(name) => self.note_outer_name(name.text),
            E::Forget { preset, of } => {
                self.note_outer_name(preset.text);
                of.iter().for_each(|it| self.note_outer_name(it.text));
            }
            E::Inherit { to, from } => {
                [to, from].into_iter().for_each(|it| self.note_outer_name(it.text));
            }
            E::Veto(text) | E::Note(text) => self.note_text(*text),
            E::Call { args, .. } => args.iter().for_each(|it| self.note_outer_name(it.text)),
            E::Stop(_) => {}
        }
    }

    /// Notes the uses of an effect's variables. Returns the relation or event that it is about.
    pub(super) fn collect_effect(
        &mut self,
        effect: &ast::Effect<'t>,
        event: Event,
    ) -> Option<Subject> {
        use ast::Effect as E;
        let entities = self.cx.domains.entities();
        match effect {
            E::Set(atom) => return self.collect_write(atom, "set"),
            E::Retract(atom) => return self.collect_write(atom, "retract"),
            E::Raise(atom) | E::Emit(atom) => return self.collect_event(atom),
            E::Pass(atom) => return self.collect_pass(atom, event),
            E::Remove(expr) => self.collect_expr(expr, entities, Use::Effect, OUTER),
            E::Forget { preset, of } => {
                self.collect_name(*preset, self.cx.domains.presets(), Use::Effect);
                of.iter().for_each(|it| self.collect_name(*it, None, Use::Effect));
            }
            E::Inherit { to, from } => {
                [to, from].into_iter().for_each(|it| self.collect_name(*it, entities, Use::Effect));
            }
            // A new variable is bound like a parameter.
            E::Spawn(name) => self.collect_name(*name, entities, Use::Param),
            E::Stop(span) => _ = self.inside_event("stop", *span, event),
            E::Veto(text) | E::Note(text) => self.collect_text(*text, Use::Effect),
            E::Call { args, .. } => {
                args.iter().for_each(|it| self.collect_name(*it, None, Use::Effect));
            }
            E::Rewind(expr) => {
                self.collect_expr(expr, Some(Type::Int), Use::Effect, OUTER);
            }
        }
        None
    }

    /// Notes the names in a text as names of the body.
    pub(super) fn note_text(&mut self, text: Name<'t>) {
        for (part, _) in placeholders(text) {
            self.note_outer_name(part.text);
        }
    }

    /// Notes the uses of the variables that a text names in braces.
    pub(super) fn collect_text(&mut self, text: Name<'t>, usage: Use) {
        for (part, closed) in placeholders(text) {
            if closed {
                self.collect_name(part, None, usage);
            } else {
                self.cx.report(mistake::stray_brace("text", part));
                self.unresolved = true;
            }
        }
    }

    fn collect_event(&mut self, atom: &Atom<'t>) -> Option<Subject> {
        let subject = self.cx.find_event(atom.name).map(Subject::Event);
        self.collect_atom(atom, subject, Use::Effect, OUTER);
        subject
    }

    fn collect_pass(&mut self, atom: &Atom<'t>, event: Event) -> Option<Subject> {
        let subject = self.collect_event(atom)?;
        if !self.inside_event("pass", atom.name.span, event) {
            return Some(subject);
        }
        if let (Subject::Event(found), Event::Raised(wanted)) = (subject, event)
            && found != wanted
        {
            let wanted = self.cx.subject(Subject::Event(wanted)).name.text;
            self.cx.report(mistake::pass_of_other(atom.name, wanted));
            self.unresolved = true;
        }
        Some(subject)
    }

    fn inside_event(&mut self, word: &str, span: Span, event: Event) -> bool {
        let inside = matches!(event, Event::Raised(_));
        if !inside {
            self.cx.report(mistake::outside_event(word, span));
            self.unresolved = true;
        }
        inside
    }

    /// The input that an effect writes.
    fn collect_write(&mut self, atom: &Atom<'t>, word: &str) -> Option<Subject> {
        let Some(rel) = self.cx.find(atom.name) else {
            self.collect_atom(atom, None, Use::Effect, OUTER);
            return None;
        };
        let declared = self.cx.relation(rel).span;
        let Role::Input(input) = self.cx.relation(rel).role else {
            self.cx.report(mistake::effect_on_derived(word, atom.name, declared));
            self.collect_atom(atom, None, Use::Effect, OUTER);
            return None;
        };
        if matches!(input, Input::List(..)) {
            self.cx.report(mistake::effect_on_list(word, atom.name, declared));
            self.unresolved = true;
        }
        let mut types = self.cx.info(rel).types.clone();
        if word == "retract" {
            types.truncate(usize::from(matches!(input, Input::Key(_) | Input::Flag(_))));
        }
        if types.len() != atom.args.len() {
            let relation = self.cx.relation(rel);
            let counts = (types.len(), atom.args.len());
            let report = mistake::effect_arity(word, atom.name, counts, atom.span, relation);
            self.cx.report(report);
            self.unresolved = true;
            types.clear();
        }
        for (at, arg) in atom.args.iter().enumerate() {
            self.collect_expr(arg, types.get(at).copied().flatten(), Use::Effect, OUTER);
        }
        Some(Subject::Relation(rel))
    }

    /// The checked effect. `subject` is the relation or event that it is about, from [`Self::collect_effect`].
    pub(super) fn lower_effect(
        &mut self,
        effect: &ast::Effect<'t>,
        subject: Option<Subject>,
    ) -> Option<Effect> {
        use ast::Effect as E;
        Some(match effect {
            E::Set(atom) | E::Retract(atom) | E::Raise(atom) | E::Pass(atom) | E::Emit(atom) => {
                let args = self.effect_args(atom, subject?)?;
                match (effect, subject?) {
                    (E::Set(_), Subject::Relation(rel)) => Effect::Set { rel, args },
                    (E::Retract(_), Subject::Relation(rel)) => Effect::Retract { rel, key: args },
                    (E::Raise(_), Subject::Event(event)) => Effect::Raise { event, args },
                    (E::Emit(_), Subject::Event(event)) => Effect::Emit { event, args },
                    _ => Effect::Pass { args },
                }
            }
            E::Remove(expr) => {
                let entities = self.entities(expr.span)?;
                Effect::Remove { entity: self.lower_expr(expr, entities, OUTER)? }
            }
            E::Forget { preset, of } => Effect::Forget {
                preset: self.var(preset.text, OUTER),
                of: of.map(|it| self.var(it.text, OUTER)),
            },
            E::Inherit { to, from } => {
                Effect::Inherit { to: self.var(to.text, OUTER), from: self.var(from.text, OUTER) }
            }
            E::Spawn(name) => {
                self.entities(name.span)?;
                Effect::Spawn { var: self.var(name.text, OUTER) }
            }
            E::Stop(_) => Effect::Stop,
            E::Veto(text) => Effect::Veto { message: self.message(*text) },
            E::Note(text) => Effect::Note { message: self.message(*text) },
            E::Call { name, args } => {
                Effect::Call { name: name.text.to_string(), args: self.ids_of(args) }
            }
            E::Rewind(expr) => Effect::Rewind { turns: self.lower_expr(expr, Type::Int, OUTER)? },
        })
    }

    /// The domain of entities, or a report that there is none.
    fn entities(&mut self, span: Span) -> Option<Type> {
        let entities = self.cx.domains.entities();
        if entities.is_none() {
            self.cx.report(mistake::no_entities(span));
        }
        entities
    }

    fn effect_args(&mut self, atom: &Atom<'t>, subject: Subject) -> Option<Vec<Expr>> {
        let types = self.cx.subject(subject).types.clone();
        let mut args = Vec::new();
        for (arg, ty) in atom.args.iter().zip(types) {
            args.push(ty.and_then(|ty| self.lower_expr(arg, ty, OUTER)));
        }
        args.into_iter().collect()
    }

    /// The variables that a text names.
    pub(super) fn vars_of_text(&mut self, text: Name<'t>) -> Vec<Term> {
        let named = placeholders(text).into_iter().filter(|it| it.1);
        named.map(|(name, _)| Term::Var(self.var(name.text, OUTER))).collect()
    }

    fn message(&mut self, text: Name<'t>) -> Message {
        let mut parts = Vec::new();
        let mut at = 0;
        // A brace that is not closed is a mistake that is reported elsewhere.
        for (name, _) in placeholders(text).into_iter().filter(|it| it.1) {
            let start = (name.span.start - text.span.start) as usize - 1;
            if start > at {
                parts.push(MessagePart::Text(text.text[at..start].to_string()));
            }
            parts.push(MessagePart::Value(self.var(name.text, OUTER)));
            at = start + name.text.len() + 2;
        }
        if at < text.text.len() {
            parts.push(MessagePart::Text(text.text[at..].to_string()));
        }
        Message(parts)
    }
}

/// The words in braces, and whether it is one: a brace without a partner, or a pair without a word, ends the search.
pub(super) fn placeholders(text: Name<'_>) -> Vec<(Name<'_>, bool)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = text.text[at..].find(['{', '}']).map(|it| it + at) {
        let close = text.text[open..].find('}').map(|it| it + open);
        let Some(end) = close.filter(|&it| it > open + 1) else {
            found.push((text.part(open, close.unwrap_or(open) + 1), false));
            return found;
        };
        found.push((text.part(open + 1, end), true));
        at = end + 1;
    }
    found
}
