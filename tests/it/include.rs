//! Files that programs have in common: brought along once, with reactions in batches of their own, and refused in
//! words where they cannot be.

use rulemate::internals::audit;
use rulemate::internals::game::Game;
use rulemate::internals::presets::Catalogue;
use rulemate::internals::presets::save::{Content, Form, RulesFrom, Save};
use rulemate::internals::rules::{Source, included};

/// What two presets have in common: who has moved is counted, in a batch between theirs.
const COUNT: &str = r#"
.meta module "count"
.input moves(side: Side, n: Int) of Side attr moves = 0 "{side} has made {n} moves"
.decl busy(side: Side) open "{side} is busy"
busy(c) :- moves(c, n), n > 1.
on move(_, _) in after when mover(c), moves(c, n) do set moves(c, n + 1).
"#;

/// A preset that counts along: what it reads depends on whether the module's batch has run.
fn reader(id: &str) -> String {
    format!(
        ".meta preset \"{id}\"\n.meta include \"shared/count.dl\"\n.domain Preset += {{ {id} }}\n\
         .input seen(side: Side, n: Int) of Side attr seen = 0 \"{{side}} was seen with {{n}}\"\n\
         on move(_, _) in after when mover(c), active('{id}, c), moves(c, n) do set seen(c, n).\n"
    )
}

fn with(files: &[(&str, &str)]) -> Catalogue {
    let mut catalogue = Catalogue::embedded().expect("our own metadata");
    for (path, text) in files {
        let source = Source { path: (*path).into(), text: (*text).into() };
        catalogue.add(source).expect("metadata that makes sense");
    }
    catalogue
}

fn refused(files: &[(&str, &str)], presets: &[&str]) -> String {
    with(files).load("chess", presets).expect_err("should not load").to_string()
}

fn fact(game: &Game, attribute: &str) -> String {
    let json = game.to_json();
    let lines = json.lines().filter(|it| it.contains(&format!("\"{attribute}\"")));
    lines.map(str::trim).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_is_included_is_there_once_and_reacts_by_itself() {
    let (one, two) = (reader("one"), reader("two"));
    let files = [("mine/one.dl", &*one), ("mine/two.dl", &*two), ("mine/shared/count.dl", COUNT)];
    // Files may come in any order.
    let reverse: Vec<(&str, &str)> = files.iter().rev().copied().collect();
    for catalogue in [with(&files), with(&reverse)] {
        let rules = catalogue.load("chess", &["one", "two"]).unwrap_or_else(|it| panic!("{it}"));
        let program = rules.program();
        let shared = |it: &&Source| it.path == "mine/shared/count.dl";
        assert_eq!(program.sources.iter().filter(shared).count(), 1);
        let mut owners: Vec<Option<u16>> =
            program.reactions.iter().map(|it| it.owner).filter(Option::is_some).collect();
        owners.dedup();
        assert_eq!(owners.len(), 3, "{owners:?}");
        let mut game = rules.start(None).expect("it starts");
        for text in ["e4", "e5", "Nf3"] {
            game.play_text(text).unwrap_or_else(|it| panic!("{it}"));
        }
        // The module's batch comes before those of the presets that include it.
        for attribute in ["moves", "one::seen", "two::seen"] {
            let found = fact(&game, attribute);
            assert!(found.contains('2') && found.contains('1'), "{attribute}: {found}");
        }
        let bytes = Save::of(&game, &rules, Content { rules: true }).expect("it replays");
        let bytes = bytes.write(Form::Binary);
        for from in [RulesFrom::Here, RulesFrom::Save] {
            let audited = audit::save(&bytes, "chess", &catalogue, from, &mut |_| {});
            assert_eq!(audited.unwrap_or_else(|it| panic!("{it}")).plies, 3);
        }
        // It stays as long as one of them needs it.
        let rules = catalogue.set_active(&rules, &mut game, &["two"]).expect("one is enough");
        assert!(fact(&game, "moves").contains('2') && fact(&game, "one::seen").is_empty());
        catalogue.set_active(&rules, &mut game, &[] as &[&str]).expect("none is enough");
        assert!(fact(&game, "moves").is_empty());
    }
}

/// A module that marks pieces, and counts its marks.
const STAMP: &str = r#"
.meta module "stamp"
.input stamped(piece: Entity) flag attr stamped "{piece} is stamped"
.input stamps(n: Int) game attr stamps = 0 "{n} stamp(s) were used"
.decl stamping(side: Side) open "pieces of {side} are stamped as they move"
on move(p, _) when color(p, c), stamping(c), stamps(n) do set stamped(p), set stamps(n + 1).
"#;

/// What a module states ends with the last preset that brings it, also where this ends by itself, so that the module's
/// rules stay.
#[test]
fn facts_of_modules_end_with_the_last_preset_that_brings_them() {
    let stamper = |id: &str| {
        format!(
            ".meta preset \"{id}\"\n.meta include \"shared/stamp.dl\"\n.domain Preset += {{ {id} }}\n\
             stamping(c) :- active('{id}, c).\n"
        )
    };
    let (one, two) = (stamper("one"), stamper("two"));
    let files = [("mine/one.dl", &*one), ("mine/two.dl", &*two), ("mine/shared/stamp.dl", STAMP)];
    let catalogue = with(&files);
    let brief = ["one:both:turns=1", "two:both:turns=2"];
    let rules = catalogue.load("chess", &brief).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).expect("it starts");
    let stamps = |game: &Game| {
        let used = fact(game, "stamps");
        (fact(game, "stamped").lines().count(), used[used.find(":0,").unwrap_or(0)..].to_owned())
    };
    let told = |n: u8| format!(":0,\"attribute\":\"stamps\",\"value\":{n}}},");
    assert_eq!(stamps(&game), (0, told(0)));
    for (text, left, marked) in [("e4", 1, 1), ("e5", 0, 0), ("Nf3", 0, 0)] {
        game.play_text(text).unwrap_or_else(|it| panic!("{it}"));
        assert_eq!(Catalogue::active(&game).len(), left, "{text}");
        assert_eq!(stamps(&game), (marked, told(marked as u8)), "{text}");
    }
    let bytes = Save::of(&game, &rules, Content { rules: true }).expect("it replays");
    let bytes = bytes.write(Form::Binary);
    for from in [RulesFrom::Here, RulesFrom::Save] {
        let audited = audit::save(&bytes, "chess", &catalogue, from, &mut |_| {});
        assert_eq!(audited.unwrap_or_else(|it| panic!("{it}")).plies, 3);
    }
}

