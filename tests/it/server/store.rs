//! Stores: one suite of what every store must do, and what is left when a file is cut short.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rulemate::internals::server::Texts;
use rulemate::internals::server::store::{
    Append, Chain, Change, Conflict, GameState, Journal, Sqlite, Store, StoreError, Summary,
    Upload, open,
};

/// A folder that goes away with the test.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rulemate-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn url(&self) -> String {
        format!("sqlite://{}", self.0.join("games.db").display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn summary(game: &str, state: GameState, updated: u64) -> Summary {
    Summary {
        id: game.into(),
        game: "sums".into(),
        presets: vec!["more".into()],
        state,
        players: vec![Some("ann".into()), None],
        accounts: Vec::new(),
        rated: false,
        ply: 3,
        result: None,
        updated,
        listed: true,
    }
}

pub(super) fn append(game: &str, expected: u64, payloads: &[&str]) -> Append {
    let payloads = payloads.iter().map(|it| (*it).to_owned()).collect();
    let summary = summary(game, GameState::Playing, expected);
    Append {
        game: game.into(),
        expected,
        payloads,
        summary,
        snapshot: None,
        lease: None,
        empty_records: Vec::new(),
    }
}

pub(super) fn payloads(store: &mut dyn Store, game: &str, after: u64) -> Vec<String> {
    store.read(game, after).unwrap().unwrap().into_iter().map(|it| it.payload).collect()
}

/// What every store must do. `again` opens the same store once more.
fn conforms(store: &mut dyn Store, again: &dyn Fn() -> Box<dyn Store>) {
    assert_eq!(store.read("a", 0).unwrap(), None, "no game, and not an empty one");
    assert_eq!(store.append(&[append("a", 0, &["one", "two"])]).unwrap(), [Ok(())]);
    assert_eq!(payloads(store, "a", 0), ["one", "two"]);
    assert_eq!(payloads(store, "a", 1), ["two"]);
    assert_eq!(payloads(again().as_mut(), "a", 0), ["one", "two"], "durable when it returns");

    // An append that does not name the last event is not written; others in the group are.
    let stale = Conflict::Outdated { game: "a".into(), expected: 1, found: 2 };
    let group = [append("a", 1, &["no"]), append("b", 0, &["first"]), append("a", 2, &["three"])];
    assert_eq!(store.append(&group).unwrap(), [Err(stale), Ok(()), Ok(())]);
    assert_eq!(payloads(store, "a", 0), ["one", "two", "three"]);
    let made_twice = Conflict::Outdated { game: "b".into(), expected: 0, found: 1 };
    assert_eq!(store.append(&[append("b", 0, &["other"])]).unwrap(), [Err(made_twice)]);
    // In one group the second of two for one event loses.
    let race = [append("b", 1, &["won"]), append("b", 1, &["lost"])];
    assert!(matches!(store.append(&race).unwrap()[..], [Ok(()), Err(_)]));
    assert_eq!(payloads(store, "b", 0), ["first", "won"]);
    assert_eq!(store.append(&[]).unwrap(), []);

    // Two owners of one game: the slower is refused.
    let mut other = again();
    assert_eq!(other.append(&[append("a", 3, &["theirs"])]).unwrap(), [Ok(())]);
    assert!(store.append(&[append("a", 3, &["ours"])]).unwrap()[0].is_err());

    // A page is some of the events after a number, and nothing after the last one.
    let page = |store: &mut dyn Store, after, limit| {
        let rows = store.page("a", after, limit).unwrap().unwrap();
        rows.into_iter().map(|it| (it.seq, it.payload)).collect::<Vec<_>>()
    };
    let all =
        [(1, "one"), (2, "two"), (3, "three"), (4, "theirs")].map(|it| (it.0, it.1.to_owned()));
    assert_eq!(store.page("none", 0, 9).unwrap(), None);
    for after in 0..=5 {
        for limit in 0..=5 {
            let from = after.min(all.len());
            let until = (from + limit).min(all.len());
            assert_eq!(page(store, after as u64, limit), all[from..until], "{after}, {limit}");
        }
    }

    // Texts of any kind come back as they were.
    let odd = "{\"q\":\"'; DROP TABLE events; --\",\"u\":\"\u{1F44B}\\n\"}";
    assert_eq!(store.append(&[append("odd'--", 0, &[odd, ""])]).unwrap(), [Ok(())]);
    assert_eq!(payloads(store, "odd'--", 0), [odd, ""]);

    // Lists: listed games alone, the last changed first.
    let listed = |state, updated, listed, id: &str| Append {
        summary: Summary { listed, ..summary(id, state, updated) },
        ..append(id, 0, &["x"])
    };
    let group = [
        listed(GameState::Waiting, 900, true, "w"),
        listed(GameState::Over, 800, true, "o"),
        listed(GameState::Waiting, 999, false, "hidden"),
    ];
    assert!(store.append(&group).unwrap().iter().all(Result::is_ok));
    let ids = |found: Vec<Summary>| found.into_iter().map(|it| it.id).collect::<Vec<_>>();
    assert_eq!(ids(store.list(None, None, 2, 0).unwrap()), ["w", "o"]);
    assert_eq!(ids(store.list(Some(GameState::Over), None, 9, 0).unwrap()), ["o"]);
    // Nothing has happened for long in what is not over: it is listed no more.
    assert_eq!(ids(store.list(None, None, 9, u64::MAX / 2).unwrap()), ["o"]);
    let whole = ids(store.list(None, None, 9, 0).unwrap());
    for at in 0..whole.len() {
        let after = ids(store.list(None, Some(&whole[at]), 9, 0).unwrap());
        assert_eq!(after, whole[at + 1..], "those after {}", whole[at]);
    }
    assert!(store.list(None, Some("none"), 9, 0).unwrap().is_empty());
    // A place with a time is where it was, whatever its game does meanwhile.
    for (place, before) in [("950.w", 0), ("900.w", 1), ("700.w", 2)] {
        let behind = ids(store.list(None, Some(place), 9, 0).unwrap());
        assert_eq!(behind, whole[before..], "{place}");
    }

    // A snapshot comes with events or alone; the last one counts, and it is of its event.
    assert_eq!(store.snapshot("a").unwrap(), None);
    let kept = |expected, payloads: &[&str], text: &str| Append {
        snapshot: Some(text.into()),
        ..append("b", expected, payloads)
    };
    assert_eq!(store.append(&[kept(2, &["third"], "three")]).unwrap(), [Ok(())]);
    assert_eq!(store.snapshot("b").unwrap(), Some((3, "three".into())));
    assert_eq!(store.append(&[kept(3, &[], "three again")]).unwrap(), [Ok(())]);
    assert!(store.append(&[kept(2, &[], "stale")]).unwrap()[0].is_err());
    assert_eq!(again().snapshot("b").unwrap(), Some((3, "three again".into())));
    assert_eq!(payloads(store, "b", 0), ["first", "won", "third"]);

    let (hash, text) = Texts { base: None, files: Vec::new(), trusted: false }.stored();
    store.put_text(&hash, &text).unwrap();
    store.put_text(&hash, &text).unwrap();
    assert_eq!(store.text(&hash).unwrap().as_deref(), Some(&*text));
    assert_eq!(store.text("none").unwrap(), None);
    assert!(!store.put_text(&hash, "another").unwrap());
    assert_eq!(store.text(&hash).unwrap().as_deref(), Some(&*text));
    // A list of rules has its texts; what goes from the list stays as a text.
    let upload = Upload { owner: "ann".into(), rules: hash.clone(), name: None, at: 7 };
    assert!(store.add_upload(&upload, &text, 1).unwrap());
    assert!(store.add_upload(&Upload { at: 8, ..upload.clone() }, &text, 1).unwrap());
    assert!(store.drop_upload("ann", &hash).unwrap() && !store.drop_upload("ann", &hash).unwrap());
    assert!(store.add_upload(&upload, &text, 1).unwrap());
    assert_eq!(store.uploads("ann").unwrap(), [upload]);
    records(store, again);
    store.probe().unwrap();
    let health = store.check().unwrap();
    assert_eq!((health.games, health.events, health.faults.len()), (6, 14, 0));
    pruning(store);
}

/// Games are forgotten whole, with what records say of them, and nothing else is.
fn pruning(store: &mut dyn Store) {
    let seat = |game: &str| format!("seat ann {:016x} {game}", 1);
    let mut with_account = Append {
        empty_records: vec![seat("p"), seat("pp"), "unrated o".into()],
        ..append("p", 0, &["x"])
    };
    with_account.summary.accounts = vec![Some("ann".into()), None];
    assert_eq!(store.append(&[with_account]).unwrap(), [Ok(())]);
    let keys = ["rated p", "rated pp", "report p ~1", "report pp ~1"];
    let make = |key: &&str| Change { key: (*key).into(), from: None, to: Some("1".into()) };
    assert!(store.change(&keys.each_ref().map(make)).unwrap());
    // What is young stays, and so does what is not settled yet.
    assert_eq!(store.older(850).unwrap(), ["a", "b", "odd'--", "p"]);
    let all = ["a", "b", "w", "o", "p", "none"].map(str::to_owned);
    assert_eq!(store.forget(&all, 0).unwrap(), 0);
    assert_eq!(store.forget(&all, 850).unwrap(), 3);
    assert_eq!(store.games().unwrap(), ["hidden", "o", "odd'--", "w"]);
    assert_eq!((store.read("a", 0).unwrap(), store.snapshot("b").unwrap()), (None, None));
    let keys = |store: &mut dyn Store, prefix: &str| {
        let found = store.records(prefix, "", 99).unwrap();
        found.into_iter().map(|it| it.0).collect::<Vec<_>>()
    };
    assert_eq!(keys(store, "seat ann 0"), [seat("pp")]);
    assert_eq!(keys(store, "rated"), ["rated pp"]);
    assert_eq!(keys(store, "report"), ["report pp ~1"]);
    let health = store.check().unwrap();
    assert_eq!((health.games, health.faults), (4, Vec::new()));
    // A node that had it in memory is told that it is gone.
    assert!(store.append(&[append("a", 4, &["late"])]).unwrap()[0].is_err());
    assert_eq!(store.append(&[append("a", 0, &["anew", "again"])]).unwrap(), [Ok(())]);
    seats(store);
}

/// The games of an account are found by its seats, one after the other, in whatever state they are.
fn seats(store: &mut dyn Store) {
    let prefix = "seat eve ";
    let seat = |number: usize, state: GameState| {
        let game = format!("s{number}");
        let at = |it: usize| format!("{prefix}{it:016x} {game}");
        let mut made = append(&game, 0, &["x"]);
        made.summary.state = state;
        // The first one has both seats of its game.
        made.empty_records = if number == 1 { vec![at(1), at(9)] } else { vec![at(number)] };
        made
    };
    let (over, playing) = (GameState::Over, GameState::Playing);
    let made = [seat(1, over), seat(2, playing), seat(3, over), seat(4, playing)];
    assert!(store.append(&made).unwrap().iter().all(Result::is_ok));
    let mut found = |state, before, examined, limit| {
        let found = store.seated(prefix, state, before, examined, limit).unwrap();
        found.into_iter().map(|it| it.id).collect::<Vec<_>>()
    };
    assert_eq!(found(None, None, 9, 9), ["s1", "s2", "s3", "s4"]);
    assert_eq!(found(Some(playing), None, 9, 1), ["s2"]);
    assert_eq!(found(Some(playing), Some("s2"), 9, 9), ["s4"]);
    assert_eq!(found(Some(playing), None, 3, 9), ["s2"]);
    assert_eq!(found(None, Some("s1"), 9, 2), ["s2", "s3"]);
    for none in ["s9", "a\0"] {
        assert!(found(None, Some(none), 9, 9).is_empty());
    }
}

/// Records change as they are said to, all or none; marks come with their events or not at all.
fn records(store: &mut dyn Store, again: &dyn Fn() -> Box<dyn Store>) {
    let change = |key: &str, from: Option<&str>, to: Option<&str>| Change {
        key: key.into(),
        from: from.map(str::to_owned),
        to: to.map(str::to_owned),
    };
    assert_eq!(store.record("user ann").unwrap(), None);
    let make = [change("user ann", None, Some("1")), change("token 7", None, Some("ann"))];
    assert!(store.change(&make).unwrap() && !store.change(&make).unwrap(), "made once");
    assert_eq!(again().record("token 7").unwrap().as_deref(), Some("ann"));
    for wrong in [
        [change("user ann", Some("1"), Some("2")), change("token 7", Some("ben"), None)],
        [change("user ann", Some("0"), Some("2")), change("token 7", Some("ann"), None)],
        [change("user ann", Some("1"), Some("2")), change("user ben", Some("1"), None)],
        [change("user ann", Some("1"), None), change("token 7", None, None)],
    ] {
        assert!(!store.change(&wrong).unwrap(), "{wrong:?}");
        assert_eq!(store.record("user ann").unwrap().as_deref(), Some("1"), "all or none");
    }
    let right = [change("user ann", Some("1"), Some("2")), change("token 7", Some("ann"), None)];
    assert!(store.change(&right).unwrap());
    assert_eq!(store.record("token 7").unwrap(), None);
    let list = |store: &mut dyn Store, after: &str, limit| {
        let found = store.records("seat ann ", after, limit).unwrap();
        found.into_iter().map(|it| it.0).collect::<Vec<_>>()
    };
    let mark = |expected, keys: &[&str]| Append {
        empty_records: keys.iter().map(|it| (*it).to_owned()).collect(),
        ..append("b", expected, &["marked"])
    };
    assert_eq!(
        store.append(&[mark(3, &["seat ann 1", "seat ann 2", "seat anna 3"])]).unwrap(),
        [Ok(())]
    );
    assert!(store.append(&[mark(3, &["seat ann 4"])]).unwrap()[0].is_err(), "no event, no mark");
    assert_eq!(
        store.append(&[mark(4, &["seat ann 2", "user ann", "seat ann Z"])]).unwrap(),
        [Ok(())]
    );
    assert_eq!(store.record("user ann").unwrap().as_deref(), Some("2"), "what is there stays");
    assert_eq!(list(store, "", 9), ["seat ann 1", "seat ann 2", "seat ann Z"]);
    assert_eq!(list(store, "seat ann 1", 1), ["seat ann 2"]);
    assert_eq!(store.summary("b").unwrap().unwrap().id, "b");
    assert_eq!(store.summary("none").unwrap(), None);
    // What a client asks for may have a zero byte, which PostgreSQL has in no text.
    let zero = "a\0";
    assert_eq!((store.summary(zero).unwrap(), store.read(zero, 0).unwrap()), (None, None));
    assert_eq!((store.record(zero).unwrap(), store.text(zero).unwrap()), (None, None));
    assert_eq!((store.snapshot(zero).unwrap(), store.drop_upload(zero, zero)), (None, Ok(false)));
    assert!(store.list(None, Some(zero), 9, 0).unwrap().is_empty());
    assert!(store.records(zero, "", 9).unwrap().is_empty());
}

#[test]
fn sqlite_conforms() {
    let folder = Folder::new("conforms");
    let mut store = open(&folder.url()).unwrap();
    conforms(store.as_mut(), &|| open(&folder.url()).unwrap());
}

#[test]
fn a_list_names_the_game_whose_summary_is_damaged() {
    let folder = Folder::new("summary");
    let mut store = open(&folder.url()).unwrap();
    let group = [append("a", 0, &["one"]), append("b", 0, &["first"])];
    assert_eq!(store.append(&group).unwrap(), [Ok(()), Ok(())]);
    let file = rusqlite::Connection::open(folder.0.join("games.db")).unwrap();
    assert_eq!(file.execute("UPDATE games SET summary = '{' WHERE id = 'b'", []), Ok(1));
    let listed = store.list(None, None, 9, 0);
    assert!(matches!(&listed, Err(StoreError::Damaged { game, .. }) if game == "b"), "{listed:?}");
}

/// A schema of the database for tests, `RULEMATE_TEST_POSTGRES=postgres://...`. Tests that need it are
/// ignored unless they are asked for, as `.ci/run` does where there is one.
pub(super) fn test_database(schema: &str) -> String {
    let url = std::env::var("RULEMATE_TEST_POSTGRES");
    let url = url.expect("RULEMATE_TEST_POSTGRES names a database (`.ci/postgres start DIR`)");
    let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    let anew = format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}");
    client.batch_execute(&anew).unwrap();
    format!("{url}?options=-csearch_path%3D{schema}")
}

