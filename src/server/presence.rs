//! Presence: the players whose sockets are open, and the number of sockets, on all nodes of a store.
//!
//! A node sends its changes to the others, and everything at longer intervals. Presence that has not been sent again for
//! [`STALE`] is from a node that is gone, and is forgotten.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::lock::lock;

/// Interval at which a node sends the others its changes.
pub(super) const SEND_INTERVAL: Duration = Duration::from_millis(500);
/// Interval at which it sends everything.
const REPEAT: Duration = Duration::from_secs(20);
/// Time after which presence that another node has not repeated is dropped. It is checked every [`REPEAT`].
const STALE: Duration = Duration::from_secs(50);

/// The sockets of all games.
#[derive(Debug, Default)]
pub(super) struct Presence(Arc<Mutex<Sockets>>);

#[derive(Debug, Default)]
struct Sockets {
    here: HashMap<String, GameSockets>,
    /// By game and node.
    elsewhere: HashMap<String, HashMap<String, (Present, Instant)>>,
    /// The presence that was last sent to the others, of games that had sockets here then.
    sent: HashMap<String, Present>,
    /// When everything was last sent.
    repeated: Option<Instant>,
}

/// The sockets of one game on this node.
#[derive(Debug, Default)]
struct GameSockets {
    /// The number of sockets, those of players among them.
    count: usize,
    /// The number of sockets of each side that has any.
    sides: HashMap<usize, usize>,
}

// Clients get the sum over all nodes. Nodes send each other the counts of their own sockets.
/// The players and watchers that are connected, to any node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(super) struct Present {
    /// The sides whose players have a socket open.
    #[schema(value_type = Vec<usize>)]
    sides: BTreeSet<usize>,
    /// The number of open sockets, those of players among them.
    sockets: usize,
}

/// An open socket of a game; it counts as closed when this is dropped.
#[derive(Debug)]
pub(super) struct OpenSocket {
    all: Arc<Mutex<Sockets>>,
    game: String,
    sides: Vec<usize>,
}

impl Presence {
    pub(super) fn enter(&self, game: &str) -> OpenSocket {
        let all = Arc::clone(&self.0);
        lock(&all).here.entry(game.to_owned()).or_default().count += 1;
        OpenSocket { all, game: game.to_owned(), sides: Vec::new() }
    }

    /// The number of sockets that are open on this node.
    pub(super) fn sockets(&self) -> usize {
        lock(&self.0).here.values().map(|it| it.count).sum()
    }

    /// The presence to send to other nodes now, by game: changes since the last time, or everything.
    pub(super) fn news(&self, now: Instant) -> Vec<(String, Present)> {
        let mut all = lock(&self.0);
        let repeat = all.repeated.is_none_or(|it| now.duration_since(it) >= REPEAT);
        if repeat {
            all.repeated = Some(now);
            all.forget_stale(now);
        }
        let Sockets { here, sent, .. } = &mut *all;
        let mut news = Vec::new();
        for (game, sockets) in &*here {
            let present = sockets.present();
            if repeat || sent.get(game) != Some(&present) {
                sent.insert(game.clone(), present.clone());
                news.push((game.clone(), present));
            }
        }
        for (game, _) in sent.extract_if(|game, _| !here.contains_key(game)) {
            news.push((game, Present::default()));
        }
        news
    }

    /// Records the presence that another node has sent.
    pub(super) fn record_news(&self, node: &str, news: Vec<(String, Present)>, now: Instant) {
        let mut all = lock(&self.0);
        for (game, present) in news {
            let nodes = all.elsewhere.entry(game).or_default();
            match present.sockets {
                0 => nodes.remove(node),
                _ => nodes.insert(node.to_owned(), (present, now)),
            };
        }
    }
}

impl Sockets {
    /// Drops what other nodes have not repeated in time, and games that have no sockets there.
    fn forget_stale(&mut self, now: Instant) {
        self.elsewhere.retain(|_, nodes| {
            nodes.retain(|_, (_, at)| now.duration_since(*at) < STALE);
            !nodes.is_empty()
        });
    }
}

impl OpenSocket {
    /// Sets the sides that the socket plays, once they are known.
    pub(super) fn set_sides(&mut self, sides: Vec<usize>) {
        let mut all = lock(&self.all);
        if let Some(sockets) = all.here.get_mut(&self.game) {
            sockets.remove_sides(&self.sides);
            for side in &sides {
                *sockets.sides.entry(*side).or_default() += 1;
            }
        }
        self.sides = sides;
    }

    /// The sides whose players are there, and the number of open sockets.
    pub(super) fn view(&self) -> Value {
        let all = lock(&self.all);
        let mut present = all.here.get(&self.game).map(GameSockets::present).unwrap_or_default();
        for (elsewhere, _) in all.elsewhere.get(&self.game).into_iter().flat_map(HashMap::values) {
            present.sides.extend(&elsewhere.sides);
            present.sockets += elsewhere.sockets;
        }
        json!(present)
    }
}

impl GameSockets {
    fn present(&self) -> Present {
        Present { sides: self.sides.keys().copied().collect(), sockets: self.count }
    }

    fn remove_sides(&mut self, sides: &[usize]) {
        for side in sides {
            if let Some(count) = self.sides.get_mut(side) {
                *count = count.saturating_sub(1);
            }
        }
        self.sides.retain(|_, count| *count > 0);
    }
}

impl Drop for OpenSocket {
    fn drop(&mut self) {
        let mut all = lock(&self.all);
        let Some(sockets) = all.here.get_mut(&self.game) else { return };
        sockets.remove_sides(&self.sides);
        sockets.count = sockets.count.saturating_sub(1);
        if sockets.count == 0 {
            all.here.remove(&self.game);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Presence, REPEAT, STALE};
    use serde_json::json;
    use std::time::Instant;

    #[test]
    fn nodes_tell_each_other_who_is_there() {
        let (one, two) = (Presence::default(), Presence::default());
        let start = Instant::now();
        let mut player = one.enter("g");
        player.set_sides(vec![1]);
        let watcher = two.enter("g");
        two.record_news("one", one.news(start), start);
        assert_eq!(watcher.view(), json!({ "sides": [1], "sockets": 2 }));
        assert_eq!(player.view()["sockets"], 1, "nothing was heard of the other");
        assert!(one.news(start).is_empty(), "nothing has changed");
        assert_eq!(one.news(start + REPEAT).len(), 1, "told again");
        drop(player);
        two.record_news("one", one.news(start + REPEAT), start);
        assert_eq!(watcher.view(), json!({ "sides": [], "sockets": 1 }));
    }

    #[test]
    fn a_node_that_is_gone_is_forgotten() {
        let (one, two) = (Presence::default(), Presence::default());
        let start = Instant::now();
        let _player = one.enter("g");
        let watcher = two.enter("g");
        two.news(start);
        two.record_news("one", one.news(start), start);
        assert_eq!(watcher.view()["sockets"], 2);
        two.news(start + STALE);
        assert_eq!(watcher.view()["sockets"], 1);
    }
}
