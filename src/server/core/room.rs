//! The state of one hosted game, and the one function that changes it.
//!
//! [`Room::step`] checks an input, carries it out, and returns the events; [`Room::replay`] makes the same
//! state from a log. The caller of a room sends nothing out before the events are durable, and discards the
//! room if they cannot be stored.

use super::answers::Answers;
use super::clock::{Clocks, difference};
use super::event::{Event, LogEntry, OfferKind, Seat, Setup, TokenHash, cut_to_size};
use super::refusal::{Refusal, Talk};
use super::request::{Act, Answer, Input, Line, Offers, Output};
use super::rules::{Outcome, Played, Refused, Rules, TIMEOUT};
use super::talk::Ledger;
use crate::presets::is_printable;

/// Maximum number of events of a game. When only [`RESERVE`] are left, it ends in a draw by the limit of
/// moves. Events that are not moves cannot use them up (see [`Ledger`]).
pub(in crate::server) const EVENTS: u64 = 20_000;
/// Number of events that are reserved for the end of a game and for chat after it.
const RESERVE: u64 = 400;
/// Maximum number of characters of a player's name.
pub(super) const NAME: usize = 40;
/// Maximum number of characters of a request's id.
const ID: usize = 64;
/// Maximum number of characters of a chat message.
const CHAT: usize = 300;
/// Maximum size of the presets in one request, in bytes of JSON.
const PRESETS: usize = 1024;
/// Maximum number of characters of each word of an outcome.
const WORD: usize = 80;
/// A game with fewer actions can be aborted.
const ABORTABLE: usize = 2;
/// Number of lines by which a game's memory grows at a time.
const LINES: usize = 16;

/// One hosted game.
#[derive(Debug)]
pub struct Room<R> {
    pub(super) rules: R,
    pub(super) setup: Setup,
    pub(super) seats: Vec<Option<Seat>>,
    pub(super) lines: Vec<Line>,
    pub(super) clocks: Option<Clocks>,
    offers: Offers,
    pub(super) outcome: Option<Outcome>,
    /// The id of the game that follows, and the number of the event that created it.
    rematch: Option<(u64, String)>,
    /// The presets in force beyond the game's own.
    presets: Vec<String>,
    /// The presets before each change, with the number of actions played then.
    changed: Vec<(usize, Vec<String>)>,
    /// The answers to past requests.
    answers: Answers,
    /// Whether a player has switched the chat off.
    is_hushed: bool,
    /// The counts of offers and messages.
    ledger: Ledger,
    /// The number of the last event.
    v: u64,
    /// The latest time that was seen, in the game's own time.
    pub(super) now: u64,
    /// How far the game's own time is ahead of the clock of the machine, in milliseconds. It continues from
    /// the end of the log on any machine.
    pub(super) ahead: i64,
    /// The time of the last event.
    touched: u64,
    /// The events that are not returned yet.
    pub(super) events: Vec<LogEntry>,
}

impl<R: Rules> Room<R> {
    /// A new game, with its first events.
    ///
    /// # Errors
    /// The setup or a name is too long, or a seat is taken.
    pub fn create(
        now: u64,
        rules: R,
        setup: Setup,
        seats: &[(usize, Seat)],
    ) -> Result<(Self, Vec<LogEntry>), Refusal> {
        let mut room = Self::empty(rules, setup.clone());
        room.now = now;
        room.try_push(Event::Created(setup))?;
        for (side, seat) in seats {
            room.check_seat_is_free(*side)?;
            check_text("a name", &seat.name, NAME)?;
            room.push(Event::Seated { side: *side, seat: seat.clone() });
        }
        room.end_by_rules();
        let events = std::mem::take(&mut room.events);
        Ok((room, events))
    }

    /// The game of a log. The first entry is its creation, which `rules` were made from.
    ///
    /// # Errors
    /// The number of an event that these rules refuse, and why: they are not the rules of the log.
    pub fn replay(rules: R, setup: Setup, log: &[LogEntry]) -> Result<Self, (u64, Refused)> {
        let mut room = Self::empty(rules, setup);
        room.replay_log(log)?;
        Ok(room)
    }

    /// The game of a log as it was after the event `seen`, the last one that `rules` have seen; 0 if there is none.
    pub fn as_seen(seen: u64, rules: R, setup: Setup, log: &[LogEntry]) -> Self {
        let mut room = Self::empty(rules, setup);
        log.iter().take_while(|it| it.v <= seen).for_each(|it| room.record(it));
        room
    }

