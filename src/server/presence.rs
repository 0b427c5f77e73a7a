//! Presence: the players whose sockets are open on this node, and the number of watchers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::library::lock;

/// The sockets of all games.
#[derive(Debug, Default)]
pub(super) struct Presence(Arc<Mutex<HashMap<String, Present>>>);

/// The sockets of one game.
#[derive(Debug, Default)]
struct Present {
    /// The number of sockets, those of players among them.
    sockets: usize,
    /// The number of sockets of each side that has any.
    sides: HashMap<usize, usize>,
}

/// A socket that is open; when it is dropped, it is not.
#[derive(Debug)]
pub(super) struct Place {
    all: Arc<Mutex<HashMap<String, Present>>>,
    game: String,
    sides: Vec<usize>,
}

impl Presence {
    pub(super) fn enter(&self, game: &str) -> Place {
        let all = Arc::clone(&self.0);
        lock(&all).entry(game.to_owned()).or_default().sockets += 1;
        Place { all, game: game.to_owned(), sides: Vec::new() }
    }
}

impl Place {
    /// The sides that the socket turns out to play.
    pub(super) fn plays(&mut self, sides: Vec<usize>) {
        let mut all = lock(&self.all);
        if let Some(present) = all.get_mut(&self.game) {
            present.forget(&self.sides);
            for side in &sides {
                *present.sides.entry(*side).or_default() += 1;
            }
        }
        self.sides = sides;
    }

    /// The sides whose players are there, and the number of open sockets.
    pub(super) fn told(&self) -> Value {
        let all = lock(&self.all);
        let present = all.get(&self.game);
        let mut sides: Vec<usize> =
            present.map(|it| it.sides.keys().copied().collect()).unwrap_or_default();
        sides.sort_unstable();
        json!({ "sides": sides, "sockets": present.map_or(0, |it| it.sockets) })
    }
}

impl Present {
    fn forget(&mut self, sides: &[usize]) {
        for side in sides {
            if let Some(count) = self.sides.get_mut(side) {
                *count = count.saturating_sub(1);
            }
        }
        self.sides.retain(|_, count| *count > 0);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = lock(&self.all);
        let Some(present) = all.get_mut(&self.game) else { return };
        present.forget(&self.sides);
        present.sockets = present.sockets.saturating_sub(1);
        if present.sockets == 0 {
            all.remove(&self.game);
        }
    }
}
