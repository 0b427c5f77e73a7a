//! Vector files of games that are played by requests, of kinds `GAME-scenarios`, `GAME-random` and
//! `GAME-legal`: a position as a list of pieces with their properties, sequences of requests with their
//! results, lists of requests and counts of their sequences.
//!
//! Nothing here knows a game. The rules declare the text of a request by `.meta request "KIND TEMPLATE"`; a
//! request without a kind has the kind `?`. Keys of the file are attributes, and so are the names in lists
//! ([`stated`]).

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::question::{Ask, Malformed, Row, Suite};
use super::script::{Position, Questions, Script, Step};
use super::{Fault, differs, lacking, setup};
use crate::facts::{AttrId, AttrType, BOOL, EntityId, GAME};
use crate::game::Game;
use crate::moves::perft;
use crate::presets::{Ruleset, fen_row};
use crate::rules::{Program, Role};

#[derive(Debug, Deserialize)]
struct File {
    profile: String,
    scenarios: Vec<Scenario>,
}

#[derive(Debug, Deserialize)]
struct Scenario {
    id: String,
    position: Position,
    initial: Option<Map<String, Value>>,
    #[serde(default)]
    steps: Vec<Step>,
    #[serde(default)]
    requests: Vec<Map<String, Value>>,
    legal: Option<Vec<Map<String, Value>>>,
    request_perft: Option<Vec<u64>>,
}

/// Reads a file of one of these kinds; `None` for other kinds. The name of the game consists of the kind and
/// the profile.
pub(super) fn parse(kind: &str, text: &str) -> Option<Result<Suite, Malformed>> {
    let (game, what) = kind.rsplit_once('-')?;
    if !matches!(what, "scenarios" | "random" | "legal") {
        return None;
    }
    let suite = |file: File| Suite {
        game: Some(format!("{game}-{}", file.profile)),
        of_any_game: true,
        rows: file.scenarios.into_iter().flat_map(rows).collect(),
        ..Suite::default()
    };
    Some(serde_json::from_str(text).map(suite).map_err(Malformed::from))
}

fn rows(scenario: Scenario) -> Vec<Row> {
    let mut questions = Vec::new();
    questions.extend(
        scenario.legal.map(|legal| Questions::Legal { requests: scenario.requests, legal }),
    );
    questions.extend(scenario.request_perft.map(Questions::Sequences));
    if !scenario.steps.is_empty() {
        questions.push(Questions::Steps { initial: scenario.initial, steps: scenario.steps });
    }
    let (name, position) = (scenario.id, scenario.position);
    let row = |questions| {
        let script = Script { name: name.clone(), position: position.clone(), questions };
        Row { fen: format!("{name} {}", position.fen()), ask: Ask::Script(Box::new(script)) }
    };
    questions.into_iter().map(row).collect()
}

impl Position {
    /// The part that a FEN states, for a board of eight files and ranks.
    fn fen(&self) -> String {
        let cell = |file: u8, rank: u8| {
            let square = format!("{}{rank}", char::from(b'a' + file));
            match self.pieces.iter().find(|it| it.sq == square) {
                Some(it) if it.color == "white" => it.letter.to_ascii_uppercase(),
                Some(it) => it.letter.to_ascii_lowercase(),
                None => "1".to_owned(),
            }
        };
        let rank = |rank: u8| fen_row(&(0..8).map(|file| cell(file, rank)).collect::<String>());
        let ranks: Vec<String> = (1..=8).rev().map(rank).collect();
        let turn = self.turn.chars().next().unwrap_or('w');
        format!("{} {turn} {} {} 0 1", ranks.join("/"), self.castling, self.ep)
    }

