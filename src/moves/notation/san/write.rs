//! Writes moves of a position in SAN.

use crate::derive::World;
use crate::facts::EntityId;

use super::super::super::action::{Move, legal_moves};
use super::super::super::contract::Contract;
use super::super::super::names::entity_of;
use super::super::super::template::{Disambiguation, SquarePart, disambiguate, render};
use super::super::super::turn::is_stuck;
use super::super::chess::{BECOMES, strikes_beside};
use super::super::read_letters::letters_of;
use super::super::uci::to_uci;

/// The SAN of a legal move. A move whose text in the usual form or by the action's template would be
/// ambiguous is written as in UCI.
pub fn to_san(world: &mut World, contract: &Contract, mv: &Move) -> String {
    let moves = legal_moves(world, contract);
    let legal = Legal::of(world, &moves);
    text_of(world, contract, &legal, mv)
}

/// The legal moves with their texts, sorted by text.
pub fn san_listing(world: &mut World, contract: &Contract) -> Vec<(String, Move)> {
    let moves = legal_moves(world, contract);
    let legal = Legal::of(world, &moves);
    let text = |it: &Move| (text_of(world, contract, &legal, it), it.clone());
    let mut rows: Vec<_> = moves.iter().map(text).collect();
    rows.sort();
    rows
}

/// [`to_san`] where the legal moves are known.
pub(super) fn text_of(
    world: &mut World,
    contract: &Contract,
    legal: &Legal<'_>,
    mv: &Move,
) -> String {
    let draft = SanDraft::new(world, contract, legal, mv);
    world.taking_back(|world| match world.fire(mv.action, &mv.args) {
        Ok(()) => draft.after(world, contract),
        Err(_) => draft.text(false),
    })
}

/// The part of a legal move's SAN that the position before it determines. Whether the move captures and gives check is
/// read off the position after it, so that a move that is played anyway need not be played once more for its text.
#[derive(Debug)]
pub struct SanDraft {
    texts: Texts,
    mover: Option<i64>,
    /// Number of pieces of other sides before the move.
    enemies: usize,
    /// Whether the position before the move shows that it captures.
    captures: bool,
}

/// The text of a move, without signs of check, if it captures nothing and if it captures.
#[derive(Debug)]
struct Texts {
    quiet: String,
    capture: String,
}

impl Texts {
    fn same(text: String) -> Self {
        Self { quiet: text.clone(), capture: text }
    }
}

impl SanDraft {
    /// The part that the position before the move determines.
    pub fn of(world: &mut World, contract: &Contract, mv: &Move) -> Self {
        let moves = legal_moves(world, contract);
        let legal = Legal::of(world, &moves);
        Self::new(world, contract, &legal, mv)
    }

    fn new(world: &mut World, contract: &Contract, legal: &Legal<'_>, mv: &Move) -> Self {
        let program = world.program().clone();
        let action = program.action(mv.action);
        let usual = Usual::of(world, contract, mv);
        // Only UCI can write unlisted arguments.
        let texts = match (&action.san, &usual) {
            _ if !action.given(&mv.args).is_empty() => None,
            (Some(_), _) => legal.text(mv).map(Texts::same),
            (None, Some(usual)) => usual.texts(world, contract, legal.moves),
            (None, None) => None,
        };
        let texts = texts.unwrap_or_else(|| Texts::same(to_uci(world, mv)));
        let mover = contract.mover(world.facts());
        let captures = shows_capture(world, contract, usual.as_ref(), mv);
        Self { texts, mover, enemies: count_enemies(world, contract, mover), captures }
    }

    /// The text, in the position after the move.
    pub fn after(self, world: &mut World, contract: &Contract) -> String {
        let removes = count_enemies(world, contract, self.mover) < self.enemies;
        let suffix =
            if contract.has_no_suffixes { "" } else { suffix(world, contract, self.mover) };
        self.text(removes) + suffix
    }

    /// The text without signs of check; `removes` tells whether a piece of another side is gone after the move.
    fn text(self, removes: bool) -> String {
        let Texts { quiet, capture } = self.texts;
        if self.captures || removes { capture } else { quiet }
    }
}

