//! `rulemate referee`: real games, games with one illegal move, results that do not fit.

use crate::cli::rulemate;

/// The lines that do not explain but judge.
fn verdicts(out: &str) -> Vec<&str> {
    out.lines().filter(|it| !it.starts_with(' ')).collect()
}

#[test]
fn real_games_are_all_legal() {
    let files = [
        ("antichess-programfox", vec!["1-0", "1/2-1/2"]),
        ("cutechess-fischerrandom", vec!["0-1", "1-0", "0-1", "1-0"]),
        ("kasparov-deep-blue-1997", vec!["1-0", "1-0", "1/2-1/2", "1/2-1/2", "1/2-1/2", "1-0"]),
        ("molinari-bordais-1979", vec!["0-1"]),
    ];
    let path = |name: &str| format!("tests/data/games/{name}.pgn");
    let paths: Vec<String> = files.iter().map(|it| path(it.0)).collect();
    let mut args = vec!["referee"];
    args.extend(paths.iter().map(String::as_str));
    let ran = rulemate(&args);
    let mut expected = Vec::new();
    for (name, results) in &files {
        for (at, result) in results.iter().enumerate() {
            expected.push(format!("{}#{} ok {result}", path(name), at + 1));
        }
    }
    assert_eq!(verdicts(&ran.out), expected, "{}", ran.err);
    assert_eq!(ran.code, 0);
}

#[test]
fn drops_without_a_letter_are_read() {
    let pgn = "[Variant \"Crazyhouse\"]\n\n1. e4 d5 2. exd5 Qxd5 3. Nc3 Qa5 4. @e6 @d4 *\n";
    let path = crate::cli::scratch("drops.pgn", pgn);
    let ran = rulemate(&["referee", &path]);
    assert_eq!(verdicts(&ran.out), [format!("{path}#1 ok *")], "{}", ran.err);
}

#[test]
fn an_illegal_move_is_refused_with_its_refutation() {
    let ran = rulemate(&["referee", "tests/data/referee/illegal.pgn"]);
    assert_eq!(ran.code, 1);
    let lines = verdicts(&ran.out);
    let file = "tests/data/referee/illegal.pgn";
    let begins = [
        "#1 refused at move 5. Nd6: ",
        "#2 refused at move 4. Be3: ",
        "#3 refused at move 3. a3: the game is over: black wins by checkmate",
        "#4 refused at move 4. Nb5: ambiguous, it may mean ",
    ];
    for (line, begin) in lines.iter().zip(begins) {
        assert!(line.starts_with(&format!("{file}{begin}")), "{line}");
    }
    assert_eq!(lines.len(), begins.len());
    // The proof goes down to rules by file and line, and names what is in the way.
    assert!(lines[0].contains("the white knight on c3"), "{}", lines[0]);
    assert!(ran.out.contains("[rules/chess/attack.dl:"), "{}", ran.out);
}

#[test]
fn a_refusal_is_data_too() {
    let ran = rulemate(&["referee", "--json", "tests/data/referee/illegal.pgn"]);
    let first: serde_json::Value =
        serde_json::from_str(ran.out.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["status"], "refused");
    assert_eq!(first["at"], "5. Nd6");
    assert_eq!((&first["line"], &first["number"]), (&4.into(), &1.into()));
    assert_eq!(first["finding"]["refuted"][0]["goal"]["relation"], "move");
}

#[test]
fn results_are_held_against_the_board() {
    let ran = rulemate(&["referee", "tests/data/referee/results.pgn"]);
    let file = "tests/data/referee/results.pgn";
    let expected = format!(
        "{file}#1 ok 0-1\n  the file says 1-0, the board says 0-1 by checkmate\n\
         {file}#2 ok 1/2-1/2\n  by agreement: the position is not over; the Result tag says 1-0, the last word 1/2-1/2\n\
         {file}#3 ok 0-1\n  the file gives no result, the board says 0-1 by checkmate\n\
         {file}#4 ok 1/2-1/2\n  by claim (threefold repetition) or agreement: the position is not over\n\
         {file}#5 ok *\n  unfinished: the position is not over\n"
    );
    assert_eq!(ran.out, expected);
    assert_eq!(ran.code, 1, "a contradicted result is a finding");
    let odd = crate::cli::scratch("odd-result.pgn", "[Result \"won\"]\n\n1. e4 *\n");
    let ran = rulemate(&["referee", &odd]);
    assert!(
        ran.out.ends_with("#1 ok won\n  won is no result: the position is not over\n"),
        "{}",
        ran.out
    );
}

