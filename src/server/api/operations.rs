//! Endpoints for operators of the server.

use axum::http::StatusCode;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::server::problem::Problem;
use crate::server::web::Web;

/// The endpoints of this file.
pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(healthz)).routes(routes!(readyz))
}

/// The server runs.
#[utoipa::path(get, path = "/healthz", responses((status = 200, description = "It runs: `ok`", body = String)))]
async fn healthz() -> &'static str {
    "ok\n"
}

/// The server accepts games: it is not about to stop, and the store can be written.
#[utoipa::path(get, path = "/readyz", responses(
    (status = 200, description = "It accepts games: `ready`", body = String),
    (status = 503, description = "It is about to stop, or cannot store anything", body = Problem),
))]
async fn readyz(web: Web) -> Result<&'static str, Problem> {
    if web.host.is_draining() {
        let message = "the server is about to stop";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "draining", message));
    }
    web.host.ready.probe(web.host.reads()).await?;
    Ok("ready\n")
}

/// Counters, in the text form that Prometheus reads. They have a listener of their own.
pub(super) async fn metrics(web: Web) -> String {
    let host = &web.host;
    host.metrics.text(host.live_games(), web.limits.open.taken(), host.presence.sockets())
}
