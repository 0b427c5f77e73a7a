//! Hosting: the game core under a simulated network, stores, the HTTP and WebSocket API.

mod api;
mod core;
mod kill;
mod network;
mod nodes;
mod socket;
mod store;
