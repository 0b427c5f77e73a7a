//! The one integration test binary; a module an area.

mod facts;
mod game;
mod presets;
mod rules;
