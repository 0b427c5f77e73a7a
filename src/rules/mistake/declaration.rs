//! `E1xx`: declarations that say too little, too much, or the same again.
//!
//! Deliberately absent: mistakes in the bodies of rules (`body`).

use super::super::ast::{Alias, InputKind, Name};
use super::super::source::Span;
use super::{Diagnostic, did_you_mean, plural};
use crate::facts::nearest;

pub(crate) fn domain_twice(name: Name<'_>, old: Option<Span>) -> Diagnostic {
    let message = format!("the domain `{}` is declared twice", name.text);
    let it = Diagnostic::new("E101", message, name.span, "again here");
    match old {
        Some(old) => it
            .and(old, "first here")
            .help(format!("to add members write `.domain {} += {{ ... }}`", name.text)),
        None => it.note(format!("`{}` is built in", name.text)),
    }
}

pub(crate) fn second_of_shape(name: Name<'_>, old: &str, span: Option<Span>) -> Diagnostic {
    let message =
        format!("`{}` is of a sort that a program has once, and `{old}` is it", name.text);
    let it = Diagnostic::new("E102", message, name.span, "second one")
        .note("a program has one board (`grid`) and one set of entities (`entities`)");
    match span {
        Some(span) => it.and(span, "first one"),
        None => it,
    }
}

pub(crate) fn not_extensible(name: Name<'_>, old: Option<Span>) -> Diagnostic {
    let message = format!("`{}` cannot be extended", name.text);
    let it = Diagnostic::new("E103", message, name.span, "not a domain with listed members");
    match old {
        Some(old) => it.and(old, "declared here"),
        None => it.note(format!("`{}` is built in", name.text)),
    }
}

pub(crate) fn member_twice(name: Name<'_>, old: Span) -> Diagnostic {
    let message = format!("`{}` is listed twice", name.text);
    Diagnostic::new("E104", message, name.span, "again here").and(old, "first here")
}

pub(crate) fn relation_twice(name: Name<'_>, old: Span, builtin: bool) -> Diagnostic {
    let message = format!("the relation `{}` is declared twice", name.text);
    let it = Diagnostic::new("E105", message, name.span, "again here");
    if builtin {
        it.and(old, "every board has it").help("choose another name")
    } else {
        it.and(old, "first here").help(
            "choose another name; or, if both are to be one relation, declare it once, as `open`: \
             several files may then have rules for it",
        )
    }
}

pub(crate) fn column_twice(name: Name<'_>, old: Span) -> Diagnostic {
    let message = format!("two columns are called `{}`", name.text);
    Diagnostic::new("E106", message, name.span, "again here").and(old, "first here")
}

pub(crate) fn key_without_columns(name: Name<'_>) -> Diagnostic {
    let message =
        format!("`{}` has no columns, so none of them can depend on the others", name.text);
    Diagnostic::new("E107", message, name.span, "`key` needs a column").help("remove `key`")
}

pub(crate) fn input_shape(name: Name<'_>, kind: InputKind, columns: usize) -> Diagnostic {
    let (word, shape) = match kind {
        InputKind::Key => ("key", "(Entity, Value)"),
        InputKind::Flag => ("flag", "(Entity)"),
        InputKind::Game => ("game", "(Value), or () for a truth value"),
        InputKind::Of => ("of", "(Member, Value), or (Member) for a truth value"),
        InputKind::List => ("list", "(activation: Entity, Member): an option of a preset"),
    };
    let message = format!("an input with `{word}` has the columns {shape}");
    let label = match kind {
        InputKind::List => "has others, or the first has another name".to_string(),
        _ => format!("has {}", plural(columns, "column")),
    };
    Diagnostic::new("E108", message, name.span, label)
}

pub(crate) fn list_clash(name: Name<'_>, full: &str, old: Span) -> Diagnostic {
    let message = format!("the attribute `{full}` of this list is declared already");
    Diagnostic::new("E149", message, name.span, "a list has an attribute for each member")
        .and(old, "here")
}

