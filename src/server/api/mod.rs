//! The HTTP API under `/api/v1`, described at `/openapi.json` by the handlers themselves.

pub(super) mod accounts;
mod catalogue;
pub(super) mod extract;
pub(super) mod games;
pub(super) mod guard;
mod operations;
mod pairing;
mod requests;
mod studies;
mod tournaments;
mod uploads;

use std::time::Duration;

use axum::extract::DefaultBodyLimit;
use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};
use tower_http::timeout::TimeoutLayer;
use utoipa::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Content, Ref, ResponseBuilder};
use utoipa_axum::router::OpenApiRouter;

pub(super) use catalogue::{Fitting, fit};

use super::lichess;
use super::names::Names;
use super::problem::Problem;
use super::web::Web;
use super::{page, socket};

/// The answer of most handlers.
type Reply<T> = Result<Json<T>, Problem>;

/// Maximum number of bytes of a body, unless its route has another.
const BODY: usize = 64 * 1024;
/// The game of a request that names none. Uploaded presets are checked on it if it fits them.
const USUAL_GAME: &str = "chess";
/// Maximum duration of a request.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Time for which a browser may cache a CORS preflight answer.
const PREFLIGHT: Duration = Duration::from_secs(3600);

#[derive(Debug, OpenApi)]
#[openapi(
    info(
        title = "Rulemate",
        description = "Games of chess variants by rules as text. A seat's token goes into \
                       `Authorization: Bearer TOKEN`. Errors are `{error, message}`: the code is \
                       stable."
    ),
    servers((url = "/", description = "This server")),
    modifiers(&Tokens),
    paths(socket::open),
    components(schemas(Problem, socket::FromClient, socket::FromServer))
)]
struct Description;

/// How requests carry the tokens of seats and accounts.
struct Tokens;

impl utoipa::Modify for Tokens {
    fn modify(&self, description: &mut utoipa::openapi::OpenApi) {
        let bearer = |what: &str| {
            let scheme = Http::builder().scheme(HttpAuthScheme::Bearer).description(Some(what));
            SecurityScheme::Http(scheme.build())
        };
        let components = description.components.get_or_insert_default();
        components
            .add_security_scheme("seat", bearer("The token of a seat, returned when it is taken"));
        components.add_security_scheme("account", bearer("The token of an account"));
    }
}

/// The address that names a thing, and the answer where there is none, unless the operation has one of its own.
const MISSING: [(&str, &str); 3] = [
    ("/api/v1/games/{id}", "There is no such game"),
    ("/api/v1/studies/{study}", "There is no such study"),
    ("/api/v1/tournaments/{tournament}", "There is no such tournament"),
];

/// Adds to every operation the refusals that it has in common with others: 401 if it needs the token of an account, 404 if
/// its address names a thing that may not exist, and a default for all others, such as a body that cannot be read.
fn describe_problems(description: &mut utoipa::openapi::OpenApi) {
    let problem = |description: &str| {
        let body = Content::new(Some(Ref::from_schema_name("ProblemBody")));
        ResponseBuilder::new().description(description).content("application/json", body).build()
    };
    let account = SecurityRequirement::new("account", Vec::<String>::new());
    for (path, item) in &mut description.paths.paths {
        for operation in [&mut item.get, &mut item.post, &mut item.delete].into_iter().flatten() {
            let responses = &mut operation.responses.responses;
            responses.insert("default".to_owned(), problem("Any other refusal").into());
            if operation.security.iter().flatten().any(|it| *it == account) {
                let refusal = problem("The token is not that of an account");
                responses.insert("401".to_owned(), refusal.into());
            }
            if let Some((_, none)) = MISSING.iter().find(|it| path.starts_with(it.0)) {
                responses.entry("404".to_owned()).or_insert_with(|| problem(none).into());
            }
        }
    }
}

/// The whole server as a service.
pub fn router(web: Web) -> Router {
    let (api, mut description) = OpenApiRouter::with_openapi(Description::openapi())
        .merge(games::routes())
        .merge(catalogue::routes())
        .merge(uploads::routes())
        .merge(accounts::routes())
        .merge(pairing::routes())
        .merge(studies::routes())
        .merge(tournaments::routes())
        .merge(operations::routes())
        .split_for_parts();
    describe_problems(&mut description);
    let (lichess, streams) = lichess::routes();
    let description = serde_json::to_string(&description).unwrap_or_default();
    let timeout = TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, TIMEOUT);
    let json = [("content-type", "application/json")];
    Router::new()
        .merge(api)
        .route("/openapi.json", get(move || std::future::ready((json, description.clone()))))
        .merge(page::routes())
        .merge(lichess)
        .layer(timeout)
        // Streams and sockets have no time-out.
        .merge(streams)
        .route("/ws/v1/games/{id}", get(socket::open))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(DefaultBodyLimit::max(BODY))
        .layer(CatchPanicLayer::new())
        .layer(from_fn_with_state(web.clone(), guard::check))
        .layer(cors(&web.names))
        .layer(from_fn_with_state(web.clone(), guard::add_security_headers))
        .with_state(web)
}

/// The metrics, for a listener of their own.
pub fn metrics_router(web: Web) -> Router {
    Router::new()
        .route("/metrics", get(operations::metrics))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(from_fn_with_state(web.clone(), guard::check))
        .layer(from_fn_with_state(web.clone(), guard::add_security_headers))
        .with_state(web)
}

/// What pages of listed origins may do.
fn cors(names: &Names) -> CorsLayer {
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(names.origins()))
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers([AUTHORIZATION, CONTENT_TYPE])
        .expose_headers([LOCATION, RETRY_AFTER])
        .max_age(PREFLIGHT)
}

async fn no_route(method: Method, address: axum::http::Uri, headers: HeaderMap) -> Response {
    // A mistyped address in a browser is answered on the page.
    let accepted = headers.get(ACCEPT).and_then(|it| it.to_str().ok());
    let is_page = method == Method::GET && !address.path().starts_with("/api/");
    if is_page && accepted.is_some_and(|it| it.contains("text/html")) {
        return (StatusCode::NOT_FOUND, page::index()).into_response();
    }
    let message = "there is nothing at this address";
    let problem = Problem::not_found("no_such_address", message);
    lichess::unhandled(address.path(), problem)
}

async fn no_method(address: axum::http::Uri) -> Response {
    let message = "this address knows no such method";
    let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message);
    lichess::unhandled(address.path(), problem)
}
