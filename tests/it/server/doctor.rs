//! What `doctor` looks at: every row of every table, damaged at random, one at a time. And stores that
//! are out of order in other ways: full disks, two servers, accounts made by halves.

use std::fs;
use std::path::{Path, PathBuf};

use rulemate::internals::server::store::{Sqlite, Store, open};
use rulemate::internals::server::{Config, Library, snapshots, summaries};
use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use serde_json::json;

use super::api::{Server, run};
use super::store::Folder;

/// Damages that are tried.
const DAMAGES: u64 = 600;

/// Games of many kinds, accounts, rules that are kept: a file without a write-ahead log beside it.
fn full_store(folder: &Folder) -> PathBuf {
    run(async {
        let idle = std::time::Duration::from_millis(10);
        let server = Server::start(folder, Config { idle, uploads: true, ..Config::default() });
        let clock = json!({ "initial": 600_000, "increment": 0 });
        let seat = json!({ "game": "chess", "seat": "both", "name": "Ann", "chat": true, "clock": clock, "listed": true });
        let (over, token) = server.make(seat).await;
        for uci in ["f2f3", "e7e5", "g2g4", "d8h4"] {
            server.play(&over, &token, uci).await;
        }
        let act = async |id: &str, token: &str, act: &str, body: serde_json::Value| {
            let (status, answer) =
                server.post(&format!("/api/v1/games/{id}/{act}"), token, body).await;
            assert!(status.is_success(), "{act}: {answer}");
        };
        act(&over, &token, "chat", json!({ "text": "well played" })).await;
        let (changed, token) = server.make(json!({ "game": "chess", "seat": "both" })).await;
        for _ in 0..2 {
            act(&changed, &token, "presets", json!({ "presets": ["coregal:white"] })).await;
        }
        for uci in ["e2e4", "e7e5", "d2d3"] {
            server.play(&changed, &token, uci).await;
        }
        act(&changed, &token, "takeback", json!({})).await;
        act(&changed, &token, "takeback", json!({})).await;
        let (waiting, _) =
            server.make(json!({ "game": "antichess", "seat": "white", "listed": true })).await;
        let (kept, token) = server.make(json!({ "game": "knightmate", "seat": "both" })).await;
        for uci in ["e2e4", "e7e5", "d2d4", "d7d5", "a2a3"] {
            assert!(server.play(&kept, &token, uci).await.0.is_success());
        }
        let mut owners = vec![String::new()];
        for name in ["ann", "Ben-7"] {
            let (_, made) = server.post("/api/v1/accounts", "", json!({ "name": name })).await;
            owners.push(made["token"].as_str().unwrap().to_owned());
        }
        for (at, owner) in owners.iter().enumerate() {
            let text = format!(".meta preset \"p{at}\"\n.domain Preset += {{ p{at} }}\n");
            let body = json!({ "text": text, "keep": true });
            let (_, kept) = server.post("/api/v1/rules", owner, body).await;
            let made =
                json!({ "game": "chess", "rules": kept["rules"], "presets": [format!("p{at}")] });
            server.make(made).await;
        }
        // Games that leave memory are kept as facts.
        while server.web.host.live_games() > 0 {
            tokio::time::sleep(idle).await;
        }
        assert!(!waiting.is_empty());
        server.stop();
    });
    // As earlier versions have made accounts.
    let old = [("user-old", "Old 0123"), ("account-0123", "Old"), ("bot-old", "Old")];
    let mut store = open(&folder.url()).unwrap();
    for (key, text) in old {
        assert!(store.put_text(key, text).unwrap());
    }
    drop(store);
    let file = folder.0.join("whole.db");
    open(&folder.url()).unwrap().backup(&file).unwrap();
    file
}

/// All that is wrong with a file, as `doctor` tells it.
fn faults(file: &Path, library: &Library) -> Vec<String> {
    let mut store = match Sqlite::open(file) {
        Ok(it) => it,
        Err(why) => return vec![why.to_string()],
    };
    let mut all = match store.check() {
        Ok(health) => health.faults,
        Err(why) => vec![why.to_string()],
    };
    for look in [summaries, snapshots] {
        match look(&mut store, library) {
            Ok(looked) => all.extend(looked.faults),
            Err(why) => all.push(why.to_string()),
        }
    }
    all
}

