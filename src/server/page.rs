//! The web page: a few embedded files and the documentation of the rule language, without a build chain or
//! external resources.

use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::web::Web;

/// Path, content type, text.
const FILES: &[(&str, &str, &str)] = &[
    ("/page/style.css", STYLE, include_str!("page/style.css")),
    ("/page/board.css", STYLE, include_str!("page/board.css")),
    ("/page/about.js", SCRIPT, include_str!("page/about.js")),
    ("/page/account.js", SCRIPT, include_str!("page/account.js")),
    ("/page/acts.js", SCRIPT, include_str!("page/acts.js")),
    ("/page/advice.js", SCRIPT, include_str!("page/advice.js")),
    ("/page/api.js", SCRIPT, include_str!("page/api.js")),
    ("/page/app.js", SCRIPT, include_str!("page/app.js")),
    ("/page/arrows.js", SCRIPT, include_str!("page/arrows.js")),
    ("/page/board.js", SCRIPT, include_str!("page/board.js")),
    ("/page/chat.js", SCRIPT, include_str!("page/chat.js")),
    ("/page/choose.js", SCRIPT, include_str!("page/choose.js")),
    ("/page/diagrams.js", SCRIPT, include_str!("page/diagrams.js")),
    ("/page/dom.js", SCRIPT, include_str!("page/dom.js")),
    ("/page/editor.js", SCRIPT, include_str!("page/editor.js")),
    ("/page/embed.js", SCRIPT, include_str!("page/embed.js")),
    ("/page/form.js", SCRIPT, include_str!("page/form.js")),
    ("/page/game.js", SCRIPT, include_str!("page/game.js")),
    ("/page/games.js", SCRIPT, include_str!("page/games.js")),
    ("/page/geometry.js", SCRIPT, include_str!("page/geometry.js")),
    ("/page/loadout.js", SCRIPT, include_str!("page/loadout.js")),
    ("/page/lobby.js", SCRIPT, include_str!("page/lobby.js")),
    ("/page/moves.js", SCRIPT, include_str!("page/moves.js")),
    ("/page/notice.js", SCRIPT, include_str!("page/notice.js")),
    ("/page/pieces.js", SCRIPT, include_str!("page/pieces.js")),
    ("/page/pointer.js", SCRIPT, include_str!("page/pointer.js")),
    ("/page/presets.js", SCRIPT, include_str!("page/presets.js")),
    ("/page/rules.js", SCRIPT, include_str!("page/rules.js")),
    ("/page/seats.js", SCRIPT, include_str!("page/seats.js")),
    ("/page/settings.js", SCRIPT, include_str!("page/settings.js")),
    ("/page/shapes.js", SCRIPT, include_str!("page/shapes.js")),
    ("/page/sound.js", SCRIPT, include_str!("page/sound.js")),
    ("/page/study.js", SCRIPT, include_str!("page/study.js")),
    ("/page/sync.js", SCRIPT, include_str!("page/sync.js")),
    ("/page/tournament.js", SCRIPT, include_str!("page/tournament.js")),
    ("/page/traits.js", SCRIPT, include_str!("page/traits.js")),
    ("/page/why.js", SCRIPT, include_str!("page/why.js")),
    // Documentation for authors of rules who have no checkout.
    ("/docs/rules.md", TEXT, include_str!("../../docs/rules.md")),
    ("/docs/relations.md", TEXT, include_str!("../../docs/relations.md")),
    ("/page/icon-turn.svg", "image/svg+xml", include_str!("page/icon-turn.svg")),
    ("/page/icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
];

const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const INDEX: &str = include_str!("page/index.html");

/// Pages below this path may stand in frames of the origins that were named with `--embed`.
pub(super) const FRAMED: &str = "/embed/";

pub(super) fn routes() -> Router<Web> {
    let mut router = Router::new();
    for address in [
        "/",
        "/rules",
        "/game/{id}",
        "/about/{game}",
        "/user/{name}",
        "/study/{id}",
        "/tournament/{id}",
        "/embed/game/{id}",
    ] {
        router = router.route(address, get(|| std::future::ready(index())));
    }
    for (address, kind, text) in FILES {
        router = router.route(address, get(|| std::future::ready(file(kind, text))));
    }
    router
}

/// The page, which shows what its address says.
pub(super) fn index() -> Response {
    file("text/html; charset=utf-8", INDEX)
}

fn file(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], text).into_response()
}
