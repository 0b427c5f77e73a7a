//! What files add to actions that others declare, and actions that count `as` another one.
//!
//! Reactions to an action are also reactions to each action that is `as` it; they are copied here, so that
//! code that runs, explains or checks reactions need not know about `as`. Deliberately absent: what the parts of
//! an action (`rank`, `uci`, ...) mean.

use super::super::ast::{ActionDecl, MoreDecl, Name, Number};
use super::super::diagnostic::Diagnostic;
use super::super::limits::{self, LimitError};
use super::super::mistake;
use super::super::program::{
    Action, ActionId, Column, Compare, Event, Expr, Literal, Op, Reaction, Span, Term,
};
use super::Checker;

impl<'t> Checker<'t> {
    /// An action's declaration with all additions to it (`+=`), whose parts replace those of the declaration. Reports
    /// parts that two additions give.
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
            let name = |it: Name<'t>| (it.text.to_owned(), it.span);
            let rank = |it: Number| (it.value.to_string(), it.span);
            let twice = [
                put(&mut whole.like, &mut added.like, more.like, name),
                put(&mut whole.pseudo_legal, &mut added.pseudo_legal, more.pseudo_legal, name),
                put(&mut whole.simulates, &mut added.simulates, more.simulates, name),
                put(&mut whole.refusals, &mut added.refusals, more.refusals, name),
                put(&mut whole.until, &mut added.until, more.until, name),
                put(&mut whole.uci, &mut added.uci, more.uci, name),
                put(&mut whole.san, &mut added.san, more.san, name),
                put(&mut whole.legality, &mut added.legality, more.legality, |it| name(it.1)),
                put(&mut whole.rank, &mut added.rank, more.rank, rank),
            ];
            self.found.extend(twice.into_iter().flatten());
            whole.given.extend(more.given.iter().cloned());
            whole.also.extend(more.also.iter().copied());
        }
        whole
    }

    /// Reports additions to names that are not those of actions.
    pub(super) fn check_more(&mut self, more: &[&MoreDecl<'t>]) {
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
            if let Some(missing) = theirs.columns.iter().find(|it| lacks(own, theirs, it)) {
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
    /// rules, trials and reactions without the copies.
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
                copied.filter_map(|it| self.copied(&reaction, of, it.id)).collect();
            all.push(reaction);
            all.extend(copied);
        }
        let rules = rules + all.len() - written;
        if rules > limits::RULES {
            let span = all.last().map(|it| it.span).unwrap_or_default();
            self.exceeds(LimitError::Rules(rules), span);
        }
        self.reactions = all;
    }

    /// The same reaction to another action, which has all columns of the first, in any order, and perhaps more. An
    /// argument that is `given` to the first alone has its default: `None` if the reaction is to another value.
    fn copied(&self, reaction: &Reaction, of: ActionId, id: ActionId) -> Option<Reaction> {
        let (of, own) = (&self.actions[usize::from(of.0)], &self.actions[usize::from(id.0)]);
        let param = |name: &str| {
            let at = of.columns.iter().position(|it| it.name == name)?;
            reaction.params.get(at).copied()
        };
        let mut body = reaction.body.clone();
        for it in of.unlisted.iter().filter(|it| !has(own, &it.column.name)) {
            match param(&it.column.name) {
                Some(Term::Const(value)) if value != it.default => return None,
                Some(Term::Var(var)) => body.push(Literal::Compare(Compare {
                    op: Op::Eq,
                    lhs: Expr::Var(var),
                    rhs: Expr::Const(it.default),
                    span: reaction.span,
                })),
                _ => {}
            }
        }
        let params = own.columns.iter().map(|it| param(&it.name).unwrap_or(Term::Wild)).collect();
        Some(Reaction { event: Event::Action(id), params, body, ..reaction.clone() })
    }
}

/// Whether an action that is `as` another one lacks a column of it. It may lack arguments that are `given` to the other:
/// another file may have added those.
fn lacks(own: &Action, theirs: &Action, column: &Column) -> bool {
    let is_given = theirs.unlisted.iter().any(|it| it.column == *column);
    let has_its_default = is_given && !has(own, &column.name);
    !has_its_default && !own.columns.contains(column)
}

fn has(action: &Action, column: &str) -> bool {
    action.columns.iter().any(|it| it.name == column)
}

/// Sets a part that an addition gives. If an earlier addition gave it, returns the mistake. `written` tells the text and
/// the place of a part.
fn put<T: Copy>(
    whole: &mut Option<T>,
    added: &mut Option<T>,
    more: Option<T>,
    written: impl Fn(T) -> (String, Span),
) -> Option<Diagnostic> {
    let new = more?;
    *whole = Some(new);
    let (_, old) = written(added.replace(new)?);
    let (text, span) = written(new);
    Some(mistake::amended_twice(&text, span, old))
}
