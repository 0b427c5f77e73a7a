//! Trials as indented text: the action that is tried, what it does step by step, and the outcome.
//!
//! Steps are worded with the names from before the action, its result with those from after it. What is new in it has
//! its names from the end.

use super::text::{Line, View};
use crate::derive::trace::Said;
use crate::facts::{AttrId, EntityId, GAME, NEXT_ENTITY};
use crate::rules;
use crate::rules::tree::{Datum, Effect, Goal, Outcome, Reacted, Trial, TurnEnd, Turning};
use crate::rules::{Input, Literal, Reaction, Role, Term, Type, VarId};

impl Trial {
    /// The trial, line by line.
    pub fn lines(&self, before: View<'_>, after: View<'_>) -> Vec<Line> {
        let action = before.tried(&self.action);
        let mut lines = vec![Line::plain(0, format!("{action}, if played out"))];
        let within = |it: Vec<Line>, depth| it.into_iter().map(move |line| line.within(depth));
        lines.extend(within(self.tried.lines(before), 1));
        if let Some(because) = &self.because {
            lines.extend(within(because.lines(before), 1));
        }
        lines.extend(within(self.expiry(before), 1));
        lines.extend(within(self.steps.iter().flat_map(|it| it.lines(before)).collect(), 1));
        let when = match self.decided {
            Some(steps) => format!("after step {steps}"),
            None => "after it".to_owned(),
        };
        match &self.outcome {
            Outcome::Untenable(proof) => {
                lines.push(Line::plain(1, format!("{when}:")));
                lines.extend(within(proof.lines(after), 2));
            }
            Outcome::Tenable { goal, .. } => {
                lines.push(Line::plain(1, format!("{when}, not: {}", after.goal(goal))));
            }
            Outcome::Refused => lines.push(Line::plain(1, "so it is refused")),
            Outcome::Endless { reason } => {
                lines.push(Line::plain(1, format!("it is refused: {reason}")));
            }
        }
        lines
    }

    /// The facts that expire before the first step.
    fn expiry(&self, view: View<'_>) -> Vec<Line> {
        if self.expired.is_empty() {
            return Vec::new();
        }
        let change = |it: &Effect| match it {
            Effect::Changed { entity, attribute, old, new } => {
                let text = view.change(*entity, attribute, old.as_ref(), new.as_ref());
                Some(Line::plain(1, text))
            }
            _ => None,
        };
        let head = Line::plain(0, "as it begins");
        [head].into_iter().chain(self.expired.iter().filter_map(change)).collect()
    }

    /// What the action does, in short: its events with their results, its notes, and the number of changed facts.
    pub fn summary(&self, view: View<'_>) -> Vec<String> {
        let rewinding = || self.steps.iter().filter(|it| it.rewinds());
        if rewinding().next().is_some() {
            // The rewind takes everything else back.
            return rewinding().flat_map(|it| it.summary(view)).collect();
        }
        let mut sentences: Vec<String> =
            self.steps.iter().flat_map(|it| it.summary(view)).collect();
        let effects = self.steps.iter().flat_map(|it| &it.effects);
        let changes = effects.filter(|it| matches!(it, Effect::Changed { .. })).count();
        let (facts, steps) = (self.expired.len() + changes, self.steps.len());
        sentences.push(format!("changed facts: {facts}, steps: {steps}"));
        sentences
    }

    /// Why the action is not legal, in one line; `None` if it is.
    pub fn reason(&self, before: View<'_>, after: View<'_>) -> Option<String> {
        match &self.outcome {
            Outcome::Untenable(proof) => Some(format!("after it {}", proof.headline(after))),
            Outcome::Tenable { .. } => None,
            Outcome::Refused => {
                let step = self.steps.last()?;
                let veto = step.effects.iter().find_map(|it| match it {
                    Effect::Vetoed { said } => Some(step.message(before, said)),
                    _ => None,
                });
                veto.map(|it| format!("{it} [{}]", step.reaction.place))
            }
            Outcome::Endless { reason } => Some(reason.clone()),
        }
    }
}

impl Turning {
    /// The trial up to the moment when the turn is decided, and the reason for the decision.
    pub fn lines(&self, before: View<'_>, then: View<'_>) -> Vec<Line> {
        let action = before.tried(&self.trial.action);
        let mut lines = vec![Line::plain(0, format!("{action}, if played out"))];
        lines.extend(self.trial.expiry(before).into_iter().map(|it| it.within(1)));
        let steps = self.trial.steps.iter().take(self.steps);
        lines.extend(steps.flat_map(|it| it.lines(before)).map(|it| it.within(1)));
        lines.push(Line::plain(1, "then:"));
        let end = match &self.end {
            TurnEnd::Kept(it) => it.lines(then),
            TurnEnd::Passed(it) => it.lines(then),
        };
        lines.extend(end.into_iter().map(|it| it.within(2)));
        lines
    }

