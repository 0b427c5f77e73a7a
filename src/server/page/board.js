// A board as SVG: any size, any pieces, several on a square, numbers on them. It draws what the
// position says and knows the rules of no game.

import { svg, words } from "./dom.js";

const SIZE = 60;
const EDGE = 22;
/** The corners of a square, filled: an attacked royal piece stands between them. */
const ALARM = "M0 0h17L0 17zM60 0h-17l17 17zM0 60h17L0 43zM60 60h-17l17-17z";

// Outlines of our own, in a square of 60, for the kinds that most games have. Any other kind is
// drawn as its letter on a disc.
const SHAPES = {
  pawn: "M30 14a8 8 0 0 1 5.5 13.8c4 2 6 5 6 8.2h-5c0 5 2 8 6.500 11H17c4.500-3 6.500-6 6.500-11h-5c0-3.200 2-6.200 6-8.200A8 8 0 0 1 30 14z",
  rook: "M16 13h6v5h5v-5h6v5h5v-5h6v11l-5 4v12l5 4v5H16v-5l5-4V28l-5-4z",
  bishop: "M30 9a3.500 3.500 0 0 1 2.200 6.200C38 19 41 24 41 29c0 4-2 7-5 9l2 5h6v6H16v-6h6l2-5c-3-2-5-5-5-9 0-5 3-10 8.800-13.800A3.500 3.500 0 0 1 30 9z",
  knight: "M25 11l3 4c9 0 16 7 16 20v14H19c0-8 8-10 8-16-3 3-6 3-8 6l-5-3c-1-6 5-10 6-16 0-3 2-5 4-6z",
  queen: "M11 18a3 3 0 1 1 4 2.800l5 9 2-13a3 3 0 1 1 3.500 0L30 29l4.500-12.200a3 3 0 1 1 3.500 0l2 13 5-9a3 3 0 1 1 4 1.500L44 38l-1 5v6H17v-6l-1-5-5-15.500z",
  king: "M28 8h4v4h4v4h-4v5c6-4 16-2 16 6 0 6-5 9-6 14v8H18v-8c-1-5-6-8-6-14 0-8 10-10 16-6v-5h-4v-4h4z",
};
const DETAILS = {
  bishop: "M30 21v9M26 25h8",
  knight: "M24 21l1.500 1.500",
  queen: "M17 43h26",
  king: "M18 41h24M30 24v13",
  rook: "M21 28h18M21 40h18",
};

// What a number on a piece is about, where there is a picture for it: inside a square of 12.
const ICONS = {
  hp: "M6 11L1.500 6.200a2.700 2.700 0 0 1 4.500-3 2.700 2.700 0 0 1 4.500 3z",
  shield: "M6 1l4.500 1.500v3.500c0 2.500-2 4-4.500 5-2.500-1-4.500-2.500-4.500-5V2.500z",
  stamina: "M7 .5L2 7h3l-.5 4.500L10 5H6.500z",
};

/** A piece by itself, in a square of 60: its picture, or its letter on a disc. */
export function picture({ kind, letter, side }) {
  const group = svg("g", { class: `piece side${side == null ? "none" : side % 4}` });
  if (Object.hasOwn(SHAPES, kind)) {
    group.append(svg("path", { class: "shape", d: SHAPES[kind] }));
    if (DETAILS[kind]) group.append(svg("path", { class: "detail", d: DETAILS[kind] }));
  } else {
    const text = (letter || kind[0] || "?").toUpperCase();
    group.append(svg("circle", { class: "shape", cx: 30, cy: 30, r: 19 }), svg("text", { class: "letter", x: 30, y: 38 }, text));
  }
  return group;
}

/** Kinds as people choose among them: the strongest of those that have a picture first. */
export function byStrength(one, other) {
  const order = ["queen", "rook", "bishop", "knight", "king", "pawn"];
  const rank = (kind) => (order.includes(kind) ? order.indexOf(kind) : order.length);
  return rank(one) - rank(other);
}

export class Board {
  /**
   * @param {{onSquare: (square: string) => void}} handlers
   */
  constructor(handlers) {
    this.handlers = handlers;
    this.root = svg("svg", { class: "board", role: "grid", "aria-label": "Board" });
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.focused = null;
  }

