//! The game that a client plays: the chosen variant and the position, and what both protocols do with them.
//!
//! Texts of both protocols are in the client's letters, those of the layers below in ours.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

use super::Interrupt;
use super::dialect::{Dialect, DialectError};
use crate::game::{Allowance, Exhausted, Game, GameResult, PlayError};
use crate::moves::{Move, action_texts, divide, refusal};
use crate::opponent::{Budget, Choice, Knowledge, Lessons, Level, Method, Opponent, Score, Stop};
use crate::presets::{AddError, Catalogue, GameEntry, LoadError, Ruleset, StartError};

/// A game that was learned for at least this long is not learned again.
const ENOUGH: Duration = Duration::from_millis(500);

/// Number of actions from which a game is learned for a search without a time, a second of most games.
const COUNTED_ACTIONS: usize = 40_000;
/// Maximum budget for that, as a number of requests.
const COUNTED_REQUESTS: u64 = 8;

/// The time of a search that was ended before it began.
const AT_STOP: Duration = Duration::from_millis(200);

/// Maximum number of seconds for which a game is learned.
pub(super) const LONGEST_LESSONS: u64 = 3_600;

/// Our own letters.
static OURS: Dialect = Dialect::none();

/// A game, and the means to begin another.
#[derive(Debug)]
pub struct EngineGame {
    catalogue: Catalogue,
    rules: Ruleset,
    dialect: Dialect,
    /// Whether the client writes our letters.
    is_plain: bool,
    game: Game,
    /// By the name of a game: the time for which it was learned, and the knowledge.
    knowledge: HashMap<String, (Duration, Knowledge)>,
    /// By the name of a game, the knowledge that does not depend on time.
    counted: HashMap<String, Knowledge>,
    /// Time to learn a game before the engine reports that it is ready; `None` if each is learned at its first action.
    learning_time: Option<Duration>,
}

/// The search that a client asks for.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub budget: Budget,
    /// The only actions that may be chosen; if there are none, any.
    pub only: Vec<String>,
    /// The number of the side's turns within which a win is sought.
    pub turns: Option<u32>,
}

impl Wanted {
    /// A search of all actions within a budget.
    pub const fn within(budget: Budget) -> Self {
        Self { budget, only: Vec::new(), turns: None }
    }
}

/// The engine's choice, in the client's letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thought {
    pub text: String,
    pub score: Score,
    /// As in [`Choice`].
    pub turns: u32,
    pub depth: u32,
    pub nodes: u64,
    /// The principal variation, which begins with `text`.
    pub line: Vec<String>,
    /// The action that is expected of the other side next, unless the turn goes on.
    pub reply: Option<String>,
}

impl Thought {
    /// An action that was not judged: there was no time for a single look at the actions, or what was chosen cannot be
    /// played, although the rules call it legal.
    fn of_action(text: String) -> Self {
        let (score, line) = (Score::Hundredths(0), vec![text.clone()]);
        Self { text, score, turns: 0, depth: 0, nodes: 0, line, reply: None }
    }
}

/// Why a move failed. The text of the move is put before the reason, unless the reason begins with it.
fn of_move(text: &str, why: &PlayError) -> String {
    let why = why.to_string();
    match why.strip_prefix(text) {
        Some(rest) if rest.starts_with([':', ' ']) => why,
        _ => format!("{text}: {why}"),
    }
}

/// Why a request failed; nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("{}", of_move(.0, .1))]
    Move(String, PlayError),
    #[error(transparent)]
    Limit(#[from] Exhausted),
    #[error(
        "{0} is played by {1}, and this protocol knows two sides: play it with `rulemate play` or `serve`"
    )]
    Sides(String, String),
    #[error("{0} is not played from shuffled positions: set UCI_Chess960 to false")]
    NotShuffled(String),
    #[error("a game is learned for 0 to {LONGEST_LESSONS} seconds, not {0:?}")]
    Lessons(String),
    #[error(transparent)]
    Add(#[from] AddError),
    /// An error, which uses our letters, and the letters that clients write instead.
    #[error("{0} (clients write {1})")]
    Spelled(Box<TableError>, String),
    #[error("the letters of {0} for clients are wrong: {1}")]
    Dialect(String, DialectError),
}

