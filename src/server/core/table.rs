//! The state of one hosted game, and the one function that changes it.
//!
//! [`Table::step`] checks an input, does it, and says which events it came to; [`Table::replay`]
//! makes the same state from a log. Whoever drives a table sends nothing out before the events are
//! durable, and throws the table away if they cannot be stored.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::answers::Answers;
use super::clock::Clocks;
use super::event::{Entry, Event, OfferKind, Seat, Setup, TokenHash};
use super::refusal::Refusal;
use super::rules::{Outcome, Played, Refused, Rules};

/// As many events as one game may have.
pub(super) const EVENTS: u64 = 20_000;
/// Characters of what people type.
const NAME: usize = 40;
const ID: usize = 64;
const CHAT: usize = 300;
/// Before this many actions nothing has been lost: the game can be called off.
const ABORTABLE: usize = 2;

/// What somebody wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Act {
    /// The action that the text means; with the number of actions that the client has seen.
    Move {
        uci: String,
        expected_ply: Option<usize>,
    },
    Resign,
    /// Calls off a game that has hardly begun.
    Abort,
    /// Claims a draw that the rules give.
    Claim,
    /// Offers a draw, or accepts one.
    Draw,
    /// Takes the first part of one's own turn back, or asks for the last turn to be taken back, or
    /// grants that.
    Takeback,
    /// Asks for other presets from here on, or agrees to the ones asked for.
    Presets(Vec<String>),
    /// Declines an offer, or withdraws one's own.
    Decline(OfferKind),
    /// Offers another game, or accepts that: then the game of this id is it.
    Rematch {
        game: String,
    },
    Say(String),
}

/// What reaches a game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// Somebody sits down, on any free seat or on a certain one.
    Join { side: Option<usize>, name: String, token: TokenHash },
    /// Somebody wants something. `id` names the request: the same id is done once.
    Act { token: Option<TokenHash>, id: Option<String>, act: Act },
    /// Time has passed.
    Tick,
}

/// What was made of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Answer {
    /// The number of the last event that it came to.
    pub v: u64,
    /// The number of actions played after it.
    pub ply: usize,
    /// The side that it was done for.
    pub side: usize,
    /// The rematch, if that came about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game: Option<String>,
}

/// What came of an input.
#[derive(Debug)]
pub struct Output {
    /// To be stored before anything else is done.
    pub events: Vec<Entry>,
    /// For whoever sent the input, once the events are stored. None for time passing.
    pub answer: Option<Result<Answer, Refusal>>,
}

/// One action that was played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Line {
    #[schema(value_type = String)]
    pub uci: Box<str>,
    #[schema(value_type = String)]
    pub san: Box<str>,
    pub side: usize,
    /// The same side goes on with its turn.
    pub turn_goes_on: bool,
    /// What the rules say about it.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub notes: Box<[String]>,
    /// When it was played, in milliseconds since 1970.
    pub at: u64,
    /// What each side had left after it, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clocks: Option<Box<[u64]>>,
}

/// What stands offered, and by which side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Offers {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw: Option<usize>,
    /// Who asks, and the number of actions that would be left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takeback: Option<(usize, usize)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presets: Option<(usize, Vec<String>)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rematch: Option<usize>,
}

/// One hosted game.
#[derive(Debug)]
pub struct Table<R> {
    rules: R,
    setup: Setup,
    seats: Vec<Option<Seat>>,
    lines: Vec<Line>,
    clocks: Option<Clocks>,
    offers: Offers,
    outcome: Option<Outcome>,
    /// The id of the game that follows, and the event that it came about with.
    rematch: Option<(u64, String)>,
    /// The presets in force beyond the game's own.
    presets: Vec<String>,
    /// What was in force before each change, and the number of actions played then.
    changed: Vec<(usize, Vec<String>)>,
    /// What requests were answered.
    answers: Answers,
    /// The last event, and the latest time that was seen.
    v: u64,
    now: u64,
    /// When the last event was.
    touched: u64,
}

/// How time goes in a game whose clock runs, to be remembered while the game is out of memory.
#[derive(Debug, Clone)]
pub struct Timing {
    pub(in crate::server) clocks: Clocks,
    pub(in crate::server) now: u64,
}

/// A game in memory grows by so many lines at a time.
const LINES: usize = 16;

