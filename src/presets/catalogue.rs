//! What can be played: games and presets, read from the `.meta` lines of rule files.
//!
//! A file with `.meta game` is a game, one with `.meta layout` and a start of its own a layout, one
//! with `.meta preset` a preset, one with `.meta module` part of the programs that include it. One with `.meta part` is a part
//! of the preset of that name, for games of the family that it names. A file with `.meta
//! family` and none of these is part of that family; every other file is the core, part of every
//! program. Games, layouts and presets name the family that they need by the same line, or none. Only
//! the files that a game needs are compiled, and only when it is asked for.
//!
//! Keys of games: `game`, `title`, `alias`, `start` (a FEN), `layout` (a name), `use` (an
//! activation), `fact` (`attribute=value` of the game), `number`, `pattern` and `place` (start
//! positions by number), `client_letters`, `client_piece`, `shuffled` and `oracle` (how clients and other programs
//! write and name it). Keys of layouts: `layout`, `title`, `start`. Keys of presets: `preset`,
//! `name`, `description`, `requires` (a preset), `incompatible` (`PRESET: REASON`), `compatible` (a
//! preset). Other keys are left for others.

#![warn(missing_docs)]

use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::derive::Allowance;
use crate::facts::{AttrId, Value, nearest};
use crate::game::drawing;
use crate::rules::{EMBEDDED, Meta, Program, Source, metas};

use super::activation::{
    Activation, ActivationError, OptionEntry, Request, describe_options, pairs,
};
use super::combine::{self, SetError};
use super::compose::{Composed, Composers};
use super::definitions::{self, DefinitionError};
use super::error::{AddError, CatalogueError, LoadError};
use super::external::Externals;
use super::include::load_with_included;
use super::numbered::Numbered;
use super::ruleset::Ruleset;
use super::stated::value;

/// A game, as its file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameEntry {
    /// As `load` takes it.
    pub name: String,
    /// For people.
    pub title: String,
    /// Other names that mean it.
    pub aliases: Vec<String>,
    /// What programs that made vectors call it: `Fairy-Stockfish minishogi`.
    pub oracles: Vec<String>,
    /// The start position, as FEN; of numbered ones the default. Empty if its layout is missing.
    pub start: String,
    /// The layout, with the rules that go with it; a start of the game's own goes before its.
    pub layout: Option<String>,
    /// The family that its rules stand on; none if neither the game nor its layout names one.
    pub family: Option<String>,
    own_family: bool,
    own_start: bool,
    /// The presets that the game is made of, as activations.
    pub uses: Vec<String>,
    /// Facts of the game, as `(attribute, value)`.
    pub facts: Vec<(String, String)>,
    /// Its start positions by number, if it has such.
    pub numbered: Option<Numbered>,
    /// The letters that clients write for pieces, each followed by ours: `"kn mk"`.
    pub client_letters: String,
    /// What clients must be told of single pieces, in Betza's notation: `Q& RB`.
    pub client_pieces: Vec<String>,
    /// The game that a client means when it asks for this one with shuffled start positions.
    pub shuffled: Option<String>,
    pub(super) source: usize,
}

/// A layout, as its file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutEntry {
    /// As options of games take it.
    pub name: String,
    /// For people.
    pub title: String,
    /// The start position, as FEN.
    pub start: String,
    /// The family of games that it is made for.
    pub family: Option<String>,
    pub(super) source: usize,
}

/// A preset, as its file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresetEntry {
    /// The name that activations use.
    pub preset: String,
    /// The name for people.
    pub name: String,
    /// What it changes, in a sentence.
    pub description: String,
    /// The family of games that it is made for; none if it needs no more than all games have.
    pub family: Option<String>,
    /// Presets that must be active, too, for the same side.
    pub requires: Vec<String>,
    /// The files that it includes, by the names that it has for them.
    pub includes: Vec<String>,
    /// Presets that must not be active for the same side, with the reason.
    pub incompatible: Vec<(String, String)>,
    pub(super) source: usize,
}

/// A file that belongs to a preset where that goes on games of one family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartEntry {
    pub(super) preset: String,
    pub(super) family: String,
    pub(super) source: usize,
}

