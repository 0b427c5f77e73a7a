//! Arguments of the commands that run a server and look after it.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use tracing_subscriber::filter::LevelFilter;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rulemate serve
  rulemate serve --listen 0.0.0.0:8088 --host games.example.org --store sqlite:///var/lib/rulemate/games.db
  rulemate serve --rules my-rules/
  rulemate serve --uploads --log debug")]
pub(crate) struct ServeArgs {
    /// Address to serve on; port 0 is any free one
    #[arg(long, short, value_name = "ADDR", default_value = "127.0.0.1:8088")]
    pub(super) listen: SocketAddr,
    /// The store of games [default: a file in this user's data folder]
    #[arg(long, short, value_name = "URL")]
    pub(super) store: Option<String>,
    /// Host name to accept, in addition to localhost and addresses; may be repeated
    #[arg(long = "host", value_name = "NAME")]
    pub(super) hosts: Vec<String>,
    /// Allow pages of this origin to use the server; may be repeated
    #[arg(long = "origin", value_name = "ORIGIN")]
    pub(super) origins: Vec<String>,
    /// Allow pages of this origin to show games in frames (/embed/game/ID); may be repeated
    #[arg(long = "embed", value_name = "ORIGIN")]
    pub(super) embeds: Vec<String>,
    /// Notify this address when games begin and end, signed with the secret in
    /// RULEMATE_WEBHOOK_SECRET; may be repeated
    #[arg(long = "webhook", value_name = "URL")]
    pub(super) webhooks: Vec<String>,
    /// Show counters for Prometheus at /metrics of this address
    #[arg(long, value_name = "ADDR")]
    pub(super) metrics: Option<SocketAddr>,
    /// Also offer the rule files of this folder (or this file); a change applies to games that begin after it
    #[arg(long, value_name = "PATH")]
    pub(super) rules: Vec<PathBuf>,
    /// Accept rule files from all clients that can reach the server: for people you trust
    #[arg(long)]
    pub(super) uploads: bool,
    /// Maximum number of requests a second from one address
    #[arg(long, value_name = "N", default_value_t = 40.0, value_parser = rate)]
    pub(super) rate: f64,
    /// Trust X-Forwarded-For: there is a proxy on this machine
    #[arg(long)]
    pub(super) behind_proxy: bool,
    /// Seconds that an idle game stays in memory
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(super) idle: u64,
    /// Level of the log on standard error: error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(super) log: LevelFilter,
    /// Log JSON, one object a line
    #[arg(long)]
    pub(super) log_json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  rulemate backup games-2026-11-21.db")]
pub(crate) struct BackupArgs {
    /// File to write; it must not exist yet
    #[arg(value_name = "FILE")]
    pub(super) to: PathBuf,
    /// The store to copy [default: that of `rulemate serve`]
    #[arg(long, short, value_name = "URL")]
    pub(super) store: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  rulemate doctor\n  rulemate doctor --store sqlite://games.db")]
pub(crate) struct DoctorArgs {
    /// The store to check [default: that of `rulemate serve`]
    #[arg(long, short, value_name = "URL")]
    pub(super) store: Option<String>,
    /// Skip slow checks: replaying games to verify their snapshots
    #[arg(long)]
    pub(super) quick: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rulemate moderate
  rulemate moderate --done k3actxetkxt3nxp
  rulemate moderate --close rude-player
  rulemate moderate --end k3actxetkxt3nxp")]
pub(crate) struct ModerateArgs {
    /// Delete the reports on this game, once read; may be repeated
    #[arg(long, value_name = "GAME")]
    pub(super) done: Vec<String>,
    /// Close this account permanently: it cannot log in any more, and its name stays taken
    #[arg(long, value_name = "NAME")]
    pub(super) close: Vec<String>,
    /// End this tournament: there are no more pairings, and it is over when games under way are
    #[arg(long, value_name = "TOURNAMENT")]
    pub(super) end: Vec<String>,
    /// The store [default: that of `rulemate serve`]
    #[arg(long, short, value_name = "URL")]
    pub(super) store: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rulemate prune --days 365 --dry-run
  rulemate prune --days 365")]
pub(crate) struct PruneArgs {
    /// Delete games in which nothing has happened for this number of days
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=36_500))]
    pub(super) days: u64,
    /// Only count them
    #[arg(long)]
    pub(super) dry_run: bool,
    /// The store [default: that of `rulemate serve`]
    #[arg(long, short, value_name = "URL")]
    pub(super) store: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// A number of requests a second.
fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "write a number, as 40 or 0.5".to_owned())?;
    if rate.is_finite() && rate > 0.0 { Ok(rate) } else { Err("a rate is more than 0".to_owned()) }
}
