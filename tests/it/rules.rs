//! Rule text to checked program: everything embedded compiles, and mistakes are reported well.
//!
//! Deliberately absent: text that tries to crash the front end (`any_text`).

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use rulemate::internals::rules::{
    Diagnostics, EMBEDDED, Fold, Literal, Program, RelId, Role, Source, Term, Type, compile,
    embedded_folder, embedded_sources, limits, load_folder,
};

use crate::fixture::with_included;
use crate::setup::effort;

/// The files of a game: the core, the presets it uses, its layout, its own.
pub(crate) fn game_sources(game: &str) -> Vec<Source> {
    let own = embedded_sources(&[&format!("rules/games/{game}.dl")]);
    let presets: Vec<String> = own
        .iter()
        .flat_map(|it| it.text.lines())
        .filter_map(|it| it.strip_prefix(".meta use \"")?.split([':', '"']).next())
        .map(|it| format!("rules/presets/{it}.dl"))
        .collect();
    let family = family_of(&own[0].text);
    let parts: Vec<String> = presets
        .iter()
        .map(|it| it.replace(".dl", &format!(".{family}.dl")))
        .filter(|it| EMBEDDED.iter().any(|(path, _)| path == it))
        .collect();
    let presets: Vec<&str> = presets.iter().chain(&parts).map(String::as_str).collect();
    let mut sources = embedded_folder("rules/core");
    if is_of_points(&own[0].text) {
        sources.retain(|it| it.path != "rules/core/board.dl");
        sources.extend(embedded_sources(&["rules/modules/graph.dl"]));
        sources.extend(own);
        return sources;
    }
    sources.extend(embedded_folder(&format!("rules/{family}")));
    sources.extend(embedded_sources(&presets));
    let mut lines = own.iter().flat_map(|it| it.text.lines());
    if let Some(layout) = lines.find_map(|it| it.strip_prefix(".meta layout \"")) {
        let path = format!("rules/layouts/{}.dl", layout.trim_end_matches('"'));
        sources.extend(embedded_sources(&[&path]));
    }
    sources.extend(own);
    with_included(sources)
}

/// Whether a file's board has no files and ranks, and so none of chess.
fn is_of_points(text: &str) -> bool {
    [".meta board \"graph\"", ".meta board \"none\"", ".meta module \"graph\""]
        .iter()
        .any(|it| text.contains(&format!("\n{it}")))
}

/// The family of a game's file: all layouts are of chess.
fn family_of(text: &str) -> &str {
    let mut lines = text.lines();
    let named = lines.find_map(|it| it.strip_prefix(".meta family \""));
    named.map_or("chess", |it| it.trim_end_matches('"'))
}

/// Modules that do not go with all others: the first writes drops otherwise than shogi does, and the second is about the pieces
/// of xiangqi. For the rest, which only games include, of any kind, a program of all files has no room.
pub(crate) const APART: [&str; 12] = [
    "rules/modules/palace-drops.dl",
    "rules/modules/perpetual-chase.dl",
    "rules/modules/chess-arrows.dl",
    "rules/modules/chess-building.dl",
    "rules/modules/grasshopper.dl",
    "rules/modules/hops.dl",
    "rules/modules/lame-leaps.dl",
    "rules/modules/passing.dl",
    "rules/modules/rows.dl",
    "rules/modules/short-slides.dl",
    "rules/modules/territories.dl",
    "rules/modules/triple-steps.dl",
];

/// Those that games include, together.
pub(crate) fn apart() -> Vec<Source> {
    let mut sources = embedded_folder("rules/core");
    sources.extend(embedded_folder("rules/chess"));
    sources.extend(embedded_sources(&APART[2..]));
    with_included(sources)
}

