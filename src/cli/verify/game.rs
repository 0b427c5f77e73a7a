//! Vector files of a game whose turns may have several actions, of kinds `GAME-positions`, `GAME-sessions`,
//! `GAME-perft`, `GAME-playouts`, `GAME-histories`, `GAME-fen_cases` and `GAME-san_cases`: read as rows.
//!
//! Actions are written as piece, origin, `>` if a piece leaves its stack, the sign of the kind of action, and target.
//! Where the program that made a file is known to be wrong, most rows have `flags` with the correct values, and can be
//! read either way ([`Trust`]). Four mistakes have code of their own: O07 (the half-move clock), O12 (SAN), O13 (FEN)
//! and O15 (the text of a stack). The last three are corrected even for [`Trust::Recorded`], since none of our games
//! repeats them. The rules of the game are not known here: pieces, squares and positions are text.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::question::{Ask, Malformed, Row, Suite, Trust, Turn, uci_and_san};

/// The action that ends a turn of several actions.
pub(crate) const COMMIT: &str = "commit";

/// Flags whose lists of actions are believed if corrected values are wanted. O07 and O15 have other fields and are read
/// elsewhere; other flags are about another interpretation of a rule, which is not a mistake.
const CORRECTED: [&str; 4] = ["O01", "O02", "O16", "O18"];

/// Reads a file of one of these kinds; `None` for other kinds.
pub(super) fn parse(kind: &str, text: &str, trust: Trust) -> Option<Result<Suite, Malformed>> {
    let (game, what) = kind.rsplit_once('-')?;
    let rows = match what {
        "positions" => list(text, "positions").map(|it| positions(it, trust)),
        "sessions" => list(text, "sessions").map(|it| sessions(it, trust)),
        "perft" => list(text, "positions").map(|it| perft(it, trust)),
        "playouts" => list(text, "playouts").map(|it| playouts(it, trust)),
        "histories" => list(text, "histories").map(histories),
        "fen_cases" => list(text, "cases").map(fen_cases),
        "san_cases" => list(text, "cases").map(|it| san_cases(it, trust)),
        _ => return None,
    };
    let game = Some(game.to_owned());
    // `--game` may name another game instead.
    Some(rows.map(|rows| Suite { game, of_any_game: true, rows, ..Suite::default() }))
}

/// The rows of a file: its list of that name.
fn list<T: for<'de> Deserialize<'de>>(text: &str, field: &str) -> Result<Vec<T>, Malformed> {
    let mut file: BTreeMap<String, Value> = serde_json::from_str(text)?;
    let rows = file.remove(field).unwrap_or_default();
    let Value::Array(rows) = rows else {
        return Err(Malformed { line: 1, reason: format!("there is no list `{field}`") });
    };
    // These files have one row a line, the first on line 2, or everything on one line.
    let lines = text.lines().count();
    let read = |(number, row): (usize, Value)| {
        serde_json::from_value(row).map_err(|why| Malformed {
            line: lines.min(2 + number),
            reason: format!("in row {} of `{field}`: {why}", number + 1),
        })
    };
    rows.into_iter().enumerate().map(read).collect()
}

type Flags = BTreeMap<String, Value>;

/// The texts that a flag lists under a name.
fn flagged<'a>(flags: &'a Flags, flag: &str, name: &str) -> Vec<&'a str> {
    texts(flags.get(flag).and_then(|it| it.get(name)))
}

