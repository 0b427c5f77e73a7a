//! Trials: what an action that is played out would do, effect by effect, agrees with what it does when
//! it is played, and with the letter of the rules; and none passes the checker with one thing changed.

use std::sync::Arc;

use rulemate::internals::derive::explain::{Effect, Finding, Limits, Outcome, Trial};
use rulemate::internals::facts::{EntityId, Session};
use rulemate::internals::game::{Explanation, Game};
use rulemate::internals::moves::{Move, legal_moves, pseudo_moves};
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::internals::proof::Checker;
use rulemate::internals::rules::Source;
use serde_json::{Value, json};

use crate::damage::{altered, leaves};
use crate::random_rules::Choices;

fn catalogue() -> Catalogue {
    Catalogue::embedded().expect("the catalogue")
}

fn start(rules: &Ruleset, fen: &str) -> Game {
    rules.start(Some(fen)).expect("it starts")
}

fn trial(explained: &Explanation) -> &Trial {
    match &explained.finding {
        Finding::Tried(it) => it,
        other => panic!("{}: {other:?}", explained.summary),
    }
}

/// The facts with all effects of a trial on them, each of which must start from what is there.
fn after(facts: &Session, trial: &Trial) -> Session {
    let mut facts = facts.clone();
    let told = trial.expired.iter().chain(trial.steps.iter().flat_map(|it| &it.effects));
    for effect in told {
        let Effect::Changed { entity, attribute, old, new } = effect else { continue };
        let attr = facts.schema().attribute_named(attribute).expect("declared");
        let was = facts.set_raw(EntityId(*entity), attr, new.as_ref().map(|it| it.raw));
        assert_eq!(was, old.as_ref().map(|it| it.raw), "{attribute} of #{entity}");
    }
    facts
}

/// The facts but for how often the position has stood and since when, which is the history's.
fn lines(game: &Game, facts: &Session) -> Vec<String> {
    let history: Vec<_> = game.contract().recurrence().map(|it| it.attr).collect();
    let facts = facts.all_facts().into_iter().filter(|it| !history.contains(&it.attr));
    facts.map(|it| format!("{it:?}")).collect()
}

/// Every effect of every action has a justification: what an action changes is what its trial says,
/// step by step, and the checker finds the same steps by itself.
#[test]
fn every_effect_is_justified() {
    let catalogue = catalogue();
    let rounds = if crate::fixture::is_full() { 12 } else { 1 };
    let mut effects = 0;
    for (at, entry) in catalogue.games().iter().enumerate() {
        let rules = catalogue.load::<&str>(&entry.name, &[]).expect("it loads");
        for round in 0..rounds {
            let mut choices = Choices(at as u64 * 100 + round);
            let mut game = rules.start(None).expect("it starts");
            let mut checker = Checker::new(game.program(), game.facts());
            for ply in 0..24 {
                let moves = game.listing();
                if moves.is_empty() {
                    break;
                }
                let (text, mv) = &moves[choices.below(moves.len())];
                let explained = game.explain_effects(text, Limits::default()).expect("a move");
                let trial = trial(&explained);
                assert!(matches!(trial.outcome, Outcome::Tenable { .. }), "{}", entry.name);
                if ply % 4 == 0 {
                    checker.change(game.facts());
                    let checked = checker.trial(trial);
                    assert!(checked.is_ok(), "{} {text}: {checked:?}", entry.name);
                }
                let wanted = after(game.facts(), trial);
                let rewinds = game.play(mv).expect("it is legal").rewound_to().is_some();
                if !rewinds {
                    assert_eq!(lines(&game, game.facts()), lines(&game, &wanted), "{text}");
                }
                effects += trial.steps.iter().map(|it| it.effects.len()).sum::<usize>();
            }
        }
    }
    assert!(effects > 4000, "{effects}");
}

fn with_file(name: &str, text: &str) -> Ruleset {
    let mut catalogue = catalogue();
    let source = Source { path: format!("rules/presets/{name}.dl"), text: text.into() };
    catalogue.add(source).expect("it compiles");
    catalogue.load("chess", &[name]).expect("it loads")
}

