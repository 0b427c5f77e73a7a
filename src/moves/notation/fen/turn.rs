//! Turns that are under way in a FEN: the position that the turn began from, then what was done of it, `e4:T:I>e5...`.
//!
//! The rules say what is told (`.meta fen "turn {opened}:{staying}:{made,}{more}"`): of each relation the texts of its
//! rows, of a list (`{made,}`) with commas between them; if the first has no row, no turn is under way. Reading looks
//! for the actions that come to the text. An action may add signs to a list, and takes none away; so a search that
//! follows what still fits is short. Nothing here knows what is told.

use crate::derive::World;
use crate::rules::RelId;

use super::super::super::action::{Move, is_over, legal_moves};
use super::super::super::contract::Contract;
use super::super::super::finder::TurnPart;
use super::super::super::template::render_row;
use super::super::super::turn::LONGEST;
use super::super::super::words::is_within;
use super::{FenError, FenField};

/// Maximum number of actions that are tried to read a turn.
const TRIES: usize = 20_000;

/// What is told: all of it, its beginning, and its lists.
struct Told {
    text: String,
    first: String,
    lists: Vec<String>,
}

/// What is told of the turn that is under way; `None` if none is.
fn told(world: &mut World, contract: &Contract) -> Option<Told> {
    let parts = contract.turn_text.as_ref()?;
    let mut told: Option<Told> = None;
    let mut before = String::new();
    for part in parts {
        let (rel, between) = match part {
            TurnPart::Text(text) => {
                told.as_mut().map_or(&mut before, |it| &mut it.text).push_str(text);
                continue;
            }
            TurnPart::Rows(rel) => (*rel, ""),
            TurnPart::List(rel) => (*rel, ","),
            // A FEN tells every part.
            TurnPart::Optional(_) => continue,
        };
        let texts = rows_as_text(world, rel);
        match &mut told {
            None if texts.is_empty() => return None,
            None => {
                let first = texts.join(between);
                let text = format!("{before}{first}");
                told = Some(Told { text: text.clone(), first: text, lists: Vec::new() });
            }
            Some(told) => {
                let text = texts.join(between);
                told.text.push_str(&text);
                told.lists.extend(matches!(part, TurnPart::List(_)).then_some(text));
            }
        }
    }
    told
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

/// What was done of the turn that is under way; `None` if none is, or if the rules have no text for it.
pub fn write_turn(world: &mut World, contract: &Contract) -> Option<String> {
    told(world, contract).map(|it| it.text)
}

/// A FEN without what it tells of a turn that is under way, and that.
pub fn split_turn<'t>(contract: &Contract, text: &'t str) -> (&'t str, Option<&'t str>) {
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

/// The actions that a text tells of a turn which begins here. Nothing has changed afterwards.
///
/// # Errors
/// There are none.
pub fn read_turn(
    world: &mut World,
    contract: &Contract,
    text: &str,
) -> Result<Vec<Move>, FenError> {
    let mover = contract.mover(world.facts());
    let mut search = Search { contract, mover, text, path: Vec::new(), tries: 0 };
    if search.find(world) {
        return Ok(search.path);
    }
    let expected = "what may be done of a turn here, as this game writes it".into();
    Err(FenError { field: FenField::UnderWay, offset: 0, found: format!("{text:?}"), expected })
}

struct Search<'s> {
    contract: &'s Contract,
    mover: Option<i64>,
    text: &'s str,
    path: Vec<Move>,
    tries: usize,
}

impl Search<'_> {
    /// Goes on from the actions so far, to the text.
    fn find(&mut self, world: &mut World) -> bool {
        if self.path.len() >= LONGEST || is_over(world, self.contract) {
            return false;
        }
        for mv in legal_moves(world, self.contract) {
            if self.tries >= TRIES || world.has_run_out() {
                return false;
            }
            self.tries += 1;
            let mark = world.mark();
            let fired = world.fire(mv.action, &mv.args).is_ok();
            let is_same = fired && self.contract.mover(world.facts()) == self.mover;
            let told = if is_same { told(world, self.contract) } else { None };
            self.path.push(mv);
            let found = told
                .is_some_and(|it| it.text == self.text || self.may_become(&it) && self.find(world));
            world.rollback(mark);
            if found {
                return true;
            }
            self.path.pop();
        }
        false
    }

    /// What is told after these actions may become the text: it begins like it, and its lists have no sign that the
    /// text has not.
    fn may_become(&self, told: &Told) -> bool {
        let fits = |it: &String| is_within(it, self.text);
        self.text.starts_with(&told.first) && told.lists.iter().all(fits)
    }
}
