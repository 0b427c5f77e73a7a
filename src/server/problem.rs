//! Problems: errors as clients see them, with a status, a stable code and a sentence. A request that is answered by a
//! problem has changed nothing, unless it took too long or the server failed at it (`request_timeout`, `internal`):
//! then part of it may be done.

use std::borrow::Cow;
use std::time::Duration;

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{HeaderName, RETRY_AFTER};
use axum::response::{AppendHeaders, IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::core::{Refusal, Refused};
use super::store::{Conflict, StoreError};
use crate::presets::plural;

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = ProblemBody, description = "A problem as it is sent.")]
pub struct Problem {
    #[serde(skip)]
    pub status: StatusCode,
    /// The stable code, for programs.
    #[serde(rename = "error")]
    #[schema(value_type = String)]
    pub code: Cow<'static, str>,
    /// The sentence, for people.
    pub message: String,
    /// Further details: `ply`, `v`, `because`, `diagnostics`, `retry_after` (seconds); `reason`, the code that the
    /// rules declare for refusing a move.
    #[serde(flatten)]
    pub more: Option<Value>,
}

impl Problem {
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code: code.into(), message: message.into(), more: None }
    }

    pub fn with(mut self, more: Value) -> Self {
        self.more = Some(more);
        self
    }

    pub fn no_game(id: &str) -> Self {
        Self::not_found("no_such_game", format!("there is no game {id:.40}"))
    }

    pub fn bad(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub fn unauthorized(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, code, message)
    }

    pub fn forbidden(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, message)
    }

    pub fn not_found(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message)
    }

    pub fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message)
    }

    pub fn unprocessable(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
    }

    /// A refusal for the moment: the request may be repeated later.
    pub(super) fn not_now(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message)
    }

    pub fn unavailable() -> Self {
        let message = "the server cannot store anything at the moment: nothing was done";
        Self::not_now("store_unavailable", message)
    }

    pub(super) fn internal() -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self::new(status, "internal", "the server has failed at this; it is in its log")
    }

    pub(super) fn log_damaged(message: String) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "log_damaged", message)
    }

    /// The problem of a game that cannot be rated; `what` completes "rated games must".
    pub(super) fn not_rated(what: &str) -> Self {
        Self::unprocessable("cannot_be_rated", format!("rated games must {what}"))
    }

    /// The problem of a request that exceeds a rate; it may be repeated after `wait`.
    pub(super) fn too_many(wait: Duration) -> Self {
        let seconds = wait.as_secs() + 1;
        let time = plural(usize::try_from(seconds).unwrap_or(usize::MAX), "second");
        let message = format!("too many requests of this kind from you: wait {time}");
        Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message)
            .with(json!({ "retry_after": seconds }))
    }

    /// The `Retry-After` header, if the request may be repeated.
    pub(super) fn retry_after(&self) -> Option<(HeaderName, String)> {
        let said = self.more.as_ref().and_then(|it| it["retry_after"].as_u64());
        let usual = match self.status {
            StatusCode::TOO_MANY_REQUESTS => Some(1),
            StatusCode::SERVICE_UNAVAILABLE => Some(5),
            _ => None,
        };
        said.or(usual).map(|it| (RETRY_AFTER, it.to_string()))
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.status, AppendHeaders(self.retry_after()), Json(&self)).into_response()
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let status = match &refusal {
            Refusal::NoToken => StatusCode::UNAUTHORIZED,
            Refusal::WrongToken
            | Refusal::NotYourTurn
            | Refusal::ClaimOutOfTurn
            | Refusal::AccountNeeded => StatusCode::FORBIDDEN,
            Refusal::NoSeat(_) => StatusCode::NOT_FOUND,
            Refusal::TooLong { .. } | Refusal::Unprintable { .. } => StatusCode::BAD_REQUEST,
            Refusal::Illegal(_) | Refusal::NotAllowed(_) => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::CONFLICT,
        };
        let more = match &refusal {
            Refusal::StalePly { ply, .. } => Some(json!({ "ply": ply })),
            Refusal::Illegal(it) | Refusal::NotAllowed(it) => more_of(it),
            _ => None,
        };
        Self { status, code: refusal.code().into(), message: refusal.to_string(), more }
    }
}

/// The code that the rules declare for a refusal, and the refutation behind it.
fn more_of(refused: &Refused) -> Option<Value> {
    let mut more = serde_json::Map::new();
    if let Some(reason) = &refused.reason {
        more.insert("reason".into(), json!(reason));
    }
    if !refused.because.is_empty() {
        more.insert("because".into(), json!(refused.because));
    }
    (!more.is_empty()).then_some(Value::Object(more))
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Damaged { .. } => {
                tracing::error!(%error, "a damaged log");
                Self::log_damaged(error.to_string())
            }
            _ => Self::unavailable(),
        }
    }
}

impl From<Conflict> for Problem {
    fn from(_: Conflict) -> Self {
        let message = "another server has this game: ask again";
        Self::conflict("game_moved", message)
    }
}
