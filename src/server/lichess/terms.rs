//! The terms of a challenge, read from a request and checked.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::formats::{is_true, number, speed, text, time_control, variant};
use crate::server::core::{Control, Seat, Setup};
use crate::server::options::GameOptions;
use crate::server::problem::Problem;
use crate::server::web::Web;

/// The terms of a challenge, without its recipient.
#[derive(Debug, Clone)]
pub(super) struct Terms {
    pub(super) variant: String,
    pub(super) fen: Option<String>,
    pub(super) clock: Option<Control>,
    pub(super) rated: bool,
    /// Number of sides.
    pub(super) sides: usize,
}

impl Terms {
    /// Reads the terms from the fields of a challenge, and checks them now rather than when it is accepted.
    ///
    /// # Errors
    /// There is no such game or position, the clock is not valid, or such a game cannot be rated.
    pub(super) async fn read(web: &Web, fields: &Map<String, Value>) -> Result<Self, Problem> {
        let variant = match text(fields, "variant").unwrap_or("standard") {
            "standard" | "fromPosition" => "chess".to_owned(),
            other => other.to_owned(),
        };
        let rules = web.host.library.own_hash();
        let ruleset = web.host.ruleset(&rules, &variant, &[]).await?;
        let fen = text(fields, "fen").map(str::to_owned);
        if let Some(fen) = fen.clone() {
            let ruleset = Arc::clone(&ruleset);
            let start = move || ruleset.start(Some(&fen)).map(|_| ());
            let started = web.host.pool.run(web.host.slow_lane(&rules), start).await?;
            started.map_err(|it| Problem::unprocessable("bad_position", it.to_string()))?;
        }
        let clock = clock(fields).map_err(|it| Problem::unprocessable("bad_clock", it))?;
        let rated = match fields.get("rated") {
            Some(Value::Bool(it)) => *it,
            other => other.and_then(Value::as_str).is_some_and(is_true),
        };
        let sides = ruleset.sides().len();
        if rated && (fen.is_some() || sides != 2) {
            return Err(Problem::not_rated("have two sides, and the game's own position"));
        }
        Ok(Self { variant, fen, clock, rated, sides })
    }

    /// A challenge or game on these terms, as clients get it, with its id; its players are still to be added.
    pub(super) fn body(&self, id: &str) -> Value {
        json!({
            "id": id, "url": format!("/game/{id}"), "status": "created", "rated": self.rated,
            "variant": variant(&self.variant), "speed": speed(self.clock),
            "timeControl": time_control(self.clock), "initialFen": self.fen,
        })
    }

    /// The options of a game on these terms, by the rules with this hash.
    pub(super) fn options(&self, rules: String, seats: Vec<(usize, Seat)>) -> GameOptions {
        let (game, fen) = (self.variant.clone(), self.fen.clone());
        let Self { clock, rated, .. } = *self;
        let setup = Setup { game, fen, rules, clock, rated, chat: true, ..Setup::default() };
        GameOptions { setup, seats, ..GameOptions::default() }
    }
}

/// The clock of a challenge: a time and an increment, else days for every turn. The error is a sentence.
fn clock(fields: &Map<String, Value>) -> Result<Option<Control>, String> {
    let limit = count(fields, "clock.limit")?;
    let increment = count(fields, "clock.increment")?;
    let clock = match (limit, count(fields, "days")?) {
        // With a limit of 0, a side begins with its increment.
        (Some(limit), _) => Control {
            initial: if limit == 0 { increment.unwrap_or(0) } else { limit }.saturating_mul(1000),
            increment: increment.unwrap_or(0).saturating_mul(1000),
            delay: 0,
        },
        (None, Some(0)) => return Err("`days` for a turn: 1 at least".to_owned()),
        (None, Some(days)) => Control::correspondence(days),
        (None, None) if increment.is_some() => {
            return Err("`clock.increment` needs `clock.limit`, too".to_owned());
        }
        (None, None) => return Ok(None),
    };
    if clock.initial == 0 && clock.delay == 0 {
        return Err("`clock.limit` or `clock.increment`: 1 second at least".to_owned());
    }
    clock.fault().map_or(Ok(Some(clock)), Err)
}

/// The number in a field; `None` if the field is absent or empty.
fn count(fields: &Map<String, Value>, key: &str) -> Result<Option<u64>, String> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(it)) if it.is_empty() => Ok(None),
        Some(_) => match number(fields, key) {
            None => Err(format!("`{key}` is not a whole number")),
            found => Ok(found),
        },
    }
}
