//! A board as SVG, for explanations and for pages of presets.
//!
//! The squares that an explanation mentions are marked, those of the row in question most strongly.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::board::{Symbols, hands};
use crate::derive::explain::{
    Attempt, Blocked, Datum, Effect, Finding, Goal, Ground, Lack, Outcome, Premise, Proof,
    Refutation, Trial,
};
use crate::facts::EntityId;
use crate::game::{Game, PointView};
use crate::rules::{Program, Type};

/// The side of a square.
const SIDE: usize = 48;
/// The width of the margin, which has the coordinates.
const MARGIN: usize = 20;
/// Maximum distance at which a point is drawn, in squares from the left or the top.
const MAX_DISTANCE: usize = 64;

/// For each square, the least depth in the tree at which it is mentioned.
type Marks = BTreeMap<i64, usize>;

/// The board of a position, with the squares of a finding marked.
pub(crate) fn draw(game: &mut Game, finding: &Finding) -> String {
    let is_grid = game.contract().board.is_grid;
    let mut reader = SquareReader { game, marks: Marks::new() };
    match finding {
        Finding::Proved(all) => all.iter().for_each(|it| reader.proof(it, 0)),
        Finding::Refuted(all) => all.iter().for_each(|it| reader.refutation(it, 0)),
        Finding::Tried(it) => reader.trial(it),
        Finding::Turned(it) => reader.trial(&it.trial),
        Finding::Unfounded => {}
    }
    let marks = reader.marks;
    match is_grid {
        true => draw_squares(game, &marks),
        false => draw_points(game, &marks),
    }
}

/// A board of squares with its coordinates, its last rank at the top. Of hexagons, each rank stands half a square to the
/// right of the rank below.
fn draw_squares(game: &mut Game, marks: &Marks) -> String {
    let board = game.contract().board;
    let (files, ranks) = (usize::from(board.files), usize::from(board.ranks));
    let slant = if game.has_hexagons() { SIDE / 2 } else { 0 };
    let width = files * SIDE + ranks.saturating_sub(1) * slant + 2 * MARGIN;
    let height = ranks * SIDE + 2 * MARGIN;
    let hands = hands(&game.fen(), &game.sides());
    let mut svg = head(width, height + if hands.is_some() { MARGIN } else { 0 });
    let (symbols, pieces) = (Symbols::of(game), game.cells());
    // The last rank is listed first.
    for (rank, pieces) in pieces.iter().rev().enumerate() {
        let (left, y) = (MARGIN + rank * slant, MARGIN + (ranks - 1 - rank) * SIDE);
        for (file, piece) in pieces.iter().enumerate() {
            let x = left + file * SIDE;
            let shade = if (file + rank) % 2 == 0 { "#c9b79c" } else { "#f0e9dc" };
            rect(&mut svg, x, y, shade, 1.0);
            if let Some(depth) = marks.get(&((rank * files + file) as i64)) {
                rect(&mut svg, x, y, "#c2410c", strength(*depth));
            }
            if let Some(letter) = piece {
                label(&mut svg, x + SIDE / 2, y + SIDE * 3 / 4, 36, markup(&symbols.draw(letter)));
            }
        }
        label(&mut svg, MARGIN / 2 + rank * slant, y + SIDE / 2 + 4, 12, rank + 1);
    }
    for (file, letter) in (0..files).zip('a'..) {
        label(&mut svg, MARGIN + file * SIDE + SIDE / 2, height - 6, 12, letter);
    }
    if let Some(hands) = hands {
        label(&mut svg, width / 2, height + MARGIN / 2, 12, markup(&hands));
    }
    svg + "</svg>"
}

/// A board of points: a disc for each, with its name below, and the lines between them.
fn draw_points(game: &mut Game, marks: &Marks) -> String {
    let points = game.points();
    let (symbols, pieces) = (Symbols::of(game), game.cells().concat());
    let left = points.iter().map(|it| it.x).min().unwrap_or(0);
    let top = points.iter().map(|it| it.y).max().unwrap_or(0);
    // The middle of a square, by its distance in squares from the left or the top.
    let middle = |from: i64, to: i64| {
        let squares = usize::try_from(to.saturating_sub(from)).unwrap_or(0).min(MAX_DISTANCE);
        MARGIN + squares * SIDE + SIDE / 2
    };
    let place = |it: &PointView| (middle(left, it.x), middle(it.y, top));
    let places: Vec<(usize, usize)> = points.iter().map(place).collect();
    let width = places.iter().map(|it| it.0).max().unwrap_or(0) + SIDE / 2 + MARGIN;
    let height = places.iter().map(|it| it.1).max().unwrap_or(0) + SIDE / 2 + MARGIN;
    let mut svg = head(width, height);
    for (from, to) in game.lines() {
        let end = |name: &str| points.iter().zip(&places).find(|it| it.0.name == name);
        if let (Some((_, (x1, y1))), Some((_, (x2, y2)))) = (end(&from), end(&to)) {
            // Writing to a string does not fail.
            let _ = writeln!(
                svg,
                "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"#c9b79c\"/>"
            );
        }
    }
    for (at, &(x, y)) in places.iter().enumerate() {
        let strength = marks.get(&(at as i64)).map_or(0.0, |it| strength(*it));
        let radius = SIDE / 3;
        let _ = writeln!(
            svg,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"#f0e9dc\" stroke=\"#c9b79c\"/>\n\
             <circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"#c2410c\" fill-opacity=\"{strength:.2}\"/>"
        );
        if let Some(letter) = pieces.get(at).and_then(Option::as_ref) {
            label(&mut svg, x, y + SIDE / 6, 24, markup(&symbols.draw(letter)));
        }
        label(&mut svg, x, y + SIDE / 2, 10, markup(&points[at].name));
    }
    svg + "</svg>"
}

