//! The web page: a few embedded files and the documentation of the rule language, without a build chain or
//! external resources.

use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::web::Web;

/// The paths and texts of files of `page/`.
macro_rules! page_files {
    ($($name:literal)*) => {
        &[$((concat!("/page/", $name), include_str!(concat!("page/", $name)))),*]
    };
}

/// Content types, and the paths and texts of files of that type.
const FILES: [(&str, &[(&str, &str)]); 4] = [
    ("text/css; charset=utf-8", page_files!["board.css" "style.css"]),
    (
        "text/javascript; charset=utf-8",
        page_files![
            "about.js" "account.js" "acts.js" "advice.js" "api.js" "app.js" "arrows.js" "board.js"
            "chat.js" "choose.js" "diagrams.js" "dom.js" "editor.js" "embed.js" "form.js" "game.js"
            "games.js" "geometry.js" "loadout.js" "lobby.js" "moves.js" "notice.js" "pieces.js"
            "pointer.js" "presets.js" "rules.js" "seats.js" "settings.js" "shapes.js" "sound.js"
            "study.js" "sync.js" "tournament.js" "traits.js" "why.js"
        ],
    ),
    ("image/svg+xml", page_files!["icon-turn.svg" "icon.svg"]),
    // Documentation for authors of rules who have no checkout.
    (
        "text/plain; charset=utf-8",
        &[
            ("/docs/rules.md", include_str!("../../docs/rules.md")),
            ("/docs/relations.md", include_str!("../../docs/relations.md")),
        ],
    ),
];

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
    for (kind, files) in FILES {
        for (address, text) in files {
            router = router.route(address, get(move || std::future::ready(file(kind, text))));
        }
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
