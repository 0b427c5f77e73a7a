//! The position as plain data for drawing it: pieces, legal actions, and what the rules mark on the board.
//! Pieces are given by entity, sides by number, and everything else by name. Nothing here changes the game.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashMap, HashMapExt};
use serde::Serialize;

use crate::derive::{Allowance, Tuple};
use crate::facts::{Domain, EntityId, Fact, GAME, Shape, Value, owner};
use crate::moves::notation::{letter_of, open_listing, pieces_by_square, to_uci};
use crate::moves::{About, Field, Move, argument_variants, refusal};
use crate::rules::{Action, Program, RelId, Type};

use super::drawing::{self, SvgElement};
use super::play::Game;

/// A position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct View {
    /// Files of the board; on a board of points, the number of points.
    pub files: u8,
    /// Ranks of the board; 1 on a board of points.
    pub ranks: u8,
    /// The points of a board that has no files and ranks, with the places where they are drawn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<PointView>,
    /// The lines that join points, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<(String, String)>,
    /// Whether the squares of the board are hexagons, each rank half a square to the right of the rank below.
    #[serde(skip_serializing_if = "is_false")]
    pub hexagons: bool,
    /// The position as FEN, as far as FEN can say it.
    pub fen: String,
    /// The side to move, by number; 0 if the facts state none.
    pub turn: usize,
    /// The pieces on the board.
    pub pieces: Vec<PieceView>,
    /// All kinds of piece of the game.
    pub kinds: Vec<KindView>,
    /// Squares that the rules mark (`.meta mark "relation"`): terrain, zones.
    pub marks: Vec<MarkedSquares>,
    /// Squares that belong to a piece (`.meta zone "relation"`), such as those that it defends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<Zone>,
    /// Royal pieces that are attacked, by square.
    pub checks: Vec<String>,
    /// The legal actions of the side to move.
    pub legal: Vec<ActionView>,
    /// The values of an unlisted argument, with the suffix that each adds to an action's text: for example a
    /// promotion that is chosen in advance. The argument is that of the first action with unlisted arguments; empty if
    /// that action has several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<ArgumentView>,
    /// The reasons for which a draw can be claimed.
    pub claims: Vec<String>,
    /// Facts of the game itself, in words.
    pub facts: BTreeMap<String, String>,
    /// Facts of sides, squares and other members of domains, by attribute, then by member.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub facts_of: BTreeMap<String, BTreeMap<String, String>>,
}

/// A point of a board without files and ranks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PointView {
    /// The name that actions use.
    pub name: String,
    /// The coordinate to the right.
    pub x: i64,
    /// The coordinate upwards.
    pub y: i64,
}

/// Something that stands on the board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PieceView {
    /// The entity, which stays the same as long as the piece is in the game.
    pub id: u32,
    /// By name.
    pub square: String,
    /// By name.
    pub kind: String,
    /// The kind's letter in a FEN, in lower case.
    pub letter: String,
    /// The side's number; `None` if it belongs to no side.
    pub side: Option<usize>,
    /// Its further facts, in words.
    pub facts: BTreeMap<String, String>,
    /// Its traits, such as abilities and elements, where the rules list them (`.meta trait "relation"`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub traits: Vec<Trait>,
    /// Whether its side depends on it: it is in the relation that `.meta vital` names.
    #[serde(skip_serializing_if = "is_false")]
    pub vital: bool,
}

/// A member of a domain that a piece has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trait {
    /// The relation that it comes from.
    pub of: String,
    /// The member, by name.
    pub name: String,
    /// Its text for people.
    pub told: String,
}

/// A kind of piece, with what drawing needs. A file that adds a kind can declare more by
/// `.meta piece "camel: Camel"` and `.meta image "camel white: camel-w.svg"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KindView {
    /// By name, as rules have it.
    pub kind: String,
    /// Its letter in a FEN, in lower case.
    pub letter: String,
    /// Its name for people.
    pub name: String,
    /// The addresses of its pictures, by side.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<String, String>,
    /// A picture that the rules contain (`.meta drawing "camel: <path .../>"`), in a square 60 units wide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drawing: Vec<SvgElement>,
}

