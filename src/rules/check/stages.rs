//! The order of stages: one list, and the additions of single files.
//!
//! Deliberately absent: which reactions run in a stage.

use super::super::ast::{File, Item, Name, StageDecl, StagesDecl};
use super::super::limits::{self, LimitError};
use super::super::mistake;
use super::super::program::{Span, Stage, StageId};
use super::Checker;
use super::names::Found;

/// The only stage of programs that list none.
const ONLY: &str = "apply";

/// The stages being ordered, by the numbers of `Checker::stage_ids`.
#[derive(Default)]
struct Order<'t> {
    names: Vec<Name<'t>>,
    /// For each name its full name in the program, if that differs.
    full: Vec<Option<String>>,
    /// Number of names, the first ones, that belong to the list.
    listed: usize,
    edges: Vec<Edge>,
}

/// A declaration that one stage comes before another one.
struct Edge {
    earlier: usize,
    later: usize,
    span: Span,
}

impl<'t> Checker<'t> {
    pub(super) fn declare_stages(&mut self, files: &[&File<'t>]) {
        let items = || files.iter().flat_map(|it| &it.items);
        let mut list: Option<&StagesDecl<'t>> = None;
        for item in items() {
            let Item::Stages(decl) = item else { continue };
            match list {
                Some(old) => self.report(mistake::stages_twice(decl.span, old.span)),
                None => list = Some(decl),
            }
        }
        let mut order = Order::default();
        let only = [Name { text: ONLY, span: Span { line: 1, ..Span::default() } }];
        for &name in list.map_or(&only[..], |it| &it.names) {
            match self.stage_ids.share(name.text, order.names.len()) {
                Err(old) => self.report(mistake::stage_twice(name, order.names[old].span)),
                Ok(()) => order.append(name),
            }
        }
        let added = items().filter_map(|it| if let Item::Stage(it) = it { Some(it) } else { None });
        let (shared, own): (Vec<&StageDecl<'t>>, Vec<_>) =
            added.partition(|it| self.scopes.at(it.name.span).is_none());
        for decl in shared.iter().chain(&own) {
            self.name_stage(&mut order, decl.name);
        }
        for decl in shared.iter().chain(&own) {
            self.place_stage(&mut order, decl);
        }
        if order.names.len() > limits::STAGES {
            let excess = order.names[limits::STAGES].span;
            self.exceeds(LimitError::Stages(order.names.len()), excess);
            // Ordering them would take too long.
            order.edges.clear();
        }
        self.settle_order(&order);
        if let Some(name) = list.and_then(|it| it.default)
            && let Some(id) = self.find_stage(name)
        {
            self.default_stage = id;
        }
    }

    /// Adds a stage, which several files may do: they mean the same one if all share its name, or if all presets
    /// export it. A preset that keeps the name for itself has a stage of its own.
    fn name_stage(&mut self, order: &mut Order<'t>, name: Name<'t>) {
        let found = self.stage_ids.find(&self.scopes, name);
        if let Some((exported, Found::Exported)) =
            found.filter(|_| self.scopes.private(name).is_none())
        {
            self.stage_ids.adopt(&self.scopes, name, exported);
            return;
        }
        let next = order.names.len();
        if let Ok(declared) = self.stage_ids.declare(&self.scopes, name, next, |_| true) {
            order.names.push(name);
            order.full.push(declared.full);
        }
    }

    fn place_stage(&mut self, order: &mut Order<'t>, decl: &StageDecl<'t>) {
        let Some(at) = self.stage_ids.get(&self.scopes, decl.name) else { return };
        match self.stage_ids.get(&self.scopes, decl.after) {
            Some(earlier) => order.edges.push(Edge { earlier, later: at, span: decl.after.span }),
            None => self.report_unknown_stage(decl.after),
        }
        let Some(before) = decl.before else { return };
        match self.stage_ids.get(&self.scopes, before) {
            Some(later) => order.edges.push(Edge { earlier: at, later, span: before.span }),
            None => self.report_unknown_stage(before),
        }
    }

    /// Takes stages all of whose predecessors are taken, added ones before listed ones: so an added stage comes right
    /// after its predecessors.
    fn settle_order(&mut self, order: &Order<'t>) {
        self.stage_at = vec![StageId(0); order.names.len()];
        let mut left: Vec<usize> =
            (order.listed..order.names.len()).chain(0..order.listed).collect();
        while !left.is_empty() {
            let is_free = |&at: &usize| order.unmet(at, &left).is_none();
            let Some(at) = left.iter().position(is_free) else {
                let (cycle, span) = order.cycle(&left);
                self.report(mistake::stage_cycle(&cycle, span));
                // For the later checks any order will do.
                for at in left {
                    self.push_stage(order, at);
                }
                return;
            };
            self.push_stage(order, left.remove(at));
        }
    }

    fn push_stage(&mut self, order: &Order<'t>, at: usize) {
        let name = order.names[at];
        let full = order.full[at].clone().unwrap_or_else(|| name.text.to_owned());
        self.stage_at[at] = StageId(self.stages.len() as u16);
        self.stages.push(Stage { name: full, span: name.span });
    }

    /// The stage of that name, or a report that there is none.
    pub(super) fn find_stage(&mut self, name: Name<'t>) -> Option<StageId> {
        let found = self.stage_ids.get(&self.scopes, name);
        if found.is_none() {
            self.report_unknown_stage(name);
        }
        found.map(|it| self.stage_at[it])
    }

    fn report_unknown_stage(&mut self, name: Name<'t>) {
        let all = || self.stage_ids.visible(&self.scopes, name.span).into_iter().collect();
        let near = self.nearest_of(name, all);
        self.report(mistake::unknown_stage(name, near));
    }
}

impl<'t> Order<'t> {
    /// Adds a stage of the list, after the others.
    fn append(&mut self, name: Name<'t>) {
        if let Some(last) = self.names.len().checked_sub(1) {
            self.edges.push(Edge { earlier: last, later: last + 1, span: name.span });
        }
        self.names.push(name);
        self.full.push(None);
        self.listed += 1;
    }

    /// A declaration that puts one of the stages that are left before a stage.
    fn unmet(&self, stage: usize, left: &[usize]) -> Option<&Edge> {
        self.edges.iter().find(|it| it.later == stage && left.contains(&it.earlier))
    }

    /// A cycle of stages, with the first one again at the end, and the place of one of its declarations.
    fn cycle(&self, left: &[usize]) -> (Vec<&'t str>, Span) {
        let mut path: Vec<usize> = left.first().copied().into_iter().collect();
        let mut edges: Vec<&Edge> = Vec::new();
        while let Some(&at) = path.last() {
            let Some(edge) = self.unmet(at, left) else { break };
            edges.push(edge);
            if let Some(start) = path.iter().position(|&it| it == edge.earlier) {
                path.push(edge.earlier);
                let cycle = path[start..].iter().rev().map(|&it| self.names[it].text).collect();
                // An addition to the list is to blame, not the list itself: the last declaration in text order.
                let spans = edges[start..].iter().map(|it| it.span);
                let added = spans.max_by_key(|it| (it.source, it.start));
                return (cycle, added.unwrap_or_default());
            }
            path.push(edge.earlier);
        }
        (path.iter().map(|&it| self.names[it].text).collect(), Span::default())
    }
}
