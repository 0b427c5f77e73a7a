//! From what was typed to a game on the board.
//!
//! [`Library`] compiles each game once, however many games are played by it.

use std::collections::HashMap;
use std::sync::Arc;

use super::args::{PositionArgs, RulesArgs};
use super::output::{OrFix, trouble, warn};
use crate::game::Game;
use crate::presets::{ActivationError, Catalogue, LoadError, Ruleset};

/// The game of a command's position options, set up.
pub(crate) fn open(args: &PositionArgs) -> anyhow::Result<Game> {
    open_with(&mut Library::new(&args.rules)?, args).map(|it| it.1)
}

/// [`open`] with the rules that the game is played by.
pub(crate) fn open_with(
    library: &mut Library,
    args: &PositionArgs,
) -> anyhow::Result<(Arc<Ruleset>, Game)> {
    let rules = library.load(&args.game, &args.presets)?;
    let mut game = start_told(&rules, args.fen.as_deref())?;
    for conflict in Catalogue::conflicts(&mut game) {
        warn(conflict);
    }
    Ok((rules, game))
}

/// The games, layouts and presets of this package, and those of the folders that were named.
pub(crate) fn catalogue(args: &RulesArgs) -> anyhow::Result<Catalogue> {
    let mut catalogue = Catalogue::embedded()
        .or_fix("this is a mistake of Rulemate's own rule files: please report it")?;
    for folder in &args.rules {
        let fix = "name a folder of rule files (.dl); `rulemate check` says more about a file";
        catalogue.add_path(folder).or_fix(fix)?;
    }
    Ok(catalogue)
}

/// Games by name, compiled when first asked for.
pub(crate) struct Library {
    catalogue: Catalogue,
    /// By game and activations, as typed.
    loaded: HashMap<(String, Vec<String>), Arc<Ruleset>>,
}

impl Library {
    pub(crate) fn new(args: &RulesArgs) -> anyhow::Result<Self> {
        Ok(Self { catalogue: catalogue(args)?, loaded: HashMap::new() })
    }

    /// The rules of a game with further presets.
    pub(crate) fn load(&mut self, game: &str, presets: &[String]) -> anyhow::Result<Arc<Ruleset>> {
        let key = (game.to_owned(), presets.to_vec());
        if let Some(known) = self.loaded.get(&key) {
            return Ok(Arc::clone(known));
        }
        let rules = self.catalogue.load(game, presets).map_err(|why| self.explain(&why))?;
        let rules = Arc::new(rules);
        self.loaded.insert(key, Arc::clone(&rules));
        Ok(rules)
    }

    /// All that can be loaded.
    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// What to do about a game that cannot be loaded.
    fn explain(&self, why: &LoadError) -> anyhow::Error {
        let list = |names: Vec<&str>| names.join(", ");
        let fix = match why {
            LoadError::Game { .. } => {
                let names = self.catalogue.games().iter().map(|it| it.name.as_str()).collect();
                format!("the games are {} (`rulemate games`)", list(names))
            }
            LoadError::Activation(
                ActivationError::Scope { preset, .. }
                | ActivationError::Option { preset, .. }
                | ActivationError::Value { preset, .. },
            ) => format!("`rulemate presets {preset}` tells what it takes"),
            LoadError::Activation(_) => {
                let names = self.catalogue.presets().iter().map(|it| it.preset.as_str()).collect();
                format!(
                    "write PRESET[:SCOPE][:OPTION=VALUE,...]; the presets are {} (`rulemate presets`)",
                    list(names)
                )
            }
            LoadError::Rules(_) => "`rulemate check` shows the rules that clash".to_owned(),
            _ => "see `rulemate games --json` for what a game takes".to_owned(),
        };
        trouble(why, fix)
    }
}

/// [`start`], which tells what had to be left out of the position.
pub(crate) fn start_told(rules: &Ruleset, fen: Option<&str>) -> anyhow::Result<Game> {
    let game = start(rules, fen)?;
    for warning in game.warnings() {
        warn(warning);
    }
    Ok(game)
}

/// A game of these rules, from a position or from its own start.
pub(crate) fn start(rules: &Ruleset, fen: Option<&str>) -> anyhow::Result<Game> {
    let example = rules.start_fen();
    rules.start(fen).or_fix(format!("a position of this game looks like {example}"))
}
