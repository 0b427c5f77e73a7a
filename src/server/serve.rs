//! The server as a process: a listener, a store, and an orderly end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;

use super::accept::accept;
use super::api::{Web, router};
use super::host::{Config, Host};
use super::library::Library;
use super::limit::Limits;
use super::store::{self, StoreError};
use crate::presets::CatalogueError;

/// How long requests under way may take when the server stops.
const GRACE: Duration = Duration::from_secs(5);

/// What a server is started with.
#[derive(Debug)]
pub struct Settings {
    pub listen: SocketAddr,
    /// The URL of the store.
    pub store: String,
    pub config: Config,
    pub limits: Limits,
    /// Origins beside its own that browsers may come from.
    pub origins: Vec<String>,
}

/// Why a server does not start, or stops.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("mistakes in Rulemate's own rule files: {0}")]
    Catalogue(#[from] CatalogueError),
    #[error("{address}: {error}")]
    Listen { address: SocketAddr, error: std::io::Error },
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Serves until the process is told to stop (SIGTERM, SIGINT), then lets what is under way finish.
///
/// `ready` is told the address once connections are taken.
///
/// # Errors
/// The store or the address cannot be had.
pub fn serve(settings: Settings, ready: impl FnOnce(SocketAddr)) -> Result<(), ServeError> {
    let library = Library::new()?;
    let writing = store::open(&settings.store)?;
    let reading = store::open(&settings.store)?;
    let others = store::join(&settings.store, node_name()?)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (host, journal) = Host::start(library, writing, reading, settings.config)?;
    let served = runtime.block_on(async {
        let address = settings.listen;
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|error| ServeError::Listen { address, error })?;
        if let Some(others) = others {
            tokio::spawn(Arc::clone(&host).join(others));
        }
        let address = listener.local_addr()?;
        tracing::info!(%address, "serving");
        ready(address);
        let web = Web {
            host: Arc::clone(&host),
            limits: Arc::new(settings.limits),
            hall: Arc::default(),
            origins: settings.origins.into(),
        };
        let stopped = Arc::new(tokio::sync::Notify::new());
        let draining = drain(Arc::clone(&host), Arc::clone(&stopped));
        let serving = accept(listener, router(web), draining);
        let late = async {
            stopped.notified().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            () = serving => {}
            () = late => {}
        }
        host.retire().await;
        Ok(())
    });
    // Tasks go first, with what they hold of the journal: then it can be finished.
    runtime.shutdown_timeout(GRACE);
    drop(host);
    journal.finish();
    served
}

/// A name that no server has or had.
fn node_name() -> std::io::Result<Arc<str>> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|it| std::io::Error::other(it.to_string()))?;
    Ok(bytes.map(|it| format!("{it:02x}")).concat().into())
}

/// Waits for the signal, then lets the games go: sockets are closed, and every event is stored
/// already, since nothing is answered before.
async fn drain(host: Arc<Host>, stopped: Arc<tokio::sync::Notify>) {
    wait_for_signal().await;
    tracing::info!(games = host.live_games(), "stopping");
    host.drain();
    stopped.notify_one();
}

#[cfg(unix)]
async fn wait_for_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
        }
        Err(error) => {
            tracing::warn!(%error, "only the keyboard can stop this server");
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}

#[cfg(not(unix))]
async fn wait_for_signal() {
    let _ = tokio::signal::ctrl_c().await;
}
