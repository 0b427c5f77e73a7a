//! Ratings by Glicko-2: one for each account and each rule set by which it has played rated games.
//!
//! The end of a rated game and an empty record that marks it as unsettled are stored in one transaction. To settle the
//! game, the ratings of both players and the record of how they changed are written, and the mark is removed, all
//! together or not at all. So a game counts once, whatever node settles it and however often that is tried; a game that
//! a dead node left is settled by another node.
//! Deliberately absent: the mathematics, for which there is the crate `skillratings`.

use std::sync::{Arc, Weak};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skillratings::Outcomes;
use skillratings::glicko2::{Glicko2Config, Glicko2Rating, decay_deviation, glicko2};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, timeout_at};
use utoipa::ToSchema;

use super::core::{LogEntry, Setup, outcome_of, seats_of, setup_of};
use super::host::Host;
use super::ids::short_hash;
use super::problem::Problem;
use super::store::{Change, Store, StoreError, next_count};
use super::time::DAY;
use crate::presets::Ruleset;

/// Interval at which a node looks for games that it or another node left unsettled.
const LOOK: Duration = Duration::from_secs(60);
/// Maximum number of games that are read at a time.
const AT_ONCE: usize = 100;
/// A game with fewer actions is not rated.
pub(super) const MIN_ACTIONS: usize = 2;
/// Maximum number of rule sets that one account is rated for.
const RULE_SETS: usize = 100;
/// Maximum number of characters of a rule set's name; a longer one becomes the name of the game and a hash.
const NAME: usize = 200;
/// Length of a period, in milliseconds. With each period without a game, a rating becomes less certain.
const PERIOD: u64 = 7 * DAY;
/// Maximum number of such periods that are counted.
const PERIODS: u64 = 200;
/// Maximum number of leaders that are listed.
const LEADERS: usize = 50;
/// Maximum number of accounts, provisional ones among them, that are examined for the list of leaders under each name
/// of the rule set.
const EXAMINED: usize = 500;
/// A rating with a deviation above this one is provisional.
const PROVISIONAL: f64 = 110.0;

/// The rating of one account for one rule set, as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct RatingRecord {
    rating: f64,
    deviation: f64,
    volatility: f64,
    games: u32,
    /// When the last of these games ended.
    at: u64,
}

/// A rating as clients get it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(super) struct Rating {
    /// The rule set: the game and the presets on top of it, each as short as it can be written.
    pub(super) rules: String,
    pub(super) rating: i32,
    /// The rating deviation of Glicko-2: the player's strength is within two deviations of the rating with a
    /// probability of 95 %.
    pub(super) deviation: i32,
    /// The number of rated games.
    pub(super) games: u32,
    /// Whether the deviation is so high that the rating is not reliable yet.
    pub(super) provisional: bool,
}

/// An account with a high rating.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(super) struct Leader {
    pub(super) id: String,
    pub(super) rating: i32,
    /// The number of rated games.
    pub(super) games: u32,
}

/// What a rated game has done to ratings, as the store keeps it and clients get it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(super) struct Settled {
    /// The rule set.
    pub(super) rules: String,
    /// The players, by side.
    pub(super) players: Vec<RatingChange>,
}

/// The rating of a player before and after a game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(super) struct RatingChange {
    pub(super) id: String,
    pub(super) before: i32,
    pub(super) after: i32,
}

/// The key of the empty record that marks a game as over, but not settled.
pub(super) fn unsettled_key(game: &str) -> String {
    format!("{UNSETTLED}{game}")
}

/// The prefix of these keys, in which `unrated` means not settled.
const UNSETTLED: &str = "unrated ";

fn rated_key(game: &str) -> String {
    format!("rated {game}")
}

fn rating_key(id: &str, name: &str) -> String {
    format!("{}{name}", rating_prefix(id))
}

fn rating_prefix(id: &str) -> String {
    format!("rating {id} ")
}

/// The key of the number of rule sets that an account was ever rated for.
fn rule_sets_key(id: &str) -> String {
    format!("rule-sets {id}")
}

/// The prefix of keys that sort by rating, the highest first. The name of a rule set may have several words, so its
/// hash stands for it.
fn rank_prefix(name: &str) -> String {
    format!("rank {} ", short_hash(name))
}

