//! Readiness of the store, found on request by writing something small durably, since a full disk can still be
//! read.

use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use super::store::{Reads, StoreError};

/// Time for which a result is reused, so that frequent requests cost nothing.
const HOLDS: Duration = Duration::from_secs(1);

/// The last result, and when it was found.
#[derive(Debug, Default)]
pub(super) struct Ready(Mutex<Option<(Instant, Result<(), StoreError>)>>);

impl Ready {
    /// Finds out whether the store can be written to; the result is reused for [`HOLDS`]. The thread of [`Reads`]
    /// does the write: it has all writes but those of events.
    ///
    /// # Errors
    /// Nothing can be stored.
    pub(super) async fn probe(&self, store: &Reads) -> Result<(), StoreError> {
        let mut last = self.0.lock().await;
        if let Some((at, found)) = &*last
            && at.elapsed() < HOLDS
        {
            return found.clone();
        }
        let found = store.ask(|store| store.probe()).await;
        if let Err(error) = &found {
            tracing::error!(%error, "nothing can be stored");
        }
        *last = Some((Instant::now(), found.clone()));
        found
    }
}
