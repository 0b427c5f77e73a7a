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
            refill(c, delta, &mut state.lists[delta as usize], new.clone());
        }
        self.found.append(&mut new);
        if reads_full {
            // The whole list is sorted again: a step for every 16 tuples.
            let steps = self.found.len() as i64 / 16;
            state.fuel.spend(steps, owner);
            spent.push((owner, steps));
            refill(c, full, &mut state.lists[full as usize], self.found.clone());
        }
        has_grown
    }
}

/// Computes the stratum; the results are the `full` lists.
pub(super) fn run<W: Word>(c: &Compiled<W>, state: &mut State<W>, fixpoint: &Fixpoint) {
    let found = solve(c, state, fixpoint, &mut Spent::new());
    for (member, tuples) in fixpoint.relations.iter().zip(found) {
        refill(c, member.full, &mut state.lists[member.full as usize], tuples);
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
            let owner = c.machine.owner[variant.pc as usize];
            let before = state.fuel.used();
            if state.fuel.spend(1, owner) {
                let waiting = waiting_tuples(state, members);
                state.exec(c, variant.pc);
                *added_by_it += waiting_tuples(state, members) - waiting;
                last_owner = owner;
            }
            spent.push((owner, state.fuel.used() - before));
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

/// Number of tuples that plans have added since the last round.
fn waiting_tuples<W: Word>(state: &State<W>, members: &[Member]) -> usize {
    members.iter().map(|it| state.fresh[it.full as usize].len()).sum()
}
