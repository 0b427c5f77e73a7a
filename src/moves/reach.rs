//! Upper bounds on what an action can lead to: the number of events, how deep they nest, and the number of
//! entities that it makes. An action that stays within the limits of a transaction cannot fail, so a count
//! need not take it to know that.
//!
//! The bounds hold for all facts: a body has at most as many solutions as its variables have combinations of
//! values, leaving out variables that others determine. Deliberately absent: whether an action is safe (`safety`).

use std::collections::HashMap;

use crate::facts::AttrId;
use crate::rules::limits::{RAISED, RAISED_DEEP};
use crate::rules::{
    ActionId, Aggregate, Atom, Compare, Dependencies, Effect, Event, EventId, Expr, Input, Literal,
    Op, Program, Reaction, RelId, Role, Rule, Term, Type, Var, VarId, term_vars,
};

/// The number of free entities with which a legal action is certain to succeed. `None` if it may fail with any number,
/// since its events may be too many or nest too deep, or it calls code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// The number in any position.
    pub always: Option<u32>,
    /// The number in positions where no two entities have the same place.
    pub apart: Option<u32>,
}

/// The room that each action needs. `at` is the attribute that gives the place of an entity.
pub(super) fn rooms(program: &Program, at: AttrId) -> Vec<Room> {
    let mut bounds = Bounds::of(program, at);
    program.actions.iter().map(|it| bounds.room(it.id)).collect()
}

/// Upper bounds on the consequences of an action or event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Reach {
    events: u64,
    depth: u64,
    entities: u64,
    calls: bool,
}

impl Reach {
    const ENDLESS: Self = Self { events: u64::MAX, depth: u64::MAX, entities: 0, calls: false };

    fn room(self) -> Option<u32> {
        let ends = self.events <= RAISED as u64 && self.depth <= RAISED_DEEP as u64;
        u32::try_from(self.entities).ok().filter(|_| ends && !self.calls)
    }

    /// Adds that many events of one kind, with the consequences of each.
    fn add(&mut self, times: u64, event: Self) {
        let events = event.events.saturating_add(1).saturating_mul(times);
        self.events = self.events.saturating_add(events);
        self.depth = self.depth.max(event.depth.saturating_add(1));
        self.entities = self.entities.saturating_add(event.entities.saturating_mul(times));
        self.calls |= event.calls;
    }
}

/// The progress in computing the reach of an event.
#[derive(Debug, Clone, Copy)]
enum Progress {
    Unasked,
    /// To ask again meanwhile means that the event raises itself.
    Begun,
    Done(Reach),
}

/// A set of columns of a relation, as bits.
type Columns = u8;

struct Bounds<'p> {
    program: &'p Program,
    depends: Dependencies,
    at: AttrId,
    /// Whether no two entities have the same place in the facts that are considered.
    apart: bool,
    /// Maximum number of values of some columns for each value of others, by whether entities stand apart.
    fans: HashMap<(RelId, Columns, Columns, bool), u64>,
    /// Relations whose rules are being examined.
    busy: Vec<RelId>,
    /// By the number of the event.
    events: Vec<Progress>,
}

impl<'p> Bounds<'p> {
    fn of(program: &'p Program, at: AttrId) -> Self {
        Self {
            program,
            depends: Dependencies::of(program),
            at,
            apart: false,
            fans: HashMap::new(),
            busy: Vec::new(),
            events: vec![Progress::Unasked; program.events.len()],
        }
    }

    fn room(&mut self, action: ActionId) -> Room {
        let [always, apart] = [false, true].map(|it| self.of_action(action, it).room());
        Room { always, apart }
    }

