//! Proofs and refutations: of chess moves, of recursive rows, and what becomes of them as text and
//! as JSON.

use rulemate::derive::explain::{
    Blocked, Ground, Lack, Limits, Premise, Proof, Refutation, View, why, why_not, why_not_within,
    why_within,
};
use rulemate::derive::{Backend, World};
use rulemate::facts::EntityId;
use rulemate::proof::Checker;
use rulemate::rules::Type;

use crate::fixture::{KIWIPETE, START, chess, member, position, program, rel, world};

/// `knight b1` for a piece of a chess position, other values by their names.
fn called(world: &World, ty: Type, raw: i64) -> String {
    let program = world.program();
    let named = |attr: &str, domain: &str| {
        let attr = program.schema.attribute_named(attr)?;
        let raw = world.facts().get_raw(EntityId(raw as u32), attr)?;
        let id = program.schema.domain_named(domain)?;
        Some(program.schema.domain(id).member_name(raw))
    };
    match ty {
        Type::Domain(id) if program.schema.domain(id).name == "Entity" => {
            match (named("kind", "Kind"), named("position", "Square")) {
                (Some(kind), Some(square)) => format!("{kind} {square}"),
                _ => program.value_name(ty, raw),
            }
        }
        _ => program.value_name(ty, raw),
    }
}

/// The summary and the tree of why the row holds, or of why not.
fn explain(world: &mut World, name: &str, args: &[i64]) -> (String, String) {
    let program = world.program().clone();
    let rel = rel(&program, name);
    let pattern: Vec<Option<i64>> = args.iter().map(|&it| Some(it)).collect();
    let namer = world.clone();
    let names = |ty, raw| called(&namer, ty, raw);
    let view = View { program: &program, names: &names, negations: false };
    let mut checker = Checker::new(&program, &world.facts().clone());
    let rows = world.materialised();
    match why(&rows, rel, args) {
        Some(proof) => {
            checker.proof(&proof).expect("every proof passes");
            assert_eq!(why_not(&rows, rel, &pattern), None);
            (proof.summary(view), proof.render(view))
        }
        None => {
            let refutation = why_not(&rows, rel, &pattern).expect("it does not hold");
            checker.refutation(&refutation).expect("every refutation passes");
            (refutation.summary(view), refutation.render(view))
        }
    }
}

/// A chess position and the row of a relation of pieces and squares: `e4` stands for the piece
/// there, `>e4` for the square.
fn asked(fen: &str, name: &str, args: &str) -> (String, String) {
    let program = chess();
    let mut world = world(&program, Backend::Bits);
    position(&mut world, fen);
    let at = rel(&program, "at");
    let square = |it: &str| member(&program, "Square", it);
    let args: Vec<i64> = args
        .split(' ')
        .map(|it| match it.strip_prefix('>') {
            Some(it) => square(it),
            None => world.matching(at, &[None, Some(square(it))])[0][0],
        })
        .collect();
    explain(&mut world, name, &args)
}

#[test]
fn a_move_is_proved_down_to_facts() {
    let (summary, tree) = asked(KIWIPETE, "move", "f3 >h3");
    assert!(summary.starts_with("queen f3 moves to h3 [rules/core/moves.dl:"));
    let slide = [
        "      queen f3 attacks h3 [rules/core/attack.dl:",
        "        queen f3 slides e to h3 [rules/core/attack.dl:",
        "          queen f3 slides e to g3 [rules/core/attack.dl:",
        "            queen f3 is a queen [fact]",
        "            a queen slides e [always]",
        "            not: queen f3 does not slide e as its kind does",
        "            queen f3 stands on f3 [fact]",
        "            one step e of f3 is g3 [always]",
        "          not: a piece stands on g3",
        "          one step e of g3 is h3 [always]",
    ];
    let from = tree.lines().position(|it| it.starts_with(slide[0])).expect("an attack");
    for (line, start) in tree.lines().skip(from).zip(slide) {
        assert!(line.starts_with(start), "{tree}");
    }
}