fn strings(file: &Connection, sql: &str) -> Vec<String> {
    let mut statement = file.prepare(sql).unwrap();
    let found = statement.query_map([], |row| row.get(0)).unwrap();
    found.map(Result::unwrap).collect()
}

/// A value that differs from another.
fn damaged(cell: &Cell, random: &mut fastrand::Rng) -> Cell {
    match cell {
        Cell::Null => Cell::Text("x".into()),
        Cell::Integer(it) => match random.u8(..3) {
            0 => Cell::Integer(it ^ (1 << random.u32(..40))),
            1 => Cell::Integer(it + 1),
            _ => Cell::Integer(-it - 1),
        },
        Cell::Text(text) => {
            let mut letters: Vec<char> = text.chars().collect();
            let at = random.usize(..letters.len().max(1));
            match random.u8(..5) {
                _ if letters.is_empty() => letters.push(' '),
                0 => drop(letters.remove(at)),
                1 => letters.insert(at, ' '),
                2 => letters.truncate(at),
                3 => return Cell::Blob(text.clone().into_bytes()),
                _ => letters[at] = char::from(letters[at] as u8 ^ (1 << random.u32(..7))),
            }
            Cell::Text(letters.into_iter().collect())
        }
        _ => Cell::Null,
    }
}

/// Damages one row; tells how, or nothing if the database does not take it.
fn damage(file: &Connection, random: &mut fastrand::Rng) -> Option<String> {
    let tables = strings(file, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
    let table = &tables[random.usize(..tables.len())];
    let columns =
        strings(file, &format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid"));
    let keys =
        strings(file, &format!("SELECT name FROM pragma_table_info('{table}') WHERE pk > 0"));
    let count: u32 =
        file.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
    assert!(count > 0, "{table} has no rows to be damaged");
    let row = random.u32(..count);
    let all = columns.join(", ");
    let sql = format!("SELECT {all} FROM {table} LIMIT 1 OFFSET {row}");
    let cells: Vec<Cell> =
        file.query_row(&sql, [], |row| (0..columns.len()).map(|at| row.get(at)).collect()).unwrap();
    let place: Vec<String> = keys.iter().map(|it| format!("{it} = :{it}")).collect();
    let place = place.join(" AND ");
    let own: Vec<(String, &Cell)> = keys
        .iter()
        .map(|key| (format!(":{key}"), &cells[columns.iter().position(|it| it == key).unwrap()]))
        .collect();
    let mut named: Vec<(&str, &dyn rusqlite::ToSql)> =
        own.iter().map(|it| (it.0.as_str(), it.1 as &dyn rusqlite::ToSql)).collect();
    // A snapshot that is gone is no damage: the log tells the same.
    let (sql, told) = if random.u8(..6) == 0 && table != "snapshots" {
        (format!("DELETE FROM {table} WHERE {place}"), "row deleted".to_owned())
    } else {
        let at = random.usize(..columns.len());
        let value = damaged(&cells[at], random);
        let told = format!("{} {:?} became {value:?}", columns[at], cells[at]);
        let sql = format!("UPDATE {table} SET {} = :value WHERE {place}", columns[at]);
        named.push((":value", &value));
        let done = file.execute(&sql, &named[..]).ok()?;
        return (done == 1).then(|| format!("{table}: {told:.300}"));
    };
    (file.execute(&sql, &named[..]).ok()? == 1).then(|| format!("{table}: {told}"))
}

#[test]
fn no_damage_to_any_row_of_any_table_goes_unnoticed() {
    let folder = Folder::new("damages");
    let (whole, copy) = (full_store(&folder), folder.0.join("copy.db"));
    let library = Library::new().unwrap();
    assert_eq!(faults(&whole, &library), Vec::<String>::new(), "nothing is wrong yet");
    let mut missed = Vec::new();
    let mut done = 0;
    for seed in 0..DAMAGES {
        let mut random = fastrand::Rng::with_seed(seed);
        for end in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{end}", copy.display()));
        }
        fs::copy(&whole, &copy).unwrap();
        let file = Connection::open(&copy).unwrap();
        file.pragma_update(None, "synchronous", "OFF").unwrap();
        let Some(told) = damage(&file, &mut random) else { continue };
        drop(file);
        done += 1;
        if faults(&copy, &library).is_empty() {
            missed.push(format!("seed {seed}: {told}"));
        }
    }
    assert!(done > DAMAGES / 2, "{done} damages");
    assert!(missed.is_empty(), "{} of {done}:\n{}", missed.len(), missed.join("\n"));
}

/// What leaves no loose end: a game with all of its rows, a text with those that refer to it.
#[test]
fn what_is_gone_without_a_trace_is_missed_by_the_tallies() {
    let folder = Folder::new("gone");
    let (whole, copy) = (full_store(&folder), folder.0.join("copy.db"));
    let library = Library::new().unwrap();
    let game = "(SELECT min(id) FROM games)";
    for (statements, told) in [
        (
            format!(
                "DELETE FROM events WHERE game = {game}; DELETE FROM snapshots WHERE game = {game};
                 DELETE FROM games WHERE id = {game};"
            ),
            "games: 6 rows are there, but 7 were written",
        ),
        (
            "DELETE FROM texts WHERE hash = 'user-old' OR text = 'Old';".to_owned(),
            "texts: 4 rows are there, but 7 were written",
        ),
        (
            "DELETE FROM records WHERE key = 'user ann' OR value = 'ann';".to_owned(),
            "records: 2 rows are there, but 4 were written",
        ),
        ("DELETE FROM uploads;".to_owned(), "uploads: 0 rows are there, but 3 were written"),
        (
            "UPDATE texts SET text = replace(text, 'p0', 'p9') WHERE text LIKE '%\"p0%';"
                .to_owned(),
            "texts: some row is not what was written",
        ),
    ] {
        fs::copy(&whole, &copy).unwrap();
        Connection::open(&copy).unwrap().execute_batch(&statements).unwrap();
        let found = faults(&copy, &library);
        assert!(found.iter().any(|it| it == told), "{statements}: {found:#?}");
    }
}

/// Rules that are not those of their hash are not the rules of a game.
#[test]
fn games_whose_rules_were_changed_are_named() {
    let folder = Folder::new("changed");
    let file = full_store(&folder);
    let library = Library::new().unwrap();
    let change = "UPDATE texts SET text = replace(text, 'p0', 'p9') WHERE text LIKE '%\"p0%';";
    Connection::open(&file).unwrap().execute_batch(change).unwrap();
    let looked = summaries(&mut Sqlite::open(&file).unwrap(), &library).unwrap();
    let [fault] = &looked.faults[..] else { panic!("{:#?}", looked.faults) };
    assert!(fault.ends_with(" are not in the store, or are damaged"), "{fault}");
}

/// A mistyped path is no empty store, neither for a backup nor for the doctor; and the disk is that of the store.
#[test]
fn a_store_that_is_missing_is_told_and_not_made() {
    let folder = Folder::new("missing");
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rulemate"));
        let done = command.args(args).env("TMPDIR", "/nowhere").output().unwrap();
        let told = [done.stdout, done.stderr].concat();
        (done.status.code(), String::from_utf8_lossy(&told).into_owned())
    };
    let copy = folder.0.join("copy.db");
    let (code, told) = run(&["backup", &copy.display().to_string(), "--store", &folder.url()]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("there is no store"), "{told}");
    let (code, told) = run(&["doctor", "--store", &folder.url()]);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("BAD store: ") && told.contains("durable commits"), "{told}");
    assert_eq!(
        fs::read_dir(&folder.0).unwrap().count(),
        0,
        "nothing was made, and nothing is left"
    );
}

