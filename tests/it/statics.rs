//! What programs share: statics with the same rows as computed anew and the same budget, and files with
//! the same trees as read anew.

use std::sync::Arc;

use rulemate::internals::derive::{Backend, Memo, Plan, PlanError, World};
use rulemate::internals::presets::Catalogue;
use rulemate::internals::rules::{Program, Reader, RelId, Role, Source, compile, compile_sharing};

/// Every static of both, row by row.
fn same_statics(name: &str, program: &Program, shared: Plan, alone: Plan) {
    let [mut shared, mut alone] = [shared, alone].map(|it| World::new(Arc::new(it), Backend::Bits));
    let mut rows = 0;
    for (at, relation) in program.relations.iter().enumerate() {
        if matches!(relation.role, Role::Static | Role::Builtin(_)) {
            let rel = RelId(at as u16);
            let (mine, own) = (shared.tuples(rel), alone.tuples(rel));
            assert_eq!(mine, own, "{name}: {}", relation.name);
            rows += mine.len();
        }
    }
    assert!(rows > 1000, "{name} has {rows} rows of statics");
}

/// Whether a preset goes on games of chess.
fn fits_chess(preset: &rulemate::internals::presets::PresetEntry) -> bool {
    preset.family.as_deref().is_none_or(|it| it == "chess")
}

#[test]
fn programs_with_shared_statics_have_the_rows_of_their_own() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let memo = Memo::default();
    let of_chess = catalogue.presets().iter().filter(|it| fits_chess(it));
    let presets: Vec<&str> = of_chess.map(|it| it.preset.as_str()).collect();
    // Once forwards and once back, so that each comes after each of its neighbours.
    let sets = [None].into_iter().chain(presets.iter().copied().map(Some));
    for preset in sets.clone().chain(sets.rev()) {
        let activations = catalogue.with_required(preset.as_slice());
        let rules = catalogue.load("chess", &activations).unwrap_or_else(|it| panic!("{it}"));
        let program = rules.program();
        let shared = Plan::compile_sharing(Arc::clone(program), &memo).expect("a plan");
        let alone = Plan::compile(Arc::clone(program)).expect("a plan");
        assert_eq!(shared.batches(), alone.batches());
        same_statics(preset.unwrap_or("chess"), program, shared, alone);
    }
}

/// Two programs, the second with more to compute than a load may.
fn program(more: &str) -> Arc<Program> {
    let text = format!(
        ".domain Square grid 8 8\n\
         .static near(a: Square, b: Square)\n\
         near(a, b) :- rank(a, r), rank(b, r).\n\
         .static far(a: Square, b: Square, c: Square)\n\
         far(a, b, c) :- near(a, b), near(b, c).\n{more}"
    );
    let source = Source { path: "many.dl".into(), text: text.into() };
    Arc::new(compile(vec![source]).unwrap_or_else(|it| panic!("{it}")))
}

#[test]
fn a_program_runs_out_at_the_same_place_whatever_was_computed_before() {
    let much = ".static much(a: Square, b: Square)\n\
                much(a, k) :- far(a, _, c), near(c, d), near(d, e), near(e, f), near(f, g), \
                near(g, h), near(h, i), near(i, j), near(j, k).\n";
    let memo = Memo::default();
    // Long enough that no order of evaluation is short: each step is to any of eight squares.
    Plan::compile_sharing(program(""), &memo).expect("the first is small enough");
    for _ in 0..2 {
        let shared = Plan::compile_sharing(program(much), &memo).map(|_| ());
        let alone = Plan::compile(program(much)).map(|_| ());
        assert!(matches!(alone, Err(PlanError::Exhausted(_))), "{alone:?}");
        assert_eq!(shared, alone);
    }
}

#[test]
fn programs_of_shared_files_are_those_of_files_read_anew() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let reader = Reader::default();
    let of_chess = catalogue.presets().iter().filter(|it| fits_chess(it));
    let presets = of_chess.map(|it| vec![it.preset.as_str()]);
    // Files have other numbers with a preset than without, and back again.
    for set in presets.flat_map(|it| [vec![], it]) {
        let rules = catalogue.load("chess", &catalogue.with_required(&set)).expect("a program");
        let sources = rules.program().sources.clone();
        let shared = compile_sharing(sources.clone(), &reader).expect("a program");
        let alone = compile(sources).expect("a program");
        assert_eq!(shared.relation_names, alone.relation_names);
        assert_eq!(shared.schema.attributes(), alone.schema.attributes());
        assert_eq!(shared.relations, alone.relations);
        assert_eq!(shared.rules, alone.rules);
        let rest = |it: &Program| {
            let what = (&it.actions, &it.reactions, &it.stages, &it.events, &it.strata);
            format!("{what:?} {:?}", (&it.repetition, &it.lasting, &it.meta, &it.texts))
        };
        assert_eq!(rest(&shared), rest(&alone), "{set:?}");
    }
}

#[test]
fn mistakes_of_a_file_are_told_every_time() {
    let reader = Reader::default();
    let text = ".domain Square grid 8 8\n.decl odd(s: Square\nodd(s) :- rank(s, 1).\n";
    let source = Source { path: "odd.dl".into(), text: text.into() };
    let told = || {
        let found = compile_sharing(vec![source.clone()], &reader).expect_err("a mistake");
        found.to_string()
    };
    let first = told();
    assert!(first.contains("odd.dl"), "{first}");
    assert_eq!(told(), first);
    let alone = compile(vec![source.clone()]).expect_err("a mistake").to_string();
    assert_eq!(alone, first);
}
