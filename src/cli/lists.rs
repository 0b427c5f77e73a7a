//! `rulemate games`, `rulemate presets` and `rulemate layouts`: lists the catalogue.

use serde::Serialize;

use super::Verdict;
use super::args::{DEFAULT_GAME, ListArgs};
use super::output::{Ink, OrFix, Out, trouble};
use super::setup;
use crate::presets::{Catalogue, GameEntry, OptionEntry, OptionType, PresetEntry};

#[derive(Debug, Serialize)]
struct Game<'a> {
    name: &'a str,
    title: &'a str,
    /// A few sentences.
    description: &'a str,
    aliases: &'a [String],
    start: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<&'a str>,
    presets: &'a [String],
    /// Facts of the game, as attribute and value.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    facts: &'a [(String, String)],
    /// The option that chooses a start position by number, if there is one.
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
    /// The family of games that the preset is made for; `None` if it fits every game.
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<&'a str>,
    requires: &'a [String],
    incompatible: Vec<Clash<'a>>,
    /// The scopes that the preset can be active for.
    scopes: Vec<String>,
    options: Vec<PresetOption>,
    /// The attributes that its files declare, its options aside.
    attributes: Vec<String>,
    hooks: Hooks,
    /// The games that use the preset.
    games: Vec<&'a str>,
}

#[derive(Debug, Serialize)]
struct Clash<'a> {
    preset: &'a str,
    reason: &'a str,
}

#[derive(Debug, Serialize)]
struct PresetOption {
    name: String,
    #[serde(flatten)]
    takes: Takes,
    default: Option<String>,
    text: String,
    /// The values that it takes, in words.
    #[serde(skip)]
    in_words: String,
}

/// The values that an option takes.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Takes {
    Bool,
    Int {
        #[serde(skip_serializing_if = "Option::is_none")]
        range: Option<(i64, i64)>,
    },
    Word {
        values: Vec<String>,
    },
    List {
        of: String,
    },
}

impl From<OptionEntry> for PresetOption {
    fn from(OptionEntry { name, takes, default, text }: OptionEntry) -> Self {
        let in_words = takes.to_string();
        let takes = match takes {
            OptionType::Bool => Takes::Bool,
            OptionType::Int(range) => Takes::Int { range },
            OptionType::Word(values) => Takes::Word { values },
            OptionType::List(of) => Takes::List { of },
        };
        Self { name, takes, default, text, in_words }
    }
}

/// The relations and events that a preset hooks into.
#[derive(Debug, Serialize)]
struct Hooks {
    /// The relations that the preset adds to.
    relations: Vec<String>,
    /// The events that the preset reacts to, each with its stage.
    reactions: Vec<String>,
}

pub(crate) fn games(args: &ListArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let catalogue = setup::catalogue(&args.rules)?;
    let find = |name: &str| catalogue.find_game(name).or_fix("`rulemate games` lists them");
    let games = chosen(args, catalogue.games(), find)?.into_iter().map(|it| Game {
        name: &it.name,
        title: &it.title,
        description: &it.description,
        aliases: &it.aliases,
        start: &it.start,
        family: it.family.as_deref(),
        layout: it.layout.as_deref(),
        presets: &it.uses,
        facts: &it.facts,
        number: it.numbered.as_ref().map(|it| Number {
            option: &it.option,
            count: it.count(),
            default: it.default,
        }),
    });
    let games: Vec<Game<'_>> = games.collect();
    if args.json {
        out.json(&games)?;
        return Ok(Verdict::Fine);
    }
    if !args.names.is_empty() {
        return print_each(games.iter().map(describe_game), out);
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

fn describe_game<'a>(game: &Game<'a>) -> Description<'a> {
    let fact = |(attribute, value): &(String, String)| format!("{attribute}={value}");
    let number = |Number { option, count, default }: &Number<'_>| {
        format!("{option}={default}: a start position by its number, 0 to {}", count - 1)
    };
    let lines = vec![
        ("also", game.aliases.join(", ")),
        ("start", game.start.to_owned()),
        ("family", game.family.unwrap_or_default().to_owned()),
        ("layout", game.layout.unwrap_or_default().to_owned()),
        ("presets", game.presets.join(", ")),
        ("states", game.facts.iter().map(fact).collect::<Vec<_>>().join(", ")),
        ("option", game.number.as_ref().map(number).unwrap_or_default()),
    ];
    Description { name: game.name, title: game.title, text: game.description, lines }
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
    let find = |name: &str| {
        let known = catalogue.layouts().iter().find(|it| it.name == name);
        known.ok_or_else(|| {
            trouble(format!("there is no layout {name}"), "`rulemate layouts` lists them")
        })
    };
    let layouts = chosen(args, catalogue.layouts(), find)?.into_iter().map(|it| Layout {
        layout: &it.name,
        title: &it.title,
        start: &it.start,
        games: games_of(&it.name),
    });
    let layouts: Vec<Layout<'_>> = layouts.collect();
    if args.json {
        out.json(&layouts)?;
        return Ok(Verdict::Fine);
    }
    if !args.names.is_empty() {
        return print_each(layouts.iter().map(describe_layout), out);
    }
    table(layouts.iter().map(|it| (it.layout, format!("{} ({})", it.title, it.start))), out)
}

