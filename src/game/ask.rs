//! Questions about the position, answered as plain data: is this move legal and what would it do, is
//! the game over, does this fact hold, what is true of this square, and why.
//!
//! An explanation is a summary sentence with its proof, refutation or trial. An answer is an explanation as lines for
//! displays: each with its depth in the tree, its place in the rules and the squares that it mentions. Deliberately
//! absent: how findings are made (`finding`, and `explain` in `derive`).

use serde::Serialize;

use crate::derive::explain::{
    Finding, Limits, Line, Proof, Refutation, Source, Turning, why_not_within,
};
use crate::derive::{Allowance, Exhausted, World};
use crate::facts::Domain;
use crate::moves::notation::{MoveError, MoveFault};
use crate::moves::{
    BETWEEN, Contract, Move, deciding, is_over, parse_either, refused_argument, row_sentence,
    value_name,
};
use crate::rules::{RelId, Role, Type, plural};

use super::fact_text::{Asked, QuestionError};
use super::finding::{Describer, decide, prove, trial, turn_after};
use super::play::Game;
use super::refusal::Objection;
use super::view::squares_in_sentence;

/// Maximum number of rows that are listed for a square.
const ROWS: usize = 60;

/// The explanation that answers a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The question as it was asked.
    pub question: String,
    /// Whether the move is legal, the fact holds, the game is over, or the side to move keeps the turn.
    pub holds: bool,
    /// The answer in one line.
    pub summary: String,
    /// The code that the rules declare for refusing the move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The proof, refutation or trial; [`Finding::Unfounded`] if the summary is all that there is to say.
    pub finding: Finding,
}

/// The answer to a question, line by line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The question as it was asked.
    pub question: String,
    /// Whether the move is legal, or the fact holds.
    pub holds: bool,
    /// The answer in one line.
    pub summary: String,
    /// The summary as sentences for players, three at most.
    pub sentences: Vec<String>,
    /// The code that the rules declare for refusing the move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The proof, refutation or trial; empty if the summary is all that there is to say.
    pub lines: Vec<Because>,
}

/// One line of a proof, refutation or trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Because {
    /// Its depth in the tree, whose root has 0.
    pub depth: usize,
    /// The line itself.
    pub text: String,
    /// The file and line of the rule behind it: `rules/chess/attack.dl:12`.
    pub place: Option<String>,
    /// The ground of the line if it is not a rule: `fact`, `always`, `but e4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// The squares that the line mentions.
    pub squares: Vec<String>,
}

/// A row that holds, as a question that can be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeldFact {
    /// As [`Game::explain_fact`] reads it.
    pub fact: String,
    /// The row in words.
    pub sentence: String,
}

impl Game {
    /// Proves that a move is legal, or refutes it.
    ///
    /// # Errors
    /// As [`Game::explain_move`].
    #[doc(hidden)]
    pub fn why_move(&mut self, text: &str) -> Result<Answer, QuestionError> {
        self.ask_about_last(text, |game, text| {
            let explained = game.explain_action(text, Limits::default())?;
            Ok(game.answer(explained))
        })
    }

    /// Proves a fact, or refutes it.
    ///
    /// # Errors
    /// As [`Game::explain_fact`].
    #[doc(hidden)]
    pub fn why_fact(&mut self, text: &str) -> Result<Answer, QuestionError> {
        let explained = self.explain_fact(text, Limits::default())?;
        Ok(self.answer(explained))
    }

    /// Why a move is legal, or why not. Of a turn of several actions the last is explained, in the position after the
    /// others.
    ///
    /// # Errors
    /// The text is no move at all, an action before the last one is not legal, or finding it out took more than the
    /// limits allow.
    pub fn explain_move(
        &mut self,
        text: &str,
        limits: Limits,
    ) -> Result<Explanation, QuestionError> {
        self.ask_about_last(text, |game, text| game.explain_action(text, limits))
    }

