//! `explain` as people see it: a sentence first, whatever is asked, and proofs that `audit` accepts.

use crate::cli::{Ran, rulemate, rulemate_reading, scratch};

const SHIELD: [&str; 4] =
    ["--preset", "piece-shield", "--fen", "4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1"];

fn explain(position: &[&str], question: &[&str]) -> Ran {
    rulemate(&[&["explain"], position, question].concat())
}

/// What is asked, and how the answer begins, with the exit code.
fn says(position: &[&str], question: &[&str], code: i32, beginning: &str, part: &str) {
    let ran = explain(position, question);
    assert_eq!((ran.code, ran.err.as_str()), (code, ""), "{question:?}\n{}", ran.out);
    let first = ran.out.lines().next().unwrap_or_default();
    assert!(first.starts_with(beginning), "{question:?}\n{}", ran.out);
    assert!(ran.out.contains(part), "{question:?}\n{}", ran.out);
    if question[0] == "--activate" {
        return;
    }
    let printed = explain(position, &[question, &["--json"]].concat());
    let checked = rulemate_reading(&["audit", "--proof", "-"], &printed.out);
    assert_eq!(checked.code, 0, "{question:?}\n{}{}", checked.out, checked.err);
    assert!(checked.out.contains(": ok, "), "{}", checked.out);
}

#[test]
fn a_rewind_says_how_far_it_goes_back() {
    for (turns, said) in [
        ("0", "the action is taken back"),
        ("1", "the game goes back a turn"),
        ("2", "the game goes back 2 turns"),
    ] {
        let text = format!(
            ".meta family \"chess\"\non move(_, t) in after when rank(t, 4) do rewind {turns}.\n"
        );
        let rules = scratch(&format!("rewind-{turns}.dl"), &text);
        let ran = explain(&["--rules", &rules], &["--effects", "e2e4"]);
        assert!(ran.out.contains(&format!("    {said}\n")), "{}{}", ran.out, ran.err);
    }
}

#[test]
fn moves_and_attacks() {
    says(&[], &["e2e4"], 0, "e2e4 is legal", "the white pawn on e2 moves to e4 [rules/chess/");
    let bare = ["--fen", "8/8/4k3/8/8/4K3/8/8 w - - 0 1"];
    let over = "e3e4 is legal, but the game is over: draw by insufficient material";
    says(&bare, &["e3e4"], 0, over, "the white king on e3 moves to e4");
    let fen = ["--fen", "4k3/8/b7/8/8/8/8/4K2R w K - 0 1"];
    says(
        &fen,
        &["--why-not", "e1g1"],
        0,
        "e1g1 is not legal: the partner of the white rook on h1, castling with it, starts from, passes or \
         reaches an attacked square: the black bishop on a6 attacks f1 [rules/chess/castling.dl:",
        "the king on e1, castling with the rook on h1, starts from, passes or reaches f1 [always]",
    );
    says(
        &[],
        &["--fact", "attacks(b1, c3)"],
        0,
        "attacks(b1, c3) holds: the white knight on b1",
        "",
    );
    says(&[], &["--fact", "attacks(b1, b3)"], 1, "attacks(b1, b3) does not hold: ", "not: ");
}

/// The last of several actions is explained in the position after the others: there the pawn has left e2.
#[test]
fn the_last_action_of_a_turn() {
    let double = ["--game", "double-move"];
    says(&double, &["e2e4,e4e5"], 0, "e4e5 is legal", "the white pawn on e4 moves to e5 [rules/");
    says(
        &double,
        &["--effects", "e2e4,e4e5"],
        0,
        "e4e5 does this: ",
        "the white pawn on e4 moves to e5, if played out",
    );
    says(&[], &["--why-not", "e2e4,e7e4"], 0, "e7e4 is not legal: ", "the black pawn on e7");
}

#[test]
fn royalty() {
    says(&[], &["--fact", "royal(white, e1)"], 0, "royal(white, e1) holds: ", "king on e1");
    says(
        &[],
        &["--fact", "royal(white, d1)"],
        1,
        "royal(white, d1) does not hold: ",
        "queen on d1",
    );
    let coregal = ["--game", "coregal"];
    says(&coregal, &["--fact", "royal(white, d1)"], 0, "royal(white, d1) holds: ", "coregal");
}

