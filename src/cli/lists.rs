//! `rulemate games`, `rulemate presets` and `rulemate layouts`: what can be named.

use serde::Serialize;

use super::Verdict;
use super::args::ListArgs;
use super::output::{Ink, Out};
use super::setup;

#[derive(Debug, Serialize)]
struct Game<'a> {
    name: &'a str,
    title: &'a str,
    aliases: &'a [String],
    start: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<&'a str>,
    presets: &'a [String],
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
    let presets: Vec<Preset<'_>> = catalogue
        .presets()
        .iter()
        .map(|it| Preset { preset: &it.preset, name: &it.name, description: &it.description })
        .collect();
    if args.json {
        out.json(&presets)?;
        return Ok(Verdict::Fine);
    }
    table(presets.iter().map(|it| (it.preset, it.description.to_owned())), out)
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
