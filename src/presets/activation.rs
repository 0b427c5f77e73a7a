//! Activations: which presets are active, for which sides and with which options, as text and as facts.
//!
//! The text `P[:scope][:opt=val,...]` becomes an entity with the attributes `preset`, `scope`, `order` (its place
//! among the requests), `turns_remaining` if it is to end by itself, and for each option of the preset `P.opt`, or
//! `P.opt.MEMBER` for each chosen member of a list. An input that reads an attribute of such a name declares the option, if
//! its first column is called `activation`; defaults are those of the schema.
//!
//! Deliberately absent: which activations go together (`combine`).

use std::fmt;

use super::option_facts::{Facts, OptionFacts, default, names_of, one_of, value};
use crate::derive::World;
use crate::facts::{
    AttrId, AttrType, BOOL, DomainId, EntityId, FactError, GAME, Schema, Session, Value, meant,
    nearest,
};
use crate::rules::{Input, Meta, Program, Role, Type};

/// The option that every preset has: how many turns it is active.
pub(super) const TURNS: &str = "turns";

/// An activation as requested: its names are not looked up yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub preset: String,
    pub scope: Option<String>,
    /// Number of turns after which it ends; `None` for never. Written as the option `turns`.
    pub turns: Option<String>,
    pub options: Vec<(String, String)>,
}

/// An activation under a program, with its scope and options. Two are equal if these are, even under different
/// programs.
#[derive(Debug, Clone)]
pub struct Activation {
    /// The preset's name.
    pub preset: String,
    /// The side that it applies to, or `both`.
    pub scope: String,
    /// Number of turns that are left until it ends; `None` if it does not end.
    pub turns: Option<i64>,
    /// Every option that has a value, with the value in words, in the order of declaration. A list without chosen
    /// members has none.
    pub options: Vec<(String, String)>,
    pub(super) facts: Vec<(AttrId, Value)>,
}

impl PartialEq for Activation {
    fn eq(&self, other: &Self) -> bool {
        // Facts are not compared: each program numbers attributes in its own way.
        (&self.preset, &self.scope, self.turns, &self.options)
            == (&other.preset, &other.scope, other.turns, &other.options)
    }
}

/// Why an activation is not possible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ActivationError {
    #[error("{text:?} is no activation: expected PRESET[:SCOPE][:OPTION=VALUE,...], but {fault}")]
    Syntax { text: String, fault: String },
    #[error("there is no preset {name}{}", meant(.near))]
    Preset { name: String, near: Option<String> },
    #[error("preset {preset} has no scope {scope}: a scope is {}", one_of(.known))]
    Scope { preset: String, scope: String, known: Vec<String> },
    #[error("preset {preset} has no option {option}{}", instead(.near, .known))]
    Option { preset: String, option: String, near: Option<String>, known: Vec<String> },
    #[error("option {option} of preset {preset} is {expected}, not {value:?}")]
    Value { preset: String, option: String, value: String, expected: String },
    #[error("{place}: option {option} is {expected}, but its default is {value}")]
    Default { place: String, option: String, value: String, expected: String },
    #[error("preset {preset} is activated twice for {scope}")]
    Twice { preset: String, scope: String },
    #[error("the rules cannot state that {preset} is active: {missing}")]
    Unsayable { preset: String, missing: String },
}

/// Several faults in one line.
pub(super) fn joined<T: ToString>(faults: &[T]) -> String {
    let texts: Vec<String> = faults.iter().map(T::to_string).collect();
    texts.join("; ")
}

/// The option that may have been meant, or else all options.
fn instead(near: &Option<String>, known: &[String]) -> String {
    match (near, known) {
        (Some(_), _) => meant(near),
        (None, []) => ": it has none".into(),
        (None, [one]) => format!(": its only option is {one}"),
        (None, _) => format!(": its options are {}", known.join(", ")),
    }
}

/// The preset of an activation that is given as text.
pub(crate) fn preset_of(activation: &str) -> &str {
    activation.split(':').next().unwrap_or_default().trim()
}

