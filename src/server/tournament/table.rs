//! The table of a tournament: its players, their games and points, and how time and results change it. All of
//! it is one record of the store, so changes are atomic.
//!
//! Times are passed in, and ids of games follow from the table, so that every node computes the same.
//! Deliberately absent: how games are made and how they end.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::pairs::{Contender, Paired, arena, swiss};
use crate::server::core::Control;
use crate::server::ids::{ID_LETTERS, spelled};
use crate::server::problem::Problem;
use crate::server::time::DAY;

/// Maximum number of players.
pub const PLAYERS: usize = 128;
/// Pause before a player's next game in an arena, and before the next round of a Swiss, in milliseconds.
pub const PAUSE: u64 = 5_000;
/// Time after which a tournament without a start time is over if nobody has started it, in milliseconds.
pub const OPEN: u64 = DAY;
/// Points for a win. A draw gives half of them.
const WIN: u32 = 2;

/// How long a tournament is, and how its players are paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Free players are paired again and again, for this many minutes.
    Arena(u32),
    /// This many rounds; each player has one game a round.
    Swiss(u32),
}

/// The phase of a tournament.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It has not begun.
    #[default]
    Open,
    Running,
    Over,
}

/// The game, and the length of the tournament.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    pub title: String,
    /// The id of the account that made it.
    pub by: String,
    pub game: String,
    pub presets: Vec<String>,
    /// The position that its games start from, if not the game's usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fen: Option<String>,
    /// The hash of the rules, so that all of its games are played by the same.
    pub rules: String,
    pub clock: Control,
    pub rated: bool,
    pub kind: Kind,
    /// When it begins by itself, in milliseconds since 1970.
    pub starts: Option<u64>,
}

/// A tournament.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    pub terms: Terms,
    /// The secret that ids of games are made from, besides their numbers.
    seed: String,
    pub made: u64,
    pub phase: Phase,
    pub began: Option<u64>,
    /// When it was ended early: no players are paired after that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stopped: Option<u64>,
    pub ended: Option<u64>,
    /// The number of rounds of a Swiss that were paired.
    pub round: u32,
    /// The number that the next game gets. Rounds of a player without an opponent have numbers, too.
    pub games: u32,
    /// When the last result was counted: the pause before the next round begins then.
    latest: u64,
    pub players: Vec<Entrant>,
    pub playing: Vec<Pairing>,
}

/// A player of a tournament.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entrant {
    /// The id of the account.
    pub id: String,
    pub name: String,
    /// The rating when the player joined.
    pub seed: i32,
    /// Two for a win, one for a draw.
    pub points: u32,
    pub wins: u32,
    pub games: u32,
    pub byes: u32,
    /// The number of games as the first side, less those as the second.
    balance: i32,
    /// Whether the player had the first side in the last game.
    had_first: Option<bool>,
    /// The earlier opponents; in an arena only the last one.
    met: Vec<usize>,
    /// Whether the player has withdrawn, or did not appear for a game.
    pub away: bool,
    /// When the player joined, came back, or ended a game: the pause before the next one begins then.
    free: u64,
}

/// A game under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairing {
    /// The id of the game.
    pub game: String,
    pub number: u32,
    pub round: u32,
    /// The players by side, as the table numbers them.
    pub players: [usize; 2],
    /// When its players were paired.
    pub at: u64,
}

/// How a game has ended, by sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Won(usize),
    Drawn,
    /// The player with this side did not show up, or aborted the game, and is not paired before joining again.
    Missed(usize),
    /// The game can no longer be read, so it cannot go on: it counts as drawn.
    Unreadable,
}

/// Pairs of account ids: the first blocks the second.
pub type Blocks = BTreeSet<(String, String)>;

