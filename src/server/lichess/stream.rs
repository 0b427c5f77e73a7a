//! Streams of lines: JSON, one object a line, and an empty line every seven seconds so that no
//! client takes silence for a lost connection.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::LichessProblem;
use super::account::Account;
use super::challenges::{Challenges, GAMES, Listener, game_event, line, started};
use crate::server::api::guard::Caller;
use crate::server::library::lock;
use crate::server::live::command::Lines;
use crate::server::problem::Problem;
use crate::server::store::GameState;
use crate::server::web::Web;

const SILENCE: Duration = Duration::from_secs(7);
/// Maximum number of lines that wait to be read by one client.
const BACKLOG: usize = 64;

/// A channel and the response that streams it, which begins with the `first` values. `held` is dropped with the
/// stream.
pub(super) fn lines(first: &[Value], held: impl Send + 'static) -> (Listener, Response) {
    let (sender, inbox) = mpsc::channel::<Bytes>(BACKLOG + first.len());
    for value in first {
        // The channel is new and has room for all of them.
        let _ = sender.try_send(line(value));
    }
    let stream = stream::unfold((inbox, held), |(mut inbox, held)| async move {
        match timeout(SILENCE, inbox.recv()).await {
            Ok(Some(line)) => Some((Ok::<_, Infallible>(line), (inbox, held))),
            Ok(None) => None,
            Err(_) => Some((Ok(Bytes::from_static(b"\n")), (inbox, held))),
        }
    });
    let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
    (sender, (kind, Body::from_stream(stream)).into_response())
}

/// Removes the closed listeners of an account when one of its streams ends.
struct ListenerGuard {
    challenges: Arc<Challenges>,
    user: String,
}

impl Drop for ListenerGuard {
    fn drop(&mut self) {
        let mut all = lock(&self.challenges.listeners);
        let Some(own) = all.get_mut(&self.user) else { return };
        own.retain(|it| !it.is_closed());
        if own.is_empty() {
            all.remove(&self.user);
        }
    }
}

/// The events of an account: challenges, games that begin and end.
pub(super) async fn events(
    State(web): State<Web>,
    caller: Caller,
    account: Account,
) -> Result<Response, LichessProblem> {
    let user = account.id();
    let place = web.hold_open(&caller)?;
    web.challenges.forget_old();
    let games = under_way(&web, &user).await?;
    let waiting = lock(&web.challenges.waiting);
    let mut first: Vec<Value> =
        waiting.values().filter(|it| it.is_for(&user)).map(|it| it.event("challenge")).collect();
    drop(waiting);
    first.extend(games.iter().map(|(id, color)| started(id, color)));
    let guard = ListenerGuard { challenges: Arc::clone(&web.challenges), user: user.clone() };
    let (sender, answer) = lines(&first, (guard, place));
    lock(&web.challenges.listeners).entry(user.clone()).or_default().push(sender.clone());
    let (challenges, mut ended) = (Arc::clone(&web.challenges), web.host.ended.subscribe());
    tokio::spawn(async move {
        loop {
            let id = tokio::select! {
                id = ended.recv() => id,
                () = sender.closed() => return,
            };
            match id {
                Ok(id) => challenges.end(&id, &user),
                // Missed events are sent when the account asks for its games.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    });
    Ok(answer)
}

/// The games that an account plays: those in the store, and for accounts of earlier versions those since the
/// server started.
async fn under_way(web: &Web, user: &str) -> Result<Vec<(String, &'static str)>, Problem> {
    let mut games = lock(&web.challenges.games).get(user).cloned().unwrap_or_default();
    for game in web.games_of(user, GAMES).await? {
        let side = game.accounts.iter().position(|it| it.as_deref() == Some(user));
        let color = match (game.state, side) {
            (GameState::Playing, Some(0)) => "white",
            (GameState::Playing, Some(_)) => "black",
            _ => continue,
        };
        if games.iter().all(|it| it.0 != game.id) {
            games.push((game.id, color));
        }
    }
    Ok(games)
}

/// The games of an account that are under way.
pub(super) async fn playing(
    State(web): State<Web>,
    account: Account,
) -> Result<Json<Value>, LichessProblem> {
    let games = under_way(&web, &account.id()).await?;
    let mut playing: Vec<Value> = Vec::new();
    for (id, color) in games {
        // The other side may have ended it while no client listened here.
        match web.host.state(&id, None, None, Lines::Last(0)).await {
            Ok(state) if !state["result"].is_null() => web.challenges.end(&id, &account.id()),
            _ => playing.push(game_event("", &id, color)["game"].take()),
        }
    }
    Ok(Json(json!({ "nowPlaying": playing })))
}
