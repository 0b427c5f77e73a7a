//! Studies: a game with variations and comments, which an account keeps and shares by a link.
//!
//! A study is one record (`study_tree`). Everyone with the link reads it; its owner changes it, from any device, one change at a time. Deliberately absent: several owners,
//! chapters, evaluation.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::accounts::Account;
use super::begin::start;
use super::board::Board;
use super::core::{Event, Played, Refusal, Rules, Setup, created};
use super::host::Host;
use super::ids::new_id;
use super::pool::Lane;
use super::problem::Problem;
use super::store::{Change, Store, edited};
use super::study_pgn::Outline;
use super::study_tree::{DEPTH, Study, full, no_node, printable};
use super::web::Web;

/// Maximum number of studies of an account.
const STUDIES: usize = 50;
/// Maximum number of characters of a title.
const TITLE: usize = 80;

/// A study in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(super) struct Listed {
    #[serde(default)]
    pub(super) id: String,
    pub(super) title: String,
    pub(super) game: String,
}

fn key(id: &str) -> String {
    format!("study {id}")
}

fn list_key(owner: &str, id: &str) -> String {
    format!("studies {owner} {id}")
}

fn no_study(id: &str) -> Problem {
    let message = format!("there is no study {id:.40}");
    Problem::not_found("no_such_study", message)
}

fn read(
    store: &mut dyn Store,
    id: &str,
) -> Result<Option<(String, Study)>, super::store::StoreError> {
    let found = store.record(&key(id))?;
    Ok(found.and_then(|text| {
        let study = serde_json::from_str::<Study>(&text).ok()?;
        Some((text, Study { id: id.to_owned(), ..study }))
    }))
}

/// The start of a study of a game: its setup, and the actions played in it.
fn of_log(log: &[super::core::LogEntry]) -> Result<(Setup, Vec<String>), Problem> {
    let setup = created(log).ok_or_else(no_node)?.clone();
    let mut played: Vec<String> = Vec::new();
    for entry in log {
        match &entry.event {
            Event::Played { uci, .. } => played.push(uci.clone()),
            Event::TakenBack { to, .. } => played.truncate(*to),
            Event::PresetsChanged { .. } => {
                let message = "other presets came into this game: a study has one set of rules";
                return Err(Problem::unprocessable("rules_changed", message));
            }
            _ => {}
        }
    }
    played.truncate(DEPTH);
    Ok((setup, played))
}

impl Host {
    /// Plays actions from the start position of a study. Returns the board, and each action as it was played.
    async fn replayed(
        self: &Arc<Self>,
        study: &Study,
        path: Vec<String>,
    ) -> Result<(Board, Vec<Played>), Problem> {
        self.know_rules(&study.rules).await?;
        let ruleset = self.ruleset(&study.rules, &study.game, &study.presets).await?;
        let catalogue = self.catalogue_of(&study.rules)?;
        let (fen, facts) = (study.fen.clone(), study.facts.clone());
        let requests = 1 + path.len();
        let lane = self.slow_lane(&study.rules);
        let replay = move || {
            let mut board = start(&ruleset, catalogue, fen.as_deref(), facts.as_deref())?;
            let played: Result<_, _> = path.iter().map(|uci| board.play(uci)).collect();
            Ok::<_, Problem>((board, played.map_err(Refusal::Illegal)?))
        };
        let (replayed, ran_out) = self.pool.run_all(lane, requests, replay).await?;
        ran_out.map_or(replayed, Err)
    }

    /// Adds the moves and comments of a PGN to a study.
    async fn with_outline(
        self: &Arc<Self>,
        mut study: Study,
        outline: Outline,
    ) -> Result<Study, Problem> {
        let ruleset = self.ruleset(&study.rules, &study.game, &study.presets).await?;
        let catalogue = self.catalogue_of(&study.rules)?;
        let lane = self.slow_lane(&study.rules);
        // Moves before a variation are played again for it.
        let requests = 1 + 2 * outline.turns();
        let add_to = move || {
            let mut board = start(&ruleset, catalogue, study.fen.as_deref(), None)?;
            outline.add_to(&mut study, &mut board)?;
            Ok(study)
        };
        let (planted, ran_out) = self.pool.run_all(lane, requests, add_to).await?;
        ran_out.map_or(planted, Err)
    }
}

/// The source of a new study.
#[derive(Debug)]
pub(super) enum Source {
    /// The id of a game on this server that is over.
    Game(String),
    /// The start position of a game: chess if no other is named.
    Start { game: Option<String>, presets: Vec<String> },
    /// The text of a PGN. A game or presets given here override its tags.
    Pgn { text: String, game: Option<String>, presets: Vec<String> },
}

