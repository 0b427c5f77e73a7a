//! Headlines: a proof in its most informative sentence.
//!
//! The sentence of a row that forbids a goal often lacks the cause: that a piece would be exposed says little
//! without the attacker. So it is followed by the sentences of premises that mention further things on the
//! board, and so on for as long as they do. No relations are listed for this; the sentences are the relations' own.

use std::collections::BTreeSet;

use super::text::{Line, View, said, source};
use crate::facts::Shape;
use crate::rules::Type;
use crate::rules::tree::{Ground, Premise, Proof};

/// The entities and squares in a row.
type Things = BTreeSet<(u16, i64)>;

impl Proof {
    /// One line: the sentence, the premises that state its cause, and the place of the rule. The sentence of a relation
    /// is left out if one of these premises mentions everything that it mentions.
    pub fn headline(&self, view: View<'_>) -> String {
        let source = source(&self.ground);
        let said = said(view, self);
        if said.as_ref().is_some_and(|it| !it.ends_with(':')) {
            return Line { depth: 0, text: self.sentence(view), source }.to_string();
        }
        let because = because(view, self);
        let own = things(view, self);
        let says_less =
            because.iter().any(|it| !own.is_empty() && own.is_subset(&things(view, it)));
        let sentences: Vec<String> = because.iter().map(|it| it.sentence(view)).collect();
        let reasons = sentences.join(", and ");
        let text = match said {
            _ if because.is_empty() => self.sentence(view),
            Some(said) => format!("{said} {reasons}"),
            None if says_less => reasons,
            None => format!("{}: {reasons}", view.row(&self.relation, &self.tuple)),
        };
        Line { depth: 0, text, source }.to_string()
    }
}

/// The premises that state the cause of a row, the nearest first.
fn because<'p>(view: View<'_>, proof: &'p Proof) -> Vec<&'p Proof> {
    let mut known = things(view, proof);
    let mut chain: Vec<&Proof> = Vec::new();
    let mut at = proof;
    while let Some(next) = newest(view, at, &known, chain.is_empty()) {
        known.extend(things(view, next));
        chain.push(next);
        at = next;
    }
    // A row adds nothing if the next one mentions everything that it mentions.
    let says_more = |at: &usize| {
        let next = chain.get(at + 1).map(|it| things(view, it));
        next.is_none_or(|next| !things(view, chain[*at]).is_subset(&next))
    };
    (0..chain.len()).filter(says_more).map(|at| chain[at]).collect()
}

/// The derived premise that mentions the most new things, the last of equal ones. If none mentions any, and
/// `look_through` is set, their own premises are searched.
fn newest<'p>(
    view: View<'_>,
    proof: &'p Proof,
    known: &Things,
    look_through: bool,
) -> Option<&'p Proof> {
    let Ground::Rule { premises, .. } = &proof.ground else { return None };
    // The steps along a line are left out.
    let derived = premises.iter().filter_map(|it| match it {
        Premise::Holds(it) if it.relation == proof.relation => None,
        Premise::Holds(it) if matches!(it.ground, Ground::Rule { .. }) => Some(it),
        _ => None,
    });
    let new = |it: &&Proof| things(view, it).difference(known).count();
    let most = derived.clone().filter(|it| new(it) > 0).max_by_key(new);
    let mut through = derived.filter(|_| look_through);
    most.or_else(|| through.find_map(|it| newest(view, it, known, true)))
}

fn things(view: View<'_>, proof: &Proof) -> Things {
    let program = view.program;
    let relation = program.relation_named(&proof.relation).map(|it| program.relation(it));
    let columns = relation.map_or(&[][..], |it| &it.columns).iter().zip(&proof.tuple);
    let thing = columns.filter_map(|(column, datum)| match column.ty {
        Type::Domain(id) => match program.schema.domain(id).shape {
            Shape::Grid { .. } => Some((id.0, datum.raw)),
            // An entity that is named by number is not on the board.
            Shape::Entities { .. } => {
                let is_seen = !(view.names)(column.ty, datum.raw).contains('#');
                is_seen.then_some((id.0, datum.raw))
            }
            _ => None,
        },
        Type::Int | Type::Text => None,
    });
    thing.collect()
}
