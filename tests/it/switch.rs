//! Presets that come and go in the middle of a game; definitions that make no sense.
//!
//! Deliberately absent: what single presets do (`golden`).

use std::sync::Arc;

use rulemate::internals::derive::{Backend, Frog, Statics, World};
use rulemate::internals::facts::{EntityId, GAME, NEXT_ENTITY, Value};
use rulemate::internals::game::Game;
use rulemate::internals::presets::save::{Content, RulesFrom, Save};
use rulemate::internals::presets::{Catalogue, LoadError, Ruleset};
use rulemate::internals::rules::{RelId, Role, Source};

use crate::reactions::twin;

pub(crate) fn catalogue() -> Catalogue {
    Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"))
}

pub(crate) fn start(catalogue: &Catalogue, presets: &[&str], fen: Option<&str>) -> (Ruleset, Game) {
    let rules = catalogue.load("chess", presets).unwrap_or_else(|it| panic!("{it}"));
    let game = rules.start(fen).unwrap_or_else(|it| panic!("{it}"));
    (rules, game)
}

pub(crate) fn switch(
    catalogue: &Catalogue,
    rules: &mut Ruleset,
    game: &mut Game,
    requests: &[&str],
) {
    *rules = catalogue.set_active(rules, game, requests).unwrap_or_else(|it| panic!("{it}"));
    is_as_derived_afresh(game);
}

/// Every derived row is what a session that starts from these facts derives, and the referee too.
pub(crate) fn is_as_derived_afresh(game: &mut Game) {
    let mut fresh = World::new(Arc::clone(game.world().plan()), Backend::Bits);
    let copy = twin(game.world());
    for fact in copy.facts().all_facts() {
        fresh.insert(fact.entity, fact.attr, fact.value).unwrap_or_else(|it| panic!("{it}"));
    }
    let program = Arc::clone(game.program());
    let referee = Frog::over(&Arc::new(Statics::later(&program)), game.facts(), &[]);
    for (at, relation) in program.relations.iter().enumerate() {
        if matches!(relation.role, Role::Derived | Role::Input(_)) {
            let rel = RelId(at as u16);
            let rows = game.world_mut().tuples(rel);
            assert_eq!(rows, fresh.tuples(rel), "{}", relation.name);
            assert_eq!(rows, referee.rows(rel), "{}", relation.name);
        }
    }
}

pub(crate) fn facts(game: &Game, attribute: &str) -> Vec<Value> {
    let Some(attr) = game.program().schema.attribute_named(attribute) else { return Vec::new() };
    let entities = game.facts().entities_with(attr);
    entities.filter_map(|it| game.facts().get(it, attr)).collect()
}

pub(crate) fn active(game: &Game) -> Vec<String> {
    Catalogue::active(game).iter().map(ToString::to_string).collect()
}

pub(crate) fn play(game: &mut Game, moves: &str) {
    for uci in moves.split(' ') {
        game.play_text(uci).unwrap_or_else(|it| panic!("{uci}: {it}"));
    }
}

#[test]
fn presets_come_and_go() {
    let catalogue = catalogue();
    let (mut rules, mut game) = start(&catalogue, &[], None);
    play(&mut game, "e2e4 d7d5");
    switch(&catalogue, &mut rules, &mut game, &["piece-hp", "piece-shield:black"]);
    assert_eq!(active(&game), ["piece-hp:both:hp=2", "piece-shield:black"]);
    assert_eq!(facts(&game, "hp").len(), 32);
    assert_eq!(facts(&game, "shield").len(), 16);
    play(&mut game, "e4d5 d5e4 e4d5 g8f6");
    switch(&catalogue, &mut rules, &mut game, &["piece-shield:black", "piece-hp:white"]);
    assert_eq!(active(&game), ["piece-shield:black", "piece-hp:white:hp=2"]);
    assert_eq!(facts(&game, "hp").len(), 16, "{}", game.fen());
    switch(&catalogue, &mut rules, &mut game, &["knightmate-rules", "coregal:white"]);
    assert!(facts(&game, "hp").is_empty() && facts(&game, "shield").is_empty());
    switch(&catalogue, &mut rules, &mut game, &[]);
    assert!(active(&game).is_empty());
    play(&mut game, "b1c3");
}

