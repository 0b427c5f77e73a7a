//! `rulemate query`: ad-hoc questions about a position, or about every position of a game.

use anyhow::Context;
use serde::Serialize;

use super::Verdict;
use super::args::{PositionArgs, QueryArgs};
use super::names;
use super::output::{OrFix, Out, no_game_in, open_games, trouble, unreadable_game};
use super::setup::{self, Library, Word};
use crate::derive::{Abbreviation, Query};
use crate::game::Game;
use crate::moves::notation::{PgnError, PgnGame};

/// An answer in words.
#[derive(Debug, Serialize)]
struct Found {
    /// The game of a file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<usize>,
    /// Number of actions that were played before.
    ply: usize,
    /// The last action, with its number; only with `--each-ply`.
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    mv: Option<String>,
    values: Vec<String>,
}

/// All answers, as `--json` prints them.
#[derive(Debug, Serialize)]
struct Answers {
    query: String,
    /// The same in all positions, under whatever rules; `None` until the query is first compiled.
    variables: Option<Vec<String>>,
    answers: Vec<Found>,
}

pub(crate) fn run(args: &QueryArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let answers = Answers { query: args.query.clone(), variables: None, answers: Vec::new() };
    let mut asking = Asking { each_ply: args.each_ply, number: None, answers };
    let PositionArgs { game: name, from } = &args.position;
    let mut library = Library::new(&from.rules)?;
    match &args.pgn {
        None => {
            let mut game = setup::open_unmoved(&mut library, name.as_deref(), from)?.game;
            let moves = setup::words(from.moves.as_deref().unwrap_or_default());
            asking.follow(&mut game, moves.into_iter().map(Next::Move), &|_, _| Ok(false))?;
        }
        Some(path) => {
            let (games, bar) = open_games(path, "query")?;
            for (number, pgn) in (1..).zip(games) {
                asking.number = Some(number);
                follow_recorded(pgn, &mut library, &args.position, &mut asking)
                    .with_context(|| format!("{}#{number}", path.display()))?;
            }
            bar.finish_and_clear();
            if asking.number.is_none() {
                return Err(no_game_in(path));
            }
        }
    }
    let answers = asking.answers;
    if args.json {
        out.json(&answers)?
    } else {
        print(&answers, args, out)?
    }
    Ok(Verdict::of(answers.answers.is_empty()))
}

/// Plays a recorded game, and runs the query.
fn follow_recorded(
    pgn: Result<PgnGame, PgnError>,
    library: &mut Library,
    position: &PositionArgs,
    asking: &mut Asking,
) -> anyhow::Result<()> {
    let pgn = pgn.map_err(|it| unreadable_game(&it))?;
    let name = setup::variant(position.game.as_deref(), &pgn);
    let (game, rules) = setup::start_recorded(library, name, &position.from.presets, &pgn)?;
    let switch = |game: &mut Game, comments: &[String]| library.switch(&rules, game, comments);
    let moves = pgn
        .moves
        .iter()
        .flat_map(|it| [Next::Move(Word::of_move(&it.text)), Next::Comments(&it.comments)]);
    let moves = [Next::Comments(&pgn.comments)].into_iter().chain(moves);
    asking.follow(&mut setup::with_warnings(game), moves, &switch)
}