    /// The game that begins here.
    fn start(&self, rules: &Ruleset) -> Result<Game, String> {
        let game = setup::start(rules, Some(&self.fen())).map_err(|why| format!("{why:#}"))?;
        let (program, contract) = (game.program().clone(), game.contract().clone());
        let mut world = game.world().clone();
        let squares = program.schema.domain_named("Square");
        let at = program.schema.attribute_named("position");
        let (Some(squares), Some(at)) = (squares, at) else {
            return Err("there is no board".into());
        };
        for piece in &self.pieces {
            let square = program.schema.domain(squares).member(&piece.sq);
            let is_there = |it: &EntityId| world.facts().get_raw(*it, at) == square;
            let found = world.facts().entities_with(at).find(is_there);
            let Some(entity) = found else {
                return Err(format!("there is no piece on {}", piece.sq));
            };
            for (key, value) in &piece.facts {
                for (attr, raw) in stated(&program, "", key, value)? {
                    world.set_raw(entity, attr, Some(raw));
                }
            }
        }
        for (key, of_sides) in &self.sides {
            let Value::Object(of_sides) = of_sides else {
                return Err(format!("{key} needs a value for each side"));
            };
            // The names in the list `side_abilities` are attributes that begin with `side_`.
            let prefix = key.split('_').next().unwrap_or_default();
            for (side, value) in of_sides {
                let side = side_named(rules, side)?;
                for (attr, raw) in stated(&program, &format!("{prefix}_"), key, value)? {
                    world.set_raw(side, attr, Some(raw));
                }
            }
        }
        Ok(Game::from_facts(world, contract))
    }
}

fn side_named(rules: &Ruleset, name: &str) -> Result<EntityId, String> {
    let at = rules.sides().iter().position(|it| it == name);
    at.map(|it| EntityId(it as u32)).ok_or_else(|| format!("there is no side {name}"))
}

/// The facts that a key and its value state. Each name in a list is an attribute (with the prefix), whose value is
/// the number of its occurrences, or true if it is a flag. Any other value belongs to the attribute that the key
/// names; null and `None` state nothing.
fn stated(
    program: &Program,
    prefix: &str,
    key: &str,
    value: &Value,
) -> Result<Vec<(AttrId, i64)>, String> {
    let attribute = |name: &str| {
        let found = program.schema.attribute_named(name);
        found.ok_or_else(|| format!("the rules know nothing of {name}"))
    };
    match value {
        Value::Array(names) => {
            let names: Vec<String> = names.iter().filter_map(Value::as_str).map(snake).collect();
            let once: BTreeSet<&String> = names.iter().collect();
            let fact = |name: &String| {
                let copies = names.iter().filter(|it| *it == name).count() as i64;
                let attr = attribute(&format!("{prefix}{name}"))?;
                let is_flag = program.schema.attribute(attr).ty == AttrType::Member(BOOL);
                Ok((attr, if is_flag { 1 } else { copies }))
            };
            once.into_iter().map(fact).collect()
        }
        Value::String(name) if name == "None" => Ok(Vec::new()),
        Value::Null => Ok(Vec::new()),
        value => {
            let attr = attribute(key)?;
            let raw =
                raw(program, attr, value).ok_or_else(|| format!("{key} cannot be {value}"))?;
            Ok(vec![(attr, raw)])
        }
    }
}

/// The raw value that a value of the file stands for.
fn raw(program: &Program, attr: AttrId, value: &Value) -> Option<i64> {
    match (program.schema.attribute(attr).ty, value) {
        (AttrType::Int, it) => it.as_i64(),
        (AttrType::Member(BOOL), it) => it.as_bool().map(i64::from),
        (AttrType::Member(of), Value::String(name)) => {
            program.schema.domain(of).member(&name.to_lowercase())
        }
        _ => None,
    }
}

/// `DoOver` as `do_over`.
fn snake(name: &str) -> String {
    let mut text = String::new();
    let mut was_small = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && was_small {
            text.push('_');
        }
        was_small = letter.is_ascii_lowercase();
        text.extend(letter.to_lowercase());
    }
    text
}

// --- requests as text --------------------------------------------------------------------------------

/// The forms of requests by the rules: the template of each kind (`.meta request`), and the note that comes with each
/// refusal (`.meta refusal`).
struct Forms<'p> {
    kinds: Vec<(&'p str, &'p str)>,
    refusals: Vec<(&'p str, &'p str)>,
}