fn rank_key(name: &str, rating: f64, id: &str) -> String {
    let below = (9_999.0 - rating.clamp(0.0, 9_999.0)).round();
    format!("{}{below:04} {id}", rank_prefix(name))
}

impl RatingRecord {
    fn new(at: u64) -> Self {
        let Glicko2Rating { rating, deviation, volatility } = Glicko2Rating::new();
        Self { rating, deviation, volatility, games: 0, at }
    }

    /// The rating now, less certain for the time without games.
    fn glicko(&self, now: u64) -> Glicko2Rating {
        let Self { rating, deviation, volatility, .. } = *self;
        let mut aged = Glicko2Rating { rating, deviation, volatility };
        for _ in 0..(now.saturating_sub(self.at) / PERIOD).min(PERIODS) {
            aged = decay_deviation(&aged);
        }
        aged
    }

    fn after(&self, new: Glicko2Rating, at: u64) -> Self {
        let Glicko2Rating { rating, deviation, volatility } = new;
        Self { rating, deviation, volatility, games: self.games + 1, at }
    }
}

/// A number rounded for display.
fn rounded(value: f64) -> i32 {
    value.round() as i32
}

/// The ratings of an account, those with the most games first.
pub(super) fn of(store: &mut dyn Store, id: &str, now: u64) -> Result<Vec<Rating>, StoreError> {
    let prefix = rating_prefix(id);
    let mut all = Vec::new();
    for (key, text) in store.records(&prefix, "", RULE_SETS)? {
        let Ok(kept) = serde_json::from_str::<RatingRecord>(&text) else { continue };
        let deviation = kept.glicko(now).deviation;
        all.push(Rating {
            rules: key[prefix.len()..].to_owned(),
            rating: rounded(kept.rating),
            deviation: rounded(deviation),
            games: kept.games,
            provisional: deviation > PROVISIONAL,
        });
    }
    all.sort_by_key(|it| std::cmp::Reverse(it.games));
    Ok(all)
}

/// The rating of an account for a rule set; the rating of a new player if it has played no rated game by these rules.
pub(super) fn current(
    store: &mut dyn Store,
    id: &str,
    rules: &RatedRules,
) -> Result<f64, StoreError> {
    let found = stored(store, id, rules)?.and_then(|it| it.record());
    Ok(found.unwrap_or_else(|| RatingRecord::new(0)).rating)
}

/// An account's rating for a rule set as the store has it.
struct StoredRating<'r> {
    /// The name of the rule set that it is kept under.
    rules: &'r str,
    text: String,
}

impl StoredRating<'_> {
    fn record(&self) -> Option<RatingRecord> {
        serde_json::from_str(&self.text).ok()
    }
}

fn stored<'r>(
    store: &mut dyn Store,
    id: &str,
    rules: &'r RatedRules,
) -> Result<Option<StoredRating<'r>>, StoreError> {
    for name in rules.names() {
        if let Some(text) = store.record(&rating_key(id, name))? {
            return Ok(Some(StoredRating { rules: name, text }));
        }
    }
    Ok(None)
}

/// The accounts with the highest ratings for a rule set, of those whose ratings are no longer provisional.
pub(super) fn leaders(
    store: &mut dyn Store,
    rules: &RatedRules,
    now: u64,
) -> Result<Vec<Leader>, StoreError> {
    let mut found: Vec<Leader> = Vec::new();
    for prefix in rules.names().map(rank_prefix) {
        for (key, text) in store.records(&prefix, "", EXAMINED)? {
            let Ok(kept) = serde_json::from_str::<RatingRecord>(&text) else { continue };
            let Some((_, id)) = key[prefix.len()..].split_once(' ') else { continue };
            let is_known = found.iter().any(|it| it.id == id);
            if !is_known && kept.glicko(now).deviation <= PROVISIONAL {
                let (id, rating) = (id.to_owned(), rounded(kept.rating));
                found.push(Leader { id, rating, games: kept.games });
            }
        }
    }
    found.sort_by_key(|it| std::cmp::Reverse(it.rating));
    found.truncate(LEADERS);
    Ok(found)
}

/// The effect of a game on ratings; `None` if it is not rated or not settled yet, or changed no ratings.
pub(super) fn settled(store: &mut dyn Store, game: &str) -> Result<Option<Settled>, StoreError> {
    Ok(store.record(&rated_key(game))?.and_then(|it| serde_json::from_str(&it).ok()))
}