#[test]
#[ignore = "needs PostgreSQL: RULEMATE_TEST_POSTGRES"]
fn postgres_conforms() {
    let url = test_database("conforms");
    let mut store = open(&url).unwrap();
    conforms(store.as_mut(), &|| open(&url).unwrap());
    let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    client.execute("UPDATE events SET payload = 'TWO' WHERE game = 'a' AND seq = 2", &[]).unwrap();
    assert!(matches!(store.read("a", 0), Err(StoreError::Damaged { seq: 2, .. })));
}

/// One from before there were formats gets one.
#[test]
#[ignore = "needs PostgreSQL: RULEMATE_TEST_POSTGRES"]
fn postgres_refuses_a_later_format() {
    let url = test_database("format");
    let mut store = open(&url).unwrap();
    assert_eq!(store.append(&[append("a", 0, &["one"])]).unwrap(), [Ok(())]);
    let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    client.batch_execute("DROP TABLE store_format").unwrap();
    assert_eq!(open(&url).unwrap().check().unwrap().faults, Vec::<String>::new());
    client.batch_execute("UPDATE store_format SET number = 99").unwrap();
    assert!(matches!(open(&url), Err(StoreError::Newer { found: 99, .. })));
}

/// Passes on what a client and a database say to each other, but no more than so many bytes of the
/// client's: then both are cut off.
struct Cutter {
    port: u16,
    left: Arc<AtomicUsize>,
}

