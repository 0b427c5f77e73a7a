//! The known keys of `.meta` lines. The language leaves all others to other programs, so a
//! typing error would go unnoticed: `check` reports them, and values that declare nothing.

use crate::facts::nearest;
use crate::moves::form_fault;
use crate::rules::{Meta, Source, metas};

use super::activation::read_range;

/// The known keys, a line for each subject.
const KEYS: [&str; 6] = [
    // The kind of a file, and its relations to others.
    "family forget game include layout module names part preset",
    // Games and layouts.
    "alias board entities fact feature number oracle pattern place shuffled sides start title use",
    // Presets.
    "also compatible description differs example incompatible legality name option range requires",
    // Notation of positions and moves.
    "fault fen san",
    // Drawing.
    "aura divide drawing ground image mark piece trait vital zone",
    // Other programs: clients, vectors, older saves.
    "client_letters client_piece history refusal request",
];

fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().flat_map(|it| it.split(' '))
}

/// Messages about the `.meta` lines of a file that mean nothing, or nothing there, with what may have been meant.
pub fn unknown_keys(source: &Source) -> Vec<String> {
    let metas = metas(source);
    let has_start = metas.iter().any(|it| matches!(it.key.as_str(), "game" | "layout"));
    let told = |it: &Meta| Some(format!("line {}: {}", it.span.line, fault(it, has_start)?));
    metas.iter().filter_map(told).collect()
}

/// Why a line means nothing; `has_start`: in a file that may have a start, a game's or a layout's.
fn fault(meta: &Meta, has_start: bool) -> Option<String> {
    let Meta { key, value, .. } = meta;
    if !keys().any(|it| it == key) {
        let meant = nearest(key, keys());
        let meant = meant.map(|it| format!("; did you mean `.meta {it}`?")).unwrap_or_default();
        return Some(format!("`.meta {key}` means nothing to Rulemate{meant}"));
    }
    if key == "start" && !has_start {
        let why = "`.meta start` is that of a game or a layout, and the file is neither: write \
                   `.meta game \"NAME\"`";
        return Some(why.to_owned());
    }
    let why = match key.as_str() {
        "incompatible" if !value.contains(": ") => "expected \"PRESET: REASON\"".to_owned(),
        "legality" if value != "rules" => "it is \"rules\" or absent".to_owned(),
        "range" if read_range(value).is_none() => "expected \"OPTION: LEAST..MOST\"".to_owned(),
        _ => form_fault(key, value)?,
    };
    Some(format!("`.meta {key} {value:?}` declares nothing: {why}"))
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
    fn all_keys_are_documented() {
        let page = include_str!("../../docs/rules.md");
        let (_, table) = page.split_once("\n### All `.meta` lines\n").expect("the table");
        let (table, _) = table.split_once("\n## ").expect("a section after it");
        for key in keys() {
            let named = [format!("`{key}`"), format!("`{key} \"")];
            assert!(
                named.iter().any(|it| table.contains(it)),
                "docs/rules.md does not explain {key}"
            );
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

    #[test]
    fn a_start_without_a_game_is_told() {
        let told = |text: &str| unknown_keys(&Source { path: "x.dl".into(), text: text.into() });
        let messages = told(".meta title \"Race\"\n.meta start \"R4r w 1\"\n");
        assert_eq!(messages.len(), 1);
        assert!(messages[0].starts_with("line 2: `.meta start` is that of a game"), "{messages:?}");
        assert_eq!(told(".meta layout \"x\"\n.meta start \"R4r w 1\"\n"), Vec::<String>::new());
    }

    #[test]
    fn lines_that_declare_nothing_are_told() {
        let told = |line: &str| {
            let text = format!(".meta game \"x\"\n.meta {line}\n").into();
            unknown_keys(&Source { path: "x.dl".into(), text }).join("\n")
        };
        for (line, expected) in [
            (
                "fen \"poket\"",
                "line 2: `.meta fen \"poket\"` declares nothing: there is no word poket; did you mean pocket?",
            ),
            ("fen \"?=half_moves\"", "a KEY is expected before `=`"),
            ("fen \"shredder on\"", "nothing is expected after shredder"),
            ("fen \"pocket \"", "nothing is expected after pocket"),
            ("fen \"stack\"", "something is expected after stack"),
            ("fen \"mark ~promoted\"", "SIGN=RELATION is expected after mark"),
            (
                "fen \"hp 2=hp\"",
                "there is no word hp; such a line is KEY=RELATION, or begins with one of pocket, shredder, ",
            ),
            ("san \"umarked\"", "did you mean unmarked?"),
            (
                "legality \"rule\"",
                "`.meta legality \"rule\"` declares nothing: it is \"rules\" or absent",
            ),
            (
                "range \"hp: 1-9\"",
                "`.meta range \"hp: 1-9\"` declares nothing: expected \"OPTION: LEAST..MOST\"",
            ),
            ("range \"hp: 9..1\"", "declares nothing"),
            ("incompatible \"duck\"", "declares nothing: expected \"PRESET: REASON\""),
            ("fault \"peice no_piece\"", "did you mean piece?"),
            ("fault \"over\"", "something is expected after over"),
        ] {
            assert!(told(line).contains(expected), "{line}: {}", told(line));
        }
        for fine in [
            "fen \"?hm=half_moves\"",
            "fen \"counters +given\"",
            "san \"hold held_open\"",
            "range \"hp: 1..9\"",
            "incompatible \"duck: it floats\"",
        ] {
            assert_eq!(told(fine), "", "{fine}");
        }
    }
}