/// A rule set, by the names under which ratings for it are kept.
#[derive(Debug, Clone)]
pub(super) struct RatedRules {
    /// Its name: the same however its presets are written.
    pub(super) name: String,
    /// The names that earlier versions may have kept ratings under: they took presets as they were written.
    earlier: Vec<String>,
}

impl RatedRules {
    /// The rule set of that name, without earlier ones.
    pub(super) fn named(name: String) -> Self {
        Self { name, earlier: Vec::new() }
    }

    /// A game with presets; `uploaded` as in [`name_of`].
    pub(super) fn of(ruleset: &Ruleset, presets: &[String], uploaded: Option<&str>) -> Self {
        let (short, full): (Vec<_>, Vec<_>) = ruleset.added().into_iter().unzip();
        let name = |presets: &[String]| name_of(&ruleset.game().name, presets, uploaded);
        let mut rules = Self::named(name(&short));
        for earlier in [name(presets), name(&full)] {
            if !rules.names().any(|it| it == earlier) {
                rules.earlier.push(earlier);
            }
        }
        rules
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        [&self.name].into_iter().chain(&self.earlier).map(String::as_str)
    }
}

impl Host {
    /// The rule set of a game with presets; `rules` is the hash of the rule files.
    ///
    /// # Errors
    /// The game cannot be loaded.
    pub(super) async fn rated_rules(
        self: &Arc<Self>,
        rules: &str,
        game: &str,
        presets: &[String],
    ) -> Result<RatedRules, Problem> {
        let (ruleset, _) = self.rules_of(rules, game, presets).await?;
        let uploaded = Some(rules).filter(|it| self.library.is_uploaded(it));
        Ok(RatedRules::of(&ruleset, presets, uploaded))
    }
}

/// The name of a rule set: the game, its presets in alphabetical order, and, if its rules were uploaded, the beginning of
/// their hash (`uploaded`).
fn name_of(game: &str, presets: &[String], uploaded: Option<&str>) -> String {
    let mut words: Vec<&str> = presets.iter().map(String::as_str).collect();
    words.sort_unstable();
    words.insert(0, game);
    let mut name = words.join(" ");
    if let Some(hash) = uploaded {
        name = format!("{name} by {}", hash.get(..16).unwrap_or(hash));
    }
    match name.chars().count() <= NAME {
        true => name,
        false => format!("{game} {}", blake3::hash(name.as_bytes()).to_hex()),
    }
}

/// The rated result of a log: the players by side, and the outcome for the first of them.
fn result(log: &[LogEntry]) -> Option<([String; 2], Outcomes)> {
    let mut players = [None, None];
    for (side, seat) in seats_of(log) {
        *players.get_mut(side)? = seat.token.account().map(str::to_owned);
    }
    let result = match outcome_of(log)?.winner {
        Some(0) => Outcomes::WIN,
        Some(_) => Outcomes::LOSS,
        None => Outcomes::DRAW,
    };
    let [Some(first), Some(second)] = players else { return None };
    (first != second).then_some(([first, second], result))
}

/// Settles games for as long as the server runs, beginning with those that were left unsettled.
pub async fn settle_games(host: Weak<Host>) {
    let Some(mut ended) = host.upgrade().map(|it| it.ended.subscribe()) else { return };
    loop {
        {
            let Some(host) = host.upgrade() else { return };
            if let Err(problem) = settle_all(&host).await {
                tracing::warn!(problem.message, "rated games wait to be settled");
            }
        }
        let look_again = Instant::now() + LOOK;
        loop {
            let id = match next_ended(&mut ended, look_again).await {
                Ok(Some(id)) => id,
                Ok(None) => break,
                Err(_) => return,
            };
            let Some(host) = host.upgrade() else { return };
            if let Err(problem) = settle(&host, &id).await {
                tracing::warn!(game = id, problem.message, "a rated game waits to be settled");
            }
        }
    }
}