impl Web {
    /// Makes a study of a finished game on this server, of a start position, or of a PGN.
    ///
    /// # Errors
    /// There is no such game, it is not over, the PGN cannot be read, or the account has too many studies.
    pub(super) async fn make_study(
        &self,
        account: &Account,
        title: &str,
        source: Source,
    ) -> Result<Study, Problem> {
        let mut title = printable(title, TITLE, "a title")?;
        let mut outline = None;
        let (setup, played) = match source {
            Source::Game(id) => {
                let id = id.as_str();
                let log = self.host.log(id).await?;
                // A study shows the legal moves, which would help a player in a game under way.
                if !log.iter().any(|it| matches!(it.event, Event::Ended { .. })) {
                    let message = "the game is not over: study it when it is";
                    return Err(Problem::conflict("game_not_over", message));
                }
                of_log(&log)?
            }
            Source::Start { game, presets } => (self.setup(None, game, presets).await?, Vec::new()),
            Source::Pgn { text, game, presets } => {
                let read = move || Outline::read(&text);
                let mut read = self.host.pool.run(Lane::Work, read).await??;
                if title.is_empty() {
                    title = read.title.take().unwrap_or_default().chars().take(TITLE).collect();
                    title = printable(&title, TITLE, "a title")?;
                }
                let of = &mut read.of;
                let presets = if presets.is_empty() { of.presets.clone() } else { presets };
                let game = game.or_else(|| of.game.clone());
                let setup = self.setup(of.rules.take(), game, presets).await?;
                let setup = Setup { fen: of.fen.take().or(setup.fen), ..setup };
                outline = Some(read);
                (setup, Vec::new())
            }
        };
        let Setup { game, presets, rules, fen, facts, sides, .. } = setup;
        let title = if title.is_empty() { format!("A study of {game}") } else { title };
        let mut study = Study {
            id: new_id()?,
            title,
            owner: account.id(),
            game,
            presets,
            rules,
            fen,
            facts,
            sides,
            comment: String::new(),
            nodes: Vec::new(),
            next: 1,
        };
        if let Some(outline) = outline {
            study = self.host.with_outline(study, outline).await?;
        } else {
            let (_, all) = self.host.replayed(&study, played).await?;
            let mut after = 0;
            for played in &all {
                after = study.add(after, played)?;
            }
        }
        let (id, owner, to) = (study.id.clone(), account.id(), Some(study.text()?));
        let listed = json!({ "title": study.title, "game": study.game }).to_string();
        let make = move |store: &mut dyn Store| {
            if store.records(&list_key(&owner, ""), "", STUDIES)?.len() >= STUDIES {
                return Ok(false);
            }
            let list = Change { key: list_key(&owner, &id), from: None, to: Some(listed) };
            store.change(&[Change { key: key(&id), from: None, to }, list])
        };
        match self.host.reads().ask(make).await? {
            true => Ok(study),
            false => Err(full(format!("an account has {STUDIES} studies at most: remove one"))),
        }
    }

    /// The setup of a new game, by the rules of that hash if this server knows them, else by its own.
    async fn setup(
        &self,
        hash: Option<String>,
        game: Option<String>,
        presets: Vec<String>,
    ) -> Result<Setup, Problem> {
        let mut rules = self.host.library.own_hash();
        if let Some(hash) = hash
            && self.host.know_rules(&hash).await.is_ok()
        {
            rules = hash;
        }
        let game = game.unwrap_or_else(|| "chess".to_owned());
        let ruleset = self.host.ruleset(&rules, &game, &presets).await?;
        let (game, sides) = (ruleset.game().name.clone(), ruleset.sides());
        let fen = ruleset.chosen_start().map(str::to_owned);
        Ok(Setup { game, sides, presets, fen, rules, ..Setup::default() })
    }

    /// The study of that id.
    ///
    /// # Errors
    /// There is no such study, or the store cannot be reached.
    pub(super) async fn study(&self, id: &str) -> Result<Study, Problem> {
        let wanted = id.to_owned();
        let found = self.host.reads().ask(move |store| read(store, &wanted)).await?;
        found.map(|it| it.1).ok_or_else(|| no_study(id))
    }