/// Whether a move in the usual form is written as a capture.
pub(super) fn captures(world: &mut World, contract: &Contract, mv: &Move) -> bool {
    let usual = Usual::of(world, contract, mv);
    if shows_capture(world, contract, usual.as_ref(), mv) {
        return true;
    }
    let mover = contract.mover(world.facts());
    let before = count_enemies(world, contract, mover);
    world.taking_back(|world| {
        world.fire(mv.action, &mv.args).is_ok() && count_enemies(world, contract, mover) < before
    })
}

/// Whether the position before a move shows that it captures.
fn shows_capture(world: &mut World, contract: &Contract, usual: Option<&Usual>, mv: &Move) -> bool {
    usual.is_some_and(|it| is_enemy_on(world, contract, it.to))
        || strikes_beside(world, contract, mv)
}

fn count_enemies(world: &World, contract: &Contract, mover: Option<i64>) -> usize {
    let facts = world.facts();
    let pieces = facts.entities_with(contract.at.attr);
    pieces.filter(|&it| facts.get_raw(it, contract.color.attr) != mover).count()
}

/// `#` if the game is won by either side, in any way; else `+` if a royal piece of another side than the
/// mover's is attacked.
fn suffix(world: &mut World, contract: &Contract, mover: Option<i64>) -> &'static str {
    if is_decided(world, contract) {
        return "#";
    }
    contract.notation.suffix(world, contract, mover)
}

/// Whether the game is over, and won by some side.
fn is_decided(world: &mut World, contract: &Contract) -> bool {
    let mut results = world.tuples(contract.over);
    if let Some(stuck) = contract.stuck
        && results.is_empty()
        && is_stuck(world, contract)
    {
        results = world.tuples(stuck);
    }
    results.iter().any(|row| world.first(contract.wins, &[None, Some(row[0])]).is_some())
}

/// The legal moves, and the texts of those whose actions have templates, in the order of the moves.
pub(super) struct Legal<'m> {
    moves: &'m [Move],
    texts: Vec<Option<String>>,
}

impl<'m> Legal<'m> {
    pub(super) fn of(world: &mut World, moves: &'m [Move]) -> Self {
        let program = world.program().clone();
        let template = |mv: &Move| program.action(mv.action).san.as_ref();
        let known = moves.iter().map(|it| disambiguate(world, template(it)?, it));
        let known: Vec<Option<Disambiguation>> = known.collect();
        let part = |own: &Disambiguation| {
            let rivals = known.iter().flatten().filter(|it| it.keys == own.keys);
            let others = rivals.map(|it| &it.square).filter(|it| **it != own.square);
            shortest_part(&own.square, &others.collect::<Vec<_>>())
        };
        let texts = moves.iter().zip(&known).map(|(mv, own)| {
            let part = own.as_ref().map_or(SquarePart::Nothing, part);
            Some(render(world, template(mv)?, mv, part))
        });
        Self { moves, texts: texts.collect() }
    }

    /// The text of a move, unless it is not listed or another legal move has the same.
    fn text(&self, mv: &Move) -> Option<String> {
        let at = self.moves.iter().position(|it| it == mv)?;
        let text = self.texts.get(at)?.as_ref()?;
        let same = self.texts.iter().flatten().filter(|it| *it == text).count();
        (same == 1).then(|| text.clone())
    }

    /// The moves that are written as this text by a template.
    pub(super) fn written_as(&self, text: &str) -> Vec<Move> {
        let written = self.moves.iter().zip(&self.texts);
        let written = written.filter(|it| it.1.as_deref() == Some(text));
        written.map(|it| it.0.clone()).collect()
    }
}

/// The shortest part of a square's name that distinguishes it from others: nothing if there are none, else its file,
/// else its rank, else both.
fn shortest_part(own: &str, others: &[impl AsRef<str>]) -> SquarePart {
    let shared = |part: SquarePart| others.iter().any(|it| part.of(it.as_ref()) == part.of(own));
    match others.is_empty() {
        true => SquarePart::Nothing,
        false if !shared(SquarePart::File) => SquarePart::File,
        false if !shared(SquarePart::Rank) => SquarePart::Rank,
        false => SquarePart::Whole,
    }
}

