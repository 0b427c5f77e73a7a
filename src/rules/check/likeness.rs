//! Additions to actions that other files declare: further parts, and actions that count `as` another one.
//!
//! Reactions to an action are also reactions to each action that is `as` it; they are copied here, so that
//! code that runs, explains or checks reactions need not know about `as`. Deliberately absent: the meaning of
//! the parts.

use super::super::ast::{ActionDecl, MoreDecl, Name};
use super::super::limits::{self, LimitError};
use super::super::mistake;
use super::super::program::{ActionId, Event, Reaction, Term};
use super::Checker;

impl<'t> Checker<'t> {
    /// An action's declaration with what other files add to it.
    pub(super) fn with_more(
        &mut self,
        name: Name<'t>,
        decl: &ActionDecl<'t>,
        more: &[&MoreDecl<'t>],
    ) -> ActionDecl<'t> {
        let mut whole = decl.clone();
        let meant = self.known(name);
        let mut added = ActionDecl::default();
        for it in more {
            if self.known(it.name) != meant || self.known(it.name).is_none() {
                continue;
            }
            let more = &it.decl;
            let mut twice = Vec::new();
            twice.extend(put(&mut whole.like, &mut added.like, more.like));
            twice.extend(put(&mut whole.pseudo_legal, &mut added.pseudo_legal, more.pseudo_legal));
            twice.extend(put(&mut whole.simulates, &mut added.simulates, more.simulates));
            twice.extend(put(&mut whole.refusals, &mut added.refusals, more.refusals));
            twice.extend(put(&mut whole.until, &mut added.until, more.until));
            twice.extend(put(&mut whole.uci, &mut added.uci, more.uci));
            twice.extend(put(&mut whole.san, &mut added.san, more.san));
            whole.legality = more.legality.or(whole.legality);
            whole.rank = more.rank.or(whole.rank);
            whole.given.extend(more.given.iter().cloned());
            whole.also.extend(more.also.iter().copied());
            for (new, old) in twice {
                self.report(mistake::amended_twice(new, old.span));
            }
        }
        whole
    }

    /// Checks that the actions to which files add parts exist.
    pub(super) fn settle_more(&mut self, more: &[&MoreDecl<'t>]) {
        for it in more {
            let Some(rel) = self.find(it.name) else { continue };
            if !self.action_of.contains_key(&rel) {
                let report = mistake::not_an_action(it.name, self.relation(rel).span);
                self.report(report);
            }
        }
    }

    /// Resolves `as` of actions, once all are known.
    pub(super) fn settle_likeness(&mut self, pairs: &[(Name<'t>, Name<'t>)]) {
        for &(name, like) in pairs {
            let Some(&at) = self.known(name).and_then(|it| self.action_of.get(&it)) else {
                continue;
            };
            let Some(rel) = self.find(like) else { continue };
            let Some(&of) = self.action_of.get(&rel) else {
                let report = mistake::not_an_action(like, self.relation(rel).span);
                self.report(report);
                continue;
            };
            let (own, theirs) = (&self.actions[at], &self.actions[of]);
            if let Some(missing) = theirs.columns.iter().find(|it| !own.columns.contains(it)) {
                let ty = self.type_name(missing.ty).to_string();
                let report = mistake::lacks_column(like, &missing.name, &ty, own.span, theirs.span);
                self.report(report);
                continue;
            }
            let id = theirs.id;
            if self.counts_as(id, self.actions[at].id) {
                self.report(mistake::as_itself(like));
                continue;
            }
            self.actions[at].like = Some(id);
        }
    }

    /// Whether an action counts as another one, directly or through others.
    fn counts_as(&self, action: ActionId, other: ActionId) -> bool {
        let mut next = Some(action);
        while let Some(it) = next {
            if it == other {
                return true;
            }
            next = self.actions[usize::from(it.0)].like;
        }
        false
    }

    /// Copies the reactions to an action for each action that is `as` it, right after them. `rules` is the number of
    /// rules and reactions without the copies.
    pub(super) fn copy_reactions(&mut self, rules: usize) {
        if self.actions.iter().all(|it| it.like.is_none()) {
            return;
        }
        let written = self.reactions.len();
        let mut all = Vec::new();
        for reaction in std::mem::take(&mut self.reactions) {
            let Event::Action(of) = reaction.event else {
                all.push(reaction);
                continue;
            };
            let copied = self.actions.iter().filter(|it| it.id != of && self.counts_as(it.id, of));
            let copied: Vec<Reaction> =
                copied.map(|it| self.copied(&reaction, of, it.id)).collect();
            all.push(reaction);
            all.extend(copied);
        }
        let rules = rules + all.len() - written;
        if rules > limits::RULES {
            let span = all.last().map(|it| it.span).unwrap_or_default();
            self.report(mistake::limit(LimitError::Rules(rules), span));
        }
        self.reactions = all;
    }

    /// A reaction to an action, as one to another that has the same columns and perhaps more.
    fn copied(&self, reaction: &Reaction, of: ActionId, id: ActionId) -> Reaction {
        let (of, own) = (&self.actions[usize::from(of.0)], &self.actions[usize::from(id.0)]);
        let param = |name: &str| {
            let at = of.columns.iter().position(|it| it.name == name)?;
            reaction.params.get(at).cloned()
        };
        let params = own.columns.iter().map(|it| param(&it.name).unwrap_or(Term::Wild)).collect();
        Reaction { event: Event::Action(id), params, ..reaction.clone() }
    }
}

/// Sets a part; returns both places if two files declare it.
fn put<'t>(
    whole: &mut Option<Name<'t>>,
    added: &mut Option<Name<'t>>,
    more: Option<Name<'t>>,
) -> Option<(Name<'t>, Name<'t>)> {
    let new = more?;
    *whole = Some(new);
    added.replace(new).map(|old| (new, old))
}
