//! Files from strangers: what nests too deep or stands for too much is refused before any memory is
//! taken for it, whatever the file says of itself; and no change of a byte brings a reader down.

use std::time::{Duration, Instant};

use rulemate::internals::presets::save::{RestoreError, RuleFile, RulesFrom, Save};
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::internals::rules::Source;

use crate::cli::rulemate;
use crate::random_rules::Choices;

// --- binary saves, by hand --------------------------------------------------------------------------

/// A number as the binary form writes it: seven bits a byte, the lowest first.
fn number(mut it: usize, to: &mut Vec<u8>) {
    while it >= 128 {
        to.push((it % 128) as u8 | 128);
        it /= 128;
    }
    to.push(it as u8);
}

/// What a file may make large.
#[derive(Default)]
struct File {
    texts: Vec<String>,
    /// Written as they stand: their number, then the nodes.
    nodes: Vec<u8>,
    /// The node of the proof of each move.
    proofs: Vec<usize>,
    /// As many facts of the first text.
    facts: usize,
}

impl File {
    fn with_nodes(nodes: &[Vec<usize>], proof: usize) -> Self {
        let mut bytes = Vec::new();
        number(nodes.len(), &mut bytes);
        for parts in nodes {
            // A text, or an array of earlier nodes.
            match parts.is_empty() {
                true => bytes.extend([3, 0]),
                false => {
                    bytes.push(4);
                    number(parts.len(), &mut bytes);
                    parts.iter().for_each(|it| number(*it, &mut bytes));
                }
            }
        }
        let texts = vec!["x".to_string()];
        Self { texts, nodes: bytes, proofs: vec![proof], facts: 0 }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut content = Vec::new();
        number(self.texts.len(), &mut content);
        for text in &self.texts {
            number(text.len(), &mut content);
            content.extend(text.as_bytes());
        }
        content.push(0); // shapes
        match self.nodes.is_empty() {
            true => content.push(0),
            false => content.extend(&self.nodes),
        }
        content.extend([0, 0, 0, 0, 0, 0]); // game, presets, rules, attributes, FEN, start
        number(self.proofs.len(), &mut content);
        for proof in &self.proofs {
            content.extend([0, 0, 0, 0, 0]);
            content.extend([0; 16]);
            number(*proof, &mut content);
        }
        content.push(0); // how it ended
        number(self.facts, &mut content);
        for _ in 0..self.facts {
            content.extend([1, 0, 2, 0]);
        }
        content.extend([0, 0]); // result, switches
        let mut bytes = b"RULEMATE".to_vec();
        bytes.extend(3_u32.to_le_bytes());
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend([0; 32]);
        bytes.extend(content);
        bytes
    }
}

fn refused(file: &File) -> String {
    match Save::read(&file.bytes(), "chess") {
        Ok(_) => panic!("it was read"),
        Err(why) => why.to_string(),
    }
}

/// A chain of arrays, each in the next.
fn nested(levels: usize) -> File {
    let nodes: Vec<Vec<usize>> =
        (0..=levels).map(|it| it.checked_sub(1).into_iter().collect()).collect();
    File::with_nodes(&nodes, levels)
}

/// Each array has the one before it twice: a few bytes a level, twice as much to unpack.
fn doubled(levels: usize) -> File {
    let nodes: Vec<Vec<usize>> = (0..=levels)
        .map(|it| it.checked_sub(1).map(|it| vec![it, it]).unwrap_or_default())
        .collect();
    File::with_nodes(&nodes, levels)
}

