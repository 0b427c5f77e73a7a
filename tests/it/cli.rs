//! The command line as scripts see it: output, exit codes, errors, and the README's tour run line by
//! line.

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// What a command printed, and its exit code.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs the binary in the project's folder.
pub(crate) fn rulemate(args: &[&str]) -> Ran {
    rulemate_reading(args, "")
}

/// Runs the binary with a text as standard input, or with bytes that are none.
pub(crate) fn rulemate_reading(args: &[&str], input: impl AsRef<[u8]>) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rulemate"))
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("NO_COLOR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // A command that does not read its input may have ended already.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_ref());
    ran(child.wait_with_output().expect("the binary ends"))
}

fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().expect("no signal"),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// The output of a command that must end with this exit code.
pub(crate) fn check(code: i32, args: &[&str]) -> String {
    let ran = rulemate(args);
    assert_eq!(ran.code, code, "{args:?}\n{}{}", ran.out, ran.err);
    ran.out
}

/// A file with this text, for one test.
pub(crate) fn scratch(name: &str, text: &str) -> String {
    let path = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&path, text).expect("the folder for scratch files can be written");
    path
}

/// The figures themselves are no matter of a test; the tables that assert counts are `perft` and `presets`.
#[test]
fn bench_measures_the_tables_that_are_asked_for() {
    let args = ["bench", "--quick", "--json", "--only", "hosted", "--only", "memory"];
    let answer: serde_json::Value = serde_json::from_str(&check(0, &args)).expect("JSON");
    assert_eq!(answer["hosted"]["moves"], 80, "{answer}");
    assert_eq!(answer["memory"]["plies"], 80, "{answer}");
    assert!(answer.get("perft").is_none(), "{answer}");
    let text = check(0, &["bench", "--quick", "--only", "explain"]);
    assert!(text.contains("why a move is legal"), "{text}");
    assert!(rulemate(&["bench", "--only", "speed"]).err.contains("presets"), "it tells the tables");
}

const MATED: &str = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3";

#[test]
fn moves_are_sorted_one_a_line() {
    let out = check(0, &["moves", "--game", "chess"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[19]), (20, "a2a3", "h2h4"));
    assert!(lines.is_sorted());
    assert_eq!(check(0, &["moves", "--fen", MATED]), "");
}

