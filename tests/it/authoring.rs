//! The commands for authors of rules: `new`, `check` and `test`.

use std::path::Path;

use crate::cli::rulemate;

/// What `new` writes is checked, played and audited without a change; what is there is not overwritten.
#[test]
fn what_new_writes_plays_at_once() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new");
    let _ = std::fs::remove_dir_all(&folder);
    let into = folder.to_str().expect("a path");
    let run = rulemate;
    for (kind, name, file) in [
        ("game", "middle-king", "middle-king.dl"),
        ("preset", "shy-queens", "shy-queens.dl"),
        ("piece", "marshal", "marshal.dl"),
        ("piece", "knook", "knook.dl"),
        ("family", "runners", "runners"),
    ] {
        let made = run(&["new", kind, name, "--into", into]);
        assert_eq!(made.code, 0, "{}{}", made.out, made.err);
        let file = format!("{into}/{file}");
        assert!(made.out.contains(&format!("  rulemate test {file}\n")), "{}", made.out);
        let checked = run(&["check", &file]);
        assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
        let tested = run(&["test", &file, "--games", "2", "--plies", "12"]);
        assert_eq!(tested.code, 0, "{}{}", tested.out, tested.err);
        assert!(tested.out.contains(": 2 random games\n"), "{}", tested.out);
        assert!(tested.out.contains("both evaluators agree on"), "{}", tested.out);
        let again = run(&["new", kind, name, "--into", into]);
        assert_eq!(again.code, 2);
        assert!(again.err.contains("is there already"), "{}", again.err);
    }
    for (kind, name, known) in [
        ("game", "koth", "game koth"),
        ("preset", "coregal", "preset coregal"),
        ("piece", "bishop", "piece bishop"),
        ("piece", "duck", "game duck-chess"),
        ("family", "chess", "family chess"),
    ] {
        let made = run(&["new", kind, name, "--into", into]);
        assert_eq!(made.code, 2, "{name}: {}{}", made.out, made.err);
        let told = format!("there is a {known} already");
        assert!(made.err.contains(&told), "{}", made.err);
        assert!(
            !folder.join(format!("{name}.dl")).exists() && !folder.join(name).exists(),
            "{name}"
        );
    }
    let long = "x".repeat(49);
    for name in ["My Game", "2-kings", "half-", "two--hyphens", &long] {
        let odd = run(&["new", "game", name]);
        assert_eq!(odd.code, 2);
        assert!(odd.err.contains(&format!("rules cannot have the name {name:?}")), "{}", odd.err);
        let rules =
            ["up to 48 lower-case letters", "begin with a letter", "single hyphens between them"];
        assert!(rules.iter().all(|it| odd.err.contains(it)), "{}", odd.err);
    }
    // The commands can be copied whatever the folder is called.
    let spaced = format!("{into}/my rules (Ann's)");
    for (kind, name) in [("preset", "shy-kings"), ("family", "walkabouts")] {
        let made = run(&["new", kind, name, "--into", &spaced]);
        let word = format!("'{into}/my rules (Ann'\\''s)/{name}");
        assert!(made.out.contains(&format!("  rulemate check {word}")), "{}", made.out);
        assert!(made.out.contains(&format!(" --rules {word}")), "{}", made.out);
    }
}

