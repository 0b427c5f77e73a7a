//! The legal move that a SAN text means.

use std::collections::BTreeSet;

use crate::derive::{Tuple, World};
use crate::facts::EntityId;
use crate::rules::{ActionId, Piece, Program, Template, Type};

use super::super::super::action::{Move, column_of, is_over, legal_moves, pseudo_moves};
use super::super::super::contract::{Castling, Contract};
use super::super::super::template::{arguments, keys_of, render, spell};
use super::super::letters::Letters;
use super::super::uci::parse_uci;
use super::super::{MoveError, MoveFault};
use super::text::{Spelled, bare, spelled, with_capital_o};
use super::write::{Usual, captures, is_bare, text_of};

/// The legal move that a text means.
///
/// # Errors
/// The text is malformed, or means no legal move, or several.
pub fn parse_san(world: &mut World, contract: &Contract, text: &str) -> Result<Move, MoveError> {
    if is_over(world, contract) {
        return Err(MoveError::new(text, MoveFault::Over));
    }
    let reader = Reader { program: &world.program().clone(), contract };
    reader.read(world, bare(text)).or_else(|fault| {
        // Programs that know no SAN write UCI.
        parse_uci(world, contract, bare(text)).map_err(|_| MoveError::new(text, fault))
    })
}

struct Reader<'a> {
    program: &'a Program,
    contract: &'a Contract,
}