pub(crate) fn list_is_an_option(name: Name<'_>) -> Diagnostic {
    let message = format!("`{}` is a list, which stays as it was chosen", name.text);
    Diagnostic::new("E148", message, name.span, "neither `lasting` nor `until`")
        .help("declare what changes in a game as an input of its own")
}

pub(crate) fn input_without_entity(name: Name<'_>, found: &str, span: Span) -> Diagnostic {
    let message = format!("the first column of the input `{}` is not an entity", name.text);
    Diagnostic::new("E109", message, span, format!("this is {found}")).help(
        "use the domain declared with `entities`; or `game` for facts of the game, or `of DOMAIN` \
             for those of a domain's members, such as sides and squares",
    )
}

pub(crate) fn input_of_other(name: Name<'_>, of: Name<'_>, found: &str, span: Span) -> Diagnostic {
    let message = format!("the first column of the input `{}` is not of {}", name.text, of.text);
    Diagnostic::new("E126", message, span, format!("this is {found}"))
        .and(of.span, "whose members have the facts")
        .help(format!("start the columns with one of type {}", of.text))
}

pub(crate) fn cannot_own_facts(of: Name<'_>) -> Diagnostic {
    let message = format!("no input can be `of {}`", of.text);
    Diagnostic::new("E127", message, of.span, "not a domain of sides, squares or the like")
        .help("facts of entities are `key` or `flag`; those of the game are `game`")
}

pub(crate) fn expiry_clash(name: Name<'_>, span: Span, lasting: bool) -> Diagnostic {
    let what = if lasting { "last through a rewind" } else { "have a default" };
    let message = format!("`{}` expires, so it cannot {what}", name.text);
    Diagnostic::new("E129", message, span, "expires").help(match lasting {
        true => "leave `lasting` or `until` out",
        false => "leave the default out: rules ask with `!` whether there is no fact",
    })
}

pub(crate) fn expiring_twice(attribute: Name<'_>, span: Span) -> Diagnostic {
    let message = format!(
        "the facts of `{}` expire with the turn by one input, and with the next action by another",
        attribute.text
    );
    Diagnostic::new("E129", message, span, "expires")
        .help("say the same in both, or leave one `until` out")
}

pub(crate) fn until_turn_without_turn(span: Span) -> Diagnostic {
    Diagnostic::new("E130", "no input says whose turn it is", span, "until which turn?").help(
        "declare one that is called `turn`: `.input turn(side: Side) game attr turn = white \"it is \
         {side}'s turn\"`",
    )
}

pub(crate) fn owner_clash(
    name: Name<'_>,
    (of, old_of): (Option<&str>, Option<&str>),
    old: Span,
) -> Diagnostic {
    let words = |it: Option<&str>| match it {
        Some(domain) => format!("of {domain}"),
        None => "of entities or the game".to_string(),
    };
    let message = format!("the attribute `{}` is declared for two sorts of things", name.text);
    Diagnostic::new("E128", message, name.span, format!("{} here", words(of)))
        .and(old, format!("{} here", words(old_of)))
        .help("give one of them another name")
}

pub(crate) fn attribute_clash(name: Name<'_>, (ty, old_ty): (&str, &str), old: Span) -> Diagnostic {
    let message = format!("the attribute `{}` is declared twice with different types", name.text);
    Diagnostic::new("E110", message, name.span, format!("{ty} here"))
        .and(old, format!("{old_ty} here"))
}

pub(crate) fn default_clash(name: &str, span: Span, old: Span) -> Diagnostic {
    let message = format!("the attribute `{name}` has two defaults");
    Diagnostic::new("E111", message, span, "another one here").and(old, "first here")
}

pub(crate) fn reserved_attribute(name: Name<'_>) -> Diagnostic {
    let message = format!("the attribute `{}` belongs to the engine", name.text);
    Diagnostic::new("E112", message, name.span, "reserved")
}

pub(crate) fn default_type(span: Span, wanted: &str) -> Diagnostic {
    let message = format!("this cannot be a default of type {wanted}");
    let it = Diagnostic::new("E113", message, span, "wrong type");
    match wanted {
        "Int" => it.help("write a number"),
        _ => it.help(format!("write the name of a member of {wanted}")),
    }
}

