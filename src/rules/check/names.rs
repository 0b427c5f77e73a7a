//! Scopes of names: the core, families, modules and layouts share theirs with all files, a preset or
//! game has names of its own.
//!
//! A name is looked up among those of the file's own preset or game, then among the shared ones and their earlier
//! names (`.alias`), then among the exports of other presets and the game. A name that is not exported is called
//! `preset::name` in the program, so that two presets may both declare `hand`. All this applies if a file, in practice
//! one of the core, has `.meta names "private"`. In other programs (older saves, which contain their core) all names
//! are shared.

use std::hash::Hash;

use foldhash::{HashMap, HashSet, HashSetExt};

use super::super::ast::{Alias, File, Item, Name, RelationDecl, RelationKind};
use super::super::program::{SEPARATOR, Span};

/// The scopes of a program, which are its presets and its game: the files of each (a part of a preset is one of the
/// preset's), and its exports.
#[derive(Default)]
pub(super) struct Scopes<'t> {
    /// The scope of each file, by the number of the file.
    of: Vec<Option<u16>>,
    /// The name of each scope.
    names: Vec<&'t str>,
    /// The game, of which a program has one: it exports all its names.
    game: Option<u16>,
    exported: HashSet<(u16, &'t str)>,
    /// The attributes of exported inputs.
    attributes: HashSet<(u16, &'t str)>,
    /// The names after `.export`, each with its scope.
    exports: Vec<(u16, Name<'t>)>,
    aliases: Vec<Alias<'t>>,
}

impl<'t> Scopes<'t> {
    pub(super) fn of(files: &[&File<'t>]) -> Self {
        let items = files.iter().flat_map(|it| &it.items);
        let alias = |it: &Item<'t>| if let Item::Alias(it) = it { Some(*it) } else { None };
        let aliases = items.filter_map(alias).collect();
        let mut scopes = Self { aliases, ..Self::default() };
        if !files.iter().any(|it| it.meta("names") == Some("private")) {
            return Self { of: vec![None; files.len()], ..scopes };
        }
        let of: Vec<Option<u16>> = files.iter().map(|it| scopes.add(it)).collect();
        let items = || {
            let files = files.iter().zip(&of).filter_map(|(file, of)| Some((file, (*of)?)));
            files.flat_map(|(file, scope)| file.items.iter().map(move |it| (scope, it)))
        };
        let mut exports = Vec::new();
        for (scope, item) in items() {
            if let Item::Export(names) = item {
                exports.extend(names.iter().map(|it| (scope, *it)));
            }
        }
        let exported: HashSet<_> = exports.iter().map(|it| (it.0, it.1.text)).collect();
        let mut attributes = HashSet::new();
        for (scope, item) in items() {
            if let Item::Relation(RelationDecl { name, kind, .. }) = item
                && let RelationKind::Input(input) = kind
                && exported.contains(&(scope, name.text))
            {
                attributes.insert((scope, input.attr.text));
            }
        }
        Self { of, exports, exported, attributes, ..scopes }
    }

    /// The scope of a file, which is added if no earlier file belongs to it; `None` if the file's names are shared.
    fn add(&mut self, file: &File<'t>) -> Option<u16> {
        let game = file.meta("game");
        let name = game.or(file.meta("preset")).or(file.meta("part"))?;
        // A game and a preset may have the same name.
        let is_game = |it: &u16| self.game == Some(*it);
        let known = self.named(name).find(|it| is_game(it) == game.is_some());
        let scope = known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() as u16 - 1
        });
        if game.is_some() {
            self.game = Some(scope);
        }
        Some(scope)
    }

    /// The preset or game that a place belongs to.
    pub(super) fn at(&self, span: Span) -> Option<u16> {
        self.of.get(usize::from(span.source)).copied().flatten()
    }

    /// For each file the name of its preset or game.
    pub(super) fn by_file(&self) -> Vec<Option<String>> {
        let name = |it: &Option<u16>| it.map(|it| self.names[usize::from(it)].to_owned());
        self.of.iter().map(name).collect()
    }

    fn name(&self, scope: u16) -> &'t str {
        self.names[usize::from(scope)]
    }

    fn named(&self, name: &str) -> impl Iterator<Item = u16> {
        (0..).zip(&self.names).filter(move |it| **it.1 == *name).map(|it| it.0)
    }

    fn is_exported(&self, scope: u16, name: &str) -> bool {
        self.game == Some(scope) || self.exported.contains(&(scope, name))
    }

    /// The names after `.export`, each with its scope.
    pub(super) fn exports(&self) -> &[(u16, Name<'t>)] {
        &self.exports
    }

    /// The earlier names of relations, in the order of the files.
    pub(super) fn aliases(&self) -> &[Alias<'t>] {
        &self.aliases
    }

    /// The present name of a relation that has this earlier one.
    pub(super) fn renamed(&self, old: &str) -> Option<&'t str> {
        self.aliases.iter().find(|it| it.old.text == old).map(|it| it.new.text)
    }

    /// The full name in the program of a file's private name; `None` if the name is shared or exported.
    pub(super) fn private(&self, name: Name<'_>) -> Option<String> {
        let scope = self.at(name.span).filter(|&it| !self.is_exported(it, name.text))?;
        Some(self.full_name(scope, name.text))
    }

    /// The full name of an attribute that is private to the preset of its file; `None` if it is shared. So is one whose
    /// name begins with the preset's name and a period: no other file has one of that name.
    pub(super) fn private_attribute(&self, name: Name<'_>) -> Option<String> {
        let scope = self.at(name.span).filter(|it| self.game != Some(*it))?;
        let rest = name.text.strip_prefix(self.name(scope));
        let is_shared = rest.is_some_and(|it| it.starts_with('.'))
            || self.attributes.contains(&(scope, name.text));
        (!is_shared).then(|| self.full_name(scope, name.text))
    }

    fn full_name(&self, scope: u16, name: &str) -> String {
        format!("{}{SEPARATOR}{name}", self.name(scope))
    }
}

