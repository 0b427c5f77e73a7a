//! A game between two players and a spectator over a network that loses, doubles, delays and
//! reorders messages, with a server that crashes and clocks that jump. Seeded: a failure names its
//! seed. Once by a cheap game of sums, so that much happens to the core; once by games of chess
//! whose turns have one action or two, whose presets change, and which crash back to snapshots.
//!
//! After every message: what a client has seen is a prefix of the log; every request is in the log
//! at most once; what was acknowledged is there.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use std::sync::{Arc, LazyLock};

use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::internals::server::Board;
use rulemate::internals::server::core::{
    Act, Answer, Control, Input, LogEntry, OfferKind, Room, Rules, TokenHash,
};

use super::core::{Sums, seats, setup};

/// Seeds, and messages delivered under each. Together about as many steps as a year of one player.
const SEEDS: u64 = 200;
const MESSAGES: usize = 5_000;

const NAMES: [&str; 3] = ["ann", "ben", "eve"];
const CLOCK: Control = Control { initial: 3_000_000, increment: 2_000, delay: 500 };

#[derive(Debug, Clone)]
enum Message {
    /// A client's request, and how it calls it.
    Ask {
        client: usize,
        id: String,
        act: Act,
    },
    Answered {
        client: usize,
        id: String,
        answer: Option<Answer>,
    },
    /// A client wants what comes after the version that it has.
    Catch {
        client: usize,
        have: u64,
    },
    Event {
        client: usize,
        entry: LogEntry,
    },
    /// A client looks whether its request needs repeating, and what to do next.
    Think {
        client: usize,
    },
    Tick,
}

#[derive(Debug, Default)]
struct Client {
    seen: Vec<LogEntry>,
    /// The request that is not answered yet.
    open: Option<(String, Act)>,
    asked: u64,
}

/// What a simulated game is played by.
trait Played: Rules + Sized {
    /// The rules at the start of the game of a seed.
    fn start(seed: u64) -> Self;

    /// Something to play, mostly legal.
    fn guess(&mut self, random: &mut fastrand::Rng) -> String;

    /// All that must be the same in a game that was replayed.
    fn told(&mut self) -> String;

    /// Presets to ask for.
    fn presets() -> &'static [&'static str];

    /// The rules as they were kept after an earlier event.
    fn from_snapshot(_seed: u64, _text: &str) -> Option<Self> {
        None
    }
}

impl Played for Sums {
    fn start(_: u64) -> Self {
        Self::to(900)
    }

    fn guess(&mut self, random: &mut fastrand::Rng) -> String {
        ["1", "2", "+", "9"][random.usize(..4)].into()
    }

    fn told(&mut self) -> String {
        self.sum().to_string()
    }

    fn presets() -> &'static [&'static str] {
        &[]
    }
}

/// The games of chess, one a seed.
static GAMES: LazyLock<(Arc<Catalogue>, Vec<Ruleset>)> = LazyLock::new(|| {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let load = |name: &&str| catalogue.load::<&str>(name, &[]).unwrap_or_else(|it| panic!("{it}"));
    let games = ["knightmate", "double-move", "antichess", "coregal"].iter().map(load).collect();
    (Arc::new(catalogue), games)
});

fn rules_of(seed: u64) -> (Arc<Catalogue>, &'static Ruleset) {
    let (catalogue, games) = &*GAMES;
    (Arc::clone(catalogue), &games[seed as usize % games.len()])
}

impl Played for Board {
    fn start(seed: u64) -> Self {
        let (catalogue, rules) = rules_of(seed);
        Self::new(rules.start(None).unwrap(), catalogue, rules.clone())
    }

    fn guess(&mut self, random: &mut fastrand::Rng) -> String {
        let legal = self.game_mut().listing();
        random.choice(&legal).map_or_else(|| "a1a1".into(), |it| it.0.clone())
    }

    fn told(&mut self) -> String {
        serde_json::to_string(&self.game_mut().view()).unwrap()
    }

    fn presets() -> &'static [&'static str] {
        &["piece-hp"]
    }

    fn from_snapshot(seed: u64, text: &str) -> Option<Self> {
        let (catalogue, rules) = rules_of(seed);
        Self::from_snapshot(text, catalogue, rules)
    }
}

