//! How the rows of input relations represent facts.
//!
//! Deliberately absent: how inputs are declared (`check`), and where evaluators keep their rows.

use smallvec::SmallVec;

use crate::facts::{AttrId, EntityId, GAME};

/// How an input relation reads an attribute. Facts of the members of a domain (`of Side`) are read like those of
/// entities, by the numbers of the members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// `rel(entity, value)` for every entity that has the attribute. Always functional.
    Key(AttrId),
    /// `rel(entity)` for every entity of which the attribute is true.
    Flag(AttrId),
    /// `rel(value)`: the attribute of the game entity. Functional with no key columns.
    Game(AttrId),
    /// `rel()` if the attribute of the game entity is true.
    GameFlag(AttrId),
    /// `rel(activation, member)` for every member of a domain that an activation has chosen as an option. Each
    /// member has an attribute of its own, true if the member is chosen. These attributes are consecutive: the first
    /// one, and their number.
    List(AttrId, u16),
}

impl Input {
    /// The attribute that the input reads; for a list, that of the first member.
    pub fn attr(self) -> AttrId {
        match self {
            Self::Key(it)
            | Self::Flag(it)
            | Self::Game(it)
            | Self::GameFlag(it)
            | Self::List(it, _) => it,
        }
    }

    /// All attributes that the input reads.
    pub fn attrs(self) -> impl Iterator<Item = AttrId> + Clone {
        let AttrId(first) = self.attr();
        let count = if let Self::List(_, members) = self { members } else { 1 };
        (first..first + count).map(AttrId)
    }

    /// The entity, or the number of the member, whose fact a row represents.
    pub fn owner(self, row: &[i64]) -> Option<i64> {
        match self {
            Self::Key(_) | Self::Flag(_) | Self::List(..) => row.first().copied(),
            Self::Game(_) | Self::GameFlag(_) => Some(i64::from(GAME.0)),
        }
    }

    /// The row that represents a fact of one of these attributes, if there is one.
    pub fn row(self, entity: EntityId, attr: AttrId, raw: i64) -> Option<SmallVec<[i64; 4]>> {
        let (id, is_game) = (i64::from(entity.0), entity == GAME);
        match self {
            Self::Key(_) => Some(SmallVec::from_slice(&[id, raw])),
            Self::Flag(_) => (raw != 0).then(|| SmallVec::from_slice(&[id])),
            Self::Game(_) => is_game.then(|| SmallVec::from_slice(&[raw])),
            Self::GameFlag(_) => (is_game && raw != 0).then(SmallVec::new),
            Self::List(first, _) => {
                let member = i64::from(attr.0) - i64::from(first.0);
                (raw != 0).then(|| SmallVec::from_slice(&[id, member]))
            }
        }
    }
}

/// When the facts of an input expire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// As soon as an effect gives the input `turn` another value, or none.
    Turn,
    /// When an action begins, before its first reaction.
    Action,
}
