//! The formats of lichess' API: how clocks, variants, speeds and colours are written and read there.

use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use serde_json::{Map, Value, json};

use crate::server::accounts::Account;
use crate::server::core::Control;
use crate::server::problem::Problem;

/// An account that challenges, or is challenged.
pub(super) fn person(account: &Account) -> Value {
    json!({ "id": account.id(), "name": account.name, "online": true })
}

pub(super) fn time_control(clock: Option<Control>) -> Value {
    let Some(it) = clock else { return json!({ "type": "unlimited" }) };
    if let Some(days) = it.days_a_turn() {
        return json!({ "type": "correspondence", "daysPerTurn": days });
    }
    json!({
        "type": "clock", "limit": it.initial / 1000, "increment": it.increment / 1000,
        "show": format!("{}+{}", it.initial / 60_000, it.increment / 1000),
    })
}

/// The speed of a game, in lichess' terms: by the time that a side has for forty moves.
pub(super) fn speed(clock: Option<Control>) -> &'static str {
    let timed = clock.filter(|it| it.days_a_turn().is_none());
    let Some(clock) = timed else { return "correspondence" };
    let each = clock.increment.saturating_add(clock.delay);
    match clock.initial.saturating_add(each.saturating_mul(40)) / 1000 {
        0..30 => "ultraBullet",
        30..180 => "bullet",
        180..480 => "blitz",
        480..1500 => "rapid",
        _ => "classical",
    }
}

/// The text in a field; `None` if the field is absent, empty or not a text.
pub(super) fn text<'a>(fields: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    fields.get(key).and_then(Value::as_str).filter(|it| !it.is_empty())
}

/// A variant as lichess writes one.
pub(super) fn variant(game: &str) -> Value {
    let key = if game == "chess" { "standard" } else { game };
    json!({ "key": key, "name": key, "short": key })
}

/// The fields of a request, from a form or from JSON.
pub(super) fn fields(headers: &HeaderMap, body: &Bytes) -> Result<Map<String, Value>, Problem> {
    let kind = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    if kind.starts_with("application/json") {
        let read = serde_json::from_slice::<Value>(body);
        let read = read.map_err(|it| Problem::bad("malformed_json", it.to_string()))?;
        return Ok(read.as_object().cloned().unwrap_or_default());
    }
    let pairs = form(body).ok_or_else(|| Problem::bad("bad_form", "the form cannot be read"))?;
    Ok(pairs.into_iter().map(|(key, value)| (key, Value::String(value))).collect())
}

/// The fields of a form; `None` if it cannot be read.
pub(super) fn form(body: &Bytes) -> Option<Vec<(String, String)>> {
    let uri = format!("/?{}", String::from_utf8_lossy(body)).parse().ok()?;
    axum::extract::Query::try_from_uri(&uri).ok().map(|it| it.0)
}

/// The number in a field, which a form has as a text.
pub(super) fn number(fields: &Map<String, Value>, key: &str) -> Option<u64> {
    match fields.get(key)? {
        Value::Number(it) => it.as_u64(),
        Value::String(it) => it.parse().ok(),
        _ => None,
    }
}

/// Whether a field or a parameter says yes. Programs in Python may write `True`.
pub(super) fn is_true(text: &str) -> bool {
    text.eq_ignore_ascii_case("true")
}

/// The colour of a side.
pub(super) fn color_of(side: usize) -> &'static str {
    if side == 0 { "white" } else { "black" }
}

/// The colour that the challenger wants, or else a random one, derived from the game's id.
pub(super) fn color(fields: &Map<String, Value>, id: &str) -> &'static str {
    match text(fields, "color") {
        Some("white") => "white",
        Some("black") => "black",
        _ if id.bytes().next_back().is_some_and(|it| it % 2 == 0) => "white",
        _ => "black",
    }
}
