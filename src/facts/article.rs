//! The indefinite article before names that sentences are filled with: `a rule`, `an action`.
//!
//! Deliberately absent: any other grammar. Rule text is written so that it needs none.

/// `a` or `an`, as English has it before a word.
pub(crate) fn article(word: &str) -> &'static str {
    let word = word.to_lowercase();
    let sounds_like_consonant =
        word.starts_with("eu") || word.starts_with("uni") || word.starts_with("one");
    let is_vowel = word.starts_with(['a', 'e', 'i', 'o', 'u']);
    if is_vowel && !sounds_like_consonant { "an" } else { "a" }
}

/// Continues a sentence with a name. If the sentence ends with the article `a`, the article becomes the name's: `an`
/// before a vowel, and none before `any ...` and `some ...`, which stand for open values.
pub(crate) fn push_word(sentence: &mut String, word: &str) {
    let before = sentence.strip_suffix("a ").filter(|it| it.is_empty() || it.ends_with(' '));
    if let Some(length) = before.map(str::len) {
        if word.starts_with("any ") || word.starts_with("some ") {
            sentence.truncate(length);
        } else if article(word) == "an" {
            sentence.truncate(length);
            sentence.push_str("an ");
        }
    }
    sentence.push_str(word);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(sentence: &str, word: &str) -> String {
        let mut told = sentence.to_owned();
        push_word(&mut told, word);
        told
    }

    #[test]
    fn articles_are_those_of_the_name() {
        assert_eq!(told("there is a ", "rule"), "there is a rule");
        assert_eq!(told("there is a ", "action"), "there is an action");
        assert_eq!(told("a ", "Entity"), "an Entity");
        assert_eq!(told("it is a ", "union"), "it is a union");
        assert_eq!(told("it is a ", "undine"), "it is an undine");
        assert_eq!(told("e4 has a ", "any kind"), "e4 has any kind");
        assert_eq!(told("e4 has a ", "some kind"), "e4 has some kind");
        assert_eq!(told("from extra ", "e4"), "from extra e4");
        assert_eq!(told("", "action"), "action");
    }
}
