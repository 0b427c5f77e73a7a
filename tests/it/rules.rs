//! Rule text to checked program: everything embedded compiles, mistakes are reported well, and no
//! text can crash the front end.

use std::path::Path;

use rulemate::rules::{Program, Source, compile, embedded_folder, embedded_sources, load_folder};

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

// --- the corpus ----------------------------------------------------------------------------------

fn corpus(folder: &str) -> Vec<(String, Vec<Source>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/rules")
        .join(folder);
    let files = load_folder(&root).expect("the corpus is readable");
    files
        .into_iter()
        .map(|it| {
            let name = Path::new(&it.path)
                .file_stem()
                .expect("a name")
                .to_string_lossy();
            (
                name.to_string(),
                split_files(&format!("{name}.dl"), &it.text),
            )
        })
        .collect()
}

/// Lines `% --- file NAME` split a corpus file into several sources.
fn split_files(path: &str, text: &str) -> Vec<Source> {
    let mut sources = vec![Source {
        path: path.to_string(),
        text: String::new(),
    }];
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("% --- file ") {
            sources.push(Source {
                path: name.to_string(),
                text: String::new(),
            });
        } else {
            let last = sources.last_mut().expect("never empty");
            last.text.push_str(line);
            last.text.push('\n');
        }
    }
    if sources.len() > 1 {
        sources.remove(0);
    }
    sources
}

#[test]
fn programs_that_are_not_chess_compile() {
    let corpus = corpus("ok");
    assert!(corpus.len() >= 7);
    for (_, sources) in corpus {
        compiled(sources);
    }
}

/// `UPDATE_EXPECT=1` writes the renderings anew.
#[test]
fn mistakes_are_rendered_as_recorded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/rules/fail");
    let corpus = corpus("fail");
    assert!(corpus.len() >= 45);
    for (name, sources) in corpus {
        let found = compile(sources)
            .err()
            .unwrap_or_else(|| panic!("{name} compiles"));
        let code = name.split('-').next().unwrap_or("").to_uppercase();
        if code.len() == 4 && code[1..].bytes().all(|it| it.is_ascii_digit()) {
            assert!(
                found.list().iter().any(|it| it.code == code),
                "{name} lacks {code}:\n{found}"
            );
        }
        let path = root.join(format!("{name}.txt"));
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, found.to_string()).expect("the corpus is writable");
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            found.to_string(),
            expected,
            "{name}: UPDATE_EXPECT=1 accepts this rendering"
        );
    }
}