/// Squares that one relation marks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MarkedSquares {
    /// The relation that marks them.
    pub name: String,
    /// By name.
    pub squares: Vec<String>,
}

/// Squares of one piece.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Zone {
    /// The relation that it comes from.
    pub name: String,
    /// The piece, by its entity.
    pub piece: u32,
    /// By name.
    pub squares: Vec<String>,
}

/// A field of a FEN: `KEY=VALUE`, of pieces `KEY=VALUE,SQUARE:VALUE`, of members of a domain `KEY=VALUE,NAME:VALUE`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldView {
    /// The key before `=`.
    pub key: String,
    /// The owners of its values: the `game`, `pieces`, or `members` of a domain.
    pub about: &'static str,
    /// The values to choose from; empty for numbers.
    pub values: Vec<String>,
}

fn is_false(it: &bool) -> bool {
    !it
}

/// A value that an unlisted argument of an action may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArgumentView {
    /// The argument's name in the rules.
    pub name: String,
    /// The value, by name.
    pub value: String,
    /// The suffix that it adds to an action's text.
    pub suffix: String,
}

/// A legal action of the side to move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ActionView {
    /// Its text in UCI.
    pub uci: String,
    /// The first square of its text, if it has two or more.
    pub from: Option<String>,
    /// The last square of its text, which for a drop is the only one.
    pub to: Option<String>,
    /// The kind of action, by its name in the rules.
    pub action: String,
    /// The piece that acts, if one does: the first piece among the action's arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub piece: Option<u32>,
    /// Its arguments besides pieces and squares, in words: a kind to promote to, a manner.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choice: Vec<String>,
    /// The action as a sentence, if other actions have the same `from` and `to`, and it is no drop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// Why it cannot be played although it is legal, for a reason that rules cannot know: for example, there is no
    /// room for an entity that it makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl Game {
    /// The position as it stands.
    pub fn view(&mut self) -> View {
        let _allowance = Allowance::open();
        let board = self.contract().board;
        let turn = self.side().and_then(|it| usize::try_from(it).ok()).unwrap_or_default();
        let facts = self.facts().all_facts();
        let kinds = self.kinds();
        View {
            files: board.files,
            ranks: board.ranks,
            points: self.points(),
            lines: self.lines(),
            hexagons: self.has_hexagons(),
            fen: self.fen(),
            turn,
            pieces: self.pieces(&facts, &kinds),
            kinds,
            marks: self.marks(),
            zones: self.zones(),
            checks: self.checks(),
            legal: if self.result().is_some() { Vec::new() } else { self.reachable() },
            given: self.given(),
            claims: self.claims(),
            facts: self.facts_of_game(&facts),
            facts_of: self.facts_of_members(&facts),
        }
    }

    /// The points of a board without files and ranks, at the places in the relation `drawn_at(point, x, y)`; points
    /// without a place there are put side by side below. Empty for a board of squares.
    pub fn points(&mut self) -> Vec<PointView> {
        let board = self.contract().board;
        if board.is_grid {
            return Vec::new();
        }
        let program = self.program().clone();
        let domain = program.schema.domain(board.domain);
        let rows = self.rows_of("drawn_at", &[Type::Domain(board.domain), Type::Int, Type::Int]);
        let lowest = rows.iter().map(|it| it[2]).min().unwrap_or(1);
        let mut left = 0..;
        let mut point = |raw: i64| {
            let row = rows.iter().find(|it| it[0] == raw);
            let (x, y) = row.map_or_else(
                || (left.next().unwrap_or_default(), lowest.saturating_sub(1)),
                |it| (it[1], it[2]),
            );
            PointView { name: domain.member_name(raw), x, y }
        };
        (0..domain.size() as i64).map(&mut point).collect()
    }

    /// The lines between points, as the relation `adjacent(point, point)` has them. Empty for a board of
    /// squares.
    pub(crate) fn lines(&mut self) -> Vec<(String, String)> {
        let board = self.contract().board;
        if board.is_grid {
            return Vec::new();
        }
        let program = self.program().clone();
        let point = Type::Domain(board.domain);
        let rows = self.rows_of("adjacent", &[point, point]);
        let name = |raw: i64| program.value_name(point, raw);
        let once = rows.iter().filter(|it| it[0] < it[1]);
        once.map(|it| (name(it[0]), name(it[1]))).collect()
    }

    /// The rows of the relation of that name; none if the rules have no such relation with these columns.
    pub(super) fn rows_of(&mut self, name: &str, columns: &[Type]) -> Vec<Tuple> {
        let program = self.program();
        let types = |rel: &RelId| program.relation(*rel).columns.iter().map(|it| it.ty);
        let rel = program.relation_named(name).filter(|it| types(it).eq(columns.iter().copied()));
        rel.map(|it| self.world_mut().tuples(it)).unwrap_or_default()
    }

    /// Whether the relation `hexagonal()` says so.
    pub(crate) fn has_hexagons(&mut self) -> bool {
        !self.rows_of("hexagonal", &[]).is_empty()
    }

    /// The names of the sides, in their order.
    pub fn sides(&self) -> Vec<String> {
        self.program().schema.domain(self.contract().sides).member_names().collect()
    }

    /// All kinds of piece, with what drawing needs.
    pub fn kinds(&mut self) -> Vec<KindView> {
        let (program, contract) = (self.program().clone(), self.contract().clone());
        let texts = |key: &'static str| {
            let lines = program.meta.iter().filter(move |it| it.key == key);
            lines.filter_map(|it| it.value.split_once(": "))
        };
        let domain = program.schema.domain(contract.kinds);
        let world = self.world_mut();
        let view = |raw: i64| {
            let kind = domain.member_name(raw);
            let word = program.word(Type::Domain(contract.kinds), raw).unwrap_or(&kind);
            let name = texts("piece").find(|it| it.0 == kind).map_or(word, |it| it.1);
            let of_side = |(what, path): (&str, &str)| {
                let side = what.strip_prefix(kind.as_str())?.strip_prefix(' ')?;
                Some((side.to_string(), path.to_string()))
            };
            KindView {
                letter: letter_of(world, &contract, raw).unwrap_or_default(),
                name: name.to_string(),
                images: texts("image").filter_map(of_side).collect(),
                drawing: texts("drawing")
                    .find(|it| it.0 == kind)
                    .and_then(|it| drawing::read(it.1).ok())
                    .unwrap_or_default(),
                kind,
            }
        };
        (0..domain.size() as i64).map(view).collect()
    }

    fn pieces(&mut self, facts: &[Fact], kinds: &[KindView]) -> Vec<PieceView> {
        let contract = self.contract().clone();
        let mut places = pieces_by_square(self.world_mut(), &contract);
        // Only stacks have an order of their own.
        if contract.stack.is_none() {
            places.sort_by_key(|it| it.1);
        }
        let (mut traits, vital) = (self.traits(), self.vital());
        let piece = |(square, entity): (i64, EntityId)| PieceView {
            traits: traits.remove(&entity.0).unwrap_or_default(),
            vital: vital.contains(&i64::from(entity.0)),
            ..self.piece(entity, square, facts, kinds)
        };
        places.into_iter().map(piece).collect()
    }

    /// The traits of each entity, from the relations of `.meta trait`.
    fn traits(&mut self) -> BTreeMap<u32, Vec<Trait>> {
        let program = self.program().clone();
        let entities = self.contract().entity_type(&program);
        let mut traits: BTreeMap<u32, Vec<Trait>> = BTreeMap::new();
        for (of, rel) in named_relations(&program, "trait") {
            let [owner, member] = &program.relation(rel).columns[..] else { continue };
            if Some(owner.ty) != entities {
                continue;
            }
            let ty = member.ty;
            for row in self.world_mut().tuples(rel) {
                let Ok(id) = u32::try_from(row[0]) else { continue };
                let name = program.value_name(ty, row[1]);
                let told = program.word(ty, row[1]).map_or_else(|| name.clone(), str::to_owned);
                let all = traits.entry(id).or_default();
                all.push(Trait { of: of.to_owned(), name, told });
            }
        }
        traits
    }

    /// The pieces that sides depend on: `.meta vital "relation"`.
    fn vital(&mut self) -> Vec<i64> {
        let program = self.program().clone();
        let entities = self.contract().entity_type(&program);
        // If several lines name a relation, the last counts.
        let Some((_, rel)) = named_relations(&program, "vital").last() else { return Vec::new() };
        let columns = &program.relation(rel).columns;
        let Some(at) = columns.iter().position(|it| Some(it.ty) == entities) else {
            return Vec::new();
        };
        self.world_mut().tuples(rel).iter().map(|it| it[at]).collect()
    }

    /// The fields of a FEN besides the usual parts, without those of presets that are not active.
    pub fn fen_fields(&self) -> Vec<FieldView> {
        let (program, contract) = (self.program(), self.contract());
        let field = |it: &Field| {
            let about = match it.about {
                About::Game => "game",
                About::Pieces => "pieces",
                About::Members(_) => "members",
            };
            let values = match it.ty {
                Type::Domain(domain) => program.schema.domain(domain).member_names().collect(),
                Type::Int | Type::Text => Vec::new(),
            };
            FieldView { key: it.key.clone(), about, values }
        };
        let sleeps = |it: &&Field| it.files.iter().all(|it| program.sleeps(*it, self.facts()));
        contract.fields.iter().filter(|it| !sleeps(it)).map(field).collect()
    }

    /// A piece on a square. `facts` are all facts, in the order of their entities.
    fn piece(
        &self,
        entity: EntityId,
        square: i64,
        facts: &[Fact],
        kinds: &[KindView],
    ) -> PieceView {
        let (contract, program) = (self.contract(), self.program());
        let raw = |attr| self.facts().get_raw(entity, attr);
        let kind = raw(contract.kind.attr).and_then(|it| kinds.get(usize::try_from(it).ok()?));
        let side = raw(contract.color.attr).and_then(|it| usize::try_from(it).ok());
        let known = [contract.at.attr, contract.kind.attr, contract.color.attr];
        let first = facts.partition_point(|it| it.entity < entity);
        let of_entity = facts[first..].iter().take_while(|it| it.entity == entity);
        let of_piece = of_entity.filter(|it| program.schema.owners(it.attr).is_none());
        let others = of_piece.filter(|it| !known.contains(&it.attr));
        let name = |it: &Fact| program.schema.attribute(it.attr).name.clone();
        PieceView {
            id: entity.0,
            square: program.schema.domain(contract.board.domain).member_name(square),
            kind: kind.map(|it| it.kind.clone()).unwrap_or_default(),
            letter: kind.map(|it| it.letter.clone()).unwrap_or_default(),
            side,
            facts: others.map(|it| (name(it), self.in_words(it))).collect(),
            traits: Vec::new(),
            vital: false,
        }
    }

    fn facts_of_game(&self, facts: &[Fact]) -> BTreeMap<String, String> {
        let schema = &self.program().schema;
        let is_of_game = |it: &&Fact| it.entity == GAME && schema.owners(it.attr).is_none();
        let name = |it: &Fact| schema.attribute(it.attr).name.clone();
        facts.iter().filter(is_of_game).map(|it| (name(it), self.in_words(it))).collect()
    }

    /// Facts of sides, squares and other members of domains, by attribute, then by member.
    fn facts_of_members(&self, facts: &[Fact]) -> BTreeMap<String, BTreeMap<String, String>> {
        let schema = &self.program().schema;
        let mut all: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for fact in facts {
            if schema.owners(fact.attr).is_some() {
                let facts = all.entry(schema.attribute(fact.attr).name.clone()).or_default();
                let owner = owner(schema, fact.attr, fact.entity).to_string();
                facts.insert(owner, self.in_words(fact));
            }
        }
        all
    }

    /// The value of a fact in words; of a piece on the board its square.
    fn in_words(&self, fact: &Fact) -> String {
        let schema = &self.program().schema;
        let square = match &fact.value {
            Value::Entity(it) => self.square_of(*it),
            _ => None,
        };
        square.unwrap_or_else(|| fact.value.words(schema, fact.attr))
    }

    fn square_of(&self, entity: EntityId) -> Option<String> {
        let contract = self.contract();
        let raw = self.facts().get_raw(entity, contract.at.attr)?;
        Some(self.program().schema.domain(contract.board.domain).member_name(raw))
    }

    fn marks(&mut self) -> Vec<MarkedSquares> {
        let program = self.program().clone();
        let square = Type::Domain(self.contract().board.domain);
        let mut marks = Vec::new();
        for (name, rel) in named_relations(&program, "mark") {
            let columns = &program.relation(rel).columns;
            let Some(at) = columns.iter().position(|it| it.ty == square) else { continue };
            let rows = self.world_mut().listed(rel);
            let named = |raw: &i64| program.value_name(square, *raw);
            let squares: BTreeSet<String> =
                rows.iter().filter_map(|it| it.get(at).map(named)).collect();
            let squares = squares.into_iter().collect();
            marks.push(MarkedSquares { name: name.to_owned(), squares });
        }
        marks
    }

    fn zones(&mut self) -> Vec<Zone> {
        let program = self.program().clone();
        let square = Type::Domain(self.contract().board.domain);
        let entities = self.contract().entity_type(&program);
        let mut zones: BTreeMap<(String, u32), BTreeSet<String>> = BTreeMap::new();
        for (name, rel) in named_relations(&program, "zone") {
            let columns = &program.relation(rel).columns;
            let column = |ty: Type| columns.iter().position(|it| it.ty == ty);
            let (Some(piece), Some(at)) = (entities.and_then(column), column(square)) else {
                continue;
            };
            for row in self.world_mut().listed(rel) {
                let (Some(&raw), Some(&there)) = (row.get(piece), row.get(at)) else { continue };
                let Ok(id) = u32::try_from(raw) else { continue };
                let squares = zones.entry((name.to_owned(), id)).or_default();
                squares.insert(program.value_name(square, there));
            }
        }
        let zone = |((name, piece), squares): ((String, u32), BTreeSet<String>)| Zone {
            name,
            piece,
            squares: squares.into_iter().collect(),
        };
        zones.into_iter().map(zone).collect()
    }

    fn checks(&mut self) -> Vec<String> {
        let contract = self.contract().clone();
        let threatened = contract.notation.threatened(self.world_mut(), &contract);
        let squares: BTreeSet<String> =
            threatened.into_iter().filter_map(|it| self.square_of(it)).collect();
        squares.into_iter().collect()
    }

    /// See [`View::given`].
    fn given(&mut self) -> Vec<ArgumentView> {
        let (program, contract) = (self.program().clone(), self.contract().clone());
        let has_unlisted = |it: &Action| !it.unlisted.is_empty();
        if self.result().is_some() || !program.actions.iter().any(has_unlisted) {
            return Vec::new();
        }
        let listing = open_listing(self.world_mut(), &contract);
        let first = listing.into_iter().find(|it| has_unlisted(program.action(it.1.action)));
        let Some((text, mv)) = first else { return Vec::new() };
        let action = program.action(mv.action);
        let [argument] = &action.unlisted[..] else { return Vec::new() };
        let variants = argument_variants(self.world_mut(), &mv);
        let given = variants.into_iter().filter_map(|variant| {
            let raw = variant.args.get(action.listed()).copied()?;
            let suffix = to_uci(self.world_mut(), &variant).strip_prefix(&text)?.to_owned();
            let value = program.value_name(argument.column.ty, raw);
            Some(ArgumentView { name: argument.column.name.clone(), value, suffix })
        });
        given.collect()
    }

    /// The actions of the side to move, even if the game is over.
    pub fn reachable(&mut self) -> Vec<ActionView> {
        let contract = self.contract().clone();
        let texts = open_listing(self.world_mut(), &contract);
        let program = self.program().clone();
        let board = program.schema.domain(contract.board.domain);
        let entities = contract.entity_type(&program);
        let mut actions: Vec<(ActionView, Move)> = Vec::with_capacity(texts.len());
        for (uci, mv) in texts {
            let refused = refusal(self.world_mut(), &contract, &mv).map(|it| it.to_string());
            let mut squares = squares_in(&uci, board);
            let to = squares.pop().map(str::to_owned);
            let from = squares.first().map(|it| (*it).to_owned());
            let action = program.relation(program.action(mv.action).rel);
            let about = || action.columns.iter().map(|it| it.ty).zip(mv.args.iter().copied());
            let piece = about().find(|it| Some(it.0) == entities);
            let piece = piece.and_then(|it| u32::try_from(it.1).ok());
            let placed = [entities, Some(Type::Domain(contract.board.domain))];
            let choice = about().filter(|it| !placed.contains(&Some(it.0)));
            let choice = choice.map(|(ty, raw)| program.value_name(ty, raw)).collect();
            let action = action.name.clone();
            let says = None;
            actions.push((ActionView { uci, from, to, action, piece, choice, says, refused }, mv));
        }
        // Actions with the same squares get a sentence each, except drops: their text has the letter of the piece.
        let mut counts: HashMap<Ends<'_>, usize> = HashMap::with_capacity(actions.len());
        for (view, _) in &actions {
            *counts.entry(ends(view)).or_default() += 1;
        }
        let sentence = |(view, mv): &(ActionView, Move)| {
            let is_drop = view.from.is_none() && view.to.is_some();
            let is_one_of_several = counts.get(&ends(view)) > Some(&1);
            let rel = program.action(mv.action).rel;
            (!is_drop && is_one_of_several).then(|| self.row(rel, &mv.args).sentence)
        };
        let sentences: Vec<Option<String>> = actions.iter().map(sentence).collect();
        let views = actions.into_iter().zip(sentences);
        views.map(|((view, _), says)| ActionView { says, ..view }).collect()
    }
}