impl Request {
    /// Reads `P[:scope][:opt=val,...]`.
    ///
    /// # Errors
    /// The text has another form.
    pub fn parse(text: &str) -> Result<Self, ActivationError> {
        let fault = |fault: &str| {
            let text = text.to_string();
            ActivationError::Syntax { text, fault: fault.to_string() }
        };
        let mut parts = text.split(':').map(str::trim);
        let preset = parts.next().unwrap_or_default().to_string();
        if preset.is_empty() {
            return Err(fault("there is no name"));
        }
        let mut request = Self { preset, scope: None, turns: None, options: Vec::new() };
        let mut rest: Vec<&str> = parts.collect();
        if rest.first().is_some_and(|it| !it.contains('=')) {
            let scope = rest.remove(0);
            if scope.is_empty() {
                return Err(fault("the scope is empty"));
            }
            request.scope = Some(scope.to_string());
        }
        match rest.as_slice() {
            [] => {}
            [options] => request.options = pairs(options).map_err(|it| fault(&it))?,
            [_, more, ..] => return Err(fault(&format!("there is {more:?} after the options"))),
        }
        if let Some(at) = request.options.iter().position(|it| it.0 == TURNS) {
            request.turns = Some(request.options.remove(at).1);
        }
        Ok(request)
    }
}

/// `opt=val,opt=val` as pairs, each option once.
pub(super) fn pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for part in text.split(',').map(str::trim) {
        let Some((name, value)) = part.split_once('=') else {
            return Err(format!("{part:?} is no OPTION=VALUE"));
        };
        let (name, value) = (name.trim(), value.trim());
        if pairs.iter().any(|it| it.0 == name) {
            return Err(format!("option {name} is there twice"));
        }
        pairs.push((name.to_string(), value.to_string()));
    }
    Ok(pairs)
}

impl Activation {
    /// Looks up the names of a request.
    ///
    /// # Errors
    /// An unknown scope, option or value; or rules that do not support activations.
    pub(super) fn resolve(program: &Program, request: &Request) -> Result<Self, ActivationError> {
        let schema = &*program.schema;
        let (preset_attr, preset) = preset_value(schema, request)?;
        let (scope_attr, scope) = scope(schema, request)?;
        let mut activation = Self {
            preset: request.preset.clone(),
            scope: scope.words(schema, scope_attr),
            turns: None,
            options: Vec::new(),
            facts: vec![(preset_attr, preset), (scope_attr, scope)],
        };
        if let Some(text) = &request.turns {
            let turns = turns(request, text)?;
            let attr = attribute(schema, request, "turns_remaining")?;
            activation.facts.push((attr, Value::Int(turns)));
            activation.turns = Some(turns);
        }
        let known = known_options(program, &request.preset);
        check_options(schema, request, &known)?;
        for (name, option_facts) in known {
            let facts = facts_of_option(program, request, &name, option_facts)?;
            let fact = |attr| facts.iter().find(|it| it.0 == attr).map(|it| it.1.clone());
            if let Some(text) = option_facts.text(schema, fact) {
                activation.options.push((name, text));
            }
            activation.facts.extend(facts);
        }
        Ok(activation)
    }

    /// States the activation as a new entity.
    pub(super) fn state(&self, world: &mut World, number: usize) -> Result<EntityId, FactError> {
        if world.facts().room() == 0 {
            let cap = world.facts().schema().entity_cap();
            return Err(FactError::Entity { entity: cap, cap });
        }
        let entity = world.create();
        self.insert(world, entity, number)?;
        Ok(entity)
    }

    /// States the activation's facts about an existing entity; options that it had before do not stay.
    pub(super) fn restate(
        &self,
        world: &mut World,
        entity: EntityId,
        number: usize,
    ) -> Result<(), FactError> {
        let program = world.program().clone();
        for (_, option_facts) in known_options(&program, &self.preset) {
            // Members of a list that were chosen before.
            for (_, attr) in option_facts.attrs(&program.schema) {
                if !self.facts.iter().any(|it| it.0 == attr) {
                    world.retract(entity, attr);
                }
            }
        }
        if let Some(turns) = program.schema.attribute_named("turns_remaining")
            && self.turns.is_none()
        {
            world.retract(entity, turns);
        }
        self.insert(world, entity, number)
    }

    fn insert(&self, world: &mut World, entity: EntityId, number: usize) -> Result<(), FactError> {
        for (attr, value) in &self.facts {
            world.insert(entity, *attr, value.clone())?;
        }
        if let Some(order) = world.facts().schema().attribute_named("order") {
            world.insert(entity, order, Value::Int(number as i64))?;
        }
        Ok(())
    }

    /// The activation as a request without its default scope and options: the same text for all requests that mean it.
    #[cfg(feature = "server")]
    pub(super) fn in_short(&self, program: &Program) -> String {
        let preset = self.preset.clone();
        let bare = Request { preset, scope: None, turns: None, options: Vec::new() };
        let Ok(usual) = Self::resolve(program, &bare) else { return self.to_string() };
        let scope = (self.scope != usual.scope).then_some(self.scope.as_str());
        let options = self.options.iter().filter(|it| !usual.options.contains(it));
        request_text(&self.preset, scope, self.turns, options)
    }

