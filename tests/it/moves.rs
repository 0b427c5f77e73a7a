//! Legal moves, and who decides them.