#[test]
fn binary_saves_are_bounded_before_anything_is_made() {
    assert!(Save::read(&nested(600).bytes(), "chess").is_ok(), "as deep as our own go");
    assert!(Save::read(&doubled(12).bytes(), "chess").is_ok());
    // 133 KB of these overflowed the stack.
    for levels in [641, 5_000, 45_000] {
        let why = refused(&nested(levels));
        assert!(why.contains("a proof is nested too deep"), "{levels}: {why}");
    }
    const LARGE: &str = "the content takes more memory than a file of this size may";
    for levels in [24, 40, 600] {
        assert!(refused(&doubled(levels)).contains(LARGE), "{levels}");
    }
    // A text of some length that is meant again and again: by proofs, moves and facts.
    let text = "long ".repeat(4_000);
    let wide = File { texts: vec![text.clone()], ..File::with_nodes(&[vec![], vec![0; 9_000]], 1) };
    assert!(refused(&wide).contains(LARGE));
    let moves = File { texts: vec![text.clone()], proofs: vec![0; 4_000], ..nested(0) };
    assert!(refused(&moves).contains(LARGE));
    let facts = File { texts: vec![text], facts: 9_000, ..nested(0) };
    assert!(refused(&facts).contains(LARGE));
    // Lists that say they are longer than the file.
    for length in [1 << 21, u32::MAX as usize, usize::MAX] {
        let mut nodes = Vec::new();
        number(length, &mut nodes);
        let why = refused(&File { nodes, ..File::default() });
        assert!(why.contains("the content cannot be read"), "{why}");
    }
    // And one that is as long as it says: each of its bytes stands for forty in memory.
    for (length, is_read) in [(1 << 20, true), ((1 << 20) + 1, false)] {
        let mut nodes = Vec::new();
        number(length, &mut nodes);
        nodes.resize(nodes.len() + length, 0);
        let texts = vec!["x".to_string()];
        let read = Save::read(&File { texts, nodes, ..File::default() }.bytes(), "chess");
        assert_eq!(read.is_ok(), is_read, "{length}");
    }
}

/// The same files under a bound of memory that the system keeps: no abort, an error with its place.
#[cfg(target_os = "linux")]
#[test]
fn binary_saves_load_in_little_memory() {
    let cases = [("deep", nested(45_000)), ("wide", doubled(600)), ("twice", doubled(26))];
    for (name, file) in cases {
        let path = format!("{}/hostile-{name}.bin", env!("CARGO_TARGET_TMPDIR"));
        std::fs::write(&path, file.bytes()).expect("the folder can be written");
        let limited =
            format!("ulimit -v 1500000; exec {} load {path}", env!("CARGO_BIN_EXE_rulemate"));
        let ran =
            std::process::Command::new("sh").args(["-c", &limited]).output().expect("a shell");
        let err = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{name}: {err}");
        assert!(err.contains("byte 48: "), "{name}: {err}");
    }
}

#[test]
fn json_is_bounded_before_anything_is_made() {
    let deep = format!("{{\"version\":3,\"moves\":{}", "[".repeat(100_000));
    let why = Save::read(deep.as_bytes(), "chess").expect_err("too deep").to_string();
    assert!(why.contains("brackets are nested more than 640 deep"), "{why}");
    let wide = format!("{{\"version\":3,\"moves\":[{}0]}}", "0,".repeat(9_000_000));
    let why = Save::read(wide.as_bytes(), "chess").expect_err("too wide").to_string();
    assert!(why.contains("this is more JSON than fits into 512 MB of memory"), "{why}");
    // Values without commas between them are values, too.
    let lists = format!("{}{},", "[".repeat(600), "]".repeat(600)).repeat(15_000);
    let nested = format!("{{\"version\":3,\"moves\":[{lists}0]}}");
    let why = Save::read(nested.as_bytes(), "chess").expect_err("too many").to_string();
    assert!(why.contains("this is more JSON than fits into 512 MB of memory"), "{why}");
    // Objects take much memory for little text.
    let objects = format!("{{\"version\":3,\"moves\":[{}0]}}", "{\"\":0},".repeat(800_000));
    let why = Save::read(objects.as_bytes(), "chess").expect_err("too large").to_string();
    assert!(why.contains("this is more JSON than fits into 512 MB of memory"), "{why}");
    // Also where they are the values of others.
    let one = format!("{}0{},", "{\"\":".repeat(600), "}".repeat(600));
    let values = format!("{{\"version\":3,\"moves\":[{}0]}}", one.repeat(2_000));
    let why = Save::read(values.as_bytes(), "chess").expect_err("too large").to_string();
    assert!(why.contains("this is more JSON than fits into 512 MB of memory"), "{why}");
    // Places are counted from 1, also where nothing of a line was read.
    let why = Save::read(b"{\"version\":\n", "chess").expect_err("cut off").to_string();
    assert!(why.contains("line 2, column 1: "), "{why}");
    // Commas in texts are none.
    let text = format!("{{\"version\":9,\"game\":\"{}\"}}", ",".repeat(9_000_000));
    let why = Save::read(text.as_bytes(), "chess").expect_err("another version").to_string();
    assert!(why.contains("version 9"), "{why}");
}