/// The texts of a list.
fn texts(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Action {
    from: String,
    to: String,
    piece: String,
    kind: Option<String>,
    deploy: bool,
    turn_over: bool,
    /// If the turn ends with the action: the FEN after it.
    fen: Option<String>,
    /// If the turn goes on after the action: the board then, and the FEN if the turn is ended there.
    board_after_step: Option<String>,
    can_commit: bool,
    commit_fen: Option<String>,
    /// The whole text of a move (long algebraic notation).
    lan: Option<String>,
    san: Option<String>,
    /// If the turn goes on after the action: the FEN in the middle of the turn, with the position at its beginning and
    /// its actions so far.
    session_fen: Option<String>,
}

impl Action {
    /// The action as [`Turn::steps`] has it, with `?` as the sign if the kind is not known.
    fn text(&self) -> String {
        if self.kind.as_deref() == Some(COMMIT) {
            return COMMIT.into();
        }
        let sign = self.kind.as_deref().map_or("?", sign);
        let Self { from, to, .. } = self;
        let leaves = if self.deploy { ">" } else { "" };
        format!("{}{from}{leaves}{sign}{to}", self.piece.to_ascii_uppercase())
    }

    fn captures(&self) -> bool {
        self.kind.as_deref().is_some_and(|it| it.contains("capture"))
    }
}

/// The sign before the target.
fn sign(kind: &str) -> &'static str {
    match kind {
        "capture" => "x",
        "stay_capture" => "_",
        "suicide_capture" => "@",
        "combine" => "&",
        _ => "",
    }
}

/// The text ([`Action::text`]) of an action that a flag writes as `e4e8 C normal`, perhaps with ` deploy`.
fn text_of_flag(text: &str) -> Option<String> {
    let mut words = text.split(' ');
    let (squares, piece, kind) = (words.next()?, words.next()?, words.next()?);
    let split = squares.rfind(|it: char| it.is_ascii_lowercase()).filter(|it| *it > 0)?;
    let action = Action {
        from: squares[..split].into(),
        to: squares[split..].into(),
        piece: piece.into(),
        kind: Some(kind.into()),
        deploy: words.next() == Some("deploy"),
        ..Action::default()
    };
    Some(action.text())
}

/// A FEN with its half-move clock (the field before the last) at zero.
pub(super) fn with_clock_at_zero(fen: &str) -> String {
    let mut fields: Vec<&str> = fen.split(' ').collect();
    if let [.., clock, _] = fields.as_mut_slice() {
        *clock = "0";
    }
    fields.join(" ")
}

// --- positions -------------------------------------------------------------------------------------

#[derive(Debug, Deserialize)]
struct Position {
    fen: String,
    status: BTreeMap<String, bool>,
    #[serde(default)]
    flags: Flags,
    moves: Vec<Action>,
}

/// All actions of each position, the outcome of each, and the state of the game.
fn positions(positions: Vec<Position>, trust: Trust) -> Vec<Row> {
    positions.iter().flat_map(|it| it.rows(trust)).collect()
}

impl Position {
    fn rows(&self, trust: Trust) -> Vec<Row> {
        let mistakes = Mistakes::of(&self.flags, trust);
        let row = |ask: Ask| Row { fen: self.fen.clone(), ask };
        let expected = self.outcomes(&mistakes);
        let mut rows =
            vec![row(Ask::Outcomes { path: Vec::new(), only: None, deep: true, expected })];
        // SAN depends on all legal moves, so it is compared only if the list is complete.
        if mistakes.list_is_right() && !self.moves.is_empty() {
            rows.extend(sans(&self.moves).map(|it| row(Ask::San(it))));
        }
        if mistakes.wrong_text.is_none() {
            for action in &self.moves {
                if let (Some(fen), Some(lan)) = (&action.session_fen, &action.lan) {
                    rows.push(row(Ask::UnderWay { path: vec![lan.clone()], fen: fen.clone() }));
                }
            }
        }
        rows.extend(self.standing().map(|it| row(Ask::Standing(it))));
        rows
    }

