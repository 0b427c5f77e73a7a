//! `rulemate serve`, `rulemate backup` and `rulemate doctor`: a server, and care for its store.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;
use tokio::sync::watch;

use super::args::RulesArgs;
use super::output::{Ink, OrFix, Out, trouble};
use super::server_args::{BackupArgs, DoctorArgs, ServeArgs};
use super::watch::Watched;
use super::{Verdict, check, setup, user_folder};
use crate::presets::{at_its_place, load_with_included};
use crate::rules::{EMBEDDED, Source, plural};
use crate::server::store::{self, Append, Health, Store, StoreError, Temporary};
use crate::server::{
    Addresses, Config, Hooks, Library, Limits, Names, Rate, ServeError, Settings, Verified, serve,
    snapshots, summaries,
};

const STORE_HELP: &str = "name a file that can be made, as in --store sqlite://games.db";

pub(crate) fn run(args: &ServeArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    log(args);
    let store = store_url(args.store.as_deref())?;
    // As docs/hosting.md has it.
    let games = Rate { per_second: args.rate / 80.0, burst: args.rate.max(20.0) };
    let requests = Rate { per_second: args.rate, burst: args.rate * 5.0 };
    let idle = Duration::from_secs(args.idle);
    let settings = Settings {
        listen: args.listen,
        store: store.clone(),
        config: Config { idle, uploads: args.uploads, ..Config::default() },
        limits: Limits::new(requests, games, args.behind_proxy),
        metrics: args.metrics,
        names: Names::new(&args.hosts, &args.origins)?.framed_by(&args.embeds)?,
        files: offered(&args.rules)?,
        hooks: hooks(&args.webhooks)?,
    };
    let ready = |Addresses { games, metrics }| {
        // Scripts wait for these lines, so they are flushed at once. A failed write is no reason to stop.
        let _ = out.line(format_args!("http://{games}/"));
        if let Some(address) = metrics {
            let _ = out.line(format_args!("counters: http://{address}/metrics"));
        }
        let _ = out.line(format_args!("games are kept in {store}; stop with Ctrl-C"));
        let _ = out.flush();
    };
    match serve(settings, ready) {
        Ok(()) => Ok(Verdict::Fine),
        Err(ServeError::Listen { address, error }) => {
            let option = if address == args.listen { "--listen" } else { "--metrics" };
            let fix = match error.kind() {
                std::io::ErrorKind::AddrInUse => "another program has the address: try",
                _ => "name an address of this machine that you may use, as in",
            };
            let error = ServeError::Listen { address, error };
            Err(trouble(error, format!("{fix} {option} 127.0.0.1:0")))
        }
        Err(ServeError::Store(error)) => Err(no_store(error)),
        Err(error @ ServeError::Catalogue(_)) => Err(trouble(error, "`rulemate check` shows more")),
        Err(error @ ServeError::Io(_)) => Err(error.into()),
    }
}

/// The webhooks that are notified of games. Their secret comes from the environment, since other users of the machine
/// can read arguments.
fn hooks(addresses: &[String]) -> anyhow::Result<Option<Hooks>> {
    if addresses.is_empty() {
        return Ok(None);
    }
    let secret = std::env::var("RULEMATE_WEBHOOK_SECRET").unwrap_or_default();
    Ok(Some(Hooks::new(addresses, &secret)?))
}

/// The rule files to offer, now and after each change. Files with mistakes are not offered: the mistakes are
/// reported, and the previous files stay.
fn offered(paths: &[PathBuf]) -> anyhow::Result<watch::Receiver<Vec<Source>>> {
    // Watching begins first, so that changes while the files are read are not missed.
    let watched = (!paths.is_empty()).then(|| Watched::new(paths)).transpose()?;
    let (sender, files) = watch::channel(without_mistakes(paths)?);
    let Some(mut watched) = watched else { return Ok(files) };
    let paths = paths.to_vec();
    std::thread::Builder::new().name("rule files".into()).spawn(move || {
        loop {
            watched.wait_for_change();
            match without_mistakes(&paths) {
                Ok(files) => {
                    if sender.send(files).is_err() {
                        return;
                    }
                }
                Err(why) => tracing::error!("{why:#}: the rule files are offered as before"),
            }
        }
    })?;
    Ok(files)
}