/// A file may list any number of facts and rules, and each of them is looked up, not searched for.
#[test]
fn long_lists_are_compared_in_little_time() {
    const COUNT: usize = 40_000;
    let begin = Instant::now();
    let facts_of = |value: &str| {
        let fact =
            |it: usize| format!("{{\"entity\":{it},\"attribute\":\"at\",\"value\":\"{value}\"}}");
        let facts = (0..COUNT).map(fact).collect::<Vec<_>>().join(",");
        let text = format!("{{\"version\":1,\"facts\":[{facts}]}}");
        Save::read(text.as_bytes(), "chess").expect("a list of facts").0
    };
    let (added, removed) = facts_of("e4").difference(&facts_of("e5"));
    assert_eq!((added.len(), removed.len()), (COUNT, COUNT));

    let file = format!("{}/tests/data/saves/v3.json", env!("CARGO_MANIFEST_DIR"));
    let (mut save, _) = Save::read(&std::fs::read(file).expect("a save"), "").expect("a save");
    let blake3 = save.rules[0].blake3.clone();
    let rule = |it| RuleFile { path: format!("{it}.dl"), blake3: blake3.clone(), text: None };
    save.rules = (0..COUNT).map(rule).collect();
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let why = save.restore(&catalogue, RulesFrom::Here).map(|_| ()).expect_err("other rules");
    let RestoreError::Rules { files, .. } = why else { panic!("{why}") };
    assert!(files.len() > COUNT, "{}", files.len());
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}

/// Bytes changed, taken out, doubled and cut off: every reader answers.
#[test]
fn mutated_saves_are_read_or_refused() {
    let rounds = if crate::fixture::is_full() { 20_000 } else { 400 };
    let mut choices = Choices(311);
    let folder = format!("{}/tests/data/saves", env!("CARGO_MANIFEST_DIR"));
    let files: Vec<Vec<u8>> = ["v1.json", "v2.json", "v2.bin", "v3.json", "v3.bin"]
        .iter()
        .map(|it| std::fs::read(format!("{folder}/{it}")).expect("a save"))
        .collect();
    let (mut read, mut refused) = (0, 0);
    for _ in 0..rounds {
        let mut bytes = files[choices.below(files.len())].clone();
        for _ in 0..=choices.below(4) {
            // Beyond the head of the binary form, whose length and checksum are looked at first.
            let at = 48 + choices.below(bytes.len() - 48);
            match choices.below(5) {
                0 => bytes[at] ^= 1 << choices.below(8),
                1 => bytes[at] = 0xFF,
                2 => bytes[at] = bytes[at].wrapping_add(1),
                3 => bytes.truncate(at.max(64)),
                _ => {
                    let end = (at + choices.below(32)).min(bytes.len());
                    let part = bytes[at..end].to_vec();
                    bytes.splice(at..at, part);
                }
            }
        }
        if bytes.starts_with(b"RULEMATE") {
            let length = (bytes.len() - 48) as u32;
            bytes[12..16].copy_from_slice(&length.to_le_bytes());
        }
        match Save::read(&bytes, "chess") {
            Ok(_) => read += 1,
            Err(why) => {
                assert!(!why.to_string().is_empty());
                refused += 1;
            }
        }
    }
    assert!(read > 20 && refused > 20, "{read} read, {refused} refused");
}

// --- positions --------------------------------------------------------------------------------------

const NO_ROOK: &str = "4k3/8/8/8/8/8/8/4K3 w K - 0 1";
const DROPPED: &str = "castling right K dropped: there is no such rook";

/// Code that reads a FEN for a user says what it had to leave out.
#[test]
fn every_reader_of_a_position_tells_what_it_drops() {
    let all: [&[&str]; 6] = [
        &["moves"],
        &["moves", "--json"],
        &["perft", "--depth", "1"],
        &["explain", "e1d1"],
        &["query", "at(p, s)"],
        &["save", "-"],
    ];
    for args in all {
        let ran = rulemate(&[args, &["--fen", NO_ROOK]].concat());
        assert!(ran.err.contains(&format!("warning: {DROPPED}")), "{args:?}: {}", ran.err);
    }
    let ran = crate::cli::rulemate_reading(&["play", "--fen", NO_ROOK], "quit\n");
    assert!(ran.err.contains(DROPPED), "{}", ran.err);
    let pgn = format!("[FEN \"{NO_ROOK}\"]\n[SetUp \"1\"]\n\n1. Kd1 *\n");
    let path = crate::cli::scratch("no-rook.pgn", &pgn);
    let judged = rulemate(&["referee", &path]);
    assert!(judged.out.contains(&format!("in the first position: {DROPPED}")), "{}", judged.out);
    let judged = rulemate(&["referee", "--json", &path]);
    assert!(judged.out.contains(&format!("\"warnings\":[\"{DROPPED}\"]")), "{}", judged.out);
    let uci = crate::cli::rulemate_reading(&["uci"], format!("position fen {NO_ROOK}\nquit\n"));
    assert!(uci.out.contains(&format!("info string {DROPPED}")), "{}", uci.out);
    let xboard = format!("protover 2\nsetboard {NO_ROOK}\nquit\n");
    let xboard = crate::cli::rulemate_reading(&["xboard"], &xboard);
    assert!(xboard.out.contains(&format!("telluser {DROPPED}")), "{}", xboard.out);
}

