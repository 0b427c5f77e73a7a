//! Saved games: round trips, what survives a load, what is refused and where, and the audit that
//! finds whatever was altered.

use std::sync::OnceLock;

use rulemate::internals::audit;
use rulemate::internals::game::Game;
use rulemate::internals::presets::save::{Content, Doubt, Form, RestoreError, RulesFrom, Save};
use rulemate::internals::presets::{Catalogue, Past, Ruleset};
use serde_json::{Value, json};

use crate::damage::{altered, leaves};
use crate::random_rules::Choices;

fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(|| Catalogue::embedded().expect("the catalogue"))
}

fn rules(game: &str) -> Ruleset {
    catalogue().load::<&str>(game, &[]).expect("it loads")
}

fn played(rules: &Ruleset, moves: &str) -> Game {
    let mut game = rules.start(None).expect("it starts");
    for mv in moves.split_whitespace() {
        game.play_text(mv).unwrap_or_else(|it| panic!("{mv}: {it}"));
    }
    game
}

fn saved(game: &Game, rules: &Ruleset) -> Save {
    Save::of(game, rules, Content::default()).expect("it replays")
}

fn loaded(bytes: &[u8]) -> Result<Game, RestoreError> {
    let (save, doubt) = Save::read(bytes, "chess")?;
    let restored = save.restore(catalogue(), RulesFrom::Here)?;
    doubt.map_or(Ok(restored.game), |it| Err(it.into()))
}

fn audited(bytes: &[u8]) -> Result<audit::Tally, RestoreError> {
    audit::save(bytes, "chess", catalogue(), RulesFrom::Here, &mut |_| {})
}

/// A game with a castling, a capture in passing and a check.
const LINE: &str = "e4 Nf6 e5 d5 exd6 Nc6 Nf3 e5 Bb5 Bd7 O-O Qe7 dxe7";

#[test]
fn round_trips_change_no_byte() {
    for game in catalogue().games() {
        let rules = rules(&game.name);
        let mut game = rules.start(None).expect("it starts");
        let mut choices = Choices(7);
        for _ in 0..6 {
            let moves = game.legal_moves();
            if !moves.is_empty() {
                game.play(&moves[choices.below(moves.len())]).expect("it is legal");
            }
        }
        let save = saved(&game, &rules);
        for form in [Form::Json, Form::Binary] {
            let bytes = save.write(form);
            let (read, doubt) = Save::read(&bytes, "").expect("it can be read");
            assert_eq!(doubt, None);
            assert_eq!(read, save);
            let restored = read.restore(catalogue(), RulesFrom::Here).expect("it loads");
            assert!(!restored.migrated);
            let again = saved(&restored.game, &restored.rules);
            assert!(again.write(form) == bytes, "{}", rules.game().name);
            assert_eq!(restored.game.hash(), game.hash());
        }
    }
}

#[test]
fn history_survives() {
    let rules = rules("chess");
    let there_and_back = "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1";
    let mut game = loaded(&saved(&played(&rules, there_and_back), &rules).write(Form::Binary))
        .expect("it loads");
    assert!(game.claims().is_empty());
    game.play_text("Ng8").expect("it is legal");
    assert_eq!(game.claims(), ["threefold_repetition"]);
    game.takeback();
    assert!(game.claims().is_empty());
    let mut branch = game.branch(2).expect("a position two plies on");
    assert!(branch.fen().starts_with("rnbqkb1r/pppppppp/5n2/8/8/5N2/PPPPPPPP/RNBQKB1R w KQkq"));
    let clock = |game: &mut Game| game.fen().split(' ').nth(4).map(str::to_owned);
    assert_eq!(clock(&mut game), Some("7".into()));
    while game.takeback().is_some() {}
    assert_eq!(game.fen(), rules.start(None).expect("it starts").fen());
}

#[test]
fn what_ended_a_game_survives() {
    let rules = rules("chess");
    // An audit finds nothing wrong with the end, either.
    let read_back = |bytes: &[u8]| {
        audited(bytes).expect("nothing differs");
        loaded(bytes).expect("it loads")
    };
    let mut game = played(&rules, "e4 e5");
    game.resign(1).expect("a side may give up");
    let again = read_back(&saved(&game, &rules).write(Form::Json));
    assert_eq!(again.result(), game.result());
    for (side, form) in [(0, Form::Json), (1, Form::Binary)] {
        let mut game = played(&rules, "e4 e5");
        game.flag(side).expect("the time of a side may run out");
        let again = read_back(&saved(&game, &rules).write(form));
        assert_eq!(again.result(), game.result());
        assert_eq!(again.result().map(|it| it.winner), Some(Some(1 - side)));
    }
    let mut game = played(&rules, "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8");
    game.claim_draw(None).expect("there is a claim");
    let mut again = read_back(&saved(&game, &rules).write(Form::Binary));
    assert_eq!(again.result(), game.result());
    again.takeback();
    assert!(again.result().is_none());
}

