//! New games: from options, and as rematches.
//!
//! A game is stored, and owned by this node, before its id is returned. Deliberately absent: its first facts (`begin`),
//! and the requests for it (`api`, `lichess`, `pairing`, `tournament`).

use std::sync::Arc;

use super::begin::begin;
use super::core::{Event, Setup, seats_of, setup_of};
use super::host::Host;
use super::ids::{ID_LETTERS, new_id, spelled};
use super::loader::payload;
use super::options::{GameOptions, Import};
use super::problem::Problem;
use super::state::{empty_records, summary};
use super::store::{Append, Lease};

#[doc(hidden)]
impl Host {
    /// Makes a game. It is durable when its id is returned.
    ///
    /// # Errors
    /// The options are not valid, the server takes no new games at the moment, or the store cannot be reached.
    pub async fn create(self: &Arc<Self>, options: GameOptions) -> Result<String, Problem> {
        let id = new_id()?;
        self.create_as(&id, options).await?;
        Ok(id)
    }

    /// Makes a game with a given id.
    ///
    /// # Errors
    /// As [`Host::create`], or there is a game with this id already.
    pub async fn create_as(
        self: &Arc<Self>,
        id: &str,
        options: GameOptions,
    ) -> Result<(), Problem> {
        if self.is_draining() || self.live_games() >= self.config.live {
            return Err(Problem::not_now("server_full", "no new games at the moment"));
        }
        let Setup { rules, game, presets, .. } = &options.setup;
        let (ruleset, catalogue) = self.rules_of(rules, game, presets).await?;
        let lane = match options.import.past.is_empty() {
            true => self.lane(rules),
            false => self.slow_lane(rules),
        };
        let kind = ruleset.game().name.clone();
        let (now, requests) = (self.now(), 1 + options.import.past.len());
        let make = move || begin(now, &ruleset, catalogue, options);
        let (room, entries) = self.pool.attempt(lane, requests, make).await?;
        let node = self.cluster().map(|it| Arc::clone(it.leases.node()));
        let lease = node.map(|node| Lease { node, epoch: 1 });
        let append = Append {
            game: id.to_owned(),
            expected: 0,
            payloads: entries.iter().map(payload).collect(),
            summary: summary(id, &room),
            snapshot: None,
            lease: lease.clone(),
            empty_records: empty_records(id, &room, &entries),
        };
        self.writer.append(append).await??;
        self.announce(id, &room, &entries);
        self.metrics.game_created();
        tracing::info!(game = id, kind, "a game is made");
        self.adopt(id, room, &entries, lease);
        Ok(())
    }

    /// The id of the rematch: always the same, so that two requests at once get one game.
    pub fn rematch_id(&self, id: &str) -> String {
        // A client that knows the first game's id may see both games, so it may find this id. No other can guess it.
        let hash = blake3::hash(format!("rematch of {id}").as_bytes());
        spelled(&hash.as_bytes()[..ID_LETTERS])
    }

    /// Makes the rematch of a game, under the id `rematch`: the same game from its start, each player on the next side.
    /// If the rematch is there already, it stays as it is.
    ///
    /// # Errors
    /// As [`Host::create`], or there is no game `id`.
    pub async fn make_rematch(self: &Arc<Self>, id: &str, rematch: &str) -> Result<(), Problem> {
        let wanted = rematch.to_owned();
        if self.reads().ask(move |store| store.summary(&wanted)).await?.is_some() {
            return Ok(());
        }
        let log = self.log(id).await?;
        let Some(setup) = setup_of(&log) else { return Err(Problem::no_game(id)) };
        let sides = setup.sides.len().max(1);
        let seats = seats_of(&log).map(|(side, seat)| ((side + 1) % sides, seat.clone()));
        let chat = setup.chat && !log.iter().any(|it| matches!(it.event, Event::Hushed { .. }));
        let options = GameOptions {
            setup: Setup { chat, tournament: None, ..setup.clone() },
            seats: seats.collect(),
            import: Import::default(),
        };
        match self.create_as(rematch, options).await {
            // Another node was faster: the game is there.
            Err(problem) if problem.code == "game_moved" => Ok(()),
            other => other,
        }
    }
}
