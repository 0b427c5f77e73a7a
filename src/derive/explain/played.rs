//! Trials as indented text: what may be tried, what happens step by step, and what it comes to.
//!
//! Steps are told with the names from before the action, what it comes to with those from after it.

use super::text::{View, indented};
use crate::rules::tree::{Datum, Effect, Outcome, Reacted, Trial};
use crate::rules::{Input, MessagePart, Reaction, Role, Type};
use crate::{facts::AttrId, rules};

impl Trial {
    /// The trial as indented text.
    pub fn render(&self, before: View<'_>, after: View<'_>) -> String {
        let action = before.goal(&self.action);
        let mut text = format!("{action}, if played out\n");
        text += &indented(&self.tried.render(before), 1);
        if let Some(because) = &self.because {
            text += &indented(&because.render(before), 1);
        }
        text += &indented(&self.happenings(before), 1);
        text += &match &self.outcome {
            Outcome::Untenable(proof) => {
                format!("  after it:\n{}", indented(&proof.render(after), 2))
            }
            Outcome::Tenable { goal, .. } => format!("  after it, not: {}\n", after.goal(goal)),
            Outcome::Refused => "  so it is refused\n".to_owned(),
            Outcome::Endless { reason } => format!("  it is refused: {reason}\n"),
        };
        text
    }

    /// What happens, as indented text: a line a step, its effects below.
    pub fn happenings(&self, before: View<'_>) -> String {
        self.steps.iter().map(|it| it.render(before)).collect()
    }

    /// What it does in short: its events with what became of them, its notes, and how many facts
    /// change.
    pub fn told(&self, view: View<'_>) -> Vec<String> {
        let mut told: Vec<String> = Vec::new();
        let mut facts = 0;
        for step in &self.steps {
            let event = || view.event(&step.event, &step.args);
            for effect in &step.effects {
                match effect {
                    Effect::Changed { .. } => facts += 1,
                    Effect::Raised { event, args } => told.push(view.event(event, args)),
                    Effect::Stopped => {
                        let place = &step.reaction.place;
                        told.push(format!("stopped that {} [{place}]", event()));
                    }
                    Effect::Passed { args } => {
                        let passed = view.event(&step.event, args);
                        told.push(format!("instead of {}, {passed}", event()));
                    }
                    Effect::Noted { said } => told.push(step.said(view, said)),
                    Effect::Rewound { .. } | Effect::Called { .. } => {
                        told.push(step.effect(view, effect));
                    }
                    Effect::Spawned { .. } | Effect::Emitted { .. } | Effect::Vetoed { .. } => {}
                }
            }
        }
        let steps = self.steps.len();
        told.push(format!("{facts} facts change, in {steps} steps"));
        told
    }

    /// Why the action is not legal, in a line; `None` if it is.
    pub fn reason(&self, before: View<'_>, after: View<'_>) -> Option<String> {
        match &self.outcome {
            Outcome::Untenable(proof) => Some(format!("after it {}", proof.headline(after))),
            Outcome::Tenable { .. } => None,
            Outcome::Refused => {
                let step = self.steps.last()?;
                let veto = step.effects.iter().find_map(|it| match it {
                    Effect::Vetoed { said } => Some(step.said(before, said)),
                    _ => None,
                });
                veto.map(|it| format!("{it} [{}]", step.reaction.place))
            }
            Outcome::Endless { reason } => Some(reason.clone()),
        }
    }
}

impl Reacted {
    fn render(&self, view: View<'_>) -> String {
        let event = view.event(&self.event, &self.args);
        let mut text = format!("when {event} [{}]\n", self.reaction.place);
        for effect in &self.effects {
            text += &format!("  {}\n", self.effect(view, effect));
        }
        if self.effects.is_empty() {
            text += "  nothing that was not so\n";
        }
        indented(&text, self.depth)
    }

