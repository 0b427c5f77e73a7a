//! Streams of lines: JSON, one object a line, and an empty line every seven seconds so that nobody
//! takes silence for death.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::Hall;
use super::account::Account;
use crate::server::api::Web;
use crate::server::library::lock;

const SILENCE: Duration = Duration::from_secs(7);
/// As many lines as wait for one who listens.
const BACKLOG: usize = 64;

pub(super) type Listener = mpsc::Sender<Bytes>;

pub(super) fn line(value: &Value) -> Bytes {
    Bytes::from(format!("{value}\n"))
}

/// A channel and the answer that sends what goes into it.
pub(super) fn lines() -> (Listener, Response) {
    let (sender, inbox) = mpsc::channel::<Bytes>(BACKLOG);
    let stream = stream::unfold(inbox, |mut inbox| async move {
        match timeout(SILENCE, inbox.recv()).await {
            Ok(Some(line)) => Some((Ok::<_, Infallible>(line), inbox)),
            Ok(None) => None,
            Err(_) => Some((Ok(Bytes::from_static(b"\n")), inbox)),
        }
    });
    let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
    (sender, (kind, Body::from_stream(stream)).into_response())
}

/// What concerns an account: challenges, games that begin and end.
pub(super) async fn events(State(web): State<Web>, account: Account) -> Response {
    let (sender, answer) = lines();
    let user = account.id();
    let waiting = lock(&web.hall.challenges);
    let mut first: Vec<Value> =
        waiting.values().filter(|it| it.is_for(&user)).map(|it| it.event("challenge")).collect();
    drop(waiting);
    let games = lock(&web.hall.games).get(&user).cloned().unwrap_or_default();
    first.extend(games.iter().map(|(id, color)| started(id, color)));
    for event in first {
        // Who is sent more than fits comes back and is told again.
        let _ = sender.try_send(line(&event));
    }
    lock(&web.hall.listeners).entry(user).or_default().push(sender);
    answer
}

fn started(id: &str, color: &str) -> Value {
    game_event("gameStart", id, color)
}

fn game_event(kind: &str, id: &str, color: &str) -> Value {
    json!({ "type": kind, "game": { "id": id, "gameId": id, "fullId": id, "color": color } })
}

impl Hall {
    /// Tells all that listen for an account.
    pub(super) fn tell(&self, user: &str, event: &Value) {
        if let Some(listeners) = lock(&self.listeners).get_mut(user) {
            let text = line(event);
            listeners.retain(|it| it.try_send(text.clone()).is_ok());
        }
    }

    pub(super) fn begin(&self, id: &str, players: &[(String, &'static str)]) {
        for (user, color) in players {
            let mut games = lock(&self.games);
            games.entry(user.clone()).or_default().push((id.to_owned(), color));
            drop(games);
            self.tell(user, &started(id, color));
        }
    }

    pub(super) fn end(&self, id: &str, user: &str) {
        let mut all = lock(&self.games);
        let Some(games) = all.get_mut(user) else { return };
        let Some(at) = games.iter().position(|it| it.0 == id) else { return };
        let (_, color) = games.remove(at);
        drop(all);
        self.tell(user, &game_event("gameFinish", id, color));
    }
}
