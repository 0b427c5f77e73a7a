//! What presets leave behind when they end or are switched off in the middle of games and turns, and what other options
//! change there.

use rulemate::internals::facts::Value;
use rulemate::internals::game::Game;

use crate::switch::{active, catalogue, facts, play, start, switch};

/// An activation that stays takes its options anew: a list is what is chosen now, without what was before.
#[test]
fn options_are_replaced() {
    let catalogue = catalogue();
    let (mut rules, mut game) = start(&catalogue, &["piece-hp", "poisoned-squares"], None);
    assert_eq!(active(&game)[1], "poisoned-squares:both:squares=d4+e4+d5+e5");
    for now in ["poisoned-squares:both:squares=a1+h8", "poisoned-squares:both:squares=h8"] {
        switch(&catalogue, &mut rules, &mut game, &["piece-hp:both:hp=3", now]);
        assert_eq!(active(&game), ["piece-hp:both:hp=3", now]);
        play(&mut game, "g1f3 g8f6 f3g1 f6g8");
    }
}

/// A duck that stayed would block its square for good, and no other preset could come or go.
#[test]
fn the_duck_leaves_with_its_preset() {
    let catalogue = catalogue();
    let ducks = |game: &Game| facts(game, "position").len() - 32;
    let (mut rules, mut game) = start(&catalogue, &["duck:both:turns=2"], None);
    play(&mut game, "e2e4 e4e3 e7e5");
    assert_eq!(ducks(&game), 1);
    play(&mut game, "e5e6");
    assert!(active(&game).is_empty());
    assert_eq!(ducks(&game), 0);
    switch(&catalogue, &mut rules, &mut game, &["stamina"]);
    switch(&catalogue, &mut rules, &mut game, &["duck:white"]);
    play(&mut game, "g1f3 f3a3 b8c6");
    assert_eq!(ducks(&game), 1);
    switch(&catalogue, &mut rules, &mut game, &["duck:white", "stamina"]);
    assert_eq!(ducks(&game), 1);
    switch(&catalogue, &mut rules, &mut game, &[]);
    assert_eq!(ducks(&game), 0);
}

/// Else a turn long after it would be cut short when such a preset comes back.
#[test]
fn half_moves_are_not_counted_on_without_the_preset_that_counts_them() {
    let catalogue = catalogue();
    for (preset, opening) in [
        ("double-move", "e2e4"),
        ("duck", "e2e4"),
        ("monster-rules:white", "e2e4"),
        ("schrodingers-laugh", "b1c3"),
    ] {
        let (mut rules, mut game) = start(&catalogue, &[preset], None);
        play(&mut game, opening);
        assert_eq!(facts(&game, "half_moves"), [Value::Int(1)], "{preset}");
        switch(&catalogue, &mut rules, &mut game, &[]);
        assert_eq!(facts(&game, "half_moves"), [Value::Int(0)], "{preset}");
        play(&mut game, "d2d4 d7d5");
        switch(&catalogue, &mut rules, &mut game, &["double-move"]);
        play(&mut game, "g1f3 f3g1 g8f6 f6g8");
    }
    // That of the other side counts nothing of this turn.
    let both = &["monster-rules:white", "monster-rules:black"];
    let (mut rules, mut game) = start(&catalogue, both, None);
    play(&mut game, "e2e4");
    switch(&catalogue, &mut rules, &mut game, &["monster-rules:white"]);
    play(&mut game, "d2d4 d7d5 g1f3");
}

/// Turns of a draft are no turns of the game: presets do not end within it.
#[test]
fn durations_begin_with_the_game() {
    let catalogue = catalogue();
    let brief = ["loadout-draft:both:turns=2", "scorch:white:turns=1"];
    let (_, mut game) = start(&catalogue, &brief, None);
    let before = active(&game);
    play(&mut game, "a2~fire a7~fire b2~water done done");
    assert_eq!(active(&game), before);
    assert!(facts(&game, "loadout-draft::drafting").is_empty());
    play(&mut game, "e2e4");
    assert_eq!(active(&game), ["loadout-draft:both:turns=1,points=6"]);
    play(&mut game, "e7e5");
    assert!(active(&game).is_empty());
}

