//! Which moves are played out because of a preset that says nothing of safety: those that its reactions can concern,
//! where their conditions tell; else all. Either way the moves are those that playing all of them out leaves.

use rulemate::internals::game::Game;
use rulemate::internals::moves::{Decision, LegalityMode, legal_moves_by};
use rulemate::internals::presets::Catalogue;
use rulemate::internals::rules::Source;

use crate::fixture::is_full;
use crate::random_rules::Choices;
use crate::switch::is_as_derived_afresh;

fn started(game: &str, rules: &str) -> Game {
    let text = format!(
        ".meta preset \"odd\"\n.meta family \"chess\"\n.domain Preset += {{ odd }}\n{rules}\n"
    );
    let mut catalogue = Catalogue::embedded().expect("our own metadata");
    catalogue.add(Source { path: "odd.dl".into(), text: text.into() }).expect("metadata");
    let rules = catalogue.load(game, &["odd"]).unwrap_or_else(|it| panic!("{it}"));
    rules.start(None).expect("it starts")
}

/// How `move` is decided, and how many of the tries of a position are played out.
fn played_out(game: &mut Game) -> (Decision, usize) {
    let program = game.program().clone();
    let named = program.actions.iter().find(|it| program.relation(it.rel).name == "move");
    let id = named.expect("chess has moves").id;
    let decision = game.contract().decisions[usize::from(id.0)];
    let rows = match decision {
        Decision::Except(rel) => game.world_mut().tuples(rel).len(),
        Decision::Rules | Decision::Simulation | Decision::Never => 0,
    };
    (decision, rows)
}

/// Random games, each move of which is held against playing all tries out.
fn agrees(start: &Game, plies: usize) {
    let (mut game, mut choices) = (start.clone(), Choices(11));
    let contract = game.contract().clone();
    for _ in 0..plies {
        let world = game.world_mut();
        let [declared, simulated] = [LegalityMode::Declared, LegalityMode::Simulate]
            .map(|it| legal_moves_by(world, &contract, it));
        assert_eq!(declared, simulated, "{}", game.fen());
        if declared.is_empty() || choices.one_in(60) {
            is_as_derived_afresh(&mut game);
            game = start.clone();
            continue;
        }
        let mv = &declared[choices.below(declared.len())];
        let world = game.world_mut();
        world.fire(mv.action, &mv.args).unwrap_or_else(|it| panic!("{it}"));
        world.commit();
    }
}

const BURNS: &str = "color(p, c), active('odd, c), step(_, t, u), at(q, u), color(q, x), x != c, !royal(x, q) do remove q.";

#[test]
fn moves_that_a_reaction_cannot_concern_are_left_to_the_rules() {
    let plies = if is_full() { 2_000 } else { 150 };
    // What is asked for before anything is written: kind, colour, and who stands where.
    let before = format!("on move(p, t) in before when kind(p, 'knight), {BURNS}");
    // After the move has written where pieces stand, kind and colour are as they were.
    let later = format!("on move(p, t) in after when kind(p, 'knight), {BURNS}");
    // A condition on the square alone, by a static; a value in the place of an argument; rules without negation.
    let square = "on move(_, t) in after when rank(t, 5), at(q, 'e2), color(q, c), active('odd, c) do remove q.";
    let value = "on move(_, 'e4) when at(q, 'e2), color(q, c), active('odd, c) do remove q.";
    let rule = ".decl loud(piece: Entity) \"{piece} is loud\"\n\
                loud(p) :- kind(p, 'knight).\n\
                loud(p) :- kind(p, 'queen), color(p, 'white).\n\
                on move(p, _) in after when loud(p), at(q, 'd2), color(q, c), active('odd, c) do remove q.";
    // What was so before the action, whatever has happened since; what nothing has written yet may be denied, too.
    let was = format!("on move(p, t) in after when was kind(p, 'knight), !was at(_, t), {BURNS}");
    let held = "on move(p, t) in after when was attacks(p, 'e4), rank(t, r), r > 3, at(q, 'd2), color(q, c), active('odd, c) do remove q.";
    let lacks =
        format!("on move(p, t) in before when !kind(p, 'pawn), !royal(_, p), rank(t, 4), {BURNS}");
    // What is counted is as it was, or was so; and a number that follows from what is known.
    let counted = format!(
        "on move(p, t) in after when count {{ color(q2, c), kind(q2, 'queen) }} > 0, kind(p, 'knight), {BURNS}"
    );
    let around = format!(
        "on move(p, t) in after when n = count {{ was at(y, u2), step(_, t, u2), was color(y, z) }}, m = n + 1, m > 5, {BURNS}"
    );
    for rules in
        [before.as_str(), &later, square, value, rule, &was, held, &lacks, &counted, &around]
    {
        let mut game = started("chess", rules);
        let (decision, rows) = played_out(&mut game);
        assert!(matches!(decision, Decision::Except(_)), "{decision:?} {rules}");
        assert!(rows < 20, "{rows} {rules}");
        agrees(&game, plies);
    }
}

