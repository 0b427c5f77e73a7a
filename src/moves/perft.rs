//! Counting the tree of moves: the yardstick of move generators.
//!
//! Leaves are legal moves at the last ply; a finished game has no children. The last ply is counted without
//! playing it; where rules alone decide legality, the rows of relations are counted, and no move is listed. A
//! legal move that cannot be taken (there is no room for an entity that it makes) makes the count wrong: the
//! caller must call `World::check`.

use std::sync::Arc;

use crate::derive::{Leaves, World};
use crate::facts::NextIds;
use crate::rules::Action;

use super::action::{
    LeavesOfAction, LegalityMode, Move, ids_without_failure, is_over, leaves, leaves_of,
    legal_moves, open_moves,
};
use super::contract::Contract;
use super::notation::{listing, to_uci};
use super::turn::{LONGEST, goes_on, may_stop};

/// The number of move sequences of `depth` moves. Depth 0 has one: playing nothing.
pub fn perft(world: &mut World, contract: &Contract, depth: u32) -> u64 {
    let mode = LegalityMode::Declared;
    let leaves = leaves(world, contract, mode).map(Arc::new);
    Tree { contract, mode, is_bulk: true, leaves }.count(world, depth)
}

/// [`perft`] with legality decided by the mode, and with the last ply played as all others.
pub fn perft_by(world: &mut World, contract: &Contract, depth: u32, mode: LegalityMode) -> u64 {
    Tree { contract, mode, is_bulk: false, leaves: None }.count(world, depth)
}

/// A tree of at least this many positions above its leaves has machine code made before it is counted.
const MANY: u64 = 1 << 13;

/// Makes machine code if the tree of a position with that many legal moves, to that depth, is likely to be large.
/// [`perft`] does this itself where it lists moves; a caller that lists the first moves and counts below each must call
/// this first, since each count alone may seem too small.
pub fn prepare_count(world: &World, moves: usize, depth: u32) {
    if depth > 2 && (moves as u64).saturating_pow(depth - 1) >= MANY {
        world.plan().make_native();
    }
}

/// Plays a move, calls `look`, and takes the move back. `None` if it cannot be taken, which the world notes.
fn after<T>(world: &mut World, mv: &Move, look: impl FnOnce(&mut World) -> T) -> Option<T> {
    world.taking_back(|world| match world.fire(mv.action, &mv.args) {
        Ok(()) => Some(look(world)),
        Err(why) => {
            let text = to_uci(world, mv);
            world.note_refusal(&text, &why);
            None
        }
    })
}

/// The count below each legal move, sorted by its UCI text.
pub fn divide(world: &mut World, contract: &Contract, depth: u32) -> Vec<(String, u64)> {
    let mut rows = Vec::new();
    if depth == 0 {
        return rows;
    }
    let moves = listing(world, contract);
    prepare_count(world, moves.len(), depth);
    for (text, mv) in moves {
        let count = after(world, &mv, |world| perft(world, contract, depth - 1));
        rows.extend(count.map(|it| (text, it)));
    }
    rows
}

/// The number of sequences of that many whole turns, from a position where a turn begins. `None` if a turn is too long.
///
/// A turn ends as in [`turns`](super::turns): when another side is to move, when the game is over, or when
/// there is no action and the rules let it stop. Only the position after an action shows that, so all of them
/// are played.
pub fn perft_of_turns(world: &mut World, contract: &Contract, depth: u32) -> Option<u64> {
    if depth == 0 {
        return Some(1);
    }
    let moves = legal_moves(world, contract);
    turns_below(world, contract, &moves, 1, depth)
}

/// As [`perft_of_turns`], but the first of the turns is under way: the position is right after the first action of
/// `mover`. The depth is at least 1.
pub fn perft_within_turn(
    world: &mut World,
    contract: &Contract,
    mover: Option<i64>,
    depth: u32,
) -> Option<u64> {
    turns_after_action(world, contract, mover, 1, depth)
}

/// The count after that many actions of a turn of `mover`.
fn turns_after_action(
    world: &mut World,
    contract: &Contract,
    mover: Option<i64>,
    actions: usize,
    depth: u32,
) -> Option<u64> {
    if !goes_on(world, contract, mover) {
        return perft_of_turns(world, contract, depth - 1);
    }
    let moves = open_moves(world, contract, LegalityMode::Declared);
    match moves.is_empty() {
        // The turn ends here, if it may, and no turn follows it.
        true => Some(u64::from(depth == 1 && may_stop(world, contract))),
        false if actions >= LONGEST => None,
        false => turns_below(world, contract, &moves, actions + 1, depth),
    }
}

