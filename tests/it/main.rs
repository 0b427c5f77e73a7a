//! tests

mod moves;
mod notation;
mod perft;
mod rules;
mod setup;
