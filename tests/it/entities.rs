//! Ids of entities: those of entities that are gone come back, by a rule that facts alone decide, so
//! that evaluators, the checker, saves, undo and rewinds agree; and want of room is told.

use std::path::Path;
use std::sync::Arc;

use rulemate::internals::audit;
use rulemate::internals::derive::explain::{Finding, Limits};
use rulemate::internals::derive::{Backend, Refusal, World};
use rulemate::internals::facts::{EntityId, Session};
use rulemate::internals::game::{Game, PlayError};
use rulemate::internals::moves::{Move, divide, perft, turns};
use rulemate::internals::presets::save::{Content, Form, RulesFrom, Save};
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::internals::proof::Checker;
use rulemate::internals::rules::{Program, Source};

use crate::cli::{rulemate, rulemate_reading};
use crate::fixture::{program, world};
use crate::random_rules::Choices;
use crate::reactions::fire_alike;

fn catalogue(folder: &str) -> Catalogue {
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    catalogue.add_path(Path::new(folder)).expect("the rules are read");
    catalogue
}

const NO_ROOM: &str = "there is no room for another entity: 64 are the most";

/// Drops where there are any, else captures, else whatever there is.
fn choose(game: &mut Game, choices: &mut Choices) -> Option<(String, Move)> {
    let mut moves = game.listing();
    let drops: Vec<_> = moves.iter().filter(|it| it.0.contains('@')).cloned().collect();
    if !drops.is_empty() && !choices.one_in(3) {
        moves = drops;
    } else {
        let before = game.facts().entities_with(game.contract().at.attr).count();
        let contract = game.contract().clone();
        let world = game.world_mut();
        let captures = |it: &&(String, Move)| {
            let mark = world.mark();
            let fired = world.fire(it.1.action, &it.1.args).is_ok();
            let after = world.facts().entities_with(contract.at.attr).count();
            world.rollback(mark);
            fired && after < before
        };
        let captures: Vec<_> = moves.iter().filter(captures).cloned().collect();
        if !captures.is_empty() {
            moves = captures;
        }
    }
    (!moves.is_empty()).then(|| moves.swap_remove(choices.below(moves.len())))
}

/// The longest of some random games of crazyhouse, with the number of its drops.
fn crazyhouse(rules: &Ruleset) -> (Game, usize) {
    let played = |seed| {
        let mut choices = Choices(seed);
        let mut game = rules.start(None).expect("it starts");
        let mut drops = 0;
        while game.history().len() < 260 && drops < 60 {
            let Some((text, mv)) = choose(&mut game, &mut choices) else { break };
            drops += usize::from(text.contains('@'));
            game.play(&mv).unwrap_or_else(|it| panic!("{text} after {drops} drops: {it}"));
        }
        (game, drops)
    };
    (0..6).map(played).max_by_key(|it| it.1).expect("a game")
}

/// Sixty drops make sixty entities, and there are never more than thirty-odd at a time. What was
/// played comes back by takebacks, branches, what hosts keep, facts and saves, and audits agree.
#[test]
fn a_long_game_of_crazyhouse_never_runs_out_of_ids() {
    let catalogue = catalogue("tests/data/crazyhouse");
    let rules = catalogue.load::<&str>("counted-hands", &[]).expect("it loads");
    let (mut game, drops) = crazyhouse(&rules);
    assert!(drops >= 40, "{drops}");
    let hash = game.hash();

    let mut back = game.clone();
    let mut taken = Vec::new();
    while let Some(record) = back.takeback() {
        taken.push(record.mv.clone());
    }
    assert_eq!(back.hash(), back.start().hash());
    for mv in taken.iter().rev() {
        back.play(mv).expect("it was played before");
    }
    assert_eq!(back.hash(), hash);

    let kept = game.snapshot().expect("facts that can be kept");
    assert_eq!(rules.restore_snapshot(&kept).expect("it comes back").hash(), hash);

    // What goes on from a list of facts makes the same entities.
    let half = game.history().len() * 3 / 4;
    let mut branch = game.branch(half).expect("that many were played");
    let mut resumed = rules.resume_text(&branch.to_json()).expect("it goes on");
    for record in &game.history()[half..] {
        branch.play(&record.mv).expect("it was played before");
        resumed.play(&record.mv).expect("the same facts");
        assert_eq!(ids(&resumed), ids(&branch), "{}", record.uci);
    }
    assert_eq!(branch.hash(), hash);

    // The checker takes the actions by the letter of the rules.
    let moves = game.listing();
    for (text, _) in moves.iter().filter(|it| it.0.contains('@')).take(3) {
        let explained = game.explain_effects(text, Limits::default()).expect("a move");
        let Finding::Tried(trial) = &explained.finding else { panic!("no trial of {text}") };
        let checked = Checker::new(game.program(), game.facts()).trial(trial);
        assert!(checked.is_ok(), "{text}: {checked:?}");
    }

    for form in [Form::Json, Form::Binary] {
        let save = Save::of(&game, &rules, Content::default()).expect("it replays").write(form);
        let (read, doubt) = Save::read(&save, "counted-hands").expect("our own save");
        assert_eq!(doubt, None);
        let restored = read.restore(&catalogue, RulesFrom::Here).expect("it comes back").game;
        assert_eq!(restored.hash(), hash);
        if form == Form::Binary {
            audit::save(&save, "counted-hands", &catalogue, RulesFrom::Here, &mut |_| {})
                .expect("the audit agrees");
        }
    }
}

