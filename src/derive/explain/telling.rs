//! What tells most: a proof in one sentence.
//!
//! A row that stands against a goal is often known by what it names only in passing: that a piece
//! would be exposed says little without what exposes it. So its sentence is followed by those of the
//! premises that bring new things of the board in, as deep as they do. Which relations these are is
//! nowhere said; the sentences are the relations' own.

use std::collections::BTreeSet;

use super::text::View;
use crate::facts::Shape;
use crate::rules::tree::{Ground, Premise, Proof};
use crate::rules::{Program, Type};

/// What a row is about: its entities and squares.
type Things = BTreeSet<(u16, i64)>;

impl Proof {
    /// One line: the sentence, what it comes from, and the place of the rule.
    pub fn headline(&self, view: View<'_>) -> String {
        let sentence = view.row(&self.relation, &self.tuple);
        let because = because(view.program, self);
        let source = super::text::source(&self.ground);
        if because.is_empty() {
            return format!("{sentence} {source}");
        }
        let rows = because.iter().map(|it| view.row(&it.relation, &it.tuple));
        format!("{sentence}: {} {source}", rows.collect::<Vec<_>>().join(", and "))
    }
}

/// The premises that tell what a row comes from, the nearest first.
fn because<'p>(program: &Program, proof: &'p Proof) -> Vec<&'p Proof> {
    let mut known = things(program, proof);
    let mut chain: Vec<&Proof> = Vec::new();
    let mut at = proof;
    while let Some(next) = newest(program, at, &known) {
        known.extend(things(program, next));
        chain.push(next);
        at = next;
    }
    // A row says nothing more if the next one is about all that it is about.
    let says_more = |at: &usize| {
        let next = chain.get(at + 1).map(|it| things(program, it));
        next.is_none_or(|next| !things(program, chain[*at]).is_subset(&next))
    };
    (0..chain.len()).filter(says_more).map(|at| chain[at]).collect()
}

/// The derived premise that brings in the most that is not known yet; of equals the last.
fn newest<'p>(program: &Program, proof: &'p Proof, known: &Things) -> Option<&'p Proof> {
    let Ground::Rule { premises, .. } = &proof.ground else { return None };
    let derived = premises.iter().filter_map(|it| match it {
        Premise::Holds(it) if matches!(it.ground, Ground::Rule { .. }) => Some(it),
        _ => None,
    });
    let new = |it: &&Proof| things(program, it).difference(known).count();
    derived.filter(|it| new(it) > 0).max_by_key(new)
}

fn things(program: &Program, proof: &Proof) -> Things {
    let relation = program.relation_named(&proof.relation).map(|it| program.relation(it));
    let columns = relation.map_or(&[][..], |it| &it.columns).iter().zip(&proof.tuple);
    let thing = columns.filter_map(|(column, datum)| match column.ty {
        Type::Domain(id) => match program.schema.domain(id).shape {
            Shape::Entities { .. } | Shape::Grid { .. } => Some((id.0, datum.raw)),
            _ => None,
        },
        Type::Int | Type::Text => None,
    });
    thing.collect()
}