impl<R: Rules> Table<R> {
    /// A game that begins, with its first events.
    ///
    /// # Errors
    /// A name that is too long.
    pub fn create(
        now: u64,
        rules: R,
        setup: Setup,
        seats: &[(usize, Seat)],
    ) -> Result<(Self, Vec<Entry>), Refusal> {
        let mut table = Self::empty(rules, setup.clone());
        let mut events = Vec::new();
        table.now = now;
        table.push(&mut events, Event::Created(setup));
        for (side, seat) in seats {
            table.seat_free(*side)?;
            short("a name", &seat.name, NAME)?;
            table.push(&mut events, Event::Seated { side: *side, seat: seat.clone() });
        }
        if let Some(outcome) = table.rules.outcome() {
            table.end(&mut events, outcome, None, None);
        }
        Ok((table, events))
    }

    /// The game that a log tells. The first entry is its creation, which `rules` were made from.
    ///
    /// # Errors
    /// An event that these rules refuse, with its number: they are not those of the log.
    pub fn replay(rules: R, setup: Setup, log: &[Entry]) -> Result<Self, (u64, Refused)> {
        let mut table = Self::empty(rules, setup);
        table.follow(log)?;
        Ok(table)
    }

    /// The game that a log tells, of which the rules have seen the events up to `seen` already.
    ///
    /// # Errors
    /// As [`Table::replay`].
    pub fn replay_after(
        seen: u64,
        rules: R,
        setup: Setup,
        log: &[Entry],
    ) -> Result<Self, (u64, Refused)> {
        let mut table = Self::empty(rules, setup);
        let known = log.iter().take_while(|it| it.v <= seen).count();
        let (before, after) = log.split_at(known);
        before.iter().for_each(|it| table.record(it));
        table.follow(after)?;
        Ok(table)
    }

    /// Takes in what happened elsewhere: the events after the last one known.
    ///
    /// # Errors
    /// As [`Table::replay`]; the table is then of no use any more.
    pub fn follow(&mut self, log: &[Entry]) -> Result<(), (u64, Refused)> {
        for entry in log {
            let done = match &entry.event {
                Event::Played { uci, .. } => self.rules.play(uci).map(|_| ()),
                Event::PresetsChanged { presets, .. } => self.rules.activate(presets),
                Event::TakenBack { to, .. } => {
                    self.rules.take_back(self.lines.len().saturating_sub(*to));
                    Ok(())
                }
                _ => Ok(()),
            };
            done.map_err(|why| (entry.v, why))?;
            self.record(entry);
        }
        Ok(())
    }

    fn empty(rules: R, setup: Setup) -> Self {
        let sides = rules.sides();
        Self {
            clocks: setup.clock.map(|it| Clocks::new(it, sides)),
            seats: vec![None; sides],
            presets: setup.presets.clone(),
            changed: Vec::new(),
            rules,
            setup,
            lines: Vec::new(),
            offers: Offers::default(),
            outcome: None,
            rematch: None,
            answers: Answers::default(),
            v: 0,
            now: 0,
            touched: 0,
        }
    }

    /// Goes on after a time in which nobody looked: it is charged to nobody.
    pub fn resume(&mut self, now: u64) {
        if let Some(clocks) = &mut self.clocks {
            clocks.resume(self.now, now);
        }
        self.now = self.now.max(now);
    }

    /// How time goes here, if a clock runs.
    pub fn timing(&self) -> Option<Timing> {
        let clocks = self.clocks.clone().filter(Clocks::runs)?;
        Some(Timing { clocks, now: self.now })
    }

    /// Goes on with clocks that have run on while the game was out of memory.
    pub fn go_on(&mut self, Timing { clocks, now }: Timing) {
        self.clocks = Some(clocks);
        self.now = now;
    }

    pub fn rules(&self) -> &R {
        &self.rules
    }

    /// The rules, for questions about the position. Whoever changes it takes it back.
    pub fn rules_mut(&mut self) -> &mut R {
        &mut self.rules
    }

    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    pub fn seats(&self) -> &[Option<Seat>] {
        &self.seats
    }

    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    pub fn offers(&self) -> &Offers {
        &self.offers
    }

    pub fn presets(&self) -> &[String] {
        &self.presets
    }

    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    pub fn rematch(&self) -> Option<&str> {
        self.rematch.as_ref().map(|it| it.1.as_str())
    }

    /// The number of the last event.
    pub fn v(&self) -> u64 {
        self.v
    }

    /// When the last event was.
    pub fn touched(&self) -> u64 {
        self.touched
    }

