//! The incremental evaluator against the reference evaluator: after every ply of random games, with moves tried
//! and taken back in between, every relation must have the rows that datafrog derives from scratch.
//!
//! `RULEMATE_FULL=1` plays more. A failure names the seed; games and moves follow from it alone.
//! Deliberately absent: whether the rows are the right ones (`perft`, `verify`).

use std::ops::ControlFlow;
use std::sync::Arc;

use rulemate::internals::derive::{
    Backend, Frog, Memo, Plan, Rows, Statics, Tuple, World, WorldMark,
};
use rulemate::internals::facts::{EntityId, GAME, Shape};
use rulemate::internals::moves::notation::write_fen;
use rulemate::internals::moves::{Contract, Move, legal_moves, pseudo_moves};
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::internals::rules::{Input, Program, RelId, Role, Source, Type, compile};

use crate::random_rules::Choices;
use crate::reactions::fire_alike;
use crate::rules::corpus;

/// Plies of each game.
fn plies(small: u32) -> u32 {
    if crate::fixture::is_full() { small * 20 } else { small }
}

/// Reads worlds by every way that there is, and compares with the reference evaluator.
pub(crate) struct Reference {
    program: Arc<Program>,
    statics: Arc<Statics>,
    /// The relations that can change.
    live: Vec<RelId>,
}

impl Reference {
    pub(crate) fn of(program: &Arc<Program>) -> Self {
        let statics = Arc::new(Statics::later(program));
        let changes =
            |rel: &RelId| !matches!(program.relation(*rel).role, Role::Static | Role::Builtin(_));
        let live = relations(program).filter(changes).collect();
        Self { program: Arc::clone(program), statics, live }
    }

    /// The rows that follow from the facts of a world.
    pub(crate) fn rows(&self, world: &World) -> Frog {
        if self.program.trials.is_empty() {
            return Frog::over(&self.statics, world.facts(), &[]);
        }
        // Trials as they come out where datafrog runs the reactions, too.
        let mut twin = crate::reactions::twin(world);
        let rels = self.program.trials.iter().map(|it| it.rel);
        let rows: Vec<_> = rels.map(|it| (it, Arc::new(twin.tuples(it)))).collect();
        let given: Vec<_> = rows.iter().map(|(rel, rows)| (*rel, rows)).collect();
        Frog::over(&self.statics, world.facts(), &given)
    }

    /// The first difference, in words. What the evaluator is asked for, and in which order, is left
    /// to chance, since it may be lazy; in the end every relation has been compared.
    pub(crate) fn difference(
        &self,
        world: &mut World,
        expected: &Frog,
        choices: &mut Choices,
    ) -> Option<String> {
        let first = choices.below(self.live.len());
        let (early, late) = self.live.split_at(first);
        late.iter().chain(early).find_map(|&rel| {
            let found = world.tuples(rel);
            let rows = expected.rows(rel);
            (found != rows).then(|| self.describe(rel, &found, rows))
        })
    }

    /// The first difference of what counting, asking and matching say. Reads some relations only.
    pub(crate) fn other_difference(
        &self,
        world: &mut World,
        expected: &Frog,
        choices: &mut Choices,
    ) -> Option<String> {
        for _ in 0..self.live.len() / 4 {
            let rel = self.live[choices.below(self.live.len())];
            let name = &self.program.relation(rel).name;
            let rows = expected.rows(rel);
            let (any, count) = match choices.one_in(2) {
                true => (world.any(rel), world.count(rel)),
                false => (!rows.is_empty(), world.count(rel)),
            };
            if any == rows.is_empty() || count != rows.len() as u64 {
                return Some(format!("{name}: any {any}, count {count}, rows {}", rows.len()));
            }
            if rows.is_empty() {
                continue;
            }
            let row = &rows[choices.below(rows.len())];
            let near: Tuple = row.iter().map(|it| it - i64::from(*it > 0)).collect();
            if !world.contains(rel, row)
                || world.contains(rel, &near) != expected.contains(rel, &near)
            {
                return Some(format!("{name}: contains {row:?} or {near:?}"));
            }
            let pattern: Vec<Option<i64>> =
                row.iter().map(|it| choices.one_in(2).then_some(*it)).collect();
            let mut matching: Vec<Tuple> = Vec::new();
            let _ = expected.for_each(rel, &pattern, &mut |it| {
                matching.push(it.iter().copied().collect());
                ControlFlow::Continue(())
            });
            if world.matching(rel, &pattern) != matching {
                return Some(format!("{name}: rows that match {pattern:?}"));
            }
        }
        None
    }

