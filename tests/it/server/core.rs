//! The game core, step by step: seats, offers, clocks, requests that come twice.

use std::collections::BTreeMap;

use rulemate::internals::server::core::{
    Act, Control, Effect, Event, Input, LogEntry, OfferKind, Outcome, Output, Past, Played,
    Recorded, Refusal, Refused, Room, Rules, Seat, Setup, TokenHash,
};

/// A game of two sides or more that is no chess: who brings the sum to the goal wins. `1` and `2` end the
/// turn, `+` adds 3 and lets the same side go on once.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    pub(super) goal: u32,
    pub(super) sides: usize,
    /// What was added, by whom, and whether the turn went on.
    played: Vec<(u32, usize, bool)>,
    pub(super) presets: Vec<String>,
}

impl Sums {
    pub(super) fn to(goal: u32) -> Self {
        Self { goal, sides: 2, played: Vec::new(), presets: Vec::new() }
    }

    pub(super) fn sum(&self) -> u32 {
        self.played.iter().map(|it| it.0).sum()
    }
}

fn refused(sentence: &str) -> Refused {
    Refused::plain(sentence)
}

fn won_by(winner: usize, reason: &str) -> Outcome {
    Outcome { outcome: format!("side {winner} wins"), reason: reason.into(), winner: Some(winner) }
}

impl Rules for Sums {
    fn sides(&self) -> usize {
        self.sides
    }

    fn side(&self) -> usize {
        match self.played.last() {
            None => 0,
            Some((_, side, goes_on)) => {
                if *goes_on {
                    *side
                } else {
                    (side + 1) % self.sides
                }
            }
        }
    }

    fn play(&mut self, text: &str) -> Result<Played, Refused> {
        let going_on = self.played.last().is_some_and(|it| it.2);
        let (amount, turn_goes_on) = match text {
            "1" => (1, false),
            "2" => (2, false),
            "+" if !going_on => (3, true),
            // A move whose text is long, and one of which rules have much to say.
            "long" | "loud" => (1, false),
            _ => return Err(refused("no such move")),
        };
        let side = self.side();
        self.played.push((amount, side, turn_goes_on));
        let (much, long) = (text == "loud", if text == "long" { 5_000 } else { 1 });
        let effect = || Effect { name: "explosion".into(), args: BTreeMap::default() };
        Ok(Played {
            uci: text.into(),
            san: format!("{text}{}", "!".repeat(long)),
            side,
            turn_goes_on,
            turn: None,
            notes: if much { vec!["bang".repeat(50); 90] } else { Vec::new() },
            effects: if much { (0..90).map(|_| effect()).collect() } else { Vec::new() },
        })
    }

    fn take_back(&mut self, actions: usize) {
        self.played.truncate(self.played.len() - actions);
    }

    fn outcome(&self) -> Option<Outcome> {
        let (_, side, _) = self.played.last()?;
        (self.sum() >= self.goal).then(|| won_by(*side, "goal"))
    }

    fn resign(&mut self, side: usize) -> Result<Outcome, Refused> {
        Ok(won_by((side + 1) % self.sides, "resignation"))
    }

    fn claim(&mut self) -> Result<Outcome, Refused> {
        Err(refused("there is no draw to claim"))
    }

    fn activate(&mut self, presets: &[String]) -> Result<(), Refused> {
        self.presets = presets.to_vec();
        Ok(())
    }
}

pub(super) fn setup(clock: Option<Control>) -> Setup {
    Setup {
        game: "sums".into(),
        presets: Vec::new(),
        fen: None,
        facts: None,
        rules: String::new(),
        clock,
        open: false,
        chat: true,
        listed: false,
        rated: false,
        tournament: None,
        sides: vec!["first".into(), "second".into()],
    }
}

pub(super) fn seats() -> Vec<(usize, Seat)> {
    let seat = |name: &str| Seat { name: name.into(), token: TokenHash::of(name), computer: None };
    vec![(0, seat("ann")), (1, seat("ben"))]
}

fn room(clock: Option<Control>) -> Room<Sums> {
    Room::create(1_000, Sums::to(20), setup(clock), &seats()).unwrap().0
}

pub(super) fn ask(room: &mut Room<Sums>, now: u64, who: &str, act: Act) -> Output {
    room.step(now, Input::Act { token: Some(TokenHash::of(who)), id: None, act })
}

pub(super) fn play(uci: &str) -> Act {
    Act::Move { uci: uci.into(), expected_ply: None }
}

