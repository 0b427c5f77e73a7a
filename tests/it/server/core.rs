//! The game core, step by step: seats, offers, clocks, requests that come twice.

use rulemate::server::core::{
    Act, Control, Event, Input, Outcome, Output, Played, Refusal, Refused, Rules, Seat, Setup,
    Table, TokenHash,
};

/// A game of two sides that is no chess: who brings the sum to the goal wins. `1` and `2` end the
/// turn, `+` adds 3 and lets the same side go on once.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    pub(super) goal: u32,
    /// What was added, by whom, and whether the turn went on.
    played: Vec<(u32, usize, bool)>,
    pub(super) presets: Vec<String>,
}

impl Sums {
    pub(super) fn to(goal: u32) -> Self {
        Self { goal, played: Vec::new(), presets: Vec::new() }
    }

    pub(super) fn sum(&self) -> u32 {
        self.played.iter().map(|it| it.0).sum()
    }
}

fn refused(sentence: &str) -> Refused {
    Refused { sentence: sentence.into(), because: Vec::new() }
}

fn won_by(winner: usize, reason: &str) -> Outcome {
    Outcome { outcome: format!("side {winner} wins"), reason: reason.into(), winner: Some(winner) }
}

impl Rules for Sums {
    fn sides(&self) -> usize {
        2
    }