/// A game that has been counted, or a round of a player without an opponent, which counts as a win (but see `winner`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Counted {
    /// The games of a tournament, and the rounds without an opponent, are numbered from 0, in the order in which they
    /// were paired.
    pub number: u32,
    /// The id of the game; none for a round without an opponent.
    pub game: Option<String>,
    pub round: u32,
    /// The ids of the players, by side; only one for a round without an opponent.
    pub players: Vec<String>,
    /// The side that won; none for a draw, or for a round without an opponent that is worth nothing.
    pub winner: Option<usize>,
    /// Whether it was won because the side that lost did not appear, or aborted the game.
    pub forfeit: bool,
    /// Whether the game was counted as drawn because it cannot be read any more.
    #[serde(default)]
    pub unreadable: bool,
}

/// The games that a change of the table has counted.
pub type News = Vec<Counted>;

impl Table {
    /// A tournament without players. The ids of its games can be computed from `seed`, so it must be kept
    /// secret.
    pub fn new(terms: Terms, seed: String, now: u64) -> Self {
        Self {
            terms,
            seed,
            made: now,
            phase: Phase::Open,
            began: None,
            stopped: None,
            ended: None,
            round: 0,
            games: 0,
            latest: now,
            players: Vec::new(),
            playing: Vec::new(),
        }
    }

    fn index_of(&self, id: &str) -> Option<usize> {
        self.players.iter().position(|it| it.id == id)
    }

    /// The time after which no players are paired: an arena has a length, and any tournament may be ended early.
    pub fn ends(&self) -> Option<u64> {
        match self.terms.kind {
            Kind::Arena(minutes) => {
                let end = self.began? + u64::from(minutes) * 60_000;
                Some(self.stopped.map_or(end, |it| it.min(end)))
            }
            Kind::Swiss(_) => self.stopped,
        }
    }

    /// Adds a player, or brings back one who left.
    ///
    /// # Errors
    /// It is over, it was ended early, or it is full.
    pub fn join(&mut self, id: &str, name: &str, seed: i32, now: u64) -> Result<(), Problem> {
        if self.phase == Phase::Over {
            return Err(over());
        }
        if self.stopped.is_some() {
            let message = "the tournament is being ended: no more players can join";
            return Err(Problem::conflict("tournament_over", message));
        }
        if let Some(who) = self.index_of(id) {
            let player = &mut self.players[who];
            if player.away {
                (player.away, player.free) = (false, now);
            }
            return Ok(());
        }
        if self.players.len() >= PLAYERS {
            let message = format!("the tournament is full: {PLAYERS} players at most");
            return Err(Problem::conflict("tournament_full", message));
        }
        let (id, name) = (id.to_owned(), name.to_owned());
        self.players.push(Entrant { id, name, seed, free: now, ..Entrant::default() });
        Ok(())
    }

    /// Removes a player before the start; later, the player is no longer paired. A game under way goes on.
    ///
    /// # Errors
    /// It is over, or the player is not in it.
    pub fn withdraw(&mut self, id: &str) -> Result<(), Problem> {
        if self.phase == Phase::Over {
            return Err(over());
        }
        let message = "you have not joined this tournament, so you cannot withdraw";
        let none = || Problem::conflict("not_joined", message);
        let who = self.index_of(id).ok_or_else(none)?;
        match self.phase {
            Phase::Open => drop(self.players.remove(who)),
            _ => self.players[who].away = true,
        }
        Ok(())
    }

    /// Starts the tournament at the request of its maker, before its start time if it has one.
    ///
    /// # Errors
    /// It has begun, or too few have joined.
    pub fn start(&mut self, now: u64) -> Result<(), Problem> {
        match self.phase {
            Phase::Open if self.players.len() < 2 => Err(Problem::conflict(
                "too_few_players",
                "a tournament needs at least two players to begin",
            )),
            Phase::Open => {
                self.begin(now);
                Ok(())
            }
            Phase::Running => {
                Err(Problem::conflict("tournament_began", "the tournament has already begun"))
            }
            Phase::Over => Err(over()),
        }
    }