/// All files that go together: those of other families, and of games with a board of their own, do not. Games that
/// declare nothing are left out, since a program has room for so many files only.
pub(crate) fn package() -> Vec<Source> {
    let has_board = |text: &str| text.contains("\n.meta board \"");
    let on_own_layout = |text: &str| {
        let layout = text.lines().find_map(|it| it.strip_prefix(".meta layout \""));
        let path = layout.map(|it| format!("rules/layouts/{}.dl", it.trim_end_matches('"')));
        EMBEDDED.iter().any(|it| path.as_deref() == Some(it.0) && has_board(it.1))
    };
    let declares = |text: &str| {
        let starts = [".decl ", ".static ", ".input ", ".domain ", ".action ", ".event "];
        text.lines().any(|line| starts.iter().any(|it| line.starts_with(it)))
    };
    let fits = |(path, text): &&(&str, &str)| {
        family_of(text) == "chess"
            && !APART.contains(path)
            && (!path.starts_with("rules/games/") || declares(text))
            && !has_board(text)
            && !is_of_points(text)
            && !on_own_layout(text)
    };
    let paths: Vec<&str> = EMBEDDED.iter().filter(fits).map(|it| it.0).collect();
    embedded_sources(&paths)
}

pub(crate) fn compiled(sources: Vec<Source>) -> Program {
    compile(sources).unwrap_or_else(|it| panic!("{it}"))
}

#[test]
fn every_embedded_game_compiles() {
    let games: Vec<&str> = EMBEDDED
        .iter()
        .filter_map(|it| it.0.strip_prefix("rules/games/")?.strip_suffix(".dl"))
        .collect();
    assert!(games.len() >= 36, "{}", games.len());
    for game in games {
        let program = compiled(game_sources(game));
        let silent = silent(&program);
        assert!(silent.is_empty(), "{game} has no sentence for {silent:?}");
        let own = &embedded_sources(&[&format!("rules/games/{game}.dl")])[0].text;
        let fewest = if family_of(own) == "chess" && !is_of_points(own) { 4 } else { 1 };
        assert!(program.actions.len() >= fewest, "{game}");
    }
}

// --- the corpus ----------------------------------------------------------------------------------

pub(crate) fn corpus(folder: &str) -> Vec<(String, Vec<Source>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/rules").join(folder);
    let files = load_folder(&root).expect("the corpus is readable");
    files
        .into_iter()
        .map(|it| {
            let name = Path::new(&it.path).file_stem().expect("a name").to_string_lossy();
            (name.to_string(), split_files(&format!("{name}.dl"), &it.text))
        })
        .collect()
}

/// Lines `% --- file NAME` split a corpus file into several sources.
fn split_files(path: &str, text: &str) -> Vec<Source> {
    let mut files = vec![(path, String::new())];
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("% --- file ") {
            files.push((name, String::new()));
        } else {
            let (_, text) = files.last_mut().expect("never empty");
            text.push_str(line);
            text.push('\n');
        }
    }
    if files.len() > 1 {
        files.remove(0);
    }
    let source = |(path, text): (&str, String)| Source { path: path.into(), text: text.into() };
    files.into_iter().map(source).collect()
}

#[test]
fn programs_that_are_not_chess_compile() {
    let corpus = corpus("ok");
    assert!(corpus.len() >= 7);
    for (_, sources) in corpus {
        compiled(sources);
    }
}

/// `UPDATE_EXPECT=1` writes the renderings anew.
#[test]
fn mistakes_are_rendered_as_recorded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/rules/fail");
    let corpus = corpus("fail");
    assert!(corpus.len() >= 45);
    for (name, sources) in corpus {
        let found = compile(sources).err().unwrap_or_else(|| panic!("{name} compiles"));
        let code = name.split('-').next().unwrap_or("").to_uppercase();
        if code.len() == 4 && code[1..].bytes().all(|it| it.is_ascii_digit()) {
            assert!(found.list().iter().any(|it| it.code == code), "{name} lacks {code}:\n{found}");
        }
        let path = root.join(format!("{name}.txt"));
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, found.to_string()).expect("the corpus is writable");
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(found.to_string(), expected, "{name}: UPDATE_EXPECT=1 accepts this rendering");
    }
}

/// The constructors' codes are the list of all codes there are.
#[test]
fn every_kind_of_mistake_has_an_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
    let mut text = std::fs::read_to_string(root.join("limits.rs")).expect("readable");
    for entry in std::fs::read_dir(root.join("mistake")).expect("readable") {
        text += &std::fs::read_to_string(entry.expect("an entry").path()).expect("readable");
    }
    let is_code = |it: &&str| {
        it.len() == 4 && it.starts_with(['E', 'L']) && it[1..].bytes().all(|b| b.is_ascii_digit())
    };
    let codes: BTreeSet<&str> = text.split('"').filter(is_code).collect();
    // Those whose text would be too long for the corpus have tests of their own below.
    let large = ["L001", "L002", "L003", "L004", "L005", "L006"];
    let mut shown: BTreeSet<String> = large.map(str::to_string).into();
    for (_, sources) in corpus("fail") {
        let found = compile(sources).expect_err("the corpus fails");
        shown.extend(found.list().iter().map(|it| it.code.to_string()));
    }
    let missing: Vec<&&str> = codes.iter().filter(|it| !shown.contains(**it)).collect();
    assert!(codes.len() > 70);
    assert!(missing.is_empty(), "no example for {missing:?}");
}

