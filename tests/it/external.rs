//! Presets of other crates: each point is called when it should be and for whom, what code does is
//! undone, saved and judged like what rules do, and code that is missing or wrong is named.
//!
//! A preset of shields is the example of `presets::external`.

use std::sync::Arc;

use rulemate::internals::audit;
use rulemate::internals::derive::explain::{Finding, Limits, Trial};
use rulemate::internals::derive::{Backend, Done, Refusal};
use rulemate::internals::facts::{EntityId, GAME};
use rulemate::internals::game::{Game, PlayError};
use rulemate::internals::presets::save::{Content, Form, RestoreError, RulesFrom, Save};
use rulemate::internals::presets::{
    Catalogue, LoadError, Moment, Opinion, Point, Preset, Ruleset, Source,
};
use rulemate::internals::proof::Checker;

use crate::fixture::texts;
use crate::reactions::fire_alike;

/// Writes a line into the record at every point.
#[derive(Debug)]
struct Chronicle;

const ALL: [Point; 12] = [
    Point::Activate,
    Point::Deactivate,
    Point::BeforeMove,
    Point::BeforeCapture,
    Point::Damage("absorb"),
    Point::PieceSpawn,
    Point::PieceRetract,
    Point::AdvanceTurn,
    Point::AfterMove,
    Point::TurnStart,
    Point::CheckGameResult,
    Point::DescribeMoveEffect,
];

fn square(now: &mut Moment<'_>, piece: &str) -> String {
    let piece = now.entity(piece);
    now.get_word(piece, "position").unwrap_or_else(|| "nowhere".into())
}

impl Preset for Chronicle {
    fn rules(&self) -> String {
        ".meta preset \"chronicle\"\n\
         .meta name \"Chronicle\"\n\
         .meta description \"Tells everything\"\n\
         .domain Preset += { chronicle }\n"
            .into()
    }
    fn points(&self) -> Vec<Point> {
        ALL.to_vec()
    }
    fn on_activate(&self, now: &mut Moment<'_>) {
        let activation = now_entity(now);
        assert!(now.holds("preset", &[&activation, "chronicle"]));
    }
    fn on_deactivate(&self, now: &mut Moment<'_>) {
        now.note("deactivated");
    }
    fn on_before_move(&self, now: &mut Moment<'_>) {
        let (event, from, to) = (now.event().to_string(), square(now, "piece"), now.word("to"));
        now.note(&format!("before {event} {from} {to}"));
    }
    fn on_before_capture(&self, now: &mut Moment<'_>) {
        let (from, at) = (square(now, "attacker"), square(now, "target"));
        now.note(&format!("{from} captures {at}"));
    }
    fn on_damage(&self, now: &mut Moment<'_>) {
        let (at, kind, amount) = (square(now, "target"), now.word("kind"), now.int("amount"));
        now.note(&format!("{amount} {kind} on {at}"));
    }
    fn on_piece_spawn(&self, now: &mut Moment<'_>) {
        let at = square(now, "piece");
        now.note(&format!("new on {at}"));
    }
    fn on_piece_retract(&self, now: &mut Moment<'_>) {
        let at = square(now, "piece");
        now.note(&format!("death on {at}"));
    }
    fn should_advance_turn(&self, now: &mut Moment<'_>) -> bool {
        now.note("advance?");
        true
    }
    fn on_after_move(&self, now: &mut Moment<'_>) {
        let turn = now.get_word(GAME, "turn").unwrap_or_default();
        now.note(&format!("after, {turn} to move"));
    }
    fn on_turn_start(&self, now: &mut Moment<'_>) {
        let turn = now.get_word(GAME, "turn").unwrap_or_default();
        now.note(&format!("turn of {turn}"));
    }
    fn check_game_result(&self, now: &mut Moment<'_>) -> Option<Opinion> {
        now.note("over?");
        None
    }
    fn describe_move_effect(&self, _: &mut Moment<'_>) -> Option<String> {
        Some("described".into())
    }
}

fn now_entity(now: &mut Moment<'_>) -> String {
    format!("#{}", now.entity("activation").0)
}

fn with(preset: impl Preset + 'static) -> Catalogue {
    let mut catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    catalogue.register(preset).unwrap_or_else(|it| panic!("{it}"));
    catalogue
}

fn start(catalogue: &Catalogue, presets: &[&str], fen: Option<&str>) -> (Ruleset, Game) {
    let rules = catalogue.load("chess", presets).unwrap_or_else(|it| panic!("{it}"));
    let game = rules.start(fen).unwrap_or_else(|it| panic!("{it}"));
    (rules, game)
}

