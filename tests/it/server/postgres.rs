//! PostgreSQL as it is when its machine loses power: its own log cut, its processes gone in the
//! middle of commits. On a database of the test's own. Tests that need PostgreSQL are ignored unless
//! they are asked for.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use postgres::{Client, NoTls};
use rulemate::internals::server::store::open;

use super::store::{Folder, append, payloads};

/// A segment of PostgreSQL's log.
const SEGMENT: u64 = 16 << 20;
/// In how many places the log is cut, the record's two ends included; `RULEMATE_FULL=1` cuts it at every
/// byte, which takes an hour.
const CUTS: u64 = 12;

/// A database that may be broken.
struct Cluster {
    folder: Folder,
    url: String,
}

impl Cluster {
    fn start(name: &str) -> Self {
        let folder = Folder::new(name);
        let url = control("start", &folder);
        Self { folder, url }
    }

    fn data(&self) -> PathBuf {
        self.folder.0.join("own/data")
    }

    fn crash(&self) {
        control("crash", &self.folder);
    }

    fn again(&mut self) {
        self.url = control("again", &self.folder);
    }

    /// Makes the data those of another folder.
    fn restore(&self, from: &str) {
        fs::remove_dir_all(self.data()).unwrap();
        copy(&self.folder.0.join(from), &self.data());
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // It may have crashed already.
        let _ = script("crash", &self.folder).output();
    }
}

fn script(verb: &str, folder: &Folder) -> Command {
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.ci/postgres"));
    command.arg(verb).arg(&folder.0);
    command
}

fn control(verb: &str, folder: &Folder) -> String {
    let output = script(verb, folder).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "postgres {verb}: {told}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// With owners and rights, which PostgreSQL looks at.
fn copy(from: &std::path::Path, to: &std::path::Path) {
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}

/// Where the log ends that is on disk: a number of bytes, and the name of the file.
fn end_of_log(url: &str) -> (u64, String) {
    let mut client = Client::connect(url, NoTls).unwrap();
    let sql = "SELECT (pg_current_wal_flush_lsn() - '0/0')::BIGINT,
               pg_walfile_name(pg_current_wal_flush_lsn())";
    let row = client.query_one(sql, &[]).unwrap();
    (u64::try_from(row.get::<_, i64>(0)).unwrap(), row.get(1))
}

/// Whatever is missing of the last append in the database's log: everything before it is there, and
/// it is there whole or not at all.
#[test]
#[ignore = "needs PostgreSQL: RULEMATE_TEST_POSTGRES"]
fn its_log_cut_within_the_last_append_loses_nothing_that_was_acknowledged() {
    let mut cluster = Cluster::start("walcut");
    let mut store = open(&cluster.url).unwrap();
    for at in 0..5 {
        assert_eq!(store.append(&[append("a", at, &["acknowledged"])]).unwrap(), [Ok(())]);
    }
    let mut client = Client::connect(&cluster.url, NoTls).unwrap();
    // What is cut is the append alone: nothing else writes, and pages were copied before.
    client.batch_execute("CHECKPOINT").unwrap();
    assert_eq!(store.append(&[append("a", 5, &["acknowledged"])]).unwrap(), [Ok(())]);
    let (from, file) = end_of_log(&cluster.url);
    assert_eq!(store.append(&[append("a", 6, &["the last", "and the end"])]).unwrap(), [Ok(())]);
    let (to, same) = end_of_log(&cluster.url);
    assert_eq!(file, same, "one segment has both ends");
    assert!(to > from + 200, "the append takes {} bytes", to - from);
    drop((store, client));
    cluster.crash();
    copy(&cluster.data(), &cluster.folder.0.join("whole"));
    let full = crate::fixture::is_full();
    let cuts = if full { to - from + 1 } else { CUTS };
    let mut whole = 0;
    for cut in 0..cuts {
        let end = from + (to - from) * cut / (cuts - 1);
        cluster.restore("whole");
        let path = cluster.data().join("pg_wal").join(&file);
        let mut log = fs::read(&path).unwrap();
        log[(end % SEGMENT) as usize..].fill(0);
        fs::write(&path, &log).unwrap();
        cluster.again();
        let found = payloads(open(&cluster.url).unwrap().as_mut(), "a", 0);
        let (before, last) = found.split_at(6);
        assert!(before.iter().all(|it| it == "acknowledged"), "cut at byte {end}");
        assert!(matches!(last.len(), 0 | 2), "a torn append after a cut at byte {end}");
        assert!(cut > 0 || last.is_empty(), "nothing of it was there");
        whole += u64::from(last.len() == 2);
        cluster.crash();
    }
    // The end of a commit is the end of an append; what the database notes after it is not needed.
    assert!((1..cuts / 2).contains(&whole), "{whole} of {cuts} had the append");
}

/// The database goes away under load, again and again: what was acknowledged is there when it comes
/// back, and nothing is there in part.
#[test]
#[ignore = "needs PostgreSQL: RULEMATE_TEST_POSTGRES"]
fn its_crashes_under_load_lose_nothing_that_was_acknowledged() {
    let mut cluster = Cluster::start("pgcrash");
    let mut done = 0;
    for cycle in 0..5 {
        let players: Vec<_> = (0..4)
            .map(|player| {
                let (url, game) = (cluster.url.clone(), format!("{cycle} {player}"));
                let acknowledged = Arc::new(AtomicUsize::new(0));
                let (own, count) = (game.clone(), Arc::clone(&acknowledged));
                let thread = thread::spawn(move || play(&url, &own, &count));
                (game, acknowledged, thread)
            })
            .collect();
        let busy = || players.iter().all(|it| it.1.load(Ordering::SeqCst) >= 10);
        for _ in 0..12_000 {
            if busy() {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        cluster.crash();
        cluster.again();
        let mut store = open(&cluster.url).unwrap();
        for (game, acknowledged, thread) in players {
            thread.join().unwrap();
            let (told, found) =
                (acknowledged.load(Ordering::SeqCst), store.read(&game, 0).unwrap());
            let found = found.map_or(0, |it| it.len());
            // Two events an append; the last one may have been stored without having been answered.
            assert!(found == 2 * told || found == 2 * told + 2, "{told} appends, {found} events");
            done += told;
        }
    }
    assert!(done >= 5 * 4 * 10, "{done} appends");
    assert_eq!(open(&cluster.url).unwrap().check().unwrap().faults, Vec::<String>::new());
}

/// Appends until the database is gone.
fn play(url: &str, game: &str, acknowledged: &AtomicUsize) {
    let mut store = open(url).unwrap();
    for at in 0.. {
        match store.append(&[append(game, 2 * at, &["one", "two"])]) {
            Ok(done) => assert_eq!(done, [Ok(())]),
            Err(_) => return,
        }
        acknowledged.fetch_add(1, Ordering::SeqCst);
    }
}
