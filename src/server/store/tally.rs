//! Tallies: the number of rows of a table, and a digest of them all that does not depend on their order. A
//! row that is changed, lost or added outside of this program is found, even if nothing else refers to it.
//!
//! Deliberately absent: protection from an attacker who can write to the store, and so can recompute tallies and
//! chains. Only a copy elsewhere reveals that.

use super::{Append, Conflict, Upload};

// The tables that have a tally.
pub(super) const GAMES: &str = "games";
pub(super) const TEXTS: &str = "texts";
pub(super) const UPLOADS: &str = "uploads";
pub(super) const RECORDS: &str = "records";
/// The tally of probes: writes that test whether the store can be written to.
pub(super) const PROBES: &str = "probes";

/// The tallies of all tables, counted from their rows.
#[derive(Debug, Default)]
pub(super) struct Tallies {
    pub(super) games: Tally,
    pub(super) texts: Tally,
    pub(super) uploads: Tally,
    pub(super) records: Tally,
}

impl Tallies {
    pub(super) fn by_table(&self) -> [(&'static str, Tally); 4] {
        [(GAMES, self.games), (TEXTS, self.texts), (UPLOADS, self.uploads), (RECORDS, self.records)]
    }
}

/// The rows of one table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    rows: i64,
    digest: [u8; 32],
}

impl Tally {
    /// A tally as a store has it; `None` if this program did not write it.
    pub(super) fn read(rows: i64, digest: &str) -> Option<Self> {
        let digest = blake3::Hash::from_hex(digest).ok()?;
        Some(Self { rows, digest: *digest.as_bytes() })
    }

    /// The tally after this many probes. Each differs from the last one, since a store may skip writing a value that it
    /// has already.
    pub(super) fn of_probes(count: i64) -> Self {
        let mut tally = Self::default();
        tally.toggle(count, &[PROBES.as_bytes(), &count.to_le_bytes()]);
        tally
    }

    /// The tally of the games that appends have made.
    pub(super) fn of_new_games(batch: &[Append], done: &[Result<(), Conflict>]) -> Self {
        let mut made = Self::default();
        successful(batch, done)
            .filter(|it| it.expected == 0)
            .for_each(|it| made.add_game(&it.game));
        made
    }

    pub(super) fn rows(&self) -> i64 {
        self.rows
    }

    pub(super) fn digest(&self) -> String {
        blake3::Hash::from_bytes(self.digest).to_hex().to_string()
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds a row to the digest or removes it, which is the same operation; `rows` is added to the number of rows.
    fn toggle(&mut self, rows: i64, fields: &[&[u8]]) {
        let mut hasher = blake3::Hasher::new();
        for field in fields {
            hasher.update(&(field.len() as u64).to_le_bytes());
            hasher.update(field);
        }
        self.rows += rows;
        let hash = hasher.finalize();
        self.digest.iter_mut().zip(hash.as_bytes()).for_each(|(own, it)| *own ^= it);
    }

    /// Adds another tally.
    pub(super) fn join(&mut self, other: &Self) {
        self.rows += other.rows;
        self.digest.iter_mut().zip(other.digest).for_each(|(own, it)| *own ^= it);
    }

    pub(super) fn add_game(&mut self, id: &str) {
        self.toggle(1, &[id.as_bytes()]);
    }

    pub(super) fn drop_game(&mut self, id: &str) {
        self.toggle(-1, &[id.as_bytes()]);
    }

    pub(super) fn add_text(&mut self, key: &str, text: &str) {
        self.toggle(1, &[key.as_bytes(), text.as_bytes()]);
    }

    pub(super) fn add_record(&mut self, key: &str, value: &str) {
        self.toggle(1, &[key.as_bytes(), value.as_bytes()]);
    }

    pub(super) fn drop_record(&mut self, key: &str, value: &str) {
        self.toggle(-1, &[key.as_bytes(), value.as_bytes()]);
    }

    pub(super) fn add_upload(&mut self, upload: &Upload) {
        self.toggle_upload(1, upload);
    }

    pub(super) fn drop_upload(&mut self, upload: &Upload) {
        self.toggle_upload(-1, upload);
    }

    fn toggle_upload(&mut self, rows: i64, Upload { owner, rules, name, at }: &Upload) {
        let named = [u8::from(name.is_some())];
        let name = name.as_deref().unwrap_or_default();
        let fields: [&[u8]; 5] =
            [owner.as_bytes(), rules.as_bytes(), &named, name.as_bytes(), &at.to_le_bytes()];
        self.toggle(rows, &fields);
    }
}

/// The keys of the empty records of successful appends.
pub(super) fn empty_records<'b>(
    batch: &'b [Append],
    done: &'b [Result<(), Conflict>],
) -> impl Iterator<Item = &'b String> {
    successful(batch, done).flat_map(|it| &it.empty_records)
}

fn successful<'b>(
    batch: &'b [Append],
    done: &'b [Result<(), Conflict>],
) -> impl Iterator<Item = &'b Append> {
    batch.iter().zip(done).filter(|it| it.1.is_ok()).map(|it| it.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_does_not_matter_and_removed_rows_leave_no_trace() {
        let upload = |at| Upload { owner: "a".into(), rules: "b".into(), name: None, at };
        let (mut one, mut two) = (Tally::default(), Tally::default());
        one.add_upload(&upload(1));
        one.add_upload(&upload(2));
        two.add_upload(&upload(2));
        assert_ne!(one, two);
        two.add_upload(&upload(1));
        assert_eq!(one, two);
        assert_eq!(Tally::read(one.rows(), &one.digest()), Some(one));
        one.drop_upload(&upload(1));
        one.drop_upload(&upload(2));
        assert!(one.is_empty());
        let mut named = two;
        named.drop_upload(&upload(1));
        named.add_upload(&Upload { name: Some(String::new()), ..upload(1) });
        assert_ne!(named, two);
    }
}
