//! What this layer requires of a program: the relations that it reads by name, looked up once and checked.
//!
//! Rules are free to say anything, but boards, piece letters and results can only be read and
//! written if the rules say where a piece stands and whose turn it is. Those relations are *roles*.
//! Relations that only some games have are optional, and those that only some families' notation uses are
//! found by `notation`. Deliberately absent: any name of a kind, a preset or a game.

use std::sync::{Arc, OnceLock};

use super::finder::{
    AttrInput, Board, Counters, Fault, Field, Finder, Mark, Slot, TurnPart, TurnWords, Walls,
};
use super::meta_lines::{fen_lines, placed_fen_lines, san_lines};
use super::notation::chess::roles::Roles;
use super::notation::letters::Letters;
use super::reach::{Room, rooms};
use super::safety::{Decision, decisions, refused_late};
use crate::facts::{AttrId, BOOL, DomainId, EntityId, GAME, Session};
use crate::rules::{ActionId, Program, RelId, Type};

/// The relations that moves and notation read.
#[derive(Debug, Clone)]
pub struct Contract {
    /// Facts of pieces: `at(piece, square)`, `kind(piece, kind)`, `color(piece, side)`.
    pub at: AttrInput,
    pub kind: AttrInput,
    pub color: AttrInput,
    /// Facts of the game: the side to move and, where the rules keep them, the number of the move, how often the
    /// position has occurred, and how many turns ago it first occurred.
    pub turn: AttrInput,
    pub fullmove: Option<AttrInput>,
    pub occurrences: Option<AttrInput>,
    pub since_first: Option<AttrInput>,
    /// The fields that the game's FEN has after the usual ones, in order.
    pub fields: Vec<Field>,
    /// Signs next to a piece's letter on the board: flags of pieces.
    pub marks: Vec<Mark>,
    /// Squares that are taken out of the board.
    pub walls: Option<Walls>,
    /// A number per side, all in one field.
    pub counters: Option<Counters>,
    /// The files that declare that pieces without a square are in a player's hand.
    pub pocket_files: Vec<u16>,
    /// The order in which the pieces of a square are written, where a square may hold several.
    pub stack: Option<RelId>,
    /// Number of fields after the side to move that are always a dash.
    pub dashes: usize,
    /// The text of a FEN about a turn that is under way, after the position that it began from.
    pub turn_text: Option<Vec<TurnPart>>,
    /// The templates for whole turns, if the rules declare texts ("words") for them.
    pub turn_words: Option<TurnWords>,
    /// Whether a FEN must be exactly as it would be written.
    pub is_strict: bool,
    /// Whether SAN has no signs of check and mate.
    pub has_no_suffixes: bool,
    pub letter: RelId,
    /// The letters, cached if they come from static rows.
    pub(super) letters: OnceLock<Arc<Letters>>,
    /// The letters of kinds in moves, where they differ.
    pub san_letter: Option<RelId>,
    /// The roles that only some families have.
    pub notation: Roles,
    /// `untenable(side)`: no action of that side may lead to this position. `exposed(side)`: that side is threatened.
    pub untenable: RelId,
    pub exposed: Option<RelId>,
    pub over: RelId,
    /// The outcome if the side to move has no action, where rules alone cannot see that it has none.
    pub stuck: Option<RelId>,
    /// Whether the side to move keeps the turn after its next action, in games where that is possible.
    pub keeps_turn: Option<RelId>,
    /// Relations of the family and of presets that say that the turn under way may not stop here.
    pub unfinished: Vec<RelId>,
    pub result: RelId,
    /// Relations of the family and of presets that say that a position is not possible in the game.
    pub misplaced: Vec<RelId>,
    pub claim: RelId,
    pub wins: RelId,
    /// Facts by which players and clocks end a game, where the rules have them: `resigned(side)`, `claimed(reason)`,
    /// `flagged(side)`. The rules decide the result.
    pub resigned: Option<AttrInput>,
    pub claimed: Option<AttrInput>,
    pub flagged: Option<AttrInput>,
    /// The board, the maximum number of entities, and the domains of sides and kinds.
    pub board: Board,
    pub entities: u16,
    pub sides: DomainId,
    pub kinds: DomainId,
    /// How each action is decided, by its number.
    pub decisions: Vec<Decision>,
    /// By the number of the action, the room that guarantees that it can be taken whenever it is legal. Computed when it
    /// is first asked for.
    rooms: OnceLock<Vec<Room>>,
    /// By the number of the action, whether it may be refused in a stage after those that are played out. Computed when
    /// an action is first played out.
    refused_late: OnceLock<Vec<bool>>,
}

/// A piece on the board.
pub(super) struct Standing {
    pub(super) piece: EntityId,
    pub(super) kind: i64,
    pub(super) square: i64,
}

/// Why moves cannot be read from a program: everything that is wrong, at once.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the rules do not fit boards and notation: {}", joined(.faults))]
pub struct ContractError {
    #[doc(hidden)]
    pub faults: Vec<Fault>,
}

