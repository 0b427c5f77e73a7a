//! Removes old games with all of their rows and records, within a transaction of the caller, and returns how the
//! tallies change. The texts of their rules stay: other games may be played by them.

use rusqlite::{OptionalExtension, params};

use super::tally::Tally;
use super::{StoreError, Summary, after_all};

/// The number of games that were removed, and what the tallies of games and of records change by.
#[derive(Debug, Default)]
pub(super) struct Pruned {
    pub(super) games: usize,
    pub(super) of_games: Tally,
    pub(super) of_records: Tally,
}

/// The prefixes of the keys of a game's records: the seats of its accounts (`seat ACCOUNT TIME GAME`), its rating
/// (`rated GAME`) and reports (`report GAME ...`). Keys of other games may begin with them, too: see [`is_about`].
fn about(game: &str, summary: &str) -> Vec<String> {
    let accounts = serde_json::from_str::<Summary>(summary).map(|it| it.accounts);
    let seats = accounts.unwrap_or_default().into_iter().flatten();
    let seats = seats.map(|it| format!("seat {it} "));
    seats.chain([format!("rated {game}"), format!("report {game} ")]).collect()
}

/// Whether a key that begins with one of these prefixes belongs to a record of the game.
fn is_about(key: &str, game: &str, prefix: &str) -> bool {
    match prefix.starts_with("seat ") {
        true => key.rsplit(' ').next() == Some(game),
        false => key == prefix || prefix.ends_with(' '),
    }
}

/// The condition that no ratings have yet to be settled for a game.
pub(super) const SETTLED: &str = "NOT EXISTS (SELECT 1 FROM records WHERE key = 'unrated ' || id)";

pub(super) fn sqlite(
    transaction: &rusqlite::Transaction<'_>,
    games: &[String],
    before: i64,
) -> Result<Pruned, StoreError> {
    let mut pruned = Pruned::default();
    let sql = format!("SELECT summary FROM games WHERE id = ?1 AND updated < ?2 AND {SETTLED}");
    for game in games {
        let found: Option<String> = transaction
            .prepare_cached(&sql)?
            .query_row(params![game, before], |row| row.get(0))
            .optional()?;
        let Some(summary) = found else { continue };
        for prefix in about(game, &summary) {
            let end = after_all(&prefix);
            let sql = "SELECT key, value FROM records WHERE key >= ?1 AND key < ?2";
            let rows: Vec<(String, String)> = transaction
                .prepare_cached(sql)?
                .query_map([&prefix, &end], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<Result<_, _>>()?;
            for (key, value) in rows.iter().filter(|it| is_about(&it.0, game, &prefix)) {
                transaction.execute("DELETE FROM records WHERE key = ?1", [key])?;
                pruned.of_records.drop_record(key, value);
            }
        }
        for table in ["events", "snapshots"] {
            transaction.execute(&format!("DELETE FROM {table} WHERE game = ?1"), [game])?;
        }
        transaction.execute("DELETE FROM games WHERE id = ?1", [game])?;
        pruned.of_games.drop_game(game);
        pruned.games += 1;
    }
    Ok(pruned)
}

#[cfg(feature = "postgres")]
pub(super) fn postgres(
    transaction: &mut postgres::Transaction<'_>,
    games: &[String],
    before: i64,
) -> Result<Pruned, StoreError> {
    let mut pruned = Pruned::default();
    // In the order in which appends lock games, or they could deadlock.
    let mut games: Vec<&String> = games.iter().collect();
    games.sort();
    let sql = format!(
        "SELECT summary FROM games WHERE id = $1 AND seq > 0 AND updated < $2 AND {SETTLED} FOR UPDATE"
    );
    for game in games {
        let Some(row) = transaction.query_opt(&sql, &[game, &before])? else { continue };
        for prefix in about(game, row.get(0)) {
            let end = after_all(&prefix);
            let sql = "SELECT key, value FROM records WHERE key >= $1 AND key < $2";
            for row in transaction.query(sql, &[&prefix, &end])? {
                let (key, value): (&str, &str) = (row.get(0), row.get(1));
                if is_about(key, game, &prefix) {
                    let sql = "DELETE FROM records WHERE key = $1 AND value = $2";
                    if transaction.execute(sql, &[&key, &value])? > 0 {
                        pruned.of_records.drop_record(key, value);
                    }
                }
            }
        }
        for table in ["events", "snapshots"] {
            transaction.execute(&format!("DELETE FROM {table} WHERE game = $1"), &[game])?;
        }
        transaction.execute("DELETE FROM games WHERE id = $1", &[game])?;
        pruned.of_games.drop_game(game);
        pruned.games += 1;
    }
    Ok(pruned)
}
