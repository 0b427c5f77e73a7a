//! Removes old games with all of their rows and records, within a transaction of the caller, and returns how the
//! tallies change. The texts of their rules stay: other games may be played by them.

use super::tables::Tables;
use super::tables::Value::{Int, Text};
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

impl Pruned {
    pub(super) fn prune(
        &mut self,
        tables: &mut dyn Tables,
        games: &[String],
        before: i64,
    ) -> Result<(), StoreError> {
        // In the order in which appends lock games, or they could deadlock.
        let mut games: Vec<&String> = games.iter().collect();
        games.sort();
        let lock = tables.for_update();
        let sql =
            format!("SELECT summary FROM games WHERE id = ?1 AND updated < ?2 AND {SETTLED}{lock}");
        for game in games {
            let found = tables.first(&sql, &[Text(game), Int(before)], |row| row.text(0))?;
            let Some(summary) = found else { continue };
            for prefix in about(game, &summary) {
                let end = after_all(&prefix);
                let sql = "SELECT key, value FROM records WHERE key >= ?1 AND key < ?2";
                for (key, value) in tables.pairs(sql, &[Text(&prefix), Text(&end)])? {
                    let sql = "DELETE FROM records WHERE key = ?1 AND value = ?2";
                    if is_about(&key, game, &prefix)
                        && tables.run(sql, &[Text(&key), Text(&value)])? > 0
                    {
                        self.of_records.drop_record(&key, &value);
                    }
                }
            }
            for table in ["events", "snapshots"] {
                tables.run(&format!("DELETE FROM {table} WHERE game = ?1"), &[Text(game)])?;
            }
            tables.run("DELETE FROM games WHERE id = ?1", &[Text(game)])?;
            self.of_games.drop_game(game);
            self.games += 1;
        }
        Ok(())
    }
}
