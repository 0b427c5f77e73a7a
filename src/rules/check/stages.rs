//! The order of stages: one list, and what single files add to it.
//!
//! Deliberately absent: which reactions run in a stage.

use super::super::ast::{File, Item, Name, StageDecl, StagesDecl};
use super::super::limits::{self, LimitError};
use super::super::mistake;
use super::super::program::{Span, Stage, StageId};
use super::Checker;

/// The only stage of programs that list none.
const ONLY: &str = "apply";

/// Stages that are being ordered.
struct Order<'t> {
    names: Vec<Name<'t>>,
    /// For each name what it is called in the program, where that is not the name.
    full: Vec<Option<String>>,
    /// How many of the names, the first ones, are of the list.
    listed: usize,
    /// Pairs `(earlier, later)`, with where that was said.
    edges: Vec<(usize, usize, Span)>,
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
        let mut order = Order { names: Vec::new(), full: Vec::new(), listed: 0, edges: Vec::new() };
        let only = [Name { text: ONLY, span: Span { line: 1, ..Span::default() } }];
        for &name in list.map_or(&only[..], |it| &it.names) {
            match order.find(name.text, None) {
                Some(old) => {
                    let report = mistake::stages_twice(name.span, order.names[old].span);
                    self.report(report);
                }
                None => order.append(name),
            }
        }
        let added = items().filter_map(|it| if let Item::Stage(it) = it { Some(it) } else { None });
        let added: Vec<&StageDecl<'t>> = added.collect();
        let shared = |it: &&StageDecl<'t>| self.scopes.at(it.name.span).is_none();
        let (shared, own): (Vec<&StageDecl<'t>>, Vec<_>) = added.iter().partition(|it| shared(it));
        shared.iter().for_each(|it| order.name(it.name, None));
        own.iter().for_each(|it| order.name(it.name, self.scopes.private(it.name)));
        for decl in &added {
            self.place_stage(&mut order, decl);
        }
        if order.names.len() > limits::STAGES {
            let count = LimitError::Stages(order.names.len());
            self.report(mistake::limit(count, order.names[limits::STAGES].span));
            order.names.truncate(limits::STAGES);
            order.full.truncate(limits::STAGES);
            order.edges.retain(|it| it.0.max(it.1) < limits::STAGES);
        }
        self.settle_order(&order);
        if let Some(name) = list.and_then(|it| it.default)
            && let Some(id) = self.find_stage(name)
        {
            self.default_stage = id;
        }
    }

    fn place_stage(&mut self, order: &mut Order<'t>, decl: &StageDecl<'t>) {
        let own = self.scopes.private(decl.name);
        let Some(at) = order.find(decl.name.text, own.as_deref()) else { return };
        for (other, is_earlier) in
            [Some((decl.after, true)), decl.before.map(|it| (it, false))].into_iter().flatten()
        {
            match order.find(other.text, self.scopes.private(other).as_deref()) {
                Some(it) if is_earlier => order.edges.push((it, at, other.span)),
                Some(it) => order.edges.push((at, it, other.span)),
                None => {
                    let near =
                        self.speller.nearest(other.text, order.names.iter().map(|it| it.text));
                    self.report(mistake::unknown_stage(other, near));
                }
            }
        }
    }

    /// Takes stages that nothing holds back any more, added ones before listed ones: an added stage
    /// comes as soon as what it follows is through.
    fn settle_order(&mut self, order: &Order<'t>) {
        let listed = order.listed.min(order.names.len());
        let mut left: Vec<usize> = (listed..order.names.len()).chain(0..listed).collect();
        while !left.is_empty() {
            let is_free =
                |&at: &usize| !order.edges.iter().any(|it| it.1 == at && left.contains(&it.0));
            let Some(at) = left.iter().position(is_free) else {
                let (cycle, span) = order.cycle(&left);
                self.report(mistake::stage_cycle(&cycle, span));
                // Any order will do for what is checked after this.
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
        self.stages.push(Stage { name: full, span: name.span });
    }

    /// Whether a preset or game has a stage of that name.
    pub(super) fn is_stage(&self, name: Name<'t>) -> bool {
        let of = self.scopes.at(name.span);
        self.stages.iter().any(|it| it.name == name.text && self.scopes.at(it.span) == of)
    }

    /// The stage of that name, or a report that there is none.
    pub(super) fn find_stage(&mut self, name: Name<'t>) -> Option<StageId> {
        let called = |name: &str| self.stages.iter().position(|it| it.name == name);
        let own = self.scopes.private(name).and_then(|it| called(&it));
        let found = own.or_else(|| called(name.text));
        if found.is_none() {
            let near =
                self.speller.nearest(name.text, self.stages.iter().map(|it| it.name.as_str()));
            let report = mistake::unknown_stage(name, near);
            self.report(report);
        }
        found.map(|it| StageId(it as u16))
    }
}

impl<'t> Order<'t> {
    /// The stage that a word means: one of the preset's own goes before one of all.
    fn find(&self, name: &str, own: Option<&str>) -> Option<usize> {
        let own = own.and_then(|own| self.full.iter().position(|it| it.as_deref() == Some(own)));
        let full = || self.full.iter().position(|it| it.as_deref() == Some(name));
        let mut all = self.names.iter().zip(&self.full);
        own.or_else(|| all.position(|it| it.0.text == name && it.1.is_none())).or_else(full)
    }

    /// Adds a stage of the list, after the others.
    fn append(&mut self, name: Name<'t>) {
        if let Some(last) = self.names.len().checked_sub(1) {
            self.edges.push((last, last + 1, name.span));
        }
        self.names.push(name);
        self.full.push(None);
        self.listed += 1;
    }

    /// Adds a stage that files may name several times.
    fn name(&mut self, name: Name<'t>, own: Option<String>) {
        if self.find(name.text, own.as_deref()).is_none() {
            self.names.push(name);
            self.full.push(own);
        }
    }

    /// Stages that wait for each other, the first one again at the end, and a place that says so.
    fn cycle(&self, left: &[usize]) -> (Vec<&'t str>, Span) {
        let mut path: Vec<usize> = left.first().copied().into_iter().collect();
        let mut span = Span::default();
        while let Some(&at) = path.last() {
            let Some(&(before, _, place)) =
                self.edges.iter().find(|it| it.1 == at && left.contains(&it.0))
            else {
                break;
            };
            span = place;
            if let Some(start) = path.iter().position(|&it| it == before) {
                let mut cycle: Vec<&str> =
                    path[start..].iter().map(|&it| self.names[it].text).collect();
                cycle.push(self.names[before].text);
                cycle.reverse();
                return (cycle, span);
            }
            path.push(before);
        }
        (path.iter().map(|&it| self.names[it].text).collect(), span)
    }
}