// --- the embedded files --------------------------------------------------------------------------

#[test]
fn the_embedded_files_are_the_folder() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let on_disk = load_folder(&root.join("rules")).expect("readable");
    let on_disk: Vec<(String, String)> = on_disk
        .into_iter()
        .map(|it| {
            let path = Path::new(&it.path).strip_prefix(root).expect("inside").to_path_buf();
            (path.to_string_lossy().replace('\\', "/"), it.text.to_string())
        })
        .collect();
    let embedded: Vec<(String, String)> =
        EMBEDDED.iter().map(|it| (it.0.to_string(), it.1.to_string())).collect();
    assert_eq!(embedded, on_disk);
}

#[test]
fn every_derived_relation_of_the_package_has_a_sentence() {
    let program = compiled(package());
    let silent = silent(&program);
    assert!(silent.is_empty(), "no sentence: {silent:?}");
}

/// A game may include them all: no two have one name.
#[test]
fn modules_that_stand_apart_go_together() {
    let program = compiled(apart());
    assert!(silent(&program).is_empty());
}

/// Derived relations without a sentence.
fn silent(program: &Program) -> Vec<&str> {
    let derived = program.relations.iter().filter(|it| it.role == Role::Derived);
    derived.filter(|it| it.sentence.is_empty()).map(|it| it.name.as_str()).collect()
}

/// Generous: the aim is 2 ms in a release build.
#[test]
fn the_core_compiles_fast() {
    let sources = game_sources("chess");
    let mut best = Duration::MAX;
    for _ in 0..10 {
        let sources = sources.clone();
        let start = effort();
        let program = compiled(sources);
        best = best.min(effort() - start);
        assert!(!program.rules.is_empty());
    }
    assert!(best < Duration::from_millis(20), "{best:?}");
}

// --- what comes out ------------------------------------------------------------------------------

pub(crate) fn one(text: &str) -> Program {
    compiled(vec![Source { path: "test.dl".into(), text: text.into() }])
}

pub(crate) fn failing(text: &str) -> Diagnostics {
    compile(vec![Source { path: "test.dl".into(), text: text.into() }]).expect_err("a mistake")
}

fn messages(text: &str) -> Vec<String> {
    failing(text).list().iter().map(|it| it.message.clone()).collect()
}

pub(crate) fn named(program: &Program, name: &str) -> RelId {
    program.relation_named(name).expect("declared")
}

/// Parts that are a number or one of a few words are as little given twice as names.
#[test]
fn two_additions_give_no_part_twice() {
    let messages = messages(
        ".domain Thing entities 8\n\
         .input life(thing: Thing, n: Int) key attr life \"{thing} has {n}\"\n\
         .action wait(thing: Thing) \"{thing} waits\"\nwait(t) :- life(t, _).\n\
         .action wait += rank 3\n.action wait += legality rules\n\
         .action wait += rank 5\n.action wait += legality simulate\n",
    );
    let second =
        |it: &str| format!("two additions give an action the same part: `{it}` is the second");
    assert_eq!(messages, [second("5"), second("simulate")]);
}

/// A name without parentheses is told as that, whatever follows the body and wherever it is declared.
#[test]
fn names_without_parentheses_are_told() {
    let messages = messages(
        ".domain Thing entities 8\n\
         .input life(thing: Thing, n: Int) key attr life \"{thing} has {n}\"\n\
         .action wait(thing: Thing) \"{thing} waits\"\nwait(t) :- life(t, _).\n\
         .decl calm() \"all is calm\"\ncalm() :- loud because \"it is loud\".\n\
         calm() :- bank::open, life(_, _).\n\
         on wait(t) when calm do set life(t, 1).\n",
    );
    let lacks = |it: &str| format!("`{it}` lacks its parentheses");
    assert_eq!(messages, [lacks("loud"), lacks("bank::open"), lacks("calm")]);
}