    fn describe(&self, rel: RelId, found: &[Tuple], expected: &[Tuple]) -> String {
        let only = |these: &[Tuple], those: &[Tuple]| {
            let rows = these.iter().filter(|it| !those.contains(it)).take(8);
            let names: Vec<String> = rows.map(|it| self.program.tuple_name(rel, it)).collect();
            names.join(" ")
        };
        let (missing, extra) = (only(expected, found), only(found, expected));
        format!("{}: missing {{{missing}}}, extra {{{extra}}}", self.program.relation(rel).name)
    }
}

fn relations(program: &Program) -> impl Iterator<Item = RelId> + use<> {
    (0..program.relations.len() as u16).map(RelId)
}

/// The relations that never change agree, too.
fn statics_agree(world: &mut World, reference: &Reference) {
    let expected = reference.rows(world);
    for rel in relations(&reference.program) {
        let (found, rows) = (world.tuples(rel), expected.rows(rel));
        assert!(found == rows, "{}", reference.describe(rel, &found, rows));
    }
}

/// Random games of one kind, one after the other.
struct Walk {
    game: String,
    seed: u64,
    choices: Choices,
    reference: Reference,
    contract: Contract,
    start: World,
    world: World,
    /// The states of this game that can be returned to.
    marks: Vec<WorldMark>,
    ply: u32,
    compared: u32,
}

impl Walk {
    fn new(game: &str, seed: u64, start: World, contract: Contract) -> Self {
        let reference = Reference::of(start.program());
        let world = start.clone();
        let (game, choices) = (game.to_owned(), Choices(seed));
        let mut walk = Self {
            game,
            seed,
            choices,
            reference,
            contract,
            start,
            world,
            marks: Vec::new(),
            ply: 0,
            compared: 0,
        };
        statics_agree(&mut walk.world, &walk.reference);
        walk
    }

    /// The first half interpreted, the second as machine code.
    fn run(&mut self, plies: u32) {
        while self.ply < plies {
            if self.ply == plies / 2 {
                self.world.plan().make_native();
            }
            self.step();
            self.ply += 1;
        }
    }

    /// Tries moves, plays one, and compares.
    fn step(&mut self) {
        for _ in 0..2 {
            self.try_one();
        }
        let moves = legal_moves(&mut self.world, &self.contract);
        if moves.is_empty() || self.choices.one_in(200) {
            self.world = self.start.clone();
            self.marks.clear();
            return;
        }
        match self.choices.below(24) {
            0..12 => {
                self.world.commit();
                self.marks.clear();
            }
            12..20 => self.marks.push(self.world.mark()),
            20 if !self.marks.is_empty() => return self.take_back(),
            21 => self.count_on(),
            22 => self.world.forget_rows(),
            _ => {}
        }
        let mv = &moves[self.choices.below(moves.len())];
        self.world.fire(mv.action, &mv.args).unwrap_or_else(|it| panic!("{it}"));
        self.compare("a move");
        if self.choices.one_in(8) {
            self.compare_from_scratch();
        }
    }

    /// Takes one or two moves, looks at all, some or none of the rows, and takes them back.
    fn try_one(&mut self) {
        let mark = self.world.mark();
        let Some(mv) = self.any_move() else { return };
        self.world.fire(mv.action, &mv.args).unwrap_or_else(|it| panic!("{it}"));
        let deeper = self.choices.one_in(4).then(|| self.any_move()).flatten();
        if let Some(mv) = deeper {
            let inner = self.world.mark();
            self.world.fire(mv.action, &mv.args).unwrap_or_else(|it| panic!("{it}"));
            if self.choices.one_in(2) {
                self.compare("a second move tried");
            }
            self.world.rollback(inner);
        }
        match self.choices.below(4) {
            0 => self.compare("a move tried"),
            1 => self.compare_other("a move tried"),
            _ => {}
        }
        self.world.rollback(mark);
        if self.choices.one_in(4) {
            self.compare("a move taken back");
        }
    }

