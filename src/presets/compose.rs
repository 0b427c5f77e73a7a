//! Programs from files: which files a game with its activations needs, compiled once per set.
//!
//! Files come in the order of the activations, since that is the order in which presets react. For
//! what presets state about pieces, text is written here: it goes with the last activation, and is
//! copied to pieces that come from others. Deliberately absent: which activations may be together.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use crate::derive::{Backend, Memo, Plan, World};
use crate::game::Terms;
use crate::rules::{InputHead, Program, Reader, Source, compile_sharing, inputs_sharing};

use super::activation::Request;
use super::catalogue::{Catalogue, GameEntry, LoadError};
use super::combine::Scopes;

/// How many compiled programs a catalogue keeps.
const KEPT: usize = 64;

/// A program with everything that is worked out from it alone.
#[derive(Debug, Clone)]
pub(super) struct Composed {
    pub(super) plan: Arc<Plan>,
    pub(super) terms: Arc<Terms>,
    pub(super) scopes: Arc<Scopes>,
}

/// A compiled program with the numbers of its files.
type Kept = (Vec<usize>, Composed);

/// Compiled programs by their files, and what they have in common: files that were read, and rows of
/// statics. Copies of a catalogue share all of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Composers {
    kept: Arc<Mutex<Vec<Kept>>>,
    memo: Memo,
    reader: Reader,
}

impl Composers {
    /// No programs, but what those of other files can have in common with these.
    pub(super) fn of_other_files(&self) -> Self {
        Self { kept: Arc::default(), ..self.clone() }
    }

    fn find(&self, files: &[usize]) -> Option<Composed> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|it| it.0 == files).map(|it| it.1.clone())
    }

    fn keep(&self, files: Vec<usize>, composed: Composed) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((files, composed));
    }
}

impl Catalogue {
    /// The program of a game with such activations.
    pub(super) fn compose(
        &self,
        game: &GameEntry,
        requests: &[&Request],
    ) -> Result<Composed, LoadError> {
        let files = self.files(game, requests)?;
        if let Some(composed) = self.composers.find(&files) {
            return Ok(composed);
        }
        let program = compile_sharing(self.texts(game, requests)?, &self.composers.reader)
            .map_err(|it| LoadError::Rules(Box::new(it)))?;
        let program = Arc::new(program);
        self.externals.check(&program)?;
        let terms = Arc::new(Terms::resolve(&program)?);
        let plan = Plan::compile_sharing(Arc::clone(&program), &self.composers.memo)?;
        let plan = Arc::new(plan.with_calls(self.externals.clone()));
        let mut world = World::new(Arc::clone(&plan), Backend::Bits);
        let scopes = Arc::new(Scopes::of(&program, &mut world));
        let composed = Composed { plan, terms, scopes };
        self.composers.keep(files, composed.clone());
        Ok(composed)
    }

    /// The program of a game with activations that are given as texts.
    pub(super) fn program_of(
        &self,
        game: &GameEntry,
        activations: &[String],
    ) -> Result<Arc<Program>, LoadError> {
        let requests = self.requests(activations.iter().map(String::as_str))?;
        let composed = self.compose(game, &requests.iter().collect::<Vec<_>>())?;
        Ok(Arc::clone(composed.plan.program()))
    }

    /// All rule text of a game with such activations.
    pub(super) fn texts(
        &self,
        game: &GameEntry,
        requests: &[&Request],
    ) -> Result<Vec<Source>, LoadError> {
        let files = self.files(game, requests)?;
        let mut sources: Vec<Source> = files.iter().map(|&it| self.sources[it].clone()).collect();
        sources.extend(self.written(&sources, requests));
        Ok(sources)
    }

    /// The core, modules, presets in the order of their activation, the layout, the game's own rules.
    fn files(&self, game: &GameEntry, requests: &[&Request]) -> Result<Vec<usize>, LoadError> {
        let mut files = self.core.clone();
        if requests.iter().any(|it| it.turns.is_some()) {
            files.extend(self.modules.iter().filter(|it| it.0 == "durations").map(|it| it.1));
        }
        for request in requests {
            let source = self.find_preset(&request.preset)?.source;
            if !files.contains(&source) {
                files.push(source);
            }
        }
        // What is required and missing is found later, in words; the rules are about it all the same.
        let mut next = requests.iter().map(|it| it.preset.as_str()).collect::<Vec<_>>();
        while let Some(name) = next.pop() {
            for required in &self.find_preset(name)?.requires {
                let source = self.find_preset(required)?.source;
                if !files.contains(&source) {
                    files.push(source);
                    next.push(required);
                }
            }
        }
        if let Some(name) = &game.layout {
            let layout = self.layouts().iter().find(|it| it.name == *name);
            let missing = || LoadError::Layout { game: game.name.clone(), layout: name.clone() };
            files.push(layout.ok_or_else(missing)?.source);
        }
        files.push(game.source);
        Ok(files)
    }

    /// The text about the attributes of presets, if the core has the events that it needs.
    fn written(&self, sources: &[Source], requests: &[&Request]) -> Option<Source> {
        let has = |text: &str| sources.iter().any(|it| it.text.contains(text));
        if !(has(".event deactivated(") && has(".event spawned(") && has(".decl outlives(")) {
            return None;
        }
        let mut text =
            String::from("% What presets state goes with them, and with pieces to pieces.\n");
        let mut done: Vec<&str> = Vec::new();
        for request in requests {
            let Ok(preset) = self.find_preset(&request.preset) else { continue };
            if done.contains(&preset.preset.as_str()) {
                continue;
            }
            done.push(&preset.preset);
            let source = &self.sources[preset.source];
            let number = sources.iter().position(|it| it.path == source.path).unwrap_or(0);
            for input in inputs_sharing(source, number, &self.composers.reader) {
                write_input(&mut text, &preset.preset, &input);
            }
        }
        Some(Source { path: WRITTEN.into(), text: text.into() })
    }
}

/// What is called a file though it is written here, anew for each program.
const WRITTEN: &str = "attributes of presets";

/// The rule files of a program, in their order.
pub(super) fn rule_files(program: &Program) -> impl Iterator<Item = &Source> {
    program.sources.iter().filter(|it| it.path != WRITTEN)
}

/// The reactions about one input of a preset's file.
fn write_input(text: &mut String, preset: &str, input: &InputHead) {
    let rel = &input.relation;
    let ends = format!("on deactivated(e) in leave when preset(e, '{preset})");
    if !input.of_entities {
        let _ = writeln!(text, "{ends}, !outlives(e, _) do retract {rel}().");
        return;
    }
    // What is stated about the activation itself goes when it goes.
    if input.columns.first().is_some_and(|it| it.0 == "activation") {
        return;
    }
    let (any, value) = if input.columns.len() == 2 { (", _", ", n") } else { ("", "") };
    let _ = writeln!(text, "{ends}, !outlives(e, _), {rel}(p{any}) do retract {rel}(p).");
    let _ = writeln!(
        text,
        "{ends}, {rel}(p{any}), color(p, c), scope(e, s), in_scope(s, c), !outlives(e, c) do retract {rel}(p)."
    );
    let _ = writeln!(
        text,
        "on spawned(p, o) in before when {rel}(o{value}), !{rel}(p{any}) do set {rel}(p{value})."
    );
}
