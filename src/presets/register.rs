//! Registers presets of other crates: their rules become files of a catalogue.

#![warn(missing_docs)]

use std::fmt::Write;
use std::sync::Arc;

use crate::rules::{Source, metas};

use super::catalogue::Catalogue;
use super::error::CatalogueError;
use super::external::{FOLDER, Preset};

impl Catalogue {
    /// Adds a preset of another crate. It passes the same checks as rule files.
    ///
    /// # Errors
    /// Its rules declare no preset, or one that exists already.
    pub fn register(&mut self, preset: impl Preset + 'static) -> Result<(), CatalogueError> {
        let rules = Source { path: FOLDER.into(), text: preset.rules().into() };
        let named = metas(&rules).into_iter().find(|it| it.key == "preset");
        let Some(id) = named.map(|it| it.value) else {
            let fault = "a registered preset needs a .meta preset".to_string();
            return Err(CatalogueError { path: rules.path, line: 1, fault });
        };
        let mut text = rules.text.to_string();
        let _ = writeln!(text, "\n% Code of version {} is called.", preset.version());
        for point in preset.points() {
            let _ = writeln!(text, "{}", point.rules(&id));
        }
        let source = Source { path: format!("{FOLDER}{id}.dl"), text: text.into() };
        if self.externals.has(&id) {
            let fault = format!("preset {id} is registered already");
            return Err(CatalogueError { path: source.path, line: 1, fault });
        }
        self.add(source)?;
        Arc::make_mut(&mut self.externals).0.insert(id, Arc::new(preset));
        Ok(())
    }

    /// The same files, with the code registered with another catalogue.
    pub(super) fn with_code_of(mut self, other: &Self) -> Self {
        self.externals = Arc::clone(&other.externals);
        self
    }
}
