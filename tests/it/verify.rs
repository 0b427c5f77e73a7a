//! `rulemate verify`: the public vectors pass, wrong rows are found, malformed files are named.

use crate::cli::{rulemate, scratch};

/// A row that is believed to be wrong, with what we count: its set says that captures in passing are
/// straight only, that its oracle allows them sideways, and that positions where that shows within four
/// half-moves were dropped. This one shows it: `the_row_that_is_believed_wrong_takes_sideways_in_passing`.
const BELIEVED_WRONG: [(&str, &str); 1] = [(
    "preset-berolina2.public.json",
    "failed 1n2k1n1/R3b3/2p1bppp/1N1p1p2/2p1P2P/q1P2K2/1P2QP1P/2B2BNR w - - 0 31\n  \
     depth 4: expected 1350101 nodes, found 1350075\n",
)];

/// Runs every list of moves, and every row up to 5 million nodes, of all public sets.
#[test]
fn public_vectors_pass() {
    let folder = std::fs::read_dir("tests/data/vectors/presets").expect("the vectors are there");
    let mut names: Vec<String> = folder
        .map(|it| it.expect("a file").file_name().to_string_lossy().into_owned())
        .filter(|it| it.ends_with(".json"))
        .collect();
    names.sort();
    assert_eq!(names.len(), 36);
    for name in names {
        let path = format!("tests/data/vectors/presets/{name}");
        let ran = rulemate(&["verify", "--max-nodes", "5000000", &path]);
        let wrong: String =
            BELIEVED_WRONG.iter().filter(|it| it.0 == name).map(|it| it.1).collect();
        let Some(line) = ran.out.strip_prefix(&wrong) else { panic!("{}{}", ran.out, ran.err) };
        let numbers: Vec<usize> =
            line.split(|c: char| !c.is_ascii_digit()).filter_map(|it| it.parse().ok()).collect();
        let [.., passed, failed, skipped] = numbers[..] else { panic!("{line}{}", ran.err) };
        assert_eq!(failed, usize::from(!wrong.is_empty()), "{}", ran.out);
        assert!(passed + skipped >= 137 && passed > 125, "{line}");
        assert_eq!(line, format!("{path}: {passed} passed, {failed} failed, {skipped} skipped\n"));
        assert_eq!(ran.code, failed as i32);
    }
}

/// Without the one rule that forbids it, the count is that of the row.
#[test]
fn the_row_that_is_believed_wrong_takes_sideways_in_passing() {
    let text = std::fs::read_to_string("rules/presets/berolina-pawns-2.dl").expect("the preset");
    let allowed: Vec<&str> = text.lines().filter(|it| !it.starts_with("misses_passed(")).collect();
    assert_eq!(allowed.len() + 1, text.lines().count());
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("sideways/rules/presets");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("berolina-pawns-2.dl"), allowed.join("\n")).expect("a file");
    let fen = "1n2k1n1/R3b3/2p1bppp/1N1p1p2/2p1P2P/q1P2K2/1P2QP1P/2B2BNR w - - 0 31";
    let args = ["perft", "--preset", "berolina-pawns-2", "--depth", "4", "--fen", fen, "--rules"];
    let folder = folder.parent().expect("a parent").to_string_lossy();
    let ran = rulemate(&[args.as_slice(), &[&*folder]].concat());
    assert!(ran.out.ends_with("nodes 1350101\n"), "{}{}", ran.out, ran.err);
}

