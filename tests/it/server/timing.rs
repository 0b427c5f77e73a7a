//! When the clocks of a game run: not before all have come, and not for what was played elsewhere.

use rulemate::internals::server::core::{Act, Control, Input, LogEntry, Past, Room, TokenHash};

use super::core::{Sums, seats, setup};

const CLOCK: Control = Control { initial: 10_000, increment: 1_000, delay: 0 };

/// A game of a log as far as it has come.
fn replayed(log: &[LogEntry]) -> Room<Sums> {
    Room::replay(Sums::to(20), setup(Some(CLOCK)), log).unwrap()
}

fn play(room: &mut Room<Sums>, now: u64, who: &str) -> Vec<LogEntry> {
    let act = Act::Move { uci: "1".into(), expected_ply: None };
    let done = room.step(now, Input::Act { token: Some(TokenHash::of(who)), id: None, act });
    done.answer.unwrap().unwrap();
    done.events
}

#[test]
fn no_clock_runs_while_a_seat_is_free() {
    let alone = &seats()[..1];
    let (mut room, mut log) = Room::create(1_000, Sums::to(20), setup(Some(CLOCK)), alone).unwrap();
    log.extend(play(&mut room, 2_000, "ann"));
    for room in [&mut room, &mut replayed(&log)] {
        assert!(!room.clock_runs() && room.deadline().is_none());
        assert!(room.step(60_000, Input::Tick).events.is_empty());
        assert_eq!(room.clocks(60_000).unwrap(), [10_000, 10_000]);
    }
    let (name, token) = ("ben".to_owned(), TokenHash::of("ben"));
    log.extend(room.step(61_000, Input::Join { side: None, name, token, rated: false }).events);
    for room in [&room, &replayed(&log)] {
        assert_eq!(room.clocks(63_000).unwrap(), [10_000, 8_000], "the second side's runs");
        assert_eq!(room.deadline(), Some(71_000));
    }
    log.extend(play(&mut room, 64_000, "ben"));
    for room in [&room, &replayed(&log)] {
        assert_eq!(
            room.clocks(66_000).unwrap(),
            [8_000, 8_000],
            "three seconds, and the increment"
        );
    }
}

#[test]
fn what_was_played_elsewhere_takes_no_time_and_gives_none() {
    let (mut room, mut log) =
        Room::create(1_000, Sums::to(20), setup(Some(CLOCK)), &seats()).unwrap();
    let past: Vec<Past> = (0..4).map(|_| Past::Turn("1".into())).collect();
    log.extend(room.lead_in(&past, None).unwrap());
    for room in [&room, &replayed(&log)] {
        assert_eq!(room.clocks(9_000).unwrap(), [10_000, 10_000]);
        assert!(!room.clock_runs(), "the first turn here is free");
    }
    log.extend(play(&mut room, 20_000, "ann"));
    for room in [&room, &replayed(&log)] {
        assert_eq!(room.clocks(23_000).unwrap(), [10_000, 7_000]);
    }
}

/// A turn is interrupted twice, with an event between the two times that leaves the clock running.
#[test]
fn time_without_a_server_stays_free_after_another_restart() {
    let add = || Act::Move { uci: "+".into(), expected_ply: None };
    for act in [Act::Say("are you there?".into()), Act::Draw, add()] {
        let (mut room, mut log) =
            Room::create(1_000, Sums::to(20), setup(Some(CLOCK)), &seats()).unwrap();
        log.extend(play(&mut room, 1_000, "ann"));
        let mut second = replayed(&log);
        second.resume(3_600_000);
        let token = Some(TokenHash::of("ben"));
        log.extend(second.step(3_602_000, Input::Act { token, id: None, act }).events);
        assert_eq!(second.clocks(3_603_000).unwrap(), [10_000, 7_000]);
        assert_eq!(replayed(&log).clocks(0).unwrap(), [10_000, 8_000], "the time of the log");
        let mut third = replayed(&log);
        third.resume(9_000_000);
        assert_eq!(third.clocks(9_000_500).unwrap(), [10_000, 7_500]);
        // A node that has heard of the game all along tells the same time.
        let mut other = replayed(&log[..log.len() - 1]);
        other.resume(3_601_000);
        other.follow(3_602_000, &log[log.len() - 1..]).unwrap();
        assert_eq!(other.clocks(3_603_000).unwrap(), [10_000, 7_000]);
        // Only the first event after the interruption records it, and clients are not told.
        let next = second.step(
            3_603_000,
            Input::Act { token: Some(TokenHash::of("ben")), id: None, act: Act::Say("yes".into()) },
        );
        let all: Vec<LogEntry> = log.iter().cloned().chain(next.events).collect();
        let recorded = all.iter().filter(|it| it.resumed.is_some()).count();
        assert_eq!(recorded, 1);
        assert!(all.iter().all(|it| it.public().get("resumed").is_none()));
    }
}