pub(crate) fn text_outside_static(name: Name<'_>, span: Span) -> Diagnostic {
    let message = format!("`{}` has a text column, but only statics may have one", name.text);
    Diagnostic::new("E114", message, span, "a text").help(
        "list the texts as members of a domain; or make the relation `.static`, if no fact \
             changes it",
    )
}

pub(crate) fn no_sentence(name: Name<'_>) -> Diagnostic {
    let message = format!("`{}` has no sentence", name.text);
    Diagnostic::new("E115", message, name.span, "what does it mean?").help(
        "end the declaration with a sentence in double quotes, `\"{piece} attacks {to}\"`: proofs \
         and documents are written with it",
    )
}

pub(crate) fn stray_brace(what: &str, brace: Name<'_>) -> Diagnostic {
    let (message, label) = match brace.text {
        "{}" => (format!("the braces of the {what} have no name in them"), "empty"),
        _ => (format!("a brace of the {what} has no partner"), "alone"),
    };
    Diagnostic::new("E116", message, brace.span, label)
}

pub(crate) fn stray_bracket(span: Span) -> Diagnostic {
    let message = "a bracket of the template has no partner".to_string();
    Diagnostic::new("E116", message, span, "alone")
        .help("a part in brackets has no other brackets in it")
}

pub(crate) fn unknown_column(name: &str, span: Span, columns: &[&str]) -> Diagnostic {
    let near = nearest(name, columns.iter().copied());
    let it = Diagnostic::new("E117", format!("there is no column `{name}`"), span, "unknown");
    let known = match columns {
        [] => "the relation has no columns".to_string(),
        [only] => format!("the only column is `{only}`"),
        _ => format!("columns are {}", columns.join(", ")),
    };
    it.help(did_you_mean(near).unwrap_or(known))
}

/// A relation with other columns than the action or trial that names it.
pub(crate) struct ColumnMismatch<'m> {
    pub(crate) name: Name<'m>,
    pub(crate) found: &'m str,
    /// Where the relation is declared.
    pub(crate) declared: Span,
    pub(crate) wanted: &'m str,
    /// What names it: `action` or `trial`.
    pub(crate) namer: &'static str,
    pub(crate) namer_span: Span,
}

impl ColumnMismatch<'_> {
    fn report(&self, code: &'static str, label: &str) -> Diagnostic {
        let Self { name, found, wanted, namer, .. } = self;
        let message = format!("`{}` has the columns {found}, its {namer} has {wanted}", name.text);
        Diagnostic::new(code, message, name.span, label)
            .and(self.declared, "declared here")
            .and(self.namer_span, format!("the {namer}"))
    }
}

pub(crate) fn other_columns(mismatch: &ColumnMismatch<'_>) -> Diagnostic {
    mismatch.report("E118", "does not fit")
}

pub(crate) fn refusals_columns(mismatch: &ColumnMismatch<'_>) -> Diagnostic {
    mismatch.report("E131", "cannot say why the action is refused").help(
        "refusals have the columns of the action and one more for the reason, of a domain with \
         listed members: `.domain Refusal { too_far, not_yours }`",
    )
}

pub(crate) fn template_parentheses(span: Span) -> Diagnostic {
    Diagnostic::new("E119", "parentheses in the template do not match", span, "here")
        .help("braces hold a column or a relation of columns: `{column}`, `{relation(column)}`")
}

pub(crate) fn nested_key(span: Span) -> Diagnostic {
    let message = "a relation is looked up by several columns, or by one look-up";
    Diagnostic::new("E119", message, span, "both")
        .help("declare a relation whose keys are the columns, with the value as its last column")
}

/// `keys` is the number of columns that the relation is looked up by.
pub(crate) fn template_arity(name: Name<'_>, columns: usize, keys: usize, old: Span) -> Diagnostic {
    let message =
        format!("`{}` cannot be looked up: it has {}", name.text, plural(columns, "column"));
    let label = match keys {
        1 => "two are needed: key and value".to_string(),
        _ => format!("{} are needed: {keys} keys and the value", keys + 1),
    };
    Diagnostic::new("E120", message, name.span, label).and(old, "declared here")
}