#[test]
fn a_negated_underscore_is_no_name_without_parentheses() {
    let messages = messages(
        ".domain Thing entities 8\n\
         .input life(thing: Thing, n: Int) key attr life \"{thing} has {n}\"\n\
         .decl calm() \"all is calm\"\ncalm() :- life(_, _), !_.\n",
    );
    assert_eq!(messages, ["`!` negates atoms only"]);
}

/// Whatever follows is read, also where it does not begin in the first column.
#[test]
fn a_reaction_with_too_many_effects_is_abandoned_alone() {
    let effects = vec!["set x(t)"; 33].join(", ");
    let found = failing(&format!(
        ".domain Thing entities 8\n\
         .stages apply\n\
         .input x(thing: Thing) flag attr x \"{{thing}} is x\"\n\
         .action go(thing: Thing) \"{{thing}} goes\"\n\
         go(t) :- x(t).\n  \
         on go(t) do {effects}.\n  \
         unknown(t) :- x(t).\n"
    ));
    let codes: Vec<&str> = found.list().iter().map(|it| it.code).collect();
    assert_eq!(codes, ["L009", "E201"], "{found}");
    assert!(
        found.to_string().contains("a reaction may have 32 effects, this one has 33"),
        "{found}"
    );
}

#[test]
fn strata_come_in_dependency_order_statics_first() {
    let program = compiled(game_sources("chess"));
    let place = |rel: RelId| program.strata.iter().position(|it| it.relations.contains(&rel));
    for rule in &program.rules {
        let head = place(rule.head).expect("concluded relations are in a stratum");
        let mut read = Vec::new();
        reads(&rule.body, false, &mut read);
        for (rel, strictly) in read {
            match place(rel) {
                Some(at) => assert!(if strictly { at < head } else { at <= head }),
                None => {
                    assert!(matches!(program.relation(rel).role, Role::Input(_) | Role::Builtin(_)))
                }
            }
        }
    }
    let first_dynamic = program.strata.iter().position(|it| !it.is_static).expect("some");
    assert!(program.strata[first_dynamic..].iter().all(|it| !it.is_static));
    let recursive: Vec<&str> = program
        .strata
        .iter()
        .filter(|it| it.recursive)
        .map(|it| program.relation(it.relations[0]).name.as_str())
        .collect();
    assert_eq!(recursive, ["beam", "chosen", "heir", "slide"]);
}

fn reads(body: &[Literal], folded: bool, out: &mut Vec<(RelId, bool)>) {
    for literal in body {
        match literal {
            Literal::Atom(atom) => out.push((atom.rel, folded || atom.negated)),
            Literal::Compare(_) => {}
            Literal::Aggregate(aggregate) => reads(&aggregate.body, true, out),
        }
    }
}

#[test]
fn nested_expressions_become_variables_before_their_literal() {
    let program = one(".domain Square grid 4 4\n\
         .static up(from: Square, to: Square, n: Int) \"{to} is above {from}, {n}\"\n\
         up(s, t, r * 2) :- file(s, f), file(t, f), rank(s, r), rank(t, r + 1).\n\
         up('a1, 'b1, 1 + 2 * 3).");
    let rule = &program.rules[0];
    assert_eq!(rule.body.len(), 6);
    assert!(matches!(&rule.body[3], Literal::Compare(_)));
    let Literal::Atom(atom) = &rule.body[4] else { panic!("the atom follows") };
    let Term::Var(made) = atom.args[1] else { panic!("a variable") };
    assert!(rule.vars[usize::from(made.0)].name.starts_with('_'));
    assert!(matches!(&rule.body[5], Literal::Compare(_)), "the head's expression comes last");
    assert_eq!(program.rules[1].args, [Term::Const(0), Term::Const(1), Term::Const(7)]);
    assert!(program.rules[1].body.is_empty());
}

