//! Studies as PGN, and PGN as studies: variations, comments and glyphs go both ways.
//!
//! PGN has turns where a study has actions. A comment on an action in the middle of a turn begins with a command that names
//! the action, and its glyphs if there are any: `{[%action 1 $3] It begins here.}`. Rules have no null moves (`--`): a line
//! ends before one, and the rest of it becomes a comment. Deliberately absent: games of more than two sides; facts of the
//! start position that its FEN does not state.

use super::board::Board;
use super::core::Rules;
use super::problem::Problem;
use super::study_tree::{NODES, Study, full};
use super::transcript::{
    Origin, first_game, needs_two_sides, no_pgn, origin_of, player_tag, tags_of_rules,
};
use crate::moves::notation::{FirstMove, PgnGame, PgnMove};
use crate::presets::switched;

/// A study in export format, with its variations and comments.
///
/// # Errors
/// Its game has more than two sides, which PGN has no results for.
pub(super) fn write(study: &Study) -> Result<String, Problem> {
    let [first, second] = study.sides.as_slice() else {
        return Err(no_pgn(&study.game, &study.sides, ""));
    };
    let mut tags = vec![
        ("Event".to_owned(), study.title.clone()),
        ("Site".to_owned(), study.id.clone()),
        ("Annotator".to_owned(), study.owner.clone()),
    ];
    tags.extend(tags_of_rules(&study.game, &study.presets, study.fen.as_deref(), &study.rules));
    let mut game = PgnGame {
        sides: [player_tag(first), player_tag(second)],
        tags,
        comments: as_comments(&study.comment),
        moves: line(study, 0),
        ..PgnGame::default()
    };
    let by_second = study.nodes.first().is_some_and(|it| it.side == 1);
    game.first = FirstMove::from_fen(study.fen.as_deref(), by_second);
    Ok(game.to_pgn())
}

/// The line after an action: the first turn, with its alternatives as variations, and so on.
fn line(study: &Study, after: u32) -> Vec<PgnMove> {
    let mut moves = Vec::new();
    let mut at = after;
    loop {
        let mut turns = whole_turns(study, at, 1).into_iter();
        let Some((first, last)) = turns.next() else { return moves };
        let variations = turns.map(|(mv, last)| [vec![mv], line(study, last)].concat()).collect();
        moves.push(PgnMove { variations, ..first });
        at = last;
    }
}

/// The turns after an action, or what can follow it in its own turn, each as one move, with the id of its last action.
/// `number` is the place of the next action within its turn, counted from 1.
fn whole_turns(study: &Study, after: u32, number: usize) -> Vec<(PgnMove, u32)> {
    let mut turns = Vec::new();
    for node in study.nodes.iter().filter(|it| it.after == after) {
        let rest = match node.turn_goes_on {
            true => whole_turns(study, node.id, number + 1),
            false => Vec::new(),
        };
        if rest.is_empty() {
            let comments = as_comments(&node.comment);
            let (text, nags) = (node.san.clone(), node.nags.clone());
            turns.push((PgnMove { text, nags, comments, ..PgnMove::default() }, node.id));
            continue;
        }
        let glyphs: String = node.nags.iter().map(|it| format!(" ${it}")).collect();
        let has_comment = !glyphs.is_empty() || !node.comment.is_empty();
        let comment = has_comment.then(|| format!("{ACTION}{number}{glyphs}] {}", node.comment));
        turns.extend(rest.into_iter().map(|(mv, last)| {
            let text = format!("{},{}", node.san, mv.text);
            let comments = comment.iter().cloned().chain(mv.comments).collect();
            (PgnMove { text, comments, ..mv }, last)
        }));
    }
    turns
}

/// The texts of null moves in PGN, by different programs.
const NULL_MOVES: [&str; 3] = ["--", "Z0", "0000"];
/// Maximum number of turns of a line that is told in a comment.
const IN_WORDS: usize = 20;

/// The beginning of a comment on an action within a turn.
const ACTION: &str = "[%action ";

fn as_comments(comment: &str) -> Vec<String> {
    if comment.is_empty() { Vec::new() } else { vec![comment.to_owned()] }
}

/// The contents of a PGN, for a new study.
#[derive(Debug)]
pub(super) struct Outline {
    pub(super) of: Origin,
    pub(super) title: Option<String>,
    /// The comment on the start position.
    pub(super) comment: String,
    pub(super) moves: Vec<PgnMove>,
}

impl Outline {
    /// Reads the first game of a PGN.
    ///
    /// # Errors
    /// There is no game, it is malformed (the message says where), it is too long, or its presets changed on the way.
    pub(super) fn read(text: &str) -> Result<Self, Problem> {
        let bad = |it: String| Problem::unprocessable("bad_import", it);
        let game = first_game(text).map_err(bad)?;
        if count(&game.moves) > NODES {
            return Err(full(format!("a study may have {NODES} actions, and the PGN has more")));
        }
        let of_moves = game.moves.iter().map(|it| &it.comments);
        if of_moves.chain([&game.comments]).any(|it| switched(it).next().is_some()) {
            return Err(rules_changed());
        }
        let title = game.tag("Event").filter(|it| !it.is_empty() && *it != "?").map(str::to_owned);
        Ok(Self {
            of: origin_of(&game),
            title,
            comment: game.comments.join(" "),
            moves: game.moves,
        })
    }

    /// The number of turns, those of variations included.
    pub(super) fn turns(&self) -> usize {
        count(&self.moves)
    }

