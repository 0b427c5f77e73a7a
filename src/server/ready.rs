//! Readiness of the store: something small is written, durably, now and then. A disk that is
//! full still answers questions.

use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use super::store::{Reads, StoreError};

/// Time that a result is used again, so that frequent requests cost nothing.
const HOLDS: Duration = Duration::from_secs(1);

/// What was found last.
#[derive(Debug, Default)]
pub(super) struct Ready(Mutex<Option<(Instant, Result<(), StoreError>)>>);

impl Ready {
    /// # Errors
    /// Nothing can be stored.
    pub(super) async fn look(&self, store: &Reads) -> Result<(), StoreError> {
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
