//! The server as a process: a listener, a store, and an orderly shutdown.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use data_encoding::HEXLOWER;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::accept::accept;
use super::api::{metrics_router, router};
use super::host::{Config, Host};
use super::library::Library;
use super::limit::Limits;
use super::names::Names;
use super::problem::Problem;
use super::rating::settle_games;
use super::store::{self, Membership, StoreError};
use super::tournament::run_tournaments;
use super::web::Web;
use super::webhooks::Hooks;
use crate::presets::{CatalogueError, Source};

/// Maximum time that requests under way take when the server stops.
const GRACE: Duration = Duration::from_secs(1);
/// Maximum time that the runtime's tasks take to end after that.
const END: Duration = Duration::from_millis(500);
/// Time after which rule files that could not be offered are tried again.
const OFFER_AGAIN: Duration = Duration::from_secs(10);

/// The settings that a server is started with.
#[derive(Debug)]
pub struct Settings {
    pub listen: SocketAddr,
    /// The URL of the store.
    pub store: String,
    pub config: Config,
    pub limits: Limits,
    /// The address of the metrics, if they are served.
    pub metrics: Option<SocketAddr>,
    /// The host names that it answers to, and the origins whose pages may use it.
    pub names: Names,
    /// Rule files of this machine, now and whenever they change. All of them compile.
    pub files: watch::Receiver<Vec<Source>>,
    /// Webhooks that are notified of games, if any.
    pub hooks: Option<Hooks>,
}

/// Why a server does not start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("mistakes in rule files: {0}")]
    Catalogue(#[from] CatalogueError),
    #[error("{address}: {error}")]
    Listen { address: SocketAddr, error: std::io::Error },
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Where a server can be reached.
#[derive(Debug, Clone, Copy)]
pub struct Addresses {
    pub games: SocketAddr,
    pub metrics: Option<SocketAddr>,
}

/// Serves until the process is told to stop (SIGTERM, SIGINT), then lets requests under way finish.
///
/// `ready` is called with the addresses once connections are accepted.
///
/// # Errors
/// The store cannot be opened, or the address cannot be listened on.
pub fn serve(settings: Settings, ready: impl FnOnce(Addresses)) -> Result<(), ServeError> {
    let library = Library::new()?;
    let mut files = settings.files;
    library.offer(library.offer_of(&files.borrow_and_update())?);
    // Held until the server has stopped.
    let _lock = store::lock_store(&settings.store)?;
    let writing = store::open(&settings.store)?;
    let reading = store::open(&settings.store)?;
    let others = store::join(&settings.store, node_name()?)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (host, journal) = Host::start(library, writing, reading, settings.config)?;
    let served = runtime.block_on(async {
        let listener = listen(settings.listen).await?;
        let counters = match settings.metrics {
            None => None,
            Some(address) => Some(listen(address).await?),
        };
        start_tasks(&host, others, files);
        if let Some(hooks) = &settings.hooks {
            host.set_hooks(hooks)?;
        }
        let games = listener.local_addr()?;
        let metrics = counters.as_ref().map(TcpListener::local_addr).transpose()?;
        // Signals are handled before the address is announced: from then on the server can be stopped.
        let signals = signals()?;
        tracing::info!(address = %games, "serving");
        ready(Addresses { games, metrics });
        let web = Web {
            host: Arc::clone(&host),
            limits: Arc::new(settings.limits),
            challenges: Arc::default(),
            names: settings.names.into(),
        };
        if let Some(listener) = counters {
            // It ends with the runtime.
            tokio::spawn(accept(listener, metrics_router(web.clone()), std::future::pending()));
        }
        serve_until(signals, listener, web).await;
        host.retire().await;
        Ok(())
    });
    // The journal can be finished once the tasks have ended, which hold handles of it.
    runtime.shutdown_timeout(END);
    drop(host);
    journal.finish();
    served
}

/// Starts the tasks that run beside the requests.
fn start_tasks(host: &Arc<Host>, others: Option<Membership>, files: watch::Receiver<Vec<Source>>) {
    if let Some(others) = others {
        tokio::spawn(Arc::clone(host).join(others));
    }
    tokio::spawn(offer_changed_files(Arc::clone(host), files));
    tokio::spawn(settle_games(Arc::downgrade(host)));
    tokio::spawn(run_tournaments(Arc::downgrade(host)));
}

/// Serves until it is told to stop; then requests under way have [`GRACE`] to finish.
async fn serve_until(stop: impl Future<Output = ()>, listener: TcpListener, web: Web) {
    let host = Arc::clone(&web.host);
    let stopped = tokio::sync::Notify::new();
    // Sockets are closed. No event is lost, since each is stored before its request is answered.
    let draining = async {
        stop.await;
        tracing::info!(games = host.live_games(), "stopping");
        host.drain();
        stopped.notify_one();
    };
    let serving = accept(listener, router(web), draining);
    let late = async {
        stopped.notified().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        () = serving => {}
        () = late => {}
    }
}

/// Offers rule files again whenever they change, and retries after a while if that fails for another reason than the
/// files.
async fn offer_changed_files(host: Arc<Host>, mut files: watch::Receiver<Vec<Source>>) {
    let mut must_retry = false;
    loop {
        let changed = files.changed();
        let is_open = match must_retry {
            true => tokio::time::timeout(OFFER_AGAIN, changed).await.unwrap_or(Ok(())).is_ok(),
            false => changed.await.is_ok(),
        };
        if !is_open {
            return;
        }
        let now = files.borrow_and_update().clone();
        must_retry = match host.offer(now).await {
            Ok(()) => {
                tracing::info!("new games are played by the changed rule files");
                false
            }
            Err(Problem { message, status, .. }) => {
                tracing::error!("{message}: the rule files are offered as before");
                status.is_server_error()
            }
        };
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, ServeError> {
    let listener = TcpListener::bind(address).await;
    listener.map_err(|error| ServeError::Listen { address, error })
}

/// A node name that no server has or had.
fn node_name() -> std::io::Result<Arc<str>> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|it| std::io::Error::other(it.to_string()))?;
    Ok(HEXLOWER.encode(&bytes).into())
}

/// The signals that stop a server, listened for from here on.
#[cfg(unix)]
fn signals() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn signals() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
