//! What every request has to pass: where it comes from, and how many came before it. Every answer
//! leaves with the headers that keep a browser safe.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{CONTENT_TYPE, HOST, ORIGIN};
use axum::http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Web;
use crate::server::limit::Cost;
use crate::server::problem::Problem;

/// Scripts, styles and connections of this server alone; nothing inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

pub(super) async fn check(State(web): State<Web>, request: Request, next: Next) -> Response {
    // An address has no secrets in it; headers and bodies have, and are not told.
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let started = std::time::Instant::now();
    let mut response = match refuse(&web, &request) {
        Some(problem) => problem.into_response(),
        None => typed(next.run(request).await),
    };
    let (status, micros) = (response.status().as_u16(), started.elapsed().as_micros());
    tracing::debug!(%method, path, status, micros, "request");
    let headers = response.headers_mut();
    let mut set = |name, value| headers.insert(name, HeaderValue::from_static(value));
    set("content-security-policy", POLICY);
    set("x-content-type-options", "nosniff");
    set("referrer-policy", "no-referrer");
    response
}

/// What the layers below refuse in plain text, as a problem like all others.
fn typed(response: Response) -> Response {
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
        _ => ("bad_request", "the request cannot be read"),
    };
    Problem::new(status, code, message).into_response()
}

fn refuse(web: &Web, request: &Request) -> Option<Problem> {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let is_socket = request.uri().path().starts_with("/ws/");
    if (!is_read || is_socket) && !is_welcome(web, request.headers()) {
        let message = "this origin is not on the server's list";
        return Some(Problem::new(StatusCode::FORBIDDEN, "origin_refused", message));
    }
    let address = address(web, request.headers(), request.extensions())?;
    let cost = match request.uri().path() {
        "/api/v1/games" if !is_read => Cost::Game,
        "/api/v1/rules" | "/api/v1/presets/check" if !is_read => Cost::Compiling,
        _ => Cost::Little,
    };
    if web.limits.admits(address, cost) {
        return None;
    }
    web.host.metrics.limited();
    let message = "too many requests from your address: wait a moment";
    Some(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message))
}

/// Programs send no origin; browsers do, and must come from here or from the list.
fn is_welcome(web: &Web, headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let Ok(origin) = origin.to_str() else { return false };
    let host = headers.get(HOST).and_then(|it| it.to_str().ok());
    let own = origin.split_once("://").map(|it| it.1);
    (host.is_some() && own == host) || web.origins.iter().any(|it| it == origin)
}

/// Whose request it is, if requests of that address are counted.
pub(super) fn address(web: &Web, headers: &HeaderMap, extensions: &Extensions) -> Option<IpAddr> {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>()?.0.ip();
    if !peer.is_loopback() {
        return Some(peer);
    }
    // A proxy on this machine says whose request it passes on.
    let forwarded = headers.get("x-forwarded-for").filter(|_| web.limits.behind_proxy)?;
    forwarded.to_str().ok()?.rsplit(',').next()?.trim().parse().ok()
}
