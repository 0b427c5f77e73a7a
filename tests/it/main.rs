//! The one integration test binary; a module an area.

mod agreement;
mod budgets;
mod cli;
mod explain;
mod facts;
mod fixture;
mod frog;
mod game;
mod legality;
mod moves;
mod notation;
mod perft;
mod presets;
mod protocols;
mod random_rules;
mod referee;
mod rules;
#[cfg(feature = "server")]
mod server;
mod setup;
mod tidy;
mod verify;
