//! PGN: what is read, what is refused and where, what is written.

use std::cell::Cell;
use std::io::{BufReader, Read};

use rulemate::internals::moves::notation::{
    FirstMove, PgnFault, PgnGame, PgnMove, PgnReader, PgnResult,
};

fn read(text: &str) -> Vec<PgnGame> {
    PgnReader::new(text.as_bytes()).map(|it| it.unwrap_or_else(|error| panic!("{error}"))).collect()
}

fn moves(game: &PgnGame) -> Vec<&str> {
    game.moves.iter().map(|it| it.text.as_str()).collect()
}

const TWO: &str = r#"
[Event "The \"Rules\" \\ Cup"]
[Site  "Here" ]
%a line that programs keep for themselves
[Result "1-0"]

; a comment before the game
1. e4! $13 {a comment
 in two lines} 1... e5 (1... c5 2. Nf3 (2. c3 {or ) else}) 2... d6) 2.Nf3 Nc6?!
% another
3. exd6 e.p. e8(Q)+ 4. 0-0 O-O-O 5. Nf3;to the end ] } )
1-0

[Event "Next"] 1... e8=Q 2 e4e5 *
"#;

#[test]
fn everything_that_a_game_may_hold() {
    let games = read(TWO);
    assert_eq!(games.len(), 2);
    let game = &games[0];
    assert_eq!(game.line, 2);
    assert_eq!(game.tag("event"), Some("The \"Rules\" \\ Cup"));
    assert_eq!(game.tags.len(), 3);
    assert_eq!(game.comments, ["a comment before the game"]);
    assert_eq!(moves(game), ["e4", "e5", "Nf3", "Nc6", "exd6", "e8(Q)+", "0-0", "O-O-O", "Nf3"]);
    let first = PgnMove {
        text: "e4".into(),
        line: 8,
        column: 4,
        nags: vec![1, 13],
        comments: vec!["a comment in two lines".into()],
        variations: Vec::new(),
    };
    assert_eq!(game.moves[0], first);
    assert_eq!(game.moves[3].nags, [6]);
    assert_eq!(game.moves[8].comments, ["to the end ] } )"]);
    assert_eq!(game.result, Some(PgnResult::FirstWins));
    assert_eq!(games[1].first, FirstMove { number: 1, by_second: true });
    assert_eq!(moves(&games[1]), ["e8=Q", "e4e5"]);
    assert_eq!(games[1].result, Some(PgnResult::Unknown));
}

/// A file in UTF-16 is called that.
#[test]
fn the_encoding_of_a_file_that_cannot_be_read_is_named() {
    for bytes in [b"\xFF\xFE1\0.\0".as_slice(), b"\xFE\xFF\x001\x00."] {
        let mut games = PgnReader::new(bytes);
        let fault = games.next().and_then(Result::err).expect("a fault").fault;
        assert!(fault.is_of_the_file() && fault.to_string().contains("it is UTF-16"), "{fault}");
        assert!(games.next().is_none());
    }
}

#[test]
fn line_ends_marks_and_encodings() {
    let plain = "[White \"M\u{fc}ller\"]\n\n1. e4 e5 1/2-1/2\n";
    let expected = read(plain);
    let windows = plain.replace('\n', "\r\n");
    assert_eq!(read(&windows), expected);
    assert_eq!(read(&format!("\u{feff}{plain}")), expected);
    let latin: Vec<u8> = plain.chars().map(|it| it as u8).collect();
    let games: Vec<_> = PgnReader::new(&latin).collect();
    assert_eq!(games, [Ok(expected[0].clone())]);
}

