//! Join planning: the body of a rule becomes a list of instructions.
//!
//! Greedy: each step is the first of these that is possible.
//!
//! 1. A test: its variables are bound, or nothing else needs them.
//! 2. The value of a function; not for the head's last column if step 5 can read it as rows.
//! 3. An aggregate.
//! 4. All literals about a variable that nothing else needs, as one test.
//! 5. If the rest of the body can be read as rows, their AND, which becomes the last column of the head, without a loop.
//! 6. A loop: over the next variable of `.plan`, or else the one with the fewest expected iterations.
//!
//! Ties go to the text's order. All choices rest on estimates that are exact for statics and guessed for the rest, so
//! plans can be printed (`dump.rs`) and operation counts are asserted in tests.

mod address;
mod loops;
mod ready;
mod rows;
pub(super) mod weights;

use std::collections::BTreeSet;

use crate::rules::{
    Aggregate, Atom, Compare, Expr, Literal, Program, RelId, Term, Type, VarId, term_vars,
};

use super::super::budget::owner_span;
use super::code::{ExprNode, Op, REGS, ReactionCode, Reg, RowSource, RowTerm, Space, StoreId};
use super::error::PlanError;
use super::layout::{Dense, Layout, size};
use super::word::Word;
use weights::chance;

/// Everything compiled so far: instructions and the pools that they refer to.
#[derive(Debug, Clone, Default)]
pub(super) struct Code {
    pub(super) ops: Vec<Op>,
    pub(super) rows: Vec<RowTerm>,
    pub(super) regs: Vec<Reg>,
    pub(super) exprs: Vec<ExprNode>,
    pub(super) effects: Vec<ReactionCode>,
    /// Constants and the registers that hold them, from the top down.
    pub(super) constants: Vec<(i64, Reg)>,
    /// For each instruction, the number of the rule or reaction that it belongs to: for counts and dumps, and to name
    /// who used up the budget.
    pub(super) owner: Vec<u32>,
    /// Where the plans of the relations themselves end; those for changes, reactions and candidates follow.
    pub(super) relations_end: usize,
}

impl Code {
    /// The constant 0 always exists: it is the key of places without a key.
    pub(super) fn new() -> Self {
        Self { constants: vec![(0, (REGS - 1) as Reg)], ..Self::default() }
    }

    /// For each place where the instructions read a table of statics, a row of that table: its first one, or a later one
    /// where a key is a constant.
    pub(super) fn static_rows(&self) -> impl Iterator<Item = u32> {
        let tests = self.ops.iter().filter_map(|it| match it {
            Op::TestBit { row, .. } => Some((row.space, row.base)),
            _ => None,
        });
        let terms = self.rows.iter().filter_map(|it| match it.row {
            RowSource::At(row) => Some((row.space, row.base)),
            RowSource::Only(_) | RowSource::All(_) => None,
        });
        tests.chain(terms).filter(|it| it.0 == Space::Static).map(|it| it.1)
    }
}

/// What a plan does with each solution.
#[derive(Debug, Clone)]
pub(super) enum Goal<'a> {
    // Adds the tuple to the dense relation.
    Rows { dense: Dense, args: &'a [Term] },
    // Adds the tuple to the list.
    Tuple { store: StoreId, args: &'a [Term] },
    // One solution is enough.
    Found,
    // Marks the tuple to be checked again.
    Suspect { relation: RelId, args: &'a [Term] },
    // Marks the block to be derived again.
    Dirty { relation: RelId, block: Term },
    // Hands the values of the reaction's variables to its effects.
    React { reaction: u32, named: Vec<VarId> },
    // Adds the values to the group with this key.
    Collect { key: Vec<VarId>, values: &'a [Expr] },
}

/// A literal to be planned. An atom may read another store than its relation's.
#[derive(Debug, Clone)]
pub(super) enum Lit<'a> {
    Atom {
        atom: Atom,
        store: Option<StoreId>,
    },
    Compare(&'a Compare),
    /// `var = var`, added by the planner itself.
    Same(VarId, VarId),
    Aggregate(&'a Aggregate),
}

/// The literals of a body that are not planned yet: all of them, or all but one.
#[derive(Debug, Clone, Copy)]
struct Others<'r, 'p> {
    rest: &'r [Lit<'p>],
    /// The place of the one left out.
    but: Option<usize>,
}

impl<'r, 'p> Others<'r, 'p> {
    fn all(rest: &'r [Lit<'p>]) -> Self {
        Self { rest, but: None }
    }

    fn but(rest: &'r [Lit<'p>], but: usize) -> Self {
        Self { rest, but: Some(but) }
    }

    fn mention(self, var: VarId) -> bool {
        self.rest.iter().enumerate().any(|(at, it)| Some(at) != self.but && mentions(it, var))
    }
}

/// Plans bodies for one program.
pub(super) struct Planner<'p, W> {
    pub(super) program: &'p Program,
    pub(super) layout: Layout<W>,
    pub(super) code: Code,
    /// Expected number of tuples by relation.
    pub(super) estimates: Vec<f64>,
    /// Whether plans may use the index of a maintained relation: its rows from the last column to the first. Only plans
    /// that run when facts change may. All plans may use the inverse rows of inputs with a key.
    pub(super) may_index: bool,
    /// The rule or reaction that is being planned, by its number as in [`owner_span`].
    pub(super) owner: u32,
    /// Whether the head's last column, too, is fetched where it is the value of a function, instead of being taken as a
    /// row with one member.
    pub(super) fetches_last: bool,
    vars: VarTable,
    /// The variables that loops are opened over first, see `.plan`.
    pub(super) order: Vec<VarId>,
    /// Number of open loops in the current plan.
    pub(super) loops: u32,
    /// Variables that the goal of the current plan reads.
    wanted: BTreeSet<VarId>,
}

