//! The datafrog evaluator and the world over it: programs that are not chess, and chess.

use std::sync::Arc;

use rulemate::internals::derive::{Backend, World};
use rulemate::internals::facts::{EntityId, GAME, Value};

use crate::fixture::{KIWIPETE, START, chess, member, position, program, rel, rows, set, world};

const MAZE: &str = r#"
.domain Square grid 4 3
.domain Entity entities 16
.domain Way { n, e, s, w }
.static delta(way: Way, dx: Int, dy: Int)
delta('n, 0, 1). delta('e, 1, 0). delta('s, 0, -1). delta('w, -1, 0).
.static next(from: Square, to: Square)
next(s, t) :- delta(_, dx, dy), file(s, f), rank(s, r), file(t, g), rank(t, q), g = f + dx, q = r + dy.
.input wall(block: Entity, square: Square) key attr wall
.input door(square: Square) game attr door
.decl blocked(square: Square)
blocked(s) :- wall(_, s).
.decl reached(square: Square) "{square} can be reached"
reached('a1) :- !blocked('a1).
reached(t) :- reached(s), next(s, t), !blocked(t).
.decl closed(square: Square)
closed(s) :- file(s, _), !reached(s), !blocked(s).
.decl way_out()
way_out() :- door(s), reached(s).
"#;

#[test]
fn maze() {
    let program = program(MAZE);
    let mut maze = world(&program, Backend::Frog);
    let all = rows(&mut maze, "reached").len();
    assert_eq!(all, 12);
    let mut blocks: Vec<EntityId> = Vec::new();
    for square in ["b1", "b2", "b3"] {
        let block = maze.create();
        set(&mut maze, block, "wall", "Square", square);
        blocks.push(block);
    }
    set(&mut maze, GAME, "door", "Square", "d3");
    assert_eq!(rows(&mut maze, "reached"), ["reached(a1)", "reached(a2)", "reached(a3)"]);
    assert_eq!(rows(&mut maze, "closed").len(), 6);
    assert!(!maze.any(rel(&program, "way_out")));

    let mark = maze.mark();
    maze.remove(blocks[1]);
    assert!(maze.any(rel(&program, "way_out")));
    assert_eq!(rows(&mut maze, "closed").len(), 0);
    maze.rollback(mark);
    assert!(!maze.any(rel(&program, "way_out")));
}

const FAMILY: &str = r#"
.domain Person entities 16
.input mother(child: Person, mother: Person) key attr mother
.decl person(p: Person)
person(p) :- mother(p, _).
person(p) :- mother(_, p).
.decl same_generation(a: Person, b: Person)
same_generation(p, p) :- person(p).
same_generation(a, b) :- mother(a, x), same_generation(x, y), mother(b, y).
.decl ancestor(of: Person, a: Person)
ancestor(c, m) :- mother(c, m).
ancestor(c, a) :- ancestor(c, b), ancestor(b, a).
.decl elder(p: Person)
elder(p) :- person(p), !mother(p, _).
.decl cousin(a: Person, b: Person)
cousin(a, b) :- same_generation(a, b), a != b, mother(a, x), mother(b, y), x != y.
"#;

#[test]
fn same_generation_and_doubly_recursive_ancestors() {
    let program = program(FAMILY);
    let mut family = world(&program, Backend::Frog);
    let people: Vec<EntityId> = (0..7).map(|_| family.create()).collect();
    let attr = program.schema.attribute_named("mother").expect("declared");
    for child in 2..=7usize {
        let mother = Value::Entity(people[child / 2 - 1]);
        family.insert(people[child - 1], attr, mother).expect("an entity");
    }
    assert_eq!(rows(&mut family, "elder"), ["elder(#1)"]);
    assert_eq!(rows(&mut family, "same_generation").len(), 1 + 4 + 16);
    assert_eq!(rows(&mut family, "ancestor").len(), 2 + 4 * 2);
    let cousins = rows(&mut family, "cousin");
    assert_eq!(cousins.len(), 8);
    assert_eq!(cousins[0], "cousin(#4, #6)");
    family.retract(people[1], attr);
    assert_eq!(rows(&mut family, "elder"), ["elder(#1)", "elder(#2)"]);
    assert_eq!(rows(&mut family, "cousin"), Vec::<String>::new());
}

