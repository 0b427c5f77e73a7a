//! Studies over HTTP: games with variations and comments, which an account keeps and shares by a link.
//!
//! A study is one record (`study_tree`). Anyone with the link can read it; its owner can change it, from any device,
//! one change at a time. Deliberately absent: several owners, chapters, evaluation.

use std::sync::Arc;

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::Body;
use super::guard::Caller;
use super::{Reply, USUAL_GAME};
use crate::presets::switch_comment;
use crate::server::accounts::Account;
use crate::server::begin::start;
use crate::server::board::Board;
use crate::server::core::{Event, LogEntry, Played, Refusal, Rules, Setup, setup_of};
use crate::server::host::Host;
use crate::server::ids::new_id;
use crate::server::limit::Cost;
use crate::server::pool::Lane;
use crate::server::problem::Problem;
use crate::server::store::{Change, Store, StoreError, next_count};
use crate::server::study_pgn::{self, Outline, rules_changed};
use crate::server::study_tree::{DEPTH, Study, full, printable};
use crate::server::web::Web;

/// Maximum number of studies of an account.
const STUDIES: usize = 50;
/// Maximum number of characters of a title.
const TITLE: usize = 80;

/// The endpoints of this file.
pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(create, list))
        .routes(routes!(show, remove))
        .routes(routes!(position, cut))
        .routes(routes!(pgn))
        .routes(routes!(play))
        .routes(routes!(comment))
}

/// A study in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(super) struct ListedStudy {
    #[serde(default)]
    id: String,
    title: String,
    game: String,
}

fn key(id: &str) -> String {
    format!("study {id}")
}

fn list_key(owner: &str, id: &str) -> String {
    format!("studies {owner} {id}")
}

/// The key of the number of studies that an account has ever made.
fn made_key(owner: &str) -> String {
    format!("studies-made {owner}")
}

fn no_study(id: &str) -> Problem {
    let message = format!("there is no study {id:.40}");
    Problem::not_found("no_such_study", message)
}

fn read(store: &mut dyn Store, id: &str) -> Result<Option<(String, Study)>, StoreError> {
    let found = store.record(&key(id))?;
    Ok(found.and_then(|text| {
        let study = serde_json::from_str::<Study>(&text).ok()?;
        Some((text, Study { id: id.to_owned(), ..study }))
    }))
}

/// The setup of a game that was played, and its first actions, up to [`DEPTH`] of them.
fn setup_and_actions(id: &str, log: &[LogEntry]) -> Result<(Setup, Vec<String>), Problem> {
    let setup = setup_of(log).ok_or_else(|| Problem::no_game(id))?.clone();
    let mut played: Vec<String> = Vec::new();
    for entry in log {
        match &entry.event {
            Event::Played { uci, .. } => played.push(uci.clone()),
            Event::TakenBack { to, .. } => played.truncate(*to),
            Event::PresetsChanged { .. } => return Err(rules_changed()),
            _ => {}
        }
    }
    played.truncate(DEPTH);
    Ok((setup, played))
}

impl Host {
    /// Plays actions from the start position of a study. Returns the board after them, and each action with its texts.
    async fn replayed(
        self: &Arc<Self>,
        study: &Study,
        path: Vec<String>,
    ) -> Result<(Board, Vec<Played>), Problem> {
        let (ruleset, catalogue) = self.rules_of(&study.rules, &study.game, &study.presets).await?;
        let (fen, facts) = (study.fen.clone(), study.facts.clone());
        let requests = 1 + path.len();
        let lane = self.slow_lane(&study.rules);
        let replay = move || {
            let mut board = start(&ruleset, catalogue, fen.as_deref(), facts.as_deref())?;
            let played: Result<_, _> = path.iter().map(|uci| board.play(uci)).collect();
            Ok::<_, Problem>((board, played.map_err(Refusal::Illegal)?))
        };
        self.pool.attempt(lane, requests, replay).await
    }

