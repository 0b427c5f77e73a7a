//! What every handler of a request can use.

use std::sync::Arc;

use super::host::Host;
use super::lichess::challenges::Challenges;
use super::limit::Limits;
use super::names::Names;

/// The state that every handler can use.
#[derive(Debug, Clone)]
pub struct Web {
    /// The games.
    pub host: Arc<Host>,
    /// The rate limits of clients.
    pub limits: Arc<Limits>,
    /// Challenges, and their listeners.
    pub challenges: Arc<Challenges>,
    /// The host names that the server answers to, and the origins whose pages may use it.
    pub names: Arc<Names>,
}
