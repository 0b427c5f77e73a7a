//! User-defined modifiers: descriptors that become rule text of a preset of their own.
//!
//! A descriptor has a trigger (what happens to a piece), targets (the pieces that are affected), and effects.
//! It compiles to reactions, so a modifier runs, is explained and is saved like every preset. A target that
//! needs a capture, under a trigger that is not a capture, is an error, never an empty list; allies exclude
//! the piece itself. Deliberately absent: looking targets up, which the reactions do.

use std::fmt::Write;

use serde::Deserialize;

use super::templates::Template;
use crate::rules::Source;

/// A modifier as users write it, in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Modifier {
    /// The preset that it becomes. Left out where the file that it is written to has the name.
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub description: String,
    pub hooks: Vec<Hook>,
}

/// The effects at one trigger.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    pub on: Trigger,
    /// The kind of the piece that has the modifier; all kinds if it is left out.
    #[serde(default)]
    pub kind: Option<String>,
    #[serde(default)]
    pub target: Target,
    pub effects: Vec<Primitive>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// The piece is captured, or hit by a capture.
    OnCaptured,
    /// The piece captures.
    OnCapture,
    /// The piece dies, for any reason.
    OnDied,
    OnPromotion,
    OnMove,
    /// The turn of the piece's side begins.
    OnTurnStart,
}

/// The pieces that the effects are for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase", untagged)]
pub enum Target {
    Word(TargetWord),
    Squares {
        squares: Vec<String>,
    },
    Relation {
        relation: Relation,
        #[serde(default)]
        filter: Filter,
    },
    #[default]
    #[serde(skip)]
    Unsaid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetWord {
    #[serde(rename = "self")]
    Itself,
    Attacker,
    Defender,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    Ally,
    Enemy,
}

/// A condition on the pieces of a relation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    #[serde(default, alias = "pieceType")]
    pub kind: Option<String>,
}

/// One effect on each target.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do", deny_unknown_fields)]
pub enum Primitive {
    /// Damage, of the kind that has the modifier's name.
    Damage {
        amount: u16,
    },
    /// Adds to an integer that the piece has.
    Add {
        relation: String,
        amount: i32,
    },
    Set {
        relation: String,
        value: i32,
    },
    Become {
        kind: String,
    },
    Kill,
    Note {
        text: String,
    },
}

/// Why a descriptor is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModifierError {
    #[error("this is no modifier: {fault}")]
    Json { fault: String },
    #[error("modifier {id}: {trigger:?} knows no {target:?}: only a capture has one")]
    NoCapture { id: String, trigger: Trigger, target: TargetWord },
    #[error(
        "modifier {id}: {word:?} is no name: letters, digits and `_`, with single `-` between them"
    )]
    Name { id: String, word: String },
    #[error("modifier {id}: a text has neither quotes nor braces nor line ends: {text:?}")]
    Text { id: String, text: String },
}

impl Modifier {
    /// Reads a descriptor.
    ///
    /// # Errors
    /// The text is not a descriptor.
    pub fn from_json(text: &str) -> Result<Self, ModifierError> {
        serde_json::from_str(text).map_err(|it| ModifierError::Json { fault: it.to_string() })
    }

    /// The rule file that implements the descriptor. Unknown kinds, squares and relations are reported when
    /// it is compiled with the rest.
    ///
    /// # Errors
    /// A target that the trigger does not have, or a text that is not a name.
    pub fn to_rules(&self) -> Result<Source, ModifierError> {
        self.name(&self.id)?;
        let id = &self.id;
        let or_id =
            |text: &str| self.text(if text.is_empty() { id } else { text }).map(String::from);
        let (title, description) = (or_id(&self.name)?, or_id(&self.description)?);
        let places = [("id", id.as_str()), ("title", &title), ("description", &description)];
        let mut out = template().filled("head", &places) + "\n";
        for hook in &self.hooks {
            self.hook(hook, &mut out)?;
        }
        Ok(Source { path: format!("modifiers/{id}.dl"), text: out.into() })
    }

    /// One reaction per effect.
    fn hook(&self, hook: &Hook, out: &mut String) -> Result<(), ModifierError> {
        let (id, template) = (self.id.as_str(), template());
        let kind = hook.kind.as_deref().map(|it| self.name(it)).transpose()?;
        let kind = kind.map(|it| template.filled("kind", &[("kind", it)]));
        let mut body: Vec<String> = kind.iter().cloned().collect();
        if let Target::Squares { squares } = &hook.target {
            self.declare_squares(squares, out)?;
        }
        let claim = |relation: &str| {
            let asks = joined(kind.as_slice());
            template.filled("claim", &[("relation", relation), ("id", id), ("asks", &asks)]) + "\n"
        };
        let event = match hook.on {
            Trigger::OnCaptured => {
                out.push_str(&claim("odd_target"));
                body.push(is("d", "x"));
                "on-capture"
            }
            Trigger::OnCapture => {
                out.push_str(&claim("odd_attacker"));
                body.push(is("a", "x"));
                "on-capture"
            }
            Trigger::OnDied => "on-died",
            Trigger::OnPromotion => "on-promotion",
            Trigger::OnMove => "on-move",
            Trigger::OnTurnStart => {
                body.push(template.part("turn-started").to_owned());
                "on-turn-start"
            }
        };
        body.extend(self.target(hook)?);
        for effect in &hook.effects {
            let (more, effect) = self.effect(effect)?;
            let all: Vec<String> = body.iter().cloned().chain(more).collect();
            let event = unused(template.part(event), &all);
            let asks = joined(&all);
            let places = [("event", &*event), ("id", id), ("asks", &asks), ("effect", &effect)];
            let _ = writeln!(out, "{}", template.filled("reaction", &places));
        }
        Ok(())
    }

