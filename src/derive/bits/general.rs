//! The general semi-naive fixpoint: any recursion, tuple lists instead of rows.
//!
//! Used for statics that do not fit bit rows (`compile/solve`), and for recursion that cannot stay within one bit
//! row: mutual, over integers, from row to row, of several recursive rules, or of one that has an aggregate. Slow but
//! complete.

use foldhash::{HashSet, HashSetExt};

use super::super::budget::{ROWS, Resource};
use super::super::rows::Tuple;
use super::compile::{Compiled, refill};
use super::fixpoint::{Fixpoint, Member};
use super::lists;
use super::run::State;
use super::word::Word;

/// Steps in the order in which they were taken out of the budget, with their owner: the number of a rule.
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
        match &member.space {
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

/// Computes the stratum; the results are the `full` lists.
pub(super) fn run<W: Word>(c: &Compiled<W>, state: &mut State<W>, fixpoint: &Fixpoint) {
    let found = solve(c, state, fixpoint, &mut Spent::new());
    for (member, tuples) in fixpoint.relations.iter().zip(found) {
        refill(c, member.full, &mut state.lists[member.full as usize], tuples);
    }
}

/// Computes the stratum. Gives the tuples of each relation, ascending, and notes what was spent.
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
    let is_recursive = fixpoint.variants.iter().any(|it| !it.first);
    let mut seen: Vec<Seen<'_>> = members.iter().filter(|_| is_recursive).map(Seen::new).collect();
    // Lists that no plan reads are not refilled after each round.
    let is_read: Vec<[bool; 2]> =
        members.iter().map(|it| [it.full, it.delta].map(|it| c.reads_list(it))).collect();
    let mut found: Vec<Vec<Tuple>> = vec![Vec::new(); members.len()];
    // Number of tuples that each plan has added so far, known ones included.
    let mut added: Vec<usize> = vec![0; fixpoint.variants.len()];
    let mut first = true;
    let mut last_owner = 0;
    loop {
        let plans = fixpoint.variants.iter().zip(&mut added);
        for (variant, added) in plans.filter(|it| it.0.first == first) {
            let owner = c.machine.owner[variant.pc as usize];
            let before = state.fuel.used();
            if state.fuel.spend(1, owner) {
                let waiting = waiting_tuples(state, members);
                state.exec(c, variant.pc);
                *added += waiting_tuples(state, members) - waiting;
                last_owner = owner;
            }
            spent.push((owner, state.fuel.used() - before));
        }
        first = false;
        let mut grown = false;
        for (at, member) in members.iter().enumerate() {
            let mut new = std::mem::take(&mut state.fresh[member.full as usize]);
            match seen.get_mut(at) {
                Some(seen) => new.retain(|it| seen.insert(it)),
                None => lists::sort(&mut new),
            }
            grown |= !new.is_empty();
            let [full, delta] = is_read[at];
            if delta {
                refill(c, member.delta, &mut state.lists[member.delta as usize], new.clone());
            }
            found[at].append(&mut new);
            if full {
                // The whole list is sorted again: a step for every 16 tuples.
                let steps = found[at].len() as i64 / 16;
                state.fuel.spend(steps, last_owner);
                spent.push((last_owner, steps));
                refill(c, member.full, &mut state.lists[member.full as usize], found[at].clone());
            }
        }
        if found.iter().map(Vec::len).sum::<usize>() > ROWS {
            let most = fixpoint.variants.iter().zip(&added).max_by_key(|it| it.1);
            let owner = most.map_or(last_owner, |it| c.machine.owner[it.0.pc as usize]);
            state.fuel.run_out(Resource::Rows, owner);
        }
        if !grown || !is_recursive || state.fuel.is_out() {
            break;
        }
    }
    found.iter_mut().for_each(lists::sort);
    found
}

/// Number of tuples that plans have added since the last round.
fn waiting_tuples<W: Word>(state: &State<W>, members: &[Member]) -> usize {
    members.iter().map(|it| state.fresh[it.full as usize].len()).sum()
}
