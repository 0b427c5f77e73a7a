//! Connections: how many there may be, and how long a request may take to arrive. Who opens one
//! and says nothing, or says it letter by letter, is closed.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::Service;

use super::library::lock;

/// As long as the head of a request may take to arrive, and as a connection may be without one.
const HEAD: Duration = Duration::from_secs(10);
/// As many bytes as a head may have.
const HEAD_BYTES: usize = 16 * 1024;
/// As many connections as there may be, of all and of one address. This machine's own are counted
/// only among all: a proxy may be there.
const ALL: usize = 16_000;
const OF_ONE: usize = 100;
/// How long to wait when the system has no more connections to give.
const PAUSE: Duration = Duration::from_millis(100);

/// Takes connections until it is told to stop; then waits for the requests under way.
pub(super) async fn accept(listener: TcpListener, app: Router, stop: impl Future<Output = ()>) {
    let (stopping, stops) = watch::channel(());
    let places = Arc::new(Places::default());
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, address) = match accepted {
            Ok(it) => it,
            Err(error) => {
                tracing::warn!(%error, "a connection was not taken");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Some(place) = Place::take(&places, address.ip()) else {
            tracing::debug!(%address, "too many connections");
            continue;
        };
        tokio::spawn(serve(stream, address, app.clone(), place, stops.clone()));
    }
    drop((listener, stops));
    stopping.send_replace(());
    stopping.closed().await;
}

async fn serve(
    stream: TcpStream,
    address: SocketAddr,
    app: Router,
    place: Place,
    mut stops: watch::Receiver<()>,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "small messages wait for others");
    }
    let place = Arc::new(place);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(address));
        // A socket lives on after its request: it holds the place.
        request.extensions_mut().insert(Arc::clone(&place));
        let mut app = app.clone();
        async move { app.call(request.map(Body::new)).await }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        _ = stops.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%address, %error, "a connection has ended");
    }
}

/// Who is connected.
#[derive(Debug, Default)]
struct Places(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// A connection's place; it is free again when this is gone.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    address: IpAddr,
}

impl Place {
    fn take(places: &Arc<Places>, address: IpAddr) -> Option<Self> {
        let mut taken = lock(&places.0);
        if taken.all >= ALL {
            return None;
        }
        if !address.is_loopback() {
            let own = taken.by_address.entry(address).or_default();
            if *own >= OF_ONE {
                return None;
            }
            *own += 1;
        }
        taken.all += 1;
        Some(Self { places: Arc::clone(places), address })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = lock(&self.places.0);
        taken.all -= 1;
        if let Some(own) = taken.by_address.get_mut(&self.address) {
            *own -= 1;
            if *own == 0 {
                taken.by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_gets_no_more_than_its_places_and_has_them_again() {
        let places = Arc::new(Places::default());
        let (one, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let mut taken: Vec<Place> = (0..OF_ONE).filter_map(|_| Place::take(&places, one)).collect();
        assert_eq!(taken.len(), OF_ONE);
        assert!(Place::take(&places, one).is_none());
        assert!(Place::take(&places, other).is_some());
        taken.pop();
        assert!(Place::take(&places, one).is_some());
        drop(taken);
        let left = lock(&places.0);
        assert_eq!((left.all, left.by_address.len()), (0, 0));
    }
}
