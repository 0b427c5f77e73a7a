//! Conversations in UCI and with xboard, line by line, as the clients hold them.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rulemate::internals::presets::Catalogue;
use rulemate::internals::protocols::{Ending, Flow, Interrupt, Uci, Xboard};
use rulemate::internals::rules::Source;

fn uci(lines: &[&str]) -> Vec<String> {
    let mut uci = Uci::new(Catalogue::embedded().unwrap(), "chess").unwrap();
    let mut said = Vec::new();
    for line in lines {
        // No later line ends the search here, so one without end is ended before it begins, and is short.
        let is_endless = line.contains("infinite") || line.contains("ponder ");
        uci.ended_by(if is_endless { ended() } else { Interrupt::default() });
        uci.line(line, &mut |it| said.push(it.to_string()));
    }
    said
}

fn ended() -> Interrupt {
    let interrupt = Interrupt::default();
    interrupt.end(Ending::AnswerNow);
    interrupt
}

fn xboard(lines: &[&str]) -> Vec<String> {
    let mut xboard = Xboard::new(Catalogue::embedded().unwrap(), "chess").unwrap();
    let mut said = Vec::new();
    for line in lines {
        xboard.line(line, &mut |it| said.push(it.to_string()));
    }
    said
}

#[test]
fn uci_introduces_itself_and_counts() {
    let said = uci(&["uci", "isready", "position startpos moves e2e4", "go perft 2", "d"]);
    assert!(
        said.iter().any(|it| it.starts_with("option name UCI_Variant type combo default chess"))
    );
    assert!(said.contains(&"uciok".into()) && said.contains(&"readyok".into()));
    assert!(said.contains(&"Nodes searched: 600".into()), "{said:?}");
    assert!(said.contains(&" | P | P | P | P |   | P | P | P |2".into()), "{said:?}");
    let fen = "Fen: rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    assert!(said.iter().any(|it| it == fen), "{said:?}");
}

/// Files with mistakes are refused, and the variants stay as they were.
#[test]
fn rule_files_with_mistakes_leave_the_variants_as_they_were() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("variant-path");
    std::fs::create_dir_all(&folder).expect("the folder");
    for (name, text, fault) in [
        (
            "core.dl",
            ".decl idle(piece: Entity) \"{piece} idles\"\nidle(p) :- no_such(p).\n",
            "no_such",
        ),
        ("family.dl", ".meta family \"stones\"\nfinish(o, 'nothing) :- wins(_, o).\n", "nothing"),
        ("preset.dl", ".meta preset \"lost\"\n.meta requires \"nowhere\"\n", "nowhere"),
        (
            "game.dl",
            ".meta game \"odd\"\n.meta layout \"orthodox\"\n.meta use \"no-such-preset\"\n",
            "game.dl:3: game odd uses no-such-preset, but there is no preset",
        ),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("the file");
        let option = format!("setoption name VariantPath value {}", path.display());
        let said =
            uci(&[&option, "setoption name UCI_Variant value noughts-and-crosses", "go perft 1"]);
        assert!(said[0].starts_with("info string error "), "{name}: {said:?}");
        assert!(said.iter().any(|it| it.contains(fault)), "{name}: {said:?}");
        assert_eq!(said.last().unwrap(), "Nodes searched: 9", "{name}: {said:?}");
    }
}

/// Clients write the royal knight of knightmate as a king, the ordinary king as a mann.
#[test]
fn knightmate_is_spoken_in_the_letters_of_its_clients() {
    let start = "rmbqkbmr/pppppppp/8/8/8/8/PPPPPPPP/RMBQKBMR w KQkq - 0 1";
    let position = format!("position fen {start}");
    let said = uci(&["setoption name UCI_Variant value knightmate", &position, "go perft 3"]);
    assert!(said[0].ends_with(start), "{said:?}");
    assert_eq!(said.last().unwrap(), "Nodes searched: 6765");
    let said = uci(&[
        "setoption name UCI_Variant value knightmate",
        "position fen 8/P6k/8/8/8/8/8/K7 w - - 0 1 moves a7a8m",
        "d",
    ]);
    assert!(said.iter().any(|it| it.starts_with("Fen: M7/7k/8/8/8/8/8/K7 b")), "{said:?}");
}

