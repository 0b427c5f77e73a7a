//! Accounts over HTTP: creating them, logging devices in and out, their games, profiles, blocks and reports.

use axum::Json;
use axum::extract::{FromRequestParts, OptionalFromRequestParts, Path};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Reply;
use super::extract::{Body, Query, bearer};
use super::guard::Caller;
use crate::server::accounts::{
    Account, AccountRecord, COMPUTER, DEVICES, Device, Entrance, Own, OwnDevice, RESERVED, by_name,
    by_token, device_id, device_key, hash_of_code, is_bot, new_device, removal, stored, text,
    too_old, user_key, wrong_code,
};
use crate::server::core::{TokenHash, constant_time_eq};
use crate::server::ids::{ID_LETTERS, new_token};
use crate::server::limit::Cost;
use crate::server::moderation::{REPORT_LENGTH, Report, reporting};
use crate::server::pool::Lane;
use crate::server::problem::Problem;
use crate::server::rating::{self, Rating, Settled};
use crate::server::store::{Change, GameState, Store, Summary};
use crate::server::web::Web;

/// Maximum number of games in a list of an account's games.
const GAMES: usize = 100;

/// The endpoints of this file.
pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(create))
        .routes(routes!(log_in))
        .routes(routes!(show))
        .routes(routes!(renew))
        .routes(routes!(log_out))
        .routes(routes!(games))
        .routes(routes!(player))
        .routes(routes!(settled))
        .routes(routes!(block, blocks))
        .routes(routes!(unblock))
        .routes(routes!(report))
}

impl FromRequestParts<Web> for Account {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Problem> {
        let missing = "this needs an account's token: send it as `Authorization: Bearer TOKEN`";
        let none = || Problem::unauthorized("token_missing", missing);
        let token = bearer(parts).ok_or_else(none)?;
        if let Some(account) = web.account_of(token).await? {
            return Ok(account);
        }
        // The token of an account that an earlier version made lacks the prefix by which `account_of` knows tokens.
        let hash = TokenHash::of(token);
        let found = web.host.reads().ask(move |store| by_token(store, &hash)).await?;
        found.ok_or_else(|| Problem::unauthorized("token_wrong", "no account has this token"))
    }
}

impl OptionalFromRequestParts<Web> for Account {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Option<Self>, Problem> {
        match bearer(parts) {
            None => Ok(None),
            // The token of a guest's seat belongs to no account.
            Some(token) => web.account_of(token).await,
        }
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewAccount {
    /// 2 to 20 letters, digits, `-` or `_`.
    name: String,
    /// The name of this device in the list of devices.
    device: Option<String>,
}

/// Creates an account. Its token and its recovery codes are returned only this once.
#[utoipa::path(post, path = "/api/v1/accounts", operation_id = "create_account", request_body = NewAccount, responses(
    (status = 201, description = "The token of this device, and recovery `codes` for others", body = Entrance),
    (status = 409, description = "The name is taken", body = Problem),
    (status = 422, description = "The name is not allowed", body = Problem),
    (status = 429, description = "Too many accounts from your address", body = Problem),
))]
async fn create(
    web: Web,
    caller: Caller,
    Body(NewAccount { name, device }): Body<NewAccount>,
) -> Result<(StatusCode, Json<Entrance>), Problem> {
    web.admit(&caller, Cost::Account)?;
    let id = id_of_new(&name)?;
    let salt = new_token()?;
    let (codes, hashes) = web.new_codes(&salt).await?;
    let (token, device) = new_device(device, web.host.now())?;
    let since = web.host.now();
    let token_key = device_key(&device.token);
    let record = AccountRecord {
        name: name.clone(),
        since,
        bot: false,
        salt,
        codes: hashes,
        devices: vec![device],
    };
    let make = move |store: &mut dyn Store| {
        // Accounts of earlier versions are among the texts of the store, not among its records.
        let is_taken = store.text(&format!("user-{id}"))?.is_some();
        let all = [
            Change { key: user_key(&id), from: None, to: Some(text(&record)) },
            Change { key: token_key, from: None, to: Some(id) },
        ];
        if is_taken || !store.change(&all)? {
            return Err(Problem::conflict("name_taken", "the name is taken"));
        }
        Ok(())
    };
    web.host.reads().request(make).await?;
    let entrance = Entrance { name, token, codes_left: codes.len(), codes };
    Ok((StatusCode::CREATED, Json(entrance)))
}