    /// The reach of an action; if `apart`, in positions where no two entities have the same place.
    fn of_action(&mut self, action: ActionId, apart: bool) -> Reach {
        let program = self.program;
        let own: Vec<&Reaction> = program.reactions_to(Event::Action(action)).collect();
        let mut reach = Reach::default();
        for reaction in &own {
            // Entities still stand apart if no earlier batch moves one; other facts do not matter.
            let before = |it: &&&Reaction| (it.stage, it.owner) < (reaction.stage, reaction.owner);
            self.apart = apart && !own.iter().filter(before).any(|it| self.may_move(it));
            self.add_reaction(reaction, &mut reach);
        }
        self.apart = false;
        reach
    }

    /// Whether an entity may have moved after a reaction and its consequences.
    fn may_move(&self, reaction: &Reaction) -> bool {
        let moves = |it: &Reaction| {
            let mut effects = it.effects.iter();
            self.depends.can_hold(&it.body) && effects.any(|it| match it {
                Effect::Set { rel, .. } => {
                    matches!(self.program.relation(*rel).role, Role::Input(it) if it.attr() == self.at)
                }
                Effect::Call { .. } => true,
                _ => false,
            })
        };
        let raises = reaction.effects.iter().any(|it| matches!(it, Effect::Raise { .. }));
        let mut raised = self.program.reactions.iter();
        moves(reaction)
            || raises
                && self.depends.can_hold(&reaction.body)
                && raised.any(|it| matches!(it.event, Event::Raised(_)) && moves(it))
    }

    fn of_event(&mut self, event: EventId) -> Reach {
        let (program, at) = (self.program, usize::from(event.0));
        match self.events[at] {
            Progress::Done(reach) => return reach,
            Progress::Begun => return Reach::ENDLESS,
            Progress::Unasked => self.events[at] = Progress::Begun,
        }
        // Earlier reactions may have moved entities.
        let apart = std::mem::take(&mut self.apart);
        let mut reach = Reach::default();
        for reaction in program.reactions_to(Event::Raised(event)) {
            self.add_reaction(reaction, &mut reach);
        }
        self.apart = apart;
        self.events[at] = Progress::Done(reach);
        reach
    }

    fn add_reaction(&mut self, reaction: &Reaction, reach: &mut Reach) {
        let reaches = |it: &Effect| {
            matches!(it, Effect::Raise { .. } | Effect::Spawn { .. } | Effect::Call { .. })
        };
        if !reaction.effects.iter().any(reaches) || !self.depends.can_hold(&reaction.body) {
            return;
        }
        let times = self.solutions(reaction);
        for effect in &reaction.effects {
            match effect {
                Effect::Raise { event, .. } => {
                    let event = self.of_event(*event);
                    reach.add(times, event);
                }
                Effect::Spawn { .. } => reach.entities = reach.entities.saturating_add(times),
                Effect::Call { .. } => reach.calls = true,
                _ => {}
            }
        }
    }

    /// Maximum number of solutions of a reaction's body.
    fn solutions(&mut self, reaction: &Reaction) -> u64 {
        let mut known = vec![false; reaction.vars.len()];
        let params = term_vars(&reaction.params);
        params.for_each(|it| known[usize::from(it.0)] = true);
        self.body(&reaction.body, &reaction.vars, known, &reaction.named())
    }

    /// Maximum number of combinations of values of the wanted variables of a body, if those of the known ones are given.
    fn body(
        &mut self,
        body: &[Literal],
        vars: &[Var],
        mut known: Vec<bool>,
        wanted: &[VarId],
    ) -> u64 {
        let mut most: u64 = 1;
        loop {
            self.determine(body, &mut known);
            let open: Vec<VarId> =
                wanted.iter().copied().filter(|it| !known[usize::from(it.0)]).collect();
            // The cheapest way to know more: the values of a variable, or the rows of an atom.
            let by_values =
                open.iter().map(|&it| (self.size(vars[usize::from(it.0)].ty), vec![it]));
            let Some(mut best) = by_values.min_by_key(|it| it.0) else { return most };
            for atom in atoms(body) {
                let found: Vec<VarId> =
                    term_vars(&atom.args).filter(|it| open.contains(it)).collect();
                if !found.is_empty() {
                    let (bound, free) = columns(atom, &known, |it| open.contains(&it));
                    let rows = self.fan(atom.rel, bound, free);
                    if rows < best.0 {
                        best = (rows, found);
                    }
                }
            }
            let (values, vars) = best;
            most = most.saturating_mul(values);
            vars.iter().for_each(|it| known[usize::from(it.0)] = true);
        }
    }

