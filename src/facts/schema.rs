//! The schema of a session: the finite domains and the attributes, with their types and defaults.
//!
//! A schema is built once (the rule loader builds it from `.domain` and `.input` declarations) and
//! shared by every session that runs under it. It knows nothing of rules or of chess.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// The id of a thing that facts are about. An id that no fact mentions is free to be reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EntityId(pub u32);

/// The entity that carries the facts of the whole game (side to move, clocks, counters).
pub const GAME: EntityId = EntityId(0);

/// An attribute of a schema, by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttrId(pub u16);

/// The counter of entities, itself a fact of [`GAME`], present in every schema. It is above the id of every entity
/// that has facts; new entities get the free ids from it on, then lower ones.
pub const NEXT_ENTITY: AttrId = AttrId(0);

/// A finite domain of a schema, by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DomainId(pub u16);

/// The truth values, present in every schema as its first domain.
pub const BOOL: DomainId = DomainId(0);

/// A finite set of named members. Members are identified by index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    pub name: String,
    pub shape: Shape,
}

/// How the members of a domain are defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// Listed by name.
    Members(Vec<String>),
    /// The squares of a board, `a1` first, rank by rank; named by file letter and rank number.
    Grid { files: u8, ranks: u8 },
    /// Entity ids below the cap.
    Entities { cap: u16 },
}

impl Domain {
    /// The number of members.
    pub fn size(&self) -> usize {
        match &self.shape {
            Shape::Members(names) => names.len(),
            Shape::Grid { files, ranks } => usize::from(*files) * usize::from(*ranks),
            Shape::Entities { cap } => usize::from(*cap),
        }
    }

    /// The names of all members, in their order.
    pub fn member_names(&self) -> impl Iterator<Item = String> {
        (0..self.size() as i64).map(|it| self.member_name(it))
    }

    /// The name of a member: `knight`, `e4`, `#12` for an entity; `?9` for an index out of range.
    pub fn member_name(&self, index: i64) -> String {
        let mut name = String::new();
        self.push_member_name(index, &mut name);
        name
    }

    /// Appends the name of a member to a text.
    pub fn push_member_name(&self, index: i64, text: &mut String) {
        let Some(at) = usize::try_from(index).ok().filter(|&at| at < self.size()) else {
            return text.push_str(&format!("?{index}"));
        };
        match &self.shape {
            Shape::Members(names) => text.push_str(&names[at]),
            Shape::Grid { files, .. } => {
                let files = usize::from(*files);
                let (file, rank) = (at % files, at / files + 1);
                text.push(char::from(b'a'.saturating_add(file as u8)));
                if rank >= 10 {
                    text.push_str(&(rank / 10).to_string());
                }
                text.push(char::from(b'0' + (rank % 10) as u8));
            }
            Shape::Entities { .. } => text.push_str(&format!("#{at}")),
        }
    }

    /// The index of a named member, if the domain has it.
    pub fn member(&self, name: &str) -> Option<i64> {
        match &self.shape {
            Shape::Members(names) => names.iter().position(|it| it == name).map(|at| at as i64),
            Shape::Grid { files, ranks } => {
                let file = name.chars().next().filter(char::is_ascii_lowercase)? as u8 - b'a';
                let rank = number(&name[1..])?;
                (file < *files && (1..=u16::from(*ranks)).contains(&rank))
                    .then(|| i64::from(rank - 1) * i64::from(*files) + i64::from(file))
            }
            Shape::Entities { cap } => {
                let id = number(name.strip_prefix('#')?)?;
                (id < *cap).then_some(i64::from(id))
            }
        }
    }
}

/// A number in decimal digits, without a sign or needless zeros: so each member has one name.
fn number(digits: &str) -> Option<u16> {
    let is_padded = digits.len() > 1 && digits.starts_with('0');
    let is_plain = !is_padded && digits.bytes().all(|it| it.is_ascii_digit());
    digits.parse().ok().filter(|_| is_plain)
}

/// The type of an attribute's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttrType {
    Int,
    Entity,
    /// A member of a finite domain; [`BOOL`] for truth values.
    Member(DomainId),
}

/// One attribute: its name in saves and rule files, its type, and the value that a new entity (or
/// a new session, for attributes of the game and of members of a domain) starts with.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    pub name: String,
    pub ty: AttrType,
    /// The domain whose members its facts are about; a fact has the member's index in place of an entity. `None` if
    /// they are about entities or the game.
    pub of: Option<DomainId>,
    pub default: Option<i64>,
    pub doc: String,
}

/// The domains and attributes of a session.
#[derive(Debug, Clone)]
pub struct Schema {
    domains: Vec<Domain>,
    attributes: Vec<Attribute>,
    by_name: HashMap<String, AttrId>,
    entity_cap: Option<u16>,
}