impl Cutter {
    fn before(database: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, database) = (listener.local_addr().unwrap().port(), database.to_owned());
        let left = Arc::new(AtomicUsize::new(usize::MAX));
        let shared = Arc::clone(&left);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(&database).unwrap();
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let left = Arc::clone(&shared);
                thread::spawn(move || cut_after(from, to, &left));
                thread::spawn(move || cut_after(server, client, &AtomicUsize::new(usize::MAX)));
            }
        });
        Self { port, left }
    }
}

fn cut_after(mut from: TcpStream, mut to: TcpStream, left: &AtomicUsize) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let may = left.load(Ordering::SeqCst);
        if to.write_all(&bytes[..count.min(may)]).is_err() || count >= may {
            break;
        }
        if may != usize::MAX {
            left.fetch_sub(count, Ordering::SeqCst);
        }
    }
    // Whichever is gone already need not be told.
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// What a node says to the database as it appends, cut at every byte: the database has all of the
/// append or nothing, and everything before it.
#[test]
#[ignore = "needs PostgreSQL: RULEMATE_TEST_POSTGRES"]
fn an_append_to_postgres_cut_at_every_byte_is_there_whole_or_not_at_all() {
    let url = test_database("cut");
    let (before, after) = url.split_once('@').unwrap();
    let (database, rest) = after.split_once('/').unwrap();
    let cutter = Cutter::before(database);
    let mut cut = open(&format!("{before}@127.0.0.1:{}/{rest}", cutter.port)).unwrap();
    let mut whole = open(&url).unwrap();
    let (mut lost, mut done) = (0, 0);
    for bytes in 1.. {
        let game = format!("g{bytes}");
        cutter.left.store(usize::MAX, Ordering::SeqCst);
        let first = append(&game, 0, &["an acknowledged move"]);
        assert_eq!(cut.append(&[first]).unwrap(), [Ok(())]);
        cutter.left.store(bytes, Ordering::SeqCst);
        let last = append(&game, 1, &["the last move", "and the end"]);
        let answer = cut.append(&[last]);
        // A statement under way ends before the connection is given up by the database.
        let found = payloads(whole.as_mut(), &game, 0);
        assert_eq!(found[0], "an acknowledged move", "cut at byte {bytes}");
        assert!(matches!(found.len(), 1 | 3), "a torn append after a cut at byte {bytes}");
        match answer {
            Ok(done) => {
                assert_eq!((done.len(), found.len()), (1, 3), "acknowledged is there");
                break;
            }
            Err(_) => lost += 1,
        }
        done += usize::from(found.len() == 3);
    }
    assert!(lost > 500, "the append was cut at {lost} places");
    // Only the commit's last byte makes a difference, and then it is made, heard or not.
    assert!(done <= 1, "stored {done} times though it was cut");
    assert_eq!(whole.check().unwrap().faults, Vec::<String>::new());
}