    /// Activations written as full requests.
    pub fn texts(all: &[Self]) -> Vec<String> {
        all.iter().map(ToString::to_string).collect()
    }

    /// The activations that facts state, with their entities, in the order of their requests.
    pub(super) fn of_facts(program: &Program, facts: &Session) -> Vec<(EntityId, Self)> {
        let schema = &*program.schema;
        let named = |name: &str| schema.attribute_named(name);
        let (Some(preset), Some(scope)) = (named("preset"), named("scope")) else {
            return Vec::new();
        };
        let mut found: Vec<(i64, EntityId, Self)> = Vec::new();
        for entity in facts.entities_with(preset) {
            let text = |attr| facts.get(entity, attr).map(|it| it.words(schema, attr));
            let (Some(name), Some(scope)) = (text(preset), text(scope)) else { continue };
            let mut options = Vec::new();
            for (option, option_facts) in known_options(program, &name) {
                let text = option_facts.text(schema, |it| facts.get(entity, it));
                options.extend(text.map(|it| (option, it)));
            }
            let attrs = schema.attribute_ids();
            let stated = attrs.filter_map(|it| Some((it, facts.get(entity, it)?))).collect();
            let number = |name: &str| facts.get_raw(entity, named(name)?);
            let turns = number("turns_remaining");
            let activation = Self { preset: name, scope, turns, options, facts: stated };
            found.push((number("order").unwrap_or(i64::MAX), entity, activation));
        }
        found.sort_by_key(|it| (it.0, it.1));
        found.into_iter().map(|it| (it.1, it.2)).collect()
    }
}

/// The `.meta` lines of a key in the files of a preset.
fn notes<'p>(
    program: &'p Program,
    preset: &str,
    key: &'static str,
) -> impl Iterator<Item = &'p Meta> {
    let file = preset_file(program, preset);
    let owner = |it: &Meta| program.owners.get(usize::from(it.span.source)).copied().flatten();
    let own = move |it: &&Meta| it.key == key && file.is_some() && owner(it) == file;
    program.meta.iter().filter(own)
}

/// The number of a preset's file.
fn preset_file(program: &Program, preset: &str) -> Option<u16> {
    let names = |it: &&Meta| it.key == "preset" && it.value == preset;
    program.meta.iter().find(names).map(|it| it.span.source)
}

/// The numbers that a preset's file allows for an option, and the place where it does.
fn range(program: &Program, preset: &str, option: &str) -> Option<(String, (i64, i64))> {
    let read = |line: &Meta| {
        let (name, numbers) = read_range(&line.value)?;
        (name == option).then(|| (program.place(line.span), numbers))
    };
    notes(program, preset, "range").find_map(read)
}

/// The option and the numbers of a line `.meta range "OPTION: LEAST..MOST"`.
pub(super) fn read_range(text: &str) -> Option<(&str, (i64, i64))> {
    let (name, range) = text.split_once(':')?;
    let (least, most) = range.split_once("..")?;
    let (least, most) = (least.trim().parse().ok()?, most.trim().parse().ok()?);
    (least <= most).then_some((name.trim(), (least, most)))
}

fn within(facts: Facts, range: Option<(i64, i64)>) -> Result<Facts, String> {
    match (facts.as_slice(), range) {
        ([(_, Value::Int(it))], Some((least, most))) if !(least..=most).contains(it) => {
            Err(format!("a number from {least} to {most}"))
        }
        _ => Ok(facts),
    }
}

fn turns(request: &Request, text: &str) -> Result<i64, ActivationError> {
    text.parse().ok().filter(|it| *it >= 1).ok_or_else(|| ActivationError::Value {
        preset: request.preset.clone(),
        option: TURNS.to_string(),
        value: text.to_string(),
        expected: "a number of turns, at least 1".to_string(),
    })
}

/// `P:scope:opt=val,...`, in full.
impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = request_text(&self.preset, Some(&self.scope), self.turns, self.options.iter());
        f.write_str(&text)
    }
}

fn request_text<'o>(
    preset: &str,
    scope: Option<&str>,
    turns: Option<i64>,
    options: impl Iterator<Item = &'o (String, String)>,
) -> String {
    let turns = turns.map(|it| format!("{TURNS}={it}"));
    let options = options.map(|(name, value)| format!("{name}={value}"));
    let options: Vec<String> = turns.into_iter().chain(options).collect();
    let scope = scope.map(str::to_owned);
    let parts = scope.into_iter().chain((!options.is_empty()).then(|| options.join(",")));
    parts.fold(preset.to_owned(), |text, it| text + ":" + &it)
}

