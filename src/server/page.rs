//! The page: a few files, embedded, without a build chain or anything from elsewhere.

use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::api::Web;

/// Address, type, text.
const FILES: &[(&str, &str, &str)] = &[
    ("/page/style.css", "text/css; charset=utf-8", include_str!("page/style.css")),
    ("/page/app.js", SCRIPT, include_str!("page/app.js")),
    ("/page/api.js", SCRIPT, include_str!("page/api.js")),
    ("/page/board.js", SCRIPT, include_str!("page/board.js")),
    ("/page/dom.js", SCRIPT, include_str!("page/dom.js")),
    ("/page/game.js", SCRIPT, include_str!("page/game.js")),
    ("/page/lobby.js", SCRIPT, include_str!("page/lobby.js")),
    ("/page/presets.js", SCRIPT, include_str!("page/presets.js")),
    ("/page/rules.js", SCRIPT, include_str!("page/rules.js")),
    ("/page/icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
];

const SCRIPT: &str = "text/javascript; charset=utf-8";
const INDEX: &str = include_str!("page/index.html");

pub(super) fn routes() -> Router<Web> {
    let mut router = Router::new();
    for address in ["/", "/rules", "/game/{id}"] {
        router = router
            .route(address, get(|| std::future::ready(file("text/html; charset=utf-8", INDEX))));
    }
    for (address, kind, text) in FILES {
        router = router.route(address, get(|| std::future::ready(file(kind, text))));
    }
    router
}

fn file(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], text).into_response()
}
