//! The operations of a store, written once for SQLite and PostgreSQL: transactions on [`Tables`].
//!
//! Deliberately absent: how a transaction begins and ends, which each kind of store implements.

use std::path::Path;

use super::check::Check;
use super::prune::{Pruned, SETTLED};
use super::tables::Value::{Int, Nullable, Text};
use super::tables::{
    ALL_GAMES, ALL_SNAPSHOTS, ALL_UPLOADS, RECORD_OF, Row, TEXT_OF, Tables, upload,
};
use super::tally::{GAMES, PROBES, RECORDS, TEXTS, Tally, UPLOADS, empty_records};
use super::{
    Append, Chain, Change, Conflict, GameState, Health, StoreError, StoredEvent, Summary, Upload,
    Whole, after_all, chain, int, number, place, read_summary,
};

/// A log of events for each game.
///
/// # Errors
/// Each method that can fail does so if the store cannot be reached; some have other reasons, too.
pub trait Store: Send {
    /// The tables for one statement, which is a transaction of its own.
    fn once(&mut self) -> Result<Box<dyn Tables + '_>, StoreError>;

    /// All tables as they are at one moment, to be read.
    fn look(&mut self) -> Result<Box<dyn Tables + '_>, StoreError>;

    /// The tables in a transaction that writes. Without [`Tables::commit`] everything stays as it was.
    fn write(&mut self) -> Result<Box<dyn Tables + '_>, StoreError>;

    /// Writes a copy that can be opened like the store itself.
    ///
    /// # Errors
    /// The store cannot be reached, or the file is there or cannot be written.
    fn backup(&mut self, to: &Path) -> Result<(), StoreError>;

    /// The format of a store that was opened by [`open_to_read`](super::open_to_read), if it is an earlier one.
    fn earlier_format(&self) -> Option<i64> {
        None
    }

    /// Appends to several games in one durable transaction. A conflict affects its own game alone.
    ///
    /// # Errors
    /// The store cannot be reached. Nothing was stored; but if the commit failed, all of it may have been.
    fn append(&mut self, batch: &[Append]) -> Result<Vec<Result<(), Conflict>>, StoreError> {
        // All nodes lock games in the same order, or they could deadlock.
        let mut order: Vec<usize> = (0..batch.len()).collect();
        order.sort_by(|&a, &b| batch[a].game.cmp(&batch[b].game));
        let mut done: Vec<Result<(), Conflict>> = vec![Ok(()); batch.len()];
        let mut tables = self.write()?;
        for &at in &order {
            done[at] = tables.append(&batch[at])?;
        }
        // After all games, and records by key, so that all nodes lock in the same order.
        tables.tally(GAMES, &Tally::of_new_games(batch, &done))?;
        let mut records = Tally::default();
        let mut keys: Vec<&String> = empty_records(batch, &done).collect();
        keys.sort();
        for key in keys {
            let sql = "INSERT INTO records (key, value) VALUES (?1, '') ON CONFLICT DO NOTHING";
            if tables.run(sql, &[Text(key)])? > 0 {
                records.add_record(key, "");
            }
        }
        tables.tally(RECORDS, &records)?;
        tables.commit()?;
        Ok(done)
    }

    /// The events of a game after a number, in order, their hashes verified. `None` if there is no such game.
    ///
    /// # Errors
    /// The store cannot be reached, or the log is not what was written.
    fn read(&mut self, game: &str, after: u64) -> Result<Option<Vec<StoredEvent>>, StoreError> {
        // From the first event on, since `page` does not verify the hashes of those before.
        let Some(mut events) = self.page(game, 0, usize::MAX)? else { return Ok(None) };
        events.retain(|it| it.seq > after);
        Ok(Some(events))
    }

    /// The events of a game after a number, in order, `limit` at most; their hashes are verified, those
    /// before are not. `None` if there is no such game.
    ///
    /// # Errors
    /// The store cannot be reached, or this part of the log is not what was written.
    fn page(
        &mut self,
        game: &str,
        after: u64,
        limit: usize,
    ) -> Result<Option<Vec<StoredEvent>>, StoreError> {
        // One view of the head and the events, so that they belong together.
        let mut tables = self.look()?;
        let Some(last) = tables.head(game)? else { return Ok(None) };
        if after >= last.seq() || limit == 0 {
            return Ok(Some(Vec::new()));
        }
        let begin = match after {
            0 => Some(Chain::new(game)),
            _ => {
                let sql = "SELECT hash FROM events WHERE game = ?1 AND seq = ?2";
                let hash = tables.texts(sql, &[Text(game), Int(int(after))])?.pop();
                hash.map(|it| Chain::at(after, it))
            }
        };
        let rows = tables.rows_after(game, after, limit)?;
        let begin = begin.ok_or_else(|| chain::missing(game, after))?;
        begin.verify_page(game, &rows, limit, &last)?;
        Ok(Some(rows))
    }

