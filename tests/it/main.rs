//! The one integration test binary; a module an area.

mod agreement;
mod budgets;
mod cli;
mod explain;
mod facts;
mod fixture;
mod frog;
mod game;
mod golden;
mod legality;
mod modifier;
mod moves;
mod notation;
mod perft;
mod presets;
mod random_rules;
mod reactions;
mod referee;
mod rules;
mod setup;
mod switch;
mod tidy;
mod verify;
