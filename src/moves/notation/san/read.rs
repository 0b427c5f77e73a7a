//! Reads SAN: finds the legal move that a text means.

use crate::derive::{Tuple, World};
use crate::facts::EntityId;
use crate::rules::Program;

use super::super::super::action::{Move, is_over, legal_moves, pseudo_moves};
use super::super::super::contract::{Contract, Standing};
use super::super::super::names::entity_of;
use super::super::super::template::{moves_of, spellings_of};
use super::super::chess::{BECOMES, more_candidates, with_capital_o, without_comments};
use super::super::read_letters::letters_of;
use super::super::uci::parse_uci;
use super::super::{MoveError, MoveFault};
use super::text::{SanParts, parse_usual};
use super::write::{Legal, Usual, captures, is_unlettered, text_of};

/// The legal move that a text means.
///
/// # Errors
/// The game is over; or the text is malformed, writes a capture like a move without one, or means no legal move, or
/// several.
pub fn parse_san(world: &mut World, contract: &Contract, text: &str) -> Result<Move, MoveError> {
    if is_over(world, contract) {
        return Err(MoveError::new(text, MoveFault::Over));
    }
    let reader = SanReader { program: &world.program().clone(), contract };
    // If the game has no signs of check, such a character at the end is part of the move.
    if contract.has_no_suffixes
        && let Ok(mv) = reader.read(world, text.trim())
    {
        return Ok(mv);
    }
    reader.read(world, without_comments(text)).or_else(|fault| {
        // Chess programs that know no SAN write UCI.
        parse_uci(world, contract, without_comments(text)).map_err(|_| MoveError::new(text, fault))
    })
}

struct SanReader<'a> {
    program: &'a Program,
    contract: &'a Contract,
}