#[test]
fn the_game_option_overrides_the_variant() {
    let ran =
        rulemate(&["referee", "--game", "chess", "tests/data/games/antichess-programfox.pgn"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("#1 refused at move "), "{}", ran.out);
}

#[test]
fn what_cannot_be_read_does_not_stop_the_rest() {
    let good = "tests/data/games/molinari-bordais-1979.pgn";
    let ran = rulemate(&["referee", "no-such.pgn", good]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("no-such.pgn") && ran.err.contains("help:"), "{}", ran.err);
    assert_eq!(verdicts(&ran.out), [format!("{good}#1 ok 0-1")]);
}

/// The memory of a process at address 0 cannot be read, though the file can be opened.
#[test]
#[cfg(target_os = "linux")]
fn files_that_cannot_be_read_to_their_end_are_no_findings() {
    let path = format!("{}/memory.pgn", env!("CARGO_TARGET_TMPDIR"));
    let _ = std::fs::remove_file(&path);
    std::os::unix::fs::symlink("/proc/self/mem", &path).expect("a link");
    for command in ["referee", "audit"] {
        let ran = rulemate(&[command, &path]);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.out.contains("the file cannot be read to its end"), "{}", ran.out);
    }
}

#[test]
fn games_of_unknown_variants_are_named() {
    let path = crate::cli::scratch("unknown.pgn", "[Variant \"Tiddlywinks\"]\n\n1. e4 *\n");
    let ran = rulemate(&["referee", &path]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("#1 refused: there is no game Tiddlywinks"), "{}", ran.out);
}

/// What a server exports: presets in a tag, and changes of presets on the way, which the moves after them are judged by.
#[test]
fn presets_of_a_recorded_game_count() {
    let tags = "[Variant \"chess\"]\n[Presets \"berolina-pawns:white piece-hp:hp=1\"]";
    let path = crate::cli::scratch("presets.pgn", &format!("{tags}\n\n1. ec4 e5 2. c5 *\n"));
    for (command, said) in
        [("referee", "#1 refused at move 2. c5: "), ("audit", "#1 differs at move 3 (c5): ")]
    {
        let ran = rulemate(&[command, &path]);
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert!(ran.out.contains(said), "{}", ran.out);
        let other = rulemate(&[command, "--game", "antichess", &path]);
        assert!(other.out.contains("ec4"), "whatever its tags: {}", other.out);
    }
    // Other programs join the comment with those beside it.
    for comment in ["[%presets]", "good [%presets] [%clk 0:05:00]"] {
        let switched = format!("{tags}\n\n1. ec4 {{{comment}}} e5 2. d4 *\n");
        let path = crate::cli::scratch("switched.pgn", &switched);
        let ran = rulemate(&["referee", &path]);
        assert!(ran.out.contains("#1 ok *"), "{}{}", ran.out, ran.err);
        let ran = rulemate(&["audit", &path]);
        assert!(ran.code == 0 && ran.out.contains("#1 ok"), "{}{}", ran.out, ran.err);
        let active = ["query", "--pgn", &path, "--each-ply", "active(x, 'white)"];
        let ran = rulemate(&active);
        assert!(ran.out.contains("1. ec4") && !ran.out.contains("e5"), "{}{}", ran.out, ran.err);
        let ran = rulemate(&["profile", "--pgn", &path, "--top", "9999"]);
        assert!(ran.out.starts_with("3 plies, "), "{}{}", ran.out, ran.err);
        assert!(ran.out.contains("berolina-pawns.dl"), "{}", ran.out);
    }
    for (moves, said) in [
        ("1. e4 {[%presets berolina-pawns]} fe6 {[%presets]} 2. d4 *", "#1 ok *"),
        ("1. e4 {[%presets berolina-pawns]} e5 *", "#1 refused at move 1... e5: "),
        ("{[%presets berolina-pawns]} 1. e4 *", "#1 refused at move 1. e4: "),
        ("1. e4 {[%presets no]} *", "#1 refused: the change of presets after move 1: "),
    ] {
        let path = crate::cli::scratch("switched.pgn", &format!("[Event \"?\"]\n\n{moves}\n"));
        let ran = rulemate(&["referee", &path]);
        assert!(ran.out.contains(said), "{moves}: {}{}", ran.out, ran.err);
        if !said.contains("ok") {
            let ran = rulemate(&["audit", &path]);
            assert_eq!(ran.code, 1, "{moves}: {}{}", ran.out, ran.err);
        }
    }
}

