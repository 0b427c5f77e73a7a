//! Rule text and PGN.

use std::sync::Arc;

use rulemate::internals::derive::{Backend, Plan, World};
use rulemate::internals::moves::notation::PgnReader;
use rulemate::internals::rules::{RelId, Source, compile};

/// A file of rules is told what is wrong with it, or its rows can be had within their budget.
pub(crate) fn rules(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let source = Source { path: "fuzz.dl".into(), text: text.as_ref().into() };
    let program = match compile(vec![source]) {
        Ok(program) => Arc::new(program),
        Err(found) => {
            assert!(!found.list().is_empty(), "refused without a reason");
            for color in [false, true] {
                assert!(!found.render(color).is_empty());
            }
            found.to_json();
            return;
        }
    };
    let Ok(plan) = Plan::compile(Arc::clone(&program)) else { return };
    let mut world = World::new(Arc::new(plan), Backend::Bits);
    for at in 0..program.relations.len() {
        world.count(RelId(at as u16));
        if world.check().is_err() {
            return;
        }
    }
}

/// What is read is written so that the same is read again.
pub(crate) fn pgn(input: &[u8]) {
    let mut last = (0, 0);
    for read in PgnReader::new(input) {
        match read {
            Ok(game) => {
                let written = game.to_pgn();
                let mut again = PgnReader::new(written.as_bytes());
                let first = again.next();
                let Some(Ok(first)) = first else { panic!("{written:?} is read as {first:?}") };
                let moves = |it: &rulemate::internals::moves::notation::PgnGame| -> Vec<String> {
                    it.moves.iter().map(|it| it.text.clone()).collect()
                };
                assert_eq!(moves(&first), moves(&game), "{written:?}");
                assert_eq!(first.to_pgn(), written);
                assert!(again.next().is_none(), "one game is written as several: {written:?}");
            }
            Err(why) => {
                assert!(why.line > 0 && why.column > 0, "{why}");
                assert!((why.game, why.line) > last, "{why} after {last:?}");
                last = (why.game, 0);
            }
        }
    }
}
