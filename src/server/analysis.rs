//! Analysis of a position by the computer: the best actions, each with reasons in plain sentences. Refused
//! while two people play, since it would help one of them.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::computer::THOUGHT;
use super::core::TokenHash;
use super::host::Host;
use super::library::RulesKey;
use super::live::Lines;
use super::pool::Lane;
use super::problem::Problem;
use crate::game::{Game, PieceView, Stop, View};
use crate::moves::{Move, action_texts};
use crate::opponent::{Budget, Knowledge, Level, Opponent, Score};
use crate::presets::{article, plural};

/// Budget of the search of a position.
const BUDGET: Budget = Budget { nodes: 12_000, depth: 6, time: Some(Duration::from_millis(2_500)) };
/// Budget of the search for the likely answer to each action that is shown.
const ANSWER: Budget = Budget { nodes: 600, depth: 2, time: Some(Duration::from_millis(300)) };
/// Maximum number of actions that are shown.
const ACTIONS: usize = 3;
/// Maximum number of reasons for each.
const REASONS: usize = 3;

/// An action that the computer recommends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Advice {
    uci: String,
    san: String,
    /// How likely the side to move wins after it, in percent.
    chance: i64,
    /// Number of actions after which it wins, or loses if negative.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided: Option<i64>,
    /// A sentence each.
    reasons: Vec<String>,
}

#[doc(hidden)]
impl Host {
    /// The best actions of a position, with reasons.
    ///
    /// # Errors
    /// There is no such game or position, two people play it, or there is no time to think.
    pub(super) async fn advice(
        self: &Arc<Self>,
        id: &str,
        token: Option<TokenHash>,
        ply: Option<usize>,
    ) -> Result<Vec<Advice>, Problem> {
        let state = self.state(id, token, ply, Lines::Last(0)).await?;
        if !is_fair(&state) {
            let message = "until the game is over, the computer helps only a player whose opponents are all \
                           computers: send the token of that seat";
            return Err(Problem::forbidden("no_help", message));
        }
        let text = |name: &str| state[name].as_str().unwrap_or_default().to_owned();
        let presets = serde_json::from_value(state["presets"].clone()).unwrap_or_default();
        let rules = RulesKey { hash: text("rules"), game: text("game"), presets };
        let ruleset = self.ruleset(&rules.hash, &rules.game, &rules.presets).await?;
        let game = self.copy_of(id, ply).await?;
        let learned = Arc::clone(&self.learned);
        let think = move || {
            let known = learned.of(rules, &ruleset, &game);
            // The presets may have been different at that position.
            if known.fits(&game) { advice(*game, &known) } else { Vec::new() }
        };
        self.pool.run_with_budget(Lane::Think, THOUGHT, think).await.map(|it| it.0)
    }
}

/// Whether advice is fair to everyone: the game is over, it is an open board, or all other players are computers.
fn is_fair(state: &Value) -> bool {
    let own: Vec<usize> = serde_json::from_value(state["you"].clone()).unwrap_or_default();
    let mut computers = state["computers"].as_array().into_iter().flatten().enumerate();
    !state["result"].is_null()
        || state["open"] == true
        || (!own.is_empty() && computers.all(|(side, it)| *it == true || own.contains(&side)))
}

fn advice(mut game: Game, knowledge: &Knowledge) -> Vec<Advice> {
    game.reload();
    let mut opponent = Opponent::new(knowledge.clone(), Level::HIGHEST, 1);
    let judged = opponent.judge(&game, BUDGET, &Stop::default());
    let before = game.view();
    let advice = judged
        .into_iter()
        .filter_map(|(action, score)| advice_on(&mut game, &mut opponent, &before, &action, score));
    advice.take(ACTIONS).collect()
}