fn attribute(schema: &Schema, request: &Request, name: &str) -> Result<AttrId, ActivationError> {
    schema.attribute_named(name).ok_or_else(|| ActivationError::Unsayable {
        preset: request.preset.clone(),
        missing: format!("there is no attribute {name}"),
    })
}

/// The preset of a request, as a fact of an activation.
fn preset_value(schema: &Schema, request: &Request) -> Result<(AttrId, Value), ActivationError> {
    let attr = attribute(schema, request, "preset")?;
    let found = value(schema, attr, &request.preset).map_err(|expected| {
        let preset = request.preset.clone();
        let missing = match schema.attribute(attr).ty {
            AttrType::Member(id) => {
                let domain = &schema.domain(id).name;
                format!("its file has no line `.domain {domain} += {{ {preset} }}`")
            }
            _ => format!("the attribute preset takes {expected}"),
        };
        ActivationError::Unsayable { preset, missing }
    })?;
    Ok((attr, found))
}

/// The facts of an option: as the request says, or else the defaults.
fn facts_of_option(
    program: &Program,
    request: &Request,
    name: &str,
    option_facts: OptionFacts,
) -> Result<Facts, ActivationError> {
    let schema = &*program.schema;
    let preset = request.preset.clone();
    let (place, range) = range(program, &preset, name).unzip();
    let Some((option, text)) = request.options.iter().find(|it| it.0 == name) else {
        return within(option_facts.defaults(schema), range).map_err(|expected| {
            let value = option_facts.text(schema, |it| default(schema, it));
            let (place, value) = (place.unwrap_or_default(), value.unwrap_or_default());
            let option = format!("{name} of preset {preset}");
            ActivationError::Default { place, option, value, expected }
        });
    };
    let facts = option_facts.read(schema, text).and_then(|it| within(it, range));
    let (option, value) = (option.clone(), text.clone());
    facts.map_err(|expected| ActivationError::Value { preset, option, value, expected })
}

/// The requested scope, or the default of the rules.
fn scope(schema: &Schema, request: &Request) -> Result<(AttrId, Value), ActivationError> {
    let attr = attribute(schema, request, "scope")?;
    let Some(name) = &request.scope else {
        let missing = "the attribute scope has no default".to_string();
        let unsayable = ActivationError::Unsayable { preset: request.preset.clone(), missing };
        return default(schema, attr).map(|it| (attr, it)).ok_or(unsayable);
    };
    value(schema, attr, name).map(|it| (attr, it)).map_err(|_| ActivationError::Scope {
        preset: request.preset.clone(),
        scope: name.clone(),
        known: names_of(schema, attr),
    })
}

/// The scope of a request by name, be it the default.
#[cfg(feature = "bin")]
pub(super) fn scope_of(schema: &Schema, request: &Request) -> Option<String> {
    scope(schema, request).ok().map(|(attr, it)| it.words(schema, attr))
}

/// An option of a preset, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionEntry {
    /// Its name: `hp`.
    pub name: String,
    /// The type of its value.
    pub takes: OptionType,
    /// Its value if an activation does not set it.
    pub default: Option<String>,
    /// What it does, in a line; empty if the preset's file does not say.
    pub text: String,
}

/// The type of an option's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionType {
    /// `true` or `false`.
    Bool,
    /// A number, in a range if the preset's file declares one.
    Int(Option<(i64, i64)>),
    /// One of these words; for a member of a board, such as a square, a single description of them.
    Word(Vec<String>),
    /// Some members of a domain, joined by `+`: `d4+e4`.
    List(String),
}

/// `true or false`, `a number from 1 to 9`, `half-move, turn or none`, `members of Square, joined by +`.
impl fmt::Display for OptionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("true or false"),
            Self::Int(None) => f.write_str("a number"),
            Self::Int(Some((least, most))) => write!(f, "a number from {least} to {most}"),
            Self::Word(words) => f.write_str(&one_of(words)),
            Self::List(domain) => write!(f, "members of {domain}, joined by +"),
        }
    }
}

/// The scopes that activations may have, in their order.
pub(super) fn scope_names(program: &Program) -> Vec<String> {
    let attr = program.schema.attribute_named("scope");
    attr.map(|it| names_of(&program.schema, it)).unwrap_or_default()
}

