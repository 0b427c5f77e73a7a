//! Games, layouts, presets and parts of presets, as their files describe them.

#![warn(missing_docs)]

use super::numbered::Numbered;

/// A game, as its file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameEntry {
    /// As `load` takes it.
    pub name: String,
    /// For people.
    pub title: String,
    /// Other names that mean it.
    pub aliases: Vec<String>,
    /// What programs that made vectors call it: `Fairy-Stockfish minishogi`.
    pub oracles: Vec<String>,
    /// The start position, as FEN; of numbered ones the default. Empty if its layout is missing.
    pub start: String,
    /// The layout, with the rules that go with it; a start of the game's own goes before its.
    pub layout: Option<String>,
    /// The family that its rules stand on; none if neither the game nor its layout names one.
    pub family: Option<String>,
    pub(super) own_family: bool,
    pub(super) own_start: bool,
    /// The presets that the game is made of, as activations.
    pub uses: Vec<String>,
    /// Facts of the game, as `(attribute, value)`.
    pub facts: Vec<(String, String)>,
    /// Its start positions by number, if it has such.
    pub numbered: Option<Numbered>,
    /// The letters that clients write for pieces, each followed by ours: `"kn mk"`.
    pub client_letters: String,
    /// What clients must be told of single pieces, in Betza's notation: `Q& RB`.
    pub client_pieces: Vec<String>,
    /// The game that a client means when it asks for this one with shuffled start positions.
    pub shuffled: Option<String>,
    pub(super) source: usize,
}

/// A layout, as its file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutEntry {
    /// As options of games take it.
    pub name: String,
    /// For people.
    pub title: String,
    /// The start position, as FEN.
    pub start: String,
    /// The family of games that it is made for.
    pub family: Option<String>,
    pub(super) source: usize,
}

/// A preset, as its file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresetEntry {
    /// The name that activations use.
    pub preset: String,
    /// The name for people.
    pub name: String,
    /// What it changes, in a sentence.
    pub description: String,
    /// The family of games that it is made for; none if it needs no more than all games have.
    pub family: Option<String>,
    /// Presets that must be active, too, for the same side.
    pub requires: Vec<String>,
    /// The files that it includes, by the names that it has for them.
    pub includes: Vec<String>,
    /// Presets that must not be active for the same side, with the reason.
    pub incompatible: Vec<(String, String)>,
    pub(super) source: usize,
}

/// A file that belongs to a preset where that goes on games of one family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartEntry {
    pub(super) preset: String,
    pub(super) family: String,
    pub(super) source: usize,
}

impl PartEntry {
    /// As files of parts are called: `stamina.chess`.
    pub(super) fn name(&self) -> String {
        format!("{}.{}", self.preset, self.family)
    }
}

impl GameEntry {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        [&self.name].into_iter().chain(&self.aliases).map(String::as_str)
    }

    pub(super) fn is_called(&self, name: &str) -> bool {
        let name = name.trim().replace([' ', '_'], "-");
        self.names().any(|it| it.eq_ignore_ascii_case(&name))
    }
}
