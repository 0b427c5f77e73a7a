//! Facts as they are typed: `attacks(e4, d5)`, read into rows of a relation.
//!
//! A square in the place of a piece means every piece that stands there; `_` means anything.

use super::names::entity_type;
use super::output::trouble;
use crate::derive::World;
use crate::facts::nearest;
use crate::moves::Contract;
use crate::rules::{Column, Program, RelId, Type};

/// A question about a relation: patterns of rows (`None` is anything), any of which may hold. There
/// is none if a square was given for a piece and nothing stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) rel: RelId,
    pub(crate) patterns: Vec<Vec<Option<i64>>>,
}

/// Reads a fact.
///
/// # Errors
/// The text is no fact of this program: no such relation, not its columns, no such value.
pub(crate) fn read(world: &mut World, contract: &Contract, text: &str) -> anyhow::Result<Asked> {
    let program = world.program().clone();
    let (name, args) = split(text).ok_or_else(|| {
        trouble(
            format!("`{text}` is not a fact"),
            "write RELATION(ARG, ...), as in attacks(e4, d5)",
        )
    })?;
    let rel = program.relation_named(name).ok_or_else(|| no_relation(&program, name))?;
    let columns = &program.relation(rel).columns;
    if columns.len() != args.len() {
        let names: Vec<&str> = columns.iter().map(|it| it.name.as_str()).collect();
        return Err(trouble(
            format!("{name} has {} columns, not {}", columns.len(), args.len()),
            format!("write {name}({}), with _ for anything", names.join(", ")),
        ));
    }
    let mut patterns = vec![Vec::new()];
    for (column, arg) in columns.iter().zip(args) {
        let values = values(world, contract, column, arg)?;
        patterns = patterns
            .iter()
            .flat_map(|row| values.iter().map(move |it| [row.as_slice(), &[*it]].concat()))
            .collect();
    }
    Ok(Asked { rel, patterns })
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

fn no_relation(program: &Program, name: &str) -> anyhow::Error {
    let fix = match nearest(name, program.relations.iter().map(|it| it.name.as_str())) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            "relations are declared in rules/*.dl by .decl, .input, .static and .action".to_owned()
        }
    };
    trouble(format!("no relation `{name}` in the rules of this game"), fix)
}

/// The values that an argument may stand for.
fn values(
    world: &mut World,
    contract: &Contract,
    column: &Column,
    arg: &str,
) -> anyhow::Result<Vec<Option<i64>>> {
    if arg == "_" {
        return Ok(vec![None]);
    }
    if column.ty == entity_type(world, contract)
        && let Some(square) = world.program().schema.domain(contract.board.domain).member(arg)
    {
        let rows = world.matching(contract.at.rel, &[None, Some(square)]);
        return Ok(rows.iter().map(|row| row.first().copied()).collect());
    }
    match value(world.program(), column.ty, arg) {
        Some(raw) => Ok(vec![Some(raw)]),
        None => Err(trouble(
            format!("`{arg}` is no value of the column `{}`", column.name),
            expected(world.program(), column.ty),
        )),
    }
}

fn value(program: &Program, ty: Type, arg: &str) -> Option<i64> {
    let arg = arg.trim_matches('"').trim_start_matches('\'');
    match ty {
        Type::Domain(id) => program.schema.domain(id).member(arg),
        Type::Int => arg.parse().ok(),
        Type::Text => program.texts.iter().position(|it| it == arg).map(|it| it as i64),
    }
}

fn expected(program: &Program, ty: Type) -> String {
    match ty {
        Type::Domain(id) => {
            let domain = program.schema.domain(id);
            let members = domain.size().min(12) as i64;
            let names: Vec<String> = (0..members).map(|it| domain.member_name(it)).collect();
            let more = if domain.size() > 12 { ", ..." } else { "" };
            format!("write one of {}{more}", names.join(", "))
        }
        Type::Int => "write a number".to_owned(),
        Type::Text => "write a text that the rules mention".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn facts_are_split() {
        assert_eq!(split("attacks( e4 ,d5)."), Some(("attacks", vec!["e4", "d5"])));
        assert_eq!(split("in_check()"), Some(("in_check", vec![])));
        assert_eq!(split("in_check"), Some(("in_check", vec![])));
        assert_eq!(split("attacks(e4"), None);
        assert_eq!(split("e4 e5"), None);
    }
}