#[test]
fn moves_go_by_game_preset_and_position() {
    // White's queen is royal: she may not go where black's rook would take her.
    let fen = "3rk3/8/8/8/8/8/8/Q3K3 w - - 0 1";
    let orthodox = check(0, &["moves", "--fen", fen]);
    let white = check(0, &["moves", "--preset", "coregal:white", "--fen", fen]);
    let black = check(0, &["moves", "--preset", "coregal:black", "--fen", fen]);
    assert!(orthodox.contains("a1d1") && black.contains("a1d1"), "{orthodox}{black}");
    assert!(!white.contains("a1d1"), "{white}");
    let numbered = check(0, &["moves", "--game", "chess960:position=0", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&numbered).expect("JSON");
    assert!(answer["fen"].as_str().expect("a text").starts_with("bbqnnrkr/"), "{answer}");
    assert_eq!(answer["moves"][0]["uci"], "a2a3");
    assert_eq!(answer["moves"][0]["san"], "a3");
}

#[test]
fn draws_by_counter_and_material_do_not_end_the_list() {
    let bare = check(0, &["moves", "--fen", "7k/8/8/8/8/8/8/K7 w - - 0 1"]);
    assert_eq!(bare, "a1a2\na1b1\na1b2\n");
    let late = check(0, &["moves", "--fen", "7k/8/8/8/8/8/8/K6R w - - 150 100"]);
    assert!(late.lines().count() > 3, "{late}");
}

#[test]
fn perft_ends_in_the_number_of_nodes() {
    assert_eq!(check(0, &["perft", "--depth", "3"]), "nodes 8902\n");
    assert_eq!(check(0, &["perft", "--depth", "0"]), "nodes 1\n");
    let divided = check(0, &["perft", "--game", "antichess", "--depth", "2", "--divide"]);
    assert_eq!(divided.lines().count(), 21);
    assert!(divided.ends_with("nodes 400\n"), "{divided}");
    let json = check(0, &["perft", "--depth", "2", "--divide", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(answer["nodes"], 400);
    assert_eq!(answer["divide"][0]["uci"], "a2a3");
}

#[test]
fn explanations_answer_with_the_exit_code() {
    let proof = check(0, &["explain", "e2e4"]);
    assert!(
        proof.starts_with("e2e4 is legal\nthe white pawn on e2 moves to e4 [rules/chess/moves.dl:")
    );
    assert!(check(0, &["explain", "Nf3"]).starts_with("Nf3 is legal"));
    assert!(check(1, &["explain", "e1e2"]).starts_with("e1e2 is not legal: "));
    assert!(check(0, &["explain", "--why-not", "e1e2"]).starts_with("e1e2 is not legal: "));
    assert!(check(1, &["explain", "--why-not", "e2e4"]).starts_with("e2e4 is legal"));
    assert!(check(0, &["explain", "--fact", "attacks(b1, c3)"]).contains("reaches c3 at once"));
    assert!(check(1, &["explain", "--fact", "attacks(b1,c4)"]).contains("does not hold"));
    assert!(check(1, &["explain", "--fact", "attacks(e5,c4)"]).contains("nothing stands there"));
    assert!(check(0, &["explain", "--fact", "at(_, a1)"]).contains("[fact]"));
    assert!(check(1, &["explain", "a3", "--fen", MATED]).contains("black_wins by checkmate"));
    assert_eq!(rulemate(&["explain", "e2e4e6"]).code, 2);
    assert_eq!(rulemate(&["explain"]).code, 2);
}

#[test]
fn explanations_are_data_too() {
    let json = check(0, &["explain", "--json", "e2e4"]);
    let answer: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(answer["holds"], true);
    let proof = &answer["finding"]["proved"][0];
    assert_eq!(proof["relation"], "move");
    let place = proof["ground"]["rule"]["rule"]["place"].as_str().expect("a place");
    assert!(place.starts_with("rules/chess/moves.dl:"), "{place}");
}

#[test]
fn a_game_is_played_from_typed_lines() {
    let lines = "e4\ne7e5\nKe3\nwhy Bb5\nundo\nfen\nd5\nclaim\nmoves\nresign\nNf3\nquit\n";
    let ran = rulemate_reading(&["play", "chess", "--ascii"], lines);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for part in [
        "1. e4 (e2e4)",
        "1... e5 (e7e5)",
        "Ke3",
        "Bb5 is legal",
        "took back e5",
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq",
        "there is no draw to claim",
        "black wins by resignation",
        "the game is over: black wins by resignation",
    ] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
    assert!(ran.out.contains(" 4  . . . . P . . ."), "{}", ran.out);
}

#[test]
fn the_random_mover_follows_its_seed() {
    let game =
        || rulemate_reading(&["play", "antichess", "--random", "both", "--seed", "7"], "").out;
    let first = game();
    assert!(first.contains("by the random mover") && first.contains(" wins by "), "{first}");
    assert_eq!(first, game());
}

/// The random mover begins no turn that it cannot finish: on d2 the commander is attacked, and nothing else could parry it.
#[test]
fn the_random_mover_finishes_its_turns() {
    let fen = "11/11/11/11/11/11/11/11/3T1T5/3E5C1/5(hc)5/11 b - - 0 1";
    for seed in ["1", "2", "3", "4", "5", "6"] {
        let args =
            ["play", "cotulenh", "--random", "blue", "--seed", seed, "--ascii", "--fen", fen];
        let ran = rulemate_reading(&args, "quit\n");
        assert!(ran.out.ends_with("red> quit\n"), "{seed}: {}{}", ran.out, ran.err);
    }
}

/// Whoever plays against a machine that has begun has nothing of one's own to take back, and stays the other side.
#[test]
fn a_machine_that_has_begun_begins_again() {
    let args = ["play", "chess", "--random", "white", "--seed", "1", "--ascii"];
    let ran = rulemate_reading(&args, "undo\nquit\n");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("took back "), "{}", ran.out);
    assert_eq!(ran.out.matches(") by the random mover").count(), 2, "{}", ran.out);
    assert!(ran.out.ends_with("black> quit\n"), "{}", ran.out);
}

/// With the moves, the rules go back to those before a change of presets: by them, a FEN leaves something out.
#[test]
fn undo_goes_back_to_earlier_rules() {
    let moves = "e4\nd5\nexd5\nfen\na6\noff stalwart\nh3\n";
    let args = ["play", "chess", "--preset", "stalwart", "--ascii"];
    let ran = rulemate_reading(&args, format!("{moves}undo\nundo\npresets\nfen\n"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("\nstalwart:both\n"), "{}", ran.out);
    assert_eq!(ran.out.matches("the FEN leaves out prey_rank").count(), 2, "{}", ran.out);
}

#[test]
fn what_is_typed_at_the_board_is_answered_for_what_it_is() {
    let fen = "7k/4Q3/8/8/8/8/8/K7 b - - 0 1";
    let ran =
        rulemate_reading(&["play", "--ascii", "--fen", fen], "moves\noff\nresign\nKg8\nundo\n");
    assert_eq!(ran.code, 0, "{}", ran.err);
    for part in [
        "\n1 move\n  Kg8\n",
        "\noff what? Name a preset (`presets` lists what is active)\n",
        "\nthe game is over: white wins by resignation\n",
        "\nnothing to undo\n",
    ] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
    let ran = rulemate_reading(&["play", "duck", "--ascii"], "e4\ncancel\n");
    assert!(ran.out.contains("took back what was done of this turn (1 action)"), "{}", ran.out);
}

#[test]
fn what_is_in_hand_stands_below_the_board() {
    let args = ["play", "crazyhouse", "--ascii", "--moves", "e2e4 d7d5 e4d5"];
    let out = rulemate_reading(&args, "d8d5\nquit\n").out;
    assert!(out.contains("\n    a b c d e f g h\n in hand: white P\n"), "{out}");
    assert!(out.contains("\n in hand: white P, black p\n"), "{out}");
    assert!(!rulemate_reading(&["play", "crazyhouse"], "quit\n").out.contains("in hand"));
}

#[test]
fn lists_name_what_there_is() {
    let out = check(0, &["games"]);
    for name in ["chess ", "chess960", "knightmate ", "knightmate-classic", "coregal", "antichess"]
    {
        assert!(out.contains(name), "{name}\n{out}");
    }
    let games: serde_json::Value =
        serde_json::from_str(&check(0, &["games", "--json"])).expect("JSON");
    assert!(games.as_array().is_some_and(|it| it.len() >= 7), "{games}");
    assert!(check(0, &["presets"]).contains("coregal "));
    let told = check(0, &["games", "chess960", "Knightmate"]);
    for part in ["chess960: ", "start position by its number, 0 to 959", "\n\nknightmate: "] {
        assert!(told.contains(part), "{part}\n{told}");
    }
    // A game says what it is: by the comment at the head of its file.
    assert!(told.contains(": Chess960\nOrthodox chess from shuffled back ranks; "), "{told}");
    let silent = |it: &&serde_json::Value| it["description"].as_str().is_none_or(str::is_empty);
    let silent: Vec<_> = games.as_array().into_iter().flatten().filter(silent).collect();
    assert!(silent.is_empty(), "{silent:?}");
    let told = check(0, &["layouts", "knightmate"]);
    assert!(told.contains("  games      knightmate"), "{told}");
    let wrong = rulemate(&["layouts", "there-is-none"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("`rulemate layouts` lists them"), "{}", wrong.err);
}

/// The preset of that name in `presets --json`.
fn listed(args: &[&str], name: &str) -> serde_json::Value {
    let mut all = vec!["presets", "--json"];
    all.extend(args);
    let list: serde_json::Value = serde_json::from_str(&check(0, &all)).expect("JSON");
    let found = list.as_array().and_then(|it| it.iter().find(|it| it["preset"] == name));
    found.cloned().unwrap_or_else(|| panic!("{name} in {list}"))
}

#[test]
fn presets_are_listed_with_all_that_they_take() {
    use serde_json::json;
    let it = listed(&[], "piece-hp");
    assert_eq!(
        it["options"],
        json!([{ "name": "hp", "type": "int", "range": [1, 9], "default": "2",
                 "text": "how many hit points every piece starts with" }])
    );
    assert_eq!(it["scopes"], json!(["white", "black", "both"]));
    assert_eq!(it["attributes"], json!(["hp"]));
    assert_eq!(it["file"], "rules/presets/piece-hp.dl");
    let holds = |list: &serde_json::Value, wanted: &str| {
        list.as_array().is_some_and(|it| it.iter().any(|it| it == wanted))
    };
    assert!(holds(&it["hooks"]["reactions"], "damage in wound"), "{it}");
    assert!(holds(&it["hooks"]["relations"], "ignores_check"), "{it}");
    // The same of those that are named, and for people.
    let named: serde_json::Value =
        serde_json::from_str(&check(0, &["presets", "--json", "piece-hp"])).expect("JSON");
    assert_eq!(named, json!([it]));
    let told = check(0, &["presets", "piece-hp", "king-heals"]);
    let option = "hp=2: how many hit points every piece starts with; a number from 1 to 9";
    for part in [option, "scopes     white, black, both", "requires   piece-hp"] {
        assert!(told.contains(part), "{part}\n{told}");
    }
    let wrong = rulemate(&["presets", "peice-hp"]).err;
    assert!(wrong.contains("did you mean piece-hp?"), "{wrong}");
    let wrong = rulemate(&["moves", "--preset", "piece-hp:both:hp=12"]).err;
    assert!(wrong.contains("`rulemate presets piece-hp` tells what it takes"), "{wrong}");
    let wrong = rulemate(&["moves", "-p", "double-move", "-p", "monster-rules"]).err;
    assert!(wrong.contains("`rulemate presets PRESET` tells what it requires"), "{wrong}");
    let sides = ".meta game \"odd\"\n.meta sides \"red, Blue\"\n.meta start \"8 r 1\"\n";
    let wrong = rulemate(&["moves", "-g", "odd", "--rules", &scratch("odd-sides.dl", sides)]).err;
    assert!(
        wrong.contains("no name of a side") && wrong.contains("`rulemate check FILE`"),
        "{wrong}"
    );
    assert!(holds(&it["games"], "king-heals"), "{it}");
    assert_eq!(listed(&[], "king-heals")["requires"], json!(["piece-hp"]));
    let it = listed(&[], "double-move");
    let option = |name: &str| {
        let all = it["options"].as_array().into_iter().flatten();
        all.into_iter().find(|it| it["name"] == name).cloned().unwrap_or_default()
    };
    assert_eq!(option("check")["values"], json!(["half-move", "turn", "none"]));
    assert_eq!(option("check")["text"].as_str().map(|it| it.starts_with("when royal")), Some(true));
    assert_eq!(option("king_capture")["type"], "bool");
    assert_eq!(option("first_turn")["default"], "two");
    assert_eq!(it["incompatible"][0]["preset"], "monster-rules");
    let squares = &listed(&[], "poisoned-squares")["options"][0];
    assert_eq!((&squares["type"], &squares["of"]), (&json!("list"), &json!("Square")));
    let mut found: Vec<&str> = squares["default"].as_str().unwrap_or("").split('+').collect();
    found.sort_unstable();
    assert_eq!(found, ["d4", "d5", "e4", "e5"]);
    let it = listed(&["--rules", "tests/data/first-preset"], "scouts");
    assert_eq!(it["hooks"]["relations"], json!(["jumps"]));
}

#[test]
fn a_preset_is_checked_with_what_it_requires() {
    let text = "% tonic\n.meta preset \"tonic\"\n.meta name \"Tonic\"\n.meta description \"Promotion heals\"\n\
                .meta requires \"piece-hp\"\n.domain Preset += { tonic }\n\
                on promote(p, _, _) when active('tonic, c), color(p, c), hp(p, n) do set hp(p, n + 1).\n";
    assert!(check(0, &["check", &scratch("tonic.dl", text)]).contains(": ok ("));
    // A folder is checked as a whole.
    let out = check(0, &["check", "tests/data/griffon"]);
    assert!(out.contains("griffon.dl: ok ("), "{out}");
    let wrong = text.replace("requires \"piece-hp\"", "requires \"piece-hop\"");
    let out = check(1, &["check", &scratch("tonic-wrong.dl", &wrong)]);
    assert!(out.contains("piece-hop") && out.contains("did you mean piece-hp?"), "{out}");
}

/// A preset that denies what it concludes: the cycle is shown, and nothing loads.
#[test]
fn a_negative_cycle_is_shown_where_a_preset_is_loaded() {
    let text = "% liar\n.meta preset \"liar\"\n.domain Preset += { liar }\n\
                .decl honest(piece: Entity) \"{piece} is honest\"\n\
                honest(p) :- color(p, c), active('liar, c), !royal_kind(c, 'pawn).\n\
                royal_kind(c, 'pawn) :- honest(p), color(p, c).\n";
    let out = check(1, &["check", &scratch("liar.dl", text)]);
    for part in ["E506", "honest", "royal_kind", "liar.dl:5"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let folder = format!("{}/liars", env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(format!("{folder}/liar.dl"), text).expect("a file");
    let ran = rulemate(&["moves", "--rules", &folder, "--preset", "liar"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("royal_kind") && ran.err.contains("honest"), "{}", ran.err);
}

/// Two presets that say how one piece moves: the first wins, and one line on standard error says so.
#[test]
fn a_conflict_of_presets_is_told_once() {
    let jumpy = |name: &str, x: i32| {
        format!(
            "% {name}\n.meta preset \"{name}\"\n.meta name \"{name}\"\n.meta description \"{name}\"\n\
             .domain Preset += {{ {name} }}\n\
             overrides('{name}, p) :- active('{name}, c), color(p, c), kind(p, 'knight).\n\
             goes(p, t) :- overrides('{name}, p), !overruled('{name}, p), own(p), at(p, s), \
             offset(s, {x}, 2, t), !occupied(t).\n"
        )
    };
    let folder = format!("{}/jumpy", env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, x) in [("upright", 0), ("aslant", 2)] {
        std::fs::write(format!("{folder}/{name}.dl"), jumpy(name, x)).expect("a file");
    }
    let moves = |first: &str, second: &str| {
        rulemate(&["moves", "--rules", &folder, "--preset", first, "--preset", second])
    };
    let ran = moves("upright", "aslant");
    assert!(ran.out.contains("b1b3\n") && !ran.out.contains("b1d3\n"), "{}", ran.out);
    assert_eq!(
        ran.err,
        "warning: upright and aslant say how one piece moves: upright goes before\n"
    );
    let ran = moves("aslant", "upright");
    assert!(!ran.out.contains("b1b3\n") && ran.out.contains("b1d3\n"), "{}", ran.out);
    assert_eq!(moves("upright:white", "aslant:black").err, "");
}

/// Notes of presets are shown as the game is played, and a move can be had with all that it did.
#[test]
fn a_played_move_shows_its_notes_and_its_trace() {
    let lines = "Qxd5\ntrace\nquit\n";
    let fen = "4k3/8/8/3p4/8/8/3Q4/4K3 w - - 0 1";
    let ran = rulemate_reading(
        &["play", "--ascii", "--preset", "queen-splits", "--fen", fen, "chess"],
        lines,
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    let note = "the white queen on d2 splits into a rook on d5 and a bishop on d2";
    assert!(ran.out.contains(&format!("(d2d5)\n  {note}\n")), "{}", ran.out);
    assert!(ran.out.contains("\"preset\": \"queen-splits\""), "{}", ran.out);
}

/// A kind of piece that is new, from the command line to a save and back.
#[test]
fn a_piece_from_outside_is_played_listed_and_saved() {
    let rules = ["--rules", "tests/data/griffon"];
    let fen = "7k/8/8/3g4/R7/8/8/4K3 w - - 0 1";
    let moves = check(0, &[&["moves", "--json", "--fen", fen][..], &rules].concat());
    let moves: serde_json::Value = serde_json::from_str(&moves).expect("JSON");
    assert!(moves.to_string().contains("a4e4"), "{moves}");
    let attack = "attacks(d5, e2)";
    let blocked = "7k/8/8/3g4/4R3/8/8/4K3 b - - 0 1";
    check(0, &[&["explain", "--fen", fen, "--fact", attack][..], &rules].concat());
    check(1, &[&["explain", "--fen", blocked, "--fact", attack][..], &rules].concat());
    let list = check(0, &[&["moves", "--json", "--fen", blocked][..], &rules].concat());
    assert!(list.contains("Gxe4"), "{list}");
    let file = scratch("griffon.json", "");
    let start = "7k/P7/8/8/8/8/8/K7 w - - 0 1";
    let promoted = ["save", "--fen", start, "--moves", "a7a8g h8g8 a8b6", &file];
    check(0, &[&promoted[..], &rules].concat());
    let out = check(0, &[&["load", "--ascii", &file][..], &rules].concat());
    assert!(out.contains('G'), "{out}");
    check(0, &[&["audit", &file][..], &rules].concat());
    let ran = rulemate(&["load", &file]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("griffon.dl"), "{}", ran.err);
}

#[test]
fn errors_name_cause_and_fix() {
    let check = |args: &[&str], parts: &[&str]| {
        let ran = rulemate(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        for part in parts {
            assert!(ran.err.contains(part), "{args:?}\n{}", ran.err);
        }
    };
    check(&["moves", "--game", "ches"], &["did you mean chess?", "help: the games are "]);
    check(&["moves", "--preset", "coregl"], &["did you mean coregal?", "help: "]);
    check(&["moves", "--preset", "coregal:green"], &["green", "white, black or both"]);
    check(&["moves", "--fen", "xx"], &["help: a position of this game looks like rnbq"]);
    check(&["moves", "--game", "crazyhouse", "--fen", "xx"], &["looks like rnbq", "/RNBQKBNR[] w"]);
    check(&["test", "--game", "hex", "--games", "0"], &["--games", "1.."]);
    check(&["explain", "--fact", "attackz(b1,c3)"], &["did you mean `attacks`?"]);
    check(&["explain", "--fact", "attacks(b1)"], &["2 columns, not 1", "attacks(piece, to)"]);
    check(&["explain", "--fact", "attacks(b1,z9)"], &["`z9` is no value", "a1, b1"]);
    check(
        &["explain", "--fact", "attacks(z9,b1)"],
        &["`z9` is no value", "help: write a square, "],
    );
    check(&["explain", "--fact", "turn(white,b1)"], &["turn has 1 column, not 2: turn(side)"]);
    check(&["explain", "e2e5,e7e5"], &["an action before the last one cannot be taken: e2e5: "]);
    check(&["perft"], &["--depth"]);
    let bare = "4k3/8/8/8/8/8/8/4K3 w - - 0 1";
    check(&["moves", "--fen", bare, "--moves", "Kd2"], &["material", "help: leave out this move"]);
    check(&["moves", "--depth", "3"], &["--depth", "Usage"]);
}

#[test]
fn help_has_examples() {
    let help = check(0, &["--help"]);
    for command in rulemate::internals::cli::grammar().get_subcommands() {
        let name = command.get_name();
        assert!(help.contains(&format!("  {name} ")), "{name}\n{help}");
        let own = check(0, &[name, "--help"]);
        let examples = own.split_once("Examples:\n").unwrap_or_else(|| panic!("{own}")).1;
        for file in examples.split_whitespace().filter(|it| it.starts_with("tests/data/")) {
            let folder = file.split('*').next().unwrap_or(file);
            assert!(std::path::Path::new(folder).exists(), "{name}: {file}");
        }
        if let Some((_, plan)) = examples.split_once("--plan rules/") {
            let rule = format!("rules/{}", plan.split_whitespace().next().unwrap_or_default());
            check(0, &["profile", "--plan", &rule]);
        }
    }
}

#[test]
fn a_line_that_is_no_text_does_not_end_a_game() {
    let ran = rulemate_reading(&["play", "--ascii"], b"e4\n\xFF\ne5\nquit\n");
    assert!(ran.code == 0 && ran.out.contains("1... e5"), "{}{}", ran.out, ran.err);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rulemate"))
        .args(["moves", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    let ended = child.wait_with_output().expect("the binary ends");
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}

/// A file is checked again when it has changed, when it is right again, and when a file that it builds on has changed.
#[test]
fn check_watches_files() {
    use std::io::{BufRead, BufReader};
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("watched");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("hop.dl");
    let right = ".meta game \"hop\"\n.meta layout \"orthodox\"\n.meta use \"bounce\"\n";
    std::fs::write(&file, right).expect("a file");
    let bounce = ".meta preset \"bounce\"\n.meta name \"Bounce\"\n.meta description \"Bounces\"\n\
                  .domain Preset += { bounce }\n";
    let preset = folder.join("bounce.dl");
    std::fs::write(&preset, bounce).expect("a file");
    let mut child = Command::new(env!("CARGO_BIN_EXE_rulemate"))
        .arg("check")
        .arg(&file)
        .arg("--watch")
        .arg("--rules")
        .arg(&preset)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let told = BufReader::new(child.stdout.take().expect("a pipe"));
    let _running = Running(child);
    let (sender, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        told.lines().map_while(Result::ok).take_while(|it| sender.send(it.clone()).is_ok()).count()
    });
    let hears = |wanted: &str| {
        // Long for a machine that does nothing else.
        let heard = || lines.recv_timeout(std::time::Duration::from_secs(120));
        let mut all = Vec::new();
        while let Ok(line) = heard() {
            if line.contains(wanted) {
                return;
            }
            all.push(line);
        }
        panic!("{wanted} is never said: {all:?}");
    };
    hears("hop.dl: ok");
    std::fs::write(&file, format!("{right}hop(p) :- at(p).\n")).expect("a file");
    hears("2 found");
    std::fs::write(&file, right).expect("a file");
    hears("hop.dl: ok");
    std::fs::write(&preset, format!("{bounce}hop(p) :- at(p).\n")).expect("a file");
    hears("2 found");
}

/// A process that ends with the test, whatever comes of it.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Numbers of moves are left out of a line, and nothing else is: what is no move is refused, and where a number is
/// a move it is played.
#[test]
fn moves_are_read_with_their_numbers_and_none_is_lost() {
    let after = |game: &str, moves: &str| {
        let ran =
            rulemate(&["facts", "--rules", "tests/data/numbers", "--game", game, "--moves", moves]);
        if ran.code == 0 { Ok(ran.out) } else { Err(ran.err) }
    };
    let plain = after("chess", "e4 e5 Nf3");
    assert!(plain.is_ok());
    for moves in [
        "1. e4 e5 2. Nf3",
        "1.e4 e5 2.Nf3",
        "1 e4 e5 2 Nf3",
        "1. e4 1... e5 2. Nf3",
        "1. e4 1. ... e5 2. Nf3",
        "31 e4 e5 32 Nf3",
    ] {
        assert_eq!(after("chess", moves), plain, "{moves}");
    }
    for (moves, refused) in [
        ("0000", "move 1 (0000)"),
        ("e4 0000", "move 2 (0000)"),
        ("e4 e5 7", "move 3 (7)"),
        ("e4 ... e5", "move 2 (...)"),
        ("1. e4 1 e5", "move 2 (1)"),
        ("1 e4 e5 3 Nf3", "move 3 (3)"),
    ] {
        assert!(after("chess", moves).is_err_and(|it| it.contains(refused)), "{moves}");
    }
    assert_eq!(after("count", "1 3 2"), after("count", "1. 1 3 2. 2"));
    assert!(after("count", "1 9").is_err_and(|it| it.contains("move 2 (9)")));
    assert!(after("count", "9").is_err_and(|it| it.contains("move 1 (9)")));
}

#[test]
fn output_that_is_no_terminal_has_no_colour() {
    for args in [&["games"][..], &["referee", "tests/data/referee/illegal.pgn"][..]] {
        let ran = rulemate(args);
        assert!(!ran.out.contains('\x1b') && !ran.err.contains('\x1b'), "{}", ran.out);
    }
}

#[test]
fn the_readme_shows_what_happens() {
    assert!(run_the_commands_of("README.md") >= 5);
}

#[test]
fn the_guide_to_a_first_preset_shows_what_happens() {
    assert!(run_the_commands_of("docs/first-preset.md") >= 4);
    let guide = document("docs/first-preset.md");
    let shown = guide.split("```prolog\n").nth(1).and_then(|it| it.split("```").next());
    assert_eq!(shown, Some(document("tests/data/first-preset/scouts.dl").as_str()));
}

#[test]
fn the_page_of_cotulenh_shows_what_happens() {
    assert!(run_the_commands_of("docs/cotulenh.md") >= 1);
}

#[test]
fn the_guide_to_a_first_game_shows_what_happens() {
    assert!(run_the_commands_of("docs/first-game.md") >= 4);
    let guide = document("docs/first-game.md");
    let shown: Vec<&str> =
        guide.split("```prolog\n").skip(1).filter_map(|it| it.split("```").next()).collect();
    assert_eq!(shown.join("\n"), document("tests/data/first-game/race.dl"));
}

/// The pages on disk are those that the rule files give. `UPDATE_DOCS=1` writes them anew.
#[test]
fn the_pages_about_presets_are_current() {
    let stored = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/presets");
    let written = match std::env::var_os("UPDATE_DOCS") {
        Some(_) => stored.clone(),
        None => std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pages"),
    };
    let ran = rulemate(&["presets", "--pages", &written.to_string_lossy()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let (there, now) = (files_of(&stored), files_of(&written));
    let mut stale: Vec<&String> =
        there.keys().chain(now.keys()).filter(|it| there.get(*it) != now.get(*it)).collect();
    stale.dedup();
    assert!(stale.is_empty(), "{stale:?} are stale: run the tests with UPDATE_DOCS=1");
}

/// The names of the files in a folder, with their texts.
fn files_of(folder: &std::path::Path) -> std::collections::BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let file = |it: std::fs::DirEntry| {
        let text = std::fs::read_to_string(it.path()).expect("a text");
        (it.file_name().to_string_lossy().into_owned(), text)
    };
    entries.map(|it| file(it.expect("an entry"))).collect()
}

fn document(path: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(path).expect("a document")
}

/// Runs every `$` line of a document's `console` blocks; what follows it is what it prints. A line
/// `...` stands for any lines, and line numbers of rule files may differ. Returns how many ran.
fn run_the_commands_of(path: &str) -> usize {
    let mut ran = 0;
    for block in document(path).split("```console\n").skip(1) {
        let block = block.split("```").next().expect("a block ends");
        for step in block.split("$ ").filter(|it| !it.is_empty()) {
            let (command, expected) = step.split_once('\n').expect("a command is a line");
            let found = shell(command);
            let (found, expected) = (without_lines(&found), without_lines(expected));
            assert!(fits(&found, &expected), "$ {command}\nprints\n{found}\nnot\n{expected}");
            ran += 1;
        }
    }
    ran
}

/// What a shell prints for a command line, with the binary in its path.
fn shell(command: &str) -> String {
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_rulemate"));
    let folder = binary.parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", command])
        .env("PATH", format!("{}:{path}", folder.display()))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("a shell");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The text without the line numbers of rule files, which move with every edit.
fn without_lines(text: &str) -> String {
    let mut parts = text.split(".dl:");
    let mut res = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        res.push_str(".dl:N");
        res.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    res
}

/// Whether a text is as expected, `...` lines standing for anything.
fn fits(found: &str, expected: &str) -> bool {
    let mut rest = found.trim_end();
    let mut parts = expected.trim_end().split("...\n").map(|it| it.trim_end_matches("..."));
    let first = parts.next().unwrap_or_default();
    let Some(after) = rest.strip_prefix(first) else { return false };
    rest = after;
    let mut last = first;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = part;
    }
    rest.is_empty() || last.is_empty() || expected.trim_end().ends_with("...")
}

#[test]
fn completions_know_games_and_every_page_of_the_manual_is_printed() {
    for shell in ["bash", "zsh", "fish"] {
        let text = check(0, &["completions", shell]);
        assert!(text.contains("nine-mens-morris"), "{shell}");
    }
    let main = check(0, &["man"]);
    // Pages are named as `rulemate\\-serve(1)`.
    let named = main.lines().filter_map(|it| it.strip_prefix("rulemate\\-")?.split_once('('));
    let named: Vec<String> = named.map(|it| it.0.replace('\\', "")).collect();
    assert!(named.iter().any(|it| it == "serve"), "{named:?}");
    for name in named.iter().filter(|it| *it != "help") {
        let page = check(0, &["man", name]);
        assert!(
            page.contains(&format!("rulemate\\-{}", name.replace('-', "\\-"))),
            "{name}: {page}"
        );
    }
    assert!(rulemate(&["man", "nothing"]).err.contains("there is no page"));
    // The folder is named that is none.
    for args in [
        ["man", "--to", "Cargo.toml/x"].as_slice(),
        &["new", "game", "a1", "--into", "Cargo.toml/x"],
    ] {
        let told = rulemate(args).err;
        assert!(told.contains("Cargo.toml/x") && told.contains("help: name a folder"), "{told}");
    }
}