#[test]
fn a_changed_event_is_found() {
    let folder = Folder::new("changed");
    let file = folder.0.join("games.db");
    let mut store = Sqlite::open(&file).unwrap();
    store.append(&[append("a", 0, &["one", "two", "three"])]).unwrap().remove(0).unwrap();
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute("UPDATE events SET payload = 'TWO' WHERE seq = 2", []).unwrap();
    let damaged = store.read("a", 0).unwrap_err();
    assert!(matches!(damaged, StoreError::Damaged { seq: 2, .. }), "{damaged}");
    assert_eq!(store.check().unwrap().faults.len(), 1);
    other.execute("UPDATE events SET payload = 'two' WHERE seq = 2", []).unwrap();
    other.execute("DELETE FROM events WHERE seq = 3", []).unwrap();
    let lost_tail = store.read("a", 0).unwrap_err().to_string();
    assert!(
        lost_tail.ends_with("event 3: the log has 2 events, but 3 were written"),
        "{lost_tail}"
    );
    // The end that is stored beside the log is another's: also a page that just reaches it is refused.
    other.execute("UPDATE games SET seq = 2", []).unwrap();
    for read in [store.read("a", 0), store.page("a", 0, 2), store.page("a", 1, 1)] {
        let damaged = read.unwrap_err().to_string();
        assert!(
            damaged.ends_with("event 2: it is not the last event that was written"),
            "{damaged}"
        );
    }
    assert_eq!(store.page("a", 0, 1).unwrap().map(|it| it.len()), Some(1));
}

