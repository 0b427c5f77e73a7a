//! Tournaments as clients get them: as an entry of a list, and in full.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::table::{Entrant, Kind, Pairing, Phase, Table};
use crate::server::core::Control;

/// A tournament in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(in crate::server) struct Listed {
    pub(in crate::server) id: String,
    pub(in crate::server) title: String,
    /// The id of the account that made it.
    pub(in crate::server) by: String,
    /// The game's name in the catalogue.
    pub(in crate::server) game: String,
    pub(in crate::server) presets: Vec<String>,
    pub(in crate::server) clock: Control,
    /// Whether its games change ratings.
    pub(in crate::server) rated: bool,
    /// The length of an arena in minutes.
    pub(in crate::server) minutes: Option<u32>,
    /// The number of rounds of a Swiss.
    pub(in crate::server) rounds: Option<u32>,
    pub(in crate::server) state: Phase,
    /// The round that was paired last, in a Swiss.
    pub(in crate::server) round: u32,
    /// The number of players.
    pub(in crate::server) entrants: usize,
    /// When it was made. This and the times below are in milliseconds since 1970.
    pub(in crate::server) made: u64,
    /// When it begins by itself.
    pub(in crate::server) starts: Option<u64>,
    /// When it began.
    pub(in crate::server) began: Option<u64>,
    /// When it ended, or when an arena will end.
    pub(in crate::server) ends: Option<u64>,
    /// The name of the player who is first, once it is over, if anyone was paired.
    pub(in crate::server) winner: Option<String>,
}

/// A tournament.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(in crate::server) struct Tournament {
    #[serde(flatten)]
    pub(in crate::server) listed: Listed,
    /// The players, the best first.
    pub(in crate::server) standings: Vec<Standing>,
    /// The games under way.
    pub(in crate::server) playing: Vec<Playing>,
    /// The time at the server, in milliseconds since 1970.
    pub(in crate::server) now: u64,
}

/// A player of a tournament.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(in crate::server) struct Standing {
    pub(in crate::server) id: String,
    pub(in crate::server) name: String,
    /// A win counts 2 in an arena and 1 in a Swiss, a draw half of that; a round without an opponent counts
    /// as a win.
    pub(in crate::server) points: f64,
    /// The tie-break: in a Swiss the points of the opponents (Buchholz), in an arena the number of wins.
    pub(in crate::server) tie_break: f64,
    /// The number of games that are over.
    pub(in crate::server) games: u32,
    pub(in crate::server) wins: u32,
    /// The number of rounds without an opponent.
    pub(in crate::server) byes: u32,
    /// Whether the player has withdrawn, or did not show up for a game, and is not paired.
    pub(in crate::server) away: bool,
    /// The rating when the player joined.
    pub(in crate::server) rating: i32,
}

/// A game under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(in crate::server) struct Playing {
    /// The id of the game.
    pub(in crate::server) game: String,
    pub(in crate::server) round: u32,
    /// The ids of the players, by side.
    pub(in crate::server) players: Vec<String>,
}

impl Table {
    /// The tournament as an entry of a list.
    pub(in crate::server) fn listed(&self, id: &str) -> Listed {
        let terms = self.terms.clone();
        let (minutes, rounds) = match terms.kind {
            Kind::Arena(minutes) => (Some(minutes), None),
            Kind::Swiss(rounds) => (None, Some(rounds)),
        };
        let is_over = self.phase == Phase::Over && self.round + self.games > 0;
        Listed {
            id: id.to_owned(),
            title: terms.title,
            by: terms.by,
            game: terms.game,
            presets: terms.presets,
            clock: terms.clock,
            rated: terms.rated,
            minutes,
            rounds,
            state: self.phase,
            round: self.round,
            entrants: self.players.len(),
            made: self.made,
            starts: terms.starts,
            began: self.began,
            ends: self.ended.or(self.ends()),
            winner: is_over.then(|| self.order().first().map(|it| it.name.clone())).flatten(),
        }
    }

    /// The tournament in full.
    pub(in crate::server) fn view(&self, id: &str, now: u64) -> Tournament {
        let is_swiss = matches!(self.terms.kind, Kind::Swiss(_));
        let points = |it: u32| if is_swiss { f64::from(it) / 2.0 } else { f64::from(it) };
        let standing = |it: &Entrant| Standing {
            id: it.id.clone(),
            name: it.name.clone(),
            points: points(it.points),
            tie_break: if is_swiss { points(self.buchholz(it)) } else { f64::from(it.wins) },
            games: it.games,
            wins: it.wins,
            byes: it.byes,
            away: it.away,
            rating: it.seed,
        };
        let playing = |it: &Pairing| Playing {
            game: it.game.clone(),
            round: it.round,
            players: it.players.iter().map(|&it| self.players[it].id.clone()).collect(),
        };
        Tournament {
            listed: self.listed(id),
            standings: self.order().into_iter().map(standing).collect(),
            playing: self.playing.iter().map(playing).collect(),
            now,
        }
    }
}