#[test]
fn perft_lists_need_a_game() {
    let path = "tests/data/perft/giveaway.perft";
    let ran = rulemate(&["verify", path]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--game"), "{}", ran.err);
    let ran = rulemate(&["verify", "--game", "antichess", path]);
    assert_eq!(ran.out, format!("{path}: 23 passed, 0 failed, 0 skipped\n"));
}

#[test]
fn wrong_rows_are_shown_with_what_was_found() {
    let path = scratch(
        "wrong.json",
        r#"{"kind": "preset-vectors", "variant": "chess",
            "perft": [{"fen": "8/8/8/8/8/4k3/8/4K2R w K - 0 1", "depth": 1, "nodes": 12},
                      {"fen": "8/8/8/8/8/4k3/8/4K2R w K - 0 1", "depth": 1, "nodes": 14}],
            "legal_moves": [{"fen": "7k/8/8/8/8/8/8/K7 w - - 0 1", "moves": ["a1a2", "a1a3"]}]}"#,
    );
    let ran = rulemate(&["verify", "--jobs", "2", &path]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("missing: a1a3\n  extra: a1b1 a1b2\n"), "{}", ran.out);
    assert!(ran.out.contains("failed 8/8/8/8/8/4k3/8/4K2R w K - 0 1\n  depth 1: expected 1"));
    assert!(ran.out.ends_with("wrong.json: 1 passed, 2 failed, 0 skipped\n"), "{}", ran.out);
    let ran = rulemate(&["verify", "--json", &path]);
    let tally: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(tally["failures"].as_array().map(Vec::len), Some(2));
}

/// A game that is over, or a side without an action, has no turn; and there is one way to play no turns at all.
#[test]
fn positions_without_a_turn_have_none_to_count() {
    let path = scratch(
        "turns.json",
        r#"{"kind": "preset-vectors", "variant": "double-move",
            "perft": [{"fen": "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", "depth": 1, "nodes": 0},
                      {"fen": "k7/2Q5/8/8/8/8/8/7K b - - 0 1", "depth": 1, "nodes": 0},
                      {"fen": "7k/8/8/8/8/8/8/K7 w - - 0 1", "depth": 0, "nodes": 1}],
            "legal_moves": [{"fen": "7k/8/8/8/8/8/8/K7 w - - 0 1", "moves": ["a1a2,a2a1"]}]}"#,
    );
    let ran = rulemate(&["verify", &path]);
    assert!(
        ran.out.ends_with("turns.json: 3 passed, 1 failed, 0 skipped\n"),
        "{}{}",
        ran.out,
        ran.err
    );
}

/// The vectors of Fairy-Stockfish ask for SAN and winners, too.
#[test]
fn san_and_winners_are_compared() {
    for name in ["atomic", "horde", "kingofthehill", "racingkings"] {
        let path = format!("tests/data/vectors/fairy/{name}.public.json");
        let ran = rulemate(&["verify", "--max-nodes", "3000", &path]);
        let passed = ran.out.strip_prefix(&format!("{path}: ")).and_then(|it| it.split_once(' '));
        let passed = passed.and_then(|it| it.0.parse::<usize>().ok());
        assert!(passed.is_some_and(|it| it > 30), "{}{}", ran.out, ran.err);
        assert!(ran.out.contains(" passed, 0 failed, "), "{}{}", ran.out, ran.err);
    }
    let path = scratch(
        "marks.json",
        r#"{"kind": "preset-vectors", "variant": "kingofthehill",
            "san": [{"fen": "7k/8/8/8/8/4K3/8/8 w - - 0 1", "san": {"e3d2": "Kd2", "e3e4": "Ke4"}},
                    {"fen": "7k/5K2/6Q1/8/8/8/8/8 b - - 0 1", "san": {}}],
            "ends": [{"fen": "7k/8/8/8/4K3/8/8/8 b - - 0 1", "result": "white"},
                     {"fen": "7k/8/8/8/4K3/8/8/8 b - - 0 1", "result": "draw"},
                     {"fen": "7k/8/8/8/8/4K3/8/8 b - - 0 1", "result": "black"}]}"#,
    );
    let ran = rulemate(&["verify", &path]);
    assert!(ran.out.contains("missing: none\n  extra: e3d3 Kd3 e3d4 Kd4 "), "{}", ran.out);
    assert!(ran.out.contains("result: expected draw, found white\n"), "{}", ran.out);
    assert!(ran.out.contains("result: expected black, found none\n"), "{}", ran.out);
    assert!(ran.out.ends_with("marks.json: 2 passed, 3 failed, 0 skipped\n"), "{}", ran.out);
}

