//! Keeping it true: evaluators of a checked program over the facts of a session.
//!
//! This layer must not know moves, players, or squares as chess.
