//! The one integration test binary; a module an area.

mod facts;
mod game;
mod moves;
mod notation;
mod perft;
mod presets;
mod rules;
mod setup;
