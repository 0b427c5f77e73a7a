//! Questions about the position, answered as plain data: is this move legal, does this fact hold,
//! what is true of this square, and why.
//!
//! An answer is a sentence and the lines of its proof or refutation, each with its depth, its place
//! in the rules and the squares it speaks of. How proofs are found is the business of `derive`.

use serde::Serialize;

use crate::derive::World;
use crate::derive::explain::{Proof, Refutation, View, why, why_not};
use crate::facts::nearest;
use crate::moves::notation::{MoveError, MoveFault, parse_san, parse_uci};
use crate::moves::{Contract, Move, is_over};
use crate::rules::{Column, Program, RelId, Role, Type};

use super::names::value_name;
use super::play::Game;
use super::refusal::PlayError;
use super::view::squares_in;

/// A relation and what its rows have to match; any of the patterns will do.
type Asked = (RelId, Vec<Vec<Option<i64>>>);

/// As many rows as are told of a square.
const ROWS: usize = 60;

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    pub question: String,
    /// Whether the move is legal, or the fact holds.
    pub holds: bool,
    pub summary: String,
    pub lines: Vec<Because>,
}

/// One line of a proof or refutation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Because {
    pub depth: usize,
    pub text: String,
    /// `rules/core/attack.dl:12`, or `fact`, or `always`.
    pub place: Option<String>,
    /// The squares that the line speaks of.
    pub squares: Vec<String>,
}

/// A row that holds, as something to ask about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// As [`Game::why_fact`] reads it.
    pub fact: String,
    pub sentence: String,
}

/// Why a question cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    #[error("{0}")]
    Move(#[from] MoveError),
    #[error("`{0}` is not a fact: write RELATION(ARG, ...), as in attacks(e4, d5)")]
    Fact(String),
    #[error("no relation {name} in the rules of this game{}", near.as_ref().map(|it| format!("; did you mean {it}?")).unwrap_or_default())]
    Relation { name: String, near: Option<String> },
    #[error("{relation} has the columns {columns}, not {given} of them")]
    Columns { relation: String, columns: String, given: usize },
    #[error("`{value}` is no value of the column {column}")]
    Value { column: String, value: String },
    #[error("there is no square {0} on this board")]
    Square(String),
}

impl Game {
    /// Proves that a move is legal, or refutes it.
    ///
    /// # Errors
    /// The text is no move at all.
    pub fn why_move(&mut self, text: &str) -> Result<Answer, QuestionError> {
        let contract = self.contract().clone();
        if is_over(self.world_mut(), &contract) {
            let proofs = prove(self.world_mut(), contract.over, &[None, None]);
            return Ok(self.answer(text, false, "is not legal: the game is over", &proofs, &[]));
        }
        match read_move(self.world_mut(), &contract, text) {
            Ok(mv) => {
                let (rel, row) = row_of(self.program(), &mv);
                let proofs = prove(self.world_mut(), rel, &row);
                Ok(self.answer(text, true, "is legal", &proofs, &[]))
            }
            Err(error) if matches!(error.reason, MoveFault::Malformed { .. }) => Err(error.into()),
            Err(error) => Ok(self.refute_move(text, &error)),
        }
    }

    fn refute_move(&mut self, text: &str, error: &MoveError) -> Answer {
        let Some(mv) = error.candidate() else {
            return self.answer(text, false, &format!("is not legal: {}", error.reason), &[], &[]);
        };
        let (rel, row) = row_of(self.program(), mv);
        let Some(it) = why_not(&self.world_mut().materialised(), rel, &row) else {
            // The rules allow the action itself: what it leads to decides.
            let reason = match self.play(&mv.clone()) {
                Err(PlayError::Illegal(it)) => it.reasons.join("; "),
                _ => error.reason.to_string(),
            };
            return self.answer(text, false, &format!("is not legal: {reason}"), &[], &[]);
        };
        let reason = self.in_view(|view| it.reason(view).unwrap_or_else(|| it.summary(view)));
        self.answer(text, false, &format!("is not legal: {reason}"), &[], &[it])
    }

