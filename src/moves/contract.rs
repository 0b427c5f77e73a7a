//! What this layer asks of a program: the relations it reads by name, found once and checked.
//!
//! Rules are free to say anything, but boards, piece letters and results can only be read and
//! written if the rules say where a piece stands and whose turn it is. Those relations are *roles*.
//! Relations that only some games have are optional, and those that only the texts of some families
//! have a form for are found by `notation`. Deliberately absent: any name of a kind, a preset or a game.

use std::fmt;

use super::notation::Roles;
use super::reach::{Room, rooms};
use super::safety::{Decision, decisions, refused_late};
use crate::facts::{AttrId, BOOL, DomainId, GAME, Shape};
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

/// Maximum number of signs that may follow letters: one for each sign of punctuation.
const MARKS: usize = 32;

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
    faults: Vec<Fault>,
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
        let stack = self.stack();
        let turn_text = self.turn_text();
        let turn_words = self.turn_words();
        let letter = self.rules("letter", &[Kind, Text]);
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
            pocket: fen_lines(self.program).any(|it| it == "pocket"),
            stack,
            dashes: fen_lines(self.program).find_map(dashes).unwrap_or(0),
            turn_text,
            turn_words,
            strict: fen_lines(self.program).any(|it| it == "strict"),
            unmarked: san_lines(self.program).any(|it| it == "unmarked"),
            letter: letter?,
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

    /// `.meta fen "KEY=RELATION"`: an attribute of the game or of pieces, by the relation that reads it. Files
    /// that need the same field may each declare it.
    fn fields(&mut self) -> Vec<Field> {
        let program = self.program;
        let mut fields: Vec<Field> = Vec::new();
        for (line, file) in fen_notes(program) {
            let Some((key, name)) = line.split_once('=') else { continue };
            if key.contains(' ') {
                continue;
            }
            let Some(field) = self.field(key, &called(program, file, name)) else { continue };
            match fields.iter().find(|it| it.key == key) {
                None => fields.push(field),
                Some(known) if known.fact == field.fact => {}
                Some(known) => {
                    self.taken(&format!("the field {key}"), known.fact.rel, field.fact.rel)
                }
            }
        }
        fields
    }

    /// Two files mean different things by one word of the FEN.
    fn taken(&mut self, what: &str, first: RelId, second: RelId) {
        let name = |it| self.program.relation(it).name.clone();
        let (what, first, second) = (what.to_owned(), name(first), name(second));
        self.faults.push(Fault::Taken { what, first, second });
    }

    fn field(&mut self, key: &str, name: &str) -> Option<Field> {
        let program = self.program;
        let key = key.to_owned();
        let Some(rel) = program.relation_named(name) else {
            self.faults.push(Fault::Missing { relation: name.to_owned() });
            return None;
        };
        let relation = program.relation(rel);
        let truth = Type::Domain(BOOL);
        let last = relation.columns.last().map(|it| it.ty);
        let told = match relation.role {
            Role::Input(Input::Key(attr)) => last.map(|ty| (attr, ty, About::Pieces)),
            Role::Input(Input::Flag(attr)) => Some((attr, truth, About::Pieces)),
            Role::Input(Input::Game(attr)) => last.map(|ty| (attr, ty, About::Game)),
            Role::Input(Input::GameFlag(attr)) => Some((attr, truth, About::Game)),
            _ => None,
        };
        let told = told.map(|it| match program.schema.attribute(it.0).of {
            Some(domain) => (it.0, it.1, About::Members(domain)),
            None => it,
        });
        let is_value = |ty: Type| match ty {
            Type::Int => true,
            Type::Text => false,
            Type::Domain(it) => !matches!(program.schema.domain(it).shape, Shape::Entities { .. }),
        };
        let is_piece = |it: &(AttrId, Type, About)| {
            it.2 != About::Pieces
                || relation.columns.first().is_some_and(|it| self.fits(Slot::Entity, it.ty))
        };
        match told.filter(|it| is_value(it.1)).filter(is_piece) {
            Some((attr, ty, about)) => Some(Field { key, fact: Fact { rel, attr }, ty, about }),
            None => {
                let columns = relation.columns.iter().map(|it| self.type_name(it.ty));
                let found = describe(source_of(&relation.role), columns);
                let expected =
                    "an attribute of the game or of pieces, and no entity; or one of a domain's members".into();
                self.faults.push(Fault::Shape { relation: name.to_owned(), expected, found });
                None
            }
        }
    }

    /// `.meta fen "mark SIGN=RELATION"`: a flag of pieces, as a sign after the letter; `prefix SIGN=RELATION`
    /// puts it before.
    fn marks(&mut self) -> Vec<Mark> {
        let program = self.program;
        let read = |(line, file): (&str, u16)| {
            let (word, rest) = line.split_once(' ')?;
            let (sign, name) = rest.split_once('=')?;
            let before = word == "prefix";
            let name = called(program, file, name);
            (before || word == "mark").then(|| (before, sign.to_owned(), name))
        };
        let mut marks: Vec<Mark> = Vec::new();
        for (before, sign, name) in fen_notes(program).filter_map(read) {
            let is_sign = |it: char| it.is_ascii_punctuation() && !"/[]".contains(it);
            let mut signs = sign.chars();
            let (Some(sign), None) = (signs.next().filter(|it| is_sign(*it)), signs.next()) else {
                self.faults.push(Fault::Shape {
                    relation: format!("the mark {name}"),
                    expected: "one sign of punctuation, but no `/`, `[` or `]`".into(),
                    found: format!("{sign:?}"),
                });
                continue;
            };
            let Some(fact) = self.input(&name, Source::Flag, &[Slot::Entity]) else { continue };
            match marks.iter().find(|it| it.sign == sign) {
                // Presets that need the same mark may each declare it.
                Some(known) if known.fact == fact && known.before == before => {}
                Some(known) => self.taken(&format!("the mark {sign}"), known.fact.rel, fact.rel),
                None if marks.len() < MARKS => marks.push(Mark { sign, before, fact }),
                None => self.faults.push(Fault::Shape {
                    relation: format!("the mark {name}"),
                    expected: format!("one of at most {MARKS} marks"),
                    found: "one more".into(),
                }),
            }
        }
        marks
    }

    /// `.meta fen "stack RELATION"`: a square may hold several pieces, written in the order of the numbers that
    /// the relation gives to their kinds.
    fn stack(&mut self) -> Option<RelId> {
        let name = fen_lines(self.program).find_map(|it| it.strip_prefix("stack "))?;
        self.find(name, Source::Rules, &[Slot::Kind, Slot::Int])
    }

    /// `.meta fen "turn {RELATION}:{RELATION}"`: relations whose rows have a text, and what stands between them.
    fn turn_text(&mut self) -> Option<Vec<TurnPart>> {
        let program = self.program;
        let (line, file) = fen_notes(program).find(|it| it.0.starts_with("turn "))?;
        let parts = self.turn_parts(&line["turn ".len()..], file);
        let texts = parts.iter().filter_map(|it| match it {
            TurnPart::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let signs: String = texts.collect();
        if !signs.contains(':') || signs.contains(['=', ' ']) {
            let template = line["turn ".len()..].to_owned();
            self.faults.push(Fault::TurnText { template });
        }
        Some(parts)
    }

    /// `.meta san "turn [{RELATION}<]{RELATION,}"`, as often as there are words, and `.meta san "hold RELATION"`.
    fn turn_words(&mut self) -> Option<TurnWords> {
        let program = self.program;
        let mut texts = Vec::new();
        let mut hold = None;
        for it in program.meta.iter().filter(|it| it.key == "san") {
            let file = it.span.source;
            if let Some(template) = it.value.strip_prefix("turn ") {
                let mut parts = Vec::new();
                for (at, piece) in template.split(['[', ']']).enumerate() {
                    let inner = self.turn_parts(piece, file);
                    match at % 2 {
                        0 => parts.extend(inner),
                        _ => parts.push(TurnPart::Optional(inner)),
                    }
                }
                texts.push(parts);
            } else if let Some(name) = it.value.strip_prefix("hold ") {
                hold = self.input(&called(program, file, name), Source::Game, &[]);
            }
        }
        if texts.is_empty() {
            return None;
        }
        let Some(hold) = hold else {
            let relation = "that keeps a turn open (`.meta san \"hold RELATION\"`)".into();
            self.faults.push(Fault::Missing { relation });
            return None;
        };
        Some(TurnWords { texts, hold: hold.attr })
    }

    /// The parts of a text that tells of a turn.
    fn turn_parts(&mut self, template: &str, file: u16) -> Vec<TurnPart> {
        let program = self.program;
        let mut parts = Vec::new();
        for piece in template.split_inclusive(['{', '}']) {
            if let Some(name) = piece.strip_suffix('}') {
                let (name, is_list) = (name.trim_end_matches(','), name.ends_with(','));
                let name = called(program, file, name);
                let Some(rel) = program.relation_named(&name) else {
                    self.faults.push(Fault::Missing { relation: name });
                    continue;
                };
                if !program.row_texts.contains_key(&rel) {
                    self.faults.push(Fault::Shape {
                        relation: name,
                        expected: "a relation whose rows have a text, `.decl ... text \"...\"`"
                            .into(),
                        found: "without one".into(),
                    });
                }
                parts.push(if is_list { TurnPart::List(rel) } else { TurnPart::Rows(rel) });
            } else {
                let text = piece.strip_suffix('{').unwrap_or(piece);
                parts.push(TurnPart::Text(text.to_owned()));
            }
        }
        parts.retain(|it| *it != TurnPart::Text(String::new()));
        parts
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

    fn find(&mut self, name: &str, source: Source, slots: &[Slot]) -> Option<RelId> {
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
    fn fits(&mut self, slot: Slot, ty: Type) -> bool {
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

    fn type_name(&self, ty: Type) -> String {
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

    /// Initials tell sides apart, so they must differ.
    fn sides_are_told_apart(&mut self) {
        let Some(id) = self.domain(Slot::Side) else {
            return;
        };
        let Shape::Members(names) = &self.program.schema.domain(id).shape else {
            return;
        };
        let initials: Vec<Option<char>> = names.iter().map(|it| it.chars().next()).collect();
        let alike = |it: usize| initials[..it].contains(&initials[it]);
        if names.len() < 2 || (0..initials.len()).any(alike) {
            self.faults.push(Fault::Shape {
                relation: "turn".into(),
                expected: "about two sides or more with different initials".into(),
                found: format!("about {}", names.join(", ")),
            });
        }
    }
}

/// The values of the lines `.meta fen "..."`.
pub(super) fn fen_lines(program: &Program) -> impl Iterator<Item = &str> {
    fen_notes(program).map(|it| it.0)
}

/// The same with the number of the file.
pub(super) fn fen_notes(program: &Program) -> impl Iterator<Item = (&str, u16)> {
    let all = program.meta.iter().filter(|it| it.key == "fen");
    all.map(|it| (it.value.as_str(), it.span.source))
}

/// The values of the lines `.meta san "..."`.
fn san_lines(program: &Program) -> impl Iterator<Item = &str> {
    program.meta.iter().filter(|it| it.key == "san").map(|it| it.value.as_str())
}

/// What the relation is called in the program that a file calls so.
pub(super) fn called(program: &Program, file: u16, name: &str) -> String {
    let rel = program.relation_in(file, name);
    rel.map_or_else(|| name.to_owned(), |it| program.relation(it).name.clone())
}

/// `dashes N`.
fn dashes(line: &str) -> Option<usize> {
    line.strip_prefix("dashes ")?.parse().ok().filter(|it| *it <= MOST_DASHES)
}

/// Maximum number of fields that are always a dash.
const MOST_DASHES: usize = 8;

fn shape_fits(slot: Slot, shape: &Shape) -> bool {
    match slot {
        Slot::Entity => matches!(shape, Shape::Entities { .. }),
        Slot::Square => matches!(shape, Shape::Grid { .. } | Shape::Members(_)),
        _ => matches!(shape, Shape::Members(_)),
    }
}

fn source_of(role: &Role) -> Source {
    match role {
        Role::Input(Input::Key(_)) => Source::Piece,
        Role::Input(Input::Flag(_) | Input::List(..)) => Source::Flag,
        Role::Input(Input::Game(_) | Input::GameFlag(_)) => Source::Game,
        Role::Static | Role::Builtin(_) | Role::Derived | Role::Given(_) => Source::Rules,
    }
}

fn describe(source: Source, columns: impl Iterator<Item = String>) -> String {
    let source = match source {
        Source::Piece => "an attribute of entities",
        Source::Flag => "a flag of entities",
        Source::Game => "an attribute of the game",
        Source::Rules => "a relation",
    };
    format!("{source} ({})", columns.collect::<Vec<_>>().join(", "))
}
