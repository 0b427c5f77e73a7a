//! Taking seats in a hosted game.

use super::event::{Event, Seat, TokenHash};
use super::refusal::Refusal;
use super::request::Answer;
use super::room::{NAME, Room, check_text};
use super::rules::Rules;

impl<R: Rules> Room<R> {
    /// Takes this seat, or the first free one. `agrees_to_rating`: the player knows that the game is rated.
    pub(super) fn join(
        &mut self,
        side: Option<usize>,
        name: String,
        token: TokenHash,
        agrees_to_rating: bool,
    ) -> Result<Answer, Refusal> {
        // A player that asks again, because the first answer was lost, has the seat already.
        let own = self.sides_of(&token);
        if let Some(&side) = own.iter().find(|&&it| side.is_none_or(|wanted| wanted == it)) {
            return Ok(self.answer(side));
        }
        if let Some(outcome) = self.outcome() {
            return Err(Refusal::Over(outcome.clone()));
        }
        check_text("a name", &name, NAME)?;
        let free = self.seats.iter().position(Option::is_none);
        let side = side.or(free).ok_or(Refusal::AllTaken)?;
        self.check_seat_is_free(side)?;
        if self.setup.rated {
            if token.account().is_none() {
                return Err(Refusal::AccountNeeded);
            }
            if !own.is_empty() {
                return Err(Refusal::RatedAlone);
            }
            if !agrees_to_rating {
                return Err(Refusal::RatedUnasked);
            }
        }
        self.push(Event::Seated { side, seat: Seat { name, token, computer: None } });
        Ok(self.answer(side))
    }

    pub(super) fn check_seat_is_free(&self, side: usize) -> Result<(), Refusal> {
        match self.seats.get(side) {
            None => Err(Refusal::NoSeat(side)),
            Some(_) if self.setup.open => Err(Refusal::OpenBoard),
            Some(Some(_)) => Err(Refusal::SeatTaken),
            Some(None) => Ok(()),
        }
    }
}
