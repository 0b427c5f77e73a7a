//! `rulemate moderate` and `rulemate prune`: an operator's tools for reports, accounts and old games.

use serde_json::json;

use super::Verdict;
use super::output::{OrFix, Out, trouble};
use super::serve::{STORE_HELP, store_url};
use super::server_args::{ModerateArgs, PruneArgs};
use crate::server::store::{self, Store};
use crate::server::{DAY, close_account, end_tournament, forget_reports, reports, wall_clock};

/// Number of games that are removed in one transaction.
const AT_ONCE: usize = 200;

/// Opens an existing store; none is created.
fn open(url: Option<&str>) -> anyhow::Result<Box<dyn Store>> {
    let url = store_url(url)?;
    let path = url.strip_prefix("sqlite://").unwrap_or(&url);
    if !url.starts_with("postgres") && !std::path::Path::new(path).exists() {
        return Err(trouble(format!("there is no store {url}"), "name one with --store"));
    }
    store::open(&url).or_fix(STORE_HELP)
}

/// Lists reports, and carries out the requested changes.
pub(crate) fn moderate(args: &ModerateArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut store = open(args.store.as_deref())?;
    let away = "the store is away: try again";
    for name in &args.close {
        let is_closed = close_account(store.as_mut(), name).or_fix(away)?;
        if !is_closed {
            return Err(trouble(
                format!("there is no account {name} that could be closed"),
                "look for its name on a page of its games",
            ));
        }
    }
    for id in &args.end {
        if !end_tournament(store.as_mut(), id, wall_clock()).or_fix(away)? {
            return Err(trouble(
                format!("there is no tournament {id} that goes on"),
                "its id is the end of its address, /tournament/ID",
            ));
        }
    }
    let mut done = 0;
    for game in &args.done {
        done += forget_reports(store.as_mut(), game).or_fix(away)?;
    }
    let found = reports(store.as_mut()).or_fix(away)?;
    if args.json {
        out.json(
            &json!({ "closed": args.close, "ended": args.end, "done": done, "reports": found }),
        )?;
        return Ok(Verdict::Fine);
    }
    for name in &args.close {
        out.line(format_args!("{name} is closed"))?;
    }
    for id in &args.end {
        out.line(format_args!("/tournament/{id} ends: nobody is paired any more"))?;
    }
    if !args.done.is_empty() {
        out.line(format_args!("{done} reports are forgotten"))?;
    }
    for it in &found {
        let by = it.by.as_deref().unwrap_or("a guest");
        out.line(format_args!("/game/{}: {by}: {}", it.game, it.text))?;
    }
    if found.is_empty() {
        out.line("no reports wait")?;
    }
    Ok(Verdict::Fine)
}

/// Removes old games.
pub(crate) fn prune(args: &PruneArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut store = open(args.store.as_deref())?;
    let before = wall_clock().saturating_sub(args.days.saturating_mul(DAY));
    let old = store.older(before).or_fix("the store is away: try again")?;
    let mut count = old.len();
    if !args.dry_run {
        count = 0;
        for some in old.chunks(AT_ONCE) {
            count += store.forget(some, before).or_fix("what was forgotten stays so: try again")?;
        }
    }
    if args.json {
        out.json(&json!({ "games": count, "forgotten": !args.dry_run }))?;
        return Ok(Verdict::Fine);
    }
    let days = args.days;
    match args.dry_run {
        true => out.line(format_args!("nothing has happened in {count} games for {days} days"))?,
        false => out.line(format_args!("{count} games are forgotten"))?,
    }
    Ok(Verdict::Fine)
}