#[test]
fn what_stands_in_the_way_is_named() {
    let cases = [
        (KIWIPETE, "f3 >h1", "queen f3 moves to h1, because a piece stands on g2 ["),
        (KIWIPETE, "a1 >a3", "rook a1 moves to a3, because a piece stands on a2 ["),
        (KIWIPETE, "c3 >c4", "knight c3 moves to c4, because not: knight c3 attacks c4 ["),
        (KIWIPETE, "a2 >b3", "pawn a2 moves to b3, because not: a piece of black stands on b3 ["),
        (KIWIPETE, "e1 >e2", "king e1 moves to e2, because a piece of the side to move stands on"),
        (KIWIPETE, "a8 >b8", "rook a8 moves to b8, because not: rook a8 belongs to the side to"),
        (
            "4k3/8/8/8/4r3/8/4N3/4K3 w - -",
            "e2 >c3",
            "knight e2 moves to c3, because knight e2 going to c3 would leave a royal piece",
        ),
    ];
    for (fen, args, expected) in cases {
        let (summary, tree) = asked(fen, "move", args);
        assert!(summary.starts_with(&format!("not: {expected}")), "{summary}\n{tree}");
    }
}

#[test]
fn a_refuted_move_proves_what_stands_against_it() {
    let (_, tree) = asked("4k3/8/8/8/4r3/8/4N3/4K3 w - -", "move", "e2 >c3");
    assert!(tree.contains("one piece shields king e1 from rook e4, which aims s [rules/core/"));
    assert!(tree.contains("(is 1: x = e2)"), "the shields are counted:\n{tree}");
    assert!(tree.contains("t != s (c3 != e4)"), "{tree}");
    assert!(tree.contains("rook e4 stands on e4 [fact]"), "{tree}");
}

