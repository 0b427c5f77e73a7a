//! Registers in machine code.
//!
//! Registers stay in memory if the interpreter runs instructions of the stretch that read or set them, or runs the stretch
//! as a part of another one. Otherwise, and always in functions that count leaves, they are values of the function, in the
//! processor's registers; those that a call needs are written to memory before it.

use std::collections::HashMap;

use cranelift_codegen::ir::immediates::Offset32;
use cranelift_codegen::ir::{InstBuilder, Value, types::I64};
use cranelift_frontend::Variable;

use super::super::code::Reg;
use super::super::planner::GIVEN;
use super::super::word::Word;
use super::lower::{Lower, WORD};

/// The registers of a function, if they are values; `None` if they are in memory.
pub(super) type Registers = Option<HashMap<Reg, Variable>>;

impl<W: Word> Lower<'_, '_, W> {
    pub(super) fn reg(&mut self, reg: Reg) -> Value {
        if let Some(&value) = self.constants.get(&reg) {
            return self.b.ins().iconst(I64, value);
        }
        match self.variable(reg) {
            Some(it) => self.b.use_var(it),
            None => self.load_reg(reg),
        }
    }

    pub(super) fn set_reg(&mut self, reg: Reg, value: Value) {
        match self.variable(reg) {
            Some(it) => self.b.def_var(it, value),
            None => self.store_reg(reg, value),
        }
    }

    /// Writes registers to memory, where the interpreter expects them.
    pub(super) fn flush(&mut self, regs: &[Reg]) {
        for &reg in regs {
            if !self.constants.contains_key(&reg)
                && let Some(it) = self.variable(reg)
            {
                let value = self.b.use_var(it);
                self.store_reg(reg, value);
            }
        }
    }

    /// Writes the registers of a list to memory, where the interpreter expects them.
    pub(super) fn flush_list(&mut self, list: u32) {
        self.flush(self.compiled.machine.list(list));
    }

    /// From here on the registers are values. Those with the stretch's arguments are read from memory.
    pub(super) fn hold_registers(&mut self) {
        let given = GIVEN.map(|it| self.load_reg(it));
        self.registers = Some(HashMap::new());
        GIVEN.into_iter().zip(given).for_each(|(reg, value)| self.set_reg(reg, value));
    }

    fn variable(&mut self, reg: Reg) -> Option<Variable> {
        let values = self.registers.as_mut()?;
        Some(*values.entry(reg).or_insert_with(|| self.b.declare_var(I64)))
    }

    fn load_reg(&mut self, reg: Reg) -> Value {
        let at = self.fields.regs + i32::from(reg) * WORD;
        let flags = Self::memory(self.regs_region);
        self.b.ins().load(I64, flags, self.state, Offset32::new(at))
    }

    fn store_reg(&mut self, reg: Reg, value: Value) {
        let at = self.fields.regs + i32::from(reg) * WORD;
        let flags = Self::memory(self.regs_region);
        self.b.ins().store(flags, value, self.state, Offset32::new(at));
    }
}
