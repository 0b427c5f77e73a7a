//! Arguments of actions that are not listed, texts that are read and never written, and optional parts of texts:
//! such an action may be told in more detail than the list of actions does.

use rulemate::internals::audit;
use rulemate::internals::derive::explain::{Finding, Limits, Trial};
use rulemate::internals::game::Game;
use rulemate::internals::moves::notation::{parse_san, to_san, to_uci};
use rulemate::internals::moves::{is_legal, legal_moves, perft};
use rulemate::internals::presets::save::{Content, Form, RulesFrom, Save};
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::internals::proof::Checker;
use rulemate::internals::rules::{Source, compile};
use serde_json::{Value, json};

use crate::fixture::rows;
use crate::reactions::fire_alike;

/// Runners that are crowned at the far end of the board: lords, unless their side says otherwise.
const CROWNS: &str = r#"
.meta game "crowns"
.meta title "Crowns"
.meta board "4x1"
.meta start "R2m w 1"
.domain Kind += { runner, lord, page, mule }
.domain Reason += { held }
letter('runner, "r"). letter('lord, "l"). letter('page, "p"). letter('mule, "m").
.input sign(square: Square, n: Int) of Square attr sign "there is a sign on {square}: {n}"
.input steps(piece: Entity, n: Int) key attr steps "{piece} has said {n}"
.static gate(square: Square) "{square} is the gate"
gate('c1).
.decl crownable(piece: Entity, to: Square, kind: Kind) "{piece} may be crowned as a {kind} on {to}"
crownable(p, t, 'page) :- run(p, t), gate(t).
crownable(p, t, 'mule) :- run(p, t), gate(t), !sign(t, _).
.action run(piece: Entity, to: Square)
    given crown: Kind = 'lord from crownable
    given count: Int = 0
    legality PLAYED
    uci "{at(piece)}{to}{letter(crown)}[*{count}]"
    also "{at(piece)}-{to}[={letter(crown)}]" also "{to}!"
    san "{to}[#{sign(to)}]" "{piece} runs to {to}"
run(p, t) :- own(p), color(p, 'white), at(p, s), step('e, s, t), !occupied(t).
run(p, t) :- own(p), color(p, 'black), at(p, s), step('w, s, t), !occupied(t).
on run(p, t) do set at(p, t).
on run(p, t, k, _) in after when gate(t), color(p, 'white) do set kind(p, k), note "{p} is crowned".
on run(p, _, 'lord, n) in after when n > 0 do set steps(p, n).
untenable(c) :- kind(p, 'mule), color(p, c), color(p, 'white).
movable() :- run(_, _).
no_action_result(o, 'held) :- turn(c), opponent(c, x), wins(x, o).
"#;

fn crowns(played: &str, fen: &str) -> (Catalogue, Ruleset, Game) {
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    let text = CROWNS.replace("PLAYED", played);
    let source = Source { path: "mine/crowns.dl".into(), text: text.into() };
    catalogue.add(source).expect("metadata that makes sense");
    let rules = catalogue.load::<&str>("crowns", &[]).unwrap_or_else(|it| panic!("{it}"));
    let game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"));
    (catalogue, rules, game)
}

#[test]
fn what_is_not_listed_may_be_given() {
    for played in ["rules", "simulate"] {
        let (_, _, mut game) = crowns(played, "1R1m w 1");
        let before = game.hash();
        let contract = game.contract().clone();
        // The list has the action once, and so have counts.
        let texts: Vec<String> = game.listing().into_iter().map(|it| it.0).collect();
        assert_eq!(texts, ["b1c1"], "{played}");
        assert_eq!(perft(game.world_mut(), &contract, 1), 1);
        let listed = legal_moves(game.world_mut(), &contract).remove(0);
        // However it is written; the default need not be.
        for text in ["b1c1", "b1c1l", "b1-c1", "b1-c1=l", "c1!", "b1c1*0", "b1c1l*0"] {
            assert_eq!(game.find_move(text).expect(text), listed, "{text}");
        }
        for (text, written, kind, said) in [
            ("b1c1", "b1c1", "lord", None),
            ("b1c1p", "b1c1p", "page", None),
            ("b1-c1=p", "b1c1p", "page", None),
            ("b1c1p*3", "b1c1p*3", "page", None),
            ("b1c1*7", "b1c1*7", "lord", Some(7)),
        ] {
            let mv = game.find_move(text).unwrap_or_else(|it| panic!("{text}: {it}"));
            assert!(is_legal(game.world_mut(), &contract, &mv), "{text}");
            assert_eq!(to_uci(game.world_mut(), &mv), written, "{text}");
            let san = to_san(game.world_mut(), &contract, &mv);
            assert_eq!(parse_san(game.world_mut(), &contract, &san), Ok(mv.clone()), "{san}");
            let (mut world, action) = (game.world().clone(), mv.action);
            fire_alike(&mut world, action, &mv.args).expect("it happens");
            game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
            let found = rows(game.world_mut(), "kind");
            assert!(
                found.iter().any(|it| it.ends_with(&format!(", {kind})"))),
                "{text}: {found:?}"
            );
            assert_eq!(
                rows(game.world_mut(), "steps").len(),
                usize::from(said.is_some()),
                "{text}"
            );
            assert_eq!(game.history()[0].notes().len(), 1, "a reaction that names no crown");
            game.takeback().expect("it is taken back");
        }
        // A mule may be given: only playing it out tells that it must not come about.
        let mule = game.find_move("b1c1m");
        assert_eq!(mule.is_ok(), played == "rules", "{mule:?}");
        // Runners are no crown, and before the gate there is none to be had.
        for text in ["b1c1r", "b1c1x", "b1d1p"] {
            assert!(game.play_text(text).is_err(), "{text}");
        }
        assert_eq!(game.hash(), before);
    }
    let (_, _, mut game) = crowns("rules", "R2m w 1");
    let error = game.play_text("a1b1p").map(|_| ()).expect_err("there is no gate").to_string();
    assert!(
        error.contains("may be crowned as a page on b1") || error.contains("not legal"),
        "{error}"
    );
    let explained = game.explain_move("a1b1p", Limits::default()).expect("a move");
    assert!(!explained.holds, "{}", explained.summary);
    let Finding::Refuted(all) = &explained.finding else { panic!("{:?}", explained.finding) };
    assert_eq!(all[0].goal.relation, "crownable");
    assert!(Checker::new(game.program(), game.facts()).refutation(&all[0]).is_ok());
    // What it would do is no answer either.
    let effects = game.explain_effects("a1b1p", Limits::default()).expect("a move");
    assert_eq!((effects.holds, effects.summary), (false, explained.summary));
}

#[test]
fn trials_of_what_is_given_are_checked() {
    let (_, _, mut game) = crowns("simulate", "1R1m w 1");
    let tried = |game: &mut Game, text: &str| -> (bool, Trial) {
        let explained = game.explain_move(text, Limits::default()).expect("a move");
        match explained.finding {
            Finding::Tried(it) => (explained.holds, *it),
            other => panic!("{other:?}"),
        }
    };
    let (holds, page) = tried(&mut game, "b1c1p");
    assert!(holds);
    let (holds, mule) = tried(&mut game, "b1c1m");
    assert!(!holds);
    let facts = game.facts().clone();
    let program = game.program().clone();
    let check = |it: &Value| {
        let trial: Trial = serde_json::from_value(it.clone()).expect("well-formed");
        Checker::new(&program, &facts).trial(&trial).map(|_| ()).map_err(|it| it.to_string())
    };
    let (page, mule) = (json!(page), json!(mule));
    assert_eq!(check(&page), Ok(()));
    assert_eq!(check(&mule), Ok(()));
    let mut forged = page.clone();
    forged["action"] = mule["action"].clone();
    assert!(check(&forged).is_err(), "another crown");
    let mut forged = page.clone();
    forged["action"]["args"].as_array_mut().expect("arguments").truncate(2);
    assert!(check(&forged).is_err(), "the default");
    let mut forged = page;
    forged["action"]["args"].as_array_mut().expect("arguments").truncate(3);
    assert!(check(&forged).is_err(), "half of it");
}

#[test]
fn saves_and_audits_know_what_was_given() {
    let (catalogue, rules, mut game) = crowns("simulate", "R2m w 1");
    for text in ["a1b1", "d1c1"] {
        game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
    }
    let (_, _, mut other) = crowns("simulate", "1R1m w 1");
    other.play_text("b1c1p*3").expect("it is legal");
    for (game, rules, plies) in [(&game, &rules, 2), (&other, &rules, 1)] {
        let save = Save::of(game, rules, Content { rules: true }).expect("a save");
        if plies == 1 {
            assert_eq!(save.moves[0].uci, "b1c1p*3");
            assert!(save.moves[0].action.ends_with(", c1, page, 3)"), "{}", save.moves[0].action);
        }
        for form in [Form::Json, Form::Binary] {
            let bytes = save.write(form);
            assert_eq!(Save::read(&bytes, "").expect("it is read").0, save);
            let tally = audit::save(&bytes, "", &catalogue, RulesFrom::Here, &mut |_| {});
            assert_eq!(tally.unwrap_or_else(|it| panic!("{it}")).plies, plies);
        }
        let kept = game.snapshot().expect("it can be kept");
        let kept: Value = serde_json::to_value(&kept).expect("JSON");
        let kept = serde_json::from_value(kept).expect("what was kept");
        let again = rules.restore_snapshot(&kept).expect("it comes back");
        assert_eq!((again.hash(), again.history().len()), (game.hash(), plies));
    }
}

#[test]
fn an_optional_part_is_left_out_where_it_says_nothing() {
    let (_, _, mut game) = crowns("rules", "1R1m w 1");
    let contract = game.contract().clone();
    let mv = legal_moves(game.world_mut(), &contract).remove(0);
    // The last sign is that of a win: Black cannot run any more.
    assert_eq!(to_san(game.world_mut(), &contract, &mv), "c1#");
    let sign = game.program().schema.attribute_named("sign").expect("declared");
    let mut world = game.world().clone();
    world.set_raw(rulemate::internals::facts::EntityId(2), sign, Some(5));
    assert_eq!(to_san(&mut world, &contract, &mv), "c1#5#");
    assert_eq!(parse_san(&mut world, &contract, "c1#5#"), Ok(mv));
}

#[test]
fn mistakes_of_what_may_be_given_are_told() {
    let codes = |options: &str| -> Vec<&'static str> {
        let text = format!(
            ".domain Place {{ a, b }}\n.domain Mood {{ calm, wild }}\n.domain Thing entities 8\n\
             .input at(thing: Thing, place: Place) key attr at \"x\"\n\
             .static loud(mood: Mood) \"{{mood}} is loud\"\nloud('wild).\n\
             .static far(place: Place) \"{{place}} is far\"\nfar('b).\n\
             .action go(thing: Thing, place: Place) {options} \"{{thing}} goes to {{place}}\"\n\
             go(t, x) :- at(t, y), far(x), x != y.\non go(t, x, _) do set at(t, x).\n"
        );
        match compile(vec![Source { path: "go.dl".into(), text: text.into() }]) {
            Ok(_) => Vec::new(),
            Err(found) => found.list().iter().map(|it| it.code).collect(),
        }
    };
    let given = "given mood: Mood = 'calm";
    assert_eq!(codes(given), [""; 0]);
    assert_eq!(codes(&format!("{given} from loud")), [""; 0]);
    assert_eq!(codes(&format!("{given} uci \"{{at(thing)}}{{place}}{{mood}}\"")), [""; 0]);
    assert_eq!(codes(&format!("{given} from far")), ["E134"]);
    assert_eq!(codes(&format!("{given} from near")), ["E201"]);
    assert_eq!(codes(&format!("{given} uci \"{{at(thing)}}{{place}}\"")), ["E135"]);
    assert_eq!(codes("given place: Mood = 'calm"), ["E106"]);
    assert_eq!(codes("given mood: Mood = 'sad"), ["E203"]);
    assert_eq!(
        codes(&format!("{} uci \"{{thing}}{{mood}}\"", given.replace("Mood", "Moo"))),
        ["E202"]
    );
    assert_eq!(codes(&given.replace("Mood", "Text")), ["E114"]);
    assert_eq!(codes(""), ["E205"]);
    let many = "[{mood}]".repeat(7);
    assert_eq!(codes(&format!("{given} uci \"{{thing}}{many}\"")), ["E136"]);
    assert_eq!(codes(&format!("{given} uci \"{{thing}}[{{mood}}\"")), ["E135", "E116"]);
    assert_eq!(codes(&format!("{given} uci \"{{thing}}{{mood}}]\"")), ["E116"]);
    assert_eq!(codes(&format!("{given} also \"{{moon}}\"")), ["E117"]);
}

/// The default may be what is not legal: then the list has the action with something else given.
#[test]
fn an_action_is_legal_if_something_legal_may_be_given() {
    let text = |played: &str| {
        CROWNS.replace("PLAYED", played).replace("crown: Kind = 'lord", "crown: Kind = 'mule")
    };
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    let source = Source { path: "mine/crowns.dl".into(), text: text("simulate").into() };
    catalogue.add(source).expect("metadata that makes sense");
    let rules = catalogue.load::<&str>("crowns", &[]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(Some("1R1m w 1")).unwrap_or_else(|it| panic!("{it}"));
    let contract = game.contract().clone();
    let texts: Vec<String> = game.listing().into_iter().map(|it| it.0).collect();
    assert_eq!(texts, ["b1c1p"], "a mule may not come about");
    assert_eq!(perft(game.world_mut(), &contract, 1), 1);
    assert!(game.result().is_none());
    assert!(game.play_text("b1c1").is_err());
    game.play_text("b1c1p").expect("legal");
    let save = Save::of(&game, &rules, Content::default()).expect("a save");
    let tally = audit::save(&save.write(Form::Json), "", &catalogue, RulesFrom::Here, &mut |_| {});
    assert_eq!(tally.unwrap_or_else(|it| panic!("{it}")).proofs, 1);
}

/// Rules decide the action, and a row of theirs what may be given: a save proves both.
#[test]
fn saves_prove_what_was_given() {
    let (catalogue, rules, mut game) = crowns("rules", "1R1m w 1");
    game.play_text("b1c1p*3").expect("it is legal");
    let save = Save::of(&game, &rules, Content::default()).expect("a save");
    let audited = |save: &Save| {
        audit::save(&save.write(Form::Json), "", &catalogue, RulesFrom::Here, &mut |_| {})
            .map(|it| it.proofs)
            .map_err(|it| it.to_string())
    };
    assert_eq!(audited(&save), Ok(1));
    let both = save.moves[0].proof.as_array().expect("two proofs").clone();
    let proved: Vec<&str> = both.iter().filter_map(|it| it["relation"].as_str()).collect();
    assert_eq!(proved, ["run", "crownable"]);
    for forged in [json!([both[0]]), both[0].clone(), json!([both[0], both[0]])] {
        let mut save = save.clone();
        save.moves[0].proof = forged;
        let why = audited(&save).expect_err("the crown is not proved");
        assert!(why.contains("it has 1 part, not 2") || why.contains("not crownable"), "{why}");
    }
}

/// A runner's gait, and its sign, which is looked up by two columns.
const GAITS: &str = r#"
.meta game "gaits"
.meta title "Gaits"
.meta board "2x1"
.meta start "R1 w 1"
.domain Kind += { runner }
.domain Gait { walk, run }
.domain Sign { w, r }
letter('runner, "r").
.decl sign(piece: Entity, how: Gait, shown: Sign) key "{piece} has the sign {shown} for {how}"
sign(p, 'walk, 'w) :- own(p).
sign(p, 'run, 'r) :- own(p).
.action go(piece: Entity, to: Square) given how: Gait = 'walk legality rules
    uci "{at(piece)}{to}{sign(piece, how)}{how}" "{piece} goes to {to}"
go(p, t) :- own(p), at(p, s), step('e, s, t).
on go(p, t) do set at(p, t).
"#;

#[test]
fn what_is_looked_up_with_a_default_is_left_out() {
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    let source = Source { path: "mine/gaits.dl".into(), text: GAITS.into() };
    catalogue.add(source).expect("metadata that makes sense");
    let rules = catalogue.load::<&str>("gaits", &[]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
    for text in ["a1b1", "a1b1rrun"] {
        let mv = game.find_move(text).unwrap_or_else(|it| panic!("{text}: {it}"));
        assert_eq!(to_uci(game.world_mut(), &mv), text);
    }
}
