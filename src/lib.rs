//! A rule engine for chess variants: the state of a game is facts, what follows from it is rules as text, and
//! every answer can be proved.
//!
//! # Play a game
//!
//! A [`Catalogue`](prelude::Catalogue) has the games and presets of this package, and of your rule files. It loads
//! a game with presets into a [`Ruleset`](prelude::Ruleset), which starts as many [`Game`](prelude::Game)s as you
//! want:
//!
//! ```
//! use rulemate::prelude::*;
//!
//! fn main() -> Result<(), Error> {
//!     let catalogue = Catalogue::embedded()?;
//!     let rules = catalogue.load("chess", &["piece-hp:white"])?;
//!     let mut game = rules.start(None)?;
//!     for text in ["e4", "d5", "exd5"] {
//!         game.play_text(text)?;
//!     }
//!     assert_eq!(game.listing().len(), 28);
//!     assert_eq!(game.fen().split(' ').nth(1), Some("b"));
//!     Ok(())
//! }
//! ```
//!
//! # Ask why
//!
//! What rules derive has a proof, and what they do not has a refutation, down to rule file and line. A refused
//! move changes nothing:
//!
//! ```
//! use rulemate::prelude::*;
//!
//! # fn main() -> Result<(), Error> {
//! let rules = Catalogue::embedded()?.load::<&str>("chess", &[])?;
//! let mut game = rules.start(Some("4k3/8/8/8/1b6/8/3B3P/4K3 w - - 0 1"))?;
//! assert!(game.play_text("Be3").is_err());
//! let why = game.explain_move("Be3", Limits::default())?;
//! assert!(why.summary.contains("the white bishop on d2 is pinned"), "{}", why.summary);
//! let told = game.explain_fact("attacks(b4, d2)", Limits::default())?;
//! assert!(told.holds);
//! println!("{}\n{}", told.summary, game.tree(&told.finding));
//! # Ok(())
//! # }
//! ```
//!
//! # Write a preset
//!
//! A preset is a text that stacks on the rules of a game: it declares facts, adds rules, and reacts to actions.
//! Mistakes are told with their line. `docs/first-preset.md` goes through one step by step;
//! [`Preset`](prelude::Preset) is for presets whose effects are Rust.
//!
//! ```
//! use rulemate::prelude::*;
//!
//! # fn main() -> Result<(), Error> {
//! let text = r#"
//! .meta preset "frozen-queens"
//! .meta description "queens attack and do not move"
//! .domain Preset += { frozen-queens }
//! immobile(p) :- active('"frozen-queens", c), color(p, c), kind(p, 'queen).
//! "#;
//! let mut catalogue = Catalogue::embedded()?;
//! catalogue.add(Source { path: "frozen-queens.dl".into(), text: text.into() })?;
//! # Ok(())
//! # }
//! ```
//!
//! # Save it
//!
//! A [`Save`](prelude::Save) has the facts of a game, its history, and for each move the proof that it was legal:
//!
//! ```
//! use rulemate::prelude::*;
//!
//! # fn main() -> Result<(), Error> {
//! let catalogue = Catalogue::embedded()?;
//! let rules = catalogue.load("chess", &["coregal"])?;
//! let mut game = rules.start(None)?;
//! game.play_text("e4")?;
//! let bytes = Save::of(&game, &rules, Content::default())?.write(Form::Json);
//! let (save, _) = Save::read(&bytes, "chess")?;
//! let again = save.restore(&catalogue, RulesFrom::Here)?.game;
//! assert_eq!(again.hash(), game.hash());
//! # Ok(())
//! # }
//! ```
//!
//! # What else is here
//!
//! | module | what it is for |
//! |---|---|
//! | [`prelude`] | the types that programs begin with |
//! | [`types`] | what those take and give, by name: errors, entries of the catalogue, views |
//! | [`opponent`] | a computer player for any rules |
//! | [`testing`] | tests of rules, games and hosts of one's own |
//! | `hosting` | games as a part of your own server (feature `server`) |
//!
//! These names are what is public, and a test holds them. The layers of the engine are private.

#![cfg_attr(front_door, deny(missing_docs))]
#![cfg_attr(
    front_door,
    allow(dead_code, unfulfilled_lint_expectations, unreachable_pub, unused_imports)
)]

mod audit;
#[cfg(feature = "bin")]
mod cli;
mod derive;
mod facts;
mod game;
mod moves;
mod presets;
mod proof;
mod protocols;
mod rules;
#[cfg(feature = "server")]
mod server;

#[cfg(feature = "server")]
pub mod hosting;
pub mod opponent;
pub mod prelude;
pub mod testing;
pub mod types;

/// The layers of the engine, for the tests, benchmarks and the binary of this package: they change without notice.
/// `--cfg front_door` leaves them out, so that lints see only what is public.
#[doc(hidden)]
#[cfg(not(front_door))]
pub mod internals {
    macro_rules! layers {
        ($($(#[$when:meta])? $layer:ident)*) => {
            $($(#[$when])? pub mod $layer { pub use crate::$layer::*; })*
        };
    }
    layers! {
        audit
        #[cfg(feature = "bin")]
        cli
        derive
        facts
        game
        moves
        presets
        proof
        protocols
        rules
        #[cfg(feature = "server")]
        server
    }
}
