//! Connections: their maximum number, and the time within which the head of a request must arrive. A connection
//! that sends nothing, sends a head very slowly, or does not read its answers, is closed. Deliberately absent: the time
//! for a whole request with its body (`api`).

use std::net::SocketAddr;
use std::sync::Arc;
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
use tokio_io_timeout::TimeoutStream;
use tower::Service;

use super::net::Net;
use super::places::{Place, Places};

/// Maximum time for the head of a request to arrive, and for a connection to have no request.
const HEAD: Duration = Duration::from_secs(10);
/// Maximum time for which a client reads nothing of what it is sent. Then its connection is closed, with the answer,
/// stream or socket on it.
const SLOW: Duration = Duration::from_secs(10);
/// Maximum number of bytes of a head.
const HEAD_BYTES: usize = 16 * 1024;
/// Maximum number of connections.
const ALL: usize = 16_000;
/// Maximum number of connections of one network. Connections from this machine have no such limit, since a proxy may
/// pass them on.
const OF_ONE: usize = 100;
/// Time to wait after a connection could not be accepted, for example because the process has too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// The place of a connection, for sockets, which outlive their request.
#[derive(Debug, Clone)]
pub(super) struct Connected(#[allow(dead_code, reason = "it is held to be dropped")] Arc<Place>);

/// Accepts connections until it is told to stop; then waits for the requests under way.
pub(super) async fn accept(listener: TcpListener, app: Router, stop: impl Future<Output = ()>) {
    let (stopping, stops) = watch::channel(());
    let places = Places::new(ALL, OF_ONE);
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
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let net = Some(address.ip().to_canonical()).filter(|it| !it.is_loopback()).map(Net::of);
        let Some(place) = places.take(net) else {
            tracing::debug!(%address, "too many connections");
            continue;
        };
        tokio::spawn(serve(stream, address, app.clone(), place, stops.clone(), SLOW));
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
    slow: Duration,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY cannot be set: small messages may be late");
    }
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(slow));
    let place = Connected(Arc::new(place));
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(address));
        // A socket holds the place, since it lives on after its request.
        request.extensions_mut().insert(place.clone());
        let mut app = app.clone();
        async move { app.call(request.map(Body::new)).await }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(Box::pin(stream)), service)
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
        tracing::debug!(%address, %error, "a connection ended with an error");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer is longer than what the network buffers, and the client never reads: the connection ends by
    /// itself, and its place is free.
    #[tokio::test]
    async fn a_connection_whose_client_does_not_read_is_closed() {
        use std::io::Write;
        let long = || std::future::ready("x".repeat(64 << 20));
        let app = Router::new().route("/", axum::routing::get(long));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut theirs = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        theirs.write_all(b"GET / HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
        let (ours, address) = listener.accept().await.unwrap();
        let places = Places::new(1, 1);
        let place = places.take(None).unwrap();
        let (_stopping, stops) = watch::channel(());
        let serving = serve(ours, address, app, place, stops, Duration::from_millis(50));
        tokio::time::timeout(Duration::from_secs(60), serving).await.expect("it ends by itself");
        assert_eq!(places.taken(), 0);
        drop(theirs);
    }
}
