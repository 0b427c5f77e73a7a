//! Which sides the scope of an activation includes, as the rules declare.

use crate::derive::World;
use crate::rules::Program;

/// For each scope by name, the sides that it includes, as the rules declare.
#[derive(Debug, Clone, Default)]
pub(super) struct Scopes(Vec<(String, Vec<i64>)>);

impl Scopes {
    /// Reads `in_scope(scope, side)`; without it, scopes overlap if they are the same.
    pub(super) fn of(program: &Program, world: &mut World) -> Self {
        let mut scopes: Vec<(String, Vec<i64>)> = Vec::new();
        let Some(rel) = program.relation_named("in_scope") else { return Self::default() };
        let columns = &program.relation(rel).columns;
        for row in world.tuples(rel) {
            let (&[scope, side], Some(column)) = (row.as_slice(), columns.first()) else {
                continue;
            };
            let name = program.value_name(column.ty, scope);
            match scopes.iter_mut().find(|it| it.0 == name) {
                Some((_, sides)) => sides.push(side),
                None => scopes.push((name, vec![side])),
            }
        }
        Self(scopes)
    }

    pub(super) fn overlap(&self, a: &str, b: &str) -> bool {
        let sides = |name: &str| self.0.iter().find(|it| it.0 == name).map(|it| &it.1);
        a == b
            || match (sides(a), sides(b)) {
                (Some(a), Some(b)) => a.iter().any(|it| b.contains(it)),
                _ => false,
            }
    }
}