    /// Marks the variables as known that the known ones determine.
    fn determine(&mut self, body: &[Literal], known: &mut [bool]) {
        let mut is_new = true;
        while is_new {
            is_new = false;
            for literal in body {
                let mut found: Vec<VarId> = Vec::new();
                match literal {
                    Literal::Atom(atom) if !atom.negated => {
                        let (bound, free) = columns(atom, known, |_| true);
                        if free != 0 && self.fan(atom.rel, bound, free) <= 1 {
                            found.extend(term_vars(&atom.args));
                        }
                    }
                    Literal::Compare(Compare { op: Op::Eq, lhs, rhs, .. }) => {
                        for (one, other) in [(lhs, rhs), (rhs, lhs)] {
                            if let Expr::Var(var) = one
                                && is_known(other, known)
                            {
                                found.push(*var);
                            }
                        }
                    }
                    Literal::Aggregate(it) if is_grouped(it, known) => {
                        found.extend(term_vars(&it.results));
                    }
                    Literal::Atom(_) | Literal::Compare(_) | Literal::Aggregate(_) => {}
                }
                for var in found {
                    is_new |= !std::mem::replace(&mut known[usize::from(var.0)], true);
                }
            }
        }
    }

    /// Maximum number of combinations of values of the free columns of a relation, for given values of the bound ones.
    fn fan(&mut self, rel: RelId, bound: Columns, free: Columns) -> u64 {
        if let Some(&known) = self.fans.get(&(rel, bound, free, self.apart)) {
            return known;
        }
        let relation = self.program.relation(rel);
        let all = || relation.columns.iter().enumerate();
        // The product of the sizes of the free columns holds for every relation.
        let product = all()
            .filter(|(at, _)| has(free, *at))
            .fold(1, |product: u64, it| product.saturating_mul(self.size(it.1.ty)));
        let last = relation.columns.len().saturating_sub(1);
        let is_key_bound = all().all(|(at, _)| at == last || has(bound, at));
        let fan = match &relation.role {
            Role::Input(Input::Key(_)) if has(bound, 0) => 1,
            Role::Input(Input::Key(it)) if self.apart && *it == self.at && has(bound, 1) => 1,
            Role::Input(Input::Game(_)) => 1,
            // No more than there are entities.
            Role::Input(Input::Key(_)) => {
                product.min(relation.columns.first().map_or(1, |it| self.size(it.ty)))
            }
            // `key` is checked when statics are loaded; of other relations it is only a promise.
            Role::Static | Role::Builtin(_) if relation.functional && is_key_bound => 1,
            Role::Input(_) | Role::Builtin(_) | Role::Given(_) => product,
            Role::Static | Role::Derived if self.busy.contains(&rel) => return product,
            Role::Static | Role::Derived => {
                self.busy.push(rel);
                let rows = self.by_rules(rel, [bound, free], product);
                self.busy.pop();
                rows
            }
        };
        self.fans.insert((rel, bound, free, self.apart), fan);
        fan
    }

    /// [`Self::fan`] of a relation that rules conclude: the sum over its rules, and no more than `most`.
    fn by_rules(&mut self, rel: RelId, [bound, free]: [Columns; 2], most: u64) -> u64 {
        let program = self.program;
        let mut rows: u64 = 0;
        for rule in program.relation(rel).rules.iter().map(|&it| program.rule(it)) {
            if rows < most && self.depends.can_hold(&rule.body) {
                rows = rows.saturating_add(self.of_rule(rule, [bound, free]));
            }
        }
        rows.min(most)
    }

