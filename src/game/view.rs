//! The position as plain data for whoever draws it: what stands where, what may be done, and what
//! the rules mark on the board. Names only; nothing here can be used to change the game.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::derive::{Allowance, World};
use crate::facts::{AttrType, Domain, EntityId, Fact, GAME, Shape, Value, owner};
use crate::moves::refusal;
use crate::rules::{Program, RelId, Type};

use super::play::Game;

/// A position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct View {
    pub files: u8,
    pub ranks: u8,
    /// Where the points are drawn, on a board that has no files and ranks: to the right and up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<PointView>,
    pub fen: String,
    /// The side to move, by number.
    pub turn: usize,
    pub pieces: Vec<PieceView>,
    /// Every kind of piece that the game knows.
    pub kinds: Vec<KindView>,
    /// Squares that the rules mark (`.meta mark "relation"`): terrain, zones.
    pub marks: Vec<Mark>,
    /// Royal pieces that stand attacked, by square.
    pub checks: Vec<String>,
    pub legal: Vec<ActionView>,
    /// The reasons for which a draw can be claimed.
    pub claims: Vec<String>,
    /// Facts of the game itself, in words.
    pub facts: BTreeMap<String, String>,
    /// Facts of sides, squares and whatever else has some, by attribute, then by what they are about.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub facts_of: BTreeMap<String, BTreeMap<String, String>>,
}

/// A point of a board without files and ranks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PointView {
    pub name: String,
    pub x: i64,
    pub y: i64,
}

/// Something that stands on the board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PieceView {
    pub id: u32,
    pub square: String,
    pub kind: String,
    /// As FEN writes the kind, lower case.
    pub letter: String,
    /// By number; none for what belongs to nobody.
    pub side: Option<usize>,
    /// What else is true of it, in words.
    pub facts: BTreeMap<String, String>,
}

/// A kind of piece, as whoever draws it has to know it. A file with a kind of its own says more by
/// `.meta piece "camel: Camel"` and `.meta image "camel white: camel-w.svg"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KindView {
    pub kind: String,
    /// As FEN writes it, lower case.
    pub letter: String,
    /// For people.
    pub name: String,
    /// Where there are pictures of it, by side.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<String, String>,
}

/// Squares of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mark {
    pub name: String,
    pub squares: Vec<String>,
}

