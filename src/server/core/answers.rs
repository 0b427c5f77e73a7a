//! Answers to past requests, so that a request that is repeated gets the same: a game has many, and keeps little
//! of each.

use std::collections::HashMap;

/// A side and what it called a request, as the first half of their hash: to find two of one
/// hash has only asked for the same twice.
type Request = [u8; 16];

/// What is kept of an answer.
#[derive(Debug, Clone, Copy)]
struct Answered {
    v: u32,
    ply: u32,
}

/// The answers of one game.
#[derive(Debug, Default)]
pub(super) struct Answers(HashMap<Request, Answered>);

impl Answers {
    /// The event and the number of actions that a request came to, if it was made.
    pub(super) fn get(&self, side: usize, id: &str) -> Option<(u64, usize)> {
        let Answered { v, ply } = *self.0.get(&request(side, id))?;
        Some((u64::from(v), ply as usize))
    }

    /// Keeps an answer. Neither number comes near the end of 32 bits: games end long before.
    pub(super) fn keep(&mut self, side: usize, id: &str, v: u64, ply: usize) {
        self.0.insert(request(side, id), Answered { v: v as u32, ply: ply as u32 });
    }
}

fn request(side: usize, id: &str) -> Request {
    let hash = blake3::hash(format!("{side} {id}").as_bytes());
    let mut half = Request::default();
    half.iter_mut().zip(hash.as_bytes()).for_each(|(to, from)| *to = *from);
    half
}