    /// Proves a fact, written like `attacks(e4, d5)`, or refutes it. A square in the place of a
    /// piece means every piece that stands there; `_` means anything.
    ///
    /// # Errors
    /// The text is no fact of these rules.
    pub fn why_fact(&mut self, text: &str) -> Result<Answer, QuestionError> {
        let (rel, patterns) = self.read_fact(text)?;
        let world = self.world_mut();
        let proofs: Vec<Proof> = patterns.iter().flat_map(|it| prove(world, rel, it)).collect();
        if !proofs.is_empty() {
            return Ok(self.answer(text, true, "holds", &proofs, &[]));
        }
        if patterns.is_empty() {
            return Ok(self.answer(text, false, "does not hold: nothing stands there", &[], &[]));
        }
        let rows = self.world_mut().materialised();
        let all: Vec<Refutation> =
            patterns.iter().filter_map(|it| why_not(&rows, rel, it)).collect();
        Ok(self.answer(text, false, "does not hold", &[], &all))
    }

    /// What holds of a square and of what stands on it: derived rows with a sentence.
    ///
    /// # Errors
    /// There is no such square.
    pub fn rows_about(&mut self, square: &str) -> Result<Vec<Row>, QuestionError> {
        let contract = self.contract().clone();
        let program = self.program().clone();
        let board = program.schema.domain(contract.board.domain);
        let raw = board.member(square).ok_or_else(|| QuestionError::Square(square.into()))?;
        let here = self.world_mut().matching(contract.at.rel, &[None, Some(raw)]);
        let pieces: Vec<i64> = here.iter().filter_map(|it| it.first().copied()).collect();
        let entities = program.relation(contract.at.rel).columns.first().map(|it| it.ty);
        let mut found = Vec::new();
        for (at, relation) in program.relations.iter().enumerate() {
            let told = matches!(relation.role, Role::Derived | Role::Input(_));
            if !told || relation.sentence.is_empty() || found.len() >= ROWS {
                continue;
            }
            let rel = RelId(at as u16);
            for (place, column) in relation.columns.iter().enumerate() {
                let wanted: &[i64] = match column.ty {
                    ty if Some(ty) == entities && place == 0 => &pieces,
                    Type::Domain(it) if it == contract.board.domain => &[raw],
                    _ => continue,
                };
                for &value in wanted {
                    let mut pattern = vec![None; relation.columns.len()];
                    pattern[place] = Some(value);
                    found.extend(
                        self.world_mut().matching(rel, &pattern).into_iter().map(|it| (rel, it)),
                    );
                }
            }
        }
        found.sort();
        found.dedup();
        found.truncate(ROWS);
        Ok(found.into_iter().map(|(rel, tuple)| self.row(rel, &tuple)).collect())
    }

    fn row(&mut self, rel: RelId, tuple: &[i64]) -> Row {
        let program = self.program().clone();
        let contract = self.contract().clone();
        let relation = program.relation(rel);
        let args: Vec<String> = relation
            .columns
            .iter()
            .zip(tuple)
            .map(|(column, &raw)| program.value_name(column.ty, raw))
            .collect();
        let mut sentence = relation.sentence.clone();
        for (column, &raw) in relation.columns.iter().zip(tuple) {
            let name = value_name(
                &program,
                &|entity, attr| self.facts().get_raw(entity, attr),
                &contract,
                column.ty,
                raw,
            );
            sentence = sentence.replace(&format!("{{{}}}", column.name), &name);
        }
        Row { fact: format!("{}({})", relation.name, args.join(", ")), sentence }
    }

    fn read_fact(&mut self, text: &str) -> Result<Asked, QuestionError> {
        let program = self.program().clone();
        let (name, args) = split(text).ok_or_else(|| QuestionError::Fact(text.into()))?;
        let rel = program.relation_named(name).ok_or_else(|| {
            let near = nearest(name, program.relations.iter().map(|it| it.name.as_str()));
            QuestionError::Relation { name: name.into(), near: near.map(String::from) }
        })?;
        let columns = &program.relation(rel).columns;
        if columns.len() != args.len() {
            let names: Vec<&str> = columns.iter().map(|it| it.name.as_str()).collect();
            let (relation, columns) = (name.to_owned(), names.join(", "));
            return Err(QuestionError::Columns { relation, columns, given: args.len() });
        }
        let mut patterns = vec![Vec::new()];
        for (column, arg) in columns.iter().zip(args) {
            let values = self.values(&program, column, arg)?;
            patterns = patterns
                .iter()
                .flat_map(|row| values.iter().map(move |it| [row.as_slice(), &[*it]].concat()))
                .collect();
        }
        Ok((rel, patterns))
    }

