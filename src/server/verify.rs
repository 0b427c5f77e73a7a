//! Verifies what is derived from the logs of a store: every game's summary is compared with its log, its rules are
//! looked up, and every snapshot is compared with a new one, made by playing the game again up to there. Deliberately
//! absent: whether the rows are as they were written, which the store checks (`Store::check`).

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::begin::start;
use super::core::{LogEntry, Outcome, Played, Refused, Room, Rules, Setup, setup_of};
use super::library::{Library, Texts};
use super::loader::entries;
use super::state::summary;
use super::store::{Store, StoreError, StoredEvent, Whole};

/// The result of verifying summaries or snapshots.
#[derive(Debug, Default)]
pub struct Verified {
    /// How many of them agree with their logs.
    pub good: usize,
    /// What is wrong, a line each.
    pub faults: Vec<String>,
}

impl Verified {
    fn add(&mut self, what: &str, game: &str, found: Result<(), String>) {
        match found {
            Ok(()) => self.good += 1,
            Err(fault) => self.faults.push(format!("the {what} of game {game}: {fault}")),
        }
    }
}

/// Verifies the summary of every game, and that its rules exist.
///
/// # Errors
/// The store cannot be reached.
pub fn summaries(store: &mut dyn Store, library: &Library) -> Result<Verified, StoreError> {
    let mut verified = Verified::default();
    // Whether the rules of a hash exist. They are not needed to verify a summary, so the library may forget them.
    let mut exist: HashMap<String, bool> = HashMap::new();
    for game in store.games()? {
        let Some(whole) = store.whole(&game)? else { continue };
        let found = match log(&game, &whole.rows) {
            Err(fault) => Err(fault),
            Ok((log, setup)) => {
                if let Entry::Vacant(entry) = exist.entry(setup.rules.clone()) {
                    entry.insert(learn(store, library, &setup.rules)?);
                }
                match exist[&setup.rules] {
                    true => check_summary(&game, &whole, &log, setup),
                    false => Err(no_rules(&setup.rules)),
                }
            }
        };
        verified.add("summary", &game, found);
    }
    Ok(verified)
}

/// The log of a game, and how the game began.
fn log(game: &str, rows: &[StoredEvent]) -> Result<(Vec<LogEntry>, Setup), String> {
    let log = entries(game, rows).map_err(|it| it.message)?;
    let setup = setup_of(&log).cloned().ok_or("its log has no beginning")?;
    Ok((log, setup))
}

fn check_summary(game: &str, whole: &Whole, log: &[LogEntry], setup: Setup) -> Result<(), String> {
    let sides = Unplayed(setup.sides.len());
    // All events are recorded, as if the rules had seen them, and none is played.
    let room = Room::as_seen(u64::MAX, sides, setup, log);
    let expected = summary(game, &room);
    let text = serde_json::to_string(&expected).unwrap_or_default();
    let is_so = whole.summary == text
        && whole.state == expected.state.word()
        && whole.listed == i64::from(expected.listed)
        && u64::try_from(whole.updated) == Ok(expected.updated);
    if is_so { Ok(()) } else { Err("it is not what the log comes to".to_owned()) }
}

/// Rules that only know their number of sides.
struct Unplayed(usize);

impl Rules for Unplayed {
    fn sides(&self) -> usize {
        self.0
    }

    fn side(&self) -> usize {
        0
    }

    fn play(&mut self, _: &str) -> Result<Played, Refused> {
        Err(unplayed())
    }

    fn take_back(&mut self, _: usize) {}

    fn outcome(&self) -> Option<Outcome> {
        None
    }

    fn resign(&mut self, _: usize) -> Result<Outcome, Refused> {
        Err(unplayed())
    }

    fn claim(&mut self) -> Result<Outcome, Refused> {
        Err(unplayed())
    }

    fn activate(&mut self, _: &[String]) -> Result<(), Refused> {
        Err(unplayed())
    }
}

fn unplayed() -> Refused {
    Refused::plain("it is not played here")
}

/// Verifies every snapshot of a store.
///
/// # Errors
/// The store cannot be reached.
pub fn snapshots(store: &mut dyn Store, library: &Library) -> Result<Verified, StoreError> {
    let mut verified = Verified::default();
    for game in store.games_with_snapshot()? {
        let found = check_snapshot(store, library, &game)?;
        verified.add("snapshot", &game, found);
    }
    Ok(verified)
}

/// Compares a snapshot with a new one. The inner result says what is wrong with it.
fn check_snapshot(
    store: &mut dyn Store,
    library: &Library,
    game: &str,
) -> Result<Result<(), String>, StoreError> {
    let Some((seen, kept)) = store.snapshot(game)? else {
        return Ok(Err("it is not what was written; the game is loaded from its log".to_owned()));
    };
    let rows = match store.read(game, 0) {
        Ok(rows) => rows.unwrap_or_default(),
        Err(StoreError::Damaged { .. }) => return Ok(Err("its log is damaged".to_owned())),
        Err(other) => return Err(other),
    };
    let (log, setup) = match log(game, &rows) {
        Ok(found) => found,
        Err(fault) => return Ok(Err(fault)),
    };
    if !learn(store, library, &setup.rules)? {
        return Ok(Err(no_rules(&setup.rules)));
    }
    let until = log.iter().take_while(|it| it.v <= seen).count();
    let again = || -> Result<String, String> {
        let ruleset = library.load(&setup.rules, &setup.game, &setup.presets);
        let ruleset = ruleset.map_err(|it| it.to_string())?;
        let catalogue = library.catalogue(&setup.rules).ok_or_else(|| no_rules(&setup.rules))?;
        let board = start(&ruleset, catalogue, setup.fen.as_deref(), setup.facts.as_deref());
        let board = board.map_err(|it| it.message)?;
        let room = Room::replay(board, setup.clone(), &log[..until]);
        let room = room.map_err(|(v, why)| format!("event {v}: {}", why.sentence))?;
        room.rules().snapshot().ok_or_else(|| "no snapshot can be taken of this game".to_owned())
    };
    Ok(match again() {
        Ok(text) if text == kept => Ok(()),
        Ok(_) => Err(format!("it is not what the log comes to at event {seen}")),
        Err(fault) => Err(fault),
    })
}

fn no_rules(hash: &str) -> String {
    format!("its rules {hash} are not in the store, or are damaged")
}

/// Makes the rules of a hash known to the library, and the rules that they build on. Returns false if the store lacks
/// some of them, or if they are damaged.
fn learn(store: &mut dyn Store, library: &Library, hash: &str) -> Result<bool, StoreError> {
    // Asked each time: the library forgets rules when it has too many.
    if library.catalogue(hash).is_some() {
        return Ok(true);
    }
    let texts = store.text(hash)?.and_then(|it| Texts::from_stored(hash, &it));
    let Some(texts) = texts else { return Ok(false) };
    let has_base = match texts.base.as_deref() {
        Some(base) => learn(store, library, base)?,
        None => true,
    };
    Ok(has_base && library.add(&texts).is_ok())
}
