//! The one integration test binary; a module an area.

mod agreement;
mod budgets;
mod cli;
mod explain;
mod facts;
mod fixture;
mod frog;
mod game;
mod hostile;
mod golden;
mod legality;
mod moves;
mod notation;
mod numbers;
mod perft;
mod presets;
mod protocols;
mod proof;
mod query;
mod random_rules;
mod reactions;
mod referee;
mod rules;
mod saves;
#[cfg(feature = "server")]
mod server;
mod setup;
mod testing;
mod tidy;
mod turns;
mod verify;
mod watch;