/// What is asked for of the whole game: nothing is played out, or all.
#[test]
fn reactions_to_any_action_are_told_by_what_is_so_before_it() {
    let storm = ".input storm() game attr \"odd.storm\" \"there is a storm\"\n\
                 on any in before when storm(), turn(c), at(q, 'e2), color(q, c), kind(q, 'pawn) do remove q.\n\
                 on any in start when storm() do retract storm().\n\
                 on move(_, t) in start when rank(t, 5) do set storm().";
    let hours = ".input hours(n: Int) game attr \"odd.hours\" = 3 \"{n} hours are left\"\n\
                 on any in after when hours(n), n = 0, at(q, 'd2), color(q, c), active('odd, c) do remove q.\n\
                 on any in start when hours(n), n > 0 do set hours(n - 1).\n\
                 on any in start when hours(0) do set hours(3).";
    let side =
        "on any in before when turn('black), at(q, 'e2), color(q, c), active('odd, c) do remove q.";
    let alone = "on any in before when count { kind(z, 'queen) } < 2, at(q, 'e2), color(q, c), active('odd, c) do remove q.";
    for rules in [storm, hours, side, alone] {
        let mut game = started("chess", rules);
        let (decision, rows) = played_out(&mut game);
        assert!(matches!(decision, Decision::Except(_)), "{decision:?} {rules}");
        assert_eq!(rows, 0, "{rules}");
        agrees(&game, if is_full() { 2_000 } else { 150 });
    }
}

#[test]
fn where_no_condition_tells_all_moves_are_played_out() {
    // It says nothing of the move.
    let any = "on move(_, _) in after when at(q, 'e2), color(q, c), active('odd, c) do remove q.";
    // What it asks for may come true on the way: where the piece arrives, and what it lacks.
    let arrives = "on move(p, _) in after when at(p, 'e4), at(q, 'e2), color(q, c), active('odd, c) do remove q.";
    let lacks =
        "on move(p, _) when !kind(p, 'king), at(q, 'e2), color(q, c), active('odd, c) do remove q.";
    // One of its reactions tells, and the other does not.
    let one = format!(
        "on move(p, _) when kind(p, 'knight), at(q, 'd2), color(q, c), active('odd, c) do remove q.\n{any}"
    );
    // A new piece has at once what every piece has.
    let spawned = ".input spot(piece: Entity, square: Square) key attr \"odd.spot\" = e4 \"{piece} is bound for {square}\"\n\
                   .input ghost(piece: Entity) flag attr \"odd.ghost\" \"{piece} is a ghost\"\n\
                   on any in before when active('odd, _) do spawn x, set ghost(x).\n\
                   on any in start when ghost(x) do remove x.\n\
                   on any in start when spot(p, _) do retract spot(p).\n\
                   on move(_, t) in after when spot(_, t), at(q, 'e2), color(q, c), active('odd, c) do remove q.";
    // Another preset of the file's own reactions changes kinds before.
    let kinds = "on move(p, t) in before when rank(t, 4) do set kind(p, 'rook).\n\
                 on move(p, _) in after when kind(p, 'rook), at(q, 'd2), color(q, c), active('odd, c) do remove q.";
    // What is counted may have become more on the way, or less.
    let more = "on move(_, t) in after when count { at(_, 'e4) } > 0, at(q, 'd2), color(q, c), active('odd, c) do remove q.";
    let less = "on any in after when count { at(_, _) } < 32, at(q, 'd2), color(q, c), active('odd, c) do remove q.";
    for rules in [any, arrives, lacks, &one, kinds, spawned, more, less] {
        let mut game = started("chess", rules);
        let (decision, _) = played_out(&mut game);
        assert_eq!(decision, Decision::Simulation, "{rules}");
        agrees(&game, 60);
    }
}
