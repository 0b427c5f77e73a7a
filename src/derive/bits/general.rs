//! The general semi-naive fixpoint: any recursion, tuple lists instead of rows. Its plans, and running them.
//!
//! Used for statics that do not fit bit rows (`compile/solve`), and for recursion that cannot stay within one bit
//! row: mutual, over integers, from row to row, of several recursive rules, or of one that has an aggregate. Slow but
//! complete.

use foldhash::{HashSet, HashSetExt};

use super::super::budget::{ROWS, Resource};
use super::super::rows::Tuple;
use super::assemble::Assembler;
use super::code::StoreId;
use super::compile::Compiled;
use super::error::PlanError;
use super::layout::Sizes;
use super::lists;
use super::run::State;
use super::word::Word;
use crate::rules::RelId;

/// Maximum number of possible tuples of a relation for which a bit for each notes whether it was found. Beyond it a hash
/// set costs less, since most strata have few tuples.
pub(super) const MAX_POSSIBLE: usize = 1 << 17;

/// One relation of the stratum: all its tuples, and those of the last round.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) rel: RelId,
    pub(super) full: StoreId,
    pub(super) delta: StoreId,
    /// The sizes of its columns, if they are finite and there are at most [`MAX_POSSIBLE`] possible tuples.
    pub(super) sizes: Option<Sizes>,
}

/// One plan of a rule.
#[derive(Debug, Clone)]
pub(super) struct Variant {
    /// Where the plan begins: in the planner's code, and after [`Fixpoint::assemble`] in the machine.
    pub(super) pc: u32,
    /// Whether it reads nothing of the stratum, and so runs in the first round only.
    pub(super) runs_once: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Fixpoint {
    pub(super) relations: Vec<Member>,
    pub(super) variants: Vec<Variant>,
}

impl Fixpoint {
    /// Lowers the plans: they begin in the machine from then on.
    pub(super) fn assemble(&mut self, assembler: &mut Assembler<'_>) -> Result<(), PlanError> {
        for variant in &mut self.variants {
            variant.pc = assembler.stretch(&[variant.pc])?;
        }
        Ok(())
    }
}

/// Steps taken out of the budget (`State::fuel`), in order: the number of the rule that took them, and how many.
pub(super) type Spent = Vec<(u32, i64)>;

/// The tuples of a relation that were found already.
enum Seen<'f> {
    /// A bit for each possible tuple.
    Bits {
        words: Vec<u64>,
        sizes: &'f [u32],
    },
    Any(HashSet<Tuple>),
}

impl<'f> Seen<'f> {
    fn new(member: &'f Member) -> Self {
        match &member.sizes {
            Some(sizes) => {
                let all = sizes.iter().map(|&it| it as usize).product::<usize>();
                Self::Bits { words: vec![0; all.div_ceil(64)], sizes }
            }
            None => Self::Any(HashSet::new()),
        }
    }

    /// Notes a tuple; true if it is new.
    fn insert(&mut self, tuple: &Tuple) -> bool {
        match self {
            Self::Bits { words, sizes } => {
                let at = tuple
                    .iter()
                    .zip(*sizes)
                    .fold(0, |at, (&value, &size)| at * size as usize + value as usize);
                let (word, bit) = (&mut words[at / 64], 1 << (at % 64));
                let is_new = *word & bit == 0;
                *word |= bit;
                is_new
            }
            Self::Any(known) => known.insert(tuple.clone()),
        }
    }
}

/// A relation of the stratum while it is computed.
struct Growing<'f> {
    member: &'f Member,
    /// The tuples found so far.
    found: Vec<Tuple>,
    /// The same as a set, if there is more than one round.
    seen: Option<Seen<'f>>,
    /// Whether plans read the lists `full` and `delta`; only these are refilled after each round.
    is_read: [bool; 2],
}

