//! The facts that belong to a preset, which `forget` retracts and `inherit` copies.
//!
//! Deliberately absent: when that happens, which reactions of the core decide.

use super::program::{Program, Type};
use crate::facts::{AttrId, AttrType, DomainId, EntityId, Session};

impl Program {
    /// The facts that a preset states; only those of one entity or member, if a type and a number are given.
    pub fn stated_by(
        &self,
        preset: i64,
        of: Option<(Type, i64)>,
        facts: &Session,
    ) -> Vec<(EntityId, AttrId)> {
        let mut found = Vec::new();
        for (_, attr) in self.stated.iter().filter(|it| it.0 == preset) {
            let owners = self.schema.attribute(*attr).of;
            let is_asked = |it: &EntityId| match of {
                None => true,
                Some((ty, raw)) => i64::from(it.0) == raw && self.owns(ty, owners),
            };
            found.extend(facts.entities_with(*attr).filter(is_asked).map(|it| (it, *attr)));
        }
        found
    }

    /// Whether facts with such owners are about values of the type.
    fn owns(&self, ty: Type, owners: Option<DomainId>) -> bool {
        match (ty, owners) {
            (Type::Domain(domain), Some(of)) => domain == of,
            (Type::Domain(domain), None) => self.schema.is_entity(AttrType::Member(domain)),
            _ => false,
        }
    }

    /// The facts that presets state of one entity and that another does not have: attributes with their
    /// values.
    pub fn inherited(&self, to: EntityId, from: EntityId, facts: &Session) -> Vec<(AttrId, i64)> {
        let of_entities = |it: &AttrId| self.schema.attribute(*it).of.is_none();
        let own = self.stated.iter().map(|it| it.1).filter(of_entities);
        own.filter(|it| !facts.contains(to, *it))
            .filter_map(|it| Some((it, facts.get_raw(from, it)?)))
            .collect()
    }
}
