//! Rulemate: a rule engine for chess variants. Facts, rules as text, incremental derivation,
//! proofs.
//!
//! The modules are in the order of the flow; each imports only from those above it (a test holds
//! that).

pub mod facts;
pub mod rules;
pub mod derive;
pub mod moves;
pub mod game;
pub mod presets;
pub mod protocols;
pub mod proof;
pub mod audit;
pub mod testing;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "bin")]
pub mod cli;
