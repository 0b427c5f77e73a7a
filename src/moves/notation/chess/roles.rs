//! The relations that the notation of chess reads, as far as the rules declare them.

use crate::facts::DomainId;
use crate::rules::{Program, RelId};

use super::super::super::finder::{AttrInput, Finder, Origin, Slot};
use super::super::super::meta_lines::{fen_lines, fen_lines_of, full_name};

/// The relations that the notation of chess reads, as far as the rules declare them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Roles {
    pub castling: Option<Castling>,
    pub passing: Option<Passing>,
    /// Half-moves since the last capture or pawn move.
    pub clock: Option<AttrInput>,
    /// The count of moves that a FEN states in place of the passed square and the clock while it is under way.
    pub(super) count: Option<Count>,
    /// The side to move is in check.
    pub in_check: Option<RelId>,
    /// `check(attacker, royal piece)` and `ignored_check(royal piece)`.
    pub(super) checks: [Option<RelId>; 2],
    /// Kinds whose moves SAN writes without a letter.
    pub unlettered: Option<RelId>,
    /// `goes(piece, square)`: the squares that a piece could go to if nothing forbade it.
    pub(super) goes: Option<RelId>,
}

/// The facts about a count of moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    /// Absent while nothing is counted.
    pub limit: AttrInput,
    pub counted: AttrInput,
}

/// The relations about castling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Castling {
    /// `castling_right(rook, castling piece)`.
    pub right: AttrInput,
    pub castler: RelId,
    pub castling_rook: RelId,
    pub wing: RelId,
    pub castling_text: RelId,
    /// `last_rank(side, square)`: the last rank of a side, taken to be the home rank of the other side.
    pub last_rank: RelId,
    pub wings: DomainId,
    pub style: FenStyle,
    /// The flag of pieces that have not moved, in games whose FEN has their files among the castling rights.
    pub unmoved: Option<AttrInput>,
}

/// The relations about en passant captures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passing {
    /// The en passant square, as a fact of the game.
    pub ep: AttrInput,
    /// The square of the piece that can be captured en passant, in games whose FEN states that square, too.
    pub victim: Option<AttrInput>,
    /// Whether a move may pass two squares, and a FEN state both.
    pub two: bool,
    pub passed: RelId,
    pub same_passed: RelId,
    /// The action `en_passant`: the piece that it captures does not stand on the destination.
    pub action: Option<RelId>,
}

impl Roles {
    /// Finds what the rules declare.
    pub(in crate::moves) fn find(finder: &mut Finder<'_>) -> Self {
        let program = finder.program;
        let unlettered = finder.name_in_use("pawn_like_kind", "marches");
        Self {
            castling: Castling::find(finder),
            passing: program.relation_named("ep").map(|_| Passing::find(finder)),
            clock: finder.optional_game_input("clock", Slot::Int),
            count: Count::find(finder),
            in_check: finder.optional_relation("in_check", &[]),
            checks: ["check", "ignored_check"].map(|it| program.relation_named(it)),
            unlettered: finder.optional_relation(unlettered, &[Slot::Kind]),
            // Rules may use the name for something else.
            goes: program
                .relation_named("goes")
                .filter(|it| finder.columns_fit(*it, &[Slot::Entity, Slot::Square])),
        }
    }

    /// The facts that a FEN states for these roles.
    pub fn stated_facts(&self) -> impl Iterator<Item = AttrInput> {
        let passing = self.passing.map(|it| [Some(it.ep), it.victim]).unwrap_or_default();
        let castling = self.castling.map(|it| [Some(it.right), it.unmoved]).unwrap_or_default();
        let count = self.count.map(|it| [Some(it.limit), Some(it.counted)]).unwrap_or_default();
        passing.into_iter().chain(castling).chain(count).chain([self.clock]).flatten()
    }

    /// Those of the [stated facts](Self::stated_facts) that a FEN states only if they make a difference, or if nothing
    /// stands in their place.
    pub fn conditional_facts(&self) -> impl Iterator<Item = AttrInput> {
        let passing = self.passing.into_iter().flat_map(|it| [Some(it.ep), it.victim]);
        passing.chain([self.clock.filter(|_| self.count.is_some())]).flatten()
    }
}

impl Count {
    fn find(finder: &mut Finder<'_>) -> Option<Self> {
        let limit = named_by(finder, "limit", Origin::Game, Slot::Int)?;
        let counted = named_by(finder, "counted", Origin::Game, Slot::Int)?;
        Some(Self { limit, counted })
    }
}

/// The style of castling rights in a FEN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FenStyle {
    /// `KQkq`; a file letter only where the rook is not the outermost of its wing.
    #[default]
    XFen,
    /// File letters always.
    Shredder,
}

impl FenStyle {
    /// The style that a game declares: `.meta fen "shredder"`, else X-FEN.
    pub(super) fn declared(program: &Program) -> Self {
        let shredder = fen_lines(program).any(|it| it == "shredder");
        if shredder { Self::Shredder } else { Self::XFen }
    }
}

impl Castling {
    /// The roles of castling, in games that have castling rights as facts.
    fn find(finder: &mut Finder<'_>) -> Option<Self> {
        use Slot::{Entity, Kind, Side, Square};
        let wings = Slot::Named("Wing");
        let name = finder.name_in_use("castling_right", "partner");
        finder.program.relation_named(name)?;
        Some(Self {
            right: finder.piece_input(name, Entity),
            castler: finder.relation("castler", &[Kind]),
            castling_rook: finder.relation("castling_rook", &[Kind]),
            wing: finder.relation("wing", &[Square, Square, wings]),
            castling_text: finder.relation("castling_text", &[Entity, Square]),
            last_rank: finder.relation("last_rank", &[Side, Square]),
            unmoved: named_by(finder, "unmoved", Origin::Flag, Entity),
            wings: finder.domain(wings)?,
            style: FenStyle::declared(finder.program),
        })
    }
}

impl Passing {
    /// The roles of en passant captures, in games that state the en passant square.
    fn find(finder: &mut Finder<'_>) -> Self {
        use Slot::{Entity, Square};
        let ep = finder.game_input("ep", Square);
        let second = named_by(finder, "passed", Origin::Game, Square);
        let two = second == Some(ep);
        let victim = second.filter(|_| !two);
        let passed = finder.relation("passed", &[Entity, Square, Square]);
        let same_passed = finder.relation("same_passed", &[Square]);
        let action = finder.optional_relation("en_passant", &[Entity, Square]);
        Self { ep, victim, two, passed, same_passed, action }
    }
}

/// The input that lines `.meta fen "WORD RELATION"` name, if there are any; all have to name the same one.
fn named_by(
    finder: &mut Finder<'_>,
    word: &'static str,
    origin: Origin,
    slot: Slot,
) -> Option<AttrInput> {
    finder.of_lines(|finder| {
        let mut named: Option<AttrInput> = None;
        for (name, at) in fen_lines_of(finder.program, word) {
            finder.line = Some(at);
            let name = full_name(finder.program, at, name);
            let found = finder.input(&name, origin, &[slot]);
            named = finder.agreed(&format!("the word {word}"), named, found, |it| it.rel);
        }
        named
    })
}