    /// What each side has left.
    pub fn clocks(&self, now: u64) -> Option<Vec<u64>> {
        self.clocks.as_ref().map(|it| it.at(now.max(self.now)))
    }

    /// The side whose clock runs.
    pub fn clock_runs(&self) -> bool {
        self.clocks.as_ref().is_some_and(Clocks::runs)
    }

    /// When time will make a difference, if nothing else does.
    pub fn deadline(&self) -> Option<u64> {
        self.clocks.as_ref()?.deadline().map(|(_, at)| at)
    }

    /// The sides that a token plays.
    pub fn sides_of(&self, token: &TokenHash) -> Vec<usize> {
        let admits = |seat: &Option<Seat>| seat.as_ref().is_some_and(|it| it.admits(token));
        (0..self.seats.len()).filter(|&it| admits(&self.seats[it])).collect()
    }

    /// The one function that changes a game.
    pub fn step(&mut self, now: u64, input: Input) -> Output {
        // Time never runs backward here, whatever the machine's clock does.
        self.now = self.now.max(now);
        let mut events = Vec::new();
        self.fall(&mut events);
        let answer = match input {
            Input::Tick => None,
            Input::Join { side, name, token } => Some(self.join(&mut events, side, name, token)),
            Input::Act { token, id, act } => Some(self.act(&mut events, token, id, act)),
        };
        Output { events, answer }
    }

    /// Ends the game if the running clock has fallen.
    fn fall(&mut self, events: &mut Vec<Entry>) {
        let Some((side, at)) = self.clocks.as_ref().and_then(Clocks::deadline) else { return };
        if self.outcome.is_some() || self.now < at {
            return;
        }
        let outcome = match self.rules.resign(side) {
            Ok(it) => Outcome { reason: "timeout".into(), ..it },
            Err(_) => Outcome { outcome: "draw".into(), reason: "timeout".into(), winner: None },
        };
        self.end(events, outcome, None, None);
    }

    fn join(
        &mut self,
        events: &mut Vec<Entry>,
        side: Option<usize>,
        name: String,
        token: TokenHash,
    ) -> Result<Answer, Refusal> {
        // Who sits already and asks again, after a lost answer, has been answered.
        let own = self.sides_of(&token);
        if let Some(&side) = own.iter().find(|&&it| side.is_none_or(|wanted| wanted == it)) {
            return Ok(self.answer(side));
        }
        short("a name", &name, NAME)?;
        let free = self.seats.iter().position(Option::is_none);
        let side = side.or(free).ok_or(Refusal::SeatTaken)?;
        self.seat_free(side)?;
        self.push(events, Event::Seated { side, seat: Seat { name, token } });
        Ok(self.answer(side))
    }

    fn seat_free(&self, side: usize) -> Result<(), Refusal> {
        match self.seats.get(side) {
            None => Err(Refusal::NoSeat(side)),
            Some(_) if self.setup.open => Err(Refusal::SeatTaken),
            Some(Some(_)) => Err(Refusal::SeatTaken),
            Some(None) => Ok(()),
        }
    }

    fn act(
        &mut self,
        events: &mut Vec<Entry>,
        token: Option<TokenHash>,
        id: Option<String>,
        act: Act,
    ) -> Result<Answer, Refusal> {
        let sides = self.admitted(token.as_ref())?;
        if let Some(id) = &id {
            short("a request's id", id, ID)?;
            if let Some(answer) = sides.iter().find_map(|&it| self.answered(it, id)) {
                return Ok(answer);
            }
        }
        if self.v >= EVENTS {
            return Err(Refusal::Full(EVENTS));
        }
        let by = self.actor(&sides, &act)?;
        self.refuse_by_phase(&act)?;
        let named = id.clone();
        match act {
            Act::Move { uci, expected_ply } => self.play(events, by, &uci, expected_ply, id)?,
            Act::Resign => {
                let outcome = self.rules.resign(by).map_err(Refusal::NotSo)?;
                self.end(events, outcome, Some(by), id);
            }
            Act::Abort => self.abort(events, by, id)?,
            Act::Claim => {
                let outcome = self.rules.claim().map_err(Refusal::NotSo)?;
                self.end(events, outcome, Some(by), id);
            }
            Act::Draw => self.draw(events, by, id)?,
            Act::Takeback => self.takeback(events, by, id)?,
            Act::Presets(presets) => self.change_presets(events, by, presets, id)?,
            Act::Decline(offer) => {
                if !self.stands(offer) {
                    return Err(Refusal::NoOffer);
                }
                self.push(events, Event::Declined { by, offer, id });
            }
            Act::Rematch { game } => match self.offers.rematch {
                Some(other) if other == by => return Err(Refusal::OfferStands),
                Some(_) => self.push(events, Event::Rematched { by, game, id }),
                None => self.push(events, Event::RematchOffered { by, id }),
            },
            Act::Say(text) => {
                short("a message", &text, CHAT)?;
                self.push(events, Event::Said { by, text, id });
            }
        }
        // What is answered is what a repetition of the request would be answered.
        let kept = named.and_then(|it| self.answered(by, &it));
        Ok(kept.unwrap_or_else(|| self.answer(by)))
    }