#[test]
fn results() {
    let mate = ["--fen", "7k/6Q1/5K2/8/8/8/8/8 b - - 0 1"];
    says(
        &mate,
        &["--result"],
        0,
        "the game is over, white wins by checkmate: ",
        "[rules/chess/results",
    );
    says(
        &[],
        &["--result"],
        1,
        "the game is not over: white has 20 legal moves",
        "not: the result",
    );
}

#[test]
fn turns_that_are_kept() {
    let double = ["--game", "double-move"];
    says(&double, &["--turn"], 0, "white keeps the turn after its next action: ", "double-move.dl");
    says(&double, &["--turn", "e2e4"], 0, "white keeps the turn after e2e4: ", "double-move.dl");
    says(&[], &["--turn"], 1, "the turn passes after the next action of white", "");
    says(&[], &["--turn", "e2e4"], 1, "the turn passes after e2e4", "");
}

const AGAIN: &str = r#"% again
.meta preset "again"
.meta name "Again"
.meta description "A capture is followed by another move"
.domain Preset += { again }
.input captured() game attr "again.captured" "the last action was a capture"
turn_goes_on() :- active('again, c), turn(c), captured().
mid_turn() :- captured().
on any in before when captured() do retract captured().
on move(_, t) in capture when active('again, c), turn(c), at(_, t) do set captured().
"#;

/// Whether a turn is kept is asked of the facts that the action leaves.
#[test]
fn turns_that_an_action_decides() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("again");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("again.dl"), AGAIN).expect("a file");
    let folder = folder.to_str().expect("text");
    let fen = "4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1";
    let position = ["--rules", folder, "--preset", "again", "--fen", fen];
    let keeps = "the side to move keeps the turn after its next action [";
    let cases = [
        (&["--turn", "e4d5"][..], 0, format!("white keeps the turn after e4d5: {keeps}")),
        (&["--turn", "exd5"], 0, format!("white keeps the turn after exd5: {keeps}")),
        (
            &["--turn", "e4e5"],
            1,
            "the turn passes after e4e5: not: the last action was a cap".into(),
        ),
        (
            &["--turn"],
            1,
            "white keeps the turn after e4d5, and the turn passes after the rest: ".into(),
        ),
    ];
    for (question, code, beginning) in cases {
        let ran = explain(&position, question);
        assert_eq!((ran.code, ran.err.as_str()), (code, ""), "{question:?}\n{}", ran.out);
        assert!(ran.out.starts_with(&beginning), "{question:?}\n{}", ran.out);
        assert!(ran.out.contains("the last action was a capture ["), "{}", ran.out);
        let printed = explain(&position, &[question, &["--json"]].concat());
        let audit = ["audit", "--rules", folder, "--proof", "-"];
        let checked = rulemate_reading(&audit, &printed.out);
        assert_eq!(checked.code, 0, "{question:?}\n{}{}", checked.out, checked.err);
    }
    let ran = explain(&position, &["--turn", "e4e6"]);
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
}