impl Reader<'_> {
    fn read(&self, world: &mut World, text: &str) -> Result<Move, MoveFault> {
        let legal = legal_moves(world, self.contract);
        if let Some(decided) = self.by_template(world, &legal, &with_capital_o(text)) {
            return decided;
        }
        let board = self.contract.board;
        let letters = Letters::of(world, self.contract);
        let squares = self.program.schema.domain(board.domain);
        let spelled = spelled(text, board, squares, &letters)?;
        let mut meant = self.meant(world, &legal, &spelled);
        if spelled.is_march() {
            let takes = |it: &Move| captures(world, self.contract, self.program, it);
            let (taking, marching): (Vec<Move>, Vec<Move>) = meant.into_iter().partition(takes);
            if marching.is_empty() && !taking.is_empty() {
                return Err(MoveFault::Capture { written: self.texts(world, &legal, &taking) });
            }
            meant = marching;
        }
        if meant.len() > 1 {
            let texts = self.texts(world, &legal, &meant);
            if let Some(at) = texts.iter().position(|it| bare(it) == text) {
                return Ok(meant.swap_remove(at));
            }
            return Err(MoveFault::Ambiguous { candidates: texts });
        }
        meant.pop().ok_or_else(|| self.why_none(world, &spelled))
    }

    fn texts(&self, world: &mut World, legal: &[Move], moves: &[Move]) -> Vec<String> {
        moves.iter().map(|it| text_of(world, self.contract, legal, it)).collect()
    }

    /// The moves in the usual form that the text fits. Without its piece a promotion is all of them.
    fn meant(&self, world: &mut World, moves: &[Move], spelled: &Spelled) -> Vec<Move> {
        let fitting: Vec<(Move, Option<i64>)> = moves
            .iter()
            .filter_map(|it| {
                let usual = Usual::of(world, self.contract, self.program, it)?;
                let fits = usual.to == spelled.to && self.fits(world, &usual, spelled);
                fits.then(|| (it.clone(), usual.promotion))
            })
            .collect();
        let exact = fitting.iter().filter(|it| it.1 == spelled.promotion);
        let exact: Vec<Move> = exact.map(|it| it.0.clone()).collect();
        if exact.is_empty() && spelled.promotion.is_none() {
            return fitting.into_iter().map(|it| it.0).collect();
        }
        exact
    }

    fn fits(&self, world: &mut World, usual: &Usual, spelled: &Spelled) -> bool {
        let board = self.contract.board;
        spelled.file.is_none_or(|it| it == board.file(usual.from))
            && spelled.rank.is_none_or(|it| it == board.rank(usual.from))
            && match spelled.kind {
                Some(kind) => kind == usual.kind,
                None => is_bare(world, self.contract, usual.kind),
            }
    }

    /// What forbids a text in the usual form: the moves that safety alone forbids, or else what
    /// the pieces of that kind would have to do.
    fn why_none(&self, world: &mut World, spelled: &Spelled) -> MoveFault {
        let tries = pseudo_moves(world);
        let tried = self.meant(world, &tries, spelled);
        if !tried.is_empty() {
            return MoveFault::Illegal { candidates: tried };
        }
        let pieces = self.pieces(world, spelled);
        if pieces.is_empty() {
            return MoveFault::NoSuchPiece;
        }
        let candidates = pieces.iter().filter_map(|it| self.imagined(*it, spelled)).collect();
        MoveFault::Illegal { candidates }
    }

    /// The mover's pieces that the text may mean, those on the destination's file first.
    fn pieces(&self, world: &mut World, spelled: &Spelled) -> Vec<EntityId> {
        let facts = world.facts();
        let mover = self.contract.mover(facts);
        let own: Vec<Usual> = facts
            .entities_with(self.contract.at.attr)
            .filter(|&it| facts.get_raw(it, self.contract.color.attr) == mover)
            .filter_map(|piece| {
                Some(Usual {
                    piece,
                    kind: facts.get_raw(piece, self.contract.kind.attr)?,
                    from: facts.get_raw(piece, self.contract.at.attr)?,
                    to: spelled.to,
                    promotion: None,
                })
            })
            .collect();
        let mut fitting: Vec<Usual> =
            own.into_iter().filter(|it| self.fits(world, it, spelled)).collect();
        let board = self.contract.board;
        fitting.sort_by_key(|it| board.file(it.from) != board.file(it.to));
        fitting.iter().map(|it| it.piece).collect()
    }

    /// The move of a piece to the destination, whether it can go there or not.
    fn imagined(&self, piece: EntityId, spelled: &Spelled) -> Option<Move> {
        let value = |column: &str| match column {
            "piece" => Some(i64::from(piece.0)),
            "to" => Some(spelled.to),
            "promotion" => spelled.promotion,
            _ => None,
        };
        let arity = 2 + usize::from(spelled.promotion.is_some());
        self.program.actions.iter().filter(|it| it.san.is_none()).find_map(|action| {
            let columns = &self.program.relation(action.rel).columns;
            if columns.len() != arity {
                return None;
            }
            let args: Option<Tuple> = columns.iter().map(|it| value(&it.name)).collect();
            Some(Move { action: action.id, args: args? })
        })
    }

    /// Decides a text that is written by a template; `None` if no template is spelled so.
    fn by_template(
        &self,
        world: &mut World,
        legal: &[Move],
        text: &str,
    ) -> Option<Result<Move, MoveFault>> {
        let mut candidates = Vec::new();
        let mut is_spelled = false;
        for action in &self.program.actions {
            let Some(template) = &action.san else {
                continue;
            };
            let Ok(spellings) = spell(world, template, action.id, text) else {
                continue;
            };
            is_spelled = true;
            for spelling in spellings {
                for args in arguments(world, template, action.id, &spelling) {
                    candidates.push(Move { action: action.id, args });
                }
                let castling = self.castling(world, template, action.id, &spelling);
                candidates.extend(castling);
            }
        }
        if !is_spelled {
            return None;
        }
        candidates.sort();
        candidates.dedup();
        let meant: Vec<Move> =
            legal.iter().filter(|it| self.is_written(world, it, text)).cloned().collect();
        Some(match meant.as_slice() {
            [only] => Ok(only.clone()),
            [] => Err(MoveFault::Illegal { candidates }),
            _ => Err(MoveFault::Ambiguous { candidates: self.texts(world, legal, &meant) }),
        })
    }

    fn is_written(&self, world: &mut World, mv: &Move, text: &str) -> bool {
        let template = self.program.action(mv.action).san.as_ref();
        template.is_some_and(|it| render(world, it, mv.action, &mv.args) == text)
    }

    /// Castling that cannot even be tried (the way is blocked, the right is lost): the rooks on the
    /// wing that the text names.
    fn castling(
        &self,
        world: &mut World,
        template: &Template,
        action: ActionId,
        spelling: &[(usize, i64)],
    ) -> Vec<Move> {
        let Some(roles) = self.contract.castling else { return Vec::new() };
        let wings = self.wings(world, &roles, template, spelling);
        let columns = &self.program.relation(self.program.action(action).rel).columns;
        let rook_at = column_of(self.program, action, "rook");
        let to_at = column_of(self.program, action, "to");
        let (Some(rook_at), Some(to_at), 2) = (rook_at, to_at, columns.len()) else {
            return Vec::new();
        };
        let mut moves = Vec::new();
        for (rook, corner) in self.rooks(world, &roles, &wings) {
            let written = world.matching(roles.castling_text, &[Some(rook), None]);
            let to = written.first().map_or(corner, |row| row[1]);
            let mut args = Tuple::from_slice(&[0, 0]);
            args[rook_at] = rook;
            args[to_at] = to;
            moves.push(Move { action, args });
        }
        moves
    }

    /// The wings among the values on the way from a spelling to the action's columns.
    fn wings(
        &self,
        world: &mut World,
        roles: &Castling,
        template: &Template,
        spelling: &[(usize, i64)],
    ) -> BTreeSet<i64> {
        let mut wings = BTreeSet::new();
        for &(index, value) in spelling {
            let Some(Piece::Lookup(table, inner)) = template.0.get(index) else {
                continue;
            };
            let Piece::Lookup(inner_table, _) = inner.as_ref() else {
                continue;
            };
            let ty = self.program.relation(*inner_table).columns.last().map(|it| it.ty);
            if ty == Some(Type::Domain(roles.wings)) {
                let step = Piece::Lookup(*table, Box::new(Piece::Column(0)));
                wings.extend(keys_of(world, &step, BTreeSet::from([value])).1);
            }
        }
        wings
    }

    /// The mover's rooks that stand on one of the wings of a piece that castles, with their
    /// squares.
    fn rooks(&self, world: &mut World, roles: &Castling, wings: &BTreeSet<i64>) -> Vec<(i64, i64)> {
        let contract = self.contract;
        let facts = world.facts();
        let mover = contract.mover(facts);
        let own: Vec<(i64, i64, i64)> = facts
            .entities_with(contract.at.attr)
            .filter(|&it| facts.get_raw(it, contract.color.attr) == mover)
            .filter_map(|it| {
                let kind = facts.get_raw(it, contract.kind.attr)?;
                Some((i64::from(it.0), kind, facts.get_raw(it, contract.at.attr)?))
            })
            .collect();
        let mut rooks = Vec::new();
        for &(rook, kind, corner) in &own {
            let is_rook = world.contains(roles.castling_rook, &[kind]);
            let stands = is_rook
                && own.iter().any(|&(_, kind, from)| {
                    world.contains(roles.castler, &[kind])
                        && wings.iter().any(|it| world.contains(roles.wing, &[from, corner, *it]))
                });
            if stands {
                rooks.push((rook, corner));
            }
        }
        rooks
    }
}
