//! The interface between Rust and the machine code that `lower` makes.
//!
//! This is the only file of the evaluator with `unsafe`. What makes it sound:
//! - code is run on the state and the program that it was made for ([`EntryPoint::run`] takes both by
//!   reference, and the program that owns the code has rows of the same width), and a row is as many words side
//!   by side as its width has;
//! - it reads and writes memory in four places: registers, a row and two numbers of [`State`], whose offsets
//!   the compiler gives; flags, whose number is asserted before; rows and values of functions, where each index is
//!   compared with their number (that of the values is asserted before), and which do not grow or move while
//!   code runs; statics, which are never written and live as long as the program, which owns the code;
//! - functions of leaves ([`ActionCode::run`]) find the same in a [`Context`] that lives as long as the call,
//!   with the frames from before the action and after it, both of which are asserted to be there. Besides they
//!   write three lists: the words that they wrote over, each piece of work after a comparison with the room
//!   that is left; tuples to be checked, each after a comparison with their maximum; blocks that may have
//!   changed, a row for each maintained relation, whose number is asserted. What they write back they have
//!   written over themselves, or, where plies above the last are taken back, functions before them: rows and values have
//!   not moved since, which is asserted;
//! - the ids of entities that functions of leaves create are below [`Context::END_OF_IDS`], which is at most the number of
//!   entities;
//! - an index is not compared where it is base plus registers times strides, the registers hold members of rows
//!   or constants, and the highest such index is within; the way of a chase is looked up by member, and
//!   its table has a row for each;
//! - the table of a scan is read at a place made from values that are each compared with its sizes, and the offsets found
//!   there are of its own values; the code of leaves owns the table;
//! - helpers get back the two references that the caller lent, one at a time;
//! - a panic in a helper ends the process: it never unwinds through code without unwind information.

#![allow(unsafe_code, reason = "machine code is called, and calls back; argued above")]

use std::ffi::c_void;
use std::mem::offset_of;
use std::ops::Range;
use std::sync::Mutex;

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, Signature};
use cranelift_jit::JITModule;
use cranelift_module::Module;

use super::super::compile::Compiled;
use super::super::fuel::Fuel;
use super::super::machine::KeptId;
use super::super::planner::GIVEN;
use super::super::run::State;
use super::super::word::Word;

/// Parameters: state, program, rows, number of rows, values of functions, flags of the frame.
type StretchFunction =
    unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_void, u64, *mut i64, *mut u64) -> i32;

/// What a stretch returns: it reached its end, a solution, or an index out of range.
pub(super) const HALTED: i64 = 0;
pub(super) const FOUND: i64 = 1;
pub(super) const FAULT: i64 = 2;

/// The signature of a function with that many parameters: [`StretchFunction`] has 6, [`LeafFunction`] has 3.
pub(super) fn signature(module: &JITModule, parameters: usize) -> Signature {
    let mut signature = module.make_signature();
    signature.params.resize(parameters, AbiParam::new(I64));
    signature.returns.push(AbiParam::new(I32));
    signature
}

/// A function that code calls. Parameters: state, program, two numbers.
pub(super) type Helper = unsafe extern "C" fn(*mut c_void, *const c_void, i64, i64) -> i64;

/// The code of a stretch.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct EntryPoint(StretchFunction);

impl EntryPoint {
    /// The finished function of that [`signature`] at this address.
    pub(super) fn new(code: *const u8) -> Self {
        // SAFETY: the signature that the function was made with is that of `StretchFunction`.
        Self(unsafe { std::mem::transmute::<*const u8, StretchFunction>(code) })
    }

    /// Runs the stretch. Returns true if it found a solution.
    ///
    /// # Panics
    /// It met an index out of range.
    #[inline]
    pub(in super::super) fn run<W: Word>(self, state: &mut State<W>, c: &Compiled<W>) -> bool {
        let (rows, n_rows) = (state.rows.as_mut_ptr().cast(), state.rows.len() as u64);
        assert!(state.funs.len() == c.kept_funs, "values of functions are missing");
        let funs = state.funs.as_mut_ptr();
        let flags = &mut state.ready[state.ready_at..];
        assert!(flags.len() >= c.flags(), "flags are missing");
        let flags = flags.as_mut_ptr();
        let (state, c) = (std::ptr::from_mut(state).cast(), std::ptr::from_ref(c).cast());
        // SAFETY: see the top of this file.
        let result = unsafe { self.0(state, c, rows, n_rows, funs, flags) };
        if i64::from(result) == FAULT {
            out_of_range();
        }
        i64::from(result) == FOUND
    }
}

