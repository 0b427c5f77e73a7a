//! Turns of several actions: whether one goes on, whether it may stop, and whether the side to move has a
//! turn.
//!
//! A turn goes on after an action if the same side is to move and the game is not over. If that side then has no action,
//! the turn stops there, unless the rules forbid that (`unfinished()`): then the actions so far are no turn.

use std::collections::HashSet;

use crate::derive::World;
use crate::rules::RelId;

use super::action::{LegalityMode, Move, has_move, is_over, open_moves};
use super::contract::Contract;

/// Maximum number of actions of a turn that are examined; it may have more.
pub(super) const LONGEST: usize = 32;
/// Maximum number of actions that are tried to read the text of a turn.
pub(super) const TRIES: usize = 20_000;

/// Whether a turn may stop at this position.
pub(crate) fn may_stop(world: &mut World, contract: &Contract) -> bool {
    !contract.unfinished.iter().any(|&it| world.any(it))
}

/// Whether the side to move has a turn that it can finish. True without a search if the rules let every turn stop, and
/// if the turn may not stop here: then the side is in the middle of it, and can take its actions back and begin another.
pub(super) fn has_turn(world: &mut World, contract: &Contract) -> bool {
    if contract.unfinished.is_empty() || !may_stop(world, contract) {
        return true;
    }
    can_finish(world, contract, 0, &mut HashSet::new())
}

/// Whether some sequence of actions ends the turn. Positions examined before are skipped.
fn can_finish(
    world: &mut World,
    contract: &Contract,
    taken: usize,
    seen: &mut HashSet<u64>,
) -> bool {
    let moves = open_moves(world, contract, LegalityMode::Declared);
    if moves.is_empty() {
        return taken > 0 && may_stop(world, contract);
    }
    // Turns that are longer, or cannot be searched, are assumed to end.
    if taken >= LONGEST || world.has_run_out() {
        return true;
    }
    moves.iter().any(|mv| can_finish_after(world, contract, mv, taken, seen))
}

/// Whether an action ends the turn, or some sequence of actions after it does.
fn can_finish_after(
    world: &mut World,
    contract: &Contract,
    mv: &Move,
    taken: usize,
    seen: &mut HashSet<u64>,
) -> bool {
    let mover = contract.mover(world.facts());
    world.taking_back(|world| {
        world.fire(mv.action, &mv.args).is_ok()
            && (!goes_on(world, contract, mover)
                || seen.insert(world.facts().hash())
                    && can_finish(world, contract, taken + 1, seen))
    })
}

/// Whether the side to move can finish its turn once it has taken an action. True without a search if the rules let
/// every turn stop.
#[cfg(feature = "bin")]
pub(crate) fn leaves_a_way_on(world: &mut World, contract: &Contract, mv: &Move) -> bool {
    contract.unfinished.is_empty() || can_finish_after(world, contract, mv, 0, &mut HashSet::new())
}

/// Whether the same side is to move, and the game is not over.
pub(crate) fn goes_on(world: &mut World, contract: &Contract, mover: Option<i64>) -> bool {
    contract.mover(world.facts()) == mover && !is_over(world, contract)
}

/// Whether the side to move has no legal action, or no turn that it can finish, if that can be seen only by playing
/// actions out. False in games whose rules decide all actions and let every turn stop: there the rules see it themselves.
pub fn is_stuck(world: &mut World, contract: &Contract) -> bool {
    if is_over(world, contract) {
        return false;
    }
    let has_move = LegalityMode::Declared.is_by_rules(contract) || has_move(world, contract);
    !has_move || !has_turn(world, contract)
}

/// The relation whose rows are the result of the position. That the side to move is stuck counts before all else that may
/// end the game: mate by the last move before a draw by counter is still mate.
pub(crate) fn deciding(world: &mut World, contract: &Contract) -> RelId {
    match contract.stuck {
        Some(stuck) if is_stuck(world, contract) && world.any(stuck) => stuck,
        _ => contract.result,
    }
}