/// All rule files at hand, by what they are for.
#[derive(Debug, Clone)]
pub struct Catalogue {
    pub(super) sources: Vec<Source>,
    pub(super) core: Vec<usize>,
    /// The files of families, by the family's name.
    pub(super) families: Vec<(String, usize)>,
    /// Files that belong to some programs only, by what they are for.
    pub(super) modules: Vec<(String, usize)>,
    /// What was compiled already.
    pub(super) composers: Composers,
    /// Whether the presets make sense, once that was asked.
    definitions: OnceLock<Result<(), DefinitionError>>,
    /// Every preset that another one names is here.
    is_whole: bool,
    /// Presets of other crates.
    pub(super) externals: Arc<Externals>,
    games: Vec<GameEntry>,
    layouts: Vec<LayoutEntry>,
    presets: Vec<PresetEntry>,
    parts: Vec<PartEntry>,
}

impl Catalogue {
    /// The games and presets of this package.
    ///
    /// # Errors
    /// None, as a test holds.
    pub fn embedded() -> Result<Self, CatalogueError> {
        let source = |&(path, text): &(&str, &str)| Source { path: path.into(), text: text.into() };
        Self::new(EMBEDDED.iter().map(source).collect())
    }

    /// The games and presets of these files, in their order.
    ///
    /// # Errors
    /// The first metadata that makes no sense, or two files with one name.
    pub fn new(sources: Vec<Source>) -> Result<Self, CatalogueError> {
        let mut catalogue = Self {
            sources: Vec::new(),
            core: Vec::new(),
            families: Vec::new(),
            modules: Vec::new(),
            composers: Composers::default(),
            definitions: OnceLock::new(),
            is_whole: true,
            externals: Arc::default(),
            games: Vec::new(),
            layouts: Vec::new(),
            presets: Vec::new(),
            parts: Vec::new(),
        };
        for source in sources {
            catalogue.add(source)?;
        }
        Ok(catalogue)
    }

    /// A catalogue of some files of a larger one: presets that they exclude may be missing.
    ///
    /// # Errors
    /// As [`Catalogue::new`].
    pub fn part(sources: Vec<Source>) -> Result<Self, CatalogueError> {
        let whole = Self::new(sources)?;
        Ok(Self { is_whole: false, ..whole })
    }

    /// Adds a file. A file at the path of an earlier one replaces it.
    ///
    /// # Errors
    /// Its metadata makes no sense, or its name is taken by another file.
    pub fn add(&mut self, source: Source) -> Result<(), CatalogueError> {
        let known = self.sources.iter().position(|it| it.path == source.path);
        let at = known.unwrap_or(self.sources.len());
        let metas = metas(&source);
        let entry = FileIs::read(&source, &metas, at)?;
        let taken = |it: String| Some((self.path_of_other(&entry, &it, at)?, it));
        if let Some((other, name)) = entry.names().into_iter().find_map(taken) {
            let line = metas.first().map_or(1, |it| it.span.line);
            let fault = format!("{other} has the name {name} already: choose another one");
            return Err(CatalogueError { path: source.path, line, fault });
        }
        self.definitions = OnceLock::new();
        self.core.retain(|&it| it != at);
        self.families.retain(|it| it.1 != at);
        self.modules.retain(|it| it.1 != at);
        self.games.retain(|it| it.source != at);
        self.layouts.retain(|it| it.source != at);
        self.presets.retain(|it| it.source != at);
        self.parts.retain(|it| it.source != at);
        match entry {
            FileIs::Layout(layout) => self.layouts.push(layout),
            FileIs::Core => self.core.push(at),
            FileIs::Family(name) => self.families.push((name, at)),
            FileIs::Module(name) => self.modules.push((name, at)),
            FileIs::Game(game) => self.games.push(*game),
            FileIs::Preset(preset) => {
                // Others may include a preset's file: what it says of the game then holds without it.
                let module = metas.iter().find(|it| it.key == "module");
                self.modules.extend(module.map(|it| (it.value.clone(), at)));
                self.presets.push(preset);
            }
            FileIs::Part(part) => self.parts.push(part),
        }
        self.lay_out();
        // The order of the files is the order of their effects.
        self.core.sort_unstable();
        self.families.sort_unstable_by_key(|it| it.1);
        match known {
            Some(at) => self.sources[at] = source,
            None => self.sources.push(source),
        }
        Ok(())
    }

