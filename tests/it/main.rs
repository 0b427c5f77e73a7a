//! The one integration test binary; a module an area.

mod facts;
mod presets;
mod rules;
