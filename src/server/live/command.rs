//! What a game is asked: messages to its task, each with where the answer goes.
//!
//! Deliberately absent: how a game answers (the task itself).

use serde_json::Value;
use tokio::sync::{oneshot, watch};

use super::super::core::{Answer, Input, TokenHash};
use super::super::feed::Feed;
use super::super::pool::Lane;
use super::super::problem::Problem;
use crate::game::Game;

/// What is answered to another node; none if the game is not here.
type Passed = Option<Answer>;

type Reply<T> = oneshot::Sender<Result<T, Problem>>;

/// What a game is asked.
#[derive(Debug)]
pub(in crate::server) enum Command {
    Step {
        input: Input,
        reply: Reply<Answer>,
    },
    State {
        token: Option<TokenHash>,
        ply: Option<usize>,
        lines: Lines,
        reply: Reply<Value>,
    },
    /// Some of the actions that were played.
    Lines {
        from: usize,
        limit: usize,
        reply: Reply<Value>,
    },
    /// The last event that is known here, which is the one asked for if there is such an event; if not,
    /// what tells of those that come.
    Version {
        v: u64,
        reply: Reply<(u64, Option<watch::Receiver<u64>>)>,
    },
    Watch {
        have: Option<u64>,
        token: Option<TokenHash>,
        reply: Reply<Feed>,
    },
    /// A copy of the game after some actions, to ask it things.
    Branch {
        ply: Option<usize>,
        reply: Reply<Branched>,
    },
    /// A step that another node passes on.
    Asked {
        input: Input,
        reply: Reply<Passed>,
    },
    /// Another node may have stored events up to this one.
    News {
        seq: u64,
    },
}

/// How much of what was played is told with the state of a game.
#[derive(Debug, Clone, Copy)]
pub enum Lines {
    /// The last actions.
    Last(usize),
    /// The texts of all, and nothing more of any.
    Texts,
}

/// A copy of a game, and where it may be asked things.
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
            Self::Asked { reply, .. } => drop(reply.send(Err(problem))),
            Self::News { .. } => {}
        }
    }
}
