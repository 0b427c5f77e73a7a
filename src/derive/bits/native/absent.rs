//! Stands in for machine code where the feature `native` is off: everything is interpreted.

use super::super::leaves::Leaves;
use super::compile::Compiled;
use super::planner::GIVEN;
use super::run::State;
use super::word::Word;

/// Never exists: there is no machine code.
#[derive(Debug, Clone, Copy)]
pub(super) enum Native {}

/// Never exists: no stretch has code.
#[derive(Debug, Clone, Copy)]
pub(super) enum EntryPoint {}

/// Never exists: no leaves are counted by code.
#[derive(Debug)]
pub(super) enum LeafCode {}

/// Never exists: no action has code.
#[derive(Debug, Clone, Copy)]
pub(super) enum ActionCode {}

/// Never exists: nothing is taken back by code.
#[derive(Debug, Clone, Copy)]
pub(super) enum TakeBack {}

/// The kinds of plies, for which there is no code.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ply {
    Last,
    Above,
}

/// The arguments of an action.
pub(super) type Args = [i64; GIVEN.len()];

/// The memory for counting leaves, which is not needed.
#[derive(Debug, Clone)]
pub(super) struct LeafRoom;

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

impl LeafCode {
    pub(super) fn compile<W: Word>(
        _: &Compiled<W>,
        _: &Native,
        _: &Leaves,
        _: Ply,
    ) -> Option<Self> {
        None
    }

    pub(super) fn take_back(&self) -> Option<TakeBack> {
        match *self {}
    }

    pub(super) fn action(&self, _: usize) -> Option<ActionCode> {
        match *self {}
    }

    pub(super) fn suspect_words(&self) -> usize {
        match *self {}
    }
}

impl ActionCode {
    pub(super) fn count<W: Word>(
        self,
        _: &mut State<W>,
        _: &Compiled<W>,
        _: &mut LeafRoom,
        _: &Args,
        _: usize,
    ) -> Option<u64> {
        match self {}
    }

    pub(super) fn take<W: Word>(
        self,
        _: &mut State<W>,
        _: &Compiled<W>,
        _: &mut LeafRoom,
        _: &Args,
        _: usize,
    ) -> bool {
        match self {}
    }
}

impl TakeBack {
    pub(super) fn run<W: Word>(
        self,
        _: &mut State<W>,
        _: &Compiled<W>,
        _: &mut LeafRoom,
        _: usize,
    ) {
        match self {}
    }
}

impl LeafRoom {
    pub(super) fn new() -> Self {
        Self
    }

    pub(super) fn make_room(&mut self, _: usize) {}

    pub(super) fn top(&self) -> usize {
        0
    }

    pub(super) fn heap_bytes(&self) -> usize {
        0
    }
}