impl EngineGame {
    /// Sets up the named game.
    ///
    /// # Errors
    /// There is no such game, or its rules do not load.
    pub fn new(catalogue: Catalogue, game: &str) -> Result<Self, TableError> {
        let (rules, dialect) = load(&catalogue, game)?;
        let game = rules.start(None)?;
        Ok(Self {
            catalogue,
            rules,
            dialect,
            is_plain: false,
            game,
            knowledge: HashMap::new(),
            counted: HashMap::new(),
            learning_time: None,
        })
    }

    /// The names of all games.
    pub fn variants(&self) -> impl Iterator<Item = &str> {
        self.catalogue.games().iter().map(|it| it.name.as_str())
    }

    /// The name of the current game.
    pub fn variant(&self) -> &str {
        &self.rules.game().name
    }

    /// Whether castling is written as king takes rook.
    pub fn castles_by_rook(&self) -> bool {
        self.rules.game().facts.iter().any(|it| it.0 == "castling_by_rook" && it.1 == "true")
    }

    /// The moves of single pieces as clients need them, in Betza's notation.
    pub fn pieces(&self) -> &[String] {
        &self.rules.game().client_pieces
    }

    /// The files and ranks of the board.
    pub fn size(&self) -> (u8, u8) {
        let board = self.rules.contract().board;
        (board.files, board.ranks)
    }

    /// The number of kinds of pieces that a player's hand has room for: those of the start position, or 0 in a game without
    /// hands.
    pub fn pocket(&self) -> usize {
        if !self.rules.contract().has_pocket() {
            return 0;
        }
        let start = self.rules.start_fen();
        let board = start.split(' ').next().unwrap_or_default();
        let letters = board.chars().filter(char::is_ascii_alphabetic);
        letters.map(|it| it.to_ascii_lowercase()).collect::<HashSet<_>>().len()
    }

    /// Sets up another game at its start.
    ///
    /// # Errors
    /// There is no such game; nothing has changed.
    pub fn choose(&mut self, name: &str) -> Result<(), TableError> {
        let (rules, dialect) = load(&self.catalogue, name)?;
        self.game = rules.start(None)?;
        (self.rules, self.dialect) = (rules, dialect);
        Ok(())
    }

    /// Sets whether the client writes our letters, or those that programs for this game usually have, which not every
    /// client knows.
    pub fn write_plainly(&mut self, is_plain: bool) {
        self.is_plain = is_plain;
    }

    fn dialect(&self) -> &Dialect {
        if self.is_plain { &OURS } else { &self.dialect }
    }

    /// Adds the client's letters to an error about the client's text, if they differ from ours.
    fn spelled<T>(&self, done: Result<T, TableError>) -> Result<T, TableError> {
        done.map_err(|why| match self.dialect().letters() {
            Some(letters) => TableError::Spelled(Box::new(why), letters),
            None => why,
        })
    }

    /// [`EngineGame::choose`], or the shuffled form of that game.
    ///
    /// # Errors
    /// There is no such game, or it has no shuffled form; nothing has changed.
    pub fn choose_as(&mut self, name: &str, shuffled: bool) -> Result<(), TableError> {
        if !shuffled {
            return self.choose(name);
        }
        let entry = self.catalogue.find_game(name)?;
        let target = entry.shuffled.clone();
        let target = target.ok_or_else(|| TableError::NotShuffled(entry.name.clone()))?;
        self.choose(&target)
    }

    /// Adds a rule file, or a folder of them. Returns the number of files.
    ///
    /// # Errors
    /// A file cannot be read, clashes with a known game, or has mistakes; nothing has changed.
    pub fn add_rules(&mut self, path: &Path) -> Result<usize, TableError> {
        let mut catalogue = self.catalogue.clone();
        let count = catalogue.add_path(path)?;
        for game in self.concerned(&catalogue) {
            catalogue.load::<&str>(game, &[])?;
        }
        self.catalogue = catalogue;
        self.knowledge.clear();
        self.counted.clear();
        Ok(count)
    }

