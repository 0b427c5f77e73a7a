//! How the safety of an action is decided: by rules, or by playing it out.
//!
//! An action that declares `legality rules` is decided by its own relation, except for the rows of its
//! `simulates` relation. All of its rows are played out if rules cannot know the outcome. That is so if a reaction
//! may refuse it; and unless the preset's file makes a statement about it, if a reaction of the preset calls code or
//! writes what safety depends on, or facts of the preset that safety depends on expire. A file makes one by
//! `.meta legality "rules"`, or (but not of code) by a clause of the `simulates` relation; otherwise the conditions
//! of its reactions may serve as one (`split`). Deliberately absent: playing it out (`action`).

use std::collections::BTreeSet;

use crate::facts::AttrId;
use crate::rules::{
    Action, Attributes, Dependencies, Effect, Event, Expiry, Legality, Meta, Program, Reaction,
    RelId, Relation, Role, raises, writes,
};

/// How the rows of an action are decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// By its own relation.
    Rules,
    /// By its own relation, except for the rows of this one, which are played out.
    Except(RelId),
    /// By playing every pseudo-legal row out.
    Simulation,
    /// Not at all: the action is never legal, and only trials play it out.
    Never,
}

/// How each action of a program is decided.
pub(super) fn decisions(program: &Program, untenable: RelId) -> Vec<Decision> {
    let depends = Dependencies::of(program);
    let view = View::new(program, &depends, untenable);
    program.actions.iter().map(|it| view.decision(it)).collect()
}

/// Why actions that declare `legality rules` are played out all the same: for each action one cause, as the
/// number of the file and a sentence. Playing out costs many times as much, and one line in the file often avoids it.
pub fn played_out(program: &Program, untenable: RelId) -> Vec<(u16, String)> {
    let depends = Dependencies::of(program);
    let view = View::new(program, &depends, untenable);
    let declared = program.actions.iter().filter(|it| it.legality == Legality::Rules);
    declared.filter_map(|it| view.why_played_out(it)).collect()
}

/// Whether a reaction may refuse an action in a stage after those that are played out (`until STAGE`), for
/// each action.
pub(super) fn refused_late(program: &Program) -> Vec<bool> {
    let depends = Dependencies::of(program);
    let view = View { program, matters: Attributes::default(), depends: &depends };
    let refused = |action: &Action| {
        let own = view.reactions(|it| it == Event::Action(action.id) || it == Event::Any);
        own.into_iter().filter(|it| is_late(action, it)).any(|it| view.may_veto(it))
    };
    program.actions.iter().map(refused).collect()
}

/// Whether a reaction to an action comes after the stages that are played out.
fn is_late(action: &Action, reaction: &Reaction) -> bool {
    action.until.is_some_and(|it| reaction.stage > it)
}

pub(super) struct View<'p> {
    pub(super) program: &'p Program,
    pub(super) depends: &'p Dependencies,
    /// The attributes that the safety of a position depends on.
    matters: Attributes,
}

impl<'p> View<'p> {
    pub(super) fn new(program: &'p Program, depends: &'p Dependencies, untenable: RelId) -> Self {
        Self { program, matters: depends.reads(untenable).clone(), depends }
    }

    fn decision(&self, action: &Action) -> Decision {
        if action.legality == Legality::Never {
            return Decision::Never;
        }
        let own = self.reactions(|it| it == Event::Action(action.id) || it == Event::Any);
        if action.legality == Legality::Simulate
            || self.expires_unforeseen(action).is_some()
            || own.iter().any(|it| self.may_veto(it) || self.is_unforeseen(action, it))
        {
            return Decision::Simulation;
        }
        match action.simulates.filter(|&it| !self.depends.is_empty(it)) {
            Some(rel) => Decision::Except(rel),
            None => Decision::Rules,
        }
    }

    fn why_played_out(&self, action: &Action) -> Option<(u16, String)> {
        let own = self.reactions(|it| it == Event::Action(action.id) || it == Event::Any);
        let name = &self.program.relation(action.rel).name;
        let vetoes = own.iter().find(|it| self.may_veto(it)).map(|it| {
            let place = self.program.place(it.span);
            let why =
                format!("`{name}` is played out because {place} may lead to a veto or call code");
            (it.span.source, why)
        });
        let expires = self.expires_unforeseen(action).map(|it| {
            let why = format!(
                "`{name}` is played out because `{}`, which safety depends on, expires; if the \
                 rules are right all the same, say `.meta legality \"rules\"` in the preset's file",
                it.name
            );
            (it.span.source, why)
        });
        vetoes.or(expires).or_else(|| {
            let whole = own.iter().find(|it| self.is_unforeseen(action, it));
            // Rules that were made from a reaction have its place (`split`).
            let is_read = |it: &&&Reaction| {
                let mut rules = action.simulates.iter().flat_map(|&rel| &self.program.relation(rel).rules);
                rules.any(|&rule| self.program.rule(rule).span == it.span)
            };
            let first = whole.or_else(|| own.iter().find(is_read))?;
            let part = if whole.is_none() { " where its condition holds" } else { "" };
            let consequences = self.consequences(first);
            let (reaction, attr) = consequences.into_iter().find_map(|it| {
                let attr = self.affected_attribute(it)?;
                Some((it, attr))
            })?;
            let place = self.program.place(reaction.span);
            let simulates = action.simulates.map(|it| &self.program.relation(it).name);
            let or = simulates.map(|it| format!(", or say by rules for `{it}` which rows are concerned"));
            let why = format!(
                "`{name}` is played out{part} because {place} writes `{attr}`, which safety depends on; if the rules are \
                 right all the same, say `.meta legality \"rules\"` in the preset's file{}",
                or.unwrap_or_default()
            );
            Some((reaction.span.source, why))
        })
    }