    /// The sides that may be acted for.
    fn admitted(&self, token: Option<&TokenHash>) -> Result<Vec<usize>, Refusal> {
        if self.setup.open {
            return Ok((0..self.seats.len()).collect());
        }
        let sides = self.sides_of(token.ok_or(Refusal::NoToken)?);
        if sides.is_empty() { Err(Refusal::WrongToken) } else { Ok(sides) }
    }

    /// Which of the admitted sides acts: whoever is to move, or the one that an offer is made to.
    fn actor(&self, sides: &[usize], act: &Act) -> Result<usize, Refusal> {
        let turn = self.rules.side();
        if matches!(act, Act::Move { .. }) {
            if self.outcome.is_none() && !sides.contains(&turn) {
                return Err(Refusal::NotYourTurn);
            }
            return Ok(if sides.contains(&turn) { turn } else { sides[0] });
        }
        let offered_by = match act {
            Act::Draw => self.offers.draw,
            Act::Takeback => self.offers.takeback.map(|it| it.0),
            Act::Presets(_) => self.offers.presets.as_ref().map(|it| it.0),
            Act::Rematch { .. } => self.offers.rematch,
            _ => None,
        };
        if let Some(by) = offered_by
            && let Some(&other) = sides.iter().find(|&&it| it != by)
        {
            return Ok(other);
        }
        let last = self.lines.last().map(|it| it.side).filter(|_| matches!(act, Act::Takeback));
        let first = last.filter(|it| sides.contains(it)).unwrap_or(turn);
        Ok(if sides.contains(&first) { first } else { sides[0] })
    }

    fn refuse_by_phase(&self, act: &Act) -> Result<(), Refusal> {
        match (act, &self.outcome) {
            (Act::Say(_), _) if !self.setup.chat => Err(Refusal::ChatOff),
            (Act::Say(_) | Act::Decline(_), _) => Ok(()),
            (Act::Rematch { .. }, None) => Err(Refusal::NotOver),
            (Act::Rematch { .. }, Some(outcome)) if self.rematch.is_some() => {
                Err(Refusal::Over(outcome.clone()))
            }
            (Act::Rematch { .. }, Some(_)) => Ok(()),
            (_, Some(outcome)) => Err(Refusal::Over(outcome.clone())),
            (_, None) => Ok(()),
        }
    }

    pub(super) fn play(
        &mut self,
        events: &mut Vec<Entry>,
        by: usize,
        text: &str,
        expected_ply: Option<usize>,
        id: Option<String>,
    ) -> Result<(), Refusal> {
        let ply = self.lines.len();
        if let Some(asked) = expected_ply.filter(|&it| it != ply) {
            return Err(Refusal::StalePly { asked, ply });
        }
        let played = self.rules.play(text).map_err(Refusal::Illegal)?;
        let next = self.rules.side();
        let clocks = self.clocks.clone().map(|mut it| {
            if !played.turn_goes_on {
                it.turn_over(next, self.now);
            }
            it.at(self.now)
        });
        let Played { uci, san, turn_goes_on, notes, effects, .. } = played;
        let side = by;
        let event = Event::Played { ply, uci, san, side, turn_goes_on, notes, effects, clocks, id };
        self.push(events, event);
        if let Some(outcome) = self.rules.outcome() {
            self.end(events, outcome, None, None);
        }
        Ok(())
    }

    fn abort(
        &mut self,
        events: &mut Vec<Entry>,
        by: usize,
        id: Option<String>,
    ) -> Result<(), Refusal> {
        if self.lines.len() >= ABORTABLE {
            let sentence = "the game has begun: resign, or agree to a draw".into();
            return Err(Refusal::NotSo(Refused { sentence, because: Vec::new() }));
        }
        let (outcome, reason) = ("none".to_owned(), "aborted".to_owned());
        self.end(events, Outcome { outcome, reason, winner: None }, Some(by), id);
        Ok(())
    }