#[test]
fn aggregates_keep_their_variables_to_themselves() {
    let program = one(".domain Node { a, b }\n\
         .static edge(from: Node, to: Node) \"{from} leads to {to}\"\n\
         edge('a, 'b).\n\
         .static pair(a: Node, b: Node) \"{a} and {b} have as many ways\"\n\
         pair(x, y) :- edge(x, y), n = count { edge(x, z), z != y }, n <= count { edge(y, z) },\n\
             (_, m) = min { x, z : edge(x, z) }, m != y.");
    let rule = &program.rules[1];
    let folds: Vec<_> = rule
        .body
        .iter()
        .filter_map(|it| match it {
            Literal::Aggregate(it) => Some(it),
            _ => None,
        })
        .collect();
    assert_eq!(
        folds.iter().map(|it| it.fold).collect::<Vec<_>>(),
        [Fold::Count, Fold::Count, Fold::Min]
    );
    let mut locals: Vec<u16> = folds.iter().flat_map(|it| &it.locals).map(|it| it.0).collect();
    assert_eq!(locals.len(), 3, "z of each; x and y are shared");
    locals.dedup();
    assert_eq!(locals.len(), 3, "each z is another variable");
    assert!(folds.iter().all(|it| it.results.iter().all(|it| matches!(it, Term::Var(_)))));
}

#[test]
fn constants_are_members_and_types_are_inferred() {
    let program = one(".domain Side { white, black }\n.domain Side += { red }\n\
         .static all(side: Side, n: Int) \"{side} is number {n}\"\n\
         all(s, n) :- s = 'red, n = 7 % 4.\n\
         all('white, -7 / 2).\n\
         all('black, 7 % -4). % -4 is a value, too");
    let rule = &program.rules[0];
    let side = program.schema.domain_named("Side").expect("declared");
    assert_eq!(rule.vars[0].ty, Type::Domain(side));
    assert_eq!(rule.vars[1].ty, Type::Int);
    assert_eq!(program.rules[1].args, [Term::Const(0), Term::Const(-4)]);
    assert_eq!(program.rules[2].args, [Term::Const(1), Term::Const(-1)]);
    assert_eq!(program.schema.domain(side).member("red"), Some(2));
}

#[test]
fn the_board_brings_files_and_ranks() {
    let program = one(".domain Point grid 3 2");
    let Role::Builtin(ranks) = &program.relation(named(&program, "rank")).role else {
        panic!("rank comes with the board")
    };
    assert_eq!(*ranks, [[0, 1], [1, 1], [2, 1], [3, 2], [4, 2], [5, 2]]);
    assert!(program.strata.is_empty());
}

/// What a mistake advises is possible where it stands.
#[test]
fn advice_fits_the_place() {
    let head = ".domain Side { white, black }\n.domain Dir { n, s }\n.domain Thing entities 8\n\
                .stages early, late default early\n\
                .input side(thing: Thing, side: Side) key attr side \"{thing} is of {side}\"\n\
                .input life(thing: Thing, n: Int) key attr life \"{thing} has {n}\"\n\
                .action rest(thing: Thing) \"{thing} rests\"\nrest(t) :- life(t, _).\n";
    let advice = |text: &str| {
        let found = failing(&format!("{head}{text}\n")).list().to_vec();
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_eq!(found[0].labels[0].span.line, 9, "{text}: {found:?}");
        format!("{}. {}", found[0].message, found[0].help.clone().unwrap_or_default())
    };
    // A member of a type that the variable does not have is not meant.
    let once = |name: &str, help: &str| format!("`{name}` occurs once in this rule. {help}");
    assert_eq!(advice("rest(t) :- life(t, n)."), once("n", "write `_` if any value will do"));
    assert_eq!(advice("rest(t) :- side(t, s)."), once("s", "write `_` if any value will do"));
    let meant = once("white", "did you mean the constant `'white`?");
    assert_eq!(advice("rest(t) :- side(t, white)."), meant);
    // No member of `Thing` has a name.
    let entity = advice(".input first(thing: Thing) game attr first = 1");
    assert!(entity.contains("rules do not know entities by name"), "{entity}");
    for built_in in ["Int", "Text"] {
        let fixed = format!("`{built_in}` cannot be extended. ");
        assert_eq!(advice(&format!(".domain {built_in} += {{ a }}")), fixed);
    }
    let negated = advice("rest(t) :- life(t, _), not side(t, 'white).");
    assert_eq!(negated, "`!` negates an atom. write `!` in its place, right before the atom");
    let braces = advice("rest(t) :- life(t, n), n = count(side(_, 'white)).");
    assert!(braces.ends_with("an aggregate has braces: `count { body }`"), "{braces}");
    let curly = advice("rest(t) :- side(t, \u{2019}white).");
    assert!(curly.contains("straight quotes"), "{curly}");
    let unseen = failing(&format!("{head}rest(t)\u{200b} :- life(t, _)."));
    assert_eq!(unseen.list()[0].labels[0].text, "not a word, number or sign (U+200B)");
    let or = advice("rest(t) :- life(t, 1); life(t, 2).");
    assert!(or.ends_with("what else may hold is another rule"), "{or}");
    let reason = advice("rest(t) :- life(t, _) because so.");
    assert_eq!(reason, "expected the reason, in double quotes, found `so`. ");
    let words = advice("on rest(t) if life(t, 1) do set life(t, 2).");
    assert_eq!(words, "expected `in`, `when` or `do`, found `if`. ");
    let cycle = advice(".stage early after late");
    assert_eq!(cycle, "the stages have no order: early before late before early. ");
}