    /// Ends the tournament early: no players are paired any more; games under way are played to their end and count,
    /// then it is over. One that has not begun is over at once.
    ///
    /// # Errors
    /// It is over.
    pub fn stop(&mut self, now: u64) -> Result<(), Problem> {
        match self.phase {
            Phase::Open => self.end(now),
            Phase::Running => {
                self.stopped.get_or_insert(now);
                if self.playing.is_empty() {
                    self.end(now);
                }
            }
            Phase::Over => return Err(over()),
        }
        Ok(())
    }

    fn begin(&mut self, now: u64) {
        if self.players.len() < 2 {
            return self.end(now);
        }
        (self.phase, self.began) = (Phase::Running, Some(now));
        // The first games begin at once.
        self.latest = now.saturating_sub(PAUSE);
        self.players.iter_mut().for_each(|it| it.free = now.saturating_sub(PAUSE));
    }

    fn end(&mut self, now: u64) {
        (self.phase, self.ended) = (Phase::Over, Some(now));
    }

    /// Counts the end of a game. Later reports of the same game change nothing.
    pub fn count(&mut self, game: &str, verdict: Verdict, now: u64) -> News {
        let Some(at) = self.playing.iter().position(|it| it.game == game) else {
            return News::new();
        };
        let Pairing { game, number, round, players, .. } = self.playing.remove(at);
        let (winner, forfeit) = match verdict {
            Verdict::Won(side) => (Some(side), false),
            Verdict::Drawn | Verdict::Unreadable => (None, false),
            Verdict::Missed(side) => (Some(1 - side.min(1)), true),
        };
        for (side, &who) in players.iter().enumerate() {
            let player = &mut self.players[who];
            player.games += 1;
            player.free = now;
            match winner {
                Some(it) if it == side => {
                    player.points += WIN;
                    player.wins += 1;
                }
                Some(_) => player.away |= forfeit,
                None => player.points += WIN / 2,
            }
        }
        self.latest = now;
        let players = players.iter().map(|&it| self.players[it].id.clone()).collect();
        let unreadable = verdict == Verdict::Unreadable;
        vec![Counted { number, game: Some(game), round, players, winner, forfeit, unreadable }]
    }

    /// The players who are not away.
    fn present(&self) -> impl Iterator<Item = &Entrant> {
        self.players.iter().filter(|it| !it.away)
    }

    /// The ids of the players who may be paired, now or when their games are over.
    pub(super) fn may_be_paired(&self) -> Vec<String> {
        if self.phase == Phase::Over || self.stopped.is_some() {
            return Vec::new();
        }
        self.present().map(|it| it.id.clone()).collect()
    }

    /// Does what is due: begins, pairs players for their next games, ends.
    pub fn advance(&mut self, now: u64, blocks: &Blocks) -> News {
        if self.phase == Phase::Open {
            match self.terms.starts {
                Some(at) if at <= now => self.begin(now),
                None if now >= self.made + OPEN => self.end(now),
                _ => {}
            }
        }
        if self.phase != Phase::Running {
            return News::new();
        }
        match self.terms.kind {
            Kind::Swiss(rounds) => self.advance_swiss(rounds, now, blocks),
            Kind::Arena(_) if self.ends().is_some_and(|it| it <= now) => {
                // Games under way are played to their end, and count.
                if self.playing.is_empty() {
                    self.end(now);
                }
                News::new()
            }
            Kind::Arena(_) => {
                let free = self.free(now, blocks);
                let others = !self.playing.is_empty() || self.present().count() > free.len();
                self.seat(arena(free, others), now);
                News::new()
            }
        }
    }

    fn advance_swiss(&mut self, rounds: u32, now: u64, blocks: &Blocks) -> News {
        if !self.playing.is_empty() {
            return News::new();
        }
        if self.round >= rounds || self.present().count() < 2 || self.stopped.is_some() {
            self.end(now);
            return News::new();
        }
        if now < self.latest + PAUSE {
            return News::new();
        }
        self.round += 1;
        let left = self.seat(swiss(self.free(now, blocks)), now);
        let mut news = News::new();
        for who in left {
            let (number, round) = (self.games, self.round);
            self.games += 1;
            let winner = (!self.blocks_for_a_bye(who, blocks)).then_some(0);
            let player = &mut self.players[who];
            player.points += if winner.is_some() { WIN } else { 0 };
            player.byes += 1;
            let players = vec![player.id.clone()];
            let (game, forfeit, unreadable) = (None, false, false);
            news.push(Counted { number, game, round, players, winner, forfeit, unreadable });
        }
        news
    }

