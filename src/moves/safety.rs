//! How the safety of an action is decided: by rules, or by playing it out.
//!
//! An action that declares `legality rules` is decided by its own relation, except for the rows of its
//! `simulates` relation. But all of its rows are played out if rules cannot know the outcome:
//!
//! * a reaction may refuse the action;
//! * a reaction of a preset calls code, and the preset's file does not say `.meta legality "rules"`;
//! * a reaction of a preset writes what safety depends on, or facts of a preset that safety depends on expire, and the
//!   preset's file makes no statement about that. `.meta legality "rules"` is such a statement, and so is a clause that
//!   concludes the `simulates` relation, which `split` may also make from the conditions of the reactions.
//!
//! Deliberately absent: playing actions out (`action`).

use crate::rules::{
    Action, Attributes, Dependencies, Effect, Event, Expiry, Legality, Meta, Program, Reaction,
    RelId, Relation, Role, with_consequences, writes,
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

/// Why actions that declare `legality rules` are played out nevertheless: for each of them one cause, as the number of
/// the file and a sentence. Playing out takes many times as long, and one line in the file often avoids it.
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
        let mut late = view.reactions_to(action).into_iter().filter(|it| is_late(action, it));
        late.any(|it| view.may_veto(it))
    };
    program.actions.iter().map(refused).collect()
}

/// Whether a reaction to an action comes after the stages that are played out.
fn is_late(action: &Action, reaction: &Reaction) -> bool {
    action.until.is_some_and(|it| reaction.stage > it)
}

/// A program, with what its safety depends on.
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
        let own = self.reactions_to(action);
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
        let own = self.reactions_to(action);
        let name = &self.program.relation(action.rel).name;
        if let Some(it) = own.iter().find(|it| self.may_veto(it)) {
            let place = self.program.place(it.span);
            let why =
                format!("`{name}` is played out because {place} may lead to a veto or call code");
            return Some((it.span.source, why));
        }
        if let Some(it) = self.expires_unforeseen(action) {
            let why = format!(
                "`{name}` is played out because `{}`, which safety depends on, expires; if the \
                 rules are right all the same, say `.meta legality \"rules\"` in the preset's file",
                it.name
            );
            return Some((it.span.source, why));
        }
        let unforeseen = own.iter().find(|it| self.is_unforeseen(action, it));
        let part = if unforeseen.is_none() { " where its condition holds" } else { "" };
        let first = unforeseen.or_else(|| own.iter().find(|it| self.has_made_rule(action, it)))?;
        let (reaction, attr) = self
            .consequences(first)
            .into_iter()
            .find_map(|it| Some((it, self.affected_attribute(it)?)))?;
        let place = self.program.place(reaction.span);
        let simulates = action.simulates.map(|it| &self.program.relation(it).name);
        let or =
            simulates.map(|it| format!(", or say by rules for `{it}` which rows are concerned"));
        let why = format!(
            "`{name}` is played out{part} because {place} writes `{attr}`, which safety depends on; if the rules are \
             right all the same, say `.meta legality \"rules\"` in the preset's file{}",
            or.unwrap_or_default()
        );
        Some((reaction.span.source, why))
    }

    /// Whether `split` made a rule of the action's `simulates` relation from a reaction, which then has its place.
    fn has_made_rule(&self, action: &Action, reaction: &Reaction) -> bool {
        let mut rules = action.simulates.iter().flat_map(|&it| &self.program.relation(it).rules);
        rules.any(|&it| self.program.rule(it).span == reaction.span)
    }

    /// An attribute that a reaction writes and that safety depends on.
    fn affected_attribute(&self, reaction: &Reaction) -> Option<&'p str> {
        let written = writes(self.program, reaction);
        let schema = &self.program.schema;
        let found =
            schema.attribute_ids().find(|&it| written.contains(it) && self.matters.contains(it))?;
        Some(schema.attribute(found).name.as_str())
    }

    /// The reactions to an action that can have an effect.
    pub(super) fn reactions_to(&self, action: &Action) -> Vec<&'p Reaction> {
        let all = self.program.reactions_to(Event::Action(action.id));
        all.filter(|it| self.depends.can_hold(&it.body)).collect()
    }

    /// The reaction, and the reactions to events that follow from it.
    pub(super) fn consequences(&self, first: &'p Reaction) -> Vec<&'p Reaction> {
        with_consequences(self.program, vec![first], |it| self.depends.can_hold(&it.body))
    }

    /// Whether a reaction or what follows from it may refuse the action: by a veto, or by code that it calls (unless
    /// its preset's file says `.meta legality "rules"`).
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

    /// Whether a preset's file says `.meta legality "rules"`: the rules are right whatever the preset does.
    fn is_trusted(&self, owner: u16) -> bool {
        let own = |it: &&Meta| self.owner_of(it.span.source) == Some(owner);
        let mut meta = self.program.meta.iter().filter(own);
        meta.any(|it| it.key == "legality" && it.value == "rules")
    }

    /// An input of a preset whose facts expire and affect safety, if the preset makes no statement about that.
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

    /// Whether a preset's reaction may change what safety depends on, and the preset makes no statement about that.
    pub(super) fn is_unforeseen(&self, action: &Action, reaction: &'p Reaction) -> bool {
        let Some(owner) = reaction.owner else { return false };
        if is_late(action, reaction) || self.makes_statement(action, owner) {
            return false;
        }
        let consequences = self.consequences(reaction);
        consequences.into_iter().any(|it| writes(self.program, it).intersects(&self.matters))
    }
}