#[cold]
fn out_of_range() -> ! {
    panic!("the index of a row is out of range")
}

/// The context that the functions of leaves share.
#[repr(C)]
pub(super) struct Context {
    state: *mut c_void,
    program: *const c_void,
    rows: *mut c_void,
    funs: *mut i64,
    dirty: *mut c_void,
    suspects: *mut u64,
    /// Where the next overwritten word is saved with its address; the first of them, and the end of the
    /// buffer.
    undo: *mut Saved,
    undo_start: *mut Saved,
    undo_end: *mut Saved,
    /// The first rows of the frames before and after the action, relative to `rows`.
    frame_before: *mut c_void,
    frame_after: *mut c_void,
    args: [i64; GIVEN.len()],
    count: u64,
    /// The id of the next entity that is created, and the first id beyond those that may be assigned.
    next_id: i64,
    end_of_ids: i64,
}

/// The arguments of an action; further elements are ignored.
pub(super) type Args = [i64; GIVEN.len()];

/// An overwritten word: its address and old value.
type Saved = [u64; 2];

/// Bytes of a saved word with its address.
pub(super) const SAVED_BYTES: i64 = size_of::<Saved>() as i64;

/// Maximum number of words that the actions of all plies of a count may overwrite.
const MAX_SAVED: usize = 4096;

/// The memory of a session for counting leaves.
#[derive(Debug, Clone)]
pub(super) struct LeafRoom {
    saved: Vec<Saved>,
    /// Number of saved words: those of the plies above.
    top: usize,
    /// Where rows and values of functions were when words of them were overwritten, see [`place`].
    place: [usize; 2],
    /// The ids that the next entities get.
    pub(super) next_ids: Range<u32>,
    suspects: Vec<u64>,
}

impl LeafRoom {
    pub(super) fn new() -> Self {
        let saved = vec![[0; 2]; MAX_SAVED];
        Self { saved, top: 0, place: [0; 2], next_ids: 0..0, suspects: Vec::new() }
    }

    /// Makes room for that many words of tuples to be checked.
    pub(super) fn make_room(&mut self, suspect_words: usize) {
        if self.suspects.len() < suspect_words {
            self.suspects.resize(suspect_words, 0);
        }
    }

    /// Number of saved words.
    pub(super) fn top(&self) -> usize {
        self.top
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.saved.capacity() * size_of::<Saved>() + self.suspects.capacity() * size_of::<u64>()
    }
}

/// The offsets of the fields.
impl Context {
    pub(super) const STATE: i32 = offset_of!(Self, state) as i32;
    pub(super) const PROGRAM: i32 = offset_of!(Self, program) as i32;
    pub(super) const ROWS: i32 = offset_of!(Self, rows) as i32;
    pub(super) const FUNS: i32 = offset_of!(Self, funs) as i32;
    pub(super) const DIRTY: i32 = offset_of!(Self, dirty) as i32;
    pub(super) const SUSPECTS: i32 = offset_of!(Self, suspects) as i32;
    pub(super) const UNDO: i32 = offset_of!(Self, undo) as i32;
    pub(super) const UNDO_START: i32 = offset_of!(Self, undo_start) as i32;
    pub(super) const UNDO_END: i32 = offset_of!(Self, undo_end) as i32;
    pub(super) const FRAME_BEFORE: i32 = offset_of!(Self, frame_before) as i32;
    pub(super) const FRAME_AFTER: i32 = offset_of!(Self, frame_after) as i32;
    pub(super) const ARGS: i32 = offset_of!(Self, args) as i32;
    pub(super) const COUNT: i32 = offset_of!(Self, count) as i32;
    pub(super) const NEXT_ID: i32 = offset_of!(Self, next_id) as i32;
    pub(super) const END_OF_IDS: i32 = offset_of!(Self, end_of_ids) as i32;
}

/// A function of leaves. Parameters: the context, and two numbers.
type LeafFunction = unsafe extern "C" fn(*mut Context, i64, i64) -> i32;

