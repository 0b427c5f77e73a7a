// A board as SVG: any geometry, any pieces, several on a square, numbers on them. It draws what the position says and
// knows the rules of no game. Pieces are kept from one position to the next, so that they glide.

import { arrow, Arrows } from "./arrows.js";
import { grouped, svg, words } from "./dom.js";
import { fileName, geometry, marksOf, neighbour, outline, squareAt } from "./geometry.js";
import { picture, places, SIZE, told, usualNumbers, worn } from "./pieces.js";
import { followPointer } from "./pointer.js";
import { settings } from "./settings.js";

/** The corners of a square, filled: an attacked royal piece stands between them. */
const ALARM = "M-30 -30h17l-17 17zM30 -30h-17l17 17zM-30 30h17l-17-17zM30 30h-17l17-17z";
/** How long a removed piece fades, in milliseconds. */
const GOING = 250;
const HALF = SIZE / 2;
/** The width of a letter of a point's name. */
const LETTER = 7;
/** How a position is drawn unless a caller says otherwise: see `Board.draw`. */
const PLAIN = { flipped: false, selected: null, targets: new Map(), last: [], lit: new Set(), effects: new Map(), ahead: new Set(), trail: [] };

const at = (node, x, y, scale = 1) => { node.style.transform = `translate(${x}px, ${y}px) scale(${scale})`; };

export class Board {
  /**
   * @param {{onSquare: (square: ?string) => void, onDrag?: (from: string, to: ?string, piece: number) => void,
   *   canDrag?: (square: string, piece: ?number) => boolean, onTake?: (square: string, piece: ?number) => void,
   *   onHover?: (square: ?string) => void, hasSteps?: boolean}} handlers `hasSteps`: left and right go through moves while
   *   the board is used by a pointer
   */
  constructor(handlers) {
    this.handlers = handlers;
    this.arrows = new Arrows();
    this.ground = svg("g", { class: "ground", "aria-hidden": "true" });
    this.grid = svg("g", { class: "cells", role: "presentation" });
    this.labels = svg("g", { class: "labels", "aria-hidden": "true" });
    this.men = svg("g", { class: "men", "aria-hidden": "true" });
    this.above = svg("g", { class: "above", "aria-hidden": "true" });
    this.root = svg("svg", { class: "board", role: "grid", "aria-label": "Board" }, this.ground, this.grid, this.labels, this.men, this.above, this.arrows.root);
    this.root.addEventListener("keydown", (event) => this.key(event));
    // A click leaves the focus on a square, which is not shown to those who use a pointer.
    this.root.addEventListener("pointerdown", () => this.setPointed(true));
    addEventListener("keydown", (event) => { if (event.key === "Tab") this.setPointed(false); });
    // Clicks without a pointer, as screen readers make them.
    this.root.addEventListener("click", (event) => {
      const square = event.detail === 0 && event.target.closest("[data-square]")?.dataset.square;
      if (square) this.choose(square);
    });
    this.root.addEventListener("pointerover", (event) => this.hover(event));
    this.root.addEventListener("pointerleave", () => {
      this.showZone(null);
      this.handlers.onHover?.(null);
    });
    this.focused = null;
    this.nodes = new Map();
    followPointer(this.root, {
      place: (event) => this.place(event),
      grab: (square, place) => this.grab(square, place),
      take: (it) => this.take(it),
      drag: (it, place) => at(it.node.root, place.x - HALF, place.y - HALF),
      letGo: (it) => this.letGo(it),
      drop: (it, square) => this.handlers.onDrag?.(it.square, square, it.piece),
      choose: (square) => this.choose(square),
      sketch: (from, to, colour) => { this.arrows.toggle(from, to, colour); this.arrows.draw(this.layout); },
    });
  }

