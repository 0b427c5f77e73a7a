//! Sets up the game of a command line: from its start, a FEN, facts or a save.
//!
//! [`Library`] compiles each game once, however many games are played by it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::args::{DEFAULT_GAME, PositionArgs, RulesArgs, StartArgs};
use super::output::{OrFix, read_bytes, trouble, trouble_with, warn};
use crate::facts::Document;
use crate::game::{Game, PlayError};
use crate::moves::notation::PgnGame;
use crate::presets::save::{Doubt, RestoreError, Restored, RulesFrom, Save};
use crate::presets::{
    Activation, ActivationError, AddError, Catalogue, LoadError, Ruleset, preset_of, switch_place,
    switched,
};
use crate::rules::plural;

/// A game with its rules and its name.
pub(crate) struct Opened {
    pub(crate) game: Game,
    /// Its current rules.
    pub(crate) rules: Arc<Ruleset>,
    /// The name of the game as typed; for a save, the name in its rules.
    pub(crate) name: String,
    /// The presets typed, in full; for a save or facts, all active ones.
    pub(crate) presets: Vec<String>,
}

/// The game of a command's position options, with the given moves played.
pub(crate) fn open(args: &PositionArgs) -> anyhow::Result<Opened> {
    open_with(&mut Library::new(&args.from.rules)?, args.game.as_deref(), &args.from)
}

/// [`open`], with the rules that a library has compiled.
pub(crate) fn open_with(
    library: &mut Library,
    game: Option<&str>,
    from: &StartArgs,
) -> anyhow::Result<Opened> {
    let mut opened = open_unmoved(library, game, from)?;
    moves_of(&mut opened.game, from.moves.as_deref().unwrap_or_default())?;
    Ok(opened)
}

/// [`open_with`] without playing the given moves.
pub(crate) fn open_unmoved(
    library: &mut Library,
    game: Option<&str>,
    from: &StartArgs,
) -> anyhow::Result<Opened> {
    let mut opened = match &from.save {
        Some(save) => of_save(library, save, from)?,
        None => of_game(library, game.unwrap_or(DEFAULT_GAME), from)?,
    };
    for conflict in Catalogue::conflicts(&mut opened.game) {
        warn(conflict);
    }
    Ok(opened)
}

/// The game of that name, from its start, a FEN or the facts of a file.
fn of_game(library: &mut Library, name: &str, from: &StartArgs) -> anyhow::Result<Opened> {
    let rules = library.load(name, &from.presets)?;
    let name = name.to_owned();
    if let Some(facts) = &from.facts {
        let (rules, game) = of_facts(library, &rules, facts)?;
        let presets = Activation::texts(&Catalogue::active(&game));
        return Ok(Opened { game, rules, name, presets });
    }
    let game = with_warnings(start(&rules, from.fen.as_deref())?);
    let presets = typed(&rules, &from.presets);
    Ok(Opened { game, rules, name, presets })
}

/// The activations, in full, of the presets that these texts name.
fn typed(rules: &Ruleset, texts: &[String]) -> Vec<String> {
    let is_typed = |it: &&Activation| texts.iter().any(|text| preset_of(text) == it.preset);
    rules.activations().iter().filter(is_typed).map(ToString::to_string).collect()
}

/// A saved game, after `--ply` of its actions or all of them. `--rules-from-save` leaves the library with the rule
/// texts of the save alone.
fn of_save(library: &mut Library, path: &Path, from: &StartArgs) -> anyhow::Result<Opened> {
    let bytes = read_bytes(path)?;
    let wrong = |it: RestoreError| refusal(&it).context(path.display().to_string());
    let (save, doubt) = Save::read(&bytes, "").map_err(wrong)?;
    if save.version == 1 {
        let why = "a save of version 1 does not say which game it is of";
        return Err(trouble_with(path, why, "`--game NAME --facts FILE` goes on from its facts"));
    }
    if from.rules_from_save {
        library.take_rules_of(&save).map_err(wrong)?;
    }
    let rules = if from.migrate { RulesFrom::Changed } else { RulesFrom::Here };
    let restored = restore_undoubted(&save, doubt, library.catalogue(), rules).map_err(wrong)?;
    let whole = restored.game;
    let game = match from.ply {
        None => whole,
        Some(ply) => whole.branch(ply).ok_or_else(|| {
            let plies = whole.history().len();
            let why = format!("the game has {}, not {ply}", plural(plies, "action"));
            trouble_with(path, why, format!("--ply takes 0 to {plies}"))
        })?,
    };
    let name = restored.rules.game().name.clone();
    let presets = Activation::texts(&Catalogue::active(&game));
    // After fewer plies, other presets may have been on. Those that have ended by themselves do not count: the rules
    // still name them.
    let rules = match restored.rules.governs(&game) {
        true => restored.rules,
        false => library.load_exactly(&restored.rules, game.rule_names())?,
    };
    Ok(Opened { game, rules: Arc::new(rules), name, presets })
}

