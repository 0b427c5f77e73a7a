//! Games as a part of your own axum server, under `/`, beside your own routes: `cargo run --example host`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use rulemate::hosting::{Config, Host, Library, Limits, Web, open, router};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join("rulemate-example.db").display().to_string();
    let library = Library::new()?;
    let (writing, reading) = (open(&path)?, open(&path)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (host, journal) = Host::start(library, writing, reading, Config::default())?;
    let web = Web {
        host: Arc::clone(&host),
        limits: Arc::new(Limits::default()),
        challenges: Arc::default(),
        names: Arc::default(),
    };
    let own = Router::new().route("/hello", get(async || "hello"));
    let service = own.merge(router(web)).into_make_service_with_connect_info::<SocketAddr>();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!(
            "http://{}/ has games, and /hello is ours; Ctrl+C ends it",
            listener.local_addr()?
        );
        let stopped = async { drop(tokio::signal::ctrl_c().await) };
        axum::serve(listener, service).with_graceful_shutdown(stopped).await?;
        host.retire().await;
        Ok::<(), std::io::Error>(())
    })?;
    drop(host);
    journal.finish();
    Ok(())
}
