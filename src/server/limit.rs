//! How often one address may ask: a bucket of tokens each, that fills with time.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Instant;

use super::library::lock;

/// As many addresses as are remembered.
const ADDRESSES: usize = 50_000;

/// A rate: tokens a second, and as many as may be saved up.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    pub per_second: f64,
    pub burst: f64,
}

/// What a request costs the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cost {
    Little,
    /// It makes a game.
    Game,
    /// It compiles rules.
    Compiling,
}

/// The rates of a server. Requests from this machine itself are not counted, unless they come
/// through a proxy.
#[derive(Debug)]
pub struct Limits {
    requests: Rate,
    games: Rate,
    compiling: Rate,
    pub(super) behind_proxy: bool,
    buckets: Mutex<HashMap<(IpAddr, Cost), Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Limits {
    pub fn new(requests: Rate, games: Rate, behind_proxy: bool) -> Self {
        // One who types in the rule editor compiles twice a second for a while.
        let compiling = Rate { per_second: 1.0, burst: 60.0 };
        Self { requests, games, compiling, behind_proxy, buckets: Mutex::default() }
    }

    /// Whether one more request of an address is let in.
    pub fn admits(&self, address: IpAddr, cost: Cost) -> bool {
        let rate = match cost {
            Cost::Little => self.requests,
            Cost::Game => self.games,
            Cost::Compiling => self.compiling,
        };
        let now = Instant::now();
        let mut buckets = lock(&self.buckets);
        if buckets.len() >= ADDRESSES {
            // Whoever has been quiet for a minute has a full bucket again anyway.
            buckets.retain(|_, it| now.duration_since(it.at).as_secs() < 60);
        }
        let full = Bucket { tokens: rate.burst, at: now };
        let bucket = buckets.entry((address, cost)).or_insert(full);
        let filled = now.duration_since(bucket.at).as_secs_f64() * rate.per_second;
        bucket.tokens = (bucket.tokens + filled).min(rate.burst);
        bucket.at = now;
        let admitted = bucket.tokens >= 1.0;
        if admitted {
            bucket.tokens -= 1.0;
        }
        admitted
    }
}

impl Default for Limits {
    fn default() -> Self {
        let requests = Rate { per_second: 40.0, burst: 200.0 };
        let games = Rate { per_second: 0.5, burst: 20.0 };
        Self::new(requests, games, false)
    }
}