#[test]
fn games_end_as_they_will() {
    // Without a marker, at the next tag; at the end of the file; tags alone.
    let games = read("[A \"1\"]\n1. e4\n[B \"2\"]\n\n[B \"3\"]\n\n1. d4 d5");
    let told: Vec<_> = games.iter().map(|it| (it.tags[0].1.as_str(), it.moves.len())).collect();
    assert_eq!(told, [("1", 1), ("2", 0), ("3", 2)]);
    assert!(games.iter().all(|it| it.result.is_none()));
    // A line of `%` is as if it were not there, and one of any white space is blank.
    for between in ["\n%note\n", "%note\n\n", "\n%a\n%b\n", "\u{a0}\n"] {
        let games = read(&format!("[B \"2\"]\n{between}[B \"3\"]\n\n1. d4 d5"));
        assert_eq!(games.len(), 2, "{between:?}");
    }
    let one = PgnReader::new(b"[B \"2\"]\n%note\n[B \"3\"]\n\n1. d4 d5").next().expect("a game");
    let repeated = PgnFault::RepeatedTag { name: "B".into() };
    assert_eq!(one.map_err(|it| it.fault), Err(repeated));
    assert_eq!(read(" \n\n "), []);
    let results = read("1/2 ½-½ 1-0 0-1 *");
    assert_eq!(results.len(), 5);
}

/// python-chess writes quotes and backslashes in tags as they are.
#[test]
fn quotes_in_tags_need_no_escapes() {
    for value in ["The \"Rules\" Cup", "\"", "\\", "a\"b\\", "\"x\" [y]"] {
        let game = &read(&format!("[A \"{value}\"] [B \"b\"]\n\n1. e4 *"))[0];
        assert_eq!((game.tag("A"), game.tag("B")), (Some(value), Some("b")), "{value}");
        assert_eq!(moves(game), ["e4"]);
    }
}

#[test]
fn faults_have_a_place_and_cost_one_game() {
    let tag = |expected| PgnFault::Tag { expected };
    let cases = [
        ("1. e4 {no end", (1, 7), PgnFault::OpenComment),
        ("1. e4 (1. d4 (1. c4)\n2. e5", (1, 7), PgnFault::OpenVariation),
        ("1. e4 (1. d4\n[X \"1\"]\n", (1, 7), PgnFault::OpenVariation),
        ("1. e4 )", (1, 7), PgnFault::StrayClose { found: ')' }),
        ("1. e4\n }", (2, 2), PgnFault::StrayClose { found: '}' }),
        ("1. e4 $x", (1, 7), PgnFault::Nag),
        ("1. e4 $256", (1, 7), PgnFault::Nag),
        ("1. e4 +- e5", (1, 7), PgnFault::Unexpected { found: '+' }),
        ("1. e4 \"e5\n", (1, 7), PgnFault::Unexpected { found: '"' }),
        ("1. é4 é5 ∞", (1, 10), PgnFault::Unexpected { found: '∞' }),
        ("12345678901. e4", (1, 1), PgnFault::Number),
        ("[\"x\"]", (1, 2), tag("a name")),
        ("[X x]", (1, 4), tag("a value in quotes")),
        ("[X \"x]\n[Y \"y\"]", (1, 7), tag("the value's closing quote on the same line")),
        ("[X \"x\" y]", (1, 8), tag("]")),
        ("[X \"1\"]\n[x \"2\"]\n", (2, 1), PgnFault::RepeatedTag { name: "x".into() }),
    ];
    for (text, place, fault) in cases {
        let file = format!("{text}\n\n1. e4 e5\n\n[Event \"after\"]\n\n1. d4 1-0\n");
        let mut reader = PgnReader::new(file.as_bytes());
        let error = reader.next().expect("a game").expect_err(text);
        assert_eq!((error.line, error.column), place, "{text}");
        assert_eq!((error.game, error.fault), (1, fault), "{text}");
        let after = reader.last().expect(text).expect(text);
        assert_eq!((after.tag("Event"), after.moves.len()), (Some("after"), 1), "{text}");
    }
}