/// What lichess exports, and results in other words; captures that are written as pushes; a pass.
#[test]
fn exports_of_other_programs_are_judged_by_what_they_mean() {
    let file = "tests/data/referee/lichess.pgn";
    let ran = rulemate(&["referee", file]);
    let lines = verdicts(&ran.out);
    let begins = [
        "#1 ok 1/2-1/2",
        "#2 ok 1/2-1/2",
        "#3 refused at move 1. b5: it captures, which is to be written: axb5",
        "#4 refused at move 3. d6: it captures, which is to be written: exd6",
        "#5 refused at move 1... 0000: ",
    ];
    for (line, begin) in lines.iter().zip(begins) {
        assert!(line.starts_with(&format!("{file}{begin}")), "{line}");
    }
    assert_eq!(lines.len(), begins.len());
    assert!(
        ran.out.contains("#1 ok 1/2-1/2\n  by agreement: the position is not over\n"),
        "{}",
        ran.out
    );
}

#[test]
fn what_a_file_says_does_not_steer_the_terminal() {
    let text = "[Variant \"a\x1b]0;owned\x07\u{202e}b\"]\n\n1. e4 *\n\n[Event \"2\"]\n\n1. \u{202e}e4\x1b[2J *\n";
    let path = crate::cli::scratch("steering.pgn", text);
    for args in [vec!["referee", &path], vec!["referee", "--json", &path]] {
        let ran = rulemate(&args);
        let shown = format!("{}{}", ran.out, ran.err);
        let steers = |it: char| it.is_control() && it != '\n' || it == '\u{202e}';
        assert!(!shown.contains(steers), "{shown:?}");
        assert!(shown.contains("\\u{1b}]0;owned") || shown.contains("\\u001b]0;owned"), "{shown}");
    }
    let rules = crate::cli::scratch(
        "steering.dl",
        "% \x1b[2J\n.decl \u{202e}a() \"b\x1b[31m\"\nx :- \x07y.\n",
    );
    let ran = rulemate(&["check", &rules]);
    let shown = format!("{}{}", ran.out, ran.err);
    assert!(
        !shown.contains(|it: char| it.is_control() && it != '\n' || it == '\u{202e}'),
        "{shown:?}"
    );
}

/// Rules in use are limited, and those of games that were judged are not in use.
#[test]
fn a_file_may_have_games_of_every_variant() {
    let catalogue = rulemate::internals::presets::Catalogue::embedded().expect("the catalogue");
    let games = catalogue.games();
    let pgn: String =
        games.iter().map(|it| format!("[Variant \"{}\"]\n\n*\n\n", it.name)).collect();
    let ran = rulemate(&["referee", &crate::cli::scratch("every.pgn", &pgn)]);
    let judged = verdicts(&ran.out).iter().filter(|it| it.ends_with(" ok *")).count();
    assert_eq!((judged, ran.code), (games.len(), 0), "{}", ran.out);
}
