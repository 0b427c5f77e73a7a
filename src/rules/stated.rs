//! The facts that presets state about things other than their activations: `forget` retracts them, `inherit` copies
//! them, and those of a module end with the last preset that brings it. Also whether a file that only presets bring is
//! in force.
//!
//! Deliberately absent: when facts are forgotten or inherited; reactions of the core decide that.

use super::program::{Effect, Program, Type};
use crate::facts::{AttrId, DomainId, EntityId, GAME, Session};

impl Program {
    /// Whether only presets bring a file, and none of these presets is active at the moment.
    pub fn sleeps(&self, source: u16, facts: &Session) -> bool {
        let by = self.brought.get(usize::from(source)).and_then(Option::as_ref);
        by.is_some_and(|by| !self.active(facts).any(|it| by.contains(&it)))
    }

    /// The presets that are active, by their raw values.
    fn active<'f>(&self, facts: &'f Session) -> impl Iterator<Item = i64> + use<'f> {
        let attr = self.schema.attribute_named("preset");
        attr.into_iter().flat_map(move |attr| {
            facts.entities_with(attr).filter_map(move |it| facts.get_raw(it, attr))
        })
    }

    /// The facts that end with a preset: the owner (an entity, or the number of a member), the attribute, and the value
    /// that the fact has afterwards. With `of`, only those that the preset's own files state about the owner of that type
    /// and number.
    pub fn forgotten(
        &self,
        preset: i64,
        of: Option<(Type, i64)>,
        facts: &Session,
    ) -> Vec<(EntityId, AttrId, Option<i64>)> {
        let mut found = Vec::new();
        for (_, attr) in self.stated.iter().filter(|it| it.0 == preset) {
            let owners = self.schema.attribute(*attr).of;
            let is_asked = |it: &EntityId| match of {
                None => true,
                Some((ty, raw)) => i64::from(it.0) == raw && self.owns(ty, owners),
            };
            found.extend(facts.entities_with(*attr).filter(is_asked).map(|it| (it, *attr, None)));
        }
        let of_modules = self.of_modules.iter().filter(|it| it.0 == preset && of.is_none());
        for (_, attr) in of_modules.filter(|it| !self.is_needed(it.1, preset, facts)) {
            let attribute = self.schema.attribute(*attr);
            let start =
                |it: EntityId| attribute.default.filter(|_| attribute.of.is_some() || it == GAME);
            found.extend(facts.entities_with(*attr).map(|it| (it, *attr, start(it))));
        }
        found
    }

    /// Whether an active preset other than this one brings a module's attribute.
    fn is_needed(&self, attr: AttrId, preset: i64, facts: &Session) -> bool {
        let brings = |it: i64| it != preset && self.of_modules.contains(&(it, attr));
        self.active(facts).any(brings)
    }

    /// The attributes that `forget` may write.
    pub fn forgettable(&self) -> impl Iterator<Item = AttrId> {
        self.stated.iter().chain(&self.of_modules).map(|it| it.1)
    }

    /// Whether the owners of an attribute, members of a domain or else entities, are of the type.
    fn owns(&self, ty: Type, owners: Option<DomainId>) -> bool {
        match (ty, owners) {
            (Type::Domain(domain), Some(of)) => domain == of,
            (ty, None) => self.is_entity(ty),
            _ => false,
        }
    }

    /// Whether all effects of a reaction are `inherit`, and presets state nothing that can be inherited.
    pub fn does_nothing(&self, reaction: usize) -> bool {
        let inherits = |it: &Effect| matches!(it, Effect::Inherit { .. });
        self.reactions[reaction].effects.iter().all(inherits) && self.inheritable().next().is_none()
    }

    /// The attributes of entities that presets state.
    fn inheritable(&self) -> impl Iterator<Item = AttrId> {
        let of_entities = |it: &AttrId| !self.schema.is_of_members(*it);
        self.stated.iter().map(|it| it.1).filter(of_entities)
    }

    /// What `to` inherits: the attributes that presets state of `from`, with their values, without those of which `to`
    /// has a value itself.
    pub fn inherited(&self, to: EntityId, from: EntityId, facts: &Session) -> Vec<(AttrId, i64)> {
        self.inheritable()
            .filter(|it| !facts.contains(to, *it))
            .filter_map(|it| Some((it, facts.get_raw(from, it)?)))
            .collect()
    }
}