/// A letter that the clients of a game do not have is none of its pieces, and a move may be written in SAN.
#[test]
fn letters_that_clients_do_not_have_are_translated_too() {
    let variant = "setoption name UCI_Variant value knightmate";
    let fen = "position fen 8/P6k/8/8/8/8/8/K7 w - - 0 1";
    // Their n is no knight: ours is royal, and theirs is called k.
    let said = uci(&[variant, "position fen n6k/P6k/8/8/8/8/8/K7 w - - 0 1"]);
    let refused = "info string error ";
    assert!(said[1].starts_with(refused) && said[1].contains("n for m"), "{said:?}");
    let said = uci(&[variant, &format!("{fen} moves a7a8n")]);
    assert!(said[1].starts_with(refused) && said[1].contains("clients write k for n"), "{said:?}");
    for written in ["Kb3", "a8=M", "a7a8m"] {
        let said = uci(&[variant, &format!("{fen} moves {written}")]);
        assert_eq!(said.len(), 1, "{said:?}");
    }
    let said = xboard(&[
        "variant knightmate",
        "force",
        "setboard 8/P6k/8/8/8/8/8/K7 w - - 0 1",
        "usermove a7a8n",
        "usermove a8=M",
    ]);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("Illegal move ("), "{said:?}");
}

/// Programs such as python-chess know the letters p, n, b, r, q and k alone.
#[test]
fn clients_may_ask_for_plain_letters() {
    let variant = "setoption name UCI_Variant value knightmate";
    let plain = "setoption name Letters value plain";
    let fen = "position fen 8/P6k/8/8/8/8/8/N6n w - - 0 1";
    let known = |it: &str| it.split(':').next().is_some_and(|it| !it.ends_with('m'));
    let said = uci(&[variant, plain, fen, "go perft 1", "d"]);
    let promotions: Vec<&String> = said.iter().filter(|it| it.starts_with("a7a8")).collect();
    assert!(promotions.len() == 4 && promotions.iter().all(|it| known(it)), "{said:?}");
    assert!(said.contains(&"Fen: 8/P6k/8/8/8/8/8/N6n w - - 0 1".into()), "{said:?}");
    let said = uci(&[plain, variant, &format!("{fen} moves a7a8k"), "d"]);
    assert!(said.iter().any(|it| it.starts_with("Fen: K7/7k/")), "{said:?}");
    let said = xboard(&[
        "option Letters=plain",
        "variant knightmate",
        "force",
        "setboard 8/P6k/8/8/8/8/8/N6n w - - 0 1",
        "usermove a7a8k",
    ]);
    assert!(said.is_empty(), "{said:?}");
}

#[test]
fn an_unknown_variant_stops_positions_and_searches() {
    let said = uci(&[
        "setoption name UCI_Variant value knihtmate",
        "position startpos",
        "go depth 1",
        "setoption name UCI_Variant value antichess",
        "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "go depth 1",
    ]);
    assert!(said[0].contains("there is no game knihtmate"), "{said:?}");
    assert!(said[..3].iter().all(|it| it.starts_with("info string error")), "{said:?}");
    assert!(said.last().unwrap().starts_with("bestmove "), "{said:?}");
}

/// Rules in use are limited, and those of games that are over are not in use.
#[test]
fn every_variant_can_be_chosen_one_after_the_other() {
    let catalogue = Catalogue::embedded().unwrap();
    let names: Vec<String> = catalogue.games().iter().map(|it| it.name.clone()).collect();
    let mut uci = Uci::new(catalogue, "chess").unwrap();
    for name in names {
        let line = format!("setoption name UCI_Variant value {name}");
        uci.line(&line, &mut |it| {
            assert!(!it.contains("error") || it.contains("two sides"), "{it}")
        });
    }
}

/// The default of an option is one of its values, however the game was named.
#[test]
fn the_default_variant_is_one_of_the_variants() {
    let catalogue = Catalogue::embedded().unwrap();
    let mut uci = Uci::new(catalogue, "Losing-Chess").unwrap();
    for line in ["uci", "setoption name UCI_Variant value nonsense", "uci"] {
        uci.line(line, &mut |it| {
            let begins =
                it.starts_with("option name UCI_Variant type combo default antichess var ");
            assert!(begins || !it.contains("UCI_Variant"), "{it}");
        });
    }
}

