// Which of the legal actions is meant: by the squares of a click or a drag, by a piece of a stack, from a hand.
// A selection is `{square, piece}` (a piece of a stack, or null for the whole stack) or `{hand}` (a letter).

import { begin, closing, h, showDialog, words } from "./dom.js";
import { byStrength, icon } from "./pieces.js";
import { hasSign, signIcon } from "./traits.js";

/** What a side has in hand, by the FEN (`[NQp]`): the number of each letter; null if the FEN has no hands. */
export function handOf({ fen }, side) {
  const letters = fen.match(/^[^ ]*\[([^\] ]*)\]/)?.[1];
  if (letters === undefined || side > 1) return null;
  const counts = new Map();
  for (const letter of letters) {
    const small = letter.toLowerCase();
    if ((letter === small ? 1 : 0) === side) counts.set(small, (counts.get(small) || 0) + 1);
  }
  return counts;
}

/** The letter of a piece that is put down, from the action's text: `n`, or `+s` of a piece that is turned over first. */
const letterOf = (action) => action.uci.slice(0, action.uci.length - action.to.length).replace("@", "").toLowerCase();

/** Where an action starts: the `square` of the piece that acts, the letter of a piece in `hand`, or neither. */
export function sourceOf(action, position) {
  if (action.from && action.piece !== undefined) return { square: action.from };
  // An action with a square but no piece puts something down.
  if (action.from || !action.to) return {};
  if (position.pieces.some((it) => it.id === action.piece)) return {};
  const letter = letterOf(action);
  const held = handOf(position, position.turn);
  const hand = [letter, letter.replace("+", "")].find((it) => held?.has(it));
  // Without a piece in hand, and none that is put down, the letter is only a way to write the action.
  if (!hand && action.piece === undefined) return {};
  return letter ? { hand: hand ?? letter } : {};
}

/** The squares from which a thing that is put down may be dragged: the first square of the action's text (of the piece that
 * shoots an arrow), and the squares of pieces of neither side, whose letters have no capitals (a duck). */
function putFrom({ from, to }, position) {
  if (!from || !to || from === to) return [];
  const isFree = (it) => it.square && it.letter && it.letter.toLowerCase() === it.letter.toUpperCase();
  return [from, ...position.pieces.filter(isFree).map((it) => it.square)];
}

const indexed = new WeakMap();

/** The legal actions of a position by where they start. Made once, since every square reads it. */
function index(position) {
  if (!indexed.has(position)) {
    const found = { squares: new Map(), hands: new Map() };
    const add = (map, key, it) => map.set(key, [...(map.get(key) || []), it]);
    for (const it of position.legal) {
      const { square, hand } = sourceOf(it, position);
      if (square) add(found.squares, square, it);
      else if (hand) add(found.hands, hand, it);
      else for (const at of putFrom(it, position)) add(found.squares, at, it);
    }
    indexed.set(position, found);
  }
  return indexed.get(position);
}

/** The actions of a whole stack: those that only its first piece has. */
function ofWhole(actions, first) {
  const byOthers = new Set(actions.filter((it) => it.piece !== first).map((it) => it.action));
  const whole = actions.filter((it) => !byOthers.has(it.action));
  return whole.length ? whole : actions;
}

/** The actions that start from a selection. */
export function actionsOf(selected, position) {
  if (!selected) return [];
  if (selected.hand) return index(position).hands.get(selected.hand) || [];
  const here = index(position).squares.get(selected.square) || [];
  const stack = position.pieces.filter((it) => it.square === selected.square);
  if (stack.length < 2) return here;
  const whole = ofWhole(here, stack[0].id);
  if (selected.piece == null) return whole;
  const alone = here.filter((it) => it.piece === selected.piece);
  return whole.length < here.length ? alone.filter((it) => !whole.includes(it)) : alone;
}

/** The actions that a click on a square alone means: a stone is put down, a piece is taken. */
export function actionsOn(square, position) {
  return position.legal.filter((it) => it.to === square && !Object.keys(sourceOf(it, position)).length);
}

