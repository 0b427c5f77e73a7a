//! Whose names are whose: presets of two authors who know nothing of each other go together, what is exported
//! is shared, and what the engine adds by itself is nowhere to be seen.

use rulemate::internals::audit;
use rulemate::internals::derive::explain::Limits;
use rulemate::internals::derive::{Backend, Query};
use rulemate::internals::facts::Document;
use rulemate::internals::game::Game;
use rulemate::internals::moves::perft;
use rulemate::internals::presets::save::{Content, Form, RulesFrom, Save};
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::internals::rules::Source;

fn with(files: &[(&str, &str)]) -> Catalogue {
    let mut catalogue = Catalogue::embedded().expect("our own metadata");
    for (path, text) in files {
        let source = Source { path: (*path).into(), text: (*text).into() };
        catalogue.add(source).expect("metadata that makes sense");
    }
    catalogue
}

fn loaded(catalogue: &Catalogue, game: &str, presets: &[&str]) -> Ruleset {
    catalogue.load(game, presets).unwrap_or_else(|it| panic!("{it}"))
}

fn refused(files: &[(&str, &str)], presets: &[&str]) -> String {
    with(files).load("chess", presets).expect_err("should not load").to_string()
}

fn played(rules: &Ruleset, moves: &str) -> Game {
    let mut game = rules.start(None).expect("it starts");
    for text in moves.split_whitespace() {
        game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
    }
    game
}

/// How many facts a game has of an attribute.
fn facts(game: &Game, attribute: &str) -> usize {
    let schema = game.facts().schema();
    let attr = schema.attribute_named(attribute).unwrap_or_else(|| panic!("no {attribute}"));
    game.facts().all_facts().iter().filter(|it| it.attr == attr).count()
}

