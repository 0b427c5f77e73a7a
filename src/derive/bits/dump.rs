//! Plans as text, to see why a rule is slow.

use std::fmt::Write;

use super::compile::{Compiled, Mode};
use super::word::Word;
use crate::rules::RelId;

/// For each relation that is derived for a session: a line with its mode and, for each of its rules, the place of the
/// rule and its instructions before they are assembled; those of a fixpoint are left out.
pub(super) fn plans<W: Word>(c: &Compiled<W>) -> String {
    let mut text = String::new();
    for (at, mode) in c.modes.iter().enumerate() {
        let name = &c.program.relation(RelId(at as u16)).name;
        let starts: Vec<u32> = match mode {
            Mode::Given => continue,
            Mode::OnDemand { rules } => {
                let _ = writeln!(text, "{name}: on demand, about {:.1} tuples", c.estimates[at]);
                rules.clone()
            }
            Mode::General { .. } => {
                let _ = writeln!(text, "{name}: fixpoint");
                Vec::new()
            }
            Mode::Block { rules, fixes } => {
                let _ = writeln!(text, "{name}: kept by block");
                rules.iter().chain(fixes).map(|it| it.1).collect()
            }
            Mode::Tuple { checks } => {
                let _ = writeln!(text, "{name}: kept by tuple");
                checks.iter().map(|it| it.1).collect()
            }
        };
        for start in starts {
            let owner = c.code.owner[start as usize];
            let _ = writeln!(text, "  {}", c.program.place(c.program.rules[owner as usize].span));
            let mut at = start as usize;
            while at < c.code.relations_end && c.code.owner[at] == owner {
                let _ = writeln!(text, "    {at}: {:?}", c.code.ops[at]);
                at += 1;
            }
        }
    }
    text
}
