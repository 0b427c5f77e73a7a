//! Looks up relations by the names and columns that this layer expects, and collects what is wrong with them. The
//! types of which a contract consists are here, too.
//!
//! Deliberately absent: which relations are looked up (`contract`, `declared`).

use std::fmt;

use crate::facts::{AttrId, BOOL, DomainId, NEXT_ENTITY, Shape};
use crate::rules::{Input, Program, RelId, Role, Span, Type};

/// An input, with the attribute that it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttrInput {
    pub rel: RelId,
    pub attr: AttrId,
}

/// What the values of a [`Field`] belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    Game,
    /// Pieces on the board, by their squares.
    Pieces,
    /// The members of a domain: sides, squares, heaps.
    Members(DomainId),
}

/// A field that a game adds to its FEN. About the game it is `KEY=VALUE`. About pieces or members of a domain, the most
/// frequent value is followed by those that differ: `KEY=VALUE,SQUARE:VALUE`, `KEY=VALUE,NAME:VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub key: String,
    pub input: AttrInput,
    /// The type of its values: numbers, or members of a domain.
    pub ty: Type,
    pub about: About,
    /// Whether it is left out while it has its default value; a field about pieces never is.
    pub is_quiet: bool,
    /// The files that declare it.
    pub files: Vec<u16>,
}

/// A part of a template for the text of a turn: in a FEN, of a turn under way (`.meta fen "turn {opened}:{made,}"`); in
/// SAN, of a whole turn ([`TurnWords`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnPart {
    Text(String),
    /// The rows of a relation that has a text.
    Rows(RelId),
    /// The same with commas between the rows, which the actions of a turn only add to.
    List(RelId),
    /// A part that is left out if none of its relations has a row; only in templates for whole turns.
    Optional(Vec<TurnPart>),
}

/// The templates for the text ("word") of a whole turn, `.meta san "turn [{staying}<]{made,}"`, in order of
/// preference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnWords {
    pub texts: Vec<Vec<TurnPart>>,
    /// A flag of the game that keeps a turn open while its text is made from the rows of the relations.
    pub hold: AttrId,
}

/// A sign next to a piece's letter, and the flag that it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    pub sign: char,
    /// Whether it stands before the letter, not after it.
    pub is_prefix: bool,
    /// A flag of pieces.
    pub input: AttrInput,
}

/// Squares that are taken out of the board while a game is on: a flag of squares, as a sign on the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walls {
    pub sign: char,
    pub input: AttrInput,
}

/// A number per side, all in one field of the FEN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counters {
    pub input: AttrInput,
    pub form: CountersForm,
}

/// The form of the field of counters, which determines its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountersForm {
    /// `3+3`, before the move counters.
    Plain,
    /// `+1+0`, after the usual fields.
    Signed,
}

impl CountersForm {
    /// The sign before the first number.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Signed => "+",
        }
    }
}

/// The squares of the board, or its points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Board {
    pub domain: DomainId,
    /// A board of points has them all on one rank.
    pub files: u8,
    pub ranks: u8,
    /// Whether its squares have files and ranks. Otherwise they are points, which have only names.
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

/// A declaration that is missing, or that this layer cannot read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("there is no relation {relation}")]
    Missing { relation: String },
    #[error("{relation} is {found}, not {expected}")]
    Shape { relation: String, expected: String, found: String },
    /// A sign or word of the notation is declared for two relations or forms.
    #[error("{what} stands for {first} and for {second}: choose another for one of them")]
    Taken { what: String, first: String, second: String },
    /// The text of a turn under way could not be distinguished from the other fields of a FEN.
    #[error(
        "a turn under way that is written as {template:?} could not be told from other fields of a FEN: \
         write a `:` outside the braces, and neither `=` nor a blank, in the texts of rows either"
    )]
    TurnText { template: String },
    /// What is wrong with a line of a file.
    #[error("{place}: {fault}")]
    Line { place: String, fault: Box<Fault> },
}

