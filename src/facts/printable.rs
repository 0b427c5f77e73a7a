//! Escapes text from outside for display: characters that control a terminal, or change the direction of the
//! text around them, are escaped. Letters of all scripts stay, and so do the joiners that some of them need.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character is invisible and can change or hide what stands around it: controls, direction marks, line
/// separators, zero-width spaces, tags. Joiners, which some scripts need, are not among them.
fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{FEFF}'
            | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FFF9}'..='\u{FFFB}'
            | '\u{E0000}'..='\u{E007F}')
}

/// Whether a one-line text, such as a name, has none of the characters that [`printable`] escapes, and no line ends or
/// tabs. It may have spaces and joiners.
pub fn is_printable(text: &str) -> bool {
    !text.contains(is_unseen)
}

/// A text of any number of lines with invisible characters escaped by their numbers: ESC is `\u{1b}`. Line ends and tabs
/// stay; a carriage return alone is no line end.
pub fn printable(text: &str) -> Cow<'_, str> {
    replaced(text, |letter, out| {
        let _ = write!(out, "\\u{{{:x}}}", u32::from(letter));
    })
}

/// A text of any number of lines with question marks for invisible characters, one for each byte, so that all
/// byte offsets stay. Line ends and tabs stay, too.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    replaced(text, |letter, out| out.extend(std::iter::repeat_n('?', letter.len_utf8())))
}

/// An equivalent JSON text, with invisible characters escaped. The text is one that `serde_json` wrote, where they can
/// only be inside strings.
pub fn escaped(json: &str) -> Cow<'_, str> {
    replaced(json, |letter, out| {
        for unit in letter.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    })
}

fn replaced(text: &str, write: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let mut out = String::new();
    // The offset up to which the text was copied.
    let mut done = 0;
    for (at, letter) in text.char_indices().filter(|it| is_unseen(it.1)) {
        let ends_line = letter == '\r' && text[at + 1..].starts_with('\n');
        if ends_line || matches!(letter, '\n' | '\t') {
            continue;
        }
        out.push_str(&text[done..at]);
        write(letter, &mut out);
        done = at + letter.len_utf8();
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visible_text_stays() {
        let text = "Zoë Müller, 王\r\nحافظ\u{200c}\t👩\u{200d}🔬";
        assert!(matches!(printable(text), Cow::Borrowed(it) if it == text));
        assert!(is_printable("Zoë 👩\u{200d}🔬"));
    }

    #[test]
    fn invisible_characters_are_escaped_or_masked() {
        assert_eq!(printable("a\x1b[2Jb\u{202e}c\0\r"), "a\\u{1b}[2Jb\\u{202e}c\\u{0}\\u{d}");
        for text in ["\n", "\x07", "\u{9b}31m", "\u{2066}x", "x\u{feff}", "\u{e0041}"] {
            assert!(!is_printable(text), "{text:?}");
        }
        assert_eq!(escaped("[\"\u{202e}\u{e0041}\",\n1]"), "[\"\\u202e\\udb40\\udc41\",\n1]");
        let masked = masked("a\u{202e}b\u{9b}c\0");
        assert_eq!(masked, "a???b??c?");
    }
}