    /// The effects of a pseudo-legal move, and the outcome. Of a move that is not even pseudo-legal it explains why,
    /// as [`Game::explain_move`] does.
    ///
    /// # Errors
    /// As [`Game::explain_move`]; or the text means no move that the rules know, or the game is over.
    pub fn explain_effects(
        &mut self,
        text: &str,
        limits: Limits,
    ) -> Result<Explanation, QuestionError> {
        self.ask_about_last(text, |game, text| game.effects_of(text, limits))
    }

    /// Asks about the last action of a text, in the game after the actions before it.
    fn ask_about_last<T>(
        &mut self,
        text: &str,
        ask: impl FnOnce(&mut Self, &str) -> Result<T, QuestionError>,
    ) -> Result<T, QuestionError> {
        let _allowance = Allowance::open();
        match self.before_last_action(text)? {
            Some((mut later, last)) => ask(&mut later, last.trim()),
            None => ask(self, text.trim()),
        }
    }

    /// A copy of the game after all actions of a text but the last, and the text of the last. `None` if the text has only
    /// one action. The copy has the names and facts of which an explanation of that action speaks.
    ///
    /// # Errors
    /// An action before the last one is not legal.
    #[doc(hidden)]
    pub fn before_last_action<'t>(
        &self,
        text: &'t str,
    ) -> Result<Option<(Self, &'t str)>, QuestionError> {
        if !text.contains(BETWEEN) {
            return Ok(None);
        }
        let _allowance = Allowance::open();
        let contract = self.contract().clone();
        let is_one_action = |world: &mut World, text: &str| {
            let read = parse_either(world, &contract, text);
            !matches!(read, Err(it) if matches!(it.reason, MoveFault::Malformed { .. }))
        };
        let mut later = self.clone();
        let mut refused = None;
        // The text of an action may contain commas (`swap:#1,#2`), so what follows the separating commas is
        // one action.
        for (at, _) in text.rmatch_indices(BETWEEN) {
            let (before, last) = (&text[..at], &text[at + BETWEEN.len_utf8()..]);
            if let Err(why) = later.play_text(before) {
                refused.get_or_insert(why);
                continue;
            }
            if !last.contains(BETWEEN) || is_one_action(later.world_mut(), last) {
                return Ok(Some((later, last)));
            }
            while later.history().len() > self.history().len() {
                later.takeback();
            }
        }
        match refused {
            Some(why) if !is_one_action(later.world_mut(), text) => {
                Err(QuestionError::Before(Box::new(why)))
            }
            _ => Ok(None),
        }
    }

    fn explain_action(&mut self, text: &str, limits: Limits) -> Result<Explanation, QuestionError> {
        let contract = self.contract().clone();
        let world = self.world_mut();
        let over = if is_over(world, &contract) {
            prove(world, contract.over, &[None, None], limits)?
        } else {
            self.stuck(&contract, limits)?
        };
        if !over.is_empty() {
            let verdict = "is not legal: the game is over";
            let code = self.fault_code(&MoveFault::Over);
            let finding = Finding::Proved(over);
            return Ok(Explanation { code, ..explanation(text, false, verdict, finding) });
        }
        let world = self.world_mut();
        let (mv, otherwise) = match parse_either(world, &contract, text) {
            Ok(mv) => (mv, String::new()),
            Err(error) => match meant(world, &contract, &error, limits)? {
                Some(mv) => (mv, error.reason.to_string()),
                None => return self.explain_no_move(text, error),
            },
        };
        let world = self.world_mut();
        let (legal, finding) = decide(world, &contract, &mv, limits)?;
        if legal {
            // A draw by material or by a count, and a resignation, leave actions legal, though none can be played any more.
            let over = self.result().map(|it| format!(", but the game is over: {it}"));
            let verdict = format!("is legal{}", over.unwrap_or_default());
            return Ok(explanation(text, true, &verdict, finding));
        }
        let objection = Objection::of(world, &contract, &mv, limits)?;
        let said = objection.as_ref().map(|it| it.sentence.clone());
        let reason = said.or_else(|| self.describer().reason(&finding)).unwrap_or(otherwise);
        let verdict = format!("is not legal: {reason}");
        // A refusal that the rules declare says more than that the action cannot be derived.
        let (code, finding) = match objection {
            Some(it) => (Some(it.code), Finding::Proved(vec![it.proof])),
            None => (None, finding),
        };
        Ok(Explanation { code, ..explanation(text, false, &verdict, finding) })
    }

    /// Explains why a text means no move.
    ///
    /// # Errors
    /// A text that is not a move at all is not a question, unless the rules declare a code for it.
    fn explain_no_move(&self, text: &str, error: MoveError) -> Result<Explanation, QuestionError> {
        let code = self.fault_code(&error.reason);
        if code.is_none() && matches!(error.reason, MoveFault::Malformed { .. }) {
            return Err(error.into());
        }
        let verdict = format!("is not legal: {}", error.reason);
        Ok(Explanation { code, ..explanation(text, false, &verdict, Finding::Unfounded) })
    }

    /// Proves that the game is over because the side to move has no action, where that was found by playing actions out.
    /// Empty otherwise.
    fn stuck(&mut self, contract: &Contract, limits: Limits) -> Result<Vec<Proof>, Exhausted> {
        if self.result().is_none() {
            return Ok(Vec::new());
        }
        let world = self.world_mut();
        let decides = deciding(world, contract);
        if decides == contract.result {
            return Ok(Vec::new());
        }
        prove(world, decides, &[None, None], limits)
    }

    fn effects_of(&mut self, text: &str, limits: Limits) -> Result<Explanation, QuestionError> {
        let contract = self.contract().clone();
        let world = self.world_mut();
        let mv = match parse_either(world, &contract, text) {
            Ok(mv) => mv,
            Err(error) => error.candidate().cloned().ok_or(error)?,
        };
        if refused_argument(world, &mv).is_some() {
            return self.explain_action(text, limits);
        }
        let Some(trial) = trial(world, &contract, &mv, None, limits)? else {
            return self.explain_action(text, limits);
        };
        let finding = Finding::Tried(Box::new(trial));
        let describer = self.describer();
        let sentences = describer.sentences(&finding).join("; ");
        Ok(match describer.reason(&finding) {
            Some(reason) => {
                explanation(text, false, &format!("is not legal: {reason}; {sentences}"), finding)
            }
            None => explanation(text, true, &format!("does this: {sentences}"), finding),
        })
    }

    /// Explains why the game is over with its result, or why it is not over.
    ///
    /// # Errors
    /// Finding it out took more than the limits allow.
    pub fn explain_result(&mut self, limits: Limits) -> Result<Explanation, QuestionError> {
        let _allowance = Allowance::open();
        let contract = self.contract().clone();
        let result = self.result().map(ToString::to_string);
        let world = self.world_mut();
        let decides = deciding(world, &contract);
        let proofs = prove(world, decides, &[None, None], limits)?;
        let answer = |holds: bool, summary: String, finding: Finding| {
            Ok(Explanation { question: "result".to_owned(), holds, summary, code: None, finding })
        };
        if let Some(result) = result {
            let why = self.describer().now(|view| {
                let (headline, row) =
                    proofs.first().map(|it| (it.headline(view), it.summary(view)))?;
                // The row says which result it is, as the summary does.
                let row = row.rsplit_once(" [").map_or(&*row, |it| it.0);
                let beyond = headline.strip_prefix(row).map(str::to_owned);
                Some(beyond.unwrap_or_else(|| format!(": {headline}")))
            });
            let summary = format!("the game is over, {result}{}", why.unwrap_or_default());
            return answer(true, summary, Finding::Proved(proofs));
        }
        let rows = self.world_mut().materialised();
        let refutation = why_not_within(&rows, contract.result, &[None, None], limits)?;
        let finding = Finding::Refuted(refutation.into_iter().collect());
        let moves = plural(self.legal_moves().len(), "legal move");
        let side = self.mover_name();
        answer(false, format!("the game is not over: {side} has {moves}"), finding)
    }

    /// Explains whether the side to move keeps the turn after an action; without a text, whether it does after each
    /// of its legal actions. The rules are evaluated on the facts after the action.
    ///
    /// # Errors
    /// The text is no legal move, or finding it out took more than the limits allow.
    pub fn explain_turn(
        &mut self,
        text: Option<&str>,
        limits: Limits,
    ) -> Result<Explanation, QuestionError> {
        let _allowance = Allowance::open();
        let contract = self.contract().clone();
        let text = text.map(str::trim);
        let moves = match text {
            None => self.listing(),
            Some(text) => {
                let mv = parse_either(self.world_mut(), &contract, text)?;
                vec![(text.to_owned(), mv)]
            }
        };
        let (mut keep, mut pass): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        // Of the first action that keeps the turn, and of the first that passes it: one of them is the finding.
        let (mut keeping, mut passing): (Option<Turning>, Option<Turning>) = (None, None);
        for (text, mv) in moves {
            match turn_after(self.world_mut(), &contract, &mv, limits)? {
                Some(turning) if turning.keeps() => {
                    keeping.get_or_insert(turning);
                    keep.push(text);
                }
                turning => {
                    passing = passing.or(turning);
                    pass.push(text);
                }
            }
        }
        let mut summary = turn_summary(&self.mover_name(), text, &keep, &pass);
        let decisive = keeping.or(passing);
        let finding = decisive.map_or(Finding::Unfounded, |it| Finding::Turned(Box::new(it)));
        if let Some(reason) = self.describer().reason(&finding) {
            summary += &format!(": {reason}");
        }
        let question = text.map_or_else(|| "turn".to_owned(), |it| format!("turn after {it}"));
        let holds = pass.is_empty() && !keep.is_empty();
        Ok(Explanation { question, holds, summary, code: None, finding })
    }

    /// Explains why a fact holds, or why it does not. The fact is a row of any relation, stated or derived, written like
    /// `attacks(e4, d5)`; a square instead of a piece means every piece that stands there, `#7` is an entity by its
    /// number, and `_` means anything.
    ///
    /// # Errors
    /// The text is no fact of these rules, or finding it out took more than the limits allow.
    pub fn explain_fact(
        &mut self,
        text: &str,
        limits: Limits,
    ) -> Result<Explanation, QuestionError> {
        let _allowance = Allowance::open();
        let Asked { rel, patterns } = self.read_fact(text)?;
        let world = self.world_mut();
        let mut proofs = Vec::new();
        for pattern in &patterns {
            proofs.extend(prove(world, rel, pattern, limits)?);
        }
        if !proofs.is_empty() {
            let first = self.describer().now(|view| proofs[0].headline(view));
            let more = match proofs.len() {
                1 => String::new(),
                n => format!(" (and {} more)", n - 1),
            };
            let verdict = format!("holds: {first}{more}");
            return Ok(explanation(text, true, &verdict, Finding::Proved(proofs)));
        }
        if patterns.is_empty() {
            let verdict = "does not hold: nothing stands there";
            return Ok(explanation(text, false, verdict, Finding::Unfounded));
        }
        let rows = self.world_mut().materialised();
        let all =
            patterns.iter().filter_map(|it| why_not_within(&rows, rel, it, limits).transpose());
        let finding = Finding::Refuted(all.collect::<Result<_, _>>()?);
        let verdict = match self.describer().reason(&finding) {
            Some(reason) => format!("does not hold: {reason}"),
            None => "does not hold".to_owned(),
        };
        Ok(explanation(text, false, &verdict, finding))
    }

    /// The name of the side to move.
    fn mover_name(&self) -> String {
        let side = self.side().map(|it| self.name(Type::Domain(self.contract().sides), it));
        side.unwrap_or_else(|| "nobody".to_owned())
    }

    /// A finding as an indented tree; pieces are named by their squares.
    pub fn tree(&self, finding: &Finding) -> String {
        self.describer().tree(finding)
    }

    /// The name of a value: of a piece `the white knight on b1`, of everything else its own name.
    #[doc(hidden)]
    pub fn name(&self, ty: Type, raw: i64) -> String {
        let facts = |entity, attr| self.facts().get_raw(entity, attr);
        value_name(self.program(), &facts, self.contract(), ty, raw)
    }

    /// A finding line by line, as displays draw it.
    pub fn finding_lines(&self, finding: &Finding) -> Vec<Because> {
        let board = self.program().schema.domain(self.contract().board.domain);
        let lines = self.describer().lines(finding);
        lines.into_iter().map(|it| Because::of(it, board)).collect()
    }

    fn describer(&self) -> Describer<'_> {
        Describer { world: self.world(), contract: self.contract() }
    }

    /// The facts and derived rows about a square, and those that begin with a piece on it, with their sentences; 60 at
    /// most.
    ///
    /// # Errors
    /// There is no such square.
    pub fn rows_about(&mut self, square: &str) -> Result<Vec<HeldFact>, QuestionError> {
        let _allowance = Allowance::open();
        let contract = self.contract().clone();
        let program = self.program().clone();
        let board = program.schema.domain(contract.board.domain);
        let raw = board.member(square).ok_or_else(|| QuestionError::Square(square.into()))?;
        let here = self.world_mut().matching(contract.at.rel, &[None, Some(raw)]);
        let pieces: Vec<i64> = here.iter().filter_map(|it| it.first().copied()).collect();
        let entities = contract.entity_type(&program);
        let mut found = Vec::new();
        for (at, relation) in program.relations.iter().enumerate() {
            let is_shown = matches!(relation.role, Role::Derived | Role::Input(_) | Role::Given(_));
            if !is_shown || relation.sentence.is_empty() || found.len() >= ROWS {
                continue;
            }
            let rel = RelId(at as u16);
            for (place, column) in relation.columns.iter().enumerate() {
                let wanted: &[i64] = match column.ty {
                    ty if Some(ty) == entities && place == 0 => &pieces,
                    Type::Domain(it) if it == contract.board.domain => &[raw],
                    _ => continue,
                };
                for &value in wanted {
                    let mut pattern = vec![None; relation.columns.len()];
                    pattern[place] = Some(value);
                    let rows = self.world_mut().matching(rel, &pattern);
                    found.extend(rows.into_iter().map(|it| (rel, it)));
                }
            }
        }
        found.sort();
        found.dedup();
        found.truncate(ROWS);
        Ok(found.into_iter().map(|(rel, tuple)| self.row(rel, &tuple)).collect())
    }

    /// A row as a fact and as a sentence.
    pub(super) fn row(&self, rel: RelId, tuple: &[i64]) -> HeldFact {
        let (program, contract) = (self.program(), self.contract());
        let facts = |entity, attr| self.facts().get_raw(entity, attr);
        let sentence = row_sentence(program, &facts, contract, rel, tuple);
        HeldFact { fact: program.tuple_name(rel, tuple), sentence }
    }

    fn answer(&self, explained: Explanation) -> Answer {
        let lines = self.finding_lines(&explained.finding);
        let Explanation { question, holds, summary, code, .. } = explained;
        let sentences = sentences(&question, &summary);
        Answer { question, holds, summary, sentences, code, lines }
    }
}

