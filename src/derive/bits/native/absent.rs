//! Stands in for machine code where the feature `native` is off: everything is interpreted, and leaves are counted by
//! taking the actions.

use std::sync::Arc;

use super::super::leaves::Leaves;
use super::super::rows::Tuple;
use super::compile::Compiled;
use super::live::Live;
use super::run::State;
use super::word::Word;
use crate::facts::NextIds;
use crate::rules::ActionId;

/// Never exists: there is no machine code.
#[derive(Debug, Clone, Copy)]
pub(super) enum Native {}

/// Never exists: no stretch has code.
#[derive(Debug, Clone, Copy)]
pub(super) enum EntryPoint {}

/// Nothing is kept for counting leaves.
#[derive(Debug, Clone, Default)]
pub(super) struct Counting {}

impl Native {
    pub(super) fn compile<W: Word>(_: &Compiled<W>) -> Option<Self> {
        None
    }

    pub(super) fn entry(&self, _: u32) -> Option<EntryPoint> {
        match *self {}
    }
}

impl EntryPoint {
    pub(super) fn run<W: Word>(self, _: &mut State<W>, _: &Compiled<W>) -> bool {
        match self {}
    }
}

impl Counting {
    pub(super) fn heap_bytes(&self) -> usize {
        0
    }
}

impl<W: Word> Live<W> {
    pub(super) fn leaves_below(
        &mut self,
        _: &Compiled<W>,
        _: &Arc<Leaves>,
        _: u32,
        _: NextIds,
        _: &mut Vec<(ActionId, Tuple)>,
    ) -> Option<u64> {
        None
    }
}
