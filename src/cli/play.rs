//! `rulemate play`: a board in the terminal, for people to play each other, the computer or a random mover.
//!
//! Lines are read from standard input, so a session can be piped in; the input is then echoed, so that the
//! transcript reads like an interactive session.

use std::io::{self, BufRead, IsTerminal};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::Verdict;
use super::args::PlayArgs;
use super::board::{self, Symbols};
use super::explain::{of_last, play_text, question_error};
use super::names;
use super::output::{Ink, Out, trouble, waiting};
use super::saves;
use super::setup::{self, Library, Opened};
use crate::derive::explain::Limits;
use crate::game::{Game, PlayError, Record, Stop};
use crate::moves::notation::san_listing;
use crate::moves::{Move, leaves_a_way_on, refusal};
use crate::opponent::{Knowledge, Lessons, Level, Opponent};
use crate::presets::save::Content;
use crate::presets::{Activation, Catalogue, Ruleset};
use crate::rules::plural;

const HELP: &str = "\
A move is typed in SAN (Nf3, exd5, O-O, e8=Q) or UCI (g1f3, e7e8q). Or one of:
  moves        the legal moves
  why MOVE     the proof that a move is legal, or what forbids it
  trace        the last move with all that it did, as JSON
  undo         take the last move back
  cancel       take back all of a turn that is not over yet
  presets      what is active
  on PRESET    activate PRESET[:SCOPE][:OPTION=VALUE,...] as well, or with these options
  off PRESET   deactivate PRESET[:SCOPE]
  save FILE    write the game to a file (.json or .bin), to be loaded and audited;
               with --embed-rules behind it, the texts of its rules too
  board        draw the board again
  fen          the position as FEN
  claim        claim a draw, if there is one to claim
  resign       give the game up
  quit         leave (so does the end of the input)";

pub(crate) fn run(args: &PlayArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut library = Library::new(&args.from.rules)?;
    let Opened { rules, game, .. } = setup::open_with(&mut library, Some(&args.game), &args.from)?;
    let rules = Arc::unwrap_or_clone(rules);
    let seat = args.computer.as_deref().or(args.random.as_deref());
    let plays = seat.map(|it| seats_of_machine(&rules, it)).transpose()?;
    let mut random = args.seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
    let level = Level::new(args.level).unwrap_or(Level::HIGHEST);
    let lessons =
        args.learn.map_or_else(Lessons::default, |it| Lessons::of(Duration::from_secs(it)));
    let computer = args
        .computer
        .as_ref()
        .map(|_| Opponent::new(learned(&game, lessons), level, random.u64(..)));
    let symbols = if args.ascii { Symbols::Ascii } else { Symbols::Unicode };
    let earlier = Vec::new();
    let mut session =
        Session { game, rules, earlier, library, out, symbols, random, computer, lessons, plays };
    session.run()?;
    Ok(Verdict::Fine)
}

/// The computer's knowledge of a game, with a progress bar while it learns.
fn learned(game: &Game, lessons: Lessons) -> Knowledge {
    let seconds = lessons.time.unwrap_or_default().as_secs();
    let _bar = waiting(seconds, "learning the game");
    Knowledge::learn(game, lessons, 1)
}

/// The sides that the machine plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seats {
    One(i64),
    All,
}

fn seats_of_machine(rules: &Ruleset, name: &str) -> anyhow::Result<Seats> {
    let sides = rules.sides();
    if name == "both" || name == "all" {
        return Ok(Seats::All);
    }
    if let Some(side) = sides.iter().position(|it| it == name) {
        return Ok(Seats::One(side as i64));
    }
    let cause = format!("{} has no side {name}", rules.game().name);
    Err(trouble(cause, format!("name a side for the machine: {}, both", sides.join(", "))))
}

struct Session<'a> {
    game: Game,
    /// The current rules of the game.
    rules: Ruleset,
    /// For each change of presets, how many actions came before it, and the rules that `undo` goes back to.
    earlier: Vec<(usize, Ruleset)>,
    library: Library,
    out: &'a mut Out,
    symbols: Symbols,
    random: fastrand::Rng,
    /// The computer opponent; without one the machine moves at random.
    computer: Option<Opponent>,
    /// Limits of learning the game, at the start and after each change of presets.
    lessons: Lessons,
    /// The sides that the machine plays.
    plays: Option<Seats>,
}

/// Whether a session goes on.
enum Next {
    Read,
    Leave,
}