    /// Declares the relation that holds a list of squares, unless an earlier hook has the same list.
    fn declare_squares(&self, squares: &[String], out: &mut String) -> Result<(), ModifierError> {
        let (name, template) = (self.squares_name(squares), template());
        let places = [("squares", name.as_str()), ("id", self.id.as_str())];
        let declared = template.filled("squares", &places);
        if out.contains(&declared) {
            return Ok(());
        }
        let _ = writeln!(out, "{declared}");
        for square in squares {
            let places = [("squares", name.as_str()), ("square", self.name(square)?)];
            let _ = writeln!(out, "{}", template.filled("square", &places));
        }
        Ok(())
    }

    /// The literals that bind the target `y`.
    fn target(&self, hook: &Hook) -> Result<Vec<String>, ModifierError> {
        let template = template();
        let word = match &hook.target {
            Target::Unsaid => TargetWord::Itself,
            Target::Word(word) => *word,
            Target::Squares { squares } => {
                let name = self.squares_name(squares);
                return Ok(vec![template.filled("target-squares", &[("squares", &name)])]);
            }
            Target::Relation { relation, filter } => {
                let part = match relation {
                    Relation::Ally => "target-ally",
                    Relation::Enemy => "target-enemy",
                };
                let mut tests = vec![template.part(part).to_owned()];
                if let Some(kind) = &filter.kind {
                    tests.push(template.filled("target-kind", &[("kind", self.name(kind)?)]));
                }
                return Ok(tests);
            }
        };
        let is_capture = matches!(hook.on, Trigger::OnCaptured | Trigger::OnCapture);
        match (word, is_capture) {
            (TargetWord::Itself, _) => Ok(vec![is("y", "x")]),
            (TargetWord::Attacker, true) => Ok(vec![is("y", "a")]),
            (TargetWord::Defender, true) => Ok(vec![is("y", "d")]),
            (target, false) => {
                let (id, trigger) = (self.id.clone(), hook.on);
                Err(ModifierError::NoCapture { id, trigger, target })
            }
        }
    }

    /// A further literal that an effect needs, and the effect.
    fn effect(&self, effect: &Primitive) -> Result<(Option<String>, String), ModifierError> {
        let (id, template) = (self.id.as_str(), template());
        Ok(match effect {
            Primitive::Damage { amount } => {
                let places = [("amount", &*amount.to_string()), ("id", id)];
                (None, template.filled("damage", &places))
            }
            Primitive::Add { relation, amount } => {
                let relation = self.name(relation)?;
                let sign = if *amount < 0 { "-" } else { "+" };
                let amount = amount.unsigned_abs().to_string();
                let places = [("relation", relation), ("sign", sign), ("amount", &amount)];
                (Some(template.filled("has", &places)), template.filled("add", &places))
            }
            Primitive::Set { relation, value } => {
                let places = [("relation", self.name(relation)?), ("value", &value.to_string())];
                (None, template.filled("set", &places))
            }
            Primitive::Become { kind } => {
                (None, template.filled("become", &[("kind", self.name(kind)?)]))
            }
            Primitive::Kill => (None, template.part("kill").to_owned()),
            Primitive::Note { text } => {
                (None, template.filled("note", &[("text", self.text(text)?)]))
            }
        })
    }

    /// The relation that holds a list of squares.
    fn squares_name(&self, squares: &[String]) -> String {
        format!("targets_{}_{}", self.id.replace('-', "_"), squares.join("_"))
    }

    fn name<'t>(&self, word: &'t str) -> Result<&'t str, ModifierError> {
        let fits = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
        let starts = word.starts_with(|it: char| it.is_ascii_alphabetic());
        if starts
            && word.len() <= 64
            && word.chars().all(fits)
            && !word.ends_with('-')
            && !word.contains("--")
        {
            return Ok(word);
        }
        Err(ModifierError::Name { id: self.id.clone(), word: word.into() })
    }

    fn text<'t>(&self, text: &'t str) -> Result<&'t str, ModifierError> {
        match text.contains(['"', '{', '}', '\n', '\r']) {
            true => Err(ModifierError::Text { id: self.id.clone(), text: text.into() }),
            false => Ok(text),
        }
    }
}

fn template() -> Template {
    Template::named("modifier")
}

/// The literal that two variables are equal.
fn is(one: &str, other: &str) -> String {
    template().filled("is", &[("one", one), ("other", other)])
}

/// Literals as a continuation of a body.
fn joined(literals: &[String]) -> String {
    literals.iter().map(|it| format!(", {it}")).collect()
}

/// The event with `_` for attacker or target if the body does not use it.
fn unused(event: &str, body: &[String]) -> String {
    let is_used = |var: &str| {
        body.iter().any(|it| *it == is("y", var) || it.starts_with(&format!("{var} = ")))
    };
    let mut event = event.to_string();
    for (var, word, blank) in [("a", "(a,", "(_,"), ("d", " d,", " _,")] {
        if !is_used(var) {
            event = event.replacen(word, blank, 1);
        }
    }
    event
}