/// A piece in hand that nobody can drop would count as material, though no board and no FEN shows it.
#[test]
fn hands_are_emptied_when_crazyhouse_ends() {
    let catalogue = catalogue();
    let bare_but_one = Some("4k3/8/8/3p4/4K3/8/8/8 w - - 0 1");
    let (mut rules, mut game) = start(&catalogue, &["crazyhouse"], bare_but_one);
    play(&mut game, "e4d5");
    assert!(game.result().is_none());
    switch(&catalogue, &mut rules, &mut game, &[]);
    assert_eq!(facts(&game, "kind").len(), 2);
    assert!(game.result().is_some(), "bare kings");

    let queens = Some("3qk3/8/8/3p4/4P3/8/8/4K3 w - - 0 1");
    let both = &["crazyhouse:white:turns=2", "crazyhouse:black"];
    let (_, mut game) = start(&catalogue, both, queens);
    play(&mut game, "e4d5 d8d5");
    assert_eq!(facts(&game, "kind").len(), 5);
    play(&mut game, "e1e2");
    assert_eq!(facts(&game, "kind").len(), 4, "the hand of black stays");

    // The game has hands of its own.
    let mut rules = catalogue.load("seirawan", &["crazyhouse"]).expect("it loads");
    let mut game = rules.start(None).expect("it starts");
    let before = facts(&game, "kind").len();
    switch(&catalogue, &mut rules, &mut game, &[]);
    assert_eq!(facts(&game, "kind").len(), before);
}

/// A piece that another kind has become on the way keeps the rules that know it.
#[test]
fn what_only_a_preset_knows_is_not_left_behind() {
    let catalogue = catalogue();
    let (rules, mut game) = start(&catalogue, &["makruk"], Some("4k3/8/8/P7/8/8/8/4K3 w - - 0 1"));
    play(&mut game, "a5a6m");
    let before = game.hash();
    let refused = catalogue.set_active(&rules, &mut game, &[] as &[&str]).expect_err("a met");
    assert_eq!(
        refused.to_string(),
        "a fact of the game says kind = met, and the new rules have no met there: a preset that brings it has \
         to be active"
    );
    assert_eq!(game.hash(), before);
}

/// What was spent, suffered or given counts on, and the rest goes by the new option.
#[test]
fn counters_go_by_other_options() {
    let catalogue = catalogue();
    let numbers = |all: &[i64]| all.iter().copied().map(Value::Int).collect::<Vec<_>>();

    let (mut rules, mut game) = start(&catalogue, &["three-check"], None);
    play(&mut game, "e2e4 f7f6 d1h5 g7g6");
    for (checks, left) in [(3, [2, 3]), (5, [4, 5]), (1, [1, 1])] {
        let three_check = format!("three-check:both:checks={checks}");
        switch(&catalogue, &mut rules, &mut game, &[&three_check]);
        assert_eq!(facts(&game, "three-check.left"), numbers(&left), "{checks}");
        assert!(game.result().is_none());
    }
    play(&mut game, "h5g6");
    let words = game.result().map(ToString::to_string);
    assert_eq!(words.as_deref(), Some("white wins by checks"));

    let (mut rules, mut game) = start(&catalogue, &["piece-hp"], None);
    play(&mut game, "e2e4 d7d5 e4d5");
    for (hp, wounded) in [(2, 1), (4, 3), (1, 1)] {
        switch(&catalogue, &mut rules, &mut game, &[&format!("piece-hp:both:hp={hp}")]);
        let (mut left, mut expected) = (facts(&game, "hp"), numbers(&[hp; 32]));
        expected[0] = Value::Int(wounded);
        left.sort_by_key(|it| *it != Value::Int(wounded));
        assert_eq!(left, expected, "{hp}");
    }

    let (mut rules, mut game) = start(&catalogue, &["do-over:white:copies=2"], None);
    switch(&catalogue, &mut rules, &mut game, &["do-over:white:copies=3"]);
    assert_eq!(facts(&game, "do_over"), numbers(&[3; 16]));

    let (mut rules, mut game) = start(&catalogue, &["loadout-draft"], None);
    play(&mut game, "a2~fire");
    for (points, left) in [(6, [5, 6]), (9, [8, 9]), (1, [0, 1])] {
        let draft = format!("loadout-draft:both:points={points}");
        switch(&catalogue, &mut rules, &mut game, &[&draft]);
        assert_eq!(facts(&game, "loadout-draft::draft_points"), numbers(&left), "{points}");
    }
}