  /**
   * @param {object} position as the server tells it
   * @param {{flipped: boolean, selected: ?string, targets: Map, last: string[], lit: Set, effects: Map, sides: string[]}} look
   */
  draw(position, look) {
    this.position = position;
    this.look = look;
    const { files, ranks } = position;
    const hadFocus = this.root.contains(document.activeElement);
    this.root.setAttribute("viewBox", `0 0 ${files * SIZE + EDGE} ${ranks * SIZE + EDGE}`);
    const here = new Map();
    for (const piece of position.pieces) {
      if (!here.has(piece.square)) here.set(piece.square, []);
      here.get(piece.square).push(piece);
    }
    this.usual = usualNumbers(position.pieces);
    const marks = new Map();
    position.marks.forEach((mark, at) => mark.squares.forEach((it) => marks.set(it, { name: mark.name, at })));
    this.squares = [];
    const rows = [];
    // A board without files and ranks: each point where it is drawn, the first column on the left.
    const points = (position.points || []).map((it) => ({ ...it }));
    if (points.length) {
      const left = Math.min(...points.map((it) => it.x));
      const [low, high] = [Math.min(...points.map((it) => it.y)), Math.max(...points.map((it) => it.y))];
      const wide = Math.max(...points.map((it) => it.x)) - left + 1;
      this.root.setAttribute("viewBox", `0 0 ${wide * SIZE + EDGE} ${(high - low + 1) * SIZE + EDGE}`);
      rows.push(svg("g", { role: "row" }, points.map((it) => {
        this.squares.push(it.name);
        const row = look.flipped ? it.y - low : high - it.y;
        const column = look.flipped ? wide - 1 - (it.x - left) : it.x - left;
        const cell = this.square(it.name, 1, 0, column, row, here.get(it.name) || [], marks.get(it.name));
        cell.append(svg("text", { class: "point", x: SIZE / 2, y: SIZE - 3 }, it.name));
        return cell;
      })));
    }
    for (let row = 0; row < (points.length ? 0 : ranks); row += 1) {
      const cells = [];
      for (let column = 0; column < files; column += 1) {
        const rank = look.flipped ? row : ranks - 1 - row;
        const file = look.flipped ? files - 1 - column : column;
        const name = `${String.fromCharCode(97 + file)}${rank + 1}`;
        this.squares.push(name);
        cells.push(this.square(name, file, rank, column, row, here.get(name) || [], marks.get(name)));
      }
      rows.push(svg("g", { role: "row" }, cells));
    }
    if (!this.squares.includes(this.focused)) this.focused = this.squares[Math.max(0, this.squares.length - files)];
    this.root.replaceChildren(...rows, ...(points.length ? [] : [this.edge()]));
    const focused = this.cell(this.focused);
    if (focused) focused.setAttribute("tabindex", "0");
    if (hadFocus && focused) focused.focus();
  }

  square(name, file, rank, column, row, pieces, mark) {
    const { look, position } = this;
    const target = look.targets.get(name);
    const classes = ["square", (file + rank) % 2 ? "light" : "dark"];
    if (mark) classes.push("mark", `mark${mark.at % 4}`);
    if (look.last.includes(name)) classes.push("last");
    if (look.selected === name) classes.push("selected");
    if (look.lit.has(name)) classes.push("lit");
    if (position.checks.includes(name)) classes.push("check");
    const x = EDGE + column * SIZE;
    const y = row * SIZE;
    const cell = svg("g", {
      class: classes.join(" "),
      transform: `translate(${x} ${y})`,
      role: "gridcell",
      tabindex: "-1",
      "data-square": name,
      "aria-label": this.describe(name, pieces, mark, target),
      "aria-selected": look.selected === name ? "true" : "false",
      onclick: () => this.choose(name),
    });
    cell.append(svg("rect", { width: SIZE, height: SIZE }));
    if (look.lit.has(name)) cell.append(svg("rect", { class: "glow", x: 2, y: 2, width: SIZE - 4, height: SIZE - 4 }));
    const effect = look.effects?.get(name);
    if (effect) cell.append(svg("circle", { class: `effect effect-${effect}`, cx: SIZE / 2, cy: SIZE / 2, r: SIZE / 2 - 2 }));
    pieces.forEach((piece, at) => cell.append(this.piece(piece, at, pieces.length)));
    // A shape as well as a colour, and there while the piece is selected.
    if (position.checks.includes(name)) cell.append(svg("path", { class: "alarm", d: ALARM }));
    if (target) {
      cell.append(pieces.length
        ? svg("rect", { class: "target", x: 3, y: 3, width: SIZE - 6, height: SIZE - 6, rx: 8 })
        : svg("circle", { class: "dot", cx: SIZE / 2, cy: SIZE / 2, r: 9 }));
    }
    return cell;
  }

