//! Stands in for machine code where the feature `native` is off: everything is interpreted.

use super::compile::Compiled;
use super::run::State;
use super::word::Word;

/// There is none.
#[derive(Debug, Clone, Copy)]
pub(super) enum Native {}

/// Nor has any stretch code.
#[derive(Debug, Clone, Copy)]
pub(super) enum EntryPoint {}

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
