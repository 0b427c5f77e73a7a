//! The known keys of `.meta` lines. The language leaves all others to other programs, so a
//! typing error would go unnoticed: `check` reports them.

use crate::facts::nearest;
use crate::rules::{Source, metas};

/// The known keys, by subject.
const KEYS: &[&str] = &[
    // The kind of a file, and its relations to others.
    "family",
    "game",
    "include",
    "layout",
    "module",
    "names",
    "part",
    "preset",
    // Games and layouts.
    "alias",
    "board",
    "entities",
    "fact",
    "feature",
    "number",
    "oracle",
    "pattern",
    "place",
    "shuffled",
    "sides",
    "start",
    "title",
    "use",
    // Presets.
    "also",
    "compatible",
    "description",
    "differs",
    "example",
    "incompatible",
    "legality",
    "name",
    "option",
    "range",
    "requires",
    // Notation of positions and moves.
    "fault",
    "fen",
    "san",
    // Drawing.
    "aura",
    "divide",
    "drawing",
    "ground",
    "image",
    "mark",
    "piece",
    "trait",
    "vital",
    "zone",
    // Other programs: clients, vectors, older saves.
    "client_letters",
    "client_piece",
    "history",
    "refusal",
    "request",
];

/// Messages about the `.meta` lines of a file with unknown keys, with the most similar known key.
pub fn unknown_keys(source: &Source) -> Vec<String> {
    let metas = metas(source);
    let unknown = metas.iter().filter(|it| !KEYS.contains(&it.key.as_str()));
    let messages = unknown.map(|it| {
        let meant = nearest(&it.key, KEYS.iter().copied());
        let meant = meant.map(|it| format!("; did you mean `.meta {it}`?")).unwrap_or_default();
        format!("line {}: `.meta {}` means nothing to Rulemate{meant}", it.span.line, it.key)
    });
    messages.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::EMBEDDED;

    #[test]
    fn the_keys_of_our_own_rules_are_known() {
        for (path, text) in EMBEDDED {
            let source = Source { path: (*path).into(), text: (*text).into() };
            assert_eq!(unknown_keys(&source), Vec::<String>::new(), "{path}");
        }
    }

    #[test]
    fn what_may_have_been_meant_is_told() {
        let text =
            ".meta game \"x\"\n.meta layot \"orthodox\"\n.meta weatherglass \"blue\"\n".into();
        let messages = unknown_keys(&Source { path: "x.dl".into(), text });
        let layout =
            "line 2: `.meta layot` means nothing to Rulemate; did you mean `.meta layout`?";
        assert_eq!(messages, [layout, "line 3: `.meta weatherglass` means nothing to Rulemate"]);
    }
}
