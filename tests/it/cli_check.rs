//! `rulemate check`: rule files, with what they build on or alone, and what they are told.

use crate::cli::{check, rulemate, scratch};

#[test]
fn rule_files_are_checked_with_what_they_build_on() {
    let out = check(0, &["check", "rules/chess/attack.dl", "rules/presets/coregal.dl"]);
    assert_eq!(out.lines().count(), 2, "{out}");
    let wrong = scratch(
        "wrong.dl",
        "% wrong\nroyal_kind(c, 'kong) :- opponent(c, _).\nno_such(x) :- at(x, _).\n",
    );
    let out = check(1, &["check", &wrong]);
    assert!(out.contains("kong") && out.contains("no_such") && out.contains("wrong.dl:2"), "{out}");
    let json = check(1, &["check", "--json", &wrong]);
    let answer: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(answer["diagnostics"].as_array().map(Vec::len), Some(2));
    assert_eq!(rulemate(&["check", "no-such.dl"]).code, 2);
}

#[test]
fn a_game_may_use_a_preset_that_is_checked_beside_it() {
    let game = scratch(
        "besieged.dl",
        "% besieged\n.meta game \"besieged\"\n.meta title \"Besieged\"\n.meta family \"chess\"\n.meta use \"stone-walls\"\n\
         .meta start \"4k3/8/8/8/8/8/8/4K3 w - - 0 1\"\n",
    );
    let preset = scratch(
        "stone-walls.dl",
        "% stone-walls\n.meta preset \"stone-walls\"\n.meta name \"Stone walls\"\n\
         .meta description \"Nobody castles\"\n.domain Preset += { stone-walls }\n\
         no_castling(c) :- active('stone-walls, c).\n",
    );
    assert!(check(0, &["check", &game, &preset]).lines().all(|it| it.contains(": ok (")));
    let out = check(1, &["check", &game]);
    assert!(
        out.starts_with(&format!(
            "{game}:5: game besieged uses stone-walls, but there is no preset"
        )),
        "{out}"
    );
    // Or one that is somewhere else, which is not checked itself.
    let out = check(0, &["check", &game, "--rules", &preset]);
    assert!(out.lines().count() == 1 && out.contains("besieged.dl: ok ("), "{out}");
    let played = ["test", "--rules", &preset, "--game", "chess", "--preset", "stone-walls"];
    check(0, &[&played[..], &["--games", "1", "--plies", "4"]].concat());
}

/// A line that names a relation for notation is told by its place, as one that uses a preset is.
#[test]
fn lines_that_name_what_there_is_not_are_told_by_their_place() {
    let text = "% odd-field\n.meta preset \"odd-field\"\n.meta name \"Odd\"\n.meta description \"Odd\"\n\
        .domain Preset += { odd-field }\n";
    for (line, why) in [
        (".meta fen \"x=nope\"", "there is no relation nope"),
        (".meta fen \"mark !=nope\"", "there is no relation nope"),
        (".meta fen \"x=attacks\"", "attacks is "),
    ] {
        let path = scratch("odd-field.dl", &format!("{text}{line}\n"));
        let out = check(1, &["check", &path]);
        assert!(out.contains(&format!("odd-field.dl:6: {why}")), "{line}: {out}");
    }
    let use_of = |used: &str| {
        format!(
            "% odd-use\n.meta game \"odd-use\"\n.meta title \"Odd\"\n.meta family \"chess\"\n\
             .meta use \"{used}\"\n.meta start \"4k3/8/8/8/8/8/8/4K3 w - - 0 1\"\n"
        )
    };
    for (used, why) in [
        ("coregal:nobody", "preset coregal has no scope nobody"),
        ("coregal:castles=1", "preset coregal has no option castles"),
    ] {
        let path = scratch("odd-use.dl", &use_of(used));
        let out = check(1, &["check", &path]);
        let told = format!("{path}:5: game odd-use uses {used}, but {why}");
        assert!(out.starts_with(&told), "{used}: {out}");
    }
}

