//! Studies over HTTP: making one, reading it by its link, changing it as its owner.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::extract::Body;
use super::guard::Caller;
use crate::server::ProblemBody;
use crate::server::accounts::Account;
use crate::server::limit::Cost;
use crate::server::problem::Problem;
use crate::server::study::{Listed, Source};
use crate::server::study_pgn;
use crate::server::study_tree::Study;
use crate::server::web::Web;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewStudy {
    /// The id of a game that is over, to begin with what was played in it.
    of: Option<String>,
    /// Else a PGN, whose first game it begins with: its variations, comments and glyphs.
    pgn: Option<String>,
    /// Else the name of a game in the catalogue (chess if absent), to begin at its start. With a PGN, the
    /// game that its moves belong to, instead of what its tag `Variant` says.
    game: Option<String>,
    /// Presets on top of the game's own.
    #[serde(default)]
    presets: Vec<String>,
    /// If empty, the PGN's tag `Event`, or one that names the game.
    #[serde(default)]
    title: String,
}

/// Makes a study.
#[utoipa::path(post, path = "/api/v1/studies", operation_id = "create_study", security(("account" = [])), request_body = NewStudy, responses(
    (status = 201, description = "The study; `/study/ID` shows it", body = Study),
    (status = 401, description = "The token is not that of an account", body = ProblemBody),
    (status = 404, description = "There is no such game", body = ProblemBody),
    (status = 409, description = "The game is not over, or the account has 50 studies already, the maximum", body = ProblemBody),
    (status = 422, description = "The game and its presets do not work, or the PGN cannot be read: the message names the line", body = ProblemBody),
))]
pub(super) async fn create(
    State(web): State<Web>,
    caller: Caller,
    account: Account,
    Body(new): Body<NewStudy>,
) -> Result<(StatusCode, Json<Study>), Problem> {
    web.admit(&caller, Cost::Game)?;
    let NewStudy { of, pgn, game, presets, title } = new;
    let source = match (of, pgn) {
        (Some(_), Some(_)) => {
            let message = "a study begins with `of` or with `pgn`, not with both";
            return Err(Problem::unprocessable("bad_study", message));
        }
        (Some(id), None) => Source::Game(id),
        (None, Some(text)) => Source::Pgn { text, game, presets },
        (None, None) => Source::Start { game, presets },
    };
    let study = web.make_study(&account, &title, source).await?;
    Ok((StatusCode::CREATED, Json(study)))
}

/// Your studies.
#[utoipa::path(get, path = "/api/v1/studies", operation_id = "own_studies", security(("account" = [])), responses(
    (status = 200, description = "The studies of the account whose token is sent", body = Vec<Listed>),
    (status = 401, description = "The token is not that of an account", body = ProblemBody),
))]
pub(super) async fn list(
    State(web): State<Web>,
    account: Account,
) -> Result<Json<Vec<Listed>>, Problem> {
    Ok(Json(web.studies_of(&account).await?))
}

/// A study, for everyone with its link.
#[utoipa::path(get, path = "/api/v1/studies/{study}", operation_id = "study", params(("study" = String, Path, description = "The study")), responses(
    (status = 200, description = "The whole study", body = Study),
    (status = 404, description = "There is no such study", body = ProblemBody),
))]
pub(super) async fn show(
    State(web): State<Web>,
    Path(id): Path<String>,
) -> Result<Json<Study>, Problem> {
    Ok(Json(web.study(&id).await?))
}

/// A study as PGN, with its variations and comments.
#[utoipa::path(get, path = "/api/v1/studies/{study}/pgn", operation_id = "study_pgn", params(("study" = String, Path, description = "The study")), responses(
    (status = 200, description = "The text", body = String),
    (status = 404, description = "There is no such study", body = ProblemBody),
    (status = 422, description = "Its game has more than two sides", body = ProblemBody),
))]
pub(super) async fn pgn(
    State(web): State<Web>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let study = web.study(&id).await?;
    Ok(super::games::pgn(&id, study_pgn::write(&study)?))
}

/// Removes a study.
#[utoipa::path(delete, path = "/api/v1/studies/{study}", operation_id = "remove_study", security(("account" = [])), params(("study" = String, Path, description = "The study")), responses(
    (status = 200, description = "It is removed: `study` is its id", body = Value),
    (status = 401, description = "The token is not that of an account", body = ProblemBody),
    (status = 403, description = "Another account owns it", body = ProblemBody),
    (status = 404, description = "There is no such study", body = ProblemBody),
))]
pub(super) async fn remove(
    State(web): State<Web>,
    account: Account,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    web.drop_study(&account, &id).await?;
    Ok(Json(json!({ "study": id })))
}

