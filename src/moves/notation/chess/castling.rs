//! Rights to castle in a FEN: read, stated as facts, written. `.meta fen "shredder"` writes them as
//! file letters.
//!
//! `.meta fen "unmoved RELATION"` adds the files of other pieces that have not moved (`KQBCDFG`): pieces on the home rank
//! for which that flag is true. Pieces with a right to castle have the flag as well, but no second letter. In such a game
//! a file letter never is a right to castle.
//!
//! **Castling letters.** `K` and `Q` (the initials of the wings) mean the outermost rook of the
//! wing, a file letter means the rook on that file, both on the side's home rank, which is its
//! enemy's last. If several castling pieces stand there, a rook castles with the one on the file right of
//! the middle (the e-file of eight), or else with the nearest, whichever letter is used.

use std::collections::BTreeSet;

use crate::derive::World;
use crate::facts::{Domain, EntityId};

use super::super::super::contract::Contract;
use super::super::super::finder::AttrInput;
use super::super::super::names::entity_of;
use super::super::fen::parts::{FenError, Part, Placed, initial, initials};
use super::Oddity;
use super::roles::{Castling, FenStyle};

/// A castling right as read.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Right {
    letter: char,
    side: i64,
    rook: RookOf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RookOf {
    /// The outermost rook of that wing.
    Wing(i64),
    /// The rook on that file, from 0.
    File(i64),
}

impl Castling {
    pub(super) fn read(&self, part: Part<'_>) -> Result<Vec<Right>, FenError> {
        let mut rights: Vec<Right> = Vec::new();
        if part.text == "-" {
            return Ok(rights);
        }
        let wings = part.rules.program.schema.domain(self.wings);
        for (at, letter) in part.text.char_indices() {
            let lower = letter.to_ascii_lowercase();
            let wing = initials(wings).find(|it| it.1 == lower).map(|it| RookOf::Wing(it.0));
            let file = u32::from(lower).checked_sub(u32::from('a'));
            let file = file.filter(|&it| it < u32::from(part.rules.contract.board.files));
            // A wing's initial that is also a file (a board of eleven files has a k) means the wing.
            let rook =
                wing.or_else(|| file.map(|it| RookOf::File(i64::from(it)))).ok_or_else(|| {
                    let wings: String =
                        initials(wings).map(|it| it.1.to_ascii_uppercase()).collect();
                    let expected =
                        format!("-, wings ({wings}) or file letters, each in either case");
                    part.error(at, format!("{letter:?}"), expected)
                })?;
            let side = i64::from(letter.is_ascii_lowercase());
            if rights.iter().any(|it| it.side == side && it.rook == rook) {
                let expected = "each letter once";
                return Err(part.error(at, format!("{letter:?} again"), expected));
            }
            rights.push(Right { letter, side, rook });
        }
        Ok(rights)
    }

    /// Gives a rook its right to castle.
    pub(super) fn place(
        &self,
        world: &mut World,
        contract: &Contract,
        pieces: &[(EntityId, Placed)],
        right: &Right,
    ) -> Result<(), Oddity> {
        let home = home_rank(world, self, pieces, right.side);
        if let (Some(unmoved), RookOf::File(file)) = (self.unmoved, right.rook) {
            let file_of = |it: &Placed| it.square.map(|it| contract.board.file(it));
            let piece = home.iter().find(|it| file_of(&it.1) == Some(file));
            let piece = piece.ok_or(Oddity::NothingUnmoved { file: right.letter })?.0;
            world.set_raw(piece, unmoved.attr, Some(1));
            return Ok(());
        }
        let chosen = self.pair(world, contract, &home, right)?;
        let partner = self.right.attr;
        if world.facts().contains(chosen.rook, partner) {
            return Err(Oddity::SameRook { right: right.letter });
        }
        world.set_raw(chosen.rook, partner, Some(i64::from(chosen.castler.0)));
        if let Some(unmoved) = self.unmoved {
            world.set_raw(chosen.rook, unmoved.attr, Some(1));
            world.set_raw(chosen.castler, unmoved.attr, Some(1));
        }
        Ok(())
    }