impl Session<'_> {
    fn run(&mut self) -> anyhow::Result<()> {
        self.show_board()?;
        self.answer()?;
        loop {
            let Some(line) = self.prompt()? else { return Ok(()) };
            if let Next::Leave = self.run_command(line.trim())? {
                return Ok(());
            }
        }
    }

    /// Asks for a line; `None` at the end of the input.
    fn prompt(&mut self) -> anyhow::Result<Option<String>> {
        let prompt = match (self.game.result(), self.game.side()) {
            (None, Some(side)) => names::side(&self.game, side),
            _ => "over".to_owned(),
        };
        let is_typed = io::stdin().is_terminal();
        if is_typed {
            self.out.text(format_args!("{prompt}> "))?;
            self.out.flush()?;
        }
        let mut bytes = Vec::new();
        if io::stdin().lock().read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        // Bytes that are no text are no move, but no reason to end the session either.
        let line = String::from_utf8_lossy(&bytes).into_owned();
        if !is_typed {
            self.out.line(format_args!("{prompt}> {}", line.trim()))?;
        }
        Ok(Some(line))
    }

    fn run_command(&mut self, line: &str) -> anyhow::Result<Next> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match word {
            "" => (),
            "quit" | "exit" => return Ok(Next::Leave),
            "help" | "?" => self.out.line(HELP)?,
            "board" => self.show_board()?,
            "fen" => {
                let fen = self.game.fen();
                self.out.line(fen)?;
                if let Some(note) = self.rules.unsaid_note(&mut self.game) {
                    self.out.line(format_args!("({note})"))?;
                }
            }
            "moves" => self.show_moves()?,
            "trace" => self.trace()?,
            "undo" => self.undo()?,
            "cancel" => self.cancel()?,
            "why" => self.explain(rest.trim())?,
            "presets" => self.show_presets()?,
            "on" => self.activate(rest.trim())?,
            "off" => self.deactivate(rest.trim())?,
            "save" => self.save(rest.trim())?,
            "claim" => self.claim()?,
            "resign" => self.resign()?,
            _ => self.play(line)?,
        }
        Ok(Next::Read)
    }

    /// Plays the typed move, then lets the machine answer.
    fn play(&mut self, text: &str) -> anyhow::Result<()> {
        if let Some(result) = self.game.result() {
            let is_new = self.game.history().is_empty();
            let hint = if is_new { "" } else { " (undo takes the last move back)" };
            return self.out.line(format_args!("the game is over: {result}{hint}"));
        }
        let number = names::numbered(&self.game, "");
        if let Err(why) = play_text(&mut self.game, text) {
            let why = match why {
                PlayError::Illegal(it) => format!("{text} is not legal: {}", it.reasons.join("; ")),
                other => other.to_string(),
            };
            let line = self.out.ink(Ink::Bad, why);
            self.out.line(line)?;
            let hint = "(`why MOVE` gives the proof, `moves` lists what is legal, `help` the rest)";
            return self.out.line(hint);
        }
        if let Some(record) = self.game.history().last() {
            self.out.line(format_args!("{number}{} ({})", record.san, record.uci))?;
            notes(record, self.out)?;
        }
        self.show_board()?;
        self.answer()
    }

    /// Lets the machine play while it is to move.
    fn answer(&mut self) -> anyhow::Result<()> {
        while self.is_machine_to_move() {
            let computers = self.computers_move().map(|it| (it, "the computer"));
            let chosen = computers.or_else(|| Some((self.random_move()?, "the random mover")));
            let Some((mv, by)) = chosen else { return Ok(()) };
            let number = names::numbered(&self.game, "");
            let record = self.game.play(&mv)?;
            let line = format!("{number}{} ({}) by {by}", record.san, record.uci);
            self.out.line(line)?;
            notes(record, self.out)?;
            self.show_board()?;
        }
        Ok(())
    }

    /// The computer's action, if there is a computer and its action can be taken.
    fn computers_move(&mut self) -> Option<Move> {
        let computer = self.computer.as_mut()?;
        let budget = computer.level().budget();
        let choice = computer.choose(&self.game, budget, &Stop::default())?;
        let contract = self.game.contract().clone();
        let can_be_taken = refusal(self.game.world_mut(), &contract, &choice.action).is_none();
        can_be_taken.then_some(choice.action)
    }

    /// A random action that can be played, if possible one after which the turn can be finished. If none can be played,
    /// any of them: its error says why.
    fn random_move(&mut self) -> Option<Move> {
        let moves = self.game.listing();
        let contract = self.game.contract().clone();
        let world = self.game.world_mut();
        let can_be_played = |it: &(String, Move)| refusal(world, &contract, &it.1).is_none();
        let (possible, refused): (Vec<_>, Vec<_>) = moves.into_iter().partition(can_be_played);
        let mut moves = if possible.is_empty() { refused } else { possible };
        let mut last = None;
        while let Some(at) = self.random.choice(0..moves.len()) {
            let mv = moves.swap_remove(at).1;
            if leaves_a_way_on(self.game.world_mut(), &contract, &mv) {
                return Some(mv);
            }
            last = Some(mv);
        }
        last
    }

    fn is_machine_to_move(&self) -> bool {
        self.game.result().is_none()
            && match self.plays {
                None => false,
                Some(Seats::All) => true,
                Some(Seats::One(side)) => self.game.side() == Some(side),
            }
    }

    /// Takes a move back; against a machine, as many as needed until the person is to move. If the machine made the
    /// first move of the game, it moves again.
    fn undo(&mut self) -> anyhow::Result<()> {
        let Some(mut record) = self.game.takeback() else {
            return self.out.line("nothing to undo");
        };
        // If the machine plays all sides, there is no person to wait for.
        let is_alone = self.plays == Some(Seats::All);
        while !is_alone && self.is_machine_to_move() {
            match self.game.takeback() {
                Some(earlier) => record = earlier,
                None => break,
            }
        }
        self.restore_rules();
        self.out.line(format_args!("took back {}", record.san))?;
        self.show_board()?;
        if is_alone { Ok(()) } else { self.answer() }
    }

    /// Goes back to the rules before the changes of presets that no longer are in the game: an action before them was
    /// taken back.
    fn restore_rules(&mut self) {
        let plies = self.game.history().len();
        let mut is_restored = false;
        while let Some((_, rules)) = self.earlier.pop_if(|it| plies < it.0) {
            self.rules = rules;
            is_restored = true;
        }
        if is_restored {
            self.learn();
        }
    }

    /// Lets the computer learn the game by its current rules.
    fn learn(&mut self) {
        if let Some(computer) = &mut self.computer {
            computer.learn(learned(&self.game, self.lessons));
        }
    }

    /// Takes back all actions of an unfinished turn.
    fn cancel(&mut self) -> anyhow::Result<()> {
        let of_turn = self.game.actions_under_way();
        if of_turn == 0 {
            return self.out.line("no turn is under way");
        }
        for _ in 0..of_turn {
            self.game.takeback();
        }
        self.restore_rules();
        let actions = plural(of_turn, "action");
        self.out.line(format_args!("took back what was done of this turn ({actions})"))?;
        self.show_board()
    }

    fn explain(&mut self, text: &str) -> anyhow::Result<()> {
        if text.is_empty() {
            return self.out.line("why what? Give a move: why Nf3");
        }
        let mut game = self.game.clone();
        match of_last(&mut game, text, |it, text| it.explain_move(text, Limits::default())) {
            Ok(explained) => {
                self.out.line(&explained.summary)?;
                self.out.text(game.tree(&explained.finding))
            }
            Err(why) => self.out.line(question_error(&why)),
        }
    }

    /// The active presets, as activations.
    fn active(&self) -> Vec<String> {
        Activation::texts(&Catalogue::active(&self.game))
    }

    fn show_presets(&mut self) -> anyhow::Result<()> {
        let active = self.active();
        self.out.line(saves::listed(&active))
    }

    fn activate(&mut self, preset: &str) -> anyhow::Result<()> {
        self.set_active(&Catalogue::active_with(&self.game, preset))
    }

    fn deactivate(&mut self, preset: &str) -> anyhow::Result<()> {
        if preset.is_empty() {
            return self.out.line("off what? Name a preset (`presets` lists what is active)");
        }
        let mut wanted = self.active();
        let is_meant = |it: &String| {
            it.strip_prefix(preset).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        };
        if !wanted.iter().any(is_meant) {
            let line = format!("{preset} is not active (`presets` lists what is)");
            return self.out.line(line);
        }
        wanted.retain(|it| !is_meant(it));
        self.set_active(&wanted)
    }

    fn set_active(&mut self, wanted: &[String]) -> anyhow::Result<()> {
        let rules = match self.library.catalogue().set_active(&self.rules, &mut self.game, wanted) {
            Ok(rules) => rules,
            Err(why) => {
                let line = self.out.ink(Ink::Bad, why);
                return self.out.line(line);
            }
        };
        let before = std::mem::replace(&mut self.rules, rules);
        self.earlier.push((self.game.history().len(), before));
        self.learn();
        self.show_presets()?;
        self.show_board()?;
        self.answer()
    }

    fn save(&mut self, text: &str) -> anyhow::Result<()> {
        let (file, rules) = file_to_save(text);
        if file.is_empty() {
            return self.out.line("save where? Name a file: save game.json");
        }
        let content = Content { rules };
        saves::write(&self.game, &self.rules, content, Path::new(file), self.out)
            .or_else(|why| self.out.line(format_args!("{why:#}")))
    }

    /// Prints the last action with all its effects, as JSON.
    fn trace(&mut self) -> anyhow::Result<()> {
        match self.game.history().len().checked_sub(1).and_then(|it| self.game.report(it)) {
            Some(action) => self.out.json(&action),
            None => self.out.line("nothing has been played"),
        }
    }

    fn claim(&mut self) -> anyhow::Result<()> {
        let line = match self.game.claim_draw(None) {
            Ok(result) => result.to_string(),
            Err(why) => why.to_string(),
        };
        self.out.line(line)
    }

    fn resign(&mut self) -> anyhow::Result<()> {
        let line =
            match self.game.side().map(|side| self.game.resign(side).map(ToString::to_string)) {
                Some(Ok(result)) => result,
                Some(Err(why)) => why.to_string(),
                None => "no side is to move".to_owned(),
            };
        self.out.line(line)
    }

    fn show_moves(&mut self) -> anyhow::Result<()> {
        if self.game.result().is_some() {
            return self.out.line("no moves: the game is over");
        }
        let contract = self.game.contract().clone();
        let moves = san_listing(self.game.world_mut(), &contract);
        self.out.line(plural(moves.len(), "move"))?;
        let words: Vec<String> = moves.into_iter().map(|(san, _)| san).collect();
        for line in wrapped(&words, 76) {
            self.out.line(format_args!("  {line}"))?;
        }
        Ok(())
    }

    fn show_board(&mut self) -> anyhow::Result<()> {
        let board = board::of(&mut self.game, self.symbols);
        self.out.line(board)?;
        if let Some(result) = self.game.result() {
            let line = self.out.ink(Ink::Strong, result);
            return self.out.line(line);
        }
        let claims = self.game.claims();
        if !claims.is_empty() {
            let line = format!("a draw may be claimed: {}", claims.join(", ").replace('_', " "));
            self.out.line(line)?;
        }
        Ok(self.out.flush()?)
    }
}