    /// Adds the moves and comments of a PGN to a study.
    async fn with_outline(
        self: &Arc<Self>,
        mut study: Study,
        outline: Outline,
    ) -> Result<Study, Problem> {
        let (ruleset, catalogue) = self.rules_of(&study.rules, &study.game, &study.presets).await?;
        let lane = self.slow_lane(&study.rules);
        // The moves that lead to a variation are played again for it.
        let requests = 1 + 2 * outline.turns();
        let add_to = move || {
            let mut board = start(&ruleset, catalogue, study.fen.as_deref(), None)?;
            outline.add_to(&mut study, &mut board)?;
            Ok(study)
        };
        self.pool.attempt(lane, requests, add_to).await
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewStudy {
    /// The id of a hosted game that is over: the study begins with its first 400 actions. Not together with `pgn`.
    of: Option<String>,
    /// A PGN: the study begins with its first game, with variations, comments and glyphs.
    pgn: Option<String>,
    /// Without `of` and `pgn`, the name of a game in the catalogue (chess if absent), for a study without actions. With
    /// `pgn`, the game to read its moves by, in place of its tag `Variant`.
    game: Option<String>,
    /// Presets on top of the game's own.
    #[serde(default)]
    presets: Vec<String>,
    /// At most 80 characters. If empty, the PGN's tag `Event`, or else `A study of` and the title of the game.
    #[serde(default)]
    title: String,
}

/// Creates a study.
#[utoipa::path(post, path = "/api/v1/studies", operation_id = "create_study", security(("account" = [])), request_body = NewStudy, responses(
    (status = 201, description = "The study; `/study/ID` shows it", body = Study),
    (status = 400, description = "The title is too long", body = Problem),
    (status = 404, description = "There is no such game", body = Problem),
    (status = 409, description = "The game is not over, or the account has 50 studies, the maximum", body = Problem),
    (status = 422, description = "The game or its presets cannot be loaded, the presets were changed during the game, or the PGN cannot be read: the message names the line", body = Problem),
))]
async fn create(
    web: Web,
    caller: Caller,
    account: Account,
    Body(new): Body<NewStudy>,
) -> Result<(StatusCode, Json<Study>), Problem> {
    web.admit(&caller, Cost::Game)?;
    let Beginning { title, setup, played, outline } = beginning(&web, new).await?;
    let Setup { game, presets, rules, fen, facts, sides, .. } = setup;
    let mut study = Study {
        id: new_id()?,
        title,
        owner: account.id(),
        game,
        presets,
        rules,
        fen,
        facts,
        sides,
        comment: String::new(),
        nodes: Vec::new(),
        next: 1,
    };
    if let Some(outline) = outline {
        study = web.host.with_outline(study, outline).await?;
    } else {
        let (_, all) = web.host.replayed(&study, played).await?;
        let mut after = 0;
        for played in &all {
            after = study.add(after, played)?;
        }
    }
    if study.title.is_empty() {
        let ruleset = web.host.ruleset(&study.rules, &study.game, &study.presets).await?;
        study.title = format!("A study of {}", ruleset.game().title);
    }
    add(&web, &study).await?;
    Ok((StatusCode::CREATED, Json(study)))
}

/// What a new study begins with.
struct Beginning {
    /// May be empty.
    title: String,
    setup: Setup,
    /// The actions of a hosted game.
    played: Vec<String>,
    /// The moves and comments of a PGN.
    outline: Option<Outline>,
}