#[test]
fn colours_are_words() {
    let rules = rules("chess");
    let text = String::from_utf8(saved(&played(&rules, "e4"), &rules).write(Form::Json));
    let text = text.expect("JSON is text");
    assert!(text.contains(r#""attribute":"color","value":"white""#));
    assert!(text.contains(r#""attribute":"turn","value":"black""#));
    assert!(text.contains(r#""side":"white""#));
}

#[test]
fn differences_are_facts() {
    let rules = rules("chess");
    let (a, b) = (saved(&played(&rules, "e4"), &rules), saved(&played(&rules, "e4 e5"), &rules));
    let (added, removed) = a.difference(&b);
    let words = |all: Vec<rulemate::internals::facts::SavedFact>| -> Vec<String> {
        all.iter().map(ToString::to_string).collect()
    };
    let (added, removed) = (words(added), words(removed));
    assert!(added.iter().any(|it| it.ends_with("position e5")), "{added:?}");
    assert!(removed.iter().any(|it| it.ends_with("position e7")), "{removed:?}");
    assert!(added.contains(&"game turn white".to_string()), "{added:?}");
    assert_eq!(a.difference(&a), (Vec::new(), Vec::new()));
}

#[test]
fn a_long_game_is_small() {
    let rules = rules("chess");
    let mut game = rules.start(None).expect("it starts");
    let mut choices = Choices(3);
    while game.history().len() < 100 {
        let moves = game.legal_moves();
        assert!(!moves.is_empty(), "another seed, please");
        game.play(&moves[choices.below(moves.len())]).expect("it is legal");
    }
    let save = saved(&game, &rules);
    let (json, binary) = (save.write(Form::Json).len(), save.write(Form::Binary).len());
    assert!(binary <= 64 * 1024 && binary < json / 8, "{binary} bytes, {json} as JSON");
    assert_eq!(loaded(&save.write(Form::Binary)).expect("it loads").hash(), game.hash());
}

#[test]
fn what_is_no_save_is_refused_with_the_place() {
    let rules = rules("chess");
    let save = saved(&played(&rules, "e4 e5"), &rules);
    let (json, binary) = (save.write(Form::Json), save.write(Form::Binary));
    let refused = |bytes: &[u8]| loaded(bytes).expect_err("it is refused").to_string();
    assert!(refused(b"\x89PNG\r\n").contains("byte 0"));
    assert!(refused(b"hello").contains("line 1"));
    assert!(refused(b"{\"a\":1}").contains("not a save"));
    assert!(refused(b"").contains("not a save"));
    assert!(refused(b"{\"version\":9,\"facts\":[]}").contains("version 9"));
    assert!(refused(&json[..json.len() / 2]).starts_with("line "));
    assert!(refused(&binary[..binary.len() / 2]).contains("ends at byte"));
    assert!(refused(&binary[..20]).contains("ends at byte 20"));
    let longer = refused(&[&binary[..], b"x"].concat());
    assert!(longer.contains("follows") && longer.contains(&binary.len().to_string()), "{longer}");
    let deep = "[".repeat(100_000);
    assert!(refused(format!("{{\"version\":2,\"game\":{deep}").as_bytes()).contains("nested"));
}

/// A save that says the same in another form is read, with doubt about the first line that differs.
#[test]
fn doubts_have_a_place() {
    let rules = rules("chess");
    let json = saved(&played(&rules, "e4 e5"), &rules).write(Form::Json);
    let json = String::from_utf8(json).expect("JSON");
    let doubt = |text: &str| Save::read(text.as_bytes(), "").expect("it is a save").1;
    assert_eq!(doubt(&json), None);
    let lines = json.lines().count();
    let (most, checksum) = json.trim_end().rsplit_once('\n').expect("lines");
    let (before, sum) = checksum.rsplit_once(':').expect("a checksum");
    let other = sum.replace(|it: char| it.is_ascii_digit(), "0");
    assert_ne!(other, sum);
    assert_eq!(doubt(&format!("{most}\n{before}:{other}\n")), Some(Doubt::Checksum));
    let place = |line: usize| Some(Doubt::Form { place: format!("line {line}") });
    assert_eq!(doubt(&format!("{most}\n{before}:{other}\n\n\n")), place(lines));
    assert_eq!(doubt(&format!("\n{json}")), place(1));
    assert_eq!(doubt(&format!("{json}\n")), place(lines + 1));
    assert_eq!(doubt(&json.replace('\n', "\r\n")), place(1));
    assert_eq!(doubt(json.trim_end()), place(lines));
}

#[test]
fn rules_that_changed_are_named() {
    let rules = rules("antichess");
    let game = played(&rules, "e3 b5");
    let mut save = Save::of(&game, &rules, Content { rules: true }).expect("it replays");
    let (path, text) = ("rules/core/results.dl", "% a comment of old\n");
    let file = save.rules.iter_mut().find(|it| it.path == path).expect("a core file");
    let old = format!("{text}{}", file.text.take().expect("embedded"));
    file.blake3 =
        rulemate::internals::rules::Source { path: path.into(), text: old.clone().into() }.hash();
    file.text = Some(old);
    let why = save.restore(catalogue(), RulesFrom::Here).expect_err("they have changed");
    assert!(why.to_string().contains(path), "{why}");
    assert!(matches!(why, RestoreError::Rules { embedded: true, .. }));
    let migrated = save.restore(catalogue(), RulesFrom::Changed).expect("the moves are legal");
    assert!(migrated.migrated);
    assert_eq!(migrated.game.hash(), game.hash());
    let own = save.restore(catalogue(), RulesFrom::Save);
    // Its proofs quote lines that have moved, but the facts are the same.
    assert_eq!(own.expect("under its own rules").game.hash(), game.hash());
    let bare = Save { rules: Vec::new(), ..save };
    assert!(matches!(bare.restore(catalogue(), RulesFrom::Save), Err(RestoreError::NotEmbedded)));
}

/// Nobody who reads a text in a save is told another one than that of the game, whatever rules it is restored under.
#[test]
fn texts_of_rules_are_those_of_their_hashes() {
    let rules = rules("chess");
    let save = Save::of(&played(&rules, "e4 e5"), &rules, Content { rules: true });
    let mut save = save.expect("it replays");
    save.rules[3].text = Some("% something else".into());
    let path = save.rules[3].path.clone();
    for form in [Form::Json, Form::Binary] {
        let bytes = save.write(form);
        let (read, doubt) = Save::read(&bytes, "").expect("a save");
        assert_eq!(doubt, None);
        for from in [RulesFrom::Here, RulesFrom::Changed, RulesFrom::Save] {
            let refused = read.restore(catalogue(), from).expect_err("another text").to_string();
            let said = format!("the text of {path} does not match its hash");
            assert!(refused.contains(&said), "{refused}");
        }
        assert!(audited(&bytes).is_err());
    }
}

#[test]
fn attributes_that_came_later_have_their_defaults() {
    let rules = rules("chess");
    let game = played(&rules, "e4 e5 Nf3");
    let mut save = saved(&game, &rules);
    // As if the counter of repetitions and the move number had not been thought of.
    for name in ["occurrences", "fullmove"] {
        save.attributes.retain(|it| it != name);
        save.start.retain(|it| it.attribute != name);
        save.facts.retain(|it| it.attribute != name);
    }
    save.fen = None;
    save.rules[0].blake3 = "00".repeat(32);
    let restored = save.restore(catalogue(), RulesFrom::Changed).expect("it is migrated");
    assert_eq!(restored.game.hash(), game.hash());
}

/// So has an option that a preset had not when the game was saved: how many hit points pieces start with.
#[test]
fn options_that_came_later_have_their_defaults() {
    let rules = catalogue().load("chess", &["piece-hp"]).unwrap_or_else(|it| panic!("{it}"));
    let game = played(&rules, "e4 d5 exd5 Nf6");
    let mut save = saved(&game, &rules);
    let (name, facts) = ("piece-hp.hp", save.start.len());
    save.attributes.retain(|it| it != name);
    save.start.retain(|it| it.attribute != name);
    save.facts.retain(|it| it.attribute != name);
    assert!(save.start.len() < facts);
    save.fen = None;
    save.rules[0].blake3 = "00".repeat(32);
    let restored = save.restore(catalogue(), RulesFrom::Changed).expect("it is migrated");
    assert_eq!(restored.game.hash(), game.hash());
}

/// With one activation more, every piece has another id: the text says which of two knights went.
#[test]
fn moves_are_found_by_their_text_under_other_rules() {
    let with = |presets: &str| {
        let text = format!(".meta game \"mine\"\n.meta layout \"orthodox\"\n{presets}");
        let mut catalogue = Catalogue::embedded().expect("the catalogue");
        let path = "mine.dl".into();
        let source = rulemate::internals::rules::Source { path, text: text.into() };
        catalogue.add(source).expect("a game");
        catalogue
    };
    let (one, two) = (".meta use \"coregal\"\n", ".meta use \"king-of-the-hill\"\n");
    let rules = with(one).load::<&str>("mine", &[]).expect("it loads");
    let fen = "4k3/8/8/8/8/8/8/1N1N3K w - - 0 1";
    let mut game = rules.start(Some(fen)).expect("a position");
    game.play_text("d1c3").unwrap_or_else(|it| panic!("{it}"));
    let save = saved(&game, &rules);
    let other = with(&format!("{one}{two}"));
    let mut restored = save.restore(&other, RulesFrom::Changed).expect("the move is legal").game;
    assert_eq!(&*restored.history()[0].uci, "d1c3");
    assert_eq!(restored.fen(), game.fen());
}

/// Differences are told in sentences, whatever differs.
#[test]
fn what_differs_is_said_in_full() {
    let rules = rules("chess");
    let game = played(&rules, "e4 e5");
    let save = saved(&game, &rules);
    let found = |change: &dyn Fn(&mut Save)| {
        let mut wrong = save.clone();
        change(&mut wrong);
        audited(&wrong.write(Form::Json)).expect_err("it is caught").to_string()
    };
    assert_eq!(
        found(&|it| it.moves[1].goes_on = true),
        "move 2 (e7e5): the side to move after it is the same in the save, but the next in the game"
    );
    assert_eq!(
        found(&|it| it.moves[0].san = "d4".into()),
        "move 1 (e2e4): the move in SAN is d4 in the save, but e4 in the game"
    );
}

/// One save of every version of the format, as it was written at the time.
#[test]
fn golden_saves_of_every_version_load() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/saves");
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .expect("a folder of saves")
        .map(|it| it.expect("an entry").path())
        .filter(|it| it.extension().is_some_and(|it| it == "json" || it == "bin"))
        .collect();
    names.sort();
    assert!(names.len() >= 5, "{names:?}");
    for path in names {
        let bytes = std::fs::read(&path).expect("it can be read");
        let (save, doubt) = Save::read(&bytes, "chess").expect("a save");
        assert_eq!(doubt, None, "{}", path.display());
        let from = if save.version == 1 { RulesFrom::Changed } else { RulesFrom::Save };
        let restored =
            save.restore(catalogue(), from).unwrap_or_else(|it| panic!("{path:?}: {it}"));
        let expected = "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4";
        let mut game = restored.game;
        assert_eq!(game.fen(), expected, "{}", path.display());
        let again = save.restore(catalogue(), RulesFrom::Changed);
        assert_eq!(again.expect("today's rules allow the moves").game.fen(), expected);
        if save.version > 1 {
            let audit = audit::save(&bytes, "chess", catalogue(), RulesFrom::Save, &mut |_| {});
            assert_eq!(audit.expect("nothing differs").proofs, 6);
            assert_eq!(game.takeback().expect("a last move").uci.as_ref(), "g8f6");
        }
    }
}

#[test]
fn audits_find_nothing_wrong_with_what_was_played() {
    let rules = rules("chess");
    let save = saved(&played(&rules, LINE), &rules);
    for form in [Form::Json, Form::Binary] {
        let tally = audited(&save.write(form)).unwrap_or_else(|it| panic!("{it}"));
        assert_eq!((tally.plies, tally.proofs, tally.positions), (13, 13, 14));
        assert!(tally.rows > 10_000 && tally.report.steps > 200, "{tally:?}");
    }
}

const AGAIN: &str = r#"% again.dl — whatever is captured for the first time takes the game back.
.meta preset "again"
.meta name "Again"
.meta description "The first capture of a piece takes two turns back"
.domain Preset += { again }
.input charges(piece: Entity, n: Int) key attr charges lasting "{piece} can undo its death {n} times"
odd_target(q) :- charges(q, n), n > 0.
on activated(e) when preset(e, 'again), color(p, _) do set charges(p, 1).
on died(q, _) when charges(q, n), n > 0 do set charges(q, n - 1), rewind 2, note "{q} does over".
"#;

/// Chess with that preset.
fn with_again() -> (Catalogue, Ruleset) {
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    let (path, text) = ("rules/presets/again.dl".to_owned(), AGAIN.into());
    catalogue.add(rulemate::internals::rules::Source { path, text }).expect("a preset");
    let rules = catalogue.load("chess", &["again"]).expect("it loads");
    (catalogue, rules)
}

/// Games that went back, by rules or by a takeback, are saved, loaded and audited like others.
#[test]
fn rewinds_and_takebacks_are_audited() {
    let (catalogue, rules) = with_again();
    let mut game = played(&rules, "e4 d5 exd5");
    assert_eq!(game.history()[2].rewound_to(), Some(1));
    assert!(game.fen().starts_with("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b"));
    for mv in ["d7d5", "e4d5", "g8f6", "f1b5"] {
        game.play_text(mv).unwrap_or_else(|it| panic!("{mv}: {it}"));
    }
    game.takeback();
    game.play_text("d2d4").expect("it is legal");
    for form in [Form::Json, Form::Binary] {
        let bytes = saved(&game, &rules).write(form);
        let tally = audit::save(&bytes, "chess", &catalogue, RulesFrom::Here, &mut |_| {});
        let tally = tally.unwrap_or_else(|it| panic!("{it}"));
        assert_eq!((tally.plies, tally.proofs), (7, 7));
        let (save, _) = Save::read(&bytes, "").expect("it can be read");
        let mut again = save.restore(&catalogue, RulesFrom::Here).expect("it loads").game;
        assert_eq!(again.hash(), game.hash());
        while again.takeback().is_some() {}
        assert_eq!(again.hash(), rules.start(None).expect("it starts").hash());
    }
    // A tamperer who says that a piece has more charges is found out.
    let mut save = saved(&game, &rules);
    let charge = save.facts.iter_mut().find(|it| it.attribute == "again::charges");
    charge.expect("every piece has one").value = rulemate::internals::facts::SavedValue::Int(2);
    let bytes = save.write(Form::Json);
    let why = audit::save(&bytes, "chess", &catalogue, RulesFrom::Here, &mut |_| {});
    let why = why.expect_err("it is caught").to_string();
    assert!(why.starts_with("the end: ") && why.contains("charges 2"), "{why}");
}

/// A rewind stops at a change of the rules, also if the action after that change has been rewound itself.
#[test]
fn a_rewind_does_not_reach_behind_a_change_of_rules() {
    let (catalogue, rules) = with_again();
    let mut game = played(&rules, "e4 d5 a3");
    catalogue.set_active(&rules, &mut game, &["again", "coregal"]).expect("they go together");
    let switched = game.fen();
    for (mv, to) in [("h6", None), ("exd5", Some(3)), ("dxe4", Some(5))] {
        let record = game.play_text(mv).unwrap_or_else(|it| panic!("{mv}: {it}"));
        assert_eq!(record.rewound_to(), to, "{mv}");
    }
    assert_eq!(game.fen(), switched);
    while game.takeback().is_some() {}
    assert_eq!(game.hash(), rules.start(None).expect("it starts").hash());
}

/// A game whose presets were changed on the way: before the first move, twice between two moves, and
/// after the last one, with durations, state that is left and a takeback.
fn switched() -> (Ruleset, Game) {
    let mut rules = catalogue().load("chess", &["piece-shield:white"]).expect("it loads");
    let mut game = rules.start(None).expect("it starts");
    let mut switch = |game: &mut Game, presets: &[&str]| {
        rules = catalogue().set_active(&rules, game, presets).unwrap_or_else(|it| panic!("{it}"));
    };
    let play = |game: &mut Game, moves: &str| {
        for mv in moves.split(' ') {
            game.play_text(mv).unwrap_or_else(|it| panic!("{mv}: {it}"));
        }
    };
    switch(&mut game, &["piece-shield:white", "piece-hp:both:hp=2"]);
    play(&mut game, "e4 d5 exd5 Nf6");
    switch(&mut game, &[]);
    switch(&mut game, &["coregal", "piece-hp:black:hp=3,turns=6"]);
    play(&mut game, "Nf3 Nc6 Bb5");
    switch(&mut game, &["queen-splits"]);
    play(&mut game, "a6");
    game.takeback();
    play(&mut game, "h6");
    switch(&mut game, &["explosive-rook:black"]);
    (rules, game)
}

#[test]
fn games_whose_presets_were_switched_are_saved() {
    let (rules, game) = switched();
    let save = saved(&game, &rules);
    let shape: Vec<(u32, usize)> =
        save.switches.iter().map(|it| (it.after, it.presets.len())).collect();
    assert_eq!(shape, [(0, 2), (4, 0), (4, 2), (7, 1), (8, 1)]);
    assert_eq!((save.version, &save.presets[..]), (3, &["piece-shield:white".to_owned()][..]));
    for form in [Form::Json, Form::Binary] {
        let bytes = save.write(form);
        let (read, doubt) = Save::read(&bytes, "").expect("it can be read");
        assert_eq!((doubt, &read), (None, &save));
        let restored = read.restore(catalogue(), RulesFrom::Here).expect("it loads");
        assert!(!restored.migrated);
        assert!(saved(&restored.game, &restored.rules).write(form) == bytes);
        let tally = audited(&bytes).unwrap_or_else(|it| panic!("{it}"));
        // A position after each move and each switch, and the first.
        assert_eq!((tally.plies, tally.proofs, tally.positions), (8, 8, 14));
        // Takebacks go back to the rules of the time, as in the game that was saved.
        let (mut mine, mut theirs) = (game.clone(), restored.game);
        loop {
            assert_eq!(mine.hash(), theirs.hash());
            assert_eq!(mine.legal_moves(), theirs.legal_moves());
            let (a, b) = (mine.takeback(), theirs.takeback());
            assert_eq!(a.is_some(), b.is_some());
            if a.is_none() {
                break;
            }
        }
        assert!(saved(&theirs, &restored.rules).switches.len() == 1);
    }
}

#[test]
fn what_ended_a_switched_game_survives() {
    let (rules, mut game) = switched();
    game.resign(1).expect("a side may give up");
    let save = saved(&game, &rules);
    assert_eq!(
        save.ended,
        Some(rulemate::internals::presets::save::Ended::Resigned("black".into()))
    );
    let again = loaded(&save.write(Form::Binary)).expect("it loads");
    assert_eq!((again.result(), again.hash()), (game.result(), game.hash()));
}

/// The rules that only a switch brought are named if they change, and embedded like the others.
#[test]
fn the_rules_of_switches_are_saved() {
    let (rules, game) = switched();
    let mut save = Save::of(&game, &rules, Content { rules: true }).expect("it replays");
    let bytes = save.write(Form::Binary);
    let own = audit::save(&bytes, "", catalogue(), RulesFrom::Save, &mut |_| {});
    assert_eq!(own.unwrap_or_else(|it| panic!("{it}")).proofs, 8);
    let path = "rules/presets/coregal.dl";
    let file = save.rules.iter_mut().find(|it| it.path == path).expect("a preset's file");
    (file.blake3, file.text) = ("00".repeat(32), None);
    let why = save.restore(catalogue(), RulesFrom::Here).expect_err("it has changed");
    assert!(matches!(&why, RestoreError::Rules { files, .. } if files[..] == [path]), "{why}");
    let migrated = save.restore(catalogue(), RulesFrom::Changed).expect("the moves are legal");
    assert_eq!((migrated.migrated, migrated.game.hash()), (true, game.hash()));
}

#[test]
fn tampering_with_switches_is_named() {
    let (rules, game) = switched();
    let save = saved(&game, &rules);
    let found = |change: &dyn Fn(&mut Save)| {
        let mut wrong = save.clone();
        change(&mut wrong);
        audited(&wrong.write(Form::Json)).expect_err("it is caught").to_string()
    };
    let why = found(&|it| it.switches[2].facts = "0123456789abcdef".into());
    assert!(
        why.starts_with("the change of presets after move 4: the hash of the facts after it is 01"),
        "{why}"
    );
    let why = found(&|it| it.switches[2].presets[1] = "piece-hp:black:turns=5,hp=3".into());
    assert!(why.starts_with("the change of presets after move 4: the hash of the facts"), "{why}");
    let why = found(&|it| it.switches[2].presets[0] = "coregal".into());
    assert!(why.contains("the presets are coregal, "), "{why}");
    let why = found(&|it| it.switches[3].presets[0] = "queen-split".into());
    assert!(why.contains("after move 7: there is no preset queen-split; did you mean"), "{why}");
    let why = found(&|it| it.switches[3].presets.push("berserker:both".into()));
    assert!(why.contains("rules/presets/"), "{why}");
    let why = found(&|it| it.switches[1].after = 3);
    assert!(why.starts_with("the change of presets after move 3: "), "{why}");
    let why = found(&|it| it.switches[4].after = 9);
    assert!(why.starts_with("the change of presets after move 9: it is not in its place"), "{why}");
    let why = found(&|it| it.switches.swap(0, 4));
    assert!(why.contains("the order of the files"), "{why}");
    let why = found(&|it| it.switches.swap(0, 1));
    assert!(why.starts_with("move 1 (e2e4): the hash of the facts after it is "), "{why}");
    // The rules of queens that split are then of no use.
    let why = found(&|it| drop(it.switches.remove(3)));
    assert!(why.contains("rules/presets/queen-splits.dl"), "{why}");
}

/// What ended a game before its first move is not taken for a fact of its start.
#[test]
fn games_that_ended_at_once_are_saved() {
    let rules = rules("chess");
    let mut game = rules.start(None).expect("it starts");
    game.resign(0).expect("a side may give up");
    let again = loaded(&saved(&game, &rules).write(Form::Json)).expect("it loads");
    assert_eq!((again.result(), again.hash()), (game.result(), game.hash()));
}

/// Moves that were decided by playing them out have their trials in the save, and these are checked.
#[test]
fn trials_are_saved_and_checked() {
    let rules = rules("explosive-rook");
    let mut game = rules.start(None).expect("it starts");
    let mut choices = Choices(5);
    for _ in 0..30 {
        let moves = game.legal_moves();
        if moves.is_empty() {
            break;
        }
        // Captures are what rules alone do not decide.
        let board = game.contract().at.rel;
        let taken: Vec<i64> = game.world_mut().tuples(board).iter().map(|it| it[1]).collect();
        let captures =
            moves.iter().filter(|it| it.args.last().is_some_and(|to| taken.contains(to)));
        let captures: Vec<_> = captures.collect();
        let mv = match captures.is_empty() {
            true => &moves[choices.below(moves.len())],
            false => captures[choices.below(captures.len())],
        };
        game.play(mv).expect("it is legal");
    }
    let save = saved(&game, &rules);
    // A game as a list of moves has no proofs; what was played out is proved again.
    let mut again = rules.start(None).expect("it starts");
    let past: Vec<Past> = save.moves.iter().map(|it| Past::Turn(it.uci.clone())).collect();
    let tally = audit::past(&mut again, (catalogue(), &rules), &past, &mut |_| {});
    assert!(tally.unwrap_or_else(|it| panic!("{it}")).proofs > 0);
    let tried =
        |it: &&rulemate::internals::presets::save::SavedMove| it.proof.get("tried").is_some();
    let at = save.moves.iter().position(|it| tried(&it)).expect("a move is played out");
    audited(&save.write(Form::Binary)).unwrap_or_else(|it| panic!("{it}"));
    let mut wrong = save.clone();
    wrong.moves[at].proof["tried"]["steps"][0]["reaction"]["place"] = json!("rules/x.dl:1");
    let why = audited(&wrong.write(Form::Json)).expect_err("it is caught").to_string();
    let place = format!("move {} ", at + 1);
    assert!(why.starts_with(&place) && why.contains("its proof is wrong: "), "{why}");
}

/// A short game as JSON, and as a value to tamper with.
fn victim() -> (Vec<u8>, Value) {
    let rules = rules("chess");
    let bytes = saved(&played(&rules, "e4 d5"), &rules).write(Form::Json);
    let value = serde_json::from_slice(&bytes).expect("JSON");
    (bytes, value)
}

/// Writes an altered save with a checksum that fits: what a careful tamperer does.
fn sealed(value: &Value) -> Option<Vec<u8>> {
    let (save, _) = Save::read(value.to_string().as_bytes(), "").ok()?;
    Some(save.write(Form::Json))
}

#[test]
fn tampering_is_named_though_the_checksum_fits() {
    let (bytes, value) = victim();
    assert_eq!(sealed(&value).as_deref(), Some(&bytes[..]));
    let found = |change: &dyn Fn(&mut Value)| {
        let mut value = value.clone();
        change(&mut value);
        let bytes = sealed(&value).expect("the form of a save");
        assert!(loaded(&bytes).is_err() || audited(&bytes).is_err());
        audited(&bytes).expect_err("it is caught").to_string()
    };
    let fact = |at: &str, attribute: &str| -> usize {
        let facts = value.pointer(at).and_then(Value::as_array).expect("facts");
        facts.iter().position(|it| it["attribute"] == attribute).expect("such a fact")
    };
    let at = fact("/facts", "position");
    let why = found(&|it| it["facts"][at]["value"] = json!("a3"));
    assert!(why.starts_with("the end: the save says `#1 position a3`, the game"), "{why}");
    let why = found(&|it| {
        it["facts"].as_array_mut().expect("facts").remove(at);
    });
    assert_eq!(why, "the end: the game says `#1 position a1`, the save does not");
    let why = found(&|it| {
        let facts = it["facts"].as_array_mut().expect("facts");
        let mut twice = facts[at].clone();
        twice["attribute"] = json!("castles_with");
        twice["value"] = json!(5);
        facts.insert(at, twice);
    });
    assert!(why.starts_with("the end: the save says `#1 castles_with"), "{why}");
    assert!(why.ends_with(", the game does not"), "{why}");
    let at = fact("/start/facts", "halfmove_clock");
    let why = found(&|it| it["start"]["facts"][at]["value"] = json!(3));
    assert!(why.starts_with("the start: the save says `game halfmove_clock 3`"), "{why}");
    let why = found(&|it| it["moves"][1]["uci"] = json!("d7d6"));
    assert!(why.starts_with("move 2 (d7d6): "), "{why}");
    let why = found(&|it| it["moves"][0]["facts"] = json!("0123456789abcdef"));
    assert!(why.starts_with("move 1 (e2e4): the hash of the facts"), "{why}");
    let mut wrong = value.clone();
    // There is one way to write a hash.
    for hash in ["no hash", "0123456789ABCDEF"] {
        wrong["moves"][0]["facts"] = json!(hash);
        let why = Save::read(wrong.to_string().as_bytes(), "").expect_err("no hash").to_string();
        assert!(
            why.contains(&format!("{hash:?} is not 8 bytes in lower-case hexadecimal")),
            "{why}"
        );
    }
    let why = found(&|it| it["moves"][0]["proof"]["tuple"][1]["name"] = json!("e5"));
    assert!(why.starts_with("move 1 (e2e4): its proof is wrong"), "{why}");
    let why = found(&|it| it["rules"][2]["blake3"] = json!("00".repeat(32)));
    assert!(why.contains("rules/core/"), "{why}");
    let why = found(&|it| it["result"] = json!("white wins by checkmate"));
    assert!(why.starts_with("the end: "), "{why}");
}

/// Some of many, spread evenly.
fn some<T>(all: Vec<T>, few: usize) -> impl Iterator<Item = T> {
    let full = crate::fixture::is_full();
    let step = if full { 1 } else { (all.len() / few).max(1) };
    all.into_iter().step_by(step)
}

#[test]
fn every_field_is_covered() {
    let (_, value) = victim();
    let mut places = Vec::new();
    leaves(&value, String::new(), &mut places);
    places.retain(|it| it != "/checksum");
    for place in some(places, 20) {
        let mut wrong = value.clone();
        let leaf = wrong.pointer_mut(&place).expect("a place");
        *leaf = altered(leaf);
        if let Some(bytes) = sealed(&wrong) {
            assert!(audited(&bytes).is_err(), "{place} can be changed");
        }
    }
}

/// Whichever byte of a save is another, reading it says so.
#[test]
fn no_byte_can_be_flipped() {
    let rules = rules("chess");
    let save = saved(&played(&rules, "e4"), &rules);
    for form in [Form::Json, Form::Binary] {
        let bytes = save.write(form);
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 1 << (at % 8);
            let found = Save::read(&wrong, "chess").map(|it| it.1);
            assert!(!matches!(found, Ok(None)), "byte {at} of {form:?} can be flipped");
        }
    }
}

#[test]
fn every_byte_is_covered() {
    let (json, _) = victim();
    let binary = Save::read(&json, "").expect("a save").0.write(Form::Binary);
    for bytes in [json, binary] {
        for at in some((0..bytes.len()).collect(), 24) {
            let mut wrong = bytes.clone();
            wrong[at] ^= 1;
            assert!(loaded(&wrong).is_err(), "byte {at} can be changed");
        }
    }
}