/// What stands where, by id.
fn ids(game: &Game) -> Vec<(EntityId, Option<i64>)> {
    let at = game.contract().at.attr;
    game.facts().entities_with(at).map(|it| (it, game.facts().get_raw(it, at))).collect()
}

// --- the rule ---------------------------------------------------------------------------------------

const THINGS: &str = r#"
.domain Thing entities 6
.input life(thing: Thing, points: Int) key attr life "{thing} has {points}"
.input owner(thing: Thing, of: Thing) key attr owner "{thing} belongs to {of}"
.action make(points: Int) "a thing of {points} is made"
make(n) :- n = 1.
.action own(thing: Thing, of: Thing) "{thing} is given to {of}"
own(t, o) :- life(t, _), life(o, _).
.action end(thing: Thing) "{thing} is gone"
end(t) :- life(t, _).
.action swap(thing: Thing) "{thing} becomes another thing"
swap(t) :- life(t, _).
.action wake(thing: Thing) "{thing} comes to life, and another beside it"
wake(t) :- life(t, _).
.action bare() "two things are made, and one remains"
bare() :- life(_, _).
on make(n) do spawn x, set life(x, n).
on own(t, o) do set owner(t, o).
on end(t) do remove t.
on swap(t) do remove t, spawn x, set life(x, 1).
.stages first, second default first
.action trade(thing: Thing) "{thing} goes, and then another thing comes"
trade(t) :- life(t, _).
on trade(t) in first do remove t.
on trade(_) in second do spawn x, set life(x, 3).
on bare() in first do spawn x.
on wake(t) in first do set life(t, 9).
on wake(_) in second do spawn x, set life(x, 1).
on bare() in second do spawn y, set life(y, 2).
"#;

fn act(world: &mut World, name: &str, args: &[i64]) -> Result<(), String> {
    let program = Arc::clone(world.program());
    let is_it = |it: &&rulemate::internals::rules::Action| program.relation(it.rel).name == name;
    let action = program.actions.iter().find(is_it).expect("declared").id;
    let done = fire_alike(world, action, args).map(drop).map_err(|it| it.to_string());
    world.commit();
    done
}

fn living(world: &World) -> Vec<u32> {
    let life = world.program().schema.attribute_named("life").expect("declared");
    world.facts().entities_with(life).map(|it| it.0).collect()
}

fn things() -> World {
    let program: Arc<Program> = program(THINGS);
    let mut world = world(&program, Backend::Bits);
    for _ in 0..5 {
        act(&mut world, "make", &[1]).expect("there is room");
    }
    world
}

