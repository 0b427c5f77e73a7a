//! Hosting: games that people play over the network, kept in a store.
//!
//! `core` is one game as a pure function; `store` keeps the events; `host` owns the live games, each a task
//! (`live`); `api`, `socket` and `page` are the interfaces for people and programs. This layer knows games
//! through `game`, `presets`, `moves` (texts of actions, PGN) and `opponent`, and must not know facts or rules.

mod accept;
mod accounts;
mod analysis;
mod announce;
mod api;
mod begin;
mod board;
mod cluster;
mod compiler;
mod computer;
pub mod core;
mod flags;
mod host;
mod ids;
mod learned;
mod library;
mod lichess;
mod limit;
mod live;
mod loader;
mod metrics;
mod moderation;
mod names;
mod net;
mod new_game;
mod nodes;
mod options;
mod page;
mod pairing;
mod parked;
mod places;
mod pool;
mod presence;
mod problem;
mod rating;
mod reading;
mod ready;
mod registry;
mod serve;
mod socket;
mod state;
pub mod store;
mod study_pgn;
mod study_tree;
mod time;
pub mod tournament;
mod transcript;
mod verify;
mod web;
mod webhooks;

pub use accounts::close_account;
pub use api::{metrics_router, router};
pub use board::Board;
pub use host::{Config, Host};
pub use learned::Engine;
pub use library::{Library, Texts};
pub use lichess::Challenges;
pub use limit::{Cost, Limits, Payer, Rate};
pub use live::{Feed, Lines};
pub use metrics::Metrics;
pub use moderation::{Report, forget_reports, reports};
pub use names::{NameError, Names};
pub use net::Net;
pub use options::GameOptions;
pub use problem::Problem;
pub use rating::settle_games;
pub use serve::{Addresses, ServeError, Settings, serve};
pub use time::{Clock, DAY, wall_clock};
pub use tournament::{end_tournament, run_tournaments};
pub use verify::{Verified, snapshots, summaries};
pub use web::Web;
pub use webhooks::{HookError, Hooks};