    /// The rook of a right, with the piece that castles with it.
    fn pair(
        &self,
        world: &mut World,
        contract: &Contract,
        home: &[(EntityId, Placed)],
        right: &Right,
    ) -> Result<Pair, Oddity> {
        let castlers: Vec<_> =
            home.iter().filter(|it| world.contains(self.castler, &[it.1.kind])).copied().collect();
        if castlers.is_empty() {
            return Err(Oddity::NoCastler { right: right.letter });
        }
        let mut pairs = Vec::new();
        for &rook in home {
            if world.contains(self.castling_rook, &[rook.1.kind]) {
                pairs.extend(Pair::of_rook(world, contract, self, &castlers, rook));
            }
        }
        let is_meant = |it: &Pair| match right.rook {
            RookOf::File(file) => it.file == file,
            RookOf::Wing(wing) => it.wing == wing && it.is_outermost(&pairs),
        };
        let at = pairs.iter().position(is_meant);
        at.map(|it| pairs.swap_remove(it)).ok_or(Oddity::NoRook { right: right.letter })
    }

    pub(super) fn write(&self, world: &mut World, contract: &Contract) -> String {
        let rooks: Vec<EntityId> = world.facts().entities_with(self.right.attr).collect();
        let mut written: Vec<WrittenRight> =
            rooks.into_iter().filter_map(|it| written_right(world, contract, self, it)).collect();
        written.sort();
        let unmoved = self.unmoved.map(|it| unmoved_files(world, contract, self, it));
        let unmoved = unmoved.unwrap_or_default();
        let program = world.program();
        let wings = program.schema.domain(self.wings);
        let mut text = String::new();
        for side in 0..contract.side_count(program) {
            let rights = written.iter().filter(|it| it.side == side);
            text.extend(rights.map(|it| letter(it, wings, self.style)));
            let files = unmoved.iter().filter(|it| it.0 == side);
            text.extend(files.map(|it| file_letter(it.0, it.1)));
        }
        if text.is_empty() { "-".into() } else { text }
    }
}

/// A rook and the piece that castles with it. The rook determines that piece, so that a right means the same
/// however it is written: see the module's head.
struct Pair {
    castler: EntityId,
    rook: EntityId,
    wing: i64,
    /// The file of the castling piece.
    from: i64,
    /// The file of the rook.
    file: i64,
}

impl Pair {
    /// Prefers the castling piece in the centre, then the nearest.
    fn of_rook(
        world: &mut World,
        contract: &Contract,
        roles: &Castling,
        castlers: &[(EntityId, Placed)],
        (rook, rook_at): (EntityId, Placed),
    ) -> Option<Self> {
        let (board, corner) = (contract.board, rook_at.square?);
        let file = board.file(corner);
        let mut pairs = Vec::new();
        for &(castler, at) in castlers.iter().filter(|it| it.0 != rook) {
            let Some(square) = at.square else { continue };
            let Some(wing) = wing_of(world, roles, square, corner) else { continue };
            pairs.push(Self { castler, rook, wing, from: board.file(square), file });
        }
        let off_centre = |it: &Self| it.from != i64::from(board.files) / 2;
        pairs.into_iter().min_by_key(|it| (off_centre(it), it.distance(it.file)))
    }

    /// The distance of the castling piece from a file.
    fn distance(&self, file: i64) -> i64 {
        (self.from - file).abs()
    }

    /// Whether no other rook of the wing is further from the castling piece.
    fn is_outermost(&self, pairs: &[Self]) -> bool {
        let is_out = |it: &Self| (it.file - self.from).signum() == (self.file - self.from).signum();
        let mut others = pairs.iter().filter(|it| is_out(it));
        !others.any(|it| self.distance(it.file) > self.distance(self.file))
    }
}

