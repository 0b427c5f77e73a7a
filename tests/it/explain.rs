//! Proofs and refutations.

use rulemate::derive::explain::{View, why, why_not};
use rulemate::derive::{Backend, World};
use rulemate::rules::{Program, Type};

use crate::fixture::{KIWIPETE, chess, member, position, rel, world};

/// `knight b1` for a piece of a chess position, other values by their names.
fn called(world: &World, ty: Type, raw: i64) -> String {
    let program = world.program();
    let attr = |name: &str, domain: &str| {
        let attr = program.schema.attribute_named(name)?;
        let raw = world.facts().get_raw(rulemate::facts::EntityId(raw as u32), attr)?;
        let id = program.schema.domain_named(domain)?;
        Some(program.schema.domain(id).member_name(raw))
    };
    match ty {
        Type::Domain(id) if program.schema.domain(id).name == "Entity" => {
            match (attr("kind", "Kind"), attr("position", "Square")) {
                (Some(kind), Some(square)) => format!("{kind} {square}"),
                _ => program.value_name(ty, raw),
            }
        }
        _ => program.value_name(ty, raw),
    }
}

fn on(world: &mut World, square: &str) -> i64 {
    let program = world.program().clone();
    let square = member(&program, "Square", square);
    world.matching(rel(&program, "at"), &[None, Some(square)])[0][0]
}

fn explain(world: &mut World, name: &str, args: &[i64]) -> String {
    let program = world.program().clone();
    let rel = rel(&program, name);
    let pattern: Vec<Option<i64>> = args.iter().map(|&it| Some(it)).collect();
    let namer = world.clone();
    let names = |ty, raw| called(&namer, ty, raw);
    let view = View { program: &program, names: &names, negations: false };
    let rows = world.materialised();
    match why(&rows, rel, args) {
        Some(proof) => format!("{}\n{}", proof.summary(view), proof.render(view)),
        None => {
            let refutation = why_not(&rows, rel, &pattern).expect("it does not hold");
            format!("{}\n{}", refutation.summary(view), refutation.render(view))
        }
    }
}

#[test]
fn show() {
    let program = chess();
    let mut it = world(&program, Backend::Bits);
    position(&mut it, KIWIPETE);
    let sq = |name| member(&program, "Square", name);
    let queen = on(&mut it, "f3");
    eprintln!("{}", explain(&mut it, "move", &[queen, sq("h3")]));
    eprintln!("{}", explain(&mut it, "move", &[queen, sq("h1")]));
    let king = on(&mut it, "e1");
    eprintln!("{}", explain(&mut it, "move", &[king, sq("e2")]));
    let rook = on(&mut it, "h1");
    eprintln!("{}", explain(&mut it, "castle", &[rook, sq("g1")]));
    for backend in [Backend::Bits, Backend::Frog] {
        let mut it = world(&program, backend);
        position(&mut it, KIWIPETE);
        let rel_move = rel(&program, "move");
        let moves = it.tuples(rel_move);
        let rows = it.materialised();
        let t = std::time::Instant::now();
        for _ in 0..20 {
            for m in &moves {
                why(&rows, rel_move, m).unwrap();
            }
        }
        eprintln!("why {:?}", t.elapsed() / (20 * moves.len() as u32));
        let t = std::time::Instant::now();
        let mut n = 0;
        for _ in 0..5 {
            for m in &moves {
                for to in [0, 7, 35, 63] {
                    if let Some(x) = why_not(&rows, rel_move, &[Some(m[0]), Some(to)]) {
                        n += 1;
                        std::hint::black_box(x);
                    }
                }
            }
        }
        eprintln!("why not {:?}", t.elapsed() / n);
    }
}
