//! The one integration test binary; a module an area.

mod board;
mod cli;
mod facts;
mod frog;
mod game;
mod moves;
mod notation;
mod perft;
mod presets;
mod rules;
mod setup;
mod tidy;
