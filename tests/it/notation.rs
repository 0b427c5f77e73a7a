//! Text of moves, positions and games.
