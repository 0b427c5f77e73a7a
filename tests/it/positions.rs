//! Positions that no game reaches: they load, and the rules judge them as docs/positions.md says.

use rulemate::internals::presets::Catalogue;

/// The rows of the table: game, position, what happens.
fn rows() -> Vec<[&'static str; 3]> {
    let text = include_str!("../../docs/positions.md");
    let cells = |line: &'static str| -> Option<[&'static str; 3]> {
        let inner = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let cells: Vec<&str> = inner.split(" | ").collect();
        <[&str; 3]>::try_from(cells).ok()
    };
    text.lines().filter_map(cells).skip(1).collect()
}

#[test]
fn impossible_positions_are_judged_as_documented() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rows = rows();
    assert!(rows.len() > 20, "{}", rows.len());
    let mut loaded: Option<(&str, rulemate::internals::presets::Ruleset)> = None;
    for [game, position, expected] in rows {
        if loaded.as_ref().is_none_or(|it| it.0 != game) {
            let rules = catalogue.load(game, &[""; 0]).unwrap_or_else(|it| panic!("{it}"));
            loaded = Some((game, rules));
        }
        let rules = &loaded.as_ref().expect("loaded above").1;
        let fen = position.trim_matches('`');
        let mut played = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{fen}: {it}"));
        let found = match played.result() {
            Some(result) => result.to_string(),
            None => format!("{} moves", played.legal_moves().len()),
        };
        assert_eq!(found, expected, "{game} {fen}");
    }
}

/// A pawn on its last rank stands still, and a royal piece that stands attacked on the other side's
/// turn can be captured: after that its side has lost.
#[test]
fn an_exposed_royal_piece_can_be_captured() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load("chess", &[""; 0]).unwrap_or_else(|it| panic!("{it}"));
    let mut game =
        rules.start(Some("P3k3/4R3/8/8/8/8/8/4K3 w - - 0 1")).unwrap_or_else(|it| panic!("{it}"));
    assert!(!game.listing().iter().any(|it| it.0.starts_with("a8")));
    game.play_text("e7e8").unwrap_or_else(|it| panic!("{it}"));
    let result = game.result().map(ToString::to_string);
    assert_eq!(result.as_deref(), Some("white wins by no royal left"));
}
