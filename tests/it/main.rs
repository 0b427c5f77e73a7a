//! The one test binary: each module tests the layer, or the part of it, that it is named after.

mod moves;
mod notation;
mod perft;
mod rules;
mod setup;