/// Something that the side to move may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ActionView {
    pub uci: String,
    /// The first and the last square of its text, if it has two.
    pub from: Option<String>,
    pub to: Option<String>,
    /// Why it cannot be played though it is legal: there is no room for what it makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl Game {
    /// The position as it stands.
    pub fn view(&mut self) -> View {
        let _paid = Allowance::open();
        let board = self.contract().board;
        let turn = self.side().and_then(|it| usize::try_from(it).ok()).unwrap_or_default();
        View {
            files: board.files,
            ranks: board.ranks,
            points: self.points(),
            fen: self.fen(),
            turn,
            pieces: self.pieces(),
            kinds: self.kinds(),
            marks: self.marks(),
            checks: self.checks(),
            legal: self.actions(),
            claims: self.claims(),
            facts: self.facts_of_game(),
            facts_of: self.facts_of_members(),
        }
    }

    /// The points of a board without files and ranks, where the relation `drawn_at(point, x, y)` has them; those
    /// that it leaves out stand side by side below. None of a board of squares.
    pub fn points(&mut self) -> Vec<PointView> {
        let board = self.contract().board;
        if board.is_grid {
            return Vec::new();
        }
        let program = self.program().clone();
        let is_place = |rel: &RelId| {
            let types: Vec<Type> = program.relation(*rel).columns.iter().map(|it| it.ty).collect();
            types == [Type::Domain(board.domain), Type::Int, Type::Int]
        };
        let rel = program.relation_named("drawn_at").filter(is_place);
        let rows = rel.map(|it| self.world_mut().tuples(it)).unwrap_or_default();
        let domain = program.schema.domain(board.domain);
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

    /// The names of the sides, in their order.
    pub fn sides(&self) -> Vec<String> {
        let sides = self.program().schema.domain(self.contract().sides);
        (0..sides.size() as i64).map(|it| sides.member_name(it)).collect()
    }

    /// The manifest of the kinds of piece.
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
            let name = texts("piece").find(|it| it.0 == kind).map_or(kind.as_str(), |it| it.1);
            let of_side = |(what, path): (&str, &str)| {
                let side = what.strip_prefix(kind.as_str())?.strip_prefix(' ')?;
                Some((side.to_string(), path.to_string()))
            };
            KindView {
                letter: letter(world, contract.letter, raw),
                name: name.to_string(),
                images: texts("image").filter_map(of_side).collect(),
                kind,
            }
        };
        (0..domain.size() as i64).map(view).collect()
    }

    fn pieces(&mut self) -> Vec<PieceView> {
        let contract = self.contract().clone();
        let facts = self.facts().all_facts();
        let places = self.world_mut().tuples(contract.at.rel);
        let mut pieces = Vec::with_capacity(places.len());
        for row in places {
            let (Some(&raw), Some(&square)) = (row.first(), row.get(1)) else { continue };
            let Ok(id) = u32::try_from(raw) else { continue };
            pieces.push(self.piece(id, square, &facts));
        }
        pieces
    }

    fn piece(&mut self, id: u32, square: i64, facts: &[Fact]) -> PieceView {
        let contract = self.contract().clone();
        let program = self.program().clone();
        let entity = EntityId(id);
        let raw = |attr| self.facts().get_raw(entity, attr);
        let kind = raw(contract.kind.attr);
        let side = raw(contract.color.attr).and_then(|it| usize::try_from(it).ok());
        let known = [contract.at.attr, contract.kind.attr, contract.color.attr];
        let of_piece = |it: &&Fact| it.entity == entity && program.schema.owners(it.attr).is_none();
        let others = facts.iter().filter(of_piece).filter(|it| !known.contains(&it.attr));
        let name = |it: &Fact| program.schema.attribute(it.attr).name.clone();
        PieceView {
            id,
            square: program.schema.domain(contract.board.domain).member_name(square),
            kind: kind
                .map(|it| program.value_name(Type::Domain(contract.kinds), it))
                .unwrap_or_default(),
            letter: kind
                .map(|it| letter(self.world_mut(), contract.letter, it))
                .unwrap_or_default(),
            side,
            facts: others.map(|it| (name(it), self.in_words(it))).collect(),
        }
    }

    fn facts_of_game(&self) -> BTreeMap<String, String> {
        let facts = self.facts().all_facts();
        let schema = &self.program().schema;
        let is_game = |it: &&Fact| it.entity == GAME && schema.owners(it.attr).is_none();
        let of_game = facts.iter().filter(is_game);
        let name = |it: &Fact| self.program().schema.attribute(it.attr).name.clone();
        of_game.map(|it| (name(it), self.in_words(it))).collect()
    }

    /// Facts of sides, squares and whatever else has some, by attribute, then by what they are about.
    fn facts_of_members(&self) -> BTreeMap<String, BTreeMap<String, String>> {
        let schema = &self.program().schema;
        let mut all: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for fact in self.facts().all_facts() {
            if schema.owners(fact.attr).is_some() {
                let facts = all.entry(schema.attribute(fact.attr).name.clone()).or_default();
                facts.insert(
                    owner(schema, fact.attr, fact.entity).to_string(),
                    self.in_words(&fact),
                );
            }
        }
        all
    }

    fn in_words(&self, fact: &Fact) -> String {
        let schema = &self.program().schema;
        match (&fact.value, schema.attribute(fact.attr).ty) {
            (Value::Member(it), AttrType::Member(id)) => {
                schema.domain(id).member_name(i64::from(*it))
            }
            (Value::Member(it), _) => it.to_string(),
            (Value::Int(it), _) => it.to_string(),
            (Value::Bool(it), _) => it.to_string(),
            (Value::Text(it), _) => it.to_string(),
            (Value::Entity(it), _) => self.square_of(*it).unwrap_or_else(|| format!("#{}", it.0)),
        }
    }

    fn square_of(&self, entity: EntityId) -> Option<String> {
        let contract = self.contract();
        let raw = self.facts().get_raw(entity, contract.at.attr)?;
        Some(self.program().schema.domain(contract.board.domain).member_name(raw))
    }

    fn marks(&mut self) -> Vec<Mark> {
        let program = self.program().clone();
        let square = Type::Domain(self.contract().board.domain);
        let mut marks = Vec::new();
        for meta in program.meta.iter().filter(|it| it.key == "mark") {
            let Some(rel) = program.relation_in(meta.span.source, &meta.value) else { continue };
            let columns = &program.relation(rel).columns;
            let Some(at) = columns.iter().position(|it| it.ty == square) else { continue };
            let rows = self.world_mut().listed(rel);
            let named = |raw: &i64| program.value_name(square, *raw);
            let mut squares: Vec<String> =
                rows.iter().filter_map(|it| it.get(at).map(named)).collect();
            squares.sort_unstable();
            squares.dedup();
            marks.push(Mark { name: meta.value.clone(), squares });
        }
        marks
    }

    fn checks(&mut self) -> Vec<String> {
        let contract = self.contract().clone();
        let threatened = contract.notation.threatened(self.world_mut(), &contract);
        let mut squares: Vec<String> =
            threatened.into_iter().filter_map(|it| self.square_of(it)).collect();
        squares.sort();
        squares.dedup();
        squares
    }

    fn actions(&mut self) -> Vec<ActionView> {
        if self.result().is_some() {
            return Vec::new();
        }
        let contract = self.contract().clone();
        let texts = self.listing();
        let board = self.program().schema.domain(contract.board.domain).clone();
        texts
            .into_iter()
            .map(|(uci, mv)| {
                let refused = refusal(self.world_mut(), &contract, &mv).map(|it| it.to_string());
                let squares = squares_in(&uci, &board);
                let to = squares.last().cloned();
                let from = squares.first().filter(|_| squares.len() > 1).cloned();
                ActionView { uci, from, to, refused }
            })
            .collect()
    }
}