/// The module of the package that counts turns down serves those who ask for it, too.
#[test]
fn modules_of_the_package_may_be_included() {
    let preset =
        ".meta preset \"brief\"\n.meta include \"durations.dl\"\n.domain Preset += { brief }\n";
    let catalogue = with(&[("brief.dl", preset)]);
    for request in ["brief", "brief:both:turns=3"] {
        let rules = catalogue.load("chess", &[request]).unwrap_or_else(|it| panic!("{it}"));
        let module = |it: &&Source| it.path == "rules/modules/durations.dl";
        assert_eq!(rules.program().sources.iter().filter(module).count(), 1, "{request}");
    }
}

/// A game beside a file, or the file itself, may have the name of a module of the package: the module is meant.
#[test]
fn a_file_that_is_no_module_does_not_hide_one() {
    let preset =
        ".meta preset \"brief\"\n.meta include \"durations.dl\"\n.domain Preset += { brief }\n";
    let other = ".meta game \"durations\"\n.meta title \"Durations\"\n.meta layout \"orthodox\"\n";
    for files in [
        &[("rules/games/brief.dl", preset), ("rules/games/durations.dl", other)][..],
        &[("mine/durations.dl", preset)],
    ] {
        let rules = with(files).load("chess", &["brief"]).unwrap_or_else(|it| panic!("{it}"));
        let module = |it: &&Source| it.path == "rules/modules/durations.dl";
        assert_eq!(rules.program().sources.iter().filter(module).count(), 1, "{files:?}");
    }
}

#[test]
fn what_cannot_be_included_is_refused_in_words() {
    let one = reader("one");
    let why = refused(&[("mine/one.dl", &one)], &["one"]);
    for part in [
        "mine/one.dl:2",
        "shared/count.dl",
        "there is no mine/shared/count.dl",
        "among the files that are read: name the file",
    ] {
        assert!(why.contains(part), "{part}: {why}");
    }
    let plain = ".decl busy(side: Side) open \"{side} is busy\"\n.meta family \"chess\"\n";
    let why = refused(&[("mine/one.dl", &one), ("mine/shared/count.dl", plain)], &["one"]);
    assert!(why.contains("is no module") && why.contains(".meta module"), "{why}");
    let own = one.replace("shared/count.dl", "one.dl");
    let why = refused(&[("mine/one.dl", &own)], &["one"]);
    assert!(why.contains("this file has that name itself"), "{why}");
    // Each place is named once, also where the file itself is in a folder `rules`.
    let why = refused(&[("rules/one.dl", &one)], &["one"]);
    assert_eq!(why.matches("rules/shared/count.dl").count(), 1, "{why}");
    assert!(why.contains("and no rules/modules/shared/count.dl"), "{why}");

    let around = format!("{COUNT}.meta include \"more.dl\"\n");
    let more = ".meta module \"more\"\n.meta include \"count.dl\"\n";
    let files =
        [("mine/one.dl", &*one), ("mine/shared/count.dl", &*around), ("mine/shared/more.dl", more)];
    let why = refused(&files, &["one"]);
    assert!(
        why.contains("include each other: mine/shared/count.dl -> mine/shared/more.dl"),
        "{why}"
    );

    for name in ["../count.dl", "/etc/passwd", "a/../../b.dl", "", "a//b.dl", "..", "a\\b.dl"] {
        assert_eq!(included("mine/one.dl", name), None, "{name}");
        let preset = one.replace("shared/count.dl", name);
        let why = refused(&[("mine/one.dl", &preset)], &["one"]);
        assert!(why.contains("from the same folder or one below it"), "{name}: {why}");
    }
}

