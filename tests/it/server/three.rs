//! Games of more than two sides: what all have to agree to.

use rulemate::internals::server::core::{Act, Event, OfferKind, Refusal, Room, Seat, TokenHash};

use super::core::{Sums, ask, play, refusal, setup};

fn room() -> Room<Sums> {
    let seat = |name: &str| Seat { name: name.into(), token: TokenHash::of(name), computer: None };
    let seats = ["ann", "ben", "cid"].map(seat).into_iter().enumerate();
    let mut rules = Sums::to(20);
    rules.sides = 3;
    Room::create(0, rules, setup(None), &seats.collect::<Vec<_>>()).unwrap().0
}

fn rematch() -> Act {
    Act::Rematch { game: "next".into() }
}

/// Two of three cannot draw the game for the third.
#[test]
fn a_draw_needs_every_side() {
    let mut room = room();
    ask(&mut room, 0, "ann", Act::Draw);
    let agreed = ask(&mut room, 0, "ben", Act::Draw);
    assert!(matches!(agreed.events[0].event, Event::Agreed { by: 1, offer: OfferKind::Draw, .. }));
    assert_eq!((room.outcome(), room.offers().draw), (None, Some(0)));
    for who in ["ann", "ben"] {
        assert_eq!(refusal(ask(&mut room, 0, who, Act::Draw)), Refusal::OfferStands, "{who}");
    }
    // The moves of those who have agreed let the offer stand.
    ask(&mut room, 0, "ann", play("1"));
    ask(&mut room, 0, "ben", play("1"));
    assert_eq!(room.offers().agreed, [(OfferKind::Draw, 1)]);
    ask(&mut room, 0, "cid", Act::Draw);
    assert_eq!(room.outcome().map(|it| it.reason.as_str()), Some("agreement"));
}

/// A side declines by a move or in words; who had agreed has to agree anew.
#[test]
fn one_side_declines_for_all() {
    let mut room = room();
    for decline in [play("1"), Act::Decline(OfferKind::Draw)] {
        ask(&mut room, 0, "cid", Act::Draw);
        ask(&mut room, 0, "ben", Act::Draw);
        ask(&mut room, 0, "ann", decline);
        assert_eq!((room.offers().draw, room.offers().agreed.len()), (None, 0));
    }
    ask(&mut room, 0, "ben", Act::Draw);
    ask(&mut room, 0, "ann", Act::Draw);
    assert_eq!(room.outcome(), None);
}

#[test]
fn takebacks_presets_and_rematches_need_every_side() {
    let mut room = room();
    ask(&mut room, 0, "ann", play("1"));
    ask(&mut room, 0, "ann", Act::Takeback);
    ask(&mut room, 0, "ben", Act::GrantTakeback);
    assert_eq!(room.lines().len(), 1);
    ask(&mut room, 0, "cid", Act::Takeback);
    assert_eq!(room.lines().len(), 0);
    let presets = || Act::Presets(vec!["other".into()]);
    ask(&mut room, 0, "ann", presets());
    ask(&mut room, 0, "cid", presets());
    assert!(room.presets().is_empty());
    ask(&mut room, 0, "ben", presets());
    assert_eq!(room.presets(), ["other"]);
    ask(&mut room, 0, "ben", Act::Resign);
    ask(&mut room, 0, "ann", rematch());
    ask(&mut room, 0, "ben", rematch());
    assert_eq!(room.rematch(), None);
    ask(&mut room, 0, "cid", rematch());
    assert_eq!(room.rematch(), Some("next"));
}

/// The log alone tells which sides have agreed.
#[test]
fn an_agreement_is_in_the_log() {
    let mut first = room();
    let mut log = Vec::new();
    for who in ["ann", "ben"] {
        log.extend(ask(&mut first, 0, who, Act::Draw).events);
    }
    let mut room = room();
    room.follow(0, &log).unwrap();
    assert_eq!(room.offers(), first.offers());
    ask(&mut room, 0, "cid", Act::Draw);
    assert_eq!(room.outcome().map(|it| it.reason.as_str()), Some("agreement"));
}
