//! How players end a game: resigning, running out of time, claiming a draw. The rules decide the result.
//!
//! Deliberately absent: offers of draws, which hosts keep.

use super::play::Game;
use super::record::GameResult;
use super::refusal::EndError;
use crate::derive::Allowance;
use crate::facts::{AttrId, GAME};

impl Game {
    /// A side resigns; the rules decide the result.
    ///
    /// # Errors
    /// The game is over, there is no such side, the rules give no result for resigning, or they exceed a budget. Nothing
    /// has changed.
    pub fn resign(&mut self, side: i64) -> Result<&GameResult, EndError> {
        self.end_by(side, self.terms.resigned)
    }

    /// A side has run out of time; the rules decide the result.
    ///
    /// # Errors
    /// The game is over, there is no such side, the rules give no result for running out of time, or they exceed a
    /// budget. Nothing has changed.
    pub fn flag(&mut self, side: i64) -> Result<&GameResult, EndError> {
        self.end_by(side, self.terms.flagged)
    }

    /// The result if a side resigned now. Nothing changes.
    ///
    /// # Errors
    /// As [`Game::resign`].
    #[doc(hidden)]
    pub fn result_of_resigning(&mut self, side: i64) -> Result<GameResult, EndError> {
        let _allowance = Allowance::open();
        self.check_side(side)?;
        self.result_if(self.terms.resigned, side).map(|it| it.1)
    }

    /// The result if a side ran out of time now. Nothing changes.
    ///
    /// # Errors
    /// As [`Game::flag`].
    #[doc(hidden)]
    pub fn result_of_flag(&mut self, side: i64) -> Result<GameResult, EndError> {
        let _allowance = Allowance::open();
        self.check_side(side)?;
        self.result_if(self.terms.flagged, side).map(|it| it.1)
    }

    /// Whether the rules pass a side over when it would have the turn.
    #[doc(hidden)]
    pub fn sits_out(&mut self, side: i64) -> bool {
        let _allowance = Allowance::open();
        let rel = self.program().relation_named("sits_out");
        rel.is_some_and(|it| self.world.first(it, &[Some(side)]).is_some())
    }

    /// States that a side has resigned or run out of time.
    fn end_by(&mut self, side: i64, attr: Option<AttrId>) -> Result<&GameResult, EndError> {
        let _allowance = Allowance::open();
        self.check_side(side)?;
        self.end(attr, side)
    }

    fn check_side(&self, side: i64) -> Result<(), EndError> {
        let sides = self.program().schema.domain(self.terms.moves.sides).size() as i64;
        if (0..sides).contains(&side) { Ok(()) } else { Err(EndError::Side { side }) }
    }

    /// The reasons for which a draw can be claimed now; none after the end.
    pub fn claims(&mut self) -> Vec<String> {
        let _allowance = Allowance::open();
        if self.result.is_some() {
            return Vec::new();
        }
        self.claim_rows().into_iter().map(|it| it.1).collect()
    }

    /// Claims a draw, for the reason named or else for the first that there is; the rules decide the result.
    ///
    /// # Errors
    /// The game is over, there is no such claim, the rules give no result for it, or they exceed a budget. Nothing has
    /// changed.
    pub fn claim_draw(&mut self, reason: Option<&str>) -> Result<&GameResult, EndError> {
        let _allowance = Allowance::open();
        let reason = self.claimable(reason)?;
        self.end(self.terms.claimed, reason)
    }

    /// The result if a draw were claimed now. Nothing changes.
    ///
    /// # Errors
    /// As [`Game::claim_draw`].
    #[doc(hidden)]
    pub fn result_of_claim(&mut self, reason: Option<&str>) -> Result<GameResult, EndError> {
        let _allowance = Allowance::open();
        let reason = self.claimable(reason)?;
        self.result_if(self.terms.claimed, reason).map(|it| it.1)
    }

    /// The reason of that name if a draw can be claimed for it now, or without a name the first reason that there is.
    fn claimable(&mut self, reason: Option<&str>) -> Result<i64, EndError> {
        if let Some(result) = &self.result {
            return Err(EndError::Over { result: result.clone() });
        }
        let rows = self.claim_rows();
        self.check()?;
        let fits = |it: &&(i64, String)| reason.is_none_or(|wanted| wanted == it.1);
        let found = rows.iter().find(fits).map(|it| it.0);
        found
            .ok_or_else(|| EndError::NoClaim { offered: rows.into_iter().map(|it| it.1).collect() })
    }

    /// The reasons for which a draw can be claimed now, as values and by name.
    fn claim_rows(&mut self) -> Vec<(i64, String)> {
        let claim = self.terms.moves.claim;
        let rows = self.world.tuples(claim);
        let program = self.world.program();
        let columns = &program.relation(claim).columns;
        let named = |raw: i64| Some((raw, program.value_name(columns.first()?.ty, raw)));
        rows.iter().filter_map(|it| named(*it.first()?)).collect()
    }

    /// States a fact that ends the game, unless the rules give no result for it.
    fn end(&mut self, attr: Option<AttrId>, raw: i64) -> Result<&GameResult, EndError> {
        let (attr, result) = self.result_if(attr, raw)?;
        self.world.set_raw(GAME, attr, Some(raw));
        self.world.commit();
        Ok(self.result.insert(result))
    }

    /// The result of the game if a fact that ends it were stated, with the attribute of the fact. Nothing changes.
    fn result_if(
        &mut self,
        attr: Option<AttrId>,
        raw: i64,
    ) -> Result<(AttrId, GameResult), EndError> {
        if let Some(result) = &self.result {
            return Err(EndError::Over { result: result.clone() });
        }
        let attr = attr.ok_or(EndError::Unknown)?;
        let (result, has_run_out) = self.world.taking_back(|world| {
            world.set_raw(GAME, attr, Some(raw));
            (GameResult::read(world, &self.terms), world.has_run_out())
        });
        if has_run_out {
            self.check()?;
        }
        Ok((attr, result.ok_or(EndError::Unknown)?))
    }
}