fn joined(faults: &[Fault]) -> String {
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
        let mut contract = finder.contract();
        if !finder.faults.is_empty() {
            return Err(ContractError { faults: finder.faults });
        }
        contract.decisions = decisions(program, contract.untenable);
        Ok(contract)
    }

    /// Whether pieces without a square are in a player's hand, which a FEN gives in brackets.
    pub fn has_pocket(&self) -> bool {
        !self.pocket_files.is_empty()
    }

    /// The type of columns for pieces.
    pub fn entity_type(&self, program: &Program) -> Option<Type> {
        program.relation(self.at.rel).columns.first().map(|it| it.ty)
    }

    /// The number of sides.
    pub fn side_count(&self, program: &Program) -> i64 {
        program.schema.domain(self.sides).size() as i64
    }

    /// By the number of the action, the room that guarantees that it can be taken whenever it is legal.
    pub(super) fn rooms(&self, program: &Program) -> &[Room] {
        self.rooms.get_or_init(|| rooms(program, self.at.attr))
    }

    /// Whether an action may be refused in a stage after those that are played out.
    pub(super) fn is_refused_late(&self, program: &Program, action: ActionId) -> bool {
        let all = self.refused_late.get_or_init(|| refused_late(program));
        all[usize::from(action.0)]
    }

    /// The attributes of the facts by which players and clocks end a game.
    pub fn ends(&self) -> impl Iterator<Item = AttrId> + use<> {
        [self.resigned, self.claimed, self.flagged].into_iter().flatten().map(|it| it.attr)
    }

    /// The facts that the game itself states after each action: where the position stands in its history.
    pub fn recurrence(&self) -> impl Iterator<Item = AttrInput> + use<> {
        [self.occurrences, self.since_first].into_iter().flatten()
    }

    /// The pieces of a side that are on the board.
    pub(super) fn pieces_of(&self, facts: &Session, side: Option<i64>) -> Vec<Standing> {
        let on_board = facts.entities_with(self.at.attr);
        let own = on_board.filter(|it| facts.get_raw(*it, self.color.attr) == side);
        let standing = |piece| {
            let kind = facts.get_raw(piece, self.kind.attr)?;
            Some(Standing { piece, kind, square: facts.get_raw(piece, self.at.attr)? })
        };
        own.filter_map(standing).collect()
    }

    /// The side to move, if the facts state one. (In rules, `mover` is the side that took the last action.)
    pub fn mover(&self, facts: &Session) -> Option<i64> {
        facts.get_raw(GAME, self.turn.attr)
    }
}

impl Finder<'_> {
    /// Looks everything up. What is missing gets a stand-in, so that all faults are found: no contract with one is used.
    fn contract(&mut self) -> Contract {
        use Slot::{Int, Kind, Outcome, Reason, Side, Square, Text};
        let program = self.program;
        let over = self.name_in_use("terminal", "over");
        let stuck = self.name_in_use("no_action_result", "stuck");
        // Rules of older saves have only `exposed`.
        let untenable = self.name_in_use("untenable", "exposed");
        // Files that share their names each have a relation of their own.
        let refuses = |it: &str| it == "misplaced" || it.starts_with("misplaced_");
        let pocket = placed_fen_lines(program).filter(|it| it.0 == "pocket");
        let pocket_files: Vec<u16> = pocket.map(|it| it.1.source).collect();
        let mut contract = Contract {
            at: self.piece_input("at", Square),
            kind: self.piece_input("kind", Kind),
            color: self.piece_input("color", Side),
            turn: self.game_input("turn", Side),
            fullmove: self.optional_game_input("fullmove", Int),
            occurrences: self.optional_game_input("occurrences", Int),
            since_first: self.optional_game_input("since_first", Int),
            fields: self.of_lines(Self::fields),
            marks: self.of_lines(Self::marks),
            walls: None,
            counters: self.of_lines(Self::counters),
            pocket_files,
            dashes: self.of_lines(Self::dashes),
            stack: self.of_lines(Self::stack),
            turn_text: self.of_lines(Self::turn_text),
            turn_words: self.of_lines(Self::turn_words),
            is_strict: fen_lines(program).any(|it| it == "strict"),
            has_no_suffixes: san_lines(program).any(|it| it == "unmarked"),
            letter: self.relation("letter", &[Kind, Text]),
            letters: OnceLock::new(),
            san_letter: self.optional_relation("san_letter", &[Kind, Text]),
            notation: Roles::find(self),
            exposed: self.optional_relation("exposed", &[Side]),
            untenable: self.relation(untenable, &[Side]),
            over: self.relation(over, &[Outcome, Reason]),
            stuck: self.optional_relation(stuck, &[Outcome, Reason]),
            keeps_turn: self.optional_relation("turn_goes_on", &[]),
            unfinished: self.all_called("unfinished"),
            result: self.relation("result", &[Outcome, Reason]),
            misplaced: program.relations_named_like(refuses).collect(),
            claim: self.relation("claim", &[Reason]),
            wins: self.relation("wins", &[Side, Outcome]),
            resigned: self.optional_game_input("resigned", Side),
            claimed: self.optional_game_input("claimed", Reason),
            flagged: self.optional_game_input("flagged", Side),
            board: self.board(),
            entities: self.entity_cap(),
            sides: self.domain(Side).unwrap_or(BOOL),
            kinds: self.domain(Kind).unwrap_or(BOOL),
            // Decided once there are no faults.
            decisions: Vec::new(),
            rooms: OnceLock::new(),
            refused_late: OnceLock::new(),
        };
        contract.walls = self.of_lines(|it| it.walls(&contract.marks));
        if contract.walls.is_some() && !contract.board.is_grid {
            self.report_shape("the wall", "on a board of squares", "on a board of points");
        }
        self.verify_side_names();
        contract
    }
}
