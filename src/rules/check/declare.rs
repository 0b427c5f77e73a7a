//! Declarations: relations, inputs, events, repetition, meta.
//!
//! Deliberately absent: domains (`domains`), actions (`action`), trials (`trial`) and stages (`stages`).

use smallvec::smallvec;

use super::super::ast::{
    ColumnDecl, DefaultValue, File, InputDecl, InputKind, Item, Name, Number, RelationDecl,
    RelationKind,
};
use super::super::diagnostic::Diagnostic;
use super::super::limits::{self, LimitError};
use super::super::mistake;
use super::super::program::{
    Column, EventId, Input, Meta, RelId, Relation, Role, SEPARATOR, Span, Type, Until,
};
use super::effect::placeholders;
use super::names::Found;
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
        self.declare_actions(files);
        for item in items() {
            match item {
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
                Item::Trial(decl) => self.settle_trial(decl),
                _ => {}
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

    /// Adds a relation, or reports why that cannot be.
    pub(super) fn add(&mut self, mut info: Info<'t>) -> Option<RelId> {
        if self.relations.len() == limits::RELATIONS {
            self.exceeds(LimitError::Relations(limits::RELATIONS + 1), info.name.span);
            return None;
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
                Some(id)
            }
            Err(old) => {
                let old = self.info(old);
                let builtin = matches!(old.relation.role, Role::Builtin(_));
                let report = mistake::relation_twice(info.name, old.name.span, builtin);
                self.report(report);
                None
            }
        }
    }

    /// Reports a declaration beyond a limit. No further mistakes are reported about its name.
    pub(super) fn abandon(&mut self, name: Name<'t>, limit: LimitError) {
        self.broken.insert(name.text);
        self.exceeds(limit, name.span);
    }

    /// A declared relation, or an event in the form of one, whose last column is no key and that is not open.
    pub(super) fn declared(
        &mut self,
        decl: &RelationDecl<'t>,
        (columns, types): (Vec<Column>, Types),
        role: Role,
    ) -> Info<'t> {
        self.check_texts(decl, &types, &role);
        let relation = Relation {
            name: decl.name.text.to_string(),
            sentence: self.sentence(decl, &columns),
            denial: self.checked_sentence(decl.denial, &columns),
            columns,
            role,
            functional: false,
            open: false,
            span: decl.name.span,
            rules: Vec::new(),
        };
        Info { relation, types, name: decl.name }
    }

    fn declare_relation(&mut self, decl: &RelationDecl<'t>) {
        if decl.columns.len() > limits::COLUMNS {
            return self.abandon(decl.name, LimitError::Columns(decl.columns.len()));
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
        let mut info = self.declared(decl, (columns, types), role);
        (info.relation.functional, info.relation.open) = (functional, open);
        self.add(info);
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
            return self.abandon(name, limit);
        }
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
        let columns = self.columns(decl);
        let mut info = self.declared(decl, columns, Role::Derived);
        info.relation.name = full.unwrap_or(info.relation.name);
        self.events.push(info);
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
        if !self.check_input_columns(decl, input.kind, types) {
            return None;
        }
        let of = match input.of {
            Some(name) => Some(self.owners(decl, name, types)?),
            None => None,
        };
        let value = match (input.kind, types) {
            (InputKind::Flag, _) | (InputKind::Of, [_]) => Type::Domain(BOOL),
            (_, types) => types.last().copied().unwrap_or(Some(Type::Domain(BOOL)))?,
        };
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

    /// Whether an input has the columns that its kind needs; reports it if not.
    fn check_input_columns(
        &mut self,
        decl: &RelationDecl<'t>,
        kind: InputKind,
        types: &[Option<Type>],
    ) -> bool {
        let fits = match (kind, types) {
            (InputKind::Key, [_, _]) | (InputKind::Flag, [_]) => true,
            (InputKind::Game, [] | [_]) | (InputKind::Of, [_] | [_, _]) => true,
            (InputKind::List, [_, Some(Type::Domain(id))]) => {
                decl.columns[0].name.is_some_and(|it| it.text == "activation")
                    && self.domains.is_choosable(*id)
            }
            _ => false,
        };
        if !fits {
            self.report(mistake::input_shape(decl.name, kind, types.len()));
        } else if matches!(kind, InputKind::Key | InputKind::Flag | InputKind::List)
            && let Some(first) = types[0]
            && !self.domains.is_entities(first)
        {
            let found = self.type_name(first).to_string();
            let place = decl.columns[0].ty.span;
            self.report(mistake::input_without_entity(decl.name, &found, place));
            return false;
        }
        fits
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
    pub(super) fn default_value(
        &mut self,
        default: &DefaultValue<'t>,
        ty: Type,
    ) -> Option<(i64, Span)> {
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
    fn check_texts(&mut self, decl: &RelationDecl<'t>, types: &[Option<Type>], role: &Role) {
        if *role == Role::Static {
            return;
        }
        for (column, ty) in decl.columns.iter().zip(types) {
            if *ty == Some(Type::Text) {
                self.report(mistake::text_outside_static(decl.name, column.ty.span));
            }
        }
    }

    fn sentence(&mut self, decl: &RelationDecl<'t>, columns: &[Column]) -> String {
        if decl.sentence.is_none() && matches!(decl.kind, RelationKind::Derived { .. }) {
            self.report(mistake::no_sentence(decl.name));
        }
        self.checked_sentence(decl.sentence, columns)
    }

    /// A sentence, after checking its placeholders against the columns.
    fn checked_sentence(&mut self, sentence: Option<Name<'t>>, columns: &[Column]) -> String {
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

    /// `(Entity, Square)`.
    pub(super) fn signature(&self, rel: RelId) -> String {
        let types = &self.info(rel).types;
        let names: Vec<&str> =
            types.iter().map(|it| it.map_or("?", |it| self.type_name(it))).collect();
        format!("({})", names.join(", "))
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