/// The pieces of a side on its home rank.
fn home_rank(
    world: &mut World,
    roles: &Castling,
    pieces: &[(EntityId, Placed)],
    side: i64,
) -> Vec<(EntityId, Placed)> {
    let opponent = i64::from(side == 0);
    pieces
        .iter()
        .filter(|it| {
            let is_home = |square| world.contains(roles.last_rank, &[opponent, square]);
            it.1.side == side && it.1.square.is_some_and(is_home)
        })
        .copied()
        .collect()
}

/// A castling right to write; the fields are in the order by which rights are sorted.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct WrittenRight {
    side: i64,
    wing: i64,
    /// Number of the side's rooks further out on the wing.
    inner: usize,
    file: i64,
}

fn letter(right: &WrittenRight, wings: &Domain, style: FenStyle) -> char {
    let by_wing = style == FenStyle::XFen && right.inner == 0;
    match by_wing.then(|| initial(wings, right.wing)).flatten() {
        Some(initial) => of_side(right.side, initial),
        None => file_letter(right.side, right.file),
    }
}

fn file_letter(side: i64, file: i64) -> char {
    let letter = u8::try_from(file).ok().and_then(|it| b'a'.checked_add(it)).map(char::from);
    of_side(side, letter.unwrap_or('?'))
}

fn of_side(side: i64, letter: char) -> char {
    if side == 0 { letter.to_ascii_uppercase() } else { letter }
}

/// The unmoved pieces on home ranks that have no part in a right to castle, by side and file.
fn unmoved_files(
    world: &mut World,
    contract: &Contract,
    roles: &Castling,
    unmoved: AttrInput,
) -> BTreeSet<(i64, i64)> {
    let facts = world.facts();
    let rights = facts.entities_with(roles.right.attr);
    let castling: BTreeSet<i64> = rights
        .flat_map(|it| [Some(i64::from(it.0)), facts.get_raw(it, roles.right.attr)])
        .flatten()
        .collect();
    let others = facts.entities_with(unmoved.attr).filter_map(|it| {
        let is_other = !castling.contains(&i64::from(it.0));
        let is_unmoved = is_other && facts.get_raw(it, unmoved.attr) == Some(1);
        let side = is_unmoved.then(|| facts.get_raw(it, contract.color.attr))??;
        Some((side, facts.get_raw(it, contract.at.attr)?))
    });
    let others: Vec<(i64, i64)> = others.collect();
    let is_home = |world: &mut World, (side, square): (i64, i64)| {
        world.contains(roles.last_rank, &[i64::from(side == 0), square])
    };
    let home = others.into_iter().filter(|it| is_home(world, *it));
    home.map(|(side, square)| (side, contract.board.file(square))).collect()
}

/// The right of a rook that has one.
fn written_right(
    world: &mut World,
    contract: &Contract,
    roles: &Castling,
    rook: EntityId,
) -> Option<WrittenRight> {
    let facts = world.facts();
    let castler = entity_of(facts.get_raw(rook, roles.right.attr)?)?;
    let side = facts.get_raw(rook, contract.color.attr)?;
    let from = facts.get_raw(castler, contract.at.attr)?;
    let corner = facts.get_raw(rook, contract.at.attr)?;
    let wing = wing_of(world, roles, from, corner)?;
    let board = contract.board;
    let distance = |square: i64| (board.file(square) - board.file(from)).abs();
    let further = contract.pieces_of(world.facts(), Some(side)).into_iter().filter(|it| {
        distance(it.square) > distance(corner)
            && world.contains(roles.castling_rook, &[it.kind])
            && wing_of(world, roles, from, it.square) == Some(wing)
    });
    let inner = further.count();
    Some(WrittenRight { side, wing, inner, file: board.file(corner) })
}

/// The wing of a castling piece on which a rook stands, by their squares.
fn wing_of(world: &mut World, roles: &Castling, from: i64, corner: i64) -> Option<i64> {
    world.first(roles.wing, &[Some(from), Some(corner), None]).map(|it| it[2])
}