/// A store of before has no tallies: they are made when it is opened.
#[test]
fn an_older_store_gets_its_tallies() {
    let folder = Folder::new("older");
    let file = full_store(&folder);
    let older = "DROP TABLE tallies; PRAGMA user_version = 3;";
    Connection::open(&file).unwrap().execute_batch(older).unwrap();
    let mut store = Sqlite::open(&file).unwrap();
    let health = store.check().unwrap();
    assert_eq!((health.faults, health.games), (Vec::new(), 7));
}

/// Runs the program: its exit code, and all that it prints.
fn ran(args: &[&str]) -> (Option<i32>, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rulemate"));
    let done = command.args(args).output().unwrap();
    (done.status.code(), String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned())
}

fn format_of(file: &Path) -> i64 {
    let file = Connection::open(file).unwrap();
    file.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

/// Whoever looks at a store of before, or copies it, can still go back to the program that made it.
#[test]
fn an_older_store_is_looked_at_and_copied_as_it_is() {
    let folder = Folder::new("as-it-is");
    let file = full_store(&folder);
    // Format 3 had neither lists of rules nor tallies, and accounts were texts.
    let older =
        "DROP TABLE tallies; DROP TABLE uploads; DROP TABLE records; PRAGMA user_version = 3;";
    Connection::open(&file).unwrap().execute_batch(older).unwrap();
    let before = fs::read_dir(&folder.0).unwrap().count();
    let store = file.display().to_string();
    let (_, told) = ran(&["doctor", "--store", &store]);
    let of_store = told.lines().find(|it| it.contains("store: ")).unwrap_or_default();
    assert!(of_store.starts_with("ok ") && of_store.contains("of the earlier format 3"), "{told}");
    assert!(!told.contains("BAD summ") && !told.contains("BAD snap"), "{told}");
    for args in [&["moderate"][..], &["prune", "--days", "1", "--dry-run"]] {
        let (code, told) = ran(&[args, &["--store", &store]].concat());
        assert_eq!(code, Some(0), "{told}");
    }
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), before, "nothing is left");
    let copy = folder.0.join("copy.db");
    let (code, told) = ran(&["backup", &copy.display().to_string(), "--store", &store]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("7 games"), "{told}");
    assert_eq!((format_of(&file), format_of(&copy)), (3, 3));
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), before + 1, "nothing but the copy");
    // Whoever writes brings it to the current format.
    let (code, told) = ran(&["prune", "--days", "1000", "--store", &store]);
    assert_eq!(code, Some(0), "{told}");
    assert_eq!((format_of(&file), format_of(&copy)), (5, 3));
}