/// The squares that an action begins and ends at.
type Ends<'a> = (Option<&'a str>, Option<&'a str>);

fn ends(action: &ActionView) -> Ends<'_> {
    (action.from.as_deref(), action.to.as_deref())
}

/// The names in the lines `.meta KEY "NAME"`, each with the relation that it means.
fn named_relations<'p>(
    program: &'p Program,
    key: &'static str,
) -> impl Iterator<Item = (&'p str, RelId)> {
    let lines = program.meta.iter().filter(move |it| it.key == key);
    lines.filter_map(|it| Some((&*it.value, program.relation_in(it.span.source, &it.value)?)))
}

/// The names of squares in a text, in its order: a letter with the digits after it, or the longest name of a
/// point.
pub(super) fn squares_in<'t>(text: &'t str, board: &Domain) -> Vec<&'t str> {
    let Shape::Members(names) = &board.shape else { return squares_of_grid(text, board) };
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let begins = names.iter().filter(|it| !it.is_empty() && rest.starts_with(it.as_str()));
        let name = begins.map(|it| it.len()).max();
        found.extend(name.map(|it| &rest[..it]));
        rest = &rest[name.unwrap_or(letter.len_utf8())..];
    }
    found
}

fn squares_of_grid<'t>(text: &'t str, board: &Domain) -> Vec<&'t str> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes[at + 1..].iter().take_while(|it| it.is_ascii_digit()).count();
        let end = at + 1 + digits;
        match text.get(at..end).filter(|it| digits > 0 && board.member(it).is_some()) {
            Some(name) => {
                found.push(name);
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

/// The names of squares in a sentence: names of points only where they are whole words.
pub(super) fn squares_in_sentence<'t>(text: &'t str, board: &Domain) -> Vec<&'t str> {
    let Shape::Members(_) = &board.shape else { return squares_of_grid(text, board) };
    let words = text.split(|it: char| !(it.is_alphanumeric() || "_-".contains(it)));
    words.filter(|it| board.member(it).is_some()).collect()
}
