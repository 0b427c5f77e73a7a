//! The terms of a challenge, read from a request and checked.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::words::{number, text};
use crate::server::core::Control;
use crate::server::problem::Problem;
use crate::server::web::Web;

/// The terms of a challenge, without its recipient.
pub(super) struct Terms {
    pub(super) variant: String,
    pub(super) fen: Option<String>,
    pub(super) clock: Option<Control>,
    pub(super) rated: bool,
    /// Number of sides.
    pub(super) sides: usize,
}

impl Terms {
    /// Reads the terms from the fields of a challenge.
    ///
    /// # Errors
    /// There is no such game or position, or the clock is not valid: refused now, not when it is accepted.
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
        let timed = number(fields, "clock.limit").map(|limit| Control {
            initial: limit.saturating_mul(1000),
            increment: number(fields, "clock.increment").unwrap_or(0).saturating_mul(1000),
            delay: 0,
        });
        let clock = timed.or_else(|| number(fields, "days").map(Control::correspondence));
        if let Some(fault) = clock.and_then(|it| it.fault()) {
            return Err(Problem::unprocessable("bad_clock", fault));
        }
        let rated = match fields.get("rated") {
            Some(Value::Bool(it)) => *it,
            other => other.and_then(Value::as_str) == Some("true"),
        };
        let sides = ruleset.sides().len();
        if rated && (fen.is_some() || sides != 2) {
            return Err(Problem::not_rated("of two sides, from the game's own position"));
        }
        Ok(Self { variant, fen, clock, rated, sides })
    }
}
