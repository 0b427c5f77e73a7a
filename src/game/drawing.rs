//! Pictures of pieces that an author writes into rules: `.meta drawing "camel: <path d='M10 50h40z'/>"`, a part of SVG
//! in a square 60 units wide.
//!
//! The text never reaches a browser as markup. It is parsed into shapes and numbers from an allow-list;
//! anything else (scripts, links, styles, text) is a mistake, and the piece is drawn as its letter.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::moves::Contract;
use crate::rules::{Meta, Program, Type};

/// One shape of a picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SvgElement {
    /// The SVG element: `path`, `circle`.
    pub shape: String,
    /// Its attributes in SVG, by name.
    pub attributes: BTreeMap<String, String>,
}

const SHAPES: [&str; 7] = ["path", "circle", "ellipse", "rect", "line", "polyline", "polygon"];
/// The attributes that a shape may have, with blanks between them.
const ATTRIBUTES: &str = "d points x y x1 y1 x2 y2 cx cy r rx ry width height transform fill fill-rule fill-opacity \
                          stroke stroke-width stroke-linecap stroke-linejoin stroke-opacity opacity";
/// Maximum number of shapes of a picture.
const MAX_SHAPES: usize = 64;
/// Functions that a value may have.
const FUNCTIONS: [&str; 6] = ["translate", "scale", "rotate", "matrix", "skewX", "skewY"];

/// The shapes of a picture.
///
/// # Errors
/// The part of the text that is outside the allowed subset of SVG.
pub fn read(text: &str) -> Result<Vec<SvgElement>, String> {
    let mut shapes = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (tag, after) = rest
            .strip_prefix('<')
            .and_then(|it| it.split_once("/>"))
            .ok_or("a picture is shapes that end with `/>`, and nothing between them")?;
        shapes.push(shape(tag)?);
        if shapes.len() > MAX_SHAPES {
            return Err(format!("a picture has at most {MAX_SHAPES} shapes"));
        }
        rest = after.trim_start();
    }
    Ok(shapes)
}

/// Checks all pictures that the rules contain.
///
/// # Errors
/// The place of the first picture that cannot be drawn, and why.
pub fn inspect(program: &Program) -> Result<(), String> {
    for meta in program.meta.iter().filter(|it| it.key == "drawing") {
        let (kind, text) = meta.value.split_once(": ").unwrap_or((&meta.value, ""));
        let place = program.place(meta.span);
        read(text).map_err(|it| format!("{place}: the drawing of {kind} cannot be used: {it}"))?;
    }
    Ok(())
}

/// The lines about drawings on the board that name no relation of the kind that they need, or no kind of piece, each with
/// what is expected.
pub fn unread<'p>(program: &'p Program, contract: &Contract) -> Vec<(&'p Meta, &'static str)> {
    let unread = |it: &'p Meta| Some((it, missing(program, contract, it)?));
    program.meta.iter().filter_map(unread).collect()
}

/// What a line about drawings must have, if it does not have that.
fn missing(program: &Program, contract: &Contract, meta: &Meta) -> Option<&'static str> {
    let square = Type::Domain(contract.board.domain);
    let piece = contract.entity_type(program);
    let name = match meta.key.as_str() {
        "aura" | "divide" | "ground" => {
            let parts = meta.value.split_once(' ');
            parts.filter(|it| it.0.chars().count() == 1).map(|it| it.1)
        }
        _ => Some(meta.value.as_str()),
    };
    let rel = name.and_then(|it| program.relation_in(meta.span.source, it));
    let columns = rel.map(|it| program.relation(it).columns.as_slice()).unwrap_or_default();
    let types: Vec<Type> = columns.iter().map(|it| it.ty).collect();
    let first = types.first().copied();
    let has_piece = piece.is_some_and(|it| types.contains(&it));
    let is_member = |domain, name: &str| program.schema.domain(domain).member(name).is_some();
    let of = meta.value.split_once(": ").map(|it| it.0);
    let (expected, fits) = match meta.key.as_str() {
        "piece" | "drawing" => {
            let is_kind = of.is_some_and(|it| is_member(contract.kinds, it));
            ("a kind of piece, a colon and a blank", is_kind)
        }
        "image" => {
            let parts = of.and_then(|it| it.rsplit_once(' '));
            let fits = parts.is_some_and(|(kind, side)| {
                is_member(contract.kinds, kind) && is_member(contract.sides, side)
            });
            ("a kind of piece, a side, a colon and a blank", fits)
        }
        "mark" => ("a relation with a square", types.contains(&square)),
        "zone" => ("a relation with a piece and a square", has_piece && types.contains(&square)),
        "trait" => ("a relation of a piece and a value", types.len() == 2 && first == piece),
        "vital" => ("a relation with a piece", has_piece),
        "aura" | "ground" => {
            ("a sign and a relation whose first column is a square", first == Some(square))
        }
        "divide" => {
            let fits = types.len() > 1 && first == Some(square);
            ("a sign and a relation of a square and a value", fits)
        }
        _ => return None,
    };
    (!fits).then_some(expected)
}

fn shape(tag: &str) -> Result<SvgElement, String> {
    let (shape, mut rest) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
    if !SHAPES.contains(&shape) {
        return Err(format!(
            "`{shape}` is no shape that a picture may have: use {}",
            SHAPES.join(", ")
        ));
    }
    let mut attributes = BTreeMap::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Ok(SvgElement { shape: shape.to_owned(), attributes });
        }
        let (name, after) = rest.split_once("='").ok_or("an attribute is written NAME='VALUE'")?;
        let (value, after) =
            after.split_once('\'').ok_or("an attribute is written NAME='VALUE'")?;
        if !ATTRIBUTES.split(' ').any(|it| it == name) {
            return Err(format!("`{name}` is no attribute that a picture may have"));
        }
        if !is_harmless(value) {
            return Err(format!("`{value}` is no value that a picture may have"));
        }
        attributes.insert(name.to_owned(), value.to_owned());
        rest = after;
    }
}

/// Whether a value has only numbers, letters of paths and colours; and no functions except transformations.
fn is_harmless(value: &str) -> bool {
    let known = |it: char| it.is_ascii_alphanumeric() || " .,+-#%()".contains(it);
    let is_allowed = |(bracket, _): (usize, &str)| {
        let mut words = value[..bracket].trim_end().rsplit(|it: char| !it.is_ascii_alphanumeric());
        words.next().is_some_and(|it| FUNCTIONS.contains(&it))
    };
    value.chars().all(known) && value.match_indices('(').all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_read_and_nothing_else() {
        let shapes = read(
            "<path d='M10 50h40z' fill='none'/> <circle cx='30' cy='20' r='9' transform='rotate(4 30 30)'/>",
        );
        let shapes = shapes.unwrap_or_default();
        assert_eq!(
            shapes.iter().map(|it| it.shape.as_str()).collect::<Vec<_>>(),
            ["path", "circle"]
        );
        assert_eq!(shapes[0].attributes["d"], "M10 50h40z");
        for bad in [
            "<script/>",
            "<path d='M0 0' onload='x'/>",
            "<path d='M0 0' style='fill:red'/>",
            "<path fill='url(#x)'/>",
            "<path fill='url (x)'/>",
            "<image href='x'/>",
            "<path d='M0 0'>",
            "<path d=M/>",
            "text <path d='M0 0'/>",
            "<path d='&#106;'/>",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
