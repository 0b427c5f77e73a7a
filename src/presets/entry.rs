//! Games, layouts, presets and parts of presets, as their files describe them.

#![warn(missing_docs)]

#[cfg(feature = "bin")]
use super::activation::preset_of;
use super::numbered::Numbered;

/// A game, as its file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameEntry {
    /// The name that [`Catalogue::load`](super::Catalogue::load) takes.
    pub name: String,
    /// The title, for people.
    pub title: String,
    /// What it is, in a few sentences: its `.meta description`, or else the comment that its file begins with.
    pub description: String,
    /// Other names that mean it.
    pub aliases: Vec<String>,
    /// Its names in vectors that other programs made, each after the program's: `Fairy-Stockfish minishogi`.
    pub oracles: Vec<String>,
    /// The start position as FEN; of numbered ones the default. Empty if the layout that it names does not exist.
    pub start: String,
    /// The name of the layout whose rules it has, and whose start position, unless it has its own.
    pub layout: Option<String>,
    /// The family of its rules; `None` if neither the game nor its layout names one.
    pub family: Option<String>,
    pub(super) own_family: bool,
    pub(super) own_start: bool,
    /// The presets that the game is made of, as activations.
    pub uses: Vec<String>,
    /// Facts of the game, as `(attribute, value)`.
    pub facts: Vec<(String, String)>,
    /// Its numbered start positions, if it has them.
    pub numbered: Option<Numbered>,
    /// The letters that clients write for pieces, each followed by ours: `"kn mk"`.
    pub client_letters: String,
    /// The moves of single pieces as clients need them, in Betza's notation: `Q& RB`.
    pub client_pieces: Vec<String>,
    /// The game that a client means when it asks for this one with shuffled start positions.
    pub shuffled: Option<String>,
    pub(super) source: usize,
}

/// A layout, as its file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutEntry {
    /// The name by which games name it: `.meta layout "NAME"`.
    pub name: String,
    /// The title, for people.
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
    /// Its changes, in a sentence.
    pub description: String,
    /// The family of games that it is made for; `None` if it needs only the core.
    pub family: Option<String>,
    /// Presets that must also be active, for at least one of its sides.
    pub requires: Vec<String>,
    /// The files that it includes, by the names in its `.meta include` lines.
    pub includes: Vec<String>,
    /// Presets that must not be active for any of its sides, with the reason.
    pub incompatible: Vec<(String, String)>,
    pub(super) source: usize,
}

/// A file that belongs to a preset in games of one family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartEntry {
    pub(super) preset: String,
    pub(super) family: String,
    pub(super) source: usize,
}

impl PartEntry {
    /// The name of the part's file: `stamina.chess`.
    pub(super) fn name(&self) -> String {
        format!("{}.{}", self.preset, self.family)
    }
}

impl GameEntry {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        [&self.name].into_iter().chain(&self.aliases).map(String::as_str)
    }

    /// Whether a preset is one of those that the game is made of.
    #[cfg(feature = "bin")]
    pub(crate) fn has(&self, preset: &str) -> bool {
        self.uses.iter().any(|it| preset_of(it) == preset)
    }

    /// Whether a text is one of its names: in any case, where a space or an underscore may stand for a hyphen.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let name = name.trim();
        self.names().any(|it| it.len() == name.len() && plain_letters(it).eq(plain_letters(name)))
    }
}

fn plain_letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().map(|it| match it {
        ' ' | '_' => '-',
        other => other.to_ascii_lowercase(),
    })
}
