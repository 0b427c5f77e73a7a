//! Declarations: domains, relations, actions, events, repetition, meta.
//!
//! Deliberately absent: clauses and reactions.

use smallvec::smallvec;

use super::super::ast::{
    ActionDecl, ColumnDecl, DefaultValue, File, GivenDecl, InputDecl, InputKind, Item, MoreDecl,
    Name, Number, RelationDecl, RelationKind,
};
use super::super::diagnostic::Diagnostic;
use super::super::limits::{self, LimitError};
use super::super::mistake;
use super::super::program::{
    Action, ActionId, Column, EventId, Input, Legality, Meta, RelId, Relation, Role, SEPARATOR,
    Span, Template, TemplatePart, Type, Unlisted, Until,
};
use super::effect::placeholders;
use super::names::Found;
use super::rule::Subject;
use super::template::For;
use super::{Checker, Info, Types};
use crate::facts::{AttrId, BOOL, DomainId};

/// A place in no file: look-ups from there find the names that are shared or exported.
const NOWHERE: Span = Span { source: u16::MAX, start: 0, end: 0, line: 0 };

impl<'t> Checker<'t> {
    pub(super) fn declare(&mut self, files: &[&File<'t>]) {
        self.domains.declare(files, &mut self.found);
        self.declare_board();
        let items = || files.iter().flat_map(|it| &it.items);
        for item in items() {
            match item {
                Item::Relation(decl) => self.declare_relation(decl),
                Item::Trial(decl) => self.declare_trial(decl),
                _ => {}
            }
        }
        self.settle_expiry(files);
        self.declare_stages(files);
        for item in items() {
            if let Item::Event(decl) = item {
                self.declare_event(decl);
            }
        }
        let more: Vec<&MoreDecl<'t>> = items()
            .filter_map(|it| if let Item::More(it) = it { Some(&**it) } else { None })
            .collect();
        let mut like = Vec::new();
        for item in items() {
            match item {
                Item::Relation(RelationDecl { name, kind: RelationKind::Action(decl), .. }) => {
                    let decl = self.with_more(*name, decl, &more);
                    self.declare_action(*name, &decl);
                    like.extend(decl.like.map(|it| (*name, it)));
                }
                Item::Relation(RelationDecl {
                    name,
                    kind: RelationKind::Derived { text: Some(text), .. },
                    ..
                }) => {
                    if let Some(rel) = self.known(*name) {
                        let template = self.template(rel, *text, For::Other);
                        self.row_texts.insert(rel, template);
                    }
                }
                Item::Repetition(names) => self.declare_repetition(names),
                Item::Meta { key, value, span } => self.meta.push(Meta {
                    key: key.text.to_string(),
                    value: value.text.to_string(),
                    span: *span,
                }),
                _ => {}
            }
        }
        self.check_more(&more);
        self.settle_likeness(&like);
        for item in items() {
            if let Item::Trial(decl) = item {
                self.settle_trial(decl);
            }
        }
    }

    /// The relations `file(square, file)` and `rank(square, rank)` of the board, counted from 1.
    fn declare_board(&mut self) {
        let Some((id, domain, files, ranks)) = self.domains.grid() else {
            return;
        };
        let (board, span) = (domain.text.to_lowercase(), domain.span);
        let square = board.rsplit(SEPARATOR).next().unwrap_or_default().to_owned();
        let squares = 0..i64::from(files) * i64::from(ranks);
        let width = i64::from(files);
        let file = squares.clone().map(|it| vec![it, it % width + 1]).collect();
        let rank = squares.map(|it| vec![it, it / width + 1]).collect();
        for (text, tuples) in [("file", file), ("rank", rank)] {
            let columns = vec![
                Column { name: square.clone(), ty: Type::Domain(id) },
                Column { name: text.to_string(), ty: Type::Int },
            ];
            let relation = Relation {
                name: text.to_string(),
                columns,
                role: Role::Builtin(tuples),
                functional: true,
                open: false,
                sentence: format!("{{{square}}} is on {text} {{{text}}}"),
                denial: String::new(),
                span,
                rules: Vec::new(),
            };
            let types = smallvec![Some(Type::Domain(id)), Some(Type::Int)];
            self.add(Info { relation, types, name: Name { text, span } });
        }
    }

    pub(super) fn add(&mut self, mut info: Info<'t>) {
        if self.relations.len() == limits::RELATIONS {
            let limit = LimitError::Relations(limits::RELATIONS + 1);
            return self.exceeds(limit, info.name.span);
        }
        let id = RelId(self.relations.len() as u16);
        let relations = &self.relations;
        let is_open = |it: RelId| relations[usize::from(it.0)].relation.open;
        match self.relation_ids.declare(&self.scopes, info.name, id, is_open) {
            Ok(declared) => {
                info.relation.name = declared.full.unwrap_or(info.relation.name);
                if let Some(old) = declared.clash {
                    let report = mistake::shared_twice(info.name, self.info(old).name.span);
                    self.report(report);
                }
                self.relations.push(info);
            }
            Err(old) => {
                let old = self.info(old);
                let builtin = matches!(old.relation.role, Role::Builtin(_));
                let report = mistake::relation_twice(info.name, old.name.span, builtin);
                self.report(report);
            }
        }
    }

    fn declare_relation(&mut self, decl: &RelationDecl<'t>) {
        if decl.columns.len() > limits::COLUMNS {
            self.broken.insert(decl.name.text);
            return self.exceeds(LimitError::Columns(decl.columns.len()), decl.name.span);
        }
        let (columns, types) = self.columns(decl);
        let Some(role) = self.role(decl, &types) else {
            self.broken.insert(decl.name.text);
            return;
        };
        let (key, open) = match decl.kind {
            RelationKind::Static { key, open } | RelationKind::Derived { key, open, .. } => {
                (key, open)
            }
            RelationKind::Action(_) => (false, true),
            RelationKind::Input(_) => (false, false),
        };
        if key && columns.is_empty() {
            self.report(mistake::key_without_columns(decl.name));
        }
        let functional = key || matches!(role, Role::Input(Input::Key(_) | Input::Game(_)));
        self.check_texts(decl, &types, &role);
        let sentence = self.sentence(decl, &columns);
        let denial = self.checked_sentence(decl.denial, &columns);
        let relation = Relation {
            name: decl.name.text.to_string(),
            columns,
            role,
            functional,
            open,
            sentence,
            denial,
            span: decl.name.span,
            rules: Vec::new(),
        };
        self.add(Info { relation, types, name: decl.name });
    }

    fn declare_event(&mut self, decl: &RelationDecl<'t>) {
        let name = decl.name;
        let taken = self.relation_ids.find(&self.scopes, name);
        // An event of a preset or game may have the name of a relation that is declared elsewhere.
        let nearby = taken.filter(|it| it.1 == Found::Own || self.scopes.at(name.span).is_none());
        if let Some((old, _)) = nearby {
            return self.report(mistake::event_twice(name, self.info(old).name.span));
        }
        let limit = match (self.events.len(), decl.columns.len()) {
            (limits::EVENTS, _) => Some(LimitError::Events(limits::EVENTS + 1)),
            (_, columns) if columns > limits::COLUMNS => Some(LimitError::Columns(columns)),
            _ => None,
        };
        if let Some(limit) = limit {
            self.broken.insert(name.text);
            return self.exceeds(limit, name.span);
        }
        let (columns, types) = self.columns(decl);
        self.check_texts(decl, &types, &Role::Derived);
        let id = EventId(self.events.len() as u16);
        let full = match self.event_ids.declare(&self.scopes, name, id, |_| false) {
            Ok(declared) => {
                if let Some(old) = declared.clash {
                    self.report(mistake::shared_twice(name, self.event_span(old)));
                }
                declared.full
            }
            Err(old) => return self.report(mistake::event_twice(name, self.event_span(old))),
        };
        let relation = Relation {
            name: full.unwrap_or_else(|| name.text.to_string()),
            sentence: self.sentence(decl, &columns),
            denial: self.checked_sentence(decl.denial, &columns),
            columns,
            role: Role::Derived,
            functional: false,
            open: false,
            span: name.span,
            rules: Vec::new(),
        };
        self.events.push(Info { relation, types, name });
    }

    fn event_span(&self, id: EventId) -> Span {
        self.events[usize::from(id.0)].name.span
    }

    pub(super) fn columns(&mut self, decl: &RelationDecl<'t>) -> (Vec<Column>, Types) {
        let mut columns: Vec<Column> = Vec::new();
        let mut types = Types::new();
        for column in &decl.columns {
            let ty = self.find_type(column.ty);
            let name = match column.name {
                Some(name) => {
                    let named =
                        |it: &&ColumnDecl<'_>| it.name.is_some_and(|it| it.text == name.text);
                    let old = decl.columns[..columns.len()].iter().find(named);
                    if let Some(old) = old.and_then(|it| it.name) {
                        self.report(mistake::column_twice(name, old.span));
                    }
                    name.text.to_string()
                }
                None => free_name(&columns, &decl.columns, column.ty.text),
            };
            columns.push(Column { name, ty: ty.unwrap_or(Type::Int) });
            types.push(ty);
        }
        (columns, types)
    }

    fn role(&mut self, decl: &RelationDecl<'t>, types: &[Option<Type>]) -> Option<Role> {
        match &decl.kind {
            RelationKind::Static { .. } => Some(Role::Static),
            RelationKind::Derived { .. } | RelationKind::Action(_) => Some(Role::Derived),
            RelationKind::Input(input) => self.input(decl, input, types).map(Role::Input),
        }
    }

    fn input(
        &mut self,
        decl: &RelationDecl<'t>,
        input: &InputDecl<'t>,
        types: &[Option<Type>],
    ) -> Option<Input> {
        let truth = Some(Type::Domain(BOOL));
        let value = match (input.kind, types) {
            (InputKind::Key | InputKind::Of, &[_, value]) | (InputKind::Game, &[value]) => value,
            (InputKind::Flag | InputKind::Of, &[_]) | (InputKind::Game, &[]) => truth,
            (InputKind::List, &[_, Some(Type::Domain(id))])
                if decl.columns[0].name.is_some_and(|it| it.text == "activation")
                    && self.domains.is_choosable(id) =>
            {
                Some(Type::Domain(id))
            }
            _ => {
                self.report(mistake::input_shape(decl.name, input.kind, types.len()));
                return None;
            }
        };
        if matches!(input.kind, InputKind::Key | InputKind::Flag | InputKind::List)
            && let Some(Some(first)) = types.first()
            && !self.domains.is_entities(*first)
        {
            let found = self.type_name(*first).to_string();
            let place = decl.columns.first().map_or(decl.name.span, |it| it.ty.span);
            self.report(mistake::input_without_entity(decl.name, &found, place));
            return None;
        }
        let of = match input.of {
            Some(name) => Some(self.owners(decl, name, types)?),
            None => None,
        };
        let value = value?;
        if let (InputKind::List, Type::Domain(members)) = (input.kind, value) {
            return self.list(decl, input, members);
        }
        let default = input.default.as_ref().and_then(|it| self.default_value(it, value));
        let doc = decl.sentence.map_or("", |it| it.text);
        let attr = self.domains.attribute(input.attr, value, of, default, doc);
        let attr = self.ok_or_report(attr)?;
        if input.lasting && !self.lasting.contains(&attr) {
            self.lasting.push(attr);
        }
        match (input.until, default) {
            (Some(until), _) => self.expires(decl, input, attr, until),
            (None, Some((_, span))) if self.expiry.takes_back(attr) => {
                self.report(mistake::expiry_clash(decl.name, span, false));
            }
            (None, _) => {}
        }
        Some(match (input.kind, types.len()) {
            (InputKind::Key, _) | (InputKind::Of, 2) => Input::Key(attr),
            (InputKind::Flag | InputKind::Of, _) => Input::Flag(attr),
            (InputKind::Game, 0) => Input::GameFlag(attr),
            (InputKind::Game | InputKind::List, _) => Input::Game(attr),
        })
    }

    /// Declares an option that is several members of a domain, with an attribute for each.
    fn list(
        &mut self,
        decl: &RelationDecl<'t>,
        input: &InputDecl<'t>,
        members: DomainId,
    ) -> Option<Input> {
        let first = input.default.iter().copied();
        let more = input.more.iter().map(|it| DefaultValue::Member(*it));
        // Default squares that a small board does not have are left out.
        let is_there = |it: &DefaultValue<'t>| match it {
            DefaultValue::Member(name) => !self.domains.is_off_board(members, name.text),
            DefaultValue::Number(_) => true,
        };
        let defaults: Vec<_> = first.chain(more).filter(is_there).collect();
        let value = |it: &DefaultValue<'t>| self.default_value(it, Type::Domain(members));
        let values: Option<Vec<_>> = defaults.iter().map(value).collect();
        let values: Vec<i64> = values?.into_iter().map(|it| it.0).collect();
        if input.lasting || input.until.is_some() {
            self.report(mistake::list_is_an_option(decl.name));
            return None;
        }
        let doc = decl.sentence.map_or("", |it| it.text);
        let list = self.domains.add_list(input.attr, members, &values, doc);
        self.ok_or_report(list).map(|(first, count)| Input::List(first, count))
    }