#[test]
fn mistakes_of_a_file_that_several_build_on_are_shown_once() {
    scratch(
        "mistaken.dl",
        "% mistaken\n.meta module \"mistaken\"\n.meta family \"chess\"\nletter('kong, \"o\").\n",
    );
    let [one, two] = ["one", "two"].map(|name| {
        let text = format!(
            "% {name}\n.meta game \"{name}\"\n.meta title \"{name}\"\n.meta family \"chess\"\n\
             .meta include \"mistaken.dl\"\n.meta start \"4k3/8/8/8/8/8/8/4K3 w - - 0 1\"\n"
        );
        scratch(&format!("mistaken-{name}.dl"), &text)
    });
    let out = check(1, &["check", &one, &two]);
    assert_eq!(out.matches("has no member `kong`").count(), 1, "{out}");
    assert!(out.ends_with(&format!("{two}: 1 found, the same as for {one}\n")), "{out}");
    let json = check(1, &["check", "--json", &one, &two]);
    assert_eq!(json.matches("has no member `kong`").count(), 2, "{json}");
}

#[test]
fn a_file_of_another_world_is_checked_alone() {
    let alone = ".domain Node { a, b }\n.static edge(from: Node, to: Node) \"{from} to {to}\"\nedge('a, 'b).\n\
                 .static offset(from: Node, to: Node) \"{from} by {to}\"\noffset(x, y) :- edge(x, y).\n";
    check(0, &["check", &scratch("alone.dl", alone)]);
    let out = check(1, &["check", &scratch("alone-wrong.dl", &alone.replace("'b)", "'c)"))]);
    assert!(out.contains("Node has no member `c`") && out.ends_with(": 1 found\n"), "{out}");
    // Its statics are computed, too.
    let twice = alone.replace("to: Node) \"{from} to", "to: Node) key \"{from} to");
    let path =
        scratch("alone-twice.dl", &twice.replace("edge('a, 'b).", "edge('a, 'b). edge('a, 'a)."));
    let out = check(1, &["check", &path]);
    let why = format!("{path}:3: edge has a key, but edge(a, a) and edge(a, b) both hold\n");
    assert_eq!(out, format!("{why}{path}: 1 found\n"));
    let odd = format!(".meta titel \"Nodes\"\n{alone}");
    let out = check(0, &["check", &scratch("alone-odd.dl", &odd)]);
    assert!(out.contains("note: line 1: `.meta titel` means nothing to Rulemate"), "{out}");
}

/// A line that cannot be read, or means nothing, is told even if what it would have said is missing elsewhere.
#[test]
fn the_line_that_is_to_blame_is_named_beside_what_comes_of_it() {
    let dice = ".meta game \"dice\"\n.meta board \"graph\"\n.meta start \"a:D w 1\"\n.domain Square += { a, b }\n\
                .domain Kind += { die }\nletter('die, \"d\").\nlink('a, 'b).\n\
                .decl free(square: Square) \"{square} is free\"\nfree(t) :- adjacent(t, _), !occupied(t).\n\
                .action roll(piece: Entity, to: Square) legality rules uci \"{at(piece)}>{to}\" \"{piece} rolls to {to}\"\n\
                roll(p, t) :- own(p), at(p, s), adjacent(s, t), free(t).\nmovable() :- roll(_, _).\n\
                on roll(p, t) do set at(p, t).\n";
    let told = |was: &str, is: &str| {
        assert!(dice.contains(was), "{was}");
        check(1, &["check", &scratch("dice.dl", &dice.replacen(was, is, 1))])
    };
    check(0, &["check", &scratch("dice.dl", dice)]);
    let out = told(".meta board", ".meta bord");
    assert!(out.contains("dice.dl: note: line 2: `.meta bord` means nothing to Rulemate"), "{out}");
    let out = told(".meta start", ".meta strat");
    assert!(out.contains("has no start") && out.contains("did you mean `.meta start`?"), "{out}");
    let out = told(".meta start", ".meta =start");
    assert!(
        out.contains("E003") && out.contains("Note: ") && out.contains("has no start"),
        "{out}"
    );
    // `free` is a relation of stones, too.
    let out = told("free(square: Square)", "free square: Square)");
    assert!(out.contains("E003") && !out.contains("stones"), "{out}");
    let out = told(".decl free", ".decl freed");
    assert!(out.contains("did you mean `freed`?") && !out.contains("stones"), "{out}");
}

