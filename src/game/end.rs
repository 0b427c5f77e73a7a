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

    fn end_by(&mut self, side: i64, attr: Option<AttrId>) -> Result<&GameResult, EndError> {
        let _allowance = Allowance::open();
        let sides = self.program().schema.domain(self.terms.moves.sides).size() as i64;
        if !(0..sides).contains(&side) {
            return Err(EndError::Side { side });
        }
        self.end(attr, side)
    }

    /// The reasons for which a draw can be claimed now; none after the end.
    pub fn claims(&mut self) -> Vec<String> {
        let _allowance = Allowance::open();
        if self.result.is_some() {
            return Vec::new();
        }
        let rows = self.claim_rows();
        rows.into_iter().map(|(_, name)| name).collect()
    }

    /// Claims a draw, for the reason named or else for the first that there is; the rules decide the result.
    ///
    /// # Errors
    /// The game is over, there is no such claim, the rules give no result for it, or they exceed a budget. Nothing has
    /// changed.
    pub fn claim_draw(&mut self, reason: Option<&str>) -> Result<&GameResult, EndError> {
        let _allowance = Allowance::open();
        if let Some(result) = &self.result {
            return Err(EndError::Over { result: result.clone() });
        }
        let rows = self.claim_rows();
        self.check()?;
        let fits = |it: &&(i64, String)| reason.is_none_or(|wanted| wanted == it.1);
        let Some(&(reason, _)) = rows.iter().find(fits) else {
            let offered = rows.into_iter().map(|(_, name)| name).collect();
            return Err(EndError::NoClaim { offered });
        };
        self.end(self.terms.claimed, reason)
    }

    fn claim_rows(&mut self) -> Vec<(i64, String)> {
        let claim = self.terms.moves.claim;
        let rows = self.world.tuples(claim);
        let program = self.world.program();
        let columns = &program.relation(claim).columns;
        rows.iter()
            .filter_map(|row| {
                Some((*row.first()?, program.value_name(columns.first()?.ty, row[0])))
            })
            .collect()
    }

    /// States a fact that ends the game, and takes it back if the rules do not end the game by it.
    fn end(&mut self, attr: Option<AttrId>, raw: i64) -> Result<&GameResult, EndError> {
        if let Some(result) = &self.result {
            return Err(EndError::Over { result: result.clone() });
        }
        let attr = attr.ok_or(EndError::Unknown)?;
        let mark = self.world.mark();
        self.world.set_raw(GAME, attr, Some(raw));
        let result = GameResult::read(&mut self.world, &self.terms);
        if self.world.has_run_out() {
            self.world.rollback(mark);
            self.check()?;
        }
        let Some(result) = result else {
            self.world.rollback(mark);
            return Err(EndError::Unknown);
        };
        self.world.commit();
        Ok(self.result.insert(result))
    }
}