impl Growing<'_> {
    /// Takes the tuples that a round has added. Returns whether any is new.
    fn end_round<W: Word>(
        &mut self,
        c: &Compiled<W>,
        state: &mut State<W>,
        owner: u32,
        spent: &mut Spent,
    ) -> bool {
        let Member { full, delta, .. } = *self.member;
        let mut new = std::mem::take(&mut state.fresh[full as usize]);
        match &mut self.seen {
            Some(seen) => new.retain(|it| seen.insert(it)),
            // Sorting, too, removes duplicates.
            None => lists::sort(&mut new),
        }
        let has_grown = !new.is_empty();
        let [reads_full, reads_delta] = self.is_read;
        if reads_delta {
            state.refill(c, delta, new.clone());
        }
        self.found.append(&mut new);
        if reads_full {
            // The whole list is sorted again: a step for every 16 tuples.
            let steps = self.found.len() as i64 / 16;
            state.fuel.spend(steps, owner);
            spent.push((owner, steps));
            state.refill(c, full, self.found.clone());
        }
        has_grown
    }
}

/// Computes the stratum; the results are the `full` lists.
pub(super) fn run<W: Word>(c: &Compiled<W>, state: &mut State<W>, fixpoint: &Fixpoint) {
    let found = solve(c, state, fixpoint, &mut Spent::new());
    for (member, tuples) in fixpoint.relations.iter().zip(found) {
        state.refill(c, member.full, tuples);
    }
}

/// Computes the stratum. Returns the tuples of each relation, ascending, and notes what was spent.
pub(super) fn solve<W: Word>(
    c: &Compiled<W>,
    state: &mut State<W>,
    fixpoint: &Fixpoint,
    spent: &mut Spent,
) -> Vec<Vec<Tuple>> {
    let members = &fixpoint.relations;
    for member in members {
        state.lists[member.full as usize] = Default::default();
        state.lists[member.delta as usize] = Default::default();
    }
    // Without recursion one round is enough.
    let is_recursive = fixpoint.variants.iter().any(|it| !it.runs_once);
    let relations = members.iter().map(|member| {
        let is_read = [member.full, member.delta].map(|it| c.reads_list(it));
        let seen = is_recursive.then(|| Seen::new(member));
        Growing { member, found: Vec::new(), seen, is_read }
    });
    let mut relations: Vec<Growing<'_>> = relations.collect();
    // Number of tuples that each variant has added so far, known ones included.
    let mut added: Vec<usize> = vec![0; fixpoint.variants.len()];
    let mut is_first_round = true;
    let mut last_owner = 0;
    loop {
        let variants = fixpoint.variants.iter().zip(&mut added);
        for (variant, added_by_it) in variants.filter(|it| it.0.runs_once == is_first_round) {
            if let Some(new) = run_variant(c, state, members, variant, spent) {
                *added_by_it += new;
                last_owner = c.machine.owner[variant.pc as usize];
            }
        }
        is_first_round = false;
        let mut has_grown = false;
        for relation in &mut relations {
            has_grown |= relation.end_round(c, state, last_owner, spent);
        }
        if relations.iter().map(|it| it.found.len()).sum::<usize>() > ROWS {
            let most = fixpoint.variants.iter().zip(&added).max_by_key(|it| it.1);
            let owner = most.map_or(last_owner, |it| c.machine.owner[it.0.pc as usize]);
            state.fuel.run_out(Resource::Rows, owner);
        }
        if !has_grown || !is_recursive || state.fuel.is_out() {
            break;
        }
    }
    let mut found: Vec<Vec<Tuple>> = relations.into_iter().map(|it| it.found).collect();
    found.iter_mut().for_each(lists::sort);
    found
}

/// Runs a plan, and notes what was spent. Returns the number of tuples that it has added; `None` if the budget was used up
/// before.
fn run_variant<W: Word>(
    c: &Compiled<W>,
    state: &mut State<W>,
    members: &[Member],
    variant: &Variant,
    spent: &mut Spent,
) -> Option<usize> {
    let owner = c.machine.owner[variant.pc as usize];
    let before = state.fuel.used();
    let added = state.fuel.spend(1, owner).then(|| {
        let waiting = waiting_tuples(state, members);
        state.exec(c, variant.pc);
        waiting_tuples(state, members) - waiting
    });
    spent.push((owner, state.fuel.used() - before));
    added
}

/// Number of tuples that plans have added since the last round.
fn waiting_tuples<W: Word>(state: &State<W>, members: &[Member]) -> usize {
    members.iter().map(|it| state.fresh[it.full as usize].len()).sum()
}