/// The variables of the current rule, and which of them are bound.
#[derive(Debug, Default)]
struct VarTable {
    types: Vec<Type>,
    bound: Vec<bool>,
}

/// The kinds of literals that open no loop, the cheapest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Comparison,
    Test,
    /// A test whether some row agrees with the columns that are bound.
    Existence,
    /// The value of a function.
    Fetch,
    Aggregate,
}

/// Maximum depth of nested loops without a charge.
pub(super) const FREE_LOOPS: u32 = 2;

/// Maximum number of variables of one rule, wildcards included: their registers come before [`GIVEN`].
const MAX_VARS: usize = 155;

/// The registers that get the values of the tuple that plans are about, such as the arguments of an action.
pub(super) const GIVEN: [Reg; 4] = [155, 156, 157, 158];

/// The register for intermediate sums of addresses.
pub(super) const SPARE: Reg = 159;

impl<'p, W: Word> Planner<'p, W> {
    pub(super) fn new(program: &'p Program) -> Self {
        Self {
            program,
            layout: Layout::new(program),
            code: Code::new(),
            estimates: vec![0.0; program.relations.len()],
            may_index: false,
            owner: 0,
            fetches_last: false,
            vars: VarTable::default(),
            order: Vec::new(),
            loops: 0,
            wanted: BTreeSet::new(),
        }
    }

    /// Starts a rule or a reaction: its variables are registers from 0 up. Returns where its plan begins.
    pub(super) fn begin(&mut self, types: &[Type], owner: u32) -> Result<u32, PlanError> {
        self.owner = owner;
        if types.len() > MAX_VARS {
            return Err(self.too_many_variables());
        }
        self.vars = VarTable { types: types.to_vec(), bound: vec![false; types.len()] };
        self.order.clear();
        self.loops = 0;
        Ok(self.code.ops.len() as u32)
    }

    /// The error that something exceeds a limit: `what` names it, and the limit.
    fn too_large(&self, what: String) -> PlanError {
        PlanError::TooLarge { place: owner_place(self.program, self.owner), what }
    }

    fn too_many_variables(&self) -> PlanError {
        self.too_large(format!("more than {MAX_VARS} variables and wildcards"))
    }

    /// Opens a loop over the AND of the rows. Two loops within each other have 65,536 iterations at most (on boards of 64
    /// squares 4,096); from the third level on each entry is charged, by the width of the loop.
    fn emit_loop(&mut self, var: VarId, rows: Vec<RowTerm>) {
        let rows = self.row_list(rows);
        if self.loops >= FREE_LOOPS {
            let ty = self.vars.types[usize::from(var.0)];
            let members = size(self.program, ty).unwrap_or(1);
            self.emit(Op::Spend { steps: members.div_ceil(16) as u16 });
        }
        self.loops += 1;
        self.emit(Op::Loop { reg: var.0 as Reg, rows });
        self.bind(var);
    }

    pub(super) fn bind(&mut self, var: VarId) {
        self.vars.bound[usize::from(var.0)] = true;
    }

    /// A new variable, for a wildcard or a value that a plan needs.
    pub(super) fn fresh(&mut self, ty: Type) -> Result<VarId, PlanError> {
        if self.vars.types.len() >= MAX_VARS {
            return Err(self.too_many_variables());
        }
        self.vars.types.push(ty);
        self.vars.bound.push(false);
        Ok(VarId((self.vars.types.len() - 1) as u16))
    }

    /// Adds an instruction. Returns its place.
    pub(super) fn emit(&mut self, op: Op) -> usize {
        self.code.ops.push(op);
        self.code.owner.push(self.owner);
        self.code.ops.len() - 1
    }

