//! `rulemate facts`: the facts of a position, one per line, or as the JSON that `--facts` reads.

use super::Verdict;
use super::args::FactsArgs;
use super::output::Out;
use super::setup;
use crate::facts::saved;

pub(crate) fn run(args: &FactsArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let game = setup::open(&args.position)?.game;
    if args.json {
        out.text(game.to_json())?;
        return Ok(Verdict::Fine);
    }
    let schema = game.facts().schema();
    for fact in game.facts().all_facts() {
        out.line(saved(schema, &fact))?;
    }
    Ok(Verdict::Fine)
}