    /// The values that an argument may stand for.
    fn values(
        &mut self,
        program: &Program,
        column: &Column,
        arg: &str,
    ) -> Result<Vec<Option<i64>>, QuestionError> {
        if arg == "_" {
            return Ok(vec![None]);
        }
        let contract = self.contract().clone();
        let entities = program.relation(contract.at.rel).columns.first().map(|it| it.ty);
        if Some(column.ty) == entities
            && let Some(square) = program.schema.domain(contract.board.domain).member(arg)
        {
            let rows = self.world_mut().matching(contract.at.rel, &[None, Some(square)]);
            return Ok(rows.iter().map(|row| row.first().copied()).collect());
        }
        let bare = arg.trim_matches('"').trim_start_matches('\'');
        let raw = match column.ty {
            Type::Domain(id) => program.schema.domain(id).member(bare),
            Type::Int => bare.parse().ok(),
            Type::Text => program.texts.iter().position(|it| it == bare).map(|it| it as i64),
        };
        let none = || QuestionError::Value { column: column.name.clone(), value: arg.into() };
        Ok(vec![Some(raw.ok_or_else(none)?)])
    }

    fn answer(
        &mut self,
        question: &str,
        holds: bool,
        verdict: &str,
        proofs: &[Proof],
        refutations: &[Refutation],
    ) -> Answer {
        let text: String = self.in_view(|view| {
            let proofs = proofs.iter().map(|it| it.render(view));
            proofs.chain(refutations.iter().map(|it| it.render(view))).collect()
        });
        let board = self.program().schema.domain(self.contract().board.domain).clone();
        let is_square = |it: &str| board.member(it).is_some();
        let lines = text.lines().map(|it| Because::read(it, &is_square)).collect();
        let summary = format!("{question} {verdict}");
        Answer { question: question.to_owned(), holds, summary, lines }
    }

    fn in_view<T>(&self, f: impl FnOnce(View<'_>) -> T) -> T {
        let (program, contract) = (self.program(), self.contract());
        let names = |ty: Type, raw: i64| {
            value_name(
                program,
                &|entity, attr| self.facts().get_raw(entity, attr),
                contract,
                ty,
                raw,
            )
        };
        f(View { program, names: &names, negations: false })
    }
}

impl Because {
    /// Reads a line of an explanation's text: two blanks a level, the place in brackets at the end.
    fn read(line: &str, is_square: &dyn Fn(&str) -> bool) -> Self {
        let text = line.trim_start();
        let depth = (line.len() - text.len()) / 2;
        let (text, place) = match text.strip_suffix(']').and_then(|it| it.rsplit_once(" [")) {
            Some((text, place)) => (text, Some(place.to_owned())),
            None => (text, None),
        };
        let mut squares = squares_in(text, is_square);
        squares.sort();
        squares.dedup();
        Self { depth, text: text.to_owned(), place, squares }
    }
}

fn row_of(program: &Program, mv: &Move) -> (RelId, Vec<Option<i64>>) {
    (program.action(mv.action).rel, mv.args.iter().copied().map(Some).collect())
}

fn prove(world: &mut World, rel: RelId, pattern: &[Option<i64>]) -> Vec<Proof> {
    let rows = world.matching(rel, pattern);
    let all = world.materialised();
    rows.iter().filter_map(|row| why(&all, rel, row)).collect()
}

/// Reads a move as UCI, and if it has not that form, as SAN.
fn read_move(world: &mut World, contract: &Contract, text: &str) -> Result<Move, MoveError> {
    match parse_uci(world, contract, text) {
        Err(MoveError { reason: MoveFault::Malformed { .. }, .. }) => {
            parse_san(world, contract, text)
        }
        other => other,
    }
}

/// The relation's name and the arguments, blanks removed. A flag may be written without brackets.
fn split(text: &str) -> Option<(&str, Vec<&str>)> {
    let text = text.trim().trim_end_matches('.');
    let Some((name, rest)) = text.split_once('(') else {
        let is_name = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
        return is_name.then(|| (text, Vec::new()));
    };
    let inner = rest.trim_end().strip_suffix(')')?.trim();
    let args = match inner {
        "" => Vec::new(),
        _ => inner.split(',').map(str::trim).collect(),
    };
    Some((name.trim(), args))
}
