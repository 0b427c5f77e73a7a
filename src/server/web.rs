//! The state of the web server, and work that outlives the request for it.

use std::sync::Arc;

use super::host::Host;
use super::lichess::challenges::Challenges;
use super::limit::Limits;
use super::names::Names;
use super::problem::Problem;

/// The state that every handler can use.
#[derive(Debug, Clone)]
pub struct Web {
    /// The games, with the rules that they are made of, the store and the configuration.
    pub host: Arc<Host>,
    /// The limits of clients: how often they may send requests, and how many sockets and streams they may have open.
    pub limits: Arc<Limits>,
    /// Open challenges of lichess' API, and the event streams that report them.
    pub challenges: Arc<Challenges>,
    /// The host names that the server answers to, and the origins whose pages may use it.
    pub names: Arc<Names>,
}

/// Runs work that must not stop between two of its steps: it goes on if the client goes away, which ends the request.
pub(super) async fn to_the_end<T, E>(
    work: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<Problem> + Send + 'static,
{
    tokio::spawn(work).await.unwrap_or_else(|_| Err(Problem::internal().into()))
}
