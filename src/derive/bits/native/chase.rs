//! Computes the result of a chase along a line without following it step by step.
//!
//! A chase follows a function of statics from each member of a row while it is on a passable one. If all
//! members of the paths that the function leads along ascend, or all descend, the first member that stops it
//! is the lowest or the highest one that is not passable, and a table has the members behind it: so a few
//! instructions are enough, whatever the length. Deliberately absent: functions whose paths turn, which are
//! followed step by step (`State::chase`).

use cranelift_codegen::ir::{InstBuilder, Value, types::I64};

use super::super::code::{Reg, Space};
use super::super::compile::Compiled;
use super::super::layout::NONE;
use super::super::machine::{Chase, Place};
use super::super::word::Word;
use super::call::{self, Helper};
use super::lower::Lower;
use super::rows::Row;

/// For each chase of a program its tables, if it has any.
pub(super) struct Ways<W>(Vec<Option<Way<W>>>);

/// The tables of a chase.
pub(super) struct Way<W> {
    /// By value of the middle column and by member, the members that follow.
    rows: Vec<W>,
    /// By value of the middle column: whether the paths ascend.
    ascends: Vec<bool>,
}

/// Maximum number of values of the middle column, each of which has its own code.
const MIDDLES: u16 = 16;

impl<W: Word> Ways<W> {
    pub(super) fn of(c: &Compiled<W>) -> Self {
        Self(c.machine.chases.iter().map(|it| Way::of(c, it)).collect())
    }

    pub(super) fn of_chase(&self, number: u32) -> Option<&Way<W>> {
        self.0.get(number as usize)?.as_ref()
    }
}

impl<W: Word> Way<W> {
    fn of(c: &Compiled<W>, chase: &Chase) -> Option<Self> {
        if !chase.is_static || chase.size > MIDDLES {
            return None;
        }
        let members = members(chase);
        let mut way = Self { rows: Vec::new(), ascends: Vec::new() };
        for middle in 0..i64::from(chase.size) {
            let first = first_value(c, chase, middle)?;
            let (mut rises, mut falls) = (false, false);
            let next = |from: usize| {
                let at = (from < members).then(|| first + from * chase.step as usize)?;
                c.statics.funs.get(at).filter(|it| **it != NONE).map(|it| *it as usize)
            };
            for member in 0..W::WIDTH {
                let (mut row, mut from) = (W::default(), member);
                while let Some(to) = next(from) {
                    if to >= W::WIDTH {
                        return None;
                    }
                    rises |= to > from;
                    falls |= to <= from;
                    if row.has(to) {
                        return None; // a cycle
                    }
                    row = row.or(W::one(to));
                    from = to;
                }
                way.rows.push(row);
            }
            if rises && falls {
                return None;
            }
            way.ascends.push(!falls);
        }
        Some(way)
    }
}

/// Number of members for which the function has values, inferred from the layout: the values for one value of
/// the middle column precede those for the next.
fn members(chase: &Chase) -> usize {
    let mut keys = chase.fun.keys.into_iter().zip(chase.fun.strides);
    let middle = keys.find(|&(key, stride)| key == chase.middle && stride != 0);
    let members = middle.map(|(_, stride)| usize::from(stride) / chase.step.max(1) as usize);
    members.filter(|it| *it > 0).unwrap_or(usize::MAX)
}

/// The index of the first member's value, if it depends only on the middle column.
fn first_value<W: Word>(c: &Compiled<W>, chase: &Chase, middle: i64) -> Option<usize> {
    let Place { base, strides, keys } = chase.fun;
    let mut first = i64::from(base);
    for (key, stride) in keys.into_iter().zip(strides).filter(|it| it.1 != 0) {
        first += i64::from(stride) * key_value(c, chase, middle, key)?;
    }
    usize::try_from(first).ok()
}