const WEB: &str = r#"
.domain Place { a, b, c, d, e, f }
.input night() game attr night
.static road(from: Place, to: Place) "a road leads from {from} to {to}"
road('a, 'b). road('b, 'c). road('c, 'a). road('c, 'd). road('d, 'e). road('a, 'd).
.decl way(from: Place, to: Place) "there is a way from {from} to {to}"
way(x, z) :- way(x, y), way(y, z).
way(x, y) :- road(x, y).
.decl left(from: Place) "some way leads out of {from}"
left(x) :- left(x).
left(x) :- way(x, _).
.decl odd(from: Place) "{from} is reached from elsewhere"
.decl even(from: Place) "{from} leads on"
odd(x) :- even(_), road(_, x).
odd(x) :- night(), road(x, _).
even(x) :- odd(x), road(x, _).
even('a) :- !night().
"#;

fn height(proof: &Proof) -> usize {
    let Ground::Rule { premises, .. } = &proof.ground else { return 0 };
    let heights = premises.iter().map(|it| match it {
        Premise::Holds(it) => height(it),
        Premise::Absent { .. } | Premise::Compare(_) | Premise::Aggregate(_) => 0,
    });
    1 + heights.max().unwrap_or(0)
}

#[test]
fn recursive_rows_have_the_lowest_proof() {
    let program = program(WEB);
    let mut web = world(&program, Backend::Bits);
    let rows = web.materialised();
    let place = |it: &str| member(&program, "Place", it);
    let way = rel(&program, "way");
    let expected = [("a", "b", 1), ("a", "d", 1), ("a", "e", 2), ("b", "e", 3), ("b", "b", 3)];
    for (from, to, least) in expected {
        let proof = why(&rows, way, &[place(from), place(to)]).expect("there is a way");
        assert_eq!(height(&proof), least, "{from} {to}");
    }
    let odd = why(&rows, rel(&program, "odd"), &[place("e")]).expect("e is reached");
    assert_eq!(height(&odd), 2);
    let left = why(&rows, rel(&program, "left"), &[place("a")]).expect("a is left");
    assert!(height(&left) >= 2);
    assert_eq!(why(&rows, way, &[place("a"), place("f")]), None);
    let cut =
        why_within(&rows, way, &[place("b"), place("e")], Limits { proof: 2, ..Limits::default() })
            .expect("cheap");
    assert_eq!(cut.map(|it| height(&it)), Some(2));
}

#[test]
fn refutations_of_recursive_rows_end() {
    let program = program(WEB);
    let mut web = world(&program, Backend::Frog);
    let rows = web.materialised();
    let place = |it: &str| member(&program, "Place", it);
    let refute = |name: &str, goal: &[Option<i64>], depth| {
        let limits = Limits { refutation: depth, ..Limits::default() };
        why_not_within(&rows, rel(&program, name), goal, limits)
            .expect("cheap")
            .expect("it does not hold")
    };
    let circular = refute("left", &[Some(place("f"))], 9);
    let Lack::Rules(attempts) = &circular.lack else { panic!("{circular:?}") };
    let Blocked::Missing(again) = &attempts[0].blocked else { panic!("{circular:?}") };
    assert_eq!(again.lack, Lack::Circular);
    let deep = refute("way", &[Some(place("a")), Some(place("f"))], 64);
    assert!(size(&deep) > 3 && size(&deep) < 1000);
    assert_eq!(refute("way", &[None, Some(place("f"))], 0).lack, Lack::Deeper);
}

fn size(refutation: &Refutation) -> usize {
    let Lack::Rules(attempts) = &refutation.lack else { return 1 };
    let sizes = attempts.iter().map(|it| match &it.blocked {
        Blocked::Missing(it) => size(it),
        _ => 1,
    });
    1 + sizes.sum::<usize>()
}

#[test]
fn explanations_survive_json() {
    let program = chess();
    let mut world = world(&program, Backend::Bits);
    position(&mut world, START);
    let action = rel(&program, "move");
    let moves = world.tuples(action);
    let rows = world.materialised();
    for row in &moves {
        let proof = why(&rows, action, row).expect("it holds");
        let text = serde_json::to_string(&proof).expect("plain data");
        assert_eq!(serde_json::from_str::<Proof>(&text).expect("the same"), proof);
        let nowhere = [Some(row[0]), Some(row[1] ^ 7)];
        if let Some(refutation) = why_not(&rows, action, &nowhere) {
            let text = serde_json::to_string(&refutation).expect("plain data");
            assert_eq!(serde_json::from_str::<Refutation>(&text).expect("the same"), refutation);
        }
    }
}

/// The trees that `bench` times leave nothing open.
#[test]
fn refutations_of_moves_are_complete() {
    let program = chess();
    let tries = rel(&program, "try_move");
    let legal = rel(&program, "move");
    let mut refuted = 0;
    for fen in [
        KIWIPETE,
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "4r2k/8/8/8/1b6/8/3PB3/4K2R w K - 0 1",
    ] {
        let mut board = world(&program, Backend::Bits);
        position(&mut board, fen);
        let rows = board.tuples(tries);
        let all = board.materialised();
        for row in rows {
            let goal: Vec<Option<i64>> = row.iter().copied().map(Some).collect();
            match why(&all, legal, &row) {
                Some(proof) => assert!(proof.is_complete(), "{fen} {row:?}"),
                None => {
                    let refutation = why_not(&all, legal, &goal).expect("it does not hold");
                    assert!(refutation.is_complete(), "{fen} {row:?} {refutation:?}");
                    refuted += 1;
                }
            }
        }
    }
    assert!(refuted > 4, "{refuted}");
}

/// Whoever looks at too much is told which rule it was.
#[test]
fn explanations_have_a_budget() {
    let program = chess();
    let mut world = world(&program, Backend::Bits);
    position(&mut world, KIWIPETE);
    let action = rel(&program, "move");
    let row = world.tuples(action).remove(0);
    let rows = world.materialised();
    let limits = Limits { steps: 40, ..Limits::default() };
    let ran_out = why_within(&rows, action, &row, limits).expect_err("40 steps are few");
    assert!(ran_out.place.starts_with("rules/core/"), "{ran_out}");
    let nowhere = [Some(row[0]), Some(row[0])];
    let ran_out = why_not_within(&rows, action, &nowhere, limits).expect_err("40 steps are few");
    assert!(ran_out.to_string().contains("too many steps"), "{ran_out}");
    let enough = why_within(&rows, action, &row, Limits::default());
    assert!(enough.expect("well within").is_some());
}

/// A row that rests on the two before it would have a proof of exponential size.
#[test]
fn proofs_have_a_limit() {
    let text = r#"
.static first(n: Int)
first(0). first(1).
.input high(n: Int) game attr high = 40
.decl step(n: Int) "step {n} is reached"
step(n) :- first(n).
step(n) :- step(m), step(k), k = m + 1, n = k + 1, high(h), n <= h.
"#;
    let program = program(text);
    let mut stairs = world(&program, Backend::Frog);
    let rows = stairs.materialised();
    let proof = why(&rows, rel(&program, "step"), &[40]).expect("the last step");
    assert!(height(&proof) >= 20);
    let refutation = why_not(&rows, rel(&program, "step"), &[Some(41)]).expect("no such step");
    assert!(matches!(refutation.lack, Lack::Rules(_)));
}
