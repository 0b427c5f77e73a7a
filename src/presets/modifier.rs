//! User-defined modifiers: descriptors that become rule text of a preset of their own.
//!
//! A descriptor says when something happens to a piece (`trigger`), to whom the effects go
//! (`target`), and what they are. It compiles to reactions, so a modifier runs, is explained and is
//! saved like every preset. A target that needs a capture under a trigger that is none is an error,
//! never an empty list; allies exclude the piece itself.
//! Deliberately absent: looking targets up, which the reactions do.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::rules::Source;

/// A modifier as users write it, in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Modifier {
    /// The preset that it becomes.
    pub id: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub description: String,
    pub hooks: Vec<Hook>,
}

/// What happens at one trigger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// The piece is captured, or a blow of a capture reaches it.
    OnCaptured,
    /// The piece captures.
    OnCapture,
    /// The piece dies, whatever of.
    OnDied,
    OnPromotion,
    OnMove,
    /// The turn of the piece's side begins.
    OnTurnStart,
}

/// Whom the effects are for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetWord {
    #[serde(rename = "self")]
    Itself,
    Attacker,
    Defender,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    Ally,
    Enemy,
}

/// Which pieces of a relation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    #[serde(default, alias = "pieceType")]
    pub kind: Option<String>,
}

/// One effect on each target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do", deny_unknown_fields)]
pub enum Primitive {
    /// Damage of a kind of its own.
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

/// Why a descriptor is no modifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModifierError {
    #[error("this is no modifier: {fault}")]
    Json { fault: String },
    #[error("modifier {id}: {trigger:?} knows no {target:?}: only a capture has one")]
    NoCapture { id: String, trigger: Trigger, target: TargetWord },
    #[error("modifier {id}: {word:?} is no name: letters, digits, `_` and `-` only")]
    Name { id: String, word: String },
    #[error("modifier {id}: a text has neither quotes nor braces nor line ends: {text:?}")]
    Text { id: String, text: String },
}

impl Modifier {
    /// Reads a descriptor.
    ///
    /// # Errors
    /// The text is none.
    pub fn from_json(text: &str) -> Result<Self, ModifierError> {
        serde_json::from_str(text).map_err(|it| ModifierError::Json { fault: it.to_string() })
    }

    /// The rule file that does what the descriptor says. Kinds, squares and relations that there
    /// are not are found when it is compiled with the rest.
    ///
    /// # Errors
    /// A target that the trigger does not know, or a word that is none.
    pub fn to_rules(&self) -> Result<Source, ModifierError> {
        self.name(&self.id)?;
        let id = &self.id;
        let or_id =
            |text: &str| self.text(if text.is_empty() { id } else { text }).map(String::from);
        let mut out = String::new();
        let _ = writeln!(out, ".meta preset \"{id}\"");
        let _ = writeln!(out, ".meta name \"{}\"", or_id(&self.name)?);
        let _ = writeln!(out, ".meta description \"{}\"", or_id(&self.description)?);
        let _ = writeln!(out, ".domain Preset += {{ {id} }}");
        let _ = writeln!(out, ".domain DamageKind += {{ {id} }}");
        for hook in &self.hooks {
            self.hook(hook, &mut out)?;
        }
        Ok(Source { path: format!("modifiers/{id}.dl"), text: out.into() })
    }

