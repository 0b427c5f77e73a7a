// Traits of pieces: elements and abilities, as the rules list them. They are small signs on the piece, and sentences on a
// card.

import { get } from "./api.js";
import { begin, clear, h, svg, words } from "./dom.js";
import { icon, kindOf, numbersOf } from "./pieces.js";

/** The signs of traits, as paths in a square of 12. */
const SIGNS = {
  bastion: "M1 11V2h2.2v2h1.7V2h2.2v2h1.7V2H11v9z",
  belligerent: "M1 1l5 3.5L11 1 7.5 6 11 11 6 7.5 1 11l3.5-5z",
  "blaze-rush": "M1 2l5 4-5 4zM6 2l5 4-5 4z",
  "block-piece": "M2 1h8v5c0 3-2 4-4 5-2-1-4-2-4-5z",
  "chain-kill": "M3.5 3a3 3 0 1 0 0 6 3 3 0 1 0 0-6zm0 1.6a1.4 1.4 0 1 1 0 2.8 1.4 1.4 0 1 1 0-2.8zM8.5 3a3 3 0 1 0 0 6 3 3 0 1 0 0-6zm0 1.6a1.4 1.4 0 1 1 0 2.8 1.4 1.4 0 1 1 0-2.8z",
  "do-over": "M6 1.5A4.5 4.5 0 1 1 1.5 6H3a3 3 0 1 0 3-3v2L2.8 2.3 6 0z",
  "double-kill": "M1 3l1-1 1.5 1.5L5 2l1 1-1.5 1.5L6 6 5 7 3.5 5.5 2 7 1 6l1.5-1.5zM6 6.5l1-1L8.5 7 10 5.5l1 1L9.5 8 11 9.5l-1 1L8.5 9 7 10.5l-1-1L7.5 8z",
  "flood-wake": "M0 4q1.5-2 3 0t3 0 3 0 3 0v2q-1.5 2-3 0t-3 0-3 0-3 0zM0 8q1.5-2 3 0t3 0 3 0 3 0v2q-1.5 2-3 0t-3 0-3 0-3 0z",
  "gale-lift": "M6 0l4 4H7.5v3h-3V4H2zM2 9h8v2H2z",
  indomitable: "M6 0l5 6-5 6-5-6z",
  "mist-shroud": "M1 11V4h6V1l4.5 4L7 9V6H3v5z",
  obstinant: "M6 .5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 1 1 0-11zM2.5 5v2h7V5z",
  overload: "M7 0L2 7h3l-1 5 6-7H6.5z",
  "poisonous-meat": "M6 .5a4.5 4.5 0 0 1 3 8V11H7.5V9.5h-1V11h-1V9.5h-1V11H3V8.5a4.5 4.5 0 0 1 3-8zM4 4.5v2h1.3v-2zM6.7 4.5v2H8v-2z",
  "quantum-kill": "M6 .5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 1 1 0-11zm0 2a3.5 3.5 0 1 0 0 7 3.5 3.5 0 1 0 0-7zM6 4.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 1 1 0-3z",
  "quantum-step": "M1 3h6V1l4 3-4 3V5H1zM11 9H5v2L1 8l4-3v2h6z",
  "radiant-vision": "M0 6q6-7 12 0-6 7-12 0zM6 3.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 1 0 0-4.4z",
  resurrection: "M5 0h2v3h3v2H7v7H5V5H2V3h3z",
  "scatter-shot": "M0 6l4-3.5V5h4V2.5L12 6 8 9.5V7H4v2.5z",
  "schrodingers-laugh": "M6 .5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 1 1 0-11zM3 3.5V5h1.5V3.5zM7.5 3.5V5H9V3.5zM2.8 6.5q3.2 4.5 6.4 0z",
  scorch: "M6 0c.5 3 4 4 4 7.5a4 4 0 0 1-8 0C2 5.5 3.5 5 4 3c1 .5 1.3 1.3 1.3 2.2C6.2 4 6.3 2 6 0z",
  "side-step": "M1 1h5L4.3 2.7l5 5L11 6v5H6l1.7-1.7-5-5L1 6z",
  stalwart: "M0 2h5v3H0zM6 2h6v3H6zM0 6h3v3H0zM4 6h5v3H4zM10 6h2v3h-2z",
  tailwind: "M0 3h7a1.5 1.5 0 1 0-1.5-1.5H4A3 3 0 1 1 7 4.5H0zM0 6h10.5v1.5H0zM0 9h6.5v1.5H0z",
  "temporal-lock": "M2 0h8v1.5L7 6l3 4.5V12H2v-1.5L5 6 2 1.5z",
  "umbral-step": "M8 .5a5.5 5.5 0 1 0 3.5 7.5A4.5 4.5 0 0 1 8 .5z",
  light: "M6 0l1.3 3.2L10.5 2 9 5l3 1-3 1 1.5 3-3.2-1.2L6 12 4.7 8.8 1.5 10 3 7 0 6l3-1-1.5-3 3.2 1.2z",
  water: "M6 0c2 3.5 4 5 4 7.5a4 4 0 0 1-8 0C2 5 4 3.5 6 0z",
  earth: "M0 11L4 3l2.5 4L8 5l4 6z",
};
Object.assign(SIGNS, { shadow: SIGNS["umbral-step"], fire: SIGNS.scorch, air: SIGNS.tailwind, lightning: SIGNS.overload });
/** Maximum number of signs on a piece; the number of further traits is written. */
const SHOWN = 4;