    /// Adds a rule file, or all rule files below a folder, and returns how many.
    ///
    /// # Errors
    /// What cannot be read, or is no part of a catalogue; files before it stay added.
    pub fn add_path(&mut self, path: &Path) -> Result<usize, AddError> {
        let (sources, included) = load_with_included(path)
            .map_err(|why| AddError::Read { path: path.display().to_string(), why })?;
        let count = sources.len();
        for source in included.into_iter().chain(sources) {
            self.add(at_its_place(source))?;
        }
        Ok(count)
    }

    /// Gives every game that names a layout the layout's start and family, unless it has its own.
    fn lay_out(&mut self) {
        for game in &mut self.games {
            let named = |it: &&LayoutEntry| Some(&it.name) == game.layout.as_ref();
            let Some(layout) = self.layouts.iter().find(named) else { continue };
            if !game.own_start {
                game.start.clone_from(&layout.start);
            }
            if !game.own_family {
                game.family.clone_from(&layout.family);
            }
        }
    }

    /// The path of the file, other than the one at `at`, that has the name of such an entry.
    fn path_of_other(&self, entry: &FileIs, name: &str, at: usize) -> Option<&str> {
        let other = match entry {
            FileIs::Core | FileIs::Family(_) => None,
            FileIs::Module(_) => other(at, self.modules.iter().map(|it| (it.1, it.0 == name))),
            FileIs::Game(_) => {
                other(at, self.games.iter().map(|it| (it.source, it.is_called(name))))
            }
            FileIs::Layout(_) => {
                other(at, self.layouts.iter().map(|it| (it.source, it.name == name)))
            }
            FileIs::Preset(_) => {
                other(at, self.presets.iter().map(|it| (it.source, it.preset == name)))
            }
            FileIs::Part(_) => {
                other(at, self.parts.iter().map(|it| (it.source, it.name() == name)))
            }
        };
        Some(&self.sources[other?].path)
    }

    /// All files, in their order.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The path of the file that a game is described in.
    pub fn path_of(&self, game: &GameEntry) -> &str {
        self.sources.get(game.source).map_or("", |it| it.path.as_str())
    }

    /// The path of the file that a preset is described in.
    pub fn path_of_preset(&self, preset: &PresetEntry) -> &str {
        self.sources.get(preset.source).map_or("", |it| it.path.as_str())
    }

