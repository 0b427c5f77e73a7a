//! How players end a game: resigning, running out of time, claiming a draw. The rules decide the result.
//!
//! Deliberately absent: offers of draws, which hosts keep.

use super::play::Game;
use super::record::GameResult;
use super::refusal::EndError;
use crate::derive::Allowance;
use crate::facts::{AttrId, GAME};
use crate::moves::AttrInput;
use crate::rules::Type;

impl Game {
    /// A side resigns; the rules decide the result.
    ///
    /// # Errors
    /// The game is over, there is no such side, the rules give no result for resigning, or they exceed a budget. Nothing
    /// has changed.
    pub fn resign(&mut self, side: i64) -> Result<&GameResult, EndError> {
        self.end_by(side, self.contract().resigned)
    }

    /// A side has run out of time; the rules decide the result.
    ///
    /// # Errors
    /// The game is over, there is no such side, the rules give no result for running out of time, or they exceed a
    /// budget. Nothing has changed.
    pub fn flag(&mut self, side: i64) -> Result<&GameResult, EndError> {
        self.end_by(side, self.contract().flagged)
    }

    /// The result if a side resigned now. Nothing changes.
    ///
    /// # Errors
    /// As [`Game::resign`].
    #[doc(hidden)]
    pub fn result_of_resigning(&mut self, side: i64) -> Result<GameResult, EndError> {
        let _allowance = Allowance::open();
        self.check_side(side)?;
        self.result_if(self.contract().resigned, side).map(|it| it.1)
    }

    /// The result if a side ran out of time now. Nothing changes.
    ///
    /// # Errors
    /// As [`Game::flag`].
    #[doc(hidden)]
    pub fn result_of_flag(&mut self, side: i64) -> Result<GameResult, EndError> {
        let _allowance = Allowance::open();
        self.check_side(side)?;
        self.result_if(self.contract().flagged, side).map(|it| it.1)
    }

    /// Whether the rules pass a side over when it would have the turn.
    #[doc(hidden)]
    pub fn sits_out(&mut self, side: i64) -> bool {
        let _allowance = Allowance::open();
        let sides = Type::Domain(self.contract().sides);
        self.rows_of("sits_out", &[sides]).iter().any(|row| row[0] == side)
    }

    /// States that a side has resigned or run out of time.
    fn end_by(&mut self, side: i64, input: Option<AttrInput>) -> Result<&GameResult, EndError> {
        let _allowance = Allowance::open();
        self.check_side(side)?;
        self.end(input, side)
    }

    fn check_side(&self, side: i64) -> Result<(), EndError> {
        let sides = self.contract.side_count(self.program());
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
        self.end(self.contract().claimed, reason)
    }

    /// The result if a draw were claimed now. Nothing changes.
    ///
    /// # Errors
    /// As [`Game::claim_draw`].
    #[doc(hidden)]
    pub fn result_of_claim(&mut self, reason: Option<&str>) -> Result<GameResult, EndError> {
        let _allowance = Allowance::open();
        let reason = self.claimable(reason)?;
        self.result_if(self.contract().claimed, reason).map(|it| it.1)
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
        let claim = self.contract.claim;
        let rows = self.world.tuples(claim);
        let program = self.world.program();
        let columns = &program.relation(claim).columns;
        let named = |raw: i64| Some((raw, program.value_name(columns.first()?.ty, raw)));
        rows.iter().filter_map(|it| named(*it.first()?)).collect()
    }

    /// States a fact that ends the game, unless the rules give no result for it.
    fn end(&mut self, input: Option<AttrInput>, raw: i64) -> Result<&GameResult, EndError> {
        let (attr, result) = self.result_if(input, raw)?;
        self.world.set_raw(GAME, attr, Some(raw));
        self.world.commit();
        Ok(self.result.insert(result))
    }

    /// The result of the game if a fact that ends it were stated, with the attribute of the fact. Nothing changes.
    fn result_if(
        &mut self,
        input: Option<AttrInput>,
        raw: i64,
    ) -> Result<(AttrId, GameResult), EndError> {
        if let Some(result) = &self.result {
            return Err(EndError::Over { result: result.clone() });
        }
        let attr = input.ok_or(EndError::Unknown)?.attr;
        let (result, has_run_out) = self.world.taking_back(|world| {
            world.set_raw(GAME, attr, Some(raw));
            (GameResult::read(world, &self.contract), world.has_run_out())
        });
        if has_run_out {
            self.check()?;
        }
        Ok((attr, result.ok_or(EndError::Unknown)?))
    }
}
