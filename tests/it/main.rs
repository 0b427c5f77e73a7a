//! tests

mod board;
mod frog;
mod rules;