#[test]
fn ids_are_given_again_lowest_first_unless_a_fact_points_to_them() {
    let mut world = things();
    assert_eq!(living(&world), [1, 2, 3, 4, 5]);
    let refused = act(&mut world, "make", &[1]).expect_err("there is no room");
    assert_eq!(refused, "there is no room for another entity: 6 are the most");
    assert_eq!(world.facts().room(), 0);
    // #5 belongs to #3, which goes: its id is still meant by somebody.
    act(&mut world, "own", &[5, 3]).expect("both are there");
    act(&mut world, "end", &[3]).expect("it is there");
    assert!(act(&mut world, "make", &[1]).is_err());
    act(&mut world, "end", &[4]).expect("it is there");
    act(&mut world, "end", &[2]).expect("it is there");
    act(&mut world, "make", &[7]).expect("there is room");
    assert_eq!(living(&world), [1, 2, 5]);
    act(&mut world, "end", &[5]).expect("it is there");
    act(&mut world, "make", &[7]).expect("there is room");
    act(&mut world, "make", &[7]).expect("there is room");
    assert_eq!(living(&world), [1, 2, 3, 4]);
}

/// What an action has removed, others mean until it is over; and what it has made is there, even if
/// no fact says so.
#[test]
fn one_action_gives_no_id_twice() {
    let mut world = things();
    assert!(act(&mut world, "swap", &[2]).is_err(), "#2 is given again only after this action");
    assert_eq!(living(&world), [1, 2, 3, 4, 5]);
    assert!(act(&mut world, "trade", &[2]).is_err(), "nor is it when #2 is gone already");
    assert_eq!(living(&world), [1, 2, 3, 4, 5]);
    act(&mut world, "end", &[1]).expect("it is there");
    act(&mut world, "swap", &[2]).expect("there is room");
    assert_eq!(living(&world), [1, 3, 4, 5]);
    assert!(act(&mut world, "bare", &[]).is_err(), "one id is free, and it makes two");
    act(&mut world, "end", &[5]).expect("it is there");
    act(&mut world, "bare", &[]).expect("there is room for two");
    assert_eq!(living(&world), [1, 3, 4, 5]);
    act(&mut world, "trade", &[1]).expect("there is room");
    assert_eq!(living(&world), [2, 3, 4, 5]);
}

/// An id that nothing had, and that an earlier stage of the action mentions, is not given by a later one.
#[test]
fn what_an_action_mentions_is_not_given_by_its_later_stages() {
    let mut world = things();
    for thing in [4, 5] {
        act(&mut world, "end", &[thing]).expect("it is there");
    }
    act(&mut world, "wake", &[4]).expect("there is room");
    assert_eq!(living(&world), [1, 2, 3, 4, 5]);
    for thing in [4, 5] {
        act(&mut world, "end", &[thing]).expect("it is there");
    }
    act(&mut world, "wake", &[5]).expect("there is room");
    assert_eq!(living(&world), [1, 2, 3, 4, 5]);
    act(&mut world, "end", &[5]).expect("it is there");
    assert!(act(&mut world, "wake", &[5]).is_err(), "the only id left is the one that it names");
}

/// Random actions on both evaluators; a world that begins with the same facts goes on alike, and a
/// mark is come back to.
#[test]
fn random_things_come_and_go_alike() {
    let mut choices = Choices(12);
    for _ in 0..40 {
        let mut world = things();
        for _ in 0..40 {
            let all = living(&world);
            let pick = |choices: &mut Choices| {
                all.get(choices.below(all.len().max(1))).copied().map(i64::from)
            };
            let (one, other) = (pick(&mut choices), pick(&mut choices));
            let (name, args) = match (choices.below(7), one, other) {
                (0 | 1, ..) | (_, None, _) | (_, _, None) => ("make", vec![1]),
                (2, Some(one), _) => ("end", vec![one]),
                (3, Some(one), Some(other)) => ("own", vec![one, other]),
                (4, Some(one), _) => ("swap", vec![one]),
                (5, Some(one), _) => ("trade", vec![one]),
                _ => ("bare", vec![]),
            };
            let before = world.facts().hash();
            let mark = world.mark();
            let action = {
                let program = Arc::clone(world.program());
                let fits = |it: &&rulemate::internals::rules::Action| {
                    program.relation(it.rel).name == name
                };
                program.actions.iter().find(fits).expect("declared").id
            };
            let _ = world.fire(action, &args);
            let after = world.facts().hash();
            world.rollback(mark);
            assert_eq!(world.facts().hash(), before);
            // A session with no past: the facts alone.
            let text = rulemate::internals::facts::to_json(world.facts());
            let document =
                rulemate::internals::facts::Document::parse(&text).expect("our own list");
            let fresh: Session = document.session(&world.program().schema).expect("our own list");
            let mut twin = World::new(Arc::clone(world.plan()), Backend::Bits);
            for fact in fresh.all_facts() {
                twin.insert(fact.entity, fact.attr, fact.value).expect("it was there");
            }
            twin.commit();
            let _ = twin.fire(action, &args);
            let _ = act(&mut world, name, &args);
            assert_eq!(world.facts().hash(), after, "{name} {args:?}");
            assert_eq!(twin.facts().hash(), after, "{name} {args:?} from facts");
        }
    }
}