/// A game that goes on from the facts of a file.
fn of_facts(
    library: &Library,
    rules: &Ruleset,
    path: &Path,
) -> anyhow::Result<(Arc<Ruleset>, Game)> {
    let fix = "name a file that `rulemate facts --json` or `rulemate save` has written, and its \
               game and presets";
    let document = facts_in(&read_bytes(path)?).map_err(|why| trouble_with(path, why, fix))?;
    let resumed = library.catalogue().resume(rules, &document);
    let (rules, game) = resumed.map_err(|why| trouble_with(path, why, fix))?;
    Ok((Arc::new(rules), game))
}

/// The facts in a file: a list of them, or those of a save.
fn facts_in(bytes: &[u8]) -> Result<Document, String> {
    let list = std::str::from_utf8(bytes).ok().map(Document::parse);
    if let Some(Ok(document)) = list {
        return Ok(document);
    }
    match (Save::read(bytes, ""), list) {
        (Ok((save, None)), _) => Ok(Document::new(save.facts)),
        (Ok((_, Some(doubt))), _) => Err(doubt.to_string()),
        // A text that is neither is taken for a list with a mistake.
        (Err(RestoreError::Alien { .. }), Some(Err(why))) => Err(why.to_string()),
        (Err(why), _) => Err(why.to_string()),
    }
}

/// Reads and restores a save; any doubt about it is an error.
pub(crate) fn restore(
    bytes: &[u8],
    game: &str,
    catalogue: &Catalogue,
    from: RulesFrom,
) -> anyhow::Result<Restored> {
    Save::read(bytes, game)
        .and_then(|(save, doubt)| restore_undoubted(&save, doubt, catalogue, from))
        .map_err(|it| refusal(&it))
}

/// Restores a save. Errors of restoring come before the doubt about the save, since they say more.
fn restore_undoubted(
    save: &Save,
    doubt: Option<Doubt>,
    catalogue: &Catalogue,
    from: RulesFrom,
) -> Result<Restored, RestoreError> {
    let restored = save.restore(catalogue, from)?;
    doubt.map_or(Ok(restored), |it| Err(it.into()))
}

/// The error for a refused save, with its fix.
pub(crate) fn refusal(why: &RestoreError) -> anyhow::Error {
    let fix = match why {
        RestoreError::Rules { embedded: true, .. } => {
            "`--rules-from-save` uses the texts in the save, `--migrate` the rules as they are now"
        }
        RestoreError::Rules { embedded: false, .. } | RestoreError::NotEmbedded => {
            "`--migrate` uses the rules as they are now (`save --embed-rules` keeps their texts)"
        }
        RestoreError::Version { .. } => "a newer Rulemate reads it",
        RestoreError::Alien { .. } => "name a file that `rulemate save` has written",
        RestoreError::Facts(_) => "the save needs other rules, or was altered",
        RestoreError::Load(
            LoadError::Game { .. } | LoadError::Activation(ActivationError::Preset { .. }),
        ) => {
            "`--rules PATH` brings its rules; `--rules-from-save` uses their texts, if the save has them \
             (`save --embed-rules`)"
        }
        _ => "nothing was loaded; `rulemate audit` says more about a save",
    };
    trouble(why, fix)
}

/// Plays the moves of a line, in UCI or SAN, with or without move numbers. Returns their texts.
pub(crate) fn moves_of(game: &mut Game, text: &str) -> anyhow::Result<Vec<String>> {
    let mut moves = Vec::new();
    for word in words(text) {
        if word.is_move(game) {
            play_one(game, moves.len(), word.text)?;
            moves.push(word.text.to_owned());
        }
    }
    Ok(moves)
}

/// Plays one of several moves; `at` is its index.
pub(crate) fn play_one(game: &mut Game, at: usize, word: &str) -> anyhow::Result<()> {
    let played = game.play_text(word).map(|_| ());
    played.map_err(|why| {
        let fix = match why {
            // Where a draw ends the game, moves are still listed.
            PlayError::Over { .. } => "leave out this move, and those after it".to_owned(),
            // It is on the list, but its reactions cannot be carried out.
            PlayError::Refused(_) => {
                format!("`rulemate explain --effects {word}` tells how far it comes")
            }
            _ => "`rulemate moves` lists what is legal".to_owned(),
        };
        trouble(format!("move {} ({word}): {why}", at + 1), fix)
    })
}