/// Plays a move, by both evaluators, and gives the lines of its record.
fn play(game: &mut Game, uci: &str) -> Vec<String> {
    let mv = game.find_move(uci).unwrap_or_else(|it| panic!("{uci}: {it}"));
    let world = game.world_mut();
    let mark = world.mark();
    fire_alike(world, mv.action, &mv.args).unwrap_or_else(|it| panic!("{uci}: {it}"));
    world.rollback(mark);
    let record = game.play(&mv).unwrap_or_else(|it| panic!("{uci}: {it}"));
    record.notes().iter().map(ToString::to_string).collect()
}

/// Thinks one thing about the end of every game.
#[derive(Debug)]
struct Umpire(Option<Opinion>);

impl Preset for Umpire {
    fn rules(&self) -> String {
        ".meta preset \"umpire\"\n\
         .meta name \"Umpire\"\n\
         .meta description \"Has an opinion\"\n\
         .domain Preset += { umpire }\n"
            .into()
    }
    fn points(&self) -> Vec<Point> {
        vec![Point::CheckGameResult]
    }
    fn check_game_result(&self, _: &mut Moment<'_>) -> Option<Opinion> {
        self.0
    }
}

#[test]
fn an_opinion_ends_a_game_or_keeps_it_going() {
    // A rook mates on the back rank, or only steps beside its king.
    for (opinion, mate, step) in [
        (None, true, false),
        (Some(Opinion::Ongoing), false, false),
        (Some(Opinion::Over("draw")), true, true),
    ] {
        for (uci, over) in [("a1a8", mate), ("a1d1", step)] {
            let catalogue = with(Umpire(opinion));
            let fen = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1";
            let (_, mut game) = start(&catalogue, &["umpire"], Some(fen));
            play(&mut game, uci);
            assert_eq!(game.result().is_some(), over, "{opinion:?} after {uci}");
        }
    }
}

const QUEENS: &str = "4k3/8/8/3p4/8/8/3Q4/4K3 w - - 0 1";

#[test]
fn every_point_is_called_in_its_order() {
    let catalogue = with(Chronicle);
    let (_, mut game) = start(&catalogue, &["queen-splits", "chronicle"], Some(QUEENS));
    assert_eq!(
        play(&mut game, "d2d5"),
        [
            "before move d2 d5",
            "d2 captures d5",
            "1 capture on d5",
            "death on d5",
            "the white queen on d2 splits into a rook on d5 and a bishop on d2",
            "new on d2",
            "advance?",
            "after, black to move",
            "turn of black",
            "over?",
            "described",
        ]
    );
}

#[test]
fn points_keep_to_the_scope_of_the_activation() {
    let catalogue = with(Chronicle);
    let (_, mut game) = start(&catalogue, &["queen-splits", "chronicle:black"], Some(QUEENS));
    // The mover's points are silent, those of the target and of the side to move are not.
    assert_eq!(
        play(&mut game, "d2d5")[..3],
        [
            "1 capture on d5",
            "death on d5",
            "the white queen on d2 splits into a rook on d5 and a bishop on d2"
        ]
    );
    let (_, mut game) = start(&catalogue, &["queen-splits", "chronicle:white"], Some(QUEENS));
    let lines = play(&mut game, "d2d5");
    assert!(lines.contains(&"d2 captures d5".into()) && lines.contains(&"new on d2".into()));
    assert!(!lines.contains(&"death on d5".into()) && !lines.contains(&"turn of black".into()));
}

#[test]
fn a_call_is_a_step_of_the_trace_with_its_reaction() {
    let catalogue = with(Chronicle);
    let (rules, mut game) = start(&catalogue, &["chronicle"], None);
    play(&mut game, "e2e4");
    let trace = game.history()[0].trace().unwrap_or_else(|| panic!("no trace"));
    let called = trace.done().filter_map(|(step, done)| match done {
        Done::Called { name, .. } => Some((step, name.as_str())),
        _ => None,
    });
    let called: Vec<_> = called.collect();
    let names: Vec<&str> = called.iter().map(|it| it.1).collect();
    assert_eq!(
        names,
        [
            "on_before_move",
            "should_advance_turn",
            "on_after_move",
            "on_turn_start",
            "check_game_result",
            "describe_move_effect"
        ]
    );
    let program = rules.program();
    let place = program.place(program.reactions[called[0].0.reaction].span);
    assert!(place.starts_with("rust/chronicle.dl:"), "{place}");
}

