//! Hosting: the game core under a simulated network, stores, the HTTP and WebSocket API.

mod accounts;
mod api;
mod attack;
mod civil;
mod core;
mod doctor;
mod drawn;
mod front;
mod fuzz;
mod kill;
mod long;
mod network;
mod nodes;
mod offered;
mod outside;
mod pairing;
mod postgres;
mod rewind;
mod snapshots;
mod socket;
mod store;
mod study;
mod tls;
mod tournament;
mod uploads;
pub(crate) mod wire;
mod wrong;