    /// The games in which mistakes of added files show: those that the files declare; and the first game of each family,
    /// since the files may have rules for all its games.
    fn concerned<'c>(&self, catalogue: &'c Catalogue) -> Vec<&'c str> {
        let known = self.catalogue.sources();
        let new = catalogue.sources().iter().filter(|it| !known.contains(it));
        let new: HashSet<&str> = new.map(|it| it.path.as_str()).collect();
        let mut families = HashSet::new();
        let is_concerned = |it: &&'c GameEntry| {
            families.insert(it.family.as_deref()) || new.contains(catalogue.path_of(it))
        };
        catalogue.games().iter().filter(is_concerned).map(|it| it.name.as_str()).collect()
    }

    /// Sets up a position, the game's own start if none is given, and plays moves from it.
    ///
    /// # Errors
    /// The position cannot be read or a move is not legal; nothing has changed.
    pub fn set_up<'m>(
        &mut self,
        fen: Option<&str>,
        moves: impl Iterator<Item = &'m str>,
    ) -> Result<(), TableError> {
        let fen = fen.map(|it| self.dialect().fen_to_ours(it));
        let started = self.rules.start(fen.as_deref()).or_else(|why| {
            match fen.as_deref().and_then(without_fields_of_chess) {
                Some(plain) => self.rules.start(Some(&plain)).map_err(|_| why),
                None => Err(why),
            }
        });
        let mut game = self.spelled(started.map_err(TableError::from))?;
        for text in moves {
            let ours = self.dialect().move_to_ours(text);
            let played = game.play_text(&ours).map(|_| ());
            self.spelled(played.map_err(|why| TableError::Move(text.into(), why)))?;
        }
        self.game = game;
        Ok(())
    }

    /// Plays a move in UCI or SAN.
    ///
    /// # Errors
    /// The move is not legal; nothing has changed.
    pub fn play(&mut self, text: &str) -> Result<(), TableError> {
        let ours = self.dialect().move_to_ours(text);
        let played = self.game.play_text(&ours).map(|_| ());
        self.spelled(played.map_err(|why| TableError::Move(text.into(), why)))
    }

    /// Takes the last move back; `false` if there is none.
    pub fn take_back(&mut self) -> bool {
        self.game.takeback().is_some()
    }

    /// The action that the engine chooses; `None` if there is no legal action. The engine searches within the budget, or
    /// until the client ends that, and tells its choice so far. Before its first action in a game it learns the game, which
    /// takes a part of the time. Without a time, the same position has the same choice, unless a time for learning is set. A
    /// budget of neither nodes nor time is for a search to its depth, by alpha-beta.
    ///
    /// # Errors
    /// One of the only actions is not legal, the rules exceed a budget, or none of the actions can be played: the reason of
    /// the first.
    pub fn think_of(
        &mut self,
        wanted: &Wanted,
        level: Level,
        interrupt: &Interrupt,
        tell: &mut dyn FnMut(Thought),
    ) -> Result<Option<Thought>, TableError> {
        let began = Instant::now();
        let mut budget = wanted.budget;
        let ends_by_depth = budget.time.is_none() && budget.nodes == u64::MAX;
        let among = self.actions(&wanted.only)?;
        let Some(fallback) = self.pick(&among)? else { return Ok(None) };
        let hurried = |time: Option<Duration>| time.map_or(AT_STOP, |it| it.min(AT_STOP));
        let mut stop = interrupt.stop().clone();
        if stop.is_stopped() {
            budget.time = Some(hurried(budget.time));
        }
        let knowledge = self.knowledge_within(budget, &stop)?;
        budget.time = budget.time.map(|it| it.saturating_sub(began.elapsed()));
        if stop.is_stopped() {
            (budget.time, stop) = (Some(hurried(budget.time)), Stop::default());
        }
        let mut opponent = Opponent::new(knowledge, level, self.game.hash()).among(among);
        if ends_by_depth {
            opponent = opponent.by(Method::AlphaBeta);
        }
        if let Some(turns) = wanted.turns {
            opponent = opponent.winning_within(turns);
        }
        let mut shown = self.game.clone();
        let choice = opponent.choose_and_tell(&self.game, budget, &stop, &mut |it| {
            let so_far = thought(it, &mut shown, self.dialect());
            // Texts that are made after the search was stopped may be wrong.
            if Allowance::exhausted().is_none() {
                tell(so_far);
            }
        });
        // If the rules ran out of steps above, the choice is shown by rows that are read anew.
        let _ = shown.check();
        let unjudged = || Thought::of_action(fallback.clone());
        let Some(choice) = choice else { return Ok(Some(unjudged())) };
        let found = thought(&choice, &mut shown, self.dialect());
        let contract = self.game.contract().clone();
        let refused = refusal(self.game.world_mut(), &contract, &choice.action);
        let is_playable = refused.is_none() && !found.line.is_empty();
        Ok(Some(if is_playable { found } else { unjudged() }))
    }

    /// The legal actions that a client's texts mean.
    fn actions(&mut self, texts: &[String]) -> Result<Vec<Move>, TableError> {
        let action = |text: &String| {
            let ours = self.dialect().move_to_ours(text);
            let action = self.game.find_move(&ours);
            self.spelled(action.map_err(|why| TableError::Move(text.clone(), why)))
        };
        texts.iter().map(action).collect()
    }

    /// Sets the time to learn each game in [`EngineGame::prepare`]. If it is zero, a game is learned in a part of the
    /// time for the first action.
    ///
    /// # Errors
    /// The text is not a whole number of seconds, or the time is longer than an hour.
    pub fn learn_for(&mut self, seconds: &str) -> Result<(), TableError> {
        let number = seconds.parse().ok().filter(|it| *it <= LONGEST_LESSONS);
        let number = number.ok_or_else(|| TableError::Lessons(seconds.to_owned()))?;
        self.learning_time = (number > 0).then(|| Duration::from_secs(number));
        self.knowledge.clear();
        Ok(())
    }

    /// Learns the game, if a time for that is set and it is not known yet. The client can end that.
    ///
    /// # Errors
    /// The game does not start.
    pub fn prepare(&mut self, interrupt: &Interrupt) -> Result<(), TableError> {
        if let Some(time) = self.learning_time {
            self.learned(Lessons::of(time), interrupt.stop())?;
        }
        Ok(())
    }

    /// The knowledge for a search within a budget: as much as can be learned in a part of its time, or if it has none in a
    /// fixed number of steps, unless a time for learning is set. The client can end the learning.
    fn knowledge_within(&mut self, budget: Budget, stop: &Stop) -> Result<Knowledge, TableError> {
        let whole = Lessons::default();
        match (budget.time, self.learning_time) {
            (Some(time), _) => {
                let time = whole.time.min(Some(time / 4));
                self.learned(Lessons { time, ..whole }, stop)
            }
            (None, Some(time)) => self.learned(Lessons::of(time), stop),
            (None, None) => self.counted(stop),
        }
    }

    /// The knowledge that does not depend on time.
    fn counted(&mut self, stop: &Stop) -> Result<Knowledge, TableError> {
        let name = &self.rules.game().name;
        if let Some(known) = self.counted.get(name) {
            return Ok(known.clone());
        }
        let start = self.rules.start(None)?;
        let _allowance = Allowance::of_many(COUNTED_REQUESTS, stop.clone());
        let lessons = Lessons { actions: COUNTED_ACTIONS, time: None, ..Lessons::default() };
        let knowledge = Knowledge::learn(&start, lessons, 1);
        if !stop.is_stopped() {
            self.counted.insert(name.clone(), knowledge.clone());
        }
        Ok(knowledge)
    }

    /// The knowledge about the game, learned when it is first asked for, and again when much more time is given. The
    /// client can end the learning.
    fn learned(&mut self, lessons: Lessons, stop: &Stop) -> Result<Knowledge, TableError> {
        let name = &self.rules.game().name;
        let mut time = lessons.time.unwrap_or(Duration::MAX);
        if let Some((before, known)) = self.knowledge.get(name)
            && (*before >= ENOUGH || *before >= time / 2)
        {
            return Ok(known.clone());
        }
        let start = self.rules.start(None)?;
        let began = Instant::now();
        let _allowance = Allowance::of_many(u64::MAX, stop.clone());
        let knowledge = Knowledge::learn(&start, lessons, 1);
        if stop.is_stopped() {
            time = time.min(began.elapsed());
        }
        self.knowledge.insert(name.clone(), (time, knowledge.clone()));
        Ok(knowledge)
    }

    /// A legal move that can be played, among these unless the list is empty. The position alone decides which. `None`
    /// if there is no legal move.
    ///
    /// # Errors
    /// The rules exceed a budget, or none of the moves can be played: the reason of the first.
    fn pick(&mut self, among: &[Move]) -> Result<Option<String>, TableError> {
        let mut moves = self.game.listing();
        moves.retain(|it| among.is_empty() || among.contains(&it.1));
        let at = (self.game.hash() % moves.len().max(1) as u64) as usize;
        let contract = self.game.contract().clone();
        let mut impossible = None;
        for (text, mv) in moves.iter().cycle().skip(at).take(moves.len()) {
            match refusal(self.game.world_mut(), &contract, mv) {
                None => {
                    self.game.check()?;
                    return Ok(Some(self.dialect().move_to_theirs(text)));
                }
                Some(why) => impossible = impossible.or(Some((text, why))),
            }
        }
        self.game.check()?;
        match impossible {
            Some((text, why)) => {
                Err(TableError::Move(self.dialect().move_to_theirs(text), why.into()))
            }
            None => Ok(None),
        }
    }

    /// The last move since the position was set up, in UCI and SAN.
    pub fn last_move(&self) -> Option<(String, String)> {
        let record = self.game.history().last()?;
        let dialect = self.dialect();
        Some((dialect.move_to_theirs(&record.uci), dialect.move_to_theirs(&record.san)))
    }

    /// The perft count below each legal move, in the order of their text.
    ///
    /// # Errors
    /// The rules exceed a budget, or a legal move cannot be played, so the count is incomplete.
    pub fn divide(&mut self, depth: u32) -> Result<Vec<(String, u64)>, TableError> {
        let rows = divide(self.game.world_mut(), self.rules.contract(), depth);
        self.game.check()?;
        let theirs = |(text, nodes): (String, u64)| (self.dialect().move_to_theirs(&text), nodes);
        Ok(rows.into_iter().map(theirs).collect())
    }

    pub fn fen(&mut self) -> String {
        let fen = self.game.fen();
        self.dialect().fen_to_theirs(&fen)
    }

    /// The board in FEN order, last rank first, in the client's letters.
    pub fn cells(&mut self) -> Vec<Vec<Option<String>>> {
        let cells = self.game.cells();
        let theirs = |it: &String| self.dialect().fen_to_theirs(it);
        let row = |it: Vec<Option<String>>| it.iter().map(|it| it.as_ref().map(theirs)).collect();
        cells.into_iter().map(row).collect()
    }

    /// The parts of the position that the FEN does not state, in words.
    pub fn unsaid(&mut self) -> Option<String> {
        self.rules.unsaid_note(&mut self.game)
    }

    /// The start position of the game, in the client's letters.
    pub fn start_fen(&self) -> String {
        self.dialect().fen_to_theirs(self.rules.start_fen())
    }

    pub fn result(&self) -> Option<&GameResult> {
        self.game.result()
    }

    /// The index of the side to move; the side that moves first has 0.
    pub fn side(&self) -> i64 {
        self.game.side().unwrap_or_default()
    }

    /// The warnings of the setup, in words.
    pub fn warnings(&self) -> Vec<String> {
        self.game.warnings().iter().map(ToString::to_string).collect()
    }
}

