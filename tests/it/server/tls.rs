//! Webhooks over `https`: to a receiver whose authority the machine trusts, and to no other.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use serde_json::Value;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::kill::{Process, Wire};
use super::store::Folder;

fn file(name: &str) -> String {
    format!("{}/tests/data/tls/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A receiver with the certificate of the tests: where it is, and the text of each request, or why a connection failed.
fn receiver() -> (String, mpsc::Receiver<Result<String, String>>) {
    let chain = vec![CertificateDer::from_pem_file(file("server.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(file("server.key.pem")).unwrap();
    let config =
        ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://{}/hook", listener.local_addr().unwrap());
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, stream.unwrap());
            if tell.send(take(&mut stream).map_err(|it| it.to_string())).is_err() {
                return;
            }
        }
    });
    (address, told)
}

/// Reads a request, and says that it was taken.
fn take(stream: &mut (impl Read + Write)) -> std::io::Result<String> {
    let (mut text, mut part) = (String::new(), [0; 4096]);
    loop {
        let read = stream.read(&mut part)?;
        text.push_str(&String::from_utf8_lossy(&part[..read]));
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            assert!(read > 0, "{text}");
            continue;
        };
        let length = head.lines().find_map(|it| it.strip_prefix("content-length: "));
        if body.len() >= length.and_then(|it| it.parse().ok()).unwrap_or_default() {
            break;
        }
    }
    stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")?;
    stream.flush()?;
    Ok(text)
}

#[test]
fn webhooks_go_over_https_to_receivers_whose_authority_is_trusted() {
    let authority = file("authority.pem");
    for is_trusted in [true, false] {
        let (address, told) = receiver();
        let folder = Folder::new(if is_trusted { "tls" } else { "tls-unknown" });
        let secret = ("RULEMATE_WEBHOOK_SECRET", "a secret of some length");
        let trusted = [("SSL_CERT_FILE", authority.as_str()), secret];
        let names = if is_trusted { &trusted[..] } else { &trusted[1..] };
        let server = Process::start_in(names, &folder.url(), &["--webhook", &address]);
        let mut wire = Wire::to(&server.address).unwrap();
        let seated = "{\"game\":\"chess\",\"seat\":\"both\"}";
        let (status, made) = wire.ask("POST", "/api/v1/games", seated).unwrap();
        assert_eq!(status, 201, "{made}");
        let heard = told.recv_timeout(Duration::from_secs(120)).expect("a connection");
        if !is_trusted {
            assert!(heard.is_err(), "what is told to a stranger: {heard:?}");
            continue;
        }
        let text = heard.expect("a request");
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(
            head.starts_with("POST /hook HTTP/1.1")
                && head.contains("x-rulemate-signature: sha256=")
        );
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!((&body["event"], &body["game"]["id"]), (&"game_started".into(), &made["id"]));
    }
}
