//! The rules that games are played by, compiled once however many games there are.
//!
//! A game names its rule texts by their hash, and the store keeps the texts: a game goes on by the
//! rules it began with, whatever a later version of this program says.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::presets::{Catalogue, CatalogueError, LoadError, Ruleset, Source};

/// As many compiled rule sets as are kept; a game in play holds its own.
const KEPT: usize = 256;

/// Rule texts as they are stored: files on top of others.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Texts {
    /// The hash of the texts below, if there are any.
    pub base: Option<String>,
    /// Paths and texts.
    pub files: Vec<(String, String)>,
}

impl Texts {
    /// The form that is stored, and its hash.
    pub fn stored(&self) -> (String, String) {
        let text = serde_json::to_string(self).unwrap_or_default();
        (blake3::hash(text.as_bytes()).to_hex().to_string(), text)
    }
}

/// What makes a compiled rule set: the hash of its texts, the game, the presets.
type Key = (String, String, Vec<String>);

/// All rules in use.
#[derive(Debug)]
pub struct Library {
    own: Texts,
    own_hash: String,
    catalogues: Mutex<HashMap<String, Arc<Catalogue>>>,
    compiled: Mutex<HashMap<Key, Arc<Ruleset>>>,
}

impl Library {
    /// The rules of this package.
    ///
    /// # Errors
    /// None, as a test holds.
    pub fn new() -> Result<Self, CatalogueError> {
        let catalogue = Catalogue::embedded()?;
        let files = catalogue.sources().iter().map(|it| (it.path.clone(), it.text.to_string()));
        let own = Texts { base: None, files: files.collect() };
        let (own_hash, _) = own.stored();
        let catalogues = Mutex::new(HashMap::from([(own_hash.clone(), Arc::new(catalogue))]));
        Ok(Self { own, own_hash, catalogues, compiled: Mutex::default() })
    }

    /// The texts of this package, to be kept with the games that they are used for.
    pub fn own(&self) -> &Texts {
        &self.own
    }

    /// The hash of the texts of this package.
    pub fn own_hash(&self) -> &str {
        &self.own_hash
    }

    /// The games and presets of texts that are known.
    pub fn catalogue(&self, hash: &str) -> Option<Arc<Catalogue>> {
        lock(&self.catalogues).get(hash).cloned()
    }

    /// Makes texts known; those that they build on are.
    ///
    /// # Errors
    /// Metadata that makes no sense.
    pub fn add(&self, texts: &Texts) -> Result<(String, Arc<Catalogue>), CatalogueError> {
        let (hash, _) = texts.stored();
        if let Some(known) = self.catalogue(&hash) {
            return Ok((hash, known));
        }
        let catalogue = Arc::new(self.catalogue_with(texts)?);
        let mut catalogues = lock(&self.catalogues);
        if catalogues.len() >= KEPT {
            // The store has them all: what is asked for comes back.
            catalogues.retain(|it, _| *it == self.own_hash);
        }
        catalogues.insert(hash.clone(), Arc::clone(&catalogue));
        drop(catalogues);
        Ok((hash, catalogue))
    }

    /// The games and presets of texts, which stay unknown.
    ///
    /// # Errors
    /// Metadata that makes no sense.
    pub fn catalogue_with(&self, texts: &Texts) -> Result<Catalogue, CatalogueError> {
        let files = texts
            .files
            .iter()
            .map(|(path, text)| Source { path: path.clone(), text: text.as_str().into() });
        match texts.base.as_ref().and_then(|it| self.catalogue(it)) {
            None => Catalogue::new(files.collect()),
            Some(base) => {
                let mut catalogue = (*base).clone();
                files.into_iter().try_for_each(|it| catalogue.add(it))?;
                Ok(catalogue)
            }
        }
    }

    /// A game with presets, if it was compiled already.
    pub fn known(&self, rules: &str, game: &str, presets: &[String]) -> Option<Arc<Ruleset>> {
        let key = (rules.to_owned(), game.to_owned(), presets.to_vec());
        lock(&self.compiled).get(&key).cloned()
    }

    /// A game with presets, compiled. Takes some milliseconds the first time.
    ///
    /// # Errors
    /// The texts are not known, or the game cannot be loaded.
    pub fn load(
        &self,
        rules: &str,
        game: &str,
        presets: &[String],
    ) -> Result<Arc<Ruleset>, LoadError> {
        if let Some(known) = self.known(rules, game, presets) {
            return Ok(known);
        }
        let key = (rules.to_owned(), game.to_owned(), presets.to_vec());
        let unknown = || LoadError::Game { name: game.to_owned(), near: None };
        let catalogue = self.catalogue(rules).ok_or_else(unknown)?;
        let ruleset = Arc::new(catalogue.load(game, presets)?);
        let mut compiled = lock(&self.compiled);
        if compiled.len() >= KEPT {
            compiled.clear();
        }
        compiled.insert(key, Arc::clone(&ruleset));
        Ok(ruleset)
    }
}

/// A lock that a panic elsewhere does not take away: what is behind it is valid at any time.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