struct Simulation<R> {
    seed: u64,
    random: fastrand::Rng,
    now: u64,
    /// What the server's clock is wrong by.
    skew: i64,
    room: Room<R>,
    /// The last snapshot, and the event after which it was taken.
    kept: Option<(u64, String)>,
    /// Times that a crash led back to a snapshot.
    brought_back: u32,
    log: Vec<LogEntry>,
    clients: Vec<Client>,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    messages: HashMap<u64, Message>,
    sent: u64,
    reliable: bool,
    acknowledged: BTreeMap<String, u64>,
    games: u32,
    /// In all games.
    events: usize,
}

#[test]
fn clients_see_a_prefix_of_the_log_and_nothing_is_done_twice() {
    let mut events = 0;
    let mut games = 0;
    for seed in 0..SEEDS {
        let mut simulation = Simulation::<Sums>::new(seed);
        simulation.run(seed);
        events += simulation.events;
        games += simulation.games;
    }
    // The simulation would prove nothing if nothing happened in it.
    assert!(events > 20_000, "{events} events");
    assert!(games > 20, "{games} games to their end");
}

/// Some of the seeds, so that the processors share them.
fn games_of_chess(seeds: impl Iterator<Item = u64>) {
    let (mut events, mut brought_back) = (0, 0);
    for seed in seeds {
        let mut simulation = Simulation::<Board>::new(seed);
        simulation.run(seed);
        events += simulation.events;
        brought_back += simulation.brought_back;
    }
    assert!(events > 3_000, "{events} events");
    assert!(brought_back > 20, "{brought_back} crashes led back to a snapshot");
}

#[test]
fn games_of_chess_are_the_same_for_all_over_a_bad_network() {
    games_of_chess((0..SEEDS).step_by(2));
}

#[test]
fn games_of_chess_are_the_same_for_all_over_a_bad_network_too() {
    games_of_chess((1..SEEDS).step_by(2));
}

impl<R: Played> Simulation<R> {
    fn new(seed: u64) -> Self {
        let (room, log) =
            Room::create(1_000_000, R::start(seed), setup(Some(CLOCK)), &seats()).unwrap();
        let mut new = Self {
            seed,
            kept: None,
            brought_back: 0,
            random: fastrand::Rng::with_seed(seed),
            now: 1_000_000,
            skew: 0,
            room,
            log,
            clients: (0..3).map(|_| Client::default()).collect(),
            queue: BinaryHeap::new(),
            messages: HashMap::new(),
            sent: 0,
            reliable: false,
            acknowledged: BTreeMap::new(),
            games: 0,
            events: 0,
        };
        for client in 0..3 {
            new.after(10, Message::Think { client });
        }
        new.after(1_000, Message::Tick);
        new
    }

    fn run(&mut self, seed: u64) {
        for step in 0..MESSAGES {
            self.deliver();
            self.check(seed, step);
        }
        // In the end the network mends, and everybody sees everything.
        self.reliable = true;
        for step in 0..2_000 {
            self.deliver();
            self.check(seed, MESSAGES + step);
        }
        for (at, client) in self.clients.iter().enumerate() {
            let missing = self.log.len() - client.seen.len();
            assert!(missing < 12, "seed {seed}: client {at} has not seen {missing} events");
        }
        let start = R::start(seed);
        let mut again = Room::replay(start, setup(Some(CLOCK)), &self.log).unwrap();
        assert_eq!(again.lines(), self.room.lines(), "seed {seed}");
        assert_eq!(again.offers(), self.room.offers(), "seed {seed}");
        assert_eq!(again.outcome(), self.room.outcome(), "seed {seed}");
        let told = (again.rules_mut().told(), self.room.rules_mut().told());
        assert_eq!(told.0, told.1, "seed {seed}");
    }

    fn deliver(&mut self) {
        let Some(Reverse((at, number))) = self.queue.pop() else { return };
        self.now = self.now.max(at);
        let Some(message) = self.messages.remove(&number) else { return };
        match message {
            Message::Ask { client, id, act } => self.serve(client, id, act),
            Message::Catch { client, have } => self.catch_up(client, have),
            Message::Tick => self.tick(),
            Message::Event { client, entry } => self.take(client, entry),
            Message::Answered { client, id, answer } => self.answered(client, &id, answer),
            Message::Think { client } => self.think(client),
        }
    }

