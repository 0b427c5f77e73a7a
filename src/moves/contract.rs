//! What this layer asks of a program: the relations it reads by name, found once and checked.
//!
//! Rules are free to say anything, but boards, piece letters and results can only be read and
//! written if the rules say where a piece stands and whose turn it is. Those relations are *roles*.
//! Relations that only some games have are optional, and those that only the texts of some families
//! have a form for are found by `notation`. Deliberately absent: any name of a kind, a preset or a game.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::declared::{dashes, fen_lines, san_lines};
use super::notation::Roles;
use super::notation::letters::Letters;
use super::reach::{Room, rooms};
use super::safety::{Decision, decisions, refused_late};
use crate::facts::{AttrId, DomainId, GAME, Shape};
use crate::rules::{Input, Program, RelId, Role, Type};

/// A relation that reads an attribute: of each entity, or of the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fact {
    pub rel: RelId,
    pub attr: AttrId,
}

/// What the values of a further field are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    Game,
    /// Pieces on the board, by their squares.
    Pieces,
    /// The members of a domain: sides, squares, heaps.
    Members(DomainId),
}

/// A further field of a game's FEN: `KEY=VALUE`, or of pieces `KEY=VALUE,SQUARE:VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub key: String,
    pub fact: Fact,
    /// Of what type its values are: numbers, or members of a domain.
    pub ty: Type,
    pub about: About,
    /// It is left out where it is as at the start.
    pub quiet: bool,
}

/// A part of what a FEN tells of a turn that is under way: `.meta fen "turn {opened}:{made,}"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnPart {
    Text(String),
    /// The rows of a relation that has a text.
    Rows(RelId),
    /// The same with commas between them: what was done, which only grows.
    List(RelId),
    /// What is left out if none of its relations has a row; of words alone.
    Optional(Vec<TurnPart>),
}

/// What whole turns are called, `.meta san "turn [{staying}<]{made,}"`, the first first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnWords {
    pub texts: Vec<Vec<TurnPart>>,
    /// A flag of the game that keeps a turn from ending by itself.
    pub hold: AttrId,
}

/// What a sign beside a piece's letter means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    pub sign: char,
    /// It stands before the letter.
    pub before: bool,
    /// A flag of pieces.
    pub fact: Fact,
}

/// Squares that are taken out of the board while a game is on: a flag of squares, as a sign on the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walls {
    pub sign: char,
    pub fact: Fact,
}

/// A number of each side, all in one field of the FEN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counters {
    pub fact: Fact,
    /// `+1+0`, as the last of the usual fields; else `3+3`, before the counters of moves.
    pub signed: bool,
}

/// The squares of the board, or its points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Board {
    pub domain: DomainId,
    /// A board of points has them all in one rank.
    pub files: u8,
    pub ranks: u8,
    /// Its squares have files and ranks. Else they are points, which have names only.
    pub is_grid: bool,
}

impl Board {
    /// The file of a square, from 0.
    pub fn file(self, square: i64) -> i64 {
        square % i64::from(self.files).max(1)
    }

    /// The rank of a square, from 0.
    pub fn rank(self, square: i64) -> i64 {
        square / i64::from(self.files).max(1)
    }

    /// The square on a file and a rank, both from 0 and on the board.
    pub fn square(self, file: i64, rank: i64) -> i64 {
        rank * i64::from(self.files) + file
    }
}

