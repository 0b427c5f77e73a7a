//! The hash chain of a game's log: the hash of an event is over its text, its number and the hash before it, so an
//! event that is changed, lost or moved is found when the log is read.

use super::{StoreError, StoredEvent};

/// A log up to one of its events: the event's number and hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    seq: u64,
    hash: String,
}

/// The error of a log that is damaged at an event.
pub(super) fn damaged(game: &str, seq: u64, fault: &str) -> StoreError {
    StoreError::Damaged { game: game.to_owned(), seq, fault: fault.to_owned() }
}

/// The error of a log without an event that it should have.
pub(super) fn missing(game: &str, seq: u64) -> StoreError {
    damaged(game, seq, &format!("number {seq} is missing"))
}

/// The hash that is stored with a snapshot, and compared when it is read.
pub(super) fn hash_of_snapshot(game: &str, seq: u64, text: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(game.as_bytes());
    hasher.update(&seq.to_le_bytes());
    hasher.update(text.as_bytes());
    hasher.finalize().to_hex().to_string()
}

impl Chain {
    /// The chain of a game without events.
    pub fn new(game: &str) -> Self {
        Self { seq: 0, hash: blake3::hash(game.as_bytes()).to_hex().to_string() }
    }

    /// The chain up to a stored event.
    pub fn at(seq: u64, hash: String) -> Self {
        Self { seq, hash }
    }

    pub fn seq(&self) -> u64 {
        self.seq
    }

    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Adds an event, and returns its row.
    pub fn next(&mut self, payload: &str) -> StoredEvent {
        let mut hasher = blake3::Hasher::new();
        self.seq += 1;
        hasher.update(self.hash.as_bytes());
        hasher.update(&self.seq.to_le_bytes());
        hasher.update(payload.as_bytes());
        self.hash = hasher.finalize().to_hex().to_string();
        StoredEvent { seq: self.seq, payload: payload.to_owned(), hash: self.hash.clone() }
    }

    /// Verifies that a stored row comes next, and adds it.
    ///
    /// # Errors
    /// An event before it is missing, or it is not what was written.
    fn verify(&mut self, game: &str, row: &StoredEvent) -> Result<(), StoreError> {
        let expected = self.next(&row.payload);
        if row.seq != expected.seq {
            return Err(missing(game, expected.seq));
        }
        if row.hash != expected.hash {
            return Err(damaged(game, row.seq, "it is not what was written"));
        }
        Ok(())
    }

    /// Verifies a page: the events after this chain, read with this limit. The last page must also end at `head`, the
    /// end of the log that is stored beside it.
    ///
    /// # Errors
    /// The log is not what was written.
    pub fn verify_page(
        mut self,
        game: &str,
        rows: &[StoredEvent],
        limit: usize,
        head: &Self,
    ) -> Result<(), StoreError> {
        for row in rows {
            self.verify(game, row)?;
        }
        let goes_on = rows.len() >= limit && self.seq < head.seq;
        if goes_on { Ok(()) } else { self.ends_at(game, head) }
    }

    /// Verifies that a log which ends here has the end that is stored beside it.
    fn ends_at(&self, game: &str, head: &Self) -> Result<(), StoreError> {
        if self.seq != head.seq {
            let fault = format!("the log has {} events, but {} were written", self.seq, head.seq);
            return Err(damaged(game, self.seq.min(head.seq) + 1, &fault));
        }
        if self.hash != head.hash {
            return Err(damaged(game, self.seq, "it is not the last event that was written"));
        }
        Ok(())
    }
}