    fn effect(&self, view: View<'_>, effect: &Effect) -> String {
        match effect {
            Effect::Changed { entity, attribute, old, new } => {
                view.change(*entity, attribute, old.as_ref(), new.as_ref())
            }
            Effect::Spawned { entity } => format!("#{entity} is new"),
            Effect::Raised { event, args } => format!("raised: {}", view.event(event, args)),
            Effect::Stopped => "stopped: nothing more comes of it".to_owned(),
            Effect::Passed { args } => format!("passed on: {}", view.event(&self.event, args)),
            Effect::Emitted { event, args } => format!("shown: {}", view.event(event, args)),
            Effect::Noted { said } => format!("noted: {}", self.said(view, said)),
            Effect::Vetoed { said } => format!("refused: {}", self.said(view, said)),
            Effect::Rewound { turns } => format!("the game goes back {turns} turns"),
            Effect::Called { name } => format!("the code {name} is called"),
        }
    }

    /// What the reaction says, with the caller's names for things.
    fn said(&self, view: View<'_>, plain: &str) -> String {
        let Some(reaction) = view.program.reactions.get(usize::from(self.reaction.rule)) else {
            return plain.to_owned();
        };
        let messages = reaction.effects.iter().filter_map(|it| match it {
            rules::Effect::Veto { message } | rules::Effect::Note { message } => Some(message),
            _ => None,
        });
        let named =
            |parts: &[MessagePart], names: &dyn Fn(Type, i64) -> String| -> Option<String> {
                parts.iter().map(|it| self.part(reaction, it, names)).collect()
            };
        let plainly = |ty: Type, raw: i64| view.program.value_name(ty, raw);
        let meant = messages.map(|it| &it.0);
        let mut meant = meant.filter(|it| named(it, &plainly).as_deref() == Some(plain));
        meant.next().and_then(|it| named(it, view.names)).unwrap_or_else(|| plain.to_owned())
    }

    fn part(
        &self,
        reaction: &Reaction,
        part: &MessagePart,
        names: &dyn Fn(Type, i64) -> String,
    ) -> Option<String> {
        match part {
            MessagePart::Text(text) => Some(text.clone()),
            MessagePart::Value(var) => {
                let var = reaction.vars.get(usize::from(var.0))?;
                let binding = self.bindings.iter().find(|it| it.var == var.name)?;
                Some(names(var.ty, binding.value.raw))
            }
        }
    }
}

impl View<'_> {
    /// The sentence of an action or a declared event.
    fn event(self, name: &str, args: &[Datum]) -> String {
        match self.program.event_named(name) {
            None => self.row(name, args),
            Some(id) => {
                let event = self.program.event(id);
                let args: Vec<Option<&Datum>> = args.iter().map(Some).collect();
                self.filled(name, &event.columns, &event.sentence, &args)
            }
        }
    }

    /// A change of a fact, by the sentence of the input that reads it.
    fn change(
        self,
        entity: u32,
        attribute: &str,
        old: Option<&Datum>,
        new: Option<&Datum>,
    ) -> String {
        let id = self.program.schema.attribute_named(attribute);
        let sentence = |value: &Datum| id.and_then(|it| self.fact(it, entity, value));
        let bare = |value: &Datum| format!("{attribute} of #{entity} is {}", value.name);
        match (old, new) {
            (_, Some(new)) => sentence(new).unwrap_or_else(|| bare(new)),
            (Some(old), None) => {
                format!("no more: {}", sentence(old).unwrap_or_else(|| bare(old)))
            }
            (None, None) => "nothing".to_owned(),
        }
    }

    /// What a fact says; `None` if no input that has a sentence reads it, or it says that a flag is
    /// down.
    fn fact(self, attr: AttrId, entity: u32, value: &Datum) -> Option<String> {
        let reads = |it: &&rules::Relation| {
            matches!(it.role, Role::Input(input) if input.attr() == attr) && !it.sentence.is_empty()
        };
        let relation = self.program.relations.iter().find(reads)?;
        let Role::Input(input) = relation.role else { return None };
        let entity = Datum { raw: i64::from(entity), name: format!("#{entity}") };
        let row: Vec<Option<&Datum>> = match input {
            Input::Key(_) => vec![Some(&entity), Some(value)],
            Input::Flag(_) => vec![Some(&entity)],
            Input::Game(_) => vec![Some(value)],
            Input::GameFlag(_) => Vec::new(),
        };
        let said = self.filled(&relation.name, &relation.columns, &relation.sentence, &row);
        match (input, value.raw) {
            (Input::Flag(_) | Input::GameFlag(_), 0) => Some(format!("no more: {said}")),
            _ => Some(said),
        }
    }
}