/// What a request wants a study to begin with.
async fn beginning(web: &Web, new: NewStudy) -> Result<Beginning, Problem> {
    let NewStudy { of, pgn, game, presets, title } = new;
    if of.is_some() && pgn.is_some() {
        let message = "a study begins with `of` or with `pgn`: leave one of them out";
        return Err(Problem::unprocessable("bad_study", message));
    }
    let mut title = printable(&title, TITLE, "a title")?;
    match (of, pgn) {
        (Some(id), _) => {
            let log = web.host.log(&id).await?;
            // A study lists the legal moves, which would help a player while the game is under way.
            if !log.iter().any(|it| matches!(it.event, Event::Ended { .. })) {
                let message = "a game can be studied only when it is over";
                return Err(Problem::conflict("game_not_over", message));
            }
            let (setup, played) = setup_and_actions(&id, &log)?;
            Ok(Beginning { title, setup, played, outline: None })
        }
        (None, None) => {
            let setup = setup(web, None, game, presets).await?;
            Ok(Beginning { title, setup, played: Vec::new(), outline: None })
        }
        (None, Some(text)) => {
            let read = move || Outline::read(&text);
            let mut outline = web.host.pool.run(Lane::Work, read).await??;
            if title.is_empty() {
                title = outline.title.take().unwrap_or_default().chars().take(TITLE).collect();
                title = printable(&title, TITLE, "a title")?;
            }
            let origin = &mut outline.of;
            let presets = if presets.is_empty() { origin.presets.clone() } else { presets };
            let game = game.or_else(|| origin.game.clone());
            let setup = setup(web, origin.rules.take(), game, presets).await?;
            let setup = Setup { fen: origin.fen.take().or(setup.fen), ..setup };
            Ok(Beginning { title, setup, played: Vec::new(), outline: Some(outline) })
        }
    }
}

/// Adds a study to those of its owner.
///
/// # Errors
/// The owner has the maximum number of studies, or the store cannot be reached.
async fn add(web: &Web, study: &Study) -> Result<(), Problem> {
    let (id, owner, to) = (study.id.clone(), study.owner.clone(), Some(study.text()?));
    let listed = json!({ "title": study.title, "game": study.game }).to_string();
    let add = move |store: &mut dyn Store| {
        let count = next_count(store, made_key(&owner))?;
        if store.records(&list_key(&owner, ""), "", STUDIES)?.len() >= STUDIES {
            return Err(full(format!("you have {STUDIES} studies, the maximum: remove one")));
        }
        let list = Change { key: list_key(&owner, &id), from: None, to: Some(listed.clone()) };
        let study = Change { key: key(&id), from: None, to: to.clone() };
        Ok(((), vec![count, study, list]))
    };
    web.host.reads().edit(busy, add).await
}

/// Your studies.
#[utoipa::path(get, path = "/api/v1/studies", operation_id = "own_studies", security(("account" = [])), responses(
    (status = 200, description = "The studies of the account whose token is sent", body = Vec<ListedStudy>),
))]
async fn list(web: Web, account: Account) -> Reply<Vec<ListedStudy>> {
    let prefix = list_key(&account.id(), "");
    let list = move |store: &mut dyn Store| {
        let found = store.records(&prefix, "", STUDIES)?;
        let listed = |(key, text): (String, String)| {
            let id = key[prefix.len()..].to_owned();
            Some(ListedStudy { id, ..serde_json::from_str(&text).ok()? })
        };
        Ok(found.into_iter().filter_map(listed).collect())
    };
    Ok(Json(web.host.reads().ask(list).await?))
}

/// A study, for anyone with its link.
#[utoipa::path(get, path = "/api/v1/studies/{study}", operation_id = "study", params(("study" = String, Path, description = "The study")), responses(
    (status = 200, description = "The whole study", body = Study),
))]
async fn show(web: Web, Path(id): Path<String>) -> Reply<Study> {
    Ok(Json(study(&web, &id).await?))
}

/// A study as PGN, with its variations and comments.
#[utoipa::path(get, path = "/api/v1/studies/{study}/pgn", operation_id = "study_pgn", params(("study" = String, Path, description = "The study")), responses(
    (status = 200, description = "The text", body = String, content_type = "application/x-chess-pgn"),
    (status = 422, description = "Its game has more than two sides", body = Problem),
))]
async fn pgn(web: Web, Path(id): Path<String>) -> Result<Response, Problem> {
    let mut study = study(&web, &id).await?;
    if let Some(facts) = study.facts.take() {
        let Study { rules, game, presets, .. } = &study;
        let (fen, active) = web.host.start_of_facts(rules, game, presets, facts).await?;
        study.fen = Some(fen);
        if let Some(presets) = active {
            let comment = format!("{} {}", switch_comment(&presets), study.comment);
            study.comment = comment.trim_end().to_owned();
        }
    }
    Ok(super::games::pgn(&id, study_pgn::write(&study)?))
}

