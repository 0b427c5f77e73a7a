//! What a position is worth where a side has a single piece left and the other side has to win by threatening it: the
//! less room the last piece has, and the nearer the other side's pieces are to it, the nearer is the end.
//!
//! Such an end may be further off than any search sees, and what squares are worth says nothing of how pieces stand to each
//! other. Room and nearness follow from the squares that each piece could go to if it were alone on the board.

use foldhash::{HashMap, HashMapExt};

use super::knowledge::{Knowledge, Standing, actor, alone, index_of, sizes};
use crate::derive::World;
use crate::facts::EntityId;
use crate::moves::{Contract, pseudo_moves};
use crate::rules::Type;

/// The room of the last piece is the squares that it reaches within this number of actions.
const WITHIN: u8 = 3;
/// What a place without any room is worth to the other side, compared with the place of the most room.
const CORNERED: usize = 300;
/// What it is worth to be nearer to the last piece by one action.
const NEARER: i32 = 15;
/// Distance at which a piece is near enough: a nearer one might be taken.
const NEAR: u8 = 2;
/// The distance of a square that is never reached.
const NEVER: u8 = u8::MAX;

/// The numbers of actions from each square to each other square.
type Distances = Vec<Vec<u8>>;

/// The last piece of a side.
#[derive(Debug)]
pub(super) struct LastPiece {
    /// Its side.
    pub(super) side: usize,
    kinds: usize,
    /// By its square, what its lack of room is worth to the other side.
    cornered: Vec<i32>,
    /// By the kind of a piece of the other side, its square, and that of the last piece: what its nearness is worth.
    nearness: HashMap<usize, Vec<Vec<i32>>>,
}

impl LastPiece {
    /// The last piece of a side; `None` unless games of two sides have threats, and the other side has a piece that moves
    /// more freely.
    pub(super) fn of(
        world: &mut World,
        contract: &Contract,
        knowledge: &Knowledge,
        standing: &[Standing],
    ) -> Option<Self> {
        let program = world.program().clone();
        let [kinds, squares, sides] = sizes(&program, contract);
        let pieces = |side| standing.iter().filter(move |it| it.side == side && it.kind < kinds);
        if sides != 2 || !knowledge.has_threats() {
            return None;
        }
        let side = (0..2).find(|it| pieces(*it).count() == 1 && pieces(1 - it).count() > 1)?;
        let (mut own, mut distances) = (None, HashMap::new());
        let entities: Vec<EntityId> = world.facts().entities_with(contract.at.attr).collect();
        for piece in entities {
            let Some(kind) = index_of(world, piece, contract.kind.attr) else { continue };
            match index_of(world, piece, contract.color.attr) {
                Some(it) if it == side => {
                    own = Some(between(&destinations(world, contract, piece, squares)));
                }
                Some(_) if !distances.contains_key(&kind) => {
                    let found = between(&destinations(world, contract, piece, squares));
                    distances.insert(kind, found);
                }
                _ => (),
            }
        }
        let own = own?;
        let freedom = |it: &Distances| room(it, 1).sum::<usize>();
        if !distances.values().any(|it| freedom(it) > freedom(&own)) {
            return None;
        }
        let most = room(&own, WITHIN).max().filter(|it| *it > 0)?;
        let cornered =
            room(&own, WITHIN).map(|it| ((most - it) * CORNERED / most) as i32).collect();
        let nearness = distances.iter().map(|(kind, it)| (*kind, nearness(it))).collect();
        Some(Self { side, kinds, cornered, nearness })
    }

    /// What the place of the last piece is worth to the other side: never less than nothing, so that it gives no piece for a
    /// draw.
    pub(super) fn worth(&self, standing: &[Standing]) -> i32 {
        let is_own = |it: &&Standing| it.side == self.side && it.kind < self.kinds;
        let Some(square) = standing.iter().find(is_own).and_then(|it| it.square) else { return 0 };
        let others = standing.iter().filter(|it| it.side != self.side);
        let near = others
            .filter_map(|it| self.nearness.get(&it.kind)?.get(it.square?)?.get(square).copied());
        self.cornered.get(square).copied().unwrap_or_default() + near.sum::<i32>()
    }
}

/// The squares that a piece could go to from each square, alone on the board.
fn destinations(
    world: &mut World,
    contract: &Contract,
    piece: EntityId,
    squares: usize,
) -> Vec<Vec<usize>> {
    let program = world.program().clone();
    let is_square = |ty: Type| ty == Type::Domain(contract.board.domain);
    alone(world, contract, piece, |world| {
        let from = |square: usize| {
            world.set_raw(piece, contract.at.attr, Some(square as i64));
            let moves = pseudo_moves(world);
            let own = moves.iter().filter(|it| actor(&program, it) == Some(piece));
            let named = own.flat_map(|it| program.action(it.action).columns.iter().zip(&it.args));
            let named = named.filter(|it| is_square(it.0.ty));
            let others = named.filter_map(|it| usize::try_from(*it.1).ok());
            others.filter(|it| *it != square && *it < squares).collect()
        };
        (0..squares).map(from).collect()
    })
}

/// The distances between all squares.
fn between(destinations: &[Vec<usize>]) -> Distances {
    let from = |square: usize| {
        let mut distances = vec![NEVER; destinations.len()];
        distances[square] = 0;
        let (mut reached, mut actions) = (vec![square], 0);
        while !reached.is_empty() && actions < NEVER - 1 {
            actions += 1;
            let mut next = Vec::new();
            for &to in reached.iter().flat_map(|it| &destinations[*it]) {
                if distances[to] == NEVER {
                    distances[to] = actions;
                    next.push(to);
                }
            }
            reached = next;
        }
        distances
    };
    (0..destinations.len()).map(from).collect()
}

/// What a piece's nearness is worth, by its square and that of the last piece: nothing at the greatest distance.
fn nearness(distances: &Distances) -> Vec<Vec<i32>> {
    let counted = |it: &u8| (*it).max(NEAR);
    let all = distances.iter().flatten().filter(|it| **it != NEVER);
    let most = all.map(counted).max().unwrap_or(NEAR);
    let worth = |it: &u8| NEARER * i32::from(most.saturating_sub(counted(it)));
    distances.iter().map(|it| it.iter().map(worth).collect()).collect()
}

/// By square, the number of squares that are reached from it within so many actions.
fn room(distances: &Distances, within: u8) -> impl Iterator<Item = usize> {
    distances.iter().map(move |it| it.iter().filter(|to| (1..=within).contains(*to)).count())
}
