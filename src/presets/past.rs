//! Records of games that were played elsewhere: turns, and changes of presets between them.
//!
//! In a PGN a change of presets is a comment. Deliberately absent: playing the record again.

#[cfg(any(feature = "bin", feature = "server"))]
use crate::moves::notation::PgnGame;

/// An entry of the record of a game played elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Past {
    /// A turn, in UCI or SAN: its actions, with commas between them.
    Turn(String),
    /// Other presets from then on.
    Presets(Vec<String>),
}

/// Where a change of presets stands in a game, in words; `after` is the number of actions before it.
pub fn switch_place(after: usize) -> String {
    match after {
        0 => "the change of presets before move 1".into(),
        after => format!("the change of presets after move {after}"),
    }
}

/// The beginning of a comment about a change of presets: `[%presets duck]`, as programs write `[%clk 0:05:00]`. Other programs
/// join comments that follow each other, so it may stand anywhere in one.
#[cfg(any(feature = "bin", feature = "server"))]
const COMMENT: &str = "[%presets";

/// A change of presets as a comment.
#[cfg(feature = "server")]
pub(crate) fn switch_comment(presets: &[String]) -> String {
    format!("{COMMENT}{}]", presets.iter().map(|it| format!(" {it}")).collect::<String>())
}

/// The presets that comments switch to, in order.
#[cfg(any(feature = "bin", feature = "server"))]
pub(crate) fn switched(comments: &[String]) -> impl Iterator<Item = Vec<String>> {
    let read = |rest: &str| {
        let presets = rest.split_once(']')?.0;
        Some(presets.split_whitespace().map(str::to_owned).collect())
    };
    comments.iter().flat_map(|it| it.split(COMMENT).skip(1)).filter_map(read)
}

/// What a PGN says was played.
#[cfg(any(feature = "bin", feature = "server"))]
pub(crate) fn past_of(pgn: &PgnGame) -> Vec<Past> {
    let mut past: Vec<Past> = switched(&pgn.comments).map(Past::Presets).collect();
    for turn in &pgn.moves {
        past.push(Past::Turn(turn.text.clone()));
        past.extend(switched(&turn.comments).map(Past::Presets));
    }
    past
}
