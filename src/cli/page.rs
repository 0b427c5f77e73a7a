//! `rulemate presets --pages DIR`: one page per preset, with its picture, and an index of them.
//!
//! Everything on a page comes from the preset's file and from playing by it: `.meta` lines, options
//! with their defaults, the rules, a diagram of the start, and a row of perft counts.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::args::{DEFAULT_GAME, RulesArgs};
use super::output::{OrFix, Out, progress};
use super::{Verdict, setup, svg};
use crate::game::{Finding, Game};
use crate::moves::perft;
use crate::presets::{Catalogue, OptionEntry, PresetEntry, Ruleset};

/// Depth of the row of perft counts.
const DEPTH: u32 = 3;
/// After a count above this, no further depth is counted: one more ply would take minutes.
const MANY: u64 = 10_000;

/// Writes all pages to a folder, which is created if need be.
pub(crate) fn write_all(dir: &Path, rules: &RulesArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let catalogue = setup::catalogue(rules)?;
    let place = || format!("name a folder that can be written, not {}", dir.display());
    fs::create_dir_all(dir).or_fix(place())?;
    let bar = progress(catalogue.presets().len() as u64, "pages");
    for preset in catalogue.presets() {
        let mut page = Page::new(&catalogue, preset)?;
        fs::write(dir.join(format!("{}.md", preset.preset)), page.text()?).or_fix(place())?;
        fs::write(dir.join(format!("{}.svg", preset.preset)), page.picture()).or_fix(place())?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    fs::write(dir.join("README.md"), index(&catalogue)).or_fix(place())?;
    out.line(format_args!("{} pages in {}", catalogue.presets().len(), dir.display()))?;
    Ok(Verdict::Fine)
}

fn index(catalogue: &Catalogue) -> String {
    let mut presets: Vec<&PresetEntry> = catalogue.presets().iter().collect();
    presets.sort_by(|a, b| a.preset.cmp(&b.preset));
    let rows = presets.iter().map(|it| {
        let PresetEntry { preset, name, description, .. } = it;
        format!("| [`{preset}`]({preset}.md) | {name} | {description} |\n")
    });
    format!(
        "# Presets\n\nWritten by `rulemate presets --pages docs/presets` from the rule files. To write one of your \
         own, see [your first preset](../first-preset.md).\n\n| preset | name | what it changes |\n|---|---|---|\n{}",
        rows.collect::<String>()
    )
}

/// A page that is being written.
struct Page<'c> {
    catalogue: &'c Catalogue,
    preset: &'c PresetEntry,
    /// The name of the game that the preset is shown on.
    base: &'c str,
    /// The presets that are active in `game`: those that the preset requires, then itself.
    active: Vec<String>,
    rules: Ruleset,
    /// The base game with these presets, at its start.
    game: Game,
}

/// A position that shows what a preset does.
struct Example {
    game: String,
    fen: String,
    requests: String,
    sentence: String,
}

impl<'c> Page<'c> {
    fn new(catalogue: &'c Catalogue, preset: &'c PresetEntry) -> anyhow::Result<Self> {
        let active = catalogue.with_required(&[&preset.preset]);
        let base = catalogue.game_for(preset, DEFAULT_GAME);
        let rules = catalogue
            .load(base, &active)
            .or_fix(format!("`rulemate check` says more about {}", preset.preset))?;
        let game = setup::start(&rules, None)?;
        Ok(Self { catalogue, preset, base, active, rules, game })
    }

    /// The position of the first example, or else the start.
    fn picture(&self) -> String {
        let example = self.examples().first().and_then(|it| self.set_up(it).ok());
        let mut game = example.unwrap_or_else(|| self.game.clone());
        svg::draw(&mut game, &Finding::Unfounded)
    }

    fn text(&mut self) -> anyhow::Result<String> {
        let PresetEntry { preset, name, description, .. } = self.preset;
        let mut page = format!("# {name} (`{preset}`)\n\n{description}.\n\n");
        let mut switches = Vec::new();
        if self.base != DEFAULT_GAME {
            switches.push(format!("--game {}", self.base));
        }
        switches.extend(self.active.iter().map(|it| format!("--preset {it}")));
        let switches = switches.join(" ");
        let caption = if self.examples().is_empty() { "The start" } else { "The example" };
        // Writing to a string does not fail.
        let _ =
            writeln!(page, "```sh\nrulemate moves {switches}\n```\n\n![{caption}]({preset}.svg)\n");
        self.outcomes(&mut page)?;
        self.options(&mut page);
        self.compatibility(&mut page);
        self.list(&mut page, "Known elsewhere as", "also");
        self.list(&mut page, "Differences from other sites", "differs");
        self.counts(&mut page);
        page.push_str("\n## The rules\n");
        for source in self.catalogue.files_of(preset) {
            let (path, text) = (&source.path, source.text.trim_end());
            let _ = write!(page, "\n`{path}`:\n\n```prolog\n{text}\n```\n");
        }
        Ok(page)
    }