/// The id of an account that is to have this name.
///
/// # Errors
/// The name is not allowed.
fn id_of_new(name: &str) -> Result<String, Problem> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    if !name.chars().all(is_plain) || !(2..=20).contains(&name.len()) {
        let message = "a name must have 2 to 20 letters, digits, - or _";
        return Err(Problem::unprocessable("bad_name", message));
    }
    let id = name.to_ascii_lowercase();
    if RESERVED.contains(&id.as_str()) || id.starts_with(COMPUTER) {
        let message = format!("the name {name} is reserved: choose another one");
        return Err(Problem::unprocessable("bad_name", message));
    }
    Ok(id)
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Login {
    /// The name of the account.
    name: String,
    /// One of its recovery codes; it is used up by this.
    code: String,
    /// The name of this device in the list of devices.
    device: Option<String>,
}

/// Logs another device in, by a recovery code.
#[utoipa::path(post, path = "/api/v1/login", operation_id = "log_in", request_body = Login, responses(
    (status = 200, description = "The token of this device", body = Entrance),
    (status = 401, description = "No account of this name has this code", body = Problem),
    (status = 429, description = "Too many tries from your address", body = Problem),
))]
async fn log_in(
    web: Web,
    caller: Caller,
    Body(Login { name, code, device }): Body<Login>,
) -> Reply<Entrance> {
    web.admit(&caller, Cost::Sensitive)?;
    let id = name.to_ascii_lowercase();
    let user = id.clone();
    let found = web.host.reads().ask(move |store| stored(store, &user)).await?;
    let (_, known) = found.ok_or_else(wrong_code)?;
    let code = code.chars().filter(char::is_ascii_alphanumeric);
    let code: String = code.map(|it| it.to_ascii_lowercase()).collect();
    // Recovery codes are made as ids are, with hyphens for readers.
    if code.len() != ID_LETTERS {
        return Err(wrong_code());
    }
    let salt = known.salt.clone();
    let hash = move || hash_of_code(&code, &salt);
    let hash = web.host.pool.run(Lane::Work, hash).await?.ok_or_else(Problem::internal)?;
    let (token, device) = new_device(device, web.host.now())?;
    let enter = move |record: &mut AccountRecord, changes: &mut Vec<Change>, id: &str| {
        let at = record
            .codes
            .iter()
            .position(|it| constant_time_eq(it, &hash))
            .ok_or_else(wrong_code)?;
        record.codes.remove(at);
        while record.devices.len() >= DEVICES {
            // The oldest device is logged out: it is no longer in use, or can log in again.
            let old = record.devices.remove(0);
            changes.push(removal(&old, id));
        }
        let key = device_key(&device.token);
        changes.push(Change { key, from: None, to: Some(id.to_owned()) });
        record.devices.push(device.clone());
        Ok(record.codes.len())
    };
    let codes_left = web.change_account(&id, enter).await?;
    Ok(Json(Entrance { name: known.name, token, codes: Vec::new(), codes_left }))
}

/// Your account: its devices, and the number of recovery codes that are left.
#[utoipa::path(get, path = "/api/v1/account", operation_id = "own_account", security(("account" = [])), responses(
    (status = 200, description = "The account whose token is sent", body = Own),
))]
async fn show(web: Web, account: Account) -> Reply<Own> {
    let id = account.id();
    let user = id.clone();
    let found = web.host.reads().ask(move |store| stored(store, &user)).await?;
    let (_, record) = found.ok_or_else(too_old)?;
    let this = account.device.as_ref().map(TokenHash::text);
    let devices = record.devices.into_iter().map(|it| OwnDevice {
        id: device_id(&it.token).to_owned(),
        this: this == Some(it.token.as_str()),
        label: it.label,
        since: it.since,
    });
    Ok(Json(Own {
        id,
        name: record.name,
        since: record.since,
        devices: devices.collect(),
        codes_left: record.codes.len(),
    }))
}

/// Recovery codes.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Codes {
    /// Each is good for one log-in. They are not returned again.
    codes: Vec<String>,
}

