//! `rulemate serve`, `rulemate backup` and `rulemate doctor`: a server, and care for its store.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::watch;

use super::args::RulesArgs;
use super::output::{Ink, OrFix, Out, trouble};
use super::server_args::{BackupArgs, DoctorArgs, ServeArgs};
use super::watch::Watched;
use super::{Verdict, check, setup};
use crate::presets::{at_its_place, load_with_included};
use crate::rules::{Source, plural};
use crate::server::store::{self, Append, GameState, Health, Store, StoreError, Summary};
use crate::server::{
    Addresses, Config, Hooks, Library, Limits, Names, Rate, ServeError, Settings, Verified, serve,
    snapshots, summaries,
};

pub(super) const STORE_HELP: &str = "name a file that can be made, as in --store sqlite://games.db";

pub(crate) fn run(args: &ServeArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    log(args);
    let store = store_url(args.store.as_deref())?;
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

/// Webhooks that are notified of games. The secret is not an argument, which other users of the machine could
/// read.
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

/// Rule files, with the paths that the server knows them by.
fn without_mistakes(paths: &[PathBuf]) -> anyhow::Result<Vec<Source>> {
    let catalogue = setup::catalogue(&RulesArgs { rules: paths.to_vec() })?;
    let mut files = Vec::new();
    for path in paths {
        let fix = "name a rule file (.dl), or a folder of them";
        let (named, included) = load_with_included(path).or_fix(fix)?;
        files.extend(included.into_iter().chain(named).map(at_its_place));
    }
    for file in &files {
        check::check(&catalogue, file).map_err(|found| {
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
    let folder = data_folder();
    std::fs::create_dir_all(&folder).or_fix(STORE_HELP)?;
    Ok(format!("sqlite://{}", folder.join("games.db").display()))
}

/// Opens an existing store; none is created. One of an earlier format is brought to the current one only if it is to be
/// written to.
pub(super) fn existing_store(url: &str, to_write: bool) -> anyhow::Result<Box<dyn Store>> {
    if store_file(url).is_some_and(|it| !it.exists()) {
        return Err(trouble(format!("there is no store {url}"), "name one with --store"));
    }
    let open = if to_write { store::open } else { store::open_to_read };
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

/// The file of a store; `None` if it is on a server, or no store.
fn store_file(url: &str) -> Option<&Path> {
    match url.split_once("://") {
        Some(("sqlite", path)) => Some(Path::new(path)),
        None => Some(Path::new(url)),
        Some(_) => None,
    }
}

/// The folder for this user's data (XDG base directories); without a home, the current one.
fn data_folder() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let data = set("XDG_DATA_HOME").or_else(|| Some(set("HOME")?.join(".local/share")));
    data.map(|it| it.join("rulemate")).unwrap_or_else(|| PathBuf::from("."))
}

pub(crate) fn backup(args: &BackupArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let url = store_url(args.store.as_deref())?;
    if args.to.exists() {
        return Err(trouble(format!("{} is there already", args.to.display()), "name a new file"));
    }
    let mut from = existing_store(&url, false)?;
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

/// What a store has, in words.
fn contents(health: &Health) -> String {
    let [games, events] = [health.games, health.events].map(|it| it as usize);
    format!("{}, {}", plural(games, "game"), plural(events, "event"))
}

pub(crate) fn doctor(args: &DoctorArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let url = store_url(args.store.as_deref())?;
    let mut found = Vec::new();
    let mut say = |out: &mut Out, good: bool, text: String| {
        found.push((good, text.clone()));
        if args.json {
            return Ok(());
        }
        let mark = if good { out.ink(Ink::Good, "ok  ") } else { out.ink(Ink::Bad, "BAD ") };
        out.line(format_args!("{mark}{text}"))
    };
    let library = Library::new();
    match &library {
        Ok(it) => say(out, true, format!("rules: {}", &it.own_hash()[..16]))?,
        Err(why) => say(out, false, format!("rules: {why}"))?,
    }
    let is_there = store_file(&url).is_none_or(Path::exists);
    if !is_there {
        say(out, false, format!("store: {url} is not there; `rulemate serve` makes it"))?;
    } else {
        let looked =
            store::open_to_read(&url).and_then(|mut it| Ok((it.check()?, it.earlier_format())));
        match looked {
            Ok((health, earlier)) => {
                let format = earlier.map_or_else(String::new, |it| {
                    format!(
                        ", of the earlier format {it}: `rulemate serve` brings it to the current one"
                    )
                });
                say(out, true, format!("store: {url}, {}{format}", contents(&health)))?;
                for fault in health.faults {
                    say(out, false, format!("store: {fault}"))?;
                }
            }
            Err(why) => say(out, false, format!("store: {why}"))?,
        }
    }
    if let Ok(library) = &library
        && is_there
    {
        type Look = fn(&mut dyn Store, &Library) -> Result<Verified, StoreError>;
        let looks: [(&str, Look); 2] = [("summaries", summaries), ("snapshots", snapshots)];
        for (what, look) in looks.into_iter().take(if args.quick { 1 } else { 2 }) {
            match store::open_to_read(&url).and_then(|mut it| look(it.as_mut(), library)) {
                Ok(looked) => {
                    say(out, true, format!("{what}: {} are what their logs say", looked.good))?;
                    for fault in looked.faults {
                        say(out, false, fault)?;
                    }
                }
                Err(why) => say(out, false, format!("{what}: {why}"))?,
            }
        }
    }
    match durable_appends(&folder_of(&url)) {
        Ok(rate) => say(out, rate > 20.0, format!("disk: {rate:.0} durable commits a second"))?,
        Err(why) => say(out, false, format!("disk: {why}"))?,
    }
    match open_files() {
        Some(limit) => say(out, limit >= 1024, format!("open files: {limit} at most"))?,
        None => say(out, true, "open files: unknown here".to_owned())?,
    }
    let fine = found.iter().all(|it| it.0);
    if args.json {
        let look = |(ok, text)| json!({ "ok": ok, "text": text });
        let looks: Vec<serde_json::Value> = found.into_iter().map(look).collect();
        out.json(&json!({ "ok": fine, "looks": looks }))?;
    }
    Ok(Verdict::of(!fine))
}

/// The folder of a store, or else that for temporary files.
fn folder_of(url: &str) -> PathBuf {
    match store_file(url).and_then(Path::parent) {
        Some(it) if it.as_os_str().is_empty() => PathBuf::from("."),
        Some(it) if it.is_dir() => it.to_owned(),
        _ => std::env::temp_dir(),
    }
}

/// The number of durable appends per second on the disk of a folder.
fn durable_appends(folder: &Path) -> Result<f64, StoreError> {
    let file = folder.join(format!("rulemate-doctor-{}.db", std::process::id()));
    let rate = append_rate(&file);
    for end in ["", "-wal", "-shm"] {
        // A missing file need not be removed.
        let _ = std::fs::remove_file(format!("{}{end}", file.display()));
    }
    rate
}

fn append_rate(file: &Path) -> Result<f64, StoreError> {
    let mut store = store::open(&file.display().to_string())?;
    let started = Instant::now();
    let rounds = 50;
    for at in 0..rounds {
        store.append(&[Append {
            game: "doctor".into(),
            expected: at,
            payloads: vec!["a move of some length, as moves are".repeat(5)],
            summary: Summary {
                id: "doctor".into(),
                game: String::new(),
                presets: Vec::new(),
                state: GameState::Playing,
                players: Vec::new(),
                accounts: Vec::new(),
                rated: false,
                ply: 0,
                result: None,
                updated: 0,
                listed: false,
            },
            snapshot: None,
            lease: None,
            empty_records: Vec::new(),
        }])?;
    }
    Ok(f64::from(rounds as u32) / started.elapsed().as_secs_f64())
}

/// The limit of open files of this process, from /proc.
fn open_files() -> Option<u64> {
    let text = std::fs::read_to_string(Path::new("/proc/self/limits")).ok()?;
    let line = text.lines().find(|it| it.starts_with("Max open files"))?;
    line.split_whitespace().nth(3)?.parse().ok()
}
