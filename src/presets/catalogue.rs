//! The catalogue: games, layouts and presets, read from the `.meta` lines of rule files.
//!
//! The first of these `.meta` lines that a file has says what it is:
//! * `part "PRESET"`: a part of that preset, for games of one family;
//! * `game`, or `preset`, which may be a module, too;
//! * `layout`;
//! * `module`: part of the programs that include it;
//! * `family`: part of that family;
//! * none of them: the core, part of every program.
//!
//! Games, layouts, presets and parts name the family that they are made for by `.meta family`, too. Only the files that
//! a game needs are compiled, and only when it is loaded.

#![warn(missing_docs)]

use std::sync::{Arc, OnceLock};

use crate::facts::nearest;
use crate::rules::{EMBEDDED, Meta, Program, Source, metas};

use super::activation::{ActivationError, OptionEntry, Request, describe_options, preset_of};
use super::definitions::{self, DefinitionError};
use super::entry::{GameEntry, LayoutEntry, PartEntry, PresetEntry};
use super::error::{CatalogueError, LoadError};
use super::external::Externals;
use super::metadata::Purpose;
use super::programs::Composers;

/// All rule files, by purpose.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    pub(super) sources: Vec<Source>,
    /// The `.meta` lines of each file.
    metas: Vec<Vec<Meta>>,
    pub(super) core: Vec<usize>,
    /// The files of families, by the family's name.
    pub(super) families: Vec<(String, usize)>,
    /// Modules, which belong only to the programs that include them, by name.
    pub(super) modules: Vec<(String, usize)>,
    /// The cache of compiled programs.
    pub(super) composers: Composers,
    /// The result of checking the presets, once they were checked.
    definitions: OnceLock<Result<(), DefinitionError>>,
    /// Whether presets that others are incompatible with may be missing. Those that others require may not.
    is_part: bool,
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
    /// Never, as a test checks.
    pub fn embedded() -> Result<Self, CatalogueError> {
        let source = |&(path, text): &(&str, &str)| Source { path: path.into(), text: text.into() };
        Self::new(EMBEDDED.iter().map(source).collect())
    }

    /// The games and presets of these files, in their order.
    ///
    /// # Errors
    /// The first metadata that is not valid, or two files with one name.
    pub fn new(sources: Vec<Source>) -> Result<Self, CatalogueError> {
        let mut catalogue = Self::default();
        for source in sources {
            catalogue.put(source)?;
        }
        catalogue.apply_layouts();
        Ok(catalogue)
    }

    /// A catalogue of some files of a larger one: presets that others are incompatible with may be missing.
    ///
    /// # Errors
    /// As [`Catalogue::new`].
    #[doc(hidden)]
    pub fn part(sources: Vec<Source>) -> Result<Self, CatalogueError> {
        Ok(Self { is_part: true, ..Self::new(sources)? })
    }

    /// Adds a file. A file at the path of an earlier one replaces it; one that is neither a game, a layout, a preset nor a
    /// module or family has rules for all games.
    ///
    /// Only what it is and what it is called is checked here. Its rules are checked when a game is loaded, and faults of a
    /// preset's definition then keep all games from loading ([`Catalogue::load`]): for files that come from others, load
    /// from a clone first.
    ///
    /// # Errors
    /// Its metadata is not valid, or its name is taken by another file.
    pub fn add(&mut self, source: Source) -> Result<(), CatalogueError> {
        self.put(source)?;
        self.apply_layouts();
        Ok(())
    }

    /// Adds a file, without `apply_layouts`.
    fn put(&mut self, source: Source) -> Result<(), CatalogueError> {
        let known = self.sources.iter().position(|it| it.path == source.path);
        let at = known.unwrap_or(self.sources.len());
        let metas = metas(&source);
        let purpose = Purpose::read(&source, &metas, at)?;
        self.check_names(&purpose, &metas, &source.path, at)?;
        self.definitions = OnceLock::new();
        if known.is_some() {
            self.forget(at);
        }
        match purpose {
            Purpose::Layout(layout) => self.layouts.push(layout),
            Purpose::Core => self.core.push(at),
            Purpose::Family(name) => self.families.push((name, at)),
            Purpose::Module(name) => self.modules.push((name, at)),
            Purpose::Game(game) => self.games.push(*game),
            Purpose::Preset(preset) => {
                // It may be a module, too, so that other files can include it.
                let module = metas.iter().find(|it| it.key == "module");
                self.modules.extend(module.map(|it| (it.value.clone(), at)));
                self.presets.push(preset);
            }
            Purpose::Part(part) => self.parts.push(part),
        }
        if known.is_some() {
            self.sort();
            (self.sources[at], self.metas[at]) = (source, metas);
        } else {
            self.sources.push(source);
            self.metas.push(metas);
        }
        Ok(())
    }

    /// Checks that no other file has one of the names of the file at `at`.
    fn check_names(
        &self,
        purpose: &Purpose,
        metas: &[Meta],
        path: &str,
        at: usize,
    ) -> Result<(), CatalogueError> {
        let keys = purpose.keys_of_names();
        for meta in metas.iter().filter(|it| keys.contains(&it.key.as_str())) {
            let name = match purpose {
                Purpose::Part(part) => part.name(),
                _ => meta.value.clone(),
            };
            if let Some(other) = self.path_of_other(&meta.key, &name, at) {
                let fault = format!("{other} has the name {name} already: choose another one");
                return Err(CatalogueError { path: path.into(), line: meta.span.line, fault });
            }
        }
        Ok(())
    }

    /// Drops the entry of a file.
    fn forget(&mut self, at: usize) {
        self.core.retain(|&it| it != at);
        self.families.retain(|it| it.1 != at);
        self.modules.retain(|it| it.1 != at);
        self.games.retain(|it| it.source != at);
        self.layouts.retain(|it| it.source != at);
        self.presets.retain(|it| it.source != at);
        self.parts.retain(|it| it.source != at);
    }

    /// Sorts the entries by file: effects happen in this order, so a file that replaces another one takes its place.
    fn sort(&mut self) {
        self.core.sort_unstable();
        self.families.sort_unstable_by_key(|it| it.1);
        self.modules.sort_unstable_by_key(|it| it.1);
        self.games.sort_unstable_by_key(|it| it.source);
        self.layouts.sort_unstable_by_key(|it| it.source);
        self.presets.sort_unstable_by_key(|it| it.source);
        self.parts.sort_unstable_by_key(|it| it.source);
    }

    /// Gives every game that names a layout the layout's start and family, unless it has its own.
    fn apply_layouts(&mut self) {
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

    /// The path of a file other than the one at `at` to which a `.meta` line of this key gives that name.
    fn path_of_other(&self, key: &str, name: &str, at: usize) -> Option<&str> {
        let source_if =
            |is_called: bool, source: usize| (is_called && source != at).then_some(source);
        let other = match key {
            "game" | "alias" => {
                self.games.iter().find_map(|it| source_if(it.is_called(name), it.source))
            }
            "layout" => self.layouts.iter().find_map(|it| source_if(it.name == name, it.source)),
            "preset" => self.presets.iter().find_map(|it| source_if(it.preset == name, it.source)),
            "module" => self.modules.iter().find_map(|it| source_if(it.0 == name, it.1)),
            _ => self.parts.iter().find_map(|it| source_if(it.name() == name, it.source)),
        };
        Some(&self.sources[other?].path)
    }

    /// All files, in their order.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The `.meta` lines of a key in a file, in text order.
    pub(super) fn metas_of(
        &self,
        file: usize,
        key: &str,
    ) -> impl DoubleEndedIterator<Item = &Meta> {
        self.metas[file].iter().filter(move |it| it.key == key)
    }

    /// The path of the file that a game is described in.
    #[doc(hidden)]
    pub fn path_of(&self, game: &GameEntry) -> &str {
        self.sources.get(game.source).map_or("", |it| it.path.as_str())
    }

    /// The path of the file that a preset is described in.
    #[doc(hidden)]
    pub fn path_of_preset(&self, preset: &PresetEntry) -> &str {
        self.sources.get(preset.source).map_or("", |it| it.path.as_str())
    }

    /// Checks the definitions of all presets, each by itself and all together.
    ///
    /// # Errors
    /// All faults of the presets.
    #[doc(hidden)]
    pub fn definitions(&self) -> Result<(), DefinitionError> {
        let checked = self.definitions.get_or_init(|| {
            let faults =
                definitions::check(&self.presets, &self.parts, &self.sources, self.is_part);
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

    /// The files of a preset: the main one, and its parts for games of some families.
    pub fn files_of(&self, preset: &str) -> Vec<&Source> {
        self.numbers_of(preset).map(|it| &self.sources[it]).collect()
    }

    /// The numbers of a preset's files: the main one, then its parts.
    fn numbers_of(&self, preset: &str) -> impl Iterator<Item = usize> {
        let main = self.preset_named(preset).map(|it| it.source);
        let parts = self.parts.iter().filter(move |it| it.preset == preset);
        main.into_iter().chain(parts.map(|it| it.source))
    }

    /// The numbers of the files that a preset has for games of a family, besides its main one.
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
        let lines = self.numbers_of(preset).flat_map(|it| self.metas_of(it, key));
        lines.map(|it| it.value.clone()).collect()
    }

    /// The options of a preset, with what its files say about each.
    #[doc(hidden)]
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

    /// The game of that name or alias, in any case; a space or an underscore may stand for a hyphen.
    ///
    /// # Errors
    /// There is no such game; the error has the most similar name.
    pub fn find_game(&self, name: &str) -> Result<&GameEntry, LoadError> {
        self.games.iter().find(|it| it.is_called(name)).ok_or_else(|| {
            let names = self.games.iter().flat_map(GameEntry::names);
            let near = nearest(name, names).map(String::from);
            LoadError::Game { name: name.into(), near }
        })
    }

    /// The name of a game whose family fits a preset: the preferred one if it fits, else the first that does; the
    /// preferred one if none does.
    #[doc(hidden)]
    pub fn game_for<'c>(&'c self, preset: &PresetEntry, preferred: &'c str) -> &'c str {
        let first = self.games.iter().filter(|it| it.name == preferred);
        let mut all = first.chain(&self.games);
        let fitting = all.find(|it| preset.family.is_none() || it.family == preset.family);
        fitting.map_or(preferred, |it| it.name.as_str())
    }

    /// The preset of that name, if there is one.
    pub(super) fn preset_named(&self, name: &str) -> Option<&PresetEntry> {
        self.presets.iter().find(|it| it.preset == name)
    }

    /// The layout that a game names, if there is one.
    pub(super) fn layout_of(&self, game: &GameEntry) -> Option<&LayoutEntry> {
        self.layouts.iter().find(|it| Some(&it.name) == game.layout.as_ref())
    }

    /// The preset of that name.
    ///
    /// # Errors
    /// There is no such preset; the error has the most similar name.
    pub fn find_preset(&self, name: &str) -> Result<&PresetEntry, ActivationError> {
        self.preset_named(name).ok_or_else(|| {
            let names = self.presets.iter().map(|it| it.preset.as_str());
            let near = nearest(name, names).map(String::from);
            ActivationError::Preset { name: name.into(), near }
        })
    }

    /// Activations, preceded by those that they require and that are missing.
    pub fn with_required<T: AsRef<str>>(&self, activations: &[T]) -> Vec<String> {
        let given: Vec<String> =
            activations.iter().map(|it| preset_of(it.as_ref()).to_owned()).collect();
        let (mut missing, mut next): (Vec<String>, Vec<String>) = (Vec::new(), given.clone());
        while let Some(preset) = next.pop() {
            let entry = self.preset_named(&preset);
            for required in entry.iter().flat_map(|it| &it.requires) {
                if !given.contains(required) && !missing.contains(required) {
                    missing.insert(0, required.clone());
                    next.push(required.clone());
                }
            }
        }
        missing.into_iter().chain(activations.iter().map(|it| it.as_ref().to_string())).collect()
    }

    pub(super) fn requests<T: AsRef<str>>(
        &self,
        texts: &[T],
    ) -> Result<Vec<Request>, ActivationError> {
        texts.iter().map(|it| self.request(it.as_ref())).collect()
    }

    /// Reads a request of a preset that exists.
    pub(super) fn request(&self, text: &str) -> Result<Request, ActivationError> {
        let request = Request::parse(text)?;
        self.find_preset(&request.preset)?;
        Ok(request)
    }
}

/// If the path of a file ends with the path of an embedded one, gives the file that path, so that it replaces the
/// embedded one in a catalogue. Any other file stays as it is.
pub fn at_its_place(mut source: Source) -> Source {
    let fits = |it: &str| {
        source.path.strip_suffix(it).is_some_and(|it| it.is_empty() || it.ends_with('/'))
    };
    if let Some((twin, _)) = EMBEDDED.iter().find(|(path, _)| fits(path)) {
        source.path = (*twin).to_owned();
    }
    source
}
