//! The grammar of the command line: the commands, their options, and their help.
//!
//! Only the grammar is here. [`setup`](super::setup) interprets texts (which game, which position); each
//! command is in the file of its name.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::Serialize;

/// The default game.
pub(crate) const DEFAULT_GAME: &str = "chess";

/// A rule engine for chess variants: facts, rules as text, incremental derivation, proofs.
#[derive(Debug, Parser)]
#[command(
    name = "rulemate",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    after_help = "Exit codes: 0 fine, 1 findings (an illegal move, a failed row, a rule error), \
                  2 usage or unreadable input.\nNO_COLOR is honoured."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the games that can be played
    Games(ListArgs),
    /// List the presets: rule modules that games combine
    Presets(PresetsArgs),
    /// List the layouts: start positions of games
    Layouts(ListArgs),
    /// Play a game in the terminal, against a second person, the computer or a random mover
    Play(PlayArgs),
    /// List the legal actions of a position, one per line, sorted
    Moves(MovesArgs),
    /// Count the tree of legal actions to a depth
    Perft(PerftArgs),
    /// Replay games from PGN files and check every move and the result
    Referee(RefereeArgs),
    /// Prove why a move is legal, why it is not, or why a fact holds
    Explain(ExplainArgs),
    /// Write a game to a file: facts, moves with their proofs, hashes of the rules
    Save(SaveArgs),
    /// Read a saved game back: the board, the state, the moves (its proofs are checked by `audit`)
    Load(LoadArgs),
    /// List the facts that differ between two saved games
    Diff(DiffArgs),
    /// Replay saves and PGN games under both evaluators, and check proofs
    Audit(AuditArgs),
    /// Query what holds in a position, or along a game
    Query(QueryArgs),
    /// List the facts of a position
    Facts(FactsArgs),
    /// Count what each rule costs over a game
    Profile(ProfileArgs),
    /// Check rule files and print every finding
    Check(CheckArgs),
    /// Write a small working rule file: a game, a preset, a piece or a family
    New(NewArgs),
    /// Play random games by the rules of a file under both evaluators, and print statistics
    Test(TestArgs),
    /// Run vector files (perft rows, lists of legal moves, SAN, winners) and count what passes
    Verify(VerifyArgs),
    /// Measure speed and memory, and those of the peers that are installed
    Bench(BenchArgs),
    /// Speak UCI on standard input and output, for chess programs and their interfaces
    Uci(ProtocolArgs),
    /// Speak the Chess Engine Communication Protocol (xboard) on standard input and output
    Xboard(ProtocolArgs),
    /// Run a language server for rule files: diagnostics while typing, hover, definitions, completion
    #[command(after_help = "Editors start it themselves (docs/editors.md).\n\nExamples:
  nvim --cmd 'lua vim.lsp.config(\"rulemate\", { cmd = { \"rulemate\", \"lsp\" } })' my-game.dl")]
    Lsp,
    /// Serve games over HTTP: a page to play on, and an API
    #[cfg(feature = "server")]
    Serve(super::server_args::ServeArgs),
    /// Copy a store while it is in use
    #[cfg(feature = "server")]
    Backup(super::server_args::BackupArgs),
    /// Check whether this machine and a store are fit to serve
    #[cfg(feature = "server")]
    Doctor(super::server_args::DoctorArgs),
    /// Read players' reports, close accounts, and end tournaments
    #[cfg(feature = "server")]
    Moderate(super::server_args::ModerateArgs),
    /// Delete games in which nothing has happened for a long time
    #[cfg(feature = "server")]
    Prune(super::server_args::PruneArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print a page of the manual
    Man(ManArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rulemate completions bash > ~/.local/share/bash-completion/completions/rulemate"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rulemate man | man -l -
  rulemate man serve | man -l -
  rulemate man --to ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The command that the page describes [default: all of them, in one line each]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    /// Write all pages into this folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) to: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  printf 'uci\\nposition startpos\\ngo perft 3\\nquit\\n' | rulemate uci
  xboard -fcp 'rulemate xboard' -variant knightmate")]
pub(crate) struct ProtocolArgs {
    /// Game to begin with, by name or alias (see `rulemate games`)
    #[arg(long, short, value_name = "NAME", default_value = DEFAULT_GAME)]
    pub(crate) game: String,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
}

/// The options for the user's own rule files.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RulesArgs {
    /// Add a rule file (.dl), or those of a folder; one at the path of an embedded file replaces it
    #[arg(long, value_name = "PATH")]
    pub(crate) rules: Vec<PathBuf>,
}

/// The options that say which position of which game is meant.
#[derive(Debug, Clone, Args)]
pub(crate) struct PositionArgs {
    /// Game, by name or alias (see `rulemate games`) [default: chess]
    #[arg(long, short, value_name = "NAME")]
    pub(crate) game: Option<String>,
    #[command(flatten)]
    pub(crate) from: StartArgs,
}

/// The options that say where a game starts, whichever game it is.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StartArgs {
    /// Activate a preset on top of the game's own; may be repeated
    #[arg(long = "preset", short, value_name = "PRESET[:SCOPE][:OPT=VAL,...]")]
    pub(crate) presets: Vec<String>,
    /// Position to start from instead of the game's own
    #[arg(long, short, value_name = "FEN", allow_hyphen_values = true)]
    pub(crate) fen: Option<String>,
    /// Start from the facts of a file, as `rulemate facts --json` and `rulemate save` write them
    #[arg(long, value_name = "FILE", conflicts_with = "fen")]
    pub(crate) facts: Option<PathBuf>,
    /// Go on from a saved game, with its presets and its history
    #[arg(long, value_name = "FILE", conflicts_with_all = ["game", "presets", "fen", "facts"])]
    pub(crate) save: Option<PathBuf>,
    /// Go back to the position after the first N actions of the saved game
    #[arg(long, value_name = "N", requires = "save")]
    pub(crate) ply: Option<usize>,
    /// Use the rule texts in the saved game, and no others
    #[arg(long, requires = "save")]
    pub(crate) rules_from_save: bool,
    /// Use the current rules for the saved game, although they have changed since
    #[arg(long, requires = "save", conflicts_with = "rules_from_save")]
    pub(crate) migrate: bool,
    /// Moves to play first, in UCI or SAN
    #[arg(long, short, value_name = "MOVES")]
    pub(crate) moves: Option<String>,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "The JSON is what `--facts` of other commands reads.

Examples:
  rulemate facts --game piece-hp
  rulemate facts --moves 'e4 e5' --json > position.json
  rulemate moves --facts position.json")]
pub(crate) struct FactsArgs {
    #[command(flatten)]
    pub(crate) position: PositionArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rulemate games
  rulemate games chess960 --json
  rulemate presets piece-hp
  rulemate layouts")]
pub(crate) struct ListArgs {
    /// Print all details of these
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    /// Print JSON with all details of each
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "An activation is PRESET[:SCOPE][:OPTION=VALUE,...]. Every preset takes turns=N: it ends after N
turns of the sides in its scope.

Examples:
  rulemate presets
  rulemate presets coregal piece-hp
  rulemate presets --rules my-rules/ --pages pages/"
)]
pub(crate) struct PresetsArgs {
    #[command(flatten)]
    pub(crate) list: ListArgs,
    /// Write a page about each preset, with a diagram, to a folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["json", "names"])]
    pub(crate) pages: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rulemate moves --game chess
  rulemate moves --game antichess --fen '8/1p6/8/8/8/8/P7/8 w - - 0 1'
  rulemate moves --game chess --preset coregal:white --json
  rulemate moves --save game.json --ply 12")]
pub(crate) struct MovesArgs {
    #[command(flatten)]
    pub(crate) position: PositionArgs,
    /// Print whole turns, their actions joined by commas
    #[arg(long)]
    pub(crate) turns: bool,
    /// Print JSON, with SAN and UCI
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rulemate perft --game chess --depth 4
  rulemate perft --game knightmate --depth 3 --divide
  rulemate perft --game double-move --depth 2 --turns
  rulemate perft --depth 3 --fen 'r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1'")]
pub(crate) struct PerftArgs {
    #[command(flatten)]
    pub(crate) position: PositionArgs,
    /// Half-moves to look ahead (with --turns, turns)
    #[arg(long, short, value_name = "N")]
    pub(crate) depth: u32,
    /// Count whole turns: the depth is a number of turns, whatever their number of actions
    #[arg(long)]
    pub(crate) turns: bool,
    /// Play the last action of each line, too, instead of counting the legal ones (slow: checks the count)
    #[arg(long, conflicts_with = "turns")]
    pub(crate) leaves: bool,
    /// Print the count under each first action
    #[arg(long)]
    pub(crate) divide: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Moves are typed in SAN (Nf3) or UCI (g1f3); `help` lists the rest.

Examples:
  rulemate play chess
  rulemate play knightmate --computer black --level 3
  rulemate play antichess --random black
  rulemate play --save game.json
  printf 'e4\\ne5\\nwhy Ke3\\nquit\\n' | rulemate play chess --ascii")]
pub(crate) struct PlayArgs {
    /// Game, by name or alias (see `rulemate games`)
    #[arg(value_name = "GAME", default_value = DEFAULT_GAME)]
    pub(crate) game: String,
    #[command(flatten)]
    pub(crate) from: StartArgs,
    /// Side that a random mover plays, by its name (white, black), or `both` for all of them
    #[arg(long, short, value_name = "SIDE")]
    pub(crate) random: Option<String>,
    /// Side that the computer plays, by its name, or `both` for all of them
    #[arg(long, value_name = "SIDE", conflicts_with = "random")]
    pub(crate) computer: Option<String>,
    /// Level of the computer, from 1 to 8
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=8), requires = "computer")]
    pub(crate) level: u8,
    /// Seconds for which the computer first plays against itself, to learn the game [default: up to 3]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600), requires = "computer")]
    pub(crate) learn: Option<u64>,
    /// Seed of the random mover and the computer (drawn afresh if absent)
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Draw the board with letters instead of chess symbols
    #[arg(long)]
    pub(crate) ascii: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Per game: `FILE#N ok RESULT` with a note on the result below, or
`FILE#N refused at move 3. Nf3: REASON` with the refutation below.
Without --game each game's own Variant and Presets tags decide.

Examples:
  rulemate referee tests/data/games/*.pgn
  rulemate referee --game antichess my-games.pgn")]
pub(crate) struct RefereeArgs {
    /// PGN files (`-` is standard input)
    #[arg(value_name = "FILE.pgn", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Check every game by the rules of this one, whatever its Variant tag
    #[arg(long, short, value_name = "NAME")]
    pub(crate) game: Option<String>,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    /// Print JSON, one object per game
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A move is written in UCI (e2e4) or SAN (e4). In a fact, a square instead of a
piece means every piece that stands there. Exit code 1 means that the answer is no:
the MOVE is not legal, the move of --why-not is, the fact does not hold, the game is not over,
the turn passes, the preset cannot be activated.

Examples:
  rulemate explain e2e4
  rulemate explain --why-not e1e2
  rulemate explain --fact 'attacks(b1, c3)'
  rulemate explain --preset piece-shield --fen '4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1' --effects e4d5
  rulemate explain --fen '7k/5KQ1/8/8/8/8/8/8 b - - 0 1' --result
  rulemate explain --game double-move --turn e2e4
  rulemate explain --preset double-move --activate monster-rules
  rulemate explain --save game.json --ply 7 --effects e4d5
  rulemate explain --game coregal --fen 'k2r4/8/8/8/8/3Q4/8/3K4 w - - 0 1' --why-not d3e4"
)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) position: PositionArgs,
    /// Prove that this move is legal
    #[arg(value_name = "MOVE", required_unless_present_any = ["why_not", "fact", "effects", "result", "turn", "activate"])]
    pub(crate) legal: Option<String>,
    /// Explain why this move is not legal: which rules would have to hold, and what prevents that
    #[arg(long, value_name = "MOVE", conflicts_with_all = ["legal", "fact"])]
    pub(crate) why_not: Option<String>,
    /// Prove or refute one row of a relation
    #[arg(long, value_name = "FACT", conflicts_with = "legal")]
    pub(crate) fact: Option<String>,
    /// Print the effects of this move, step by step, with reasons: what is captured, what absorbs damage
    #[arg(long, value_name = "MOVE", conflicts_with_all = ["legal", "why_not", "fact"])]
    pub(crate) effects: Option<String>,
    /// Prove that the game is over, or refute it
    #[arg(long, conflicts_with_all = ["legal", "why_not", "fact", "effects"])]
    pub(crate) result: bool,
    /// Prove that the side to move keeps the turn after MOVE, or refute it; without MOVE, after each legal action
    #[arg(long, conflicts_with_all = ["why_not", "fact", "effects", "result"])]
    pub(crate) turn: bool,
    /// Print whether a preset can be activated here, and what prevents it
    #[arg(long, value_name = "PRESET[:SCOPE][:OPT=VAL,...]",
          conflicts_with_all = ["legal", "why_not", "fact", "effects", "result", "turn", "svg"])]
    pub(crate) activate: Option<String>,
    /// Levels of the tree to derive [default: all of a proof, the relevant part of a refutation]
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<usize>,
    /// Print the board as SVG, with the squares of the proof marked
    #[arg(long, conflicts_with = "json")]
    pub(crate) svg: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "A file name that ends in .bin selects the binary form, any other JSON.

Examples:
  rulemate save --moves 'e4 e5 Nf3' game.json
  rulemate save --game antichess --embed-rules --moves 'e2e3 b7b5' game.bin")]
pub(crate) struct SaveArgs {
    #[command(flatten)]
    pub(crate) position: PositionArgs,
    /// Keep the texts of the rules in the file
    #[arg(long)]
    pub(crate) embed_rules: bool,
    /// File to write (`-` is standard output, as JSON)
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "The moves are replayed, and must lead to everything in the file; otherwise
it is refused, and nothing is loaded.

Examples:
  rulemate load game.json
  rulemate load --rules-from-save game.bin")]
pub(crate) struct LoadArgs {
    /// Saved game (`-` is standard input)
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Game of a save of version 1, which does not state it
    #[arg(long, short, value_name = "NAME", default_value = DEFAULT_GAME)]
    pub(crate) game: String,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    /// Use the rule texts in the file
    #[arg(long)]
    pub(crate) rules_from_save: bool,
    /// Use the current rules, although they have changed since
    #[arg(long, conflicts_with = "rules_from_save")]
    pub(crate) migrate: bool,
    /// Draw the board with letters instead of chess symbols
    #[arg(long)]
    pub(crate) ascii: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A line per fact: `-` only in A, `+` only in B. Exit code 1 means that they differ.

Examples:
  rulemate diff before.json after.bin"
)]
pub(crate) struct DiffArgs {
    /// Saved game
    #[arg(value_name = "A")]
    pub(crate) from: PathBuf,
    /// Another one
    #[arg(value_name = "B")]
    pub(crate) to: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 1 means that something differs; the first difference is printed with its proof.

Examples:
  rulemate audit game.json tests/data/games/*.pgn
  rulemate explain --json e2e4 | rulemate audit --proof -"
)]
pub(crate) struct AuditArgs {
    /// Saves (.json, .bin) and games (.pgn)
    #[arg(value_name = "FILE", required_unless_present = "proof")]
    pub(crate) files: Vec<PathBuf>,
    /// Check an explanation that `explain --json` printed (`-` is standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    pub(crate) proof: Option<PathBuf>,
    /// Game of PGN files, whatever their Variant tags, and of saves of version 1
    #[arg(long, short, value_name = "NAME")]
    pub(crate) game: Option<String>,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    /// Use the rule texts in the saves
    #[arg(long)]
    pub(crate) rules_from_save: bool,
    /// Print JSON, one object per game
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A query is the body of a rule: literals with commas between them, all of which must hold. A
name that is a value of its column means that value (e4, white); any other is a
variable, and so is ?p. A square instead of a piece means the piece on it.
Exit code 1 means that there is no answer.

Examples:
  rulemate query 'attacks(p, e4), color(p, white)'
  rulemate query --moves 'e4 e5 Qh5' 'attacks(h5, t), occupied(t)'
  rulemate query --pgn tests/data/games/kasparov-deep-blue-1997.pgn --each-ply 'pin(a, _, r)'"
)]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    pub(crate) position: PositionArgs,
    /// Literals, all of which must hold
    #[arg(value_name = "QUERY")]
    pub(crate) query: String,
    /// Query the games of a PGN file, without --game each by its Variant tag
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fen", "facts", "save", "moves"])]
    pub(crate) pgn: Option<PathBuf>,
    /// Query at the start and after every move, not only at the end
    #[arg(long)]
    pub(crate) each_ply: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Without moves, 40 random plies are played (the same each time). Time by rule is estimated
by its share of the operations.

Examples:
  rulemate profile
  rulemate profile --game antichess --top 5
  rulemate profile --plan check
  rulemate profile --plan rules/chess/attack.dl:37
  rulemate profile --pgn tests/data/games/kasparov-deep-blue-1997.pgn"
)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) position: PositionArgs,
    /// Play the first game of a PGN file, without --game by its Variant tag
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fen", "facts", "save", "moves"])]
    pub(crate) pgn: Option<PathBuf>,
    /// Number of rules to list, the most expensive first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// Print instead how a relation, or the rule on a line, is evaluated
    #[arg(long, value_name = "RELATION|FILE:LINE", conflicts_with_all = ["pgn", "json"])]
    pub(crate) plan: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A file is checked with the rules of this package that it depends on; one in rules/
replaces the embedded file of that path. A file that does not build on these rules is checked alone.

Examples:
  rulemate check rules/chess/attack.dl
  rulemate check my-preset.dl
  rulemate check my-preset.dl --rules modules-of-others/
  rulemate check my-rules/ --watch"
)]
pub(crate) struct CheckArgs {
    /// Rule files, or folders of them
    #[arg(value_name = "FILE.dl", required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    /// Check again whenever the files change, until stopped
    #[arg(long)]
    pub(crate) watch: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Existing files are not overwritten.

Examples:
  rulemate new game middle-king
  rulemate new preset shy-queens --into my-rules
  rulemate new preset thorny --from thorny.json
  rulemate new piece marshal
  rulemate new family runners")]
pub(crate) struct NewArgs {
    /// What to write
    #[arg(value_enum, value_name = "KIND")]
    pub(crate) kind: NewKind,
    /// Its name: up to 48 lower-case letters and digits, a letter first, with single hyphens between them
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// For a preset: a description in JSON of what happens to pieces and what comes of it, instead of an example
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// Folder to write to
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) into: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NewKind {
    Game,
    Preset,
    Piece,
    Family,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Each game of the files is played, and each preset on a game that it fits. Every game
is then played again from its save under both evaluators, and its proofs are checked.

Examples:
  rulemate test my-game.dl
  rulemate test my-preset.dl --game knightmate --games 100
  rulemate test my-rules/ --seed 7 --json
  rulemate test my-game.dl --watch
  rulemate test --game hex --preset stamina"
)]
pub(crate) struct TestArgs {
    /// Rule files, or folders of them
    #[arg(value_name = "FILE.dl", required_unless_present = "game")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    /// Play this game, with the presets of the files, instead of the files' games
    #[arg(long, short, value_name = "NAME")]
    pub(crate) game: Option<String>,
    /// Further presets to activate, as PRESET[:SCOPE][:OPTION=VALUE,...]
    #[arg(long = "preset", short = 'p', value_name = "PRESET")]
    pub(crate) presets: Vec<String>,
    /// Times to play each game, and each preset
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) games: u64,
    /// Play further games until N positions of each were tested
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) positions: usize,
    /// Maximum number of actions of a game
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) plies: usize,
    /// Seed of the random mover
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Play again whenever the files change, until stopped
    #[arg(long, requires = "files")]
    pub(crate) watch: bool,
    /// Print JSON, one object per game
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A line per file: `FILE: N passed, N failed, N skipped`. Draws by counter, repetition
and material are ignored, as in the vectors. Rows that pass because of a correction are counted separately:
`N corrected (O01 3, O06 2)`.

Examples:
  rulemate verify tests/data/vectors/presets/*.json
  rulemate verify --max-nodes 1000000 chess.public.json
  rulemate verify --game antichess tests/data/perft/giveaway.perft
  rulemate verify --pairs --full --triples 200
  rulemate verify --pairs --full --part 3/20"
)]
pub(crate) struct VerifyArgs {
    /// Vector files: .json (by their `kind`) or .perft
    #[arg(value_name = "FILE", required_unless_present = "pairs")]
    pub(crate) files: Vec<PathBuf>,
    /// Play pairs of presets at random, and compare both evaluators: a sample of the pairs, unless --full
    #[arg(long)]
    pub(crate) pairs: bool,
    /// Play all pairs in all pairs of scopes, 40 half-moves each (without: a sample, in one pair each, 10 at most)
    #[arg(long, requires = "pairs")]
    pub(crate) full: bool,
    /// Of what would be played only the Kth of N parts, as a share of a long run on several machines or evenings
    #[arg(long, value_name = "K/N", requires = "pairs")]
    pub(crate) part: Option<Part>,
    /// Only the presets that fit games of every family
    #[arg(long, requires = "pairs")]
    pub(crate) shared: bool,
    /// Also play N random sets of three presets
    #[arg(long, value_name = "N", default_value_t = 0, requires = "pairs")]
    pub(crate) triples: usize,
    /// Game of .perft files, which state none, and of files whose kind begins with a game (chess-legal), instead of it
    #[arg(long, short, value_name = "NAME")]
    pub(crate) game: Option<String>,
    /// Expect the recorded values even where a file's flags mark them as mistakes
    #[arg(long)]
    pub(crate) recorded: bool,
    /// Corrections: wrong values in the files, with the expected ones (may be repeated)
    #[arg(long, value_name = "FILE")]
    pub(crate) corrections: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    /// Skip rows of perft and of endings with more nodes than this
    #[arg(long, value_name = "N")]
    pub(crate) max_nodes: Option<u64>,
    /// Threads (all cores if absent)
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Print JSON, one object per file
    #[arg(long)]
    pub(crate) json: bool,
}

/// Part `number` of `of` parts, from 1 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Part {
    pub(crate) number: usize,
    pub(crate) of: usize,
}

impl Part {
    /// Whether this part has the item with an index, which is counted from 0.
    pub(crate) fn has(self, index: usize) -> bool {
        index % self.of == self.number - 1
    }
}

impl FromStr for Part {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text.split_once('/').and_then(|(number, of)| {
            Some(Self { number: number.parse().ok()?, of: of.parse().ok()? })
        });
        let is_fine = |it: &Self| (1..=it.of).contains(&it.number);
        parsed.filter(is_fine).ok_or("expected a part and the number of parts, as 3/20")
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// A table of `bench`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BenchTable {
    Perft,
    Derive,
    Presets,
    Activate,
    Explain,
    Hosted,
    Memory,
    Startup,
    Audit,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Peers run in the same call, on the same positions, timed by process CPU time. Peers that are
not installed are skipped, and so are games that a peer does not play.

Examples:
  cargo run --release -- bench
  rulemate bench --quick --json
  rulemate bench --only perft --peer fairy-stockfish --peer ./perft-shakmaty
  rulemate bench --only presets --only hosted"
)]
pub(crate) struct BenchArgs {
    /// Measure only this; may be repeated
    #[arg(long, value_enum, value_name = "TABLE")]
    pub(crate) only: Vec<BenchTable>,
    /// Command of an engine to compare tree counts with: UCI, with `go perft`; may be repeated
    #[arg(long, value_name = "COMMAND", default_value = "fairy-stockfish")]
    pub(crate) peer: Vec<String>,
    /// Of the table `presets`, measure only this preset, beside chess; may be repeated
    #[arg(long, value_name = "PRESET")]
    pub(crate) preset: Vec<String>,
    /// Smaller depths and fewer rounds
    #[arg(long)]
    pub(crate) quick: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