/// Maximum number of sentences that players are shown.
const SENTENCES: usize = 3;

/// A summary as sentences: what follows a colon is the reason for what precedes it. Places in the rules are
/// left out, and underscores are spaces. The question at its beginning stays as it was asked.
fn sentences(question: &str, summary: &str) -> Vec<String> {
    let (asked, verdict) = match summary.strip_prefix(question) {
        Some(verdict) => (question, verdict),
        None => ("", summary),
    };
    let mut plain = String::new();
    let mut depth = 0;
    for letter in verdict.chars() {
        match letter {
            '[' => depth += 1,
            ']' if depth > 0 => depth -= 1,
            '_' if depth == 0 => plain.push(' '),
            _ if depth == 0 => plain.push(letter),
            _ => {}
        }
    }
    let parts = plain.splitn(SENTENCES, ": ").map(|it| it.replace(": ", ", and "));
    let end = |it: String| it.trim().trim_end_matches(['.', '!', ':']).trim_end().to_owned();
    let parts = parts.map(end).filter(|it| !it.is_empty()).enumerate();
    let sentence = |(at, it): (usize, String)| match (at, asked) {
        (1.., _) | (_, "") => as_sentence(&it),
        (0, _) => format!("{asked} {it}."),
    };
    parts.map(sentence).collect()
}