    /// The last snapshot of a game, and the event after which it was taken. `None` if there is none, or if it
    /// is damaged: the log gives the same game, only slower.
    fn snapshot(&mut self, game: &str) -> Result<Option<(u64, String)>, StoreError> {
        let sql = "SELECT seq, snapshot, hash FROM snapshots WHERE game = ?1";
        let read = |row: &dyn Row| Ok((number(row.int(0)?), row.text(1)?, row.text(2)?));
        let found = self.once()?.first(sql, &[Text(game)], read)?;
        Ok(found.and_then(|(seq, text, hash)| {
            (hash == chain::hash_of_snapshot(game, seq, &text)).then_some((seq, text))
        }))
    }

    /// Listed games, the last changed first; only those behind the place `after` in this order, if it is given: a game's
    /// `UPDATED.ID`, which stays where it is while games change, or an id alone, which is where that game is now. Games
    /// that are not over, and in which nothing has happened since the time `stale`, are left out.
    ///
    /// # Errors
    /// The store cannot be reached, or a summary is not what was written.
    fn list(
        &mut self,
        state: Option<GameState>,
        after: Option<&str>,
        limit: usize,
        stale: u64,
    ) -> Result<Vec<Summary>, StoreError> {
        let (at, after) = after.map(place).unzip();
        let at: Option<i64> = at.flatten();
        let behind = at.map_or("(SELECT updated FROM games WHERE id = ?3)", |_| "?5");
        let sql = format!(
            "SELECT id, summary FROM games
             WHERE listed = TRUE AND (CAST(?1 AS TEXT) IS NULL OR state = ?1)
               AND (state = 'over' OR updated >= ?4)
               AND (CAST(?3 AS TEXT) IS NULL OR (updated, id) < ({behind}, ?3))
             ORDER BY updated DESC, id DESC LIMIT ?2"
        );
        let (state, limit) = (Nullable(state.map(GameState::word)), Int(int(limit as u64)));
        let mut values = vec![state, limit, Nullable(after), Int(int(stale))];
        values.extend(at.map(Int));
        let found = self.once()?.pairs(&sql, &values)?;
        found.iter().map(|it| read_summary(&it.0, &it.1)).collect()
    }

    /// Keeps a text under its hash (the rules that games are played by), durably. False if another text has that hash
    /// already.
    fn put_text(&mut self, hash: &str, text: &str) -> Result<bool, StoreError> {
        let mut tables = self.write()?;
        let Some(change) = tables.put_text(hash, text)? else { return Ok(false) };
        tables.tally(TEXTS, &change)?;
        tables.commit()?;
        Ok(true)
    }

    /// A text that was kept.
    fn text(&mut self, hash: &str) -> Result<Option<String>, StoreError> {
        Ok(self.once()?.texts(TEXT_OF, &[Text(hash)])?.pop())
    }

    /// Puts a rule set on its owner's list, or updates its entry, and keeps its text. False if the list has
    /// `limit` others already, or if another text has that hash.
    fn add_upload(
        &mut self,
        upload: &Upload,
        text: &str,
        limit: usize,
    ) -> Result<bool, StoreError> {
        let Upload { owner, rules, name, at } = upload;
        let mut tables = self.write()?;
        // One at a time per owner, or two requests could exceed the limit together.
        tables.lock_owner(owner)?;
        let sql = "SELECT count(*) FROM uploads WHERE owner = ?1 AND rules <> ?2";
        let others = tables.first(sql, &[Text(owner), Text(rules)], |row| row.int(0))?;
        if number(others.unwrap_or_default()) >= limit as u64 {
            return Ok(false);
        }
        let Some(texts) = tables.put_text(rules, text)? else { return Ok(false) };
        let mut change = Tally::default();
        if let Some(old) = tables.upload_of(owner, rules)? {
            change.drop_upload(&old);
        }
        change.add_upload(upload);
        let sql = "INSERT INTO uploads (owner, rules, name, at) VALUES (?1, ?2, ?3, ?4)
                   ON CONFLICT (owner, rules) DO UPDATE SET name = ?3, at = ?4";
        let values = [Text(owner), Text(rules), Nullable(name.as_deref()), Int(int(*at))];
        tables.run(sql, &values)?;
        tables.tally(TEXTS, &texts)?;
        tables.tally(UPLOADS, &change)?;
        tables.commit()?;
        Ok(true)
    }