fn sample() -> PgnGame {
    let mut game = PgnGame {
        tags: [
            ("FEN", "a b"),
            ("Annotator", "me \\ \"you\""),
            ("White", "A"),
            ("Variant", "Some Game"),
            ("SetUp", "1"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .to_vec(),
        comments: vec!["first {of} all".into()],
        first: FirstMove { number: 9, by_second: true },
        result: Some(PgnResult::Draw),
        ..PgnGame::default()
    };
    for text in ["e5", "Nf3", "Nc6", "O-O"] {
        game.moves.push(PgnMove { text: text.into(), ..PgnMove::default() });
    }
    game.moves[1].nags = vec![2];
    game.moves[1].comments = vec!["why".into()];
    game
}

#[test]
fn the_export_format() {
    let expected = r#"[Event "?"]
[Site "?"]
[Date "????.??.??"]
[Round "?"]
[White "A"]
[Black "?"]
[Result "1/2-1/2"]
[Variant "Some Game"]
[SetUp "1"]
[FEN "a b"]
[Annotator "me \\ \"you\""]

{first (of) all} 9... e5 10. Nf3 $2 {why} 10... Nc6 11. O-O 1/2-1/2
"#;
    assert_eq!(sample().to_pgn(), expected);
}

/// The number of a FEN is where its game has it, before fields with a sign.
#[test]
fn a_game_from_a_fen_is_numbered_by_it() {
    for (fen, number) in [
        ("4k3/8/8/8/8/8/4P3/4K3 b - - 0 12", 12),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 3+2 0 7 +0+1", 7),
        ("R6r w 5 hm=1 at=a2:3", 5),
        ("R6r w 5 e4:T:I>e5...", 5),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 0", 1),
        ("4k3/8/8/8/8/8/4P3/4K3 w - -", 1),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 99999999999", 1),
    ] {
        let first = FirstMove::from_fen(Some(fen), true);
        assert_eq!(first, FirstMove { number, by_second: true }, "{fen}");
    }
    assert_eq!(FirstMove::from_fen(None, false), FirstMove::default());
}

#[test]
fn variations_stand_in_parentheses_and_are_read_back() {
    let line = |texts: &[&str]| -> Vec<PgnMove> {
        texts.iter().map(|it| PgnMove { text: (*it).into(), ..PgnMove::default() }).collect()
    };
    let mut game = PgnGame { moves: line(&["e4", "e5", "Nf3"]), ..PgnGame::default() };
    let mut sicilian = line(&["c5", "Nc3"]);
    sicilian[1].variations = vec![line(&["c3", "d5"]), line(&["d4"])];
    sicilian[1].comments = vec!["closed".into()];
    game.moves[1].variations = vec![sicilian, Vec::new(), line(&["e6"])];
    let text = game.to_pgn();
    let expected = "1. e4 e5 (1... c5 2. Nc3 {closed} (2. c3 d5) (2. d4)) (1... e6) 2. Nf3 *\n";
    assert_eq!(text.split_once("\n\n").map(|it| it.1), Some(expected), "{text}");
    let mut back = read(&text).remove(0);
    assert_eq!(moves(&back), ["e4", "e5", "Nf3"]);
    forget_places(&mut back.moves);
    game.moves[1].variations.remove(1);
    assert_eq!(back.moves, game.moves);
    // What is said before the first move is said of it; results within mean nothing; what takes the place of no move
    // is passed over.
    let odd = "(1. c4) 1. e4 $1 ({Or} 1. d4 $2 {so.} d5 1-0 ()) e5 (1... c5 ; open\n) 2. Nf3 1/2";
    let mut back = read(odd).remove(0);
    forget_places(&mut back.moves);
    let mut expected = line(&["e4", "e5", "Nf3"]);
    let mut queen = line(&["d4", "d5"]);
    (queen[0].nags, queen[0].comments) = (vec![2], vec!["Or".into(), "so.".into()]);
    (expected[0].nags, expected[0].variations) = (vec![1], vec![queen]);
    expected[1].variations = vec![line(&["c5"])];
    expected[1].variations[0][0].comments = vec!["open".into()];
    assert_eq!((back.moves, back.result), (expected, Some(PgnResult::Draw)));
}

fn forget_places(moves: &mut [PgnMove]) {
    for mv in moves {
        (mv.line, mv.column) = (0, 0);
        mv.variations.iter_mut().for_each(|it| forget_places(it));
    }
}

/// Games whose moves are numbers have them in variations, too; nothing is so deep that it is lost without a word.
#[test]
fn variations_have_numbers_of_their_own_and_are_not_endless() {
    let line = |texts: &[&str]| -> Vec<PgnMove> {
        texts.iter().map(|it| PgnMove { text: (*it).into(), ..PgnMove::default() }).collect()
    };
    let mut game = PgnGame { moves: line(&["1", "2", "3", "5"]), ..PgnGame::default() };
    game.moves[1].variations = vec![line(&["4", "2", "2"]), line(&["2", "3"])];
    game.moves[2].variations = vec![line(&["2", "3"])];
    let mut back = read(&game.to_pgn()).remove(0);
    forget_places(&mut back.moves);
    assert_eq!(back.moves, game.moves, "{}", game.to_pgn());
    let nested = |depth: usize| format!("1. e4{}{}", " (1. d4".repeat(depth), ")".repeat(depth));
    assert_eq!(read(&nested(64)).len(), 1);
    let error = PgnReader::new(nested(65).as_bytes()).next().unwrap().unwrap_err();
    assert_eq!((error.line, error.fault), (1, PgnFault::DeepVariation));
    let bomb = format!("1. e4{}", " (1. d4".repeat(100_000));
    assert!(PgnReader::new(bomb.as_bytes()).next().unwrap().is_err());
}

#[test]
fn lines_are_under_eighty_and_are_read_back() {
    let mut game = sample();
    for at in 0..200 {
        let comments = if at % 7 == 0 { vec!["some words of praise".into()] } else { Vec::new() };
        game.moves.push(PgnMove { text: "Qh4e1".into(), comments, ..PgnMove::default() });
    }
    let text = game.to_pgn();
    assert!(text.lines().all(|it| it.len() < 80), "{text}");
    let mut back = read(&text).remove(0);
    for mv in &mut back.moves {
        (mv.line, mv.column) = (0, 0);
    }
    assert_eq!(back.moves, game.moves);
    assert_eq!((back.first, back.result), (game.first, game.result));
    assert_eq!(back.comments, ["first (of) all"]);
}

#[test]
fn results_are_read_in_all_their_forms() {
    for (text, result) in [
        ("1-0", Some(PgnResult::FirstWins)),
        ("1/2", Some(PgnResult::Draw)),
        (" 1/2-1/2 ", Some(PgnResult::Draw)),
        ("½-½", Some(PgnResult::Draw)),
        ("*", Some(PgnResult::Unknown)),
        ("1-0 forfeit", None),
        ("1/2-1", None),
        ("", None),
    ] {
        assert_eq!(PgnResult::parse(text), result, "{text}");
    }
}

#[test]
fn a_pass_is_a_move_and_no_number() {
    let games = read("1. e4 0000 2. d4 0000. Nf3 --");
    assert_eq!(moves(&games[0]), ["e4", "0000", "d4", "Nf3", "--"]);
}

/// A number without dots is a move's number where it is due, and in files that write no dots at all.
#[test]
fn numbers_may_be_moves() {
    for (text, expected) in [
        ("1 e4 e5 2 Nf3 Nc6", vec!["e4", "e5", "Nf3", "Nc6"]),
        ("1. e4 e5 2 Nf3 Nc6 3.Bb5", vec!["e4", "e5", "Nf3", "Nc6", "Bb5"]),
        ("1.e4 e5 2Nf3 (2 Nc3) 2... Nc6 3Bb5", vec!["e4", "e5", "Nf3", "Nc6", "Bb5"]),
        ("1... e5 2 Nf3", vec!["e5", "Nf3"]),
        ("4.0-0 Nf6 5.0-0-0 1.1-0", vec!["0-0", "Nf6", "0-0-0"]),
        ("1.3 2 2.1", vec!["3", "2", "1"]),
        ("1. 3 2 2. 1", vec!["3", "2", "1"]),
        ("1. 3 2 2. 2 3", vec!["3", "2", "2", "3"]),
        ("1... 2 2. 2 {so} 2... 3", vec!["2", "2", "3"]),
        ("1. a 3! 2. 11-15 23-19 3. 8-11,2", vec!["a", "3", "11-15", "23-19", "8-11,2"]),
        (r#"1 "3" "1-0" 2 "a \"b\" c" 1-0"#, vec!["3", "1-0", r#"a "b" c"#]),
    ] {
        let game = &read(text)[0];
        assert_eq!(moves(game), expected, "{text}");
        let again = &read(&game.to_pgn())[0];
        assert_eq!((moves(again), again.first), (expected, game.first), "{text}");
    }
    let unlike = ["3", "-2", "1-0", "*", "007", "12345678901", "a b", "3x", "%x", "e.p.", "e4!"];
    let texts = unlike.iter().map(|it| PgnMove { text: (*it).into(), ..PgnMove::default() });
    let written = PgnGame { moves: texts.collect(), ..PgnGame::default() }.to_pgn();
    assert_eq!(moves(&read(&written)[0]), unlike, "{written}");
    assert!(written.contains("1. 3 \"-2\" 2. \"1-0\" \"*\" 3. 007 12345678901"), "{written}");
}

/// Bytes that are made as they are read, in pieces of odd lengths, and counted.
struct Endless<'c> {
    text: &'c [u8],
    left: usize,
    read: &'c Cell<usize>,
}

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let at = self.read.get() % self.text.len();
        let count = (self.text.len() - at).min(buffer.len()).min(self.left).min(4_099);
        buffer[..count].copy_from_slice(&self.text[at..at + count]);
        self.left -= count;
        self.read.set(self.read.get() + count);
        Ok(count)
    }
}

