//! The rules of a host: offered from files of this machine, uploaded, or found in the store by their hash;
//! and compiled.
//!
//! Reading and compiling rules runs on the threads of `pool`, in parallel with the games. Deliberately absent: which
//! rules are known and compiled already (`library`).

use std::sync::Arc;

use serde_json::json;

use super::api::{Fitting, fit};
use super::host::Host;
use super::library::Texts;
use super::pool::Lane;
use super::problem::Problem;
use super::store::{Store, Upload};
use crate::presets::{Catalogue, CatalogueError, LoadError, Ruleset, Source};

#[doc(hidden)]
impl Host {
    /// The lane for moves and views of games by these rules.
    pub(super) fn lane(&self, rules: &str) -> Lane {
        if self.library.is_uploaded(rules) { Lane::Uploaded } else { Lane::Play }
    }

    /// The lane for slower work by these rules.
    pub(super) fn slow_lane(&self, rules: &str) -> Lane {
        if self.library.is_uploaded(rules) { Lane::Uploaded } else { Lane::Work }
    }

    /// Offers other files of this machine, on top of the package's, for games that begin from now on.
    ///
    /// # Errors
    /// Their metadata is not valid, or the store cannot be reached: then the previous offer stays.
    pub async fn offer(&self, files: Vec<Source>) -> Result<(), Problem> {
        let library = Arc::clone(&self.library);
        let make = move || library.offer_of(&files);
        let offer = self.pool.run(Lane::Work, make).await?.map_err(bad_rules)?;
        let (hash, text) = offer.texts.stored();
        self.reads().ask(move |store| store.put_text(&hash, &text)).await?;
        self.library.offer(offer);
        Ok(())
    }

    /// Keeps rules for their owner and makes them known. Returns their hash; `None` if the owner has too many already.
    ///
    /// # Errors
    /// Their metadata is not valid, or the store cannot be reached.
    pub async fn keep_rules(
        &self,
        texts: Texts,
        owner: String,
        name: Option<String>,
        limit: usize,
    ) -> Result<Option<String>, Problem> {
        let (hash, text) = texts.stored();
        let (library, checked) = (Arc::clone(&self.library), texts.clone());
        let check = move || library.catalogue_with(&checked).map(|_| ());
        self.pool.run(Lane::Uploaded, check).await?.map_err(bad_rules)?;
        let upload = Upload { owner, rules: hash.clone(), name, at: self.now() };
        let keep = move |store: &mut dyn Store| store.add_upload(&upload, &text, limit);
        if !self.reads().ask(keep).await? {
            return Ok(None);
        }
        // Not before: a game whose rules are known, but not stored, could not be loaded again.
        let library = Arc::clone(&self.library);
        let add = move || library.add(&texts);
        self.pool.run(Lane::Uploaded, add).await?.map_err(bad_rules)?;
        Ok(Some(hash))
    }

    /// Checks whether uploaded rules compile with the rules that they build on. Only their first game is compiled, or,
    /// without a game, their first preset. Returns what a game of them is made of, or what is wrong.
    ///
    /// # Errors
    /// The check could not be run.
    pub(super) async fn check_rules(
        self: &Arc<Self>,
        texts: Texts,
    ) -> Result<Result<Fitting, Problem>, Problem> {
        let library = Arc::clone(&self.library);
        let check = move || {
            let catalogue = library.catalogue_with(&texts);
            fit(&catalogue.map_err(bad_rules)?, &texts)
        };
        self.pool.run(Lane::Uploaded, check).await
    }

    /// Makes the rules of a hash known, from the store if need be.
    ///
    /// # Errors
    /// There are no such rules, they are damaged, their metadata is not valid, or the store cannot be reached.
    pub async fn know_rules(&self, hash: &str) -> Result<(), Problem> {
        let mut missing = vec![hash.to_owned()];
        let mut found: Vec<Texts> = Vec::new();
        while let Some(hash) = missing.pop() {
            if self.library.catalogue(&hash).is_some() {
                continue;
            }
            let wanted = hash.clone();
            let text = self.reads().ask(move |store| store.text(&wanted)).await?;
            let texts = text.and_then(|it| Texts::from_stored(&hash, &it));
            let texts = texts.ok_or_else(|| no_rules(&hash))?;
            missing.extend(texts.base.clone());
            found.push(texts);
        }
        if found.is_empty() {
            return Ok(());
        }
        let lane = if found.iter().any(Texts::is_uploaded) { Lane::Uploaded } else { Lane::Work };
        let library = Arc::clone(&self.library);
        let add = move || found.iter().rev().try_for_each(|it| library.add(it));
        self.pool.run(lane, add).await?.map_err(bad_rules)
    }

    /// A compiled game, by rules that may be in the store alone, and the catalogue that its other presets come from.
    ///
    /// # Errors
    /// There are no such rules, or the game cannot be loaded.
    pub(super) async fn rules_of(
        self: &Arc<Self>,
        rules: &str,
        game: &str,
        presets: &[String],
    ) -> Result<(Arc<Ruleset>, Arc<Catalogue>), Problem> {
        self.know_rules(rules).await?;
        let ruleset = self.ruleset(rules, game, presets).await?;
        let catalogue = self.library.catalogue(rules).ok_or_else(|| no_rules(rules))?;
        Ok((ruleset, catalogue))
    }

    /// A compiled game.
    ///
    /// # Errors
    /// The game cannot be loaded.
    pub async fn ruleset(
        self: &Arc<Self>,
        rules: &str,
        game: &str,
        presets: &[String],
    ) -> Result<Arc<Ruleset>, Problem> {
        if let Some(known) = self.library.known(rules, game, presets) {
            return Ok(known);
        }
        let lane = self.slow_lane(rules);
        let (library, rules, game, presets) =
            (Arc::clone(&self.library), rules.to_owned(), game.to_owned(), presets.to_vec());
        let load = move || library.load(&rules, &game, &presets);
        self.pool.run(lane, load).await?.map_err(|it| load_problem(&it))
    }
}

/// The answer to a request for a game that could not be loaded.
pub(super) fn load_problem(error: &LoadError) -> Problem {
    if let LoadError::Full { .. } = error {
        return Problem::not_now("rules_full", error.to_string());
    }
    let code = match error {
        LoadError::Game { .. } => "no_such_game_name",
        LoadError::Rules(_) => "rules_clash",
        LoadError::Activation(_) | LoadError::Use { .. } => "bad_preset",
        _ => "bad_game",
    };
    let problem = Problem::unprocessable(code, error.to_string());
    match error {
        LoadError::Rules(found) => problem.with(json!({ "diagnostics": found.to_json() })),
        _ => problem,
    }
}

fn no_rules(hash: &str) -> Problem {
    Problem::unprocessable("no_such_rules", format!("there are no rules {hash:.80}"))
}

fn bad_rules(error: CatalogueError) -> Problem {
    Problem::unprocessable("bad_rules", error.to_string())
}
