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

/// The condition that no ratings have yet to be settled for a game.
pub(super) const SETTLED: &str = "NOT EXISTS (SELECT 1 FROM records WHERE key = 'unrated ' || id)";

/// The keys and values of a game's records: its rating (`rated GAME`), its reports (`report GAME ...`) and the seats of
/// its accounts (`seat ACCOUNT TIME GAME`, where the time has 16 digits).
fn records_of(
    tables: &mut dyn Tables,
    game: &str,
    summary: &str,
) -> Result<Vec<(String, String)>, StoreError> {
    let rating = format!("rated {game}");
    let mut found =
        tables.pairs("SELECT key, value FROM records WHERE key = ?1", &[Text(&rating)])?;
    let begin = "SELECT key, value FROM records WHERE key >= ?1 AND key < ?2";
    let reports = format!("report {game} ");
    found.extend(tables.pairs(begin, &[Text(&reports), Text(&after_all(&reports))])?);
    let of_game = format!("{begin} AND substr(key, length(?1) + 18) = ?3");
    let accounts = serde_json::from_str::<Summary>(summary).map(|it| it.accounts);
    for account in accounts.unwrap_or_default().into_iter().flatten() {
        let seats = format!("seat {account} ");
        let values = [Text(&seats), Text(&after_all(&seats)), Text(game)];
        found.extend(tables.pairs(&of_game, &values)?);
    }
    Ok(found)
}

impl Pruned {
    /// Removes those of these games that have not changed since `before`.
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
            if let Some(summary) = tables.texts(&sql, &[Text(game), Int(before)])?.pop() {
                self.remove(tables, game, &summary)?;
            }
        }
        Ok(())
    }

    fn remove(
        &mut self,
        tables: &mut dyn Tables,
        game: &str,
        summary: &str,
    ) -> Result<(), StoreError> {
        for (key, value) in records_of(tables, game, summary)? {
            let sql = "DELETE FROM records WHERE key = ?1 AND value = ?2";
            // The records of an account that has two seats are found twice.
            if tables.run(sql, &[Text(&key), Text(&value)])? > 0 {
                self.of_records.drop_record(&key, &value);
            }
        }
        for table in ["events", "snapshots"] {
            tables.run(&format!("DELETE FROM {table} WHERE game = ?1"), &[Text(game)])?;
        }
        tables.run("DELETE FROM games WHERE id = ?1", &[Text(game)])?;
        self.of_games.drop_game(game);
        self.games += 1;
        Ok(())
    }
}
