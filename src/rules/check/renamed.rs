//! Earlier names of relations (`.alias`): whether they make sense, and what mistakes in texts that use them say.
//!
//! Deliberately absent: the search for names, which knows the earlier ones (`names`).

use std::rc::Rc;

use super::super::diagnostic::Diagnostic;
use super::super::mistake;
use super::super::source::Source;
use super::Checker;

impl Checker<'_> {
    /// An earlier name is of one relation, which all files share, and no relation has it now.
    pub(super) fn check_aliases(&mut self) {
        let scopes = Rc::clone(&self.scopes);
        for (at, alias) in scopes.aliases().iter().enumerate() {
            let earlier = scopes.aliases()[..at].iter().find(|it| it.old.text == alias.old.text);
            if let Some(first) = earlier {
                self.report(mistake::alias_twice(*alias, *first));
            } else if let Some(taken) = self.relation_ids.shared(alias.old.text) {
                self.report(mistake::alias_taken(*alias, self.relation(taken).span));
            } else if let Some(now) = scopes.renamed(alias.new.text)
                && self.relation_ids.shared(alias.new.text).is_none()
            {
                self.report(mistake::alias_of_alias(*alias, now));
            } else if self.relation_ids.shared(alias.new.text).is_none()
                && self.find(alias.new).is_some()
            {
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
pub(super) fn explain(found: &mut [Diagnostic], sources: &[Source], renames: &[(String, String)]) {
    for mistake in found {
        let span = mistake.span();
        let text = sources.get(usize::from(span.source)).map_or("", |it| &it.text);
        let quoted = text.get(span.start as usize..span.end as usize).unwrap_or_default();
        let is_part = |it: char| it.is_alphanumeric() || it == '_';
        let is_said = |old: &str| {
            let mut words = quoted.split(|it| !is_part(it));
            words.any(|it| it == old) || mistake.message.contains(&format!("`{old}`"))
        };
        // A mistake about the renaming itself says so already.
        let renamed =
            renames.iter().filter(|it| !mistake::is_about_alias(mistake) && is_said(&it.0));
        let notes: Vec<String> =
            renamed.map(|(old, new)| format!("`{old}` is called `{new}` now")).collect();
        mistake.notes.extend(notes);
    }
}