#[test]
fn a_backup_is_a_store() {
    let folder = Folder::new("backup");
    let mut store = open(&folder.url()).unwrap();
    store.append(&[append("a", 0, &["one", "two"])]).unwrap().remove(0).unwrap();
    let copy = folder.0.join("copy.db");
    store.backup(&copy).unwrap();
    assert!(store.backup(&copy).is_err(), "a backup overwrites nothing");
    let mut copy = Sqlite::open(&copy).unwrap();
    assert_eq!(payloads(&mut copy, "a", 0), ["one", "two"]);
}

#[test]
fn addresses_of_stores_are_read() {
    let wrong = |url: &str| open(url).err().map(|it| it.to_string()).unwrap_or_default();
    let told = wrong("oracle://scott:tiger@host/db");
    assert!(told.contains("sqlite://PATH") && !told.contains("tiger"), "{told}");
    assert!(!wrong("sqlite:///nowhere/at/all/games.db").is_empty());
}

#[test]
fn appends_are_grouped_and_none_is_lost() {
    let folder = Folder::new("journal");
    let journal = Journal::start(open(&folder.url()).unwrap()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let games = (0..40).map(|game| {
            let writer = journal.writer();
            tokio::spawn(async move {
                for at in 0..25 {
                    let one = append(&format!("g{game}"), at, &[&format!("{game}:{at}")]);
                    writer.append(one).await.unwrap().unwrap();
                }
            })
        });
        for game in games.collect::<Vec<_>>() {
            game.await.unwrap();
        }
    });
    journal.finish();
    let health = open(&folder.url()).unwrap().check().unwrap();
    assert_eq!((health.games, health.events, health.faults.len()), (40, 1000, 0));
}

