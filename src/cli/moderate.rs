//! `rulemate moderate` and `rulemate prune`: an operator's tools for reports, accounts, tournaments and old games.

use serde_json::json;

use super::Verdict;
use super::output::{OrFix, Out, trouble};
use super::serve::{existing_store, store_url};
use super::server_args::{ModerateArgs, PruneArgs};
use crate::rules::plural;
use crate::server::store;
use crate::server::{DAY, close_account, end_tournament, forget_reports, reports, wall_clock};

/// Number of games that are removed in one transaction.
const AT_ONCE: usize = 200;
/// The fix if the store fails.
const AGAIN: &str = "try again when the store can be reached";

/// Makes the requested changes, then lists the reports that are left. The first change that fails ends the command;
/// those before it are not undone.
pub(crate) fn moderate(args: &ModerateArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let is_change = [&args.close, &args.end, &args.done].iter().any(|it| !it.is_empty());
    let open = if is_change { store::open } else { store::open_to_read };
    let mut store = existing_store(&store_url(args.store.as_deref())?, open)?;
    for name in &args.close {
        let is_closed = close_account(store.as_mut(), name).or_fix(AGAIN)?;
        if !is_closed {
            return Err(trouble(
                format!("there is no account {name} that can be closed"),
                "pages of games show the names of those who play them; accounts of an earlier version cannot be closed",
            ));
        }
        if !args.json {
            out.line(format_args!("{name} is closed"))?;
        }
    }
    for id in &args.end {
        if !end_tournament(store.as_mut(), id, wall_clock()).or_fix(AGAIN)? {
            return Err(trouble(
                format!("there is no tournament {id} that is not over or ending"),
                "its id is the end of its address, /tournament/ID",
            ));
        }
        if !args.json {
            out.line(format_args!("/tournament/{id} ends: there are no more pairings"))?;
        }
    }
    let mut done = 0;
    for game in &args.done {
        done += forget_reports(store.as_mut(), game).or_fix(AGAIN)?;
    }
    let found = reports(store.as_mut()).or_fix(AGAIN)?;
    if args.json {
        out.json(
            &json!({ "closed": args.close, "ended": args.end, "done": done, "reports": found }),
        )?;
        return Ok(Verdict::Fine);
    }
    if !args.done.is_empty() {
        out.line(forgotten(done, "report"))?;
    }
    for report in &found {
        let by = report.by.as_deref().unwrap_or("a guest");
        out.line(format_args!("/game/{}: {by}: {}", report.game, report.text))?;
    }
    if found.is_empty() {
        out.line("there are no reports")?;
    }
    Ok(Verdict::Fine)
}

/// Removes old games.
pub(crate) fn prune(args: &PruneArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let open = if args.dry_run { store::open_to_read } else { store::open };
    let mut store = existing_store(&store_url(args.store.as_deref())?, open)?;
    let before = wall_clock().saturating_sub(args.days.saturating_mul(DAY));
    let old = store.older(before).or_fix(AGAIN)?;
    let mut count = old.len();
    if !args.dry_run {
        count = 0;
        for some in old.chunks(AT_ONCE) {
            count += store
                .forget(some, before)
                .or_fix(format!("{}: try again for the others", forgotten(count, "game")))?;
        }
    }
    if args.json {
        out.json(&json!({ "games": count, "forgotten": !args.dry_run }))?;
        return Ok(Verdict::Fine);
    }
    match args.dry_run {
        true => {
            let days = usize::try_from(args.days).unwrap_or(usize::MAX);
            let (games, days) = (plural(count, "game"), plural(days, "day"));
            out.line(format_args!("nothing has happened in {games} for {days}"))?;
        }
        false => out.line(forgotten(count, "game"))?,
    }
    Ok(Verdict::Fine)
}

/// `1 game is forgotten`, `2 games are forgotten`.
fn forgotten(count: usize, noun: &str) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{} {verb} forgotten", plural(count, noun))
}