/// How a kind is written.
fn letter(world: &mut World, rel: RelId, kind: i64) -> String {
    let row = world.matching(rel, &[Some(kind), None]).into_iter().next();
    let program: &Program = world.program();
    let ty = program.relation(rel).columns.last().map(|it| it.ty);
    match (row.as_deref().and_then(<[i64]>::last), ty) {
        (Some(&raw), Some(ty)) => program.value_name(ty, raw),
        _ => String::new(),
    }
}

/// The names of squares in a text, in its order: a letter with the digits after it, or the longest name of a
/// point.
pub(super) fn squares_in(text: &str, board: &Domain) -> Vec<String> {
    let Shape::Members(names) = &board.shape else { return squares_of_grid(text, board) };
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let begins = names.iter().filter(|it| !it.is_empty() && rest.starts_with(it.as_str()));
        let name = begins.max_by_key(|it| it.len());
        found.extend(name.cloned());
        rest = &rest[name.map_or(letter.len_utf8(), String::len)..];
    }
    found
}

fn squares_of_grid(text: &str, board: &Domain) -> Vec<String> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes[at + 1..].iter().take_while(|it| it.is_ascii_digit()).count();
        let end = at + 1 + digits;
        match text.get(at..end).filter(|it| digits > 0 && board.member(it).is_some()) {
            Some(name) => {
                found.push(name.to_owned());
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

/// The names of squares in a sentence: of points only those that are words by themselves.
pub(super) fn squares_told(text: &str, board: &Domain) -> Vec<String> {
    let Shape::Members(_) = &board.shape else { return squares_of_grid(text, board) };
    let words = text.split(|it: char| !(it.is_alphanumeric() || "_-".contains(it)));
    words.filter(|it| board.member(it).is_some()).map(str::to_owned).collect()
}