  /**
   * @param {object} position as the server tells it
   * @param {{flipped?: boolean, selected?: ?string, targets?: Map, last?: string[], lit?: Set, effects?: Map, sides: string[],
   *   ahead?: Set, from?: ?string, usual?: Map, trail?: string[][]}} look `from`: the square that new pieces come from;
   *   `usual`: numbers that are not shown, those of the position if absent; `trail`: the segments of a turn, each from one square to another
   */
  draw(position, look) {
    const before = this.layout;
    this.position = position;
    this.look = { ...PLAIN, ...look };
    this.layout = geometry(position, this.look.flipped);
    const { width, height, shape } = this.layout;
    this.root.setAttribute("viewBox", `0 0 ${width} ${height}`);
    // The style sheet fits the board into the window by the ratio of its width to its height.
    (this.root.closest(".side") ?? this.root).style.setProperty("--fit", width && height ? width / height : 1);
    this.root.toggleAttribute("hidden", !this.layout.squares.length);
    this.root.dataset.shape = shape;
    this.drawings = new Map((position.kinds ?? []).map((it) => [it.kind, it.drawing]));
    this.here = grouped(position.pieces, (it) => it.square);
    this.marks = marksOf(position);
    this.drawGround();
    this.drawCells();
    // Another board altogether: nothing glides.
    const isOther = !before || before.width !== width || before.height !== height;
    this.drawPieces(isOther);
    this.drawAbove();
    this.arrows.draw(this.layout);
  }

  drawGround() {
    const { lines } = this.layout;
    this.ground.replaceChildren(...lines.map(([x1, y1, x2, y2]) => svg("line", { class: "join", x1, y1, x2, y2 })));
  }

  drawCells() {
    const { squares } = this.layout;
    const hadFocus = this.grid.contains(document.activeElement);
    if (!this.layout.at.has(this.focused)) this.focused = squares.length ? this.firstSquare() : null;
    this.labels.replaceChildren(...squares.flatMap((it) => this.label(it)));
    const rows = grouped(squares, (it) => it.y);
    this.grid.replaceChildren(...[...rows.values()].map((row) => svg("g", { role: "row" }, row.map((it) => this.square(it)))));
    const focused = this.cell(this.focused);
    if (focused) focused.setAttribute("tabindex", "0");
    if (hadFocus && focused) focused.focus({ preventScroll: true });
  }

  /** The square at the lower left. */
  firstSquare() {
    const lowest = Math.max(...this.layout.squares.map((it) => it.y));
    return this.layout.squares.find((it) => it.y === lowest).name;
  }

  square({ name, x, y, isLight }) {
    const { look, position } = this;
    const pieces = this.here.get(name) || [];
    const marks = this.marks.get(name) || [];
    const target = look.targets.get(name);
    const classes = ["square", isLight ? "light" : "dark", ...marks.map((it) => it.classes)];
    if (look.last.includes(name)) classes.push("last");
    if (look.selected === name) classes.push("selected");
    if (look.lit.has(name)) classes.push("lit");
    if (look.ahead.has(name)) classes.push("ahead");
    if (position.checks.includes(name)) classes.push("check");
    if (pieces.length && this.handlers.canDrag?.(name, null)) classes.push("own");
    const cell = svg("g", {
      class: classes.join(" "),
      transform: `translate(${x} ${y})`,
      role: "gridcell",
      tabindex: "-1",
      "data-square": name,
      "aria-label": this.describe(name, pieces, marks, target),
      "aria-selected": look.selected === name ? "true" : "false",
    }, svg("path", { class: "tile", d: outline(this.layout.shape) }));
    if (this.layout.shape === "point") cell.append(svg("circle", { class: "spot", r: 7 }));
    return cell;
  }

  /** The name of a point; the file and the rank in the corners of the squares at the left and at the bottom. */
  label({ name, x, y, isLight, file, rank }) {
    const text = (kind, dx, dy, told) => svg("text", { class: `${kind} ${isLight ? "on-light" : "on-dark"}`, x: x + dx, y: y + dy }, told);
    // The name of a point stands at its lower right, as far as the edge of the board lets it.
    if (this.layout.shape === "point") return [text("point", Math.min(17, this.layout.width - x - LETTER * name.length), 26, name)];
    const { files, ranks } = this.position;
    const [left, bottom] = this.look.flipped ? [files - 1, ranks - 1] : [0, 0];
    const labels = [];
    const isHexagon = this.layout.shape === "hexagon";
    if (file === left) labels.push(text("coordinate", isHexagon ? -25 : -27, isHexagon ? 4 : -18, String(rank + 1)));
    if (rank === bottom) labels.push(text("coordinate file", isHexagon ? 4 : 27, 27, fileName(file)));
    return labels;
  }

  describe(name, pieces, marks, target) {
    const parts = [name, ...pieces.map((it) => told(it, this.look.sides, this.position.kinds))];
    if (!pieces.length) parts.push("empty");
    parts.push(...marks.map((it) => words(it.name)));
    if (this.position.checks.includes(name)) parts.push("attacked");
    if (this.look.ahead.has(name)) parts.push("to be moved when it is your turn");
    if (target) parts.push("can be moved to");
    return parts.join(", ");
  }

