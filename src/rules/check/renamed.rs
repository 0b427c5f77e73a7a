//! Earlier names of relations (`.alias`): mistakes in them, and notes about their use.
//!
//! Deliberately absent: the search for names, which knows the earlier ones (`names`).

use std::rc::Rc;

use super::super::diagnostic::Diagnostic;
use super::super::mistake;
use super::super::program::Program;
use super::super::source::Source;
use super::Checker;

impl Checker<'_> {
    /// Reports an earlier name that is given twice or is a relation's name now, and a present name that is not one of a
    /// relation that all files share.
    pub(super) fn check_aliases(&mut self) {
        let scopes = Rc::clone(&self.scopes);
        for (at, alias) in scopes.aliases().iter().enumerate() {
            let earlier = scopes.aliases()[..at].iter().find(|it| it.old.text == alias.old.text);
            if let Some(first) = earlier {
                self.report(mistake::alias_twice(*alias, *first));
            } else if let Some(taken) = self.relation_ids.shared(alias.old.text) {
                self.report(mistake::alias_taken(*alias, self.relation(taken).span));
            } else if self.relation_ids.shared(alias.new.text).is_some() {
                continue;
            } else if let Some(now) = scopes.renamed(alias.new.text) {
                self.report(mistake::alias_of_alias(*alias, now));
            } else if self.find(alias.new).is_some() {
                self.report(mistake::alias_of_own(*alias));
            }
        }
    }

    /// The earlier names of relations, each with the one of today.
    pub(super) fn renames(&self) -> Vec<(String, String)> {
        let aliases = self.scopes.aliases().iter();
        aliases.map(|it| (it.old.text.to_owned(), it.new.text.to_owned())).collect()
    }
}

/// Adds to mistakes about an earlier name what the relation is called now.
pub(super) fn note_renames(found: &mut [Diagnostic], sources: &[Source], program: &Program) {
    // A mistake about the renaming itself says so already.
    for mistake in found.iter_mut().filter(|it| !mistake::is_about_alias(it)) {
        let span = mistake.span();
        let text = sources.get(usize::from(span.source)).map_or("", |it| &it.text);
        let quoted = text.get(span.start as usize..span.end as usize).unwrap_or_default();
        // Members of domains have names of their own.
        if quoted.starts_with('\'') {
            continue;
        }
        let is_of_name = |it: char| it.is_alphanumeric() || it == '_';
        let mentions = |old: &str| {
            let mut words = quoted.split(|it| !is_of_name(it));
            words.any(|it| it == old) || mistake.message.contains(&format!("`{old}`"))
        };
        // A file's own relation may have such a name.
        let is_earlier = |old: &str| program.relation_in(span.source, old).is_none();
        let meant = program.renames.iter().filter(|it| mentions(&it.0) && is_earlier(&it.0));
        let notes: Vec<String> =
            meant.map(|(old, new)| format!("`{old}` is called `{new}` now")).collect();
        mistake.notes.extend(notes);
    }
}
