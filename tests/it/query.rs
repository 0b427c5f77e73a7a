//! Questions in the language of rule bodies: what they mean, and where their mistakes are.

use std::sync::Arc;

use rulemate::internals::derive::{Abbreviation, Query, QueryError};
use rulemate::testing::Session;

fn answers(session: &mut Session, text: &str) -> Vec<String> {
    session.answers(text).into_iter().map(|it| it.join(" ")).collect()
}

#[test]
fn names_are_values_where_their_column_has_them() {
    let mut session = Session::new("chess");
    session.play("e4 e5 Nf3");
    assert_eq!(answers(&mut session, "attacks(p, e5)"), ["the white knight on f3"]);
    assert_eq!(answers(&mut session, "attacks(f3, e5), color(f3, c)"), ["white"]);
    assert_eq!(answers(&mut session, "at(?e4, e4)"), ["the white pawn on e4"]);
    assert_eq!(answers(&mut session, "at(p, 'e4), kind(p, k)"), ["the white pawn on e4 pawn"]);
    assert_eq!(answers(&mut session, "kind(#1, k)"), ["rook"]);
    assert_eq!(answers(&mut session, "at(p, s), s < b1"), ["the white rook on a1 a1"]);
    assert_eq!(answers(&mut session, "n = count { at(p, _) }"), ["32"]);
    assert_eq!(answers(&mut session, "turn(c), !in_check()"), ["black"]);
    assert_eq!(answers(&mut session, "attacks(f3, d5)"), Vec::<String>::new());
    // `_p` is another variable than `p`, and `number_1` another than `#1`.
    let found = answers(&mut session, "at(p, e4), color(_p, white), kind(_p, king)");
    assert_eq!(found, ["the white pawn on e4"]);
    let found = answers(&mut session, "kind(#1, k), at(number_1, e4)");
    assert_eq!(found, ["rook the white pawn on e4"]);
    // A variable is another one than what an abbreviation stands for, and white space changes nothing.
    let found = answers(&mut session, "at(on_e1, a1), kind(e1, k)");
    assert_eq!(found, ["the white rook on a1 king"]);
    let found = answers(&mut session, "kind (e1, n), n != rook");
    assert_eq!(found, ["king"]);
    assert!(mistake("at(p, s), p _").message.contains("found `_`"));
    assert!(mistake("at(#3, t), at(p, #3)").message.contains("`#3`"));
    assert_eq!(answers(&mut session, "attacks(d5, _t)"), Vec::<String>::new());
}

#[test]
fn no_row_has_an_entity_that_cannot_exist() {
    let mut session = Session::new("chess");
    for id in ["64", "143", "20000", "99999999999999999999"] {
        for question in [format!("attacks(#{id}, e4)"), format!("at(#{id}, a1)")] {
            assert_eq!(answers(&mut session, &question), Vec::<String>::new(), "{question}");
        }
    }
}

fn mistake(text: &str) -> QueryError {
    let mut session = Session::new("chess");
    let contract = session.game().contract();
    let short = Abbreviation { rel: contract.at.rel, values: contract.board.domain };
    let program = Arc::clone(session.game().program());
    Query::compile(&program, text, Some(short)).expect_err("a mistake")
}

