//! Declarations in words, for editors and for `docs/relations.md`.
//!
//! Deliberately absent: the rules themselves, which are best read where they are.

use super::program::{Column, Expiry, Given, Input, Program, Relation, Role, Type};

/// The name of a relation or an event with its columns: `attacks(p: Entity, t: Square)`.
pub fn signature(program: &Program, name: &str, columns: &[Column]) -> String {
    let column = |it: &Column| format!("{}: {}", it.name, type_name(program, it.ty));
    let columns: Vec<String> = columns.iter().map(column).collect();
    format!("{name}({})", columns.join(", "))
}

/// The kind of a relation, how long its facts last, and whether it is open or has a key, as Markdown.
pub fn kind(program: &Program, relation: &Relation) -> String {
    let rel = program.relation_named(&relation.name);
    let is_action = program.actions.iter().any(|it| Some(it.rel) == rel);
    let mut kind = match &relation.role {
        Role::Input(input) => input_kind(program, *input),
        Role::Static => "static".to_string(),
        Role::Builtin(_) => "board".to_string(),
        Role::Derived if is_action => "action".to_string(),
        Role::Derived => "derived".to_string(),
        Role::Given(Given::Trial(id)) => {
            let action = program.action(program.trials[usize::from(id.0)].action);
            format!("trial of `{}`", program.relation(action.rel).name)
        }
        Role::Given(Given::Before(_)) => "before".to_string(),
    };
    if relation.open && !is_action {
        kind.push_str(", *open*");
    }
    // An attribute has one value: for an input that goes without saying.
    if relation.functional && !matches!(relation.role, Role::Input(_)) {
        kind.push_str(", *key*");
    }
    kind
}

/// The attribute that an input reads, and how long its facts last.
fn input_kind(program: &Program, input: Input) -> String {
    let attribute = attribute_name(program, input);
    let mut kind = match input {
        Input::List(..) => format!("input, a list: `{attribute}`"),
        Input::Key(attr) | Input::Flag(attr) => match program.schema.owners(attr) {
            Some(it) => format!("input, `{attribute}` of {}", it.name),
            None => format!("input, `{attribute}`"),
        },
        Input::Game(_) | Input::GameFlag(_) => format!("input, `{attribute}` of the game"),
    };
    let Expiry { until_turn, until_action, .. } = &program.expiry;
    if until_turn.contains(&input.attr()) {
        kind.push_str(", until the turn passes");
    }
    if until_action.contains(&input.attr()) {
        kind.push_str(", until the next action");
    }
    kind
}

/// A relation's sentence as Markdown for a cell of a table, with its placeholders in italics.
pub fn meaning(sentence: &str) -> String {
    sentence.replace(['{', '}'], "*").replace('|', "\\|")
}

fn type_name(program: &Program, ty: Type) -> &str {
    match ty {
        Type::Domain(id) => &program.schema.domain(id).name,
        Type::Int => "Int",
        Type::Text => "Text",
    }
}

/// The name of the attribute that an input reads; for a list, `NAME.…`, as its attributes are `NAME.MEMBER`.
pub fn attribute_name(program: &Program, input: Input) -> String {
    let name = &program.schema.attribute(input.attr()).name;
    match (input, name.rsplit_once('.')) {
        (Input::List(..), Some((list, _))) => format!("{list}.…"),
        _ => name.clone(),
    }
}