/// A move in the usual form: the piece, its target and what it becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Usual {
    pub(super) piece: EntityId,
    pub(super) kind: i64,
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) becomes: Option<i64>,
}

impl Usual {
    /// The move's parts; `None` if the action has a template or lacks the columns.
    pub(super) fn of(world: &World, contract: &Contract, mv: &Move) -> Option<Self> {
        let program = world.program();
        if program.action(mv.action).san.is_some() || !contract.board.is_grid {
            return None;
        }
        let piece = entity_of(mv.arg(program, "piece")?)?;
        let facts = world.facts();
        Some(Self {
            piece,
            kind: facts.get_raw(piece, contract.kind.attr)?,
            from: facts.get_raw(piece, contract.at.attr)?,
            to: mv.arg(program, "to")?,
            becomes: mv.arg(program, BECOMES),
        })
    }

    /// The legal moves that have the same text as this one but for their origin, this one included.
    fn alike(
        &self,
        world: &mut World,
        contract: &Contract,
        legal: &[Move],
        has_no_letter: bool,
    ) -> Vec<Self> {
        let others = legal.iter().filter_map(|it| Self::of(world, contract, it));
        let mut others: Vec<Self> =
            others.filter(|it| it.to == self.to && it.becomes == self.becomes).collect();
        others.retain(|it| {
            it.kind == self.kind || has_no_letter && is_unlettered(world, contract, it.kind)
        });
        others
    }

    /// Its texts; `None` if another legal move would have the same.
    fn texts(&self, world: &mut World, contract: &Contract, legal: &[Move]) -> Option<Texts> {
        let is_unlettered = is_unlettered(world, contract, self.kind);
        let others = self.alike(world, contract, legal, is_unlettered);
        if others.iter().filter(|it| it.piece == self.piece).count() > 1 {
            return None;
        }
        let letters = letters_of(world, contract);
        let letter = if is_unlettered { "" } else { letters.in_moves(self.kind)? };
        let squares = world.program().schema.domain(contract.board.domain);
        let others = others.iter().filter(|it| it.piece != self.piece);
        let origins: Vec<String> = others.map(|it| squares.member_name(it.from)).collect();
        let from = squares.member_name(self.from);
        let part = shortest_part(&from, &origins);
        // A capture without a letter always has the file.
        let part_in_capture = match part {
            SquarePart::Nothing if is_unlettered => SquarePart::File,
            SquarePart::Rank if is_unlettered => SquarePart::Whole,
            part => part,
        };
        let mut target = squares.member_name(self.to);
        if let Some(kind) = self.becomes {
            target.push('=');
            target.push_str(letters.in_moves(kind)?);
        }
        let quiet = format!("{letter}{}{target}", part.of(&from));
        let capture = format!("{letter}{}x{target}", part_in_capture.of(&from));
        Some(Texts { quiet, capture })
    }
}

/// Whether moves of a kind are written without a letter, as those of pawns: it is pawn-like, and has no `san_letter`.
pub(super) fn is_unlettered(world: &mut World, contract: &Contract, kind: i64) -> bool {
    let letter = |it| !world.matching(it, &[Some(kind), None]).is_empty();
    let has_letter = contract.san_letter.is_some_and(letter);
    !has_letter && contract.notation.unlettered.is_some_and(|it| world.contains(it, &[kind]))
}

fn is_enemy_on(world: &mut World, contract: &Contract, square: i64) -> bool {
    let mover = contract.mover(world.facts());
    let standing = world.matching(contract.at.rel, &[None, Some(square)]);
    let facts = world.facts();
    standing.iter().filter_map(|row| entity_of(row[0])).any(|it| {
        let color = facts.get_raw(it, contract.color.attr);
        color.is_some() && color != mover
    })
}
