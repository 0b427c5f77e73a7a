//! Limits on rule text. Presets may be untrusted: text beyond a limit is an error with a code, never a crash.
//!
//! Raised events are limited here, too, since all code that runs reactions has to agree on their number.
//! Deliberately absent: the cost of running rules, which the evaluators budget.

use thiserror::Error;

/// Maximum number of files of one program.
pub const FILES: usize = 256;
/// Maximum size of one file, in bytes.
pub const FILE_BYTES: usize = 64 * 1024;
/// Maximum number of clauses with a body, trials and reactions of one program, together. A reaction counts once more
/// for each action that is `as` the one that it reacts to.
pub const RULES: usize = 4096;
/// Maximum number of clauses without a body, of one program.
pub const FACTS: usize = 8192;
/// Maximum number of relations of one program.
pub const RELATIONS: usize = 1024;
/// Maximum number of domains of one program.
pub const DOMAINS: usize = 128;
/// Maximum number of attributes of one program. A list has one for each member of its domain, and what reactions read
/// by `was` has a hidden one beside its own.
pub const ATTRIBUTES: usize = 8192;
/// Maximum number of columns of one relation.
pub const COLUMNS: usize = 8;
/// Maximum number of atoms of one body, those inside aggregates included.
pub const BODY_ATOMS: usize = 16;
/// Maximum number of comparisons of one body, aggregates and the comparisons inside them included.
pub const BODY_COMPARISONS: usize = 32;
/// Maximum number of effects of one reaction.
pub const EFFECTS: usize = 32;
/// Maximum depth of one expression: each operator adds one, and each parenthesis or brace around it. Also the maximum
/// depth to which look-ups in a template nest.
pub const DEPTH: usize = 24;
/// Maximum number of files, and ranks, of a board.
pub const BOARD_SIDE: usize = 16;
/// Maximum number of entities of a session.
pub const ENTITIES: usize = 128;
/// Maximum number of members of one domain.
pub const MEMBERS: usize = 256;
/// Maximum number of stages of one program.
pub const STAGES: usize = 64;
/// Maximum number of events of one program. Each trial has one of its own.
pub const EVENTS: usize = 128;
/// Maximum number of trials of one program.
pub const TRIALS: usize = 32;
/// Maximum length of a chain of events in which each is raised by a reaction to the one before.
pub const RAISED_DEEP: usize = 32;
/// Maximum number of events that one action raises.
pub const RAISED: usize = 1024;
/// Maximum number of mistakes that are reported; the rest is only counted.
pub const DIAGNOSTICS: usize = 200;
/// Once the mistakes that are shown with their lines exceed this size, in bytes, the rest is only counted.
pub const RENDERED: usize = 256 * 1024;

/// A limit that rule text exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LimitError {
    #[error("a program may have {FILES} files, this one has {0}")]
    Files(usize),
    #[error("a file may have {FILE_BYTES} bytes, this one has {0}")]
    FileBytes(usize),
    #[error("a program may have {RULES} rules and reactions, this one has {0}")]
    Rules(usize),
    #[error("a program may have {FACTS} facts, this one has {0}")]
    Facts(usize),
    #[error("a program may have {RELATIONS} relations, this one has {0}")]
    Relations(usize),
    #[error("a program may have {DOMAINS} domains, this one has {0}")]
    Domains(usize),
    #[error(
        "a program may have {ATTRIBUTES} attributes; a list has one for each member of its domain"
    )]
    Attributes,
    #[error("a relation may have {COLUMNS} columns, this one has {0}")]
    Columns(usize),
    #[error("a body may have {BODY_ATOMS} atoms, this one has {0}")]
    BodyAtoms(usize),
    #[error("a body may have {BODY_COMPARISONS} comparisons, this one has {0}")]
    BodyComparisons(usize),
    #[error("a reaction may have {EFFECTS} effects, this one has {0}")]
    Effects(usize),
    #[error("an expression may nest {DEPTH} deep, each operator included")]
    Depth,
    #[error("a board may have {BOARD_SIDE} files and {BOARD_SIDE} ranks, at least one of each")]
    Board,
    #[error("there may be {ENTITIES} entities, at least 2")]
    Entities,
    #[error("a domain may have {MEMBERS} members, this one has {0}")]
    Members(usize),
    #[error("a program may have {STAGES} stages, this one has {0}")]
    Stages(usize),
    #[error("a program may have {EVENTS} events, trials included, this one has {0}")]
    Events(usize),
    #[error("a program may have {TRIALS} trials, this one has {0}")]
    Trials(usize),
}

/// The codes of limits on what a program declares: beyond them names are missing.
pub(super) const OF_NAMES: [&str; 4] = ["L005", "L006", "L015", "L017"];

impl LimitError {
    /// The stable code of the diagnostic.
    pub fn code(self) -> &'static str {
        match self {
            Self::Files(_) => "L001",
            Self::FileBytes(_) => "L002",
            Self::Rules(_) => "L003",
            Self::Facts(_) => "L004",
            Self::Relations(_) => "L005",
            Self::Domains(_) => "L006",
            Self::Columns(_) => "L007",
            Self::BodyAtoms(_) => "L008",
            Self::BodyComparisons(_) | Self::Effects(_) => "L009",
            Self::Depth => "L010",
            Self::Board => "L011",
            Self::Entities => "L012",
            Self::Members(_) => "L013",
            Self::Stages(_) => "L014",
            Self::Events(_) => "L015",
            Self::Trials(_) => "L016",
            Self::Attributes => "L017",
        }
    }
}