    /// An owner's list of rule sets, the oldest first.
    fn uploads(&mut self, owner: &str) -> Result<Vec<Upload>, StoreError> {
        let sql = format!("{ALL_UPLOADS} WHERE owner = ?1 ORDER BY at, rules");
        self.once()?.all(&sql, &[Text(owner)], upload)
    }

    /// Takes a rule set from its owner's list; its text stays. False if it is not on it.
    fn drop_upload(&mut self, owner: &str, rules: &str) -> Result<bool, StoreError> {
        let mut tables = self.write()?;
        let Some(old) = tables.upload_of(owner, rules)? else { return Ok(false) };
        let mut change = Tally::default();
        change.drop_upload(&old);
        let sql = "DELETE FROM uploads WHERE owner = ?1 AND rules = ?2";
        tables.run(sql, &[Text(owner), Text(rules)])?;
        tables.tally(UPLOADS, &change)?;
        tables.commit()?;
        Ok(true)
    }

    /// The record of a key.
    fn record(&mut self, key: &str) -> Result<Option<String>, StoreError> {
        Ok(self.once()?.texts(RECORD_OF, &[Text(key)])?.pop())
    }

    /// Records whose keys begin with `prefix` (ASCII, not empty) and come after `after`, by key, `limit` at most:
    /// keys and values.
    fn records(
        &mut self,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, String)>, StoreError> {
        let sql = "SELECT key, value FROM records WHERE key >= ?1 AND key < ?2 AND key > ?3
                   ORDER BY key LIMIT ?4";
        let (end, limit) = (after_all(prefix), Int(int(limit as u64)));
        self.once()?.pairs(sql, &[Text(prefix), Text(&end), Text(after), limit])
    }

    /// The games in this state, if one is given, in which an account has a seat, the last joined first; only those joined
    /// before the game `before`, if it is given. `limit` at most, from the last `examined` seats. The keys of the records
    /// of seats are `prefix`, 16 digits, a space and the game's id.
    ///
    /// # Errors
    /// The store cannot be reached, or a summary is not what was written.
    fn seated(
        &mut self,
        prefix: &str,
        state: Option<GameState>,
        before: Option<&str>,
        examined: usize,
        limit: usize,
    ) -> Result<Vec<Summary>, StoreError> {
        let mut tables = self.once()?;
        let sql = format!(
            "SELECT games.id, games.summary
             FROM (SELECT key FROM records WHERE key >= ?1 AND key < ?2
                     AND (CAST(?6 AS TEXT) IS NULL OR key >
                         (SELECT min(key) FROM records WHERE key >= ?1 AND key < ?2
                            AND substr(key, length(?1) + 18) = ?6))
                   ORDER BY key LIMIT ?4) AS seats
             JOIN games ON games.id = substr(seats.key, length(?1) + 18){}
             WHERE CAST(?3 AS TEXT) IS NULL OR games.state = ?3
             ORDER BY seats.key LIMIT ?5",
            tables.as_id()
        );
        let (end, state) = (after_all(prefix), Nullable(state.map(GameState::word)));
        let [examined, limit] = [examined, limit].map(|it| Int(int(it as u64)));
        let values = [Text(prefix), Text(&end), state, examined, limit, Nullable(before)];
        let mut found: Vec<Summary> = Vec::new();
        for (game, text) in tables.pairs(&sql, &values)? {
            // An account may have several seats in a game.
            if found.iter().all(|it| it.id != game) {
                found.push(read_summary(&game, &text)?);
            }
        }
        Ok(found)
    }