/// A preset is written from a description of what happens to pieces; a description that makes no sense writes nothing.
#[test]
fn a_preset_is_written_from_a_description() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("described");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap_or_else(|it| panic!("{it}"));
    let at = |name: &str| folder.join(name).to_str().expect("a path").to_owned();
    let (from, into) = (at("thorny.json"), at("rules"));
    let write = |text: &str| std::fs::write(&from, text).unwrap_or_else(|it| panic!("{it}"));
    let new = |kind| rulemate(&["new", kind, "thorny", "--from", &from, "--into", &into]);
    write(
        r#"{ "hooks": [{ "on": "on-move", "target": "attacker", "effects": [{ "do": "kill" }] }] }"#,
    );
    let refused = new("preset");
    assert_eq!(refused.code, 2);
    assert!(
        refused.err.contains("OnMove knows no Attacker: only a capture has one"),
        "{}",
        refused.err
    );
    assert!(!Path::new(&into).exists());
    write(
        r#"{ "hooks": [{ "on": "on-captured", "kind": "pawn", "target": "attacker", "effects": [{ "do": "kill" }] }] }"#,
    );
    let game = new("game");
    assert_eq!(game.code, 2);
    assert!(game.err.contains("only a preset can be written from a description"), "{}", game.err);
    let made = new("preset");
    assert_eq!(made.code, 0, "{}{}", made.out, made.err);
    let file = format!("{into}/thorny.dl");
    let tested = rulemate(&["test", &file, "--games", "2", "--plies", "12"]);
    assert_eq!(tested.code, 0, "{}{}", tested.out, tested.err);
    let fen = "4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1";
    let position = ["moves", "--preset", "thorny", "--rules", &file, "--fen", fen];
    let moves = rulemate(&position);
    assert!(moves.out.lines().any(|it| it.starts_with("d1d5")), "{}{}", moves.out, moves.err);
}

/// A preset that has everything played out is told so, with the line that does it and what to say.
#[test]
fn check_tells_what_has_moves_played_out() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join("turncoats.dl");
    let text = ".meta preset \"turncoats\"\n.meta family \"chess\"\n.meta name \"Turncoats\"\n\
                .meta description \"A pawn that moves becomes a knight\"\n.domain Preset += { turncoats }\n\
                on move(p, _) when kind(p, 'pawn), active('turncoats, _) do set kind(p, 'knight).\n";
    std::fs::write(&file, text).expect("a file");
    let path = file.to_str().expect("a path");
    let ran = rulemate(&["check", path]);
    let note = |part: &str| {
        format!(
            "note: `move` is played out{part} because {path}:6 writes `kind`, which safety depends on"
        )
    };
    assert!(ran.out.contains(&note(" where its condition holds")), "{}", ran.out);
    assert!(ran.out.contains("say `.meta legality \"rules\"`"), "{}", ran.out);
    std::fs::write(&file, text.replace("kind(p, 'pawn), ", "")).expect("a file");
    let ran = rulemate(&["check", path]);
    assert!(ran.out.contains(&note("")), "{}", ran.out);
    let ran = rulemate(&["profile", "--rules", path, "--preset", "turncoats", "--top", "1"]);
    assert!(ran.out.contains(&note("")), "{}{}", ran.out, ran.err);
    std::fs::write(&file, text.replace(".meta name", ".meta legality \"rules\"\n.meta name"))
        .expect("a file");
    let ran = rulemate(&["check", path]);
    assert!(!ran.out.contains("note:"), "{}", ran.out);
}