const TICKS: &str = r#"% ticks
.meta preset "ticks"
.meta name "Ticks"
.meta description "A move ticks twice, and is followed by another move"
.domain Preset += { ticks }
.event tick() "it ticks"
.input ticked() game attr "ticks.ticked" "it has ticked"
turn_goes_on() :- active('ticks, c), turn(c), half_moves(0), ticked().
mid_turn() :- active('ticks, _), half_moves(n), n > 0.
on move(_, _) when active('ticks, c), turn(c) do raise tick(), raise tick().
on tick() when !ticked() do set ticked().
on tick() when turn_goes_on() do note "the turn goes on".
"#;

/// Of two events that are alike, the second asks, on the facts that the first has left.
#[test]
fn turns_that_the_second_of_two_events_asks_for() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("ticks");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("ticks.dl"), TICKS).expect("a file");
    let folder = folder.to_str().expect("text");
    let position = ["--rules", folder, "--preset", "ticks:white"];
    let ran = explain(&position, &["--turn", "e2e4"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(ran.out.starts_with("white keeps the turn after e2e4: "), "{}", ran.out);
    let printed = explain(&position, &["--turn", "e2e4", "--json"]);
    let checked = rulemate_reading(&["audit", "--rules", folder, "--proof", "-"], &printed.out);
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    let next = rulemate(&[&["moves"], &position[..], &["--moves", "e4"]].concat());
    assert!(next.out.lines().any(|it| it == "d2d4"), "{}", next.out);
}

/// The moment at which the turn is decided is part of the evidence.
#[test]
fn a_turn_is_checked_at_its_moment() {
    let printed = explain(&["--game", "double-move"], &["--turn", "e2e4", "--json"]).out;
    let audit = |text: &str| rulemate_reading(&["audit", "--proof", "-"], text);
    assert_eq!(audit(&printed).code, 0, "{}", audit(&printed).out);
    let mut value: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
    let steps = value["finding"]["turned"]["steps"].as_u64().expect("a number");
    for other in [steps + 1, steps - 1, 0, 1000] {
        value["finding"]["turned"]["steps"] = other.into();
        assert_eq!(audit(&value.to_string()).code, 1, "{other}");
    }
    value["finding"]["turned"]["steps"] = steps.into();
    assert_eq!(audit(&value.to_string()).code, 0);
    value["holds"] = false.into();
    assert_eq!(audit(&value.to_string()).code, 1, "the turn is kept");
}

/// Where a game is over since no action turns out legal when it is played out, audit looks whether that is so.
#[test]
fn the_end_for_want_of_an_action_is_checked() {
    let audit = |text: &str| rulemate_reading(&["audit", "--proof", "-"], text);
    let mated = ["--game", "explosive-rook", "--fen", "5Brk/6p1/8/8/8/8/8/4K2R b - - 0 1"];
    for question in ["g8f8", "--result"] {
        let printed = explain(&mated, &[question, "--json"]).out;
        assert!(printed.contains("no_action_result"), "{printed}");
        let checked = audit(&printed);
        assert_eq!(checked.code, 0, "{question}: {}{}", checked.out, checked.err);
    }
    let start = ["--game", "explosive-rook"];
    let printed = explain(&start, &["--fact", "no_action_result(_, _)", "--json"]).out;
    assert_eq!(audit(&printed).code, 0, "{}", audit(&printed).out);
    for (question, holds) in [("e2e4", false), ("result", true)] {
        let mut value: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
        value["question"] = question.into();
        value["holds"] = holds.into();
        let checked = audit(&value.to_string());
        assert_eq!(checked.code, 1, "{question}: {}{}", checked.out, checked.err);
        assert!(checked.out.contains("has a legal action"), "{}", checked.out);
    }
}

#[test]
fn damage_that_is_absorbed() {
    says(
        &SHIELD,
        &["--effects", "e4d5"],
        0,
        "e4d5 does this: ",
        "stopped: nothing more comes of it",
    );
    let ran = explain(&SHIELD, &["--effects", "e4d5"]);
    let first = ran.out.lines().next().unwrap_or_default();
    assert!(first.contains("stopped that the black queen on d5 takes 1 capture damage"), "{first}");
    assert!(first.contains("[rules/presets/piece-shield.dl:"), "{first}");
}

/// What was before the action is told as what is now, an open value that is there is some value, and the count of entities
/// is nobody's business.
#[test]
fn effects_read_as_sentences() {
    let text = ".meta family \"chess\"\n\
                on move(p, _) in describe when was at(p, s), was color(p, c) do note \"{p} of {c} was on {s}\".\n";
    let rules = scratch("was-there.dl", text);
    let note = "as before the action the white pawn on e2 stands on e2\n";
    let ran = explain(&["--rules", &rules], &["--effects", "e2e4"]);
    assert!(ran.out.contains(note), "{}{}", ran.out, ran.err);
    let splits = ["--preset", "queen-splits", "--fen", "4k3/8/8/3p4/8/8/8/3QK3 w - - 0 1"];
    let stands = "as the black pawn on d5 stands on some square\n";
    says(&splits, &["--effects", "d1d5"], 0, "d1d5 does this: ", stands);
    let ran = explain(&splits, &["--effects", "d1d5"]);
    let bishop = "the white bishop on d1";
    for told in ["is new", "belongs to white"] {
        assert!(ran.out.contains(&format!("  {bishop} {told}\n")), "{told}: {}", ran.out);
    }
    assert!(ran.out.contains(&format!("raised: {bishop} comes onto the board\n")), "{}", ran.out);
    assert!(!ran.out.contains("next_entity"), "{}", ran.out);
}

/// What is refuted further up is not refuted again.
#[test]
fn refutations_do_not_repeat_themselves() {
    let ran = explain(&[], &["--why-not", "b1c3q"]);
    let again = "not: the white knight on b1 may go to a square where it promotes [as above]\n";
    assert!(ran.out.contains(again), "{}", ran.out);
    let cause =
        "not: a knight moves without capturing and captures otherwise, as pawns do [never]\n";
    assert_eq!(ran.out.matches(cause).count(), 1, "{}", ran.out);
}

/// A piece in hand is called by its side and kind, and by its number only if another one is alike; one that comes into
/// hand as well.
#[test]
fn pieces_in_hand_have_names() {
    for (hand, rook) in [("Rr", "the white rook in hand"), ("RRr", "the white rook #2 in hand")] {
        let fen = format!("4k3/8/8/8/8/8/8/4K3[{hand}] w - - 0 1");
        let hand = ["--game", "crazyhouse", "--fen", &fen];
        let dropped = format!("{rook} is dropped on a3 [rules/modules/");
        says(&hand, &["R@a3"], 0, "R@a3 is legal", &dropped);
    }
    let fen = "4k3/8/8/3p4/4P3/8/8/4K3[] w - - 0 1";
    let taken = "the white pawn in hand belongs to white\n";
    says(&["--game", "crazyhouse", "--fen", fen], &["--effects", "e4d5"], 0, "e4d5 does", taken);
}

#[test]
fn activations_that_are_refused() {
    let double = ["--preset", "double-move"];
    let ran = explain(&double, &["--activate", "monster-rules"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    assert!(ran.out.starts_with("monster-rules cannot be activated here: "), "{}", ran.out);
    assert!(ran.out.contains("[rules/presets/double-move.dl:9]"), "{}", ran.out);
    says(&[], &["--activate", "coregal"], 0, "coregal can be activated here", "");
    // As `on` does in the terminal: other options for an active preset replace its own.
    let (active, other) = (["--preset", "piece-hp"], "piece-hp:both:hp=3");
    says(&active, &["--activate", other], 0, "piece-hp:both:hp=3 can be activated here", "");
    let ran = explain(&active, &["--activate", "piece-hp:white"]);
    assert!(ran.code == 1 && ran.out.contains("twice for one side"), "{}{}", ran.out, ran.err);
    let ran = explain(&[], &["--activate", "berserker", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(told["holds"], false);
    assert_eq!(told["against"][0]["place"], "rules/presets/berserker.dl:6", "{told}");
    // Lines of a game, and of a module that it includes.
    for (game, preset, place) in [
        ("spartan", "capture-all", "rules/games/spartan.dl:9"),
        ("shinobimirror", "suicide-chess", "rules/modules/shinobi-pieces.dl:7"),
    ] {
        let ran = explain(&["--game", game], &["--activate", preset, "--json"]);
        let told: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
        assert_eq!(told["against"][0]["place"], place, "{told}");
    }
}

/// What is decided by playing it out is shown, drawn and checked like everything else.
#[test]
fn moves_that_are_played_out() {
    let hp = ["--game", "explosive-rook", "--fen", "4k3/8/8/8/8/8/3pP3/R2K4 w - - 0 1"];
    let moves = rulemate(&[&["moves"], &hp[..]].concat()).out;
    for mv in moves.lines() {
        says(&hp, &[mv], 0, &format!("{mv} is legal"), "");
    }
    let drawn = explain(&SHIELD, &["--effects", "e4d5", "--svg"]);
    assert!(drawn.out.starts_with("<svg") && drawn.out.contains("#c2410c"), "{}", drawn.out);
}

/// A refused request names the enemy that the king would stand attacked by, under abilities as well.
#[test]
fn what_leaves_a_king_attacked_is_explained_under_abilities() {
    for (preset, fen, request, part) in [
        (
            "chain-kill",
            "4r2k/8/8/8/8/8/4N3/4K3 w - - 0 1",
            "e2c3",
            "is all that stands between the black rook on e8 and the white king on e1",
        ),
        (
            "chain-kill",
            "3r3k/8/8/8/8/8/8/4K3 w - - 0 1",
            "e1d1",
            "the black rook on d8 attacks d1, where the white king on e1 may go",
        ),
        (
            "chain-kill",
            "4r2k/8/8/8/8/8/3N4/4K3 w - - 0 1",
            "d2b3",
            "the black rook on e8 attacks the royal piece the white king on e1",
        ),
        (
            "block-piece",
            "3r3k/8/8/8/8/8/8/4K3 w - - 0 1",
            "e1d1/s",
            "an enemy can capture the white king on e1 on d1, though it faces south",
        ),
    ] {
        let position = ["--preset", preset, "--fen", fen];
        says(&position, &["--why-not", request], 0, &format!("{request} is not legal: "), part);
    }
}

/// `.plan p, d`: the loops over `p` and `d` come first, whatever the planner would have chosen.
#[test]
fn a_rule_with_a_plan_looks_for_its_variables_in_that_order() {
    let args = ["profile", "--preset", "block-piece", "--plan", "block-piece::spear"];
    let ran = rulemate(&args);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let loops: Vec<&str> =
        ran.out.lines().filter_map(|it| it.split_once("Loop { ")).map(|it| it.1).collect();
    assert!(loops[0].starts_with("reg: 0,") && loops[1].starts_with("reg: 1,"), "{}", ran.out);
}

#[test]
fn a_relation_without_a_plan_says_why_it_has_none() {
    for (name, help) in [
        ("goal", "its rows are known before the game begins"),
        ("harmless", "its rows are known before the game begins"),
        ("turn", "only derived relations have plans"),
        ("atacks", "did you mean attacks?"),
        ("xyzzy", "name a derived relation, or a rule by FILE:LINE"),
    ] {
        let ran = rulemate(&["profile", "--plan", name]);
        assert_eq!(ran.code, 2, "{}", ran.out);
        assert_eq!(ran.err, format!("error: there is no plan of {name}\n  help: {help}\n"));
    }
}

/// What is advised where an action or a position is refused can be done.
#[test]
fn advice_of_refusals_fits_the_cause() {
    let advice = |args: &[&str], wanted: &str| {
        let ran = rulemate(args);
        assert!(ran.code == 2 && ran.err.contains(wanted), "{args:?}: {}", ran.err);
    };
    advice(&["explain", "--turn", "e2e5"], "--why-not tells why it is not legal");
    advice(&["explain", "--game", "nim", "xx"], "write an action as it is listed");
    // The rules let an action be taken, but it has no end.
    let endless = scratch(
        "endless.dl",
        ".meta preset \"endless\"\n.meta family \"chess\"\n.domain Preset += { endless }\n\
         .event echo(piece: Entity) \"{piece} is heard\"\non move(p, _) do raise echo(p).\n\
         on echo(p) do raise echo(p).\n",
    );
    let taken = ["moves", "--rules", &endless, "--preset", "endless", "--moves", "e2e4"];
    advice(&taken, "`rulemate explain --effects e2e4` tells how far it comes");
    let barred = scratch(
        "barred.dl",
        ".meta preset \"barred\"\n.domain Preset += { barred }\n\
         .decl misplaced(side: Side) \"{side} may not begin\"\n\
         misplaced(c) :- active('barred, c), fullmove(1).\n",
    );
    let begun = ["moves", "--rules", &barred, "--preset", "barred"];
    advice(&begun, "or leave out the preset that refuses it");
    // A file of no name has to go with every game, also with the largest.
    let members: Vec<String> = (0..256).map(|it| format!("m{it}")).collect();
    let wide = format!(".domain D {{ {} }}\n", members.join(", "));
    let out = rulemate(&["check", &scratch("wide.dl", &wide)]).out;
    assert!(out.contains("D has 256 members"), "{out}");
}
