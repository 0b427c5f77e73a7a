//! "Did you mean": the known name that a mistyped one most likely stands for.
//!
//! Deliberately absent: any ranking beyond the number of edits.

/// The candidate with the fewest edits (insert, delete, replace, swap neighbours), if they are few
/// for the name's length. Of equals the first.
pub(crate) fn nearest<'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    let limit = match name.chars().count() {
        0..=1 => 0,
        2..=3 => 1,
        4..=7 => 2,
        _ => 3,
    };
    candidates
        .into_iter()
        .filter(|it| it.len().abs_diff(name.len()) <= limit)
        .map(|it| (edits(name, it), it))
        .filter(|(edits, _)| *edits <= limit)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, it)| it)
}

fn edits(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut older: Vec<usize> = Vec::new();
    let mut old: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = old[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(old[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(older[j - 2] + 1);
            }
            row.push(best);
        }
        older = std::mem::replace(&mut old, row);
    }
    old[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_letters_are_one_edit() {
        assert_eq!(edits("attcaks", "attacks"), 1);
        assert_eq!(edits("atatcks", "attacks"), 1);
        assert_eq!(nearest("raod", ["toll", "road"]), Some("road"));
    }

    #[test]
    fn short_names_are_not_stretched() {
        assert_eq!(nearest("x", ["y"]), None);
        assert_eq!(nearest("at", ["own", "to"]), None);
    }
}