/// A preset that has a name of every sort for itself: the `n`th hop of a piece is worth `n`.
fn author(id: &str, by: i64) -> String {
    format!(
        r#"
.meta preset "{id}"
.meta name "{id}"
.meta description "Whoever moves gets {by}"
.meta fen "{id}=hand"
.domain Preset += {{ {id} }}
.domain Purse {{ thin, fat }}
.input hand(piece: Entity, n: Int) key attr hand "{{piece}} has {{n}} in hand"
.input mood(side: Side, purse: Purse) of Side attr mood "the purse of {{side}} is {{purse}}"
.static limit(purse: Purse, n: Int) key "a {{purse}} purse holds less than {{n}}"
limit('thin, {by} + 1). limit('fat, 100).
.decl rich(side: Side) "{{side}} is rich"
rich(c) :- color(p, c), hand(p, n), limit('thin, m), n >= m.
.event paid(piece: Entity, n: Int) "{{piece}} gets {{n}}"
.stage till after apply
on move(p, _) in till when active('{id}, c), color(p, c) do raise paid(p, {by}).
on paid(p, n) when hand(p, m) do set hand(p, m + n), note "{id}: {{p}} gets more".
on paid(p, n) when !hand(p, _) do set hand(p, n).
on paid(p, _) in after when color(p, c), rich(c) do set mood(c, 'fat).
"#
    )
}

fn two() -> Vec<(&'static str, String)> {
    vec![("alpha.dl", author("alpha", 2)), ("beta-2.dl", author("beta-2", 3))]
}

fn both() -> Catalogue {
    let files = two();
    let files: Vec<(&str, &str)> = files.iter().map(|it| (it.0, it.1.as_str())).collect();
    with(&files)
}

const LINE: &str = "e4 e5 Nf3 Nc6 Ng1 Nb8 Nf3";

#[test]
fn presets_of_two_authors_go_together_though_they_use_the_same_names() {
    let catalogue = both();
    let rules = loaded(&catalogue, "chess", &["alpha", "beta-2:white"]);
    let mut game = played(&rules, LINE);
    assert_eq!((facts(&game, "alpha::hand"), facts(&game, "beta-2::hand")), (4, 2));
    let json = game.to_json();
    for (attribute, value) in [("alpha::hand", 6), ("beta-2::hand", 9)] {
        let fact = format!(r#""attribute":"{attribute}","value":{value}"#);
        assert!(json.replace(' ', "").contains(&fact), "{attribute}: {json}");
    }
    assert_eq!((facts(&game, "alpha::mood"), facts(&game, "beta-2::mood")), (2, 1));
    let fen = game.fen();
    assert!(fen.contains("alpha=-,f3:6") && fen.contains("beta-2=-,f3:9"), "{fen}");
    let again = rules.start(Some(&fen)).expect("our own FEN");
    assert_eq!(facts(&again, "beta-2::hand"), 2);

    let program = game.program().clone();
    for name in ["alpha::hand", "beta-2::hand", "alpha::rich", "beta-2::rich", "alpha::limit"] {
        assert!(program.relation_named(name).is_some(), "{name}");
    }
    assert!(program.relation_named("hand").is_none() && program.event_named("paid").is_none());
    assert!(program.event_named("beta-2::paid").is_some());
    assert!(program.schema.domain_named("alpha::Purse").is_some());
    let stages: Vec<&str> = program.stages.iter().map(|it| it.name.as_str()).collect();
    assert!(stages.contains(&"alpha::till") && stages.contains(&"beta-2::till"), "{stages:?}");
    // Explanations have the full name, and so have questions; what only one has needs none.
    let told = game.explain_fact("beta-2::rich(white)", Default::default()).expect("a fact");
    assert!(format!("{told:?}").contains("beta-2::rich"), "{told:?}");
    let unclear = Query::compile(&program, "hand(p, n)", None).expect_err("two have it");
    assert_eq!(unclear.message, "`hand` is a relation of 2 presets");
    assert_eq!(unclear.help.as_deref(), Some("write `alpha::hand` or `beta-2::hand`"));
    let unclear = game.explain_fact("rich(white)", Default::default()).expect_err("two have it");
    let told = "no relation `rich` in the rules of this game; did you mean `alpha::rich` or `beta-2::rich`?";
    assert_eq!(unclear.to_string(), told);
    for question in ["beta-2::hand(p, 9)", "alpha::hand(p, 6)"] {
        let query = Query::compile(&program, question, None).unwrap_or_else(|it| panic!("{it}"));
        let answer = query.answer(&game.world_mut().materialised()).expect("steps enough");
        assert_eq!(answer.rows.len(), 1, "{question}");
    }
}

#[test]
fn games_with_private_names_are_saved_resumed_and_audited() {
    let catalogue = both();
    let rules = loaded(&catalogue, "chess", &["alpha", "beta-2:white"]);
    let game = played(&rules, LINE);
    for form in [Form::Json, Form::Binary] {
        for content in [Content::default(), Content { rules: true }] {
            let bytes = Save::of(&game, &rules, content).expect("it replays").write(form);
            let (save, doubt) = Save::read(&bytes, "chess").expect("our own save");
            assert_eq!(doubt, None);
            let from = if content.rules { RulesFrom::Save } else { RulesFrom::Here };
            let restored = save.restore(&catalogue, from).unwrap_or_else(|it| panic!("{it}"));
            assert_eq!(restored.game.hash(), game.hash());
            let audited = audit::save(&bytes, "chess", &catalogue, from, &mut |_| {});
            assert_eq!(audited.unwrap_or_else(|it| panic!("{it}")).proofs, 7);
        }
    }
    let resumed = rules.resume_text(&game.to_json()).expect("its facts");
    assert_eq!(resumed.hash(), game.hash());
    let mut slow = rules.start_on(Backend::Frog, None).expect("it starts");
    for text in LINE.split_whitespace() {
        slow.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
    }
    assert_eq!(slow.hash(), game.hash());
}

#[test]
fn what_a_preset_states_under_a_name_of_its_own_goes_with_it() {
    let catalogue = both();
    let rules = loaded(&catalogue, "chess", &["alpha", "beta-2"]);
    let mut game = played(&rules, LINE);
    let rules = catalogue.set_active(&rules, &mut game, &["beta-2"]).expect("they go together");
    let schema = game.facts().schema();
    assert!(schema.attribute_named("alpha::hand").is_none());
    assert_eq!(facts(&game, "beta-2::hand"), 4);
    catalogue.set_active(&rules, &mut game, &[] as &[&str]).expect("none is enough");
    assert!(!game.to_json().contains("hand"));
}

const HEAD: &str = ".meta preset \"reader\"\n.domain Preset += { reader }\n";

#[test]
fn what_is_not_exported_is_not_seen() {
    let alpha = author("alpha", 2);
    let reads =
        |body: &str| format!("{HEAD}.decl seen(piece: Entity) \"{{piece}} is seen\"\n{body}\n");
    for atom in ["hand(p, _)", "alpha::hand(p, _)"] {
        let reader = reads(&format!("seen(p) :- {atom}."));
        let files = [("alpha.dl", alpha.as_str()), ("reader.dl", &reader)];
        let why = refused(&files, &["alpha", "reader"]);
        assert!(why.contains("[E142]") && why.contains("belongs to alpha"), "{why}");
        assert!(why.contains("`.export hand` in a file of alpha"), "{why}");
        // Once it is exported, both names mean it, and it keeps the short one.
        let open = format!("{alpha}.export hand\n");
        let files = [("alpha.dl", open.as_str()), ("reader.dl", &reader)];
        let rules = loaded(&with(&files), "chess", &["alpha", "reader"]);
        let mut game = played(&rules, "e4 e5");
        assert_eq!(facts(&game, "hand"), 2);
        let seen = game.program().relation_named("reader::seen").expect("declared");
        assert_eq!(game.world_mut().tuples(seen).len(), 2);
    }
    let other = ".meta preset \"other\"\n.domain Preset += { other }\n.export nothing\n";
    let why = refused(&[("other.dl", other)], &["other"]);
    assert!(why.contains("[E141]"), "{why}");
    let other = ".meta preset \"other\"\n.domain Preset += { other }\n.domain Terrain { sand, mud }\n.export Terain\n";
    let why = refused(&[("other.dl", other)], &["other"]);
    assert!(why.contains("did you mean `Terrain`?"), "{why}");
}

#[test]
fn what_two_export_is_refused_with_both_files_and_the_fix() {
    let files: Vec<(&str, String)> =
        two().into_iter().map(|it| (it.0, format!("{}.export rich\n", it.1))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|it| (it.0, it.1.as_str())).collect();
    let why = refused(&files, &["alpha", "beta-2"]);
    for part in ["[E140]", "alpha.dl:", "beta-2.dl:", "take `rich` out of the `.export`"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    // Each by itself is fine.
    loaded(&with(&files), "chess", &["alpha"]);
    let core = format!("{HEAD}.export slide\n.static slide(n: Int) \"{{n}}\"\nslide(1).\n");
    let why = refused(&[("reader.dl", &core)], &["reader"]);
    assert!(why.contains("[E140]") && why.contains("rules/chess/"), "{why}");
}

/// A preset has its own `slide`, though the family has one that is closed; open ones are there to be added to.
#[test]
fn a_name_of_the_core_may_be_declared_again_where_it_is_closed() {
    let own = format!(
        "{HEAD}.static slide(n: Int) \"{{n}} is a slide\"\nslide(7).\n\
         .decl told(n: Int) \"{{n}} is told\"\ntold(n) :- slide(n).\n\
         forbidden(p, t) :- active('reader, c), color(p, c), kind(p, 'queen), goes(p, t), told(_).\n"
    );
    let rules = loaded(&with(&[("reader.dl", &own)]), "chess", &["reader"]);
    let mut game = played(&rules, "e4 e5");
    assert!(game.play_text("d1e2").is_err(), "queens are forbidden to go");
    let program = game.program().clone();
    assert!(program.relation_named("slide").is_some());
    let own = program.relation_named("reader::slide").expect("declared");
    assert_eq!(game.world_mut().tuples(own).len(), 1);
    assert!(program.relation_named("forbidden").is_some());
    assert!(program.relation_named("reader::forbidden").is_none());

    let again = format!("{HEAD}.decl odd_target(piece: Entity) open \"{{piece}} is odd\"\n");
    let why = refused(&[("reader.dl", &again)], &["reader"]);
    assert!(why.contains("[E105]"), "{why}");
    // An attribute of the core is read if the preset means the same by it, else it has one of its own.
    let reads = format!(
        "{HEAD}.input stands(piece: Entity, square: Square) key attr position \"{{piece}} on {{square}}\"\n\
         .input kind_of(piece: Entity, n: Int) key attr kind \"{{piece}} is of kind {{n}}\"\n"
    );
    let rules = loaded(&with(&[("reader.dl", &reads)]), "chess", &["reader"]);
    let schema = &rules.program().schema;
    assert!(schema.attribute_named("reader::position").is_none());
    assert!(schema.attribute_named("reader::kind").is_some());
}

/// The core has `turn` in the repetition key, too, which is no mistake of a file that names it once.
#[test]
fn a_file_that_puts_a_relation_into_the_repetition_key_twice_is_refused() {
    let once = format!("{HEAD}.repetition turn\n");
    let rules = loaded(&with(&[("reader.dl", &once)]), "chess", &["reader"]);
    let turn = rules.program().relation_named("turn").expect("declared");
    assert_eq!(rules.program().repetition.iter().filter(|it| **it == turn).count(), 1);
    let twice = format!("{once}.repetition turn\n");
    let why = refused(&[("reader.dl", &twice)], &["reader"]);
    assert!(why.contains("[E123]"), "{why}");
}

#[test]
fn parts_of_a_preset_have_its_names() {
    let whole = format!("{HEAD}.decl seen(side: Side) open \"{{side}} is seen\"\n");
    let part = ".meta part \"reader\"\n.meta family \"chess\"\n\
                seen(c) :- active('reader, c), in_check(), turn(c).\n\
                .decl more(side: Side) \"{side}\"\nmore(c) :- reader::seen(c).\n";
    let catalogue = with(&[("reader.dl", &whole), ("reader.chess.dl", part)]);
    let rules = loaded(&catalogue, "chess", &["reader"]);
    let mut game = played(&rules, "e4 d5 Bb5");
    let seen = game.program().relation_named("reader::more").expect("declared");
    assert_eq!(game.world_mut().tuples(seen).len(), 1);
}

/// A game may have a name of the core's for itself, and shares all others with the presets on it.
#[test]
fn a_game_shares_its_names() {
    let game = ".meta game \"tally-chess\"\n.meta title \"Tally\"\n.meta layout \"orthodox\"\n\
                .static slide(n: Int) \"{n}\"\nslide(1).\n\
                .decl tally(side: Side, n: Int) key \"{side} has {n}\"\n\
                tally(c, n) :- opponent(c, _), slide(_), n = count { color(p, c) }.\n";
    let reader = format!(
        "{HEAD}.decl even() \"the sides are even\"\neven() :- tally('white, n), tally('black, n).\n"
    );
    let catalogue = with(&[("tally.dl", game), ("reader.dl", &reader)]);
    let rules = loaded(&catalogue, "tally-chess", &["reader"]);
    let mut game = played(&rules, "e4 e5");
    let program = game.program().clone();
    assert!(program.relation_named("tally-chess::slide").is_some());
    let even = program.relation_named("reader::even").expect("declared");
    assert!(program.relation_named("tally").is_some() && game.world_mut().tuples(even).len() == 1);
}

#[test]
fn two_presets_with_one_sign_in_the_fen_are_refused() {
    let preset = |id: &str, lines: &str| {
        format!(
            ".meta preset \"{id}\"\n{lines}.domain Preset += {{ {id} }}\n\
             .input glows(piece: Entity) flag attr glows \"{{piece}} glows\"\n\
             .input n(piece: Entity, n: Int) key attr n \"{{piece}} has {{n}}\"\n\
             .input left(side: Side, n: Int) of Side attr left = 1 \"{{side}} has {{n}} left\"\n\
             .input hole(square: Square) of Square attr hole \"{{square}} is a hole\"\n\
             .static written(kind: Kind, n: Int) key \"{{kind}} comes as number {{n}}\"\n\
             written('pawn, 1).\n"
        )
    };
    for (one, two, what) in [
        (".meta fen \"mark *=glows\"\n", ".meta fen \"mark *=glows\"\n", "the mark *"),
        (".meta fen \"mark *=glows\"\n", ".meta fen \"prefix *=glows\"\n", "the mark *"),
        (".meta fen \"n=n\"\n", ".meta fen \"n=n\"\n", "the field n"),
        (".meta fen \"counters left\"\n", ".meta fen \"counters left\"\n", "the word counters"),
        (".meta fen \"wall #=hole\"\n", ".meta fen \"wall #=hole\"\n", "the word wall"),
        (".meta fen \"stack written\"\n", ".meta fen \"stack written\"\n", "the word stack"),
    ] {
        let (one, two) = (preset("one", one), preset("two", two));
        let files = [("one.dl", one.as_str()), ("two.dl", two.as_str())];
        loaded(&with(&files), "chess", &["one"]);
        let why = refused(&files, &["one", "two"]);
        for part in [what, "one::", "two::"] {
            assert!(why.contains(part), "{part}: {why}");
        }
    }
}

#[test]
fn a_word_of_the_notation_that_the_game_has_is_not_taken_for_something_else() {
    for (family, beside, lines, told) in [
        (
            "chess",
            &["berolina-pawns"][..],
            ".meta fen \"passed went\"\n.input went(square: Square) game attr went \"a pawn went to {square}\"\n",
            "the word passed stands for",
        ),
        (
            "cotulenh",
            &[],
            ".meta san \"hold waits\"\n.input waits() game attr waits \"the turn waits\"\n",
            "the word hold stands for held_open and for own::waits",
        ),
        (
            "cotulenh",
            &[],
            ".meta fen \"turn {idle}:\"\n.decl idle() text \"waits\" \"the turn waits\"\n\
             .input waits() game attr waits \"the turn waits\"\nidle() :- waits().\n",
            "the word turn stands for",
        ),
    ] {
        let head = format!(
            ".meta preset \"own\"\n.meta family \"{family}\"\n.domain Preset += {{ own }}\n"
        );
        let catalogue = with(&[("own.dl", &format!("{head}{lines}"))]);
        let why = catalogue
            .load(family, &[beside, &["own"]].concat())
            .map(|_| ())
            .expect_err(lines)
            .to_string();
        assert!(why.contains(told), "{told}: {why}");
    }
}

#[test]
fn counters_of_one_relation_are_written_in_one_way() {
    let module = ".meta module \"lefts\"\n\
                  .input left(side: Side, n: Int) of Side attr left = 1 \"{side} has {n} left\"\n";
    let preset = |id: &str, line: &str| {
        let head = format!(".meta preset \"{id}\"\n.meta include \"lefts.dl\"\n");
        format!("{head}.meta fen \"counters {line}\"\n.domain Preset += {{ {id} }}\n")
    };
    let (one, same, other) =
        (preset("one", "left"), preset("same", "left"), preset("other", "+left"));
    let files = [("lefts.dl", module), ("one.dl", &one), ("same.dl", &same), ("other.dl", &other)];
    loaded(&with(&files), "chess", &["one", "same"]);
    let why = refused(&files, &["one", "other"]);
    assert!(why.contains("the word counters stands for left without + and for +left"), "{why}");
}

#[test]
fn what_the_engine_adds_is_not_to_be_seen() {
    let reader = format!(
        "{HEAD}.input grave(square: Square, kind: Kind) of Square attr grave \"a {{kind}} fell on {{square}}\"\n\
         on move(p, _) in describe when was kind(p, k), was at(p, s) do set grave(s, k).\n"
    );
    let rules = loaded(&with(&[("reader.dl", &reader)]), "chess", &["reader"]);
    let mut game = played(&rules, "e4 e5");
    let program = game.program().clone();
    assert!(program.relations.iter().any(|it| it.name == "was kind"), "the engine has them");
    assert!(
        !crate::relations::document(&program).contains("`was "),
        "{}",
        crate::relations::document(&program)
    );
    assert!(program.schema.attribute_named("was kind").is_none());
    let stated = r#"{"version":1,"facts":[{"entity":5,"attribute":"was kind","value":"pawn"}]}"#;
    let document = Document::parse(stated).expect("a list of facts");
    let why = document.facts(&program.schema).expect_err("nobody states that").to_string();
    assert!(why.contains("was kind") && !why.contains("did you mean"), "{why}");
    let near = Document::parse(&stated.replace("was kind", "was kin")).expect("a list of facts");
    let why = near.facts(&program.schema).expect_err("nobody states that").to_string();
    assert!(!why.contains("`was kind`") && !why.contains("mean was"), "{why}");
    let why = game.explain_fact("was_kind(e4, pawn)", Default::default()).expect_err("no fact");
    assert!(!why.to_string().contains("was kind"), "{why}");
}

/// A save from before presets had names of their own, with its rules: they mean what they meant.
#[test]
fn saves_of_before_load_and_mean_what_they_meant() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/saves/names");
    let gold = std::fs::read_to_string(format!("{folder}/gold.dl")).expect("readable");
    let catalogue = with(&[("/tmp/old/gold.dl", &gold)]);
    for name in ["v3.json", "v3.bin"] {
        let bytes = std::fs::read(format!("{folder}/{name}")).expect("readable");
        let (save, doubt) = Save::read(&bytes, "chess").expect("a save");
        assert_eq!(doubt, None);
        let restored = save.restore(&catalogue, RulesFrom::Save);
        let restored = restored.unwrap_or_else(|it| panic!("{name}: {it}"));
        let mut game = restored.game;
        assert_eq!((facts(&game, "purse"), facts(&game, "worn")), (2, 4));
        let active = Catalogue::active(&game).last().map(ToString::to_string);
        assert_eq!(active.as_deref(), Some("poisoned-squares:both:squares=d4+h8"));
        game.play_text("f6e4").expect("legal");
        assert_eq!(facts(&game, "worn"), 3, "a pawn that had been moved has died");
        let audited = audit::save(&bytes, "chess", &catalogue, RulesFrom::Save, &mut |_| {});
        assert_eq!(audited.unwrap_or_else(|it| panic!("{it}")).proofs, 5);
        // It is saved again with its own rules, and is what it was.
        let again = Save::of(&game, &restored.rules, Content { rules: true }).expect("it replays");
        let again = again.restore(&catalogue, RulesFrom::Save).expect("its own rules");
        assert_eq!(again.game.hash(), game.hash());
        // Brought up to date, it has the names of today.
        let today = save.restore(&catalogue, RulesFrom::Changed);
        let today = today.unwrap_or_else(|it| panic!("{name}: {it}")).game;
        assert_eq!((facts(&today, "gold::purse"), facts(&today, "gold::worn")), (2, 4));
        assert_eq!(facts(&today, "hp"), 31);
    }
}

/// One keeps a stage for itself and another exports one of that name: each means its own, in whatever order.
#[test]
fn stages_of_one_name_stay_apart() {
    let preset = |id: &str, export: &str, note: &str| {
        format!(
            ".meta preset \"{id}\"\n.domain Preset += {{ {id} }}\n{export}.stage till after describe\n\
             on move(_, _) in till when active('{id}, _) do note \"{note}\".\n"
        )
    };
    let keeps = preset("keeps", "", "kept");
    let shows = preset("shows", ".export till\n", "shown");
    let guest = format!(
        "{HEAD}on move(_, _) in till when active('reader, _) do note \"guest\".\n\
         on move(_, _) in shows::till when active('reader, _) do note \"guest again\".\n"
    );
    let files = [("keeps.dl", keeps.as_str()), ("shows.dl", &shows), ("reader.dl", &guest)];
    for presets in [["keeps", "shows", "reader"], ["reader", "shows", "keeps"]] {
        let rules = loaded(&with(&files), "chess", &presets);
        let program = rules.program();
        let stages: Vec<&str> = program.stages.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(stages.iter().filter(|it| it.ends_with("till")).count(), 2, "{stages:?}");
        for (path, stage) in
            [("keeps.dl", "keeps::till"), ("shows.dl", "till"), ("reader.dl", "till")]
        {
            let own = program.reactions.iter().filter(|it| {
                program.sources[usize::from(it.span.source)].path == path && !it.effects.is_empty()
            });
            let of: Vec<&str> = own
                .map(|it| stages[usize::from(it.stage.0)])
                .filter(|it| it.contains("till"))
                .collect();
            assert!(!of.is_empty() && of.iter().all(|it| *it == stage), "{path}: {of:?}");
        }
        let game = played(&rules, "e4");
        assert_eq!(game.history()[0].notes().len(), 4);
    }
    let lost = format!("{HEAD}on move(_, _) in keeps::till do note \"x\".\n");
    let why = refused(&[("keeps.dl", &keeps), ("reader.dl", &lost)], &["keeps", "reader"]);
    assert!(why.contains("[E610]"), "{why}");
    // A part of an action says where it ends, and of what type an argument is, by full names, too.
    let acts = ".meta preset \"acts\"\n.domain Preset += { acts }\n.domain Mood { calm, wild }\n\
                .stage late after describe\n\
                .action rest(piece: Entity) given mood: acts::Mood = 'calm legality simulate until acts::late \
                uci \"rest{at(piece)}[/{mood}]\" \"{piece} rests\"\nrest(p) :- active('acts, _), own(p), kind(p, 'king).\n";
    let rules = loaded(&with(&[("acts.dl", acts)]), "chess", &["acts"]);
    let mut game = rules.start(None).expect("it starts");
    assert!(game.listing().iter().any(|it| it.0 == "reste1"));
}

/// The family's word and each preset's are heard beside each other.
#[test]
fn presets_and_families_say_each_what_is_misplaced_and_unfinished() {
    let own = format!(
        "{HEAD}.meta family \"cotulenh\"\n.decl misplaced(side: Side) \"{{side}} has no commander\"\n\
         misplaced(c) :- opponent(c, _), count {{ kind(p, 'commander), color(p, c) }} = 0.\n\
         .decl unfinished() \"a rest is to come\"\nunfinished() :- kind(_, 'infantry), fullmove(77).\n"
    );
    let rules = loaded(&with(&[("reader.dl", &own)]), "cotulenh", &["reader"]);
    let mut game = rules.start(None).expect("it starts");
    assert!(!game.listing().is_empty());
    let fen = game.fen();
    let headless = fen.replace('c', "i");
    let why = rules.start(Some(&headless)).map(|_| ()).expect_err("no commander").to_string();
    assert!(why.contains("has no commander"), "{why}");
    let crowded = fen.replacen('i', "(cc)", 1);
    assert!(rules.start(Some(&crowded)).is_err(), "the family's own still holds");
    for name in ["misplaced", "unfinished"] {
        let program = game.program();
        assert_eq!(program.relations_called(name).count(), 2, "{name}");
    }
    assert_eq!(game.contract().unfinished.len(), 2);
}

/// What a reaction asks of the time before is another relation, which has no name and is not heard.
#[test]
fn a_preset_asks_what_was_misplaced_and_unfinished_by_its_own_word() {
    let own = format!(
        "{HEAD}.meta family \"cotulenh\"\n.decl misplaced() \"it is move 77\"\nmisplaced() :- fullmove(77).\n\
         .decl unfinished() \"a rest is to come\"\nunfinished() :- kind(_, 'infantry), fullmove(77).\n\
         on any when was unfinished() do note \"rested\".\non any when was misplaced() do note \"moved\".\n"
    );
    let rules = loaded(&with(&[("reader.dl", &own)]), "cotulenh", &["reader"]);
    let game = rules.start(None).expect("it starts");
    assert_eq!(game.program().relations_called("misplaced").count(), 2);
    assert_eq!(game.contract().unfinished.len(), 2);
}

/// A preset with the names of before, and the same with those of today: what it adds to, asks for, and withdraws.
fn of_before(is_new: bool) -> String {
    let text = r#"
.meta preset "before"
.meta name "Before"
.meta description "Pawns go as they capture; queens keep off squares that are attacked"
.domain Preset += { before }
no_marcher(p) :- color(p, c), active('before, c), kind(p, 'pawn).
forbidden(p, t) :- active('before, _), own(p), kind(p, 'queen), goes(p, t), danger(t).
.decl watched(piece: Entity) "{piece} is a royal piece, or may castle with one"
watched(p) :- guarded(p).
watched(p) :- partner(p, _).
"#;
    let names = [
        ("no_marcher", "not_pawn_like"),
        ("danger", "attacked"),
        ("guarded", "must_be_safe"),
        ("partner", "castling_right"),
    ];
    let renamed = |text: String, it: &(&str, &str)| text.replace(it.0, it.1);
    if is_new { names.iter().fold(text.to_owned(), renamed) } else { text.to_owned() }
}

#[test]
fn texts_with_earlier_names_say_what_they_said() {
    let [old, new] = [false, true].map(|it| {
        let catalogue = with(&[("before.dl", of_before(it).as_str())]);
        let mut game = played(&loaded(&catalogue, "chess", &["before"]), "Nf3 Nf6");
        let contract = game.contract().clone();
        let nodes = perft(game.world_mut(), &contract, 3);
        let row = if it { "attacked(f6)" } else { "danger(f6)" };
        let asked = game.explain_fact(row, Limits::default()).expect("it can be asked");
        let watched = game.program().relation_named("before::watched").expect("declared");
        let summary = asked.summary.replace("danger", "attacked");
        (nodes, game.tree(&asked.finding), summary, game.world_mut().tuples(watched).len())
    });
    assert_eq!(old, new);
    assert_eq!(old.3, 5);
    let plain = played(&loaded(&both(), "chess", &[]), "Nf3 Nf6").clone();
    let contract = plain.contract().clone();
    assert_ne!(perft(plain.clone().world_mut(), &contract, 3), old.0);
}

#[test]
fn mistakes_about_earlier_names_tell_those_of_today() {
    let text = of_before(false).replace("danger(t)", "danger(t, t)");
    let why = refused(&[("before.dl", &text)], &["before"]);
    assert!(why.contains("`danger` is called `attacked` now"), "{why}");
    // A member of a domain is no relation.
    let text = of_before(false)
        .replace(".domain Preset", "finish('draw, 'danger) :- turn(_).\n.domain Preset");
    let why = refused(&[("before.dl", &text)], &["before"]);
    assert!(why.contains("Reason has no member `danger`") && !why.contains("is called"), "{why}");
    // A preset's own relation of such a name is meant in its files.
    let own = of_before(false)
        .replace("danger", "peril")
        .replace(".decl watched", ".decl danger(n: Int) \"{n}\"\ndanger(1).\n.decl watched");
    let rules =
        loaded(&with(&[("before.dl", &own.replace("peril", "attacked"))]), "chess", &["before"]);
    assert!(rules.program().relation_named("before::danger").is_some());
    for export in ["", ".export danger\n"] {
        let wrong = format!("{}{export}", own.replace("peril(t)", "danger(t, t)"));
        let why = refused(&[("before.dl", &wrong)], &["before"]);
        assert!(why.contains("danger") && !why.contains("is called"), "{why}");
    }
}

#[test]
fn an_earlier_name_that_is_taken_is_refused() {
    let text = ".meta preset \"before\"\n.domain Preset += { before }\n.alias attacks = aims\n";
    let why = refused(&[("before.dl", text)], &["before"]);
    for part in ["[E151]", "`attacks` is a relation", "rules/chess/"] {
        assert!(why.contains(part), "{part}: {why}");
    }
}

#[test]
fn an_earlier_name_of_an_earlier_name_is_refused() {
    let of = |lines: &str| {
        let text = format!(".meta preset \"before\"\n.domain Preset += {{ before }}\n{lines}\n");
        refused(&[("before.dl", &text)], &["before"])
    };
    let why = of(".alias pokes = hits\n.alias hits = attacks");
    for part in ["[E151]", "`hits` is an earlier name itself", "write `.alias pokes = attacks`"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    let why = of(".alias hits = hits");
    for part in ["[E151]", "`hits` is an earlier name itself", "behind the `=`"] {
        assert!(why.contains(part), "{part}: {why}");
    }
}