fn rules(game: &str, presets: &[&str]) -> Ruleset {
    Catalogue::embedded().expect("the catalogue").load(game, presets).expect("it loads")
}

/// A game whose FEN leaves nothing out comes back from it with the same legal actions; every other
/// one says what is left out.
#[test]
fn a_position_that_its_fen_does_not_tell_says_so() {
    let catalogue = Catalogue::embedded().expect("the catalogue");
    let mut silent = 0;
    for entry in catalogue.games() {
        let rules = rules(&entry.name, &[]);
        let mut game = rules.start(None).expect("it starts");
        assert_eq!(rules.unsaid(&mut game), [""; 0], "{}", entry.name);
        let mut choices = Choices(5);
        for _ in 0..24 {
            let moves = game.listing();
            if moves.is_empty() {
                break;
            }
            game.play(&moves[choices.below(moves.len())].1).expect("it is legal");
            if !rules.unsaid(&mut game).is_empty() || game.result().is_some() {
                continue;
            }
            let fen = game.fen();
            let mut again = rules.start(Some(&fen)).expect("our own FEN");
            let texts = |it: &mut rulemate::internals::game::Game| -> Vec<String> {
                it.listing().into_iter().map(|it| it.0).collect()
            };
            assert_eq!(texts(&mut again), texts(&mut game), "{} {fen}", entry.name);
            silent += 1;
        }
    }
    assert!(silent > 300, "{silent}");
}

#[test]
fn what_a_fen_leaves_out_is_named() {
    let rules = rules("capture-to-win", &[]);
    let mut game = rules.start(None).expect("it starts");
    for text in ["e2e4", "d7d5", "e4d5"] {
        game.play_text(text).expect("legal");
    }
    assert_eq!(rules.unsaid(&mut game), ["capture-to-win.winner"]);
    let said = crate::cli::rulemate_reading(
        &["uci"],
        "setoption name UCI_Variant value capture-to-win\nposition startpos moves e2e4 d7d5 e4d5\nd\nquit\n",
    );
    let note = "info string the FEN leaves out capture-to-win.winner: ";
    assert!(said.out.lines().any(|it| it.starts_with(note)), "{}", said.out);
    let said = crate::cli::rulemate_reading(
        &["play", "capture-to-win"],
        "e2e4\nd7d5\nfen\ne4d5\nfen\nquit\n",
    );
    assert_eq!(
        said.out.matches("(the FEN leaves out capture-to-win.winner: ").count(),
        1,
        "{}",
        said.out
    );
    let path = format!("{}/tired.json", env!("CARGO_TARGET_TMPDIR"));
    let saved = ["save", "--game", "capture-to-win", "--moves", "e4 d5 exd5", &path];
    assert_eq!(rulemate(&saved).code, 0);
    let loaded = rulemate(&["load", &path]);
    assert!(loaded.out.contains("the fen leaves out: capture-to-win.winner"), "{}", loaded.out);
    let loaded = rulemate(&["load", "--json", &path]).out;
    assert!(
        loaded.contains("\"fen_leaves_out\": [\n    \"capture-to-win.winner\"\n  ]"),
        "{loaded}"
    );
}

/// An unknown preset, and a number of its own.
#[test]
fn a_preset_from_elsewhere_need_say_nothing_of_its_fen() {
    let text = "
.meta preset \"weather\"
.meta description \"It gets colder\"
.domain Preset += { weather }
.input degrees(n: Int) game attr \"weather.degrees\" = 20 \"it has {n} degrees\"
on any when active('weather, _), degrees(n) do set degrees(n - 1).
";
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    let source = Source { path: "rules/presets/weather.dl".into(), text: text.into() };
    catalogue.add(source).expect("it is new");
    let rules = catalogue.load("chess", &["weather"]).expect("it loads");
    let mut game = rules.start(None).expect("it starts");
    assert_eq!(rules.unsaid(&mut game), [""; 0]);
    game.play_text("e4").expect("legal");
    assert_eq!(rules.unsaid(&mut game), ["weather.degrees"]);
}