/// Removes a study.
#[utoipa::path(delete, path = "/api/v1/studies/{study}", operation_id = "remove_study", security(("account" = [])), params(("study" = String, Path, description = "The study")), responses(
    (status = 200, description = "It is removed: `study` is its id", body = Value),
    (status = 403, description = "Another account owns it", body = Problem),
))]
async fn remove(web: Web, account: Account, Path(id): Path<String>) -> Reply<Value> {
    let remove = move |store: &mut dyn Store| {
        let (text, study) = own(store, &id, &account)?;
        let list = list_key(&study.owner, &id);
        let listed = store.record(&list)?;
        let gone = vec![
            Change { key: key(&id), from: Some(text), to: None },
            Change { key: list, from: listed, to: None },
        ];
        Ok((Json(json!({ "study": id })), gone))
    };
    web.host.reads().edit(busy, remove).await
}

/// The position after an action of a study, or its start position for 0.
#[utoipa::path(get, path = "/api/v1/studies/{study}/nodes/{node}", operation_id = "study_position", params(("study" = String, Path, description = "The study"), ("node" = u32, Path, description = "The number of an action")), responses(
    (status = 200, description = "`position`, as in the state of a game, and `result` in words, if the game is over there", body = Value),
    (status = 400, description = "`node` is not a number", body = Problem),
    (status = 404, description = "There is no such study, or no such action in it", body = Problem),
))]
async fn position(web: Web, Path((id, node)): Path<(String, String)>) -> Reply<Value> {
    let node = number(&node)?;
    let study = study(&web, &id).await?;
    let (mut board, _) = web.host.replayed(&study, study.path(node)?).await?;
    let lane = web.host.slow_lane(&study.rules);
    let title = board.title_of(&study.game);
    let look = move || {
        let game = board.game_mut();
        let result = game.result().map(|it| it.reason.replace('_', " "));
        (game.view(), result)
    };
    let (position, result) = web.host.pool.run(lane, look).await?;
    Ok(Json(json!({ "node": node, "title": title, "position": position, "result": result })))
}

fn number(text: &str) -> Result<u32, Problem> {
    let bad = || Problem::bad("bad_node", format!("{text:.20} is not the number of an action"));
    text.parse().map_err(|_| bad())
}

/// Removes an action and all that follow it.
#[utoipa::path(delete, path = "/api/v1/studies/{study}/nodes/{node}", operation_id = "remove_from_study", security(("account" = [])), params(("study" = String, Path, description = "The study"), ("node" = u32, Path, description = "The number of an action")), responses(
    (status = 200, description = "The study without the removed actions", body = Study),
    (status = 400, description = "`node` is not a number", body = Problem),
    (status = 403, description = "Another account owns it", body = Problem),
    (status = 404, description = "There is no such study, or no such action in it", body = Problem),
))]
async fn cut(web: Web, account: Account, Path((id, node)): Path<(String, String)>) -> Reply<Study> {
    let node = number(&node)?;
    let (study, ()) = change(&web, account, id, move |study| study.remove(node)).await?;
    Ok(Json(study))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StudyMove {
    /// The number of the action that it follows; 0 for the start.
    after: u32,
    /// The action in UCI; SAN is accepted, too.
    uci: String,
}

/// A study after an action was added.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Added {
    study: Study,
    /// The number of the action, be it new or in the study already.
    node: u32,
}