/// The options of a preset that a program knows, in the order of their declaration. Their `text` stays empty.
pub(super) fn describe_options(program: &Program, preset: &str) -> Vec<OptionEntry> {
    let schema = &*program.schema;
    let entry = |(name, option_facts): (String, OptionFacts)| {
        let (OptionFacts::One(attr) | OptionFacts::List(attr, _) | OptionFacts::Bits(attr, _)) =
            option_facts;
        let takes = match (option_facts, schema.attribute(attr).ty) {
            (OptionFacts::List(_, domain) | OptionFacts::Bits(_, domain), _) => {
                OptionType::List(schema.domain(domain).name.clone())
            }
            (_, AttrType::Int) => OptionType::Int(range(program, preset, &name).map(|it| it.1)),
            (_, AttrType::Member(BOOL)) => OptionType::Bool,
            _ => OptionType::Word(names_of(schema, attr)),
        };
        let default = option_facts.text(schema, |it| default(schema, it));
        OptionEntry { name, takes, default, text: String::new() }
    };
    known_options(program, preset).into_iter().map(entry).collect()
}

/// The options of a preset, by name, in the order of their declaration.
fn known_options(program: &Program, preset: &str) -> Vec<(String, OptionFacts)> {
    let mut known: Vec<(String, OptionFacts)> = Vec::new();
    for relation in &program.relations {
        let Role::Input(input) = relation.role else { continue };
        if relation.columns.first().is_none_or(|it| it.name != "activation") {
            continue;
        }
        let Some(name) = option_name(&program.schema, input, preset) else { continue };
        if known.iter().any(|it| it.0 == name) {
            continue;
        }
        let option_facts = match (input, relation.columns.last().map(|it| it.ty)) {
            (Input::Key(attr) | Input::Flag(attr), _) => match bits_of(program, preset, name) {
                Some(domain) => OptionFacts::Bits(attr, domain),
                None => OptionFacts::One(attr),
            },
            (Input::List(first, _), Some(Type::Domain(domain))) => OptionFacts::List(first, domain),
            _ => continue,
        };
        known.push((name.to_string(), option_facts));
    }
    known
}

/// The domain of an option that an older rule file declares to be a list, by `.meta list "NAME: DOMAIN = ..."`.
fn bits_of(program: &Program, preset: &str, option: &str) -> Option<DomainId> {
    let read = |line: &Meta| {
        let (name, rest) = line.value.split_once(':')?;
        let (domain, _) = rest.split_once('=')?;
        let domain = program.domain_in(preset_file(program, preset)?, domain.trim())?;
        (name.trim() == option).then_some(domain)
    };
    notes(program, preset, "list").find_map(read)
}

/// The option of a preset that an input reads: for a list, the common part of its attributes' names.
fn option_name<'p>(schema: &'p Schema, input: Input, preset: &str) -> Option<&'p str> {
    let name = schema.attribute(input.attr()).name.strip_prefix(preset)?.strip_prefix('.')?;
    match input {
        Input::List(..) => name.rsplit_once('.').map(|it| it.0),
        _ => Some(name),
    }
}

fn check_options(
    schema: &Schema,
    request: &Request,
    known: &[(String, OptionFacts)],
) -> Result<(), ActivationError> {
    let is_unknown = |it: &&(String, String)| known.iter().all(|known| known.0 != it.0);
    let Some((option, _)) = request.options.iter().find(is_unknown) else { return Ok(()) };
    // Every preset has it, unless the rules count no turns.
    let turns = schema.attribute_named("turns_remaining").map(|_| TURNS);
    let names = || known.iter().map(|it| it.0.as_str()).chain(turns);
    Err(ActivationError::Option {
        preset: request.preset.clone(),
        option: option.clone(),
        near: nearest(option, names()).map(String::from),
        known: names().map(String::from).collect(),
    })
}

/// States facts of the game.
pub(super) fn state_of_game(world: &mut World, facts: &[(AttrId, Value)]) -> Result<(), FactError> {
    for (attr, value) in facts {
        world.insert(GAME, *attr, value.clone())?;
    }
    Ok(())
}

/// States the defaults of options that were not known when the facts of a world were written.
pub(super) fn state_new_options(
    world: &mut World,
    is_known: &dyn Fn(AttrId) -> bool,
) -> Result<(), FactError> {
    let program = world.program().clone();
    let schema = &*program.schema;
    let Some(preset) = schema.attribute_named("preset") else { return Ok(()) };
    let active: Vec<EntityId> = world.facts().entities_with(preset).collect();
    for entity in active {
        let Some(name) = world.facts().get(entity, preset) else { continue };
        let name = name.words(schema, preset);
        for (_, option_facts) in known_options(&program, &name) {
            if option_facts.attrs(schema).any(|it| is_known(it.1)) {
                continue;
            }
            for (attr, value) in option_facts.defaults(schema) {
                world.insert(entity, attr, value)?;
            }
        }
    }
    Ok(())
}
