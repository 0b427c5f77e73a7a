//! Webhooks: addresses that the operator has named are notified of games that begin and end, by signed
//! requests.
//!
//! An address has a queue and a task of its own, so that a slow receiver holds up neither games nor other addresses. A
//! failed delivery is retried a few times and then dropped. Deliveries that wait when the server stops are lost: a
//! receiver that must not miss anything polls the API, too. Redirects are not followed, and clients cannot influence
//! the addresses.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Request, StatusCode, Uri};
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use sha2::Sha256;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::time::wall_clock;

/// Maximum number of requests that wait for one address.
const QUEUE: usize = 1_000;
/// Maximum number of addresses.
const ADDRESSES: usize = 16;
/// Maximum number of attempts at a request. Each wait between two of them is four times the previous one.
const TRIES: u32 = 5;
/// Maximum time of one attempt.
const PATIENCE: Duration = Duration::from_secs(10);
/// Minimum number of characters of a secret.
const SECRET: usize = 16;

/// The addresses, and the secret that signs the requests.
#[derive(Clone)]
pub struct Hooks {
    addresses: Vec<Uri>,
    secret: String,
    /// The wait before the second try.
    wait: Duration,
}

/// The secret is not shown.
impl std::fmt::Debug for Hooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hooks").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

/// Why webhooks cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    #[error("{0} is no address for a webhook: write https://HOST/PATH or http://HOST/PATH")]
    Address(String),
    #[error("webhooks are signed: set RULEMATE_WEBHOOK_SECRET to {SECRET} characters or more")]
    Secret,
    #[error("{ADDRESSES} webhooks at most")]
    Many,
}

impl Hooks {
    /// Webhooks to these addresses, signed with the secret.
    ///
    /// # Errors
    /// An address is not a web address, there are too many, or the secret is too short.
    pub fn new(addresses: &[String], secret: &str) -> Result<Self, HookError> {
        if secret.chars().count() < SECRET {
            return Err(HookError::Secret);
        }
        if addresses.len() > ADDRESSES {
            return Err(HookError::Many);
        }
        let address = |text: &String| {
            let uri = text.parse::<Uri>().ok().filter(|it| {
                let is_web = matches!(it.scheme_str(), Some("http" | "https"));
                is_web && it.authority().is_some_and(|it| !it.as_str().contains('@'))
            });
            uri.ok_or_else(|| HookError::Address(text.clone()))
        };
        let addresses = addresses.iter().map(address).collect::<Result<_, _>>()?;
        Ok(Self { addresses, secret: secret.to_owned(), wait: Duration::from_secs(1) })
    }

    /// With another wait before the second try.
    #[must_use]
    pub fn waiting(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }
}

/// A notification, the same for all addresses.
#[derive(Debug, Clone)]
struct News {
    kind: &'static str,
    game: String,
    body: Arc<str>,
}

/// The queues, one for each address.
#[derive(Debug)]
pub(super) struct WebhookQueues(Vec<mpsc::Sender<News>>);

impl WebhookQueues {
    /// Begins to deliver to these addresses.
    ///
    /// # Errors
    /// An address has `https`, and this machine has no root certificates.
    pub(super) fn open(hooks: &Hooks) -> std::io::Result<Self> {
        let mut queues = Vec::new();
        for address in &hooks.addresses {
            let sender = Sender::to(address)?;
            let (queue, inbox) = mpsc::channel(QUEUE);
            tokio::spawn(deliver(sender, address.clone(), hooks.clone(), inbox));
            queues.push(queue);
        }
        Ok(Self(queues))
    }

    /// Puts news into every queue that has room.
    pub(super) fn put(&self, kind: &'static str, game: &str, body: &str) {
        let news = News { kind, game: game.to_owned(), body: body.into() };
        for queue in &self.0 {
            if queue.try_send(news.clone()).is_err() {
                tracing::warn!(game, kind, "the queue of a webhook is full: an event is dropped");
            }
        }
    }
}

/// A client for one address. Root certificates are loaded only if it has `https`.
enum Sender {
    Http(Client<HttpConnector, Body>),
    Https(Client<HttpsConnector<HttpConnector>, Body>),
}

impl Sender {
    fn to(address: &Uri) -> std::io::Result<Self> {
        let client = Client::builder(TokioExecutor::new());
        if address.scheme_str() == Some("http") {
            return Ok(Self::Http(client.build_http()));
        }
        let connector = HttpsConnectorBuilder::new().with_native_roots()?;
        Ok(Self::Https(client.build(connector.https_only().enable_http1().build())))
    }

    async fn send(&self, request: Request<Body>) -> Result<StatusCode, String> {
        let answer = match self {
            Self::Http(client) => client.request(request),
            Self::Https(client) => client.request(request),
        };
        match timeout(PATIENCE, answer).await {
            Ok(Ok(answer)) => Ok(answer.status()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("no answer in time".to_owned()),
        }
    }
}

/// Delivers the news of a queue, one after the other.
async fn deliver(sender: Sender, address: Uri, hooks: Hooks, mut inbox: mpsc::Receiver<News>) {
    let host = address.host().unwrap_or_default().to_owned();
    while let Some(news) = inbox.recv().await {
        let mut wait = hooks.wait;
        for attempt in 1..=TRIES {
            let Some(request) = request(&address, &hooks.secret, &news) else { break };
            let why = match sender.send(request).await {
                Ok(status) if status.is_success() => break,
                Ok(status) => status.to_string(),
                Err(why) => why,
            };
            // The path may hold a secret of the receiver's: it is not logged.
            tracing::warn!(host, game = news.game, attempt, why, "a webhook was not delivered");
            if attempt < TRIES {
                sleep(wait).await;
                wait *= 4;
            }
        }
    }
}

/// A signed request: the signature is over the time and the body, so that neither can be changed, and a
/// replay can be detected.
fn request(address: &Uri, secret: &str, news: &News) -> Option<Request<Body>> {
    let at = wall_clock() / 1000;
    let signature = signature(secret, at, &news.body)?;
    Request::post(address)
        .header(CONTENT_TYPE, "application/json")
        .header("user-agent", "rulemate")
        .header("x-rulemate-event", news.kind)
        .header("x-rulemate-delivery", format!("{}-{}", news.game, news.kind))
        .header("x-rulemate-time", at)
        .header("x-rulemate-signature", format!("sha256={signature}"))
        .body(Body::from(news.body.to_string()))
        .ok()
}

fn signature(secret: &str, at: u64, body: &str) -> Option<String> {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(format!("{at}.{body}").as_bytes());
    Some(HEXLOWER.encode(&mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_addresses_and_secrets_are_refused() {
        let new = |address: &str| Hooks::new(&[address.to_owned()], "0123456789abcdef");
        assert!(new("https://x.example/hook?a=1").is_ok() && new("http://127.0.0.1:9/").is_ok());
        for wrong in ["x.example", "/hook", "ftp://x.example/", "https://me:pass@x.example/", ""] {
            assert_eq!(new(wrong).err(), Some(HookError::Address(wrong.into())));
        }
        for short in ["short", "ééééééééé"] {
            assert_eq!(Hooks::new(&[], short).err(), Some(HookError::Secret));
        }
        let many = vec!["http://x.example/".to_owned(); 17];
        assert_eq!(Hooks::new(&many, "0123456789abcdef").err(), Some(HookError::Many));
        assert!(!format!("{:?}", new("http://x.example/")).contains("0123456789abcdef"));
    }
}
