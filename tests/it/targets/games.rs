//! Positions and moves as text.

use rulemate::internals::derive::Backend;
use rulemate::internals::game::Game;

use super::{choice_and_text, rules};

/// A position is refused, or the one that is written of it is the same position.
pub(crate) fn fen(input: &[u8]) {
    let (choice, text) = choice_and_text(input);
    let rules = rules(choice);
    let Ok(mut game) = rules.start_on(Backend::Bits, Some(&text)) else { return };
    let fen = game.fen();
    let mut again = match rules.start_on(Backend::Bits, Some(&fen)) {
        Ok(game) => game,
        Err(why) => panic!("{text:?} is written as {fen:?}, which is refused: {why}"),
    };
    assert_eq!(again.fen(), fen, "from {text:?}");
    assert_eq!(texts(&mut again), texts(&mut game), "the moves of {fen:?} and of {text:?}");
}

fn texts(game: &mut Game) -> Vec<String> {
    game.listing().into_iter().map(|it| it.0).collect()
}

/// A position in the first line (the start if it is none), then lines of moves, some of them good. What was
/// played is written so that it means the same move.
pub(crate) fn san(input: &[u8]) {
    let (choice, text) = choice_and_text(input);
    let rules = rules(choice);
    let mut lines = text.lines();
    let fen = lines.next().unwrap_or_default();
    let start = rules.start_on(Backend::Bits, Some(fen)).or_else(|_| rules.start(None));
    let Ok(mut game) = start else { return };
    for line in lines.take(12) {
        if game.play_text(line).is_err() {
            continue;
        }
        let played = game.takeback().expect("what was played");
        for text in [&played.san, &played.uci] {
            if let Err(why) = game.play_text(text) {
                panic!("{line:?} is written as {text:?}, which is refused: {why}");
            }
            let again = game.takeback().expect("what was played");
            assert_eq!((&again.uci, &again.san), (&played.uci, &played.san), "of {text:?}");
        }
        game.play_text(&played.uci).expect("a move that was played before");
    }
    while game.takeback().is_some() {}
    game.fen();
}