#[test]
fn mistakes_are_shown_in_the_text() {
    let it = mistake("at(p, s), atacks(p, e4)");
    assert_eq!(&it.text[it.start..it.end], "atacks");
    assert_eq!(it.help.as_deref(), Some("did you mean `attacks`?"));
    assert_eq!(mistake("xyzzy(p)").help, None, "a question declares nothing");
    for (text, told) in [
        ("", "expected a variable, a constant, a number or `(`"),
        ("at(p, e4),", "expected a variable, a constant, a number or `(`"),
        ("at(p, e4) at(p, e5)", "expected `,` or the end, found `at`"),
    ] {
        assert_eq!(mistake(text).message, told, "{text}");
    }
    let it = mistake("nobody::attacks(p, e4)");
    assert_eq!(it.help.as_deref(), Some("did you mean `attacks`?"));
    let it = mistake("attacks(p, e4), !at(p, free)");
    assert_eq!(&it.text[it.start..it.end], "free");
    assert!(it.message.contains("`free` has no value"), "{it}");
    let it = mistake("attacks(p)");
    assert!(it.to_string().contains("attacks(p)"), "{it}");
    assert!(mistake("at(p, ").to_string().contains('^'));
    // A mark without a name or number is no variable.
    for text in ["at(?, e4)", "at(#, e4)", "at(??p, e4)"] {
        let it = mistake(text);
        assert_eq!((it.start, it.end), (3, 4), "{it}");
    }
    // What e4 means is added behind the text, and is no part of a bracket that was left open.
    for (text, place, bracket) in [("attacks(p, e4", 7, '('), ("count { at(e4, s) = 1", 6, '{')] {
        let it = mistake(text);
        assert_eq!((it.start, it.end), (place, place + 1), "{it}");
        assert_eq!(it.message, format!("`{bracket}` is not closed"));
    }
    // `n` is a direction.
    let it = mistake("count { at(p, s) } = n");
    assert_eq!(it.help.as_deref(), Some("`n` is a value: write `?n` for a variable"), "{it}");
    assert!(mistake("").to_string().contains('^'));
    assert!(mistake("at(p, s). kind(p, k)").to_string().contains('^'));
}

#[test]
fn a_question_may_end_as_rules_do() {
    let mut session = Session::new("chess");
    let asked = answers(&mut session, "kind(p, king), color(p, white)");
    assert_eq!(asked.len(), 1);
    for end in [".", " . ", ". "] {
        let text = format!("kind(p, king), color(p, white){end}");
        assert_eq!(answers(&mut session, &text), asked, "{text}");
    }
}

/// Whatever is typed is answered or refused.
#[test]
fn no_text_makes_it_panic() {
    let session = Session::new("chess");
    let program = Arc::clone(session.rules().program());
    let parts =
        ["at(", "p", ", ", "e4", ")", "?", "'", "\"", "#9", "!", " = ", "{", "é", ". ", "%"];
    let mut choices = crate::random_rules::Choices(11);
    for _ in 0..40 {
        let text: String =
            (0..choices.below(9)).map(|_| parts[choices.below(parts.len())]).collect();
        if let Err(why) = Query::compile(&program, &text, None) {
            assert!(why.start <= why.end && why.end <= text.len());
            assert!(why.to_string().contains('^'));
        }
    }
}

/// Blanks, and names joined by hyphens, took time by the square of their length, which no budget limits.
#[test]
fn long_questions_are_read_at_once() {
    let session = Session::new("chess");
    let program = Arc::clone(session.rules().program());
    for long in [" ".repeat(60_000), "a-".repeat(20_000)] {
        let began = std::time::Instant::now();
        let read = Query::compile(&program, &format!("{long}at(p, e4)"), None);
        assert_eq!(read.is_ok(), long.starts_with(' '));
        assert!(began.elapsed().as_millis() < 2_000, "{:?}", began.elapsed());
    }
}

#[test]
fn questions_have_a_budget() {
    let mut session = Session::new("chess");
    let query = session.query("at(p, _), at(q, _), at(r, _), at(s, _), at(t, _), at(u, _)");
    let rows = session.game().world_mut().materialised();
    let ran_out = query.answer(&rows).expect_err("32 to the sixth are too many");
    assert!(ran_out.to_string().contains("too many steps"), "{ran_out}");
    assert_eq!(query.holds(&rows), Ok(true));
}

#[test]
fn answers_have_pieces_squares_and_numbers() {
    let mut session = Session::new("chess");
    let found = answers(&mut session, "at(p, s), file(s, f), kind(p, king)");
    assert_eq!(found, ["the white king on e1 e1 5", "the black king on e8 e8 5"]);
}