/// Capitalises a sentence and ends it. A square at its beginning stays as it is.
fn as_sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next();
    let is_square = letters.clone().next().is_some_and(|it| it.is_ascii_digit());
    match first.filter(|_| !is_square) {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => format!("{text}."),
    }
}

/// Whether a side keeps the turn after an action; without one, after which of its legal actions it does.
fn turn_summary(side: &str, action: Option<&str>, keep: &[String], pass: &[String]) -> String {
    match (action, keep, pass) {
        (Some(action), [], _) => format!("the turn passes after {action}"),
        (Some(action), ..) => format!("{side} keeps the turn after {action}"),
        (None, [], []) => format!("{side} has no legal action that could keep the turn"),
        (None, [], _) => format!("the turn passes after the next action of {side}"),
        (None, _, []) => format!("{side} keeps the turn after its next action"),
        (None, ..) => {
            let keep = keep.join(", ");
            format!("{side} keeps the turn after {keep}, and the turn passes after the rest")
        }
    }
}

fn explanation(question: &str, holds: bool, verdict: &str, finding: Finding) -> Explanation {
    let summary = format!("{question} {verdict}");
    Explanation { question: question.to_owned(), holds, summary, code: None, finding }
}

/// Maximum number of moves among which the one is sought that says why a text is refused.
const MEANINGS: usize = 4;

