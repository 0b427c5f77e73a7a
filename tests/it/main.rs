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
mod legality;
mod moves;
mod notation;
mod perft;
mod presets;
mod proof;
mod protocols;
mod query;
mod random_rules;
mod referee;
mod rules;
mod saves;
mod setup;
mod testing;
mod tidy;
mod traces;
mod verify;