#[test]
fn bad_input_is_answered_and_changes_nothing() {
    let said = uci(&[
        "position fen 8/8 w",
        "position startpos moves e2e4 e7e4",
        "position startpos e2e4",
        "go perft 0",
        "go perft",
        "frobnicate",
        "setoption name Foo value 1",
        "position startpos",
        "go perft 1",
    ]);
    assert_eq!(said.iter().filter(|it| it.starts_with("info string error")).count(), 7, "{said:?}");
    assert!(
        said.iter().any(|it| it.ends_with("expected moves after startpos, not e2e4")),
        "{said:?}"
    );
    assert_eq!(said.last().unwrap(), "Nodes searched: 20");
}

/// Each side takes two steps a turn; White is home on e1.
const PACERS: &str = r#"
.meta game "pacers"
.meta title "Pacers"
.meta board "8x4"
.meta start "7r/7r/R7/R7 w 1"
.meta fen "hm=half_moves"
.domain Kind += { runner }
.domain Reason += { home }
letter('runner, "r").
.static onward(side: Side, dir: Dir) "{side} runs {dir}"
onward('white, 'e). onward('black, 'w).
.action hop(piece: Entity, to: Square) uci "{at(piece)}{to}" san "{at(piece)}{to}" "{piece} hops to {to}"
hop(p, t) :- own(p), color(p, c), onward(c, d), at(p, s), step(d, s, t), !occupied(t).
on hop(p, t) do set at(p, t).
turn_goes_on() :- half_moves(0).
mid_turn() :- half_moves(n), n > 0.
.repetition half_moves
movable() :- hop(_, _).
terminal(o, 'home) :- color(p, 'white), at(p, 'e1), wins('white, o).
"#;

/// Clients count moves as turns of the side that thinks, however many actions a turn has.
#[test]
fn a_forced_win_is_told_in_turns_of_a_side() {
    let mut catalogue = Catalogue::embedded().unwrap();
    let source = Source { path: "mine/pacers.dl".into(), text: PACERS.into() };
    catalogue.add(source).unwrap();
    let mut uci = Uci::new(catalogue.clone(), "pacers").unwrap();
    let mut xboard = Xboard::new(catalogue, "pacers").unwrap();
    for (place, side, mate) in
        [("R7", "w", 2), ("1R6", "w", 2), ("2R5", "w", 1), ("2R5", "b", -1), ("1R6", "b", -2)]
    {
        let position = format!("7r/7r/R7/{place} {side} 1");
        let mut said = Vec::new();
        for line in [&*format!("position fen {position}"), "go depth 8"] {
            uci.line(line, &mut |it| said.push(it.to_string()));
        }
        let score = format!(" score mate {mate} ");
        assert!(said.iter().any(|it| it.contains(&score)), "{position}: {said:?}");
        said.clear();
        for line in ["force", &*format!("setboard {position}"), "sd 8", "post", "go"] {
            xboard.line(line, &mut |it| said.push(it.to_string()));
        }
        let score = format!(" {} ", 100_000 * i64::signum(mate) + mate);
        assert!(said.iter().any(|it| it.contains(&score)), "{position}: {said:?}");
    }
}

/// `go mate` finds a win in so many moves, and ends where there is none, whatever else there is.
#[test]
fn a_win_is_sought_in_so_many_moves() {
    let legal = "position fen r2qkb1r/pp2nppp/3p4/2pNN1B1/2BnP3/3P4/PPP2PPP/R2bK2R w KQkq - 1 1";
    let reti = "position fen 7K/8/k1P5/7p/8/8/8/8 w - - 0 1";
    for (position, turns, best) in [
        (legal, 2, Some("bestmove d5f6")),
        (legal, 1, None),
        ("position startpos", 2, None),
        (reti, 3, None),
    ] {
        let said = uci(&[position, &format!("go mate {turns}")]);
        let is_found = said.iter().any(|it| it.contains(&format!(" score mate {turns} ")));
        assert_eq!(is_found, best.is_some(), "{position}: {said:?}");
        let last = said.last().unwrap();
        assert!(last.starts_with(best.unwrap_or("bestmove ")), "{position}: {said:?}");
        assert_ne!(last, "bestmove (none)", "{position}");
    }
    let mut catalogue = Catalogue::embedded().unwrap();
    catalogue.add(Source { path: "mine/pacers.dl".into(), text: PACERS.into() }).unwrap();
    let mut uci = Uci::new(catalogue, "pacers").unwrap();
    for (turns, is_there) in [(1, false), (2, true), (9, true)] {
        let mut said = Vec::new();
        for line in ["position fen 7r/7r/R7/1R6 w 1", &*format!("go mate {turns}")] {
            uci.line(line, &mut |it| said.push(it.to_string()));
        }
        let is_found = said.iter().any(|it| it.contains(" score mate 2 "));
        assert_eq!(is_found, is_there, "{turns}: {said:?}");
    }
}

/// What was searched before, and for how long, makes no difference to a search without a time.
#[test]
fn a_search_to_a_number_of_nodes_has_one_answer() {
    let answers = |before: &[&str], go: &str| {
        let mut uci = Uci::new(Catalogue::embedded().unwrap(), "chess").unwrap();
        before.iter().for_each(|it| assert_eq!(uci.line(it, &mut |_| ()), Flow::GoesOn));
        let mut said = Vec::new();
        uci.line(go, &mut |it| said.push(it.to_string()));
        said
    };
    for go in ["go nodes 3000", "go depth 3"] {
        let first = answers(&[], go);
        assert_eq!(answers(&["go movetime 200", "go movetime 400"], go), first, "{go}");
    }
}

#[test]
fn chess960_is_chess_with_castling_onto_the_rook() {
    let said = uci(&[
        "setoption name UCI_Chess960 value true",
        "position fen 4k3/8/8/8/8/8/8/4K2R w H - 0 1",
        "go perft 1",
    ]);
    assert!(said.contains(&"e1h1: 1".into()), "{said:?}");
}

#[test]
fn a_search_without_end_answers_when_it_is_stopped() {
    let said = uci(&["position startpos", "go infinite", "stop", "stop"]);
    assert_eq!(said.iter().filter(|it| it.starts_with("bestmove")).count(), 1, "{said:?}");
    // A `go` that comes before `stop` is answered in its place.
    let said = uci(&["go infinite", "position startpos moves e2e4", "go depth 1", "stop"]);
    assert_eq!(said.iter().filter(|it| it.starts_with("bestmove")).count(), 1, "{said:?}");
    let mated = "position fen rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3";
    assert_eq!(uci(&[mated, "go depth 3"]), ["bestmove (none)"]);
}

/// The client ponders on the reply that the engine expects, which the other side can play.
#[test]
fn the_best_move_comes_with_the_reply_to_ponder_on() {
    let position = "position fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    let said = uci(&[position, "go depth 2"]);
    let words: Vec<&str> = said.last().unwrap().split(' ').collect();
    let &["bestmove", text, "ponder", reply] = words.as_slice() else { panic!("{said:?}") };
    let said = uci(&[&format!("{position} moves {text} {reply}"), "go depth 1"]);
    assert!(said.last().unwrap().starts_with("bestmove "), "{said:?}");
}

/// A move that was expected is a reason to answer, once.
#[test]
fn pondering_is_answered_when_the_move_is_played() {
    let ponder = "go ponder wtime 1000 btime 1000";
    let said =
        uci(&["setoption name Skill Level value 1", ponder, "ponderhit", "ponderhit", "stop"]);
    assert_eq!(said.iter().filter(|it| it.starts_with("bestmove")).count(), 1, "{said:?}");
}

#[test]
fn xboard_is_answered_move_by_move() {
    let said = xboard(&["xboard", "protover 2", "ping 3", "nopost", "new", "usermove e2e4"]);
    assert!(
        said[0].starts_with("feature ")
            && said[0].contains("variants=\"")
            && said[0].contains("normal")
    );
    assert_eq!(said[1..3], ["feature done=1", "pong 3"]);
    assert!(said[3].starts_with("move "), "{said:?}");
}

#[test]
fn xboard_hears_of_illegal_moves_and_results() {
    let said = xboard(&[
        "new",
        "force",
        "usermove e2e5",
        "usermove f2f3",
        "usermove e7e5",
        "usermove g2g4",
        "usermove d8h4",
        "undo",
        "usermove d8h4",
        "foo",
    ]);
    assert_eq!(said[0], "Illegal move (not legal here): e2e5");
    assert_eq!(said[1..], ["0-1 {checkmate}", "0-1 {checkmate}", "Error (unknown command): foo"]);
    // Where the game is over, `go` is answered by the result, once.
    let said = xboard(&["new", "setboard 7k/5KQ1/8/8/8/8/8/8 b - - 0 1", "go", "go"]);
    assert_eq!(said, ["1-0 {checkmate}"]);
}

/// Ply, score in hundredths of a pawn, time in hundredths of a second, nodes and principal variation, from `post` to
/// `nopost`.
#[test]
fn xboard_sees_what_a_search_finds() {
    let said = xboard(&["new", "sd 2", "post", "usermove e2e4", "nopost", "go"]);
    let [first, second, answer, last] = said.as_slice() else { panic!("{said:?}") };
    for (line, ply) in [(first, "1"), (second, "2")] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(words[0], ply, "{said:?}");
        assert!(words[1..4].iter().all(|it| it.parse::<i64>().is_ok()), "{said:?}");
    }
    let best = answer.strip_prefix("move ").expect("a move");
    assert_eq!(second.split(' ').nth(4), Some(best), "{said:?}");
    assert!(last.starts_with("move "), "{said:?}");
    let mate = "setboard 6k1/5ppp/8/8/8/8/8/4R1K1 w - - 0 1";
    let said = xboard(&["force", mate, "sd 2", "post", "go"]);
    assert!(said[0].starts_with("1 100001 ") && said[0].ends_with(" e1e8"), "{said:?}");
}