/// Two conflicting declarations of one attribute.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("attribute {name} is declared twice with different types, owners or defaults")]
pub struct AttributeClash {
    pub name: String,
}

impl Default for Schema {
    fn default() -> Self {
        Self::new()
    }
}

impl Schema {
    /// A schema with nothing but the truth values and the entity counter.
    pub fn new() -> Self {
        let truth = Domain {
            name: "Bool".into(),
            shape: Shape::Members(vec!["false".into(), "true".into()]),
        };
        let counter = Attribute {
            name: "next_entity".into(),
            ty: AttrType::Int,
            of: None,
            default: None,
            doc: "new entities get ids from this one on, while there are free ones".into(),
        };
        Self {
            domains: vec![truth],
            by_name: HashMap::from([(counter.name.clone(), NEXT_ENTITY)]),
            attributes: vec![counter],
            entity_cap: None,
        }
    }

    /// Adds a domain and returns its id.
    pub fn add_domain(&mut self, domain: Domain) -> DomainId {
        if let Shape::Entities { cap } = domain.shape {
            self.entity_cap = self.entity_cap.max(Some(cap));
        }
        self.domains.push(domain);
        DomainId((self.domains.len() - 1) as u16)
    }

    /// Whether values of the type are entities.
    pub fn is_entity(&self, ty: AttrType) -> bool {
        match ty {
            AttrType::Entity => true,
            AttrType::Member(id) => matches!(self.domain(id).shape, Shape::Entities { .. }),
            _ => false,
        }
    }

    /// One past the highest entity id that facts may be about.
    pub fn entity_cap(&self) -> u32 {
        u32::from(self.entity_cap.unwrap_or(u16::MAX))
    }

    /// Adds an attribute. The same attribute may be added again with the same type, owners and default;
    /// a later declaration may leave the default out, or be the first to state one.
    ///
    /// # Errors
    /// The two declarations differ.
    pub fn add_attribute(&mut self, attribute: Attribute) -> Result<AttrId, AttributeClash> {
        if let Some(&id) = self.by_name.get(&attribute.name) {
            let known = &mut self.attributes[usize::from(id.0)];
            let default = known.default.or(attribute.default);
            let agreed = attribute.default.is_none() || default == attribute.default;
            if known.ty != attribute.ty || known.of != attribute.of || !agreed {
                return Err(AttributeClash { name: attribute.name });
            }
            known.default = default;
            return Ok(id);
        }
        let id = AttrId(self.attributes.len() as u16);
        self.by_name.insert(attribute.name.clone(), id);
        self.attributes.push(attribute);
        Ok(id)
    }

    /// Adds an attribute that is not found by its name: no save and no rule file can name it. The rule loader adds
    /// such attributes for the values from before an action.
    pub fn add_hidden(&mut self, attribute: Attribute) -> AttrId {
        self.attributes.push(attribute);
        AttrId((self.attributes.len() - 1) as u16)
    }

    pub fn domains(&self) -> &[Domain] {
        &self.domains
    }

    pub fn domain(&self, id: DomainId) -> &Domain {
        &self.domains[usize::from(id.0)]
    }

    pub fn domain_named(&self, name: &str) -> Option<DomainId> {
        self.domains.iter().position(|it| it.name == name).map(|at| DomainId(at as u16))
    }

    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// The ids of all attributes, ascending.
    pub fn attribute_ids(&self) -> impl Iterator<Item = AttrId> + use<> {
        (0..self.attributes.len() as u16).map(AttrId)
    }

    pub fn attribute(&self, id: AttrId) -> &Attribute {
        &self.attributes[usize::from(id.0)]
    }

    /// Whether the facts of an attribute are about members of a domain, see [`Attribute::of`].
    pub fn is_of_members(&self, attr: AttrId) -> bool {
        self.attribute(attr).of.is_some()
    }

    /// The domain of [`Attribute::of`].
    pub fn owners(&self, attr: AttrId) -> Option<&Domain> {
        self.attribute(attr).of.map(|it| self.domain(it))
    }

    pub fn attribute_named(&self, name: &str) -> Option<AttrId> {
        self.by_name.get(name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::{Domain, Shape};

    /// A member has one name.
    #[test]
    fn entities_are_read_as_they_are_written() {
        let domain = Domain { name: "Entity".into(), shape: Shape::Entities { cap: 64 } };
        for id in 0..64 {
            assert_eq!(domain.member(&domain.member_name(id)), Some(id));
        }
        for name in ["#64", "#+13", "#013", "#00", "#-1", "#", "13", "?70"] {
            assert_eq!(domain.member(name), None, "{name}");
        }
    }
}
