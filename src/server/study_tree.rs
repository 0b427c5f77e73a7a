//! The record of a study: a tree of actions that the rules have allowed, with comments and glyphs.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::core::Played;
use super::problem::Problem;
use crate::presets::is_printable;

/// Maximum number of actions of a study.
pub(super) const NODES: usize = 1_000;
/// Maximum number of actions of a variation, counted from the start of the study.
pub(super) const DEPTH: usize = 400;
/// Maximum number of characters of a comment.
const COMMENT: usize = 1_000;
/// Maximum size of a study in the store, in bytes.
const BYTES: usize = 256 * 1024;

/// A study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(super) struct Study {
    #[serde(default)]
    pub(super) id: String,
    pub(super) title: String,
    /// The id of the account that may change it.
    pub(super) owner: String,
    pub(super) game: String,
    pub(super) presets: Vec<String>,
    /// The id of the rules that it is played by.
    pub(super) rules: String,
    pub(super) fen: Option<String>,
    /// The facts that it starts from, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) facts: Option<String>,
    pub(super) sides: Vec<String>,
    /// The comment on the start position.
    pub(super) comment: String,
    /// The actions, parents before children.
    pub(super) nodes: Vec<Node>,
    /// The number of the next action to be added.
    pub(super) next: u32,
}

/// An action of a study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(super) struct Node {
    pub(super) id: u32,
    /// The action that it follows; 0 for the position that the study starts from.
    pub(super) after: u32,
    pub(super) uci: String,
    pub(super) san: String,
    pub(super) side: usize,
    /// Whether the side's turn goes on.
    pub(super) turn_goes_on: bool,
    #[serde(default)]
    pub(super) comment: String,
    /// Numeric annotation glyphs, as PGN has them: `!` is 1, `?` 2, `!!` 3, `??` 4, `!?` 5, `?!` 6.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) nags: Vec<u8>,
}

impl Study {
    /// The actions from the start up to `node`, as text.
    pub(super) fn path(&self, node: u32) -> Result<Vec<String>, Problem> {
        let mut path = Vec::new();
        let mut id = node;
        while id != 0 {
            let found = self.nodes.iter().find(|it| it.id == id).ok_or_else(no_node)?;
            path.push(found.uci.clone());
            id = found.after;
        }
        path.reverse();
        Ok(path)
    }

    /// Adds an action, unless it is there already. Returns its id.
    pub(super) fn add(&mut self, after: u32, played: &Played) -> Result<u32, Problem> {
        let is_same = |it: &&Node| it.after == after && it.uci == played.uci;
        if let Some(known) = self.nodes.iter().find(is_same) {
            return Ok(known.id);
        }
        if self.nodes.len() >= NODES {
            return Err(full(format!("a study may have {NODES} actions: remove some")));
        }
        let id = self.next;
        self.next += 1;
        self.nodes.push(Node {
            id,
            after,
            uci: played.uci.clone(),
            san: played.san.clone(),
            side: played.side,
            turn_goes_on: played.turn_goes_on,
            comment: String::new(),
            nags: Vec::new(),
        });
        Ok(id)
    }

    /// Removes an action with all that follows it.
    pub(super) fn remove(&mut self, node: u32) -> Result<(), Problem> {
        if !self.nodes.iter().any(|it| it.id == node) {
            return Err(no_node());
        }
        let mut gone = BTreeSet::from([node]);
        // Descendants come later in the list.
        for it in &self.nodes {
            if gone.contains(&it.after) {
                gone.insert(it.id);
            }
        }
        self.nodes.retain(|it| !gone.contains(&it.id));
        Ok(())
    }

    /// Sets the comment on an action, or on the start position (0).
    pub(super) fn set_comment(&mut self, node: u32, text: &str) -> Result<(), Problem> {
        let text = printable(text, COMMENT, "a comment")?;
        if node == 0 {
            self.comment = text;
            return Ok(());
        }
        let found = self.nodes.iter_mut().find(|it| it.id == node).ok_or_else(no_node)?;
        found.comment = text;
        Ok(())
    }

    /// Adds glyphs and a comment to an action, which keeps those that it has.
    pub(super) fn annotate(&mut self, node: u32, nags: &[u8], text: &str) -> Result<(), Problem> {
        let found = self.nodes.iter_mut().find(|it| it.id == node).ok_or_else(no_node)?;
        for nag in nags {
            if !found.nags.contains(nag) {
                found.nags.push(*nag);
            }
        }
        self.add_comment(node, text)
    }

    /// Adds a text to the comment on an action, or on the start position (0).
    pub(super) fn add_comment(&mut self, node: u32, text: &str) -> Result<(), Problem> {
        let text = printable(text, COMMENT, "a comment")?;
        let found = self.nodes.iter().find(|it| it.id == node);
        let known = found.map_or(&self.comment, |it| &it.comment);
        // Several turns of a PGN may begin with the same action: each of them has its comment.
        if text.is_empty() || *known == text {
            return Ok(());
        }
        let all = if known.is_empty() { text } else { format!("{known} {text}") };
        self.set_comment(node, &all)
    }

    /// The actions with these ids, as text.
    pub(super) fn ucis(&self, nodes: &[u32]) -> Vec<String> {
        let uci = |id: &u32| Some(self.nodes.iter().find(|it| it.id == *id)?.uci.clone());
        nodes.iter().filter_map(uci).collect()
    }

    /// Checks that a variation of `before` actions has room for another one.
    ///
    /// # Errors
    /// It has [`DEPTH`] actions already.
    pub(super) fn check_depth(before: usize) -> Result<(), Problem> {
        match before < DEPTH {
            true => Ok(()),
            false => Err(full(format!("a variation may have {DEPTH} actions at most"))),
        }
    }

    /// The study as the store keeps it.
    ///
    /// # Errors
    /// It is longer than [`BYTES`].
    pub(super) fn text(&self) -> Result<String, Problem> {
        let text = serde_json::to_string(self).unwrap_or_default();
        match text.len() <= BYTES {
            true => Ok(text),
            false => Err(full(format!("a study may have {BYTES} bytes: shorten comments"))),
        }
    }
}

/// A user's text without blanks around it and without invisible characters, except line ends within it.
///
/// # Errors
/// What is left is longer than `limit` characters. The message begins with `what`, such as "a comment".
pub(super) fn printable(text: &str, limit: usize, what: &str) -> Result<String, Problem> {
    let is_kept = |it: &char| *it == '\n' || is_printable(it.encode_utf8(&mut [0; 4]));
    let text: String = text.chars().filter(is_kept).collect();
    let text = text.trim().to_owned();
    match text.chars().count() <= limit {
        true => Ok(text),
        false => {
            let message = format!("{what} is too long: {limit} characters at most");
            Err(Problem::bad("too_long", message))
        }
    }
}

pub(super) fn no_node() -> Problem {
    let message = "the study has no such action: it may have been removed";
    Problem::not_found("no_such_node", message)
}

pub(super) fn full(message: String) -> Problem {
    Problem::conflict("study_full", message)
}