    fn draw(
        &mut self,
        events: &mut Vec<Entry>,
        by: usize,
        id: Option<String>,
    ) -> Result<(), Refusal> {
        match self.offers.draw {
            Some(other) if other == by => return Err(Refusal::OfferStands),
            Some(_) => {
                let (outcome, reason) = ("draw".to_owned(), "agreement".to_owned());
                self.end(events, Outcome { outcome, reason, winner: None }, Some(by), id);
            }
            None => self.push(events, Event::DrawOffered { by, id }),
        }
        Ok(())
    }

    fn takeback(
        &mut self,
        events: &mut Vec<Entry>,
        by: usize,
        id: Option<String>,
    ) -> Result<(), Refusal> {
        match self.offers.takeback {
            Some((other, to)) if other != by => self.take_back_to(events, by, to, id),
            Some(_) => return Err(Refusal::OfferStands),
            None => {
                let last = self.lines.iter().rposition(|it| it.side == by);
                let last = last.ok_or(Refusal::NothingToTakeBack)?;
                if last + 1 == self.lines.len() && self.lines[last].turn_goes_on {
                    // A turn that is not finished belongs to whoever is taking it.
                    self.take_back_to(events, by, last, id);
                } else {
                    let to = self.turn_start(last);
                    self.push(events, Event::TakebackAsked { by, to, id });
                }
            }
        }
        Ok(())
    }

    /// The first action of the turn that an action belongs to.
    fn turn_start(&self, at: usize) -> usize {
        let goes_on = self.lines[..at].iter().rev().take_while(|it| it.turn_goes_on);
        at - goes_on.count()
    }

    fn take_back_to(&mut self, events: &mut Vec<Entry>, by: usize, to: usize, id: Option<String>) {
        self.rules.take_back(self.lines.len() - to);
        let clocks = self.clocks.as_ref().map(|it| it.at(self.now));
        self.push(events, Event::TakenBack { by, to, clocks, id });
    }

    pub(super) fn set_presets(
        &mut self,
        events: &mut Vec<Entry>,
        by: usize,
        presets: Vec<String>,
        id: Option<String>,
    ) -> Result<(), Refusal> {
        self.rules.activate(&presets).map_err(Refusal::NotSo)?;
        self.push(events, Event::PresetsChanged { by, presets, id });
        if let Some(outcome) = self.rules.outcome() {
            self.end(events, outcome, None, None);
        }
        Ok(())
    }

    fn change_presets(
        &mut self,
        events: &mut Vec<Entry>,
        by: usize,
        presets: Vec<String>,
        id: Option<String>,
    ) -> Result<(), Refusal> {
        match &self.offers.presets {
            Some((other, asked)) if *asked == presets && *other == by => Err(Refusal::OfferStands),
            Some((_, asked)) if *asked == presets => self.set_presets(events, by, presets, id),
            _ => {
                self.push(events, Event::PresetsAsked { by, presets, id });
                Ok(())
            }
        }
    }

    fn stands(&self, offer: OfferKind) -> bool {
        match offer {
            OfferKind::Draw => self.offers.draw.is_some(),
            OfferKind::Takeback => self.offers.takeback.is_some(),
            OfferKind::Presets => self.offers.presets.is_some(),
            OfferKind::Rematch => self.offers.rematch.is_some(),
        }
    }

    pub(super) fn end(
        &mut self,
        events: &mut Vec<Entry>,
        outcome: Outcome,
        by: Option<usize>,
        id: Option<String>,
    ) {
        let clocks = self.clocks.as_ref().map(|it| it.at(self.now));
        self.push(events, Event::Ended { outcome, clocks, by, id });
    }

    fn answer(&self, side: usize) -> Answer {
        self.answer_of(side, self.v, self.lines.len())
    }

    fn answer_of(&self, side: usize, v: u64, ply: usize) -> Answer {
        let game = self.rematch.as_ref().filter(|it| it.0 <= v).map(|it| it.1.clone());
        Answer { v, ply, side, game }
    }

    /// What a request was answered, if it was made before.
    fn answered(&self, side: usize, id: &str) -> Option<Answer> {
        self.answers.get(side, id).map(|(v, ply)| self.answer_of(side, v, ply))
    }