    /// Whether the presets make sense, each and together.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn definitions(&self) -> Result<(), DefinitionError> {
        let checked = self.definitions.get_or_init(|| {
            let faults =
                definitions::check(&self.presets, &self.parts, &self.sources, self.is_whole);
            if faults.is_empty() { Ok(()) } else { Err(DefinitionError { faults }) }
        });
        checked.clone()
    }

    /// The games, in the order of their files.
    pub fn games(&self) -> &[GameEntry] {
        &self.games
    }

    /// The layouts, in the order of their files.
    pub fn layouts(&self) -> &[LayoutEntry] {
        &self.layouts
    }

    /// The presets, in the order of their files.
    pub fn presets(&self) -> &[PresetEntry] {
        &self.presets
    }

    /// The rule file of a preset.
    pub fn source_of(&self, preset: &str) -> Option<&Source> {
        let entry = self.presets.iter().find(|it| it.preset == preset)?;
        self.sources.get(entry.source)
    }

    /// The files of a preset: the one that says what it is, and its parts for games of some families.
    pub fn files_of(&self, preset: &str) -> Vec<&Source> {
        let parts = self.parts.iter().filter(|it| it.preset == preset);
        let parts = parts.filter_map(|it| self.sources.get(it.source));
        self.source_of(preset).into_iter().chain(parts).collect()
    }

    /// The files, by their number, that a preset has for games of a family, after the one that says what it is.
    pub(super) fn parts_for<'c>(
        &'c self,
        preset: &'c str,
        family: Option<&'c str>,
    ) -> impl Iterator<Item = usize> + 'c {
        let fits = move |it: &&PartEntry| it.preset == preset && Some(it.family.as_str()) == family;
        self.parts.iter().filter(fits).map(|it| it.source)
    }

    /// The values of the `.meta` lines of a key in a preset's files.
    pub fn notes_of(&self, preset: &str, key: &str) -> Vec<String> {
        let lines = self.files_of(preset).into_iter().flat_map(metas);
        lines.filter(|it| it.key == key).map(|it| it.value).collect()
    }

    /// The options of a preset, with what its file says about each.
    pub fn options_of(&self, program: &Program, preset: &str) -> Vec<OptionEntry> {
        let notes = self.notes_of(preset, "option");
        let mut options = describe_options(program, preset);
        for option in &mut options {
            let note = notes.iter().filter_map(|it| it.split_once(": "));
            let note = note.into_iter().find(|(name, _)| *name == option.name);
            option.text = note.map(|it| it.1.to_string()).unwrap_or_default();
        }
        options
    }

    /// The game of that name or alias, in any case; a space is as good as a hyphen.
    ///
    /// # Errors
    /// There is none; the error has the likeliest name.
    pub fn find_game(&self, name: &str) -> Result<&GameEntry, LoadError> {
        self.games.iter().find(|it| it.is_called(name)).ok_or_else(|| {
            let names = self.games.iter().flat_map(GameEntry::names);
            let near = nearest(name, names).map(String::from);
            LoadError::Game { name: name.into(), near }
        })
    }

    /// The name of a game that a preset goes on as far as families are concerned: the preferred one if that
    /// fits, or if none does.
    pub fn game_for<'c>(&'c self, preset: &PresetEntry, preferred: &'c str) -> &'c str {
        let first = self.games.iter().filter(|it| it.name == preferred);
        let mut all = first.chain(&self.games);
        let fitting = all.find(|it| preset.family.is_none() || it.family == preset.family);
        fitting.map_or(preferred, |it| it.name.as_str())
    }

    /// The preset of that name.
    ///
    /// # Errors
    /// There is none; the error has the likeliest name.
    pub fn find_preset(&self, name: &str) -> Result<&PresetEntry, ActivationError> {
        self.presets.iter().find(|it| it.preset == name).ok_or_else(|| {
            let names = self.presets.iter().map(|it| it.preset.as_str());
            let near = nearest(name, names).map(String::from);
            ActivationError::Preset { name: name.into(), near }
        })
    }

    /// Activations, after those of presets that they require and that are not among them.
    pub fn with_required<T: AsRef<str>>(&self, activations: &[T]) -> Vec<String> {
        let name = |text: &str| text.split(':').next().unwrap_or_default().trim().to_string();
        let given: Vec<String> = activations.iter().map(|it| name(it.as_ref())).collect();
        let (mut missing, mut next): (Vec<String>, Vec<String>) = (Vec::new(), given.clone());
        while let Some(preset) = next.pop() {
            let entry = self.presets.iter().find(|it| it.preset == preset);
            for required in entry.iter().flat_map(|it| &it.requires) {
                if !given.contains(required) && !missing.contains(required) {
                    missing.insert(0, required.clone());
                    next.push(required.clone());
                }
            }
        }
        missing.into_iter().chain(activations.iter().map(|it| it.as_ref().to_string())).collect()
    }

    /// Compiles a game, given as `NAME[:OPTION=VALUE]`, with further activations. An activation of
    /// a preset that the game itself uses for the same scope takes the place of the game's.
    ///
    /// # Errors
    /// An unknown name, a wrong activation, or rules that do not compile together.
    pub fn load<T: AsRef<str>>(&self, game: &str, extra: &[T]) -> Result<Ruleset, LoadError> {
        let _span = tracing::debug_span!("load", game).entered();
        let _paid = Allowance::open();
        let (game, number) = self.game_and_number(game)?;
        let own = self.requests(game.uses.iter().map(String::as_str))?;
        let extra = self.requests(extra.iter().map(AsRef::as_ref))?;
        if let Err(faults) = self.definitions() {
            return Err(faults.into());
        }
        let requests: Vec<&Request> = own.iter().chain(&extra).collect();
        let Composed { plan, terms, scopes } = self.compose(game, &requests)?;
        let program = Arc::clone(plan.program());
        drawing::inspect(&program).map_err(LoadError::Drawing)?;
        let activations = activations(&program, &own, &extra)?;
        let faults = combine::check(self, &scopes, &activations);
        if !faults.is_empty() {
            return Err(SetError { faults }.into());
        }
        let start = match &game.numbered {
            Some(it) => it.start(number.unwrap_or(it.default))?,
            None => game.start.clone(),
        };
        let facts = game_facts(&program, game)?;
        Ok(Ruleset::new(game.clone(), start, activations, facts, terms, plan))
    }

    fn game_and_number(&self, text: &str) -> Result<(&GameEntry, Option<u32>), LoadError> {
        let (name, options) = match text.split_once(':') {
            Some((name, options)) => (name, Some(options)),
            None => (text, None),
        };
        let game = self.find_game(name)?;
        let Some(options) = options else { return Ok((game, None)) };
        let fault = |fault: String| LoadError::GameOption { text: text.into(), fault };
        let mut number = None;
        for (option, value) in pairs(options).map_err(fault)? {
            match &game.numbered {
                Some(it) if it.option == option => {
                    let wrong = |_| fault(format!("{value:?} is no number"));
                    number = Some(value.parse().map_err(wrong)?);
                }
                Some(it) => {
                    let known = &it.option;
                    return Err(fault(format!("there is no option {option}, only {known}")));
                }
                None => return Err(fault(format!("the game has no option {option}"))),
            }
        }
        Ok((game, number))
    }

    pub(super) fn requests<'t>(
        &self,
        texts: impl Iterator<Item = &'t str>,
    ) -> Result<Vec<Request>, ActivationError> {
        let mut requests = Vec::new();
        for text in texts {
            let request = Request::parse(text)?;
            self.find_preset(&request.preset)?;
            requests.push(request);
        }
        Ok(requests)
    }
}