/// Heavy boots: who moves gets tired, a third move of a piece is refused, the king's is not.
#[derive(Debug, Clone, Copy)]
struct Boots {
    version: &'static str,
}

impl Preset for Boots {
    fn rules(&self) -> String {
        ".meta preset \"boots\"\n\
         .meta description \"Every piece moves twice\"\n\
         .meta option \"moves: how often\"\n\
         .domain Preset += { boots }\n\
         .input tired(piece: Entity, n: Int) key attr tired \"{piece} has moved {n} times\"\n\
         .input most(activation: Entity, n: Int) key attr \"boots.moves\" = 2 \"{activation} allows {n}\"\n"
            .into()
    }
    fn version(&self) -> &str {
        self.version
    }
    fn points(&self) -> Vec<Point> {
        vec![Point::BeforeMove, Point::AdvanceTurn, Point::CheckGameResult]
    }
    fn on_before_move(&self, now: &mut Moment<'_>) {
        if now.event() != "move" {
            return;
        }
        let piece = now.entity("piece");
        let moved = now.get_int(piece, "tired").unwrap_or(0);
        let active = now.entities("preset");
        let most = active.iter().find_map(|it| now.get_int(*it, "boots.moves")).unwrap_or(0);
        if moved >= most {
            let at = now.get_word(piece, "position").unwrap_or_default();
            now.veto(&format!("whoever stands on {at} is too tired"));
        }
        now.set(piece, "tired", moved + 1);
    }
    fn should_advance_turn(&self, now: &mut Moment<'_>) -> bool {
        // White's first turn has two half-moves.
        let number = now.get_int(GAME, "fullmove").unwrap_or(0);
        let played = now.get_int(GAME, "half_moves").unwrap_or(0);
        !(number == 1 && played == 0 && now.get_word(GAME, "turn").as_deref() == Some("white"))
    }
    fn check_game_result(&self, now: &mut Moment<'_>) -> Option<Opinion> {
        let all = now.rows("tired");
        (all.len() > 5).then_some(Opinion::Over("black_wins"))
    }
}

#[test]
fn vetoes_are_no_legal_moves_and_undo_takes_all_back() {
    let catalogue = with(Boots { version: "1" });
    let (_, mut game) = start(&catalogue, &["boots:both:moves=1"], None);
    let mut hashes = vec![game.hash()];
    for uci in ["b1c3", "d2d4", "b8c6"] {
        play(&mut game, uci);
        hashes.push(game.hash());
    }
    assert!(!texts(&mut game).iter().any(|it| it.starts_with("c3")));
    let unread = game.play_text("c3b5").map(|_| ()).expect_err("it is tired");
    let PlayError::Text(unread) = unread else { panic!("{unread}") };
    let candidate = unread.candidate().unwrap_or_else(|| panic!("{unread}"));
    let refused = game.play(candidate).map(|_| ()).expect_err("it is tired");
    assert!(refused.to_string().contains("whoever stands on c3 is too tired"), "{refused}");
    assert_eq!(game.hash(), hashes[3], "a veto changes nothing");
    for _ in 0..3 {
        hashes.pop();
        assert!(game.takeback().is_some());
        assert_eq!(Some(&game.hash()), hashes.last());
    }
    assert_eq!(texts(&mut game).len(), 20);
    for uci in ["b1c3", "d2d4", "b8c6", "g1f3", "g8f6"] {
        play(&mut game, uci);
        assert!(game.result().is_none());
    }
    play(&mut game, "e2e4");
    let result = game.result().map(ToString::to_string);
    assert_eq!(result.as_deref(), Some("black wins by boots"));
}

/// As without the preset: the rest of the turn is a turn, and no half-move counts on.
#[test]
fn a_turn_under_way_ends_when_code_that_lengthens_it_is_switched_off() {
    let catalogue = with(Boots { version: "1" });
    let (rules, mut game) = start(&catalogue, &["boots"], None);
    play(&mut game, "e2e4");
    let half_moves = |game: &Game| {
        let attr = game.program().schema.attribute_named("half_moves");
        attr.and_then(|it| game.facts().get_raw(GAME, it))
    };
    assert_eq!(half_moves(&game), Some(1));
    let off = catalogue.set_active(&rules, &mut game, &[] as &[&str]);
    off.unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(half_moves(&game), Some(0));
    play(&mut game, "d2d4");
    play(&mut game, "d7d5");
}

