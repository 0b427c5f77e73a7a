//! When the clocks of a game run: not before all have come, not for what was played elsewhere, nor while no server runs.

use rulemate::internals::server::core::{Act, Control, Input, LogEntry, Past, Room, TokenHash};

use super::core::{Sums, ask, play as playing, seats, setup};

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

#[test]
fn time_without_the_server_is_charged_to_no_side() {
    let control = Control { initial: 10_000, increment: 0, delay: 0 };
    let (mut room, mut log) =
        Room::create(1_000, Sums::to(20), setup(Some(control)), &seats()).unwrap();
    log.extend(ask(&mut room, 1_000, "ann", playing("1")).events);
    log.extend(ask(&mut room, 4_000, "ben", playing("1")).events);
    let mut again = Room::replay(Sums::to(20), setup(Some(control)), &log).unwrap();
    again.resume(3_600_000);
    assert_eq!(again.clocks(3_600_000).unwrap(), [10_000, 7_000]);
    assert_eq!(again.deadline(), Some(3_610_000));
}

/// The delay of a turn is given once, however often the server is restarted before the turn is over.
#[test]
fn a_restart_does_not_give_the_delay_of_a_turn_again() {
    let control = Control { initial: 0, increment: 0, delay: 10_000 };
    let again = |log: &[LogEntry]| Room::replay(Sums::to(20), setup(Some(control)), log).unwrap();
    let (mut room, mut log) =
        Room::create(1_000, Sums::to(20), setup(Some(control)), &seats()).unwrap();
    log.extend(ask(&mut room, 1_000, "ann", playing("1")).events);
    log.extend(ask(&mut room, 7_000, "ben", playing("+")).events);
    let mut second = again(&log);
    second.resume(3_600_000);
    assert_eq!(second.deadline(), Some(3_604_000), "six of ten seconds are used up");
    log.extend(ask(&mut second, 3_601_000, "ben", Act::Say("back".into())).events);
    let mut third = again(&log);
    third.resume(9_000_000);
    assert_eq!(third.deadline(), Some(9_003_000));
}

/// Whatever the clocks of machines say when a game is loaded: what was not measured is charged to no
/// side, and time in the log goes forward.
#[test]
fn clocks_set_anew_across_a_restart_charge_no_side() {
    const HOUR: u64 = 3_600_000;
    let control = Control { initial: 10_000, increment: 0, delay: 0 };
    for at_restart in [0, 9 * HOUR + 3_000, 10 * HOUR, 10 * HOUR + 4_000, 11 * HOUR] {
        let started = 10 * HOUR;
        let (mut room, mut log) =
            Room::create(started, Sums::to(20), setup(Some(control)), &seats()).unwrap();
        log.extend(ask(&mut room, started, "ann", playing("1")).events);
        log.extend(ask(&mut room, started + 4_000, "ben", playing("1")).events);
        let mut again = Room::replay(Sums::to(20), setup(Some(control)), &log).unwrap();
        again.resume(at_restart);
        let left = |room: &Room<Sums>, after: u64| room.clocks(at_restart + after).unwrap();
        assert_eq!(left(&again, 0), [10_000, 6_000], "{at_restart}");
        assert_eq!(left(&again, 2_500), [7_500, 6_000], "time goes on as it is measured");
        assert_eq!(again.deadline(), Some(at_restart + 10_000));
        assert!(again.step(at_restart + 9_999, Input::Tick).events.is_empty());
        log.extend(ask(&mut again, at_restart + 9_999, "ann", playing("1")).events);
        assert_eq!(left(&again, 9_999), [1, 6_000]);
        assert!(log.windows(2).all(|it| it[0].at <= it[1].at), "time goes forward");
        // And once more, the other way.
        let mut third = Room::replay(Sums::to(20), setup(Some(control)), &log).unwrap();
        third.resume(started);
        assert_eq!(third.clocks(started + 1_000).unwrap(), [1, 5_000]);
    }
}

/// Two nodes whose machines' clocks are hours apart hand a game to and fro: both tell the same time
/// left, and neither charges more than was measured.
#[test]
fn nodes_with_different_clocks_charge_what_was_measured() {
    const HOUR: u64 = 3_600_000;
    let control = Control { initial: 60_000, increment: 0, delay: 0 };
    for (one, other) in [(5 * HOUR, 9 * HOUR), (9 * HOUR, 5 * HOUR)] {
        let clock = |node: usize, at: u64| at + [one, other][node];
        let (room, mut log) =
            Room::create(clock(0, 0), Sums::to(40), setup(Some(control)), &seats()).unwrap();
        let follower = Room::replay(Sums::to(40), setup(Some(control)), &log).unwrap();
        let mut nodes = [room, follower];
        nodes[1].resume(clock(1, 0));
        let (mut owner, mut at) = (0, 0);
        for ply in 0..12 {
            at += 1_000;
            let act = playing("1");
            let events =
                ask(&mut nodes[owner], clock(owner, at), ["ann", "ben"][ply % 2], act).events;
            assert_eq!(events.len(), 1, "no clock has fallen");
            nodes[1 - owner].follow(clock(1 - owner, at), &events).unwrap();
            log.extend(events);
            let left = |node: usize| nodes[node].clocks(clock(node, at + 500)).unwrap();
            assert_eq!(left(0), left(1), "ply {ply}");
            let spent: u64 = left(0).iter().map(|it| 60_000 - it).sum();
            assert_eq!(spent, 1_000 * ply as u64 + 500, "ply {ply}");
            let deadlines = [0, 1].map(|it| nodes[it].deadline().unwrap() - clock(it, 0));
            assert_eq!(deadlines[0], deadlines[1]);
            if ply % 3 == 2 {
                // The owner is gone for a while; the other one takes over.
                owner = 1 - owner;
                at += HOUR;
                nodes[owner].resume(clock(owner, at));
                let left = nodes[owner].clocks(clock(owner, at)).unwrap();
                assert_eq!(left.iter().map(|it| 60_000 - it).sum::<u64>(), 1_000 * ply as u64);
                // The one that was away hears of the game again with the next move.
            }
        }
        assert!(log.windows(2).all(|it| it[0].at <= it[1].at), "time goes forward");
    }
}

/// It is free when it is played again, too.
#[test]
fn no_clock_runs_after_the_first_turn_is_taken_back() {
    let (mut room, mut log) =
        Room::create(1_000, Sums::to(20), setup(Some(CLOCK)), &seats()).unwrap();
    log.extend(play(&mut room, 2_000, "ann"));
    for who in ["ann", "ben"] {
        let token = Some(TokenHash::of(who));
        let done = room.step(4_000, Input::Act { token, id: None, act: Act::Takeback });
        done.answer.unwrap().unwrap();
        log.extend(done.events);
    }
    for room in [&room, &replayed(&log)] {
        assert!(room.lines().is_empty() && !room.clock_runs());
        assert_eq!(room.clocks(60_000).unwrap(), [10_000, 8_000]);
    }
    log.extend(play(&mut room, 61_000, "ann"));
    for room in [&room, &replayed(&log)] {
        assert_eq!(room.clocks(62_000).unwrap(), [10_000, 7_000]);
    }
}
