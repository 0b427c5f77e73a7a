//! A game's log as PGN, and a PGN as a game to go on with.

use super::core::{
    Control, Event, LogEntry, Recorded, Setup, TIMEOUT, outcome_of, seats_of, setup_of,
};
use super::options::Import;
use super::problem::Problem;
use super::time::DAY;
use crate::moves::notation::{FirstMove, PgnGame, PgnMove, PgnReader, PgnResult};
use crate::presets::{past_of, switch_comment};

/// A log as PGN, in export format. A turn of several actions is one move: the rules' text for the turn if
/// they have one, else its actions with commas between them.
///
/// # Errors
/// The log has no beginning, or the game has more than two sides, which PGN has no results for.
pub(super) fn pgn(id: &str, log: &[LogEntry]) -> Result<String, Problem> {
    let damaged = || Problem::log_damaged(format!("game {id}: the log has no beginning"));
    let setup = setup_of(log).ok_or_else(damaged)?;
    let [first, second] = setup.sides.as_slice() else {
        let advice = ": ask for the facts or the log";
        return Err(no_pgn(&setup.game, &setup.sides, advice));
    };
    let (comments, moves) = turns(log);
    let sides = [player_tag(first), player_tag(second)];
    let tags = tags(id, log, setup, &sides);
    let game = PgnGame {
        sides,
        tags,
        comments,
        first: FirstMove::from_fen(setup.fen.as_deref(), first_side(log) == Some(1)),
        moves,
        result: Some(result(log)),
        ..PgnGame::default()
    };
    Ok(game.to_pgn())
}

/// The side that took the first action.
fn first_side(log: &[LogEntry]) -> Option<usize> {
    log.iter().find_map(|it| match it.event {
        Event::Played { side, .. } => Some(side),
        _ => None,
    })
}

/// The refusal to write a game of more than two sides as PGN.
pub(super) fn no_pgn(game: &str, sides: &[String], advice: &str) -> Problem {
    Problem::unprocessable("no_pgn", two_sides_only(game, sides) + advice)
}

/// The refusal to read a game of more than two sides from PGN.
pub(super) fn needs_two_sides(game: &str, sides: &[String]) -> Problem {
    Problem::unprocessable("bad_import", two_sides_only(game, sides))
}

fn two_sides_only(game: &str, sides: &[String]) -> String {
    format!("PGN knows games of two sides, and {game} has {}", sides.join(", "))
}

