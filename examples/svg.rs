//! A position as a picture, drawn from nothing but [`Game::view`]: `cargo run --example svg > board.svg`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use rulemate::prelude::*;

/// The side of a square, in pixels.
const SIDE: usize = 45;

fn main() -> Result<(), Error> {
    let rules = Catalogue::embedded()?.load("chess", &["poisoned-squares"])?;
    let mut game = rules.start(None)?;
    game.play_text("e4")?;
    print!("{}", drawn(&mut game));
    Ok(())
}

fn drawn(game: &mut Game) -> String {
    let view = game.view();
    let (files, ranks) = (usize::from(view.files), usize::from(view.ranks));
    let corner = |name: &str| {
        let file = name.bytes().next().map_or(0, |it| usize::from(it - b'a'));
        let rank: usize = name[1..].parse().unwrap_or(1);
        (file * SIDE, (ranks - rank) * SIDE)
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-size=\"30\" text-anchor=\"middle\">\n",
        files * SIDE,
        ranks * SIDE
    );
    for (x, y) in (0..files).flat_map(|x| (0..ranks).map(move |y| (x, y))) {
        let fill = if (x + y) % 2 == 0 { "#f0d9b5" } else { "#b58863" };
        let (x, y) = (x * SIDE, y * SIDE);
        svg += &format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"{fill}\"/>\n"
        );
    }
    for mark in &view.marks {
        for (x, y) in mark.squares.iter().map(|it| corner(it)) {
            let (x, y) = (x + SIDE / 2, y + SIDE / 2);
            svg += &format!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"20\" fill=\"#4a4\" opacity=\"0.5\"/>\n"
            );
        }
    }
    for piece in &view.pieces {
        let (x, y) = corner(&piece.square);
        let (x, y) = (x + SIDE / 2, y + SIDE * 3 / 4);
        let fill = if piece.side == Some(0) { "white" } else { "black" };
        let letter = piece.letter.to_uppercase();
        svg += &format!("<text x=\"{x}\" y=\"{y}\" fill=\"{fill}\">{letter}</text>\n");
    }
    svg + "</svg>\n"
}