    /// The register of a constant, which gets one if it has none yet.
    pub(super) fn constant(&mut self, value: i64) -> Result<Reg, PlanError> {
        if let Some(&(_, reg)) = self.code.constants.iter().find(|(it, _)| *it == value) {
            return Ok(reg);
        }
        let reg = REGS - 1 - self.code.constants.len();
        if reg <= usize::from(SPARE) {
            let most = REGS - 1 - usize::from(SPARE);
            let what = format!("more than {most} different constants in the rules of the program");
            return Err(self.too_large(what));
        }
        self.code.constants.push((value, reg as Reg));
        Ok(reg as Reg)
    }

    /// Plans a body and returns the expected number of solutions.
    pub(super) fn plan(&mut self, body: Vec<Lit<'_>>, goal: &Goal<'_>) -> Result<f64, PlanError> {
        let outer = std::mem::replace(&mut self.wanted, wanted(goal));
        let planned = self.plan_steps(body, goal);
        self.wanted = outer;
        planned
    }

    /// Plans a body within a plan. The variables that it adds or binds are added or bound only there. Returns where it
    /// ends.
    fn plan_within(&mut self, body: Vec<Lit<'_>>, goal: &Goal<'_>) -> Result<u32, PlanError> {
        let (bound, loops) = (self.vars.bound.clone(), self.loops);
        self.plan(body, goal)?;
        self.loops = loops;
        self.vars.types.truncate(bound.len());
        self.vars.bound = bound;
        Ok(self.code.ops.len() as u32)
    }

    /// Emits the steps of a plan, see the top of this file.
    fn plan_steps(&mut self, body: Vec<Lit<'_>>, goal: &Goal<'_>) -> Result<f64, PlanError> {
        let mut rest = self.normalise(body)?;
        let mut iterations = 1.0;
        loop {
            if let Some(at) = self.next_ready(&rest, row_var(goal)) {
                let lit = rest.remove(at);
                iterations *= self.emit_ready(&lit, Others::all(&rest))?;
            } else if let Some((used, rows)) = self.existential(&rest) {
                let rows = self.row_list(rows);
                self.emit(Op::TestAny { rows, negated: false });
                remove_all(&mut rest, &used);
                iterations *= chance::EXISTS;
            } else if let Some(expected) = self.finish_as_row(&rest, goal)? {
                return Ok(iterations * expected);
            } else if rest.is_empty() {
                self.finish(goal)?;
                return Ok(iterations);
            } else {
                iterations *= self.open_loop(&mut rest, goal)?;
            }
        }
    }

    /// Gives every wildcard of a positive atom, and every occurrence of a variable in it after the first, a
    /// variable of its own.
    fn normalise<'l>(&mut self, body: Vec<Lit<'l>>) -> Result<Vec<Lit<'l>>, PlanError> {
        let mut result = Vec::new();
        for lit in body {
            let Lit::Atom { mut atom, store } = lit else {
                result.push(lit);
                continue;
            };
            let mut seen = BTreeSet::new();
            for at in 0..atom.args.len() {
                let ty = self.program.relation(atom.rel).columns[at].ty;
                match atom.args[at] {
                    Term::Wild if !atom.negated => atom.args[at] = Term::Var(self.fresh(ty)?),
                    Term::Var(var) if !atom.negated && !seen.insert(var) => {
                        let twin = self.fresh(ty)?;
                        atom.args[at] = Term::Var(twin);
                        result.push(Lit::Same(var, twin));
                    }
                    _ => {}
                }
            }
            result.push(Lit::Atom { atom, store });
        }
        Ok(result)
    }

    pub(super) fn is_bound(&self, var: VarId) -> bool {
        self.vars.bound[usize::from(var.0)]
    }

    /// Whether the term has a value at this point of the plan.
    pub(super) fn is_ready(&self, term: Term) -> bool {
        match term {
            Term::Var(var) => self.is_bound(var),
            Term::Const(_) => true,
            Term::Wild => false,
        }
    }

    /// Whether nothing else in the rule uses a value.
    fn is_private(&self, term: Term, others: Others<'_, '_>) -> bool {
        match term {
            Term::Wild => true,
            Term::Const(_) => false,
            Term::Var(var) => {
                !self.is_bound(var) && !self.wanted.contains(&var) && !others.mention(var)
            }
        }
    }

    /// Ends the plan with what the goal does with each solution.
    fn finish(&mut self, goal: &Goal<'_>) -> Result<(), PlanError> {
        match goal {
            Goal::Rows { dense, args } => {
                let (bit, keys) = match args.split_last() {
                    Some((last, keys)) => (self.reg(*last)?, keys),
                    None => (self.constant(0)?, *args),
                };
                let row = dense.address(keys);
                let support = self.support(dense, keys)?;
                self.emit(Op::EmitBit { row, support, bit });
            }
            Goal::Tuple { store, args } => {
                let values = self.reg_list_of(args)?;
                self.emit(Op::EmitTuple { store: *store, values });
            }
            Goal::Found => {
                self.emit(Op::Found);
            }
            Goal::Suspect { relation, args } => {
                let values = self.reg_list_of(args)?;
                self.emit(Op::Suspect { relation: relation.0, values });
            }
            Goal::Dirty { relation, block } => {
                let block = self.reg(*block)?;
                self.emit(Op::Dirty { relation: relation.0, block });
            }
            Goal::React { reaction, .. } => {
                self.emit(Op::React { reaction: *reaction });
            }
            Goal::Collect { key, values } => {
                let key: Vec<Reg> = key.iter().map(|it| it.0 as Reg).collect();
                let key = self.reg_list(&key);
                let mut regs = Vec::new();
                for value in *values {
                    let expr = self.expr(value)?;
                    let var = self.fresh(Type::Int)?;
                    self.emit(Op::Value { reg: var.0 as Reg, expr });
                    regs.push(var.0 as Reg);
                }
                let values = self.reg_list(&regs);
                self.emit(Op::Collect { key, values });
            }
        }
        Ok(())
    }
}

