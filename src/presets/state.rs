//! The state of a preset: a bag of typed values in a namespace of its own, kept as facts.
//!
//! The bag of `P` consists of the attributes `P.name` of the activation's entity, so it is saved with
//! everything else, ends with the activation, and rules can read it. The preset's file declares its contents:
//! `.input score(bag: Entity, n: Int) key attr "P.score"`. An input whose first column is called `activation`
//! declares an option; the options of the activation are in the bag, too. Deliberately absent: values that no
//! rule file declares.

use crate::derive::World;
use crate::facts::{AttrId, AttrType, EntityId, FactError, Value};

/// The state of one activation.
#[derive(Debug)]
pub struct StateBag<'w> {
    world: &'w mut World,
    entity: EntityId,
    prefix: String,
}

impl<'w> StateBag<'w> {
    /// The bag of the first activation of a preset; `None` if it is not active.
    pub fn of(world: &'w mut World, preset: &str) -> Option<Self> {
        let schema = world.facts().schema();
        let attr = schema.attribute_named("preset")?;
        let AttrType::Member(domain) = schema.attribute(attr).ty else { return None };
        let member = schema.domain(domain).member(preset)?;
        let facts = world.facts();
        let entity =
            facts.entities_with(attr).find(|&it| facts.get_raw(it, attr) == Some(member))?;
        Some(Self { world, entity, prefix: format!("{preset}.") })
    }

    fn attr(&self, name: &str) -> Option<AttrId> {
        self.world.facts().schema().attribute_named(&format!("{}{name}", self.prefix))
    }

    pub fn get(&self, name: &str) -> Option<Value> {
        self.world.facts().get(self.entity, self.attr(name)?)
    }

    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Sets a value and returns the old one.
    ///
    /// # Errors
    /// The preset's file declares no such name, or one that does not take the value.
    pub fn set(&mut self, name: &str, value: Value) -> Result<Option<Value>, StateError> {
        let attr = self.attr(name).ok_or_else(|| StateError::Unknown { name: name.into() })?;
        Ok(self.world.insert(self.entity, attr, value)?)
    }

    /// Removes a value and returns it.
    pub fn delete(&mut self, name: &str) -> Option<Value> {
        let attr = self.attr(name)?;
        self.world.retract(self.entity, attr)
    }

    /// Everything in the bag, options included, by name.
    pub fn all(&self) -> Vec<(String, Value)> {
        let schema = self.world.facts().schema();
        let mine = schema.attribute_ids().filter_map(|it| {
            let name = schema.attribute(it).name.strip_prefix(&self.prefix)?;
            Some((name.to_string(), self.world.facts().get(self.entity, it)?))
        });
        mine.collect()
    }
}

/// Why a value was not stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    #[error("the preset's file declares no state called {name}")]
    Unknown { name: String },
    #[error(transparent)]
    Fact(#[from] FactError),
}
