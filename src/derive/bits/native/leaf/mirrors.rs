//! The relations that have the state from before an action (`was`): while leaves are counted they repeat other inputs.
//!
//! Taking an action fills them from the facts that the action has found. Code that counts leaves restores what an action has
//! overwritten, so that before the next one the rows of the inputs are those to repeat: they are copied once for all
//! actions of a position. Deliberately absent: rows of derived relations from before an action, which need the facts.

use std::mem::discriminant;
use std::ops::Range;

use super::super::super::compile::Compiled;
use super::super::super::layout::{NONE, Store, size};
use super::super::super::run::State;
use super::super::super::word::Word;
use crate::derive::leaves::Leaves;
use crate::rules::{Input, Program, RelId, Role, relations_of};

/// What is copied.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Mirrors {
    rows: Vec<Copied>,
    funs: Vec<Copied>,
}

/// A part of the rows, or of the values of functions, and where it is copied to.
#[derive(Debug, Clone)]
struct Copied {
    from: Range<usize>,
    to: usize,
}

impl Copied {
    fn new(from: u32, to: u32, len: usize) -> Self {
        Self { from: from as usize..from as usize + len, to: to as usize }
    }

    fn target(&self) -> Range<usize> {
        self.to..self.to + self.from.len()
    }
}

impl Mirrors {
    /// Those of the relations that reactions of the counted actions read.
    pub(in super::super) fn of<W: Word>(c: &Compiled<W>, leaves: &Leaves) -> Self {
        let mut read = Vec::new();
        for plan in leaves.batches.iter().flatten().flat_map(|it| &c.batches[it.clone()]).flatten()
        {
            let reaction = c.code.effects[plan.code as usize].reaction;
            read.extend(relations_of(&c.program.reactions[reaction].body));
        }
        read.sort_unstable();
        read.dedup();
        let mut mirrors = Self::default();
        for before in read {
            if let Some(of) = repeated(c, before) {
                mirrors.add(c, of, before);
            }
        }
        mirrors
    }

    fn add<W: Word>(&mut self, c: &Compiled<W>, of: RelId, before: RelId) {
        let [from, to] = [of, before].map(|it| &c.stores[usize::from(it.0)]);
        match (from, to) {
            (
                &Store::Key { fun, present, inverse, entities },
                &Store::Key { fun: to_fun, present: to_present, inverse: to_inverse, .. },
            ) => {
                self.funs.push(Copied::new(fun, to_fun, entities as usize));
                self.rows.push(Copied::new(present, to_present, 1));
                let values = size(&c.program, c.program.relation(of).columns[1].ty);
                if let (Some(inverse), Some(to), Some(values)) = (inverse, to_inverse, values) {
                    self.rows.push(Copied::new(inverse, to, values));
                }
            }
            (Store::Game { fun }, Store::Game { fun: to }) => {
                self.funs.push(Copied::new(*fun, *to, 1));
            }
            (Store::Dense(from), Store::Dense(to)) => {
                self.rows.push(Copied::new(from.base, to.base, from.rows as usize));
            }
            _ => {}
        }
    }

    /// Lets the relations from before an action have what their inputs have.
    pub(in super::super) fn copy<W: Word>(&self, state: &mut State<W>) {
        self.funs.iter().for_each(|it| state.funs.copy_within(it.from.clone(), it.to));
        self.rows.iter().for_each(|it| state.rows.copy_within(it.from.clone(), it.to));
    }

    /// Empties these relations, as they are between actions.
    pub(in super::super) fn clear<W: Word>(&self, state: &mut State<W>) {
        self.funs.iter().for_each(|it| state.funs[it.target()].fill(NONE));
        self.rows.iter().for_each(|it| state.rows[it.target()].fill(W::default()));
    }
}

/// The input that a relation repeats, if it has the state from before an action.
pub(super) fn repeated<W: Word>(c: &Compiled<W>, before: RelId) -> Option<RelId> {
    let input = input_of(&c.program, before)?;
    let was = c.program.was.iter().find(|it| it.before == input.attr())?;
    let types = |it: RelId| c.program.relation(it).columns.iter().map(|it| it.ty);
    let mut inputs = c.inputs[usize::from(was.of.0)].iter().map(|it| it.0);
    inputs.find(|&it| {
        let is_alike = |other: Input| discriminant(&other) == discriminant(&input);
        input_of(&c.program, it).is_some_and(is_alike) && types(it).eq(types(before))
    })
}

fn input_of(program: &Program, rel: RelId) -> Option<Input> {
    match program.relation(rel).role {
        Role::Input(input) => Some(input),
        _ => None,
    }
}