/// What comes next in a game.
enum Next<'t> {
    Move(Word<'t>),
    /// Comments of a recorded game, which may change presets.
    Comments(&'t [String]),
}

/// Changes presets as comments say, and returns whether any comment does.
type Switch<'s> = &'s dyn Fn(&mut Game, &[String]) -> anyhow::Result<bool>;

/// A query that is being run, along one game after the other.
struct Asking {
    each_ply: bool,
    /// The game of a file that is being followed, from 1.
    number: Option<usize>,
    answers: Answers,
}

impl Asking {
    /// Plays moves on top of the game's history, and runs the query at the end. With `--each-ply` it runs at the start
    /// of the history, and after each move of the history and of `moves`.
    fn follow<'t>(
        &mut self,
        game: &mut Game,
        moves: impl IntoIterator<Item = Next<'t>>,
        switch: Switch<'_>,
    ) -> anyhow::Result<()> {
        let mut query = self.compile(game)?;
        if self.each_ply {
            self.ask_history(game, &query)?;
        }
        let mut played = 0;
        for next in moves {
            let word = match next {
                Next::Move(word) => word,
                Next::Comments(comments) => {
                    if switch(game, comments)? {
                        query = self.compile(game)?;
                    }
                    continue;
                }
            };
            if !word.is_move(game) {
                continue;
            }
            let named = names::numbered(game, word.text);
            setup::play_one(game, played, word.text)?;
            played += 1;
            if self.each_ply {
                self.ask(game, &query, Some(named))?;
            }
        }
        if !self.each_ply {
            self.ask(game, &query, None)?;
        }
        Ok(())
    }

    /// Runs the query at the start of a game's history and after each of its moves.
    fn ask_history(&mut self, game: &mut Game, query: &Query) -> anyhow::Result<()> {
        let mut last = None;
        for (ply, record) in game.history().iter().enumerate() {
            let Some(mut before) = game.branch(ply) else { break };
            // The rules may have been different then.
            let query = self.compile(&before)?;
            self.ask(&mut before, &query, last)?;
            last = Some(names::numbered(&before, &record.san));
        }
        self.ask(game, query, last)
    }

    /// Compiles the query under the rules of a game.
    fn compile(&mut self, game: &Game) -> anyhow::Result<Query> {
        let contract = game.contract();
        let short = Abbreviation { rel: contract.at.rel, values: contract.board.domain };
        let compiled = Query::compile(game.program(), &self.answers.query, Some(short));
        let query = compiled.map_err(|it| {
            let help = it.help.clone();
            let relations = || "docs/relations.md lists what can be asked".to_owned();
            trouble(it, help.unwrap_or_else(relations))
        })?;
        let variables: Vec<String> = query.columns().into_iter().map(|it| it.0).collect();
        // A name may be a value under some rules, and a variable under others.
        if let Some(earlier) = &self.answers.variables
            && variables != *earlier
        {
            let [before, here] = [earlier, &variables].map(|it| match it.as_slice() {
                [] => "no variables".to_owned(),
                [only] => format!("the variable {only}"),
                all => format!("the variables {}", all.join(", ")),
            });
            let cause =
                format!("the query has {here} under these rules, and {before} under those before");
            return Err(trouble(cause, "write ?NAME for what is to be a variable under all rules"));
        }
        self.answers.variables = Some(variables);
        Ok(query)
    }

    /// Runs the query in a position, and adds what it finds to the answers.
    fn ask(&mut self, game: &mut Game, query: &Query, mv: Option<String>) -> anyhow::Result<()> {
        let ply = game.history().len();
        let answer = query.answer(&game.world_mut().materialised());
        // Beyond a limit rows are missing, and answers with them.
        game.check()?;
        let answer = answer.or_fix("ask for less: bind more variables, or ask in parts")?;
        for row in &answer.rows {
            let columns = answer.columns.iter().zip(row);
            let values = columns.map(|((_, ty), &raw)| game.name(*ty, raw)).collect();
            self.answers.answers.push(Found { game: self.number, ply, mv: mv.clone(), values });
        }
        Ok(())
    }
}

/// Prints a table: with `--pgn` a column for the game, with `--each-ply` two for the ply and the move, then one per
/// variable. Without any column, prints yes or no.
fn print(answers: &Answers, args: &QueryArgs, out: &mut Out) -> anyhow::Result<()> {
    let mut head: Vec<String> = Vec::new();
    if args.pgn.is_some() {
        head.push("game".into());
    }
    if args.each_ply {
        head.extend(["ply".into(), "move".into()]);
    }
    head.extend(answers.variables.iter().flatten().cloned());
    let row = |it: &Found| {
        let mut row: Vec<String> = it.game.iter().map(ToString::to_string).collect();
        if args.each_ply {
            row.extend([it.ply.to_string(), it.mv.clone().unwrap_or_else(|| "start".into())]);
        }
        row.extend(it.values.iter().cloned());
        row
    };
    let rows: Vec<Vec<String>> = answers.answers.iter().map(row).collect();
    if head.is_empty() {
        return out.line(if rows.is_empty() { "no" } else { "yes" });
    }
    let width = |at: usize| {
        let cells = rows.iter().chain([&head]).map(|it| it[at].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    for row in [&head].into_iter().chain(&rows) {
        let cells = row.iter().zip(&widths).map(|(it, &width)| format!("{it:<width$}"));
        out.line(cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}