fn key_value<W: Word>(c: &Compiled<W>, chase: &Chase, middle: i64, key: Reg) -> Option<i64> {
    if key == chase.middle {
        return Some(middle);
    }
    c.code.constants.iter().find(|it| it.1 == key).map(|it| it.0)
}

impl<W: Word> Lower<'_, '_, W> {
    /// Follows a function from the members of rows while it is on members of the accumulator.
    pub(super) fn chase(&mut self, number: u32) {
        let chase = self.compiled.machine.chases[number as usize];
        let (ways, passable) = (self.ways, self.acc());
        let Some(way) = ways.of_chase(number) else {
            self.flush(&chase.row.keys);
            self.flush(&chase.fun.keys);
            let number = self.b.ins().iconst(I64, i64::from(number));
            self.pass(call::chase::<W> as Helper, number, &passable);
            return;
        };
        let blocked: Row = passable.iter().map(|it| self.b.ins().bnot(*it)).collect();
        let index = self.index(chase.row);
        let last = i64::from(chase.size - 1) * i64::from(chase.stride);
        let space = if chase.frame { Space::Frame } else { Space::Maintained };
        let first = self.row_of(space, index);
        let end = self.b.ins().iadd_imm_s(index, last);
        self.row_of(space, end); // so are those between
        for middle in 0..usize::from(chase.size) {
            let offset = (middle as i64 * i64::from(chase.stride)) << Self::ROW_SHIFT;
            let address = self.b.ins().iadd_imm_s(first, offset);
            let row = self.load_row(address);
            let all = self.reached_from(way, middle, &row, &blocked);
            self.store_row(address, &all);
        }
    }

    /// The row with everything that its members lead to.
    pub(super) fn reached_from(
        &mut self,
        way: &Way<W>,
        middle: usize,
        row: &Row,
        blocked: &Row,
    ) -> Row {
        let table = way.rows[middle * W::WIDTH..].as_ptr() as i64;
        let ascends = way.ascends[middle];
        // A row usually has one member, or none, which needs no jump to distinguish.
        let some = self.any(row);
        let (member, others) = self.pop(row);
        let member = self.b.ins().band_imm_s(member, W::WIDTH as i64 - 1);
        let reached = self.reached(table, member, blocked, ascends);
        let reached = self.only_if(some, &reached);
        let first = self.either(row, &reached);
        let all = self.declare();
        self.set(&all, &first);
        let more = self.any(&others);
        self.when(more, |it| {
            it.members(&others, |it, member| {
                let reached = it.reached(table, member, blocked, ascends);
                let before = it.values(&all);
                let union = it.either(&before, &reached);
                it.set(&all, &union);
            });
        });
        self.values(&all)
    }

    /// The row if the condition is not 0, else an empty row.
    pub(super) fn only_if(&mut self, condition: Value, row: &Row) -> Row {
        let none = self.b.ins().iconst(I64, 0);
        row.iter().map(|it| self.b.ins().select(condition, *it, none)).collect()
    }

    /// The members reachable from a member, up to the first blocked one.
    fn reached(&mut self, table: i64, member: Value, blocked: &Row, ascends: bool) -> Row {
        let table = self.b.ins().iconst(I64, table);
        let way = self.way(table, member);
        let own = self.one_of(member);
        let on_it = self.either(&way, &own);
        let mut stops = self.both(&on_it, blocked);
        // Nothing lies behind the last member, so it can stand for none.
        let stop = if ascends {
            let last = stops.len() - 1;
            stops[last] = self.b.ins().bor_imm_s(stops[last], i64::MIN);
            self.pop(&stops).0
        } else {
            self.last(&stops)
        };
        let behind = self.way(table, stop);
        self.without(&way, &behind)
    }

    fn way(&mut self, table: Value, member: Value) -> Row {
        let offset = self.b.ins().ishl_imm_u(member, Self::ROW_SHIFT);
        let address = self.b.ins().iadd(table, offset);
        self.load_row(address)
    }
}