/// The position after an action of a study; 0 is that of its start.
#[utoipa::path(get, path = "/api/v1/studies/{study}/nodes/{node}", operation_id = "study_position", params(("study" = String, Path, description = "The study"), ("node" = u32, Path, description = "The number of an action")), responses(
    (status = 200, description = "`position`, as in the state of a game, and `result` in words, if the game is over there", body = Value),
    (status = 404, description = "There is no such study, or no such action in it", body = ProblemBody),
))]
pub(super) async fn position(
    State(web): State<Web>,
    Path((id, node)): Path<(String, String)>,
) -> Result<Json<Value>, Problem> {
    Ok(Json(web.study_position(&id, number(&node)?).await?))
}

fn number(text: &str) -> Result<u32, Problem> {
    let bad = || Problem::bad("bad_node", format!("{text:.20} is not the number of an action"));
    text.parse().map_err(|_| bad())
}

/// Removes an action, with all that follows it.
#[utoipa::path(delete, path = "/api/v1/studies/{study}/nodes/{node}", operation_id = "remove_from_study", security(("account" = [])), params(("study" = String, Path, description = "The study"), ("node" = u32, Path, description = "The number of an action")), responses(
    (status = 200, description = "The study without the removed actions", body = Study),
    (status = 401, description = "The token is not that of an account", body = ProblemBody),
    (status = 403, description = "Another account owns it", body = ProblemBody),
    (status = 404, description = "There is no such study, or no such action in it", body = ProblemBody),
))]
pub(super) async fn cut(
    State(web): State<Web>,
    account: Account,
    Path((id, node)): Path<(String, String)>,
) -> Result<Json<Study>, Problem> {
    Ok(Json(web.study_remove(&account, &id, number(&node)?).await?))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StudyMove {
    /// The number of the action that it follows; 0 for the start.
    after: u32,
    /// In UCI or SAN.
    uci: String,
}

/// A study after an action was added.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Added {
    study: Study,
    /// The number of the action, whether it is new or was there already.
    node: u32,
}

/// Plays an action after another one: a new variation, if something else was played there.
#[utoipa::path(post, path = "/api/v1/studies/{study}/moves", operation_id = "study_move", security(("account" = [])), params(("study" = String, Path, description = "The study")), request_body = StudyMove, responses(
    (status = 200, description = "The study with the added action", body = Added),
    (status = 401, description = "The token is not that of an account", body = ProblemBody),
    (status = 403, description = "Another account owns it", body = ProblemBody),
    (status = 404, description = "There is no such study, or no such action in it", body = ProblemBody),
    (status = 409, description = "The study is full", body = ProblemBody),
    (status = 422, description = "Not legal there; `because` explains why", body = ProblemBody),
))]
pub(super) async fn play(
    State(web): State<Web>,
    account: Account,
    Path(id): Path<String>,
    Body(StudyMove { after, uci }): Body<StudyMove>,
) -> Result<Json<Added>, Problem> {
    let (study, node) = web.study_move(&account, &id, after, uci).await?;
    Ok(Json(Added { study, node }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StudyComment {
    /// The number of the action that it is about; 0 for the start.
    node: u32,
    /// The comment, of at most 1,000 characters; an empty one removes it.
    text: String,
}

/// Sets the comment on the position after an action.
#[utoipa::path(post, path = "/api/v1/studies/{study}/comments", operation_id = "study_comment", security(("account" = [])), params(("study" = String, Path, description = "The study")), request_body = StudyComment, responses(
    (status = 200, description = "The study with the comment", body = Study),
    (status = 400, description = "It is too long", body = ProblemBody),
    (status = 401, description = "The token is not that of an account", body = ProblemBody),
    (status = 403, description = "Another account owns it", body = ProblemBody),
    (status = 404, description = "There is no such study, or no such action in it", body = ProblemBody),
    (status = 409, description = "The study is full", body = ProblemBody),
))]
pub(super) async fn comment(
    State(web): State<Web>,
    account: Account,
    Path(id): Path<String>,
    Body(StudyComment { node, text }): Body<StudyComment>,
) -> Result<Json<Study>, Problem> {
    Ok(Json(web.study_comment(&account, &id, node, text).await?))
}