#[test]
fn what_was_not_checked_is_told() {
    let text = ".meta layout \"lonely\"\n.meta family \"chess\"\n.meta start \"8/8 w - - 0 1\"\n";
    let out = check(0, &["check", &scratch("lonely.dl", text)]);
    assert!(out.ends_with("its start was not checked: no game has the layout lonely\n"), "{out}");
    let purse = ".meta preset \"needy\"\n.domain Preset += { needy }\n.decl broke() \"nothing is left\"\n\
                 broke() :- purses::gold(0).\n";
    let out = check(1, &["check", &scratch("needy.dl", purse)]);
    assert!(out.contains("where `.meta requires \"purses\"` stands"), "{out}");
}

#[test]
fn files_may_begin_with_a_mark_and_are_utf_8() {
    let text = "\u{feff}.domain Node { a, b }\n.static edge(from: Node) \"{from}\"\nedge('a).\n";
    assert!(check(0, &["check", &scratch("starred.dl", text)]).contains(": ok ("));
    let path = scratch("latin.dl", "");
    std::fs::write(&path, b"% caf\xe9\n").expect("a file");
    let refused = rulemate(&["check", &path]);
    assert!(refused.code == 2 && refused.err.contains("save it as UTF-8"), "{}", refused.err);
}

/// A newcomer's first rule about chess, without a word of chess.
#[test]
fn a_file_that_fits_some_games_only_is_told_of_what() {
    let rook = ".decl home(piece: Entity) \"{piece} is a rook on a1\"\nhome(p) :- kind(p, 'rook), at(p, 'a1).\n";
    let path = scratch("home-rook.dl", rook);
    let out = check(1, &["check", &path]);
    let note = format!(
        "{path}: note: a file of no game, family or preset must fit every game, and this one does not fit "
    );
    assert!(out.contains(&note), "{out}");
    assert!(
        out.ends_with(&format!("; put `.meta family \"chess\"` on top\n{path}: 1 found\n")),
        "{out}"
    );
    let json = check(1, &["check", "--json", &path]);
    assert!(json.contains("must fit every game"), "{json}");
    check(0, &["check", &scratch("home-rook.dl", &format!(".meta family \"chess\"\n{rook}"))]);
    let out = check(1, &["check", &scratch("home-kong.dl", &rook.replace("'rook", "'kong"))]);
    assert!(!out.contains("note:"), "{out}");
    // Abilities give a move another argument, so this fits chess, and not every game of its family.
    let hop = ".action hop(piece: Entity, to: Square) as move legality rules uci \"{at(piece)}^{to}\" \"{piece} hops\"\n\
               hop(p, t) :- own(p), at(p, s), step('n, s, t), !occupied(t).\n";
    let out = check(1, &["check", &scratch("hop.dl", hop)]);
    assert!(out.contains("; put `.meta preset \"NAME\"` on top\n"), "{out}");
}

#[test]
fn a_file_that_no_game_loads_with_is_told_so() {
    let text = ".meta family \"draughts\"\n.domain Kind += { ogre }\nletter('ogre, \"k\").\n";
    let out = check(0, &["check", &scratch("ogre.dl", text)]);
    assert!(out.contains("note: the game checkers does not load with it: "), "{out}");
    assert!(out.ends_with("note: nothing was checked: no game loads with it\n"), "{out}");
    let out = check(0, &["check", &scratch("ogre.dl", &text.replace("draughts", "halma"))]);
    assert!(
        out.ends_with("note: nothing was checked: there is no game of the family halma\n"),
        "{out}"
    );
}