#[test]
fn both_evaluators_play_by_the_same_code() {
    let catalogue = with(Boots { version: "1" });
    let rules = catalogue.load("chess", &["boots", "piece-hp:black"]);
    let rules = rules.unwrap_or_else(|it| panic!("{it}"));
    let start = |backend| rules.start_on(backend, None).unwrap_or_else(|it| panic!("{it}"));
    let (mut bits, mut frog) = (start(Backend::Bits), start(Backend::Frog));
    for uci in ["e2e4", "d2d4", "d7d5", "e4d5"] {
        for game in [&mut bits, &mut frog] {
            game.play_text(uci).unwrap_or_else(|it| panic!("{uci}: {it}"));
        }
        assert_eq!(bits.hash(), frog.hash());
        assert_eq!(texts(&mut bits), texts(&mut frog));
    }
}

#[test]
fn saves_name_the_preset_and_need_its_code() {
    let catalogue = with(Boots { version: "1" });
    let (rules, mut game) = start(&catalogue, &["boots"], None);
    for uci in ["e2e4", "d2d4", "d7d5"] {
        play(&mut game, uci);
    }
    let save = Save::of(&game, &rules, Content { rules: true }).unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(save.presets, ["boots:both:moves=2"]);
    for form in [Form::Json, Form::Binary] {
        let bytes = save.write(form);
        let (read, _) = Save::read(&bytes, "").unwrap_or_else(|it| panic!("{it}"));
        for from in [RulesFrom::Here, RulesFrom::Save] {
            let restored = read.restore(&catalogue, from).unwrap_or_else(|it| panic!("{it}"));
            assert_eq!(restored.game.hash(), game.hash());
            let embedded = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
            let refused = read.restore(&embedded, from).expect_err("the code is not there");
            assert_eq!(
                refused.to_string(),
                "the save is of a game with the preset boots, whose code belongs to another program: \
                 it is not registered here"
            );
        }
        let newer = with(Boots { version: "2" });
        let refused = read.restore(&newer, RulesFrom::Here).expect_err("it is another version");
        assert!(
            matches!(&refused, RestoreError::Rules { files, .. } if *files == ["rust/boots.dl"])
        );
        let audited = audit::save(&bytes, "", &catalogue, RulesFrom::Here, &mut |_| {});
        let tally = audited.unwrap_or_else(|it| panic!("{it}"));
        // What code does is taken on trust, and counted.
        assert_eq!((tally.plies, tally.report.code > 0), (3, true));
    }
}