/// New recovery codes; the previous ones become invalid.
#[utoipa::path(post, path = "/api/v1/account/codes", operation_id = "renew_codes", security(("account" = [])), responses(
    (status = 200, description = "The new codes", body = Codes),
))]
async fn renew(web: Web, caller: Caller, account: Account) -> Reply<Codes> {
    web.admit(&caller, Cost::Sensitive)?;
    let salt = new_token()?;
    let (codes, hashes) = web.new_codes(&salt).await?;
    let renew = move |record: &mut AccountRecord, _: &mut Vec<Change>, _: &str| {
        (record.salt, record.codes) = (salt.clone(), hashes.clone());
        Ok(())
    };
    web.change_account(&account.id(), renew).await?;
    Ok(Json(Codes { codes }))
}

/// The number of devices that are left.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Left {
    devices: usize,
}

/// Logs a device out: its token becomes invalid. `this` is the device that sends the request.
#[utoipa::path(delete, path = "/api/v1/account/devices/{device}", operation_id = "log_out", security(("account" = [])), params(("device" = String, Path, description = "The id of a device, or `this`")), responses(
    (status = 200, description = "The number of devices that are left", body = Left),
    (status = 404, description = "The account has no such device", body = Problem),
))]
async fn log_out(web: Web, account: Account, Path(device): Path<String>) -> Reply<Left> {
    let own = account.device.as_ref().map(|it| device_id(it.text()).to_owned());
    let wanted = if device == "this" { own } else { Some(device) };
    let leave = move |record: &mut AccountRecord, changes: &mut Vec<Change>, id: &str| {
        let is_wanted = |it: &Device| Some(device_id(&it.token)) == wanted.as_deref();
        let none = || {
            let message = "the account has no such device: GET /api/v1/account lists them";
            Problem::not_found("no_such_device", message)
        };
        let at = record.devices.iter().position(is_wanted).ok_or_else(none)?;
        changes.push(removal(&record.devices.remove(at), id));
        Ok(record.devices.len())
    };
    Ok(Json(Left { devices: web.change_account(&account.id(), leave).await? }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct OwnGames {
    /// Only games in this state: of the last 1,000 that there are before `before`.
    state: Option<GameState>,
    /// The maximum number of games in the answer: 100 if absent, 1 to 100.
    limit: Option<usize>,
    /// Only games that were joined before this one: the id of the last one of the page before.
    before: Option<String>,
}

/// The games that your account has a seat in, the newest first; any of its devices can play them.
#[utoipa::path(get, path = "/api/v1/account/games", operation_id = "own_games", security(("account" = [])), params(OwnGames), responses(
    (status = 200, description = "Those that were joined last; without `state`, a page that is not full is the last one", body = Vec<Summary>),
))]
async fn games(
    web: Web,
    account: Account,
    Query(OwnGames { state, limit, before }): Query<OwnGames>,
) -> Reply<Vec<Summary>> {
    let limit = limit.unwrap_or(GAMES).clamp(1, GAMES);
    Ok(Json(web.games_of(&account.id(), state, before, limit).await?))
}

/// A player to block.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Blocking {
    /// The name of an account.
    name: String,
}

/// Blocks an account: it cannot join your games or challenge you.
#[utoipa::path(post, path = "/api/v1/account/blocks", operation_id = "block", security(("account" = [])), request_body = Blocking, responses(
    (status = 200, description = "The ids of all accounts that you block", body = Vec<String>),
    (status = 404, description = "There is no such account", body = Problem),
    (status = 409, description = "The account is your own, or you block 200 accounts already, the maximum", body = Problem),
))]
async fn block(
    web: Web,
    account: Account,
    Body(Blocking { name }): Body<Blocking>,
) -> Reply<Vec<String>> {
    Ok(Json(web.block(&account, &name, true).await?))
}

/// The accounts that you block.
#[utoipa::path(get, path = "/api/v1/account/blocks", operation_id = "blocks", security(("account" = [])), responses(
    (status = 200, description = "Their ids", body = Vec<String>),
))]
async fn blocks(web: Web, account: Account) -> Reply<Vec<String>> {
    Ok(Json(web.blocked(&account).await?))
}

/// Unblocks an account.
#[utoipa::path(delete, path = "/api/v1/account/blocks/{name}", operation_id = "unblock", security(("account" = [])), params(("name" = String, Path, description = "The name of an account")), responses(
    (status = 200, description = "The ids of all accounts that you block", body = Vec<String>),
    (status = 404, description = "There is no such account", body = Problem),
))]
async fn unblock(web: Web, account: Account, Path(name): Path<String>) -> Reply<Vec<String>> {
    Ok(Json(web.block(&account, &name, false).await?))
}

