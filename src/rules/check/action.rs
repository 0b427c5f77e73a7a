//! Declarations of actions: the relations that they name, their unlisted arguments, and their texts.
//!
//! Deliberately absent: additions to actions, and `as` (`likeness`); the form of texts (`template`).

use super::super::ast::{
    ActionDecl, File, GivenDecl, Item, MoreDecl, Name, RelationDecl, RelationKind,
};
use super::super::diagnostic::Diagnostic;
use super::super::limits::{self, LimitError};
use super::super::mistake;
use super::super::program::{
    Action, ActionId, Column, Legality, RelId, Role, Template, TemplatePart, Type, Unlisted,
};
use super::rule::Subject;
use super::template::For;
use super::{Checker, Info};

impl<'t> Checker<'t> {
    /// Declares actions with what other files add to them.
    pub(super) fn declare_actions(&mut self, files: &[&File<'t>]) {
        let items = || files.iter().flat_map(|it| &it.items);
        let more =
            items().filter_map(|it| if let Item::More(it) = it { Some(&**it) } else { None });
        let more: Vec<&MoreDecl<'t>> = more.collect();
        let mut like = Vec::new();
        for item in items() {
            let Item::Relation(RelationDecl { name, kind, .. }) = item else { continue };
            let RelationKind::Action(decl) = kind else { continue };
            let decl = self.with_more(*name, decl, &more);
            self.declare_action(*name, &decl);
            like.extend(decl.like.map(|it| (*name, it)));
        }
        self.check_more(&more);
        self.settle_likeness(&like);
    }

    fn declare_action(&mut self, name: Name<'t>, decl: &ActionDecl<'t>) {
        let Some(rel) = self.known(name) else {
            return;
        };
        if self.action_of.contains_key(&rel) || self.info(rel).name.span != name.span {
            return;
        }
        let pseudo_legal = decl.pseudo_legal.and_then(|it| self.with_same_columns(rel, it));
        let simulates = decl.simulates.and_then(|it| self.with_same_columns(rel, it));
        let refusals = decl.refusals.and_then(|it| self.refusals(rel, it));
        let until = decl.until.and_then(|it| self.find_stage(it));
        let unlisted = self.unlisted(rel, &decl.given);
        for text in decl.uci.iter().chain(&decl.also) {
            self.check_is_word(*text);
        }
        let uci = match decl.uci {
            Some(text) => self.template(rel, text, For::Other),
            None => self.default_template(rel),
        };
        let san = decl.san.map(|it| self.template(rel, it, For::San));
        let also = decl.also.iter().map(|it| self.template(rel, *it, For::Other)).collect();
        let columns = self.subject(Subject::Whole(rel)).relation.columns.clone();
        for it in &decl.given {
            // Arguments with a mistake are left out.
            let Some(at) = columns.iter().rposition(|column| column.name == it.name.text) else {
                continue;
            };
            if !uci.0.iter().any(|part| part.tells(at)) {
                self.report(mistake::given_untold(it.name, decl.uci.map(|it| it.span)));
            }
        }
        self.action_of.insert(rel, self.actions.len());
        self.actions.push(Action {
            id: ActionId(self.actions.len() as u16),
            rel,
            like: None, // `settle_likeness` sets it when all actions are known
            rank: decl.rank.map_or(0, |it| it.value),
            pseudo_legal,
            simulates,
            refusals,
            legality: decl.legality.map_or(Legality::Simulate, |it| it.0),
            until,
            unlisted,
            columns,
            uci,
            san,
            also,
            span: name.span,
        });
    }

    /// Declares the unlisted arguments of an action. From here on reactions and templates may name them.
    fn unlisted(&mut self, rel: RelId, given: &[GivenDecl<'t>]) -> Vec<Unlisted> {
        if given.is_empty() {
            return Vec::new();
        }
        let info = self.info(rel);
        let (mut relation, mut types, name) =
            (info.relation.clone(), info.types.clone(), info.name);
        let mut unlisted = Vec::new();
        let listed = types.clone();
        for it in given {
            // One whose type is a mistake is a column nevertheless: it may be named.
            let mut ty = self.find_type(it.ty);
            if ty == Some(Type::Text) {
                self.report(mistake::text_outside_static(name, it.ty.span));
                ty = None;
            }
            if relation.columns.iter().any(|column| column.name == it.name.text) {
                self.report(mistake::column_twice(it.name, name.span));
            }
            if types.len() == limits::COLUMNS {
                self.exceeds(LimitError::Columns(types.len() + 1), it.name.span);
                continue;
            }
            let default = ty.and_then(|ty| self.default_value(&it.default, ty));
            let from = it.from.and_then(|from| match ty {
                Some(ty) => self.given_from(&listed, ty, from),
                None => self.find(from),
            });
            let column = Column { name: it.name.text.to_string(), ty: ty.unwrap_or(Type::Int) };
            relation.columns.push(column.clone());
            types.push(ty);
            unlisted.push(Unlisted { column, default: default.map_or(0, |it| it.0), from });
        }
        self.whole.insert(rel, Info { relation, types, name });
        unlisted
    }

    /// The relation of the values that an unlisted argument may have: the values are its last column, and its other
    /// columns, if it has any, are the listed ones of the action.
    fn given_from(&mut self, listed: &[Option<Type>], ty: Type, name: Name<'t>) -> Option<RelId> {
        let id = self.find(name)?;
        let fits = match self.info(id).types.split_last() {
            Some((Some(last), args)) => *last == ty && (args.is_empty() || are_alike(args, listed)),
            Some((None, _)) => true,
            None => false,
        };
        if !fits {
            let (found, wanted) = (self.signature(id), self.type_name(ty).to_string());
            let report = mistake::given_from_columns(name, &found, &wanted, self.relation(id).span);
            self.report(report);
        }
        Some(id)
    }

    /// The relation of an action's refusals: it has the action's columns, then the reason, of a domain that lists its
    /// members.
    fn refusals(&mut self, rel: RelId, name: Name<'t>) -> Option<RelId> {
        let id = self.find(name)?;
        let fits = match self.info(id).types.split_last() {
            Some((Some(Type::Domain(reason)), args)) => {
                let of_action = self.info(rel).types.as_slice();
                are_alike(args, of_action) && self.domains.is_listed(*reason)
            }
            Some((None, _)) => true,
            _ => false,
        };
        if !fits {
            self.mismatch(rel, name, id, mistake::refusals_columns);
        }
        Some(id)
    }

    /// The relation that the declaration of an action or trial, `rel`, names. Reports columns of other types than those
    /// of `rel`.
    pub(super) fn with_same_columns(&mut self, rel: RelId, name: Name<'t>) -> Option<RelId> {
        let id = self.find(name)?;
        if !are_alike(&self.info(id).types, &self.info(rel).types) {
            self.mismatch(rel, name, id, mistake::other_columns);
        }
        Some(id)
    }

    /// Reports that the columns of a relation do not fit the action or trial that names it.
    fn mismatch(
        &mut self,
        rel: RelId,
        name: Name<'t>,
        named: RelId,
        report: fn(&mistake::ColumnMismatch<'_>) -> Diagnostic,
    ) {
        let report = report(&mistake::ColumnMismatch {
            name,
            found: &self.signature(named),
            declared: self.relation(named).span,
            wanted: &self.signature(rel),
            namer: match self.relation(rel).role {
                Role::Given(_) => "trial",
                _ => "action",
            },
            namer_span: self.relation(rel).span,
        });
        self.report(report);
    }

    /// `name:column,column[/argument=value]`, for an action that declares no text for UCI.
    fn default_template(&self, rel: RelId) -> Template {
        let relation = self.relation(rel);
        let mut parts = vec![TemplatePart::Text(relation.name.clone())];
        for at in 0..relation.columns.len() {
            parts.push(TemplatePart::Text(if at == 0 { ":" } else { "," }.to_string()));
            parts.push(TemplatePart::Column(at));
        }
        let whole = &self.subject(Subject::Whole(rel)).relation.columns;
        for (at, column) in whole.iter().enumerate().skip(relation.columns.len()) {
            let argument =
                vec![TemplatePart::Text(format!("/{}=", column.name)), TemplatePart::Column(at)];
            parts.push(TemplatePart::Optional(argument));
        }
        Template(parts)
    }
}

/// Whether columns have the same types, as far as these are known.
fn are_alike(these: &[Option<Type>], those: &[Option<Type>]) -> bool {
    let is_alike = |(this, that): (&Option<Type>, &Option<Type>)| {
        this.is_none() || that.is_none() || this == that
    };
    these.len() == those.len() && these.iter().zip(those).all(is_alike)
}
