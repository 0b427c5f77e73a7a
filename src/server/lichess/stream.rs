//! Streams of lines: JSON, one object a line, and an empty line every seven seconds so that no
//! client takes silence for a lost connection.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{interval, timeout};

use super::account::Account;
use super::challenges::{Challenges, GAMES, Listener, Playing, game, line};
use super::formats::color_of;
use super::{LichessProblem, Reply};
use crate::server::accounts::by_token;
use crate::server::api::guard::Caller;
use crate::server::live::command::Lines;
use crate::server::lock::lock;
use crate::server::problem::Problem;
use crate::server::store::{GameState, Summary};
use crate::server::web::Web;

/// Time without a line after which an empty one is sent; also how often a stream of events looks whether its device is
/// logged out, and for games of other nodes.
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
    #[expect(dead_code, reason = "the stream's task ends when it is dropped")]
    alive: oneshot::Sender<()>,
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

/// The events of an account: challenges, games that begin and end. The stream ends when its device is logged out.
pub(super) async fn events(
    web: Web,
    caller: Caller,
    account: Account,
) -> Result<Response, LichessProblem> {
    let user = account.id();
    let place = web.hold_open(&caller)?;
    web.challenges.forget_old();
    // Before the store is read, since a game may begin or end meanwhile.
    let (mut begun, mut ended) = (web.host.begun.subscribe(), web.host.ended.subscribe());
    let stored = stored_games(&web, &user).await?;
    let challenges = Arc::clone(&web.challenges);
    let (alive, mut closed) = oneshot::channel();
    let guard = ListenerGuard { challenges: Arc::clone(&challenges), user: user.clone(), alive };
    let open = |first: &[Value]| {
        let (listener, response) = lines(first, (guard, place));
        let own = listener.downgrade();
        (listener, (response, own))
    };
    let (answer, own) = challenges.listen(&user, stored, open);
    tokio::spawn(async move {
        let mut checks = interval(SILENCE);
        loop {
            // In this order, so that no game begins after its end.
            tokio::select! {
                biased;
                _ = &mut closed => return,
                game = begun.recv() => match game {
                    Ok(game) => challenges.begin(&game.id, &seats_of(&user, &game.accounts)),
                    // Missed starts and ends are reported when the account asks for its games.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                },
                id = ended.recv() => match id {
                    Ok(id) => challenges.end(&id, &user),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                },
                _ = checks.tick() => {
                    if is_logged_out(&web, &account).await {
                        challenges.unlisten(&user, &own);
                        return;
                    }
                    note_games_elsewhere(&web, &user).await;
                },
            }
        }
    });
    Ok(answer)
}

/// Reports the games of an account that have begun or ended on other nodes, which announce them there alone.
async fn note_games_elsewhere(web: &Web, user: &str) {
    if web.host.cluster().is_some()
        && let Ok(stored) = stored_games(web, user).await
    {
        web.challenges.under_way(user, stored);
    }
}

/// Whether the device that an account was found by is logged out by now, or the account closed. False if the store
/// cannot tell.
async fn is_logged_out(web: &Web, account: &Account) -> bool {
    let Some(device) = account.device.clone() else { return false };
    matches!(web.host.reads().ask(move |store| by_token(store, &device)).await, Ok(None))
}

/// The games in the store that an account plays; none for accounts of earlier versions. Games that are over are no longer
/// held for it.
async fn stored_games(web: &Web, user: &str) -> Result<Vec<Playing>, Problem> {
    for game in web.games_of(user, Some(GameState::Over), None, GAMES).await? {
        web.challenges.end(&game.id, user);
    }
    let playing = web.games_of(user, Some(GameState::Playing), None, GAMES).await?.into_iter();
    let seat = |it: Summary| Some((it.id, seats_of(user, &it.accounts).first()?.1));
    Ok(playing.filter_map(seat).collect())
}

/// The account once for each side that it plays, with the colour. `accounts` has the accounts of the sides.
fn seats_of(user: &str, accounts: &[Option<String>]) -> Vec<(String, &'static str)> {
    let own = (0..).zip(accounts).filter(|it| it.1.as_deref() == Some(user));
    own.map(|it| (user.to_owned(), color_of(it.0))).collect()
}

/// The games of an account that are under way.
pub(super) async fn playing(web: Web, account: Account) -> Reply {
    let stored = stored_games(&web, &account.id()).await?;
    let mut playing: Vec<Value> = Vec::new();
    for (id, color) in web.challenges.under_way(&account.id(), stored) {
        // The game may have ended while no client of the account listened here.
        match web.host.state(&id, None, None, Lines::Last(0)).await {
            Ok(state) if !state["result"].is_null() => web.challenges.end(&id, &account.id()),
            _ => playing.push(game(&id, color)),
        }
    }
    Ok(Json(json!({ "nowPlaying": playing })))
}
