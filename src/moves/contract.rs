//! What this layer asks of a program: the relations it reads by name, found once and checked.
//!
//! Rules are free to say anything, but boards, piece letters and results can only be read and
//! written if the rules say where a piece stands and whose turn it is. Those relations are *roles*:
//! this layer knows `castler`, not which kind castles. Relations that only some games have are
//! optional. Deliberately absent: any name of a kind, a preset or a game.

use std::fmt;

use super::safety::{Decision, decisions, fallible};
use crate::facts::{AttrId, DomainId, GAME, Shape};
use crate::rules::{Input, Program, RelId, Role, Type};

/// A relation that reads an attribute: of each entity, or of the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fact {
    pub rel: RelId,
    pub attr: AttrId,
}

/// A further field of a game's FEN: `KEY=N`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub key: String,
    pub fact: Fact,
}

/// The squares of the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Board {
    pub domain: DomainId,
    pub files: u8,
    pub ranks: u8,
}

impl Board {
    /// The file of a square, from 0.
    pub fn file(self, square: i64) -> i64 {
        square % i64::from(self.files)
    }

    /// The rank of a square, from 0.
    pub fn rank(self, square: i64) -> i64 {
        square / i64::from(self.files)
    }

    /// The square on a file and a rank, both from 0 and on the board.
    pub fn square(self, file: i64, rank: i64) -> i64 {
        rank * i64::from(self.files) + file
    }
}

/// The relations that moves and notation read, by the names that the rules give them.
#[derive(Debug, Clone)]
pub struct Contract {
    /// Of pieces: `at(piece, square)`, `kind(piece, kind)`, `color(piece, side)`, and
    /// `partner(rook, castling piece)`, which is the right to castle.
    pub at: Fact,
    pub kind: Fact,
    pub color: Fact,
    pub partner: Fact,
    /// Of the game.
    pub turn: Fact,
    pub ep: Fact,
    pub clock: Fact,
    pub fullmove: Fact,
    pub occurrences: Option<Fact>,
    /// The fields that the game's FEN has after the usual six, in order.
    pub fields: Vec<Field>,
    /// The square of the piece that can be captured in passing, where the FEN tells it.
    pub ep_victim: Option<Fact>,
    /// About kinds and squares.
    pub letter: RelId,
    pub marches: RelId,
    pub castler: RelId,
    pub castling_rook: RelId,
    pub wing: RelId,
    pub last_rank: RelId,
    pub opponent: RelId,
    /// About the position.
    pub passed: RelId,
    pub same_passed: RelId,
    /// The action that captures in passing, in games that have one: what it captures stands beside
    /// the square that it goes to.
    pub en_passant: Option<RelId>,
    pub castling_text: RelId,
    pub in_check: RelId,
    pub exposed: RelId,
    pub untenable: RelId,
    pub over: RelId,
    /// What it means that the side to move has no action, where rules alone cannot see that.
    pub stuck: Option<RelId>,
    /// The side to move keeps the turn after its next action, in games that know such a thing.
    pub keeps_turn: Option<RelId>,
    pub result: RelId,
    pub claim: RelId,
    pub wins: RelId,
    /// The domains that these relations are about.
    pub board: Board,
    pub entities: u16,
    pub sides: DomainId,
    pub kinds: DomainId,
    pub wings: DomainId,
    /// How each action is decided, by its number.
    pub decisions: Vec<Decision>,
    /// Actions that may be legal and yet impossible to take, by their number.
    pub fallible: Vec<bool>,
}

/// One thing that the rules do not say, or say otherwise than this layer can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    Missing { relation: String },
    Shape { relation: String, expected: String, found: String },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { relation } => write!(f, "there is no relation {relation}"),
            Self::Shape { relation, expected, found } => {
                write!(f, "{relation} is {found}, not {expected}")
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
        let mut finder = Finder { program, faults: Vec::new(), slots: [None; SLOTS] };
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

    /// The side that is to move, if the game says so.
    pub fn mover(&self, facts: &crate::facts::Session) -> Option<i64> {
        facts.get_raw(GAME, self.turn.attr)
    }
}

/// What a column is about. Columns of one slot must be of one domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Entity,
    Square,
    Side,
    Kind,
    Wing,
    Outcome,
    Reason,
    Int,
    Text,
}

const SLOTS: usize = 7;