#[test]
fn a_file_is_read_as_its_games_are_asked_for() {
    let text =
        "[White \"Müller\"]\n[Result \"1-0\"]\n\n1. e4 {ü}\n1... e5 (1... c5) 2. Nf3 1-0\n\n";
    let games = 25_000_000 / text.len();
    let count = Cell::new(0);
    let file = Endless { text: text.as_bytes(), left: games * text.len(), read: &count };
    let expected = read(text).remove(0);
    let lines = text.lines().count();
    let mut reader = PgnReader::over(BufReader::new(file));
    for at in 0..games {
        let mut game = reader.next().expect("a game").expect("well-formed");
        let shift = at * lines;
        assert_eq!(game.line, expected.line + shift);
        game.line -= shift;
        for mv in &mut game.moves {
            mv.line -= shift;
            mv.variations.iter_mut().flatten().for_each(|it| it.line -= shift);
        }
        assert_eq!(game, expected);
        let ahead = count.get() - (at + 1).min(games) * text.len();
        assert!(ahead < 200_000, "{ahead} bytes are read ahead");
    }
    assert!(reader.next().is_none());
}

/// How the bytes arrive makes no difference.
#[test]
fn pieces_of_a_file_are_read_as_the_whole() {
    let long = format!("1. e4 {{{}}} e5 {} 1/2-1/2", "é ".repeat(90_000), " ".repeat(70_000));
    let latin = [b"1. e4 {".to_vec(), vec![0xFC; 70_000], b"} 1-0\n".to_vec()].concat();
    for text in [TWO.as_bytes(), long.as_bytes(), &latin] {
        let whole: Vec<_> = PgnReader::new(text).collect();
        let count = Cell::new(0);
        let file = Endless { text, left: text.len(), read: &count };
        let pieces: Vec<_> = PgnReader::over(BufReader::with_capacity(7, file)).collect();
        assert_eq!(pieces, whole);
        assert!(whole.iter().all(Result::is_ok));
    }
}