/// Starts that are none, and `.meta` lines that nothing reads, are told without playing.
#[test]
fn check_tells_of_starts_and_of_lines_that_mean_nothing() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wide.dl");
    let path = file.to_str().expect("a path");
    let checked = |text: &str| {
        std::fs::write(&file, text).expect("a file");
        rulemate(&["check", path])
    };
    let rest = ".meta start \"4k3/8/8/8/8/8/8/4K3 w K - 0 1\"\n";
    let wide = checked(&format!(
        ".meta game \"wide\"\n.meta family \"chess\"\n.meta board \"10x8\"\n{rest}"
    ));
    assert_eq!(wide.code, 1, "{}", wide.out);
    let cause = format!(
        "{path}:4: the game cannot start like that: piece placement of the FEN, byte 3: found 8 squares in the rank, \
         expected 10\n{path}: 1 found\n"
    );
    assert_eq!(wide.out, cause);
    let layout = ".meta layout \"wide\"\n.meta family \"chess\"\n.meta start \"4k3/8/8/8/8/8/8/4KX2 w - - 0 1\"\n";
    let game = file.with_file_name("wider.dl");
    std::fs::write(&game, ".meta game \"wider\"\n.meta layout \"wide\"\n").expect("a file");
    std::fs::write(&file, layout).expect("a file");
    let both = rulemate(&["check", path, game.to_str().expect("a path")]);
    std::fs::remove_file(game).expect("a file");
    assert!(
        both.out.contains(&format!("{path}:3: the game cannot start like that")),
        "{}",
        both.out
    );
    // The family that is not there is not among those that are told.
    let odd = checked(&format!(".meta game \"wide\"\n.meta family \"ches\"\n{rest}"));
    let families = "the family ches, which does not exist; did you mean chess?";
    assert!(odd.out.contains(families), "{}", odd.out);
    let odd = rulemate(&["moves", "--rules", path, "--game", "wide"]);
    assert!(
        odd.err.contains(
            "the families are chess, cotulenh, draughts, stones, walkers; a game or a preset may name none"
        ),
        "{}",
        odd.err
    );
    let fine = checked(&format!(
        ".meta game \"wide\"\n.meta family \"chess\"\n.meta titel \"Wide\"\n{rest}"
    ));
    assert_eq!(fine.code, 0, "{}", fine.out);
    let notes: Vec<&str> = fine.out.lines().filter(|it| it.contains(": note: ")).collect();
    assert!(notes[0].contains("line 4: ") && notes[0].contains("castling"), "{notes:?}");
    assert!(
        notes[1].ends_with(
            "line 3: `.meta titel` means nothing to Rulemate; did you mean `.meta title`?"
        )
    );
    assert_eq!(notes.len(), 2);
}

/// Without its `.meta game`, a file is read as a part of every game, and is told what it lacks.
#[test]
fn check_tells_of_a_game_without_its_name() {
    let race = include_str!("../data/first-game/race.dl");
    for (line, told) in [
        (
            ".meta games \"race\"",
            "`.meta games` means nothing to Rulemate; did you mean `.meta game`?",
        ),
        ("", "`.meta start` is that of a game or a layout, and the file is neither"),
    ] {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nameless.dl");
        std::fs::write(&file, race.replace(".meta game \"race\"", line)).expect("a file");
        let ran = rulemate(&["check", file.to_str().expect("a path")]);
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
        assert!(ran.out.contains(told) && ran.out.ends_with(": 1 found\n"), "{}", ran.out);
    }
}