impl SanReader<'_> {
    fn read(&self, world: &mut World, text: &str) -> Result<Move, MoveFault> {
        let legal = legal_moves(world, self.contract);
        match self.by_template(world, &legal, &with_capital_o(text)) {
            None => self.in_usual_form(world, &legal, text),
            // It may fit the template of one action, but mean another in the usual form.
            Some(Err(MoveFault::Illegal { mut candidates })) if self.contract.board.is_grid => {
                match self.in_usual_form(world, &legal, text) {
                    Err(MoveFault::Illegal { candidates: usual }) => {
                        candidates.extend(usual);
                        Err(MoveFault::Illegal { candidates })
                    }
                    Err(MoveFault::Malformed { .. } | MoveFault::NoSuchPiece) => {
                        Err(MoveFault::Illegal { candidates })
                    }
                    usual => usual,
                }
            }
            Some(decided) => decided,
        }
    }

    fn in_usual_form(
        &self,
        world: &mut World,
        legal: &[Move],
        text: &str,
    ) -> Result<Move, MoveFault> {
        let board = self.contract.board;
        // Points have no files and ranks for disambiguation, so moves are written in full. Where each action has a
        // template, none is written in the usual form.
        if !board.is_grid || self.program.actions.iter().all(|it| it.san.is_some()) {
            return parse_uci(world, self.contract, text).map_err(|it| it.reason);
        }
        let letters = letters_of(world, self.contract);
        let squares = self.program.schema.domain(board.domain);
        let parts = parse_usual(text, board, squares, &letters)?;
        let mut meant = self.meant(world, legal, &parts);
        if parts.is_destination_alone() {
            let is_capture = |it: &Move| captures(world, self.contract, it);
            let (capturing, others): (Vec<Move>, Vec<Move>) =
                meant.into_iter().partition(is_capture);
            if others.is_empty() && !capturing.is_empty() {
                return Err(MoveFault::Capture { written: self.texts(world, legal, &capturing) });
            }
            meant = others;
        }
        if meant.len() > 1 {
            let texts = self.texts(world, legal, &meant);
            if let Some(at) = texts.iter().position(|it| without_comments(it) == text) {
                return Ok(meant.swap_remove(at));
            }
            return Err(MoveFault::Ambiguous { candidates: texts });
        }
        meant.pop().ok_or_else(|| self.explain_refusal(world, &parts))
    }

    fn texts(&self, world: &mut World, legal: &[Move], moves: &[Move]) -> Vec<String> {
        let legal = Legal::of(world, legal);
        moves.iter().map(|it| text_of(world, self.contract, &legal, it)).collect()
    }

    /// The moves in the usual form that the text fits. A text that does not say what the piece becomes fits all promotions,
    /// unless it fits a move without promotion.
    fn meant(&self, world: &mut World, moves: &[Move], parts: &SanParts) -> Vec<Move> {
        let fitting: Vec<(Move, Option<i64>)> = moves
            .iter()
            .filter_map(|it| {
                let usual = Usual::of(world, self.contract, it)?;
                let fits = usual.to == parts.to && self.fits(world, &usual, parts);
                fits.then(|| (it.clone(), usual.becomes))
            })
            .collect();
        let exact = fitting.iter().filter(|it| it.1 == parts.becomes);
        let exact: Vec<Move> = exact.map(|it| it.0.clone()).collect();
        if exact.is_empty() && parts.becomes.is_none() {
            return fitting.into_iter().map(|it| it.0).collect();
        }
        exact
    }

    fn fits(&self, world: &mut World, usual: &Usual, parts: &SanParts) -> bool {
        let board = self.contract.board;
        parts.file.is_none_or(|it| it == board.file(usual.from))
            && parts.rank.is_none_or(|it| it == board.rank(usual.from))
            && match parts.kind {
                Some(kind) => kind == usual.kind,
                None => is_unlettered(world, self.contract, usual.kind),
            }
    }

    /// Whether all pieces of an action belong to the side to move: such an action was more likely meant.
    fn is_own(&self, world: &World, mv: &Move) -> bool {
        let (program, mover) = (world.program(), self.contract.mover(world.facts()));
        let columns = &program.relation(program.action(mv.action).rel).columns;
        let entity = self.contract.entity_type(program);
        let mut pieces = columns.iter().zip(&mv.args).filter(|it| Some(it.0.ty) == entity);
        pieces.all(|(_, raw)| {
            let piece = entity_of(*raw);
            piece.and_then(|it| world.facts().get_raw(it, self.contract.color.attr)) == mover
        })
    }

    /// Why a text in the usual form is refused: the pseudo-legal moves that it means, or else the
    /// hypothetical moves of the pieces of that kind.
    fn explain_refusal(&self, world: &mut World, parts: &SanParts) -> MoveFault {
        let pseudo_legal = pseudo_moves(world);
        let meant = self.meant(world, &pseudo_legal, parts);
        if !meant.is_empty() {
            return MoveFault::Illegal { candidates: meant };
        }
        let pieces = self.pieces(world, parts);
        if pieces.is_empty() {
            return MoveFault::NoSuchPiece;
        }
        let candidates =
            pieces.iter().filter_map(|it| self.hypothetical_move(*it, parts)).collect();
        MoveFault::Illegal { candidates }
    }

    /// The mover's pieces that the text may mean, the likeliest first: pieces that could go to the destination if nothing
    /// forbade it, then pieces on its file. If only a destination is written, the pieces on its file come before all
    /// others.
    fn pieces(&self, world: &mut World, parts: &SanParts) -> Vec<EntityId> {
        let mover = self.contract.mover(world.facts());
        let own = self.contract.pieces_of(world.facts(), mover).into_iter();
        let moved = |it: Standing| {
            let Standing { piece, kind, square: from } = it;
            Usual { piece, kind, from, to: parts.to, becomes: None }
        };
        let mut fitting: Vec<Usual> =
            own.map(moved).filter(|it| self.fits(world, it, parts)).collect();
        let board = self.contract.board;
        fitting.sort_by_cached_key(|it| {
            let goes = self.contract.notation.goes(world, it.piece, it.to);
            let is_aside = board.file(it.from) != board.file(it.to);
            (parts.is_destination_alone() && is_aside, !goes, is_aside)
        });
        fitting.iter().map(|it| it.piece).collect()
    }

    /// The move of a piece to the destination, whether it can go there or not.
    fn hypothetical_move(&self, piece: EntityId, parts: &SanParts) -> Option<Move> {
        let value = |column: &str| match column {
            "piece" => Some(i64::from(piece.0)),
            "to" => Some(parts.to),
            BECOMES => parts.becomes,
            _ => None,
        };
        let arity = 2 + usize::from(parts.becomes.is_some());
        self.program.actions.iter().filter(|it| it.san.is_none()).find_map(|action| {
            let columns = &self.program.relation(action.rel).columns;
            if columns.len() != arity {
                return None;
            }
            let args: Option<Tuple> = columns.iter().map(|it| value(&it.name)).collect();
            Some(Move { action: action.id, args: args? })
        })
    }

    /// The move of a text that matches the template of an action, or why it is refused; `None` if it matches none.
    fn by_template(
        &self,
        world: &mut World,
        legal: &[Move],
        text: &str,
    ) -> Option<Result<Move, MoveFault>> {
        let mut candidates = Vec::new();
        let mut is_match = false;
        for action in &self.program.actions {
            let Some(template) = &action.san else {
                continue;
            };
            let Ok(spellings) = spellings_of(world, template, action.id, text) else {
                continue;
            };
            is_match = true;
            for spelling in spellings {
                candidates.extend(moves_of(world, action.id, &spelling));
                candidates.extend(more_candidates(world, self.contract, action.id, &spelling));
            }
        }
        if !is_match {
            return None;
        }
        candidates.sort();
        candidates.dedup();
        let meant = Legal::of(world, legal).written_as(text);
        Some(match meant.as_slice() {
            [only] => Ok(only.clone()),
            [] => {
                candidates.sort_by_key(|it| !self.is_own(world, it));
                Err(MoveFault::Illegal { candidates })
            }
            _ => Err(MoveFault::Ambiguous { candidates: self.texts(world, legal, &meant) }),
        })
    }
}
