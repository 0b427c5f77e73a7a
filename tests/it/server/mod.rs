//! Hosting: the game core under a simulated network, stores, the HTTP and WebSocket API.

mod api;
mod core;
mod fuzz;
mod kill;
mod network;
mod nodes;
mod rewind;
mod snapshots;
mod socket;
mod store;
mod wrong;
