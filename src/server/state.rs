//! A game as clients see it: everything that a page needs to draw it.

use serde_json::{Value, json};

use super::accounts::seat_key;
use super::board::Board;
use super::core::{Event, LogEntry, Room, Rules, Seat, TokenHash};
use super::live::command::Lines;
use super::pool::spent;
use super::problem::Problem;
use super::rating::{MIN_ACTIONS, unsettled_key};
use super::store::{GameState, Summary};
use crate::game::{Game, View};
use crate::presets::{Activation, Catalogue};

/// The state of a game; the position is that of `past` if it is given.
pub(super) fn of(
    id: &str,
    room: &mut Room<Board>,
    mut past: Option<Game>,
    token: Option<&TokenHash>,
    lines: Lines,
    now: u64,
) -> Result<Value, Problem> {
    let active = Catalogue::active(past.as_ref().unwrap_or_else(|| room.rules().game()));
    let active = Activation::texts(&active);
    let (position, unsaid) = position(room, past.as_mut())?;
    let is_computer = |seat: &Option<Seat>| seat.as_ref().is_some_and(|it| it.computer.is_some());
    let computers: Vec<bool> = room.seats().iter().map(is_computer).collect();
    let summary = summary(id, room);
    let setup = room.setup();
    let legal: Vec<&str> = position.legal.iter().map(|it| it.uci.as_str()).collect();
    let all = room.lines();
    let (from, history) = match lines {
        Lines::Last(count) => {
            let from = all.len().saturating_sub(count);
            (from, &all[from..])
        }
        Lines::Texts => (0, &[][..]),
    };
    let offered = room.offers().presets.as_ref().map_or(&[][..], |it| &it.1);
    let named = [&active[..], room.presets(), offered].concat();
    let moves: Vec<&str> = all[from..].iter().map(|it| &*it.uci).collect();
    Ok(json!({
        "id": id,
        "v": room.v(),
        "game": setup.game,
        "title": room.rules().title_of(&setup.game),
        "presets": room.presets(),
        "active": active,
        "named": room.rules().names_of(&named),
        "status": summary.state,
        "open": setup.open,
        "chat": room.may_chat(),
        "sides": setup.sides,
        "seats": summary.players,
        "accounts": accounts(room),
        "rated": setup.rated,
        "tournament": setup.tournament,
        "computers": computers,
        "you": token.map(|it| room.sides_of(it)).unwrap_or_default(),
        "ply": all.len(),
        "turn": room.rules().side(),
        "lines_from": from,
        "moves": moves,
        "history": history,
        "clock": setup.clock,
        "clocks": room.clocks(now),
        "clock_runs": room.clock_runs(),
        "deadline": room.deadline(),
        "now": now,
        "offers": room.offers(),
        "result": room.outcome(),
        "rematch": room.rematch(),
        "start_fen": setup.fen,
        "rules": setup.rules,
        "fen": position.fen,
        "fen_leaves_out": unsaid,
        "legal": legal,
        "position": position,
    }))
}

/// The position of `past`, or else of the room, and the attributes that its FEN does not state.
fn position(
    room: &mut Room<Board>,
    past: Option<&mut Game>,
) -> Result<(View, Vec<String>), Problem> {
    if let Some(game) = past {
        let found = (game.view(), room.rules().unsaid_of(game));
        // Nothing else reports an exhausted budget of `past`, which is a copy.
        game.check().map_err(|it| spent(it.resource))?;
        return Ok(found);
    }
    let is_over = room.outcome().is_some();
    let board = room.rules_mut();
    let (mut position, unsaid) = (board.game_mut().view(), board.unsaid());
    // A game may end in ways that its rules do not know: by time, by agreement.
    if is_over {
        position.legal.clear();
        position.claims.clear();
    }
    Ok((position, unsaid))
}

/// A page of the actions that were played in a game.
pub(super) fn lines(room: &Room<Board>, from: usize, limit: usize) -> Value {
    let all = room.lines();
    let from = from.min(all.len());
    let until = from.saturating_add(limit).min(all.len());
    json!({ "v": room.v(), "ply": all.len(), "from": from, "lines": all[from..until] })
}

/// A game in a line of a list.
pub(super) fn summary<R: Rules>(id: &str, room: &Room<R>) -> Summary {
    let setup = room.setup();
    let has_free_seat = !setup.open && room.seats().iter().any(Option::is_none);
    let state = match room.outcome() {
        Some(_) => GameState::Over,
        None if has_free_seat => GameState::Waiting,
        None => GameState::Playing,
    };
    let result =
        room.outcome().map(|it| format!("{} by {}", it.outcome, it.reason).replace('_', " "));
    let accounts = match accounts(room) {
        all if all.iter().all(Option::is_none) => Vec::new(),
        all => all,
    };
    Summary {
        id: id.to_owned(),
        game: setup.game.clone(),
        presets: room.presets().to_vec(),
        state,
        players: room.seats().iter().map(|it| it.as_ref().map(|it| it.name.clone())).collect(),
        ply: room.lines().len(),
        result,
        accounts,
        rated: setup.rated,
        updated: room.touched(),
        listed: setup.listed,
    }
}

/// The ids of the accounts that sit on the sides of a game.
pub(super) fn accounts<R: Rules>(room: &Room<R>) -> Vec<Option<String>> {
    let id = |it: &Seat| it.token.account().map(str::to_owned);
    room.seats().iter().map(|it| it.as_ref().and_then(id)).collect()
}

/// The keys of empty records to store with events: the seats that accounts take, and a game whose end is to change
/// ratings.
pub(super) fn empty_records<R: Rules>(
    id: &str,
    room: &Room<R>,
    events: &[LogEntry],
) -> Vec<String> {
    let key = |it: &LogEntry| match &it.event {
        Event::Seated { seat, .. } => {
            seat.token.account().map(|account| seat_key(account, it.at, id))
        }
        Event::Ended { outcome, .. } => {
            let is_played = outcome.outcome != "none" && room.lines().len() >= MIN_ACTIONS;
            (is_played && room.setup().rated).then(|| unsettled_key(id))
        }
        _ => None,
    };
    events.iter().filter_map(key).collect()
}
