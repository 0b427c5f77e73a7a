//! The one integration test binary; a module an area.

mod agreement;
mod budgets;
mod cli;
mod cli_saves;
mod explain;
mod facts;
mod fixture;
mod frog;
mod game;
mod golden;
mod hostile;
mod legality;
mod moves;
mod notation;
mod numbers;
mod perft;
mod presets;
mod proof;
mod protocols;
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
mod traces;
mod turns;
mod verify;
mod watch;