    fn push(&mut self, events: &mut Vec<Entry>, event: Event) {
        let entry = Entry { v: self.v + 1, at: self.now, event };
        self.record(&entry);
        events.push(entry);
    }

    /// Takes an event in, live and from a log alike. The rules have seen it already.
    fn record(&mut self, entry: &Entry) {
        self.v = entry.v;
        self.now = self.now.max(entry.at);
        self.touched = entry.at;
        match &entry.event {
            Event::Created(_) => {}
            Event::Seated { side, seat } => {
                if let Some(place) = self.seats.get_mut(*side) {
                    *place = Some(seat.clone());
                }
            }
            Event::Played { uci, san, side, turn_goes_on, notes, clocks, id, .. } => {
                if self.lines.len() == self.lines.capacity() {
                    self.lines.reserve_exact(LINES);
                }
                self.lines.push(Line {
                    uci: uci.as_str().into(),
                    san: san.as_str().into(),
                    side: *side,
                    turn_goes_on: *turn_goes_on,
                    notes: notes.as_slice().into(),
                    at: entry.at,
                    clocks: clocks.as_deref().map(Into::into),
                });
                self.offers.takeback = None;
                self.offers.draw = self.offers.draw.filter(|it| it == side);
                if !turn_goes_on {
                    self.set_clocks(clocks.as_deref(), entry.at);
                }
                self.done(*side, id.as_deref());
            }
            Event::DrawOffered { by, id } => {
                self.offers.draw = Some(*by);
                self.done(*by, id.as_deref());
            }
            Event::TakebackAsked { by, to, id } => {
                self.offers.takeback = Some((*by, *to));
                self.done(*by, id.as_deref());
            }
            Event::PresetsAsked { by, presets, id } => {
                self.offers.presets = Some((*by, presets.clone()));
                self.done(*by, id.as_deref());
            }
            Event::Declined { by, offer, id } => {
                match offer {
                    OfferKind::Draw => self.offers.draw = None,
                    OfferKind::Takeback => self.offers.takeback = None,
                    OfferKind::Presets => self.offers.presets = None,
                    OfferKind::Rematch => self.offers.rematch = None,
                }
                self.done(*by, id.as_deref());
            }
            Event::TakenBack { by, to, clocks, id } => {
                let mid_turn = self.lines.last().is_some_and(|it| it.turn_goes_on);
                self.lines.truncate(*to);
                while let Some((_, before)) = self.changed.pop_if(|it| it.0 > *to) {
                    self.presets = before;
                }
                self.offers = Offers::default();
                if !mid_turn {
                    self.set_clocks(clocks.as_deref(), entry.at);
                }
                self.done(*by, id.as_deref());
            }
            Event::PresetsChanged { by, presets, id } => {
                let before = std::mem::replace(&mut self.presets, presets.clone());
                self.changed.push((self.lines.len(), before));
                self.offers.presets = None;
                self.done(*by, id.as_deref());
            }
            Event::Ended { outcome, clocks, by, id } => {
                self.outcome = Some(outcome.clone());
                self.offers = Offers::default();
                if let (Some(own), Some(left)) = (&mut self.clocks, clocks) {
                    own.restore(left, None, entry.at);
                }
                if let Some(by) = by {
                    self.done(*by, id.as_deref());
                }
            }
            Event::RematchOffered { by, id } => {
                self.offers.rematch = Some(*by);
                self.done(*by, id.as_deref());
            }
            Event::Rematched { by, game, id } => {
                self.offers.rematch = None;
                self.rematch = Some((entry.v, game.clone()));
                self.done(*by, id.as_deref());
            }
            Event::Said { by, id, .. } => self.done(*by, id.as_deref()),
        }
    }

    fn set_clocks(&mut self, left: Option<&[u64]>, at: u64) {
        let side = self.rules.side();
        if let (Some(own), Some(left)) = (&mut self.clocks, left) {
            own.restore(left, Some(side), at);
        }
    }

    /// Remembers the answer to a request, so that its repetition gets the same.
    fn done(&mut self, by: usize, id: Option<&str>) {
        if let Some(id) = id {
            self.answers.keep(by, id, self.v, self.lines.len());
        }
    }
}

fn short(what: &'static str, text: &str, limit: usize) -> Result<(), Refusal> {
    match text.chars().count() <= limit {
        true => Ok(()),
        false => Err(Refusal::TooLong { what, limit }),
    }
}