#[test]
fn a_file_that_names_its_family_is_not_checked_alone() {
    let worn = ".input worn(piece: Entity) flag attr worn \"{piece} is worn\"\non move(p) do set worn(p).\n";
    let out = check(1, &["check", &scratch("worn.dl", &format!(".meta family \"chess\"\n{worn}"))]);
    assert!(out.contains("rules/chess/moves.dl") && !out.contains("no domain"), "{out}");
    let stages = ".meta family \"chess\"\n.stages a, b default a\n";
    let out = check(1, &["check", &scratch("stages.dl", stages)]);
    assert!(out.contains("rules/core/effects.dl"), "{out}");
    // As few mistakes are left without the rules of the package, but they are others.
    let out = check(1, &["check", &scratch("arity.dl", "on move(p) do note \"{p} moves\".\n")]);
    assert!(out.contains("rules/chess/moves.dl") && !out.contains("there is no action"), "{out}");
}

#[test]
fn a_file_for_a_whole_family_is_told_which_game_it_does_not_go_with() {
    let text = ".meta family \"chess\"\n.action dash(piece: Entity) legality rules \"{piece} dashes\"\ndash(p) :- own(p).\n";
    let out = check(1, &["check", &scratch("dash.dl", text)]);
    assert!(out.contains("that is so with the game ability-chess"), "{out}");
    let out = check(0, &["check", &scratch("ches.dl", ".meta family \"ches\"\n")]);
    assert!(out.ends_with("there is no game of the family ches; did you mean chess?\n"), "{out}");
}

#[test]
fn a_part_of_a_preset_is_not_told_to_go_with_every_game() {
    let preset = scratch(
        "toll-taker.dl",
        ".meta preset \"toll-taker\"\n.meta name \"Tolls\"\n.meta description \"Costs\"\n\
         .domain Preset += { toll-taker }\n",
    );
    let part = scratch(
        "toll-taker.draughts.dl",
        ".meta part \"toll-taker\"\n.meta family \"draughts\"\nno_such(c) :- opponent(c, _).\n",
    );
    let out = check(1, &["check", &preset, &part]);
    assert!(out.contains("there is no relation `no_such`"), "{out}");
    assert!(!out.contains("that is so with the game"), "{out}");
}

/// As `test` does, which plays it.
#[test]
fn a_game_without_any_action_is_a_mistake() {
    let text = "% idle\n.meta game \"idle\"\n.meta board \"none\"\n.meta start \"- w 1\"\n";
    let path = scratch("idle.dl", text);
    let out = check(1, &["check", &path]);
    let why = format!("{path}:2: no side can do anything in this game: it has no `.action`");
    assert!(out.starts_with(&why) && out.ends_with(": 1 found\n"), "{out}");
    check(1, &["test", &path, "--games", "1"]);
    let action = ".action rest() legality rules uci \"rest\" \"nothing is done\"\n";
    let path = scratch("idle.dl", &format!("{text}{action}rest() :- turn('black).\n"));
    let out = check(1, &["check", &path]);
    let why =
        format!("{path}:4: at the start there is neither an action that can be taken nor a result");
    assert!(out.starts_with(&why), "{out}");
    check(1, &["test", &path, "--games", "1"]);
    let path = scratch("idle.dl", &format!("{text}{action}rest() :- turn(_).\nmovable().\n"));
    assert!(check(0, &["check", &path]).contains(": ok ("));
}

/// Nothing that a game takes is wrong there, but a rule.
#[test]
fn a_rule_that_is_too_large_is_refused_by_its_line() {
    // More constants than there are registers for: 30 in each rule.
    let rule = |at: u32| {
        let tests: Vec<String> = (0..30).map(|it| format!("n != {}", 1000 * at + it)).collect();
        format!("wide(n) :- half_moves(n), {}.", tests.join(", "))
    };
    let rules: Vec<String> = (1..5).map(rule).collect();
    let path = scratch(
        "wide.dl",
        &format!(
            "% wide\n.meta preset \"wide\"\n.meta family \"chess\"\n.domain Preset += {{ wide }}\n\
             .decl wide(number: Int) \"{{number}} is far from all of them\"\n{}\n",
            rules.join(" ")
        ),
    );
    let err = rulemate(&["moves", "--rules", &path, "--preset", "wide"]).err;
    let why = "6: more than 96 different constants in the rules of the program";
    assert!(err.contains(why) && err.contains("`rulemate check FILE`"), "{err}");
}