    /// Mostly a legal move, else one that may leave a royal piece attacked.
    fn any_move(&mut self) -> Option<Move> {
        let moves = match self.choices.one_in(4) {
            true => pseudo_moves(&mut self.world),
            false => legal_moves(&mut self.world, &self.contract),
        };
        (!moves.is_empty()).then(|| moves[self.choices.below(moves.len())].clone())
    }

    fn take_back(&mut self) {
        let at = self.choices.below(self.marks.len());
        self.world.rollback(self.marks[at]);
        self.marks.truncate(at);
        self.compare("moves taken back");
    }

    /// Writes counters as a game does that goes on for long.
    fn count_on(&mut self) {
        let clock = [0, 99, 100, 150][self.choices.below(4)];
        self.world.set_raw(
            GAME,
            self.contract.notation.clock.expect("a counter").attr,
            Some(clock),
        );
        if let Some(occurrences) = self.contract.occurrences {
            let times = [1, 3, 5][self.choices.below(3)];
            self.world.set_raw(GAME, occurrences.attr, Some(times));
        }
        self.compare("counters set");
    }

    fn compare(&mut self, after: &str) {
        let expected = self.reference.rows(&self.world);
        let mut difference =
            self.reference.difference(&mut self.world, &expected, &mut self.choices);
        if self.choices.one_in(4) {
            difference = difference.or_else(|| {
                self.reference.other_difference(&mut self.world, &expected, &mut self.choices)
            });
        }
        self.judge(difference, after);
    }

    /// Looks at some relations only, so that others stay as they were left.
    fn compare_other(&mut self, after: &str) {
        let expected = self.reference.rows(&self.world);
        let difference =
            self.reference.other_difference(&mut self.world, &expected, &mut self.choices);
        self.judge(difference, after);
    }

    /// What was kept from change to change is what follows from the facts alone.
    fn compare_from_scratch(&mut self) {
        let mut scratch = self.world.clone();
        scratch.forget_rows();
        let (live, world) = (&self.reference.live, &mut self.world);
        let difference = live.iter().find_map(|&rel| {
            let (kept, found) = (world.tuples(rel), scratch.tuples(rel));
            (kept != found).then(|| self.reference.describe(rel, &kept, &found))
        });
        assert_eq!(scratch.broken_key(), None, "{}, seed {}", self.game, self.seed);
        assert_eq!(scratch.check(), Ok(()));
        self.judge(difference, "forgetting all rows");
    }

    fn judge(&mut self, difference: Option<String>, after: &str) {
        self.compared += 1;
        let Some(difference) = difference else { return };
        // The text of the position may be wrong as well, but the evaluator cannot be asked twice.
        let fen = write_fen(&mut self.world, &self.contract);
        let Self { game, seed, ply, .. } = self;
        panic!("{game}, seed {seed}, ply {ply}, after {after}, at {fen}\n{difference}");
    }
}

fn load(game: &str) -> Ruleset {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    catalogue.load::<&str>(game, &[]).unwrap_or_else(|it| panic!("{game}: {it}"))
}

fn start(rules: &Ruleset) -> World {
    rules.start(None).unwrap_or_else(|it| panic!("{it}")).world_mut().clone()
}

/// Walks through the games of that name, each for its share of the plies.
fn agree(games: &[&str], number: u32) {
    for (seed, game) in (1..).zip(games) {
        let rules = load(game);
        let mut walk = Walk::new(game, seed, start(&rules), rules.contract().clone());
        walk.run(number / games.len() as u32);
        assert!(walk.compared > walk.ply, "{game}");
    }
}

#[test]
fn chess() {
    agree(&["chess"], plies(5000));
}

#[test]
fn shuffled_starts() {
    let games = [
        "chess960:position=0",
        "chess960:position=959",
        "chess960:position=518",
        "chess960:position=357",
        "chess960:position=692",
    ];
    agree(&games, plies(5000));
}

#[test]
fn another_royal_kind() {
    agree(&["knightmate"], plies(5000));
}

#[test]
fn another_royal_kind_on_the_orthodox_layout() {
    agree(&["knightmate-classic"], plies(5000));
}

#[test]
fn a_second_royal_kind() {
    agree(&["coregal"], plies(5000));
}

#[test]
fn nothing_royal_and_captures_forced() {
    agree(&["antichess"], plies(5000));
}

#[test]
fn captures_forced_with_castling() {
    agree(&["giveaway"], plies(5000));
}

#[test]
fn lines_that_bend() {
    agree(&["bouncing-1", "bouncing-2", "wrap-board"], plies(600));
}