/// The move that was probably meant by a text that means no legal move: the likeliest for which the rules declare a
/// refusal, or else the likeliest. If that one is out of reach, another one that something forbids says more.
fn meant(
    world: &mut World,
    contract: &Contract,
    error: &MoveError,
    limits: Limits,
) -> Result<Option<Move>, QuestionError> {
    let candidates = error.candidates();
    if let Some((mv, _)) = Objection::first(world, contract, candidates, limits)? {
        return Ok(Some(mv));
    }
    let Some((first, others)) = candidates.split_first() else { return Ok(None) };
    if !is_out_of_reach(&decide(world, contract, first, limits)?.1) {
        return Ok(Some(first.clone()));
    }
    for mv in others.iter().take(MEANINGS) {
        if is_forbidden(&decide(world, contract, mv, limits)?.1) {
            return Ok(Some(mv.clone()));
        }
    }
    Ok(Some(first.clone()))
}

/// Whether nothing could make an action legal where things stand: its piece does not go there at all.
fn is_out_of_reach(finding: &Finding) -> bool {
    matches!(finding, Finding::Refuted(all) if all.iter().all(Refutation::is_hopeless))
}

/// Whether something on the board forbids an action that its piece could take otherwise.
fn is_forbidden(finding: &Finding) -> bool {
    matches!(finding, Finding::Refuted(all) if all.iter().any(Refutation::is_opposed_by_row))
}

impl Because {
    fn of(line: Line, board: &Domain) -> Self {
        let Line { depth, text, source } = line;
        let mut squares = squares_in_sentence(&text, board);
        squares.sort();
        squares.dedup();
        let squares = squares.into_iter().map(str::to_owned).collect();
        let (place, remark) = match source {
            Source::None => (None, None),
            Source::Place(it) => (Some(it), None),
            Source::Remark(it) => (None, Some(it)),
        };
        Self { depth, text, place, remark, squares }
    }
}

#[cfg(test)]
mod tests {
    use super::sentences;

    #[test]
    fn the_question_stays_as_it_was_asked() {
        let told = sentences("bxc3", "bxc3 is not legal: nothing reaches c3 [rules/a.dl:25]");
        assert_eq!(told, ["bxc3 is not legal.", "Nothing reaches c3."]);
        let told =
            sentences("is_at(e4, d5)", "is_at(e4, d5) does not hold: d5 is empty: why: by_rule");
        let expected = ["is_at(e4, d5) does not hold.", "d5 is empty.", "Why, and by rule."];
        assert_eq!(told, expected);
    }
}