/// The finished function of that [`signature`] at this address.
fn leaf_function(code: *const u8) -> LeafFunction {
    // SAFETY: the signature that the function was made with is that of `LeafFunction`.
    unsafe { std::mem::transmute::<*const u8, LeafFunction>(code) }
}

impl Context {
    /// The context for running code on a state, in the frames that begin at these rows: that from before
    /// the action, and the current one. Code saves words from number `from` on.
    #[inline(always)]
    fn new<W: Word>(
        state: &mut State<W>,
        c: &Compiled<W>,
        room: &mut LeafRoom,
        before: usize,
        from: usize,
        args: &Args,
    ) -> Self {
        let frames = state.frame.max(before);
        assert!(state.rows.len() >= c.kept_rows + frames + c.frame_rows, "rows are missing");
        assert!(state.funs.len() == c.kept_funs, "values of functions are missing");
        assert!(state.dirty.len() == c.maintained.len(), "maintained relations are missing");
        assert!(from <= room.top && room.top <= room.saved.len(), "saved words are missing");
        let saved = room.saved.as_mut_ptr_range();
        Self {
            rows: state.rows.as_mut_ptr().cast(),
            funs: state.funs.as_mut_ptr(),
            dirty: state.dirty.as_mut_ptr().cast(),
            suspects: room.suspects.as_mut_ptr(),
            undo: saved.start.wrapping_add(room.top),
            undo_start: saved.start.wrapping_add(from),
            undo_end: saved.end,
            frame_before: state.rows.as_mut_ptr().wrapping_add(before).cast(),
            frame_after: state.rows.as_mut_ptr().wrapping_add(state.frame).cast(),
            args: *args,
            count: 0,
            next_id: room.next_ids.start.into(),
            end_of_ids: room.next_ids.end.into(),
            state: std::ptr::from_mut(state).cast(),
            program: std::ptr::from_ref(c).cast(),
        }
    }
}

/// The code of an action.
#[derive(Debug, Clone, Copy)]
pub(super) struct ActionCode(LeafFunction);

impl ActionCode {
    pub(super) fn new(code: *const u8) -> Self {
        Self(leaf_function(code))
    }

    /// The count after the action, in the frames that begin at these rows: that from before the action, and the
    /// current one. `None` if the code gave up; blocks may then still be marked as dirty.
    ///
    /// # Panics
    /// It met an index out of range.
    #[inline]
    pub(super) fn count<W: Word>(
        self,
        state: &mut State<W>,
        c: &Compiled<W>,
        room: &mut LeafRoom,
        args: &Args,
        before: usize,
    ) -> Option<u64> {
        let top = room.top;
        let mut context = Context::new(state, c, room, before, top, args);
        self.run(&mut context, room).then_some(context.count)
    }

    /// Takes the action, in the same frames, above the last ply: it stays in the rows until [`TakeBack`].
    /// False if the code gave up: the action is not taken then, but blocks may still be marked as dirty.
    ///
    /// # Panics
    /// It met an index out of range.
    pub(super) fn take<W: Word>(
        self,
        state: &mut State<W>,
        c: &Compiled<W>,
        room: &mut LeafRoom,
        args: &Args,
        before: usize,
    ) -> bool {
        let top = room.top;
        let mut context = Context::new(state, c, room, before, top, args);
        if !self.run(&mut context, room) {
            return false;
        }
        let bytes = context.undo.addr() - room.saved.as_ptr().addr();
        room.top = bytes / size_of::<Saved>();
        room.place = place(state);
        room.next_ids.start = context.next_id as u32;
        true
    }

    /// Runs the function. Returns whether it reached its end.
    #[inline]
    fn run(self, context: &mut Context, room: &mut LeafRoom) -> bool {
        // SAFETY: see the top of this file.
        match i64::from(unsafe { self.0(context, 0, 0) }) {
            FAULT => out_of_range(),
            HALTED => true,
            _ => {
                room.suspects.fill(0);
                false
            }
        }
    }
}

/// The code that restores what actions of plies above the last have overwritten.
#[derive(Debug, Clone, Copy)]
pub(super) struct TakeBack(LeafFunction);

impl TakeBack {
    pub(super) fn new(code: *const u8) -> Self {
        Self(leaf_function(code))
    }

