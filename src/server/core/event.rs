//! Events of a hosted game, as its log has them. The log is the whole state: replaying it gives the game.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::clock::{Control, Resumed};
use super::refusal::Refusal;
use super::rules::{Effect, Outcome};

/// What identifies the holder of a seat: the hash of its token, in hexadecimal, or `account:ID` for the seat
/// of an account, which cannot be a hash. The token itself is never kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenHash(String);

impl TokenHash {
    pub fn of(token: &str) -> Self {
        Self(blake3::hash(token.as_bytes()).to_hex().to_string())
    }

    /// What identifies an account as the holder of its seats, whichever of its tokens is sent.
    pub fn of_account(id: &str) -> Self {
        Self(format!("{ACCOUNT}{id}"))
    }

    /// The id of the account, if the seat belongs to one.
    pub fn account(&self) -> Option<&str> {
        self.0.strip_prefix(ACCOUNT)
    }

    /// As text, for the store.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// From the stored text.
    pub fn from_text(text: String) -> Self {
        Self(text)
    }
}

/// Compares in constant time, so that the time tells nothing about a secret.
pub(in crate::server) fn constant_time_eq(one: &str, other: &str) -> bool {
    // `blake3` compares its hashes so.
    blake3::hash(one.as_bytes()) == blake3::hash(other.as_bytes())
}

const ACCOUNT: &str = "account:";

/// The parts of a game that are fixed when it is made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The game, as the catalogue names it.
    pub game: String,
    /// Activations on top of the game's own, at the start.
    pub presets: Vec<String>,
    /// The position that it starts from, if not the game's own.
    pub fen: Option<String>,
    /// The facts that it starts from, as a save.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<String>,
    /// The hash of the rule texts that it is played by.
    pub rules: String,
    pub clock: Option<Control>,
    /// Whether there are no seats: anyone with the link plays for the side to move.
    pub open: bool,
    pub chat: bool,
    /// Whether it is shown in the list of games.
    pub listed: bool,
    /// Whether its end changes the ratings of the accounts that play it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rated: bool,
    /// The id of the tournament that it is a game of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tournament: Option<String>,
    /// The names of the sides.
    pub sides: Vec<String>,
}

impl Setup {
    /// Whether ratings or a tournament depend on its result: then only actions of a turn that is not finished can
    /// be taken back, and presets cannot be changed.
    pub(super) fn counts(&self) -> bool {
        self.rated || self.tournament.is_some()
    }
}

/// A player of a side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    pub name: String,
    pub token: TokenHash,
    /// The level at which the computer plays it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computer: Option<u8>,
}

impl Seat {
    pub(super) fn admits(&self, token: &TokenHash) -> bool {
        constant_time_eq(&self.token.0, &token.0)
    }
}

/// One thing that happened. Sides are numbers; `id` is the client's id for its request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "t", content = "d", rename_all = "snake_case")]
pub enum Event {
    Created(Setup),
    Seated {
        side: usize,
        #[serde(flatten)]
        seat: Seat,
    },
    Played {
        /// The number of actions before it.
        ply: usize,
        uci: String,
        san: String,
        side: usize,
        turn_goes_on: bool,
        /// The whole turn as one word, if it ends with this action and the rules have a word for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<String>,
        /// Notes of the rules about it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
        /// Its effects that clients show.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        effects: Vec<Effect>,
        /// The time left for each side after it, in milliseconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        clocks: Option<Vec<u64>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    DrawOffered {
        by: usize,
        id: Option<String>,
    },
    TakebackAsked {
        by: usize,
        /// The number of actions that would be left.
        to: usize,
        id: Option<String>,
    },
    PresetsAsked {
        by: usize,
        presets: Vec<String>,
        id: Option<String>,
    },
    /// A side agrees to an offer that other sides have yet to answer.
    Agreed {
        by: usize,
        offer: OfferKind,
        id: Option<String>,
    },
    /// An offer is declined, or withdrawn by its maker.
    Declined {
        by: usize,
        offer: OfferKind,
        id: Option<String>,
    },
    TakenBack {
        by: usize,
        to: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        clocks: Option<Vec<u64>>,
        id: Option<String>,
    },
    PresetsChanged {
        by: usize,
        presets: Vec<String>,
        id: Option<String>,
    },
    Ended {
        #[serde(flatten)]
        outcome: Outcome,
        #[serde(skip_serializing_if = "Option::is_none")]
        clocks: Option<Vec<u64>>,
        by: Option<usize>,
        id: Option<String>,
    },
    RematchOffered {
        by: usize,
        id: Option<String>,
    },
    /// All sides want another game; `game` is the id of the new game.
    Rematched {
        by: usize,
        game: String,
        id: Option<String>,
    },
    Said {
        by: usize,
        text: String,
        id: Option<String>,
    },
    /// A side switches the chat off: there are no messages from here on.
    Hushed {
        by: usize,
        id: Option<String>,
    },
}

