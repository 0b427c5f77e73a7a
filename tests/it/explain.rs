//! Proofs and refutations: of chess moves, of recursive rows, and what becomes of them as text and
//! as JSON.

use rulemate::internals::derive::explain::{
    Blocked, Ground, Lack, Limits, Premise, Proof, Refutation, View, why, why_not, why_not_within,
    why_within,
};
use rulemate::internals::derive::{Backend, World};
use rulemate::internals::facts::EntityId;
use rulemate::internals::facts::json::parse;
use rulemate::internals::presets::Catalogue;
use rulemate::internals::proof::Checker;
use rulemate::internals::rules::Type;

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
    let view = View { program: &program, names: &names };
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
    assert!(summary.starts_with("queen f3 moves to h3 [rules/chess/moves.dl:"));
    let slide = [
        "      queen f3 attacks h3 [rules/chess/attack.dl:",
        "        queen f3 slides east to h3 [rules/chess/attack.dl:",
        "          queen f3 slides east to g3 [rules/chess/attack.dl:",
        "            queen f3 is a queen [fact]",
        "            a queen slides east [always]",
        "            not: queen f3 does not slide east as its kind does",
        "            queen f3 stands on f3 [fact]",
        "            one step east of f3 is g3 [always]",
        "          not: a piece stands on g3",
        "          one step east of g3 is h3 [always]",
    ];
    let from = tree.lines().position(|it| it.starts_with(slide[0])).expect("an attack");
    for (line, start) in tree.lines().skip(from).zip(slide) {
        assert!(line.starts_with(start), "{tree}");
    }
}