    // --- the network ---------------------------------------------------------------------------

    /// A timer: not lost, not doubled.
    fn after(&mut self, delay: u64, message: Message) {
        self.sent += 1;
        self.queue.push(Reverse((self.now + delay, self.sent)));
        self.messages.insert(self.sent, message);
    }

    fn send(&mut self, message: Message) {
        if self.reliable {
            return self.after(1, message);
        }
        if self.random.u32(..100) < 12 {
            return;
        }
        let copies = if self.random.u32(..100) < 10 { 2 } else { 1 };
        for _ in 0..copies {
            let delay = match self.random.u32(..100) {
                0..80 => self.random.u64(1..80),
                80..97 => self.random.u64(80..2_000),
                _ => self.random.u64(2_000..30_000),
            };
            self.after(delay, message.clone());
        }
    }

    // --- the server ----------------------------------------------------------------------------

    fn server_time(&self) -> u64 {
        self.now.saturating_add_signed(self.skew)
    }

    fn serve(&mut self, client: usize, id: String, act: Act) {
        let token = Some(TokenHash::of(NAMES[client]));
        let input = Input::Act { token, id: Some(id.clone()), act };
        let output = self.room.step(self.server_time(), input);
        // A crash before the events are stored: no client hears of them.
        if !self.reliable && self.random.u32(..200) == 0 {
            return self.restart();
        }
        self.keep(output.events);
        if !self.reliable && self.random.u32(..200) == 0 {
            return self.restart();
        }
        let answer = output.answer.and_then(Result::ok);
        self.send(Message::Answered { client, id, answer });
    }

    fn tick(&mut self) {
        if !self.reliable && self.random.u32(..8) == 0 {
            self.skew = self.random.i64(-50_000..50_000);
        }
        let output = self.room.step(self.server_time(), Input::Tick);
        self.keep(output.events);
        self.after(1_000, Message::Tick);
    }

    fn keep(&mut self, events: Vec<LogEntry>) {
        let changes_rules = |it: &LogEntry| {
            matches!(it.event, rulemate::internals::server::core::Event::PresetsChanged { .. })
        };
        if events.iter().any(changes_rules) {
            self.kept = None;
        } else if !events.is_empty() && self.random.u32(..20) == 0 {
            self.kept = self.room.rules().snapshot().map(|it| (self.room.v(), it));
        }
        for entry in events {
            self.log.push(entry.clone());
            self.events += 1;
            for client in 0..3 {
                self.send(Message::Event { client, entry: entry.clone() });
            }
        }
    }

    /// What is left after a crash is the log, as text.
    fn restart(&mut self) {
        let text = serde_json::to_string(&self.log).unwrap();
        let log: Vec<LogEntry> = serde_json::from_str(&text).unwrap();
        assert_eq!(log, self.log);
        let setup = setup(Some(CLOCK));
        let from_snapshot = self.kept.clone().and_then(|(seen, text)| {
            let rules = R::from_snapshot(self.seed, &text)?;
            let mut room = Room::as_seen(seen, rules, setup.clone(), &log);
            room.replay_some(&log, || false).ok().map(|()| room)
        });
        self.brought_back += u32::from(from_snapshot.is_some());
        let whole = || Room::replay(R::start(self.seed), setup, &log).unwrap();
        self.room = from_snapshot.unwrap_or_else(whole);
        // Whatever the machine's clock says by now: no side is charged for the time until here.
        let left = self.room.clocks(0);
        self.room.resume(self.server_time());
        assert_eq!(self.room.clocks(self.server_time()), left, "seed {}", self.seed);
    }

    fn catch_up(&mut self, client: usize, have: u64) {
        for entry in self.log.iter().skip(have as usize).cloned().collect::<Vec<_>>() {
            self.send(Message::Event { client, entry });
        }
    }

    // --- the clients ---------------------------------------------------------------------------