/// A store of a later version is one, and a file that is damaged is told as that; neither is helped by another file name.
#[test]
fn a_store_that_cannot_be_read_is_told_with_what_helps() {
    let folder = Folder::new("unread");
    let file = folder.0.join("games.db");
    drop(Sqlite::open(&file).unwrap());
    let whole = fs::read(&file).unwrap();
    Connection::open(&file).unwrap().execute_batch("PRAGMA user_version = 99;").unwrap();
    let url = folder.url();
    for args in
        [&["serve", "--listen", "127.0.0.1:0"][..], &["prune", "--days", "9"], &["moderate"]]
    {
        let (code, told) = ran(&[args, &["--store", &url]].concat());
        assert_eq!(code, Some(2), "{told}");
        assert!(told.contains("is of a newer Rulemate: its format is 99"), "{told}");
        assert!(told.contains("or a newer one"), "{told}");
    }
    for text in
        [&whole[..whole.len() / 2], b"no database, but a text that is long enough".as_slice()]
    {
        for end in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{end}", file.display()));
        }
        fs::write(&file, text).unwrap();
        let (code, told) = ran(&["serve", "--listen", "127.0.0.1:0", "--store", &url]);
        assert_eq!(code, Some(2), "{told}");
        assert!(told.contains("the store's file is damaged: "), "{told}");
        assert!(told.contains("that `rulemate backup` made"), "{told}");
        assert_eq!(fs::read(&file).unwrap(), text, "it is left as it is");
    }
}