  describe(name, pieces, mark, target) {
    const { sides } = this.look;
    const told = pieces.map((piece) => {
      const numbers = numbersOf(piece).map(([fact, value]) => `${words(fact)} ${value}`);
      const side = piece.side == null ? "" : `${sides[piece.side]} `;
      return [`${side}${words(piece.kind)}`, ...numbers].join(", ");
    });
    const parts = [name, ...told];
    if (!pieces.length) parts.push("empty");
    if (mark) parts.push(words(mark.name));
    if (this.position.checks.includes(name)) parts.push("attacked");
    if (target) parts.push("can be moved to");
    return parts.join(", ");
  }

  piece(piece, at, count) {
    // Several on one square stand smaller, one beside the other.
    const scale = count === 1 ? 1 : count <= 4 ? 0.7 : 0.5;
    const across = count === 1 ? 1 : count <= 4 ? 2 : 3;
    const down = Math.ceil(count / across);
    const place = (index, of) => ((index + 0.5) * SIZE) / of - (SIZE * scale) / 2;
    const x = place(at % across, across);
    const y = place(Math.floor(at / across), down);
    const group = picture(piece);
    group.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
    // What most pieces have needs no badge. In a stack numbers would be too small to read: they, and all others,
    // are told when the square is chosen, and to who listens.
    const odd = count === 1 ? numbersOf(piece).filter(([fact, value]) => this.usual.get(fact) !== value) : [];
    odd.slice(0, 4).forEach(([fact, value], at) => {
      const name = fact.split(/[._]/).pop();
      const icon = Object.hasOwn(ICONS, name) ? ICONS[name] : null;
      const text = icon ? value : `${name.slice(0, 2)} ${value}`;
      const width = 6 + (icon ? 12 : 0) + text.length * 6.500;
      const left = at % 2 ? 1 : SIZE - 1 - width;
      const top = at < 2 ? SIZE - 16 : 1;
      group.append(svg("g", { class: "badge" },
        svg("title", {}, `${words(fact)}: ${value}`),
        svg("rect", { x: left, y: top, width, height: 15, rx: 7 }),
        icon ? svg("path", { d: icon, transform: `translate(${left + 3} ${top + 1.500})` }) : null,
        svg("text", { x: left + (width + (icon ? 11 : 0)) / 2, y: top + 11.500 }, text)));
    });
    return group;
  }

  edge() {
    const { files, ranks } = this.position;
    const labels = svg("g", { class: "edge", "aria-hidden": "true" });
    for (let at = 0; at < ranks; at += 1) {
      const rank = this.look.flipped ? at + 1 : ranks - at;
      labels.append(svg("text", { x: EDGE / 2, y: at * SIZE + SIZE / 2 + 5 }, String(rank)));
    }
    for (let at = 0; at < files; at += 1) {
      const file = this.look.flipped ? files - 1 - at : at;
      const x = EDGE + at * SIZE + SIZE / 2;
      labels.append(svg("text", { x, y: ranks * SIZE + 16 }, String.fromCharCode(97 + file)));
    }
    return labels;
  }

  cell(name) {
    return name ? this.root.querySelector(`[data-square="${name}"]`) : null;
  }

  choose(name) {
    this.focused = name;
    this.handlers.onSquare(name);
  }

  key(event) {
    const { files } = this.position;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -files, ArrowDown: files };
    const at = this.squares.indexOf(this.focused);
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.choose(this.focused);
    } else if (event.key in steps) {
      event.preventDefault();
      event.stopPropagation();
      const next = at + steps[event.key];
      const wraps = Math.abs(steps[event.key]) === 1 && Math.floor(at / files) !== Math.floor(next / files);
      if (wraps || !this.squares[next]) return;
      this.cell(this.focused)?.setAttribute("tabindex", "-1");
      this.focused = this.squares[next];
      const cell = this.cell(this.focused);
      cell.setAttribute("tabindex", "0");
      cell.focus();
    } else if (event.key === "Escape") {
      this.handlers.onSquare(null);
    }
  }
}

/** What most pieces that have such a number have. */
function usualNumbers(pieces) {
  const counts = new Map();
  for (const piece of pieces) {
    for (const [fact, value] of numbersOf(piece)) {
      if (!counts.has(fact)) counts.set(fact, new Map());
      counts.get(fact).set(value, (counts.get(fact).get(value) || 0) + 1);
    }
  }
  // One piece alone is no rule.
  const most = (values) => [...values].filter((it) => it[1] > 1).sort((one, other) => other[1] - one[1])[0]?.[0];
  return new Map([...counts].map(([fact, values]) => [fact, most(values)]));
}

/** The facts of a piece that are numbers: points, shields, stamina. */
function numbersOf(piece) {
  return Object.entries(piece.facts).filter(([, value]) => /^-?\d+$/.test(value));
}
