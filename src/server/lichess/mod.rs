//! The part of lichess' API that its clients need to play, so that they work unmodified: accounts,
//! challenges, a stream of events, a stream of a game, moves. An account's token acts for its seats.
//!
//! Challenges and listeners are held only in memory: after a restart a challenge must be made again.
//! Deliberately absent: tournaments, and everything else that is not playing a game.

mod account;
mod challenge;
pub(super) mod challenges;
mod computer;
mod formats;
mod game;
mod stream;
mod terms;

use axum::Json;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::json;

use super::problem::Problem;
use super::web::Web;
pub use challenges::Challenges;

/// The routes that answer at once, and the streams, which have no time-out.
pub(super) fn routes() -> (Router<Web>, Router<Web>) {
    let mut streams = Router::new().route("/api/stream/event", get(stream::events));
    let tokens = DefaultBodyLimit::max(account::TOKENS_BODY);
    let mut router = Router::new()
        .route("/api/account", get(account::show))
        .route("/api/account/playing", get(stream::playing))
        .route("/api/bot/account/upgrade", post(account::upgrade))
        .route("/api/token/test", post(account::test_tokens).layer(tokens))
        .route("/api/challenge/open", post(challenge::open))
        .route("/api/challenge/ai", post(computer::create))
        .route("/api/challenge/{id}", post(challenge::create))
        .route("/api/challenge/{id}/accept", post(challenge::accept))
        .route("/api/challenge/{id}/decline", post(challenge::remove))
        .route("/api/challenge/{id}/cancel", post(challenge::remove))
        .route("/game/export/{id}", get(game::export));
    for role in ["board", "bot"] {
        let path = |rest: &str| format!("/api/{role}/game/{rest}");
        streams = streams.route(&path("stream/{id}"), get(game::stream));
        router = router
            .route(&path("{id}/move/{uci}"), post(game::play))
            .route(&path("{id}/{act}"), post(game::act))
            .route(&path("{id}/{act}/{answer}"), post(game::answer));
    }
    (router, streams)
}

/// Whether a path is one of lichess' API, whose problems have a form of their own.
fn is_lichess(path: &str) -> bool {
    let is_api = path.starts_with("/api/") && !path.starts_with("/api/v1/");
    is_api || path.starts_with("/game/export/")
}

/// The answer to a request that no handler has answered, in the form that clients of its address read.
pub(super) fn unhandled(path: &str, problem: Problem) -> Response {
    if is_lichess(path) { LichessProblem(problem).into_response() } else { problem.into_response() }
}

/// The answer of most handlers.
type Reply = Result<Json<serde_json::Value>, LichessProblem>;

/// A problem in the form that lichess' clients read.
#[derive(Debug)]
pub(in crate::server) struct LichessProblem(Problem);

impl<T: Into<Problem>> From<T> for LichessProblem {
    fn from(problem: T) -> Self {
        Self(problem.into())
    }
}

impl IntoResponse for LichessProblem {
    fn into_response(self) -> Response {
        // Lichess answers 400 where a move or an act is refused.
        let status = match self.0.status {
            StatusCode::FORBIDDEN | StatusCode::CONFLICT | StatusCode::UNPROCESSABLE_ENTITY => {
                StatusCode::BAD_REQUEST
            }
            other => other,
        };
        let body = json!({ "error": self.0.message, "code": self.0.code });
        (status, AppendHeaders(self.0.retry_after()), Json(body)).into_response()
    }
}

fn ok() -> Json<serde_json::Value> {
    Json(json!({ "ok": true }))
}
