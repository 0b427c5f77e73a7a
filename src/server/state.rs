//! A game as clients see it: everything that a page needs to draw it.

use serde_json::{Value, json};

use super::accounts::seat_key;
use super::board::Board;
use super::core::{Entry, Event, Rules, Seat, Table, TokenHash};
use super::live::Lines;
use super::pool::spent;
use super::problem::Problem;
use super::rating::{LEAST, unrated_key};
use super::store::{GameState, Summary};
use crate::game::Game;
use crate::presets::{Activation, Catalogue};

/// The state of a game; the position is that of `past` if it is given.
pub(super) fn of(
    id: &str,
    table: &mut Table<Board>,
    past: Option<Game>,
    token: Option<&TokenHash>,
    lines: Lines,
    now: u64,
) -> Result<Value, Problem> {
    let is_past = past.is_some();
    let active = Catalogue::active(past.as_ref().unwrap_or_else(|| table.rules().game()));
    let active = Activation::texts(&active);
    let mut past = past;
    let (mut position, unsaid) = match &mut past {
        Some(game) => (game.view(), table.rules().ruleset().unsaid(game)),
        None => {
            let board = table.rules_mut();
            (board.game_mut().view(), board.unsaid())
        }
    };
    // What ran out in a copy is told here alone.
    if let Some(game) = &mut past {
        game.check().map_err(|it| spent(it.resource))?;
    }
    // How a game ends may be more than its rules know: by time, by agreement.
    if table.outcome().is_some() && !is_past {
        position.legal.clear();
        position.claims.clear();
    }
    let summary = summary(id, table);
    let setup = table.setup();
    let legal: Vec<&str> = position.legal.iter().map(|it| it.uci.as_str()).collect();
    let all = table.lines();
    let (from, history) = match lines {
        Lines::Last(count) => {
            let from = all.len().saturating_sub(count);
            (from, &all[from..])
        }
        Lines::Texts => (0, &[][..]),
    };
    let offers = json!(table.offers());
    let offered: Vec<String> =
        serde_json::from_value(offers["presets"][1].clone()).unwrap_or_default();
    let named = [&active[..], table.presets(), &offered].concat();
    let moves: Vec<&str> = all[from..].iter().map(|it| &*it.uci).collect();
    Ok(json!({
        "id": id,
        "v": table.v(),
        "game": setup.game,
        "title": table.rules().title_of(&setup.game),
        "presets": table.presets(),
        "active": active,
        "named": table.rules().names_of(&named),
        "status": summary.state,
        "open": setup.open,
        "chat": table.chat(),
        "sides": setup.sides,
        "seats": summary.players,
        "accounts": accounts(table),
        "rated": setup.rated,
        "computers": table.seats().iter().map(|it| it.as_ref().is_some_and(|it| it.computer.is_some())).collect::<Vec<bool>>(),
        "you": token.map(|it| table.sides_of(it)).unwrap_or_default(),
        "ply": table.lines().len(),
        "turn": table.rules().side(),
        "lines_from": from,
        "moves": moves,
        "history": history,
        "clock": setup.clock,
        "clocks": table.clocks(now),
        "clock_runs": table.clock_runs(),
        "now": now,
        "offers": offers,
        "result": table.outcome(),
        "rematch": table.rematch(),
        "start_fen": setup.fen,
        "rules": setup.rules,
        "fen": position.fen,
        "fen_leaves_out": unsaid,
        "legal": legal,
        "position": position,
    }))
}

/// Some of the actions that were played in a game, from one of them on.
pub(super) fn lines(table: &Table<Board>, from: usize, limit: usize) -> Value {
    let all = table.lines();
    let from = from.min(all.len());
    let until = from.saturating_add(limit).min(all.len());
    json!({ "v": table.v(), "ply": all.len(), "from": from, "lines": all[from..until] })
}

/// A game in a line of a list.
pub(super) fn summary<R: Rules>(id: &str, table: &Table<R>) -> Summary {
    let setup = table.setup();
    let free = !setup.open && table.seats().iter().any(Option::is_none);
    let state = match table.outcome() {
        Some(_) => GameState::Over,
        None if free => GameState::Waiting,
        None => GameState::Playing,
    };
    let ended =
        table.outcome().map(|it| format!("{} by {}", it.outcome, it.reason).replace('_', " "));
    Summary {
        id: id.to_owned(),
        game: setup.game.clone(),
        presets: table.presets().to_vec(),
        state,
        players: table.seats().iter().map(|it| it.as_ref().map(|it| it.name.clone())).collect(),
        ply: table.lines().len(),
        result: ended,
        accounts: match accounts(table) {
            all if all.iter().all(Option::is_none) => Vec::new(),
            all => all,
        },
        rated: setup.rated,
        updated: table.touched(),
        listed: setup.listed,
    }
}

/// The ids of the accounts that sit on the sides of a game.
fn accounts<R: Rules>(table: &Table<R>) -> Vec<Option<String>> {
    let id = |it: &Seat| it.token.account().map(str::to_owned);
    table.seats().iter().map(|it| it.as_ref().and_then(id)).collect()
}

/// The marks that the store is to keep with events: where accounts sit down, and that ratings are to change.
pub(super) fn marks<R: Rules>(id: &str, table: &Table<R>, events: &[Entry]) -> Vec<String> {
    let mark = |it: &Entry| match &it.event {
        Event::Seated { seat, .. } => {
            seat.token.account().map(|account| seat_key(account, it.at, id))
        }
        Event::Ended { outcome, .. } => {
            let is_played = outcome.outcome != "none" && table.lines().len() >= LEAST;
            (is_played && table.setup().rated).then(|| unrated_key(id))
        }
        _ => None,
    };
    events.iter().filter_map(mark).collect()
}
