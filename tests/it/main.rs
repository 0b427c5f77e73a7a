//! The one integration test binary; a module an area.

mod agreement;
mod budgets;
mod cli;
mod damage;
mod explain;
mod facts;
mod fixture;
mod frog;
mod game;
mod hostile;
mod legality;
mod moves;
mod notation;
mod numbers;
mod perft;
mod positions;
mod presets;
mod random_rules;
mod referee;
mod rules;
mod setup;
mod tidy;
mod turns;
mod verify;
mod watch;
