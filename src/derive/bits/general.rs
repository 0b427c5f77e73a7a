//! The general semi-naive fixpoint: any recursion, tuple lists instead of rows.
//!
//! Used for statics at load, for mutual recursion, and for recursion across rows. Slow but complete.

use foldhash::{HashSet, HashSetExt};

use super::super::budget::{ROWS, Resource};
use super::super::rows::Tuple;
use super::compile::{Compiled, refill};
use super::fixpoint::{Fixpoint, Member};
use super::lists;
use super::run::State;
use super::word::Word;

/// Steps taken out of the budget, by owner, in order.
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

    /// Whether the tuple is new.
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
    // Lists are kept up to date for plans that read them.
    let reads: Vec<[bool; 2]> =
        members.iter().map(|it| [it.full, it.delta].map(|it| c.reads_list(it))).collect();
    let mut found: Vec<Vec<Tuple>> = vec![Vec::new(); members.len()];
    let mut first = true;
    let mut blame = 0;
    loop {
        for variant in fixpoint.variants.iter().filter(|it| it.first == first) {
            let owner = c.machine.owner[variant.pc as usize];
            let before = state.fuel.used();
            if state.fuel.spend(1, owner) {
                state.exec(c, variant.pc);
                blame = owner;
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
            let [full, delta] = reads[at];
            if delta {
                refill(c, member.delta, &mut state.lists[member.delta as usize], new.clone());
            }
            found[at].append(&mut new);
            if full {
                let steps = found[at].len() as i64 / 16;
                state.fuel.spend(steps, blame);
                spent.push((blame, steps));
                refill(c, member.full, &mut state.lists[member.full as usize], found[at].clone());
            }
        }
        if found.iter().map(Vec::len).sum::<usize>() > ROWS {
            state.fuel.run_out(Resource::Rows, blame);
        }
        if !grown || !is_recursive || state.fuel.is_out() {
            break;
        }
    }
    found.iter_mut().for_each(lists::sort);
    found
}