/// A line that describes an option which the preset does not have is shown nowhere.
#[test]
fn check_tells_of_descriptions_of_options_that_are_none() {
    let head = ".meta preset \"tolls\"\n.meta name \"Tolls\"\n.meta description \"Costs\"\n\
                .domain Preset += { tolls }\n";
    let option = ".input toll(activation: Entity, cost: Int) key attr \"tolls.cost\" = 1 \"{activation} costs {cost}\"\n";
    let noted = |text: String| {
        let path = scratch("tolls.dl", &text);
        let out = check(0, &["check", &path]);
        out.replace(&path, "tolls.dl")
    };
    let fine = noted(format!("{head}{option}.meta option \"cost: what it costs\"\n"));
    assert!(!fine.contains("describes no option"), "{fine}");
    let other = noted(format!("{head}{option}.meta option \"toll: what it costs\"\n"));
    let why = "tolls.dl: note: line 6: `.meta option \"toll: what it costs\"` describes no option: expected \
               `NAME: what it sets`, where NAME is one of cost\n";
    assert!(other.contains(why), "{other}");
    let none = noted(format!("{head}.meta option \"toll: what it costs\"\n"));
    let why = "describes no option: the preset has none; an option is an input about the activation, `attr \
               \"PRESET.OPTION\"`\n";
    assert!(none.contains(why), "{none}");
    let fine = noted(format!("{head}{option}.meta range \" cost: 1 .. 9\"\n"));
    assert!(!fine.contains("bounds no option"), "{fine}");
    let other = noted(format!("{head}{option}.meta range \"toll: 1..9\"\n"));
    let why = "tolls.dl: note: line 6: `.meta range \"toll: 1..9\"` bounds no option: expected `NAME: LEAST..MOST`, \
               where NAME is one of cost\n";
    assert!(other.contains(why), "{other}");
    let other =
        noted(format!("{head}.meta compatible \"stamina\"\n.meta compatible \"coregel\"\n"));
    let why = "tolls.dl: note: line 6: `.meta compatible \"coregel\"` names no preset; did you mean coregal?\n";
    assert!(other.contains(why) && !other.contains("stamina"), "{other}");
}

/// Pieces start without any fact that the start does not give them, so a default of theirs means nothing.
#[test]
fn check_tells_of_defaults_that_no_piece_has() {
    let noted = |form: &str| {
        let text = format!(
            ".meta preset \"worn\"\n.meta name \"Worn\"\n.meta description \"Things wear off\"\n\
             .domain Preset += {{ worn }}\n{form}\n"
        );
        let path = scratch("frayed.dl", &text);
        check(0, &["check", &path]).replace(&path, "frayed.dl")
    };
    let of_pieces =
        ".input wear(piece: Entity, n: Int) key attr wear = 3 \"{piece} is worn by {n}\"";
    let told = "frayed.dl: note: line 5: `worn::wear` has a default, but pieces start without it\n";
    let out = noted(of_pieces);
    assert!(out.contains(told), "{out}");
    let without = of_pieces.replace(" = 3", "");
    for fine in [
        without.as_str(),
        ".input wear(side: Side, n: Int) of Side attr wear = 3 \"{side} is worn by {n}\"",
        ".input wear(n: Int) game attr wear = 3 \"all is worn by {n}\"",
        ".input wear(activation: Entity, n: Int) key attr \"worn.wear\" = 3 \"{activation} wears by {n}\"",
    ] {
        let out = noted(fine);
        assert!(!out.contains("has a default"), "{out}");
    }
}

#[test]
fn a_preset_that_rules_cannot_name_is_told_of_the_line() {
    let text = ".meta preset \"nameless\"\n.meta family \"chess\"\n\
        .decl glad(piece: Entity) \"{piece} is glad\"\nglad(p) :- kind(p, 'queen).\n";
    let file = scratch("nameless.dl", text);
    let out = check(1, &["check", &file]);
    assert!(out.contains("no line `.domain Preset += { nameless }`"), "{out}");
}