    /// The actions that are expected, each with its outcome as [`Ask::Outcomes`] has it with `deep`.
    fn outcomes(&self, mistakes: &Mistakes<'_>) -> Vec<(String, Option<String>)> {
        let missing = mistakes.missing.iter().map(|it| (it.clone(), None));
        let mut expected: Vec<(String, Option<String>)> = missing.collect();
        for action in &self.moves {
            let text = mistakes.right_text(action);
            if mistakes.extra.contains(&text) {
                continue;
            }
            let resets = mistakes.wrong_clocks.contains(&text);
            let reset = |fen: &str| if resets { with_clock_at_zero(fen) } else { fen.to_owned() };
            let after = match (&action.fen, &action.board_after_step, &action.commit_fen) {
                (Some(fen), ..) => Some(reset(fen)),
                (None, Some(board), Some(fen)) if action.can_commit => {
                    Some(format!("{board} {COMMIT} {}", reset(fen)))
                }
                (None, board, _) => board.clone(),
            };
            let after = after.filter(|_| !mistakes.wrong_results.contains(&text));
            expected.push((text, after));
        }
        expected.sort();
        expected
    }

    /// The state of the game as [`Ask::Standing`] has it; `None` if a commander was captured: the status does not say
    /// whose.
    fn standing(&self) -> Option<String> {
        let is = |name: &str| self.status.get(name) == Some(&true);
        if is("checkmate") {
            return Some(format!("not {}", self.fen.split(' ').nth(1).unwrap_or_default()));
        }
        let state = if is("stalemate") || is("fifty") { "draw" } else { "none" };
        (!is("commander_captured")).then(|| state.to_owned())
    }
}

/// The mistakes in a position's list of actions, as its flags tell them. Each list has the texts of actions.
struct Mistakes<'f> {
    missing: Vec<String>,
    extra: Vec<String>,
    wrong_results: Vec<String>,
    /// O07: actions that should set the half-move clock to zero.
    wrong_clocks: Vec<String>,
    /// O15, which is corrected whatever the trust.
    wrong_text: Option<WrongText<'f>>,
}

impl<'f> Mistakes<'f> {
    /// Those that are to be corrected.
    fn of(flags: &'f Flags, trust: Trust) -> Self {
        let actions_of = |flag: &str, name: &str| -> Vec<String> {
            let is_corrected = trust == Trust::Corrected;
            let texts = flagged(flags, flag, name).into_iter().filter(|_| is_corrected);
            texts.filter_map(text_of_flag).collect()
        };
        let all = |name: &str| CORRECTED.iter().flat_map(|it| actions_of(it, name)).collect();
        Self {
            missing: all("moves_missing"),
            extra: all("moves_not_expected"),
            wrong_results: all("results_differ"),
            wrong_clocks: actions_of("O07", "halfmove_clock_should_be_zero_after"),
            wrong_text: WrongText::of(flags),
        }
    }

    /// Whether the file lists exactly the actions that are expected.
    fn list_is_right(&self) -> bool {
        self.missing.is_empty() && self.extra.is_empty() && self.wrong_text.is_none()
    }

    fn right_text(&self, action: &Action) -> String {
        match &self.wrong_text {
            Some(it) if action.from == it.square => action.text().replace(it.wrong, it.right),
            _ => action.text(),
        }
    }
}

/// The texts of moves with their SAN, sorted; `None` if a move lacks either.
fn sans(moves: &[Action]) -> Option<Vec<String>> {
    let text = |it: &Action| {
        let (lan, san) = (it.lan.as_ref()?, it.san.as_ref()?);
        Some(uci_and_san(lan, &whole_rank(san, lan)))
    };
    let mut texts: Vec<String> = moves.iter().map(text).collect::<Option<_>>()?;
    texts.sort();
    Some(texts)
}

/// The SAN with both digits of its rank of origin, from the move's whole text. The program that made the files writes
/// only the first digit (O12).
fn whole_rank(san: &str, lan: &str) -> String {
    let from_square = lan.trim_start_matches(|it: char| !it.is_ascii_lowercase());
    let from_rank = from_square.trim_start_matches(|it: char| it.is_ascii_lowercase());
    let rank = &from_rank[..from_rank.bytes().take_while(u8::is_ascii_digit).count()];
    let digit = san.find(|it: char| it.is_ascii_digit()).filter(|_| rank.len() == 2);
    // Whether the digit is all that the SAN has of the square of origin.
    let is_cut = |at: &usize| {
        let follows_piece = san[..*at].ends_with(|it: char| it.is_ascii_uppercase() || it == ')');
        let is_single = san[at + 1..].starts_with(|it: char| !it.is_ascii_digit());
        follows_piece && is_single && rank.starts_with(&san[*at..=*at])
    };
    match digit.filter(is_cut) {
        Some(at) => format!("{}{rank}{}", &san[..at], &san[at + 1..]),
        None => san.to_owned(),
    }
}