pub(crate) fn template_type(
    span: Span,
    wanted: &str,
    found: &str,
    lookup: Name<'_>,
    old: Span,
) -> Diagnostic {
    let message = format!("`{}` is looked up by {wanted}, not by {found}", lookup.text);
    Diagnostic::new("E121", message, span, format!("this is {found}")).and(old, "declared here")
}

pub(crate) fn static_repetition(name: Name<'_>, old: Span) -> Diagnostic {
    let message = format!("`{}` is static: it cannot tell positions apart", name.text);
    Diagnostic::new("E122", message, name.span, "static").and(old, "declared here")
}

pub(crate) fn trial_repetition(name: Name<'_>, old: Span) -> Diagnostic {
    let message = format!(
        "`{}` is a trial: the repetition key is facts and what follows from them",
        name.text
    );
    Diagnostic::new("E122", message, name.span, "a trial").and(old, "declared here")
}

pub(crate) fn repetition_twice(name: Name<'_>) -> Diagnostic {
    let message = format!("`{}` is already part of the repetition key", name.text);
    Diagnostic::new("E123", message, name.span, "again here")
}

pub(crate) fn event_twice(name: Name<'_>, old: Span) -> Diagnostic {
    let message = format!("the name `{}` is taken", name.text);
    Diagnostic::new("E124", message, name.span, "declared again").and(old, "declared here")
}

pub(crate) fn odd_size(value: Name<'_>, expected: &str) -> Diagnostic {
    let message = format!("{:?} is no size", value.text);
    Diagnostic::new("E125", message, value.span, format!("expected {expected}"))
}

pub(crate) fn shared_twice(name: Name<'_>, old: Span) -> Diagnostic {
    let message = format!("`{}` is shared by two files that both declare it", name.text);
    Diagnostic::new("E140", message, name.span, "again here").and(old, "first here").help(format!(
        "take `{}` out of the `.export` of one of them: then it is that preset's own",
        name.text
    ))
}

pub(crate) fn unknown_export(name: Name<'_>, near: Option<&str>) -> Diagnostic {
    let message = format!("`{}` is exported, but no file of this preset declares it", name.text);
    let it = Diagnostic::new("E141", message, name.span, "no relation, event, stage or domain");
    Diagnostic { help: did_you_mean(near), ..it }
}

/// The code of mistakes about `.alias`.
const ALIAS: &str = "E151";

pub(crate) fn is_about_alias(mistake: &Diagnostic) -> bool {
    mistake.code == ALIAS
}

pub(crate) fn alias_twice(alias: Alias<'_>, first: Alias<'_>) -> Diagnostic {
    let message = format!("`{}` is the earlier name of two relations", alias.old.text);
    Diagnostic::new(ALIAS, message, alias.old.span, "again here")
        .and(first.old.span, "first here")
        .help("take one of the two `.alias` lines out")
}

pub(crate) fn alias_taken(alias: Alias<'_>, relation: Span) -> Diagnostic {
    let Alias { old, new } = alias;
    let message =
        format!("`{}` is a relation, so it cannot stand for `{}` as well", old.text, new.text);
    Diagnostic::new(ALIAS, message, old.span, "taken")
        .and(relation, "declared here")
        .help(format!("take this line out, or give the relation `{}` another name", old.text))
}

pub(crate) fn alias_of_alias(alias: Alias<'_>, now: &str) -> Diagnostic {
    let Alias { old, new } = alias;
    let message = format!("`{}` is an earlier name itself", new.text);
    let help = match now == new.text {
        true => format!("write what `{}` is called now behind the `=`", old.text),
        false => format!("write `.alias {} = {now}`", old.text),
    };
    Diagnostic::new(ALIAS, message, new.span, "no relation is called so now").help(help)
}