impl<'p> Forms<'p> {
    fn of(program: &'p Program) -> Self {
        let metas = |key: &str| -> Vec<(&'p str, &'p str)> {
            let found = program.meta.iter().filter(|it| it.key == key);
            found.filter_map(|it| it.value.split_once(' ')).collect()
        };
        Self { kinds: metas("request"), refusals: metas("refusal") }
    }

    fn template(&self, kind: &str) -> Option<&'p str> {
        self.kinds.iter().find(|it| it.0 == kind).map(|it| it.1)
    }

    /// The texts of a request of a kind, with all optional parts first. In a template, these are in brackets.
    fn texts(&self, kind: &str, request: &Map<String, Value>) -> Vec<String> {
        let Some(template) = self.template(kind) else { return Vec::new() };
        let parts: Vec<&str> = template.split(['[', ']']).collect();
        let filled: Vec<Option<String>> = parts.iter().map(|it| fill(it, request)).collect();
        let optional: Vec<usize> =
            (1..parts.len()).step_by(2).filter(|&it| filled[it].is_some()).collect();
        let text = |left_out: usize| {
            let is_out = |at: &usize| {
                optional.iter().position(|it| it == at).is_some_and(|it| left_out & (1 << it) != 0)
            };
            let kept = (0..parts.len()).filter(|it| !is_out(it));
            kept.filter_map(|it| filled[it].clone()).collect::<String>()
        };
        (0..1 << optional.len()).map(text).collect()
    }

    /// The text of a listed action without optional parts: up to the first sign with which one begins in a template.
    fn bare<'t>(&self, text: &'t str) -> &'t str {
        let signs = self.kinds.iter().filter_map(|it| it.1.split_once('[')?.1.chars().next());
        let signs: Vec<char> =
            signs.filter(|it| !it.is_ascii_alphanumeric() && *it != '{').collect();
        text.split_once(signs.as_slice()).map_or(text, |it| it.0)
    }

    /// Whether this is the whole template of a kind, optional parts aside. Such a request names nothing on the board,
    /// so it ends the turn.
    fn ends_turn(&self, text: &str) -> bool {
        self.kinds.iter().any(|it| it.1.split('[').next() == Some(text))
    }
}

/// A part of a template filled in from a request. `None` if the request has no value for it.
fn fill(part: &str, request: &Map<String, Value>) -> Option<String> {
    let mut text = String::new();
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('{') {
        let (key, after) = after.split_once('}')?;
        text.push_str(before);
        text.push_str(&request.get(key)?.as_str()?.to_ascii_lowercase());
        rest = after;
    }
    text.push_str(rest);
    Some(text)
}

// --- running scripts ---------------------------------------------------------------------------------

/// Runs a script. Returns the first fault.
pub(super) fn run(rules: &Ruleset, script: &Script) -> Result<Option<Fault>, String> {
    let (game, forms) = (script.position.start(rules)?, Forms::of(rules.program()));
    let mut run = Run { rules, game, forms, status: String::new() };
    let fault = run.ask(&script.questions)?;
    run.game.check().map_err(|limit| limit.to_string())?;
    Ok(fault)
}

/// A script that is being run.
struct Run<'r> {
    rules: &'r Ruleset,
    game: Game,
    forms: Forms<'r>,
    /// The state of the game as it was when the turn began: `ongoing`, `check`, or the reason of the result.
    status: String,
}