/// A report about a game.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Reporting {
    /// At most 500 characters.
    text: String,
}

/// The answer to a report.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Reported {
    ok: bool,
}

/// Reports a game, or its chat, to the operators of the server.
#[utoipa::path(post, path = "/api/v1/games/{id}/report", operation_id = "report", params(("id" = String, Path, description = "The game")), request_body = Reporting, responses(
    (status = 200, description = "The report is stored for a moderator; only your last report of a game counts", body = Reported),
    (status = 400, description = "The report is empty or too long", body = Problem),
    (status = 429, description = "Too many reports from your address", body = Problem),
    (status = 503, description = "Too many reports wait for a moderator", body = Problem),
))]
async fn report(
    web: Web,
    Path(id): Path<String>,
    caller: Caller,
    account: Option<Account>,
    Body(Reporting { text }): Body<Reporting>,
) -> Reply<Reported> {
    web.admit(&caller, Cost::Sensitive)?;
    let network = caller.0.map_or_else(String::new, |it| it.to_string());
    // A report is one line: its line ends become spaces, as all control characters do.
    let text = text.trim().replace(char::is_control, " ");
    if text.is_empty() || text.chars().count() > REPORT_LENGTH {
        let message =
            format!("a report must say what is wrong, in {REPORT_LENGTH} characters at most");
        return Err(Problem::bad("bad_report", message));
    }
    // Guests are told apart by a hash of the game and their network, so that no address is stored.
    let by = account.map(|it| it.id());
    let who = by.clone().unwrap_or_else(|| {
        let hash = blake3::hash(format!("{id} {network}").as_bytes()).to_hex();
        format!("~{}", &hash.as_str()[..12])
    });
    // The key of the record says which game it is.
    let report = Report { game: String::new(), at: web.host.now(), by, text };
    let keep = move |store: &mut dyn Store| {
        if store.summary(&id)?.is_none() {
            return Err(Problem::no_game(&id));
        }
        Ok((Json(Reported { ok: true }), reporting(store, &id, &who, &report)?))
    };
    web.host.reads().edit(Problem::unavailable, keep).await
}

/// The public view of an account.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Player {
    id: String,
    name: String,
    /// `BOT` for accounts that programs play for.
    title: Option<String>,
    /// For each rule set that the player has played rated games by.
    ratings: Vec<Rating>,
}

/// The public profile of a player.
#[utoipa::path(get, path = "/api/v1/users/{name}", operation_id = "player", params(("name" = String, Path, description = "The name of an account")), responses(
    (status = 200, description = "The player", body = Player),
    (status = 404, description = "There is no such account", body = Problem),
))]
async fn player(web: Web, Path(name): Path<String>) -> Reply<Player> {
    let now = web.host.now();
    let find = move |store: &mut dyn Store| {
        let account = by_name(store, &name)?.ok_or_else(|| no_user(&name))?;
        let title = is_bot(store, &account.id())?.then(|| "BOT".to_owned());
        let ratings = rating::of(store, &account.id(), now)?;
        Ok(Json(Player { id: account.id(), name: account.name, title, ratings }))
    };
    web.host.reads().request(find).await
}

/// How a rated game changed the ratings of its players.
#[utoipa::path(get, path = "/api/v1/games/{id}/rating", operation_id = "game_rating", params(("id" = String, Path, description = "The game")), responses(
    (status = 200, description = "The ratings before and after it", body = Settled),
    (status = 404, description = "The game is not rated, or not over, or its end is not counted yet", body = Problem),
))]
async fn settled(web: Web, Path(id): Path<String>) -> Reply<Settled> {
    let find = move |store: &mut dyn Store| {
        if store.summary(&id)?.is_none() {
            return Err(Problem::no_game(&id));
        }
        let message =
            "the game has changed no ratings: it is not rated, or not over, or not counted yet";
        let found = rating::settled(store, &id)?;
        found.map(Json).ok_or_else(|| Problem::not_found("not_settled", message))
    };
    web.host.reads().request(find).await
}

/// The problem that there is no account of that name.
pub(in crate::server) fn no_user(name: &str) -> Problem {
    Problem::not_found("no_such_user", format!("there is no user {name:.40}"))
}
