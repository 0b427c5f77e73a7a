//! The sides of a game that declares them: `.meta sides "red, blue, green"`. The core file about sides is
//! replaced by one generated from a template of rule text.
//!
//! Deliberately absent: what sides mean, which is rule text, too; the order of turns, which rules may declare
//! by `follows`.

use crate::rules::{Meta, Source, template};

use super::error::LoadError;

/// Maximum number of sides of a game.
pub const SIDES: usize = 8;

/// The path of the generated text.
pub(super) const GENERATED_PATH: &str = "sides of the game";

/// The rules for the sides that a file declares by a `.meta` line, unless the file has the rules itself.
pub(super) fn generated(source: &Source, meta: &Meta) -> Result<Option<Source>, LoadError> {
    if declares_domain(source) {
        return Ok(None);
    }
    let names: Vec<&str> = meta.value.split(',').map(str::trim).collect();
    if let Some(fault) = fault(&names) {
        let place = format!("{}:{}", source.path, meta.span.line);
        return Err(LoadError::Sides { place, fault });
    }
    let template = template("sides");
    Ok(Some(Source { path: GENERATED_PATH.into(), text: filled(template, &names).into() }))
}

/// Whether a file declares the domain of the sides.
fn declares_domain(source: &Source) -> bool {
    source.text.lines().any(|it| it.trim_start().starts_with(".domain Side "))
}

/// What is wrong with the names of sides, if anything.
fn fault(names: &[&str]) -> Option<String> {
    let fits = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    let is_name =
        |it: &&str| it.starts_with(|it: char| it.is_ascii_lowercase()) && it.chars().all(fits);
    if !(2..=SIDES).contains(&names.len()) {
        return Some(format!("a game has 2 to {SIDES} sides, not {}", names.len()));
    }
    if let Some(odd) = names.iter().find(|it| !is_name(it)) {
        return Some(format!("{odd:?} is no name of a side: write small letters, digits and _"));
    }
    if let Some(taken) = names.iter().find(|it| matches!(**it, "both" | "draw")) {
        return Some(format!(
            "{taken} is no name of a side: it means something else in results or scopes"
        ));
    }
    let twice = names.iter().enumerate().find(|(at, it)| names[..*at].contains(it));
    if let Some((_, name)) = twice {
        return Some(format!("the side {name} is named twice"));
    }
    // A FEN writes a side as the shortest prefix of its name that no other side's name has.
    let clash = names.iter().find_map(|it| {
        let longer = names.iter().find(|other| *other != it && other.starts_with(it))?;
        Some((*it, *longer))
    });
    clash.map(|(short, long)| {
        format!("{short} begins {long}, so a FEN could not tell them apart: rename one")
    })
}

/// The template with the names filled in: a line with `<side>` is repeated for each side, one with `<other>`
/// for each pair.
fn filled(template: &str, names: &[&str]) -> String {
    let is_pair = names.len() == 2;
    let mut outcomes: Vec<String> = names.iter().map(|it| format!("{it}_wins")).collect();
    if !is_pair {
        outcomes.extend(names.iter().map(|it| format!("{it}_loses")));
    }
    // With two sides, one determines the other.
    let key = if is_pair { "key " } else { "" };
    let mut text = String::new();
    // Some lines are only for games of two sides, some only for others.
    let (kept, left_out) = if is_pair { ("<two>", "<more>") } else { ("<more>", "<two>") };
    for line in template.lines().filter(|it| !it.starts_with(left_out)) {
        let line = line
            .replace(kept, "")
            .replace("<sides>", &names.join(", "))
            .replace("<outcomes>", &outcomes.join(", "))
            .replace("<first>", names.first().unwrap_or(&""))
            .replace("<key>", key);
        if !line.contains("<side>") {
            text.push_str(&line);
            text.push('\n');
            continue;
        }
        for (at, side) in names.iter().enumerate() {
            let next = names[(at + 1) % names.len()];
            let line = line.replace("<side>", side).replace("<next>", next);
            let others = names.iter().filter(|it| *it != side);
            let count = if line.contains("<other>") { names.len() } else { 1 };
            for other in others.take(count) {
                text.push_str(&line.replace("<other>", other));
                text.push('\n');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::EMBEDDED;

    #[test]
    fn the_file_of_the_core_is_the_template_filled_in() {
        let template = template("sides");
        let core = EMBEDDED.iter().find(|it| it.0 == "rules/core/sides.dl").expect("a file").1;
        let rules = |text: &str| text[text.find(".domain").expect("rules")..].to_owned();
        assert_eq!(rules(&filled(template, &["white", "black"])), rules(core));
    }

    #[test]
    fn invalid_names_of_sides_are_refused() {
        for (names, expected) in [
            ("red", "2 to 8 sides, not 1"),
            ("a, b, c, d, e, f, g, h, i", "not 9"),
            ("red, Blue", "\"Blue\" is no name"),
            ("red, draw", "draw is no name"),
            ("red, red", "named twice"),
            ("red, red_2", "red begins red_2"),
        ] {
            let names: Vec<&str> = names.split(", ").collect();
            let fault = fault(&names).unwrap_or_default();
            assert!(fault.contains(expected), "{names:?}: {fault}");
        }
        assert_eq!(fault(&["red", "blue", "green"]), None);
        assert_eq!(fault(&["blue", "black"]), None);
    }
}
