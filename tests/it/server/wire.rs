//! What comes to a server over the wire, as targets of the fuzzer: requests, and the bytes of a WebSocket. One
//! server takes many inputs, then another takes its place.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use rulemate::internals::server::{Config, router};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::time::timeout;

use super::api::Server;
use super::store::Folder;

/// How many inputs a server takes.
const INPUTS: usize = 200;
/// The maximum number of requests, and of messages, of one input.
const STEPS: usize = 8;
/// No answer may take so long.
const HANGS: Duration = Duration::from_secs(20);

/// A server with one game, in which the same token has both seats.
struct Hosted {
    runtime: Runtime,
    server: Option<Server>,
    game: String,
    token: String,
    address: std::net::SocketAddr,
    inputs: usize,
    _folder: Folder,
}

impl Hosted {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let folder = Folder::new(&format!("wire-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let config = Config { uploads: true, ..Config::default() };
        let (server, (game, token), address) = runtime.block_on(async {
            let server = Server::start(&folder, config);
            let game = json!({ "game": "double-move", "seat": "both", "chat": true });
            let made = server.make(game).await;
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let service = router(server.web.clone());
            tokio::spawn(async move { axum::serve(listener, service).await });
            (server, made, address)
        });
        let server = Some(server);
        Self { runtime, server, game, token, address, inputs: 0, _folder: folder }
    }

    /// The text with the id of the game and the token of its seats where it says so.
    fn filled(&self, input: &[u8]) -> String {
        let text = String::from_utf8_lossy(input);
        text.replace("GAME", &self.game).replace("TOKEN", &self.token)
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            // The tasks go first, with what they hold of the server.
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            std::mem::replace(&mut self.runtime, runtime).shutdown_background();
            server.stop();
        }
    }
}

fn with_server(run: impl FnOnce(&Hosted, &Server)) {
    thread_local! {
        static HOSTED: RefCell<Option<Hosted>> = const { RefCell::new(None) };
    }
    HOSTED.with_borrow_mut(|it| {
        if it.as_ref().is_some_and(|it| it.inputs >= INPUTS) {
            *it = None;
        }
        let hosted = it.get_or_insert_with(Hosted::new);
        hosted.inputs += 1;
        let hosted = &*hosted;
        if let Some(server) = &hosted.server {
            run(hosted, server);
        }
    });
}

/// Requests, divided by lines of `---`: method, address, token, body, a line each but for the last.
/// Everything is answered, and no answer is a failure of the server's own.
pub(crate) fn requests(input: &[u8]) {
    with_server(|hosted, server| {
        let text = hosted.filled(input);
        for part in text.split("\n---\n").take(STEPS) {
            let Some(request) = request(part) else { continue };
            // Streams do not end.
            if request.uri().path().contains("stream") {
                continue;
            }
            let answer = async { timeout(HANGS, server.send(request)).await };
            let answer = hosted.runtime.block_on(answer);
            let Ok((status, body)) = answer else { panic!("no answer to {part:?}") };
            let told = body["error"].is_string() || body.is_string();
            assert_ne!(status, StatusCode::INTERNAL_SERVER_ERROR, "{part:?}: {body}");
            assert!(status.as_u16() < 400 || told, "{part:?}: {status} {body}");
        }
    });
}

/// A request as text: method, address, token, body, a line each but for the last.
pub(super) fn request(text: &str) -> Option<Request<Body>> {
    let mut parts = text.splitn(4, '\n');
    let method = Method::from_bytes(parts.next()?.as_bytes()).ok()?;
    let request = Request::builder().method(method).uri(parts.next()?);
    let token = format!("Bearer {}", parts.next()?);
    let request = request.header("authorization", token);
    request.body(Body::from(parts.next().unwrap_or_default().to_owned())).ok()
}

/// A WebSocket of the game: lines are messages of text, but for those that begin with a zero byte, which are
/// sent as they are. The server answers or closes.
pub(crate) fn frames(input: &[u8]) {
    with_server(|hosted, _| {
        let auth = format!("{{\"t\":\"auth\",\"a\":0,\"d\":{{\"token\":\"{}\"}}}}", hosted.token);
        let mut bytes = handshake(&hosted.game);
        bytes.extend(frame(TEXT, auth.as_bytes()));
        for line in input.split(|it| *it == b'\n').take(STEPS) {
            match line.split_first() {
                Some((0, raw)) => bytes.extend(raw),
                _ => bytes.extend(frame(TEXT, hosted.filled(line).as_bytes())),
            }
        }
        bytes.extend(frame(CLOSE, &1000_u16.to_be_bytes()));
        let answer = async { timeout(HANGS, talk(hosted.address, bytes)).await };
        let answer = hosted.runtime.block_on(answer);
        let Ok(answer) = answer else { panic!("the server neither answers nor closes: {input:?}") };
        let answer = String::from_utf8_lossy(&answer);
        assert!(!answer.contains("\"error\":\"internal\""), "{answer}");
    });
}

async fn talk(address: std::net::SocketAddr, bytes: Vec<u8>) -> Vec<u8> {
    let mut heard = Vec::new();
    let Ok(mut stream) = TcpStream::connect(address).await else { panic!("no connection") };
    // What is wrong is answered by the server's closing, in the middle of what is sent, too.
    if stream.write_all(&bytes).await.is_ok() {
        let _ = stream.shutdown().await;
        let _ = stream.read_to_end(&mut heard).await;
    }
    heard
}

fn handshake(game: &str) -> Vec<u8> {
    format!(
        "GET /ws/v1/games/{game}?v=0 HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    .into_bytes()
}

const TEXT: u8 = 1;
const CLOSE: u8 = 8;

/// A whole frame of a client. Its mask changes nothing, so that the fuzzer sees what is compared.
fn frame(kind: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x80 | kind];
    match content.len() {
        length @ 0..126 => bytes.push(0x80 | length as u8),
        length @ 126..65_536 => {
            bytes.push(0x80 | 126);
            bytes.extend((length as u16).to_be_bytes());
        }
        length => {
            bytes.push(0x80 | 127);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    bytes.extend([0; 4]);
    bytes.extend(content);
    bytes
}
