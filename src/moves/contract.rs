//! What this layer asks of a program: the relations it reads by name, found once and checked.
//!
//! Rules are free to say anything, but boards, piece letters and results can only be read and
//! written if the rules say where a piece stands and whose turn it is. Those relations are *roles*.
//! Relations that only some games have are optional, and those that only the texts of some families
//! have a form for are found by `notation`. Deliberately absent: any name of a kind, a preset or a game.

use std::sync::{Arc, OnceLock};

use super::finder::{
    Board, Counters, Fact, Fault, Field, Finder, Mark, Slot, TurnPart, TurnWords, Walls,
};
use super::notation::chess::roles::Roles;
use super::notation::letters::Letters;
use super::notes::{dashes, fen_lines, san_lines};
use super::reach::{Room, rooms};
use super::safety::{Decision, decisions, refused_late};
use crate::facts::{DomainId, GAME};
use crate::rules::{Program, RelId, Type};

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
        let mut finder = Finder::new(program);
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
}
