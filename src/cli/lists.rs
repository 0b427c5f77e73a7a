//! `rulemate games`, `rulemate presets` and `rulemate layouts`: what can be named.

use serde::Serialize;

use super::Verdict;
use super::args::{DEFAULT_GAME, ListArgs, PresetsArgs};
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
    /// What it takes, in words.
    #[serde(skip)]
    takes: String,
}

impl From<OptionEntry> for Choice {
    fn from(it: OptionEntry) -> Self {
        let takes = it.takes.to_string();
        let (ty, range, values, of) = match it.takes {
            OptionType::Bool => ("bool", None, None, None),
            OptionType::Int(range) => ("int", range, None, None),
            OptionType::Word(values) => ("word", None, Some(values), None),
            OptionType::List(of) => ("list", None, None, Some(of)),
        };
        let OptionEntry { name, default, text, .. } = it;
        Self { name, ty, range, values, of, default, text, takes }
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

pub(crate) fn presets(args: &PresetsArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let catalogue = setup::catalogue(&args.rules)?;
    let fix = || "`rulemate presets` lists them".to_owned();
    let named = args.names.iter().map(|it| catalogue.find_preset(it).or_fix(fix()));
    let named: Vec<&PresetEntry> = named.collect::<anyhow::Result<_>>()?;
    if named.is_empty() && !args.json {
        let presets = catalogue.presets().iter();
        return table(presets.map(|it| (it.preset.as_str(), it.description.clone())), out);
    }
    let entries = if named.is_empty() { catalogue.presets().iter().collect() } else { named };
    let presets = entries.into_iter().map(|it| in_full(&catalogue, it));
    let presets: Vec<Preset<'_>> = presets.collect::<anyhow::Result<_>>()?;
    if args.json {
        out.json(&presets)?;
    } else {
        for (at, preset) in presets.iter().enumerate() {
            if at > 0 {
                out.line("")?;
            }
            tell(preset, out)?;
        }
    }
    Ok(Verdict::Fine)
}

/// All about a preset, for people.
fn tell(preset: &Preset<'_>, out: &mut Out) -> anyhow::Result<()> {
    let name = out.ink(Ink::Strong, preset.preset);
    out.line(format_args!("{name}: {}", preset.name))?;
    out.line(preset.description)?;
    let words = |it: &[String]| it.join(", ");
    let mut rows = vec![("rules", preset.file.to_owned()), ("scopes", words(&preset.scopes))];
    let takes = |it: &Choice| match &it.default {
        Some(default) => format!("{}={default}: {}; {}", it.name, it.text, it.takes),
        None => format!("{}: {}; {}", it.name, it.text, it.takes),
    };
    rows.extend(preset.options.iter().map(|it| ("option", takes(it))));
    rows.extend(preset.requires.iter().map(|it| ("requires", it.clone())));
    let clash = |it: &Clash<'_>| ("not with", format!("{}: {}", it.preset, it.reason));
    rows.extend(preset.incompatible.iter().map(clash));
    rows.push(("adds to", words(&preset.hooks.relations)));
    rows.push(("reacts to", words(&preset.hooks.reactions)));
    rows.push(("states", words(&preset.attributes)));
    rows.push(("games", preset.games.join(", ")));
    for (what, text) in rows.into_iter().filter(|it| !it.1.is_empty()) {
        let what = out.ink(Ink::Dim, format_args!("{what:9}"));
        out.line(format_args!("  {what}  {text}"))?;
    }
    Ok(())
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
