//! Checks that every request has to pass: the host that it names, its origin, and its rate. CORS preflights are answered
//! before these checks. Every answer gets the headers that keep a browser safe.

use std::convert::Infallible;
use std::net::SocketAddr;

use axum::extract::{ConnectInfo, FromRequestParts, Request};
use axum::http::header::{CONTENT_TYPE, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use crate::server::lichess;
use crate::server::limit::{Cost, Payer};
use crate::server::net::Net;
use crate::server::page;
use crate::server::places::Place;
use crate::server::problem::Problem;
use crate::server::web::Web;

/// Allows scripts, styles and connections of this server only; nothing inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors ";

/// Maximum number of characters of an unknown host's name in an answer.
const SHOWN: usize = 80;

/// Adds to every answer the headers that keep a browser safe, and logs the request.
pub(super) async fn add_security_headers(web: Web, request: Request, next: Next) -> Response {
    // Headers and bodies may hold secrets, so only the path is logged.
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let started = std::time::Instant::now();
    let mut response = next.run(request).await;
    let (status, micros) = (response.status().as_u16(), started.elapsed().as_micros());
    tracing::debug!(%method, path, status, micros, "request");
    // Only pages without controls may stand in frames of other sites.
    let frames = web.names.frames().filter(|_| path.starts_with(page::FRAMED));
    let policy = format!("{POLICY}{}", frames.as_deref().unwrap_or("'none'"));
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert("content-security-policy", policy);
    }
    let mut set = |name, value| headers.insert(name, HeaderValue::from_static(value));
    set("x-content-type-options", "nosniff");
    set("referrer-policy", "no-referrer");
    response
}

/// Lets a request through if it is for this server, from an origin that may use it, and within its rate.
pub(super) async fn check(web: Web, request: Request, next: Next) -> Response {
    let address = request.uri().clone();
    match refuse(&web, &request) {
        Err(problem) => lichess::unhandled(address.path(), problem),
        Ok(()) => without_plain_text(address.path(), next.run(request).await),
    }
}

/// Turns plain-text refusals of the layers below into problems.
fn without_plain_text(path: &str, response: Response) -> Response {
    let status = response.status();
    let kind = response.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let is_plain = kind.is_none_or(|it| it.starts_with("text/plain"));
    if !is_plain || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let (code, message) = match status {
        StatusCode::REQUEST_TIMEOUT => ("request_timeout", "the request took too long"),
        StatusCode::PAYLOAD_TOO_LARGE => ("body_too_large", "the body is too large"),
        StatusCode::UPGRADE_REQUIRED => ("upgrade_required", "this address is for WebSockets"),
        it if it.is_server_error() => ("internal", "the server has failed at this"),
        _ if path.starts_with("/ws/") => (
            "bad_request",
            "this address is for WebSockets, and `v` is the number of an event, if it is given",
        ),
        _ => ("bad_request", "the request cannot be read"),
    };
    lichess::unhandled(path, Problem::new(status, code, message))
}

fn refuse(web: &Web, request: &Request) -> Result<(), Problem> {
    let host = host(web, request)?;
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let is_socket = request.uri().path().starts_with("/ws/");
    // Reads are harmless, except through sockets. For all else, browsers send the origin of the page (programs send none):
    // it must be this server's own or on the list.
    let origin = request.headers().get(ORIGIN).filter(|_| !is_read || is_socket);
    if let Some(origin) = origin
        && !origin.to_str().is_ok_and(|it| web.names.allows_origin(it, host))
    {
        let message = "this origin is not on the server's list";
        return Err(Problem::forbidden("origin_refused", message));
    }
    let caller = Caller::of(web, request.headers(), request.extensions());
    web.admit(&caller, Cost::Ordinary)
}

/// The host that the header `Host` names, if there is one. The server must answer to this name, and to the host in the
/// request's target if that is a whole URL.
fn host<'r>(web: &Web, request: &'r Request) -> Result<Option<&'r str>, Problem> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let (named, more) = (hosts.next(), hosts.next());
    let unreadable =
        || Problem::bad("bad_host", "a request may have only one `Host` header, in ASCII");
    let named = named.map(|it| it.to_str().map_err(|_| unreadable())).transpose()?;
    if more.is_some() {
        return Err(unreadable());
    }
    let target = request.uri().authority().map(|it| it.as_str());
    match named.into_iter().chain(target).find(|it| !web.names.knows(it)) {
        None => Ok(named),
        Some(unknown) => {
            let begin: String = unknown.chars().take(SHOWN).collect();
            let message = format!(
                "this server does not answer to {begin:?}: its operator can add a name with --host"
            );
            Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "unknown_host", message))
        }
    }
}

/// The network that a request is counted for; none if a program on this machine, which is no proxy, has sent it.
#[derive(Debug, Clone, Copy)]
pub(in crate::server) struct Caller(pub(in crate::server) Option<Net>);

impl Caller {
    fn of(web: &Web, headers: &HeaderMap, extensions: &Extensions) -> Self {
        let Some(ConnectInfo(peer)) = extensions.get::<ConnectInfo<SocketAddr>>() else {
            return Self(None);
        };
        let peer = peer.ip().to_canonical();
        if !peer.is_loopback() {
            return Self(Some(Net::of(peer)));
        }
        if !web.limits.behind_proxy {
            return Self(None);
        }
        // The proxy on this machine appends the address of its client to whatever the client has sent as
        // `X-Forwarded-For`. A request without that header, or with something else than an address at its end, is
        // counted as the proxy's own.
        Self(Some(Net::of(client_ip::rightmost_x_forwarded_for(headers).unwrap_or(peer))))
    }
}

impl FromRequestParts<Web> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Infallible> {
        Ok(Self::of(web, &parts.headers, &parts.extensions))
    }
}

impl Web {
    /// Counts a request of this cost for its network.
    ///
    /// # Errors
    /// The rate is exceeded.
    pub(in crate::server) fn admit(&self, caller: &Caller, cost: Cost) -> Result<(), Problem> {
        caller.0.map_or(Ok(()), |net| self.charge(&Payer::Net(net), cost))
    }

    /// Counts a request of this cost for an account, whichever network it comes from.
    ///
    /// # Errors
    /// As [`Web::admit`].
    pub(in crate::server) fn admit_account(&self, id: &str, cost: Cost) -> Result<(), Problem> {
        self.charge(&Payer::Account(id.to_owned()), cost)
    }

    fn charge(&self, payer: &Payer, cost: Cost) -> Result<(), Problem> {
        self.limits.admit(payer, cost).map_err(|wait| {
            self.host.metrics.limited();
            Problem::too_many(wait)
        })
    }

    /// Reserves a place for a socket or a stream, which outlives its request.
    ///
    /// # Errors
    /// The client has too many of them.
    pub(in crate::server) fn hold_open(&self, caller: &Caller) -> Result<Place, Problem> {
        self.limits.open.take(caller.0).ok_or_else(|| {
            self.host.metrics.limited();
            let message = "too many sockets and streams from your address: close some";
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_sockets", message)
        })
    }
}