/// The advice on one action, which is played and taken back; `None` if it cannot be played.
fn advice_on(
    game: &mut Game,
    opponent: &mut Opponent,
    before: &View,
    action: &Move,
    score: Score,
) -> Option<Advice> {
    let uci = action_texts(game.world_mut(), std::slice::from_ref(action)).pop()?;
    let record = game.play_text(&uci).ok()?;
    let (san, goes_on) = (record.san.to_string(), record.turn_goes_on);
    let result = game.result().map(|it| it.to_string());
    let mut reasons = reasons(before, &game.view(), &game.sides(), result);
    reasons.extend(forced_result(score));
    if reasons.len() < REASONS && !goes_on {
        reasons.extend(likely_answer(game, opponent));
    }
    game.takeback();
    reasons.truncate(REASONS);
    let decided = match score {
        Score::Hundredths(_) => None,
        Score::Wins(n) => Some(i64::from(n)),
        Score::Loses(n) => Some(-i64::from(n)),
    };
    Some(Advice { uci, san, chance: chance(score), decided, reasons })
}

fn likely_answer(game: &mut Game, opponent: &mut Opponent) -> Option<String> {
    let answer = opponent.choose(game, ANSWER, &Stop::default())?;
    let text = action_texts(game.world_mut(), &[answer.action]).pop()?;
    let sentence = format!("The likely answer is {}.", game.play_text(&text).ok()?.san);
    game.takeback();
    Some(sentence)
}

/// The reason for an action that changes the kind of a piece.
fn becomes(before: &str, after: &str) -> String {
    format!("The {before} becomes {} {after}.", article(after)).replace('_', " ")
}

/// How likely the side to move wins, in percent.
fn chance(score: Score) -> i64 {
    match score {
        Score::Hundredths(it) => (100.0 / (1.0 + (-f64::from(it) / 100.0).exp())).round() as i64,
        Score::Wins(_) => 100,
        Score::Loses(_) => 0,
    }
}

fn forced_result(score: Score) -> Option<String> {
    let actions = |n: u32| plural(n as usize, "action");
    match score {
        Score::Wins(n) if n > 1 => Some(format!("It wins by force, after {} at most.", actions(n))),
        Score::Loses(n) => Some(format!("It loses, if the others see it, after {}.", actions(n))),
        Score::Wins(_) | Score::Hundredths(_) => None,
    }
}

/// What an action does, as it is seen on the board: the end, what is taken or lost, what a piece becomes, what
/// is attacked.
fn reasons(before: &View, after: &View, sides: &[String], result: Option<String>) -> Vec<String> {
    let name = |it: &PieceView| {
        let side =
            it.side.and_then(|it| sides.get(it)).map(|it| format!("{it} ")).unwrap_or_default();
        format!("the {side}{} on {}", it.kind, it.square).replace('_', " ")
    };
    // The pieces for which something holds, in one phrase, which is empty if there are none.
    let named = |pieces: &[PieceView], holds: &dyn Fn(&PieceView) -> bool| {
        let all: Vec<String> = pieces.iter().filter(|it| holds(it)).map(name).collect();
        match all.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            _ => all.concat(),
        }
    };
    let is_own = |it: &PieceView| it.side == Some(before.turn);
    let is_gone = |it: &PieceView| after.pieces.iter().all(|other| other.id != it.id);
    let mut reasons = Vec::new();
    if let Some(result) = result {
        reasons.push(format!("It ends the game: {result}."));
    }
    let taken = named(&before.pieces, &|it| is_gone(it) && !is_own(it));
    let lost = named(&before.pieces, &|it| is_gone(it) && is_own(it));
    for (verb, pieces) in [("takes", taken), ("costs", lost)] {
        if !pieces.is_empty() {
            reasons.push(format!("It {verb} {pieces}."));
        }
    }
    for it in &after.pieces {
        let was = before.pieces.iter().find(|other| other.id == it.id && other.kind != it.kind);
        reasons.extend(was.map(|was| becomes(&was.kind, &it.kind)));
    }
    let attacked = named(&after.pieces, &|it| !is_own(it) && after.checks.contains(&it.square));
    if !attacked.is_empty() {
        reasons.push(format!("It attacks {attacked}."));
    }
    let saved = named(&before.pieces, &|it| is_own(it) && before.checks.contains(&it.square));
    if !saved.is_empty() && reasons.len() < REASONS {
        reasons.push(format!("It ends the attack on {saved}."));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_its_article() {
        assert_eq!(becomes("pawn", "archbishop"), "The pawn becomes an archbishop.");
        assert_eq!(becomes("gold_general", "queen"), "The gold general becomes a queen.");
    }
}
