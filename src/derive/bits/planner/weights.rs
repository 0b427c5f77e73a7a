//! The weights of the planner, all in one table: a join order is changed here and nowhere else.
//!
//! The cost of a plan is the expected number of iterations of its loops. Sizes of statics are exact; these
//! numbers are guesses for what is not known before a game. `rulemate profile --plan RULE` shows the
//! resulting plans.

/// Chances that a test holds, by its kind.
pub(super) mod chance {
    /// A variable has the same value at two places of an atom.
    pub(in super::super) const REPEATED: f64 = 0.3;
    /// `!=`.
    pub(in super::super) const NOT_EQUAL: f64 = 0.9;
    /// `=`, `<`, `<=`, `>` or `>=`.
    pub(in super::super) const COMPARED: f64 = 0.4;
    /// A positive atom whose columns all have values, or variables that nothing else mentions.
    pub(in super::super) const ATOM: f64 = 0.3;
    /// The same, negated; or a negated row that is taken out of a loop's row.
    pub(in super::super) const NEGATED: f64 = 0.7;
    /// An aggregate's value that is compared with a value known before.
    pub(in super::super) const AGGREGATE: f64 = 0.3;
    /// Some value of a variable that nothing else mentions makes its literals true.
    pub(in super::super) const EXISTS: f64 = 0.5;
}

/// Expected number of rows of a given relation, which may be any number.
pub(in super::super) const GIVEN: f64 = 8.0;
/// Maximum expected number of members of a domain that have a value of an attribute.
pub(in super::super) const MOST_MEMBERS_STATED: f64 = 8.0;
/// Expected number of pieces that have a value of an attribute.
pub(in super::super) const VALUES: f64 = 30.0;
/// The same, of an attribute with fewer than four values, such as a side.
pub(in super::super) const FEW_VALUES: f64 = 32.0;
/// Expected number of pieces with a flag.
pub(in super::super) const FLAGS: f64 = 3.0;
/// Expected number of members of an attribute that is a list.
pub(in super::super) const LISTED: f64 = 8.0;
/// Expected number of rows of a recursive relation.
pub(in super::super) const RECURSIVE: f64 = 64.0;
/// Expected number of blocks of a maintained relation.
pub(in super::super) const BLOCKS: f64 = 24.0;
/// Maximum number of rows that are expected of a relation that is maintained by block.
pub(in super::super) const MOST_BY_BLOCK: f64 = 300.0;
/// A constant in an atom divides the tuples of a maintained rule by this.
pub(in super::super) const BY_CONSTANT: f64 = 4.0;

/// Iterations for each member of a domain that is looped over whole.
pub(super) const WHOLE_DOMAIN: f64 = 8.0;
/// Factor for looping over a superset instead of the row itself, if it is the support of a dense relation or a
/// row of its index.
pub(super) const DENSE_SUPERSET: f64 = 1.2;
/// The same, for every other superset.
pub(super) const SUPERSET: f64 = 8.0;
/// Factor for a loop's iterations if supersets from other, dense literals narrow it.
pub(super) const NARROWED: f64 = 0.6;
/// Minimum number of iterations of a loop over one variable.
pub(super) const LEAST_LOOP: f64 = 0.5;
/// Each bound column of an atom divides its tuples by this.
pub(super) const BY_COLUMN: f64 = 6.0;
/// Factor for scanning an atom tuple by tuple if it has the head's last column, which could be a row.
pub(super) const GIVEN_UP_ROW: f64 = 6.0;
/// The cost of starting a scan of bit rows.
pub(super) const ENTER_ROWS: f64 = 0.3;
/// The cost of starting a scan of a list of tuples.
pub(super) const ENTER_LIST: f64 = 0.6;
/// Expected number of tuples of a list that is filled while the plan runs.
pub(super) const FILLED_LIST: f64 = 4.0;
/// Maximum number of expected members of a row.
pub(super) const MOST_MEMBERS: f64 = 64.0;
/// Minimum number of expected members of a row.
pub(super) const LEAST_MEMBERS: f64 = 0.3;
/// Expected number of values of a column without a finite domain.
pub(super) const UNBOUNDED: usize = 8;
/// Maximum number of values of a column that are expected to be in use: of a large domain, not all are.
pub(super) const IN_USE: f64 = 32.0;
/// Maximum number of tuples to a member over a column that is projected away.
pub(super) const PROJECTED: f64 = 3.0;
