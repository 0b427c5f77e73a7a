//! Whole turns as one word: `T<I>e5`, the tank stays and the infantry goes to e5.
//!
//! The rules declare the text of a turn (`.meta san "turn [{staying}<]{made,}"`): the texts of each
//! relation's rows, for a list (`{made,}`) with commas between them; a part in brackets is left out if none of the
//! relations in it has a row. The text must be written before the turn ends: a flag of the game, which the
//! rules name as well (`.meta san "hold RELATION"`), keeps a turn from ending by itself meanwhile. Reading
//! plays turns out, and searches for the text.
//!
//! A word need not mention everything that was done. It is written (`turn_text`) only if it does not also
//! mean a turn that ends differently.

use std::collections::BTreeMap;

use crate::derive::World;
use crate::facts::GAME;

use super::action::{Move, is_over, legal_moves};
use super::contract::Contract;
use super::finder::{TurnPart, TurnWords};
use super::notation::rows_as_text;
use super::turn::{LONGEST, TRIES, goes_on};

/// The text of the turn under way by each of the templates; `None` for a template that has nothing to write.
pub(super) fn turn_texts(world: &mut World, words: &TurnWords) -> Vec<Option<String>> {
    words.texts.iter().map(|parts| written(world, parts)).collect()
}

/// The text of some parts; `None` if none of their relations has a row.
fn written(world: &mut World, parts: &[TurnPart]) -> Option<String> {
    let mut text = String::new();
    let mut has_rows = false;
    for part in parts {
        match part {
            TurnPart::Text(it) => text.push_str(it),
            TurnPart::Rows(rel) | TurnPart::List(rel) => {
                let between = if matches!(part, TurnPart::List(_)) { "," } else { "" };
                let rows = rows_as_text(world, *rel);
                has_rows |= !rows.is_empty();
                text.push_str(&rows.join(between));
            }
            TurnPart::Optional(parts) => {
                let Some(inner) = written(world, parts) else { continue };
                has_rows = true;
                text.push_str(&inner);
            }
        }
    }
    has_rows.then_some(text)
}

/// Adds the texts of the lists among some parts.
fn add_lists(world: &mut World, parts: &[TurnPart], found: &mut Vec<String>) {
    for part in parts {
        match part {
            TurnPart::List(rel) => found.push(rows_as_text(world, *rel).join(",")),
            TurnPart::Optional(parts) => add_lists(world, parts, found),
            TurnPart::Text(_) | TurnPart::Rows(_) => {}
        }
    }
}

/// The text of a turn that this action ends, by each of the templates. `before` has its texts without the action, which
/// stay if nothing is left to write after it.
pub(super) fn texts_with_last(
    world: &mut World,
    words: &TurnWords,
    mv: &Move,
    before: &[Option<String>],
) -> Vec<Option<String>> {
    let texts = world.taking_back(|world| {
        world.set_raw(GAME, words.hold, Some(1));
        match world.fire(mv.action, &mv.args) {
            Ok(()) => turn_texts(world, words),
            Err(_) => vec![None; before.len()],
        }
    });
    texts.into_iter().zip(before).map(|(now, before)| now.or_else(|| before.clone())).collect()
}

/// The turn that a word means. `None` if it means none, or turns that end in different positions.
pub(super) fn read_word(world: &mut World, contract: &Contract, text: &str) -> Option<Vec<Move>> {
    let words = contract.turn_words.as_ref()?;
    let text = text.trim().trim_end_matches(['+', '#', '!', '?']);
    // In the middle of a turn, only actions can be meant.
    if text.is_empty() || turn_texts(world, words).iter().any(Option::is_some) {
        return None;
    }
    let mover = contract.mover(world.facts());
    let mut search =
        Search { contract, words, mover, text, path: Vec::new(), tries: 0, found: BTreeMap::new() };
    search.go_on(world);
    let is_whole = search.tries < TRIES && !world.has_run_out();
    let mut found = search.found.into_values();
    let turn = found.next().filter(|_| is_whole)?;
    found.next().is_none().then_some(turn)
}

struct Search<'s> {
    contract: &'s Contract,
    words: &'s TurnWords,
    mover: Option<i64>,
    text: &'s str,
    path: Vec<Move>,
    tries: usize,
    /// Turns with this word, by the hash of the position that they end in.
    found: BTreeMap<u64, Vec<Move>>,
}

impl Search<'_> {
    /// Adds the turns with this word that begin with the actions so far; the turn is known to go on.
    fn go_on(&mut self, world: &mut World) {
        if self.path.len() >= LONGEST || is_over(world, self.contract) {
            return;
        }
        let before = turn_texts(world, self.words);
        for mv in legal_moves(world, self.contract) {
            if self.tries >= TRIES || self.found.len() > 1 || world.has_run_out() {
                return;
            }
            self.tries += 1;
            let mark = world.mark();
            let fired = world.fire(mv.action, &mv.args).is_ok();
            let is_open = fired && goes_on(world, self.contract, self.mover);
            let end = world.facts().hash();
            self.path.push(mv.clone());
            if is_open && self.may_become(world) {
                self.go_on(world);
            }
            world.rollback(mark);
            if fired && !is_open {
                let texts = texts_with_last(world, self.words, &mv, &before);
                if texts.iter().flatten().any(|it| it == self.text) {
                    self.found.entry(end).or_insert_with(|| self.path.clone());
                }
            }
            self.path.pop();
        }
    }

    /// Whether the text so far may grow into the wanted one: an action may append to a list, and never
    /// shortens it.
    fn may_become(&self, world: &mut World) -> bool {
        let mut texts = Vec::new();
        for parts in &self.words.texts {
            add_lists(world, parts, &mut texts);
        }
        texts.iter().any(|it| !it.is_empty()) && texts.iter().all(|it| is_within(it, self.text))
    }
}

/// Whether a text contains the characters of another, in order.
pub(super) fn is_within(signs: &str, text: &str) -> bool {
    let mut rest = text.chars();
    signs.chars().all(|sign| rest.any(|it| it == sign))
}

#[cfg(test)]
mod tests {
    use super::is_within;

    #[test]
    fn signs_are_added_and_never_taken_away() {
        assert!(is_within("F>k5", "(FT)>k5,I>k4"));
        assert!(is_within("", "x"));
        assert!(!is_within("F>k4,", "(FT)>k5,I>k4"));
        assert!(!is_within("k5F", "F>k5"));
    }
}