/// The relations that moves and notation read, by the names that the rules give them.
#[derive(Debug, Clone)]
pub struct Contract {
    /// Of pieces: `at(piece, square)`, `kind(piece, kind)`, `color(piece, side)`.
    pub at: Fact,
    pub kind: Fact,
    pub color: Fact,
    /// Of the game. Counters that the rules do not keep are in no text.
    pub turn: Fact,
    pub fullmove: Option<Fact>,
    pub occurrences: Option<Fact>,
    /// The fields that the game's FEN has after the usual ones, in order.
    pub fields: Vec<Field>,
    /// Signs beside a piece's letter on the board: flags of pieces.
    pub marks: Vec<Mark>,
    /// Squares that are taken out of the board.
    pub walls: Option<Walls>,
    /// Numbers of the sides, in a field of their own.
    pub counters: Option<Counters>,
    /// Pieces that stand nowhere are in a player's hand, which the FEN tells in brackets.
    pub pocket: bool,
    /// In what order the pieces of a square are written, where a square may hold several.
    pub stack: Option<RelId>,
    /// How many fields follow the side to move that are a dash in every position.
    pub dashes: usize,
    /// What a FEN tells of a turn that is under way, after the position that it began from.
    pub turn_text: Option<Vec<TurnPart>>,
    /// What whole turns are called, if they have words.
    pub turn_words: Option<TurnWords>,
    /// A FEN is read only as it would be written.
    pub strict: bool,
    /// No signs of check or mate follow a move in SAN.
    pub unmarked: bool,
    pub letter: RelId,
    /// The letters, once they were read of rows that never change.
    pub(super) letters: OnceLock<Arc<Letters>>,
    /// What moves write for a kind, where that is another letter.
    pub san_letter: Option<RelId>,
    /// Kinds that are written without their letter.
    pub marches: Option<RelId>,
    /// What only some games have, and their texts with them.
    pub notation: Roles,
    /// About the position: no side may leave it so; a side is threatened.
    pub untenable: RelId,
    pub exposed: Option<RelId>,
    pub over: RelId,
    /// What it means that the side to move has no action, where rules alone cannot see that.
    pub stuck: Option<RelId>,
    /// The side to move keeps the turn after its next action, in games that know such a thing.
    pub keeps_turn: Option<RelId>,
    /// The turn under way may not stop here, as the family and each preset say, in games that know such a thing.
    pub unfinished: Vec<RelId>,
    pub result: RelId,
    /// A position with such a row is none of the game's, as the family and each preset say.
    pub misplaced: Vec<RelId>,
    pub claim: RelId,
    pub wins: RelId,
    /// The domains that these relations are about.
    pub board: Board,
    pub entities: u16,
    pub sides: DomainId,
    pub kinds: DomainId,
    /// How each action is decided, by its number.
    pub decisions: Vec<Decision>,
    /// What it takes that each action can be taken for sure whenever it is legal, by its number.
    pub rooms: Vec<Room>,
    /// Actions that may be refused in a stage that is no part of playing them out, by their number.
    pub refused_late: Vec<bool>,
}

/// One thing that the rules do not say, or say otherwise than this layer can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    Missing {
        relation: String,
    },
    Shape {
        relation: String,
        expected: String,
        found: String,
    },
    /// A sign or word of the FEN is meant for two relations.
    Taken {
        what: String,
        first: String,
        second: String,
    },
    /// A turn under way would be written so that it is not told from the other fields of a FEN.
    TurnText {
        template: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { relation } => write!(f, "there is no relation {relation}"),
            Self::Shape { relation, expected, found } => {
                write!(f, "{relation} is {found}, not {expected}")
            }
            Self::Taken { what, first, second } => {
                write!(
                    f,
                    "{what} stands for {first} and for {second}: choose another for one of them"
                )
            }
            Self::TurnText { template } => {
                write!(
                    f,
                    "a turn under way that is written as {template:?} could not be told from other fields of a FEN: \
                     write a `:` outside the braces, and neither `=` nor a blank"
                )
            }
        }
    }
}

/// Why moves cannot be read from a program: everything that is wrong, at once.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the rules do not fit boards and notation: {}", list(.faults))]
pub struct ContractError {
    pub faults: Vec<Fault>,
}

fn list(faults: &[Fault]) -> String {
    let lines: Vec<String> = faults.iter().map(Fault::to_string).collect();
    lines.join("; ")
}

impl Contract {
    /// Finds the relations.
    ///
    /// # Errors
    /// Names every relation that is missing or has other columns.
    pub fn resolve(program: &Program) -> Result<Self, ContractError> {
        let mut finder = Finder { program, faults: Vec::new(), slots: Vec::new() };
        let contract = finder.contract();
        match contract {
            Some(contract) if finder.faults.is_empty() => Ok(contract),
            _ => Err(ContractError { faults: finder.faults }),
        }
    }

    /// The type of the columns that pieces stand in.
    pub fn entity_type(&self, program: &Program) -> Option<Type> {
        program.relation(self.at.rel).columns.first().map(|it| it.ty)
    }

    /// How many sides play.
    pub fn side_count(&self, program: &Program) -> i64 {
        program.schema.domain(self.sides).size() as i64
    }

    /// The side that is to move, if the game says so.
    pub fn mover(&self, facts: &crate::facts::Session) -> Option<i64> {
        facts.get_raw(GAME, self.turn.attr)
    }
}

/// What a column is about. Columns of one slot must be of one domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Entity,
    Square,
    Side,
    Kind,
    Outcome,
    Reason,
    /// What the texts of some families are about, by its name.
    Named(&'static str),
    Int,
    Text,
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            other => write!(f, "{other:?}"),
        }
    }
}

/// How a relation comes by its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Piece,
    Flag,
    Game,
    Rules,
}

/// Looks relations up, and remembers what is wrong with them.
pub(super) struct Finder<'a> {
    pub(super) program: &'a Program,
    pub(super) faults: Vec<Fault>,
    /// The domain of each slot that a column has shown.
    slots: Vec<(Slot, DomainId)>,
}