/// A type that does not exist is one mistake: what names the relation is not told to have other columns.
#[test]
fn an_unknown_type_is_told_once() {
    for (part, other) in [
        ("pseudo_legal other", "other(thing: Thingy)"),
        ("refusals other", "other(thing: Thingy, why: Why)"),
        ("given n: Int = 1 from other uci \"{thing}[{n}]\"", "other(thing: Thingy, n: Int)"),
    ] {
        let messages = messages(&format!(
            ".domain Thing entities 8\n.domain Why {{ no }}\n\
             .input life(thing: Thing, n: Int) key attr life \"{{thing}} has {{n}}\"\n\
             .decl {other} open \"{{thing}}\"\n.action rest(thing: Thing) {part} \"{{thing}} rests\"\n"
        ));
        assert_eq!(messages, ["there is no domain `Thingy`"], "{part}");
    }
}

/// What a declaration that could not be read would have declared is not told to be missing.
#[test]
fn a_declaration_that_is_abandoned_is_one_mistake() {
    let rest = ".domain Thing entities 8\n.domain Mood { calm }\n\
         .input mood(thing: Thing, mood: Mood) key attr mood \"{thing} is {mood}\"\n";
    for (text, mistake) in [
        (
            ".domain Mood += { wild, angry\n.decl a() \"a\"\na() :- mood(_, 'wild).",
            "expected `,` or `}`",
        ),
        (
            ".doman Mood += { wild }\n.decl a() \"a\"\na() :- mood(_, 'wild).",
            "there is no directive",
        ),
        (
            ".domain Mood { wild }\n.decl a() \"a\"\na() :- mood(_, 'wild).",
            "the domain `Mood` is declared twice",
        ),
        (
            ".dcl a() \"a\"\na() :- mood(_, 'calm).\n.decl b() \"b\"\nb() :- a().",
            "there is no directive",
        ),
        (".decl grumpy() \"a\"\ngrumpi() :- mood(_, 'calm).", "there is no relation `grumpi`"),
    ] {
        let messages = messages(&format!("{rest}{text}\n"));
        assert_eq!(messages.len(), 1, "{text}: {messages:?}");
        assert!(messages[0].starts_with(mistake), "{text}: {messages:?}");
    }
}

#[test]
fn diagnostics_are_data() {
    let found =
        failing(".domain Side { white }\n.static x(side: Side) \"é {side}\"\n  x(white).\n");
    let json = found.to_json();
    let first = &json[0];
    assert_eq!(first["code"], "E302");
    assert_eq!((&first["line"], &first["column"]), (&3.into(), &5.into()));
    assert_eq!(first["file"], "test.dl");
    assert_eq!(first["help"], "did you mean the constant `'white`?");
    assert_eq!(json.as_array().map(Vec::len), Some(1));
    assert!(found.render(true).contains('\u{1b}'));
    assert!(!found.render(false).contains('\u{1b}'));
}

#[test]
fn an_empty_program_compiles() {
    assert!(compiled(Vec::new()).relations.is_empty());
    one("");
    one("% nothing but a comment");
}

// --- what is listed can be played -----------------------------------------------------------------