  // --- pieces ------------------------------------------------------------------------------------

  drawPieces(isOther) {
    const usual = this.look.usual ?? usualNumbers(this.position.pieces);
    const seen = new Set();
    const stands = isOther || !settings.animation;
    for (const [square, pieces] of this.here) {
      const spots = places(pieces.length);
      const middle = this.layout.at.get(square);
      if (!middle) continue;
      // The first of a stack is drawn first: the others stand before it.
      pieces.forEach((piece, order) => {
        const spot = spots[order];
        const place = { x: middle.x + spot.x - HALF * spot.scale, y: middle.y + spot.y - HALF * spot.scale, scale: spot.scale };
        seen.add(piece.id);
        this.drawPiece(piece, place, worn(piece, usual, this.look.flipped), stands);
      });
    }
    for (const [id, node] of this.nodes) if (!seen.has(id)) this.remove(id, node, stands);
  }

  drawPiece(piece, place, numbers, stands) {
    const { sides } = this.look;
    const key = JSON.stringify([piece.kind, piece.letter, piece.side, sides, settings.pieces]);
    let node = this.nodes.get(piece.id);
    if (!node) {
      const root = svg("g", { class: "piece" });
      node = { root, key: null, held: false };
      const from = this.layout.at.get(this.look.from);
      const begins = !stands && from ? { x: from.x - HALF, y: from.y - HALF, scale: 1 } : place;
      at(root, begins.x, begins.y, begins.scale);
      this.nodes.set(piece.id, node);
      this.men.append(root);
      // The browser draws the piece at its first place, so that it is seen to come out of another piece.
      if (begins !== place) root.getBoundingClientRect();
    } else if (this.men.lastChild !== node.root && (node.x !== place.x || node.y !== place.y || node.scale !== place.scale)) {
      // A moving piece is drawn over the others.
      this.men.append(node.root);
    }
    if (node.key !== key) node.picture = picture({ ...piece, drawing: this.drawings.get(piece.kind) }, sides);
    node.key = key;
    node.root.replaceChildren(node.picture, ...numbers);
    Object.assign(node, place, { square: piece.square });
    node.root.classList.toggle("still", stands);
    if (!node.held) at(node.root, place.x, place.y, place.scale);
  }

  remove(id, node, stands) {
    this.nodes.delete(id);
    if (stands) return node.root.remove();
    node.root.setAttribute("class", "gone");
    // No piece stands there now, so the piece was not captured by one: it bursts.
    if (!this.here.has(node.square)) {
      const where = this.layout.at.get(node.square);
      if (where) this.burst(where);
    }
    setTimeout(() => node.root.remove(), GOING);
  }

  burst({ x, y }) {
    const flash = svg("circle", { class: "burst", cx: x, cy: y, r: HALF });
    this.root.append(flash);
    setTimeout(() => flash.remove(), 2 * GOING);
  }

  /** Draws over the pieces: targets, squares that explanations light, alarms, effects. */
  drawAbove() {
    const { look, position } = this;
    const parts = [];
    const middle = (name) => this.layout.at.get(name);
    for (const [from, to] of look.trail) {
      const [a, b] = [middle(from), middle(to)];
      if (a && b) parts.push(svg("path", { class: "trail", d: arrow(a, b) }));
    }
    const put = (name, ...children) => { if (middle(name)) parts.push(svg("g", { transform: `translate(${middle(name).x} ${middle(name).y})` }, children)); };
    for (const name of look.lit) put(name, svg("path", { class: "glow", d: outline(this.layout.shape), transform: "scale(.94)" }));
    for (const [name, effect] of look.effects) put(name, svg("circle", { class: `effect effect-${effect}`, r: HALF - 2 }));
    // A shape as well as a colour, also shown while the piece is selected.
    for (const name of position.checks) put(name, svg("path", { class: "alarm", d: ALARM }));
    for (const name of look.targets.keys()) {
      put(name, this.here.has(name) ? svg("rect", { class: "target", x: 3 - HALF, y: 3 - HALF, width: SIZE - 6, height: SIZE - 6, rx: 8 }) : svg("circle", { class: "dot", r: 9 }));
    }
    this.above.replaceChildren(...parts);
    this.zone = null;
  }