#[test]
fn xboard_is_told_of_boards_that_it_does_not_know() {
    let said = xboard(&["variant coregal", "variant knightmate", "variant nonsense"]);
    assert!(said[0].starts_with("setup (PNBRQ"), "{said:?}");
    assert_eq!(said[1], "piece Q& RB");
    assert!(said[2].starts_with("Error (variant not supported): nonsense"), "{said:?}");
}

/// Without them, clients show no hands, and nothing can be dropped.
#[test]
fn clients_are_told_how_many_kinds_hands_hold() {
    let said = xboard(&["variant capahouse", "variant coregal"]);
    assert!(said[0].contains(" 10x8+8_fairy "), "{said:?}");
    assert!(said[1].contains(" 8x8+0_fairy "), "{said:?}");
    let said = uci(&["setoption name UCI_Variant value crazyhouse"]);
    assert!(said[0].contains(" pocket 6 "), "{said:?}");
}

#[test]
fn quitting_ends_the_conversation() {
    let mut uci = Uci::new(Catalogue::embedded().unwrap(), "chess").unwrap();
    assert_eq!(uci.line("quit", &mut |_| ()), Flow::Quit);
    assert_eq!(uci.line("isready", &mut |_| ()), Flow::GoesOn);
}

/// A search takes no longer than its time, though a game is learned before the first one.
#[test]
fn what_is_learned_before_a_move_is_within_its_time() {
    let began = Instant::now();
    let said = uci(&["go movetime 3000"]);
    let took = began.elapsed();
    assert!(said.last().unwrap().starts_with("bestmove "), "{said:?}");
    assert!(took < Duration::from_millis(4_500), "{took:?}");
}