    /// The studies of an account.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub(super) async fn studies_of(&self, account: &Account) -> Result<Vec<Listed>, Problem> {
        let prefix = list_key(&account.id(), "");
        let list = move |store: &mut dyn Store| {
            let found = store.records(&prefix, "", STUDIES)?;
            let listed = |(key, text): (String, String)| {
                let id = key[prefix.len()..].to_owned();
                Some(Listed { id, ..serde_json::from_str(&text).ok()? })
            };
            Ok(found.into_iter().filter_map(listed).collect())
        };
        Ok(self.host.reads().ask(list).await?)
    }

    /// The position after an action of a study, as pages draw it.
    ///
    /// # Errors
    /// There is no such study, or no such action.
    pub(super) async fn study_position(&self, id: &str, node: u32) -> Result<Value, Problem> {
        let study = self.study(id).await?;
        let (mut board, _) = self.host.replayed(&study, study.path(node)?).await?;
        let lane = self.host.slow_lane(&study.rules);
        let title = board.title_of(&study.game);
        let look = move || {
            let game = board.game_mut();
            let result = game.result().map(|it| it.reason.replace('_', " "));
            (game.view(), result)
        };
        let (position, result) = self.host.pool.run(lane, look).await?;
        Ok(json!({ "node": node, "title": title, "position": position, "result": result }))
    }

    /// Adds an action after another one. Returns the study with the number of the new action.
    ///
    /// # Errors
    /// It is not legal there, or the study is full.
    pub(super) async fn study_move(
        &self,
        account: &Account,
        id: &str,
        after: u32,
        uci: String,
    ) -> Result<(Study, u32), Problem> {
        let study = self.study(id).await?;
        let mut path = study.path(after)?;
        Study::has_room_after(path.len())?;
        path.push(uci);
        own(&study, account)?;
        let (_, mut all) = self.host.replayed(&study, path).await?;
        let played = all.pop().ok_or_else(no_node)?;
        let add = move |study: &mut Study| {
            // The action before it may have been removed meanwhile.
            study.path(after)?;
            study.add(after, &played)
        };
        self.change_study(account, id, add).await
    }

    /// Sets the comment on the position after an action.
    ///
    /// # Errors
    /// There is no such action, or the comment is too long.
    pub(super) async fn study_comment(
        &self,
        account: &Account,
        id: &str,
        node: u32,
        text: String,
    ) -> Result<Study, Problem> {
        let say = move |study: &mut Study| study.comment(node, &text);
        Ok(self.change_study(account, id, say).await?.0)
    }

    /// Removes an action with all that follows it.
    ///
    /// # Errors
    /// There is no such action.
    pub(super) async fn study_remove(
        &self,
        account: &Account,
        id: &str,
        node: u32,
    ) -> Result<Study, Problem> {
        Ok(self.change_study(account, id, move |study| study.remove(node)).await?.0)
    }

    /// Removes a study.
    ///
    /// # Errors
    /// There is no such study, or it belongs to another account.
    pub(super) async fn drop_study(&self, account: &Account, id: &str) -> Result<(), Problem> {
        let (id, account) = (id.to_owned(), account.clone());
        let remove = move |store: &mut dyn Store| {
            let (text, study) = read(store, &id)?.ok_or_else(|| no_study(&id))?;
            own(&study, &account)?;
            let list = list_key(&study.owner, &id);
            let listed = store.record(&list)?;
            let gone = [
                Change { key: key(&id), from: Some(text), to: None },
                Change { key: list, from: listed, to: None },
            ];
            if store.change(&gone)? { Ok(()) } else { Err(busy()) }
        };
        self.host.reads().request(remove).await
    }

    async fn change_study<T: Send + 'static>(
        &self,
        account: &Account,
        id: &str,
        edit: impl Fn(&mut Study) -> Result<T, Problem> + Send + 'static,
    ) -> Result<(Study, T), Problem> {
        let (id, account) = (id.to_owned(), account.clone());
        let change = move |store: &mut dyn Store| {
            edited(store, busy, |store| {
                let (before, mut study) = read(store, &id)?.ok_or_else(|| no_study(&id))?;
                own(&study, &account)?;
                let done = edit(&mut study)?;
                let to = Some(study.text()?);
                Ok(((study, done), vec![Change { key: key(&id), from: Some(before), to }]))
            })
        };
        self.host.reads().request(change).await
    }
}

fn own(study: &Study, account: &Account) -> Result<(), Problem> {
    if study.owner == account.id() {
        return Ok(());
    }
    let message = "only its owner changes a study";
    Err(Problem::forbidden("not_yours", message))
}

fn busy() -> Problem {
    let message = "others are changing this study at the moment: try again";
    Problem::conflict("study_busy", message)
}