#[test]
fn malformed_files_are_named_with_line_and_reason() {
    let check = |name: &str, text: &str, parts: &[&str]| {
        let ran = rulemate(&["verify", "--game", "chess", &scratch(name, text)]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{name}");
        for part in parts {
            assert!(ran.err.contains(part), "{name}: {}", ran.err);
        }
    };
    check("cut.json", "{\"kind\": \"preset-vectors\",\n \"variant\"", &["cut.json:2: ", "EOF"]);
    check("poem.json", "{\n\"kind\": \"poem\"}", &["poem.json:2: ", "unknown kind `poem`"]);
    check("typo.perft", "epd 8/8 w - -\npreft 1 2\n", &["typo.perft:2: ", "preft"]);
    check("game.json", r#"{"kind": "preset-vectors", "variant": "chezz"}"#, &["chezz", "help:"]);
    let depth = r#"{"fen": "8/8 w", "perft_actions": {"two": 4}}"#;
    let depths = format!("{{\"kind\": \"chess-perft\", \"positions\": [{depth}]}}");
    check("depth.json", &depths, &["depth.json:1: ", "row 1 of `positions`", "number"]);
    check("what.txt", "", &["not a vector file"]);
}

#[test]
fn positions_that_cannot_be_set_up_fail() {
    let path = scratch("setup.perft", "epd nonsense w - -\nperft 1 2\n");
    let ran = rulemate(&["verify", "--game", "chess", &path]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("failed nonsense w - -\n  "), "{}", ran.out);
}

#[test]
fn requests_of_a_kind_that_the_rules_lack_are_shown_as_missing() {
    let step =
        |to: &str, kind: &str| format!(r#"{{"kind": "{kind}", "from": "h1", "to": "{to}"}}"#);
    let legal = [step("g1", "segment"), step("g2", "segment"), step("h2", "segment")].join(", ");
    let file = |legal: &str, slow: &str| {
        format!(
            r#"{{"kind": "ability-legal", "profile": "rules002", "scenarios": [{{"id": "X1", "position":
                {{"pieces": [{{"sq": "h1", "color": "white", "type": "K", "abilities": []}},
                             {{"sq": "h8", "color": "black", "type": "K", "abilities": []}}],
                  "turn": "white", "castling": "-", "ep": "-"{slow}}}, "legal": [{legal}]}}]}}"#
        )
    };
    let ran = rulemate(&["verify", &scratch("kinds.json", &file(&legal, ""))]);
    assert!(ran.out.ends_with("kinds.json: 1 passed, 0 failed, 0 skipped\n"), "{}", ran.out);
    let more = format!("{legal}, {}", step("h2", "hop"));
    let ran = rulemate(&["verify", &scratch("hop.json", &file(&more, ""))]);
    let missing = ran.out.lines().find(|it| it.starts_with("  missing: "));
    assert!(missing.is_some_and(|it| it.contains(r#""kind":"hop""#)), "{}", ran.out);
    let ran = rulemate(&["verify", &scratch("slow.json", &file(&legal, r#", "slow": 3"#))]);
    assert!(ran.out.contains("  slow needs a value for each side\n"), "{}", ran.out);
}

/// The games of corrections are those by which the file is answered, whatever each of them is called.
#[test]
fn corrections_are_for_the_game_that_is_played() {
    let of = |head: &str, fen: &str| {
        let row = format!(r#"{{"fen": "{fen}", "depth": 1, "nodes": 99}}"#);
        format!(r#"{{"kind": "preset-vectors", {head}, "perft": [{row}]}}"#)
    };
    let rook = "8/8/8/8/8/4k3/8/4K2R w K - 0 1";
    let hill = scratch("hill.json", &of(r#""variant": "KOTH""#, rook));
    let plain = scratch("plain.json", &of(r#""variant": "chess""#, rook));
    let shogi = scratch(
        "shogi.json",
        &of(
            r#""oracle": "Fairy-Stockfish", "variant": "minishogi""#,
            "rbsgk/4p/5/P4/KGSBR[-] w 0 1",
        ),
    );
    for (path, game, nodes, is_applied) in [
        (&hill, "kingofthehill", 12, true),
        (&hill, "king_of_the_hill", 12, true),
        (&hill, "chess", 12, false),
        (&plain, "Chess", 12, true),
        // The file is answered by `minishogi-fairy`, which does as that program.
        (&shogi, "minishogi-fairy", 14, true),
        (&shogi, "minishogi", 14, false),
    ] {
        let corrections = format!(
            r#"{{"corrections": [{{"kind": "preset-vectors", "games": ["{game}"], "row": {{"depth": 1}},
                "field": "/nodes", "told": 99, "expected": {nodes}, "conflict": "X", "reason": "a count"}}]}}"#
        );
        let corrections = scratch("for_game.json", &corrections);
        let ran = rulemate(&["verify", "--corrections", &corrections, path]);
        assert_eq!(ran.out.contains("0 passed, 1 corrected (X 1), 0 failed"), is_applied, "{game}");
    }
}

/// Corrections are counted apart, under their conflicts; one that fits no more is refused.
#[test]
fn corrections_are_counted_apart() {
    let path = scratch(
        "odd.json",
        r#"{"kind": "preset-vectors", "variant": "chess",
            "perft": [{"fen": "8/8/8/8/8/4k3/8/4K2R w K - 0 1", "depth": 1, "nodes": 99},
                      {"fen": "8/8/8/8/8/4k3/8/4K2R w - - 0 1", "depth": 1, "nodes": 11}],
            "legal_moves": [{"fen": "7k/8/8/8/8/8/8/K7 w - - 0 1", "moves": ["a1a2", "a1a3"]}]}"#,
    );
    let entry = |field: &str, told: &str, expected: &str, reason: &str| {
        let row = match field {
            "/nodes" => r#"{"fen": "8/8/8/8/8/4k3/8/4K2R w K - 0 1"}"#,
            _ => r#"{"fen": "7k/8/8/8/8/8/8/K7 w - - 0 1"}"#,
        };
        format!(
            r#"{{"kind": "preset-vectors", "games": ["chess"], "row": {row}, "field": "{field}",
                "told": {told}, "expected": {expected}, "conflict": "X{told}", "reason": "{reason}"}}"#
        )
    };
    let run = |name: &str, entries: &[String], json: bool| {
        let text = format!(r#"{{"corrections": [{}]}}"#, entries.join(","));
        let corrections = scratch(name, &text);
        let mut args = vec!["verify", "--corrections", &corrections, &path];
        args.extend(json.then_some("--json"));
        rulemate(&args)
    };
    let right = || entry("/nodes", "99", "12", "a king and a rook");
    let list = || {
        entry("/moves", r#"["a1a2", "a1a3"]"#, r#"["a1a2", "a1b1", "a1b2"]"#, "a king")
            .replace(r#"X["a1a2", "a1a3"]"#, "Y")
    };
    let ran = run("both.json", &[right(), list()], false);
    let counts = "odd.json: 1 passed, 2 corrected (X99 1, Y 1), 0 failed, 0 skipped\n";
    assert!(ran.out.ends_with(counts), "{}{}", ran.out, ran.err);
    let ran = run("both.json", &[right(), list()], true);
    let tally: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!((&tally["passed"], &tally["corrected"]), (&1.into(), &2.into()));
    assert_eq!(tally["corrections"], serde_json::json!({ "X99": 1, "Y": 1 }));
    // A wrong correction fails like a wrong row.
    let ran = run("wrong.json", &[entry("/nodes", "99", "98", "a guess")], false);
    assert!(ran.out.contains("expected 98 nodes, found 12"), "{}", ran.out);
    assert_eq!(ran.code, 1);
    // Of what is not in the file nothing comes; what the file does not say is refused with the place.
    let elsewhere = right().replace("w K -", "b K -");
    let ran = run("elsewhere.json", &[elsewhere], false);
    assert!(ran.out.contains("passed, 2 failed"), "{}{}", ran.out, ran.err);
    for (text, why) in [
        (entry("/nodes", "98", "14", "stale"), "correction 1"),
        (right().replace("12,", "{},"), "after corrections: invalid type: map, expected u64\n"),
        (entry("/nodes", "99", "14", ""), "empty `reason`"),
        (entry("/depth/3", "null", "14", "no such place"), "the row has no /depth/3"),
        (right().replace("\"told\"", "\"tolt\""), "unknown field `tolt`"),
        (right().replace("99, \"expected\": 12", "99, \"expected\": \"x\""), "after corrections"),
    ] {
        let ran = run("bad.json", &[text], false);
        assert_eq!(ran.code, 2, "{}", ran.out);
        assert!(ran.err.contains(why), "{}", ran.err);
    }
}
