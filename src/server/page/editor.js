// The editor of a start position: each click makes a new FEN.

import { Board } from "./board.js";
import { begin, clear, grouped, h, words } from "./dom.js";
import { squareName } from "./geometry.js";
import { Loadout } from "./loadout.js";

export class Editor {
  /** @param {(fen: string) => void} told called with the FEN after every change */
  constructor(told) {
    this.told = told;
    this.board = new Board({ onSquare: (square) => this.put(square) });
    this.brush = h("select", { id: "brush", "aria-label": "What a click on a square does" });
    this.turn = h("select", { id: "turn", "aria-label": "Side to move", onchange: () => this.compose() });
    this.root = h("section", { class: "panel", "aria-label": "Start position" }, h("h2", {}, "Start position"),
      h("div", { class: "board" }, this.board.root),
      h("p", { class: "edit" }, "A click on a square ", this.brush, " ", this.turn));
    this.loadout = new Loadout((fields) => this.compose(fields));
    this.root.append(this.loadout.root);
    this.chosen = null;
  }

  /** Shows a position of a game. */
  show(position, sides, game, fields, presets) {
    this.position = position;
    this.loadout.set(position, sides, fields, presets, this.chosen);
    this.sides = sides;
    this.signs = signsOf(position.fen, sides);
    this.brushes(game);
    this.turn.value = shortNames(sides)[position.turn] ?? this.turn.value;
    this.board.draw(position, { selected: this.chosen, sides });
  }

  /** The kinds of piece that a game knows, of every side. */
  brushes(game) {
    const { position, sides } = this;
    const letters = new Map(position.kinds.map((it) => [it.letter, it.name]));
    // The choice is kept if the kinds are the same, or if the new ones have it, too.
    const known = JSON.stringify([game, sides, [...letters]]);
    if (this.known === known) return;
    this.known = known;
    const [brush, turn] = [this.brush.value, this.turn.value];
    const keep = (field, value) => { if ([...field.options].some((it) => it.value === value)) field.value = value; };
    const option = (value, text) => h("option", { value }, text);
    const pieces = sides.flatMap((side, at) => [...letters].map(([letter, kind]) =>
      option(this.written({ side: at, letter }), `puts a ${words(side)} ${words(kind).toLowerCase()} there`)));
    clear(this.brush, option("", "shows what the piece has"), option("-", "clears it"), pieces);
    const short = shortNames(sides);
    clear(this.turn, sides.map((side, at) => option(short[at], `${words(side)} to move`)));
    if (this.game === game) keep(this.brush, brush);
    keep(this.turn, turn);
    this.game = game;
  }

  put(square) {
    if (!square || !this.position) return;
    if (!this.brush.value) {
      this.chosen = square === this.chosen ? null : square;
      return this.show(this.position, this.sides, this.game, this.loadout.fields, this.loadout.presets);
    }
    const others = this.position.pieces.filter((it) => it.square !== square);
    const brush = this.brush.value;
    const meant = this.sides.flatMap((_, side) => this.position.kinds.map(({ letter }) => ({ square, letter, side })));
    this.position = { ...this.position, pieces: brush === "-" ? others : [...others, ...meant.filter((it) => this.written(it) === brush).slice(0, 1)] };
    this.signs.delete(square);
    this.compose();
  }

  /** A piece as a FEN has it: of two sides, capitals tell the first; of more, each writes the beginning of its name before. */
  written({ side, letter }) {
    if (side == null) return letter;
    if (this.sides.length > 2) return begin(shortNames(this.sides)[side]) + letter.toLowerCase();
    return side === 0 ? letter.toUpperCase() : letter.toLowerCase();
  }

  /** The text of a square: as the FEN has it, with signs and stacks, unless something was put there. */
  onSquare(square, pieces) {
    if (this.signs.has(square)) return this.signs.get(square);
    const letters = pieces.map((it) => this.written(it)).join("");
    return pieces.length > 1 ? `(${letters})` : letters;
  }

  compose(further = null) {
    const { files, ranks, pieces, fen, points } = this.position;
    const at = grouped(pieces, (it) => it.square);
    // The text of a square without pieces stays, too: it says that the square is no part of the board.
    const text = new Map([...this.signs, ...[...at].map(([square, here]) => [square, this.onSquare(square, here)])]);
    const rows = [];
    const isGrid = !points && files > 0;
    if (!isGrid) rows.push([...text].map(([square, here]) => `${square}:${here}`).join(",") || "-");
    for (let rank = isGrid ? ranks : 0; rank >= 1; rank -= 1) {
      let row = "";
      let empty = 0;
      for (let file = 0; file < files; file += 1) {
        const letter = text.get(squareName(file, rank - 1));
        if (letter && empty) row += empty;
        empty = letter ? 0 : empty + 1;
        if (letter) row += letter;
      }
      rows.push(empty ? row + empty : row);
    }
    // Castling rights stay: the server says for which of them there is no rook. An en passant square goes, since it
    // belongs to another position.
    const [, turn, ...rest] = fen.split(" ");
    const fields = further ?? rest.map((it) => (/^[a-p]\d{1,2}$/.test(it) ? "-" : it));
    // Pieces in hand stay in hand.
    const hand = fen.match(/^[^ ]*(\[[^\] ]*\])/)?.[1] ?? "";
    this.told([rows.join("/") + hand, this.turn.value || turn, ...fields].join(" "));
  }
}

/** A cell of a FEN: a number of empty squares, or a piece or a stack in brackets, with its signs. */
const CELLS = /\d+|[^\w(*]*(?:\([^)]*\)|\*|[A-Za-z])[^\w(+*]*/g;
/** The pattern of cells. With more than two sides, each piece has the beginning of its side's name. */
const cellsOf = (sides) => sides.length > 2
  ? new RegExp(`\\d+|[^\\w(*]*(?:\\([^)]*\\)|(?:${shortNames(sides).map(begin).join("|")})[^\\w(]*[a-z*])[^\\w(+*]*`, "g")
  : CELLS;

/** The names of sides in a FEN: the shortest beginning of each name that no other name has. */
function shortNames(sides) {
  return sides.map((name) => {
    let end = 1;
    while (end < name.length && sides.filter((it) => it.startsWith(name.slice(0, end))).length > 1) end += 1;
    return name.slice(0, end);
  });
}

/** The texts of all squares of a FEN that are not empty. */
function signsOf(fen, sides) {
  const signs = new Map();
  const board = fen.split(" ")[0].replace(/\[.*$/, "");
  if (board.includes(":") || board === "-") {
    for (const it of board.split(",").filter((one) => one.includes(":"))) signs.set(...it.split(":"));
    return signs;
  }
  const rows = board.split("/");
  rows.forEach((row, down) => {
    let file = 0;
    for (const cell of row.match(cellsOf(sides)) || []) {
      if (/^\d+$/.test(cell)) file += Number(cell);
      else {
        signs.set(squareName(file, rows.length - down - 1), cell);
        file += 1;
      }
    }
  });
  return signs;
}