/// The next game that ends on this node; `None` if endings were missed, and always from the moment `until` on.
///
/// # Errors
/// No more games will end.
pub(super) async fn next_ended(
    ended: &mut Receiver<String>,
    until: Instant,
) -> Result<Option<String>, RecvError> {
    if Instant::now() >= until {
        return Ok(None);
    }
    match timeout_at(until, ended.recv()).await {
        Ok(Ok(id)) => Ok(Some(id)),
        Ok(Err(RecvError::Lagged(_))) | Err(_) => Ok(None),
        Ok(Err(closed)) => Err(closed),
    }
}

async fn settle_all(host: &Arc<Host>) -> Result<(), Problem> {
    let mut after = String::new();
    loop {
        let from = after.clone();
        let read = move |store: &mut dyn Store| store.records(UNSETTLED, &from, AT_ONCE);
        let found = host.reads().ask(read).await?;
        for (key, _) in &found {
            let Some(id) = key.strip_prefix(UNSETTLED) else { continue };
            // A game that cannot be settled does not hold up the others.
            if let Err(problem) = settle(host, id).await {
                tracing::warn!(game = id, problem.message, "a rated game cannot be settled");
            }
        }
        match found.last() {
            Some((key, _)) if found.len() == AT_ONCE => after.clone_from(key),
            _ => return Ok(()),
        }
    }
}

/// Settles a game, if it is unsettled.
async fn settle(host: &Arc<Host>, id: &str) -> Result<(), Problem> {
    let unsettled = unsettled_key(id);
    let key = unsettled.clone();
    if host.reads().ask(move |store| store.record(&key)).await?.is_none() {
        return Ok(());
    }
    let log = host.log(id).await?;
    let played = match setup_of(&log).zip(result(&log)) {
        None => None,
        Some((setup, result)) => Some((rules_of(host, setup).await?, result)),
    };
    let (game, now) = (id.to_owned(), log.last().map_or(0, |it| it.at));
    let edit = move |store: &mut dyn Store| {
        let mut changes = Vec::new();
        // Another node may have settled the game since.
        if let from @ Some(_) = store.record(&unsettled)? {
            changes.push(Change { key: unsettled.clone(), from, to: None });
            if let Some((rules, (players, outcome))) = &played
                && let Some(counts) = room(store, players, rules)?
            {
                changes.extend(counts);
                changes.extend(rating_changes(store, &game, rules, players, *outcome, now)?);
            }
        }
        Ok(((), changes))
    };
    host.reads().edit(Problem::unavailable, edit).await
}

/// The rule set of a game. If the rules are gone, or cannot be loaded any more, its name has the presets as
/// the game's set-up does.
async fn rules_of(host: &Arc<Host>, setup: &Setup) -> Result<RatedRules, Problem> {
    let Setup { game, presets, rules, .. } = setup;
    match host.rated_rules(rules, game, presets).await {
        Err(problem) if !problem.status.is_server_error() => {
            let uploaded = Some(rules.as_str()).filter(|it| host.library.is_uploaded(it));
            Ok(RatedRules::named(name_of(game, presets, uploaded)))
        }
        found => found,
    }
}

/// The changes that count the rule sets that are new for players; `None` if one of them has no room for one more.
fn room(
    store: &mut dyn Store,
    players: &[String; 2],
    rules: &RatedRules,
) -> Result<Option<Vec<Change>>, StoreError> {
    let mut counts = Vec::new();
    for id in players {
        if stored(store, id, rules)?.is_some() {
            continue;
        }
        // Before the rule sets are counted: see `next_count`.
        counts.push(next_count(store, rule_sets_key(id))?);
        if store.records(&rating_prefix(id), "", RULE_SETS)?.len() >= RULE_SETS {
            return Ok(None);
        }
    }
    Ok(Some(counts))
}