#[test]
fn pawns_that_march_otherwise() {
    agree(&["berolina", "berolina-white", "berolina-2", "berolina-2-white"], plies(1200));
}

#[test]
fn turns_of_two_half_moves() {
    let games = ["double-move", "double-move-rc", "monster", "monster-rc", "monster-kingcapture"];
    agree(&games, plies(1500));
}

#[test]
fn several_kings() {
    let games = ["dual-king-castle", "weak-dual-king", "weak-dual-king-last-royal"];
    agree(&games, plies(900));
}

#[test]
fn other_ways_to_end() {
    let games = [
        "suicide",
        "first-promotion",
        "pawns-only",
        "capture-all",
        "last-piece-standing",
        "extinction",
        "extinct-knight",
        "capture-to-win",
    ];
    agree(&games, plies(2400));
}

#[test]
fn hops_leaps_and_vetoes() {
    agree(&["cannon", "knights-leap-twice", "knight-immunity"], plies(900));
}

#[test]
fn wounds_blasts_and_fatigue() {
    let games = [
        "piece-hp",
        "piece-shield",
        "king-heals",
        "queen-splits",
        "explosive-rook",
        "poisoned-squares",
        "berserker",
        "stamina",
    ];
    agree(&games, plies(800));
}

/// The same facts under rows of another width.
fn widened(rules: &Ruleset, width: usize) -> World {
    let plan = Plan::compile_wide(Arc::clone(rules.program()), width, &Memo::default());
    let plan = Arc::new(plan.unwrap_or_else(|it| panic!("{it}")));
    let mut world = World::new(plan, Backend::Bits);
    for fact in start(rules).facts().all_facts() {
        world.insert(fact.entity, fact.attr, fact.value).unwrap_or_else(|it| panic!("{it}"));
    }
    world.commit();
    world
}

#[test]
fn wider_rows() {
    for width in [128, 256] {
        for (seed, game) in (1..).zip([
            "chess",
            "chess960",
            "knightmate",
            "knightmate-classic",
            "coregal",
            "antichess",
            "giveaway",
            "cannon",
            "bouncing-2",
            "double-move",
        ]) {
            let rules = load(game);
            let name = format!("{game} in rows of {width}");
            let world = widened(&rules, width);
            Walk::new(&name, seed, world, rules.contract().clone()).run(plies(150));
        }
    }
}

/// A random value of a column's type, or none.
fn value(choices: &mut Choices, program: &Program, ty: Type) -> Option<i64> {
    let below = match ty {
        Type::Int | Type::Text => 12,
        Type::Domain(id) => match program.schema.domain(id).shape {
            Shape::Entities { cap } => {
                return Some(1 + choices.below(usize::from(cap).min(9) - 1) as i64);
            }
            _ => program.schema.domain(id).size(),
        },
    };
    (!choices.one_in(6)).then(|| choices.below(below) as i64)
}

/// Writes one fact of a random input.
fn write(choices: &mut Choices, world: &mut World, inputs: &[(RelId, Input)]) {
    let program = Arc::clone(world.program());
    let (rel, input) = inputs[choices.below(inputs.len())];
    let columns = &program.relation(rel).columns;
    let mut entity = |at: usize| {
        let raw = value(choices, &program, columns[at].ty).unwrap_or(1);
        EntityId(raw as u32)
    };
    let (entity, new) = match input {
        Input::Key(_) => (entity(0), value(choices, &program, columns[1].ty)),
        Input::Flag(_) => (entity(0), Some(choices.below(2) as i64)),
        Input::Game(_) => (GAME, value(choices, &program, columns[0].ty)),
        Input::GameFlag(_) => (GAME, Some(choices.below(2) as i64)),
        Input::List(..) => (entity(0), Some(choices.below(2) as i64)),
    };
    let attrs: Vec<_> = input.attrs().collect();
    world.set_raw(entity, attrs[choices.below(attrs.len())], new);
}

