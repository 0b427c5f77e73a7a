//! The computer plays a game with itself, by any rules of this package: `cargo run --example play -- atomic`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use rulemate::opponent::{Knowledge, Lessons, Level, Opponent, Stop};
use rulemate::prelude::*;

fn main() -> Result<(), Error> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "connect-four".into());
    let rules = Catalogue::embedded()?.load::<&str>(&name, &[])?;
    let mut game = rules.start(None)?;

    // A second or two of random games tell what its pieces are worth.
    let knowledge = Knowledge::learn(&game, Lessons::default(), 1);
    println!("learned from {} games with a winner", knowledge.games());

    let level = Level::LOWEST;
    let mut computer = Opponent::new(knowledge, level, 7);
    for _ in 0..40 {
        let Some(choice) = computer.choose(&game, level.budget(), &Stop::default()) else { break };
        let record = game.play(&choice.action)?;
        println!("{} ({:?} after {} positions)", record.san, choice.score, choice.nodes);
    }
    match game.result() {
        Some(result) => println!("{result}"),
        None => println!("broken off at {}", game.fen()),
    }
    Ok(())
}
