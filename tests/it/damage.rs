//! Damage for texts that were well-formed: what parsers have to survive.

use proptest::prelude::*;

/// Cuts, doubles, swaps and strange characters.
#[derive(Debug, Clone)]
pub(crate) enum Damage {
    Cut(usize),
    Double(usize),
    Swap(usize),
    Insert(usize, char),
}

pub(crate) fn damage() -> impl Strategy<Value = Damage> {
    let strange = prop_oneof![
        proptest::sample::select(
            " \t\n\r/-[]{}()\"\\$%;.*+#=0189aehxKQkqé½\u{0}\u{1F600}".chars().collect::<Vec<_>>()
        ),
        any::<char>(),
    ];
    prop_oneof![
        any::<usize>().prop_map(Damage::Cut),
        any::<usize>().prop_map(Damage::Double),
        any::<usize>().prop_map(Damage::Swap),
        (any::<usize>(), strange).prop_map(|(at, it)| Damage::Insert(at, it)),
    ]
}

pub(crate) fn damaged(text: &str, damages: &[Damage]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for damage in damages {
        let length = chars.len();
        match *damage {
            Damage::Insert(at, letter) => chars.insert(at % (length + 1), letter),
            _ if length < 2 => {}
            Damage::Cut(at) => {
                chars.remove(at % length);
            }
            Damage::Double(at) => chars.insert(at % length, chars[at % length]),
            Damage::Swap(at) => chars.swap(at % length, (at + 1) % length),
        }
    }
    chars.into_iter().collect()
}

pub(crate) fn damages() -> impl Strategy<Value = Vec<Damage>> {
    proptest::collection::vec(damage(), 1..6)
}
