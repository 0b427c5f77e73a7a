//! Rule text to checked program: everything embedded compiles, mistakes are reported well, and no
//! text can crash the front end.

use rulemate::rules::{Program, Source, compile, embedded_folder, embedded_sources};

/// The files of a game: the core, the presets it uses, its own.
fn game_sources(game: &str) -> Vec<Source> {
    let own = embedded_sources(&[&format!("rules/games/{game}.dl")]);
    let presets: Vec<String> = own
        .iter()
        .flat_map(|it| it.text.lines())
        .filter_map(|it| it.strip_prefix(".meta use \"")?.split([':', '"']).next())
        .map(|it| format!("rules/presets/{it}.dl"))
        .collect();
    let presets: Vec<&str> = presets.iter().map(String::as_str).collect();
    let mut sources = embedded_folder("rules/core");
    sources.extend(embedded_sources(&presets));
    sources.extend(own);
    sources
}

fn compiled(sources: Vec<Source>) -> Program {
    compile(sources).unwrap_or_else(|it| panic!("{it}"))
}

const GAMES: [&str; 7] = [
    "antichess",
    "chess",
    "chess960",
    "coregal",
    "giveaway",
    "knightmate",
    "knightmate-classic",
];

#[test]
fn every_embedded_game_compiles() {
    for game in GAMES {
        let program = compiled(game_sources(game));
        assert_eq!(program.actions.len(), 4, "{game}");
    }
}
