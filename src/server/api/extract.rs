//! The handlers' extractors: they answer what they cannot read with a problem, where axum's own extractors answer with
//! plain text.

use std::convert::Infallible;

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::BODY;
use crate::presets::plain_json_error;
use crate::server::core::TokenHash;
use crate::server::problem::Problem;
use crate::server::web::Web;

impl FromRequestParts<Self> for Web {
    type Rejection = Infallible;

    async fn from_request_parts(_: &mut Parts, web: &Self) -> Result<Self, Infallible> {
        Ok(web.clone())
    }
}

/// A body as JSON. An empty one is an empty object.
#[derive(Debug)]
pub(in crate::server) struct Body<T>(pub(in crate::server) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let bytes = Bytes::from_request(request, state).await.map_err(|it| body_problem(&it))?;
        let bytes = if bytes.is_empty() { b"{}".as_slice() } else { &bytes };
        let malformed = |it: serde_json::Error| {
            let why = plain_json_error(&it.to_string());
            Problem::bad("malformed_json", format!("the body: {why}"))
        };
        Ok(Self(serde_json::from_slice(bytes).map_err(malformed)?))
    }
}

fn body_problem(rejection: &BytesRejection) -> Problem {
    let status = rejection.status();
    if status == StatusCode::PAYLOAD_TOO_LARGE {
        let message = format!("the body is too large: {BODY} bytes at most");
        return Problem::new(status, "body_too_large", message);
    }
    Problem::bad("bad_body", "the body could not be read")
}

/// Phrases in axum's errors about queries, each with what stands for it in a problem.
const PLAIN: [(&str, &str); 4] = [
    ("Failed to deserialize query string", "the query"),
    ("invalid digit found in string", "expected a whole number, 0 or more"),
    ("cannot parse integer from empty string", "expected a whole number, 0 or more"),
    ("number too large to fit in target type", "the number is too large"),
];

/// The query of a URL.
#[derive(Debug)]
pub(super) struct Query<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let read = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        let bad = |it: QueryRejection| {
            let plain = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
            Problem::bad("bad_query", PLAIN.iter().fold(it.body_text(), plain))
        };
        Ok(Self(read.map_err(bad)?.0))
    }
}

/// What the seats have that the request's token may act for, if it has one: see [`Web::credential`].
#[derive(Debug)]
pub(super) struct Token(pub(super) Option<TokenHash>);

impl FromRequestParts<Web> for Token {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Problem> {
        Ok(Self(web.credential(bearer(parts)).await?))
    }
}

/// The token of `Authorization: Bearer TOKEN`.
pub(super) fn bearer(parts: &Parts) -> Option<&str> {
    let (scheme, token) = parts.headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("Bearer").then(|| token.trim())
}