    /// Notes that the facts of an input expire.
    fn expires(
        &mut self,
        decl: &RelationDecl<'t>,
        input: &InputDecl<'t>,
        attr: AttrId,
        (until, span): (Until, Span),
    ) {
        if input.lasting || self.domains.has_default(attr) {
            self.report(mistake::expiry_clash(decl.name, span, input.lasting));
        }
        let expiry = &mut self.expiry;
        let (all, other) = match until {
            Until::Turn => (&mut expiry.until_turn, &expiry.until_action),
            Until::Action => (&mut expiry.until_action, &expiry.until_turn),
        };
        let is_in_both = other.contains(&attr);
        if !all.contains(&attr) {
            all.push(attr);
        }
        if is_in_both {
            self.report(mistake::expiring_twice(input.attr, span));
        }
    }

    /// Facts that expire with the turn need an input for the side to move.
    fn settle_expiry(&mut self, files: &[&File<'t>]) {
        if self.expiry.until_turn.is_empty() {
            return;
        }
        let turn = self.known(Name { text: "turn", span: NOWHERE });
        let turn = turn.map(|it| (&self.relation(it).role, self.info(it).name));
        if let Some((Role::Input(Input::Game(attr)), name)) = turn {
            let attr = *attr;
            self.expiry.turn = Some(attr);
            if self.expiry.until_turn.contains(&attr) {
                self.report(mistake::turn_until_turn(name));
            }
            return;
        }
        if self.broken.contains("turn") {
            return;
        }
        let inputs = files.iter().flat_map(|it| &it.items).filter_map(|it| match it {
            Item::Relation(RelationDecl { kind: RelationKind::Input(it), .. }) => it.until,
            _ => None,
        });
        let spans: Vec<Span> = inputs.filter(|it| it.0 == Until::Turn).map(|it| it.1).collect();
        for span in spans {
            self.report(mistake::until_turn_without_turn(span));
        }
    }

    /// The domain whose members the facts of an input are about. It must be that of the first column, and neither `Bool`
    /// nor a domain of entities.
    fn owners(
        &mut self,
        decl: &RelationDecl<'t>,
        of: Name<'t>,
        types: &[Option<Type>],
    ) -> Option<DomainId> {
        let ty = self.find_type(of)?;
        let first = types.first().copied().flatten()?;
        let id = match ty {
            Type::Domain(id) if id != BOOL && !self.domains.is_entities(ty) => id,
            _ => {
                self.report(mistake::cannot_own_facts(of));
                return None;
            }
        };
        if first != ty {
            let place = decl.columns.first().map_or(decl.name.span, |it| it.ty.span);
            let found = self.type_name(first).to_string();
            self.report(mistake::input_of_other(decl.name, of, &found, place));
            return None;
        }
        Some(id)
    }

    /// The raw value of a default, and its place.
    fn default_value(&mut self, default: &DefaultValue<'t>, ty: Type) -> Option<(i64, Span)> {
        let (value, span) = match (default, ty) {
            (DefaultValue::Number(number), Type::Int) => (Ok(number.value), number.span),
            (DefaultValue::Member(name), Type::Domain(id)) => {
                return Some((self.find_member(id, name.text, name.span)?, name.span));
            }
            // A member may be called `1`.
            (DefaultValue::Number(Number { value, span }), Type::Domain(id)) => {
                let member = self.domains.member(id, &value.to_string(), *span);
                let odd = |it: Diagnostic| match it.code {
                    "E204" => it,
                    _ => mistake::default_type(*span, self.type_name(ty)),
                };
                (member.map_err(odd), *span)
            }
            (DefaultValue::Number(Number { span, .. }), Type::Text)
            | (DefaultValue::Member(Name { span, .. }), Type::Int | Type::Text) => {
                (Err(mistake::default_type(*span, self.type_name(ty))), *span)
            }
        };
        Some((self.ok_or_report(value)?, span))
    }

    /// Texts are for names and notation: only statics may have them.
    pub(super) fn check_texts(
        &mut self,
        decl: &RelationDecl<'t>,
        types: &[Option<Type>],
        role: &Role,
    ) {
        if *role == Role::Static {
            return;
        }
        for (column, ty) in decl.columns.iter().zip(types) {
            if *ty == Some(Type::Text) {
                self.report(mistake::text_outside_static(decl.name, column.ty.span));
            }
        }
    }

    pub(super) fn sentence(&mut self, decl: &RelationDecl<'t>, columns: &[Column]) -> String {
        if decl.sentence.is_none() && matches!(decl.kind, RelationKind::Derived { .. }) {
            self.report(mistake::no_sentence(decl.name));
        }
        self.checked_sentence(decl.sentence, columns)
    }

    /// A sentence, after checking its placeholders against the columns.
    pub(super) fn checked_sentence(
        &mut self,
        sentence: Option<Name<'t>>,
        columns: &[Column],
    ) -> String {
        let Some(sentence) = sentence else { return String::new() };
        for (part, is_closed) in placeholders(sentence) {
            if !is_closed {
                self.report(mistake::stray_brace("sentence", part));
            } else if !columns.iter().any(|it| it.name == part.text) {
                let names: Vec<&str> = columns.iter().map(|it| it.name.as_str()).collect();
                self.report(mistake::unknown_column(part.text, part.span, &names));
            }
        }
        sentence.text.to_string()
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
        let listed = columns.len() - unlisted.len();
        for it in &decl.given {
            // Arguments with a mistake are left out.
            let own = |column: &Unlisted| column.column.name == it.name.text;
            let Some(at) = unlisted.iter().position(own) else { continue };
            if !uci.0.iter().any(|part| part.tells(listed + at)) {
                self.report(mistake::given_untold(it.name, decl.uci.map(|it| it.span)));
            }
        }
        let id = ActionId(self.actions.len() as u16);
        let legality = decl.legality.map_or(Legality::Simulate, |it| it.0);
        self.action_of.insert(rel, self.actions.len());
        let span = name.span;
        let rank = decl.rank.map_or(0, |it| it.value);
        let like = None; // `settle_likeness` sets it when all actions are known
        let action = Action {
            id,
            rel,
            like,
            rank,
            pseudo_legal,
            simulates,
            refusals,
            legality,
            until,
            unlisted,
            columns,
            uci,
            san,
            also,
            span,
        };
        self.actions.push(action);
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

    /// `(Entity, Square)`.
    pub(super) fn signature(&self, rel: RelId) -> String {
        let types = &self.info(rel).types;
        let names: Vec<&str> =
            types.iter().map(|it| it.map_or("?", |it| self.type_name(it))).collect();
        format!("({})", names.join(", "))
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

    fn declare_repetition(&mut self, names: &[Name<'t>]) {
        for &name in names {
            let Some(id) = self.find(name) else { continue };
            let (role, span) = (&self.relation(id).role, self.relation(id).span);
            if let Role::Given(_) = role {
                self.report(mistake::trial_repetition(name, span));
            } else if !matches!(role, Role::Input(_) | Role::Derived) {
                self.report(mistake::static_repetition(name, span));
            } else if self.repetition.iter().any(|it| it.0 == id && it.1.source == name.span.source)
            {
                // Several files may list a relation that they need; one file lists it once.
                self.report(mistake::repetition_twice(name));
            } else {
                self.repetition.push((id, name.span));
            }
        }
    }

    /// The column that a template of an action or relation names.
    pub(super) fn template_column(&mut self, rel: RelId, name: Name<'t>) -> Option<usize> {
        let columns = &self.subject(Subject::Whole(rel)).relation.columns;
        let found = columns.iter().position(|it| it.name == name.text);
        if found.is_none() {
            let names: Vec<&str> = columns.iter().map(|it| it.name.as_str()).collect();
            let report = mistake::unknown_column(name.text, name.span, &names);
            self.report(report);
        }
        found
    }

    /// The word, if it names a member of the wanted type, or, where none is known, one that any domain lists.
    pub(super) fn as_member(&self, word: &str, wanted: Option<Type>) -> Option<String> {
        let is_member = match wanted {
            Some(Type::Domain(id)) => self.domains.member(id, word, Span::default()).is_ok(),
            Some(Type::Int | Type::Text) => false,
            None => self.domains.domain_with(word).is_some(),
        };
        is_member.then(|| word.to_string())
    }
}

/// Whether columns have the same types, as far as these are known.
fn are_alike(these: &[Option<Type>], those: &[Option<Type>]) -> bool {
    let is_alike = |(this, that): (&Option<Type>, &Option<Type>)| {
        this.is_none() || that.is_none() || this == that
    };
    these.len() == those.len() && these.iter().zip(those).all(is_alike)
}

/// A name for a column that is declared without one: its type in lower case, with a number if an earlier column has that
/// name, or a later one declares it.
fn free_name(columns: &[Column], all: &[ColumnDecl<'_>], ty: &str) -> String {
    let base = ty.to_lowercase();
    let mut name = base.clone();
    let mut count = 1;
    let is_taken = |name: &str| {
        let mut declared = all.iter().filter_map(|it| it.name);
        columns.iter().any(|it| it.name == name) || declared.any(|it| it.text == name)
    };
    while is_taken(&name) {
        count += 1;
        name = format!("{base}{count}");
    }
    name
}
