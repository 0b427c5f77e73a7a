//! The computer as the recipient of challenges: it accepts at once, at the requested level.
//!
//! Clients challenge it as on lichess (`/api/challenge/ai`), or like an account, by the names `computer-1` to
//! `computer-8`, which no account is given. Deliberately absent: how it plays (`server::computer`).

use axum::Json;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Map, Value, json};

use super::LichessProblem;
use super::account::Account;
use super::formats::{color, fields, number, person};
use super::terms::Terms;
use crate::opponent::Level;
use crate::server::accounts::COMPUTER;
use crate::server::api::guard::Caller;
use crate::server::computer::seat;
use crate::server::ids::new_id;
use crate::server::limit::Cost;
use crate::server::problem::Problem;
use crate::server::web::Web;

/// The level of the computer that goes by this name.
pub(super) fn level_of(name: &str) -> Option<Level> {
    let name = name.to_ascii_lowercase();
    let number = name.strip_prefix(COMPUTER)?;
    let level = number.parse().ok().and_then(Level::new)?;
    // Each level has one name: neither `computer-02` nor `computer-+2` is one.
    (level.number().to_string() == number).then_some(level)
}

/// A game against the computer, at the `level` that is asked for.
pub(super) async fn create(
    web: Web,
    caller: Caller,
    from: Account,
    headers: HeaderMap,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), LichessProblem> {
    web.admit(&caller, Cost::Game)?;
    web.admit_account(&from.id(), Cost::Game)?;
    let fields = fields(&headers, &body)?;
    let level = number(&fields, "level").and_then(|it| u8::try_from(it).ok());
    let bad = || {
        let message = "the computer plays at a level from 1 to 8: give `level`";
        Problem::unprocessable("bad_level", message)
    };
    let level = level.and_then(Level::new).ok_or_else(bad)?;
    let mut game = begin(&web, &from, level, &fields).await?;
    game["status"] = json!({ "id": 20, "name": "started" });
    game["source"] = json!("ai");
    Ok((StatusCode::CREATED, Json(game)))
}

/// A challenge to the computer by its name, which is accepted at once.
pub(super) async fn challenged(
    web: &Web,
    from: &Account,
    level: Level,
    fields: &Map<String, Value>,
) -> Result<Value, LichessProblem> {
    let mut body = begin(web, from, level, fields).await?;
    let name = format!("{COMPUTER}{}", level.number());
    body["destUser"] = json!({ "id": name, "name": name, "title": "BOT", "online": true });
    body["challenge"] = body.clone();
    Ok(body)
}

/// Makes the game, and returns it in the form in which challenges are reported.
async fn begin(
    web: &Web,
    from: &Account,
    level: Level,
    fields: &Map<String, Value>,
) -> Result<Value, LichessProblem> {
    let terms = Terms::read(web, fields).await?;
    if terms.rated {
        return Err(Problem::not_rated("be between two people, without the computer").into());
    }
    let id = new_id()?;
    let color = color(fields, &id);
    let own = usize::from(color == "black");
    let mut seats = vec![(own, from.seat())];
    for side in (0..terms.sides).filter(|it| *it != own) {
        seats.push((side, seat(level)?));
    }
    let mut body = terms.body(&id);
    body["status"] = json!("accepted");
    body["challenger"] = person(from);
    body["color"] = json!(color);
    body["finalColor"] = json!(color);
    let options = terms.options(web.host.library.own_hash(), seats);
    web.host.create_as(&id, options).await?;
    web.challenges.begin(&id, &[(from.id(), color)]);
    Ok(body)
}
