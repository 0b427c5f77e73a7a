//! Moves: derived rows as legal moves, moves and positions as text, and perft counts.
//!
//! This layer knows squares, sides and pieces by their roles in the rules (`contract`); it must not know any preset
//! or game by name, nor, outside of `notation/chess`, what is only in chess.

mod action;
mod contract;
mod declared;
mod finder;
mod meta_lines;
mod names;
mod perft;
mod reach;
mod safety;
mod split;
mod template;
mod turn;
mod turn_text;
mod turn_words;
pub mod notation;

pub use action::{
    LegalityMode, Move, argument_rows, argument_variants, is_legal, is_over, is_played_out,
    is_pseudo, legal_moves, legal_moves_by, pseudo_moves, refusal, refused_argument, row,
};
pub use contract::{Contract, ContractError};
pub use finder::{About, AttrInput, Board, Fault, Field, Mark};
pub use meta_lines::form_fault;
pub use names::{Lookup, row_sentence, value_name};
pub use perft::{
    PerftListError, PerftRecord, divide, perft, perft_by, perft_of_turns, perft_within_turn,
    prepare_count, read_perft_list,
};
pub use safety::{Decision, played_out};
pub use split::split;
pub use turn::is_stuck;
#[cfg(feature = "bin")]
pub(crate) use turn::leaves_a_way_on;
pub(crate) use turn::{deciding, goes_on, may_stop};
pub use turn_text::{BETWEEN, Turns, action_texts, parse_either, parse_turn, turn_word, turns};