    /// Plays all turns from the position on the board, which is restored afterwards, and adds them to a study.
    ///
    /// # Errors
    /// The game has more than two sides, a comment is too long, a turn is not legal, or the study is full; if the fault is
    /// at a turn, the message says where. The board and the study are then left as they are at that turn.
    pub(super) fn add_to(&self, study: &mut Study, board: &mut Board) -> Result<(), Problem> {
        if !self.moves.is_empty() && study.sides.len() != 2 {
            return Err(needs_two_sides(&study.game, &study.sides));
        }
        study.set_comment(0, &self.comment)?;
        add_line(study, board, &self.moves, 0, 0)
    }
}

/// The refusal to study a game that was not played by one set of rules.
pub(super) fn rules_changed() -> Problem {
    let message = "the presets of this game were changed during play: a study has one set of rules";
    Problem::unprocessable("rules_changed", message)
}

fn count(moves: &[PgnMove]) -> usize {
    let of_variations = |it: &PgnMove| it.variations.iter().map(|it| count(it)).sum::<usize>();
    moves.iter().map(|it| 1 + of_variations(it)).sum()
}

/// Adds a line to a study after an action. `depth` is the number of actions before the line.
fn add_line(
    study: &mut Study,
    board: &mut Board,
    moves: &[PgnMove],
    mut after: u32,
    mut depth: usize,
) -> Result<(), Problem> {
    let before = board.game().history().len();
    for (at, mv) in moves.iter().enumerate() {
        if is_null(board, mv) {
            for variation in &mv.variations {
                add_line(study, board, variation, after, depth)?;
            }
            let comment = in_words(&moves[at..]);
            study.add_comment(after, &comment).map_err(|it| placed(mv, it))?;
            break;
        }
        let nodes = add_turn(study, board, mv, after, depth)?;
        if !mv.variations.is_empty() {
            board.take_back(nodes.len());
            for variation in &mv.variations {
                add_line(study, board, variation, after, depth)?;
            }
            for uci in study.ucis(&nodes) {
                board.play(&uci).map_err(|it| refused(mv, &it.sentence))?;
            }
        }
        depth += nodes.len();
        after = nodes.last().copied().unwrap_or(after);
    }
    board.take_back(board.game().history().len() - before);
    Ok(())
}

/// Whether a turn is a null move, with which annotators show a threat, and not a legal action that is written like one.
fn is_null(board: &mut Board, mv: &PgnMove) -> bool {
    if !NULL_MOVES.contains(&mv.text.as_str()) {
        return false;
    }
    let is_legal = board.play(&mv.text).is_ok();
    if is_legal {
        board.take_back(1);
    }
    !is_legal
}

/// A line that begins with a null move, as a comment: `(-- Qxh7#)`.
fn in_words(line: &[PgnMove]) -> String {
    let texts: Vec<&str> = line.iter().take(IN_WORDS).map(|it| it.text.as_str()).collect();
    let rest = if line.len() > IN_WORDS { " …" } else { "" };
    format!("({}{rest})", texts.join(" "))
}

/// Plays a turn, and adds it to a study with its comments. Returns the ids of its actions.
fn add_turn(
    study: &mut Study,
    board: &mut Board,
    mv: &PgnMove,
    after: u32,
    depth: usize,
) -> Result<Vec<u32>, Problem> {
    let at = |it: Problem| placed(mv, it);
    let mut nodes: Vec<u32> = Vec::new();
    for text in board.actions(&mv.text) {
        let played = board.play(&text).map_err(|it| refused(mv, &it.sentence))?;
        Study::check_depth(depth + nodes.len()).map_err(at)?;
        nodes.push(study.add(nodes.last().copied().unwrap_or(after), &played).map_err(at)?);
    }
    let Some(&last) = nodes.last() else { return Err(refused(mv, "it is no action")) };
    study.annotate(last, &mv.nags, "").map_err(at)?;
    for comment in &mv.comments {
        match action_comment(comment) {
            Some((number, nags, text)) if (1..nodes.len()).contains(&number) => {
                study.annotate(nodes[number - 1], &nags, text).map_err(at)?;
            }
            _ => study.annotate(last, &[], comment).map_err(at)?,
        }
    }
    Ok(nodes)
}

/// Reads a comment on an action within a turn: the number of the action, its glyphs, and the text.
fn action_comment(comment: &str) -> Option<(usize, Vec<u8>, &str)> {
    let (head, text) = comment.strip_prefix(ACTION)?.split_once(']')?;
    let mut words = head.split(' ');
    let number = words.next()?.parse().ok()?;
    let nags = words.map(|it| it.strip_prefix('$')?.parse().ok()).collect::<Option<_>>()?;
    Some((number, nags, text.trim_start()))
}

fn refused(mv: &PgnMove, why: &str) -> Problem {
    // The reason may begin with the move, which is named already.
    let rest = why.strip_prefix(mv.text.as_str());
    let why = rest.and_then(|it| it.strip_prefix(" is ").or(it.strip_prefix(": "))).unwrap_or(why);
    placed(mv, Problem::unprocessable("bad_import", format!("{}: {why}", mv.text)))
}

/// A problem whose message begins with the place of a move.
fn placed(mv: &PgnMove, problem: Problem) -> Problem {
    let message = format!("line {}, column {}: {}", mv.line, mv.column, problem.message);
    Problem { message, ..problem }
}