/// O15: the moves of one stack are listed under the text of another one.
struct WrongText<'f> {
    square: &'f str,
    wrong: &'f str,
    right: &'f str,
}

impl<'f> WrongText<'f> {
    fn of(flags: &'f Flags) -> Option<Self> {
        let text = flags.get("O15")?.get("piece_text_polluted")?.as_str()?;
        let word_after = |label: &str| text.split_once(label)?.1.split(' ').next();
        let (square, wrong) = (word_after("stack ")?, word_after("listed as ")?);
        Some(Self { square, wrong, right: word_after("text is ")? })
    }
}

// --- sessions --------------------------------------------------------------------------------------

/// What the files call a session: the turns that begin with a step from one stack, as a tree.
#[derive(Debug, Deserialize)]
struct Session {
    fen: String,
    stack: String,
    #[serde(default)]
    flags: Flags,
    outcomes: Vec<Outcome>,
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Outcome {
    fen: String,
}

#[derive(Debug, Deserialize)]
struct Node {
    path: Vec<String>,
    #[serde(default)]
    steps: Vec<Action>,
    #[serde(default)]
    can_commit: bool,
    commit_fen: Option<String>,
    session_fen: Option<String>,
}

/// The actions of one stack at every node of its session. If corrected values are wanted for a session with a mistake,
/// only the positions that it can end in.
fn sessions(sessions: Vec<Session>, trust: Trust) -> Vec<Row> {
    let rows_of = |session: &Session| {
        let is_mistaken = session.flags.contains_key("caused_by");
        if is_mistaken && trust == Trust::Corrected {
            return vec![session.endings()];
        }
        session.nodes.iter().flat_map(|it| session.rows_of_node(it, trust)).collect()
    };
    sessions.iter().flat_map(rows_of).collect()
}

impl Session {
    fn row(&self, ask: Ask) -> Row {
        Row { fen: self.fen.clone(), ask }
    }

    /// The positions that the session can end in, corrected.
    fn endings(&self) -> Row {
        let listed = |name: &str| texts(self.flags.get(name));
        let unexpected = listed("outcomes_not_expected");
        let all = self.outcomes.iter().map(|it| it.fen.as_str());
        let fens = all.filter(|it| !unexpected.contains(it)).chain(listed("outcomes_missing"));
        // The file does not state which captures led there, so the half-move clock is ignored.
        let fens: BTreeSet<String> = fens.map(with_clock_at_zero).collect();
        self.row(Ask::Endings { only: self.stack.clone(), expected: fens.into_iter().collect() })
    }

