//! Reads from the `.meta` lines of a rule file what the file is: core, module, game, layout, preset, or part of one.
//!
//! `docs/rules.md` lists the keys. Those that say neither what a file is nor where its game starts are read elsewhere.

use crate::rules::{Meta, Source};

use super::entry::{GameEntry, LayoutEntry, PartEntry, PresetEntry};
use super::error::CatalogueError;
use super::numbered::Numbered;

/// The purpose of a file.
pub(super) enum Purpose {
    Core,
    /// Part of that family.
    Family(String),
    Module(String),
    Game(Box<GameEntry>),
    Layout(LayoutEntry),
    Preset(PresetEntry),
    Part(PartEntry),
}

impl Purpose {
    pub(super) fn read(source: &Source, metas: &[Meta], at: usize) -> Result<Self, CatalogueError> {
        let file = Metadata { source, metas };
        file.check_dimensions()?;
        if let Some(part) = file.one("part")? {
            return file.part(part, at).map(Self::Part);
        }
        // The file of a preset may be a module, too.
        let module = file.one("module")?;
        match (file.one("game")?, file.one("preset")?) {
            (Some(_), Some(preset)) => {
                let name = &preset.value;
                let what = format!(
                    "a file is a game or a preset: write `.meta use \"{name}\"` for a game that begins with one"
                );
                return Err(file.fault(preset, what));
            }
            (Some(game), None) => return file.game(game, at).map(|it| Self::Game(Box::new(it))),
            (None, Some(preset)) => return file.preset(preset, at).map(Self::Preset),
            (None, None) => {}
        }
        if let Some(layout) = file.one("layout")? {
            return file.layout(layout, at).map(Self::Layout);
        }
        Ok(match (module, file.optional("family")?) {
            (Some(module), _) => Self::Module(module.value.clone()),
            (None, Some(family)) => Self::Family(family),
            (None, None) => Self::Core,
        })
    }

    /// The keys of the lines that give the file the names by which it can be asked for.
    pub(super) fn keys_of_names(&self) -> &'static [&'static str] {
        match self {
            Self::Core | Self::Family(_) => &[],
            Self::Module(_) => &["module"],
            Self::Game(_) => &["game", "alias"],
            Self::Layout(_) => &["layout"],
            Self::Preset(_) => &["preset", "module"],
            Self::Part(_) => &["part"],
        }
    }
}

/// The `.meta` lines of one file.
struct Metadata<'a> {
    source: &'a Source,
    metas: &'a [Meta],
}

impl<'a> Metadata<'a> {
    fn fault(&self, meta: &Meta, fault: impl ToString) -> CatalogueError {
        let path = self.source.path.clone();
        CatalogueError { path, line: meta.span.line, fault: fault.to_string() }
    }

