//! A number per side, in a FEN field: `3+3` before the move counters, or `+1+0` after them, as a file
//! declares it (`.meta fen "counters RELATION"`, `"counters +RELATION"`). A missing number is `-`.

use crate::derive::World;
use crate::facts::EntityId;

use super::super::super::contract::Contract;
use super::super::super::finder::{Counters, CountersForm};
use super::parts::{FenError, FenField, FenRules, MAX_COUNTER, Parts};

/// The number of each side in a text.
pub(super) type Numbers = Vec<Option<i64>>;

/// Reads the field, if the game has it in this form and the next word may be it.
pub(super) fn read(parts: &mut Parts<'_>, form: CountersForm) -> Result<Option<Numbers>, FenError> {
    let FenRules { program, contract, .. } = parts.rules;
    if contract.counters.is_none_or(|it| it.form != form) {
        return Ok(None);
    }
    let Some(part) = parts.take_if(FenField::Counters, |it| it.contains('+') && !it.contains('='))
    else {
        return Ok(None);
    };
    let count = usize::try_from(contract.side_count(program)).unwrap_or_default();
    let text = part.text.strip_prefix(form.sign());
    let value = |it: &str| match it {
        "-" => Some(None),
        _ => it.parse().ok().filter(|it| (-MAX_COUNTER..=MAX_COUNTER).contains(it)).map(Some),
    };
    let numbers: Option<Numbers> = text.and_then(|it| it.split('+').map(value).collect());
    match numbers.filter(|it| it.len() == count) {
        Some(numbers) => Ok(Some(numbers)),
        None => {
            let example = vec!["N"; count].join("+");
            let range = format!("from -{MAX_COUNTER} to {MAX_COUNTER}");
            Err(part.refuse(format!("a number of each side, {}{example}, {range}", form.sign())))
        }
    }
}

/// States the numbers of a text; if it has none, those of the start.
pub(super) fn place(world: &mut World, contract: &Contract, numbers: Option<&Numbers>) {
    let Some(Counters { input, .. }) = contract.counters else { return };
    let start = world.program().schema.attribute(input.attr).default;
    for side in 0..contract.side_count(world.program()) {
        let number = numbers.and_then(|it| it.get(usize::try_from(side).ok()?).copied());
        let Ok(member) = u32::try_from(side) else { continue };
        world.set_raw(EntityId(member), input.attr, number.unwrap_or(start));
    }
}

/// The field, if the game has it in this form and some side has a number.
pub(super) fn write(world: &World, contract: &Contract, form: CountersForm) -> Option<String> {
    let Counters { input, .. } = contract.counters.filter(|it| it.form == form)?;
    let sides = 0..u32::try_from(contract.side_count(world.program())).ok()?;
    let values: Numbers = sides.map(|it| world.facts().get_raw(EntityId(it), input.attr)).collect();
    values.iter().find_map(|it| *it)?;
    let text = |it: &Option<i64>| it.map_or_else(|| "-".into(), |it| it.to_string());
    let texts: Vec<String> = values.iter().map(text).collect();
    Some(format!("{}{}", form.sign(), texts.join("+")))
}
