//! The rules that games are played by, compiled once however many games there are.
//!
//! A game names its rule texts by their hash, and the store keeps the texts: a game goes on by the
//! rules it began with, whatever a later version of this program says.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::lock::lock;
use crate::presets::{Catalogue, CatalogueError, LoadError, Ruleset, Source};

/// Maximum size of the cache of compiled rule sets, in bytes. The rules of games in play stay in memory beyond that.
const COMPILED: usize = 96 << 20;
/// Maximum size of the cache of catalogues, in bytes.
const CATALOGUES: usize = 32 << 20;
/// An estimate of the bytes of a catalogue besides its own texts. A catalogue that builds on another is a copy of the
/// other, and shares only the texts with it.
const ENTRIES: usize = 256 << 10;

/// A cache of limited size in bytes, which evicts the least recently used entries.
#[derive(Debug)]
struct Cache<K, V> {
    entries: HashMap<K, Cached<V>>,
    /// Number of uses so far: the time of the cache.
    uses: u64,
    bytes: usize,
    limit: usize,
}

#[derive(Debug)]
struct Cached<V> {
    value: V,
    bytes: usize,
    used_at: u64,
}

impl<K: Clone + Eq + Hash, V: Clone> Cache<K, V> {
    fn new(limit: usize) -> Self {
        Self { entries: HashMap::new(), uses: 0, bytes: 0, limit }
    }

    fn get(&mut self, key: &K) -> Option<V> {
        self.uses += 1;
        let entry = self.entries.get_mut(key)?;
        entry.used_at = self.uses;
        Some(entry.value.clone())
    }

    fn put(&mut self, key: K, value: V, bytes: usize) {
        self.uses += 1;
        let entry = Cached { value, bytes, used_at: self.uses };
        let before = self.entries.insert(key.clone(), entry).map_or(0, |it| it.bytes);
        self.bytes = self.bytes + bytes - before;
        while self.bytes > self.limit {
            let others = self.entries.iter().filter(|it| *it.0 != key);
            let Some(oldest) = others.min_by_key(|it| it.1.used_at).map(|it| it.0.clone()) else {
                return;
            };
            self.bytes -= self.entries.remove(&oldest).map_or(0, |it| it.bytes);
        }
    }
}

/// Rule texts as they are stored: files on top of others.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Texts {
    /// The hash of the texts that these build on; `None` for those of a package.
    pub base: Option<String>,
    /// Paths and texts.
    pub files: Vec<(String, String)>,
    /// Whether they come from a folder of this machine: neither from an upload nor from a package.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trusted: bool,
}

impl Texts {
    /// The form that is stored, and its hash.
    pub fn stored(&self) -> (String, String) {
        let text = serde_json::to_string(self).unwrap_or_default();
        (blake3::hash(text.as_bytes()).to_hex().to_string(), text)
    }

    /// The texts of a stored form; `None` if it is damaged and has another hash: such texts might build on themselves.
    pub(super) fn from_stored(hash: &str, text: &str) -> Option<Self> {
        let texts: Self = serde_json::from_str(text).ok()?;
        (texts.stored().0 == hash).then_some(texts)
    }

    /// Whether the texts were uploaded.
    pub(super) fn is_uploaded(&self) -> bool {
        self.base.is_some() && !self.trusted
    }

    /// The estimated size of a catalogue of these texts, in bytes.
    fn bytes(&self) -> usize {
        ENTRIES + self.files.iter().map(|it| it.1.len()).sum::<usize>()
    }
}

/// The key of a compiled rule set.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct RulesKey {
    /// The hash of the rule texts.
    pub(super) hash: String,
    pub(super) game: String,
    pub(super) presets: Vec<String>,
}

impl RulesKey {
    fn new(hash: &str, game: &str, presets: &[String]) -> Self {
        Self { hash: hash.to_owned(), game: game.to_owned(), presets: presets.to_vec() }
    }
}

/// Rules that the server offers, with their hash.
#[derive(Debug)]
pub struct Offer {
    pub texts: Texts,
    pub hash: String,
    pub catalogue: Arc<Catalogue>,
}

impl Offer {
    fn new(texts: Texts, catalogue: Arc<Catalogue>) -> Arc<Self> {
        let (hash, _) = texts.stored();
        Arc::new(Self { texts, hash, catalogue })
    }
}

/// All rules in use.
#[derive(Debug)]
pub struct Library {
    /// The rules of this package.
    package: Arc<Offer>,
    /// The rules of games that name none: the package's, with the files of this machine on top.
    own: Mutex<Arc<Offer>>,
    /// The catalogues of other texts, and whether they were uploaded.
    catalogues: Mutex<Cache<String, (Arc<Catalogue>, bool)>>,
    compiled: Mutex<Cache<RulesKey, Arc<Ruleset>>>,
}

impl Library {
    /// Bytes of the programs, in use or cached, of this package's catalogue and of catalogues that build on it.
    #[doc(hidden)]
    pub fn program_bytes(&self) -> usize {
        self.package.catalogue.program_bytes()
    }

    /// A library that offers the rules of this package.
    ///
    /// # Errors
    /// Never, as a test checks.
    pub fn new() -> Result<Self, CatalogueError> {
        let catalogue = Catalogue::embedded()?;
        let files = catalogue.sources().iter().map(|it| (it.path.clone(), it.text.to_string()));
        let texts = Texts { base: None, files: files.collect(), trusted: false };
        let package = Offer::new(texts, Arc::new(catalogue));
        let own = Mutex::new(Arc::clone(&package));
        let catalogues = Mutex::new(Cache::new(CATALOGUES));
        let compiled = Mutex::new(Cache::new(COMPILED));
        Ok(Self { package, own, catalogues, compiled })
    }