/// The first source but one of those that have a name.
fn other(but: usize, mut named: impl Iterator<Item = (usize, bool)>) -> Option<usize> {
    named.find(|it| it.0 != but && it.1).map(|it| it.0)
}

/// A file whose path ends like that of an embedded one takes its place.
pub fn at_its_place(mut source: Source) -> Source {
    let fits = |it: &str| {
        source.path.strip_suffix(it).is_some_and(|it| it.is_empty() || it.ends_with('/'))
    };
    if let Some((twin, _)) = EMBEDDED.iter().find(|(path, _)| fits(path)) {
        source.path = (*twin).to_owned();
    }
    source
}

impl PartEntry {
    /// As files of parts are called: `stamina.chess`.
    fn name(&self) -> String {
        format!("{}.{}", self.preset, self.family)
    }
}

impl GameEntry {
    fn names(&self) -> impl Iterator<Item = &str> {
        [&self.name].into_iter().chain(&self.aliases).map(String::as_str)
    }

    fn is_called(&self, name: &str) -> bool {
        let name = name.trim().replace([' ', '_'], "-");
        self.names().any(|it| it.eq_ignore_ascii_case(&name))
    }
}

/// The game's own activations, replaced where an extra one is for the same, then the rest.
fn activations(
    program: &Program,
    own: &[Request],
    extra: &[Request],
) -> Result<Vec<Activation>, ActivationError> {
    let mut active: Vec<Activation> = Vec::new();
    for request in own {
        active.push(Activation::resolve(program, request)?);
    }
    let mut settled: Vec<usize> = Vec::new();
    for request in extra {
        let activation = Activation::resolve(program, request)?;
        let same = |it: &Activation| it.preset == activation.preset && it.scope == activation.scope;
        let at = active.iter().position(same).unwrap_or(active.len());
        if settled.contains(&at) {
            let Activation { preset, scope, .. } = activation;
            return Err(ActivationError::Twice { preset, scope });
        }
        settled.push(at);
        match active.get_mut(at) {
            Some(place) => *place = activation,
            None => active.push(activation),
        }
    }
    Ok(active)
}

fn game_facts(program: &Program, game: &GameEntry) -> Result<Vec<(AttrId, Value)>, LoadError> {
    let schema = &program.schema;
    let mut facts = Vec::new();
    for (name, text) in &game.facts {
        let fault = |fault| LoadError::Fact {
            game: game.name.clone(),
            attribute: name.clone(),
            value: text.clone(),
            fault,
        };
        let attr = schema.attribute_named(name);
        let attr = attr.ok_or_else(|| fault("there is no such attribute".to_string()))?;
        let value = value(schema, attr, text).map_err(|it| fault(format!("it takes {it}")))?;
        facts.push((attr, value));
    }
    Ok(facts)
}

/// What a file is for.
enum FileIs {
    Core,
    /// A file of that family.
    Family(String),
    Module(String),
    Game(Box<GameEntry>),
    Layout(LayoutEntry),
    Preset(PresetEntry),
    Part(PartEntry),
}

