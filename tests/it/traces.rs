//! What is told to `tracing`: a span a transaction and a derivation, with counts, and never one a row.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rulemate::internals::derive::Backend;
use rulemate::internals::presets::Catalogue;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Counts spans and events by name.
#[derive(Debug, Clone, Default)]
struct Counter(Arc<Mutex<BTreeMap<&'static str, usize>>>);

impl Counter {
    fn count(&self, name: &'static str) {
        *self.0.lock().expect("one thread").entry(name).or_default() += 1;
    }
}

impl Subscriber for Counter {
    fn enabled(&self, it: &Metadata<'_>) -> bool {
        it.target().starts_with("rulemate")
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.count(span.metadata().name());
        Id::from_u64(1)
    }
    fn event(&self, _: &Event<'_>) {
        self.count("event");
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn spans_are_of_transactions_and_derivations() {
    // With one subscriber alone, a span that another test's thread comes to first is never told to anyone.
    let _other = tracing::Dispatch::new(Counter::default());
    let counter = Counter::default();
    tracing::subscriber::with_default(counter.clone(), || {
        let catalogue = Catalogue::embedded().expect("the catalogue");
        let rules = catalogue.load::<&str>("chess", &[]).expect("it loads");
        let mut game = rules.start(None).expect("it starts");
        for mv in ["e4", "e5", "Nf3"] {
            game.play_text(mv).expect("it is legal");
        }
        let mut slow = rules.start_on(Backend::Frog, None).expect("it starts");
        slow.play_text("e4").expect("it is legal");
    });
    let counts = counter.0.lock().expect("one thread").clone();
    assert_eq!((counts["load"], counts["plan"], counts["play"]), (1, 1, 4), "{counts:?}");
    let derived = counts["derive"];
    assert!((2..40).contains(&derived), "{counts:?}");
    assert!(counts.values().sum::<usize>() < 100, "{counts:?}");
}