/** The pieces of a stack that may act alone. */
export function membersOf(square, position) {
  const stack = position.pieces.filter((it) => it.square === square);
  if (stack.length < 2) return [];
  return stack.filter((it) => actionsOf({ square, piece: it.id }, position).length);
}

/** Whether an action takes along all that stands on its first square. */
export function isWhole(action, position) {
  return action.piece !== undefined && actionsOf({ square: action.from, piece: null }, position).includes(action);
}

/** The action that a move ahead means: of several, the strongest promotion. */
export function strongest(options) {
  return [...options].sort((one, other) => byStrength(one.choice?.[0], other.choice?.[0]))[0];
}

/** The name of an action without squares: `end turn`. */
export const actionName = (it) => it.says ?? words(it.action.split("::").pop());

/** The directions around a square, row by row, and their arrows on a board that is not flipped. */
const AROUND = ["nw", "n", "ne", "w", null, "e", "sw", "s", "se"];
const ARROWS = ["↖", "↑", "↗", "←", null, "→", "↙", "↓", "↘"];
const FULL = { n: "north", s: "south", w: "west", e: "east" };
const inFull = (dir) => [...dir].map((it) => FULL[it]).join("-");

/** Buttons for directions, placed as the directions are on the board. */
function compass(options, isFlipped, choose) {
  const around = isFlipped ? [...AROUND].reverse() : AROUND;
  const button = (dir, place) => {
    const option = options.find((it) => it.choice[0] === dir);
    return option ? h("button", { title: option.uci, "aria-label": inFull(dir), "data-facing": dir, onclick: () => choose(option) }, ARROWS[place]) : h("span", {});
  };
  return h("div", { class: "compass", role: "group", "aria-label": "Facing" }, around.map(button));
}

/** Asks which of several actions is meant. */
export function pick(options, position, sides, play, isFlipped = false) {
  const isFacing = (it) => it.choice?.length === 1 && AROUND.includes(it.choice[0]);
  const facings = options.filter(isFacing);
  options = options.filter((it) => !isFacing(it));
  const signed = options.filter((it) => it.choice?.length === 1 && hasSign(it.choice[0]));
  const kindOf = (it) => position.kinds.find((kind) => it.choice?.includes(kind.kind))
    ?? position.kinds.find((kind) => kind.letter && sourceOf(it, position).hand && letterOf(it) === kind.letter);
  // The letter after the last square of a text is the kind that the piece becomes.
  const becomes = (it) => position.kinds.find((kind) => kind.letter && it.to && it.uci.slice(it.uci.lastIndexOf(it.to) + it.to.length).toLowerCase() === kind.letter);
  const known = options.map((it) => ({ it, kind: kindOf(it) ?? becomes(it) }));
  known.sort((one, other) => byStrength(one.kind?.kind, other.kind?.kind));
  const text = ({ it, kind }) => {
    if (kind) return words(kind.name).toLowerCase();
    if (signed.includes(it)) return it.says ?? begin(it.choice[0].replaceAll("-", " "));
    return it.from && it.from === it.to ? actionName(it) : it.says ?? words(it.uci);
  };
  const drawn = (kind) => icon({ ...kind, side: position.turn }, sides);
  const take = (it) => { dialog.close(); play(it); };
  const asks = facings.length ? "Facing where?" : signed.length ? "What shall it have?" : "Which move?";
  const dialog = h("dialog", { class: signed.length ? "pick wide signed" : "pick", "aria-label": "Which move" },
    h("p", {}, asks), facings.length ? compass(facings, isFlipped, take) : null,
    known.map((one) => h("button", { title: one.it.uci, class: one.kind ? "kind" : signed.includes(one.it) ? "has-sign" : "says", onclick: () => take(one.it) },
      one.kind ? drawn(one.kind) : signed.includes(one.it) ? signIcon(one.it.choice[0]) : null, text(one))),
    closing("None"));
  showDialog(dialog);
}
