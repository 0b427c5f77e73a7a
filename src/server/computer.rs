//! The computer as a player: it thinks in a lane of its own, in parallel with the games, and takes its
//! actions like any player. It grants takebacks, declines draws and other presets, and accepts rematches.
//!
//! Deliberately absent: how it thinks (`opponent`), and when it looks for something to do (`live`).

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use tokio::task::JoinHandle;

use super::board::Board;
use super::core::{Act, Input, OfferKind, Room, Rules, Seat, TokenHash};
use super::host::Host;
use super::ids::new_token;
use super::library::RulesKey;
use super::pool::Lane;
use super::problem::Problem;
use crate::game::Game;
use crate::moves::action_texts;
use crate::opponent::Level;

/// Maximum number of times that the search for an action is repeated if there was no room for it.
const TRIES: usize = 5;
/// Pause before such a repetition.
const PAUSE: Duration = Duration::from_secs(3);
/// The budget for one action, as a number of requests.
pub(super) const THOUGHT: usize = 512;
/// The computer's chat message when it could not think.
const DAZED: &str = "I could not think that through, so I take the first action that there is.";

/// A seat of the computer. Its token is sent to no client.
///
/// # Errors
/// The system has no random numbers.
pub(super) fn seat(level: Level) -> Result<Seat, Problem> {
    let name = format!("Computer, level {}", level.number());
    let token = TokenHash::of(&new_token()?);
    Ok(Seat { name, token, computer: Some(level.number()) })
}

/// A task of the computer in a game.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ComputerTask {
    /// The token of the seat that the task is for.
    token: TokenHash,
    kind: TaskKind,
}