/// A crash in the middle of a write leaves the write-ahead log cut anywhere. Whatever is missing of
/// the last commit, everything before it is there, and the last is there whole or not at all.
#[test]
fn a_log_cut_at_every_byte_of_the_last_record_loses_nothing_that_was_acknowledged() {
    let folder = Folder::new("cut");
    let file = folder.0.join("games.db");
    let wal = folder.0.join("games.db-wal");
    let mut store = Sqlite::open(&file).unwrap();
    for at in 0..5 {
        store.append(&[append("a", at, &["an acknowledged move"])]).unwrap().remove(0).unwrap();
    }
    let before = fs::metadata(&wal).unwrap().len() as usize;
    store.append(&[append("a", 5, &["the last move", "and the end"])]).unwrap().remove(0).unwrap();
    let (main, log) = (fs::read(&file).unwrap(), fs::read(&wal).unwrap());
    drop(store);
    assert!(log.len() > before);
    let cut = folder.0.join("cut.db");
    let mut whole = 0;
    for end in before..=log.len() {
        for extra in ["cut.db-wal", "cut.db-shm"] {
            let _ = fs::remove_file(folder.0.join(extra));
        }
        fs::write(&cut, &main).unwrap();
        fs::write(folder.0.join("cut.db-wal"), &log[..end]).unwrap();
        // Opening a store syncs to disk, which is too slow for every byte.
        let found = match end % 509 {
            0 => payloads(&mut Sqlite::open(&cut).unwrap(), "a", 0),
            _ => unsynced(&cut),
        };
        assert!(found[..5].iter().all(|it| it == "an acknowledged move"), "cut at byte {end}");
        assert!(matches!(found.len(), 5 | 7), "a torn commit after a cut at byte {end}");
        whole += usize::from(found.len() == 7);
    }
    assert!(whole >= 1, "the whole log has the whole commit");
}

