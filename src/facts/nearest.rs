//! "Did you mean": the known name that is most similar to a mistyped one. Small letters and capitals count as the same.
//!
//! Names may come from untrusted text, so the work is bounded: names that differ too much in length are not compared,
//! and a [`Suggester`] has a fixed number of steps for all questions together. Deliberately absent: any ranking
//! beyond the number of edits.

use std::cell::Cell;

use strsim::osa_distance;

/// Maximum number of bytes of a name that is compared with others.
const LONGEST: usize = 64;

/// The number of steps of a [`Suggester`]: enough for the mistakes of a file written by hand.
const STEPS: usize = 1 << 26;

/// The candidate with the fewest edits (insert, delete, replace, swap neighbours), if they are few for the
/// name's length. The first of equally similar ones.
pub(crate) fn nearest<'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    Suggester::default().nearest(name, candidates)
}

/// Answers many questions with a bounded number of steps; when they are spent, there are no more guesses.
#[derive(Debug)]
pub(crate) struct Suggester {
    left: Cell<usize>,
}

impl Default for Suggester {
    fn default() -> Self {
        Self { left: Cell::new(STEPS) }
    }
}

impl Suggester {
    /// Whether there will be no more guesses, so that candidates need not be gathered.
    pub(crate) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// [`nearest`], as long as there are steps left.
    pub(crate) fn nearest<'c>(
        &self,
        name: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<&'c str> {
        if name.len() > LONGEST || self.is_spent() {
            return None;
        }
        let length = name.chars().count();
        let most_edits = match length {
            0..=1 => 0,
            2..=3 => 1,
            4..=7 => 2,
            _ => 3,
        };
        let name = name.to_lowercase();
        let mut best: Option<(usize, &str)> = None;
        for candidate in candidates {
            if !self.spend(1) {
                return None;
            }
            if candidate.len() > LONGEST {
                continue;
            }
            let letters = candidate.chars().count();
            if letters.abs_diff(length) > most_edits {
                continue;
            }
            if !self.spend(length * letters) {
                return None;
            }
            let edits = osa_distance(&name, &candidate.to_lowercase());
            if edits <= most_edits && best.is_none_or(|(least, _)| edits < least) {
                best = Some((edits, candidate));
            }
        }
        best.map(|(_, it)| it)
    }

    fn spend(&self, steps: usize) -> bool {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or_default());
        left.is_some()
    }
}

/// The end of a message about an unknown name.
pub(crate) fn meant(near: &Option<String>) -> String {
    near.as_ref().map(|it| format!("; did you mean {it}?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wrong_letter_and_each_swap_is_one_edit() {
        for mistyped in ["attcaks", "atatcks", "attack", "attackss", "attakks"] {
            assert_eq!(osa_distance(mistyped, "attacks"), 1, "{mistyped}");
            assert_eq!(nearest(mistyped, ["sitting", "attacks"]), Some("attacks"));
        }
        assert_eq!(osa_distance("kitten", "sitting"), 3);
        assert_eq!(nearest("kitten", ["sitting"]), None, "its length allows for two edits");
        assert_eq!(nearest("raod", ["toll", "road"]), Some("road"));
    }

    #[test]
    fn short_names_allow_for_few_edits() {
        assert_eq!(nearest("x", ["y"]), None);
        assert_eq!(nearest("at", ["own", "to"]), None);
    }

    #[test]
    fn work_is_bounded() {
        // A name as long as a whole file costs nothing: it is not compared.
        let suggester = Suggester::default();
        let (long, other) = ("a".repeat(30_000), "b".repeat(30_000));
        assert_eq!(suggester.nearest(&long, [other.as_str(), "a"]), None);
        assert_eq!(suggester.left.get(), STEPS);
        // Many names, each compared with many, use all steps up; the rest gets no guess.
        let known: Vec<String> = (0..1_000).map(|it| format!("{it:060}")).collect();
        let mut answered = 0;
        for at in 0..10_000 {
            let name = format!("{at:060}x");
            answered +=
                usize::from(suggester.nearest(&name, known.iter().map(String::as_str)).is_some());
        }
        assert!(suggester.is_spent() && (10..100).contains(&answered), "{answered}");
    }
}