    /// The examples in the preset's file, lines `.meta example "GAME; FEN; REQUEST REQUEST; SENTENCE"`.
    fn examples(&self) -> Vec<Example> {
        let lines = self.catalogue.notes_of(&self.preset.preset, "example");
        let example = |line: String| {
            let mut parts = line.splitn(4, "; ").map(String::from);
            Some(Example {
                game: parts.next()?,
                fen: parts.next()?,
                requests: parts.next()?,
                sentence: parts.next()?,
            })
        };
        lines.into_iter().filter_map(example).collect()
    }

    /// The game of an example, at its position.
    fn set_up(&self, example: &Example) -> anyhow::Result<Game> {
        let rules = self.catalogue.load::<&str>(&example.game, &[]);
        let rules =
            rules.or_fix(format!("an example of {} needs that game", self.preset.preset))?;
        setup::start(&rules, Some(&example.fen))
    }

    /// The examples, with the outcome of each request.
    fn outcomes(&self, page: &mut String) -> anyhow::Result<()> {
        for example in self.examples() {
            let mut game = self.set_up(&example)?;
            let Example { game: name, fen, requests, sentence } = &example;
            let _ = writeln!(page, "## An example\n\n{sentence}. In `{name}`, from `{fen}`:\n");
            for request in requests.split(' ') {
                let outcome = match game.play_text(request) {
                    Ok(record) => record.notes().join(", "),
                    Err(why) => format!("refused. {why}"),
                };
                let _ = writeln!(page, "* `{request}`: {outcome}");
            }
            page.push('\n');
        }
        Ok(())
    }

    fn options(&self, page: &mut String) {
        let options = self.catalogue.options_of(self.rules.program(), &self.preset.preset);
        if options.is_empty() {
            return;
        }
        page.push_str(
            "## Options\n\n| option | takes | default | what it does |\n|---|---|---|---|\n",
        );
        for OptionEntry { name, takes, default, text } in options {
            let default = default.unwrap_or_default();
            let _ = writeln!(page, "| `{name}` | {takes} | `{default}` | {text} |");
        }
        page.push('\n');
    }

    /// The presets that this one requires and excludes, and the games that use it.
    fn compatibility(&self, page: &mut String) {
        let PresetEntry { preset, requires, incompatible, .. } = self.preset;
        if !requires.is_empty() {
            let _ = writeln!(page, "Requires {}.\n", linked(requires));
        }
        if !incompatible.is_empty() {
            page.push_str("Does not go with:\n\n");
            for (other, reason) in incompatible {
                let _ = writeln!(page, "* [`{other}`]({other}.md): {reason}");
            }
            page.push('\n');
        }
        let games = self.catalogue.games().iter().filter(|it| it.has(preset));
        let games: Vec<String> = games.map(|it| format!("`{}`", it.name)).collect();
        if !games.is_empty() {
            let _ = writeln!(page, "Played in the games {}.\n", games.join(", "));
        }
    }

    /// The `.meta` lines of a key as a list.
    fn list(&self, page: &mut String, title: &str, key: &str) {
        let lines = self.catalogue.notes_of(&self.preset.preset, key);
        if !lines.is_empty() {
            let items: String = lines.iter().map(|it| format!("* {it}\n")).collect();
            let _ = writeln!(page, "## {title}\n\n{items}");
        }
    }

    fn counts(&mut self, page: &mut String) {
        let contract = self.rules.contract().clone();
        let world = self.game.world_mut();
        let mut counts: Vec<String> = Vec::new();
        for depth in 1..=DEPTH {
            let nodes = perft(world, &contract, depth);
            counts.push(nodes.to_string());
            if nodes > MANY {
                break;
            }
        }
        let start = match self.base {
            DEFAULT_GAME => "the orthodox start".to_owned(),
            game => format!("the start of `{game}`"),
        };
        let plies = counts.len();
        let _ = writeln!(page, "Perft from {start}, to {plies} plies: {}.", counts.join(", "));
    }
}

fn linked(names: &[String]) -> String {
    let links: Vec<String> = names.iter().map(|it| format!("[`{it}`]({it}.md)")).collect();
    links.join(", ")
}