impl ComputerTask {
    /// The next task of the computer in a game, if it has a seat there: first the answers to offers. `rematch_id`
    /// gives the id of a rematch.
    fn of(room: &Room<Board>, rematch_id: impl FnOnce() -> String) -> Option<Self> {
        let seats = room.seats().iter().enumerate();
        let computers: Vec<(usize, &Seat)> = seats
            .filter_map(|(side, it)| Some((side, it.as_ref().filter(|it| it.computer.is_some())?)))
            .collect();
        let asked = |offer: OfferKind| {
            let maker = room.offers().maker(offer)?;
            let (_, seat) = computers.iter().find(|it| !room.offers().has_agreed(it.0, offer))?;
            computers.iter().all(|it| it.0 != maker).then_some((offer, *seat))
        };
        let offers = [OfferKind::Takeback, OfferKind::Rematch, OfferKind::Presets, OfferKind::Draw];
        if let Some((offer, seat)) = offers.into_iter().find_map(asked) {
            let act = match offer {
                // An action of the computer may come first: then nothing is asked for any more.
                OfferKind::Takeback => Act::GrantTakeback,
                OfferKind::Rematch => Act::Rematch { game: rematch_id() },
                OfferKind::Presets | OfferKind::Draw => Act::Decline(offer),
            };
            return Some(Self { token: seat.token.clone(), kind: TaskKind::Act(act) });
        }
        if room.outcome().is_some() {
            return None;
        }
        let turn = room.rules().side();
        let (_, seat) = computers.into_iter().find(|it| it.0 == turn)?;
        let setup = room.setup();
        let (hash, game) = (setup.rules.clone(), setup.game.clone());
        let rules = RulesKey { hash, game, presets: room.presets().to_vec() };
        let kind = TaskKind::Move { level: seat.computer?, rules };
        Some(Self { token: seat.token.clone(), kind })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TaskKind {
    /// Finds an action and plays it.
    Move {
        level: u8,
        rules: RulesKey,
    },
    Act(Act),
}

/// The current task of the computer in a game.
#[derive(Debug, Default)]
pub(super) struct CurrentTask(Option<StartedTask>);

#[derive(Debug)]
struct StartedTask {
    /// The number of actions that had been played when it was started.
    plies: usize,
    task: ComputerTask,
    handle: JoinHandle<()>,
}

impl CurrentTask {
    /// Starts the computer's task, if there is one and it is not under way.
    pub(super) fn attend(&mut self, host: &Arc<Host>, id: &str, room: &Room<Board>) {
        if host.is_draining() {
            return;
        }
        let next = ComputerTask::of(room, || host.rematch_id(id));
        let plies = room.lines().len();
        if let Some(started) = &self.0 {
            let is_same = next.as_ref() == Some(&started.task);
            if is_same && started.plies == plies && !started.handle.is_finished() {
                return;
            }
            // Thinking about a position that has changed is abandoned; answers are not.
            if matches!(started.task.kind, TaskKind::Move { .. }) {
                started.handle.abort();
            }
        }
        self.0 = next.map(|task| StartedTask {
            plies,
            task: task.clone(),
            handle: tokio::spawn(carry_out(Arc::clone(host), id.to_owned(), task)),
        });
    }
}

async fn carry_out(host: Arc<Host>, id: String, ComputerTask { token, kind }: ComputerTask) {
    let done = match kind {
        TaskKind::Act(act) => answer(&host, &id, token, act).await,
        TaskKind::Move { level, rules } => take_turn(&host, &id, token, level, rules).await,
    };
    if let Err(problem) = done {
        tracing::warn!(game = id, problem.message, "the computer could not do its part");
    }
}

async fn answer(host: &Arc<Host>, id: &str, token: TokenHash, act: Act) -> Result<(), Problem> {
    let is_rematch = matches!(act, Act::Rematch { .. });
    let answer = host.step(id, Input::act(token, act)).await?;
    match answer.game.filter(|_| is_rematch) {
        Some(game) => host.make_rematch(id, &game).await,
        None => Ok(()),
    }
}

async fn take_turn(
    host: &Arc<Host>,
    id: &str,
    token: TokenHash,
    level: u8,
    rules: RulesKey,
) -> Result<(), Problem> {
    let found = find_action(host, id, &token, level, rules).await?;
    // The game may have ended meanwhile.
    let Some((uci, ply)) = found else { return Ok(()) };
    let act = Act::Move { uci, expected_ply: Some(ply) };
    host.step(id, Input::act(token, act)).await.map(|_| ())
}

/// The action to take, and the number of actions before it; `None` if the game is over.
async fn find_action(
    host: &Arc<Host>,
    id: &str,
    token: &TokenHash,
    level: u8,
    rules: RulesKey,
) -> Result<Option<(String, usize)>, Problem> {
    let level = Level::new(level).unwrap_or(Level::LOWEST);
    let ruleset = host.ruleset(&rules.hash, &rules.game, &rules.presets).await?;
    let mut tries = 0;
    loop {
        let game = host.copy_of(id, None).await?;
        let (learned, ruleset) = (Arc::clone(&host.learned), Arc::clone(&ruleset));
        let (rules, engine) = (rules.clone(), host.config.engine);
        let think = move || {
            let known = learned.of(rules, &ruleset, &game);
            engine(*game, &known, level)
        };
        match host.pool.run_with_budget(Lane::Think, THOUGHT, think).await {
            // There was no time to find an action.
            Ok((None, Some(_))) => return any_action(host, id, token).await,
            Ok((found, _)) => return Ok(found),
            // The engine has panicked.
            Err(problem) if problem.status == StatusCode::INTERNAL_SERVER_ERROR => {
                return any_action(host, id, token).await;
            }
            Err(_) if tries < TRIES => {
                tries += 1;
                tokio::time::sleep(PAUSE).await;
            }
            Err(problem) => return Err(problem),
        }
    }
}

/// The first action that there is, with an apology in the chat.
async fn any_action(
    host: &Arc<Host>,
    id: &str,
    token: &TokenHash,
) -> Result<Option<(String, usize)>, Problem> {
    tracing::error!(game = id, "the computer could not think: it takes any action");
    // In games without chat the message is refused, and the move follows alone.
    let said = Act::Say(DAZED.to_owned());
    let _ = host.step(id, Input::act(token.clone(), said)).await;
    host.question(id, None, |game| Ok(first_action(game))).await
}

fn first_action(game: &mut Game) -> Option<(String, usize)> {
    let action = game.legal_moves().into_iter().next().filter(|_| game.result().is_none())?;
    let text = action_texts(game.world_mut(), &[action]).pop()?;
    Some((text, game.history().len()))
}
