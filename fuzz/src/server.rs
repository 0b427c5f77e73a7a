//! The part of the server's tests that targets use.

#[path = "../../tests/it/server/api.rs"]
mod api;
#[path = "../../tests/it/server/store.rs"]
mod store;
#[path = "../../tests/it/server/wire.rs"]
pub(crate) mod wire;
