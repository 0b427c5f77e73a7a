//! A hosted game whose rules rewind turns: what was played stays in the log and in the move list,
//! the board and the clocks go back, and a takeback takes the rewind back.

use std::sync::Arc;

use rulemate::internals::game::GameSnapshot;
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::internals::rules::Source;
use rulemate::internals::server::Board;
use rulemate::internals::server::core::{
    Act, Control, Event, Input, LogEntry, Past, Room, Rules, Setup, TokenHash,
};

use super::core::{seats, setup};

const DO_OVER: &str = r#"% take-back
.meta preset "take-back"
.meta name "Do over"
.meta description "A pawn that dies for the first time undoes the last two turns"
.domain Preset += { take-back }
.input charges(piece: Entity, n: Int) key attr charges lasting "{piece} can undo its death {n} times"
odd_target(q) :- charges(q, n), n > 0.
on activated(e) when preset(e, 'take-back), kind(p, 'pawn) do set charges(p, 1).
on capture(_, q, _) in before do note "{q} is about to be struck".
on capture(_, q, _) do note "{q} is struck".
on died(q, _) when charges(q, n), n > 0 do set charges(q, n - 1), rewind 2, note "{q} does over".
"#;

fn rules() -> (Arc<Catalogue>, Ruleset) {
    let mut catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let source = Source { path: "upload/take-back.dl".into(), text: DO_OVER.into() };
    catalogue.add(source).unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load("chess", &["take-back"]).unwrap_or_else(|it| panic!("{it}"));
    (Arc::new(catalogue), rules)
}

fn board() -> Board {
    let (catalogue, rules) = rules();
    Board::new(rules.start(None).unwrap(), catalogue, rules)
}

fn timed() -> Setup {
    setup(Some(Control { initial: 60_000, increment: 0, delay: 0 }))
}

struct Game {
    room: Room<Board>,
    log: Vec<LogEntry>,
    now: u64,
}

impl Game {
    fn new() -> Self {
        let (room, log) = Room::create(0, board(), timed(), &seats()).unwrap();
        Self { room, log, now: 0 }
    }

    /// The side to move does something, a second later.
    fn step(&mut self, who: usize, act: Act) {
        self.now += 1_000;
        let token = Some(TokenHash::of(["ann", "ben"][who]));
        let output = self.room.step(self.now, Input::Act { token, id: None, act });
        output.answer.unwrap().unwrap_or_else(|it| panic!("{it}"));
        self.log.extend(output.events);
    }

    fn play(&mut self, uci: &str) {
        let act = Act::Move { uci: uci.into(), expected_ply: Some(self.room.lines().len()) };
        self.step(self.room.rules().side(), act);
    }

    fn fen(&mut self) -> String {
        let fen = self.room.rules_mut().game_mut().fen();
        fen.split(' ').take(2).collect::<Vec<_>>().join(" ")
    }

    fn told(&mut self) -> String {
        let (lines, offers) = (self.room.lines().to_vec(), self.room.offers().clone());
        let view = self.room.rules_mut().game_mut().view();
        format!("{lines:?} {offers:?} {:?} {view:?}", self.room.clocks(self.now))
    }
}

#[test]
fn a_rewind_is_part_of_the_game() {
    let mut game = Game::new();
    game.play("e2e4");
    let after_one = game.fen();
    game.play("d7d5");
    let after_two = game.fen();
    game.play("e4d5");
    assert_eq!(game.fen(), after_one, "the capture and the move before it are undone");
    assert_eq!((game.room.lines().len(), game.room.rules().side()), (3, 1));
    let last = game.room.lines().last().unwrap();
    assert!(!last.turn_goes_on && last.notes.len() == 1, "{last:?}");
    assert!(last.notes[0].ends_with("does over"), "{last:?}");

    // The clock of the side to move runs, and no side gets time back.
    assert_eq!(game.room.clocks(game.now + 5_000), Some(vec![59_000, 54_000]));

    // A takeback takes the rewind back; then the game goes the same way once more.
    game.step(0, Act::Takeback);
    game.step(1, Act::Takeback);
    assert_eq!((game.fen(), game.room.lines().len()), (after_two, 2));
    game.play("e4d5");
    assert_eq!(game.fen(), after_one);
    // What was spent lasts: the second capture is one.
    game.play("d7d5");
    game.play("e4d5");
    assert!(game.fen().starts_with("rnbqkbnr/ppp1pppp/8/3P4/8/"), "{}", game.fen());
    assert_eq!(game.room.lines().len(), 5);

    // The log tells the same, whole and from a snapshot anywhere in it.
    let whole = Room::replay(board(), timed(), &game.log).unwrap();
    let mut again = Game { room: whole, log: game.log.clone(), now: game.now };
    assert_eq!(again.told(), game.told());
    for seen in 3..=game.log.len() {
        let part = Room::replay(board(), timed(), &game.log[..seen]).unwrap();
        let kept: GameSnapshot = serde_json::from_str(&part.rules().snapshot().unwrap()).unwrap();
        let (catalogue, rules) = rules();
        let back = Board::new(rules.restore_snapshot(&kept).unwrap(), catalogue, rules);
        let mut room = Room::as_seen(seen as u64, back, timed(), &game.log);
        room.replay_some(&game.log, || false).unwrap();
        let mut again = Game { room, log: game.log.clone(), now: game.now };
        assert_eq!(again.told(), game.told(), "from the snapshot after event {seen}");
    }
    // And so do its moves alone, as another server would import them.
    let mut imported = Game::new();
    let past: Vec<Past> =
        game.room.lines().iter().map(|it| Past::Turn(it.san.to_string())).collect();
    let events = imported.room.lead_in(&past, None).unwrap();
    assert!(events.iter().all(|it| matches!(it.event, Event::Played { .. })));
    assert_eq!(imported.fen(), game.fen());
}
