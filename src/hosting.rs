//! Games as a part of a server of one's own: a [`Host`] owns the games of a store, and a [`router`] answers requests
//! about them. `examples/host.rs` is a whole server; `docs/hosting.md` describes the requests.
//!
//! Deliberately absent: what `rulemate serve` adds (addresses, signals, files of presets).

pub use crate::server::store::{Journal, StoreError, open};
pub use crate::server::{
    Challenges, Config, Engine, Host, Library, Limits, NameError, Names, Rate, Web, router,
};
