//! Answers to past requests, so that a repeated request gets the same one. A game has many, so little is kept
//! of each.

use std::collections::HashMap;

/// The first half of the hash of a side and of the id that its client gave the request. A client that finds two ids with
/// the same hash harms itself alone: its second request is taken for a repetition.
type Request = [u8; 16];

/// The stored part of an answer.
#[derive(Debug, Clone, Copy)]
struct Answered {
    /// The number of the event that the request caused.
    v: u32,
    /// Number of actions that had been played then.
    ply: u32,
}

/// The answers of one game.
#[derive(Debug, Default)]
pub(super) struct Answers(HashMap<Request, Answered>);

impl Answers {
    /// If the request was carried out before: the number of the event that it caused, and how many actions had been played
    /// with it. If the game ended by it, the end is a further event.
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
    half.copy_from_slice(&hash.as_bytes()[..16]);
    half
}