/// Who joins in the middle of a game puts at stake what there is; a game that is entered from a
/// position, what its layout has.
#[test]
fn what_had_died_out_before_is_not_at_stake() {
    let catalogue = catalogue();
    let fen = "rnb1kbnr/pppp1ppp/8/4p3/8/P7/1PPPPPPP/R1BQKB1R w KQkq - 0 3";
    let all = "extinction-chess:both:target=all,royal_king=false";
    let (_, game) = start(&catalogue, &[all], Some(fen));
    let words = |game: &Game| game.result().map(ToString::to_string);
    assert!(words(&game).is_some_and(|it| it.ends_with("by extinction")), "{:?}", words(&game));
    let (mut rules, mut game) = start(&catalogue, &[], Some(fen));
    switch(&catalogue, &mut rules, &mut game, &[all]);
    assert_eq!(words(&game), None);
    is_as_derived_afresh(&mut game);
    play(&mut game, "h2h3 a7a6 d2d4 e5d4");
    assert_eq!(words(&game), None);
    play(&mut game, "d1d4 b8c6 d4c3 c6b4 h3h4 b4c6 h4h5 c6b4 h5h6 b4d3");
    assert_eq!(words(&game), None);
    play(&mut game, "c3d3");
    // Knights: White had none, Black has one left.
    assert_eq!(words(&game), None);
    play(&mut game, "g8f6 h6g7 f6d5 d3d5");
    assert_eq!(words(&game).as_deref(), Some("white wins by extinction"));
}

/// Each side has those kinds at stake that it starts with: where the sides start with different ones, and in games that
/// have kinds of their own.
#[test]
fn each_side_has_the_kinds_of_its_start_at_stake() {
    let all = "extinction-chess:both:target=all,royal_king=false";
    for (game, without_a_kind) in [
        ("horde", "rnb1kbnr/pppppppp/8/1PP2PP1/PPPPPPPP/PPPPPPPP/PPPPPPPP/PPPPPPPP w kq - 0 1"),
        ("monster", "rnb1kbnr/pppppppp/8/8/8/8/2PPPP2/4K3 w kq - 0 1"),
        ("capablanca", "rn1bqkbcnr/pppppppppp/10/10/10/10/PPPPPPPPPP/RNABQKBCNR w KQkq - 0 1"),
        ("xiangqi", "rnb1k1bnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"),
    ] {
        let rules = catalogue().load(game, &[all]).unwrap_or_else(|it| panic!("{it}"));
        let result = |fen| {
            let game = rules.start(fen).unwrap_or_else(|it| panic!("{it}"));
            game.result().map(ToString::to_string)
        };
        assert_eq!(result(None), None, "{game}");
        assert_eq!(result(Some(without_a_kind)).as_deref(), Some("white wins by extinction"));
    }
}