/// A game that is over as it begins is a fault: nothing was played.
#[test]
fn test_tells_of_a_game_that_is_over_as_it_begins() {
    let race = include_str!("../data/first-game/race.dl");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("over.dl");
    let text = race.replace("movable() :- run(_, _).", "");
    assert_ne!(text, race);
    std::fs::write(&file, text).expect("a file");
    let ran = rulemate(&["test", file.to_str().expect("a path"), "--games", "1"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let fault =
        "fault: game 1, after 0 actions: the game is over as it begins: black wins by blocked";
    assert!(ran.out.contains(fault), "{}", ran.out);
}

/// Two actions with one text are a fault, for only one of them can be played by it.
#[test]
fn test_tells_of_two_actions_with_one_text() {
    let race = include_str!("../data/first-game/race.dl");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("alike.dl");
    let text = race.replace("uci \"{at(piece)}{to}\"", "uci \"run\"");
    assert_ne!(text, race);
    std::fs::write(&file, text).expect("a file");
    let ran = rulemate(&["test", file.to_str().expect("a path"), "--games", "1"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let fault = "fault: game 1, after 0 actions: two legal actions are written run, so only one";
    assert!(ran.out.contains(fault), "{}", ran.out);
}

/// Lines about drawing that draw nothing are told, and a clash of names with one game is no reason to check alone.
#[test]
fn check_tells_of_lines_that_draw_nothing() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("drawn.dl");
    let path = file.to_str().expect("a path");
    let checked = |text: &str| {
        std::fs::write(&file, text).expect("a file");
        rulemate(&["check", path])
    };
    let head = ".meta preset \"drawn\"\n.meta family \"chess\"\n.domain Preset += { drawn }\n\
                .static sea(square: Square) \"{square} is sea\"\nsea('d4).\n";
    let fine = checked(&format!(
        "{head}.meta mark \"sea\"\n.meta ground \"~ sea\"\n.meta zone \"attacks\"\n\
         .meta piece \"queen: Lady\"\n.meta image \"queen white: q.svg\"\n"
    ));
    assert!(fine.code == 0 && !fine.out.contains("draws nothing"), "{}", fine.out);
    for (line, expected) in [
        ("mark \"see\"", "a relation with a square"),
        ("zone \"sea\"", "a relation with a piece and a square"),
        ("trait \"sea\"", "a relation of a piece and a value"),
        ("vital \"sea\"", "a relation with a piece"),
        ("aura \"' attacks\"", "a sign and a relation whose first column is a square"),
        ("ground \"sea\"", "a sign and a relation whose first column is a square"),
        ("divide \"~ sea\"", "a sign and a relation of a square and a value"),
        ("piece \"qeen: Lady\"", "a kind of piece, a colon and a blank"),
        ("piece \"queen Lady\"", "a kind of piece, a colon and a blank"),
        ("drawing \"qeen: <path d='M10 50z'/>\"", "a kind of piece, a colon and a blank"),
        ("image \"queen green: q.svg\"", "a kind of piece, a side, a colon and a blank"),
    ] {
        let odd = checked(&format!("{head}.meta {line}\n"));
        assert_eq!(odd.code, 0, "{}", odd.out);
        let note =
            format!("{path}: note: line 6: `.meta {line}` draws nothing: expected {expected}\n");
        assert!(odd.out.contains(&note), "{}", odd.out);
    }
    let hop = checked(
        ".meta family \"chess\"\n\
         .action hop(piece: Entity, to: Square) legality rules uci \"{at(piece)}^{to}\" \"{piece} hops to {to}\"\n\
         hop(p, t) :- own(p), at(p, s), step('n, s, t), !occupied(t).\non hop(p, t) do set at(p, t).\n",
    );
    assert!(hop.out.contains("the relation `hop` is declared twice"), "{}", hop.out);
    let alone = checked(".meta module \"drawn\"\n.meta include \"drawn.dl\"\n");
    assert!(alone.out.starts_with(&format!("{path}:2: ")), "{}", alone.out);
    std::fs::remove_file(&file).expect("a file");
}

/// A game that goes on without an action, and one whose rules ask for too much, are faults.
#[test]
fn test_tells_what_is_wrong() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join("standstill.dl");
    let text = ".meta game \"standstill\"\n.meta family \"draughts\"\n.meta start \"8/8/8/8/8/8/8/O1o5 w 1\"\n\
                no_action_opinion().\n";
    std::fs::write(&file, text).expect("a file");
    let ran = rulemate(&["test", file.to_str().expect("a path"), "--games", "1"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("there is neither an action nor a result"), "{}", ran.out);
}

/// However many positions are asked for: games that have none to test are not played for ever.
#[test]
fn test_ends_where_there_are_no_positions() {
    let ran =
        rulemate(&["test", "--game", "hex", "--plies", "0", "--games", "2", "--positions", "5"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("hex: 2 random games\n"), "{}", ran.out);
    assert!(ran.out.contains("  0 positions come back from their FEN\n"), "{}", ran.out);
    let ran = rulemate(&["test", "--game", "hex", "--plies", "1", "--games", "1"]);
    for part in
        ["hex: 1 random game\n", "  1 position comes back from its FEN\n", "; 1 proof holds\n"]
    {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
}

#[test]
fn test_tells_how_to_mend_what_cannot_be_played() {
    for (args, part) in [
        (["--game", "no-such-game"].as_slice(), "(`rulemate games`)"),
        (&["--game", "hex", "--preset", "no-such-preset"], "(`rulemate presets`)"),
        (&["--game", "hex", "--preset", "coregal"], "name a game of that family"),
    ] {
        let ran = rulemate(&[&["test"], args].concat());
        assert!(ran.code == 2 && ran.err.contains(part), "{args:?}: {}", ran.err);
    }
}
