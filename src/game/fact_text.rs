//! Reads facts as they are typed, rows of any relation: `attacks(e4, d5)`.
//!
//! A square instead of a piece means every piece that stands there; `_` means anything.

use crate::derive::Exhausted;
use crate::facts::nearest;
use crate::moves::notation::{MoveError, MoveFault};
use crate::rules::{Column, Program, RelId, Type, plural};

use super::play::Game;
use super::refusal::PlayError;

/// A question about a relation: whether a row matches any of the patterns (`None` matches anything). There are no
/// patterns if a square was given for a piece and nothing stands on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) rel: RelId,
    pub(super) patterns: Vec<Vec<Option<i64>>>,
}

/// Maximum number of members of a domain that an error lists.
const LISTED: usize = 12;
/// Maximum number of combinations of pieces about which one question asks.
const PATTERNS: usize = 1024;

/// Why a question cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum QuestionError {
    #[error("{0}")]
    Move(#[from] MoveError),
    #[error("an action before the last one cannot be taken: {0}")]
    Before(Box<PlayError>),
    #[error("`{0}` is not a fact")]
    Fact(String),
    #[error("no relation `{name}` in the rules of this game{}", meant(.near))]
    Relation { name: String, near: Option<String> },
    #[error("{relation} has {}, not {given}: {relation}({})", plural(columns.len(), "column"), columns.join(", "))]
    Columns { relation: String, columns: Vec<String>, given: usize },
    #[error("`{value}` is no value of the column `{column}`")]
    Value { column: String, value: String, expected: String },
    #[error("there is no square {0} on this board")]
    Square(String),
    #[error(transparent)]
    Limit(#[from] Exhausted),
}

fn meant(near: &Option<String>) -> String {
    near.as_ref().map(|it| format!("; did you mean `{it}`?")).unwrap_or_default()
}

impl QuestionError {
    /// Advice on how to write the question instead.
    pub fn help(&self) -> String {
        match self {
            Self::Move(MoveError { reason: MoveFault::Illegal { .. }, .. }) => {
                "--why-not tells why it is not legal".into()
            }
            Self::Move(_) => {
                "write an action as it is listed, in UCI or SAN (in chess e2e4 or e4)".into()
            }
            Self::Before(_) => {
                "write the actions of one turn, with commas between them: the last is explained"
                    .into()
            }
            Self::Fact(_) => "write RELATION(ARG, ...), as in attacks(e4, d5)".into(),
            Self::Relation { .. } => {
                "relations are declared in rules/*.dl by .decl, .input, .static and .action".into()
            }
            Self::Columns { relation, columns, .. } if columns.is_empty() => {
                format!("write {relation}()")
            }
            Self::Columns { relation, columns, .. } => {
                format!("write {relation}({}), with _ for anything", columns.join(", "))
            }
            Self::Value { expected, .. } => format!("write {expected}"),
            Self::Limit(_) => {
                "the rules ask for too much; --depth asks for less of the tree, --turn MOVE for one action"
                    .into()
            }
            Self::Square(_) => "write a square by its file and its rank, as in e4".into(),
        }
    }
}

impl Game {
    /// Reads a fact as it is typed.
    ///
    /// # Errors
    /// The text is not a fact of this program: there is no such relation, it has other columns, or there is
    /// no such value.
    pub(super) fn read_fact(&mut self, text: &str) -> Result<Asked, QuestionError> {
        let program = self.program().clone();
        let (name, args) = split(text).ok_or_else(|| QuestionError::Fact(text.into()))?;
        let rel = relation_meant(&program, name)?;
        let columns = &program.relation(rel).columns;
        if columns.len() != args.len() {
            let (relation, given) = (name.to_owned(), args.len());
            let columns = columns.iter().map(|it| it.name.clone()).collect();
            return Err(QuestionError::Columns { relation, columns, given });
        }
        let mut patterns = vec![Vec::new()];
        for (column, arg) in columns.iter().zip(args) {
            let values = self.values(&program, column, arg)?;
            let all = patterns
                .iter()
                .flat_map(|row| values.iter().map(move |it| [row.as_slice(), &[*it]].concat()));
            patterns = all.take(PATTERNS).collect();
        }
        Ok(Asked { rel, patterns })
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
        let is_entity = Some(column.ty) == contract.entity_type(program);
        if is_entity && let Some(square) = program.schema.domain(contract.board.domain).member(arg)
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
        let none = || QuestionError::Value {
            column: column.name.clone(),
            value: arg.into(),
            expected: match is_entity {
                true => {
                    "a square, for what stands on it, or the number of an entity, as in #1".into()
                }
                false => expected(program, column.ty),
            },
        };
        Ok(vec![Some(raw.ok_or_else(none)?)])
    }
}

/// The relation of that name.
pub(super) fn relation_meant(program: &Program, name: &str) -> Result<RelId, QuestionError> {
    program.relation_meant(name).ok_or_else(|| {
        let near = match program.full_names(name).as_slice() {
            [] => nearest(name, program.nameable().map(|it| it.name.as_str())).map(String::from),
            several => Some(several.join("` or `")),
        };
        QuestionError::Relation { name: name.into(), near }
    })
}

/// The relation's name and the arguments, trimmed. Without columns, parentheses may be left out.
fn split(text: &str) -> Option<(&str, Vec<&str>)> {
    let text = text.trim().trim_end_matches('.');
    let Some((name, rest)) = text.split_once('(') else {
        let is_part = |c: char| c.is_alphanumeric() || "_-:".contains(c);
        let is_name = !text.is_empty() && text.chars().all(is_part);
        return is_name.then(|| (text, Vec::new()));
    };
    let inner = rest.trim_end().strip_suffix(')')?.trim();
    // A text in quotes may have commas in it.
    let mut is_quoted = false;
    let separates = |it: char| {
        is_quoted ^= it == '"';
        it == ',' && !is_quoted
    };
    let args = match inner {
        "" => Vec::new(),
        _ => inner.split(separates).map(str::trim).collect(),
    };
    Some((name.trim(), args))
}

fn expected(program: &Program, ty: Type) -> String {
    match ty {
        Type::Domain(id) => {
            let domain = program.schema.domain(id);
            let names: Vec<String> = domain.member_names().take(LISTED).collect();
            let more = if domain.size() > LISTED { ", ..." } else { "" };
            format!("one of {}{more}", names.join(", "))
        }
        Type::Int => "a number".to_owned(),
        Type::Text => "a text that the rules mention".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn facts_are_split() {
        assert_eq!(split("attacks( e4 ,d5)."), Some(("attacks", vec!["e4", "d5"])));
        assert_eq!(split("calm()"), Some(("calm", vec![])));
        assert_eq!(split("calm"), Some(("calm", vec![])));
        assert_eq!(split("named(e4, \"a, b\")"), Some(("named", vec!["e4", "\"a, b\""])));
        assert_eq!(split("attacks(e4"), None);
        assert_eq!(split("e4 e5"), None);
    }
}