const ECHO: &str = r#"
.meta preset "echo"
.meta legality "rules"
.meta description "A piece is called up, and the game goes back"
.domain Preset += { echo }
.input echo(piece: Entity, n: Int) key attr "echo.n" lasting "{piece} has been called {n} times"
.decl quiet_square(square: Square) "a pawn may be called up on {square}"
quiet_square(t) :- active('echo, _), rank(t, 4), !occupied(t).
.action call_up(to: Square) legality rules uci "P@{to}" san "P@{to}" "a pawn is called up on {to}"
call_up(t) :- quiet_square(t).
.action back(to: Square) legality rules uci "B@{to}" san "B@{to}" "all that was called up is gone"
back(t) :- quiet_square(t), file(t, 1).
on call_up(t) when turn(c) do spawn x, set at(x, t), set kind(x, 'pawn), set color(x, c), set echo(x, 7).
on call_up(_) when at(q, 'e1) do set echo(q, 3).
on back(_) do rewind 2.
"#;

/// A rewind leaves what lasts to those that were there; of those that came later nothing stays, and
/// their ids are free.
#[test]
fn a_rewind_gives_ids_back() {
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    let source = Source { path: "rules/presets/echo.dl".into(), text: ECHO.into() };
    catalogue.add(source).expect("it is new");
    let rules = catalogue.load("chess", &["echo"]).expect("it loads");
    let mut game = rules.start(None).expect("it starts");
    let echo = rules.program().schema.attribute_named("echo.n").expect("declared");
    let room = game.facts().room();
    for round in 0..40 {
        game.play_text("P@e4").unwrap_or_else(|it| panic!("round {round}: {it}"));
        assert_eq!(game.facts().entities_with(echo).count(), 2);
        game.play_text("B@a4").unwrap_or_else(|it| panic!("round {round}: {it}"));
        assert_eq!(game.facts().room(), room);
        let lasting: Vec<_> = game.facts().entities_with(echo).collect();
        assert_eq!(lasting.len(), 1, "that of the king, which was there before");
    }
    let resumed = rules.resume_text(&game.to_json()).expect("its facts make sense");
    assert_eq!(resumed.hash(), game.hash());
    let save = Save::of(&game, &rules, Content::default()).expect("it replays").write(Form::Json);
    audit::save(&save, "chess", &catalogue, RulesFrom::Here, &mut |_| {}).expect("it is so");
}

// --- running out ------------------------------------------------------------------------------------

/// A game with as many pieces as there may be, and two empty squares.
fn full() -> (Catalogue, Ruleset, Game) {
    let catalogue = catalogue("tests/data/hatch");
    let rules = catalogue.load::<&str>("hatching", &[]).expect("it loads");
    let mut game = rules.start(None).expect("it starts");
    while game.facts().room() > 0 {
        let (text, mv) = game.listing().into_iter().find(|it| it.0.contains('@')).expect("a nest");
        game.play(&mv).unwrap_or_else(|it| panic!("{text}: {it}"));
    }
    (catalogue, rules, game)
}

#[test]
fn running_out_refuses_the_action_and_the_game_goes_on() {
    let (_, _, mut game) = full();
    let listed: Vec<String> = game.listing().into_iter().map(|it| it.0).collect();
    for what in ["P@h5", "P@h6", "B@h5", "B@h6"] {
        assert!(listed.iter().any(|it| it == what), "{what} is not listed: {listed:?}");
        let before = game.hash();
        let refused = game.play_text(what).expect_err("there is no room").to_string();
        assert_eq!(refused, NO_ROOM);
        assert_eq!(game.hash(), before, "nothing has changed");
        assert_eq!(game.result(), None);
    }
    let told: Vec<_> = game.view().legal.into_iter().filter(|it| it.refused.is_some()).collect();
    assert_eq!(told.len(), 4);
    assert!(told.iter().all(|it| it.uci.contains('@') && it.refused.as_deref() == Some(NO_ROOM)));
    // A capture makes room for one.
    let pieces = |game: &Game| game.facts().entities_with(game.contract().at.attr).count();
    let before = pieces(&game);
    let moves = game.listing();
    let captures = moves.iter().filter(|it| !it.0.contains('@')).find(|it| {
        let mut then = game.clone();
        then.play(&it.1).is_ok()
            && pieces(&then) < before
            && then.listing().iter().any(|it| it.0 == "P@h6")
    });
    let capture = captures.expect("a capture").1.clone();
    game.play(&capture).expect("it is legal");
    assert_eq!(game.facts().room(), 1);
    game.play_text("P@h6").expect("there is room");
    assert_eq!(game.facts().room(), 0);
    assert!(matches!(game.play_text("P@h5"), Err(PlayError::Refused(Refusal::Entities { .. }))));
}

/// A count or a list that lacks what could not be taken is no count and no list.
#[test]
fn counts_and_turns_tell_what_could_not_be_taken() {
    let (_, rules, mut game) = full();
    let contract = rules.contract().clone();
    let told = |game: &mut Game| game.check().expect_err("it is told").to_string();
    divide(game.world_mut(), &contract, 1);
    let wanted = format!("B@h5 is legal, but cannot be played: {NO_ROOM}");
    assert_eq!(told(&mut game), wanted);
    perft(game.world_mut(), &contract, 2);
    assert!(told(&mut game).ends_with(NO_ROOM));
    let found = turns(game.world_mut(), &contract, 1000);
    assert!(!found.complete);
    assert!(told(&mut game).ends_with(NO_ROOM));
    game.check().expect("it was told");
}

#[test]
fn want_of_room_is_told_at_the_command_line() {
    let (_, _, mut game) = full();
    let fen = game.fen();
    let place = ["--rules", "tests/data/hatch", "--game", "hatching", "--fen", &fen];
    let moves = rulemate(&[&["moves"], &place[..]].concat());
    assert_eq!(moves.code, 0, "{}", moves.err);
    assert!(moves.out.contains("P@h6\n") && moves.out.contains("B@h6\n"), "{}", moves.out);
    let told = format!("legal, but cannot be played: B@h5, B@h6, P@h5, P@h6 ({NO_ROOM})");
    assert!(moves.err.contains(&told), "{}", moves.err);
    let json = rulemate(&[&["moves", "--json"], &place[..]].concat());
    assert_eq!(json.out.matches(NO_ROOM).count(), 4, "{}", json.out);
    for rest in [&["perft", "--depth", "2"][..], &["perft", "--depth", "1", "--divide"]] {
        let counted = rulemate(&[rest, &place[..]].concat());
        assert_eq!(counted.code, 2, "{}", counted.out);
        assert!(counted.err.contains(NO_ROOM), "{}", counted.err);
    }
    let input = format!(
        "setoption name VariantPath value tests/data/hatch\n\
         setoption name UCI_Variant value hatching\n\
         position fen {fen} moves P@h6\nposition fen {fen}\ngo perft 1\ngo depth 1\nd\nquit\n"
    );
    let uci = rulemate_reading(&["uci"], &input).out;
    let lines: Vec<&str> = uci.lines().filter(|it| it.contains(NO_ROOM)).collect();
    assert_eq!(lines.len(), 2, "{uci}");
    assert!(lines[0].starts_with("info string error P@h6: "), "{uci}");
    let best = uci.lines().find(|it| it.starts_with("bestmove")).expect("an answer");
    assert!(!best.contains('@') && !best.contains("none"), "{best}");
    assert!(uci.contains(&format!("Fen: {fen}")), "the game stands as it stood: {uci}");
}
