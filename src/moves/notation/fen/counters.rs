//! A number per side, in a FEN field: `3+3` before the move counters, or `+1+0` after them, as a file
//! declares it (`.meta fen "counters RELATION"`, `"counters +RELATION"`). A missing number is `-`.

use crate::derive::World;
use crate::facts::EntityId;

use super::super::super::contract::Contract;
use super::super::super::finder::Counters;
use super::parts::{By, FenError, FenField, Parts};

/// The number of each side in a text.
pub(super) type Numbers = Vec<Option<i64>>;

/// The field, if the game has it at this place and the next word is one.
pub(super) fn read(parts: &mut Parts<'_>, signed: bool) -> Result<Option<Numbers>, FenError> {
    let By { program, contract, .. } = parts.by;
    if contract.counters.is_none_or(|it| it.signed != signed) {
        return Ok(None);
    }
    let Some(part) = parts.take_if(FenField::Counters, |it| it.contains('+') && !it.contains('='))
    else {
        return Ok(None);
    };
    let count = usize::try_from(contract.side_count(program)).unwrap_or_default();
    let text = if signed { part.text.strip_prefix('+') } else { Some(part.text) };
    let value = |it: &str| match it {
        "-" => Some(None),
        _ => it.parse().ok().map(Some),
    };
    let numbers: Option<Numbers> = text.and_then(|it| it.split('+').map(value).collect());
    match numbers.filter(|it| it.len() == count) {
        Some(numbers) => Ok(Some(numbers)),
        None => {
            let example = vec!["N"; count].join("+");
            let sign = if signed { "+" } else { "" };
            Err(part.refuse(format!("a number of each side, {sign}{example}")))
        }
    }
}

/// States the numbers of a text, or without them those of the start.
pub(super) fn place(world: &mut World, contract: &Contract, numbers: Option<&Numbers>) {
    let Some(Counters { fact, .. }) = contract.counters else { return };
    let start = world.program().schema.attribute(fact.attr).default;
    for side in 0..contract.side_count(world.program()) {
        let number = numbers.and_then(|it| it.get(usize::try_from(side).ok()?).copied());
        let Ok(member) = u32::try_from(side) else { continue };
        world.set_raw(EntityId(member), fact.attr, number.unwrap_or(start));
    }
}

/// The field, if the game has it at this place and some side has a number.
pub(super) fn write(world: &World, contract: &Contract, signed: bool) -> Option<String> {
    let Counters { fact, .. } = contract.counters.filter(|it| it.signed == signed)?;
    let sides = 0..u32::try_from(contract.side_count(world.program())).ok()?;
    let values: Numbers = sides.map(|it| world.facts().get_raw(EntityId(it), fact.attr)).collect();
    values.iter().find_map(|it| *it)?;
    let text = |it: &Option<i64>| it.map_or_else(|| "-".into(), |it| it.to_string());
    let texts: Vec<String> = values.iter().map(text).collect();
    Some(format!("{}{}", if signed { "+" } else { "" }, texts.join("+")))
}
