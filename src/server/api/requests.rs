//! The bodies and queries of requests.

use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::server::core::{Control, OfferKind};
use crate::server::store::GameState;

/// A new game.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewGame {
    /// The name of a game in the catalogue (chess if absent); of numbered ones `chess960:position=518`.
    pub(super) game: Option<String>,
    /// Presets on top of the game's own, as `NAME[:SCOPE][:OPTION=VALUE,...]`.
    #[serde(default)]
    pub(super) presets: Vec<String>,
    /// A position to start from.
    pub(super) fen: Option<String>,
    /// Facts to start from, as exported.
    pub(super) facts: Option<serde_json::Value>,
    /// A game in PGN to go on with: its game, presets and position are used unless others are given here.
    pub(super) pgn: Option<String>,
    /// The id of uploaded rules.
    pub(super) rules: Option<String>,
    pub(super) clock: Option<Control>,
    /// `white`, `black`, `random`, or `both` to play both sides. Without a seat the game is an open
    /// board: anyone with its link plays for the side to move, and no token is needed.
    pub(super) seat: Option<String>,
    /// The computer plays the other seats, at a level from 1 to 8.
    pub(super) computer: Option<u8>,
    /// The name of the player.
    pub(super) name: Option<String>,
    /// Whether players may write to each other.
    #[serde(default)]
    pub(super) chat: bool,
    /// Whether the list of games shows it.
    #[serde(default)]
    pub(super) listed: bool,
    /// Whether its end changes the ratings of both players: two accounts, which both agree to that.
    #[serde(default)]
    pub(super) rated: bool,
}

/// A request to take a seat.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Joining {
    /// The name of a side; any free one if absent.
    pub(super) seat: Option<String>,
    /// The player's name; an account has its own.
    pub(super) name: Option<String>,
    /// Whether you agree that the game is rated, if it is.
    #[serde(default)]
    pub(super) rated: bool,
}

/// A move.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Moving {
    /// The action in UCI; SAN is accepted, too.
    #[serde(alias = "move")]
    pub(super) uci: String,
    /// Number of actions that the client has seen; the request is refused if it is not the current number.
    pub(super) expected_ply: Option<usize>,
    /// The client's id for this request: a repeated request is carried out once and answered alike.
    #[serde(alias = "id")]
    pub(super) client_move_id: Option<String>,
}

/// The body of an act other than a move.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Acting {
    /// The client's id for this request: a repeated request is carried out once and answered alike.
    pub(super) id: Option<String>,
    /// `decline`: which offer.
    pub(super) offer: Option<OfferKind>,
    /// `chat`: the message.
    pub(super) text: Option<String>,
    /// `presets`: the presets that are wanted from here on.
    pub(super) presets: Option<Vec<String>>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Listing {
    /// Only games in this state.
    pub(super) state: Option<GameState>,
    /// The maximum number of games in the answer: 50 if absent, 1 to 200.
    pub(super) limit: Option<usize>,
    /// Only games that come after this one in the list: `UPDATED.ID` of the last one of the page before. Games that change
    /// while pages are read move to the front, and are not listed twice. The id alone is taken, too: then the game may have
    /// moved.
    pub(super) before: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct At {
    /// The position after this many actions; the current one if absent.
    pub(super) ply: Option<usize>,
    /// Number of the last actions in `moves` and `history`: 500 if absent, 1000 at most.
    /// `lines_from` is the number of actions before them.
    pub(super) lines: Option<usize>,
    /// An event that the answer must not be older than: the `v` of an answer or of a socket's message.
    pub(super) v: Option<u64>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Ply {
    /// The position after this many actions; the current one if absent.
    pub(super) ply: Option<usize>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct After {
    /// Only events after this one.
    #[serde(default)]
    pub(super) after: u64,
    /// The maximum number of events in the answer: 500 if absent, 1 to 1000. Where there are so
    /// many, there may be more: ask again with the last one's `v` as `after`.
    pub(super) limit: Option<usize>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FromLine {
    /// The number of the first action wanted, counted from 0.
    #[serde(default)]
    pub(super) from: usize,
    /// The maximum number of actions in the answer: 500 if absent, 1 to 1000.
    pub(super) limit: Option<usize>,
    /// An event that the answer must not be older than: the `v` of an answer or of a socket's message.
    pub(super) v: Option<u64>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Asking {
    /// Why this move is legal, or why it is not.
    #[serde(rename = "move")]
    #[param(rename = "move")]
    pub(super) mv: Option<String>,
    /// Why this fact holds, or why it does not: `attacks(e4, d5)`.
    pub(super) fact: Option<String>,
    /// The facts about this square.
    pub(super) square: Option<String>,
    /// The position after this many actions; the current one if absent.
    pub(super) ply: Option<usize>,
    /// An event that the answer must not be older than: the `v` of an answer or of a socket's message.
    pub(super) v: Option<u64>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Exporting {
    /// `pgn` (if absent), `fen`, `facts` or `log`.
    pub(super) format: Option<String>,
    /// An event that the answer must not be older than: the `v` of an answer or of a socket's message.
    pub(super) v: Option<u64>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct CatalogueQuery {
    /// The id of uploaded rules, to see what they add.
    pub(super) rules: Option<String>,
}

/// A game with presets, to be previewed before it is made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Combination {
    pub(super) game: String,
    #[serde(default)]
    pub(super) presets: Vec<String>,
    /// Whether `presets` are all that is active, as for the act `presets`, instead of being added to the game's own.
    #[serde(default)]
    pub(super) exactly: bool,
    pub(super) fen: Option<String>,
    /// Facts to start from, as exported.
    pub(super) facts: Option<serde_json::Value>,
    pub(super) rules: Option<String>,
    /// Whether to include diagrams of where each kind of piece moves.
    #[serde(default)]
    pub(super) diagrams: bool,
}

/// Uploaded rule text.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Upload {
    /// The rule file, as text.
    pub(super) text: String,
    /// The file's name in diagnostics.
    #[serde(default = "default_path")]
    pub(super) path: String,
    /// Modules that it includes by their file names.
    #[serde(default)]
    pub(super) included: Vec<Included>,
    /// Whether to store the rules, so that games can be played by them.
    #[serde(default)]
    pub(super) keep: bool,
}

/// A module that is uploaded with rule text.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Included {
    /// The name of the file, as the text includes it.
    pub(super) path: String,
    pub(super) text: String,
}

fn default_path() -> String {
    "upload.dl".to_owned()
}