/// The role of a column. Columns of one slot must have the same domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Entity,
    Square,
    Side,
    Kind,
    Outcome,
    Reason,
    /// A domain that only the notation of some families has, by its name: `Wing`.
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

/// Where the rows of a relation must come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// An attribute of pieces with values (`key`).
    Piece,
    /// An attribute of pieces without values (`flag`).
    Flag,
    /// An attribute of the game, with or without values.
    Game,
    /// Facts or rules.
    Any,
}

/// In place of an input that is missing, for which there is a fault.
const STAND_IN: AttrInput = AttrInput { rel: RelId(0), attr: NEXT_ENTITY };

/// Looks relations up, and remembers what is wrong with them.
pub(super) struct Finder<'a> {
    pub(super) program: &'a Program,
    pub(super) faults: Vec<Fault>,
    /// The `.meta` line that is being read: faults are told with its place.
    pub(super) line: Option<Span>,
    /// The domain of each slot for which a column was checked.
    slots: Vec<(Slot, DomainId)>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(program: &'a Program) -> Self {
        Self { program, faults: Vec::new(), line: None, slots: Vec::new() }
    }

    /// Reads `.meta` lines: faults of what follows have no line.
    pub(super) fn of_lines<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let found = read(self);
        self.line = None;
        found
    }

    /// Notes a fault, with the place of the line that is being read.
    pub(super) fn note(&mut self, fault: Fault) {
        self.faults.push(match self.line {
            Some(line) => Fault::Line { place: self.program.place(line), fault: Box::new(fault) },
            None => fault,
        });
    }

    /// The domain of a slot, if a column was checked for it.
    pub(super) fn domain(&self, slot: Slot) -> Option<DomainId> {
        self.slots.iter().find(|it| it.0 == slot).map(|it| it.1)
    }

    pub(super) fn piece_input(&mut self, name: &str, value: Slot) -> AttrInput {
        self.input(name, Origin::Piece, &[Slot::Entity, value]).unwrap_or(STAND_IN)
    }

    pub(super) fn game_input(&mut self, name: &str, value: Slot) -> AttrInput {
        self.input(name, Origin::Game, &[value]).unwrap_or(STAND_IN)
    }

    /// An attribute of the game that not all games have.
    pub(super) fn optional_game_input(&mut self, name: &str, value: Slot) -> Option<AttrInput> {
        self.program.relation_named(name)?;
        self.input(name, Origin::Game, &[value])
    }

    pub(super) fn input(
        &mut self,
        name: &str,
        origin: Origin,
        slots: &[Slot],
    ) -> Option<AttrInput> {
        let rel = self.find(name, origin, slots)?;
        match self.program.relation(rel).role {
            Role::Input(input) => Some(AttrInput { rel, attr: input.attr() }),
            _ => None,
        }
    }

    pub(super) fn relation(&mut self, name: &str, slots: &[Slot]) -> RelId {
        self.find(name, Origin::Any, slots).unwrap_or(STAND_IN.rel)
    }

    /// A relation that not all games have.
    pub(super) fn optional_relation(&mut self, name: &str, slots: &[Slot]) -> Option<RelId> {
        self.program.relation_named(name)?;
        self.find(name, Origin::Any, slots)
    }

    /// The name that the rules have for a relation: rules in older saves may have an earlier name.
    pub(super) fn name_in_use(&self, name: &'static str, earlier: &'static str) -> &'static str {
        let names = [name, earlier];
        names.into_iter().find(|it| self.program.relation_named(it).is_some()).unwrap_or(name)
    }

    /// The relations without columns that the family and presets declare under one name.
    pub(super) fn all_called(&mut self, name: &str) -> Vec<RelId> {
        let program = self.program;
        // `relations_called` includes private relations of presets, `find` takes their full names.
        let names = program.relations_called(name).map(|it| program.relation(it).name.as_str());
        names.filter_map(|it| self.find(it, Origin::Any, &[])).collect()
    }

    pub(super) fn find(&mut self, name: &str, origin: Origin, slots: &[Slot]) -> Option<RelId> {
        let Some(rel) = self.program.relation_named(name) else {
            self.note(Fault::Missing { relation: name.to_owned() });
            return None;
        };
        let relation = self.program.relation(rel);
        let is_list = matches!(relation.role, Role::Input(Input::List(..)));
        let has_origin = origin_of(&relation.role) == origin && !is_list;
        let origin_fits = origin == Origin::Any || has_origin;
        let columns_fit = self.columns_fit(rel, slots);
        if origin_fits && columns_fit {
            return Some(rel);
        }
        let expected = describe(origin, slots.iter().map(Slot::to_string));
        self.report_shape(name, &expected, &self.in_words(rel));
        None
    }

    /// A relation in words, to report that another form is expected.
    pub(super) fn in_words(&self, rel: RelId) -> String {
        let relation = self.program.relation(rel);
        let columns = relation.columns.iter().map(|it| self.type_name(it.ty));
        describe(origin_of(&relation.role), columns)
    }

    /// Notes that a declaration has another form than is expected.
    pub(super) fn report_shape(&mut self, relation: &str, expected: &str, found: &str) {
        let [relation, expected, found] = [relation, expected, found].map(str::to_owned);
        self.note(Fault::Shape { relation, expected, found });
    }

    /// Whether a relation has these columns.
    pub(super) fn columns_fit(&mut self, rel: RelId, slots: &[Slot]) -> bool {
        let columns = &self.program.relation(rel).columns;
        columns.len() == slots.len()
            && slots.iter().zip(columns).all(|(&slot, column)| self.fits(slot, column.ty))
    }

    /// Whether a column of that type fits the slot. The first column that is asked about determines the slot's domain.
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

    pub(super) fn board(&mut self) -> Board {
        let Some(domain) = self.domain(Slot::Square) else {
            return Board { domain: BOOL, files: 0, ranks: 0, is_grid: true };
        };
        let points = match &self.program.schema.domain(domain).shape {
            &Shape::Grid { files, ranks } => return Board { domain, files, ranks, is_grid: true },
            Shape::Members(names) => names.len(),
            // The squares of no board.
            Shape::Entities { .. } => 0,
        };
        let files = u8::try_from(points).unwrap_or_else(|_| {
            let expected = format!("one of at most {} points", u8::MAX);
            self.report_shape("the board", &expected, &format!("one of {points} points"));
            u8::MAX
        });
        Board { domain, files, ranks: 1, is_grid: false }
    }

    /// The maximum number of entities.
    pub(super) fn entity_cap(&self) -> u16 {
        match self.domain(Slot::Entity).map(|it| &self.program.schema.domain(it).shape) {
            Some(&Shape::Entities { cap }) => cap,
            _ => 0,
        }
    }

    /// Checks that there are two sides or more, and that no side's name begins another's: a FEN abbreviates them.
    pub(super) fn verify_side_names(&mut self) {
        let Some(id) = self.domain(Slot::Side) else {
            return;
        };
        let Shape::Members(names) = &self.program.schema.domain(id).shape else {
            return;
        };
        let begins =
            |it: &String| names.iter().any(|other| other != it && other.starts_with(it.as_str()));
        if names.len() < 2 || names.iter().any(begins) {
            let expected = "about two sides or more, none of whose names begins another's";
            self.report_shape("turn", expected, &format!("about {}", names.join(", ")));
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

fn origin_of(role: &Role) -> Origin {
    match role {
        Role::Input(Input::Key(_)) => Origin::Piece,
        Role::Input(Input::Flag(_) | Input::List(..)) => Origin::Flag,
        Role::Input(Input::Game(_) | Input::GameFlag(_)) => Origin::Game,
        Role::Static | Role::Builtin(_) | Role::Derived | Role::Given(_) => Origin::Any,
    }
}

fn describe(origin: Origin, columns: impl Iterator<Item = String>) -> String {
    let origin = match origin {
        Origin::Piece => "an attribute of entities",
        Origin::Flag => "a flag of entities",
        Origin::Game => "an attribute of the game",
        Origin::Any => "a relation",
    };
    format!("{origin} ({})", columns.collect::<Vec<_>>().join(", "))
}