impl Run<'_> {
    fn ask(&mut self, questions: &Questions) -> Result<Option<Fault>, String> {
        match questions {
            Questions::Steps { initial, steps } => Ok(self.take_steps(initial.as_ref(), steps)),
            Questions::Legal { requests, legal } => {
                requests.iter().try_for_each(|it| self.play(it))?;
                Ok(self.compare_legal(legal))
            }
            Questions::Sequences(counts) => Ok(self.count_sequences(counts)),
        }
    }

    fn take_steps(
        &mut self,
        initial: Option<&Map<String, Value>>,
        steps: &[Step],
    ) -> Option<Fault> {
        self.update_status();
        if let Some(fault) = initial.and_then(|it| self.compare(it)) {
            return Some(found_at("at first", fault));
        }
        steps.iter().zip(1..).find_map(|(step, number)| {
            let fault = self.step(step)?;
            let request = Value::Object(step.request.clone());
            Some(found_at(&format!("{number}. {request}"), fault))
        })
    }

    /// Compares the legal requests with those of the file.
    fn compare_legal(&mut self, legal: &[Map<String, Value>]) -> Option<Fault> {
        // If the rules have no requests of a kind, the request itself is what is missing.
        let text = |it: &Map<String, Value>| {
            let first = self.forms.texts(kind_of(it), it).into_iter().next();
            first.unwrap_or_else(|| Value::Object(it.clone()).to_string())
        };
        let mut expected: Vec<String> = legal.iter().map(text).collect();
        expected.sort();
        let found: Vec<String> = self.game.listing().into_iter().map(|it| it.0).collect();
        let (missing, extra) = (lacking(&expected, &found), lacking(&found, &expected));
        let equal = missing.is_empty() && extra.is_empty() && found.len() == legal.len();
        (!equal).then_some(Fault::Moves { missing, extra })
    }

    fn count_sequences(&mut self, counts: &[u64]) -> Option<Fault> {
        let contract = self.game.contract().clone();
        (1..).zip(counts).find_map(|(depth, &expected)| {
            let found = perft(self.game.world_mut(), &contract, depth);
            (found != expected).then_some(Fault::Perft { depth, expected, found })
        })
    }

    /// Plays a request. The error is the code of the refusal.
    fn play(&mut self, request: &Map<String, Value>) -> Result<(), String> {
        let kind = kind_of(request);
        let mut first = None;
        for text in self.forms.texts(kind, request) {
            match self.game.play_text(&text) {
                Ok(_) => return Ok(()),
                Err(why) => {
                    // The code that the rules declare for the refusal, or else its sentence.
                    let code = self.game.code_of(&text, &why).unwrap_or_else(|| why.to_string());
                    first.get_or_insert(code);
                }
            }
        }
        Err(first.unwrap_or_else(|| format!("no kind of request is called {kind}")))
    }

    /// Plays one request. Returns the first fault in its result, reason, notes and the state after it.
    fn step(&mut self, step: &Step) -> Option<Fault> {
        let (facts, plies) = (self.game.hash(), self.game.history().len());
        let reason = self.play(&step.request).err();
        let record = self.game.history().get(plies).filter(|_| reason.is_none());
        let result = match (&reason, record.and_then(|it| it.rewound_to())) {
            (Some(_), _) => "rejected",
            (None, Some(_)) => "rewound",
            (None, None) => "ok",
        };
        let notes: Vec<String> = match &reason {
            None => record.into_iter().flat_map(|it| it.notes()).map(|it| it.to_string()).collect(),
            Some(code) => {
                let notes = self.forms.refusals.iter().filter(|it| it.0 == code);
                notes.map(|it| it.1.to_owned()).collect()
            }
        };
        if let Some(reason) = &reason
            && (self.game.hash(), self.game.history().len()) != (facts, plies)
        {
            let found = format!("others ({reason})");
            return differs("facts after a refusal", "the same".into(), found);
        }
        if step.result != result {
            let found = reason.map_or_else(|| result.into(), |it| format!("{result}, {it}"));
            return differs("result", step.result.clone(), found);
        }
        let expected_reason = step.reason.clone();
        let fault = expected_reason
            .and_then(|it| differs("reason", it, reason.clone().unwrap_or_default()))
            .or_else(|| differs("notes", step.notes.join(", "), notes.join(", ")));
        if fault.is_some() {
            return fault;
        }
        let is_open = self.game.history().last().is_some_and(|it| it.turn_goes_on);
        if reason.is_none() && !is_open {
            self.update_status();
        }
        let mut after = step.after.clone();
        after.extend(step.legal_count.map(|it| ("legal_count".to_owned(), Value::from(it))));
        self.compare(&after)
    }

    fn update_status(&mut self) {
        if let Some(result) = self.game.result() {
            self.status.clone_from(&result.reason);
            return;
        }
        let in_check = self.game.contract().notation.in_check;
        let is_in_check = in_check.is_some_and(|it| self.game.world_mut().any(it));
        self.status = if is_in_check { "check".into() } else { "ongoing".into() };
    }

    /// The first key whose value is not the expected one: a part of the position, its status, the number of legal
    /// requests (those that end the turn are not counted), or the attribute of that name.
    fn compare(&mut self, expected: &Map<String, Value>) -> Option<Fault> {
        let fen = self.game.fen();
        let field = |at: usize| fen.split(' ').nth(at).unwrap_or("-").to_owned();
        expected.iter().find_map(|(key, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), String::from);
            match key.as_str() {
                "board" => differs("board", text, board(&mut self.game)),
                "turn" => {
                    let sides = self.rules.sides();
                    let side = self.game.side().and_then(|it| sides.get(it as usize).cloned());
                    differs("turn", text, side.unwrap_or_default())
                }
                "castling" => differs("castling", text, field(2)),
                "status" => differs("status", text, self.status.clone()),
                "legal_count" => {
                    let listed = self.game.listing();
                    let bare: BTreeSet<&str> =
                        listed.iter().map(|it| self.forms.bare(&it.0)).collect();
                    let count = bare.into_iter().filter(|it| !self.forms.ends_turn(it)).count();
                    differs("legal requests", text, count.to_string())
                }
                key => differs(
                    "facts",
                    format!("{key} {value}"),
                    format!("{key} {}", fact(self.rules, &self.game, key, value)),
                ),
            }
        })
    }
}