/// Each of these took time by the square of its length: minutes, where a second is enough. What is looked
/// at is counted, so that no clock has to be asked.
#[test]
fn long_lines_and_open_ends_cost_no_more_than_their_length() {
    let count = |text: &str| {
        let mut reader = PgnReader::new(text.as_bytes());
        let all: Vec<_> = reader.by_ref().collect();
        let (looked, bytes) = (reader.bytes_examined(), text.len() as u64);
        assert!(bytes <= looked && looked <= 4 * bytes, "{looked} of {bytes}: {:.40}", text);
        (all.len(), all.iter().filter(|it| it.is_err()).count())
    };
    // Games, and moves of one game, in one line.
    assert_eq!(count(&"1. e4 e5 2. Nf3 Nc6 1-0 ".repeat(160_000)), (160_000, 0));
    assert_eq!(count(&"1. e4 e5 ".repeat(110_000)), (1, 0));
    // Comments without end, each of which would be looked for to the end of the file.
    let (all, wrong) = count(&"{\n[A \"b\"]\n".repeat(200_000));
    assert!((100_000, 100_001) == (wrong, all), "{all} {wrong}");
    // Variations without end.
    let (all, wrong) = count(&"[A \"b\"] ( {}\n{ }\n".repeat(100_000));
    assert!((100_000, 100_000) == (wrong, all), "{all} {wrong}");
    let hidden = format!("( {}", "{\n[A \"b\"] ( {}\n".repeat(50_000));
    assert!(count(&hidden).1 > 0);
    // Tags, every one of which is compared with all before it.
    let tags: String = (0..60_000).map(|it| format!("[T{it} \"\"]")).collect();
    assert_eq!(count(&tags), (1, 0));
}