    fn side(&self) -> usize {
        match self.played.last() {
            None => 0,
            Some((_, side, goes_on)) => {
                if *goes_on {
                    *side
                } else {
                    1 - side
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
            _ => return Err(refused("no such move")),
        };
        let side = self.side();
        self.played.push((amount, side, turn_goes_on));
        Ok(Played {
            uci: text.into(),
            san: format!("{text}!"),
            side,
            turn_goes_on,
            notes: Vec::new(),
            effects: Vec::new(),
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
        Ok(won_by(1 - side, "resignation"))
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
        sides: vec!["first".into(), "second".into()],
    }
}

pub(super) fn seats() -> Vec<(usize, Seat)> {
    let seat = |name: &str| Seat { name: name.into(), token: TokenHash::of(name) };
    vec![(0, seat("ann")), (1, seat("ben"))]
}

fn table(clock: Option<Control>) -> Table<Sums> {
    Table::create(1_000, Sums::to(20), setup(clock), &seats()).unwrap().0
}

fn ask(table: &mut Table<Sums>, now: u64, who: &str, act: Act) -> Output {
    table.step(now, Input::Act { token: Some(TokenHash::of(who)), id: None, act })
}

fn play(uci: &str) -> Act {
    Act::Move { uci: uci.into(), expected_ply: None }
}

fn refusal(output: Output) -> Refusal {
    assert!(output.events.is_empty(), "a refusal changes nothing");
    output.answer.unwrap().unwrap_err()
}

#[test]
fn only_the_side_to_move_moves() {
    let mut table = table(None);
    assert_eq!(refusal(ask(&mut table, 1_000, "ben", play("1"))), Refusal::NotYourTurn);
    assert_eq!(refusal(ask(&mut table, 1_000, "eve", play("1"))), Refusal::WrongToken);
    let nobody = Input::Act { token: None, id: None, act: play("1") };
    assert_eq!(refusal(table.step(1_000, nobody)), Refusal::NoToken);
    let done = ask(&mut table, 1_000, "ann", play("1"));
    assert_eq!(done.events[0].event.kind(), "played");
    assert_eq!(refusal(ask(&mut table, 1_000, "ben", play("9"))).code(), "illegal_move");
    let stale = Act::Move { uci: "1".into(), expected_ply: Some(0) };
    assert_eq!(
        refusal(ask(&mut table, 1_000, "ben", stale)),
        Refusal::StalePly { asked: 0, ply: 1 }
    );
}

#[test]
fn a_request_that_comes_twice_is_done_once() {
    let mut table = table(None);
    let input = || Input::Act {
        token: Some(TokenHash::of("ann")),
        id: Some("a1".into()),
        act: Act::Move { uci: "1".into(), expected_ply: Some(0) },
    };
    let first = table.step(1_000, input()).answer.unwrap().unwrap();
    let again = table.step(5_000, input());
    assert!(again.events.is_empty());
    assert_eq!(again.answer.unwrap().unwrap(), first);
    // Also after the game went on, and after it was taken back.
    ask(&mut table, 6_000, "ben", play("2"));
    ask(&mut table, 6_000, "ann", Act::Takeback);
    ask(&mut table, 6_000, "ben", Act::Takeback);
    assert!(table.lines().is_empty());
    assert_eq!(table.step(7_000, input()).answer.unwrap().unwrap(), first);
    assert!(table.lines().is_empty());
}

#[test]
fn an_unfinished_turn_is_taken_back_without_asking() {
    let mut table = table(None);
    ask(&mut table, 1_000, "ann", play("+"));
    let undone = ask(&mut table, 1_000, "ann", Act::Takeback);
    assert_eq!(undone.events[0].event.kind(), "taken_back");
    ask(&mut table, 1_000, "ann", play("+"));
    ask(&mut table, 1_000, "ann", play("1"));
    // The whole turn, both its actions, and only if the other side agrees.
    let asked = ask(&mut table, 1_000, "ann", Act::Takeback);
    assert!(matches!(asked.events[0].event, Event::TakebackAsked { to: 0, .. }));
    assert_eq!(refusal(ask(&mut table, 1_000, "ann", Act::Takeback)), Refusal::OfferStands);
    ask(&mut table, 1_000, "ben", Act::Takeback);
    assert_eq!((table.lines().len(), table.rules().sum()), (0, 0));
}

#[test]
fn draws_are_agreed_and_offers_lapse() {
    let mut table = table(None);
    ask(&mut table, 1_000, "ann", Act::Draw);
    assert_eq!(table.offers().draw, Some(0));
    ask(&mut table, 1_000, "ann", play("1"));
    assert_eq!(table.offers().draw, Some(0), "one's own move lets the offer stand");
    ask(&mut table, 1_000, "ben", play("1"));
    assert_eq!(table.offers().draw, None, "the other's move declines it");
    ask(&mut table, 1_000, "ben", Act::Draw);
    ask(&mut table, 1_000, "ann", Act::Draw);
    assert_eq!(table.outcome().unwrap().reason, "agreement");
    assert_eq!(refusal(ask(&mut table, 1_000, "ann", play("1"))).code(), "game_over");
}

#[test]
fn time_is_charged_by_turn_and_falls() {
    let control = Control { initial: 10_000, increment: 2_000, delay: 1_000 };
    let mut table = table(Some(control));
    // The first turn is free.
    ask(&mut table, 60_000, "ann", play("1"));
    assert_eq!(table.clocks(60_000).unwrap(), [10_000, 10_000]);
    assert_eq!(table.deadline(), Some(71_000));
    // Four seconds in two actions: one delay, one increment.
    ask(&mut table, 62_000, "ben", play("+"));
    ask(&mut table, 64_000, "ben", play("1"));
    assert_eq!(table.clocks(64_000).unwrap(), [10_000, 9_000]);
    // A clock of the machine that jumps back takes no time away and gives none.
    ask(&mut table, 1_000, "ann", play("1"));
    assert_eq!(table.clocks(64_000).unwrap(), [12_000, 9_000]);
    let late = table.step(74_000, Input::Tick);
    assert_eq!(late.events[0].event.kind(), "ended");
    assert_eq!(table.outcome().unwrap().winner, Some(0));
    assert_eq!(table.clocks(99_000).unwrap()[1], 0);
}

#[test]
fn time_in_which_the_server_was_away_is_nobodys() {
    let control = Control { initial: 10_000, increment: 0, delay: 0 };
    let (mut table, mut log) =
        Table::create(1_000, Sums::to(20), setup(Some(control)), &seats()).unwrap();
    log.extend(ask(&mut table, 1_000, "ann", play("1")).events);
    log.extend(ask(&mut table, 4_000, "ben", play("1")).events);
    let mut again = Table::replay(Sums::to(20), setup(Some(control)), &log).unwrap();
    again.resume(3_600_000);
    assert_eq!(again.clocks(3_600_000).unwrap(), [10_000, 7_000]);
    assert_eq!(again.deadline(), Some(3_610_000));
}

#[test]
fn seats_are_taken_once() {
    let (mut table, _) = Table::create(0, Sums::to(20), setup(None), &seats()[..1]).unwrap();
    let join =
        |name: &str| Input::Join { side: None, name: name.into(), token: TokenHash::of(name) };
    assert_eq!(table.step(0, join("ben")).answer.unwrap().unwrap().side, 1);
    let again = table.step(0, join("ben"));
    assert!(again.events.is_empty() && again.answer.unwrap().is_ok(), "a repetition is answered");
    assert_eq!(refusal(table.step(0, join("eve"))), Refusal::SeatTaken);
    let long = Input::Join { side: None, name: "x".repeat(41), token: TokenHash::of("x") };
    assert!(matches!(refusal(table.step(0, long)), Refusal::TooLong { .. }));
}

#[test]
fn presets_change_when_both_agree() {
    let mut table = table(None);
    let wanted = || Act::Presets(vec!["more".into()]);
    ask(&mut table, 0, "ann", wanted());
    let other = Act::Presets(vec!["less".into()]);
    ask(&mut table, 0, "ben", other);
    assert!(table.rules().presets.is_empty(), "a counter-proposal is no consent");
    ask(&mut table, 0, "ann", Act::Presets(vec!["less".into()]));
    assert_eq!(
        (table.presets(), &*table.rules().presets),
        (&["less".into()][..], &["less".into()][..])
    );
}

#[test]
fn tokens_stay_out_of_what_is_public() {
    let (_, log) = Table::create(0, Sums::to(20), setup(None), &seats()).unwrap();
    for entry in &log {
        let text = entry.public().to_string();
        assert!(!text.contains("token"), "{text}");
    }
}