/// The events of game `a` in a file, whose chain holds.
fn unsynced(file: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.pragma_update(None, "synchronous", "OFF").unwrap();
    let sql = "SELECT payload, hash FROM events WHERE game = 'a' ORDER BY seq";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let rows: Vec<(String, String)> = rows.map(Result::unwrap).collect();
    let mut chain = Chain::new("a");
    assert!(rows.iter().all(|(payload, hash)| chain.next(payload).hash == *hash));
    let sql = "SELECT hash FROM games WHERE id = 'a'";
    let head: String = connection.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(chain.hash(), head);
    rows.into_iter().map(|it| it.0).collect()
}

#[test]
fn a_file_that_is_no_store_is_refused() {
    let folder = Folder::new("nostore");
    let file = folder.0.join("games.db");
    fs::write(&file, "this is no database, but long enough to be taken for one".repeat(40))
        .unwrap();
    assert!(Sqlite::open(Path::new(&file)).is_err());
    let foreign = folder.0.join("foreign.db");
    let tables = |connection: &rusqlite::Connection| -> i64 {
        let sql = "SELECT count(*) FROM sqlite_master";
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let connection = rusqlite::Connection::open(&foreign).unwrap();
    connection.execute_batch("CREATE TABLE songs (title TEXT)").unwrap();
    let refused = Sqlite::open(&foreign).expect_err("another program's").to_string();
    assert!(refused.ends_with(" is no store: it is a database of another program"), "{refused}");
    assert_eq!(tables(&connection), 1, "nothing is written to it");
}
