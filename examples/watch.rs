//! Rows come and go as a game is played, and a watch of a relation is told: `cargo run --example watch`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use rulemate::prelude::*;

fn main() -> Result<(), Error> {
    let rules = Catalogue::embedded()?.load::<&str>("chess", &[])?;
    let mut game = rules.start(None)?;
    let watch = game.watch("in_check")?;
    for text in ["e4", "e5", "Qh5", "Nc6", "Qxf7+", "Kxf7"] {
        game.play_text(text)?;
        for change in game.changes() {
            println!("{text}: {} {}", if change.holds { "now" } else { "no more" }, change.row);
        }
    }
    game.unwatch(watch);
    Ok(())
}