#[test]
fn what_stands_in_the_way_is_named() {
    let cases = [
        (KIWIPETE, "f3 >h1", "queen f3 moves to h1, because pawn g2 stands in the way ["),
        (KIWIPETE, "a1 >a3", "rook a1 moves to a3, because pawn a2 stands in the way ["),
        (KIWIPETE, "c3 >c4", "knight c3 moves to c4, because knight c3 does not reach c4 ["),
        (KIWIPETE, "a2 >b3", "pawn a2 moves to b3, because no piece of black stands on b3 ["),
        (KIWIPETE, "e1 >e2", "king e1 moves to e2, because bishop e2 stands there ["),
        (KIWIPETE, "a8 >b8", "rook a8 moves to b8, because rook a8 does not belong to the side to"),
        (
            "4k3/8/8/8/4r3/8/4N3/4K3 w - -",
            "e2 >c3",
            "knight e2 moves to c3, because knight e2 is pinned: if it leaves the line, rook e4",
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
    assert!(
        tree.contains("one piece shields king e1 from rook e4, which aims south [rules/chess/")
    );
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
fn the_least_member_of_a_domain_has_its_name() {
    let text = r#"
.domain Node { a, b, c }
.static even(n: Node)
even('b). even('c).
.input night() game attr night
.decl least(n: Node) "{n} is the least node"
least(n) :- !night(), n = min { m : even(m) }.
"#;
    let program = program(text);
    let mut nodes = world(&program, Backend::Frog);
    let (_, tree) = explain(&mut nodes, "least", &[1]);
    assert!(tree.contains("min { m : even(m) } (is b: m = b; m = c)"), "{tree}");
    let (summary, _) = explain(&mut nodes, "least", &[2]);
    assert!(summary.contains("(is b: "), "{summary}");
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
    let tries = rel(&program, "pseudo_legal_move");
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

/// A question that looks at too much is told which rule it was.
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
    assert!(ran_out.place.starts_with("rules/chess/"), "{ran_out}");
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

/// The JSON of an explanation can be read however long the recursion is that it shows, and so can a save with it.
#[test]
fn the_deepest_explanation_can_be_read() {
    let mut text = String::from(
        r#"
.static first(n: Int)
first(0).
.input high(n: Int) game attr high = 400
.decl step(n: Int) "step {n} is reached"
step(n) :- first(n).
step(n) :- step(m), high(h), m < h, n = m + 1.
.decl level0() "no step is last"
level0() :- !step(400).
"#,
    );
    for at in 1..19 {
        text += &format!(".decl level{at}() \"level {at}\"\nlevel{at}() :- level{}().\n", at - 1);
    }
    let program = program(&text);
    let mut stairs = world(&program, Backend::Frog);
    let rows = stairs.materialised();
    let proof = why(&rows, rel(&program, "step"), &[400]).expect("the last step");
    assert!(height(&proof) > 90);
    let read = parse::<Proof>(&serde_json::to_string(&proof).expect("JSON"));
    assert_eq!(read.as_ref(), Ok(&proof));
    let refutation = why_not(&rows, rel(&program, "level18"), &[]).expect("there is a last step");
    let text = serde_json::to_string(&[[&refutation]]).expect("JSON");
    assert!(text.contains("premises"), "it ends with a proof");
    assert_eq!(parse::<[[Refutation; 1]; 1]>(&text).as_ref(), Ok(&[[refutation]]));
}

/// Moves that chess forbids: the position, the move, how the first sentence goes on after "is not
/// legal: ", and the lowest line that decides it.
const FORBIDDEN: &[(&str, &str, &str, &str)] = &[
    (
        "4k3/8/8/8/8/8/P7/R3K3 w - - 0 1",
        "a1a5",
        "the white pawn on a2 stands in the way",
        "the white pawn on a2 stands on a2 [fact]",
    ),
    (
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "c1g5",
        "the white pawn on d2 stands in the way",
        "the white pawn on d2 stands on d2 [fact]",
    ),
    (
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "d1h5",
        "the white pawn on e2 stands in the way",
        "the white pawn on e2 stands on e2 [fact]",
    ),
    (
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "d1d8",
        "the white pawn on d2 stands in the way",
        "the white pawn on d2 stands on d2 [fact]",
    ),
    (
        "4k3/8/8/n7/P7/8/8/R3K3 w - - 0 1",
        "a1a8",
        "the white pawn on a4 stands in the way",
        "the white pawn on a4 stands on a4 [fact]",
    ),
    (
        "4k3/8/8/8/8/8/P7/R3K3 w - - 0 1",
        "a1a2",
        "the white pawn on a2 stands there",
        "the white pawn on a2 stands on a2 [fact]",
    ),
    ("4k3/8/8/8/8/8/P7/R3K3 w - - 0 1", "a1b2", "the white rook on a1 does not reach b2", ""),
    (
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "b1d2",
        "the white pawn on d2 stands there",
        "the white pawn on d2 stands on d2 [fact]",
    ),
    (
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "b1b3",
        "the white knight on b1 does not reach b3",
        "",
    ),
    (
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "e7e5",
        "the black pawn on e7 does not belong to the side to move",
        "",
    ),
    (
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "e4e5",
        "there is no such piece",
        "",
    ),
    (
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "e2e5",
        "e5 is not the next square ahead of the white pawn on e2",
        "",
    ),
    (
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "e2d3",
        "no piece of black stands on d3",
        "",
    ),
    (
        "4k3/8/8/8/8/4n3/4P3/4K3 w - - 0 1",
        "e2e3",
        "the black knight on e3 stands in the way",
        "the black knight on e3 stands on e3 [fact]",
    ),
    (
        "4k3/8/8/8/8/4n3/4P3/4K3 w - - 0 1",
        "e2e4",
        "the black knight on e3 stands in the way",
        "the black knight on e3 stands on e3 [fact]",
    ),
    (
        "4k3/8/8/8/4n3/8/4P3/4K3 w - - 0 1",
        "e2e4",
        "the black knight on e4 stands in the way",
        "the black knight on e4 stands on e4 [fact]",
    ),
    (
        "4k3/8/8/8/4r3/8/4N3/4K3 w - - 0 1",
        "e2c3",
        "the white knight on e2 is pinned: if it leaves the line, the black rook on e4 attacks the white king on e1",
        "",
    ),
    (
        "4k3/8/8/8/1b6/8/3B4/4K3 w - - 0 1",
        "d2e3",
        "the white bishop on d2 is pinned: if it leaves the line, the black bishop on b4 attacks the white king on e1",
        "",
    ),
    (
        "4r1k1/8/8/8/8/8/P7/4K3 w - - 0 1",
        "a2a3",
        "the black rook on e8 attacks the white king on e1, and the white pawn on a2 going to a3 neither captures it nor steps between",
        "the black rook on e8 slides south to e1",
    ),
    (
        "4k3/8/8/8/8/3n4/P7/4K3 w - - 0 1",
        "a2a3",
        "the black knight on d3 attacks the white king on e1, and the white pawn on a2 going to a3 does not capture it",
        "the black knight on d3 reaches e1 at once",
    ),
    (
        "4r1k1/8/8/8/8/8/8/3K4 w - - 0 1",
        "d1e2",
        "the white king on d1 may not go where it can be captured: the black rook on e8 attacks e2",
        "the black rook on e8 attacks e2",
    ),
    (
        "4r1k1/8/8/8/8/8/4K3/8 w - - 0 1",
        "e2e1",
        "the white king on e2 stays on the line along which the black rook on e8 attacks it",
        "the black rook on e8 slides south to e2",
    ),
    (
        "4k3/8/b7/8/8/8/8/4K2R w K - 0 1",
        "e1g1",
        "the partner of the white rook on h1, castling with it, starts from, passes or reaches an attacked square: the black bishop on a6 attacks f1",
        "the black bishop on a6 attacks f1",
    ),
    (
        "4k3/8/8/8/8/8/8/4KB1R w K - 0 1",
        "e1g1",
        "a piece stands in the way of castling with the white rook on h1: the white bishop on f1 stands in the way",
        "the white bishop on f1 stands on f1 [fact]",
    ),
    ("4k3/8/8/8/8/8/8/4K2R w - - 0 1", "e1g1", "the white king on e1 does not reach g1", ""),
    (
        "4k3/8/8/8/8/8/8/4K2R w - - 0 1",
        "O-O",
        "the right to castle with the white rook on h1 is lost",
        "",
    ),
    (
        "4r1k1/8/8/8/8/8/8/4K2R w K - 0 1",
        "e1g1",
        "the partner of the white rook on h1, castling with it, starts from, passes or reaches an attacked square: the black rook on e8 attacks e1",
        "the black rook on e8 attacks e1",
    ),
    ("4k3/8/8/3pP3/8/8/8/4K3 w - - 0 1", "e5d6", "no piece of black stands on d6", ""),
    ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e2e4q", "the white pawn on e2 cannot promote now", ""),
    (
        "4k3/4P3/8/8/8/8/8/6K1 w - - 0 1",
        "e7e8q",
        "the black king on e8 stands in the way",
        "the black king on e8 stands on e8 [fact]",
    ),
    ("k7/4P3/8/8/8/8/8/6K1 w - - 0 1", "e7e8", "pawns of white promote on e8", ""),
    ("k7/4P3/8/8/8/8/8/6K1 w - - 0 1", "e7e8k", "a pawn of white may not become a king", ""),
    (
        "8/8/8/K2pP2r/8/8/8/7k w - d6 0 1",
        "e5d6",
        "after the capture in passing nothing stands between the black rook on h5 and the white king on a5",
        "",
    ),
];

#[test]
fn forbidden_moves_are_refuted_in_words() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load::<&str>("chess", &[]).unwrap_or_else(|it| panic!("{it}"));
    let mut wrong = Vec::new();
    for (fen, text, sentence, leaf) in FORBIDDEN {
        let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"));
        let told = game.explain_move(text, Limits::default()).unwrap_or_else(|it| panic!("{it}"));
        let checked = Checker::new(game.program(), game.facts()).finding(&told.finding);
        assert!(checked.is_ok(), "{fen} {text}: {checked:?}");
        let tree = game.tree(&told.finding);
        let start = format!("{text} is not legal: {sentence}");
        let places = ["n", "ne", "e", "se", "s", "sw", "w", "nw"].map(|it| format!(" {it} "));
        let is_named = !places.iter().any(|it| told.summary.contains(it));
        let is_found = tree.lines().any(|it| it.trim_start().starts_with(leaf));
        let is_found = is_found || leaf.is_empty();
        if told.holds || !told.summary.starts_with(&start) || !is_found || !is_named {
            wrong.push(format!("{fen} {text}\n{}\n{tree}", told.summary));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where a line comes from is a file and line, or a remark and no place.
/// A question is answered without the blanks around it, of the last of several actions, too.
#[test]
fn blanks_around_a_move_are_not_repeated() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load::<&str>("chess", &[]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
    for text in ["  e2e5 ", "e2e4, e7e4"] {
        let said = game.why_move(text).unwrap_or_else(|it| panic!("{it}")).summary;
        assert!(said.starts_with('e') && said.contains(" is not legal: "), "{said}");
    }
}

#[test]
fn places_are_files_and_lines() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let is_place = |it: &str| {
        let parts = it.rsplit_once(':');
        parts.is_some_and(|(path, line)| path.ends_with(".dl") && line.parse::<u32>().is_ok())
    };
    let (mut places, mut remarks) = (0, std::collections::BTreeSet::new());
    for game in ["chess", "piece-shield", "double-move", "antichess", "cannon", "explosive-rook"] {
        let rules = catalogue.load::<&str>(game, &[]).unwrap_or_else(|it| panic!("{it}"));
        let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
        let moves = ["e2e4", "a1a5", "b1d2", "e2e5", "e7e5", "e1g1", "d1h5", "g1f3", "O-O"];
        let facts =
            ["attacks(a1, a5)", "attacks(b1, c3)", "own(e7)", "royal(white, e1)", "legal(d1, d4)"];
        let answers = moves.iter().map(|it| game.why_move(it)).collect::<Vec<_>>();
        let answers = answers.into_iter().chain(facts.iter().map(|it| game.why_fact(it)));
        for answer in answers.collect::<Vec<_>>() {
            let Ok(answer) = answer else { continue };
            for line in &answer.lines {
                if let Some(place) = &line.place {
                    assert!(is_place(place), "{place} is no place: {line:?}");
                    places += 1;
                }
                assert!(!line.text.ends_with(']'), "{line:?}");
                remarks.extend(line.remark.clone());
            }
        }
    }
    let is_but = |it: &String| it.starts_with("but ");
    assert!(places > 100 && remarks.iter().any(is_but), "{places} {remarks:?}");
}

/// Premises of every kind stand one step below the row that they prove.
#[test]
fn premises_are_indented_alike() {
    let program = program(
        ".domain Thing entities 4\n.input weight(thing: Thing, n: Int) key attr weight\n\
         .input tired(thing: Thing) flag attr tired\n.decl strong(thing: Thing) open\n\
         strong(p) :- weight(p, n), n > 4, 1 = count { weight(q, m) }, !tired(p).\n",
    );
    let mut world = world(&program, Backend::Bits);
    let weight = program.schema.attribute_named("weight").expect("declared");
    world.set_raw(EntityId(1), weight, Some(5));
    let (_, tree) = explain(&mut world, "strong", &[1]);
    let depths: Vec<usize> = tree.lines().map(|it| it.len() - it.trim_start().len()).collect();
    assert_eq!(depths, [0, 2, 2, 2, 2], "{tree}");
}