    fn of_rule(&mut self, rule: &Rule, [bound, free]: [Columns; 2]) -> u64 {
        let of = |columns: Columns| {
            let args = rule.args.iter().enumerate();
            args.filter(move |(at, _)| has(columns, *at)).filter_map(|it| it.1.var())
        };
        let mut known = vec![false; rule.vars.len()];
        of(bound).for_each(|it| known[usize::from(it.0)] = true);
        let wanted: Vec<VarId> = of(free).collect();
        self.body(&rule.body, &rule.vars, known, &wanted)
    }

    fn size(&self, ty: Type) -> u64 {
        match ty {
            Type::Domain(id) => self.program.schema.domain(id).size() as u64,
            Type::Int | Type::Text => u64::MAX,
        }
    }
}

fn has(columns: Columns, at: usize) -> bool {
    columns >> at & 1 == 1
}

/// The positive atoms of a body.
fn atoms(body: &[Literal]) -> impl Iterator<Item = &Atom> {
    body.iter().filter_map(|it| match it {
        Literal::Atom(atom) if !atom.negated => Some(atom),
        _ => None,
    })
}

/// The columns of an atom that are bound, and those with variables that are unknown and wanted.
fn columns(atom: &Atom, known: &[bool], is_wanted: impl Fn(VarId) -> bool) -> (Columns, Columns) {
    let (mut bound, mut free) = (0, 0);
    for (at, term) in atom.args.iter().enumerate() {
        match term {
            Term::Const(_) => bound |= 1 << at,
            Term::Var(var) if known[usize::from(var.0)] => bound |= 1 << at,
            Term::Var(var) if is_wanted(*var) => free |= 1 << at,
            Term::Var(_) | Term::Wild => {}
        }
    }
    (bound, free)
}

fn is_known(expr: &Expr, known: &[bool]) -> bool {
    let mut vars = Vec::new();
    expr.collect_vars(&mut vars);
    vars.iter().all(|it| known[usize::from(it.0)])
}

