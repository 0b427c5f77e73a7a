//! From what was typed to a game on the board.
//!
//! interim: composed by hand until the catalogue is in

use std::collections::HashMap;
use std::sync::Arc;

use super::args::PositionArgs;
use super::output::{OrFix, trouble};
use crate::derive::{Backend, Plan, World};
use crate::facts::{GAME, Value};
use crate::game::{Game, Terms};
use crate::rules::{Program, compile, embedded_folder, embedded_sources};

pub(crate) fn open(args: &PositionArgs) -> anyhow::Result<Game> {
    Library::new().start(&args.game, &args.presets, args.fen.as_deref())
}

pub(crate) struct Library {
    plans: HashMap<String, (Arc<Plan>, Arc<Terms>)>,
}

impl Library {
    pub(crate) fn new() -> Self {
        Self { plans: HashMap::new() }
    }

    pub(crate) fn start(&mut self, name: &str, _presets: &[String], fen: Option<&str>) -> anyhow::Result<Game> {
        let name = name.to_lowercase();
        let name = match name.as_str() { "fischerandom" => "chess960", "preset-coregal" => "coregal", "preset-knightmate" => "knightmate", "preset-knightmate-classic" => "knightmate-classic", it => it };
        if !self.plans.contains_key(name) {
            let path = format!("rules/games/{name}.dl");
            let mut sources = embedded_folder("rules/core");
            let mut game = embedded_sources(&[path.as_str()]);
            if game.is_empty() { return Err(trouble(format!("no game named `{name}`"), "`rulemate games` lists them")); }
            sources.extend(embedded_folder("rules/presets"));
            sources.append(&mut game);
            let program: Program = compile(sources).or_fix("rules")?;
            let program = Arc::new(program);
            let terms = Terms::resolve(&program).or_fix("rules")?;
            let plan = Plan::compile(program).or_fix("rules")?;
            self.plans.insert(name.to_owned(), (Arc::new(plan), Arc::new(terms)));
        }
        let (plan, terms) = &self.plans[name];
        let mut world = World::new(plan.clone(), Backend::Bits);
        let program = plan.program().clone();
        let meta = |key: &str| program.meta.iter().filter(|it| it.key == key).map(|it| it.value.clone()).collect::<Vec<_>>();
        for used in meta("use") {
            let preset = used.split(':').next().unwrap_or("").to_owned();
            let it = world.create();
            let schema = program.schema.clone();
            let attr = |name: &str| schema.attribute_named(name).ok_or_else(|| trouble(name.to_owned(), "x"));
            let member = |domain: &str, name: &str| schema.domain(schema.domain_named(domain).unwrap_or(crate::facts::BOOL)).member(name).unwrap_or(0) as u16;
            world.insert(it, attr("preset")?, Value::Member(member("Preset", &preset)))?;
            world.insert(it, attr("scope")?, Value::Member(member("Scope", "both")))?;
            if used.contains("castling=true") { world.insert(it, attr("suicide-chess.castling")?, Value::Bool(true))?; }
            if preset == "suicide-chess" { world.insert(it, attr("suicide-chess.promote_to_king")?, Value::Bool(true))?; }
        }
        for fact in meta("fact") {
            if let Some((name, _)) = fact.split_once('=') && let Some(attr) = program.schema.attribute_named(name) {
                world.insert(GAME, attr, Value::Bool(true))?;
            }
        }
        world.commit();
        let start = meta("start").into_iter().next().unwrap_or_default();
        Game::from_fen(world, terms.clone(), fen.unwrap_or(&start)).or_fix("FEN")
    }
}