fn describe_layout<'a>(layout: &Layout<'a>) -> Description<'a> {
    let lines = vec![("start", layout.start.to_owned()), ("games", layout.games.join(", "))];
    Description { name: layout.layout, title: layout.title, text: "", lines }
}

pub(crate) fn presets(args: &ListArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let catalogue = setup::catalogue(&args.rules)?;
    if args.names.is_empty() && !args.json {
        let presets = catalogue.presets().iter();
        return table(presets.map(|it| (it.preset.as_str(), it.description.clone())), out);
    }
    let find = |name: &str| catalogue.find_preset(name).or_fix("`rulemate presets` lists them");
    let presets = chosen(args, catalogue.presets(), find)?.into_iter();
    let presets = presets.map(|it| in_full(&catalogue, it)).collect::<anyhow::Result<Vec<_>>>()?;
    if args.json {
        out.json(&presets)?;
        return Ok(Verdict::Fine);
    }
    print_each(presets.iter().map(describe_preset), out)
}

fn describe_preset<'a>(preset: &Preset<'a>) -> Description<'a> {
    let takes = |it: &PresetOption| match &it.default {
        Some(default) => format!("{}={default}: {}; {}", it.name, it.text, it.in_words),
        None => format!("{}: {}; {}", it.name, it.text, it.in_words),
    };
    let clash = |it: &Clash<'_>| format!("{}: {}", it.preset, it.reason);
    let mut lines = vec![("rules", preset.file.to_owned()), ("scopes", preset.scopes.join(", "))];
    lines.push(("family", preset.family.unwrap_or("all games").to_owned()));
    lines.extend(preset.options.iter().map(|it| ("option", takes(it))));
    lines.extend(preset.requires.iter().map(|it| ("requires", it.clone())));
    lines.extend(preset.incompatible.iter().map(|it| ("not with", clash(it))));
    lines.push(("adds to", preset.hooks.relations.join(", ")));
    lines.push(("reacts to", preset.hooks.reactions.join(", ")));
    lines.push(("states", preset.attributes.join(", ")));
    lines.push(("games", preset.games.join(", ")));
    Description { name: preset.preset, title: preset.name, text: preset.description, lines }
}

fn in_full<'a>(catalogue: &'a Catalogue, entry: &'a PresetEntry) -> anyhow::Result<Preset<'a>> {
    let fix = format!("`rulemate check {}` says more", catalogue.path_of_preset(entry));
    let found =
        catalogue.particulars(catalogue.game_for(entry, DEFAULT_GAME), entry).or_fix(fix)?;
    let clash = |it: &'a (String, String)| Clash { preset: &it.0, reason: &it.1 };
    let uses = |it: &&GameEntry| it.has(&entry.preset);
    Ok(Preset {
        preset: &entry.preset,
        name: &entry.name,
        description: &entry.description,
        file: catalogue.path_of_preset(entry),
        family: entry.family.as_deref(),
        requires: &entry.requires,
        incompatible: entry.incompatible.iter().map(clash).collect(),
        scopes: found.scopes,
        options: found.options.into_iter().map(PresetOption::from).collect(),
        attributes: found.attributes,
        hooks: Hooks { relations: found.adds_to, reactions: found.reacts_to },
        games: catalogue.games().iter().filter(uses).map(|it| it.name.as_str()).collect(),
    })
}

/// The named entries, or all if none is named.
fn chosen<'c, T>(
    args: &ListArgs,
    all: &'c [T],
    find: impl Fn(&str) -> anyhow::Result<&'c T>,
) -> anyhow::Result<Vec<&'c T>> {
    match args.names.as_slice() {
        [] => Ok(all.iter().collect()),
        names => names.iter().map(|it| find(it)).collect(),
    }
}

/// The details of one entry, for people. Lines without text are left out.
struct Description<'a> {
    name: &'a str,
    title: &'a str,
    text: &'a str,
    lines: Vec<(&'static str, String)>,
}

fn print_each<'a>(
    all: impl Iterator<Item = Description<'a>>,
    out: &mut Out,
) -> anyhow::Result<Verdict> {
    for (at, description) in all.enumerate() {
        if at > 0 {
            out.line("")?;
        }
        let name = out.ink(Ink::Strong, description.name);
        out.line(format_args!("{name}: {}", description.title))?;
        if !description.text.is_empty() {
            out.line(description.text)?;
        }
        for (what, text) in description.lines.into_iter().filter(|it| !it.1.is_empty()) {
            let what = out.ink(Ink::Dim, format_args!("{what:9}"));
            out.line(format_args!("  {what}  {text}"))?;
        }
    }
    Ok(Verdict::Fine)
}

/// Prints a line for each name, sorted, with the texts below each other.
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
