//! The domains and attributes that a program declares.
//!
//! Deliberately absent: relations, which `declare` makes.

use std::rc::Rc;

use foldhash::{HashMap, HashMapExt};

use super::super::ast::{DomainDecl, File, Item, Member, Name, Number, Shape as ShapeDecl};
use super::super::diagnostic::Diagnostic;
use super::super::limits::{self, LimitError};
use super::super::mistake::{self, UnknownMember};
use super::super::program::{Span, Type};
use super::names::{NameTable, Scopes};
use crate::facts::{AttrId, AttrType, Attribute, BOOL, Domain, DomainId, Schema, Shape, Suggester};

/// A domain with the place of its declaration.
struct DomainEntry<'t> {
    name: String,
    span: Option<Span>,
    shape: Shape,
    /// Listed members: the index of each, and its place in each file that lists it.
    members: HashMap<&'t str, (i64, Vec<Span>)>,
    /// The words for members in sentences, by index.
    words: HashMap<i64, &'t str>,
}

/// An attribute with the place of its first declaration and of its default.
struct Attr {
    attribute: Attribute,
    declared: Type,
    /// Whether a shared file, of no preset or game, declares it.
    is_shared: bool,
    /// Whether it is hidden: it has the facts of another attribute from before an action, for `was R(...)`.
    is_before: bool,
    span: Span,
    default_span: Option<Span>,
}

/// The domain of the squares or points of a board.
const SQUARES: &str = "Square";
/// The domain that presets add their names to.
pub(super) const PRESETS: &str = "Preset";

/// The sizes that `.meta board` gives (`"FILESxRANKS"`, or `"SHAPE SIDE"` for SIDE files and SIDE ranks), and
/// `.meta entities "N"`. They replace the numbers in the declarations, so that a layout or game can have a board of its
/// own under rules that are written for any board. The last line of each counts.
#[derive(Default)]
struct Sizes {
    /// Files and ranks.
    board: Option<(Number, Number)>,
    entities: Option<Number>,
}

impl Sizes {
    fn of(files: &[&File<'_>], found: &mut Vec<Diagnostic>) -> Self {
        let mut sizes = Self::default();
        for item in files.iter().flat_map(|it| &it.items) {
            let Item::Meta { key, value, .. } = item else { continue };
            let number =
                |text: &str| text.parse().ok().map(|size| Number { value: size, span: value.span });
            match key.text {
                // No sizes: a graph has the points that rules name, and `none` has no points.
                "board" if matches!(value.text, "graph" | "none") => sizes.board = None,
                "board" => {
                    // A word before a single size is a shape. Its meaning is for `presets` and rules.
                    let sides = match value.text.split_once(' ') {
                        Some((_, side)) => Some((side, side)),
                        None => value.text.split_once('x'),
                    };
                    match sides.map(|it| (number(it.0), number(it.1))) {
                        Some((Some(files), Some(ranks))) => sizes.board = Some((files, ranks)),
                        _ => found.push(mistake::odd_size(*value, BOARD_SIZES)),
                    }
                }
                "entities" => match number(value.text) {
                    Some(cap) => sizes.entities = Some(cap),
                    None => found.push(mistake::odd_size(*value, "a number, as in \"128\"")),
                },
                _ => {}
            }
        }
        sizes
    }

    /// The shape that a declaration defines, without its members; `None` if it extends a domain.
    fn shape(&self, decl: &ShapeDecl<'_>, found: &mut Vec<Diagnostic>) -> Option<Shape> {
        Some(match decl {
            ShapeDecl::Extend(_) => return None,
            ShapeDecl::Members(_) => Shape::Members(Vec::new()),
            ShapeDecl::Grid(files, ranks) => {
                let (files, ranks) = self.board.unwrap_or((*files, *ranks));
                let side = 1..=limits::BOARD_SIDE as i64;
                if !side.contains(&files.value) || !side.contains(&ranks.value) {
                    let span = Span { end: ranks.span.end, ..files.span };
                    found.push(mistake::limit(LimitError::Board, span));
                }
                let clamp = |it: Number| it.value.clamp(1, limits::BOARD_SIDE as i64) as u8;
                Shape::Grid { files: clamp(files), ranks: clamp(ranks) }
            }
            ShapeDecl::Entities(cap) => {
                let cap = self.entities.unwrap_or(*cap);
                if !(2..=limits::ENTITIES as i64).contains(&cap.value) {
                    found.push(mistake::limit(LimitError::Entities, cap.span));
                }
                Shape::Entities { cap: cap.value.clamp(2, limits::ENTITIES as i64) as u16 }
            }
        })
    }
}

/// The values that `.meta board` takes, for a mistake.
const BOARD_SIZES: &str = "FILESxRANKS, as in \"10x8\", or \"SHAPE SIDE\", \"graph\" or \"none\"";

/// The prefix of the names of hidden attributes, which have the facts from before an action.
const BEFORE: &str = "was ";

#[derive(Default)]
pub(super) struct Domains<'t> {
    scopes: Rc<Scopes<'t>>,
    known: Vec<DomainEntry<'t>>,
    ids: NameTable<'t, DomainId>,
    attrs: Vec<Attr>,
    attr_ids: HashMap<String, usize>,
    suggester: Suggester,
}