/// Prints the rules' notes on a move.
fn notes(record: &Record, out: &mut Out) -> anyhow::Result<()> {
    for note in record.notes() {
        out.line(format_args!("  {note}"))?;
    }
    Ok(())
}

/// The file that `save` names, and whether the texts of the rules go into it.
fn file_to_save(text: &str) -> (&str, bool) {
    const FLAG: &str = "--embed-rules";
    let behind = text.strip_suffix(FLAG).filter(|it| it.ends_with(char::is_whitespace));
    let before = text.strip_prefix(FLAG).filter(|it| it.starts_with(char::is_whitespace));
    match behind.or(before) {
        Some(file) => (file.trim(), true),
        None if text == FLAG => ("", true),
        None => (text, false),
    }
}

/// Words joined into lines of at most `width` characters; a longer word has a line of its own.
fn wrapped(words: &[String], width: usize) -> Vec<String> {
    let length = |it: &str| it.chars().count();
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if length(line) + 1 + length(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.clone()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{file_to_save, wrapped};

    #[test]
    fn words_are_wrapped() {
        let words = ["a3", "Nf3", "exd5"].map(String::from);
        assert_eq!(wrapped(&words, 6), ["a3 Nf3", "exd5"]);
        let words = ["Ré3", "á3", "é5"].map(String::from);
        assert_eq!(wrapped(&words, 6), ["Ré3 á3", "é5"]);
    }

    #[test]
    fn a_save_may_have_its_rules_and_any_name() {
        assert_eq!(file_to_save("a b.json"), ("a b.json", false));
        assert_eq!(file_to_save("a.json  --embed-rules"), ("a.json", true));
        assert_eq!(file_to_save("--embed-rules a.json"), ("a.json", true));
        assert_eq!(file_to_save("--embed-rules"), ("", true));
        assert_eq!(file_to_save("a--embed-rules"), ("a--embed-rules", false));
    }
}