/// Rule files, with the paths that the server knows them by. Those that this package has word for word are left out: they
/// need no check, and files for all games are checked with every one.
fn without_mistakes(paths: &[PathBuf]) -> anyhow::Result<Vec<Source>> {
    let catalogue = setup::catalogue(&RulesArgs { rules: paths.to_vec() })?;
    let mut files = Vec::new();
    for path in paths {
        let fix = "name a rule file (.dl), or a folder of them";
        let (named, included) = load_with_included(path).or_fix(fix)?;
        files.extend(included.into_iter().chain(named).map(at_its_place));
    }
    let is_known = |file: &Source| {
        EMBEDDED.iter().any(|(path, text)| *path == file.path && **text == *file.text)
    };
    files.retain(|it| !is_known(it));
    for file in &files {
        tracing::info!(file = %file.path, "checking a rule file");
        check::check(&catalogue, file, &mut || true).map_err(|found| {
            let found = match found {
                check::Fault::Rules(found) => found.to_string(),
                check::Fault::Other(why) => why,
            };
            trouble(found, "`rulemate check` shows more")
        })?;
    }
    Ok(files)
}

fn log(args: &ServeArgs) {
    let builder = tracing_subscriber::fmt().with_max_level(args.log).with_writer(std::io::stderr);
    match args.log_json {
        true => builder.json().init(),
        false => builder.with_ansi(std::io::stderr().is_terminal()).init(),
    }
}

/// The URL of the store; the folder of the default one is created.
pub(super) fn store_url(given: Option<&str>) -> anyhow::Result<String> {
    if let Some(url) = given {
        return Ok(url.to_owned());
    }
    // Without a home, the current folder.
    let folder = user_folder("XDG_DATA_HOME", ".local/share").unwrap_or_else(|| PathBuf::from("."));
    std::fs::create_dir_all(&folder).or_fix(STORE_HELP)?;
    Ok(format!("sqlite://{}", folder.join("games.db").display()))
}

/// Opens an existing store by [`store::open`] or [`store::open_to_read`]. A missing file is not created, but an empty
/// database of PostgreSQL gets its tables.
pub(super) fn existing_store(
    url: &str,
    open: fn(&str) -> Result<Box<dyn Store>, StoreError>,
) -> anyhow::Result<Box<dyn Store>> {
    if store::file_of(url).is_some_and(|it| !it.exists()) {
        return Err(trouble(format!("there is no store {url}"), "name one with --store"));
    }
    open(url).map_err(no_store)
}

/// The error for a store that cannot be opened, with its fix.
fn no_store(why: StoreError) -> anyhow::Error {
    let fix = match &why {
        StoreError::Taken { .. } => "stop the other one, or name another file with --store",
        StoreError::Newer { .. } => {
            "use the version of Rulemate that wrote it last, or a newer one, or name another file with --store"
        }
        StoreError::Broken(_) => {
            "put a copy in its place that `rulemate backup` made, or name another file with --store"
        }
        _ => STORE_HELP,
    };
    trouble(why, fix)
}

pub(crate) fn backup(args: &BackupArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let url = store_url(args.store.as_deref())?;
    if args.to.exists() {
        return Err(trouble(format!("{} is there already", args.to.display()), "name a new file"));
    }
    let mut from = existing_store(&url, store::open_to_read)?;
    from.backup(&args.to).or_fix("name a file that can be written")?;
    let health = store::open_to_read(&args.to.display().to_string())
        .and_then(|mut it| it.check())
        .or_fix("the copy cannot be read: try again")?;
    if args.json {
        let Health { games, events, faults } = &health;
        let file = args.to.display().to_string();
        out.json(&json!({ "file": file, "games": games, "events": events, "faults": faults }))?;
    } else {
        for fault in &health.faults {
            out.line(fault)?;
        }
        out.line(format_args!("{}: {}", args.to.display(), contents(&health)))?;
    }
    Ok(Verdict::of(!health.faults.is_empty()))
}

/// The numbers of games and events of a store, in words.
fn contents(health: &Health) -> String {
    let [games, events] = [health.games, health.events].map(|it| it as usize);
    format!("{}, {}", plural(games, "game"), plural(events, "event"))
}

/// Fewest durable commits a second, and fewest open files, with which a machine is fit to serve.
const FEWEST_COMMITS: f64 = 20.0;
const FEWEST_FILES: u64 = 1024;

/// The findings of the doctor, printed at once unless the output is JSON.
struct Findings<'o> {
    out: &'o mut Out,
    json: bool,
    all: Vec<Finding>,
}

#[derive(Serialize)]
struct Finding {
    ok: bool,
    text: String,
}

impl Findings<'_> {
    /// Adds a finding: `Ok` if it is fine, `Err` if not.
    fn add(&mut self, found: Result<String, String>) -> anyhow::Result<()> {
        let finding = Finding { ok: found.is_ok(), text: found.unwrap_or_else(|it| it) };
        if !self.json {
            let (ink, mark) = if finding.ok { (Ink::Good, "ok  ") } else { (Ink::Bad, "BAD ") };
            let mark = self.out.ink(ink, mark);
            self.out.line(format_args!("{mark}{}", finding.text))?;
        }
        self.all.push(finding);
        Ok(())
    }
}

