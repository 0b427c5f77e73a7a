//! tests

mod rules;