/// Adds an action after another one, as a new variation if a different action follows there already.
#[utoipa::path(post, path = "/api/v1/studies/{study}/moves", operation_id = "study_move", security(("account" = [])), params(("study" = String, Path, description = "The study")), request_body = StudyMove, responses(
    (status = 200, description = "The study with the added action", body = Added),
    (status = 403, description = "Another account owns it", body = Problem),
    (status = 404, description = "There is no such study, or no such action in it", body = Problem),
    (status = 409, description = "The study is full", body = Problem),
    (status = 422, description = "Not legal there; `because` explains why", body = Problem),
))]
async fn play(
    web: Web,
    account: Account,
    Path(id): Path<String>,
    Body(StudyMove { after, uci }): Body<StudyMove>,
) -> Reply<Added> {
    let study = study(&web, &id).await?;
    let mut path = study.path(after)?;
    Study::check_depth(path.len())?;
    path.push(uci);
    check_owner(&study, &account)?;
    let (_, mut all) = web.host.replayed(&study, path).await?;
    let played = all.pop().ok_or_else(Problem::internal)?;
    let add = move |study: &mut Study| {
        // The action that it follows may have been removed meanwhile.
        study.path(after)?;
        study.add(after, &played)
    };
    let (study, node) = change(&web, account, id, add).await?;
    Ok(Json(Added { study, node }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StudyComment {
    /// The number of the action; 0 for the comment on the start position.
    node: u32,
    /// The comment, of at most 1,000 characters; an empty one removes it.
    text: String,
}

/// Sets the comment on the position after an action.
#[utoipa::path(post, path = "/api/v1/studies/{study}/comments", operation_id = "study_comment", security(("account" = [])), params(("study" = String, Path, description = "The study")), request_body = StudyComment, responses(
    (status = 200, description = "The study with the comment", body = Study),
    (status = 400, description = "The comment is too long", body = Problem),
    (status = 403, description = "Another account owns it", body = Problem),
    (status = 404, description = "There is no such study, or no such action in it", body = Problem),
    (status = 409, description = "The study is full", body = Problem),
))]
async fn comment(
    web: Web,
    account: Account,
    Path(id): Path<String>,
    Body(StudyComment { node, text }): Body<StudyComment>,
) -> Reply<Study> {
    let (study, ()) =
        change(&web, account, id, move |study| study.set_comment(node, &text)).await?;
    Ok(Json(study))
}

/// The setup of a study of a catalogue's game, by the rules with this hash if the server knows them, else by its own.
async fn setup(
    web: &Web,
    hash: Option<String>,
    game: Option<String>,
    presets: Vec<String>,
) -> Result<Setup, Problem> {
    let mut rules = web.host.library.own_hash();
    if let Some(hash) = hash
        && web.host.know_rules(&hash).await.is_ok()
    {
        rules = hash;
    }
    let game = game.unwrap_or_else(|| USUAL_GAME.to_owned());
    let ruleset = web.host.ruleset(&rules, &game, &presets).await?;
    let (game, sides) = (ruleset.game().name.clone(), ruleset.sides());
    let fen = ruleset.chosen_start().map(str::to_owned);
    Ok(Setup { game, sides, presets, fen, rules, ..Setup::default() })
}

/// The study of that id.
///
/// # Errors
/// There is no such study, or the store cannot be reached.
async fn study(web: &Web, id: &str) -> Result<Study, Problem> {
    let wanted = id.to_owned();
    let found = web.host.reads().ask(move |store| read(store, &wanted)).await?;
    found.map(|it| it.1).ok_or_else(|| no_study(id))
}

/// Changes a study, if the account owns it. Returns the study and the result of the edit.
async fn change<T: Send + 'static>(
    web: &Web,
    account: Account,
    id: String,
    edit: impl Fn(&mut Study) -> Result<T, Problem> + Send + 'static,
) -> Result<(Study, T), Problem> {
    let change = move |store: &mut dyn Store| {
        let (before, mut study) = own(store, &id, &account)?;
        let done = edit(&mut study)?;
        let to = Some(study.text()?);
        Ok(((study, done), vec![Change { key: key(&id), from: Some(before), to }]))
    };
    web.host.reads().edit(busy, change).await
}

/// The study of that id as the store has it, and what it says, if the account owns it.
fn own(store: &mut dyn Store, id: &str, account: &Account) -> Result<(String, Study), Problem> {
    let found = read(store, id)?.ok_or_else(|| no_study(id))?;
    check_owner(&found.1, account)?;
    Ok(found)
}

fn check_owner(study: &Study, account: &Account) -> Result<(), Problem> {
    if study.owner == account.id() {
        return Ok(());
    }
    let message = "only its owner may change a study";
    Err(Problem::forbidden("not_yours", message))
}

fn busy() -> Problem {
    let message = "this study is being changed by another request: try again";
    Problem::conflict("study_busy", message)
}