pub(super) fn refusal(output: Output) -> Refusal {
    assert!(output.events.is_empty(), "a refusal changes nothing");
    output.answer.unwrap().unwrap_err()
}

#[test]
fn only_the_side_to_move_moves() {
    let mut room = room(None);
    assert_eq!(refusal(ask(&mut room, 1_000, "ben", play("1"))), Refusal::NotYourTurn);
    assert_eq!(refusal(ask(&mut room, 1_000, "eve", play("1"))), Refusal::WrongToken);
    let nobody = Input::Act { token: None, id: None, act: play("1") };
    assert_eq!(refusal(room.step(1_000, nobody)), Refusal::NoToken);
    let done = ask(&mut room, 1_000, "ann", play("1"));
    assert!(matches!(done.events[0].event, Event::Played { .. }));
    assert_eq!(refusal(ask(&mut room, 1_000, "ben", play("9"))).code(), "illegal_move");
    let stale = Act::Move { uci: "1".into(), expected_ply: Some(0) };
    assert_eq!(
        refusal(ask(&mut room, 1_000, "ben", stale)),
        Refusal::StalePly { asked: 0, ply: 1 }
    );
}

/// An answer names the event of its request, whether that has an id or not; the end that follows is a further event.
#[test]
fn an_answer_names_the_event_of_its_request() {
    for id in [None, Some("last".to_owned())] {
        let mut room = Room::create(1_000, Sums::to(1), setup(None), &seats()).unwrap().0;
        let input = Input::Act { token: Some(TokenHash::of("ann")), id, act: play("1") };
        let Output { events, answer } = room.step(1_000, input);
        assert!(matches!(events[1].event, Event::Ended { .. }));
        assert_eq!(answer.unwrap().unwrap().v, events[0].v);
    }
}

/// What was not seen is said before whose turn it is: the turn may be another for that very reason.
#[test]
fn a_stale_ply_is_stale_out_of_turn_too() {
    let mut room = room(None);
    ask(&mut room, 1_000, "ann", play("1"));
    let stale = Act::Move { uci: "1".into(), expected_ply: Some(0) };
    assert_eq!(refusal(ask(&mut room, 1_000, "ann", stale)).code(), "stale_ply");
    let fresh = Act::Move { uci: "1".into(), expected_ply: Some(1) };
    assert_eq!(refusal(ask(&mut room, 1_000, "ann", fresh)).code(), "not_your_turn");
}

/// A game is called off before two actions are played, not after.
#[test]
fn a_game_is_called_off_until_both_have_moved() {
    for played in 0..4 {
        let mut room = room(None);
        for at in 0..played {
            ask(&mut room, 1_000, ["ann", "ben"][at % 2], play("1"));
        }
        let called_off = ask(&mut room, 1_000, "ann", Act::Abort);
        assert_eq!(called_off.answer.unwrap().is_ok(), played < 2, "after {played} actions");
        assert_eq!(room.outcome().is_some(), played < 2, "after {played} actions");
    }
}

