//! `rulemate games`, `rulemate presets` and `rulemate layouts`: what can be named.

use serde::Serialize;

use super::Verdict;
use super::args::{DEFAULT_GAME, ListArgs};
use super::output::{Ink, OrFix, Out};
use super::setup;
use crate::presets::{Catalogue, GameEntry, OptionEntry, OptionType, PresetEntry};

#[derive(Debug, Serialize)]
struct Game<'a> {
    name: &'a str,
    title: &'a str,
    aliases: &'a [String],
    start: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<&'a str>,
    presets: &'a [String],
    /// Facts that it starts with, as attribute and value.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    facts: &'a [(String, String)],
    /// The option that chooses a start position by number, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<Number<'a>>,
}

#[derive(Debug, Serialize)]
struct Number<'a> {
    option: &'a str,
    count: u32,
    default: u32,
}

#[derive(Debug, Serialize)]
struct Preset<'a> {
    preset: &'a str,
    name: &'a str,
    description: &'a str,
    file: &'a str,
    requires: &'a [String],
    incompatible: Vec<Clash<'a>>,
    /// Whom it can be active for.
    scopes: Vec<String>,
    options: Vec<Choice>,
    /// What it states about pieces and about the game.
    attributes: Vec<String>,
    /// Where it takes hold.
    hooks: Hooks,
    /// The games that use it.
    games: Vec<&'a str>,
}

#[derive(Debug, Serialize)]
struct Clash<'a> {
    preset: &'a str,
    reason: &'a str,
}

/// An option. What it takes depends on its type: `range` goes with `int`, `values` with `word`,
/// `of` with `list`.
#[derive(Debug, Serialize)]
struct Choice {
    name: String,
    #[serde(rename = "type")]
    ty: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<(i64, i64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    default: Option<String>,
    text: String,
}

impl From<OptionEntry> for Choice {
    fn from(it: OptionEntry) -> Self {
        let (ty, range, values, of) = match it.takes {
            OptionType::Bool => ("bool", None, None, None),
            OptionType::Int(range) => ("int", range, None, None),
            OptionType::Word(values) => ("word", None, Some(values), None),
            OptionType::List(of) => ("list", None, None, Some(of)),
        };
        let OptionEntry { name, default, text, .. } = it;
        Self { name, ty, range, values, of, default, text }
    }
}

#[derive(Debug, Serialize)]
struct Hooks {
    /// The relations that it adds to.
    relations: Vec<String>,
    /// What it reacts to, each with its stage.
    reactions: Vec<String>,
}

pub(crate) fn games(args: &ListArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let catalogue = setup::catalogue(&args.rules)?;
    let games: Vec<Game<'_>> = catalogue
        .games()
        .iter()
        .map(|it| Game {
            name: &it.name,
            title: &it.title,
            aliases: &it.aliases,
            start: &it.start,
            layout: it.layout.as_deref(),
            presets: &it.uses,
            facts: &it.facts,
            number: it.numbered.as_ref().map(|it| Number {
                option: &it.option,
                count: it.count(),
                default: it.default,
            }),
        })
        .collect();
    if args.json {
        out.json(&games)?;
        return Ok(Verdict::Fine);
    }
    let rows = games.iter().map(|it| {
        let mut text = it.title.to_owned();
        if let Some(number) = &it.number {
            text.push_str(&format!(" [{}=0..{}]", number.option, number.count - 1));
        }
        if !it.aliases.is_empty() {
            text.push_str(&format!(" (also {})", it.aliases.join(", ")));
        }
        (it.name, text)
    });
    table(rows, out)
}

#[derive(Debug, Serialize)]
struct Layout<'a> {
    layout: &'a str,
    title: &'a str,
    start: &'a str,
    games: Vec<&'a str>,
}

pub(crate) fn layouts(args: &ListArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let catalogue = setup::catalogue(&args.rules)?;
    let games_of = |name: &str| {
        let games = catalogue.games().iter().filter(|it| it.layout.as_deref() == Some(name));
        games.map(|it| it.name.as_str()).collect()
    };
    let layouts: Vec<Layout<'_>> = catalogue
        .layouts()
        .iter()
        .map(|it| Layout {
            layout: &it.name,
            title: &it.title,
            start: &it.start,
            games: games_of(&it.name),
        })
        .collect();
    if args.json {
        out.json(&layouts)?;
        return Ok(Verdict::Fine);
    }
    table(layouts.iter().map(|it| (it.layout, format!("{} ({})", it.title, it.start))), out)
}

pub(crate) fn presets(args: &ListArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let catalogue = setup::catalogue(&args.rules)?;
    if !args.json {
        let presets = catalogue.presets().iter();
        return table(presets.map(|it| (it.preset.as_str(), it.description.clone())), out);
    }
    let mut presets = Vec::new();
    for it in catalogue.presets() {
        presets.push(in_full(&catalogue, it)?);
    }
    out.json(&presets)?;
    Ok(Verdict::Fine)
}

fn in_full<'a>(catalogue: &'a Catalogue, entry: &'a PresetEntry) -> anyhow::Result<Preset<'a>> {
    let fix = format!("`rulemate check {}` says more", catalogue.path_of_preset(entry));
    let found = catalogue.particulars(DEFAULT_GAME, entry).or_fix(fix)?;
    let clash = |it: &'a (String, String)| Clash { preset: &it.0, reason: &it.1 };
    let uses = |it: &&GameEntry| {
        it.uses.iter().any(|it| it.split(':').next() == Some(entry.preset.as_str()))
    };
    Ok(Preset {
        preset: &entry.preset,
        name: &entry.name,
        description: &entry.description,
        file: catalogue.path_of_preset(entry),
        requires: &entry.requires,
        incompatible: entry.incompatible.iter().map(clash).collect(),
        scopes: found.scopes,
        options: found.options.into_iter().map(Choice::from).collect(),
        attributes: found.attributes,
        hooks: Hooks { relations: found.adds_to, reactions: found.reacts_to },
        games: catalogue.games().iter().filter(uses).map(|it| it.name.as_str()).collect(),
    })
}

/// Names in a column of their own, sorted.
fn table<'a>(
    rows: impl Iterator<Item = (&'a str, String)>,
    out: &mut Out,
) -> anyhow::Result<Verdict> {
    let mut rows: Vec<(&str, String)> = rows.collect();
    rows.sort();
    let width = rows.iter().map(|it| it.0.len()).max().unwrap_or(0);
    for (name, text) in rows {
        let name = out.ink(Ink::Strong, format_args!("{name:width$}"));
        out.line(format_args!("{name}  {text}"))?;
    }
    Ok(Verdict::Fine)
}
