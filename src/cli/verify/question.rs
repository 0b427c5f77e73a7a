//! The rows of vector files: questions about positions, each with the expected answer.

use std::collections::{BTreeMap, BTreeSet};

use super::script::Script;
use crate::moves::BETWEEN;

/// The rows of one file about one game.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Suite {
    /// The game that the file names, if its format can name one.
    pub(crate) game: Option<String>,
    /// Whether another game may be used instead: one with other rules for the same pieces.
    pub(crate) of_any_game: bool,
    /// The game's name in the program that made the file: `Fairy-Stockfish minishogi`.
    pub(crate) oracle: Option<String>,
    pub(crate) rows: Vec<Row>,
    /// The rows that corrections (`--corrections`) have changed.
    pub(crate) corrected: Conflicts,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) fen: String,
    pub(crate) ask: Ask,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ask {
    Perft {
        depth: u32,
        nodes: u64,
    },
    /// Exactly these actions, in UCI, sorted.
    Moves(Vec<String>),
    /// Exactly these whole turns, in UCI, sorted.
    TurnsListed(Vec<String>),
    /// Exactly these actions, each as `UCI SAN`, sorted; without the signs of check and mate, since programs differ in
    /// the wins that they mark.
    San(Vec<String>),
    /// Exactly these whole turns, each as `UCI SAN`, sorted.
    TurnsInSan(Vec<String>),
    /// The game is over, and this side has won; `draw` if none has.
    End(String),
    /// After the actions of `path`, exactly these actions are legal; with `only`, of those from this square. Each has
    /// its outcome, if the file states it. If the action ends the turn, this is the FEN after it. If the turn goes on,
    /// it is the board and, if the turn can be ended there, the FEN after that; without `deep`, it is nothing.
    Outcomes {
        path: Vec<String>,
        only: Option<String>,
        deep: bool,
        expected: Vec<(String, Option<String>)>,
    },
    /// The positions in which a turn that begins on a square can end, ignoring the half-move clock.
    Endings {
        only: String,
        expected: Vec<String>,
    },
    /// The number of sequences of whole turns.
    Turns {
        depth: u32,
        nodes: u64,
    },
    /// The state of the game: `none`, `draw`, `not X` (the side with the letter X in the FEN has lost).
    Standing(String),
    Turn(Turn),
    /// The FEN after a move that is given as text; `None` if the text must be refused. Unless `strict`, a refusal is
    /// right in any case.
    Text {
        text: String,
        after: Option<String>,
        strict: bool,
    },
    /// After these actions of one turn, the FEN is this, and reading it restores the position.
    UnderWay {
        path: Vec<String>,
        fen: String,
    },
    /// Requests, and the answers to them.
    Script(Box<Script>),
    /// The FEN that is written after the row's FEN was read; `None` if it must be refused. Unless `strict`, a refusal
    /// is right in any case.
    Fen {
        reads: Option<String>,
        strict: bool,
    },
}

/// A turn of a game.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Its actions; a character that the file leaves open is `?`.
    pub(crate) steps: Vec<String>,
    /// Number of legal actions before it.
    pub(crate) legal: Option<usize>,
    /// The FEN after it; `None` if the turn should not be possible, and is not played.
    pub(crate) after: Option<String>,
    /// Whether the side to move is in check after it.
    pub(crate) in_check: Option<bool>,
    /// Number of legal actions after it.
    pub(crate) legal_after: Option<usize>,
    /// Some actions that are legal after it, and some that are not.
    pub(crate) with: Vec<String>,
    pub(crate) without: Vec<String>,
}

impl Row {
    /// The estimated work of the row, in nodes.
    pub(crate) fn nodes(&self) -> u64 {
        match &self.ask {
            Ask::Perft { nodes, .. } | Ask::Turns { nodes, .. } => *nodes,
            Ask::Endings { expected, .. } => 20 * expected.len() as u64,
            _ => 1,
        }
    }
}

/// A fault in the text of a vector file, with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) line: usize,
    pub(crate) reason: String,
}

impl From<serde_json::Error> for Malformed {
    fn from(why: serde_json::Error) -> Self {
        Self { line: why.line(), reason: why.to_string() }
    }
}

/// The text of an action or of a turn, with the SAN of each action, as [`Ask::San`] has it.
pub(crate) fn uci_and_san(uci: &str, san: &str) -> String {
    let bare: Vec<&str> = san.split(BETWEEN).map(|it| it.trim_end_matches(['+', '#'])).collect();
    format!("{uci} {}", bare.join(","))
}

/// The conflicts that the corrections of a row belong to, by the index of the row.
pub(super) type Conflicts = BTreeMap<usize, BTreeSet<String>>;

/// The value that is expected of a row that has flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The value that the program recorded.
    Recorded,
    /// The value that the flags give instead.
    Corrected,
}
