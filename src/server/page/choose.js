// Which of the legal actions is meant: by the squares of a click or a drag, by a piece of a stack, from a hand.
// What is selected is `{square, piece}` (a piece of a stack, or null for all of it) or `{hand}` (a letter).

import { begin, h, words } from "./dom.js";
import { byStrength, icon } from "./pieces.js";
import { hasSign, signIcon } from "./traits.js";

/** What a side has in hand, as the FEN tells it (`[NQp]`): how many of each letter; null where the FEN has no hands. */
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

/** What a text says before its square, of what is put down: `n`, or `+s` of a piece that is turned over first. */
const letterOf = (action) => action.uci.slice(0, action.uci.length - action.to.length).replace("@", "").toLowerCase();

/** Where an action starts: `square` of the piece that acts, `hand` letter of what is put down, or neither. */
export function sourceOf(action, position) {
  if (action.from && action.piece !== undefined) return { square: action.from };
  // The text of an action may begin with a square though no piece acts: something is put down.
  if (action.from || !action.to) return {};
  if (position.pieces.some((it) => it.id === action.piece)) return {};
  const letter = letterOf(action);
  const held = handOf(position, position.turn);
  const hand = [letter, letter.replace("+", "")].find((it) => held?.has(it));
  // Without a piece in hand, and none that is put down, the letter is only a way to write the action.
  if (!hand && action.piece === undefined) return {};
  return letter ? { hand: hand ?? letter } : {};
}

/** Where what is put down may be dragged from: the square that its text begins with (of whoever shoots an arrow), and those
 * of pieces of neither side, whose letters have no capitals (a duck). */
function putFrom({ from, to }, position) {
  if (!from || !to || from === to) return [];
  const isFree = (it) => it.square && it.letter && it.letter.toLowerCase() === it.letter.toUpperCase();
  return [from, ...position.pieces.filter(isFree).map((it) => it.square)];
}

const indexed = new WeakMap();

/** The legal actions of a position by where they start: read for every square, so made once. */
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

/** The actions of a stack as a whole: those that only its first piece takes. */
function ofWhole(actions, first) {
  const byOthers = new Set(actions.filter((it) => it.piece !== first).map((it) => it.action));
  const whole = actions.filter((it) => !byOthers.has(it.action));
  return whole.length ? whole : actions;
}

/** The actions that start from what is selected. */
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

/** The actions that a square says by itself: a stone that is put down, a piece that is taken. */
export function actionsOn(square, position) {
  return position.legal.filter((it) => it.to === square && !Object.keys(sourceOf(it, position)).length);
}

/** The pieces of a stack that may act by themselves, if there are any beside the whole. */
export function membersOf(square, position) {
  const stack = position.pieces.filter((it) => it.square === square);
  if (stack.length < 2) return [];
  return stack.filter((it) => actionsOf({ square, piece: it.id }, position).length);
}

/** Whether an action takes along all that stands on its first square. */
export function isWhole(action, position) {
  return action.piece !== undefined && actionsOf({ square: action.from, piece: null }, position).includes(action);
}

/** Of several, the one that a move ahead means: the strongest promotion. */
export function strongest(options) {
  return [...options].sort((one, other) => byStrength(one.choice?.[0], other.choice?.[0]))[0];
}

/** What an action without squares is called: `end turn`. */
export const actionName = (it) => it.says ?? words(it.action.split("::").pop());

/** The directions as they lie around a square, row by row. */
const AROUND = ["nw", "n", "ne", "w", null, "e", "sw", "s", "se"];
const ARROWS = { nw: "↖", n: "↑", ne: "↗", w: "←", e: "→", sw: "↙", s: "↓", se: "↘" };
const FULL = { n: "north", s: "south", w: "west", e: "east" };
const inFull = (dir) => (dir.length < 2 ? FULL[dir] : `${FULL[dir[0]]}-${FULL[dir[1]]}`);

/** Directions to choose from, by pointing: as they lie on the board. */
function compass(options, isFlipped, choose) {
  const around = isFlipped ? [...AROUND].reverse() : AROUND;
  const button = (dir, place) => {
    const option = options.find((it) => it.choice[0] === dir);
    const drawn = Object.values(ARROWS)[place < 4 ? place : place - 1];
    return option ? h("button", { title: option.uci, "aria-label": inFull(dir), "data-facing": dir, onclick: () => choose(option) }, drawn) : h("span", {});
  };
  return h("div", { class: "compass", role: "group", "aria-label": "Facing" }, around.map(button));
}

/** Asks which of several actions is meant. */
export function pick(options, position, sides, play, isFlipped = false) {
  const isFacing = (it) => it.choice?.length === 1 && it.choice[0] in ARROWS;
  const facings = options.filter(isFacing);
  options = options.filter((it) => !isFacing(it));
  const signed = options.filter((it) => it.choice?.length === 1 && hasSign(it.choice[0]));
  const kindOf = (it) => position.kinds.find((kind) => it.choice?.includes(kind.kind))
    ?? position.kinds.find((kind) => kind.letter && sourceOf(it, position).hand && letterOf(it) === kind.letter);
  // What a text says behind its last square is what the piece becomes.
  const becomes = (it) => position.kinds.find((kind) => kind.letter && it.to && it.uci.slice(it.uci.lastIndexOf(it.to) + it.to.length).toLowerCase() === kind.letter);
  const known = options.map((it) => ({ it, kind: kindOf(it) ?? becomes(it) }));
  known.sort((one, other) => byStrength(one.kind?.kind, other.kind?.kind));
  const text = ({ it, kind }) => (kind ? words(kind.name).toLowerCase() : it.says ?? (signed.includes(it) ? begin(it.choice[0].replaceAll("-", " ")) : it.from && it.from === it.to ? actionName(it) : words(it.uci)));
  const drawn = (kind) => icon({ ...kind, side: position.turn }, sides);
  const take = (it) => { dialog.close(); play(it); };
  const asks = facings.length ? "Facing where?" : signed.length ? "What shall it have?" : "Which move?";
  const dialog = h("dialog", { class: signed.length ? "pick wide signed" : "pick", "aria-label": "Which move" },
    h("p", {}, asks), facings.length ? compass(facings, isFlipped, take) : null,
    known.map((one) => h("button", { title: one.it.uci, class: one.kind ? "kind" : signed.includes(one.it) ? "has-sign" : "says", onclick: () => take(one.it) },
      one.kind ? drawn(one.kind) : signed.includes(one.it) ? signIcon(one.it.choice[0]) : null, text(one))),
    h("button", { class: "quiet", onclick: () => dialog.close() }, "None"));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