#[test]
fn a_game_may_have_so_many_bytes() {
    let moves = "1. e4 e5 ".repeat(200_000);
    let long = format!("{moves}\n\n[Event \"after\"]\n\n1. d4 1-0\n");
    let read: Vec<_> = PgnReader::new(long.as_bytes()).collect();
    let told = read[0].as_ref().expect_err("too long");
    assert_eq!((told.game, told.line, &told.fault), (1, 1, &PgnFault::TooLong));
    assert_eq!(read[1].as_ref().expect("a game").moves.len(), 1);
    let comment = format!("1. e4 {{{}", "x".repeat(3_000_000));
    let told = PgnReader::new(comment.as_bytes()).next().expect("a game").expect_err("too long");
    assert_eq!((told.column, told.fault), (7, PgnFault::TooLong));
}

/// Some text, and then a disk that fails.
struct Torn(&'static [u8]);

impl std::io::Read for Torn {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match std::io::Read::read(&mut self.0, into)? {
            0 => Err(std::io::Error::other("the disk is gone")),
            count => Ok(count),
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_to_its_end_says_so_once() {
    let text = b"[Event \"a\"]\n\n1. e4 e5 1-0\n\n[Event \"b\"]\n\n1. d4 d5";
    let games: Vec<_> = PgnReader::over(std::io::BufReader::new(Torn(text))).collect();
    let faults: Vec<_> = games.iter().filter_map(|it| it.as_ref().err()).collect();
    assert_eq!(faults.len(), 1, "{games:?}");
    assert_eq!(faults[0].fault, PgnFault::Unreadable { reason: "the disk is gone".into() });
    assert!(faults[0].fault.is_of_the_file() && games[0].is_ok());
    let open: Vec<_> = PgnReader::new("1. e4 {".as_bytes()).collect();
    let fault = &open[0].as_ref().expect_err("it is open").fault;
    assert!(*fault == PgnFault::OpenComment && !fault.is_of_the_file());
}
