//! Included files: `.meta include "FILE"` in any file adds another one to the program, once, however many
//! files include it.
//!
//! FILE is in the folder of the including file, in one below that, in `rules/modules` or another folder of
//! `rules`. It must be a module, `.meta module "NAME"`, so that a folder of rules can be read as a whole: a
//! file without such a line belongs to the core, or is a game, layout or preset itself.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use crate::rules::{Source, included, load_path, metas};

use super::catalogue::{Catalogue, at_its_place};
use super::error::{AddError, LoadError};

impl Catalogue {
    /// Adds a rule file, or all rule files below a folder, and returns how many. What they include is added, too, if it
    /// stands beside them.
    ///
    /// # Errors
    /// A file that cannot be read or added to a catalogue; files before it stay added.
    pub fn add_path(&mut self, path: &Path) -> Result<usize, AddError> {
        let (sources, included) = load_with_included(path)
            .map_err(|why| AddError::Read { path: path.display().to_string(), why })?;
        let count = sources.len();
        for source in included.into_iter().chain(sources) {
            self.add(at_its_place(source))?;
        }
        Ok(count)
    }

    /// These files and all that they include, each once and after those that it includes itself.
    pub(super) fn with_included(&self, files: &[usize]) -> Result<Vec<usize>, LoadError> {
        let mut all = Vec::new();
        files.iter().try_for_each(|&it| self.add_with_included(it, &mut Vec::new(), &mut all))?;
        Ok(all)
    }

    /// The files that include the module at a path, directly or through another one, and are not modules themselves.
    pub fn includers(&self, path: &str) -> Vec<&Source> {
        let Some(at) = self.sources.iter().position(|it| it.path == path) else {
            return Vec::new();
        };
        let files = 0..self.sources.len();
        let includers = files.filter(|&it| !self.is_module(it) && self.is_or_includes(it, at));
        includers.map(|it| &self.sources[it]).collect()
    }

    /// Whether a file is this module, or includes it, directly or through another one.
    pub(super) fn is_or_includes(&self, file: usize, module: usize) -> bool {
        self.with_included(&[file]).is_ok_and(|it| it.contains(&module))
    }

    fn is_module(&self, file: usize) -> bool {
        self.modules.iter().any(|it| it.1 == file)
    }

    /// The presets that a preset, or a file that it includes, declares to go with: `.meta compatible
    /// "PRESET"`.
    pub fn compatible(&self, preset: &str) -> Vec<String> {
        let Some(entry) = self.preset_named(preset) else {
            return Vec::new();
        };
        let files = self.with_included(&[entry.source]).unwrap_or_default();
        let all = files.into_iter().flat_map(|it| self.metas_of(it, "compatible"));
        all.map(|it| it.value.clone()).collect()
    }

    /// Adds what a file includes, then the file. Of `includers` each includes the next, and the last one this file.
    fn add_with_included(
        &self,
        file: usize,
        includers: &mut Vec<usize>,
        all: &mut Vec<usize>,
    ) -> Result<(), LoadError> {
        if all.contains(&file) {
            return Ok(());
        }
        let source = &self.sources[file];
        includers.push(file);
        for meta in self.metas_of(file, "include") {
            let fault = |fault: String| LoadError::Include {
                place: format!("{}:{}", source.path, meta.span.line),
                name: meta.value.clone(),
                fault,
            };
            let found = self.find_included(source, &meta.value).map_err(fault)?;
            if let Some(start) = includers.iter().position(|it| *it == found) {
                let circle = includers[start..].iter().chain([&found]);
                let paths: Vec<&str> = circle.map(|&it| &*self.sources[it].path).collect();
                return Err(fault(format!("files include each other: {}", paths.join(" -> "))));
            }
            self.add_with_included(found, includers, all)?;
        }
        includers.pop();
        all.push(file);
        Ok(())
    }

    /// The file that a name means where another file includes it, or why it means none.
    fn find_included(&self, from: &Source, name: &str) -> Result<usize, String> {
        let Some(paths) = included(&from.path, name) else {
            return Err(
                "a file is included from the same folder or one below it, or from the rules of this \
                 package: write its name, or FOLDER/NAME"
                    .into(),
            );
        };
        let at = |path: &String| self.sources.iter().position(|it| it.path == *path);
        // A game, say, may have the name of a module of this package.
        if let Some(module) = paths.iter().filter_map(at).find(|it| self.is_module(*it)) {
            return Ok(module);
        }
        let Some(first) = paths.iter().find_map(at).map(|it| &self.sources[it]) else {
            // No file is in `rules` itself, the last place. For a module of this package the first two are one.
            let told = if name.contains('/') { &paths[..] } else { &paths[..2] };
            let mut places: Vec<&str> = Vec::new();
            for place in told {
                if !places.contains(&place.as_str()) {
                    places.push(place);
                }
            }
            return Err(format!(
                "there is no {} among the files that are read: name the file, or its folder, too",
                places.join(", and no ")
            ));
        };
        if first.path == from.path {
            return Err(
                "this file has that name itself, and there is no module of that name".into()
            );
        }
        Err(format!("{} is no module: it needs a line `.meta module \"NAME\"`", first.path))
    }
}

/// The rule files at a path; and the other files on disk that these include, directly or through another one.
///
/// # Errors
/// A folder or file that cannot be read, or is not UTF-8.
pub fn load_with_included(path: &Path) -> io::Result<(Vec<Source>, Vec<Source>)> {
    let sources = load_path(path)?;
    let mut known: BTreeSet<String> = sources.iter().map(|it| it.path.clone()).collect();
    let mut next: Vec<Source> = sources.clone();
    let mut more = Vec::new();
    while let Some(source) = next.pop() {
        for meta in metas(&source).into_iter().filter(|it| it.key == "include") {
            // Any other file is part of the package, or is missing, which is reported when a game is loaded.
            let Some([path, ..]) = included(&source.path, &meta.value) else { continue };
            if known.contains(&path) || !Path::new(&path).is_file() {
                continue;
            }
            for found in load_path(Path::new(&path))? {
                known.insert(found.path.clone());
                next.push(found.clone());
                more.push(found);
            }
        }
    }
    Ok((sources, more))
}