/// A choice in the client's letters. The game is at the position of the choice.
fn thought(choice: &Choice, game: &mut Game, dialect: &Dialect) -> Thought {
    let texts = action_texts(game.world_mut(), &choice.line);
    let line: Vec<String> = texts.iter().map(|it| dialect.move_to_theirs(it)).collect();
    let text = line.first().cloned().unwrap_or_default();
    let reply = line.get(1).filter(|_| ends_turn(game, &choice.action)).cloned();
    let &Choice { score, turns, depth, nodes, .. } = choice;
    Thought { text, score, turns, depth, nodes, line, reply }
}

/// Whether another side is to move after an action.
fn ends_turn(game: &mut Game, action: &Move) -> bool {
    let contract = game.contract().clone();
    let world = game.world_mut();
    let mover = contract.mover(world.facts());
    world.taking_back(|world| {
        world.fire(action.action, &action.args).is_ok() && contract.mover(world.facts()) != mover
    })
}

/// A FEN with the six fields of chess, without castling, passed square and half-move clock, for games that lack these:
/// Fairy-Stockfish writes them for all games. `None` if castling or a passed square is given.
fn without_fields_of_chess(fen: &str) -> Option<String> {
    match fen.split_whitespace().collect::<Vec<_>>().as_slice() {
        [board, turn, "-", "-", _, number] => Some(format!("{board} {turn} {number}")),
        _ => None,
    }
}

/// A game, and the letters of clients for it. The catalogue keeps what was compiled, as far as there is room.
fn load(catalogue: &Catalogue, name: &str) -> Result<(Ruleset, Dialect), TableError> {
    let entry = catalogue.find_game(name)?;
    let dialect = Dialect::parse(&entry.client_letters)
        .map_err(|why| TableError::Dialect(entry.name.clone(), why))?;
    let rules = catalogue.load::<&str>(&entry.name, &[])?;
    let sides = rules.sides();
    if sides.len() != 2 {
        return Err(TableError::Sides(entry.name.clone(), sides.join(", ")));
    }
    Ok((rules, dialect))
}
