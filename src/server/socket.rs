//! The WebSocket of a game: its events as they happen, and the client's moves.
//!
//! The server sends events `{v, at, t, d}`, numbered without gaps; a client that reconnects with `?v=N`
//! gets the events it missed, or `resync` with the whole state. A client may send
//! `{"t":"auth","d":{"token":...}}`, then `{"t":"move","a":7,"d":{"uci":...,"expected_ply":...,
//! "client_move_id":...}}`; it is answered by `{"t":"ack","a":7,"d":...}` once the move is durable,
//! or by `{"t":"error","a":7,"d":...}`. The token goes into a message, never into the address.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Query};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout, timeout_at};
use utoipa::{IntoParams, ToSchema};

use super::accept::Connected;
use super::api::guard::Caller;
use super::core::{Act, Answer, Input};
use super::live::command::Lines;
use super::live::{FRAME, Feed};
use super::presence::{OpenSocket, Present};
use super::problem::Problem;
use super::web::Web;
use crate::presets::plain_json_error;

/// Maximum size of a message, in bytes.
const MESSAGE: usize = 4096;
/// Maximum number of messages that a client may send in a second, pings and pongs included.
const RATE: u32 = 20;
/// Interval at which the server pings the client.
const PING: Duration = Duration::from_secs(15);
/// Time without a message or a pong from the client, after which the server closes.
const MAX_SILENCE: Duration = Duration::from_secs(40);
/// Maximum time to write one message to the network.
const SLOW: Duration = Duration::from_secs(10);
/// Time for a client to authenticate as a player, if the game has too many watchers.
const AUTH: Duration = Duration::from_secs(10);
/// The code of the problem that a game has too many watchers.
pub(super) const TOO_MANY_WATCHERS: &str = "too_many_watchers";

/// The last event that a client has.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct LastEvent {
    /// The number of that event. The client is sent all events after it, or `resync` with the whole state if they are
    /// too many or no number is given.
    v: Option<u64>,
}

/// A message from a client: JSON text, 4 KiB at most, 20 a second.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "t", rename_all = "snake_case")]
#[allow(
    dead_code,
    reason = "for the API description; `Incoming` is parsed instead, for precise errors"
)]
pub(super) enum FromClient {
    /// Authenticates the messages that follow. The token of a seat or an account is sent here, never in the address.
    Auth {
        /// Any value that the client chooses: the answer repeats it.
        a: Option<Value>,
        d: AuthSaid,
    },
    /// A move, played once however often it is sent under one `client_move_id`.
    Move { a: Option<Value>, d: MoveSaid },
    /// Asks whether the server is alive.
    Ping { a: Option<Value> },
}

/// A message to a client: one of these, or an event of the game as `{v, at, t, d}` without gaps in `v`,
/// as `/api/v1/games/{id}/events` lists them.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "t", rename_all = "snake_case")]
#[allow(dead_code, reason = "for the API description; messages are built with `json!` instead")]
pub(super) enum FromServer {
    /// The whole state, as `GET /api/v1/games/{id}?lines=100` has it: the client must drop its earlier state.
    /// Without `d`, if it is longer than a message may be (256 KiB): then it must be fetched from there.
    Resync { v: u64, d: Option<Value> },
    /// The request was carried out, and is durable.
    Ack { a: Value, d: Done },
    /// The request was refused.
    Error { a: Value, d: Problem },
    /// The answer to `ping`, with the players and watchers that are connected.
    Pong { a: Value, d: Present },
}

/// What an acknowledged request has done.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "for the API description")]
pub(super) enum Done {
    Move(Answer),
    Auth {},
}

#[derive(Debug, Serialize, ToSchema)]
#[allow(dead_code, reason = "for the API description")]
pub(super) struct AuthSaid {
    token: String,
}