/// Random facts, actions, marks and rollbacks under a program that is not about chess.
fn programs_agree(name: &str, sources: Vec<Source>, seed: u64, steps: u32) {
    let program = Arc::new(compile(sources).unwrap_or_else(|it| panic!("{it}")));
    let plan = Plan::compile(Arc::clone(&program)).unwrap_or_else(|it| panic!("{name}: {it}"));
    if seed % 2 == 1 {
        plan.make_native();
    }
    let mut world = World::new(Arc::new(plan), Backend::Bits);
    let reference = Reference::of(&program);
    statics_agree(&mut world, &reference);
    let inputs: Vec<(RelId, Input)> = relations(&program)
        .filter_map(|rel| match program.relation(rel).role {
            Role::Input(input) => Some((rel, input)),
            _ => None,
        })
        .collect();
    if inputs.is_empty() {
        return;
    }
    let mut choices = Choices(seed);
    let mut marks: Vec<WorldMark> = Vec::new();
    for step in 0..steps {
        match choices.below(12) {
            0 => marks.push(world.mark()),
            1 if !marks.is_empty() => {
                marks.truncate(1 + choices.below(marks.len()));
                marks.pop().into_iter().for_each(|it| world.rollback(it));
            }
            2 => {
                marks.clear();
                world.commit();
            }
            3 | 4 => {
                let moves = pseudo_moves(&mut world);
                if !moves.is_empty() {
                    let mv = &moves[choices.below(moves.len())];
                    let _refused = fire_alike(&mut world, mv.action, &mv.args).is_err();
                }
            }
            5 => world.forget_rows(),
            _ => write(&mut choices, &mut world, &inputs),
        }
        let expected = reference.rows(&world);
        let all =
            choices.one_in(2).then(|| reference.difference(&mut world, &expected, &mut choices));
        let some = reference.other_difference(&mut world, &expected, &mut choices);
        if let Some(difference) = all.flatten().or(some) {
            panic!("{name}, seed {seed}, step {step}\n{difference}");
        }
    }
}

#[test]
fn machine_code_is_made_where_it_is_known() {
    let rules = load("chess");
    let known = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    for width in [64, 128, 256] {
        let made = widened(&rules, width).plan().make_native();
        assert_eq!(made, known && cfg!(feature = "native"), "rows of {width} bits");
    }
}

#[test]
fn programs_that_are_not_chess() {
    for (name, sources) in corpus("ok") {
        for seed in 0..4 {
            programs_agree(&name, sources.clone(), seed, plies(150));
        }
    }
}