pub(crate) fn doctor(args: &DoctorArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let url = store_url(args.store.as_deref())?;
    let mut findings = Findings { out, json: args.json, all: Vec::new() };
    let library = Library::new();
    let rules = library.as_ref().map(|it| format!("rules: {}", &it.own_hash()[..16]));
    findings.add(rules.map_err(|why| format!("rules: {why}")))?;
    if store::file_of(&url).is_none_or(Path::exists) {
        check_store(&url, &mut findings)?;
        if let Ok(library) = &library {
            compare_with_logs(&url, library, args.quick, &mut findings)?;
        }
    } else {
        findings.add(Err(format!("store: {url} is not there; `rulemate serve` makes it")))?;
    }
    let judged = |is_enough: bool, text: String| if is_enough { Ok(text) } else { Err(text) };
    findings.add(match durable_appends(&folder_of(&url)) {
        Ok(rate) => {
            judged(rate > FEWEST_COMMITS, format!("disk: {rate:.0} durable commits a second"))
        }
        Err(why) => Err(format!("disk: {why}")),
    })?;
    findings.add(match open_files() {
        Some(limit) => judged(limit >= FEWEST_FILES, format!("open files: {limit} at most")),
        None => Ok("open files: unknown here".to_owned()),
    })?;
    let Findings { out, json, all } = findings;
    let fine = all.iter().all(|it| it.ok);
    if json {
        out.json(&json!({ "ok": fine, "looks": all }))?;
    }
    Ok(Verdict::of(!fine))
}

fn check_store(url: &str, findings: &mut Findings<'_>) -> anyhow::Result<()> {
    let looked = store::open_to_read(url).and_then(|mut it| Ok((it.check()?, it.earlier_format())));
    let (health, earlier) = match looked {
        Ok(looked) => looked,
        Err(why) => return findings.add(Err(format!("store: {why}"))),
    };
    let format = earlier.map_or_else(String::new, |it| {
        format!(", of the earlier format {it}: `rulemate serve` brings it to the current one")
    });
    findings.add(Ok(format!("store: {url}, {}{format}", contents(&health))))?;
    health.faults.into_iter().try_for_each(|it| findings.add(Err(format!("store: {it}"))))
}

/// Compares the summaries of games with their logs, and unless `is_quick` their snapshots.
fn compare_with_logs(
    url: &str,
    library: &Library,
    is_quick: bool,
    findings: &mut Findings<'_>,
) -> anyhow::Result<()> {
    type Compare = fn(&mut dyn Store, &Library) -> Result<Verified, StoreError>;
    let all: [(&str, Compare); 2] = [("summaries", summaries), ("snapshots", snapshots)];
    for (what, compare) in all.into_iter().take(if is_quick { 1 } else { 2 }) {
        match store::open_to_read(url).and_then(|mut it| compare(it.as_mut(), library)) {
            Ok(Verified { good, faults }) => {
                findings.add(Ok(format!("{what}: {good} are what their logs say")))?;
                faults.into_iter().try_for_each(|it| findings.add(Err(it)))?;
            }
            Err(why) => findings.add(Err(format!("{what}: {why}")))?,
        }
    }
    Ok(())
}

/// The folder of a store's file, or else that for temporary files.
fn folder_of(url: &str) -> PathBuf {
    match store::file_of(url).and_then(Path::parent) {
        Some(it) if it.as_os_str().is_empty() => PathBuf::from("."),
        Some(it) if it.is_dir() => it.to_owned(),
        _ => std::env::temp_dir(),
    }
}

/// The number of durable appends per second on the disk of a folder.
fn durable_appends(folder: &Path) -> Result<f64, StoreError> {
    let file = folder.join(format!("rulemate-doctor-{}.db", std::process::id()));
    append_rate(&Temporary(file).0)
}

fn append_rate(file: &Path) -> Result<f64, StoreError> {
    const ROUNDS: u32 = 50;
    let mut store = store::open(&file.display().to_string())?;
    let started = Instant::now();
    for at in 0..ROUNDS {
        store.append(&[Append {
            game: "doctor".into(),
            expected: at.into(),
            payloads: vec!["a move of some length, as moves are".repeat(5)],
            ..Append::default()
        }])?;
    }
    Ok(f64::from(ROUNDS) / started.elapsed().as_secs_f64())
}

/// The limit of open files of this process, from /proc.
fn open_files() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = text.lines().find(|it| it.starts_with("Max open files"))?;
    line.split_whitespace().nth(3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server of this package's own tree starts at once.
    #[test]
    fn files_of_this_package_are_not_checked_again() {
        let all = without_mistakes(&[PathBuf::from("rules")]).unwrap();
        assert!(all.is_empty(), "{} files", all.len());
    }
}
