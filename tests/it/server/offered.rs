//! `rulemate serve --rules`: files of the machine that serves are offered beside those of the package, and a
//! change counts for games that begin after it.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::kill::{Process, Wire};
use super::store::Folder;

/// How often a change is looked for, a quarter of a second apart: a loaded machine takes its time.
const LOOKS: usize = 240;

const LEAP: &str = ".meta game \"hop\"\n.meta title \"Hop\"\n.meta layout \"orthodox\"\n";

fn catalogue(address: &str) -> Value {
    let mut wire = Wire::to(address).expect("a connection");
    wire.ask("GET", "/api/v1/catalogue", "").expect("an answer").1
}

fn title(catalogue: &Value) -> Option<&str> {
    let games = catalogue["games"].as_array()?;
    games.iter().find(|it| it["game"] == "hop")?["title"].as_str()
}

/// Looks until the game is called so.
fn wait_for(address: &str, wanted: &str) -> Value {
    for _ in 0..LOOKS {
        let found = catalogue(address);
        if title(&found) == Some(wanted) {
            return found;
        }
        sleep(Duration::from_millis(250));
    }
    panic!("the game is never called {wanted}: {:?}", title(&catalogue(address)));
}

#[test]
fn files_of_the_server_are_offered_and_their_changes_count_for_new_games() {
    let folder = Folder::new("offered");
    let rules = folder.0.join("rules");
    fs::create_dir(&rules).unwrap();
    let file = rules.join("hop.dl");
    fs::write(&file, LEAP).unwrap();
    let store = format!("sqlite://{}", folder.0.join("games.db").display());
    let server = Process::start(&store, &["--rules", rules.to_str().unwrap()]);
    let before = wait_for(&server.address, "Hop");
    let mut wire = Wire::to(&server.address).expect("a connection");
    let made = json!({ "game": "hop", "seat": "both" }).to_string();
    let (status, old) = wire.ask("POST", "/api/v1/games", &made).expect("an answer");
    assert_eq!(status, 201, "{old}");

    let wrong = rules.join("wrong.dl");
    fs::write(&wrong, ".meta preset \"wrong\"\nhop(p) :- at(p).\n").unwrap();
    fs::write(&file, LEAP.replace("Hop", "Hop, wrongly")).unwrap();
    // Time to notice it. On a machine that is too slow for that, this part shows nothing.
    sleep(Duration::from_secs(1));
    assert_eq!(title(&catalogue(&server.address)), Some("Hop"), "what has mistakes is not offered");

    fs::remove_file(wrong).unwrap();
    fs::write(&file, LEAP.replace("Hop", "Hop and skip")).unwrap();
    let after = wait_for(&server.address, "Hop and skip");
    assert_ne!(before["rules"], after["rules"]);
    let (status, new) = wire.ask("POST", "/api/v1/games", &made).expect("an answer");
    assert_eq!(status, 201, "{new}");
    for (game, rules) in [(&old, &before["rules"]), (&new, &after["rules"])] {
        let path = format!("/api/v1/games/{}", game["id"].as_str().expect("an id"));
        let (status, state) = wire.ask("GET", &path, "").expect("an answer");
        assert_eq!((status, &state["rules"]), (200, rules), "{state}");
    }
}

#[test]
fn a_server_does_not_start_with_rules_that_have_mistakes() {
    let folder = Folder::new("offered-wrong");
    let file = folder.0.join("wrong.dl");
    fs::write(&file, ".meta game \"wrong\"\n.meta layout \"orthodox\"\nhop(p) :- at(p).\n")
        .unwrap();
    let store = format!("sqlite://{}", folder.0.join("games.db").display());
    let rules = file.to_str().unwrap();
    let ran = crate::cli::rulemate(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--store",
        &store,
        "--rules",
        rules,
    ]);
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("wrong.dl:3"), "{}", ran.err);
    assert!(ran.err.contains("`rulemate check` shows more"), "{}", ran.err);
}