/// Of a folder, the file is named that cannot be read.
#[test]
fn a_file_that_is_not_text_is_named() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("check-bytes");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("bytes.dl"), [0xFF]).expect("a file");
    let ran = rulemate(&["check", &folder.to_string_lossy()]);
    assert!(ran.code == 2 && ran.err.contains("bytes.dl: "), "{}", ran.err);
    std::fs::write(folder.join("bytes.dl"), " ".repeat(1 << 20)).expect("a file");
    let ran = rulemate(&["check", &folder.to_string_lossy()]);
    assert!(ran.code == 2 && ran.err.contains("bytes.dl: a file may have "), "{}", ran.err);
    assert!(ran.out.is_empty() && ran.err.len() < 1_000, "the text is not printed");
    std::fs::remove_file(folder.join("bytes.dl")).expect("a file");
    let ran = rulemate(&["check", &folder.to_string_lossy()]);
    assert!(ran.code == 2 && ran.err.contains("check-bytes: no rule file in it"), "{}", ran.err);
}

/// Some editors write a byte order mark.
#[test]
fn a_byte_order_mark_is_not_rule_text() {
    let file = scratch("marked.dl", "\u{feff}.meta family \"chess\"\nno_castling('white).\n");
    let out = check(0, &["check", &file]);
    assert!(out.contains("marked.dl: ok ("), "{out}");
    assert_eq!(check(0, &["moves", "--rules", &file]).lines().count(), 20);
}

/// Some old editors end lines with a carriage return alone.
#[test]
fn carriage_returns_end_lines() {
    let text = "% returns\r.meta family \"chess\"\rno_castling('whit).\r\n% end\r\n";
    let file = scratch("returns.dl", text);
    let out = check(1, &["check", &file]);
    assert!(out.contains("returns.dl:3:") && out.contains("`'white`"), "{out}");
}

/// A `.meta` line that names something unknown is told by its place.
#[test]
fn lines_that_name_something_unknown_are_told() {
    for (line, why) in [
        (".meta fen \"x=nope\"", "there is no relation nope"),
        (".meta fen \"counters +nope\"", "there is no relation nope"),
        (".meta san \"hold nope\"\n.meta san \"turn {nope,}\"", "there is no relation nope"),
        (
            ".meta use \"coregel\"",
            "uses coregel, but there is no preset coregel; did you mean coregal?",
        ),
        (
            ".meta use \"coregal:green\"",
            "uses coregal:green, but preset coregal has no scope green",
        ),
        (".meta fact \"nope=1\"", "states nope=1, but there is no such attribute"),
    ] {
        let text = format!("% odd\n.meta game \"odd\"\n.meta layout \"orthodox\"\n{line}\n");
        let path = scratch("odd.dl", &text);
        let out = check(1, &["check", &path]);
        assert!(out.contains(&format!("{path}:4: ")) && out.contains(why), "{line}: {out}");
    }
}

/// Links may lead back into the folder that they are in.
#[cfg(unix)]
#[test]
fn a_folder_that_a_link_leads_to_is_read_once() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("check-links");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("below")).expect("a folder");
    let text = "% linked\n.meta preset \"linked\"\n.meta name \"Linked\"\n.meta family \"chess\"\n\
        .meta description \"Nobody castles\"\n.domain Preset += { linked }\n\
        no_castling(c) :- active('linked, c).\n";
    std::fs::write(folder.join("below/linked.dl"), text).expect("a file");
    for (to, link) in [(".", "again"), ("below", "beside"), ("..", "below/back")] {
        std::os::unix::fs::symlink(to, folder.join(link)).expect("a link");
    }
    let out = check(0, &["check", &folder.to_string_lossy()]);
    assert!(out.lines().count() == 1 && out.contains("check-links/below/linked.dl: ok ("), "{out}");
}