#[test]
fn a_search_is_of_the_moves_that_are_asked_for() {
    let best = |go: &str| {
        let said = uci(&["setoption name Skill Level value 1", go]);
        (said.len(), said.last().unwrap().clone())
    };
    assert_eq!(best("go searchmoves h2h4 depth 1"), (2, "bestmove h2h4".into()));
    let (_, text) = best("go depth 1 searchmoves g1h3 b1a3");
    assert!(["bestmove g1h3", "bestmove b1a3"].contains(&text.as_str()), "{text}");
    // A search to a depth ends there, also where others are by samples.
    let said = uci(&["setoption name UCI_Variant value connect-four", "go depth 1"]);
    let nodes = said[said.len() - 2].split(" nodes ").nth(1).and_then(|it| it.split(' ').next());
    assert!(nodes.is_some_and(|it| it.parse::<u32>().is_ok_and(|it| it < 1_000)), "{said:?}");
    let said = uci(&["go depth 3 searchmoves e2e4"]);
    assert!(said[said.len() - 2].starts_with("info depth 3 "), "{said:?}");
    let said = uci(&["go infinite searchmoves a2a4", "stop"]);
    assert_eq!(said.last().unwrap().split(' ').nth(1), Some("a2a4"), "{said:?}");
    let said = uci(&["go depth 1 searchmoves e2e5"]);
    assert!(said[0].starts_with("info string error e2e5"), "{said:?}");
    assert_eq!(said[1..], ["bestmove (none)"]);
}