    fn rows_of_node(&self, node: &Node, trust: Trust) -> Vec<Row> {
        let captured = node.path.iter().any(|it| it.contains("capture"));
        // O07: the program that made the file sets the half-move clock by the first step alone.
        let with_right_clock = |fen: &str, resets: bool| match resets && trust == Trust::Corrected {
            true => with_clock_at_zero(fen),
            false => fen.to_owned(),
        };
        let steps = node.steps.iter().map(|it| {
            let step = Action { from: self.stack.clone(), deploy: true, ..it.clone() };
            let fen = it.fen.as_ref().filter(|_| it.turn_over);
            (step.text(), fen.map(|fen| with_right_clock(fen, captured || it.captures())))
        });
        let mut expected: Vec<(String, Option<String>)> = steps.collect();
        if let Some(fen) = node.commit_fen.as_ref().filter(|_| node.can_commit) {
            expected.push((COMMIT.into(), Some(with_right_clock(fen, captured))));
        }
        expected.sort();
        let path: Vec<String> = node.path.iter().map(|it| text_of_step(it, &self.stack)).collect();
        let under_way = node.session_fen.as_ref();
        let under_way = under_way.map(|it| Ask::UnderWay { path: path.clone(), fen: it.clone() });
        let only = Some(self.stack.clone());
        let outcomes = Ask::Outcomes { path, only, deep: false, expected };
        under_way.into_iter().chain([outcomes]).map(|it| self.row(it)).collect()
    }
}

/// The text ([`Action::text`]) of a stack's step that a path writes as `normal:T>k2`.
fn text_of_step(text: &str, stack: &str) -> String {
    let (kind, step) = text.split_once(':').unwrap_or(("", text));
    let (piece, to) = step.split_once('>').unwrap_or((step, ""));
    format!("{}{stack}>{}{to}", piece.to_ascii_uppercase(), sign(kind))
}

// --- perft -----------------------------------------------------------------------------------------

#[derive(Debug, Deserialize)]
struct Perft {
    fen: String,
    /// The number of sequences of actions by depth. The other counts are by depth, too.
    perft_actions: BTreeMap<u32, u64>,
    #[serde(default)]
    perft_turns: BTreeMap<u32, u64>,
    #[serde(default)]
    perft_actions_intended: BTreeMap<u32, u64>,
}

fn perft(positions: Vec<Perft>, trust: Trust) -> Vec<Row> {
    let mut rows = Vec::new();
    for position in positions {
        let intended = !position.perft_actions_intended.is_empty() && trust == Trust::Corrected;
        let actions =
            if intended { &position.perft_actions_intended } else { &position.perft_actions };
        let counts = actions.iter().map(|(&depth, &nodes)| Ask::Perft { depth, nodes });
        let turns = position.perft_turns.iter();
        let turns = turns.map(|(&depth, &nodes)| Ask::Turns { depth, nodes });
        rows.extend(counts.chain(turns).map(|ask| Row { fen: position.fen.clone(), ask }));
    }
    rows
}

// --- playouts and histories --------------------------------------------------------------------------

#[derive(Debug, Deserialize)]
struct Playout {
    start: String,
    moves: Vec<Played>,
}

#[derive(Debug, Deserialize)]
struct Played {
    steps: Vec<Action>,
    n_legal_flat: usize,
    fen: String,
    in_check: bool,
    #[serde(default)]
    flags: Flags,
}

/// A row for each turn, from the recorded position after the previous turn.
fn playouts(playouts: Vec<Playout>, trust: Trust) -> Vec<Row> {
    let mut rows = Vec::new();
    for playout in playouts {
        let mut fen = playout.start;
        for turn in playout.moves {
            let corrected = trust == Trust::Corrected;
            let corrected_flag = |name: &str| turn.flags.get(name).filter(|_| corrected);
            let legal = corrected_flag("n_legal_expected").and_then(Value::as_u64);
            let legal = legal.and_then(|it| usize::try_from(it).ok()).unwrap_or(turn.n_legal_flat);
            let resets = corrected && turn.steps.iter().any(Action::captures);
            let after = match corrected_flag("expected_fen") {
                // The turn itself should not have been possible.
                Some(Value::Null) => None,
                Some(fen) => fen.as_str().map(String::from),
                None => Some(turn.fen.clone()),
            };
            let after = after.map(|fen| if resets { with_clock_at_zero(&fen) } else { fen });
            let steps = turn.steps.iter().map(Action::text).collect();
            let ask = Ask::Turn(Turn {
                steps,
                legal: Some(legal),
                after,
                in_check: Some(turn.in_check),
                ..Turn::default()
            });
            rows.push(Row { fen: std::mem::replace(&mut fen, turn.fen), ask });
        }
    }
    rows
}

#[derive(Debug, Deserialize)]
struct History {
    start: String,
    actions: Vec<Value>,
    fen: String,
    n_legal_reloaded: usize,
    #[serde(default)]
    only_reloaded: Vec<String>,
    #[serde(default)]
    only_in_place: Vec<String>,
}

/// Games after which the program that made the file lists wrong actions until it loads the position from its FEN.
fn histories(histories: Vec<History>) -> Vec<Row> {
    let step = |it: &Value| match it.as_str() {
        Some(text) => text.to_owned(),
        None => serde_json::from_value::<Action>(it.clone())
            .map_or_else(|_| it.to_string(), |it| it.text()),
    };
    let row = |it: History| {
        let steps = it.actions.iter().map(step).collect();
        let texts = |all: &[String]| all.iter().filter_map(|it| text_of_flag(it)).collect();
        let (with, without) = (texts(&it.only_reloaded), texts(&it.only_in_place));
        let turn = Turn {
            steps,
            after: Some(it.fen),
            legal_after: Some(it.n_legal_reloaded),
            with,
            without,
            ..Turn::default()
        };
        Row { fen: it.start, ask: Ask::Turn(turn) }
    };
    histories.into_iter().map(row).collect()
}

// --- FEN -------------------------------------------------------------------------------------------

#[derive(Debug, Deserialize)]
struct FenCase {
    fen: String,
    loads: bool,
    normalized: Option<String>,
}

/// FENs that must be refused, and FENs that must be read. If the program that made the file writes another FEN than it
/// has read, a refusal is right, too.
fn fen_cases(cases: Vec<FenCase>) -> Vec<Row> {
    let row = |it: FenCase| {
        let reads = it.normalized.filter(|_| it.loads);
        let strict = reads.as_ref().is_none_or(|read| *read == it.fen);
        // O13: the program cannot read its own text of a turn that is under way.
        let is_under_way = it.fen.split_whitespace().count() > 6;
        let reads = if is_under_way { Some(it.fen.clone()) } else { reads };
        Row { fen: it.fen, ask: Ask::Fen { reads, strict } }
    };
    cases.into_iter().map(row).collect()
}

// --- texts of moves ----------------------------------------------------------------------------------

#[derive(Debug, Deserialize)]
struct SanCase {
    fen: String,
    input: String,
    accepted: bool,
    san: Option<String>,
    lan: Option<String>,
    fen_after: Option<String>,
}

/// Texts that mean a move, and texts that mean none. A text that is neither the whole text of the move, nor its SAN,
/// nor the step at the end of its SAN (`F>e6` of `T<F>e6`) may be refused as well: the program accepts some that are
/// ambiguous.
///
/// O12: the program writes only the first digit of a rank of two digits in SAN. Such a text must be refused, and the
/// text with both digits must be read.
fn san_cases(cases: Vec<SanCase>, trust: Trust) -> Vec<Row> {
    let mut rows = Vec::new();
    for case in cases {
        let mut ask = |text: String, after: Option<String>, strict: bool| {
            rows.push(Row { fen: case.fen.clone(), ask: Ask::Text { text, after, strict } });
        };
        let (Some(san), Some(lan), Some(after), true) =
            (case.san, case.lan, case.fen_after, case.accepted)
        else {
            ask(case.input, None, true);
            continue;
        };
        // After a step of a turn that goes on (`e5:T:F>xe7`), the FEN has the clock of the turn's beginning.
        let should_reset = lan.contains(['x', '_', '@']) && !lan.contains(':');
        let resets = should_reset && trust == Trust::Corrected;
        let after = if resets { with_clock_at_zero(&after) } else { after };
        let whole = whole_rank(&san, &lan);
        let step = san.rsplit('<').next().unwrap_or_default();
        if case.input == san && whole != san {
            ask(case.input.clone(), None, true);
            ask(whole, Some(after), true);
        } else {
            let strict = [san.as_str(), lan.as_str(), step].contains(&case.input.as_str());
            ask(case.input, Some(after), strict);
        }
    }
    rows
}