pub(crate) fn alias_of_own(alias: Alias<'_>) -> Diagnostic {
    let message = format!("`{}` belongs to one preset or game", alias.new.text);
    Diagnostic::new(ALIAS, message, alias.new.span, "not shared by all files")
        .help("earlier names are for relations that all files share: take the line out")
}

pub(crate) fn turn_until_turn(name: Name<'_>) -> Diagnostic {
    let message = "the input `turn` says whose turn it is";
    Diagnostic::new("E143", message, name.span, "gone with the turn?")
        .help("leave `until turn` out: the turn's own fact stays until an effect changes it")
}

pub(crate) fn trial_of_no_action(name: Name<'_>, old: Span) -> Diagnostic {
    let message = format!("`{}` is no action", name.text);
    Diagnostic::new("E132", message, name.span, "cannot be played out")
        .and(old, "declared here")
        .help("a trial is of an action: `.trial NAME(columns) of ACTION where ...`")
}

pub(crate) fn trial_columns(name: Name<'_>, found: &str, wanted: &str, old: Span) -> Diagnostic {
    let message =
        format!("the trial `{}` has the columns {found}, its action has {wanted}", name.text);
    Diagnostic::new("E133", message, name.span, "other columns").and(old, "the action")
}

pub(crate) fn given_from_columns(
    name: Name<'_>,
    found: &str,
    wanted: &str,
    old: Span,
) -> Diagnostic {
    let message =
        format!("`{}` has the columns {found}, so it cannot list values of {wanted}", name.text);
    Diagnostic::new("E134", message, name.span, "cannot say what may be given")
        .and(old, "declared here")
        .help(
            "it needs the value as its only column, or the columns of the action and then the \
             value",
        )
}

pub(crate) fn given_untold(name: Name<'_>, template: Option<Span>) -> Diagnostic {
    let message = format!("the text of the action does not tell `{}`", name.text);
    let it = Diagnostic::new("E135", message, name.span, "may be given").help(format!(
        "add `{{{0}}}` to the template, or `[...{{{0}}}]`: either is left out where `{0}` is the \
         default",
        name.text
    ));
    match template {
        Some(span) => it.and(span, "the template"),
        None => it,
    }
}

pub(crate) fn lacks_column(
    like: Name<'_>,
    column: &str,
    ty: &str,
    own: Span,
    old: Span,
) -> Diagnostic {
    let message = format!("an action that is as `{}` needs its column `{column}: {ty}`", like.text);
    Diagnostic::new("E137", message, like.span, "has this column")
        .and(own, "lacks it")
        .and(old, "declared here")
        .help(format!(
            "give the action each column of `{}`, with the same name and type; only what is `given` \
             may be left out",
            like.text
        ))
}

pub(crate) fn as_itself(like: Name<'_>) -> Diagnostic {
    let message = format!("the action is as `{}`, which is as this one", like.text);
    Diagnostic::new("E138", message, like.span, "a circle").help("leave out one `as`")
}

pub(crate) fn amended_twice(text: &str, new: Span, old: Span) -> Diagnostic {
    let message = format!("two additions give an action the same part: `{text}` is the second");
    Diagnostic::new("E139", message, new, "again here").and(old, "first here").help(
        "only one addition may give an action this part: take it out of the other, or leave that \
         file out",
    )
}

pub(crate) fn among_outside_san(span: Span) -> Diagnostic {
    let message = "`among` is for `san \"...\"`, outside of brackets";
    Diagnostic::new("E147", message, span, "tells an action from the others that are legal")
        .help("write the square without `among`: every other text tells an action in full")
}

pub(crate) fn many_optional_parts(span: Span, most: usize) -> Diagnostic {
    let message = format!("a template may have {most} optional parts at most");
    Diagnostic::new("E136", message, span, "has more")
}

pub(crate) fn not_one_word(span: Span, label: &str) -> Diagnostic {
    let message = "the text of an action is one word: lists of actions are split at blanks";
    Diagnostic::new("E150", message, span, label).help(
        "write the names of actions and columns together, or with `-`, `+` or the like between",
    )
}
