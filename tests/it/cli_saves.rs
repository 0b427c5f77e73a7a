//! `save`, `load`, `diff`, `audit`, `query` and `profile` as scripts see them.

use std::path::PathBuf;

use crate::cli::{rulemate, rulemate_reading};

/// A file of this test's own.
fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("rulemate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for scratch");
    folder.join(name)
}

fn shown(path: &std::path::Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn a_game_goes_to_a_file_and_back() {
    let (a, b) = (scratch("a.json"), scratch("b.bin"));
    let saved = rulemate(&["save", "--moves", "1. e4 e5", shown(&a)]);
    assert_eq!((saved.code, saved.err.as_str()), (0, ""), "{}", saved.out);
    assert_eq!(rulemate(&["save", "--moves", "e2e4 e7e5 g1f3", shown(&b)]).code, 0);
    let loaded = rulemate(&["load", "--json", shown(&b)]);
    assert_eq!(loaded.code, 0, "{}", loaded.err);
    let state: serde_json::Value = serde_json::from_str(&loaded.out).expect("JSON");
    assert_eq!(state["moves"], serde_json::json!(["e4", "e5", "Nf3"]));
    assert_eq!(state["side"], "black");
    assert_eq!(state["proofs_checked"], false, "that is for an audit");
    let differs = rulemate(&["diff", shown(&a), shown(&b)]);
    assert_eq!(differs.code, 1);
    assert!(differs.out.contains("- game turn white\n") && differs.out.contains("position f3\n"));
    assert_eq!(rulemate(&["diff", shown(&a), shown(&a)]).code, 0);
    let audited = rulemate(&["audit", shown(&a), shown(&b)]);
    assert_eq!((audited.code, audited.err.as_str()), (0, ""), "{}", audited.out);
    assert!(audited.out.contains("proofs checked                 5"), "{}", audited.out);
}

/// A save of a game or preset that this program does not have says where to take it from.
#[test]
fn a_save_of_rules_of_ones_own_says_that_it_needs_them() {
    let file = scratch("own-rules.json");
    for (rules, options, lacks) in [
        ("tests/data/first-preset", ["--preset", "scouts"], "there is no preset scouts"),
        ("tests/data/first-game", ["--game", "race"], "there is no game race"),
    ] {
        let saved = [&["save", "--rules", rules], &options[..], &[shown(&file)]].concat();
        assert_eq!(rulemate(&saved).code, 0);
        assert_eq!(rulemate(&["load", "--rules", rules, shown(&file)]).code, 0);
        let loaded = rulemate(&["load", shown(&file)]);
        assert_eq!(loaded.code, 2, "{}", loaded.out);
        assert!(
            loaded.err.contains(lacks) && loaded.err.contains("`--rules PATH`"),
            "{}",
            loaded.err
        );
    }
}

/// Presets come and go at the board, and the game that is written there tells of it.
#[test]
fn a_game_with_switched_presets_goes_to_a_file() {
    let file = scratch("switched.bin");
    let lines = format!(
        "e4\non piece-hp:black\nd5\nexd5\npresets\noff piece-hp\noff piece-hp\non nothing\n\
         dxe4\nsave {}\nquit\n",
        shown(&file)
    );
    let played = rulemate_reading(&["play", "--ascii"], &lines);
    assert_eq!((played.code, played.err.as_str()), (0, ""), "{}", played.out);
    for part in [
        "\npiece-hp:black:hp=2\n",
        "piece-hp is not active (`presets` lists what is)",
        "there is no preset nothing",
        " facts, 4 plies, ",
    ] {
        assert!(played.out.contains(part), "{part}: {}", played.out);
    }
    let loaded = rulemate(&["load", "--json", shown(&file)]);
    let state: serde_json::Value = serde_json::from_str(&loaded.out).expect("JSON");
    let switches = serde_json::json!([
        { "after": 1, "presets": ["piece-hp:black:hp=2"] },
        { "after": 3, "presets": [] },
    ]);
    assert_eq!(state["switches"], switches);
    let text = rulemate(&["load", "--ascii", shown(&file)]).out;
    assert!(text.contains("presets from ply 2 on: piece-hp:black:hp=2\n"), "{text}");
    assert!(text.contains("presets from ply 4 on: none\n"), "{text}");
    assert!(
        text.ends_with("the proofs were not checked: `rulemate audit` checks them\n"),
        "{text}"
    );
    assert_eq!(rulemate(&["audit", shown(&file)]).code, 0);
}

/// A preset that has ended by itself is no longer active, but its rules are still in force: saves, facts and explanations
/// from then on can be read.
#[test]
fn a_preset_that_has_ended_leaves_what_can_be_read() {
    let (first, again) = (scratch("ended.json"), scratch("ended-again.json"));
    let (first, again) = (shown(&first), shown(&again));
    for (game, preset) in
        [("chess", "coregal:white:turns=1"), ("3check", "three-check:both:turns=1")]
    {
        let moves = ["--moves", "e4 e5", first];
        let with = ["--game", game, "--preset", preset];
        let saved = rulemate(&[&["save"], &with[..], &moves[..]].concat());
        assert_eq!(saved.code, 0, "{}", saved.err);
        let loaded = rulemate(&["load", "--json", first]);
        let state: serde_json::Value = serde_json::from_str(&loaded.out).expect("JSON");
        assert_eq!(state["presets"], serde_json::json!([]), "{game}");

        assert_eq!(rulemate(&["save", "--save", first, again]).code, 0);
        let read = |path: &str| std::fs::read(path).expect("a save");
        assert!(read(first) == read(again), "{game}: a save of a save is the same");

        let explained = rulemate(&["explain", "--save", first, "--json", "g1f3"]);
        let audited = rulemate_reading(&["audit", "--proof", "-"], &explained.out);
        assert_eq!(audited.code, 0, "{game}: {}", audited.err);

        let facts = scratch("ended.facts");
        let listed = rulemate(&["facts", "--save", first, "--json"]).out;
        std::fs::write(&facts, listed).expect("a file");
        let on = ["--facts", shown(&facts), "--moves", "Nf3", again];
        assert_eq!(rulemate(&[&["save"], &with[..], &on[..]].concat()).code, 0);
        let loaded = rulemate(&["load", again]);
        assert_eq!(loaded.code, 0, "{game}: {}", loaded.err);
    }
}

/// A game's own preset that was switched off is not loaded with an explanation of the game.
#[test]
fn explanations_under_other_presets_than_the_game_has_are_audited() {
    let file = scratch("off.json");
    let lines = format!("e4\non coregal\ne5\noff three-check\nsave {}\nquit\n", shown(&file));
    assert_eq!(rulemate_reading(&["play", "3check", "--ascii"], &lines).code, 0);
    for (ply, question) in [("0", "d2d4"), ("1", "b8c6"), ("2", "g1f3"), ("", "g1f3")] {
        let at = if ply.is_empty() { vec![] } else { vec!["--ply", ply] };
        let of = ["explain", "--save", shown(&file), "--json", question];
        let explained = rulemate(&[&of[..], &at].concat());
        let audited = rulemate_reading(&["audit", "--proof", "-"], &explained.out);
        assert_eq!(audited.code, 0, "{ply} {question}: {}", audited.err);
    }
}

/// The facts of a game whose own presets were switched off come back with the position that they were written of, and so
/// does a duration.
#[test]
fn facts_come_back_under_the_rules_that_they_state() {
    let (save, facts) = (scratch("stated.json"), scratch("stated.facts"));
    let lines =
        format!("e4\nd4\noff double-move\non piece-hp:white:turns=2\nsave {}\n", shown(&save));
    assert_eq!(rulemate_reading(&["play", "double-move", "--ascii"], &lines).code, 0);
    let listed = rulemate(&["facts", "--save", shown(&save), "--json"]).out;
    std::fs::write(&facts, listed).expect("a file");
    let from_save = ["moves", "--json", "--save", shown(&save)];
    let given = ["--game", "double-move", "--preset", "piece-hp", "--facts", shown(&facts)];
    let from_facts = [&["moves", "--json"], &given[..]].concat();
    let read = |args: &[&str], moves: &str| {
        let answer = rulemate(&[args, &["--moves", moves]].concat());
        let answer: serde_json::Value = serde_json::from_str(&answer.out).expect("JSON");
        (answer["fen"].clone(), answer["moves"].clone())
    };
    for moves in ["", "e5 Nf3 d6", "e5 Nf3 d6 Nc3 a6"] {
        assert_eq!(read(&from_facts, moves), read(&from_save, moves), "{moves}");
    }
    // A save of it is one of a game without the preset.
    let again = scratch("stated-again.json");
    let saved = rulemate(&[&["save", shown(&again)], &given[..]].concat());
    assert_eq!(saved.code, 0, "{}", saved.err);
    let loaded = rulemate(&["load", shown(&again)]);
    assert_eq!(loaded.code, 0, "{}", loaded.err);
}

/// As saves and facts list them, however they were typed.
#[test]
fn presets_are_listed_in_full() {
    let facts = scratch("listed.facts");
    let typed = ["--game", "3check", "--preset", "piece-hp", "--preset", "coregal:white"];
    std::fs::write(&facts, rulemate(&[&["facts", "--json"], &typed[..]].concat()).out)
        .expect("a file");
    let listed = |args: &[&str]| -> serde_json::Value {
        let answer = rulemate(&[&["moves", "--json"], args].concat());
        let answer: serde_json::Value = serde_json::from_str(&answer.out).expect("JSON");
        answer["presets"].clone()
    };
    let in_full =
        ["three-check:both:checks=3", "piece-hp:both:hp=2", "coregal:white:queen_castles=false"];
    assert_eq!(listed(&typed), serde_json::json!(in_full[1..]));
    let given = [&typed[..], &["--facts", shown(&facts)]].concat();
    assert_eq!(listed(&given), serde_json::json!(in_full));
}

#[test]
fn a_wrong_save_is_a_finding_of_audit_and_an_error_of_load() {
    let save = rulemate(&["save", "--moves", "e4 e5", "-"]).out;
    let wrong = save.replace("\"uci\":\"e7e5\"", "\"uci\":\"e7e6\"");
    let audited = rulemate_reading(&["audit", "-"], &wrong);
    assert_eq!(audited.code, 1);
    assert!(audited.out.starts_with("- differs at move 2 (e7e6): "), "{}", audited.out);
    let loaded = rulemate_reading(&["load", "-"], &wrong);
    assert_eq!((loaded.code, loaded.out.as_str()), (2, ""));
    assert!(
        loaded.err.contains("move 2 (e7e6)") && loaded.err.contains("help: "),
        "{}",
        loaded.err
    );
    let alien = rulemate_reading(&["audit", "-"], "hello");
    assert_eq!((alien.code, alien.out.as_str()), (2, ""));
}

#[test]
fn games_of_pgn_files_are_audited() {
    let pgn = "[Event \"x\"]\n\n1. e4 e5 2. Nf3 Nc6 *\n\n[Event \"y\"]\n\n1. e4 e5 2. Ke3 *\n";
    let file = scratch("two.pgn");
    std::fs::write(&file, pgn).expect("a file");
    let audited = rulemate(&["audit", "--json", shown(&file)]);
    assert_eq!(audited.code, 1, "{}", audited.err);
    let lines: Vec<serde_json::Value> =
        audited.out.lines().map(|it| serde_json::from_str(it).expect("JSON")).collect();
    assert_eq!((&lines[0]["plies"], &lines[0]["positions"]), (&4.into(), &5.into()));
    assert!(lines[0].get("differs").is_none());
    let differs = lines[1]["differs"].as_str().expect("the second differs");
    assert!(differs.starts_with("move 3 (Ke3): "), "{differs}");
    // What was audited before the difference counts.
    assert_eq!((&lines[1]["plies"], &lines[1]["positions"]), (&2.into(), &3.into()));
    assert!(lines[1]["seconds"].as_f64() > Some(0.0), "{}", lines[1]);
}

/// A move of a PGN game may be a turn of several actions, each of which is audited.
#[test]
fn turns_of_pgn_files_are_audited() {
    let pgn = "[Variant \"duck\"]\n\n1. e4,a3 e6,d5 2. d3,a6 *\n";
    let file = scratch("turns.pgn");
    std::fs::write(&file, pgn).expect("a file");
    let audited = rulemate(&["audit", "--json", shown(&file)]);
    let found: serde_json::Value = serde_json::from_str(&audited.out).expect("JSON");
    assert_eq!((audited.code, found.get("differs")), (0, None), "{found}");
    assert_eq!((&found["plies"], &found["positions"]), (&6.into(), &7.into()));
}

#[test]
fn the_game_of_a_save_is_told() {
    let file = scratch("horde.json");
    assert_eq!(rulemate(&["save", "--game", "horde", "--moves", "f6", shown(&file)]).code, 0);
    let audited = rulemate(&["audit", "--json", shown(&file)]);
    let found: serde_json::Value = serde_json::from_str(&audited.out).expect("JSON");
    assert_eq!(found["game"], "horde", "{found}");
    let audited = rulemate(&["audit", shown(&file)]);
    assert!(audited.out.contains(" ok 1 ply\n"), "{}", audited.out);
}

const MANY: &str = r#"% many
.meta preset "many"
.meta family "chess"
.meta name "Many"
.meta description "Rows without end"
.domain Preset += { many }
.decl big(n: Int, s: Square, t: Square) "{n} goes with {s} and {t}"
.decl ticks(n: Int) "{n} ticks"
big(n, s, t) :- ticks(n), file(s, _), file(t, _).
ticks(0) :- active('many, 'white).
ticks(n) :- big(m, 'a1, 'a1), m < 100000, n = m + 1.
"#;

const GAME_OF_MANY: &str = r#"% manygame: many rows.
.meta game "manygame"
.meta title "Many rows"
.meta layout "orthodox"
.meta use "many"
"#;

/// Answers that lack rows are none, an audit tells that from a difference, and the rule that has most rows is blamed.
#[test]
fn rows_without_end_are_told() {
    let folder = scratch("many");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("many.dl"), MANY).expect("a file");
    std::fs::write(folder.join("manygame.dl"), GAME_OF_MANY).expect("a file");
    let pgn = scratch("many.pgn");
    std::fs::write(&pgn, "[Event \"x\"]\n\n1. e4 *\n").expect("a file");
    let rules = ["--rules", shown(&folder), "--game", "manygame"];
    let why = "takes too many rows; this one spent most: big(n, s, t) :- ";
    let asked = rulemate(&[&["query", "ticks(n)"], &rules[..]].concat());
    assert_eq!((asked.code, asked.out.as_str()), (2, ""), "{}", asked.err);
    assert!(asked.err.contains(why), "{}", asked.err);
    let audited = rulemate(&[&["audit", shown(&pgn)], &rules[..]].concat());
    assert_eq!(audited.code, 1, "{}", audited.err);
    assert!(audited.out.contains(why), "{}", audited.out);
}

