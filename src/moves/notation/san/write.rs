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
        Err(_) => draft.refused(),
    })
}

/// The part of a legal move's SAN that the position before it determines. Whether the move captures and gives check is
/// read off the position after it, so that a move that is played anyway need not be played once more for its text.
#[derive(Debug)]
pub struct SanDraft {
    body: Body,
    mover: Option<i64>,
    /// Number of pieces of other sides before the move.
    enemies: usize,
    /// Whether a piece is captured elsewhere than on the destination.
    captures_elsewhere: bool,
}

#[derive(Debug)]
enum Body {
    Whole(String),
    Usual(Form),
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
        // Only UCI can write unlisted arguments.
        let is_usual = action.given(&mv.args).is_empty();
        let body = match (&action.san, Usual::of(world, contract, mv)) {
            _ if !is_usual => None,
            (Some(_), _) => legal.text(mv).map(Body::Whole),
            (None, Some(usual)) => usual.form(world, contract, legal.moves).map(Body::Usual),
            (None, None) => None,
        };
        let mover = contract.mover(world.facts());
        Self {
            body: body.unwrap_or_else(|| Body::Whole(to_uci(world, mv))),
            mover,
            enemies: count_enemies(world, contract, mover),
            captures_elsewhere: strikes_beside(world, contract, mv),
        }
    }

    /// The text, in the position after the move.
    pub fn after(self, world: &mut World, contract: &Contract) -> String {
        let removes = count_enemies(world, contract, self.mover) < self.enemies;
        let suffix =
            if contract.has_no_suffixes { "" } else { suffix(world, contract, self.mover) };
        let mut text = self.body.text(self.captures_elsewhere || removes);
        text.push_str(suffix);
        text
    }

    /// The text of a move that cannot be taken.
    fn refused(self) -> String {
        self.body.text(self.captures_elsewhere)
    }
}

impl Body {
    fn text(self, captured: bool) -> String {
        match self {
            Self::Whole(text) => text,
            Self::Usual(form) => form.text(captured),
        }
    }
}

/// Whether a move in the usual form is written as a capture.
pub(super) fn captures(world: &mut World, contract: &Contract, mv: &Move) -> bool {
    let usual = Usual::of(world, contract, mv);
    if usual.is_some_and(|it| is_enemy_on(world, contract, it.to))
        || strikes_beside(world, contract, mv)
    {
        return true;
    }
    let mover = contract.mover(world.facts());
    let before = count_enemies(world, contract, mover);
    world.taking_back(|world| {
        world.fire(mv.action, &mv.args).is_ok() && count_enemies(world, contract, mover) < before
    })
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
        let mut known: Vec<Option<Disambiguation>> = Vec::with_capacity(moves.len());
        for mv in moves {
            let own = template(mv).and_then(|it| disambiguate(world, it, mv));
            known.push(own);
        }
        let mut texts = Vec::with_capacity(moves.len());
        for (mv, own) in moves.iter().zip(&known) {
            let part = own.as_ref().map_or(SquarePart::Nothing, |own| {
                let rivals = known.iter().flatten().filter(|it| it.keys == own.keys);
                let others = rivals.map(|it| &it.square).filter(|it| **it != own.square);
                shortest_part(&own.square, &others.collect::<Vec<_>>())
            });
            texts.push(template(mv).map(|it| render(world, it, mv, part)));
        }
        Self { moves, texts }
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

    /// Its text, apart from the sign of a capture; `None` if another legal move would have the same text.
    fn form(&self, world: &mut World, contract: &Contract, legal: &[Move]) -> Option<Form> {
        let is_unlettered = is_unlettered(world, contract, self.kind);
        let others = self.alike(world, contract, legal, is_unlettered);
        if others.iter().filter(|it| it.piece == self.piece).count() > 1 {
            return None;
        }
        let letters = letters_of(world, contract);
        let letter = if is_unlettered { "" } else { letters.in_moves(self.kind)? };
        let is_capture = is_enemy_on(world, contract, self.to);
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
        Some(Form {
            letter: letter.to_owned(),
            origin: part.of(&from).to_owned(),
            origin_of_capture: part_in_capture.of(&from).to_owned(),
            is_capture,
            target,
        })
    }
}

/// The text of a move in the usual form, before it is known whether it captures elsewhere.
#[derive(Debug)]
struct Form {
    letter: String,
    origin: String,
    origin_of_capture: String,
    /// Whether there is a piece to capture on its target.
    is_capture: bool,
    target: String,
}

impl Form {
    fn text(self, captured: bool) -> String {
        let Self { letter, origin, origin_of_capture, is_capture, target } = self;
        match captured || is_capture {
            true => format!("{letter}{origin_of_capture}x{target}"),
            false => format!("{letter}{origin}{target}"),
        }
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
