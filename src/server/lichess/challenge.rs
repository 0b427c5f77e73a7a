//! Requests about challenges: a game is proposed to a player, and accepted or declined.

use std::time::Instant;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query};
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::account::{Account, CLOSED, find};
use super::challenges::Challenge;
use super::formats::{color, color_of, fields};
use super::terms::Terms;
use super::{Reply, computer, ok};
use crate::server::api::games::may_join;
use crate::server::api::guard::Caller;
use crate::server::core::Input;
use crate::server::ids::new_id;
use crate::server::limit::Cost;
use crate::server::lock::lock;
use crate::server::problem::Problem;
use crate::server::web::{Web, to_the_end};

pub(super) async fn create(
    web: Web,
    Path(user): Path<String>,
    caller: Caller,
    from: Account,
    headers: HeaderMap,
    body: Bytes,
) -> Reply {
    web.admit(&caller, Cost::Game)?;
    web.admit_account(&from.id(), Cost::Game)?;
    let fields = fields(&headers, &body)?;
    if let Some(level) = computer::level_of(&user) {
        return Ok(Json(computer::challenged(&web, &from, level, &fields).await?));
    }
    let to = find(&web, &user).await?;
    let terms = Terms::read(&web, &fields).await?;
    web.may_play_with(&from, vec![to.id()]).await?;
    let are_two = from.id() != to.id();
    if terms.rated && !(are_two && [&from, &to].iter().all(|it| it.can_count().is_ok())) {
        let what = "be between two accounts, neither of them made by an earlier version";
        return Err(Problem::not_rated(what).into());
    }
    let id = new_id()?;
    let color = color(&fields, &id);
    let made = Instant::now();
    let (from, to) = (from.0, to.0);
    let challenge = Challenge { id, from, to, terms, color, made };
    let mut body = challenge.body();
    web.challenges.propose(challenge)?;
    body["challenge"] = body.clone();
    Ok(Json(body))
}

/// Makes a game with two free seats, for the first two players who accept it here or on the page.
pub(super) async fn open(web: Web, caller: Caller, headers: HeaderMap, body: Bytes) -> Reply {
    web.admit(&caller, Cost::Game)?;
    let terms = Terms::read(&web, &fields(&headers, &body)?).await?;
    if terms.rated {
        return Err(Problem::not_rated("be between two accounts: challenge one").into());
    }
    let options = terms.options(web.host.library.own_hash(), Vec::new());
    let id = web.host.create(options).await?;
    let mut body = terms.body(&id);
    body["challenger"] = Value::Null;
    body["destUser"] = Value::Null;
    body["color"] = json!("random");
    body["urlWhite"] = json!(format!("/game/{id}?color=white"));
    body["urlBlack"] = json!(format!("/game/{id}?color=black"));
    Ok(Json(body))
}

/// Removes a pending challenge and returns it, if there is one of this id for which `is_wanted` is true.
fn take(web: &Web, id: &str, is_wanted: impl Fn(&Challenge) -> bool) -> Result<Challenge, Problem> {
    web.challenges.forget_old();
    let mut waiting = lock(&web.challenges.waiting);
    let found = waiting.get(id).is_some_and(is_wanted).then(|| waiting.remove(id)).flatten();
    found.ok_or_else(|| Problem::not_found("no_such_challenge", "no such challenge"))
}

/// The query of a request to accept an open challenge: the wanted seat.
#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    color: Option<String>,
}

/// Takes a free seat of a game. `none` is the problem if there is no such game.
async fn take_seat(web: &Web, id: &str, wanted: Wanted, account: Account, none: Problem) -> Reply {
    let side = match wanted.color.as_deref() {
        Some("white") => Some(0),
        Some("black") => Some(1),
        _ => None,
    };
    let input = Input::Join {
        side,
        name: account.name.clone(),
        token: account.token.clone(),
        rated: false,
    };
    let join = async {
        may_join(web, &account, id).await?;
        web.host.step(id, input).await
    };
    let answer = match join.await {
        Err(problem) if problem.status == StatusCode::NOT_FOUND => return Err(none.into()),
        other => other?,
    };
    web.challenges.begin(id, &[(account.id(), color_of(answer.side))]);
    Ok(ok())
}

/// Accepts a challenge, or takes a free seat of the game with this id.
pub(super) async fn accept(
    web: Web,
    Path(id): Path<String>,
    Query(wanted): Query<Wanted>,
    caller: Caller,
    account: Account,
) -> Reply {
    web.admit(&caller, Cost::Game)?;
    web.admit_account(&account.id(), Cost::Game)?;
    // If the client goes away, a challenge that was taken still leads to a game, or is put back.
    to_the_end(accepted(web, id, wanted, account)).await
}

async fn accepted(web: Web, id: String, wanted: Wanted, account: Account) -> Reply {
    let challenge = match take(&web, &id, |it| it.is_for(&account.id())) {
        Ok(challenge) => challenge,
        Err(none) => return take_seat(&web, &id, wanted, account, none).await,
    };
    let made = match find(&web, &challenge.from.name).await {
        Err(problem) if problem.code == CLOSED => {
            web.challenges.notify_players(&challenge, "challengeCanceled");
            return Err(problem.into());
        }
        Err(problem) => Err(problem),
        // The game has the challenge's id, as clients expect.
        Ok(_) => web.host.create_as(&id, challenge.options(web.host.library.own_hash())).await,
    };
    if let Err(problem) = made {
        // The challenge can be accepted later, when the obstacle is gone.
        lock(&web.challenges.waiting).insert(id, challenge);
        return Err(problem.into());
    }
    let Challenge { from, to, color, .. } = challenge;
    let other = if color == "white" { "black" } else { "white" };
    web.challenges.begin(&id, &[(from.id(), color), (to.id(), other)]);
    Ok(ok())
}

/// Removes a challenge: its recipient declines it, or the challenger withdraws it.
pub(super) async fn remove(web: Web, Path(id): Path<String>, account: Account) -> Reply {
    let user = account.id();
    let challenge = take(&web, &id, |it| it.is_for(&user) || it.from.id() == user)?;
    let kind = if challenge.is_for(&user) { "challengeDeclined" } else { "challengeCanceled" };
    web.challenges.notify_players(&challenge, kind);
    Ok(ok())
}
