//! The one integration test binary; a module an area.

mod moves;
mod notation;
mod perft;
mod facts;
mod game;
mod presets;
mod explain;
mod fixture;
mod frog;
mod random_rules;
mod cli;
mod rules;
mod setup;
mod tidy;