/// A way to fill a log: its name, and what is done the how-manieth time.
type Noise = (&'static str, fn(u32) -> Act);

/// One side does all it can to fill the log; the other moves, resigns, and is told of draws.
#[test]
fn a_side_cannot_fill_the_log() {
    // With the maximum number of events that one side makes of it without a move of the other.
    let noise: [(Noise, usize); 5] = [
        (("offers", |at| [Act::Draw, Act::Decline(OfferKind::Draw)][at as usize % 2].clone()), 50),
        (("presets", |at| Act::Presets(vec![format!("more-{at}")])), 30),
        (
            ("takebacks", |at| {
                [Act::Takeback, Act::Decline(OfferKind::Takeback)][at as usize % 2].clone()
            }),
            50,
        ),
        (("messages", |_| Act::Say("\u{1F600}".repeat(300))), 310),
        (("undo", |at| [play("+"), Act::Takeback][at as usize % 2].clone()), 5_000),
    ];
    for ((what, make), most) in noise {
        let (mut room, first) = Room::create(0, Sums::to(4_000), setup(None), &seats()).unwrap();
        ask(&mut room, 0, "ann", play("1"));
        ask(&mut room, 0, "ben", play("1"));
        let (mut events, mut refused) = (first.len(), None);
        for at in 0..30_000 {
            let output = ask(&mut room, 0, "ann", make(at));
            events += output.events.len();
            if let Some(Err(why)) = output.answer {
                refused = Some(why);
            }
        }
        assert!(events < most, "{what}: {events} events at one ply");
        let code = refused.expect("a refusal").code().to_owned();
        assert!(code.starts_with("too_many_") || code == "no_such_offer", "{what}: {code}");
        // The game goes on, and what was asked too often may be asked again.
        if room.rules().side() == 0 {
            ask(&mut room, 0, "ann", play("1")).answer.unwrap().unwrap();
        }
        let before = room.lines().len();
        ask(&mut room, 0, "ben", play("1")).answer.unwrap().unwrap();
        ask(&mut room, 0, "ann", play("1")).answer.unwrap().unwrap();
        ask(&mut room, 0, "ben", Act::Draw).answer.unwrap().unwrap();
        assert_eq!(room.lines().len(), before + 2, "{what}");
        ask(&mut room, 0, "ben", Act::Resign).answer.unwrap().unwrap();
        assert_eq!(room.outcome().unwrap().winner, Some(0), "{what}");
    }
}

/// A new move gives room to ask and to talk again, up to a side's share of the game; its end gives some
/// more.
#[test]
fn room_to_talk_comes_with_new_moves() {
    let say = || Act::Say("x".into());
    let mut room = Room::create(0, Sums::to(4_000), setup(None), &seats()).unwrap().0;
    let told = |room: &mut Room<Sums>, who: &str| {
        (0..).take_while(|_| ask(room, 0, who, say()).answer.unwrap().is_ok()).count()
    };
    let mut all = 0;
    for turn in 0..11 {
        let count = told(&mut room, "ann");
        assert_eq!(count, if turn < 10 { 300 } else { 0 }, "{turn}");
        assert_eq!(told(&mut room, "ann"), 0, "nothing is new");
        let why = refusal(ask(&mut room, 0, "ann", say())).to_string();
        let until = if turn < 9 { "before the next move" } else { "in this game" };
        assert_eq!(why, format!("no more messages from you {until}"), "{turn}");
        all += count;
        for who in ["ann", "ben"] {
            ask(&mut room, 0, who, play("1")).answer.unwrap().unwrap();
        }
    }
    assert_eq!(all, 3_000, "half of what is not a move");
    let offers = |room: &mut Room<Sums>| {
        let mut offer = || {
            let made = ask(room, 0, "ben", Act::Draw).answer.unwrap().is_ok();
            made && ask(room, 0, "ben", Act::Decline(OfferKind::Draw)).answer.unwrap().is_ok()
        };
        (0..).take_while(|_| offer()).count()
    };
    assert_eq!((offers(&mut room), offers(&mut room)), (20, 0));
    ask(&mut room, 0, "ann", play("1")).answer.unwrap().unwrap();
    assert_eq!(offers(&mut room), 20);
    ask(&mut room, 0, "ben", Act::Resign).answer.unwrap().unwrap();
    assert_eq!(told(&mut room, "ann"), 150);
    // After the end no move gives room again.
    let mut room = Room::create(0, Sums::to(4_000), setup(None), &seats()).unwrap().0;
    ask(&mut room, 0, "ben", Act::Resign).answer.unwrap().unwrap();
    assert_eq!(told(&mut room, "ann"), 300);
    let why = refusal(ask(&mut room, 0, "ann", say())).to_string();
    assert_eq!(why, "no more messages from you in this game");
    // A move that is taken back and played again is not new.
    let mut room = Room::create(0, Sums::to(4_000), setup(None), &seats()).unwrap().0;
    let mut counts = Vec::new();
    for act in [play("+"), Act::Takeback, play("+"), play("1")] {
        ask(&mut room, 0, "ann", act).answer.unwrap().unwrap();
        counts.push(told(&mut room, "ann"));
    }
    assert_eq!(counts, [300, 0, 0, 300]);
}

/// Noise at every ply, by both: the game has room for its moves all the same, and when it has come to
/// the end of its log it ends, with room for what follows an end.
#[test]
fn a_game_at_the_end_of_its_log_ends() {
    let (mut room, mut log) = Room::create(0, Sums::to(u32::MAX), setup(None), &seats()).unwrap();
    let mut at = 0;
    while room.outcome().is_none() {
        let who = ["ann", "ben"][at % 2];
        for act in [Act::Draw, Act::Decline(OfferKind::Draw), Act::Say("x".into())] {
            log.extend(ask(&mut room, 0, who, act).events);
        }
        let output = ask(&mut room, 0, who, play("1"));
        output.answer.unwrap().unwrap();
        log.extend(output.events);
        at += 1;
    }
    assert_eq!(room.outcome().unwrap().reason, "move_limit");
    assert!(at > 13_000 && log.len() < 20_000, "{at} moves, {} events", log.len());
    log.extend(ask(&mut room, 0, "ann", Act::Rematch { game: "next".into() }).events);
    log.extend(ask(&mut room, 0, "ben", Act::Rematch { game: "next".into() }).events);
    assert_eq!(room.rematch(), Some("next"));
    // What is left of each share follows from the log.
    let mut again = Room::replay(Sums::to(u32::MAX), setup(None), &log).unwrap();
    let say = || Act::Say("x".into());
    for who in ["ann", "ben"] {
        let (one, two) = (ask(&mut room, 0, who, say()), ask(&mut again, 0, who, say()));
        assert_eq!((one.events.len(), one.answer), (two.events.len(), two.answer));
    }
}

/// A log from before there were shares, full of offers: its game is not frozen.
#[test]
fn a_full_log_still_takes_moves_and_ends() {
    let (mut room, mut log) = Room::create(0, Sums::to(4_000), setup(None), &seats()).unwrap();
    log.extend(ask(&mut room, 0, "ann", play("1")).events);
    for v in log.len() as u64 + 1..=20_000 {
        let event = Event::DrawOffered { by: 0, id: None };
        log.push(LogEntry { v, at: 0, resumed: None, event });
    }
    let full = || Room::replay(Sums::to(4_000), setup(None), &log).unwrap();
    assert_eq!(refusal(ask(&mut full(), 0, "ben", Act::Say("x".into()))).code(), "game_full");
    for act in [play("1"), Act::Resign, Act::Draw] {
        let mut room = full();
        ask(&mut room, 0, "ben", act).answer.unwrap().unwrap();
        assert!(room.outcome().is_some());
    }
}

/// Whatever is sent, and whatever rules say: what is stored of it is short.
#[test]
fn events_are_short() {
    let wide = |count: usize| "\u{1F600}".repeat(count);
    let acts = [
        Act::Say(wide(300)),
        Act::Presets(vec![wide(60_000)]),
        Act::Presets(vec!["x".into(); 20_000]),
        Act::Presets(vec!["more".into()]),
        play("long"),
        play("loud"),
        Act::Draw,
        Act::Resign,
    ];
    let mut sizes = Vec::new();
    for act in acts {
        let mut room = room(None);
        let (token, id) = (Some(TokenHash::of("ann")), Some(wide(64)));
        let before = room.rules().sum();
        let output = room.step(0, Input::Act { token, id, act: act.clone() });
        let is_done = output.answer.unwrap().map_err(|it| it.code());
        sizes.extend(output.events.iter().map(|it| serde_json::to_string(it).unwrap().len()));
        match act {
            Act::Presets(it) if it != ["more"] => assert_eq!(is_done, Err("too_long")),
            Act::Move { uci, .. } if uci == "long" => {
                assert_eq!(is_done, Err("too_long"));
                assert_eq!(room.rules().sum(), before, "a refusal changes nothing");
            }
            other => assert!(is_done.is_ok(), "{other:?}: {is_done:?}"),
        }
    }
    assert!(sizes.iter().all(|&it| it < 4_096), "{sizes:?}");
    let named = Setup { game: "x".repeat(5_000), ..setup(None) };
    let refused = Room::create(0, Sums::to(9), named, &[]).map(|_| ()).unwrap_err();
    assert_eq!(refused.code(), "too_long");
}

#[test]
fn a_request_that_comes_twice_is_done_once() {
    let mut room = room(None);
    let input = || Input::Act {
        token: Some(TokenHash::of("ann")),
        id: Some("a1".into()),
        act: Act::Move { uci: "1".into(), expected_ply: Some(0) },
    };
    let first = room.step(1_000, input()).answer.unwrap().unwrap();
    let again = room.step(5_000, input());
    assert!(again.events.is_empty());
    assert_eq!(again.answer.unwrap().unwrap(), first);
    // Also after the game went on, and after it was taken back.
    ask(&mut room, 6_000, "ben", play("2"));
    ask(&mut room, 6_000, "ann", Act::Takeback);
    ask(&mut room, 6_000, "ben", Act::Takeback);
    assert!(room.lines().is_empty());
    assert_eq!(room.step(7_000, input()).answer.unwrap().unwrap(), first);
    assert!(room.lines().is_empty());
}

#[test]
fn an_unfinished_turn_is_taken_back_without_asking() {
    let mut room = room(None);
    ask(&mut room, 1_000, "ann", play("+"));
    let undone = ask(&mut room, 1_000, "ann", Act::Takeback);
    assert!(matches!(undone.events[0].event, Event::TakenBack { .. }));
    ask(&mut room, 1_000, "ann", play("+"));
    ask(&mut room, 1_000, "ann", play("1"));
    // The whole turn, both its actions, and only if the other side agrees.
    let asked = ask(&mut room, 1_000, "ann", Act::Takeback);
    assert!(matches!(asked.events[0].event, Event::TakebackAsked { to: 0, .. }));
    assert_eq!(refusal(ask(&mut room, 1_000, "ann", Act::Takeback)), Refusal::OfferStands);
    ask(&mut room, 1_000, "ben", Act::Takeback);
    assert_eq!((room.lines().len(), room.rules().sum()), (0, 0));
}

#[test]
fn draws_are_agreed_and_offers_lapse() {
    let mut room = room(None);
    ask(&mut room, 1_000, "ann", Act::Draw);
    assert_eq!(room.offers().draw, Some(0));
    ask(&mut room, 1_000, "ann", play("1"));
    assert_eq!(room.offers().draw, Some(0), "one's own move lets the offer stand");
    ask(&mut room, 1_000, "ben", play("1"));
    assert_eq!(room.offers().draw, None, "the other's move declines it");
    ask(&mut room, 1_000, "ben", Act::Draw);
    ask(&mut room, 1_000, "ann", Act::Draw);
    assert_eq!(room.outcome().unwrap().reason, "agreement");
    assert_eq!(refusal(ask(&mut room, 1_000, "ann", play("1"))).code(), "game_over");
}

/// An offer is answered by the other side: made twice, it is no agreement with oneself.
#[test]
fn no_side_accepts_its_own_offer() {
    let mut room = room(None);
    ask(&mut room, 1_000, "ann", Act::Draw);
    assert_eq!(refusal(ask(&mut room, 1_000, "ann", Act::Draw)), Refusal::OfferStands);
    assert_eq!((room.outcome(), room.offers().draw), (None, Some(0)));
    ask(&mut room, 1_000, "ben", Act::Resign);
    let rematch = || Act::Rematch { game: "next".into() };
    ask(&mut room, 1_000, "ben", rematch());
    assert_eq!(refusal(ask(&mut room, 1_000, "ben", rematch())), Refusal::OfferStands);
    assert_eq!((room.rematch(), room.offers().rematch), (None, Some(1)));
    ask(&mut room, 1_000, "ann", rematch());
    assert_eq!(room.rematch(), Some("next"));
}

#[test]
fn clocks_go_on_while_a_game_is_out_of_memory() {
    let control = Control { initial: 10_000, increment: 0, delay: 0 };
    let (mut room, mut log) =
        Room::create(1_000, Sums::to(20), setup(Some(control)), &seats()).unwrap();
    assert!(!room.clock_runs() && room.timing().is_none(), "the first turn is free");
    log.extend(ask(&mut room, 1_000, "ann", play("1")).events);
    assert!(room.clock_runs());
    // Time has been seen to be later than it is: it does not go back.
    room.step(5_000, Input::Tick);
    let mut again = Room::replay(Sums::to(20), setup(Some(control)), &log).unwrap();
    again.restore_clocks(room.timing().expect("a clock runs"));
    assert_eq!((again.clocks(4_000), again.deadline()), (Some(vec![10_000, 6_000]), Some(11_000)));
    assert_eq!((room.clocks(4_000), room.deadline()), (again.clocks(4_000), again.deadline()));
    ask(&mut room, 2_000, "ben", Act::Resign);
    assert!(!room.clock_runs() && room.deadline().is_none(), "the game is over");
}

#[test]
fn clocks_that_are_too_long_are_refused_in_days_and_those_without_time_at_once() {
    const DAY: u64 = 86_400_000;
    let most = Control { initial: 30 * DAY, increment: 7 * DAY, delay: 14 * DAY };
    assert_eq!(most.fault(), None);
    let fault = Control { delay: 14 * DAY + 1, ..most }.fault().expect("it is too long");
    assert!(fault.contains("delay of 1209600001 ms") && fault.contains("(14 days)"), "{fault}");
    // What a turn adds comes too late for the first turn that is timed.
    let fault =
        Control { initial: 0, increment: 1_000, delay: 0 }.fault().expect("there is no time");
    assert!(fault.contains("no time for a first turn"), "{fault}");
    assert_eq!(Control { initial: 1, increment: 0, delay: 0 }.fault(), None);
}

/// Correspondence: so long for every turn, whatever the turns before took.
#[test]
fn days_for_every_turn_are_used_up_by_that_turn_alone() {
    const DAY: u64 = 86_400_000;
    let control = Control::correspondence(3);
    assert_eq!((control.fault(), control.days_a_turn()), (None, Some(3)));
    assert_eq!(Control { initial: 60_000, ..control }.days_a_turn(), None);
    let (mut room, _) = Room::create(0, Sums::to(20), setup(Some(control)), &seats()).unwrap();
    ask(&mut room, 0, "ann", play("1"));
    assert_eq!(room.deadline(), Some(3 * DAY));
    ask(&mut room, 3 * DAY - 1, "ben", play("1"));
    assert_eq!(
        room.deadline(),
        Some(6 * DAY - 1),
        "a turn that took long does not shorten the next"
    );
    ask(&mut room, 3 * DAY, "ann", play("1"));
    room.step(6 * DAY - 1, Input::Tick);
    assert_eq!(room.outcome(), None);
    room.step(6 * DAY + 1, Input::Tick);
    let outcome = room.outcome().expect("ben has not moved for three days");
    assert_eq!((outcome.winner, outcome.reason.as_str()), (Some(0), "timeout"));
}

/// What was played elsewhere leaves room for as much again.
#[test]
fn a_past_is_taken_over_as_far_as_there_is_room() {
    let room = || Room::create(0, Sums::to(1_000_000), setup(None), &seats()).unwrap().0;
    let past = |moves: usize| vec![Past::Turn("1".into()); moves];
    let ended = || Some(Recorded { winner: Some(1), reason: "abandoned".into() });
    let mut short = room();
    let left = 10_000 - short.v() as usize;
    assert_eq!(short.lead_in(&past(left), ended()).map(|it| it.len()), Ok(left + 1));
    let outcome = short.outcome().expect("it is over");
    assert_eq!((outcome.winner, outcome.reason.as_str()), (Some(1), "abandoned"));
    let full = room().lead_in(&past(left + 1), None).map(|it| it.len());
    assert_eq!(full, Err((left, Refusal::Full(10_000))));
    let mut wrong = past(3);
    wrong[2] = Past::Turn("3".into());
    assert_eq!(room().lead_in(&wrong, None).map_err(|it| it.0), Err(2));
}

#[test]
fn time_is_charged_by_turn_and_falls() {
    let control = Control { initial: 10_000, increment: 2_000, delay: 1_000 };
    let mut room = room(Some(control));
    // The first turn is free.
    ask(&mut room, 60_000, "ann", play("1"));
    assert_eq!(room.clocks(60_000).unwrap(), [10_000, 10_000]);
    assert_eq!(room.deadline(), Some(71_000));
    // Four seconds in two actions: one delay, one increment.
    ask(&mut room, 62_000, "ben", play("+"));
    ask(&mut room, 64_000, "ben", play("1"));
    assert_eq!(room.clocks(64_000).unwrap(), [10_000, 9_000]);
    // A clock of the machine that jumps back takes no time away and gives none.
    ask(&mut room, 1_000, "ann", play("1"));
    assert_eq!(room.clocks(64_000).unwrap(), [12_000, 9_000]);
    let late = room.step(74_000, Input::Tick);
    assert!(matches!(late.events[0].event, Event::Ended { .. }));
    assert_eq!(room.outcome().unwrap().winner, Some(0));
    assert_eq!(room.clocks(99_000).unwrap()[1], 0);
}

#[test]
fn a_draw_is_claimed_by_the_side_to_move_alone() {
    let mut room = room(None);
    assert_eq!(refusal(ask(&mut room, 1_000, "ben", Act::Claim)).code(), "claim_out_of_turn");
    // What the rules say to it is another matter.
    assert_eq!(refusal(ask(&mut room, 1_000, "ann", Act::Claim)).code(), "rules_refuse");
    ask(&mut room, 1_000, "ann", play("1"));
    assert_eq!(refusal(ask(&mut room, 1_000, "ann", Act::Claim)).code(), "claim_out_of_turn");
    // In the middle of a turn it is still the same side's.
    ask(&mut room, 1_000, "ben", play("+"));
    assert_eq!(refusal(ask(&mut room, 1_000, "ann", Act::Claim)).code(), "claim_out_of_turn");
    assert_eq!(refusal(ask(&mut room, 1_000, "ben", Act::Claim)).code(), "rules_refuse");
    // Who sits on both sides is to move.
    let both = [0, 1].map(|side| (side, seats()[0].1.clone()));
    let (mut room, _) = Room::create(0, Sums::to(20), setup(None), &both).unwrap();
    ask(&mut room, 0, "ann", play("1"));
    assert_eq!(refusal(ask(&mut room, 0, "ann", Act::Claim)).code(), "rules_refuse");
}

#[test]
fn rules_that_know_nothing_of_time_have_its_owner_lose() {
    let control = Control { initial: 10_000, increment: 0, delay: 0 };
    let mut room = room(Some(control));
    ask(&mut room, 1_000, "ann", play("1"));
    room.step(12_000, Input::Tick);
    let won = Outcome { reason: "timeout".into(), ..won_by(0, "") };
    assert_eq!(room.outcome(), Some(&won));
}

#[test]
fn seats_are_taken_once() {
    let (mut room, _) = Room::create(0, Sums::to(20), setup(None), &seats()[..1]).unwrap();
    let join = |name: &str| Input::Join {
        side: None,
        name: name.into(),
        token: TokenHash::of(name),
        rated: false,
    };
    assert_eq!(room.step(0, join("ben")).answer.unwrap().unwrap().side, 1);
    let again = room.step(0, join("ben"));
    assert!(again.events.is_empty() && again.answer.unwrap().is_ok(), "a repetition is answered");
    assert_eq!(refusal(room.step(0, join("eve"))), Refusal::AllTaken);
    // A token that has a seat is told of it again, and takes no other that is taken.
    let again =
        |side| Input::Join { side, name: "ann".into(), token: TokenHash::of("ann"), rated: false };
    for side in [None, Some(0)] {
        let output = room.step(0, again(side));
        assert!(output.events.is_empty() && output.answer.unwrap().is_ok(), "{side:?}");
    }
    assert_eq!(refusal(room.step(0, again(Some(1)))), Refusal::SeatTaken);
    // A game that is open to all has no seats to take.
    let open = Setup { open: true, ..setup(None) };
    let mut open = Room::create(0, Sums::to(20), open, &[]).unwrap().0;
    assert_eq!(refusal(open.step(0, join("eve"))), Refusal::OpenBoard);
    let long =
        Input::Join { side: None, name: "x".repeat(41), token: TokenHash::of("x"), rated: false };
    assert!(matches!(refusal(room.step(0, long)), Refusal::TooLong { .. }));
}

#[test]
fn presets_change_when_both_agree() {
    let mut room = room(None);
    let wanted = || Act::Presets(vec!["more".into()]);
    ask(&mut room, 0, "ann", wanted());
    assert_eq!(refusal(ask(&mut room, 0, "ann", wanted())), Refusal::OfferStands);
    assert!(room.rules().presets.is_empty(), "nor is one's own proposal, made twice");
    let other = Act::Presets(vec!["less".into()]);
    ask(&mut room, 0, "ben", other);
    assert!(room.rules().presets.is_empty(), "a counter-proposal is no consent");
    ask(&mut room, 0, "ann", Act::Presets(vec!["less".into()]));
    assert_eq!(
        (room.presets(), &*room.rules().presets),
        (&["less".into()][..], &["less".into()][..])
    );
}

/// A change of presets stands before the move that follows it: taking that move back leaves it.
#[test]
fn presets_are_taken_back_with_the_moves_before_them() {
    let mut room = room(None);
    let wanted = || Act::Presets(vec!["more".into()]);
    ask(&mut room, 0, "ann", play("1"));
    ask(&mut room, 0, "ann", wanted());
    ask(&mut room, 0, "ben", wanted());
    ask(&mut room, 0, "ben", play("1"));
    let back = |room: &mut Room<Sums>| {
        ask(room, 0, "ben", Act::Takeback);
        ask(room, 0, "ann", Act::Takeback);
    };
    back(&mut room);
    assert_eq!((room.lines().len(), room.presets()), (1, &["more".into()][..]));
    ask(&mut room, 0, "ann", Act::Takeback);
    ask(&mut room, 0, "ben", Act::Takeback);
    assert_eq!((room.lines().len(), room.presets()), (0, &[][..]));
}

/// Who plays both sides answers each offer for the other one.
#[test]
fn one_player_of_both_sides_agrees_for_both() {
    let both = seats().into_iter().map(|(side, _)| (side, seats()[0].1.clone()));
    let both: Vec<_> = both.collect();
    let mut room = Room::create(0, Sums::to(20), setup(None), &both).unwrap().0;
    ask(&mut room, 0, "ann", Act::Draw);
    assert_eq!(room.offers().draw, Some(0));
    ask(&mut room, 0, "ann", Act::Draw);
    assert_eq!(room.outcome().map(|it| it.reason.as_str()), Some("agreement"));
}

/// A game has one game after it.
#[test]
fn a_rematch_is_agreed_once() {
    let mut room = room(None);
    let rematch = |game: &str| Act::Rematch { game: game.into() };
    assert_eq!(refusal(ask(&mut room, 0, "ann", rematch("next"))), Refusal::NotOver);
    ask(&mut room, 0, "ben", Act::Resign);
    ask(&mut room, 0, "ben", rematch("next"));
    ask(&mut room, 0, "ann", rematch("next"));
    for name in ["ann", "ben"] {
        let why = refusal(ask(&mut room, 0, name, rematch("third")));
        assert_eq!((why.code(), why), ("game_over", Refusal::RematchMade));
    }
    assert_eq!((room.rematch(), room.offers().rematch), (Some("next"), None));
}

/// The computer grants what was asked for while its own turn was on its way: it must not ask for a takeback then.
#[test]
fn a_takeback_is_granted_only_while_it_is_asked_for() {
    let mut room = room(None);
    ask(&mut room, 0, "ann", play("1"));
    ask(&mut room, 0, "ann", Act::Takeback);
    assert_eq!(refusal(ask(&mut room, 0, "ann", Act::GrantTakeback)), Refusal::NoOffer);
    ask(&mut room, 0, "ben", play("1"));
    assert_eq!(refusal(ask(&mut room, 0, "ben", Act::GrantTakeback)), Refusal::NoOffer);
    assert_eq!((room.offers().takeback, room.lines().len()), (None, 2));
    ask(&mut room, 0, "ann", Act::Takeback);
    let done = ask(&mut room, 0, "ben", Act::GrantTakeback);
    assert!(matches!(done.events[0].event, Event::TakenBack { to: 0, .. }), "{done:?}");
}

/// What is told of a game's clocks and of its last event is what was recorded.
#[test]
fn a_takeback_sets_the_clocks() {
    let control = Control { initial: 10_000, increment: 0, delay: 0 };
    let mut room = room(Some(control));
    assert_eq!(room.touched(), 1_000);
    for (now, name) in [(2_000, "ann"), (3_000, "ben"), (5_000, "ann")] {
        ask(&mut room, now, name, play("1"));
        assert_eq!(room.touched(), now);
    }
    ask(&mut room, 6_000, "ann", Act::Takeback);
    let done = ask(&mut room, 7_000, "ben", Act::Takeback);
    let Event::TakenBack { clocks, to, .. } = &done.events[0].event else {
        panic!("{:?}", done.events)
    };
    assert_eq!((*to, room.touched()), (2, 7_000));
    let set = clocks.clone().expect("a clock runs");
    assert_eq!(room.clocks(7_000), Some(set.clone()));
    assert_eq!(room.clocks(9_000), Some(vec![set[0] - 2_000, set[1]]), "the first side's runs");
}

/// A turn that is taken back while the other side is in the middle of its own: the clock changes sides with the turn.
#[test]
fn a_takeback_out_of_a_turn_sets_the_clocks() {
    let mut room = room(Some(Control { initial: 10_000, increment: 0, delay: 0 }));
    for (now, name, uci) in [(2_000, "ann", "1"), (3_000, "ben", "1"), (4_000, "ann", "+")] {
        ask(&mut room, now, name, play(uci));
    }
    ask(&mut room, 5_000, "ben", Act::Takeback);
    ask(&mut room, 6_000, "ann", Act::Takeback);
    assert_eq!((room.lines().len(), room.rules().side()), (1, 1));
    assert_eq!(room.clocks(8_000), Some(vec![7_000, 7_000]), "the second side's runs");
    assert_eq!(room.deadline(), Some(15_000));
}

/// What a game starts from may be long, its name may not.
#[test]
fn facts_of_a_start_are_not_counted() {
    let long =
        Setup { facts: Some(serde_json::json!(["x".repeat(10_000)]).to_string()), ..setup(None) };
    assert!(Room::create(0, Sums::to(9), long.clone(), &[]).is_ok());
    let named = Setup { game: "x".repeat(5_000), ..long };
    let refused = Room::create(0, Sums::to(9), named, &[]).map(|_| ()).unwrap_err();
    assert_eq!(refused.code(), "too_long");
    let told = "the entry of this in the game's log is too long: 4096 bytes at most";
    assert_eq!(refused.to_string(), told);
}

#[test]
fn tokens_stay_out_of_what_is_public() {
    let (_, log) = Room::create(0, Sums::to(20), setup(None), &seats()).unwrap();
    for entry in &log {
        let text = entry.public().to_string();
        assert!(!text.contains("token"), "{text}");
    }
}
