//! Whether the snapshots of a store are what its logs come to: every game that has one is played
//! again up to there, and kept again.
//!
//! Deliberately absent: whether the logs themselves are whole, which the store's own check tells.

use std::collections::HashMap;

use super::core::{Event, Rules, Table};
use super::host::{entries, start};
use super::library::{Library, Texts};
use super::store::{Store, StoreError};

/// What came of looking at snapshots.
#[derive(Debug, Default)]
pub struct Snapshots {
    /// As many are what their logs come to.
    pub good: usize,
    /// What is wrong, a line each.
    pub faults: Vec<String>,
}

/// Looks at every snapshot of a store.
///
/// # Errors
/// The store is away.
pub fn snapshots(store: &mut dyn Store, library: &Library) -> Result<Snapshots, StoreError> {
    let mut found = Snapshots::default();
    let mut known = HashMap::new();
    for game in store.kept_games()? {
        match one(store, library, &mut known, &game)? {
            Ok(()) => found.good += 1,
            Err(fault) => found.faults.push(format!("the snapshot of game {game}: {fault}")),
        }
    }
    Ok(found)
}

/// Whether the texts of a hash are known by now.
type Known = HashMap<String, bool>;

fn one(
    store: &mut dyn Store,
    library: &Library,
    known: &mut Known,
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
    let log = match entries(game, &rows) {
        Ok(log) => log,
        Err(problem) => return Ok(Err(problem.message)),
    };
    let Some(Event::Created(setup)) = log.first().map(|it| &it.event) else {
        return Ok(Err("its log has no beginning".to_owned()));
    };
    if !learn(store, library, known, &setup.rules)? {
        return Ok(Err(format!("there are no rules {}", setup.rules)));
    }
    let until = log.iter().take_while(|it| it.v <= seen).count();
    let again = || -> Result<String, String> {
        let ruleset = library.load(&setup.rules, &setup.game, &setup.presets);
        let ruleset = ruleset.map_err(|it| it.to_string())?;
        let catalogue = library.catalogue(&setup.rules).ok_or("there are no such rules")?;
        let board = start(&ruleset, catalogue, setup.fen.as_deref(), setup.facts.as_deref());
        let board = board.map_err(|it| it.message)?;
        let table = Table::replay(board, setup.clone(), &log[..until]);
        let table = table.map_err(|(v, why)| format!("event {v}: {}", why.sentence))?;
        table.rules().keep().ok_or_else(|| "the game cannot be kept".to_owned())
    };
    Ok(match again() {
        Ok(text) if text == kept => Ok(()),
        Ok(_) => Err(format!("it is not what the log comes to at event {seen}")),
        Err(fault) => Err(fault),
    })
}

/// Makes the rules of a hash known, and those that they build on. False if the store lacks some.
fn learn(
    store: &mut dyn Store,
    library: &Library,
    known: &mut Known,
    hash: &str,
) -> Result<bool, StoreError> {
    if let Some(&it) = known.get(hash) {
        return Ok(it);
    }
    let is_known = library.catalogue(hash).is_some() || {
        let text = store.text(hash)?;
        match text.and_then(|it| serde_json::from_str::<Texts>(&it).ok()) {
            None => false,
            Some(texts) => {
                let has_base = match texts.base.as_deref() {
                    Some(base) => learn(store, library, known, base)?,
                    None => true,
                };
                has_base && library.add(&texts).is_ok()
            }
        }
    };
    known.insert(hash.to_owned(), is_known);
    Ok(is_known)
}
