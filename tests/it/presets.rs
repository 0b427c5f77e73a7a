//! The catalogue, activations and numbered starts.

use rulemate::internals::derive::Backend;
use rulemate::internals::facts::Document;
use rulemate::internals::game::Game;
use rulemate::internals::presets::save::{Content, Form, RulesFrom, Save};
use rulemate::internals::presets::{Activation, Catalogue, Request};
use rulemate::internals::rules::{Source, load_folder};

use crate::fixture::texts;

fn catalogue() -> Catalogue {
    Catalogue::embedded().expect("our own metadata")
}

/// The error of loading a game with activations.
fn refusal(game: &str, extra: &[&str]) -> String {
    catalogue().load(game, extra).expect_err("should not load").to_string()
}

#[test]
fn every_game_starts_and_has_moves() {
    let catalogue = catalogue();
    for entry in catalogue.games() {
        let ruleset = catalogue.load(&entry.name, &[] as &[&str]).expect(&entry.name);
        let mut game = ruleset.start(None).expect(&entry.name);
        assert_eq!(game.warnings(), [], "{}", entry.name);
        assert_eq!(game.result(), None, "{}", entry.name);
        assert!(!game.legal_moves().is_empty(), "{}", entry.name);
    }
}

#[test]
fn games_go_by_name_and_alias_in_any_case() {
    let catalogue = catalogue();
    for (text, name) in
        [("chess", "chess"), ("FischerAndom", "chess960"), ("preset-coregal", "coregal")]
    {
        assert_eq!(catalogue.find_game(text).expect(text).name, name);
    }
    let error = catalogue.find_game("antiches").expect_err("misspelt");
    assert_eq!(error.to_string(), "there is no game antiches; did you mean antichess?");
}

/// A list of squares is one number: the last of 64 turns its sign. Its edges come back from text, from
/// facts and from both kinds of save, and mean the same squares.
#[test]
fn lists_of_squares_come_back_at_every_edge() {
    let catalogue = catalogue();
    let square = |at: usize| format!("{}{}", char::from(b'a' + (at % 8) as u8), at / 8 + 1);
    let every: Vec<String> = (0..64).map(square).collect();
    let all_but_last = every[..63].join("+");
    let lists = ["h8", "a1", "a1+h8", "g8", "g8+h8", "a1+d4+h8", &all_but_last, &every.join("+")];
    for list in lists {
        let request = format!("poisoned-squares:both:squares={list}");
        let rules = catalogue.load("chess", &["piece-hp", &request]).expect(list);
        let texts = Activation::texts(rules.activations());
        assert!(texts.contains(&request), "{list}: {texts:?}");
        let again = catalogue.load("chess", &texts).expect("as it was written");
        assert_eq!(Activation::texts(again.activations()), texts);

        let mut game = rules.start(None).expect("it starts");
        let poisoned = |game: &mut Game| -> Vec<String> {
            let program = game.program().clone();
            let rel = program.relation_named("poisoned").expect("declared");
            let rows = game.world_mut().tuples(rel);
            let white = rows.iter().filter(|it| it[0] == 0);
            white.map(|it| program.value_name(program.relation(rel).columns[1].ty, it[1])).collect()
        };
        assert_eq!(poisoned(&mut game).join("+"), list);
        assert_eq!(Activation::texts(&Catalogue::active(&game)), texts);
        let mut resumed = rules.resume_text(&game.to_json()).expect("the facts");
        assert_eq!(Activation::texts(&Catalogue::active(&resumed)), texts);
        assert_eq!(poisoned(&mut resumed).join("+"), list);
        game.play_text("a2a3").expect("legal");
        for form in [Form::Json, Form::Binary] {
            let save = Save::of(&game, &rules, Content::default()).expect("it replays");
            let (read, doubt) = Save::read(&save.write(form), "chess").expect("our own save");
            assert_eq!((&read.presets, doubt), (&texts, None), "{list}");
            let restored = read.restore(&catalogue, RulesFrom::Here).expect(list);
            assert_eq!(restored.game.hash(), game.hash(), "{list}");
            assert_eq!(Activation::texts(restored.rules.activations()), texts);
        }
    }
    // A board may have more than 64 squares.
    let rules = catalogue
        .load("cotulenh", &["piece-hp", "poisoned-squares:both:squares=k12+a1+h6"])
        .expect("squares of CoTuLenh");
    let texts = Activation::texts(rules.activations());
    assert!(texts.iter().any(|it| it.ends_with("squares=a1+h6+k12")), "{texts:?}");
    // There is no empty list: a preset that poisons nothing is left out.
    let empty = refusal("chess", &["piece-hp", "poisoned-squares:both:squares="]);
    assert!(empty.contains("squares"), "{empty}");
}