/// Whether all variables that an aggregate shares with the body around it are known, so that it has one result.
fn is_grouped(aggregate: &Aggregate, known: &[bool]) -> bool {
    aggregate.shared_vars().iter().all(|it| known[usize::from(it.0)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Source, compile};

    /// Men on four squares: 6 entities at most, the game among them.
    const MEN: &str = r#"
.domain Square grid 2 2
.domain Entity entities 6
.domain Sort { odd, even }
.input at(piece: Entity, square: Square) key attr at
.input load(piece: Entity, weight: Int) key attr load
.input fed() game attr fed
.static near(from: Square, to: Square) "next to each other"
near(s, t) :- rank(s, r), rank(t, r), s != t.
.decl worth(piece: Entity, points: Int) key "a promise that is not kept"
worth(p, 1) :- at(p, _).
worth(p, n) :- load(p, n).
.decl total(n: Int) "the sum of all loads"
total(n) :- n = sum { w : load(_, w) }.
.decl weight(n: Int) "a load"
weight(n) :- load(_, n).
.event hit(piece: Entity) "hit"
.event gone(piece: Entity) "gone"
.event ping() "ping"
.event pong() "pong"
.stages first, second, third default second
.action go(piece: Entity, to: Square) "a man goes"
go(p, t) :- at(p, _), at(_, t).
"#;

    fn reach(reactions: &str, apart: bool) -> Reach {
        let source = Source { path: "men.dl".into(), text: format!("{MEN}{reactions}").into() };
        let program = compile(vec![source]).unwrap_or_else(|it| panic!("{it}"));
        let at = program.schema.attribute_named("at").expect("declared");
        let mut bounds = Bounds::of(&program, at);
        bounds.of_action(program.actions[0].id, apart)
    }

    /// Events, how deep, entities.
    fn counts(reactions: &str) -> (u64, u64, u64) {
        let it = reach(reactions, false);
        (it.events, it.depth, it.entities)
    }

    #[test]
    fn variables_that_others_determine_do_not_count() {
        for (reactions, wanted) in [
            ("on go(p, _) do raise hit(p).", (1, 1, 0)),
            (
                "on go(p, _) when at(p, s), load(p, n), m = n + 1 do raise hit(p), set load(p, m), note \"{s}\".",
                (1, 1, 0),
            ),
            // The bounds, in this order: all men, all squares, all squares again, two rules of one row each.
            ("on go(_, t) when at(q, t) do raise hit(q).", (6, 1, 0)),
            ("on go(p, _) when near(s, _) do raise hit(p), note \"{s}\".", (4, 1, 0)),
            ("on go(p, t) when near(t, s) do raise hit(p), note \"{s}\".", (4, 1, 0)),
            ("on go(p, _) when worth(p, n) do raise hit(p), note \"{n}\".", (2, 1, 0)),
            ("on go(p, _) when total(n) do raise hit(p), note \"{n}\".", (1, 1, 0)),
            // There are as many loads as men, and no limit on numbers.
            ("on go(p, _) when weight(n) do raise hit(p), note \"{n}\".", (6, 1, 0)),
            ("on go(p, _) when at(q, _), at(r, _) do raise hit(p), note \"{q} {r}\".", (36, 1, 0)),
            ("on go(p, _) when load(_, n) do raise hit(p), note \"{n}\".", (6, 1, 0)),
            ("on go(p, _) when n = 3 do raise hit(p), note \"{n}\".", (1, 1, 0)),
            // Reactions that never happen, and events that other events raise.
            (
                "on go(p, _) when never(p) do raise hit(p).\n.decl never(piece: Entity) open \"never\"",
                (0, 0, 0),
            ),
            (
                "on go(p, _) do raise hit(p).\non hit(p) when at(q, _) do raise gone(q), raise gone(p).",
                (13, 2, 0),
            ),
            (
                "on go(p, _) do raise ping().\non ping() do raise pong().\non pong() do raise ping().",
                (u64::MAX, u64::MAX, 0),
            ),
            ("on go(p, _) when at(q, _) do spawn x, set load(x, 1), note \"{q}\".", (0, 0, 6)),
        ] {
            assert_eq!(counts(reactions), wanted, "{reactions}");
        }
    }

    #[test]
    fn entities_that_stand_apart_are_alone_on_a_square_until_one_moves() {
        let raises = "on go(_, t) in second when at(q, t) do raise hit(q).\n";
        let events = |more: &str| reach(&format!("{raises}{more}"), true).events;
        assert_eq!(events(""), 1);
        assert_eq!(events("on go(p, t) in third do set at(p, t)."), 1);
        assert_eq!(events("on go(p, t) in second do set at(p, t)."), 1);
        assert_eq!(events("on go(p, t) in first do set at(p, t)."), 6);
        assert_eq!(events("on go(p, t) in first do set load(p, 1)."), 1);
        // An event may move an entity, too. Reactions to events are solved when one may have moved already.
        let moved =
            "on go(p, _) in first do raise gone(p).\non gone(p) when at(_, t) do set at(p, t).";
        assert_eq!(events(moved), 7);
        assert_eq!(events("on hit(p) when at(p, t), at(q, t) do raise gone(q)."), 7);
    }

    #[test]
    fn what_may_be_too_much_has_no_room() {
        let room = |events, depth, entities, calls| Reach { events, depth, entities, calls }.room();
        assert_eq!(room(1024, 32, 3, false), Some(3));
        assert_eq!(room(1025, 32, 3, false), None);
        assert_eq!(room(1024, 33, 3, false), None);
        assert_eq!(room(0, 0, 0, true), None);
        assert_eq!(room(0, 0, u64::MAX, false), None);
    }
}