    /// Makes all these changes durably; or returns false and makes none if a record does not have the
    /// expected value.
    fn change(&mut self, changes: &[Change]) -> Result<bool, StoreError> {
        // All nodes change records in the same order, or they could deadlock.
        let mut ordered: Vec<&Change> = changes.iter().collect();
        ordered.sort_by(|one, other| one.key.cmp(&other.key));
        let mut tables = self.write()?;
        let mut change = Tally::default();
        for Change { key, from, to } in ordered {
            let rows = match (from, to) {
                (None, None) => {
                    if !tables.texts(RECORD_OF, &[Text(key)])?.is_empty() {
                        return Ok(false);
                    }
                    continue;
                }
                (None, Some(to)) => {
                    let sql = "INSERT INTO records (key, value) VALUES (?1, ?2)
                               ON CONFLICT DO NOTHING";
                    tables.run(sql, &[Text(key), Text(to)])?
                }
                (Some(from), None) => {
                    let sql = "DELETE FROM records WHERE key = ?1 AND value = ?2";
                    tables.run(sql, &[Text(key), Text(from)])?
                }
                (Some(from), Some(to)) => {
                    let sql = "UPDATE records SET value = ?3 WHERE key = ?1 AND value = ?2";
                    tables.run(sql, &[Text(key), Text(from), Text(to)])?
                }
            };
            if rows == 0 {
                return Ok(false);
            }
            from.iter().for_each(|it| change.drop_record(key, it));
            to.iter().for_each(|it| change.add_record(key, it));
        }
        tables.tally(RECORDS, &change)?;
        tables.commit()?;
        Ok(true)
    }

    /// The summary of a game.
    fn summary(&mut self, game: &str) -> Result<Option<Summary>, StoreError> {
        let sql = "SELECT summary FROM games WHERE id = ?1";
        let text = self.once()?.texts(sql, &[Text(game)])?.pop();
        text.map(|it| read_summary(game, &it)).transpose()
    }

    /// The games in which nothing has happened since `before`, except those whose ratings have yet to be settled.
    fn older(&mut self, before: u64) -> Result<Vec<String>, StoreError> {
        let sql = format!("SELECT id FROM games WHERE updated < ?1 AND {SETTLED} ORDER BY id");
        self.once()?.texts(&sql, &[Int(int(before))])
    }

    /// Removes those of these games that [`Store::older`] still lists, with the records of their seats, ratings and
    /// reports. Returns how many games it removed.
    ///
    /// # Errors
    /// The store cannot be reached; then nothing is removed.
    fn forget(&mut self, games: &[String], before: u64) -> Result<usize, StoreError> {
        let mut pruned = Pruned::default();
        let mut tables = self.write()?;
        pruned.prune(tables.as_mut(), games, int(before))?;
        tables.tally(GAMES, &pruned.of_games)?;
        tables.tally(RECORDS, &pruned.of_records)?;
        tables.commit()?;
        Ok(pruned.games)
    }

    /// All games.
    fn games(&mut self) -> Result<Vec<String>, StoreError> {
        self.once()?.texts(ALL_GAMES, &[])
    }

    /// Everything that is stored of a game.
    fn whole(&mut self, game: &str) -> Result<Option<Whole>, StoreError> {
        let sql = "SELECT state, listed, updated, summary FROM games WHERE id = ?1";
        let mut tables = self.look()?;
        let found = tables.first(sql, &[Text(game)], |row| {
            let (state, listed, updated) = (row.text(0)?, row.truth(1)?, row.int(2)?);
            Ok(Whole { state, listed, updated, summary: row.text(3)?, rows: Vec::new() })
        })?;
        let Some(found) = found else { return Ok(None) };
        Ok(Some(Whole { rows: tables.rows_after(game, 0, usize::MAX)?, ..found }))
    }

    /// The games that have a snapshot.
    fn games_with_snapshot(&mut self) -> Result<Vec<String>, StoreError> {
        self.once()?.texts(ALL_SNAPSHOTS, &[])
    }

    /// Writes something small durably, to see whether the store can be written.
    ///
    /// # Errors
    /// It cannot.
    fn probe(&mut self) -> Result<(), StoreError> {
        let mut tables = self.write()?;
        let lock = tables.for_update();
        let sql = format!("SELECT rows FROM tallies WHERE name = ?1{lock}");
        let count = tables.first(&sql, &[Text(PROBES)], |row| row.int(0))?;
        let next = count.unwrap_or_default().wrapping_add(1);
        tables.put_tally(PROBES, Tally::of_probes(next))?;
        tables.commit()
    }

    /// Checks every row of every table against its hash, the rows that it refers to and the tally of its
    /// table (the number of its rows and a digest of them).
    fn check(&mut self) -> Result<Health, StoreError> {
        // All tables as they are at one moment, whatever a server writes meanwhile.
        let mut tables = self.look()?;
        let mut check = Check::default();
        if let Some(flaw) = tables.flaw()? {
            check.fault(flaw);
        }
        tables.feed(&mut check)?;
        let sql = "SELECT name, rows, digest FROM tallies";
        let read = |row: &dyn Row| Ok((row.text(0)?, row.int(1)?, row.text(2)?));
        Ok(check.end(tables.all(sql, &[], read)?))
    }
}