/// The opening tag of a picture.
fn head(width: usize, height: usize) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" text-anchor=\"middle\">\n"
    )
}

/// The opacity of a mark by its depth in the tree.
fn strength(depth: usize) -> f64 {
    0.75 / (1.0 + depth as f64 / 3.0)
}

fn rect(svg: &mut String, x: usize, y: usize, fill: &str, opacity: f64) {
    // Writing to a string does not fail.
    let _ = writeln!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"{fill}\" \
         fill-opacity=\"{opacity:.2}\"/>"
    );
}

/// A text escaped for SVG.
fn markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

fn label(svg: &mut String, x: usize, y: usize, size: usize, text: impl std::fmt::Display) {
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\">{text}</text>");
}

/// Collects the squares that an explanation mentions: for a piece, the one that it stands on.
struct SquareReader<'g> {
    game: &'g Game,
    marks: Marks,
}

impl SquareReader<'_> {
    fn row<'d>(
        &mut self,
        relation: &str,
        row: impl Iterator<Item = Option<&'d Datum>>,
        depth: usize,
    ) {
        let program = self.game.program().clone();
        let Some(rel) = program.relation_named(relation) else { return };
        for (column, datum) in program.relation(rel).columns.iter().zip(row) {
            let square = datum.and_then(|it| self.square(&program, column.ty, it.raw));
            if let Some(square) = square {
                self.mark(square, depth);
            }
        }
    }

    fn mark(&mut self, square: i64, depth: usize) {
        let known = self.marks.entry(square).or_insert(depth);
        *known = depth.min(*known);
    }

    /// The square that a value is, or that a piece stands on.
    fn square(&self, program: &Program, ty: Type, raw: i64) -> Option<i64> {
        let contract = self.game.contract();
        if ty == Type::Domain(contract.board.domain) {
            return Some(raw);
        }
        if contract.entity_type(program) != Some(ty) {
            return None;
        }
        let entity = EntityId(u32::try_from(raw).ok()?);
        self.game.facts().get_raw(entity, contract.at.attr)
    }

    fn goal(&mut self, goal: &Goal, depth: usize) {
        self.row(&goal.relation, goal.args.iter().map(Option::as_ref), depth);
    }

    fn proof(&mut self, proof: &Proof, depth: usize) {
        self.row(&proof.relation, proof.tuple.iter().map(Some), depth);
        let Ground::Rule { premises, .. } = &proof.ground else { return };
        for premise in premises {
            match premise {
                Premise::Holds(it) => self.proof(it, depth + 1),
                Premise::Absent { goal, .. } => self.goal(goal, depth + 1),
                Premise::Compare(_) | Premise::Aggregate(_) => {}
            }
        }
    }

    fn trial(&mut self, trial: &Trial) {
        self.goal(&trial.action, 0);
        let place = self.game.contract().at.attr;
        let place = self.game.program().schema.attribute(place).name.clone();
        for effect in trial.steps.iter().flat_map(|it| &it.effects) {
            if let Effect::Changed { attribute, old, new, .. } = effect
                && *attribute == place
            {
                for square in [old, new].into_iter().flatten() {
                    self.mark(square.raw, 1);
                }
            }
        }
        if let Outcome::Untenable(proof) = &trial.outcome {
            self.proof(proof, 1);
        }
    }

    fn refutation(&mut self, refutation: &Refutation, depth: usize) {
        self.goal(&refutation.goal, depth);
        let Lack::Rules(attempts) = &refutation.lack else { return };
        // Only the attempts that lack the fewest literals: the others are about other cases.
        let missing = |it: &Attempt| it.total - it.matched;
        let begun = || attempts.iter().filter(|it| !matches!(it.blocked, Blocked::Head));
        let fewest = begun().map(missing).min();
        for attempt in begun().filter(|it| Some(missing(it)) == fewest) {
            match &attempt.blocked {
                Blocked::Missing(it) => self.refutation(it, depth + 1),
                Blocked::Present(it) => self.proof(it, depth + 1),
                Blocked::Apart(it) => self.goal(it, depth + 1),
                Blocked::Head | Blocked::Compare(_) | Blocked::Aggregate(_) => {}
            }
        }
    }
}
