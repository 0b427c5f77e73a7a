//! Worlds for the tests of the layers below `game`: a named game's rules, its presets active, its
//! start position on the board.

use std::sync::Arc;

use rulemate::derive::{Backend, Plan, World};
use rulemate::facts::{GAME, Value};
use rulemate::moves::notation::{Setup, read_fen};
use rulemate::moves::{Contract, Move};
use rulemate::rules::{Program, Source, compile, embedded_folder, embedded_sources};

/// A world and its contract.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) world: World,
    pub(crate) contract: Contract,
}

impl Table {
    /// The start position of a game of `rules/games`.
    pub(crate) fn of(game: &str) -> Self {
        Self::under(program(game))
    }

    /// The start position that the rules themselves declare.
    pub(crate) fn under(program: Program) -> Self {
        let program = Arc::new(program);
        let contract = Contract::resolve(&program).expect("the core rules fit");
        let plan = Plan::compile(Arc::clone(&program)).expect("the rules run");
        let world = World::new(Arc::new(plan), Backend::Bits);
        let mut table = Self { world, contract };
        for usage in metas(&program, "use") {
            table.activate(&usage);
        }
        for fact in metas(&program, "fact") {
            table.state(&fact);
        }
        // Shuffled games leave the back ranks open; the orthodox one is as good as any here.
        let start = metas(&program, "start")[0].replace("{rank}", "rnbqkbnr");
        table.load(&start.replace("{RANK}", "RNBQKBNR"));
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

    /// `name:scope:option=value,...`.
    fn activate(&mut self, usage: &str) {
        let mut parts = usage.split(':');
        let name = parts.next().unwrap_or_default();
        let scope = parts.next().unwrap_or("both");
        let entity = self.world.create();
        let schema = Arc::clone(&self.world.program().schema);
        for (attr, value) in [("preset", name), ("scope", scope)] {
            let attr = schema.attribute_named(attr).expect("declared");
            let rulemate::facts::AttrType::Member(domain) = schema.attribute(attr).ty else {
                panic!("a member")
            };
            let member = schema.domain(domain).member(value).expect("a known name");
            self.world.set_raw(entity, attr, Some(member));
        }
        let own = format!("{name}.");
        for at in 0..schema.attributes().len() {
            let attribute = &schema.attributes()[at];
            if let (true, Some(_)) = (attribute.name.starts_with(&own), attribute.default) {
                let attr = schema.attribute_named(&attribute.name).expect("itself");
                self.world.set_raw(entity, attr, attribute.default);
            }
        }
        for option in parts.next().unwrap_or_default().split(',').filter(|it| !it.is_empty()) {
            let (option, value) = option.split_once('=').expect("option=value");
            let attr = schema.attribute_named(&format!("{own}{option}")).expect("an option");
            let value = Value::Bool(value == "true");
            self.world.insert(entity, attr, value).expect("a truth value");
        }
    }

    /// `attribute=value` of the game; truth values are all that the tests need.
    fn state(&mut self, fact: &str) {
        let (attr, value) = fact.split_once('=').expect("attribute=value");
        let attr = self.world.program().schema.attribute_named(attr).expect("declared");
        self.world.insert(GAME, attr, Value::Bool(value == "true")).expect("a truth value");
    }
}

/// The rules of a game.
pub(crate) fn program(game: &str) -> Program {
    compile(sources(game)).unwrap_or_else(|it| panic!("{it}"))
}

/// The files of a game: core, the presets that it uses, its own.
pub(crate) fn sources(game: &str) -> Vec<Source> {
    let own = embedded_sources(&[&format!("rules/games/{game}.dl")]);
    let mut sources = embedded_folder("rules/core");
    for line in own[0].text.lines() {
        if let Some(usage) = line.strip_prefix(".meta use \"") {
            let name = usage.split([':', '"']).next().unwrap_or_default();
            sources.extend(embedded_sources(&[&format!("rules/presets/{name}.dl")]));
        }
    }
    sources.extend(own);
    sources
}

fn metas(program: &Program, key: &str) -> Vec<String> {
    program.meta.iter().filter(|it| it.key == key).map(|it| it.value.clone()).collect()
}
