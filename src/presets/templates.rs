//! Rule text generated from the files of `rules/templates` that have parts, with the placeholders filled in.
//!
//! A part begins with a line `% --- NAME`, a placeholder is a word in angle brackets: `<kind>`.
//! Deliberately absent: rule text. All of it stands in the templates.

use crate::rules::template;

/// The text of a template.
#[derive(Debug, Clone, Copy)]
pub(super) struct Template(&'static str);

impl Template {
    /// The template of this name, the file's without `.dl.in`. Empty if there is none.
    pub(super) fn named(name: &str) -> Self {
        Self(template(name))
    }

    /// A part, unfilled, without blanks and line ends at its end. Empty if there is none of that name.
    pub(super) fn part(self, name: &str) -> &'static str {
        let parts = self.0.split("% --- ").skip(1);
        let mut parts = parts.filter_map(|it| it.split_once('\n'));
        parts.find(|it| it.0 == name).map_or("", |it| it.1.trim_end())
    }

    /// A part with its placeholders filled in. Those without a value, and those in the inserted text, are left as
    /// they are.
    pub(super) fn filled(self, name: &str, places: &[(&str, &str)]) -> String {
        let mut rest = self.part(name);
        let mut text = String::new();
        while let Some((before, after)) = rest.split_once('<') {
            let place = after
                .split_once('>')
                .and_then(|(word, after)| Some((places.iter().find(|it| it.0 == word)?.1, after)));
            let (value, after) = place.unwrap_or(("<", after));
            text += before;
            text += value;
            rest = after;
        }
        text + rest
    }
}