/// A word of a line of moves.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Word<'t> {
    pub(crate) text: &'t str,
    /// Whether the word may be a move number that has no dot.
    may_be_number: bool,
}

impl<'t> Word<'t> {
    /// A word that is known to be a move.
    pub(crate) fn of_move(text: &'t str) -> Self {
        Self { text, may_be_number: false }
    }

    /// Whether the word is a move in the current position of a game, not a move number.
    pub(crate) fn is_move(&self, game: &mut Game) -> bool {
        // In some games a number is a move.
        !self.may_be_number || game.find_move(self.text).is_ok()
    }
}

/// The words of a line of moves. Numbers with dots are left out: `1. e4`, `1.e4`, `1... e5`, `1. ... e5`.
pub(crate) fn words(text: &str) -> Vec<Word<'_>> {
    let all: Vec<&str> = text.split_whitespace().collect();
    let mut words = Vec::new();
    // The next move number; a line may begin with any.
    let mut next: Option<u64> = None;
    let mut follows_number = false;
    for (at, &text) in all.iter().enumerate() {
        if follows_number && text.bytes().all(|it| it == b'.') {
            continue;
        }
        let (digits, rest) = text.split_at(text.bytes().take_while(u8::is_ascii_digit).count());
        let number: Option<u64> = digits.parse().ok().filter(|_| !digits.starts_with('0'));
        let follower = all.get(at + 1);
        let has_move_behind = follower.is_some_and(|it| !it.bytes().all(|it| it.is_ascii_digit()));
        let may_be_number = rest.is_empty()
            && has_move_behind
            && number.is_some_and(|it| next.is_none_or(|next| it == next));
        let dotted = rest.strip_prefix('.').filter(|_| number.is_some());
        next = match number {
            Some(number) if may_be_number || dotted.is_some() => number.checked_add(1),
            // A line that begins with a move begins with move 1.
            _ => next.or(Some(2)),
        };
        let text = dotted.map_or(text, |it| it.trim_start_matches('.'));
        follows_number = may_be_number || text.is_empty();
        if !text.is_empty() {
            words.push(Word { text, may_be_number });
        }
    }
    words
}

/// The games, layouts and presets of Rulemate, and those of the given files and folders.
pub(crate) fn catalogue(args: &RulesArgs) -> anyhow::Result<Catalogue> {
    let mut catalogue = Catalogue::embedded()
        .or_fix("this is a mistake of Rulemate's own rule files: please report it")?;
    for path in &args.rules {
        catalogue.add_path(path).map_err(|why| match &why {
            AddError::Read { .. } => trouble(why, "name a rule file (.dl), or a folder of them"),
            AddError::Catalogue(_) => trouble(why, "`rulemate check` says more about a file"),
        })?;
    }
    Ok(catalogue)
}

/// Maximum number of games that a library keeps: rules that are kept count as in use, and all of these are limited.
const MAX_KEPT: usize = 32;