impl Finder<'_> {
    /// Looks everything up before any `?`, so that all faults are found.
    fn contract(&mut self) -> Option<Contract> {
        use Slot::{Int, Kind, Outcome, Reason, Side, Square, Text};
        let at = self.piece("at", Square);
        let kind = self.piece("kind", Kind);
        let color = self.piece("color", Side);
        let turn = self.game("turn", Side);
        let fullmove = self.optional("fullmove", Int);
        let occurrences = self.optional("occurrences", Int);
        let fields = self.fields();
        let marks = self.marks();
        let walls = self.walls();
        let counters = self.counters();
        let stack = self.stack();
        let turn_text = self.turn_text();
        let turn_words = self.turn_words();
        let letter = self.rules("letter", &[Kind, Text]);
        let san_letter = self.if_there("san_letter", &[Kind, Text]);
        let marches = self.if_there("marches", &[Kind]);
        let notation = Roles::find(self);
        let exposed = self.if_there("exposed", &[Side]);
        // Rules of older saves know only what stands exposed.
        let untenable = match (self.program.relation_named("untenable"), exposed) {
            (None, Some(_)) => exposed,
            _ => self.rules("untenable", &[Side]),
        };
        let over = self.rules("over", &[Outcome, Reason]);
        let stuck = self.if_there("stuck", &[Outcome, Reason]);
        let keeps_turn = self.if_there("turn_goes_on", &[]);
        let unfinished = self.all_called("unfinished");
        let result = self.rules("result", &[Outcome, Reason]);
        let misplaced = self.program.relations_called("misplaced").collect();
        let claim = self.rules("claim", &[Reason]);
        let wins = self.rules("wins", &[Side, Outcome]);
        let board = self.board();
        if walls.is_some() && board.is_some_and(|it| !it.is_grid) {
            self.faults.push(Fault::Shape {
                relation: "the wall".into(),
                expected: "on a board of squares".into(),
                found: "on a board of points".into(),
            });
        }
        let entities = self.entities();
        self.sides_are_told_apart();
        Some(Contract {
            at: at?,
            kind: kind?,
            color: color?,
            turn: turn?,
            fullmove,
            occurrences,
            fields,
            marks,
            walls,
            counters,
            pocket: fen_lines(self.program).any(|it| it == "pocket"),
            stack,
            dashes: fen_lines(self.program).find_map(dashes).unwrap_or(0),
            turn_text,
            turn_words,
            strict: fen_lines(self.program).any(|it| it == "strict"),
            unmarked: san_lines(self.program).any(|it| it == "unmarked"),
            letter: letter?,
            letters: OnceLock::new(),
            san_letter,
            marches,
            notation,
            exposed,
            untenable: untenable?,
            decisions: decisions(self.program, untenable?),
            rooms: rooms(self.program, at?.attr),
            refused_late: refused_late(self.program),
            over: over?,
            stuck,
            keeps_turn,
            unfinished,
            result: result?,
            misplaced,
            claim: claim?,
            wins: wins?,
            board: board?,
            entities: entities?,
            sides: self.domain(Side)?,
            kinds: self.domain(Kind)?,
        })
    }

    /// The domain that columns of a slot are of, if there was one.
    pub(super) fn domain(&self, slot: Slot) -> Option<DomainId> {
        self.slots.iter().find(|it| it.0 == slot).map(|it| it.1)
    }

    pub(super) fn piece(&mut self, name: &'static str, value: Slot) -> Option<Fact> {
        self.input(name, Source::Piece, &[Slot::Entity, value])
    }

    pub(super) fn game(&mut self, name: &'static str, value: Slot) -> Option<Fact> {
        self.input(name, Source::Game, &[value])
    }

    pub(super) fn optional(&mut self, name: &'static str, value: Slot) -> Option<Fact> {
        self.program.relation_named(name)?;
        self.game(name, value)
    }

    pub(super) fn input(&mut self, name: &str, source: Source, slots: &[Slot]) -> Option<Fact> {
        let rel = self.find(name, source, slots)?;
        match self.program.relation(rel).role {
            Role::Input(input) => Some(Fact { rel, attr: input.attr() }),
            _ => None,
        }
    }

    pub(super) fn rules(&mut self, name: &'static str, slots: &[Slot]) -> Option<RelId> {
        self.find(name, Source::Rules, slots)
    }

    /// A relation that not all games have.
    pub(super) fn if_there(&mut self, name: &'static str, slots: &[Slot]) -> Option<RelId> {
        self.program.relation_named(name)?;
        self.rules(name, slots)
    }

    /// The relations without columns that the family and presets declare under one name.
    fn all_called(&mut self, name: &str) -> Vec<RelId> {
        let program = self.program;
        let names = program.relations_called(name).map(|it| program.relation(it).name.as_str());
        names.filter_map(|it| self.find(it, Source::Rules, &[])).collect()
    }

    pub(super) fn find(&mut self, name: &str, source: Source, slots: &[Slot]) -> Option<RelId> {
        let Some(rel) = self.program.relation_named(name) else {
            self.faults.push(Fault::Missing { relation: name.to_owned() });
            return None;
        };
        let relation = self.program.relation(rel);
        let source_fits = match (source, &relation.role) {
            (Source::Piece, Role::Input(Input::Key(_)))
            | (Source::Flag, Role::Input(Input::Flag(_)))
            | (Source::Game, Role::Input(Input::Game(_) | Input::GameFlag(_)))
            | (Source::Rules, _) => true,
            (Source::Piece | Source::Flag | Source::Game, _) => false,
        };
        let columns_fit = relation.columns.len() == slots.len()
            && slots
                .iter()
                .zip(&relation.columns)
                .all(|(&slot, column)| self.fits(slot, column.ty));
        if source_fits && columns_fit {
            return Some(rel);
        }
        let expected = describe(source, slots.iter().map(Slot::to_string));
        let found = describe(
            source_of(&relation.role),
            relation.columns.iter().map(|it| self.type_name(it.ty)),
        );
        self.faults.push(Fault::Shape { relation: name.to_owned(), expected, found });
        None
    }

    /// Whether a column of that type may stand in the slot; the first to ask settles its domain.
    pub(super) fn fits(&mut self, slot: Slot, ty: Type) -> bool {
        match (slot, ty) {
            (Slot::Int, Type::Int) | (Slot::Text, Type::Text) => true,
            (Slot::Int | Slot::Text, _) | (_, Type::Int | Type::Text) => false,
            (_, Type::Domain(domain)) => {
                let known = self.domain(slot).unwrap_or_else(|| {
                    self.slots.push((slot, domain));
                    domain
                });
                known == domain && shape_fits(slot, &self.program.schema.domain(domain).shape)
            }
        }
    }

    pub(super) fn type_name(&self, ty: Type) -> String {
        match ty {
            Type::Domain(id) => self.program.schema.domain(id).name.clone(),
            Type::Int => "Int".into(),
            Type::Text => "Text".into(),
        }
    }

    fn board(&self) -> Option<Board> {
        let domain = self.domain(Slot::Square)?;
        match &self.program.schema.domain(domain).shape {
            Shape::Grid { files, ranks } => {
                Some(Board { domain, files: *files, ranks: *ranks, is_grid: true })
            }
            Shape::Members(names) => {
                let files = u8::try_from(names.len()).ok()?;
                Some(Board { domain, files, ranks: 1, is_grid: false })
            }
            Shape::Entities { .. } => None,
        }
    }

    fn entities(&self) -> Option<u16> {
        match self.program.schema.domain(self.domain(Slot::Entity)?).shape {
            Shape::Entities { cap } => Some(cap),
            _ => None,
        }
    }

    /// As much of a side's name as no other's begins with tells sides apart, so none begins another.
    fn sides_are_told_apart(&mut self) {
        let Some(id) = self.domain(Slot::Side) else {
            return;
        };
        let Shape::Members(names) = &self.program.schema.domain(id).shape else {
            return;
        };
        let begins =
            |it: &String| names.iter().filter(|other| other.starts_with(it.as_str())).count() > 1;
        if names.len() < 2 || names.iter().any(begins) {
            self.faults.push(Fault::Shape {
                relation: "turn".into(),
                expected: "about two sides or more, none of whose names begins another's".into(),
                found: format!("about {}", names.join(", ")),
            });
        }
    }
}

fn shape_fits(slot: Slot, shape: &Shape) -> bool {
    match slot {
        Slot::Entity => matches!(shape, Shape::Entities { .. }),
        Slot::Square => matches!(shape, Shape::Grid { .. } | Shape::Members(_)),
        _ => matches!(shape, Shape::Members(_)),
    }
}

pub(super) fn source_of(role: &Role) -> Source {
    match role {
        Role::Input(Input::Key(_)) => Source::Piece,
        Role::Input(Input::Flag(_) | Input::List(..)) => Source::Flag,
        Role::Input(Input::Game(_) | Input::GameFlag(_)) => Source::Game,
        Role::Static | Role::Builtin(_) | Role::Derived | Role::Given(_) => Source::Rules,
    }
}

pub(super) fn describe(source: Source, columns: impl Iterator<Item = String>) -> String {
    let source = match source {
        Source::Piece => "an attribute of entities",
        Source::Flag => "a flag of entities",
        Source::Game => "an attribute of the game",
        Source::Rules => "a relation",
    };
    format!("{source} ({})", columns.collect::<Vec<_>>().join(", "))
}