#[test]
fn explanations_are_checked() {
    let asked: [&[&str]; 4] = [
        &["explain", "--json", "Nf3"],
        &["explain", "--json", "--why-not", "e2e5"],
        &["explain", "--json", "--fact", "attacks(b1, c3)"],
        &["explain", "--json", "--game", "antichess", "--fact", "attacks(b1, b3)"],
    ];
    for args in asked {
        let explained = rulemate(args).out;
        let checked = rulemate_reading(&["audit", "--proof", "-"], &explained);
        assert_eq!(checked.code, 0, "{args:?}: {}{}", checked.out, checked.err);
        let wrong = explained.replacen("\"raw\": ", "\"raw\": 1", 1);
        let checked = rulemate_reading(&["audit", "--proof", "-"], &wrong);
        assert_eq!(checked.code, 1, "{args:?}: {}{}", checked.out, checked.err);
    }
    let moved =
        rulemate(&["explain", "--json", "Nf3"]).out.replace("\"blake3\": \"", "\"blake3\": \"0");
    let checked = rulemate_reading(&["audit", "--proof", "-"], &moved);
    assert_eq!(checked.code, 2);
    assert!(checked.err.contains("has changed"), "{}", checked.err);
}

#[test]
fn questions_are_answered() {
    let asked = rulemate(&["query", "--moves", "e4 e5", "--each-ply", "at(?p, e4)"]);
    assert_eq!(asked.code, 0, "{}", asked.err);
    let lines: Vec<&str> = asked.out.lines().collect();
    assert_eq!(lines.len(), 3, "{}", asked.out);
    assert!(lines[1].starts_with("1    1. e4    the white pawn on e4"), "{}", asked.out);
    let none = rulemate(&["query", "in_check()"]);
    assert_eq!((none.code, none.out.as_str()), (1, "no\n"));
    let wrong = rulemate(&["query", "--json", "at(p)"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("at(p)"), "{}", wrong.err);
}

/// A name may be a square of one game of a file and a variable in another; and what is wrong is said of its game.
#[test]
fn questions_are_asked_of_games_by_several_rules() {
    let file = scratch("several.pgn");
    let games = "[Variant \"xiangqi\"]\n\n1. b3e3 *\n\n[Variant \"chess\"]\n\n1. e4 e5 *\n";
    std::fs::write(&file, games).expect("scratch is writable");
    let asked = |query: &str| rulemate(&["query", "--pgn", shown(&file), query]);
    let told = asked("at(p, i10)");
    assert_eq!((told.code, told.out.as_str()), (2, ""), "{}", told.err);
    let cause = "several.pgn#2: the query has the variables p, i10 under these rules, and the variable p under";
    assert!(told.err.contains(cause), "{}", told.err);
    let told = asked("at(p, ?i10)");
    assert_eq!(told.code, 0, "{}", told.err);
    assert!(told.out.starts_with("game  p "), "{}", told.out);
    // The game that is named counts, whatever the tags say.
    let told = rulemate(&["query", "--game", "chess", "--pgn", shown(&file), "at(p, ?i10)"]);
    assert!(told.err.contains("several.pgn#1: move 1 (b3e3): "), "{}", told.err);
    let told = rulemate(&["profile", "--game", "chess", "--pgn", shown(&file)]);
    assert!(told.code == 2 && told.err.contains("several.pgn#1: move 1 (b3e3): "), "{}", told.err);
    std::fs::write(&file, "1. e4 e5 *\n\n1. e4 Ke7 *\n").expect("scratch is writable");
    let told = asked("at(p, e4)");
    assert_eq!(told.code, 2);
    assert!(told.err.contains("several.pgn#2: move 2 (Ke7): "), "{}", told.err);
    std::fs::write(&file, "1. e4 *\n\n[Event x]\n\n1. e4 *\n").expect("scratch is writable");
    let told = asked("at(p, e4)");
    assert!(told.err.contains("several.pgn#2: line 3, column 8: malformed tag"), "{}", told.err);
    // Nothing is asked of a file without games, so "no" would be no answer.
    std::fs::write(&file, "").expect("scratch is writable");
    let told = asked("at(p, e4)");
    assert_eq!((told.code, told.out.as_str()), (2, ""));
    assert!(told.err.contains("several.pgn: no game in it"), "{}", told.err);
}

#[test]
fn rules_are_profiled() {
    let ran = rulemate(&["profile", "--moves", "e4 e5 Nf3", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let profile: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let rules = profile["rules"].as_array().expect("rules");
    let sum: u64 = rules.iter().filter_map(|it| it["operations"].as_u64()).sum();
    assert!(sum > 1000 && profile["operations"] == sum, "{}", ran.out);
    let one = rulemate(&["profile", "--moves", "e4", "--top", "3"]).out;
    assert!(one.starts_with("1 ply, ") && one.contains("operations"), "{one}");
}

/// A game that went back beyond a change of its presets, or begins anew before one, is not played by those rules:
/// its save has those alone that it is played by, in their order.
#[test]
fn a_save_has_no_rules_of_changes_that_were_taken_back() {
    let (whole, undone) = (scratch("whole.json"), scratch("undone.json"));
    let lines = format!(
        "e4\non piece-hp\ne5\nsave {}\nundo\nundo\non stamina\nd4\noff stamina\non piece-hp\nd5\nsave {}\nquit\n",
        shown(&whole),
        shown(&undone)
    );
    let played = rulemate_reading(&["play", "--ascii"], &lines);
    assert_eq!((played.code, played.err.as_str()), (0, ""), "{}", played.out);
    let early = scratch("early.bin");
    let saved = rulemate(&["save", "--save", shown(&whole), "--ply", "1", shown(&early)]);
    assert_eq!(saved.code, 0, "{}", saved.err);
    for (file, plies) in [(&whole, 2), (&undone, 2), (&early, 1)] {
        let loaded = rulemate(&["load", "--json", shown(file)]);
        assert_eq!(loaded.code, 0, "{}", loaded.err);
        let state: serde_json::Value = serde_json::from_str(&loaded.out).expect("JSON");
        assert_eq!((&state["plies"], &state["migrated"]), (&plies.into(), &false.into()));
    }
    let one = rulemate(&["moves", "--save", shown(&early), "--ply", "2"]).err;
    assert!(one.contains("the game has 1 action, not 2"), "{one}");
}

/// A rule file that has changed since is named, with the two ways on.
#[test]
fn rules_that_changed_are_named_with_the_choice() {
    let folder = scratch("changed-rules");
    std::fs::create_dir_all(folder.join("rules/core")).expect("a folder");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("rules/core/results.dl")).expect("a core file");
    let changed = folder.join("rules/core/results.dl");
    std::fs::write(changed, format!("{text}\n% another opinion\n")).expect("a file");
    let rules = ["--rules", shown(&folder)];
    for (embed, name) in [(true, "embedded.bin"), (false, "bare.json")] {
        let file = scratch(name);
        let mut args = vec!["save", "--moves", "e4 e5", shown(&file)];
        args.extend(embed.then_some("--embed-rules"));
        assert_eq!(rulemate(&args).code, 0);
        let load = |extra: &[&str]| {
            rulemate(&[&["load", "--json"], &rules[..], extra, &[shown(&file)]].concat())
        };
        let refused = load(&[]);
        assert_eq!((refused.code, refused.out.as_str()), (2, ""));
        assert!(refused.err.contains("rules/core/results.dl"), "{}", refused.err);
        let hint = if embed { "--rules-from-save" } else { "--migrate" };
        assert!(refused.err.contains(hint), "{}", refused.err);
        assert_eq!(load(&["--rules-from-save"]).code, if embed { 0 } else { 2 });
        let migrated = load(&["--migrate"]);
        assert_eq!(migrated.code, 0, "{}", migrated.err);
        assert!(migrated.out.contains("\"migrated\": true"), "{}", migrated.out);
        // All other commands that go on from a save have the same choice.
        let on = |command: &[&str], extra: &[&str]| {
            rulemate(&[command, &rules[..], &["--save", shown(&file)], extra].concat())
        };
        let moves = on(&["moves"], &[]);
        assert!(moves.code == 2 && moves.err.contains(hint), "{}", moves.err);
        let next = scratch(&format!("next-{name}"));
        for (option, works) in [("--rules-from-save", embed), ("--migrate", true)] {
            let moves = on(&["moves"], &[option]);
            assert_eq!(moves.code == 0 && moves.out.contains("g1f3"), works, "{}", moves.err);
            let saved = on(&["save", "--moves", "Nf3", shown(&next)], &[option]);
            assert_eq!(saved.code, if works { 0 } else { 2 }, "{}", saved.err);
            if works {
                // Its rules are those that the game went on by.
                let rules = if option == "--migrate" { &rules[..] } else { &[] };
                let again = rulemate(&[&["load", "--json"], rules, &[shown(&next)]].concat());
                assert_eq!(again.code, 0, "{}", again.err);
                assert!(again.out.contains("\"plies\": 3"), "{}", again.out);
            }
        }
    }
}

/// A game that is played by the rules in its save goes back beyond a change of presets, and has other presets, by the same.
#[test]
fn a_game_goes_on_by_the_rules_in_its_save() {
    let old = "tests/data/saves/v3.json";
    let refused = rulemate(&["moves", "--save", old]);
    assert!(refused.code == 2 && refused.err.contains("--rules-from-save"), "{}", refused.err);
    for ply in ["0", "3", "6"] {
        let moves = rulemate(&["moves", "--save", old, "--ply", ply, "--rules-from-save"]);
        assert_eq!((moves.code, moves.err.as_str()), (0, ""), "{}", moves.out);
        assert!(moves.out.lines().count() >= 20, "{}", moves.out);
    }
    let file = scratch("on-by-old-rules.json");
    let lines = format!(
        "on piece-shield:white\nd3\noff piece-shield\nsave --embed-rules {}\nquit\n",
        shown(&file)
    );
    let played = rulemate_reading(&["play", "--ascii", "--save", old, "--rules-from-save"], &lines);
    assert_eq!((played.code, played.err.as_str()), (0, ""), "{}", played.out);
    let audited = rulemate(&["audit", "--rules-from-save", shown(&file)]);
    assert_eq!((audited.code, audited.err.as_str()), (0, ""), "{}", audited.out);
    assert!(audited.out.contains("7 plies"), "{}", audited.out);
    // Without a save there are no rules to be taken from it.
    assert_eq!(rulemate(&["moves", "--migrate"]).code, 2);
    let both = ["moves", "--save", old, "--migrate", "--rules-from-save"];
    assert_eq!(rulemate(&both).code, 2);
    // The first version does not say which game it is of.
    let first = "tests/data/saves/v1.json";
    let refused = rulemate(&["moves", "--save", first]);
    assert!(refused.code == 2 && refused.err.contains("--game NAME --facts"), "{}", refused.err);
    assert_eq!(rulemate(&["moves", "--game", "chess", "--facts", first]).code, 0);
}

#[test]
fn commands_start_where_they_are_told_to() {
    let (save, facts) = (scratch("from.json"), scratch("facts.json"));
    assert_eq!(rulemate(&["save", "--moves", "e4 e5 Nf3", shown(&save)]).code, 0);
    let out = |args: &[&str]| {
        let ran = rulemate(args);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}: {}", ran.out);
        ran.out
    };
    // After two actions of a save, of moves, and of their facts.
    let moves = out(&["moves", "--save", shown(&save), "--ply", "2"]);
    assert_eq!(out(&["moves", "--moves", "e4 e5"]), moves);
    std::fs::write(&facts, out(&["facts", "--moves", "e4 e5", "--json"])).expect("scratch");
    assert_eq!(out(&["moves", "--facts", shown(&facts)]), moves);
    // A whole save is facts, too, of the position that it ends with.
    let of_save = out(&["facts", "--facts", shown(&save)]);
    assert_eq!(out(&["facts", "--moves", "e4 e5 Nf3"]), of_save);
    assert!(of_save.contains(" position f3\n"), "{of_save}");
    // Of a save that cannot be read it is told why, not that it is no list of facts.
    let text = std::fs::read_to_string(&save).expect("written");
    for (old, new, part) in [
        ("\"value\":\"f3\"", "\"value\":\"f4\"", "the file was altered"),
        ("\"version\":3", "\"version\":9", "the save has version 9"),
        ("\"game\":", "\"gam\":", "line 2, column 5: unknown field `gam`"),
    ] {
        let changed = text.replacen(old, new, 1);
        assert_ne!(changed, text);
        std::fs::write(&facts, changed).expect("scratch");
        let ran = rulemate(&["moves", "--facts", shown(&facts)]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{part}");
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    std::fs::write(&facts, out(&["facts", "--moves", "e4 e5", "--json"])).expect("scratch");
    let binary = scratch("from.bin");
    assert_eq!(rulemate(&["save", "--save", shown(&save), shown(&binary)]).code, 0);
    assert_eq!(out(&["facts", "--facts", shown(&binary)]), of_save);
    // What follows a save, and what is written of it.
    let further = ["--save", shown(&save), "--ply", "2", "--moves", "Nc3"];
    let perft = out(&[&["perft", "--depth", "2", "--json"], &further[..]].concat());
    let perft: serde_json::Value = serde_json::from_str(&perft).expect("JSON");
    assert_eq!((&perft["game"], &perft["turns"]), (&"chess".into(), &false.into()), "{perft}");
    let plies =
        out(&[&["query", "--each-ply", "attacks(p, e4), at(p, c3)"], &further[..]].concat());
    assert!(plies.lines().nth(1).is_some_and(|it| it.starts_with("3    2. Nc3")), "{plies}");
    // At each ply of a save, a move beyond it included.
    let args = ["query", "--each-ply", "--save", shown(&save), "--moves", "Nc6", "at(p, e5)"];
    let plies = out(&args);
    let named: Vec<&str> = plies.lines().skip(1).map(|it| &it[..13]).collect();
    assert_eq!(named, ["2    1... e5 ", "3    2. Nf3  ", "4    2... Nc6"], "{plies}");
    for (args, part) in [
        (&["moves", "--save", shown(&save), "--ply", "4"][..], "--ply takes 0 to 3"),
        (&["moves", "--save", shown(&binary), "--ply", "4"], "the game has 3 actions, not 4"),
        (&["moves", "--facts", "Cargo.toml"], "Cargo.toml: line 1"),
        (&["moves", "--save", shown(&save), "--fen", "x"], "cannot be used with"),
        (&["moves", "--game", "hex", "--facts", shown(&facts)], "there is no attribute"),
    ] {
        let ran = rulemate(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(part), "{args:?}: {}", ran.err);
    }
}

/// Each turn of this game has two actions, which `moves --turns` lists.
#[test]
fn turns_are_counted() {
    let count = |depth: &str, game: &str| {
        rulemate(&["perft", "--turns", "--game", game, "--depth", depth]).out
    };
    let listed = rulemate(&["moves", "--turns", "--game", "double-move"]).out.lines().count();
    assert_eq!(count("1", "double-move"), format!("nodes {listed}\n"));
    assert_eq!(count("3", "chess"), "nodes 8902\n");
    assert_eq!(count("0", "chess"), "nodes 1\n");
}

/// Once a preset has ended, the FEN is one of the game without it.
#[test]
fn a_fen_after_the_end_of_a_preset_is_one_without_it() {
    let file = scratch("after.json");
    for (preset, moves) in [
        ("side-step:both:turns=1", "e4 e5 Nf3 Nc6"),
        ("crazyhouse:both:turns=1", "e4 e5 Nf3 Nc6"),
        ("double-move:both:turns=1", "e4 d4 e5 d5"),
    ] {
        let moves = ["--moves", moves, shown(&file)];
        let saved = rulemate(&[&["save", "--preset", preset], &moves[..]].concat());
        assert_eq!(saved.code, 0, "{}", saved.err);
        let loaded = rulemate(&["load", "--json", shown(&file)]);
        let state: serde_json::Value = serde_json::from_str(&loaded.out).expect("JSON");
        assert_eq!(state["presets"], serde_json::json!([]), "{preset}");
        let read = rulemate(&["moves", "--fen", state["fen"].as_str().expect("a FEN")]);
        assert_eq!(read.code, 0, "{preset}: {}", read.err);
    }
}

/// What is read as a whole has a limit, which is told before anything is read. PGN is read game by game.
#[test]
fn a_file_that_is_too_large_is_refused_at_once() {
    let file = scratch("large.json");
    std::fs::File::create(&file).and_then(|it| it.set_len(1 << 30)).expect("a file with a hole");
    for command in [&["load"][..], &["audit"], &["audit", "--proof"], &["moves", "--facts"]] {
        let ran = rulemate(&[command, &[shown(&file)]].concat());
        let expected =
            "large.json: a file that is read as a whole may have 256 MB, this one has more";
        assert!(ran.code == 2 && ran.err.contains(expected), "{command:?}: {}", ran.err);
    }
    std::fs::remove_file(&file).expect("the file");
    let games = scratch("none.pgn");
    let ran = rulemate(&["audit", shown(&games)]);
    assert!(ran.code == 2 && ran.err.contains("none.pgn: "), "{}", ran.err);
}