    /// The reason for the decision, in one line, if there is more to say than the answer.
    pub fn reason(&self, then: View<'_>) -> Option<String> {
        match &self.end {
            TurnEnd::Kept(it) => Some(it.headline(then)),
            TurnEnd::Passed(it) => it.reason(then),
        }
    }
}

impl Reacted {
    /// The step, with its stage, what it read and its effects.
    pub(super) fn lines(&self, view: View<'_>) -> Vec<Line> {
        let event = view.event(&self.event, &self.args);
        let place = &self.reaction.place;
        let reaction = view.program.reactions.get(usize::from(self.reaction.rule));
        let stage = reaction.map_or("", |it| &view.program.stage(it.stage).name);
        let head = match stage {
            "" => format!("when {event}"),
            stage => format!("when {event}, in {stage}"),
        };
        let mut lines = vec![Line::at(self.depth, head, place)];
        let read = reaction.map_or_else(Vec::new, |it| self.read(view, it));
        lines.extend(read.into_iter().map(|it| Line::plain(self.depth + 1, it)));
        let told = self.effects.iter().filter(|it| !counts_entities(view, it));
        let effects = told.map(|it| self.effect(view, it));
        lines.extend(effects.map(|it| Line::plain(self.depth + 1, it)));
        if self.effects.is_empty() {
            lines.push(Line::plain(self.depth + 1, "no change"));
        }
        lines
    }

    fn rewinds(&self) -> bool {
        self.effects.iter().any(|it| matches!(it, Effect::Rewound { .. }))
    }

    /// The effects beside changed facts, one sentence each; of a step that rewinds, only the rewind and its notes.
    fn summary(&self, view: View<'_>) -> Vec<String> {
        let rewinds = self.rewinds();
        let event = || view.event(&self.event, &self.args);
        let sentence = |effect: &Effect| match effect {
            Effect::Noted { said } => Some(self.message(view, said)),
            Effect::Rewound { .. } => Some(self.effect(view, effect)),
            _ if rewinds => None,
            Effect::Raised { event, args } => Some(view.event(event, args)),
            Effect::Stopped => Some(format!("stopped that {} [{}]", event(), self.reaction.place)),
            Effect::Passed { args } => {
                Some(format!("instead of {}, {}", event(), view.event(&self.event, args)))
            }
            Effect::Called { .. } => Some(self.effect(view, effect)),
            Effect::Changed { .. }
            | Effect::Spawned { .. }
            | Effect::Emitted { .. }
            | Effect::Vetoed { .. } => None,
        };
        self.effects.iter().filter_map(sentence).collect()
    }

    /// What the reaction read, as far as its event and effects determine the values of its variables.
    fn read(&self, view: View<'_>, reaction: &Reaction) -> Vec<String> {
        let value = |term: &Term, ty: Type| match term {
            Term::Wild => Some(None),
            Term::Const(raw) => Some(Some(Datum::of(view.program, ty, *raw))),
            Term::Var(var) => {
                let name = &reaction.vars.get(usize::from(var.0))?.name;
                let binding = self.bindings.iter().find(|it| it.var == *name)?;
                Some(Some(binding.value.clone()))
            }
        };
        let atoms = reaction.body.iter().filter_map(|it| match it {
            Literal::Atom(atom) => Some(atom),
            Literal::Compare(_) | Literal::Aggregate(_) => None,
        });
        let sentences = atoms.filter_map(|atom| {
            let relation = view.program.relation(atom.rel);
            let columns = atom.args.iter().zip(&relation.columns);
            let args =
                columns.map(|(term, column)| value(term, column.ty)).collect::<Option<_>>()?;
            let goal = Goal { relation: relation.name.clone(), args };
            Some(match atom.negated {
                true => view.denial(&goal),
                false => format!("as {}", view.met(&goal)),
            })
        });
        sentences.collect()
    }

    fn effect(&self, view: View<'_>, effect: &Effect) -> String {
        match effect {
            Effect::Changed { entity, attribute, old, new } => {
                view.change(*entity, attribute, old.as_ref(), new.as_ref())
            }
            Effect::Spawned { entity } => format!("{} is new", view.entity(*entity)),
            Effect::Raised { event, args } => format!("raised: {}", view.event(event, args)),
            Effect::Stopped => "stopped: nothing more comes of it".to_owned(),
            Effect::Passed { args } => format!("passed on: {}", view.event(&self.event, args)),
            Effect::Emitted { event, args } => format!("shown: {}", view.event(event, args)),
            Effect::Noted { said } => format!("noted: {}", self.message(view, said)),
            Effect::Vetoed { said } => format!("refused: {}", self.message(view, said)),
            Effect::Rewound { turns: ..=0 } => "the action is taken back".to_owned(),
            Effect::Rewound { turns: 1 } => "the game goes back a turn".to_owned(),
            Effect::Rewound { turns } => format!("the game goes back {turns} turns"),
            Effect::Called { name } => format!("the code {name} is called"),
        }
    }