    /// The rules of this package, which all others build on.
    #[doc(hidden)]
    pub fn package(&self) -> &Offer {
        &self.package
    }

    /// The rules that the server offers, to be kept with the games that they are used for.
    #[doc(hidden)]
    pub fn own(&self) -> Arc<Offer> {
        Arc::clone(&lock(&self.own))
    }

    /// The hash of the rules that the server offers.
    #[doc(hidden)]
    pub fn own_hash(&self) -> String {
        self.own().hash.clone()
    }

    /// Files of this machine on top of the package's.
    ///
    /// # Errors
    /// Metadata that is not valid.
    #[doc(hidden)]
    pub fn offer_of(&self, files: &[Source]) -> Result<Arc<Offer>, CatalogueError> {
        if files.is_empty() {
            return Ok(Arc::clone(&self.package));
        }
        let files = files.iter().map(|it| (it.path.clone(), it.text.to_string()));
        let base = Some(self.package.hash.clone());
        let texts = Texts { base, files: files.collect(), trusted: true };
        let catalogue = Arc::new(self.catalogue_with(&texts)?);
        Ok(Offer::new(texts, catalogue))
    }

    /// Offers other rules from now on. Games under way keep theirs.
    #[doc(hidden)]
    pub fn offer(&self, offer: Arc<Offer>) {
        let mut own = lock(&self.own);
        // The earlier rules are in the cache before they are replaced, so that they are always found.
        if own.texts.base.is_some() {
            let known = (Arc::clone(&own.catalogue), false);
            lock(&self.catalogues).put(own.hash.clone(), known, own.texts.bytes());
        }
        *own = offer;
    }

    /// The games and presets of texts that are known.
    #[doc(hidden)]
    pub fn catalogue(&self, hash: &str) -> Option<Arc<Catalogue>> {
        let own = self.own();
        let offered = [&*self.package, &*own].into_iter().find(|it| it.hash == hash);
        match offered {
            Some(it) => Some(Arc::clone(&it.catalogue)),
            None => lock(&self.catalogues).get(&hash.to_owned()).map(|it| it.0),
        }
    }

    /// Whether rules were uploaded, rather than part of this package, of an earlier one or of a folder of this
    /// machine. Unknown rules count as uploaded.
    #[doc(hidden)]
    pub fn is_uploaded(&self, hash: &str) -> bool {
        hash != self.package.hash
            && hash != self.own().hash
            && lock(&self.catalogues).get(&hash.to_owned()).is_none_or(|it| it.1)
    }

    /// Makes texts known.
    ///
    /// # Errors
    /// Metadata that is not valid, or the texts that they build on are not known.
    #[doc(hidden)]
    pub fn add(&self, texts: &Texts) -> Result<(), CatalogueError> {
        let (hash, _) = texts.stored();
        if self.catalogue(&hash).is_none() {
            let catalogue = Arc::new(self.catalogue_with(texts)?);
            // The store has all texts, so an evicted one can be loaded again.
            lock(&self.catalogues).put(hash, (catalogue, texts.is_uploaded()), texts.bytes());
        }
        Ok(())
    }

    /// The games and presets of texts, without making them known.
    ///
    /// # Errors
    /// Metadata that is not valid, or the texts that they build on are not known.
    #[doc(hidden)]
    pub fn catalogue_with(&self, texts: &Texts) -> Result<Catalogue, CatalogueError> {
        let files = texts
            .files
            .iter()
            .map(|(path, text)| Source { path: path.clone(), text: text.as_str().into() });
        let Some(base) = &texts.base else { return Catalogue::new(files.collect()) };
        let unknown = || {
            let path = texts.files.first().map(|it| it.0.clone()).unwrap_or_default();
            let fault = format!("the rules {base}, which this builds on, are not known");
            CatalogueError { path, line: 1, fault }
        };
        let mut catalogue = (*self.catalogue(base).ok_or_else(unknown)?).clone();
        files.into_iter().try_for_each(|it| catalogue.add(it))?;
        Ok(catalogue)
    }

    /// A game with presets, if it is compiled and still in the cache.
    #[doc(hidden)]
    pub fn known(&self, rules: &str, game: &str, presets: &[String]) -> Option<Arc<Ruleset>> {
        lock(&self.compiled).get(&RulesKey::new(rules, game, presets))
    }

    /// A game with presets, compiled. Takes some milliseconds the first time.
    ///
    /// # Errors
    /// The game cannot be loaded. If the texts are unknown, so is the game.
    pub fn load(
        &self,
        rules: &str,
        game: &str,
        presets: &[String],
    ) -> Result<Arc<Ruleset>, LoadError> {
        if let Some(known) = self.known(rules, game, presets) {
            return Ok(known);
        }
        let unknown = || LoadError::Game { name: game.to_owned(), near: None };
        let catalogue = self.catalogue(rules).ok_or_else(unknown)?;
        let ruleset = Arc::new(catalogue.load(game, presets)?);
        let (key, bytes) = (RulesKey::new(rules, game, presets), ruleset.plan().heap_bytes());
        lock(&self.compiled).put(key, Arc::clone(&ruleset), bytes);
        Ok(ruleset)
    }
}
