//! The rule files that are compiled into the package: a line for each. A test holds the list equal to
//! the folder.
//!
//! The list stands here, beside the files, because no Rust file of the lower layers names a game.

/// The rule files of this package, by path.
pub const EMBEDDED: &[(&str, &str)] = &[
    ("rules/core/attack.dl", include_str!("core/attack.dl")),
    ("rules/core/board.dl", include_str!("core/board.dl")),
    ("rules/core/castling.dl", include_str!("core/castling.dl")),
    ("rules/core/effects.dl", include_str!("core/effects.dl")),
    ("rules/core/moves.dl", include_str!("core/moves.dl")),
    ("rules/core/pieces.dl", include_str!("core/pieces.dl")),
    ("rules/core/results.dl", include_str!("core/results.dl")),
    ("rules/games/antichess.dl", include_str!("games/antichess.dl")),
    ("rules/games/chess.dl", include_str!("games/chess.dl")),
    ("rules/games/chess960.dl", include_str!("games/chess960.dl")),
    ("rules/games/coregal.dl", include_str!("games/coregal.dl")),
    ("rules/games/giveaway.dl", include_str!("games/giveaway.dl")),
    ("rules/games/knightmate-classic.dl", include_str!("games/knightmate-classic.dl")),
    ("rules/games/knightmate.dl", include_str!("games/knightmate.dl")),
    ("rules/presets/coregal.dl", include_str!("presets/coregal.dl")),
    ("rules/presets/knightmate-rules.dl", include_str!("presets/knightmate-rules.dl")),
    ("rules/presets/suicide-chess.dl", include_str!("presets/suicide-chess.dl")),
];