/// A message from a client.
#[derive(Debug, Deserialize)]
struct Incoming {
    t: String,
    #[serde(default)]
    a: Value,
    #[serde(default)]
    d: Value,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct MoveSaid {
    /// The action in UCI; SAN is accepted, too.
    uci: String,
    /// Number of actions that the client has seen; the request is refused if it is not the current number.
    expected_ply: Option<usize>,
    /// The client's id for this request: a repeated request is carried out once and answered alike.
    client_move_id: Option<String>,
}

/// A WebSocket: the events of the game as they happen, and the client's moves. Messages are
/// `FromClient` and `FromServer`. The server closes with 4000 (it is stopping, or too many messages wait
/// for the client: reconnect with `?v=N`), 4001 (the client was silent for 40 seconds: answer pings), 4002
/// (more than 20 messages in a second, pings included), 4003 (too many watch this game: players are let in
/// if their first message is `auth`) or 1003 (a binary message). A message of more than 4 KiB ends the
/// connection without a code.
#[utoipa::path(get, path = "/ws/v1/games/{id}",
    params(("id" = String, Path, description = "The game"), LastEvent),
    responses(
        (status = 101, description = "The connection is a WebSocket from here on"),
        (status = 400, description = "The request is not a WebSocket handshake", body = Problem),
        (status = 403, description = "The origin is not on the server's list", body = Problem),
        (status = 404, description = "There is no such game", body = Problem),
        (status = 429, description = "Too many sockets are open from your address", body = Problem),
    ),
    extensions(("x-websocket" = json!({
        "client": { "$ref": "#/components/schemas/FromClient" },
        "server": { "$ref": "#/components/schemas/FromServer" },
    }))),
)]
pub(super) async fn open(
    web: Web,
    Path(id): Path<String>,
    Query(last): Query<LastEvent>,
    caller: Caller,
    connected: Option<Extension<Connected>>,
    upgrade: WebSocketUpgrade,
) -> Result<Response, Problem> {
    let held = web.hold_open(&caller)?;
    let feed = match web.host.watch(&id, last.v, None).await {
        Err(problem) if problem.code == TOO_MANY_WATCHERS => None,
        watched => Some(watched?),
    };
    // Small buffers: thousands of sockets are mostly silent.
    let upgrade = upgrade
        .max_message_size(MESSAGE)
        .max_frame_size(MESSAGE)
        .read_buffer_size(MESSAGE)
        .write_buffer_size(0)
        // One message is written at a time: this is the buffer for a client that does not read.
        .max_write_buffer_size(FRAME + MESSAGE);
    Ok(upgrade.on_upgrade(move |socket| async move {
        let presence = web.host.presence.enter(&id);
        let window = Instant::now();
        let mut client = Client { web, id, socket, token: None, presence, window, received: 0 };
        if let Some(feed) = client.admitted(feed, last.v).await {
            client.run(feed).await;
        }
        // From here on the connection no longer counts against the limits of the address.
        drop((held, connected));
    }))
}

struct Client {
    web: Web,
    id: String,
    socket: WebSocket,
    /// The token that was sent. It is looked up for each move, since its device may have been logged out meanwhile, or
    /// its account closed.
    token: Option<String>,
    presence: OpenSocket,
    /// The start of the second whose messages are counted.
    window: Instant,
    /// The number of messages received in that second.
    received: u32,
}

/// The connection is over.
struct Gone;

impl Client {
    /// The feed of the game. If the game has too many watchers, only players get one: the first message must
    /// authenticate the client as one of them.
    async fn admitted(&mut self, feed: Option<Feed>, last: Option<u64>) -> Option<Feed> {
        if feed.is_some() {
            return feed;
        }
        let deadline = Instant::now() + AUTH;
        while let Ok(Some(Ok(message))) = timeout_at(deadline, self.socket.recv()).await {
            let is_text = matches!(message, Message::Text(_));
            self.receive(message).await.ok()?;
            if !is_text {
                continue;
            }
            if let Ok(credential @ Some(_)) = self.web.credential(self.token.as_deref()).await
                && let Ok(feed) = self.web.host.watch(&self.id, last, credential).await
            {
                return Some(feed);
            }
            break;
        }
        self.close(4003, "too many watch this game").await;
        None
    }