/// The sum of the counts below these actions, each of them taken as action `number` of the turn.
fn turns_below(
    world: &mut World,
    contract: &Contract,
    moves: &[Move],
    number: usize,
    depth: u32,
) -> Option<u64> {
    let mover = contract.mover(world.facts());
    let mut nodes = 0;
    for mv in moves {
        let count = |world: &mut World| turns_after_action(world, contract, mover, number, depth);
        nodes += after(world, mv, count).unwrap_or(Some(0))?;
    }
    Some(nodes)
}

struct Tree<'a> {
    contract: &'a Contract,
    mode: LegalityMode,
    /// Whether the last ply is counted without playing it.
    is_bulk: bool,
    /// How to count the leaves after an action without taking it; `None` where that cannot be done.
    leaves: Option<Arc<Leaves>>,
}

impl Tree<'_> {
    fn count(&self, world: &mut World, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        if is_over(world, self.contract) {
            return 0;
        }
        if depth == 1 && self.is_bulk {
            let program = world.program().clone();
            let none_can_fail = ids_without_failure(world, self.contract).is_some();
            return program.actions.iter().map(|it| self.leaves_of(world, it, none_can_fail)).sum();
        }
        if let Some(leaves) = &self.leaves
            && let Some(next_ids) = ids_without_failure(world, self.contract)
            && let Some(count) = self.leaves_below(world, leaves, depth, next_ids)
        {
            return count;
        }
        let moves = open_moves(world, self.contract, self.mode);
        prepare_count(world, moves.len(), depth);
        moves.iter().map(|it| self.below(world, it, depth)).sum()
    }

    /// As [`World::leaves_below`], with the leaves of the actions that have to be taken.
    fn leaves_below(
        &self,
        world: &mut World,
        leaves: &Arc<Leaves>,
        depth: u32,
        next_ids: NextIds,
    ) -> Option<u64> {
        let mut rest = Vec::new();
        let count = world.leaves_below(leaves, depth, next_ids, &mut rest)?;
        let moves = rest.into_iter().map(|(action, args)| Move { action, args });
        Some(count + moves.map(|it| self.below(world, &it, depth)).sum::<u64>())
    }

    fn leaves_of(&self, world: &mut World, action: &Action, none_can_fail: bool) -> u64 {
        match leaves_of(world, self.contract, self.mode, action, none_can_fail) {
            LeavesOfAction::Counted(count) => count,
            LeavesOfAction::ToTake(moves) => moves.iter().map(|it| self.below(world, it, 1)).sum(),
        }
    }

    fn below(&self, world: &mut World, mv: &Move, depth: u32) -> u64 {
        after(world, mv, |world| self.count(world, depth - 1)).unwrap_or(0)
    }
}

/// A position of a perft list and its published counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerftRecord {
    pub id: String,
    /// The first four fields of a FEN, or more.
    pub epd: String,
    /// Depth and nodes, in the order of the list.
    pub counts: Vec<(u32, u64)>,
    /// The line of the `epd`.
    pub line: usize,
}

/// A malformed line of a perft list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: found {found:?}, expected {expected}")]
pub struct PerftListError {
    pub line: usize,
    pub found: String,
    pub expected: &'static str,
}

/// Reads a `.perft` list: `id NAME` (which may be left out), `epd FEN`, then `perft DEPTH NODES` lines; `#` begins a
/// comment.
///
/// # Errors
/// The first line that has none of these forms, or is a count before any position.
pub fn read_perft_list(text: &str) -> Result<Vec<PerftRecord>, PerftListError> {
    let mut records: Vec<PerftRecord> = Vec::new();
    let mut id = String::new();
    for (number, raw) in (1..).zip(text.lines()) {
        let line = raw.split('#').next().unwrap_or_default().trim();
        let fault = |expected| PerftListError { line: number, found: line.into(), expected };
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "" => {}
            "id" => id = rest.trim().into(),
            "epd" => records.push(PerftRecord {
                id: std::mem::take(&mut id),
                epd: rest.trim().into(),
                counts: Vec::new(),
                line: number,
            }),
            "perft" => {
                let count = count_of(rest).ok_or_else(|| fault("a depth and a number of nodes"))?;
                let record = records.last_mut().ok_or_else(|| fault("an epd line first"))?;
                record.counts.push(count);
            }
            _ => return Err(fault("id, epd or perft")),
        }
    }
    Ok(records)
}

fn count_of(text: &str) -> Option<(u32, u64)> {
    let (depth, nodes) = text.trim().split_once(' ')?;
    Some((depth.parse().ok()?, nodes.trim().parse().ok()?))
}