    /// One reaction per effect. `x` has the modifier, `y` is the target, `a` attacks and `d` is
    /// attacked.
    fn hook(&self, hook: &Hook, out: &mut String) -> Result<(), ModifierError> {
        let id = &self.id;
        let mut body = vec![format!("active('{id}, c)"), "color(x, c)".to_string()];
        if let Some(kind) = &hook.kind {
            body.push(format!("kind(x, '{})", self.name(kind)?));
        }
        if let Target::Squares { squares } = &hook.target {
            let name = self.squares_name(squares);
            if !out.contains(&format!(".static {name}(")) {
                let _ = writeln!(
                    out,
                    ".static {name}(square: Square) open \"{{square}} is a target of {id}\""
                );
                for square in squares {
                    let _ = writeln!(out, "{name}('{}).", self.name(square)?);
                }
            }
        }
        let claim = |relation: &str| {
            let kind = hook.kind.as_ref().map(|it| format!(", kind(x, '{it})"));
            format!("{relation}(x) :- active('{id}, c), color(x, c){}.\n", kind.unwrap_or_default())
        };
        let (event, by_capture) = match hook.on {
            Trigger::OnCaptured => {
                out.push_str(&claim("odd_target"));
                body.push("d = x".into());
                ("capture(a, d, _) in before", true)
            }
            Trigger::OnCapture => {
                out.push_str(&claim("odd_attacker"));
                body.push("a = x".into());
                ("capture(a, d, _) in before", true)
            }
            Trigger::OnDied => ("died(x, _) in before", false),
            Trigger::OnPromotion => ("promote(x, _, _) in after", false),
            Trigger::OnMove => ("move(x, _) in after", false),
            Trigger::OnTurnStart => {
                body.extend(["!mid_turn()".into(), "turn(c)".into(), "at(x, _)".into()]);
                ("any in start", false)
            }
        };
        body.extend(self.target(hook, by_capture)?);
        for effect in &hook.effects {
            let (more, effect) = self.effect(effect)?;
            let all: Vec<&str> = body.iter().chain(&more).map(String::as_str).collect();
            let event = unused(event, &all);
            let _ = writeln!(out, "on {event} when {} do {effect}.", all.join(", "));
        }
        Ok(())
    }

    /// What binds the target `y`.
    fn target(&self, hook: &Hook, by_capture: bool) -> Result<Vec<String>, ModifierError> {
        let word = match &hook.target {
            Target::Unsaid => TargetWord::Itself,
            Target::Word(word) => *word,
            Target::Squares { squares } => {
                let mut tests = vec!["at(y, s)".to_string()];
                for square in squares {
                    self.name(square)?;
                }
                tests.push(format!("{}(s)", self.squares_name(squares)));
                return Ok(tests);
            }
            Target::Relation { relation, filter } => {
                let mut tests = match relation {
                    Relation::Ally => vec!["color(y, c)".to_string(), "y != x".into()],
                    Relation::Enemy => vec!["opponent(c, o)".to_string(), "color(y, o)".into()],
                };
                tests.push("at(y, _)".into());
                if let Some(kind) = &filter.kind {
                    tests.push(format!("kind(y, '{})", self.name(kind)?));
                }
                return Ok(tests);
            }
        };
        let known = |who: &str| vec![format!("y = {who}")];
        match (word, by_capture) {
            (TargetWord::Itself, _) => Ok(known("x")),
            (TargetWord::Attacker, true) => Ok(known("a")),
            (TargetWord::Defender, true) => Ok(known("d")),
            (target, false) => {
                let (id, trigger) = (self.id.clone(), hook.on);
                Err(ModifierError::NoCapture { id, trigger, target })
            }
        }
    }

    /// What an effect asks for besides, and the effect.
    fn effect(&self, effect: &Primitive) -> Result<(Vec<String>, String), ModifierError> {
        let id = &self.id;
        Ok(match effect {
            Primitive::Damage { amount } => {
                (Vec::new(), format!("raise damage(y, {amount}, '{id}, x)"))
            }
            Primitive::Add { relation, amount } => {
                let relation = self.name(relation)?;
                let old = format!("{relation}(y, n)");
                (vec![old], format!("set {relation}(y, n + {amount})").replace("+ -", "- "))
            }
            Primitive::Set { relation, value } => {
                (Vec::new(), format!("set {}(y, {value})", self.name(relation)?))
            }
            Primitive::Become { kind } => {
                (Vec::new(), format!("set kind(y, '{})", self.name(kind)?))
            }
            Primitive::Kill => (Vec::new(), "raise died(y, x)".into()),
            Primitive::Note { text } => {
                (Vec::new(), format!("note \"{}: {{y}}\"", self.text(text)?))
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
        if starts && word.len() <= 64 && word.chars().all(fits) && !word.ends_with('-') {
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

/// The event with `_` for the one of attacker and attacked that nothing asks for.
fn unused(event: &str, body: &[&str]) -> String {
    let asks = |who: &str| {
        body.iter().any(|it| *it == format!("y = {who}") || it.starts_with(&format!("{who} = ")))
    };
    let mut event = event.to_string();
    for (who, word, blank) in [("a", "(a,", "(_,"), ("d", " d,", " _,")] {
        if !asks(who) {
            event = event.replacen(word, blank, 1);
        }
    }
    event
}