/// The records that the settling of a game changes, besides the mark that it is unsettled.
fn rating_changes(
    store: &mut dyn Store,
    game: &str,
    rules: &RatedRules,
    players: &[String; 2],
    outcome: Outcomes,
    now: u64,
) -> Result<Vec<Change>, StoreError> {
    let mut old_ratings = Vec::new();
    for id in players {
        let found = stored(store, id, rules)?;
        let record = found.as_ref().and_then(StoredRating::record);
        old_ratings.push((found, record.unwrap_or_else(|| RatingRecord::new(now))));
    }
    let glicko = |at: usize| old_ratings[at].1.glicko(now);
    let (first, second) = glicko2(&glicko(0), &glicko(1), &outcome, &Glicko2Config::new());
    let mut new_ratings = Vec::new();
    let mut changes = Vec::new();
    for ((id, (found, old)), new) in players.iter().zip(old_ratings).zip([first, second]) {
        let new = old.after(new, now.max(old.at));
        let (before, after) = (rounded(old.rating), rounded(new.rating));
        new_ratings.push(RatingChange { id: id.clone(), before, after });
        changes.extend(rating_change(store, id, &rules.name, found, &old, &new)?);
    }
    let settled = Settled { rules: rules.name.clone(), players: new_ratings };
    let to = serde_json::to_string(&settled).ok();
    changes.push(Change { key: rated_key(game), from: None, to });
    Ok(changes)
}

/// The changes that keep the new rating of an account for the rule set `name`, and its rank. `found` is the `old` rating
/// as the store has it, maybe under an earlier name of the rule set.
fn rating_change(
    store: &mut dyn Store,
    id: &str,
    name: &str,
    found: Option<StoredRating<'_>>,
    old: &RatingRecord,
    new: &RatingRecord,
) -> Result<Vec<Change>, StoreError> {
    let mut changes = Vec::new();
    let to = serde_json::to_string(new).ok();
    let old_name = found.as_ref().map_or(name, |it| it.rules);
    let (old_rank, rank) = (rank_key(old_name, old.rating, id), rank_key(name, new.rating, id));
    if old_rank != rank {
        let from = store.record(&old_rank)?;
        changes.extend(from.map(|it| Change { key: old_rank, from: Some(it), to: None }));
    }
    let from = store.record(&rank)?;
    changes.push(Change { key: rank, from, to: to.clone() });
    let mut from = found.map(|it| it.text);
    if old_name != name {
        changes.push(Change { key: rating_key(id, old_name), from: from.take(), to: None });
    }
    changes.push(Change { key: rating_key(id, name), from, to });
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use tokio::sync::broadcast;

    use super::*;
    use crate::server::store::{Temporary, open};

    /// Two nodes settle games of a player who has room for one more rule set.
    #[test]
    fn two_nodes_at_once_keep_to_the_limit_of_rule_sets() {
        let name = format!("rulemate-rule-sets-{}", std::process::id());
        let file = Temporary(std::env::temp_dir().join(name));
        let url = file.0.to_str().unwrap();
        let (mut one, mut two) = (open(url).unwrap(), open(url).unwrap());
        let players = ["ann".to_owned(), "ben".to_owned()];
        let kept = |at: usize| {
            let key = rating_key("ann", &format!("rules{at}"));
            Change { key, from: None, to: Some(String::new()) }
        };
        assert!(one.change(&(1..RULE_SETS).map(kept).collect::<Vec<_>>()).unwrap());
        let settled = |store: &mut dyn Store, game: &str| {
            let rules = RatedRules::named(game.to_owned());
            let mut changes = room(store, &players, &rules).unwrap().unwrap();
            let outcome = Outcomes::WIN;
            changes.extend(rating_changes(store, game, &rules, &players, outcome, 1).unwrap());
            changes
        };
        let (chess, atomic) = (settled(one.as_mut(), "chess"), settled(two.as_mut(), "atomic"));
        assert!(one.change(&chess).unwrap());
        assert!(!two.change(&atomic).unwrap(), "it has to count again");
        let rules = RatedRules::named("atomic".to_owned());
        assert_eq!(room(two.as_mut(), &players, &rules).unwrap(), None);
    }

    /// However often games end on a node, it looks for unsettled ones when the interval is over.
    #[tokio::test]
    async fn a_busy_node_looks_for_unsettled_games() {
        let (sender, mut ended) = broadcast::channel(4);
        let until = Instant::now() + Duration::from_millis(100);
        let mut seen = 0;
        loop {
            sender.send("game".to_owned()).unwrap();
            match next_ended(&mut ended, until).await.unwrap() {
                Some(_) => seen += 1,
                None => break,
            }
        }
        assert!(seen > 0);
        // A node on which no game ends looks as well.
        let (_sender, mut quiet) = broadcast::channel(4);
        let until = Instant::now() + Duration::from_millis(10);
        assert_eq!(next_ended(&mut quiet, until).await, Ok(None));
    }
}