  /** Shows the zone that the piece under the pointer guards, if the rules declare such zones. */
  hover(event) {
    const square = event.target.closest?.("[data-square]")?.dataset.square ?? null;
    this.showZone(square);
    if (event.pointerType === "mouse") this.handlers.onHover?.(square);
  }

  showZone(square) {
    if (this.zone === square || !this.position?.zones) return;
    this.zone = square;
    this.above.querySelectorAll(".zone").forEach((it) => it.remove());
    const ids = (this.here.get(square) || []).map((it) => it.id);
    for (const zone of this.position.zones.filter((it) => ids.includes(it.piece))) {
      for (const it of zone.squares.map((name) => this.layout.at.get(name)).filter(Boolean)) {
        this.above.append(svg("path", { class: "zone", d: outline(this.layout.shape), transform: `translate(${it.x} ${it.y})` }));
      }
    }
  }

  // --- input -------------------------------------------------------------------------------------

  cell(name) {
    return name ? this.grid.querySelector(`[data-square="${name}"]`) : null;
  }

  /** Where on the board an event is. */
  place(event) {
    const matrix = this.root.getScreenCTM();
    if (!matrix || !this.layout) return { square: null, x: 0, y: 0 };
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    return { square: squareAt(this.layout, x, y), x, y };
  }

  /** The piece that is picked up at a place: of a stack the one that is drawn there. */
  grab(square, { x, y }) {
    if (this.arrows.marks.size) this.arrows.clear();
    const pieces = this.here.get(square) || [];
    if (!pieces.length) return null;
    const middle = this.layout.at.get(square);
    const spots = places(pieces.length);
    const hit = (order) => Math.max(Math.abs(x - middle.x - spots[order].x), Math.abs(y - middle.y - spots[order].y)) <= HALF * spots[order].scale * 0.9;
    const drawn = pieces.map((_, order) => order).reverse();
    // The first piece carries the others: to pick it up is to pick up the whole stack.
    const order = drawn.find((it) => it > 0 && hit(it)) ?? 0;
    const piece = order > 0 && this.handlers.canDrag?.(square, pieces[order].id) ? pieces[order].id : null;
    if (!this.handlers.canDrag?.(square, piece)) return null;
    return { square, piece, node: this.nodes.get(pieces[piece === null ? 0 : order].id) };
  }

  take(it) {
    it.node.held = true;
    it.node.root.classList.add("held");
    this.men.append(it.node.root);
    this.handlers.onTake?.(it.square, it.piece);
  }

  letGo(it) {
    it.node.held = false;
    it.node.root.classList.remove("held");
    at(it.node.root, it.node.x, it.node.y, it.node.scale);
  }

  /** Shows a move at once, before it is known to be played. The next drawing puts all pieces in their places. */
  glide(action, isWhole) {
    const to = this.layout.at.get(action.to);
    const pieces = this.here.get(action.from) || [];
    if (!to) return;
    for (const it of pieces.filter((one) => isWhole || one.id === action.piece)) {
      const node = this.nodes.get(it.id);
      at(node.root, to.x + node.x - this.layout.at.get(action.from).x, to.y + node.y - this.layout.at.get(action.from).y, node.scale);
      this.men.append(node.root);
    }
  }

  /** Whether a piece is dragged. */
  isHeld() {
    return [...this.nodes.values()].some((it) => it.held);
  }

  choose(name) {
    this.focused = name;
    this.handlers.onSquare(name);
  }

  /** Notes whether the board is used by a pointer: then the square that keys act on is not shown. */
  setPointed(isPointed) {
    this.isPointed = isPointed;
    this.root.classList.toggle("pointed", isPointed);
  }

  key(event) {
    // With these keys, arrows are the browser's: back and forward.
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (this.isPointed && this.handlers.hasSteps && /^Arrow(Left|Right)$/.test(event.key)) return;
    if (event.key === "Enter" || event.key === " " || event.key in steps) this.setPointed(false);
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.choose(this.focused);
    } else if (event.key in steps) {
      event.preventDefault();
      event.stopPropagation();
      const next = neighbour(this.layout, this.focused, ...steps[event.key]);
      if (!next) return;
      this.cell(this.focused)?.setAttribute("tabindex", "-1");
      this.focused = next;
      const cell = this.cell(next);
      cell.setAttribute("tabindex", "0");
      cell.focus();
    } else if (event.key === "Escape") {
      this.handlers.onSquare(null);
    }
  }
}