    /// An attribute that a reaction writes and that safety depends on.
    fn affected_attribute(&self, reaction: &Reaction) -> Option<&'p str> {
        let written = writes(self.program, reaction);
        let schema = &self.program.schema;
        let mut all = (0..schema.attributes().len() as u16).map(AttrId);
        let found = all.find(|&it| written.contains(it) && self.matters.contains(it))?;
        Some(schema.attribute(found).name.as_str())
    }

    /// The reactions to fitting events that can have an effect.
    pub(super) fn reactions(&self, fits: impl Fn(Event) -> bool) -> Vec<&'p Reaction> {
        let all = self.program.reactions.iter();
        all.filter(|it| fits(it.event) && self.depends.can_hold(&it.body)).collect()
    }

    /// The reaction, and those to events that follow from it.
    pub(super) fn consequences(&self, first: &'p Reaction) -> Vec<&'p Reaction> {
        let (mut found, mut known, mut next) = (vec![first], BTreeSet::new(), 0);
        while let Some(&reaction) = found.get(next) {
            next += 1;
            for event in raises(self.program, reaction) {
                if known.insert(event) {
                    found.extend(self.reactions(|it| it == Event::Raised(event)));
                }
            }
        }
        found
    }

    /// Whether a reaction or what follows from it may refuse the action: by a veto, or by code that it calls, unless
    /// the preset's file declares that the rules are right all the same.
    pub(super) fn may_veto(&self, reaction: &'p Reaction) -> bool {
        let vetoes = |it: &Reaction, effect: &Effect| match effect {
            Effect::Veto { .. } => true,
            Effect::Call { .. } => !it.owner.is_some_and(|owner| self.is_trusted(owner)),
            _ => false,
        };
        let all = self.consequences(reaction);
        all.into_iter().any(|it| it.effects.iter().any(|effect| vetoes(it, effect)))
    }

    /// The preset's file that a file belongs to.
    fn owner_of(&self, source: u16) -> Option<u16> {
        self.program.owners.get(usize::from(source)).copied().flatten()
    }

    /// Whether the preset's file declares that the rules are right all the same.
    fn is_trusted(&self, owner: u16) -> bool {
        let own = |it: &&Meta| self.owner_of(it.span.source) == Some(owner);
        let mut meta = self.program.meta.iter().filter(own);
        meta.any(|it| it.key == "legality" && it.value == "rules")
    }

    /// An input of a preset whose facts expire and affect safety, without a statement of the preset about
    /// that.
    pub(super) fn expires_unforeseen(&self, action: &Action) -> Option<&'p Relation> {
        let Expiry { until_turn, until_action, .. } = &self.program.expiry;
        let mut all = self.program.relations.iter();
        all.find(|it| {
            let Role::Input(input) = it.role else { return false };
            let expires = until_turn.iter().chain(until_action).any(|attr| *attr == input.attr());
            let Some(owner) = self.owner_of(it.span.source) else { return false };
            expires && self.matters.contains(input.attr()) && !self.makes_statement(action, owner)
        })
    }

    /// Whether a preset's file makes a statement about its effect on an action.
    fn makes_statement(&self, action: &Action, owner: u16) -> bool {
        let concludes = |rel: RelId| {
            let rules = &self.program.relation(rel).rules;
            rules.iter().any(|&it| self.owner_of(self.program.rule(it).span.source) == Some(owner))
        };
        self.is_trusted(owner) || action.simulates.is_some_and(concludes)
    }

    /// Whether a preset's reaction may change what safety depends on, without a statement of the preset about
    /// that.
    pub(super) fn is_unforeseen(&self, action: &Action, reaction: &'p Reaction) -> bool {
        let Some(owner) = reaction.owner else { return false };
        if is_late(action, reaction) || self.makes_statement(action, owner) {
            return false;
        }
        let consequences = self.consequences(reaction);
        consequences.into_iter().any(|it| writes(self.program, it).intersects(&self.matters))
    }
}
