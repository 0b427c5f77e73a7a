//! Which sides the scope of an activation includes, as the rules declare.

use std::collections::BTreeMap;

use crate::derive::World;
use crate::rules::Program;

/// The sides of each scope, by the scope's name.
#[derive(Debug, Clone, Default)]
pub(super) struct Scopes(BTreeMap<String, Vec<i64>>);

impl Scopes {
    /// Reads `in_scope(scope, side)`. Without that relation only equal scopes overlap.
    pub(super) fn of(program: &Program, world: &mut World) -> Self {
        let mut scopes: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        let Some(rel) = program.relation_named("in_scope") else { return Self::default() };
        let columns = &program.relation(rel).columns;
        for row in world.tuples(rel) {
            let (&[scope, side], Some(column)) = (row.as_slice(), columns.first()) else {
                continue;
            };
            scopes.entry(program.value_name(column.ty, scope)).or_default().push(side);
        }
        Self(scopes)
    }

    pub(super) fn overlap(&self, a: &str, b: &str) -> bool {
        a == b
            || match (self.0.get(a), self.0.get(b)) {
                (Some(a), Some(b)) => a.iter().any(|it| b.contains(it)),
                _ => false,
            }
    }
}
