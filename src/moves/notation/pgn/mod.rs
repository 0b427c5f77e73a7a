//! Games as PGN (portable game notation): tags, moves as text, comments, results.
//!
//! This is text only: the caller interprets the game and its moves with the FEN and SAN readers. The parser is written
//! with `winnow`, because the maintained crate for PGN is GPL and the others support only one game. The reader
//! returns the games of a file one by one, reading no further than it must; a malformed game is an error with its place,
//! and reading goes on at the next.

mod read;
mod token;
mod window;
mod write;

use std::fmt;

pub use read::PgnReader;

/// Maximum number of bytes of one game, comments included.
const LIMIT: usize = 1 << 20;
/// Maximum depth of nested variations.
const DEEPEST: usize = 64;
/// The greatest move number that is read or written; all later moves have this number, too.
const LAST_NUMBER: u32 = 999_999_999;

/// One game of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PgnGame {
    /// The line on which it begins; 0 for a game that was not read from a file.
    pub line: usize,
    /// The tags that name the players: `White` and `Black`, or the names of the game's two sides.
    pub sides: [String; 2],
    /// In the order of the file.
    pub tags: Vec<(String, String)>,
    /// Comments before the first move.
    pub comments: Vec<String>,
    pub first: FirstMove,
    pub moves: Vec<PgnMove>,
    /// The termination marker; `None` if the game just stops.
    pub result: Option<PgnResult>,
}

impl Default for PgnGame {
    fn default() -> Self {
        Self {
            line: 0,
            sides: ["White".into(), "Black".into()],
            tags: Vec::new(),
            comments: Vec::new(),
            first: FirstMove::default(),
            moves: Vec::new(),
            result: None,
        }
    }
}

impl PgnGame {
    /// The value of a tag; names are compared without regard to case.
    pub fn tag(&self, name: &str) -> Option<&str> {
        let mut tags = self.tags.iter();
        tags.find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1.as_str())
    }

    /// The game in export format: the seven tags that every game has, lines under 80 characters.
    pub fn to_pgn(&self) -> String {
        write::write(self)
    }
}

/// The number of the first move, and whose move it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstMove {
    pub number: u32,
    pub by_second: bool,
}

impl FirstMove {
    /// The first move from a position, by the move number of its FEN; without a FEN or a number in it, from the start. A
    /// FEN has the number last, before fields with a sign and the text of a turn under way.
    pub fn from_fen(fen: Option<&str>, by_second: bool) -> Self {
        let mut fields = fen.unwrap_or_default().split_whitespace();
        let last = fields.rfind(|it| !it.contains(['=', '+', ':']));
        let number = last.and_then(|it| it.parse::<u32>().ok()).unwrap_or(1);
        Self { number: number.clamp(1, LAST_NUMBER), by_second }
    }

    /// The number and the side of the move after this one.
    fn after(self) -> Self {
        let number = self.number.saturating_add(u32::from(self.by_second)).min(LAST_NUMBER);
        Self { number, by_second: !self.by_second }
    }
}

impl Default for FirstMove {
    fn default() -> Self {
        Self { number: 1, by_second: false }
    }
}

/// One move as text, with its place in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PgnMove {
    pub text: String,
    pub line: usize,
    pub column: usize,
    /// Numeric annotation glyphs; `!` is 1, `?` 2, `!!` 3, `??` 4, `!?` 5, `?!` 6.
    pub nags: Vec<u8>,
    pub comments: Vec<String>,
    /// The variations in place of this move.
    pub variations: Vec<Vec<PgnMove>>,
}

/// The result of a game, as its termination marker gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PgnResult {
    FirstWins,
    SecondWins,
    Draw,
    Unknown,
}

impl PgnResult {
    /// Reads a result as PGN writes it, `1/2` and `½-½` among them.
    pub fn parse(text: &str) -> Option<Self> {
        token::result_alone(text.trim())
    }

    /// The result of a finished game, by whether the first side won; `None` for a draw.
    pub fn of(first_won: Option<bool>) -> Self {
        match first_won {
            Some(true) => Self::FirstWins,
            Some(false) => Self::SecondWins,
            None => Self::Draw,
        }
    }
}

impl fmt::Display for PgnResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FirstWins => "1-0",
            Self::SecondWins => "0-1",
            Self::Draw => "1/2-1/2",
            Self::Unknown => "*",
        })
    }
}

/// Where and why a game could not be read. Lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("game {game}, line {line}, column {column}: {fault}")]
pub struct PgnError {
    /// The number of the game in the file, from 1.
    pub game: usize,
    pub line: usize,
    pub column: usize,
    pub fault: PgnFault,
}

impl PgnError {
    /// The message without the number of the game.
    pub fn within_game(&self) -> String {
        let Self { line, column, fault, .. } = self;
        format!("line {line}, column {column}: {fault}")
    }
}

/// What is malformed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PgnFault {
    #[error("the comment that begins here has no end")]
    OpenComment,
    #[error("the variation that begins here has no end")]
    OpenVariation,
    #[error("variations are at most {DEEPEST} deep within each other")]
    DeepVariation,
    #[error("{found:?} closes nothing")]
    StrayClose { found: char },
    #[error("malformed tag, expected {expected}")]
    Tag { expected: &'static str },
    #[error("the tag {name} is given twice")]
    RepeatedTag { name: String },
    #[error("a NAG is $ and a number up to 255")]
    Nag,
    #[error("a move number has at most 9 digits")]
    Number,
    #[error("found {found:?}, expected a move, a comment or a result")]
    Unexpected { found: char },
    #[error(
        "a game has at most {LIMIT} bytes: a comment without its end, or a file that is no PGN"
    )]
    TooLong,
    #[error("the file cannot be read to its end: {reason}")]
    Unreadable { reason: String },
}

impl PgnFault {
    /// Whether the fault is in the file as a whole, not in one game.
    pub fn is_of_the_file(&self) -> bool {
        matches!(self, Self::Unreadable { .. })
    }
}
