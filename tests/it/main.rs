//! One test binary; a module per area.

mod cli;
mod facts;
mod moves;
mod rules;
mod tidy;
