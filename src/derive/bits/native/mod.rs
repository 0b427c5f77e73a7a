//! Stretches of instructions compiled to machine code, for sessions that run them often.
//!
//! Every session begins with the interpreter (`run.rs`); code is made once per program, when one of its
//! sessions has been busy for long enough, and all its sessions then run it. It does what the interpreter
//! does, instruction by instruction, for rows of any width. Counting leaves has code of its own, which is
//! made for the program as a whole (`leaf`). Deliberately absent: processors that Cranelift does not support,
//! which use the interpreter; counting instructions, which the interpreter does.

mod call;
mod chase;
mod counting;
mod flow;
mod leaf;
mod lower;
mod places;
mod registers;
mod rows;
mod sweeps;

use std::any::Any;
use std::fmt;
use std::sync::OnceLock;

use cranelift_codegen::Context;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable, Flags};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};

use super::compile::Compiled;
use super::word::Word;
pub(super) use call::EntryPoint;
use chase::Ways;
pub(super) use counting::Counting;
use counting::LeafPlan;
use lower::Lower;

/// A program's instructions as machine code.
pub(super) struct Native {
    /// The code of the stretch that begins at each instruction, if one does.
    entries: Vec<Option<EntryPoint>>,
    /// The [`Ways`], which this code and that of leaves read. Their type depends on the width of the program's rows.
    ways: Box<dyn Any + Send + Sync>,
    /// Code for counting leaves, once that was requested.
    leaf_plan: OnceLock<LeafPlan>,
    _memory: call::Memory,
}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stretches = self.entries.iter().flatten().count();
        f.debug_struct("Native").field("stretches", &stretches).finish_non_exhaustive()
    }
}

impl Native {
    /// The code of a program. `None` if it cannot be made: the processor is not supported, or executable
    /// memory is not allowed.
    pub(super) fn compile<W: Word>(c: &Compiled<W>) -> Option<Self> {
        let span = tracing::debug_span!("native", instructions = c.machine.insts.len());
        let _entered = span.enter();
        match Self::translate(c) {
            Ok(native) => Some(native),
            Err(error) => {
                tracing::warn!(%error, "no machine code: rules are interpreted");
                None
            }
        }
    }

    /// The code of the stretch that begins at an instruction, if one does.
    #[inline]
    pub(super) fn entry(&self, pc: u32) -> Option<EntryPoint> {
        self.entries.get(pc as usize).copied().flatten()
    }

    fn translate<W: Word>(c: &Compiled<W>) -> Result<Self, String> {
        let mut module = module()?;
        let ways = Ways::of(c);
        let mut context = module.make_context();
        let mut functions = FunctionBuilderContext::new();
        let mut made: Vec<(u32, FuncId)> = Vec::new();
        for (start, is_closed) in flow::starts(c) {
            let signature = call::signature(&module, 6);
            let id = module
                .declare_function(&format!("at{start}"), Linkage::Local, &signature)
                .map_err(|it| it.to_string())?;
            context.func.signature = signature;
            let mut lower = Lower::new(&mut context.func, &mut functions, &module, c, &ways);
            lower.function(start, is_closed);
            lower.finish(&module);
            define(&mut module, id, &mut context)?;
            made.push((start, id));
        }
        module.finalize_definitions().map_err(|it| it.to_string())?;
        let mut entries = vec![None; c.machine.insts.len()];
        for (start, id) in made {
            entries[start as usize] = Some(EntryPoint::new(module.get_finalized_function(id)));
        }
        Ok(Self {
            entries,
            ways: Box::new(ways),
            leaf_plan: OnceLock::new(),
            _memory: call::Memory::new(module),
        })
    }
}

/// The module in which functions of a program are made.
fn module() -> Result<JITModule, String> {
    Ok(JITModule::new(JITBuilder::with_isa(target()?, default_libcall_names())))
}

fn define(module: &mut JITModule, id: FuncId, context: &mut Context) -> Result<(), String> {
    let done = module.define_function(id, context).map_err(|it| format!("{it:?}"));
    module.clear_context(context);
    done
}

/// The processor that this runs on, with all its features.
fn target() -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
    ] {
        flags.set(name, value).map_err(|it| it.to_string())?;
    }
    let isa = cranelift_native::builder()?;
    isa.finish(Flags::new(flags)).map_err(|it| it.to_string())
}