    /// Whether a player has another bye because of the accounts that they block: others have had fewer byes, and the player
    /// blocks another player. Such a bye is worth nothing: otherwise a player who blocks all others would win without a
    /// game.
    fn blocks_for_a_bye(&self, who: usize, blocks: &Blocks) -> bool {
        let player = &self.players[who];
        self.present().any(|it| it.byes < player.byes)
            && self.present().any(|it| blocks.contains(&(player.id.clone(), it.id.clone())))
    }

    /// The players who can be paired now.
    fn free(&self, now: u64, blocks: &Blocks) -> Vec<Contender> {
        let is_arena = matches!(self.terms.kind, Kind::Arena(_));
        let plays = |who: usize| self.playing.iter().any(|it| it.players.contains(&who));
        let is_free = |&(who, it): &(usize, &Entrant)| {
            !it.away && !plays(who) && (!is_arena || now >= it.free + PAUSE)
        };
        let here =
            |(one, other): &(String, String)| Some((self.index_of(one)?, self.index_of(other)?));
        let pairs: Vec<(usize, usize)> = blocks.iter().filter_map(here).collect();
        let blocked = |who: usize| {
            let other = |&(one, other): &(usize, usize)| {
                if one == who { Some(other) } else { (other == who).then_some(one) }
            };
            pairs.iter().filter_map(other).collect()
        };
        let contender = |(who, it): (usize, &Entrant)| Contender {
            who,
            points: it.points,
            seed: it.seed,
            balance: it.balance,
            had_first: it.had_first,
            byes: it.byes,
            met: it.met.clone(),
            blocked: blocked(who),
            waited: now.saturating_sub(it.free),
        };
        self.players.iter().enumerate().filter(is_free).map(contender).collect()
    }

    /// Gives pairs their games, and returns the players without an opponent.
    fn seat(&mut self, paired: Paired, now: u64) -> Vec<usize> {
        let is_arena = matches!(self.terms.kind, Kind::Arena(_));
        for players in paired.pairs {
            for (side, who) in players.into_iter().enumerate() {
                let player = &mut self.players[who];
                player.balance += if side == 0 { 1 } else { -1 };
                player.had_first = Some(side == 0);
                if is_arena {
                    player.met.clear();
                }
                player.met.push(players[1 - side]);
            }
            let (number, round) = (self.games, self.round);
            self.games += 1;
            let hash = blake3::hash(format!("game {number} of {}", self.seed).as_bytes());
            let game = spelled(&hash.as_bytes()[..ID_LETTERS]);
            self.playing.push(Pairing { game, number, round, players, at: now });
        }
        paired.left
    }

    /// The sum of the points of the opponents of a player of a Swiss (Buchholz).
    pub fn buchholz(&self, player: &Entrant) -> u32 {
        player.met.iter().filter_map(|&it| self.players.get(it)).map(|it| it.points).sum()
    }

    /// The players in order, the best first. Ties are broken in a Swiss by the opponents' points (Buchholz),
    /// in an arena by the number of wins; then by the lower rating.
    pub fn order(&self) -> Vec<&Entrant> {
        let mut all: Vec<&Entrant> = self.players.iter().collect();
        all.sort_by_key(|it| {
            let breaks = match self.terms.kind {
                Kind::Swiss(_) => self.buchholz(it),
                Kind::Arena(_) => it.wins,
            };
            (Reverse(it.points), Reverse(breaks), it.seed)
        });
        all
    }
}

fn over() -> Problem {
    Problem::conflict("tournament_over", "the tournament is over")
}
