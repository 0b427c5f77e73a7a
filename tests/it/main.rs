//! tests

mod explain;
mod fixture;
mod frog;
mod random_rules;
mod rules;