/// How a relation comes by its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Piece,
    Game,
    Rules,
}

struct Finder<'a> {
    program: &'a Program,
    faults: Vec<Fault>,
    /// The domain of each of the first [`SLOTS`] slots, once a column has shown it.
    slots: [Option<DomainId>; SLOTS],
}

impl Finder<'_> {
    /// Looks everything up before any `?`, so that all faults are found.
    fn contract(&mut self) -> Option<Contract> {
        use Slot::{Entity, Int, Kind, Outcome, Reason, Side, Square, Text, Wing};
        let at = self.piece("at", Square);
        let kind = self.piece("kind", Kind);
        let color = self.piece("color", Side);
        let partner = self.piece("partner", Entity);
        let turn = self.game("turn", Side);
        let ep = self.game("ep", Square);
        let clock = self.game("clock", Int);
        let fullmove = self.game("fullmove", Int);
        let occurrences = self.optional("occurrences", Int);
        let fields = self.fields();
        let ep_victim = self.ep_victim();
        let letter = self.rules("letter", &[Kind, Text]);
        let marches = self.rules("marches", &[Kind]);
        let castler = self.rules("castler", &[Kind]);
        let castling_rook = self.rules("castling_rook", &[Kind]);
        let wing = self.rules("wing", &[Square, Square, Wing]);
        let last_rank = self.rules("last_rank", &[Side, Square]);
        let opponent = self.rules("opponent", &[Side, Side]);
        let passed = self.rules("passed", &[Entity, Square, Square]);
        let same_passed = self.rules("same_passed", &[Square]);
        let en_passant = self.program.relation_named("en_passant");
        let en_passant = en_passant.and_then(|_| self.rules("en_passant", &[Entity, Square]));
        let castling_text = self.rules("castling_text", &[Entity, Square]);
        let in_check = self.rules("in_check", &[]);
        let exposed = self.rules("exposed", &[Side]);
        // Rules of older saves know only what stands exposed.
        let untenable = match self.program.relation_named("untenable") {
            Some(_) => self.rules("untenable", &[Side]),
            None => exposed,
        };
        let over = self.rules("over", &[Outcome, Reason]);
        let stuck = self.program.relation_named("stuck");
        let stuck = stuck.and_then(|_| self.rules("stuck", &[Outcome, Reason]));
        let keeps_turn = self.program.relation_named("turn_goes_on");
        let keeps_turn = keeps_turn.and_then(|_| self.rules("turn_goes_on", &[]));
        let result = self.rules("result", &[Outcome, Reason]);
        let claim = self.rules("claim", &[Reason]);
        let wins = self.rules("wins", &[Side, Outcome]);
        let board = self.board();
        let entities = self.entities();
        self.two_sides();
        Some(Contract {
            at: at?,
            kind: kind?,
            color: color?,
            partner: partner?,
            turn: turn?,
            ep: ep?,
            clock: clock?,
            fullmove: fullmove?,
            occurrences,
            fields,
            ep_victim,
            letter: letter?,
            marches: marches?,
            castler: castler?,
            castling_rook: castling_rook?,
            wing: wing?,
            last_rank: last_rank?,
            opponent: opponent?,
            passed: passed?,
            same_passed: same_passed?,
            en_passant,
            castling_text: castling_text?,
            in_check: in_check?,
            exposed: exposed?,
            untenable: untenable?,
            decisions: decisions(self.program, untenable?),
            fallible: fallible(self.program),
            over: over?,
            stuck,
            keeps_turn,
            result: result?,
            claim: claim?,
            wins: wins?,
            board: board?,
            entities: entities?,
            sides: self.slots[Side as usize]?,
            kinds: self.slots[Kind as usize]?,
            wings: self.slots[Wing as usize]?,
        })
    }

    fn piece(&mut self, name: &'static str, value: Slot) -> Option<Fact> {
        self.input(name, Source::Piece, &[Slot::Entity, value])
    }

    fn game(&mut self, name: &'static str, value: Slot) -> Option<Fact> {
        self.input(name, Source::Game, &[value])
    }

    fn optional(&mut self, name: &'static str, value: Slot) -> Option<Fact> {
        self.program.relation_named(name)?;
        self.game(name, value)
    }

    /// `.meta fen "KEY=RELATION"`: a number of the game, by the relation that reads it. Files that
    /// need the same field may each declare it.
    fn fields(&mut self) -> Vec<Field> {
        let program = self.program;
        let mut fields: Vec<Field> = Vec::new();
        for meta in program.meta.iter().filter(|it| it.key == "fen") {
            let Some((key, name)) = meta.value.split_once('=') else { continue };
            if fields.iter().any(|it| it.key == key) {
                continue;
            }
            if let Some(fact) = self.input(name, Source::Game, &[Slot::Int]) {
                fields.push(Field { key: key.to_owned(), fact });
            }
        }
        fields
    }

    /// `.meta fen "passed RELATION"`: the passed square may be followed by the square of the piece
    /// that passed it.
    fn ep_victim(&mut self) -> Option<Fact> {
        let program = self.program;
        let metas = program.meta.iter().filter(|it| it.key == "fen");
        let name = metas.filter_map(|it| it.value.strip_prefix("passed ")).next()?;
        self.input(name, Source::Game, &[Slot::Square])
    }

    fn input(&mut self, name: &str, source: Source, slots: &[Slot]) -> Option<Fact> {
        let rel = self.find(name, source, slots)?;
        match self.program.relation(rel).role {
            Role::Input(input) => Some(Fact { rel, attr: input.attr() }),
            _ => None,
        }
    }

    fn rules(&mut self, name: &'static str, slots: &[Slot]) -> Option<RelId> {
        self.find(name, Source::Rules, slots)
    }

    fn find(&mut self, name: &str, source: Source, slots: &[Slot]) -> Option<RelId> {
        let Some(rel) = self.program.relation_named(name) else {
            self.faults.push(Fault::Missing { relation: name.to_owned() });
            return None;
        };
        let relation = self.program.relation(rel);
        let source_fits = match (source, &relation.role) {
            (Source::Piece, Role::Input(Input::Key(_)))
            | (Source::Game, Role::Input(Input::Game(_)))
            | (Source::Rules, _) => true,
            (Source::Piece | Source::Game, _) => false,
        };
        let columns_fit = relation.columns.len() == slots.len()
            && slots
                .iter()
                .zip(&relation.columns)
                .all(|(&slot, column)| self.fits(slot, column.ty));
        if source_fits && columns_fit {
            return Some(rel);
        }
        let expected = describe(source, slots.iter().map(|it| format!("{it:?}")));
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
                let known = *self.slots[slot as usize].get_or_insert(domain);
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
        let domain = self.slots[Slot::Square as usize]?;
        match self.program.schema.domain(domain).shape {
            Shape::Grid { files, ranks } => Some(Board { domain, files, ranks }),
            _ => None,
        }
    }

    fn entities(&self) -> Option<u16> {
        match self.program.schema.domain(self.slots[Slot::Entity as usize]?).shape {
            Shape::Entities { cap } => Some(cap),
            _ => None,
        }
    }

    /// Upper and lower case tell two sides apart, not three; their initials must differ.
    fn two_sides(&mut self) {
        let Some(id) = self.slots[Slot::Side as usize] else {
            return;
        };
        let Shape::Members(names) = &self.program.schema.domain(id).shape else {
            return;
        };
        let initials: Vec<Option<char>> = names.iter().map(|it| it.chars().next()).collect();
        if names.len() != 2 || initials[0] == initials[1] {
            self.faults.push(Fault::Shape {
                relation: "turn".into(),
                expected: "about two sides with different initials".into(),
                found: format!("about {}", names.join(", ")),
            });
        }
    }
}

fn shape_fits(slot: Slot, shape: &Shape) -> bool {
    match slot {
        Slot::Entity => matches!(shape, Shape::Entities { .. }),
        Slot::Square => matches!(shape, Shape::Grid { .. }),
        _ => matches!(shape, Shape::Members(_)),
    }
}

fn source_of(role: &Role) -> Source {
    match role {
        Role::Input(Input::Key(_) | Input::Flag(_)) => Source::Piece,
        Role::Input(Input::Game(_) | Input::GameFlag(_)) => Source::Game,
        Role::Static | Role::Builtin(_) | Role::Derived => Source::Rules,
    }
}

fn describe(source: Source, columns: impl Iterator<Item = String>) -> String {
    let source = match source {
        Source::Piece => "an attribute of entities",
        Source::Game => "an attribute of the game",
        Source::Rules => "a relation",
    };
    format!("{source} ({})", columns.collect::<Vec<_>>().join(", "))
}
