//! `go perft` of shakmaty, for `rulemate bench --peer`:
//! `cargo build --release --manifest-path benches/shakmaty/Cargo.toml`
//!
//! Deliberately absent: the rest of UCI, and every game but chess.

use std::error::Error;
use std::io::{Write, stdin, stdout};

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, perft};

fn main() -> Result<(), Box<dyn Error>> {
    let mut position = Chess::default();
    for line in stdin().lines() {
        let line = line?;
        let (command, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match (command, rest) {
            ("uci", _) => println!("id name shakmaty\nuciok"),
            ("isready", _) => println!("readyok"),
            ("position", rest) => {
                let fen = rest.strip_prefix("fen ").ok_or("only `position fen FEN` is understood")?;
                position = fen.parse::<Fen>()?.into_position(CastlingMode::Standard)?;
            }
            ("go", rest) => {
                let depth = rest.strip_prefix("perft ").ok_or("only `go perft DEPTH` is understood")?;
                println!("Nodes searched: {}", perft(&position, depth.trim().parse()?));
            }
            ("quit", _) => break,
            _ => {}
        }
        stdout().flush()?;
    }
    Ok(())
}