/// The tag that names the player of a side: `White`.
pub(super) fn player_tag(side: &str) -> String {
    let mut letters = side.chars();
    letters.next().map(|it| it.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// The comments before the first turn, and the turns with theirs: notes of the rules, the time left, and changes of presets
/// after the turn. A change of presets ends a turn here, even if more actions of it follow.
fn turns(log: &[LogEntry]) -> (Vec<String>, Vec<PgnMove>) {
    let (mut before, mut turns) = (Vec::new(), Vec::<PgnMove>::new());
    let mut is_within_turn = false;
    for event in lasting(log) {
        match event {
            Event::Played { san, side, turn_goes_on, turn, notes, clocks, .. } => {
                let mut mv = match turns.pop_if(|_| is_within_turn) {
                    Some(mv) => PgnMove { text: format!("{},{san}", mv.text), ..mv },
                    None => PgnMove { text: san.clone(), ..PgnMove::default() },
                };
                if let Some(text) = turn {
                    mv.text.clone_from(text);
                }
                mv.comments.extend_from_slice(notes);
                let left = clocks.as_ref().and_then(|it| it.get(*side));
                // Where every turn has the same time, the clocks are always at 0, which tells nothing.
                let left = left.filter(|it| !turn_goes_on && **it > 0);
                mv.comments.extend(left.map(|it| clock_comment(*it)));
                turns.push(mv);
                is_within_turn = *turn_goes_on;
            }
            Event::PresetsChanged { presets, .. } => {
                let comments = turns.last_mut().map_or(&mut before, |it| &mut it.comments);
                comments.push(switch_comment(presets));
                is_within_turn = false;
            }
            _ => {}
        }
    }
    (before, turns)
}

/// The actions and the changes of presets that were not taken back.
fn lasting(log: &[LogEntry]) -> Vec<&Event> {
    let mut lasting: Vec<&Event> = Vec::new();
    for entry in log {
        match &entry.event {
            event @ (Event::Played { .. } | Event::PresetsChanged { .. }) => lasting.push(event),
            Event::TakenBack { to, .. } => {
                let is_action = |at: &usize| matches!(lasting[*at], Event::Played { .. });
                let first_gone = (0..lasting.len()).filter(is_action).nth(*to);
                lasting.truncate(first_gone.unwrap_or(lasting.len()));
            }
            _ => {}
        }
    }
    lasting
}

/// `[%clk 0:04:59]`: the time that the side has left (given in milliseconds), as chess sites write it.
fn clock_comment(left: u64) -> String {
    let seconds = left / 1000;
    format!("[%clk {}:{:02}:{:02}]", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn result(log: &[LogEntry]) -> PgnResult {
    let outcome = outcome_of(log).filter(|it| it.outcome != "none");
    outcome.map_or(PgnResult::Unknown, |it| PgnResult::of(it.winner.map(|it| it == 0)))
}

fn tags(id: &str, log: &[LogEntry], setup: &Setup, sides: &[String; 2]) -> Vec<(String, String)> {
    let player = |side: usize| {
        let seat = seats_of(log).find(|it| it.0 == side);
        seat.map_or_else(|| "?".to_owned(), |(_, seat)| seat.name.clone())
    };
    let mut tags = vec![
        ("Event".to_owned(), "Rulemate game".to_owned()),
        ("Site".to_owned(), id.to_owned()),
        ("Date".to_owned(), log.first().map(|it| date(it.at)).unwrap_or_default()),
        (sides[0].clone(), player(0)),
        (sides[1].clone(), player(1)),
        ("Result".to_owned(), result(log).to_string()),
    ];
    tags.extend(tags_of_rules(&setup.game, &setup.presets, setup.fen.as_deref(), &setup.rules));
    tags.push(("TimeControl".to_owned(), setup.clock.map_or("-".into(), time_control)));
    if let Some(it) = outcome_of(log) {
        tags.push(("Termination".to_owned(), termination(&it.reason)));
    }
    tags
}

/// The value of the tag `TimeControl`, in seconds: an initial time and an increment, or a number of turns and the time for
/// them. PGN cannot state a delay beside an initial time.
fn time_control(control: Control) -> String {
    match control.is_by_turn() {
        true => format!("1/{}", control.delay / 1000),
        false => format!("{}+{}", control.initial / 1000, control.increment / 1000),
    }
}

/// The tags for the game, its presets, its start position and the hash of its rules.
pub(super) fn tags_of_rules(
    game: &str,
    presets: &[String],
    fen: Option<&str>,
    rules: &str,
) -> Vec<(String, String)> {
    let mut tags =
        vec![("Variant", game.to_owned()), ("RulesHash", format!("{RULES_HASH}{rules}"))];
    if !presets.is_empty() {
        tags.push(("Presets", presets.join(" ")));
    }
    if let Some(fen) = fen {
        tags.extend([("SetUp", "1".to_owned()), ("FEN", fen.to_owned())]);
    }
    tags.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// `2026.11.21`, the date in UTC of a time in milliseconds since 1970.
fn date(at: u64) -> String {
    // Days from 0000-03-01, by eras of 400 years (Howard Hinnant's civil_from_days).
    let days = at / DAY + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}.{month:02}.{day:02}")
}

/// Before the hash in the tag `RulesHash`: how it is computed.
const RULES_HASH: &str = "blake3:";

/// The game, its presets, its start position and its rules, as the tags of a PGN state them.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) game: Option<String>,
    pub(super) presets: Vec<String>,
    pub(super) fen: Option<String>,
    /// The hash of the rules.
    pub(super) rules: Option<String>,
}

/// Reads the first game of a PGN: the game and rules that its tags state, and what was played.
///
/// # Errors
/// There is no game, or it is malformed; the message says where.
pub(super) fn read(text: &str) -> Result<(Origin, Import), String> {
    let game = first_game(text)?;
    let termination = game.tag("Termination").map(str::to_owned);
    let ended = game.result.and_then(|it| recorded(it, termination));
    Ok((origin_of(&game), Import { past: past_of(&game), ended }))
}

/// The first game of a PGN.
///
/// # Errors
/// There is no game, or it is malformed; the message says where.
pub(super) fn first_game(text: &str) -> Result<PgnGame, String> {
    let game = PgnReader::new(text.as_bytes()).next();
    game.ok_or("there is no game in the PGN")?.map_err(|it| it.within_game())
}

/// Reads the tags that [`tags_of_rules`] writes.
pub(super) fn origin_of(game: &PgnGame) -> Origin {
    let tag = |name: &str| game.tag(name).map(str::to_owned);
    let words = |it: String| it.split_whitespace().map(str::to_owned).collect();
    Origin {
        game: tag("Variant").map(|it| name_of(&it)),
        presets: tag("Presets").map(words).unwrap_or_default(),
        fen: tag("FEN"),
        rules: tag("RulesHash").and_then(|it| it.strip_prefix(RULES_HASH).map(str::to_owned)),
    }
}

/// A variant's name as the catalogue writes names.
fn name_of(variant: &str) -> String {
    variant.trim().to_lowercase().replace([' ', '_'], "-")
}

/// The end of the game, if the PGN has a result.
fn recorded(result: PgnResult, termination: Option<String>) -> Option<Recorded> {
    let winner = match result {
        PgnResult::Unknown => return None,
        PgnResult::Draw => None,
        PgnResult::FirstWins => Some(0),
        PgnResult::SecondWins => Some(1),
    };
    let reason = termination.map_or_else(|| "as_recorded".to_owned(), |it| reason(&it));
    Some(Recorded { winner, reason })
}

/// The value of the tag `Termination` for a game that a side lost by running out of time.
const TIME_FORFEIT: &str = "time forfeit";

/// The value of `Termination` for a reason: words instead of a code.
fn termination(reason: &str) -> String {
    if reason == TIMEOUT { TIME_FORFEIT.to_owned() } else { reason.replace('_', " ") }
}

/// The reason for a value of `Termination`. The case of a time forfeit is ignored: lichess writes `Time forfeit`.
fn reason(termination: &str) -> String {
    match termination.eq_ignore_ascii_case(TIME_FORFEIT) {
        true => TIMEOUT.to_owned(),
        false => termination.replace(' ', "_"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        assert_eq!(date(0), "1970.01.01");
        assert_eq!(date(951_782_400_000), "2000.02.29");
        assert_eq!(date(1_795_219_200_000), "2026.11.21");
    }

    #[test]
    fn a_time_for_every_turn_is_stated_as_that_of_one() {
        for (initial, increment, delay, expected) in [
            (60_000, 2_000, 0, "60+2"),
            (0, 5_000, 1_000, "0+5"),
            (0, 0, 60_000, "1/60"),
            (0, 0, 3 * DAY, "1/259200"),
        ] {
            assert_eq!(time_control(Control { initial, increment, delay }), expected);
        }
    }

    #[test]
    fn a_log_without_a_beginning_is_no_pgn() {
        assert_eq!(pgn("a", &[]).map_err(|it| it.code).unwrap_err(), "log_damaged");
    }
}
