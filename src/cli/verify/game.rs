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
/// apart; other flags are about another interpretation of a rule, which is not a mistake.
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
    fen: Option<String>,
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
    let corrected = trust == Trust::Corrected;
    let mut rows = Vec::new();
    for position in positions {
        let flags = &position.flags;
        let actions_of = |flag: &str, name: &str| -> Vec<String> {
            flagged(flags, flag, name).into_iter().filter_map(text_of_flag).collect()
        };
        let corrections = |name: &str| -> Vec<String> {
            CORRECTED.iter().filter(|_| corrected).flat_map(|it| actions_of(it, name)).collect()
        };
        let wrong_results = corrections("results_differ");
        let missing = corrections("moves_missing");
        let extra = corrections("moves_not_expected");
        let zero = actions_of("O07", "halfmove_clock_should_be_zero_after");
        let polluted = Pollution::of(flags);
        let lists_all = missing.is_empty() && extra.is_empty() && polluted.is_none();
        let mut expected: Vec<(String, Option<String>)> =
            missing.into_iter().map(|it| (it, None)).collect();
        for action in &position.moves {
            let text = match &polluted {
                Some(it) if action.from == it.square => action.text().replace(it.wrong, it.right),
                _ => action.text(),
            };
            if extra.contains(&text) {
                continue;
            }
            let resets = corrected && zero.contains(&text);
            let reset = |fen: &str| if resets { with_clock_at_zero(fen) } else { fen.to_owned() };
            // The outcome as [`Ask::Outcomes`] has it with `deep`.
            let after = match (&action.fen, &action.board_after_step, &action.commit_fen) {
                (Some(fen), ..) => Some(reset(fen)),
                (None, Some(board), Some(fen)) if action.can_commit => {
                    Some(format!("{board} {COMMIT} {}", reset(fen)))
                }
                (None, board, _) => board.clone(),
            };
            let after = after.filter(|_| !wrong_results.contains(&text));
            expected.push((text, after));
        }
        expected.sort();
        let ask = Ask::Outcomes { path: Vec::new(), only: None, deep: true, expected };
        rows.push(Row { fen: position.fen.clone(), ask });
        // SAN depends on all legal moves, so it is compared only if the list is complete.
        if lists_all
            && !position.moves.is_empty()
            && let Some(texts) = sans(&position.moves)
        {
            rows.push(Row { fen: position.fen.clone(), ask: Ask::San(texts) });
        }
        for action in &position.moves {
            if let (Some(fen), Some(lan), None) = (&action.session_fen, &action.lan, &polluted) {
                let ask = Ask::UnderWay { path: vec![lan.clone()], fen: fen.clone() };
                rows.push(Row { fen: position.fen.clone(), ask });
            }
        }
        if let Some(standing) = standing(&position) {
            rows.push(Row { fen: position.fen, ask: Ask::Standing(standing) });
        }
    }
    rows
}

/// The texts of moves with their SAN, sorted; `None` if one lacks it.
fn sans(moves: &[Action]) -> Option<Vec<String>> {
    let text = |it: &Action| {
        let (lan, san) = (it.lan.as_ref()?, it.san.as_ref()?);
        Some(uci_and_san(lan, &whole_rank(san, lan)))
    };
    let mut texts: Vec<String> = moves.iter().map(text).collect::<Option<_>>()?;
    texts.sort();
    Some(texts)
}

/// The state of the game as [`Ask::Standing`] has it; `None` if a commander was captured: the status does not say whose.
fn standing(position: &Position) -> Option<String> {
    let is = |name: &str| position.status.get(name) == Some(&true);
    if is("checkmate") {
        return Some(format!("not {}", position.fen.split(' ').nth(1).unwrap_or_default()));
    }
    let state = if is("stalemate") || is("fifty") { "draw" } else { "none" };
    (!is("commander_captured")).then(|| state.to_owned())
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
        let before = san[..*at].ends_with(|it: char| it.is_ascii_uppercase() || it == ')');
        let after = san[at + 1..].starts_with(|it: char| !it.is_ascii_digit());
        before && after && rank.starts_with(&san[*at..=*at])
    };
    match digit.filter(is_cut) {
        Some(at) => format!("{}{rank}{}", &san[..at], &san[at + 1..]),
        None => san.to_owned(),
    }
}

/// O15: the moves of one stack are listed under the text of another one.
struct Pollution<'f> {
    square: &'f str,
    wrong: &'f str,
    right: &'f str,
}

impl<'f> Pollution<'f> {
    fn of(flags: &'f Flags) -> Option<Self> {
        let text = flags.get("O15")?.get("piece_text_polluted")?.as_str()?;
        let word_after = |label: &str| text.split_once(label)?.1.split(' ').next();
        let (square, wrong) = (word_after("stack ")?, word_after("listed as ")?);
        Some(Self { square, wrong, right: word_after("text is ")? })
    }
}

// --- sessions --------------------------------------------------------------------------------------

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
    let mut rows = Vec::new();
    for session in sessions {
        let is_mistaken = session.flags.contains_key("caused_by");
        if is_mistaken && trust == Trust::Corrected {
            let listed = |name: &str| texts(session.flags.get(name));
            let unexpected = listed("outcomes_not_expected");
            let all = session.outcomes.iter().map(|it| it.fen.as_str());
            let fens = all.filter(|it| !unexpected.contains(it)).chain(listed("outcomes_missing"));
            // The file does not state which captures led there, so the half-move clock is ignored.
            let fens: BTreeSet<String> = fens.map(with_clock_at_zero).collect();
            let expected = fens.into_iter().collect();
            let ask = Ask::Endings { only: session.stack, expected };
            rows.push(Row { fen: session.fen, ask });
            continue;
        }
        for node in session.nodes {
            let captured = node.path.iter().any(|it| it.contains("capture"));
            // O07: the half-move clock considers only the first step.
            let with_right_clock =
                |fen: String, resets: bool| match resets && trust == Trust::Corrected {
                    true => with_clock_at_zero(&fen),
                    false => fen,
                };
            let steps = node.steps.iter().map(|it| {
                let step = Action { from: session.stack.clone(), deploy: true, ..it.clone() };
                let fen = it.fen.clone().filter(|_| it.turn_over);
                (step.text(), fen.map(|fen| with_right_clock(fen, captured || it.captures())))
            });
            let mut expected: Vec<(String, Option<String>)> = steps.collect();
            if let Some(fen) = node.commit_fen.filter(|_| node.can_commit) {
                expected.push((COMMIT.into(), Some(with_right_clock(fen, captured))));
            }
            expected.sort();
            let path: Vec<String> =
                node.path.iter().map(|it| text_of_step(it, &session.stack)).collect();
            if let Some(under_way) = node.session_fen {
                let ask = Ask::UnderWay { path: path.clone(), fen: under_way };
                rows.push(Row { fen: session.fen.clone(), ask });
            }
            let only = Some(session.stack.clone());
            rows.push(Row {
                fen: session.fen.clone(),
                ask: Ask::Outcomes { path, only, deep: false, expected },
            });
        }
    }
    rows
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
    /// By depth, as the others.
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
        let captures = lan.contains(['x', '_', '@']) && !lan.contains(':');
        let resets = captures && trust == Trust::Corrected;
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