    async fn run(&mut self, feed: Feed) {
        let Feed { missed, mut coming } = feed;
        for frame in missed {
            if self.send(frame).await.is_err() {
                return;
            }
        }
        let mut last_received = Instant::now();
        let mut ping = tokio::time::interval(PING);
        loop {
            let done = tokio::select! {
                frame = coming.recv() => match frame {
                    Some(frame) => self.send(frame).await,
                    None => return self.close(4000, "come back with ?v=N").await,
                },
                message = self.socket.recv() => {
                    last_received = Instant::now();
                    match message {
                        Some(Ok(message)) => self.receive(message).await,
                        _ => return,
                    }
                }
                _ = ping.tick() => match last_received.elapsed() > MAX_SILENCE {
                    true => return self.close(4001, "silent for too long").await,
                    false => self.put(Message::Ping(Vec::new().into())).await,
                },
            };
            if done.is_err() {
                return;
            }
        }
    }

    async fn receive(&mut self, message: Message) -> Result<(), Gone> {
        if self.window.elapsed() >= Duration::from_secs(1) {
            self.window = Instant::now();
            self.received = 0;
        }
        self.received += 1;
        if self.received > RATE {
            self.close(4002, "too many messages").await;
            return Err(Gone);
        }
        let text = match message {
            Message::Text(text) => text,
            Message::Close(_) => return Err(Gone),
            Message::Binary(_) => {
                self.close(1003, "text only").await;
                return Err(Gone);
            }
            Message::Ping(_) | Message::Pong(_) => return Ok(()),
        };
        let answer = match serde_json::from_str::<Incoming>(&text) {
            Err(error) => failure(&Value::Null, &malformed(&error)),
            Ok(message) => self.answer(message).await,
        };
        self.send(answer.to_string().into()).await
    }

    async fn answer(&mut self, message: Incoming) -> Value {
        let done = match message.t.as_str() {
            "ping" => return json!({ "t": "pong", "a": message.a, "d": self.presence.view() }),
            "auth" => match message.d["token"].as_str() {
                Some(token) => self.authenticate(token).await.map(|()| json!({})),
                None => Err(Problem::bad("missing_field", "auth needs `token`")),
            },
            "move" => self.play(message.d).await,
            other => Err(Problem::bad("no_such_message", format!("there is no message {other}"))),
        };
        match done {
            Ok(answer) => json!({ "t": "ack", "a": message.a, "d": answer }),
            Err(problem) => failure(&message.a, &problem),
        }
    }

    /// Accepts a token. If it plays seats of the game, the client counts as their player from now on.
    async fn authenticate(&mut self, token: &str) -> Result<(), Problem> {
        let credential = self.web.credential(Some(token)).await?;
        self.token = Some(token.to_owned());
        let state = self.web.host.state(&self.id, credential, None, Lines::Last(0)).await;
        // If the state cannot be read now, the token is accepted all the same, and the client counts as a watcher.
        let sides = state.ok().and_then(|mut it| serde_json::from_value(it["you"].take()).ok());
        self.presence.set_sides(sides.unwrap_or_default());
        Ok(())
    }

    async fn play(&mut self, data: Value) -> Result<Value, Problem> {
        let parsed = serde_json::from_value(data).map_err(|it| malformed(&it));
        let MoveSaid { uci, expected_ply, client_move_id } = parsed?;
        let act = Act::Move { uci, expected_ply };
        let credential = self.web.credential(self.token.as_deref()).await?;
        let input = Input::Act { token: credential, id: client_move_id, act };
        Ok(json!(self.web.host.step(&self.id, input).await?))
    }

    async fn send(&mut self, frame: Arc<str>) -> Result<(), Gone> {
        self.put(Message::Text(Utf8Bytes::from(&*frame))).await
    }

    async fn put(&mut self, message: Message) -> Result<(), Gone> {
        match timeout(SLOW, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Gone),
        }
    }

    async fn close(&mut self, code: u16, reason: &'static str) {
        let frame = CloseFrame { code, reason: reason.into() };
        // If the client is gone already, the close message need not be sent.
        let _ = self.put(Message::Close(Some(frame))).await;
    }
}

fn malformed(error: &serde_json::Error) -> Problem {
    Problem::bad("malformed_json", plain_json_error(&error.to_string()))
}

fn failure(a: &Value, problem: &Problem) -> Value {
    json!({ "t": "error", "a": a, "d": problem })
}
