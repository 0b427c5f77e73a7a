//! The counters at `/metrics`, in the text form that Prometheus reads.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper ends of the buckets of durations, in microseconds.
const BUCKETS: [u64; 9] = [500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000];

/// The counters of one server.
#[derive(Debug, Default)]
pub struct Metrics {
    games: AtomicU64,
    moves: AtomicU64,
    refused: AtomicU64,
    dropped: AtomicU64,
    limited: AtomicU64,
    buckets: [AtomicU64; BUCKETS.len() + 1],
    micros: AtomicU64,
}

impl Metrics {
    pub(super) fn game_created(&self) {
        self.games.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a refused move.
    pub(super) fn move_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a durable move, and the time from when its game took it up.
    pub(super) fn moved(&self, took: Duration) {
        self.moves.fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKETS.iter().position(|&it| micros <= it).unwrap_or(BUCKETS.len());
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Counts watchers that were dropped because they did not read.
    pub(super) fn dropped(&self, watchers: usize) {
        self.dropped.fetch_add(watchers as u64, Ordering::Relaxed);
    }

    /// Counts a request that came too soon after others, or a socket or stream too many.
    pub(super) fn limited(&self) {
        self.limited.fetch_add(1, Ordering::Relaxed);
    }

    /// All counters as text. `live` is the number of games in memory, `open` that of open sockets and streams, `sockets`
    /// that of the sockets among them.
    pub(super) fn text(&self, live: usize, open: usize, sockets: usize) -> String {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut text = String::new();
        let mut line = |name: &str, kind: &str, help: &str, value: u64| {
            // Writing to a string does not fail.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
        };
        line("rulemate_games_live", "gauge", "Games in memory.", live as u64);
        line("rulemate_open", "gauge", "Open sockets and streams.", open as u64);
        line("rulemate_sockets", "gauge", "Open WebSockets.", sockets as u64);
        line("rulemate_games_created_total", "counter", "Games made.", of(&self.games));
        line("rulemate_moves_total", "counter", "Durable moves.", of(&self.moves));
        line("rulemate_moves_refused_total", "counter", "Refused moves.", of(&self.refused));
        line(
            "rulemate_watchers_dropped_total",
            "counter",
            "Watchers dropped: too slow.",
            of(&self.dropped),
        );
        line("rulemate_rate_limited_total", "counter", "Requests over a limit.", of(&self.limited));
        let name = "rulemate_move_seconds";
        let _ =
            writeln!(text, "# HELP {name} From when a game takes up a move until it is durable.");
        let _ = writeln!(text, "# TYPE {name} histogram");
        let mut count = 0;
        for (at, bucket) in self.buckets.iter().enumerate() {
            count += of(bucket);
            let end = BUCKETS.get(at).map(|it| (*it as f64 / 1e6).to_string());
            let end = end.unwrap_or_else(|| "+Inf".into());
            let _ = writeln!(text, "{name}_bucket{{le=\"{end}\"}} {count}");
        }
        let _ =
            writeln!(text, "{name}_sum {}\n{name}_count {count}", of(&self.micros) as f64 / 1e6);
        text
    }
}