/// The result of a declaration.
pub(super) struct Declared<T> {
    /// The full name in the program, if that differs.
    pub(super) full: Option<String>,
    /// Another declaration that is shared or exported under the same name.
    pub(super) clash: Option<T>,
}

/// Where a name was found, the nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Found {
    /// In the preset or game of its place, or in the one that it names itself.
    Own,
    Shared,
    Exported,
}

/// The names of one sort (relations, events, stages or domains) with their meanings.
pub(super) struct NameTable<'t, T> {
    shared: HashMap<&'t str, T>,
    own: HashMap<(u16, &'t str), T>,
    exported: HashMap<&'t str, T>,
}

impl<T> Default for NameTable<'_, T> {
    fn default() -> Self {
        Self { shared: HashMap::default(), own: HashMap::default(), exported: HashMap::default() }
    }
}

impl<'t, T: Copy + Eq + Hash> NameTable<'t, T> {
    /// Declares a name; the error is an existing declaration in the same files, or one that every file may
    /// add to.
    pub(super) fn declare(
        &mut self,
        scopes: &Scopes<'t>,
        name: Name<'t>,
        meaning: T,
        is_open: impl Fn(T) -> bool,
    ) -> Result<Declared<T>, T> {
        let text = name.text;
        let Some(scope) = scopes.at(name.span) else {
            self.share(text, meaning)?;
            return Ok(Declared { full: None, clash: self.exported.get(text).copied() });
        };
        if let Some(&old) = self.own.get(&(scope, text)) {
            return Err(old);
        }
        let shared = self.shared.get(text).copied();
        if let Some(old) = shared.filter(|it| is_open(*it)) {
            return Err(old);
        }
        self.own.insert((scope, text), meaning);
        let is_exported = scopes.is_exported(scope, text);
        if is_exported && shared.is_none() && !self.exported.contains_key(text) {
            self.exported.insert(text, meaning);
            return Ok(Declared { full: None, clash: None });
        }
        let clash = match shared {
            // A game exports all its names, but only what it lists after `.export` clashes with a shared name.
            Some(_) => shared.filter(|_| scopes.exported.contains(&(scope, text))),
            None if is_exported => self.exported.get(text).copied(),
            None => None,
        };
        Ok(Declared { full: Some(scopes.full_name(scope, text)), clash })
    }