    /// The message of the reaction that has this plain text, with the caller's names for things.
    fn message(&self, view: View<'_>, plain: &str) -> String {
        let Some(reaction) = view.program.reactions.get(usize::from(self.reaction.rule)) else {
            return plain.to_owned();
        };
        let value = |var: VarId| {
            let name = &reaction.vars[usize::from(var.0)].name;
            let binding = self.bindings.iter().find(|it| it.var == *name);
            binding.map_or(0, |it| it.value.raw)
        };
        let mut messages = reaction.effects.iter().filter_map(|it| match it {
            rules::Effect::Veto { message } | rules::Effect::Note { message } => {
                Some(Said::new(view.program, reaction, &message.0, value))
            }
            _ => None,
        });
        let said = messages.find(|it| it.text == plain);
        said.map_or_else(|| plain.to_owned(), |it| it.render(view.names))
    }
}

/// Whether an effect only moves on the counter of entities. That an entity is new is another effect.
fn counts_entities(view: View<'_>, effect: &Effect) -> bool {
    match effect {
        Effect::Changed { attribute, .. } => {
            view.program.schema.attribute_named(attribute) == Some(NEXT_ENTITY)
        }
        _ => false,
    }
}

impl View<'_> {
    /// The sentence of an action or a declared event.
    fn event(self, name: &str, args: &[Datum]) -> String {
        match self.program.event_named(name) {
            None => self.action(name, args),
            Some(id) => {
                let event = self.program.event(id);
                let args: Vec<Option<&Datum>> = args.iter().map(Some).collect();
                self.filled(name, &event.columns, &event.sentence, &args, "any")
            }
        }
    }

    /// The sentence of an action that is tried.
    fn tried(self, goal: &Goal) -> String {
        let args: Option<Vec<Datum>> = goal.args.iter().cloned().collect();
        args.map_or_else(|| self.goal(goal), |it| self.action(&goal.relation, &it))
    }

    /// The sentence of an action, with its unlisted arguments.
    fn action(self, name: &str, args: &[Datum]) -> String {
        let named = |it: &&rules::Action| self.program.relation(it.rel).name == name;
        let Some(action) = self.program.actions.iter().find(named) else {
            return self.row(name, args);
        };
        let listed = self.program.relation(action.rel).columns.len().min(args.len());
        let (row, given) = args.split_at(listed);
        let given = given.iter().zip(&action.unlisted).filter(|(it, arg)| it.raw != arg.default);
        let arguments = given
            .map(|(it, arg)| format!(", {} {}", arg.column.name, self.word(arg.column.ty, it.raw)));
        self.row(name, row) + &arguments.collect::<String>()
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
        let owner = match id.and_then(|it| self.program.schema.owners(it)) {
            Some(domain) => domain.member_name(i64::from(entity)),
            None if entity == GAME.0 => "the game".to_owned(),
            None => self.entity(entity),
        };
        let bare = |value: &Datum| format!("{attribute} of {owner} is {}", value.name);
        match (old, new) {
            (_, Some(new)) => sentence(new).unwrap_or_else(|| bare(new)),
            (Some(old), None) => {
                format!("no more: {}", sentence(old).unwrap_or_else(|| bare(old)))
            }
            (None, None) => "nothing".to_owned(),
        }
    }

    /// The sentence of a fact; of a cleared flag, that it holds no more. `None` if no input with a sentence reads it.
    fn fact(self, attr: AttrId, entity: u32, value: &Datum) -> Option<String> {
        let reads = |it: &&rules::Relation| {
            matches!(it.role, Role::Input(input) if input.attrs().any(|it| it == attr))
                && !it.sentence.is_empty()
        };
        let relation = self.program.relations.iter().find(reads)?;
        let Role::Input(input) = relation.role else { return None };
        let is_flag = matches!(input, Input::Flag(_) | Input::GameFlag(_) | Input::List(..));
        let is_cleared = is_flag && value.raw == 0;
        // A cleared flag has no row: the row is that of the flag when it was set.
        let raw = if is_cleared { 1 } else { value.raw };
        let row = input.row(EntityId(entity), attr, raw)?;
        let said = self.row(&relation.name, &Datum::row(self.program, &relation.columns, &row));
        Some(if is_cleared { format!("no more: {said}") } else { said })
    }
}
