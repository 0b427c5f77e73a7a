//! A peer engine as a separate process: `go perft` over UCI, timed by the CPU time of that process.
//!
//! A peer that is not installed is left out of the tables, and so are games that it does not list: asked for an unknown
//! game, engines count chess.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use super::meter::Meter;

/// A running engine that speaks UCI.
#[derive(Debug)]
pub struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The name that the engine reports.
    pub name: String,
    /// The games that the engine lists, by its own names; none if it plays chess alone.
    variants: Vec<String>,
}

/// The result of a perft run.
#[derive(Debug, Clone, Copy)]
pub struct Count {
    pub nodes: u64,
    pub time: Duration,
}

impl Peer {
    /// Starts an engine by its command, if it is installed (Debian puts engines in `/usr/games`).
    pub fn start(command: &str) -> Option<Self> {
        let debian = PathBuf::from("/usr/games").join(command);
        let program = if debian.exists() { debian } else { PathBuf::from(command) };
        let spawned = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = spawned.ok()?;
        let (input, output) = (child.stdin.take()?, child.stdout.take()?);
        let name = command.to_owned();
        let output = BufReader::new(output);
        let mut peer = Self { child, input, output, name, variants: Vec::new() };
        peer.handshake().ok()?;
        Some(peer)
    }

    fn handshake(&mut self) -> anyhow::Result<()> {
        self.send("uci")?;
        loop {
            let line = self.read_line()?;
            if let Some(name) = line.strip_prefix("id name ") {
                self.name = name.trim().to_owned();
            }
            if let Some(choices) = line.strip_prefix("option name UCI_Variant ") {
                let variants = choices.split(" var ").skip(1).map(str::trim);
                self.variants = variants.map(str::to_owned).collect();
            }
            if line.trim() == "uciok" {
                return Ok(());
            }
        }
    }

    /// Whether the engine plays a game, by its own name for the game.
    pub fn knows(&self, variant: &str) -> bool {
        variant == "chess" || self.variants.iter().any(|it| it == variant)
    }

    /// Counts a tree. `variant` is the engine's own name for the game.
    ///
    /// # Errors
    /// The engine does not play that game, exits, or answers something other than a number.
    pub fn perft(&mut self, variant: &str, fen: &str, depth: u32) -> anyhow::Result<Count> {
        ensure!(self.knows(variant), "{} does not play {variant}", self.name);
        if !self.variants.is_empty() {
            self.send(&format!("setoption name UCI_Variant value {variant}"))?;
        }
        self.send(&format!("position fen {fen}"))?;
        self.send("isready")?;
        while self.read_line()?.trim() != "readyok" {}
        let meter = Meter::child(self.child.id());
        self.send(&format!("go perft {depth}"))?;
        loop {
            if let Some(nodes) = self.read_line()?.strip_prefix("Nodes searched:") {
                let nodes = nodes.trim().parse().context("the node count of a peer")?;
                return Ok(Count { nodes, time: meter.elapsed() });
            }
        }
    }

    fn send(&mut self, line: &str) -> anyhow::Result<()> {
        writeln!(self.input, "{line}")?;
        Ok(self.input.flush()?)
    }

    fn read_line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            bail!("{} ended", self.name);
        }
        Ok(line)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // An engine that cannot be sent `quit` is killed; either way its process must be waited for.
        if self.send("quit").is_err() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
