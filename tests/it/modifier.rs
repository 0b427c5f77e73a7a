//! User-defined modifiers: what descriptors do in a game, and what is refused.

use rulemate::internals::game::Game;
use rulemate::internals::presets::{Catalogue, Modifier};

fn game(modifiers: &[&str], presets: &[&str], fen: &str) -> Game {
    let mut catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    for text in modifiers {
        let modifier = Modifier::from_json(text).unwrap_or_else(|it| panic!("{it}"));
        let rules = modifier.to_rules().unwrap_or_else(|it| panic!("{it}"));
        catalogue.add(rules).unwrap_or_else(|it| panic!("{it}"));
    }
    let rules = catalogue.load("chess", presets).unwrap_or_else(|it| panic!("{it}"));
    rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"))
}

fn after(game: &mut Game, uci: &str) -> String {
    game.play_text(uci).unwrap_or_else(|it| panic!("{uci}: {it}"));
    let fen = game.fen();
    fen.split(' ').next().unwrap_or_default().to_string()
}

#[test]
fn a_captured_piece_takes_its_attacker_along() {
    let thorny = r#"{ "id": "thorny", "hooks": [
        { "on": "on-captured", "kind": "pawn", "target": "attacker", "effects": [{ "do": "kill" }] }
    ] }"#;
    let fen = "4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1";
    assert_eq!(after(&mut game(&[thorny], &["thorny:black"], fen), "d1d5"), "4k3/8/8/8/8/8/8/4K3");
    assert_eq!(
        after(&mut game(&[thorny], &["thorny:white"], fen), "d1d5"),
        "4k3/8/8/3R4/8/8/8/4K3"
    );
}

#[test]
fn targets_are_squares_allies_and_enemies() {
    let storm = r#"{ "id": "storm", "name": "Storm", "hooks": [
        { "on": "on-move", "kind": "king", "target": { "squares": ["a1", "h8"] }, "effects": [{ "do": "kill" }] },
        { "on": "on-promotion", "target": { "relation": "ally", "filter": { "pieceType": "pawn" } },
          "effects": [{ "do": "become", "kind": "knight" }] },
        { "on": "on-turn-start", "kind": "king", "target": { "relation": "enemy", "filter": { "kind": "bishop" } },
          "effects": [{ "do": "damage", "amount": 1 }, { "do": "note", "text": "struck" }] }
    ] }"#;
    let fen = "6kr/2P5/8/8/8/P7/8/R3KB2 w - - 0 1";
    let mut game = game(&[storm], &["storm"], fen);
    assert_eq!(after(&mut game, "c7c8q"), "2Q3kr/8/8/8/8/N7/8/R3K3");
    let notes: Vec<&str> = game.history()[0].notes().iter().map(|it| &**it).collect();
    assert_eq!(notes, ["struck: the white bishop on f1"]);
    assert_eq!(after(&mut game, "g8f7"), "2Q5/5k2/8/8/8/N7/8/4K3");
}

/// Whatever a descriptor may say comes to rules that compile: each trigger with each target and effect.
#[test]
fn all_parts_of_a_descriptor_make_rules() {
    let targets = [
        r#""self""#,
        r#"{ "squares": ["a1", "d4"] }"#,
        r#"{ "relation": "ally" }"#,
        r#"{ "relation": "enemy", "filter": { "kind": "rook" } }"#,
        r#""attacker""#,
        r#""defender""#,
    ];
    let effects = r#"{ "do": "damage", "amount": 2 }, { "do": "add", "relation": "hp", "amount": -1 },
        { "do": "add", "relation": "hp", "amount": 3 }, { "do": "set", "relation": "hp", "value": -4 },
        { "do": "become", "kind": "queen" }, { "do": "kill" }, { "do": "note", "text": "<id> < <asks>" }"#;
    let of_captures = ["on-captured", "on-capture"];
    let others = ["on-died", "on-promotion", "on-move", "on-turn-start"];
    let mut hooks = Vec::new();
    for (on, targets) in of_captures
        .iter()
        .map(|it| (it, &targets[..]))
        .chain(others.iter().map(|it| (it, &targets[..4])))
    {
        for (target, kind) in targets.iter().flat_map(|it| [(it, ""), (it, r#""kind": "pawn", "#)])
        {
            hooks.push(format!(
                r#"{{ "on": "{on}", {kind}"target": {target}, "effects": [{effects}] }}"#
            ));
        }
    }
    let all = format!(r#"{{ "id": "all-of-it", "hooks": [{}] }}"#, hooks.join(","));
    let modifier = Modifier::from_json(&all).unwrap_or_else(|it| panic!("{it}"));
    let text = modifier.to_rules().unwrap_or_else(|it| panic!("{it}")).text.to_string();
    assert_eq!(text.lines().filter(|it| it.starts_with("on ")).count(), hooks.len() * 7);
    let left =
        text.lines().filter(|it| it.contains('<') && !it.contains("note")).collect::<Vec<_>>();
    assert!(left.is_empty() && text.contains("note \"<id> < <asks>: {y}\""), "{left:?}");
    let fen = "4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1";
    game(&[&all], &["piece-hp", "all-of-it"], fen);
}

#[test]
fn descriptors_without_sense_are_refused() {
    let refused = |text: &str| {
        let modifier = Modifier::from_json(text).unwrap_or_else(|it| panic!("{it}"));
        modifier.to_rules().expect_err("it makes no sense").to_string()
    };
    assert_eq!(
        refused(
            r#"{ "id": "odd", "hooks": [{ "on": "on-move", "target": "defender", "effects": [{ "do": "kill" }] }] }"#
        ),
        "modifier odd: OnMove knows no Defender: only a capture has one"
    );
    assert_eq!(
        refused(r#"{ "id": "x\" y", "hooks": [] }"#),
        "modifier x\" y: \"x\\\" y\" is no name: letters, digits and `_`, with single `-` between them"
    );
    let long = "a".repeat(65);
    for word in ["1st", "-a", "a-", "a--b", "", &long] {
        let found = refused(&format!(r#"{{ "id": "{word}", "hooks": [] }}"#));
        assert!(found.contains("is no name"), "{found}");
    }
    let unknown = Modifier::from_json(r#"{ "id": "a", "hooks": [], "extra": 1 }"#);
    assert!(unknown.is_err_and(|it| it.to_string().contains("unknown field `extra`")));
}