/// Its code asks for what there is not.
#[derive(Debug, Clone, Copy)]
struct Wrong(&'static str);

impl Preset for Wrong {
    fn rules(&self) -> String {
        ".meta preset \"wrong\"\n.domain Preset += { wrong }\n\
         .event counted(n: Int) \"{n} is counted\"\n\
         on any in after when active('wrong, 'white) do call other(), note \"called\".\n"
            .into()
    }
    fn points(&self) -> Vec<Point> {
        vec![Point::AfterMove]
    }
    fn on_after_move(&self, now: &mut Moment<'_>) {
        match self.0 {
            "attribute" => now.set(GAME, "manna", 1),
            "argument" => assert_eq!(now.int("amount"), 0),
            "type" => now.set(GAME, "fullmove", true),
            "stop" => now.stop(),
            "event" => now.raise("dammage", &[]),
            "truth" => now.raise("spawned", &[true.into(), true.into()]),
            "far" => now.raise("spawned", &[EntityId(9999).into(), EntityId(1).into()]),
            "farther" => now.emit("spawned", &[EntityId(1).into(), EntityId(u32::MAX).into()]),
            "least" => now.raise("counted", &[i64::MIN.into()]),
            "counter" => now.set(GAME, "next_entity", 5),
            "no counter" => now.retract(GAME, "next_entity"),
            "entities" => assert!(now.entities("turn").is_empty()),
            "row" => assert!(!now.holds("turn", &["white", "_"])),
            _ => {}
        }
    }
    fn call(&self, name: &str, _: &mut Moment<'_>) -> bool {
        name == "other" && self.0 != "nobody"
    }
}

#[test]
fn what_code_gets_wrong_is_named_and_undone() {
    for (what, said) in [
        ("attribute", "calls on_after_move, but its code names an unknown attribute, manna"),
        ("argument", "calls on_after_move, but its code names an unknown argument, amount"),
        ("type", "calls on_after_move, but attribute fullmove takes an integer"),
        (
            "stop",
            "calls on_after_move, but stop is only for events that are raised, and this is an action",
        ),
        ("event", "calls on_after_move, but its code names an unknown event, dammage"),
        ("truth", "calls on_after_move, but spawned is no event of such arguments"),
        ("far", "calls on_after_move, but there is no entity 9999: ids end before 64"),
        ("farther", "calls on_after_move, but there is no entity 4294967295: ids end before 64"),
        ("least", "calls on_after_move, but column n takes every integer of 64 bits but the least"),
        ("counter", "calls on_after_move, but next_entity is counted by the engine: only read it"),
        ("no counter", "calls on_after_move, but next_entity is counted by the engine"),
        ("entities", "calls on_after_move, but turn is no relation of entities"),
        ("row", "calls on_after_move, but turn is no relation of so many columns"),
        ("nobody", "calls other, but no code is registered for that"),
    ] {
        let catalogue = with(Wrong(what));
        let (_, mut game) = start(&catalogue, &["wrong"], None);
        let before = game.hash();
        let mv = game.find_move("e2e4").unwrap_or_else(|it| panic!("{it}"));
        let world = game.world_mut();
        let refused = world.fire(mv.action, &mv.args).expect_err("the code is wrong");
        assert!(matches!(refused, Refusal::Call { .. }));
        assert!(refused.to_string().contains(said), "{refused}");
        let refused = game.play_text("e2e4").map(|_| ()).expect_err("the code is wrong");
        assert!(refused.to_string().contains(said), "{refused}");
        assert_eq!(game.hash(), before);
        // No side is mated by a mistake.
        assert!(game.result().is_none());
    }
    let (_, mut game) = start(&with(Wrong("")), &["wrong"], None);
    assert_eq!(play(&mut game, "e2e4"), ["called"]);
}

/// Pairs the piece that moves with itself, and reads that back.
#[derive(Debug)]
struct Pairs;

impl Preset for Pairs {
    fn rules(&self) -> String {
        ".meta preset \"pairs\"\n.domain Preset += { pairs }\n\
         .input partner_of(piece: Entity, other: Entity) key attr partner_of \"{other} goes with {piece}\"\n"
            .into()
    }
    fn points(&self) -> Vec<Point> {
        vec![Point::AfterMove]
    }
    fn on_after_move(&self, now: &mut Moment<'_>) {
        let (piece, word) = (now.entity("piece"), now.word("piece"));
        now.set(piece, "partner_of", piece);
        let read = now.get_word(piece, "partner_of").unwrap_or_default();
        let holds = now.holds("partner_of", &[&word, &read]);
        now.note(&format!("{} {holds}", read == word));
    }
}

#[test]
fn words_of_facts_are_those_of_rows() {
    let (_, mut game) = start(&with(Pairs), &["pairs"], None);
    assert_eq!(play(&mut game, "e2e4"), ["true true"]);
}

#[test]
fn the_registry_judges_external_presets_like_others() {
    #[derive(Debug)]
    struct Text(&'static str);
    impl Preset for Text {
        fn rules(&self) -> String {
            self.0.into()
        }
        fn points(&self) -> Vec<Point> {
            Vec::new()
        }
    }
    let mut catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let nameless = catalogue.register(Text(".domain Preset += { nobody }\n"));
    assert!(nameless.is_err_and(|it| it.to_string().contains("needs a .meta preset")));
    let taken = catalogue.register(Text(".meta preset \"coregal\"\n"));
    assert!(taken.is_err_and(|it| it.to_string().contains("has the name coregal already")));
    let one_sided = ".meta preset \"loner\"\n.domain Preset += { loner }\n\
                     .meta incompatible \"coregal: no\"\n.meta requires \"kompany\"\n";
    catalogue.register(Text(one_sided)).unwrap_or_else(|it| panic!("{it}"));
    let twice = catalogue.register(Text(one_sided));
    assert!(twice.is_err_and(|it| it.to_string().contains("registered already")));
    let refused = catalogue.load::<&str>("chess", &[]).expect_err("it makes no sense");
    assert_eq!(
        refused.to_string(),
        "preset loner requires kompany, which does not exist; \
         preset loner is incompatible with coregal, which does not say so of loner"
    );
}

#[test]
fn rule_files_cannot_call_code_of_their_own() {
    let text = ".meta preset \"sly\"\n.domain Preset += { sly }\n\
                on move(piece, _) when active('sly, _) do call on_before_move(piece).\n";
    let mut catalogue = with(Chronicle);
    let source = Source { path: "sly.dl".into(), text: text.into() };
    catalogue.add(source).unwrap_or_else(|it| panic!("{it}"));
    let refused = catalogue.load("chess", &["sly"]).expect_err("there is no such code");
    assert!(matches!(refused, LoadError::Code { .. }));
    assert_eq!(
        refused.to_string(),
        "sly.dl:3 calls on_before_move, but no code is registered for preset sly"
    );
    let text = ".meta game \"slyer\"\n.meta layout \"orthodox\"\n.meta family \"chess\"\n\
                on move(piece, _) do call on_before_move(piece).\n";
    let source = Source { path: "slyer.dl".into(), text: text.into() };
    catalogue.add(source).unwrap_or_else(|it| panic!("{it}"));
    let refused = catalogue.load::<&str>("slyer", &[]).expect_err("no preset has that code");
    assert_eq!(
        refused.to_string(),
        "slyer.dl:4 calls on_before_move, but only files of presets can call code"
    );
}

#[test]
fn external_presets_come_and_go() {
    let catalogue = Arc::new(with(Chronicle));
    let (rules, mut game) = start(&catalogue, &[], None);
    let on = catalogue.set_active(&rules, &mut game, &["chronicle:white"]);
    let rules = on.unwrap_or_else(|it| panic!("{it}"));
    assert!(play(&mut game, "e2e4").contains(&"before move e2 e4".into()));
    let off = catalogue.set_active::<&str>(&rules, &mut game, &[]);
    off.unwrap_or_else(|it| panic!("{it}"));
    assert!(play(&mut game, "e7e5").is_empty());
}

/// Its code is called after each action.
#[derive(Debug)]
struct Clerk;

impl Preset for Clerk {
    fn rules(&self) -> String {
        ".meta preset \"clerk\"\n.domain Preset += { clerk }\n".into()
    }
    fn points(&self) -> Vec<Point> {
        vec![Point::AfterMove]
    }
    fn on_after_move(&self, _: &mut Moment<'_>) {}
}

/// An action says `until STAGE`, and code is called in a later one: what is decided before it is checked all
/// the same.
#[test]
fn what_is_decided_before_code_is_called_is_checked() {
    let mut catalogue = with(Clerk);
    let source = Source { path: "mine/relay.dl".into(), text: crate::tried::RELAY.into() };
    catalogue.add(source).unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load("relay", &["clerk"]).unwrap_or_else(|it| panic!("{it}"));
    let game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
    let explained = game.clone().explain_move("a1c1", Limits::default()).expect("a move");
    let Finding::Tried(trial) = explained.finding else { panic!("{}", explained.summary) };
    let check = |it: &serde_json::Value| {
        let trial: Trial = serde_json::from_value(it.clone()).expect("well-formed");
        Checker::new(game.program(), game.facts()).trial(&trial).map_err(|it| it.to_string())
    };
    let told = serde_json::json!(trial);
    let report = check(&told).unwrap_or_else(|it| panic!("{it}"));
    assert!(!explained.holds && report.code > 0, "{report:?}");
    let mut forged = told;
    let goal = &forged["outcome"]["untenable"];
    let goal = serde_json::json!({ "relation": goal["relation"], "args": goal["tuple"] });
    forged["outcome"] = serde_json::json!({ "tenable": { "goal": goal, "refutation": null } });
    let refused = check(&forged).map(|_| ()).expect_err("c1 is swamp");
    assert!(refused.contains("may not leave the position as it is then"), "{refused}");
}

/// Code may be called before or after reactions ask whether the turn goes on: the answer is checked in the second
/// case, and taken as it is in the first one.
#[test]
fn turns_of_actions_that_call_code_are_checked_up_to_the_call() {
    for (catalogue, preset, is_checked) in
        [(with(Clerk), "clerk", true), (with(Chronicle), "chronicle", false)]
    {
        let (_, game) = start(&catalogue, &[preset], None);
        let explained = game.clone().explain_turn(Some("e2e4"), Limits::default()).expect("a move");
        let Finding::Turned(turning) = explained.finding else { panic!("{}", explained.summary) };
        let mut checker = Checker::new(game.program(), game.facts());
        let report = checker.turning(&turning).unwrap_or_else(|it| panic!("{preset}: {it}"));
        assert!(report.code > 0, "{preset}: {report:?}");
        let mut forged = turning;
        forged.steps += 1;
        assert_eq!(checker.turning(&forged).is_err(), is_checked, "{preset}");
    }
}
