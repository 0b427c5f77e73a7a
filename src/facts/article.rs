//! The grammar of sentences that are filled with values: the indefinite article before names, `a rule`, `an action`; and
//! the plural after numbers, `1 step`, `2 steps`.
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

/// A filled sentence in which each `(s)` is settled by the number before it: `1 step(s)` becomes `1 step`, `2 step(s)`
/// and `any n step(s)` become `2 steps` and `any n steps`.
pub(crate) fn with_plurals(sentence: String) -> String {
    if !sentence.contains("(s)") {
        return sentence;
    }
    let mut full = String::new();
    let mut number = None;
    for piece in sentence.split_inclusive("(s)") {
        let Some(noun) = piece.strip_suffix("(s)") else {
            full.push_str(piece);
            continue;
        };
        full.push_str(noun);
        let mut numbers = noun.split_whitespace().filter_map(|it| it.parse::<i64>().ok());
        number = numbers.next_back().or(number);
        full.push_str(if number == Some(1) { "" } else { "s" });
    }
    full
}

/// A text with its placeholders filled, and the articles before and plurals after them adapted. A placeholder without a
/// value is replaced by its name.
pub(crate) fn filled(text: &str, value: &dyn Fn(&str) -> Option<String>) -> String {
    let mut full = String::new();
    let mut rest = text;
    while let Some((before, (key, after))) =
        rest.split_once('{').and_then(|(before, it)| Some((before, it.split_once('}')?)))
    {
        full.push_str(before);
        push_word(&mut full, &value(key).unwrap_or_else(|| key.to_owned()));
        rest = after;
    }
    with_plurals(full + rest)
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

    #[test]
    fn plurals_are_those_of_the_number() {
        let told = |it: &str| with_plurals(it.to_owned());
        assert_eq!(told("e4 has 1 step(s)"), "e4 has 1 step");
        assert_eq!(told("e4 has 0 step(s) left"), "e4 has 0 steps left");
        assert_eq!(told("the last 1 turn(s) had 2 hop(s)"), "the last 1 turn had 2 hops");
        assert_eq!(told("e4 has any n step(s)"), "e4 has any n steps");
        assert_eq!(told("wins with 1 more check(s)"), "wins with 1 more check");
        assert_eq!(told("2 hop(s), step(s) and 1 turn(s)"), "2 hops, steps and 1 turn");
    }
}