/// As a game that began with that seed has them; nothing of the draw before is left.
#[test]
fn another_seed_draws_anew() {
    let catalogue = catalogue();
    let other = "loadout-drawn:both:seed=7,abilities=2";
    let (mut rules, mut game) = start(&catalogue, &["loadout-drawn:both:seed=3"], None);
    switch(&catalogue, &mut rules, &mut game, &[other]);
    let (_, fresh) = start(&catalogue, &[other], None);
    for attribute in game.program().schema.attributes().iter().skip(1) {
        let name = attribute.name.as_str();
        assert_eq!(facts(&game, name), facts(&fresh, name), "{name}");
    }
}

/// With another target, those kinds are at stake that there are.
#[test]
fn another_target_is_about_the_pieces_of_now() {
    let catalogue = catalogue();
    let fen = "rnb1kbnr/pppp1ppp/8/4p3/8/P7/1PPPPPPP/R1BQKB1R w KQkq - 0 3";
    let (mut rules, mut game) =
        start(&catalogue, &["extinction-chess:both:royal_king=false"], Some(fen));
    for target in ["all", "pawn", "all"] {
        let text = format!("extinction-chess:both:target={target},royal_king=false");
        switch(&catalogue, &mut rules, &mut game, &[&text]);
        assert!(game.result().is_none(), "{target}");
    }
}

/// What the preset says of a side that it applied to before, it goes on to say.
#[test]
fn another_scope_leaves_what_both_apply_to() {
    let catalogue = catalogue();
    let (mut rules, mut game) = start(&catalogue, &["piece-hp"], None);
    play(&mut game, "e2e4 d7d5 e4d5");
    for (scope, pieces) in [("black", 16), ("both", 32), ("black", 16)] {
        switch(&catalogue, &mut rules, &mut game, &[&format!("piece-hp:{scope}")]);
        let hp = facts(&game, "hp");
        assert_eq!(hp.len(), pieces, "{scope}");
        assert_eq!(hp.iter().filter(|it| **it == Value::Int(1)).count(), 1, "{scope}");
        assert_eq!(active(&game), [format!("piece-hp:{scope}:hp=2")]);
    }
    // The turn under way has one half-move left.
    let (mut rules, mut game) = start(&catalogue, &["double-move"], None);
    play(&mut game, "e2e4");
    switch(&catalogue, &mut rules, &mut game, &["double-move:white"]);
    play(&mut game, "d2d4 d7d5 g1f3 b1c3 g8f6");
}

/// Else it would tell of counts and hands that the game no longer has.
#[test]
fn a_fen_has_no_fields_of_presets_that_have_ended() {
    let catalogue = catalogue();
    for (preset, field, moves) in [
        ("double-move:white:turns=1", "", "e2e4 d2d4"),
        ("scorch:white:turns=1", "", "e2e4"),
        ("crazyhouse:white:turns=1", "[]", "e2e4"),
    ] {
        let (rules, mut game) = start(&catalogue, &[preset], None);
        assert!(game.fen().contains(field), "{}", game.fen());
        play(&mut game, moves);
        assert!(active(&game).is_empty(), "{preset}");
        assert!(!game.fen().contains(['=', '[']), "{}", game.fen());
        assert!(game.fen_fields().is_empty(), "{preset}");
        assert!(rules.start(Some(&game.fen())).is_ok(), "{preset}");
    }
}