const SHARES: &str = r#"
.domain Owner { ann, bob, cat }
.domain Item entities 16
.input owner(item: Item, by: Owner) key attr owner
.input price(item: Item, coins: Int) key attr price
.input broken(item: Item) flag attr broken
.input budget(coins: Int) game attr budget = 10
.static owner_name(by: Owner)
owner_name('ann). owner_name('bob). owner_name('cat).
.decl wealth(by: Owner, coins: Int) key
wealth(o, n) :- owner_name(o), n = sum { c : owner(i, o), price(i, c), !broken(i) }.
.decl things(by: Owner, number: Int) key
things(o, n) :- owner_name(o), n = count { owner(i, o) }.
.decl cheapest(by: Owner, coins: Int, item: Item)
cheapest(o, c, i) :- owner_name(o), (c, i) = min { p, x : owner(x, o), price(x, p) }.
.decl dearest(by: Owner, coins: Int)
dearest(o, c) :- owner_name(o), c = max { p : owner(x, o), price(x, p) }.
.decl richest(by: Owner)
richest(o) :- wealth(o, n), count { wealth(x, m), m > n } = 0.
.decl prices(number: Int)
prices(n) :- n = count { p : price(_, p) }.
.decl dozen(number: Int)
dozen(n) :- n = count { price(_, p), p * 2 > 7 }.
.decl can_pay(by: Owner, item: Item)
can_pay(o, i) :- wealth(o, n), price(i, c), budget(b), n + b >= c, !owner(i, o).
.decl half(item: Item, coins: Int)
half(i, h) :- price(i, c), h = c / 2, c % 2 = 1.
.decl per(item: Item, n: Int)
per(i, n) :- price(i, c), n = 12 / c.
"#;

#[test]
fn ownership_aggregates_and_retraction() {
    let text = SHARES.replace("count { p : price(_, p) }", "count { price(_, p) }");
    let program = program(&text);
    let mut shop = world(&program, Backend::Frog);
    let price = program.schema.attribute_named("price").expect("declared");
    let broken = program.schema.attribute_named("broken").expect("declared");
    let mut items = Vec::new();
    for (by, coins) in [("ann", 3), ("ann", 3), ("ann", 8), ("bob", 0), ("bob", 14)] {
        let item = shop.create();
        set(&mut shop, item, "owner", "Owner", by);
        shop.insert(item, price, Value::Int(coins)).expect("a number");
        items.push(item);
    }
    // Equal prices of different items both count; `_` makes none.
    assert_eq!(rows(&mut shop, "wealth"), ["wealth(ann, 14)", "wealth(bob, 14)", "wealth(cat, 0)"]);
    assert_eq!(rows(&mut shop, "things"), ["things(ann, 3)", "things(bob, 2)", "things(cat, 0)"]);
    assert_eq!(rows(&mut shop, "prices"), ["prices(4)"]);
    assert_eq!(rows(&mut shop, "dozen"), ["dozen(2)"]);
    assert_eq!(rows(&mut shop, "cheapest"), ["cheapest(ann, 3, #1)", "cheapest(bob, 0, #4)"]);
    assert_eq!(rows(&mut shop, "dearest"), ["dearest(ann, 8)", "dearest(bob, 14)"]);
    assert_eq!(rows(&mut shop, "richest"), ["richest(ann)", "richest(bob)"]);
    assert_eq!(rows(&mut shop, "half"), ["half(#1, 1)", "half(#2, 1)"]);
    // Division by zero is no value.
    assert_eq!(rows(&mut shop, "per"), ["per(#1, 4)", "per(#2, 4)", "per(#3, 1)", "per(#5, 0)"]);
    assert_eq!(rows(&mut shop, "can_pay").len(), 2 + 3 + 4);

    shop.insert(items[2], broken, Value::Bool(true)).expect("a truth value");
    assert_eq!(rows(&mut shop, "richest"), ["richest(bob)"]);
    shop.insert(items[2], broken, Value::Bool(false)).expect("a truth value");
    set(&mut shop, items[4], "owner", "Owner", "cat");
    assert_eq!(rows(&mut shop, "wealth"), ["wealth(ann, 14)", "wealth(bob, 0)", "wealth(cat, 14)"]);
    let ann = member(&program, "Owner", "ann");
    let cheapest = shop.matching(rel(&program, "cheapest"), &[Some(ann), None, None]);
    assert_eq!(cheapest.len(), 1);
    shop.remove(items[4]);
    assert_eq!(rows(&mut shop, "wealth")[2], "wealth(cat, 0)");
}

const SWAP: &str = r#"
.domain Place { here, there, away }
.domain Thing entities 8
.input in(thing: Thing, place: Place) key attr place
.input moves(number: Int) game attr moves = 0
.input done() game attr done
.action swap(a: Thing, b: Thing) "{a} and {b} change places"
swap(a, b) :- in(a, x), in(b, y), x != y.
.action clear(place: Place) "{place} is cleared"
clear(p) :- in(_, p).
on any when moves(n) do set moves(n + 1).
on swap(a, b) when in(a, x), in(b, y) do set in(a, y), set in(b, x).
on clear(p) when in(t, p) do remove t.
on clear('here) do set done().
on clear('there) do retract done().
"#;

#[test]
fn reactions_read_the_state_before() {
    let program = program(SWAP);
    let mut room = world(&program, Backend::Frog);
    for place in ["here", "there", "there"] {
        let thing = room.create();
        set(&mut room, thing, "place", "Place", place);
    }
    room.commit();
    let empty = room.mark();
    let hash = room.facts().hash();
    let [swap, clear] = [program.actions[0].id, program.actions[1].id];
    room.fire(swap, &[1, 2]).unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(rows(&mut room, "in"), ["in(#1, there)", "in(#2, here)", "in(#3, there)"]);
    assert_eq!(rows(&mut room, "moves"), ["moves(1)"]);
    room.fire(clear, &[member(&program, "Place", "here")]).unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(rows(&mut room, "in"), ["in(#1, there)", "in(#3, there)"]);
    assert_eq!(rows(&mut room, "done"), ["done()"]);
    room.fire(clear, &[member(&program, "Place", "there")]).unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(rows(&mut room, "in").len() + rows(&mut room, "done").len(), 0);
    assert_eq!(rows(&mut room, "moves"), ["moves(3)"]);
    room.rollback(empty);
    assert_eq!(room.facts().hash(), hash);
    assert_eq!(rows(&mut room, "moves"), ["moves(0)"]);
}

fn perft(world: &mut World, depth: usize) -> u64 {
    let program = Arc::clone(world.program());
    let mut nodes = 0;
    for action in &program.actions {
        if depth == 1 {
            nodes += world.count(action.rel);
            continue;
        }
        for row in world.tuples(action.rel) {
            let mark = world.mark();
            world.fire(action.id, &row).unwrap_or_else(|it| panic!("{it}"));
            nodes += perft(world, depth - 1);
            world.rollback(mark);
        }
    }
    nodes
}

#[test]
fn chess_start_and_kiwipete() {
    let program = chess();
    let mut start = world(&program, Backend::Frog);
    position(&mut start, START);
    assert_eq!(start.count(rel(&program, "move")), 20);
    assert_eq!(perft(&mut start, 2), 400);

    let mut kiwipete = world(&program, Backend::Frog);
    position(&mut kiwipete, KIWIPETE);
    assert_eq!(perft(&mut kiwipete, 1), 48);
    let hash = kiwipete.facts().hash();
    assert_eq!(perft(&mut kiwipete, 2), 2039);
    assert_eq!(kiwipete.facts().hash(), hash);
}