/// Games by name, compiled on first use.
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
        if self.loaded.len() == MAX_KEPT {
            self.loaded.clear();
        }
        self.loaded.insert(key, Arc::clone(&rules));
        Ok(rules)
    }

    /// The rules of a game with exactly these activations, compiled anew and not kept.
    pub(crate) fn load_exactly(
        &self,
        rules: &Ruleset,
        activations: &[String],
    ) -> anyhow::Result<Ruleset> {
        self.catalogue.load_exactly(rules, activations).map_err(|why| self.explain(&why))
    }

    /// Replaces all rules by the texts in a save.
    fn take_rules_of(&mut self, save: &Save) -> Result<(), RestoreError> {
        self.catalogue = save.own_catalogue(&self.catalogue)?;
        self.loaded.clear();
        Ok(())
    }

    /// Changes the presets of a recorded game as its comments say, which servers write. The rules only say which game it
    /// is. Returns whether any comment is about presets.
    pub(crate) fn switch(
        &self,
        rules: &Ruleset,
        game: &mut Game,
        comments: &[String],
    ) -> anyhow::Result<bool> {
        let mut is_switched = false;
        for presets in switched(comments) {
            self.set_active(rules, game, &presets)?;
            is_switched = true;
        }
        Ok(is_switched)
    }

    /// Replaces the presets of a game. The rules only say which game it is.
    pub(crate) fn set_active(
        &self,
        rules: &Ruleset,
        game: &mut Game,
        presets: &[String],
    ) -> anyhow::Result<()> {
        let place = switch_place(game.history().len());
        let switched = self.catalogue.set_active(rules, game, presets).map(|_| ());
        switched.map_err(|why| {
            trouble(format!("{place}: {why}"), "`rulemate presets` lists the presets")
        })
    }

    /// The catalogue that games are loaded from.
    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The error for a game that cannot be loaded, with its fix.
    fn explain(&self, why: &LoadError) -> anyhow::Error {
        let list = |names: Vec<&str>| names.join(", ");
        let fix = match why {
            LoadError::Game { .. } => {
                let names = list(self.catalogue.games().iter().map(|it| &*it.name).collect());
                format!("the games are {names} (`rulemate games`); --rules PATH brings your own")
            }
            LoadError::Activation(
                ActivationError::Scope { preset, .. }
                | ActivationError::Option { preset, .. }
                | ActivationError::Value { preset, .. },
            ) => format!("`rulemate presets {preset}` tells what it takes"),
            LoadError::Activation(ActivationError::Preset { .. }) => {
                let names = list(self.catalogue.presets().iter().map(|it| &*it.preset).collect());
                format!(
                    "the presets are {names} (`rulemate presets`); --rules PATH brings your own"
                )
            }
            LoadError::Activation(_) => {
                "write PRESET[:SCOPE][:OPTION=VALUE,...]; `rulemate presets` lists the presets".into()
            }
            LoadError::NoFamily { .. } => {
                let families = list(self.catalogue.families().into_iter().collect());
                format!("the families are {families}; a game or a preset may name none")
            }
            LoadError::Family { .. } | LoadError::Foreign { .. } => {
                "leave it out, or name a game of that family: `rulemate games --json` tells families".into()
            }
            LoadError::Letter(_) => "letters are rows of the relation `letter`, in the game or its family".into(),
            LoadError::GameOption { .. } | LoadError::Place(_) => {
                "see `rulemate games --json` for what a game takes".to_owned()
            }
            LoadError::Set(_) => {
                "`rulemate presets PRESET` tells what it requires, and what it does not go with".to_owned()
            }
            _ => "`rulemate check FILE` checks a rule file with those that it builds on".to_owned(),
        };
        trouble(why, fix)
    }
}

/// The game by whose rules a recorded game is played: that of `--game`, or else of its `Variant` tag.
pub(crate) fn variant<'a>(game: Option<&'a str>, pgn: &'a PgnGame) -> &'a str {
    game.or_else(|| pgn.tag("Variant")).unwrap_or(DEFAULT_GAME)
}

/// Prints warnings about everything that had to be left out of a game's position. Returns the game.
pub(crate) fn with_warnings(game: Game) -> Game {
    for warning in game.warnings() {
        warn(warning);
    }
    game
}

/// The first position of a recorded game, by the rules of a game with further presets; if there are none, and the game is
/// that of the tag `Variant`, with those of the tag `Presets`, which servers write. Returns these rules, too.
pub(crate) fn start_recorded(
    library: &mut Library,
    game: &str,
    presets: &[String],
    pgn: &PgnGame,
) -> anyhow::Result<(Game, Arc<Ruleset>)> {
    let is_tagged = presets.is_empty() && pgn.tag("Variant") == Some(game);
    let tagged = pgn.tag("Presets").filter(|_| is_tagged).unwrap_or_default();
    let tagged: Vec<String> = tagged.split_whitespace().map(str::to_owned).collect();
    let rules = library.load(game, if is_tagged { &tagged } else { presets })?;
    let sides = rules.sides();
    if sides.len() != 2 {
        let (name, sides) = (&rules.game().name, sides.join(", "));
        let cause = format!("PGN knows games of two sides, and {name} has {sides}");
        return Err(trouble(cause, "read a save instead: `--save FILE`"));
    }
    Ok((start(&rules, pgn.tag("FEN"))?, rules))
}

/// A game of these rules, from a position or from its own start.
pub(crate) fn start(rules: &Ruleset, fen: Option<&str>) -> anyhow::Result<Game> {
    rules.start(fen).map_err(|why| {
        // The line `.meta start` may lack fields that a position of the game has.
        let fix = match fen.and_then(|_| rules.start(None).ok()) {
            Some(mut game) => format!("a position of this game looks like {}", game.fen()),
            None => format!(
                "mend the start of the game itself: the line `.meta start {:?}` of it or its layout{}",
                rules.start_fen(),
                if rules.activations().is_empty() { "" } else { "; or leave out the preset that refuses it" }
            ),
        };
        trouble(why, fix)
    })
}