impl<'t> Domains<'t> {
    /// The domain `Bool` alone.
    pub(super) fn new(scopes: Rc<Scopes<'t>>) -> Self {
        let span = Span::default();
        let truth = DomainEntry {
            name: "Bool".into(),
            span: None,
            shape: Shape::Members(vec!["false".into(), "true".into()]),
            members: HashMap::from_iter([("false", (0, vec![span])), ("true", (1, vec![span]))]),
            words: HashMap::new(),
        };
        Self { scopes, known: vec![truth], ..Self::default() }
    }

    pub(super) fn name(&self, id: DomainId) -> &str {
        self.known.get(usize::from(id.0)).map_or("?", |it| it.name.as_str())
    }

    pub(super) fn type_name(&self, ty: Type) -> &str {
        match ty {
            Type::Domain(id) => self.name(id),
            Type::Int => "Int",
            Type::Text => "Text",
        }
    }

    /// Whether a preset or game declares a domain of that name.
    pub(super) fn declares(&self, scope: u16, name: &str) -> bool {
        self.ids.declares(scope, name)
    }

    /// The names of the domains that a preset or game declares.
    pub(super) fn of(&self, scope: u16) -> impl Iterator<Item = &'t str> {
        self.ids.of(scope)
    }

    pub(super) fn is_entities(&self, ty: Type) -> bool {
        matches!(ty, Type::Domain(id)
            if matches!(self.known[usize::from(id.0)].shape, Shape::Entities { .. }))
    }

    /// Whether its members are listed by name, and it is not the domain of truth values.
    pub(super) fn is_listed(&self, id: DomainId) -> bool {
        id != BOOL && matches!(self.known[usize::from(id.0)].shape, Shape::Members(_))
    }

    /// Whether an option may have its members as values: they are listed, or squares.
    pub(super) fn is_choosable(&self, id: DomainId) -> bool {
        id != BOOL && !matches!(self.known[usize::from(id.0)].shape, Shape::Entities { .. })
    }

    /// The one domain of entities, if it is declared.
    pub(super) fn entities(&self) -> Option<Type> {
        (0..self.known.len() as u16)
            .map(|at| Type::Domain(DomainId(at)))
            .find(|&it| self.is_entities(it))
    }

    /// Whether a name is that of a square that only larger boards have.
    pub(super) fn is_off_board(&self, id: DomainId, name: &str) -> bool {
        let domain = self.schema_domain(id);
        let (files, ranks) = (limits::BOARD_SIDE as u8, limits::BOARD_SIDE as u8);
        let largest = Domain { name: String::new(), shape: Shape::Grid { files, ranks } };
        let is_board = matches!(domain.shape, Shape::Grid { .. }) || domain.name == SQUARES;
        is_board && domain.member(name).is_none() && largest.member(name).is_some()
    }

    /// The domain that presets add their names to, if it is declared.
    pub(super) fn presets(&self) -> Option<Type> {
        let at = self.known.iter().position(|it| it.name == PRESETS)?;
        Some(Type::Domain(DomainId(at as u16)))
    }

    /// The attributes that only files of a preset or a game declare.
    pub(super) fn own_attributes(&self) -> Vec<AttrId> {
        let own = (1..).zip(&self.attrs).filter(|it| !it.1.is_shared && !it.1.is_before);
        own.map(|it| AttrId(it.0)).collect()
    }

    /// The board's domain, its name and its size.
    pub(super) fn grid(&self) -> Option<(DomainId, Name<'_>, u8, u8)> {
        self.known.iter().enumerate().find_map(|(at, it)| match it.shape {
            Shape::Grid { files, ranks } => {
                let name = Name { text: &it.name, span: it.span.unwrap_or_default() };
                Some((DomainId(at as u16), name, files, ranks))
            }
            _ => None,
        })
    }

    /// The type of that name, or the mistake.
    pub(super) fn ty(&self, name: Name<'t>) -> Result<Type, Diagnostic> {
        match name.text {
            "Int" => Ok(Type::Int),
            "Text" => Ok(Type::Text),
            "Bool" => Ok(Type::Domain(BOOL)),
            _ => match self.ids.get(&self.scopes, name) {
                Some(id) => Ok(Type::Domain(id)),
                None => Err(self.unknown(name, &["Bool", "Int", "Text"])),
            },
        }
    }

    /// The member's index, or the mistake.
    pub(super) fn member(&self, id: DomainId, name: &str, span: Span) -> Result<i64, Diagnostic> {
        let known = &self.known[usize::from(id.0)];
        let found = match &known.shape {
            Shape::Members(_) => known.members.get(name).map(|it| it.0),
            Shape::Entities { .. } => return Err(mistake::entity_constant(name, span)),
            Shape::Grid { .. } => self.schema_domain(id).member(name),
        };
        found.ok_or_else(|| {
            let near = match &known.shape {
                Shape::Members(names) => {
                    self.suggester.nearest(name, names.iter().map(String::as_str))
                }
                _ => None,
            };
            let elsewhere = self.domain_with(name).filter(|&it| it != id).map(|it| self.name(it));
            let last_square = match &known.shape {
                Shape::Grid { .. } => self.schema_domain(id).member_names().last(),
                _ => None,
            };
            mistake::unknown_member(UnknownMember {
                name,
                domain: &known.name,
                span,
                near,
                elsewhere,
                last_square,
                declared: known.span,
            })
        })
    }

    /// A domain that lists this member.
    pub(super) fn domain_with(&self, name: &str) -> Option<DomainId> {
        self.known.iter().position(|it| it.members.contains_key(name)).map(|at| DomainId(at as u16))
    }

    /// Processes all `.domain` declarations: first those that define, then those that extend.
    pub(super) fn declare(&mut self, files: &[&File<'t>], found: &mut Vec<Diagnostic>) {
        let sizes = Sizes::of(files, found);
        let decls = || {
            files.iter().flat_map(|it| &it.items).filter_map(|it| match it {
                Item::Domain(domain) => Some(domain),
                _ => None,
            })
        };
        for decl in decls() {
            self.define(decl, &sizes, found);
        }
        let broken = |name: &str| files.iter().any(|it| it.broken.contains(&name));
        for decl in decls() {
            let ShapeDecl::Extend(members) = &decl.shape else {
                continue;
            };
            let bool = (decl.name.text == "Bool").then_some(BOOL);
            match bool.or_else(|| self.ids.get(&self.scopes, decl.name)) {
                Some(id) => self.extend(id, decl.name, members, found),
                None if broken(decl.name.text) => {}
                None if matches!(decl.name.text, "Int" | "Text") => {
                    found.push(mistake::not_extensible(decl.name, None));
                }
                None => found.push(self.unknown(decl.name, &["Bool"])),
            }
        }
    }

    /// The mistake of naming a domain that does not exist, or that a preset keeps private.
    fn unknown(&self, name: Name<'t>, built_in: &[&'t str]) -> Diagnostic {
        if let Some((of, id)) = self.ids.private_owner(&self.scopes, name) {
            let span = self.known[usize::from(id.0)].span.unwrap_or_default();
            return mistake::kept_name(name, of, span);
        }
        let names = self.ids.visible(&self.scopes, name.span);
        let names = names.into_iter().chain(built_in.iter().copied());
        mistake::unknown_domain(name, self.suggester.nearest(name.text, names))
    }

    fn define(&mut self, decl: &DomainDecl<'t>, sizes: &Sizes, found: &mut Vec<Diagnostic>) {
        let Some(shape) = sizes.shape(&decl.shape, found) else { return };
        if matches!(decl.name.text, "Bool" | "Int" | "Text") {
            return found.push(mistake::domain_twice(decl.name, None));
        }
        // `Bool` does not count.
        if self.known.len() > limits::DOMAINS {
            let count = LimitError::Domains(limits::DOMAINS + 1);
            return found.push(mistake::limit(count, decl.name.span));
        }
        let id = DomainId(self.known.len() as u16);
        // Every shared domain is open: a preset extends it, and may not declare one of its own with the same name.
        let span = |it: DomainId| self.known[usize::from(it.0)].span;
        let full = match self.ids.declare(&self.scopes, decl.name, id, |_| true) {
            Ok(declared) => {
                if let Some(old) = declared.clash {
                    found.push(mistake::shared_twice(decl.name, span(old).unwrap_or_default()));
                }
                declared.full
            }
            Err(old) => {
                found.push(mistake::domain_twice(decl.name, span(old)));
                // Its members are not told to be missing, too.
                if let ShapeDecl::Members(members) = &decl.shape {
                    self.extend(old, decl.name, members, &mut Vec::new());
                }
                return;
            }
        };
        if let Some(old) = self.known.iter().find(|it| exclude_each_other(&it.shape, &shape)) {
            found.push(mistake::second_of_shape(decl.name, &old.name, old.span));
        }
        let name = full.unwrap_or_else(|| decl.name.text.to_owned());
        let span = Some(decl.name.span);
        let (members, words) = (HashMap::new(), HashMap::new());
        self.known.push(DomainEntry { name, span, shape, members, words });
        if let ShapeDecl::Members(members) = &decl.shape {
            self.extend(id, decl.name, members, found);
        }
    }

    fn extend(
        &mut self,
        id: DomainId,
        place: Name<'t>,
        members: &[Member<'t>],
        found: &mut Vec<Diagnostic>,
    ) {
        let known = &mut self.known[usize::from(id.0)];
        let Shape::Members(names) = &mut known.shape else {
            return found.push(mistake::not_extensible(place, known.span));
        };
        if known.span.is_none() {
            return found.push(mistake::not_extensible(place, None));
        }
        for Member { name: member, words } in members {
            let (_, places) = known.members.entry(member.text).or_insert_with(|| {
                names.push(member.text.to_string());
                (names.len() as i64 - 1, Vec::new())
            });
            // Several files may list a member that they need; one file lists it once.
            match places.iter().find(|it| it.source == member.span.source) {
                Some(old) => found.push(mistake::member_twice(*member, *old)),
                None => places.push(member.span),
            }
            // If two files have words for it, the first counts.
            if let (Some(words), Some((at, _))) = (words, known.members.get(member.text)) {
                known.words.entry(*at).or_insert(words.text);
            }
        }
        if names.len() > limits::MEMBERS {
            found.push(mistake::limit(LimitError::Members(names.len()), place.span));
        }
    }

    /// Adds an attribute of entities and the game, or of the members of the domain `of`. It may be declared again with
    /// the same type and for the same things, and without another default.
    pub(super) fn attribute(
        &mut self,
        name: Name<'t>,
        ty: Type,
        of: Option<DomainId>,
        default: Option<(i64, Span)>,
        doc: &str,
    ) -> Result<AttrId, Diagnostic> {
        if name.text == "next_entity" || name.text.starts_with(BEFORE) {
            return Err(mistake::reserved_attribute(name));
        }
        let declared = ty;
        let ty = match ty {
            // `check_texts` refuses texts.
            Type::Int | Type::Text => AttrType::Int,
            ty if self.is_entities(ty) => AttrType::Entity,
            Type::Domain(id) => AttrType::Member(id),
        };
        let full = self.attribute_name(name, ty, of);
        let Some(&at) = self.attr_ids.get(&full) else {
            let (value, default_span) = default.unzip();
            let attribute = Attribute { name: full, ty, of, default: value, doc: doc.to_string() };
            return self.add(attribute, declared, name.span, default_span);
        };
        let old = &self.attrs[at];
        if old.attribute.ty != ty {
            let types = (self.type_name(declared), self.type_name(old.declared));
            return Err(mistake::attribute_clash(name, types, old.span));
        }
        if old.attribute.of != of {
            let owner = |it: Option<DomainId>| it.map(|it| self.name(it));
            let owners = (owner(of), owner(old.attribute.of));
            return Err(mistake::owner_clash(name, owners, old.span));
        }
        let old = &mut self.attrs[at];
        if let Some((value, span)) = default {
            if old.attribute.default.is_some_and(|it| it != value) {
                let place = old.default_span.unwrap_or(old.span);
                return Err(mistake::default_clash(name.text, span, place));
            }
            (old.attribute.default, old.default_span) = (Some(value), Some(span));
        }
        Ok(attr_id(at))
    }

    /// Adds an attribute that a file declares.
    fn add(
        &mut self,
        attribute: Attribute,
        declared: Type,
        span: Span,
        default_span: Option<Span>,
    ) -> Result<AttrId, Diagnostic> {
        let is_shared = self.scopes.at(span).is_none();
        let is_before = false;
        self.push(Attr { attribute, declared, is_shared, is_before, span, default_span })
    }

    fn push(&mut self, attr: Attr) -> Result<AttrId, Diagnostic> {
        let at = self.attrs.len();
        if at >= limits::ATTRIBUTES {
            return Err(mistake::limit(LimitError::Attributes, attr.span));
        }
        self.attr_ids.insert(attr.attribute.name.clone(), at);
        self.attrs.push(attr);
        Ok(attr_id(at))
    }

    pub(super) fn has_default(&self, attr: AttrId) -> bool {
        let attr = usize::from(attr.0).checked_sub(1).and_then(|it| self.attrs.get(it));
        attr.is_some_and(|it| it.attribute.default.is_some())
    }

    /// Adds consecutive attributes, one for each member of a domain, with the names `NAME.MEMBER`. Returns the
    /// first and their number.
    pub(super) fn add_list(
        &mut self,
        name: Name<'t>,
        members: DomainId,
        chosen: &[i64],
        doc: &str,
    ) -> Result<(AttrId, u16), Diagnostic> {
        let truth = AttrType::Member(BOOL);
        let base = self.attribute_name(name, truth, None);
        let domain = self.schema_domain(members);
        let first = self.attrs.len();
        for at in 0..domain.size() {
            let full = format!("{base}.{}", domain.member_name(at as i64));
            if let Some(&old) = self.attr_ids.get(&full) {
                return Err(mistake::list_clash(name, &full, self.attrs[old].span));
            }
            let default = chosen.contains(&(at as i64)).then_some(1);
            let attribute =
                Attribute { name: full, ty: truth, of: None, default, doc: doc.to_string() };
            self.add(attribute, Type::Domain(BOOL), name.span, None)?;
        }
        Ok((attr_id(first), domain.size() as u16))
    }

    /// A domain as the schema has it.
    fn schema_domain(&self, id: DomainId) -> Domain {
        let known = &self.known[usize::from(id.0)];
        Domain { name: known.name.clone(), shape: known.shape.clone() }
    }

    /// The name of an attribute in saves. A preset's attribute that is not exported is its own, and has the preset's
    /// name before it; but if a shared file declares one with that name, type and `of`, the preset reads that one.
    fn attribute_name(&self, name: Name<'t>, ty: AttrType, of: Option<DomainId>) -> String {
        let is_same = |it: &Attr| it.is_shared && it.attribute.ty == ty && it.attribute.of == of;
        let known = self.attr_ids.get(name.text).is_some_and(|&it| is_same(&self.attrs[it]));
        let own = self.scopes.private_attribute(name).filter(|_| !known);
        own.unwrap_or_else(|| name.text.to_owned())
    }

    /// Adds the hidden attribute that has the facts of another one from before an action, which `was R(...)` reads.
    /// Its facts are about members of the domain `owners`, even those of entities: so they stay when the action removes
    /// the entity.
    pub(super) fn add_before(
        &mut self,
        of: AttrId,
        owners: Option<DomainId>,
    ) -> Result<AttrId, Diagnostic> {
        // The schema's own entity counter comes first.
        let old = &self.attrs[usize::from(of.0) - 1];
        let name = format!("{BEFORE}{}", old.attribute.name);
        if let Some(&at) = self.attr_ids.get(&name) {
            return Ok(attr_id(at));
        }
        let attribute = Attribute {
            name,
            of: owners,
            default: None,
            doc: String::new(),
            ..old.attribute.clone()
        };
        self.push(Attr { attribute, is_before: true, default_span: None, ..*old })
    }

    /// The words for members of domains in sentences.
    pub(super) fn words(&self) -> std::collections::HashMap<(DomainId, i64), String> {
        let known = (0..).map(DomainId).zip(&self.known);
        let words = known.flat_map(|(id, it)| {
            it.words.iter().map(move |(&at, &words)| ((id, at), words.to_owned()))
        });
        words.collect()
    }

    pub(super) fn into_schema(self) -> Schema {
        let mut schema = Schema::new();
        for known in self.known.into_iter().skip(1) {
            schema.add_domain(Domain { name: known.name, shape: known.shape });
        }
        for attr in self.attrs {
            if attr.is_before {
                schema.add_hidden(attr.attribute);
                continue;
            }
            // Clashes were reported when the attribute was declared.
            let _ = schema.add_attribute(attr.attribute);
        }
        schema
    }
}

/// The attribute of that index. The schema's own entity counter comes first.
fn attr_id(at: usize) -> AttrId {
    AttrId(at as u16 + 1)
}

/// Whether both are boards or both are sets of entities: a program has one of each at most.
fn exclude_each_other(a: &Shape, b: &Shape) -> bool {
    matches!(
        (a, b),
        (Shape::Grid { .. }, Shape::Grid { .. }) | (Shape::Entities { .. }, Shape::Entities { .. })
    )
}