    /// Replays the next events of a log, one at least, until there are no more or `is_enough` says so.
    ///
    /// # Errors
    /// As [`Room::replay`].
    pub fn replay_some(
        &mut self,
        log: &[LogEntry],
        is_enough: impl Fn() -> bool,
    ) -> Result<(), (u64, Refused)> {
        for entry in self.unseen(log) {
            self.replay_log(std::slice::from_ref(entry))?;
            if is_enough() {
                break;
            }
        }
        Ok(())
    }

    /// The events of a log after the last one that is known.
    pub fn unseen<'log>(&self, log: &'log [LogEntry]) -> &'log [LogEntry] {
        &log[log.partition_point(|it| it.v <= self.v)..]
    }

    /// Applies events that another node stored after the last one known; `now` is when they were read. The
    /// clocks go on as that node had them, whatever its machine's clock says.
    ///
    /// # Errors
    /// As [`Room::replay`]; the room must then be discarded.
    pub fn follow(&mut self, now: u64, log: &[LogEntry]) -> Result<(), (u64, Refused)> {
        self.replay_log(log)?;
        if let Some(last) = log.last() {
            // The log's time, even if the clock of this machine is ahead of it.
            self.now = last.at;
            self.ahead = difference(last.at, now);
        }
        Ok(())
    }

    fn replay_log(&mut self, log: &[LogEntry]) -> Result<(), (u64, Refused)> {
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
            is_hushed: false,
            ledger: Ledger::new(sides),
            v: 0,
            now: 0,
            ahead: 0,
            touched: 0,
            events: Vec::new(),
        }
    }

    pub fn rules(&self) -> &R {
        &self.rules
    }

    /// The rules, for questions about the position. A caller that changes the position must restore it.
    pub fn rules_mut(&mut self) -> &mut R {
        &mut self.rules
    }

    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Whether players may write to each other.
    pub fn may_chat(&self) -> bool {
        self.setup.chat && !self.is_hushed
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

    /// The time of the last event.
    pub fn touched(&self) -> u64 {
        self.touched
    }

    /// The sides that a token plays.
    pub fn sides_of(&self, token: &TokenHash) -> Vec<usize> {
        let admits = |seat: &Option<Seat>| seat.as_ref().is_some_and(|it| it.admits(token));
        (0..self.seats.len()).filter(|&it| admits(&self.seats[it])).collect()
    }

    /// The one function that changes a game.
    pub fn step(&mut self, now: u64, input: Input) -> Output {
        self.now = self.time(now);
        self.end_if_flag_fell();
        let answer = match input {
            Input::Tick => None,
            Input::Join { side, name, token, rated } => Some(self.join(side, name, token, rated)),
            Input::Act { token, id, act } => Some(self.act(token, id, act)),
        };
        Output { events: std::mem::take(&mut self.events), answer }
    }

    /// Ends the game if the running clock has fallen.
    fn end_if_flag_fell(&mut self) {
        let Some((side, at)) = self.clocks.as_ref().and_then(Clocks::deadline) else { return };
        if self.outcome.is_some() || self.now < at {
            return;
        }
        let drawn = |_| Outcome::without_winner("draw", TIMEOUT);
        let outcome = self.rules.flag(side).unwrap_or_else(drawn);
        self.end(outcome, None, None);
    }

    fn act(
        &mut self,
        token: Option<TokenHash>,
        id: Option<String>,
        act: Act,
    ) -> Result<Answer, Refusal> {
        let sides = self.admitted(token.as_ref())?;
        if let Some(id) = &id {
            check_text("a request's id", id, ID)?;
            if let Some(answer) = sides.iter().find_map(|&it| self.answered(it, id)) {
                return Ok(answer);
            }
        }
        let by = self.actor(&sides, &act)?;
        self.refuse_by_phase(&act)?;
        // An end that follows from the request is a further event.
        let v = self.v + 1;
        self.carry_out(by, act, id)?;
        Ok(self.answer_of(by, v, self.lines.len()))
    }

    fn carry_out(&mut self, by: usize, act: Act, id: Option<String>) -> Result<(), Refusal> {
        match act {
            Act::Move { uci, expected_ply } => self.play(by, &uci, expected_ply, id)?,
            Act::Resign => {
                let outcome = self.rules.resign(by).map_err(Refusal::NotAllowed)?;
                self.end(outcome, Some(by), id);
            }
            Act::Abort => self.abort(by, id)?,
            Act::Claim => {
                // FIDE 9.2 and 9.3: only the player having the move may claim.
                if by != self.rules.side() {
                    return Err(Refusal::ClaimOutOfTurn);
                }
                let outcome = self.rules.claim().map_err(Refusal::NotAllowed)?;
                self.end(outcome, Some(by), id);
            }
            Act::Draw => self.draw(by, id)?,
            Act::GrantTakeback if self.offers.takeback.is_none_or(|it| it.0 == by) => {
                return Err(Refusal::NoOffer);
            }
            Act::Takeback | Act::GrantTakeback => self.takeback(by, id)?,
            Act::Presets(presets) => self.change_presets(by, presets, id)?,
            Act::Decline(offer) => {
                self.offers.maker(offer).ok_or(Refusal::NoOffer)?;
                self.push(Event::Declined { by, offer, id });
            }
            Act::Rematch { .. } if self.offers.rematch.is_none() => {
                self.within_share(by, Talk::Offer)?;
                self.push(Event::RematchOffered { by, id });
            }
            Act::Rematch { game } => {
                if self.agree(by, OfferKind::Rematch, id.as_deref())? {
                    self.push(Event::Rematched { by, game, id });
                }
            }
            Act::Hush => self.push(Event::Hushed { by, id }),
            Act::Say(text) => {
                check_text("a message", &text, CHAT)?;
                self.within_share(by, Talk::Message)?;
                self.push(Event::Said { by, text, id });
            }
        }
        Ok(())
    }

    /// Checks the limits on events other than moves.
    fn within_share(&self, by: usize, what: Talk) -> Result<(), Refusal> {
        // The shares together leave room, but logs of versions without shares may be full.
        let limit = if self.outcome.is_some() { EVENTS } else { EVENTS - RESERVE };
        if self.v >= limit {
            return Err(Refusal::Full(self.v));
        }
        self.ledger.admits(by, what)
    }

    /// The sides for which the holder of a token may act.
    fn admitted(&self, token: Option<&TokenHash>) -> Result<Vec<usize>, Refusal> {
        if self.setup.open {
            return Ok((0..self.seats.len()).collect());
        }
        let sides = self.sides_of(token.ok_or(Refusal::NoToken)?);
        if sides.is_empty() { Err(Refusal::WrongToken) } else { Ok(sides) }
    }

    /// The side that acts, of those that the client plays: a side that has yet to agree to the offer, or the side that
    /// made the move to take back, or the side to move.
    fn actor(&self, sides: &[usize], act: &Act) -> Result<usize, Refusal> {
        let turn = self.rules.side();
        if let Act::Move { expected_ply, .. } = act {
            if self.outcome.is_none() {
                // A client that has not seen the last moves cannot know whose turn it is.
                self.check_ply(*expected_ply)?;
                if !sides.contains(&turn) {
                    return Err(Refusal::NotYourTurn);
                }
            }
            return Ok(if sides.contains(&turn) { turn } else { sides[0] });
        }
        let accepts = match act {
            Act::Draw => Some(OfferKind::Draw),
            Act::Takeback | Act::GrantTakeback => Some(OfferKind::Takeback),
            Act::Presets(_) => Some(OfferKind::Presets),
            Act::Rematch { .. } => Some(OfferKind::Rematch),
            _ => None,
        };
        if let Some(offer) = accepts.filter(|it| self.offers.maker(*it).is_some())
            && let Some(&other) = sides.iter().find(|&&it| !self.offers.has_agreed(it, offer))
        {
            return Ok(other);
        }
        let last = self.lines.last().map(|it| it.side).filter(|_| matches!(act, Act::Takeback));
        let mut likely = last.into_iter().chain([turn]);
        Ok(likely.find(|it| sides.contains(it)).unwrap_or(sides[0]))
    }

    fn check_ply(&self, expected_ply: Option<usize>) -> Result<(), Refusal> {
        let ply = self.lines.len();
        match expected_ply.filter(|&it| it != ply) {
            Some(asked) => Err(Refusal::StalePly { asked, ply }),
            None => Ok(()),
        }
    }

    fn refuse_by_phase(&self, act: &Act) -> Result<(), Refusal> {
        match (act, &self.outcome) {
            (Act::Say(_) | Act::Hush, _) if !self.may_chat() => Err(Refusal::ChatOff),
            (Act::Presets(_), None) if self.setup.counts() => Err(Refusal::RatedStays),
            (Act::Say(_) | Act::Hush | Act::Decline(_), _) => Ok(()),
            (Act::Rematch { .. }, None) => Err(Refusal::NotOver),
            (Act::Rematch { .. }, Some(_)) if self.rematch.is_some() => Err(Refusal::RematchMade),
            (Act::Rematch { .. }, Some(_)) => Ok(()),
            (_, Some(outcome)) => Err(Refusal::Over(outcome.clone())),
            (_, None) => Ok(()),
        }
    }

    pub(super) fn play(
        &mut self,
        by: usize,
        text: &str,
        expected_ply: Option<usize>,
        id: Option<String>,
    ) -> Result<(), Refusal> {
        self.check_ply(expected_ply)?;
        let ply = self.lines.len();
        let played = self.rules.play(text).map_err(Refusal::Illegal)?;
        let next = self.rules.side();
        let clocks = self.clocks.clone().map(|mut it| {
            if !played.turn_goes_on {
                it.end_turn(next, self.now);
            }
            it.at(self.now)
        });
        let Played { uci, san, turn_goes_on, turn, .. } = played;
        let (side, notes, effects) = (by, cut_to_size(played.notes), cut_to_size(played.effects));
        let event =
            Event::Played { ply, uci, san, side, turn_goes_on, turn, notes, effects, clocks, id };
        if let Err(refusal) = self.try_push(event) {
            self.rules.take_back(1);
            return Err(refusal);
        }
        if !self.end_by_rules() && self.v >= EVENTS - RESERVE {
            self.end(Outcome::without_winner("draw", "move_limit"), None, None);
        }
        Ok(())
    }

    fn abort(&mut self, by: usize, id: Option<String>) -> Result<(), Refusal> {
        if self.lines.len() >= ABORTABLE {
            let sentence = "the game has begun: resign, or agree to a draw";
            return Err(Refusal::NotAllowed(Refused::plain(sentence)));
        }
        self.end(Outcome::without_winner("none", "aborted"), Some(by), id);
        Ok(())
    }

    fn draw(&mut self, by: usize, id: Option<String>) -> Result<(), Refusal> {
        if self.offers.draw.is_none() {
            self.within_share(by, Talk::Offer)?;
            self.push(Event::DrawOffered { by, id });
        } else if self.agree(by, OfferKind::Draw, id.as_deref())? {
            self.end(Outcome::without_winner("draw", "agreement"), Some(by), id);
        }
        Ok(())
    }

    /// Whether all sides agree to an offer once this one does; if not, records that it does. Sides that sit out are asked
    /// only about a rematch, which has a seat for them.
    ///
    /// # Errors
    /// The side has made the offer, or agreed to it already.
    fn agree(&mut self, by: usize, offer: OfferKind, id: Option<&str>) -> Result<bool, Refusal> {
        if self.offers.has_agreed(by, offer) {
            return Err(Refusal::OfferStands);
        }
        let is_asked = |side: usize| {
            side != by
                && !self.offers.has_agreed(side, offer)
                && (offer == OfferKind::Rematch || !self.rules.sits_out(side))
        };
        let is_last = !(0..self.seats.len()).any(is_asked);
        if !is_last {
            self.push(Event::Agreed { by, offer, id: id.map(str::to_owned) });
        }
        Ok(is_last)
    }

    fn takeback(&mut self, by: usize, id: Option<String>) -> Result<(), Refusal> {
        match self.offers.takeback {
            Some((_, to)) => {
                if self.agree(by, OfferKind::Takeback, id.as_deref())? {
                    self.take_back_to(by, to, id);
                }
            }
            None => {
                let last = self.lines.iter().rposition(|it| it.side == by);
                let last = last.ok_or(Refusal::NothingToTakeBack)?;
                if last + 1 == self.lines.len() && self.lines[last].turn_goes_on {
                    // A turn that is not finished belongs to the side that is taking it.
                    self.within_share(by, Talk::Takeback { moves: 1 })?;
                    self.take_back_to(by, last, id);
                } else if self.setup.counts() {
                    return Err(Refusal::RatedStays);
                } else {
                    let to = self.turn_start(last);
                    self.within_share(by, Talk::Offer)?;
                    self.within_share(by, Talk::Takeback { moves: self.lines.len() - to })?;
                    self.push(Event::TakebackAsked { by, to, id });
                }
            }
        }
        Ok(())
    }

    /// The first action of the turn that an action belongs to, or that the next action will.
    fn turn_start(&self, at: usize) -> usize {
        let goes_on = self.lines[..at].iter().rev().take_while(|it| it.turn_goes_on);
        at - goes_on.count()
    }

    fn take_back_to(&mut self, by: usize, to: usize, id: Option<String>) {
        self.rules.take_back(self.lines.len() - to);
        let clocks = self.clocks.as_ref().map(|it| it.at(self.now));
        self.push(Event::TakenBack { by, to, clocks, id });
    }

    pub(super) fn set_presets(
        &mut self,
        by: usize,
        presets: Vec<String>,
        id: Option<String>,
    ) -> Result<(), Refusal> {
        check_presets_length(&presets)?;
        self.rules.activate(&presets).map_err(Refusal::NotAllowed)?;
        self.push(Event::PresetsChanged { by, presets, id });
        self.end_by_rules();
        Ok(())
    }

    fn change_presets(
        &mut self,
        by: usize,
        presets: Vec<String>,
        id: Option<String>,
    ) -> Result<(), Refusal> {
        if self.offers.presets.as_ref().is_some_and(|it| it.1 == presets) {
            return match self.agree(by, OfferKind::Presets, id.as_deref())? {
                true => self.set_presets(by, presets, id),
                false => Ok(()),
            };
        }
        check_presets_length(&presets)?;
        self.within_share(by, Talk::Offer)?;
        self.rules.check_presets(&presets).map_err(Refusal::NotAllowed)?;
        self.push(Event::PresetsAsked { by, presets, id });
        Ok(())
    }

    /// Ends the game if the rules have ended it. Returns whether they have.
    fn end_by_rules(&mut self) -> bool {
        let ended = self.rules.outcome();
        let is_over = ended.is_some();
        if let Some(outcome) = ended {
            self.end(outcome, None, None);
        }
        is_over
    }

    pub(super) fn end(&mut self, outcome: Outcome, by: Option<usize>, id: Option<String>) {
        let clocks = self.clocks.as_ref().map(|it| it.at(self.now));
        let cut = |it: String| it.chars().take(WORD).collect();
        let Outcome { outcome, reason, winner } = outcome;
        let outcome = Outcome { outcome: cut(outcome), reason: cut(reason), winner };
        self.push(Event::Ended { outcome, clocks, by, id });
    }

    pub(super) fn answer(&self, side: usize) -> Answer {
        self.answer_of(side, self.v, self.lines.len())
    }

    fn answer_of(&self, side: usize, v: u64, ply: usize) -> Answer {
        let game = self.rematch.as_ref().filter(|it| it.0 <= v).map(|it| it.1.clone());
        Answer { v, ply, side, game }
    }

    /// The answer to a request, if it was made before.
    fn answered(&self, side: usize, id: &str) -> Option<Answer> {
        self.answers.get(side, id).map(|(v, ply)| self.answer_of(side, v, ply))
    }

    fn entry(&self, event: Event) -> LogEntry {
        let resumed = self.clocks.as_ref().and_then(Clocks::resumed);
        LogEntry { v: self.v + 1, at: self.now, resumed, event }
    }

    /// Adds an event whose length depends on rules.
    fn try_push(&mut self, event: Event) -> Result<(), Refusal> {
        let entry = self.entry(event);
        entry.check_length()?;
        self.record(&entry);
        self.events.push(entry);
        Ok(())
    }

    /// Adds an event all of whose parts are short.
    pub(super) fn push(&mut self, event: Event) {
        let entry = self.entry(event);
        debug_assert!(entry.check_length().is_ok(), "too long: {entry:?}");
        self.record(&entry);
        self.events.push(entry);
    }

    /// Applies an event, live or from a log. The rules have seen it already.
    fn record(&mut self, entry: &LogEntry) {
        self.v = entry.v;
        self.now = self.now.max(entry.at);
        self.touched = entry.at;
        if let (Some(clocks), Some(resumed)) = (&mut self.clocks, entry.resumed) {
            clocks.restore_resumed(resumed);
        }
        match &entry.event {
            Event::Created(_) => {}
            Event::Seated { side, seat } => {
                if let Some(place) = self.seats.get_mut(*side) {
                    *place = Some(seat.clone());
                }
                self.start_clock(entry.at);
            }
            Event::Played { uci, san, side, turn_goes_on, notes, clocks, .. } => {
                self.add_line(Line {
                    uci: uci.as_str().into(),
                    san: san.as_str().into(),
                    side: *side,
                    turn_goes_on: *turn_goes_on,
                    notes: notes.as_slice().into(),
                    at: entry.at,
                    clocks: clocks.as_deref().map(Into::into),
                });
                self.offers.remove(OfferKind::Takeback);
                if !self.offers.has_agreed(*side, OfferKind::Draw) {
                    self.offers.remove(OfferKind::Draw);
                }
                if !turn_goes_on {
                    self.set_clocks(clocks.as_deref(), entry.at);
                }
                self.ledger.set_ply(self.lines.len());
            }
            Event::Hushed { .. } => self.is_hushed = true,
            Event::DrawOffered { by, .. } => {
                self.ledger.add(*by, Talk::Offer);
                self.offers.draw = Some(*by);
            }
            Event::TakebackAsked { by, to, .. } => {
                self.ledger.add(*by, Talk::Offer);
                self.offers.takeback = Some((*by, *to));
            }
            Event::PresetsAsked { by, presets, .. } => {
                self.ledger.add(*by, Talk::Offer);
                self.offers.remove(OfferKind::Presets);
                self.offers.presets = Some((*by, presets.clone()));
            }
            Event::Agreed { by, offer, .. } => self.offers.agreed.push((*offer, *by)),
            Event::Declined { offer, .. } => self.offers.remove(*offer),
            Event::TakenBack { by, to, clocks, .. } => {
                self.record_takeback(*by, *to, clocks.as_deref(), entry.at);
            }
            Event::PresetsChanged { presets, .. } => {
                let before = std::mem::replace(&mut self.presets, presets.clone());
                self.changed.push((self.lines.len(), before));
                self.offers.remove(OfferKind::Presets);
            }
            Event::Ended { outcome, clocks, .. } => {
                self.ledger.release_reserve();
                self.outcome = Some(outcome.clone());
                self.offers = Offers::default();
                if let (Some(own), Some(left)) = (&mut self.clocks, clocks) {
                    own.restore(left, None, entry.at);
                }
            }
            Event::RematchOffered { by, .. } => {
                self.ledger.add(*by, Talk::Offer);
                self.offers.rematch = Some(*by);
            }
            Event::Rematched { game, .. } => {
                self.offers.remove(OfferKind::Rematch);
                self.rematch = Some((entry.v, game.clone()));
            }
            Event::Said { by, .. } => self.ledger.add(*by, Talk::Message),
        }
        // A repetition of the request gets the answer that is kept here.
        if let Some((by, id)) = entry.event.request() {
            self.answers.keep(by, id, self.v, self.lines.len());
        }
    }

    fn add_line(&mut self, line: Line) {
        if self.lines.len() == self.lines.capacity() {
            self.lines.reserve_exact(LINES);
        }
        self.lines.push(line);
    }

    fn record_takeback(&mut self, by: usize, to: usize, clocks: Option<&[u64]>, at: u64) {
        // Within the turn that is being taken, its clock simply runs on.
        let within_turn = to >= self.turn_start(self.lines.len());
        let asker = self.offers.takeback.map_or(by, |it| it.0);
        let moves = self.lines.len().saturating_sub(to);
        self.ledger.add(asker, Talk::Takeback { moves });
        self.lines.truncate(to);
        while let Some((_, before)) = self.changed.pop_if(|it| it.0 > to) {
            self.presets = before;
        }
        self.offers = Offers::default();
        if !within_turn {
            self.set_clocks(clocks, at);
        }
    }
}

fn check_presets_length(presets: &[String]) -> Result<(), Refusal> {
    if serde_json::to_string(presets).is_ok_and(|it| it.len() <= PRESETS) {
        return Ok(());
    }
    Err(Refusal::TooLong { what: "the list of presets", limit: PRESETS, unit: "bytes" })
}

pub(super) fn check_text(what: &'static str, text: &str, limit: usize) -> Result<(), Refusal> {
    match text.chars().count() <= limit {
        true if is_printable(text) => Ok(()),
        true => Err(Refusal::Unprintable { what }),
        false => Err(Refusal::TooLong { what, limit, unit: "characters" }),
    }
}