/// The client waits for `bestmove`, and a move of another position would be illegal in its own.
#[test]
fn no_move_is_found_where_the_position_or_the_variant_is_refused() {
    for refused in [
        "position fen 8/8 w",
        "position startpos moves e2e4 e7e4",
        "position startpos e2e4",
        "setoption name UCI_Variant value knihtmate",
    ] {
        let said = uci(&[refused, "go depth 1", "go infinite", "stop", "go perft 1"]);
        let none = said.iter().filter(|it| *it == "bestmove (none)").count();
        let others = said.iter().filter(|it| !it.starts_with("info string error")).count();
        assert_eq!((none, others), (2, 2), "{refused}: {said:?}");
    }
    let again = ["position fen 8/8 w", "ucinewgame", "go depth 1"];
    assert_ne!(uci(&again).last().unwrap(), "bestmove (none)");
}

/// Fairy-Stockfish writes six fields for every game, also where castling and passed squares are unknown.
#[test]
fn fields_of_chess_that_say_nothing_are_passed_over() {
    let variant = "setoption name UCI_Variant value dobutsu";
    let said = uci(&[variant, "position fen gle/1C1/3/ELG[C] b - - 0 1", "d", "go perft 1"]);
    assert!(said.iter().any(|it| it == "Fen: gle/1C1/3/ELG[C] b 1"), "{said:?}");
    let said = uci(&[variant, "position fen gle/1C1/3/ELG[C] b KQ - 0 1"]);
    assert!(said[1].starts_with("info string error"), "{said:?}");
}

/// A program that speaks a protocol, with a client's end of its pipes.
struct Engine {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Engine {
    fn start(protocol: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_rulemate"))
            .arg(protocol)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            output
                .lines()
                .map_while(Result::ok)
                .take_while(|it| sender.send(it.clone()).is_ok())
                .count()
        });
        let input = child.stdin.take();
        Self { child, input, lines }
    }

    fn tell(&mut self, lines: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(lines).unwrap();
        input.flush().unwrap();
    }

    /// The lines up to the first one that begins so. Searches of these tests would take ten minutes.
    fn hears(&self, wanted: &str) -> Vec<String> {
        let mut all = Vec::new();
        while all.last().is_none_or(|it: &String| !it.starts_with(wanted)) {
            match self.lines.recv_timeout(Duration::from_secs(120)) {
                Ok(line) => all.push(line),
                Err(_) => panic!("{wanted} is never said: {all:?}"),
            }
        }
        all
    }

    /// Whether it says nothing for a while.
    fn is_silent(&self) -> bool {
        self.lines.recv_timeout(Duration::from_millis(300)).is_err()
    }

    /// Waits until the program has ended well.
    fn ends(mut self) {
        let until = Instant::now() + Duration::from_secs(120);
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                return assert!(status.success(), "{status}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.child.kill().unwrap();
        panic!("it does not end");
    }
}

#[test]
fn lines_that_come_during_a_search_are_heard() {
    let mut engine = Engine::start("uci");
    engine.tell(b"position startpos\ngo movetime 600000\n");
    engine.tell(b"isready\n");
    let said = engine.hears("readyok");
    assert!(!said.iter().any(|it| it.starts_with("bestmove")), "{said:?}");
    engine.tell(b"stop\nisready\n");
    let said = engine.hears("readyok");
    let (best, infos) = said[..said.len() - 1].split_last().unwrap();
    assert!(best.starts_with("bestmove "), "{said:?}");
    assert!(!infos.is_empty() && infos.iter().all(|it| it.starts_with("info ")), "{said:?}");
    engine.tell(b"go movetime 600000\nquit\n");
    engine.hears("bestmove ");
    engine.ends();
}