const TIRED: &str = r#"% tired.dl — a queen that captures a pawn thinks better of it.
.meta preset "tired"
.meta name "Tired queens"
.meta description "A queen does not capture pawns"
.domain Preset += { tired }
on move(p, t) in before when active('tired, c), color(p, c), kind(p, 'queen), at(q, t), kind(q, 'pawn) do veto "{p} does not bother with {q}".
"#;

fn tired() -> Game {
    let rules = with_file("tired", TIRED);
    start(&rules, "4k3/8/8/3p4/8/8/8/3QK3 w - - 0 1")
}

#[test]
fn a_veto_is_told_with_its_reaction() {
    let mut game = tired();
    let explained = game.explain_move("d1d5", Limits::default()).expect("a move");
    assert!(!explained.holds);
    assert_eq!(
        explained.summary,
        "d1d5 is not legal: the white queen on d1 does not bother with the black pawn on d5 \
         [rules/presets/tired.dl:6]"
    );
    let trial = trial(&explained);
    assert_eq!(trial.outcome, Outcome::Refused);
    let tree = game.tree(&explained.finding);
    assert!(tree.contains("refused: the white queen on d1 does not bother"), "{tree}");
    Checker::new(game.program(), game.facts()).trial(trial).expect("it is so");
    let allowed = game.explain_move("d1d4", Limits::default()).expect("a move");
    assert!(allowed.holds, "{}", allowed.summary);
    let refusal = game.play_text("d1d5").expect_err("it is refused");
    assert!(refusal.to_string().contains("not legal"), "{refusal}");
}

/// A trial has messages as they are read when the action is taken: their plurals are settled.
#[test]
fn plurals_are_settled_in_the_messages_of_trials() {
    let (body, message) = TIRED.split_once(" do veto ").expect("an effect");
    let message = message.replace("{q}", "{q} in {n} move(s)");
    let rules = with_file("tired", &format!("{body}, fullmove(n) do veto {message}"));
    let mut game = start(&rules, "4k3/8/8/3p4/8/8/8/3QK3 w - - 0 1");
    let explained = game.explain_move("d1d5", Limits::default()).expect("a move");
    let said = "the white queen on d1 does not bother with the black pawn on d5 in 1 move";
    assert!(explained.summary.contains(&format!("{said} [")), "{}", explained.summary);
    let tree = game.tree(&explained.finding);
    assert!(tree.contains(&format!("refused: {said}\n")), "{tree}");
    Checker::new(game.program(), game.facts()).trial(trial(&explained)).expect("it is so");
}

/// A fact that no sentence tells has its owner's name, which is not `#0`.
#[test]
fn facts_of_the_game_are_told_of_the_game() {
    let text = r#"
.meta preset "tally"
.domain Preset += { tally }
.input tally(n: Int) game attr tally = 3
on move(_, _) in after when active('tally, 'white), tally(n) do set tally(n + 1).
"#;
    let mut game = with_file("tally", text).start(None).expect("it starts");
    let explained = game.explain_effects("e2e4", Limits::default()).expect("it is legal");
    let tree = game.tree(&explained.finding);
    assert!(tree.contains("tally of the game is 4"), "{tree}");
}

#[test]
fn what_a_move_leads_to_is_proved_in_the_position_after_it() {
    // The rook explodes with what stands about it.
    let rules = catalogue().load::<&str>("explosive-rook", &[]).expect("it loads");
    let mut game = start(&rules, "4k3/8/8/8/8/8/3pP3/R2K4 w - - 0 1");
    let contract = game.contract().clone();
    let world = game.world_mut();
    let legal = legal_moves(world, &contract);
    let tries: Vec<Move> = pseudo_moves(world);
    let refused: Vec<&Move> = tries.iter().filter(|it| !legal.contains(it)).collect();
    assert!(!refused.is_empty());
    let mut checker = Checker::new(game.program(), game.facts());
    for mv in refused {
        let (holds, finding) =
            rulemate::internals::game::decide(game.world_mut(), &contract, mv, Limits::default())
                .expect("cheap");
        assert!(!holds);
        checker.finding(&finding).unwrap_or_else(|it| panic!("{it}\n{}", game.tree(&finding)));
    }
}

/// No leaf of a trial can be changed, no step left out, and it is of its position alone.
#[test]
fn altered_trials_are_refused() {
    for text in ["d1d5", "d1d4"] {
        let mut game = tired();
        let explained = game.explain_move(text, Limits::default()).expect("a move");
        let value = json!(trial(&explained));
        let mut checker = Checker::new(game.program(), game.facts());
        let mut refused = |value: &Value| match serde_json::from_value::<Trial>(value.clone()) {
            Ok(trial) => checker.trial(&trial).is_err(),
            Err(_) => true,
        };
        assert!(!refused(&value));
        let mut places = Vec::new();
        leaves(&value, String::new(), &mut places);
        // A refutation that is given may be left out or be shorter; `because` may be empty.
        places.retain(|it| it != "/because" && !it.contains("/refutation"));
        for place in places {
            let mut wrong = value.clone();
            let leaf = wrong.pointer_mut(&place).expect("a place");
            *leaf = altered(leaf);
            assert!(refused(&wrong), "{text}: {place} can be changed");
        }
        let steps = value["steps"].as_array().expect("steps").len();
        for step in 0..steps {
            let mut wrong = value.clone();
            wrong["steps"].as_array_mut().expect("steps").remove(step);
            assert!(refused(&wrong), "{text}: step {step} can be left out");
        }
        let mut facts = game.facts().clone();
        let turn = facts.schema().attribute_named("turn").expect("declared");
        facts.set_raw(rulemate::internals::facts::GAME, turn, Some(1));
        let trial = trial(&explained);
        assert!(Checker::new(&Arc::clone(game.program()), &facts).trial(trial).is_err());
    }
}

const DO_OVER: &str = r#"% take-back
.meta preset "take-back"
.domain Preset += { take-back }
.input charges(piece: Entity, n: Int) key attr charges lasting "{piece} can undo its death {n} times"
odd_target(q) :- charges(q, n), n > 0.
on activated(e) when preset(e, 'take-back), kind(p, 'pawn) do set charges(p, 1).
on capture(_, q, _) in before do note "{q} is about to be struck".
on died(q, _) when charges(q, n), n > 0 do set charges(q, n - 1), rewind 2, note "{q} does over".
"#;

/// A rewind takes back what its action did before: nothing of that is noted or told, asked beforehand or
/// afterwards.
#[test]
fn nothing_is_told_of_what_a_rewind_takes_back() {
    let mut catalogue = catalogue();
    let source = Source { path: "rules/presets/take-back.dl".into(), text: DO_OVER.into() };
    catalogue.add(source).unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load("chess", &["take-back"]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
    for mv in ["e2e4", "d7d5"] {
        game.play_text(mv).unwrap_or_else(|it| panic!("{it}"));
    }
    let explained = game.explain_effects("e4d5", Limits::default()).expect("it is legal");
    assert!(explained.summary.contains("does over"), "{}", explained.summary);
    assert!(!explained.summary.contains("about to be struck"), "{}", explained.summary);
    let notes = |game: &Game| game.history().last().expect("it was played").notes().to_vec();
    game.play_text("e4d5").unwrap_or_else(|it| panic!("{it}"));
    let noted = notes(&game);
    assert!(noted.len() == 1 && noted[0].ends_with("does over"), "{noted:?}");
    // A pawn that has no charge left is struck, and that is said.
    for mv in ["d7d5", "e4d5"] {
        game.play_text(mv).unwrap_or_else(|it| panic!("{it}"));
    }
    let noted = notes(&game);
    assert!(noted.is_empty() || noted[0].ends_with("about to be struck"), "{noted:?}");
}