/// Sliders that go through enemies: two recursive rules of one row, each
/// of which goes on from where the other has come to.
const THROUGH_C: &str = r#"
.meta preset "through-c"
.meta name "Through c"
.meta description "Sliders go through enemies"
.domain Preset += { through-c }
.decl ray3(piece: Entity, dir: Dir, to: Square) "{piece} reaches {to} {dir}"
ray3(p, d, t) :- slide(p, d, t).
ray3(p, d, t) :- ray3(p, d, s), !occupied(s), step(d, s, t).
ray3(p, d, t) :- ray3(p, d, s), color(p, c), opponent(c, o), held(o, s), step(d, s, t).
attacks(p, t) :- active('through-c, _), ray3(p, _, t).
"#;

/// Chess with a preset that is none of the package's.
pub(crate) fn chess_with(name: &str, text: &str) -> Ruleset {
    let mut catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let path = format!("rules/presets/{name}.dl");
    let source = Source { path, text: text.into() };
    catalogue.add(source).unwrap_or_else(|it| panic!("{it}"));
    catalogue.load("chess", &[name]).unwrap_or_else(|it| panic!("{it}"))
}

#[test]
fn recursive_rules_of_a_row_feed_each_other() {
    let rules = chess_with("through-c", THROUGH_C);
    for native in [false, true] {
        let fen = Some("6k1/n7/8/p7/8/p7/8/R6K w - - 0 1");
        let mut world = rules.start(fen).unwrap_or_else(|it| panic!("{it}")).world_mut().clone();
        if native {
            world.plan().make_native();
            world.forget_rows();
        }
        let attacks = crate::fixture::rows(&mut world, "attacks");
        assert!(attacks.iter().any(|it| it.ends_with(", a6)")), "{attacks:?}");
        statics_agree(&mut world, &Reference::of(rules.program()));
    }
    Walk::new("through-c", 1, start(&rules), rules.contract().clone()).run(plies(60));
}

/// Pawns stay away from squares under attack beside others: the rule reads what pieces attack twice, and one piece alone may
/// attack both squares. It attacks neither any more when it moves.
pub(crate) const CROSSFIRE: &str = r#"
.meta preset "crossfire"
.meta family "chess"
.meta name "Crossfire"
.meta description "Pawns do not go where a side attacks that square and the one south-east of it"
.domain Preset += { crossfire }
.decl crossfire(square: Square, other: Square) "a side attacks {square} and {other}"
crossfire(v, w) :- attacks(p, v), attacks(q, w), step('se, v, w), color(p, c), color(q, c).
forbidden(p, t) :- active('crossfire, c), color(p, c), kind(p, 'pawn), goes(p, t), crossfire(t, _).
"#;

#[test]
fn tuples_that_go_together_are_missed_together() {
    let rules = chess_with("crossfire", CROSSFIRE);
    Walk::new("crossfire", 1, start(&rules), rules.contract().clone()).run(plies(200));
}

/// Each goes on until something stands in its way: what came to stand there says nothing of who is on
/// the way.
const STOPS_BEFORE: &str = r#"
.domain D { a, b, c, d, e }
.domain E entities 8
.input at(e: E, d: D) key attr at
.static ahead(from: D, to: D) key
ahead('a, 'b). ahead('b, 'c). ahead('c, 'd). ahead('d, 'e).
.decl reach(e: E, d: D)
reach(u, x) :- at(u, x).
reach(u, x) :- reach(u, y), ahead(y, x), !at(_, x).
.decl ends(e: E, d: D)
ends(u, x) :- at(u, x).
ends(u, x) :- ends(u, y), at(_, x), ahead(_, x), x != y.
.action go(e: E, d: D) "{e} goes to {d}"
go(u, x) :- reach(u, x), ends(u, x).
"#;

#[test]
fn changes_that_name_no_block_reach_all_blocks() {
    let program = crate::fixture::program(STOPS_BEFORE);
    let mut world = crate::fixture::world(&program, Backend::Bits);
    let at = program.schema.attribute_named("at").unwrap_or_else(|| panic!("at"));
    let mut choices = Choices(7);
    for step in 0..200 {
        let entity = EntityId(1 + choices.below(6) as u32);
        let square = (!choices.one_in(4)).then(|| choices.below(5) as i64);
        world.set_raw(entity, at, square);
        let mut twin = crate::reactions::twin(&world);
        for name in ["reach", "ends", "go"] {
            let [found, rows] = [&mut world, &mut twin].map(|it| crate::fixture::rows(it, name));
            assert_eq!(found, rows, "{name}, step {step}");
        }
    }
}

/// There are more relations than bits in a word, and each is kept.
#[test]
fn changes_reach_the_last_of_many_relations() {
    let mut text = String::from(
        ".domain D { a, b, c, d, e }\n.domain E entities 8\n.input at(e: E, d: D) key attr at\n\
         .static ahead(from: D, to: D) key\n\
         ahead('a, 'b). ahead('b, 'c). ahead('c, 'd). ahead('d, 'e). ahead('e, 'a).\n\
         .decl r0(e: E, d: D)\nr0(u, x) :- at(u, x).\n.action go(e: E, d: D) \"{e} goes to {d}\"\n",
    );
    for at in 1..150 {
        let last = at - 1;
        text += &format!(
            ".decl r{at}(e: E, d: D)\nr{at}(u, x) :- r{last}(u, y), ahead(y, x), !at(_, x).\n\
             r{at}(u, x) :- r{last}(u, x), at(_, y), ahead(x, y).\ngo(u, x) :- r{at}(u, x).\n"
        );
    }
    let program = crate::fixture::program(&text);
    let mut world = crate::fixture::world(&program, Backend::Bits);
    let at = program.schema.attribute_named("at").unwrap_or_else(|| panic!("at"));
    let mut choices = Choices(3);
    let mut marks = Vec::new();
    for step in 0..60 {
        if choices.one_in(3) {
            marks.push(world.mark());
        } else if choices.one_in(4)
            && let Some(mark) = marks.pop()
        {
            world.rollback(mark);
        }
        let entity = EntityId(1 + choices.below(6) as u32);
        let square = (!choices.one_in(4)).then(|| choices.below(5) as i64);
        world.set_raw(entity, at, square);
        let mut twin = crate::reactions::twin(&world);
        for name in ["r1", "r70", "r149", "go"] {
            let [found, rows] = [&mut world, &mut twin].map(|it| crate::fixture::rows(it, name));
            assert_eq!(found, rows, "{name}, step {step}");
        }
    }
}