    fn take(&mut self, client: usize, entry: LogEntry) {
        let have = self.clients[client].seen.len() as u64;
        if entry.v == have + 1 {
            self.clients[client].seen.push(entry);
        } else if entry.v > have + 1 && self.random.bool() {
            self.send(Message::Catch { client, have });
        }
    }

    fn answered(&mut self, client: usize, id: &str, answer: Option<Answer>) {
        let own = &mut self.clients[client];
        if own.open.as_ref().is_some_and(|it| it.0 == id) {
            own.open = None;
        }
        if let Some(answer) = answer {
            let known = self.acknowledged.insert(id.to_owned(), answer.v);
            assert!(known.is_none_or(|it| it == answer.v), "{id} was answered in two ways");
        }
    }

    fn think(&mut self, client: usize) {
        let pause = self.random.u64(200..1_500);
        self.after(pause, Message::Think { client });
        let have = self.clients[client].seen.len() as u64;
        if self.reliable || self.random.u32(..10) == 0 {
            self.send(Message::Catch { client, have });
        }
        if self.clients[client].open.is_none() && !self.reliable {
            let act = self.intent(client);
            let own = &mut self.clients[client];
            own.asked += 1;
            own.open = Some((format!("{client}-{}", own.asked), act));
        }
        if let Some((id, act)) = self.clients[client].open.clone() {
            self.send(Message::Ask { client, id, act });
        }
    }

    /// Mostly a move for the position as this client knows it.
    fn intent(&mut self, client: usize) -> Act {
        let mut ply = 0;
        for entry in &self.clients[client].seen {
            match &entry.event {
                rulemate::internals::server::core::Event::Played { .. } => ply += 1,
                rulemate::internals::server::core::Event::TakenBack { to, .. } => ply = *to,
                _ => {}
            }
        }
        match self.random.u32(..100) {
            0..80 => {
                let uci = self.room.rules_mut().guess(&mut self.random);
                Act::Move { uci, expected_ply: Some(ply) }
            }
            80..84 => Act::Draw,
            84..92 => Act::Takeback,
            92..95 => Act::Decline(OfferKind::Draw),
            95..98 => Act::Decline(OfferKind::Takeback),
            98 if self.random.u32(..60) == 0 => Act::Resign,
            99 if !R::presets().is_empty() && self.random.u32(..8) == 0 => {
                Act::Presets(R::presets().iter().map(ToString::to_string).collect())
            }
            _ => Act::Say("hello".into()),
        }
    }

    // --- what must hold ------------------------------------------------------------------------

    fn check(&mut self, seed: u64, step: usize) {
        let context = || format!("seed {seed}, step {step}");
        for client in &self.clients {
            if let Some(last) = client.seen.last() {
                let at = client.seen.len() - 1;
                assert_eq!(Some(last), self.log.get(at), "{}", context());
            }
        }
        if !step.is_multiple_of(250) {
            return;
        }
        let mut done: HashMap<String, u64> = HashMap::new();
        for (at, entry) in self.log.iter().enumerate() {
            assert_eq!(entry.v, at as u64 + 1, "{}", context());
            let data = serde_json::to_value(entry).unwrap();
            if let Some(id) = data["d"]["id"].as_str() {
                let twice = done.insert(id.to_owned(), entry.v);
                assert!(twice.is_none(), "{}: {id} was done twice", context());
            }
        }
        assert!(self.log.windows(2).all(|it| it[0].at <= it[1].at), "{}", context());
        for (id, v) in &self.acknowledged {
            assert_eq!(done.get(id), Some(v), "{}: {id} was acknowledged", context());
        }
        if self.room.outcome().is_some() {
            self.games += 1;
            self.start_again();
        }
    }

    /// Another game, since nothing happens any more in this one.
    fn start_again(&mut self) {
        let now = self.server_time();
        let rules = R::start(self.seed);
        let (room, log) = Room::create(now, rules, setup(Some(CLOCK)), &seats()).unwrap();
        self.kept = None;
        self.room = room;
        self.log = log;
        self.acknowledged.clear();
        self.queue.clear();
        self.messages.clear();
        for client in 0..3 {
            let asked = self.clients[client].asked;
            self.clients[client] = Client { asked, ..Client::default() };
            self.after(10, Message::Think { client });
        }
        self.after(1_000, Message::Tick);
    }
}
