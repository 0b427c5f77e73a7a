//! PGN: what is read, what is refused and where, what is written.

use rulemate::moves::notation::{FirstMove, PgnFault, PgnGame, PgnMove, PgnReader, PgnResult};

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
    };
    assert_eq!(game.moves[0], first);
    assert_eq!(game.moves[3].nags, [6]);
    assert_eq!(game.moves[8].comments, ["to the end ] } )"]);
    assert_eq!(game.result, Some(PgnResult::FirstWins));
    assert_eq!(games[1].first, FirstMove { number: 1, by_second: true });
    assert_eq!(moves(&games[1]), ["e8=Q", "e4e5"]);
    assert_eq!(games[1].result, Some(PgnResult::Unknown));
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
    assert_eq!(read(" \n\n "), []);
    let results = read("1/2 ½-½ 1-0 0-1 *");
    assert_eq!(results.len(), 5);
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
