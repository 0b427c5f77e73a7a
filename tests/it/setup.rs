//! Worlds for the tests of the layers below `game`: a named game's rules, its presets active, its
//! start position on the board.

use std::sync::Arc;

use rulemate::internals::derive::{Backend, Plan, World};
use rulemate::internals::moves::notation::{Setup, read_fen};
use rulemate::internals::moves::{Contract, Move};
use rulemate::internals::presets::Catalogue;
use rulemate::internals::rules::{Program, Source, compile, embedded_folder, embedded_sources};

/// A world and its contract.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) world: World,
    pub(crate) contract: Contract,
}

impl Table {
    /// The start position of a game.
    pub(crate) fn of(game: &str) -> Self {
        Self::start(game, &[], None)
    }

    /// A game that starts from a position, so that its presets react to what stands there.
    pub(crate) fn at(game: &str, fen: &str) -> Self {
        Self::start(game, &[], Some(fen))
    }

    /// A game with a preset, and what it requires, from a position.
    pub(crate) fn with(game: &str, preset: &str, fen: &str) -> Self {
        Self::start(game, &[preset], Some(fen))
    }

    fn start(game: &str, presets: &[&str], fen: Option<&str>) -> Self {
        let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
        let active = catalogue.with_required(presets);
        let rules = catalogue.load(game, &active).unwrap_or_else(|it| panic!("{game}: {it}"));
        let mut game = rules.start(fen).unwrap_or_else(|it| panic!("{it}"));
        Self { world: game.world_mut().clone(), contract: rules.contract().clone() }
    }

    /// The start position that the rules themselves declare, with no preset active.
    pub(crate) fn under(program: Program) -> Self {
        let program = Arc::new(program);
        let contract = Contract::resolve(&program).expect("the core rules fit");
        let plan = Plan::compile(Arc::clone(&program)).expect("the rules run");
        let world = World::new(Arc::new(plan), Backend::Bits);
        let mut table = Self { world, contract };
        let start = program.meta.iter().rfind(|it| it.key == "start").expect("a start");
        table.load(&start.value);
        table
    }

    /// Reads a FEN that has to be one.
    pub(crate) fn load(&mut self, fen: &str) -> Setup {
        let read = read_fen(&mut self.world, &self.contract, fen);
        read.unwrap_or_else(|error| panic!("{fen}: {error}"))
    }

    /// Plays a move for good.
    pub(crate) fn play(&mut self, mv: &Move) {
        self.world.fire(mv.action, &mv.args).unwrap_or_else(|it| panic!("{it}"));
        self.world.commit();
    }
}

/// The rules of a game.
pub(crate) fn program(game: &str) -> Program {
    compile(sources(game)).unwrap_or_else(|it| panic!("{it}"))
}

/// The files of a game that uses no preset: core, the layout, its own.
pub(crate) fn sources(game: &str) -> Vec<Source> {
    let own = embedded_sources(&[&format!("rules/games/{game}.dl")]);
    let mut sources = embedded_folder("rules/core");
    sources.extend(embedded_folder("rules/chess"));
    let layout = own[0].text.lines().find_map(|it| it.strip_prefix(".meta layout \""));
    if let Some(name) = layout {
        let name = name.trim_end_matches('"');
        sources.extend(embedded_sources(&[&format!("rules/layouts/{name}.dl")]));
    }
    sources.extend(own);
    sources
}

/// The processor time that this thread has had, whatever else the machine does. Nothing where the system
/// does not tell.
pub(crate) fn effort() -> std::time::Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = told.split_whitespace().next().and_then(|it| it.parse().ok());
    std::time::Duration::from_nanos(nanos.unwrap_or_default())
}
