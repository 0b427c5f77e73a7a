//! The catalogue over HTTP: games, presets, whether they fit together, and uploaded rules.

use axum::Json;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Body, Query};
use super::guard::Caller;
use super::requests::{CatalogueQuery, Combination, Upload};
use super::uploads::{Owner, RULE_SETS, too_many};
use super::{Reply, USUAL_GAME};
use crate::presets::{Activation, Catalogue, GameEntry, PresetEntry, preset_of};
use crate::server::compiler::load_problem;
use crate::server::library::Texts;
use crate::server::limit::Cost;
use crate::server::problem::Problem;
use crate::server::web::Web;

/// The endpoints of this file.
pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(catalogue))
        .routes(routes!(check_presets))
        .routes(routes!(upload))
}

/// Everything that games can be made of.
#[utoipa::path(get, path = "/api/v1/catalogue", params(CatalogueQuery), responses(
    (status = 200, description = "`games` and `presets`, and the id of the `rules` that they come from", body = Value),
    (status = 422, description = "There are no such rules", body = Problem),
))]
async fn catalogue(web: Web, Query(query): Query<CatalogueQuery>) -> Reply<Value> {
    let hash = query.rules.unwrap_or_else(|| web.host.library.own_hash());
    web.host.know_rules(&hash).await?;
    let unknown = || Problem::unprocessable("no_such_rules", "there are no such rules");
    let catalogue = web.host.library.catalogue(&hash).ok_or_else(unknown)?;
    Ok(Json(json!({ "rules": hash, "games": games(&catalogue), "presets": presets(&catalogue) })))
}

fn games(catalogue: &Catalogue) -> Vec<Value> {
    let presets = catalogue.presets();
    let named = |activation: &str| presets.iter().find(|it| it.preset == preset_of(activation));
    let entry = |game: &GameEntry| {
        let about: Vec<&str> =
            game.uses.iter().filter_map(|it| named(it)).map(|it| it.description.as_str()).collect();
        json!({
            "game": game.name,
            "title": game.title,
            "description": game.description,
            "aliases": game.aliases,
            "start": game.start,
            "uses": game.uses,
            "about": about,
            "numbered": game.numbered.as_ref().map(|it| json!({ "option": it.option, "default": it.default })),
        })
    };
    catalogue.games().iter().map(entry).collect()
}

fn presets(catalogue: &Catalogue) -> Vec<Value> {
    let entry = |it: &PresetEntry| {
        let options: Vec<String> = catalogue.notes_of(&it.preset, "option");
        let not_with = it.incompatible.iter().map(|it| json!({ "preset": it.0, "reason": it.1 }));
        json!({
            "preset": it.preset,
            "name": it.name,
            "description": it.description,
            "options": options,
            "requires": it.requires,
            "incompatible": not_with.collect::<Vec<Value>>(),
        })
    };
    catalogue.presets().iter().map(entry).collect()
}

/// Checks whether a game can be played with presets, before it is created.
#[utoipa::path(post, path = "/api/v1/presets/check", request_body = Combination, responses(
    (status = 200, description = "It can: the presets that are `active`, in full, and the names of the `sides`; the `position` that it starts from, and its `facts` as text; `fields` are those that a FEN of it may have at its end; `diagrams`, if they were asked for, of each kind of piece; `conflicts` are what two presets both say, and which one holds", body = Value),
    (status = 422, description = "It cannot; the message says why", body = Problem),
))]
async fn check_presets(web: Web, caller: Caller, Body(wanted): Body<Combination>) -> Reply<Value> {
    web.admit(&caller, Cost::Compiling)?;
    let hash = wanted.rules.unwrap_or_else(|| web.host.library.own_hash());
    let added: &[String] = if wanted.exactly { &[] } else { &wanted.presets };
    let (ruleset, catalogue) = web.host.rules_of(&hash, &wanted.game, added).await?;
    let sides = ruleset.sides();
    let look = move || -> Reply<Value> {
        let facts = wanted.facts.as_ref().map(ToString::to_string);
        let game = match &facts {
            Some(facts) => catalogue.resume_text(&ruleset, facts).map(|it| it.1),
            None => ruleset.start(wanted.fen.as_deref()),
        };
        let mut game = game.map_err(|it| Problem::unprocessable("bad_position", it.to_string()))?;
        if wanted.exactly {
            let set = catalogue.set_active(&ruleset, &mut game, &wanted.presets);
            set.map_err(|it| Problem::unprocessable("rules_refuse", it.to_string()))?;
        }
        let diagrams = wanted.diagrams.then(|| ruleset.diagrams());
        let fields = game.fen_fields();
        Ok(Json(json!({
            "active": Activation::texts(&Catalogue::active(&game)), "sides": sides,
            "conflicts": Catalogue::conflicts(&mut game), "position": game.view(),
            "facts": game.to_json(), "diagrams": diagrams, "fields": fields,
        })))
    };
    web.host.pool.run(web.host.slow_lane(&hash), look).await?
}

/// The result of an upload.
#[derive(Debug, serde::Serialize, ToSchema)]
pub(super) struct Uploaded {
    /// Whether nothing is wrong. Files that belong to no game or preset that is compiled here, such as a layout by
    /// itself, are not checked, only their `.meta` lines.
    ok: bool,
    /// What is wrong, each with `code` and `message`; with `file`, `line`, `column` and `help`, too, if it is a mistake
    /// in the text of the rules.
    diagnostics: Value,
    /// The name of the game or preset that the text defines.
    name: Option<String>,
    /// A game that can be played with the rules, together with these `presets`; none if something is wrong.
    game: Option<String>,
    presets: Vec<String>,
    /// The id to make games with, if the rules were kept.
    rules: Option<String>,
}