impl Event {
    /// The side whose request led to the event, and the client's id for that request.
    pub(super) fn request(&self) -> Option<(usize, &str)> {
        let (by, id) = match self {
            Self::Created(_) | Self::Seated { .. } => return None,
            Self::Ended { by, id, .. } => ((*by)?, id),
            Self::Played { side: by, id, .. }
            | Self::DrawOffered { by, id }
            | Self::TakebackAsked { by, id, .. }
            | Self::PresetsAsked { by, id, .. }
            | Self::Agreed { by, id, .. }
            | Self::Declined { by, id, .. }
            | Self::TakenBack { by, id, .. }
            | Self::PresetsChanged { by, id, .. }
            | Self::RematchOffered { by, id }
            | Self::Rematched { by, id, .. }
            | Self::Said { by, id, .. }
            | Self::Hushed { by, id } => (*by, id),
        };
        Some((by, id.as_deref()?))
    }
}

/// The kinds of offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OfferKind {
    Draw,
    Takeback,
    Presets,
    Rematch,
}

/// Maximum number of bytes of a stored entry, without the facts that a game starts from: these are stored once, and
/// may be as long as a request's body.
const BYTES: usize = 4096;
/// Maximum number of bytes of notes in an event, and the same for effects. The rest is left out, so that no move is
/// refused because its rules say much about it.
const LIST_BYTES: usize = 1024;

/// Truncates a list to the part that an event has room for.
pub(super) fn cut_to_size<T: Serialize>(mut all: Vec<T>) -> Vec<T> {
    let mut bytes = 0;
    let mut fits = |it: &T| {
        bytes += serde_json::to_string(it).map_or(LIST_BYTES, |it| it.len() + 1);
        bytes <= LIST_BYTES
    };
    let count = all.iter().take_while(|it| fits(it)).count();
    all.truncate(count);
    all
}

/// An event with its number, counted from 1 without gaps, and its time in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    pub v: u64,
    pub at: u64,
    /// The running clock before the event, if it was resumed after the event before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<Resumed>,
    #[serde(flatten)]
    pub event: Event,
}

impl LogEntry {
    /// Checks the length of the entry.
    ///
    /// # Errors
    /// It is longer than an entry may be.
    pub(super) fn check_length(&self) -> Result<(), Refusal> {
        let bytes = match &self.event {
            Event::Created(setup) if setup.facts.is_some() => {
                let rest = Event::Created(Setup { facts: None, ..setup.clone() });
                bytes(&Self { event: rest, ..self.clone() })
            }
            _ => bytes(self),
        };
        if bytes <= BYTES {
            return Ok(());
        }
        let what = "the entry of this in the game's log";
        Err(Refusal::TooLong { what, limit: BYTES, unit: "bytes" })
    }

    /// The entry as any client may see it: `{v, at, t, d}` without tokens or the ids of requests.
    pub fn public(&self) -> Value {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let Value::Object(entry) = &mut value {
            entry.remove("resumed");
        }
        if let Some(Value::Object(data)) = value.get_mut("d") {
            data.retain(|name, value| !value.is_null() && name != "token" && name != "id");
        }
        value
    }
}

fn bytes(entry: &LogEntry) -> usize {
    serde_json::to_string(entry).map_or(usize::MAX, |it| it.len())
}

/// The seats that were taken, in their order.
pub(in crate::server) fn seats_of(log: &[LogEntry]) -> impl Iterator<Item = (usize, &Seat)> {
    log.iter().filter_map(|it| match &it.event {
        Event::Seated { side, seat } => Some((*side, seat)),
        _ => None,
    })
}

pub(in crate::server) fn outcome_of(log: &[LogEntry]) -> Option<&Outcome> {
    log.iter().find_map(|it| match &it.event {
        Event::Ended { outcome, .. } => Some(outcome),
        _ => None,
    })
}

/// The setup of the game that a log is of; `None` if the log does not begin with it.
pub(in crate::server) fn setup_of(log: &[LogEntry]) -> Option<&Setup> {
    match log.first().map(|it| &it.event) {
        Some(Event::Created(setup)) => Some(setup),
        _ => None,
    }
}