#[test]
fn activations_are_read() {
    let request = Request::parse("p:white:a=1,b=d4+e4").expect("well formed");
    assert_eq!(request.preset, "p");
    assert_eq!(request.scope.as_deref(), Some("white"));
    assert_eq!(request.options, [("a".into(), "1".into()), ("b".into(), "d4+e4".into())]);
    let request = Request::parse("p:a=1").expect("well formed");
    assert_eq!((request.scope, request.options.len()), (None, 1));
    let request = Request::parse("p : white : a = 1, turns = 3").expect("well formed");
    assert_eq!(request.options, [("a".into(), "1".into())]);
    assert_eq!(request.turns.as_deref(), Some("3"));
    for (text, fault) in [
        ("", "there is no name"),
        ("p:", "the scope is empty"),
        ("p:white:a", "\"a\" is no OPTION=VALUE"),
        ("p:a=1,a=2", "option a is there twice"),
        ("p:a=1,a =2", "option a is there twice"),
        ("p:white:a=1:b=2", "there is \"b=2\" after the options"),
    ] {
        let error = Request::parse(text).expect_err(text).to_string();
        assert!(error.ends_with(fault), "{error}");
    }
}

#[test]
fn wrong_activations_say_what_there_is() {
    let cases = [
        ("coregall", "there is no preset coregall; did you mean coregal?"),
        ("coregal:red", "preset coregal has no scope red: a scope is white, black or both"),
        ("knight-immunity:a=1", "preset knight-immunity has no option a: its only option is turns"),
        ("coregal:tuns=1", "preset coregal has no option tuns; did you mean turns?"),
        (
            "suicide-chess:castlin=true",
            "preset suicide-chess has no option castlin; did you mean castling?",
        ),
        (
            "suicide-chess:castle=true",
            "preset suicide-chess has no option castle: its options are castling, \
             promote_to_king, stalemate, opposite_bishops, turns",
        ),
        (
            "suicide-chess:castling=yes",
            "option castling of preset suicide-chess is true or false, not \"yes\"",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(refusal("chess", &[text]), message);
    }
    let twice = refusal("chess", &["coregal", "coregal:both"]);
    assert_eq!(twice, "preset coregal is activated twice for both");
}

#[test]
fn a_range_may_be_written_with_spaces() {
    let text = ".meta preset \"wide\"\n.meta range \"size: 1 .. 9\"\n.domain Preset += { wide }\n\
                .input wide_size(activation: Entity, n: Int) key attr \"wide.size\" = 3 \
                \"{activation} has the size {n}\"\n";
    let mut catalogue = catalogue();
    catalogue.add(Source { path: "mine/wide.dl".into(), text: text.into() }).expect("well formed");
    catalogue.load("chess", &["wide:both:size=9"]).expect("in range");
    let error = catalogue.load("chess", &["wide:both:size=10"]).map(|_| ()).expect_err("too large");
    let error = error.to_string();
    assert!(error.ends_with("is a number from 1 to 9, not \"10\""), "{error}");
}

/// A default outside its own range is a mistake in the file, unless an activation says something else.
#[test]
fn a_default_is_within_its_range() {
    let text = ".meta preset \"wide\"\n.meta range \"size: 1..9\"\n.domain Preset += { wide }\n\
                .input wide_size(activation: Entity, n: Int) key attr \"wide.size\" = 12 \
                \"{activation} has the size {n}\"\n";
    let mut catalogue = catalogue();
    catalogue.add(Source { path: "mine/wide.dl".into(), text: text.into() }).expect("well formed");
    catalogue.load("chess", &["wide:both:size=9"]).expect("in range");
    let error = catalogue.load("chess", &["wide"]).map(|_| ()).expect_err("out of range");
    let expected =
        "mine/wide.dl:2: option size of preset wide is a number from 1 to 9, but its default is 12";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn activations_are_facts() {
    let catalogue = catalogue();
    let ruleset = catalogue.load("chess", &["suicide-chess:white:castling=true"]).expect("loads");
    let texts: Vec<String> = ruleset.activations().iter().map(ToString::to_string).collect();
    let full = "castling=true,promote_to_king=true,stalemate=win,opposite_bishops=play";
    assert_eq!(texts, [format!("suicide-chess:white:{full}")]);
    let game = ruleset.start(None).expect("starts");
    let save = game.to_json();
    for fact in [
        r#""attribute":"preset","value":"suicide-chess""#,
        r#""attribute":"scope","value":"white""#,
        r#""attribute":"suicide-chess.castling","value":true"#,
    ] {
        assert!(save.contains(fact), "{fact} in {save}");
    }
}

#[test]
fn an_activation_for_the_same_scope_takes_the_place_of_the_games_own() {
    let catalogue = catalogue();
    let ruleset = catalogue.load("giveaway", &["suicide-chess:castling=false"]).expect("loads");
    let texts: Vec<String> = ruleset.activations().iter().map(ToString::to_string).collect();
    let full = "castling=false,promote_to_king=true,stalemate=win,opposite_bishops=play";
    assert_eq!(texts, [format!("suicide-chess:both:{full}")]);
}

#[test]
fn numbered_starts() {
    let catalogue = catalogue();
    let entry = catalogue.find_game("chess960").expect("a game");
    let numbered = entry.numbered.as_ref().expect("numbered");
    assert_eq!((numbered.count(), numbered.default), (960, 518));
    assert!(entry.start.starts_with("rnbqkbnr/"), "{}", entry.start);
    // Known pairs of number and rank.
    for (number, rank) in [(0, "bbqnnrkr"), (518, "rnbqkbnr"), (534, "rnbkqbnr"), (959, "rkrnnqbb")]
    {
        assert_eq!(numbered.rank(number).expect("in range"), rank);
    }
    let mut ranks: Vec<String> = (0..960).map(|it| numbered.rank(it).expect("in range")).collect();
    for rank in &ranks {
        let files = |letter| rank.match_indices(letter).map(|it| it.0).collect::<Vec<_>>();
        let (bishops, rooks, kings) = (files('b'), files('r'), files('k'));
        assert_eq!((bishops[0] + bishops[1]) % 2, 1, "{rank}");
        assert!(rooks[0] < kings[0] && kings[0] < rooks[1], "{rank}");
    }
    ranks.sort();
    ranks.dedup();
    assert_eq!(ranks.len(), 960);
}

#[test]
fn a_numbered_start_is_an_option_of_the_game() {
    let catalogue = catalogue();
    let none: [&str; 0] = [];
    let mut game =
        catalogue.load("chess960:position=0", &none).expect("loads").start(None).expect("starts");
    assert_eq!(game.fen(), "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1");
    for (text, message) in [
        ("chess960:position=960", "there are start positions 0 to 959, not 960"),
        ("chess960:number=1", "there is no option number, only position"),
        ("chess960:position=x", "position takes a number from 0 to 959, not \"x\""),
        ("chess960:position=-1", "position takes a number from 0 to 959, not \"-1\""),
        (
            "chess960:position=4294967296",
            "position takes a number from 0 to 959, not \"4294967296\"",
        ),
        ("chess:position=1", "the game has no option position"),
    ] {
        let error = refusal(text, &[]);
        assert!(error.ends_with(message), "{error}");
    }
}

#[test]
fn metadata_that_makes_no_sense_is_refused_with_its_line() {
    let cases = [
        (
            ".meta game \"x\"",
            "t.dl:1: the game has no start: write `.meta start \"FEN\"`, or `.meta layout \"NAME\"`",
        ),
        (
            ".meta game \"x\"\n.meta preset \"y\"",
            "t.dl:2: a file is a game or a preset: write `.meta use \"y\"` for a game that begins with one",
        ),
        (".meta game \"x\"\n.meta game \"y\"", "t.dl:2: game is there twice"),
        (
            ".meta game \"x\"\n.meta start \"8/8\"\n.meta board \"8x2\"\n.meta board \"8x3\"",
            "t.dl:4: board is there twice",
        ),
        (
            ".meta layout \"x\"\n.meta entities \"80\"\n.meta start \"8/8\"\n.meta entities \"90\"",
            "t.dl:4: entities is there twice",
        ),
        (
            ".meta game \"x\"\n.meta sides \"red, blue\"\n.meta sides \"a, b\"\n.meta start \"8/8\"",
            "t.dl:3: sides is there twice",
        ),
        (
            ".meta module \"x\"\n.meta board \"graph\"",
            "t.dl:2: `.meta board` is that of a game or a layout: write it there",
        ),
        (
            ".meta preset \"x\"\n.meta sides \"red, blue\"",
            "t.dl:2: `.meta sides` is that of a game or a layout: write it there",
        ),
        (
            ".meta preset \"x\"\n.meta module \"y\"\n.meta module \"z\"",
            "t.dl:3: module is there twice",
        ),
        (
            ".meta game \"x\"\n.meta start \"8/8\"\n.meta fact \"a\"",
            "t.dl:3: expected ATTRIBUTE=VALUE",
        ),
        (
            ".meta game \"CHESS\"\n.meta start \"8/8\"",
            "t.dl:1: rules/games/chess.dl has the name CHESS already: choose another one",
        ),
        (
            ".meta family \"chess\"\n.meta game \"x\"\n.meta alias \"CHESS\"\n.meta layout \"orthodox\"",
            "t.dl:3: rules/games/chess.dl has the name CHESS already: choose another one",
        ),
        (
            ".meta preset \"x\"\n.meta module \"captures\"",
            "t.dl:2: rules/abilities/captures.dl has the name captures already: choose another one",
        ),
        (
            ".meta game \"x\"\n.meta start \"ab\"\n.meta number \"n=0\"\n.meta pattern \"{rank}\"\n.meta place \"ab at 11\"",
            "t.dl:2: number 0 puts two pieces on one file, or a piece on a file that the rank lacks: it has one for each letter",
        ),
        (
            ".meta game \"x\"\n.meta start \"ab\"\n.meta number \"n=0\"\n.meta pattern \"{rank}\"\n.meta place \"ab at 21\"",
            "t.dl:2: number 0 is ba: begin there, or leave `start` out",
        ),
        (
            ".meta game \"x\"\n.meta start \"ab\"\n.meta number \"n=0\"\n.meta pattern \"{rank}{RANK}\"\n.meta place \"Ab at 12\"",
            "t.dl:2: number 0 is abAB: begin there, or leave `start` out",
        ),
        (
            ".meta game \"x\"\n.meta layout \"orthodox\"\n.meta number \"n=1\"\n.meta pattern \"{rank}\"\n.meta place \"ab at 12\"",
            "t.dl:3: there are start positions 0 to 0, not 1",
        ),
        (
            ".meta game \"x\"\n.meta layout \"orthodox\"\n.meta number \"n=0\"\n.meta place \"ab at 12\"",
            "t.dl:3: numbered start positions need a line `.meta pattern \"FEN\"`",
        ),
        (
            ".meta game \"x\"\n.meta start \"ab\"\n.meta number \"n=0\"\n.meta pattern \"\"\n.meta place \"ab at 1x\"",
            "t.dl:3: \"ab at 1x\" is not LETTERS at CHOICE ..., with a file (a-p) or the number of a free file (1-9) for each letter",
        ),
    ];
    for (text, message) in cases {
        let source = Source { path: "t.dl".into(), text: text.into() };
        assert_eq!(catalogue().add(source).expect_err(text).to_string(), message);
    }
}

/// A game is found by the names that its file gives it, however spaces, hyphens and cases are written; and the start
/// that is listed is the one that it is played from, also where its layout has another.
#[test]
fn a_game_is_listed_as_it_is_named_and_played() {
    let text = ".meta family \"chess\"\n.meta game \"Two_Orders\"\n.meta alias \"both ways\"\n\
                .meta layout \"orthodox\"\n.meta number \"order=1\"\n\
                .meta pattern \"{rank}/pppppppp/8/8/8/8/PPPPPPPP/{RANK} w - - 0 1\"\n\
                .meta place \"rnbqkbnr at abcdefgh hgfedcba\"\n";
    let mut catalogue = catalogue();
    catalogue.add(Source { path: "orders.dl".into(), text: text.into() }).expect("well formed");
    for name in ["Two_Orders", "two-orders", "two orders", "both ways", "Both-Ways", "both_ways"] {
        let found = catalogue.find_game(name).map(|it| it.name.as_str());
        assert_eq!(found.unwrap_or_else(|it| panic!("{it}")), "Two_Orders");
    }
    let again =
        Source { path: "again.dl".into(), text: text.replace("Two_Orders", "two-orders").into() };
    assert!(catalogue.add(again).is_err());
    let start = "rnbkqbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBKQBNR w - - 0 1";
    assert_eq!(catalogue.find_game("two-orders").expect("it is there").start, start);
    let rules = catalogue.load::<&str>("two-orders", &[]).unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(rules.start_fen(), start);
}

/// Black's king stands on the last rank of the race where it does on other layouts. A position that is given may be over.
#[test]
fn a_game_that_is_over_as_it_begins_is_warned_of() {
    let rules = catalogue().load("chess", &["racing-kings"]).expect("they go together");
    let game = rules.start(None).expect("it starts");
    let why = "chess with racing-kings is over as it begins: black wins by race won";
    assert_eq!(game.warnings().iter().map(ToString::to_string).collect::<Vec<_>>(), [why]);
    let given = rules.start(Some("4k3/8/8/8/8/8/8/4K3 w - - 0 1")).expect("it starts");
    assert!(given.result().is_some() && given.warnings().is_empty());
    let rules = catalogue().load("racingkings", &["piece-hp"]).expect("they go together");
    assert_eq!(rules.start(None).expect("it starts").warnings(), []);
}

/// It is told to who combined them, not to the author of the rule that took most.
#[test]
fn presets_that_take_too_much_on_a_large_board_are_refused() {
    let told = refusal("omicron", &["block-piece"]);
    let expected =
        "omicron with block-piece takes more computing than is allowed: leave a preset out";
    assert!(told.contains(expected) && told.contains("block-piece.dl:"), "{told}");
}

/// More start positions than can be counted are an error, not a panic.
#[test]
fn too_many_numbered_starts_are_refused() {
    let place = ".meta place \"a at 1 2 3 4 5 6 7 8\"\n".repeat(11);
    let text = format!(
        ".meta game \"x\"\n.meta start \"a\"\n.meta number \"n=0\"\n.meta pattern \"\"\n{place}"
    );
    let source = Source { path: "t.dl".into(), text: text.into() };
    let message = "t.dl:3: the choices make more than 4294967295 start positions";
    assert_eq!(catalogue().add(source).expect_err("too many").to_string(), message);
}

/// The name of the game in front of it, with a colon, is left out.
#[test]
fn the_comment_at_the_head_of_a_file_describes_its_game() {
    for (head, expected) in [("hop: pieces hop", "Pieces hop"), ("hopping chess", "Hopping chess")]
    {
        let text = format!("% {head}\n.meta game \"hop\"\n.meta layout \"orthodox\"\n").into();
        let mut catalogue = catalogue();
        catalogue.add(Source { path: "hop.dl".into(), text }).expect("well formed");
        assert_eq!(catalogue.find_game("hop").expect("added").description, expected);
    }
}

#[test]
fn a_preset_file_of_ones_own_can_be_added() {
    let text = "% no-queens\n.meta preset \"still-queens\"\n.domain Preset += { still-queens }\n\
                forbidden(p, t) :- active('still-queens, c), color(p, c), kind(p, 'queen), goes(p, t).\n";
    let mut catalogue = catalogue();
    catalogue.add(Source { path: "mine/still.dl".into(), text: text.into() }).expect("well formed");
    let fen = "4k3/8/8/8/8/8/8/3QK3 w - - 0 1";
    let ruleset = catalogue.load("chess", &["still-queens:white"]).expect("loads");
    let mut game = ruleset.start(Some(fen)).expect("starts");
    assert!(game.listing().iter().all(|it| !it.0.starts_with("d1")));
    let ruleset = catalogue.load("chess", &["still-queens:black"]).expect("loads");
    let mut game = ruleset.start(Some(fen)).expect("starts");
    assert!(game.listing().iter().any(|it| it.0.starts_with("d1")));
}

/// Whom a module does not go with is told by the name of the game or preset that has it, not by the module's.
#[test]
fn modules_go_by_the_names_that_players_know() {
    for (game, presets, other) in [
        ("ability-chess", &["double-move"][..], "ability-chess"),
        ("chess", &["scatter-shot:white", "double-move"][..], "scatter-shot"),
    ] {
        let error = refusal(game, presets);
        let told = format!(
            "double-move and {other} are incompatible: both say how many actions a turn has"
        );
        assert!(error.contains(&told), "{error}");
    }
}

/// A layout or a module of one's own is taken in; one whose name another file has is not.
#[test]
fn names_of_layouts_and_modules_belong_to_one_file() {
    let add = |catalogue: &mut Catalogue, path: &str, text: &str| {
        let source = Source { path: path.into(), text: text.into() };
        catalogue.add(source).map_err(|it| it.to_string())
    };
    let mut catalogue = catalogue();
    let layout = |name: &str| {
        format!(
            ".meta layout \"{name}\"\n.meta family \"chess\"\n.meta title \"Pawns\"\n\
             .meta start \"4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1\"\n"
        )
    };
    assert_eq!(add(&mut catalogue, "mine/a.dl", &layout("pawns-alone")), Ok(()));
    let taken = "mine/a.dl has the name pawns-alone already: choose another one";
    let refused = add(&mut catalogue, "mine/b.dl", &layout("pawns-alone")).expect_err("taken");
    assert!(refused.ends_with(taken), "{refused}");
    let game = ".meta game \"pawns\"\n.meta family \"chess\"\n.meta layout \"pawns-alone\"\n";
    assert_eq!(add(&mut catalogue, "mine/c.dl", game), Ok(()));
    let rules = catalogue.load::<&str>("pawns", &[]).expect("it loads");
    assert!(rules.start(None).expect("it starts").fen().starts_with("4k3/pppppppp/"));
    let module = ".meta module \"weather\"\n.meta family \"chess\"\n";
    assert_eq!(add(&mut catalogue, "mine/d.dl", module), Ok(()));
    let refused = add(&mut catalogue, "mine/e.dl", module).expect_err("taken");
    let taken = "mine/d.dl has the name weather already: choose another one";
    assert!(refused.ends_with(taken), "{refused}");
}

/// A file that replaces another one has its place in every list.
#[test]
fn a_file_that_replaces_another_has_its_place() {
    let mut catalogue = catalogue();
    let names = |of: &Catalogue| -> Vec<String> {
        let (games, layouts, presets) = (of.games(), of.layouts(), of.presets());
        let games = games.iter().map(|it| it.name.clone());
        let layouts = layouts.iter().map(|it| it.name.clone());
        games.chain(layouts).chain(presets.iter().map(|it| it.preset.clone())).collect()
    };
    let before = names(&catalogue);
    for path in ["rules/games/3check.dl", "rules/layouts/dual.dl", "rules/presets/atomic.dl"] {
        let known = catalogue.sources().iter().find(|it| it.path == path).expect(path).clone();
        catalogue.add(known).expect("it is there already");
    }
    assert_eq!(names(&catalogue), before);
}

/// What is said of a preset names each relation once, and none of its own as added to.
#[test]
fn particulars_name_what_is_added_to_once() {
    let catalogue = catalogue();
    let mut named = 0;
    for name in ["knight-immunity", "stamina", "suicide-chess", "piece-hp", "knightmate-rules"] {
        let preset = catalogue.presets().iter().find(|it| it.preset == name).expect(name);
        let found = catalogue.particulars("chess", preset).expect(name);
        let once: std::collections::BTreeSet<&String> = found.adds_to.iter().collect();
        assert_eq!(once.len(), found.adds_to.len(), "{name}: {:?}", found.adds_to);
        let text =
            &catalogue.sources().iter().find(|it| it.path == catalogue.path_of_preset(preset));
        let text = &text.expect("its file").text;
        for relation in &found.adds_to {
            let own = format!(".decl {relation}(");
            assert!(!text.contains(&own), "{name} adds to its own {relation}");
            named += 1;
        }
    }
    assert!(named > 5, "{named}");
}

/// What a move takes elsewhere makes it a capture, as it is written and as it is read; what it leaves behind,
/// a FEN does not state.
#[test]
fn what_presets_do_elsewhere_is_told() {
    let text = ".meta preset \"stings\"\n.domain Preset += { stings }\n\
         .input sting(piece: Entity, n: Int) key attr sting \"{piece} stung {n} times\"\n\
         on move(p, _) in after when active('stings, _), kind(p, 'knight), at(e, 'e7) do remove e.\n\
         on move(p, _) in after when active('stings, _), kind(p, 'rook) do spawn s, set sting(s, 3).\n";
    let mut catalogue = catalogue();
    catalogue
        .add(Source { path: "mine/stings.dl".into(), text: text.into() })
        .expect("well formed");
    let rules = catalogue.load("chess", &["stings"]).expect("it loads");
    for text in ["Nxf3", "g1f3"] {
        let mut game = rules.start(None).expect("it starts");
        assert!(rules.unsaid(&mut game).is_empty());
        game.play_text(text).expect(text);
        assert_eq!(&*game.history()[0].san, "Nxf3");
        for text in ["Nf6", "a3", "Rg8"] {
            assert!(rules.unsaid(&mut game).is_empty(), "{text}");
            game.play_text(text).expect(text);
            assert_eq!(&*game.history().last().expect("played").san, text);
        }
        assert!(!rules.unsaid(&mut game).is_empty(), "a sting stands nowhere");
    }
}

#[test]
fn a_save_resumes() {
    let ruleset = catalogue().load("giveaway", &[] as &[&str]).expect("loads");
    let mut game = ruleset.start(None).expect("starts");
    for text in ["e2e3", "b7b5", "f1b5"] {
        game.play_text(text).expect(text);
    }
    let save = game.to_json();
    let document = Document::parse(&save).expect("our own save");
    let mut again = ruleset.resume(&document, Backend::Bits).expect("resumes");
    assert_eq!(again.hash(), game.hash());
    assert_eq!(again.to_json(), save);
    assert_eq!(again.fen(), game.fen());
    assert_eq!(again.listing(), game.listing());
}

#[test]
fn a_kind_of_piece_from_outside() {
    let mut catalogue = catalogue();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/griffon");
    for source in load_folder(&folder).expect("readable") {
        catalogue.add(source).expect("well formed");
    }
    let ruleset = catalogue.load("chess", &[] as &[&str]).expect("loads");
    // It gives check along e4, e3, e2; a rook may step between.
    let fen = "7k/8/8/3g4/R7/8/8/4K3 w - - 0 1";
    let mut game = ruleset.start(Some(fen)).expect("a position");
    assert_eq!(texts(&mut game), ["a4e4", "e1d1", "e1d2", "e1f1", "e1f2"]);
    assert_eq!(game.fen(), fen);
    game.play_text("a4e4").expect("legal");
    game.play_text("d5e4").expect("it captures");
    let document = Document::parse(&game.to_json()).expect("our own save");
    let mut again = ruleset.resume(&document, Backend::Bits).expect("resumes");
    assert_eq!((again.fen(), texts(&mut again)), (game.fen(), texts(&mut game)));
    let kinds = game.kinds();
    let griffon = kinds.iter().find(|it| it.kind == "griffon").expect("it is in the manifest");
    assert_eq!((griffon.letter.as_str(), griffon.name.as_str()), ("g", "Griffon"));
    assert_eq!(griffon.images.get("black").map(String::as_str), Some("griffon-black.svg"));
    assert!(kinds.iter().any(|it| it.kind == "knight" && it.letter == "n" && it.name == "knight"));
    let mut game = ruleset.start(Some("7k/P7/8/8/8/8/8/K7 w - - 0 1")).expect("a position");
    game.play_text("a7a8g").expect("a pawn may become one");
    assert_eq!(game.fen(), "G6k/8/8/8/8/8/8/K7 b - - 0 1");
}