/** The sign of a trait: a picture, or its first two letters. */
function sign(name, transform) {
  return Object.hasOwn(SIGNS, name) ? svg("path", { d: SIGNS[name], transform, "fill-rule": "evenodd" })
    : svg("text", { transform, x: 6, y: 10 }, name.slice(0, 2));
}

/** A sign that stands in text. */
export const signIcon = (name) => svg("svg", { class: `sign-icon trait-${name}`, viewBox: "-1 -1 14 14", "aria-hidden": "true" }, svg("circle", { class: "back", cx: 6, cy: 6, r: 7 }), sign(name));

export const hasSign = (name) => Object.hasOwn(SIGNS, name);

/** The traits of a piece, each once. */
export function traitsOf(piece) {
  const seen = new Map((piece.traits || []).map((it) => [`${it.of} ${it.name}`, it]));
  return [...seen.values()];
}

/** The signs along the upper edge of a piece. */
export function signs(piece) {
  const all = traitsOf(piece);
  if (!all.length) return [];
  const drawn = all.length > SHOWN ? all.slice(0, SHOWN - 1) : all;
  const more = all.length - drawn.length;
  const each = drawn.map((it, at) => svg("g", { class: `trait trait-${it.name}`, transform: `translate(${1 + at * 14.5} 1)` },
    svg("circle", { class: "back", cx: 7, cy: 7, r: 7 }), sign(it.name, "translate(2 2) scale(.84)")));
  if (more) each.push(svg("g", { class: "trait", transform: `translate(${1 + drawn.length * 14.5} 1)` }, svg("circle", { class: "back", cx: 7, cy: 7, r: 7 }), svg("text", { x: 7, y: 10.5 }, `+${more}`)));
  return each;
}

const COMPASS = ["n", "ne", "e", "se", "s", "sw", "w", "nw"];

/** The direction that a piece faces, in steps of 45 degrees from north; null if no fact names one. */
export function facingOf(piece) {
  const found = Object.entries(piece.facts || {}).find(([fact, value]) => /facing/.test(fact) && COMPASS.includes(value));
  return found ? COMPASS.indexOf(found[1]) : null;
}

const descriptions = new Map();

/** The descriptions of the presets of some rules, by name. Requested once. */
async function described(rules) {
  if (!descriptions.has(rules)) {
    descriptions.set(rules, get(`/catalogue?rules=${rules}`)
      .then((it) => new Map(it.presets.map((one) => [one.preset, one.description])), () => { descriptions.delete(rules); return new Map(); }));
  }
  return descriptions.get(rules);
}

/** A card with the traits and numbers of a square's pieces. */
export class Card {
  constructor(isFloating) {
    this.root = h("div", { class: isFloating ? "card floating" : "card", hidden: true, ...(isFloating ? { "aria-hidden": "true" } : { role: "note", "aria-label": "The piece" }) });
    this.shown = null;
  }

  hide() {
    this.shown = null;
    this.root.hidden = true;
  }

  /** Shows the traits and numbers of pieces, if they have any. */
  async show(pieces, sides, rules, kinds) {
    const shown = pieces.filter((it) => traitsOf(it).length || numbersOf(it).length);
    if (!shown.length) return this.hide();
    const key = JSON.stringify(shown);
    if (key === this.shown && !this.root.hidden) return;
    this.shown = key;
    const about = shown.some((it) => traitsOf(it).length) ? await described(rules) : new Map();
    if (key !== this.shown) return;
    const row = (it) => h("li", {}, signIcon(it.name), h("span", {}, h("b", {}, it.told), about.has(it.name) ? `: ${about.get(it.name)}.` : ""));
    const number = ([fact, value]) => h("li", {}, value === "true" ? begin(words(fact)) : `${begin(words(fact))}: ${value}`);
    const plain = (it) => numbersOf(it).filter(([fact]) => !isTrait(it, fact));
    clear(this.root, shown.map((it) => [
      h("p", { class: "name" }, icon(it, sides), `${begin([it.side == null ? "" : words(sides[it.side]), kindOf(it, kinds)].filter(Boolean).join(" "))} on ${it.square}`),
      h("ul", {}, traitsOf(it).map(row), plain(it).map(number)),
    ]));
    this.root.hidden = false;
  }
}

/** Whether a fact of a piece is one of its traits. */
export const isTrait = (piece, fact) => traitsOf(piece).some((it) => it.name === fact.split(/[.:]/).pop().replaceAll("_", "-"));