const PAINT: &str = r#"
.domain Side { white, black }
.domain Thing entities 8
.input color(thing: Thing, side: Side) key attr color "{thing} is {side}"
.input wet(thing: Thing) flag attr wet "{thing} is wet"
.input size(thing: Thing, n: Int) key attr size "{thing} is of size {n}"
.decl never(thing: Thing) open "{thing} is never so"
.decl able(thing: Thing) "{thing} can be painted"
able(t) :- color(t, 'white), !wet(t).
.decl half(thing: Thing) "{thing} is half painted"
half(t) :- able(t), size(t, 1).
half(t) :- color(t, 'white), !wet(t), size(t, 2).
.decl try_paint(thing: Thing, side: Side) "{thing} may become {side}"
try_paint(t, s) :- color(t, o), color(_, s), s != o, !wet(t).
try_paint(t, 'black) :- able(t).
.action paint(thing: Thing, side: Side) pseudo_legal try_paint legality rules "{thing} becomes {side}"
"#;

#[test]
fn rows_of_actions_are_shown_to_be_tries() {
    let found = |rule: &str| {
        let source = Source { path: "paint.dl".into(), text: format!("{PAINT}{rule}\n").into() };
        compile(vec![source]).err().map(|it| it.list().iter().map(|it| it.code).collect::<Vec<_>>())
    };
    for shown in [
        "paint(t, s) :- try_paint(t, s), size(t, 3).",
        "paint(t, s) :- size(t, n), try_paint(t, s), n > 2, count { wet(u) } < n.",
        "paint(t, 'black) :- able(t).",
        "paint(t, 'black) :- half(t), size(t, _).",
        "paint(t, 'black) :- color(t, 'white), !wet(_).",
        "paint(t, s) :- !wet(t), color(_, s), color(t, o), s != o, size(t, 1).",
        "paint(t, s) :- color(t, s), never(t).",
    ] {
        assert_eq!(found(shown), None, "{shown}");
    }
    // A relation of a few rules stands for any of them; of many, for none.
    let cases = |count: usize| {
        let rules: String =
            (0..count).map(|it| format!("many(t) :- able(t), size(t, {it}).\n")).collect();
        format!(
            ".decl many(thing: Thing) \"of many sizes\"\n{rules}paint(t, 'black) :- many(t), size(t, _)."
        )
    };
    assert_eq!(found(&cases(8)), None);
    assert_eq!(found(&cases(9)).as_deref(), Some(&["E507"][..]));
    for not_shown in [
        "paint(t, 'white) :- able(t).",
        "paint(t, s) :- try_paint(_, s), color(t, _).",
        "paint(t, s) :- try_paint(t, o), color(_, s), s != o.",
        "paint(t, s) :- color(t, o), color(_, s), s != o.",
        "paint(t, 'black) :- color(t, 'white), count { wet(u) } = 0.",
        "paint(t, 'black) :- half(t), never(_), color(t, 'white).\nnever(t) :- wet(t).\npaint(t, 'white) :- half(t).",
        "paint(t, 'black) :- size(t, 1), !half(t).",
    ] {
        assert_eq!(found(not_shown).as_deref(), Some(&["E507"][..]), "{not_shown}");
    }
}

#[test]
fn columns_without_a_name_are_called_like_their_type() {
    let text = ".domain Node { a, b }\n.static pair(Node, Node, from: Node, Node) open\n";
    let program = one(text);
    let columns = &program.relation(named(&program, "pair")).columns;
    let names: Vec<&str> = columns.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["node", "node2", "from", "node3"]);
}

#[test]
fn defaults_may_be_quoted() {
    let attributes = |default: &str| {
        let text = format!(
            ".domain Mood {{ calm, angry }}\n.domain Thing entities 4\n\
             .input mood(thing: Thing, mood: Mood) key attr mood = {default}\n"
        );
        format!("{:?}", one(&text).schema.attributes())
    };
    assert_eq!(attributes("'angry"), attributes("angry"));
    assert_ne!(attributes("'angry"), attributes("calm"));
}

#[test]
fn each_operand_without_a_value_is_named() {
    let text = ".domain Thing entities 4\n.input at(thing: Thing, n: Int) key attr at\n\
         .decl p(n: Int) open \"{n} is so\"\np(n) :- at(_, n), _ = _.\n";
    let found = failing(text);
    let codes: Vec<&str> = found.list().iter().map(|it| it.code).collect();
    assert_eq!(codes, ["E212", "E212"]);
}

#[test]
fn a_remainder_may_end_its_line() {
    let literals = |text: &str| {
        let head = ".domain Square grid 8 8\n.static p(square: Square) \"{square} is so\"\n";
        let program = one(&format!("{head}p(s) :- file(s, n), {text} 1.\n"));
        format!("{:?}", program.rules[0].body)
    };
    for text in ["n % 4\n =", "n % -4 \r\n =", "n % 4 % a comment\n ="] {
        assert!(literals(text).contains("Mod"), "{text}");
    }
    for text in ["n % files\n =", "n % 4 files\n =", "n %\n ="] {
        assert!(!literals(text).contains("Mod"), "{text}");
    }
}

#[test]
fn limits_say_how_many_there_are() {
    let names: Vec<String> = (0..limits::STAGES + 2).map(|it| format!("s{it}")).collect();
    let stages = format!(".stages {}\n", names.join(", "));
    let relations: String =
        (0..=limits::RELATIONS).map(|it| format!(".static r{it}() open\n")).collect();
    let lists: String = (0..=limits::ATTRIBUTES / 256)
        .map(|it| format!(".input l{it}(activation: Thing, square: Square) list attr l{it}\n"))
        .collect();
    let lists = format!(".domain Thing entities 4\n.domain Square grid 16 16\n{lists}");
    let body = |literal: &str, n: usize| {
        format!(
            ".static p(n: Int) open\n.static q(n: Int) \"{{n}} is so\"\nq(n) :- p(n), {}.\n",
            vec![literal; n].join(", ")
        )
    };
    for (text, message) in [
        (stages, "a program may have 64 stages, this one has 66"),
        (relations, "a program may have 1024 relations, this one has 1025"),
        (lists, "a program may have 8192 attributes; a list has one for each member of its domain"),
        (body("p(n)", 20), "a body may have 16 atoms, this one has 21"),
        (body("n > 1", 40), "a body may have 32 comparisons, this one has 40"),
    ] {
        assert_eq!(failing(&text).list()[0].message, message);
    }
    // What is not declared for that reason is not told.
    let relations: String = (0..limits::RELATIONS + 9)
        .map(|it| format!(".static r{it}(n: Int) open \"{{n}}\"\nr{it}(1).\n"))
        .collect();
    let found = failing(&relations);
    let codes: Vec<&str> = found.list().iter().map(|it| it.code).collect();
    assert_eq!(codes, ["L005"]);
    // Those that are too many have places, too.
    let names: Vec<String> = (0..limits::STAGES - 4).map(|it| format!("s{it}")).collect();
    let added = (0..8).map(|it| format!(".stage t{it} after s{it} before s9\n"));
    let stages = format!(".stages {}\n{}", names.join(", "), added.collect::<String>());
    assert_eq!(failing(&stages).list()[0].message, "a program may have 64 stages, this one has 68");
}

// --- the reference -------------------------------------------------------------------------------

/// Blocks marked `dl` compile alone, `dl,shared` together with the core, `dl,core` with the core and the
/// family of chess, and blocks with `fail=CODE`
/// fail with that code.
#[test]
fn the_examples_of_the_reference_hold() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules.md");
    let text = std::fs::read_to_string(path).expect("docs/rules.md is readable");
    let mut blocks = 0;
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(marks) = line.strip_prefix("```dl") else {
            continue;
        };
        let body: Vec<&str> =
            lines.by_ref().map(|it| it.1).take_while(|it| !it.starts_with("```")).collect();
        let mut sources = Vec::new();
        if marks.contains(",core") || marks.contains(",shared") {
            sources = embedded_folder("rules/core");
        }
        if marks.contains(",core") {
            sources.extend(embedded_folder("rules/chess"));
        }
        sources
            .extend(split_files(&format!("docs/rules.md:{}", at + 1), &(body.join("\n") + "\n")));
        blocks += 1;
        match (compile(sources), marks.split_once("fail=")) {
            (Ok(_), None) => {}
            (Ok(_), Some((_, code))) => panic!("line {}: {code} expected, but it compiles", at + 1),
            (Err(found), Some((_, code))) => {
                assert!(found.list().iter().all(|it| it.code == code), "line {}:\n{found}", at + 1);
            }
            (Err(found), None) => panic!("line {}:\n{found}", at + 1),
        }
    }
    assert!(blocks >= 30, "only {blocks} examples");
}