/// A client that analyses follows the search, and gets the best move when it asks for it.
#[test]
fn a_search_without_end_goes_on_until_it_is_stopped() {
    let mut engine = Engine::start("uci");
    engine.tell(b"position startpos\ngo infinite\n");
    let said = engine.hears("info depth 2 ");
    assert!(said[0].starts_with("info depth 1 score ") && said[0].contains(" pv "), "{said:?}");
    engine.tell(b"isready\n");
    let said = engine.hears("readyok");
    assert!(!said.iter().any(|it| it.starts_with("bestmove")), "{said:?}");
    engine.tell(b"stop\n");
    engine.hears("bestmove ");
    // What is decided at once waits, too.
    let mate = "position fen 6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1\ngo infinite\n";
    engine.tell(mate.as_bytes());
    engine.hears("info depth 1 score mate 1");
    assert!(engine.is_silent(), "before stop");
    engine.tell(b"stop\nisready\n");
    assert_eq!(engine.hears("readyok"), ["bestmove d1d8", "readyok"]);
    let mated = "position fen 3R2k1/5ppp/8/8/8/8/8/K7 b - - 0 1\ngo infinite\n";
    engine.tell(mated.as_bytes());
    assert!(engine.is_silent(), "before stop");
    engine.tell(b"stop\n");
    assert_eq!(engine.hears("bestmove"), ["bestmove (none)"]);
    engine.tell(b"go infinite\nquit\n");
    engine.ends();
}

/// While the other side thinks, the search goes on; then it has the time of its `go`, counted from that.
#[test]
fn pondering_goes_on_until_the_move_is_played() {
    let mut engine = Engine::start("uci");
    engine.tell(b"setoption name Learn Seconds value 1\nisready\nposition startpos\n");
    engine.hears("readyok");
    engine.tell(b"go ponder movetime 400\n");
    engine.hears("info depth 2 ");
    std::thread::sleep(Duration::from_millis(400));
    engine.tell(b"isready\n");
    let said = engine.hears("readyok");
    assert!(!said.iter().any(|it| it.starts_with("bestmove")), "{said:?}");
    engine.tell(b"ponderhit\n");
    engine.hears("bestmove ");
    // The next search is another one, and `stop` ends it as any.
    engine.tell(b"go ponder movetime 600000\nponderhit\n");
    engine.hears("info depth 2 ");
    engine.tell(b"isready\n");
    let said = engine.hears("readyok");
    assert!(!said.iter().any(|it| it.starts_with("bestmove")), "{said:?}");
    engine.tell(b"stop\nisready\n");
    let said = engine.hears("readyok");
    assert_eq!(said.iter().filter(|it| it.starts_with("bestmove ")).count(), 1, "{said:?}");
    engine.tell(b"quit\n");
    engine.ends();
}

#[test]
fn a_search_ends_with_the_input() {
    for (protocol, search) in [
        ("uci", "go movetime 600000\n"),
        ("xboard", "new\nst 600\nusermove e2e4\n"),
        ("uci", "setoption name Learn Seconds value 600\nisready\n"),
    ] {
        let mut engine = Engine::start(protocol);
        engine.tell(search.as_bytes());
        engine.input = None;
        engine.ends();
    }
}

/// `?` wants a move now; after `force` a move would be one that the client does not have.
#[test]
fn xboard_ends_a_search() {
    let mut engine = Engine::start("xboard");
    engine.tell(b"new\nst 600\nusermove e2e4\n?\n");
    engine.hears("move ");
    engine.tell(b"new\nst 600\nusermove e2e4\nforce\nusermove e7e5\nusermove g1f3\nping 1\n");
    assert_eq!(engine.hears("pong"), ["pong 1"]);
    engine.tell(b"quit\n");
    engine.ends();
}

/// Names of players come in any encoding.
#[test]
fn lines_need_not_be_text() {
    let mut engine = Engine::start("xboard");
    engine.tell(b"name M\xfcller\nping 2\n");
    assert_eq!(engine.hears("pong"), ["pong 2"]);
    engine.tell(b"quit\n");
    engine.ends();
}
