//! Text of moves, positions and games: known texts, real games replayed, round trips over random
//! play, and damaged text, which must be refused and never crash.

mod fen;
mod laws;
mod pgn;
mod replay;
mod san;
mod texts;
mod uci;