/// The kind of a request, by which its template is found.
fn kind_of(request: &Map<String, Value>) -> &str {
    request.get("kind").and_then(Value::as_str).unwrap_or("?")
}

/// The fault of a value, with the step at which it was found.
fn found_at(place: &str, fault: Fault) -> Fault {
    match fault {
        Fault::Differs { what, expected, found } => {
            Fault::Differs { what, expected: format!("{expected} ({place})"), found }
        }
        other => other,
    }
}

/// The value of the attribute that a key names, or that the input of that name reads: of the game, or of each side
/// if the file has a value for each.
fn fact(rules: &Ruleset, game: &Game, key: &str, like: &Value) -> Value {
    let program = game.program();
    let input = program.relation_named(key).and_then(|it| match program.relation(it).role {
        Role::Input(input) => Some(input.attr()),
        _ => None,
    });
    let attr = input.or_else(|| program.schema.attribute_named(key));
    let Some(attr) = attr else { return Value::Null };
    let name = |raw: i64| match program.schema.attribute(attr).ty {
        AttrType::Member(of) => Value::from(program.schema.domain(of).member_name(raw)),
        _ => Value::from(raw),
    };
    let none = || if like.is_string() { Value::from("-") } else { Value::Null };
    let get = |of: EntityId| game.facts().get_raw(of, attr).map_or_else(none, name);
    match like {
        Value::Object(_) => {
            let sides = rules.sides().into_iter().zip(0..);
            Value::Object(sides.map(|(name, it)| (name, get(EntityId(it)))).collect())
        }
        _ => get(GAME),
    }
}

/// `Ra1 ke8`: the pieces on the board, in the order of the squares.
fn board(game: &mut Game) -> String {
    let mut pieces = Vec::new();
    for (cells, rank) in game.cells().iter().rev().zip(1..) {
        let held = cells.iter().zip('a'..).filter_map(|(it, file)| Some((it.as_ref()?, file)));
        pieces.extend(held.map(|(letter, file)| format!("{letter}{file}{rank}")));
    }
    pieces.join(" ")
}