    fn all(&self, key: &'static str) -> impl Iterator<Item = &'a Meta> {
        self.metas.iter().filter(move |it| it.key == key)
    }

    fn one(&self, key: &'static str) -> Result<Option<&'a Meta>, CatalogueError> {
        let mut all = self.all(key);
        let first = all.next();
        match all.next() {
            Some(second) => Err(self.fault(second, format!("{key} is there twice"))),
            None => Ok(first),
        }
    }

    fn optional(&self, key: &'static str) -> Result<Option<String>, CatalogueError> {
        Ok(self.one(key)?.map(|it| it.value.clone()))
    }

    fn text(&self, key: &'static str) -> Result<String, CatalogueError> {
        Ok(self.optional(key)?.unwrap_or_default())
    }

    fn texts(&self, key: &'static str) -> Vec<String> {
        self.all(key).map(|it| it.value.clone()).collect()
    }

    /// Checks that a file declares the board, the room for entities and the sides once at most, and not at all if it is
    /// only added to games. If several files of a program declare one of them, the last counts.
    fn check_dimensions(&self) -> Result<(), CatalogueError> {
        let is_any = |keys: &[&str]| self.metas.iter().any(|it| keys.contains(&it.key.as_str()));
        let is_added = is_any(&["module", "part", "preset"]) && !is_any(&["game", "layout"]);
        ["board", "entities", "sides"].into_iter().try_for_each(|it| match self.one(it)? {
            Some(line) if is_added => {
                let fault = format!("`.meta {it}` is that of a game or a layout: write it there");
                Err(self.fault(line, fault))
            }
            _ => Ok(()),
        })
    }

    fn preset(&self, preset: &Meta, at: usize) -> Result<PresetEntry, CatalogueError> {
        Ok(PresetEntry {
            preset: preset.value.clone(),
            name: self.one("name")?.unwrap_or(preset).value.clone(),
            description: self.text("description")?,
            family: self.optional("family")?,
            requires: self.texts("requires"),
            includes: self.texts("include"),
            incompatible: self.incompatible()?,
            source: at,
        })
    }

    fn layout(&self, layout: &Meta, at: usize) -> Result<LayoutEntry, CatalogueError> {
        let start = self.one("start")?;
        let start = start.ok_or_else(|| self.fault(layout, "the layout has no start"))?;
        Ok(LayoutEntry {
            name: layout.value.clone(),
            title: self.one("title")?.unwrap_or(layout).value.clone(),
            start: start.value.clone(),
            family: self.optional("family")?,
            source: at,
        })
    }

    fn part(&self, part: &Meta, at: usize) -> Result<PartEntry, CatalogueError> {
        let Some(family) = self.optional("family")? else {
            let fault = "a part of a preset says for which games: `.meta family \"NAME\"`";
            return Err(self.fault(part, fault));
        };
        let alone = ["game", "layout", "preset", "module"];
        if let Some(other) = self.metas.iter().find(|it| alone.contains(&it.key.as_str())) {
            return Err(self.fault(other, format!("a part of a preset is no {}", other.key)));
        }
        Ok(PartEntry { preset: part.value.clone(), family, source: at })
    }

    fn incompatible(&self) -> Result<Vec<(String, String)>, CatalogueError> {
        let pair = |meta: &Meta| {
            let pair = meta.value.split_once(": ");
            let (name, reason) =
                pair.ok_or_else(|| self.fault(meta, "expected \"PRESET: REASON\""))?;
            Ok((name.to_string(), reason.to_string()))
        };
        self.all("incompatible").map(pair).collect()
    }

    fn game(&self, game: &Meta, at: usize) -> Result<GameEntry, CatalogueError> {
        let (start, layout) = (self.one("start")?, self.one("layout")?);
        if start.or(layout).is_none() {
            let fault =
                "the game has no start: write `.meta start \"FEN\"`, or `.meta layout \"NAME\"`";
            return Err(self.fault(game, fault));
        }
        let family = self.optional("family")?;
        let numbered = self.numbered()?;
        let own_start = match &numbered {
            Some(it) => Some(self.numbered_start(it, game)?),
            None => start.map(|it| it.value.clone()),
        };
        Ok(GameEntry {
            name: game.value.clone(),
            title: self.one("title")?.unwrap_or(game).value.clone(),
            description: match self.optional("description")? {
                Some(it) => it,
                None => head(&self.source.text, &game.value),
            },
            aliases: self.texts("alias"),
            oracles: self.texts("oracle"),
            own_start: own_start.is_some(),
            start: own_start.unwrap_or_default(),
            layout: layout.map(|it| it.value.clone()),
            own_family: family.is_some(),
            family,
            uses: self.texts("use"),
            facts: self.facts()?,
            numbered,
            client_letters: self.text("client_letters")?,
            client_pieces: self.texts("client_piece"),
            shuffled: self.optional("shuffled")?,
            source: at,
        })
    }

    /// The facts that a game states, as `(attribute, value)`.
    fn facts(&self) -> Result<Vec<(String, String)>, CatalogueError> {
        let pair = |meta: &Meta| {
            let pair = meta.value.split_once('=');
            let (name, value) = pair.ok_or_else(|| self.fault(meta, "expected ATTRIBUTE=VALUE"))?;
            Ok((name.to_string(), value.to_string()))
        };
        self.all("fact").map(pair).collect()
    }

    /// The default of numbered start positions, which is also what `.meta start` says if it is there.
    fn numbered_start(&self, numbered: &Numbered, game: &Meta) -> Result<String, CatalogueError> {
        let start = self.one("start")?;
        let line = start.or(self.one("number")?).unwrap_or(game);
        let first = numbered.start(numbered.default).map_err(|it| self.fault(line, it))?;
        if start.is_some_and(|it| it.value != first) {
            let number = numbered.default;
            let what = format!("number {number} is {first}: begin there, or leave `start` out");
            return Err(self.fault(line, what));
        }
        Ok(first)
    }

    fn numbered(&self) -> Result<Option<Numbered>, CatalogueError> {
        let Some(number) = self.one("number")? else { return Ok(None) };
        let Some(pattern) = self.one("pattern")? else {
            let fault = "numbered start positions need a line `.meta pattern \"FEN\"`";
            return Err(self.fault(number, fault));
        };
        let places: Vec<&str> = self.all("place").map(|it| it.value.as_str()).collect();
        let numbered = Numbered::parse(&number.value, &pattern.value, &places);
        numbered.map(Some).map_err(|it| self.fault(number, it))
    }
}

/// What the comment at the beginning of a file says of `name`, up to the first line without text. Empty if there is
/// none.
fn head(text: &str, name: &str) -> String {
    let lines = text.lines().map_while(|it| it.strip_prefix('%')).map(str::trim);
    let lines: Vec<&str> = lines.take_while(|it| !it.is_empty()).collect();
    let head = lines.join(" ");
    let said = head.strip_prefix(name).and_then(|it| it.strip_prefix(':')).unwrap_or(&head);
    let mut letters = said.trim().chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}
