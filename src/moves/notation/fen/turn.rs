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
use super::super::super::turn::{LONGEST, TRIES};
use super::super::super::turn_words::is_within;
use super::{FenError, FenField};

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
    let (mut text, mut beginning, mut lists) = (String::new(), None, Vec::new());
    for part in contract.turn_text.as_ref()? {
        let (rel, is_list) = match part {
            TurnPart::Text(it) => {
                text.push_str(it);
                continue;
            }
            TurnPart::Rows(rel) => (*rel, false),
            TurnPart::List(rel) => (*rel, true),
            // Only templates for whole turns have such parts.
            TurnPart::Optional(_) => continue,
        };
        let rows = rows_as_text(world, rel);
        if beginning.is_none() && rows.is_empty() {
            return None;
        }
        let start = text.len();
        text.push_str(&rows.join(if is_list { "," } else { "" }));
        beginning
            .get_or_insert_with(|| text[..if is_list { start } else { text.len() }].to_owned());
        lists.extend(is_list.then(|| text[start..].to_owned()));
    }
    Some(TurnText { text, beginning: beginning?, lists })
}

/// The texts of the rows of a relation, in their order.
pub(in super::super::super) fn rows_as_text(world: &mut World, rel: RelId) -> Vec<String> {
    let program = world.program().clone();
    let Some(template) = program.row_texts.get(&rel) else { return Vec::new() };
    let columns = &program.relation(rel).columns;
    let rows = world.tuples(rel);
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
    /// Whether the search gave up a turn that has the maximum number of actions.
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
            self.path.push(mv.clone());
            if world.taking_back(|world| self.leads_there(world, &mv)) {
                return true;
            }
            self.path.pop();
        }
        false
    }

    /// Whether an action, perhaps with further ones after it, leads to the text.
    fn leads_there(&mut self, world: &mut World, mv: &Move) -> bool {
        world.fire(mv.action, &mv.args).is_ok()
            && self.contract.mover(world.facts()) == self.mover
            && turn_text(world, self.contract)
                .is_some_and(|it| it.text == self.text || self.may_become(&it) && self.find(world))
    }

    /// Whether further actions may turn this text into the wanted one. The wanted text must then have the same beginning,
    /// and contain the characters of each of the lists, in their order.
    fn may_become(&self, text_of_turn: &TurnText) -> bool {
        let fits = |it: &String| is_within(it, self.text);
        self.text.starts_with(&text_of_turn.beginning) && text_of_turn.lists.iter().all(fits)
    }
}