    /// Declares a name for all files; the error is an existing declaration.
    pub(super) fn share(&mut self, name: &'t str, meaning: T) -> Result<(), T> {
        match self.shared.get(name) {
            Some(&old) => Err(old),
            None => {
                self.shared.insert(name, meaning);
                Ok(())
            }
        }
    }

    /// Lets a preset or game use something of another one as if it had declared that itself.
    pub(super) fn adopt(&mut self, scopes: &Scopes<'t>, name: Name<'t>, meaning: T) {
        if let Some(scope) = scopes.at(name.span) {
            self.own.insert((scope, name.text), meaning);
        }
    }

    /// The meaning of a name at its place, and where it was found.
    pub(super) fn find(&self, scopes: &Scopes<'t>, name: Name<'_>) -> Option<(T, Found)> {
        let scope = scopes.at(name.span);
        // Few names have a colon at all, and looking for one character is fast.
        let split = name.text.contains(':').then(|| name.text.split_once(SEPARATOR));
        let Some((of, text)) = split.flatten() else {
            let own = scope.and_then(|it| self.own.get(&(it, name.text)));
            let shared = || {
                let renamed = || self.shared.get(scopes.renamed(name.text)?);
                self.shared.get(name.text).or_else(renamed).map(|it| (*it, Found::Shared))
            };
            let exported = || self.exported.get(name.text).map(|it| (*it, Found::Exported));
            return own.map(|it| (*it, Found::Own)).or_else(shared).or_else(exported);
        };
        // No file has private names: all are shared.
        if scopes.names.is_empty() {
            return self.shared.get(text).map(|it| (*it, Found::Shared));
        }
        // Files of no preset and no game belong to the package.
        let is_allowed =
            |it: &u16| scope.is_none() || scope == Some(*it) || scopes.is_exported(*it, text);
        let own = |it: u16| self.own.get(&(it, text)).copied();
        scopes.named(of).filter(is_allowed).find_map(own).map(|it| (it, Found::Own))
    }

    pub(super) fn get(&self, scopes: &Scopes<'t>, name: Name<'_>) -> Option<T> {
        self.find(scopes, name).map(|it| it.0)
    }

    /// A preset or game that has the name as a private one.
    pub(super) fn private_owner(
        &self,
        scopes: &Scopes<'t>,
        name: Name<'_>,
    ) -> Option<(&'t str, T)> {
        let (of, text) = match name.text.split_once(SEPARATOR) {
            Some((of, text)) => (Some(of), text),
            None => (None, name.text),
        };
        let mut all = (0..).zip(&scopes.names).filter(|it| of.is_none_or(|of| **it.1 == *of));
        all.find_map(|(scope, of)| Some((*of, *self.own.get(&(scope, text))?)))
    }

    /// The names that are visible at a place, in no order.
    pub(super) fn visible(&self, scopes: &Scopes<'t>, from: Span) -> Vec<&'t str> {
        let scope = scopes.at(from);
        let own = self.own.keys().filter(|it| Some(it.0) == scope).map(|it| it.1);
        let all = self.shared.keys().chain(self.exported.keys()).copied().chain(own);
        let all: HashSet<&'t str> = all.collect();
        all.into_iter().collect()
    }

    /// What all files share under a name.
    pub(super) fn shared(&self, name: &str) -> Option<T> {
        self.shared.get(name).copied()
    }

    pub(super) fn declares(&self, scope: u16, name: &str) -> bool {
        self.own.contains_key(&(scope, name))
    }

    /// The names of a preset or game.
    pub(super) fn of(&self, scope: u16) -> impl Iterator<Item = &'t str> {
        self.own.keys().filter(move |it| it.0 == scope).map(|it| it.1)
    }
}