    /// Restores all words that were saved, except the first `until` ones.
    ///
    /// # Panics
    /// Rows or values have moved since they were overwritten.
    pub(super) fn run<W: Word>(
        self,
        state: &mut State<W>,
        c: &Compiled<W>,
        room: &mut LeafRoom,
        until: usize,
    ) {
        assert!(room.top == until || room.place == place(state), "rows have moved");
        let frame = state.frame;
        let mut context = Context::new(state, c, room, frame, until, &[0; GIVEN.len()]);
        // SAFETY: see the top of this file.
        unsafe { self.0(&mut context, 0, 0) };
        room.top = until;
    }
}

/// The addresses of rows and of values of functions.
fn place<W: Word>(state: &State<W>) -> [usize; 2] {
    [state.rows.as_ptr().addr(), state.funs.as_ptr().addr()]
}

/// The memory of the code. It is freed when the program is dropped, and with it everything that could run the
/// code. The mutex is never contended: it only makes the type shareable between threads.
pub(super) struct Memory(Mutex<Option<JITModule>>);

impl Memory {
    pub(super) fn new(module: JITModule) -> Self {
        Self(Mutex::new(Some(module)))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Ok(module) = self.0.get_mut()
            && let Some(module) = module.take()
        {
            // SAFETY: entries are run while their program is borrowed, and it is being dropped.
            unsafe { module.free_memory() };
        }
    }
}

/// The offsets of the fields of a state that code reads and writes itself.
pub(super) struct Fields {
    pub(super) regs: i32,
    pub(super) passed: i32,
    pub(super) frame: i32,
    pub(super) fuel_left: i32,
}

impl Fields {
    pub(super) fn of<W: Word>() -> Self {
        Self {
            regs: offset_of!(State<W>, regs) as i32,
            passed: offset_of!(State<W>, passed) as i32,
            frame: offset_of!(State<W>, frame) as i32,
            fuel_left: (offset_of!(State<W>, fuel) + offset_of!(Fuel, left)) as i32,
        }
    }
}

/// The state and the program that code was passed.
///
/// # Safety
/// The pointers are those that [`EntryPoint::run`] passed, and nothing else uses the state meanwhile.
unsafe fn borrow_state<'a, W: Word>(
    state: *mut c_void,
    program: *const c_void,
) -> (&'a mut State<W>, &'a Compiled<W>) {
    // SAFETY: as the caller promises.
    unsafe { (&mut *state.cast::<State<W>>(), &*program.cast::<Compiled<W>>()) }
}

macro_rules! helpers {
    ($($(#[$doc:meta])* fn $name:ident($state:ident, $c:ident, $a:ident, $b:ident) $body:block)*) => {
        $($(#[$doc])*
        pub(super) unsafe extern "C" fn $name<W: Word>(
            state: *mut c_void,
            program: *const c_void,
            $a: i64,
            $b: i64,
        ) -> i64 {
            // SAFETY: code passes on the pointers that it was passed.
            let ($state, $c) = unsafe { borrow_state::<W>(state, program) };
            $body
        })*
    };
}

helpers! {
    /// Runs one instruction in the interpreter.
    fn step(state, c, pc, _unused) {
        i64::from(state.step(c, pc as usize))
    }

    /// The number of the relation and that of the registers, in one.
    fn suspect(state, c, pc, what) {
        state.suspect(c, pc as usize, (what >> 32) as KeptId, what as u32);
        0
    }

    fn react(state, c, pc, named) {
        state.react(c, pc as usize, named as u32);
        0
    }

    /// The row of passable members is in `passed`.
    fn chase(state, c, chase, _unused) {
        state.chase(c, &c.machine.chases[chase as usize], state.passed);
        0
    }

    /// The blocks are in `passed`.
    fn mark_dirty(state, _c, kept_id, _unused) {
        state.mark_dirty(kept_id as KeptId, state.passed);
        0
    }

    /// Whether the budget is not used up.
    fn next_slice(state, _c, owner, _unused) {
        i64::from(state.fuel.spend(0, owner as u32))
    }

    /// Empties rows of the frame: base and stride in one number; the members are in `passed`.
    fn empty(state, _c, place, _unused) {
        state.empty((place >> 32) as u32, state.passed, place as u32);
        0
    }
}
