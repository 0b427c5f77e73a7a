//! A preset of your own: rules as text for what follows from facts, Rust for what happens. Run it with
//! `cargo run --example preset`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use rulemate::prelude::*;

/// The side that captures is paid, by what the captured piece is.
#[derive(Debug)]
struct Bounty;

impl Preset for Bounty {
    fn rules(&self) -> String {
        r#"
.meta preset "bounty"
.meta name "Bounty"
.meta description "A side is paid for each piece that it captures"
.domain Preset += { bounty }
.input gold(side: Side, amount: Int) of Side attr gold = 0 "{side} has {amount} gold"
.static worth(kind: Kind, amount: Int) key "a {kind} is worth {amount}"
worth('pawn, 1). worth('knight, 3). worth('bishop, 3). worth('rook, 5). worth('queen, 9).
odd_target(q) :- color(q, c), opponent(c, x), active('bounty, x).
on died(q, p) when kind(q, k), worth(k, n), color(p, c), active('bounty, c), gold(c, m)
    do set gold(c, m + n), note "{c} is paid for a {k}".
"#
        .into()
    }

    /// This preset could do without Rust. To have some run, name the point here; its hook is called there.
    fn points(&self) -> Vec<Point> {
        vec![Point::AfterMove]
    }

    fn on_after_move(&self, now: &mut Moment<'_>) {
        now.note("the books are kept");
    }
}

fn main() -> Result<(), Error> {
    let mut catalogue = Catalogue::embedded()?;
    catalogue.register(Bounty)?;
    let rules = catalogue.load("chess", &["bounty"])?;
    let mut game = rules.start(None)?;
    for text in ["e4", "d5", "exd5", "Qxd5"] {
        let record = game.play_text(text)?;
        println!("{}: {}", record.san, record.notes().join(", "));
    }
    let told = game.explain_fact("gold(black, 1)", Limits::default())?;
    println!("{}\n{}", told.summary, game.tree(&told.finding));
    Ok(())
}