impl FileIs {
    fn read(source: &Source, metas: &[Meta], at: usize) -> Result<Self, CatalogueError> {
        let file = Metadata { source, metas };
        if let Some(part) = file.one("part")? {
            return file.part(part, at).map(Self::Part);
        }
        match (file.one("game")?, file.one("preset")?) {
            (None, None) => match file.one("layout")? {
                Some(layout) => file.layout(layout, at).map(Self::Layout),
                None => Ok(match (file.one("module")?, file.family()?) {
                    (Some(module), _) => Self::Module(module.value.clone()),
                    (None, Some(family)) => Self::Family(family),
                    (None, None) => Self::Core,
                }),
            },
            (Some(_), Some(preset)) => Err(file.fault(preset, "a file is a game or a preset")),
            (None, Some(preset)) => Ok(Self::Preset(PresetEntry {
                preset: preset.value.clone(),
                name: file.one("name")?.unwrap_or(preset).value.clone(),
                description: file.text("description")?,
                family: file.family()?,
                requires: file.texts("requires"),
                includes: file.texts("include"),
                incompatible: file.incompatible()?,
                source: at,
            })),
            (Some(game), None) => file.game(game, at).map(|it| Self::Game(Box::new(it))),
        }
    }

    fn names(&self) -> Vec<String> {
        match self {
            Self::Core | Self::Family(_) => Vec::new(),
            Self::Module(name) => vec![name.clone()],
            Self::Game(game) => game.names().map(String::from).collect(),
            Self::Layout(layout) => vec![layout.name.clone()],
            Self::Preset(preset) => vec![preset.preset.clone()],
            Self::Part(part) => vec![part.name()],
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

    fn text(&self, key: &'static str) -> Result<String, CatalogueError> {
        Ok(self.one(key)?.map(|it| it.value.clone()).unwrap_or_default())
    }

    fn family(&self) -> Result<Option<String>, CatalogueError> {
        Ok(self.one("family")?.map(|it| it.value.clone()))
    }

    fn texts(&self, key: &'static str) -> Vec<String> {
        self.all(key).map(|it| it.value.clone()).collect()
    }

    fn layout(&self, layout: &Meta, at: usize) -> Result<LayoutEntry, CatalogueError> {
        let start = self.one("start")?;
        let start = start.ok_or_else(|| self.fault(layout, "the layout has no start"))?;
        Ok(LayoutEntry {
            name: layout.value.clone(),
            title: self.one("title")?.unwrap_or(layout).value.clone(),
            start: start.value.clone(),
            family: self.family()?,
            source: at,
        })
    }

    fn part(&self, part: &Meta, at: usize) -> Result<PartEntry, CatalogueError> {
        let Some(family) = self.family()? else {
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
        let family = self.family()?;
        let numbered = self.numbered()?;
        if let (Some(it), Some(start)) = (&numbered, start) {
            let first = it.start(it.default).map_err(|it| self.fault(start, it))?;
            if first != start.value {
                return Err(self.fault(start, format!("number {} is {first}", it.default)));
            }
        }
        let mut facts = Vec::new();
        for meta in self.all("fact") {
            let (name, value) = meta
                .value
                .split_once('=')
                .ok_or_else(|| self.fault(meta, "expected ATTRIBUTE=VALUE"))?;
            facts.push((name.to_string(), value.to_string()));
        }
        Ok(GameEntry {
            name: game.value.clone(),
            title: self.one("title")?.unwrap_or(game).value.clone(),
            aliases: self.texts("alias"),
            oracles: self.texts("oracle"),
            start: start.map(|it| it.value.clone()).unwrap_or_default(),
            own_start: start.is_some(),
            layout: layout.map(|it| it.value.clone()),
            own_family: family.is_some(),
            family,
            uses: self.texts("use"),
            facts,
            numbered,
            client_letters: self.text("client_letters")?,
            client_pieces: self.texts("client_piece"),
            shuffled: self.one("shuffled")?.map(|it| it.value.clone()),
            source: at,
        })
    }

    fn numbered(&self) -> Result<Option<Numbered>, CatalogueError> {
        let Some(number) = self.one("number")? else { return Ok(None) };
        let places: Vec<&str> = self.all("place").map(|it| it.value.as_str()).collect();
        let numbered = Numbered::parse(&number.value, &self.text("pattern")?, &places);
        numbered.map(Some).map_err(|it| self.fault(number, it))
    }
}