/// A file on disk that is named alone brings along what it includes.
#[test]
fn files_on_disk_bring_along_what_they_include() {
    let folder = std::env::temp_dir().join(format!("rulemate-include-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("shared")).expect("a folder");
    std::fs::write(folder.join("one.dl"), reader("one")).expect("written");
    std::fs::write(folder.join("shared/count.dl"), COUNT).expect("written");
    for path in [folder.join("one.dl"), folder.clone()] {
        let mut catalogue = Catalogue::embedded().expect("our own metadata");
        catalogue.add_path(&path).expect("rule files");
        let rules = catalogue.load("chess", &["one"]).unwrap_or_else(|it| panic!("{it}"));
        assert!(rules.program().sources.iter().any(|it| it.path.ends_with("shared/count.dl")));
    }
    // `check` reads it, too, and tells what is wrong with a module.
    let check = |file: &str| {
        let path = folder.join(file);
        crate::cli::rulemate(&["check", path.to_str().expect("a path")])
    };
    for file in ["one.dl", "shared/count.dl"] {
        let said = check(file);
        assert_eq!(said.code, 0, "{file}: {}{}", said.out, said.err);
    }
    // A module may use what its includer declares, and is checked with that.
    let shares = format!("{}.export seen\n", reader("one"));
    std::fs::write(folder.join("one.dl"), shares).expect("written");
    let uses = format!("{COUNT}.decl told(side: Side) \"{{side}}\"\ntold(c) :- seen(c, _).\n");
    std::fs::write(folder.join("shared/count.dl"), uses).expect("written");
    let said = crate::cli::rulemate(&["check", folder.to_str().expect("a path")]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let said = check("shared/count.dl");
    assert!(said.code != 0 && said.out.contains("seen"), "{}{}", said.out, said.err);
    let wrong = COUNT.replace("mover(c)", "movre(c)");
    std::fs::write(folder.join("shared/count.dl"), wrong).expect("written");
    for file in ["one.dl", "shared/count.dl"] {
        let said = check(file);
        assert!(said.code != 0 && said.out.contains("movre"), "{file}: {}{}", said.out, said.err);
    }
    std::fs::remove_dir_all(&folder).expect("ours");
}

/// What is noted of a preset and of the module that it includes is told once, where it stands.
#[test]
fn notes_are_told_of_the_file_that_they_are_about() {
    let module = ".meta module \"late\"\n.decl late(square: Square) \"{square} is far up\"\n\
                  late(t) :- rank(t, 6).\n\
                  on move(_, t) in after when late(t), at(q, 'e2) do remove q.\n";
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("noted");
    std::fs::create_dir_all(&folder).expect("a folder");
    let preset = |name: &str| {
        format!(
            ".meta preset \"{name}\"\n.meta family \"chess\"\n.meta include \"late.dl\"\n.meta nome \"x\"\n\
             .domain Preset += {{ {name} }}\n\
             on promote(_, _, t) in after when late(t), at(q, 'd2) do remove q.\n"
        )
    };
    for (file, text) in [("late", module), ("one", &preset("one")), ("two", &preset("two"))] {
        std::fs::write(folder.join(format!("{file}.dl")), text).expect("a file");
    }
    let ran = crate::cli::rulemate(&["check", folder.to_str().expect("a path")]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let notes: Vec<&str> = ran.out.lines().filter(|it| it.contains(": note: ")).collect();
    let told = |file: &str, part: &str| {
        let file = format!("{file}.dl: note: ");
        notes.iter().filter(|it| it.contains(&file) && it.contains(part)).count()
    };
    for file in ["one", "two"] {
        assert_eq!(told(file, "`.meta nome` means nothing"), 1, "{notes:?}");
        assert_eq!(told(file, "`promote` is played out where its condition holds"), 1, "{notes:?}");
    }
    assert_eq!(told("late", "`move` is played out where its condition holds"), 1, "{notes:?}");
    assert_eq!(notes.len(), 5, "{notes:?}");
}
