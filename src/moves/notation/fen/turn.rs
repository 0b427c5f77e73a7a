//! Turns that are under way in a FEN: the position that the turn began from, then what has been done since,
//! `e4:T:I>e5...`.
//!
//! The rules declare what is written (`.meta fen "turn {opened}:{staying}:{made,}{more}"`): the texts of each
//! relation's rows, for a list (`{made,}`) with commas between them; if the first relation has no row, no
//! turn is under way. Reading searches for the actions that lead to the text. An action may add to a list, at
//! any place, and takes nothing away; the text of the first relation stays the same for the whole turn, unless it is a
//! list. So a search that prunes what no longer fits is short. Nothing here knows what the texts mean.

use crate::derive::World;
use crate::rules::RelId;

use super::super::super::action::{Move, is_over, legal_moves};
use super::super::super::contract::Contract;
use super::super::super::finder::TurnPart;
use super::super::super::template::render_row;
use super::super::super::turn::LONGEST;
use super::super::super::words::is_within;
use super::{FenError, FenField};

/// Maximum number of actions tried to read a turn.
const TRIES: usize = 20_000;

/// The text of a turn under way.
struct TurnText {
    text: String,
    /// The beginning of the text, which stays the same for the whole turn.
    beginning: String,
    /// The texts of the lists in it.
    lists: Vec<String>,
}

/// The text of the turn under way; `None` if there is none.
fn turn_text(world: &mut World, contract: &Contract) -> Option<TurnText> {
    let parts = contract.turn_text.as_ref()?;
    let mut text_of_turn: Option<TurnText> = None;
    let mut before = String::new();
    for part in parts {
        let (rel, between) = match part {
            TurnPart::Text(text) => {
                text_of_turn.as_mut().map_or(&mut before, |it| &mut it.text).push_str(text);
                continue;
            }
            TurnPart::Rows(rel) => (*rel, ""),
            TurnPart::List(rel) => (*rel, ","),
            // Only words of turns have such parts.
            TurnPart::Optional(_) => continue,
        };
        let texts = rows_as_text(world, rel);
        match &mut text_of_turn {
            None if texts.is_empty() => return None,
            None => {
                let first = texts.join(between);
                let text = format!("{before}{first}");
                let (beginning, lists) = match part {
                    TurnPart::List(_) => (before.clone(), vec![first]),
                    _ => (text.clone(), Vec::new()),
                };
                text_of_turn = Some(TurnText { text, beginning, lists });
            }
            Some(text_of_turn) => {
                let text = texts.join(between);
                text_of_turn.text.push_str(&text);
                text_of_turn.lists.extend(matches!(part, TurnPart::List(_)).then_some(text));
            }
        }
    }
    text_of_turn
}

/// The texts of the rows of a relation, in their order.
pub(in super::super::super) fn rows_as_text(world: &mut World, rel: RelId) -> Vec<String> {
    let program = world.program().clone();
    let Some(template) = program.row_texts.get(&rel) else { return Vec::new() };
    let columns = &program.relation(rel).columns;
    let mut rows = world.tuples(rel);
    rows.sort();
    rows.iter().map(|row| render_row(world, template, columns, row)).collect()
}

/// The text of the turn under way; `None` if there is none, or if the rules have no text for it.
pub fn write_turn(world: &mut World, contract: &Contract) -> Option<String> {
    turn_text(world, contract).map(|it| it.text)
}

/// Splits a FEN into the position and the text of a turn under way.
pub fn split_turn<'t>(contract: &Contract, text: &'t str) -> (&'t str, Option<&'t str>) {
    // Other last fields have no colon, or are `NAME=VALUE`.
    let is_turn = |last: &str| last.contains(':') && !last.contains('=');
    match text.trim_end().rsplit_once(' ') {
        Some((position, last))
            if contract.turn_text.is_some() && position.contains(' ') && is_turn(last) =>
        {
            (position, Some(last))
        }
        _ => (text, None),
    }
}

/// The actions that lead from this position to the text of a turn under way, which begins at the byte `offset` of the
/// FEN. The position is the same afterwards.
///
/// # Errors
/// No actions lead to the text, or the search for them exceeded a limit.
pub fn read_turn(
    world: &mut World,
    contract: &Contract,
    text: &str,
    offset: usize,
) -> Result<Vec<Move>, FenError> {
    let mover = contract.mover(world.facts());
    let path = Vec::new();
    let mut search = Search { contract, mover, text, path, tries: 0, was_too_long: false };
    if search.find(world) {
        return Ok(search.path);
    }
    let is_cut = search.tries >= TRIES || search.was_too_long || world.has_run_out();
    let expected = match is_cut {
        true => "a turn that is found within the limits of a search",
        false => "actions that a turn may begin with here, as this game writes them",
    };
    let (found, expected) = (format!("{text:?}"), expected.into());
    Err(FenError { field: FenField::UnderWay, offset, found, expected })
}

struct Search<'s> {
    contract: &'s Contract,
    mover: Option<i64>,
    text: &'s str,
    path: Vec<Move>,
    tries: usize,
    /// Whether a turn was given up that has the maximum number of actions and may go on.
    was_too_long: bool,
}

impl Search<'_> {
    /// Whether further actions lead to the text. If so, the path has all of them.
    fn find(&mut self, world: &mut World) -> bool {
        if is_over(world, self.contract) {
            return false;
        }
        if self.path.len() >= LONGEST {
            self.was_too_long = true;
            return false;
        }
        for mv in legal_moves(world, self.contract) {
            if self.tries >= TRIES || world.has_run_out() {
                return false;
            }
            self.tries += 1;
            let mark = world.mark();
            let fired = world.fire(mv.action, &mv.args).is_ok();
            let keeps_turn = fired && self.contract.mover(world.facts()) == self.mover;
            let text_of_turn = if keeps_turn { turn_text(world, self.contract) } else { None };
            self.path.push(mv);
            let found = text_of_turn
                .is_some_and(|it| it.text == self.text || self.may_become(&it) && self.find(world));
            world.rollback(mark);
            if found {
                return true;
            }
            self.path.pop();
        }
        false
    }

    /// Whether further actions may turn this text into the wanted one. For that, the wanted text must begin like it,
    /// and have the characters of each of its lists, in their order.
    fn may_become(&self, text_of_turn: &TurnText) -> bool {
        let fits = |it: &String| is_within(it, self.text);
        self.text.starts_with(&text_of_turn.beginning) && text_of_turn.lists.iter().all(fits)
    }
}
