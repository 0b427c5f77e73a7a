//! Commands to a game's task, each with the channel for its answer if there is one.

use serde_json::Value;
use tokio::sync::{oneshot, watch};

use super::super::core::{Answer, Input, TokenHash};
use super::super::pool::Lane;
use super::super::problem::Problem;
use super::Feed;
use crate::game::Game;

type Reply<T> = oneshot::Sender<Result<T, Problem>>;

/// A command to a game's task.
#[derive(Debug)]
pub(in crate::server) enum Command {
    Step {
        input: Input,
        reply: Reply<Answer>,
    },
    /// The state of the game now, or after `ply` actions.
    State {
        token: Option<TokenHash>,
        ply: Option<usize>,
        lines: Lines,
        reply: Reply<Value>,
    },
    /// A page of the actions that were played.
    Lines {
        from: usize,
        limit: usize,
        reply: Reply<Value>,
    },
    /// The number of the last event. If it is below `v` even after events of other nodes were read, the answer has a
    /// receiver of later numbers, too.
    Version {
        v: u64,
        reply: Reply<(u64, Option<watch::Receiver<u64>>)>,
    },
    /// A feed of the events after the one with the number `have`. Without a number, or if too many were missed,
    /// the whole state comes first.
    Watch {
        have: Option<u64>,
        token: Option<TokenHash>,
        reply: Reply<Feed>,
    },
    /// A copy of the game now, or after `ply` actions, for questions.
    Branch {
        ply: Option<usize>,
        reply: Reply<Branched>,
    },
    /// A step that another node passes on; the answer is `None` if yet another one owns the game.
    PassedOn {
        input: Input,
        reply: Reply<Option<Answer>>,
    },
    /// Another node may have stored events up to that of the number `seq`.
    News {
        seq: u64,
    },
}

/// Which of the actions that were played are sent with the state of a game.
#[derive(Debug, Clone, Copy)]
pub enum Lines {
    /// This many of the last actions.
    Last(usize),
    /// The texts of all actions, without their details.
    Texts,
}

/// A copy of a game, and the lane for questions about it.
#[derive(Debug)]
pub(in crate::server) struct Branched {
    pub(in crate::server) game: Box<Game>,
    pub(in crate::server) lane: Lane,
}

impl Command {
    /// Answers with a problem.
    pub(super) fn refuse(self, problem: &Problem) {
        let problem = problem.clone();
        // A caller that has stopped waiting does not need the answer.
        match self {
            Self::Step { reply, .. } => drop(reply.send(Err(problem))),
            Self::State { reply, .. } | Self::Lines { reply, .. } => {
                drop(reply.send(Err(problem)));
            }
            Self::Version { reply, .. } => drop(reply.send(Err(problem))),
            Self::Watch { reply, .. } => drop(reply.send(Err(problem))),
            Self::Branch { reply, .. } => drop(reply.send(Err(problem))),
            Self::PassedOn { reply, .. } => drop(reply.send(Err(problem))),
            Self::News { .. } => {}
        }
    }
}
