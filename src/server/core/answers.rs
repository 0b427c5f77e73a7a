//! Answers to past requests, so that a repeated request gets the same one. A game has many, so little is kept
//! of each.

use std::collections::HashMap;

/// The first half of the hash of a side and its id for a request. A client that finds two ids of one hash
/// only gets the same answer twice.
type Request = [u8; 16];

/// The stored part of an answer.
#[derive(Debug, Clone, Copy)]
struct Answered {
    v: u32,
    ply: u32,
}

/// The answers of one game.
#[derive(Debug, Default)]
pub(super) struct Answers(HashMap<Request, Answered>);

impl Answers {
    /// The event of a request and the number of actions after it, if the request was carried out. If the game ends by
    /// it, that is another event.
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