/// Checks uploaded rule text, and keeps it on request, for the account whose token is sent, else for the network
/// that it comes from. A file with `.meta game` is a game, one with `.meta preset` a preset for games. A preset is
/// checked with what it requires, on top of chess, or of the first game of the family that it is made for.
#[utoipa::path(post, path = "/api/v1/rules", request_body = Upload, responses(
    (status = 200, description = "The findings; rules with mistakes are not stored", body = Uploaded),
    (status = 401, description = "A token was sent, and is not that of an account", body = Problem),
    (status = 403, description = "This server takes no rules from outside", body = Problem),
    (status = 409, description = "You keep 20 rule sets already, the maximum", body = Problem),
))]
async fn upload(
    web: Web,
    caller: Caller,
    Owner(owner): Owner,
    Body(upload): Body<Upload>,
) -> Reply<Uploaded> {
    if !web.host.config.uploads {
        let message = "this server takes no rules from outside: it was started without --uploads";
        return Err(Problem::forbidden("uploads_off", message));
    }
    web.admit(&caller, Cost::Compiling)?;
    let included = upload.included.into_iter().map(|it| (path(&it.path), it.text));
    let texts = Texts {
        base: Some(web.host.library.own_hash()),
        files: included.chain([(path(&upload.path), upload.text)]).collect(),
        trusted: false,
    };
    let checked = web.host.check_rules(texts.clone()).await?;
    let ok = checked.is_ok();
    let (Fitting { name, game, presets }, diagnostics) = match checked {
        Ok(fitting) => (fitting, json!([])),
        Err(problem) => (Fitting::default(), findings(problem)?),
    };
    let rules = if ok && upload.keep {
        let kept = web.host.keep_rules(texts, owner, name.clone(), RULE_SETS).await?;
        Some(kept.ok_or_else(too_many)?)
    } else {
        None
    };
    Ok(Json(Uploaded { ok, diagnostics, name, game, presets, rules }))
}

/// What is wrong with the rules, as `diagnostics`.
///
/// # Errors
/// The problem itself if the rules are not the cause: the server has no room for their program.
fn findings(problem: Problem) -> Result<Value, Problem> {
    if problem.status.is_server_error() {
        return Err(problem);
    }
    let found = problem.more.as_ref().map(|it| it["diagnostics"].clone());
    Ok(found.unwrap_or_else(|| json!([{ "code": problem.code, "message": problem.message }])))
}

/// Maximum number of parts of the path of an uploaded file: its folders and its name. Further parts are left out.
const PARTS: usize = 4;
/// Maximum number of characters of one part. Further characters are left out.
const PART: usize = 64;

/// The path of an uploaded file: in a folder of its own, so that it replaces no file of this package.
fn path(name: &str) -> String {
    let plain = |it: &char| it.is_ascii_alphanumeric() || "-_.".contains(*it);
    let part = |it: &str| it.chars().filter(plain).take(PART).collect::<String>();
    // Included files may be in folders, but not above the upload's.
    let parts = name.split('/').map(part).filter(|it| !it.is_empty() && it != "." && it != "..");
    let parts: Vec<String> = parts.take(PARTS).collect();
    format!("upload/{}", parts.join("/"))
}

/// What a game of an upload that compiles is made of.
#[derive(Debug, Default)]
pub(in crate::server) struct Fitting {
    /// The name of the uploaded game or preset.
    name: Option<String>,
    game: Option<String>,
    presets: Vec<String>,
}

/// Compiles the uploaded game. An uploaded preset is compiled with the presets that it requires, on a game that fits it;
/// other files with [`USUAL_GAME`].
pub(in crate::server) fn fit(catalogue: &Catalogue, files: &Texts) -> Result<Fitting, Problem> {
    let is_uploaded = |path: &str| files.files.iter().any(|it| it.0 == path);
    if let Some(game) = catalogue.games().iter().find(|it| is_uploaded(catalogue.path_of(it))) {
        catalogue.load::<&str>(&game.name, &[]).map_err(|it| load_problem(&it))?;
        let name = Some(game.name.clone());
        return Ok(Fitting { game: name.clone(), name, presets: Vec::new() });
    }
    let preset = catalogue.presets().iter().find(|it| is_uploaded(catalogue.path_of_preset(it)));
    let base = preset.map_or(USUAL_GAME, |it| catalogue.game_for(it, USUAL_GAME));
    let name = preset.map(|it| it.preset.clone());
    let presets = catalogue.with_required(name.as_slice());
    catalogue.load(base, &presets).map_err(|it| load_problem(&it))?;
    Ok(Fitting { name, game: Some(base.to_owned()), presets })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets::LoadError;

    #[test]
    fn lack_of_room_is_no_mistake_in_rules() {
        let full = findings(load_problem(&LoadError::Full { bytes: 1 << 30 }));
        assert!(full.is_err_and(|it| it.code == "rules_full"));
        let unknown = LoadError::Game { name: "ches".into(), near: None };
        let found = findings(load_problem(&unknown)).unwrap_or_default();
        assert_eq!(found[0]["code"], "no_such_game_name");
    }
}