/// The kinds at stake stay the same when another preset brings a kind, which is numbered before those of the game.
#[test]
fn kinds_that_come_later_are_not_at_stake() {
    let catalogue = catalogue();
    let all = "extinction-chess:both:target=all";
    let mut rules = catalogue.load::<&str>("capablanca", &[]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
    switch(&catalogue, &mut rules, &mut game, &[all]);
    play(&mut game, "e2e4 e7e5");
    switch(&catalogue, &mut rules, &mut game, &[all, "griffon"]);
    assert_eq!(game.result(), None);
    // One activation leaves without the kinds of the other side.
    switch(&catalogue, &mut rules, &mut game, &["extinction-chess:white:target=all"]);
    assert!(facts(&game, "extinction-chess.black_had").is_empty());
    assert_eq!(facts(&game, "extinction-chess.white_had").len(), 8);
}

#[test]
fn takeback_goes_back_to_the_rules_of_the_time() {
    let catalogue = catalogue();
    let (mut rules, mut game) = start(&catalogue, &[], None);
    let mut hashes = vec![game.hash()];
    for (uci, then) in [("e2e4", None), ("d7d5", Some("piece-hp")), ("e4d5", None), ("d5e4", None)]
    {
        play(&mut game, uci);
        if let Some(preset) = then {
            switch(&catalogue, &mut rules, &mut game, &[preset]);
        }
        hashes.push(game.hash());
    }
    hashes.pop();
    while let Some(hash) = hashes.pop() {
        assert!(game.takeback().is_some());
        assert_eq!(game.hash(), hash);
        is_as_derived_afresh(&mut game);
    }
    assert!(game.takeback().is_none());
    play(&mut game, "e2e4 d7d5 e4d5 d8d5");
}

#[test]
fn a_duration_ends_an_activation() {
    let catalogue = catalogue();
    let (_, mut game) =
        start(&catalogue, &["piece-hp:white:turns=2", "piece-shield:both:turns=3"], None);
    assert_eq!(facts(&game, "hp").len(), 16);
    play(&mut game, "e2e4");
    assert_eq!(active(&game), ["piece-hp:white:turns=1,hp=2", "piece-shield:both:turns=2"]);
    play(&mut game, "e7e5");
    assert_eq!(active(&game), ["piece-hp:white:turns=1,hp=2", "piece-shield:both:turns=1"]);
    assert_eq!(facts(&game, "shield").len(), 32);
    play(&mut game, "d2d4");
    assert!(active(&game).is_empty(), "{:?}", active(&game));
    assert!(facts(&game, "hp").is_empty() && facts(&game, "shield").is_empty());
    let mut notes: Vec<&str> = game.history()[2].notes().iter().map(|it| &**it).collect();
    notes.sort_unstable();
    assert_eq!(notes, ["piece-hp ends for white", "piece-shield ends for both"]);
    game.takeback();
    assert_eq!(facts(&game, "shield").len(), 32);
    is_as_derived_afresh(&mut game);
}

#[test]
fn a_refusal_gives_every_reason_and_changes_nothing() {
    let catalogue = catalogue();
    let (rules, mut game) = start(&catalogue, &["piece-hp"], None);
    let before = (game.hash(), active(&game));
    let refused = |game: &mut Game, requests: &[&str]| -> String {
        let error = catalogue.set_active(&rules, game, requests);
        error.map(|_| String::new()).unwrap_or_else(|it| it.to_string())
    };
    let text = refused(
        &mut game,
        &["piece-hp:both:hp=10,turns=0", "piece-shield:green", "dual-king", "weak-dual-king:white"],
    );
    assert_eq!(
        text,
        "option turns of preset piece-hp is a number of turns, at least 1, not \"0\"; \
         preset piece-shield has no scope green: a scope is white, black or both; \
         dual-king:both:promote_to_king=false and weak-dual-king:white:last_king_royal=false are \
         incompatible: one forbids leaving a king attacked, the other lets kings be captured"
    );
    let text = refused(&mut game, &["piece-hp:both:hp=10"]);
    assert_eq!(text, "option hp of preset piece-hp is a number from 1 to 9, not \"10\"");
    let text = refused(&mut game, &["piece-hpp", "piece-hp:", "piece-shield:both:x=1"]);
    assert!(text.contains("there is no preset piece-hpp; did you mean piece-hp?; "), "{text}");
    assert!(text.contains("the scope is empty"), "{text}");
    let text = refused(&mut game, &["piece-shield", "piece-shield:white"]);
    assert!(text.ends_with("are the same preset, twice for one side"), "{text}");
    assert_eq!((game.hash(), active(&game)), before);
}

/// Who is required stays, and who requires waits until it is there.
#[test]
fn requirements_hold_through_every_change() {
    let catalogue = catalogue();
    let (rules, mut game) = start(&catalogue, &["piece-hp", "king-heals"], None);
    play(&mut game, "e2e4");
    let before = (game.hash(), active(&game));
    for (requests, reason) in [
        (&["king-heals"][..], "king-heals:both requires piece-hp for a side that it applies to"),
        (&["piece-hp:white", "king-heals:black"], "king-heals:black requires piece-hp"),
        (&["berserker"], "berserker:both requires piece-hp"),
    ] {
        let refused = catalogue.set_active(&rules, &mut game, requests).expect_err("it requires");
        assert!(refused.to_string().contains(reason), "{refused}");
        assert_eq!((game.hash(), active(&game)), before);
    }
    is_as_derived_afresh(&mut game);
}

/// Rules of a game that name the kinds of its own preset are not rules without it.
#[test]
fn what_the_rules_of_a_game_need_is_not_switched_off() {
    let catalogue = catalogue();
    for (name, own) in [("makruk", "makruk"), ("xiangqi", "cannon")] {
        let rules = catalogue.load::<&str>(name, &[]).unwrap_or_else(|it| panic!("{it}"));
        let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
        let before = (game.hash(), active(&game));
        for requests in [&[][..], &["three-check"]] {
            let refused = catalogue.set_active(&rules, &mut game, requests).expect_err("no kinds");
            let needed = format!("the rules of {name} need preset {own}: leave it active");
            assert_eq!(refused.to_string(), needed);
            assert_eq!((game.hash(), active(&game)), before);
        }
        let both = catalogue.set_active(&rules, &mut game, &[own, "three-check"]);
        both.unwrap_or_else(|it| panic!("{it}"));
    }
}

/// A reaction that has itself happen again: the error names the cycle, and nothing has changed.
#[test]
fn a_preset_that_triggers_itself_is_stopped() {
    let mut catalogue = catalogue();
    let echo = preset(
        "echo",
        "on move(p, _) in after when active('echo, c), color(p, c) do raise damage(p, 1, 'capture, p).\n\
         on damage(p, n, k, b) in absorb when active('echo, _) do raise damage(p, n, k, b).\n",
    );
    catalogue.add(echo).unwrap_or_else(|it| panic!("{it}"));
    let (_, mut game) = start(&catalogue, &["echo:black", "piece-hp"], None);
    play(&mut game, "e2e4");
    let before = game.hash();
    let world = game.world_mut();
    let mv = rulemate::internals::moves::pseudo_moves(world)[0].clone();
    let refused = world.fire(mv.action, &mv.args).expect_err("it never ends");
    assert_eq!(
        refused.to_string(),
        "events raise events more than 32 deep: damage (echo.dl:4) -> damage (echo.dl:4)"
    );
    assert_eq!(game.hash(), before);
}

#[test]
fn presets_may_come_and_go_many_times() {
    let catalogue = catalogue();
    let (mut rules, mut game) = start(&catalogue, &[], None);
    let sets: [&[&str]; 2] = [&["piece-hp", "piece-shield"], &[]];
    // More often than there are entities: those that are gone leave room.
    for round in 0..80 {
        let set = sets[round % 2];
        rules = catalogue.set_active(&rules, &mut game, set).unwrap_or_else(|it| panic!("{it}"));
        assert_eq!(game.legal_moves().len(), 20);
    }
}

// --- what is told, and what is kept -----------------------------------------------------------------

/// The record of a move is data: who did what at which point, the facts, effects and notes.
#[test]
fn a_move_is_told_as_data() {
    let mut catalogue = catalogue();
    let sparks = preset(
        "sparks",
        ".event flash(square: Square, ttl: Int) \"{square} flashes for {ttl}\"\n\
         on move(_, t) in after when active('sparks, 'white) do emit flash(t, 500).\n",
    );
    catalogue.add(sparks).unwrap_or_else(|it| panic!("{it}"));
    let fen = "4k3/8/8/3p4/8/8/3Q4/4K3 w - - 0 1";
    let (_, mut game) = start(&catalogue, &["queen-splits", "sparks"], Some(fen));
    play(&mut game, "d2d5 e8e7");
    let told = game.report(0).unwrap_or_else(|| panic!("it was played"));
    assert_eq!(told.notes, ["the white queen on d2 splits into a rook on d5 and a bishop on d2"]);
    assert_eq!(told.emitted.len(), 1);
    assert_eq!(told.emitted[0].name, "sparks::flash");
    assert_eq!(told.emitted[0].args[0], ("square".to_string(), "d5".to_string()));
    let split = told.steps.iter().find(|it| it.preset.as_deref() == Some("queen-splits"));
    let split = split.unwrap_or_else(|| panic!("{told:?}"));
    assert_eq!((split.stage.as_str(), split.on.name.as_str()), ("leave", "capture"));
    assert!(split.place.starts_with("rules/presets/queen-splits.dl:"), "{}", split.place);
    let is = |attribute: &str, was: Option<&str>, is: Option<&str>| {
        told.facts.iter().any(|it| {
            it.attribute == attribute && it.was.as_deref() == was && it.is.as_deref() == is
        })
    };
    assert!(is("kind", Some("queen"), Some("rook")) && is("kind", None, Some("bishop")));
    assert!(is("turn", Some("white"), Some("black")) && is("kind", Some("pawn"), None));
    let json = serde_json::to_value(&told).unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(json["steps"][0]["on"]["name"], "move");
    // A move that only core rules see has facts, and no steps.
    let (_, mut plain) = start(&catalogue, &[], None);
    play(&mut plain, "e2e4");
    let told = plain.report(0).unwrap_or_else(|| panic!("it was played"));
    assert!(told.steps.is_empty() && told.facts.len() >= 3, "{told:?}");
    assert!(plain.report(1).is_none());
}

/// What a preset states about its activation is gone with it.
#[test]
fn the_state_of_a_preset_ends_with_its_activation() {
    let catalogue = catalogue();
    let fen = "4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1";
    let (rules, mut game) = start(&catalogue, &["capture-to-win"], Some(fen));
    play(&mut game, "e4d5");
    assert_eq!(
        game.result().map(ToString::to_string).as_deref(),
        Some("white wins by first capture")
    );
    assert_eq!(facts(&game, "capture-to-win.winner"), [Value::Member(0)]);
    let off = catalogue.set_active::<&str>(&rules, &mut game, &[]);
    off.unwrap_or_else(|it| panic!("{it}"));
    assert!(facts(&game, "capture-to-win.winner").is_empty() && game.result().is_none());
}

// --- definitions ---------------------------------------------------------------------------------

fn preset(name: &str, rest: &str) -> Source {
    let text = format!(".meta preset \"{name}\"\n.domain Preset += {{ {name} }}\n{rest}");
    Source { path: format!("{name}.dl"), text: text.into() }
}

#[test]
fn everything_wrong_with_definitions_is_said_at_once() {
    let mut catalogue = catalogue();
    for source in [
        preset("one", ".meta requires \"two\"\n.meta incompatible \"piece-hp: no\"\n"),
        preset(
            "two",
            ".meta requires \"three\"\n.input mana(piece: Entity, n: Int) key attr mana\n.export mana\n",
        ),
        preset(
            "three",
            ".meta requires \"one\"\n.input full(piece: Entity) flag attr mana\n.export full\n",
        ),
        preset(
            "four",
            ".meta requires \"piece-hpp\"\n.meta incompatible \"nothing-like-it: no\"\n",
        ),
        preset("five", ".input term(activation: Entity, n: Int) key attr \"five.turns\"\n"),
    ] {
        catalogue.add(source).unwrap_or_else(|it| panic!("{it}"));
    }
    let error = catalogue.load::<&str>("chess", &[]).expect_err("the definitions make no sense");
    assert!(matches!(error, LoadError::Definitions(_)));
    assert_eq!(
        error.to_string(),
        "preset one is incompatible with piece-hp, which does not say so of one; \
         preset four requires piece-hpp, which does not exist; did you mean piece-hp?; \
         preset four is incompatible with nothing-like-it, which does not exist; \
         presets require each other: one -> two -> three -> one; \
         attribute mana is Int of entities in preset two and Bool of entities in preset three; \
         preset five has an option turns, which cannot be chosen: in an activation, turns says how long it lasts"
    );
}

/// The cycle of later presets is found though an earlier preset leads to a part of it first.
#[test]
fn a_cycle_beside_one_of_earlier_presets_is_said_too() {
    let mut catalogue = catalogue();
    for source in [
        preset("one", ".meta requires \"four\"\n"),
        preset("two", ".meta requires \"three\"\n.meta requires \"one\"\n"),
        preset("three", ".meta requires \"four\"\n"),
        preset("four", ".meta requires \"two\"\n"),
    ] {
        catalogue.add(source).unwrap_or_else(|it| panic!("{it}"));
    }
    let error = catalogue.definitions().expect_err("two cycles");
    assert_eq!(
        error.to_string(),
        "presets require each other: one -> four -> two -> one; \
         presets require each other: two -> three -> four -> two"
    );
}

/// Names that are missing since there are too many are not told.
#[test]
fn presets_may_be_too_many_for_one_program() {
    let mut catalogue = catalogue();
    for name in ["first", "second"] {
        let relations = (0..500).map(|it| format!(".decl {name}{it}() open \"it is so\"\n"));
        let added = catalogue.add(preset(name, &relations.collect::<String>()));
        added.unwrap_or_else(|it| panic!("{it}"));
    }
    let why = catalogue.load("chess", &["first", "second"]).expect_err("they are too many");
    assert_eq!(
        why.to_string(),
        "chess with first and second has too many rules: leave a preset out (a program may have 1024 relations, \
         this one has 1025)"
    );
}

#[test]
fn the_presets_of_the_package_make_sense() {
    catalogue().definitions().unwrap_or_else(|it| panic!("{it}"));
}

/// Of two presets that override the same piece the first one wins, and one line says so.
#[test]
fn the_first_of_two_overriding_presets_wins() {
    let jumpy = |name: &str, x: i32| {
        preset(
            name,
            &format!(
                "overrides('{name}, p) :- active('{name}, c), color(p, c), kind(p, 'knight).\n\
                 goes(p, t) :- overrides('{name}, p), !overruled('{name}, p), own(p), at(p, s), \
                 offset(s, {x}, 2, t), !occupied(t).\n"
            ),
        )
    };
    let mut catalogue = catalogue();
    for source in [jumpy("straight", 0), jumpy("askew", 2)] {
        catalogue.add(source).unwrap_or_else(|it| panic!("{it}"));
    }
    let (mut rules, mut game) = start(&catalogue, &["straight", "askew"], None);
    assert_eq!(
        Catalogue::conflicts(&mut game),
        ["straight and askew say how one piece moves: straight goes before"]
    );
    let has = |game: &mut Game, uci: &str| game.listing().iter().any(|it| it.0 == uci);
    assert!(has(&mut game, "b1b3") && !has(&mut game, "b1d3"));
    switch(&catalogue, &mut rules, &mut game, &["askew", "straight"]);
    assert!(!has(&mut game, "b1b3") && has(&mut game, "b1d3"));
    assert_eq!(Catalogue::conflicts(&mut game).len(), 1);
    // A preset may be activated for each side by itself: it does not overrule itself, nor do two overrule each other.
    switch(&catalogue, &mut rules, &mut game, &["straight:white", "straight:black"]);
    assert!(has(&mut game, "b1b3"));
    assert_eq!(Catalogue::conflicts(&mut game).len(), 0);
    switch(&catalogue, &mut rules, &mut game, &["straight:black", "askew", "straight:white"]);
    assert!(has(&mut game, "b1b3") && !has(&mut game, "b1d3"));
    assert_eq!(Catalogue::conflicts(&mut game).len(), 1);
}

/// Entities keep their ids, and new ones get theirs as ever.
#[test]
fn ids_outlive_a_switch() {
    let catalogue = catalogue();
    let (mut rules, mut game) = start(&catalogue, &["piece-shield"], None);
    let next = game.facts().get_raw(GAME, NEXT_ENTITY);
    switch(&catalogue, &mut rules, &mut game, &["piece-shield", "piece-hp"]);
    assert_eq!(game.facts().get_raw(GAME, NEXT_ENTITY), next.map(|it| it + 1));
    let attr = game.program().schema.attribute_named("preset").unwrap_or_else(|| panic!("preset"));
    let entities: Vec<EntityId> = game.facts().entities_with(attr).collect();
    assert_eq!(entities.len(), 2);
    assert_eq!(entities[0], EntityId(1));
}

/// Sets that every game of chess can change to.
fn sets() -> impl Iterator<Item = [&'static str; 2]> {
    let ones = ["piece-shield", "king-heals", "piece-hp", "poisoned-squares", "cannon"];
    let others = ["berserker", "explosive-rook", "queen-splits", "knights-leap-twice", "stamina"];
    ones.into_iter().flat_map(move |one| others.into_iter().map(move |other| [one, other]))
}

#[test]
fn a_game_is_played_by_a_number_of_rule_sets_and_by_no_more() {
    const ONES: [&str; 6] =
        ["cannon", "stamina", "knight-immunity", "queen-splits", "explosive-rook", "piece-shield"];
    let catalogue = catalogue();
    let (mut rules, mut game) = start(&catalogue, &[], None);
    let mut refused = None;
    for bits in 1..1 << ONES.len() {
        let set: Vec<&str> =
            (0..ONES.len()).filter(|it| bits >> it & 1 == 1).map(|it| ONES[it]).collect();
        let hash = game.hash();
        match catalogue.set_active(&rules, &mut game, &set) {
            Ok(it) => rules = it,
            Err(error) => {
                assert_eq!(game.hash(), hash, "nothing has changed");
                refused = Some(error.to_string());
                break;
            }
        }
    }
    let refused = refused.expect("there are more than may be");
    assert!(refused.contains("32 different sets of presets, which is the maximum"), "{refused}");
    let mut programs: Vec<_> = game.programs().map(Arc::as_ptr).collect();
    programs.dedup();
    assert_eq!(programs.len(), rulemate::internals::game::RULE_SETS);
    // Back to those that it had it may go.
    switch(&catalogue, &mut rules, &mut game, &["cannon"]);
    switch(&catalogue, &mut rules, &mut game, &[]);
    play(&mut game, "e2e4 e7e5");
    while game.takeback().is_some() {}
    is_as_derived_afresh(&mut game);
}

/// Each change is kept with the game, so a game has only so many, however few its rule sets are.
#[test]
fn a_game_changes_its_rules_so_often_and_no_more() {
    let catalogue = catalogue();
    let (mut rules, mut game) = start(&catalogue, &[], None);
    let mut changes = 0;
    let refused = loop {
        let set: &[&str] = if changes % 2 == 0 { &["cannon"] } else { &[] };
        let hash = game.hash();
        match catalogue.set_active(&rules, &mut game, set) {
            Ok(it) => rules = it,
            Err(error) => {
                assert_eq!(game.hash(), hash, "nothing has changed");
                break error.to_string();
            }
        }
        changes += 1;
        assert!(changes <= rulemate::internals::game::SWITCHES, "no end");
    };
    assert_eq!(changes, rulemate::internals::game::SWITCHES);
    assert!(refused.contains("its presets 1000 times, which is the maximum"), "{refused}");
    assert_eq!(game.programs().count(), 2);
    // What has changed on the way to a move that is taken back counts no longer.
    play(&mut game, "e2e4 e7e5");
    is_as_derived_afresh(&mut game);
}

/// Presets that do nothing but take room: a text counts with the programs that are made of it.
pub(crate) fn padding() -> Vec<Source> {
    let pad = |at: usize| {
        let line = format!("% {}\n", "room ".repeat(200));
        let head = format!(".meta preset \"pad{at}\"\n.domain Preset += {{ pad{at} }}\n");
        Source { path: format!("rules/presets/pad{at}.dl"), text: (head + &line.repeat(60)).into() }
    };
    (0..16).map(pad).collect()
}

/// Games, each with a set of presets of its own, among them those that take room.
pub(crate) fn large_sets() -> impl Iterator<Item = (&'static str, Vec<String>)> {
    const ONES: [&str; 6] =
        ["cannon", "stamina", "knight-immunity", "queen-splits", "explosive-rook", "piece-shield"];
    let pads = || (0..16).map(|at| format!("pad{at}"));
    let sets = (0..1 << ONES.len()).map(move |bits| {
        let ones = ONES.into_iter().enumerate().filter(move |it| bits >> it.0 & 1 == 1);
        ones.map(|it| it.1.to_owned()).chain(pads()).collect::<Vec<String>>()
    });
    ["chess", "chess960", "pawns-only"]
        .into_iter()
        .flat_map(move |game| sets.clone().map(move |set| (game, set)))
}

/// Programs are counted by their bytes: so many are kept for the next who asks, and so many may be in use.
#[test]
fn programs_are_kept_up_to_a_number_of_bytes_and_in_use_up_to_another() {
    const MB: usize = 1 << 20;
    let mut catalogue = catalogue();
    for source in padding() {
        catalogue.add(source).unwrap_or_else(|it| panic!("{it}"));
    }
    let (mut made, mut most) = (0, 0);
    for (game, set) in large_sets() {
        let rules = catalogue.load(game, &set).unwrap_or_else(|it| panic!("{it}"));
        made += rules.plan().heap_bytes();
        drop(rules);
        most = most.max(catalogue.program_bytes());
        if made > 256 * MB {
            break;
        }
    }
    assert!(made > 256 * MB && most < 128 * MB, "{most} bytes of {made} are kept");

    let mut held = Vec::new();
    let full = large_sets().find_map(|(game, set)| match catalogue.load(game, &set) {
        Ok(rules) => {
            held.push(rules);
            None
        }
        Err(error) => Some(error),
    });
    assert!(matches!(full, Some(LoadError::Full { .. })), "{full:?} after {}", held.len());
    assert!(catalogue.program_bytes() < 640 * MB && held.len() > 32, "{}", held.len());
    // Those that are known are there still; and when others are gone, there is room again.
    let (game, set) = large_sets().next().expect("a set");
    assert!(catalogue.load(game, &set).is_ok());
    let (game, set) = large_sets().last().expect("a set");
    assert!(catalogue.load(game, &set).is_err());
    held.clear();
    assert!(catalogue.load(game, &set).is_ok());
}

#[test]
fn programs_that_no_game_uses_make_room() {
    let catalogue = catalogue();
    let mut most = 0;
    for set in sets() {
        let (mut rules, mut game) = start(&catalogue, &[], None);
        for set in [&set[..], &set[..1], &[]] {
            // Some do not go together here; that costs a program as well.
            if let Ok(it) = catalogue.set_active(&rules, &mut game, set) {
                rules = it;
            }
        }
        most = most.max(catalogue.program_bytes());
    }
    // What is kept, and what the game at hand holds beyond it.
    assert!(most < 128 << 20, "{most} bytes of programs");
    // The same rules are the same program for every caller.
    let (_, one) = start(&catalogue.clone(), &["cannon", "stamina"], None);
    let (_, other) = start(&catalogue, &["cannon", "stamina"], None);
    assert!(Arc::ptr_eq(one.plan(), other.plan()));
}

#[test]
fn rules_come_back_when_turns_are_taken_back_past_a_change_and_back_again() {
    let catalogue = catalogue();
    let (mut rules, mut game) = start(&catalogue, &[], None);
    play(&mut game, "e2e4");
    switch(&catalogue, &mut rules, &mut game, &["cannon"]);
    play(&mut game, "e7e5");
    switch(&catalogue, &mut rules, &mut game, &[]);
    play(&mut game, "g1f3");
    assert!(game.takeback().is_some() && game.takeback().is_some());
    assert_eq!(active(&game), ["cannon:both"]);
    is_as_derived_afresh(&mut game);
    play(&mut game, "d7d5");
    assert!(game.takeback().is_some() && game.takeback().is_some());
    assert_eq!(active(&game), Vec::<String>::new());
    is_as_derived_afresh(&mut game);
    play(&mut game, "d2d4");
    is_as_derived_afresh(&mut game);
}

/// Catalogues number their files each in its own way, and a save has one of its own.
#[test]
fn rules_of_another_catalogue_go_on_in_this_one() {
    let here = catalogue();
    let (rules, mut game) = start(&here, &["coregal"], None);
    game.play_text("e2e4").unwrap_or_else(|it| panic!("{it}"));
    let save = Save::of(&game, &rules, Content { rules: true }).unwrap_or_else(|it| panic!("{it}"));
    let restored = save.restore(&here, RulesFrom::Save).unwrap_or_else(|it| panic!("{it}"));
    let (mut rules, mut again) = (restored.rules, restored.game);
    for set in [&["griffon"][..], &[], &["coregal"]] {
        switch(&here, &mut rules, &mut again, set);
        let (_, mut fresh) = start(&here, &["coregal"], None);
        fresh.play_text("e2e4").unwrap_or_else(|it| panic!("{it}"));
        here.set_active(&rules, &mut fresh, set).unwrap_or_else(|it| panic!("{it}"));
        assert!(Arc::ptr_eq(again.plan(), fresh.plan()), "{set:?}");
        let save = Save::of(&again, &rules, Content::default()).unwrap_or_else(|it| panic!("{it}"));
        let restored = save.restore(&here, RulesFrom::Here).unwrap_or_else(|it| panic!("{it}"));
        assert_eq!(restored.game.hash(), again.hash());
    }
    // A game of a file that is not here is not taken for another one.
    let mut more = catalogue();
    let text = ".meta game \"mine\"\n.meta title \"Mine\"\n.meta layout \"orthodox\"\n";
    more.add(Source { path: "mine/mine.dl".into(), text: text.into() }).expect("metadata");
    let rules = more.load("mine", &[""; 0]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
    let before = game.hash();
    let refused = here.set_active(&rules, &mut game, &["griffon"]).expect_err("no such game");
    assert!(refused.to_string().contains("there is no game mine"), "{refused}");
    assert_eq!(game.hash(), before);
}
