//! Rows come and go as a game is played, and a watch of a relation is told: `cargo run --example watch`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use rulemate::prelude::*;

fn main() -> Result<(), Error> {
    let rules = Catalogue::embedded()?.load::<&str>("chess", &[])?;
    let mut game = rules.start(None)?;
    let program = game.program().clone();
    let Some(attacked) = program.relation_named("in_check") else { return Ok(()) };
    let watch = game.world_mut().watch(attacked);
    for text in ["e4", "e5", "Qh5", "Nc6", "Qxf7+", "Kxf7"] {
        game.play_text(text)?;
        for change in game.world().changes() {
            for row in &change.added {
                println!("{text}: now {}", program.tuple_name(change.rel, row));
            }
            for row in &change.removed {
                println!("{text}: no more {}", program.tuple_name(change.rel, row));
            }
        }
    }
    game.world_mut().unwatch(watch);
    Ok(())
}
