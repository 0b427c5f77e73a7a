// How pieces are drawn: a picture, or a letter on a disc; the numbers on them; and their places on a square.

import { svg, words } from "./dom.js";
import { settings } from "./settings.js";
import { iconOf, shapeOf } from "./shapes.js";
import { facingOf, isTrait, signs, traitsOf } from "./traits.js";

export const SIZE = 60;

/** The classes that give a side its colours: by its number, and by its name where that is a colour. */
export function colours(side, sides) {
  if (side == null) return "sidenone";
  const name = sides?.[side];
  return `side${side % 4}${name ? ` named-${String(name).replace(/[^a-z]/g, "")}` : ""}`;
}

/** A piece by itself, in a square of 60. */
export function picture({ kind, letter, side, drawing }, sides) {
  const group = svg("g", { class: `${colours(side, sides)} kind-${kind}` });
  const shape = settings.pieces === "letters" ? null : shapeOf(kind);
  if (drawing?.length && settings.pieces !== "letters") {
    group.append(...drawing.map((it) => svg(it.shape, { class: "shape", ...it.attributes })));
    return group;
  }
  if (!shape) {
    const text = (letter || kind[0] || "?").toUpperCase();
    group.append(svg("circle", { class: "shape", cx: 30, cy: 30, r: 20 }), svg("text", { class: "letter", x: 30, y: 38 }, text));
    return group;
  }
  group.append(svg("path", { class: "shape", d: shape.fill }));
  if (shape.line) group.append(svg("path", { class: "detail", d: shape.line }));
  if (shape.sign) group.append(svg("path", { class: "sign", d: shape.sign }));
  if (shape.text) group.append(svg("text", { class: "letter", x: 30, y: 41 }, shape.text));
  return group;
}

/** A picture within text: in a button, in a hand. */
export function icon(piece, sides) {
  return svg("svg", { class: "icon", viewBox: "0 0 60 60", "aria-hidden": "true" }, picture(piece, sides));
}

/** The places of `count` pieces on a square, whose middle is 0, 0. The first piece carries the others. */
export function places(count) {
  if (count === 1) return [{ x: 0, y: 0, scale: 1 }];
  const first = { x: -7, y: 7, scale: 0.76 };
  const rest = count - 1;
  const scale = rest <= 2 ? 0.52 : 0.4;
  const spots = Array.from({ length: rest }, (_, at) => (rest <= 2
    ? { x: at === 0 ? 14 : -14, y: -15, scale }
    : { x: 18 - 18 * (at % 3), y: -18 + 18 * Math.floor(at / 3), scale }));
  return [first, ...spots];
}

/** The facts of a piece that are numbers (points, shields, stamina), or that are true and have a picture. */
export function numbersOf(piece) {
  return Object.entries(piece.facts || {}).filter(([fact, value]) => /^-?\d+$/.test(value) || (value === "true" && iconOf(fact)));
}

/**
 * The usual value of each number, by side and fact: the value of most pieces in the first position where any has it. A value
 * of one piece alone is not usual. `known` are the usual values of earlier positions.
 */
export function usualNumbers(pieces, known = new Map()) {
  // Where all pieces are alike, as bowls of seeds are, the game is about their numbers: none of them is usual.
  if (new Set(pieces.map((it) => it.kind)).size < 2) return known;
  const counts = new Map();
  for (const piece of pieces) {
    for (const [fact, value] of numbersOf(piece)) {
      const key = `${piece.side} ${fact}`;
      if (value === "true" || known.has(key)) continue;
      if (!counts.has(key)) counts.set(key, new Map());
      counts.get(key).set(value, (counts.get(key).get(value) || 0) + 1);
    }
  }
  const most = (values) => [...values].filter((it) => it[1] > 1).sort((one, other) => other[1] - one[1])[0]?.[0];
  return new Map([...known, ...[...counts].map(([key, values]) => [key, most(values)])]);
}

/** The unusual numbers of a piece, as badges in its corners. */
function badges(piece, usual) {
  const odd = numbersOf(piece).filter(([fact, value]) => usual.get(`${piece.side} ${fact}`) !== value && !isTrait(piece, fact));
  return odd.slice(0, 4).map(([fact, value], at) => {
    const name = fact.split(/[._]/).pop();
    const drawn = iconOf(fact);
    const text = value === "true" ? "" : drawn ? value : `${name.slice(0, 2)} ${value}`;
    const width = 6 + (drawn ? 12 : 0) + text.length * 6.5;
    const left = at % 2 ? 1 : SIZE - 1 - width;
    const top = at < 2 ? SIZE - 16 : 1;
    return svg("g", { class: "badge" },
      svg("title", {}, value === "true" ? words(fact) : `${words(fact)}: ${value}`),
      svg("rect", { x: left, y: top, width, height: 15, rx: 7 }),
      drawn ? svg("path", { d: drawn, transform: `translate(${left + 3} ${top + 1.5})` }) : null,
      text ? svg("text", { x: left + (width + (drawn ? 11 : 0)) / 2, y: top + 11.5 }, text) : null);
  });
}

/** What is drawn on a piece: its direction, traits and numbers. */
export function worn(piece, usual, isFlipped) {
  const facing = facingOf(piece);
  const turned = facing === null ? 0 : facing * 45 + (isFlipped ? 180 : 0);
  return [facing === null ? null : svg("path", { class: "facing", d: "M30 -1l9 9H21z", transform: `rotate(${turned} 30 30)` }), ...signs(piece), ...badges(piece, usual)].filter(Boolean);
}

/** The game's name for the kind of a piece: `fox` where the rules say `archbishop`. */
export function kindOf(piece, kinds = []) {
  const name = kinds.find((it) => it.kind === piece.kind)?.name ?? piece.kind;
  return words(name).toLowerCase();
}

/** A piece in words: its side, its kind as the game calls it, and its numbers. */
export function told(piece, sides, kinds = []) {
  const numbers = numbersOf(piece).filter(([fact]) => !isTrait(piece, fact)).map(([fact, value]) => (value === "true" ? words(fact) : `${words(fact)} ${value}`));
  const side = piece.side == null ? "" : `${words(sides[piece.side])} `;
  return [`${side}${kindOf(piece, kinds)}`, ...traitsOf(piece).map((it) => it.told), ...numbers].join(", ");
}

/** The order of kinds to choose from: the strongest first, unknown kinds last. */
const ORDER = ["queen", "rook", "bishop", "knight", "king", "pawn"];
const VALUES = { queen: 9, rook: 5, bishop: 3, knight: 3, pawn: 1, king: 0 };

export function byStrength(one, other) {
  const rank = (kind) => (ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length);
  return rank(one) - rank(other);
}

/** The value of a kind as chess players count it; null for a kind that chess does not have. */
export const worth = (kind) => (Object.hasOwn(VALUES, kind) ? VALUES[kind] : null);
