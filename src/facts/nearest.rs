//! "Did you mean": the known name that a mistyped one most likely stands for.
//!
//! Names come from strangers, so the work is bounded: names that cannot be a slip are not compared, and a
//! [`Speller`] has so many steps for all questions together. Deliberately absent: any ranking beyond the
//! number of edits.

use std::cell::Cell;

/// The maximum number of bytes of a name that is compared with others.
const LONGEST: usize = 64;

/// What a [`Speller`] may spend: enough for the mistakes of a file written by hand.
const STEPS: usize = 1 << 23;

/// The candidate with the fewest edits (insert, delete, replace, swap neighbours), if they are few
/// for the name's length. Of equals the first.
pub(crate) fn nearest<'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    Speller::default().nearest(name, candidates)
}

/// Answers many questions with a bounded number of steps; when they are spent, there are no more guesses.
#[derive(Debug)]
pub(crate) struct Speller {
    left: Cell<usize>,
}

impl Default for Speller {
    fn default() -> Self {
        Self { left: Cell::new(STEPS) }
    }
}

impl Speller {
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
        let limit = match name.chars().count() {
            0..=1 => 0,
            2..=3 => 1,
            4..=7 => 2,
            _ => 3,
        };
        let name: Vec<char> = name.to_lowercase().chars().collect();
        let mut best: Option<(usize, &str)> = None;
        for candidate in candidates {
            if !self.spend(1) {
                return None;
            }
            if candidate.len() > LONGEST {
                continue;
            }
            let letters: Vec<char> = candidate.to_lowercase().chars().collect();
            if letters.len().abs_diff(name.len()) > limit {
                continue;
            }
            if !self.spend((name.len() + 1) * (2 * limit + 1)) {
                return None;
            }
            let edits = edits(&name, &letters, limit);
            if let Some(edits) = edits.filter(|it| best.is_none_or(|(least, _)| *it < least)) {
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

/// The number of edits, if there are no more than `limit`: only so far from the diagonal is looked at.
fn edits(a: &[char], b: &[char], limit: usize) -> Option<usize> {
    let far = limit + 1;
    let mut older: Vec<usize> = Vec::new();
    let mut old: Vec<usize> = (0..=b.len()).map(|it| it.min(far)).collect();
    for i in 1..=a.len() {
        let mut row = vec![far; b.len() + 1];
        row[0] = i.min(far);
        for j in i.saturating_sub(limit).max(1)..=(i + limit).min(b.len()) {
            let replace = old[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(old[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(older[j - 2] + 1);
            }
            row[j] = best.min(far);
        }
        older = std::mem::replace(&mut old, row);
    }
    old.last().copied().filter(|it| *it <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(text: &str) -> Vec<char> {
        text.chars().collect()
    }

    #[test]
    fn swapped_letters_are_one_edit() {
        for mistyped in ["attcaks", "atatcks", "attack", "attackss", "attakks"] {
            let (a, b) = (letters(mistyped), letters("attacks"));
            assert_eq!(edits(&a, &b, 3), Some(1), "{mistyped}");
        }
        assert_eq!(edits(&letters("kitten"), &letters("sitting"), 3), Some(3));
        assert_eq!(edits(&letters("kitten"), &letters("sitting"), 2), None);
        assert_eq!(nearest("raod", ["toll", "road"]), Some("road"));
    }

    #[test]
    fn short_names_are_not_stretched() {
        assert_eq!(nearest("x", ["y"]), None);
        assert_eq!(nearest("at", ["own", "to"]), None);
    }

    #[test]
    fn work_is_bounded() {
        // Names of a whole file each cost nothing.
        let speller = Speller::default();
        let (long, other) = ("a".repeat(30_000), "b".repeat(30_000));
        assert_eq!(speller.nearest(&long, [other.as_str(), "a"]), None);
        assert_eq!(speller.left.get(), STEPS);
        // Many names against many cost what there is, and then nothing.
        let known: Vec<String> = (0..1_000).map(|it| format!("{it:060}")).collect();
        let mut answered = 0;
        for at in 0..10_000 {
            let name = format!("{at:060}x");
            answered +=
                usize::from(speller.nearest(&name, known.iter().map(String::as_str)).is_some());
        }
        assert!(speller.is_spent() && (10..100).contains(&answered), "{answered}");
    }
}