/// The place of the rule or reaction of this number, see [`owner_span`].
pub(super) fn owner_place(program: &Program, owner: u32) -> String {
    let span = owner_span(program, owner as usize);
    span.map_or_else(|| "the program".into(), |it| program.place(it))
}

/// Converts a literal of the program for the planner.
pub(super) fn lit(literal: &Literal) -> Lit<'_> {
    match literal {
        Literal::Atom(atom) => Lit::Atom { atom: atom.clone(), store: None },
        Literal::Compare(compare) => Lit::Compare(compare),
        Literal::Aggregate(aggregate) => Lit::Aggregate(aggregate),
    }
}

/// Whether the row differs with the value of the register.
pub(super) fn depends_on(term: &RowTerm, reg: Reg) -> bool {
    match term.row {
        RowSource::Only(key) => key == reg,
        RowSource::At(address) => address.uses(reg),
        RowSource::All(_) => false,
    }
}

/// Removes the literals at these places.
fn remove_all(rest: &mut Vec<Lit<'_>>, used: &[usize]) {
    let mut places = 0..rest.len();
    rest.retain(|_| places.next().is_some_and(|it| !used.contains(&it)));
}

/// The variable of the head's last column, whose values the goal could take as a whole row.
fn row_var(goal: &Goal<'_>) -> Option<VarId> {
    match goal {
        Goal::Rows { args, .. } => match args.split_last() {
            Some((Term::Var(var), keys)) if !keys.contains(&Term::Var(*var)) => Some(*var),
            _ => None,
        },
        _ => None,
    }
}

/// The variables that the goal reads.
fn wanted(goal: &Goal<'_>) -> BTreeSet<VarId> {
    let mut vars = BTreeSet::new();
    match goal {
        Goal::Rows { args, .. } | Goal::Tuple { args, .. } | Goal::Suspect { args, .. } => {
            vars.extend(term_vars(args));
        }
        Goal::Found => {}
        Goal::Dirty { block, .. } => {
            vars.extend(block.var());
        }
        Goal::React { named, .. } => vars.extend(named.iter().copied()),
        Goal::Collect { key, values } => {
            vars.extend(key.iter().copied());
            for value in *values {
                value.collect_vars(&mut vars);
            }
        }
    }
    vars
}

/// Whether the variable is one of [`vars_of`] the literal.
fn mentions(lit: &Lit<'_>, var: VarId) -> bool {
    let mut sought = Sought { var, found: false };
    collect_vars(lit, &mut sought);
    sought.found
}

/// Stands for a set of variables, but only notes whether one of them is `var`.
struct Sought {
    var: VarId,
    found: bool,
}

impl Extend<VarId> for Sought {
    fn extend<T: IntoIterator<Item = VarId>>(&mut self, vars: T) {
        self.found |= vars.into_iter().any(|it| it == self.var);
    }
}

/// The named variables of a literal, including those of an aggregate that are not local to it.
pub(super) fn vars_of(lit: &Lit<'_>) -> BTreeSet<VarId> {
    let mut vars = BTreeSet::new();
    collect_vars(lit, &mut vars);
    vars
}

fn collect_vars(lit: &Lit<'_>, vars: &mut impl Extend<VarId>) {
    match lit {
        Lit::Same(a, b) => vars.extend([*a, *b]),
        Lit::Atom { atom, .. } => vars.extend(term_vars(&atom.args)),
        Lit::Compare(compare) => compare.collect_vars(vars),
        Lit::Aggregate(aggregate) => {
            vars.extend(aggregate.shared_vars());
            vars.extend(term_vars(&aggregate.results));
        }
    }
}
